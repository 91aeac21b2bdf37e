// level.h - what the objects of one level share. Kernels whose bits do not depend on the numeric class are compiled
// once for a level, in level_shared.c; the tables of both classes, in level.c, point to them. Their names,
// SHARED(name), tell the level.
#ifndef HOLO_KERNELS_LEVELS_LEVEL_H
#define HOLO_KERNELS_LEVELS_LEVEL_H

#include "kernels/kernels.h"
#include "kernels/vec/vec_level.h"

#define TEXT_(x)              #x
#define TEXT(x)               TEXT_(x)
#define SHARED__(level, name) holo_kernels_##level##_##name
#define SHARED_(level, name)  SHARED__(level, name)
#define SHARED(name)          SHARED_(HOLO_LEVEL, name)

#define KERNEL(name, ret, args)
#define KERNEL_ONCE(name, ret, args) ret SHARED(name) args;
#include "kernels/kernels.def"
#undef KERNEL

// What CPUs that are one with more have in their place: see vec_bytes.h.
void SHARED(gemm_i8_quads)(const HoloGemmI8 *gemm);
bool SHARED(gemm_raw_i8_quads)(const HoloGemmI8 *gemm);
void SHARED(rows_i8_quads)(int64_t m, int64_t k, const uint8_t *a, int64_t row, bool is_signed, void *out_rows,
                           int32_t *out_sums);
void SHARED(depthwise_i8_quads)(const HoloDepthwiseI8 *depthwise, int64_t row, int64_t row_end, int64_t channel);
void SHARED(rows_bits_i8_quads)(int64_t k, int64_t block, const float *a, void *out_row);
void SHARED(gemm_bits_i8_quads)(const HoloGemmBitsI8 *gemm);
void SHARED(rows_blocks_i8_quads)(const HoloBlockType *type, int64_t k, const float *a, void *out_row);
void SHARED(gemm_blocks_i8_quads)(const HoloGemmBlocks *gemm);
void SHARED(lookup_u8_vbmi)(int64_t n, const uint8_t *x, const uint8_t *table, uint8_t *out);

INL int64_t ceil_steps(int64_t distance, int64_t step)
{
    return step == 1 ? distance : (distance + step - 1) / step;
}

// The places of the kernel, along one dimension, that are inside the image for an output at `at`.
INL void places_inside(const HoloConvShape *s, int dim, int64_t at, int64_t *first, int64_t *end)
{
    int64_t start = at * s->stride[dim] - s->pad[dim], left = s->in[dim] - start;
    *first = start < 0 ? ceil_steps(-start, s->dilation[dim]) : 0;
    *end   = left <= 0 ? 0 : ceil_steps(left, s->dilation[dim]);
    if (*end > s->kernel[dim]) *end = s->kernel[dim];
    if (*first > *end) *first = *end;
}

#endif
