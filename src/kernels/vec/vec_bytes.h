// vec_bytes.h - bytes in vectors: 8-bit integers as numbers and back, and their products, as each level does it best.
// Included behind vec.h.
#ifndef HOLO_KERNELS_VEC_VEC_BYTES_H
#define HOLO_KERNELS_VEC_VEC_BYTES_H

#include "kernels/vec/vec.h"

typedef int32_t i32u __attribute__((vector_size(NATIVE), aligned(4), may_alias));
typedef struct {
    i32n r[REGISTERS];
} i32v;

INL void i_store(int32_t *p, i32v v)
{
    EACH(r) * (i32u *)(p + r * NATIVE_LANES) = (i32u)v.r[r];
}

INL i32v i_load(const int32_t *p)
{
    i32v v;
    EACH(r) v.r[r] = (i32n) * (const i32u *)(p + r * NATIVE_LANES);
    return v;
}

// Sixteen bytes as numbers.
// clang-format off
#if defined __AVX512F__
#define LOAD_BYTES(type, p, v) v.r[0] = (f32n)_mm512_cvtepi32_ps(_mm512_cvtep##type##_epi32(_mm_loadu_si128((const void *)p)))
#elif defined __AVX2__
#define LOAD_BYTES(type, p, v) \
    EACH(i) v.r[i] = (f32n)_mm256_cvtepi32_ps(_mm256_cvtep##type##_epi32(_mm_loadl_epi64((const void *)(p + 8 * i))))
#elif defined __wasm_simd128__
#define LOAD_BYTES(type, p, v) EACH(i) v.r[i] = (f32n)LOAD_WORDS_##type(wasm_v128_load32_zero(p + 4 * i))
#define LOAD_WORDS_i8(x) wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(x)))
#define LOAD_WORDS_u8(x) wasm_f32x4_convert_i32x4(wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(x)))
#else
#define LOAD_BYTES(type, p, v)                                                            \
    EACH(i)                                                                               \
    {                                                                                     \
        i32n x = {0};                                                                     \
        UNROLL for (int l = 0; l < NATIVE_LANES; l++) x[l] = p[i * NATIVE_LANES + l];     \
        v.r[i] = __builtin_convertvector(x, f32n);                                        \
    }
#endif
// clang-format on

INL f32v v_load_i8(const int8_t *p)
{
    f32v v;
    LOAD_BYTES(i8, p, v);
    return v;
}

INL f32v v_load_u8(const uint8_t *p)
{
    f32v v;
    LOAD_BYTES(u8, p, v);
    return v;
}
#undef LOAD_BYTES

// The first `count` bytes, fewer than a register holds; `rest` behind them.
INL i32n n_load_bytes(const uint8_t *p, int count, uint8_t rest)
{
#if defined __AVX512BW__
    return (i32n)_mm512_mask_loadu_epi8(_mm512_set1_epi8((char)rest), (UINT64_C(1) << count) - 1, p);
#else
    uint8_t byte[NATIVE];
    i32n    x;
    for (int i = 0; i < NATIVE; i++) byte[i] = i < count ? p[i] : rest;
    __builtin_memcpy(&x, byte, sizeof x);
    return x;
#endif
}

INL int32_t n_sum(i32n x)
{
#if defined __AVX512F__
    return _mm512_reduce_add_epi32((__m512i)x);
#else
    int32_t sum = 0;
    for (int l = 0; l < NATIVE_LANES; l++) sum += x[l];
    return sum;
#endif
}

// The low bytes of a register's numbers.
INL void n_store_u8(uint8_t *p, i32n x)
{
#if defined __AVX512F__
    _mm_storeu_si128((void *)p, _mm512_cvtepi32_epi8((__m512i)x));
#elif defined __AVX2__
    __m256i bytes = (__m256i)(x & 255);
    __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    __m128i half = _mm_packus_epi32(low, high);
    _mm_storel_epi64((void *)p, _mm_packus_epi16(half, half));
#else
    UNROLL for (int l = 0; l < NATIVE_LANES; l++) p[l] = (uint8_t)x[l];
#endif
}

// The same for the first `lanes`, which may be more than a register holds, or none.
INL void n_store_u8_lanes(uint8_t *p, i32n x, int lanes)
{
    if (lanes >= NATIVE_LANES) {
        n_store_u8(p, x);
        return;
    }
#if defined __AVX512BW__
    _mm_mask_storeu_epi8(p, (__mmask16)((1 << lanes) - 1), _mm512_cvtepi32_epi8((__m512i)x));
#else
    uint8_t byte[NATIVE_LANES];
    n_store_u8(byte, x);
    for (int l = 0; l < lanes; l++) p[l] = byte[l];
#endif
}

// Unsigned bytes, as many as a register holds numbers. With fewer lanes, 0 behind them.
INL i32n n_load_u8_lanes(const uint8_t *p, int lanes)
{
#if defined __AVX512BW__
    __m128i bytes = lanes >= NATIVE_LANES ? _mm_loadu_si128((const void *)p)
                                          : _mm_maskz_loadu_epi8((__mmask16)((1 << lanes) - 1), p);
    return (i32n)_mm512_cvtepu8_epi32(bytes);
#else
    i32n x = {0};
#if defined __AVX2__
    if (lanes >= NATIVE_LANES) return (i32n)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)p));
