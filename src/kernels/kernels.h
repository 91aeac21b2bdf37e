// kernels.h - the fast arithmetic: one table of functions for each CPU level and numeric class.
//
// Every kernel is written once against vec.h and compiled once for each level. The functions use no libc, no globals,
// and no memory but their arguments, and know nothing about tensors or threads: the caller cuts the work. The cut never
// changes a result: at any level of one numeric class, each element is computed by the same sequence of operations.
#ifndef HOLO_KERNELS_H
#define HOLO_KERNELS_H

#include "format/params.h"
#include "kernels/kernels_blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOLO_PANEL = 16 }; // columns of a packed panel, on every CPU

// ---- the geometry of a convolution or pooling. There are three spatial dimensions: depth, height, width. Those that
// it does not have come first, with sizes and strides of 1 and no padding.
typedef struct HoloConvShape {
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
} HoloConvShape;

// What the pixels of a convolution see of images [image][depth][height][width][channel]. Row r belongs to output pixel
// `first` + r, counted over all images; it has the places of the filter in order, each with its channels. What is
// outside an image is 0.
typedef struct HoloPatchRows {
    const HoloConvShape *shape;
    int64_t              channels; // of a place
    int64_t              pixel;    // floats from one pixel to the next: `channels`, or more if there are groups
    int64_t              first;
} HoloPatchRows;

// What happens to sums on their way to memory: `more` is added; then x becomes x * sigmoid(slope * x), or is limited to
// `low` and `high`.
typedef struct HoloFinish {
    const float *more; // NULL: none; else it is laid out like the output, and begins with the output's first element
    bool         has_slope, has_low, has_high;
    float        slope;     // within 4 ulp; sigmoids below 2^-126 are 0
    float        low, high; // a < low ? low : a, and so on: NaN stays
} HoloFinish;

// ---- gemm_f32: C = alpha * A B + beta * D. Each element is a sum over k in order, of blocks of HOLO_GEMM_K that are
// each summed from 0.
//
// B is read 16 columns at a time: packed as panels [ceil(n / 16)][k][16], the last one padded with zeros; or unpacked
// in rows, if n is a multiple of 16. If a sum is too long for the caller's memory, several calls compute it over parts
// of k, which are whole blocks except the last: all calls but the first have `resume`, all but the last have `pause`.
// The bits are those of one call.
typedef struct HoloGemm {
    int64_t              m, n, k;
    const float         *a;
    int64_t              a_row, a_column; // distances in floats
    const HoloPatchRows *patch;           // NULL: none; else A is rows of it, and `a` are the images
    int64_t              lines, line; // more than 1: each row of A is so many runs of k / lines floats, `line` apart;
                                      // then k is at most HOLO_GEMM_K, a_column 1, B f32, and A is read where it lies
    const void  *b;                   // of f32
    uint32_t     b_type;              // or of this type, where packed: HOLO_WEIGHTS_*
    const float *b_book;              // where these are codes: the 16 numbers
    int64_t      b_panel, b_step;     // numbers from one panel, and from one k, to the next: 16 * k and 16 if packed
    const void  *b_next;              // NULL: none; B of the caller's next product, to read ahead
    float       *c;                   // overlaps nothing else
    int64_t      c_row;
    int64_t      part,
        c_part;          // part 0: none. Else rows of C come in parts of so many, `c_part` floats from one to the next;
                         // m is a multiple of it, up to HOLO_GEMM_ROWS, D one row, `more` as C; over 6 of a narrow B
    const float      *d; // NULL: no D, and beta is ignored
    int64_t           d_row, d_column; // d_column is 0 or 1
    float             alpha, beta;
    const HoloFinish *finish;  // NULL: none; applied to the result of the formula
    bool              resume;  // sums are added to what C holds
    bool              is_far;  // B is larger than a cache: one row reads it otherwise, to the same bits
    bool              pause;   // C gets bare sums: alpha, D and finish come later
    float            *scratch; // HOLO_GEMM_SCRATCH floats, 64-byte aligned
} HoloGemm;

enum {
    HOLO_GEMM_ROWS    = 144, // rows and k of A that are held at a time: larger ones are cut
    HOLO_GEMM_K       = 256,
    HOLO_GEMM_SCRATCH = HOLO_GEMM_ROWS * (HOLO_GEMM_K + 16) + 2 * HOLO_GEMM_K * HOLO_PANEL,
};

