// product.cuh - one block computes one tile of C = end(A * B): the template behind all products and convolutions.
//
// Tiles of A and B travel through a ring of stages in shared memory, in rows of 128 bytes (64 f16, 32 f32, 128 s8), by copies
// that do not wait. A convolution differs only in where a row of A comes from. What multiplies is a policy: Simt (FFMA, or
// multiply and add for the exact class), Sync (mma.sync), Group (wgmma). Sums go through shared memory to the end of the
// product, so that memory is read and written in whole lines: straight from registers it is 10% slower.
#ifndef HOLO_DEVICES_CUDA_CODE_PRODUCT_CUH
#define HOLO_DEVICES_CUDA_CODE_PRODUCT_CUH

#include "product_end.cuh"

// Eight tiles of rows side by side before the next tile of columns: what they read of B stays in the cache.
INL void tile_of(int index, int tiles_m, int tiles_n, int &tm, int &tn)
{
    int band = index / (8 * tiles_n), rows = min(tiles_m - band * 8, 8), rest = index - band * 8 * tiles_n;
    tm = band * 8 + rest % rows;
    tn = rest / rows;
}

// The part of parameters that all products have.
INL const HoloCudaProduct &product_of(const HoloCudaProduct &p)
{
    return p;
}
INL const HoloCudaProduct &product_of(const HoloCudaBytes &p)
{
    return p.p;
}

INL const HoloCudaProduct &product_of(const HoloCudaFloat8 &p)
{
    return p.p;
}

// What a tile at m0, n0 of batch (outer, inner) ends with.
template <int BM, int BN, int THREADS>
INL void end_of_tile(const HoloCudaProduct &p, const float *stage, int outer, int inner, int m0, int n0)
{
    int64_t bias_at = outer * p.bias_batch[0] + inner * p.bias_batch[1];
    int64_t c_at    = outer * p.c_batch[0] + inner * p.c_batch[1],
            more_at = outer * p.more_batch[0] + inner * p.more_batch[1];
    End<BM, BN, THREADS> end{p,
                             p.bias ? p.bias + bias_at : 0,
                             p.scale ? p.scale + bias_at : 0,
                             c_at,
                             more_at,
                             m0,
                             n0 + (int)threadIdx.x % (BN / 4) * 4,
                             (int)threadIdx.x / (BN / 4),
                             p.cluster ? (int)blockIdx.y : 0,
                             p.cluster ? p.splits : 1};
    end.all(stage);
}

template <int BM, int BN, int THREADS>
INL void end_of_tile(const HoloCudaBytes &b, const int32_t *stage, int outer, int inner, int m0, int n0)
{
    const HoloCudaProduct    &p = b.p;
    ByteEnd<BM, BN, THREADS> end{b,
                                 outer * p.b_batch[0] + inner * p.b_batch[1],
                                 outer * p.bias_batch[0] + inner * p.bias_batch[1],
                                 outer * p.c_batch[0] + inner * p.c_batch[1],
                                 (int64_t)blockIdx.z * p.m,
                                 m0,
                                 n0 + (int)threadIdx.x % (BN / 4) * 4,
                                 (int)threadIdx.x / (BN / 4),
                                 p.cluster ? (int)blockIdx.y : 0,
                                 p.cluster ? p.splits : 1};
    end.finish(stage);
}

// Sums of floats of 8 bits get their scales where they lie, in the rows that this block finishes.
template <int BM, int BN, int THREADS>
INL void end_of_tile(const HoloCudaFloat8 &f, float *stage, int outer, int inner, int m0, int n0)
{
    enum { ACROSS = BN / 4, DOWN = THREADS / ACROSS };
    const HoloCudaProduct &p = f.p;
    int first = threadIdx.x / ACROSS, column = threadIdx.x % ACROSS * 4, by = p.cluster ? p.splits : 1;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (n0 + column + j >= p.n) break;
        float scale = float8_b_scale(f, n0 + column + j);
#pragma unroll 1
        for (int row = first + (p.cluster ? blockIdx.y : 0) * DOWN; row < BM && m0 + row < p.m; row += by * DOWN)
            stage[row * (BN + SKEW) + column + j] *= float8_a_scale(f, m0 + row) * scale;
    }
    __syncthreads();
    end_of_tile<BM, BN, THREADS>(p, (const float *)stage, outer, inner, m0, n0);
}

