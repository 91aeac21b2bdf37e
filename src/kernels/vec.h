// vec.h - one logical vector, sixteen floats, on every CPU level.
//
// It is an array of native registers: 1 of 512 bits, 2 of 256 or 4 of 128. The width is the same
// everywhere, so the order of every sum is too. v_mad is the only place where rounding depends on the
// numeric class: one rounding in class fused, two in class exact. Kernels are compiled with
// -ffp-contract=off, so that nothing else is ever fused.
//
// All level-dependent code is here: the kernels themselves are plain C over these functions.
#ifndef HOLO_VEC_H
#define HOLO_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// NATIVE: bytes of a register. ZIP_LOW, ZIP_HIGH: the lanes that interleave the halves of two
// registers; EVEN_ODD: the even ones of the first, then the odd ones of the second. GEMM_TILES: shapes
// of C held in registers by the matrix product, as rows x panels of 16 columns, one X for each;
// GEMM_ROWS, GEMM_PANELS is the shape for large products, and products of at most GEMM_WIDE_ROWS rows
// take GEMM_WIDE_PANELS panels at once.
#if defined __AVX512F__
#include <immintrin.h>
enum { NATIVE = 64, GEMM_ROWS = 12, GEMM_PANELS = 2, GEMM_WIDE_ROWS = 6, GEMM_WIDE_PANELS = 4 };
#define GEMM_TILES(X)                                                                                                  \
    X(1, 1)                                                                                                            \
    X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) X(9, 1) X(10, 1) X(11, 1) X(12, 1) X(1, 2) X(2, 2) X(3, 2) \
        X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2) X(1, 4) X(2, 4) X(3, 4) X(4, 4)     \
            X(5, 4) X(6, 4)
#define ZIP_LOW  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define EVEN_ODD 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#elif defined __AVX2__
#include <immintrin.h>
enum { NATIVE = 32, GEMM_ROWS = 6, GEMM_PANELS = 1, GEMM_WIDE_ROWS = 1, GEMM_WIDE_PANELS = 4 };
#define GEMM_TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(1, 4)
#define ZIP_LOW       0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH      4, 12, 5, 13, 6, 14, 7, 15
#define EVEN_ODD      0, 2, 4, 6, 9, 11, 13, 15
#elif defined __aarch64__
#include <arm_neon.h>
enum { NATIVE = 16, GEMM_ROWS = 6, GEMM_PANELS = 1, GEMM_WIDE_ROWS = 1, GEMM_WIDE_PANELS = 4 };
#define GEMM_TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(1, 4)
#define ZIP_LOW       0, 4, 1, 5
#define ZIP_HIGH      2, 6, 3, 7
#define EVEN_ODD      0, 2, 5, 7
#else // sse2, and any compiler with vector types
enum { NATIVE = 16, GEMM_ROWS = 3, GEMM_PANELS = 1, GEMM_WIDE_ROWS = 1, GEMM_WIDE_PANELS = 2 };
#define GEMM_TILES(X) X(1, 1) X(2, 1) X(3, 1) X(1, 2)
#define ZIP_LOW       0, 4, 1, 5
#define ZIP_HIGH      2, 6, 3, 7
#define EVEN_ODD      0, 2, 5, 7
#endif

enum { LANES = 16, NATIVE_LANES = NATIVE / 4, REGISTERS = LANES / NATIVE_LANES };

typedef float   f32n __attribute__((vector_size(NATIVE)));
typedef int32_t i32n __attribute__((vector_size(NATIVE)));
typedef float   f32u __attribute__((vector_size(NATIVE), aligned(4), may_alias)); // as it lies in memory
typedef struct {
    f32n r[REGISTERS];
} f32v;

#define INL static inline __attribute__((always_inline))

#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define EACH(i) UNROLL for (int i = 0; i < REGISTERS; i++)

INL f32v v_load(const float *p)
{
    f32v v;
    EACH(i) v.r[i] = *(const f32u *)(p + i * NATIVE_LANES);
    return v;
}

INL void v_store(float *p, f32v v)
{
    EACH(i) * (f32u *)(p + i * NATIVE_LANES) = v.r[i];
}

INL f32v v_set1(float x)
{
    f32v v;
    EACH(i) v.r[i] = x - (f32n){0};
    return v;
}

INL f32v v_add(f32v a, f32v b)
{
    EACH(i) a.r[i] += b.r[i];
    return a;
}

INL f32v v_sub(f32v a, f32v b)
{
    EACH(i) a.r[i] -= b.r[i];
    return a;
}

INL f32v v_mul(f32v a, f32v b)
{
    EACH(i) a.r[i] *= b.r[i];
    return a;
}

INL f32v v_or(f32v a, f32v b)
{
    EACH(i) a.r[i] = (f32n)((i32n)a.r[i] | (i32n)b.r[i]);
    return a;
}

INL f32n n_mad(f32n a, f32n b, f32n c)
{
#if HOLO_EXACT
    return a * b + c;
#elif defined __AVX512F__
    return (f32n)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined __AVX2__
    return (f32n)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined __aarch64__
    return (f32n)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    return a * b + c;
#endif
}

INL f32v v_mad(f32v a, f32v b, f32v c) // a * b + c
{
    EACH(i) c.r[i] = n_mad(a.r[i], b.r[i], c.r[i]);
    return c;
}

INL f32n n_select(i32n mask, f32n yes, f32n no)
{
    return (f32n)((mask & (i32n)yes) | (~mask & (i32n)no));
}