#endif
    UNROLL for (int l = 0; l < NATIVE_LANES; l++) if (l < lanes) x[l] = p[l];
    return x;
#endif
}

// Rounds four registers of numbers, none a NaN, adds `zero` and stores them as bytes, held within their range.
// STORE_ROUNDED: whether there is a fast way.
#if defined __SSE2__
#define STORE_ROUNDED 1
#if defined __AVX512BW__
#define PACK(a)    _mm512_##a
#define ROUNDED(x) _mm512_cvtps_epi32((__m512)(x))
#define BYTES_STORE(p, v) \
    _mm512_storeu_si512(  \
        p, _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v))
typedef __m512i Packed;
#elif defined   __AVX2__
#define PACK(a)    _mm256_##a
#define ROUNDED(x) _mm256_cvtps_epi32((__m256)(x))
#define BYTES_STORE(p, v) \
    _mm256_storeu_si256((void *)(p), _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)))
typedef __m256i Packed;
#else
#define PACK(a)           _mm_##a
#define ROUNDED(x)        _mm_cvtps_epi32((__m128)(x))
#define BYTES_STORE(p, v) _mm_storeu_si128((void *)(p), v)
typedef __m128i Packed;
#endif

INL void n_store_rounded(uint8_t *p, const f32n x[4], int zero, bool is_signed)
{
    const f32n top  = (f32n){0} + 32767.0f; // beyond 32 bits below, the least number comes out
    Packed     low  = PACK(packs_epi32)(ROUNDED(n_min(x[0], top)), ROUNDED(n_min(x[1], top)));
    Packed     high = PACK(packs_epi32)(ROUNDED(n_min(x[2], top)), ROUNDED(n_min(x[3], top)));
    low             = PACK(adds_epi16)(low, PACK(set1_epi16)((short)zero));
    high            = PACK(adds_epi16)(high, PACK(set1_epi16)((short)zero));
    Packed bytes    = is_signed ? PACK(packs_epi16)(low, high) : PACK(packus_epi16)(low, high);
    BYTES_STORE(p, bytes);
}
#undef PACK
#undef ROUNDED
#undef BYTES_STORE
#elif defined __wasm_simd128__
#define STORE_ROUNDED 1

