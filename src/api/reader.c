// reader.c - runs a model on texts: ids, and the inputs that are made of them.
#include "api/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HoloStatus holo_reader_take(void **memory, size_t *room, size_t count, size_t size, HoloError *error)
{
    size_t bytes;
    if (count <= *room && *memory) return HOLO_OK;
    if (__builtin_mul_overflow(count + count / 2 + 1, size, &bytes)) return holo_fail_memory(error);
    void *more = holo_realloc(*memory, bytes);
    if (!more) return holo_fail_memory(error);
    *memory = more;
    *room   = count + count / 2 + 1;
    return HOLO_OK;
}

// ---- opening

static double meta_number(const HoloModel *model, const char *key)
{
    const char *text = holo_model_meta_find(model, key);
    return text ? strtod(text, NULL) : 0;
}

// The sizes that the model fixes, what its folder says, and what was asked for: the smallest.
static void find_length(HoloReader *r, int64_t asked)
{
    int             index = holo_model_input_find(r->model, "input_ids");
    const HoloPort *port  = index < 0 ? NULL : holo_model_input(r->model, index);
    double limits[] = {meta_number(r->model, "text.max_length"), meta_number(r->model, "text.context"), (double)asked,
                       port && port->type.rank == 2 ? (double)port->type.dim[1] : 0};
    for (int i = 0; i < HOLO_COUNT(limits); i++)
        if (limits[i] >= 1 && limits[i] < 1e9 && (!r->max_length || (int64_t)limits[i] < r->max_length))
            r->max_length = (int64_t)limits[i];
    double pad = meta_number(r->model, "text.pad");
    r->pad     = pad >= 0 && pad <= UINT32_MAX ? (uint32_t)pad : 0;
}

// The input for a picture of a model that reads nothing else; -1: there is none.
static int find_picture(const HoloModel *model)
{
    int found = holo_model_input_find(model, "pixel_values"), needed = 0;
    for (int i = 0; i < holo_model_input_count(model); i++) {
        const HoloPort *port = holo_model_input(model, i);
        if (found < 0 && port->type.rank == 4) found = i;
        needed += !port->optional && !port->any_shape;
    }
    return needed == 1 && found >= 0 && !holo_model_input(model, found)->optional ? found : -1;
}

static HoloStatus open_it(HoloReader *r, HoloPool *pool, const HoloReaderOptions *options, HoloError *error)
{
    HoloString block = {0};
    size_t     none  = 0;
    r->input_count   = holo_model_input_count(r->model);
    r->picture       = find_picture(r->model);
    find_length(r, options ? options->max_length : 0);
    HOLO_TRY(holo_reader_take((void **)&r->data, &none, (size_t)r->input_count + 1, sizeof *r->data, error));
    memset(r->data, 0, ((size_t)r->input_count + 1) * sizeof *r->data);
    if (options && options->pooling) {
        r->pooling_asked = holo_realloc(NULL, strlen(options->pooling) + 1);
        if (!r->pooling_asked) return holo_fail_memory(error);
        strcpy(r->pooling_asked, options->pooling);
    }
    r->normalize = options ? options->normalize : 0;
    HOLO_TRY(holo_session_create(r->model, pool, &r->session, error));
    if (!holo_model_asset(r->model, "tokenizer", &block)) return HOLO_OK;
    return holo_tokenizer_open_memory(block.data, block.size, &r->tokenizer, error);
}

HoloStatus holo_reader_create(const HoloModel *model, HoloPool *pool, const HoloReaderOptions *options,
                              HoloReader **out_reader, HoloError *error)
{
    *out_reader = NULL;
    if (!model || (options && options->size != sizeof *options) || (options && options->max_length < 0))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "holo_reader_create: an argument is not valid");
    HoloReader *r = holo_realloc(NULL, sizeof *r);
    if (!r) return holo_fail_memory(error);
    *r                = (HoloReader){.model = model};
    HoloStatus status = open_it(r, pool, options, error);
    if (status)
        holo_reader_destroy(r);
    else
        *out_reader = r;
    return status;
}

void holo_reader_destroy(HoloReader *r)
{
    if (!r) return;
    holo_ids_free(r->ids);
    holo_tokenizer_close(r->tokenizer);
    holo_session_destroy(r->session);
    for (int i = 0; r->data && i < r->input_count; i++) holo_free(r->data[i]);
    void *const all[] = {r->data, r->numbers, r->pooling_asked, r->vector, r->label_name, r->label, r->made, r};
    for (int i = 0; i < HOLO_COUNT(all); i++) holo_free(all[i]);
}

bool holo_reader_sees(const HoloReader *r)
{
    return r->picture >= 0;
}

void holo_reader_cancel(HoloReader *r)
{
    holo_session_cancel(r->session);
}

HoloStatus holo_reader_check(const HoloReader *r, HoloError *error)
{
    const char *why       = holo_model_meta_find(r->model, "text.tokenizer"); // why it was left out
    char        name[200] = "";
    for (int i = 0; i < r->input_count; i++) {
        size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, "%s%s", i ? ", " : "", holo_model_input(r->model, i)->name);
    }
    if (holo_model_input_find(r->model, "input_ids") < 0)
        return holo_fail(error, HOLO_UNSUPPORTED, "the model does not read texts: it has no input 'input_ids', but %s",
                         name);
    if (!r->tokenizer)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "the model has no tokenizer%s%s: compile a folder that has a tokenizer.json or a vocab.txt beside "
            "the model",
            why ? ": " : "", why ? why : "");
    return HOLO_OK;
}

