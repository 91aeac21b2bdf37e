// product_f16.cu - products and convolutions of f16, summed in f32.
#include "product.cuh"

TENSOR_PRODUCTS(f16, F16)
