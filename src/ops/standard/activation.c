// activation.c - activations: pointwise formulas with parameters, and the Gelu, SwiGLU and PRelu families.
#include "ops/functions.h"
#include "ops/pointwise.h"

#include <math.h>

static inline double gelu(double x)
{
    return 0.5 * x * (1 + holo_erf(x * M_SQRT1_2));
}

// clang-format off
// Shrink of 64-bit integers, as exact as if it were computed with real numbers and then cast: truncated, and held
// within the range of the type.
#define SHRINK(name, T, MIN, MAX, BEGIN, END)                                                                      \
    static inline T name##_moved(T x, double by)                                                                   \
    {                                                                                                              \
        double   whole = trunc(by), part = by - whole, size = fabs(whole);                                         \
        uint64_t m     = size < 0x1p64 ? (uint64_t)size : UINT64_MAX;                                              \
        if (by != by) return 0;                                                                                    \
        if (whole >= 0 && m > (uint64_t)MAX - (uint64_t)x) return MAX;                                             \
        if (whole < 0 && m > (uint64_t)x - (uint64_t)MIN) return MIN;                                              \
        T to = (T)(whole < 0 ? (uint64_t)x - m : (uint64_t)x + m);                                                 \
        if (part < 0 && to > 0) return to - 1;                                                                     \
        return part > 0 && to < 1 && to != 0 ? to + 1 : to;                                                        \
    }                                                                                                              \
    static inline bool name##_is_below(T x, double limit)                                                          \
    {                                                                                                              \
        if (!(limit > BEGIN)) return false;                                                                        \
        return limit >= END || x < (T)limit || (x == (T)limit && limit > (double)(T)limit);                        \
    }                                                                                                              \
    static inline bool name##_is_above(T x, double limit)                                                          \
    {                                                                                                              \
        if (!(limit < END)) return false;                                                                          \
        return limit < BEGIN || x > (T)limit || (x == (T)limit && limit < (double)(T)limit);                       \
    }                                                                                                              \
    static inline T name(T x, const double *p)                                                                     \
    {                                                                                                              \
        if (name##_is_below(x, -p[0])) return name##_moved(x, p[1]);                                               \
        return name##_is_above(x, p[0]) ? name##_moved(x, -p[1]) : 0;                                              \
    }
SHRINK(shrink_signed, int64_t, INT64_MIN, INT64_MAX, -0x1p63, 0x1p63)
SHRINK(shrink_unsigned, uint64_t, 0, UINT64_MAX, 0, 0x1p64)

// name, first version, types, formula, attributes as p[0], p[1]
#define HEAVY(X)                                                                                                   \
    X(Elu, 1, HOLO_TYPES_FLOAT, holo_elu(x, p[0]), {"alpha", 1})                                                   \
    X(Celu, 12, HOLO_TYPES_FLOAT, x < 0 ? p[0] * holo_expm1(x / p[0]) : x, {"alpha", 1})                           \
    X(Selu, 6, HOLO_TYPES_FLOAT, p[1] * (x <= 0 ? p[0] * holo_expm1(x) : x), {"alpha", 1.67326319217681884765625}, \
      {"gamma", 1.05070102214813232421875})                                                                        \
    X(Swish, 24, HOLO_TYPES_FLOAT, x * holo_sigmoid(p[0] * x), {"alpha", 1})
#define LIGHT(X)                                                                                                   \
    X(LeakyRelu, 1, HOLO_TYPES_FLOAT, holo_leaky_relu(x, p[0]), {"alpha", 0.01f})                                  \
    X(ThresholdedRelu, 1, HOLO_TYPES_FLOAT, holo_thresholded_relu(x, p[0]), {"alpha", 1})                          \
    X(HardSigmoid, 1, HOLO_TYPES_FLOAT, holo_unit(p[0] * x + p[1]), {"alpha", 0.2f}, {"beta", 0.5})                \
    X(HardSwish, 14, HOLO_TYPES_FLOAT, x * holo_unit(x / 6 + 0.5), {NULL, 0})

#define X(id, since, types, formula, ...) HOLO_KERNEL_1(id##_f64, double, double, formula)
HEAVY(X)
LIGHT(X)
#undef X

#define SHRINK_ATTRS {{"lambd", 0.5}, {"bias", 0}}
HOLO_KERNEL_1(shrink_f64, double, double, x < -p[0] ? x + p[1] : x > p[0] ? x - p[1] : 0)
HOLO_KERNEL_1(gelu_f64, double, double, gelu(x))
HOLO_KERNEL_1(gelu_tanh_f64, double, double, holo_gelu_tanh(x))
HOLO_KERNEL_2(bias_gelu_f64, double, double, gelu(x + y))
HOLO_KERNEL_2(bias_gelu_tanh_f64, double, double, holo_gelu_tanh(x + y))
HOLO_KERNEL_2(swiglu_f64, double, double, x * holo_sigmoid(p[0] * x) * y)
HOLO_KERNEL_2(prelu_f64, double, double, x < 0 ? x * y : x)
HOLO_KERNEL_2(prelu_i64, int64_t, int64_t, x < 0 ? (uint64_t)x * (uint64_t)y : (uint64_t)x)
HOLO_KERNEL_2(prelu_u64, uint64_t, uint64_t, ((void)y, x))
HOLO_KERNEL_1(shrink_i64, int64_t, int64_t, shrink_signed(x, p))
HOLO_KERNEL_1(shrink_u64, uint64_t, uint64_t, shrink_unsigned(x, p))
// clang-format on

static const HoloPointwiseRow gelu_row           = {.f64 = gelu_f64};
static const HoloPointwiseRow gelu_tanh_row      = {.f64 = gelu_tanh_f64};
static const HoloPointwiseRow bias_gelu_tanh_row = {.f64 = bias_gelu_tanh_f64};

// Integers of less than 64 bits, and their sums, are exact in double.
static HoloStatus shrink_eval(HoloCall *call)
{
    static const HoloPointwiseRow small   = {.f64 = shrink_f64, .attr = SHRINK_ATTRS};
    bool                          is_wide = holo_dtype_size((HoloDtype)call->in[0]->dtype) == 8;
    return holo_pointwise_eval_row(call, is_wide ? call->op->row : &small);
}

static HoloStatus gelu_eval(HoloCall *call)
{
    bool is_tanh = holo_attr_is(call, "approximate", "none", "tanh");
    if (!is_tanh && !holo_attr_is(call, "approximate", "none", "none"))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the attribute approximate is neither \"none\" nor \"tanh\"");
    return holo_pointwise_eval_row(call, is_tanh ? &gelu_tanh_row : &gelu_row);
}

