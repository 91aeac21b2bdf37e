// vec_halves.h - sums of products of bytes that stay in 16 bits for a while: for numbers of few bits, with n_bytes of vec_bytes.h.
#ifndef HOLO_KERNELS_VEC_HALVES_H
#define HOLO_KERNELS_VEC_HALVES_H

#include "kernels/vec/vec_bytes.h"

// n_halves: the 16-bit sums of b's unsigned bytes with a's signed ones, two and two. n_halves_sum: the sum plus, for each
// lane, both of its 16-bit numbers. How many sums of n_halves fit, the caller knows. Only levels with BYTES_HALVES call them.
#if defined __AVX2__ && !defined __AVX512BW__
#define BYTES_HALVES 1
INL i32n n_halves(i32n b, i32n a)
{
    return (i32n)_mm256_maddubs_epi16((__m256i)b, (__m256i)a);
}

INL i32n n_halves_add(i32n x, i32n y)
{
    return (i32n)_mm256_add_epi16((__m256i)x, (__m256i)y);
}

INL i32n n_halves_sum(i32n sum, i32n x)
{
    return sum + (i32n)_mm256_madd_epi16((__m256i)x, _mm256_set1_epi16(1));
}
#else
#define BYTES_HALVES 0
INL i32n n_halves(i32n b, i32n a)
{
    return b + a;
}

INL i32n n_halves_add(i32n x, i32n y)
{
    return x + y;
}

INL i32n n_halves_sum(i32n sum, i32n x)
{
    return sum + x;
}
#endif

#endif
