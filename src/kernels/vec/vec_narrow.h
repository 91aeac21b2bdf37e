// vec_narrow.h - converts 16-bit and 4-bit numbers to vectors of f32 and back. Included behind vec.h.
#ifndef HOLO_KERNELS_VEC_VEC_NARROW_H
#define HOLO_KERNELS_VEC_VEC_NARROW_H

#include "kernels/vec/vec.h"

typedef uint16_t u16h __attribute__((vector_size(NATIVE / 2), aligned(2), may_alias)); // half a register, in memory

// Sixteen numbers of f16 or bf16, exactly; a signalling NaN may become a quiet one.
INL f32v v_load_f16(const uint16_t *p)
{
    f32v v;
#if defined __AVX512F__
    v.r[0] = (f32n)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)p));
#elif defined __F16C__
    EACH(i) v.r[i] = (f32n)_mm256_cvtph_ps(_mm_loadu_si128((const void *)(p + i * NATIVE_LANES)));
#elif defined __aarch64__
    EACH(i) v.r[i] = (f32n)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p + i * NATIVE_LANES)));
#else
    // The exponent is put in its place and corrected by a product, which is exact for subnormal numbers too.
    EACH(i)
    {
        u32n x    = __builtin_convertvector(*(const u16h *)(p + i * NATIVE_LANES), u32n);
        i32n rest = (i32n)((x & 0x7fff) << 13), special = rest >= 0x0f800000;
        i32n number = (i32n)((f32n)rest * 0x1p112f);
        v.r[i]      = (f32n)((special & (rest | 0x7f800000)) | (~special & number) | (i32n)((x & 0x8000) << 16));
    }
#endif
    return v;
}

// Sixteen numbers as f16, rounded to nearest, ties to even. Every NaN becomes the NaN of its sign whose fraction has
// one bit set.
INL void v_store_f16(uint16_t *p, f32v v)
{
    EACH(i)
    {
        i32n strange = (i32n)(v.r[i] != v.r[i]), bits = (i32n)v.r[i];
        bits   = (strange & ((bits & INT32_MIN) | 0x7fc00000)) | (~strange & bits);
        v.r[i] = (f32n)bits;
    }
#if defined __AVX512F__
    _mm256_storeu_si256((void *)p, _mm512_cvtps_ph((__m512)v.r[0], _MM_FROUND_TO_NEAREST_INT));
#elif defined __F16C__
    EACH(i)
    _mm_storeu_si128((void *)(p + i * NATIVE_LANES), _mm256_cvtps_ph((__m256)v.r[i], _MM_FROUND_TO_NEAREST_INT));
#elif defined __aarch64__
    EACH(i) vst1_u16(p + i * NATIVE_LANES, vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v.r[i])));
#else
    // Numbers that are subnormal in f16 are rounded by adding a number whose last place is the smallest f16. Other
    // numbers are rounded as integers: a carry runs into the exponent, as it should.
    EACH(i)
    {
        i32n bits = (i32n)v.r[i], rest = bits & INT32_MAX, is_small = rest < 0x38800000, is_large = rest >= 0x47800000;
        i32n small  = (i32n)((f32n)rest + 0.5f) - 0x3f000000;
        i32n normal = (rest - (112 << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
        i32n narrow = (is_small & small) | (~is_small & normal), special = 0x7c00 | ((rest > 0x7f800000) & 0x7e00);
        narrow                          = (is_large & special) | (~is_large & narrow) | (bits >> 16 & 0x8000);
        *(u16h *)(p + i * NATIVE_LANES) = __builtin_convertvector((u32n)narrow, u16h);
    }
#endif
}

INL f32v v_load_bf16(const uint16_t *p)
{
    f32v v;
#if defined __AVX512F__
    v.r[0] = (f32n)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p)), 16);
#elif defined __AVX2__
    EACH(i) v.r[i] = (f32n)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(p + 8 * i))), 16);
#else
    EACH(i) v.r[i]        = (f32n)(__builtin_convertvector(*(const u16h *)(p + i * NATIVE_LANES), u32n) << 16);
#endif
    return v;
}

// The lowest four bits of each lane as a signed number.
INL f32n n_nibble(i32n words)
{
#if defined __AVX512F__
    const __m512 number = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
    return (f32n)_mm512_permutexvar_ps((__m512i)words, number); // it looks at four bits alone
#else
    return __builtin_convertvector((i32n)((u32n)words << 28) >> 28, f32n);
#endif
}

// Sixteen numbers out of the sixteen of a book, by codes of 4 bits: that of lane l is in word l % 2 of the two at p, l
// / 2 codes before it.
INL f32v v_load_codes(const uint8_t *p, f32v book)
{
    f32v     v;
    uint64_t words;
    __builtin_memcpy(&words, p, sizeof words);
#if defined __AVX512F__
    const __m512i shift = _mm512_setr_epi32(0, 0, 4, 4, 8, 8, 12, 12, 16, 16, 20, 20, 24, 24, 28, 28);
    __m512i       code  = _mm512_srlv_epi32(_mm512_set1_epi64((long long)words), shift);
    v.r[0]              = (f32n)_mm512_permutexvar_ps(code, (__m512)book.r[0]); // it looks at four bits alone
#elif defined __AVX2__
    const __m256i shift = _mm256_setr_epi32(0, 0, 4, 4, 8, 8, 12, 12);
    __m256i       both  = _mm256_set1_epi64x((long long)words);
    EACH(i)
    {
        __m256i code = _mm256_srlv_epi32(both, _mm256_add_epi32(shift, _mm256_set1_epi32(16 * i)));
        __m256  low  = _mm256_permutevar8x32_ps((__m256)book.r[0], code), high; // by three bits; the fourth chooses
        high         = _mm256_permutevar8x32_ps((__m256)book.r[1], code);
        v.r[i]       = (f32n)_mm256_blendv_ps(low, high, (__m256)_mm256_slli_epi32(code, 28));
    }
#elif defined __aarch64__
    const int32x4_t shift = {0, 0, -4, -4};
    uint32x4_t      both  = vreinterpretq_u32_u64(vdupq_n_u64(words));
    uint8x16x4_t    bytes;
    UNROLL for (int i = 0; i < 4; i++) bytes.val[i] = (uint8x16_t)book.r[i];
    EACH(i)
    {
        uint32x4_t code = vandq_u32(vshlq_u32(both, vsubq_s32(shift, vdupq_n_s32(8 * i))), vdupq_n_u32(15));
        uint32x4_t at   = vmlaq_u32(vdupq_n_u32(0x03020100), code, vdupq_n_u32(0x04040404)); // of its four bytes
        v.r[i]          = (f32n)vqtbl4q_u8(bytes, (uint8x16_t)at);
    }
#else
    UNROLL for (int l = 0; l < LANES; l++)
    {
        unsigned code                           = words >> (l % 2 * 32 + l / 2 * 4) & 15;
        v.r[l / NATIVE_LANES][l % NATIVE_LANES] = book.r[code / NATIVE_LANES][code % NATIVE_LANES];
    }
#endif
    return v;
}

#endif
