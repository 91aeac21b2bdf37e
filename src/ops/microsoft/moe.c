// moe.c - MoE and QMoE of com.microsoft: every token goes through the few experts that a router chose for it, and what
// they give is summed with the router's weights.
//
//     expert(x) = fc2(activation(fc1(x)))        or        fc2(activation(fc1(x)) * fc3(x))
//
// Weights are real or, in QMoE, whole numbers of 2, 4 or 8 bits with scales; its forms with floats of 4 and 8 bits are
// not computed.
#include "ops/contract.h"
#include "ops/functions.h"
#include "ops/microsoft/nbits.h"
#include "ops/spread.h"

#include <math.h>

enum { X, ROUTER };
enum { FC1, FC2, FC3, LAYERS };

typedef struct LayerInputs { // by number; 0: there is none
    int weights, scales, bias, zeros;
} LayerInputs;

typedef struct MoeRow {
    LayerInputs layer[LAYERS];
    bool        quantized;      // and weights of the chosen experts alone add up to 1
    int         router_weights; // input that has the weights, where ROUTER only chooses
    float       least;          // what weights must be above, or their experts are left out
} MoeRow;

static const MoeRow real = {.layer = {{.weights = 2, .bias = 3}, {.weights = 4, .bias = 5}, {.weights = 6, .bias = 7}}};
static const MoeRow quantized = {
    .layer = {{2, 3, 4, 11}, {5, 6, 7, 12}, {8, 9, 10, 13}}, .quantized = true, .router_weights = 14, .least = 1e-8f};

// ---- activations

static double relu(double x)
{
    return x > 0 ? x : 0;
}

static double identity(double x)
{
    return x;
}

typedef struct Activation {
    const char *name;
    double (*f)(double x); // NULL: of two numbers
} Activation;

static const Activation activations[] = {
    {"relu", relu}, {"gelu", holo_gelu_tanh}, {"silu", holo_silu}, {"identity", identity}, {"swiglu", NULL}};

typedef struct Swiglu {
    double alpha, beta, limit;
} Swiglu;

static double swiglu(const Swiglu *s, double gate, double x)
{
    gate = gate > s->limit ? s->limit : gate;
    x    = x > s->limit ? s->limit : x < -s->limit ? -s->limit : x;
    return gate * holo_sigmoid(s->alpha * gate) * (x + s->beta);
}

// ---- sizes

typedef struct Layer { // [outs][ins] for each expert
    const HoloTensor *weights, *scales, *zeros, *bias;
    int64_t           outs, ins;
    int64_t           block, blocks; // numbers of a row that share a scale
    int               bits;          // 0: real numbers
} Layer;

typedef struct Moe {
    const MoeRow     *row;
    const Activation *activation;
    int64_t           chosen, experts, tokens, hidden, inter;
    int               bits;
    bool              is_sparse; // the router's weights are those of a sparse mixer
    int64_t fusion; // of swiglu: 0: fc3 has the second factor; in fc1 it is 1: interleaved, 2: behind the first
    Layer   layer[LAYERS];
} Moe;

static HoloStatus read_attributes(const HoloCall *call, Moe *m)
{
    m->row    = call->op->row;
    m->chosen = holo_attr_int(call, "k", 1);
    m->bits   = m->row->quantized ? (int)holo_attr_int(call, "expert_weight_bits", 4) : 0;
    m->fusion = holo_attr_int(call, "swiglu_fusion", 0);
    for (int i = 0; i < HOLO_COUNT(activations); i++)
        if (holo_attr_is(call, "activation_type", "relu", activations[i].name)) m->activation = &activations[i];
    if (!m->activation)
        return holo_call_fail(call, HOLO_BAD_MODEL, "activation_type is not relu, gelu, silu, swiglu or identity");
    if (m->chosen < 1) return holo_call_fail(call, HOLO_BAD_MODEL, "k is %lld", (long long)m->chosen);
    if (m->row->quantized && m->bits != 2 && m->bits != 4 && m->bits != 8)
        return holo_call_fail(call, HOLO_BAD_MODEL, "expert_weight_bits is not 2, 4 or 8");
    if (m->fusion < 0 || m->fusion > 2) return holo_call_fail(call, HOLO_BAD_MODEL, "swiglu_fusion is not 0, 1 or 2");
    m->is_sparse = holo_attr_int(call, "use_sparse_mixer", 0) != 0;
    if (m->is_sparse && m->chosen != 2) return holo_call_fail(call, HOLO_BAD_MODEL, "a sparse mixer needs k to be 2");
    if (m->row->quantized && !holo_attr_is(call, "quant_type", "int", "int"))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "quant_type must be int");
    if (m->activation->f) m->fusion = 0;
    return HOLO_OK;
}

