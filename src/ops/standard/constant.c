// constant.c - tensors made from a few numbers: Constant, ConstantOfShape, EyeLike, OneHot, Range.
#include "ops/move.h"

#include <math.h>

// ---- Constant

// The attribute that holds the value, whatever its form, as a tensor. Its data is in the attribute
// or, for f32 numbers, at `number`.
static HoloStatus find_constant(const HoloCall *call, HoloTensor *out, float *number)
{
    for (int i = 0; i < call->attr_count; i++) {
        const HoloAttr *a = &call->attr[i];
        if (strncmp(a->name, "value", 5) != 0) continue;
        *out = (HoloTensor){.rank = a->kind >= HOLO_ATTR_INTS, .dim = {a->count}};
        switch (a->kind) {
        case HOLO_ATTR_TENSOR: *out = *a->tensor; return HOLO_OK;
        case HOLO_ATTR_INT: out->dtype = HOLO_I64, out->data = (void *)&a->i; return HOLO_OK;
        case HOLO_ATTR_INTS: out->dtype = HOLO_I64, out->data = (void *)a->ints; return HOLO_OK;
        case HOLO_ATTR_STRING: out->dtype = HOLO_STRING, out->data = (void *)&a->s; return HOLO_OK;
        case HOLO_ATTR_STRINGS: out->dtype = HOLO_STRING, out->data = (void *)a->strings; return HOLO_OK;
        case HOLO_ATTR_FLOATS: out->dtype = HOLO_F32, out->data = (void *)a->floats; return HOLO_OK;
        case HOLO_ATTR_FLOAT:
            *number    = (float)a->f;
            out->dtype = HOLO_F32, out->data = number;
            return HOLO_OK;
        default: break;
        }
    }
    return holo_call_fail(call, HOLO_UNSUPPORTED, "has no value in a form that is known here");
}

static HoloStatus infer_constant(HoloCall *call)
{
    HoloTensor value;
    float      number;
    HOLO_TRY(find_constant(call, &value, &number));
    return holo_out_like(call, 0, &value);
}

static HoloStatus eval_constant(HoloCall *call)
{
    HoloTensor value;
    float      number;
    HOLO_TRY(find_constant(call, &value, &number));
    holo_copy_all(call->out[0], &value);
    return HOLO_OK;
}

// ---- ConstantOfShape

static HoloStatus infer_of_shape(HoloCall *call)
{
    const HoloTensor *value = holo_attr_tensor(call, "value");
    HoloDtype         dtype = value ? (HoloDtype)value->dtype : HOLO_F32;
    HoloNumbers       shape;
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_numbers_needed(call, NULL, 0, HOLO_MAX_RANK, &shape));
    if (value && holo_tensor_count(value) != 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "value must have one element");
    if (holo_dim_is_symbolic(shape.count)) return holo_out_unknown(call, 0, dtype);
    for (int i = 0; i < shape.count; i++) {
        dim[i] = shape.known ? holo_number(&shape, i) : HOLO_DIM_UNKNOWN;
        if (!holo_dim_is_symbolic(dim[i]) && dim[i] < 0)
            return holo_call_fail(call, HOLO_BAD_INPUT, "the shape holds %lld", (long long)dim[i]);
    }
    return holo_out_type(call, 0, dtype, (int)shape.count, dim);
}

static HoloStatus eval_of_shape(HoloCall *call)
{
    const HoloTensor *value = holo_attr_tensor(call, "value");
    holo_fill(call, call->out[0], value ? value->data : NULL);
    return HOLO_OK;
}

// ---- EyeLike

static HoloStatus infer_eye(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDtype         dtype;
    HOLO_TRY(holo_expect_rank(call, 0, 2, 2));
    HOLO_TRY(holo_attr_dtype(call, "dtype", (HoloDtype)x->dtype, HOLO_TYPES_ALL & ~HOLO_BIT(STRING), &dtype));
    return holo_out_shape_like(call, 0, dtype, x);
}

static HoloStatus eval_eye(HoloCall *call)
{
    HoloTensor *y = call->out[0];
    int64_t     k = holo_attr_int(call, "k", 0);
    holo_fill(call, y, NULL);
    if (k <= -y->dim[0] || k >= y->dim[1]) return HOLO_OK;
    for (int64_t row = k < 0 ? -k : 0; row < y->dim[0] && row + k < y->dim[1]; row++)
        holo_put_f(y, row * y->dim[1] + row + k, 1);
    return HOLO_OK;
}

