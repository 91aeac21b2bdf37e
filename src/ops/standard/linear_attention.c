// linear_attention.c - LinearAttention of ONNX and of com.microsoft: each head has a matrix of state, which every token
// decays, corrects and reads.
//
//     S = exp(g) * S;   S = S + k (x) (beta * (v - S^T k));   o = scale * q^T S
//
// where some rules leave out the decay g, the correction - S^T k, or both.
#include "base/math/math.h"
#include "ops/spread.h"
#include "ops/standard/attention.h"

#include <math.h>
#include <string.h>

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA }; // inputs

typedef struct Rule {
    const char *name;
    bool        decays, corrects;
} Rule;

static const Rule rules[] = {
    {"linear", false, false}, {"gated", true, false}, {"delta", false, true}, {"gated_delta", true, true}};

static const Rule *find_rule(const HoloCall *call)
{
    for (int i = 0; i < HOLO_COUNT(rules); i++)
        if (holo_attr_is(call, "update_rule", "gated_delta", rules[i].name)) return &rules[i];
    return NULL;
}

typedef struct Sizes {
    HoloDim batch, tokens, size, v_size;
    int64_t q_heads, k_heads, kv_heads; // kv: of values and states
} Sizes;

// The operator of com.microsoft also takes fewer heads of queries or keys than of values, each of which serves several
// heads of values; and it ignores gates that its rule does not have.
typedef struct Form {
    bool is_free;
} Form;

static const Form onnx = {.is_free = false}, microsoft = {.is_free = true};

static bool is_free(const HoloCall *call)
{
    return ((const Form *)call->op->row)->is_free;
}

static HoloStatus check_given(const HoloCall *call, int input, const char *name, bool wanted)
{
    if (!holo_in(call, input) == !wanted || (!wanted && is_free(call))) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, wanted ? "its rule needs %s" : "its rule has no %s", name);
}

// Inputs are [batch][token][...]; `last` is the third size.
static HoloStatus check_tokens(const HoloCall *call, int input, Sizes *s, HoloDim *last)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", input);
    HOLO_TRY(holo_expect_types(call, input, UINT64_C(1) << call->in[QUERY]->dtype));
    HOLO_TRY(holo_expect_rank(call, input, 3, 3));
    HOLO_TRY(holo_agree(call, "batch of the inputs", t->dim[0], s->batch, &s->batch));
    HOLO_TRY(holo_agree(call, "tokens of the inputs", t->dim[1], s->tokens, &s->tokens));
    *last = t->dim[2];
    return HOLO_OK;
}

static HoloStatus check_past(const HoloCall *call, const Sizes *s)
{
    const HoloTensor *past    = holo_in(call, PAST);
    const HoloDim     want[4] = {s->batch, s->kv_heads, s->size, s->v_size};
    HoloDim           same;
    if (!past) return HOLO_OK;
    HOLO_TRY(holo_expect_types(call, PAST, HOLO_TYPES_FLOAT));
    HOLO_TRY(holo_expect_rank(call, PAST, 4, 4));
    for (int d = 0; d < 4; d++)
        HOLO_TRY(holo_agree(call, "sizes of past_state and the inputs", past->dim[d], want[d], &same));
    return HOLO_OK;
}

// The decay is one number for each head or one for each row of the state; beta is one for each head or one for all.
static HoloStatus check_gates(const HoloCall *call, const Rule *rule, Sizes *s)
{
    HoloDim last, each;
    HOLO_TRY(check_given(call, DECAY, "decay", rule->decays));
    HOLO_TRY(check_given(call, BETA, "beta", rule->corrects));
    if (rule->decays) {
        HOLO_TRY(check_tokens(call, DECAY, s, &last));
        HOLO_TRY(holo_split(call, "decay", last, s->kv_heads, &each));
        if (last != s->kv_heads) HOLO_TRY(holo_agree(call, "decay and vectors of the keys", each, s->size, &each));
    }
    if (rule->corrects) {
        HOLO_TRY(check_tokens(call, BETA, s, &last));
        if (last != 1) HOLO_TRY(holo_agree(call, "beta and heads of the keys", last, s->kv_heads, &each));
    }
    return HOLO_OK;
}

