// basic.cu - plain kernels: moves, gathers, reductions, rows, pools, and products and convolutions with strides of any kind.
#include "basic_params.h"
#include "device.cuh"

// ---- moves

// Divisions of 32 bits are several times as fast.
template <class N> INL void move_walk(const HoloCudaMove &p, N left, int64_t &from, int64_t &to)
{
    for (int d = p.rank - 1; d >= 0; d--) {
        N size = (N)p.size[d], next = left / size, at = left - next * size;
        left = next;
        from += at * p.from_stride[d];
        to += at * p.to_stride[d];
    }
}

INL bool move_place(const HoloCudaMove &p, int64_t &from, int64_t &to)
{
    int64_t i = thread_number();
    from = to = 0;
    if (i >= p.count) return false;
    if (p.count <= INT32_MAX)
        move_walk<uint32_t>(p, (uint32_t)i, from, to);
    else
        move_walk<int64_t>(p, i, from, to);
    return true;
}

template <class T> INL void move_as(const HoloCudaMove &p)
{
    int64_t from, to;
    if (move_place(p, from, to)) ((T *)p.to)[to] = ((const T *)p.from)[from];
}

extern "C" __global__ void __launch_bounds__(256) move_number(const __grid_constant__ HoloCudaMove p)
{
    in_turn();
    int64_t from, to;
    if (move_place(p, from, to)) store_any(p.to, to, p.to_type, load_any(p.from, from, p.from_type));
}

extern "C" __global__ void __launch_bounds__(256) move_1(const __grid_constant__ HoloCudaMove p) { in_turn(); move_as<uint8_t>(p); }
extern "C" __global__ void __launch_bounds__(256) move_2(const __grid_constant__ HoloCudaMove p) { in_turn(); move_as<uint16_t>(p); }
extern "C" __global__ void __launch_bounds__(256) move_4(const __grid_constant__ HoloCudaMove p) { in_turn(); move_as<uint32_t>(p); }
extern "C" __global__ void __launch_bounds__(256) move_8(const __grid_constant__ HoloCudaMove p) { in_turn(); move_as<uint64_t>(p); }

extern "C" __global__ void __launch_bounds__(256) move_16(const __grid_constant__ HoloCudaMove p) { in_turn(); move_as<uint4>(p); }

// Few channels of a pixel, and zeros behind them up to 16 bytes; lines with zeros on both sides.
extern "C" __global__ void __launch_bounds__(256) pad_channels(const __grid_constant__ HoloCudaPadded p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.pixels) return;
    int64_t line = i / p.to_width;
    int     x    = (int)(i - line * p.to_width) - p.left;
    int64_t from = (line * p.width + x) * p.channels;
    uint4   out  = make_uint4(0, 0, 0, 0);
    for (int c = 0; c < p.channels && x >= 0 && x < p.width; c++)
        if (p.element == 4)
            ((uint32_t *)&out)[c] = ((const uint32_t *)p.from)[from + c];
        else
            ((uint16_t *)&out)[c] = ((const uint16_t *)p.from)[from + c];
    ((uint4 *)p.to)[i] = out;
}

extern "C" __global__ void __launch_bounds__(256) convert(const __grid_constant__ HoloCudaConvert p)
{
    in_turn();
    int64_t i = thread_number() * 4;
    if (p.whole && i + 4 <= p.count) {
        store_4(p.to, i, p.to_type, load_4(p.from, i, p.from_type));
        return;
    }
    for (int e = 0; e < 4 && i + e < p.count; e++) store_any(p.to, i + e, p.to_type, load_any(p.from, i + e, p.from_type));
}

// Where unit i comes from.
INL int64_t gather_place(const HoloCudaGather &p, int64_t i)
{
    int64_t unit = i % p.inner, place = i / p.inner % p.indices, outer = i / p.inner / p.indices;
    int64_t at = p.index_bytes == 8 ? ((const int64_t *)p.index)[place] : ((const int32_t *)p.index)[place];
    if (at < 0) at += p.size;
    if (at < 0 || at >= p.size) {
        *(volatile uint32_t *)p.status = 1;
        at                             = 0;
    }
    return (outer * p.size + at) * p.inner + unit;
}

