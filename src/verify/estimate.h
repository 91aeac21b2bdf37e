// estimate.h - estimates what verifying will take before it begins.
#ifndef HOLO_VERIFY_ESTIMATE_H
#define HOLO_VERIFY_ESTIMATE_H

#include "graph/graph.h"

typedef struct HoloEstimate {
    double          bytes; // most bytes that the reference holds at once: inputs, and values between nodes
    double          work;  // multiplications, and elements that are written
    const HoloNode *most;  // the node at which it holds that much; NULL: none
} HoloEstimate;

// From the sizes that `sized` knows. What only a run finds out is not counted.
HOLO_MUST HoloStatus holo_verify_estimate(const HoloGraph *sized, HoloEstimate *out, HoloError *error);

#endif
