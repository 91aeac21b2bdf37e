// aten_norm.c - normalizations.
#include "import/torch/aten.h"

#include <math.h>

// w and b, which are of one axis of x or missing: y = x * w + b.
HoloValue *holo_torch_norm_affine(HoloTorch *t, HoloValue *x, HoloValue *w, HoloValue *b, int axis)
{
    int64_t axes[HOLO_MAX_RANK];
    int     count = holo_torch_rank(t, x) - axis - 1;
    for (int i = 0; i < count; i++) axes[i] = i + 1;
    if (w) x = OP2("Mul", x, holo_emit_unsqueeze(t->e, w, axes, count));
    if (b) x = OP2("Add", x, holo_emit_unsqueeze(t->e, b, axes, count));
    return x;
}

// A row of one number for each channel.
static HoloValue *row_of(HoloTorch *t, HoloValue *x, HoloValue *like, int axis, double number)
{
    if (x) return x;
    return holo_torch_expand(t, NUM(like, number), holo_torch_dim(t, like, axis));
}

// With the statistics of the batch itself.
static HoloValue *batch_stats(HoloTorch *t, HoloValue *x, HoloValue *w, HoloValue *b, double eps, HoloValue **stats)
{
    int64_t axes[HOLO_MAX_RANK];
    int     rank = holo_torch_rank(t, x), used = 0;
    for (int i = 0; i < rank; i++)
        if (i != 1) axes[used++] = i;
    HoloValue *mean, *var = holo_torch_variance(t, x, axes, used, 0, true, &mean);
    HoloValue *scale = OP1("Reciprocal", OP1("Sqrt", OP2("Add", var, NUM(x, eps))));
    HoloValue *y     = OP2("Mul", OP2("Sub", x, mean), scale);
    if (stats) {
        stats[0] = holo_torch_flat(t, mean);
        stats[1] = holo_torch_flat(t, scale);
    }
    return holo_torch_norm_affine(t, y, w, b, 1);
}

static HoloValue *batch_norm_of(HoloTorch *t, const HoloTv *a, bool in_training, double eps, HoloValue **stats)
{
    HoloValue *x = V(0), *w = V(1), *b = V(2), *mean = V(3), *var = V(4);
    if (in_training || !mean) return batch_stats(t, x, w, b, eps, stats);
    if (stats) stats[0] = stats[1] = holo_emit_cast(t->e, holo_emit_ints(t->e, NULL, 0), DTYPE(x));
    w = row_of(t, w, mean, 0, 1);
    b = row_of(t, b, mean, 0, 0);
    return holo_emit(t->e, "BatchNormalization", HOLO_IN(x, w, b, mean, var),
                     HOLO_ATTRS(holo_with_float("epsilon", eps)));
}

ONE(batch_norm)
{
    return batch_norm_of(t, a, holo_torch_bool(t, &a[5], false), holo_torch_float(t, &a[7], 1e-5), NULL);
}

ANY(native_batch_norm)
{
    HoloValue *y[3] = {NULL};
    y[0]            = batch_norm_of(t, a, holo_torch_bool(t, &a[5], false), holo_torch_float(t, &a[7], 1e-5), y + 1);
    *out            = holo_torch_tuple(t, 3, y);
}

ANY(batch_norm_no_training)
{
    HoloValue *y[3] = {NULL};
    y[0]            = batch_norm_of(t, a, false, holo_torch_float(t, &a[6], 1e-5), y + 1);
    *out            = holo_torch_tuple(t, 3, y);
}

