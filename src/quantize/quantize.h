// quantize.h - a graph of f32 as one whose products have narrow weights, and narrow operands: chosen by measuring.
//
// The graph is rewritten into operators that exist: QuantizeLinear and DequantizeLinear, of which the pass `integers`
// makes QLinearConv and its relatives, MatMulIntegerToFloat, MatMulNBits and Centroids. What is wide and what is narrow is decided
// by the distance of the plan's outputs to those of the plan without all this, on samples.
#ifndef HOLO_QUANTIZE_H
#define HOLO_QUANTIZE_H

#include "hologram_compiler.h"
#include "passes/passes.h"

typedef struct HoloSamples { // inputs to run
    int          count;
    HoloTensor **inputs;   // [sample][input], with data
    const char  *infinite; // where the first infinite number of them is, in words; NULL: all are finite
} HoloSamples;

typedef struct HoloQuantizeRule { // layers that fit become that: see holo_compiler_add_quantize
    const char      *pattern;
    HoloQuantizeKind kind;
} HoloQuantizeRule;

typedef struct HoloQuantizeOptions {
    HoloQuantizeKind        kind; // of layers that no rule fits
    const HoloQuantizeRule *rules;
    int                     rule_count;
    bool               is_static; // scales of activations are constants, found on the samples; else found in each run
    bool               is_mixed; // where they are constants: of convolutions, and of products that read what these give
    HoloRanges         ranges;
    double             percentile; // of HOLO_RANGES_PERCENTILE
    int                centroids;  // of each few numbers, where the kind is that
    double             accuracy;   // to be reached
    HoloJudgeFn        judge;      // by whom, in its place; NULL: nobody
    void              *judge_context;
    double             max_drop;
    double             seconds; // that the search may take, about
    bool               only_if_faster;
    const HoloSamples *samples;
    const HoloPassOptions *passes;                    // how plans are made
    HoloPool              *pool;                      // NULL: one thread
    void (*progress)(void *context, double fraction); // may be NULL
    void *context;
} HoloQuantizeOptions;

typedef struct HoloQuantization {
    HoloGraph             *graph; // what was asked for, or the graph as it was
    HoloQuantizationReport report;
} HoloQuantization;

// `graph` is a model's, with its types; it becomes simpler, but stays one of f32. All of *out is in the graph's arena, but
// for the report, which is in `arena`.
HOLO_MUST HoloStatus holo_quantize(HoloGraph *graph, const HoloQuantizeOptions *options, HoloArena *arena,
                                   HoloQuantization *out, HoloError *error);

enum { HOLO_SEEDED_SAMPLES = 8 };
// Inputs made up from a seed, as the graph says (verify/made_up.h).
HOLO_MUST HoloStatus holo_samples_seeded(const HoloGraph *graph, int count, HoloArena *arena, HoloSamples *out,
                                         HoloError *error);

#endif
