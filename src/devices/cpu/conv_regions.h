// conv_regions.h - groups the pixels of a convolution by the places of the filter that lie inside the image for them.
//
// Along each dimension the places that a pixel sees are a range. Neighboring pixels with the same range are a span, and
// the intersection of spans of all dimensions is a region: a convolution of its own with fewer places. So what lies in
// the padding need not be multiplied. Regions depend on the shape alone.
#ifndef HOLO_DEVICES_CPU_CONV_REGIONS_H
#define HOLO_DEVICES_CPU_CONV_REGIONS_H

#include "kernels/kernels.h"

enum { HOLO_CONV_SPANS = 16 };

typedef struct HoloConvSpan {
    int64_t first, count;  // pixels of the output
    int64_t place, places; // of the filter: the first place that they see, and how many
} HoloConvSpan;

typedef struct HoloConvRegions {
    int          count[3]; // of spans
    HoloConvSpan span[3][HOLO_CONV_SPANS];
    double       share; // part of the multiplications, including the cost of separate regions; 1: all
} HoloConvRegions;

// Finds the regions. False: several would not be worth it, and there is one region with the whole filter.
bool holo_conv_regions(const HoloConvShape *shape, int64_t batch, HoloConvRegions *out);

static inline int64_t holo_conv_region_count(const HoloConvRegions *r)
{
    return (int64_t)r->count[0] * r->count[1] * r->count[2];
}

// Region i: its span of each dimension, and its shape. Pixels count from its first one. Its filter has only the places
// that are seen. Its padding is what is left, and may be negative.
HoloConvShape holo_conv_region(const HoloConvShape *shape, const HoloConvRegions *r, int64_t i,
                               const HoloConvSpan *span[3]);

#endif
