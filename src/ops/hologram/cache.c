// cache.c - CacheWrite and CachedAttention of domain hologram: attention over keys and values that were kept.
//
// A cache is [slots, context, size]: a slot for each text, and in it a vector for each of its tokens. Each row of a batch
// is the continuation of a text: rows[b] is its slot, lengths[b] how many of its tokens the slot has already. CacheWrite
// puts the vectors of the new tokens behind those, and CachedAttention has each new token see all tokens of its slot up
// to itself. Both are functions of their inputs; that a plan changes the cache in place is a matter of the plan.
//
// New tokens are f32. A cache may be of f16, which rounds them, or of i8: then the vector of each head, num_heads of them,
// is whole numbers from -127 to 127 and behind them an f32, the scale of these (see HoloHeads).
#include "format/dtype.h"
#include "ops/hologram/slots.h"
#include "ops/spread.h"
#include "ops/standard/attention.h"

#include <math.h>
#include <string.h>

HoloStatus holo_slots_check(const HoloCall *call, int rows, HoloDim batch)
{
    for (int i = rows; i < rows + 2; i++) {
        HoloDim same;
        HOLO_TRY(holo_expect_types(call, i, HOLO_BIT(I64)));
        HOLO_TRY(holo_expect_rank(call, i, 1, 1));
        HOLO_TRY(holo_agree(call, "rows of the batch", call->in[i]->dim[0], batch, &same));
    }
    return HOLO_OK;
}

// `fresh` new tokens must fit into the cache that is input `cache`.
static HoloStatus room_check(const HoloCall *call, int cache, HoloDim batch, HoloDim fresh)
{
    HOLO_TRY(holo_expect_rank(call, cache, 3, 3));
    const HoloDim *have = call->in[cache]->dim, want[2] = {batch, fresh};
    for (int d = 0; d < 2; d++)
        if (!holo_dim_is_symbolic(have[d]) && !holo_dim_is_symbolic(want[d]) && have[d] < want[d])
            return holo_call_fail(call, HOLO_BAD_INPUT, "the cache has room for %lld %s, and there are %lld",
                                  (long long)have[d], d ? "tokens" : "texts", (long long)want[d]);
    return HOLO_OK;
}

HoloStatus holo_slot_of(const HoloCall *call, int rows, const HoloTensor *state, int64_t b, int64_t *out_slot,
                        int64_t *out_length)
{
    *out_slot   = ((const int64_t *)call->in[rows]->data)[b];
    *out_length = ((const int64_t *)call->in[rows + 1]->data)[b];
    if (*out_slot < 0 || *out_slot >= state->dim[0])
        return holo_call_fail(call, HOLO_BAD_INPUT, "slot %lld of a cache with %lld slots", (long long)*out_slot,
                              (long long)state->dim[0]);
    return HOLO_OK;
}

// The slot of row b, and the tokens in it. The values are not trusted.
static HoloStatus slot_of(const HoloCall *call, int rows, const HoloTensor *cache, int64_t b, int64_t fresh,
                          int64_t *out_slot, int64_t *out_length)
{
    int64_t slot, length;
    HOLO_TRY(holo_slot_of(call, rows, cache, b, &slot, &length));
    if (length < 0 || length > cache->dim[1] - fresh)
        return holo_call_fail(call, HOLO_BAD_INPUT,
                              "the cache has room for %lld tokens: %lld are there, and %lld more are to come",
                              (long long)cache->dim[1], (long long)length, (long long)fresh);
    *out_slot   = slot;
    *out_length = length;
    return HOLO_OK;
}

enum { CACHE, FRESH, WRITE_ROWS }; // of CacheWrite; and lengths

// ---- numbers of a cache

// The numbers of a head's vector.
static HoloStatus vector_size(const HoloCall *call, const HoloTensor *cache, int64_t heads, HoloDim *out)
{
    HOLO_TRY(holo_split(call, "the cache", cache->dim[2], heads, out));
    if (cache->dtype != HOLO_I8) return HOLO_OK;
    *out = holo_dim_sub(call->dims, *out, HOLO_SCALE_BYTES);
    if (!holo_dim_is_symbolic(*out) && *out < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "a cache of i8 has no room for the scale of a vector");
    return HOLO_OK;
}

static void vector_write_i8(const float *x, int64_t size, int8_t *out)
{
    float top = 0;
    for (int64_t i = 0; i < size; i++) top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
    float scale = top / 127, inverse = top > 0 ? 127 / top : 0;
    for (int64_t i = 0; i < size; i++) {
        float y = x[i] * inverse;
        out[i]  = (int8_t)(y > 127 ? 127 : y >= -127 ? (int)(y + (y < 0 ? -0.5f : 0.5f)) : -127);
    }
    memcpy(out + size, &scale, sizeof scale);
}

