// web_batch.c - several texts that one model continues at once, for JavaScript; and what steps of language models tell, as JSON.
#include "web.h"

#include <math.h>
#include <stdio.h>

// ---- options and results

HoloStatus web_numbers_read(const BindField *fields, const double *from, void *out)
{
    for (; fields->name; fields++, from++) {
        bool is_whole = *from >= 0 && *from < 0x1p64 && *from == floor(*from);
        if (isnan(*from)) continue;
        if (bind_is_real(fields)) {
            bind_real_set(fields, out, *from);
        } else if (!is_whole || !bind_whole_set(fields, out, (uint64_t)*from)) {
            web_anew()->status = HOLO_BAD_ARGUMENT;
            snprintf(web_last.text, sizeof web_last.text,
                     "%s must be a whole number from 0 on, and is too large or none", fields->name);
            return HOLO_BAD_ARGUMENT;
        }
    }
    return HOLO_OK;
}

void web_write_fields(Json *json, const char *name, const BindField *fields, const void *from)
{
    if (name) write_key(json, name);
    write_open(json, '{');
    for (; fields->name; fields++) {
        double number = bind_number(fields, from);
        if (fields->kind == BIND_CHOICE)
            write_put(json, fields->name, fields->choices[(int)number]);
        else
            write_put_number(json, fields->name, number);
    }
    write_close(json, '}');
}

static void write_bytes(Json *json, const char *name, const BindTold *told, size_t begin, size_t size)
{
    write_key(json, name);
    write_text(json, size ? told->bytes + begin : "", size);
}

void web_write_tokens(Json *json, const BindTold *told)
{
    write_key(json, "tokens");
    write_open(json, '[');
    for (size_t i = 0; i < told->token_count; i++) {
        const BindToken *one     = &told->token[i];
        bool             is_rest = one->token == UINT32_MAX; // what was held back
        write_open(json, '{');
        write_put_number(json, "id", is_rest ? NAN : one->token);
        write_bytes(json, "text", told, one->begin, one->size);
        write_put_number(json, "logprob", is_rest ? NAN : (double)one->logprob);
        if (one->text) write_put_number(json, "of", (double)one->text);
        write_close(json, '}');
    }
    write_close(json, ']');
}

// ---- batches

static void nothing(void *kept)
{
    (void)kept;
}

BindBatch *WEB(web_batch)(const HoloModel *model, HoloPool *pool, const double *numbers)
{
    HoloTextBatchOptions options = {.size = sizeof options};
    BindBatch           *batch;
    if (web_numbers_read(bind_batch_options, numbers, &options)) return NULL;
    return bind_batch_create(model, pool, &options, nothing, &batch, web_anew()) ? NULL : batch;
}

void WEB(web_batch_close)(BindBatch *batch)
{
    bind_batch_destroy(batch);
}

// The id of a new text; -1: it failed. What is given is copied.
double WEB(web_batch_add)(BindBatch *batch, const uint32_t *ids, size_t count, const double *numbers,
                          const HoloString *stops, size_t stop_count)
{
    HoloGenerateOptions options;
    uint64_t            id;
    holo_generate_defaults(holo_text_batch_language(batch->batch), &options);
    if (web_numbers_read(bind_generate_options, numbers, &options)) return -1;
    options.stops      = stop_count ? stops : NULL;
    options.stop_count = stop_count;
    return bind_batch_add(batch, ids, count, &options, NULL, &id, web_anew()) ? -1 : (double)id;
}

bool WEB(web_batch_leave)(BindBatch *batch, double id)
{
    return holo_text_batch_cancel(batch->batch, (uint64_t)id);
}

char *WEB(web_batch_state)(const BindBatch *batch)
{
    Json               json = {0};
    HoloTextBatchState state;
    holo_text_batch_state(batch->batch, &state);
    web_write_fields(&json, NULL, bind_batch_state, &state);
    return write_end(&json);
}

// {tokens: [{of, id, text, logprob}], ends: [{of, status, message, counts}], left}
char *WEB(web_batch_step)(BindBatch *batch)
{
    const BindTold *told = &batch->told;
    Json            json = {0};
    int             left;
    if (holo_text_batch_step(batch->batch, &left, web_anew()) || (told->is_out_of_memory && web_fail_memory()))
        return NULL;
    write_open(&json, '{');
    web_write_tokens(&json, told);
    write_key(&json, "ends");
    write_open(&json, '[');
    for (size_t i = 0; i < told->end_count; i++) {
        const BindEnd *one = &told->end[i];
        write_open(&json, '{');
        write_put_number(&json, "of", (double)one->text);
        write_put_number(&json, "status", one->status);
        write_bytes(&json, "message", told, one->begin, one->size);
        web_write_fields(&json, "counts", bind_generate_result, &one->result);
        write_close(&json, '}');
    }
    write_close(&json, ']');
    write_put_number(&json, "left", left);
    write_close(&json, '}');
    bind_batch_clear(batch);
    return write_end(&json);
}
