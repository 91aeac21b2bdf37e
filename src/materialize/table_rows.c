// table_rows.c - if each row of a Gather from a constant table is processed separately, the work is done on the table,
// once.
//
// Such work is a product with constant weights, a normalization of rows, or a pointwise program with constants for a
// row. It must be worth a larger table: a product or a normalization is; a program is if the table does not grow. Only
// that work may use the rows.
#include "graph/facts.h"
#include "materialize/materialize.h"

#include <string.h>

typedef struct Rows {
    HoloGraph       *graph;
    HoloMaterialize *m;
    int             *uses; // by value id
    HoloArena        scratch;
} Rows;

// ---- which work

// Is it a constant that is the same for every row? It has the dimensions of a row, and 1 before these.
static bool is_of_row(const HoloValue *value, int row_rank)
{
    if (!value) return true;
    if (!value->is_constant) return false;
    for (int d = 0; d < value->type.rank - row_rank; d++)
        if (value->type.dim[d] != 1) return false;
    return true;
}

static bool are_of_row(const HoloNode *node, int from, int row_rank)
{
    for (int i = from; i < node->in_count; i++)
        if (!is_of_row(node->in[i], row_rank)) return false;
    return true;
}

static bool is_product(const HoloNode *node, int row_rank)
{
    const HoloValue *b = node->in_count > 1 ? node->in[1] : NULL;
    return row_rank == 1 && b && b->is_constant && b->type.rank == 2 && !holo_node_int(node, "transA", 0) &&
           !holo_node_int(node, "transBatchA", 0) && are_of_row(node, 2, 1);
}

static bool is_norm(const HoloNode *node, int row_rank)
{
    int64_t axis = holo_node_int(node, "axis", -1);
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    if (axis >= 0) axis -= node->in[0]->type.rank;
    return axis >= -row_rank && are_of_row(node, 1, row_rank);
}

static bool is_program(const HoloNode *node, int row_rank)
{
    return are_of_row(node, 1, row_rank);
}

typedef struct Work {
    HoloOpId id;
    bool (*fits)(const HoloNode *node, int row_rank); // input 0 are the rows
    int  from;                                        // the first input that is the same for every row
    bool may_grow;
} Work;

static const Work works[] = {
    {HOLO_ID_MatMul, is_product, 2, true},
    {HOLO_ID_HOLOGRAM_MatMul, is_product, 2, true},
    {HOLO_ID_LayerNormalization, is_norm, 1, true},
    {HOLO_ID_RMSNormalization, is_norm, 1, true},
    {HOLO_ID_SimplifiedLayerNormalization, is_norm, 1, true},
};
static const Work program = {HOLO_ID_NONE, is_program, 1, false};

static const Work *work_find(const HoloNode *node)
{
    for (int i = 0; i < HOLO_COUNT(works); i++)
        if (works[i].id == node->op_id) return &works[i];
    return node->op->flags & HOLO_OP_POINTWISE ? &program : NULL;
}

// The only node that uses the value, and only as its input 0; NULL: there is none.
static HoloNode *user_of(const Rows *r, const HoloValue *value)
{
    HoloNode *user = NULL;
    if (r->uses[value->id] != 1) return NULL;
    for (int i = 0; i < r->graph->node_count; i++)
        if (r->graph->nodes[i]->in_count && r->graph->nodes[i]->in[0] == value) user = r->graph->nodes[i];
    return user;
}

// ---- the table

// The number of dimensions of a row; -1: it is not a Gather of rows from a constant.
static int row_rank_of(const HoloNode *node)
{
    if (!HOLO_IS(node, Gather) || node->in_count != 2 || !node->in[1] || !node->out[0]) return -1;
    const HoloValue *table = node->in[0];
    if (!table->is_constant || !table->type.data || table->type.rank < 2 || holo_node_int(node, "axis", 0)) return -1;
    return table->type.rank - 1;
}

// The work as a graph for so many rows.
static HoloGraph *work_graph(Rows *r, const HoloNode *work, int from, const HoloTensor *table, HoloDim rows,
                             int row_rank)
{
    HoloGraph *graph = holo_graph_create(&r->scratch, r->graph->dims, "rows");
    HoloTensor type  = *table;
    type.data        = NULL;
    type.dim[0]      = rows;
    HoloValue *x     = graph ? holo_graph_input(graph, "rows", &type) : NULL;
    HoloNode  *node = x ? holo_graph_node(graph, work->name, work->domain, work->type, work->version, work->in_count, 1,
                                          work->attr_count)
                        : NULL;
    HoloValue *y    = node ? holo_graph_value(graph, "done") : NULL;
    if (!y) return NULL;
    node->op    = work->op;
    node->in[0] = x;
    for (int i = 1; i < work->in_count; i++) {
        if (!work->in[i]) continue;
        HoloTensor t = work->in[i]->type;
        while (t.rank > row_rank && i >= from) { // the first dimensions are 1
            for (int d = 0; d + 1 < t.rank; d++) t.dim[d] = t.dim[d + 1];
            t.rank--;
        }
        if (!(node->in[i] = holo_graph_constant(graph, work->in[i]->name, &t))) return NULL;
    }
    for (int i = 0; i < work->attr_count; i++) {
        node->attr[i] = work->attr[i];
        if (!strcmp(node->attr[i].name, "axis") && node->attr[i].i >= 0) node->attr[i].i -= work->in[0]->type.rank;
    }
    holo_node_set_out(node, 0, y);
    return holo_graph_output(graph, y) ? graph : NULL;
}

