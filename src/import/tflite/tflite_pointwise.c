// tflite_pointwise.c - operators that work element by element.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <math.h>
#include <string.h>

// ---- of one operand

void holo_tf_unary(HoloTfOp *op)
{
    holo_tf_give_real(op, 0, holo_tf_one(op, op->row->arg, holo_tf_real(op, 0)));
}

void holo_tf_rsqrt(HoloTfOp *op)
{
    holo_tf_give_real(op, 0, holo_tf_one(op, "Reciprocal", holo_tf_one(op, "Sqrt", holo_tf_real(op, 0))));
}

void holo_tf_square(HoloTfOp *op)
{
    HoloValue *x = holo_tf_real(op, 0);
    holo_tf_give_real(op, 0, holo_tf_two(op, "Mul", x, x));
}

void holo_tf_cbrt(HoloTfOp *op)
{
    HoloValue *x = holo_tf_real(op, 0);
    HoloValue *y = holo_tf_two(op, "Pow", holo_tf_one(op, "Abs", x), holo_tf_like(op, x, 1.0 / 3));
    holo_tf_give_real(op, 0, holo_tf_two(op, "Mul", holo_tf_one(op, "Sign", x), y));
}

// The activation is the argument: 1 for RELU and so on; 0 cuts off below 0 and above 1.
void holo_tf_relu(HoloTfOp *op)
{
    int        activation = op->row->arg[0] - '0';
    HoloValue *x          = holo_tf_real(op, 0);
    if (activation)
        holo_tf_give_active(op, 0, x, activation);
    else
        holo_tf_give_real(op, 0,
                          x ? holo_emit(op->e, "Clip", HOLO_IN(x, holo_tf_like(op, x, 0), holo_tf_like(op, x, 1)), NULL)
                            : NULL);
}

void holo_tf_leaky_relu(HoloTfOp *op)
{
    HoloValue *x     = holo_tf_real(op, 0);
    double     alpha = (double)holo_flat_f32(op->options, LEAKY_ALPHA, 0);
    holo_tf_give_real(
        op, 0, x ? holo_emit(op->e, "LeakyRelu", HOLO_IN(x), HOLO_ATTRS(holo_with_float("alpha", alpha))) : NULL);
}

void holo_tf_gelu(HoloTfOp *op)
{
    HoloValue  *x    = holo_tf_real(op, 0);
    const char *form = holo_flat_u8(op->options, GELU_APPROXIMATE, 0) ? "tanh" : "none";
    holo_tf_give_real(op, 0,
                      x ? holo_emit(op->e, "Gelu", HOLO_IN(x), HOLO_ATTRS(holo_with_text("approximate", form))) : NULL);
}

void holo_tf_logical_not(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    holo_tf_give(op, 0, holo_tf_one(op, holo_emit_dtype(x) == HOLO_BOOL ? "Not" : "BitwiseNot", x));
}

void holo_tf_zeros_like(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    if (!x) return;
    HoloTensor zero = {
        .dtype = x->type.dtype, .rank = 1, .dim = {1}, .data = holo_arena_take(op->im->import->arena, 16)};
    HoloAttr attr = {.name = "value", .kind = HOLO_ATTR_TENSOR, .count = 1, .tensor = &zero};
    if (zero.data) memset(zero.data, 0, 16);
    holo_tf_give(op, 0, holo_emit(op->e, "ConstantOfShape", HOLO_IN(holo_emit_shape(op->e, x)), HOLO_ATTRS(attr)));
}

// Elements become those of another type. Types of one size are meant; 16 bits or 32 may also be cut into smaller ones.
void holo_tf_bitcast(HoloTfOp *op)
{
    HoloValue          *x = holo_tf_in(op, 0);
    const HoloTfTensor *t = holo_tf_tensor_out(op, 0);
    if (!x || !t) return;
    if (holo_dtype_size(holo_emit_dtype(x)) != holo_dtype_size(t->dtype)) {
        holo_tf_fail(op, "elements of %zu bytes cannot become those of %zu bytes", holo_dtype_size(holo_emit_dtype(x)),
                     holo_dtype_size(t->dtype));
        return;
    }
    holo_tf_give(op, 0, holo_emit(op->e, "BitCast@26", HOLO_IN(x), HOLO_ATTRS(holo_with_int("to", t->dtype))));
}

