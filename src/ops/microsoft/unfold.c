// unfold.c - UnfoldTensor of com.microsoft: all pieces of a given size along a dimension, a step apart. Each piece
// becomes a row of a new last dimension.
#include "ops/spread.h"

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x    = call->in[0];
    int64_t           size = holo_attr_int(call, "size", 0), step = holo_attr_int(call, "step", 1);
    HoloDim           dim[HOLO_MAX_RANK];
    int               axis;
    HOLO_TRY(holo_expect_rank(call, 0, 1, HOLO_MAX_RANK - 1));
    HOLO_TRY(holo_attr_axis(call, "dim", -1, x->rank, &axis));
    if (size < 1 || step < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "size and step are %lld and %lld", (long long)size,
                              (long long)step);
    if (!holo_dim_is_symbolic(x->dim[axis]) && x->dim[axis] < size)
        return holo_call_fail(call, HOLO_BAD_INPUT, "pieces of %lld along a dimension of %lld", (long long)size,
                              (long long)x->dim[axis]);
    for (int d = 0; d < x->rank; d++) dim[d] = x->dim[d];
    dim[axis] =
        holo_dim_add(call->dims, holo_dim_div(call->dims, holo_dim_sub(call->dims, x->dim[axis], size), step), 1);
    dim[x->rank] = size;
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank + 1, dim);
}

// The output as [before, piece, after, size].
static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int               axis;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_attr_axis(call, "dim", -1, x->rank, &axis));
    int64_t after   = holo_product(x->rank - axis - 1, x->dim + axis + 1);
    int64_t dim[4]  = {holo_product(axis, x->dim), call->out[0]->dim[axis], after, call->out[0]->dim[x->rank]};
    int64_t step    = dim[1] > 1 ? holo_attr_int(call, "step", 1) : 0; // a step that is never taken may be any number
    int64_t from[4] = {x->dim[axis] * after, step * after, 1, after}, to[4];
    holo_strides(4, dim, to);
    holo_move(4, dim, holo_dtype_size((HoloDtype)x->dtype), call->out[0]->data, to, x->data, from);
    return HOLO_OK;
}

const HoloOp holo_ops_unfold[] = {
    {.name    = "UnfoldTensor",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .flags   = HOLO_OP_MOVES,
     .infer   = infer,
     .eval    = eval},
    {0},
};