// Does the work on the whole table, whose result has this type, give for each row what it gives for that row alone?
static bool is_by_row(const HoloNode *gather, const HoloNode *work, const HoloTensor *result)
{
    const HoloTensor *table = &gather->in[0]->type, *rows = &gather->out[0]->type, *done = &work->out[0]->type;
    return holo_tensor_count(result) > 0 && result->rank >= 1 && result->dim[0] == table->dim[0] &&
           result->dtype == done->dtype && done->rank - rows->rank == result->rank - table->rank;
}

static void note(const Rows *r, const HoloNode *gather, HoloNode *work, HoloVerdict verdict, uint64_t bytes,
                 const char *why)
{
    char what[HOLO_NOTE_TEXT];
    holo_notes_add(r->m->notes, &(HoloNote){.pass    = "rows",
                                            .place   = gather->out[0]->name,
                                            .what    = work ? holo_note_types(what, &work, 1) : gather->type,
                                            .why     = why,
                                            .verdict = verdict,
                                            .bytes   = bytes});
}

// May there be a table of results of this type?
static bool is_worth_it(const Rows *r, const HoloNode *gather, HoloNode *node, const Work *work,
                        const HoloTensor *result)
{
    uint64_t bytes = holo_tensor_bytes(result);
    if (!work->may_grow && bytes > holo_tensor_bytes(&gather->in[0]->type))
        note(r, gather, node, HOLO_VERDICT_NOT_FASTER, bytes,
             "the table would be larger, and would only save a pointwise operator");
    else if (bytes > r->m->room)
        note(r, gather, node, HOLO_VERDICT_OVER_BUDGET, bytes,
             "the table of results is larger than what is left of --memory-budget");
    else
        return true;
    return false;
}

// Does the work of the node behind the Gather on the table. *out_done: it was done.
static HoloStatus gather_do(Rows *r, HoloNode *gather, bool *out_done)
{
    int row_rank = row_rank_of(gather);
    *out_done    = false;
    if (row_rank < 0) return HOLO_OK;
    HoloNode         *node  = user_of(r, gather->out[0]);
    const Work       *work  = node ? work_find(node) : NULL;
    const HoloTensor *table = &gather->in[0]->type;
    if (!work || !work->fits(node, row_rank) || !node->out[0]) {
        note(r, gather, node, HOLO_VERDICT_NOT_ALONE, 0,
             !node  ? "rows of a constant table, but more than one node reads them"
             : work ? "rows of a constant table, but it also depends on something else"
                    : "rows of a constant table, but what follows does not treat each row separately");
        return HOLO_OK;
    }
    HoloGraph *graph = work_graph(r, node, work->from, table, table->dim[0], row_rank);
    HoloGraph *some  = work_graph(r, node, work->from, table, holo_dims_fresh(r->graph->dims, "rows"), row_rank);
    if (!graph || !some) return holo_fail_memory(r->m->error);
    HoloError         failed = {0};
    const HoloTensor *result = &graph->outputs[0]->type;
    if (holo_graph_infer(graph, &failed) || !is_by_row(gather, node, result) ||
        !is_worth_it(r, gather, node, work, result))
        return HOLO_OK;
    if (holo_graph_infer(some, &failed)) return HOLO_OK;
    HoloTensor made = *result;
    if (!(made.data = holo_arena_take(r->graph->arena, holo_tensor_bytes(&made)))) return holo_fail_memory(r->m->error);
    HOLO_TRY(holo_materialize_run(some, r->m, table, &made));
    HoloValue *constant = holo_graph_constant(r->graph, gather->in[0]->name, &made);
    if (!constant) return holo_fail_memory(r->m->error);
    char why[HOLO_NOTE_TEXT];
    holo_note_text(why, "computed for all %lld rows of a constant table", (long long)table->dim[0]);
    HoloValue *unused = gather->out[0], *end = node->out[0];
    note(r, gather, node, HOLO_VERDICT_MADE, holo_tensor_bytes(&made), why);
    gather->in[0] = constant;
    holo_node_set_out(gather, 0, end);
    holo_node_set_out(node, 0, unused); // nobody needs it, so the node is removed
    node->in_count = 0;
    r->m->room -= holo_tensor_bytes(&made);
    r->m->tables++;
    *out_done = true;
    return HOLO_OK;
}

static HoloStatus rows_do(Rows *r)
{
    bool again = true, done;
    while (again) { // there may be more work behind the new table
        again = false;
        holo_notes_renew(r->m->notes, "rows");
        r->uses = holo_graph_uses(r->graph, &r->scratch);
        if (!r->uses) return holo_fail_memory(r->m->error);
        for (int i = 0; i < r->graph->node_count && !again; i++) {
            HOLO_TRY(gather_do(r, r->graph->nodes[i], &done));
            again = done;
        }
        if (!again) return HOLO_OK;
        bool *dead = HOLO_NEW(&r->scratch, bool, r->graph->node_count + 1);
        if (!dead) return holo_fail_memory(r->m->error);
        for (int i = 0; i < r->graph->node_count; i++)
            dead[i] = !r->graph->nodes[i]->in_count && work_find(r->graph->nodes[i]);
        holo_graph_sweep(r->graph, dead);
        HOLO_TRY(holo_graph_sort(r->graph, r->m->error));
    }
    return HOLO_OK;
}

HoloStatus holo_materialize_rows(HoloGraph *graph, HoloMaterialize *m)
{
    Rows       r      = {.graph = graph, .m = m};
    HoloStatus status = rows_do(&r);
    holo_arena_deinit(&r.scratch);
    return status;
}
