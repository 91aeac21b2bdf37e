// vec_halves.h - sums of products of bytes that stay in 16 bits for a while, for numbers of few bits. Included behind
// vec_bytes.h.
//
// Only levels with BYTES_HALVES call these. How many sums fit into 16 bits, the caller knows.
#ifndef HOLO_KERNELS_VEC_VEC_HALVES_H
#define HOLO_KERNELS_VEC_VEC_HALVES_H

#include "kernels/vec/vec_bytes.h"

// clang-format off
enum { BYTES_HALVES = 0 BYTES_WIDE(+ 1) };

// The 16-bit sums of products of b's unsigned bytes and a's signed ones, two and two.
INL i32n n_halves(i32n b, i32n a)
{
    BYTES_WIDE(return (i32n)_mm256_maddubs_epi16((__m256i)b, (__m256i)a);)
    return b + a;
}

INL i32n n_halves_add(i32n x, i32n y)
{
    BYTES_WIDE(return (i32n)_mm256_add_epi16((__m256i)x, (__m256i)y);)
    return x + y;
}

// The sum plus, for each lane, both of its 16-bit numbers.
INL i32n n_halves_sum(i32n sum, i32n x)
{
    BYTES_WIDE(return sum + (i32n)_mm256_madd_epi16((__m256i)x, _mm256_set1_epi16(1));)
    return sum + x;
}
// clang-format on

#endif