INL void n_store_rounded(uint8_t *p, const f32n x[4], int zero, bool is_signed)
{
#define ROUNDED(x)    wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest((v128_t)(x)))
    v128_t add = wasm_i16x8_splat((int16_t)zero);
    v128_t low = wasm_i16x8_narrow_i32x4(ROUNDED(x[0]), ROUNDED(x[1]));
    v128_t top = wasm_i16x8_narrow_i32x4(ROUNDED(x[2]), ROUNDED(x[3]));
    low = wasm_i16x8_add_sat(low, add);
    top = wasm_i16x8_add_sat(top, add);
    wasm_v128_store(p, is_signed ? wasm_i8x16_narrow_i16x8(low, top) : wasm_u8x16_narrow_i16x8(low, top));
#undef ROUNDED
}
#else
#define STORE_ROUNDED 0

INL void n_store_rounded(uint8_t *p, const f32n x[4], int zero, bool is_signed) // never called
{
    (void)p, (void)x, (void)zero, (void)is_signed;
}
#endif

// Rounds two rows of two registers each, none a NaN or beyond 2^30, adds `zero`, and holds the results within the range
// of a byte. They fill one register of bytes, whose halves are stored at p and q. Bytes are unsigned and then flipped
// by `flip`: for signed bytes, pass a zero that is 128 higher and flip 0x80. STORE_ROWS: whether there is a fast way.
#if defined __AVX512BW__
#define STORE_ROWS 1

INL void n_store_rows(uint8_t *p, uint8_t *q, const f32n x[4], int zero, uint8_t flip)
{
    __m512i add                                 = _mm512_set1_epi16((short)zero), whole[4];
    UNROLL for (int i = 0; i < 4; i++) whole[i] = _mm512_cvtps_epi32((__m512)x[i]);
    __m512i low                                 = _mm512_adds_epi16(_mm512_packs_epi32(whole[0], whole[1]), add);
    __m512i high                                = _mm512_adds_epi16(_mm512_packs_epi32(whole[2], whole[3]), add);
    __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i bytes = _mm512_xor_si512(_mm512_packus_epi16(low, high), _mm512_set1_epi8((char)flip));
    bytes         = _mm512_permutexvar_epi32(order, bytes);
    _mm256_storeu_si256((void *)p, _mm512_castsi512_si256(bytes));
    if (q) _mm256_storeu_si256((void *)q, _mm512_extracti64x4_epi64(bytes, 1));
}
#else
#define STORE_ROWS 0

INL void n_store_rows(uint8_t *p, uint8_t *q, const f32n x[4], int zero, uint8_t flip) // never called
{
    (void)p, (void)q, (void)x, (void)zero, (void)flip;
}
#endif

// ---- products

// clang-format off
// The sum plus, for each lane, both products of a pair of 16-bit numbers.
INL i32n n_pairs(i32n sum, i32n a, i32n b)
{
#if defined __AVX512BW__
    return (i32n)((u32n)sum + (u32n)_mm512_madd_epi16((__m512i)a, (__m512i)b));
#elif defined __AVX2__
    return (i32n)((u32n)sum + (u32n)_mm256_madd_epi16((__m256i)a, (__m256i)b));
#elif defined __SSE2__
    return (i32n)((u32n)sum + (u32n)_mm_madd_epi16((__m128i)a, (__m128i)b));
#elif defined __wasm_simd128__
    return (i32n)((u32n)sum + (u32n)wasm_i32x4_dot_i16x8((v128_t)a, (v128_t)b));
#else
    u32n low = (u32n)(((i32n)((u32n)a << 16) >> 16) * ((i32n)((u32n)b << 16) >> 16));
    return (i32n)((u32n)sum + low + (u32n)((a >> 16) * (b >> 16)));
#endif
}
// clang-format on

