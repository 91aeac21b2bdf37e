// blocks.cuh - kernels for weights in blocks of few bits: products of few rows, all weights as numbers, rows of a table. One
// template each, over the types of block_decode.cuh.
//
// Products of few rows are bound by reading the weights. A warp reads two units of a panel at once: 32 times 16 bytes of codes beside each
// other, for 4 bits. A lane decodes its 8 elements of 4 columns in registers, multiplies, and asks for the next unit as soon as it has
// used one. Sums of a column meet by shuffles and then, in a fixed order, in shared memory.
#include "block_decode.cuh"
#include "blocks_params.h"

enum { WARPS = HOLO_CUDA_BLOCK_WARPS };

// ---- MatMulNBits: units of codes, with scales and zero points beside them

template <int BITS> struct NBits {
    enum { HAS_OFFSET = 1, MOVED = BITS == 4 ? 16 : 0, GROUP_SIZE = 16 };
    PlaneCodes<BITS> own;
    float            scales[2][4], offsets[2][4];

    INL static int quad(int i, int half) { return i + 4 * half; }
    INL void       numbers(float (&x)[4], int i, int half, int c) const { bytes_float(x, own.codes(i, half, c), 0); }
    INL void       moved(float (&x)[4], int i, int half, int c) const
    {
        if (MOVED > 0)
            bytes_moved<4>(x, own.codes(i, half, c));
        else
            numbers(x, i, half, c);
    }
    INL float scale(int half, int c) const { return scales[half][c]; }
    INL float offset(int half, int c) const { return offsets[half][c]; }

    INL static float zero(const HoloCudaBlockPanels &w, int64_t n, int block)
    {
        if (!w.zeros) return 1 << (BITS - 1);
        if (!w.zeros_packed) return ((const float *)w.zeros)[n * w.blocks + block];
        uint32_t byte = ((const uint8_t *)w.zeros)[n * w.zero_bytes + block * BITS / 8];
        return (float)(byte >> block * BITS % 8 & ((1 << BITS) - 1));
    }
};

// What a lane has of a unit.
template <class T> INL void unit_load(T &v, const HoloCudaBlockPanels &w, int panel, int unit, int i, int four)
{
    v.load((const uint8_t *)w.b + panel * w.panel + unit / 8 * (int64_t)T::CHUNK, unit % 8, i, four);
}

template <int BITS> INL void unit_load(NBits<BITS> &v, const HoloCudaBlockPanels &w, int panel, int unit, int i, int four)
{
    v.own.load((const uint8_t *)w.b + panel * w.panel + unit * (int64_t)(64 * BITS), i, four);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int block = min((unit * 32 + half * 16) >> w.block_bits, w.blocks - 1);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            int64_t n          = min(panel * 16 + four * 4 + c, w.n - 1);
            v.scales[half][c]  = w.scales[n * w.blocks + block];
            v.offsets[half][c] = -NBits<BITS>::zero(w, n, block) * v.scales[half][c];
        }
    }
}

// A quad of a column as numbers.
template <class T> INL void values(float (&x)[4], const T &v, int i, int half, int c)
{
    float scale = v.scale(half, c), offset = v.offset(half, c);
    v.numbers(x, i, half, c);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        x[j] = __fmul_rn(x[j], scale);
        if (T::HAS_OFFSET) x[j] += offset;
    }
}

// ---- few rows

// Blocks are whole: k is a multiple of 32. That of MatMulNBits is any number.
template <class T> struct Guards {
    enum { ARE = 0 };
};
template <int BITS> struct Guards<NBits<BITS>> {
    enum { ARE = 1 };
};

// Four numbers of a row of A; zeros after k, where weights are padded.
template <class T> INL void a_load(float (&x)[4], const HoloCudaBlockRows &p, int m, int k)
{
    int64_t at = (int64_t)m * p.w.k + k;
    float4  v  = make_float4(0, 0, 0, 0);
    if (!Guards<T>::ARE || (p.whole && k < p.w.k))
        v = load_4(p.a, at, p.a_type);
    else if (k < p.w.k) {
        v.x = load_any(p.a, at, p.a_type);
        if (k + 1 < p.w.k) v.y = load_any(p.a, at + 1, p.a_type);
        if (k + 2 < p.w.k) v.z = load_any(p.a, at + 2, p.a_type);
        if (k + 3 < p.w.k) v.w = load_any(p.a, at + 3, p.a_type);
    }
    x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}

INL float dot(const float (&x)[4], const float (&y)[4], float sum)
{
    return fmaf(x[3], y[3], fmaf(x[2], y[2], fmaf(x[1], y[1], fmaf(x[0], y[0], sum))));
}

