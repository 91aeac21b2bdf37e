// input_ranges.h - which numbers a graph takes as inputs: indices within what they index, masks, lengths, shapes.
#ifndef HOLO_VERIFY_INPUT_RANGES_H
#define HOLO_VERIFY_INPUT_RANGES_H

#include "graph/graph.h"

typedef enum HoloRole {
    HOLO_ROLE_ANY,    // nothing is known
    HOLO_ROLE_INDEX,  // numbers from low to high
    HOLO_ROLE_LENGTH, // the same, and one of them should be high
    HOLO_ROLE_MASK,   // 0 and 1
    HOLO_ROLE_SHAPE,  // a shape for Reshape
    HOLO_ROLE_SIZES,  // the sizes of a tensor: `like`
} HoloRole;

typedef struct HoloInputRange {
    HoloRole          role;
    double            low, high;
    const HoloTensor *like;
} HoloInputRange;

// By input of the graph: what its nodes say about it, if anything. `sized` has numbers for all sizes that are known
// when a run begins. Arena memory; NULL: none left.
HoloInputRange *holo_ranges_find(const HoloGraph *sized, HoloArena *arena);

#endif
