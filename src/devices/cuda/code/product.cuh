// product.cuh - one block computes one tile of C = end(A * B): the template behind all products and convolutions.
//
// Tiles of A and B travel through a ring of stages in shared memory, in rows of 128 bytes (64 f16, 32 f32, 128 s8), by copies
// that do not wait. A convolution differs only in where a row of A comes from. What multiplies is a policy: Simt (FFMA, or
// multiply and add for the exact class), Sync (mma.sync), Group (wgmma). Sums go through shared memory to the end of the
// product, so that memory is read and written in whole lines whatever the policy's registers look like.
#ifndef HOLO_DEVICES_CUDA_CODE_PRODUCT_CUH
#define HOLO_DEVICES_CUDA_CODE_PRODUCT_CUH

#include "wgmma.cuh"

enum { LINE = 128, PIECE = 16, PIECES = LINE / PIECE, SKEW = 8 };

// ---- where rows of A come from

// A row of A: where its patch begins, in elements from A's start (32 bits are enough: cuda_pick.c sees to it), and at which
// line and column of the image. A plain matrix is an image of one pixel per row.
struct Row {
    int offset, line, column;
};

struct Image {
    int height, width, channels, kernel_w, step_w, step_h; // steps: elements from tap to tap
    int dilation_h, dilation_w;
};

INL Image image_of(const HoloCudaProduct &p)
{
    if (!p.height) return Image{1, 1, 1 << 30, 1, 0, 0, 1, 1}; // k never leaves the one tap
    return Image{p.height, p.width, p.channels, p.kernel_w, p.dilation_w * p.lda, p.dilation_h * p.width * p.lda,
                 p.dilation_h, p.dilation_w};
}

INL Row row_of(const HoloCudaProduct &p, int m)
{
    if (!p.height) return Row{m * p.lda, 0, 0};
    int x = m % p.out_w, rest = m / p.out_w, y = rest % p.out_h, image = rest / p.out_h;
    int line = y * p.stride_h - p.pad_h, column = x * p.stride_w - p.pad_w;
    return Row{((image * p.height + line) * p.width + column) * p.lda, line, column};
}

// Where k is: a tap of the kernel, and a channel under it.
struct Tap {
    int y, x, channel;
    INL void seek(const Image &im, int k)
    {
        channel = k % im.channels;
        int tap = k / im.channels;
        y       = tap / im.kernel_w;
        x       = tap % im.kernel_w;
    }
    INL void skip(const Image &im, int elements)
    {
        channel += elements;
        while (channel >= im.channels) {
            channel -= im.channels;
            if (++x == im.kernel_w) x = 0, y++;
        }
    }
    INL bool inside(const Image &im, const Row &r) const
    {
        return (unsigned)(r.line + y * im.dilation_h) < (unsigned)im.height &&
               (unsigned)(r.column + x * im.dilation_w) < (unsigned)im.width;
    }
    INL int offset(const Image &im) const { return y * im.step_h + x * im.step_w + channel; }
};

// ---- copies of tiles