// ---- gemm_bits_f32: C = A B plus a bias for each column, with weights B[k][n] = (number + offset) * scale in blocks
// of k.
//
// Numbers are signed, in panels of 16 columns: with 8 bits [ceil(n / 16)][k][16]; with 4 bits [ceil(n / 16)][ceil(k /
// 8)][16], eight of a column in 32 bits, the first in the lowest. Blocks have an offset and a scale for each column:
// panels [ceil(n / 16)][blocks][16]. Each element is a sum of blocks in order. A block is (the sum of A times number,
// from 0, plus the sum of A times the offset) times the scale. unpack_bits_f32 gives rows first <= p < first + count of
// a panel of B in f32.
typedef struct HoloGemmBits {
    int64_t      m, n, k; // m is from 1 to HOLO_BITS_ROWS
    const float *a;
    int64_t      a_row;
    int          bits; // 4 or 8
    const void  *b;
    int64_t      block;            // a multiple of 8
    const float *scales, *offsets; // offsets NULL: 0
    const float *bias;             // NULL: 0
    float       *c;
    int64_t      c_row;
} HoloGemmBits;

enum { HOLO_BITS_ROWS = 6 };

// ---- gemm_bits_i8: the same for any number of rows, where A in each block is 8-bit numbers times a step.
//
// rows_bits_i8 makes such a row from f32: the largest magnitude of a block is 127 steps, and numbers are rounded to
// nearest, ties to even. They are 0 if the largest is not finite, or so small that 127 times its reciprocal is not. A
// row has the level's own form and takes HOLO_BITS_ROW bytes, 8-byte aligned. Numbers of B are unsigned, in panels of
// 16 columns: with 8 bits in quads [ceil(n / 16)][ceil(k / 8)][2][16][4]; with 4 bits [ceil(n / 16)][ceil(k /
// 8)][16][4], with the first quad in the low halves of the bytes. Each element is a sum of blocks in order. A block is
// (the exact sum of products plus the sum of A times the offset) times the product of step and scale.
typedef struct HoloGemmBitsI8 {
    int64_t        m, n, k;
    const void    *a;
    int64_t        a_row; // bytes
    int            bits;  // 4 or 8
    const uint8_t *b;
    int64_t        block;            // a multiple of 16, at most 256
    const float   *scales, *offsets; // as there; offsets NULL: all are `offset`
    float          offset;
    const float   *bias; // NULL: 0
    float         *c;
    int64_t        c_row;
} HoloGemmBitsI8;

#define HOLO_BITS_ROW(blocks, block) ((blocks) * (8 + 2 * (block)) + 64)

// dots_f32: out[i][j] = the sum over k of a[i][k] * b[j][k], for few rows of B; out has no gaps
typedef struct HoloDots {
    int64_t      m, n, k; // n is at most HOLO_DOTS_ROWS
    const float *a, *b;
    int64_t      a_row, b_row; // floats from one row to the next
    float       *out;
} HoloDots;

enum { HOLO_DOTS_ROWS = 8 };

// ---- pack_f32: packs B[k][n], whose elements are `row` and `column` floats apart, into panels

// ---- gemm_i8: C = A B of 8-bit integers, exact modulo 2^32, plus terms for rows and columns:
// C[i][j] = column[j] + zero[j] * row[i] + sum over k of A[i][k] * B[k][j]
//
// rows_i8 lays out A as signed bytes: unsigned ones minus 128. A row has the level's own form and takes HOLO_I8_ROW(k)
// bytes. It also gives the sums of the rows. pack_i8 packs B as unsigned bytes: signed ones plus 128. Panels [ceil(n /
// 16)] have quads [ceil(k / 4)][16][4], padded with 0, followed by the sums of the panel's columns [16] as 32-bit
// integers. The form of B is the same on every level.
//
// gemm_raw_i8: the same with unsigned A in place, and B taken as signed: C[i][j] = column[j] + sum over k of A[i][k] *
// (B[k][j] - 128). Behind k, up to a whole quad, rows of A have 0. False: this level does not have it, and nothing is
// done; call it with 0 rows to ask.
typedef struct HoloGemmI8 {
    int64_t        m, n, quads; // of k
    const void    *a;
    int64_t        a_row; // bytes
    const uint8_t *b;
    int64_t        b_panel; // bytes from one panel to the next
    const int32_t *row;
    const int32_t *zero, *column; // as many as panels have columns; zero NULL: all are `one_zero`
    int32_t        one_zero;
    int32_t       *c;
    int64_t        c_row;
    bool           resume; // what C holds is added, too

    // If ratio is not NULL, there is no C: bytes[i][j] is rint(C[i][j] * ratio[j]) + y_zero in float, limited to the
    // type.
    const float *ratio; // as many as panels have columns
    uint8_t     *bytes;
    int64_t      bytes_row;
    int          y_zero;
    bool         is_signed; // the bytes

    // For gemm_raw_i8 only. If `lines` is more than 1, a row of A is so many runs of equal length, in whole quads,
    // `line` bytes apart. Rows come in parts of `part`, `a_part` bytes apart.
    int64_t lines, line, part, a_part;
} HoloGemmI8;