template <class T> INL void gather_as(const HoloCudaGather &p)
{
    int64_t i = thread_number();
    if (i < p.outer * p.indices * p.inner) ((T *)p.to)[i] = ((const T *)p.from)[gather_place(p, i)];
}

// Units are numbers of f32 that become another type.
extern "C" __global__ void __launch_bounds__(256) gather_number(const __grid_constant__ HoloCudaGather p)
{
    in_turn();
    int64_t i = thread_number();
    if (i < p.outer * p.indices * p.inner) store_any(p.to, i, p.to_type, ((const float *)p.from)[gather_place(p, i)]);
}

extern "C" __global__ void __launch_bounds__(256) gather(const __grid_constant__ HoloCudaGather p)
{
    in_turn();
    switch (p.unit) {
    case 1: gather_as<uint8_t>(p); break;
    case 2: gather_as<uint16_t>(p); break;
    case 4: gather_as<uint32_t>(p); break;
    case 8: gather_as<uint64_t>(p); break;
    default: gather_as<uint4>(p); break;
    }
}

extern "C" __global__ void __launch_bounds__(256) fill(const __grid_constant__ HoloCudaFill p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.count) return;
    switch (p.element) {
    case 1: ((uint8_t *)p.to)[i] = (uint8_t)p.value; break;
    case 2: ((uint16_t *)p.to)[i] = (uint16_t)p.value; break;
    case 4: ((uint32_t *)p.to)[i] = (uint32_t)p.value; break;
    default: ((uint64_t *)p.to)[i] = p.value; break;
    }
}

extern "C" __global__ void __launch_bounds__(256) elements(const __grid_constant__ HoloCudaElements p)
{
    in_turn();
    int64_t i = thread_number(), left = i, from = 0;
    if (i >= p.count) return;
    int64_t at = p.index_bytes == 8 ? ((const int64_t *)p.index)[i] : ((const int32_t *)p.index)[i];
    if (at < 0) at += p.limit;
    if (at < 0 || at >= p.limit) {
        *(volatile uint32_t *)p.status = 1;
        at                             = 0;
    }
    for (int d = p.rank - 1; d >= 0; d--) {
        int64_t next = left / p.size[d];
        from += (d == p.axis ? at : left - next * p.size[d]) * p.stride[d];
        left = next;
    }
    if (p.converts) {
        store_any(p.to, i, p.to_type, ((const float *)p.from)[from]);
        return;
    }
    switch (p.element) {
    case 1: ((uint8_t *)p.to)[i] = ((const uint8_t *)p.from)[from]; break;
    case 2: ((uint16_t *)p.to)[i] = ((const uint16_t *)p.from)[from]; break;
    case 4: ((uint32_t *)p.to)[i] = ((const uint32_t *)p.from)[from]; break;
    default: ((uint64_t *)p.to)[i] = ((const uint64_t *)p.from)[from]; break;
    }
}

// ---- along an axis

// Is candidate (x, at) better than (best, place)? Equal ones: the first, or the last.
INL bool is_better(float x, int64_t at, float best, int64_t place, bool last)
{
    bool nan = isnan(x), old = isnan(best);
    if (nan != old) return nan;
    if (nan || x == best) return last ? at > place : at < place;
    return x > best;
}

// A block for each row.
extern "C" __global__ void __launch_bounds__(256) extreme(const __grid_constant__ HoloCudaExtreme p)
{
    __shared__ float   bests[32];
    __shared__ int64_t places[32];
    in_turn();
    int64_t row = blockIdx.x, first = row / p.inner * p.size * p.inner + row % p.inner, place = -1;
    float   sign = p.is_least ? -1.0f : 1.0f, best = 0;
    for (int64_t k = threadIdx.x; k < p.size; k += blockDim.x) {
        float x = sign * load_any(p.from, first + k * p.inner, p.type);
        if (place < 0 || is_better(x, k, best, place, p.is_last)) best = x, place = k;
    }
    for (int step = 16; step; step /= 2) {
        float   x  = __shfl_xor_sync(0xffffffff, best, step);
        int64_t at = __shfl_xor_sync(0xffffffff, place, step);
        if (at >= 0 && (place < 0 || is_better(x, at, best, place, p.is_last))) best = x, place = at;
    }
    if (threadIdx.x % 32 == 0) bests[threadIdx.x / 32] = best, places[threadIdx.x / 32] = place;
    __syncthreads();
    if (threadIdx.x) return;
    for (int i = 1; i < blockDim.x / 32; i++)
        if (places[i] >= 0 && is_better(bests[i], places[i], best, place, p.is_last)) best = bests[i], place = places[i];
    p.to[row] = place;
}