// Each thread copies piece `tid % 8` of every (threads / 8)-th row. Few warps share a multiprocessor, so this is as short as
// can be: what does not change is computed once. Rows and columns past the end are zeros, as is k past its end.
template <class T, int BM, int BN, int THREADS> struct Loader {
    enum { STEP = THREADS / PIECES, AN = BM / STEP, BN_ROWS = BN / STEP, EACH = PIECE / (int)sizeof(T) };
    static_assert(BM % STEP == 0 && BN % STEP == 0, "rows are shared out evenly");

    const HoloCudaProduct &p;
    const T               *a, *b;
    Image                  im;
    Row                    rows[AN];
    int                    b_rows[BN_ROWS];  // where rows of B begin
    int                    a_count, b_count; // how many of the thread's rows there are
    Tap                    tap;
    int                    k, k_end;
    uint32_t               place; // of this thread's piece in the tile

    INL Loader(const HoloCudaProduct &p, const T *a, const T *b, int m0, int n0, int k0, int k_end)
        : p(p), a(a), b(b), im(image_of(p)), k_end(k_end)
    {
        int first = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
        k     = k0 + piece * EACH;
        place = first * LINE + ((piece ^ (first & 7)) * PIECE);
        if (p.height) tap.seek(im, k);
        else tap = Tap{0, 0, k};
#pragma unroll
        for (int i = 0; i < AN; i++) rows[i] = row_of(p, m0 + first + i * STEP);
#pragma unroll
        for (int i = 0; i < BN_ROWS; i++) b_rows[i] = (n0 + first + i * STEP) * p.ldb;
        a_count = (p.m - m0 - first + STEP - 1) / STEP;
        b_count = (p.n - n0 - first + STEP - 1) / STEP;
    }

    INL void copy_b(uint32_t to, int at) const
    {
        int      bytes = at < k_end ? PIECE : 0;
        const T *from  = b + at;
#pragma unroll
        for (int i = 0; i < BN_ROWS; i++) copy_16(to + place + i * STEP * LINE, from + b_rows[i], i < b_count ? bytes : 0);
    }

    INL void copy_a(uint32_t to)
    {
        int bytes = min(max((k_end - k) * (int)sizeof(T), 0), (int)PIECE);
        if (!p.a_whole) {
            copy_elements(to);
        } else if (!p.height) {
            const T *from = a + k;
#pragma unroll
            for (int i = 0; i < AN; i++) copy_16(to + place + i * STEP * LINE, from + rows[i].offset, i < a_count ? bytes : 0);
        } else {
            int      dy = tap.y * im.dilation_h, dx = tap.x * im.dilation_w;
            const T *from = a + tap.offset(im);
#pragma unroll
            for (int i = 0; i < AN; i++) {
                bool inside = (unsigned)(rows[i].line + dy) < (unsigned)im.height && (unsigned)(rows[i].column + dx) < (unsigned)im.width;
                copy_16(to + place + i * STEP * LINE, from + rows[i].offset, inside && i < a_count ? bytes : 0);
            }
        }
        if (!p.height) tap.channel += LINE / (int)sizeof(T);
        else tap.skip(im, LINE / (int)sizeof(T));
        k += LINE / (int)sizeof(T);
    }

    // Rows that do not lie on 16 bytes, or patches whose channels do not fill 16 bytes.
    INL void copy_elements(uint32_t to) const
    {
#pragma unroll
        for (int i = 0; i < AN; i++) {
            Tap      t  = tap;
            uint32_t at = to + place + i * STEP * LINE;
#pragma unroll 1
            for (int e = 0; e < EACH; e++, t.skip(im, 1), at += sizeof(T)) {
                bool ok = k + e < k_end && i < a_count && t.inside(im, rows[i]);
                copy_element(at, a + (ok ? rows[i].offset + t.offset(im) : 0), ok);
            }
        }
    }

    static INL void copy_element(uint32_t to, const T *from, bool ok)
    {
        if constexpr (sizeof(T) == 4) {
            copy_4(to, from, ok ? 4 : 0);
        } else if constexpr (sizeof(T) == 2) {
            uint16_t x = ok ? *(const uint16_t *)from : 0;
            asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(x) : "memory");
        } else {
            uint32_t x = ok ? *(const uint8_t *)from : 0;
            asm volatile("st.shared.u8 [%0], %1;" ::"r"(to), "r"(x) : "memory");
        }
    }
};

// ---- what multiplies

// Sums of tensor cores lie in pairs: a lane has columns 2t and 2t + 1 of every 8. Neighbours exchange half of two eights, x and
// y, so that each has four columns side by side: of x in even lanes, of y in odd ones.
INL float4 four_columns(float x0, float x1, float y0, float y1, bool odd)
{
    float r0 = __shfl_xor_sync(~0u, odd ? x0 : y0, 1), r1 = __shfl_xor_sync(~0u, odd ? x1 : y1, 1);
    return odd ? make_float4(r0, r1, y0, y1) : make_float4(x0, x1, r0, r1);
}

