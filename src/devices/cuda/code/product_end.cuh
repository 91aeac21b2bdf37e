// product_end.cuh - from sums to C: parts of a sum put together, bias, function, another tensor.
#ifndef HOLO_DEVICES_CUDA_CODE_PRODUCT_END_CUH
#define HOLO_DEVICES_CUDA_CODE_PRODUCT_END_CUH

#include "bytes.cuh"
#include "product_math.cuh"

// A thread has four columns of every (threads / (columns / 4))-th row: bias and scale are read once.
template <int BM, int BN, int THREADS> struct End {
    enum { ACROSS = BN / 4, DOWN = THREADS / ACROSS, COUNT = BM / DOWN };
    const HoloCudaProduct &p;
    const float           *bias, *scale;
    int64_t                c_at, more_at; // of this batch
    int                    m0, n, first;
    int                    from, by; // groups of rows that this block finishes: all, or every by-th

    // LIMITS: the function is a clip, or none, or relu, which cuda_pick.c makes limits, too. The others are much code, that is not
    // to be read where it is not needed.
    template <bool LIMITS> INL float one(float x, float scale, float bias, float more) const
    {
        x = x * scale + bias;
        if (p.more_how == HOLO_CUDA_MORE_ADD_BEFORE) x += more;
        if (LIMITS)
            x = clip(x, p.low, p.high);
        else
            x = act(x, p.act, p.low, p.high);
        if (!LIMITS) return end_with(x, more, p.more_how);
        if (p.more_how == HOLO_CUDA_MORE_ADD_AFTER) x += more;
        if (p.more_how == HOLO_CUDA_MORE_MUL_AFTER) x *= more;
        return x;
    }

    INL void all(const float *stage) const
    {
        bool limits = p.act <= HOLO_CUDA_ACT_CLIP && p.more_how <= HOLO_CUDA_MORE_MUL_AFTER, whole = p.c_whole && p.n % 4 == 0;
        if (whole && limits)
            quads<true, 4>(stage);
        else if (whole)
            quads<false, 2>(stage);
        else if (limits)
            elements<true, 4>(stage);
        else
            elements<false, 1>(stage);
    }

    template <bool LIMITS, int AT_ONCE> INL void quads(const float *stage) const
    {
        if (n >= p.n) return;
        float4 s = make_float4(p.alpha, p.alpha, p.alpha, p.alpha), b = make_float4(0, 0, 0, 0);
        if (scale) s = *(const float4 *)(scale + n), s.x *= p.alpha, s.y *= p.alpha, s.z *= p.alpha, s.w *= p.alpha;
        if (bias) b = *(const float4 *)(bias + n);
#pragma unroll 1
        for (int i = from; i < COUNT; i += by * AT_ONCE) {
            float4 more[AT_ONCE] = {};
            if (p.more_how) {
#pragma unroll
                for (int j = 0; j < AT_ONCE; j++) {
                    int m   = min(m0 + first + (i + j * by) * DOWN, p.m - 1);
                    more[j] = load_4(p.more, more_at + (int64_t)m * p.ldmore + n, p.more_type);
                }
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                int row = first + (i + j * by) * DOWN;
                if (row >= BM || m0 + row >= p.m) break;
                float4 x = *(const float4 *)(stage + row * (BN + SKEW) + n % BN);
                x.x = one<LIMITS>(x.x, s.x, b.x, more[j].x), x.y = one<LIMITS>(x.y, s.y, b.y, more[j].y);
                x.z = one<LIMITS>(x.z, s.z, b.z, more[j].z), x.w = one<LIMITS>(x.w, s.w, b.w, more[j].w);
                store_4(p.c, c_at + (int64_t)(m0 + row) * p.ldc + n, p.c_type, x);
            }
        }
    }

    // Results that do not lie on 16 bytes: a thread has one column, so that neighbours still write side by side.
    template <bool LIMITS, int AT_ONCE> INL void elements(const float *stage) const
    {
        int column = threadIdx.x % BN, at = n - n % BN + column;
        if (at >= p.n) return;
        float s = p.alpha * (scale ? scale[at] : 1), b = bias ? bias[at] : 0;
#pragma unroll AT_ONCE
        for (int row = threadIdx.x / BN; row < BM; row += THREADS / BN) {
            int m = m0 + row;
            if (m >= p.m || (by > 1 && row / DOWN % by != from)) continue;
            float more = p.more_how ? load_any(p.more, more_at + (int64_t)m * p.ldmore + at, p.more_type) : 0;
            float x    = one<LIMITS>(stage[row * (BN + SKEW) + column], s, b, more);
            store_any(p.c, c_at + (int64_t)m * p.ldc + at, p.c_type, x);
        }
    }
};

