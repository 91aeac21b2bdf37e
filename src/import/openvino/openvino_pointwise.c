// openvino_pointwise.c - layers that compute each element by itself: arithmetic, comparisons, activations, types.
#include "import/openvino/openvino.h"

#include <math.h>
#include <string.h>

static const HoloIrOp *row_of(const HoloIrCall *c)
{
    return holo_ir_find(c->layer->type);
}

ONE(unary)
{
    return OP1(row_of(c)->onnx, IN(0));
}

// The second operand begins at an axis of the first, as PaddlePaddle has it.
static HoloValue *at_axis(HoloIrCall *c, HoloValue *x, HoloValue *y)
{
    int64_t axis = holo_ir_int(c, "axis", -1), axes[HOLO_MAX_RANK];
    int     a = holo_ir_rank(c, x), b = holo_ir_rank(c, y), count = 0;
    if (!holo_ir_is(c, "auto_broadcast", "numpy", "pdpd") || c->e->status) return y;
    if (axis < 0) axis = a - b;
    if (axis < 0 || axis > a - b)
        return holo_emit_fail(c->e, HOLO_BAD_MODEL, "an operand of %d dimensions at axis %lld of %d", b,
                              (long long)axis, a);
    for (int i = (int)axis + b; i < a && count < HOLO_MAX_RANK; i++, count++) axes[count] = b + count;
    return holo_emit_unsqueeze(c->e, y, axes, count);
}

ONE(binary)
{
    HoloValue *x = IN(0), *y = IN(1);
    return OP2(row_of(c)->onnx, x, at_axis(c, x, y));
}

// Whole numbers are divided downwards, unless m_pythondiv says otherwise.
ONE(divide)
{
    HoloValue *x = IN(0), *y = at_axis(c, x, IN(1));
    if (holo_dtype_class(holo_emit_dtype(x)) == HOLO_CLASS_FLOAT || !holo_ir_bool(c, "m_pythondiv", true))
        return OP2("Div", x, y);
    HoloValue *q = OP2("Div", x, y), *rest = OP2("Sub", x, OP2("Mul", q, y)), *zero = NUM(x, 0), *one = NUM(x, 1);
    HoloValue *is_off =
        OP2("And", OP1("Not", OP2("Equal", rest, zero)), OP2("Xor", OP2("Less", rest, zero), OP2("Less", y, zero)));
    return holo_emit(c->e, "Where", HOLO_IN(is_off, OP2("Sub", q, one), q), NULL);
}

// The rest has the sign of the dividend.
ONE(mod)
{
    HoloValue *x = IN(0);
    return holo_emit(c->e, "Mod", HOLO_IN(x, at_axis(c, x, IN(1))), HOLO_ATTRS(holo_with_int("fmod", 1)));
}

// The rest has the sign of the divisor.
ONE(floor_mod)
{
    HoloValue *x = IN(0), *y = at_axis(c, x, IN(1));
    if (holo_dtype_class(holo_emit_dtype(x)) != HOLO_CLASS_FLOAT) return OP2("Mod", x, y);
    HoloValue *rest = holo_emit(c->e, "Mod", HOLO_IN(x, y), HOLO_ATTRS(holo_with_int("fmod", 1))), *zero = NUM(x, 0);
    HoloValue *is_off =
        OP2("And", OP1("Not", OP2("Equal", rest, zero)), OP2("Xor", OP2("Less", rest, zero), OP2("Less", y, zero)));
    return holo_emit(c->e, "Where", HOLO_IN(is_off, OP2("Add", rest, y), rest), NULL);
}

ONE(not_equal)
{
    HoloValue *x = IN(0);
    return OP1("Not", OP2("Equal", x, at_axis(c, x, IN(1))));
}

ONE(squared_difference)
{
    HoloValue *x = IN(0), *d = OP2("Sub", x, at_axis(c, x, IN(1)));
    return OP2("Mul", d, d);
}

ONE(shift)
{
    bool is_left = !strcmp(c->layer->type, "BitwiseLeftShift");
    return holo_emit(c->e, "BitShift", HOLO_IN(IN(0), IN(1)),
                     HOLO_ATTRS(holo_with_text("direction", is_left ? "LEFT" : "RIGHT")));
}

// ---- activations

ONE(elu)
{
    return holo_emit(c->e, "Elu", HOLO_IN(IN(0)), HOLO_ATTRS(holo_with_float("alpha", holo_ir_float(c, "alpha", 1))));
}

ONE(clamp)
{
    HoloValue *x   = IN(0);
    double     low = holo_ir_float(c, "min", -INFINITY), high = holo_ir_float(c, "max", INFINITY);
    if (holo_dtype_class(holo_emit_dtype(x)) !=
        HOLO_CLASS_FLOAT) { // a bound between two numbers counts for the inner one
        low  = fmax(ceil(low), -9e15);
        high = fmin(floor(high), 9e15);
    }
    return holo_emit(c->e, "Clip", HOLO_IN(x, NUM(x, low), NUM(x, high)), NULL);
}

