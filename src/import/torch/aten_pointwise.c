// aten_pointwise.c - operators of one or two numbers at each place, with PyTorch's rules for types.
#include "import/torch/aten.h"

#include <math.h>
#include <string.h>

// ---- two operands

// PyTorch takes constant tensors without dimensions for the numbers that they were, in sums, products and quotients.
static HoloTv as_number(HoloTorch *t, HoloTv v)
{
    return v.kind == HOLO_TORCH_TENSOR && v.tensor->is_literal ? holo_tv_number(t, holo_torch_read(t, v.tensor)) : v;
}

static HoloValue *arithmetic(HoloTorch *t, const HoloTv *a, const char *op, const char *of_bools)
{
    HoloValue *x, *y;
    HoloTv     both[2] = {as_number(t, a[0]), as_number(t, a[1])};
    HoloDtype  dtype   = holo_torch_pair(t, both, &x, &y);
    if (!holo_tv_is_none(&a[2]) && !(a[2].kind == HOLO_TORCH_INT && a[2].i == 1)) // alpha
        y = OP2("Mul", y, holo_torch_scalar(t, &a[2], dtype));
    if (dtype == HOLO_BOOL) return OP2(of_bools, x, y);
    return OP2(op, x, y);
}

ONE(add)
{
    return arithmetic(t, a, "Add", "Or");
}

ONE(sub)
{
    return arithmetic(t, a, "Sub", "Xor");
}

ONE(rsub)
{
    HoloTv     turned[3] = {a[1], a[0], {0}};
    HoloValue *x, *y;
    HoloDtype  dtype = holo_torch_pair(t, turned, &x, &y);
    if (!holo_tv_is_none(&a[2])) y = OP2("Mul", y, holo_torch_scalar(t, &a[2], dtype));
    return OP2("Sub", x, y);
}

ONE(mul)
{
    HoloTv both[3] = {a[0], a[1], {0}};
    return arithmetic(t, both, "Mul", "And");
}

ONE(divide)
{
    HoloValue *x, *y;
    HoloDtype  dtype = holo_torch_pair(t, a, &x, &y);
    if (holo_torch_text_is(t, &a[2], "", "floor")) return holo_torch_floor_div(t, x, y);
    if (holo_torch_text_is(t, &a[2], "", "trunc"))
        return holo_torch_is_float(dtype) ? holo_torch_trunc(t, OP2("Div", x, y)) : OP2("Div", x, y);
    HoloTv both[2] = {as_number(t, a[0]), as_number(t, a[1])};
    dtype          = holo_torch_float_of(holo_torch_result(t, both, 2));
    return OP2("Div", holo_torch_scalar(t, &both[0], dtype), holo_torch_scalar(t, &both[1], dtype));
}

ONE(floor_divide)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    return holo_torch_floor_div(t, x, y);
}

ONE(remainder_of)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    return holo_torch_remainder(t, x, y);
}

ONE(fmod_of)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    return holo_emit(t->e, "Mod", HOLO_IN(x, y), HOLO_ATTRS(holo_with_int("fmod", 1)));
}

ONE(power)
{
    HoloValue *x, *y;
    double     number;
    HoloDtype  dtype = holo_torch_pair(t, a, &x, &y);
    if (dtype == HOLO_BOOL) return OP2("Or", x, OP1("Not", y));
    if (a[0].kind == HOLO_TORCH_TENSOR && holo_emit_known_number(t->e, y, &number)) {
        if (number == 2) return OP2("Mul", x, x);
        if (number == 1) return OP1("Identity", x);
        if (number == 0.5 && holo_torch_is_float(dtype)) return OP1("Sqrt", x);
        if (number == -0.5 && holo_torch_is_float(dtype)) return OP1("Reciprocal", OP1("Sqrt", x));
        if (number == -1 && holo_torch_is_float(dtype)) return OP1("Reciprocal", x);
        if (number == 3) return OP2("Mul", OP2("Mul", x, x), x);
    }
    return OP2("Pow", x, y);
}

ONE(float_power)
{
    return OP2("Pow", holo_torch_scalar(t, &a[0], HOLO_F64), holo_torch_scalar(t, &a[1], HOLO_F64));
}

