// attention_grouped.c - ONNX Runtime's GroupQueryAttention: fewer heads of keys than of queries, rotary positions, and
// caches with a length for each batch, perhaps quantized.
#include "ops/number.h"
#include "ops/standard/attention.h"
#include "ops/standard/rotary.h"

#include <math.h>

enum {
    QUERY,
    KEY,
    VALUE,
    PAST_KEY,
    PAST_VALUE,
    LENGTHS,
    TOTAL,
    COS,
    SIN,
    POSITIONS,
    BIAS,
    SINK,
    K_SCALE,
    V_SCALE,
    Q_NORM,
    K_NORM
};                                               // inputs
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES };  // outputs
enum { NO_SCORES, SCORES_BEFORE, SCORES_AFTER }; // qk_output

typedef struct Sizes {
    HoloDim batch, queries, fresh, size;
    HoloDim past, total, room; // positions of the caches that come in, of keys in all, and of the caches that go out
    int64_t heads, kv_heads;
} Sizes;

// ---- caches: numbers as they are, or quantized to 8 bits, or to 4 with two in a byte

typedef struct Cache {
    HoloDtype dtype;
    int       bits; // 0: not quantized
    bool      is_float8;
} Cache;

static HoloStatus find_cache(const HoloCall *call, Cache *out)
{
    const HoloTensor *past         = holo_in(call, PAST_KEY);
    bool              is_quantized = !holo_attr_is(call, "k_quant_type", "NONE", "NONE");
    int64_t           bits         = holo_attr_int(call, "kv_cache_bit_width", is_quantized ? 8 : 0);
    *out                           = (Cache){.dtype = (HoloDtype)call->in[QUERY]->dtype};
    if (is_quantized == holo_attr_is(call, "v_quant_type", "NONE", "NONE"))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "keys and values must both be quantized or neither");
    if (!is_quantized) return HOLO_OK;
    if (bits != 4 && bits != 8)
        return holo_call_fail(call, HOLO_BAD_MODEL, "kv_cache_bit_width %lld, expected 4 or 8", (long long)bits);
    if (!holo_in(call, K_SCALE) || !holo_in(call, V_SCALE))
        return holo_call_fail(call, HOLO_BAD_MODEL, "a quantized cache needs k_scale and v_scale");
    out->bits      = (int)bits;
    out->dtype     = past ? (HoloDtype)past->dtype : bits == 4 ? HOLO_U8 : HOLO_I8;
    out->is_float8 = bits == 8 && out->dtype == HOLO_F8E4M3FN;
    if (out->is_float8 || out->dtype == (bits == 4 ? HOLO_U8 : HOLO_I8)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "a cache of %lld bits cannot be %s", (long long)bits,
                          holo_dtype_name(out->dtype));
}

// The number of entries that a vector has in the cache.
static HoloDim cached_size(const HoloCall *call, const Cache *cache, HoloDim size)
{
    return cache->bits == 4 ? holo_dim_div(call->dims, holo_dim_add(call->dims, size, 1), 2) : size;
}

static double quantize(double x, double scale, int bits)
{
    double low = bits == 4 ? -8 : -128;
    return fmin(fmax(rint(scale != 0 ? x / scale : x), low), -low - 1);
}

// Writes the numbers x to the vector that begins at byte `at`, each divided by its scale.
static void write_quantized(const Cache *c, HoloTensor *t, int64_t at, int64_t size, const double *x,
                            const double *scale)
{
    uint8_t *to = (uint8_t *)t->data + at;
    for (int64_t k = 0; k < size; k++) {
        if (c->is_float8) {
            to[k] = holo_f64_to_f8(HOLO_F8E4M3FN, scale[k] != 0 ? x[k] / scale[k] : x[k], true);
        } else if (c->bits == 8) {
            to[k] = (uint8_t)(int8_t)quantize(x[k], scale[k], 8);
        } else {
            int nibble = (int)quantize(x[k], scale[k], 4) + 8;
            to[k / 2]  = (uint8_t)(k % 2 ? to[k / 2] | nibble << 4 : nibble);
        }
    }
}

static void read_quantized(const Cache *c, const HoloTensor *t, int64_t at, int64_t size, const double *scale,
                           double *x)
{
    const uint8_t *from = (const uint8_t *)t->data + at;
    for (int64_t k = 0; k < size; k++) {
        double value = c->is_float8   ? (double)holo_f8_to_f32(HOLO_F8E4M3FN, from[k])
                       : c->bits == 8 ? (double)(int8_t)from[k]
                                      : (double)((from[k / 2] >> (k % 2 ? 4 : 0) & 15) - 8);
        x[k]         = value * scale[k];
    }
}