static HoloStatus expect_types(const HoloCall *call, const Moe *m)
{
    uint64_t same = UINT64_C(1) << call->in[X]->dtype;
    HOLO_TRY(holo_expect_types(call, ROUTER, same));
    if (m->row->router_weights) HOLO_TRY(holo_expect_types(call, m->row->router_weights, same));
    for (int l = 0; l < LAYERS; l++) {
        const LayerInputs *in = &m->row->layer[l];
        if (l == FC3 && !holo_in(call, in->weights)) break;
        if (!holo_in(call, in->weights) || (m->row->quantized && !holo_in(call, in->scales)))
            return holo_call_fail(call, HOLO_BAD_MODEL, "weights or scales of layer %d are missing", l + 1);
        HOLO_TRY(holo_expect_types(call, in->weights, m->row->quantized ? HOLO_BIT(U8) : same));
        HOLO_TRY(holo_expect_rank(call, in->weights, 3, 3));
        HOLO_TRY(holo_expect_types(call, in->bias, same));
        if (!m->row->quantized) continue;
        HOLO_TRY(holo_expect_types(call, in->scales, HOLO_TYPES_FLOAT));
        HOLO_TRY(holo_expect_rank(call, in->scales, 2, 3));
        HOLO_TRY(holo_expect_types(call, in->zeros, HOLO_BIT(U8)));
    }
    return HOLO_OK;
}

// Fails if input i is given and has other sizes than these; 0 behind the last size.
static HoloStatus expect_dims(const HoloCall *call, int input, int64_t a, int64_t b, int64_t c)
{
    const HoloTensor *t    = holo_in(call, input);
    int               rank = c ? 3 : 2;
    if (!t || (t->rank == rank && t->dim[0] == a && t->dim[1] == b && (!c || t->dim[2] == c))) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "input %d does not fit the others: expected [%lld, %lld%s%.0lld]",
                          input, (long long)a, (long long)b, c ? ", " : "", (long long)c);
}

// Weights as they lie are [outs][ins], however their sizes are written: old files have these the other way around.
static HoloStatus read_layer(const HoloCall *call, const Moe *m, int which, int64_t outs, int64_t ins, Layer *out)
{
    const LayerInputs *in      = &m->row->layer[which];
    const HoloTensor  *weights = holo_in(call, in->weights);
    int64_t            pack    = m->bits ? 8 / m->bits : 1, have, want;
    *out = (Layer){.weights = weights, .bias = holo_in(call, in->bias), .outs = outs, .ins = ins, .bits = m->bits};
    if (ins % pack)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld numbers of %d bits are not whole bytes", (long long)ins,
                              m->bits);
    if (weights->dim[0] != m->experts || !holo_mul(weights->dim[1], weights->dim[2], &have) ||
        !holo_mul(outs, ins / pack, &want) || have != want)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the weights of layer %d are not [%lld, %lld, %lld]", which + 1,
                              (long long)m->experts, (long long)outs, (long long)(ins / pack));
    HOLO_TRY(expect_dims(call, in->bias, m->experts, outs, 0));
    if (!m->bits) return HOLO_OK;
    out->scales = holo_in(call, in->scales);
    out->zeros  = holo_in(call, in->zeros);
    out->blocks = out->scales->rank == 3 ? out->scales->dim[2] : 1;
    out->block  = out->blocks == 1 ? ins : holo_attr_int(call, "block_size", 0);
    if (out->block < 1 || out->blocks != (ins - 1) / out->block + 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "layer %d has %lld scales for a row of %lld numbers", which + 1,
                              (long long)out->blocks, (long long)ins);
    HOLO_TRY(expect_dims(call, in->scales, m->experts, outs, out->scales->rank == 3 ? out->blocks : 0));
    if (out->zeros && out->zeros->rank == 2 && out->blocks == 1)
        return expect_dims(call, in->zeros, m->experts, (outs + pack - 1) / pack, 0);
    return expect_dims(call, in->zeros, m->experts, outs, (out->blocks + pack - 1) / pack);
}

