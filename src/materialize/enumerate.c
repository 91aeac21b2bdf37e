// enumerate.c - turns what depends on inputs with few possible values, by their type or by a declared domain, into a
// table with an entry for each combination. That may be the whole model.
//
// Inputs are taken as long as all combinations of their elements fit; those with a declared domain come first. All
// nodes that depend only on these inputs and on constants are run, by the plan, for every combination; their values
// that others use become Enumerated. Sizes must be numbers. Nothing is done if computing all combinations would take
// too long, or if only views and copies would be saved.
#include "materialize/materialize.h"
#include "passes/rewrite.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

enum {
    COMBINATIONS_MAX = 1 << 20, // with declared domains
    COMBINATIONS_OWN = 1 << 16, // without
};
static const double work_max = 1e11; // multiplications, additions and the like, in all
// Without a declared domain, a table must save at least this much work, and is no larger than this.
static const double work_min = 1e4;
enum { BYTES_OWN = 1 << 20 };

typedef struct Enumerate {
    HoloGraph       *graph;
    HoloMaterialize *m;
    HoloArena        scratch;
    bool            *is_in; // by value id: it depends only on the chosen inputs and constants
    HoloValue      **inputs;
    HoloTensor      *domains; // of these inputs; data NULL: all bit patterns
    int64_t         *each;    // number of possible values of an element
    int              count;
    int64_t          combinations;
    HoloValue      **ends; // values of the region that others use
    int              end_count;
} Enumerate;

// ---- inputs

static const HoloTensor *domain_find(const Enumerate *e, const HoloValue *input)
{
    for (int i = 0; i < e->m->domain_count; i++)
        if (!strcmp(e->m->domains[i].name, input->name)) return &e->m->domains[i].values;
    return NULL;
}

// Takes an input, if all combinations still fit.
static void input_take(Enumerate *e, HoloValue *input, bool declared)
{
    const HoloTensor *t = &input->type, *domain = domain_find(e, input);
    int64_t           count = t->kind == HOLO_TENSOR && t->rank >= 0 ? holo_tensor_count(t) : -1;
    int64_t           each = domain ? domain->dim[0] : holo_dtype_patterns((HoloDtype)t->dtype), all = e->combinations;
    int64_t           most = e->m->domain_count ? COMBINATIONS_MAX : COMBINATIONS_OWN;
    if ((domain != NULL) != declared || count < 1 || !each) return;
    for (int64_t k = 0; k < count && each > 1; k++)
        if (!holo_mul(all, each, &all) || all > most) return;
    e->combinations      = all;
    e->inputs[e->count]  = input;
    e->domains[e->count] = domain ? *domain : (HoloTensor){.dtype = t->dtype};
    e->each[e->count++]  = each;
    e->is_in[input->id]  = true;
}

// ---- the region

static bool is_fit(const Enumerate *e, const HoloNode *node)
{
    const uint32_t unfit = HOLO_OP_RANDOM | HOLO_OP_KINDS;
    bool           any   = false;
    if (!node->op || node->op->flags & unfit) return false;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || node->in[i]->is_constant) continue;
        if (!e->is_in[node->in[i]->id]) return false;
        any = true;
    }
    for (int i = 0; i < node->out_count; i++) {
        const HoloTensor *t = node->out[i] ? &node->out[i]->type : NULL;
        if (t && (t->kind != HOLO_TENSOR || t->rank < 0 || holo_tensor_count(t) < 0 || t->dtype == HOLO_STRING))
            return false;
    }
    return any;
}

static HoloStatus region_find(Enumerate *e, double *out_work)
{
    HoloGraph *graph = e->graph;
    bool      *used  = HOLO_NEW(&e->scratch, bool, graph->value_count + 1);
    *out_work        = 0;
    e->ends          = HOLO_NEW(&e->scratch, HoloValue *, graph->value_count + 1);
    if (!used || !e->ends) return holo_fail_memory(e->m->error);
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        bool            fit  = is_fit(e, node);
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k]) e->is_in[node->out[k]->id] = fit;
        for (int k = 0; k < node->in_count && !fit; k++)
            if (node->in[k]) used[node->in[k]->id] = true;
        if (fit && !(node->op->flags & (HOLO_OP_VIEW | HOLO_OP_MOVES)))
            for (int k = 0; k < node->in_count; k++)
                if (node->in[k]) *out_work += (double)holo_tensor_count(&node->in[k]->type);
    }
    for (int i = 0; i < graph->output_count; i++) used[graph->outputs[i]->id] = true;
    for (int i = 0; i < graph->value_count; i++) {
        HoloValue *value = graph->values[i];
        if (used[i] && e->is_in[i] && value->producer) e->ends[e->end_count++] = value;
    }
    return HOLO_OK;
}

