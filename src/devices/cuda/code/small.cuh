// small.cuh - floats of 8 bits, one at a time: to f32 and back.
#ifndef HOLO_DEVICES_CUDA_CODE_SMALL_CUH
#define HOLO_DEVICES_CUDA_CODE_SMALL_CUH

#include "device.cuh"

// As HoloSmallFloat of format/small_float.h.
struct Small {
    int      mantissa, bias;
    uint32_t largest, overflow, nan;
    bool     is_fnuz;
};

INL Small small_of(int type)
{
    switch (type) {
    case HOLO_CUDA_E4M3: return Small{3, 7, 0x7e, 0x7f, 0x7f, false};
    case HOLO_CUDA_E4M3_FNUZ: return Small{3, 8, 0x7f, 0x80, 0x80, true};
    case HOLO_CUDA_E5M2: return Small{2, 15, 0x7b, 0x7c, 0x7e, false};
    default: return Small{2, 16, 0x7f, 0x80, 0x80, true};
    }
}

// To the nearest, ties to even.
INL uint8_t small_encode(const Small &f, float x, bool saturates)
{
    uint32_t bits = __float_as_uint(x), sign = bits >> 31 ? 0x80 : 0;
    if (x != x) return (uint8_t)(f.is_fnuz ? f.nan : sign | f.nan);
    int      field    = (int)(bits >> 23 & 0xff), exponent = field - 127, lowest = 1 - f.bias;
    uint32_t mantissa = field ? (bits & 0x7fffff) | 0x800000 : 0; // a subnormal is far below half of the smallest number
    int      scale = exponent > lowest ? exponent : lowest, shift = 23 - f.mantissa + (scale - exponent);
    if (shift > 31) shift = 31;
    uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), half = 1u << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    uint32_t code = ((uint32_t)(scale - lowest) << f.mantissa) + kept;
    if (code > f.largest) {
        code = saturates ? f.largest : f.overflow;
        if (f.is_fnuz && !saturates) return (uint8_t)code;
    }
    return (uint8_t)(f.is_fnuz && !code ? 0 : sign | code);
}

INL float small_decode(const Small &f, uint32_t code)
{
    uint32_t magnitude = code & 0x7f, sign = (code & 0x80) << 24, field = magnitude >> f.mantissa;
    uint32_t fraction = magnitude & ((1u << f.mantissa) - 1);
    if (f.is_fnuz && code == f.nan) return __uint_as_float(0x7fc00000);
    if (!f.is_fnuz && magnitude > f.largest)
        return __uint_as_float(sign | (magnitude == f.overflow && f.overflow != f.nan ? 0x7f800000 : 0x7fc00000));
    float step = __uint_as_float((uint32_t)(127 + 1 - f.bias - f.mantissa) << 23); // of subnormals
    if (!field) return __uint_as_float(sign | __float_as_uint((float)fraction * step));
    return __uint_as_float(sign | (field - f.bias + 127) << 23 | fraction << (23 - f.mantissa));
}

#endif
