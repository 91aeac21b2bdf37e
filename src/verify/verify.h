// verify.h - the plan against the reference: the proof that a compile changed nothing but the speed.
#ifndef HOLO_VERIFY_H
#define HOLO_VERIFY_H

#include "graph/graph.h"
#include "kernels/kernels.h"

typedef struct HoloVerifyOptions {
    double                   relative, absolute; // how far an element may be off, see holo_compiler_set_tolerance
    HoloPool                *pool;               // NULL: one thread
    HoloGraph               *trial;      // the reference once more, to try sizes on; NULL: all sizes are numbers
    const HoloTensor *const *inputs;     // one an input, NULL entries: left out; NULL: some are made up
    uint64_t                 memory;     // bytes that it may take; 0: no limit
    uint64_t                 plan_bytes; // that a run of the plan takes; 0: not known
    void (*progress)(void *context, double fraction); // may be NULL
    // Called when the bytes of a constant of the reference are not needed for now; may be NULL.
    void (*release)(void *context, const void *data, size_t size);
    void *context;
} HoloVerifyOptions;

typedef struct HoloVerifyResult {
    bool     was_done;      // false: `why_not` says why
    bool     is_over_limit; // it would take more memory or work than it may
    int      outputs;       // that were compared
    int      nodes;         // nodes whose kernels were judged one by one
    uint64_t checked;       // elements of outputs that were compared
    uint64_t judged;        // and of nodes
    // The element that is off the most, in parts of the largest magnitude that it is held against.
    double worst_absolute, worst_relative, worst_top;
    char   worst_at[160];   // "" when nothing differs
    double allowed;         // how far it may be off,
    char   allowed_by[160]; // and why
    char   inputs[256];     // what was compared on: "made-up inputs"
    char   left_out[256];   // outputs that were not compared, and why; "": none
    char   why_not[512];
    double seconds;
} HoloVerifyResult;

// Runs `model` and the graph it was compiled from, whose types are inferred, on the same seeded inputs and compares the
// outputs. Where a kernel runs a node, the reference runs it too, and compares it with plain evaluation of the same
// inputs (large products: with a seeded sample of exact elements). So each kernel is judged by itself, and a model that
// rounds inside does not blow small differences up. Outputs that differ beyond tolerance all the same may differ as far
// as the reference's own do when what its nodes compute is off by some roundings. Adds what it finds to *out, which is
// zero before the first call. HOLO_VERIFY: something differs beyond tolerance. HOLO_BAD_MODEL: a kernel that a user
// wrote leaves its memory on all inputs that are tried.
HOLO_MUST HoloStatus holo_verify(const HoloGraph *reference, const HoloModel *model, const HoloVerifyOptions *options,
                                 HoloVerifyResult *out, HoloError *error);

// The same in two steps, to compare many plans with a reference that is computed once.
typedef struct HoloVerifier HoloVerifier;
// *out is NULL, and result->why_not set, where there is nothing to compare with. The graph and what the options refer
// to must live as long.
HOLO_MUST HoloStatus holo_verifier_create(const HoloGraph *reference, const HoloKernelTable *kernels,
                                          const HoloVerifyOptions *options, HoloVerifier **out,
                                          HoloVerifyResult *result, HoloError *error);
// The tolerance of outputs from now on; that of kernels was the options'.
void holo_verifier_set_tolerance(HoloVerifier *verifier, double relative, double absolute);
// Adds what it finds to *result.
HOLO_MUST HoloStatus holo_verifier_compare(HoloVerifier *verifier, const HoloModel *model, HoloVerifyResult *result,
                                           HoloError *error);
void                 holo_verifier_destroy(HoloVerifier *verifier);

// Element i, as a double. Most tensors that are compared are of f32.
static inline double holo_element(const HoloTensor *t, int64_t i)
{
    return t->dtype == HOLO_F32 ? (double)((const float *)t->data)[i] : holo_get_f(t, i);
}

#endif
