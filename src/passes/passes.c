// passes.c - the ordered table of passes and its driver.
#include "passes/passes.h"

#include "base/memory.h"
#include "graph/facts.h"

#include <limits.h>
#include <string.h>

static HoloStatus run_infer(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    (void)scratch, (void)changes;
    return holo_graph_infer(graph, error);
}

enum { SIMPLE = HOLO_STAGE_SIMPLE, LAYOUT = HOLO_STAGE_LAYOUT, FUSE = HOLO_STAGE_FUSE };

// clang-format off
const HoloPass holo_passes[] = {
    {"infer", run_infer, true, false, false, SIMPLE, "finds types, shapes and small contents of all values"},
    {"widen", holo_pass_widen, false, true, true, SIMPLE, "computes f16 and bf16 operators in f32"},
    {"stored", holo_pass_stored, false, true, false, SIMPLE, "lets products read large weights as they are stored, narrow or transposed"},
    {"decompose", holo_pass_decompose, false, true, false, SIMPLE, "replaces an operator that others define by its body"},
    {"unfuse", holo_pass_unfuse, false, true, true, SIMPLE, "splits merged operators into ones that have kernels"},
    {"einsum", holo_pass_einsum, false, true, true, SIMPLE, "turns Einsum into matrix products"},
    {"carried", holo_pass_carried, false, true, false, SIMPLE, "turns loop values that never change into captures"},
    {"captures", holo_pass_captures, false, true, false, SIMPLE, "moves constants into subgraphs and removes unused captures"},
    {"integers", holo_pass_integers, false, true, true, SIMPLE, "computes with integers between DequantizeLinear and QuantizeLinear"},
    {"float8", holo_pass_float8, false, true, true, SIMPLE, "multiplies floats of 8 bits as they are, where a device can"},
    {"fold", holo_pass_fold, false, true, false, SIMPLE, "computes what depends only on constants; inlines the branch of a decided If"},
    {"simplify", holo_pass_simplify, false, true, false, SIMPLE, "removes nodes that change nothing; joins views and transposes"},
    {"contents", holo_pass_contents, true, true, false, SIMPLE, "turns shape arithmetic into expressions of the input sizes"},
    {"cse", holo_pass_cse, false, false, false, SIMPLE, "merges equal constants and equal nodes"},
    {"onehot", holo_pass_one_hot, false, true, false, SIMPLE, "turns a one-hot matrix times a constant matrix into a row lookup"},
    {"pairs", holo_pass_pairs, false, true, false, SIMPLE, "turns costly functions of two 8-bit elements into tables"},
    {"tables", holo_pass_tables, false, true, false, SIMPLE, "turns functions of one 8-bit or 16-bit element into tables"},
    {"weights", holo_pass_weights, false, true, false, SIMPLE, "lets products read quantized weights directly; computes filters"},
    {"blocks", holo_pass_blocks, false, true, false, SIMPLE, "lets products and lookups read weights in blocks directly"},
    {"recognize", holo_pass_recognize, false, true, false, SIMPLE, "replaces groups of nodes by the one operator that they spell out"},
    {"scale", holo_pass_scale, false, true, false, SIMPLE, "multiplies per-channel constants into the weights of products"},
    {"attention", holo_pass_attention, false, true, false, SIMPLE, "turns the products around a softmax into one Attention"},
    {"dead", holo_pass_dead, false, false, false, SIMPLE, "removes what no output needs"},
    {"branches", holo_pass_branches, false, true, false, SIMPLE, "moves what follows an If into its branches when their ranks differ"},
    {"columns", holo_pass_columns, false, true, true, LAYOUT, "turns deformable convolutions, and transposed ones with computed filters, into products"},
    {"layout", holo_pass_layout, false, true, false, LAYOUT, "stores channels last in convolutions and in what lies between them"},
    {"even", holo_pass_even, false, true, true, LAYOUT, "computes the share that is the same at every pixel of a convolution once"},
    {"turned", holo_pass_turned, false, true, false, LAYOUT, "moves a Transpose of the rows of a product into its constant weights"},
    {"tied", holo_pass_tied, false, true, false, FUSE, "lets lookups read the packed weights of a product with the same table"},
    {"sixteen", holo_pass_sixteen, false, true, true, FUSE, "turns quantizing to 16 bits and back into rounding in f32"},
    {"fuse", holo_pass_fuse, false, true, false, FUSE, "merges pointwise operators into one program, or into the tail of a product"},
    {"chains", holo_pass_chains, false, true, false, FUSE, "turns pointwise operators of types other than f32 into portable programs"},
    {0},
};
// clang-format on