static HoloStatus read_layers(const HoloCall *call, Moe *m)
{
    const HoloTensor *fc2   = call->in[m->row->layer[FC2].weights];
    bool              gated = holo_in(call, m->row->layer[FC3].weights), pairs = !m->activation->f;
    int64_t           pack = m->bits ? 8 / m->bits : 1, count, inter;
    if (!holo_mul(fc2->dim[1], fc2->dim[2], &count) || !holo_mul(count, pack, &count) || count % m->hidden)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the weights of layer 2 do not fit rows of %lld",
                              (long long)m->hidden);
    if (pairs && gated == (m->fusion != 0))
        return holo_call_fail(call, HOLO_BAD_MODEL, "swiglu takes fc3, or two factors from fc1 (swiglu_fusion)");
    m->inter = count / m->hidden;
    if (m->inter < 1 || !holo_mul(m->inter, m->fusion ? 2 : 1, &inter))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the weights of layer 2 are empty or too large");
    HOLO_TRY(read_layer(call, m, FC1, inter, m->hidden, &m->layer[FC1]));
    HOLO_TRY(read_layer(call, m, FC2, m->hidden, m->inter, &m->layer[FC2]));
    return gated ? read_layer(call, m, FC3, m->inter, m->hidden, &m->layer[FC3]) : HOLO_OK;
}

// Reads the sizes, which are known here. If there are no tokens or rows, there is nothing to compute.
static HoloStatus read_sizes(const HoloCall *call, Moe *m)
{
    const HoloTensor *x = call->in[X], *router = call->in[ROUTER];
    m->tokens  = holo_product(x->rank - 1, x->dim);
    m->hidden  = x->dim[x->rank - 1];
    m->experts = router->dim[1];
    if (m->chosen > m->experts)
        return holo_call_fail(call, HOLO_BAD_MODEL, "k is %lld of %lld experts", (long long)m->chosen,
                              (long long)m->experts);
    HOLO_TRY(expect_dims(call, ROUTER, m->tokens, m->experts, 0));
    if (m->row->router_weights) HOLO_TRY(expect_dims(call, m->row->router_weights, m->tokens, m->experts, 0));
    return read_layers(call, m);
}

static bool has_numbers(const HoloCall *call)
{
    for (int i = 0; i < call->in_count; i++)
        for (int d = 0; call->in[i] && d < call->in[i]->rank; d++)
            if (holo_dim_is_symbolic(call->in[i]->dim[d])) return false;
    return true;
}

static HoloStatus infer(HoloCall *call)
{
    Moe m = {0};
    HOLO_TRY(read_attributes(call, &m));
    HOLO_TRY(holo_expect_rank(call, X, 2, 3));
    HOLO_TRY(holo_expect_rank(call, ROUTER, 2, 2));
    HOLO_TRY(expect_types(call, &m));
    if (has_numbers(call) && holo_tensor_count(call->in[X])) HOLO_TRY(read_sizes(call, &m));
    return holo_out_like(call, 0, call->in[X]);
}