// ---- sizes

static HoloStatus find_vectors(const HoloCall *call, Sizes *s)
{
    const HoloTensor *query = call->in[QUERY], *key = holo_in(call, KEY), *value = holo_in(call, VALUE);
    HoloDim           size;
    HOLO_TRY(holo_expect_rank(call, QUERY, 3, 3));
    s->batch   = query->dim[0];
    s->queries = s->fresh = query->dim[1];
    s->heads              = holo_attr_int(call, "num_heads", 0);
    s->kv_heads           = holo_attr_int(call, "kv_num_heads", 0);
    if (s->kv_heads <= 0 || s->heads <= 0 || s->heads > INT32_MAX || s->heads % s->kv_heads)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld heads of queries are not a multiple of %lld of keys",
                              (long long)s->heads, (long long)s->kv_heads);
    if (!key != !value) return holo_call_fail(call, HOLO_BAD_MODEL, "key and value must be given together");
    if (!key) return holo_split(call, "packed query", query->dim[2], s->heads + 2 * s->kv_heads, &s->size);
    HOLO_TRY(holo_split(call, "query", query->dim[2], s->heads, &s->size));
    for (int i = KEY; i <= VALUE; i++) {
        const HoloTensor *t = call->in[i];
        HOLO_TRY(holo_expect_rank(call, i, 3, 3));
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << query->dtype));
        HOLO_TRY(holo_agree(call, "batch of the inputs", t->dim[0], s->batch, &s->batch));
        s->fresh = key->dim[1];
        HOLO_TRY(holo_agree(call, "positions of key and value", t->dim[1], s->fresh, &s->fresh));
        HOLO_TRY(holo_split(call, "key or value", t->dim[2], s->kv_heads, &size));
        HOLO_TRY(holo_agree(call, "vectors of query, key and value", size, s->size, &s->size));
    }
    if (s->fresh == 0 && holo_in(call, PAST_KEY)) return HOLO_OK; // all keys are in the cache
    return holo_agree(call, "positions of query and key", s->fresh, s->queries, &s->fresh);
}

static HoloStatus find_past(const HoloCall *call, const Cache *cache, Sizes *s)
{
    const HoloTensor *key = holo_in(call, PAST_KEY), *value = holo_in(call, PAST_VALUE);
    if (!key != !value) return holo_call_fail(call, HOLO_BAD_MODEL, "past_key and past_value must be given together");
    s->past = key && key->rank == 4 ? key->dim[2] : 0;
    for (int i = PAST_KEY; i <= PAST_VALUE && key; i++) {
        const HoloDim want[4] = {s->batch, s->kv_heads, s->past, cached_size(call, cache, s->size)};
        HoloDim       same;
        HOLO_TRY(holo_expect_rank(call, i, 4, 4));
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << cache->dtype));
        for (int d = 0; d < 4; d++)
            HOLO_TRY(holo_agree(call, "sizes of the cache and the inputs", call->in[i]->dim[d], want[d], &same));
    }
    HOLO_TRY(holo_number_input(call, TOTAL, &s->total));
    if (s->total <= 0 && !holo_dim_is_symbolic(s->total))
        return holo_call_fail(call, HOLO_BAD_INPUT, "total_sequence_length %lld is not positive", (long long)s->total);
    s->room = holo_dim_max(call->dims, s->total, s->past);
    return HOLO_OK;
}

static HoloStatus find_sizes(const HoloCall *call, Cache *cache, Sizes *s)
{
    HOLO_TRY(find_cache(call, cache));
    HOLO_TRY(find_vectors(call, s));
    return find_past(call, cache, s);
}

static HoloStatus check_table(const HoloCall *call, int input, const Sizes *s, HoloDim *rows, HoloDim *half)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t) return holo_call_fail(call, HOLO_BAD_MODEL, "do_rotary needs cos_cache and sin_cache");
    HOLO_TRY(holo_expect_rank(call, input, 2, 2));
    HOLO_TRY(holo_agree(call, "rows of the rotary tables", t->dim[0], *rows, rows));
    HOLO_TRY(holo_agree(call, "columns of the rotary tables", t->dim[1], *half, half));
    if (holo_dim_is_symbolic(*half) || holo_dim_is_symbolic(s->size) || *half <= s->size / 2) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "the rotary tables have %lld columns for vectors of %lld",
                          (long long)*half, (long long)s->size);
}

