// product_math.cuh - what multiplies tiles in shared memory: Simt, Sync, Group. All have the same four functions.
#ifndef HOLO_DEVICES_CUDA_CODE_PRODUCT_MATH_CUH
#define HOLO_DEVICES_CUDA_CODE_PRODUCT_MATH_CUH

#include "product_load.cuh"

// Two neighbouring sums, as they are.
INL void put_two(float *to, float x, float y)
{
    *(float2 *)to = make_float2(x, y);
}
INL void put_two(int32_t *to, int32_t x, int32_t y)
{
    *(int2 *)to = make_int2(x, y);
}

// Threads of a warp lie 4 x 8 over the tile, warps before that; each has rows and columns that are a tile's worth of threads
// apart. Every sum adds up in the order of k.
template <class E, int BM, int BN, int THREADS> struct Simt {
    enum { LAG = 0, TN = BN >= 128 ? 16 : 8, TM = THREADS / TN, I = BM / TM, J = BN / TN };
    float sum[I][J];
    int   row, column;

    INL Simt()
    {
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        row    = warp / (TN / 8) * 4 + lane / 8;
        column = warp % (TN / 8) * 8 + lane % 8;
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j++) sum[i][j] = 0;
    }

    static INL float4 load(uint32_t tile, int row, int piece)
    {
        float4   r;
        uint32_t at = tile + row * LINE + ((piece ^ (row & 7)) * PIECE);
        asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                     : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)
                     : "r"(at)
                     : "memory");
        return r;
    }

    static INL float add(float sum, float a, float b)
    {
        return E::EXACT ? __fadd_rn(sum, __fmul_rn(a, b)) : fmaf(a, b, sum);
    }

    INL void multiply(uint32_t a_tile, uint32_t b_tile)
    {
#pragma unroll 2
        for (int piece = 0; piece < PIECES; piece++) {
            float4 a[I];
#pragma unroll
            for (int i = 0; i < I; i++) a[i] = load(a_tile, row + i * TM, piece);
#pragma unroll
            for (int j = 0; j < J; j++) {
                float4 b = load(b_tile, column + j * TN, piece);
#pragma unroll
                for (int i = 0; i < I; i++) sum[i][j] = add(sum[i][j], a[i].x, b.x);
#pragma unroll
                for (int i = 0; i < I; i++) sum[i][j] = add(sum[i][j], a[i].y, b.y);
#pragma unroll
                for (int i = 0; i < I; i++) sum[i][j] = add(sum[i][j], a[i].z, b.z);
#pragma unroll
                for (int i = 0; i < I; i++) sum[i][j] = add(sum[i][j], a[i].w, b.w);
            }
        }
    }

    INL void finish() {}

    INL void put(float *stage) const
    {
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j++) stage[(row + i * TM) * (BN + SKEW) + column + j * TN] = sum[i][j];
    }
};

