// tf_ops_math.c - arithmetic, comparisons, reductions and products of TensorFlow.
#include "import/tensorflow/tf_ops.h"

#include <math.h>

// ---- one operand

static void unary(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_emit(c->e, c->op->onnx, HOLO_IN(holo_flow_in(c, 0)), NULL));
}

// sqrt and its like of a whole number do not exist here: the number becomes real.
static void relu6(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    HoloDtype  t = holo_emit_dtype(x);
    holo_flow_out(
        c, 0, holo_emit(c->e, "Clip", HOLO_IN(x, holo_emit_number(c->e, t, 0), holo_emit_number(c->e, t, 6)), NULL));
}

static void leaky_relu(HoloFlowCall *c)
{
    double alpha = holo_flow_float(c, "alpha", 0.2);
    holo_flow_out(
        c, 0, holo_emit(c->e, "LeakyRelu", HOLO_IN(holo_flow_in(c, 0)), HOLO_ATTRS(holo_with_float("alpha", alpha))));
}

// Two operators, one behind the other: "Sqrt Reciprocal".
static void two(HoloFlowCall *c)
{
    char        first[32] = "";
    const char *space     = strchr(c->op->onnx, ' ');
    memcpy(first, c->op->onnx, (size_t)(space - c->op->onnx));
    HoloValue *x = holo_emit(c->e, first, HOLO_IN(holo_flow_in(c, 0)), NULL);
    holo_flow_out(c, 0, holo_emit(c->e, space + 1, HOLO_IN(x), NULL));
}

static void square(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    holo_flow_out(c, 0, holo_emit(c->e, "Mul", HOLO_IN(x, x), NULL));
}

static HoloValue *one_of(HoloFlowCall *c, const HoloValue *x)
{
    return holo_emit_number(c->e, holo_emit_dtype(x), 1);
}

static void expm1_(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    holo_flow_out(c, 0, holo_emit(c->e, "Sub", HOLO_IN(holo_emit(c->e, "Exp", HOLO_IN(x), NULL), one_of(c, x)), NULL));
}

static void log1p_(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    holo_flow_out(c, 0, holo_emit(c->e, "Log", HOLO_IN(holo_emit(c->e, "Add", HOLO_IN(x, one_of(c, x)), NULL)), NULL));
}

static void erfc_(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    holo_flow_out(c, 0, holo_emit(c->e, "Sub", HOLO_IN(one_of(c, x), holo_emit(c->e, "Erf", HOLO_IN(x), NULL)), NULL));
}

static void is_finite(HoloFlowCall *c)
{
    HoloValue *x   = holo_flow_in(c, 0);
    HoloValue *bad = holo_emit(
        c->e, "Or", HOLO_IN(holo_emit(c->e, "IsNaN", HOLO_IN(x), NULL), holo_emit(c->e, "IsInf", HOLO_IN(x), NULL)),
        NULL);
    holo_flow_out(c, 0, holo_emit(c->e, "Not", HOLO_IN(bad), NULL));
}

static void l2_loss(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *sum;
    sum          = holo_emit(c->e, "ReduceSumSquare", HOLO_IN(x), HOLO_ATTRS(holo_with_int("keepdims", 0)));
    holo_flow_out(c, 0, holo_emit(c->e, "Div", HOLO_IN(sum, holo_emit_number(c->e, holo_emit_dtype(x), 2)), NULL));
}

// ---- two operands

HoloValue *holo_flow_binary(HoloFlowCall *c, const char *op, HoloValue *a, HoloValue *b)
{
    holo_flow_same_type(c, &a, &b);
    return holo_emit(c->e, op, HOLO_IN(a, b), NULL);
}

static void binary(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_flow_binary(c, c->op->onnx, holo_flow_in(c, 0), holo_flow_in(c, 1)));
}