// Bytes of a table of 16 by the bytes of a register, each below 16.
#if defined __AVX512BW__
INL i32n    n_look_up(const int8_t table[16], i32n at)
{
    return (i32n)_mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const void *)table)), (__m512i)at);
}
#elif defined __AVX2__
INL i32n n_look_up(const int8_t table[16], i32n at)
{
    return (i32n)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table)), (__m256i)at);
}
#elif defined __aarch64__
INL i32n n_look_up(const int8_t table[16], i32n at)
{
    return (i32n)vqtbl1q_s8(vld1q_s8(table), (uint8x16_t)at);
}
#elif defined __wasm_simd128__
INL i32n n_look_up(const int8_t table[16], i32n at)
{
    return (i32n)wasm_i8x16_swizzle(wasm_v128_load(table), (v128_t)at);
}
#else
static NOINLINE i32n n_look_up(const int8_t table[16], i32n at)
{
    uint8_t byte[NATIVE];
    __builtin_memcpy(byte, &at, sizeof at);
    for (int i = 0; i < NATIVE; i++) byte[i] = (uint8_t)table[byte[i] & 15];
    __builtin_memcpy(&at, byte, sizeof at);
    return at;
}
#endif

// n_bytes: as n_quads below, at every level that has a product of bytes, BYTES, though it takes several instructions.
// The sums of two products must fit into 16 bits: numbers of b are signed or, if not, at most 127. Numbers of a are not
// -128. BYTES_WIDE(x): x where most CPUs of the level have nothing better. BYTES_MANY(x): x where
// there are 32 wide registers.
#if defined __AVX512BW__
#define BYTES 1
#define BYTES_WIDE(x)
#define BYTES_MANY(x) x
INL i32n n_bytes(i32n sum, i32n b, i32n a, bool is_signed)
{
    __m512i size = (__m512i)b, by = (__m512i)a;
    if (is_signed) {
        size = _mm512_abs_epi8(size);
        by   = _mm512_mask_sub_epi8(by, _mm512_movepi8_mask((__m512i)b), _mm512_setzero_si512(), by);
    }
    return sum + (i32n)_mm512_madd_epi16(_mm512_maddubs_epi16(size, by), _mm512_set1_epi16(1));
}
#elif defined __AVX2__
#define BYTES         1
#define BYTES_WIDE(x) x
#define BYTES_MANY(x)
INL i32n n_bytes(i32n sum, i32n b, i32n a, bool is_signed)
{
    __m256i size = (__m256i)b, by = (__m256i)a;
    if (is_signed) {
        size = _mm256_abs_epi8(size);
        by = _mm256_sign_epi8(by, (__m256i)b);
    }
    return sum + (i32n)_mm256_madd_epi16(_mm256_maddubs_epi16(size, by), _mm256_set1_epi16(1));
}
#else
#define BYTES 0
#define BYTES_WIDE(x)
#define BYTES_MANY(x)
INL i32n n_bytes(i32n sum, i32n b, i32n a, bool is_signed) // never called
{
    (void)b, (void)a, (void)is_signed;
    return sum;
}
#endif

INL int32_t quad_read(const uint8_t *p)
{
    int32_t quad;
    __builtin_memcpy(&quad, p, sizeof quad);
    return quad;
}

// Some CPUs of a level can do more than the level. Their kernels are in files that level_shared.c (LEVEL_OWN, LEVEL_QUADS,
// LEVEL_VBMI) and level.c (LEVEL_MORE, LEVEL_MOST, LEVEL_BF16) include at their end; where a level has none, the name is that of a
// file that is included already.
//
// n_quads: the sum plus, for each lane, four products of bytes of b, which are unsigned or shifted by QUADS_FLIP to be
// signed, and signed bytes of a. The level's own flags do not let the compiler use the instruction: only functions with
// QUADS_TARGET call it, and only QUADS_LEVEL, the table for CPUs that have it, holds such functions. QUAD_TILES: shapes
// of tiles, like GEMM_TILES, up to QUAD_ROWS, QUAD_PANELS; and up to QUAD_WIDE_ROWS, QUAD_WIDE_PANELS for products of
// few rows. Those wait for memory, which is faster if several panels are read at once. QUADS_MANY(x): x where there may be
// many forms of a product; modules for browsers are to be small.
// clang-format off
#if defined __AVX512BW__
#define LEVEL_OWN   "kernels/levels/level_shared_avx2.c"
#define LEVEL_QUADS "kernels/levels/level_shared_quads.c"
#define LEVEL_VBMI  "kernels/i8/lookup_u8_vbmi.c"
#define LEVEL_MORE  "kernels/levels/level_quads.c"
#define LEVEL_MOST  "kernels/levels/level_vbmi.c"
#if !HOLO_EXACT
#define LEVEL_BF16  "kernels/levels/level_bf16.c"
#endif
#define QUADS_LEVEL avx512vnni
#define QUADS_TARGET
#define QUADS_MANY(x) x
#define QUADS_FLIP 0u
enum { QUAD_ROWS = 12, QUAD_PANELS = 2, QUAD_WIDE_ROWS = 2, QUAD_WIDE_PANELS = 8 };
#define QUAD_TILES(X)                                                                                                  \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) X(9, 1) X(10, 1) X(11, 1) X(12, 1)                 \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2)                 \
    X(1, 8) X(2, 8)

