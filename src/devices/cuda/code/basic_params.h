// basic_params.h - what the plain kernels of basic.cu are told: one struct, passed by value. Plain C, for host and device.
#ifndef HOLO_DEVICES_CUDA_CODE_BASIC_PARAMS_H
#define HOLO_DEVICES_CUDA_CODE_BASIC_PARAMS_H

#include "cuda_params.h"

enum { HOLO_CUDA_RANK = 8 };

// Copies elements of 1, 2, 4 or 8 bytes, from and to places that strides, in elements, say.
typedef struct HoloCudaMove {
    const void *from;
    void       *to;
    int64_t     count;
    int32_t     rank;
    uint8_t     from_type, to_type, unused[2]; // of numbers that change their type
    int64_t     size[HOLO_CUDA_RANK], from_stride[HOLO_CUDA_RANK], to_stride[HOLO_CUDA_RANK];
} HoloCudaMove;

// [pixels][channels] to [pixels][16 bytes].
typedef struct HoloCudaPadded {
    const void *from;
    void       *to;
    int64_t     pixels;            // of the result
    int32_t     channels, element; // element: bytes, 2 or 4
    int32_t     width, to_width;   // of a line; the result has zeros on the left and on the right, too
    int32_t     left, unused;
} HoloCudaPadded;

// Rows of `inner` units of 1 to 16 bytes: to[o][i] = from[o][index[i]].
typedef struct HoloCudaGather {
    const void *from, *index;
    void       *to;
    uint32_t   *status; // becomes 1 if an index is out of range
    int64_t     outer, size, inner, indices;
    int32_t     index_bytes, unit;
    uint8_t     to_type, unused[7]; // of f32 that becomes another type
} HoloCudaGather;

typedef struct HoloCudaFill {
    void    *to;
    int64_t  count;
    uint64_t value;
    int32_t  element, unused; // bytes: 1, 2, 4 or 8
} HoloCudaFill;

// to[i] = from at the place of i, with index[i] in place of its number along `axis`.
typedef struct HoloCudaElements {
    const void *from, *index;
    void       *to;
    uint32_t   *status; // becomes 1 if an index is out of range
    int64_t     count, limit;
    int64_t     size[HOLO_CUDA_RANK], stride[HOLO_CUDA_RANK]; // of the index; of `from`
    int32_t     rank, axis, index_bytes, element;
    uint8_t     converts, to_type, unused[6]; // f32 that becomes another type
} HoloCudaElements;

// to[o][i] = where along k from[o][k][i] is largest, or least; a NaN is beyond all.
typedef struct HoloCudaExtreme {
    const void *from;
    int64_t    *to;
    int64_t     outer, size, inner;
    uint8_t     type, is_least, is_last, unused[5];
} HoloCudaExtreme;

// Sums of all before, along the middle of [outer][size][inner].
typedef struct HoloCudaScan {
    const void *from;
    void       *to;
    int64_t     outer, size, inner;
    uint8_t     from_type, to_type, is_reverse, is_exclusive, unused[4];
} HoloCudaScan;

// to[o][i] = fold over k of from[o][k][i].
enum {
    HOLO_CUDA_FOLD_SUM,
    HOLO_CUDA_FOLD_MEAN,
    HOLO_CUDA_FOLD_MAX,
    HOLO_CUDA_FOLD_MIN,
    HOLO_CUDA_FOLD_SQUARES,
    HOLO_CUDA_FOLD_L1,
    HOLO_CUDA_FOLD_L2,
    HOLO_CUDA_FOLD_PRODUCT,
    HOLO_CUDA_FOLD_LOG_SUM,
    HOLO_CUDA_FOLD_LOG_SUM_EXP,
};
typedef struct HoloCudaFold {
    const void *from;
    void       *to;
    int64_t     outer, size, inner;
    int32_t     what;
    uint8_t     from_type, to_type, unused[2];
} HoloCudaFold;

// Softmax along the middle of [outer][size][inner].
typedef struct HoloCudaSoft {
    const void *from;
    void       *to;
    int64_t     outer, size, inner;
    int32_t     is_log;
    uint8_t     type, unused[3];
} HoloCudaSoft;

