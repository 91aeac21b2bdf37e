// tiled.cuh - products and convolutions on sm_90: tiles of A and B are brought by the copy engine, multiplied by wgmma.
//
// Two kernels. `wide` is for many tiles: its blocks stay, and take tile after tile. One warp asks for copies, two groups of four
// warps multiply. Either both share a tile, or each has a tile of its own (PING), so that one multiplies while the other stores.
// `deep` is for few tiles: a block has one tile, or a part of its k, and asks for all that fits into shared memory at once.
//
// Blocks of a cluster that bring parts of B for each other were tried: slower, since each line then waits for two blocks.
#ifndef HOLO_DEVICES_CUDA_CODE_TILED_CUH
#define HOLO_DEVICES_CUDA_CODE_TILED_CUH

#include "tiled_end.cuh"
#include "tma.cuh"

#if HAS_WGMMA

// ---- where lines of k are: 128 bytes of channels under a tap. A matrix is an image of one tap.

template <int BK> struct Lines {
    int channels, wide, chunks, count; // wide: of the kernel
    INL Lines(const HoloCudaProduct &p)
    {
        channels = p.height ? p.channels : p.k;
        wide     = p.height ? p.kernel_w : 1;
        chunks   = (channels + BK - 1) / BK;
        count    = chunks * (p.height ? p.kernel_h * p.kernel_w : 1);
    }
};

template <int BK> struct LineAt {
    int      chunk, x, y, tap;
    INL void seek(const Lines<BK> &l, int line)
    {
        tap   = line / l.chunks;
        chunk = line - tap * l.chunks;
        y     = tap / l.wide;
        x     = tap - y * l.wide;
    }
    INL void next(const Lines<BK> &l)
    {
        if (++chunk < l.chunks) return;
        chunk = 0, tap++;
        if (++x == l.wide) x = 0, y++;
    }
};

// The first pixel of a tile of rows: where its patch begins in its image.
struct Corner {
    int image, line, column;
    INL Corner(const HoloCudaProduct &p, int m)
    {
        image = line = column = 0;
        if (!p.height) return;
        int rest = m / p.out_w, x = m - rest * p.out_w;
        image  = rest / p.out_h;
        line   = (rest - image * p.out_h) * p.stride_h - p.pad_h;
        column = x * p.stride_w - p.pad_w;
    }
};

template <int BK>
INL void copy_a(const HoloCudaTiled &t, uint32_t to, const LineAt<BK> &at, const Corner &corner, int m, uint32_t full)
{
    if (t.p.height)
        patch_copy(to, t.a_map, at.chunk * BK, corner.column, corner.line, corner.image, at.x * t.p.dilation_w,
                   at.y * t.p.dilation_h, full);
    else
        tile_copy(to, t.a_map, at.chunk * BK, 0, m, full);
}

// ---- many tiles

