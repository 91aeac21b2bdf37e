// cuda_product.h - what products and convolutions share.
#ifndef HOLO_DEVICES_CUDA_CUDA_PRODUCT_H
#define HOLO_DEVICES_CUDA_CUDA_PRODUCT_H

#include "devices/cuda/cuda_kernel.h"
#include "devices/cuda/cuda_pick.h"

typedef struct HoloCudaOperand {
    int      operand; // as of HoloCudaPlace
    uint64_t offset;
} HoloCudaOperand;
#define HOLO_CUDA_INPUT_A ((HoloCudaOperand){0, 0})

// Adds the launches that were picked. Input 1 is B, output 0 is C; `bias` and `more` are inputs, or -1.
HOLO_MUST HoloStatus holo_cuda_picked(HoloCudaMaking *m, const HoloCudaPick *pick, HoloCudaOperand a, int bias,
                                      int more);
// Are there kernels of tiled.cuh for this GPU and class?
bool holo_cuda_is_tiled(const HoloCudaMaking *m);
// Refuses what the end of a product cannot be.
HOLO_MUST HoloStatus holo_cuda_end_check(const HoloCudaMaking *m);

#endif
