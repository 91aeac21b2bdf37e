// attention.cuh - softmax(Q * K^T * scale + mask) * V without a matrix of scores in memory.
//
// Four warps have 16 queries each and walk over the keys in tiles; a running maximum and sum make the softmax (in powers of 2).
// Tiles lie in shared memory in rows of D elements whose 16-byte pieces are at (piece ^ row % 8).
#ifndef HOLO_DEVICES_CUDA_CODE_ATTENTION_CUH
#define HOLO_DEVICES_CUDA_CODE_ATTENTION_CUH

#include "device.cuh"

static __device__ const float LOG2E = 1.4426950408889634f;

// Which keys a batch sees, and how a mask hides or weighs them.
struct Sight {
    const HoloCudaAttention &p;
    int64_t                  mask_at; // of this batch and head
    int                      keys, past;

    INL Sight(const HoloCudaAttention &p, int batch, int head) : Sight(p, batch, p.cached ? p.cached[batch] : 0)
    {
        mask_at += head * p.mask_stride[1];
    }
    // `cached`: how many keys the cache has of this batch, if there is one. Of the first head.
    INL Sight(const HoloCudaAttention &p, int batch, int64_t cached) : p(p)
    {
        mask_at = batch * p.mask_stride[0];
        keys    = p.lengths ? min(p.lengths[batch], p.keys) : p.keys;
        past    = p.past >= 0 ? p.past : keys - p.queries;
        if (!p.cached) return;
        past = (int)min(max(cached, (int64_t)0), (int64_t)(p.keys - p.queries)); // whatever it says
        keys = past + p.queries;
    }
    INL Sight of_head(int head) const
    {
        Sight other = *this;
        other.mask_at += head * p.mask_stride[1];
        return other;
    }
    INL int end(int query) const { return p.causal ? max(min(keys, query + past + 1), 0) : keys; } // of keys

    // What the mask adds to a score, in powers of 2. The types are in the same order as those of elements.
    INL float mask(int query, int key) const
    {
        if (p.mask_type == HOLO_CUDA_MASK_FRESH) {
            bool far = p.window && key + p.window <= query + past;
            return far || (p.mask && key >= past && !((const int64_t *)p.mask)[mask_at + key - past]) ? -INFINITY : 0;
        }
        int64_t at = mask_at + query * p.mask_stride[2] + key;
        if (p.mask_type == HOLO_CUDA_MASK_BOOL) return ((const uint8_t *)p.mask)[at] ? 0 : -INFINITY;
        return load_any(p.mask, at, p.mask_type - HOLO_CUDA_MASK_F32) * LOG2E;
    }
};

// Which of the batches of K and V belongs to a batch of Q.
INL int64_t kv_batch(const HoloCudaAttention &p, int batch)
{
    return p.slots ? min(max(p.slots[batch], (int64_t)0), (int64_t)(p.slot_count - 1)) : batch;
}

// A score in powers of 2, bounded.
INL float capped(float score, float cap)
{
    return cap * LOG2E * tanhf(score / (cap * LOG2E));
}

// ---- products of fragments, by type

// The sum of scores and the product with V differ: f16 packs two scores into a register and reads V turned; f32 takes the
// keys of a fragment in another order (0 2 4 6 1 3 5 7), which makes scores fit as they are.
template <class E, int D> struct Pieces {
    enum { T_SIZE = (int)sizeof(typename E::T), ROW = D * T_SIZE, COUNT = ROW / 16, EACH = 16 / T_SIZE };
    static INL uint32_t at(uint32_t tile, int row, int piece) { return tile + row * ROW + ((piece ^ (row & 7)) * 16); }

    static INL void multiply(float (&d)[4], uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        if constexpr (E::PARTS == 3) {
            uint32_t big[4], small[4], b_big[2], b_small[2];
#pragma unroll
            for (int i = 0; i < 4; i++) split_f32(a[i], big[i], small[i]);
            split_f32(b0, b_big[0], b_small[0]);
            split_f32(b1, b_big[1], b_small[1]);
            E::mma(d, big, b_small[0], b_small[1]);
            E::mma(d, small, b_big[0], b_big[1]);
            E::mma(d, big, b_big[0], b_big[1]);
        } else {
            E::round(b0), E::round(b1);
            E::mma(d, a, b0, b1);
        }
    }

    // Weights w of 8 or 16 keys as the left operand.
    static INL void left(uint32_t (&a)[4], const float (*w)[4])
    {
        if constexpr (T_SIZE == 2) {
            a[0] = E::pair(w[0][0], w[0][1]), a[1] = E::pair(w[0][2], w[0][3]);
            a[2] = E::pair(w[1][0], w[1][1]), a[3] = E::pair(w[1][2], w[1][3]);
        } else {
            a[0] = __float_as_uint(w[0][0]), a[1] = __float_as_uint(w[0][2]);
            a[2] = __float_as_uint(w[0][1]), a[3] = __float_as_uint(w[0][3]);
            if (E::PARTS == 1)
                for (int i = 0; i < 4; i++) E::round(a[i]);
        }
    }

    // V of the same keys, 16 columns from `column` on: b[0], b[1] for the first 8, b[2], b[3] for the others.
    static INL void right(uint32_t (&b)[4], uint32_t tile, int key, int column)
    {
        int lane = threadIdx.x % 32;
        if constexpr (T_SIZE == 2) {
            load_matrices_turned(b, at(tile, key + lane % 16, column / 8 + lane / 16));
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int row = key + lane % 4 * 2 + i % 2, x = column + i / 2 * 8 + lane / 4;
                asm volatile("ld.shared.b32 %0, [%1];" : "=r"(b[i]) : "r"(at(tile, row, x / 4) + x % 4 * 4) : "memory");
            }
        }
    }
};

