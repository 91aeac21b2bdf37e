// build.c - nodes that passes add. See build.h.
#include "passes/build.h"

#include <string.h>

HoloNode *holo_build_node(HoloRewrite *rewrite, const char *name, HoloOpId id, int version, int in_count,
                          int attr_count, const HoloTensor *out_type)
{
    HoloNode  *node = holo_graph_op(rewrite->graph, name, id, version, in_count, 1, attr_count);
    HoloValue *out  = holo_graph_value(rewrite->graph, name);
    if (!node || !out) return NULL;
    out->type      = *out_type;
    out->type.data = NULL;
    holo_node_set_out(node, 0, out);
    return node;
}

bool holo_build_list(HoloGraph *graph, const char *name, int64_t count, const int64_t *ints, HoloAttr *out)
{
    int64_t *copy = HOLO_NEW(graph->arena, int64_t, count);
    if (!copy) return false;
    memcpy(copy, ints, (size_t)count * sizeof *copy);
    *out = (HoloAttr){.name = name, .kind = HOLO_ATTR_INTS, .count = (int)count, .ints = copy};
    return true;
}

HoloValue *holo_build_ints(HoloRewrite *rewrite, int count, const int64_t *ints)
{
    int64_t *data     = HOLO_NEW(rewrite->graph->arena, int64_t, count);
    HoloDim *contents = HOLO_NEW(rewrite->graph->arena, HoloDim, count);
    if (!data || !contents) return NULL;
    for (int i = 0; i < count; i++) contents[i] = data[i] = ints[i];
    HoloTensor t     = {.dtype = HOLO_I64, .rank = 1, .dim = {count}, .data = data};
    HoloValue *value = holo_graph_constant(rewrite->graph, "sizes", &t);
    if (value) value->contents = contents;
    return value;
}

HoloValue *holo_build_number(HoloRewrite *rewrite, HoloDtype dtype, double x)
{
    HoloTensor t = {.dtype = (uint8_t)dtype};
    t.data       = holo_arena_take(rewrite->graph->arena, holo_dtype_size(dtype));
    if (!t.data) return NULL;
    holo_put_f(&t, 0, x);
    return holo_graph_constant(rewrite->graph, "number", &t);
}

HoloValue *holo_build_transpose(HoloRewrite *rewrite, HoloValue *x, const int64_t *perm)
{
    HoloTensor type = x->type;
    for (int d = 0; d < type.rank; d++) type.dim[d] = x->type.dim[perm[d]];
    HoloNode *node = holo_build_node(rewrite, x->name, HOLO_ID_Transpose, 13, 1, 1, &type);
    if (!node || !holo_build_list(rewrite->graph, "perm", type.rank, perm, &node->attr[0])) return NULL;
    node->in[0] = x;
    return node->out[0];
}

HoloValue *holo_build_reshape(HoloRewrite *rewrite, HoloValue *x, int rank, const int64_t *shape, const HoloDim *dim)
{
    HoloTensor type = x->type;
    type.rank       = (int8_t)rank;
    memcpy(type.dim, dim, (size_t)rank * sizeof *dim);
    HoloValue *sizes = holo_build_ints(rewrite, rank, shape);
    HoloNode  *node  = sizes ? holo_build_node(rewrite, x->name, HOLO_ID_Reshape, 14, 2, 0, &type) : NULL;
    if (!node) return NULL;
    node->in[0] = x;
    node->in[1] = sizes;
    return node->out[0];
}

bool holo_build_shape(int rank, const HoloDim *dim, int64_t *out_shape)
{
    int open = 0;
    for (int d = 0; d < rank; d++) {
        bool is_open = holo_dim_is_symbolic(dim[d]);
        out_shape[d] = is_open ? -1 : dim[d];
        open += is_open;
        if (open > 1 || out_shape[d] == 0) return false;
    }
    return true;
}
