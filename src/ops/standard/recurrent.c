// recurrent.c - RNN, GRU, LSTM and DynamicQuantizeLSTM: types, attributes and the loop over time. They differ in
// what one step does with the sums of its gates, which is a row of the table. Of the last the weights are integers
// with a scale, transposed; the inputs of all times, and the state of each, are rounded to 256 steps.
//
// The product with the inputs is made for all times at once; that with the state, step by step. States stay in
// double from step to step and are rounded only where they are written.
#include "ops/contract.h"
#include "ops/standard/fused_activation.h"

#include <math.h>
#include <string.h>

enum { X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES, W_SCALE, W_ZERO, R_SCALE, R_ZERO };
enum { ACTIVATIONS_MAX = 3 }; // a direction

typedef struct Layer Layer;

typedef struct CellKind {
    int         gates, activations;
    const char *defaults[ACTIVATIONS_MAX];
    bool        has_c;     // a second state
    bool        quantized; // W and R are integers, [directions][inputs or hidden][sums]
    void (*step)(Layer *l, const HoloCall *call);
} CellKind;

typedef struct Quantum { // 256 steps that cover some numbers and 0
    float scale, zero;
} Quantum;

struct Layer {
    const CellKind   *kind;
    const HoloTensor *x, *w, *r, *bias, *initial_h, *initial_c, *peepholes, *w_scale, *w_zero, *r_scale, *r_zero;
    int64_t           times, batch, inputs, hidden, directions, sums; // sums: gates * hidden
    bool              batch_first, linear_before_reset, input_forget;
    double            clip;                            // 0: none
    HoloActivationUse activation[2 * ACTIVATIONS_MAX]; // those of a direction beside each other
    int64_t          *length;                          // of each sequence

    // of the direction and the step at hand
    int64_t   direction;
    bool      reverse;
    int64_t   time;       // steps done
    Quantum   quantum;    // of x
    HoloCell *from_x;     // [times][batch][sums], with the bias of W
    HoloCell *weights;    // of the state: [hidden][sums]
    double   *state_bias; // of R, [sums]
    double   *peephole;   // [3][hidden]
    HoloCell *h, *c;      // states, [batch][hidden]
    HoloCell *reset;      // GRU: the state after the reset gate; quantized: the rounded state
    HoloCell *from_h;     // [batch][sums]
};

// ---- types

static HoloStatus count_directions(const HoloCall *call, int64_t *out)
{
    bool both = holo_attr_is(call, "direction", "forward", "bidirectional");
    *out      = both ? 2 : 1;
    if (!both && !holo_attr_is(call, "direction", "forward", "forward") &&
        !holo_attr_is(call, "direction", "forward", "reverse"))
        return holo_call_fail(call, HOLO_BAD_MODEL, "direction must be forward, reverse or bidirectional");
    return HOLO_OK;
}

static HoloStatus read_activations(const HoloCall *call, int64_t directions, Layer *l)
{
    const CellKind *kind = call->op->row;
    return holo_activations_read(call, directions, kind->activations, kind->defaults, l->activation);
}

// Quantized weights, and their scale and zero point: one for each direction, or one for each sum as well.
static HoloStatus check_weights(const HoloCall *call, int weights, int scale, HoloDim directions, HoloDim depth,
                                HoloDim sums)
{
    HOLO_TRY(holo_expect_types(call, weights, HOLO_BIT(I8) | HOLO_BIT(U8)));
    HOLO_TRY(holo_expect_shape(call, weights, 3, (HoloDim[]){directions, depth, sums}));
    for (int i = scale; i <= scale + 1; i++) {
        const HoloTensor *t = holo_in(call, i);
        if (!t) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        HOLO_TRY(holo_expect_types(call, i, i == scale ? HOLO_BIT(F32) : UINT64_C(1) << call->in[weights]->dtype));
        HOLO_TRY(holo_expect_shape(call, i, t->rank == 2 ? 2 : 1, (HoloDim[]){directions, sums}));
    }
    return HOLO_OK;
}

