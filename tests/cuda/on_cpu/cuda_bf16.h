// cuda_bf16.h - bf16 as CUDA's header of this name has it, as far as device code uses it: see on_cpu.h.
#ifndef TESTS_CUDA_ON_CPU_CUDA_BF16_H
#define TESTS_CUDA_ON_CPU_CUDA_BF16_H

struct __nv_bfloat16 {
    uint16_t x;
};
struct __align__(4) __nv_bfloat162
{
    __nv_bfloat16 x, y;
};
static inline float __bfloat162float(__nv_bfloat16 h)
{
    return __uint_as_float((uint32_t)h.x << 16);
}
// To the nearest, of two as near the even one. NaN stays one.
static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    uint32_t b = __float_as_uint(x);
    if (x != x) return {0x7fff};
    return {(uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16)};
}
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}

#endif
