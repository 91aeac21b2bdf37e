// attn_lstm.c - AttnLSTM of com.microsoft: an LSTM that looks at a memory after each step (Bahdanau's attention).
//
// Besides its input, each step takes the attention of the step before: what the memory gives for the state or, if there
// is an attention layer (AW), the product of AW with the state and that. Sequences are independent of each other.
// Everything is computed in double and rounded where it is written.
#include "base/math/math.h"
#include "ops/spread.h"
#include "ops/standard/fused_activation.h"

#include <math.h>
#include <string.h>

enum { X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES, QUERY_W, MEMORY_W, V, MEMORY, MEMORY_LENGTHS, LAYER_W };
enum { INPUTS = LAYER_W + 1, ACTIVATIONS = 3, GATES = 4 };

typedef struct Layer {
    const HoloTensor *in[INPUTS];                               // NULL: not given
    int64_t           times, batch, inputs, hidden, directions; //
    int64_t           steps, depth, size, attention;            // of the memory; of the scores; of what a step takes
    bool              reverse, input_forget;
    double            clip; // 0: none
    HoloActivationUse activation[2 * ACTIVATIONS];
    HoloTensor       *y, *y_h, *y_c;
    double           *memory; // for each sequence of each direction
    int64_t           room;
} Layer;

// ---- types

static HoloStatus expect_ranks(const HoloCall *call)
{
    static const int ranks[INPUTS] = {3, 3, 3, 2, 1, 3, 3, 2, 3, 3, 2, 3, 1, 3};
    for (int i = 0; i < INPUTS; i++) {
        bool is_lengths = i == LENGTHS || i == MEMORY_LENGTHS;
        if (!holo_in(call, i)) {
            if (i < BIAS || (i >= QUERY_W && i <= MEMORY))
                return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
            continue;
        }
        HOLO_TRY(holo_expect_rank(call, i, ranks[i], ranks[i]));
        HOLO_TRY(holo_expect_types(call, i, is_lengths ? HOLO_BIT(I32) : UINT64_C(1) << call->in[X]->dtype));
    }
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    HOLO_TRY(expect_ranks(call));
    HoloDims                *dims = call->dims;
    const HoloTensor        *x = call->in[X], *m = call->in[MEMORY], *layer = holo_in(call, LAYER_W);
    bool                     both   = holo_attr_is(call, "direction", "forward", "bidirectional");
    HoloDim                  hidden = call->in[R]->dim[2], sums = holo_dim_mul(dims, hidden, GATES), batch = x->dim[1];
    HoloDim                  n = both ? 2 : 1, depth = m->dim[2], size = call->in[V]->dim[1];
    HoloDim                  attention = layer ? layer->dim[2] : depth;
    HoloActivationUse        unused[2 * ACTIVATIONS];
    static const char *const defaults[] = {"Sigmoid", "Tanh", "Tanh"};
    HOLO_TRY(holo_activations_read(call, n, ACTIVATIONS, defaults, unused));
    HOLO_TRY(holo_expect_shape(call, W, 3, (HoloDim[]){n, sums, holo_dim_add(dims, x->dim[2], attention)}));
    HOLO_TRY(holo_expect_shape(call, R, 3, (HoloDim[]){n, sums, hidden}));
    HOLO_TRY(holo_expect_shape(call, BIAS, 2, (HoloDim[]){n, holo_dim_mul(dims, sums, 2)}));
    HOLO_TRY(holo_expect_shape(call, LENGTHS, 1, (HoloDim[]){batch}));
    HOLO_TRY(holo_expect_shape(call, INITIAL_H, 3, (HoloDim[]){n, batch, hidden}));
    HOLO_TRY(holo_expect_shape(call, INITIAL_C, 3, (HoloDim[]){n, batch, hidden}));
    HOLO_TRY(holo_expect_shape(call, PEEPHOLES, 2, (HoloDim[]){n, holo_dim_mul(dims, hidden, 3)}));
    HOLO_TRY(holo_expect_shape(call, QUERY_W, 3, (HoloDim[]){n, hidden, size}));
    HOLO_TRY(holo_expect_shape(call, MEMORY_W, 3, (HoloDim[]){n, depth, size}));
    HOLO_TRY(holo_expect_shape(call, V, 2, (HoloDim[]){n, size}));
    HOLO_TRY(holo_expect_shape(call, MEMORY, 3, (HoloDim[]){batch, m->dim[1], depth}));
    HOLO_TRY(holo_expect_shape(call, MEMORY_LENGTHS, 1, (HoloDim[]){batch}));
    HOLO_TRY(holo_expect_shape(call, LAYER_W, 3, (HoloDim[]){n, holo_dim_add(dims, depth, hidden), attention}));
    HOLO_TRY(holo_out_type(call, 0, (HoloDtype)x->dtype, 4, (HoloDim[]){x->dim[0], n, batch, hidden}));
    HOLO_TRY(holo_out_type(call, 1, (HoloDtype)x->dtype, 3, (HoloDim[]){n, batch, hidden}));
    return holo_out_type(call, 2, (HoloDtype)x->dtype, 3, (HoloDim[]){n, batch, hidden});
}