static HoloStatus check_vector(const HoloCall *call, int input, const char *what, HoloDim size)
{
    const HoloTensor *t = holo_in(call, input);
    HoloDim           same;
    if (!t) return HOLO_OK;
    HOLO_TRY(holo_expect_rank(call, input, 1, 1));
    return holo_agree(call, what, t->dim[0], size, &same);
}

static HoloStatus check_rest(const HoloCall *call, const Sizes *s)
{
    HoloDim           scores[4] = {s->batch, s->heads, s->queries, s->total};
    HoloDim           rows = HOLO_DIM_UNKNOWN, half = HOLO_DIM_UNKNOWN, same;
    const HoloTensor *positions = holo_in(call, POSITIONS);
    int64_t           window = holo_attr_int(call, "local_window_size", -1), mode = holo_attr_int(call, "qk_output", 0);
    if (!holo_in(call, LENGTHS)) return holo_call_fail(call, HOLO_BAD_MODEL, "seqlens_k is missing");
    HOLO_TRY(holo_expect_types(call, LENGTHS, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_bias_check(call, BIAS, scores, false));
    HOLO_TRY(check_vector(call, SINK, "head_sink and num_heads", s->heads));
    HOLO_TRY(check_vector(call, Q_NORM, "q_norm_weight and vectors of the query", s->size));
    HOLO_TRY(check_vector(call, K_NORM, "k_norm_weight and vectors of the key", s->size));
    if (holo_attr_int(call, "do_rotary", 0)) {
        HOLO_TRY(check_table(call, COS, s, &rows, &half));
        HOLO_TRY(check_table(call, SIN, s, &rows, &half));
    }
    if (positions) {
        HOLO_TRY(holo_expect_types(call, POSITIONS, HOLO_TYPES_INDEX));
        HOLO_TRY(holo_expect_rank(call, POSITIONS, 2, 2));
        HOLO_TRY(holo_agree(call, "batch of position_ids and the query", positions->dim[0], s->batch, &same));
    }
    if (window != -1 && (window < 1 || !holo_attr_int(call, "causal", 1)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "local_window_size is %lld, expected -1 or, if causal, more than 0",
                              (long long)window);
    if (mode < NO_SCORES || mode > SCORES_AFTER)
        return holo_call_fail(call, HOLO_BAD_MODEL, "qk_output %lld, expected 0 to 2", (long long)mode);
    if (holo_attr_int(call, "sliding_window_cache", 0))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "sliding_window_cache: give caches of the whole length");
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    Sizes s;
    Cache cache;
    HOLO_TRY(find_sizes(call, &cache, &s));
    HOLO_TRY(check_rest(call, &s));
    HoloDtype dtype      = (HoloDtype)call->in[QUERY]->dtype;
    HoloDim   y[3]       = {s.batch, s.queries, holo_dim_mul(call->dims, s.size, s.heads)};
    HoloDim   present[4] = {s.batch, s.kv_heads, s.room, cached_size(call, &cache, s.size)};
    HoloDim   scores[4]  = {s.batch, s.heads, s.queries, s.total};
    HOLO_TRY(holo_out_type(call, Y, dtype, 3, y));
    HOLO_TRY(holo_out_type(call, PRESENT_KEY, cache.dtype, 4, present));
    HOLO_TRY(holo_out_type(call, PRESENT_VALUE, cache.dtype, 4, present));
    return holo_out_type(call, SCORES, dtype, 4, scores);
}

// ---- what is known of each batch

typedef struct Batches {
    int64_t *valid; // keys in all
    int64_t *ahead; // keys before the first query
    int64_t *kept;  // keys of the cache
    bool     is_prompt;
} Batches;

static HoloStatus find_batches(const HoloCall *call, const Sizes *s, Batches *out)
{
    const HoloTensor *lengths  = call->in[LENGTHS];
    bool              has_past = holo_in(call, PAST_KEY) != NULL;
    void             *memory;
    if (holo_tensor_count(lengths) != s->batch)
        return holo_call_fail(call, HOLO_BAD_INPUT, "seqlens_k does not have an entry for each of %lld batches",
                              (long long)s->batch);
    HOLO_TRY(holo_call_temp(call, (size_t)s->batch, 3 * sizeof(int64_t), &memory));
    *out = (Batches){memory, (int64_t *)memory + s->batch, (int64_t *)memory + 2 * s->batch, s->queries == s->total};
    for (int64_t b = 0; b < s->batch; b++) {
        int64_t last = holo_get_i(lengths, b);
        if (last < 0 || last >= s->total)
            return holo_call_fail(call, HOLO_BAD_INPUT, "seqlens_k %lld, expected 0 to %lld", (long long)last,
                                  (long long)s->total - 1);
        out->valid[b] = last + 1;
        out->ahead[b] = out->is_prompt || !has_past ? 0 : last + 1 - s->queries;
        out->kept[b]  = has_past && s->fresh == 0 ? last + 1 : out->ahead[b];
        if (out->ahead[b] < 0 || out->kept[b] > s->past || s->fresh > s->room - out->kept[b])
            return holo_call_fail(call, HOLO_BAD_INPUT, "seqlens_k %lld does not fit %lld queries and a cache of %lld",
                                  (long long)last, (long long)s->queries, (long long)s->past);
    }
    return HOLO_OK;
}

// The row of the rotary tables for a position of this call.
static int64_t row_of(const HoloCall *call, const Batches *batches, int64_t b, int64_t position)
{
    const HoloTensor *positions = holo_in(call, POSITIONS);
    if (!positions) return batches->ahead[b] + position;
    if (!batches->is_prompt) return holo_get_i(positions, b * positions->dim[1] + position);
    int64_t row;
    return holo_add(holo_get_i(positions, 0), position, &row) ? row : -1;
}

// ---- vectors of queries and keys: normalized, then turned

static HoloStatus normalize_all(const HoloCall *call, int norm, const Sizes *s, int64_t heads, int64_t count,
                                HoloHeads *h)
{
    const HoloTensor *weight  = holo_in(call, norm);
    const int64_t     dim[4]  = {s->batch, heads, count, s->size};
    double            epsilon = holo_attr_float(call, "qk_norm_epsilon", 1e-6);
    HoloTensor       *out;
    void             *memory;
    if (!weight) return HOLO_OK;
    HOLO_TRY(holo_temp_tensor(call, (HoloDtype)h->t->dtype, 4, dim, &out));
    HOLO_TRY(holo_call_temp(call, (size_t)s->size, 2 * sizeof(double), &memory));
    double *w = memory, *x = w + s->size;
    holo_read_f(weight, 0, 1, s->size, w);
    for (int64_t i = 0; i < s->batch * heads * count; i++) {
        HOLO_TRY(holo_call_continue(call));
        int64_t b = i / count / heads, n = i / count % heads, p = i % count;
        holo_read_f(h->t, h->start + b * h->batch + n * h->head + p * h->step, 1, s->size, x);
        holo_head_normalize(x, s->size, w, epsilon);
        holo_write_f(out, i * s->size, 1, s->size, x);
    }
    *h = holo_heads_outer(out);
    return HOLO_OK;
}

static HoloStatus rotate_all(const HoloCall *call, const Batches *batches, const Sizes *s, int64_t heads, int64_t count,
                             HoloHeads *h)
{
    const HoloTensor *cos    = holo_in(call, COS);
    const int64_t     dim[4] = {s->batch, heads, count, s->size};
    HoloTensor       *out;
    void             *work;
    if (!holo_attr_int(call, "do_rotary", 0)) return HOLO_OK;
    HOLO_TRY(holo_temp_tensor(call, (HoloDtype)h->t->dtype, 4, dim, &out));
    HOLO_TRY(holo_call_temp(call, (size_t)(2 * cos->dim[1] + s->size), sizeof(double), &work));
    HoloRotary r = {.cos         = cos,
                    .sin         = call->in[SIN],
                    .rows        = cos->dim[0],
                    .half        = cos->dim[1],
                    .work        = work,
                    .interleaved = holo_attr_int(call, "rotary_interleaved", 0) != 0};
    for (int64_t i = 0; i < s->batch * heads * count; i++) {
        HOLO_TRY(holo_call_continue(call));
        int64_t b = i / count / heads, n = i / count % heads, p = i % count, row = row_of(call, batches, b, p);
        if (row < 0 || row >= r.rows)
            return holo_call_fail(call, HOLO_BAD_INPUT, "position %lld, expected 0 to %lld", (long long)row,
                                  (long long)r.rows - 1);
        holo_rotate(&r, row, h->t, h->start + b * h->batch + n * h->head + p * h->step, s->size, out, i * s->size);
    }
    *h = holo_heads_outer(out);
    return HOLO_OK;
}

// ---- caches

// One scale for all, or one for each entry of each head.
static HoloStatus read_scales(const HoloCall *call, int input, const Sizes *s, double *out)
{
    const HoloTensor *t     = call->in[input];
    int64_t           count = holo_tensor_count(t), all = s->kv_heads * s->size;
    if (count != 1 && count != all)
        return holo_call_fail(call, HOLO_BAD_INPUT, "input %d has %lld scales, expected 1 or %lld", input,
                              (long long)count, (long long)all);
    holo_read_f(t, 0, count == 1 ? 0 : 1, all, out);
    return HOLO_OK;
}

// The keys or values of all positions as the output cache, `all`, holds them: quantized and read back.
static HoloStatus through_cache(const HoloCall *call, const Cache *cache, const Sizes *s, const Batches *batches,
                                int scale, HoloTensor *all, const HoloHeads *fresh, HoloHeads *out)
{
    const int64_t dim[4] = {s->batch, s->kv_heads, s->room, s->size};
    HoloTensor   *real;
    void         *memory;
    HOLO_TRY(holo_temp_tensor(call, HOLO_F32, 4, dim, &real));
    HOLO_TRY(holo_call_temp(call, (size_t)((s->kv_heads + 1) * s->size), sizeof(double), &memory));
    double   *x = memory, *scales = x + s->size;
    HoloHeads at = holo_heads_outer(all);
    HOLO_TRY(read_scales(call, scale, s, scales));
    for (int64_t i = 0; i < s->batch * s->kv_heads; i++) {
        HOLO_TRY(holo_call_continue(call));
        int64_t       b = i / s->kv_heads, n = i % s->kv_heads, start = b * at.batch + n * at.head;
        const double *own = scales + n * s->size;
        for (int64_t p = 0; p < s->fresh; p++) {
            holo_read_f(fresh->t, fresh->start + b * fresh->batch + n * fresh->head + p * fresh->step, 1, s->size, x);
            write_quantized(cache, all, start + (batches->kept[b] + p) * at.step, s->size, x, own);
        }
        for (int64_t p = 0; p < s->room; p++) {
            read_quantized(cache, all, start + p * at.step, s->size, own, x);
            holo_write_f(real, (i * s->room + p) * s->size, 1, s->size, x);
        }
    }
    *out = holo_heads_outer(real);
    return HOLO_OK;
}

// Zeros for `count` positions of each head.
static void clear(HoloTensor *t, const HoloHeads *at, int64_t heads, int64_t count, int64_t size)
{
    size_t bytes = holo_dtype_size((HoloDtype)t->dtype);
    for (int64_t n = 0; n < heads && count > 0 && size > 0; n++)
        memset((char *)t->data + (size_t)(at->start + n * at->head) * bytes, 0, (size_t)(count * size) * bytes);
}

// All keys or values: the cache, the fresh ones behind what of it counts, and zeros.
static HoloStatus join(const HoloCall *call, const Cache *cache, const Sizes *s, const Batches *batches, int part,
                       HoloHeads *h)
{
    const HoloTensor *past = holo_in(call, part == KEY ? PAST_KEY : PAST_VALUE);
    HoloTensor       *all  = holo_out(call, part == KEY ? PRESENT_KEY : PRESENT_VALUE);
    int64_t           size = cached_size(call, cache, s->size);
    if (!all) {
        const int64_t dim[4] = {s->batch, s->kv_heads, s->room, size};
        HOLO_TRY(holo_temp_tensor(call, cache->dtype, 4, dim, &all));
    }
    HoloHeads to   = holo_heads_outer(all);
    bool      same = past && past->data == all->data && past->dim[2] == all->dim[2]; // the caller's, written in place
    for (int64_t b = 0; b < s->batch; b++) {
        HoloHeads at = to, from = *h;
        at.start = b * to.batch;
        if (past && !same) {
            HoloHeads old = holo_heads_outer(past);
            old.start     = b * old.batch;
            holo_heads_move(all, &at, &old, 1, s->kv_heads, batches->kept[b], size);
        }
        at.start += batches->kept[b] * to.step;
        from.start += b * from.batch;
        if (!cache->bits) holo_heads_move(all, &at, &from, 1, s->kv_heads, s->fresh, size);
        at.start += s->fresh * to.step;
        if (!same) clear(all, &at, s->kv_heads, s->room - batches->kept[b] - s->fresh, size);
    }
    if (cache->bits) return through_cache(call, cache, s, batches, part == KEY ? K_SCALE : V_SCALE, all, h, h);
    *h = to;
    return HOLO_OK;
}

// ---- all of it

static void find_inputs(const HoloCall *call, const Sizes *s, HoloAttention *a)
{
    const HoloTensor *query = call->in[QUERY], *key = holo_in(call, KEY), *value = holo_in(call, VALUE);
    a->q      = holo_heads_inner(query, 1);
    a->q.head = s->size;
    if (key) {
        a->k = holo_heads_inner(key, s->kv_heads);
        a->v = holo_heads_inner(value, s->kv_heads);
        return;
    }
    a->k = a->v = a->q;
    a->k.start  = s->heads * s->size;
    a->v.start  = (s->heads + s->kv_heads) * s->size;
}

// As in ONNX Runtime, the scores of keys that are not seen are 0.
static void clear_unseen(HoloTensor *scores)
{
    double x[HOLO_TILE];
    for (int64_t i = 0, count = holo_tensor_count(scores); i < count; i += HOLO_TILE) {
        int64_t n = count - i < HOLO_TILE ? count - i : HOLO_TILE;
        holo_read_f(scores, i, 1, n, x);
        for (int64_t k = 0; k < n; k++)
            if (x[k] == -INFINITY) x[k] = 0;
        holo_write_f(scores, i, 1, n, x);
    }
}

static HoloStatus find_sink(const HoloCall *call, const Sizes *s, const HoloTensor **out)
{
    HoloTensor *zeros;
    *out = holo_in(call, SINK);
    if (*out || !holo_attr_int(call, "smooth_softmax", 0)) return HOLO_OK;
    HOLO_TRY(holo_temp_tensor(call, HOLO_F32, 1, &s->heads, &zeros));
    *out = zeros;
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Sizes   s;
    Cache   cache;
    Batches batches;
    HOLO_TRY(find_sizes(call, &cache, &s));
    if (s.batch == 0) return HOLO_OK;
    HOLO_TRY(find_batches(call, &s, &batches));
    const HoloTensor *positions = holo_in(call, POSITIONS);
    if (positions && positions->dim[1] < (batches.is_prompt ? 1 : s.queries))
        return holo_call_fail(call, HOLO_BAD_INPUT, "position_ids has fewer entries than there are queries");
    int64_t       window = holo_attr_int(call, "local_window_size", -1), mode = holo_attr_int(call, "qk_output", 0);
    HoloAttention a = {
        .batch    = s.batch,
        .q_heads  = s.heads,
        .kv_heads = s.kv_heads,
        .queries  = s.queries,
        .keys     = s.total,
        .size     = s.size,
        .v_size   = s.size,
        .scale    = holo_attention_scale(call, s.size),
        .softcap  = holo_attr_float(call, "softcap", 0),
        .causal   = holo_attr_int(call, "causal", 1) != 0,
        .left     = window > 0 ? window - 1 : -1,
        .right    = -1,
        .ahead    = batches.ahead,
        .valid    = batches.valid,
        .y        = holo_out(call, Y),
        .y_batch  = s.queries * s.heads * s.size,
        .y_head   = s.size,
        .y_step   = s.heads * s.size,
        .scores   = mode == NO_SCORES ? NULL : holo_out(call, SCORES),
        .stage    = mode == SCORES_AFTER ? HOLO_STAGE_WEIGHTS : HOLO_STAGE_BIASED,
    };
    find_inputs(call, &s, &a);
    HOLO_TRY(normalize_all(call, Q_NORM, &s, s.heads, s.queries, &a.q));
    HOLO_TRY(normalize_all(call, K_NORM, &s, s.kv_heads, s.fresh, &a.k));
    HOLO_TRY(rotate_all(call, &batches, &s, s.heads, s.queries, &a.q));
    HOLO_TRY(rotate_all(call, &batches, &s, s.kv_heads, s.fresh, &a.k));
    HOLO_TRY(join(call, &cache, &s, &batches, KEY, &a.k));
    HOLO_TRY(join(call, &cache, &s, &batches, VALUE, &a.v));
    HOLO_TRY(find_sink(call, &s, &a.sink));
    const int64_t scores[4] = {s.batch, s.heads, s.queries, s.total};
    holo_bias_init(holo_in(call, BIAS), scores, false, &a.bias[0]);
    HOLO_TRY(holo_attention(call, &a));
    if (a.scores && mode == SCORES_BEFORE) clear_unseen(a.scores);
    return HOLO_OK;
}

const HoloOp holo_ops_attention_grouped[] = {
    {.name    = "GroupQueryAttention",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 16,
     .out_min = 1,
     .out_max = 4,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