// TensorFlow.js has numbers where TensorFlow has bools.
static void logical(HoloFlowCall *c)
{
    HoloValue *a = holo_emit_cast(c->e, holo_flow_in(c, 0), HOLO_BOOL);
    if (c->in_count == 1) {
        holo_flow_out(c, 0, holo_emit(c->e, c->op->onnx, HOLO_IN(a), NULL));
        return;
    }
    holo_flow_out(c, 0,
                  holo_emit(c->e, c->op->onnx, HOLO_IN(a, holo_emit_cast(c->e, holo_flow_in(c, 1), HOLO_BOOL)), NULL));
}

static void not_equal(HoloFlowCall *c)
{
    HoloValue *same = holo_flow_binary(c, "Equal", holo_flow_in(c, 0), holo_flow_in(c, 1));
    holo_flow_out(c, 0, holo_emit(c->e, "Not", HOLO_IN(same), NULL));
}

static void squared_difference(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_binary(c, "Sub", holo_flow_in(c, 0), holo_flow_in(c, 1));
    holo_flow_out(c, 0, holo_emit(c->e, "Mul", HOLO_IN(x, x), NULL));
}

static bool is_real(const HoloValue *x)
{
    return holo_dtype_class(holo_emit_dtype(x)) == HOLO_CLASS_FLOAT;
}

// number: the remainder has the sign of the divisor (0), or of the dividend (1).
static void modulo(HoloFlowCall *c)
{
    HoloValue *a = holo_flow_in(c, 0), *b = holo_flow_in(c, 1);
    holo_flow_same_type(c, &a, &b);
    if (c->op->number || !is_real(a)) {
        int64_t like_c = c->op->number;
        holo_flow_out(c, 0, holo_emit(c->e, "Mod", HOLO_IN(a, b), HOLO_ATTRS(holo_with_int("fmod", like_c))));
        return;
    }
    HoloValue *quotient = holo_emit(c->e, "Floor", HOLO_IN(holo_emit(c->e, "Div", HOLO_IN(a, b), NULL)), NULL);
    holo_flow_out(c, 0, holo_emit(c->e, "Sub", HOLO_IN(a, holo_emit(c->e, "Mul", HOLO_IN(quotient, b), NULL)), NULL));
}

static void floor_div(HoloFlowCall *c)
{
    HoloValue *a = holo_flow_in(c, 0), *b = holo_flow_in(c, 1);
    holo_flow_same_type(c, &a, &b);
    if (is_real(a)) {
        holo_flow_out(c, 0, holo_emit(c->e, "Floor", HOLO_IN(holo_emit(c->e, "Div", HOLO_IN(a, b), NULL)), NULL));
        return;
    }
    HoloValue *rest = holo_emit(c->e, "Mod", HOLO_IN(a, b), NULL);
    holo_flow_out(c, 0, holo_emit(c->e, "Div", HOLO_IN(holo_emit(c->e, "Sub", HOLO_IN(a, rest), NULL), b), NULL));
}

// RealDiv and Div. TensorFlow.js divides whole numbers as real ones and rounds towards zero.
static void divide(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_flow_binary(c, "Div", holo_flow_in(c, 0), holo_flow_in(c, 1)));
}

static HoloValue *where(HoloFlowCall *c, HoloValue *condition, HoloValue *a, HoloValue *b)
{
    return holo_emit(c->e, "Where", HOLO_IN(condition, a, b), NULL);
}

// DivNoNan, Xdivy: 0 where the divisor (number 1) or the dividend (number 0) is 0. MulNoNan, Xlogy the same.
static void guarded(HoloFlowCall *c)
{
    HoloValue *a = holo_flow_in(c, 0), *b = holo_flow_in(c, 1), *zero, *one, *safe, *is_zero;
    holo_flow_same_type(c, &a, &b);
    zero              = holo_emit_number(c->e, holo_emit_dtype(a), 0);
    one               = holo_emit_number(c->e, holo_emit_dtype(a), 1);
    HoloValue *judge  = c->op->number ? b : a;
    bool       is_log = !strcmp(c->op->onnx, "Log");
    is_zero           = holo_emit(c->e, "Equal", HOLO_IN(judge, zero), NULL);
    safe              = where(c, is_zero, one, b);
    if (is_log) safe = holo_emit(c->e, "Log", HOLO_IN(safe), NULL);
    HoloValue *y = holo_emit(c->e, is_log ? "Mul" : c->op->onnx, HOLO_IN(a, safe), NULL);
    holo_flow_out(c, 0, where(c, is_zero, zero, y));
}

