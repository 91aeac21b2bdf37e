// estimate.h - what verifying will take, before anything of it is done.
#ifndef HOLO_VERIFY_ESTIMATE_H
#define HOLO_VERIFY_ESTIMATE_H

#include "graph/graph.h"

typedef struct HoloEstimate {
    double          bytes; // that the reference holds at once, at most: inputs, and what lives between nodes
    double          work;  // multiplications, and elements that are written
    const HoloNode *most;  // the node at which it holds that much; NULL: none
} HoloEstimate;

// By the sizes that `sized` knows: what only a run finds out is not counted.
HOLO_MUST HoloStatus holo_verify_estimate(const HoloGraph *sized, HoloEstimate *out, HoloError *error);

#endif
