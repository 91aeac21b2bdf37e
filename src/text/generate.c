// generate.c - continues a text token by token: reads, chooses, and gives out what may be shown.
//
// With lookup, tokens that followed the same few tokens earlier in the text are guessed, and all guesses are checked in
// one run: each is kept only if the sampler would have chosen it. So the text is the same with and without.
#include "text/answer.h"

#include "base/files.h"

#include <stdlib.h>
#include <string.h>

enum { NGRAM = 4 }; // the most tokens that a guess looks for

void holo_generate_defaults(const HoloLanguage *language, HoloGenerateOptions *out_options)
{
    memset(out_options, 0, sizeof *out_options);
    out_options->size = sizeof *out_options;
    holo_language_sampler(language, &out_options->sampler);
    out_options->length_penalty = (float)holo_language_number(language, "text.length_penalty", 1);
    out_options->beam_stop =
        holo_language_number(language, "text.early_stopping", 0) != 0 ? HOLO_BEAMS_FIRST : HOLO_BEAMS_LIKELY;
}

// ---- beginning and end

static HoloStatus tokens_reserve(HoloAnswer *g, size_t more, HoloError *error)
{
    if (g->count + more <= g->room) return HOLO_OK;
    size_t    room  = (g->count + more) * 2;
    uint32_t *token = holo_realloc(g->token, room * sizeof *token);
    if (!token) return holo_fail_memory(error);
    g->token = token;
    g->room  = room;
    return HOLO_OK;
}

static HoloStatus grammar_open(HoloAnswer *g, HoloError *error)
{
    HoloLanguage *l = g->l;
    if (!g->o.grammar) return HOLO_OK;
    if (!l->tokenizer)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a grammar needs a tokenizer, and the archive has none");
    if (!l->tree) HOLO_TRY(holo_token_tree_create(l->tokenizer, l->end, l->end_count, &l->tree, error));
    HOLO_TRY(holo_grammar_set_tokens(g->o.grammar, l->tree, error));
    return holo_grammar_state_create(g->o.grammar, &g->grammar, error);
}

// A number of the metadata that is a token; UINT32_MAX: there is none.
static uint32_t token_of(const HoloLanguage *l, const char *key)
{
    const char   *text = holo_model_meta_find(l->model, key);
    char         *end;
    unsigned long id = text ? strtoul(text, &end, 10) : 0;
    return text && end != text && id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
}

// With an encoder, the prompt is what it reads, and the text begins with a token for that.
static HoloStatus prompt_take(HoloAnswer *g, const uint32_t *prompt, size_t count, HoloError *error)
{
    uint32_t start = token_of(g->l, "text.start");
    HOLO_TRY(tokens_reserve(g, count + 64, error));
    if (!holo_language_has_source(g->l)) {
        if (count) memcpy(g->token, prompt, count * sizeof *prompt);
        g->count = count;
        return HOLO_OK;
    }
    if (start == UINT32_MAX) start = token_of(g->l, "text.bos");
    if (start == UINT32_MAX)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the archive does not say how an answer begins: the model's config has no "
                         "decoder_start_token_id");
    g->token[g->count++] = start;
    g->first             = token_of(g->l, "text.first");
    return holo_language_set_source_tokens(g->l, prompt, count, error);
}

// The number of logits may be known only after the first run.
HoloStatus holo_answer_settle(HoloAnswer *g, HoloError *error)
{
    size_t words = g->l->vocabulary / 64 + 1;
    if (g->sampler) return HOLO_OK;
    if (g->grammar) {
        uint32_t known = holo_tokenizer_count(g->l->tokenizer);
        words          = (known > g->l->vocabulary ? known : g->l->vocabulary) / 64 + 1;
        g->mask        = holo_realloc(NULL, words * sizeof *g->mask);
        if (!g->mask) return holo_fail_memory(error);
        memset(g->mask, 0, words * sizeof *g->mask);
    }
    HOLO_TRY(holo_sampler_create(&g->o.sampler, g->l->vocabulary, &g->sampler, error));
    return holo_sampler_accept_prompt(g->sampler, g->token, g->count, error);
}