static HoloStatus check_inputs(const HoloCall *call, bool batch_first, HoloDim batch, HoloDim hidden,
                               int64_t directions)
{
    const CellKind *kind = call->op->row;
    HoloDim         sums = holo_dim_mul(call->dims, hidden, kind->gates), first = batch_first ? batch : directions;
    HoloDim         second = batch_first ? directions : batch;
    uint64_t        same   = UINT64_C(1) << call->in[X]->dtype;
    for (int i = BIAS; i <= PEEPHOLES; i++) HOLO_TRY(holo_expect_types(call, i, i == LENGTHS ? HOLO_BIT(I32) : same));
    if (kind->quantized) {
        HOLO_TRY(check_weights(call, W, W_SCALE, directions, call->in[X]->dim[2], sums));
        HOLO_TRY(check_weights(call, R, R_SCALE, directions, hidden, sums));
    } else {
        HOLO_TRY(holo_expect_types(call, W, same));
        HOLO_TRY(holo_expect_types(call, R, same));
        HOLO_TRY(holo_expect_shape(call, W, 3, (HoloDim[]){directions, sums, call->in[X]->dim[2]}));
        HOLO_TRY(holo_expect_shape(call, R, 3, (HoloDim[]){directions, sums, hidden}));
    }
    HOLO_TRY(holo_expect_shape(call, BIAS, 2, (HoloDim[]){directions, holo_dim_mul(call->dims, sums, 2)}));
    HOLO_TRY(holo_expect_shape(call, LENGTHS, 1, (HoloDim[]){batch}));
    HOLO_TRY(holo_expect_shape(call, INITIAL_H, 3, (HoloDim[]){first, second, hidden}));
    HOLO_TRY(holo_expect_shape(call, INITIAL_C, 3, (HoloDim[]){first, second, hidden}));
    return holo_expect_shape(call, PEEPHOLES, 2, (HoloDim[]){directions, holo_dim_mul(call->dims, hidden, 3)});
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[X];
    Layer             l;
    int64_t           directions;
    HOLO_TRY(holo_expect_rank(call, X, 3, 3));
    HOLO_TRY(holo_expect_rank(call, R, 3, 3));
    HOLO_TRY(count_directions(call, &directions));
    HOLO_TRY(read_activations(call, directions, &l));
    bool    batch_first = holo_attr_int(call, "layout", 0) != 0;
    HoloDim hidden =
        holo_attr_int(call, "hidden_size", call->in[R]->dim[((const CellKind *)call->op->row)->quantized ? 1 : 2]);
    HoloDim   times = x->dim[batch_first ? 1 : 0], batch = x->dim[batch_first ? 0 : 1];
    HoloDtype dtype = (HoloDtype)x->dtype;
    if (!holo_dim_is_symbolic(hidden) && (hidden < 1 || hidden > INT32_MAX))
        return holo_call_fail(call, HOLO_BAD_MODEL, "hidden_size is %lld", (long long)hidden);
    HOLO_TRY(check_inputs(call, batch_first, batch, hidden, directions));
    HoloDim y[] = {times, directions, batch, hidden}, y_first[] = {batch, times, directions, hidden};
    HoloDim last[] = {directions, batch, hidden}, last_first[] = {batch, directions, hidden};
    HOLO_TRY(holo_out_type(call, 0, dtype, 4, batch_first ? y_first : y));
    HOLO_TRY(holo_out_type(call, 1, dtype, 3, batch_first ? last_first : last));
    return holo_out_type(call, 2, dtype, 3, batch_first ? last_first : last);
}

// ---- quantized

static Quantum quantum_of(double low, double high)
{
    float scale = (float)(high - low) / 255;
    if (scale == 0) scale = 1;
    float at = nearbyintf(-(float)low / scale);
    return (Quantum){scale, at > 255 ? 255 : at > 0 ? at : 0};
}

static void widen(const HoloCell *x, int64_t count, double *low, double *high)
{
    for (int64_t j = 0; j < count; j++) {
        *low  = fmin(*low, x[j].f);
        *high = fmax(*high, x[j].f);
    }
}

static void round_to(Quantum q, int64_t count, HoloCell *x)
{
    for (int64_t j = 0; j < count; j++) {
        float step = nearbyintf((float)x[j].f / q.scale) + q.zero;
        step       = step > 255 ? 255 : step > 0 ? step : 0;
        x[j].f     = (double)(step - q.zero) * q.scale;
    }
}

