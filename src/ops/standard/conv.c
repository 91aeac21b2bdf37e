// conv.c - Conv over any number of spatial dimensions, FusedConv and NhwcFusedConv, and what all convolutions share.
#include "ops/standard/conv.h"
#include "ops/channels_last.h"
#include "ops/spread.h"

#include <math.h>

static HoloStatus check_channels(const HoloCall *call, int x, int w, int bias, bool transposed)
{
    const HoloTensor *tx = call->in[x], *tw = call->in[w], *tb = bias < 0 ? NULL : holo_in(call, bias);
    int64_t           group = holo_attr_int(call, "group", 1);
    HOLO_TRY(holo_expect_rank(call, x, 3, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_rank(call, w, tx->rank, tx->rank));
    if (group < 1 || group > INT32_MAX) return holo_call_fail(call, HOLO_BAD_MODEL, "group is %lld", (long long)group);
    HoloDim want = transposed ? tw->dim[0] : holo_dim_mul(call->dims, tw->dim[1], group);
    if (holo_dims_differ(tx->dim[1], want))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the input has %lld channels, but the weights are for %lld",
                              (long long)tx->dim[1], (long long)want);
    HoloDim many = tw->dim[0]; // inputs channels when transposed, outputs channels else: both split into groups
    if (!holo_dim_is_symbolic(many) && many % group)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld channels do not split into %lld groups", (long long)many,
                              (long long)group);
    HoloDim outs = transposed ? holo_dim_mul(call->dims, tw->dim[1], group) : tw->dim[0];
    if (tb && (tb->rank != 1 || holo_dims_differ(tb->dim[0], outs)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the bias must have one entry for each of %lld channels",
                              (long long)outs);
    return HOLO_OK;
}

static HoloStatus init_window(const HoloCall *call, int x, int w, bool transposed, HoloWindow *out)
{
    const HoloTensor *tx = call->in[x], *tw = call->in[w];
    if (transposed) return holo_window_init_transposed(call, tx->rank - 2, tx->dim + 2, tw->dim + 2, out);
    return holo_window_init(call, tx->rank - 2, tx->dim + 2, tw->dim + 2, false, out);
}

HoloStatus holo_conv_infer(HoloCall *call, int x, int w, int bias, bool transposed, HoloDtype dtype)
{
    HoloWindow window;
    HoloDim    dim[HOLO_MAX_RANK];
    HOLO_TRY(check_channels(call, x, w, bias, transposed));
    HOLO_TRY(init_window(call, x, w, transposed, &window));
    const HoloTensor *tw = call->in[w];
    dim[0]               = call->in[x]->dim[0];
    dim[1] = transposed ? holo_dim_mul(call->dims, tw->dim[1], holo_attr_int(call, "group", 1)) : tw->dim[0];
    for (int d = 0; d < window.rank; d++) dim[2 + d] = window.out[d];
    return holo_out_type(call, 0, dtype, window.rank + 2, dim);
}

// ---- the sum of products

static void shift_weights(const HoloConv *v, int64_t channel, int64_t count, HoloCell *out)
{
    if (!v->w_zero) return;
    double zero = holo_get_f(v->w_zero, holo_tensor_count(v->w_zero) == 1 ? 0 : channel);
    for (int64_t p = 0; p < count; p++) out[p].f -= zero;
}

static void read_weights(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    const HoloConv *v       = c->arg;
    int64_t         channel = batch % v->group * v->out + row;
    holo_read_f(v->w, channel * c->depth + k, 1, count, &out->f);
    shift_weights(v, channel, count, out);
}

// Weights of a transposed convolution lie [in][out][taps].
static void read_weights_transposed(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count,
                                    HoloCell *out)
{
    const HoloConv *v     = c->arg;
    int64_t         group = batch % v->group;
    while (count > 0) {
        int64_t in = k / v->taps, tap = k % v->taps, run = v->taps - tap < count ? v->taps - tap : count;
        holo_read_f(v->w, ((group * v->in + in) * v->out + row) * v->taps + tap, 1, run, &out->f);
        out += run;
        k += run;
        count -= run;
    }
}

static void read_inputs(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    const HoloConv *v     = c->arg;
    int64_t         plane = (batch * v->in + k / v->taps) * v->ins;
    holo_window_read(&v->window, v->x, plane, 1, k % v->taps, col, count, v->x_zero, &out->f);
    if (v->x_zero != 0)
        for (int64_t j = 0; j < count; j++) out[j].f -= v->x_zero;
}

