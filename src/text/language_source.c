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
    if (l->text_count > 1)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "a model with an encoder continues one text at a time, and %d are asked for", l->text_count);
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

static HoloStatus source_run(HoloLanguage *l, const HoloTensor *source, HoloError *error)
{
    HoloTensor ones, t;
    HOLO_TRY(ones_make(l, source, &ones, error));
    HOLO_TRY(holo_session_set_input(l->encoder_session, l->source, source, error));
    HOLO_TRY(mask_set(l->encoder, l->encoder_session, l->source_mask, &ones, error));
    HOLO_TRY(holo_session_run(l->encoder_session, error));
    HOLO_TRY(mask_set(l->model, l->session, l->seen_mask, &ones, error));
    for (int i = 0; i < l->given_count; i++) {
        HOLO_TRY(holo_session_output(l->encoder_session, l->given[i].out, &t, error));
        HOLO_TRY(holo_session_set_input(l->session, l->given[i].in, &t, error));
    }
    return HOLO_OK;
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
}