static void atan2_(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *y = holo_flow_in(c, 0), *x = holo_flow_in(c, 1);
    HoloDtype  t    = holo_emit_dtype(x);
    HoloValue *zero = holo_emit_number(e, t, 0), *pi = holo_emit_number(e, t, 3.14159265358979323846);
    HoloValue *half = holo_emit_number(e, t, 1.57079632679489661923), *minus = holo_emit(e, "Neg", HOLO_IN(half), NULL);
    HoloValue *base  = holo_emit(e, "Atan", HOLO_IN(holo_emit(e, "Div", HOLO_IN(y, x), NULL)), NULL);
    HoloValue *below = holo_emit(e, "Less", HOLO_IN(y, zero), NULL),
              *left  = holo_emit(e, "Less", HOLO_IN(x, zero), NULL);
    HoloValue *turn  = where(c, below, holo_emit(e, "Neg", HOLO_IN(pi), NULL), pi);
    HoloValue *slant = where(c, left, holo_emit(e, "Add", HOLO_IN(base, turn), NULL), base);
    HoloValue *up    = holo_emit(e, "Greater", HOLO_IN(y, zero), NULL);
    HoloValue *axis  = where(c, up, half, where(c, below, minus, zero));
    holo_flow_out(c, 0, where(c, holo_emit(e, "Equal", HOLO_IN(x, zero), NULL), axis, slant));
}

static void clip(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *low = holo_flow_in(c, 1), *high = holo_flow_in(c, 2);
    x = holo_flow_binary(c, "Max", x, low);
    holo_flow_out(c, 0, holo_flow_binary(c, "Min", x, high));
}

static void add_n(HoloFlowCall *c)
{
    HoloValue *sum = holo_flow_in(c, 0);
    for (int i = 1; i < c->in_count; i++) sum = holo_flow_binary(c, "Add", sum, holo_flow_in(c, i));
    holo_flow_out(c, 0, sum);
}

static void prelu(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_emit(c->e, "PRelu", HOLO_IN(holo_flow_in(c, 0), holo_flow_in(c, 1)), NULL));
}

static void shift(HoloFlowCall *c)
{
    HoloValue *a = holo_flow_in(c, 0), *b = holo_flow_in(c, 1);
    holo_flow_same_type(c, &a, &b);
    holo_flow_out(c, 0,
                  holo_emit(c->e, "BitShift", HOLO_IN(a, b), HOLO_ATTRS(holo_with_text("direction", c->op->onnx))));
}

static void approximate_equal(HoloFlowCall *c)
{
    HoloValue *x =
        holo_emit(c->e, "Abs", HOLO_IN(holo_flow_binary(c, "Sub", holo_flow_in(c, 0), holo_flow_in(c, 1))), NULL);
    HoloValue *limit = holo_emit_number(c->e, holo_emit_dtype(x), holo_flow_float(c, "tolerance", 1e-5));
    holo_flow_out(c, 0, holo_emit(c->e, "Less", HOLO_IN(x, limit), NULL));
}

// ---- reductions

static HoloValue *reduce(HoloFlowCall *c, const char *op, HoloValue *x, HoloValue *axes)
{
    int64_t known[HOLO_MAX_RANK], keep = holo_flow_bool(c, "keep_dims", holo_flow_bool(c, "keepdims", false));
    int     count = 0;
    axes          = holo_flow_vector(c, axes);
    if (holo_emit_known_ints(c->e, axes, known, HOLO_MAX_RANK, &count) && !count) return x; // no axis: nothing to do
    return holo_emit(c->e, op, HOLO_IN(x, axes), HOLO_ATTRS(holo_with_int("keepdims", keep)));
}

static void reduction(HoloFlowCall *c)
{
    holo_flow_out(c, 0, reduce(c, c->op->onnx, holo_flow_in(c, 0), holo_flow_in(c, 1)));
}

