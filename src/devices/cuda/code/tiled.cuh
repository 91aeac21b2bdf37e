// tiled.cuh - products and convolutions on sm_90: tiles of A and B are brought by the copy engine, multiplied by wgmma.
//
// Two kernels. `wide` is for many tiles: its blocks stay, and take tile after tile. One warp asks for copies, two groups of four
// warps multiply. Either both share a tile, or each has a tile of its own (PING), so that one multiplies while the other stores.
// `deep` is for few tiles: a block has one tile, or a part of its k, and asks for all that fits into shared memory at once.
//
// Blocks of a cluster that bring parts of B for each other were tried: slower, since each line then waits for two blocks.
#ifndef HOLO_DEVICES_CUDA_CODE_TILED_CUH
#define HOLO_DEVICES_CUDA_CODE_TILED_CUH

#include "product.cuh"
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

// ---- the end of a tile of `wide`: sums of a warp go through its own part of shared memory, 32 columns at a time, so that rows
// are read and written in whole sectors.

// erf by formula 7.1.26 of Abramowitz and Stegun: within 1.5e-7, a third of the instructions of erff.
INL float gelu(float x)
{
    float z = fabsf(x) * 0.70710678118654752f, t, e = exp2f(z * z * -1.4426950408889634f);
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(t) : "f"(fmaf(z, 0.3275911f, 1)));
    float y = fmaf(fmaf(fmaf(fmaf(1.061405429f, t, -1.453152027f), t, 1.421413741f), t, -0.284496736f), t, 0.254829592f);
    float r = fmaf(-y * t, e, 1);
    return fmaf(0.5f * x, copysignf(r, x), 0.5f * x);
}

INL float gelu_tanh(float x) // x * sigmoid(2y) is x * (1 + tanh(y)) / 2
{
    float y = 1.5957691216057308f * (x + 0.044715f * x * x * x);
    return __fdividef(x, 1 + __expf(-y));
}

INL float act_some(float x, int what)
{
    if (what == HOLO_CUDA_ACT_GELU_TANH) return gelu_tanh(x);
    return __fdividef(x, 1 + __expf(-x)); // SILU
}

template <class E> struct Quad { // four elements as they lie in memory
    using Raw = uint2;
    static INL float4 get(uint2 w) { return widen(w, E::TYPE); }
    static INL uint2  put(float4 x) { return make_uint2(E::pair(x.x, x.y), E::pair(x.z, x.w)); }
    static INL void   store_if(void *to, uint2 x, bool is) // without a branch
    {
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p st.global.v2.b32 [%0], {%1, %2}; }" ::"l"(to), "r"(x.x),
                     "r"(x.y), "r"((uint32_t)is)
                     : "memory");
    }
};

template <> struct Quad<TF32> {
    using Raw = float4;
    static INL float4 get(float4 w) { return w; }
    static INL float4 put(float4 x) { return x; }
    static INL void   store_if(void *to, float4 x, bool is)
    {
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.global.v4.f32 [%0], {%1, %2, %3, %4}; }" ::"l"(to),
                     "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w), "r"((uint32_t)is)
                     : "memory");
    }
};

enum { STRIP = 32, STRIP_ROW = STRIP + 8, STRIP_BYTES = 16 * STRIP_ROW * 4 };

// 64 rows for each of MR, of which a warp has 16.
template <class E, int MR, int BN> struct Strips {
    using Raw = typename Quad<E>::Raw;
    enum { COUNT = MR * (BN / STRIP), ACROSS = BN / STRIP, AHEAD = 2 };
    const HoloCudaProduct &p;
    float                 *stage, *bias; // of this warp
    int                    m0, n0;       // of the warp's first row, and of the tile's first column
    int                    row, column;  // of this lane in a strip, when it reads and writes memory
    Raw                    more[AHEAD][4];

    INL Strips(const HoloCudaProduct &p, char *own, int m0, int n0) : p(p), m0(m0), n0(n0)
    {
        int lane = threadIdx.x % 32;
        stage = (float *)own, bias = (float *)(own + STRIP_BYTES);
        row = lane / 8, column = lane % 8 * 4;
#pragma unroll
        for (int i = 0; i < BN / 32; i++)
            bias[i * 32 + lane] = p.bias && n0 + i * 32 + lane < p.n ? p.bias[n0 + i * 32 + lane] : 0;
        __syncwarp();
    }

    INL int down(int strip) const { return m0 + strip / ACROSS * 64; }
    INL int across(int strip) const { return n0 + strip % ACROSS * STRIP; }

    INL void fetch(Raw (&to)[4], int strip) const
    {
        if (!p.more_how || !p.c_whole || strip >= COUNT) return;
        int n = across(strip) + column;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int m = down(strip) + i * 4 + row;
            if (m < p.m && n < p.n) to[i] = *(const Raw *)((const typename E::T *)p.more + (int64_t)m * p.ldmore + n);
        }
    }

    INL void fetch_first()
    {
#pragma unroll
        for (int s = 0; s < AHEAD; s++) fetch(more[s], s);
    }

    INL void put(const float *sum) const // 16 sums, of one strip
    {
        int    lane = threadIdx.x % 32;
        float *to   = stage + lane / 4 * STRIP_ROW + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                *(float2 *)(to + h * 8 * STRIP_ROW + j * 8) = make_float2(sum[j * 4 + h * 2], sum[j * 4 + h * 2 + 1]);
    }

    template <bool LIMITS, bool MORE, int COUNT>
    INL void end(float (&x)[COUNT], const float (&b)[COUNT], const float (&y)[COUNT]) const
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++) x[i] = x[i] * p.alpha + b[i];
        if (MORE && p.more_how == HOLO_CUDA_MORE_ADD_BEFORE)