// Also the new running statistics; they stay as they are when a model is used.
ANY(batch_norm_functional)
{
    HoloValue *y[5]        = {NULL};
    bool       in_training = holo_torch_bool(t, &a[5], false);
    double     momentum    = holo_torch_float(t, &a[6], 0.1);
    y[0]                   = batch_norm_of(t, a, in_training, holo_torch_float(t, &a[7], 1e-5), y + 1);
    y[3]                   = V(3);
    y[4]                   = V(4);
    if (in_training && y[3]) {
        int64_t    axes[HOLO_MAX_RANK];
        HoloValue *x    = V(0), *mean;
        int        rank = holo_torch_rank(t, x), used = 0;
        for (int i = 0; i < rank; i++)
            if (i != 1) axes[used++] = i;
        HoloValue *var = holo_torch_variance(t, x, axes, used, 1, false, &mean), *now[2] = {mean, var};
        for (int i = 0; i < 2; i++)
            y[3 + i] = OP2("Add", OP2("Mul", y[3 + i], NUM(x, 1 - momentum)), OP2("Mul", now[i], NUM(x, momentum)));
    }
    *out = holo_torch_tuple(t, 5, y);
}

ONE(instance_norm)
{
    HoloValue *x = V(0), *w = V(1), *b = V(2);
    double     eps = holo_torch_float(t, &a[7], 1e-5);
    if (!holo_torch_bool(t, &a[5], true) && !holo_tv_is_none(&a[3])) return batch_norm_of(t, a, false, eps, NULL);
    w = row_of(t, w, x, 1, 1);
    b = row_of(t, b, x, 1, 0);
    return holo_emit(t->e, "InstanceNormalization", HOLO_IN(x, w, b), HOLO_ATTRS(holo_with_float("epsilon", eps)));
}

// ---- over the last dimensions

// A tensor of ones as large as what is normalized.
static HoloValue *ones_of(HoloTorch *t, HoloValue *x, const HoloTv *shape)
{
    return holo_torch_expand(t, NUM(x, 1), holo_torch_sizes(t, shape));
}

static HoloValue *layer_norm_of(HoloTorch *t, const HoloTv *a, HoloValue **stats)
{
    HoloValue *x = V(0), *w = V(2), *b = V(3), *y[3] = {NULL};
    int        dims = holo_tv_is_list(&a[1]) ? a[1].list->count : 1;
    double     eps  = holo_torch_float(t, &a[4], 1e-5);
    if (!w) w = ones_of(t, x, &a[1]);
    holo_emit_many(t->e, "LayerNormalization", HOLO_IN(x, w, b),
                   HOLO_ATTRS(holo_with_int("axis", -dims), holo_with_float("epsilon", eps)), y, stats ? 3 : 1);
    if (stats) {
        stats[0] = y[1];
        stats[1] = y[2];
    }
    return y[0];
}

ONE(layer_norm)
{
    return layer_norm_of(t, a, NULL);
}

ANY(native_layer_norm)
{
    HoloValue *y[3] = {NULL};
    y[0]            = layer_norm_of(t, a, y + 1);
    *out            = holo_torch_tuple(t, 3, y);
}

static double epsilon_of(HoloDtype dtype)
{
    return dtype == HOLO_F64    ? 2.220446049250313e-16
           : dtype == HOLO_F16  ? 0.0009765625
           : dtype == HOLO_BF16 ? 0.0078125
                                : 1.1920928955078125e-07;
}

static HoloValue *rms_norm_of(HoloTorch *t, const HoloTv *a, HoloValue **out_scale)
{
    HoloValue *x = V(0), *w = V(2);
    int64_t    axes[HOLO_MAX_RANK];
    int        rank = holo_torch_rank(t, x), dims = holo_tv_is_list(&a[1]) ? a[1].list->count : 1;
    HOLO_TORCH_CHECK(t, dims <= rank, "rms_norm over %d dimensions of %d", dims, rank);
    for (int i = 0; i < dims; i++) axes[i] = rank - dims + i;
    HoloValue *mean = holo_torch_mean(t, OP2("Mul", x, x), axes, dims, true);
    HoloValue *scale =
        OP1("Reciprocal", OP1("Sqrt", OP2("Add", mean, NUM(x, holo_torch_float(t, &a[3], epsilon_of(DTYPE(x)))))));
    HoloValue *y = OP2("Mul", x, scale);
    if (out_scale) *out_scale = scale;
    return w ? OP2("Mul", y, w) : y;
}

