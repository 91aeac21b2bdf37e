// quantize.cu - quantized tensors element by element: to bytes and floats of 8 bits and back, sums and products of bytes, tables,
// means of windows. Each operation is rounded to f32, as on the CPU.
#include "bytes.cuh"
#include "small.cuh"

// ---- any type

INL float number_at(const void *p, int64_t at, int type)
{
    switch (type) {
    case HOLO_CUDA_S16: return ((const int16_t *)p)[at];
    case HOLO_CUDA_U16: return ((const uint16_t *)p)[at];
    case HOLO_CUDA_E4M3:
    case HOLO_CUDA_E4M3_FNUZ:
    case HOLO_CUDA_E5M2:
    case HOLO_CUDA_E5M2_FNUZ: return small_decode(small_of(type), ((const uint8_t *)p)[at]);
    default: return load_any(p, at, type);
    }
}

// A whole number that is limited to the type; NaN becomes 0.
INL void whole_put(void *p, int64_t at, int type, float x)
{
    float low = type == HOLO_CUDA_S16 ? -32768 : 0;
    if (type == HOLO_CUDA_S8 || type == HOLO_CUDA_U8)
        ((uint8_t *)p)[at] = byte_of(x, type);
    else
        ((uint16_t *)p)[at] = x != x ? 0 : (uint16_t)(int)fminf(fmaxf(x, low), low + 65535);
}

// Which scale an element has.
INL int64_t scale_place(const HoloCudaQuantize &p, int64_t i)
{
    int64_t middle = i / p.inner;
    if (!p.block) return p.scales == 1 ? 0 : middle % p.size;
    return (middle / p.size * p.scales + middle % p.size / p.block) * p.inner + i % p.inner;
}

extern "C" __global__ void __launch_bounds__(256) quantize(const __grid_constant__ HoloCudaQuantize p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.count) return;
    int64_t at   = p.scale ? scale_place(p, i) : 0;
    float   zero = p.zero ? number_at(p.zero, at, p.zero_type) : 0, scale = p.scale ? load_any(p.scale, at, p.scale_type) : 1;
    float   x = number_at(p.from, i, p.from_type);
    if (p.back) {
        store_any(p.to, i, p.to_type, __fmul_rn(x - zero, scale));
        return;
    }
    if (p.scale) x = __fdiv_rn(x, scale);
    if (p.to_type >= HOLO_CUDA_E4M3)
        ((uint8_t *)p.to)[i] = small_encode(small_of(p.to_type), x, p.saturates);
    else
        whole_put(p.to, i, p.to_type, rintf(x) + zero);
}

// ---- DynamicQuantizeLinear

// The range of a block's part; 0 is always in it, and NaN never.
extern "C" __global__ void __launch_bounds__(256) range_parts(const __grid_constant__ HoloCudaRange p)
{
    __shared__ float lows[8], highs[8];
    in_turn();
    float low = 0, high = 0;
    for (int64_t i = thread_number(); i < p.count; i += (int64_t)gridDim.x * 256) {
        float x = load_any(p.from, i, p.from_type);
        low     = x < low ? x : low;
        high    = x > high ? x : high;
    }
    high = warp_max(high), low = -warp_max(-low);
    if (threadIdx.x % 32 == 0) lows[threadIdx.x / 32] = low, highs[threadIdx.x / 32] = high;
    __syncthreads();
    if (threadIdx.x) return;
    for (int i = 1; i < 8; i++) low = fminf(low, lows[i]), high = fmaxf(high, highs[i]);
    p.ranges[blockIdx.x * 2] = low, p.ranges[blockIdx.x * 2 + 1] = high;
}

extern "C" __global__ void __launch_bounds__(256) range_quantize(const __grid_constant__ HoloCudaRange p)
{
    in_turn();
    float low = 0, high = 0;
    for (int i = threadIdx.x % 32; i < p.parts; i += 32)
        low = fminf(low, p.ranges[i * 2]), high = fmaxf(high, p.ranges[i * 2 + 1]);
    high = warp_max(high), low = -warp_max(-low);
    float scale = __fdiv_rn(high - low, 255);
    if (scale == 0) scale = 1; // all zeros: any scale will do
    float at = rintf(__fdiv_rn(-low, scale)), zero = at > 255 ? 255 : at > 0 ? at : 0;
    if (p.scale && !thread_number()) store_any(p.scale, 0, p.scale_type, scale);
    if (p.zero && !thread_number()) *(uint8_t *)p.zero = (uint8_t)zero;
    int64_t i = thread_number();
    if (p.to && i < p.count)
        ((uint8_t *)p.to)[i] = byte_of(rintf(__fdiv_rn(load_any(p.from, i, p.from_type), scale)) + zero, HOLO_CUDA_U8);
}

// ---- two operands

INL float zero_of(const void *p, int type)
{
    return p ? (float)byte_at(p, 0, type) : 0;
}

