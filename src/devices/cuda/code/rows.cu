// rows.cu - C = end(A * B) for few rows of A: bound by reading B once, from memory. B is [n][ldb], k innermost.
//
// A warp has two rows of B at a time, or shares them with its neighbours; lanes take 16 bytes each, in turn. Sums meet in a
// fixed order. A is brought to shared memory first, where it fits, and normalised there, if asked: what takes a launch elsewhere is
// some instructions here, which each block repeats.
#include "rows_keep.cuh"

enum { COLUMNS = 2, STAGES = HOLO_CUDA_ROWS_STAGES };

// What a block works on: the product, and the one of the gate, if there is one. Then a warp's two rows of B are one of each.
template <bool GATED> struct Work {
    const HoloCudaRows &p, &gate;
    INL int             columns() const { return WARPS / p.share * (GATED ? 1 : COLUMNS); } // of C, at a time
};

template <class E, int M, bool KEPT>
INL void add_piece(const HoloCudaRows &p, const typename E::T *a, int lda, int k, const uint4 (&w)[COLUMNS],
                   float (&sum)[COLUMNS][M])
{
    enum { N = 16 / (int)sizeof(typename E::T) };
    float y[COLUMNS][N];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) to_floats<E>(y[c], w[c]);
#pragma unroll
    for (int m = 0; m < M; m++) {
        if (m >= p.m) break;
        const typename E::T *from = a + (int64_t)m * lda + k;
        float                x[N];
        to_floats<E>(x, KEPT ? *(const uint4 *)from : load_piece<E>(from, p.k - k, p.whole));
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
#pragma unroll
            for (int i = 0; i < N; i++) sum[c][m] = fmaf(x[i], y[c][i], sum[c][m]);
    }
}

// Pieces of B on their way to shared memory, STAGES ahead, from one pair of columns to the next. A thread reads only what it has
// brought itself, so that no thread waits for another.
template <class E, bool GATED> struct Stream {
    using T = typename E::T;
    enum { N = 16 / (int)sizeof(T) };
    const Work<GATED>  &work;
    const HoloCudaRows &p;
    const T            *b[COLUMNS];
    uint32_t            ring;
    int                 n, k, first, step, columns, slot; // n, k: what is asked for next; slot: where it goes

    INL Stream(const Work<GATED> &work, const void *memory) : work(work), p(work.p), columns(work.columns())
    {
        step  = p.share * 32 * N;
        first = k = (threadIdx.x / 32 % p.share * 32 + threadIdx.x % 32) * N;
        ring      = shared_address(memory) + threadIdx.x * 16;
        slot      = 0;
        begin((blockIdx.x - p.part.first) * columns);
    }
    INL void begin(int at)
    {
        n         = at;
        int group = (int)(threadIdx.x / 32) / p.share;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            const T *from = (const T *)(GATED && c == 0 ? work.gate.b : p.b);
            b[c]          = from + (int64_t)min(GATED ? n + group : n + group * COLUMNS + c, p.n - 1) * p.ldb;
        }
    }
    INL uint32_t at(int slot, int c) const
    {
        return ring + (slot * COLUMNS + c) * WARPS * 32 * 16;
    }
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
        for (int c = 0; c < COLUMNS; c++) w[c] = load_shared(at(from, c));
    }
};