static HoloStatus parts_open(HoloAnswer *g, const uint32_t *prompt, size_t count, HoloError *error)
{
    HOLO_TRY(prompt_take(g, prompt, count, error));
    HOLO_TRY(grammar_open(g, error));
    if (g->l->tokenizer) HOLO_TRY(holo_text_stream_create(g->l->tokenizer, 0, &g->stream, error));
    if (g->o.stop_count) HOLO_TRY(holo_stopper_create(g->o.stops, g->o.stop_count, &g->stopper, error));
    return HOLO_OK;
}

static void parts_close(HoloAnswer *g)
{
    holo_sampler_destroy(g->sampler);
    holo_text_stream_destroy(g->stream);
    holo_stopper_destroy(g->stopper);
    holo_grammar_state_destroy(g->grammar);
    holo_free(g->mask);
    holo_free(g->token);
}

// ---- guesses

// Looks for the last few tokens earlier in the text, and guesses that the same follows. At the end of the text it goes on with the guesses
// themselves, so that what repeats is guessed to repeat again.
static HoloStatus guess(HoloAnswer *g, size_t most, HoloError *error)
{
    g->guesses = 0;
    HOLO_TRY(tokens_reserve(g, most + 1, error));
    for (size_t size = NGRAM; size > 1 && most; size--) {
        if (g->count <= size) continue;
        const uint32_t *last = g->token + g->count - size;
        for (size_t at = g->count - size; at-- > 0;) {
            if (memcmp(g->token + at, last, size * sizeof *last) != 0) continue;
            for (size_t from = at + size; g->guesses < most; from++) g->token[g->count + g->guesses++] = g->token[from];
            return HOLO_OK;
        }
    }
    return HOLO_OK;
}

// ---- one token

static bool is_end(const HoloAnswer *g, uint32_t token)
{
    for (size_t i = 0; i < g->l->end_count; i++)
        if (g->l->end[i] == token) return true;
    return false;
}

static void finish(HoloAnswer *g, HoloEnding why)
{
    g->result.finish = why;
    g->is_done       = true;
}

// What of the token may be shown now.
static HoloStatus text_of(HoloAnswer *g, uint32_t token, bool is_last, HoloString *out, HoloError *error)
{
    int stop = -1;
    *out     = (HoloString){"", 0};
    if (g->stream && !is_last) HOLO_TRY(holo_text_stream_add(g->stream, token, out, error));
    if (!g->stopper || is_last) return HOLO_OK;
    HOLO_TRY(holo_stopper_add(g->stopper, out->data, out->size, out, &stop, error));
    g->result.stop = stop;
    if (stop >= 0) finish(g, HOLO_ENDING_STOP);
    return HOLO_OK;
}

static HoloStatus token_take(HoloAnswer *g, const HoloSampled *sampled, HoloError *error)
{
    HoloGenerated one  = {.token = sampled->token, .sampled = *sampled};
    bool          ends = is_end(g, sampled->token) && (!g->o.keep_ends || g->grammar); // no grammar goes on behind it
    HOLO_TRY(holo_sampler_accept(g->sampler, sampled->token, error));
    g->token[g->count++] = sampled->token;
    g->result.tokens++;
    if (ends) finish(g, g->o.keep_ends ? HOLO_ENDING_GRAMMAR : HOLO_ENDING_END);
    if (g->grammar && !ends) HOLO_TRY(holo_grammar_state_accept(g->grammar, sampled->token, error));
    HOLO_TRY(text_of(g, sampled->token, ends, &one.text, error));
    if (!g->each(g->state, &one) && !g->is_done) finish(g, HOLO_ENDING_ASKED);
    bool is_full = g->l->context && (int64_t)g->count >= g->l->context;
    if (!g->is_done && (is_full || (g->o.max_tokens && g->result.tokens >= g->o.max_tokens)))
        finish(g, HOLO_ENDING_LENGTH);
    return HOLO_OK;
}

