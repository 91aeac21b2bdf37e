// reduce.h - the axes of a tensor parted into those kept and those reduced.
#ifndef HOLO_OPS_REDUCE_H
#define HOLO_OPS_REDUCE_H

#include "ops/tensor.h"

// Neighbouring axes of one kind are merged and axes of size 1 dropped, so that loops are long.
typedef struct HoloBox {
    int     rank;
    int64_t dim[HOLO_MAX_RANK], stride[HOLO_MAX_RANK];
} HoloBox;

typedef struct HoloParting {
    HoloBox kept, reduced;
    bool    lanes; // neighbouring elements are of different results: the last axis is a kept one
} HoloParting;

HoloParting holo_part(const HoloTensor *t, const int *axes, int count); // of known sizes

#endif
