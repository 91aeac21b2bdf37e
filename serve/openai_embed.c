// openai_embed.c - /v1/embeddings: texts become vectors, each by a run of tensors.
#include "infer.h"
#include "openai.h"

#include "hologram_compiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EMBED_TEXTS = 2048 };

typedef struct Vector {
    struct Embedding *whole;
    Infer            *infer; // NULL: it has ended
    float            *x;
    int64_t           size, tokens; // tokens: those that are not padding
} Vector;

typedef struct Embedding {
    Exchange      *exchange;
    Model         *model;
    HoloTokenizer *tokenizer;
    bool           is_base64, has_failed;
    int            count, ended, holds;
    uint64_t       tokens;
    int64_t        max_length;
    int64_t        dimensions; // of which vectors are given the first; 0: all
    uint32_t       pad;
    Vector         vector[];
} Embedding;

static void embedding_release(Embedding *m)
{
    if (--m->holds) return;
    if (m->exchange->state == m) m->exchange->state = NULL, m->exchange->gone = NULL;
    for (int i = 0; i < m->count; i++) free(m->vector[i].x);
    holo_tokenizer_close(m->tokenizer);
    model_release(m->model);
    exchange_release(m->exchange);
    free(m);
}

static void cancel_all(Embedding *m)
{
    for (int i = 0; i < m->count; i++)
        if (m->vector[i].infer) infer_cancel(m->vector[i].infer);
}

static void gone(Exchange *e)
{
    if (e->state) cancel_all(e->state);
}

// ---- pooling: vectors of tokens become one

static const char *const token_outputs[]  = {"last_hidden_state", "token_embeddings", "hidden_states", NULL};
static const char *const pooled_outputs[] = {"sentence_embedding", "text_embeds", "pooler_output", "embeddings", NULL};

// The output that counts; *out_pooled says whether the model has pooled it itself.
static const char *output_of(const HoloModel *m, bool *out_pooled)
{
    *out_pooled = holo_model_output_find(m, "sentence_embedding") >= 0;
    if (*out_pooled) return "sentence_embedding";
    for (int i = 0; token_outputs[i]; i++)
        if (holo_model_output_find(m, token_outputs[i]) >= 0) return token_outputs[i];
    *out_pooled = true;
    for (int i = 0; pooled_outputs[i]; i++)
        if (holo_model_output_find(m, pooled_outputs[i]) >= 0) return pooled_outputs[i];
    return NULL;
}

// Of `count` vectors in `x`.
static bool pool(const char *how, const double *x, int64_t count, int64_t size, float *out)
{
    for (int64_t k = 0; k < size; k++) {
        double sum = 0, top = x[k];
        for (int64_t i = 0; i < count; i++) {
            double one = x[i * size + k];
            sum += !strcmp(how, "weighted") ? one * (double)(i + 1) : one;
            top = fmax(top, one);
        }
        if (!strcmp(how, "mean"))
            sum /= (double)count;
        else if (!strcmp(how, "weighted"))
            sum /= (double)count * (double)(count + 1) / 2;
        else if (!strcmp(how, "mean_sqrt"))
            sum /= sqrt((double)count);
        else if (!strcmp(how, "cls"))
            sum = x[k];
        else if (!strcmp(how, "last"))
            sum = x[(count - 1) * size + k];
        else if (!strcmp(how, "max"))
            sum = top;
        else
            return false;
        out[k] = (float)sum;
    }
    return true;
}

// As the model says; else as holo_embed does it.
static const char *pooling_of(const HoloModel *m)
{
    const char *said = holo_model_meta_find(m, "text.pooling");
    return said ? said : holo_model_state_count(m) ? "last" : "mean";
}

static bool vector_make(Vector *v, const HoloTensor *t, bool is_pooled, const char **why)
{
    const HoloModel *m    = v->whole->model->holo;
    int64_t          size = t->rank ? t->dim[t->rank - 1] : 0, count = is_pooled ? 1 : v->tokens;
    int64_t          cut = v->whole->dimensions;
    if (size < 1 || (!is_pooled && (t->rank != 3 || t->dim[1] < v->tokens)) || holo_tensor_count(t) < count * size)
        return *why = "the model's output does not look like vectors of tokens", false;
    double *x = malloc((size_t)(count * size) * sizeof *x);
    v->x      = malloc((size_t)size * sizeof *v->x);
    v->size   = size;
    bool is   = x && v->x;
    *why      = "out of memory";
    if (is) {
        holo_tensor_numbers(t, 0, count * size, x);
        is   = pool(is_pooled ? "mean" : pooling_of(m), x, count, size, v->x);
        *why = "the model pools in a way that is not supported here";
    }
    if (is && cut > size) is = false, *why = "dimensions is larger than the vectors of the model";
    if (cut) v->size = size = cut;
    double norm = 0;
    for (int64_t k = 0; is && k < size; k++) norm += (double)v->x[k] * v->x[k];
    for (int64_t k = 0; is && k < size && norm > 0 && (cut || holo_model_meta_find(m, "text.normalize")); k++)
        v->x[k] = (float)(v->x[k] / sqrt(norm));
    free(x);
    return is;
}