typedef struct Writing {
    const HoloCall *call;
    int64_t         heads, size; // of a vector
    size_t          row;         // bytes of a token in the cache
} Writing;

// One new token.
static void token_write(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Writing    *w     = arg;
    const HoloTensor *fresh = w->call->in[FRESH], *cache = w->call->out[0];
    int64_t           b = i / fresh->dim[1], t = i % fresh->dim[1], count = w->heads * w->size;
    int64_t           slot   = ((const int64_t *)w->call->in[WRITE_ROWS]->data)[b];
    int64_t           length = ((const int64_t *)w->call->in[WRITE_ROWS + 1]->data)[b];
    const float      *x      = (const float *)fresh->data + i * count;
    char             *to     = (char *)cache->data + (size_t)(slot * cache->dim[1] + length + t) * w->row;
    if (cache->dtype == HOLO_F32)
        memcpy(to, x, (size_t)count * sizeof *x);
    else if (cache->dtype == HOLO_F16)
        for (int64_t k = 0; k < count; k++) ((uint16_t *)to)[k] = holo_f32_to_f16(x[k]);
    else
        for (int64_t h = 0; h < w->heads; h++)
            vector_write_i8(x + h * w->size, w->size, (int8_t *)to + h * (w->size + HOLO_SCALE_BYTES));
}

// ---- CacheWrite

static HoloStatus write_infer(HoloCall *call)
{
    const HoloTensor *cache = call->in[CACHE], *fresh = call->in[FRESH];
    HoloDim           same, size;
    HOLO_TRY(holo_expect_rank(call, FRESH, 3, 3));
    HOLO_TRY(holo_expect_types(call, FRESH, HOLO_BIT(F32)));
    HOLO_TRY(room_check(call, CACHE, fresh->dim[0], fresh->dim[1]));
    HOLO_TRY(vector_size(call, cache, holo_attr_int(call, "num_heads", 1), &size));
    size = holo_dim_mul(call->dims, size, holo_attr_int(call, "num_heads", 1));
    HOLO_TRY(holo_agree(call, "vectors of the cache and the new tokens", size, fresh->dim[2], &same));
    HOLO_TRY(holo_slots_check(call, WRITE_ROWS, fresh->dim[0]));
    return holo_out_type(call, 0, (HoloDtype)cache->dtype, 3, cache->dim);
}

static HoloStatus write_eval(HoloCall *call)
{
    const HoloTensor *cache = call->in[CACHE], *fresh = call->in[FRESH];
    HoloTensor       *out   = call->out[0];
    Writing           w     = {.call = call, .heads = holo_attr_int(call, "num_heads", 1)};
    int64_t           count = holo_tensor_count(fresh);
    if (!holo_is_wanted(out)) return HOLO_OK;
    if (out->data != cache->data) memcpy(out->data, cache->data, holo_tensor_bytes(cache));
    if (!count) return HOLO_OK;
    HOLO_TRY(vector_size(call, cache, w.heads, &w.size));
    w.row = (size_t)cache->dim[2] * holo_dtype_size((HoloDtype)cache->dtype);
    for (int64_t b = 0; b < fresh->dim[0]; b++) {
        int64_t slot, length;
        HOLO_TRY(slot_of(call, WRITE_ROWS, cache, b, fresh->dim[1], &slot, &length));
        for (int64_t a = 0; a < b; a++) // two rows of one slot would be written by two threads
            if (((const int64_t *)call->in[WRITE_ROWS]->data)[a] == slot)
                return holo_call_fail(call, HOLO_BAD_INPUT, "rows %lld and %lld of the batch have the same slot",
                                      (long long)a, (long long)b);
    }
    holo_spread(call, fresh->dim[0] * fresh->dim[1], (double)count, token_write, &w);
    return HOLO_OK;
}

// ---- CachedAttention

enum { QUERY, KEYS, VALUES, ROWS, LENGTHS, MASK, SLOPES };
#define CACHE_TYPES (HOLO_BIT(F32) | HOLO_BIT(F16) | HOLO_BIT(I8))

typedef struct Sizes {
    HoloDim batch, queries, size, v_size;
    int64_t heads, kv_heads;
} Sizes;

