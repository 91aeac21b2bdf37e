// sampler.c - samplers: their options, and the tokens that they remember.
#include "text/sampler.h"

#include <string.h>

void holo_sampler_defaults(HoloSamplerOptions *out_options)
{
    *out_options = (HoloSamplerOptions){
        .size = sizeof *out_options, .temperature = 1, .top_p = 1, .typical_p = 1, .repetition_penalty = 1};
}

// ---- checks

static HoloStatus check_numbers(const HoloSamplerOptions *o, HoloError *error)
{
    const struct {
        const char *name;
        float       value, least, most;
        bool        zero_is_fine;
    } rows[] = {
        {"temperature", o->temperature, 1e-5f, 100, true},
        {"top_p", o->top_p, 1e-9f, 1, false},
        {"min_p", o->min_p, 0, 1, false},
        {"typical_p", o->typical_p, 1e-9f, 1, false},
        {"repetition_penalty", o->repetition_penalty, 1e-3f, 1000, false},
        {"presence_penalty", o->presence_penalty, -1000, 1000, false},
        {"frequency_penalty", o->frequency_penalty, -1000, 1000, false},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        bool is_fine = (rows[i].value >= rows[i].least && rows[i].value <= rows[i].most) ||
                       (rows[i].zero_is_fine && rows[i].value == 0);
        if (!is_fine)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "%s is %g: it must be %sfrom %g to %g", rows[i].name,
                             (double)rows[i].value, rows[i].zero_is_fine ? "0, or " : "", (double)rows[i].least,
                             (double)rows[i].most);
    }
    if (o->best > 1000) return holo_fail(error, HOLO_BAD_ARGUMENT, "best is %u: it must be at most 1000", o->best);
    return HOLO_OK;
}

static HoloStatus check_tokens(const HoloSamplerOptions *o, uint32_t vocabulary, HoloError *error)
{
    const struct {
        const char     *name;
        const uint32_t *token;
        size_t          count;
    } lists[] = {{"end_tokens", o->end_tokens, o->end_token_count}, {"banned", o->banned, o->banned_count}};
    for (int k = 0; k < HOLO_COUNT(lists); k++)
        for (size_t i = 0; i < lists[k].count; i++)
            if (!lists[k].token || lists[k].token[i] >= vocabulary)
                return holo_fail(error, HOLO_BAD_ARGUMENT, "%s[%zu] is no token: the vocabulary has %u tokens",
                                 lists[k].name, i, vocabulary);
    for (size_t i = 0; i < o->bias_count; i++) {
        if (!o->bias || o->bias[i].token >= vocabulary)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "bias[%zu] is no token: the vocabulary has %u tokens", i,
                             vocabulary);
        if (o->bias[i].value != o->bias[i].value)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "bias[%zu] is not a number", i);
    }
    return HOLO_OK;
}

// The options of any version of the struct, over the defaults.
static HoloStatus read_options(const HoloSamplerOptions *given, uint32_t vocabulary, HoloSamplerOptions *out,
                               HoloError *error)
{
    holo_sampler_defaults(out);
    if (!vocabulary || vocabulary > INT32_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a vocabulary has from 1 to 2147483647 tokens, not %u", vocabulary);
    if (!given) return HOLO_OK;
    if (given->size < sizeof given->size || given->size > 4096)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "the options have no size: call holo_sampler_defaults before you change them");
    memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
    out->size = sizeof *out;
    HOLO_TRY(check_numbers(out, error));
    return check_tokens(out, vocabulary, error);
}

// ---- life

static void *copied(const void *list, size_t count, size_t size, bool *is_failed)
{
    size_t bytes;
    void  *copy = holo_size_mul(count, size, &bytes) ? holo_realloc(NULL, bytes) : NULL;
    if (!copy) *is_failed = true;
    if (copy && bytes) memcpy(copy, list, bytes);
    return copy;
}

