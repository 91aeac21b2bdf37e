// bytes.cuh - numbers of 8 bits, and what becomes of sums of their products: in integers, and in f32 with each operation rounded, as on
// the CPU to the bit.
#ifndef HOLO_DEVICES_CUDA_CODE_BYTES_CUH
#define HOLO_DEVICES_CUDA_CODE_BYTES_CUH

#include "bytes_params.h"
#include "device.cuh"

INL int byte_at(const void *p, int64_t at, int type)
{
    return type == HOLO_CUDA_S8 ? ((const int8_t *)p)[at] : ((const uint8_t *)p)[at];
}

// A whole number, or any that is larger or smaller than all bytes. A NaN becomes 0.
INL uint8_t byte_of(float x, int type)
{
    float low = type == HOLO_CUDA_S8 ? -128 : 0;
    return x != x ? 0 : (uint8_t)(int)fminf(fmaxf(x, low), low + 255);
}

// Integers that wrap.
INL int32_t wrap_add(int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)x + (uint32_t)y);
}
INL int32_t wrap_mul(int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)x * (uint32_t)y);
}

// What all results of a column have in common.
struct Column {
    int32_t shift, zero;
    float   ratio, bias, y_zero;
};

// `sum`: of the column of B as it is packed.
INL Column column_of(const HoloCudaScaled &s, int64_t n, int32_t sum)
{
    Column  c      = {0, 0, 1, 0, 0};
    int32_t a_zero = s.a_zero ? byte_at(s.a_zero, 0, s.a_type) : 0;
    c.zero         = (s.b_zero ? byte_at(s.b_zero, s.b_zeros ? n : 0, s.b_type) : 0) - s.b_shift;
    c.shift        = wrap_mul(a_zero, wrap_add(wrap_mul(s.count, c.zero), wrap_mul(sum, -1)));
    if (s.c) c.shift = wrap_add(c.shift, s.c[s.cs ? n : 0]);
    if (!s.a_scale) return c;
    c.ratio = __fmul_rn(load_any(s.a_scale, 0, s.a_scale_type), load_any(s.b_scale, s.b_scales ? n : 0, s.b_scale_type));
    if (s.bias) c.bias = load_any(s.bias, n, s.bias_type);
    if (!s.y_zero) return c;
    c.ratio  = __fdiv_rn(c.ratio, load_any(s.y_scale, 0, s.y_scale_type));
    c.y_zero = (float)byte_at(s.y_zero, 0, s.y_type);
    return c;
}

// A result, as the bits of an i32, of an f32, or of a byte.
INL uint32_t scaled(const HoloCudaScaled &s, const Column &c, int32_t sum, int32_t row_sum)
{
    int32_t x = wrap_add(wrap_add(sum, c.shift), wrap_mul(-c.zero, row_sum));
    if (!s.a_scale) return (uint32_t)x;
    float y = __fmul_rn((float)x, c.ratio);
    if (s.y_zero) return byte_of(rintf(y) + c.y_zero, s.y_type);
    return __float_as_uint(s.bias ? __fadd_rn(y, c.bias) : y);
}

INL void scaled_store(const HoloCudaScaled &s, void *to, int64_t at, uint32_t bits)
{
    if (s.y_zero)
        ((uint8_t *)to)[at] = (uint8_t)bits;
    else if (!s.a_scale)
        ((uint32_t *)to)[at] = bits;
    else
        store_any(to, at, s.y_type, __uint_as_float(bits));
}

// The sum that a packed row of B ends with.
INL int32_t packed_sum(const HoloCudaProduct &p, int64_t b, int n)
{
    return *(const int32_t *)((const char *)p.b + b + (int64_t)(n + 1) * p.ldb - HOLO_CUDA_BYTES_MORE);
}

#endif
