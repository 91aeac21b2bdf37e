// generate_decoder.c - the decoder of a search: what its inputs are in each run. See generate.h.
#include "ops/microsoft/generate.h"

#include <string.h>

// Keys or values, [rows, heads, tokens, size], or both in one, [2, rows, heads, tokens, size].
static bool is_past(const HoloTensor *t)
{
    return t->kind == HOLO_TENSOR && (t->rank == 4 || t->rank == 5) && HOLO_TYPES_FLOAT >> t->dtype & 1;
}

// ---- opened

static HoloStatus find_feeds(HoloDecoder *d, const HoloBody *body, bool is_first)
{
    const HoloCall *call = d->s->call;
    int             ids = 0, pasts = 0;
    for (int i = 0; i < d->inputs; i++) {
        HoloTensor type;
        HoloFeed   feed = holo_search_feed(call->host->input(call->host, body->graph, i, &type));
        if (!is_first && feed != d->feed[i])
            return holo_call_fail(call, HOLO_BAD_MODEL, "init_decoder and decoder differ in input %d", i);
        if (feed == HOLO_FEED_PAST && !is_past(&type))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d of the decoder, a past, is not of 4 or 5 dimensions",
                                  i);
        ids += feed == HOLO_FEED_IDS;
        pasts += feed == HOLO_FEED_PAST;
        d->is_shared |= feed == HOLO_FEED_PAST_LENGTH;
        d->feed[i] = feed;
        d->in[i]   = type;
    }
    if (ids != 1 || pasts < d->presents)
        return holo_call_fail(call, HOLO_BAD_MODEL, "a decoder has no input_ids, or gives more than it takes");
    return HOLO_OK;
}

static HoloStatus open_bodies(HoloDecoder *d)
{
    const HoloCall *call = d->s->call;
    HOLO_TRY(holo_body_open(&d->rest, call, "decoder"));
    d->first = d->rest;
    if (holo_attr_find(call, "init_decoder")) HOLO_TRY(holo_body_open(&d->first, call, "init_decoder"));
    if (d->rest.formal != d->first.formal || d->rest.out_count != d->first.out_count || d->rest.out_count < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "init_decoder and decoder differ in inputs or outputs");
    d->inputs   = d->rest.formal;
    d->presents = d->rest.out_count - 1;
    return HOLO_OK;
}

HoloStatus holo_decoder_init(HoloDecoder *d, HoloGeneration *s)
{
    void *feed, *in, *room, *positions, *mask;
    *d = (HoloDecoder){.s = s};
    HOLO_TRY(open_bodies(d));
    HOLO_TRY(holo_call_temp(s->call, (size_t)d->inputs, sizeof *d->feed, &feed));
    HOLO_TRY(holo_call_temp(s->call, (size_t)d->inputs, sizeof *d->in, &in));
    HOLO_TRY(holo_call_temp(s->call, (size_t)d->inputs, sizeof *d->room, &room));
    HOLO_TRY(holo_call_temp(s->call, (size_t)s->rows, sizeof *d->positions, &positions));
    HOLO_TRY(holo_call_temp(s->call, (size_t)(s->rows * s->prompt), sizeof *d->mask, &mask));
    d->feed      = feed;
    d->in        = in;
    d->room      = room;
    d->positions = positions;
    d->mask      = mask;
    HOLO_TRY(find_feeds(d, &d->first, true));
    HOLO_TRY(find_feeds(d, &d->rest, false));
    for (int i = 0; i < d->inputs; i++) d->first.in[i] = d->rest.in[i] = &d->in[i];
    return HOLO_OK;
}

HoloStatus holo_decoder_room(HoloDecoder *d, int i)
{
    HoloTensor *t    = &d->in[i];
    size_t      need = holo_tensor_count(t) < 0 ? SIZE_MAX : holo_tensor_bytes(t);
    if (t->data && need <= d->room[i]) return HOLO_OK;
    if (need > SIZE_MAX / 4) return holo_fail_memory(d->s->call->error);
    d->room[i] = d->room[i] ? 2 * need : need + 1; // what grows once grows with every token
    return holo_call_temp(d->s->call, d->room[i], 1, &t->data);
}