// The element of C that a thread finishes, if it has one: a block has at most as many as threads. What the end reads is asked for
// before the sums are made.
template <int M, bool GATED> struct Last {
    int   m, at, n;
    bool  is;
    float bias, more, gate_bias;

    INL Last(const Work<GATED> &work, int n0)
    {
        const HoloCudaRows &p       = work.p;
        int                 columns = work.columns();
        m = threadIdx.x / columns, at = threadIdx.x % columns, n = n0 + at;
        is        = m < p.m && n < p.n;
        bias      = is && p.bias ? p.bias[n] : 0;
        more      = is && !GATED && p.more_how ? load_any(p.more, (int64_t)m * p.ldmore + n, p.more_type) : 0;
        gate_bias = GATED && is && work.gate.bias ? work.gate.bias[n] : 0;
    }

    // What `share` warps found of one of a warp's two columns.
    static INL float sum(const HoloCudaRows &p, const float (&shared)[WARPS][COLUMNS][M], int group, int c, int m)
    {
        float x = 0;
#pragma unroll 1
        for (int s = 0; s < p.share; s++) x += shared[group * p.share + s][c][m];
        return x;
    }

    INL void finish(const Work<GATED> &work, const float (&shared)[WARPS][COLUMNS][M])
    {
        const HoloCudaRows &p = work.p, &g = work.gate;
        if (!is) return;
        float x = GATED ? sum(p, shared, at, 1, m) : sum(p, shared, at / COLUMNS, at % COLUMNS, m);
        if (GATED) { // it is stored, too: the host does not know who else reads it
            float y = act(sum(p, shared, at, 0, m) * g.alpha + gate_bias, g.act, g.low, g.high);
            store_any(g.c, (int64_t)m * g.ldc + n, g.c_type, y);
            more = as_stored(y, g.c_type);
        }
        x = x * p.alpha + bias;
        store_any(p.c, (int64_t)m * p.ldc + n, p.c_type, end_of(x, more, p.act, p.more_how, p.low, p.high));
    }
};

// A block walks over its columns of C.
template <class E, int M, bool GATED, bool KEPT>
INL void walk(const Work<GATED> &work, Stream<E, GATED> &b, const typename E::T *a, int lda)
{
    __shared__ float    shared[2][WARPS][COLUMNS][M];
    const HoloCudaRows &p    = work.p;
    int                 warp = threadIdx.x / 32, lane = threadIdx.x % 32, columns = work.columns(), turn = 0, from = 0;
#pragma unroll 1
    for (int n0 = (blockIdx.x - p.part.first) * columns; n0 < p.n; n0 += p.part.blocks * columns, turn ^= 1) {
        float          sum[COLUMNS][M] = {};
        Last<M, GATED> last(work, n0);
#pragma unroll 1
        for (int k = b.first; k < p.k + b.first; k += b.step) { // as often for all threads
            uint4 w[COLUMNS];
            b.ask();
            copy_wait<STAGES - 1>();
            b.take(w, from);
            from = from + 1 == STAGES ? 0 : from + 1;
            if (k < p.k) add_piece<E, M, KEPT>(p, a, lda, k, w, sum);
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
#pragma unroll
            for (int m = 0; m < M; m++) {
                float s = warp_sum(sum[c][m]);
                if (lane == 0) shared[turn][warp][c][m] = s;
            }
        __syncthreads(); // the other half is free again at the next one
        last.finish(work, shared[turn]);
    }
}

template <class E, int M, bool GATED> INL void rows(const HoloCudaRows &p, const HoloCudaRows &gate)
{
    using T = typename E::T;
    DYNAMIC_SHARED(memory);
    Work<GATED> work = {p, gate};
    if (!p.b_early) wait_for_others();
    Stream<E, GATED> b(work, memory);
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++) b.ask();
    keep_ask(p);
    if (p.b_early) wait_for_others(); // for A
    let_others_start();               // not earlier: their B would come before this one's
    if (p.kept) {
        T *a = (T *)(memory + STAGES * COLUMNS * WARPS * 32 * 16);
        keep<E, M>(p, a);
        walk<E, M, GATED, true>(work, b, a, kept_row<T>(p.k));
    } else {
        walk<E, M, GATED, false>(work, b, (const T *)p.a, p.lda);
    }
    copy_wait<0>();
}

#define ROWS(name, gated, E, M)                                                                             \
    extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Many<HoloCudaRows> all)  \
    {                                                                                                       \
        const HoloCudaRows &p = part_of(all);                                                               \
        rows<E, M, false>(p, p);                                                                            \
    }                                                                                                       \
    extern "C" __global__ void __launch_bounds__(256) gated(const __grid_constant__ Many<HoloCudaRows> all) \
    {                                                                                                       \
        rows<E, M, true>(all.p[1], all.p[0]);                                                               \
    }
#define ROWS_OF(name, E)                          \
    ROWS(rows_##name##_1, gated_##name##_1, E, 1) \
    ROWS(rows_##name##_4, gated_##name##_4, E, 4) \
    ROWS(rows_##name##_8, gated_##name##_8, E, 8)

ROWS_OF(f32, TF32)
ROWS_OF(f16, F16)
ROWS_OF(bf16, BF16)
