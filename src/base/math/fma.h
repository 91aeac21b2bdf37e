// fma.h - a * b + c of floats and doubles, rounded once, with the same bits everywhere. Not every C library rounds right if
// a * b lies half-way between two numbers; that of Windows computes in the registers of the x87.
#ifndef HOLO_BASE_MATH_FMA_H
#define HOLO_BASE_MATH_FMA_H

#include "base/bits.h"

static inline float holo_fma_f32(float a, float b, float c)
{
    double product = (double)a * (double)b, sum = product + (double)c; // the product is exact
    double rest = sum - product, lost = (product - (sum - rest)) + ((double)c - rest);
    // The sum with an odd last bit where it is not exact: float sees on which side of half-way it lies.
    if (lost != 0 && sum - sum == 0 && !(holo_bits_of_f64(sum) & 1))
        sum = holo_f64_of_bits(holo_bits_of_f64(sum) + ((lost > 0) == (sum > 0) ? 1u : UINT64_MAX));
    return (float)sum;
}

double holo_fma_f64(double a, double b, double c); // math_fma.c

#endif