static HoloStatus sizes_find(const HoloCall *call, Sizes *s)
{
    const HoloTensor *q = call->in[QUERY];
    HoloDim           size;
    HOLO_TRY(holo_expect_rank(call, QUERY, 3, 3));
    s->batch    = q->dim[0];
    s->queries  = q->dim[1];
    s->heads    = holo_attr_int(call, "num_heads", 0);
    s->kv_heads = holo_attr_int(call, "kv_num_heads", s->heads);
    if (s->heads < 1 || s->kv_heads < 1 || s->heads > INT32_MAX || s->heads % s->kv_heads)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld heads of queries are not a multiple of %lld of keys",
                              (long long)s->heads, (long long)s->kv_heads);
    for (int i = KEYS; i <= VALUES; i++) {
        HOLO_TRY(room_check(call, i, s->batch, s->queries));
        HOLO_TRY(holo_expect_types(call, i, CACHE_TYPES));
    }
    HOLO_TRY(holo_split(call, "queries", q->dim[2], s->heads, &s->size));
    HOLO_TRY(vector_size(call, call->in[KEYS], s->kv_heads, &size));
    HOLO_TRY(holo_agree(call, "vectors of queries and keys", size, s->size, &s->size));
    return vector_size(call, call->in[VALUES], s->kv_heads, &s->v_size);
}

static HoloStatus attention_infer(HoloCall *call)
{
    const HoloTensor *mask = holo_in(call, MASK), *slopes = holo_in(call, SLOPES);
    Sizes             s;
    HoloDim           same;
    HOLO_TRY(sizes_find(call, &s));
    for (int d = 0; d < 2; d++)
        HOLO_TRY(
            holo_agree(call, "caches of keys and values", call->in[KEYS]->dim[d], call->in[VALUES]->dim[d], &same));
    HOLO_TRY(holo_slots_check(call, ROWS, s.batch));
    if (mask) {
        HOLO_TRY(holo_expect_types(call, MASK, HOLO_BIT(I64)));
        HOLO_TRY(holo_expect_rank(call, MASK, 2, 2));
        HOLO_TRY(holo_agree(call, "batch of the mask", mask->dim[0], s.batch, &same));
        HOLO_TRY(holo_agree(call, "tokens of the mask", mask->dim[1], s.queries, &same));
    }
    if (slopes) {
        HOLO_TRY(holo_expect_types(call, SLOPES, HOLO_BIT(F32)));
        HOLO_TRY(holo_expect_rank(call, SLOPES, 1, 1));
        HOLO_TRY(holo_agree(call, "slopes and heads", slopes->dim[0], s.heads, &same));
    }
    HoloDim y[3] = {s.batch, s.queries, holo_dim_mul(call->dims, s.v_size, s.heads)};
    return holo_out_type(call, 0, (HoloDtype)call->in[QUERY]->dtype, 3, y);
}

// Does the mask hide a new token of row b?
static bool hides(const HoloTensor *mask, int64_t b)
{
    const int64_t *seen = mask ? (const int64_t *)mask->data + b * mask->dim[1] : NULL;
    for (int64_t i = 0; seen && i < mask->dim[1]; i++)
        if (!seen[i]) return true;
    return false;
}

// Which keys of row b are seen, [1, 1, 1, keys]: all old ones, and new ones as the mask says.
static HoloStatus seen_make(const HoloCall *call, int64_t b, int64_t length, int64_t keys, const HoloTensor **out)
{
    const HoloTensor *mask   = call->in[MASK];
    const int64_t     dim[4] = {1, 1, 1, keys}, *seen = (const int64_t *)mask->data + b * mask->dim[1];
    HoloTensor       *t;
    HOLO_TRY(holo_temp_tensor(call, HOLO_BOOL, 4, dim, &t));
    memset(t->data, 1, (size_t)keys);
    for (int64_t i = length; i < keys; i++) ((uint8_t *)t->data)[i] = seen[i - length] != 0;
    *out = t;
    return HOLO_OK;
}

static float rounded(float x)
{
    return (float)holo_bf16_to_f32(holo_f64_to_bf16((double)x));
}

// How much nearer keys count (ALiBi), [1, heads, 1, keys]: the slope of each head times the number of the key among those
// that are seen. With slopes_bf16 all of them are rounded to bf16; slopes_scale comes last.
static HoloStatus nearness_make(const HoloCall *call, const HoloTensor *seen, int64_t keys, const HoloTensor **out)
{
    const HoloTensor *slopes = call->in[SLOPES];
    const int64_t     dim[4] = {1, slopes->dim[0], 1, keys};
    bool              rounds = holo_attr_int(call, "slopes_bf16", 0) != 0;
    float             scale  = (float)holo_attr_float(call, "slopes_scale", 1);
    HoloTensor       *t;
    HOLO_TRY(holo_temp_tensor(call, HOLO_F32, 4, dim, &t));
    for (int64_t h = 0; h < dim[1]; h++) {
        float *row = (float *)t->data + h * keys, slope = ((const float *)slopes->data)[h];
        if (rounds) slope = rounded(slope);
        for (int64_t k = 0, place = 0; k < keys; k++) {
            row[k] = (rounds ? rounded(slope * rounded((float)place)) : slope * (float)place) * scale;
            place += !seen || ((const uint8_t *)seen->data)[k];
        }
    }
    *out = t;
    return HOLO_OK;
}

