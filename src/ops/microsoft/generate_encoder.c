// generate_encoder.c - a decoder behind an encoder: what the encoder gives is the first past of the decoder. See
// generate.h.
//
// An encoder that takes decoder_input_ids runs the decoder on these, too: it gives logits, its states, and then all
// that the decoder takes as past. Any other gives the keys and values of the source alone; the past begins empty then.
#include "ops/microsoft/generate.h"

#include <string.h>

static HoloStatus make_start(const HoloGeneration *s, HoloTensor *out)
{
    void *data;
    *out = (HoloTensor){.dtype = HOLO_I32, .rank = 2, .dim = {s->batch, s->prompt}};
    HOLO_TRY(holo_call_temp(s->call, (size_t)(s->batch * s->prompt), sizeof(int32_t), &data));
    for (int64_t b = 0; b < s->batch; b++)
        memcpy((int32_t *)data + b * s->prompt, s->tokens + b * s->beams * s->longest,
               (size_t)s->prompt * sizeof(int32_t));
    out->data = data;
    return HOLO_OK;
}

// The mask that is given, or 0 where the source begins with padding.
static HoloStatus make_mask(const HoloGeneration *s, HoloTensor *out)
{
    const HoloTensor *source = s->source;
    void             *data;
    if (source->rank != 2 || source->dtype != HOLO_I32)
        return holo_call_fail(s->call, HOLO_BAD_INPUT, "the encoder masks tokens, and input 0 has none");
    if (s->mask && (s->mask->dim[0] != source->dim[0] || s->mask->dim[1] != source->dim[1]))
        return holo_call_fail(s->call, HOLO_BAD_INPUT, "attention_mask does not have the shape of the tokens");
    *out = s->mask ? *s->mask : *source;
    if (s->mask) return HOLO_OK;
    HOLO_TRY(holo_call_temp(s->call, (size_t)holo_tensor_count(source), sizeof(int32_t), &data));
    for (int64_t b = 0; b < source->dim[0]; b++) {
        int32_t on = 0;
        for (int64_t k = b * source->dim[1]; k < (b + 1) * source->dim[1]; k++) {
            on |= ((const int32_t *)source->data)[k] != s->pad;
            ((int32_t *)data)[k] = on;
        }
    }
    out->data = data;
    return HOLO_OK;
}

typedef struct Encoder {
    HoloBody   body;
    HoloTensor mask, start;
    bool       has_start;
} Encoder;

static HoloStatus run_encoder(const HoloGeneration *s, Encoder *e)
{
    const HoloCall *call = s->call;
    HOLO_TRY(holo_body_open(&e->body, call, "encoder"));
    HOLO_TRY(make_start(s, &e->start));
    e->has_start = false;
    e->mask      = (HoloTensor){0};
    for (int i = 0; i < e->body.formal; i++) {
        HoloTensor type;
        HoloFeed   feed = holo_search_feed(call->host->input(call->host, e->body.graph, i, &type));
        if (feed == HOLO_FEED_SOURCE_MASK) HOLO_TRY(make_mask(s, &e->mask));
        e->body.in[i] = feed == HOLO_FEED_SOURCE        ? s->source
                        : feed == HOLO_FEED_SOURCE_MASK ? &e->mask
                        : feed == HOLO_FEED_START       ? &e->start
                                                        : NULL;
        e->has_start |= feed == HOLO_FEED_START;
        if (!e->body.in[i])
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d of the encoder is not an input of encoders", i);
    }
    if (e->body.out_count < (e->has_start ? 2 : 1))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the encoder has %d outputs", e->body.out_count);
    return holo_body_run(&e->body);
}

// Input i of the decoder is `from`, each entry of the batch once for each beam.
static HoloStatus feed_rows(HoloDecoder *d, int i, const HoloTensor *from)
{
    const HoloGeneration *s = d->s;
    HoloTensor           *t = &d->in[i];
    if (from->kind != HOLO_TENSOR || from->rank < 1 || from->dim[0] != s->batch || from->dtype == HOLO_STRING)
        return holo_call_fail(s->call, HOLO_BAD_MODEL, "what the encoder gives for input %d is not of %lld sources", i,
                              (long long)s->batch);
    *t        = *from;
    t->data   = NULL;
    t->dim[0] = s->rows;
    HOLO_TRY(holo_decoder_room(d, i));
    size_t bytes = s->batch > 0 ? holo_tensor_bytes(from) / (size_t)s->batch : 0;
    for (int64_t row = 0; row < s->rows && bytes; row++)
        memcpy((char *)t->data + (size_t)row * bytes, (const char *)from->data + (size_t)(row / s->beams) * bytes,
               bytes);
    return HOLO_OK;
}