// Keys have vectors as long as those of the queries. The number of heads is checked when their sizes are known.
static HoloStatus count_keys(const HoloCall *call, HoloDim last, Sizes *s)
{
    HoloDim size;
    s->k_heads = s->kv_heads;
    if (is_free(call) && (holo_dim_is_symbolic(last) || holo_dim_is_symbolic(s->size))) return HOLO_OK;
    if (is_free(call) && s->size > 0 && last >= s->size) s->k_heads = last / s->size;
    HOLO_TRY(holo_split(call, "key", last, s->k_heads, &size));
    HOLO_TRY(holo_agree(call, "vectors of query and key", s->size, size, &s->size));
    if (s->kv_heads % s->k_heads)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld heads of the values are not a multiple of %lld of the keys",
                              (long long)s->kv_heads, (long long)s->k_heads);
    return HOLO_OK;
}

static HoloStatus find_sizes(const HoloCall *call, Sizes *s)
{
    const Rule *rule = find_rule(call);
    HoloDim     last;
    if (!rule) return holo_call_fail(call, HOLO_BAD_MODEL, "update_rule is not linear, gated, delta or gated_delta");
    if (holo_attr_int(call, "state_window", 0)) return holo_call_fail(call, HOLO_UNSUPPORTED, "state_window must be 0");
    *s = (Sizes){.batch    = HOLO_DIM_UNKNOWN,
                 .tokens   = HOLO_DIM_UNKNOWN,
                 .q_heads  = holo_attr_int(call, "q_num_heads", 0),
                 .kv_heads = holo_attr_int(call, "kv_num_heads", 0)};
    HOLO_TRY(check_tokens(call, QUERY, s, &last));
    HOLO_TRY(holo_split(call, "query", last, s->q_heads, &s->size));
    HOLO_TRY(check_tokens(call, KEY, s, &last));
    HOLO_TRY(count_keys(call, last, s));
    HOLO_TRY(check_tokens(call, VALUE, s, &last));
    HOLO_TRY(holo_split(call, "value", last, s->kv_heads, &s->v_size));
    if (s->q_heads % s->kv_heads && (!is_free(call) || s->kv_heads % s->q_heads))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld heads of the query are not a multiple of %lld of the key",
                              (long long)s->q_heads, (long long)s->kv_heads);
    HOLO_TRY(check_gates(call, rule, s));
    return check_past(call, s);
}

static int64_t out_heads(const Sizes *s)
{
    return s->q_heads > s->kv_heads ? s->q_heads : s->kv_heads;
}

static HoloStatus infer(HoloCall *call)
{
    Sizes s;
    HOLO_TRY(find_sizes(call, &s));
    const HoloTensor *past     = holo_in(call, PAST);
    HoloDim           y[3]     = {s.batch, s.tokens, holo_dim_mul(call->dims, s.v_size, out_heads(&s))};
    HoloDim           state[4] = {s.batch, s.kv_heads, s.size, s.v_size};
    HoloDtype         dtype    = (HoloDtype)call->in[QUERY]->dtype;
    HOLO_TRY(holo_out_type(call, 0, dtype, 3, y));
    return holo_out_type(call, 1, past ? (HoloDtype)past->dtype : dtype, 4, state);
}

typedef struct Work {
    const HoloCall *call;
    const Rule     *rule;
    Sizes           s;
    double          scale;
    double         *memory; // for each batch and head of the keys: the state, then q, k, g, v and o
    int64_t         each;
} Work;

// x[j] = sum of row[d] * state[d][j]
static void read_state(const double *state, const double *row, int64_t size, int64_t v_size, double *x)
{
    memset(x, 0, (size_t)v_size * sizeof *x);
    for (int64_t d = 0; d < size; d++, state += v_size)
        for (int64_t j = 0; j < v_size; j++) x[j] += row[d] * state[j];
}

static void decay_state(const Work *w, int64_t token, int64_t head, double *g, double *state)
{
    const HoloTensor *decay     = w->call->in[DECAY];
    bool              is_shared = decay->dim[2] == w->s.kv_heads; // by all rows
    int64_t           at = token * w->s.kv_heads + head, size = w->s.size;
    holo_read_f(decay, is_shared ? at : at * size, is_shared ? 0 : 1, size, g);
    for (int64_t d = 0; d < size; d++) {
        g[d] = is_shared && d ? g[0] : holo_exp(g[d]);
        for (int64_t j = 0; j < w->s.v_size; j++) *state++ *= g[d];
    }
}

