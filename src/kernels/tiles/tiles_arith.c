// tiles_arith.c - arithmetic, bits, comparisons and conversions over runs of lanes.

INL f32n n_splat(float x)
{
    return x - (f32n){0};
}

#define TILE(name) static void name(int64_t n, const void *a_, const void *b_, const void *c_, void *out_, int ones)

#define UNARY(name, id, type, expression)    \
    TILE(name##_##id)                        \
    {                                        \
        const type *a   = a_;                \
        type       *out = out_;              \
        (void)b_, (void)c_, (void)ones;      \
        SIMD for (int64_t i = 0; i < n; i++) \
        {                                    \
            type x = a[i];                   \
            out[i] = (type)(expression);     \
        }                                    \
    }

// Operands that are one number have loops of their own.
#define BINARY_LOOP(type, a_at, b_at, expression) \
    SIMD for (int64_t i = 0; i < n; i++)          \
    {                                             \
        type x = a_at, y = b_at;                  \
        out[i] = (expression);                    \
    }

#define BINARY_TO(to, name, id, type, expression)             \
    TILE(name##_##id)                                         \
    {                                                         \
        const type *a = a_, *b = b_, first = *a, second = *b; \
        to         *out = out_;                               \
        (void)c_;                                             \
        if (ones == 1)                                        \
            BINARY_LOOP(type, first, b[i], (to)(expression))  \
        else if (ones == 2)                                   \
            BINARY_LOOP(type, a[i], second, (to)(expression)) \
        else                                                  \
            BINARY_LOOP(type, a[i], b[i], (to)(expression))   \
    }
#define BINARY(name, id, type, expression) BINARY_TO(type, name, id, type, expression)

#define TERNARY_LOOP(type, a_at, b_at, c_at, expression) \
    SIMD for (int64_t i = 0; i < n; i++)                 \
    {                                                    \
        type x = a_at, y = b_at, z = c_at;               \
        out[i] = (type)(expression);                     \
    }

#define TERNARY(name, id, type, expression)                                        \
    TILE(name##_##id)                                                              \
    {                                                                              \
        const type *a = a_, *b = b_, *c = c_, first = *a, second = *b, third = *c; \
        type       *out = out_;                                                    \
        switch (ones) {                                                            \
        case 2: TERNARY_LOOP(type, a[i], second, c[i], expression) break;          \
        case 4: TERNARY_LOOP(type, a[i], b[i], third, expression) break;           \
        case 6: TERNARY_LOOP(type, a[i], second, third, expression) break;         \
        case 0: TERNARY_LOOP(type, a[i], b[i], c[i], expression) break;            \
        default: /* seldom: a is one number */                                     \
            for (int64_t i = 0; i < n; i++) {                                      \
                type x = first, y = ones & 2 ? second : b[i];                      \
                type z = ones & 4 ? third : c[i];                                  \
                out[i] = (type)(expression);                                       \
            }                                                                      \
        }                                                                          \
    }

#define WIDTHS(MAKE, name, expression)  \
    MAKE(name, U8, uint8_t, expression) \
    MAKE(name, U16, uint16_t, expression) MAKE(name, U32, uint32_t, expression) MAKE(name, U64, uint64_t, expression)
#define SIGNED_INTEGERS(MAKE, name, expression) \
    MAKE(name, I8, int8_t, expression)          \
    MAKE(name, I16, int16_t, expression) MAKE(name, I32, int32_t, expression) MAKE(name, I64, int64_t, expression)
#define FLOATS(MAKE, name, expression) MAKE(name, F32, float, expression) MAKE(name, F64, double, expression)

// clang-format off

// Arithmetic modulo a power of two is the same for signed and unsigned numbers. Products of short numbers are computed
// unsigned, because they would overflow an int.
WIDTHS(BINARY, add, x + y)  FLOATS(BINARY, add, x + y)
WIDTHS(BINARY, sub, x - y)  FLOATS(BINARY, sub, x - y)
WIDTHS(BINARY, mul, 1u * x * y)  FLOATS(BINARY, mul, x * y)
WIDTHS(TERNARY, mad, 1u * x * y + z)  FLOATS(TERNARY, mad, x * y + z)
FLOATS(BINARY, div, x / y)
WIDTHS(BINARY, and, x & y)
WIDTHS(BINARY, or, x | y)
WIDTHS(BINARY, xor, x ^ y)
WIDTHS(UNARY, not, ~x)
WIDTHS(BINARY, shl, (uint64_t)x << (y & (sizeof x * 8 - 1)))
WIDTHS(BINARY, shr, x >> (y & (sizeof x * 8 - 1)))
SIGNED_INTEGERS(BINARY, shr, x >> (y & (sizeof x * 8 - 1)))
SIGNED_INTEGERS(BINARY, min, x < y ? x : y)  WIDTHS(BINARY, min, x < y ? x : y)
SIGNED_INTEGERS(BINARY, max, x > y ? x : y)  WIDTHS(BINARY, max, x > y ? x : y)
FLOATS(BINARY, min, x != x ? x : x < y ? x : y)
FLOATS(BINARY, max, x != x ? x : x > y ? x : y)
SIGNED_INTEGERS(TERNARY, clip, (x < y ? y : x) > z ? z : (x < y ? y : x))
WIDTHS(TERNARY, clip, (x < y ? y : x) > z ? z : (x < y ? y : x))
FLOATS(TERNARY, clip, (x < y ? y : x) > z ? z : (x < y ? y : x))
SIGNED_INTEGERS(UNARY, abs, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
SIGNED_INTEGERS(UNARY, neg, 0 - (uint64_t)x)
SIGNED_INTEGERS(UNARY, sign, (x > 0) - (x < 0))
FLOATS(UNARY, neg, -x)
FLOATS(UNARY, sign, x > 0 ? 1 : x < 0 ? -1 : x)
UNARY(abs, F32, float, __builtin_fabsf(x))
UNARY(abs, F64, double, __builtin_fabs(x))
WIDTHS(UNARY, popc, __builtin_popcountll(x))
WIDTHS(UNARY, clz, x ? __builtin_clzll(x) - (64 - 8 * (int)sizeof x) : 8 * (int)sizeof x)

// The 96 classes of bytes, and the mirror of a class: modalities 1 and 2 exchanged.
#define CLASS_OF  ((((unsigned)x >> 6 & 3) * 3 + ((unsigned)x >> 4 & 3) % 3) * 8 + ((unsigned)x >> 1 & 7))
#define MIRROR_OF (x >= 0 && x < 96 ? x + (x / 8 % 3 == 1 ? 8 : x / 8 % 3 == 2 ? -8 : 0) : x)
SIGNED_INTEGERS(UNARY, class, CLASS_OF)  WIDTHS(UNARY, class, CLASS_OF)
SIGNED_INTEGERS(UNARY, mirror, MIRROR_OF)
#undef MIRROR_OF
#define MIRROR_OF (x < 96 ? x + (x / 8 % 3 == 1 ? 8 : x / 8 % 3 == 2 ? -8 : 0) : x)
WIDTHS(UNARY, mirror, MIRROR_OF)

// Division: towards zero and down. The smallest number by -1 wraps.
#define DIVIDE    (y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y))
#define REMAINDER (y == -1 ? 0 : x % y)
SIGNED_INTEGERS(BINARY, div, DIVIDE)
SIGNED_INTEGERS(BINARY, rem, REMAINDER)
SIGNED_INTEGERS(BINARY, floordiv, DIVIDE - (uint64_t)(REMAINDER != 0 && (x < 0) != (y < 0)))
SIGNED_INTEGERS(BINARY, mod, REMAINDER + (REMAINDER != 0 && (x < 0) != (y < 0) ? y : 0))
WIDTHS(BINARY, div, x / y)
WIDTHS(BINARY, rem, x % y)
WIDTHS(BINARY, floordiv, x / y)
WIDTHS(BINARY, mod, x % y)

// Divides in double, which is precise enough for each quotient to be truncated to the right integer: CPUs have no
// integer division of vectors. The smallest number divided by -1 wraps.
INL int32_t quotient(int32_t x, int32_t y)
{
    double q = (double)x / (double)(y ? y : 1);
    return y ? (int32_t)(q > INT32_MAX ? INT32_MIN : q) : 0;
}

INL int32_t remainder_of(int32_t x, int32_t y)
{
    return y ? (int32_t)((uint32_t)x - (uint32_t)quotient(x, y) * (uint32_t)y) : 0;
}

INL int32_t modulo_of(int32_t x, int32_t y)
{
    int32_t r = remainder_of(x, y);
    return r && (r < 0) != (y < 0) ? r + y : r;
}

BINARY(quotient, I32, int32_t, quotient(x, y))
BINARY(remainder, I32, int32_t, remainder_of(x, y))
BINARY(modulo, I32, int32_t, modulo_of(x, y))

#define SET(name, id, type, expression) BINARY_TO(uint8_t, name, id, type, expression)
WIDTHS(SET, set_eq, x == y)  FLOATS(SET, set_eq, x == y)
WIDTHS(SET, set_ne, x != y)  FLOATS(SET, set_ne, x != y)
WIDTHS(SET, set_lt, x < y)  SIGNED_INTEGERS(SET, set_lt, x < y)  FLOATS(SET, set_lt, x < y)
WIDTHS(SET, set_le, x <= y)  SIGNED_INTEGERS(SET, set_le, x <= y)  FLOATS(SET, set_le, x <= y)

// ---- conversions

#define CONVERT(name, id, from, to, expression)                    \
    TILE(name##_##id)                                              \
    {                                                              \
        const from *a   = a_;                                      \
        to         *out = out_;                                    \
        (void)b_, (void)c_, (void)ones;                            \
        SIMD for (int64_t i = 0; i < n; i++)                       \
        {                                                          \
            from x = a[i];                                         \
            out[i] = (to)(expression);                             \
        }                                                          \
    }
CONVERT(set_inf, F32, float, uint8_t, __builtin_fabsf(x) == INFINITY)
CONVERT(set_inf, F64, double, uint8_t, __builtin_fabs(x) == (double)INFINITY)
#define FROM_INTEGERS(to_id, to)                                                                     \
    CONVERT(cvt_##to_id, I8, int8_t, to, x) CONVERT(cvt_##to_id, I16, int16_t, to, x)                \
    CONVERT(cvt_##to_id, I32, int32_t, to, x) CONVERT(cvt_##to_id, I64, int64_t, to, x)              \
    CONVERT(cvt_##to_id, U8, uint8_t, to, x) CONVERT(cvt_##to_id, U16, uint16_t, to, x)              \
    CONVERT(cvt_##to_id, U32, uint32_t, to, x) CONVERT(cvt_##to_id, U64, uint64_t, to, x)

// Rounds towards zero and holds the result within the range: `low` and `top` are powers of two, or 0.
#define CUT(to, low, top, least, most) (x >= (top) ? (to)(most) : x > (low) ? (to)x : x == x ? (to)(least) : (to)0)
#define FROM_FLOATS(to_id, to, low, top, least, most)                          \
    CONVERT(cvt_##to_id, F32, float, to, CUT(to, low, top, least, most))       \
    CONVERT(cvt_##to_id, F64, double, to, CUT(to, low, top, least, most))

// The same with vectors, from f32 to types of at most 32 bits: the number is first held between bounds that are floats,
// so that it always fits an int32_t. `top`: the largest float of the type.
typedef int8_t   narrow_I8 __attribute__((vector_size(NATIVE_LANES), aligned(1), may_alias));
typedef uint8_t  narrow_U8 __attribute__((vector_size(NATIVE_LANES), aligned(1), may_alias));
typedef int16_t  narrow_I16 __attribute__((vector_size(2 * NATIVE_LANES), aligned(2), may_alias));
typedef uint16_t narrow_U16 __attribute__((vector_size(2 * NATIVE_LANES), aligned(2), may_alias));
typedef int32_t  narrow_I32 __attribute__((vector_size(4 * NATIVE_LANES), aligned(4), may_alias));

#define FROM_F32(to_id, to, low, top, end, least, most)                                               \
    TILE(cvt_##to_id##_F32)                                                                           \
    {                                                                                                 \
        const float *a   = a_;                                                                        \
        to          *out = out_;                                                                      \
        int64_t      i   = 0;                                                                         \
        (void)b_, (void)c_, (void)ones;                                                               \
        for (; i + NATIVE_LANES <= n; i += NATIVE_LANES) {                                            \
            f32n x;                                                                                   \
            __builtin_memcpy(&x, a + i, sizeof x);                                                    \
            i32n whole = __builtin_convertvector(n_min(n_max(x, n_splat(low)), n_splat(top)), i32n);  \
            i32n is_number = (i32n)(x == x), is_beyond = (i32n)(x >= (end));                          \
            whole = (whole & is_number & ~is_beyond) | ((int32_t)(most) & is_beyond);                 \
            *(narrow_##to_id *)(out + i) = __builtin_convertvector(whole, narrow_##to_id);            \
        }                                                                                             \
        for (; i < n; i++) {                                                                          \
            float x = a[i];                                                                           \
            out[i]  = CUT(to, low, end, least, most);                                                 \
        }                                                                                             \
    }

// The result of converting an integer does not depend on whether the result type is signed.
FROM_INTEGERS(U8, uint8_t) FROM_INTEGERS(U16, uint16_t) FROM_INTEGERS(U32, uint32_t) FROM_INTEGERS(U64, uint64_t)
FROM_INTEGERS(F32, float) FROM_INTEGERS(F64, double)
FROM_F32(I8,  int8_t,   -0x1p7f,  127,          0x1p7f,  INT8_MIN,  INT8_MAX)
FROM_F32(I16, int16_t,  -0x1p15f, 32767,        0x1p15f, INT16_MIN, INT16_MAX)
FROM_F32(I32, int32_t,  -0x1p31f, 0x1.fffffep30f, 0x1p31f, INT32_MIN, INT32_MAX)
FROM_F32(U8,  uint8_t,  0,        255,          0x1p8f,  0,         UINT8_MAX)
FROM_F32(U16, uint16_t, 0,        65535,        0x1p16f, 0,         UINT16_MAX)
CONVERT(cvt_I8,  F64, double, int8_t,   CUT(int8_t,   -0x1p7f,  0x1p7f,  INT8_MIN,  INT8_MAX))
CONVERT(cvt_I16, F64, double, int16_t,  CUT(int16_t,  -0x1p15f, 0x1p15f, INT16_MIN, INT16_MAX))
CONVERT(cvt_I32, F64, double, int32_t,  CUT(int32_t,  -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX))
CONVERT(cvt_U8,  F64, double, uint8_t,  CUT(uint8_t,  0,        0x1p8f,  0,         UINT8_MAX))
CONVERT(cvt_U16, F64, double, uint16_t, CUT(uint16_t, 0,        0x1p16f, 0,         UINT16_MAX))
FROM_FLOATS(I64, int64_t,  -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX)
FROM_FLOATS(U32, uint32_t, 0,        0x1p32f, 0,         UINT32_MAX)
FROM_FLOATS(U64, uint64_t, 0,        0x1p64f, 0,         UINT64_MAX)
CONVERT(cvt_F32, F32, float, float, x)   CONVERT(cvt_F32, F64, double, float, x)
CONVERT(cvt_F64, F32, float, double, x)  CONVERT(cvt_F64, F64, double, double, x)
    // clang-format on
