// web_text.c - tokenizers, chat templates and language models for JavaScript. Texts are UTF-8.
#include "web.h"

#include <stdlib.h>

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

// `stops` and the bytes that they point to are read until the answer is closed.
HoloAnswer *WEB(web_answer)(HoloLanguage *language, const uint32_t *ids, size_t count, const double *numbers,
                            const HoloString *stops, size_t stop_count)
{
    HoloGenerateOptions options;
    HoloAnswer         *answer;
    holo_generate_defaults(language, &options);
    if (web_numbers_read(bind_generate_options, numbers, &options)) return NULL;
    options.stops      = stop_count ? stops : NULL;
    options.stop_count = stop_count;
    return holo_answer_create(language, ids, count, &options, &answer, web_anew()) ? NULL : answer;
}

void WEB(web_answer_close)(HoloAnswer *answer)
{
    holo_answer_destroy(answer);
}

// {tokens: [{id, text, logprob}], done, counts}
char *WEB(web_answer_step)(HoloAnswer *answer)
{
    Json               json = {0};
    BindTold           told = {0};
    HoloGenerateResult result;
    bool               is_done;
    HoloStatus         status = holo_answer_step(answer, bind_told_add, &told, &is_done, &result, web_anew());
    if (!status && told.is_out_of_memory) status = web_fail_memory();
    if (!status) {
        write_open(&json, '{');
        web_write_tokens(&json, &told);
        write_put_bool(&json, "done", is_done);
        web_write_fields(&json, "counts", bind_generate_result, &result);
        write_close(&json, '}');
    }
    bind_told_deinit(&told);
    return status ? NULL : write_end(&json);
}
