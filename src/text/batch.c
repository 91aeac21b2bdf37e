// batch.c - several texts that are generated at once: they come, wait for a place, and leave. batch_step.c runs them.
#include "text/batch.h"

#include <string.h>

enum { PLACES = 8, PLACES_MAX = 1024, CHUNK = 64, CONTEXT_LEAST = 16 };

// ---- opening

static HoloStatus options_take(const HoloTextBatchOptions *options, HoloTextBatchOptions *out, HoloError *error)
{
    *out = (HoloTextBatchOptions){0};
    if (options) memcpy(out, options, options->size < sizeof *out ? options->size : sizeof *out);
    if (out->places < 0 || out->places > PLACES_MAX || out->waiting < 0 || out->context < 0 || out->chunk < 0)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "places must be 0 to %d, and waiting, context and chunk not negative", PLACES_MAX);
    if (!out->places) out->places = PLACES;
    if (!out->chunk) out->chunk = CHUNK;
    return HOLO_OK;
}

static HoloStatus model_check(const HoloLanguage *l, HoloError *error)
{
    if (l->encoder)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "the model has an encoder: each of its texts answers a source of its own, so several cannot run in "
            "one batch. Generate them one after the other");
    if (l->way != HOLO_READS_CACHED)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "the model has no caches that keep several texts apart, so they cannot run in one batch: models "
            "that do are compiled from a HuggingFace folder or a GGUF file of a decoder. Generate the texts "
            "one after the other");
    return l->vocabulary ? HOLO_OK
                         : holo_fail(error, HOLO_UNSUPPORTED, "the model does not fix the number of its logits");
}

// What texts take of memory, and how many tokens each may have then.
static HoloStatus memory_share(HoloTextBatch *b, size_t memory, HoloError *error)
{
    HoloLanguage *l = b->l;
    for (int i = 0; i < holo_model_state_count(l->model); i++) {
        size_t row, *to = holo_language_state(l, i, &row) ? &b->bytes_token : &b->bytes_place;
        *to += row;
    }
    if (!memory) return HOLO_OK;
    size_t share = memory / (size_t)b->places;
    size_t rest  = share > b->bytes_place ? share - b->bytes_place : 0;
    size_t most  = b->bytes_token ? rest / b->bytes_token : rest ? INT32_MAX : 0;
    if (most < CONTEXT_LEAST)
        return holo_fail(
            error, HOLO_BAD_ARGUMENT,
            "%zu bytes are too few for %d places: %d tokens of each take %zu. Give more memory or fewer places", memory,
            b->places, CONTEXT_LEAST, (b->bytes_token * CONTEXT_LEAST + b->bytes_place) * (size_t)b->places);
    if (b->bytes_token && (!l->context || most < (size_t)l->context)) l->context = (int64_t)most;
    return HOLO_OK;
}

static HoloStatus parts_open(HoloTextBatch *b, const HoloModel *model, HoloPool *pool, const HoloTextBatchOptions *o,
                             HoloError *error)
{
    HoloLanguageOptions language = {.size = sizeof language, .texts = o->places, .context = o->context};
    size_t              places   = (size_t)o->places;
    HOLO_TRY(holo_language_open(model, pool, &language, &b->l, error));
    HOLO_TRY(model_check(b->l, error));
    HOLO_TRY(memory_share(b, o->memory, error));
    b->place = holo_realloc(NULL, places * sizeof *b->place);
    b->read  = holo_realloc(NULL, places * sizeof *b->read);
    b->row   = holo_realloc(NULL, places * sizeof *b->row);
    if (!b->place || !b->read || !b->row) return holo_fail_memory(error);
    memset(b->place, 0, places * sizeof *b->place);
    return HOLO_OK;
}

HoloStatus holo_text_batch_create(const HoloModel *model, HoloPool *pool, const HoloTextBatchOptions *options,
                                  HoloTextBatch **out_batch, HoloError *error)
{
    HoloTextBatchOptions o;
    *out_batch = NULL;
    HOLO_TRY(options_take(options, &o, error));
    HoloTextBatch *b = holo_realloc(NULL, sizeof *b);
    if (!b) return holo_fail_memory(error);
    *b                = (HoloTextBatch){.places = o.places, .waiting_most = o.waiting, .chunk = o.chunk};
    HoloStatus status = parts_open(b, model, pool, &o, error);
    if (status)
        holo_text_batch_destroy(b);
    else
        *out_batch = b;
    return status;
}

void holo_text_batch_destroy(HoloTextBatch *b)
{
    if (!b) return;
    while (b->first) { // an owner who is told may add another
        for (HoloBatchText *t = b->first; t; t = t->next) holo_batch_end(t, HOLO_CANCELLED, NULL);
        holo_batch_sweep(b);
    }
    holo_language_close(b->l);
    holo_free(b->place);
    holo_free(b->read);
    holo_free(b->row);
    holo_free(b);
}

