// product_s8.cu - products and convolutions of signed bytes, summed in 32 bits.
#include "product.cuh"

PRODUCT(product_s8_128x128, Tensor, S8, 128, 128, 256, 3, 2)
PRODUCT(product_s8_64x64, Tensor, S8, 64, 64, 128, 6, 2)