// Of the inputs up to the end of the longest sequence.
static Quantum quantum_of_x(const Layer *l)
{
    double  low = 0, high = 0;
    int64_t longest = 0;
    for (int64_t b = 0; b < l->batch; b++) longest = l->length[b] > longest ? l->length[b] : longest;
    for (int64_t k = 0, count = longest * l->batch * l->inputs; k < count; k += HOLO_TILE) {
        HoloCell x[HOLO_TILE];
        int64_t  run = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        holo_read_f(l->x, k, 1, run, &x->f);
        widen(x, run, &low, &high);
    }
    return quantum_of(low, high);
}

// The weights of this direction from k, col on, as real numbers; `depth` is the number of k.
static void read_weights(const Layer *l, const HoloTensor *w, const HoloTensor *scale, const HoloTensor *zero,
                         int64_t depth, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    holo_read_f(w, (l->direction * depth + k) * l->sums + col, 1, count, &out->f);
    for (int64_t j = 0; j < count; j++) {
        int64_t at = scale->rank == 2 ? l->direction * l->sums + col + j : l->direction;
        int64_t to = zero->rank == 2 ? l->direction * l->sums + col + j : l->direction;
        out[j].f   = (out[j].f - holo_get_f(zero, to)) * holo_get_f(scale, at);
    }
}

static const HoloCell *rounded_state(Layer *l)
{
    int64_t count = l->batch * l->hidden;
    double  low = 0, high = 0;
    if (!l->kind->quantized) return l->h;
    widen(l->h, count, &low, &high);
    memcpy(l->reset, l->h, (size_t)count * sizeof *l->h);
    round_to(quantum_of(low, high), count, l->reset);
    return l->reset;
}

// ---- products

// x times the transposed W of this direction, all times and sequences; the biases are added behind it.
static void read_x(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    (void)batch;
    const Layer *l    = c->arg;
    int64_t      time = row / l->batch, b = row % l->batch;
    int64_t      line = l->batch_first ? b * l->times + time : row;
    holo_read_f(l->x, line * l->inputs + k, 1, count, &out->f);
    if (l->kind->quantized) round_to(l->quantum, count, out);
}

static void read_w(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    (void)batch;
    const Layer *l = c->arg;
    if (l->kind->quantized)
        read_weights(l, l->w, l->w_scale, l->w_zero, l->inputs, k, col, count, out);
    else
        holo_read_f(l->w, (l->direction * l->sums + col) * l->inputs + k, l->inputs, count, &out->f);
}

static void add_bias(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    (void)batch, (void)row;
    const Layer *l = c->arg;
    double       bias[HOLO_CONTRACT_COLS];
    if (!l->bias) return;
    holo_read_f(l->bias, l->direction * 2 * l->sums + col, 1, count, bias);
    for (int64_t j = 0; j < count; j++) sums[j].f += bias[j];
}

typedef struct StateProduct {
    const HoloCell *state, *weights; // [batch][hidden], [hidden][stride]
    int64_t         hidden, stride;
} StateProduct;

static void read_state(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    (void)batch;
    const StateProduct *p = c->arg;
    memcpy(out, p->state + row * p->hidden + k, (size_t)count * sizeof *out);
}

static void read_state_weights(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count,
                               HoloCell *out)
{
    (void)batch;
    const StateProduct *p = c->arg;
    memcpy(out, p->weights + k * p->stride + col, (size_t)count * sizeof *out);
}

// from_h = state times the weights of the gates first .. first + gates - 1, [batch][gates * hidden].
static void multiply_state(const Layer *l, const HoloCall *call, const HoloCell *state, int first, int gates)
{
    StateProduct p = {
        .state = state, .weights = l->weights + first * l->hidden, .hidden = l->hidden, .stride = l->sums};
    HoloContract c = {.batch = 1,
                      .rows  = l->batch,
                      .cols  = gates * l->hidden,
                      .depth = l->hidden,
                      .a     = read_state,
                      .b     = read_state_weights,
                      .arg   = &p,
                      .cells = l->from_h};
    holo_contract(call, &c);
}

// ---- steps

// The time step at which sequence b is; -1: it has ended.
static int64_t time_of(const Layer *l, int64_t b)
{
    if (l->time >= l->length[b]) return -1;
    return l->reverse ? l->length[b] - 1 - l->time : l->time;
}

