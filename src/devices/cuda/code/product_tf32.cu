// product_tf32.cu - products and convolutions of f32 by tensor cores that read 10 bits after the point, summed in f32.
#include "product.cuh"

TENSOR_PRODUCTS(tf32, TF32)