// The larger or smaller one; bool has no Max.
static HoloValue *extreme(HoloTorch *t, const HoloTv *a, const char *op, const char *of_bools)
{
    HoloValue *x, *y;
    return holo_torch_pair(t, a, &x, &y) == HOLO_BOOL ? OP2(of_bools, x, y) : OP2(op, x, y);
}

ONE(maximum)
{
    return extreme(t, a, "Max", "Or");
}

ONE(minimum)
{
    return extreme(t, a, "Min", "And");
}

static HoloValue *extreme_number(HoloTorch *t, const HoloTv *a, const char *op)
{
    HoloValue *x, *y;
    if (!holo_torch_is_float(holo_torch_pair(t, a, &x, &y))) return OP2(op, x, y);
    HoloValue *one = holo_torch_where(t, OP1("IsNaN", y), x, OP2(op, x, y));
    return holo_torch_where(t, OP1("IsNaN", x), y, one);
}

ONE(fmax_of)
{
    return extreme_number(t, a, "Max");
}

ONE(fmin_of)
{
    return extreme_number(t, a, "Min");
}

ONE(atan2_of)
{
    HoloDtype  dtype = holo_torch_float_of(holo_torch_result(t, a, 2));
    HoloValue *y = holo_torch_scalar(t, &a[0], dtype), *x = holo_torch_scalar(t, &a[1], dtype), *zero = NUM(x, 0);
    HoloValue *is_left = OP2("Less", x, zero), *is_below = OP2("Less", y, zero), *is_zero = OP2("Equal", x, zero);
    HoloValue *pi     = holo_torch_where(t, is_below, NUM(x, -M_PI), NUM(x, M_PI));
    HoloValue *angle  = OP1("Atan", OP2("Div", y, holo_torch_where(t, is_zero, NUM(x, 1), x)));
    HoloValue *turned = holo_torch_where(t, is_left, OP2("Add", angle, pi), angle);
    HoloValue *up     = OP2("Mul", OP1("Sign", y), NUM(x, M_PI / 2)); // straight up or down; 0 at the origin
    return holo_torch_where(t, is_zero, up, turned);
}

// ---- bits and truth

static const struct {
    const char *bits, *bools;
} bit_ops[] = {{"BitwiseAnd", "And"}, {"BitwiseOr", "Or"}, {"BitwiseXor", "Xor"}};

static HoloValue *bitwise(HoloTorch *t, const HoloTv *a, int which)
{
    HoloValue *x, *y;
    return holo_torch_pair(t, a, &x, &y) == HOLO_BOOL ? OP2(bit_ops[which].bools, x, y)
                                                      : OP2(bit_ops[which].bits, x, y);
}

ONE(bit_and)
{
    return bitwise(t, a, 0);
}

ONE(bit_or)
{
    return bitwise(t, a, 1);
}

ONE(bit_xor)
{
    return bitwise(t, a, 2);
}

ONE(bit_not)
{
    HoloValue *x = V(0);
    return OP1(DTYPE(x) == HOLO_BOOL ? "Not" : "BitwiseNot", x);
}

static HoloValue *two_to(HoloTorch *t, HoloValue *y)
{
    return OP2("Pow", NUM(y, 2), y);
}

ONE(shift_left)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    return OP2("Mul", x, two_to(t, y));
}

ONE(shift_right)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    return holo_torch_floor_div(t, x, two_to(t, y));
}

static HoloValue *truth(HoloTorch *t, const HoloTv *v)
{
    return holo_torch_scalar(t, v, HOLO_BOOL);
}

ONE(logical_and)
{
    return OP2("And", truth(t, &a[0]), truth(t, &a[1]));
}

ONE(logical_or)
{
    return OP2("Or", truth(t, &a[0]), truth(t, &a[1]));
}

ONE(logical_xor)
{
    return OP2("Xor", truth(t, &a[0]), truth(t, &a[1]));
}

ONE(logical_not)
{
    if (a[0].kind == HOLO_TORCH_TENSOR) holo_torch_learn_mask(t, V(0));
    return OP1("Not", truth(t, &a[0]));
}