// ---- one sequence

typedef struct Sequence {
    const Layer *l;
    int64_t      direction, entry, length, memory_length;
    double      *h, *c, *gates;   // [hidden], [hidden], [4][hidden]
    double      *x, *attention;   // of a step, beside each other
    double      *keys, *scores;   // [steps][size], [steps]
    double      *query, *context; // [size], [depth]
    double      *row;             // of a matrix
} Sequence;

static double get(const HoloTensor *t, int64_t at)
{
    return t ? holo_get_f(t, at) : 0;
}

// sum over k of x[k] * t[at + k]
static double dot(const Sequence *s, const double *x, const HoloTensor *t, int64_t at, int64_t count)
{
    double sum = 0;
    holo_read_f(t, at, 1, count, s->row);
    for (int64_t k = 0; k < count; k++) sum += x[k] * s->row[k];
    return sum;
}

// out[j] += sum over k of x[k] * t[at + k * width + j]
static void add_product(const Sequence *s, const double *x, int64_t count, const HoloTensor *t, int64_t at,
                        int64_t width, double *out)
{
    for (int64_t k = 0; k < count; k++) {
        holo_read_f(t, at + k * width, 1, width, s->row);
        for (int64_t j = 0; j < width; j++) out[j] += x[k] * s->row[j];
    }
}

static double gate(const Sequence *s, int which, double x)
{
    const Layer *l = s->l;
    if (l->clip > 0) x = x > l->clip ? l->clip : x < -l->clip ? -l->clip : x;
    return holo_activate(&l->activation[s->direction * ACTIVATIONS + which], x);
}

// The state after a step. s->x and s->attention are the step's input.
static void step(Sequence *s)
{
    const Layer *l = s->l;
    int64_t      n = l->hidden, sums = GATES * n, width = l->inputs + l->attention, first = s->direction * sums;
    for (int64_t j = 0; j < sums; j++)
        s->gates[j] = dot(s, s->x, l->in[W], (first + j) * width, width) + dot(s, s->h, l->in[R], (first + j) * n, n) +
                      get(l->in[BIAS], 2 * first + j) + get(l->in[BIAS], 2 * first + sums + j);
    for (int64_t j = 0; j < n; j++) { // gates in the order input, output, forget, cell; peepholes without the last
        const HoloTensor *p  = l->in[PEEPHOLES];
        int64_t           at = s->direction * 3 * n + j;
        double            in = gate(s, 0, s->gates[j] + get(p, at) * s->c[j]);
        double forget = l->input_forget ? 1 - in : gate(s, 0, s->gates[2 * n + j] + get(p, at + 2 * n) * s->c[j]);
        s->c[j]       = forget * s->c[j] + in * gate(s, 1, s->gates[3 * n + j]);
        s->h[j]       = gate(s, 0, s->gates[n + j] + get(p, at + n) * s->c[j]) *
                  holo_activate(&l->activation[s->direction * ACTIVATIONS + 2], s->c[j]);
    }
}

