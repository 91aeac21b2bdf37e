// language.c - opens language models: finds what their inputs mean, their tokenizer, and their settings.
#include "text/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 512, TEXTS_MAX = 4096 };

// ---- what the archive says

// A number of the metadata; `otherwise` if there is none.
static double meta_number(const HoloModel *model, const char *key, double otherwise)
{
    const char *text = holo_model_meta_find(model, key);
    char       *end;
    double      number = text ? strtod(text, &end) : 0;
    return text && end != text ? number : otherwise;
}

// A whole number of the metadata.
static uint32_t meta_count(const HoloModel *model, const char *key, uint32_t otherwise)
{
    double number = meta_number(model, key, otherwise);
    return number >= 0 && number <= INT32_MAX ? (uint32_t)number : otherwise;
}

double holo_language_number(const HoloLanguage *l, const char *key, double otherwise)
{
    return meta_number(l->model, key, otherwise);
}

// A list of ids in the metadata, with commas between them. Configs may name ids that the model does not have.
static HoloStatus ids_find(const HoloLanguage *l, const char *key, uint32_t **out, size_t *out_count, HoloError *error)
{
    const char *text = holo_model_meta_find(l->model, key);
    size_t      room = 1;
    for (const char *p = text; p && *p; p++) room += *p == ',';
    *out = holo_realloc(NULL, room * sizeof **out);
    if (!*out) return holo_fail_memory(error);
    while (text && *text && *out_count < room) {
        char         *next;
        unsigned long id = strtoul(text, &next, 10);
        if (next == text || id >= UINT32_MAX) break;
        if (!l->vocabulary || id < l->vocabulary) (*out)[(*out_count)++] = (uint32_t)id;
        text = *next == ',' ? next + 1 : next;
    }
    return HOLO_OK;
}

void holo_language_sampler(const HoloLanguage *l, HoloSamplerOptions *out)
{
    const HoloModel *m = l->model;
    holo_sampler_defaults(out);
    out->end_tokens      = l->end;
    out->end_token_count = l->end_count;
    out->banned          = l->banned;
    out->banned_count    = l->banned_count;
    out->no_repeat_ngram = meta_count(m, "text.no_repeat_ngram", 0);
    // Without a word of its makers, a model is taken at its most likely.
    bool samples     = meta_number(m, "text.do_sample", holo_model_meta_find(m, "text.temperature") ? 1 : 0) != 0;
    out->temperature = samples ? (float)meta_number(m, "text.temperature", 1) : 0;
    if (!samples) return;
    out->top_k              = meta_count(m, "text.top_k", out->top_k);
    out->top_p              = (float)meta_number(m, "text.top_p", out->top_p);
    out->min_p              = (float)meta_number(m, "text.min_p", out->min_p);
    out->typical_p          = (float)meta_number(m, "text.typical_p", out->typical_p);
    out->repetition_penalty = (float)meta_number(m, "text.repetition_penalty", out->repetition_penalty);
}

// ---- inputs and outputs

// "past_key_values.3.key" gets what "present.3.key" gives, and "past_3" what "present_3" gives.
static HoloStatus past_find(HoloLanguage *l, HoloError *error)
{
    static const struct {
        const char *in, *out;
    } names[] = {{"past_key_values", "present"}, {"past", "present"}};
    int count = holo_model_input_count(l->model);
    l->past   = holo_realloc(NULL, ((size_t)count + 1) * sizeof *l->past);
    if (!l->past) return holo_fail_memory(error);
    for (int i = 0; i < count; i++) {
        const char *name = holo_model_input(l->model, i)->name;
        for (int k = 0; k < HOLO_COUNT(names); k++) {
            size_t size = strlen(names[k].in);
            char   want[256];
            if (strncmp(name, names[k].in, size) != 0) continue;
            snprintf(want, sizeof want, "%s%s", names[k].out, name + size);
            int out = holo_model_output_find(l->model, want);
            if (out < 0) continue;
            l->past[l->past_count++] =
                (HoloPastPair){.in = i, .out = out, .value = holo_model_input(l->model, i)->type};
            l->past[l->past_count - 1].is_source = strstr(name, ".encoder.") != NULL;
            break;
        }
    }
    return HOLO_OK;
}

