// cut.h - cuts a graph between targets: which target runs each node, and how values get from one memory to another.
#ifndef HOLO_LOWER_CUT_H
#define HOLO_LOWER_CUT_H

#include "lower/target.h"

typedef struct HoloCut {
    HoloTargets targets; // targets with at least one node, in order; the CPU is always there, as number 0
    int        *target;  // by id of a node of the graph itself: the number of its target; the CPU runs all subgraphs
} HoloCut;

// Gives each node to the first target that can run it. Where a value is needed in another memory, it inserts a node
// Transfer of domain hologram. Of the two targets, the one that is not the CPU runs it. A value crosses to each memory
// at most once. Views go where their input is. Control flow, subgraphs, texts, lists, and values whose sizes only a run
// finds stay on the CPU, and so do inputs and outputs of the graph. All memory is the graph's.
HOLO_MUST HoloStatus holo_lower_cut(HoloGraph *graph, const HoloTargets *targets, HoloCut *out, HoloError *error);

#endif
