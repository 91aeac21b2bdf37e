// sampler_scores.c - logits before the choice: penalties, bias, banned tokens, masks.
#include "text/sampler.h"

#include <float.h>
#include <string.h>

static const float nothing = -__builtin_inff();

static float clean(float x) // NaN is never chosen; infinity is the largest number
{
    x = x == x ? x : nothing;
    return x < FLT_MAX ? x : FLT_MAX;
}

static void clean_lanes(const float *restrict from, float *restrict to)
{
    float x[HOLO_SCORE_LANES];
    for (int k = 0; k < HOLO_SCORE_LANES; k++) x[k] = from[k] >= -FLT_MAX ? from[k] : nothing;
    for (int k = 0; k < HOLO_SCORE_LANES; k++) to[k] = x[k] < FLT_MAX ? x[k] : FLT_MAX;
}

void holo_sampler_take(HoloSampler *s, const float *logits)
{
    size_t i = 0, count = s->vocabulary;
    for (; count - i >= HOLO_SCORE_LANES; i += HOLO_SCORE_LANES) clean_lanes(logits + i, s->score + i);
    for (; i < count; i++) s->score[i] = clean(logits[i]);
}

// ---- the counts of tokens

static size_t slot_of(const HoloSampler *s, uint32_t token)
{
    size_t at = (token * UINT32_C(0x9E3779B1)) & (s->count_slots - 1);
    while (s->count[at].is_used && s->count[at].token != token) at = (at + 1) & (s->count_slots - 1);
    return at;
}

static bool counts_grow(HoloSampler *s)
{
    size_t          slots = 256, live = 1, bytes;
    HoloTokenCount *old = s->count;
    for (size_t i = 0; i < s->count_slots; i++) live += old[i].all > 0;
    while (slots < live * 4) slots *= 2;
    HoloTokenCount *more = holo_size_mul(slots, sizeof *more, &bytes) ? holo_realloc(NULL, bytes) : NULL;
    if (!more) return false;
    memset(more, 0, bytes);
    size_t old_slots = s->count_slots;
    s->count         = more;
    s->count_slots   = slots;
    s->count_used    = live - 1;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i].all) more[slot_of(s, old[i].token)] = old[i];
    holo_free(old);
    return true;
}

bool holo_sampler_count(HoloSampler *s, size_t place, bool is_new)
{
    if (is_new && (s->count_used + 1) * 2 > s->count_slots && !counts_grow(s)) return false;
    size_t          at     = slot_of(s, s->history[place]);
    HoloTokenCount *c      = &s->count[at];
    bool            is_own = place >= s->prompt_end;
    if (!c->is_used) {
        *c = (HoloTokenCount){.token = s->history[place], .is_used = true};
        s->count_used++;
    }
    c->all += is_new ? 1 : -1u;
    if (is_own) c->own += is_new ? 1 : -1u;
    return true;
}

// ---- the steps

static void penalize(HoloSampler *s)
{
    const HoloSamplerOptions *o = &s->options;
    if (o->repetition_penalty == 1 && !(o->presence_penalty != 0) && !(o->frequency_penalty != 0)) return;
    for (size_t i = 0; i < s->count_slots; i++) {
        HoloTokenCount c = s->count[i];
        float         *x = &s->score[c.token];
        if (c.all) *x = *x < 0 ? *x * o->repetition_penalty : *x / o->repetition_penalty;
        if (c.own) *x = *x - o->frequency_penalty * (float)c.own - o->presence_penalty;
        if (c.all) *x = clean(*x);
    }
}

static void ban(HoloSampler *s, const uint32_t *token, size_t count)
{
    for (size_t i = 0; i < count; i++) s->score[token[i]] = nothing;
}

// Bans what followed the last n - 1 tokens wherever these were before.
static void ban_repeats(HoloSampler *s)
{
    size_t n = s->options.no_repeat_ngram, count = s->history_count;
    if (!n || count < n) return;
    const uint32_t *last = s->history + count - (n - 1);
    for (size_t i = 0; i + n <= count; i++)
        if (!memcmp(s->history + i, last, (n - 1) * sizeof *last)) s->score[s->history[i + n - 1]] = nothing;
}

static void apply(const uint64_t *mask, uint32_t count, float *score)
{
    for (uint32_t word = 0; word * UINT32_C(64) < count; word++) {
        uint64_t not_allowed = ~mask[word];
        uint32_t first       = word * 64;
        if (count - first < 64) not_allowed &= (UINT64_C(1) << (count - first)) - 1;
        if (not_allowed == UINT64_MAX) { // as most words are under a narrow grammar
            for (int k = 0; k < 64; k++) score[first + (uint32_t)k] = nothing;
            continue;
        }
        for (; not_allowed; not_allowed &= not_allowed - 1)
            score[first + (uint32_t)__builtin_ctzll(not_allowed)] = nothing;
    }
}

void holo_mask_apply(const uint64_t *mask, uint32_t count, float *logits)
{
    apply(mask, count, logits);
}

void holo_sampler_change(HoloSampler *s, const uint64_t *mask)
{
    const HoloSamplerOptions *o = &s->options;
    penalize(s);
    for (size_t i = 0; i < o->bias_count; i++) {
        float *x = &s->score[o->bias[i].token];
        *x       = clean(*x + o->bias[i].value);
    }
    ban(s, o->banned, o->banned_count);
    if (s->accepted < o->min_tokens) ban(s, o->end_tokens, o->end_token_count);
    ban_repeats(s);
    if (mask) apply(mask, s->vocabulary, s->score);
}