// Rounds to the steps of so many bits between two bounds, which are moved so that 0 is a step.
void holo_tf_fake_quant(HoloTfOp *op)
{
    HoloValue *x   = holo_tf_real(op, 0);
    double     low = (double)holo_flat_f32(op->options, FAKE_MIN, 0),
           high    = (double)holo_flat_f32(op->options, FAKE_MAX, 0);
    int64_t bits   = holo_flat_i32(op->options, FAKE_BITS, 8);
    double  least  = holo_flat_u8(op->options, FAKE_NARROW, 0) ? 1 : 0;
    if (bits < 2 || bits > 16 || !(low <= 0 && high >= 0 && high > low)) {
        holo_tf_fail(op, "%lld bits from %g to %g cannot be quantized", (long long)bits, low, high);
        return;
    }
    double most = ldexp(1, (int)bits) - 1, scale = (high - low) / (most - least), zero = round(least - low / scale);
    zero             = fmin(fmax(zero, least), most);
    double     lower = (least - zero) * scale, upper = (most - zero) * scale;
    HoloValue *y =
        x ? holo_emit(op->e, "Clip", HOLO_IN(x, holo_tf_f32(op, lower), holo_tf_f32(op, upper)), NULL) : NULL;
    y = holo_tf_two(op, "Div", holo_tf_two(op, "Sub", y, holo_tf_f32(op, lower)), holo_tf_f32(op, scale));
    y = holo_tf_one(op, "Floor", holo_tf_two(op, "Add", y, holo_tf_f32(op, 0.5)));
    holo_tf_give_real(
        op, 0, holo_tf_two(op, "Add", holo_tf_two(op, "Mul", y, holo_tf_f32(op, scale)), holo_tf_f32(op, lower)));
}

// ---- of two operands

void holo_tf_binary(HoloTfOp *op)
{
    holo_tf_give_real(op, 0, holo_tf_two(op, op->row->arg, holo_tf_real(op, 0), holo_tf_real(op, 1)));
}

void holo_tf_binary_active(HoloTfOp *op)
{
    HoloValue *y = holo_tf_two(op, op->row->arg, holo_tf_real(op, 0), holo_tf_real(op, 1));
    holo_tf_give_active(op, 0, y, holo_flat_i8(op->options, BINARY_ACTIVATION, 0));
}

// The larger or the smaller of integers with the same scale is one of them.
void holo_tf_extreme(HoloTfOp *op)
{
    const HoloTfTensor *a = holo_tf_tensor_in(op, 0), *b = holo_tf_tensor_in(op, 1), *y = holo_tf_tensor_out(op, 0);
    if (holo_tf_same_scale(a, b) && holo_tf_same_scale(a, y))
        holo_tf_give(op, 0, holo_tf_two(op, op->row->arg, holo_tf_in(op, 0), holo_tf_in(op, 1)));
    else
        holo_tf_binary(op);
}

void holo_tf_compare(HoloTfOp *op)
{
    holo_tf_give(op, 0, holo_tf_two(op, op->row->arg, holo_tf_real(op, 0), holo_tf_real(op, 1)));
}

void holo_tf_not_equal(HoloTfOp *op)
{
    holo_tf_give(op, 0, holo_tf_one(op, "Not", holo_tf_two(op, "Equal", holo_tf_real(op, 0), holo_tf_real(op, 1))));
}

// And, Or, Xor: of truths or of bits.
void holo_tf_logical(HoloTfOp *op)
{
    HoloValue *a = holo_tf_in(op, 0), *b = holo_tf_in(op, 1);
    char       bits[32] = "Bitwise";
    strncat(bits, op->row->arg, 8);
    holo_tf_give(op, 0, holo_tf_two(op, holo_emit_dtype(a) == HOLO_BOOL ? op->row->arg : bits, a, b));
}

void holo_tf_squared_difference(HoloTfOp *op)
{
    HoloValue *d = holo_tf_two(op, "Sub", holo_tf_real(op, 0), holo_tf_real(op, 1));
    holo_tf_give_real(op, 0, holo_tf_two(op, "Mul", d, d));
}

static bool is_float(const HoloValue *x)
{
    return x && holo_dtype_class((HoloDtype)x->type.dtype) == HOLO_CLASS_FLOAT;
}

// The remainder, with the sign of the divisor.
static HoloValue *modulo(HoloTfOp *op, HoloValue *a, HoloValue *b)
{
    if (!a || !b) return NULL;
    if (!is_float(a)) return holo_tf_two(op, "Mod", a, b);
    HoloValue *r    = holo_emit(op->e, "Mod", HOLO_IN(a, b), HOLO_ATTRS(holo_with_int("fmod", 1)));
    HoloValue *zero = holo_tf_like(op, a, 0);
    HoloValue *differs =
        holo_tf_two(op, "Less", holo_tf_two(op, "Mul", holo_tf_one(op, "Sign", r), holo_tf_one(op, "Sign", b)), zero);
    return differs ? holo_emit(op->e, "Where", HOLO_IN(differs, holo_tf_two(op, "Add", r, b), r), NULL) : NULL;
}

