// product_load.cuh - where rows of A and B come from, and how tiles of them get into shared memory.
#ifndef HOLO_DEVICES_CUDA_CODE_PRODUCT_LOAD_CUH
#define HOLO_DEVICES_CUDA_CODE_PRODUCT_LOAD_CUH

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
    return Image{
        p.height,     p.width,     p.channels, p.kernel_w, p.dilation_w * p.lda, p.dilation_h * p.width * p.lda,
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
    int      y, x, channel;
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
        if (p.height)
            tap.seek(im, k);
        else
            tap = Tap{0, 0, k};
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
        for (int i = 0; i < BN_ROWS; i++)
            copy_16(to + place + i * STEP * LINE, from + b_rows[i], i < b_count ? bytes : 0);
    }

    INL void copy_a(uint32_t to)
    {
        int bytes = min(max((k_end - k) * (int)sizeof(T), 0), (int)PIECE);
        if (!p.a_whole) {
            copy_elements(to);
        } else if (!p.height) {
            const T *from = a + k;
#pragma unroll
            for (int i = 0; i < AN; i++)
                copy_16(to + place + i * STEP * LINE, from + rows[i].offset, i < a_count ? bytes : 0);
        } else {
            int      dy = tap.y * im.dilation_h, dx = tap.x * im.dilation_w;
            const T *from = a + tap.offset(im);
#pragma unroll
            for (int i = 0; i < AN; i++) {
                bool inside = (unsigned)(rows[i].line + dy) < (unsigned)im.height &&
                              (unsigned)(rows[i].column + dx) < (unsigned)im.width;
                copy_16(to + place + i * STEP * LINE, from + rows[i].offset, inside && i < a_count ? bytes : 0);
            }
        }
        if (!p.height)
            tap.channel += LINE / (int)sizeof(T);
        else
            tap.skip(im, LINE / (int)sizeof(T));
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

#endif
