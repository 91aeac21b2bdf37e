// cut.h - a graph cut between targets: which of them runs each node, and how values get from one memory to another.
#ifndef HOLO_LOWER_CUT_H
#define HOLO_LOWER_CUT_H

#include "lower/target.h"

typedef struct HoloCut {
    HoloTargets targets; // those that got a node, in their order; the CPU is always there, as number 0
    int *target; // by id of a node of the graph itself: the number of the target that runs it; subgraphs are the CPU's
} HoloCut;

// Gives each node to the first target that can run it. Where a value is needed in another memory than it is in, puts in a node
// Transfer of domain hologram, which is run by the one of the two targets that is not the CPU; a value crosses to each memory
// once at most. Views go where their input is. Control flow, subgraphs, texts, lists and values whose sizes only a run finds
// stay on the CPU, and so do inputs and outputs of the graph. Memory is the graph's.
HOLO_MUST HoloStatus holo_lower_cut(HoloGraph *graph, const HoloTargets *targets, HoloCut *out, HoloError *error);

#endif
