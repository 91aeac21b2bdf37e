// product_bf16.cu - products and convolutions of bf16, summed in f32.
#include "product.cuh"

TENSOR_PRODUCTS(bf16, BF16)
