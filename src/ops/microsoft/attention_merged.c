// attention_merged.c - ONNX Runtime's Attention and QAttention: queries, keys and values are one product of the input
// with merged weights, real or quantized. DecoderMaskedSelfAttention is the first for one query, with beams.
#include "ops/microsoft/attention_padding.h"
#include "ops/number.h"
#include "ops/standard/matmul.h"

enum { X, WEIGHT, BIAS, NONE = INT8_MAX }; // inputs; NONE: the operator does not have it

typedef struct Inputs { // which input is what
    int mask, past, bias, past_length, x_scale, weight_scale, x_zero, weight_zero, beams;
} Inputs;

static const Inputs real      = {3, 4, 5, 6, NONE, NONE, NONE, NONE, NONE};
static const Inputs quantized = {5, 8, NONE, NONE, 3, 4, 6, 7, NONE};
static const Inputs one       = {3, 4, 5, 6, NONE, NONE, NONE, NONE, 8}; // 7 is the number of beams, as in the table

typedef struct Sizes {
    HoloDim batch, queries, past, keys, size, v_size;
    HoloDim room; // positions of `present`
    int64_t heads;
    HoloDim hidden[3]; // columns of Q, K and V
} Sizes;

static bool is_shared(const HoloCall *call)
{
    return holo_attr_int(call, "past_present_share_buffer", 0) != 0;
}

static HoloDtype dtype_of(const HoloCall *call)
{
    const Inputs *in = call->op->row;
    return (HoloDtype)(in != &quantized ? call->in[X] : call->in[in->x_scale])->dtype;
}

static HoloStatus find_hidden(const HoloCall *call, Sizes *s)
{
    const HoloTensor *weight = call->in[WEIGHT];
    int64_t           given[3];
    HoloDim           all, size;
    int               count = holo_attr_ints(call, "qkv_hidden_sizes", given, 3);
    if (count > 0 && count != 3)
        return holo_call_fail(call, HOLO_BAD_MODEL, "qkv_hidden_sizes does not have 3 entries");
    HOLO_TRY(holo_split(call, "the weights", weight->dim[1], count == 3 ? 1 : 3, &all));
    for (int i = 0; i < 3; i++) s->hidden[i] = count == 3 ? given[i] : all;
    s->heads = holo_attr_int(call, "num_heads", 0);
    HOLO_TRY(holo_split(call, "Q", s->hidden[0], s->heads, &s->size));
    HOLO_TRY(holo_split(call, "K", s->hidden[1], s->heads, &size));
    HOLO_TRY(holo_split(call, "V", s->hidden[2], s->heads, &s->v_size));
    HOLO_TRY(holo_agree(call, "sizes of Q and K", s->size, size, &s->size));
    all = 0;
    for (int i = 0; i < 3; i++) {
        if (count == 3 && given[i] < 0) return holo_call_fail(call, HOLO_BAD_MODEL, "qkv_hidden_sizes are negative");
        all = holo_dim_add(call->dims, all, s->hidden[i]);
    }
    if (count == 3)
        HOLO_TRY(holo_agree(call, "qkv_hidden_sizes and columns of the weights", all, weight->dim[1], &all));
    return HOLO_OK;
}

static HoloStatus find_past(const HoloCall *call, Sizes *s)
{
    const Inputs     *in   = call->op->row;
    const HoloTensor *past = holo_in(call, in->past);
    HoloDim           same;
    s->past = s->room = 0;
    if (past) {
        HOLO_TRY(holo_expect_rank(call, in->past, 5, 5));
        HOLO_TRY(holo_expect_types(call, in->past, UINT64_C(1) << dtype_of(call)));
        HOLO_TRY(holo_agree(call, "first size of the cache and 2", past->dim[0], 2, &same));
        HOLO_TRY(holo_agree(call, "batch of the cache and the input", past->dim[1], s->batch, &same));
        HOLO_TRY(holo_agree(call, "heads of the cache and num_heads", past->dim[2], s->heads, &same));
        HOLO_TRY(holo_agree(call, "vectors of the cache and the keys", past->dim[4], s->size, &same));
        s->past = s->room = past->dim[3];
    }
    if (past && is_shared(call)) HOLO_TRY(holo_number_input(call, in->past_length, &s->past));
    s->keys = holo_dim_add(call->dims, s->past, s->queries);
    if (!past || !is_shared(call)) s->room = s->keys;
    bool known = !holo_dim_is_symbolic(s->keys) && !holo_dim_is_symbolic(s->room) && !holo_dim_is_symbolic(s->past);
    if (known && (s->past < 0 || s->keys > s->room))
        return holo_call_fail(call, HOLO_BAD_INPUT, "%lld positions and a past of %lld do not fit into a cache of %lld",
                              (long long)s->queries, (long long)s->past, (long long)s->room);
    return HOLO_OK;
}