static double activate(const Layer *l, int which, double x)
{
    const HoloActivationUse *a = &l->activation[l->direction * l->kind->activations + which];
    if (l->clip > 0) x = x > l->clip ? l->clip : x < -l->clip ? -l->clip : x;
    return holo_activate(a, x);
}

static void step_rnn(Layer *l, const HoloCall *call)
{
    multiply_state(l, call, l->h, 0, 1);
    for (int64_t b = 0; b < l->batch; b++) {
        int64_t time = time_of(l, b);
        if (time < 0) continue;
        const HoloCell *x = l->from_x + (time * l->batch + b) * l->sums, *s = l->from_h + b * l->sums;
        for (int64_t j = 0; j < l->hidden; j++)
            l->h[b * l->hidden + j].f = activate(l, 0, x[j].f + s[j].f + l->state_bias[j]);
    }
}

// The gates z and r, into from_h; and the state behind the reset gate.
static void reset_gru(Layer *l, int64_t stride)
{
    int64_t n = l->hidden;
    for (int64_t b = 0; b < l->batch; b++) {
        int64_t time = time_of(l, b);
        if (time < 0) continue;
        const HoloCell *x = l->from_x + (time * l->batch + b) * l->sums;
        HoloCell       *s = l->from_h + b * stride;
        for (int64_t j = 0; j < 2 * n; j++) s[j].f = activate(l, 0, x[j].f + s[j].f + l->state_bias[j]);
        for (int64_t j = 0; j < n; j++) l->reset[b * n + j].f = s[n + j].f * l->h[b * n + j].f;
    }
}

static void step_gru(Layer *l, const HoloCall *call)
{
    int64_t   n = l->hidden, stride = l->linear_before_reset ? 3 * n : 2 * n;
    HoloCell *gates = l->from_h;
    multiply_state(l, call, l->h, 0, l->linear_before_reset ? 3 : 2);
    reset_gru(l, stride);
    if (!l->linear_before_reset) { // the candidate's product needs the reset gate
        l->from_h = gates + l->batch * stride;
        multiply_state(l, call, l->reset, 2, 1);
    }
    for (int64_t b = 0; b < l->batch; b++) {
        int64_t time = time_of(l, b);
        if (time < 0) continue;
        const HoloCell *x = l->from_x + (time * l->batch + b) * l->sums + 2 * n, *s = gates + b * stride;
        for (int64_t j = 0; j < n; j++) {
            double bias = l->state_bias[2 * n + j], z = s[j].f, *h = &l->h[b * n + j].f;
            double sum = l->linear_before_reset ? s[n + j].f * (s[2 * n + j].f + bias) : l->from_h[b * n + j].f + bias;
            *h         = (1 - z) * activate(l, 1, x[j].f + sum) + z * *h;
        }
    }
    l->from_h = gates;
}

// What a gate adds for the cell; nothing without peepholes, even where the cell is infinite.
static double peep(const Layer *l, int64_t at, double cell)
{
    return l->peepholes ? l->peephole[at] * cell : 0;
}

static void step_lstm(Layer *l, const HoloCall *call)
{
    int64_t n = l->hidden;
    multiply_state(l, call, rounded_state(l), 0, 4);
    for (int64_t b = 0; b < l->batch; b++) {
        int64_t time = time_of(l, b);
        if (time < 0) continue;
        const HoloCell *x = l->from_x + (time * l->batch + b) * l->sums, *s = l->from_h + b * l->sums;
        for (int64_t j = 0; j < n; j++) {
            double sum[4], *c = &l->c[b * n + j].f; // gates in the order input, output, forget, cell
            for (int g = 0; g < 4; g++) sum[g] = x[g * n + j].f + s[g * n + j].f + l->state_bias[g * n + j];
            double in         = activate(l, 0, sum[0] + peep(l, j, *c));
            double forget     = l->input_forget ? 1 - in : activate(l, 0, sum[2] + peep(l, 2 * n + j, *c));
            *c                = forget * *c + in * activate(l, 1, sum[3]);
            double out        = activate(l, 0, sum[1] + peep(l, n + j, *c));
            l->h[b * n + j].f = out * holo_activate(&l->activation[l->direction * l->kind->activations + 2], *c);
        }
    }
}

