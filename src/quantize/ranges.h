// ranges.h - the numbers of a value on the samples, and the 8-bit steps that fit them best.
#ifndef HOLO_QUANTIZE_RANGES_H
#define HOLO_QUANTIZE_RANGES_H

#include "quantize/quantize.h"

enum { HOLO_RANGE_BINS = 2048 };

// Numbers so far: from `low` to `high`, with a histogram. Bins grow as numbers come: their width is a power of 2, and
// all begin at a multiple of it.
typedef struct HoloValueRange {
    double   low, high;                 // both include 0
    uint64_t count;                     // finite ones
    uint64_t strange;                   // NaN and infinite numbers
    double   width;                     // of a bin; 0: nothing but 0 was seen
    uint64_t bins[2 * HOLO_RANGE_BINS]; // bin i of the positive numbers; behind these, of the negative ones
} HoloValueRange;

void holo_range_add(HoloValueRange *range, const float *x, int64_t count);

typedef struct HoloSteps { // x is (q - zero) * scale, q from 0 to 255
    float   scale;
    uint8_t zero;
} HoloSteps;

// Steps for the whole range, or cut off as HoloRanges says. `percentile` is only for that method.
HoloSteps holo_range_steps(const HoloValueRange *range, HoloRanges how, double percentile);

#endif
