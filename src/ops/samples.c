// samples.c - weighted sums and maxima of scattered elements. f32 and f64 have loops of their own; other elements are
// read one by one.
#include "ops/samples.h"

#include <math.h>

// Four taps at a time, so that additions do not wait for each other.
#define DEFINE_SUM(name, READ)                                                                                    \
    static void name(const HoloTensor *x, int64_t plane, int64_t places, const int64_t *end, const HoloTap *taps, \
                     double *out)                                                                                 \
    {                                                                                                             \
        int64_t t = 0;                                                                                            \
        for (int64_t p = 0; p < places; p++) {                                                                    \
            double sum = 0;                                                                                       \
            for (; t + 4 <= end[p]; t += 4) {                                                                     \
                double a = taps[t].weight * READ(x, plane + taps[t].offset);                                      \
                double b = taps[t + 1].weight * READ(x, plane + taps[t + 1].offset);                              \
                double c = taps[t + 2].weight * READ(x, plane + taps[t + 2].offset);                              \
                double d = taps[t + 3].weight * READ(x, plane + taps[t + 3].offset);                              \
                sum += (a + b) + (c + d);                                                                         \
            }                                                                                                     \
            for (; t < end[p]; t++) sum += taps[t].weight * READ(x, plane + taps[t].offset);                      \
            out[p] = sum;                                                                                         \
        }                                                                                                         \
    }

#define READ_F32(x, i) ((double)((const float *)(x)->data)[i])
#define READ_F64(x, i) (((const double *)(x)->data)[i])
DEFINE_SUM(sum_f32, READ_F32)

// The same for places that all have four taps, as most do in two dimensions: the only loop is over places.
static void sum_fours_f32(const HoloTensor *x, int64_t plane, int64_t places, const HoloTap *t, double *out)
{
    const float *from = (const float *)x->data + plane;
    for (int64_t p = 0; p < places; p++, t += 4) {
        double a = t[0].weight * (double)from[t[0].offset], b = t[1].weight * (double)from[t[1].offset];
        double c = t[2].weight * (double)from[t[2].offset], d = t[3].weight * (double)from[t[3].offset];
        out[p] = 0 + ((a + b) + (c + d));
    }
}

static bool are_fours(int64_t places, const int64_t *end)
{
    bool all = places > 0 && end[places - 1] == 4 * places; // if not, that is known at once
    for (int64_t p = 0; all && p < places; p++) all = end[p] == 4 * (p + 1);
    return all;
}

DEFINE_SUM(sum_f64, READ_F64)
DEFINE_SUM(sum_any, holo_get_f)

void holo_samples_sum(const HoloTensor *x, int64_t plane, int64_t places, const int64_t *end, const HoloTap *taps,
                      double *out)
{
    if (x->dtype == HOLO_F32 && are_fours(places, end)) {
        sum_fours_f32(x, plane, places, taps, out);
        return;
    }
    (x->dtype == HOLO_F32 ? sum_f32 : x->dtype == HOLO_F64 ? sum_f64 : sum_any)(x, plane, places, end, taps, out);
}

// A comparison with NaN is false and keeps what is there, without a branch that depends on the elements. If nothing is
// above -INFINITY, it checks whether there are numbers at all.
#define DEFINE_MAX(name, READ)                                                                                    \
    static void name(const HoloTensor *x, int64_t plane, int64_t places, const int64_t *end, const HoloTap *taps, \
                     double *out)                                                                                 \
    {                                                                                                             \
        int64_t t = 0;                                                                                            \
        for (int64_t p = 0; p < places; p++) {                                                                    \
            double  best  = -INFINITY;                                                                            \
            int64_t first = t;                                                                                    \
            for (; t + 2 <= end[p]; t += 2) {                                                                     \
                double a = taps[t].weight * READ(x, plane + taps[t].offset);                                      \
                double b = taps[t + 1].weight * READ(x, plane + taps[t + 1].offset);                              \
                best     = a > best ? a : best;                                                                   \
                best     = b > best ? b : best;                                                                   \
            }                                                                                                     \
            for (; t < end[p]; t++) {                                                                             \
                double part = taps[t].weight * READ(x, plane + taps[t].offset);                                   \
                best        = part > best ? part : best;                                                          \
            }                                                                                                     \
            bool some = best > -INFINITY;                                                                         \
            for (int64_t u = first; !some && u < t; u++) {                                                        \
                double part = taps[u].weight * READ(x, plane + taps[u].offset);                                   \
                some        = part == part;                                                                       \
            }                                                                                                     \
            if (some && !(out[p] >= best)) out[p] = best;                                                         \
        }                                                                                                         \
    }
DEFINE_MAX(max_f32, READ_F32)
DEFINE_MAX(max_f64, READ_F64)
DEFINE_MAX(max_any, holo_get_f)

void holo_samples_max(const HoloTensor *x, int64_t plane, int64_t places, const int64_t *end, const HoloTap *taps,
                      double *out)
{
    (x->dtype == HOLO_F32 ? max_f32 : x->dtype == HOLO_F64 ? max_f64 : max_any)(x, plane, places, end, taps, out);
}
