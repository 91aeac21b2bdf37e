// cuda_product.h - what products and convolutions share.
#ifndef HOLO_DEVICES_CUDA_CUDA_PRODUCT_H
#define HOLO_DEVICES_CUDA_CUDA_PRODUCT_H

#include "devices/cuda/cuda_kernel.h"
#include "devices/cuda/cuda_pick.h"

// Adds the launches that were picked. Input 0 is A, input 1 is B, output 0 is C; `bias` and `more` are inputs, or -1.
HOLO_MUST HoloStatus holo_cuda_picked(HoloCudaMaking *m, const HoloCudaPick *pick, int bias, int more);
// Refuses what the end of a product cannot be.
HOLO_MUST HoloStatus holo_cuda_end_check(const HoloCudaMaking *m);

#endif