// Of few long rows of neighbours: four at a time.
extern "C" __global__ void __launch_bounds__(1024) extreme_row(const __grid_constant__ HoloCudaExtreme p)
{
    __shared__ float bests[32];
    __shared__ int   places[32];
    in_turn();
    int   lane = threadIdx.x % 32, place = -1;
    float sign = p.is_least ? -1.0f : 1.0f, best = 0;
#pragma unroll 4
    for (int k = threadIdx.x * 4; k < (int)p.size; k += 4096) {
        float4 x    = load_4(p.from, blockIdx.x * p.size + k, p.type);
        float  y[4] = {sign * x.x, sign * x.y, sign * x.z, sign * x.w};
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (place < 0 || is_better(y[e], k + e, best, place, p.is_last)) best = y[e], place = k + e;
    }
    auto join = [&]() {
        for (int step = 16; step; step /= 2) {
            float x  = __shfl_xor_sync(0xffffffff, best, step);
            int   at = __shfl_xor_sync(0xffffffff, place, step);
            if (at >= 0 && (place < 0 || is_better(x, at, best, place, p.is_last))) best = x, place = at;
        }
    };
    join();
    if (!lane) bests[threadIdx.x / 32] = best, places[threadIdx.x / 32] = place;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    best = bests[lane], place = places[lane];
    join();
    if (!lane) p.to[blockIdx.x] = place;
}

// A thread for each row, in double, as the reference sums.
extern "C" __global__ void __launch_bounds__(256) scan(const __grid_constant__ HoloCudaScan p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.outer * p.inner) return;
    int64_t first = i / p.inner * p.size * p.inner + i % p.inner;
    double  sum   = 0;
    for (int64_t n = 0; n < p.size; n++) {
        int64_t at   = first + (p.is_reverse ? p.size - 1 - n : n) * p.inner;
        double  next = sum + (double)load_any(p.from, at, p.from_type);
        store_any(p.to, at, p.to_type, (float)(p.is_exclusive ? sum : next));
        sum = next;
    }
}

// ---- sums and extremes over the threads of a block, in the same order in every run

INL float block_fold(float x, int what, float *words)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int step = 16; step; step /= 2) {
        float other = __shfl_xor_sync(0xffffffff, x, step);
        x           = what == 0 ? x + other : what == 1 ? (x > other || isnan(x) ? x : other) : x * other;
    }
    __syncthreads();
    if (!lane) words[warp] = x;
    __syncthreads();
    x = words[0];
    for (int i = 1; i < warps; i++) {
        float other = words[i];
        x           = what == 0 ? x + other : what == 1 ? (x > other || isnan(x) ? x : other) : x * other;
    }
    return x;
}

INL float fold_begin(int what)
{
    return what == HOLO_CUDA_FOLD_MAX || what == HOLO_CUDA_FOLD_MIN || what == HOLO_CUDA_FOLD_LOG_SUM_EXP ? -INFINITY
           : what == HOLO_CUDA_FOLD_PRODUCT                                                               ? 1
                                                                                                          : 0;
}

INL float fold_add(float sum, float x, int what)
{
    switch (what) {
    case HOLO_CUDA_FOLD_MIN: x = -x; // as the largest of the negative numbers
    case HOLO_CUDA_FOLD_LOG_SUM_EXP:
    case HOLO_CUDA_FOLD_MAX: return sum > x || isnan(sum) ? sum : x;
    case HOLO_CUDA_FOLD_SQUARES:
    case HOLO_CUDA_FOLD_L2: return sum + x * x;
    case HOLO_CUDA_FOLD_L1: return sum + fabsf(x);
    case HOLO_CUDA_FOLD_PRODUCT: return sum * x;
    default: return sum + x;
    }
}