// Inputs that nothing here knows how to fill.
static HoloStatus inputs_check(const HoloLanguage *l, HoloError *error)
{
    const int known[] = {l->ids, l->mask, l->rows, l->lengths, l->picks, l->positions, l->branch};
    for (int i = 0; i < holo_model_input_count(l->model); i++) {
        const HoloPort *port = holo_model_input(l->model, i);
        bool            is   = port->optional || holo_language_source_fills(l, i);
        for (int k = 0; k < HOLO_COUNT(known); k++) is = is || known[k] == i;
        for (int k = 0; k < l->past_count; k++) is = is || l->past[k].in == i;
        if (!is)
            return holo_fail(error, HOLO_UNSUPPORTED,
                             "the model does not continue texts: it has an input %s, which is neither tokens nor what "
                             "was kept of them",
                             port->name);
    }
    return HOLO_OK;
}

static HoloStatus ports_find(HoloLanguage *l, HoloError *error)
{
    const HoloModel *m = l->model;
    l->ids             = holo_model_input_find(m, "input_ids");
    l->mask            = holo_model_input_find(m, "attention_mask");
    l->rows            = holo_model_input_find(m, "cache_rows");
    l->lengths         = holo_model_input_find(m, "cache_lengths");
    l->picks           = holo_model_input_find(m, "picks");
    l->positions       = holo_model_input_find(m, "position_ids");
    l->branch          = holo_model_input_find(m, "use_cache_branch");
    l->logits          = holo_model_output_find(m, "logits");
    l->choices         = holo_model_output_find(m, "choices");
    if (l->ids < 0 || l->logits < 0)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the model does not continue texts: it has no %s; models that do are compiled from an "
                         "architecture such as LlamaForCausalLM",
                         l->ids < 0 ? "input input_ids" : "output logits");
    HOLO_TRY(past_find(l, error));
    l->way              = l->rows >= 0 && l->lengths >= 0 && holo_model_state_count(m) ? HOLO_READS_CACHED
                          : l->past_count                                              ? HOLO_READS_PAST
                                                                                       : HOLO_READS_ALL;
    const HoloTensor *t = &holo_model_output(m, l->logits)->type;
    if (t->rank != 3 || (t->dtype != HOLO_F32 && t->dtype != HOLO_F16 && t->dtype != HOLO_BF16))
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the output logits is not [batch, tokens, vocabulary] of f32, f16 or bf16");
    l->vocabulary = t->dim[2] > 0 && t->dim[2] <= INT32_MAX ? (uint32_t)t->dim[2] : 0;
    return inputs_check(l, error);
}

// What the archive keeps of a beginning; and whether all states are caches.
static HoloStatus prefix_find(HoloLanguage *l, HoloError *error)
{
    HoloString bytes;
    HoloError  why = {0};
    size_t     row;
    if (l->way != HOLO_READS_CACHED) return HOLO_OK;
    for (int i = 0; i < holo_model_state_count(l->model); i++) {
        if (holo_language_state(l, i, &row))
            l->has_caches = true;
        else
            l->is_whole = true;
        if (!row)
            return holo_fail(error, HOLO_UNSUPPORTED, "the state %s of the model has sizes that are not fixed",
                             holo_model_state(l->model, i)->name);
    }
    if (!holo_model_asset(l->model, "prefix", &bytes)) return HOLO_OK;
    HoloStatus status = holo_kept_open(l, bytes.data, bytes.size, true, &l->prefix, &why);
    return status ? holo_fail(error, HOLO_BAD_ARCHIVE, "the prefix of the archive: %s", why.text) : HOLO_OK;
}