INL i32n n_quads(i32n sum, i32n b, i32n a)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(b), "v"(a));
    return sum;
}
#elif defined __aarch64__
#define LEVEL_QUADS "kernels/levels/level_shared_quads.c"
#define LEVEL_VBMI  "kernels/kernels.h"
#define LEVEL_MORE  "kernels/levels/level_quads.c"
#define LEVEL_MOST  "kernels/kernels.h"
#define QUADS_LEVEL neondot
#define QUADS_MANY(x) x
#if defined __clang__
#define QUADS_TARGET __attribute__((target("dotprod")))
#else
#define QUADS_TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#define QUADS_FLIP 0x80808080u
enum { QUAD_ROWS = 6, QUAD_PANELS = 1, QUAD_WIDE_ROWS = 0, QUAD_WIDE_PANELS = 1 };
#define QUAD_TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1)

INL i32n n_quads(i32n sum, i32n b, i32n a)
{
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(b), "w"(a));
    return sum;
}
#elif defined __wasm_relaxed_simd__
// Of this product the standard says only what it gives for unsigned numbers below 128. cpu.c asks the engine for the rest.
#define LEVEL_QUADS "kernels/levels/level_shared_quads.c"
#define LEVEL_VBMI  "kernels/kernels.h"
#define LEVEL_MORE  "kernels/levels/level_quads.c"
#define LEVEL_MOST  "kernels/kernels.h"
#define QUADS_LEVEL relaxeddot
#define QUADS_TARGET
#define QUADS_MANY(x)
#define QUADS_FLIP 0u
enum { QUAD_ROWS = 2, QUAD_PANELS = 1, QUAD_WIDE_ROWS = 0, QUAD_WIDE_PANELS = 1 };
#define QUAD_TILES(X) X(1, 1) X(2, 1)

INL i32n n_quads(i32n sum, i32n b, i32n a)
{
    return (i32n)wasm_i32x4_relaxed_dot_i8x16_i7x16_add((v128_t)a, (v128_t)b, (v128_t)sum);
}
#else
#define LEVEL_QUADS "kernels/kernels.h"
#define LEVEL_VBMI  "kernels/kernels.h"
#define LEVEL_MORE  "kernels/kernels.h"
#define LEVEL_MOST  "kernels/kernels.h"
#define QUADS_FLIP  0u
enum { QUAD_ROWS = 8, QUAD_PANELS = 1, QUAD_WIDE_ROWS = 0, QUAD_WIDE_PANELS = 1 };

INL i32n n_quads(i32n sum, i32n b, i32n a) // never called
{
    (void)b, (void)a;
    return sum;
}
#endif
#ifndef LEVEL_OWN
#define LEVEL_OWN "kernels/levels/level_shared_own.c"
#endif
#ifndef LEVEL_BF16
#define LEVEL_BF16 "kernels/kernels.h"
#endif
// clang-format on

#endif