template <class E, class Math, int BM, int BN, int THREADS, int STAGES, class Params> INL void product(const Params &all)
{
    using T                  = typename E::T;
    const HoloCudaProduct &p = product_of(all);
    enum { STAGE = (BM + BN) * LINE, AHEAD = STAGES - 1 - Math::LAG, BK = LINE / (int)sizeof(T) };
    extern __shared__ char memory[];
    char                  *base   = memory + (-shared_address(memory) & 1023);
    uint32_t               stages = shared_address(base);

    int tiles_n = (p.n + BN - 1) / BN, tm, tn;
    tile_of(blockIdx.x, (p.m + BM - 1) / BM, tiles_n, tm, tn);
    int     outer = p.inner == 1 ? blockIdx.z : blockIdx.z / p.inner, inner = blockIdx.z - outer * p.inner;
    int     k0 = blockIdx.y * p.k_split, k1 = min(p.k, k0 + p.k_split), count = (k1 - k0 + BK - 1) / BK;
    int64_t a_at = outer * p.a_batch[0] + inner * p.a_batch[1], b_at = outer * p.b_batch[0] + inner * p.b_batch[1];

    Loader<T, BM, BN, THREADS> load(p, (const T *)p.a + a_at, (const T *)p.b + b_at, tm * BM, tn * BN, k0, k1);
    Math                       math;
    let_others_start();
    if (!p.b_early) wait_for_others();
#pragma unroll
    for (int s = 0; s < AHEAD; s++) // no more than there is: shared memory may be that short
        if (s < count) load.copy_b(stages + s * STAGE + BM * LINE, load.k + s * BK);
    if (p.b_early) wait_for_others();
#pragma unroll
    for (int s = 0; s < AHEAD; s++) {
        if (s < count) load.copy_a(stages + s * STAGE);
        copy_commit();
    }
    for (int i = 0, now = 0, next = AHEAD; i < count; i++) {
        copy_wait<AHEAD - 1>();
        // What plain stores wrote has to be shown to the tensor cores. Copies need no fence, and it would wait for all that are
        // still on their way.
        if (Math::LAG && sizeof(T) < 4 && !p.a_whole) proxy_fence();
        __syncthreads();
        uint32_t to = stages + next * STAGE, from = stages + now * STAGE;
        if constexpr (Math::LAG) math.multiply(from, from + BM * LINE);
        if (i + AHEAD < count) {
            load.copy_b(to + BM * LINE, load.k);
            load.copy_a(to);
        }
        copy_commit();
        if constexpr (Math::LAG)
            math.wait_previous();
        else
            math.multiply(from, from + BM * LINE);
        if (++now == STAGES) now = 0;
        if (++next == STAGES) next = 0;
    }
    math.finish();
    copy_wait<0>();

    __syncthreads();
    typename E::Sum *stage = (typename E::Sum *)base;
    math.put(stage);
    __syncthreads();
    if (p.cluster)
        add_cluster<BM, BN, THREADS>(p, stage);
    else if (p.splits > 1 && !add_parts<BM, BN, THREADS>(p, stage, blockIdx.z * gridDim.x + blockIdx.x))
        return;
    end_of_tile<BM, BN, THREADS>(all, stage, outer, inner, tm * BM, tn * BN);
    if (p.cluster) cluster_sync(); // others may still read this block's sums
}

#if HAS_WGMMA
template <class E, int BM, int BN, int THREADS> using Tensor = Group<E, BM, BN, THREADS>;
#else
template <class E, int BM, int BN, int THREADS> using Tensor = Sync<E, BM, BN, THREADS>;
#endif

// The tiles, and how many blocks of one a multiprocessor holds. cuda_pick.c has the same table.
#define PRODUCT_OF(Params, name, Math, E, BM, BN, THREADS, STAGES, BLOCKS)                               \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) name(const __grid_constant__ Params p) \
    {                                                                                                    \
        product<E, Math<E, BM, BN, THREADS>, BM, BN, THREADS, STAGES>(p);                                \
    }
#define PRODUCT(...) PRODUCT_OF(HoloCudaProduct, __VA_ARGS__)

#define TENSOR_PRODUCTS(name, E)                                      \
    PRODUCT(product_##name##_128x256, Tensor, E, 128, 256, 256, 4, 1) \
    PRODUCT(product_##name##_128x128, Tensor, E, 128, 128, 256, 3, 2) \
    PRODUCT(product_##name##_128x64, Tensor, E, 128, 64, 256, 4, 2)   \
    PRODUCT(product_##name##_64x64, Tensor, E, 64, 64, 128, 6, 2)

#endif
