// aten_unary.c - functions of one number, and activations.
#include "import/torch/aten.h"

#include <math.h>

// Functions that give floats also for whole numbers.
static HoloValue *real_of(HoloTorch *t, const HoloTv *a)
{
    return holo_torch_real(t, &a[0]);
}

#define REAL(f, op)                    \
    ONE(f)                             \
    {                                  \
        return OP1(op, real_of(t, a)); \
    }
REAL(sin_of, "Sin")
REAL(cos_of, "Cos")
REAL(tan_of, "Tan")
REAL(asin_of, "Asin")
REAL(acos_of, "Acos")
REAL(atan_of, "Atan")
REAL(sinh_of, "Sinh")
REAL(cosh_of, "Cosh")
REAL(tanh_of, "Tanh")
REAL(asinh_of, "Asinh")
REAL(acosh_of, "Acosh")
REAL(atanh_of, "Atanh")
REAL(exp_of, "Exp")
REAL(log_of, "Log")
REAL(sqrt_of, "Sqrt")
REAL(sigmoid, "Sigmoid")
REAL(erf_of, "Erf")
REAL(reciprocal, "Reciprocal")

// Functions that keep the type; whole numbers stay as they are where `op` is NULL for them.
static HoloValue *rounding(HoloTorch *t, const HoloTv *a, const char *op)
{
    HoloValue *x = V(0);
    return holo_torch_is_float(DTYPE(x)) ? OP1(op, x) : OP1("Identity", x);
}

ONE(floor_of)
{
    return rounding(t, a, "Floor");
}

ONE(ceil_of)
{
    return rounding(t, a, "Ceil");
}

ONE(round_of)
{
    int64_t decimals = holo_torch_int(t, &a[1], 0);
    if (!decimals) return rounding(t, a, "Round");
    HoloValue *x = V(0), *scale = NUM(x, pow(10, (double)decimals));
    return OP2("Div", OP1("Round", OP2("Mul", x, scale)), scale);
}

ONE(trunc_of)
{
    HoloValue *x = V(0);
    return holo_torch_is_float(DTYPE(x)) ? holo_torch_trunc(t, x) : OP1("Identity", x);
}

ONE(frac_of)
{
    HoloValue *x = V(0);
    return OP2("Sub", x, holo_torch_trunc(t, x));
}

ONE(neg)
{
    return OP1("Neg", V(0));
}

ONE(abs_of)
{
    return OP1("Abs", V(0));
}

ONE(sign)
{
    HoloValue *x = V(0);
    return DTYPE(x) == HOLO_BOOL ? OP1("Identity", x) : OP1("Sign", x);
}

ONE(square)
{
    HoloValue *x = V(0);
    return OP2("Mul", x, x);
}

ONE(rsqrt)
{
    return OP1("Reciprocal", OP1("Sqrt", real_of(t, a)));
}

ONE(log2_of)
{
    HoloValue *x = real_of(t, a);
    return OP2("Mul", OP1("Log", x), NUM(x, 1 / M_LN2));
}

ONE(log10_of)
{
    HoloValue *x = real_of(t, a);
    return OP2("Mul", OP1("Log", x), NUM(x, 1 / M_LN10));
}

// log(1+x) without the loss of 1+x: x * log(u) / (u-1) with u = 1+x.
ONE(log1p_of)
{
    HoloValue *x = real_of(t, a), *u = OP2("Add", x, NUM(x, 1)), *d = OP2("Sub", u, NUM(x, 1));
    HoloValue *is_zero = OP2("Or", OP2("Equal", d, NUM(x, 0)), OP1("IsInf", d));
    HoloValue *ratio   = OP2("Div", OP1("Log", u), holo_torch_where(t, is_zero, NUM(x, 1), d));
    HoloValue *small   = holo_torch_where(t, OP2("Equal", d, NUM(x, 0)), x, OP1("Log", u));
    return holo_torch_where(t, is_zero, small, OP2("Mul", x, ratio));
}

// exp(x)-1 without loss near 0: (e^(x/2) - e^(-x/2)) * e^(x/2).
ONE(expm1_of)
{
    HoloValue *x = real_of(t, a), *half = OP2("Mul", x, NUM(x, 0.5));
    HoloValue *near  = OP2("Mul", OP2("Mul", OP1("Sinh", half), NUM(x, 2)), OP1("Exp", half));
    HoloValue *small = OP2("Less", OP1("Abs", x), NUM(x, 1));
    return holo_torch_where(t, small, near, OP2("Sub", OP1("Exp", x), NUM(x, 1)));
}