// ---- fed

static HoloStatus feed_ids(HoloDecoder *d, int i)
{
    const HoloGeneration *s    = d->s;
    int64_t               from = d->seen && !d->takes_all ? d->seen : 0, count = s->length - from;
    void                 *data = d->in[i].data;
    d->in[i]                   = (HoloTensor){.dtype = HOLO_I32, .rank = 2, .dim = {s->rows, count}, .data = data};
    HOLO_TRY(holo_decoder_room(d, i));
    for (int64_t row = 0; row < s->rows; row++)
        memcpy((int32_t *)d->in[i].data + row * count, s->tokens + row * s->longest + from,
               (size_t)count * sizeof(int32_t));
    return HOLO_OK;
}

// Padding tokens have no position.
static HoloStatus feed_positions(HoloDecoder *d, int i)
{
    const HoloGeneration *s     = d->s;
    int64_t               count = s->length - d->seen;
    void                 *data  = d->in[i].data;
    d->in[i]                    = (HoloTensor){.dtype = HOLO_I32, .rank = 2, .dim = {s->rows, count}, .data = data};
    HOLO_TRY(holo_decoder_room(d, i));
    for (int64_t row = 0; row < s->rows; row++)
        for (int64_t k = 0; k < count; k++) {
            bool is_pad                                 = d->seen == 0 && s->tokens[row * s->longest + k] == s->pad;
            ((int32_t *)d->in[i].data)[row * count + k] = is_pad ? 0 : d->positions[row];
            d->positions[row] += !is_pad;
        }
    return HOLO_OK;
}

static HoloStatus find_mask(HoloDecoder *d)
{
    const HoloGeneration *s = d->s;
    if (s->mask && (s->mask->dim[0] != s->batch || s->mask->dim[1] != s->prompt))
        return holo_call_fail(s->call, HOLO_BAD_INPUT, "attention_mask does not have the shape of the tokens");
    for (int64_t row = 0; row < s->rows; row++)
        for (int64_t k = 0; k < s->prompt; k++)
            d->mask[row * s->prompt + k] = s->mask ? ((const int32_t *)s->mask->data)[row / s->beams * s->prompt + k]
                                                   : s->tokens[row * s->longest + k] != s->pad;
    return HOLO_OK;
}

// Generated tokens are never masked.
static HoloStatus feed_mask(HoloDecoder *d, int i)
{
    const HoloGeneration *s    = d->s;
    void                 *data = d->in[i].data;
    if (d->seen == 0) HOLO_TRY(find_mask(d));
    d->in[i] = (HoloTensor){.dtype = HOLO_I32, .rank = 2, .dim = {s->rows, s->length}, .data = data};
    HOLO_TRY(holo_decoder_room(d, i));
    for (int64_t row = 0; row < s->rows; row++)
        for (int64_t k = 0; k < s->length; k++)
            ((int32_t *)d->in[i].data)[row * s->length + k] = k < s->prompt ? d->mask[row * s->prompt + k] : 1;
    return HOLO_OK;
}

static HoloStatus feed_number(HoloDecoder *d, int i, int64_t number)
{
    void *data = d->in[i].data;
    d->in[i]   = (HoloTensor){.dtype = HOLO_I32, .rank = 1, .dim = {1}, .data = data};
    HOLO_TRY(holo_decoder_room(d, i));
    *(int32_t *)d->in[i].data = (int32_t)number;
    return HOLO_OK;
}

static HoloStatus feed_past_length(HoloDecoder *d, int i)
{
    return feed_number(d, i, d->seen);
}

static HoloStatus feed_beam_width(HoloDecoder *d, int i)
{
    return feed_number(d, i, d->s->beams);
}

