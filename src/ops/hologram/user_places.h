// user_places.h - where the instructions of a user's kernel come from, as an attribute of hologram::Kernel holds it:
// the name of the file, a 0 byte, and a line for each instruction, as uint32_t, little-endian; 0: in none.
#ifndef HOLO_OPS_HOLOGRAM_USER_PLACES_H
#define HOLO_OPS_HOLOGRAM_USER_PLACES_H

#include "ops/op.h"

// `out` belongs to the arena. Only the last part of the path is kept: no archive says where its sources lay.
HOLO_MUST HoloStatus holo_user_places_make(HoloArena *arena, const char *path, const uint32_t *lines, int count,
                                           HoloString *out, HoloError *error);

typedef struct HoloUserPlace {
    const char *file; // as long as the places
    uint32_t    line;
} HoloUserPlace;

// Where instruction `at` comes from. The places may be anything; false: they do not say.
bool holo_user_places_find(HoloString places, int at, HoloUserPlace *out);

#endif
