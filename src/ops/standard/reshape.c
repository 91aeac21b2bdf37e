// reshape.c - the same elements under another shape, and the shape itself as a value.
#include "ops/move.h"

static HoloStatus eval_view(HoloCall *call)
{
    holo_copy_all(call->out[0], call->in[0]);
    return HOLO_OK;
}

// ---- Reshape

// One entry may stand for what remains of the elements (-1). Sizes that entry 0 takes over from the
// input cancel out of that quotient, so that it is right for empty tensors too.
static HoloStatus fill_wildcard(HoloCall *call, const HoloNumbers *n, int wildcard, bool keeps_zero, HoloDim *dim)
{
    const HoloTensor *x   = call->in[0];
    HoloDim           all = 1, others = 1;
    for (int i = 0; i < x->rank; i++) {
        bool copied = !keeps_zero && i < n->count && i != wildcard && holo_number(n, i) == 0;
        if (!copied) all = holo_dim_mul(call->dims, all, x->dim[i]);
    }
    for (int i = 0; i < n->count; i++) {
        bool copied = !keeps_zero && holo_number(n, i) == 0;
        if (!copied && i != wildcard) others = holo_dim_mul(call->dims, others, dim[i]);
    }
    dim[wildcard] = holo_dim_div(call->dims, all, others);
    bool known    = !holo_dim_is_symbolic(all) && !holo_dim_is_symbolic(others);
    if (known && (others == 0 || all % others != 0))
        return holo_call_fail(call, HOLO_BAD_INPUT, "%lld elements cannot be cut into parts of %lld", (long long)all,
                              (long long)others);
    return HOLO_OK;
}

// The entry that stands for what remains: -1, or while inferring the only one that is not known. -1: none.
static HoloStatus find_wildcard(HoloCall *call, const HoloNumbers *n, int *out)
{
    int wild = -1, unknown = -1, wilds = 0, unknowns = 0;
    *out = -1;
    for (int i = 0; i < n->count; i++) {
        HoloDim d = holo_number(n, i);
        if (d == -1)
            wild = i, wilds++;
        else if (d == HOLO_DIM_UNKNOWN)
            unknown = i, unknowns++;
        else if (!holo_dim_is_symbolic(d) && d < -1)
            return holo_call_fail(call, HOLO_BAD_INPUT, "shape holds %lld; only -1 may be negative", (long long)d);
    }
    if (wilds > 1) return holo_call_fail(call, HOLO_BAD_INPUT, "shape holds -1 more than once");
    *out = wilds ? wild : unknowns == 1 ? unknown : -1;
    return HOLO_OK;
}

static HoloStatus reshaped(HoloCall *call, const HoloNumbers *n, HoloDim *dim)
{
    const HoloTensor *x          = call->in[0];
    bool              keeps_zero = holo_attr_int(call, "allowzero", 0) != 0;
    int               wildcard;
    HOLO_TRY(find_wildcard(call, n, &wildcard));
    for (int i = 0; i < n->count; i++) {
        dim[i] = holo_number(n, i);
        if (dim[i] != 0 || keeps_zero) continue;
        if (i >= x->rank)
            return holo_call_fail(call, HOLO_BAD_INPUT, "entry %d of shape is 0, but the input has rank %d", i,
                                  x->rank);
        dim[i] = x->dim[i];
    }
    return wildcard < 0 ? HOLO_OK : fill_wildcard(call, n, wildcard, keeps_zero, dim);
}

static HoloStatus infer_reshape(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloNumbers       n;
    HOLO_TRY(holo_numbers_needed(call, "shape", 1, HOLO_MAX_RANK, &n));
    if (holo_dim_is_symbolic(n.count)) return holo_out_unknown(call, 0, x->dtype);
    HoloDim dim[HOLO_MAX_RANK];
    for (int i = 0; i < n.count; i++) dim[i] = HOLO_DIM_UNKNOWN;
    if (n.known) HOLO_TRY(reshaped(call, &n, dim));
    HoloDim before = holo_dim_product(call->dims, x->dim, 0, x->rank);
    HoloDim after  = holo_dim_product(call->dims, dim, 0, (int)n.count), agreed;
    if (!holo_dim_agree(before, after, &agreed))
        return holo_call_fail(call, HOLO_BAD_INPUT, "the input has %lld elements and the shape asks for %lld",
                              (long long)before, (long long)after);
    return holo_out_type(call, 0, x->dtype, (int)n.count, dim);
}

// ---- Flatten, Squeeze, Unsqueeze

static HoloStatus infer_flatten(HoloCall *call)
{
    const HoloTensor *x    = call->in[0];
    int64_t           axis = holo_attr_int(call, "axis", 1);
    if (axis < -x->rank || axis > x->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "axis %lld is outside of rank %d", (long long)axis, x->rank);
    int     cut    = (int)(axis < 0 ? axis + x->rank : axis);
    HoloDim dim[2] = {holo_dim_product(call->dims, x->dim, 0, cut), holo_dim_product(call->dims, x->dim, cut, x->rank)};
    return holo_out_type(call, 0, x->dtype, 2, dim);
}

