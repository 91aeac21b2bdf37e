// binary.c - operators of two broadcast inputs: arithmetic, comparison, logic and bits.
#include "base/math/math.h"
#include "ops/pointwise.h"

#include <math.h>

// ---- arithmetic

// clang-format off
// Computed by tiles for types that have tiles, in a wider type for others. Integers wrap around.
#define X(id, operator)                                     \
    HOLO_KERNEL_2(id##_f64, double, double, x operator y)   \
    HOLO_KERNEL_2(id##_u64, uint64_t, uint64_t, x operator y)
X(Add, +)
X(Sub, -)
X(Mul, *)
#undef X
// clang-format on

// Integer quotients truncate. A quotient by 0 is 0; the lowest number divided by -1 wraps.
static inline int64_t divide(int64_t x, int64_t y)
{
    if (y == 0) return 0;
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static inline int64_t remainder_c(int64_t x, int64_t y)
{
    return y == 0 || y == -1 ? 0 : x % y;
}

// The remainder of floats. It is exact where the quotient is small, because the product of quotient and divisor is then
// exact in double. A quotient that was rounded up leaves a remainder with the wrong sign.
static inline float remainder_f32(float x, float y)
{
    double a = fabs((double)x), b = fabs((double)y), q = a / b;
    if (a < b) return x;
    if (!(q < 0x1p28)) return fmodf(x, y); // infinities and NaN, too
    double r = a - (double)(int32_t)q * b;
    return copysignf((float)(r < 0 ? r + b : r), x);
}

// The remainder has the sign of the divisor; for floats also where it is 0.
static inline int64_t remainder_python(int64_t x, int64_t y)
{
    int64_t r = remainder_c(x, y);
    return r && (r < 0) != (y < 0) ? r + y : r;
}

static inline double modulo_f64(double x, double y)
{
    double r = fmod(x, y);
    if (r == 0) return copysign(r, y);
    return (r < 0) != (y < 0) ? r + y : r;
}

static inline float modulo_f32(float x, float y)
{
    float r = remainder_f32(x, y);
    if (r == 0) return copysignf(r, y);
    return (r < 0) != (y < 0) ? r + y : r;
}

static inline uint64_t power(uint64_t x, uint64_t y)
{
    uint64_t result = 1;
    for (; y; y >>= 1, x *= x)
        if (y & 1) result *= x;
    return result;
}

// With a negative exponent the true result is a fraction, except for bases of 1 and -1.
static inline uint64_t power_signed(int64_t x, int64_t y)
{
    if (y >= 0) return power((uint64_t)x, (uint64_t)y);
    return x == 1 || x == -1 ? power((uint64_t)x, y & 1) : 0;
}

// clang-format off
HOLO_KERNEL_2(Div_f64, double, double, x / y)
HOLO_KERNEL_2(Div_i64, int64_t, int64_t, divide(x, y))
HOLO_KERNEL_2(Div_u64, uint64_t, uint64_t, y ? x / y : 0)
HOLO_KERNEL_2(Mod_i64, int64_t, int64_t, remainder_python(x, y))
HOLO_KERNEL_2(Mod_f64, double, double, modulo_f64(x, y))
HOLO_KERNEL_2(Mod_f32, float, float, modulo_f32(x, y))
HOLO_KERNEL_2(Mod_u64, uint64_t, uint64_t, y ? x % y : 0)
HOLO_KERNEL_2(Fmod_f64, double, double, fmod(x, y))
HOLO_KERNEL_2(Fmod_f32, float, float, remainder_f32(x, y))
HOLO_KERNEL_2(Fmod_i64, int64_t, int64_t, remainder_c(x, y))
HOLO_KERNEL_2(Pow_f64, double, double, holo_pow(x, y))
HOLO_KERNEL_2(Pow_i64, int64_t, int64_t, power_signed(x, y))
HOLO_KERNEL_2(Pow_u64, uint64_t, uint64_t, power(x, y))
// clang-format on

static HoloStatus mod_eval(HoloCall *call)
{
    static const HoloPointwiseRow c = {
        .f32 = Fmod_f32, .f64 = Fmod_f64, .i64 = Fmod_i64, .u64 = Mod_u64, .tile = HOLO_BY_TILE(REMAINDER)};
    static const HoloPointwiseRow python = {
        .f32 = Mod_f32, .f64 = Mod_f64, .i64 = Mod_i64, .u64 = Mod_u64, .tile = HOLO_BY_TILE(MODULO)};
    return holo_pointwise_eval_row(call, holo_attr_int(call, "fmod", 0) ? &c : &python);
}

// Base and exponent may have different types; the result has the base's type.
static HoloStatus pow_infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_NUMBER));
    HoloTensor        exponent = *call->in[1];
    const HoloTensor *in[2]    = {call->in[0], &exponent};
    HoloCall          same     = *call;
    exponent.dtype             = call->in[0]->dtype;
    same.in                    = in;
    return holo_pointwise_infer(&same);
}

