// basic.cu - plain kernels: moves, gathers, reductions, rows, pools, and products and convolutions with strides of any kind.
#include "basic_params.h"
#include "device.cuh"

INL int64_t thread_number()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// Every kernel begins so: the next one may begin, and what was before has ended. See HOLO_CU_LAUNCH_EARLY.
INL void in_turn()
{
    let_others_start();
    wait_for_others();
}

// ---- moves

INL bool move_place(const HoloCudaMove &p, int64_t &from, int64_t &to)
{
    int64_t left = thread_number();
    from = to = 0;
    if (left >= p.count) return false;
    for (int d = p.rank - 1; d >= 0; d--) {
        int64_t at = left % p.size[d];
        left /= p.size[d];
        from += at * p.from_stride[d];
        to += at * p.to_stride[d];
    }
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
