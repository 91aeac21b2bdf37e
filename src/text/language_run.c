// language_run.c - one run of a language model: fills its inputs, runs it, and takes the logits.
#include "text/language.h"

#include <string.h>

enum { ROOM_FIRST = 512 }; // tokens of a cache at first

// ---- numbers

static float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, digits = h & 0x3ff, bits;
    if (exponent == 31)
        bits = sign | 0x7f800000 | digits << 13;
    else if (exponent)
        bits = sign | (exponent + 112) << 23 | digits << 13;
    else
        return (sign ? -1.0f : 1.0f) * (float)digits * 0x1p-24f;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

HoloStatus holo_floats_grow(float **floats, size_t *room, size_t count, HoloError *error)
{
    if (count <= *room) return HOLO_OK;
    float *more = holo_realloc(*floats, count * sizeof *more);
    if (!more) return holo_fail_memory(error);
    *floats = more;
    *room   = count;
    return HOLO_OK;
}

// `count` logits from element `first` on, as f32.
static HoloStatus logits_take(HoloLanguage *l, const HoloTensor *t, size_t first, size_t count, const float **out,
                              HoloError *error)
{
    const uint16_t *narrow = (const uint16_t *)t->data + first;
    if (t->dtype == HOLO_F32) {
        *out = (const float *)t->data + first;
        return HOLO_OK;
    }
    HOLO_TRY(holo_floats_grow(&l->wide, &l->wide_room, count, error));
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)narrow[i] << 16;
        if (t->dtype == HOLO_BF16)
            memcpy(&l->wide[i], &bits, sizeof bits);
        else
            l->wide[i] = half_to_float(narrow[i]);
    }
    *out = l->wide;
    return HOLO_OK;
}

// ---- inputs

// Memory for the numbers of a run's inputs; kept.
static HoloStatus numbers_take(HoloLanguage *l, size_t count, int64_t **out, HoloError *error)
{
    if (count > l->number_room) {
        int64_t *number = holo_realloc(l->number, count * sizeof *number);
        if (!number) return holo_fail_memory(error);
        l->number      = number;
        l->number_room = count;
    }
    *out = l->number;
    return HOLO_OK;
}

// Sets an input of i64 or i32, where the model has it, and moves *at behind its numbers.
static HoloStatus input_set(HoloLanguage *l, int input, int rank, int64_t rows, int64_t columns, int64_t **at,
                            HoloError *error)
{
    HoloTensor t     = {.dtype = HOLO_I64, .rank = (int8_t)rank, .dim = {rows, columns}, .data = *at};
    int64_t    count = rank == 2 ? rows * columns : rows;
    *at += count;
    if (input < 0) return HOLO_OK;
    if (holo_model_input(l->model, input)->type.dtype == HOLO_I32) {
        for (int64_t i = 0; i < count; i++) {
            int32_t x = (int32_t)((int64_t *)t.data)[i];
            memcpy((char *)t.data + i * 4, &x, sizeof x);
        }
        t.dtype = HOLO_I32;
    }
    return holo_session_set_input(l->session, input, &t, error);
}

typedef struct Run {
    const HoloTextRead *reads;
    int                 count;
    size_t              fresh, wanted;
} Run;

// What is known of the text of row i.
static HoloKnownText *known(const HoloLanguage *l, const Run *r, int i)
{
    return &l->text[r->reads[i].text];
}

// Caches have room for all tokens: they double until then.
static HoloStatus room_make(HoloLanguage *l, const Run *r, HoloError *error)
{
    int64_t need = 0;
    for (int i = 0; i < r->count; i++) {
        int64_t end = (int64_t)(known(l, r, i)->count + r->fresh);
        if (end > need) need = end;
    }
    if (need <= l->room) return HOLO_OK;
    HOLO_TRY(holo_session_set_size(l->session, "slots", l->text_count, error));
    if (!l->has_caches) return HOLO_OK;
    int64_t room = l->room ? l->room : ROOM_FIRST;
    while (room < need) room *= 2;
    if (l->context && room > l->context) room = need > l->context ? need : l->context;
    l->room = room;
    return holo_session_set_size(l->session, "context", room, error);
}

static void ids_fill(const HoloLanguage *l, const Run *r, int64_t *out)
{
    for (int i = 0; i < r->count; i++) {
        const uint32_t *from = r->reads[i].tokens + known(l, r, i)->count;
        for (size_t k = 0; k < r->fresh; k++) *out++ = from[k];
    }
}

