// normalization_batch.c - BatchNormalization of all versions, in inference and in training.
//
// The data is taken as [outer, channels, inner]. With the old `spatial` = 0 every place of a sample is a
// channel of its own. Before opset 14 a node with more than one output is in training.
#include "ops/rows.h"
#include "ops/standard/normalization.h"

#include <math.h>

static bool is_spatial(const HoloCall *call)
{
    return call->version >= 9 || holo_attr_int(call, "spatial", 1) != 0;
}

static bool is_training(const HoloCall *call)
{
    if (call->version >= 14) return holo_attr_int(call, "training_mode", 0) != 0;
    return call->out_count > 1 && !holo_attr_int(call, "is_test", 0);
}

static HoloStatus check_statistics(HoloCall *call)
{
    const HoloTensor *x        = call->in[0];
    HoloDim           channels = x->rank < 2 ? 1 : x->dim[1];
    for (int input = 1; input < 5; input++) {
        if (is_spatial(call)) {
            HOLO_TRY(holo_vector_check(call, input, channels));
            continue;
        }
        HOLO_TRY(holo_expect_types(call, input, HOLO_TYPES_FLOAT));
        HoloDim have = 1, want = 1;
        for (int i = 0; i < call->in[input]->rank; i++) have = holo_dim_mul(call->dims, have, call->in[input]->dim[i]);
        for (int i = 1; i < x->rank; i++) want = holo_dim_mul(call->dims, want, x->dim[i]);
        if (holo_dims_differ(have, want))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has %lld elements, a sample has %lld", input,
                                  (long long)have, (long long)want);
    }
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_rank(call, 0, 1, HOLO_MAX_RANK));
    HOLO_TRY(check_statistics(call));
    if (call->version >= 14 && call->out_count > 3)
        return holo_call_fail(call, HOLO_BAD_MODEL, "has %d outputs; there are 3 since opset 14", call->out_count);
    HOLO_TRY(holo_infer_same(call));
    for (int i = 1; i < call->out_count; i++) // means are at odd places
        HOLO_TRY(holo_out_like(call, i, call->in[i % 2 ? 3 : 4]));
    return HOLO_OK;
}

// The statistics of a channel over the batch.
static HoloMoments channel_moments(const HoloTensor *in, HoloRows rows, int64_t channel)
{
    double      x[HOLO_TILE], count = (double)(rows.outer * rows.inner);
    HoloMoments m = {0, 0};
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0;
        for (int64_t n = 0; n < rows.outer; n++) {
            int64_t start = (n * rows.size + channel) * rows.inner;
            for (int64_t k = 0; k < rows.inner; k += HOLO_TILE) {
                int64_t run = rows.inner - k < HOLO_TILE ? rows.inner - k : HOLO_TILE;
                holo_read_f(in, start + k, 1, run, x);
                for (int64_t j = 0; j < run; j++) sum += pass == 0 ? x[j] : (x[j] - m.mean) * (x[j] - m.mean);
            }
        }
        *(pass == 0 ? &m.mean : &m.variance) = sum / count;
    }
    return m;
}

// y = (x - mean) * scale + bias of a channel.
typedef struct Channel {
    double mean, scale, bias;
} Channel;

static void put_running(HoloTensor *out, const HoloTensor *in, int64_t channel, double now, double momentum)
{
    if (out) holo_put_f(out, channel, holo_get_f(in, channel) * momentum + now * (1 - momentum));
}

static void prepare(const HoloCall *call, HoloRows rows, Channel *channels)
{
    double epsilon = holo_attr_float(call, "epsilon", 1e-5), momentum = holo_attr_float(call, "momentum", 0.9);
    bool   training = is_training(call);
    for (int64_t c = 0; c < rows.size && !holo_call_is_over(call); c++) {
        HoloMoments m = {holo_get_f(call->in[3], c), holo_get_f(call->in[4], c)};
        if (training) m = channel_moments(call->in[0], rows, c);
        put_running(holo_out(call, 1), call->in[3], c, m.mean, training ? momentum : 1);
        put_running(holo_out(call, 2), call->in[4], c, m.variance, training ? momentum : 1);
        if (holo_out(call, 3)) holo_put_f(call->out[3], c, m.mean);
        if (holo_out(call, 4)) holo_put_f(call->out[4], c, m.variance);
        channels[c] =
            (Channel){m.mean, holo_get_f(call->in[1], c) / sqrt(m.variance + epsilon), holo_get_f(call->in[2], c)};
    }
}

// Consecutive places: `inner` of one channel, then `inner` of the next.
static void apply(const HoloCall *call, const HoloTensor *in, HoloTensor *out, HoloRows rows, const Channel *channels)
{
    int64_t count = rows.outer * rows.size * rows.inner, c = 0, left = rows.inner;
    double  x[HOLO_TILE];
    for (int64_t k = 0; k < count && !holo_call_is_over(call); k += HOLO_TILE) {
        int64_t run = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        holo_read_f(in, k, 1, run, x);
        for (int64_t j = 0; j < run;) {
            int64_t end = run - j < left ? run : j + left;
            left -= end - j;
            for (; j < end; j++) x[j] = (x[j] - channels[c].mean) * channels[c].scale + channels[c].bias;
            if (left == 0) {
                left = rows.inner;
                c    = c + 1 < rows.size ? c + 1 : 0;
            }
        }
        holo_write_f(out, k, 1, run, x);
    }
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in   = call->in[0];
    int               last = is_spatial(call) ? 2 : in->rank;
    HoloRows          rows = in->rank < 2 ? (HoloRows){in->dim[0], 1, 1} : holo_rows(in, 1, last);
    void             *channels;
    HOLO_TRY(holo_call_temp(call, (size_t)rows.size, sizeof(Channel), &channels));
    prepare(call, rows, channels);
    if (holo_out(call, 0)) apply(call, in, call->out[0], rows, channels);
    return HOLO_OK;
}

const HoloOp holo_ops_normalization_batch[] = {
    {.name    = "BatchNormalization",
     .domain  = "",
     .since   = 1,
     .in_min  = 5,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 5,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