// ---- which experts, and how much of each

typedef struct Routes { // `chosen` for each token
    int64_t *expert;
    double  *weight;
} Routes;

// The experts of one token: the largest of the router's numbers, among equal ones the last. `taken` is all false
// before.
static void choose(const Moe *m, const double *number, bool *taken, int64_t *expert)
{
    for (int64_t j = 0; j < m->chosen; j++) {
        int64_t best = -1;
        for (int64_t e = 0; e < m->experts; e++)
            if (!taken[e] && (best < 0 || number[e] >= number[best])) best = e;
        taken[best] = true;
        expert[j]   = best;
    }
    for (int64_t j = 0; j < m->chosen; j++) taken[expert[j]] = false;
}

// The softmax of the router's numbers: of all of them, or of those that were chosen.
static void weigh(const Moe *m, const double *number, const int64_t *expert, double *weight)
{
    double top = number[expert[0]], sum = 0;
    for (int64_t j = 0; j < m->chosen; j++) sum += weight[j] = holo_exp(number[expert[j]] - top);
    if (!m->row->quantized) {
        sum = 0;
        for (int64_t e = 0; e < m->experts; e++) sum += holo_exp(number[e] - top);
    }
    for (int64_t j = 0; j < m->chosen; j++) weight[j] /= sum;
}

// A sparse mixer's weights: for each expert the softmax of those that are not chosen before it and nearly as good.
static void weigh_sparse(const Moe *m, const double *number, const int64_t *expert, double *weight)
{
    const double near = 0.02;
    for (int64_t j = 0; j < m->chosen; j++) {
        double top = number[expert[j]], sum = 0;
        for (int64_t e = 0; e < m->experts; e++) {
            bool is_out = top - number[e] > near * fmax(fabs(number[e]), top);
            for (int64_t i = 0; i < j; i++) is_out = is_out || expert[i] == e;
            if (!is_out) sum += holo_exp(number[e] - top);
        }
        weight[j] = 1 / sum;
    }
}

static HoloStatus route(const HoloCall *call, const Moe *m, Routes *out)
{
    const HoloTensor *weights   = m->row->router_weights ? holo_in(call, m->row->router_weights) : NULL;
    bool              normalize = !m->is_sparse && holo_attr_int(call, "normalize_routing_weights", 0) != 0;
    size_t            routes    = (size_t)(m->tokens * m->chosen);
    double           *number;
    bool             *taken;
    HOLO_TRY(holo_call_temp(call, routes, sizeof *out->expert, (void **)&out->expert));
    HOLO_TRY(holo_call_temp(call, routes, sizeof *out->weight, (void **)&out->weight));
    HOLO_TRY(holo_call_temp(call, (size_t)m->experts, sizeof *number, (void **)&number));
    HOLO_TRY(holo_call_temp(call, (size_t)m->experts, sizeof *taken, (void **)&taken));
    for (int64_t t = 0; t < m->tokens; t++) {
        int64_t *expert = out->expert + t * m->chosen;
        double  *weight = out->weight + t * m->chosen, sum = 0;
        holo_read_f(call->in[ROUTER], t * m->experts, 1, m->experts, number);
        choose(m, number, taken, expert);
        if (!weights) (m->is_sparse ? weigh_sparse : weigh)(m, number, expert, weight);
        for (int64_t j = 0; weights && j < m->chosen; j++) weight[j] = holo_get_f(weights, t * m->experts + expert[j]);
        for (int64_t j = 0; j < m->chosen; j++) sum += weight[j];
        for (int64_t j = 0; normalize && j < m->chosen; j++) weight[j] = sum == 0 ? 0 : weight[j] / sum;
    }
    return HOLO_OK;
}

// ---- experts

typedef struct Product { // of one layer of one expert, by columns: a column for each token
    const Layer    *layer;
    int64_t         expert;
    const HoloCell *x; // [ins][tokens]
} Product;