static HoloStatus inputs_cached(HoloLanguage *l, const Run *r, HoloError *error)
{
    int64_t rows = r->count, fresh = (int64_t)r->fresh, wanted = (int64_t)r->wanted, *at = NULL;
    HOLO_TRY(room_make(l, r, error));
    HOLO_TRY(numbers_take(l, (size_t)(rows * fresh + 2 * rows + wanted), &at, error));
    ids_fill(l, r, at);
    HOLO_TRY(input_set(l, l->ids, 2, rows, fresh, &at, error));
    for (int64_t i = 0; i < rows; i++) at[i] = r->reads[i].text;
    HOLO_TRY(input_set(l, l->rows, 1, rows, 0, &at, error));
    for (int64_t i = 0; i < rows; i++) at[i] = (int64_t)known(l, r, (int)i)->count;
    HOLO_TRY(input_set(l, l->lengths, 1, rows, 0, &at, error));
    for (int64_t i = 0; i < wanted; i++) at[i] = fresh - wanted + i;
    return input_set(l, l->picks, 1, wanted, 0, &at, error);
}

// The whole text, or with what was kept of it (past) the rest.
static HoloStatus inputs_plain(HoloLanguage *l, const Run *r, HoloError *error)
{
    int64_t past = l->past_count ? (int64_t)known(l, r, 0)->count : 0, fresh = (int64_t)r->fresh, *at = NULL;
    int64_t wanted = (int64_t)r->wanted;
    HOLO_TRY(numbers_take(l, (size_t)(3 * fresh + past + wanted + 1), &at, error));
    ids_fill(l, r, at);
    HOLO_TRY(input_set(l, l->ids, 2, 1, fresh, &at, error));
    for (int64_t i = 0; i < past + fresh; i++) at[i] = 1;
    HOLO_TRY(input_set(l, l->mask, 2, 1, past + fresh, &at, error));
    for (int64_t i = 0; i < fresh; i++) at[i] = past + i;
    HOLO_TRY(input_set(l, l->positions, 2, 1, fresh, &at, error));
    for (int64_t i = 0; i < wanted; i++) at[i] = fresh - wanted + i;
    HOLO_TRY(input_set(l, l->picks, 1, wanted, 0, &at, error));
    if (l->branch < 0) return HOLO_OK;
    HoloTensor branch = {.dtype = HOLO_BOOL, .rank = 1, .dim = {1}, .data = at};
    *(uint8_t *)at    = past > 0;
    return holo_session_set_input(l->session, l->branch, &branch, error);
}

// ---- past_key_values

// Its type for a past of `past` tokens: [1, heads, past, size], in which the model fixes heads and size.
static HoloStatus past_set(HoloLanguage *l, const HoloPastPair *p, int64_t past, HoloError *error)
{
    HoloTensor t = p->value;
    if (t.rank != 4 || t.dim[1] < 0 || t.dim[3] < 0 || t.kind != HOLO_TENSOR || t.dtype == HOLO_STRING)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "input %s is not [batch, heads, past, size] with fixed heads and size",
                         holo_model_input(l->model, p->in)->name);
    t.dim[0] = 1;
    if (!past) t.dim[2] = 0;
    if (past && !p->is_source && t.dim[2] != past)
        return holo_fail(error, HOLO_BAD_INPUT, "the model kept %lld tokens in %s, not %lld", (long long)t.dim[2],
                         holo_model_input(l->model, p->in)->name, (long long)past);
    if (!t.data) t.data = l->number; // it has no elements
    return holo_session_set_input(l->session, p->in, &t, error);
}

static HoloStatus past_keep(HoloLanguage *l, HoloPastPair *p, HoloError *error)
{
    HoloTensor t;
    HOLO_TRY(holo_session_output(l->session, p->out, &t, error));
    if (t.kind != HOLO_TENSOR || t.dtype != p->value.dtype || t.rank != 4 || t.dim[0] != 1 ||
        t.dim[1] != p->value.dim[1] || t.dim[3] != p->value.dim[3])
        return holo_fail(error, HOLO_BAD_INPUT, "output %s is not of the type of the input that gets it, %s",
                         holo_model_output(l->model, p->out)->name, holo_model_input(l->model, p->in)->name);
    p->value.dim[2] = t.dim[2];
    size_t size     = holo_dtype_size((HoloDtype)t.dtype);
    for (int d = 0; d < t.rank; d++) size *= (size_t)t.dim[d];
    if (size > p->room) {
        void *data = holo_realloc(p->value.data, size * 2);
        if (!data) return holo_fail_memory(error);
        p->value.data = data;
        p->room       = size * 2;
    }
    if (size) memcpy(p->value.data, t.data, size);
    return HOLO_OK;
}