// The region as a graph of its own.
static HoloGraph *region_graph(Enumerate *e)
{
    HoloGraph  *graph = holo_graph_create(&e->scratch, e->graph->dims, "few");
    HoloValue **to    = HOLO_NEW(&e->scratch, HoloValue *, e->graph->value_count + 1);
    if (!graph || !to) return NULL;
    for (int i = 0; i < e->count; i++)
        if (!(to[e->inputs[i]->id] = holo_graph_input(graph, e->inputs[i]->name, &e->inputs[i]->type))) return NULL;
    for (int i = 0; i < e->graph->node_count; i++) {
        const HoloNode *node = e->graph->nodes[i];
        bool            in   = false;
        for (int k = 0; k < node->out_count; k++) in = in || (node->out[k] && e->is_in[node->out[k]->id]);
        if (!in) continue;
        HoloNode *copy = holo_graph_node_like(graph, node->name, node);
        if (!copy) return NULL;
        for (int k = 0; k < node->in_count; k++) {
            HoloValue *value = node->in[k];
            if (value && !to[value->id] && !(to[value->id] = holo_graph_constant(graph, value->name, &value->type)))
                return NULL;
            copy->in[k] = value ? to[value->id] : NULL;
        }
        for (int k = 0; k < node->out_count; k++) {
            if (!node->out[k]) continue;
            HoloValue *value = to[node->out[k]->id] = holo_graph_value(graph, node->out[k]->name);
            if (!value) return NULL;
            holo_node_set_out(copy, k, value);
        }
    }
    for (int i = 0; i < e->end_count; i++)
        if (!holo_graph_output(graph, to[e->ends[i]->id])) return NULL;
    return graph;
}

// ---- running

// Sets element k to possible value number `place` of input i.
static void element_put(const Enumerate *e, int i, HoloTensor *x, int64_t k, int64_t place)
{
    size_t size = holo_dtype_size(x->dtype);
    if (e->domains[i].data) {
        memcpy((char *)x->data + (size_t)k * size, (const char *)e->domains[i].data + (size_t)place * size, size);
        return;
    }
    holo_put_pattern(x, k, place);
}

// Fills the inputs for combination number `at`. The first element of the first input changes slowest.
static void combination_put(const Enumerate *e, HoloTensor *x, int64_t at)
{
    for (int i = e->count - 1; i >= 0; i--)
        for (int64_t k = holo_tensor_count(&x[i]) - 1; k >= 0; k--) {
            element_put(e, i, &x[i], k, at % e->each[i]);
            at /= e->each[i];
        }
}

// If the model fails for a combination, such as an index that is too large, there is no table.
static HoloStatus run_all(const Enumerate *e, HoloSession *session, HoloTensor *x, HoloTensor *tables, HoloError *error)
{
    for (int i = 0; i < e->count; i++) HOLO_TRY(holo_session_set_input(session, i, &x[i], error));
    for (int64_t at = 0; at < e->combinations; at++) {
        combination_put(e, x, at);
        HOLO_TRY(holo_session_run(session, error));
        for (int i = 0; i < e->end_count; i++) {
            HoloTensor y;
            size_t     size = holo_tensor_bytes(&e->ends[i]->type);
            HOLO_TRY(holo_session_output(session, i, &y, error));
            if (holo_tensor_bytes(&y) != size)
                return holo_fail(error, HOLO_INTERNAL, "%s changes size", e->ends[i]->name);
            memcpy((char *)tables[i].data + (size_t)at * size, y.data, size);
        }
    }
    return HOLO_OK;
}

