// product_plain.cc - what the kernels of product.cuh promise (HoloCudaProduct of cuda_params.h), in plain loops: their own code is PTX,
// which does not run on the CPU. It checks what they are told: sizes, strides, addresses, ends. Sums are those of f32, in order.
#include "../../../src/devices/cuda/code/device.cuh"

static float element_of(const HoloCudaProduct &p, int type, int64_t a, int64_t b, int m, int n)
{
    float sum = 0;
    for (int k = 0; k < p.k; k++)
        sum += load_any(p.a, a + (int64_t)m * p.lda + k, type) * load_any(p.b, b + (int64_t)n * p.ldb + k, type);
    sum *= p.alpha * (p.scale ? p.scale[n] : 1);
    return p.bias ? sum + p.bias[n] : sum;
}

// One thread of the grid computes all of it.
static void product(const HoloCudaProduct &p, int type)
{
    if (threadIdx.x || blockIdx.x || blockIdx.y || blockIdx.z) return;
    if (p.height) on_cpu::fail("product_plain.cc has no convolutions");
    for (int z = 0; z < (int)gridDim.z; z++) {
        int64_t one = z / p.inner, two = z % p.inner;
        for (int64_t i = 0; i < (int64_t)p.m * p.n; i++) {
            int     m = (int)(i / p.n), n = (int)(i % p.n);
            float   x = element_of(p, type, one * p.a_batch[0] + two * p.a_batch[1], one * p.b_batch[0] + two * p.b_batch[1], m, n);
            int64_t to = one * p.c_batch[0] + two * p.c_batch[1] + (int64_t)m * p.ldc + n;
            int64_t from = one * p.more_batch[0] + two * p.more_batch[1] + (int64_t)m * p.ldmore + n;
            float   more = p.more_how ? load_any(p.more, from, p.more_type) : 0;
            store_any(p.c, to, p.c_type, end_of(x, more, p.act, p.more_how, p.low, p.high));
        }
    }
}

#define PRODUCT(name, type) \
    extern "C" __global__ void name(HoloCudaProduct p) { product(p, type); }
#define TILES(name, type)             \
    PRODUCT(product_##name##_128x256, type) \
    PRODUCT(product_##name##_128x128, type) \
    PRODUCT(product_##name##_128x64, type)  \
    PRODUCT(product_##name##_64x64, type)

TILES(f16, HOLO_CUDA_F16)
TILES(bf16, HOLO_CUDA_BF16)
TILES(tf32, HOLO_CUDA_F32)
TILES(parts, HOLO_CUDA_F32)
TILES(fused, HOLO_CUDA_F32)
TILES(exact, HOLO_CUDA_F32)
