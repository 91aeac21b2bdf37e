// decode.cu - attention of one or few queries over many keys: bound by reading K and V once. cuda_pick_more.c has the same table.
//
// Blocks share the keys. A few lanes have one key, 16 bytes of it each, for G rows at once: the queries of all heads that share
// K and V. What lanes, warps and blocks found is put together in a fixed order.
#include "attention.cuh"

enum { DECODE_WARPS = 4 };

// A weighted sum of values so far: its exponent, the sum of weights, 16 bytes' worth of columns.
template <int N> struct Found {
    float top, sum, out[N];

    INL void add(float other_top, float other_sum, const float (&other)[N])
    {
        float high = fmaxf(top, other_top), base = high == -INFINITY ? 0 : high;
        float mine = exp2f(top - base), theirs = exp2f(other_top - base);
        top = high;
        sum = sum * mine + other_sum * theirs;
#pragma unroll
        for (int i = 0; i < N; i++) out[i] = out[i] * mine + other[i] * theirs;
    }
};

template <class E, int N> INL void load_floats(float (&x)[N], const typename E::T *from, int left, bool whole)
{
    uint4          w    = make_uint4(0, 0, 0, 0);
    typename E::T *each = (typename E::T *)&w;
    if (whole && left >= N) {
        w = *(const uint4 *)from;
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            if (i < left) each[i] = from[i];
    }
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = E::get(each[i]);
}

// ---- what goes before: a query and a new key are turned by their position, and the new key and value go into the cache

// A lane's columns of a vector, which begins at x: turned, if asked, as the kernel `rotary` does it, and rounded as that stores it. The
// host made sure that halves of pairs, and their angles, are whole pieces.
template <class E, int N>
INL void load_turned(float (&to)[N], const HoloCudaAttention &p, const typename E::T *x, int batch, int column, int left)
{
    load_floats<E>(to, x + column, left, p.whole);
    if (!p.cos || column >= 2 * p.half) return;
    int64_t angles    = (int64_t)batch * p.cos_step * p.half;
    bool    is_second = column >= p.half;
    int     i         = is_second ? column - p.half : column;
    float   other[N], cosine[N], sine[N];
    load_floats<E>(other, x + (is_second ? i : i + p.half), N, true);
    load_floats<E>(cosine, (const typename E::T *)p.cos + angles + i, N, true);
    load_floats<E>(sine, (const typename E::T *)p.sin + angles + i, N, true);
#pragma unroll
    for (int j = 0; j < N; j++) {
        float turned = is_second ? sine[j] * other[j] + cosine[j] * to[j] : cosine[j] * to[j] - sine[j] * other[j];
        to[j]        = E::get(E::put(turned));
    }
}

// May this batch write to its slot? As the kernel `cache_write` has it.
INL bool fits_cache(const HoloCudaAttention &p, int batch)
{
    int64_t slot = p.slots[batch], length = p.cached[batch];
    bool    fits = slot >= 0 && slot < p.slot_count && length >= 0 && length < p.keys;
    for (int b = 0; b < batch; b++) fits = fits && p.slots[b] != slot;
    if (!fits) *p.status = HOLO_CUDA_STATUS_CACHE;
    return fits;
}

template <class E, int N> INL void store_floats(typename E::T *to, const float (&x)[N], int left)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < left) to[i] = E::put(x[i]);
}

// Puts what the lanes of a warp, then the warps found into shared memory: for each row top, sum and D columns.
template <int G, int D, int N, int LANES> INL void gather(Found<N> (&found)[G], float (*shared)[G][D + 2])
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int g = 0; g < G; g++) {
#pragma unroll
        for (int d = LANES; d < 32; d <<= 1) {
            float top = __shfl_xor_sync(~0u, found[g].top, d), sum = __shfl_xor_sync(~0u, found[g].sum, d), out[N];
#pragma unroll
            for (int i = 0; i < N; i++) out[i] = __shfl_xor_sync(~0u, found[g].out[i], d);
            found[g].add(top, sum, out);
        }
        if (lane == 0) shared[warp][g][0] = found[g].top, shared[warp][g][1] = found[g].sum; // all lanes of a key have the same
        if (lane < LANES) {
#pragma unroll
            for (int i = 0; i < N; i++) shared[warp][g][2 + lane * N + i] = found[g].out[i];
        }
    }
    __syncthreads();
}

