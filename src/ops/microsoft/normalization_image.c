// normalization_image.c - ONNX Runtime's GroupNorm and SkipGroupNorm of images: usually with channels last, and with an
// activation at the end.
#include "ops/functions.h"
#include "ops/spread.h"
#include "ops/standard/normalization.h"

#include <math.h>

enum { X, GAMMA, BETA, SKIP, BIAS }; // inputs
enum { Y, SUM };                     // outputs

static int channel_axis(const HoloCall *call)
{
    return holo_attr_int(call, "channels_last", 1) ? 3 : 1;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[X];
    HOLO_TRY(holo_expect_rank(call, X, 4, 4));
    HOLO_TRY(holo_expect_types(call, SKIP, HOLO_TYPES_FLOAT));
    HoloDim channels = x->dim[channel_axis(call)];
    int64_t groups   = holo_attr_int(call, "groups", 0);
    if (groups < 1 || (!holo_dim_is_symbolic(channels) && channels % groups))
        return holo_call_fail(call, HOLO_BAD_MODEL, "groups is %lld, which does not divide %lld channels",
                              (long long)groups, (long long)channels);
    HOLO_TRY(holo_vector_check(call, GAMMA, channels));
    HOLO_TRY(holo_vector_check(call, BETA, channels));
    HOLO_TRY(holo_vector_check(call, BIAS, channels));
    HOLO_TRY(holo_out_like(call, Y, x));
    return holo_out_like(call, SUM, x);
}

typedef struct Image {
    const HoloCall *call;
    int64_t         channels, positions; // of an image
    int64_t         step, next;          // from channel to channel, from position to position
    int64_t         groups, per;         // per: channels of a group
    bool            is_plain_skip;       // one number a channel is added
    double          epsilon;
    bool            smooth;
    double         *memory; // of all groups
} Image;

// The elements of a channel, what is added included.
static void read_channel(const Image *v, int64_t image, int64_t channel, double *out)
{
    const HoloTensor *x = v->call->in[X], *skip = holo_in(v->call, SKIP), *bias = holo_in(v->call, BIAS);
    int64_t           at    = image * v->channels * v->positions + channel * v->step;
    double            shift = bias ? holo_get_f(bias, channel) : 0, tile[HOLO_TILE];
    if (skip && v->is_plain_skip) shift += holo_get_f(skip, image * v->channels + channel);
    holo_read_f(x, at, v->next, v->positions, out);
    for (int64_t p = 0; p < v->positions; p++) out[p] += shift;
    if (!skip || v->is_plain_skip) return;
    for (int64_t p = 0; p < v->positions; p += HOLO_TILE) {
        int64_t count = v->positions - p < HOLO_TILE ? v->positions - p : HOLO_TILE;
        holo_read_f(skip, at + p * v->next, v->next, count, tile);
        for (int64_t j = 0; j < count; j++) out[p + j] += tile[j];
    }
}

static void write_channel(const Image *v, int output, int64_t image, int64_t channel, const double *x)
{
    HoloTensor *y = holo_out(v->call, output);
    if (y) holo_write_f(y, image * v->channels * v->positions + channel * v->step, v->next, v->positions, x);
}

static void run_group(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Image *v     = arg;
    int64_t      image = i / v->groups, first = i % v->groups * v->per, size = v->per * v->positions;
    double      *all = v->memory + i * size;
    for (int64_t c = 0; c < v->per; c++) {
        read_channel(v, image, first + c, all + c * v->positions);
        write_channel(v, SUM, image, first + c, all + c * v->positions);
    }
    HoloMoments m = holo_moments(all, size, true);
    for (int64_t c = 0; c < v->per; c++) {
        double *x     = all + c * v->positions;
        double  scale = holo_get_f(v->call->in[GAMMA], first + c) / sqrt(m.variance + v->epsilon);
        double  shift = holo_get_f(v->call->in[BETA], first + c);
        for (int64_t p = 0; p < v->positions; p++) {
            double y = (x[p] - m.mean) * scale + shift;
            x[p]     = v->smooth ? holo_silu(y) : y;
        }
        write_channel(v, Y, image, first + c, x);
    }
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x = call->in[X], *skip = holo_in(call, SKIP);
    int64_t           count = holo_tensor_count(x);
    void             *memory;
    if (count == 0) return HOLO_OK;
    bool  is_last   = channel_axis(call) == 3;
    Image v         = {.call      = call,
                       .channels  = x->dim[channel_axis(call)],
                       .positions = holo_product(2, x->dim + (is_last ? 1 : 2)),
                       .groups    = holo_attr_int(call, "groups", 0),
                       .epsilon   = holo_attr_float(call, "epsilon", 1e-5f),
                       .smooth    = holo_attr_int(call, "activation", 0) != 0};
    v.step          = is_last ? 1 : v.positions;
    v.next          = is_last ? v.channels : 1;
    v.per           = v.channels / v.groups;
    int64_t added   = skip ? holo_tensor_count(skip) : count;
    v.is_plain_skip = added != count;
    if (v.is_plain_skip && added != x->dim[0] * v.channels)
        return holo_call_fail(call, HOLO_BAD_INPUT,
                              "skip has %lld entries, expected one per element or one per channel", (long long)added);
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(double), &memory));
    v.memory = memory;
    holo_spread(call, x->dim[0] * v.groups, (double)count * 4, run_group, &v);
    return HOLO_OK;
}

#define ROW .domain = "com.microsoft", .since = 1, .out_min = 1, .types = HOLO_TYPES_FLOAT, .infer = infer, .eval = eval

const HoloOp holo_ops_normalization_image[] = {
    {.name = "GroupNorm", .in_min = 3, .in_max = 3, .out_max = 1, ROW},
    {.name = "SkipGroupNorm", .in_min = 4, .in_max = 5, .out_max = 2, ROW},
    {0},
};
