// device.cuh - what all heavy kernels share: instructions, conversions, the arithmetic at the end of a product.
#ifndef HOLO_DEVICES_CUDA_CODE_DEVICE_CUH
#define HOLO_DEVICES_CUDA_CODE_DEVICE_CUH

#include "cuda_params.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define INL __device__ __forceinline__

// wgmma needs code for exactly sm_90a; everything else runs from sm_80 on.
#if defined __CUDA_ARCH_FEAT_SM90_ALL
#define HAS_WGMMA 1
#else
#define HAS_WGMMA 0
#endif

// ---- launches that overlap: a kernel may start while the one before it ends. All of ours wait before they read memory.

INL void wait_for_others()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

INL void let_others_start()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Plain kernels begin so: the next one may begin, and what was before has ended. See HOLO_CU_LAUNCH_EARLY.
INL void in_turn()
{
    let_others_start();
    wait_for_others();
}

INL int64_t thread_number()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// Is this the last of `count` blocks to arrive? Then it sees all that the others wrote. A block counts only once all its threads
// have written: one thread that counted before the barrier would speak for others that are still at it.
INL bool is_last_block(uint32_t *counter, int count)
{
    __threadfence();
    __syncthreads();
    bool is_last = __syncthreads_or(threadIdx.x == 0 && atomicAdd(counter, 1) == (uint32_t)count - 1);
    __threadfence();
    return is_last;
}

// ---- clusters: blocks that run side by side and read each other's shared memory, in code for sm_90 alone

INL void cluster_sync()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Where block `block` of the cluster has what is at this address of shared memory here.
INL uint32_t address_in_block(uint32_t at, int block)
{
    uint32_t there = at;
#if __CUDA_ARCH__ >= 900
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(block));
#endif
    return there;
}

INL float load_of_cluster(uint32_t at)
{
    float x = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(at) : "memory");
#endif
    return x;
}

// ---- steps that are launched together

template <class P> struct Many {
    P p[HOLO_CUDA_MANY];
};

// The parameters of the step that a block belongs to.
template <class P> INL const P &part_of(const Many<P> &all)
{
    int i = 0;
#pragma unroll
    for (int k = 1; k < HOLO_CUDA_MANY; k++)
        if (all.p[k].part.blocks && blockIdx.x >= all.p[k].part.first) i = k;
    return all.p[i];
}

// ---- copies to shared memory that do not wait

INL uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

#ifdef HOLO_ON_CPU // tests/cuda/on_cpu: a copy is there at once
INL void copy_16(uint32_t to, const void *from, int bytes)
{
    char *at = shared_pointer(to);
    memset(at, 0, 16);
    memcpy(at, from, (size_t)bytes);
}
INL void copy_commit() {}
template <int N> INL void copy_wait()
{
}
INL uint4 load_shared(uint32_t from)
{
    return *(const uint4 *)shared_pointer(from);
}
INL void prefetch(const void *) {}
#else
// 16 bytes, of which the first `bytes` come from memory and the rest are zeros.
INL void copy_16(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

INL void copy_4(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

INL void copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int N> INL void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// What copies brought.
INL uint4 load_shared(uint32_t from)
{
    uint4 w;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "r"(from) : "memory");
    return w;
}

// Asks for the 128 bytes around an address: they will be in the second cache.
INL void prefetch(const void *at)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}
#endif

// Shared memory whose size the launch says.
#ifdef HOLO_ON_CPU
#define DYNAMIC_SHARED(name) char *name = dynamic_shared
#else
#define DYNAMIC_SHARED(name) extern __shared__ __align__(128) char name[]
#endif

// ---- fragments of matrices, and their products

INL void load_matrices(uint32_t (&r)[4], uint32_t from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}

INL void load_matrices_turned(uint32_t (&r)[4], uint32_t from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}

// The nearest number of 10 bits: the tensor cores would cut the rest off, which is biased.
INL uint32_t to_tf32(uint32_t x)
{
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(x)));
    return r;
}

// Each element type: what memory holds, and the product of fragments of 16 x 32 bytes and 8 x 32 bytes. LINES: tensor cores add up one line
// of 128 bytes at a time, and ordinary additions, which round, all lines.
#define MMA(shape, types, D, d, a, b0, b1)                                                                            \
    asm volatile("mma.sync.aligned." shape ".row.col." types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                 : "+" D(d[0]), "+" D(d[1]), "+" D(d[2]), "+" D(d[3])                                                 \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

struct F16 {
    using T   = __half;
    using Sum = float;
    enum { PARTS = 1, LINES = 0, TYPE = HOLO_CUDA_F16 };
    static INL void round(uint32_t &) {}
    static INL void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        MMA("m16n8k16", "f32.f16.f16.f32", "f", d, a, b0, b1);
    }
    static INL float    get(T x) { return __half2float(x); }
    static INL T        put(float x) { return __float2half_rn(x); }
    static INL uint32_t pair(float x, float y)
    {
        __half2 h = __floats2half2_rn(x, y);
        return *(uint32_t *)&h;
    }
};