template <class E, int MR, int BN, bool PING, int STAGES> struct Wide {
    using T = typename E::T;
    enum {
        BM       = (PING ? 64 : 128) * MR,
        BK       = LINE / (int)sizeof(T),
        A_BYTES  = BM * LINE,
        STAGE    = (BM + BN) * LINE,
        BARRIERS = STAGES * STAGE, // after the stages: full, empty; then what each warp has for itself
        OWN      = BARRIERS + 256,
        OWN_SIZE = STRIP_BYTES + BN * 4,
    };
    const HoloCudaTiled   &t;
    const HoloCudaProduct &p;
    char                  *base;
    uint32_t               stages, full, empty, order; // order: whose turn to multiply it is, of PING
    Lines<BK>              lines;
    int                    tiles_m, tiles_n;

    INL Wide(const HoloCudaTiled &t, char *base) : t(t), p(t.p), base(base), lines(t.p)
    {
        stages  = shared_address(base);
        full    = stages + BARRIERS;
        empty   = full + STAGES * 8;
        order   = empty + STAGES * 8;
        tiles_m = (p.m + BM - 1) / BM;
        tiles_n = (p.n + BN - 1) / BN;
    }

    INL void begin() const
    {
        if (threadIdx.x == 0) {
            for (int s = 0; s < STAGES; s++) {
                barrier_init(full + s * 8, 1);
                barrier_init(empty + s * 8, PING ? 4 : 8);
            }
            barrier_init(order, 1), barrier_init(order + 8, 1);
            barrier_init_end();
            map_prefetch(t.a_map);
            map_prefetch(t.b_map);
        }
        __syncthreads();
    }

    INL void find(int index, int &m0, int &n0) const
    {
        int tm, tn;
        tile_of(index, tiles_m, tiles_n, tm, tn);
        m0 = tm * BM;
        n0 = tn * BN;
    }

    INL void copy_b(int stage, const LineAt<BK> &at, int n0) const
    {
        tile_copy(stages + stage * STAGE + A_BYTES, t.b_map, at.chunk * BK, at.tap, n0, full + stage * 8);
    }

    // One thread asks for everything, in the order of use.
    INL void produce() const
    {
        int  stage = 0, parity = 1, ahead = 0; // ahead: stages whose B was asked for before others had ended
        int  total = tiles_m * tiles_n;
        bool first = true;
        if (p.b_early && (int)blockIdx.x < total) {
            int        m0, n0;
            LineAt<BK> at = {};
            find(blockIdx.x, m0, n0);
            for (; ahead < STAGES && ahead < lines.count; ahead++, at.next(lines)) {
                barrier_expect(full + ahead * 8, STAGE);
                copy_b(ahead, at, n0);
            }
        }
        wait_for_others();
        for (int index = blockIdx.x; index < total; index += gridDim.x) {
            int        m0, n0;
            LineAt<BK> at = {};
            find(index, m0, n0);
            Corner corner(p, m0);
            for (int line = 0; line < lines.count; line++, at.next(lines)) {
                if (!first || line >= ahead) {
                    barrier_wait(empty + stage * 8, parity);
                    barrier_expect(full + stage * 8, STAGE);
                    copy_b(stage, at, n0);
                }
                copy_a<BK>(t, stages + stage * STAGE, at, corner, m0, full + stage * 8);
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
            first = false;
        }
    }

    INL void release(int stage) const
    {
        if (threadIdx.x % 32 == 0) barrier_arrive(empty + stage * 8);
    }

    INL void multiply(float (&sum)[MR][BN / 2], int stage, int row) const
    {
        uint32_t a_tile = stages + stage * STAGE + row * LINE, b_tile = stages + stage * STAGE + A_BYTES;
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < PIECES / 2; step++)
#pragma unroll
            for (int r = 0; r < MR; r++)
                Wgmma<E, BN>::mma(sum[r], tile_descriptor(a_tile + r * 64 * LINE) + step * 2,
                                  tile_descriptor(b_tile) + step * 2);
        wgmma_commit();
    }

    INL void consume(int group) const
    {
        int   warp = threadIdx.x / 32, total = tiles_m * tiles_n;
        int   row = PING ? 0 : group * 64 * MR; // of the group in the tile
        float sum[MR][BN / 2];
        int   turn = 0; // lines that came before, of all tiles
        wait_for_others();
        for (int index = blockIdx.x, count = 0; index < total; index += gridDim.x, count++, turn += lines.count) {
            if (PING && (count & 1) != group) continue;
            int m0, n0;
            find(index, m0, n0);
            Strips<E, MR, BN> strips(p, base + OWN + warp * OWN_SIZE, m0 + row + warp % 4 * 16, n0);
#pragma unroll
            for (int i = 0; i < MR * BN / 2; i++) (&sum[0][0])[i] = 0;
            int stage = turn % STAGES, parity = turn / STAGES & 1, before = 0;
            // A wait tells two phases apart, no more: the other group has to have seen all its lines first.
            if (PING && count) barrier_wait(order + group * 8, (count / 2 - !group) & 1);
            for (int line = 0; line < lines.count; line++) {
                barrier_wait(full + stage * 8, parity);
                multiply(sum, stage, row);
                if (line) {
                    wgmma_wait<1>();
                    release(before);
                }
                before = stage;
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
            if (PING && threadIdx.x % 128 == 0) barrier_arrive(order + (group ^ 1) * 8);
            strips.fetch_first();
            wgmma_wait<0>();
#pragma unroll
            for (int i = 0; i < MR * BN / 2; i++) asm volatile("" : "+f"((&sum[0][0])[i])::"memory");
            release(before);
            strips.all(sum);
        }
    }

    INL void run() const
    {
        int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
        let_others_start();
        begin();
        if (group == 2) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
            if (threadIdx.x == 256) produce();
        } else {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
            consume(group);
        }
    }
};