#pragma unroll
            for (int i = 0; i < COUNT; i++) x[i] += y[i];
        if (LIMITS) // none and relu are limits, too: cuda_pick.c
#pragma unroll
            for (int i = 0; i < COUNT; i++) x[i] = clip(x[i], p.low, p.high);
        else if (p.act <= HOLO_CUDA_ACT_CLIP)
#pragma unroll
            for (int i = 0; i < COUNT; i++) x[i] = clip(x[i], p.low, p.high);
        else if (p.act == HOLO_CUDA_ACT_GELU_ERF)
#pragma unroll
            for (int i = 0; i < COUNT; i++) x[i] = gelu(x[i]);
        else
#pragma unroll
            for (int i = 0; i < COUNT; i++) x[i] = act_some(x[i], p.act);
        if (MORE && p.more_how == HOLO_CUDA_MORE_ADD_AFTER)
#pragma unroll
            for (int i = 0; i < COUNT; i++) x[i] += y[i];
        if (MORE && p.more_how == HOLO_CUDA_MORE_MUL_AFTER)
#pragma unroll
            for (int i = 0; i < COUNT; i++) x[i] *= y[i];
    }

    template <bool LIMITS, bool MORE> INL void store(int strip, const Raw (&raw)[4]) const
    {
        bool   inside = across(strip) + column < p.n;
        int    m      = down(strip) + row;
        char  *to     = (char *)p.c + ((int64_t)m * p.ldc + across(strip) + column) * (int)sizeof(typename E::T);
        int    step   = p.ldc * 4 * (int)sizeof(typename E::T);
        float4 b = *(const float4 *)(bias + strip % ACROSS * STRIP + column), x[4], y[4], c[4] = {b, b, b, b};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[i] = *(const float4 *)(stage + (i * 4 + row) * STRIP_ROW + column);
            if (MORE) y[i] = Quad<E>::get(raw[i]);
        }
        end<LIMITS, MORE, 16>(*(float(*)[16])x, *(const float(*)[16])c, *(const float(*)[16])y);
#pragma unroll
        for (int i = 0; i < 4; i++)
            Quad<E>::store_if(to + (int64_t)i * step, Quad<E>::put(x[i]), inside && m + i * 4 < p.m);
    }

    // Rows that do not lie on the size of four elements: a lane has one column.
    INL void store_elements(int strip) const
    {
        int n = threadIdx.x % 32, m = down(strip), at = across(strip) + n;
        if (at >= p.n) return;
#pragma unroll 1
        for (int i = 0; i < 16; i += 4) {
            float x[4], y[4], b[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                x[j] = stage[(i + j) * STRIP_ROW + n], b[j] = bias[strip % ACROSS * STRIP + n], y[j] = 0;
                if (p.more_how && m + i + j < p.m)
                    y[j] = E::get(((const typename E::T *)p.more)[(int64_t)(m + i + j) * p.ldmore + at]);
            }
            end<false, true, 4>(x, b, y);
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (m + i + j < p.m) ((typename E::T *)p.c)[(int64_t)(m + i + j) * p.ldc + at] = E::put(x[j]);
        }
    }

    // Limits, which most layers have, as straight code.
    template <bool MORE> INL void all_limits(const float (*sum)[BN / 2])
    {
#pragma unroll
        for (int strip = 0; strip < COUNT; strip++) {
            put(sum[strip / ACROSS] + strip % ACROSS * 16);
            __syncwarp();
            store<true, MORE>(strip, more[strip % AHEAD]);
            if (MORE) fetch(more[strip % AHEAD], strip + AHEAD);
            __syncwarp();
        }
    }

    // Other functions are much code, which is there once: sums are registers, so that a branch for each strip moves them.
    INL void all_others(const float (*sum)[BN / 2])
    {
#pragma unroll 1
        for (int strip = 0; strip < COUNT; strip++) {
#pragma unroll
            for (int s = 0; s < COUNT; s++)
                if (s == strip) put(sum[s / ACROSS] + s % ACROSS * 16);
            __syncwarp();
            if (p.c_whole && !p.more_how)
                store<false, false>(strip, more[0]);
            else
                store_elements(strip);
            __syncwarp();
        }
    }

    INL void all(const float (*sum)[BN / 2])
    {
        if (p.act > HOLO_CUDA_ACT_CLIP || !p.c_whole)
            all_others(sum);
        else if (p.more_how)
            all_limits<true>(sum);
        else
            all_limits<false>(sum);
    }
};

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
