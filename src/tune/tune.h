// tune.h - finds the fastest way to run a node on this machine, measured with the kernels that will run it.
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
    uint32_t        open; // nodes with several ways whose sizes are not numbers: the rules choose
} HoloTuning;

// Lowers the nodes that the CPU can run in several ways again: in the fastest way, or in the default one if no other is
// much faster. Nodes of the same operator, attributes and types are one kind, measured once. Everything in *out is in
// `arena`.
HOLO_MUST HoloStatus holo_tune(const HoloGraph *graph, HoloLowered *lowered, const HoloTuneOptions *options,
                               HoloArena *arena, HoloTuning *out, HoloError *error);

#endif
