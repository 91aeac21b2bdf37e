// verify.h - the plan against the reference: the proof that a compile changed nothing but the speed.
#ifndef HOLO_VERIFY_H
#define HOLO_VERIFY_H

#include "graph/graph.h"

typedef struct HoloVerifyOptions {
    double     relative, absolute; // how far an element may be off, see holo_compiler_set_tolerance
    HoloPool  *pool;               // NULL: one thread
    HoloGraph *trial;              // the reference once more, to try sizes on; NULL: all sizes are numbers
    void (*progress)(void *context, double fraction); // may be NULL
    // Called when the bytes of a constant of the reference are not needed for now; may be NULL.
    void (*release)(void *context, const void *data, size_t size);
    void *context;
} HoloVerifyOptions;

typedef struct HoloVerifyResult {
    bool     was_done; // false: `why_not` says why
    uint64_t checked;  // elements compared
    double   worst_absolute, worst_relative;
    char     worst_at[160]; // "" when nothing differs
    char     why_not[256];
    double   seconds;
} HoloVerifyResult;

// Runs `model` and the graph it was compiled from, whose types are inferred, on the same seeded inputs
// and compares the outputs. Where a kernel runs a node, the reference runs it too, and compares it with
// plain evaluation of the same inputs (large products: with a seeded sample of exact elements). So each
// kernel is judged by itself, and a model that rounds inside does not blow small differences up. Outputs that differ beyond
// tolerance all the same may differ as far as the reference's own do when what its nodes compute is off by some roundings.
// HOLO_VERIFY: something differs beyond tolerance.
HOLO_MUST HoloStatus holo_verify(const HoloGraph *reference, const HoloModel *model, const HoloVerifyOptions *options,
                                 HoloVerifyResult *out, HoloError *error);

#endif