// ---- answers

static void answer_all(Embedding *m)
{
    Bytes b = {0};
    bytes_add_text(&b, "{\"object\":\"list\",\"model\":");
    bytes_json(&b, m->model->name, strlen(m->model->name));
    bytes_add_text(&b, ",\"data\":[");
    for (int i = 0; i < m->count; i++) {
        const Vector *v = &m->vector[i];
        bytes_format(&b, "%s{\"object\":\"embedding\",\"index\":%d,\"embedding\":", i ? "," : "", i);
        if (m->is_base64) {
            bytes_add_text(&b, "\"");
            bytes_base64(&b, v->x, (size_t)v->size * sizeof *v->x);
            bytes_add_text(&b, "\"");
        } else {
            for (int64_t k = 0; k < v->size; k++) bytes_format(&b, "%c%.9g", k ? ',' : '[', (double)v->x[k]);
            bytes_add_text(&b, "]");
        }
        bytes_add_text(&b, "}");
    }
    bytes_format(&b, "],\"usage\":{\"prompt_tokens\":%llu,\"total_tokens\":%llu}}", (unsigned long long)m->tokens,
                 (unsigned long long)m->tokens);
    if (b.failed)
        exchange_fail(m->exchange, 503, "out of memory");
    else
        exchange_send(m->exchange, 200, "application/json", b.data, b.size);
    bytes_free(&b);
}

static void failed(Infer *i, int status, const char *text)
{
    Embedding *m = ((Vector *)i->state)->whole;
    if (m->has_failed) return;
    m->has_failed = true;
    cancel_all(m);
    exchange_fail(m->exchange, status, "%s", text);
}

static void answered(Infer *i)
{
    Vector     *v = i->state;
    Embedding  *m = v->whole;
    const char *why;
    bool        is_pooled;
    output_of(m->model->holo, &is_pooled);
    if (!vector_make(v, &i->output[0], is_pooled, &why)) return failed(i, 400, why);
    if (++m->ended == m->count && !m->has_failed) answer_all(m);
}

static void ended(Infer *i)
{
    Vector *v = i->state;
    v->infer  = NULL;
    embedding_release(v->whole);
}

// ---- texts as tensors

// What an input has for each token; of those that fill up a fixed size it is padding.
static bool number_of(const Embedding *m, const char *name, const uint32_t *ids, int64_t count, int64_t at, double *out)
{
    if (!strcmp(name, "input_ids"))
        *out = at < count ? ids[at] : m->pad;
    else if (!strcmp(name, "attention_mask"))
        *out = at < count;
    else if (!strcmp(name, "token_type_ids"))
        *out = 0;
    else if (!strcmp(name, "position_ids"))
        *out = (double)at;
    else
        return false;
    return true;
}

static bool input_make(Embedding *m, Infer *i, int index, const uint32_t *ids, int64_t count, char *why, size_t room)
{
    const HoloPort *port = holo_model_input(m->model->holo, index);
    HoloTensor      t    = port->type;
    double          x;
    if (!number_of(m, port->name, ids, count, 0, &x)) {
        if (port->optional || port->any_shape) return true;
        return snprintf(why, room, "the model needs the input '%.100s', which a text does not give", port->name), false;
    }
    if (t.rank < 0) t.rank = 2;
    if (t.rank != 2) return snprintf(why, room, "the input '%.100s' is not [batch, tokens]", port->name), false;
    int64_t size = t.dim[1] > 0 ? t.dim[1] : count;
    t.dim[0]     = 1;
    t.dim[1]     = size;
    t.data       = calloc((size_t)size, holo_dtype_size((HoloDtype)t.dtype));
    if (!t.data) return snprintf(why, room, "out of memory"), false;
    for (int64_t k = 0; k < size; k++) {
        (void)number_of(m, port->name, ids, count, k, &x);
        holo_tensor_set_numbers(&t, k, 1, &x);
    }
    return infer_input(i, port->name, &t, t.data, why, room);
}

static bool text_start(Embedding *m, int at, const uint32_t *ids, size_t count, char *why, size_t room)
{
    bool    unused;
    Vector *v = &m->vector[at];
    if (!count) return snprintf(why, room, "a text has no tokens"), false;
    if (m->max_length && (int64_t)count > m->max_length)
        return snprintf(why, room, "a text has %zu tokens, but the model reads %lld", count, (long long)m->max_length),
               false;
    Infer *i  = infer_create(m->exchange, model_hold(m->model));
    v->whole  = m;
    v->infer  = i;
    v->tokens = (int64_t)count;
    i->state  = v;
    i->answer = answered;
    i->fail   = failed;
    i->end    = ended;
    m->holds++;
    m->tokens += count;
    for (int k = 0; k < holo_model_input_count(m->model->holo); k++)
        if (!input_make(m, i, k, ids, (int64_t)count, why, room)) return infer_free(i), false;
    if (!infer_want(i, output_of(m->model->holo, &unused), why, room)) return infer_free(i), false;
    infer_start(i);
    return true;
}

