// passes.h - the compiler's passes from graph to graph, and the driver that runs them.
#ifndef HOLO_PASSES_H
#define HOLO_PASSES_H

#include "graph/graph.h"
#include "graph/notes.h"
#include "lower/target.h"

// How much passes have changed, and how much they may. A limit stops them between two nodes at any point of a run, so
// that of all changes the first that makes a difference can be found.
typedef struct HoloChanges {
    int         count; // in all
    int         limit; // no pass goes on to another node when the count has reached it
    const char *pass;  // which made the last one, or failed; NULL: none did

    // Set by holo_passes_run.
    bool               is_exact;   // for class exact
    bool               is_late;    // passes ran before: the graph is not that of the model
    bool               no_tables;  // what would be looked up is computed plainly
    bool               all_tables; // also where computing is cheaper
    bool               all_chains; // programs also where eval is faster
    uint64_t           table_room; // bytes that tables may still take
    uint64_t           fill_room;  // and weights that are far larger than what they are made of
    HoloNotes         *notes;      // what was decided, and why; NULL: nobody wants to know
    const HoloTargets *targets;    // whose kernels will run the graph

    bool judges; // of `integers`: what was written stays, and Agreed holds what is made against it
} HoloChanges;

// Changes the graph, not its subgraphs, and adds to changes->count what it changed. It walks over the nodes, what it does
// at each is right by itself, and it ends where the limit is reached. Types of values stay as consumers know them: no
// pass changes a dtype or a known shape. `scratch` is emptied after the pass.
typedef HoloStatus HoloPassRun(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error);
HoloPassRun        holo_pass_attention, holo_pass_branches, holo_pass_captures, holo_pass_carried, holo_pass_chains,
    holo_pass_columns, holo_pass_contents, holo_pass_cse, holo_pass_dead, holo_pass_decompose, holo_pass_einsum,
    holo_pass_fold, holo_pass_fuse, holo_pass_integers, holo_pass_layout, holo_pass_one_hot, holo_pass_pairs,
    holo_pass_recognize, holo_pass_scale, holo_pass_simplify, holo_pass_sixteen, holo_pass_tables, holo_pass_turned,
    holo_pass_unfuse, holo_pass_weights, holo_pass_widen;

// Passes of a later stage make nodes that those of earlier ones do not see through.
enum { HOLO_STAGE_SIMPLE, HOLO_STAGE_LAYOUT, HOLO_STAGE_FUSE, HOLO_STAGES };

typedef struct HoloPass {
    const char  *name;
    HoloPassRun *run;
    bool         is_outer; // runs on the model's own graph alone; otherwise first on every subgraph
    bool         reinfers; // makes values whose types are inferred again afterwards
    bool         rounds;   // rounds less than the model's types ask for, or in between: does not run in class exact
    int          stage;    // HOLO_STAGE_*: runs only when nothing of earlier stages changes any more
    const char  *doc;      // one line
} HoloPass;

extern const HoloPass holo_passes[]; // in order; ended by one without a name

typedef struct HoloPassOptions {
    const char *const *disabled; // names of passes that do not run
    int                disabled_count;
    bool               is_exact;     // for class exact
    bool               no_tables;    // what would be looked up is computed plainly: the same bits
    bool               all_tables;   // also where computing is cheaper
    bool               all_chains;   // programs also where eval is faster
    uint64_t           table_budget; // bytes that tables may take; 0: no limit
    const char        *last;         // nothing runs behind the first run of this pass; NULL: all
    const HoloPass    *table;        // the passes; NULL: holo_passes
    HoloChanges       *changes;      // counts on from here, up to its limit; NULL: no limit
    HoloNotes         *notes;        // what was decided, and why; may be NULL
    const HoloTargets *targets;      // whose kernels will run the graph; NULL: the CPU's
    // Called after each pass, with how much it changed.
    void (*after)(void *context, const HoloPass *pass, const HoloGraph *graph, int changes);
    void *context;
} HoloPassOptions;

// Runs the passes of stage 0 in rounds until nothing changes (at most HOLO_PASS_ROUNDS), then those of stages 0 and
// 1, and so on. The graph is verified after each. `options` may be NULL.
enum { HOLO_PASS_ROUNDS = 16, HOLO_FILL_ROOM = 96 << 20 };
HOLO_MUST HoloStatus holo_passes_run(HoloGraph *graph, const HoloPassOptions *options, HoloError *error);
// Runs the one pass of that name and infers again; *out_changes is how much it changed.
HOLO_MUST HoloStatus holo_pass_run(HoloGraph *graph, const char *name, int *out_changes, HoloError *error);
// The pass `integers`, such that evaluating the graph fails with HOLO_VERIFY where it changed more than roundings.
HOLO_MUST HoloStatus holo_pass_integers_judged(HoloGraph *graph, HoloError *error);

#endif
