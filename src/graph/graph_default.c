// graph_default.c - inputs that are left out and have a default.
#include "graph/graph.h"

#include "ops/tensor.h"

// The size of an input that is given, where the graph has the same expression for it; -1: there is none.
static int64_t size_find(const HoloGraph *graph, const HoloTensor *const *inputs, HoloDim dim)
{
    for (int i = 0; i < graph->input_count; i++)
        for (int d = 0; inputs[i] && d < graph->inputs[i]->type.rank && d < inputs[i]->rank; d++)
            if (graph->inputs[i]->type.dim[d] == dim) return inputs[i]->dim[d];
    return -1;
}

static int64_t least_find(const HoloGraph *graph, const HoloTensor *const *inputs, HoloDim dim)
{
    return holo_dim_is_symbolic(dim) ? size_find(graph, inputs, dim) : dim;
}

HoloStatus holo_graph_default(const HoloGraph *graph, const HoloTensor *const *inputs, int i, HoloArena *arena,
                              HoloTensor *out, HoloError *error)
{
    const HoloValue *value = graph->inputs[i];
    *out                   = value->type;
    for (int d = 0; d < out->rank; d++) {
        if (holo_dim_is_symbolic(out->dim[d])) out->dim[d] = size_find(graph, inputs, out->dim[d]);
        if (out->dim[d] < 0 && value->least) out->dim[d] = least_find(graph, inputs, value->least[d]);
    }
    int64_t count = holo_tensor_count(out);
    if (count < 0)
        return holo_fail(error, HOLO_BAD_INPUT, "input %s is not given, and no other input says how large it is",
                         value->name);
    out->data = holo_arena_take(arena, holo_tensor_bytes(out) + 1);
    if (!out->data) return holo_fail_memory(error);
    for (int64_t k = 0; k < count; k++) {
        int64_t number = value->is_index ? k : (int64_t)value->fill - 1;
        if (holo_dtype_class((HoloDtype)out->dtype) == HOLO_CLASS_FLOAT)
            holo_put_f(out, k, (double)number);
        else
            holo_put_i(out, k, number);
    }
    return HOLO_OK;
}
