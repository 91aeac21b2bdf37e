// rows_keep.cuh - few rows of A in shared memory, normalised on the way, if asked: for products of few rows.
//
// A piece is 16 bytes of a row. A thread has every 256th piece of each row from beginning to end, so that threads meet only to add up
// what a norm needs. All pieces of a batch are on their way before the first is used.
#ifndef HOLO_DEVICES_CUDA_CODE_ROWS_KEEP_CUH
#define HOLO_DEVICES_CUDA_CODE_ROWS_KEEP_CUH

#include "device.cuh"

enum { WARPS = 8 };

// Elements from row to row.
template <class T> INL int kept_row(int k)
{
    enum { N = 16 / (int)sizeof(T) };
    return (k + N - 1) / N * N;
}

// The parameters of the norm are constants: they may be asked for while the kernel before still runs.
INL void keep_ask(const HoloCudaRows &p)
{
    if (!p.norm) return;
#pragma unroll 1
    for (int i = threadIdx.x * 32; i < p.k; i += WARPS * 32 * 32) {
        prefetch(p.gain + i);
        if (p.shift) prefetch(p.shift + i);
    }
}

// Calls f(row, first element) for the thread's pieces.
template <int M, int N, class F> INL void each_piece(const HoloCudaRows &p, F f)
{
#pragma unroll 1
    for (int i = threadIdx.x * N; i < p.k; i += WARPS * 32 * N)
#pragma unroll
        for (int m = 0; m < M; m++)
            if (m < p.m) f(m, i);
}

// Sums of all threads, for each row, in an order that never changes.
template <int M> INL void add_up(float (&x)[M])
{
    __shared__ float shared[WARPS][M];
#pragma unroll
    for (int m = 0; m < M; m++) {
        x[m] = warp_sum(x[m]);
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32][m] = x[m];
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < M; m++) {
        x[m] = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) x[m] += shared[w][m];
    }
    __syncthreads(); // it may be used again
}

// N numbers of the gain or the shift from element i on.
template <int N> INL void parameters(float (&out)[N], const float *from, int i, int k, float without)
{
    if (from && i + N <= k) {
#pragma unroll
        for (int j = 0; j < N; j += 4) {
            float4 x = __ldg((const float4 *)(from + i + j));
            out[j] = x.x, out[j + 1] = x.y, out[j + 2] = x.z, out[j + 3] = x.w;
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++) out[j] = from && i + j < k ? __ldg(from + i + j) : without;
}

// To the types and with the operations of norm.cu; sums are made in another order.
template <class E, int M> INL void keep_norm(const HoloCudaRows &p, typename E::T *to, int row)
{
    enum { N = 16 / (int)sizeof(typename E::T) };
    float mean[M] = {}, scale[M] = {};
    if (p.norm == 1 + HOLO_CUDA_ROW_LAYER_NORM) {
        each_piece<M, N>(p, [&](int m, int i) {
            float x[N];
            to_floats<E>(x, *(const uint4 *)(to + m * row + i));
#pragma unroll
            for (int j = 0; j < N; j++) mean[m] += x[j]; // zeros after k
        });
        add_up<M>(mean);
#pragma unroll
        for (int m = 0; m < M; m++) mean[m] /= (float)p.k;
    }
    each_piece<M, N>(p, [&](int m, int i) {
        float x[N];
        to_floats<E>(x, *(const uint4 *)(to + m * row + i));
#pragma unroll
        for (int j = 0; j < N; j++) {
            float y = i + j < p.k ? x[j] - mean[m] : 0;
            scale[m] += y * y;
        }
    });
    add_up<M>(scale);
#pragma unroll
    for (int m = 0; m < M; m++) scale[m] = rsqrtf(scale[m] / (float)p.k + p.epsilon);
#pragma unroll 1
    for (int i = threadIdx.x * N; i < p.k; i += WARPS * 32 * N) {
        float gain[N], shift[N];
        parameters<N>(gain, p.gain, i, p.k, 0); // zeros after k
        parameters<N>(shift, p.shift, i, p.k, 0);
#pragma unroll
        for (int m = 0; m < M; m++) {
            if (m >= p.m) break;
            uint4          w = *(const uint4 *)(to + m * row + i), out;
            typename E::T *y = (typename E::T *)&out;
            float          x[N];
            to_floats<E>(x, w);
#pragma unroll
            for (int j = 0; j < N; j++) y[j] = E::put((x[j] - mean[m]) * scale[m] * gain[j] + shift[j]);
            *(uint4 *)(to + m * row + i) = out;
        }
    }
}

// All of A. Returns when it is there for all threads.
template <class E, int M> INL void keep(const HoloCudaRows &p, typename E::T *to)
{
    enum { N = 16 / (int)sizeof(typename E::T), BATCH = M == 1 ? 4 : M, NEXT = M == 1 ? WARPS * 32 * N : 0 };
    const typename E::T *a   = (const typename E::T *)p.a;
    int                  row = kept_row<typename E::T>(p.k);
#pragma unroll 1
    for (int first = threadIdx.x * N; first < p.k; first += M == 1 ? BATCH * NEXT : WARPS * 32 * N) {
        uint4 w[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            int m = M == 1 ? 0 : b, i = first + b * NEXT;
            if (m < p.m && i < p.k) w[b] = load_piece<E>(a + (int64_t)m * p.lda + i, p.k - i, p.whole);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            int m = M == 1 ? 0 : b, i = first + b * NEXT;
            if (m < p.m && i < p.k) *(uint4 *)(to + m * row + i) = w[b];
        }
    }
    if (p.norm) keep_norm<E, M>(p, to, row);
    __syncthreads();
}

#endif