// What the memory gives for the state.
static void attend(Sequence *s)
{
    const Layer *l   = s->l;
    double       top = -INFINITY, sum = 0;
    memset(s->query, 0, (size_t)l->size * sizeof *s->query);
    memset(s->context, 0, (size_t)l->depth * sizeof *s->context);
    memset(s->attention, 0, (size_t)l->attention * sizeof *s->attention);
    add_product(s, s->h, l->hidden, l->in[QUERY_W], s->direction * l->hidden * l->size, l->size, s->query);
    for (int64_t k = 0; k < s->memory_length; k++) {
        s->scores[k] = 0;
        for (int64_t j = 0; j < l->size; j++)
            s->scores[k] +=
                get(l->in[V], s->direction * l->size + j) * holo_tanh(s->keys[k * l->size + j] + s->query[j]);
        top = s->scores[k] > top ? s->scores[k] : top;
    }
    for (int64_t k = 0; k < s->memory_length; k++) sum += s->scores[k] = holo_exp(s->scores[k] - top);
    for (int64_t k = 0; k < s->memory_length; k++) s->scores[k] /= sum;
    add_product(s, s->scores, s->memory_length, l->in[MEMORY], s->entry * l->steps * l->depth, l->depth, s->context);
    if (!l->in[LAYER_W]) {
        memcpy(s->attention, s->context, (size_t)l->depth * sizeof *s->context);
        return;
    }
    int64_t at = s->direction * (l->hidden + l->depth) * l->attention;
    add_product(s, s->h, l->hidden, l->in[LAYER_W], at, l->attention, s->attention);
    add_product(s, s->context, l->depth, l->in[LAYER_W], at + l->hidden * l->attention, l->attention, s->attention);
}

static void begin(Sequence *s)
{
    const Layer *l  = s->l;
    int64_t      at = (s->direction * l->batch + s->entry) * l->hidden;
    for (int64_t j = 0; j < l->hidden; j++) {
        s->h[j] = get(l->in[INITIAL_H], at + j);
        s->c[j] = get(l->in[INITIAL_C], at + j);
    }
    for (int64_t k = 0; k < s->memory_length; k++) {
        double *key = s->keys + k * l->size;
        holo_read_f(l->in[MEMORY], (s->entry * l->steps + k) * l->depth, 1, l->depth, s->context);
        add_product(s, s->context, l->depth, l->in[MEMORY_W], s->direction * l->depth * l->size, l->size, key);
    }
}

static void sequence(void *arg, int64_t number, int worker)
{
    (void)worker;
    const Layer *l = arg;
    Sequence     s = {
            .l = l, .direction = number / l->batch, .entry = number % l->batch, .h = l->memory + number * l->room};
    double **next[] = {&s.c, &s.gates, &s.x, &s.attention, &s.keys, &s.scores, &s.query, &s.context, &s.row};
    int64_t  size[] = {l->hidden,          l->hidden, GATES * l->hidden, l->inputs, l->attention,
                       l->steps * l->size, l->steps,  l->size,           l->depth};
    double  *at     = s.h;
    for (int i = 0; i < HOLO_COUNT(next); i++) *next[i] = at += size[i];
    s.length        = l->in[LENGTHS] ? holo_get_i(l->in[LENGTHS], s.entry) : l->times;
    s.memory_length = l->in[MEMORY_LENGTHS] ? holo_get_i(l->in[MEMORY_LENGTHS], s.entry) : l->steps;
    bool reverse    = s.direction == 1 || l->reverse;
    begin(&s);
    for (int64_t t = 0; t < s.length; t++) {
        int64_t time = reverse ? s.length - 1 - t : t;
        holo_read_f(l->in[X], (time * l->batch + s.entry) * l->inputs, 1, l->inputs, s.x);
        step(&s);
        if (t + 1 < s.length) attend(&s);
        int64_t to = ((time * l->directions + s.direction) * l->batch + s.entry) * l->hidden;
        if (l->y) holo_write_f(l->y, to, 1, l->hidden, s.h);
    }
    if (l->y_h) holo_write_f(l->y_h, number * l->hidden, 1, l->hidden, s.h);
    if (l->y_c) holo_write_f(l->y_c, number * l->hidden, 1, l->hidden, s.c);
}