// Threads of a warp lie 4 x 8 over the tile, warps before that; each has rows and columns that are a tile's worth of threads
// apart. Every sum adds up in the order of k.
template <class E, int BM, int BN, int THREADS> struct Simt {
    enum { DIRECT = 0, LAG = 0, TN = BN >= 128 ? 16 : 8, TM = THREADS / TN, I = BM / TM, J = BN / TN };
    float sum[I][J];
    int   row, column;

    INL Simt()
    {
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        row    = warp / (TN / 8) * 4 + lane / 8;
        column = warp % (TN / 8) * 8 + lane % 8;
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j++) sum[i][j] = 0;
    }

    static INL float4 load(uint32_t tile, int row, int piece)
    {
        float4   r;
        uint32_t at = tile + row * LINE + ((piece ^ (row & 7)) * PIECE);
        asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "r"(at) : "memory");
        return r;
    }

    static INL float add(float sum, float a, float b)
    {
        return E::EXACT ? __fadd_rn(sum, __fmul_rn(a, b)) : fmaf(a, b, sum);
    }

    INL void multiply(uint32_t a_tile, uint32_t b_tile)
    {
#pragma unroll 2
        for (int piece = 0; piece < PIECES; piece++) {
            float4 a[I];
#pragma unroll
            for (int i = 0; i < I; i++) a[i] = load(a_tile, row + i * TM, piece);
#pragma unroll
            for (int j = 0; j < J; j++) {
                float4 b = load(b_tile, column + j * TN, piece);
#pragma unroll
                for (int i = 0; i < I; i++) sum[i][j] = add(sum[i][j], a[i].x, b.x);
#pragma unroll
                for (int i = 0; i < I; i++) sum[i][j] = add(sum[i][j], a[i].y, b.y);
#pragma unroll
                for (int i = 0; i < I; i++) sum[i][j] = add(sum[i][j], a[i].z, b.z);
#pragma unroll
                for (int i = 0; i < I; i++) sum[i][j] = add(sum[i][j], a[i].w, b.w);
            }
        }
    }

    INL void finish() {}

    INL void put(float *stage) const
    {
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j++) stage[(row + i * TM) * (BN + SKEW) + column + j * TN] = sum[i][j];
    }
};

