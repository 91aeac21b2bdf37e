// generate_timestamps.c - which tokens Whisper may go on with, so that timestamps come in pairs and never go back. See
// generate.h.
//
// Tokens from `first` on are timestamps. One begins a segment of text and one ends it.
#include "ops/microsoft/generate.h"

#include "base/math/math.h"

#include <float.h>
#include <math.h>

static void forbid(const HoloGeneration *s, float *x, int64_t from, int64_t to)
{
    from = from < 0 ? 0 : from;
    for (int64_t i = from; i < to && i < s->vocab; i++) x[i] = -FLT_MAX;
}

static void forbid_one(const HoloGeneration *s, float *x, int64_t token)
{
    if (token >= 0) forbid(s, x, token, token + 1);
}

// Whether the timestamps together are likelier than any single other token.
static bool stamps_win(const HoloGeneration *s, const float *x, int64_t first)
{
    float  text = -INFINITY, top = -INFINITY;
    double sum = 0;
    for (int64_t i = 0; i < first; i++) text = x[i] > text ? x[i] : text;
    for (int64_t i = first; i < s->vocab; i++) top = x[i] > top ? x[i] : top;
    for (int64_t i = first; i < s->vocab; i++)
        if (x[i] > -FLT_MAX) sum += holo_exp(x[i] - top);
    return sum > 0 && (float)(holo_log(sum) + top) > text;
}

void holo_search_timestamps(const HoloGeneration *s, int64_t row)
{
    enum { LATEST = 50 }; // steps at which the first segment may begin
    const HoloTimestamps *t      = s->timestamps;
    const int32_t        *tokens = s->tokens + row * s->longest;
    float                *x      = s->scores + row * s->vocab;
    int64_t               n = s->length, begun = 0, last = -1; // tokens up to the first timestamp; the last one
    while (begun < n && tokens[begun++] < t->first) continue;
    for (int64_t i = 0; i < n; i++)
        if (tokens[i] >= t->first) last = tokens[i];
    bool is_stamp = tokens[n - 1] >= t->first, is_second = n <= begun || tokens[n - 2] >= t->first;

    forbid_one(s, x, t->none);
    forbid_one(s, x, t->start_of_lm);
    for (int i = 0; i < HOLO_COUNT(t->task) && n > begun; i++) forbid_one(s, x, t->task[i]);
    if (is_stamp && is_second) forbid(s, x, t->first, s->vocab);
    if (is_stamp && !is_second) forbid(s, x, 0, s->eos);
    if (last >= 0) forbid(s, x, t->first, is_stamp && !is_second ? last : last + 1);
    if (n == begun) forbid(s, x, t->first + LATEST + 1, s->vocab);
    if (stamps_win(s, x, t->first)) forbid(s, x, 0, t->first);
}
