// unary.c - operators that compute each element from one element, by a formula alone. Those with attributes are in
// activation.c.
#include "ops/functions.h"
#include "ops/pointwise.h"

#include <math.h>
#include <string.h>

// clang-format off
// name, first version, formula: in double, rounded once to the element type.
#define LIGHT(X)            \
    X(Reciprocal, 1, 1 / x) \
    X(Softsign, 1, holo_softsign(x))
#define HEAVY(X)                      \
    X(Exp, 1, holo_exp(x))            \
    X(Log, 1, holo_log(x))            \
    X(Sin, 7, holo_sin(x))            \
    X(Cos, 7, holo_cos(x))            \
    X(Tan, 7, holo_tan(x))            \
    X(Asin, 7, holo_asin(x))          \
    X(Acos, 7, holo_acos(x))          \
    X(Atan, 7, holo_atan(x))          \
    X(Sinh, 9, holo_sinh(x))          \
    X(Cosh, 9, holo_cosh(x))          \
    X(Tanh, 1, holo_tanh(x))          \
    X(Asinh, 9, holo_asinh(x))        \
    X(Acosh, 9, holo_acosh(x))        \
    X(Atanh, 9, holo_atanh(x))        \
    X(Sigmoid, 1, holo_sigmoid(x))    \
    X(Softplus, 1, holo_softplus(x))  \
    X(Mish, 18, x * holo_tanh(holo_softplus(x)))

#define X(id, since, formula) HOLO_KERNEL_1(id##_f64, double, double, formula)
LIGHT(X)
HEAVY(X)
X(Erf, 9, holo_erf(x))
#undef X

// An operator that has a tile is computed by the tile for the tile's types, and by these formulas for narrower types.
#define X(id, formula) HOLO_KERNEL_1(id##_f64, double, double, formula)
X(Abs, fabs(x))
X(Neg, -x)
X(Sign, x > 0 ? 1 : x < 0 ? -1 : x)
X(Relu, holo_relu(x))
X(Sqrt, sqrt(x))
X(Ceil, ceil(x))
X(Floor, floor(x))
X(Round, nearbyint(x))
#undef X
HOLO_KERNEL_1(Relu_f32, float, float, x < 0 ? 0 : x)

