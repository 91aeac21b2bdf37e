// causal_conv.c - CausalConvWithState: each channel is convolved with its own kernel, which only looks back. The second
// output is the state that the next call needs.
#include "ops/functions.h"
#include "ops/spread.h"
#include "ops/standard/attention.h"

enum { X, WEIGHT, BIAS, PAST }; // inputs

typedef struct Sizes {
    HoloDim batch, channels, length, kernel, state; // state is what is remembered: kernel - 1
} Sizes;

static HoloStatus find_sizes(const HoloCall *call, Sizes *s)
{
    const HoloTensor *x = call->in[X], *weight = call->in[WEIGHT], *bias = holo_in(call, BIAS),
                     *past = holo_in(call, PAST);
    HoloDim same;
    for (int i = 0; i < call->in_count; i++) HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << x->dtype));
    if (!weight) return holo_call_fail(call, HOLO_BAD_MODEL, "the weight is missing");
    HOLO_TRY(holo_expect_rank(call, X, 3, 3));
    HOLO_TRY(holo_expect_rank(call, WEIGHT, 3, 3));
    HOLO_TRY(holo_expect_rank(call, BIAS, 1, 1));
    HOLO_TRY(holo_expect_rank(call, PAST, 3, 3));
    *s = (Sizes){x->dim[0], x->dim[1], x->dim[2], weight->dim[2], 0};
    HOLO_TRY(holo_agree(call, "channels of weight and input", weight->dim[0], s->channels, &s->channels));
    HOLO_TRY(holo_agree(call, "middle size of the weight and 1", weight->dim[1], 1, &same));
    if (s->kernel <= 0 && !holo_dim_is_symbolic(s->kernel))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the kernel is empty");
    s->state = holo_dim_sub(call->dims, s->kernel, 1);
    if (bias) HOLO_TRY(holo_agree(call, "channels of bias and input", bias->dim[0], s->channels, &s->channels));
    if (!past) return HOLO_OK;
    HOLO_TRY(holo_agree(call, "batch of past_state and input", past->dim[0], s->batch, &s->batch));
    HOLO_TRY(holo_agree(call, "channels of past_state and input", past->dim[1], s->channels, &s->channels));
    return holo_agree(call, "length of past_state and of the kernel less 1", past->dim[2], s->state, &s->state);
}

static bool is_smooth(const HoloCall *call)
{
    return holo_attr_is(call, "activation", "none", "silu") || holo_attr_is(call, "activation", "none", "swish");
}

static HoloStatus infer(HoloCall *call)
{
    Sizes s;
    HOLO_TRY(find_sizes(call, &s));
    if (holo_attr_int(call, "ndim", 1) != 1 || holo_attr_int(call, "state_window", 0) != 0)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "ndim other than 1, or a state_window");
    if (!is_smooth(call) && !holo_attr_is(call, "activation", "none", "none"))
        return holo_call_fail(call, HOLO_BAD_MODEL, "activation is not none, silu or swish");
    HoloDim state[3] = {s.batch, s.channels, s.state};
    HOLO_TRY(holo_infer_same(call));
    return holo_out_type(call, 1, (HoloDtype)call->in[X]->dtype, 3, state);
}

typedef struct Work {
    const HoloCall *call;
    Sizes           s;
    double         *memory; // for each row: what came before and the row itself, then the kernel
    int64_t         each;
    bool            smooth;
} Work;

static void run_row(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Work       *w    = arg;
    const HoloTensor *bias = holo_in(w->call, BIAS), *past = holo_in(w->call, PAST);
    HoloTensor       *y = holo_out(w->call, 0), *present = holo_out(w->call, 1);
    int64_t           state = w->s.state, length = w->s.length, channel = i % w->s.channels;
    double           *x = w->memory + i * w->each, *kernel = x + state + length;
    if (past) holo_read_f(past, i * state, 1, state, x);
    holo_read_f(w->call->in[X], i * length, 1, length, x + state);
    holo_read_f(w->call->in[WEIGHT], channel * w->s.kernel, 1, w->s.kernel, kernel);
    if (present) holo_write_f(present, i * state, 1, state, x + length);
    double shift = bias ? holo_get_f(bias, channel) : 0;
    for (int64_t t = 0; t < length; t++) { // x[t] is not read again
        double sum = shift;
        for (int64_t k = 0; k < w->s.kernel; k++) sum += x[t + k] * kernel[k];
        x[t] = w->smooth ? holo_silu(sum) : sum;
    }
    if (y) holo_write_f(y, i * length, 1, length, x);
}

static HoloStatus eval(HoloCall *call)
{
    Work  w = {.call = call, .smooth = is_smooth(call)};
    void *memory;
    if (!holo_is_wanted(holo_out(call, 0)) && !holo_is_wanted(holo_out(call, 1))) return HOLO_OK;
    HOLO_TRY(find_sizes(call, &w.s));
    int64_t rows = w.s.batch * w.s.channels, count;
    if (!holo_add(w.s.state + w.s.kernel, w.s.length, &w.each) || !holo_mul(rows, w.each, &count))
        return holo_fail_memory(call->error);
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(double), &memory));
    w.memory = memory;
    holo_spread(call, rows, (double)rows * (double)w.s.length * (double)w.s.kernel, run_row, &w);
    return HOLO_OK;
}

#define ROW                                                                                                         \
    .name = "CausalConvWithState", .in_min = 2, .in_max = 4, .out_min = 1, .out_max = 2, .types = HOLO_TYPES_FLOAT, \
    .infer = infer, .eval = eval

const HoloOp holo_ops_causal_conv[] = {
    {.domain = "", .since = 27, ROW},
    {.domain = "com.microsoft", .since = 1, ROW},
    {0},
};