static HoloStatus fast_gelu_eval(HoloCall *call)
{
    return holo_pointwise_eval_row(call, holo_in(call, 1) ? &bias_gelu_tanh_row : &gelu_tanh_row);
}

// Gate and value have the same shape: they do not broadcast.
static HoloStatus swiglu_infer(HoloCall *call)
{
    const HoloTensor *a = call->in[0], *b = call->in[1];
    bool              fits = a->rank == b->rank;
    for (int d = 0; fits && d < a->rank; d++) fits = !holo_dims_differ(a->dim[d], b->dim[d]);
    if (!fits) return holo_call_fail(call, HOLO_BAD_MODEL, "the two inputs are not of one shape");
    return holo_pointwise_infer(call);
}

// clang-format off
#define ROW_OF(each, label, where, first, last, accepted, least, most, shape, evaluate, ...)               \
    {.name = label, .domain = where, .since = first, .until = last, .in_min = least, .in_max = most,       \
     .out_min = 1, .out_max = 1, .types = accepted, .flags = HOLO_OP_POINTWISE, .cost = each,              \
     .infer = shape, .eval = evaluate, .row = &(const HoloPointwiseRow){__VA_ARGS__}}
#define ROW_BY(each, label, where, version, accepted, least, most, evaluate, ...)                          \
    ROW_OF(each, label, where, version, 0, accepted, least, most, holo_pointwise_infer, evaluate, __VA_ARGS__)
#define ROW(...)       ROW_BY(0, __VA_ARGS__)
#define HEAVY_ROW(...) ROW_BY(HOLO_COST_HEAVY, __VA_ARGS__)

const HoloOp holo_ops_activation[] = {
#define X(id, version, types, formula, ...) \
    HEAVY_ROW(#id, "", version, types, 1, 1, holo_pointwise_eval, .f64 = id##_f64, .attr = {__VA_ARGS__}),
    HEAVY(X)
#undef X
#define X(id, version, types, formula, ...) \
    ROW(#id, "", version, types, 1, 1, holo_pointwise_eval, .f64 = id##_f64, .attr = {__VA_ARGS__}),
    LIGHT(X)
#undef X
    ROW("Shrink", "", 9, HOLO_TYPES_NUMBER, 1, 1, shrink_eval, .f64 = shrink_f64, .i64 = shrink_i64, .u64 = shrink_u64,
        .attr = SHRINK_ATTRS),
    HEAVY_ROW("Gelu", "", 20, HOLO_TYPES_FLOAT, 1, 1, gelu_eval, .is_one_way = true),
    ROW_OF(HOLO_COST_HEAVY, "Selu", "", 1, 5, HOLO_TYPES_FLOAT, 1, 1, holo_pointwise_infer, holo_pointwise_eval, .f64 = Selu_f64,
        .attr = {{"alpha", 1.6732f}, {"gamma", 1.0507f}}),
    ROW_OF(0, "SwiGLU", "", 28, 0, HOLO_TYPES_FLOAT, 2, 2, swiglu_infer, holo_pointwise_eval, .f64 = swiglu_f64,
        .is_one_way = true, .attr = {{"alpha", 1}}),
    ROW("PRelu", "", 1, HOLO_TYPES_NUMBER, 2, 2, holo_pointwise_eval, .f64 = prelu_f64, .i64 = prelu_i64,
        .u64 = prelu_u64, .is_one_way = true, .may_grow = true, .legacy_axis = 1),
    HEAVY_ROW("Gelu", "com.microsoft", 1, HOLO_TYPES_FLOAT, 1, 1, gelu_eval, .is_one_way = true),
    ROW("BiasGelu", "com.microsoft", 1, HOLO_TYPES_FLOAT, 2, 2, holo_pointwise_eval, .f64 = bias_gelu_f64,
        .is_one_way = true),
    HEAVY_ROW("FastGelu", "com.microsoft", 1, HOLO_TYPES_FLOAT, 1, 2, fast_gelu_eval, .is_one_way = true),
    HEAVY_ROW("QuickGelu", "com.microsoft", 1, HOLO_TYPES_FLOAT, 1, 1, holo_pointwise_eval, .f64 = Swish_f64,
        .attr = {{"alpha", 1.702f}}),
    {0},
};
// clang-format on
