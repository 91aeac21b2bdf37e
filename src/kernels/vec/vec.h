// vec.h - one logical vector, sixteen floats, on every CPU level.
//
// It is an array of native registers: 1 of 512 bits, 2 of 256 or 4 of 128. The width is the same everywhere, and so is
// the order of every sum. Rounding depends on the numeric class in n_mac, which v_mad uses: one rounding in class
// fused, two in class exact. Kernels are compiled with -ffp-contract=off, so nothing else is ever fused.
//
// All code that depends on the level is here and in the other vec_*.h: the kernels themselves are plain C over these
// functions.
#ifndef HOLO_KERNELS_VEC_VEC_H
#define HOLO_KERNELS_VEC_VEC_H

#include "kernels/vec/vec_level.h"

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

INL f32v v_div(f32v a, f32v b)
{
    EACH(i) a.r[i] /= b.r[i];
    return a;
}

INL f32v v_or(f32v a, f32v b)
{
    EACH(i) a.r[i] = (f32n)((i32n)a.r[i] | (i32n)b.r[i]);
    return a;
}

static f32n n_fma_in_doubles(f32n a, f32n b, f32n c); // vec_double.h

// Relaxed SIMD rounds once on CPUs that can, and twice on others: that is good enough for class fused alone.
#if defined __wasm_relaxed_simd__ && defined HOLO_EXACT && !HOLO_EXACT
#define RELAXED 1
#else
#define RELAXED 0
#endif

INL f32n n_fma(f32n a, f32n b, f32n c) // rounded once at every level, whatever it costs
{
#if defined __AVX512F__
    return (f32n)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined __AVX2__
    return (f32n)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined __aarch64__
    return (f32n)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif RELAXED
    return (f32n)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#else
    return n_fma_in_doubles(a, b, c);
#endif
}

// a * b + c for sums: rounded once in class fused if the CPU can, twice in class exact.
INL f32n n_mac(f32n a, f32n b, f32n c)
{
#if HOLO_EXACT || !(defined __AVX2__ || defined __aarch64__ || RELAXED)
    return a * b + c;
#else
    return n_fma(a, b, c);
#endif
}

// a * b + c inside functions: rounded once; in class fused if the CPU can, in class exact always.
INL f32n n_mad(f32n a, f32n b, f32n c)
{
#if HOLO_EXACT || defined __AVX2__ || defined __aarch64__ || RELAXED
    return n_fma(a, b, c);
#else
    return a * b + c;
#endif
}

INL f32v v_mad(f32v a, f32v b, f32v c) // a * b + c
{
    EACH(i) c.r[i] = n_mac(a.r[i], b.r[i], c.r[i]);
    return c;
}

INL f32v v_mul_add(f32v a, f32v b, f32v c) // a * b + c, rounded twice in both classes
{
    return v_add(v_mul(a, b), c);
}

INL f32v v_mad_part(f32v a, f32v b, f32v c, int from, int to) // only registers from <= r < to
{
    EACH(i) if (i >= from && i < to) c.r[i] = n_mac(a.r[i], b.r[i], c.r[i]);
    return c;
}

INL f32v v_mad_half(f32v a, f32v b, f32v c) // only the first half of the lanes; the others are undefined
{
#if defined __AVX512F__
    __m256 x = _mm512_castps512_ps256((__m512)a.r[0]), y = _mm512_castps512_ps256((__m512)b.r[0]);
    __m256 z = _mm512_castps512_ps256((__m512)c.r[0]);
#if HOLO_EXACT
    z = _mm256_add_ps(_mm256_mul_ps(x, y), z);
#else
    z = _mm256_fmadd_ps(x, y, z);
#endif
    return (f32v){{(f32n)_mm512_castps256_ps512(z)}};
#else
    for (int i = 0; i < REGISTERS / 2; i++) c.r[i] = n_mac(a.r[i], b.r[i], c.r[i]);
    return c;
#endif
}

INL f32n n_select(i32n mask, f32n yes, f32n no)
{
#if defined __wasm_simd128__
    return (f32n)wasm_v128_bitselect((v128_t)yes, (v128_t)no, (v128_t)mask);
#else
    return (f32n)((mask & (i32n)yes) | (~mask & (i32n)no));
#endif
}

INL f32n n_max(f32n a, f32n b) // a > b ? a : b, so b if either is NaN
{
#if defined __AVX512F__
    return (f32n)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined __AVX2__
    return (f32n)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined __SSE2__
    return (f32n)_mm_max_ps((__m128)a, (__m128)b);
#elif defined __wasm_simd128__
    return (f32n)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
#else
    return n_select(a > b, a, b);
#endif
}

