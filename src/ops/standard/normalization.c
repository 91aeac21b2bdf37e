// normalization.c - rows that are standardized, scaled and shifted: LayerNormalization, RMSNormalization,
// InstanceNormalization, GroupNormalization.
//
// Everything is computed in double and rounded once, so `stash_type` only names the type of the statistics.
#include "ops/standard/normalization.h"
#include "ops/rows.h"

#include <math.h>

// ---- shared with the other normalizations

HoloMoments holo_moments(const double *x, int64_t count, bool centered)
{
    HoloMoments m = {0, 0};
    if (centered) {
        for (int64_t k = 0; k < count; k++) m.mean += x[k];
        m.mean /= (double)count;
    }
    for (int64_t k = 0; k < count; k++) m.variance += (x[k] - m.mean) * (x[k] - m.mean);
    m.variance /= (double)count;
    return m;
}

HoloStatus holo_affine_init(HoloAffine *affine, const HoloCall *call, int input, const HoloRowNorm *norm)
{
    void *memory;
    *affine = (HoloAffine){.t = input < 0 ? NULL : holo_in(call, input), .at = -1};
    if (!affine->t) return HOLO_OK;
    holo_strides_broadcast(affine->t, norm->like->rank, norm->like->dim, affine->stride);
    HOLO_TRY(holo_call_temp(call, (size_t)norm->size, sizeof(double), &memory));
    affine->row = memory;
    return HOLO_OK;
}

const double *holo_affine_row(HoloAffine *affine, const HoloRowNorm *norm, const HoloWalk *walk)
{
    if (!affine->t) return NULL;
    int64_t at = holo_walk_at(walk, affine->stride), last = norm->like->rank - 1, done = 0;
    if (at == affine->at) return affine->row;
    int64_t  run   = norm->like->dim[last];
    HoloWalk inner = holo_walk((int)last - norm->axis, norm->like->dim + norm->axis);
    for (; holo_walk_next(&inner); done += run) {
        int64_t start = at + holo_walk_at(&inner, affine->stride + norm->axis);
        holo_read_f(affine->t, start, affine->stride[last], run, affine->row + done);
    }
    affine->at = at;
    return affine->row;
}

HoloStatus holo_row_norm_init(HoloRowNorm *norm, const HoloCall *call, int scale, int bias)
{
    void *memory;
    norm->size = holo_product(norm->like->rank - norm->axis, norm->like->dim + norm->axis);
    HOLO_TRY(holo_affine_init(&norm->scale, call, scale, norm));
    HOLO_TRY(holo_affine_init(&norm->bias, call, bias, norm));
    HOLO_TRY(holo_call_temp(call, (size_t)norm->size, sizeof(double), &memory));
    norm->x = memory;
    return HOLO_OK;
}

void holo_row_norm_apply(HoloRowNorm *norm, const HoloWalk *walk, int64_t row)
{
    const double *scale = holo_affine_row(&norm->scale, norm, walk), *bias = holo_affine_row(&norm->bias, norm, walk);
    double       *x      = norm->x;
    HoloMoments   m      = holo_moments(x, norm->size, norm->centered);
    double        factor = 1 / sqrt(m.variance + norm->epsilon);
    for (int64_t k = 0; k < norm->size; k++)
        x[k] = (x[k] - m.mean) * factor * (scale ? scale[k] : 1) + (bias ? bias[k] : 0);
    if (norm->y) holo_write_f(norm->y, row * norm->size, 1, norm->size, x);
    if (norm->mean) holo_put_f(norm->mean, row, m.mean);
    if (norm->factor) holo_put_f(norm->factor, row, factor);
}

HoloStatus holo_affine_check(const HoloCall *call, int input, const HoloTensor *like)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t) return HOLO_OK;
    HOLO_TRY(holo_expect_types(call, input, HOLO_TYPES_FLOAT));
    HOLO_TRY(holo_expect_rank(call, input, 0, like->rank));
    for (int i = 0; i < t->rank; i++) {
        HoloDim have = t->dim[i], want = like->dim[like->rank - t->rank + i];
        if (have == 1 || !holo_dims_differ(have, want)) continue;
        return holo_call_fail(call, HOLO_BAD_MODEL, "input %d: size %lld does not broadcast to the data's %lld", input,
                              (long long)have, (long long)want);
    }
    return HOLO_OK;
}

HoloStatus holo_vector_check(const HoloCall *call, int input, HoloDim size)
{
    const HoloTensor *t = holo_in(call, input);
    if (!t) return HOLO_OK;
    HOLO_TRY(holo_expect_types(call, input, HOLO_TYPES_FLOAT));
    HOLO_TRY(holo_expect_rank(call, input, 1, 1));
    if (!holo_dims_differ(t->dim[0], size)) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has %lld elements, not %lld", input, (long long)t->dim[0],
                          (long long)size);
}

// ---- LayerNormalization, RMSNormalization, SimplifiedLayerNormalization

typedef struct Layer {
    bool centered;
    int  bias;         // input; -1: none
    int  mean, factor; // outputs; -1: none
} Layer;