struct BF16 {
    using T   = __nv_bfloat16;
    using Sum = float;
    enum { PARTS = 1, LINES = 0, TYPE = HOLO_CUDA_BF16 };
    static INL void round(uint32_t &) {}
    static INL void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        MMA("m16n8k16", "f32.bf16.bf16.f32", "f", d, a, b0, b1);
    }
    static INL float    get(T x) { return __bfloat162float(x); }
    static INL T        put(float x) { return __float2bfloat16_rn(x); }
    static INL uint32_t pair(float x, float y)
    {
        __nv_bfloat162 h = __floats2bfloat162_rn(x, y);
        return *(uint32_t *)&h;
    }
};

struct TF32 {
    using T   = float;
    using Sum = float;
    enum { PARTS = 1, LINES = 0 };
    static INL void round(uint32_t &x) { x = to_tf32(x); }
    static INL void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        MMA("m16n8k8", "f32.tf32.tf32.f32", "f", d, a, b0, b1);
    }
    static INL float get(T x) { return x; }
    static INL T     put(float x) { return x; }
};

// 16 bytes of elements.
template <class E> INL void to_floats(float *x, uint4 w)
{
    const typename E::T *each = (const typename E::T *)&w;
#pragma unroll
    for (int i = 0; i < 16 / (int)sizeof(typename E::T); i++) x[i] = E::get(each[i]);
}

// What is before `left` elements; 0 after. One at a time is rare, and much code: so it is there once.
template <class T> __device__ __noinline__ uint4 load_elements(const T *from, int left)
{
    uint4 w    = make_uint4(0, 0, 0, 0);
    T    *each = (T *)&w;
#pragma unroll
    for (int i = 0; i < 16 / (int)sizeof(T); i++)
        if (i < left) each[i] = from[i];
    return w;
}

template <class E> INL uint4 load_piece(const typename E::T *from, int left, bool whole)
{
    if (whole && left >= 16 / (int)sizeof(typename E::T)) return *(const uint4 *)from;
    return load_elements(from, left);
}

// Bytes of A are signed or not; those of B are signed.
struct S8 {
    using T   = int8_t;
    using Sum = int32_t;
    enum { PARTS = 1, LINES = 0 };
    static INL void round(uint32_t &) {}
    static INL void mma(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        MMA("m16n8k32", "s32.s8.s8.s32", "r", d, a, b0, b1);
    }
};

struct U8 : S8 {
    static INL void mma(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        MMA("m16n8k32", "s32.u8.s8.s32", "r", d, a, b0, b1);
    }
};

// f32 by ordinary instructions: fused or not; and by three products of tf32 halves on tensor cores.
struct Fused {
    using T   = float;
    using Sum = float;
    enum { EXACT = 0 };
};

struct Exact {
    using T   = float;
    using Sum = float;
    enum { EXACT = 1 };
};

struct Parts : TF32 {
    enum { PARTS = 3, LINES = 1 };
};

// f32 as the sum of two tf32 numbers, of which the tensor cores read 10 bits: what is left is under 2^-21 of it. Ordinary
// instructions, for the conversion is slow. A NaN stays one in the rest; an infinity may become NaN.
INL void split_f32(uint32_t x, uint32_t &big, uint32_t &small)
{
    uint32_t b = (x + 0x1000) & 0xffffe000;
    small      = __float_as_uint(__uint_as_float(x) - __uint_as_float(b));
    big        = b;
}

// ---- elements of any type

INL float load_any(const void *p, int64_t at, int type)
{
    switch (type) {
    case HOLO_CUDA_F32: return ((const float *)p)[at];
    case HOLO_CUDA_F16: return __half2float(((const __half *)p)[at]);
    case HOLO_CUDA_BF16: return __bfloat162float(((const __nv_bfloat16 *)p)[at]);
    case HOLO_CUDA_S8: return ((const int8_t *)p)[at];
    default: return ((const uint8_t *)p)[at];
    }
}

INL void store_any(void *p, int64_t at, int type, float x)
{
    switch (type) {
    case HOLO_CUDA_F32: ((float *)p)[at] = x; break;
    case HOLO_CUDA_F16: ((__half *)p)[at] = __float2half_rn(x); break;
    case HOLO_CUDA_BF16: ((__nv_bfloat16 *)p)[at] = __float2bfloat16_rn(x); break;
    case HOLO_CUDA_S8: ((int8_t *)p)[at] = (int8_t)fminf(fmaxf(rintf(x), -128), 127); break;
    default: ((uint8_t *)p)[at] = (uint8_t)fminf(fmaxf(rintf(x), 0), 255); break;
    }
}