// ---- few tiles

// Of 64 rows for each four warps, which multiply, and one more, which asks for copies: for all lines, if there are as many stages.
template <class E, int BM, int BN, int STAGES> struct Deep {
    using T = typename E::T;
    enum {
        BK       = LINE / (int)sizeof(T),
        STAGE    = (BM + BN) * LINE,
        THREADS  = BM * 2,
        OWN_SIZE = STRIP_BYTES + BN * 4, // of each warp, before the stages
        OWN      = THREADS / 32 * OWN_SIZE,
    };
    static_assert(OWN % 1024 == 0, "stages begin on 1024 bytes");
    const HoloCudaTiled   &t;
    const HoloCudaProduct &p;
    char                  *own, *base;
    uint32_t               stages, full, empty;
    int                    m0, n0, from, count, ring; // lines from `from` on, through a ring of stages

    INL Deep(const HoloCudaTiled &t, char *own, uint32_t barriers) : t(t), p(t.p), own(own), base(own + OWN)
    {
        Lines<BK> lines(p);
        int       tm, tn;
        stages = shared_address(base), full = barriers, empty = barriers + STAGES * 8;
        tile_of(blockIdx.x, (p.m + BM - 1) / BM, (p.n + BN - 1) / BN, tm, tn);
        m0 = tm * BM, n0 = tn * BN;
        from = blockIdx.y * p.k_split, count = min(lines.count - from, p.k_split), ring = min(count, (int)STAGES);
    }

    INL void produce() const
    {
        Lines<BK>  lines(p);
        LineAt<BK> at, b;
        Corner     corner(p, m0);
        at.seek(lines, from);
        b = at;
        if (!p.b_early) wait_for_others();
        for (int s = 0; s < ring; s++, b.next(lines)) {
            barrier_expect(full + s * 8, STAGE);
            tile_copy(stages + s * STAGE + BM * LINE, t.b_map, b.chunk * BK, b.tap, n0, full + s * 8);
        }
        wait_for_others();
        for (int i = 0, stage = 0, parity = 1; i < count; i++, at.next(lines)) {
            uint32_t to = stages + stage * STAGE;
            if (i >= ring) {
                barrier_wait(empty + stage * 8, parity);
                barrier_expect(full + stage * 8, STAGE);
                tile_copy(to + BM * LINE, t.b_map, at.chunk * BK, at.tap, n0, full + stage * 8);
            }
            copy_a<BK>(t, to, at, corner, m0, full + stage * 8);
            if (++stage == ring) stage = 0, parity ^= 1;
        }
    }

    INL void consume() const
    {
        Group<E, BM, BN, THREADS> math;
        wait_for_others();
        Strips<E, 1, BN> strips(p, own + threadIdx.x / 32 * OWN_SIZE, m0 + threadIdx.x / 32 * 16, n0);
        strips.fetch_first();
        int i = 0, stage = 0, before = 0, parity = 0;
        do { // a loop that might have no line keeps wgmma from running on
            barrier_wait(full + stage * 8, parity);
            math.multiply(stages + stage * STAGE, stages + stage * STAGE + BM * LINE);
            math.wait_previous();
            barrier_arrive_if(empty + before * 8, i && threadIdx.x % 32 == 0);
            before = stage;
            if (++stage == ring) stage = 0, parity ^= 1;
        } while (++i < count);
        math.finish();
        if (p.splits == 1)
            strips.all(&math.sum);
        else if (p.c_whole)
            end_parts(math, strips);
        else
            end_odd_parts(math);
    }

    // Sums of the parts of k meet in shared memory: each block of the cluster finishes every `splits`-th group of rows. What else it
    // needs is on its way before.
    INL void end_parts(const Group<E, BM, BN, THREADS> &math, const Strips<E, 1, BN> &strips) const
    {
        using Raw = typename Quad<E>::Raw;
        enum { ACROSS = BN / 4, DOWN = THREADS / ACROSS, COUNT = BM / DOWN, MOST = COUNT / 2 };
        int    column = (int)threadIdx.x % ACROSS * 4, row = (int)threadIdx.x / ACROSS, n = n0 + column;
        float *sums = (float *)base + row * (BN + SKEW) + column;
        Raw    more[MOST];
        float  b[4];
#pragma unroll
        for (int g = 0; g < MOST; g++) {
            int m = m0 + row + ((int)blockIdx.y + g * p.splits) * DOWN;
            if (p.more_how && n < p.n && m < p.m && (int)blockIdx.y + g * p.splits < COUNT)
                more[g] = *(const Raw *)((const T *)p.more + (int64_t)m * p.ldmore + n);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) b[i] = p.bias && n + i < p.n ? p.bias[n + i] : 0;
        __syncthreads();
        math.put((float *)base);
        cluster_sync();
#pragma unroll
        for (int g = 0; g < MOST; g++) {
            int i = (int)blockIdx.y + g * p.splits, m = m0 + row + i * DOWN;
            if (i >= COUNT) break;
            float4 x = Cluster::sum(sums + i * DOWN * (BN + SKEW), p.splits), y = make_float4(0, 0, 0, 0);
            if (p.more_how) y = Quad<E>::get(more[g]);
            strips.template end<false, true, 4>(*(float(*)[4]) & x, b, *(const float(*)[4]) & y);
            Quad<E>::store_if((T *)p.c + (int64_t)m * p.ldc + n, Quad<E>::put(x), n < p.n && m < p.m);
        }
    }

    // The same where rows of C do not lie on the size of four elements.
    INL void end_odd_parts(const Group<E, BM, BN, THREADS> &math) const
    {
        int                  column = (int)threadIdx.x % (BN / 4) * 4, row = (int)threadIdx.x / (BN / 4);
        End<BM, BN, THREADS> end{p, p.bias, 0, 0, 0, m0, n0 + column, row, (int)blockIdx.y, p.splits};
        __syncthreads();
        math.put((float *)base);
        add_cluster<BM, BN, THREADS>(p, (float *)base);
        end.all((float *)base);
    }

    INL void run() const
    {
        bool copies = threadIdx.x >= THREADS;
        let_others_start();
        if (threadIdx.x == 0) {
            for (int s = 0; s < ring; s++) barrier_init(full + s * 8, 1), barrier_init(empty + s * 8, THREADS / 32);
            barrier_init_end();
        }
        __syncthreads();
        if (copies) {
            if (threadIdx.x == THREADS) produce();
            __syncwarp();
            if (p.splits > 1) { // the barriers that the others meet at
                __syncthreads();
                cluster_sync();
                if (!p.c_whole) __syncthreads();
            }
        } else {
            consume();
        }
        if (p.splits > 1) cluster_sync(); // others may still read this block's sums
    }
};

