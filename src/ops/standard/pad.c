// pad.c - tensors made larger or smaller at their borders: Pad and CenterCropPad.
#include "ops/move.h"

// ---- what both do: the input laid into the output at an offset, what sticks out cut off

static void lay(const HoloCall *call, const HoloTensor *x, HoloTensor *y, const int64_t *before, const void *value)
{
    size_t  size = holo_dtype_size(x->dtype);
    int64_t dim[HOLO_MAX_RANK], from[HOLO_MAX_RANK], to[HOLO_MAX_RANK], src = 0, dst = 0;
    holo_fill(call, y, value);
    holo_strides(x->rank, x->dim, from);
    holo_strides(y->rank, y->dim, to);
    for (int i = 0; i < x->rank; i++) {
        int64_t skip = before[i] < 0 ? -before[i] : 0, start = before[i] > 0 ? before[i] : 0;
        int64_t there = x->dim[i] - skip, room = y->dim[i] - start;
        dim[i] = there < room ? there : room;
        if (dim[i] <= 0) return;
        src += skip * from[i];
        dst += start * to[i];
    }
    holo_move(x->rank, dim, size, (char *)y->data + (size_t)dst * size, to, (const char *)x->data + (size_t)src * size,
              from);
}

// ---- Pad

typedef enum Mode { CONSTANT, REFLECT, EDGE, WRAP } Mode;

static HoloStatus find_mode(const HoloCall *call, Mode *out)
{
    static const char *const names[] = {"constant", "reflect", "edge", "wrap", NULL};
    int                      at;
    HOLO_TRY(holo_attr_choice(call, "mode", "constant", names, &at));
    *out = (Mode)at;
    return HOLO_OK;
}

// Reads an axis of input 0 that has not been seen yet, and marks it as seen.
static HoloStatus axis_once(const HoloCall *call, int64_t axis, bool *seen, int *out)
{
    HOLO_TRY(holo_axis(call, axis, call->in[0]->rank, out));
    if (seen[*out]) return holo_call_fail(call, HOLO_BAD_MODEL, "axis %lld is given twice", (long long)axis);
    seen[*out] = true;
    return HOLO_OK;
}

// Small enough that sums of a few of them do not overflow.
static bool is_reasonable(HoloDim d)
{
    return holo_dim_is_symbolic(d) || (d > -(INT64_C(1) << 60) && d < INT64_C(1) << 60);
}

// Padding before and after each dimension. An attribute until version 11, named otherwise in version
// 1; inputs since, of some axes from version 18 on.
static HoloStatus find_pads(const HoloCall *call, HoloDim *before, HoloDim *after)
{
    int         rank     = call->in[0]->rank;
    bool        by_input = call->version >= 11;
    HoloNumbers pads, axes;
    HOLO_TRY(holo_numbers_needed(call,
                                 by_input            ? NULL
                                 : call->version < 2 ? "paddings"
                                                     : "pads",
                                 by_input ? 1 : -1, 2 * HOLO_MAX_RANK, &pads));
    HOLO_TRY(holo_numbers(call, NULL, by_input ? 3 : -1, &axes));
    HoloDim count = axes.given ? axes.count : rank, agreed;
    if (!holo_dim_is_symbolic(count) && !holo_dim_agree(pads.count, 2 * count, &agreed))
        return holo_call_fail(call, HOLO_BAD_INPUT, "%lld pads are given for %lld dimensions", (long long)pads.count,
                              (long long)count);
    bool known = pads.known && (!axes.given || axes.known), seen[HOLO_MAX_RANK] = {false};
    for (int i = 0; i < rank; i++) before[i] = after[i] = known ? 0 : HOLO_DIM_UNKNOWN;
    for (int i = 0; known && i < count; i++) {
        int axis;
        HOLO_TRY(axis_once(call, axes.given ? holo_number(&axes, i) : i, seen, &axis));
        before[axis] = holo_number(&pads, i);
        after[axis]  = holo_number(&pads, count + i);
        if (!is_reasonable(before[axis]) || !is_reasonable(after[axis]))
            return holo_call_fail(call, HOLO_BAD_INPUT, "pads of %lld and %lld are out of range",
                                  (long long)before[axis], (long long)after[axis]);
    }
    return HOLO_OK;
}

