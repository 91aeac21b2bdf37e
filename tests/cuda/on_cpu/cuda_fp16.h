// cuda_fp16.h - f16 as CUDA's header of this name has it, as far as device code uses it: see on_cpu.h.
#ifndef TESTS_CUDA_ON_CPU_CUDA_FP16_H
#define TESTS_CUDA_ON_CPU_CUDA_FP16_H

struct __half {
    _Float16 x;
};
struct __align__(4) __half2
{
    __half x, y;
};
static inline float __half2float(__half h)
{
    return (float)h.x;
}
static inline __half __float2half_rn(float x)
{
    return {(_Float16)x};
}
static inline __half2 __floats2half2_rn(float x, float y)
{
    return {__float2half_rn(x), __float2half_rn(y)};
}
static inline float2 __half22float2(__half2 h)
{
    return {__half2float(h.x), __half2float(h.y)};
}

#endif