INL float fold_end(float sum, float size, int what)
{
    switch (what) {
    case HOLO_CUDA_FOLD_MEAN: return sum / size;
    case HOLO_CUDA_FOLD_MIN: return -sum;
    case HOLO_CUDA_FOLD_L2: return sqrtf(sum);
    case HOLO_CUDA_FOLD_LOG_SUM: return logf(sum);
    default: return sum;
    }
}

INL int fold_kind(int what) // of block_fold
{
    return what == HOLO_CUDA_FOLD_MAX || what == HOLO_CUDA_FOLD_MIN || what == HOLO_CUDA_FOLD_LOG_SUM_EXP ? 1
           : what == HOLO_CUDA_FOLD_PRODUCT                                                               ? 2
                                                                                                          : 0;
}

// A thread for each result: the elements of a fold are `inner` apart.
extern "C" __global__ void __launch_bounds__(256) fold_columns(const __grid_constant__ HoloCudaFold p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.outer * p.inner) return;
    int64_t from = i / p.inner * p.size * p.inner + i % p.inner;
    float   sum  = fold_begin(p.what), all = 0;
    for (int64_t k = 0; k < p.size; k++) sum = fold_add(sum, load_any(p.from, from + k * p.inner, p.from_type), p.what);
    if (p.what == HOLO_CUDA_FOLD_LOG_SUM_EXP) {
        float most = isinf(sum) ? 0 : sum;
        for (int64_t k = 0; k < p.size; k++) all += expf(load_any(p.from, from + k * p.inner, p.from_type) - most);
        sum = logf(all) + most;
    }
    store_any(p.to, i, p.to_type, fold_end(sum, (float)p.size, p.what));
}

// A block for each result: the elements of a fold are neighbours.
extern "C" __global__ void __launch_bounds__(256) fold_rows(const __grid_constant__ HoloCudaFold p)
{
    in_turn();
    __shared__ float words[32];
    int64_t          from = (int64_t)blockIdx.x * p.size;
    float            sum  = fold_begin(p.what), all = 0;
    for (int64_t k = threadIdx.x; k < p.size; k += blockDim.x) sum = fold_add(sum, load_any(p.from, from + k, p.from_type), p.what);
    sum = block_fold(sum, fold_kind(p.what), words);
    if (p.what == HOLO_CUDA_FOLD_LOG_SUM_EXP) {
        float most = isinf(sum) ? 0 : sum;
        for (int64_t k = threadIdx.x; k < p.size; k += blockDim.x) all += expf(load_any(p.from, from + k, p.from_type) - most);
        sum = logf(block_fold(all, 0, words)) + most;
    }
    if (!threadIdx.x) store_any(p.to, blockIdx.x, p.to_type, fold_end(sum, (float)p.size, p.what));
}

// ---- rows

extern "C" __global__ void __launch_bounds__(256) soft(const __grid_constant__ HoloCudaSoft p)
{
    in_turn();
    __shared__ float words[32];
    int64_t          row = blockIdx.x, from = row / p.inner * p.size * p.inner + row % p.inner;
    float            most = -INFINITY, sum = 0;
    for (int64_t k = threadIdx.x; k < p.size; k += blockDim.x)
        most = fold_add(most, load_any(p.from, from + k * p.inner, p.type), HOLO_CUDA_FOLD_MAX);
    most = block_fold(most, 1, words);
    for (int64_t k = threadIdx.x; k < p.size; k += blockDim.x) sum += expf(load_any(p.from, from + k * p.inner, p.type) - most);
    sum = block_fold(sum, 0, words);
    float less = p.is_log ? logf(sum) : 0, by = 1 / sum;
    for (int64_t k = threadIdx.x; k < p.size; k += blockDim.x) {
        float x = load_any(p.from, from + k * p.inner, p.type) - most;
        store_any(p.to, from + k * p.inner, p.type, p.is_log ? x - less : expf(x) * by);
    }
}

INL int64_t centre_at(const HoloCudaCentre &p, int64_t group, int64_t e)
{
    if (!p.stride) return group * p.size + e;
    return group / p.starts * p.size * p.starts + group % p.starts * p.part + e / p.part * p.stride + e % p.part;
}