ONE(exp2_of)
{
    HoloValue *x = real_of(t, a);
    return OP2("Pow", NUM(x, 2), x);
}

ONE(erfc_of)
{
    HoloValue *x = real_of(t, a);
    return OP2("Sub", NUM(x, 1), OP1("Erf", x));
}

ONE(sinc)
{
    HoloValue *x = real_of(t, a), *y = OP2("Mul", x, NUM(x, M_PI)), *is_zero = OP2("Equal", y, NUM(x, 0));
    HoloValue *safe = holo_torch_where(t, is_zero, NUM(x, 1), y);
    return holo_torch_where(t, is_zero, NUM(x, 1), OP2("Div", OP1("Sin", safe), safe));
}

ONE(logit)
{
    HoloValue *x = real_of(t, a);
    if (!holo_tv_is_none(&a[1])) {
        double eps = holo_torch_float(t, &a[1], 0);
        x          = OP2("Min", OP2("Max", x, NUM(x, eps)), NUM(x, 1 - eps));
    }
    return OP1("Log", OP2("Div", x, OP2("Sub", NUM(x, 1), x)));
}

ONE(rad2deg)
{
    HoloValue *x = real_of(t, a);
    return OP2("Mul", x, NUM(x, 180 / M_PI));
}

ONE(deg2rad)
{
    HoloValue *x = real_of(t, a);
    return OP2("Mul", x, NUM(x, M_PI / 180));
}

// ---- kinds of numbers

static HoloValue *no_float(HoloTorch *t, HoloValue *x, bool answer)
{
    HoloValue *same = OP2("Equal", x, x);
    return answer ? same : OP1("Not", same);
}

ONE(is_nan)
{
    HoloValue *x = V(0);
    return holo_torch_is_float(DTYPE(x)) ? OP1("IsNaN", x) : no_float(t, x, false);
}

static HoloValue *is_infinite(HoloTorch *t, HoloValue *x, bool above, bool below)
{
    if (!holo_torch_is_float(DTYPE(x))) return no_float(t, x, false);
    return holo_emit(t->e, "IsInf", HOLO_IN(x),
                     HOLO_ATTRS(holo_with_int("detect_positive", above), holo_with_int("detect_negative", below)));
}

ONE(is_inf)
{
    return is_infinite(t, V(0), true, true);
}

ONE(is_posinf)
{
    return is_infinite(t, V(0), true, false);
}

ONE(is_neginf)
{
    return is_infinite(t, V(0), false, true);
}

ONE(is_finite)
{
    HoloValue *x = V(0);
    if (!holo_torch_is_float(DTYPE(x))) return no_float(t, x, true);
    return OP1("Not", OP2("Or", OP1("IsNaN", x), OP1("IsInf", x)));
}

ONE(signbit_of)
{
    HoloValue *x = V(0);
    return OP2("Less", x, NUM(x, 0));
}

// The largest number of a type.
static double largest(HoloDtype dtype)
{
    return dtype == HOLO_F16    ? 65504
           : dtype == HOLO_F64  ? 1.7976931348623157e308
           : dtype == HOLO_BF16 ? 3.3895313892515355e38
                                : 3.4028234663852886e38;
}

ONE(nan_to_num)
{
    HoloValue *x = V(0);
    if (!holo_torch_is_float(DTYPE(x))) return OP1("Identity", x);
    double most = largest(DTYPE(x));
    x           = holo_torch_where(t, is_infinite(t, x, true, false), NUM(x, holo_torch_float(t, &a[2], most)), x);
    x           = holo_torch_where(t, is_infinite(t, x, false, true), NUM(x, holo_torch_float(t, &a[3], -most)), x);
    return holo_torch_where(t, OP1("IsNaN", x), NUM(x, holo_torch_float(t, &a[1], 0)), x);
}

// ---- activations

ONE(relu)
{
    return OP1("Relu", V(0));
}