// The vectors of a cache; at[b] is the slot of row b.
static HoloHeads vectors_of(const HoloTensor *t, int64_t heads, const int64_t *at)
{
    HoloHeads view = holo_heads_inner(t, heads);
    view.at        = at;
    return view;
}

// `count` rows of the batch from `first` on. With several, no new token of theirs is hidden.
static HoloStatus attend_rows(const HoloCall *call, const Sizes *s, int64_t first, int64_t count)
{
    const HoloTensor *q = call->in[QUERY], *seen = NULL, *nearness = NULL;
    HoloTensor       *y = call->out[0], part = *y, asked = *q;
    int64_t          *slot, *ahead, *valid, keys = 0, window = holo_attr_int(call, "window", 0);
    int64_t           row = s->queries * s->heads;
    HOLO_TRY(holo_call_temp(call, 3 * (size_t)count, sizeof *slot, (void **)&slot));
    ahead = slot + count;
    valid = ahead + count;
    for (int64_t b = 0; b < count; b++) {
        HOLO_TRY(slot_of(call, ROWS, call->in[KEYS], first + b, s->queries, &slot[b], &ahead[b]));
        valid[b] = ahead[b] + s->queries;
        if (valid[b] > keys) keys = valid[b];
    }
    asked.data      = (char *)q->data + (size_t)(first * row * s->size) * holo_dtype_size((HoloDtype)q->dtype);
    part.data       = (char *)y->data + (size_t)(first * row * s->v_size) * holo_dtype_size((HoloDtype)y->dtype);
    HoloAttention a = {
        .batch    = count,
        .q_heads  = s->heads,
        .kv_heads = s->kv_heads,
        .queries  = s->queries,
        .keys     = keys,
        .size     = s->size,
        .v_size   = s->v_size,
        .q        = holo_heads_inner(&asked, s->heads),
        .k        = vectors_of(call->in[KEYS], s->kv_heads, slot),
        .v        = vectors_of(call->in[VALUES], s->kv_heads, slot),
        .scale    = holo_attr_float(call, "scale", 1),
        .softcap  = holo_attr_float(call, "softcap", 0),
        .causal   = true,
        .left     = window > 0 ? window - 1 : -1,
        .right    = -1,
        .ahead    = ahead,
        .valid    = valid,
        .y        = &part,
        .y_batch  = row * s->v_size,
        .y_head   = s->v_size,
        .y_step   = s->heads * s->v_size,
    };
    const int64_t shape[4] = {count, s->heads, s->queries, keys};
    if (hides(holo_in(call, MASK), first)) HOLO_TRY(seen_make(call, first, ahead[0], keys, &seen));
    if (holo_in(call, SLOPES)) HOLO_TRY(nearness_make(call, seen, keys, &nearness));
    holo_bias_init(seen, shape, false, &a.bias[0]);
    holo_bias_init(nearness, shape, false, &a.bias[1]);
    return holo_attention(call, &a);
}

static HoloStatus attention_eval(HoloCall *call)
{
    Sizes s;
    bool  together = true;
    HOLO_TRY(sizes_find(call, &s));
    if (!holo_is_wanted(holo_out(call, 0))) return HOLO_OK;
    for (int64_t b = 0; b < s.batch; b++) together = together && !hides(holo_in(call, MASK), b);
    if (together) return attend_rows(call, &s, 0, s.batch);
    for (int64_t b = 0; b < s.batch; b++) HOLO_TRY(attend_rows(call, &s, b, 1));
    return HOLO_OK;
}

const HoloOp holo_ops_cache[] = {
    {.name    = "CacheWrite",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 4,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = CACHE_TYPES,
     .flags   = HOLO_OP_UPDATES | HOLO_OP_TYPED,
     .infer   = write_infer,
     .eval    = write_eval},
    {.name    = "CachedAttention",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 5,
     .in_max  = 12, // those after 7 are not read: targets may put there what a kernel does along
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_TYPED,
     .infer   = attention_infer,
     .eval    = attention_eval},
    {0},
};
