// language_source.c - models of an encoder and a decoder: the encoder reads a source, the decoder's text answers it.
//
// They are two entries of an archive. What the encoder gives is handed to the inputs of the decoder that have the same
// name, and stays where the encoder's session has it. Decoders that come as ONNX get encoder_hidden_states.
#include "text/language.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 512 }; // tokens of an answer, if nobody says

bool holo_language_has_source(const HoloLanguage *l)
{
    return l->encoder != NULL;
}

// The output of the encoder that an input of the decoder gets; -1: there is none.
static int given_find(const HoloModel *encoder, const char *input)
{
    int out = holo_model_output_find(encoder, input);
    if (out >= 0 || strcmp(input, "encoder_hidden_states") != 0) return out;
    out = holo_model_output_find(encoder, "last_hidden_state");
    return out < 0 && holo_model_output_count(encoder) == 1 ? 0 : out;
}

static HoloStatus pairs_find(HoloLanguage *l, HoloError *error)
{
    int count = holo_model_input_count(l->model);
    l->given  = holo_realloc(NULL, ((size_t)count + 1) * sizeof *l->given);
    if (!l->given) return holo_fail_memory(error);
    for (int i = 0; i < count; i++) {
        int out = given_find(l->encoder, holo_model_input(l->model, i)->name);
        if (out >= 0) l->given[l->given_count++] = (HoloSourcePair){out, i};
    }
    return HOLO_OK;
}

HoloStatus holo_language_source_find(HoloLanguage *l, HoloError *error)
{
    static const char *const names[] = {"input_ids", "input_features", "input_values"};
    const HoloModel         *encoder = holo_model_entry(l->model, "encoder");
    const HoloModel         *decoder = holo_model_entry(l->model, "decoder");
    if (!encoder || !decoder) return HOLO_OK;
    l->model  = decoder;
    l->source = -1;
    for (int i = 0; i < HOLO_COUNT(names) && l->source < 0; i++) l->source = holo_model_input_find(encoder, names[i]);
    if (l->source < 0)
        return holo_fail(error, HOLO_UNSUPPORTED, "the entry encoder has no input input_ids or input_features");
    l->encoder     = encoder;
    l->source_mask = holo_model_input_find(encoder, "attention_mask");
    l->seen_mask   = holo_model_input_find(decoder, "encoder_attention_mask");
    if (!l->context) l->context = CONTEXT;
    return pairs_find(l, error);
}

bool holo_language_source_fills(const HoloLanguage *l, int input)
{
    for (int i = 0; i < l->given_count; i++)
        if (l->given[i].in == input) return true;
    return l->encoder && input == l->seen_mask;
}

// ---- reading a source

// Sets a mask of ones, where the model has one that cannot be left out.
static HoloStatus mask_set(const HoloModel *model, HoloSession *session, int input, const HoloTensor *ones,
                           HoloError *error)
{
    if (input < 0 || holo_model_input(model, input)->optional) return HOLO_OK;
    return holo_session_set_input(session, input, ones, error);
}

// Ones for all places of the source: [batch, places].
static HoloStatus ones_make(HoloLanguage *l, const HoloTensor *source, HoloTensor *out, HoloError *error)
{
    int64_t  places = source->dim[source->rank > 2 ? 2 : 1], count = source->dim[0] * places;
    int64_t *ones = holo_realloc(l->ones, (size_t)count * sizeof *ones + 1);
    if (!ones) return holo_fail_memory(error);
    l->ones = ones;
    for (int64_t i = 0; i < count; i++) ones[i] = 1;
    *out = (HoloTensor){.dtype = HOLO_I64, .rank = 2, .dim = {source->dim[0], places}, .data = ones};
    return HOLO_OK;
}

// The same for each row of the decoder's run: copies behind one another, from `at` on.
static HoloStatus rows_make(HoloLanguage *l, HoloTensor *t, int64_t rows, size_t *at, HoloError *error)
{
    size_t size = (size_t)holo_tensor_count(t) * holo_dtype_size((HoloDtype)t->dtype), all;
    if (!holo_size_mul(size, (size_t)rows, &all) || all > l->source_copy_room - *at)
        return holo_fail(error, HOLO_INTERNAL, "the encoder gave more than before");
    for (int64_t i = 0; i < rows; i++) memcpy(l->source_copy + *at + (size_t)i * size, t->data, size);
    t->data   = l->source_copy + *at;
    t->dim[0] = rows;
    *at += holo_align(all, 64);
    return HOLO_OK;
}

