// compiler.h - the inside of HoloCompiler and HoloReport.
#ifndef HOLO_API_COMPILER_H
#define HOLO_API_COMPILER_H

#include "graph/graph.h"
#include "hologram_compiler.h"
#include "passes/passes.h"
#include "quantize/quantize.h"

typedef struct HoloInputChoice {
    const char *name;
    HoloTensor  value; // a shape (dim -1: as the model has it), or a constant, whose data is borrowed
    bool        is_constant;
} HoloInputChoice;

typedef struct HoloBoundKernel { // a kernel that is an operator; all in the compiler's arena
    const char *domain, *type;
    HoloString *programs, *lanes; // one for each element type; as bytes
    HoloString *places;           // of each program: see ops/hologram/user_places.h
    int         count;
    HoloString  shape; // the rule for the shapes of outputs; size 0: as the first input
    int64_t     block[3];
} HoloBoundKernel;

enum { HOLO_BOUND_MAX = 64 };
enum { HOLO_CHOICES_MAX = 256, HOLO_DOMAINS_MAX = 32, HOLO_PATTERNS_MAX = 256, HOLO_QUANTIZE_RULES_MAX = 256 };

struct HoloCompiler {
    HoloArena        arena; // owns names
    int              input_count;
    HoloInputChoice  inputs[HOLO_CHOICES_MAX]; // in the order in which they were made
    bool             symbolic;
    HoloNumeric      numeric;
    HoloSize         size;
    HoloTargets      targets;
    bool             verify, strict, tune, no_tables;
    int              verify_count;
    const char      *verify_with[HOLO_PATTERNS_MAX]; // paths, or NAME=PATH
    uint64_t         table_budget;
    int              domain_count;
    HoloInputChoice  domains[HOLO_DOMAINS_MAX]; // the values are in `arena`
    int              pattern_count;
    const char      *patterns[HOLO_PATTERNS_MAX]; // paths
    int              kernel_count;
    HoloBoundKernel  kernels[HOLO_BOUND_MAX];
    HoloQuantizeKind quantize;
    int              centroids;
    HoloActivations  activations;
    HoloRanges       ranges;
    double           percentile;
    HoloQuantizeRule quantize_rules[HOLO_QUANTIZE_RULES_MAX];
    int              quantize_rule_count;
    HoloJudgeFn      judge;
    void            *judge_context;
    double           max_drop;
    const char      *calibration; // path; NULL: none
    double           accuracy;
    bool             only_if_faster;
    double           relative, absolute;
    int              threads;
    uint64_t         memory_limit; // 0: none of its own
    HoloContext     *context;      // NULL: none
    const HoloPass  *passes;       // the table of them
    uint64_t         disabled;     // bit i: pass i
    HoloChanges     *changes;      // limits what passes change, and counts it; NULL: no limit
    const char      *dump_pass;
    HoloDumpFn       dump;
    void            *dump_context;
    HoloProgressFn   progress;
    void            *progress_context;
};

// The report's memory goes with it.
typedef struct HoloReportBox {
    HoloReport report; // first, so that a report is its box
    HoloArena  arena;
} HoloReportBox;

void holo_compiler_defaults(HoloCompiler *compiler);
// The model with its types, and with the inputs that the compiler was told.
HOLO_MUST HoloStatus holo_compiler_import(const HoloCompiler *compiler, const char *path, HoloSource **out,
                                          HoloError *error);
// Makes the graph, which is inferred, the reference of a verification. *out_trial is a copy of it to try sizes on, where some
// are open, and else NULL.
HOLO_MUST HoloStatus holo_compiler_judge(const HoloCompiler *compiler, HoloGraph *graph, HoloGraph **out_trial,
                                         HoloError *error);
// A part of that, for a quantized graph: integers between DequantizeLinear and QuantizeLinear are computed as such.
HOLO_MUST HoloStatus holo_compiler_take_integers(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error);
bool                 holo_compiler_has_symbols(const HoloGraph *graph); // among the sizes of inputs
void                 holo_compiler_progress(const HoloCompiler *compiler, const char *stage, double fraction);

#endif