static HoloStatus infer_pad(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDim           before[HOLO_MAX_RANK], after[HOLO_MAX_RANK], dim[HOLO_MAX_RANK];
    Mode              mode;
    HOLO_TRY(find_mode(call, &mode));
    HOLO_TRY(find_pads(call, before, after));
    HOLO_TRY(holo_expect_types(call, 2, UINT64_C(1) << x->dtype));
    for (int i = 0; i < x->rank; i++) {
        dim[i] = holo_dim_add(call->dims, x->dim[i], holo_dim_add(call->dims, before[i], after[i]));
        if (!holo_dim_is_symbolic(dim[i]) && dim[i] < 0)
            return holo_call_fail(call, HOLO_BAD_INPUT, "pads of %lld and %lld take more than the %lld of dimension %d",
                                  (long long)before[i], (long long)after[i], (long long)x->dim[i], i);
    }
    return holo_out_type(call, 0, x->dtype, x->rank, dim);
}

// Finds the element that pads in mode constant; *out may point to `room`. NULL: zero.
static HoloStatus find_value(const HoloCall *call, char room[16], const void **out)
{
    HoloDtype dtype = (HoloDtype)call->in[0]->dtype;
    *out            = NULL;
    if (call->version < 11) {
        double     value = holo_attr_float(call, "value", 0);
        HoloTensor one   = {.dtype = (uint8_t)dtype, .data = room};
        if (value == 0) return HOLO_OK;
        HOLO_TRY(holo_expect_types(call, 0, HOLO_TYPES_ALL & ~HOLO_BIT(STRING)));
        holo_put_f(&one, 0, value);
        *out = room;
        return HOLO_OK;
    }
    const HoloTensor *t     = holo_in(call, 2);
    int64_t           count = t ? holo_tensor_count(t) : 0;
    if (count > 1) return holo_call_fail(call, HOLO_BAD_INPUT, "constant_value has %lld elements", (long long)count);
    if (count == 1) *out = t->data;
    return HOLO_OK;
}

// Where in the `size` elements of a dimension position `at`, before or behind them, finds its element.
static int64_t source(Mode mode, int64_t at, int64_t size)
{
    if (at >= 0 && at < size) return at;
    if (mode == EDGE || size == 1) return at < 0 ? 0 : at >= size ? size - 1 : at;
    int64_t period = mode == REFLECT ? 2 * (size - 1) : size;
    at %= period;
    if (at < 0) at += period;
    return at < size ? at : period - at;
}

// For each position of each dimension of the output, where in the input its elements are. What
// negative pads cut off is gone before the rest is repeated.
static HoloStatus find_sources(const HoloCall *call, Mode mode, const int64_t *before, const int64_t *after,
                               int64_t **map)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    int64_t           stride[HOLO_MAX_RANK];
    holo_strides(x->rank, x->dim, stride);
    for (int d = 0; d < x->rank; d++) {
        int64_t skip = before[d] < 0 ? -before[d] : 0, cut = after[d] < 0 ? -after[d] : 0;
        int64_t size = x->dim[d] - skip - cut;
        if (size <= 0) return holo_call_fail(call, HOLO_BAD_INPUT, "dimension %d has no elements to pad with", d);
        void *memory;
        HOLO_TRY(holo_call_temp(call, (size_t)y->dim[d], sizeof **map, &memory));
        map[d] = memory;
        for (int64_t i = 0; i < y->dim[d]; i++)
            map[d][i] = (skip + source(mode, i - (before[d] > 0 ? before[d] : 0), size)) * stride[d];
    }
    return HOLO_OK;
}

