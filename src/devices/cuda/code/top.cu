// top.cu - the first k elements of rows, in order: TopK.
//
// Elements become keys that have their order as unsigned integers, the first one least; equal ones follow their index. Of a row that
// does not fit into shared memory the last of the first k is found byte by byte, from the highest of the key to the lowest of the index,
// by counting. Those that come no later are collected in any order, and put in order: the same bits in every run.
#include "index_params.h"
#include "device.cuh"

enum { KEPT = HOLO_CUDA_TOP_KEPT, DIGITS = 256 };

INL uint64_t top_key(const HoloCudaTop &p, int64_t at)
{
    uint64_t x = p.element == 1   ? ((const uint8_t *)p.from)[at]
                 : p.element == 2 ? ((const uint16_t *)p.from)[at]
                 : p.element == 4 ? ((const uint32_t *)p.from)[at]
                                  : ((const uint64_t *)p.from)[at];
    uint64_t all = ~(uint64_t)0 >> (64 - 8 * p.element), sign = all / 2 + 1, key = x;
    if (p.infinity) { // -0 is 0, and NaN is above all numbers
        uint64_t size = x & (sign - 1);
        key           = size > p.infinity ? all : !size ? sign : x & sign ? ~x : x | sign;
    } else if (p.is_signed)
        key = x ^ sign;
    return (p.is_largest ? ~key : key) & all;
}

INL bool is_before(uint64_t a, uint32_t a_at, uint64_t b, uint32_t b_at)
{
    return a != b ? a < b : a_at < b_at;
}

// Puts n items, a power of 2, in order.
INL void top_sort(uint64_t *keys, uint32_t *places, uint32_t n)
{
    for (uint32_t size = 2; size <= n; size *= 2)
        for (uint32_t step = size / 2; step; step /= 2) {
            __syncthreads();
            for (uint32_t i = threadIdx.x; i < n / 2; i += blockDim.x) {
                uint32_t a = 2 * i - (i & (step - 1)), b = a + step;
                uint64_t x = keys[a], y = keys[b];
                uint32_t x_at = places[a], y_at = places[b];
                if (is_before(y, y_at, x, x_at) != !(a & size)) continue;
                keys[a] = y, places[a] = y_at;
                keys[b] = x, places[b] = x_at;
            }
        }
    __syncthreads();
}

// What is known of the last item that counts.
struct Edge {
    uint64_t key;
    uint32_t place, left; // left: how many of those that agree with it so far count
    int      is_found;    // all of them
};

INL uint64_t without(uint64_t x, int bits)
{
    return bits < 64 ? x >> bits : 0;
}

// Does an item agree with what is known before byte d? And that byte of it.
INL bool top_agrees(const HoloCudaTop &p, uint64_t key, uint32_t at, uint64_t edge, uint32_t place, int d, uint32_t &digit)
{
    int of_place = d - p.element, bits = 8 * (of_place < 0 ? -of_place : 4 - of_place);
    digit        = (uint32_t)((of_place < 0 ? key : at) >> (bits - 8)) & 255;
    if (of_place < 0) return without(key, bits) == without(edge, bits);
    return key == edge && without(at, bits) == without(place, bits);
}

// One warp: the byte of the edge, from the counts of each.
INL void top_choose(const HoloCudaTop &p, Edge &edge, const uint32_t *counts, int d)
{
    enum { OWN = DIGITS / 32 };
    uint32_t own = 0, left = edge.left, sum, first = threadIdx.x * OWN;
    for (int i = 0; i < OWN; i++) own += counts[first + i];
    sum = own;
    for (int step = 1; step < 32; step *= 2) {
        uint32_t before = __shfl_up_sync(~0u, sum, step);
        if ((int)threadIdx.x >= step) sum += before;
    }
    uint32_t before = sum - own;
    __syncwarp(); // all have read the edge, which one of them changes now
    if (before >= left || sum < left) return;
    while (before + counts[first] < left) before += counts[first++];
    int of_place   = d - p.element, bits = 8 * (of_place < 0 ? -of_place : 4 - of_place) - 8;
    edge.left      = left - before;
    edge.is_found  = counts[first] == edge.left;
    uint64_t rest  = edge.is_found ? ((uint64_t)1 << bits) - 1 : 0; // whatever follows
    uint64_t digit = (uint64_t)first << bits | rest;
    if (of_place < 0)
        edge.key |= digit, edge.place = edge.is_found ? ~0u : 0;
    else
        edge.place |= (uint32_t)digit;
}

