// winograd_params.h - what the kernels of winograd.cu are told: one struct, passed by value. Plain C, for host and device.
#ifndef HOLO_DEVICES_CUDA_CODE_WINOGRAD_PARAMS_H
#define HOLO_DEVICES_CUDA_CODE_WINOGRAD_PARAMS_H

#include "cuda_params.h"

// A tile is 2x2 pixels of the result, which see 4x4 of the image: so many places, each of which has a matrix.
enum { HOLO_CUDA_WINOGRAD_SIDE = 2, HOLO_CUDA_WINOGRAD_PLACES = 16 };

// Tiles first .. first + tiles of all images, [image][row][column], as 16 matrices [tiles][channels]; channels last, in fours.
typedef struct HoloCudaWinogradIn {
    const float *from; // [image][height][width][channels]
    float       *to;   // [16][tiles][channels]
    int32_t      height, width, channels;
    int32_t      rows, columns; // of tiles, in an image
    int32_t      pad_h, pad_w;
    int32_t      first, tiles, unused;
} HoloCudaWinogradIn;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaWinogradIn) == 56, "the layout that device code was compiled with");

// And back: the sums over channels become pixels, whose end is that of a product.
typedef struct HoloCudaWinogradOut {
    const float *from; // [16][tiles][filters]
    float       *to;   // [image][height][width][filters]
    const float *bias; // [filters], or NULL
    const float *more; // a tensor like `to`, or NULL
    int32_t      height, width, filters;
    int32_t      rows, columns; // of tiles, in an image
    int32_t      first, tiles;
    float        low, high;
    uint8_t      act, more_how, unused[2]; // NONE and RELU have limits, too
} HoloCudaWinogradOut;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaWinogradOut) == 72,
              "the layout that device code was compiled with");

#endif