// The same of a past, at the beginning of one that is as long as a sequence can be.
static HoloStatus feed_long_rows(HoloDecoder *d, int i, const HoloTensor *from)
{
    const HoloGeneration *s = d->s;
    HoloTensor           *t = &d->in[i];
    if (from->rank != 4 || from->dim[0] != s->batch || from->dim[2] > s->longest)
        return holo_call_fail(s->call, HOLO_BAD_MODEL, "the encoder gives no past for input %d of the decoder", i);
    *t        = *from;
    t->data   = NULL;
    t->dim[0] = s->rows;
    t->dim[2] = s->longest;
    HOLO_TRY(holo_decoder_room(d, i));
    size_t each = (size_t)t->dim[3] * holo_dtype_size((HoloDtype)t->dtype), have = (size_t)from->dim[2] * each;
    for (int64_t k = 0; k < s->rows * t->dim[1] && have; k++) {
        int64_t row = k / t->dim[1] / s->beams, head = k % t->dim[1];
        memcpy((char *)t->data + (size_t)(k * s->longest) * each,
               (const char *)from->data + (size_t)(row * t->dim[1] + head) * have, have);
    }
    return HOLO_OK;
}

// Past k of the decoder, where the encoder has seen no token: empty for its own tokens, with heads like those of the
// source.
static HoloStatus feed_source_past(HoloDecoder *d, int i, int k, const Encoder *e)
{
    const HoloTensor *like = &e->body.result[0];
    if (k >= d->presents && k - d->presents < e->body.out_count)
        return feed_rows(d, i, &e->body.result[k - d->presents]);
    if (k >= d->presents || like->rank != 4)
        return holo_call_fail(d->s->call, HOLO_BAD_MODEL, "the encoder gives nothing for input %d of the decoder", i);
    d->in[i]        = *like;
    d->in[i].data   = NULL;
    d->in[i].dim[0] = d->s->rows;
    d->in[i].dim[2] = d->is_shared ? d->s->longest : 0;
    return holo_decoder_room(d, i);
}

static HoloStatus feed_past(HoloDecoder *d, int i, int k, const Encoder *e)
{
    enum { FIRST = 2 }; // behind logits and states
    if (!e->has_start) return feed_source_past(d, i, k, e);
    if (FIRST + k < e->body.out_count)
        return (d->is_shared && k < d->presents ? feed_long_rows : feed_rows)(d, i, &e->body.result[FIRST + k]);
    return holo_call_fail(d->s->call, HOLO_BAD_MODEL, "the encoder gives nothing for input %d of the decoder", i);
}

HoloStatus holo_decoder_init_encoded(HoloDecoder *d, HoloGeneration *s, const HoloTensor **out_logits)
{
    Encoder e;
    HOLO_TRY(holo_decoder_init(d, s));
    HOLO_TRY(run_encoder(s, &e));
    for (int i = 0, past = 0; i < d->inputs; i++) {
        const HoloTensor *type = &d->in[i];
        switch (d->feed[i]) {
        case HOLO_FEED_IDS: d->takes_all = type->rank != 2 || type->dim[1] != 1; break;
        case HOLO_FEED_SOURCE: HOLO_TRY(feed_rows(d, i, s->source)); break;
        case HOLO_FEED_SOURCE_MASK:
            if (!e.mask.data) HOLO_TRY(make_mask(s, &e.mask));
            HOLO_TRY(feed_rows(d, i, &e.mask));
            break;
        case HOLO_FEED_STATES:
            if (!e.has_start) return holo_call_fail(s->call, HOLO_BAD_MODEL, "the encoder gives no states");
            HOLO_TRY(feed_rows(d, i, &e.body.result[1]));
            break;
        case HOLO_FEED_PAST: HOLO_TRY(feed_past(d, i, past++, &e)); break;
        default: break;
        }
    }
    *out_logits = NULL;
    if (!e.has_start) return HOLO_OK;
    void *logits;
    HOLO_TRY(holo_call_temp(s->call, 1, sizeof(HoloTensor), &logits));
    *(HoloTensor *)logits = e.body.result[0];
    *out_logits           = logits;
    d->seen               = s->prompt;
    return HOLO_OK;
}
