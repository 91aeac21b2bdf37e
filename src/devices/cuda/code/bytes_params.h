// bytes_params.h - what kernels of 8-bit integers are told: products, convolutions, and quantized tensors element by element. Plain
// C, for host and device.
#ifndef HOLO_DEVICES_CUDA_CODE_BYTES_PARAMS_H
#define HOLO_DEVICES_CUDA_CODE_BYTES_PARAMS_H

#include "basic_params.h"

// What becomes of x, the sum of (a - a_zero) * (b - b_zero), plus c: x itself; or x * (a_scale * b_scale) + bias; or
// rint(x * (a_scale * b_scale / y_scale)) + y_zero, limited to the type. Each operation is rounded to f32. What belongs to B is
// one number, or one for each column.
typedef struct HoloCudaScaled {
    const void    *a_zero, *b_zero;             // bytes; NULL: 0
    const void    *a_scale, *b_scale, *y_scale; // a_scale NULL: x is the result
    const void    *y_zero;                      // a byte; NULL: the result is no byte
    const int32_t *c;                           // NULL: 0
    const void    *bias;                        // NULL: none
    const int32_t *row_sums;                    // of A, [batch][m]; NULL: nothing is left of B's zero points
    int32_t        count;                       // numbers that a sum adds up, without padding
    int32_t        b_shift;                     // what B was packed less by: 128 if it is U8
    uint8_t        a_type, b_type, y_type;      // a and b: HOLO_CUDA_S8 or HOLO_CUDA_U8
    uint8_t        a_scale_type, b_scale_type, y_scale_type, bias_type;
    uint8_t        b_zeros, b_scales, cs; // 1: one for each column
    uint8_t        unused[6];
} HoloCudaScaled;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaScaled) == 96, "the layout that device code was compiled with");

// A product, or a convolution, of bytes. B is packed as signed bytes: n rows of ldb bytes, which are k numbers, zeros up to 16 bytes, and
// 16 bytes of which the first four are the sum of the row.
enum { HOLO_CUDA_BYTES_MORE = 16 };
typedef struct HoloCudaBytes {
    HoloCudaProduct p;
    HoloCudaScaled  s;
} HoloCudaBytes;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaBytes) == 352, "the layout that device code was compiled with");

// A product of floats of 8 bits: sums times a_scale times b_scale; then the end of p. B is packed as that of other bytes; the sum at the
// end of a row means nothing.
typedef struct HoloCudaFloat8 {
    HoloCudaProduct p;
    const void     *a_scale, *b_scale;
    uint8_t         a_scales, b_scales; // 1: one for each row of A, one for each column of B
    uint8_t         a_scale_type, b_scale_type, unused[4];
} HoloCudaFloat8;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaFloat8) == 280, "the layout that device code was compiled with");

// B [batch][k][n] in that form.
typedef struct HoloCudaBytePack {
    const void *from;
    void       *to;
    int64_t     from_batch[2], k_stride, n_stride;
    int32_t     inner, n, k, row; // row: bytes of a row of the result
    int32_t     shift, unused;    // what numbers become less by: 128 of U8
} HoloCudaBytePack;

// Sums of the rows of A, a matrix or patches of an image: to[batch][m].
typedef struct HoloCudaByteSums {
    HoloCudaProduct p;
    int32_t        *to;
    uint8_t         type, unused[7];
} HoloCudaByteSums;

// An image [images][height][width][channels] with more pixels around it, which are the zero point, and more channels, which are 0.
typedef struct HoloCudaBytePad {
    const void *from, *zero; // zero NULL: 0
    void       *to;
    int64_t     count; // pieces of 16 bytes of the result
    int32_t     height, width, channels;
    int32_t     to_height, to_width, to_channels, pieces; // pieces: of a pixel
    int32_t     top, left, unused;
} HoloCudaBytePad;

// A convolution with strides of any kind.
typedef struct HoloCudaByteWindow {
    const void    *x, *w;
    void          *y;
    HoloCudaScaled s;
    int64_t        count;
    int64_t        x_stride[5], y_stride[5], w_stride[5]; // image (of w: filter), channel, three dimensions
    int32_t        in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
    int32_t        filters, groups, channels; // channels of a group
    int32_t        unused;
} HoloCudaByteWindow;

// Quantizes, or dequantizes, element by element: [outer][size][inner], with a scale for all, for each index of the middle, or for
// each block of it and each of the others.
typedef struct HoloCudaQuantize {
    const void *from, *scale, *zero; // scale NULL: 1; zero NULL: 0
    void       *to;
    int64_t     count, size, inner;
    int64_t     scales, block; // scales: of the middle; block 0: they are for all of the others
    uint8_t     from_type, to_type, scale_type, zero_type;
    uint8_t     back;      // to real numbers
    uint8_t     saturates; // floats of 8 bits that are too large become the largest one
    uint8_t     unused[2];
} HoloCudaQuantize;

// DynamicQuantizeLinear: the range of each part, then the bytes. Whoever needs the range looks at all parts.
enum { HOLO_CUDA_RANGES = 256 };
typedef struct HoloCudaRange {
    const void *from;
    float      *ranges;            // [parts][2]
    void       *to, *scale, *zero; // each may be NULL
    int64_t     count;
    int32_t     parts;
    uint8_t     from_type, scale_type, unused[2];
} HoloCudaRange;

// QLinearAdd, QLinearMul: operands that broadcast, each with one scale and zero point.
typedef struct HoloCudaPair {
    const void *a, *a_scale, *a_zero, *b, *b_scale, *b_zero, *y_scale, *y_zero; // zeros NULL: 0
    void       *to;
    int64_t     count;
    int64_t     size[HOLO_CUDA_RANK], a_stride[HOLO_CUDA_RANK], b_stride[HOLO_CUDA_RANK];
    int32_t     rank;
    uint8_t     type, multiplies, a_scale_type, b_scale_type, y_scale_type, unused[3];
} HoloCudaPair;

// to[i] = table[from[i]], by the bits of an element of 1 or 2 bytes; or by those of two bytes, the first one the high one.
typedef struct HoloCudaLookup {
    const void *from, *second, *table; // second NULL: there is one
    void       *to;
    int64_t     count;
    int32_t     wide, element;                // bytes of what is looked up, and of entries
    uint8_t     to_type, converts, unused[6]; // converts: entries of f32 become numbers of to_type
} HoloCudaLookup;

// QLinearAveragePool; whole: QLinearGlobalAveragePool, whose sums are whole numbers.
typedef struct HoloCudaByteMean {
    HoloCudaPool pool;
    const void  *x_scale, *x_zero, *y_scale, *y_zero; // zeros NULL: 0
    uint8_t      x_scale_type, y_scale_type, whole, unused[5];
} HoloCudaByteMean;

#endif