// Chooses from the logits behind a token.
static HoloStatus choose(HoloAnswer *g, const float *logits, HoloSampled *out, HoloError *error)
{
    uint32_t allowed;
    if (g->grammar) HOLO_TRY(holo_grammar_state_mask(g->grammar, g->mask, &allowed, error));
    HOLO_TRY(holo_sampler_choose(g->sampler, logits, g->mask, out, error));
    if (!g->result.tokens && g->first < g->l->vocabulary) out->token = g->first;
    return HOLO_OK;
}

// ---- the whole

// Takes tokens as long as they are those that were guessed, and one more. `choice`: the most likely ones, or NULL.
static HoloStatus tokens_take(HoloAnswer *g, const float *logits, const int64_t *choice, HoloError *error)
{
    size_t guesses = g->guesses, count = g->count;
    HOLO_TRY(holo_answer_settle(g, error));
    g->result.guessed += guesses;
    for (size_t i = 0; i <= guesses && !g->is_done; i++) {
        HoloSampled sampled;
        uint32_t    guessed = i < guesses ? g->token[count + i] : 0;
        if (choice)
            sampled = (HoloSampled){.token = (uint32_t)choice[i]};
        else
            HOLO_TRY(choose(g, logits + i * g->l->vocabulary, &sampled, error));
        HOLO_TRY(token_take(g, &sampled, error));
        if (i < guesses && sampled.token != guessed) return HOLO_OK;
        g->result.right += i < guesses;
    }
    return HOLO_OK;
}

// How many tokens may be guessed: no more than there is room for.
static size_t guesses_most(const HoloAnswer *g)
{
    size_t most = g->o.lookup;
    if (g->o.max_tokens && most > g->o.max_tokens - g->result.tokens - 1) most = g->o.max_tokens - g->result.tokens - 1;
    if (g->l->context && most > (size_t)g->l->context - g->count - 1) most = (size_t)g->l->context - g->count - 1;
    return most;
}

// What is held back is shown at the end, unless a stop string ended the text.
static HoloStatus rest_show(HoloAnswer *g, HoloError *error)
{
    HoloString text = {"", 0};
    if (g->result.finish == HOLO_ENDING_STOP || !g->stream) return HOLO_OK;
    HOLO_TRY(holo_text_stream_end(g->stream, &text, error));
    int stop;
    if (g->stopper) {
        HOLO_TRY(holo_stopper_add(g->stopper, text.data, text.size, &text, &stop, error));
        HoloGenerated one = {.token = UINT32_MAX, .text = text};
        if (text.size) g->each(g->state, &one);
        text = stop < 0 ? holo_stopper_end(g->stopper) : (HoloString){"", 0};
    }
    HoloGenerated one = {.token = UINT32_MAX, .text = text};
    if (text.size) g->each(g->state, &one);
    return HOLO_OK;
}

// The first turn reads the prompt; each other one guesses, reads and takes.
HoloStatus holo_answer_want(HoloAnswer *g, HoloTextRead *out_read, size_t *out_wanted, HoloError *error)
{
    *out_read = (HoloTextRead){.text = g->o.text, .tokens = g->token, .count = g->count};
    if (!g->is_begun) g->result.cached_tokens = holo_language_cached(g->l, out_read, 1);
    if (g->is_begun) HOLO_TRY(guess(g, guesses_most(g), error));
    *out_wanted = g->guesses + 1;
    *out_read   = (HoloTextRead){.text = g->o.text, .tokens = g->token, .count = g->count + g->guesses};
    return HOLO_OK;
}

// All tokens of the best beam, one after the other.
static HoloStatus beams_take(HoloAnswer *g, const float *logits, HoloError *error)
{
    HoloTokenLogprob *token;
    size_t            count;
    HoloStatus        status = holo_answer_search(g, logits, &token, &count, error);
    if (status) return status;
    status = tokens_reserve(g, count, error);
    for (size_t i = 0; i < count && !g->is_done && !status; i++)
        status = token_take(
            g, &(HoloSampled){.token = token[i].token, .logprob = g->o.sampler.logprobs ? token[i].logprob : 0}, error);
    if (!status && !g->is_done) finish(g, HOLO_ENDING_LENGTH);
    holo_free(token);
    return status;
}