// ---- opening

static HoloStatus parts_open(HoloLanguage *l, HoloPool *pool, HoloError *error)
{
    HoloString block;
    HOLO_TRY(holo_language_source_find(l, error));
    HOLO_TRY(ports_find(l, error));
    if (l->encoder) HOLO_TRY(holo_session_create(l->encoder, pool, &l->encoder_session, error));
    HOLO_TRY(ids_find(l, "text.eos", &l->end, &l->end_count, error));
    HOLO_TRY(ids_find(l, "text.banned", &l->banned, &l->banned_count, error));
    if (holo_model_asset(l->model, "tokenizer", &block))
        HOLO_TRY(holo_tokenizer_open_memory(block.data, block.size, &l->tokenizer, error));
    l->text = holo_realloc(NULL, (size_t)l->text_count * sizeof *l->text);
    if (!l->text) return holo_fail_memory(error);
    memset(l->text, 0, (size_t)l->text_count * sizeof *l->text);
    HOLO_TRY(holo_session_create(l->model, pool, &l->session, error));
    return prefix_find(l, error);
}

HoloStatus holo_language_open(const HoloModel *model, HoloPool *pool, const HoloLanguageOptions *options,
                              HoloLanguage **out_language, HoloError *error)
{
    HoloLanguageOptions o = {0};
    if (options) memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    *out_language = NULL;
    if (o.texts < 0 || o.texts > TEXTS_MAX || o.context < 0 || o.chunk < 0)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "texts must be 0 to %d, and context and chunk not negative",
                         TEXTS_MAX);
    HoloLanguage *l = holo_realloc(NULL, sizeof *l);
    if (!l) return holo_fail_memory(error);
    double made = meta_number(model, "text.context", 0);
    *l = (HoloLanguage){.model = model, .text_count = o.texts ? o.texts : 1, .chunk = o.chunk ? o.chunk : CHUNK};
    l->context        = o.context ? o.context : made >= 1 && made < 1e9 ? (int64_t)made : 0;
    made              = meta_number(model, "text.restart", 0);
    l->restart        = made >= 1 && made < 1e9 ? (size_t)made : 0;
    made              = meta_number(model, "text.whole", 0);
    l->whole          = made >= 1 && made < 1e9 ? (size_t)made : l->restart;
    HoloStatus status = parts_open(l, pool, error);
    if (status)
        holo_language_close(l);
    else
        *out_language = l;
    return status;
}

void holo_language_close(HoloLanguage *l)
{
    if (!l) return;
    holo_session_destroy(l->session);
    holo_language_source_close(l);
    holo_tokenizer_close(l->tokenizer);
    for (int i = 0; l->text && i < l->text_count; i++) {
        holo_kept_drop(&l->text[i]);
        holo_free(l->text[i].token);
    }
    for (int i = 0; l->past && i < l->past_count; i++) holo_free(l->past[i].value.data);
    holo_free(l->text);
    holo_free(l->past);
    holo_free(l->end);
    holo_free(l->banned);
    holo_free(l->number);
    holo_free(l->wide);
    holo_free(l->copy);
    holo_token_tree_destroy(l->tree);
    holo_free(l);
}

HoloTokenizer *holo_language_tokenizer(const HoloLanguage *l)
{
    return l->tokenizer;
}

uint32_t holo_language_vocabulary(const HoloLanguage *l)
{
    return l->vocabulary;
}

int64_t holo_language_context(const HoloLanguage *l)
{
    return l->context;
}

const uint32_t *holo_language_ends(const HoloLanguage *l, size_t *out_count)
{
    *out_count = l->end_count;
    return l->end;
}

void holo_language_cancel(HoloLanguage *l)
{
    holo_session_cancel(l->session);
    if (l->encoder_session) holo_session_cancel(l->encoder_session);
}