static double zero_of(const Layer *l, int64_t expert, int64_t row, int64_t block)
{
    if (!l->zeros) return 1 << (l->bits - 1);
    const uint8_t *zeros = l->zeros->data;
    int64_t        pack  = 8 / l->bits;
    if (l->zeros->rank == 2) return holo_nbits_at(zeros + expert * l->zeros->dim[1], row, l->bits);
    return holo_nbits_at(zeros + (expert * l->outs + row) * ((l->blocks + pack - 1) / pack), block, l->bits);
}

static void read_weights(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    (void)batch;
    const Product *p  = c->arg;
    const Layer   *l  = p->layer;
    int64_t        at = p->expert * l->outs + row;
    if (!l->bits) {
        holo_cells_read(l->weights, false, at * l->ins + k, 1, count, out);
        return;
    }
    const uint8_t *bytes = (const uint8_t *)l->weights->data + at * (l->ins / (8 / l->bits));
    for (int64_t end = k + count; k < end;) {
        int64_t block = k / l->block, stop = (block + 1) * l->block < end ? (block + 1) * l->block : end;
        double  scale = holo_get_f(l->scales, at * l->blocks + block), zero = zero_of(l, p->expert, row, block);
        for (; k < stop; k++) out++->f = (holo_nbits_at(bytes, k, l->bits) - zero) * scale;
    }
}

static void read_tokens(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    (void)batch;
    const Product *p = c->arg;
    for (int64_t j = 0; j < count; j++) out[j] = p->x[k * c->cols + col + j];
}

static void add_bias(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    (void)batch, (void)col;
    const Product *p    = c->arg;
    double         bias = holo_get_f(p->layer->bias, p->expert * p->layer->outs + row);
    for (int64_t j = 0; j < count; j++) sums[j].f += bias;
}

static void multiply(const HoloCall *call, const Layer *l, int64_t expert, int64_t tokens, const HoloCell *x,
                     HoloCell *y)
{
    Product      p = {.layer = l, .expert = expert, .x = x};
    HoloContract c = {.batch  = 1,
                      .rows   = l->outs,
                      .cols   = tokens,
                      .depth  = l->ins,
                      .a      = read_weights,
                      .b      = read_tokens,
                      .finish = l->bias ? add_bias : NULL,
                      .arg    = &p,
                      .cells  = y};
    holo_contract(call, &c);
}

typedef struct Work {                 // columns: a token each
    HoloCell *x, *inner, *factor, *y; // [hidden], [fc1's outs], [inter], [hidden]
    double   *sums;                   // [tokens][hidden]
    int64_t  *token;                  // of each column
    double   *weight;
} Work;

// Turns the outputs of fc1 and fc3 into the input of fc2, in the memory of the first.
static void activate(const HoloCall *call, const Moe *m, const Work *w, int64_t tokens)
{
    const Swiglu s     = {.alpha = holo_attr_float(call, "activation_alpha", 1),
                          .beta  = holo_attr_float(call, "activation_beta", 0),
                          .limit = holo_attr_float(call, "swiglu_limit", INFINITY)};
    bool         gated = m->layer[FC3].weights;
    for (int64_t i = 0; i < m->inter; i++) {
        const HoloCell *gate   = w->inner + (m->fusion == 1 ? 2 * i : i) * tokens;
        const HoloCell *second = gated       ? w->factor + i * tokens
                                 : m->fusion ? gate + (m->fusion == 1 ? 1 : m->inter) * tokens
                                             : NULL;
        HoloCell       *out    = w->inner + i * tokens;
        for (int64_t j = 0; j < tokens; j++) {
            double x = gate[j].f;
            if (!m->activation->f)
                out[j].f = swiglu(&s, x, second[j].f);
            else
                out[j].f = m->activation->f(x) * (second ? second[j].f : 1);
        }
    }
}