// Without axes, every dimension of size 1 goes: the rank is known only when the sizes are.
static bool find_ones(const HoloTensor *x, int *axes, int *count)
{
    *count = 0;
    for (int i = 0; i < x->rank; i++) {
        if (holo_dim_is_symbolic(x->dim[i])) return false;
        if (x->dim[i] == 1) axes[(*count)++] = i;
    }
    return true;
}

static HoloStatus infer_squeeze(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int               axes[HOLO_MAX_RANK], count, rank = 0, next = 0;
    bool              known;
    HOLO_TRY(holo_axes(call, "axes", 1, x->rank, axes, &count, &known));
    if (known && count < 0) known = find_ones(x, axes, &count);
    if (!known) return holo_out_unknown(call, 0, x->dtype);
    HoloDim dim[HOLO_MAX_RANK];
    for (int i = 0; i < x->rank; i++) {
        if (next == count || axes[next] != i) {
            dim[rank++] = x->dim[i];
            continue;
        }
        next++;
        if (holo_dims_differ(x->dim[i], 1))
            return holo_call_fail(call, HOLO_BAD_INPUT, "dimension %d has size %lld, not 1", i, (long long)x->dim[i]);
    }
    return holo_out_type(call, 0, x->dtype, rank, dim);
}

static HoloStatus infer_unsqueeze(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloNumbers       n;
    HOLO_TRY(holo_numbers_needed(call, "axes", 1, HOLO_MAX_RANK - x->rank, &n));
    if (!n.known) return holo_out_unknown(call, 0, x->dtype);
    int  rank = x->rank + (int)n.count, next = 0;
    bool added[HOLO_MAX_RANK] = {false};
    for (int i = 0; i < n.count; i++) {
        int axis;
        HOLO_TRY(holo_axis(call, holo_number(&n, i), rank, &axis));
        if (added[axis]) return holo_call_fail(call, HOLO_BAD_MODEL, "axis %d is given twice", axis);
        added[axis] = true;
    }
    HoloDim dim[HOLO_MAX_RANK];
    for (int i = 0; i < rank; i++) dim[i] = added[i] ? 1 : x->dim[next++];
    return holo_out_type(call, 0, x->dtype, rank, dim);
}

// ---- Shape, Size

static int clamp_axis(int64_t axis, int rank)
{
    if (axis < 0) axis += rank;
    return (int)(axis < 0 ? 0 : axis > rank ? rank : axis);
}

static HoloStatus infer_shape(HoloCall *call)
{
    int rank  = call->in[0]->rank;
    int start = clamp_axis(holo_attr_int(call, "start", 0), rank);
    int end   = clamp_axis(holo_attr_int(call, "end", rank), rank);
    return holo_out_type(call, 0, HOLO_I64, 1, &(HoloDim){end > start ? end - start : 0});
}

// The sizes may be symbolic here: the shape as a value is what symbolic contents begin with.
static HoloStatus eval_shape(HoloCall *call)
{
    const HoloTensor *x     = call->in[0];
    HoloTensor       *y     = call->out[0];
    int               start = clamp_axis(holo_attr_int(call, "start", 0), x->rank);
    if (y->dim[0] > 0) memcpy(y->data, x->dim + start, (size_t)y->dim[0] * sizeof *x->dim);
    return HOLO_OK;
}

static HoloStatus infer_size(HoloCall *call)
{
    return holo_out_type(call, 0, HOLO_I64, 0, NULL);
}

static HoloStatus eval_size(HoloCall *call)
{
    const HoloTensor *x            = call->in[0];
    *(HoloDim *)call->out[0]->data = holo_dim_product(call->dims, x->dim, 0, x->rank);
    return HOLO_OK;
}

#define VIEW(NAME, INPUTS, INFER)                                                                          \
    {                                                                                                      \
        .name = NAME, .domain = "", .since = 1, .in_min = 1, .in_max = INPUTS, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_ALL, .flags = HOLO_OP_VIEW | HOLO_OP_MOVES, .infer = INFER, .eval = eval_view  \
    }

const HoloOp holo_ops_reshape[] = {
    VIEW("Reshape", 2, infer_reshape),
    VIEW("Flatten", 1, infer_flatten),
    VIEW("Squeeze", 2, infer_squeeze),
    VIEW("Unsqueeze", 2, infer_unsqueeze),
    {.name    = "Shape",
     .domain  = "",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .infer   = infer_shape,
     .eval    = eval_shape},
    {.name    = "Size",
     .domain  = "",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .infer   = infer_size,
     .eval    = eval_size},
    {0},
};