static HoloStatus find_sizes(const HoloCall *call, Sizes *s)
{
    const Inputs     *in = call->op->row;
    const HoloTensor *x = call->in[X], *weight = holo_in(call, WEIGHT), *bias = holo_in(call, BIAS);
    HoloDim           same;
    if (!weight || (in == &quantized && (!holo_in(call, in->x_scale) || !holo_in(call, in->weight_scale))))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the weights or their scales are missing");
    if (holo_attr_int(call, "do_rotary", 0))
        return holo_call_fail(call, HOLO_UNSUPPORTED,
                              "do_rotary: rotate with RotaryEmbedding or use GroupQueryAttention");
    HOLO_TRY(holo_expect_rank(call, X, 3, 3));
    HOLO_TRY(holo_expect_rank(call, WEIGHT, 2, 2));
    HOLO_TRY(holo_expect_rank(call, BIAS, 1, 1));
    HOLO_TRY(holo_agree(call, "sizes of input and weights", x->dim[2], weight->dim[0], &same));
    if (bias)
        HOLO_TRY(
            holo_agree(call, "entries of the bias and columns of the weights", bias->dim[0], weight->dim[1], &same));
    s->batch   = x->dim[0];
    s->queries = x->dim[1];
    HOLO_TRY(find_hidden(call, s));
    return find_past(call, s);
}

static HoloStatus infer(HoloCall *call)
{
    const Inputs *in = call->op->row;
    Sizes         s;
    HOLO_TRY(find_sizes(call, &s));
    HoloDim scores[4] = {s.batch, s.heads, s.queries, s.keys};
    HOLO_TRY(holo_padding_check(call, in->mask, s.batch, s.queries, s.keys));
    HOLO_TRY(holo_beams_check(call, in->beams, s.batch));
    HOLO_TRY(holo_bias_check(call, in->bias, scores, false));
    if (holo_out(call, 1) && s.size != s.v_size)
        return holo_call_fail(call, HOLO_BAD_MODEL, "a cache needs keys and values of one size");
    HoloDim y[3] = {s.batch, s.queries, s.hidden[2]}, present[5] = {2, s.batch, s.heads, s.room, s.size};
    HOLO_TRY(holo_out_type(call, 0, dtype_of(call), 3, y));
    return holo_out_type(call, 1, dtype_of(call), 5, present);
}

// ---- the product

typedef struct Projection {
    const HoloCall *call;
    HoloLines       scale, zero; // of the columns of the weights
    double          x_scale, x_zero;
} Projection;

static void read_x(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    (void)batch;
    const Projection *p = c->arg;
    holo_read_f(p->call->in[X], row * c->depth + k, 1, count, &out->f);
    for (int64_t j = 0; j < count; j++) out[j].f -= p->x_zero;
}

static void read_weight(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    (void)batch;
    const Projection *p = c->arg;
    holo_read_f(p->call->in[WEIGHT], k * c->cols + col, 1, count, &out->f);
    for (int64_t j = 0; j < count && p->zero.t; j++) out[j].f -= holo_lines_at(&p->zero, 0, col + j);
}

static void finish(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    (void)batch, (void)row;
    const Projection *p    = c->arg;
    const HoloTensor *bias = holo_in(p->call, BIAS);
    for (int64_t j = 0; j < count; j++) {
        sums[j].f *= p->x_scale * holo_lines_at(&p->scale, 0, col + j);
        if (bias) sums[j].f += holo_get_f(bias, col + j);
    }
}

static HoloStatus find_number(const HoloCall *call, int input, double fallback, double *out)
{
    const HoloTensor *t = holo_in(call, input);
    *out                = fallback;
    if (t && holo_tensor_count(t) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "input %d is not one number", input);
    if (t) *out = holo_get_f(t, 0);
    return HOLO_OK;
}

// [batch][position][columns of Q, K and V]
static HoloStatus project(const HoloCall *call, const Sizes *s, HoloTensor **out)
{
    const Inputs *in      = call->op->row;
    int64_t       columns = call->in[WEIGHT]->dim[1], dim[3] = {s->batch, s->queries, columns};
    Projection    p = {.call = call};
    HOLO_TRY(find_number(call, in->x_scale, 1, &p.x_scale));
    HOLO_TRY(find_number(call, in->x_zero, 0, &p.x_zero));
    HOLO_TRY(holo_lines_init(call, in->weight_scale, columns, 1, 1, &p.scale));
    HOLO_TRY(holo_lines_init(call, in->weight_zero, columns, 1, 0, &p.zero));
    HOLO_TRY(holo_temp_tensor(call, dtype_of(call), 3, dim, out));
    HoloContract c = {.batch  = 1,
                      .rows   = s->batch * s->queries,
                      .cols   = columns,
                      .depth  = call->in[X]->dim[2],
                      .a      = read_x,
                      .b      = read_weight,
                      .finish = finish,
                      .arg    = &p,
                      .out    = *out};
    holo_contract(call, &c);
    return HOLO_OK;
}

