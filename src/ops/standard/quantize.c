// quantize.c - QuantizeLinear, DequantizeLinear (per tensor, per axis, in blocks) and DynamicQuantizeLinear.
#include "ops/pointwise.h"

#include <math.h>

// ---- which scale belongs to which element

// The tensor as [outer][scales][block][inner], the scales as [outer or 1][scales][1][inner or 1]. The last block of an
// axis may be shorter than the others.
typedef struct Grid {
    int64_t outer, size, inner; // size: of the axis
    int64_t scales, block;
    bool    is_blocked; // each element outside the axis has scales of its own
} Grid;

static HoloStatus find_axis(const HoloCall *call, int *out_axis)
{
    int rank = call->in[0]->rank;
    return holo_axis(call, rank == 1 ? 0 : holo_attr_int(call, "axis", 1), rank, out_axis);
}

// Whether it is one number, as far as sizes are known.
static bool is_one(const HoloTensor *t)
{
    for (int i = 0; i < t->rank; i++)
        if (holo_dims_differ(t->dim[i], 1)) return false;
    return true;
}

static HoloStatus check_blocks(const HoloCall *call, int axis, int64_t block)
{
    const HoloTensor *x = call->in[0], *scale = call->in[1];
    if (block < 0 || scale->rank != x->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "blocks of %lld need scales of %d dimensions, not %d",
                              (long long)block, x->rank, scale->rank);
    for (int i = 0; i < x->rank; i++) {
        HoloDim want = i == axis ? holo_dim_div_ceil(call->dims, x->dim[i], block) : x->dim[i];
        if (holo_dims_differ(scale->dim[i], want))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the scales have size %lld in dimension %d, not %lld",
                                  (long long)scale->dim[i], i, (long long)want);
    }
    return HOLO_OK;
}

