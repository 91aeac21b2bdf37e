// resize_axis.c - the elements and weights that make each output of a resized axis.
#include "ops/standard/resize.h"

#include <math.h>

// The place of output o on the input; NaN: outside, by the rules of tf_crop_and_resize. In float: a place half way
// between two elements must be just there. Lengths are those of the output, which is what people mean who align
// corners; only where an axis shrinks, the standard's own tests want the length that the scale gives, not yet whole.
static double find_place(const HoloResizeHow *how, const HoloResizeAxis *a, int64_t o)
{
    float x = (float)o, in = (float)a->in, scale = (float)a->scale, length = scale * in, whole = (float)a->out;
    switch (how->place) {
    case HOLO_RESIZE_ALIGN_CORNERS:
        if (scale >= 1) length = whole;
        return length == 1 ? 0 : x * (in - 1) / (length - 1);
    case HOLO_RESIZE_ASYMMETRIC: return x / scale;
    case HOLO_RESIZE_TF_HALF_PIXEL_FOR_NN: return (x + 0.5f) / scale;
    case HOLO_RESIZE_PYTORCH_HALF_PIXEL: return whole == 1 ? 0 : (x + 0.5f) / scale - 0.5f;
    case HOLO_RESIZE_HALF_PIXEL_SYMMETRIC: {
        float moved = in / 2 * (1 - whole / length);
        return (float)((double)moved + ((double)x + 0.5) / (double)scale - 0.5);
    }
    case HOLO_RESIZE_TF_CROP_AND_RESIZE: {
        float from = (float)a->roi_from, to = (float)a->roi_to;
        x = whole == 1 ? 0.5f * (from + to) * (in - 1) : from * (in - 1) + x * (to - from) * (in - 1) / (whole - 1);
        return x >= 0 && x <= in - 1 ? x : NAN;
    }
    case HOLO_RESIZE_HALF_PIXEL: break;
    }
    return (x + 0.5f) / scale - 0.5f;
}

// Does the element behind the place count, and not the one before it? rest is in (0, 1].
static bool takes_next(HoloResizeRound round, double scale, double rest)
{
    switch (round) {
    case HOLO_RESIZE_PREFER_FLOOR: return rest > 0.5;
    case HOLO_RESIZE_PREFER_CEIL: return rest >= 0.5;
    case HOLO_RESIZE_FLOOR: return rest == 1;
    case HOLO_RESIZE_CEIL: return true;
    case HOLO_RESIZE_SIMPLE: break;
    }
    return scale < 1 || rest == 1;
}

static double kernel(const HoloResizeHow *how, double x)
{
    double a = how->cubic;
    x        = fabs(x);
    if (how->mode == HOLO_RESIZE_LINEAR) return x < 1 ? 1 - x : 0;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t clamp_index(double i, int64_t count)
{
    return i > 0 ? i < (double)(count - 1) ? (int64_t)i : count - 1 : 0;
}

// Weights sum to 1 after antialiasing, and after taps outside were left out.
static void normalize(double *weight, int64_t taps)
{
    double sum = 0;
    for (int64_t t = 0; t < taps; t++) sum += weight[t];
    for (int64_t t = 0; sum != 0 && t < taps; t++) weight[t] /= sum;
}

// The elements around a place, each as far from it as the other weighs; none is outside.
static void fill_pair(const HoloResizeAxis *a, float place, int64_t o)
{
    int64_t first = clamp_index((double)place, a->in), second = first + 1 < a->in ? first + 1 : first;
    double  last = (double)(a->in - 1), at = place > 0 ? (double)place < last ? (double)place : last : 0;
    a->index[2 * o]      = first;
    a->index[2 * o + 1]  = second;
    a->weight[2 * o]     = first == second ? 0.5 : fabs(at - (double)second);
    a->weight[2 * o + 1] = first == second ? 0.5 : fabs(at - (double)first);
}

static void fill_output(const HoloResizeHow *how, const HoloResizeAxis *a, double shrink, int64_t before, int64_t o)
{
    int64_t *index  = a->index + o * a->taps;
    double  *weight = a->weight + o * a->taps;
    double   place = find_place(how, a, o), base = ceil(place) - 1, rest = place - base;
    if (place != place) {
        for (int64_t t = 0; t < a->taps; t++) index[t] = -1;
        return;
    }
    if (how->pairs) {
        fill_pair(a, (float)place, o);
        return;
    }
    if (how->mode == HOLO_RESIZE_NEAREST) {
        index[0]  = clamp_index(base + takes_next(how->round, a->scale, rest), a->in);
        weight[0] = 1;
        return;
    }
    for (int64_t t = 0; t < a->taps; t++) {
        double i  = base - (double)before + (double)t;
        index[t]  = clamp_index(i, a->in);
        weight[t] = kernel(how, (i - place) * shrink);
        if (how->exclude_outside && (i < 0 || i >= (double)a->in)) weight[t] = 0;
    }
    if (how->antialias || how->exclude_outside) normalize(weight, a->taps);
}

HoloStatus holo_resize_axis(const HoloCall *call, const HoloResizeHow *how, HoloResizeAxis *a)
{
    if (a->scale == 1 && a->in == a->out && how->place != HOLO_RESIZE_TF_CROP_AND_RESIZE) return HOLO_OK;
    if (a->in < 1 && a->out > 0) return holo_call_fail(call, HOLO_BAD_INPUT, "an empty axis cannot be resized");
    int    radius = how->mode == HOLO_RESIZE_LINEAR ? 1 : 2;
    double shrink = how->antialias && a->scale < 1 ? a->scale : 1, reach = ceil(radius / shrink);
    if (!(reach < 0x1p31)) return holo_call_fail(call, HOLO_UNSUPPORTED, "a scale of %g is too small", a->scale);
    int64_t before = (int64_t)reach - 1; // taps before the element at the left of the place
    a->taps        = how->mode == HOLO_RESIZE_NEAREST ? 1 : 2 + 2 * before;
    int64_t count;
    void   *index, *weight;
    if (!holo_mul(a->out, a->taps, &count)) return holo_call_fail(call, HOLO_NO_MEMORY, "too many outputs");
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(int64_t), &index));
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(double), &weight));
    a->index  = index;
    a->weight = weight;
    for (int64_t o = 0; o < a->out; o++) fill_output(how, a, shrink, before, o);
    return HOLO_OK;
}
