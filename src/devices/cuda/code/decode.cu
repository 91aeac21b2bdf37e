// decode.cu - attention of one or few queries over many keys: bound by reading K and V once. cuda_pick_more.c has the same table.
//
// Blocks share the keys. A few lanes have one key, 16 bytes of it each, for G rows at once: the queries of all heads that share
// K and V. What lanes and blocks found is put together in a fixed order. The kernel runs for some microseconds, in which each
// instruction must come to the multiprocessor first: so the code is small, and loops are loops.
#include "attention.cuh"

enum { WARPS = 8, THREADS = WARPS * 32, STAGES = 4 };

// ---- what goes before: a query and a new key are turned by their position, and the new key and value go into the cache

template <class E, int N> INL void load_floats(float (&x)[N], const typename E::T *from, int left, bool whole)
{
    to_floats<E>(x, load_piece<E>(from, left, whole));
}

// A lane's columns of a vector, which begins at x: turned, if asked, as the kernel `rotary` does it, and rounded as that stores it. The
// host made sure that halves of pairs, and their angles, are whole pieces.
template <class E, int N>
INL void load_turned(float (&to)[N], const HoloCudaAttention &p, const typename E::T *x, int batch, int column,
                     int left, bool turn)
{
    load_floats<E>(to, x + column, left, p.whole);
    if (!turn || !p.cos || column >= 2 * p.half) return;
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

// Where a batch has its keys, as memory says now: it is read again once the kernel before has ended.
struct Where {
    int64_t slot, cached;

    INL Where(const HoloCudaAttention &p, int batch)
    {
        slot   = p.slots ? ((const volatile int64_t *)p.slots)[batch] : batch;
        cached = p.cached ? ((const volatile int64_t *)p.cached)[batch] : 0;
    }
    INL bool operator!=(const Where &other) const { return slot != other.slot || cached != other.cached; }
};

// What a block works on: some keys of a head of K and V, and the rows that share it, G at most.
template <class E, int D, int G> struct Task {
    using T = typename E::T;
    enum { N = 16 / (int)sizeof(T), LANES = D / N, STEP = THREADS / LANES };
    // A ring of pieces of K and V on their way, which only the thread reads that asked for them; then what each of the STEP keys'
    // lanes found: values, and for each row the exponent and the sum of weights, which become one weight.
    union Shared {
        uint4 ring[STAGES][2][THREADS];
        struct {
            float out[STEP][G][D], top[G][STEP], sum[G][STEP];
        } found;
    };
    const HoloCudaAttention &p;
    int                      group, rows, kv_head, row0, batch, column, left_k, left_v, own; // own: its first key
    int                      keys, splits, from, end, fresh; // fresh: the key that is not in the cache yet
    const T                 *k, *v;

    INL Task(const HoloCudaAttention &p) : p(p)
    {
        group     = p.heads / p.kv_heads;
        rows      = group * p.queries;
        int parts = (rows + G - 1) / G;
        kv_head = blockIdx.x / parts, row0 = blockIdx.x % parts * G, batch = blockIdx.z;
        column = threadIdx.x % LANES * N, left_k = p.size - column, left_v = p.v_size - column;
        own = threadIdx.x / LANES;
    }
    INL int  row(int g) const { return min(row0 + g, rows - 1); }
    INL int  head(int g) const { return kv_head * group + row(g) / p.queries; }
    INL bool has_fresh() const { return fresh >= from && fresh < end; }

    // Blocks have equal shares of the keys that are there, but none less than `keys_split`.
    INL void find(const Where &where)
    {
        int64_t slot = p.slots ? min(max(where.slot, (int64_t)0), (int64_t)(p.slot_count - 1)) : where.slot;
        k            = (const T *)p.k + slot * p.k_stride[0] + kv_head * p.k_stride[1] + column;
        v            = (const T *)p.v + slot * p.v_stride[0] + kv_head * p.v_stride[1] + column;
        keys         = Sight(p, batch, where.cached).keys;
        int share    = max((keys + p.splits - 1) / p.splits, p.keys_split);
        share        = (share + STEP - 1) / STEP * STEP;
        splits       = max((keys + share - 1) / share, 1);
        from = blockIdx.y * share, end = min(from + share, keys);
        fresh = p.k_fresh ? keys - 1 : keys;
    }
    // Asks for step `i` of the block's keys; keys from `fresh` on, and another block's, are zeros.
    INL void ask(uint4 (*ring)[2][THREADS], int i) const
    {
        int      key     = from + i * STEP + own;
        bool     is      = key < min(end, fresh);
        uint4   *to      = &ring[i % STAGES][0][threadIdx.x];
        const T *at[2]   = {k + key * p.k_stride[2], v + key * p.v_stride[2]};
        int      left[2] = {is ? left_k : 0, is ? left_v : 0};
        if (p.whole) {
#pragma unroll
            for (int j = 0; j < 2; j++)
                copy_16(shared_address(to + j * THREADS), left[j] > 0 ? at[j] : p.k, left[j] > 0 ? 16 : 0);
        } else {
#pragma unroll 1
            for (int j = 0; j < 2; j++)
                to[j * THREADS] = load_piece<E>(j ? at[1] : at[0], j ? left[1] : left[0], false);
        }
        copy_commit();
    }
    INL void begin(uint4 (*ring)[2][THREADS]) const
    {
#pragma unroll 1
        for (int i = 0; i < STAGES - 1; i++) ask(ring, i);
    }
};

// The queries of all rows, turned and in powers of 2, and the new key and value, which go into the cache, too.
template <class E, int D, int G>
INL void prepare(const Task<E, D, G> &t, float (*q)[D], uint4 (*fresh)[D * sizeof(typename E::T) / 16])
{
    using T = typename E::T;
    enum { N = Task<E, D, G>::N, LANES = Task<E, D, G>::LANES };
    const HoloCudaAttention &p = t.p;
    int                      g = threadIdx.x / LANES;
    if (g >= G + 2 || (g >= G && !t.has_fresh())) return;
    int64_t  head = (int64_t)t.batch * p.kv_heads + t.kv_head;
    const T *from =
        (const T *)p.q + t.batch * p.q_stride[0] + t.head(g) * p.q_stride[1] + t.row(g) % p.queries * p.q_stride[2];
    if (g == G) from = (const T *)p.k_fresh + head * p.size;
    if (g > G) from = (const T *)p.v_fresh + head * p.v_size;
    float x[N];
    int   left = g > G ? t.left_v : t.left_k;
    load_turned<E>(x, p, from, t.batch, t.column, left, g <= G);
    if (g < G) {
#pragma unroll
        for (int i = 0; i < N; i++) q[g][t.column + i] = x[i] * (p.scale * LOG2E);
        return;
    }
    T *keep = (T *)&fresh[g - G][t.column / N];
#pragma unroll
    for (int i = 0; i < N; i++) keep[i] = E::put(x[i]);
    if (t.row0 > 0 || !fits_cache(p, t.batch)) return; // blocks that share the head have the same numbers
    T *to = g == G ? (T *)(uintptr_t)t.k + t.fresh * p.k_stride[2] : (T *)(uintptr_t)t.v + t.fresh * p.v_stride[2];
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < left) to[i] = keep[i];
}

