// samples.h - weighted sums of elements at computed places: what GridSample, RoiAlign and DeformConv read.
//
// The elements of a place, and their weights, are found once and serve every channel.
#ifndef HOLO_OPS_SAMPLES_H
#define HOLO_OPS_SAMPLES_H

#include "ops/op.h"

typedef struct HoloTap {
    int64_t offset; // of the element in its plane
    double  weight;
} HoloTap;

// out[p] = the sum of weight * x[plane + offset] over the taps from end[p - 1] (0 for the first place) up to end[p], in
// an order that depends only on their number. Without taps: 0.
void holo_samples_sum(const HoloTensor *x, int64_t plane, int64_t places, const int64_t *end, const HoloTap *taps,
                      double *out);
// out[p] = the largest of out[p] and all weight * x[plane + offset]. NaN, also in out[p], counts only if all are NaN.
void holo_samples_max(const HoloTensor *x, int64_t plane, int64_t places, const int64_t *end, const HoloTap *taps,
                      double *out);

#endif
