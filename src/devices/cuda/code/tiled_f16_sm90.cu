// tiled_f16_sm90.cu - products and convolutions of f16 on sm_90, tiles brought by the copy engine; summed in f32.
#include "tiled.cuh"

TILED_PRODUCTS(f16, F16)
