// tiles_math.c - functions of floats over runs of lanes: f32 by vec_math.h, f64 by base/math/math.h.

// clang-format off
UNARY(floor, F32, float, __builtin_floorf(x))  UNARY(floor, F64, double, __builtin_floor(x))
UNARY(ceil, F32, float, __builtin_ceilf(x))    UNARY(ceil, F64, double, __builtin_ceil(x))
UNARY(round, F32, float, __builtin_rintf(x))   UNARY(round, F64, double, __builtin_rint(x))
UNARY(trunc, F32, float, __builtin_truncf(x))  UNARY(trunc, F64, double, __builtin_trunc(x))
UNARY(sqrt, F64, double, __builtin_sqrt(x))
UNARY(rsqrt, F64, double, 1 / __builtin_sqrt(x))
FLOATS(UNARY, rcp, 1 / x)
BINARY(floordiv, F32, float, __builtin_floorf(x / y))  BINARY(floordiv, F64, double, __builtin_floor(x / y))
// clang-format on

// ---- functions without vectors

#define PLAIN_1(name, id, type, function)                        \
    TILE(name##_##id)                                            \
    {                                                            \
        const type *a   = a_;                                    \
        type       *out = out_;                                  \
        (void)b_, (void)c_, (void)ones;                          \
        for (int64_t i = 0; i < n; i++) out[i] = function(a[i]); \
    }
#define PLAIN_2(name, id, type, function)                                                                     \
    TILE(name##_##id)                                                                                         \
    {                                                                                                         \
        const type *a = a_, *b = b_, first = *a, second = *b;                                                 \
        type       *out = out_;                                                                               \
        (void)c_;                                                                                             \
        for (int64_t i = 0; i < n; i++) out[i] = function(ones & 1 ? first : a[i], ones & 2 ? second : b[i]); \
    }

                            static double modulo_f64(double x, double y)
{
    double r = fmod(x, y);
    return r == 0 ? copysign(0, y) : (r < 0) != (y < 0) ? r + y : r;
}

static float modulo_f32(float x, float y)
{
    float r = fmodf(x, y);
    return r == 0 ? copysignf(0, y) : (r < 0) != (y < 0) ? r + y : r;
}

// The exponent is taken apart, so that powers of two give exact results.
static double log2_f64(double x)
{
    int    exponent = 0;
    double part     = x > 0 && x - x == 0 ? frexp(x, &exponent) : x;
    if (exponent && part < 0.7071067811865476) part *= 2, exponent--;
    return (double)exponent + holo_log(part) * 1.4426950408889634;
}

PLAIN_2(rem, F32, float, fmodf)
PLAIN_2(rem, F64, double, fmod)
PLAIN_2(mod, F32, float, modulo_f32)
PLAIN_2(mod, F64, double, modulo_f64)
PLAIN_1(exp, F64, double, holo_exp)
PLAIN_1(log, F64, double, holo_log)
PLAIN_1(log2, F64, double, log2_f64)
PLAIN_1(log10, F64, double, holo_log10)
PLAIN_1(sin, F64, double, holo_sin)
PLAIN_1(cos, F64, double, holo_cos)
PLAIN_1(tan, F64, double, holo_tan)
PLAIN_1(asin, F64, double, holo_asin)
PLAIN_1(acos, F64, double, holo_acos)
PLAIN_1(atan, F64, double, holo_atan)
PLAIN_1(tanh, F64, double, holo_tanh)
PLAIN_1(sigmoid, F64, double, holo_sigmoid)
PLAIN_1(erf, F64, double, holo_erf)
PLAIN_2(pow, F64, double, holo_pow)

// ---- f32, a register at a time

// Logarithms of base 2 and 10 are computed in double, where subnormal floats are normal numbers.
INL f32n n_log_base(f32n x, double unit)
{
    const f32n zero = {0}, top = zero + __builtin_inff();
    i32n       is_plain = (x > 0) & (x < top);
    f64w       w        = n_widen(n_select(is_plain, x, zero + 1.0f));
    for (int i = 0; i < 2; i++) w.half[i] = d_log2(w.half[i]) * unit;
    f32n other = n_select(x == 0, -top, n_select(x < 0, zero + __builtin_nanf(""), x));
    return n_select(is_plain, n_narrow(w), other);
}

#define VECTOR_1(name, expression)                         \
    TILE(name##_F32)                                       \
    {                                                      \
        const float *a   = a_;                             \
        float       *out = out_;                           \
        int64_t      i   = 0;                              \
        (void)b_, (void)c_, (void)ones;                    \
        for (; i + NATIVE_LANES <= n; i += NATIVE_LANES) { \
            f32n x             = *(const f32u *)(a + i);   \
            *(f32u *)(out + i) = expression;               \
        }                                                  \
        if (i == n) return;                                \
        f32n x = n_load_lanes(a + i, (int)(n - i));        \
        n_store_lanes(out + i, expression, (int)(n - i));  \
    }

VECTOR_1(sqrt, n_sqrt(x))
VECTOR_1(rsqrt, 1.0f / n_sqrt(x))
VECTOR_1(exp, n_exp(x))
VECTOR_1(log, n_log(x))
VECTOR_1(log2, n_log_base(x, 1))
VECTOR_1(log10, n_log_base(x, 0.3010299956639812))
VECTOR_1(sin, n_sin(x))
VECTOR_1(cos, n_cos(x))
VECTOR_1(tan, n_tan(x))
VECTOR_1(asin, n_asin(x))
VECTOR_1(acos, n_acos(x))
VECTOR_1(atan, n_atan(x))
VECTOR_1(tanh, n_tanh(x))
VECTOR_1(sigmoid, n_sigmoid(x))
VECTOR_1(erf, n_erf(x))

TILE(pow_F32)
{
    const float *a = a_, *b = b_, first = *a, second = *b; // the result may lie over them
    float       *out = out_;
    (void)c_;
    for (int64_t i = 0; i < n; i += NATIVE_LANES) {
        int  lanes = n - i < NATIVE_LANES ? (int)(n - i) : NATIVE_LANES;
        f32n x     = ones & 1 ? n_splat(first) : n_load_lanes(a + i, lanes);
        f32n y     = ones & 2 ? n_splat(second) : n_load_lanes(b + i, lanes);
        n_store_lanes(out + i, n_pow(x, y), lanes);
    }
}

// Rounded once at every level, with or without hardware support.
TERNARY(fma, F32, float, F32_FMA(x, y, z))
TERNARY(fma, F64, double, F64_FMA(x, y, z))
