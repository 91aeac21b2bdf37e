// web_text.c - tokenizers, chat templates and language models for JavaScript. Texts are UTF-8.
#include "web.h"

#include "hologram_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- tokenizers

HoloTokenizer *WEB(web_tokenizer)(const void *block, size_t size)
{
    HoloTokenizer *tokenizer;
    return holo_tokenizer_open_memory(block, size, &tokenizer, web_anew()) ? NULL : tokenizer;
}

void WEB(web_tokenizer_close)(HoloTokenizer *tokenizer)
{
    holo_tokenizer_close(tokenizer);
}

// The ids are in web_given, whose size is their number; web_ids_free frees them.
HoloStatus WEB(web_encode)(HoloTokenizer *tokenizer, const char *text, size_t size, uint32_t flags)
{
    uint32_t  *ids;
    HoloStatus status = holo_tokenizer_encode(tokenizer, text, size, flags, &ids, &web_found.size, web_anew());
    web_found.data    = status ? NULL : (const char *)ids;
    return status;
}

void WEB(web_ids_free)(uint32_t *ids)
{
    holo_ids_free(ids);
}

// The text is in web_given; web_text_free frees it.
HoloStatus WEB(web_decode)(HoloTokenizer *tokenizer, const uint32_t *ids, size_t count, uint32_t flags)
{
    char      *text;
    HoloStatus status = holo_tokenizer_decode(tokenizer, ids, count, flags, &text, &web_found.size, web_anew());
    web_found.data    = status ? NULL : text;
    return status;
}

void WEB(web_text_free)(char *text)
{
    holo_text_free(text);
}

uint32_t WEB(web_tokenizer_count)(const HoloTokenizer *tokenizer)
{
    return holo_tokenizer_count(tokenizer);
}

bool WEB(web_token)(const HoloTokenizer *tokenizer, uint32_t id)
{
    web_found = holo_tokenizer_token(tokenizer, id);
    return web_found.data;
}

double WEB(web_token_find)(const HoloTokenizer *tokenizer, const char *text, size_t size) // -1: there is none
{
    uint32_t id;
    return holo_tokenizer_find(tokenizer, text, size, &id) ? id : -1;
}

bool WEB(web_token_special)(const HoloTokenizer *tokenizer, uint32_t id)
{
    return holo_tokenizer_is_special(tokenizer, id);
}

// ---- chat templates

HoloTemplate *WEB(web_template)(const void *block, size_t size)
{
    HoloTemplate *template_;
    return holo_template_open_memory(block, size, &template_, web_anew()) ? NULL : template_;
}

void WEB(web_template_close)(HoloTemplate *template_)
{
    holo_template_close(template_);
}

// As web_decode.
HoloStatus WEB(web_render)(const HoloTemplate *template_, const char *json, size_t size)
{
    char      *text;
    HoloStatus status = holo_template_render(template_, json, size, &text, &web_found.size, web_anew());
    web_found.data    = status ? NULL : text;
    return status;
}

// ---- language models

HoloLanguage *WEB(web_language)(const HoloModel *model, HoloPool *pool, int texts, double context)
{
    HoloLanguage       *language;
    HoloLanguageOptions options = {.size = sizeof options, .texts = texts, .context = (int64_t)context};
    return holo_language_open(model, pool, &options, &language, web_anew()) ? NULL : language;
}

void WEB(web_language_close)(HoloLanguage *language)
{
    holo_language_close(language);
}

double WEB(web_language_context)(const HoloLanguage *language)
{
    return (double)holo_language_context(language);
}

// The logits are in web_given, until the next call.
HoloStatus WEB(web_language_read)(HoloLanguage *language, int text, const uint32_t *ids, size_t count)
{
    const float *logits;
    HoloStatus   status = holo_language_read(language, text, ids, count, &logits, web_anew());
    web_found           = (HoloString){(const char *)logits, 0};
    if (!status) web_found.size = holo_language_vocabulary(language);
    return status;
}

