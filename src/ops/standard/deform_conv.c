// deform_conv.c - DeformConv: a convolution whose taps are moved by offsets that are data, and read between
// elements by linear interpolation. What lies outside is 0.
//
// And DeformColumns, of domain "hologram": what the taps read of images of f32 with channels last, as rows of a matrix.
// DeformConv of images is a product of these rows (see passes/layout/columns.c).
#include "ops/spread.h"
#include "ops/standard/conv.h"

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
        if (holo_dims_differ(t->dim[d], want))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has size %lld in dimension %d, expected %lld", input,
                                  (long long)t->dim[d], d, (long long)want);
    }
    return HOLO_OK;
}

// Input `from` is the offset, `mask` the mask, `channels` those of x.
static HoloStatus check_offsets(const HoloCall *call, int from, int mask, HoloDim channels, const HoloWindow *window)
{
    int64_t groups = holo_attr_int(call, "offset_group", 1);
    if (groups < 1 || groups > INT32_MAX || (!holo_dim_is_symbolic(channels) && channels % groups))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the channels do not split into %lld offset groups",
                              (long long)groups);
    HoloDim taps = groups;
    for (int d = 0; d < window->rank; d++) taps = holo_dim_mul(call->dims, taps, window->kernel[d]);
    HOLO_TRY(check_maps(call, from, holo_dim_mul(call->dims, taps, window->rank), call->in[X]->dim[0], window));
    return check_maps(call, mask, taps, call->in[X]->dim[0], window);
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[X], *w = call->in[W];
    HoloWindow        window;
    HOLO_TRY(holo_expect_types(call, W, UINT64_C(1) << x->dtype));
    HOLO_TRY(holo_expect_types(call, BIAS, UINT64_C(1) << x->dtype));
    HOLO_TRY(holo_conv_infer(call, X, W, BIAS, false, (HoloDtype)x->dtype));
    HOLO_TRY(holo_window_init(call, x->rank - 2, x->dim + 2, w->dim + 2, false, &window));
    return check_offsets(call, OFFSET, MASK, x->dim[1], &window);
}

// The value at a position between the elements of one plane.
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

// ---- DeformColumns

enum { COLUMNS_OFFSET = 1, COLUMNS_MASK };

typedef struct Columns {
    HoloWindow   window;
    const float *x, *offset, *mask; // mask NULL: none
    float       *out;
    int64_t      channels, group, offset_groups, outs, taps;
} Columns;

// What one tap of one output reads: elements of up to four pixels, with their weights.
typedef struct Sample {
    int          count;
    const float *from[4];
    float        weight[4];
} Sample;

static HoloStatus infer_columns(HoloCall *call)
{
    const HoloTensor *x     = call->in[X];
    int64_t           group = holo_attr_int(call, "group", 1);
    HoloWindow        w;
    HOLO_TRY(holo_expect_rank(call, X, 4, 4));
    if (group < 1 || group > INT32_MAX || (!holo_dim_is_symbolic(x->dim[3]) && x->dim[3] % group))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the channels do not split into %lld groups", (long long)group);
    HOLO_TRY(holo_window_init(call, 2, x->dim + 1, NULL, false, &w));
    HOLO_TRY(check_offsets(call, COLUMNS_OFFSET, COLUMNS_MASK, x->dim[3], &w));
    HoloDim outs = holo_dim_mul(call->dims, w.out[0], w.out[1]), taps = w.kernel[0] * w.kernel[1];
    HoloDim row = holo_dim_mul(call->dims, holo_dim_div(call->dims, x->dim[3], group), taps);
    return holo_out_type(call, 0, HOLO_F32, 4, (HoloDim[]){x->dim[0], group, outs, row});
}

static Sample find_sample(const Columns *v, const float *image, double y, double x)
{
    const HoloWindow *w = &v->window;
    Sample            s = {0};
    if (!(y > -1 && y < (double)w->in[0] && x > -1 && x < (double)w->in[1])) return s;
    int64_t top = (int64_t)floor(y), left = (int64_t)floor(x);
    double  down = y - (double)top, right = x - (double)left;
    for (int corner = 0; corner < 4; corner++) {
        int64_t i = top + corner / 2, j = left + corner % 2;
        double  weight = (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right);
        if (i < 0 || i >= w->in[0] || j < 0 || j >= w->in[1] || weight == 0) continue;
        s.from[s.count]     = image + (i * w->in[1] + j) * v->channels;
        s.weight[s.count++] = (float)weight;
    }
    return s;
}