INL f32n n_min(f32n a, f32n b) // a < b ? a : b
{
#if defined __AVX512F__
    return (f32n)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined __AVX2__
    return (f32n)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined __SSE2__
    return (f32n)_mm_min_ps((__m128)a, (__m128)b);
#elif defined __wasm_simd128__
    return (f32n)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
#else
    return n_select(a < b, a, b);
#endif
}

INL f32n n_sqrt(f32n a)
{
#if defined __AVX512F__
    return (f32n)_mm512_sqrt_ps((__m512)a);
#elif defined __AVX2__
    return (f32n)_mm256_sqrt_ps((__m256)a);
#elif defined __SSE2__
    return (f32n)_mm_sqrt_ps((__m128)a);
#elif defined __aarch64__
    return (f32n)vsqrtq_f32((float32x4_t)a);
#elif defined __wasm_simd128__
    return (f32n)wasm_f32x4_sqrt((v128_t)a);
#else
    for (int i = 0; i < NATIVE_LANES; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
#endif
}

INL f32v v_max(f32v a, f32v b) // b if either is NaN
{
    EACH(i) a.r[i] = n_max(a.r[i], b.r[i]);
    return a;
}

INL f32n n_top_of(f32n a, f32n b) // the larger; NaN if either is; of two zeros, b
{
#if defined __AVX512F__
    __m512 x = (__m512)a;
    return (f32n)_mm512_mask_max_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x, (__m512)b);
#else
    return n_select(a == a, n_max(a, b), a);
#endif
}

INL f32n n_least_of(f32n a, f32n b)
{
#if defined __AVX512F__
    __m512 x = (__m512)a;
    return (f32n)_mm512_mask_min_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x, (__m512)b);
#else
    return n_select(a == a, n_min(a, b), a);
#endif
}

INL f32v v_top_of(f32v a, f32v b)
{
    EACH(i) a.r[i] = n_top_of(a.r[i], b.r[i]);
    return a;
}

INL f32v v_at_least(f32v a, f32v low) // a if it is NaN
{
    EACH(i) a.r[i] = n_max(low.r[i], a.r[i]);
    return a;
}

INL f32v v_at_most(f32v a, f32v high)
{
    EACH(i) a.r[i] = n_min(high.r[i], a.r[i]);
    return a;
}

// ---- parts of vectors

INL f32v v_only(f32v v, int first, int end, float other) // lanes first <= l < end; `other` in the rest
{
    i32n lane                                             = {0};
    UNROLL for (int l = 0; l < NATIVE_LANES; l++) lane[l] = l;
    EACH(i)
    {
        i32n in = (lane + i * NATIVE_LANES >= first) & (lane + i * NATIVE_LANES < end);
        v.r[i]  = n_select(in, v.r[i], other - (f32n){0});
    }
    return v;
}

#if defined __AVX2__ && !defined __AVX512F__
INL __m256i                      n_lanes_in(int i, int first, int end) // of register i: those with first <= l < end
{
    const i32n lane = {0, 1, 2, 3, 4, 5, 6, 7};
    return (__m256i)((lane + 8 * i >= first) & (lane + 8 * i < end));
}
#endif

// Lane by lane, if there is no instruction for it: lanes first <= l < end are p[l * stride], the others 0.
static NOINLINE f32v v_load_each(const float *p, int64_t stride, int first, int end)
{
    float t[LANES] = {0};
    for (int i = first; i < end; i++) t[i] = p[i * stride];
    return v_load(t);
}

static NOINLINE void v_store_each(float *p, f32v v, int count)
{
    float t[LANES];
    v_store(t, v);
    for (int i = 0; i < count; i++) p[i] = t[i];
}

// Lanes first <= l < end are p[l]; the others are 0, and their memory is not touched.
INL f32v v_load_part(const float *p, int first, int end)
{
#if defined __AVX512F__
    __mmask16 mask = (__mmask16)(((1u << end) - 1) & ~((1u << first) - 1));
    return (f32v){{(f32n)_mm512_maskz_loadu_ps(mask, p)}};
#elif defined __AVX2__
    f32v v;
    EACH(i) v.r[i] = (f32n)_mm256_maskload_ps(p + 8 * i, n_lanes_in(i, first, end));
    return v;
#else
    return v_load_each(p, 1, first, end);
#endif
}