enum { DEPTH_MAX = 64 };

// A body that is never taken may have nodes without a needed input. Passes do not see such bodies.
static bool is_whole(const HoloGraph *body)
{
    for (int i = 0; i < body->node_count; i++)
        if (holo_node_check(body->nodes[i], NULL)) return false;
    return true;
}

// Runs a pass on the subgraphs of the graph, innermost first, and then on the graph.
static HoloStatus run_on(const HoloPass *pass, HoloGraph *graph, int depth, HoloChanges *changes, HoloError *error)
{
    if (depth > DEPTH_MAX)
        return holo_fail(error, HOLO_UNSUPPORTED, "subgraphs are nested more than %d deep", DEPTH_MAX);
    for (int i = 0; i < graph->node_count && !pass->is_outer; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->attr_count; k++) {
            const HoloAttr *attr  = &node->attr[k];
            int             count = attr->kind == HOLO_ATTR_GRAPHS ? attr->count : attr->kind == HOLO_ATTR_GRAPH;
            for (int g = 0; g < count; g++) {
                HoloGraph *body = attr->kind == HOLO_ATTR_GRAPH ? attr->graph : attr->graphs[g];
                if (is_whole(body)) HOLO_TRY(run_on(pass, body, depth + 1, changes, error));
            }
        }
    }
    HoloArena scratch = {0};
    HoloScope scope   = {.what = "pass", .name = pass->name};
    holo_scope_enter(&scope);
    HoloStatus status = pass->run(graph, &scratch, changes, error);
    holo_scope_leave(&scope);
    holo_arena_deinit(&scratch);
    return status;
}

static HoloStatus run_checked(const HoloPass *pass, HoloGraph *graph, HoloChanges *changes, HoloError *error)
{
    HoloError inner  = {0};
    int       before = changes->count;
    HOLO_TRY(run_on(pass, graph, 0, changes, error));
    if (changes->count != before && pass->reinfers) HOLO_TRY(holo_graph_infer(graph, error));
    HoloStatus status = holo_graph_verify(graph, &inner);
    return status ? holo_fail(error, status, "after pass %s: %s", pass->name, inner.text) : HOLO_OK;
}

static HoloStatus run_pass(const HoloPass *pass, HoloGraph *graph, HoloChanges *changes, HoloError *error)
{
    int before = changes->count;
    HOLO_TRY(holo_scope_continue(error));
    holo_notes_renew(changes->notes, pass->name);
    HoloStatus status = run_checked(pass, graph, changes, error);
    if (status || changes->count != before) changes->pass = pass->name;
    return status;
}

// All passes rely on types, so the first pass cannot be disabled.
static bool is_disabled(const HoloPassOptions *options, const HoloPass *pass)
{
    if (pass == options->table) return false;
    for (int i = 0; i < options->disabled_count; i++)
        if (!strcmp(options->disabled[i], pass->name)) return true;
    return options->is_exact && pass->rounds;
}

// Runs one round over the passes up to a stage. *out_ended: options->last has run, or the limit is reached.
static HoloStatus run_round(HoloGraph *graph, const HoloPassOptions *options, int stage, bool *out_ended,
                            HoloError *error)
{
    HoloChanges *changes = options->changes;
    *out_ended           = false;
    for (const HoloPass *pass = options->table; pass->name && !*out_ended; pass++) {
        int before = changes->count;
        if (pass->stage > stage) continue;
        if (!is_disabled(options, pass)) {
            HOLO_TRY(run_pass(pass, graph, changes, error));
            if (options->after) options->after(options->context, pass, graph, changes->count - before);
        }
        *out_ended = changes->count >= changes->limit || (options->last && !strcmp(options->last, pass->name));
    }
    return HOLO_OK;
}

