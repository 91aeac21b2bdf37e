// sampler_choose.c - the choice itself: temperature, top-k, top-p, min-p, typical-p, and a random number.
#include "base/math/math.h"
#include "text/sampler.h"

#include <stdlib.h>

typedef struct Choice {
    HoloSampler *s;
    float        top;     // the largest score
    double       scale;   // 1 / temperature
    bool         is_list; // some tokens are left, in s->candidate; else all of them are
} Choice;

// A number in [0, 1) that depends on the seed, the stream and the number of tokens alone.
static double draw(const HoloSampler *s)
{
    HoloRandom r = {s->options.seed};
    r.state      = holo_random_next(&r) ^ s->stream;
    r.state      = holo_random_next(&r) ^ s->accepted;
    return holo_random_unit(&r);
}

static void weigh(const Choice *c)
{
    for (size_t i = 0; i < c->s->candidate_count; i++) {
        HoloTokenCandidate *one = &c->s->candidate[i];
        one->weight             = holo_exp(((double)one->score - c->top) * c->scale);
    }
}

static double sum_of(const HoloSampler *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->candidate_count; i++) sum += s->candidate[i].weight;
    return sum;
}

// All candidates that are at least e^-depth as probable as the first.
static void collect(Choice *c, double depth)
{
    double least = c->top - depth / c->scale;
    least -= (least < 0 ? -least : least) * 1e-6; // it is rounded to a float
    holo_candidates_from(c->s, least < -3e38 ? -3.4e38f : (float)least);
    weigh(c);
}

// ---- steps, each over what the last one left

static void keep_top_k(Choice *c)
{
    if (!c->s->options.top_k || c->s->options.top_k >= c->s->vocabulary) return;
    holo_candidates_best(c->s, c->s->options.top_k);
    weigh(c);
    c->is_list = true;
}

static void keep_top_p(Choice *c)
{
    HoloSampler *s = c->s;
    double       p = s->options.top_p, before = 0, enough;
    if (!(p < 1)) return;
    if (c->is_list) {
        size_t kept = 0;
        enough      = p * sum_of(s);
        for (; kept < s->candidate_count && before < enough; kept++) before += s->candidate[kept].weight;
        s->candidate_count = kept;
        return;
    }
    static const double depths[] = {5, 10, 20, -HOLO_WEIGHT_NOTHING};
    enough                       = p * holo_weights_sum(s, c->top, (float)c->scale);
    for (int i = 0; i < HOLO_COUNT(depths) && !s->is_failed; i++) { // most of them are never looked at
        collect(c, depths[i]);
        if (sum_of(s) > enough * (1 + 1e-5)) break;
    }
    s->candidate_count = holo_candidates_order(s, enough);
    c->is_list         = true;
}

static void keep_min_p(Choice *c)
{
    HoloSampler *s    = c->s;
    size_t       kept = 0;
    double       p    = s->options.min_p;
    if (!(p > 0)) return;
    if (!c->is_list) {
        collect(c, 1e-3 - holo_log(p));
        holo_candidates_order(s, s->is_failed ? 0 : __builtin_inf());
    }
    for (size_t i = 0; i < s->candidate_count; i++)
        if (s->candidate[i].weight >= p) s->candidate[kept++] = s->candidate[i];
    s->candidate_count = kept;
    c->is_list         = true;
}

static int by_distance(const void *a, const void *b)
{
    const HoloTokenCandidate *x = a, *y = b;
    if (x->far < y->far || x->far > y->far) return x->far < y->far ? -1 : 1;
    return holo_token_candidate_before(*x, *y) ? -1 : 1; // no two are the same
}

static void keep_typical(Choice *c)
{
    HoloSampler *s = c->s;
    double       sum, log_sum, expected = 0, before = 0;
    size_t       kept = 0;
    if (!(s->options.typical_p < 1)) return;
    if (!c->is_list) collect(c, -HOLO_WEIGHT_NOTHING);
    c->is_list = true;
    if (s->is_failed) return;
    sum     = sum_of(s);
    log_sum = holo_log(sum);
    for (size_t i = 0; i < s->candidate_count; i++) {
        HoloTokenCandidate *one = &s->candidate[i];
        one->far                = log_sum - ((double)one->score - c->top) * c->scale; // its information
        expected += one->weight / sum * one->far;
    }
    for (size_t i = 0; i < s->candidate_count; i++) {
        double apart        = s->candidate[i].far - expected;
        s->candidate[i].far = apart < 0 ? -apart : apart;
    }
    if (s->candidate_count) qsort(s->candidate, s->candidate_count, sizeof *s->candidate, by_distance);
    for (; kept < s->candidate_count && before < s->options.typical_p * sum; kept++)
        before += s->candidate[kept].weight;
    s->candidate_count = kept;
}