// ---- the loop over time

static HoloStatus take_cells(const HoloCall *call, int64_t a, int64_t b, HoloCell **out)
{
    void   *memory;
    int64_t count;
    if (!holo_mul(a, b, &count)) return holo_call_fail(call, HOLO_NO_MEMORY, "the layer is too large");
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(HoloCell), &memory));
    *out = memory;
    return HOLO_OK;
}

static HoloStatus take_memory(const HoloCall *call, Layer *l)
{
    HoloCell *cells;
    int64_t   rows;
    if (!holo_mul(l->times, l->batch, &rows)) return holo_call_fail(call, HOLO_NO_MEMORY, "the sequences are too long");
    HOLO_TRY(take_cells(call, rows, l->sums, &l->from_x));
    HOLO_TRY(take_cells(call, l->hidden, l->sums, &l->weights));
    HOLO_TRY(take_cells(call, l->batch, l->hidden, &l->h));
    HOLO_TRY(take_cells(call, l->batch, l->hidden, &l->c));
    HOLO_TRY(take_cells(call, l->batch, l->hidden, &l->reset));
    HOLO_TRY(take_cells(call, l->batch, l->sums, &l->from_h));
    HOLO_TRY(take_cells(call, 1, l->sums, &cells));
    l->state_bias = &cells->f;
    HOLO_TRY(take_cells(call, 3, l->hidden, &cells));
    l->peephole = &cells->f;
    HOLO_TRY(take_cells(call, 1, l->batch, &cells));
    l->length = &cells->i;
    return HOLO_OK;
}

static HoloStatus read_lengths(const HoloCall *call, Layer *l)
{
    const HoloTensor *lengths = holo_in(call, LENGTHS);
    for (int64_t b = 0; b < l->batch; b++) {
        l->length[b] = lengths ? holo_get_i(lengths, b) : l->times;
        if (l->length[b] < 0 || l->length[b] > l->times)
            return holo_call_fail(call, HOLO_BAD_INPUT, "sequence %lld has length %lld, expected 0 to %lld",
                                  (long long)b, (long long)l->length[b], (long long)l->times);
    }
    return HOLO_OK;
}

// Where the state of sequence b lies in initial_h, Y_h and their like.
static int64_t state_at(const Layer *l, int64_t b)
{
    return (l->batch_first ? b * l->directions + l->direction : l->direction * l->batch + b) * l->hidden;
}

static void read_state_of(const Layer *l, const HoloTensor *from, HoloCell *to)
{
    for (int64_t b = 0; b < l->batch; b++)
        if (from)
            holo_read_f(from, state_at(l, b), 1, l->hidden, &to[b * l->hidden].f);
        else
            memset(to + b * l->hidden, 0, (size_t)l->hidden * sizeof *to);
}

static void start_direction(const HoloCall *call, Layer *l)
{
    HoloContract c = {.batch  = 1,
                      .rows   = l->times * l->batch,
                      .cols   = l->sums,
                      .depth  = l->inputs,
                      .a      = read_x,
                      .b      = read_w,
                      .finish = add_bias,
                      .arg    = l,
                      .cells  = l->from_x};
    holo_contract(call, &c);
    for (int64_t k = 0; k < l->hidden; k++)
        if (l->kind->quantized)
            read_weights(l, l->r, l->r_scale, l->r_zero, l->hidden, k, 0, l->sums, &l->weights[k * l->sums]);
        else
            holo_read_f(l->r, l->direction * l->sums * l->hidden + k, l->hidden, l->sums, &l->weights[k * l->sums].f);
    if (l->bias) holo_read_f(l->bias, (l->direction * 2 + 1) * l->sums, 1, l->sums, l->state_bias);
    if (l->peepholes) holo_read_f(l->peepholes, l->direction * 3 * l->hidden, 1, 3 * l->hidden, l->peephole);
    read_state_of(l, l->initial_h, l->h);
    read_state_of(l, l->initial_c, l->c);
}

