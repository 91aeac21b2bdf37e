// generate_sample.c - a token drawn by its probability, from the likeliest ones only. See generate.h.
//
// Random numbers are those that ONNX Runtime draws: of the generator minstd_rand0, two for each token.
#include "ops/microsoft/generate.h"

#include "base/math/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PRESENCE = 7, SEED };

HoloStatus holo_sampler_init(HoloGenerateSampler *p, HoloGeneration *s)
{
    const HoloCall *call = s->call;
    int64_t         seed;
    HOLO_TRY(holo_search_int(call, SEED, 0, &seed));
    HOLO_TRY(holo_search_tensor(call, PRESENCE, 2, &s->presence));
    *p = (HoloGenerateSampler){
        .is_custom = holo_attr_int(call, "custom", 0) != 0,
        .share     = (float)holo_attr_float(call, "top_p", 0),
        .filtered  = (float)holo_attr_float(call, "filter_value", -INFINITY),
        .least     = holo_attr_int(call, "min_tokens_to_keep", 0),
        .state     = (uint64_t)seed % HOLO_SAMPLER_MODULUS,
    };
    s->temperature      = (float)holo_attr_float(call, "temperature", 1);
    s->presence_penalty = (float)holo_attr_float(call, "presence_penalty", 0);
    if (!p->state) p->state = 1;
    if (seed < 0) return holo_call_fail(call, HOLO_BAD_INPUT, "seed is %lld", (long long)seed);
    if (!(s->temperature > 0)) s->temperature = 1;
    return HOLO_OK;
}

// From 0 to 1, without 1.
static double draw(HoloGenerateSampler *p)
{
    const double range = HOLO_SAMPLER_MODULUS - 1;
    double       low, high;
    p->state = p->state * 16807 % HOLO_SAMPLER_MODULUS;
    low      = (double)(p->state - 1);
    p->state = p->state * 16807 % HOLO_SAMPLER_MODULUS;
    high     = (double)(p->state - 1);
    double x = (low + high * range) / (range * range);
    return x < 1 ? x : nextafter(1, 0);
}

// The best first; of equal ones the one with the lower number.
static int by_score(const void *a, const void *b)
{
    const HoloRanked *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

static HoloStatus rank(HoloGenerateSampler *p, const HoloGeneration *s, const float *x)
{
    void *ranked;
    if (!p->ranked) {
        HOLO_TRY(holo_call_temp(s->call, (size_t)s->vocab, sizeof *p->ranked, &ranked));
        p->ranked = ranked;
    }
    for (int64_t i = 0; i < s->vocab; i++) p->ranked[i] = (HoloRanked){x[i] == x[i] ? x[i] : -INFINITY, 0, i};
    qsort(p->ranked, (size_t)s->vocab, sizeof *p->ranked, by_score);
    double sum = 0;
    for (int64_t i = 0; i < s->vocab; i++) sum += holo_exp((double)p->ranked[i].score - p->ranked[0].score);
    for (int64_t i = 0; i < s->vocab; i++)
        p->ranked[i].share = (float)(holo_exp((double)p->ranked[i].score - p->ranked[0].score) / sum);
    return HOLO_OK;
}

// Without `custom`: drops the least likely tokens that together have no more than 1 - share. With it: drops all tokens
// behind those that together have more than the share.
static void filter(const HoloGenerateSampler *p, const HoloGeneration *s, float *x)
{
    float all = 0;
    for (int64_t i = 0; p->is_custom && i < s->vocab - 1; i++) {
        all += p->ranked[i].share;
        if (all > p->share) x[p->ranked[i + 1].token] = p->filtered;
    }
    for (int64_t i = s->vocab - 1; !p->is_custom && i >= (p->least > 0 ? p->least : 0); i--) {
        all += p->ranked[i].share;
        if (all <= 1 - p->share) x[p->ranked[i].token] = p->filtered;
    }
}

HoloStatus holo_sampler_pick(HoloGenerateSampler *p, const HoloGeneration *s, int64_t row, int32_t *out)
{
    float *x = s->scores + row * s->vocab;
    HOLO_TRY(rank(p, s, x));
    filter(p, s, x);
    double top = -INFINITY, sum = 0, so_far = 0;
    for (int64_t i = 0; i < s->vocab; i++) top = isfinite(x[i]) && x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < s->vocab; i++) sum += isfinite(x[i]) ? holo_exp(x[i] - top) : 0;
    double limit = draw(p) * sum;
    *out         = (int32_t)p->ranked[0].token; // where no token is left
    for (int64_t i = 0; i < s->vocab; i++) {
        so_far += isfinite(x[i]) ? holo_exp(x[i] - top) : 0;
        if (so_far <= limit) continue;
        *out = (int32_t)i;
        break;
    }
    return HOLO_OK;
}
