// rows.cu - C = end(A * B) for few rows of A: bound by reading B once, from memory. B is [n][ldb], k innermost.
//
// A warp has two rows of B at a time, or shares them with its neighbours; lanes take 16 bytes each, in turn. Sums meet in a
// fixed order.
#include "device.cuh"

enum { COLUMNS = 2, WARPS = 8, STAGES = HOLO_CUDA_ROWS_STAGES };

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

// Pieces of B on their way to shared memory, STAGES ahead, from one pair of columns to the next. A thread reads only what it has
// brought itself, so that no thread waits for another.
template <class E> struct Stream {
    using T = typename E::T;
    enum { N = 16 / (int)sizeof(T) };
    const HoloCudaRows &p;
    const T            *b[COLUMNS];
    uint32_t            ring;
    int                 n, k, first, step, columns, slot; // n, k: what is asked for next; slot: where it goes

    INL Stream(const HoloCudaRows &p, const void *memory, int columns) : p(p), columns(columns)
    {
        step  = p.share * 32 * N;
        first = k = (threadIdx.x / 32 % p.share * 32 + threadIdx.x % 32) * N;
        ring  = shared_address(memory) + threadIdx.x * 16;
        slot  = 0;
        begin((blockIdx.x - p.part.first) * columns);
    }
    INL void begin(int at)
    {
        n = at;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            b[c] = (const T *)p.b + (int64_t)min(n + (int)(threadIdx.x / 32) / p.share * COLUMNS + c, p.n - 1) * p.ldb;
    }
    INL uint32_t at(int slot, int c) const { return ring + (slot * COLUMNS + c) * WARPS * 32 * 16; }
    INL void ask()
    {
        if (n < p.n) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) copy_16(at(slot, c), k < p.k ? b[c] + k : b[c], k < p.k ? 16 : 0);
            k += step;
            if (k - first >= p.k) k = first, begin(n + p.part.blocks * columns);
        }
        copy_commit();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
    }
    INL void take(uint4 (&w)[COLUMNS], int from) const
    {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(w[c].x), "=r"(w[c].y), "=r"(w[c].z), "=r"(w[c].w)
                         : "r"(at(from, c))
                         : "memory");
    }
};

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

// A block walks over its columns of C.
template <class E, int M> INL void rows(const HoloCudaRows &p)
{
    extern __shared__ __align__(128) char memory[];
    __shared__ float                      shared[2][WARPS][COLUMNS][M];
    int                      warp = threadIdx.x / 32, lane = threadIdx.x % 32, columns = WARPS / p.share * COLUMNS, turn = 0;
    int                      from = 0;
    const typename E::T     *a    = (const typename E::T *)p.a;
    let_others_start();
    if (!p.b_early) wait_for_others();
    Stream<E> b(p, memory, columns);
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) b.ask();
    if (p.b_early) wait_for_others(); // for A
    for (int n0 = (blockIdx.x - p.part.first) * columns; n0 < p.n; n0 += p.part.blocks * columns, turn ^= 1) {
        float sum[COLUMNS][M] = {};
        for (int k = b.first; k < p.k + b.first; k += b.step) { // as often for all threads
            uint4 w[COLUMNS];
            b.ask();
            copy_wait<STAGES - 1>();
            b.take(w, from);
            from = from + 1 == STAGES ? 0 : from + 1;
            if (k < p.k) add_piece<E, M>(p, a, k, w, sum);
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
    copy_wait<0>();
}

#define ROWS(name, E, M)                                                                           \
    extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Many<HoloCudaRows> all) \
    {                                                                                                      \
        rows<E, M>(part_of(all));                                                                          \
    }
#define ROWS_OF(name, E)        \
    ROWS(rows_##name##_1, E, 1) \
    ROWS(rows_##name##_4, E, 4) \
    ROWS(rows_##name##_8, E, 8)

ROWS_OF(f32, TF32)
ROWS_OF(f16, F16)
ROWS_OF(bf16, BF16)
