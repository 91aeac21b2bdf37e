// passes.h - the compiler's passes from graph to graph, and the driver that runs them.
#ifndef HOLO_PASSES_H
#define HOLO_PASSES_H

#include "graph/graph.h"
#include "graph/notes.h"
#include "lower/target.h"

// Counts and limits the changes of passes. A limit stops them between two nodes at any point of a run, so that the
// first change that makes a difference can be found.
enum { HOLO_TIED_MAX = 8 };
// Tables that lookups share with a product, of the entries of a model so far. An entry that only looks up reads the same.
typedef struct HoloTied {
    HoloTensor table[HOLO_TIED_MAX];
    int        count;
} HoloTied;

typedef struct HoloChanges {
    int         count; // all changes so far
    int         limit; // no pass goes on to another node when the count has reached it
    const char *pass;  // the pass that made the last change, or failed; NULL: none

    // Set by holo_passes_run.
    bool               is_exact;   // for class exact
    bool               is_late;    // passes ran before: the graph is no longer the model's
    bool               is_wide;    // weights of 16 bits are widened while compiling, though they take more then
    bool               no_tables;  // compute plainly instead of looking up
    bool               all_tables; // make tables even if computing is cheaper
    bool               all_chains; // make programs even if eval is faster
    uint64_t           table_room; // bytes that tables may still take
    uint64_t           fill_room;  // bytes that weights may still take which are much larger than what they are made of
    uint64_t           fold_room;  // bytes that may still be computed from constants
    HoloNotes         *notes;      // NULL: notes are not wanted
    const HoloTargets *targets;    // their kernels will run the graph
    HoloTied          *tied;       // NULL: the graph is the only entry

    bool judges; // for `integers`: the original nodes stay, and Agreed compares the new ones with them
} HoloChanges;

// Changes the graph, not its subgraphs, and adds the number of changes to changes->count. It walks over the nodes; each
// change is right by itself, and it ends when the limit is reached. Types stay as consumers know them: no pass changes
// a dtype or a known shape. `scratch` is emptied after the pass.
typedef HoloStatus HoloPassRun(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error);
HoloPassRun        holo_pass_attention, holo_pass_blocks, holo_pass_branches, holo_pass_captures, holo_pass_carried,
    holo_pass_chains, holo_pass_columns, holo_pass_contents, holo_pass_cse, holo_pass_dead, holo_pass_decompose,
    holo_pass_einsum, holo_pass_even, holo_pass_float8, holo_pass_fold, holo_pass_fuse, holo_pass_integers,
    holo_pass_layout, holo_pass_one_hot, holo_pass_pairs, holo_pass_recognize, holo_pass_scale, holo_pass_simplify,
    holo_pass_sixteen, holo_pass_tables, holo_pass_stored, holo_pass_tied, holo_pass_turned, holo_pass_unfuse,
    holo_pass_weights, holo_pass_widen;

// Passes of earlier stages cannot handle the nodes that passes of later stages make.
enum { HOLO_STAGE_SIMPLE, HOLO_STAGE_LAYOUT, HOLO_STAGE_FUSE, HOLO_STAGES };

typedef struct HoloPass {
    const char  *name;
    HoloPassRun *run;
    bool         is_outer; // runs only on the model's own graph; otherwise it first runs on every subgraph
    bool         reinfers; // makes values whose types must be inferred afterwards
    bool         rounds;   // rounds less often than the model's types say, or in between: does not run in class exact
    int          stage;    // HOLO_STAGE_*: runs only when earlier stages have nothing more to change
    const char  *doc;      // one line
} HoloPass;

extern const HoloPass holo_passes[]; // in order; the last one has no name

typedef struct HoloPassOptions {
    const char *const *disabled; // names of passes that do not run
    int                disabled_count;
    bool               is_exact;     // for class exact
    bool               is_bf16;      // plans are of class bf16; passes do not depend on it
    bool               is_wide;      // widen weights of 16 bits while compiling, though they take more then
    bool               no_tables;    // compute plainly instead of looking up: the same bits
    bool               all_tables;   // make tables even if computing is cheaper
    bool               all_chains;   // make programs even if eval is faster
    uint64_t           table_budget; // bytes that tables may take; 0: no limit
    const char        *last;         // nothing runs after the first run of this pass; NULL: all passes run
    const HoloPass    *table;        // the passes; NULL: holo_passes
    HoloChanges       *changes;      // counts on from here, up to its limit; NULL: no limit
    HoloNotes         *notes;        // what was decided, and why; may be NULL
    const HoloTargets *targets;      // their kernels will run the graph; NULL: the CPU's
    HoloTied          *tied;         // as in HoloChanges; grows
    // Called after each pass with the number of its changes.
    void (*after)(void *context, const HoloPass *pass, const HoloGraph *graph, int changes);
    void *context;
} HoloPassOptions;

// Runs the passes of stage 0 in rounds until nothing changes (at most HOLO_PASS_ROUNDS), then those of stages 0 and 1,
// and so on. The graph is verified after each pass. `options` may be NULL.
// Fold computes at most HOLO_FOLD_ROOM bytes, and HOLO_FOLD_GROWTH for each byte of the model's constants: a few nodes
// that double a constant would fill any disk.
enum { HOLO_PASS_ROUNDS = 16, HOLO_FILL_ROOM = 96 << 20, HOLO_FOLD_ROOM = 64 << 20, HOLO_FOLD_GROWTH = 256 };
HOLO_MUST HoloStatus holo_passes_run(HoloGraph *graph, const HoloPassOptions *options, HoloError *error);
// Runs only the pass of that name and infers again. *out_changes is the number of its changes.
HOLO_MUST HoloStatus holo_pass_run(HoloGraph *graph, const char *name, int *out_changes, HoloError *error);
// Runs the pass `integers` in such a way that evaluating the graph fails with HOLO_VERIFY if it changed more than
// roundings. `targets` run the graph that is compared with it.
HOLO_MUST HoloStatus holo_pass_integers_judged(HoloGraph *graph, const HoloTargets *targets, HoloError *error);

#endif