ONE(swish)
{
    HoloValue *x = IN(0), *beta = MAY(1);
    return OP2("Mul", x, OP1("Sigmoid", beta ? OP2("Mul", x, beta) : x));
}

ONE(h_swish)
{
    return OP1("HardSwish", IN(0));
}

// min(max(x + 3, 0), 6) / 6
ONE(h_sigmoid)
{
    return holo_emit(c->e, "HardSigmoid", HOLO_IN(IN(0)),
                     HOLO_ATTRS(holo_with_float("alpha", 1.0 / 6), holo_with_float("beta", 0.5)));
}

// x alpha beta
ONE(hard_sigmoid)
{
    HoloValue *x = IN(0), *y = OP2("Add", OP2("Mul", x, IN(1)), IN(2));
    return OP2("Max", OP2("Min", y, NUM(x, 1)), NUM(x, 0));
}

// x alpha lambda
ONE(selu)
{
    HoloValue *x = IN(0), *zero = NUM(x, 0), *low = OP2("Mul", IN(1), OP2("Sub", OP1("Exp", x), NUM(x, 1)));
    return OP2("Mul", IN(2), holo_emit(c->e, "Where", HOLO_IN(OP2("Greater", x, zero), x, low), NULL));
}

// One slope for each channel, unless there are as many dimensions as in x.
ONE(prelu)
{
    HoloValue *x = IN(0), *slope = IN(1);
    int        rank = holo_ir_rank(c, x), own = holo_ir_rank(c, slope), count = 0;
    int64_t    axes[HOLO_MAX_RANK], size = 1;
    if (own == 1 && !(holo_ir_size(slope, 0, &size) && size == 1))
        for (int i = 2; i < rank; i++) axes[count++] = i - 1;
    return OP2("PRelu", x, holo_emit_unsqueeze(c->e, slope, axes, count));
}

ONE(gelu)
{
    bool is_tanh = holo_ir_is(c, "approximation_mode", "ERF", "TANH");
    return holo_emit(c->e, "Gelu", HOLO_IN(IN(0)),
                     HOLO_ATTRS(holo_with_text("approximate", is_tanh ? "tanh" : "none")));
}

ONE(softsign)
{
    return OP1("Softsign", IN(0));
}

ONE(rounded)
{
    HoloValue *x = IN(0);
    if (!holo_ir_is(c, "mode", "half_to_even", "half_away_from_zero")) return OP1("Round", x);
    return OP2("Mul", OP1("Sign", x), OP1("Floor", OP2("Add", OP1("Abs", x), NUM(x, 0.5))));
}

ONE(is_finite)
{
    HoloValue *x = IN(0);
    return OP1("Not", OP2("Or", OP1("IsNaN", x), OP1("IsInf", x)));
}

ONE(is_inf)
{
    return holo_emit(c->e, "IsInf", HOLO_IN(IN(0)),
                     HOLO_ATTRS(holo_with_int("detect_negative", holo_ir_bool(c, "detect_negative", true)),
                                holo_with_int("detect_positive", holo_ir_bool(c, "detect_positive", true))));
}

ONE(softmax)
{
    HoloValue  *x    = IN(0);
    const char *op   = strcmp(c->layer->type, "LogSoftmax") ? "Softmax" : "LogSoftmax";
    int64_t     axis = holo_ir_int(c, "axis", *op == 'L' ? -1 : 1);
    return holo_emit(c->e, op, HOLO_IN(x),
                     HOLO_ATTRS(holo_with_int("axis", holo_ir_axis(c, axis, holo_ir_rank(c, x)))));
}

// ---- types

ONE(convert)
{
    return holo_emit_cast(c->e, IN(0), holo_ir_type_attr(c, "destination_type", HOLO_F32));
}

ONE(convert_like)
{
    return holo_emit_cast(c->e, IN(0), holo_emit_dtype(IN(1)));
}

ONE(chosen)
{
    return holo_emit(c->e, "Where", HOLO_IN(IN(0), IN(1), IN(2)), NULL);
}