// ---- the run

static HoloStatus remember(HoloLanguage *l, const Run *r, HoloError *error)
{
    for (int i = 0; i < r->count; i++) {
        HoloKnownText *k = known(l, r, i);
        if (k->count + r->fresh > k->room) {
            size_t    room  = (k->count + r->fresh) * 2;
            uint32_t *token = holo_realloc(k->token, room * sizeof *token);
            if (!token) return holo_fail_memory(error);
            k->token = token;
            k->room  = room;
        }
        memcpy(k->token + k->count, r->reads[i].tokens + k->count, r->fresh * sizeof *k->token);
        k->count += r->fresh;
    }
    return HOLO_OK;
}

// Logits stay where they are while only choices are asked for.
static HoloStatus logits_leave(HoloLanguage *l, HoloError *error)
{
    return l->choices < 0 ? HOLO_OK : holo_session_leave_output(l->session, l->logits, l->is_asked, error);
}

static HoloStatus choices_take(HoloLanguage *l, const Run *r, HoloError *error)
{
    HoloTensor t;
    HOLO_TRY(holo_session_output(l->session, l->choices, &t, error));
    if (t.dtype != HOLO_I64 || t.rank != 2 || t.dim[0] != r->count || t.dim[1] < (int64_t)r->wanted)
        return holo_fail(error, HOLO_BAD_INPUT, "the model gives choices of another shape than there are tokens");
    l->choice = (const int64_t *)t.data + ((size_t)t.dim[1] - r->wanted);
    for (size_t i = 0; i < (size_t)r->count * r->wanted; i++)
        if (l->choice[i] < 0 || l->choice[i] >= (int64_t)l->vocabulary)
            return holo_fail(error, HOLO_BAD_INPUT, "the model chose token %lld, which it does not have",
                             (long long)l->choice[i]);
    return HOLO_OK;
}

HoloStatus holo_language_run(HoloLanguage *l, const HoloTextRead *reads, int count, size_t fresh, size_t wanted,
                             const float **out_logits, HoloError *error)
{
    Run        r = {reads, count, fresh, wanted};
    HoloTensor t;
    if (l->encoder && !l->has_source)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the model's decoder answers a source, and none was given");
    if (l->encoder) HOLO_TRY(holo_language_source_repeat(l, count, error));
    HOLO_TRY(l->way == HOLO_READS_CACHED ? inputs_cached(l, &r, error) : inputs_plain(l, &r, error));
    for (int i = 0; i < count; i++) HOLO_TRY(holo_kept_apply(l, reads[i].text, error));
    for (int i = 0; i < l->past_count && l->way == HOLO_READS_PAST; i++)
        HOLO_TRY(past_set(l, &l->past[i], (int64_t)known(l, &r, 0)->count, error));
    HOLO_TRY(logits_leave(l, error));
    HOLO_TRY(holo_session_run(l->session, error));
    bool is_first = !known(l, &r, 0)->count;
    for (int i = 0; i < l->past_count && l->way == HOLO_READS_PAST; i++)
        if (is_first || !l->past[i].is_source) HOLO_TRY(past_keep(l, &l->past[i], error));
    if (l->is_asked) {
        HOLO_TRY(choices_take(l, &r, error));
        *out_logits = NULL;
        return remember(l, &r, error);
    }
    HOLO_TRY(holo_session_output(l->session, l->logits, &t, error));
    if (t.rank != 3 || t.dim[0] != count || t.dim[1] < (int64_t)wanted || t.dim[2] < 1 || t.dim[2] > UINT32_MAX / 2)
        return holo_fail(error, HOLO_BAD_INPUT, "the model gives logits of another shape than there are tokens");
    if (l->vocabulary && t.dim[2] != l->vocabulary)
        return holo_fail(error, HOLO_BAD_INPUT, "the model gives %lld logits for a token, and before it gave %u",
                         (long long)t.dim[2], l->vocabulary);
    l->vocabulary = (uint32_t)t.dim[2];
    HOLO_TRY(remember(l, &r, error));
    size_t first = ((size_t)t.dim[1] - wanted) * (size_t)t.dim[2]; // of row 0; with several rows all are wanted
    return logits_take(l, &t, first, (size_t)count * wanted * (size_t)t.dim[2], out_logits, error);
}