// ---- OneHot

static HoloStatus infer_onehot(HoloCall *call)
{
    const HoloTensor *at = call->in[0], *values = call->in[2];
    HoloDim           dim[HOLO_MAX_RANK + 1], depth, agreed;
    int               axis;
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_NUMBER));
    HOLO_TRY(holo_expect_rank(call, 1, 0, 1));
    HOLO_TRY(holo_expect_rank(call, 2, 1, 1));
    if (!holo_dim_agree(values->dim[0], 2, &agreed))
        return holo_call_fail(call, HOLO_BAD_INPUT, "values has %lld entries, not 2", (long long)values->dim[0]);
    HOLO_TRY(holo_attr_axis(call, "axis", -1, at->rank + 1, &axis));
    const HoloTensor *d = call->in[1];
    if (!holo_scalar(call, 1, &depth))
        depth = d->data && holo_tensor_count(d) == 1 ? holo_get_i(d, 0) : HOLO_DIM_UNKNOWN;
    if (!holo_dim_is_symbolic(depth) && depth < 0)
        return holo_call_fail(call, HOLO_BAD_INPUT, "depth is %lld", (long long)depth);
    for (int i = 0; i <= at->rank; i++) dim[i] = i < axis ? at->dim[i] : i == axis ? depth : at->dim[i - 1];
    return holo_out_type(call, 0, (HoloDtype)values->dtype, at->rank + 1, dim);
}

// Indices outside [-depth, depth) set nothing.
static HoloStatus eval_onehot(HoloCall *call)
{
    const HoloTensor *at   = call->in[0];
    HoloTensor       *y    = call->out[0];
    size_t            size = holo_dtype_size(y->dtype);
    const char       *off = call->in[2]->data, *on = off + size;
    int               axis;
    HOLO_TRY(holo_attr_axis(call, "axis", -1, y->rank, &axis));
    int64_t rows = holo_product(axis, y->dim), depth = y->dim[axis], tile[HOLO_TILE];
    int64_t inner = holo_product(y->rank - axis - 1, y->dim + axis + 1);
    holo_fill(call, y, off);
    for (int64_t row = 0; row < rows && depth > 0; row++) {
        HOLO_TRY(holo_call_continue(call));
        for (int64_t start = 0; start < inner; start += HOLO_TILE) {
            int64_t count = inner - start < HOLO_TILE ? inner - start : HOLO_TILE;
            holo_read_i(at, row * inner + start, 1, count, tile);
            for (int64_t i = 0; i < count; i++) {
                int64_t index = tile[i] < 0 ? tile[i] + depth : tile[i];
                if (index < 0 || index >= depth) continue;
                holo_move_one((char *)y->data + (size_t)((row * depth + index) * inner + start + i) * size, on, size);
            }
        }
    }
    return HOLO_OK;
}

// ---- Range

// How many steps of `delta` lead from `start` to before `limit`.
static HoloDim count_whole(HoloDims *dims, HoloDim start, HoloDim limit, HoloDim delta)
{
    if (holo_dim_is_symbolic(delta)) return HOLO_DIM_UNKNOWN;
    HoloDim span = delta > 0 ? holo_dim_sub(dims, limit, start) : holo_dim_sub(dims, start, limit);
    HoloDim step = delta > 0 ? delta : holo_dim_sub(dims, 0, delta);
    if (!holo_dim_is_size(dims, span)) span = holo_dim_max(dims, span, 0);
    return holo_dim_div_ceil(dims, span, step);
}

static HoloStatus count_real(const HoloCall *call, HoloDim *out)
{
    const HoloTensor *step  = holo_in(call, 2);
    double            start = holo_get_f(call->in[0], 0), limit = holo_get_f(call->in[1], 0);
    double            delta = step ? holo_get_f(step, 0) : 1;
    double            count = ceil((limit - start) / delta);
    if (!(fabs(count) < 0x1p62))
        return holo_call_fail(call, HOLO_BAD_INPUT, "from %g to %g in steps of %g has no end", start, limit, delta);
    *out = count > 0 ? (HoloDim)count : 0;
    return HOLO_OK;
}