static HoloStatus layer_infer(HoloCall *call)
{
    const HoloTensor *x     = call->in[0];
    const Layer      *layer = call->op->row;
    HoloDtype         stash;
    HoloDim           dim[HOLO_MAX_RANK];
    int               axis = 0;
    HOLO_TRY(holo_attr_axis(call, "axis", -1, call->in[0]->rank, &axis));
    for (int input = 1; input < call->in_count; input++) HOLO_TRY(holo_affine_check(call, input, x));
    HOLO_TRY(holo_attr_dtype(call, "stash_type", HOLO_F32, HOLO_TYPES_FLOAT, &stash));
    for (int i = 0; i < x->rank; i++) dim[i] = i < axis ? x->dim[i] : 1;
    if (layer->mean >= 0) HOLO_TRY(holo_out_type(call, layer->mean, stash, x->rank, dim));
    if (layer->factor >= 0) HOLO_TRY(holo_out_type(call, layer->factor, stash, x->rank, dim));
    return holo_out_shape_like(call, 0, (HoloDtype)(layer->centered ? x : call->in[1])->dtype, x);
}

static HoloStatus layer_eval(HoloCall *call)
{
    const HoloTensor *x     = call->in[0];
    const Layer      *layer = call->op->row;
    HoloRowNorm       norm  = {
               .like     = x,
               .centered = layer->centered,
               .epsilon  = holo_attr_float(call, "epsilon", 1e-5),
               .y        = holo_out(call, 0),
               .mean     = layer->mean < 0 ? NULL : holo_out(call, layer->mean),
               .factor   = layer->factor < 0 ? NULL : holo_out(call, layer->factor),
    };
    HOLO_TRY(holo_attr_axis(call, "axis", -1, call->in[0]->rank, &norm.axis));
    HOLO_TRY(holo_row_norm_init(&norm, call, 1, layer->bias));
    HoloWalk walk = holo_walk(norm.axis, x->dim);
    for (int64_t row = 0; holo_walk_next(&walk); row++) {
        HOLO_TRY(holo_call_continue(call));
        holo_read_f(x, row * norm.size, 1, norm.size, norm.x);
        holo_row_norm_apply(&norm, &walk, row);
    }
    return HOLO_OK;
}

// ---- InstanceNormalization, GroupNormalization

// An instance is a group of one channel.
static int64_t group_count(const HoloCall *call)
{
    return call->op->row ? holo_attr_int(call, "num_groups", 0) : call->in[0]->dim[1];
}

// GroupNormalization-18 scales by group, all others by channel.
static bool scales_groups(const HoloCall *call)
{
    return call->op->row && call->version < 21;
}

static HoloStatus group_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    HoloDim groups = group_count(call), channels = x->dim[1];
    if (call->op->row && (groups <= 0 || (!holo_dim_is_symbolic(channels) && channels % groups != 0)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "num_groups %lld does not divide the channels", (long long)groups);
    for (int input = 1; input <= 2; input++)
        HOLO_TRY(holo_vector_check(call, input, scales_groups(call) ? groups : channels));
    return holo_infer_same(call);
}

static HoloStatus group_eval(HoloCall *call)
{
    const HoloTensor *in      = call->in[0];
    HoloTensor       *out     = holo_out(call, 0);
    double            epsilon = holo_attr_float(call, "epsilon", 1e-5);
    void             *memory;
    if (!out || holo_tensor_count(in) == 0) return HOLO_OK;
    int64_t  groups = group_count(call), per = in->dim[1] / groups;
    HoloRows spatial = holo_rows(in, 2, in->rank);
    int64_t  run = spatial.size, size = per * run;
    HOLO_TRY(holo_call_temp(call, (size_t)size, sizeof(double), &memory));
    double *x = memory;
    for (int64_t row = 0; row < in->dim[0] * groups; row++) {
        HOLO_TRY(holo_call_continue(call));
        int64_t group = row % groups;
        holo_read_f(in, row * size, 1, size, x);
        HoloMoments m      = holo_moments(x, size, true);
        double      factor = 1 / sqrt(m.variance + epsilon);
        for (int64_t c = 0; c < per; c++) {
            int64_t at    = scales_groups(call) ? group : group * per + c;
            double  scale = holo_get_f(call->in[1], at) * factor, bias = holo_get_f(call->in[2], at);
            for (int64_t k = c * run; k < (c + 1) * run; k++) x[k] = (x[k] - m.mean) * scale + bias;
        }
        holo_write_f(out, row * size, 1, size, x);
    }
    return HOLO_OK;
}

// ---- the operators

static const Layer layer      = {.centered = true, .bias = 2, .mean = 1, .factor = 2};
static const Layer rms        = {.centered = false, .bias = -1, .mean = -1, .factor = -1};
static const Layer simplified = {.centered = false, .bias = -1, .mean = -1, .factor = 1};
static const bool  grouped    = true;

#define LAYER(text, place, version, ins, outs, how)                                                                 \
    {                                                                                                               \
        .name = text, .domain = place, .since = version, .in_min = 2, .in_max = ins, .out_min = 1, .out_max = outs, \
        .types = HOLO_TYPES_FLOAT, .infer = layer_infer, .eval = layer_eval, .row = &how                            \
    }
#define GROUP(text, version, how)                                                                           \
    {                                                                                                       \
        .name = text, .domain = "", .since = version, .in_min = 3, .in_max = 3, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_FLOAT, .infer = group_infer, .eval = group_eval, .row = how                     \
    }

const HoloOp holo_ops_normalization[] = {
    LAYER("LayerNormalization", "", 1, 3, 3, layer), // before opset 17 by converters' own habit
    LAYER("RMSNormalization", "", 23, 2, 1, rms),
    LAYER("SimplifiedLayerNormalization", "", 1, 2, 2, simplified),
    LAYER("SimplifiedLayerNormalization", "com.microsoft", 1, 2, 2, simplified),
    GROUP("InstanceNormalization", 1, NULL),
    GROUP("GroupNormalization", 18, &grouped),
    {0},
};
