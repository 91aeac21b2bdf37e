// tune.h - which way to run a node is fastest on this machine: measured, through the kernels that will run it.
#ifndef HOLO_TUNE_H
#define HOLO_TUNE_H

#include "hologram_compiler.h"
#include "kernels/kernels.h"
#include "lower/lower.h"

typedef struct HoloTuneOptions {
    const HoloKernelTable *kernels;
    HoloPool              *pool;                      // NULL: one thread
    void (*progress)(void *context, double fraction); // may be NULL
    void *context;
} HoloTuneOptions;

typedef struct HoloTuning {
    HoloTuneReport *reports; // one for each kind of node that was measured
    int             count;
    uint32_t        open; // nodes with several ways whose sizes are not numbers: the rule chooses
} HoloTuning;

// Lowers the nodes that the CPU can run in several ways anew: in the fastest, or in that of the rule where no other is much faster.
// Nodes of the same operator, attributes and types are one kind and measured once. All of *out is in `arena`.
HOLO_MUST HoloStatus holo_tune(const HoloGraph *graph, HoloLowered *lowered, const HoloTuneOptions *options,
                               HoloArena *arena, HoloTuning *out, HoloError *error);

#endif