static HoloValue *compare(HoloTorch *t, const HoloTv *a, const char *op)
{
    HoloValue *x, *y;
    HoloDtype  dtype = holo_torch_pair(t, a, &x, &y);
    if (dtype == HOLO_BOOL && op[0] != 'E') {
        x = holo_emit_cast(t->e, x, HOLO_I32);
        y = holo_emit_cast(t->e, y, HOLO_I32);
    }
    return OP2(op, x, y);
}

ONE(eq)
{
    return compare(t, a, "Equal");
}

ONE(ne)
{
    return OP1("Not", compare(t, a, "Equal"));
}

ONE(lt)
{
    return compare(t, a, "Less");
}

ONE(le)
{
    return compare(t, a, "LessOrEqual");
}

ONE(gt)
{
    return compare(t, a, "Greater");
}

ONE(ge)
{
    return compare(t, a, "GreaterOrEqual");
}

ONE(is_close)
{
    HoloValue *x, *y;
    HoloDtype  dtype = holo_torch_float_of(holo_torch_pair(t, a, &x, &y));
    x                = holo_emit_cast(t->e, x, dtype);
    y                = holo_emit_cast(t->e, y, dtype);
    HoloValue *most  = OP2("Add", NUM(x, holo_torch_float(t, &a[3], 1e-8)),
                           OP2("Mul", NUM(x, holo_torch_float(t, &a[2], 1e-5)), OP1("Abs", y)));
    return OP2("Or", OP2("Equal", x, y), OP2("LessOrEqual", OP1("Abs", OP2("Sub", x, y)), most));
}

// ---- two operands, composed

ONE(hypot_of)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    return OP1("Sqrt", OP2("Add", OP2("Mul", x, x), OP2("Mul", y, y)));
}

ONE(copysign_of)
{
    HoloDtype  dtype = holo_torch_float_of(holo_torch_result(t, a, 2));
    HoloValue *x = OP1("Abs", holo_torch_scalar(t, &a[0], dtype)), *y = holo_torch_scalar(t, &a[1], dtype);
    HoloValue *is_below = OP2("Less", OP2("Div", NUM(y, 1), y), NUM(y, 0)); // also for -0
    return holo_torch_where(t, OP2("Or", is_below, OP2("Less", y, NUM(y, 0))), OP1("Neg", x), x);
}

ONE(xlogy)
{
    HoloDtype  dtype = holo_torch_float_of(holo_torch_result(t, a, 2));
    HoloValue *x = holo_torch_scalar(t, &a[0], dtype), *y = holo_torch_scalar(t, &a[1], dtype);
    return holo_torch_where(t, OP2("Equal", x, NUM(x, 0)), NUM(x, 0), OP2("Mul", x, OP1("Log", y)));
}

ONE(logaddexp)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    HoloValue *low = OP1("Exp", OP1("Neg", OP1("Abs", OP2("Sub", x, y))));
    return OP2("Add", OP2("Max", x, y), OP1("Log", OP2("Add", low, NUM(x, 1))));
}

ONE(lerp)
{
    HoloValue *x = V(0), *end = V(1), *weight = holo_torch_scalar(t, &a[2], DTYPE(x));
    return OP2("Add", x, OP2("Mul", weight, OP2("Sub", end, x)));
}

static HoloValue *add_composed(HoloTorch *t, const HoloTv *a, const char *op)
{
    HoloDtype  dtype = holo_torch_result(t, a, 3);
    HoloValue *y     = OP2(op, holo_torch_scalar(t, &a[1], dtype), holo_torch_scalar(t, &a[2], dtype));
    if (!holo_tv_is_none(&a[3])) y = OP2("Mul", y, holo_torch_scalar(t, &a[3], dtype));
    return OP2("Add", holo_torch_scalar(t, &a[0], dtype), y);
}

ONE(addcmul)
{
    return add_composed(t, a, "Mul");
}

ONE(addcdiv)
{
    return add_composed(t, a, "Div");
}

ONE(heaviside)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    HoloValue *step = holo_emit_cast(t->e, OP2("Greater", x, NUM(x, 0)), DTYPE(x));
    return holo_torch_where(t, OP2("Equal", x, NUM(x, 0)), y, step);
}

ONE(ldexp_of)
{
    HoloDtype dtype = holo_torch_float_of(holo_torch_result(t, a, 2));
    return OP2("Mul", holo_torch_scalar(t, &a[0], dtype), two_to(t, holo_torch_scalar(t, &a[1], dtype)));
}