ONE(relu6)
{
    HoloValue *x = V(0);
    return holo_emit(t->e, "Clip", HOLO_IN(x, NUM(x, 0), NUM(x, 6)), NULL);
}

ONE(gelu)
{
    bool is_tanh = holo_torch_text_is(t, &a[1], "none", "tanh");
    return holo_emit(t->e, "Gelu", HOLO_IN(V(0)), HOLO_ATTRS(holo_with_text("approximate", is_tanh ? "tanh" : "none")));
}

ONE(silu)
{
    HoloValue *x = real_of(t, a);
    return OP2("Mul", x, OP1("Sigmoid", x));
}

ONE(mish)
{
    return OP1("Mish", V(0));
}

ONE(softplus)
{
    HoloValue *x    = V(0);
    double     beta = holo_torch_float(t, &a[1], 1), threshold = holo_torch_float(t, &a[2], 20);
    HoloValue *y = beta == 1 ? x : OP2("Mul", x, NUM(x, beta)), *soft = OP1("Softplus", y);
    if (beta != 1) soft = OP2("Div", soft, NUM(x, beta));
    return holo_torch_where(t, OP2("Greater", y, NUM(x, threshold)), x, soft);
}

ONE(hardswish)
{
    return OP1("HardSwish", V(0));
}

ONE(hardsigmoid)
{
    return holo_emit(t->e, "HardSigmoid", HOLO_IN(V(0)),
                     HOLO_ATTRS(holo_with_float("alpha", 1.0 / 6), holo_with_float("beta", 0.5)));
}

ONE(hardtanh)
{
    HoloValue *x = V(0);
    return holo_emit(t->e, "Clip",
                     HOLO_IN(x, NUM(x, holo_torch_float(t, &a[1], -1)), NUM(x, holo_torch_float(t, &a[2], 1))), NULL);
}

ONE(elu)
{
    HoloValue *x     = V(0);
    double     alpha = holo_torch_float(t, &a[1], 1), scale = holo_torch_float(t, &a[2], 1),
           inner = holo_torch_float(t, &a[3], 1);
    if (scale == 1 && inner == 1)
        return holo_emit(t->e, "Elu", HOLO_IN(x), HOLO_ATTRS(holo_with_float("alpha", alpha)));
    HoloValue *low = OP2("Mul", OP2("Sub", OP1("Exp", OP2("Mul", x, NUM(x, inner))), NUM(x, 1)), NUM(x, alpha * scale));
    return holo_torch_where(t, OP2("Greater", x, NUM(x, 0)), OP2("Mul", x, NUM(x, scale)), low);
}

ONE(celu)
{
    return holo_emit(t->e, "Celu", HOLO_IN(V(0)), HOLO_ATTRS(holo_with_float("alpha", holo_torch_float(t, &a[1], 1))));
}

ONE(selu)
{
    return OP1("Selu", V(0));
}

ONE(leaky_relu)
{
    return holo_emit(t->e, "LeakyRelu", HOLO_IN(V(0)),
                     HOLO_ATTRS(holo_with_float("alpha", holo_torch_float(t, &a[1], 0.01))));
}

ONE(rrelu) // as in evaluation: the mean of the bounds
{
    HOLO_TORCH_CHECK(t, !holo_torch_bool(t, &a[3], false), "rrelu in training is random: call model.eval() first");
    double slope = (holo_torch_float(t, &a[1], 0.125) + holo_torch_float(t, &a[2], 1.0 / 3)) / 2;
    return holo_emit(t->e, "LeakyRelu", HOLO_IN(V(0)), HOLO_ATTRS(holo_with_float("alpha", slope)));
}

// The slopes are of the channels, dimension 1.
ONE(prelu)
{
    HoloValue *x = V(0), *slope            = V(1);
    int64_t    sizes[HOLO_MAX_RANK], count = 1;
    int        rank = holo_torch_rank(t, x);
    if (!holo_torch_size_known(slope, 0, &count)) count = 1;
    for (int i = 0; i < rank; i++) sizes[i] = i == 1 ? count : 1;
    return OP2("PRelu", x, rank > 1 ? holo_emit_reshape(t->e, slope, sizes, rank) : slope);
}

ONE(prelu_kernel)
{
    return OP2("PRelu", V(0), V(1));
}

