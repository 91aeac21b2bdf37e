// defaults.h - inputs that the caller leaves out and that have a default: one number, which fills them; and states, which
// the session keeps from run to run.
#ifndef HOLO_RUNTIME_DEFAULTS_H
#define HOLO_RUNTIME_DEFAULTS_H

#include "hologram.h"

typedef struct HoloDefault { // memory for one input that has a default, or for a state
    void      *data;
    size_t     size;
    HoloTensor type; // of a state: as it is now
} HoloDefault;

// Sets an input that has a default, with the sizes that other inputs give to its symbols.
HOLO_MUST HoloStatus holo_default_set(HoloSession *session, int index, HoloError *error);
// Sets a state to the memory that the session has for it. That grows where sizes ask for more, and keeps its contents.
HOLO_MUST HoloStatus holo_state_set(HoloSession *session, int index, HoloError *error);
void                 holo_defaults_deinit(HoloSession *session);

#endif
