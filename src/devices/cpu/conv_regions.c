// conv_regions.c - finds the regions of a convolution, and which of them are worth it.
#include "devices/cpu/conv_regions.h"

#include "base/base.h"

enum {
    REACH = 8, // a filter that reaches over less than this part of the image has little in the padding
    START = 12 // pixels that starting a region costs, because its weights are read again
};

static const double WORTH = 0.9; // most multiplications, relative to the whole, for which regions are worth it

static HoloConvSpan whole(const HoloConvShape *s, int d)
{
    return (HoloConvSpan){.count = s->out[d], .places = s->kernel[d]};
}

static int64_t ceil_at_least_0(int64_t a, int64_t b)
{
    return a <= 0 ? 0 : holo_ceil_div(a, b);
}

// The span that begins with pixel `at`.
static HoloConvSpan span_at(const HoloConvShape *s, int d, int64_t at)
{
    int64_t start = at * s->stride[d] - s->pad[d], dilation = s->dilation[d], end = s->out[d];
    int64_t from = holo_least(ceil_at_least_0(-start, dilation), s->kernel[d]);
    int64_t to   = holo_least(ceil_at_least_0(s->in[d] - start, dilation), s->kernel[d]);
    // The range changes where an earlier place comes in, or the last one goes out.
    if (from > 0) end = holo_least(end, ceil_at_least_0(s->pad[d] - (from - 1) * dilation, s->stride[d]));
    if (to > 0) end = holo_least(end, ceil_at_least_0(s->in[d] + s->pad[d] - (to - 1) * dilation, s->stride[d]));
    return (HoloConvSpan){at, end - at, from, to > from ? to - from : 0};
}

static HoloConvSpan joined(const HoloConvSpan *a, const HoloConvSpan *b)
{
    if (!a->places || !b->places)
        return (HoloConvSpan){a->first, a->count + b->count, a->places ? a->place : b->place, a->places + b->places};
    int64_t place = holo_least(a->place, b->place), end = a->place + a->places;
    if (b->place + b->places > end) end = b->place + b->places;
    return (HoloConvSpan){a->first, a->count + b->count, place, end - place};
}

// If there are too many spans, two become one.
static int spans_find(const HoloConvShape *s, int d, HoloConvSpan *out)
{
    int count = 0;
    out[0]    = whole(s, d);
    if ((s->kernel[d] - 1) * s->dilation[d] < s->out[d] * s->stride[d] / REACH) return 1;
    for (int64_t at = 0; at < s->out[d]; at += out[count++].count) {
        if (count == HOLO_CONV_SPANS)
            for (count = 0; count < HOLO_CONV_SPANS / 2; count++)
                out[count] = joined(&out[2 * count], &out[2 * count + 1]);
        out[count] = span_at(s, d, at);
    }
    return count;
}

// What spans cost, as a sum over them: a region costs the product of its pixels and places, plus START pixels.
typedef struct Cost {
    double pixels, regions;
} Cost;

static Cost span_cost(const HoloConvSpan *span)
{
    return (Cost){(double)span->count * (double)span->places, span->places ? (double)span->places : 1};
}

static double total(const Cost cost[3], int64_t batch)
{
    return cost[0].pixels * cost[1].pixels * cost[2].pixels * (double)batch +
           START * cost[0].regions * cost[1].regions * cost[2].regions;
}

// The cost of dimension d with spans i and i + 1 joined.
static Cost cost_joined(const HoloConvRegions *r, const Cost *now, int d, int i)
{
    const HoloConvSpan *a = &r->span[d][i], one = joined(a, a + 1);
    Cost                first = span_cost(a), second = span_cost(a + 1), both = span_cost(&one);
    return (Cost){now->pixels - first.pixels - second.pixels + both.pixels,
                  now->regions - first.regions - second.regions + both.regions};
}

// Joins two spans if that does not cost more, where it costs least. False: there are none.
static bool join(HoloConvRegions *r, Cost cost[3], int64_t batch)
{
    double best = total(cost, batch);
    int    at = -1, of = 0;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i + 1 < r->count[d]; i++) {
            Cost now = cost[d];
            cost[d]  = cost_joined(r, &now, d, i);
            if (total(cost, batch) <= best) best = total(cost, batch), at = i, of = d;
            cost[d] = now;
        }
    if (at < 0) return false;
    HoloConvSpan *span = r->span[of];
    cost[of]           = cost_joined(r, &cost[of], of, at);
    span[at]           = joined(&span[at], &span[at + 1]);
    for (int i = at + 1; i + 1 < r->count[of]; i++) span[i] = span[i + 1];
    r->count[of]--;
    return true;
}

bool holo_conv_regions(const HoloConvShape *s, int64_t batch, HoloConvRegions *out)
{
    Cost cost[3] = {{0}}, all[3];
    bool is_any  = false;
    for (int d = 0; d < 3; d++) {
        HoloConvSpan span = whole(s, d);
        all[d]            = span_cost(&span);
        out->count[d]     = spans_find(s, d, out->span[d]);
        for (int i = 0; i < out->count[d]; i++) {
            Cost one = span_cost(&out->span[d][i]);
            cost[d].pixels += one.pixels;
            cost[d].regions += one.regions;
        }
        is_any = is_any || cost[d].pixels < all[d].pixels;
    }
    while (is_any && join(out, cost, batch)) {
    }
    out->share = total(cost, batch) / total(all, batch);
    if (is_any && out->share < WORTH) return true;
    for (int d = 0; d < 3; d++) {
        out->count[d]   = 1;
        out->span[d][0] = whole(s, d);
    }
    out->share = 1;
    return false;
}

HoloConvShape holo_conv_region(const HoloConvShape *s, const HoloConvRegions *r, int64_t i, const HoloConvSpan *span[3])
{
    HoloConvShape out = *s;
    for (int d = 2; d >= 0; d--, i /= r->count[d + 1]) {
        span[d]       = &r->span[d][i % r->count[d]];
        out.out[d]    = span[d]->count;
        out.kernel[d] = span[d]->places;
        out.pad[d]    = s->pad[d] - span[d]->first * s->stride[d] - span[d]->place * s->dilation[d];
    }
    return out;
}