// Rows [groups][size]: (x - mean) / deviation * gain + bias. Element e of group g has gain[g % gains * step + e / each % period].
typedef struct HoloCudaCentre {
    const void *from, *gain, *bias;
    void       *to;
    int64_t     groups, size;
    int64_t     gains, step, each, period; // which gain an element has
    int64_t     stride;       // channels last: elements of a group lie `part` in a row, `stride` apart; 0: all in a row
    int64_t     part, starts; // group g begins at g / starts * size * starts + g % starts * part
    float       epsilon;
    uint8_t     type, gain_type, bias_type, is_centred;
} HoloCudaCentre;

// Resizes up to five axes of f32: the nearest element, or a sum of two along each axis. The numbers of place, round and mode
// are those of ops/standard/resize.h.
enum { HOLO_CUDA_RESIZED = 5 };
typedef struct HoloCudaResize {
    const void *from;
    void       *to;
    int64_t     count;
    int64_t     in[HOLO_CUDA_RESIZED], out[HOLO_CUDA_RESIZED];
    float       scale[HOLO_CUDA_RESIZED];
    uint8_t     changes[HOLO_CUDA_RESIZED]; // the axis does not stay as it is
    uint8_t     rank, place, round, is_linear, from_type, to_type;
    uint8_t     unused[5];
} HoloCudaResize;

// Windows over images of up to 3 dimensions. Strides are in elements.
typedef struct HoloCudaPool {
    const void *from;
    void       *to;
    int64_t     count, channels;
    int64_t     from_stride[5], to_stride[5]; // image, channel, three dimensions
    int32_t     in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
    int32_t     is_mean, counts_pads; // counts_pads: padding counts in a mean
    int32_t     pad_end[3];
    uint8_t     type, unused[3];
} HoloCudaPool;

// A product with strides of any kind: c[z][m][n] = end(alpha * sum over k of a[z][m][k] * b[z][k][n]).
typedef struct HoloCudaPlain {
    const void *a, *b, *bias, *more;
    void       *c;
    int64_t     m, n, k, inner;
    int64_t     a_stride[2], b_stride[2], bias_stride[2], more_stride[2], c_row; // row, column
    int64_t     a_batch[2], b_batch[2], c_batch, more_batch;
    float       alpha, low, high;
    uint8_t     a_type, b_type, c_type, bias_type, more_type, act, more_how, unused;
} HoloCudaPlain;

// A convolution with strides of any kind.
typedef struct HoloCudaWindow {
    const void *x, *w, *bias, *more;
    void       *y;
    int64_t     count;                                             // elements of y
    int64_t x_stride[5], y_stride[5], more_stride[5], w_stride[5]; // image (of w: filter), channel, three dimensions
    int32_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
    int32_t filters, groups, channels; // channels of a group
    float   low, high;
    uint8_t x_type, w_type, bias_type, more_type, y_type, act, more_how, unused;
} HoloCudaWindow;

// RotaryEmbedding: turns pairs of each vector by the angles of a row of two tables. x and y have the same strides.
typedef struct HoloCudaRotary {
    HoloCudaPart part;
    const void  *x, *cos, *sin, *positions; // positions: NULL, and row = batch * batch_rows + position
    void        *y;
    uint32_t    *status;                                 // becomes 1 if a position is out of range
    int64_t      batch, places, heads, size, half, rows; // places: of a batch; rows: of the tables
    int64_t      stride[3];                              // batch, place, head
    int64_t      batch_rows;
    uint8_t      type, cos_type, sin_type;
    uint8_t      interleaved;
    uint8_t      position_bytes; // 4 or 8
    uint8_t      is_offset;      // there is one position: that of the first place
    uint8_t      unused[2];
} HoloCudaRotary;

// New tokens [batch][fresh][size] go into a cache [slots][context][size], behind those that a slot has.
typedef struct HoloCudaCacheWrite {
    HoloCudaPart   part;
    const void    *from;
    void          *to;
    const int64_t *rows, *lengths;
    uint32_t      *status;
    int64_t        batch, fresh, size, slots, context;
    uint8_t        from_type, to_type, unused[6];
} HoloCudaCacheWrite;

// Numbers of f32 to the type that device memory keeps, or back.
typedef struct HoloCudaConvert {
    const void *from;
    void       *to;
    int64_t     count;
    uint8_t     from_type, to_type;
    uint8_t     whole; // both lie on 16 bytes
    uint8_t     unused[5];
} HoloCudaConvert;

#endif