// Memory for `rows` copies of all that the decoder gets.
static HoloStatus rows_room(HoloLanguage *l, int64_t rows, HoloError *error)
{
    size_t     need = 0, all;
    HoloTensor t;
    for (int i = 0; i < l->given_count; i++) {
        HOLO_TRY(holo_session_output(l->encoder_session, l->given[i].out, &t, error));
        size_t size = (size_t)holo_tensor_count(&t) * holo_dtype_size((HoloDtype)t.dtype);
        if (t.rank < 1 || t.dim[0] != 1)
            return holo_fail(error, HOLO_UNSUPPORTED,
                             "output %s of the encoder has no row for each text, so several cannot answer it",
                             holo_model_output(l->encoder, l->given[i].out)->name);
        if (!holo_size_mul(size, (size_t)rows, &all) || all > SIZE_MAX / 2 - need) return holo_fail_memory(error);
        need += holo_align(all, 64);
    }
    need += holo_align((size_t)l->seen.dim[1] * (size_t)rows * sizeof *l->ones, 64);
    if (need <= l->source_copy_room) return HOLO_OK;
    char *copy = holo_realloc(l->source_copy, need);
    if (!copy) return holo_fail_memory(error);
    l->source_copy      = copy;
    l->source_copy_room = need;
    return HOLO_OK;
}

HoloStatus holo_language_source_repeat(HoloLanguage *l, int64_t rows, HoloError *error)
{
    HoloTensor t, ones = l->seen;
    size_t     at = 0;
    if (rows == l->source_rows) return HOLO_OK;
    if (rows > 1) HOLO_TRY(rows_room(l, rows, error));
    if (rows > 1) HOLO_TRY(rows_make(l, &ones, rows, &at, error));
    HOLO_TRY(mask_set(l->model, l->session, l->seen_mask, &ones, error));
    for (int i = 0; i < l->given_count; i++) {
        HOLO_TRY(holo_session_output(l->encoder_session, l->given[i].out, &t, error));
        if (rows > 1) HOLO_TRY(rows_make(l, &t, rows, &at, error));
        HOLO_TRY(holo_session_set_input(l->session, l->given[i].in, &t, error));
    }
    l->source_rows = rows;
    return HOLO_OK;
}

static HoloStatus source_run(HoloLanguage *l, const HoloTensor *source, HoloError *error)
{
    HoloTensor ones;
    HOLO_TRY(ones_make(l, source, &ones, error));
    l->seen        = ones;
    l->source_rows = 0;
    HOLO_TRY(holo_session_set_input(l->encoder_session, l->source, source, error));
    HOLO_TRY(mask_set(l->encoder, l->encoder_session, l->source_mask, &ones, error));
    HOLO_TRY(holo_session_run(l->encoder_session, error));
    return holo_language_source_repeat(l, 1, error);
}

HoloStatus holo_language_set_source(HoloLanguage *l, const HoloTensor *source, HoloError *error)
{
    if (!l->encoder) return holo_fail(error, HOLO_BAD_ARGUMENT, "the model has no encoder, and so reads no source");
    if (source->rank < 2 || source->rank > 3 || source->dim[0] != 1 || holo_tensor_count(source) < 0)
        return holo_fail(error, HOLO_BAD_INPUT, "a source is one text of ids, [1, tokens], or features of one sound");
    for (int i = 0; i < l->text_count; i++) holo_language_forget(l, i);
    l->has_source     = false;
    HoloStatus status = source_run(l, source, error);
    l->has_source     = !status;
    return status;
}

HoloStatus holo_language_set_source_tokens(HoloLanguage *l, const uint32_t *tokens, size_t count, HoloError *error)
{
    HoloTensor t = {.dtype = HOLO_I64, .rank = 2, .dim = {1, (int64_t)count}};
    if (holo_model_input(l->encoder, l->source)->type.dtype != HOLO_I64)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "the model does not read text: its encoder reads %s (hologram transcribe reads sounds)",
                         holo_model_input(l->encoder, l->source)->name);
    int64_t *ids = holo_realloc(NULL, count * sizeof *ids + 1);
    if (!ids) return holo_fail_memory(error);
    for (size_t i = 0; i < count; i++) ids[i] = tokens[i];
    t.data            = ids;
    HoloStatus status = holo_language_set_source(l, &t, error);
    holo_free(ids);
    return status;
}

void holo_language_source_close(HoloLanguage *l)
{
    holo_session_destroy(l->encoder_session);
    holo_free(l->given);
    holo_free(l->ones);
    holo_free(l->source_copy);
}
