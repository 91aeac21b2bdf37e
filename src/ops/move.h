// move.h - what operators that move elements share: whole numbers that are attributes in old versions and inputs in new
// ones, and checked offsets of indexed elements.
#ifndef HOLO_OPS_MOVE_H
#define HOLO_OPS_MOVE_H

#include "ops/op.h"

#include <string.h>

#define HOLO_TYPES_INDEX (HOLO_BIT(I32) | HOLO_BIT(I64))

// ---- lists of whole numbers

typedef struct HoloNumbers {
    bool              given;
    bool              known;  // else only `count` is valid
    HoloDim           count;  // may be symbolic if the numbers are not known
    const HoloDim    *values; // numbers or, while inferring, expressions; NULL: they are in `tensor`
    const HoloTensor *tensor;
} HoloNumbers;

// The numbers of attribute `attr` (NULL: there is none), or else of input `input` (-1: there is none). They are
// borrowed from the call. Fails if the input is not a list of whole numbers.
HOLO_MUST HoloStatus holo_numbers(const HoloCall *call, const char *attr, int input, HoloNumbers *out);
// The same for a list of at most `max` numbers that must be given.
HOLO_MUST HoloStatus holo_numbers_needed(const HoloCall *call, const char *attr, int input, int64_t max,
                                         HoloNumbers *out);

static inline HoloDim holo_number(const HoloNumbers *n, int64_t i)
{
    return n->values ? n->values[i] : holo_get_i(n->tensor, i);
}

// The single number of a scalar input. False: it is not known.
bool holo_scalar(const HoloCall *call, int input, HoloDim *out);

// Is this a number or an expression that cannot be negative? Also false if that is hard to see.
bool holo_dim_is_size(const HoloDims *dims, HoloDim d);
// Of two sizes that must agree, the one that is better known. False: they are different numbers.
bool holo_dim_agree(HoloDim a, HoloDim b, HoloDim *out);
// The product of dim[from..to-1]; may be symbolic.
HoloDim holo_dim_product(HoloDims *dims, const HoloDim *dim, int from, int to);

// Are the elements between two indices of `axis` contiguous, because every dimension before it is 1?
static inline bool holo_axis_is_outer(const HoloTensor *t, int axis)
{
    for (int d = 0; d < axis; d++)
        if (t->dim[d] != 1) return false;
    return true;
}

// ---- elements

// Copies one element of holo_dtype_size bytes.
static inline void holo_move_one(void *dst, const void *src, size_t size)
{
    switch (size) {
    case 1: memcpy(dst, src, 1); break;
    case 2: memcpy(dst, src, 2); break;
    case 4: memcpy(dst, src, 4); break;
    case 8: memcpy(dst, src, 8); break;
    default: memcpy(dst, src, 16); break;
    }
}

// holo_move for memory that nobody else uses, on the threads of the call's host if that is worth it.
void holo_move_wide(const HoloCall *call, int rank, const int64_t *dim, size_t size, void *dst,
                    const int64_t *dst_stride, const void *src, const int64_t *src_stride);
// Copies all elements of `from` to `to`, which has the same number of elements and the same dtype.
void holo_copy_all(HoloTensor *to, const HoloTensor *from);
// Writes the element at `value` everywhere; NULL writes zeros, or empty strings. If the run is to end, it stops early.
void holo_fill(const HoloCall *call, HoloTensor *t, const void *value);

// Brings an index that may count from the end into [0, size), or fails and names it.
HOLO_MUST HoloStatus holo_index(const HoloCall *call, int64_t index, int64_t size, int64_t *out);
// Where `count` index tuples of `indices`, from tuple `first` on, point in dimensions dim[0..depth-1]; elements below
// have a unit of 1. Fails like holo_index.
enum { HOLO_TUPLES = HOLO_TILE / HOLO_MAX_RANK }; // most tuples
HOLO_MUST HoloStatus holo_index_tuples(const HoloCall *call, const HoloTensor *indices, int64_t first, int64_t count,
                                       int depth, const int64_t *dim, int64_t *out);

// Where the elements are that `indices` names along `axis` of `data`, as in GatherElements: tile by tile, in the order
// of `indices`, the offsets of elements `start` to `start + count - 1`.
typedef struct HoloElements {
    const HoloCall   *call;
    const HoloTensor *indices;
    HoloWalk          walk; // over rows, all dimensions but the last
    int               axis;
    int64_t           size, axis_stride, column_stride; // of the axis in data; of the last dimension
    int64_t           stride[HOLO_MAX_RANK], base, column;
    int64_t           start, count, offset[HOLO_TILE];
} HoloElements;
void holo_elements_init(HoloElements *e, const HoloCall *call, const HoloTensor *data, const HoloTensor *indices,
                        int axis);
// The next tile; count 0 at the end.
HOLO_MUST HoloStatus holo_elements_next(HoloElements *e);
// Checks that the sizes of `indices` fit into those of `data`, except for the axis.
HOLO_MUST HoloStatus holo_elements_check(const HoloCall *call, int data, int indices, int axis);

#endif
