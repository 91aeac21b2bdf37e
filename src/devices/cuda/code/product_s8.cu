// product_s8.cu - products and convolutions of bytes, summed in 32 bits: A is signed or not, B is signed.
#include "product.cuh"

PRODUCT_OF(HoloCudaBytes, product_s8_128x128, Tensor, S8, 128, 128, 256, 3, 2)
PRODUCT_OF(HoloCudaBytes, product_s8_64x64, Tensor, S8, 64, 64, 128, 6, 2)
PRODUCT_OF(HoloCudaBytes, product_u8_128x128, Tensor, U8, 128, 128, 256, 3, 2)
PRODUCT_OF(HoloCudaBytes, product_u8_64x64, Tensor, U8, 64, 64, 128, 6, 2)
