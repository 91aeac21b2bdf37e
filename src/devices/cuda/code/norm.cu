// norm.cu - rows of a matrix: layer norm, RMS norm (of a sum, if asked), softmax. A warp or a block has one row.
//
// A row of up to 32 numbers a thread is read once and stays in registers; what is longer is read again.
#include "device.cuh"

enum { QUADS = 8 }; // of four numbers, in registers

template <int THREADS> struct Team {
    // Over all threads of the row, in an order that never changes; all get the result.
    template <class Op> static INL float all(float x, Op op, float *shared)
    {
#pragma unroll
        for (int d = 16; d; d >>= 1) x = op(x, __shfl_xor_sync(~0u, x, d));
        if (THREADS == 32) return x;
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
        __syncthreads();
        x = shared[0];
        for (int i = 1; i < THREADS / 32; i++) x = op(x, shared[i]);
        __syncthreads();
        return x;
    }
};

struct Add {
    INL float operator()(float a, float b) const { return a + b; }
};

// A NaN wins, so that it reaches the whole row.
struct Max {
    INL float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};

template <int THREADS> struct Line {
    const HoloCudaNorm &p;
    int64_t             a_at, c_at;
    int                 me;
    float4              kept[QUADS];

    INL float4 fetch(int i, bool first) const
    {
        int    n = i * 4;
        float4 x = make_float4(0, 0, 0, 0);
        if (p.whole && n + 4 <= p.width) {
            if (!first && p.sum) return load_4(p.sum, a_at + n, p.a_type);
            x = load_4(p.a, a_at + n, p.a_type);
            if (p.more) {
                float4 y = load_4(p.more, a_at + n, p.a_type);
                x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
            }
            if (first && p.sum) store_4(p.sum, a_at + n, p.a_type, x);
            return x;
        }
        float y[4] = {0, 0, 0, 0};
        for (int e = 0; e < 4 && n + e < p.width; e++) {
            y[e] = load_any(p.a, a_at + n + e, p.a_type) + (p.more ? load_any(p.more, a_at + n + e, p.a_type) : 0);
            if (first && p.sum) store_any(p.sum, a_at + n + e, p.a_type, y[e]);
        }
        return make_float4(y[0], y[1], y[2], y[3]);
    }

    // Calls f(quad, its index, how many of the four count) for the thread's part of the row.
    template <class F> INL void each(F f)
    {
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            int i = q * THREADS + me;
            if (i * 4 < p.width) f(kept[q], i, min(p.width - i * 4, 4));
        }
        for (int i = QUADS * THREADS + me; i * 4 < p.width; i += THREADS) {
            float4 x = fetch(i, false);
            f(x, i, min(p.width - i * 4, 4));
        }
    }

    INL void read()
    {
        if (p.whole && p.width % 4 == 0) {
            float4 more[QUADS];
            load_all(kept, p.a);
            if (p.more) load_all(more, p.more);
#pragma unroll
            for (int q = 0; q < QUADS; q++) {
                int n = (q * THREADS + me) * 4;
                if (p.more)
                    kept[q].x += more[q].x, kept[q].y += more[q].y, kept[q].z += more[q].z, kept[q].w += more[q].w;
                if (p.sum && n < p.width) store_4(p.sum, a_at + n, p.a_type, kept[q]);
            }
        } else {
#pragma unroll
            for (int q = 0; q < QUADS; q++)
                if ((q * THREADS + me) * 4 < p.width) kept[q] = fetch(q * THREADS + me, true);
        }
        for (int i = QUADS * THREADS + me; p.sum && i * 4 < p.width; i += THREADS) fetch(i, true);
    }

    // The type is asked for once, so that all quads are on their way before the first is used.
    INL void load_all(float4 (&x)[QUADS], const void *from) const
    {
        if (p.a_type == HOLO_CUDA_F32) {
            const float4 *at = (const float4 *)((const float *)from + a_at) + me;
#pragma unroll
            for (int q = 0; q < QUADS; q++)
                x[q] = (q * THREADS + me) * 4 < p.width ? at[q * THREADS] : make_float4(0, 0, 0, 0);
            return;
        }
        const uint2 *at = (const uint2 *)((const uint16_t *)from + a_at) + me;
        uint2        raw[QUADS];
#pragma unroll
        for (int q = 0; q < QUADS; q++) raw[q] = (q * THREADS + me) * 4 < p.width ? at[q * THREADS] : make_uint2(0, 0);
#pragma unroll
        for (int q = 0; q < QUADS; q++) x[q] = widen(raw[q], p.a_type);
    }

    INL void put(float4 x, int i, int count) const
    {
        int n = i * 4;
        if (p.whole && count == 4) {
            store_4(p.c, c_at + n, p.c_type, x);
            return;
        }
        float y[4] = {x.x, x.y, x.z, x.w};
        for (int e = 0; e < count; e++) store_any(p.c, c_at + n + e, p.c_type, y[e]);
    }

    // Four of the gain or of the bias; `without`: what they are if there are none.
    INL void parameters(float (&out)[4], const float *from, int i, int count, float without) const
    {
        if (from && p.whole && count == 4) {
            float4 x = __ldg((const float4 *)from + i);
            out[0] = x.x, out[1] = x.y, out[2] = x.z, out[3] = x.w;
            return;
        }
#pragma unroll
        for (int e = 0; e < 4; e++) out[e] = from && e < count ? __ldg(from + i * 4 + e) : without;
    }

    INL void norm(float *shared)
    {
        bool  rms  = p.what == HOLO_CUDA_ROW_RMS_NORM;
        float mean = 0, squares = 0;
        if (!rms) {
            each([&](float4 x, int, int) { mean += (x.x + x.y) + (x.z + x.w); }); // what does not count is 0
            mean = Team<THREADS>::all(mean, Add(), shared) / (float)p.width;
        }
        each([&](float4 x, int, int count) {
            float y[4] = {x.x - mean, x.y - mean, x.z - mean, x.w - mean};
#pragma unroll
            for (int e = 0; e < 4; e++) squares += e < count ? y[e] * y[e] : 0;
        });
        float scale = rsqrtf(Team<THREADS>::all(squares, Add(), shared) / (float)p.width + p.epsilon);
        each([&](float4 x, int i, int count) {
            float y[4] = {x.x, x.y, x.z, x.w}, gain[4], bias[4];
            parameters(gain, p.gain, i, count, 1 - p.gain_add);
            parameters(bias, p.bias, i, count, 0);
#pragma unroll
            for (int e = 0; e < 4; e++) y[e] = (y[e] - mean) * scale * (gain[e] + p.gain_add) + bias[e];
            put(make_float4(y[0], y[1], y[2], y[3]), i, count);
        });
    }

    INL void softmax(float *shared)
    {
        float top = -INFINITY, sum = 0;
        each([&](float4 x, int, int count) {
            float y[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
            for (int e = 0; e < 4; e++) top = e < count ? Max()(top, y[e]) : top;
        });
        top = Team<THREADS>::all(top, Max(), shared);
        each([&](float4 x, int, int count) {
            float y[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
            for (int e = 0; e < 4; e++) sum += e < count ? __expf(y[e] - top) : 0;
        });
        sum        = Team<THREADS>::all(sum, Add(), shared);
        bool  logs = p.what == HOLO_CUDA_ROW_LOG_SOFTMAX;
        float less = logs ? logf(sum) : 0, times = 1 / sum;
        each([&](float4 x, int i, int count) {
            float y[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
            for (int e = 0; e < 4; e++) y[e] = logs ? y[e] - top - less : __expf(y[e] - top) * times;
            put(make_float4(y[0], y[1], y[2], y[3]), i, count);
        });
    }
};

template <int THREADS> INL void norm(const HoloCudaNorm &p)
{
    __shared__ float shared[32];
    int64_t          row = THREADS == 32 ? blockIdx.x * 8 + threadIdx.x / 32 : blockIdx.x;
    let_others_start();
    wait_for_others();
    if (row >= p.rows) return;
    Line<THREADS> line{p, row * p.lda, row * p.ldc, (int)threadIdx.x % THREADS};
    line.read();
    if (p.what <= HOLO_CUDA_ROW_RMS_NORM)
        line.norm(shared);
    else
        line.softmax(shared);
}

extern "C" __global__ void __launch_bounds__(256, 2) norm_warp(const __grid_constant__ HoloCudaNorm p)
{
    norm<32>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2) norm_block(const __grid_constant__ HoloCudaNorm p)
{
    norm<256>(p);
}

// Few rows, which wait for memory alone: everything is asked for at once, and a thread has Q quads.
template <int Q> INL void norm_row(const HoloCudaNorm &p)
{
    __shared__ float shared[32];
    int64_t          row = blockIdx.x;
    float4           x[Q], gain[Q], bias[Q];
    let_others_start();
    wait_for_others();
#pragma unroll
    for (int q = 0; q < Q; q++) {
        int  n  = (q * 256 + (int)threadIdx.x) * 4;
        bool is = n < p.width;
        x[q]    = is ? load_4(p.a, row * p.lda + n, p.a_type) : make_float4(0, 0, 0, 0);
        gain[q] = is && p.gain ? *(const float4 *)(p.gain + n) : make_float4(1, 1, 1, 1);
        bias[q] = is && p.bias ? *(const float4 *)(p.bias + n) : make_float4(0, 0, 0, 0);
    }
    float mean = 0, squares = 0, more = p.gain ? p.gain_add : 0;
    if (p.what == HOLO_CUDA_ROW_LAYER_NORM) {
#pragma unroll
        for (int q = 0; q < Q; q++) mean += (x[q].x + x[q].y) + (x[q].z + x[q].w);
        mean = Team<256>::all(mean, Add(), shared) / (float)p.width;
    }
#pragma unroll
    for (int q = 0; q < Q; q++) {
        if ((q * 256 + (int)threadIdx.x) * 4 >= p.width) continue;
        x[q].x -= mean, x[q].y -= mean, x[q].z -= mean, x[q].w -= mean;
        squares += (x[q].x * x[q].x + x[q].y * x[q].y) + (x[q].z * x[q].z + x[q].w * x[q].w);
    }
    float scale = rsqrtf(Team<256>::all(squares, Add(), shared) / (float)p.width + p.epsilon);
#pragma unroll
    for (int q = 0; q < Q; q++) {
        int    n = (q * 256 + (int)threadIdx.x) * 4;
        float4 g = gain[q], b = bias[q], y = x[q];
        if (n >= p.width) continue;
        y = make_float4(y.x * scale * (g.x + more) + b.x, y.y * scale * (g.y + more) + b.y,
                        y.z * scale * (g.z + more) + b.z, y.w * scale * (g.w + more) + b.w);
        store_4(p.c, row * p.ldc + n, p.c_type, y);
    }
}

#define NORM_ROW(name, Q)                                                                          \
    extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ HoloCudaNorm p) \
    {                                                                                              \
        norm_row<Q>(p);                                                                            \
    }
NORM_ROW(norm_row_1, 1)
NORM_ROW(norm_row_2, 2)
NORM_ROW(norm_row_4, 4)

// ---- the usual case: one type, whole quads, nothing to add, rows of up to 32 numbers a lane. Short code, so that a warp is done
// before another kernel would have read its instructions.

template <class T> struct Kind; // four elements as they lie in memory

template <> struct Kind<float> {
    using Raw = float4;
    static INL float4 get(float4 x) { return x; }
    static INL float4 put(float4 x) { return x; }
};

template <> struct Kind<F16> {
    using Raw = uint2;
    static INL float4 get(uint2 x) { return widen(x, HOLO_CUDA_F16); }
    static INL uint2  put(float4 x) { return make_uint2(F16::pair(x.x, x.y), F16::pair(x.z, x.w)); }
};

template <> struct Kind<BF16> {
    using Raw = uint2;
    static INL float4 get(uint2 x) { return widen(x, HOLO_CUDA_BF16); }
    static INL uint2  put(float4 x) { return make_uint2(BF16::pair(x.x, x.y), BF16::pair(x.z, x.w)); }
};

template <class T> INL void norm_plain(const HoloCudaNorm &p)
{
    using Raw   = typename Kind<T>::Raw;
    int64_t row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int     me = threadIdx.x % 32, quads = p.width / 4;
    Raw     raw[QUADS];
    float4  x[QUADS];
    float   mean = 0, squares = 0;
    let_others_start();
    wait_for_others();
    if (row >= p.rows) return;
    const Raw *from = (const Raw *)p.a + row * (p.lda / 4) + me;
    Raw       *to   = (Raw *)p.c + row * (p.ldc / 4) + me;
#pragma unroll
    for (int q = 0; q < QUADS; q++)
        if (q * 32 + me < quads) raw[q] = from[q * 32];
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        x[q] = q * 32 + me < quads ? Kind<T>::get(raw[q]) : make_float4(0, 0, 0, 0);
        mean += (x[q].x + x[q].y) + (x[q].z + x[q].w);
    }
    mean = p.what == HOLO_CUDA_ROW_RMS_NORM ? 0 : warp_sum(mean) / (float)p.width;
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        x[q].x -= mean, x[q].y -= mean, x[q].z -= mean, x[q].w -= mean;
        if (q * 32 + me < quads) squares += (x[q].x * x[q].x + x[q].y * x[q].y) + (x[q].z * x[q].z + x[q].w * x[q].w);
    }
    float scale = rsqrtf(warp_sum(squares) / (float)p.width + p.epsilon);
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        if (q * 32 + me >= quads) continue;
        float4 g = make_float4(1, 1, 1, 1), b = make_float4(0, 0, 0, 0);
        if (p.gain) {
            g = __ldg((const float4 *)p.gain + q * 32 + me);
            g.x += p.gain_add, g.y += p.gain_add, g.z += p.gain_add, g.w += p.gain_add;
        }
        if (p.bias) b = __ldg((const float4 *)p.bias + q * 32 + me);
        to[q * 32] = Kind<T>::put(make_float4(x[q].x * scale * g.x + b.x, x[q].y * scale * g.y + b.y,
                                              x[q].z * scale * g.z + b.z, x[q].w * scale * g.w + b.w));
    }
}

#define NORM_PLAIN(name, T)                                                                        \
    extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ HoloCudaNorm p) \
    {                                                                                              \
        norm_plain<T>(p);                                                                          \
    }

NORM_PLAIN(norm_plain_f32, float)
NORM_PLAIN(norm_plain_f16, F16)
NORM_PLAIN(norm_plain_bf16, BF16)
