// ranges.c - ranges of numbers as histograms, and 8-bit steps for them.
#include "quantize/ranges.h"

#include "quantize/layers.h"

#include <math.h>
#include <string.h>

enum { BINS = HOLO_RANGE_BINS };

// ---- collecting numbers

static void halve(uint64_t *bins)
{
    for (int i = 0; i < BINS / 2; i++) bins[i] = bins[2 * i] + bins[2 * i + 1];
    memset(bins + BINS / 2, 0, BINS / 2 * sizeof *bins);
}

// Makes room for numbers of up to that magnitude.
static void grow(HoloValueRange *range, double most)
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

static void extremes(HoloValueRange *range, const float *x, int64_t count)
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

void holo_range_add(HoloValueRange *range, const float *x, int64_t count)
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

// The sum of squared errors. Each number counts as the center of its bin.
static double loss_of(const HoloValueRange *range, HoloSteps steps)
{
    double loss = 0, scale = (double)steps.scale;
    for (int i = 0; i < 2 * BINS; i++) {
        if (!range->bins[i]) continue;
        double x = (i % BINS + 0.5) * range->width * (i < BINS ? 1 : -1), q = rint(x / scale) + steps.zero;
        q          = q < 0 ? 0 : q > 255 ? 255 : q;
        double off = (q - steps.zero) * scale - x;
        // Within a step errors are uniformly distributed, however coarse the bins are.
        double inside = q > 0 && q < 255 ? scale * scale / 12 : off * off;
        loss += (double)range->bins[i] * (inside > off * off ? inside : off * off);
    }
    return loss;
}

// The center of a bin.
static double middle(const HoloValueRange *range, int i)
{
    return (i % BINS + 0.5) * range->width * (i < BINS ? 1 : -1);
}

// How far the distribution of the numbers, cut off and rounded, is from the original: the Kullback-Leibler divergence.
// What is cut off counts at the ends; the numbers of a step are spread evenly over its bins that are not empty.
static double divergence_of(const HoloValueRange *range, HoloSteps steps)
{
    double held[256] = {0}, cut[2] = {0}, sum = 0;
    int    parts[256] = {0}, last[2] = {-1, -1};
    for (int i = 0; i < 2 * BINS; i++) {
        double q = rint(middle(range, i) / (double)steps.scale) + steps.zero, count = (double)range->bins[i];
        int    end = q > 255;
        if (!range->bins[i]) continue;
        if (q < 0 || q > 255) {
            cut[end] += count;
            continue;
        }
        held[(int)q] += count;
        parts[(int)q]++;
        for (int k = 0; k < 2; k++) // the bins at either end
            if (last[k] < 0 || (middle(range, i) > middle(range, last[k])) == (k == 1)) last[k] = i;
    }
    for (int i = 0; i < 2 * BINS; i++) {
        double q = rint(middle(range, i) / (double)steps.scale) + steps.zero;
        if (!range->bins[i] || q < 0 || q > 255) continue;
        double p = (double)range->bins[i] + (i == last[0] ? cut[0] : 0) + (i == last[1] ? cut[1] : 0);
        sum += p * log(p * parts[(int)q] / held[(int)q]);
    }
    // Both are distributions: p sums to all numbers, the other to those inside.
    double all = (double)range->count, inside = all - cut[0] - cut[1];
    return inside > 0 ? sum / all + log(inside / all) : INFINITY;
}

// Cuts off where `of` is smallest.
static HoloSteps steps_least(const HoloValueRange *range, double (*of)(const HoloValueRange *, HoloSteps))
{
    enum { CUTS = 40 };
    HoloSteps best  = steps_of(range->low, range->high);
    double    least = of(range, best);
    for (int low = 0; low < CUTS; low++)
        for (int high = 0; high < CUTS; high++) {
            if ((low && range->low >= 0) || (high && range->high <= 0)) continue;
            if (low && high && low != high) continue;
            HoloSteps cut  = steps_of(range->low * (1 - 0.02 * low), range->high * (1 - 0.02 * high));
            double    loss = of(range, cut);
            if (loss < least) {
                least = loss;
                best  = cut;
            }
        }
    return best;
}

// Half of the rest is cut off on either side.
static HoloSteps steps_percentile(const HoloValueRange *range, double percentile)
{
    double over = (double)range->count * (1 - percentile / 100) / 2, seen[2] = {0}, end[2] = {0};
    for (int side = 0; side < 2; side++) // first the largest positive numbers, then the lowest negative ones
        for (int i = BINS - 1; i >= 0 && !(end[side] > 0); i--) {
            seen[side] += (double)range->bins[side * BINS + i];
            if (seen[side] > over) end[side] = (i + 1) * range->width;
        }
    return steps_of(fmax(range->low, -end[1]), fmin(range->high, end[0]));
}

HoloSteps holo_range_steps(const HoloValueRange *range, HoloRanges how, double percentile)
{
    switch (how) {
    case HOLO_RANGES_MSE: return steps_least(range, loss_of);
    case HOLO_RANGES_ENTROPY: return steps_least(range, divergence_of);
    case HOLO_RANGES_PERCENTILE: return steps_percentile(range, percentile);
    case HOLO_RANGES_MINMAX: break;
    }
    return steps_of(range->low, range->high);
}