// ---- draws

static uint32_t draw_candidate(const HoloSampler *s)
{
    double   wanted = draw(s) * sum_of(s), sum = 0;
    uint32_t last = s->candidate[0].token;
    for (size_t i = 0; i < s->candidate_count; i++) {
        if (s->candidate[i].weight > 0) last = s->candidate[i].token;
        sum += s->candidate[i].weight;
        if (sum > wanted) break;
    }
    return last;
}

static uint32_t draw_any(const Choice *c)
{
    HoloSampler *s      = c->s;
    double       wanted = draw(s) * holo_weights_sum(s, c->top, (float)c->scale), sum = 0;
    size_t       b = 0, last_block = 0;
    float        weight[HOLO_SCORE_BLOCK];
    for (; b < s->block_count; b++) {
        if (s->block[b] > 0) last_block = b;
        if (sum + s->block[b] > wanted) break;
        sum += s->block[b];
    }
    b             = last_block;
    uint32_t last = 0;
    holo_weights_block(s->score + b * HOLO_SCORE_BLOCK, c->top, (float)c->scale, weight);
    for (uint32_t k = 0; k < HOLO_SCORE_BLOCK; k++) {
        if (weight[k] > 0) last = k;
        sum += (double)weight[k];
        if (weight[k] > 0 && sum > wanted) break;
    }
    return (uint32_t)b * HOLO_SCORE_BLOCK + last;
}

static uint32_t first_of(const HoloSampler *s, float top)
{
    for (uint32_t i = 0; i < s->vocabulary; i++)
        if (s->score[i] >= top) return i;
    return 0;
}

// ---- log-probabilities

// Of the model: before any step. The logarithm of the sum is kept for the token that is chosen later.
static void look_at_model(HoloSampler *s, double *out_log_sum, HoloSampled *out)
{
    float top    = holo_scores_top(s);
    *out_log_sum = top + holo_log(holo_weights_sum(s, top, 1));
    if (!s->options.best) return;
    holo_candidates_best(s, s->options.best < s->vocabulary ? s->options.best : s->vocabulary);
    for (size_t i = 0; i < s->candidate_count; i++)
        s->best[i] = (HoloTokenLogprob){s->candidate[i].token, (float)((double)s->candidate[i].score - *out_log_sum)};
    out->best       = s->best;
    out->best_count = s->candidate_count;
}

HoloStatus holo_sampler_choose(HoloSampler *s, const float *logits, const uint64_t *mask, HoloSampled *out_sampled,
                               HoloError *error)
{
    double log_sum = 0;
    *out_sampled   = (HoloSampled){0};
    s->is_failed   = false;
    holo_sampler_take(s, logits);
    if (s->options.logprobs) look_at_model(s, &log_sum, out_sampled);
    holo_sampler_change(s, mask);
    Choice c = {.s = s, .top = holo_scores_top(s)};
    if (c.top == -__builtin_inff())
        return holo_fail(error, HOLO_BAD_INPUT,
                         "no token is left to choose: all are banned, masked, or have no number as logit");
    if (s->options.temperature == 0) {
        out_sampled->token = first_of(s, c.top);
    } else {
        c.scale = 1 / (double)s->options.temperature;
        keep_top_k(&c);
        keep_top_p(&c);
        keep_min_p(&c);
        keep_typical(&c);
        if (s->is_failed) return holo_fail_memory(error);
        out_sampled->token = c.is_list ? draw_candidate(s) : draw_any(&c);
    }
    if (s->options.logprobs) {
        float x              = logits[out_sampled->token];
        out_sampled->logprob = (float)((double)(x < 3.402823e38f ? x : 3.402823e38f) - log_sum);
    }
    return s->is_failed ? holo_fail_memory(error) : HOLO_OK;
}