static void reduction_bool(HoloFlowCall *c)
{
    HoloValue *x = holo_emit_cast(c->e, holo_emit_cast(c->e, holo_flow_in(c, 0), HOLO_BOOL), HOLO_I32);
    holo_flow_out(c, 0, holo_emit_cast(c->e, reduce(c, c->op->onnx, x, holo_flow_in(c, 1)), HOLO_BOOL));
}

static void arg_reduction(HoloFlowCall *c)
{
    HoloValue *x    = holo_flow_in(c, 0);
    int64_t    axis = 0;
    HoloDtype  type = holo_flow_type(c, "output_type");
    if (c->in_count > 1 && holo_flow_known(c, 1, &axis, 1) != 1 && !c->e->status)
        holo_flow_fail(c, HOLO_BAD_MODEL, "the axis should be one number");
    x = holo_emit(c->e, c->op->onnx, HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("keepdims", 0)));
    holo_flow_out(c, 0, holo_emit_cast(c->e, x, type ? type : HOLO_I64));
}

static void cumulative(HoloFlowCall *c)
{
    int64_t    exclusive = holo_flow_bool(c, "exclusive", false), reverse = holo_flow_bool(c, "reverse", false);
    HoloValue *x = holo_flow_in(c, 0), *axis = holo_emit_cast(c->e, holo_flow_in(c, 1), HOLO_I64);
    holo_flow_out(c, 0,
                  holo_emit(c->e, c->op->onnx, HOLO_IN(x, axis),
                            HOLO_ATTRS(holo_with_int("exclusive", exclusive), holo_with_int("reverse", reverse))));
}

static void softmax(HoloFlowCall *c)
{
    holo_flow_out(c, 0,
                  holo_emit(c->e, c->op->onnx, HOLO_IN(holo_flow_in(c, 0)), HOLO_ATTRS(holo_with_int("axis", -1))));
}

// ---- products

static HoloValue *swap_last(HoloFlowCall *c, HoloValue *x, bool swap)
{
    int64_t perm[HOLO_MAX_RANK];
    int     rank = swap ? holo_flow_rank(c, x) : -1;
    if (rank < 2) return x;
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return holo_emit_transpose(c->e, x, perm, rank);
}

static HoloValue *product(HoloFlowCall *c)
{
    HoloValue *a = holo_flow_in(c, 0), *b = holo_flow_in(c, 1);
    bool       ta = holo_flow_bool(c, "transpose_a", false) || holo_flow_bool(c, "adj_x", false);
    bool       tb = holo_flow_bool(c, "transpose_b", false) || holo_flow_bool(c, "adj_y", false);
    return holo_emit(c->e, "MatMul", HOLO_IN(swap_last(c, a, ta), swap_last(c, b, tb)), NULL);
}

static void matmul(HoloFlowCall *c)
{
    holo_flow_out(c, 0, product(c));
}

static void fused_matmul(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_flow_fused(c, product(c), 2, false));
}

static void einsum(HoloFlowCall *c)
{
    HoloString  equation = holo_flow_string(c, "equation", "");
    char       *text     = holo_flow_text(c->tf, equation);
    HoloValue **in       = HOLO_NEW(c->tf->arena, HoloValue *, c->in_count + 1);
    if (!text || !in) {
        holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
        return;
    }
    for (int i = 0; i < c->in_count; i++) in[i] = holo_flow_in(c, i);
    holo_flow_out(
        c, 0, holo_emit(c->e, "Einsum", (HoloEmitIn){c->in_count, in}, HOLO_ATTRS(holo_with_text("equation", text))));
}

#define U(n, o)                             \
    {                                       \
        .name = n, .emit = unary, .onnx = o \
    }
#define B(n, o)                              \
    {                                        \
        .name = n, .emit = binary, .onnx = o \
    }
#define R(n, o)                                 \
    {                                           \
        .name = n, .emit = reduction, .onnx = o \
    }

