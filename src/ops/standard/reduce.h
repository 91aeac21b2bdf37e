// reduce.h - the axes of a tensor parted into those kept and those reduced.
#ifndef HOLO_OPS_STANDARD_REDUCE_H
#define HOLO_OPS_STANDARD_REDUCE_H

#include "ops/op.h"

// Neighboring axes of one kind are merged and axes of size 1 dropped, so that loops are long.
typedef struct HoloReduceBox {
    int     rank;
    int64_t dim[HOLO_MAX_RANK], stride[HOLO_MAX_RANK];
} HoloReduceBox;

typedef struct HoloParting {
    HoloReduceBox kept, reduced;
    bool          lanes; // neighboring elements are of different results: the last axis is a kept one
} HoloParting;

// Folds of HoloTiles: add, mul, min, max.
typedef enum HoloTileFold { HOLO_FOLD_ADD, HOLO_FOLD_MUL, HOLO_FOLD_MIN, HOLO_FOLD_MAX } HoloTileFold;

// Reduces input 0 into output 0, of the same type. False: that type has no such loops, or they do not pay; nothing was
// done.
bool holo_reduce_by_tiles(const HoloCall *call, const HoloParting *part, HoloTileFold how);

HoloParting holo_part(const HoloTensor *t, const int *axes, int count); // of known sizes

#endif
