// vec_gather.h - numbers of a table by the numbers of a register. Included behind vec.h.
#ifndef HOLO_KERNELS_VEC_VEC_GATHER_H
#define HOLO_KERNELS_VEC_VEC_GATHER_H

#include "kernels/vec/vec.h"

// Entries of 16 bits. The 16 bits behind an entry are read, too.
INL i32n n_gather_u16(const uint16_t *table, i32n at)
{
#if defined __AVX512F__
    return (i32n)_mm512_i32gather_epi32((__m512i)at, table, 2) & 0xFFFF;
#elif defined __AVX2__
    return (i32n)_mm256_i32gather_epi32((const int *)(const void *)table, (__m256i)at, 2) & 0xFFFF;
#else
    i32n x                                             = {0};
    UNROLL for (int l = 0; l < NATIVE_LANES; l++) x[l] = table[at[l]];
    return x;
#endif
}

#endif
