// product_f32.cu - products and convolutions of f32: by FFMA (fused), by multiply and add (exact), both in the order of k; and by
// three products of tf32 halves on tensor cores (parts), which is as close as f32 sums are.
#include "product.cuh"

PRODUCT(product_fused_64x64, Simt, Fused, 64, 64, 128, 6, 2)
PRODUCT(product_exact_64x64, Simt, Exact, 64, 64, 128, 6, 2)
PRODUCT(product_parts_128x64, Sync, Parts, 128, 64, 256, 4, 1)
PRODUCT(product_parts_64x64, Sync, Parts, 64, 64, 128, 6, 2)