template <class E> INL void copy_some(uint32_t to, const typename E::T *from, int have)
{
#pragma unroll 1
    for (int e = 0; e < 16 / (int)sizeof(typename E::T); e++) {
        if constexpr (sizeof(typename E::T) == 4) {
            copy_4(to + e * 4, from + e, e < have ? 4 : 0);
        } else {
            uint16_t x = e < have ? ((const uint16_t *)from)[e] : 0;
            asm volatile("st.shared.u16 [%0], %1;" ::"r"(to + e * 2), "h"(x) : "memory");
        }
    }
}

// Rows [first, first + ROWS) of a matrix, zeros past `end` and past `size`. A thread has one piece of some rows.
template <class E, int D, int ROWS>
INL void copy_tile(uint32_t to, const typename E::T *from, int64_t stride, int first, int end, int size, bool whole)
{
    using P = Pieces<E, D>;
    enum { STEP = 128 / P::COUNT };
    int                  row = threadIdx.x / P::COUNT, piece = threadIdx.x % P::COUNT;
    int                  left = min(max(size - piece * P::EACH, 0), (int)P::EACH);
    const typename E::T *at   = from + (first + row) * stride + piece * P::EACH;
#pragma unroll
    for (int i = 0; i < ROWS; i += STEP, at += STEP * stride) {
        int      have  = first + row + i < end ? left : 0;
        uint32_t place = P::at(to, row + i, piece);
        if (whole)
            copy_16(place, at, have * P::T_SIZE);
        else
            copy_some<E>(place, at, have);
    }
}

// ---- one warp's 16 queries

template <class E, int D, int BK> struct Queries {
    using P = Pieces<E, D>;
    float score[BK / 8][4], out[D / 8][4], top[2], sum[2];
    int   query, warp, lane; // query: of the first of the lane's two rows

    INL Queries(int first)
    {
        warp = threadIdx.x / 32, lane = threadIdx.x % 32, query = first + warp * 16 + lane / 4;
        top[0] = top[1] = -INFINITY, sum[0] = sum[1] = 0;
#pragma unroll
        for (int i = 0; i < D / 8 * 4; i++) (&out[0][0])[i] = 0;
    }

    INL void scores(uint32_t q, uint32_t k)
    {
#pragma unroll
        for (int i = 0; i < BK / 8 * 4; i++) (&score[0][0])[i] = 0;
#pragma unroll
        for (int step = 0; step < P::COUNT / 2; step++) {
            uint32_t a[4], b[4];
            load_matrices(a, P::at(q, warp * 16 + lane % 16, step * 2 + lane / 16));
            if (E::PARTS == 1)
                for (int i = 0; i < 4; i++) E::round(a[i]);
#pragma unroll
            for (int j = 0; j < BK / 16; j++) {
                load_matrices(b, P::at(k, j * 16 + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2));
                P::multiply(score[j * 2], a, b[0], b[1]);
                P::multiply(score[j * 2 + 1], a, b[2], b[3]);
            }
        }
    }

    // Scores become weights. The tile begins at `key`.
    INL void weigh(const Sight &sight, int key)
    {
        float scale = sight.p.scale * LOG2E, high[2] = {top[0], top[1]};
        int   mine = lane % 4 * 2, end[2]; // keys of this lane's columns, from its first on, that each row sees
#pragma unroll
        for (int h = 0; h < 2; h++)
            end[h] = query + h * 8 < sight.p.queries ? sight.end(query + h * 8) - key - mine : 0;
#pragma unroll
        for (int i = 0; i < BK / 8 * 4; i++) (&score[0][0])[i] *= scale;
        if (sight.p.softcap > 0)
            for (int i = 0; i < BK / 8 * 4; i++) (&score[0][0])[i] = capped((&score[0][0])[i], sight.p.softcap);
        if (sight.p.mask_type) add_mask(sight, key + mine, end);
#pragma unroll
        for (int j = 0; j < BK / 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                score[j][e] = j * 8 + e % 2 < end[e / 2] ? score[j][e] : -INFINITY;
                high[e / 2] = fmaxf(high[e / 2], score[j][e]);
            }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            high[h]    = fmaxf(high[h], __shfl_xor_sync(~0u, high[h], 1));
            high[h]    = fmaxf(high[h], __shfl_xor_sync(~0u, high[h], 2));
            float base = high[h] == -INFINITY ? 0 : high[h], less = exp2f(top[h] - base);
            top[h] = high[h];
            sum[h] *= less;
#pragma unroll
            for (int j = 0; j < D / 8; j++) out[j][h * 2] *= less, out[j][h * 2 + 1] *= less;
#pragma unroll
            for (int j = 0; j < BK / 8; j++)
#pragma unroll
                for (int e = h * 2; e < h * 2 + 2; e++) {
                    score[j][e] = exp2f(score[j][e] - base);
                    sum[h] += score[j][e];
                }
        }
    }

    INL void add_mask(const Sight &sight, int key, const int (&end)[2])
    {
#pragma unroll
        for (int j = 0; j < BK / 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (j * 8 + e % 2 < end[e / 2]) score[j][e] += sight.mask(query + e / 2 * 8, key + j * 8 + e % 2);
    }

    INL void add_values(uint32_t v)
    {
        enum { KEYS = P::T_SIZE == 2 ? 16 : 8 };
#pragma unroll
        for (int key = 0; key < BK; key += KEYS) {
            uint32_t a[4], b[4];
            P::left(a, score + key / 8);
#pragma unroll
            for (int j = 0; j < D / 16; j++) {
                P::right(b, v, key, j * 16);
                P::multiply(out[j * 2], a, b[0], b[1]);
                P::multiply(out[j * 2 + 1], a, b[2], b[3]);
            }
        }
    }

    INL void store(const HoloCudaAttention &p, typename E::T *to) const
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float all = sum[h] + __shfl_xor_sync(~0u, sum[h], 1);
            all += __shfl_xor_sync(~0u, all, 2);
            float          times = all == 0 ? 0 : 1 / all; // a query that sees nothing gets zeros
            typename E::T *row   = to + (query + h * 8) * p.out_stride[2];
            if (query + h * 8 >= p.queries) continue;
            bool pairs = p.whole && p.v_size % 2 == 0 && p.out_stride[2] % 2 == 0;
#pragma unroll
            for (int j = 0; j < D / 8; j++) {
                int   x    = j * 8 + lane % 4 * 2;
                float y[2] = {out[j][h * 2] * times, out[j][h * 2 + 1] * times};
                if (pairs && x < p.v_size) {
                    if constexpr (P::T_SIZE == 2)
                        *(uint32_t *)(row + x) = E::pair(y[0], y[1]);
                    else
                        *(float2 *)(row + x) = make_float2(y[0], y[1]);
                    continue;
                }
                if (x < p.v_size) row[x] = E::put(y[0]);
                if (x + 1 < p.v_size) row[x + 1] = E::put(y[1]);
            }
        }
    }
};