// Rows must not share cache lines.
#define HOLO_I8_ROW(k)   (((k) + 3) / 4 * 8 + 64)
#define HOLO_I8_PANEL(k) (((k) + 3) / 4 * 64 + 64)

// patch_i8: what output pixels first <= p < end of a convolution see, as panels of gemm_i8 with 16 pixels. k are
// channels and places of the filter, in the order of a filter [channel][depth][height][width].
typedef struct HoloPatchI8 {
    const HoloConvShape *shape; // with at most HOLO_CONV_I8_PLACES places of the kernel
    const uint8_t       *image; // [channel][depth][height][width]
    int64_t              channels;
    bool                 is_signed;
    uint8_t              zero; // what is outside the image
    int64_t              first, end;
} HoloPatchI8;

// pixels_u8: what `count` pixels of a row see of an image with channels last, each as a row of bytes: `pieces` of
// `size` bytes of each line, followed by 3 zeros. Up to HOLO_PIXELS_MORE bytes are read behind a piece and written
// behind a row; rows are written in order.
typedef struct HoloPixels {
    int64_t               count, lines, pieces, size;
    const uint8_t *const *line;         // where the first pixel sees it
    int64_t               pixel, piece; // bytes from one to the next, in a line
    uint8_t              *out;
    int64_t               out_row;
} HoloPixels;

enum { HOLO_PIXELS_MORE = 64 };

// ---- finish_i8: turns sums of products into numbers. The real result is (sum + c) * scale + bias in float, with each
// operation rounded. The integer result is rint((sum + c) * (scale / y_scale)) + y_zero in float, limited to the type
// (holo_requantize).
typedef struct HoloFinishI8 {
    int64_t        n;
    const int32_t *sums;
    const int32_t *c; // NULL: 0
    const double  *scale;
    bool           c_is_one, scale_is_one; // one number for all
    const float   *bias;                   // NULL: 0
    double         y_scale, y_zero;
    int            to; // HOLO_FINISH_*
    void          *out;
} HoloFinishI8;

enum { HOLO_FINISH_F32, HOLO_FINISH_U8, HOLO_FINISH_I8 };

// ---- requantize_i32: rint(sum * ratio) + zero in float, limited to the type; each column has its ratio
typedef struct HoloRequantize {
    int64_t        rows, n;
    const int32_t *sums; // rows have as many as panels have columns
    int64_t        sums_row;
    const float   *ratio; // as many
    int            zero;
    bool           is_signed;
    uint8_t       *out;
    int64_t        out_row;
} HoloRequantize;

// ---- scale_i32: sum * scale + bias in float, each operation rounded; each column has its own
typedef struct HoloScaleI32 {
    int64_t        rows, n;
    const int32_t *sums; // rows, scale and bias have as many as panels have columns
    int64_t        sums_row;
    const float   *scale, *bias; // bias NULL: nothing is added
    float         *out;
    int64_t        out_row;
} HoloScaleI32;

// ---- depthwise_i8: QLinearConv with a filter for each channel, channels last; some rows of one image, 16 channels
// from `channel` on
typedef struct HoloDepthwiseI8 {
    const HoloConvShape *shape; // its depth is 1
    int64_t              channels;
    const uint8_t       *image;
    bool                 is_signed, w_signed, y_signed;
    int                  zero, y_zero;
    const float         *filter;        // panels [ceil(channels / 16)][places][16] of whole numbers of 8 bits
    const int32_t       *w_zero, *bias; // of the 16
    const float         *ratio;         // of the 16; see requantize_i32
    uint8_t             *out;
    void                *scratch; // holo_depthwise_i8_scratch bytes, aligned to 64
} HoloDepthwiseI8;