static HoloStatus check_scales(const HoloCall *call)
{
    const HoloTensor *x = call->in[0], *scale = call->in[1], *zero = holo_in(call, 2);
    int64_t           block = holo_attr_int(call, "block_size", 0);
    int               axis;
    HOLO_TRY(holo_expect_tensors(call));
    if (zero && zero->rank != scale->rank && !(is_one(zero) && is_one(scale)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "scales have %d dimensions and zero points %d", scale->rank,
                              zero->rank);
    for (int i = 0; zero && i < zero->rank && i < scale->rank; i++)
        if (holo_dims_differ(zero->dim[i], scale->dim[i]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "scales and zero points differ in dimension %d: %lld and %lld",
                                  i, (long long)scale->dim[i], (long long)zero->dim[i]);
    if (block == 0 && is_one(scale)) return HOLO_OK;
    HOLO_TRY(find_axis(call, &axis));
    if (block) return check_blocks(call, axis, block);
    if (scale->rank != 1 || holo_dims_differ(scale->dim[0], x->dim[axis]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the scales are not %lld, one for each index of dimension %d",
                              (long long)x->dim[axis], axis);
    return HOLO_OK;
}

static HoloStatus grid_make(const HoloCall *call, Grid *grid)
{
    const HoloTensor *x     = call->in[0];
    int64_t           block = holo_attr_int(call, "block_size", 0);
    int               axis;
    if (block == 0 && is_one(call->in[1])) {
        *grid = (Grid){.outer = 1, .size = 1, .inner = holo_tensor_count(x), .scales = 1, .block = 1};
        return HOLO_OK;
    }
    HOLO_TRY(find_axis(call, &axis));
    *grid        = (Grid){.outer      = holo_product(axis, x->dim),
                          .size       = x->dim[axis],
                          .inner      = holo_product(x->rank - axis - 1, x->dim + axis + 1),
                          .is_blocked = block > 0};
    grid->block  = block ? (block < grid->size ? block : grid->size) : 1;
    grid->scales = grid->block ? (grid->size + grid->block - 1) / grid->block : 0;
    return HOLO_OK;
}

// Part of a tensor, from element `start` on, as another shape.
static HoloTensor part(const HoloTensor *t, int64_t start, int64_t outer, int64_t scales, int64_t block, int64_t inner)
{
    return (HoloTensor){.dtype = t->dtype,
                        .rank  = 4,
                        .dim   = {outer, scales, block, inner},
                        .data  = (char *)t->data + start * (int64_t)holo_dtype_size((HoloDtype)t->dtype)};
}

// Evaluates `work`, whose inputs are the tensor, the scales and the zero points, with each in its place. Where the
// last block is short, it is taken apart from the others.
static void grid_walk(const HoloCall *call, const Grid *g, const HoloPointwise *whole)
{
    HoloPointwise work = *whole;
    int64_t       full = g->block ? g->size / g->block : 0, rest = g->size - full * g->block;
    int64_t       steps = rest ? g->outer : 1, outer = rest ? 1 : g->outer;
    for (int64_t o = 0; o < steps; o++) {
        int64_t at          = o * g->size * g->inner;
        int64_t scale_inner = g->is_blocked ? g->inner : 1, scale_outer = g->is_blocked ? outer : 1;
        int64_t scale_at = g->is_blocked ? o * g->scales * g->inner : 0;
        for (int is_rest = 0; is_rest <= (rest > 0); is_rest++) {
            int64_t scales = is_rest ? 1 : full, block = is_rest ? rest : g->block;
            work.in[0] = part(&whole->in[0], at, outer, scales, block, g->inner);
            work.out   = part(&whole->out, at, outer, scales, block, g->inner);
            for (int i = 1; i < work.in_count; i++)
                if (whole->in[i].rank > 0)
                    work.in[i] = part(&whole->in[i], scale_at, scale_outer, scales, 1, scale_inner);
            holo_pointwise(call, &work);
            at += full * g->block * g->inner;
            scale_at += full * scale_inner;
        }
    }
}

// ---- the two formulas

// Rounds a number as if it had been computed in the dtype.
static inline double rounded(HoloDtype dtype, double x)
{
    switch (dtype) {
    case HOLO_F16: return holo_f16_to_f32(holo_f64_to_f16(x));
    case HOLO_BF16: return holo_bf16_to_f32(holo_f64_to_bf16(x));
    case HOLO_F64: return x;
    default: return (float)x;
    }
}

// p: the dtype in which the quotient is computed; for quantize_to_code, which does not saturate, that of the result.
static inline double quotient(double x, double scale, const double *p)
{
    HoloDtype precision = (HoloDtype)p[0];
    return rounded(precision, rounded(precision, x) / rounded(precision, scale));
}

// clang-format off
HOLO_KERNEL_3(quantize_to_integer, double, double, nearbyint(quotient(x, y, p)) + z)
HOLO_KERNEL_3(quantize_to_float, double, double, quotient(x, y, p) + z)
HOLO_KERNEL_3(quantize_to_code, int64_t, double, holo_f64_to_f8((HoloDtype)p[1], quotient(x, y, p) + z, false))
HOLO_KERNEL_3(dequantize, double, double, (x - z) * y)
// clang-format on

// Evaluates `fn` on the input, its scales and its zero points, which are 0 where they are not given.
static HoloStatus apply(HoloCall *call, HoloPointwise work)
{
    double zero = 0;
    Grid   grid;
    if (holo_tensor_count(&work.out) == 0) return HOLO_OK;
    HOLO_TRY(grid_make(call, &grid));
    work.in_count = 3;
    work.in[2]    = (HoloTensor){.dtype = HOLO_F64, .data = &zero};
    for (int i = 0; i < 3; i++) {
        work.lane[i] = HOLO_LANE_F64;
        if (!holo_in(call, i)) continue;
        work.in[i] = *call->in[i];
        if (i && is_one(&work.in[i])) work.in[i].rank = 0;
    }
    grid_walk(call, &grid, &work);
    return HOLO_OK;
}

// ---- QuantizeLinear

#define TYPES_QUANTIZED                                                                                          \
    (HOLO_TYPES_F8 | HOLO_BIT(I8) | HOLO_BIT(U8) | HOLO_BIT(I16) | HOLO_BIT(U16) | HOLO_BIT(U4) | HOLO_BIT(I4) | \
     HOLO_BIT(U2) | HOLO_BIT(I2) | HOLO_BIT(F4E2M1) | HOLO_TYPES_F6)
#define TYPES_SCALE (HOLO_TYPES_FLOAT | HOLO_BIT(I32) | HOLO_BIT(F8E8M0))

static HoloStatus quantize_infer(HoloCall *call)
{
    const HoloTensor *zero = holo_in(call, 2);
    HoloDtype         type, precision;
    HOLO_TRY(holo_expect_types(call, 1, TYPES_SCALE));
    HOLO_TRY(holo_expect_types(call, 2, TYPES_QUANTIZED));
    HOLO_TRY(holo_attr_dtype(call, "output_dtype", HOLO_NONE, TYPES_QUANTIZED, &type));
    HOLO_TRY(holo_attr_dtype(call, "precision", HOLO_NONE, HOLO_TYPES_FLOAT, &precision));
    HOLO_TRY(check_scales(call));
    if (zero && type && type != zero->dtype)
        return holo_call_fail(call, HOLO_BAD_MODEL, "output_dtype is %s, but the zero point is of type %s",
                              holo_dtype_name(type), holo_dtype_name((HoloDtype)zero->dtype));
    if (zero) type = (HoloDtype)zero->dtype;
    return holo_out_shape_like(call, 0, type ? type : HOLO_U8, call->in[0]);
}

static HoloStatus quantize_eval(HoloCall *call)
{
    HoloTensor *out = holo_out(call, 0);
    HoloDtype   precision;
    if (!out) return HOLO_OK;
    HOLO_TRY(holo_attr_dtype(call, "precision", HOLO_NONE, HOLO_TYPES_FLOAT, &precision));
    // Version 23 says that the quotient is of the scale's type. Before, and in com.microsoft, it is a float at least.
    bool is_as_scale = call->version >= 23 || call->in[1]->dtype == HOLO_F64;
    if (!precision && is_as_scale && HOLO_TYPES_FLOAT >> call->in[1]->dtype & 1)
        precision = (HoloDtype)call->in[1]->dtype;
    if (!precision) precision = HOLO_F32;
    HoloPointwise work = {.fn = quantize_to_integer, .out = *out, .lane_out = HOLO_LANE_F64};
    work.p[0]          = precision;
    if (holo_dtype_class((HoloDtype)out->dtype) == HOLO_CLASS_FLOAT) work.fn = quantize_to_float;
    if (HOLO_TYPES_F8 >> out->dtype & 1 && !holo_attr_int(call, "saturate", 1)) {
        work.fn        = quantize_to_code;
        work.p[1]      = out->dtype;
        work.lane_out  = HOLO_LANE_I64;
        work.out.dtype = HOLO_U8;
    }
    return apply(call, work);
}

// ---- DequantizeLinear

static HoloStatus dequantize_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *scale = call->in[1], *zero = holo_in(call, 2);
    HoloDtype         type;
    HOLO_TRY(holo_expect_types(call, 1, TYPES_SCALE));
    HOLO_TRY(holo_attr_dtype(call, "output_dtype", HOLO_NONE, HOLO_TYPES_FLOAT, &type));
    HOLO_TRY(check_scales(call));
    if (zero && zero->dtype != x->dtype)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the zero point is of type %s, but the input of type %s",
                              holo_dtype_name((HoloDtype)zero->dtype), holo_dtype_name((HoloDtype)x->dtype));
    if (!type) type = HOLO_TYPES_FLOAT >> scale->dtype & 1 ? (HoloDtype)scale->dtype : HOLO_F32;
    return holo_out_shape_like(call, 0, type, x);
}

static HoloStatus dequantize_eval(HoloCall *call)
{
    HoloTensor *out = holo_out(call, 0);
    if (!out) return HOLO_OK;
    return apply(call, (HoloPointwise){.fn = dequantize, .out = *out, .lane_out = HOLO_LANE_F64});
}

// ---- DynamicQuantizeLinear

static HoloStatus dynamic_infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_tensors(call));
    HOLO_TRY(holo_out_shape_like(call, 0, HOLO_U8, call->in[0]));
    HOLO_TRY(holo_out_type(call, 1, HOLO_F32, 0, NULL));
    return holo_out_type(call, 2, HOLO_U8, 0, NULL);
}

