// conv_regions.h - the pixels of a convolution, apart by the places of the kernel that lie inside the image for them.
//
// Along each dimension the places that a pixel sees are a range. Pixels that are beside each other and have the same range
// are a span, and what spans of all dimensions have in common is a region: a convolution of its own, with fewer places.
// So what lies in the padding need not be multiplied. Regions follow from the shape alone.
#ifndef HOLO_DEVICES_CPU_CONV_REGIONS_H
#define HOLO_DEVICES_CPU_CONV_REGIONS_H

#include "kernels/kernels.h"

enum { HOLO_CONV_SPANS = 16 };

typedef struct HoloConvSpan {
    int64_t first, count;  // pixels of the output
    int64_t place, places; // of the kernel: the first that some of them see, and how many
} HoloConvSpan;

typedef struct HoloConvRegions {
    int          count[3]; // of spans
    HoloConvSpan span[3][HOLO_CONV_SPANS];
    double       share; // of the multiplications, with what it costs to do regions one by one; 1: all
} HoloConvRegions;

// The regions; false, and one region with the whole kernel, where more would not be worth it.
bool holo_conv_regions(const HoloConvShape *shape, int64_t batch, HoloConvRegions *out);

static inline int64_t holo_conv_region_count(const HoloConvRegions *r)
{
    return (int64_t)r->count[0] * r->count[1] * r->count[2];
}

// Region i: its span of each dimension, and its shape. Pixels are counted from its first; its kernel has the places that
// are seen, and the padding is what is left of it, or less than 0.
HoloConvShape holo_conv_region(const HoloConvShape *shape, const HoloConvRegions *r, int64_t i,
                               const HoloConvSpan *span[3]);

#endif