// mma.sync: each warp a tile of WM x WN.
template <class E, int BM, int BN, int THREADS> struct Sync {
    enum { DIRECT = 1, LAG = 0, WARPS = THREADS / 32, WARPS_M = BM >= 2 * BN ? 4 : 2, WARPS_N = WARPS / WARPS_M };
    enum { WM = BM / WARPS_M, WN = BN / WARPS_N, I = WM / 16, J = WN / 8 };
    static_assert(WM % 16 == 0 && WN % 16 == 0, "whole fragments");
    typename E::Sum sum[I][J][4];
    int             m, n, lane;

    INL Sync()
    {
        int warp = threadIdx.x / 32;
        lane     = threadIdx.x % 32;
        m        = warp / WARPS_N * WM;
        n        = warp % WARPS_N * WN;
#pragma unroll
        for (int i = 0; i < I * J * 4; i++) (&sum[0][0][0])[i] = 0;
    }

    // Four 8 x 16-byte matrices: rows `row` and 8 after, pieces `piece` and the next.
    INL void load(uint32_t (&r)[4], uint32_t tile, int row, int piece) const
    {
        load_matrices(r, tile + row * LINE + ((piece ^ (row & 7)) * PIECE));
    }

    INL void multiply(uint32_t a_tile, uint32_t b_tile)
    {
        int a_row = m + lane % 16, a_piece = lane / 16, b_row = n + lane % 8 + lane / 16 * 8, b_piece = lane / 8 % 2;
        typename E::Sum line[I][J][4] = {};
#pragma unroll
        for (int step = 0; step < PIECES / 2; step++) {
            uint32_t a[I][4], b[J / 2][4];
#pragma unroll
            for (int i = 0; i < I; i++) load(a[i], a_tile, a_row + i * 16, step * 2 + a_piece);
#pragma unroll
            for (int j = 0; j < J / 2; j++) load(b[j], b_tile, b_row + j * 16, step * 2 + b_piece);
            if constexpr (E::PARTS == 3)
                multiply_parts(line, a, b);
            else
                multiply_whole(a, b);
        }
        if (E::PARTS == 3) // tensor cores cut sums off: they add up one line, ordinary additions, which round, all lines
#pragma unroll
            for (int i = 0; i < I * J * 4; i++) (&sum[0][0][0])[i] += (&line[0][0][0])[i];
    }

    INL void multiply_whole(uint32_t (&a)[I][4], uint32_t (&b)[J / 2][4])
    {
#pragma unroll
        for (int i = 0; i < I * 4; i++) E::round((&a[0][0])[i]);
#pragma unroll
        for (int j = 0; j < J * 2; j++) E::round((&b[0][0])[j]);
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j++) E::mma(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }

    static INL void multiply_parts(typename E::Sum (&line)[I][J][4], uint32_t (&a)[I][4], uint32_t (&b)[J / 2][4])
    {
        uint32_t a_small[I][4], b_small[J / 2][4];
#pragma unroll
        for (int i = 0; i < I * 4; i++) split_f32((&a[0][0])[i], (&a[0][0])[i], (&a_small[0][0])[i]);
#pragma unroll
        for (int j = 0; j < J * 2; j++) split_f32((&b[0][0])[j], (&b[0][0])[j], (&b_small[0][0])[j]);
#pragma unroll
        for (int part = 0; part < 3; part++) // the small products first
#pragma unroll
            for (int i = 0; i < I; i++)
#pragma unroll
                for (int j = 0; j < J; j++) {
                    const uint32_t(&bb)[4] = part == 0 ? b_small[j / 2] : b[j / 2];
                    E::mma(line[i][j], part == 1 ? a_small[i] : a[i], bb[j % 2 * 2], bb[j % 2 * 2 + 1]);
                }
    }

    INL void finish() {}

    // Calls f(four columns of a row, the same of the row 8 below, row, column) for all of the thread's sums.
    template <class F> INL void each(F f) const
    {
        bool odd = lane & 1;
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j += 2) {
                const typename E::Sum *x = sum[i][j], *y = sum[i][j + 1];
                f(four_columns((float)x[0], (float)x[1], (float)y[0], (float)y[1], odd),
                  four_columns((float)x[2], (float)x[3], (float)y[2], (float)y[3], odd), m + i * 16 + lane / 4,
                  n + (j + odd) * 8 + lane % 4 / 2 * 4);
            }
    }

    INL void put(float *stage) const
    {
#pragma unroll
        for (int i = 0; i < I; i++)
#pragma unroll
            for (int j = 0; j < J; j++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float *to = stage + (m + i * 16 + lane / 4 + h * 8) * (BN + SKEW) + n + j * 8 + lane % 4 * 2;
                    *(float2 *)to = make_float2((float)sum[i][j][h * 2], (float)sum[i][j][h * 2 + 1]);
                }
    }
};

