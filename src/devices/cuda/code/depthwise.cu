// depthwise.cu - each channel convolved by itself, channels last. A thread has 16 bytes of channels of some neighbours in a line.
//
// Bound by memory: neighbours share what they read in registers, lines share it in the cache.
#include "device.cuh"

enum { ACROSS = 4 }; // outputs of a thread

// 16 bytes as numbers.
template <class E> struct Vector {
    enum { N = 16 / (int)sizeof(typename E::T) };
    float x[N];

    INL void load(const typename E::T *from)
    {
        uint4                w    = *(const uint4 *)from;
        const typename E::T *each = (const typename E::T *)&w;
#pragma unroll
        for (int i = 0; i < N; i++) x[i] = E::get(each[i]);
    }

    INL void store(typename E::T *to) const
    {
        uint4          w;
        typename E::T *each = (typename E::T *)&w;
#pragma unroll
        for (int i = 0; i < N; i++) each[i] = E::put(x[i]);
        *(uint4 *)to = w;
    }
};

// Limits, which most layers have, are apart from other functions: these are much code for each number.
template <class E> INL void finish(const HoloCudaDepthwise &p, Vector<E> &sum, const float (&bias)[Vector<E>::N], int64_t at)
{
    Vector<E> more;
    float     low = p.act == HOLO_CUDA_ACT_RELU ? 0 : p.act ? p.low : -INFINITY,
          high    = p.act <= HOLO_CUDA_ACT_RELU ? INFINITY : p.high;
    if (p.more_how) more.load((const typename E::T *)p.more + at);
    if (p.act <= HOLO_CUDA_ACT_CLIP && !p.more_how) {
#pragma unroll
        for (int i = 0; i < Vector<E>::N; i++) sum.x[i] = clip(sum.x[i] + bias[i], low, high);
    } else {
#pragma unroll
        for (int i = 0; i < Vector<E>::N; i++)
            sum.x[i] = end_of(sum.x[i] + bias[i], p.more_how ? more.x[i] : 0, p.act, p.more_how, p.low, p.high);
    }
    sum.store((typename E::T *)p.c + at);
}

// SIZE and STRIDE are known to the compiler, or 0: then read from p.
template <class E, int SIZE, int STRIDE> INL void depthwise(const HoloCudaDepthwise &p)
{
    using T = typename E::T;
    enum { N = Vector<E>::N };
    int kernel_h = SIZE ? SIZE : p.kernel_h, kernel_w = SIZE ? SIZE : p.kernel_w, stride = STRIDE ? STRIDE : p.stride_w;
    int dilation = SIZE ? 1 : p.dilation_w, vectors = p.channels / N, groups = (p.out_w + ACROSS - 1) / ACROSS;
    int index = blockIdx.x * blockDim.x + threadIdx.x; // 32 bits are enough: cuda_pick_more.c sees to it
    let_others_start();
    if (index >= p.batch * p.out_h * groups * vectors) return;
    int   rest = index / vectors, channel = (index - rest * vectors) * N, line_of = rest / groups;
    int   x0 = (rest - line_of * groups) * ACROSS, image = line_of / p.out_h, y = line_of - image * p.out_h;
    float bias[N];
    wait_for_others();
#pragma unroll
    for (int i = 0; i < N; i++) bias[i] = p.bias ? __ldg(p.bias + channel + i) : 0;
    const T  *a           = (const T *)p.a + (int64_t)image * p.height * p.width * p.channels + channel;
    const T  *b           = (const T *)p.b + channel;
    Vector<E> sum[ACROSS] = {};
    for (int ky = 0; ky < kernel_h; ky++) {
        int iy = y * p.stride_h - p.pad_h + ky * p.dilation_h;
        if ((unsigned)iy >= (unsigned)p.height) continue;
        const T *line = a + (int64_t)iy * p.width * p.channels;
        if constexpr (SIZE != 0) {
            enum { SPAN = (ACROSS - 1) * STRIDE + SIZE };
            Vector<E> w[SIZE];
            uint4     raw[SPAN]; // all on their way before the first is used
#pragma unroll
            for (int s = 0; s < SPAN; s++) {
                int ix = x0 * STRIDE - p.pad_w + s;
                raw[s] = make_uint4(0, 0, 0, 0);
                if ((unsigned)ix < (unsigned)p.width) raw[s] = *(const uint4 *)(line + (int64_t)ix * p.channels);
            }
#pragma unroll
            for (int kx = 0; kx < SIZE; kx++) w[kx].load(b + (int64_t)(ky * SIZE + kx) * p.channels);
#pragma unroll
            for (int s = 0; s < SPAN; s++) {
                Vector<E> in;
                in.load((const T *)&raw[s]);
#pragma unroll
                for (int o = 0; o < ACROSS; o++) {
                    int kx = s - o * STRIDE;
                    if (kx < 0 || kx >= SIZE) continue;
#pragma unroll
                    for (int i = 0; i < N; i++) sum[o].x[i] = fmaf(in.x[i], w[kx].x[i], sum[o].x[i]);
                }
            }
        } else {
            for (int kx = 0; kx < kernel_w; kx++) {
                Vector<E> in, w;
                w.load(b + (int64_t)(ky * kernel_w + kx) * p.channels);
#pragma unroll
                for (int o = 0; o < ACROSS; o++) {
                    int ix = (x0 + o) * stride - p.pad_w + kx * dilation;
                    if ((unsigned)ix >= (unsigned)p.width) continue;
                    in.load(line + (int64_t)ix * p.channels);
#pragma unroll
                    for (int i = 0; i < N; i++) sum[o].x[i] = fmaf(in.x[i], w.x[i], sum[o].x[i]);
                }
            }
        }
    }
    int64_t at = (((int64_t)image * p.out_h + y) * p.out_w + x0) * p.channels + channel;
#pragma unroll
    for (int o = 0; o < ACROSS; o++)
        if (x0 + o < p.out_w) finish<E>(p, sum[o], bias, at + (int64_t)o * p.channels);
}

#define DEPTHWISE(name, E, SIZE, STRIDE)                                                                \
    extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ HoloCudaDepthwise p) \
    {                                                                                                   \
        depthwise<E, SIZE, STRIDE>(p);                                                                  \
    }
#define DEPTHWISES(name, E)                      \
    DEPTHWISE(depthwise_##name##_3x3, E, 3, 1)   \
    DEPTHWISE(depthwise_##name##_3x3_2, E, 3, 2) \
    DEPTHWISE(depthwise_##name, E, 0, 0)

DEPTHWISES(f32, TF32)
DEPTHWISES(f16, F16)
DEPTHWISES(bf16, BF16)