enum { HOLO_DEPTHWISE_I8_RUN = 64 }; // pixels at a time

// Columns that a run of pixels sees.
static inline int64_t holo_depthwise_i8_columns(const HoloConvShape *s)
{
    int64_t run = s->out[2] < HOLO_DEPTHWISE_I8_RUN ? s->out[2] : HOLO_DEPTHWISE_I8_RUN;
    return (run - 1) * s->stride[2] + (s->kernel[2] - 1) * s->dilation[2] + 1;
}

// -1: too many.
static inline int64_t holo_depthwise_i8_scratch(const HoloConvShape *s)
{
    int64_t size, columns = holo_depthwise_i8_columns(s), more = s->kernel[2] + 1;
    bool    over = __builtin_add_overflow(columns, more, &size);
    over |= __builtin_mul_overflow(size, (s->kernel[1] + 1) / 2, &size);
    over |= __builtin_mul_overflow(size, HOLO_PANEL * 4, &size);
    return over ? -1 : size;
}

// ---- pair_i8: QLinearAdd and QLinearMul: a * a_term + (b * b_term + shift), each fused, or (a - a_term) * (b -
// b_term) * ratio + shift; rounded and limited to the type
typedef struct HoloPairI8 {
    int64_t        n;
    const uint8_t *a, *b;
    bool           a_is_one, b_is_one; // one number for every i
    bool           is_signed, multiply;
    float          a_term, b_term, ratio, shift;
    uint8_t       *out;
} HoloPairI8;

// ---- pool_i8: for some channels of a pixel, the largest of what a window sees; or the mean: the sum of (x - zero) *
// scale, each rounded, then rint(sum / count / y_scale + y_zero), limited to the type; or, if is_whole, with scale 1
// and sums below 2^24, rint(sum * ratio) + y_zero
typedef struct HoloPoolI8 {
    int64_t               n, taps;
    const uint8_t *const *from; // the channels at each place; not `out`
    bool                  is_max, is_whole, is_signed;
    int                   zero, y_zero;
    float                 scale, y_scale, count, ratio;
    uint8_t              *out;
} HoloPoolI8;

// quantize_f32 and dequantize_i8: QuantizeLinear and DequantizeLinear with one scale; zero is within the type.
// range_f32: *low and *high become the smallest and the largest of themselves and x; NaN is ignored.
// float_i32: integers as floats, rounded to nearest.
// widen_f16, widen_bf16, narrow_f16, narrow_bf16: from and to f32; narrow ones are rounded to nearest, ties to even.

// ---- convolution with channels before the spatial dimensions

// patch_f32: what output pixels first <= p < end see, as panels of 16 pixels [k][16]. Row k is one channel and place of
// the filter, in the order of a filter [channel][depth][height][width]. Pixels outside the image, and those past `end`,
// are 0.
typedef struct HoloPatch {
    const HoloConvShape *shape;
    const float         *image; // [channel][depth][height][width]
    int64_t              first, end;
    int64_t              k_first, k_end;
} HoloPatch;

// depthwise_f32: one channel with one filter; output rows first <= r < end of depth z, at most `rows`.
//
// Phases are [filter depth][stride height][stride width][lines][columns]. In phase y, x, line l and column c are the
// pixel at l * stride + y, c * stride + x of what the rows see, including padding.
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

// ---- convolution with channels last

// depthwise_nhwc_f32: a filter for each channel; rows row <= y < row_end of the outputs, counted over all images, for
// channels channel <= c < channel_end, from a multiple of 16 on. grouped_nhwc_f32: the same for groups of `width`
// channels, 2, 4, 8 or 16, and as many filters.
typedef struct HoloDepthwiseNhwc {
    const HoloConvShape *shape;
    int64_t              channels;
    const float         *image; // [image][depth][height][width][channel]
    const float *filter; // panels [ceil(channels / 16)][place][16], of groups [ceil(channels / 16)][place][width][16]
    const float *bias;   // NULL: none
    const HoloFinish *finish; // NULL: none
    float            *out;    // as the image
} HoloDepthwiseNhwc;

