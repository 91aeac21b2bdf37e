// attention.c - Attention: scaled dot products with masks, caches, groups of heads and windows.
#include "ops/standard/attention.h"
#include "ops/move.h"

#include <math.h>

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID }; // inputs
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES };      // outputs

typedef HoloAttentionSizes Sizes;

// The number of heads, the number of positions and the size of a vector of input i. The input is
// [batch][head][position][size], or [batch][position][head * size] with the number of heads in the attribute.
static HoloStatus read_sizes(const HoloCall *call, int i, const char *name, const char *attr, HoloDim *heads,
                             HoloDim *positions, HoloDim *size)
{
    const HoloTensor *t = holo_in(call, i);
    if (!t) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d (%s) is missing", i, name);
    HOLO_TRY(holo_expect_types(call, i, HOLO_TYPES_FLOAT));
    HOLO_TRY(holo_expect_rank(call, i, 3, 4));
    if (t->rank != call->in[Q]->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s has %d dimensions, Q has %d", name, t->rank, call->in[Q]->rank);
    *positions = t->dim[t->rank - 2];
    *heads     = t->dim[1];
    *size      = t->dim[t->rank - 1];
    if (t->rank == 4) return HOLO_OK;
    *positions = t->dim[1];
    *heads     = holo_attr_int(call, attr, 0);
    return holo_split(call, name, t->dim[2], *heads, size);
}

static HoloStatus check_past(const HoloCall *call, int i, const Sizes *s, HoloDim size, HoloDim *past)
{
    const HoloTensor *t = call->in[i];
    HoloDim           same;
    HOLO_TRY(holo_expect_rank(call, i, 4, 4));
    HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << call->in[i - PAST_KEY + K]->dtype));
    HOLO_TRY(holo_agree(call, "batch of the cache and of Q", t->dim[0], s->batch, &same));
    HOLO_TRY(holo_agree(call, "heads of the cache and of K", t->dim[1], s->kv_heads, &same));
    HOLO_TRY(holo_agree(call, "vectors of the cache and of its input", t->dim[3], size, &same));
    return holo_agree(call, "positions of the caches", t->dim[2], *past, past);
}

HoloStatus holo_attention_sizes(const HoloCall *call, Sizes *s)
{
    HoloDim size, heads, positions;
    HOLO_TRY(read_sizes(call, Q, "Q", "q_num_heads", &s->q_heads, &s->queries, &s->size));
    HOLO_TRY(read_sizes(call, K, "K", "kv_num_heads", &s->kv_heads, &s->fresh, &size));
    HOLO_TRY(holo_agree(call, "vectors of Q and K", s->size, size, &s->size));
    HOLO_TRY(read_sizes(call, V, "V", "kv_num_heads", &heads, &positions, &s->v_size));
    HOLO_TRY(holo_agree(call, "heads of K and V", s->kv_heads, heads, &s->kv_heads));
    HOLO_TRY(holo_agree(call, "positions of K and V", s->fresh, positions, &s->fresh));
    s->batch = call->in[Q]->dim[0];
    for (int i = K; i <= V; i++)
        HOLO_TRY(holo_agree(call, "batch of Q, K and V", s->batch, call->in[i]->dim[0], &s->batch));
    if (!holo_dim_is_symbolic(s->q_heads) && !holo_dim_is_symbolic(s->kv_heads) &&
        (s->kv_heads <= 0 || s->q_heads % s->kv_heads))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld heads of Q are not a multiple of %lld heads of K",
                              (long long)s->q_heads, (long long)s->kv_heads);
    s->past = 0;
    if (!holo_in(call, PAST_KEY) != !holo_in(call, PAST_VALUE))
        return holo_call_fail(call, HOLO_BAD_MODEL, "past_key and past_value must be given together");
    if (holo_in(call, PAST_KEY)) {
        s->past = HOLO_DIM_UNKNOWN;
        HOLO_TRY(check_past(call, PAST_KEY, s, s->size, &s->past));
        HOLO_TRY(check_past(call, PAST_VALUE, s, s->v_size, &s->past));
    }
    s->keys = holo_dim_add(call->dims, s->past, s->fresh);
    return HOLO_OK;
}