void holo_tf_floor_mod(HoloTfOp *op)
{
    holo_tf_give_real(op, 0, modulo(op, holo_tf_real(op, 0), holo_tf_real(op, 1)));
}

void holo_tf_floor_div(HoloTfOp *op)
{
    HoloValue *a = holo_tf_real(op, 0), *b = holo_tf_real(op, 1);
    if (is_float(a))
        holo_tf_give_real(op, 0, holo_tf_one(op, "Floor", holo_tf_two(op, "Div", a, b)));
    else
        holo_tf_give_real(op, 0, holo_tf_two(op, "Div", holo_tf_two(op, "Sub", a, modulo(op, a, b)), b));
}

// The remainder, with the sign of the dividend.
void holo_tf_remainder(HoloTfOp *op)
{
    HoloValue *a = holo_tf_real(op, 0), *b = holo_tf_real(op, 1);
    holo_tf_give_real(op, 0,
                      a && b ? holo_emit(op->e, "Mod", HOLO_IN(a, b), HOLO_ATTRS(holo_with_int("fmod", 1))) : NULL);
}

// The angle of (x, y): that of y/x, half a turn further where x < 0.
void holo_tf_atan2(HoloTfOp *op)
{
    const double pi = 3.14159265358979323846;
    HoloValue   *y = holo_tf_in(op, 0), *x = holo_tf_in(op, 1);
    if (!x || !y) return;
    HoloValue *zero = holo_tf_like(op, x, 0), *up = holo_tf_two(op, "GreaterOrEqual", y, zero);
    HoloValue *half  = holo_emit(op->e, "Where", HOLO_IN(up, holo_tf_like(op, x, pi), holo_tf_like(op, x, -pi)), NULL);
    HoloValue *turn  = holo_emit(op->e, "Where", HOLO_IN(holo_tf_two(op, "Less", x, zero), half, zero), NULL);
    HoloValue *is_0  = holo_tf_two(op, "Equal", x, zero);
    HoloValue *safe  = holo_emit(op->e, "Where", HOLO_IN(is_0, holo_tf_like(op, x, 1), x), NULL);
    HoloValue *plain = holo_tf_two(op, "Add", holo_tf_one(op, "Atan", holo_tf_two(op, "Div", y, safe)), turn);
    HoloValue *side  = holo_tf_two(op, "Mul", holo_tf_one(op, "Sign", y), holo_tf_like(op, x, pi / 2));
    holo_tf_give(op, 0, holo_emit(op->e, "Where", HOLO_IN(is_0, side, plain), NULL));
}

// 2 to the power of b, of the type of a.
static HoloValue *power_of_2(HoloTfOp *op, HoloValue *a, HoloValue *b)
{
    int        bits = a ? holo_dtype_bits(holo_emit_dtype(a)) : 0;
    HoloValue *times =
        b ? holo_emit(op->e, "Clip", HOLO_IN(b, holo_tf_like(op, b, 0), holo_tf_like(op, b, bits - 1)), NULL) : NULL;
    times          = times ? holo_emit_cast(op->e, times, HOLO_U64) : NULL;
    HoloValue *one = holo_emit_number(op->e, HOLO_U64, 1);
    HoloValue *power =
        times ? holo_emit(op->e, "BitShift", HOLO_IN(one, times), HOLO_ATTRS(holo_with_text("direction", "LEFT")))
              : NULL;
    return power ? holo_emit_cast(op->e, power, HOLO_I64) : NULL;
}

// Rounds down, as shifts of negative numbers do.
void holo_tf_right_shift(HoloTfOp *op)
{
    HoloValue *a = holo_tf_in(op, 0), *power = power_of_2(op, a, holo_tf_in(op, 1)),
              *x    = a ? holo_emit_cast(op->e, a, HOLO_I64) : NULL;
    HoloValue *rest = holo_tf_two(op, "Mod", x, power);
    holo_tf_give(op, 0, holo_tf_two(op, "Div", holo_tf_two(op, "Sub", x, rest), power));
}

void holo_tf_left_shift(HoloTfOp *op)
{
    HoloValue *a = holo_tf_in(op, 0), *power = power_of_2(op, a, holo_tf_in(op, 1));
    holo_tf_give(op, 0, a ? holo_tf_two(op, "Mul", holo_emit_cast(op->e, a, HOLO_I64), power) : NULL);
}

// ---- of more operands

void holo_tf_prelu(HoloTfOp *op)
{
    holo_tf_give_real(op, 0, holo_tf_two(op, "PRelu", holo_tf_real(op, 0), holo_tf_real(op, 1)));
}

