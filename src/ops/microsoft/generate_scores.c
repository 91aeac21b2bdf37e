// generate_scores.c - what a search is asked for, and logits as scores of the next tokens. See generate.h.
#include "ops/microsoft/generate.h"

#include "base/math/math.h"
#include "ops/spread.h"

#include <float.h>
#include <math.h>
#include <string.h>

HoloFeed holo_search_feed(const char *name)
{
    static const struct {
        const char *name;
        HoloFeed    feed;
    } rows[] = {
        {"input_ids", HOLO_FEED_IDS},
        {"position_ids", HOLO_FEED_POSITIONS},
        {"attention_mask", HOLO_FEED_MASK},
        {"encoder_input_ids", HOLO_FEED_SOURCE},
        {"encoder_input_features", HOLO_FEED_SOURCE},
        {"encoder_attention_mask", HOLO_FEED_SOURCE_MASK},
        {"encoder_hidden_states", HOLO_FEED_STATES},
        {"decoder_input_ids", HOLO_FEED_START},
        {"past_sequence_length", HOLO_FEED_PAST_LENGTH},
        {"beam_width", HOLO_FEED_BEAM_WIDTH},
        {"cache_indirection", HOLO_FEED_BEAMS},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (!strcmp(rows[i].name, name)) return rows[i].feed;
    return HOLO_FEED_PAST;
}

// ---- what is asked for

static HoloStatus find_one(const HoloCall *call, int input, uint64_t types, const HoloTensor **out)
{
    const HoloTensor *t = input >= 0 && input < call->in_count - call->capture_count ? call->in[input] : NULL;
    *out                = t;
    if (!t) return HOLO_OK;
    HOLO_TRY(holo_expect_kind(call, input, HOLO_TENSOR));
    HOLO_TRY(holo_expect_types(call, input, types));
    if (holo_tensor_count(t) == 1) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_INPUT, "input %d is not one number", input);
}

HoloStatus holo_search_int(const HoloCall *call, int input, int64_t fallback, int64_t *out)
{
    const HoloTensor *t;
    HOLO_TRY(find_one(call, input, HOLO_TYPES_INDEX, &t));
    *out = t ? holo_get_i(t, 0) : fallback;
    return HOLO_OK;
}

HoloStatus holo_search_float(const HoloCall *call, int input, double fallback, double *out)
{
    const HoloTensor *t;
    HOLO_TRY(find_one(call, input, HOLO_TYPES_FLOAT, &t));
    *out = t ? holo_get_f(t, 0) : fallback;
    return HOLO_OK;
}

HoloStatus holo_search_tensor(const HoloCall *call, int input, int rank, const HoloTensor **out)
{
    *out = input >= 0 && input < call->in_count - call->capture_count ? call->in[input] : NULL;
    if (!*out) return HOLO_OK;
    HOLO_TRY(holo_expect_kind(call, input, HOLO_TENSOR));
    HOLO_TRY(holo_expect_types(call, input, HOLO_BIT(I32)));
    return holo_expect_rank(call, input, rank, rank);
}

static HoloStatus take_memory(HoloGeneration *s)
{
    void   *tokens, *old, *next;
    int64_t count;
    if (!holo_mul(s->rows, s->longest, &count)) return holo_fail_memory(s->call->error);
    HOLO_TRY(holo_call_temp(s->call, (size_t)count, sizeof *s->tokens, &tokens));
    HOLO_TRY(holo_call_temp(s->call, (size_t)count, sizeof *s->tokens, &old));
    HOLO_TRY(holo_call_temp(s->call, (size_t)s->rows, sizeof *s->next, &next));
    s->tokens = tokens;
    s->old    = old;
    s->next   = next;
    return HOLO_OK;
}

static HoloStatus find_lengths(HoloGeneration *s, const HoloSearchInputs *in)
{
    enum { LONGEST = 1 << 20, BEAMS = 1024 };
    const HoloCall *call = s->call;
    HOLO_TRY(holo_search_int(call, in->max_length, 0, &s->longest));
    HOLO_TRY(holo_search_int(call, in->min_length, 0, &s->shortest));
    HOLO_TRY(holo_search_int(call, in->beams, 1, &s->beams));
    if (s->prompt < 1) return holo_call_fail(call, HOLO_BAD_INPUT, "there is no token to begin with");
    if (s->longest <= s->prompt || s->longest > LONGEST)
        return holo_call_fail(call, HOLO_BAD_INPUT, "max_length is %lld, expected more than the %lld tokens given",
                              (long long)s->longest, (long long)s->prompt);
    if (s->beams < 1 || s->beams > BEAMS)
        return holo_call_fail(call, HOLO_BAD_INPUT, "num_beams is %lld, expected 1 to %d", (long long)s->beams, BEAMS);
    if (!holo_mul(s->batch, s->beams, &s->rows)) return holo_fail_memory(call->error);
    return HOLO_OK;
}