// One column of what `count` places hold, `stride` floats apart. Other blocks wrote what is in memory, past this one's cache.
template <bool SHARED>
INL float put_together(const float *from, int count, int64_t stride, int column, float &top, float &sum)
{
    Found<1> all = {-INFINITY, 0, {0}};
#pragma unroll 4
    for (int i = 0; i < count; i++) {
        const float *at = from + i * stride;
        if constexpr (SHARED) {
            float x[1] = {at[2 + column]};
            all.add(at[0], at[1], x);
        } else {
            float x[1] = {__ldcg(at + 2 + column)};
            all.add(__ldcg(at), __ldcg(at + 1), x);
        }
    }
    top = all.top, sum = all.sum;
    return all.out[0];
}

template <class E, int D, int G> INL void decode(const HoloCudaAttention &p)
{
    using T = typename E::T;
    enum { N = 16 / (int)sizeof(T), LANES = D / N, STEP = 32 / LANES * DECODE_WARPS };
    __shared__ float shared[DECODE_WARPS][G][D + 2];
    int              group = p.heads / p.kv_heads, rows = group * p.queries, parts = (rows + G - 1) / G;
    int              kv_head = blockIdx.y / parts, row0 = blockIdx.y % parts * G, batch = blockIdx.z;
    int lane = threadIdx.x % 32, column = lane % LANES * N, left_k = p.size - column, left_v = p.v_size - column;
    let_others_start();
    wait_for_others();
    Found<N> found[G];
    float    q[G][N];
#pragma unroll
    for (int g = 0; g < G; g++) {
        int      row = min(row0 + g, rows - 1), head = kv_head * group + row / p.queries;
        const T *from =
            (const T *)p.q + batch * p.q_stride[0] + head * p.q_stride[1] + row % p.queries * p.q_stride[2];
        load_turned<E>(q[g], p, from, batch, column, left_k);
        found[g].top = -INFINITY, found[g].sum = 0;
#pragma unroll
        for (int i = 0; i < N; i++) q[g][i] *= p.scale * LOG2E, found[g].out[i] = 0;
    }
    const T *k    = (const T *)p.k + kv_batch(p, batch) * p.k_stride[0] + kv_head * p.k_stride[1] + column;
    const T *v    = (const T *)p.v + kv_batch(p, batch) * p.v_stride[0] + kv_head * p.v_stride[1] + column;
    int      keys = Sight(p, batch, 0).keys, from = blockIdx.x * p.keys_split, end = min(from + p.keys_split, keys);
    int      splits = min(max((keys + p.keys_split - 1) / p.keys_split, 1), p.splits); // that have keys
    if (blockIdx.x >= splits) return;
    float x[2][N], y[2][N]; // the next key is on its way
    int   own = threadIdx.x / LANES, fresh = p.k_fresh ? keys - 1 : keys, old = min(end, fresh);
    auto  load = [&](int key, int turn) {
        load_floats<E>(x[turn], k + key * p.k_stride[2], key < old ? left_k : 0, p.whole);
        load_floats<E>(y[turn], v + key * p.v_stride[2], key < old ? left_v : 0, p.whole);
    };
    auto see = [&](int key, int turn, bool is) { // all lanes of a warp: their keys' scores, and values by these
        float score[G];
#pragma unroll
        for (int g = 0; g < G; g++) {
            score[g] = 0;
#pragma unroll
            for (int i = 0; i < N; i++) score[g] = fmaf(q[g][i], x[turn][i], score[g]);
#pragma unroll
            for (int d = 1; d < LANES; d <<= 1) score[g] += __shfl_xor_sync(~0u, score[g], d);
            if (p.softcap > 0) score[g] = capped(score[g], p.softcap);
            int   row = min(row0 + g, rows - 1);
            Sight sight(p, batch, kv_head * group + row / p.queries);
            if (!is || key >= sight.end(row % p.queries))
                score[g] = -INFINITY;
            else if (p.mask_type)
                score[g] += sight.mask(row % p.queries, key);
            if (score[g] != -INFINITY) found[g].add(score[g], 1, y[turn]);
        }
    };
    load(from + own, 0);
    if (fresh < end && fresh >= from && threadIdx.x < 32) { // the new key, which one warp of the block has
        int64_t head = (int64_t)batch * p.kv_heads + kv_head;
        load_turned<E>(x[1], p, (const T *)p.k_fresh + head * p.size, batch, column, left_k);
        load_floats<E>(y[1], (const T *)p.v_fresh + head * p.v_size + column, left_v, p.whole);
        if (own == 0 && row0 == 0 && fits_cache(p, batch)) { // blocks that share the head have the same numbers
            store_floats<E>((T *)(uintptr_t)k + fresh * p.k_stride[2], x[1], left_k);
            store_floats<E>((T *)(uintptr_t)v + fresh * p.v_stride[2], y[1], left_v);
        }
        see(fresh, 1, own == 0);
    }
#pragma unroll 2
    for (int base = from, turn = 0; base < old; base += STEP, turn ^= 1) {
        load(base + own + STEP, turn ^ 1);
        see(base + own, turn, base + own < old);
    }
    gather<G, D, N, LANES>(found, shared);

    // this block's part, then all parts, to the last block that arrives
    float  *mine = &shared[0][0][0];
    int     item = (batch * gridDim.y + blockIdx.y);
    int64_t size = G * (D + 2);
    for (int i = threadIdx.x; i < G * D && splits > 1; i += 128) {
        float  top, sum, x = put_together<true>(mine + i / D * (D + 2), DECODE_WARPS, size, i % D, top, sum);
        float *to     = p.partial + ((int64_t)item * p.splits + blockIdx.x) * size + i / D * (D + 2);
        to[2 + i % D] = x;
        if (i % D == 0) to[0] = top, to[1] = sum;
    }
    if (splits > 1) {
        if (!is_last_block(&p.counters[item], splits)) return;
        if (threadIdx.x == 0) p.counters[item] = 0;
    }
    for (int i = threadIdx.x; i < G * D; i += 128) {
        int   row = row0 + i / D, head = kv_head * group + row / p.queries, at = i / D * (D + 2);
        float top, sum, x;
        if (splits > 1)
            x = put_together<false>(p.partial + (int64_t)item * p.splits * size + at, splits, size, i % D, top, sum);
        else
            x = put_together<true>(mine + at, DECODE_WARPS, size, i % D, top, sum);
        if (row >= rows || i % D >= p.v_size) continue;
        T *to     = (T *)p.out + batch * p.out_stride[0] + head * p.out_stride[1] + row % p.queries * p.out_stride[2];
        to[i % D] = E::put(sum == 0 ? 0 : x / sum);
    }
}

#define DECODE(name, E, D, G)                                                                           \
    extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ HoloCudaAttention p) \
    {                                                                                                   \
        decode<E, D, G>(p);                                                                             \
    }
#define DECODES(name, E, D)                  \
    DECODE(decode_##name##_##D##_1, E, D, 1) \
    DECODE(decode_##name##_##D##_4, E, D, 4)

DECODES(f32, TF32, 64)
DECODES(f32, TF32, 128)
DECODES(f16, F16, 64)
DECODES(f16, F16, 128)
DECODES(bf16, BF16, 64)
DECODES(bf16, BF16, 128)
