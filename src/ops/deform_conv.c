// deform_conv.c - DeformConv: a convolution whose taps are moved by offsets that are data, and read between
// elements by linear interpolation. What lies outside is 0.
#include "ops/conv.h"
#include "ops/spread.h"

#include <math.h>

enum { X, W, OFFSET, BIAS, MASK };

typedef struct DeformConv {
    HoloConv          conv;
    const HoloTensor *offset, *mask; // [batch][offset group][tap][dimension][output], and without dimension
    int64_t           groups;        // of offsets
    int64_t           outs;
    int64_t           stride[HOLO_MAX_SPATIAL];
} DeformConv;

// Offsets and masks have `channels` channels and the spatial size of the output.
static HoloStatus check_maps(const HoloCall *call, int input, HoloDim channels, HoloDim batch, const HoloWindow *w)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t) return HOLO_OK;
    HOLO_TRY(holo_expect_types(call, input, UINT64_C(1) << call->in[X]->dtype));
    HOLO_TRY(holo_expect_rank(call, input, w->rank + 2, w->rank + 2));
    for (int d = 0; d < t->rank; d++) {
        HoloDim want = d == 0 ? batch : d == 1 ? channels : w->out[d - 2];
        if (t->dim[d] != want && !holo_dim_is_symbolic(t->dim[d]) && !holo_dim_is_symbolic(want))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has size %lld in dimension %d, expected %lld", input,
                                  (long long)t->dim[d], d, (long long)want);
    }
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[X], *w = call->in[W];
    int64_t           groups = holo_attr_int(call, "offset_group", 1);
    HoloWindow        window;
    HOLO_TRY(holo_expect_types(call, W, UINT64_C(1) << x->dtype));
    HOLO_TRY(holo_expect_types(call, BIAS, UINT64_C(1) << x->dtype));
    HOLO_TRY(holo_conv_infer(call, X, W, BIAS, false, (HoloDtype)x->dtype));
    if (groups < 1 || groups > INT32_MAX || (!holo_dim_is_symbolic(x->dim[1]) && x->dim[1] % groups))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the channels do not split into %lld offset groups",
                              (long long)groups);
    HOLO_TRY(holo_window_init(call, x->rank - 2, x->dim + 2, w->dim + 2, false, &window));
    HoloDim taps = groups;
    for (int d = 0; d < window.rank; d++) taps = holo_dim_mul(call->dims, taps, window.kernel[d]);
    HOLO_TRY(check_maps(call, OFFSET, holo_dim_mul(call->dims, taps, window.rank), x->dim[0], &window));
    return check_maps(call, MASK, taps, x->dim[0], &window);
}

// The value at a place between elements of one plane.
static double interpolate(const DeformConv *v, int64_t plane, const double *place)
{
    const HoloWindow *w = &v->conv.window;
    int64_t           low[HOLO_MAX_SPATIAL];
    double            sum = 0;
    for (int d = 0; d < w->rank; d++) {
        if (!(place[d] > -1 && place[d] < (double)w->in[d])) return 0;
        low[d] = (int64_t)floor(place[d]);
    }
    for (int corner = 0; corner < 1 << w->rank; corner++) {
        double  weight = 1;
        int64_t index  = plane;
        for (int d = 0; d < w->rank && weight != 0; d++) {
            int64_t i = low[d] + (corner >> d & 1);
            weight *= 1 - fabs(place[d] - (double)i);
            if (i < 0 || i >= w->in[d]) weight = 0;
            index += i * v->stride[d];
        }
        if (weight != 0) sum += weight * holo_get_f(v->conv.x, index);
    }
    return sum;
}

static void read_inputs(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    const DeformConv *v    = c->arg;
    const HoloWindow *w    = &v->conv.window;
    int64_t           taps = v->conv.taps, channels = v->conv.in * v->conv.group, tap = k % taps;
    int64_t           channel = batch % v->conv.group * v->conv.in + k / taps, n = batch / v->conv.group;
    int64_t           map   = (n * v->groups + channel / (channels / v->groups)) * taps + tap;
    int64_t           plane = (n * channels + channel) * v->conv.ins;
    for (int64_t j = 0; j < count; j++) {
        double  place[HOLO_MAX_SPATIAL];
        int64_t o = col + j, t = tap;
        for (int d = w->rank - 1; d >= 0; d--) {
            int64_t i = o % w->out[d] * w->stride[d] - w->pad_begin[d] + t % w->kernel[d] * w->dilation[d];
            place[d]  = (double)i + holo_get_f(v->offset, (map * w->rank + d) * v->outs + col + j);
            o /= w->out[d];
            t /= w->kernel[d];
        }
        out[j].f = interpolate(v, plane, place);
        if (v->mask) out[j].f *= holo_get_f(v->mask, map * v->outs + col + j);
    }
}

static HoloStatus eval(HoloCall *call)
{
    DeformConv v;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_conv_init(call, X, W, BIAS, false, &v.conv));
    v.conv.contract.b = read_inputs;
    v.offset          = call->in[OFFSET];
    v.mask            = holo_in(call, MASK);
    v.groups          = holo_attr_int(call, "offset_group", 1);
    v.outs            = v.conv.contract.cols;
    holo_strides(v.conv.window.rank, v.conv.window.in, v.stride);
    holo_contract(call, &v.conv.contract);
    return HOLO_OK;
}

const HoloOp holo_ops_deform_conv[] = {
    {.name    = "DeformConv",
     .domain  = "",
     .since   = 19,
     .in_min  = 3,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
