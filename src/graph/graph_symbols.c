// graph_symbols.c - finds which symbolic sizes follow from the sizes of a graph's inputs, and their numbers.
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