// `count` channels from `channel` on.
static void blend(const Sample *s, int64_t channel, int64_t count, float *restrict out)
{
    if (s->count == 4) {
        const float *a = s->from[0] + channel, *b = s->from[1] + channel, *c = s->from[2] + channel;
        const float *d = s->from[3] + channel, p = s->weight[0], q = s->weight[1], r = s->weight[2], t = s->weight[3];
        for (int64_t k = 0; k < count; k++) out[k] = p * a[k] + q * b[k] + r * c[k] + t * d[k];
        return;
    }
    for (int64_t k = 0; k < count; k++) out[k] = 0;
    for (int i = 0; i < s->count; i++)
        for (int64_t k = 0; k < count; k++) out[k] += s->weight[i] * s->from[i][channel + k];
}

// One tap of one output, for the channels of offset group g, which may belong to several groups of the convolution.
static void put_sample(const Columns *v, const Sample *s, const float *mask, int64_t n, int64_t place, int64_t tap,
                       int64_t g)
{
    int64_t size = v->channels / v->group, share = v->channels / v->offset_groups;
    for (int64_t c = g * share, run; c < (g + 1) * share; c += run) {
        int64_t at = c % size;
        run        = size - at < (g + 1) * share - c ? size - at : (g + 1) * share - c;
        float *out = v->out + (((n * v->group + c / size) * v->outs + place) * v->taps + tap) * size + at;
        blend(s, c, run, out);
        for (int64_t k = 0; mask && k < run; k++) out[k] *= *mask;
    }
}

// One row of outputs.
static void run_columns(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Columns    *v = arg;
    const HoloWindow *w = &v->window;
    int64_t           n = i / w->out[0], oy = i % w->out[0];
    const float      *image = v->x + n * w->in[0] * w->in[1] * v->channels;
    for (int64_t ox = 0; ox < w->out[1]; ox++)
        for (int64_t g = 0; g < v->offset_groups; g++)
            for (int64_t tap = 0; tap < v->taps; tap++) {
                int64_t place = oy * w->out[1] + ox, map = (n * v->offset_groups + g) * v->taps + tap;
                int64_t y  = oy * w->stride[0] - w->pad_begin[0] + tap / w->kernel[1] * w->dilation[0];
                int64_t x  = ox * w->stride[1] - w->pad_begin[1] + tap % w->kernel[1] * w->dilation[1];
                double  dy = v->offset[map * 2 * v->outs + place], dx = v->offset[(map * 2 + 1) * v->outs + place];
                Sample  s = find_sample(v, image, (double)y + dy, (double)x + dx);
                put_sample(v, &s, v->mask ? v->mask + map * v->outs + place : NULL, n, place, tap, g);
            }
}

static HoloStatus eval_columns(HoloCall *call)
{
    const HoloTensor *x = call->in[X], *mask = holo_in(call, COLUMNS_MASK);
    Columns           v = {.x = x->data, .offset = call->in[COLUMNS_OFFSET]->data, .mask = mask ? mask->data : NULL};
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_window_init(call, 2, x->dim + 1, NULL, false, &v.window));
    v.out           = call->out[0]->data;
    v.channels      = x->dim[3];
    v.group         = holo_attr_int(call, "group", 1);
    v.offset_groups = holo_attr_int(call, "offset_group", 1);
    v.outs          = holo_window_outs(&v.window);
    v.taps          = holo_window_taps(&v.window);
    holo_spread(call, x->dim[0] * v.window.out[0], (double)holo_tensor_count(call->out[0]) * 4, run_columns, &v);
    return HOLO_OK;
}

const HoloOp holo_ops_deform_conv[] = {
    {.name    = "DeformColumns",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .infer   = infer_columns,
     .eval    = eval_columns},
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