HoloStatus holo_search_init(HoloGeneration *s, HoloCall *call, const HoloSearchInputs *in, int64_t prompt)
{
    double penalty;
    *s = (HoloGeneration){.call = call, .source = call->in[0], .batch = call->in[0]->dim[0], .prompt = prompt};
    HOLO_TRY(find_lengths(s, in));
    HOLO_TRY(holo_search_float(call, in->penalty, 1, &penalty));
    if (!(penalty > 0)) return holo_call_fail(call, HOLO_BAD_INPUT, "repetition_penalty is %g", penalty);
    HOLO_TRY(holo_search_tensor(call, in->vocab_mask, 1, &s->vocab_mask));
    HOLO_TRY(holo_search_tensor(call, in->prefix_mask, 2, &s->prefix_mask));
    HOLO_TRY(holo_search_tensor(call, in->mask, 2, &s->mask));
    s->penalty     = (float)penalty;
    s->temperature = 1;
    s->length      = prompt;
    s->vocab       = holo_attr_int(call, "vocab_size", 0);
    s->eos         = holo_attr_int(call, "eos_token_id", -1);
    s->pad         = holo_attr_int(call, "pad_token_id", -1);
    s->ngram       = holo_attr_int(call, "no_repeat_ngram_size", 0);
    return take_memory(s);
}

// ---- scores

// The size of the vocabulary is known, at the latest, when there are logits.
static HoloStatus begin_scores(HoloGeneration *s, const HoloTensor *logits)
{
    const HoloCall *call = s->call;
    void           *scores, *is_seen;
    int64_t         count;
    if (logits->kind != HOLO_TENSOR || logits->rank != 3 || !(HOLO_TYPES_FLOAT >> logits->dtype & 1) ||
        logits->dim[1] < 1 || (logits->dim[0] != s->rows && logits->dim[0] != s->batch))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the decoder gives no logits for %lld sequences",
                              (long long)s->rows);
    if (s->vocab <= 0) s->vocab = logits->dim[2];
    if (s->vocab < 1 || s->vocab > logits->dim[2])
        return holo_call_fail(call, HOLO_BAD_MODEL, "a vocabulary of %lld tokens, where there are %lld logits",
                              (long long)s->vocab, (long long)logits->dim[2]);
    if (s->scores) return HOLO_OK;
    if (s->timestamps && (s->timestamps->first < 1 || s->timestamps->first >= s->vocab))
        return holo_call_fail(call, HOLO_BAD_MODEL, "beginning_timestamp_token_id is %lld, expected 1 to %lld",
                              (long long)s->timestamps->first, (long long)s->vocab - 1);
    if ((s->vocab_mask && s->vocab_mask->dim[0] != s->vocab) ||
        (s->prefix_mask && (s->prefix_mask->dim[1] != s->vocab || s->prefix_mask->dim[0] != s->batch)))
        return holo_call_fail(call, HOLO_BAD_INPUT, "a mask of the vocabulary is not for %lld tokens",
                              (long long)s->vocab);
    if (s->presence && (s->presence->dim[0] != s->rows || s->presence->dim[1] != s->vocab))
        return holo_call_fail(call, HOLO_BAD_INPUT, "presence_mask is not for %lld tokens", (long long)s->vocab);
    if (!holo_mul(s->rows, s->vocab, &count)) return holo_fail_memory(call->error);
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof *s->scores, &scores));
    HOLO_TRY(holo_call_temp(call, (size_t)s->vocab, sizeof *s->is_seen, &is_seen));
    s->scores  = scores;
    s->is_seen = is_seen;
    return HOLO_OK;
}

typedef struct Reading {
    HoloGeneration   *s;
    const HoloTensor *logits;
    bool              is_log;
} Reading;

// x - log(sum of e^x)
static void log_softmax(float *x, int64_t count)
{
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++) top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < count; i++) sum += holo_exp(x[i] - top);
    double shift = top + holo_log(sum);
    for (int64_t i = 0; i < count; i++) x[i] = (float)(x[i] - shift);
}