// wgmma: four warps have 64 rows and all columns. It runs on while the next tiles are copied, so a stage is free one
// iteration later (LAG).
template <class E, int BM, int BN, int THREADS> struct Group {
    enum { DIRECT = 1, LAG = 1 };
    static_assert(BM == THREADS / 128 * 64, "64 rows for four warps");
    typename E::Sum sum[BN / 2];
    int             m;

    INL Group()
    {
        // the same in all lanes, and known to be so
        m = __shfl_sync(~0u, threadIdx.x / 128, 0) * 64;
#pragma unroll
        for (int i = 0; i < BN / 2; i++) sum[i] = 0;
    }

    INL void multiply(uint32_t a_tile, uint32_t b_tile)
    {
        uint64_t a = tile_descriptor(a_tile + m * LINE), b = tile_descriptor(b_tile);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < PIECES / 2; step++) Wgmma<E, BN>::mma(sum, a + step * 2, b + step * 2);
        wgmma_commit();
    }

    INL void wait_previous() { wgmma_wait<1>(); }

    INL void finish()
    {
        wgmma_wait<0>();
#pragma unroll
        for (int i = 0; i < BN / 2; i++) use(sum[i]); // nothing reads a sum before this line
    }

    template <class F> INL void each(F f) const
    {
        int  warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
        bool odd = lane & 1;
#pragma unroll
        for (int j = 0; j < BN / 8; j += 2) {
            const typename E::Sum *x = sum + j * 4, *y = x + 4;
            f(four_columns((float)x[0], (float)x[1], (float)y[0], (float)y[1], odd),
              four_columns((float)x[2], (float)x[3], (float)y[2], (float)y[3], odd), m + warp * 16 + lane / 4,
              (j + odd) * 8 + lane % 4 / 2 * 4);
        }
    }

    static INL void use(float &x) { asm volatile("" : "+f"(x)::"memory"); }
    static INL void use(int32_t &x) { asm volatile("" : "+r"(x)::"memory"); }

    INL void put(float *stage) const
    {
        int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
#pragma unroll
        for (int j = 0; j < BN / 8; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float *to     = stage + (m + warp * 16 + lane / 4 + h * 8) * (BN + SKEW) + j * 8 + lane % 4 * 2;
                *(float2 *)to = make_float2((float)sum[j * 4 + h * 2], (float)sum[j * 4 + h * 2 + 1]);
            }
    }
};

// ---- the end: from sums in shared memory to C

