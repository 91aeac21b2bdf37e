// float8.cuh - products of floats of 8 bits, e4m3 and e5m2: instructions of sm_89 and later; before, they become f16, which holds all of
// them, in registers.
#ifndef HOLO_DEVICES_CUDA_CODE_FLOAT8_CUH
#define HOLO_DEVICES_CUDA_CODE_FLOAT8_CUH

#include "bytes_params.h"
#include "device.cuh"

// Four numbers as two pairs of f16. The bits of e5m2 are the upper ones of f16. Those of e4m3 are so, one to the right, but for a factor
// of 256, which `scale` has; their NaN, the largest code, is made one first.
INL void float8_halves(uint32_t four, bool is_e5m2, uint32_t &low, uint32_t &high)
{
    uint32_t two[2] = {(four & 0xff) << 8 | (four & 0xff00) << 16, (four >> 8 & 0xff00) | (four & 0xff000000)};
#pragma unroll
    for (int i = 0; i < 2 && !is_e5m2; i++) {
        uint32_t size = two[i] >> 1 & 0x3f803f80, nan = (size + 0x00800080) & 0x40004000;
        two[i]        = (two[i] & 0x80008000) | size | nan;
    }
    low = two[0], high = two[1];
}

INL uint32_t times_256(uint32_t pair)
{
#ifdef HOLO_ON_CPU // tests/cuda/on_cpu
    float2 x = __half22float2(*(const __half2 *)&pair);
    return F16::pair(x.x * 256, x.y * 256);
#else
    uint32_t r;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(pair), "r"(0x5c005c00));
    return r;
#endif
}

INL void float8_decode(uint32_t four, bool is_e5m2, uint32_t &low, uint32_t &high)
{
    float8_halves(four, is_e5m2, low, high);
    if (!is_e5m2) low = times_256(low), high = times_256(high);
}

// A line of k may be in any order, if that of A and B is the same: so the halves of four neighbours are those of two fragments.
template <bool A_IS_E5M2, bool B_IS_E5M2>
INL void float8_mma_f16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    uint32_t first[4], second[4], b[4];
    float8_decode(a[0], A_IS_E5M2, first[0], first[2]);
    float8_decode(a[1], A_IS_E5M2, first[1], first[3]);
    float8_decode(a[2], A_IS_E5M2, second[0], second[2]);
    float8_decode(a[3], A_IS_E5M2, second[1], second[3]);
    float8_decode(b0, B_IS_E5M2, b[0], b[1]);
    float8_decode(b1, B_IS_E5M2, b[2], b[3]);
    F16::mma(d, first, b[0], b[1]);
    F16::mma(d, second, b[2], b[3]);
}

// The sums of these instructions keep fewer digits than those of f16.
#if __CUDA_ARCH__ >= 890
#define FLOAT8_LINES 1
#define FLOAT8_MMA(types, a_is_e5m2, b_is_e5m2) MMA("m16n8k32", types, "f", d, a, b0, b1)
#else
#define FLOAT8_LINES 0
#define FLOAT8_MMA(types, a_is_e5m2, b_is_e5m2) float8_mma_f16<a_is_e5m2, b_is_e5m2>(d, a, b0, b1)
#endif

#define FLOAT8(name, types, a_is_e5m2, b_is_e5m2)                                                    \
    struct name {                                                                                    \
        using T   = uint8_t;                                                                         \
        using Sum = float;                                                                           \
        enum { PARTS = 1, LINES = FLOAT8_LINES };                                                               \
        static INL void round(uint32_t &) {}                                                         \
        static INL void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)         \
        {                                                                                            \
            FLOAT8_MMA(types, a_is_e5m2, b_is_e5m2);                                                 \
        }                                                                                            \
    };

FLOAT8(E4M3xE4M3, "f32.e4m3.e4m3.f32", false, false)
FLOAT8(E4M3xE5M2, "f32.e4m3.e5m2.f32", false, true)
FLOAT8(E5M2xE4M3, "f32.e5m2.e4m3.f32", true, false)
FLOAT8(E5M2xE5M2, "f32.e5m2.e5m2.f32", true, true)

// ---- scales

INL float float8_a_scale(const HoloCudaFloat8 &f, int m)
{
    return load_any(f.a_scale, f.a_scales ? m : 0, f.a_scale_type);
}
INL float float8_b_scale(const HoloCudaFloat8 &f, int n)
{
    return load_any(f.b_scale, f.b_scales ? n : 0, f.b_scale_type);
}

#endif