// One row: the scale of a group goes to the sum of its products, and so does what numbers are larger by.
template <class T> INL void unit_add(const HoloCudaBlockRows &p, const T &v, int unit, int i, float (&sum)[1][4])
{
    float a[2][4], total[2] = {};
#pragma unroll
    for (int half = 0; half < 2; half++) {
        a_load<T>(a[half], p, 0, unit * 32 + T::quad(i, half) * 4);
        if (T::HAS_OFFSET || T::MOVED > 0) total[half] = a[half][0] + a[half][1] + a[half][2] + a[half][3];
    }
    if (T::GROUP_SIZE == 32) total[0] += total[1];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        float x[4], y[4];
        v.moved(x, i, 0, c);
        v.moved(y, i, 1, c);
        float part[2] = {dot(a[0], x, 0), 0};
        if (T::GROUP_SIZE == 32)
            part[0] = dot(a[1], y, part[0]);
        else
            part[1] = dot(a[1], y, 0);
#pragma unroll
        for (int half = 0; half < (T::GROUP_SIZE == 32 ? 1 : 2); half++) {
            if (T::MOVED > 0) part[half] = fmaf(total[half], -(float)T::MOVED, part[half]);
            sum[0][c] = fmaf(part[half], v.scale(half, c), sum[0][c]);
            if (T::HAS_OFFSET) sum[0][c] = fmaf(total[half], v.offset(half, c), sum[0][c]);
        }
    }
}

// Several rows: weights become numbers once.
template <class T, int M>
INL void unit_add(const HoloCudaBlockRows &p, const T &v, int unit, int i, float (&sum)[M][4])
{
    float w[2][4][4];
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int c = 0; c < 4; c++) values(w[half][c], v, i, half, c);
#pragma unroll
    for (int m = 0; m < M; m++) {
        if (m >= p.m) break;
        float a[2][4];
#pragma unroll
        for (int half = 0; half < 2; half++) a_load<T>(a[half], p, m, unit * 32 + T::quad(i, half) * 4);
#pragma unroll
        for (int c = 0; c < 4; c++) sum[m][c] = dot(a[1], w[1][c], dot(a[0], w[0][c], sum[m][c]));
    }
}

// What `share` warps found of the columns of a panel, put together and stored.
template <int M> INL void rows_end(const HoloCudaBlockRows &p, const float (&shared)[WARPS][M][16])
{
    int panels = WARPS / p.share, first = (blockIdx.x - p.part.first) * panels * 16;
#pragma unroll 1
    for (int at = threadIdx.x; at < panels * 16 * M; at += WARPS * 32) {
        int   m = at / (panels * 16), column = at % (panels * 16), n = first + column;
        float x = 0;
        if (m >= p.m || n >= p.w.n) continue;
#pragma unroll 1
        for (int s = 0; s < p.share; s++) x += shared[column / 16 * p.share + s][m][column % 16];
        int64_t to = (int64_t)m * p.w.n + n;
        if (p.bias) x += p.bias[n];
        float more = p.more_how ? load_any(p.more, to, p.more_type) : 0;
        store_any(p.c, to, p.c_type, end_of(x, more, p.act, p.more_how, p.low, p.high));
    }
}

// Units that a lane has asked for. Some types need many registers for a unit, as MatMulNBits for its scales, which are floats: with
// fewer units there are enough for two blocks of a multiprocessor, and nothing is spilled.
template <class T, int M> struct Ahead {
    enum { UNITS = M == 1 ? 4 : 2 };
};
template <> struct Ahead<NBits<8>, 1> {
    enum { UNITS = 2 };
};
template <int BITS> struct Ahead<NBits<BITS>, 8> {
    enum { UNITS = 1 };
};
template <> struct Ahead<IQ1_M, 1> {
    enum { UNITS = 2 };
};
template <> struct Ahead<IQ1_M, 8> {
    enum { UNITS = 1 };
};

