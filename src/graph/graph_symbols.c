// graph_symbols.c - finds which symbolic sizes follow from the sizes of a graph's inputs, and their numbers; fixes a symbol.
#include "graph/graph.h"

bool *holo_graph_input_entries(const HoloGraph *graph, HoloArena *scratch)
{
    int   count = holo_dims_count(graph->dims);
    bool *known = HOLO_NEW(scratch, bool, count);
    if (!known) return NULL;
    for (int i = 0; i < graph->input_count; i++) {
        const HoloTensor *t = &graph->inputs[i]->type;
        for (int k = 0; k < t->rank && t->kind == HOLO_TENSOR; k++)
            if (holo_dim_is_symbolic(t->dim[k]) && (uint32_t)t->dim[k] < (uint32_t)count)
                known[holo_dim_entry(t->dim[k])] = true;
    }
    for (int i = 0; i < count; i++) {
        const HoloDimNode *node = holo_dims_node(graph->dims, i);
        if (known[i] || node->op == HOLO_DIM_SYMBOL) continue;
        bool a   = !holo_dim_is_symbolic(node->a) || known[holo_dim_entry(node->a)];
        bool b   = !holo_dim_is_symbolic(node->b) || known[holo_dim_entry(node->b)];
        known[i] = a && b;
    }
    return known;
}

bool holo_binding_number(const HoloBinding *binding, HoloDim d, int64_t *out)
{
    if (!holo_dim_is_symbolic(d)) {
        *out = d;
        return true;
    }
    int entry = holo_dim_entry(d);
    if (d == HOLO_DIM_UNKNOWN || entry >= binding->count || !binding->is_known[entry]) return false;
    *out = binding->number[entry];
    return true;
}

// The sizes of one input give numbers to the entries in its type.
static HoloStatus bind_input(const HoloValue *input, const HoloTensor *given, HoloBinding *out, HoloError *error)
{
    const HoloTensor *t = &input->type;
    if (t->kind != HOLO_TENSOR || t->rank != given->rank) return HOLO_OK;
    for (int k = 0; k < t->rank; k++) {
        if (!holo_dim_is_symbolic(t->dim[k]) || t->dim[k] == HOLO_DIM_UNKNOWN) continue;
        int entry = holo_dim_entry(t->dim[k]);
        if (out->is_known[entry] && out->number[entry] != given->dim[k])
            return holo_fail(error, HOLO_BAD_INPUT,
                             "input %s: size %d is %lld, where another input has %lld for the same size", input->name,
                             k, (long long)given->dim[k], (long long)out->number[entry]);
        out->number[entry]   = given->dim[k];
        out->is_known[entry] = true;
    }
    return HOLO_OK;
}

HoloStatus holo_graph_bind(const HoloGraph *graph, const HoloTensor *const *inputs, HoloArena *arena, HoloBinding *out,
                           HoloError *error)
{
    out->count    = holo_dims_count(graph->dims);
    out->number   = HOLO_NEW(arena, int64_t, out->count);
    out->is_known = HOLO_NEW(arena, bool, out->count);
    if (!out->number || !out->is_known) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++)
        if (inputs[i]) HOLO_TRY(bind_input(graph->inputs[i], inputs[i], out, error));
    for (int i = 0; i < out->count; i++) {
        const HoloDimNode *node = holo_dims_node(graph->dims, i);
        int64_t            a, b;
        if (out->is_known[i] || node->op == HOLO_DIM_SYMBOL) continue;
        out->is_known[i] = holo_binding_number(out, node->a, &a) && holo_binding_number(out, node->b, &b) &&
                           holo_dim_apply(node->op, a, b, &out->number[i]);
    }
    return HOLO_OK;
}

// ---- a symbol becomes a number

static HoloDim dim_made(HoloDims *dims, int32_t op, HoloDim a, HoloDim b)
{
    switch (op) {
    case HOLO_DIM_ADD: return holo_dim_add(dims, a, b);
    case HOLO_DIM_MUL: return holo_dim_mul(dims, a, b);
    case HOLO_DIM_DIV: return holo_dim_div(dims, a, b);
    case HOLO_DIM_MIN: return holo_dim_min(dims, a, b);
    default: return holo_dim_max(dims, a, b);
    }
}

typedef struct Fixed { // what each entry of the table becomes
    HoloDim *to;
    int      count;
} Fixed;

static HoloDim dim_fixed(const Fixed *f, HoloDim d)
{
    bool is_one = holo_dim_is_symbolic(d) && d != HOLO_DIM_UNKNOWN && holo_dim_entry(d) < f->count;
    return is_one ? f->to[holo_dim_entry(d)] : d;
}

static bool value_fix(HoloGraph *graph, HoloValue *v, const Fixed *f)
{
    if (v->is_input)
        for (int d = 0; d < v->type.rank; d++) v->type.dim[d] = dim_fixed(f, v->type.dim[d]);
    if (!v->contents || v->producer || v->is_constant) return true;
    int64_t  count    = holo_tensor_count(&v->type);
    HoloDim *contents = HOLO_NEW(graph->arena, HoloDim, count > 0 ? count : 1);
    if (!contents) return false;
    for (int64_t i = 0; i < count; i++) contents[i] = dim_fixed(f, v->contents[i]);
    v->contents = contents;
    return true;
}

static bool values_fix(HoloGraph *graph, const Fixed *f)
{
    for (int i = 0; i < graph->value_count; i++)
        if (!value_fix(graph, graph->values[i], f)) return false;
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i]->attr_count; k++) {
            const HoloAttr *attr = &graph->nodes[i]->attr[k];
            if (attr->kind == HOLO_ATTR_GRAPH && !values_fix(attr->graph, f)) return false;
        }
    return true;
}

HoloStatus holo_graph_fix_symbol(HoloGraph *graph, HoloDim symbol, int64_t number, HoloError *error)
{
    HoloArena scratch = {0};
    Fixed     f       = {.count = holo_dims_count(graph->dims)};
    f.to              = HOLO_NEW(&scratch, HoloDim, f.count + 1);
    for (int i = 0; f.to && i < f.count; i++) { // operands come before the expressions that use them
        HoloDimNode node = *holo_dims_node(graph->dims, i);
        HoloDim     d    = holo_dim_of_entry(i);
        f.to[i]          = d == symbol ? number : d;
        if (d == symbol || node.op == HOLO_DIM_SYMBOL) continue;
        HoloDim a = dim_fixed(&f, node.a), b = dim_fixed(&f, node.b);
        if (a != node.a || b != node.b) f.to[i] = dim_made(graph->dims, node.op, a, b);
    }
    bool is_done = f.to && values_fix(graph, &f);
    holo_arena_deinit(&scratch);
    return is_done ? HOLO_OK : holo_fail_memory(error);
}
