// rows.cu - C = end(A * B) for few rows of A: bound by reading B once, from memory. B is [n][ldb], k innermost.
//
// A warp has two rows of B at a time, or shares them with its neighbours; lanes take 16 bytes each, in turn. Sums meet in a
// fixed order.
#include "device.cuh"

enum { COLUMNS = 2, WARPS = 8, DEPTH = 4 };

template <class E> INL void to_floats(float *x, uint4 w)
{
    const typename E::T *each = (const typename E::T *)&w;
#pragma unroll
    for (int i = 0; i < 16 / (int)sizeof(typename E::T); i++) x[i] = E::get(each[i]);
}

// What is before `left` elements; 0 after.
template <class E> INL uint4 load_piece(const typename E::T *from, int left, bool whole)
{
    enum { N = 16 / (int)sizeof(typename E::T) };
    if (whole && left >= N) return *(const uint4 *)from;
    uint4          w    = make_uint4(0, 0, 0, 0);
    typename E::T *each = (typename E::T *)&w;
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < left) each[i] = from[i];
    return w;
}

template <class E, int M>
INL void add_piece(const HoloCudaRows &p, const typename E::T *a, int k, const uint4 (&w)[COLUMNS],
                   float (&sum)[COLUMNS][M])
{
    enum { N = 16 / (int)sizeof(typename E::T) };
    float y[COLUMNS][N];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) to_floats<E>(y[c], w[c]);
#pragma unroll
    for (int m = 0; m < M; m++) {
        if (m >= p.m) break;
        float x[N];
        to_floats<E>(x, load_piece<E>(a + (int64_t)m * p.lda + k, p.k - k, p.whole));
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
#pragma unroll
            for (int i = 0; i < N; i++) sum[c][m] = fmaf(x[i], y[c][i], sum[c][m]);
    }
}

// 16 bytes of DEPTH pieces of each row of B, from k on, all on their way before the first is used. Zeros follow k.
template <class T>
INL void load_rows(uint4 (&w)[DEPTH][COLUMNS], const T *const (&b)[COLUMNS], int k0, int step, int end)
{
#pragma unroll
    for (int d = 0; d < DEPTH; d++)
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            int k   = k0 + d * step;
            w[d][c] = k < end ? __ldcs((const uint4 *)(b[c] + k)) : make_uint4(0, 0, 0, 0);
        }
}

// What `share` warps found of two columns of C, put together and stored.
template <int M> INL void finish(const HoloCudaRows &p, const float (&shared)[WARPS][COLUMNS][M], int n0, int columns)
{
    for (int i = threadIdx.x; i < columns * M; i += WARPS * 32) {
        int   m = i / columns, at = i % columns, n = n0 + at;
        float x = 0;
        for (int s = 0; s < p.share; s++) x += shared[at / COLUMNS * p.share + s][at % COLUMNS][m];
        if (m >= p.m || n >= p.n) continue;
        x          = x * p.alpha + (p.bias ? p.bias[n] : 0);
        float more = p.more_how ? load_any(p.more, (int64_t)m * p.ldmore + n, p.more_type) : 0;
        store_any(p.c, (int64_t)m * p.ldc + n, p.c_type, end_of(x, more, p.act, p.more_how, p.low, p.high));
    }
}

// A block walks over its columns of C. The next pieces of B are on their way while those before are used, also from one pair
// of columns to the next.
template <class E, int M> INL void rows(const HoloCudaRows &p)
{
    using T = typename E::T;
    enum { N = 16 / (int)sizeof(T) };
    __shared__ float shared[2][WARPS][COLUMNS][M];
    int              warp = threadIdx.x / 32, lane = threadIdx.x % 32, columns = WARPS / p.share * COLUMNS, turn = 0;
    int              step = p.share * 32 * N, first = (warp % p.share * 32 + lane) * N;
    const T         *a = (const T *)p.a, *b[COLUMNS];
    auto             point = [&](int n0) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            b[c] = (const T *)p.b + (int64_t)min(n0 + warp / p.share * COLUMNS + c, p.n - 1) * p.ldb;
    };
    uint4 w[DEPTH][COLUMNS], next[DEPTH][COLUMNS];
    let_others_start();
    if (!p.b_early) wait_for_others();
    point(blockIdx.x * columns);
    load_rows(w, b, first, step, p.k);
    if (p.b_early) wait_for_others(); // for A
    for (int n0 = blockIdx.x * columns, after; n0 < p.n; n0 = after, turn ^= 1) {
        float sum[COLUMNS][M] = {};
        after                 = n0 + gridDim.x * columns;
        for (int k0 = first; k0 < p.k + first; k0 += step * DEPTH) { // as often for all threads
            bool is_last = k0 + step * DEPTH >= p.k + first;
            if (is_last && after < p.n) point(after);
            if (!is_last || after < p.n) load_rows(next, b, is_last ? first : k0 + step * DEPTH, step, p.k);
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                int k = k0 + d * step;
                if (k < p.k) add_piece<E, M>(p, a, k, w[d], sum);
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) w[d][c] = next[d][c];
            }
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
#pragma unroll
            for (int m = 0; m < M; m++) {
                float s = warp_sum(sum[c][m]);
                if (lane == 0) shared[turn][warp][c][m] = s;
            }
        __syncthreads(); // the other half is free again at the next one
        finish<M>(p, shared[turn], n0, columns);
    }
}

#define ROWS(name, E, M)                                                                           \
    extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ HoloCudaRows p) \
    {                                                                                              \
        rows<E, M>(p);                                                                             \
    }
#define ROWS_OF(name, E)        \
    ROWS(rows_##name##_1, E, 1) \
    ROWS(rows_##name##_4, E, 4) \
    ROWS(rows_##name##_8, E, 8)

ROWS_OF(f32, TF32)
ROWS_OF(f16, F16)
ROWS_OF(bf16, BF16)