HoloLanguage *holo_text_batch_language(const HoloTextBatch *b)
{
    return b->l;
}

// ---- texts

static HoloStatus prompt_check(const HoloTextBatch *b, const uint32_t *prompt, size_t count, HoloError *error)
{
    const HoloLanguage *l       = b->l;
    int                 waiting = 0;
    for (const HoloBatchText *t = b->first; t; t = t->next) waiting += t->place < 0 && !t->is_over;
    if (b->waiting_most && waiting >= b->waiting_most)
        return holo_fail(error, HOLO_BUSY, "%d texts wait already", waiting);
    if (l->context && count >= (size_t)l->context)
        return holo_fail(error, HOLO_BAD_INPUT,
                         "the prompt has %zu tokens, and a text has room for %lld, answer included", count,
                         (long long)l->context);
    for (size_t i = 0; i < count; i++)
        if (prompt[i] >= l->vocabulary)
            return holo_fail(error, HOLO_BAD_INPUT, "token %u: the model knows tokens below %u", prompt[i],
                             l->vocabulary);
    return HOLO_OK;
}

HoloStatus holo_text_batch_add(HoloTextBatch *b, const uint32_t *prompt, size_t count,
                               const HoloGenerateOptions *options, HoloGenerateFn each, HoloTextEndFn ended,
                               void *state, uint64_t *out_id, HoloError *error)
{
    HoloGenerateOptions o;
    *out_id = 0;
    HOLO_TRY(prompt_check(b, prompt, count, error));
    holo_generate_defaults(b->l, &o);
    if (options) memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    o.text = 0; // until it gets a place
    if (o.beams > 1)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "a text of a batch grows in one way: for a beam search, generate it alone");
    HoloBatchText *t = holo_realloc(NULL, sizeof *t);
    if (!t) return holo_fail_memory(error);
    *t                = (HoloBatchText){.id = ++b->ids, .each = each, .ended = ended, .state = state, .place = -1};
    HoloStatus status = holo_answer_create(b->l, prompt, count, &o, &t->answer, error);
    if (!status) status = holo_answer_settle(t->answer, error);
    if (status) return holo_answer_destroy(t->answer), holo_free(t), status;
    t->answer->each  = each;
    t->answer->state = state;
    if (b->last)
        b->last->next = t;
    else
        b->first = t;
    b->last = t;
    *out_id = t->id;
    return HOLO_OK;
}

void holo_batch_end(HoloBatchText *t, HoloStatus status, const HoloError *why)
{
    if (t->is_over) return;
    t->is_over = true;
    t->status  = status;
    if (why) t->why = *why;
}

bool holo_text_batch_cancel(HoloTextBatch *b, uint64_t id)
{
    for (HoloBatchText *t = b->first; t; t = t->next) {
        if (t->id != id || t->is_over) continue;
        holo_batch_end(t, HOLO_CANCELLED, NULL);
        return true;
    }
    return false;
}

static void text_leave(HoloTextBatch *b, HoloBatchText *t)
{
    HoloTextEnded ended = {.id = t->id, .status = t->status, .message = t->why.text, .result = t->answer->result};
    if (t->place >= 0) b->place[t->place] = (HoloBatchPlace){.used = ++b->clock};
    b->count.tokens += ended.result.tokens;
    if (t->ended) t->ended(t->state, &ended);
    holo_answer_destroy(t->answer);
    holo_free(t);
}

void holo_batch_sweep(HoloTextBatch *b)
{
    HoloBatchText *over = NULL, **end = &over, **at = &b->first;
    b->last = NULL;
    while (*at) { // the list is whole again before owners are told: they may change it
        HoloBatchText *t = *at;
        if (!t->is_over) {
            b->last = t;
            at      = &t->next;
            continue;
        }
        *at     = t->next;
        t->next = NULL;
        *end    = t;
        end     = &t->next;
    }
    while (over) {
        HoloBatchText *t = over;
        over             = t->next;
        text_leave(b, t);
    }
}

void holo_text_batch_state(const HoloTextBatch *b, HoloTextBatchState *out)
{
    *out         = b->count;
    out->places  = b->places;
    out->context = b->l->context;
    for (const HoloBatchText *t = b->first; t; t = t->next) {
        int *to = t->place < 0 ? &out->waiting : t->answer->is_begun ? &out->generating : &out->reading;
        if (t->is_over) continue;
        *to += 1;
        out->tokens += t->answer->result.tokens;
    }
    for (int i = 0; i < b->places; i++) out->kept_tokens += b->l->text[i].count;
    out->bytes = out->kept_tokens * b->bytes_token + (size_t)b->places * b->bytes_place;
}