extern "C" __global__ void __launch_bounds__(256) centre(const __grid_constant__ HoloCudaCentre p)
{
    in_turn();
    __shared__ float words[32];
    int64_t          group = blockIdx.x;
    float            sum   = 0;
    if (p.is_centred) {
        for (int64_t e = threadIdx.x; e < p.size; e += blockDim.x) sum += load_any(p.from, centre_at(p, group, e), p.type);
        sum = block_fold(sum, 0, words);
    }
    float mean = sum / (float)p.size, squares = 0;
    for (int64_t e = threadIdx.x; e < p.size; e += blockDim.x) {
        float x = load_any(p.from, centre_at(p, group, e), p.type) - mean;
        squares += x * x;
    }
    squares  = block_fold(squares, 0, words);
    float by = 1 / sqrtf(squares / (float)p.size + p.epsilon);
    for (int64_t e = threadIdx.x; e < p.size; e += blockDim.x) {
        int64_t at = centre_at(p, group, e), of = group % p.gains * p.step + e / p.each % p.period;
        float   x = (load_any(p.from, at, p.type) - mean) * by;
        if (p.gain) x *= load_any(p.gain, of, p.gain_type);
        if (p.bias) x += load_any(p.bias, of, p.bias_type);
        store_any(p.to, at, p.type, x);
    }
}

// ---- resizing

enum { HALF_PIXEL, SYMMETRIC, PYTORCH, CORNERS, ASYMMETRIC, HALF_FOR_NEAREST }; // of HoloResizePlace
enum { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL };                               // of HoloResizeRound

// The place of output o on the input, in the order of operations of the reference.
INL float resize_place(const HoloCudaResize &p, int d, int64_t o)
{
    float x = (float)o, in = (float)p.in[d], scale = p.scale[d], length = __fmul_rn(scale, in), whole = (float)p.out[d];
    switch (p.place) {
    case CORNERS:
        if (scale >= 1) length = whole;
        return length == 1 ? 0 : x * (in - 1) / (length - 1);
    case ASYMMETRIC: return x / scale;
    case HALF_FOR_NEAREST: return (x + 0.5f) / scale;
    case PYTORCH: return whole == 1 ? 0 : (x + 0.5f) / scale - 0.5f;
    default: return (x + 0.5f) / scale - 0.5f;
    }
}

INL bool resize_takes_next(int round, double rest)
{
    return round == PREFER_FLOOR ? rest > 0.5 : round == PREFER_CEIL ? rest >= 0.5 : round == FLOOR ? rest == 1 : true;
}

INL int64_t resize_clamp(double i, int64_t count)
{
    return i > 0 ? i < (double)(count - 1) ? (int64_t)i : count - 1 : 0;
}

extern "C" __global__ void __launch_bounds__(256) resize(const __grid_constant__ HoloCudaResize p)
{
    in_turn();
    int64_t i = thread_number(), left = i, stride = 1, at[HOLO_CUDA_RESIZED][2];
    double  weight[HOLO_CUDA_RESIZED][2], sum = 0;
    if (i >= p.count) return;
    for (int d = p.rank - 1; d >= 0; d--) {
        int64_t o = left % p.out[d];
        left /= p.out[d];
        double place = p.changes[d] ? (double)resize_place(p, d, o) : (double)o, base = ceil(place) - 1, rest = place - base;
        bool   pair  = p.changes[d] && p.is_linear;
        weight[d][0] = pair ? 1 - rest : 1;
        weight[d][1] = pair ? rest : 0;
        at[d][0]     = !p.changes[d] ? o : pair ? resize_clamp(base, p.in[d]) : resize_clamp(base + resize_takes_next(p.round, rest), p.in[d]);
        at[d][1]     = pair ? resize_clamp(base + 1, p.in[d]) : at[d][0];
        at[d][0] *= stride, at[d][1] *= stride;
        stride *= p.in[d];
    }
    for (int which = 0; which < 1 << p.rank; which++) {
        int64_t from = 0;
        double  by   = 1;
        for (int d = 0; d < p.rank; d++) from += at[d][which >> d & 1], by *= weight[d][which >> d & 1];
        if (by != 0) sum += by * (double)load_any(p.from, from, p.from_type);
    }
    store_any(p.to, i, p.to_type, (float)sum);
}

