// product_f8.cu - products of floats of 8 bits, summed in f32.
#include "product.cuh"

// Before sm_90 shared memory has room for one, and f16 takes registers.
#if __CUDA_ARCH__ >= 900
#define WIDE_BLOCKS 2
#else
#define WIDE_BLOCKS 1
#endif

PRODUCT_OF(HoloCudaFloat8, product_e4m3_e4m3_128x64, Tensor, E4M3xE4M3, 128, 64, 256, 4, WIDE_BLOCKS)
PRODUCT_OF(HoloCudaFloat8, product_e4m3_e4m3_64x64, Tensor, E4M3xE4M3, 64, 64, 128, 6, 2)
PRODUCT_OF(HoloCudaFloat8, product_e4m3_e5m2_128x64, Tensor, E4M3xE5M2, 128, 64, 256, 4, WIDE_BLOCKS)
PRODUCT_OF(HoloCudaFloat8, product_e4m3_e5m2_64x64, Tensor, E4M3xE5M2, 64, 64, 128, 6, 2)
PRODUCT_OF(HoloCudaFloat8, product_e5m2_e4m3_128x64, Tensor, E5M2xE4M3, 128, 64, 256, 4, WIDE_BLOCKS)
PRODUCT_OF(HoloCudaFloat8, product_e5m2_e4m3_64x64, Tensor, E5M2xE4M3, 64, 64, 128, 6, 2)
PRODUCT_OF(HoloCudaFloat8, product_e5m2_e5m2_128x64, Tensor, E5M2xE5M2, 128, 64, 256, 4, WIDE_BLOCKS)
PRODUCT_OF(HoloCudaFloat8, product_e5m2_e5m2_64x64, Tensor, E5M2xE5M2, 64, 64, 128, 6, 2)
