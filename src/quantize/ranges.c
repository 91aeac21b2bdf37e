// ranges.c - ranges of numbers as histograms, and the steps of 8 bits for them.
#include "quantize/ranges.h"

#include "quantize/layers.h"

#include <math.h>
#include <string.h>

enum { BINS = HOLO_RANGE_BINS };

// ---- what is seen

static void halve(uint64_t *bins)
{
    for (int i = 0; i < BINS / 2; i++) bins[i] = bins[2 * i] + bins[2 * i + 1];
    memset(bins + BINS / 2, 0, BINS / 2 * sizeof *bins);
}

// Makes room for numbers of up to that magnitude.
static void grow(HoloRange *range, double most)
{
    if (!(range->width > 0)) {
        int exponent;
        frexp(most, &exponent);
        range->width = ldexp(1.0 / BINS, exponent < -900 ? -900 : exponent);
    }
    while (most >= range->width * BINS) {
        halve(range->bins);
        halve(range->bins + BINS);
        range->width *= 2;
    }
}

static void extremes(HoloRange *range, const float *x, int64_t count)
{
    float low = 0, high = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) continue;
        low  = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    if ((double)low < range->low) range->low = (double)low;
    if ((double)high > range->high) range->high = (double)high;
}

void holo_range_add(HoloRange *range, const float *x, int64_t count)
{
    extremes(range, x, count);
    double most = range->high > -range->low ? range->high : -range->low;
    if (most > 0) grow(range, most);
    double each = range->width > 0 ? 1 / range->width : 0;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            range->strange++;
            continue;
        }
        double magnitude = fabs((double)x[i]) * each;
        range->bins[(x[i] < 0 ? BINS : 0) + (int)magnitude]++;
        range->count++;
    }
}

// ---- steps

static HoloSteps steps_of(double low, double high)
{
    double scale = (high - low) / 255;
    if (!(scale >= (double)HOLO_SCALE_LEAST)) return (HoloSteps){1, 0};
    HoloSteps steps = {.scale = (float)scale};
    double    zero  = rint(-low / (double)steps.scale);
    steps.zero      = (uint8_t)(zero < 0 ? 0 : zero > 255 ? 255 : zero);
    return steps;
}

// The sum of squared errors, each number taken to be in the middle of its part.
static double loss_of(const HoloRange *range, HoloSteps steps)
{
    double loss = 0, scale = (double)steps.scale;
    for (int i = 0; i < 2 * BINS; i++) {
        if (!range->bins[i]) continue;
        double x = (i % BINS + 0.5) * range->width * (i < BINS ? 1 : -1), q = rint(x / scale) + steps.zero;
        q          = q < 0 ? 0 : q > 255 ? 255 : q;
        double off = (q - steps.zero) * scale - x;
        // Within a step errors are spread evenly, however coarse the parts are.
        double inside = q > 0 && q < 255 ? scale * scale / 12 : off * off;
        loss += (double)range->bins[i] * (inside > off * off ? inside : off * off);
    }
    return loss;
}

HoloSteps holo_range_steps(const HoloRange *range, HoloRanges how)
{
    enum { CUTS = 40 };
    HoloSteps best = steps_of(range->low, range->high);
    if (how == HOLO_RANGES_MINMAX) return best;
    double least = loss_of(range, best);
    for (int low = 0; low < CUTS; low++)
        for (int high = 0; high < CUTS; high++) {
            if ((low && range->low >= 0) || (high && range->high <= 0)) continue;
            if (low && high && low != high) continue;
            HoloSteps cut  = steps_of(range->low * (1 - 0.02 * low), range->high * (1 - 0.02 * high));
            double    loss = loss_of(range, cut);
            if (loss < least) {
                least = loss;
                best  = cut;
            }
        }
    return best;
}