INL f32v v_load_lanes(const float *p, int lanes) // the first `lanes`
{
    return lanes == LANES ? v_load(p) : v_load_part(p, 0, lanes);
}

INL f32n n_load_lanes(const float *p, int lanes) // the same of one register
{
    if (__builtin_constant_p(lanes) && lanes == NATIVE_LANES) return *(const f32u *)p;
#if defined __AVX512F__
    return (f32n)_mm512_maskz_loadu_ps((__mmask16)((1u << lanes) - 1), p);
#elif defined __AVX2__
    return (f32n)_mm256_maskload_ps(p, n_lanes_in(0, 0, lanes));
#else
    f32n v = {0};
    for (int i = 0; i < lanes; i++) v[i] = p[i];
    return v;
#endif
}

INL void n_store_lanes(float *p, f32n v, int lanes)
{
#if defined __AVX512F__
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << lanes) - 1), (__m512)v);
#else
    if (lanes == NATIVE_LANES)
        *(f32u *)p = v;
    else
        for (int i = 0; i < lanes; i++) p[i] = v[i];
#endif
}

INL void v_store_part(float *p, f32v v, int count) // the first `count` lanes
{
#if defined __AVX512F__
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << count) - 1), (__m512)v.r[0]);
#elif defined __AVX2__
    EACH(i) _mm256_maskstore_ps(p + 8 * i, n_lanes_in(i, 0, count), (__m256)v.r[i]);
#else
    v_store_each(p, v, count);
#endif
}

INL void v_store_lanes(float *p, f32v v, int lanes)
{
    if (lanes == LANES)
        v_store(p, v);
    else
        v_store_part(p, v, lanes);
}

// Lane l is p[l / width * width + at]: one element of each group of `width`, a power of two of at least 2, in all lanes
// of the group. There are `lanes` elements, a multiple of width.
INL f32v v_load_spread(const float *p, int lanes, int width, int at)
{
    f32v v = v_load_lanes(p, lanes);
    EACH(i)
    {
        int first = i * NATIVE_LANES & ~(width - 1); // of the group, if it is the whole register
        if (width >= NATIVE_LANES) {
            v.r[i] = (first < lanes ? p[first + at] : 0) - (f32n){0};
            continue;
        }
#if defined __AVX512F__ || defined __AVX2__
        i32n lane                                             = {0};
        UNROLL for (int l = 0; l < NATIVE_LANES; l++) lane[l] = (l & ~(width - 1)) + at;
#endif
#if defined __AVX512F__
        v.r[i] = (f32n)_mm512_permutexvar_ps((__m512i)lane, (__m512)v.r[i]);
#elif defined __AVX2__
        v.r[i] = (f32n)_mm256_permutevar8x32_ps((__m256)v.r[i], (__m256i)lane);
#else // registers of four, groups of two
        f32n low  = __builtin_shufflevector(v.r[i], v.r[i], 0, 0, 2, 2);
        f32n high = __builtin_shufflevector(v.r[i], v.r[i], 1, 1, 3, 3);
        v.r[i]    = at ? high : low;
#endif
    }
    return v;
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
    return v_load_each(p, stride, first, end);
}

// Lane l is p[index[l]]. All indices are less than `count`, and nothing from p[count] on is touched.
INL f32v v_pick(const float *p, int64_t count, const int32_t index[LANES])
{
#if defined __AVX512F__
    if (count <= LANES) {
        __m512 all = _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), p);
        return (f32v){{(f32n)_mm512_permutexvar_ps(_mm512_loadu_si512(index), all)}};
    }
#endif
    (void)count;
    float t[LANES];
    for (int i = 0; i < LANES; i++) t[i] = p[index[i]];
    return v_load(t);
}