// x, the range of the input, that of the output: x becomes one of `levels` steps of the output's range.
ONE(fake_quantize)
{
    HoloValue *x = IN(0), *low = IN(1), *high = IN(2), *to_low = IN(3), *to_high = IN(4);
    HoloValue *steps = NUM(x, (double)holo_ir_int(c, "levels", 256) - 1);
    HoloValue *least = OP2("Min", low, high), *most = OP2("Max", low, high);
    HoloValue *q = OP1("Round", OP2("Mul", OP2("Div", OP2("Sub", x, low), OP2("Sub", high, low)), steps));
    HoloValue *y = OP2("Add", OP2("Mul", OP2("Div", q, steps), OP2("Sub", to_high, to_low)), to_low);
    y            = holo_emit(c->e, "Where", HOLO_IN(OP2("Greater", x, most), to_high, y), NULL);
    return holo_emit(c->e, "Where", HOLO_IN(OP2("LessOrEqual", x, least), to_low, y), NULL);
}

const HoloIrOp holo_ir_pointwise[] = {
    {"Abs", unary, NULL, "Abs"},
    {"Acos", unary, NULL, "Acos"},
    {"Acosh", unary, NULL, "Acosh"},
    {"Asin", unary, NULL, "Asin"},
    {"Asinh", unary, NULL, "Asinh"},
    {"Atan", unary, NULL, "Atan"},
    {"Atanh", unary, NULL, "Atanh"},
    {"Ceiling", unary, NULL, "Ceil"},
    {"Cos", unary, NULL, "Cos"},
    {"Cosh", unary, NULL, "Cosh"},
    {"Erf", unary, NULL, "Erf"},
    {"Exp", unary, NULL, "Exp"},
    {"Floor", unary, NULL, "Floor"},
    {"Identity", unary, NULL, "Identity"},
    {"IsNaN", unary, NULL, "IsNaN"},
    {"Log", unary, NULL, "Log"},
    {"LogicalNot", unary, NULL, "Not"},
    {"Mish", unary, NULL, "Mish"},
    {"Negative", unary, NULL, "Neg"},
    {"ReLU", unary, NULL, "Relu"},
    {"Sigmoid", unary, NULL, "Sigmoid"},
    {"Sign", unary, NULL, "Sign"},
    {"Sin", unary, NULL, "Sin"},
    {"Sinh", unary, NULL, "Sinh"},
    {"SoftPlus", unary, NULL, "Softplus"},
    {"SoftSign", softsign, NULL, NULL},
    {"Sqrt", unary, NULL, "Sqrt"},
    {"Tan", unary, NULL, "Tan"},
    {"Tanh", unary, NULL, "Tanh"},
    {"BitwiseNot", unary, NULL, "BitwiseNot"},
    {"Add", binary, NULL, "Add"},
    {"Subtract", binary, NULL, "Sub"},
    {"Multiply", binary, NULL, "Mul"},
    {"Power", binary, NULL, "Pow"},
    {"Maximum", binary, NULL, "Max"},
    {"Minimum", binary, NULL, "Min"},
    {"Equal", binary, NULL, "Equal"},
    {"Less", binary, NULL, "Less"},
    {"LessEqual", binary, NULL, "LessOrEqual"},
    {"Greater", binary, NULL, "Greater"},
    {"GreaterEqual", binary, NULL, "GreaterOrEqual"},
    {"LogicalAnd", binary, NULL, "And"},
    {"LogicalOr", binary, NULL, "Or"},
    {"LogicalXor", binary, NULL, "Xor"},
    {"BitwiseAnd", binary, NULL, "BitwiseAnd"},
    {"BitwiseOr", binary, NULL, "BitwiseOr"},
    {"BitwiseXor", binary, NULL, "BitwiseXor"},
    {"BitwiseLeftShift", shift, NULL, NULL},
    {"BitwiseRightShift", shift, NULL, NULL},
    {"Divide", divide, NULL, NULL},
    {"Mod", mod, NULL, NULL},
    {"FloorMod", floor_mod, NULL, NULL},
    {"NotEqual", not_equal, NULL, NULL},
    {"SquaredDifference", squared_difference, NULL, NULL},
    {"Elu", elu, NULL, NULL},
    {"Clamp", clamp, NULL, NULL},
    {"Swish", swish, NULL, NULL},
    {"HSwish", h_swish, NULL, NULL},
    {"HSigmoid", h_sigmoid, NULL, NULL},
    {"HardSigmoid", hard_sigmoid, NULL, NULL},
    {"Selu", selu, NULL, NULL},
    {"PReLU", prelu, NULL, NULL},
    {"Gelu", gelu, NULL, NULL},
    {"Round", rounded, NULL, NULL},
    {"IsFinite", is_finite, NULL, NULL},
    {"IsInf", is_inf, NULL, NULL},
    {"SoftMax", softmax, NULL, NULL},
    {"Softmax", softmax, NULL, NULL},
    {"LogSoftmax", softmax, NULL, NULL},
    {"Convert", convert, NULL, NULL},
    {"ConvertLike", convert_like, NULL, NULL},
    {"Select", chosen, NULL, NULL},
    {"FakeQuantize", fake_quantize, NULL, NULL},
    {0},
};
