// rows.h - a tensor seen as rows along an axis, or along several neighboring axes.
//
// The shape is taken as [outer, size, inner]: there are outer * inner rows of `size` elements, and the elements of a
// row are `inner` apart.
#ifndef HOLO_OPS_ROWS_H
#define HOLO_OPS_ROWS_H

#include "ops/tensor.h"

typedef struct HoloRows {
    int64_t outer, size, inner;
} HoloRows;

// Rows along the axes from <= axis < to of a tensor of known sizes.
static inline HoloRows holo_rows(const HoloTensor *t, int from, int to)
{
    return (HoloRows){.outer = holo_product(from, t->dim),
                      .size  = holo_product(to - from, t->dim + from),
                      .inner = holo_product(t->rank - to, t->dim + to)};
}

static inline int64_t holo_row_count(HoloRows rows)
{
    return rows.outer * rows.inner;
}

// The first element of a row.
static inline int64_t holo_row_start(HoloRows rows, int64_t row)
{
    return row / rows.inner * rows.size * rows.inner + row % rows.inner;
}

#endif