// A number as it is read again after it was stored.
INL float as_stored(float x, int type)
{
    return type == HOLO_CUDA_F16 ? __half2float(__float2half_rn(x)) : type == HOLO_CUDA_BF16 ? __bfloat162float(__float2bfloat16_rn(x)) : x;
}

// Four numbers of 16 bits.
INL float4 widen(uint2 w, int type)
{
    if (type == HOLO_CUDA_F16) {
        float2 x = __half22float2(*(__half2 *)&w.x), y = __half22float2(*(__half2 *)&w.y);
        return make_float4(x.x, x.y, y.x, y.y);
    }
    return make_float4(__uint_as_float(w.x << 16), __uint_as_float(w.x & 0xffff0000), __uint_as_float(w.y << 16),
                       __uint_as_float(w.y & 0xffff0000));
}

// Four neighbours, on an address that is a multiple of their size.
INL float4 load_4(const void *p, int64_t at, int type)
{
    if (type == HOLO_CUDA_F32) return *(const float4 *)((const float *)p + at);
    return widen(*(const uint2 *)((const uint16_t *)p + at), type);
}

INL void store_4(void *p, int64_t at, int type, float4 x)
{
    if (type == HOLO_CUDA_F32)
        *(float4 *)((float *)p + at) = x;
    else if (type == HOLO_CUDA_F16)
        *(uint2 *)((uint16_t *)p + at) = make_uint2(F16::pair(x.x, x.y), F16::pair(x.z, x.w));
    else
        *(uint2 *)((uint16_t *)p + at) = make_uint2(BF16::pair(x.x, x.y), BF16::pair(x.z, x.w));
}

// ---- the end of a product

// To [low, high]; NaN stays NaN. As comparisons this becomes branches, which take longer than all the rest of an end.
INL float clip(float x, float low, float high)
{
#ifdef HOLO_ON_CPU // tests/cuda/on_cpu
    return x < low ? low : x > high ? high : x;
#else
    float r;
    asm("{ .reg .f32 t; max.NaN.f32 t, %1, %2; min.NaN.f32 %0, t, %3; }" : "=f"(r) : "f"(x), "f"(low), "f"(high));
    return r;
#endif
}

INL float act(float x, int what, float low, float high)
{
    switch (what) {
    case HOLO_CUDA_ACT_RELU: return clip(x, 0, INFINITY);
    case HOLO_CUDA_ACT_CLIP: return clip(x, low, high);
    case HOLO_CUDA_ACT_SIGMOID: return 1 / (1 + __expf(-x));
    case HOLO_CUDA_ACT_SILU: return x / (1 + __expf(-x));
    case HOLO_CUDA_ACT_GELU_ERF: return 0.5f * x * (1 + erff(x * 0.70710678118654752f));
    case HOLO_CUDA_ACT_GELU_TANH: return 0.5f * x * (1 + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
    case HOLO_CUDA_ACT_TANH: return tanhf(x);
    case HOLO_CUDA_ACT_HARD_SWISH: {
        float h = x * (1 / 6.0f) + 0.5f;
        return x * (h < 0 ? 0 : h > 1 ? 1 : h);
    }
    case HOLO_CUDA_ACT_LEAKY: return x < 0 ? x * low : x;
    default: return x;
    }
}

INL float end_with(float x, float more, int how)
{
    if (how == HOLO_CUDA_MORE_ADD_AFTER) return x + more;
    if (how == HOLO_CUDA_MORE_MUL_AFTER) return x * more;
    if (how == HOLO_CUDA_MORE_MUL_SILU) return x * act(more, HOLO_CUDA_ACT_SILU, 0, 0);
    if (how == HOLO_CUDA_MORE_MUL_GELU_ERF) return x * act(more, HOLO_CUDA_ACT_GELU_ERF, 0, 0);
    if (how == HOLO_CUDA_MORE_MUL_GELU_TANH) return x * act(more, HOLO_CUDA_ACT_GELU_TANH, 0, 0);
    return x;
}

INL float end_of(float x, float more, int what, int how, float low, float high)
{
    if (how == HOLO_CUDA_MORE_ADD_BEFORE) x += more;
    return end_with(act(x, what, low, high), more, how);
}

// ---- sums and maxima over a warp: the same order in every run

INL float warp_sum(float x)
{
#pragma unroll
    for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(~0u, x, d);
    return x;
}

INL float warp_max(float x)
{
#pragma unroll
    for (int d = 16; d; d >>= 1) x = fmaxf(x, __shfl_xor_sync(~0u, x, d));
    return x;
}

#endif