// Keys (which 0) or values (1) of the past and of this call, in `present`.
static HoloHeads join(const HoloCall *call, const Sizes *s, int which, const HoloHeads *fresh, HoloTensor *present)
{
    const Inputs     *in   = call->op->row;
    const HoloTensor *past = holo_in(call, in->past);
    int64_t           step = s->size, head = s->room * step, batch = s->heads * head;
    HoloHeads         to = {present, which * s->batch * batch, batch, head, step, NULL}, view = to;
    if (past) {
        int64_t   old_head = past->dim[3] * step, old_batch = s->heads * old_head;
        HoloHeads from = {past, which * s->batch * old_batch, old_batch, old_head, step, NULL};
        holo_heads_move(present, &to, &from, s->batch, s->heads, past->dim[3], step);
    }
    to.start += s->past * step;
    holo_heads_move(present, &to, fresh, s->batch, s->heads, s->queries, step);
    return view;
}

static HoloStatus eval(HoloCall *call)
{
    const Inputs  *in = call->op->row;
    HoloTensor    *qkv, *present = holo_out(call, 1);
    Sizes          s;
    const int64_t *ahead;
    HOLO_TRY(find_sizes(call, &s));
    if (s.batch == 0 || call->in[WEIGHT]->dim[1] == 0) return HOLO_OK; // all outputs are empty
    HOLO_TRY(project(call, &s, &qkv));
    int64_t   columns = qkv->dim[2], batch = s.queries * columns;
    HoloHeads fresh[3] = {{qkv, 0, batch, s.size, columns, NULL},
                          {qkv, s.hidden[0], batch, s.size, columns, NULL},
                          {qkv, s.hidden[0] + s.hidden[1], batch, s.v_size, columns, NULL}};
    if (!present && holo_in(call, in->past)) {
        const int64_t dim[5] = {2, s.batch, s.heads, s.room, s.size};
        HOLO_TRY(holo_temp_tensor(call, dtype_of(call), 5, dim, &present));
    }
    HOLO_TRY(holo_attention_ahead(call, s.batch, s.past, &ahead));
    HoloAttention a = {
        .batch    = s.batch,
        .q_heads  = s.heads,
        .kv_heads = s.heads,
        .queries  = s.queries,
        .keys     = s.keys,
        .size     = s.size,
        .v_size   = s.v_size,
        .q        = fresh[0],
        .k        = present ? join(call, &s, 0, &fresh[1], present) : fresh[1],
        .v        = present ? join(call, &s, 1, &fresh[2], present) : fresh[2],
        .scale    = holo_attention_scale(call, s.size),
        .ahead    = ahead,
        .left     = -1,
        .right    = -1,
        .causal   = holo_attr_int(call, "unidirectional", 0) != 0,
        .y        = holo_out(call, 0),
        .y_batch  = s.queries * s.hidden[2],
        .y_head   = s.v_size,
        .y_step   = s.hidden[2],
    };
    const int64_t scores[4] = {s.batch, s.heads, s.queries, s.keys};
    HOLO_TRY(holo_beams_follow(call, in->beams, &a, s.past));
    HOLO_TRY(holo_padding_bias(call, in->mask, &a, s.past, &a.bias[0]));
    holo_bias_init(holo_in(call, in->bias), scores, false, &a.bias[1]);
    return holo_attention(call, &a);
}

#define ROW .domain = "com.microsoft", .since = 1, .out_min = 1, .out_max = 2, .infer = infer, .eval = eval

const HoloOp holo_ops_attention_merged[] = {
    {.name = "Attention", .in_min = 2, .in_max = 7, .types = HOLO_TYPES_FLOAT, .row = &real, ROW},
    {.name = "DecoderMaskedSelfAttention", .in_min = 2, .in_max = 9, .types = HOLO_TYPES_FLOAT, .row = &one, ROW},
    {.name = "QAttention", .in_min = 5, .in_max = 9, .types = HOLO_BIT(U8) | HOLO_BIT(I8), .row = &quantized, ROW},
    {0},
};