ONE(threshold)
{
    HoloValue *x = V(0);
    return holo_torch_where(t, OP2("Greater", x, holo_torch_scalar(t, &a[1], DTYPE(x))), x,
                            holo_torch_scalar(t, &a[2], DTYPE(x)));
}

ONE(log_sigmoid)
{
    HoloValue *x = V(0);
    return OP1("Neg", OP1("Softplus", OP1("Neg", x)));
}

ANY(log_sigmoid_forward)
{
    HoloValue *y[2] = {log_sigmoid(t, a), V(0)};
    *out            = holo_torch_tuple(t, 2, y);
}

ONE(hardshrink)
{
    HoloValue *x = V(0), *far = OP2("Greater", OP1("Abs", x), NUM(x, holo_torch_float(t, &a[1], 0.5)));
    return holo_torch_where(t, far, x, NUM(x, 0));
}

ONE(softshrink)
{
    HoloValue *x      = V(0);
    double     lambda = holo_torch_float(t, &a[1], 0.5);
    return holo_emit(t->e, "Shrink", HOLO_IN(x),
                     HOLO_ATTRS(holo_with_float("lambd", lambda), holo_with_float("bias", lambda)));
}

ONE(tanhshrink)
{
    HoloValue *x = V(0);
    return OP2("Sub", x, OP1("Tanh", x));
}

ONE(softsign)
{
    return OP1("Softsign", V(0));
}

ONE(glu)
{
    HoloValue *x    = V(0), *half[2];
    int        axis = holo_torch_axis(t, &a[1], -1, holo_torch_rank(t, x));
    holo_emit_many(t->e, "Split", HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("num_outputs", 2)),
                   half, 2);
    return OP2("Mul", half[0], OP1("Sigmoid", half[1]));
}

HoloValue *holo_torch_softmax(HoloTorch *t, HoloValue *x, int axis, bool is_log)
{
    const char *op = is_log ? "LogSoftmax" : "Softmax";
    if (holo_emit_rank(x) == 0) { // of one number
        HoloValue *one = holo_torch_unsqueeze(t, x, 0);
        return holo_torch_squeeze(t, holo_emit(t->e, op, HOLO_IN(one), HOLO_ATTRS(holo_with_int("axis", 0))), 0);
    }
    return holo_emit(t->e, op, HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", axis)));
}

static HoloValue *softmax_any(HoloTorch *t, const HoloTv *a, bool is_log)
{
    HoloValue *x = V(0);
    if (a[2].kind == HOLO_TORCH_INT) x = holo_emit_cast(t->e, x, holo_torch_dtype(t, &a[2], DTYPE(x)));
    x = holo_emit_cast(t->e, x, holo_torch_float_of(DTYPE(x)));
    return holo_torch_softmax(t, x, holo_torch_axis(t, &a[1], -1, holo_torch_rank(t, x)), is_log);
}

ONE(softmax)
{
    return softmax_any(t, a, false);
}

ONE(log_softmax)
{
    return softmax_any(t, a, true);
}

// A row of only -inf gives 0.
ONE(safe_softmax)
{
    HoloValue *y = softmax_any(t, a, false);
    return holo_torch_where(t, OP1("IsNaN", y), NUM(y, 0), y);
}

// ---- what does nothing when a model is used

ANY(dropout)
{
    if (holo_torch_bool(t, &a[2], false) && holo_torch_float(t, &a[1], 0.5) > 0)
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "dropout in training is random: call model.eval() before exporting");
    *out = a[0];
}

ANY(native_dropout)
{
    HoloTv both[2];
    dropout(t, a, &both[0]);
    HoloValue *x = V(0);
    both[1]      = holo_tv_tensor(t, OP2("Equal", x, x));
    *out         = holo_tv_list(t, HOLO_TORCH_TUPLE, 2, both);
}

ANY(same)
{
    (void)t;
    *out = a[0];
}

