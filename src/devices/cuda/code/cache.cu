// cache.cu - what language models do beside products and attention: turning vectors by their positions, and keeping keys and
// values in a cache.
#include "basic_params.h"
#include "device.cuh"

INL int64_t position_of(const HoloCudaRotary &p, int64_t batch, int64_t place)
{
    if (!p.positions) return batch * p.batch_rows + place;
    int64_t at = p.is_offset ? 0 : batch * p.places + place;
    int64_t x  = p.position_bytes == 8 ? ((const int64_t *)p.positions)[at] : ((const int32_t *)p.positions)[at];
    return p.is_offset ? x + place : x;
}

// A thread has a pair, or a number that is not turned.
extern "C" __global__ void __launch_bounds__(256) rotary(const __grid_constant__ Many<HoloCudaRotary> all)
{
    const HoloCudaRotary &p = part_of(all);
    let_others_start();
    wait_for_others();
    uint32_t each = (uint32_t)(p.size - p.half), heads = (uint32_t)p.heads, places = (uint32_t)p.places;
    uint32_t i = (blockIdx.x - p.part.first) * blockDim.x + threadIdx.x; // the host made sure that 32 bits are enough
    if (i >= p.batch * p.places * p.heads * each) return;
    uint32_t k = i % each, head = i / each % heads, place = i / (each * heads) % places, batch = i / (each * heads * places);
    int64_t  at = batch * p.stride[0] + place * p.stride[1] + head * p.stride[2];
    if (k >= p.half) {
        store_any(p.y, at + k + p.half, p.type, load_any(p.x, at + k + p.half, p.type));
        return;
    }
    int64_t row = position_of(p, batch, place);
    if (row < 0 || row >= p.rows) {
        *p.status = HOLO_CUDA_STATUS_INDEX;
        return;
    }
    int64_t a = at + (p.interleaved ? 2 * k : k), b = at + (p.interleaved ? 2 * k + 1 : k + p.half);
    float   x = load_any(p.x, a, p.type), y = load_any(p.x, b, p.type);
    float   cosine = load_any(p.cos, row * p.half + k, p.cos_type), sine = load_any(p.sin, row * p.half + k, p.sin_type);
    store_any(p.y, a, p.type, cosine * x - sine * y);
    store_any(p.y, b, p.type, sine * x + cosine * y);
}

// A block has a token of a text. Nothing is written that does not fit, and two texts must not share a slot.
extern "C" __global__ void __launch_bounds__(256) cache_write(const __grid_constant__ Many<HoloCudaCacheWrite> all)
{
    const HoloCudaCacheWrite &p = part_of(all);
    int64_t                   block = blockIdx.x - p.part.first;
    let_others_start();
    wait_for_others();
    int64_t token = block % p.fresh, batch = block / p.fresh, slot = p.rows[batch], length = p.lengths[batch];
    bool    fits = slot >= 0 && slot < p.slots && length >= 0 && length <= p.context - p.fresh;
    for (int64_t b = 0; b < batch; b++) fits = fits && p.rows[b] != slot;
    if (!fits) {
        *p.status = HOLO_CUDA_STATUS_CACHE;
        return;
    }
    int64_t from = block * p.size, to = (slot * p.context + length + token) * p.size;
    for (int64_t i = threadIdx.x; i < p.size; i += blockDim.x)
        store_any(p.to, to + i, p.to_type, load_any(p.from, from + i, p.from_type));
}
