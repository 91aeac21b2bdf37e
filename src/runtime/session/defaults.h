// defaults.h - inputs that the caller leaves out and that have a default: one number, which fills them; and the types of
// states (states.h).
#ifndef HOLO_RUNTIME_DEFAULTS_H
#define HOLO_RUNTIME_DEFAULTS_H

#include "hologram.h"

typedef struct HoloDefault { // memory for one input that has a default, or for a state
    void      *data;
    size_t     size;
    HoloTensor type;  // of a state: as it is now
    uint32_t   space; // of a state: the number of the target in whose memory it is
} HoloDefault;

// Sets an input that has a default, with the sizes that other inputs give to its symbols.
HOLO_MUST HoloStatus holo_default_set(HoloSession *session, int index, HoloError *error);
// The type of an input or a state, with the sizes that other inputs give to its symbols.
HOLO_MUST HoloStatus holo_default_type(const HoloSession *session, int index, HoloTensor *out, HoloError *error);
void                 holo_defaults_deinit(HoloSession *session);

#endif
