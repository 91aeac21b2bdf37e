// attention_multihead.c - ONNX Runtime's MultiHeadAttention: queries, keys and values apart or packed, biases of their
// projections, caches that grow or have room, and beams. DecoderMaskedMultiHeadAttention is the same for one query,
// with its inputs in another order.
#include "ops/microsoft/attention_padding.h"
#include "ops/number.h"

enum { QUERY, KEY, VALUE }; // inputs of both operators
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES };

typedef struct Inputs { // which input is what
    int bias, mask, score_bias, past_key, past_value, past_length, beams;
} Inputs;

static const Inputs many = {3, 4, 5, 6, 7, 8, 9};
static const Inputs one  = {10, 3, 4, 5, 6, 7, 9}; // 8 is the number of beams, which the table has, too

static const Inputs *inputs_of(const HoloCall *call)
{
    return call->op->row;
}

typedef struct Sizes {
    HoloDim batch, queries, fresh, past, keys, room, size, v_size; // room: positions of the caches
    int64_t heads;
} Sizes;

// [batch][position][head][parts][size], as packed inputs are.
static HoloStatus check_packed(const HoloCall *call, int input, int64_t parts, const Sizes *s)
{
    const HoloTensor *t = call->in[input];
    HoloDim           same;
    HOLO_TRY(holo_agree(call, "heads of a packed input and num_heads", t->dim[2], s->heads, &same));
    return holo_agree(call, "parts of a packed input", t->dim[3], parts, &same);
}

static HoloStatus find_keys(const HoloCall *call, Sizes *s)
{
    const HoloTensor *key = holo_in(call, KEY), *value = holo_in(call, VALUE);
    HoloDim           size, same;
    if (!key) {
        if (value || call->in[QUERY]->rank != 5)
            return holo_call_fail(call, HOLO_BAD_MODEL, "the key is missing, and the query is not packed");
        s->fresh = s->queries;
        return check_packed(call, QUERY, 3, s);
    }
    if (call->in[QUERY]->rank == 5)
        return holo_call_fail(call, HOLO_BAD_MODEL, "a packed query holds the keys already");
    HOLO_TRY(holo_expect_types(call, KEY, UINT64_C(1) << call->in[QUERY]->dtype));
    HOLO_TRY(holo_expect_types(call, VALUE, UINT64_C(1) << call->in[QUERY]->dtype));
    HOLO_TRY(holo_expect_rank(call, KEY, value ? 3 : 5, value ? 4 : 5));
    HOLO_TRY(holo_agree(call, "batch of query and key", key->dim[0], s->batch, &s->batch));
    s->fresh = key->dim[key->rank == 4 ? 2 : 1];
    if (key->rank == 3)
        HOLO_TRY(holo_split(call, "key", key->dim[2], s->heads, &size));
    else
        size = key->dim[key->rank - 1];
    HOLO_TRY(holo_agree(call, "vectors of query and key", s->size, size, &s->size));
    if (!value) return check_packed(call, KEY, 2, s);
    HOLO_TRY(holo_expect_rank(call, VALUE, key->rank, key->rank));
    HOLO_TRY(holo_agree(call, "batch of query and value", value->dim[0], s->batch, &s->batch));
    HOLO_TRY(holo_agree(call, "positions of key and value", value->dim[key->rank == 4 ? 2 : 1], s->fresh, &s->fresh));
    if (key->rank == 3) return holo_split(call, "value", value->dim[2], s->heads, &s->v_size);
    s->v_size = value->dim[3];
    HOLO_TRY(holo_agree(call, "heads of the key and num_heads", key->dim[1], s->heads, &same));
    return holo_agree(call, "heads of the value and num_heads", value->dim[1], s->heads, &same);
}

static HoloStatus find_past(const HoloCall *call, Sizes *s)
{
    const Inputs     *in  = inputs_of(call);
    const HoloTensor *key = holo_in(call, in->past_key), *value = holo_in(call, in->past_value);
    s->past = 0;
    if (!key != !value) return holo_call_fail(call, HOLO_BAD_MODEL, "past_key and past_value must be given together");
    for (int i = in->past_key; i <= in->past_value && key; i++) {
        const HoloTensor *t       = call->in[i];
        const HoloDim     want[4] = {s->batch, s->heads, key->dim[2], i == in->past_key ? s->size : s->v_size};
        HoloDim           same;
        HOLO_TRY(holo_expect_rank(call, i, 4, 4));
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << call->in[QUERY]->dtype));
        for (int d = 0; d < 4; d++)
            HOLO_TRY(holo_agree(call, "sizes of the cache and the inputs", t->dim[d], want[d], &same));
    }
    bool is_shared = key && holo_in(call, in->past_length);
    if (key) s->past = key->dim[2];
    if (is_shared) HOLO_TRY(holo_number_input(call, in->past_length, &s->past));
    s->keys    = holo_dim_add(call->dims, s->past, s->fresh);
    s->room    = is_shared ? key->dim[2] : s->keys;
    bool known = !holo_dim_is_symbolic(s->past) && !holo_dim_is_symbolic(s->keys) && !holo_dim_is_symbolic(s->room);
    if (known && (s->past < 0 || s->keys > s->room))
        return holo_call_fail(call, HOLO_BAD_INPUT, "%lld positions and a past of %lld do not fit into a cache of %lld",
                              (long long)s->fresh, (long long)s->past, (long long)s->room);
    return HOLO_OK;
}

