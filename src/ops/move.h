// move.h - what the operators that move elements share: whole numbers that come as attributes in old
// versions and as inputs in new ones, and checked offsets of indexed elements.
#ifndef HOLO_OPS_MOVE_H
#define HOLO_OPS_MOVE_H

#include "ops/op.h"

#include <string.h>

#define HOLO_TYPES_INDEX (HOLO_BIT(I32) | HOLO_BIT(I64))

// ---- lists of whole numbers

typedef struct HoloNumbers {
    bool              given;
    bool              known;  // else only `count` may be used
    HoloDim           count;  // perhaps symbolic where the numbers are not known
    const HoloDim    *values; // numbers or, while inferring, expressions; NULL: in `tensor`
    const HoloTensor *tensor;
} HoloNumbers;

// The numbers of attribute `attr` (NULL: has none) or else of input `input` (-1: has none). They are
// borrowed from the call. Fails where the input is no list of whole numbers.
HOLO_MUST HoloStatus holo_numbers(const HoloCall *call, const char *attr, int input, HoloNumbers *out);
// The same, for a list that holds at most `max` numbers and must be given.
HOLO_MUST HoloStatus holo_numbers_needed(const HoloCall *call, const char *attr, int input, int64_t max,
                                         HoloNumbers *out);

static inline HoloDim holo_number(const HoloNumbers *n, int64_t i)
{
    return n->values ? n->values[i] : holo_get_i(n->tensor, i);
}

// The one number of a scalar input. False: not known.
bool holo_scalar(const HoloCall *call, int input, HoloDim *out);

// Is this a number or an expression that cannot be negative? False also where that is hard to see.
bool holo_dim_is_size(const HoloDims *dims, HoloDim d);
// Of two sizes that must agree, the one that is known better. False: they are different numbers.
bool holo_dim_agree(HoloDim a, HoloDim b, HoloDim *out);
// The product of dim[from..to-1], perhaps symbolic.
HoloDim holo_dim_product(HoloDims *dims, const HoloDim *dim, int from, int to);

// Do the elements from one index of `axis` to another lie in one piece, since every dimension before it is 1?
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

// holo_move of what nobody else writes or reads, on the threads of the call's host where that pays.
void holo_move_wide(const HoloCall *call, int rank, const int64_t *dim, size_t size, void *dst,
                    const int64_t *dst_stride, const void *src, const int64_t *src_stride);
// Copies all elements of `from`, which has as many of them, and of the same dtype, as `to`.
void holo_copy_all(HoloTensor *to, const HoloTensor *from);
// Writes the element at `value` everywhere; NULL writes zeros, or empty strings. A run that is to end leaves the rest out.
void holo_fill(const HoloCall *call, HoloTensor *t, const void *value);

// Brings an index that may count from the end into [0, size), or fails by naming it.
HOLO_MUST HoloStatus holo_index(const HoloCall *call, int64_t index, int64_t size, int64_t *out);
// Where `count` index tuples of `indices`, from tuple `first` on, point in dimensions dim[0..depth-1], with elements of a
// unit of 1 below them. Fails as holo_index.
enum { HOLO_TUPLES = HOLO_TILE / HOLO_MAX_RANK }; // at most
HOLO_MUST HoloStatus holo_index_tuples(const HoloCall *call, const HoloTensor *indices, int64_t first, int64_t count,
                                       int depth, const int64_t *dim, int64_t *out);

// Where the elements that `indices` names along `axis` of `data` lie, as in GatherElements: tile by
// tile, in the order of `indices`, the offsets of elements `start` to `start + count - 1`.
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
// The sizes of `indices` fit into those of `data`, the axis aside.
HOLO_MUST HoloStatus holo_elements_check(const HoloCall *call, int data, int indices, int axis);

#endif
