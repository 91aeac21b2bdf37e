// resize.h - how Resize and Upsample map the elements of one axis: shared by the shapes (resize.c) and the
// arithmetic (resize_axis.c, resize_whole.c).
#ifndef HOLO_OPS_STANDARD_RESIZE_H
#define HOLO_OPS_STANDARD_RESIZE_H

#include "ops/op.h"

typedef enum HoloResizeMode { HOLO_RESIZE_NEAREST, HOLO_RESIZE_LINEAR, HOLO_RESIZE_CUBIC } HoloResizeMode;

typedef enum HoloResizePlace { // where output o lies on the input
    HOLO_RESIZE_HALF_PIXEL,
    HOLO_RESIZE_HALF_PIXEL_SYMMETRIC,
    HOLO_RESIZE_PYTORCH_HALF_PIXEL,
    HOLO_RESIZE_ALIGN_CORNERS,
    HOLO_RESIZE_ASYMMETRIC,
    HOLO_RESIZE_TF_HALF_PIXEL_FOR_NN,
    HOLO_RESIZE_TF_CROP_AND_RESIZE,
} HoloResizePlace;

typedef enum HoloResizeRound { // which element is nearest
    HOLO_RESIZE_PREFER_FLOOR,
    HOLO_RESIZE_PREFER_CEIL,
    HOLO_RESIZE_FLOOR,
    HOLO_RESIZE_CEIL,
    HOLO_RESIZE_SIMPLE, // before version 11: floor, or ceil where the axis shrinks
} HoloResizeRound;

typedef struct HoloResizeHow {
    HoloResizeMode  mode;
    HoloResizePlace place;
    HoloResizeRound round;
    bool            antialias, exclude_outside;
    bool            pairs;                // linear, of the two elements around a place and nothing else
    double          cubic, extrapolation; // cubic: the coefficient a
} HoloResizeHow;

typedef struct HoloResizeAxis {
    int64_t in, out;
    double  scale;
    double  roi_from, roi_to;
    // Output o is the sum of taps elements: index[o * taps + t] times weight[o * taps + t]; where index is
    // -1, what is outside. NULL: the axis stays as it is.
    int64_t  taps;
    int64_t *index;
    double  *weight;
} HoloResizeAxis;

typedef struct HoloResize {
    HoloResizeHow  how;
    HoloResizeAxis axis[HOLO_MAX_RANK];
    int            first; // axis that changes; as many as there are: none does
} HoloResize;

// How a call whose output has elements is computed; in memory of the call.
HOLO_MUST HoloStatus holo_resize_read(const HoloCall *call, HoloResize *out);

// Computes linear resizing of integers, by pairs.
HOLO_MUST HoloStatus holo_resize_whole(HoloCall *call, const HoloResize *resize);

// Fills in taps, index and weight, in memory of the call.
HOLO_MUST HoloStatus holo_resize_axis(const HoloCall *call, const HoloResizeHow *how, HoloResizeAxis *axis);

#endif