// ---- windows

// The position of element i in image, channel and three dimensions, the channel running fastest.
INL void window_place(int64_t i, int64_t channels, const int32_t *out, int64_t (&at)[5])
{
    at[1] = i % channels, i /= channels;
    at[4] = i % out[2], i /= out[2];
    at[3] = i % out[1], i /= out[1];
    at[2] = i % out[0];
    at[0] = i / out[0];
}

INL int64_t dot_5(const int64_t (&at)[5], const int64_t *stride)
{
    return at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3] + at[4] * stride[4];
}

extern "C" __global__ void __launch_bounds__(256) pool(const __grid_constant__ HoloCudaPool p)
{
    in_turn();
    int64_t i = thread_number(), at[5];
    if (i >= p.count) return;
    window_place(i, p.channels, p.out, at);
    int64_t first = at[0] * p.from_stride[0] + at[1] * p.from_stride[1];
    float   sum   = p.is_mean ? 0 : -INFINITY;
    int64_t there = 0, padded = 0;
    for (int z = 0; z < p.kernel[0]; z++)
        for (int y = 0; y < p.kernel[1]; y++)
            for (int x = 0; x < p.kernel[2]; x++) {
                int64_t d = at[2] * p.stride[0] - p.pad[0] + z * p.dilation[0], h = at[3] * p.stride[1] - p.pad[1] + y * p.dilation[1],
                        w = at[4] * p.stride[2] - p.pad[2] + x * p.dilation[2];
                padded += d < p.in[0] + p.pad_end[0] && h < p.in[1] + p.pad_end[1] && w < p.in[2] + p.pad_end[2];
                if (d < 0 || h < 0 || w < 0 || d >= p.in[0] || h >= p.in[1] || w >= p.in[2]) continue;
                float v = load_any(p.from, first + d * p.from_stride[2] + h * p.from_stride[3] + w * p.from_stride[4], p.type);
                sum     = p.is_mean ? sum + v : fold_add(sum, v, HOLO_CUDA_FOLD_MAX);
                there++;
            }
    if (p.is_mean) sum /= (float)(p.counts_pads ? padded : there);
    store_any(p.to, dot_5(at, p.to_stride), p.type, sum);
}

INL float4 pool_add(float4 sum, float4 v, bool is_mean)
{
    if (is_mean) return make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    return make_float4(fold_add(sum.x, v.x, HOLO_CUDA_FOLD_MAX), fold_add(sum.y, v.y, HOLO_CUDA_FOLD_MAX),
                       fold_add(sum.z, v.z, HOLO_CUDA_FOLD_MAX), fold_add(sum.w, v.w, HOLO_CUDA_FOLD_MAX));
}

// Pictures with channels last, four channels at a time. Offsets have 32 bits.
extern "C" __global__ void __launch_bounds__(256) pool_last(const __grid_constant__ HoloCudaPool p)
{
    in_turn();
    uint32_t i = (uint32_t)thread_number(), channels = (uint32_t)p.channels / 4;
    if (i >= (uint32_t)(p.count / 4)) return;
    uint32_t c = i % channels, pixel = i / channels;
    int      x0 = (int)(pixel % p.out[2]), y0 = (int)(pixel / p.out[2] % p.out[1]), image = (int)(pixel / p.out[2] / p.out[1]);
    float    most = p.is_mean ? 0 : -INFINITY;
    float4   sum  = make_float4(most, most, most, most);
    int      there = 0, padded = 0;
    for (int y = 0; y < p.kernel[1]; y++)
        for (int x = 0; x < p.kernel[2]; x++) {
            int h = y0 * p.stride[1] - p.pad[1] + y * p.dilation[1], w = x0 * p.stride[2] - p.pad[2] + x * p.dilation[2];
            padded += h < p.in[1] + p.pad_end[1] && w < p.in[2] + p.pad_end[2];
            if (h < 0 || w < 0 || h >= p.in[1] || w >= p.in[2]) continue;
            uint32_t at = ((uint32_t)(image * p.in[1] + h) * p.in[2] + w) * (uint32_t)p.channels + c * 4;
            sum = pool_add(sum, load_4(p.from, at, p.type), p.is_mean);
            there++;
        }
    if (p.is_mean) {
        float by = 1.0f / (float)(p.counts_pads ? padded : there);
        sum      = make_float4(sum.x * by, sum.y * by, sum.z * by, sum.w * by);
    }
    store_4(p.to, (int64_t)i * 4, p.type, sum);
}

