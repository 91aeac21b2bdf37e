// quantize.h - turns a graph of f32 into one whose products have narrow weights and operands; measuring decides which.
//
// The graph is rewritten with operators that exist: QuantizeLinear and DequantizeLinear, which the pass `integers`
// turns into QLinearConv and similar ones, MatMulIntegerToFloat, MatMulNBits and Centroids. What becomes narrow is
// decided by how far the plan's outputs are from those of the plan without quantization, on samples.
#ifndef HOLO_QUANTIZE_H
#define HOLO_QUANTIZE_H

#include "hologram_compiler.h"
#include "passes/passes.h"

typedef struct HoloSamples { // inputs to run
    int          count;
    HoloTensor **inputs;   // [sample][input], with data
    const char  *infinite; // where the first infinite number is, as text; NULL: all are finite
} HoloSamples;

typedef struct HoloQuantizeRule { // layers that fit become that: see holo_compiler_add_quantize
    const char      *pattern;
    HoloQuantizeKind kind;
} HoloQuantizeRule;

typedef struct HoloQuantizeOptions {
    HoloQuantizeKind        kind; // for layers that no rule fits
    const HoloQuantizeRule *rules;
    int                     rule_count;
    bool               is_static; // scales of activations are constants, found on the samples; else each run finds them
    bool               is_mixed;  // constant scales only for convolutions, and for products that read from these
    HoloRanges         ranges;
    double             percentile; // of HOLO_RANGES_PERCENTILE
    int                centroids;  // for each group of numbers, if the kind is centroids
    double             accuracy;   // the target
    HoloJudgeFn        judge;      // decides instead of the accuracy; NULL: nobody
    void              *judge_context;
    double             max_drop;
    double             seconds; // about how long the search may take
    bool               only_if_faster;
    const HoloSamples *samples;
    const HoloPassOptions *passes;                    // how plans are made
    HoloPool              *pool;                      // NULL: one thread
    void (*progress)(void *context, double fraction); // may be NULL
    void *context;
} HoloQuantizeOptions;

typedef struct HoloQuantization {
    HoloGraph             *graph; // the quantized graph, or the original
    HoloQuantizationReport report;
} HoloQuantization;

// `graph` is a model's, with its types. It becomes simpler, but stays f32. Everything in *out is in the graph's arena,
// except the report, which is in `arena`.
HOLO_MUST HoloStatus holo_quantize(HoloGraph *graph, const HoloQuantizeOptions *options, HoloArena *arena,
                                   HoloQuantization *out, HoloError *error);

enum { HOLO_SEEDED_SAMPLES = 8 };
// Makes up inputs from a seed, as the graph requires (verify/made_up.h).
HOLO_MUST HoloStatus holo_samples_seeded(const HoloGraph *graph, int count, HoloArena *arena, HoloSamples *out,
                                         HoloError *error);

#endif