// A mask may be shorter than the keys. Before version 24 the standard did not say this, and a mask of size 1
// broadcasts.
static bool mask_pads(const HoloCall *call)
{
    const HoloTensor *mask = holo_in(call, MASK);
    return mask && mask->rank > 0 && (call->version >= 24 || mask->dim[mask->rank - 1] != 1);
}

HoloStatus holo_attention_mask(const HoloCall *call, const Sizes *s, HoloBias *out)
{
    const int64_t scores[4] = {s->batch, s->q_heads, s->queries, s->keys};
    HOLO_TRY(holo_bias_check(call, MASK, scores, mask_pads(call)));
    holo_bias_init(holo_in(call, MASK), scores, mask_pads(call), out);
    return HOLO_OK;
}

static HoloStatus check_rest(const HoloCall *call, const Sizes *s)
{
    const HoloDim     scores[4] = {s->batch, s->q_heads, s->queries, s->keys};
    const HoloTensor *valid     = holo_in(call, VALID);
    HoloDim           batch;
    HOLO_TRY(holo_bias_check(call, MASK, scores, mask_pads(call)));
    HOLO_TRY(holo_expect_types(call, MASK, HOLO_TYPES_NUMBER | HOLO_BIT(BOOL)));
    HOLO_TRY(holo_expect_types(call, VALID, HOLO_TYPES_INDEX));
    if (valid && holo_in(call, PAST_KEY))
        return holo_call_fail(call, HOLO_BAD_MODEL, "nonpad_kv_seqlen cannot be given with past_key");
    if (valid) {
        HOLO_TRY(holo_expect_rank(call, VALID, 1, 1));
        HOLO_TRY(holo_agree(call, "entries of nonpad_kv_seqlen and the batch", valid->dim[0], s->batch, &batch));
    }
    static const char *const windows[] = {"left_window_size", "right_window_size"};
    for (int i = 0; i < HOLO_COUNT(windows); i++)
        if (holo_attr_int(call, windows[i], -1) < -1)
            return holo_call_fail(call, HOLO_BAD_MODEL, "%s is below -1", windows[i]);
    int64_t   mode = holo_attr_int(call, "qk_matmul_output_mode", 0);
    HoloDtype precision;
    if (mode < HOLO_STAGE_RAW || mode > HOLO_STAGE_WEIGHTS)
        return holo_call_fail(call, HOLO_BAD_MODEL, "qk_matmul_output_mode %lld, expected 0 to 3", (long long)mode);
    return holo_attr_dtype(call, "softmax_precision", HOLO_NONE, HOLO_TYPES_FLOAT, &precision);
}

static HoloStatus infer(HoloCall *call)
{
    Sizes s;
    HOLO_TRY(holo_attention_sizes(call, &s));
    HOLO_TRY(check_rest(call, &s));
    const HoloTensor *q     = call->in[Q];
    HoloDtype         dtype = (HoloDtype)q->dtype, v_dtype = (HoloDtype)call->in[V]->dtype;
    HoloDim           outer[4]  = {s.batch, s.q_heads, s.queries, s.v_size};
    HoloDim           inner[3]  = {s.batch, s.queries, holo_dim_mul(call->dims, s.q_heads, s.v_size)};
    HoloDim           key[4]    = {s.batch, s.kv_heads, s.keys, s.size};
    HoloDim           value[4]  = {s.batch, s.kv_heads, s.keys, s.v_size};
    HoloDim           scores[4] = {s.batch, s.q_heads, s.queries, s.keys};
    HOLO_TRY(holo_expect_types(call, K, UINT64_C(1) << dtype));
    HOLO_TRY(holo_out_type(call, Y, dtype, q->rank, q->rank == 4 ? outer : inner));
    HOLO_TRY(holo_out_type(call, PRESENT_KEY, dtype, 4, key));
    HOLO_TRY(holo_out_type(call, PRESENT_VALUE, v_dtype, 4, value));
    return holo_out_type(call, SCORES, dtype, 4, scores);
}