static void write_time(const Layer *l, HoloTensor *y)
{
    for (int64_t b = 0; y && b < l->batch; b++) {
        int64_t time = time_of(l, b);
        if (time < 0) continue;
        int64_t line = l->batch_first ? (b * l->times + time) * l->directions + l->direction
                                      : (time * l->directions + l->direction) * l->batch + b;
        holo_write_f(y, line * l->hidden, 1, l->hidden, &l->h[b * l->hidden].f);
    }
}

static void write_states(const Layer *l, HoloTensor *y, const HoloCell *state)
{
    for (int64_t b = 0; y && b < l->batch; b++) holo_write_f(y, state_at(l, b), 1, l->hidden, &state[b * l->hidden].f);
}

static HoloStatus init(const HoloCall *call, Layer *l)
{
    *l = (Layer){.kind      = call->op->row,
                 .x         = call->in[X],
                 .w         = call->in[W],
                 .r         = call->in[R],
                 .bias      = holo_in(call, BIAS),
                 .initial_h = holo_in(call, INITIAL_H),
                 .initial_c = holo_in(call, INITIAL_C),
                 .peepholes = holo_in(call, PEEPHOLES),
                 .w_scale   = holo_in(call, W_SCALE),
                 .w_zero    = holo_in(call, W_ZERO),
                 .r_scale   = holo_in(call, R_SCALE),
                 .r_zero    = holo_in(call, R_ZERO)};
    HOLO_TRY(count_directions(call, &l->directions));
    HOLO_TRY(read_activations(call, l->directions, l));
    l->batch_first         = holo_attr_int(call, "layout", 0) != 0;
    l->linear_before_reset = holo_attr_int(call, "linear_before_reset", 0) != 0;
    l->input_forget        = holo_attr_int(call, "input_forget", 0) != 0;
    l->clip                = holo_attr_float(call, "clip", 0);
    l->times               = l->x->dim[l->batch_first ? 1 : 0];
    l->batch               = l->x->dim[l->batch_first ? 0 : 1];
    l->inputs              = l->x->dim[2];
    l->hidden              = l->r->dim[l->kind->quantized ? 1 : 2];
    l->sums                = l->kind->gates * l->hidden;
    HOLO_TRY(take_memory(call, l));
    HOLO_TRY(read_lengths(call, l));
    if (l->kind->quantized) l->quantum = quantum_of_x(l);
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    HoloTensor *y = holo_out(call, 0);
    Layer       l;
    HOLO_TRY(init(call, &l));
    if (y && holo_tensor_bytes(y)) // what is behind the end of a sequence is 0
        memset(y->data, 0, holo_tensor_bytes(y));
    for (l.direction = 0; l.direction < l.directions; l.direction++) {
        l.reverse = l.direction == 1 || holo_attr_is(call, "direction", "forward", "reverse");
        start_direction(call, &l);
        for (l.time = 0; l.time < l.times && !holo_call_is_over(call); l.time++) {
            l.kind->step(&l, call);
            write_time(&l, y);
        }
        write_states(&l, holo_out(call, 1), l.h);
        write_states(&l, l.kind->has_c ? holo_out(call, 2) : NULL, l.c);
    }
    return HOLO_OK;
}

static const CellKind rnn       = {1, 1, {"Tanh"}, false, false, step_rnn};
static const CellKind gru       = {3, 2, {"Sigmoid", "Tanh"}, false, false, step_gru};
static const CellKind lstm      = {4, 3, {"Sigmoid", "Tanh", "Tanh"}, true, false, step_lstm};
static const CellKind quantized = {4, 3, {"Sigmoid", "Tanh", "Tanh"}, true, true, step_lstm};

#define ROW .domain = "", .since = 1, .in_min = 3, .types = HOLO_TYPES_FLOAT, .infer = infer, .eval = eval

const HoloOp holo_ops_recurrent[] = {
    {.name = "RNN", .in_max = 6, .out_min = 0, .out_max = 2, ROW, .row = &rnn},
    {.name = "GRU", .in_max = 6, .out_min = 0, .out_max = 2, ROW, .row = &gru},
    {.name = "LSTM", .in_max = 8, .out_min = 0, .out_max = 3, ROW, .row = &lstm},
    {.name    = "DynamicQuantizeLSTM",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 12,
     .out_min = 0,
     .out_max = 3,
     .types   = HOLO_BIT(F32),
     .infer   = infer,
     .eval    = eval,
     .row     = &quantized},
    {0},
};