// What the lanes of one key found so far, for each row: its exponent, the sum of weights, 16 bytes' worth of columns.
template <class E, int D, int G> struct Found {
    enum { N = Task<E, D, G>::N, LANES = Task<E, D, G>::LANES };
    float q[G][N], top[G], sum[G], out[G][N];
    int   last[G]; // the first key that a row does not see

    INL Found(const Task<E, D, G> &t, const Sight &sight, const float (*from)[D])
    {
#pragma unroll
        for (int g = 0; g < G; g++) {
            top[g] = -INFINITY, sum[g] = 0, last[g] = sight.end(t.row(g) % t.p.queries);
#pragma unroll
            for (int i = 0; i < N; i++) q[g][i] = from[g][t.column + i], out[g][i] = 0;
        }
    }
    // All lanes of a warp: their keys' scores, and values by these.
    INL void see(const Task<E, D, G> &t, const Sight &sight, int key, const float (&x)[N], const float (&y)[N])
    {
        float score[G];
#pragma unroll
        for (int g = 0; g < G; g++) {
            score[g] = 0;
#pragma unroll
            for (int i = 0; i < N; i++) score[g] = fmaf(q[g][i], x[i], score[g]);
#pragma unroll
            for (int d = 1; d < LANES; d <<= 1) score[g] += __shfl_xor_sync(~0u, score[g], d);
        }
        if (t.p.softcap > 0) {
#pragma unroll
            for (int g = 0; g < G; g++) score[g] = capped(score[g], t.p.softcap);
        }
        if (t.p.mask_type) {
#pragma unroll
            for (int g = 0; g < G; g++)
                if (key < last[g]) score[g] += sight.of_head(t.head(g)).mask(t.row(g) % t.p.queries, key);
        }
#pragma unroll
        for (int g = 0; g < G; g++) {
            if (key >= min(last[g], t.end) || score[g] == -INFINITY) continue;
            float high = fmaxf(top[g], score[g]), before = exp2f(top[g] - high), weight = exp2f(score[g] - high);
            top[g] = high;
            sum[g] = sum[g] * before + weight;
#pragma unroll
            for (int i = 0; i < N; i++) out[g][i] = out[g][i] * before + y[i] * weight;
        }
    }
    INL void put(typename Task<E, D, G>::Shared &to, const Task<E, D, G> &t) const
    {
        bool is_first = t.column == 0; // all lanes of a key have the same
#pragma unroll
        for (int g = 0; g < G; g++) {
            if (is_first) to.found.top[g][t.own] = top[g], to.found.sum[g][t.own] = sum[g];
#pragma unroll
            for (int i = 0; i < N; i++) to.found.out[t.own][g][t.column + i] = out[g][i];
        }
    }
};

