// rotary.h - rotary position embedding of vectors.
#ifndef HOLO_OPS_STANDARD_ROTARY_H
#define HOLO_OPS_STANDARD_ROTARY_H

#include "ops/standard/attention.h"

// Pairs of numbers turned by angles whose cosines and sines are rows of two tables.
typedef struct HoloRotary {
    const HoloTensor *cos, *sin; // rows of `half` numbers
    int64_t           rows, half;
    bool              interleaved; // pairs are neighbors; else they are half the turned part apart
    double           *work;        // 2 * half + `size` numbers of the caller's
} HoloRotary;

// Turns the first 2 * half of the `size` numbers at `at` of x by row `row`, and writes them, with the rest, to y.
void holo_rotate(const HoloRotary *r, int64_t row, const HoloTensor *x, int64_t at, int64_t size, HoloTensor *y,
                 int64_t y_at);

// The sizes of a RotaryEmbedding, perhaps symbolic. Fails where its inputs do not fit together.
typedef struct HoloRotarySizes {
    HoloDim           batch, heads, positions, size;
    HoloDim           half, rows; // of the tables; rows is only set where positions choose them
    const HoloTensor *cos, *sin;
} HoloRotarySizes;
HOLO_MUST HoloStatus holo_rotary_sizes(const HoloCall *call, HoloRotarySizes *out);
// Which row of the tables belongs to a position. Sizes are numbers.
typedef HoloStatus      HoloRotaryRow(const HoloCall *call, const HoloRotarySizes *s, int64_t batch, int64_t position,
                                      int64_t *out);
HOLO_MUST HoloRotaryRow holo_rotary_row;
// Turns all vectors of input 0 by the rows of the tables that `row` tells.
HOLO_MUST HoloStatus holo_rotary_eval(const HoloCall *call, const HoloRotarySizes *s, HoloRotaryRow *row);

#endif