// Makes the sampler owner of all that it points to. What it pointed to before is another's.
static void own(HoloSampler *s)
{
    HoloSamplerOptions *o      = &s->options;
    size_t              scores = holo_align(s->vocabulary, HOLO_SCORE_BLOCK);
    s->block_count             = scores / HOLO_SCORE_BLOCK;
    s->candidate               = NULL;
    s->candidate_room          = 0;
    s->history_room            = s->history_count;
    o->end_tokens              = copied(o->end_tokens, o->end_token_count, sizeof *o->end_tokens, &s->is_failed);
    o->banned                  = copied(o->banned, o->banned_count, sizeof *o->banned, &s->is_failed);
    o->bias                    = copied(o->bias, o->bias_count, sizeof *o->bias, &s->is_failed);
    s->history                 = copied(s->history, s->history_count, sizeof *s->history, &s->is_failed);
    s->count                   = copied(s->count, s->count_slots, sizeof *s->count, &s->is_failed);
    s->score                   = holo_realloc(NULL, scores * sizeof *s->score);
    s->block                   = holo_realloc(NULL, s->block_count * sizeof *s->block);
    s->best                    = holo_realloc(NULL, o->best * sizeof *s->best);
    if (!s->score || !s->block || !s->best) s->is_failed = true;
    for (size_t i = s->vocabulary; s->score && i < scores; i++) s->score[i] = -__builtin_inff();
}

static HoloStatus create(const HoloSampler *like, HoloSampler **out_sampler, HoloError *error)
{
    HoloSampler *s = holo_realloc(NULL, sizeof *s);
    *out_sampler   = NULL;
    if (!s) return holo_fail_memory(error);
    *s           = *like;
    s->is_failed = false;
    own(s);
    if (s->is_failed) {
        holo_sampler_destroy(s);
        return holo_fail_memory(error);
    }
    *out_sampler = s;
    return HOLO_OK;
}

HoloStatus holo_sampler_create(const HoloSamplerOptions *options, uint32_t vocabulary, HoloSampler **out_sampler,
                               HoloError *error)
{
    HoloSampler like = {.vocabulary = vocabulary};
    *out_sampler     = NULL;
    HOLO_TRY(read_options(options, vocabulary, &like.options, error));
    return create(&like, out_sampler, error);
}

HoloStatus holo_sampler_fork(const HoloSampler *sampler, uint64_t stream, HoloSampler **out_sampler, HoloError *error)
{
    HoloSampler like = *sampler;
    like.stream      = stream;
    return create(&like, out_sampler, error);
}

void holo_sampler_destroy(HoloSampler *s)
{
    if (!s) return;
    void *all[] = {(void *)s->options.end_tokens,
                   (void *)s->options.banned,
                   (void *)s->options.bias,
                   s->history,
                   s->count,
                   s->score,
                   s->block,
                   s->candidate,
                   s->best};
    for (int i = 0; i < HOLO_COUNT(all); i++) holo_free(all[i]);
    holo_free(s);
}

void holo_sampler_reset(HoloSampler *s)
{
    s->history_count = s->prompt_end = s->count_used = 0;
    s->accepted                                      = 0;
    if (s->count_slots) memset(s->count, 0, s->count_slots * sizeof *s->count);
}

// ---- tokens

static HoloStatus remember(HoloSampler *s, uint32_t token, HoloError *error)
{
    if (token >= s->vocabulary)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "token %u does not exist: the vocabulary has %u tokens", token,
                         s->vocabulary);
    if (s->history_count == s->history_room) {
        size_t    room = s->history_room ? s->history_room * 2 : 256, bytes;
        uint32_t *more = holo_size_mul(room, sizeof *more, &bytes) ? holo_realloc(s->history, bytes) : NULL;
        if (!more) return holo_fail_memory(error);
        s->history      = more;
        s->history_room = room;
    }
    s->history[s->history_count] = token;
    if (!holo_sampler_count(s, s->history_count, true)) return holo_fail_memory(error);
    s->history_count++;
    size_t window = s->options.penalty_window;
    if (window && s->history_count > window && !holo_sampler_count(s, s->history_count - 1 - window, false))
        return holo_fail_memory(error);
    return HOLO_OK;
}

HoloStatus holo_sampler_accept_prompt(HoloSampler *s, const uint32_t *ids, size_t count, HoloError *error)
{
    if (s->accepted)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "the prompt comes before the tokens that are accepted: call holo_sampler_reset first");
    for (size_t i = 0; i < count; i++) {
        s->prompt_end     = s->history_count + 1;
        HoloStatus status = remember(s, ids[i], error);
        if (status) return s->prompt_end = s->history_count, status;
    }
    return HOLO_OK;
}

HoloStatus holo_sampler_accept(HoloSampler *s, uint32_t token, HoloError *error)
{
    HOLO_TRY(remember(s, token, error));
    if (s->accepted < UINT32_MAX) s->accepted++;
    return HOLO_OK;
}