// Options are numbers, NaN where one is not given: in this order, which backend.mjs has, too.
enum {
    MAX_TOKENS,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    MIN_P,
    TYPICAL_P,
    REPETITION,
    PRESENCE,
    FREQUENCY,
    SEED,
    LOOKUP,
    KEEP_ENDS,
    LOGPROBS,
    TEXT,
    OPTION_COUNT
};

static void options_read(const double *from, HoloGenerateOptions *to)
{
#define READ(at, field, type) \
    if (!isnan(from[at])) to->field = (type)from[at];
    READ(MAX_TOKENS, max_tokens, uint32_t)
    READ(TEMPERATURE, sampler.temperature, float)
    READ(TOP_K, sampler.top_k, uint32_t)
    READ(TOP_P, sampler.top_p, float)
    READ(MIN_P, sampler.min_p, float)
    READ(TYPICAL_P, sampler.typical_p, float)
    READ(REPETITION, sampler.repetition_penalty, float)
    READ(PRESENCE, sampler.presence_penalty, float)
    READ(FREQUENCY, sampler.frequency_penalty, float)
    READ(SEED, sampler.seed, uint64_t)
    READ(LOOKUP, lookup, uint32_t)
    READ(KEEP_ENDS, keep_ends, bool)
    READ(LOGPROBS, sampler.logprobs, bool)
    READ(TEXT, text, int)
#undef READ
}

// `stops` and the bytes that they point to are read until the answer is closed.
HoloAnswer *WEB(web_answer)(HoloLanguage *language, const uint32_t *ids, size_t count, const double *numbers,
                            const HoloString *stops, size_t stop_count)
{
    HoloGenerateOptions options;
    HoloAnswer         *answer;
    holo_generate_defaults(language, &options);
    options_read(numbers, &options);
    options.stops      = stop_count ? stops : NULL;
    options.stop_count = stop_count;
    return holo_answer_create(language, ids, count, &options, &answer, web_anew()) ? NULL : answer;
}

void WEB(web_answer_close)(HoloAnswer *answer)
{
    holo_answer_destroy(answer);
}

static bool collect(void *state, const HoloGenerated *one)
{
    Json *json    = state;
    bool  is_rest = one->token == UINT32_MAX; // what was held back
    write_open(json, '{');
    write_key(json, "id");
    if (is_rest)
        write_string(json, NULL);
    else
        write_number(json, one->token);
    write_key(json, "text");
    write_text(json, one->text.data, one->text.size);
    write_put_number(json, "logprob", is_rest ? NAN : (double)one->sampled.logprob);
    write_close(json, '}');
    return true;
}

// {tokens: [{id, text, logprob}], done, counts}
char *WEB(web_answer_step)(HoloAnswer *answer)
{
    static const char *const why[] = {"length", "end", "stop", "asked", "grammar"};
    Json                     json  = {0};
    HoloGenerateResult       r;
    bool                     is_done;
    write_open(&json, '{');
    write_key(&json, "tokens");
    write_open(&json, '[');
    HoloStatus status = holo_answer_step(answer, collect, &json, &is_done, &r, web_anew());
    write_close(&json, ']');
    if (!status) {
        write_put_bool(&json, "done", is_done);
        write_key(&json, "counts");
        write_open(&json, '{');
        write_put_number(&json, "promptTokens", (double)r.prompt_tokens);
        write_put_number(&json, "cachedTokens", (double)r.cached_tokens);
        write_put_number(&json, "tokens", (double)r.tokens);
        write_put_number(&json, "stop", r.stop);
        write_put_number(&json, "promptSeconds", r.prompt_seconds);
        write_put_number(&json, "seconds", r.seconds);
        write_put_number(&json, "guessed", (double)r.guessed);
        write_put_number(&json, "right", (double)r.right);
        write_put(&json, "finish", why[r.finish]);
        write_close(&json, '}');
    }
    write_close(&json, '}');
    char *text = write_end(&json);
    if (status) free(text);
    return status ? NULL : text;
}