// ---- all of them

static HoloStatus check_lengths(const Layer *l, const HoloCall *call, int input, int64_t most)
{
    for (int64_t b = 0; l->in[input] && b < l->batch; b++) {
        int64_t length = holo_get_i(l->in[input], b);
        if (length < 1 || length > most)
            return holo_call_fail(call, HOLO_BAD_INPUT, "a length is %lld, expected 1 to %lld", (long long)length,
                                  (long long)most);
    }
    return HOLO_OK;
}

static HoloStatus init(const HoloCall *call, Layer *l)
{
    static const char *const defaults[] = {"Sigmoid", "Tanh", "Tanh"};
    *l = (Layer){.y = holo_out(call, 0), .y_h = holo_out(call, 1), .y_c = holo_out(call, 2)};
    for (int i = 0; i < INPUTS; i++) l->in[i] = holo_in(call, i);
    const HoloTensor *x = l->in[X], *m = l->in[MEMORY];
    l->times        = x->dim[0];
    l->batch        = x->dim[1];
    l->inputs       = x->dim[2];
    l->hidden       = l->in[R]->dim[2];
    l->directions   = l->in[R]->dim[0];
    l->steps        = m->dim[1];
    l->depth        = m->dim[2];
    l->size         = l->in[V]->dim[1];
    l->attention    = l->in[LAYER_W] ? l->in[LAYER_W]->dim[2] : l->depth;
    l->reverse      = holo_attr_is(call, "direction", "forward", "reverse");
    l->input_forget = holo_attr_int(call, "input_forget", 0) == 1;
    l->clip         = holo_attr_float(call, "clip", 0);
    HOLO_TRY(holo_activations_read(call, l->directions, ACTIVATIONS, defaults, l->activation));
    HOLO_TRY(check_lengths(l, call, LENGTHS, l->times));
    return check_lengths(l, call, MEMORY_LENGTHS, l->steps);
}

static HoloStatus take_memory(const HoloCall *call, Layer *l)
{
    int64_t keys, sizes[] = {l->inputs, l->hidden, l->attention, l->depth, l->size, l->steps}, row = 0, all;
    void   *memory;
    for (int i = 0; i < HOLO_COUNT(sizes); i++) row += sizes[i]; // each is a size of a tensor in memory: they fit
    if (!holo_mul(l->steps, l->size, &keys) || !holo_add(keys, 8 * row, &l->room) ||
        !holo_mul(l->room, l->directions * l->batch, &all))
        return holo_fail_memory(call->error);
    HOLO_TRY(holo_call_temp(call, (size_t)all, sizeof(double), &memory));
    l->memory = memory;
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Layer l;
    HOLO_TRY(init(call, &l));
    HOLO_TRY(take_memory(call, &l));
    for (int i = 0; i < 3; i++) {
        HoloTensor *y = holo_out(call, i);
        if (y && y->data) memset(y->data, 0, holo_tensor_bytes(y)); // what is behind the end of a sequence
    }
    holo_spread(call, l.directions * l.batch, (double)l.times * (double)holo_tensor_count(l.in[W]), sequence, &l);
    return HOLO_OK;
}

const HoloOp holo_ops_attn_lstm[] = {
    {.name    = "AttnLSTM",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 3,
     .in_max  = INPUTS,
     .out_min = 0,
     .out_max = 3,
     .types   = HOLO_BIT(F32) | HOLO_BIT(F64),
     .infer   = infer,
     .eval    = eval},
    {0},
};