template <class E, int D, int BK> INL void attention(const HoloCudaAttention &p)
{
    using T = typename E::T;
    enum { Q_BYTES = 64 * D * (int)sizeof(T), KV_BYTES = BK * D * (int)sizeof(T) };
    extern __shared__ __align__(128) char memory[];
    uint32_t                              q_tile = shared_address(memory), kv = q_tile + Q_BYTES;
    int      first = (gridDim.x - 1 - blockIdx.x) * 64, head = blockIdx.y, batch = blockIdx.z;
    int      kv_head = head / (p.heads / p.kv_heads);
    const T *q       = (const T *)p.q + batch * p.q_stride[0] + head * p.q_stride[1];
    let_others_start();
    wait_for_others();
    const T          *k = (const T *)p.k + kv_batch(p, batch) * p.k_stride[0] + kv_head * p.k_stride[1];
    const T          *v = (const T *)p.v + kv_batch(p, batch) * p.v_stride[0] + kv_head * p.v_stride[1];
    Sight             sight(p, batch, head);
    int               end = sight.end(min(first + 63, p.queries - 1)), tiles = (end + BK - 1) / BK;
    Queries<E, D, BK> mine(first);
    int               ahead = p.is_single ? 0 : 1; // a tile is asked for before the one before it is used, if two fit
    auto              copy  = [&](int i) {
        uint32_t to = kv + (i & ahead) * 2 * KV_BYTES;
        copy_tile<E, D, BK>(to, k, p.k_stride[2], i * BK, end, p.size, p.whole);
        copy_tile<E, D, BK>(to + KV_BYTES, v, p.v_stride[2], i * BK, end, p.v_size, p.whole);
    };
    copy_tile<E, D, 64>(q_tile, q, p.q_stride[2], first, p.queries, p.size, p.whole);
    if (ahead && tiles > 0) copy(0);
    copy_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + ahead < tiles) copy(i + ahead);
        copy_commit();
        if (ahead)
            copy_wait<1>();
        else
            copy_wait<0>();
        __syncthreads();
        uint32_t tile = kv + (i & ahead) * 2 * KV_BYTES;
        mine.scores(q_tile, tile);
        mine.weigh(sight, i * BK);
        mine.add_values(tile + KV_BYTES);
        __syncthreads();
    }
    copy_wait<0>();
    mine.store(p, (T *)p.out + batch * p.out_stride[0] + head * p.out_stride[1]);
}

#define ATTENTION(name, E, D, BK)                                                                       \
    extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ HoloCudaAttention p) \
    {                                                                                                   \
        attention<E, D, BK>(p);                                                                         \
    }

#endif