ONE(rms_norm)
{
    return rms_norm_of(t, a, NULL);
}

ANY(fused_rms_norm)
{
    HoloValue *y[2] = {NULL};
    y[0]            = rms_norm_of(t, a, &y[1]);
    *out            = holo_torch_tuple(t, 2, y);
}

// ---- over groups of channels

static HoloValue *group_norm_of(HoloTorch *t, HoloValue *x, int64_t groups, HoloValue *w, HoloValue *b, double eps)
{
    HOLO_TORCH_CHECK(t, groups > 0, "group_norm of %lld groups", (long long)groups);
    if (holo_torch_rank(t, x) >= 3) {
        w = row_of(t, w, x, 1, 1);
        b = row_of(t, b, x, 1, 0);
        return holo_emit(t->e, "GroupNormalization", HOLO_IN(x, w, b),
                         HOLO_ATTRS(holo_with_int("num_groups", groups), holo_with_float("epsilon", eps)));
    }
    int64_t    sizes[] = {0, groups, -1}, axes[] = {2};
    HoloValue *parts = holo_emit_reshape(t->e, x, sizes, 3), *mean;
    HoloValue *var   = holo_torch_variance(t, parts, axes, 1, 0, true, &mean);
    HoloValue *y     = OP2("Div", OP2("Sub", parts, mean), OP1("Sqrt", OP2("Add", var, NUM(x, eps))));
    return holo_torch_norm_affine(t, holo_torch_shape_as(t, y, x), w, b, 1);
}

ONE(group_norm)
{
    return group_norm_of(t, V(0), holo_torch_int(t, &a[1], 1), V(2), V(3), holo_torch_float(t, &a[4], 1e-5));
}

ANY(native_group_norm)
{
    HoloValue *x = V(0), *y[3] = {NULL}, *mean;
    int64_t    groups = holo_torch_int(t, &a[6], 1), sizes[] = {0, groups, -1}, axes[] = {2};
    double     eps = holo_torch_float(t, &a[7], 1e-5);
    y[0]           = group_norm_of(t, x, groups, V(1), V(2), eps);
    HoloValue *var = holo_torch_variance(t, holo_emit_reshape(t->e, x, sizes, 3), axes, 1, 0, false, &mean);
    y[1]           = mean;
    y[2]           = OP1("Reciprocal", OP1("Sqrt", OP2("Add", var, NUM(x, eps))));
    *out           = holo_torch_tuple(t, 3, y);
}

// ---- weights and distances

// v * g / |v|, where the norm is over all dimensions but one.
static HoloValue *weight_norm_of(HoloTorch *t, const HoloTv *a, HoloValue **out_norm)
{
    HoloValue *v = V(0), *g             = V(1);
    int64_t    axes[HOLO_MAX_RANK], dim = holo_torch_int(t, &a[2], 0);
    int        rank = holo_torch_rank(t, v), used = 0;
    for (int i = 0; i < rank; i++)
        if (dim == -1 || i != dim) axes[used++] = i;
    *out_norm = holo_torch_reduce(t, "ReduceL2", v, axes, used, true);
    return OP2("Mul", v, OP2("Div", g, *out_norm));
}

ONE(weight_norm)
{
    HoloValue *norm;
    return weight_norm_of(t, a, &norm);
}

ANY(weight_norm_interface)
{
    HoloValue *y[2] = {NULL};
    y[0]            = weight_norm_of(t, a, &y[1]);
    *out            = holo_torch_tuple(t, 2, y);
}

