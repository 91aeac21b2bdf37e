// bytes.cu - around products of bytes: B that is no weight is packed, sums of rows, images with more pixels around them; and
// convolutions with strides of any kind.
#include "bytes.cuh"

// A block packs 32 columns, 32 numbers of k at a time, through shared memory.
extern "C" __global__ void __launch_bounds__(256) bytes_pack(const __grid_constant__ HoloCudaBytePack p)
{
    __shared__ int8_t square[32][36];
    int               lane = threadIdx.x % 32, first = threadIdx.x / 32, n0 = blockIdx.x * 32;
    int64_t           z    = blockIdx.z;
    const uint8_t    *from = (const uint8_t *)p.from + z / p.inner * p.from_batch[0] + z % p.inner * p.from_batch[1];
    int8_t           *to   = (int8_t *)p.to + z * p.n * p.row;
    int32_t           sum[4] = {0, 0, 0, 0};
    in_turn();
    for (int k0 = 0; k0 < p.row - HOLO_CUDA_BYTES_MORE; k0 += 32) {
        for (int i = 0; i < 4; i++) {
            int  k = k0 + first + i * 8, n = n0 + lane;
            bool is = k < p.k && n < p.n;
            square[first + i * 8][lane] = is ? (int8_t)(from[k * p.k_stride + n * p.n_stride] - p.shift) : 0;
        }
        __syncthreads();
        for (int i = 0; i < 4; i++) {
            int n = n0 + first + i * 8, k = k0 + lane;
            if (n < p.n && k < p.row - HOLO_CUDA_BYTES_MORE) to[(int64_t)n * p.row + k] = square[lane][first + i * 8];
            sum[i] += square[lane][first + i * 8];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        int n = n0 + first + i * 8;
        for (int d = 16; d; d >>= 1) sum[i] += __shfl_xor_sync(~0u, sum[i], d);
        if (n < p.n && lane < 4)
            ((int32_t *)(to + (int64_t)(n + 1) * p.row - HOLO_CUDA_BYTES_MORE))[lane] = lane ? 0 : sum[i];
    }
}

// Number k of row m of A; what is outside an image is 0.
INL int row_byte(const HoloCudaProduct &p, int64_t a, int64_t m, int k, int type)
{
    if (!p.height) return byte_at(p.a, a + m * p.lda + k, type);
    int     c = k % p.channels, kx = k / p.channels % p.kernel_w, ky = k / p.channels / p.kernel_w;
    int     y = (int)(m / p.out_w % p.out_h) * p.stride_h - p.pad_h + ky * p.dilation_h;
    int     x = (int)(m % p.out_w) * p.stride_w - p.pad_w + kx * p.dilation_w;
    int64_t image = m / p.out_w / p.out_h;
    if (y < 0 || y >= p.height || x < 0 || x >= p.width) return 0;
    return byte_at(p.a, a + ((image * p.height + y) * p.width + x) * p.lda + c, type);
}

// A warp has a row.
extern "C" __global__ void __launch_bounds__(256) bytes_sums(const __grid_constant__ HoloCudaByteSums s)
{
    const HoloCudaProduct &p = s.p;
    int                    lane = threadIdx.x % 32;
    int64_t                m = (int64_t)blockIdx.x * 8 + threadIdx.x / 32, z = blockIdx.z;
    int64_t                a = z / p.inner * p.a_batch[0] + z % p.inner * p.a_batch[1];
    int32_t                sum = 0;
    in_turn();
    if (m >= p.m) return;
    for (int k = lane; k < p.k; k += 32) sum += row_byte(p, a, m, k, s.type);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (!lane) s.to[z * p.m + m] = sum;
}

extern "C" __global__ void __launch_bounds__(256) bytes_pad(const __grid_constant__ HoloCudaBytePad p)
{
    in_turn();
    int64_t i = thread_number();
    if (i >= p.count) return;
    int64_t        pixel = i / p.pieces, line = pixel / p.to_width;
    int            first = (int)(i - pixel * p.pieces) * 16, x = (int)(pixel - line * p.to_width) - p.left;
    int64_t        image = line / p.to_height;
    int            y = (int)(line - image * p.to_height) - p.top, zero = p.zero ? *(const uint8_t *)p.zero : 0;
    bool           inside = x >= 0 && x < p.width && y >= 0 && y < p.height;
    const uint8_t *from   = (const uint8_t *)p.from + ((image * p.height + y) * p.width + x) * p.channels;
    uint8_t       *to     = (uint8_t *)p.to + pixel * p.to_channels + first;
    uint32_t       word[4] = {0, 0, 0, 0};
    for (int c = 0; c < 16 && first + c < p.channels; c++)
        word[c / 4] |= (uint32_t)(inside ? from[first + c] : zero) << c % 4 * 8;
    if (p.to_channels % 16 == 0)
        *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
    else
        for (int c = 0; c < 16 && first + c < p.to_channels; c++) to[c] = (uint8_t)(word[c / 4] >> c % 4 * 8);
}

// A thread has one element. Pixels outside the image do not count.
extern "C" __global__ void __launch_bounds__(256) bytes_window(const __grid_constant__ HoloCudaByteWindow p)
{
    in_turn();
    int64_t i = thread_number(), left = i, at[5];
    if (i >= p.count) return;
    at[1] = left % p.filters, left /= p.filters; // neighbours are channels
    for (int d = 2; d >= 0; d--) at[2 + d] = left % p.out[d], left /= p.out[d];
    at[0] = left;
    int     filter = (int)at[1], group = filter / (p.filters / p.groups);
    int     a_zero = p.s.a_zero ? byte_at(p.s.a_zero, 0, p.s.a_type) : 0;
    int     b_zero = p.s.b_zero ? byte_at(p.s.b_zero, p.s.b_zeros ? filter : 0, p.s.b_type) : 0;
    int64_t from   = at[0] * p.x_stride[0] + (int64_t)group * p.channels * p.x_stride[1];
    int32_t sum    = 0;
    for (int z = 0; z < p.kernel[0]; z++)
        for (int y = 0; y < p.kernel[1]; y++)
            for (int x = 0; x < p.kernel[2]; x++) {
                int64_t d = at[2] * p.stride[0] - p.pad[0] + z * p.dilation[0];
                int64_t h = at[3] * p.stride[1] - p.pad[1] + y * p.dilation[1];
                int64_t w = at[4] * p.stride[2] - p.pad[2] + x * p.dilation[2];
                if (d < 0 || h < 0 || w < 0 || d >= p.in[0] || h >= p.in[1] || w >= p.in[2]) continue;
                int64_t a = from + d * p.x_stride[2] + h * p.x_stride[3] + w * p.x_stride[4];
                int64_t b = filter * p.w_stride[0] + z * p.w_stride[2] + y * p.w_stride[3] + x * p.w_stride[4];
                for (int c = 0; c < p.channels; c++)
                    sum = wrap_add(sum, (byte_at(p.x, a + c * p.x_stride[1], p.s.a_type) - a_zero) *
                                            (byte_at(p.w, b + c * p.w_stride[1], p.s.b_type) - b_zero));
            }
    HoloCudaScaled s = p.s;
    s.count          = 0; // zero points are taken into account
    int64_t to       = 0;
    for (int d = 0; d < 5; d++) to += at[d] * p.y_stride[d];
    scaled_store(s, p.y, to, scaled(s, column_of(s, filter, 0), sum, 0));
}