#define X(id, formula) HOLO_KERNEL_1(id, int64_t, int64_t, formula)
X(Abs_i64, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
X(Neg_i64, 0 - (uint64_t)x)
X(Sign_i64, (x > 0) - (x < 0))
X(Sign_u64, x != 0)
X(Relu_i64, x < 0 ? 0 : x)
X(Same_u64, x)
X(Not_i64, !x)
X(BitwiseNot_i64, ~x)
#undef X

HOLO_KERNEL_1(Not_bool, uint8_t, uint8_t, !x)
HOLO_KERNEL_1(Sign_u8, uint8_t, uint8_t, x != 0)
HOLO_KERNEL_1(Relu_i32, int32_t, int32_t, x < 0 ? 0 : x)
HOLO_KERNEL_1(Relu_i8, int8_t, int8_t, x < 0 ? 0 : x)
HOLO_KERNEL_1(IsNaN_f32, uint8_t, float, x != x)
HOLO_KERNEL_1(IsNaN_own_f64, uint8_t, double, x != x)
HOLO_KERNEL_1(IsNaN_f64, int64_t, double, x != x)
#define INF_ATTRS {{"detect_negative", 1}, {"detect_positive", 1}}
HOLO_KERNEL_1(IsInf_f64, int64_t, double, (x == INFINITY && p[1] != 0) || (x == -INFINITY && p[0] != 0))
// clang-format on

static void same_u8(const HoloLanes *lanes)
{
    memcpy(lanes->out, lanes->in[0], (size_t)lanes->count);
}

static const HoloOwnFns not_own  = {[HOLO_BOOL] = Not_bool},
                        nan_own  = {[HOLO_F32] = IsNaN_f32, [HOLO_F64] = IsNaN_own_f64},
                        same_own = {[HOLO_U8] = same_u8}, sign_own = {[HOLO_U8] = Sign_u8},
                        relu_own = {[HOLO_U8] = same_u8, [HOLO_I8] = Relu_i8, [HOLO_I32] = Relu_i32};

// Most models ask for both infinities.
static HoloStatus is_inf_eval(HoloCall *call)
{
    static const HoloPointwiseRow both = {
        .f64 = IsInf_f64, .tile = HOLO_BY_TILE(SET_INF), .is_predicate = true, .attr = INF_ATTRS};
    const HoloPointwiseRow *row = call->op->row;
    bool                    is_both =
        holo_attr_number(call, "detect_negative", 1) != 0 && holo_attr_number(call, "detect_positive", 1) != 0;
    return holo_pointwise_eval_row(call, is_both ? &both : row);
}

static HoloStatus identity_eval(HoloCall *call)
{
    HoloTensor       *out = holo_out(call, 0);
    const HoloTensor *in  = call->in[0];
    if (!out) return HOLO_OK;
    if (in->kind != HOLO_TENSOR) {
        *out = *in; // what holds tensors may refer to those of its inputs
        return HOLO_OK;
    }
    size_t size = holo_tensor_bytes(in);
    if (size && out->data != in->data) memcpy(out->data, in->data, size);
    return HOLO_OK;
}

// clang-format off
#define ROW_OF(each, evaluation, id, version, accepted, ...)                                                    \
    {.name = #id, .domain = "", .since = version, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1,         \
     .types = accepted, .flags = HOLO_OP_POINTWISE, .cost = each, .infer = holo_pointwise_infer,                \
     .eval = evaluation, .row = &(const HoloPointwiseRow){__VA_ARGS__}}
#define ROW_BY(...)    ROW_OF(0, __VA_ARGS__)
#define ROW(...)       ROW_BY(holo_pointwise_eval, __VA_ARGS__)
#define HEAVY_ROW(...) ROW_OF(HOLO_COST_HEAVY, holo_pointwise_eval, __VA_ARGS__)

const HoloOp holo_ops_unary[] = {
#define X(id, since, formula) ROW(id, since, HOLO_TYPES_FLOAT, .f64 = id##_f64),
    LIGHT(X)
#undef X
#define X(id, since, formula) HEAVY_ROW(id, since, HOLO_TYPES_FLOAT, .f64 = id##_f64),
    HEAVY(X)
#undef X
    HEAVY_ROW(Erf, 9, HOLO_TYPES_NUMBER, .f64 = Erf_f64),
    ROW(Sqrt, 1, HOLO_TYPES_FLOAT, .f64 = Sqrt_f64, .tile = HOLO_BY_TILE(SQRT)),
    ROW(Ceil, 1, HOLO_TYPES_FLOAT, .f64 = Ceil_f64, .tile = HOLO_BY_TILE(CEIL)),
    ROW(Floor, 1, HOLO_TYPES_FLOAT, .f64 = Floor_f64, .tile = HOLO_BY_TILE(FLOOR)),
    ROW(Round, 11, HOLO_TYPES_FLOAT, .f64 = Round_f64, .tile = HOLO_BY_TILE(ROUND)),
    ROW(Abs, 1, HOLO_TYPES_NUMBER, .f64 = Abs_f64, .i64 = Abs_i64, .u64 = Same_u64,
        .own = &same_own, .tile = HOLO_BY_TILE(ABS)),
    ROW(Neg, 1, HOLO_TYPES_FLOAT | HOLO_TYPES_INT, .f64 = Neg_f64, .i64 = Neg_i64,
        .tile = HOLO_BY_TILE(NEG)),
    ROW(Sign, 9, HOLO_TYPES_NUMBER, .f64 = Sign_f64, .i64 = Sign_i64, .u64 = Sign_u64,
        .own = &sign_own, .tile = HOLO_BY_TILE(SIGN)),
    ROW(Relu, 1, HOLO_TYPES_NUMBER, .f32 = Relu_f32, .f64 = Relu_f64, .i64 = Relu_i64, .u64 = Same_u64,
        .own = &relu_own),
    ROW(Not, 1, HOLO_BIT(BOOL), .i64 = Not_i64, .own = &not_own),
    ROW(BitwiseNot, 18, HOLO_TYPES_INT | HOLO_TYPES_UINT, .i64 = BitwiseNot_i64,
        .tile = HOLO_BY_TILE(NOT)),
    ROW(IsNaN, 9, HOLO_TYPES_FLOAT | HOLO_TYPES_F8, .f64 = IsNaN_f64, .own = &nan_own,
        .is_predicate = true),
    ROW_BY(is_inf_eval, IsInf, 10, HOLO_TYPES_FLOAT | HOLO_TYPES_F8, .f64 = IsInf_f64, .is_predicate = true,
           .attr = INF_ATTRS),
    {.name = "Identity", .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1,
     .flags = HOLO_OP_VIEW | HOLO_OP_MOVES | HOLO_OP_KINDS, .infer = holo_infer_same, .eval = identity_eval},
    {0},
};
// clang-format on