// mma.sync: each warp a tile of WM x WN.
template <class E, int BM, int BN, int THREADS> struct Sync {
    enum { LAG = 0, WARPS = THREADS / 32, WARPS_M = BM >= 2 * BN ? 4 : 2, WARPS_N = WARPS / WARPS_M };
    enum { WM = BM / WARPS_M, WN = BN / WARPS_N, I = WM / 16, J = WN / 8 };
    static_assert(WM % 16 == 0 && WN % 16 == 0, "whole fragments");
    typename E::Sum sum[I][J][4];
    int             m, n, lane;

    INL Sync()
    {
        int warp = threadIdx.x / 32;
        lane     = threadIdx.x % 32;
        m        = warp / WARPS_N * WM;
        n        = warp % WARPS_N * WN;
#pragma unroll
        for (int i = 0; i < I * J * 4; i++) (&sum[0][0][0])[i] = 0;
    }

    // Four 8 x 16-byte matrices: rows `row` and 8 after, pieces `piece` and the next.
    INL void load(uint32_t (&r)[4], uint32_t tile, int row, int piece) const
    {
        load_matrices(r, tile + row * LINE + ((piece ^ (row & 7)) * PIECE));
    }

    INL void multiply(uint32_t a_tile, uint32_t b_tile)
    {
        int a_row = m + lane % 16, a_piece = lane / 16, b_row = n + lane % 8 + lane / 16 * 8, b_piece = lane / 8 % 2;
        typename E::Sum line[I][J][4] = {};
#pragma unroll
        for (int step = 0; step < PIECES / 2; step++) {
            uint32_t a[I][4], b[J / 2][4];
#pragma unroll
            for (int i = 0; i < I; i++) load(a[i], a_tile, a_row + i * 16, step * 2 + a_piece);
#pragma unroll
            for (int j = 0; j < J / 2; j++) load(b[j], b_tile, b_row + j * 16, step * 2 + b_piece);
            if constexpr (E::PARTS == 3)
                multiply_parts(line, a, b);
            else if constexpr (E::LINES)
                multiply_whole(line, a, b);
            else
                multiply_whole(sum, a, b);
        }
        if (E::LINES) // tensor cores cut sums off: they add up one line, ordinary additions, which round, all lines
#pragma unroll
            for (int i = 0; i < I * J * 4; i++) (&sum[0][0][0])[i] += (&line[0][0][0])[i];
    }

    static INL void multiply_whole(typename E::Sum (&to)[I][J][4], uint32_t (&a)[I][4], uint32_t (&b)[J / 2][4])
    {
#pragma unroll
        for (int i = 0; i < I * 4; i++) E::round((&a[0][0])[i]);
#pragma unroll
        for (int j = 0; j < J * 2; j++) E::round((&b[0][0])[j]);
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j++) E::mma(to[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }

    static INL void multiply_parts(typename E::Sum (&line)[I][J][4], uint32_t (&a)[I][4], uint32_t (&b)[J / 2][4])
    {
        uint32_t a_small[I][4], b_small[J / 2][4];
#pragma unroll
        for (int i = 0; i < I * 4; i++) split_f32((&a[0][0])[i], (&a[0][0])[i], (&a_small[0][0])[i]);
#pragma unroll
        for (int j = 0; j < J * 2; j++) split_f32((&b[0][0])[j], (&b[0][0])[j], (&b_small[0][0])[j]);
#pragma unroll
        for (int part = 0; part < 3; part++) // the small products first
#pragma unroll
            for (int i = 0; i < I; i++)
#pragma unroll
                for (int j = 0; j < J; j++) {
                    const uint32_t(&bb)[4] = part == 0 ? b_small[j / 2] : b[j / 2];
                    E::mma(line[i][j], part == 1 ? a_small[i] : a[i], bb[j % 2 * 2], bb[j % 2 * 2 + 1]);
                }
    }

    INL void finish() {}

    INL void put(typename E::Sum *stage) const
    {
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j++)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    put_two(stage + (m + i * 16 + lane / 4 + h * 8) * (BN + SKEW) + n + j * 8 + lane % 4 * 2, sum[i][j][h * 2],
                            sum[i][j][h * 2 + 1]);
    }
};

// wgmma: four warps have 64 rows and all columns. It runs on while the next tiles are copied, so a stage is free one
// iteration later (LAG). Sums by lines are waited for.
template <class E, int BM, int BN, int THREADS> struct Group {
    enum { LAG = 1 };
    static_assert(BM == THREADS / 128 * 64, "64 rows for four warps");
    typename E::Sum sum[BN / 2], line[E::LINES ? BN / 2 : 1];
    int             m;

    INL Group()
    {
        // the same in all lanes, and known to be so
        m = __shfl_sync(~0u, threadIdx.x / 128, 0) * 64;
#pragma unroll
        for (int i = 0; i < BN / 2; i++) sum[i] = 0;
    }

    INL void multiply(uint32_t a_tile, uint32_t b_tile)
    {
        uint64_t a = tile_descriptor(a_tile + m * LINE), b = tile_descriptor(b_tile);
        if constexpr (E::LINES)
#pragma unroll
            for (int i = 0; i < BN / 2; i++) line[i] = 0;
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < PIECES / 2; step++)
            if constexpr (E::LINES)
                Wgmma<E, BN>::mma(line, a + step * 2, b + step * 2);
            else
                Wgmma<E, BN>::mma(sum, a + step * 2, b + step * 2);
        wgmma_commit();
    }

    INL void wait_previous()
    {
        wgmma_wait<E::LINES ? 0 : 1>();
        if constexpr (E::LINES)
#pragma unroll
            for (int i = 0; i < BN / 2; i++) use(line[i]), sum[i] += line[i];
    }

    INL void finish()
    {
        wgmma_wait<0>();
#pragma unroll
        for (int i = 0; i < BN / 2; i++) use(sum[i]); // nothing reads a sum before this line
    }

    static INL void use(float &x)
    {
        asm volatile("" : "+f"(x)::"memory");
    }
    static INL void use(int32_t &x)
    {
        asm volatile("" : "+r"(x)::"memory");
    }

    INL void put(typename E::Sum *stage) const
    {
        int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
#pragma unroll
        for (int j = 0; j < BN / 8; j++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                put_two(stage + (m + warp * 16 + lane / 4 + h * 8) * (BN + SKEW) + j * 8 + lane % 4 * 2, sum[j * 4 + h * 2],
                        sum[j * 4 + h * 2 + 1]);
    }
};

#endif