// direct_nhwc_f32 and few_nhwc_f32: one group, whose places in a row are neighbors; rows row <= y < row_end of the
// outputs, counted over all images. The first is for few channels, the second for few filters.
typedef struct HoloRunsNhwc {
    const HoloConvShape *shape; // the width is not dilated, or has one place
    int64_t              channels, filters;
    const float         *image;  // [image][depth][height][width][channel]
    const float         *filter; // direct: panels [ceil(filters / 16)][place][channel][16]; few:
                                 // [filter][depth][height][width and channel, up to a multiple of 16]
    const float *bias;           // NULL: none
    float       *out;
} HoloRunsNhwc;

// spread_f32: what each filter sees of a few channels, as if it were a channel of its own: element c * plane + p *
// width + o of `out` is channel c of pixel p in the group of filter first + o. x is at the first channel of the group
// of filter `first`.
typedef struct HoloSpread {
    int64_t channels, filters; // of a group
    int64_t first, width;      // filters
    int64_t pixels, pixel;     // and floats from one to the next in x
    int64_t plane;
} HoloSpread;

// 3x3 filters by tiles of 4x4 or 2x2 pixels: a tile of the output is computed from products of 36 or 16 numbers for
// each filter and channel. winograd_in_f32 computes the numbers of the images for tiles first <= t < end;
// winograd_out_f32 computes pixels from the sums over channels. Tiles are counted [image][row][column].
// winograd_weights_f32 computes the 36 numbers of a packed panel of filters [9][channel][16], of f32 or of `type`
// (HOLO_WEIGHTS_*): rows [channel][16], with those of the 36 `place` floats apart.
typedef struct HoloWinograd {
    const HoloConvShape *shape;
    int64_t              tile;       // pixels of a side: HOLO_WINOGRAD_TILE or HOLO_WINOGRAD_SMALL
    float               *tiles;      // [36 or 16][tile][channel], tile `first` at 0
    int64_t              place, row; // floats from one of the places, and from one tile, to the next
    int64_t              pixel;      // and from one pixel of the images or the outputs
    int64_t              channels;   // or filters; rows of tiles have room for a multiple of 16
} HoloWinograd;

enum { HOLO_WINOGRAD_TILE = 4, HOLO_WINOGRAD_SMALL = 2 };

// Filters with several places in a row, by tiles of four pixels of a row, for one depth and strides of 1 along the row:
// a tile is computed from products of 6 numbers for each filter, channel, row of the filter, and group of three places
// of that row. line_in_f32 computes the numbers of one group: for `count` tiles and all rows that the output sees; the
// first pixel of the first tile sees column x first. line_out_f32 computes pixels from the 6 sums, from column x on of
// an image that begins at out[at]; finish->more is laid out like `out`. The pixels of a tile, and the columns that one
// sees, are a dilation apart. line_weights_f32 computes the numbers of a packed panel of filters
// [line][place][channel][16], of f32 or of `type` (HOLO_WEIGHTS_*): [group][6] times rows [line][channel][16], `place`
// floats apart.
typedef struct HoloLineTiles {
    const HoloConvShape *shape;
    float               *tiles;            // [6][tile][row][channel]
    int64_t              place, tile, row; // floats from one of the 6, from one tile, and from one row to the next
    int64_t              rows;             // of a tile
    int64_t              pixel;            // floats from one pixel of the images or the outputs to the next
    int64_t              channels;         // or filters
} HoloLineTiles;

enum { HOLO_LINE_GROUP = 3, HOLO_LINE_PLACES = 6 };

// pool_f32: the largest element under the window, or the mean; output rows first <= r < end.
typedef struct HoloPooling {
    const HoloConvShape *shape;
    const float         *image;    // [depth][height][width][channel]
    int64_t              channels; // beside each other
    bool                 is_max;
    int64_t              divisor; // of a mean; 0: as many as are inside the image
    float               *out;
    float               *scratch; // HOLO_POOL_SCRATCH floats
} HoloPooling;

enum { HOLO_POOL_SCRATCH = 1 << 13 };

// ---- rows of channels. reduce_columns_f32 reduces each column of rows that are `row` floats apart to one number;
// moments_f32 gives the sum of each column and of its squares; affine_f32 multiplies each column by its factor and adds
// its addend.