// The same if all indices are from `base` to 31 above it: two registers hold all elements. v_pick_both is for two lists
// of indices.
#if defined __AVX512F__
enum { PICKS_NEAR = 1 };
INL void v_pick_both(const float *p, int64_t count, const int32_t *first, const int32_t *second, int32_t base,
                     f32v out[2])
{
    uint32_t there = count - base < 2 * LANES ? (1u << (count - base)) - 1 : ~0u;
    __m512   low   = _mm512_maskz_loadu_ps((__mmask16)there, p + base);
    __m512   high  = _mm512_maskz_loadu_ps((__mmask16)(there >> LANES), p + base + LANES);
    __m512i  from  = _mm512_set1_epi32(base);
    out[0].r[0]    = (f32n)_mm512_permutex2var_ps(low, _mm512_sub_epi32(_mm512_loadu_si512(first), from), high);
    out[1].r[0]    = (f32n)_mm512_permutex2var_ps(low, _mm512_sub_epi32(_mm512_loadu_si512(second), from), high);
}
INL f32v v_pick_near(const float *p, int64_t count, const int32_t *index, int32_t base)
{
    int     left = count - base < 2 * LANES ? (int)(count - base) : 2 * LANES;
    __m512  low = (__m512)v_load_lanes(p + base, left < LANES ? left : LANES).r[0], high = _mm512_setzero_ps();
    __m512i at = _mm512_sub_epi32(_mm512_loadu_si512(index), _mm512_set1_epi32(base));
    if (left > LANES) high = (__m512)v_load_lanes(p + base + LANES, left - LANES).r[0];
    return (f32v){{(f32n)_mm512_permutex2var_ps(low, at, high)}};
}
#else
enum { PICKS_NEAR = 0 }; // not faster than others
INL f32v v_pick_near(const float *p, int64_t count, const int32_t *index, int32_t base)
{
    (void)base;
    return v_pick(p, count, index);
}
INL void v_pick_both(const float *p, int64_t count, const int32_t *first, const int32_t *second, int32_t base,
                     f32v out[2])
{
    (void)base;
    out[0] = v_pick(p, count, first);
    out[1] = v_pick(p, count, second);
}
#endif

INL void copy_row(const float *from, int64_t count, float *to)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) v_store(to + i, v_load(from + i));
    if (i < count) v_store_part(to + i, v_load_part(from + i, 0, (int)(count - i)), (int)(count - i));
}

INL int lanes_left(int64_t i, int64_t n)
{
    return n - i < LANES ? (int)(n - i) : LANES;
}

// ---- parts of functions

INL f32n n_abs(f32n x)
{
    return (f32n)((i32n)x & 0x7fffffff);
}

INL f32n n_with_sign_of(f32n x, f32n sign) // x must not be negative
{
    return (f32n)((i32n)x | ((i32n)sign & (int32_t)0x80000000));
}

// Whether n_scale exists: in class fused, if there is an instruction for it.
#if defined __AVX512F__ && !HOLO_EXACT
enum { SCALES = 1 };
#else
enum { SCALES = 0 };
#endif

INL f32n n_scale(f32n x, f32n n) // x * 2^n for whole n; infinite if that is too large
{
#if defined __AVX512F__
    return (f32n)_mm512_scalef_ps((__m512)x, (__m512)n);
#else
    (void)n;
    return x;
#endif
}

// x / d; in class exact x * (1 / d).
INL f32n n_quotient(f32n x, f32n d)
{
#if HOLO_EXACT
    return x * (1.0f / d);
#else
    return x / d;
#endif
}

INL f32n n_round(f32n x) // to the nearest, ties to even
{
#if defined __AVX512F__
    return (f32n)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined __AVX2__
    return (f32n)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined __aarch64__
    return (f32n)vrndnq_f32((float32x4_t)x);
#elif defined __wasm_simd128__
    return (f32n)wasm_f32x4_nearest((v128_t)x);
#else
    f32n size = n_abs(x);
    return n_select(size < 0x1p23f, n_with_sign_of(size + 0x1p23f - 0x1p23f, x), x); // from there on all are whole
#endif
}

INL f32n n_floor(f32n x)
{
#if defined __AVX512F__
    return (f32n)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif defined __AVX2__
    return (f32n)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif defined __aarch64__
    return (f32n)vrndmq_f32((float32x4_t)x);
#elif defined __wasm_simd128__
    return (f32n)wasm_f32x4_floor((v128_t)x);
#else
    f32n near = n_round(x);
    return n_select(near > x, near - 1.0f, near);
#endif
}

INL bool n_any(i32n mask)
{
#if defined __AVX512F__
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined __AVX2__
    return _mm256_movemask_ps((__m256)mask) != 0;
#elif defined __aarch64__
    return vmaxvq_u32((uint32x4_t)mask) != 0;
#elif defined __SSE2__
    return _mm_movemask_ps((__m128)mask) != 0;
#elif defined __wasm_simd128__
    return wasm_v128_any_true((v128_t)mask);
#else
    int32_t any = 0;
    for (int l = 0; l < NATIVE_LANES; l++) any |= mask[l];
    return any != 0;
#endif
}

#include "kernels/vec/vec_double.h"

#endif