static HoloStatus check_rest(const HoloCall *call, const Sizes *s)
{
    const Inputs     *in        = inputs_of(call);
    const HoloTensor *bias      = holo_in(call, in->bias);
    HoloDim           scores[4] = {s->batch, s->heads, s->queries, s->keys}, same;
    if (bias) {
        HoloDim each = holo_dim_add(call->dims, holo_dim_mul(call->dims, s->size, 2), s->v_size);
        HOLO_TRY(holo_expect_rank(call, in->bias, 1, 1));
        HOLO_TRY(holo_expect_types(call, in->bias, HOLO_TYPES_FLOAT));
        HOLO_TRY(
            holo_agree(call, "entries of the bias", bias->dim[0], holo_dim_mul(call->dims, each, s->heads), &same));
    }
    HOLO_TRY(holo_beams_check(call, in->beams, s->batch));
    HOLO_TRY(holo_padding_check(call, in->mask, s->batch, s->queries, s->keys));
    return holo_bias_check(call, in->score_bias, scores, false);
}

static HoloStatus find_sizes(const HoloCall *call, Sizes *s)
{
    const HoloTensor *query = call->in[QUERY];
    HOLO_TRY(holo_expect_rank(call, QUERY, 3, 5));
    if (query->rank == 4) return holo_call_fail(call, HOLO_BAD_MODEL, "the query has 4 dimensions, expected 3 or 5");
    s->batch   = query->dim[0];
    s->queries = query->dim[1];
    s->heads   = holo_attr_int(call, "num_heads", 0);
    s->size    = query->dim[query->rank - 1];
    if (s->heads <= 0) return holo_call_fail(call, HOLO_BAD_MODEL, "num_heads must be given, and positive");
    if (query->rank == 3) HOLO_TRY(holo_split(call, "query", s->size, s->heads, &s->size));
    s->v_size = s->size; // where values are packed with keys
    HOLO_TRY(find_keys(call, s));
    HOLO_TRY(find_past(call, s));
    return check_rest(call, s);
}

static HoloStatus infer(HoloCall *call)
{
    Sizes s;
    HOLO_TRY(find_sizes(call, &s));
    HoloDtype dtype  = (HoloDtype)call->in[QUERY]->dtype;
    HoloDim   y[3]   = {s.batch, s.queries, holo_dim_mul(call->dims, s.v_size, s.heads)};
    HoloDim   key[4] = {s.batch, s.heads, s.room, s.size}, value[4] = {s.batch, s.heads, s.room, s.v_size};
    HoloDim   scores[4] = {s.batch, s.heads, s.queries, s.keys};
    HOLO_TRY(holo_out_type(call, Y, dtype, 3, y));
    HOLO_TRY(holo_out_type(call, PRESENT_KEY, dtype, 4, key));
    HOLO_TRY(holo_out_type(call, PRESENT_VALUE, dtype, 4, value));
    return holo_out_type(call, SCORES, dtype, 4, scores);
}

// ---- where queries (part 0), keys (1) and values (2) lie

static HoloHeads packed(const HoloTensor *t, int64_t part)
{
    int64_t size = t->dim[4], head = t->dim[3] * size, step = t->dim[2] * head;
    return (HoloHeads){t, part * size, t->dim[1] * step, head, step, NULL};
}

static HoloHeads find_heads(const HoloCall *call, const Sizes *s, int part)
{
    const HoloTensor *query = call->in[QUERY], *key = holo_in(call, KEY), *t = holo_in(call, part);
    if (query->rank == 5) return packed(query, part);
    if (part && key->rank == 5) return packed(key, part - 1);
    return t->rank == 4 ? holo_heads_outer(t) : holo_heads_inner(t, s->heads);
}