// A whole number, or a size as one: f32 and f64 hold them exactly, as far as sizes of tensors go.
static bool is_whole(const HoloCall *call, int i, HoloDim *out)
{
    const HoloTensor *t = call->in[i];
    HoloClass class     = holo_dtype_class((HoloDtype)t->dtype);
    bool fits           = class != HOLO_CLASS_FLOAT || t->dtype == HOLO_F32 || t->dtype == HOLO_F64;
    if (fits && holo_scalar(call, i, out)) return true;
    double x = t->data && class == HOLO_CLASS_FLOAT ? holo_get_f(t, 0) : 0.5;
    if (!(fabs(x) <= 0x1p24) || x != floor(x)) return false;
    *out = (HoloDim)x;
    return true;
}

static HoloStatus infer_range(HoloCall *call)
{
    HoloDtype dtype     = (HoloDtype)call->in[0]->dtype;
    HoloDim   number[3] = {0, 0, 1}, count = HOLO_DIM_UNKNOWN; // com.microsoft's may leave delta out
    bool      whole = true, real = holo_dtype_class(dtype) == HOLO_CLASS_FLOAT;
    for (int i = 0; i < 3; i++) {
        const HoloTensor *t = holo_in(call, i);
        if (!t) continue;
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << dtype));
        HOLO_TRY(holo_expect_rank(call, i, 0, 1));
        if (t->rank == 1 && holo_dims_differ(t->dim[0], 1))
            return holo_call_fail(call, HOLO_BAD_INPUT, "input %d has %lld elements, not 1", i, (long long)t->dim[0]);
        whole = whole && is_whole(call, i, &number[i]);
        real  = real && t->data;
    }
    if (real) {
        HOLO_TRY(count_real(call, &count));
    } else if (whole) {
        if (number[2] == 0) return holo_call_fail(call, HOLO_BAD_INPUT, "delta is 0");
        count = count_whole(call->dims, number[0], number[1], number[2]);
    }
    return holo_out_type(call, 0, dtype, 1, &count);
}

static HoloStatus eval_range(HoloCall *call)
{
    const HoloTensor *first = call->in[0], *delta = holo_in(call, 2);
    HoloTensor       *y    = call->out[0];
    bool              real = holo_dtype_class((HoloDtype)y->dtype) == HOLO_CLASS_FLOAT;
    for (int64_t start = 0; start < y->dim[0]; start += HOLO_TILE) {
        HOLO_TRY(holo_call_continue(call));
        int64_t count = y->dim[0] - start < HOLO_TILE ? y->dim[0] - start : HOLO_TILE;
        if (real) {
            double tile[HOLO_TILE], from = holo_get_f(first, 0), step = delta ? holo_get_f(delta, 0) : 1;
            for (int64_t i = 0; i < count; i++) tile[i] = from + (double)(start + i) * step;
            holo_write_f(y, start, 1, count, tile);
        } else {
            int64_t  tile[HOLO_TILE];
            uint64_t from = (uint64_t)holo_get_i(first, 0), step = delta ? (uint64_t)holo_get_i(delta, 0) : 1;
            for (int64_t i = 0; i < count; i++) tile[i] = (int64_t)(from + (uint64_t)(start + i) * step);
            holo_write_i(y, start, 1, count, tile);
        }
    }
    return HOLO_OK;
}

#define MAKE(NAME, SINCE, INPUTS, TYPES, ID) MAKE_IN("", NAME, SINCE, INPUTS, INPUTS, TYPES, ID)
#define MAKE_IN(DOMAIN, NAME, SINCE, LEAST, INPUTS, TYPES, ID)                                                         \
    {                                                                                                                  \
        .name = NAME, .domain = DOMAIN, .since = SINCE, .in_min = LEAST, .in_max = INPUTS, .out_min = 1, .out_max = 1, \
        .types = TYPES, .infer = infer_##ID, .eval = eval_##ID                                                         \
    }

const HoloOp holo_ops_constant[] = {
    MAKE("Constant", 1, 0, 0, constant),
    MAKE("ConstantOfShape", 9, 1, HOLO_BIT(I64), of_shape),
    MAKE("EyeLike", 9, 1, HOLO_TYPES_ALL & ~HOLO_BIT(STRING), eye),
    MAKE("OneHot", 9, 3, HOLO_TYPES_NUMBER, onehot),
    MAKE("Range", 11, 3, HOLO_TYPES_NUMBER & ~HOLO_BIT(U64), range),
    MAKE_IN("com.microsoft", "Range", 1, 2, 3, HOLO_TYPES_NUMBER & ~HOLO_BIT(U64), range),
    {0},
};
