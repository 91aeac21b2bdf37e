// tile.c - repeats elements: Tile and Expand.
#include "ops/move.h"

// ---- Tile

// In version 1 the inputs are one number of tiles and one axis.
static HoloStatus infer_tile_1(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDim           dim[HOLO_MAX_RANK];
    HoloNumbers       counts, axes;
    HOLO_TRY(holo_numbers_needed(call, NULL, 1, 1, &counts));
    HOLO_TRY(holo_numbers_needed(call, NULL, 2, 1, &axes));
    HoloDim tiles = counts.known && counts.count == 1 ? holo_number(&counts, 0) : HOLO_DIM_UNKNOWN;
    HoloDim which = axes.known && axes.count == 1 ? holo_number(&axes, 0) : HOLO_DIM_UNKNOWN;
    bool    known = !holo_dim_is_symbolic(which);
    if (!holo_dim_is_symbolic(tiles) && tiles < 0)
        return holo_call_fail(call, HOLO_BAD_INPUT, "tiles is %lld", (long long)tiles);
    int axis = 0;
    if (known) HOLO_TRY(holo_axis(call, which, x->rank, &axis));
    for (int i = 0; i < x->rank; i++) dim[i] = known ? x->dim[i] : HOLO_DIM_UNKNOWN;
    if (known) dim[axis] = holo_dim_mul(call->dims, dim[axis], tiles);
    return holo_out_type(call, 0, x->dtype, x->rank, dim);
}

static HoloStatus infer_tile(HoloCall *call)
{
    if (call->version < 6) return infer_tile_1(call);
    const HoloTensor *x = call->in[0];
    HoloNumbers       repeats;
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_numbers_needed(call, NULL, 1, HOLO_MAX_RANK, &repeats));
    if (holo_dims_differ(repeats.count, x->rank))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld repeats are given for an input of rank %d",
                              (long long)repeats.count, x->rank);
    for (int i = 0; i < x->rank; i++) {
        HoloDim r = repeats.known ? holo_number(&repeats, i) : HOLO_DIM_UNKNOWN;
        if (!holo_dim_is_symbolic(r) && r < 0)
            return holo_call_fail(call, HOLO_BAD_INPUT, "repeats hold %lld", (long long)r);
        dim[i] = holo_dim_mul(call->dims, x->dim[i], r);
    }
    return holo_out_type(call, 0, x->dtype, x->rank, dim);
}

// The input is copied to the corner of the output. The copy is then doubled along each axis, the last axis first, until
// it fills the output.
static HoloStatus eval_tile(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    if (holo_tensor_count(y) == 0) return HOLO_OK;
    size_t  size = holo_dtype_size(x->dtype);
    int64_t dim[HOLO_MAX_RANK], from[HOLO_MAX_RANK], to[HOLO_MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    holo_strides(x->rank, x->dim, from);
    holo_strides(x->rank, y->dim, to);
    holo_move(x->rank, dim, size, y->data, to, x->data, from);
    for (int axis = x->rank - 1; axis >= 0; axis--) {
        for (int64_t done = x->dim[axis]; done < y->dim[axis]; done += dim[axis]) {
            dim[axis] = done < y->dim[axis] - done ? done : y->dim[axis] - done;
            HOLO_TRY(holo_call_continue(call));
            holo_move_wide(call, x->rank, dim, size, (char *)y->data + (size_t)(done * to[axis]) * size, to, y->data,
                           to);
        }
        dim[axis] = y->dim[axis];
    }
    return HOLO_OK;
}

// ---- Expand

static HoloStatus infer_expand(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloNumbers       n;
    HOLO_TRY(holo_numbers_needed(call, NULL, 1, HOLO_MAX_RANK, &n));
    if (holo_dim_is_symbolic(n.count)) return holo_out_unknown(call, 0, x->dtype);
    HoloTensor shape = {.dtype = x->dtype, .rank = (int8_t)n.count};
    for (int i = 0; i < n.count; i++) {
        shape.dim[i] = n.known ? holo_number(&n, i) : HOLO_DIM_UNKNOWN;
        if (!holo_dim_is_symbolic(shape.dim[i]) && shape.dim[i] < 0)
            return holo_call_fail(call, HOLO_BAD_INPUT, "shape holds %lld", (long long)shape.dim[i]);
    }
    int               rank;
    HoloDim           dim[HOLO_MAX_RANK];
    HoloCall          both  = *call;
    const HoloTensor *in[2] = {x, &shape};
    both.in                 = in;
    HOLO_TRY(holo_broadcast(&both, 0, 2, &rank, dim));
    return holo_out_type(call, 0, x->dtype, rank, dim);
}

static HoloStatus eval_expand(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    int64_t           from[HOLO_MAX_RANK], to[HOLO_MAX_RANK];
    holo_strides_broadcast(x, y->rank, y->dim, from);
    holo_strides(y->rank, y->dim, to);
    holo_move_wide(call, y->rank, y->dim, holo_dtype_size(x->dtype), y->data, to, x->data, from);
    return HOLO_OK;
}

const HoloOp holo_ops_tile[] = {
    {.name    = "Tile",
     .domain  = "",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .flags   = HOLO_OP_MOVES,
     .infer   = infer_tile,
     .eval    = eval_tile},
    {.name    = "Expand",
     .domain  = "",
     .since   = 8,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .flags   = HOLO_OP_MOVES,
     .infer   = infer_expand,
     .eval    = eval_expand},
    {0},
};