// Bytes of the constants of a graph and of its subgraphs.
static uint64_t constant_bytes(const HoloGraph *graph, int depth)
{
    enum { DEPTH_MAX = 64 };
    uint64_t bytes = 0;
    for (int i = 0; i < graph->value_count; i++)
        if (graph->values[i]->is_constant) bytes += holo_tensor_bytes(&graph->values[i]->type);
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i]->attr_count; k++) {
            const HoloAttr *attr = &graph->nodes[i]->attr[k];
            if (attr->kind == HOLO_ATTR_GRAPH && depth < DEPTH_MAX) bytes += constant_bytes(attr->graph, depth + 1);
        }
    return bytes;
}

static void changes_begin(const HoloPassOptions *options, const HoloGraph *graph)
{
    uint64_t constants          = constant_bytes(graph, 0);
    options->changes->notes     = options->notes;
    options->changes->targets   = options->targets ? options->targets : &holo_targets_cpu;
    options->changes->tied      = options->tied;
    options->changes->fill_room = HOLO_FILL_ROOM;
    options->changes->fold_room =
        HOLO_FOLD_ROOM + (constants < UINT64_MAX / 2 / HOLO_FOLD_GROWTH ? constants : 0) * HOLO_FOLD_GROWTH;
    options->changes->is_exact   = options->is_exact;
    options->changes->is_wide    = options->is_wide;
    options->changes->no_tables  = options->no_tables;
    options->changes->all_tables = options->all_tables;
    options->changes->all_chains = options->all_chains;
    options->changes->table_room = options->table_budget ? options->table_budget : UINT64_MAX;
}

HoloStatus holo_passes_run(HoloGraph *graph, const HoloPassOptions *options, HoloError *error)
{
    HoloChanges     all = {.limit = INT_MAX};
    HoloPassOptions own = options ? *options : (HoloPassOptions){0};
    if (!own.table) own.table = holo_passes;
    if (!own.changes) own.changes = &all;
    changes_begin(&own, graph);
    for (int stage = 0; stage < HOLO_STAGES; stage++) {
        if (own.notes) own.notes->is_late = stage > 0;
        for (int round = 0, before = -1; round < HOLO_PASS_ROUNDS && own.changes->count != before; round++) {
            bool ended;
            before               = own.changes->count;
            own.changes->is_late = stage > 0 || round > 0;
            HOLO_TRY(run_round(graph, &own, stage, &ended, error));
            if (ended) return HOLO_OK;
        }
    }
    return HOLO_OK;
}

static HoloStatus run_one(HoloGraph *graph, const char *name, HoloChanges *changes, HoloError *error)
{
    for (const HoloPass *pass = holo_passes; pass->name; pass++)
        if (!strcmp(pass->name, name)) return run_pass(pass, graph, changes, error);
    return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no pass %s", name);
}

HoloStatus holo_pass_run(HoloGraph *graph, const char *name, int *out_changes, HoloError *error)
{
    HoloChanges changes = {.limit      = INT_MAX,
                           .table_room = UINT64_MAX,
                           .fill_room  = HOLO_FILL_ROOM,
                           .fold_room  = UINT64_MAX,
                           .targets    = &holo_targets_cpu};
    HoloStatus  status  = run_one(graph, name, &changes, error);
    *out_changes        = changes.count;
    return status;
}

HoloStatus holo_pass_integers_judged(HoloGraph *graph, const HoloTargets *targets, HoloError *error)
{
    HoloChanges changes = {.limit      = INT_MAX,
                           .table_room = UINT64_MAX,
                           .fill_room  = HOLO_FILL_ROOM,
                           .fold_room  = UINT64_MAX,
                           .judges     = true,
                           .targets    = targets};
    return run_one(graph, "integers", &changes, error);
}