static HoloStatus tables_fill(Enumerate *e, HoloTensor *tables, bool *out_filled)
{
    HoloError   why   = {0};
    HoloGraph  *graph = region_graph(e);
    HoloTensor *x     = HOLO_NEW(&e->scratch, HoloTensor, e->count + 1);
    if (!graph || !x) return holo_fail_memory(e->m->error);
    for (int i = 0; i < e->count; i++) {
        x[i]      = e->inputs[i]->type;
        x[i].data = holo_arena_take(&e->scratch, holo_tensor_bytes(&x[i]));
        if (!x[i].data) return holo_fail_memory(e->m->error);
    }
    HOLO_TRY(holo_graph_infer(graph, e->m->error));
    HoloModel   *model;
    HoloSession *session;
    HOLO_TRY(holo_materialize_model(graph, e->m, &model));
    HoloStatus status = holo_session_create(model, NULL, &session, e->m->error);
    if (!status) {
        *out_filled = run_all(e, session, x, tables, &why) == HOLO_OK;
        holo_session_destroy(session);
    }
    holo_model_close(model);
    return status;
}

// ---- the replacement

// Takes a table for each value. *out_bytes is their size. False: they do not fit.
static bool tables_take(Enumerate *e, HoloTensor *tables, uint64_t *out_bytes)
{
    *out_bytes = 0;
    for (int i = 0; i < e->end_count; i++) {
        const HoloTensor *t = &e->ends[i]->type;
        uint64_t          bytes;
        if (t->rank + 1 > HOLO_MAX_RANK ||
            __builtin_mul_overflow((uint64_t)e->combinations, holo_tensor_bytes(t), &bytes))
            return false;
        *out_bytes += bytes;
        if (*out_bytes > e->m->room || bytes > e->m->room || (!e->m->domain_count && bytes > BYTES_OWN)) return false;
        tables[i] = (HoloTensor){
            .dtype = t->dtype, .kind = HOLO_TENSOR, .rank = (int8_t)(t->rank + 1), .dim = {e->combinations}};
        for (int d = 0; d < t->rank; d++) tables[i].dim[d + 1] = t->dim[d];
    }
    for (int i = 0; i < e->end_count; i++) {
        tables[i].data = holo_arena_take(e->graph->arena, holo_tensor_bytes(&tables[i]) + 1);
        if (!tables[i].data) return false;
    }
    return true;
}

static HoloStatus end_replace(Enumerate *e, HoloValue *end, const HoloTensor *table)
{
    HoloGraph *graph = e->graph;
    HoloNode  *node = holo_graph_op(graph, end->producer->name, HOLO_ID_HOLOGRAM_Enumerated, 1, 2 * e->count + 1, 1, 0);
    HoloValue *constant = node ? holo_graph_constant(graph, end->name, table) : NULL;
    HoloValue *before   = constant ? holo_graph_value(graph, end->name) : NULL;
    if (!before) return holo_fail_memory(e->m->error);
    for (int i = 0; i < e->count; i++) {
        node->in[i] = e->inputs[i];
        if (!e->domains[i].data) continue;
        node->in[e->count + i] = holo_graph_constant(graph, "domain", &e->domains[i]);
        if (!node->in[e->count + i]) return holo_fail_memory(e->m->error);
    }
    node->in[2 * e->count] = constant;
    before->type           = end->type;
    for (int k = 0; k < end->producer->out_count; k++)
        if (end->producer->out[k] == end) {
            holo_node_set_out(end->producer, k, before);
            break;
        }
    holo_node_set_out(node, 0, end);
    return HOLO_OK;
}

static void note(const Enumerate *e, HoloVerdict verdict, uint64_t bytes, const char *why)
{
    HoloNote n                     = {.pass = "few", .why = why, .verdict = verdict, .bytes = bytes};
    char     names[HOLO_NOTE_TEXT] = "";
    for (int i = 0; i < e->count; i++) {
        size_t at = strlen(names);
        snprintf(names + at, sizeof names - at, "%s%.60s", i ? ", " : "", e->inputs[i]->name);
    }
    n.what  = names;
    n.place = e->end_count ? e->ends[0]->name : "";
    n.count = verdict == HOLO_VERDICT_MADE ? (uint64_t)e->end_count : 1;
    holo_notes_add(e->m->notes, &n);
}