// All keys or all values: the input itself or, if a cache is given or wanted, the cache and the input joined.
static HoloStatus join(const HoloCall *call, const Sizes *s, int input, int past, int present, int64_t size,
                       HoloHeads *out)
{
    const HoloTensor *fresh = call->in[input], *old = holo_in(call, past);
    HoloTensor       *all = holo_out(call, present);
    *out                  = holo_heads_of(fresh, s->kv_heads);
    if (!all && !old) return HOLO_OK;
    HoloTensor *joined = all;
    if (!joined) {
        const int64_t dim[4] = {s->batch, s->kv_heads, s->keys, size};
        HOLO_TRY(holo_temp_tensor(call, (HoloDtype)fresh->dtype, 4, dim, &joined));
    }
    HoloHeads to = holo_heads_outer(joined), from = *out;
    if (old) {
        HoloHeads before = holo_heads_outer(old);
        holo_heads_move(joined, &to, &before, s->batch, s->kv_heads, s->past, size);
        to.start = s->past * size;
    }
    holo_heads_move(joined, &to, &from, s->batch, s->kv_heads, s->fresh, size);
    *out = holo_heads_outer(joined);
    return HOLO_OK;
}

// For each batch: how many keys are valid, and how many come before the first query.
static HoloStatus find_lengths(const HoloCall *call, const Sizes *s, HoloAttention *a)
{
    const HoloTensor *lengths = holo_in(call, VALID);
    void             *memory;
    if (!lengths && !s->past) return HOLO_OK;
    HOLO_TRY(holo_call_temp(call, (size_t)s->batch, 2 * sizeof(int64_t), &memory));
    int64_t *valid = memory, *ahead = valid + s->batch;
    for (int64_t b = 0; b < s->batch; b++) {
        valid[b] = lengths ? holo_get_i(lengths, b) : s->keys;
        if (valid[b] < 0 || valid[b] > s->keys)
            return holo_call_fail(call, HOLO_BAD_INPUT, "nonpad_kv_seqlen %lld, expected 0 to %lld",
                                  (long long)valid[b], (long long)s->keys);
        ahead[b] = lengths ? valid[b] - s->queries : s->past;
    }
    a->valid = valid;
    a->ahead = ahead;
    return HOLO_OK;
}

void holo_attention_init(const HoloCall *call, const Sizes *s, HoloAttention *out)
{
    *out = (HoloAttention){
        .masked_nan = holo_attr_int(call, "masked_nan", 0) != 0,
        .batch      = s->batch,
        .q_heads    = s->q_heads,
        .kv_heads   = s->kv_heads,
        .queries    = s->queries,
        .keys       = s->keys,
        .size       = s->size,
        .v_size     = s->v_size,
        .q          = holo_heads_of(call->in[Q], s->q_heads),
        .k          = holo_heads_of(call->in[K], s->kv_heads),
        .v          = holo_heads_of(call->in[V], s->kv_heads),
        .scale      = holo_attr_float(call, "scale", 1 / sqrt((double)s->size)),
        .left       = -1,
        .right      = -1,
        .y          = holo_out(call, Y),
    };
    if (!out->y) return;
    HoloHeads to = holo_heads_of(out->y, s->q_heads);
    out->y_batch = to.batch;
    out->y_head  = to.head;
    out->y_step  = to.step;
}

static HoloStatus eval(HoloCall *call)
{
    Sizes         s;
    HoloAttention a;
    HOLO_TRY(holo_attention_sizes(call, &s));
    holo_attention_init(call, &s, &a);
    a.softcap   = holo_attr_float(call, "softcap", 0);
    a.causal    = holo_attr_int(call, "is_causal", 0) != 0;
    a.left      = holo_attr_int(call, "left_window_size", -1);
    a.right     = holo_attr_int(call, "right_window_size", -1);
    a.precision = (HoloDtype)holo_attr_int(call, "softmax_precision", HOLO_NONE);
    a.scores    = holo_out(call, SCORES);
    a.stage     = (HoloAttentionStage)holo_attr_int(call, "qk_matmul_output_mode", HOLO_STAGE_RAW);
    HOLO_TRY(holo_attention_mask(call, &s, &a.bias[0]));
    HOLO_TRY(find_lengths(call, &s, &a));
    HOLO_TRY(join(call, &s, K, PAST_KEY, PRESENT_KEY, s.size, &a.k));
    HOLO_TRY(join(call, &s, V, PAST_VALUE, PRESENT_VALUE, s.v_size, &a.v));
    return holo_attention(call, &a);
}

const HoloOp holo_ops_attention[] = {
    {.name    = "Attention",
     .domain  = "",
     .since   = 23,
     .in_min  = 3,
     .in_max  = 7,
     .out_min = 1,
     .out_max = 4,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
