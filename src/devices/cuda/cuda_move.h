// cuda_move.h - copies of boxes of elements: what steps that only move elements are made of.
#ifndef HOLO_DEVICES_CUDA_CUDA_MOVE_H
#define HOLO_DEVICES_CUDA_CUDA_MOVE_H

#include "devices/cuda/cuda_kernel.h"

typedef struct HoloCudaCopy {
    int     from, to; // operands
    int     rank;
    int64_t size[HOLO_MAX_RANK], from_stride[HOLO_MAX_RANK], to_stride[HOLO_MAX_RANK];
    int64_t from_start, to_start; // elements
} HoloCudaCopy;

// Adds a launch that copies it. Changes `c`. A constant of f32 becomes what f32 is stored as.
HOLO_MUST HoloStatus holo_cuda_copy(HoloCudaMaking *m, HoloCudaCopy *c);
// From each dimension of a dense tensor to the next, in elements.
void holo_cuda_strides(const HoloTensor *t, int64_t *out);
// Bytes of an element of the outputs.
size_t holo_cuda_out_element(const HoloCudaMaking *m);

// More operators that only move elements: cuda_move_more.c.
HoloCudaPrepare holo_cuda_pad, holo_cuda_tile, holo_cuda_to_space, holo_cuda_to_depth;

#endif
