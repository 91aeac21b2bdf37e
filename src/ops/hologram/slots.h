// slots.h - what operators share that keep something of each text in a slot of a state.
#ifndef HOLO_OPS_HOLOGRAM_SLOTS_H
#define HOLO_OPS_HOLOGRAM_SLOTS_H

#include "ops/contract.h"

// Inputs `rows` and `rows` + 1 have numbers for each row of the batch: its slot, and how many tokens were read of its text.
HOLO_MUST HoloStatus holo_slots_check(const HoloCall *call, int rows, HoloDim batch);
// Both numbers of row b. The slot is one of the state; the length is not checked.
HOLO_MUST HoloStatus holo_slot_of(const HoloCall *call, int rows, const HoloTensor *state, int64_t b, int64_t *out_slot,
                                  int64_t *out_length);

#endif
