// rotary.h - rotary position embedding of vectors.
#ifndef HOLO_OPS_ROTARY_H
#define HOLO_OPS_ROTARY_H

#include "ops/attention.h"

// Pairs of numbers turned by angles whose cosines and sines are rows of two tables.
typedef struct HoloRotary {
    const HoloTensor *cos, *sin; // rows of `half` numbers
    int64_t           rows, half;
    bool              interleaved; // pairs are neighbours; else they are half the turned part apart
    double           *work;        // 2 * half + `size` numbers of the caller's
} HoloRotary;

// Turns the first 2 * half of the `size` numbers at `at` of x by row `row`, and writes them, with the rest, to y.
void holo_rotate(const HoloRotary *r, int64_t row, const HoloTensor *x, int64_t at, int64_t size, HoloTensor *y,
                 int64_t y_at);

#endif
