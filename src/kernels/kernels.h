// kernels.h - the fast arithmetic: one table of functions for each CPU level and numeric class.
//
// Every kernel is written once against vec.h and compiled once per level. The functions use no
// libc, no globals, no memory but their arguments, and know nothing of tensors or threads: whoever
// calls them cuts the work. Where and how work is cut never changes a result: each element is
// computed by the same sequence of operations at any level of one numeric class.
#ifndef HOLO_KERNELS_H
#define HOLO_KERNELS_H

#include "format/params.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOLO_PANEL = 16 }; // columns of a packed panel, on every CPU

// ---- gemm_f32: C = alpha * A B + beta * D, each element a sum over k in order: of blocks of HOLO_GEMM_K,
// each summed from 0
//
// B is read 16 columns at a time: packed, as panels [ceil(n / 16)][k][16], the last one padded with
// zeros; or as it lies in rows, where n is a multiple of 16. A sum too long for the caller's memory is
// made by several calls over parts of k, whole blocks but for the last: all but the first with `resume`,
// all but the last with `pause`; the bits are those of one call.
typedef struct HoloGemm {
    int64_t      m, n, k;
    const float *a;
    int64_t      a_row, a_column; // distances in floats
    const float *b;
    int64_t      b_panel, b_step; // floats from one panel, and from one k, to the next: 16 * k and 16 where packed
    float       *c;               // overlaps nothing else
    int64_t      c_row;
    const float *d;               // NULL: no D, beta is not looked at
    int64_t      d_row, d_column; // d_column is 0 or 1
    float        alpha, beta;
    bool         resume;  // sums are added to what C holds
    bool         pause;   // C gets bare sums: alpha and D come later
    float       *scratch; // HOLO_GEMM_SCRATCH floats, 64-byte aligned
} HoloGemm;

enum {
    HOLO_GEMM_ROWS    = 144, // rows and k of A that are held at a time: more are cut
    HOLO_GEMM_K       = 256,
    HOLO_GEMM_SCRATCH = HOLO_GEMM_ROWS * (HOLO_GEMM_K + 16),
};

// ---- pack_f32: B[k][n], its elements `row` and `column` floats apart, into panels

// ---- gemm_i16: C = A B of 16-bit integers within -255 .. 255, sums modulo 2^32
//
// rows_i16 makes A of 8-bit integers less a zero point: rows of k, one 0 behind an odd k. pack_i16 makes
// B, less a zero point for each column: panels [ceil(n / 16)][ceil(k / 2)][16][2], padded with 0.
typedef struct HoloGemmI16 {
    int64_t        m, n, pairs; // of k
    const int16_t *a;
    int64_t        a_row; // even
    const int16_t *b;
    int32_t       *c;
    int64_t        c_row;
    bool           resume; // sums go on from what C holds
} HoloGemmI16;

// ---- convolution. Three spatial dimensions: depth, height, width; those that a convolution does not
// have come first, with sizes and strides of 1 and no padding.
typedef struct HoloConvShape {
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
} HoloConvShape;

// patch_f32: what output pixels first <= p < end see, as panels of 16 pixels [k][16]. Row k is one
// channel and place of the kernel, counted as in a filter [channel][depth][height][width]; pixels
// outside the image, and those past `end`, are 0.
typedef struct HoloPatch {
    const HoloConvShape *shape;
    const float         *image; // [channel][depth][height][width]
    int64_t              first, end;
    int64_t              k_first, k_end;
} HoloPatch;

// depthwise_f32: one channel against one filter; output rows first <= r < end of depth z, at most `rows`.
//
// Phases are [kernel depth][stride height][stride width][lines][columns]: in phase y, x line l and column
// c are the pixel at l * stride + y, c * stride + x of what the rows see, counted with padding.
typedef struct HoloDepthwise {
    const HoloConvShape *shape;
    const float         *image, *filter;
    float                bias;
    float               *out;
    int64_t              rows;
    int64_t              lines, columns; // rows and out[2], and as many more as the kernel reaches
    int64_t              taps;           // places of the kernel
    const int64_t       *offset;         // where in the phases each sees the first pixel
    float               *phases, *sums;  // memory: the phases, lines * columns; HOLO_DEPTHWISE_SLACK more each
} HoloDepthwise;

enum { HOLO_DEPTHWISE_SLACK = 128 };

// pool_f32: the largest element under the kernel, or the mean; output rows first <= r < end.
typedef struct HoloPool {
    const HoloConvShape *shape;
    const float         *image;
    bool                 is_max;
    int64_t              divisor; // of a mean; 0: as many as are inside the image
    float               *out;
} HoloPool;

// ---- rows. reduce_f32 makes one number of each row; op is HOLO_REDUCE_*, see format/params.h.

// norm_f32: out = (x - mean) / sqrt(variance + epsilon) * scale + bias for one row
typedef struct HoloNorm {
    int64_t      n;
    const float *x, *scale, *bias; // bias NULL: none
    int64_t      run;              // elements that share a scale and a bias: it divides n
    float        epsilon;
    bool         centred; // else the mean is taken to be 0
    float       *out;     // may be x
} HoloNorm;

// ---- transpose_f32: out[c * out_row + r] = x[r * x_row + c] for r < rows, c < columns

// ---- map_f32: out[i] = op(a[i], b[i]) for 0 <= i < n, op as in format/map_ops.def
typedef struct HoloMap {
    uint32_t     op;
    int64_t      n;
    const float *a, *b;              // at least one number each, even where op looks at a alone
    bool         a_is_one, b_is_one; // one number for every i
    float       *out;                // may be a or b
} HoloMap;

// ---- softmax_f32: each row of x becomes e^x / sum(e^x); x and out may be the same

typedef struct HoloKernels {
    const char *level; // "sse2", "avx2", "avx512", "neon"
    int         exact; // 1: mul and add, never fused
#define KERNEL(name, ret, args) ret(*name) args;
#include "kernels/kernels.def"
#undef KERNEL
} HoloKernels;

// The table for this machine and class. HOLO_CPU=sse2|avx2|avx512|neon in the environment masks the
// level down; it is read once.
const HoloKernels *holo_kernels(int exact);

// All tables that this machine can run, for tests: NULL after the last.
const HoloKernels *holo_kernels_at(int index);

#endif
