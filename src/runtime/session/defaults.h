// defaults.h - inputs that the caller leaves out and that have a default: one number, which fills them.
#ifndef HOLO_RUNTIME_DEFAULTS_H
#define HOLO_RUNTIME_DEFAULTS_H

#include "hologram.h"

typedef struct HoloDefault { // memory for one input; every element has the number
    void  *data;
    size_t size;
} HoloDefault;

// Sets an input that has a default, with the sizes that other inputs give to its symbols.
HOLO_MUST HoloStatus holo_default_set(HoloSession *session, int index, HoloError *error);
void                 holo_defaults_deinit(HoloSession *session);

#endif