static HoloStatus dynamic_eval(HoloCall *call)
{
    const HoloTensor *x      = call->in[0];
    HoloTensor       *out[3] = {holo_out(call, 0), holo_out(call, 1), holo_out(call, 2)};
    const float      *data   = x->data;
    int64_t           count  = holo_tensor_count(x);
    float             low = 0, high = 0; // 0 is always among the values
    for (int64_t i = 0; i < count; i++) {
        low  = data[i] < low ? data[i] : low;
        high = data[i] > high ? data[i] : high;
    }
    float scale = (high - low) / 255;
    if (scale == 0) scale = 1; // all zeros: any scale is right
    double at   = nearbyintf(-low / scale);
    double zero = at > 255 ? 255 : at > 0 ? at : 0;
    if (out[1]) holo_put_f(out[1], 0, scale);
    if (out[2]) holo_put_f(out[2], 0, zero);
    if (!out[0]) return HOLO_OK;
    double           wide = scale;
    const HoloTensor one = {.dtype = HOLO_F64, .data = &wide}, shift = {.dtype = HOLO_F64, .data = &zero};
    HoloPointwise    work = {.fn       = quantize_to_integer,
                             .in_count = 3,
                             .in       = {*x, one, shift},
                             .lane     = {HOLO_LANE_F64, HOLO_LANE_F64, HOLO_LANE_F64},
                             .out      = *out[0],
                             .lane_out = HOLO_LANE_F64,
                             .p        = {HOLO_F32}};
    holo_pointwise(call, &work);
    return HOLO_OK;
}

