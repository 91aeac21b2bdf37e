// vec_fma.h - a product and a sum that are rounded once, for CPUs without such an instruction. The last part of vec.h.
#ifndef HOLO_VEC_FMA_H
#define HOLO_VEC_FMA_H

#include "kernels/vec.h"

// Products of floats are exact in double. The sum is rounded to double, and then to float: that is one rounding, but where
// the first ends half-way between two floats, and among numbers that are not normal.
static __attribute__((noinline, unused)) f32n n_fma_in_doubles(f32n a, f32n b, f32n c)
{
    f64w x = n_widen(a), y = n_widen(b), z = n_widen(c);
    u64n rest[2];
    for (int i = 0; i < 2; i++) {
        z.half[i] += x.half[i] * y.half[i];
        rest[i] = (u64n)z.half[i] & 0x1fffffff; // what float has no bits for
    }
    f32n sum  = n_narrow(z);
    i32n half = (i32n)((rest[0] == 0x10000000) | (rest[1] == 0x10000000)), size = (i32n)n_abs(sum);
    if (!n_any(half | ((size > 0) & (size <= 0x00800000)))) return sum;
    for (int l = 0; l < NATIVE_LANES; l++) c[l] = __builtin_fmaf(a[l], b[l], c[l]);
    return c;
}

#endif