static HoloStatus feed_beams(HoloDecoder *d, int i)
{
    const HoloGeneration *s    = d->s;
    void                 *data = d->in[i].data;
    if (d->seen > 0 && data) return HOLO_OK;
    d->in[i] = (HoloTensor){.dtype = HOLO_I32, .rank = 3, .dim = {s->batch, s->beams, s->longest}, .data = data};
    HOLO_TRY(holo_decoder_room(d, i));
    for (int64_t k = 0; k < s->rows * s->longest; k++)
        ((int32_t *)d->in[i].data)[k] = (int32_t)(k / s->longest % s->beams);
    return HOLO_OK;
}

// The past is empty: its type gives the size of a head and the number of heads.
static HoloStatus feed_no_past(HoloDecoder *d, int i)
{
    HoloTensor *t = &d->in[i];
    if (d->seen > 0 || t->data) return HOLO_OK;
    t->dim[t->rank - 4] = d->s->rows;
    t->dim[t->rank - 2] = d->is_shared ? d->s->longest : 0;
    for (int k = 0; k < t->rank; k++)
        if (holo_dim_is_symbolic(t->dim[k]))
            return holo_call_fail(d->s->call, HOLO_BAD_MODEL,
                                  "input %d of the decoder, a past, must have a type with heads and their size", i);
    return holo_decoder_room(d, i);
}

HoloStatus holo_decoder_run(HoloDecoder *d, const HoloTensor **out_logits)
{
    static HoloStatus (*const rows[])(HoloDecoder *, int) = {
        [HOLO_FEED_IDS] = feed_ids,      [HOLO_FEED_POSITIONS] = feed_positions,
        [HOLO_FEED_MASK] = feed_mask,    [HOLO_FEED_PAST_LENGTH] = feed_past_length,
        [HOLO_FEED_PAST] = feed_no_past, [HOLO_FEED_BEAM_WIDTH] = feed_beam_width,
        [HOLO_FEED_BEAMS] = feed_beams,
    };
    HoloBody *body = d->seen ? &d->rest : &d->first;
    for (int i = 0; i < d->inputs; i++)
        if (d->feed[i] < HOLO_COUNT(rows) && rows[d->feed[i]]) HOLO_TRY(rows[d->feed[i]](d, i));
    HOLO_TRY(holo_body_run(body));
    *out_logits = &body->result[0];
    return HOLO_OK;
}

// ---- followed

static HoloStatus reorder(HoloDecoder *d, int i, const HoloTensor *present, const int64_t *from)
{
    const HoloGeneration *s     = d->s;
    HoloTensor           *past  = &d->in[i];
    void                 *data  = past->data;
    int64_t               parts = present->rank == 5 ? present->dim[0] : 1;
    *past                       = *present;
    past->data                  = data;
    HOLO_TRY(holo_decoder_room(d, i));
    int64_t count = parts * s->rows;
    size_t  bytes = count > 0 ? holo_tensor_bytes(present) / (size_t)count : 0;
    for (int64_t k = 0; k < count; k++)
        memcpy((char *)past->data + (size_t)k * bytes,
               (const char *)present->data + (size_t)(k / s->rows * s->rows + from[k % s->rows]) * bytes, bytes);
    return HOLO_OK;
}

HoloStatus holo_decoder_follow(HoloDecoder *d, const int64_t *from)
{
    const HoloGeneration *s    = d->s;
    const HoloBody       *body = d->seen ? &d->rest : &d->first;
    for (int i = 0, k = 1; i < d->inputs && k <= d->presents; i++) {
        if (d->feed[i] != HOLO_FEED_PAST) continue;
        const HoloTensor *present = &body->result[k++];
        if (!is_past(present) || present->dim[present->rank - 4] != s->rows)
            return holo_call_fail(s->call, HOLO_BAD_MODEL, "output %d of the decoder is not a past of %lld sequences",
                                  k - 1, (long long)s->rows);
        if (from)
            HOLO_TRY(reorder(d, i, present, from));
        else
            d->in[i] = *present;
    }
    d->seen = s->length - 1;
    return HOLO_OK;
}