// clang-format off
#define ROW(id, where, version, accepted, least, most, outputs, what, inference, evaluation, ...)                \
    {.name = id, .domain = where, .since = version, .in_min = least, .in_max = most, .out_min = 1,               \
     .out_max = outputs, .types = accepted, .flags = HOLO_OP_SCALED | what, .infer = inference,                  \
     .eval = evaluation, __VA_ARGS__}
#define QUANTIZES HOLO_OP_QUANTIZES | HOLO_OP_TYPED
#define TYPES_TO_QUANTIZE (HOLO_TYPES_FLOAT | HOLO_BIT(I32))
#define TYPES_TO_DEQUANTIZE (TYPES_QUANTIZED | HOLO_BIT(I32))

const HoloOp holo_ops_quantize[] = {
    ROW("QuantizeLinear", "", 10, TYPES_TO_QUANTIZE, 2, 3, 1, QUANTIZES, quantize_infer, quantize_eval, .cost = 2),
    ROW("QuantizeLinear", "com.microsoft", 1, TYPES_TO_QUANTIZE, 2, 3, 1, QUANTIZES, quantize_infer, quantize_eval, .cost = 2),
    ROW("DequantizeLinear", "", 10, TYPES_TO_DEQUANTIZE, 2, 3, 1, HOLO_OP_DEQUANTIZES, dequantize_infer, dequantize_eval, .cost = 1),
    ROW("DequantizeLinear", "com.microsoft", 1, TYPES_TO_DEQUANTIZE, 2, 3, 1, HOLO_OP_DEQUANTIZES, dequantize_infer, dequantize_eval, .cost = 1),
    ROW("DynamicQuantizeLinear", "", 11, HOLO_BIT(F32), 1, 1, 3, HOLO_OP_TYPED, dynamic_infer, dynamic_eval, .cost = 0),
    {0},
};
// clang-format on