// ---- ids

// Finds the text itself between its special tokens. A text that is too long is cut; the special tokens around it stay.
static void cut(HoloReader *r, const uint32_t *plain, size_t plain_count, size_t count)
{
    size_t limit = (size_t)r->max_length, around = count - plain_count, first = 0;
    while (first < around && memcmp(r->ids + first, plain, plain_count * sizeof *plain) != 0) first++;
    size_t behind = around - first;
    r->first      = (int64_t)first;
    r->end        = (int64_t)(count - behind);
    if (!r->max_length || count <= limit) return;
    if (around < limit) memmove(r->ids + limit - behind, r->ids + count - behind, behind * sizeof *r->ids);
    r->end   = around < limit ? (int64_t)(limit - behind) : r->max_length;
    r->count = r->max_length;
}

static HoloStatus encode(HoloReader *r, const char *text, size_t size, HoloError *error)
{
    uint32_t *plain = NULL;
    size_t    count = 0, plain_count = 0;
    holo_ids_free(r->ids);
    r->ids            = NULL;
    HoloStatus status = holo_tokenizer_encode(r->tokenizer, text, size, 0, &plain, &plain_count, error);
    if (!status) status = holo_tokenizer_encode(r->tokenizer, text, size, HOLO_TEXT_SPECIAL, &r->ids, &count, error);
    r->count = r->end = status ? 0 : (int64_t)count;
    r->first          = 0;
    if (!status && count >= plain_count) cut(r, plain, plain_count, count);
    holo_ids_free(plain);
    return status;
}

// ---- inputs

// What an input holds for each token: of those that fill up a fixed size it is padding.
static bool number_of(const HoloReader *r, const char *name, int64_t at, double *out)
{
    bool is_token = at < r->count;
    if (!strcmp(name, "input_ids"))
        *out = is_token ? r->ids[at] : r->pad;
    else if (!strcmp(name, "attention_mask"))
        *out = is_token;
    else if (!strcmp(name, "token_type_ids"))
        *out = 0;
    else if (!strcmp(name, "position_ids"))
        *out = (double)at;
    else
        return false;
    return true;
}

// Memory for inputs of `size` numbers of any type.
static HoloStatus grow(HoloReader *r, int64_t size, HoloError *error)
{
    HOLO_TRY(holo_reader_take((void **)&r->numbers, &r->numbers_room, (size_t)size, sizeof *r->numbers, error));
    if (size <= r->room) return HOLO_OK;
    for (int i = 0; i < r->input_count; i++) {
        size_t none = 0;
        HOLO_TRY(holo_reader_take(&r->data[i], &none, (size_t)size, sizeof(double), error));
    }
    r->room = size;
    return HOLO_OK;
}

static HoloStatus set_input(HoloReader *r, int index, HoloError *error)
{
    const HoloPort *port = holo_model_input(r->model, index);
    HoloTensor      t    = port->type;
    double          first;
    if (!number_of(r, port->name, 0, &first)) {
        if (port->optional || port->any_shape) return HOLO_OK;
        return holo_fail(error, HOLO_UNSUPPORTED, "the model needs the input '%s', which a text does not give",
                         port->name);
    }
    if (t.rank < 0) t.rank = 2;
    if (t.rank != 1 && t.rank != 2)
        return holo_fail(error, HOLO_UNSUPPORTED, "the input '%s' has %d dimensions, but texts have [batch, tokens]",
                         port->name, t.rank);
    int64_t size = t.rank == 2 && t.dim[1] > 0 ? t.dim[1] : r->count;
    HOLO_TRY(grow(r, size, error));
    for (int64_t i = 0; i < size; i++) (void)number_of(r, port->name, i, &r->numbers[i]);
    t.dim[0]           = 1;
    t.dim[t.rank == 2] = size;
    t.data             = r->data[index];
    HOLO_TRY(holo_port_fits(port, &t, error));
    holo_tensor_set_numbers(&t, 0, size, r->numbers);
    return holo_session_set_input(r->session, index, &t, error);
}

HoloStatus holo_reader_run(HoloReader *r, const char *text, size_t size, HoloError *error)
{
    HOLO_TRY(holo_reader_check(r, error));
    HOLO_TRY(encode(r, text, size, error));
    if (!r->count)
        return holo_fail(error, HOLO_BAD_INPUT, "'%.*s' has no tokens", (int)(size < 100 ? size : 100), text);
    for (int i = 0; i < r->input_count; i++) HOLO_TRY(set_input(r, i, error));
    return holo_session_run(r->session, error);
}

// ---- outputs

bool holo_reader_output(const HoloReader *r, const char *const *names, HoloTensor *out)
{
    HoloError error = {0};
    for (; *names; names++) {
        int index = holo_model_output_find(r->model, *names);
        if (index >= 0 && !holo_session_output(r->session, index, out, &error)) return true;
    }
    return false;
}

const char *holo_reader_outputs(const HoloReader *r, char text[200])
{
    text[0] = 0;
    for (int i = 0; i < holo_model_output_count(r->model); i++) {
        size_t used = strlen(text);
        snprintf(text + used, 200 - used, "%s%s", i ? ", " : "", holo_model_output(r->model, i)->name);
    }
    return text;
}