extern "C" __global__ void __launch_bounds__(256) window(const __grid_constant__ HoloCudaWindow p)
{
    in_turn();
    int64_t i = thread_number(), at[5];
    if (i >= p.count) return;
    window_place(i, p.filters, p.out, at);
    int     filter = (int)at[1], group = filter / (p.filters / p.groups);
    int64_t first = at[0] * p.x_stride[0] + (int64_t)group * p.channels * p.x_stride[1], weights = filter * p.w_stride[0];
    float   sum = 0;
    for (int z = 0; z < p.kernel[0]; z++)
        for (int y = 0; y < p.kernel[1]; y++)
            for (int x = 0; x < p.kernel[2]; x++) {
                int64_t d = at[2] * p.stride[0] - p.pad[0] + z * p.dilation[0], h = at[3] * p.stride[1] - p.pad[1] + y * p.dilation[1],
                        w = at[4] * p.stride[2] - p.pad[2] + x * p.dilation[2];
                if (d < 0 || h < 0 || w < 0 || d >= p.in[0] || h >= p.in[1] || w >= p.in[2]) continue;
                int64_t from = first + d * p.x_stride[2] + h * p.x_stride[3] + w * p.x_stride[4];
                int64_t of   = weights + z * p.w_stride[2] + y * p.w_stride[3] + x * p.w_stride[4];
                for (int c = 0; c < p.channels; c++)
                    sum = fmaf(load_any(p.x, from + c * p.x_stride[1], p.x_type), load_any(p.w, of + c * p.w_stride[1], p.w_type), sum);
            }
    if (p.bias) sum += load_any(p.bias, filter, p.bias_type);
    float more = p.more ? load_any(p.more, dot_5(at, p.more_stride), p.more_type) : 0;
    store_any(p.y, dot_5(at, p.y_stride), p.y_type, end_of(sum, more, p.act, p.more_how, p.low, p.high));
}

// ---- products

// 16 x 16 results by a block, from tiles in shared memory.
extern "C" __global__ void __launch_bounds__(256) plain(const __grid_constant__ HoloCudaPlain p)
{
    in_turn();
    __shared__ float tile_a[16][17], tile_b[16][17];
    int              x = threadIdx.x % 16, y = threadIdx.x / 16;
    int64_t          m = (int64_t)blockIdx.y * 16 + y, n = (int64_t)blockIdx.x * 16 + x, z = blockIdx.z, outer = z / p.inner, inner = z % p.inner;
    int64_t          a = outer * p.a_batch[0] + inner * p.a_batch[1], b = outer * p.b_batch[0] + inner * p.b_batch[1];
    float            sum = 0;
    for (int64_t k = 0; k < p.k; k += 16) {
        tile_a[y][x] = m < p.m && k + x < p.k ? load_any(p.a, a + m * p.a_stride[0] + (k + x) * p.a_stride[1], p.a_type) : 0;
        tile_b[y][x] = n < p.n && k + y < p.k ? load_any(p.b, b + (k + y) * p.b_stride[0] + n * p.b_stride[1], p.b_type) : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum = fmaf(tile_a[y][i], tile_b[i][x], sum);
        __syncthreads();
    }
    if (m >= p.m || n >= p.n) return;
    sum *= p.alpha;
    if (p.bias) sum += load_any(p.bias, m * p.bias_stride[0] + n * p.bias_stride[1], p.bias_type);
    float more = p.more ? load_any(p.more, z * p.more_batch + m * p.more_stride[0] + n * p.more_stride[1], p.more_type) : 0;
    store_any(p.c, z * p.c_batch + m * p.c_row + n, p.c_type, end_of(sum, more, p.act, p.more_how, p.low, p.high));
}