template <class T, int M> INL void block_rows(const HoloCudaBlockRows &p)
{
    enum { AHEAD = Ahead<T, M>::UNITS };
    __shared__ float shared[WARPS][M][16];
    int              warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = lane / 4 % 4, four = lane % 4;
    int              panel = (blockIdx.x - p.part.first) * (WARPS / p.share) + warp / p.share;
    int              units = panel < (p.w.n + 15) / 16 ? (p.w.k + 31) / 32 : 0, step = 2 * p.share;
    int              unit  = warp % p.share * 2 + lane / 16;
    float            sum[M][4] = {};
    T                v[AHEAD];
    let_others_start();
#pragma unroll
    for (int s = 0; s < AHEAD; s++) // weights are constants: they may come before the kernel before has ended
        if (unit + s * step < units) unit_load(v[s], p.w, panel, unit + s * step, i, four);
    wait_for_others();
#pragma unroll 1
    for (; unit < units; unit += AHEAD * step)
#pragma unroll
        for (int s = 0; s < AHEAD; s++) {
            int at = unit + s * step, next = at + AHEAD * step;
            if (at < units) unit_add(p, v[s], at, i, sum);
            if (next < units) unit_load(v[s], p.w, panel, next, i, four);
        }
    __syncwarp();
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float s = sum[m][c];
#pragma unroll
            for (int d = 4; d < 32; d *= 2) s += __shfl_xor_sync(~0u, s, d);
            if (lane < 4) shared[warp][m][four * 4 + c] = s;
        }
    __syncthreads();
    rows_end<M>(p, shared);
}

// ---- all weights as numbers

// To 10 bits of mantissa, to the nearest, ties to even: as packed weights are.
INL float tf32_near(float x)
{
    uint32_t bits = __float_as_uint(x), up = bits + 0xFFF + (bits >> 13 & 1);
    if ((bits & 0x7F800000) == 0x7F800000) return x;
    return __uint_as_float(((up & 0x7F800000) == 0x7F800000 ? bits : up) & ~0x1FFFu);
}

template <class T> INL void block_decode(const HoloCudaBlockDecode &p)
{
    int     lane = threadIdx.x % 32, i = lane / 4 % 4, four = lane % 4, pairs = (p.w.k + 63) / 64;
    int64_t number = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    int     panel = (int)(number / pairs), unit = (int)(number % pairs) * 2 + lane / 16;
    T       v;
    let_others_start();
    bool is = panel < (p.w.n + 15) / 16 && unit < (p.w.k + 31) / 32;
    if (is) unit_load(v, p.w, panel, unit, i, four);
    wait_for_others(); // who reads what is there now
    if (!is) return;
#pragma unroll
    for (int c = 0; c < 4; c++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int   n = panel * 16 + four * 4 + c, k = unit * 32 + T::quad(i, half) * 4;
            float x[4];
            values(x, v, i, half, c);
#pragma unroll
            for (int j = 0; j < 4; j++) x[j] = k + j >= p.w.k ? 0 : p.rounds ? tf32_near(x[j]) : x[j];
            if (n < p.w.n && k < p.row) store_4(p.to, n * p.row + k, p.type, make_float4(x[0], x[1], x[2], x[3]));
        }
}

// ---- rows of a table

template <class T> INL void block_take(const HoloCudaBlockTake &p)
{
    int     i = threadIdx.x % 4, units = (p.w.k + 31) / 32;
    int64_t number = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 4, place = number / units;
    T       v;
    let_others_start();
    wait_for_others();
    if (place >= p.indices) return;
    int64_t at = p.index_bytes == 8 ? ((const int64_t *)p.index)[place] : ((const int32_t *)p.index)[place];
    if (at < 0) at += p.w.n;
    if (at < 0 || at >= p.w.n) {
        *(volatile uint32_t *)p.status = 1;
        at                             = 0;
    }
    int unit = (int)(number % units), column = (int)(at % 16);
    unit_load(v, p.w, (int)(at / 16), unit, i, column / 4);
#pragma unroll
    for (int c = 0; c < 4; c++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float x[4];
            values(x, v, i, half, c);
            if (c == column % 4)
                store_4(p.to, place * p.w.k + unit * 32 + T::quad(i, half) * 4, p.type, make_float4(x[0], x[1], x[2], x[3]));
        }
}

// ---- the kernels of a type

#define BLOCK_ROWS(name, T, M)                                                                                  \
    extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Many<HoloCudaBlockRows> all) \
    {                                                                                                           \
        block_rows<T, M>(part_of(all));                                                                         \
    }
#define BLOCK_PRODUCTS(name, T)                                                                                     \
    BLOCK_ROWS(rows_##name##_1, T, 1)                                                                               \
    BLOCK_ROWS(rows_##name##_4, T, 4)                                                                               \
    BLOCK_ROWS(rows_##name##_8, T, 8)                                                                               \
    extern "C" __global__ void __launch_bounds__(256) decode_##name(const __grid_constant__ HoloCudaBlockDecode p) \
    {                                                                                                               \
        block_decode<T>(p);                                                                                         \
    }
#define BLOCK_TYPE(name, T)                                                                                     \
    BLOCK_PRODUCTS(name, T)                                                                                     \
    extern "C" __global__ void __launch_bounds__(256) take_##name(const __grid_constant__ HoloCudaBlockTake p) \
    {                                                                                                           \
        block_take<T>(p);                                                                                       \
    }
