// tiled_end.cuh - the end of tiles on sm_90: bias, function and another tensor, on their way from registers to memory.
//
// Sums of a warp go through its own part of shared memory, 32 columns at a time, so that rows are read and written in whole sectors.
#ifndef HOLO_DEVICES_CUDA_CODE_TILED_END_CUH
#define HOLO_DEVICES_CUDA_CODE_TILED_END_CUH

#include "product.cuh"

#if HAS_WGMMA

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

#endif

#endif