static bool is_integer(const HoloTensor *t)
{
    return holo_dtype_class((HoloDtype)t->dtype) != HOLO_CLASS_FLOAT;
}

static HoloStatus pow_eval(HoloCall *call)
{
    static const HoloPointwiseRow real     = {.f64 = Pow_f64};
    static const HoloPointwiseRow integer  = {.i64 = Pow_i64};
    static const HoloPointwiseRow positive = {.i64 = Pow_u64};
    if (!is_integer(call->in[0]) || !is_integer(call->in[1])) return holo_pointwise_eval_row(call, &real);
    return holo_pointwise_eval_row(call, call->in[1]->dtype == HOLO_U64 ? &positive : &integer);
}

// ---- comparison

// 16-bit floats as integers in the same order, with -0 as 0. `inf` is the bit pattern of infinity; NaN is above it.
static inline int16_t half_key(uint16_t x)
{
    int16_t size = (int16_t)(x & 0x7fff);
    return x & 0x8000 ? (int16_t)-size : size;
}

static inline unsigned are_numbers(uint16_t x, uint16_t y, int16_t inf)
{
    return ((int16_t)(x & 0x7fff) <= inf) & ((int16_t)(y & 0x7fff) <= inf);
}

enum { F16_INF = 0x7c00, BF16_INF = 0x7f80 };