static void finish(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    const HoloConv *v                       = c->arg;
    double          bias                    = v->bias ? holo_get_f(v->bias, batch % v->group * v->out + row) : 0;
    double          sum[HOLO_CONTRACT_COLS] = {0};
    if (v->sum) holo_read_f(v->sum, (batch * c->rows + row) * c->cols + col, 1, count, sum);
    for (int64_t j = 0; j < count; j++) {
        double x  = sums[j].f + bias + sum[j];
        sums[j].f = v->activation ? v->activation->f(x, v->alpha, v->beta) : x;
    }
}

HoloStatus holo_conv_init(const HoloCall *call, int x, int w, int bias, bool transposed, HoloConv *out)
{
    *out = (HoloConv){.x = call->in[x], .w = call->in[w], .bias = bias < 0 ? NULL : holo_in(call, bias)};
    HOLO_TRY(init_window(call, x, w, transposed, &out->window));
    out->group    = holo_attr_int(call, "group", 1);
    out->in       = out->x->dim[1] / out->group;
    out->out      = transposed ? out->w->dim[1] : out->w->dim[0] / out->group;
    out->taps     = holo_window_taps(&out->window);
    out->ins      = holo_window_ins(&out->window);
    out->contract = (HoloContract){
        .batch  = out->x->dim[0] * out->group,
        .rows   = out->out,
        .cols   = holo_window_outs(&out->window),
        .depth  = out->in * out->taps,
        .a      = transposed ? read_weights_transposed : read_weights,
        .b      = read_inputs,
        .finish = finish,
        .arg    = out,
        .out    = call->out[0],
    };
    return HOLO_OK;
}

// ---- Conv and FusedConv

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *sum = holo_in(call, 3), *out = holo_out(call, 0);
    uint64_t          same = UINT64_C(1) << x->dtype;
    for (int i = 1; i < 4; i++) HOLO_TRY(holo_expect_types(call, i, same));
    HOLO_TRY(holo_conv_infer(call, 0, 1, 2, false, (HoloDtype)x->dtype));
    for (int d = 0; sum && out && d < out->rank; d++)
        if (sum->rank != out->rank || holo_dims_differ(sum->dim[d], out->dim[d]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the tensor to be added differs in shape from the output");
    if (holo_attr_find(call, "activation") && !holo_activation_find(holo_attr_string(call, "activation", "")))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "the activation is not known");
    return HOLO_OK;
}

static HoloStatus prepare(const HoloCall *call, HoloConv *v)
{
    HOLO_TRY(holo_conv_init(call, 0, 1, 2, false, v));
    const HoloAttr *params = holo_attr_find(call, "activation_params");
    bool            given  = params && params->kind == HOLO_ATTR_FLOATS;
    v->sum                 = holo_in(call, 3);
    v->activation          = holo_activation_find(holo_attr_string(call, "activation", ""));
    if (v->activation) {
        v->alpha = given && params->count > 0 ? params->floats[0] : v->activation->alpha;
        v->beta  = given && params->count > 1 ? params->floats[1] : v->activation->beta;
    }
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    HoloConv v;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(prepare(call, &v));
    holo_contract(call, &v.contract);
    return HOLO_OK;
}

static double at(const HoloCall *call, int64_t index)
{
    HoloConv v;
    return prepare(call, &v) ? NAN : holo_contract_at(&v.contract, index);
}

// ---- NhwcFusedConv: x and what is added have their channels last, the weights not

enum { TURNED = 1 << 0 | 1 << 3 };

static HoloStatus infer_last(HoloCall *call)
{
    return holo_channels_last_infer(call, TURNED, infer);
}

static HoloStatus eval_last(HoloCall *call)
{
    return holo_channels_last_eval(call, TURNED, infer, eval);
}

#define ROW                                                                                                       \
    .since = 1, .in_min = 2, .out_min = 1, .out_max = 1, .types = HOLO_TYPES_FLOAT, .infer = infer, .eval = eval, \
    .at = at

const HoloOp holo_ops_conv[] = {
    {.name = "Conv", .domain = "", .in_max = 3, ROW},
    {.name = "FusedConv", .domain = "com.microsoft", .in_max = 4, ROW},
    {.name    = "NhwcFusedConv",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer_last,
     .eval    = eval_last},
    {0},
};