// Notes an input that was not taken because it has too many possible values.
static void note_left(const Enumerate *e)
{
    for (int i = 0; i < e->graph->input_count; i++) {
        const HoloValue *input = e->graph->inputs[i];
        char             why[HOLO_NOTE_TEXT];
        if (e->is_in[input->id]) continue;
        int64_t count = input->type.kind == HOLO_TENSOR && input->type.rank >= 0 ? holo_tensor_count(&input->type) : -1;
        if (count < 0)
            holo_note_text(why, "the input's size is dynamic, so its possible values are unknown");
        else
            holo_note_text(why, "%lld element%s of %s can have too many values for a table", (long long)count,
                           count == 1 ? "" : "s", holo_dtype_name((HoloDtype)input->type.dtype));
        holo_notes_add(
            e->m->notes,
            &(HoloNote){.pass = "few", .place = input->name, .why = why, .verdict = HOLO_VERDICT_NOT_FINITE});
    }
}

static HoloStatus enumerate(Enumerate *e)
{
    HoloGraph *graph = e->graph;
    double     work;
    uint64_t   bytes;
    e->combinations = 1;
    e->is_in        = HOLO_NEW(&e->scratch, bool, graph->value_count + 1);
    e->inputs       = HOLO_NEW(&e->scratch, HoloValue *, graph->input_count + 1);
    e->domains      = HOLO_NEW(&e->scratch, HoloTensor, graph->input_count + 1);
    e->each         = HOLO_NEW(&e->scratch, int64_t, graph->input_count + 1);
    if (!e->is_in || !e->inputs || !e->domains || !e->each) return holo_fail_memory(e->m->error);
    for (int declared = 1; declared >= 0; declared--)
        for (int i = 0; i < graph->input_count; i++) input_take(e, graph->inputs[i], declared);
    note_left(e);
    if (!e->count) return HOLO_OK;
    HOLO_TRY(region_find(e, &work));
    if (!e->end_count || work <= 0) {
        note(e, HOLO_VERDICT_NOT_ALONE, 0,
             "these inputs have few possible values, but nothing is computed from them alone");
        return HOLO_OK;
    }
    work += (double)holo_plan_flops(graph);
    if (work * (double)e->combinations > work_max)
        note(e, HOLO_VERDICT_TOO_LONG, 0, "computing all combinations would take too long");
    else if (!e->m->domain_count && work < work_min)
        note(e, HOLO_VERDICT_NOT_FASTER, 0, "so little depends on them that computing is as fast as looking up");
    if (work * (double)e->combinations > work_max || (!e->m->domain_count && work < work_min)) return HOLO_OK;
    HoloTensor *tables = HOLO_NEW(&e->scratch, HoloTensor, e->end_count);
    if (!tables) return holo_fail_memory(e->m->error);
    if (!tables_take(e, tables, &bytes)) {
        note(e, HOLO_VERDICT_OVER_BUDGET, bytes,
             e->m->domain_count ? "the tables are larger than what is left of --memory-budget"
                                : "the tables would be large, and no --domain asks for them");
        return HOLO_OK;
    }
    bool filled;
    HOLO_TRY(tables_fill(e, tables, &filled));
    if (!filled) {
        note(e, HOLO_VERDICT_FAILS, bytes, "the model itself fails for some of their values");
        return HOLO_OK;
    }
    char why[HOLO_NOTE_TEXT];
    holo_note_text(why,
                   "these inputs have %lld combinations of values: everything that depends on them alone is a table",
                   (long long)e->combinations);
    note(e, HOLO_VERDICT_MADE, bytes, why);
    for (int i = 0; i < e->end_count; i++) HOLO_TRY(end_replace(e, e->ends[i], &tables[i]));
    if (holo_graph_drop_dead(graph, &e->scratch) < 0) return holo_fail_memory(e->m->error);
    HOLO_TRY(holo_graph_sort(graph, e->m->error));
    e->m->room -= bytes;
    e->m->tables += (uint32_t)e->end_count;
    return HOLO_OK;
}

HoloStatus holo_materialize_few(HoloGraph *graph, HoloMaterialize *m)
{
    Enumerate  e      = {.graph = graph, .m = m};
    HoloStatus status = enumerate(&e);
    holo_arena_deinit(&e.scratch);
    return status;
}