// What a row's exponents have in common, for exp2f(exponent - base).
INL float base_of(float top)
{
    return top == -INFINITY ? 0 : top;
}

// Puts together what the lanes found. Of each row: exponent, sum of weights, columns.
template <class E, int D, int G> INL void gather(typename Task<E, D, G>::Shared &shared, float (*part)[D + 2])
{
    enum { STEP = Task<E, D, G>::STEP };
    int g = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (g < G) {
        float top = lane < STEP ? shared.found.top[g][lane] : -INFINITY, all = warp_max(top),
              weight = exp2f(top - base_of(all));
        float sum    = warp_sum(lane < STEP ? shared.found.sum[g][lane] * weight : 0);
        if (lane < STEP) shared.found.top[g][lane] = weight;
        if (lane == 0) part[g][0] = all, part[g][1] = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < G * D; i += THREADS) {
        float x = 0;
#pragma unroll 8
        for (int own = 0; own < STEP; own++) x += shared.found.out[own][i / D][i % D] * shared.found.top[i / D][own];
        part[i / D][2 + i % D] = x;
    }
}

// The parts of all blocks of a cluster, 2, 4 or 8: each block finishes some columns, reading everybody's where they lie. As many
// lanes have a column.
template <int D, int G, class F> INL void meet_in_cluster(const HoloCudaAttention &p, const float (*part)[D + 2], F put)
{
    cluster_sync();
    for (int i = threadIdx.x; i < G * D; i += THREADS) {
        int      at = (blockIdx.y * G * D + i) / p.splits, g = at / D, column = at % D;
        uint32_t there = address_in_block(shared_address(part[g]), i % p.splits);
        float    top = load_of_cluster(there), sum = load_of_cluster(there + 4),
              x = load_of_cluster(there + 8 + column * 4), high = top;
        for (int d = 1; d < p.splits; d <<= 1) high = fmaxf(high, __shfl_xor_sync(~0u, high, d));
        float weight = exp2f(top - base_of(high));
        sum *= weight, x *= weight;
        for (int d = 1; d < p.splits; d <<= 1) sum += __shfl_xor_sync(~0u, sum, d), x += __shfl_xor_sync(~0u, x, d);
        if (i % p.splits == 0) put(at, x, sum);
    }
    cluster_sync(); // others may still read this block's part
}

