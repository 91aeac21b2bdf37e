// normalization.h - what the normalizations share: statistics of a row, and rows standardized,
// scaled and shifted.
#ifndef HOLO_OPS_STANDARD_NORMALIZATION_H
#define HOLO_OPS_STANDARD_NORMALIZATION_H

#include "ops/op.h"

// Mean and population variance; the mean counts as 0 where not `centered`. NaN where there is no element.
typedef struct HoloMoments {
    double mean, variance;
} HoloMoments;
HoloMoments holo_moments(const double *x, int64_t count, bool centered);

// A tensor that broadcasts to the data: scale, bias or addend, read row by row.
typedef struct HoloAffine {
    const HoloTensor *t;                     // NULL: not given
    int64_t           stride[HOLO_MAX_RANK]; // as if it had the shape of the data
    int64_t           at;                    // where `row` was read from; -1: nothing yet
    double           *row;
} HoloAffine;

// The rows of a tensor, its axes from `axis` on: y = (x - mean) / sqrt(variance + epsilon) * scale + bias.
typedef struct HoloRowNorm {
    const HoloTensor *like; // the shape of the data
    int               axis;
    bool              centered; // false: mean is 0
    double            epsilon;
    HoloAffine        scale, bias;
    HoloTensor       *y, *mean, *factor; // outputs; NULL: not wanted. factor: 1 / sqrt(variance + epsilon)
    int64_t           size;              // of a row
    double           *x;                 // memory of a row, for the caller
} HoloRowNorm;

// Takes memory and the inputs `scale` and `bias` (-1: none); the other fields are set before.
HOLO_MUST HoloStatus holo_row_norm_init(HoloRowNorm *norm, const HoloCall *call, int scale, int bias);
// Normalizes norm->x and writes it as row `row` at the outer index of `walk`.
void holo_row_norm_apply(HoloRowNorm *norm, const HoloWalk *walk, int64_t row);

HOLO_MUST HoloStatus holo_affine_init(HoloAffine *affine, const HoloCall *call, int input, const HoloRowNorm *norm);
// The row's values at the outer index of `walk`; NULL where the tensor is not given.
const double *holo_affine_row(HoloAffine *affine, const HoloRowNorm *norm, const HoloWalk *walk);

// For infer: whether input `input`, if given, holds floats that broadcast to `like`.
HOLO_MUST HoloStatus holo_affine_check(const HoloCall *call, int input, const HoloTensor *like);
// For infer: whether input `input`, if given, is a list of `size` floats.
HOLO_MUST HoloStatus holo_vector_check(const HoloCall *call, int input, HoloDim size);

#endif
