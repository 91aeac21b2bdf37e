// product_plain.cu - what the kernels of product.cuh promise (HoloCudaProduct of cuda_params.h), in plain loops: their own code is PTX,
// which does not run on the CPU. It checks what they are told: sizes, strides, addresses, ends. Sums are those of f32, in order; those
// of bytes are integers. Floats of 8 bits are read as GPUs before sm_89 read them.
#include "../../../src/devices/cuda/code/bytes.cuh"
#include "../../../src/devices/cuda/code/float8.cuh"

// Element k of row m of A: of a matrix, or of the patch under pixel m.
static float a_at(const HoloCudaProduct &p, int type, int64_t a, int m, int k)
{
    if (!p.height) return load_any(p.a, a + (int64_t)m * p.lda + k, type);
    int     c = k % p.channels, kx = k / p.channels % p.kernel_w, ky = k / p.channels / p.kernel_w;
    int     y = m / p.out_w % p.out_h * p.stride_h - p.pad_h + ky * p.dilation_h;
    int     x = m % p.out_w * p.stride_w - p.pad_w + kx * p.dilation_w;
    int64_t image = m / p.out_w / p.out_h;
    if (y < 0 || y >= p.height || x < 0 || x >= p.width) return 0;
    return load_any(p.a, a + ((image * p.height + y) * p.width + x) * p.lda + c, type);
}

// One thread of the grid computes all of it.
static void product(const HoloCudaProduct &p, int type)
{
    if (threadIdx.x || blockIdx.x || blockIdx.y || blockIdx.z) return;
    for (int z = 0; z < (int)gridDim.z; z++) {
        int64_t one = z / p.inner, two = z % p.inner, b = one * p.b_batch[0] + two * p.b_batch[1];
        int64_t line = one * p.bias_batch[0] + two * p.bias_batch[1];
        for (int64_t i = 0; i < (int64_t)p.m * p.n; i++) {
            int   m = (int)(i / p.n), n = (int)(i % p.n);
            float x = 0;
            for (int k = 0; k < p.k; k++)
                x += a_at(p, type, one * p.a_batch[0] + two * p.a_batch[1], m, k) * load_any(p.b, b + (int64_t)n * p.ldb + k, type);
            x *= p.alpha * (p.scale ? p.scale[line + n] : 1);
            if (p.bias) x += p.bias[line + n];
            int64_t from = one * p.more_batch[0] + two * p.more_batch[1] + (int64_t)m * p.ldmore + n;
            int64_t to   = one * p.c_batch[0] + two * p.c_batch[1] + (int64_t)m * p.ldc + n;
            float   more = p.more_how ? load_any(p.more, from, p.more_type) : 0;
            store_any(p.c, to, p.c_type, end_of(x, more, p.act, p.more_how, p.low, p.high));
        }
    }
}

// The same of bytes.
static void bytes(const HoloCudaBytes &all, int type)
{
    const HoloCudaProduct &p = all.p;
    if (threadIdx.x || blockIdx.x || blockIdx.y || blockIdx.z) return;
    for (int z = 0; z < (int)gridDim.z; z++) {
        int64_t one = z / p.inner, two = z % p.inner, b = one * p.b_batch[0] + two * p.b_batch[1];
        int64_t line = one * p.bias_batch[0] + two * p.bias_batch[1];
        for (int64_t i = 0; i < (int64_t)p.m * p.n; i++) {
            int     m = (int)(i / p.n), n = (int)(i % p.n);
            int32_t sum = 0;
            for (int k = 0; k < p.k; k++)
                sum = wrap_add(sum, (int32_t)a_at(p, type, one * p.a_batch[0] + two * p.a_batch[1], m, k) *
                                        ((const int8_t *)p.b)[b + (int64_t)n * p.ldb + k]);
            int32_t row_sum = all.s.row_sums ? all.s.row_sums[(int64_t)z * p.m + m] : 0;
            Column  column  = column_of(all.s, line + n, packed_sum(p, b, n));
            int64_t to      = one * p.c_batch[0] + two * p.c_batch[1] + (int64_t)m * p.ldc + n;
            scaled_store(all.s, p.c, to, scaled(all.s, column, sum, row_sum));
        }
    }
}

static float float8_at(const void *from, int64_t at, bool is_e5m2)
{
    uint32_t low, high, four = ((const uint8_t *)from)[at] * 0x01010101u;
    float8_decode(four, is_e5m2, low, high);
    float2 x = __half22float2(*(const __half2 *)&low), y = __half22float2(*(const __half2 *)&high);
    bool   same = __float_as_uint(x.x) == __float_as_uint(y.y) && __float_as_uint(x.y) == __float_as_uint(y.x);
    return same ? x.x : 12345; // all four places are the same number
}

static void float8(const HoloCudaFloat8 &f, bool a_is_e5m2, bool b_is_e5m2)
{
    const HoloCudaProduct &p = f.p;
    if (threadIdx.x || blockIdx.x || blockIdx.y || blockIdx.z) return;
    for (int64_t i = 0; i < (int64_t)p.m * p.n; i++) {
        int   m = (int)(i / p.n), n = (int)(i % p.n);
        float x = 0;
        for (int k = 0; k < p.k; k++)
            x += float8_at(p.a, (int64_t)m * p.lda + k, a_is_e5m2) * float8_at(p.b, (int64_t)n * p.ldb + k, b_is_e5m2);
        x *= float8_a_scale(f, m) * float8_b_scale(f, n);
        if (p.bias) x += p.bias[n];
        store_any(p.c, (int64_t)m * p.ldc + n, p.c_type, end_of(x, 0, p.act, p.more_how, p.low, p.high));
    }
}

#define BYTES(name, type) \
    extern "C" __global__ void product_##name##_128x128(HoloCudaBytes p) { bytes(p, type); } \
    extern "C" __global__ void product_##name##_64x64(HoloCudaBytes p) { bytes(p, type); }
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
BYTES(s8, HOLO_CUDA_S8)
BYTES(u8, HOLO_CUDA_U8)
#define FLOAT8S(name, a_is_e5m2, b_is_e5m2) \
    extern "C" __global__ void product_##name##_128x64(HoloCudaFloat8 p) { float8(p, a_is_e5m2, b_is_e5m2); } \
    extern "C" __global__ void product_##name##_64x64(HoloCudaFloat8 p) { float8(p, a_is_e5m2, b_is_e5m2); }
FLOAT8S(e4m3_e4m3, false, false)
FLOAT8S(e4m3_e5m2, false, true)
FLOAT8S(e5m2_e4m3, true, false)
FLOAT8S(e5m2_e5m2, true, true)
