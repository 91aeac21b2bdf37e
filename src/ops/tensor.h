// tensor.h - reads, writes and moves elements of tensors of any dtype.
#ifndef HOLO_OPS_TENSOR_H
#define HOLO_OPS_TENSOR_H

#include "base/base.h"
#include "format/dtype.h"

// One element as a number of the wide type. Any numeric dtype or bool; complex numbers give their real part. Unsigned
// 64-bit values keep their bits in int64_t. Conversions are those of ONNX Cast: floats to integers truncate (saturated
// if out of range; NaN becomes 0), anything to bool is x != 0.
double  holo_get_f(const HoloTensor *t, int64_t index);
int64_t holo_get_i(const HoloTensor *t, int64_t index);
void    holo_put_f(HoloTensor *t, int64_t index, double x);
void    holo_put_i(HoloTensor *t, int64_t index, int64_t x);

// The bits of an element of at most 8 bytes, as an unsigned number. Types of 4 and 2 bits are stored as their values.
uint64_t holo_get_bits(const HoloTensor *t, int64_t index);
// Sets the element to bit pattern number `place`, below holo_dtype_patterns, of the tensor's type.
void holo_put_pattern(HoloTensor *t, int64_t index, int64_t place);

// Runs of elements: out[k] = t[start + k * stride]. The dtype is examined once for a run, so loops work on tiles of
// HOLO_TILE elements.
enum { HOLO_TILE = 256 };
void holo_read_f(const HoloTensor *t, int64_t start, int64_t stride, int64_t count, double *out);
void holo_read_i(const HoloTensor *t, int64_t start, int64_t stride, int64_t count, int64_t *out);
void holo_write_f(HoloTensor *t, int64_t start, int64_t stride, int64_t count, const double *x);
void holo_write_i(HoloTensor *t, int64_t start, int64_t stride, int64_t count, const int64_t *x);

// CPUs differ in the sign of the NaN that inf - inf gives. Computed NaNs are stored as this one: positive, quiet, no
// payload. holo_write_f does so; moving elements (holo_move) keeps their bits.
static inline double holo_plain_nan(double x)
{
    return x == x ? x : __builtin_nan("");
}

// Strides of a dense row-major tensor, in elements.
void holo_strides(int rank, const int64_t *dim, int64_t *out_stride);
// Strides of a tensor read as if broadcast to `rank` dimensions (NumPy's rule): 0 where its size is 1.
void    holo_strides_broadcast(const HoloTensor *t, int rank, const int64_t *dim, int64_t *out_stride);
int64_t holo_product(int rank, const int64_t *dim); // of known sizes that fit; 1 for rank 0

// Copies a box: dst[sum i*dst_stride] = src[sum i*src_stride] for every index i below `dim`. Strides are in elements of
// `size` bytes; 0 repeats, a negative one goes backwards. Pointers are to index 0. The boxes must not overlap. This is
// transpose, slice, expand, tile, concat, split and pad.
void holo_move(int rank, const int64_t *dim, size_t size, void *dst, const int64_t *dst_stride, const void *src,
               const int64_t *src_stride);

// Walks over every index below `dim` but the last one: the outer loop of a strided operation.
//     HoloWalk w = holo_walk(rank, dim);  while (holo_walk_next(&w)) { use w.index[] }
typedef struct HoloWalk {
    int     rank;
    int64_t dim[HOLO_MAX_RANK], index[HOLO_MAX_RANK];
    bool    started, empty;
} HoloWalk;
HoloWalk holo_walk(int rank, const int64_t *dim); // over all `rank` dimensions given; rank 0 is one index
bool     holo_walk_next(HoloWalk *walk);
int64_t  holo_walk_at(const HoloWalk *walk, const int64_t *stride); // sum of index * stride

bool holo_string_equal(HoloString a, HoloString b);
int  holo_string_compare(HoloString a, HoloString b); // by bytes, as memcmp, then by length

#endif
