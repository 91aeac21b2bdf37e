// tensors.h - the inside of HoloTensors.
#ifndef HOLO_API_TENSORS_H
#define HOLO_API_TENSORS_H

#include "base/files.h"
#include "hologram_compiler.h"
#include "import/import.h"

struct HoloTensors {
    HoloArena     arena;
    HoloMapping   file; // tensors may point into it; empty: there is no file
    int           count;
    HoloNpzEntry *entry;
};

HOLO_MUST HoloStatus holo_tensors_create(HoloTensors **out, HoloError *error);
HOLO_MUST HoloStatus holo_tensors_reserve(HoloTensors *tensors, int count, HoloError *error);
int                  holo_tensors_index(const HoloTensors *tensors, const char *name); // -1: there is none
// Takes memory from the arena for a tensor of known size and fills it: floats are normally distributed, integers are 1.
HOLO_MUST HoloStatus holo_tensor_seed(HoloTensor *tensor, uint64_t seed, HoloArena *arena, HoloError *error);

#endif