#endif

#if HAS_WGMMA
#define WIDE(name, E, MR, BN, PING, STAGES)                                                           \
    extern "C" __global__ void __launch_bounds__(384, 1) name(const __grid_constant__ HoloCudaTiled t) \
    {                                                                                                 \
        extern __shared__ char memory[];                                                              \
        Wide<E, MR, BN, PING, STAGES>(t, memory + (-shared_address(memory) & 1023)).run();            \
    }
#define DEEP(name, E, BM, BN, STAGES)                                                                         \
    extern "C" __global__ void __launch_bounds__(BM * 2 + 32, 1)      name(const __grid_constant__ HoloCudaTiled t) \
    {                                                                                                         \
        extern __shared__ char           memory[];                                                            \
        __shared__ __align__(8) uint64_t barriers[2 * STAGES];                                                \
        Deep<E, BM, BN, STAGES>(t, memory + (-shared_address(memory) & 1023), shared_address(barriers)).run(); \
    }
#endif

// The tiles. cuda_pick_tiled.c has the same table.
#define TILED_PRODUCTS(name, E)                          \
    WIDE(wide_##name##_128x256, E, 1, 256, false, 4)     \
    WIDE(wide_##name##_128x160, E, 1, 160, false, 5)     \
    WIDE(wide_##name##_ping_128x128, E, 2, 128, true, 6) \
    WIDE(wide_##name##_ping_128x96, E, 2, 96, true, 7)   \
    WIDE(wide_##name##_ping_128x64, E, 2, 64, true, 8)   \
    DEEP(deep_##name##_64x64, E, 64, 64, 12)             \
    DEEP(deep_##name##_64x128, E, 64, 128, 8)            \
    DEEP(deep_##name##_128x64, E, 128, 64, 8)

#endif