void holo_tf_add_n(HoloTfOp *op)
{
    HoloValue *sum = holo_tf_real(op, 0);
    for (size_t i = 1; i < op->in.count; i++) sum = holo_tf_two(op, "Add", sum, holo_tf_real(op, (int)i));
    if (op->in.count == 1) sum = holo_tf_one(op, "Identity", sum);
    holo_tf_give_real(op, 0, sum);
}

// The old form chooses whole rows if its condition is a list.
void holo_tf_select(HoloTfOp *op)
{
    const HoloTfTensor *a = holo_tf_tensor_in(op, 1), *b = holo_tf_tensor_in(op, 2), *y = holo_tf_tensor_out(op, 0);
    bool                plain     = holo_tf_same_scale(a, b) && holo_tf_same_scale(a, y);
    HoloValue          *condition = holo_tf_in(op, 0), *x = plain ? holo_tf_in(op, 1) : holo_tf_real(op, 1);
    HoloValue          *z = plain ? holo_tf_in(op, 2) : holo_tf_real(op, 2);
    if (!condition || !x || !z) return;
    int64_t axes[HOLO_MAX_RANK];
    int     more = op->row->arg[0] == '1' && condition->type.rank == 1 ? x->type.rank - 1 : 0;
    for (int i = 0; i < more; i++) axes[i] = i + 1;
    if (more > 0) condition = holo_emit_unsqueeze(op->e, condition, axes, more);
    x = holo_emit(op->e, "Where", HOLO_IN(condition, x, z), NULL);
    if (plain)
        holo_tf_give(op, 0, x);
    else
        holo_tf_give_real(op, 0, x);
}

void holo_tf_clamp(HoloTfOp *op) // least, x, most
{
    HoloValue *x = holo_tf_two(op, "Max", holo_tf_real(op, 0), holo_tf_real(op, 1));
    holo_tf_give_real(op, 0, holo_tf_two(op, "Min", x, holo_tf_real(op, 2)));
}

// ---- types

void holo_tf_cast(HoloTfOp *op)
{
    const HoloTfTensor *y = holo_tf_tensor_out(op, 0);
    HoloValue          *x = holo_tf_in(op, 0);
    if (!x || !y) return;
    HoloDtype to = y->dtype;
    if (holo_dtype_class(holo_emit_dtype(x)) == HOLO_CLASS_COMPLEX && holo_dtype_class(to) != HOLO_CLASS_COMPLEX) {
        holo_tf_fail(op, "complex numbers cannot be cast");
        return;
    }
    holo_tf_give(op, 0, holo_emit_dtype(x) == to ? holo_tf_one(op, "Identity", x) : holo_emit_cast(op->e, x, to));
}

// Narrow floats become f32, and integers with a scale the real numbers that they stand for.
void holo_tf_dequantize_op(HoloTfOp *op)
{
    const HoloTfTensor *x = holo_tf_tensor_in(op, 0);
    HoloValue          *v = holo_tf_in(op, 0);
    if (!v || !x) return;
    if (holo_dtype_class(x->dtype) == HOLO_CLASS_FLOAT)
        holo_tf_give(op, 0, holo_emit_cast(op->e, v, HOLO_F32));
    else if (holo_tf_is_scaled(x) || x->scaled.count)
        holo_tf_give(op, 0, holo_tf_dequantize(op, x, v, x->scaled.axis));
    else
        holo_tf_fail(op, "tensor '%.200s' has no scale", x->name);
}

// From real numbers, or from integers of another scale.
void holo_tf_quantize_op(HoloTfOp *op)
{
    const HoloTfTensor *y = holo_tf_tensor_out(op, 0);
    const HoloTfTensor *t = holo_tf_tensor_in(op, 0);
    HoloValue          *x = holo_tf_real(op, 0);
    if (!x || !y) return;
    if (t->type == TYPE_I32 && t->scaled.count) x = holo_tf_dequantize(op, t, x, 0);
    if (holo_tf_is_scaled(y))
        holo_tf_give(op, 0, holo_tf_quantize(op, y, x));
    else if (y->type == TYPE_I32 && y->scaled.count == 1 && y->scaled.first_zero == 0)
        holo_tf_give(
            op, 0,
            holo_emit_cast(op->e, holo_tf_one(op, "Round", holo_tf_two(op, "Div", x, holo_tf_f32(op, y->scaled.first))),
                           HOLO_I32));
    else
        holo_tf_give(op, 0, holo_emit_cast(op->e, x, y->dtype));
}

void holo_tf_identity(HoloTfOp *op)
{
    holo_tf_give(op, 0, holo_tf_in(op, 0));
}
