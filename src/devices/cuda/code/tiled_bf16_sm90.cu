// tiled_bf16_sm90.cu - products and convolutions of bf16 on sm_90, tiles brought by the copy engine; summed in f32.
#include "tiled.cuh"

TILED_PRODUCTS(bf16, BF16)