static void step(const Work *w, int64_t token, int64_t head, double *state)
{
    const Sizes *s = &w->s;
    double *q = state + s->size * s->v_size, *k = q + s->size, *g = k + s->size, *v = g + s->size, *o = v + s->v_size;
    HoloTensor *y      = holo_out(w->call, 0);
    int64_t     k_head = head / (s->kv_heads / s->k_heads), heads = out_heads(s), group = heads / s->kv_heads;
    holo_read_f(w->call->in[KEY], (token * s->k_heads + k_head) * s->size, 1, s->size, k);
    holo_read_f(w->call->in[VALUE], (token * s->kv_heads + head) * s->v_size, 1, s->v_size, v);
    if (w->rule->decays) decay_state(w, token, head, g, state);
    if (w->rule->corrects) {
        const HoloTensor *beta = w->call->in[BETA];
        double            rate = holo_get_f(beta, beta->dim[2] == 1 ? token : token * s->kv_heads + head);
        read_state(state, k, s->size, s->v_size, o);
        for (int64_t j = 0; j < s->v_size; j++) v[j] = rate * (v[j] - o[j]);
    }
    for (int64_t d = 0; d < s->size; d++)
        for (int64_t j = 0; j < s->v_size; j++) state[d * s->v_size + j] += k[d] * v[j];
    for (int64_t h = head * group; h < (head + 1) * group && y; h++) {
        holo_read_f(w->call->in[QUERY], (token * s->q_heads + h / (heads / s->q_heads)) * s->size, 1, s->size, q);
        read_state(state, q, s->size, s->v_size, o);
        for (int64_t j = 0; j < s->v_size; j++) o[j] *= w->scale;
        holo_write_f(y, (token * heads + h) * s->v_size, 1, s->v_size, o);
    }
}

static void run_head(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Work       *w       = arg;
    const HoloTensor *past    = holo_in(w->call, PAST);
    HoloTensor       *present = holo_out(w->call, 1);
    int64_t           count   = w->s.size * w->s.v_size;
    double           *state   = w->memory + i * w->each;
    if (past) holo_read_f(past, i * count, 1, count, state);
    for (int64_t t = 0; t < w->s.tokens; t++) step(w, i / w->s.kv_heads * w->s.tokens + t, i % w->s.kv_heads, state);
    if (present) holo_write_f(present, i * count, 1, count, state);
}

static HoloStatus eval(HoloCall *call)
{
    Work  w = {.call = call, .rule = find_rule(call), .scale = holo_attr_float(call, "scale", 0)};
    void *memory;
    if (!holo_is_wanted(holo_out(call, 0)) && !holo_is_wanted(holo_out(call, 1))) return HOLO_OK;
    HOLO_TRY(find_sizes(call, &w.s));
    int64_t heads = w.s.batch * w.s.kv_heads, cells, vectors, count;
    if (!holo_mul(w.s.size, w.s.v_size, &cells) || !holo_mul(3, w.s.size, &vectors) ||
        !holo_add(cells, vectors, &cells) || !holo_mul(2, w.s.v_size, &vectors) || !holo_add(cells, vectors, &w.each) ||
        !holo_mul(heads, w.each, &count))
        return holo_fail_memory(call->error);
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(double), &memory));
    w.memory = memory;
    if (w.scale == 0) w.scale = 1 / sqrt((double)w.s.size);
    holo_spread(call, heads, (double)count * (double)w.s.tokens * 4, run_head, &w);
    return HOLO_OK;
}

#define ROW                                                                                                     \
    .name = "LinearAttention", .in_min = 3, .in_max = 6, .out_min = 1, .out_max = 2, .types = HOLO_TYPES_FLOAT, \
    .infer = infer, .eval = eval

const HoloOp holo_ops_linear_attention[] = {
    {.domain = "", .since = 27, .row = &onnx, ROW},
    {.domain = "com.microsoft", .since = 1, .row = &microsoft, ROW},
    {0},
};
