// vec_double.h - floats as doubles, and operations on them: a product plus a sum that is rounded once, for CPUs without
// such an instruction. The last part of vec.h.
#ifndef HOLO_KERNELS_VEC_VEC_DOUBLE_H
#define HOLO_KERNELS_VEC_VEC_DOUBLE_H

#include "base/math/fma.h"
#include "kernels/vec/vec.h"

typedef double   f64n __attribute__((vector_size(NATIVE)));
typedef uint64_t u64n __attribute__((vector_size(NATIVE)));
typedef int64_t  i64n __attribute__((vector_size(NATIVE)));
typedef struct {
    f64n half[2];
} f64w; // as many doubles as f32n has floats

INL f64w n_widen(f32n x)
{
    f64w w;
#if defined __AVX512F__
    w.half[0] = (f64n)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x));
    w.half[1] = (f64n)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1));
#elif defined __AVX2__
    w.half[0] = (f64n)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x));
    w.half[1] = (f64n)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
#elif defined __aarch64__
    w.half[0] = (f64n)vcvt_f64_f32(vget_low_f32((float32x4_t)x));
    w.half[1] = (f64n)vcvt_high_f64_f32((float32x4_t)x);
#elif defined __SSE2__
    w.half[0] = (f64n)_mm_cvtps_pd((__m128)x);
    w.half[1] = (f64n)_mm_cvtps_pd(_mm_movehl_ps((__m128)x, (__m128)x));
#elif defined __wasm_simd128__
    w.half[0]   = (f64n)wasm_f64x2_promote_low_f32x4((v128_t)x);
    w.half[1]   = (f64n)wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle((v128_t)x, (v128_t)x, 2, 3, 2, 3));
#else
    for (int l = 0; l < NATIVE_LANES; l++) w.half[l / (NATIVE_LANES / 2)][l % (NATIVE_LANES / 2)] = (double)x[l];
#endif
    return w;
}

// a + b. On some CPUs the unit that adds also widens, while the unit that multiplies is free.
INL f64n d_add(f64n a, f64n b)
{
#if defined __AVX512F__
    return (f64n)_mm512_fmadd_pd((__m512d)b, _mm512_set1_pd(1), (__m512d)a);
#elif defined __AVX2__
    return (f64n)_mm256_fmadd_pd((__m256d)b, _mm256_set1_pd(1), (__m256d)a);
#else
    return a + b;
#endif
}

// a * b + c, if the product is exact.
INL f64n d_mac(f64n a, f64n b, f64n c)
{
#if defined __AVX512F__
    return (f64n)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined __AVX2__
    return (f64n)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

INL f64w n_widen_at(const float *p) // of a register
{
#if defined __AVX512F__ // which would load all, and then take it apart
    return (f64w){{(f64n)_mm512_cvtps_pd(_mm256_loadu_ps(p)), (f64n)_mm512_cvtps_pd(_mm256_loadu_ps(p + 8))}};
#else
    return n_widen(*(const f32u *)p);
#endif
}

INL f32n n_narrow(f64w w) // rounded once
{
#if defined __AVX512F__
    __m512 low = _mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)w.half[0]));
    return (f32n)_mm512_insertf32x8(low, _mm512_cvtpd_ps((__m512d)w.half[1]), 1);
#elif defined __AVX2__
    __m256 low = _mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)w.half[0]));
    return (f32n)_mm256_insertf128_ps(low, _mm256_cvtpd_ps((__m256d)w.half[1]), 1);
#elif defined __aarch64__
    return (f32n)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)w.half[0]), (float64x2_t)w.half[1]);
#elif defined __SSE2__
    return (f32n)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)w.half[0]), _mm_cvtpd_ps((__m128d)w.half[1]));
#elif defined __wasm_simd128__
    v128_t low  = wasm_f32x4_demote_f64x2_zero((v128_t)w.half[0]),
           high = wasm_f32x4_demote_f64x2_zero((v128_t)w.half[1]);
    return (f32n)wasm_i64x2_shuffle(low, high, 0, 2);
#else
    f32n x;
    for (int l = 0; l < NATIVE_LANES; l++) x[l] = (float)w.half[l / (NATIVE_LANES / 2)][l % (NATIVE_LANES / 2)];
    return x;
#endif
}

// Products of floats are exact in double. The sum is rounded to double, and then to float. That equals one rounding,
// except where the first rounding ends half-way between two floats, and for results that are not normal numbers.
static __attribute__((noinline, unused)) f32n n_fma_in_doubles(f32n a, f32n b, f32n c)
{
    f64w x = n_widen(a), y = n_widen(b), z = n_widen(c);
    u64n rest[2];
    for (int i = 0; i < 2; i++) {
        z.half[i] += x.half[i] * y.half[i];
        rest[i] = (u64n)z.half[i] & 0x1fffffff; // what float has no bits for
    }
    f32n sum  = n_narrow(z);
    i32n half = (i32n)((rest[0] == 0x10000000) | (rest[1] == 0x10000000)), size = (i32n)n_abs(sum);
    if (!n_any(half | ((size > 0) & (size <= 0x00800000)))) return sum;
    for (int l = 0; l < NATIVE_LANES; l++) c[l] = holo_fma_f32(a[l], b[l], c[l]);
    return c;
}

// The same of single floats, and of single doubles.
#if defined __FMA__ || defined __aarch64__
#define F32_FMA(a, b, c) __builtin_fmaf(a, b, c)
#define F64_FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define F32_FMA(a, b, c) holo_fma_f32(a, b, c)
#define F64_FMA(a, b, c) holo_fma_f64(a, b, c)
#endif

#endif