const HoloTorchOp holo_torch_unary[] = {
    ROW("sin", "self", sin_of),
    ROW("cos", "self", cos_of),
    ROW("tan", "self", tan_of),
    ROW("asin", "self", asin_of),
    ROW("acos", "self", acos_of),
    ROW("atan", "self", atan_of),
    ROW("arcsin", "self", asin_of),
    ROW("arccos", "self", acos_of),
    ROW("arctan", "self", atan_of),
    ROW("sinh", "self", sinh_of),
    ROW("cosh", "self", cosh_of),
    ROW("tanh", "self", tanh_of),
    ROW("asinh", "self", asinh_of),
    ROW("acosh", "self", acosh_of),
    ROW("atanh", "self", atanh_of),
    ROW("exp", "self", exp_of),
    ROW("log", "self", log_of),
    ROW("sqrt", "self", sqrt_of),
    ROW("sigmoid", "self", sigmoid),
    ROW("special_expit", "self", sigmoid),
    ROW("erf", "self", erf_of),
    ROW("special_erf", "self", erf_of),
    ROW("erfc", "self", erfc_of),
    ROW("reciprocal", "self", reciprocal),
    ROW("floor", "self", floor_of),
    ROW("ceil", "self", ceil_of),
    ROW("round", "self decimals", round_of),
    ROW("trunc", "self", trunc_of),
    ROW("fix", "self", trunc_of),
    ROW("frac", "self", frac_of),
    ROW("neg", "self", neg),
    ROW("negative", "self", neg),
    ROW("abs", "self", abs_of),
    ROW("absolute", "self", abs_of),
    ROW("sign", "self", sign),
    ROW("sgn", "self", sign),
    ROW("square", "self", square),
    ROW("rsqrt", "self", rsqrt),
    ROW("log2", "self", log2_of),
    ROW("log10", "self", log10_of),
    ROW("log1p", "self", log1p_of),
    ROW("expm1", "self", expm1_of),
    ROW("exp2", "self", exp2_of),
    ROW("special_exp2", "self", exp2_of),
    ROW("sinc", "self", sinc),
    ROW("logit", "self eps", logit),
    ROW("rad2deg", "self", rad2deg),
    ROW("deg2rad", "self", deg2rad),
    ROW("isnan", "self", is_nan),
    ROW("isinf", "self", is_inf),
    ROW("isposinf", "self", is_posinf),
    ROW("isneginf", "self", is_neginf),
    ROW("isfinite", "self", is_finite),
    ROW("signbit", "self", signbit_of),
    ROW("nan_to_num", "self nan posinf neginf", nan_to_num),
    ROW("relu", "self", relu),
    ROW("relu6", "self", relu6),
    ROW("gelu", "self approximate", gelu),
    ROW("silu", "self", silu),
    ROW("mish", "self", mish),
    ROW("softplus", "self beta threshold", softplus),
    ROW("hardswish", "self", hardswish),
    ROW("hardsigmoid", "self", hardsigmoid),
    ROW("hardtanh", "self min_val max_val", hardtanh),
    ROW("elu", "self alpha scale input_scale", elu),
    ROW("celu", "self alpha", celu),
    ROW("selu", "self", selu),
    ROW("leaky_relu", "self negative_slope", leaky_relu),
    ROW("rrelu", "self lower upper training", rrelu),
    ROW("prelu", "self weight", prelu),
    ROW("_prelu_kernel", "self weight", prelu_kernel),
    ROW("threshold", "self threshold value", threshold),
    ROW("log_sigmoid", "self", log_sigmoid),
    ROW("logsigmoid", "self", log_sigmoid),
    MANY("log_sigmoid_forward", "self", log_sigmoid_forward),
    ROW("hardshrink", "self lambd", hardshrink),
    ROW("softshrink", "self lambd", softshrink),
    ROW("tanhshrink", "self", tanhshrink),
    ROW("softsign", "self", softsign),
    ROW("glu", "self dim", glu),
    ROW("softmax", "self dim dtype|half_to_float", softmax),
    ROW("_softmax", "self dim half_to_float", softmax),
    ROW("special_softmax", "self dim dtype", softmax),
    ROW("log_softmax", "self dim dtype", log_softmax),
    ROW("_log_softmax", "self dim half_to_float", log_softmax),
    ROW("_safe_softmax", "self dim dtype", safe_softmax),
    MANY("dropout", "input|self p train", dropout),
    MANY("feature_dropout", "input p train", dropout),
    MANY("alpha_dropout", "input p train", dropout),
    MANY("feature_alpha_dropout", "input p train", dropout),
    MANY("native_dropout", "input p train", native_dropout),
    MANY("positive", "self", same),
    {0},
};