INL f32v v_max(f32v a, f32v b) // b where either is NaN
{
    EACH(i) a.r[i] = n_select(a.r[i] > b.r[i], a.r[i], b.r[i]);
    return a;
}

// ---- parts of vectors

// Lanes first <= l < end are p[l]; the others are 0, and their memory is not touched.
INL f32v v_load_part(const float *p, int first, int end)
{
#if defined __AVX512F__
    __mmask16 mask = (__mmask16)(((1u << end) - 1) & ~((1u << first) - 1));
    return (f32v){{(f32n)_mm512_maskz_loadu_ps(mask, p)}};
#elif defined __AVX2__
    const i32n lane = {0, 1, 2, 3, 4, 5, 6, 7};
    f32v       v;
    EACH(i)
    {
        i32n in = (lane + 8 * i >= first) & (lane + 8 * i < end);
        v.r[i]  = (f32n)_mm256_maskload_ps(p + 8 * i, (__m256i)in);
    }
    return v;
#else
    float t[LANES] = {0};
    for (int i = first; i < end; i++) t[i] = p[i];
    return v_load(t);
#endif
}

INL void v_store_part(float *p, f32v v, int count) // the first `count` lanes
{
#if defined __AVX512F__
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << count) - 1), (__m512)v.r[0]);
#else
    float t[LANES];
    v_store(t, v);
    for (int i = 0; i < count; i++) p[i] = t[i];
#endif
}

INL f32v v_load_even(const float *p) // p[0], p[2] ... p[30]: nothing beyond is touched
{
    f32v v;
    EACH(i)
    {
        const float *q   = p + 2 * i * NATIVE_LANES;
        f32n         low = *(const f32u *)q, high = *(const f32u *)(q + NATIVE_LANES - 1);
        v.r[i] = __builtin_shufflevector(low, high, EVEN_ODD);
    }
    return v;
}

// Lanes first <= l < end are p[l * stride]; the others are 0, and their memory is not touched.
INL f32v v_load_strided(const float *p, int64_t stride, int first, int end)
{
    if (stride == 1) return first == 0 && end == LANES ? v_load(p) : v_load_part(p, first, end);
    if (stride == 2 && first == 0 && end == LANES) return v_load_even(p);
    float t[LANES] = {0};
    for (int i = first; i < end; i++) t[i] = p[i * stride];
    return v_load(t);
}

// out[c * 16 + r] = p[r * stride + c] for 16 rows of 16: blocks as wide as a register, each by
// interleaving halves until every row has become a column.
INL void v_transpose(const float *p, int64_t stride, float *out)
{
    UNROLL for (int row = 0; row < LANES; row += NATIVE_LANES)
        UNROLL for (int column = 0; column < LANES; column += NATIVE_LANES)
    {
        f32n from[NATIVE_LANES], to[NATIVE_LANES];
        UNROLL for (int i = 0; i < NATIVE_LANES; i++) from[i] = *(const f32u *)(p + (row + i) * stride + column);
        UNROLL for (int width = 1; width < NATIVE_LANES; width *= 2)
        {
            UNROLL for (int i = 0; i < NATIVE_LANES / 2; i++)
            {
                f32n low = from[i], high = from[i + NATIVE_LANES / 2];
                to[2 * i]     = __builtin_shufflevector(low, high, ZIP_LOW);
                to[2 * i + 1] = __builtin_shufflevector(low, high, ZIP_HIGH);
            }
            UNROLL for (int i = 0; i < NATIVE_LANES; i++) from[i] = to[i];
        }
        UNROLL for (int i = 0; i < NATIVE_LANES; i++) * (f32u *)(out + (column + i) * LANES + row) = from[i];
    }
}

// ---- across lanes, always in the same order

INL float v_sum(f32v v) // a tree: 16, 8, 4, 2, 1
{
    float t[LANES];
    v_store(t, v);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) t[i] += t[i + half];
    return t[0];
}

INL float v_top(f32v v) // the largest lane
{
    float t[LANES];
    v_store(t, v);
    for (int i = 1; i < LANES; i++) t[0] = t[i] > t[0] ? t[i] : t[0];
    return t[0];
}

// ---- functions

// e^x for x <= 0 or NaN, within 2 ulp; 0 where the result would not be a normal number.
INL f32n n_exp(f32n x)
{
    const f32n zero = {0};
    i32n       in   = x >= -87.33654f;
    f32n       y    = n_select(in, x, zero);
    // y = n ln 2 + r with |r| <= ln(2) / 2; ln 2 in two parts, the first exact times n.
    i32n n = __builtin_convertvector(y * 1.44269504f - 0.5f, i32n);
    f32n f = __builtin_convertvector(n, f32n);
    f32n r = n_mad(f, zero + 2.12194440e-4f, n_mad(f, zero - 0.693359375f, y));
    f32n e = n_mad(r, zero + 1.9875691e-4f, zero + 1.3981999e-3f);
    e      = n_mad(e, r, zero + 8.3334519e-3f);
    e      = n_mad(e, r, zero + 4.1665796e-2f);
    e      = n_mad(e, r, zero + 1.6666665e-1f);
    e      = n_mad(e, r, zero + 0.5f);
    e      = n_mad(e * r, r, r) + 1.0f;
    e *= (f32n)((n + 127) << 23);
    return n_select(in, e, n_select(x < 0, zero, x));
}

INL f32v v_exp(f32v x)
{
    EACH(i) x.r[i] = n_exp(x.r[i]);
    return x;
}

#endif