// The same of products of bytes, whose sums are integers.
template <int BM, int BN, int THREADS> struct ByteEnd {
    enum { ACROSS = BN / 4, DOWN = THREADS / ACROSS, COUNT = BM / DOWN };
    const HoloCudaBytes &all;
    int64_t              b_at, line_at, c_at, row_at; // of this batch
    int                  m0, n, first, from, by;

    INL void store(int64_t at, const uint32_t (&x)[4], int count) const
    {
        const HoloCudaScaled &s = all.s;
        if (!all.p.c_whole || count < 4) {
            for (int j = 0; j < count; j++) scaled_store(s, all.p.c, at + j, x[j]);
        } else if (s.y_zero) {
            *(uint32_t *)((uint8_t *)all.p.c + at) = x[0] | x[1] << 8 | x[2] << 16 | x[3] << 24;
        } else if (!s.a_scale) {
            *(uint4 *)((uint32_t *)all.p.c + at) = make_uint4(x[0], x[1], x[2], x[3]);
        } else {
            store_4(all.p.c, at, s.y_type,
                    make_float4(__uint_as_float(x[0]), __uint_as_float(x[1]), __uint_as_float(x[2]), __uint_as_float(x[3])));
        }
    }

    INL void finish(const int32_t *stage) const
    {
        const HoloCudaProduct &p     = all.p;
        int                    count = min(p.n - n, 4);
        Column                 columns[4];
        if (count <= 0) return;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int at     = min(n + j, p.n - 1);
            columns[j] = column_of(all.s, line_at + at, packed_sum(p, b_at, at));
        }
#pragma unroll 1
        for (int i = from; i < COUNT; i += by) {
            int row = first + i * DOWN, m = m0 + row;
            if (m >= p.m) break;
            int32_t  row_sum = all.s.row_sums ? all.s.row_sums[row_at + m] : 0;
            uint32_t x[4];
#pragma unroll
            for (int j = 0; j < 4; j++) x[j] = scaled(all.s, columns[j], stage[row * (BN + SKEW) + n % BN + j], row_sum);
            store(c_at + (int64_t)m * p.ldc + n, x, count);
        }
    }
};

// A sum more: of floats, or of integers that lie in their place.
INL float4 sum_more(float4 x, float4 y, float)
{
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
INL float sum_one(float x, float y)
{
    return __uint_as_float(__float_as_uint(x) + __float_as_uint(y));
}
INL float4 sum_more(float4 x, float4 y, int32_t)
{
    return make_float4(sum_one(x.x, y.x), sum_one(x.y, y.y), sum_one(x.z, y.z), sum_one(x.w, y.w));
}

// The parts of a split sum meet in the workspace. The last block to arrive adds them up in their order, not in the order of
// arrival: the same bits in every run. Returns whether this block is the last; then `stage` has the whole sum.
template <int BM, int BN, int THREADS, class Sum> INL bool add_parts(const HoloCudaProduct &p, Sum *stage, int tile)
{
    enum { QUADS = BM * BN / 4 };
    float4 *part = (float4 *)p.partial + (int64_t)tile * p.splits * QUADS;
    for (int i = threadIdx.x; i < QUADS; i += THREADS)
        part[(int64_t)blockIdx.y * QUADS + i] = *(float4 *)(stage + i / (BN / 4) * (BN + SKEW) + i % (BN / 4) * 4);
    if (!is_last_block(&p.counters[tile], p.splits)) return false;
    if (threadIdx.x == 0) p.counters[tile] = 0;
    for (int i = threadIdx.x; i < QUADS; i += THREADS) {
        float4 x = __ldcg(part + i);
#pragma unroll 4
        for (int s = 1; s < p.splits; s++) {
            float4 y = __ldcg(part + (int64_t)s * QUADS + i);
            x        = sum_more(x, y, Sum());
        }
        *(float4 *)(stage + i / (BN / 4) * (BN + SKEW) + i % (BN / 4) * 4) = x;
    }
    __syncthreads();
    return true;
}

// On sm_90 the blocks of a split sum are a cluster: each finishes some rows, reading everybody's sums where they lie.
struct Cluster {
    // The sum of what all `count` blocks have at this address, in the order of blocks.
    template <class Sum> static INL float4 sum(const Sum *local, int count)
    {
        float4 all = make_float4(0, 0, 0, 0);
#if __CUDA_ARCH__ >= 900
        uint32_t at = shared_address(local);
#pragma unroll 4
        for (int block = 0; block < count; block++) {
            uint32_t there = address_in_block(at, block);
            float4   x;
            asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
                         : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                         : "r"(there)
                         : "memory");
            all = sum_more(all, x, Sum());
        }
#endif
        return all;
    }
};

// Leaves in `stage` the whole sums of the rows that this block finishes: every `splits`-th group of DOWN rows.
template <int BM, int BN, int THREADS, class Sum> INL void add_cluster(const HoloCudaProduct &p, Sum *stage)
{
    enum { ACROSS = BN / 4, DOWN = THREADS / ACROSS, COUNT = BM / DOWN };
    cluster_sync();
    int at = threadIdx.x / ACROSS * (BN + SKEW) + threadIdx.x % ACROSS * 4;
    for (int i = blockIdx.y; i < COUNT; i += p.splits) {
        float4 x = Cluster::sum(stage + at + i * DOWN * (BN + SKEW), p.splits);
        // nobody else reads these rows here: others finish other groups
        *(float4 *)(stage + at + i * DOWN * (BN + SKEW)) = x;
    }
    __syncthreads();
}

#endif