extern "C" __global__ void __launch_bounds__(256) bytes_pair(const __grid_constant__ HoloCudaPair p)
{
    in_turn();
    int64_t i = thread_number(), left = i, a_at = 0, b_at = 0;
    if (i >= p.count) return;
    for (int d = p.rank - 1; d >= 0; d--) {
        int64_t next = left / p.size[d], at = left - next * p.size[d];
        left = next, a_at += at * p.a_stride[d], b_at += at * p.b_stride[d];
    }
    float a = (float)byte_at(p.a, a_at, p.type), b = (float)byte_at(p.b, b_at, p.type), y;
    float a_scale = load_any(p.a_scale, 0, p.a_scale_type), b_scale = load_any(p.b_scale, 0, p.b_scale_type);
    float y_scale = load_any(p.y_scale, 0, p.y_scale_type), y_zero = zero_of(p.y_zero, p.type);
    float a_zero = zero_of(p.a_zero, p.type), b_zero = zero_of(p.b_zero, p.type);
    if (p.multiplies) {
        float ratio = __fdiv_rn(__fmul_rn(a_scale, b_scale), y_scale);
        y           = __fadd_rn(__fmul_rn(__fmul_rn(a - a_zero, b - b_zero), ratio), y_zero);
    } else {
        float a_ratio = __fdiv_rn(a_scale, y_scale), b_ratio = __fdiv_rn(b_scale, y_scale);
        float shift   = __fadd_rn(y_zero, -fmaf(a_ratio, a_zero, __fmul_rn(b_ratio, b_zero)));
        y             = fmaf(a, a_ratio, fmaf(b, b_ratio, shift));
    }
    ((uint8_t *)p.to)[i] = byte_of(rintf(y), p.type);
}

// ---- tables

extern "C" __global__ void __launch_bounds__(256) lookup(const __grid_constant__ HoloCudaLookup p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.count) return;
    int64_t at = p.wide == 2 ? ((const uint16_t *)p.from)[i] : ((const uint8_t *)p.from)[i];
    if (p.second) at = at << 8 | ((const uint8_t *)p.second)[i];
    if (p.converts) {
        store_any(p.to, i, p.to_type, ((const float *)p.table)[at]);
        return;
    }
    switch (p.element) {
    case 1: ((uint8_t *)p.to)[i] = ((const uint8_t *)p.table)[at]; break;
    case 2: ((uint16_t *)p.to)[i] = ((const uint16_t *)p.table)[at]; break;
    case 4: ((uint32_t *)p.to)[i] = ((const uint32_t *)p.table)[at]; break;
    default: ((uint64_t *)p.to)[i] = ((const uint64_t *)p.table)[at]; break;
    }
}

// ---- windows

// The mean of what a window sees. Padding counts, if it does, as the zero point.
extern "C" __global__ void __launch_bounds__(256) bytes_mean(const __grid_constant__ HoloCudaByteMean m)
{
    const HoloCudaPool &p = m.pool;
    in_turn();
    int64_t i = thread_number(), left = i, at[5];
    if (i >= p.count) return;
    at[1] = left % p.channels, left /= p.channels;
    for (int d = 2; d >= 0; d--) at[2 + d] = left % p.out[d], left /= p.out[d];
    at[0]         = left;
    int64_t first = at[0] * p.from_stride[0] + at[1] * p.from_stride[1], to = 0, there = 0, padded = 0, whole = 0;
    int     zero  = m.x_zero ? byte_at(m.x_zero, 0, p.type) : 0;
    float   scale = load_any(m.x_scale, 0, m.x_scale_type), y_scale = load_any(m.y_scale, 0, m.y_scale_type), sum = 0;
    for (int z = 0; z < p.kernel[0]; z++)
        for (int y = 0; y < p.kernel[1]; y++)
            for (int x = 0; x < p.kernel[2]; x++) {
                int64_t d = at[2] * p.stride[0] - p.pad[0] + z * p.dilation[0];
                int64_t h = at[3] * p.stride[1] - p.pad[1] + y * p.dilation[1];
                int64_t w = at[4] * p.stride[2] - p.pad[2] + x * p.dilation[2];
                padded += d < p.in[0] + p.pad_end[0] && h < p.in[1] + p.pad_end[1] && w < p.in[2] + p.pad_end[2];
                if (d < 0 || h < 0 || w < 0 || d >= p.in[0] || h >= p.in[1] || w >= p.in[2]) continue;
                int64_t place = first + d * p.from_stride[2] + h * p.from_stride[3] + w * p.from_stride[4];
                int     v     = byte_at(p.from, place, p.type) - zero;
                sum           = __fadd_rn(sum, __fmul_rn((float)v, scale));
                whole += v, there++;
            }
    float y_zero = zero_of(m.y_zero, p.type), count = (float)(p.counts_pads ? padded : there), y;
    if (m.whole)
        y = rintf(__fmul_rn((float)whole, __fdiv_rn(scale, __fmul_rn(y_scale, count)))) + y_zero;
    else
        y = rintf(__fadd_rn(__fdiv_rn(__fdiv_rn(sum, count), y_scale), y_zero));
    for (int d = 0; d < 5; d++) to += at[d] * p.to_stride[d];
    ((uint8_t *)p.to)[to] = byte_of(y, p.type);
}
