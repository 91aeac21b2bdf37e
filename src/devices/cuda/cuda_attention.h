// cuda_attention.h - attention, with or without a cache.
#ifndef HOLO_DEVICES_CUDA_CUDA_ATTENTION_H
#define HOLO_DEVICES_CUDA_CUDA_ATTENTION_H

#include "devices/cuda/cuda_kernel.h"
#include "devices/cuda/cuda_pick.h"

// Adds the kernel for it. Inputs 0 to 2 are Q, K and V. *out is NULL if there is nothing to compute.
HOLO_MUST HoloStatus holo_cuda_attention_add(HoloCudaMaking *m, const HoloCudaAttention *p, HoloCudaStep **out);

#endif
