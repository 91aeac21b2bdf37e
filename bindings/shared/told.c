// told.c - what steps of language models tell. See told.h.
#include "told.h"

#include <stdlib.h>
#include <string.h>

// Room for one more; false: no memory.
static bool make_room(void **items, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room) return true;
    void *more = wanted < SIZE_MAX / 2 / size ? realloc(*items, wanted * 2 * size) : NULL;
    if (!more) return false;
    *items = more;
    *room  = wanted * 2;
    return true;
}

static bool bytes_add(BindTold *told, const char *data, size_t size)
{
    void *bytes = told->bytes;
    if (size > SIZE_MAX - told->size || !make_room(&bytes, &told->room, told->size + size, 1)) return false;
    told->bytes = bytes;
    if (size) memcpy(told->bytes + told->size, data, size);
    told->size += size;
    return true;
}

static bool token_add(BindTold *told, uint64_t text, const HoloGenerated *one)
{
    void  *tokens = told->token;
    size_t begin  = told->size;
    bool   fits   = make_room(&tokens, &told->token_room, told->token_count + 1, sizeof *told->token);
    told->token   = tokens;
    if (!fits || !bytes_add(told, one->text.data, one->text.size)) return told->is_out_of_memory = true, false;
    told->token[told->token_count++] = (BindToken){text, one->token, one->sampled.logprob, begin, one->text.size};
    return true;
}

bool bind_told_add(void *told, const HoloGenerated *one)
{
    return token_add(told, 0, one);
}

void bind_told_deinit(BindTold *told)
{
    free(told->token);
    free(told->end);
    free(told->bytes);
    *told = (BindTold){0};
}

// ---- batches

typedef struct BatchText { // that its callbacks are called with, until its end
    BindBatch *batch;
    uint64_t   id;
    void      *kept;
} BatchText;

static bool each(void *state, const HoloGenerated *one)
{
    const BatchText *text = state;
    return token_add(&text->batch->told, text->id, one);
}

static void ended(void *state, const HoloTextEnded *end)
{
    BatchText *text  = state;
    BindTold  *told  = &text->batch->told;
    size_t     begin = told->size, size = strlen(end->message);
    if (!bytes_add(told, end->message, size)) size = 0;
    told->end[told->end_count++] =
        (BindEnd){end->id, end->status, end->result, begin, size, text->kept}; // bind_batch_add made room
    text->batch->texts--;
    free(text);
}

HoloStatus bind_batch_create(const HoloModel *model, HoloPool *pool, const HoloTextBatchOptions *options,
                             void (*release)(void *kept), BindBatch **out_batch, HoloError *error)
{
    BindBatch *batch = calloc(1, sizeof *batch);
    *out_batch       = batch;
    if (!batch) return HOLO_NO_MEMORY;
    batch->release    = release;
    HoloStatus status = holo_text_batch_create(model, pool, options, &batch->batch, error);
    if (!status) return HOLO_OK;
    free(batch);
    *out_batch = NULL;
    return status;
}

void bind_batch_clear(BindBatch *batch)
{
    BindTold *told = &batch->told;
    for (size_t i = 0; i < told->end_count; i++)
        if (told->end[i].kept) batch->release(told->end[i].kept);
    told->token_count = told->end_count = told->size = 0;
    told->is_out_of_memory                           = false;
}

void bind_batch_destroy(BindBatch *batch)
{
    if (!batch) return;
    holo_text_batch_destroy(batch->batch); // all texts end
    bind_batch_clear(batch);
    bind_told_deinit(&batch->told);
    free(batch);
}

HoloStatus bind_batch_add(BindBatch *batch, const uint32_t *prompt, size_t count, const HoloGenerateOptions *options,
                          void *kept, uint64_t *out_id, HoloError *error)
{
    BindTold  *told = &batch->told;
    void      *ends = told->end;
    bool       fits = make_room(&ends, &told->end_room, told->end_count + batch->texts + 1, sizeof *told->end);
    BatchText *text = fits ? malloc(sizeof *text) : NULL;
    told->end       = ends;
    if (!text) return HOLO_NO_MEMORY;
    *text             = (BatchText){.batch = batch, .kept = kept};
    HoloStatus status = holo_text_batch_add(batch->batch, prompt, count, options, each, ended, text, &text->id, error);
    *out_id           = text->id;
    if (status)
        free(text);
    else
        batch->texts++;
    return status;
}