// clang-format off
const HoloFlowOp holo_flow_ops_math[] = {
    U("Abs", "Abs"), U("Acos", "Acos"), U("Acosh", "Acosh"), U("Asin", "Asin"), U("Asinh", "Asinh"),
    U("Atan", "Atan"), U("Atanh", "Atanh"), U("Ceil", "Ceil"), U("Cos", "Cos"), U("Cosh", "Cosh"), U("Erf", "Erf"),
    U("Exp", "Exp"), U("Floor", "Floor"), U("Neg", "Neg"), U("Sigmoid", "Sigmoid"), U("Sign", "Sign"),
    U("Sin", "Sin"), U("Sinh", "Sinh"), U("Sqrt", "Sqrt"), U("Tan", "Tan"), U("Tanh", "Tanh"),
    U("Reciprocal", "Reciprocal"), U("Inv", "Reciprocal"), U("Relu", "Relu"), U("Elu", "Elu"), U("Selu", "Selu"),
    U("Softplus", "Softplus"), U("Softsign", "Softsign"), U("IsNan", "IsNaN"), U("IsInf", "IsInf"), U("Log", "Log"),
    U("Round", "Round"), U("Rint", "Round"), U("Invert", "BitwiseNot"),
    {"LogicalNot", logical, "Not"}, {"LogicalAnd", logical, "And"}, {"LogicalOr", logical, "Or"},
    {"LogicalXor", logical, "Xor"},
    {"Relu6", relu6}, {"LeakyRelu", leaky_relu}, {"Rsqrt", two, "Sqrt Reciprocal"}, {"Square", square},
    {"Expm1", expm1_}, {"Log1p", log1p_}, {"Erfc", erfc_}, {"IsFinite", is_finite}, {"L2Loss", l2_loss},
    {"Prelu", prelu},
    B("Add", "Add"), B("AddV2", "Add"), B("Sub", "Sub"), B("Mul", "Mul"), B("Maximum", "Max"), B("Minimum", "Min"),
    B("Pow", "Pow"), B("Greater", "Greater"), B("GreaterEqual", "GreaterOrEqual"), B("Less", "Less"),
    B("LessEqual", "LessOrEqual"), B("Equal", "Equal"), B("BitwiseAnd", "BitwiseAnd"), B("BitwiseOr", "BitwiseOr"),
    B("BitwiseXor", "BitwiseXor"),
    {"NotEqual", not_equal}, {"SquaredDifference", squared_difference}, {"RealDiv", divide}, {"Div", divide},
    {"FloorDiv", floor_div}, {"FloorMod", modulo, NULL, 0}, {"Mod", modulo, NULL, 1}, {"TruncateMod", modulo, NULL, 1},
    {"DivNoNan", guarded, "Div", 1}, {"Xdivy", guarded, "Div", 0}, {"MulNoNan", guarded, "Mul", 1},
    {"Xlogy", guarded, "Log", 0}, {"Atan2", atan2_}, {"ClipByValue", clip}, {"AddN", add_n}, {"AccumulateNV2", add_n},
    {"LeftShift", shift, "LEFT"}, {"RightShift", shift, "RIGHT"}, {"ApproximateEqual", approximate_equal},
    R("Sum", "ReduceSum"), R("Mean", "ReduceMean"), R("Max", "ReduceMax"), R("Min", "ReduceMin"), R("Prod", "ReduceProd"),
    R("EuclideanNorm", "ReduceL2"), {"Any", reduction_bool, "ReduceMax"}, {"All", reduction_bool, "ReduceMin"},
    {"ArgMax", arg_reduction, "ArgMax"}, {"ArgMin", arg_reduction, "ArgMin"},
    {"Cumsum", cumulative, "CumSum"}, {"Cumprod", cumulative, "CumProd@26"},
    {"Softmax", softmax, "Softmax"}, {"LogSoftmax", softmax, "LogSoftmax"},
    {"MatMul", matmul}, {"BatchMatMul", matmul}, {"BatchMatMulV2", matmul}, {"BatchMatMulV3", matmul},
    {"SparseMatMul", matmul}, {"_FusedMatMul", fused_matmul}, {"Einsum", einsum}, {"XlaEinsum", einsum},
    {0},
};
