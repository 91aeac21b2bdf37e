// small_float.h - the bits of floats of 16 bits and fewer, inline, for loops over many of them. dtype.h has single
// numbers.
#ifndef HOLO_FORMAT_SMALL_FLOAT_H
#define HOLO_FORMAT_SMALL_FLOAT_H

#include "base/bits.h"
#include "hologram.h"

#include <string.h>

// A code is sign, exponent, mantissa; `largest`, `overflow` and `nan` are codes without their sign.
typedef struct HoloSmallFloat {
    int      mantissa, bias; // bits of the mantissa; bias of the exponent
    uint32_t sign;           // the sign's bit
    uint32_t largest;        // the largest finite number
    uint32_t overflow;       // larger numbers become this: infinity, NaN, or the largest number
    uint32_t nan;
    bool     is_fnuz; // no infinities, no -0: the code of -0 is the only NaN
} HoloSmallFloat;

// clang-format off
static const HoloSmallFloat HOLO_FORMAT_F16  = {10, 15, 0x8000, 0x7BFF, 0x7C00, 0x7E00, false};
static const HoloSmallFloat HOLO_FORMAT_BF16 = {7, 127, 0x8000, 0x7F7F, 0x7F80, 0x7FC0, false};
static const HoloSmallFloat HOLO_FORMAT_F8E4M3FN   = {3, 7, 0x80, 0x7E, 0x7F, 0x7F, false};
static const HoloSmallFloat HOLO_FORMAT_F8E4M3FNUZ = {3, 8, 0x80, 0x7F, 0x80, 0x80, true};
static const HoloSmallFloat HOLO_FORMAT_F8E5M2     = {2, 15, 0x80, 0x7B, 0x7C, 0x7E, false};
static const HoloSmallFloat HOLO_FORMAT_F8E5M2FNUZ = {2, 16, 0x80, 0x7F, 0x80, 0x80, true};
static const HoloSmallFloat HOLO_FORMAT_F6E2M3     = {3, 1, 0x20, 0x1F, 0x1F, 0, false}; // these have no NaN
static const HoloSmallFloat HOLO_FORMAT_F6E3M2     = {2, 3, 0x20, 0x1F, 0x1F, 0, false};
static const HoloSmallFloat HOLO_FORMAT_F4E2M1     = {1, 1, 0x8, 0x7, 0x7, 0, false};
// clang-format on

// Rounds once, to nearest, ties to even. With `saturate`, numbers that are too large become the largest number.
static inline uint32_t holo_small_encode(HoloSmallFloat format, double x, bool saturate)
{
    uint64_t bits = holo_bits_of_f64(x);
    uint32_t sign = bits >> 63 ? format.sign : 0;
    if (x != x) return format.is_fnuz ? format.nan : sign | format.nan;

    // A double below its normal range is far below half of the smallest number here, so it may count as 0.
    int      field    = (int)(bits >> 52 & 0x7FF);
    uint64_t mantissa = field ? (bits & 0xFFFFFFFFFFFFF) | UINT64_C(1) << 52 : 0;
    int      exponent = field - 1023;
    int      lowest   = 1 - format.bias;
    int      scale    = exponent > lowest ? exponent : lowest; // its exponent; the lowest is also that of subnormals
    int      shift    = 52 - format.mantissa + (scale - exponent);
    if (shift > 63) shift = 63;

    uint64_t kept = mantissa >> shift, rest = mantissa & ((UINT64_C(1) << shift) - 1),
             half = UINT64_C(1) << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1));
    // The leading 1 of a normal number adds 1 to the exponent's field; so does a carry out of rounding.
    uint32_t code = ((uint32_t)(scale - lowest) << format.mantissa) + (uint32_t)kept;
    if (code > format.largest) {
        code = saturate ? format.largest : format.overflow;
        if (format.is_fnuz && !saturate) return code;
    }
    return format.is_fnuz && code == 0 ? 0 : sign | code;
}

static inline float holo_small_decode(HoloSmallFloat format, uint32_t code)
{
    uint32_t magnitude = code & (format.sign - 1);
    uint32_t sign      = code & format.sign ? 0x80000000 : 0;
    if (format.is_fnuz) {
        if (code == format.nan) return holo_f32_of_bits(0x7FC00000);
    } else if (magnitude > format.largest) {
        return holo_f32_of_bits(
            sign | (magnitude == format.overflow && format.overflow != format.nan ? 0x7F800000 : 0x7FC00000));
    }
    uint32_t field = magnitude >> format.mantissa, fraction = magnitude & ((1u << format.mantissa) - 1);
    float    unit = holo_f32_of_bits((uint32_t)(127 + 1 - format.bias) << 23); // the smallest normal number
    if (field == 0) {
        float step = unit / (float)(1u << format.mantissa);
        return sign ? -(float)fraction * step : (float)fraction * step;
    }
    return holo_f32_of_bits(sign | (field - (uint32_t)format.bias + 127) << 23 | fraction << (23 - format.mantissa));
}

static inline float holo_f16_decode(uint16_t bits)
{
    // In its new position the exponent is 112 too small. A product with a power of 2 is exact, also for subnormals.
    uint32_t magnitude = holo_bits_of_f32(holo_f32_of_bits((uint32_t)(bits & 0x7FFF) << 13) * 0x1p112f);
    if ((bits & 0x7C00) == 0x7C00) magnitude |= 0x7F800000;
    return holo_f32_of_bits(magnitude | (uint32_t)(bits & 0x8000) << 16);
}

static inline float holo_bf16_decode(uint16_t bits)
{
    return holo_f32_of_bits((uint32_t)bits << 16);
}

// f8e8m0 holds powers of 2, from 2^-127 (code 0) to 2^127 (code 254); 255 is NaN. Halfway between two powers it rounds
// up.
static inline uint8_t holo_f8e8m0_encode(double x, bool saturate)
{
    if (x != x || x < 0) return 255;
    // Half a unit of the exponent's field, added to the bits, carries when the mantissa is 1.5 or more.
    int exponent = (int)((holo_bits_of_f64(x) + (UINT64_C(1) << 51)) >> 52 & 0x7FF) - 1023;
    if (exponent < -127) return saturate ? 0 : 255;
    if (exponent > 127) return saturate ? 254 : 255;
    return (uint8_t)(exponent + 127);
}

static inline float holo_f8e8m0_decode(uint8_t bits)
{
    if (bits == 255) return holo_f32_of_bits(0x7FC00000);
    return bits ? holo_f32_of_bits((uint32_t)bits << 23) : 0x1p-127f;
}

#endif
