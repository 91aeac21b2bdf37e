// given.h - memory of the caller for outputs that overlaps inputs or other outputs.
//
// Operators check the values that they read (indices, lengths) and then use them, so what a run writes must not change
// what it still reads. Such outputs are computed in the session's memory and copied when everything is computed.
#ifndef HOLO_RUNTIME_SESSION_GIVEN_H
#define HOLO_RUNTIME_SESSION_GIVEN_H

#include "ops/value.h"

// Does `size` bytes at `data` hold bytes of an input?
bool holo_given_holds_inputs(const HoloSession *session, const HoloTensor *const *inputs, const char *data,
                             size_t size);
// Is memory that the caller gave for another output among the `size` bytes of output i?
bool holo_given_holds_outputs(const HoloSession *session, uint32_t i, size_t size);
// May steps write output i where the caller wants it, given the sizes that are bound? Yes if nothing else is there, or
// if it is exactly the input that the output continues.
bool holo_given_is_apart(const HoloSession *session, const HoloTensor *const *inputs, uint32_t i);
// Moves results that are views of inputs away from where other outputs are about to be copied.
HoloStatus holo_given_save(HoloSession *session, HoloError *error);

#endif
