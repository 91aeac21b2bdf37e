// ranges.h - what the numbers of a value are on the samples, and the steps of 8 bits that serve them best.
#ifndef HOLO_QUANTIZE_RANGES_H
#define HOLO_QUANTIZE_RANGES_H

#include "quantize/quantize.h"

enum { HOLO_RANGE_BINS = 2048 };

// Numbers seen so far: from `low` to `high`, and how many in each of as many parts. The parts grow with what comes: their
// width is a power of 2, and all begin at a multiple of it.
typedef struct HoloValueRange {
    double   low, high;                 // both include 0
    uint64_t count;                     // finite ones
    uint64_t strange;                   // NaN and infinite ones
    double   width;                     // of a part; 0: nothing but 0 was seen
    uint64_t bins[2 * HOLO_RANGE_BINS]; // part i of the positive numbers, and behind them of the negative ones
} HoloValueRange;

void holo_range_add(HoloValueRange *range, const float *x, int64_t count);

typedef struct HoloSteps { // x is (q - zero) * scale, q from 0 to 255
    float   scale;
    uint8_t zero;
} HoloSteps;

// Of the range as it is, or cut as HoloRanges says; `percentile` is of that way alone.
HoloSteps holo_range_steps(const HoloValueRange *range, HoloRanges how, double percentile);

#endif
