// tiled_tf32_sm90.cu - products and convolutions of f32 rounded to 10 bits on sm_90, tiles brought by the copy engine; summed in f32.
#include "tiled.cuh"

TILED_PRODUCTS(tf32, TF32)