// A thread has four columns of every (threads / (columns / 4))-th row: bias and scale are read once.
template <int BM, int BN, int THREADS> struct End {
    enum { ACROSS = BN / 4, DOWN = THREADS / ACROSS, COUNT = BM / DOWN };
    const HoloCudaProduct &p;
    const float           *bias, *scale;
    int64_t                c_at, more_at; // of this batch
    int                    m0, n, first;
    int                    from, by; // groups of rows that this block finishes: all, or every by-th

    // LIMITS: the function is a clip, or none, or relu, which cuda_pick.c makes limits, too. The others are much code, that is not
    // to be read where it is not needed.
    template <bool LIMITS> INL float one(float x, float scale, float bias, float more) const
    {
        x = x * scale + bias;
        if (p.more_how == HOLO_CUDA_MORE_ADD_BEFORE) x += more;
        if (LIMITS)
            x = x < p.low ? p.low : x > p.high ? p.high : x;
        else
            x = act(x, p.act, p.low, p.high);
        if (p.more_how == HOLO_CUDA_MORE_ADD_AFTER) x += more;
        if (p.more_how == HOLO_CUDA_MORE_MUL_AFTER) x *= more;
        return x;
    }

    // The common case: from registers to memory. No function but limits, and C and `more` are of the type that is multiplied.
    template <int TYPE> INL bool is_direct() const
    {
        return p.c_whole && p.act <= HOLO_CUDA_ACT_CLIP && n - n % BN + BN <= p.n && p.c_type == TYPE &&
               (!p.more_how || p.more_type == TYPE);
    }

    template <int TYPE, class Math> INL void direct(const Math &math) const
    {
        int n0 = n - n % BN;
        math.each([&](float4 x, float4 y, int row, int column) {
            int     at = n0 + column, m = m0 + row;
            float4  s = make_float4(p.alpha, p.alpha, p.alpha, p.alpha), b = make_float4(0, 0, 0, 0), u = b, v = b;
            int64_t more = more_at + (int64_t)m * p.ldmore + at, c = c_at + (int64_t)m * p.ldc + at;
            if (scale) s = __ldg((const float4 *)(scale + at)), s.x *= p.alpha, s.y *= p.alpha, s.z *= p.alpha, s.w *= p.alpha;
            if (bias) b = __ldg((const float4 *)(bias + at));
            if (p.more_how && m < p.m) u = load_4(p.more, more, TYPE);
            if (p.more_how && m + 8 < p.m) v = load_4(p.more, more + 8 * (int64_t)p.ldmore, TYPE);
            x.x = one<true>(x.x, s.x, b.x, u.x), x.y = one<true>(x.y, s.y, b.y, u.y);
            x.z = one<true>(x.z, s.z, b.z, u.z), x.w = one<true>(x.w, s.w, b.w, u.w);
            y.x = one<true>(y.x, s.x, b.x, v.x), y.y = one<true>(y.y, s.y, b.y, v.y);
            y.z = one<true>(y.z, s.z, b.z, v.z), y.w = one<true>(y.w, s.w, b.w, v.w);
            if (m < p.m) store_4(p.c, c, TYPE, x);
            if (m + 8 < p.m) store_4(p.c, c + 8 * (int64_t)p.ldc, TYPE, y);
        });
    }

    INL void all(const float *stage) const
    {
        if (n >= p.n) return;
        if (p.c_whole && n + 4 <= p.n && p.act <= HOLO_CUDA_ACT_CLIP)
            quads<true, 4>(stage);
        else if (p.c_whole && n + 4 <= p.n)
            quads<false, 2>(stage);
        else
            elements(stage);
    }

    template <bool LIMITS, int AT_ONCE> INL void quads(const float *stage) const
    {
        float4 s = make_float4(p.alpha, p.alpha, p.alpha, p.alpha), b = make_float4(0, 0, 0, 0);
        if (scale) s = *(const float4 *)(scale + n), s.x *= p.alpha, s.y *= p.alpha, s.z *= p.alpha, s.w *= p.alpha;
        if (bias) b = *(const float4 *)(bias + n);
#pragma unroll 1
        for (int i = from; i < COUNT; i += by * AT_ONCE) {
            float4 more[AT_ONCE] = {};
            if (p.more_how) {
#pragma unroll
                for (int j = 0; j < AT_ONCE; j++) {
                    int m = min(m0 + first + (i + j * by) * DOWN, p.m - 1);
                    more[j] = load_4(p.more, more_at + (int64_t)m * p.ldmore + n, p.more_type);
                }
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                int row = first + (i + j * by) * DOWN;
                if (row >= BM || m0 + row >= p.m) break;
                float4 x = *(const float4 *)(stage + row * (BN + SKEW) + n % BN);
                x.x = one<LIMITS>(x.x, s.x, b.x, more[j].x), x.y = one<LIMITS>(x.y, s.y, b.y, more[j].y);
                x.z = one<LIMITS>(x.z, s.z, b.z, more[j].z), x.w = one<LIMITS>(x.w, s.w, b.w, more[j].w);
                store_4(p.c, c_at + (int64_t)(m0 + row) * p.ldc + n, p.c_type, x);
            }
        }
    }

    // Results that do not lie on 16 bytes, or are bytes; the last columns.
    INL void elements(const float *stage) const
    {
#pragma unroll 1
        for (int i = 0; i < COUNT * 4; i++) {
            int row = first + (from + i / 4 * by) * DOWN, m = m0 + row, at = n + i % 4;
            if (row >= BM || m >= p.m || at >= p.n) continue;
            float more = p.more_how ? load_any(p.more, more_at + (int64_t)m * p.ldmore + at, p.more_type) : 0;
            float x    = one<false>(stage[row * (BN + SKEW) + at % BN], p.alpha * (scale ? scale[at] : 1), bias ? bias[at] : 0, more);
            if (p.c_type >= HOLO_CUDA_S8) x = x * p.c_scale + p.c_zero;
            store_any(p.c, c_at + (int64_t)m * p.ldc + at, p.c_type, x);
        }
    }
};

