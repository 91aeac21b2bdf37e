// compiler.h - the inside of HoloCompiler and HoloReport.
#ifndef HOLO_API_COMPILER_H
#define HOLO_API_COMPILER_H

#include "base/stop.h"
#include "graph/graph.h"
#include "hologram_compiler.h"
#include "passes/passes.h"
#include "quantize/quantize.h"

typedef struct HoloInputChoice {
    const char *name;
    HoloTensor  value; // a shape (dim -1: as in the model), or a constant, whose data is borrowed
    bool        is_constant;
} HoloInputChoice;

typedef struct HoloBoundKernel { // a kernel bound to an operator; all memory is the compiler's arena
    const char *domain, *type;
    HoloString *programs, *lanes; // one for each element type, as bytes
    HoloString *places;           // for each program: see ops/hologram/user_places.h
    int         count;
    HoloString  shape; // the program that computes the shapes of outputs; size 0: as the first input
    int64_t     block[3];
} HoloBoundKernel;

typedef struct HoloGivenSample { // inputs in memory to calibrate with; all memory is the compiler's arena
    HoloRunInput *inputs;
    int           count;
} HoloGivenSample;

enum { HOLO_BOUND_MAX = 64 };
enum { HOLO_CHOICES_MAX = 256, HOLO_DOMAINS_MAX = 32, HOLO_PATTERNS_MAX = 256, HOLO_QUANTIZE_RULES_MAX = 256 };

struct HoloCompiler {
    HoloArena        arena; // owns names
    int              input_count;
    HoloInputChoice  inputs[HOLO_CHOICES_MAX]; // in the order in which they were set
    bool             symbolic;
    HoloNumeric      numeric;
    HoloDtype        cache;  // of caches; HOLO_NONE: as the model has them
    HoloString       prefix; // data NULL: none
    bool             is_prefix_plain;
    HoloSize         size;
    HoloTargets      targets;
    bool             has_host;        // beside the plan for the targets, one for the CPU alone is wanted
    char             target_kind[16]; // of the machines that device code is for; "": all that are known
    bool             verify, strict, tune, no_tables;
    int              verify_count;
    const char      *verify_with[HOLO_PATTERNS_MAX]; // paths, or NAME=PATH
    uint64_t         table_budget;
    int              domain_count;
    HoloInputChoice  domains[HOLO_DOMAINS_MAX]; // their values are in `arena`
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
    HoloGivenSample *samples;     // given beside it
    int              sample_count, sample_room;
    double           accuracy;
    bool             only_if_faster;
    double           relative, absolute;
    int              threads;
    uint64_t         memory_limit; // 0: no limit of its own
    HoloContext     *context;      // NULL: none
    const HoloPass  *passes;       // the table of passes
    uint64_t         disabled;     // bit i: pass i is disabled
    HoloChanges     *changes;      // limits and counts the changes of passes; NULL: no limit
    const char      *dump_pass;
    HoloDumpFn       dump;
    void            *dump_context;
    HoloProgressFn   progress;
    void            *progress_context;
    volatile int    *cancels; // how often holo_compiler_cancel was called; NULL: nobody can
};

// The report and its memory.
typedef struct HoloReportBox {
    HoloReport report; // first, so that a pointer to a report is a pointer to its box
    HoloArena  arena;
} HoloReportBox;

void holo_compiler_defaults(HoloCompiler *compiler);
// The model with its types, and with the compiler's choices for inputs applied: see holo_source_import.
HOLO_MUST HoloStatus holo_compiler_import(const HoloCompiler *compiler, const char *path, HoloString bytes,
                                          HoloSource **out, HoloError *error);
// Makes the inferred graph the reference of a verification. If some sizes are open, *out_trial is a copy to try sizes
// on, else NULL.
HOLO_MUST HoloStatus holo_compiler_judge(const HoloCompiler *compiler, HoloGraph *graph, HoloGraph **out_trial,
                                         HoloError *error);
// The part of this that a quantized graph needs: integers between DequantizeLinear and QuantizeLinear are computed as
// integers.
HOLO_MUST HoloStatus holo_compiler_take_integers(const HoloCompiler *compiler, HoloGraph *graph, HoloError *error);
bool                 holo_compiler_has_symbols(const HoloGraph *graph); // are sizes of inputs symbols?
// Makes the flag that ends a compile that begins now when somebody cancels it. If the compile is a part of another one,
// it shares the other's flag.
void holo_compiler_stop(const HoloCompiler *compiler, HoloStop *out);
void holo_compiler_progress(const HoloCompiler *compiler, const char *stage, double fraction);

// Does the CPU compute in class bf16? If another target has that class, what is left for the CPU is of class fused.
bool        holo_compiler_is_bf16(const HoloCompiler *compiler);
const char *holo_numeric_name(HoloNumeric numeric); // "fused", "exact", "bf16", "tf32", "f16"
// Takes the rows of the targets that are for the numeric class; a target without one keeps its row.
void holo_targets_classify(HoloCompiler *compiler);
// The numeric class of the plan for the CPU alone.
HoloNumeric holo_compiler_host_numeric(const HoloCompiler *compiler);
// Refuses a numeric class that a target does not have.
HOLO_MUST HoloStatus holo_targets_check(const HoloCompiler *compiler, HoloError *error);

#endif