static void read_row(void *arg, int64_t row, int worker)
{
    (void)worker;
    const Reading        *r    = arg;
    const HoloGeneration *s    = r->s;
    const HoloTensor     *t    = r->logits;
    float                *x    = s->scores + row * s->vocab;
    int64_t               from = ((t->dim[0] == s->rows ? row : row / s->beams) + 1) * t->dim[1] - 1;
    for (int64_t i = 0; i < s->vocab; i += HOLO_TILE) {
        double  tile[HOLO_TILE];
        int64_t n = s->vocab - i < HOLO_TILE ? s->vocab - i : HOLO_TILE;
        holo_read_f(t, from * t->dim[2] + i, 1, n, tile);
        for (int64_t j = 0; j < n; j++) x[i + j] = (float)tile[j];
    }
    if (r->is_log) log_softmax(x, s->vocab);
}

static bool is_token(const HoloGeneration *s, int64_t token)
{
    return token >= 0 && token < s->vocab;
}

static void penalize_repetition(const HoloGeneration *s, const int32_t *tokens, float *x)
{
    for (int64_t i = 0; i < s->length; i++) {
        if (!is_token(s, tokens[i]) || s->is_seen[tokens[i]]) continue;
        float *score          = &x[tokens[i]];
        s->is_seen[tokens[i]] = 1;
        *score                = *score < 0 ? *score * s->penalty : *score / s->penalty;
    }
    for (int64_t i = 0; i < s->length; i++)
        if (is_token(s, tokens[i])) s->is_seen[tokens[i]] = 0;
}

// Forbids tokens that would make a run of `ngram` tokens occur a second time.
static void forbid_ngrams(const HoloGeneration *s, const int32_t *tokens, float *x)
{
    int64_t before = s->ngram - 1;
    for (int64_t i = 0; i + s->ngram <= s->length; i++)
        if (!memcmp(tokens + i, tokens + s->length - before, (size_t)before * sizeof *tokens) &&
            is_token(s, tokens[i + before]))
            x[tokens[i + before]] = -FLT_MAX;
}

static void mask_tokens(const HoloGeneration *s, const HoloTensor *mask, int64_t row, float *x)
{
    const int32_t *allowed = (const int32_t *)mask->data + row * s->vocab;
    for (int64_t i = 0; i < s->vocab; i++)
        if (!allowed[i]) x[i] = -FLT_MAX;
}

static void change_row(const HoloGeneration *s, int64_t row)
{
    const int32_t *tokens = s->tokens + row * s->longest;
    float         *x      = s->scores + row * s->vocab;
    if (s->penalty != 1) penalize_repetition(s, tokens, x);
    if (s->ngram > 0) forbid_ngrams(s, tokens, x);
    if (s->vocab_mask) mask_tokens(s, s->vocab_mask, 0, x);
    if (s->prefix_mask && s->steps == 1) mask_tokens(s, s->prefix_mask, row / s->beams, x);
    if (s->length < s->shortest && is_token(s, s->eos)) x[s->eos] = -FLT_MAX;
    for (int64_t i = 0; i < s->vocab && s->temperature != 1; i++) x[i] /= s->temperature;
    for (int64_t i = 0; i < s->vocab && s->presence; i++)
        x[i] -= (float)((const int32_t *)s->presence->data)[row * s->vocab + i] * s->presence_penalty;
    if (s->timestamps) holo_search_timestamps(s, row);
}

HoloStatus holo_search_scores(HoloGeneration *s, const HoloTensor *logits, bool is_log)
{
    enum { EXP = 32 }; // steps that an element takes, about
    HOLO_TRY(begin_scores(s, logits));
    Reading reading = {s, logits, is_log};
    holo_spread(s->call, s->rows, (double)s->rows * (double)s->vocab * EXP, read_row, &reading);
    s->steps++;
    for (int64_t row = 0; row < s->rows; row++) change_row(s, row);
    return HOLO_OK;
}

void holo_search_append(HoloGeneration *s, const int64_t *from)
{
    if (from) {
        int32_t *tokens = s->old;
        for (int64_t row = 0; row < s->rows; row++)
            memcpy(tokens + row * s->longest, s->tokens + from[row] * s->longest,
                   (size_t)s->length * sizeof *s->tokens);
        s->old    = s->tokens;
        s->tokens = tokens;
    }
    for (int64_t row = 0; row < s->rows; row++) s->tokens[row * s->longest + s->length] = s->next[row];
    s->length++;
}