ONE(cosine_similarity)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    double     eps     = holo_torch_float(t, &a[3], 1e-8);
    HoloValue *product = OP2("Mul", x, y);
    int64_t    axes[]  = {holo_torch_axis(t, &a[2], 1, holo_torch_rank(t, product))};
    HoloValue *dot = holo_torch_reduce(t, "ReduceSum", product, axes, 1, false), *part[2] = {x, y};
    for (int i = 0; i < 2; i++) {
        HoloValue *own =
            OP2("Mul", part[i], OP2("Add", OP2("Sub", product, product), NUM(x, 1))); // of the common shape
        part[i] = OP2("Max", holo_torch_reduce(t, "ReduceL2", own, axes, 1, false), NUM(x, eps));
    }
    return OP2("Div", dot, OP2("Mul", part[0], part[1]));
}

ONE(pairwise_distance)
{
    HoloValue *x, *y;
    holo_torch_pair(t, a, &x, &y);
    HoloValue *off     = OP2("Add", OP2("Sub", x, y), NUM(x, holo_torch_float(t, &a[3], 1e-6)));
    int        rank    = holo_torch_rank(t, off);
    HoloTv     args[4] = {holo_tv_tensor(t, off), a[2], holo_tv_int(rank - 1), a[4]};
    if (holo_tv_is_none(&args[1])) args[1] = holo_tv_float(2);
    HoloTv norm = holo_torch_apply(t, "linalg_vector_norm", 4, args);
    return holo_torch_value(t, &norm);
}

// Distances of all pairs of rows.
ONE(cdist)
{
    HoloValue *x = V(0), *y = V(1);
    int        rank_x = holo_torch_rank(t, x), rank_y = holo_torch_rank(t, y), rank = rank_x > rank_y ? rank_x : rank_y;
    HoloValue *off     = OP2("Sub", holo_torch_unsqueeze(t, x, rank_x - 1), holo_torch_unsqueeze(t, y, rank_y - 2));
    HoloTv     args[3] = {holo_tv_tensor(t, off), holo_tv_is_none(&a[2]) ? holo_tv_float(2) : a[2], holo_tv_int(rank)};
    HoloTv     norm    = holo_torch_apply(t, "linalg_vector_norm", 3, args);
    return holo_torch_value(t, &norm);
}

#define BATCH "input weight bias running_mean running_var training momentum|exponential_average_factor eps|epsilon"
const HoloTorchOp holo_torch_norms[] = {
    ROW("batch_norm", BATCH " cudnn_enabled", batch_norm),
    MANY("native_batch_norm", BATCH, native_batch_norm),
    MANY("_native_batch_norm_legit", BATCH, native_batch_norm),
    MANY("cudnn_batch_norm", BATCH, native_batch_norm),
    MANY("miopen_batch_norm", BATCH, native_batch_norm),
    MANY("_native_batch_norm_legit_functional", BATCH, batch_norm_functional),
    MANY("_native_batch_norm_legit_no_training", "input weight bias running_mean running_var momentum eps",
         batch_norm_no_training),
    ROW("instance_norm", "input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled",
        instance_norm),
    ROW("layer_norm", "input normalized_shape weight bias eps cudnn_enable", layer_norm),
    MANY("native_layer_norm", "input normalized_shape weight bias eps", native_layer_norm),
    ROW("rms_norm", "input normalized_shape weight eps", rms_norm),
    MANY("_fused_rms_norm", "input normalized_shape weight eps", fused_rms_norm),
    ROW("group_norm", "input num_groups weight bias eps cudnn_enabled", group_norm),
    MANY("native_group_norm", "input weight bias N C HxW group eps", native_group_norm),
    ROW("_weight_norm", "v g dim", weight_norm),
    MANY("_weight_norm_interface", "v g dim", weight_norm_interface),
    ROW("cosine_similarity", "x1 x2 dim eps", cosine_similarity),
    ROW("pairwise_distance", "x1 x2 p eps keepdim", pairwise_distance),
    ROW("cdist", "x1 x2 p compute_mode", cdist),
    ROW("_cdist_forward", "x1 x2 p compute_mode", cdist),
    {0},
};