// Gathers the tokens that chose this expert, as columns; returns how many.
static int64_t gather(const HoloCall *call, const Moe *m, const Routes *routes, int64_t expert, const Work *w)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m->tokens * m->chosen; i++)
        if (routes->expert[i] == expert && routes->weight[i] > (double)m->row->least) {
            w->token[count]    = i / m->chosen;
            w->weight[count++] = routes->weight[i];
        }
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < m->hidden; i += HOLO_TILE) {
            double  tile[HOLO_TILE];
            int64_t n = m->hidden - i < HOLO_TILE ? m->hidden - i : HOLO_TILE;
            holo_read_f(call->in[X], w->token[j] * m->hidden + i, 1, n, tile);
            for (int64_t p = 0; p < n; p++) w->x[(i + p) * count + j].f = tile[p];
        }
    return count;
}

static void run_expert(const HoloCall *call, const Moe *m, const Routes *routes, int64_t expert, const Work *w)
{
    int64_t tokens = gather(call, m, routes, expert, w);
    if (!tokens) return;
    multiply(call, &m->layer[FC1], expert, tokens, w->x, w->inner);
    if (m->layer[FC3].weights) multiply(call, &m->layer[FC3], expert, tokens, w->x, w->factor);
    activate(call, m, w, tokens);
    multiply(call, &m->layer[FC2], expert, tokens, w->inner, w->y);
    for (int64_t j = 0; j < tokens; j++) {
        double *sums = w->sums + w->token[j] * m->hidden;
        for (int64_t i = 0; i < m->hidden; i++) sums[i] += w->weight[j] * w->y[i * tokens + j].f;
    }
}

static HoloStatus take_cells(const HoloCall *call, int64_t rows, int64_t tokens, HoloCell **out)
{
    int64_t count;
    if (!holo_mul(rows, tokens, &count)) return holo_call_fail(call, HOLO_NO_MEMORY, "too many tokens");
    return holo_call_temp(call, (size_t)count, sizeof **out, (void **)out);
}

static HoloStatus take_work(const HoloCall *call, const Moe *m, Work *w)
{
    HOLO_TRY(take_cells(call, m->hidden, m->tokens, &w->x));
    HOLO_TRY(take_cells(call, m->layer[FC1].outs, m->tokens, &w->inner));
    if (m->layer[FC3].weights) HOLO_TRY(take_cells(call, m->inter, m->tokens, &w->factor));
    HOLO_TRY(take_cells(call, m->hidden, m->tokens, &w->y));
    HOLO_TRY(holo_call_temp(call, (size_t)holo_tensor_count(call->in[X]), sizeof *w->sums, (void **)&w->sums));
    HOLO_TRY(holo_call_temp(call, (size_t)m->tokens, sizeof *w->token, (void **)&w->token));
    return holo_call_temp(call, (size_t)m->tokens, sizeof *w->weight, (void **)&w->weight);
}

static HoloStatus eval(HoloCall *call)
{
    Moe    m = {0};
    Routes routes;
    Work   w = {0};
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(read_attributes(call, &m));
    HOLO_TRY(read_sizes(call, &m));
    HOLO_TRY(route(call, &m, &routes));
    HOLO_TRY(take_work(call, &m, &w));
    for (int64_t e = 0; e < m.experts; e++) run_expert(call, &m, &routes, e, &w);
    holo_write_f(call->out[0], 0, 1, m.tokens * m.hidden, w.sums);
    return HOLO_OK;
}

#define MOE                                                                                                       \
    .domain = "com.microsoft", .since = 1, .out_min = 1, .out_max = 1, .types = HOLO_TYPES_FLOAT, .infer = infer, \
    .eval = eval

const HoloOp holo_ops_moe[] = {
    {.name = "MoE", MOE, .in_min = 3, .in_max = 8, .row = &real},
    {.name = "QMoE", MOE, .in_min = 4, .in_max = 15, .row = &quantized},
    {0},
};