// Adds the bias of a part to its vectors, in memory of their own.
static HoloStatus add_bias(const HoloCall *call, const Sizes *s, int part, int64_t positions, int64_t size,
                           HoloHeads *h)
{
    const HoloTensor *bias = holo_in(call, inputs_of(call)->bias), *key = holo_in(call, KEY);
    HoloTensor       *sum;
    void             *memory;
    if (!bias || (part && key && key->rank == 4)) return HOLO_OK; // such keys are of a cache and have it already
    const int64_t dim[4] = {s->batch, s->heads, positions, size};
    HOLO_TRY(holo_temp_tensor(call, (HoloDtype)h->t->dtype, 4, dim, &sum));
    HOLO_TRY(holo_call_temp(call, (size_t)size, 2 * sizeof(double), &memory));
    double *x = memory, *add = x + size;
    int64_t row = 0, first = part * s->heads * s->size;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t n = 0; n < s->heads; n++) {
            holo_read_f(bias, first + n * size, 1, size, add);
            for (int64_t p = 0; p < positions; p++, row++) {
                holo_read_f(h->t, h->start + b * h->batch + n * h->head + p * h->step, 1, size, x);
                for (int64_t k = 0; k < size; k++) x[k] += add[k];
                holo_write_f(sum, row * size, 1, size, x);
            }
        }
    *h = holo_heads_outer(sum);
    return HOLO_OK;
}

// The keys or values of the cache followed by the fresh ones, where there is a cache or one is wanted.
static HoloStatus join(const HoloCall *call, const Sizes *s, int part, int64_t size, HoloHeads *h)
{
    const HoloTensor *past = holo_in(call, part == KEY ? inputs_of(call)->past_key : inputs_of(call)->past_value);
    HoloTensor       *all  = holo_out(call, part == KEY ? PRESENT_KEY : PRESENT_VALUE);
    if (!past && !all) return HOLO_OK;
    if (!all) {
        const int64_t dim[4] = {s->batch, s->heads, s->room, size};
        HOLO_TRY(holo_temp_tensor(call, (HoloDtype)h->t->dtype, 4, dim, &all));
    }
    HoloHeads to = holo_heads_outer(all);
    if (past) {
        HoloHeads from = holo_heads_outer(past);
        holo_heads_move(all, &to, &from, s->batch, s->heads, past->dim[2], size);
    }
    to.start = s->past * size;
    holo_heads_move(all, &to, h, s->batch, s->heads, s->fresh, size);
    *h = holo_heads_outer(all);
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Sizes s;
    HOLO_TRY(find_sizes(call, &s));
    if (s.batch == 0) return HOLO_OK;
    HoloAttention a = {
        .batch    = s.batch,
        .q_heads  = s.heads,
        .kv_heads = s.heads,
        .queries  = s.queries,
        .keys     = s.keys,
        .size     = s.size,
        .v_size   = s.v_size,
        .q        = find_heads(call, &s, QUERY),
        .k        = find_heads(call, &s, KEY),
        .v        = find_heads(call, &s, VALUE),
        .scale    = holo_attention_scale(call, s.size),
        .left     = -1,
        .right    = -1,
        .causal   = holo_attr_int(call, "unidirectional", 0) != 0,
        .open_end = true, // as ONNX Runtime has it: of more keys than queries, those behind are for the last
        .y        = holo_out(call, Y),
        .scores   = holo_out(call, SCORES),
        .stage    = HOLO_STAGE_BIASED,
    };
    if (a.y) {
        HoloHeads y = holo_heads_inner(a.y, s.heads);
        a.y_batch   = y.batch;
        a.y_head    = y.head;
        a.y_step    = y.step;
    }
    HOLO_TRY(add_bias(call, &s, QUERY, s.queries, s.size, &a.q));
    HOLO_TRY(add_bias(call, &s, KEY, s.fresh, s.size, &a.k));
    HOLO_TRY(add_bias(call, &s, VALUE, s.fresh, s.v_size, &a.v));
    HOLO_TRY(join(call, &s, KEY, s.size, &a.k));
    HOLO_TRY(join(call, &s, VALUE, s.v_size, &a.v));
    HOLO_TRY(holo_beams_follow(call, inputs_of(call)->beams, &a, s.past));
    HOLO_TRY(holo_attention_ahead(call, s.batch, s.past, &a.ahead));
    const int64_t scores[4] = {s.batch, s.heads, s.queries, s.keys};
    HOLO_TRY(holo_padding_bias(call, inputs_of(call)->mask, &a, s.past, &a.bias[0]));
    holo_bias_init(holo_in(call, inputs_of(call)->score_bias), scores, false, &a.bias[1]);
    return holo_attention(call, &a);
}

#define ROW                                                                                                    \
    .domain = "com.microsoft", .since = 1, .in_min = 1, .out_min = 1, .out_max = 4, .types = HOLO_TYPES_FLOAT, \
    .infer = infer, .eval = eval

const HoloOp holo_ops_attention_multihead[] = {
    {.name = "MultiHeadAttention", .in_max = 10, .row = &many, ROW},
    {.name = "DecoderMaskedMultiHeadAttention", .in_max = 11, .row = &one, ROW},
    {0},
};