// Those of blocks that share a counter: the last one that arrives puts all together, past its own cache.
template <int D, int G, class F>
INL void meet_in_memory(const HoloCudaAttention &p, int splits, const float (*part)[D + 2], F put)
{
    enum { SIZE = G * (D + 2) };
    int    item = blockIdx.z * gridDim.x + blockIdx.x;
    float *all  = p.partial + (int64_t)item * p.splits * SIZE;
    __syncthreads();
    if (splits > 1) {
        for (int i = threadIdx.x; i < SIZE; i += THREADS)
            all[(int64_t)blockIdx.y * SIZE + i] = part[i / (D + 2)][i % (D + 2)];
        if (!is_last_block(&p.counters[item], splits)) return;
        if (threadIdx.x == 0) p.counters[item] = 0;
    }
    for (int i = threadIdx.x; i < G * D; i += THREADS) {
        const float *from = splits > 1 ? all + i / D * (D + 2) : part[i / D];
        float        top = -INFINITY, sum = 0, x = 0;
#pragma unroll 1
        for (int block = 0; block < splits; block++, from += SIZE) {
            float other = __ldcg(from), high = fmaxf(top, other), mine = exp2f(top - base_of(high)),
                  theirs = exp2f(other - base_of(high));
            sum = sum * mine + __ldcg(from + 1) * theirs, x = x * mine + __ldcg(from + 2 + i % D) * theirs, top = high;
        }
        put(i, x, sum);
    }
}

template <class E, int D, int G> INL void decode(const HoloCudaAttention &p)
{
    using T   = typename E::T;
    using Own = Task<E, D, G>;
    __shared__ typename Own::Shared shared;
    __shared__ float                q[G][D], part[G][D + 2];
    __shared__ uint4                fresh[2][Own::LANES];
    Own                             t(p);
    if (!p.early) wait_for_others();
    Where where(p, t.batch);
    t.find(where);
    t.begin(shared.ring);
    if (p.early) { // old keys were there before this run
        wait_for_others();
        Where now(p, t.batch);
        if (now != where) {
            copy_wait<0>();
            t.find(where = now);
            t.begin(shared.ring);
        }
    }
    prepare(t, q, fresh);
    __syncthreads();
    Sight          sight(p, t.batch, where.cached);
    Found<E, D, G> found(t, sight, q);
#pragma unroll 1
    for (int i = 0; t.from + i * Own::STEP < t.end; i++) {
        int   key = t.from + i * Own::STEP + t.own;
        float x[Own::N], y[Own::N];
        copy_wait<STAGES - 2>();
        const uint4 *at = &shared.ring[i % STAGES][0][threadIdx.x], *next = at + THREADS;
        if (key == t.fresh) at = &fresh[0][t.column / Own::N], next = &fresh[1][t.column / Own::N];
        to_floats<E>(x, *at);
        to_floats<E>(y, *next);
        t.ask(shared.ring, i + STAGES - 1);
        found.see(t, sight, key, x, y);
    }
    copy_wait<0>();
    let_others_start(); // not earlier: their weights would come before this one's keys
    if (!p.cluster && (int)blockIdx.y >= t.splits) return;
    __syncthreads(); // nobody reads the ring any more
    found.put(shared, t);
    __syncthreads();
    gather<E, D, G>(shared, part);
    auto put = [&](int i, float x, float sum) {
        int row = t.row0 + i / D, head = t.kv_head * t.group + row / p.queries;
        if (row >= t.rows || i % D >= p.v_size) return;
        T *to     = (T *)p.out + t.batch * p.out_stride[0] + head * p.out_stride[1] + row % p.queries * p.out_stride[2];
        to[i % D] = E::put(sum == 0 ? 0 : x / sum);
    };
    if (p.cluster)
        meet_in_cluster<D, G>(p, part, put);
    else
        meet_in_memory<D, G>(p, t.splits, part, put);
}

#define DECODE(name, E, D, G)                                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS) name(const __grid_constant__ HoloCudaAttention p) \
    {                                                                                                       \
        decode<E, D, G>(p);                                                                                 \
    }
#define DECODES(name, E, D)                   \
    DECODE(queries_##name##_##D##_1, E, D, 1) \
    DECODE(queries_##name##_##D##_4, E, D, 4)

DECODES(f32, TF32, 64)
DECODES(f32, TF32, 128)
DECODES(f16, F16, 64)
DECODES(f16, F16, 128)
DECODES(bf16, BF16, 64)
DECODES(bf16, BF16, 128)