static HoloStatus repeat(const HoloCall *call, Mode mode, const int64_t *before, const int64_t *after)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    size_t            size = holo_dtype_size(x->dtype);
    int64_t          *map[HOLO_MAX_RANK];
    int               last  = x->rank - 1;
    int64_t           front = before[last] > 0 ? before[last] : 0; // from here on the last dimension is one run
    int64_t           back  = y->dim[last] - (after[last] > 0 ? after[last] : 0);
    if (holo_tensor_count(y) == 0) return HOLO_OK;
    HOLO_TRY(find_sources(call, mode, before, after, map));
    char    *dst  = y->data;
    HoloWalk walk = holo_walk(last, y->dim);
    while (holo_walk_next(&walk)) {
        HOLO_TRY(holo_call_continue(call));
        const char *src = x->data;
        for (int d = 0; d < last; d++) src += (size_t)map[d][walk.index[d]] * size;
        for (int64_t i = 0; i < front; i++)
            holo_move_one(dst + (size_t)i * size, src + (size_t)map[last][i] * size, size);
        memcpy(dst + (size_t)front * size, src + (size_t)map[last][front] * size, (size_t)(back - front) * size);
        for (int64_t i = back; i < y->dim[last]; i++)
            holo_move_one(dst + (size_t)i * size, src + (size_t)map[last][i] * size, size);
        dst += (size_t)y->dim[last] * size;
    }
    return HOLO_OK;
}

static HoloStatus eval_pad(HoloCall *call)
{
    int64_t     before[HOLO_MAX_RANK], after[HOLO_MAX_RANK];
    char        room[16];
    const void *value;
    Mode        mode;
    HOLO_TRY(find_mode(call, &mode));
    HOLO_TRY(find_pads(call, before, after));
    if (mode != CONSTANT && call->in[0]->rank > 0) return repeat(call, mode, before, after);
    HOLO_TRY(find_value(call, room, &value));
    lay(call, call->in[0], call->out[0], before, value);
    return HOLO_OK;
}

// ---- CenterCropPad

static HoloStatus find_crop(const HoloCall *call, HoloDim *dim)
{
    const HoloTensor *x = call->in[0];
    HoloNumbers       shape, axes;
    HOLO_TRY(holo_numbers_needed(call, NULL, 1, HOLO_MAX_RANK, &shape));
    HOLO_TRY(holo_numbers(call, "axes", -1, &axes));
    HoloDim agreed, count = axes.given ? axes.count : x->rank;
    if (!holo_dim_agree(shape.count, count, &agreed))
        return holo_call_fail(call, HOLO_BAD_MODEL, "shape has %lld entries for %lld axes", (long long)shape.count,
                              (long long)count);
    bool seen[HOLO_MAX_RANK] = {false};
    memcpy(dim, x->dim, sizeof x->dim);
    for (int i = 0; i < count; i++) {
        int axis;
        HOLO_TRY(axis_once(call, axes.given ? holo_number(&axes, i) : i, seen, &axis));
        dim[axis] = shape.known ? holo_number(&shape, i) : HOLO_DIM_UNKNOWN;
        if (!holo_dim_is_symbolic(dim[axis]) && dim[axis] < 0)
            return holo_call_fail(call, HOLO_BAD_INPUT, "shape holds %lld", (long long)dim[axis]);
    }
    return HOLO_OK;
}

static HoloStatus infer_crop(HoloCall *call)
{
    HoloDim dim[HOLO_MAX_RANK];
    HOLO_TRY(find_crop(call, dim));
    return holo_out_type(call, 0, call->in[0]->dtype, call->in[0]->rank, dim);
}

static HoloStatus eval_crop(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloTensor       *y = call->out[0];
    int64_t           before[HOLO_MAX_RANK];
    for (int i = 0; i < x->rank; i++) // halves are rounded towards zero on both sides
        before[i] = (y->dim[i] - x->dim[i]) / 2;
    lay(call, x, y, before, NULL);
    return HOLO_OK;
}

const HoloOp holo_ops_pad[] = {
    {.name    = "Pad",
     .domain  = "",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .infer   = infer_pad,
     .eval    = eval_pad},
    {.name    = "CenterCropPad",
     .domain  = "",
     .since   = 18,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .infer   = infer_crop,
     .eval    = eval_crop},
    {0},
};