static HoloStatus take(HoloAnswer *g, const float *logits, const int64_t *choice, double began, HoloError *error)
{
    double *time = g->is_begun ? &g->result.seconds : &g->result.prompt_seconds;
    HOLO_TRY(g->o.beams > 1 ? beams_take(g, logits, error) : tokens_take(g, logits, choice, error));
    g->is_begun = true;
    *time += holo_time_now() - began;
    return g->is_done ? rest_show(g, error) : HOLO_OK;
}

HoloStatus holo_answer_take(HoloAnswer *g, const float *logits, double began, HoloError *error)
{
    return take(g, logits, NULL, began, error);
}

// Is the most likely token always taken, whatever was before?
static bool is_plain(const HoloAnswer *g)
{
    const HoloSamplerOptions *s = &g->o.sampler;
    return s->temperature == 0 && s->repetition_penalty == 1 && s->presence_penalty == 0 && s->frequency_penalty == 0 &&
           !s->no_repeat_ngram && !s->min_tokens && !s->bias_count && !s->banned_count && !s->logprobs && !g->grammar &&
           g->o.beams <= 1 && g->first == UINT32_MAX && holo_language_chooses(g->l);
}

static HoloStatus turn(HoloAnswer *g, HoloError *error)
{
    double         start = holo_time_now();
    const float   *logits;
    const int64_t *choice;
    size_t         wanted;
    HoloTextRead   read;
    HOLO_TRY(holo_answer_want(g, &read, &wanted, error));
    if (is_plain(g)) {
        HOLO_TRY(holo_language_choose(g->l, &read, wanted, &choice, error));
        return take(g, NULL, choice, start, error);
    }
    HOLO_TRY(holo_language_read_last(g->l, read.text, read.tokens, read.count, wanted, &logits, error));
    return holo_answer_take(g, logits, start, error);
}

HoloStatus holo_answer_create(HoloLanguage *language, const uint32_t *prompt, size_t count,
                              const HoloGenerateOptions *options, HoloAnswer **out_answer, HoloError *error)
{
    *out_answer = NULL;
    if (!count) return holo_fail(error, HOLO_BAD_ARGUMENT, "a prompt must have a token at least");
    HoloAnswer *g = holo_realloc(NULL, sizeof *g);
    if (!g) return holo_fail_memory(error);
    *g = (HoloAnswer){.l = language, .first = UINT32_MAX, .result = {.prompt_tokens = count, .stop = -1}};
    holo_generate_defaults(language, &g->o);
    if (options) memcpy(&g->o, options, options->size < sizeof g->o ? options->size : sizeof g->o);
    HoloStatus status = HOLO_OK;
    if (g->o.text < 0 || g->o.text >= language->text_count)
        status =
            holo_fail(error, HOLO_BAD_ARGUMENT, "there is no text %d: %d can be kept", g->o.text, language->text_count);
    if (!status) status = parts_open(g, prompt, count, error);
    if (status) return holo_answer_destroy(g), status;
    *out_answer = g;
    return HOLO_OK;
}

void holo_answer_destroy(HoloAnswer *g)
{
    if (!g) return;
    parts_close(g);
    holo_free(g);
}

HoloStatus holo_answer_step(HoloAnswer *g, HoloGenerateFn each, void *state, bool *out_done,
                            HoloGenerateResult *out_result, HoloError *error)
{
    g->each           = each;
    g->state          = state;
    HoloStatus status = g->is_done ? HOLO_OK : turn(g, error);
    *out_done         = g->is_done;
    if (out_result) *out_result = g->result;
    return status;
}

HoloStatus holo_generate(HoloLanguage *language, const uint32_t *prompt, size_t count,
                         const HoloGenerateOptions *options, HoloGenerateFn each, void *state,
                         HoloGenerateResult *out_result, HoloError *error)
{
    HoloAnswer        *g      = NULL;
    HoloGenerateResult result = {.prompt_tokens = count, .stop = -1};
    bool               done   = false;
    HoloStatus         status = holo_answer_create(language, prompt, count, options, &g, error);
    while (!status && !done) status = holo_answer_step(g, each, state, &done, &result, error);
    holo_answer_destroy(g);
    if (out_result) *out_result = result;
    return status;
}