// ---- places in an image. For n places of `at`, pairs x and y whose borders are -1 and 1, grid_taps_f32 finds the four
// pixels around each and their weights; grid_sums_f32 gives the weighted sums of one channel. A pixel outside is -1 and
// counts as 0. Entries up to the next multiple of 16 are written, too.
enum { HOLO_GRID_ZEROS, HOLO_GRID_BORDER, HOLO_GRID_REFLECTION };
typedef struct HoloGrid {
    int64_t  height, width; // not 0; their product is an int32_t
    int      padding;       // HOLO_GRID_*
    bool     align;         // the borders are in the middle of pixels, not at their edge
    int64_t  line;          // n at most, a multiple of 16
    int32_t *index;         // [4][line]
    float   *weight;        // the same
} HoloGrid;

// ---- rows. reduce_f32 reduces each row to one number; op is HOLO_REDUCE_*, see format/params.h.

// norm_f32: out = (x - mean) / sqrt(variance + epsilon) * scale + bias for rows first <= r < end
typedef struct HoloNorm {
    int64_t      n;                // of a row
    const float *x, *scale, *bias; // bias NULL: none
    int64_t      run;              // neighboring elements with the same scale and bias; it divides n
    int64_t      groups;           // rows after which scales and biases repeat
    float        epsilon;
    bool         centered; // else the mean is taken to be 0
    float       *out;      // may be x
} HoloNorm;

// ---- transpose_f32: out[c * out_row + r] = x[r * x_row + c] for r < rows, c < columns

// ---- mix_f32: out[j] = the sum over t < taps of weight[t] * x[index[t] * stride + j], for j < n

// pick_f32: out[o] = the sum over t < taps of weight[t * line + o] * x[index[t * line + o]], for o < n. Indices grow
// with o and with t. Tables have entries up to a multiple of 16; the last ones have any index that is not below the
// others.
typedef struct HoloPick {
    int64_t        n, in, taps, line; // in: elements of x
    const int32_t *index;
    const float   *weight;
} HoloPick;

// blend_f32: out[i] = w0 v0 a + w1 v0 b + w0 v1 c + w1 v1 d, multiplied and added from the left, with each operation
// rounded.
// a and b are from one row, c and d from another. With `across`, they are what a HoloPick of two taps takes, with its
// weights w; else a and b are elements i of the rows `first` and `second`, and w0 and w1 are the same for all.
typedef struct HoloBlend {
    const HoloPick *across; // NULL: the rest of these
    int64_t         n, first, second;
    float           w0, w1;
    const float    *x[2]; // the rows
    float           v0, v1;
    float          *out;
} HoloBlend;

// ---- map_f32: out[i] = op(a[i], b[i]) for 0 <= i < n, op as in format/map_ops.def
typedef struct HoloMap {
    uint32_t     op;
    int64_t      n;
    const float *a, *b;              // at least one number each, even where op looks at a alone
    bool         a_is_one, b_is_one; // one number for every i
    float       *out;                // may be a or b
} HoloMap;

// ---- attention_f32: out = softmax(scale * Q K^T + mask) V for some rows of queries of one head
//
// Row r is at position place + r * place_step among the keys. It sees keys that are at most `before` before and `after`
// after that position. A row that sees none gives 0.
typedef enum HoloVectors { // what keys or values are
    HOLO_VECTORS_F32,
    HOLO_VECTORS_F16,
    HOLO_VECTORS_I8, // bytes, and behind those of a vector an f32 that they are multiplied with
} HoloVectors;

typedef struct HoloAttend {
    int64_t      rows, keys; // at least one row, at most HOLO_ATTENTION_ROWS
    int64_t      size, v_size;
    const float *q;
    const void  *k, *v;
    HoloVectors  k_are, v_are;
    int64_t      q_row, k_row, v_row; // elements from one vector to the next
    float       *out;
    int64_t      out_row;
    float        scale, softcap; // softcap 0: none
    const void  *mask;           // NULL: none. Numbers to add, or bytes: 0 hides a key
    bool         mask_is_bool;
    bool         masked_nan;         // a row where the mask hides all is NaN, not 0
    int64_t      mask_row, mask_key; // mask_key is 0 or 1
    int64_t      mask_keys;          // those from here on are hidden
    int64_t      place, place_step;  // place_step is 0 or 1
    int64_t      before, after;
    const float *sink;     // a score that takes its share of a row's weights; NULL: none
    int64_t      sink_row; // floats from that of a row to the next
    float       *scratch;  // holo_attend_scratch floats, 64-byte aligned
} HoloAttend;