// The parts of a split sum meet in the workspace. The last block to arrive adds them up in their order, not in the order of
// arrival: the same bits in every run. Returns whether this block is the last; then `stage` has the whole sum.
template <int BM, int BN, int THREADS> INL bool add_parts(const HoloCudaProduct &p, float *stage, int tile)
{
    enum { QUADS = BM * BN / 4 };
    float4 *part = (float4 *)p.partial + (int64_t)tile * p.splits * QUADS;
    for (int i = threadIdx.x; i < QUADS; i += THREADS)
        part[(int64_t)blockIdx.y * QUADS + i] = *(float4 *)(stage + i / (BN / 4) * (BN + SKEW) + i % (BN / 4) * 4);
    __threadfence();
    int last = __syncthreads_or(threadIdx.x == 0 && atomicAdd(&p.counters[tile], 1) == (uint32_t)p.splits - 1);
    if (!last) return false;
    __threadfence();
    if (threadIdx.x == 0) p.counters[tile] = 0;
    for (int i = threadIdx.x; i < QUADS; i += THREADS) {
        float4 x = __ldcg(part + i);
#pragma unroll 4
        for (int s = 1; s < p.splits; s++) {
            float4 y = __ldcg(part + (int64_t)s * QUADS + i);
            x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
        }
        *(float4 *)(stage + i / (BN / 4) * (BN + SKEW) + i % (BN / 4) * 4) = x;
    }
    __syncthreads();
    return true;
}

// On sm_90 the blocks of a split sum are a cluster: each finishes some rows, reading everybody's sums where they lie.
struct Cluster {
    static INL void sync()
    {
#if __CUDA_ARCH__ >= 900
        asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
    }
    // The sum of what all `count` blocks have at this address, in the order of blocks.
    static INL float4 sum(const float *local, int count)
    {
        float4 all = make_float4(0, 0, 0, 0);
#if __CUDA_ARCH__ >= 900
        uint32_t at = shared_address(local);
#pragma unroll 4
        for (int block = 0; block < count; block++) {
            uint32_t there;
            float4   x;
            asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(block));
            asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
                         : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                         : "r"(there)
                         : "memory");
            all.x += x.x, all.y += x.y, all.z += x.z, all.w += x.w;
        }
#endif
        return all;
    }
};

// Leaves in `stage` the whole sums of the rows that this block finishes: every `splits`-th group of DOWN rows.
template <int BM, int BN, int THREADS> INL void add_cluster(const HoloCudaProduct &p, float *stage)
{
    enum { ACROSS = BN / 4, DOWN = THREADS / ACROSS, COUNT = BM / DOWN };
    Cluster::sync();
    int at = threadIdx.x / ACROSS * (BN + SKEW) + threadIdx.x % ACROSS * 4;
    for (int i = blockIdx.y; i < COUNT; i += p.splits) {
        float4 x = Cluster::sum(stage + at + i * DOWN * (BN + SKEW), p.splits);
        // nobody else reads these rows here: others finish other groups
        *(float4 *)(stage + at + i * DOWN * (BN + SKEW)) = x;
    }
}

// ---- the kernel

// Eight tiles of rows side by side before the next tile of columns: what they read of B stays in the cache.
INL void tile_of(int index, int tiles_m, int tiles_n, int &tm, int &tn)
{
    int band = index / (8 * tiles_n), rows = min(tiles_m - band * 8, 8), rest = index - band * 8 * tiles_n;
    tm = band * 8 + rest % rows;
    tn = rest / rows;
}