ONE(masked_fill)
{
    HoloValue *x = V(0);
    holo_torch_learn_mask(t, V(1));
    return holo_torch_where(t, V(1), holo_torch_scalar(t, &a[2], DTYPE(x)), x);
}

// Bounds may be numbers or tensors, and either may be left out.
ONE(clamp)
{
    HoloDtype  dtype = holo_torch_result(t, a, 3);
    HoloValue *x     = holo_torch_scalar(t, &a[0], dtype);
    if (!holo_tv_is_none(&a[1])) x = OP2("Max", x, holo_torch_scalar(t, &a[1], dtype));
    if (!holo_tv_is_none(&a[2])) x = OP2("Min", x, holo_torch_scalar(t, &a[2], dtype));
    return x;
}

ONE(clamp_max)
{
    HoloTv all[3] = {a[0], {0}, a[1]};
    return clamp(t, all);
}

const HoloTorchOp holo_torch_pointwise[] = {
    ROW("add", "self other alpha", add),
    ROW("sub", "self other alpha", sub),
    ROW("subtract", "self other alpha", sub),
    ROW("rsub", "self other alpha", rsub),
    ROW("mul", "self other", mul),
    ROW("multiply", "self other", mul),
    ROW("div", "self other rounding_mode", divide),
    ROW("divide", "self other rounding_mode", divide),
    ROW("true_divide", "self other", divide),
    ROW("floor_divide", "self other", floor_divide),
    ROW("remainder", "self other", remainder_of),
    ROW("fmod", "self other", fmod_of),
    ROW("pow", "self exponent", power),
    ROW("float_power", "self exponent", float_power),
    ROW("maximum", "self other", maximum),
    ROW("minimum", "self other", minimum),
    ROW("fmax", "self other", fmax_of),
    ROW("fmin", "self other", fmin_of),
    ROW("atan2", "self other", atan2_of),
    ROW("arctan2", "self other", atan2_of),
    ROW("bitwise_and", "self other", bit_and),
    ROW("bitwise_or", "self other", bit_or),
    ROW("bitwise_xor", "self other", bit_xor),
    ROW("bitwise_not", "self", bit_not),
    ROW("bitwise_left_shift", "self other", shift_left),
    ROW("bitwise_right_shift", "self other", shift_right),
    ROW("__and__", "self other", bit_and),
    ROW("__or__", "self other", bit_or),
    ROW("__xor__", "self other", bit_xor),
    ROW("__lshift__", "self other", shift_left),
    ROW("__rshift__", "self other", shift_right),
    ROW("and", "self other", bit_and),
    ROW("or", "self other", bit_or),
    ROW("xor", "self other", bit_xor),
    ROW("logical_and", "self other", logical_and),
    ROW("logical_or", "self other", logical_or),
    ROW("logical_xor", "self other", logical_xor),
    ROW("logical_not", "self", logical_not),
    ROW("eq", "self other", eq),
    ROW("ne", "self other", ne),
    ROW("lt", "self other", lt),
    ROW("le", "self other", le),
    ROW("gt", "self other", gt),
    ROW("ge", "self other", ge),
    ROW("not_equal", "self other", ne),
    ROW("less", "self other", lt),
    ROW("less_equal", "self other", le),
    ROW("greater", "self other", gt),
    ROW("greater_equal", "self other", ge),
    ROW("isclose", "self other rtol atol equal_nan", is_close),
    ROW("hypot", "self other", hypot_of),
    ROW("copysign", "self other", copysign_of),
    ROW("xlogy", "self other", xlogy),
    ROW("special_xlogy", "self other", xlogy),
    ROW("logaddexp", "self other", logaddexp),
    ROW("lerp", "self end weight", lerp),
    ROW("addcmul", "self tensor1 tensor2 value", addcmul),
    ROW("addcdiv", "self tensor1 tensor2 value", addcdiv),
    ROW("heaviside", "self values", heaviside),
    ROW("ldexp", "self other", ldexp_of),
    ROW("masked_fill", "self mask value", masked_fill),
    ROW("clamp", "self min max", clamp),
    ROW("clip", "self min max", clamp),
    ROW("clamp_min", "self min", clamp),
    ROW("clamp_max", "self max", clamp_max),
    {0},
};
