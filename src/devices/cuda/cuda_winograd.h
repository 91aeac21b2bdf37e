// cuda_winograd.h - 3x3 convolutions by tiles of 2x2 pixels: 16 products of matrices with 2.25 times fewer multiplications.
//
// The compiler decides by the sizes alone, for weights are packed transformed: [16][filters][channels] of f32. The step has a
// kind of its own, so the device only follows.
#ifndef HOLO_DEVICES_CUDA_CUDA_WINOGRAD_H
#define HOLO_DEVICES_CUDA_CUDA_WINOGRAD_H

#include "devices/cuda/code/winograd_params.h"
#include "devices/cuda/cuda_pick.h"
#include "ops/op.h"

typedef struct HoloCudaWinograd {
    int64_t images, channels, filters;
    int64_t height, width, out_h, out_w, pad_h, pad_w;
    int64_t rows, columns, tiles; // of tiles: of an image; of all images
} HoloCudaWinograd;

// Is it a convolution that can be computed so: of f32, two-dimensional, channels last, 3x3, one group, no strides, no dilations,
// channels and filters in fours, sizes that are numbers and fit?
bool holo_cuda_winograd_find(const HoloCall *call, HoloCudaWinograd *out);

// The matrices of a part of the tiles are in the scratch at a time. How many tiles a part should have.
int64_t holo_cuda_winograd_part(const HoloCudaWinograd *w);
enum { HOLO_CUDA_WINOGRAD_PARTS = 4096 }; // there are no more parts

// The 16 products of so many tiles. `want` says what the GPU is; the rest follows.
bool holo_cuda_winograd_pick(const HoloCudaWant *want, const HoloCudaWinograd *w, int64_t tiles, HoloCudaPick *out);

// Microseconds on an H200, by estimate: so, and as the tiles of products compute it. False: one of them cannot do it, or there
// are too few tiles to fill it.
bool holo_cuda_winograd_costs(const HoloCudaWinograd *w, double *out_so, double *out_plain);
// Is it clearly faster so?
bool holo_cuda_winograd_pays(const HoloCudaWinograd *w);

#endif