template <class E, class Math, int BM, int BN, int THREADS, int STAGES> INL void product(const HoloCudaProduct &p)
{
    using T = typename E::T;
    enum { OWN = E::TYPE, STAGE = (BM + BN) * LINE, AHEAD = STAGES - 1 - Math::LAG, BK = LINE / (int)sizeof(T) };
    extern __shared__ char memory[];
    char                  *base   = memory + (-shared_address(memory) & 1023);
    uint32_t               stages = shared_address(base);

    int tiles_n = (p.n + BN - 1) / BN, tm, tn;
    tile_of(blockIdx.x, (p.m + BM - 1) / BM, tiles_n, tm, tn);
    int     outer = p.inner == 1 ? blockIdx.z : blockIdx.z / p.inner, inner = blockIdx.z - outer * p.inner;
    int     k0 = blockIdx.y * p.k_split, k1 = min(p.k, k0 + p.k_split), count = (k1 - k0 + BK - 1) / BK;
    int64_t a_at = outer * p.a_batch[0] + inner * p.a_batch[1], b_at = outer * p.b_batch[0] + inner * p.b_batch[1];

    Loader<T, BM, BN, THREADS> load(p, (const T *)p.a + a_at, (const T *)p.b + b_at, tm * BM, tn * BN, k0, k1);
    Math                       math;
    let_others_start();
    if (!p.b_early) wait_for_others();
#pragma unroll
    for (int s = 0; s < AHEAD; s++) // no more than there is: shared memory may be that short
        if (s < count) load.copy_b(stages + s * STAGE + BM * LINE, load.k + s * BK);
    if (p.b_early) wait_for_others();
#pragma unroll
    for (int s = 0; s < AHEAD; s++) {
        if (s < count) load.copy_a(stages + s * STAGE);
        copy_commit();
    }
    for (int i = 0, now = 0, next = AHEAD; i < count; i++) {
        copy_wait<AHEAD - 1>();
        // What plain stores wrote has to be shown to the tensor cores. Copies need no fence, and it would wait for all that are
        // still on their way.
        if (Math::LAG && sizeof(T) < 4 && !p.a_whole) proxy_fence();
        __syncthreads();
        uint32_t to = stages + next * STAGE, from = stages + now * STAGE;
        if constexpr (Math::LAG) math.multiply(from, from + BM * LINE);
        if (i + AHEAD < count) {
            load.copy_b(to + BM * LINE, load.k);
            load.copy_a(to);
        }
        copy_commit();
        if constexpr (Math::LAG)
            math.wait_previous();
        else
            math.multiply(from, from + BM * LINE);
        if (++now == STAGES) now = 0;
        if (++next == STAGES) next = 0;
    }
    math.finish();
    copy_wait<0>();

    int64_t bias_at = outer * p.bias_batch[0] + inner * p.bias_batch[1];
    int64_t c_at = outer * p.c_batch[0] + inner * p.c_batch[1], more_at = outer * p.more_batch[0] + inner * p.more_batch[1];
    End<BM, BN, THREADS> end{p, p.bias ? p.bias + bias_at : 0, p.scale ? p.scale + bias_at : 0, c_at, more_at, tm * BM,
                             tn * BN + (int)threadIdx.x % (BN / 4) * 4, (int)threadIdx.x / (BN / 4),
                             p.cluster ? (int)blockIdx.y : 0, p.cluster ? p.splits : 1};
    if constexpr (Math::DIRECT)
        if (p.splits == 1 && end.template is_direct<OWN>()) {
            end.template direct<OWN>(math);
            return;
        }
    __syncthreads();
    float *stage = (float *)base;
    math.put(stage);
    __syncthreads();
    if (p.cluster)
        add_cluster<BM, BN, THREADS>(p, stage);
    else if (p.splits > 1 && !add_parts<BM, BN, THREADS>(p, stage, blockIdx.z * gridDim.x + blockIdx.x))
        return;
    end.all(stage);
    if (p.cluster) Cluster::sync(); // others may still read this block's sums
}

#if HAS_WGMMA
template <class E, int BM, int BN, int THREADS> using Tensor = Group<E, BM, BN, THREADS>;
#else
template <class E, int BM, int BN, int THREADS> using Tensor = Sync<E, BM, BN, THREADS>;
#endif

// The tiles, and how many blocks of one a multiprocessor holds. cuda_pick.c has the same table.
#define PRODUCT(name, Math, E, BM, BN, THREADS, STAGES, BLOCKS)                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) name(const __grid_constant__ HoloCudaProduct p)      \
    {                                                                                                                  \
        product<E, Math<E, BM, BN, THREADS>, BM, BN, THREADS, STAGES>(p);                                           \
    }

#define TENSOR_PRODUCTS(name, E)                                                                                       \
    PRODUCT(product_##name##_128x256, Tensor, E, 128, 256, 256, 4, 1)                                                  \
    PRODUCT(product_##name##_128x128, Tensor, E, 128, 128, 256, 3, 2)                                                  \
    PRODUCT(product_##name##_128x64, Tensor, E, 128, 64, 256, 4, 2)                                                    \
    PRODUCT(product_##name##_64x64, Tensor, E, 64, 64, 128, 6, 2)

#endif