static bool read_text(Embedding *m, int at, const json_t *text, char *why, size_t room)
{
    uint32_t *ids   = NULL;
    size_t    count = 0;
    HoloError error = {0};
    bool      is    = true;
    if (json_is_string(text)) {
        is = !holo_tokenizer_encode(m->tokenizer, json_string_value(text), json_string_length(text), HOLO_TEXT_SPECIAL,
                                    &ids, &count, &error);
        if (!is) snprintf(why, room, "%.300s", error.text);
        is = is && text_start(m, at, ids, count, why, room);
        holo_ids_free(ids);
        return is;
    }
    count = json_array_size(text);
    ids   = take((count + 1) * sizeof *ids);
    for (size_t i = 0; i < count && is; i++) {
        json_int_t id = json_integer_value(json_array_get(text, i));
        is            = json_is_integer(json_array_get(text, i)) && id >= 0 && id < UINT32_MAX;
        ids[i]        = (uint32_t)id;
    }
    if (!is) snprintf(why, room, "an input must be a text or a list of ids");
    is = is && text_start(m, at, ids, count, why, room);
    free(ids);
    return is;
}

static int64_t length_of(const HoloModel *m)
{
    static const char *const keys[] = {"text.max_length", "text.context"};
    const HoloPort          *port   = holo_model_input(m, holo_model_input_find(m, "input_ids"));
    int64_t                  least  = port->type.rank == 2 && port->type.dim[1] > 0 ? port->type.dim[1] : 0;
    for (int i = 0; i < SERVE_COUNT(keys); i++) {
        const char *text   = holo_model_meta_find(m, keys[i]);
        double      number = text ? strtod(text, NULL) : 0;
        if (number >= 1 && number < 1e9 && (!least || (int64_t)number < least)) least = (int64_t)number;
    }
    return least;
}

static Embedding *embedding_create(Exchange *e, Model *model, int count, bool is_base64, HoloError *error)
{
    HoloString  block;
    const char *pad = holo_model_meta_find(model->holo, "text.pad");
    Embedding  *m   = take(sizeof *m + (size_t)count * sizeof *m->vector);
    m->exchange     = e;
    m->model        = model;
    m->count        = count;
    m->is_base64    = is_base64;
    m->holds        = 1;
    m->pad          = pad ? (uint32_t)strtoul(pad, NULL, 10) : 0;
    m->max_length   = length_of(model->holo);
    exchange_hold(e);
    if (holo_model_asset(model->holo, "tokenizer", &block) &&
        !holo_tokenizer_open_memory(block.data, block.size, &m->tokenizer, error))
        return m;
    embedding_release(m);
    return NULL;
}

static bool is_embedder(const Model *m)
{
    return m->is_embedder && !holo_model_state_count(m->holo);
}

static void embed(Exchange *e, json_t *body)
{
    json_t     *input  = json_object_get(body, "input");
    const char *format = json_string_value(json_object_get(body, "encoding_format"));
    bool        is_one = json_is_string(input) || json_is_integer(json_array_get(input, 0));
    size_t      count  = is_one ? 1 : json_array_size(input);
    HoloError   error  = {0};
    char        why[400];
    if (!count || count > EMBED_TEXTS)
        return exchange_fail(e, 400, "input must be a text, or a list of 1 to %d texts", EMBED_TEXTS);
    if (format && strcmp(format, "float") && strcmp(format, "base64"))
        return exchange_fail(e, 400, "encoding_format must be float or base64");
    const json_t *dimensions = json_object_get(body, "dimensions");
    if (dimensions && !json_is_null(dimensions) && (!json_is_integer(dimensions) || json_integer_value(dimensions) < 1))
        return exchange_fail(e, 400, "dimensions must be a whole number from 1 on");
    Model *model =
        openai_model(e, json_string_value(json_object_get(body, "model")), is_embedder, "makes vectors of texts");
    if (!model) return;
    Embedding *m = embedding_create(e, model, (int)count, format && !strcmp(format, "base64"), &error);
    if (!m) return exchange_fail(e, 500, "%s", error.text);
    e->state      = m;
    e->gone       = gone;
    m->dimensions = json_integer_value(dimensions);
    for (int i = 0; i < m->count && !m->has_failed; i++) {
        if (read_text(m, i, is_one ? input : json_array_get(input, (size_t)i), why, sizeof why)) continue;
        if (!m->has_failed) exchange_fail(e, 400, "%s", why);
        m->has_failed = true;
        cancel_all(m);
    }
    embedding_release(m);
}

void openai_embeddings(Exchange *e)
{
    json_t *body = openai_body(e);
    if (body) embed(e, body);
    json_decref(body);
}