INL void top_find(const HoloCudaTop &p, int64_t first, Edge &edge, uint32_t *counts)
{
    if (!threadIdx.x) edge.key = 0, edge.place = 0, edge.left = (uint32_t)p.k, edge.is_found = 0;
    for (int d = 0; d < p.element + 4; d++) {
        for (int i = threadIdx.x; i < DIGITS; i += blockDim.x) counts[i] = 0;
        __syncthreads();
        uint64_t key   = edge.key;
        uint32_t place = edge.place, digit;
        for (uint32_t i = threadIdx.x; i < p.size; i += blockDim.x)
            if (top_agrees(p, top_key(p, first + i * p.inner), i, key, place, d, digit)) atomicAdd(&counts[digit], 1u);
        __syncthreads();
        if (threadIdx.x < 32) top_choose(p, edge, counts, d);
        __syncthreads();
        if (edge.is_found) return;
    }
}

// All items of a row, or those up to the edge.
INL void top_collect(const HoloCudaTop &p, int64_t first, const Edge &edge, uint32_t *count, uint64_t *keys, uint32_t *places)
{
    for (uint32_t i = threadIdx.x; i < p.size; i += blockDim.x) {
        uint64_t key = top_key(p, first + i * p.inner);
        if (!p.is_all && is_before(edge.key, edge.place, key, i)) continue;
        uint32_t to = p.is_all ? i : atomicAdd(count, 1u);
        keys[to]    = key;
        places[to]  = i;
    }
    for (uint32_t i = (uint32_t)(p.is_all ? p.size : p.k) + threadIdx.x; i < p.room; i += blockDim.x) keys[i] = ~(uint64_t)0, places[i] = ~0u;
}

INL void top_copy(const HoloCudaTop &p, int64_t to, int64_t from)
{
    switch (p.element) {
    case 1: ((uint8_t *)p.values)[to] = ((const uint8_t *)p.from)[from]; break;
    case 2: ((uint16_t *)p.values)[to] = ((const uint16_t *)p.from)[from]; break;
    case 4: ((uint32_t *)p.values)[to] = ((const uint32_t *)p.from)[from]; break;
    default: ((uint64_t *)p.values)[to] = ((const uint64_t *)p.from)[from]; break;
    }
}

extern "C" __global__ void __launch_bounds__(1024) top(const __grid_constant__ HoloCudaTop p)
{
    __shared__ uint64_t own_keys[KEPT];
    __shared__ uint32_t own_places[KEPT], counts[DIGITS], count;
    __shared__ Edge     edge;
    in_turn();
    bool      is_long = p.room > KEPT;
    uint64_t *keys    = is_long ? p.keys + blockIdx.x * p.room : own_keys;
    uint32_t *places  = is_long ? p.places + blockIdx.x * p.room : own_places;
    for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
        int64_t first = row / p.inner * p.size * p.inner + row % p.inner, to = row / p.inner * p.k * p.inner + row % p.inner;
        if (!threadIdx.x) count = 0;
        if (!p.is_all) top_find(p, first, edge, counts);
        __syncthreads();
        top_collect(p, first, edge, &count, keys, places);
        top_sort(keys, places, (uint32_t)p.room);
        for (int64_t i = threadIdx.x; i < p.k; i += blockDim.x) {
            if (p.values) top_copy(p, to + i * p.inner, first + places[i] * p.inner);
            if (p.indices) p.indices[to + i * p.inner] = places[i];
        }
        __syncthreads();
    }
}