enum {
    HOLO_ATTENTION_ROWS = 4 * HOLO_GEMM_ROWS,
    HOLO_ATTENTION_KEYS = HOLO_GEMM_K, // that are looked at together
};

static inline int64_t holo_attend_scratch(int64_t size, int64_t v_size)
{
    int64_t width = (v_size + HOLO_PANEL - 1) / HOLO_PANEL * HOLO_PANEL;
    int64_t plain = size > width ? size : width;
    return 2 * HOLO_GEMM_SCRATCH + HOLO_ATTENTION_ROWS * (width + 2) + HOLO_ATTENTION_KEYS * (size + width + plain + 1);
}

// ---- softmax_f32: each row of x becomes e^x / sum(e^x); x and out may be the same
//
// softmax_columns_f32: the same, or its logarithm, along columns, whose rows begin every `row` floats, in x and in out.
// softmax_sums_f32: for each row the largest number t, and the sum of e^(x - t).
// shift_f32: x - a - b, rounded twice; x and out may be the same.

// ---- rotary_f32: rotates pairs of numbers of some vectors by the same angles
typedef struct HoloRotation {
    int64_t      count, step; // vectors, and floats from one to the next
    int64_t      half, rest;  // pairs of a vector, and numbers behind them, which are copied
    bool         interleaved; // pairs are neighbors; else they are `half` apart
    const float *x, *cos, *sin;
    float       *out; // not x
} HoloRotation;

// ---- lookup_u8: out[i] = table[x[i]], of 256 entries; x and out may be the same

// ---- recurrent layers, by groups of 16 units of the state

// pack_gates_f32: the columns of one group, transposed, for all gates: the first ones interleaved, [k][gate][16], the
// others behind them as panels [gate][k][16]. Missing units are 0.
// state_gates_f32: sums [group][gate][16] of one row of a state times some groups of 1 to 4 gates, all interleaved;
// here `w` is the result of pack_gates_f32.
typedef struct HoloGates {
    const float *w; // [gates * hidden][k]
    int          gates;
    int          mixed; // how many are; 1: all are panels
    int64_t      hidden, k;
    int64_t      groups, group; // state_gates_f32: how many, and floats from one to the next
} HoloGates;

// lstm_step_f32, gru_step_f32, rnn_step_f32: the new state of a group, for some rows of the batch. Gates are in the
// operator's order.
// gru_reset_f32, gru_fresh_f32: the two halves of a step of a GRU whose candidate is a product of the reset state. The
// first takes the gates update and reset and gives the reset state as y; the second takes only the candidate.
typedef struct HoloCellStep {
    int64_t      rows;
    int          lanes; // units that are there
    const float *in;    // [rows][gates][16]: what the inputs give, with biases that are not added later
    int64_t      in_row;
    const float *sums; // the same, of the state: without biases
    int64_t      sums_row;
    const float *bias;  // [gates][16]. GRU: of which the last is added to its sum; LSTM by ratios: what is added last
    float       *cells; // [rows][16]. LSTM: old ones become new ones; GRU in halves: update, from the one to the other
    int64_t      cells_row;
    const float *before; // GRU: the old state
    float       *y;      // the new state
    int64_t      row;    // floats from one row of a state to the next
} HoloCellStep;

typedef struct HoloKernelTable {
    const char *level; // "sse2", "avx2", "avx512", "avx512vnni", "avx512vbmi", "neon", "neondot"
    int         exact; // 1: mul and add, never fused
#define KERNEL(name, ret, args) ret(*name) args;
#include "kernels/kernels.def"
#undef KERNEL
} HoloKernelTable;

// The table for this machine and class. The environment variable
// HOLO_CPU=sse2|avx2|avx512|avx512vnni|avx512vbmi|neon|neondot chooses a lower level; it is read once.
const HoloKernelTable *holo_kernels(int exact);
// That of numeric class bf16: products of a B of bf16 round A to bf16, too, and sum in f32. On CPUs without products of
// bf16 it is the table of class fused.
const HoloKernelTable *holo_kernels_bf16(void);

// All tables that this machine can run, from the best that HOLO_CPU allows, for tests; NULL after the last.
const HoloKernelTable *holo_kernels_at(int index);

#endif
