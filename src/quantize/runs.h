// runs.h - runs graphs on the samples, as the plans that a compile would make of them.
#ifndef HOLO_QUANTIZE_RUNS_H
#define HOLO_QUANTIZE_RUNS_H

#include "quantize/ranges.h"

// The plan of a graph, which the passes change. The graph's memory must live as long.
HOLO_MUST HoloStatus holo_runs_open(HoloGraph *graph, const HoloQuantizeOptions *options, HoloModel **out,
                                    HoloError *error);
// Runs it on every sample and calls `each` with the outputs, which it may read until it returns.
typedef HoloStatus   HoloRunsEach(void *context, int sample, HoloSession *session, HoloError *error);
HOLO_MUST HoloStatus holo_runs_each(const HoloModel *model, const HoloQuantizeOptions *options, HoloRunsEach *each,
                                    void *context, HoloError *error);

// Runs the graph on every sample and calls `each` with those of its values that are wanted, by value id: f32 all.
typedef void         HoloRunsWatch(void *context, int value, const HoloTensor *t);
HOLO_MUST HoloStatus holo_runs_watch(const HoloGraph *graph, const bool *wanted, const HoloQuantizeOptions *options,
                                     HoloRunsWatch *each, void *context, HoloError *error);

// By value id, for those that are wanted, f32 all: what the numbers are on the samples. Memory of `arena`.
HOLO_MUST HoloStatus holo_runs_observe(const HoloGraph *graph, const bool *wanted, const HoloQuantizeOptions *options,
                                       HoloArena *arena, HoloValueRange ***out, HoloError *error);

// ---- how far plans are apart

typedef struct HoloBaseline { // what the graph gives on the samples
    int         sample_count, output_count;
    HoloTensor *outputs; // [sample][output]
    double      score;   // what the judge says of it; without one 1
} HoloBaseline;

typedef struct HoloDistance { // see holo_compiler_set_accuracy
    double  accuracy, cosine; // the least of all outputs
    double  worst;            // the largest difference, in parts of its output's largest magnitude
    double  score;            // what decides: what the judge says, or else the accuracy
    double  top1;             // NaN: no output looks like classes
    int64_t rows;             // that top1 is of
} HoloDistance;

HOLO_MUST HoloStatus holo_baseline_take(const HoloModel *model, const HoloQuantizeOptions *options, HoloArena *arena,
                                        HoloBaseline *out, HoloError *error);
HOLO_MUST HoloStatus holo_baseline_compare(const HoloBaseline *baseline, const HoloModel *model,
                                           const HoloQuantizeOptions *options, HoloDistance *out, HoloError *error);
// The least time of a run of each on the first sample, taken in turn.
HOLO_MUST HoloStatus holo_runs_time(const HoloModel *a, const HoloModel *b, const HoloQuantizeOptions *options,
                                    double *out_a, double *out_b, HoloError *error);

#endif