// clang-format off
#define X(id, operator)                                         \
    HOLO_KERNEL_2(id##_f64, int64_t, double, x operator y)      \
    HOLO_KERNEL_2(id##_i64, int64_t, int64_t, x operator y)     \
    HOLO_KERNEL_2(id##_u64, int64_t, uint64_t, x operator y)    \
    HOLO_KERNEL_2(id##_own_bool, uint8_t, uint8_t, (x != 0) operator (y != 0))                               \
    HOLO_KERNEL_2(id##_own_f16, uint8_t, uint16_t,                                                           \
                  are_numbers(x, y, F16_INF) & (half_key(x) operator half_key(y)))                           \
    HOLO_KERNEL_2(id##_own_bf16, uint8_t, uint16_t,                                                          \
                  are_numbers(x, y, BF16_INF) & (half_key(x) operator half_key(y)))                          \
    static const HoloOwnFns id##_own = {[HOLO_F16] = id##_own_f16, [HOLO_BF16] = id##_own_bf16,              \
                                        [HOLO_BOOL] = id##_own_bool};
X(Equal, ==)
X(Less, <)
X(Greater, >)
X(LessOrEqual, <=)
X(GreaterOrEqual, >=)
#undef X
HOLO_KERNEL_2(Equal_string, int64_t, HoloString, holo_string_equal(x, y))
// clang-format on

// ---- logic and bits

// clang-format off
#define X(id, formula) HOLO_KERNEL_2(id, uint64_t, uint64_t, formula)
X(and_u64, x & y)
X(or_u64, x | y)
X(xor_u64, x ^ y)
X(shift_left, y < 64 ? x << y : 0)
X(shift_right, y < 64 ? x >> y : 0)
#undef X
HOLO_KERNEL_2(shift_right_i64, int64_t, int64_t, x >> (y >= 0 && y < 63 ? y : 63))
// clang-format on

// A bool is true if its byte is not 0.
// clang-format off
#define X(id, operator)                                                              \
    HOLO_KERNEL_2(id##_bool, uint8_t, uint8_t, (x != 0) operator (y != 0))           \
    static const HoloOwnFns id##_own = {[HOLO_BOOL] = id##_bool};
X(and, &)
X(or, |)
X(xor, ^)
#undef X
HOLO_KERNEL_2(shift_left_u8, uint8_t, uint8_t, y < 8 ? x << y : 0)
HOLO_KERNEL_2(shift_right_u8, uint8_t, uint8_t, y < 8 ? x >> y : 0)
// clang-format on

// A shift by a negative number of bits, or by the type's width or more, shifts all bits out. A right shift leaves the
// sign bits.
static HoloStatus shift_eval(HoloCall *call)
{
    static const HoloOwnFns       left_own = {[HOLO_U8] = shift_left_u8}, right_own = {[HOLO_U8] = shift_right_u8};
    static const HoloPointwiseRow left    = {.u64 = shift_left, .i64 = shift_left, .own = &left_own};
    static const HoloPointwiseRow right   = {.u64 = shift_right, .i64 = shift_right_i64, .own = &right_own};
    bool                          is_left = holo_attr_is(call, "direction", "", "LEFT");
    if (!is_left && !holo_attr_is(call, "direction", "", "RIGHT"))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the attribute direction is neither \"LEFT\" nor \"RIGHT\"");
    return holo_pointwise_eval_row(call, is_left ? &left : &right);
}

// clang-format off
#define ROW_OF(each, more, id, version, accepted, inference, evaluation, ...)                           \
    {.name = #id, .domain = "", .since = version, .in_min = 2, .in_max = 2, .out_min = 1, .out_max = 1, \
     .types = accepted, .flags = HOLO_OP_POINTWISE | (more), .cost = each, .infer = inference,          \
     .eval = evaluation, .row = &(const HoloPointwiseRow){__VA_ARGS__}}
#define ROW(...) ROW_OF(0, 0, __VA_ARGS__)
#define COMMUTES(id, version, types, ...) \
    ROW_OF(0, HOLO_OP_COMMUTES, id, version, types, holo_pointwise_infer, holo_pointwise_eval, __VA_ARGS__)
#define PLAIN(id, version, types, ...) ROW(id, version, types, holo_pointwise_infer, holo_pointwise_eval, __VA_ARGS__)
#define ARITHMETIC(kind, id, tile_id) \
    kind(id, 1, HOLO_TYPES_NUMBER, .f64 = id##_f64, .i64 = id##_u64, .has_axis = true, .tile = HOLO_BY_TILE(tile_id))
#define COMPARISON(kind, id, tile_id, version, types, ...)                                                         \
    kind(id, version, types, .tile = HOLO_BY_TILE(tile_id), .f64 = id##_f64, .i64 = id##_i64, .u64 = id##_u64, .own = &id##_own,           \
          .is_predicate = true, __VA_ARGS__)

const HoloOp holo_ops_binary[] = {
    ARITHMETIC(COMMUTES, Add, ADD),
    ARITHMETIC(PLAIN, Sub, SUB),
    ARITHMETIC(COMMUTES, Mul, MUL),
    PLAIN(Div, 1, HOLO_TYPES_NUMBER, .f64 = Div_f64, .i64 = Div_i64, .u64 = Div_u64,
          .has_axis = true, .tile = HOLO_BY_TILE(QUOTIENT)),
    ROW(Mod, 10, HOLO_TYPES_NUMBER, holo_pointwise_infer, mod_eval, .has_axis = false),
    ROW_OF(HOLO_COST_HEAVY, 0, Pow, 1, HOLO_TYPES_NUMBER, pow_infer, pow_eval, .has_axis = true),
    COMPARISON(COMMUTES, Equal, SET_EQ, 1, HOLO_TYPES_NUMBER | HOLO_BIT(BOOL) | HOLO_BIT(STRING), .wide = Equal_string,
               .has_axis = true),
    COMPARISON(PLAIN, Less, SET_LT, 1, HOLO_TYPES_NUMBER, .has_axis = true),
    COMPARISON(PLAIN, Greater, SET_LT, 1, HOLO_TYPES_NUMBER, .has_axis = true, .is_swapped = true),
    COMPARISON(PLAIN, LessOrEqual, SET_LE, 12, HOLO_TYPES_NUMBER, .has_axis = false),
    COMPARISON(PLAIN, GreaterOrEqual, SET_LE, 12, HOLO_TYPES_NUMBER, .has_axis = false, .is_swapped = true),
    COMMUTES(And, 1, HOLO_BIT(BOOL), .i64 = and_u64, .own = &and_own, .has_axis = true),
    COMMUTES(Or, 1, HOLO_BIT(BOOL), .i64 = or_u64, .own = &or_own, .has_axis = true),
    COMMUTES(Xor, 1, HOLO_BIT(BOOL), .i64 = xor_u64, .own = &xor_own, .has_axis = true),
    COMMUTES(BitwiseAnd, 18, HOLO_TYPES_INT | HOLO_TYPES_UINT, .i64 = and_u64, .tile = HOLO_BY_TILE(AND)),
    COMMUTES(BitwiseOr, 18, HOLO_TYPES_INT | HOLO_TYPES_UINT, .i64 = or_u64, .tile = HOLO_BY_TILE(OR)),
    COMMUTES(BitwiseXor, 18, HOLO_TYPES_INT | HOLO_TYPES_UINT, .i64 = xor_u64, .tile = HOLO_BY_TILE(XOR)),
    ROW(BitShift, 11, HOLO_TYPES_INT | HOLO_TYPES_UINT, holo_pointwise_infer, shift_eval, .has_axis = false),
    {0},
};
// clang-format on
