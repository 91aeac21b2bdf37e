// keras_layers_plain.c - Keras layers without windows: products, activations, shapes, joining, normalization, attention.
#include "import/keras/keras.h"

#include <math.h>

// The rows leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static void give(HoloKerasCall *c, HoloValue *value)
{
    c->out[0]    = value;
    c->out_count = 1;
}

static HoloValue *number_like(HoloKerasCall *c, const HoloValue *x, double number)
{
    return holo_emit_number(c->e, holo_emit_dtype(x), number);
}

// ---- activations

static HoloValue *scaled_sigmoid(HoloKerasCall *c, HoloValue *x, double scale)
{
    HoloValue *inner = scale == 1 ? x : holo_emit(c->e, "Mul", HOLO_IN(x, number_like(c, x, scale)), NULL);
    return holo_emit(c->e, "Mul", HOLO_IN(x, holo_emit(c->e, "Sigmoid", HOLO_IN(inner), NULL)), NULL);
}

static HoloValue *clip(HoloKerasCall *c, HoloValue *x, double low, double high)
{
    return holo_emit(c->e, "Clip", HOLO_IN(x, number_like(c, x, low), number_like(c, x, high)), NULL);
}

static HoloValue *hard_sigmoid(HoloKerasCall *c, HoloValue *x)
{
    double alpha = c->k->is_version_3 ? 1.0 / 6 : 0.2;
    return holo_emit(c->e, "HardSigmoid", HOLO_IN(x),
                     HOLO_ATTRS(holo_with_float("alpha", alpha), holo_with_float("beta", 0.5)));
}

static const struct {
    const char *name, *onnx;
} activations[] = {
    {"relu", "Relu"},         {"elu", "Elu"},         {"selu", "Selu"},
    {"sigmoid", "Sigmoid"},   {"tanh", "Tanh"},       {"softplus", "Softplus"},
    {"softsign", "Softsign"}, {"exponential", "Exp"}, {"mish", "Mish"},
};

static HoloValue *activate(HoloKerasCall *c, const char *name, HoloValue *x)
{
    for (int i = 0; i < HOLO_COUNT(activations); i++)
        if (!strcmp(name, activations[i].name)) return holo_emit(c->e, activations[i].onnx, HOLO_IN(x), NULL);
    if (!strcmp(name, "linear")) return x;
    if (!strcmp(name, "softmax")) return holo_emit(c->e, "Softmax", HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", -1)));
    if (!strcmp(name, "log_softmax") || !strcmp(name, "logSoftmax"))
        return holo_emit(c->e, "LogSoftmax", HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", -1)));
    if (!strcmp(name, "relu6")) return clip(c, x, 0, 6);
    if (!strcmp(name, "swish") || !strcmp(name, "silu")) return scaled_sigmoid(c, x, 1);
    if (!strcmp(name, "hard_sigmoid") || !strcmp(name, "hardSigmoid")) return hard_sigmoid(c, x);
    if (!strcmp(name, "hard_silu") || !strcmp(name, "hard_swish"))
        return holo_emit(c->e, "HardSwish", HOLO_IN(x), NULL);
    if (!strcmp(name, "gelu_new"))
        return holo_emit(c->e, "Gelu", HOLO_IN(x), HOLO_ATTRS(holo_with_text("approximate", "tanh")));
    if (!strcmp(name, "gelu")) return holo_emit(c->e, "Gelu", HOLO_IN(x), NULL);
    if (!strcmp(name, "leaky_relu"))
        return holo_emit(c->e, "LeakyRelu", HOLO_IN(x), HOLO_ATTRS(holo_with_float("alpha", 0.2)));
    return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "the activation '%.100s' is not supported", name);
}

HoloValue *holo_keras_activation(HoloKerasCall *c, const json_t *activation, HoloValue *x)
{
    if (!activation || json_is_null(activation)) return x;
    if (json_is_string(activation)) return activate(c, json_string_value(activation), x);
    const json_t *inner = json_object_get(activation, "config");
    const char   *name  = json_string_value(json_object_get(activation, "class_name"));
    if (json_is_string(inner)) return activate(c, json_string_value(inner), x); // a function of Keras 3
    if (!name) return holo_emit_fail(c->e, HOLO_BAD_MODEL, "the activation is neither a name nor a layer");
    HoloKerasCall layer = *c;
    layer.config        = inner;
    layer.in            = &x;
    layer.in_count      = 1;
    layer.out_count     = 0;
    holo_keras_apply(&layer, name);
    return layer.out_count ? layer.out[0] : NULL;
}

static void activation(HoloKerasCall *c)
{
    give(c, holo_keras_activation(c, json_object_get(c->config, "activation"), holo_keras_in(c, 0)));
}

static void relu(HoloKerasCall *c)
{
    HoloValue    *x     = holo_keras_in(c, 0);
    const json_t *most  = json_object_get(c->config, "max_value");
    double        slope = holo_keras_float(c, "negative_slope", 0), from = holo_keras_float(c, "threshold", 0);
    if (from != 0) {
        holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a threshold of ReLU that is not 0 is not supported");
        return;
    }
    HoloValue *y = slope != 0 ? holo_emit(c->e, "LeakyRelu", HOLO_IN(x), HOLO_ATTRS(holo_with_float("alpha", slope)))
                              : holo_emit(c->e, "Relu", HOLO_IN(x), NULL);
    if (json_is_number(most)) y = holo_emit(c->e, "Min", HOLO_IN(y, number_like(c, x, json_number_value(most))), NULL);
    give(c, y);
}

static void leaky_relu(HoloKerasCall *c)
{
    double alpha = holo_keras_float(c, "alpha", holo_keras_float(c, "negative_slope", 0.3));
    give(c, holo_emit(c->e, "LeakyRelu", HOLO_IN(holo_keras_in(c, 0)), HOLO_ATTRS(holo_with_float("alpha", alpha))));
}

static void elu(HoloKerasCall *c)
{
    double alpha = holo_keras_float(c, "alpha", 1);
    give(c, holo_emit(c->e, "Elu", HOLO_IN(holo_keras_in(c, 0)), HOLO_ATTRS(holo_with_float("alpha", alpha))));
}

static void prelu(HoloKerasCall *c)
{
    give(c, holo_emit(c->e, "PRelu", HOLO_IN(holo_keras_in(c, 0), holo_keras_weight(c, "alpha")), NULL));
}

static void thresholded_relu(HoloKerasCall *c)
{
    double theta = holo_keras_float(c, "theta", 1);
    give(c,
         holo_emit(c->e, "ThresholdedRelu", HOLO_IN(holo_keras_in(c, 0)), HOLO_ATTRS(holo_with_float("alpha", theta))));
}

static void softmax(HoloKerasCall *c)
{
    int64_t axis = holo_keras_int(c, "axis", -1);
    give(c, holo_emit(c->e, "Softmax", HOLO_IN(holo_keras_in(c, 0)), HOLO_ATTRS(holo_with_int("axis", axis))));
}

// ---- what changes nothing, or shapes alone

static void same(HoloKerasCall *c)
{
    give(c, holo_keras_in(c, 0));
}

static void dense(HoloKerasCall *c)
{
    HoloValue *y = holo_emit(c->e, "MatMul", HOLO_IN(holo_keras_in(c, 0), holo_keras_weight(c, "kernel")), NULL);
    if (holo_keras_bool(c, "use_bias", true))
        y = holo_emit(c->e, "Add", HOLO_IN(y, holo_keras_weight(c, "bias")), NULL);
    give(c, holo_keras_activation(c, json_object_get(c->config, "activation"), y));
}

static void flatten(HoloKerasCall *c)
{
    HoloValue *x                   = holo_keras_in(c, 0);
    int        rank                = holo_emit_rank(x);
    int64_t    perm[HOLO_MAX_RANK] = {0}, sizes[2] = {0, -1};
    if (holo_keras_is_first(c) && rank > 2) {
        for (int i = 1; i < rank - 1; i++) perm[i] = i + 1;
        perm[rank - 1] = 1;
        x              = holo_emit_transpose(c->e, x, perm, rank);
    }
    give(c, holo_emit_reshape(c->e, x, sizes, 2));
}

static void reshape(HoloKerasCall *c)
{
    const json_t *shape                = json_object_get(c->config, "target_shape");
    int64_t       sizes[HOLO_MAX_RANK] = {0};
    size_t        count                = json_array_size(shape);
    if (count + 1 > HOLO_MAX_RANK) {
        holo_emit_fail(c->e, HOLO_UNSUPPORTED, "the target has too many dimensions");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *size = json_array_get(shape, i);
        sizes[i + 1]       = json_is_integer(size) ? json_integer_value(size) : -1;
    }
    give(c, holo_emit_reshape(c->e, holo_keras_in(c, 0), sizes, (int)count + 1));
}

static void permute(HoloKerasCall *c)
{
    const json_t *dims                = json_object_get(c->config, "dims");
    int64_t       perm[HOLO_MAX_RANK] = {0};
    int           count               = (int)json_array_size(dims);
    if (count + 1 > HOLO_MAX_RANK) return;
    for (int i = 0; i < count; i++) perm[i + 1] = json_integer_value(json_array_get(dims, (size_t)i));
    give(c, holo_emit_transpose(c->e, holo_keras_in(c, 0), perm, count + 1));
}

static void repeat_vector(HoloKerasCall *c)
{
    int64_t    axis = 1, times[3] = {1, holo_keras_int(c, "n", 1), 1};
    HoloValue *x = holo_emit_unsqueeze(c->e, holo_keras_in(c, 0), &axis, 1);
    give(c, holo_emit(c->e, "Tile", HOLO_IN(x, holo_emit_ints(c->e, times, 3)), NULL));
}

static void embedding(HoloKerasCall *c)
{
    HoloValue *index = holo_emit_cast(c->e, holo_keras_in(c, 0), HOLO_I64);
    if (holo_keras_bool(c, "mask_zero", false))
        c->out_mask = holo_emit(c->e, "Not",
                                HOLO_IN(holo_emit(c->e, "Equal", HOLO_IN(index, holo_emit_int(c->e, 0)), NULL)), NULL);
    give(c, holo_emit(c->e, "Gather", HOLO_IN(holo_keras_weight(c, "embeddings"), index), NULL));
}

// Steps of time that have one value throughout do not count.
static void masking(HoloKerasCall *c)
{
    HoloEmit  *e     = c->e;
    HoloValue *x     = holo_keras_in(c, 0);
    int64_t    last  = -1;
    HoloValue *is_it = holo_emit(e, "Equal", HOLO_IN(x, number_like(c, x, holo_keras_float(c, "mask_value", 0))), NULL);
    HoloValue *some  = holo_emit_cast(e, holo_emit(e, "Not", HOLO_IN(is_it), NULL), HOLO_F32);
    some =
        holo_emit(e, "ReduceMax", HOLO_IN(some, holo_emit_ints(e, &last, 1)), HOLO_ATTRS(holo_with_int("keepdims", 1)));
    give(c, holo_emit(e, "Mul", HOLO_IN(x, holo_emit_cast(e, some, holo_emit_dtype(x))), NULL));
    c->out_mask = holo_emit_cast(e, holo_emit_squeeze(e, some, &last, 1), HOLO_BOOL);
}

// ---- joining

// Inputs of fewer dimensions get ones behind the batch, as Keras does.
static HoloValue *lift(HoloKerasCall *c, HoloValue *x, int rank)
{
    int64_t axes[HOLO_MAX_RANK];
    int     more = rank - holo_emit_rank(x);
    for (int i = 0; i < more; i++) axes[i] = i + 1;
    return more > 0 ? holo_emit_unsqueeze(c->e, x, axes, more) : x;
}

static void merge(HoloKerasCall *c)
{
    int rank = 0;
    for (int i = 0; i < c->in_count; i++) rank = holo_emit_rank(c->in[i]) > rank ? holo_emit_rank(c->in[i]) : rank;
    HoloValue *y = lift(c, holo_keras_in(c, 0), rank);
    for (int i = 1; i < c->in_count; i++)
        y = holo_emit(c->e, c->layer->onnx, HOLO_IN(y, lift(c, holo_keras_in(c, i), rank)), NULL);
    if (c->layer->number && c->in_count) y = holo_emit(c->e, "Div", HOLO_IN(y, number_like(c, y, c->in_count)), NULL);
    give(c, y);
}

static void concatenate(HoloKerasCall *c)
{
    int64_t axis = holo_keras_int(c, "axis", -1);
    for (int i = 0; i < c->in_count; i++) holo_keras_in(c, i);
    give(c, holo_emit(c->e, "Concat", (HoloEmitIn){c->in_count, c->in}, HOLO_ATTRS(holo_with_int("axis", axis))));
}

static HoloValue *unit(HoloKerasCall *c, HoloValue *x, int64_t axis)
{
    return holo_emit(c->e, "LpNormalization", HOLO_IN(x),
                     HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("p", 2)));
}

static void dot(HoloKerasCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *a = holo_keras_in(c, 0), *b = holo_keras_in(c, 1);
    int64_t    axes[2], perm[HOLO_MAX_RANK];
    int        ranks[2] = {holo_emit_rank(a), holo_emit_rank(b)};
    holo_keras_ints(c, "axes", axes, 2, -1);
    if (e->status || ranks[0] < 2 || ranks[0] > 3 || ranks[1] < 2 || ranks[1] > 3) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "Dot of inputs with other than 2 or 3 dimensions is not supported");
        return;
    }
    for (int i = 0; i < 2; i++) axes[i] = axes[i] < 0 ? axes[i] + ranks[i] : axes[i];
    if (holo_keras_bool(c, "normalize", false)) {
        a = unit(c, a, axes[0]);
        b = unit(c, b, axes[1]);
    }
    if (ranks[0] == 2 && ranks[1] == 2) {
        int64_t last = 1;
        a            = holo_emit(e, "Mul", HOLO_IN(a, b), NULL);
        give(c, holo_emit(e, "ReduceSum", HOLO_IN(a, holo_emit_ints(e, &last, 1)),
                          HOLO_ATTRS(holo_with_int("keepdims", 1))));
        return;
    }
    perm[0] = 0, perm[1] = 2, perm[2] = 1;
    if (ranks[0] == 3 && axes[0] == 1) a = holo_emit_transpose(e, a, perm, 3);
    if (ranks[1] == 3 && axes[1] == 2) b = holo_emit_transpose(e, b, perm, 3);
    int64_t one = 1, two = 2;
    if (ranks[0] == 2) a = holo_emit_unsqueeze(e, a, &one, 1);
    if (ranks[1] == 2) b = holo_emit_unsqueeze(e, b, &two, 1);
    HoloValue *y = holo_emit(e, "MatMul", HOLO_IN(a, b), NULL);
    if (ranks[0] == 2) y = holo_emit_squeeze(e, y, &one, 1);
    if (ranks[1] == 2) y = holo_emit_squeeze(e, y, &two, 1);
    give(c, y);
}

// ---- normalization

// A vector along one axis, so that it broadcasts.
static HoloValue *along(HoloKerasCall *c, HoloValue *vector, int axis, int rank)
{
    int64_t axes[HOLO_MAX_RANK];
    for (int i = axis + 1; i < rank; i++) axes[i - axis - 1] = i - axis;
    return holo_emit_unsqueeze(c->e, vector, axes, rank - axis - 1);
}

static int axis_of(HoloKerasCall *c, int rank)
{
    const json_t *json = json_object_get(c->config, "axis");
    if (json_is_array(json)) json = json_array_get(json, 0);
    int64_t axis = json_is_integer(json) ? json_integer_value(json) : -1;
    return (int)(axis < 0 ? axis + rank : axis);
}

static void batch_norm(HoloKerasCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_keras_in(c, 0), *gamma = NULL, *beta = NULL, *mean, *variance;
    int        rank = holo_emit_rank(x), axis = axis_of(c, rank);
    double     epsilon = holo_keras_float(c, "epsilon", 1e-3);
    if (holo_keras_bool(c, "scale", true)) gamma = holo_keras_weight(c, "gamma");
    if (holo_keras_bool(c, "center", true)) beta = holo_keras_weight(c, "beta");
    mean     = holo_keras_weight(c, "moving_mean");
    variance = holo_keras_weight(c, "moving_variance");
    if (e->status || axis < 1 || axis >= rank) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "the axis is not one behind the batch");
        return;
    }
    HoloImportWindow w     = holo_window(rank - 2);
    HoloValue       *shape = holo_emit_shape(e, mean);
    if (!gamma) gamma = holo_emit(e, "Expand", HOLO_IN(holo_emit_number(e, HOLO_F32, 1), shape), NULL);
    if (!beta) beta = holo_emit(e, "Expand", HOLO_IN(holo_emit_number(e, HOLO_F32, 0), shape), NULL);
    if (rank >= 3 && rank <= 5 && (axis == 1 || axis == rank - 1)) {
        w.is_first = axis == 1;
        x = holo_emit(e, "BatchNormalization", HOLO_IN(holo_window_open(e, &w, x), gamma, beta, mean, variance),
                      HOLO_ATTRS(holo_with_float("epsilon", epsilon)));
        give(c, holo_window_close(e, &w, x));
        return;
    }
    HoloValue *root = holo_emit(
        e, "Sqrt", HOLO_IN(holo_emit(e, "Add", HOLO_IN(variance, holo_emit_number(e, HOLO_F32, epsilon)), NULL)), NULL);
    HoloValue *scale = holo_emit(e, "Div", HOLO_IN(gamma, root), NULL);
    HoloValue *shift = holo_emit(e, "Sub", HOLO_IN(beta, holo_emit(e, "Mul", HOLO_IN(mean, scale), NULL)), NULL);
    x                = holo_emit(e, "Mul", HOLO_IN(x, along(c, scale, axis, rank)), NULL);
    give(c, holo_emit(e, "Add", HOLO_IN(x, along(c, shift, axis, rank)), NULL));
}

static void layer_norm(HoloKerasCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_keras_in(c, 0), *gamma = NULL, *beta = NULL;
    int        rank = holo_emit_rank(x), axis = axis_of(c, rank);
    double     epsilon = holo_keras_float(c, "epsilon", 1e-3);
    if (holo_keras_bool(c, "scale", true)) gamma = holo_keras_weight(c, "gamma");
    if (holo_keras_bool(c, "center", true)) beta = holo_keras_weight(c, "beta");
    if (e->status || axis < 0 || axis >= rank) {
        holo_emit_fail(e, HOLO_BAD_MODEL, "there is no such axis");
        return;
    }
    if (!gamma)
        gamma = holo_emit(
            e, "Expand", HOLO_IN(holo_emit_number(e, HOLO_F32, 1), holo_emit_sizes(e, x->type.dim + axis, rank - axis)),
            NULL);
    const HoloAttr *attrs = HOLO_ATTRS(holo_with_int("axis", axis), holo_with_float("epsilon", epsilon));
    give(c, beta ? holo_emit(e, "LayerNormalization", HOLO_IN(x, gamma, beta), attrs)
                 : holo_emit(e, "LayerNormalization", HOLO_IN(x, gamma), attrs));
}

static void group_norm(HoloKerasCall *c)
{
    HoloEmit  *e    = c->e;
    HoloValue *x    = holo_keras_in(c, 0), *gamma, *beta;
    int        rank = holo_emit_rank(x), axis = axis_of(c, rank);
    int64_t    groups  = holo_keras_int(c, "groups", 32);
    double     epsilon = holo_keras_float(c, "epsilon", 1e-3);
    gamma              = holo_keras_bool(c, "scale", true) ? holo_keras_weight(c, "gamma") : NULL;
    beta               = holo_keras_bool(c, "center", true) ? holo_keras_weight(c, "beta") : NULL;
    if (e->status || rank < 2 || rank > 5 || (axis != 1 && axis != rank - 1)) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "GroupNormalization needs 2 to 5 dimensions, and channels first or last");
        return;
    }
    const int64_t behind = 2;
    if (rank == 2) x = holo_emit_unsqueeze(e, x, &behind, 1);
    HoloImportWindow w = holo_window(rank == 2 ? 1 : rank - 2);
    w.is_first         = axis == 1;
    HoloDim channels   = x->type.dim[axis];
    if (groups == -1) groups = channels;
    HoloValue *shape = holo_emit_sizes(e, &channels, 1);
    if (!gamma) gamma = holo_emit(e, "Expand", HOLO_IN(holo_emit_number(e, HOLO_F32, 1), shape), NULL);
    if (!beta) beta = holo_emit(e, "Expand", HOLO_IN(holo_emit_number(e, HOLO_F32, 0), shape), NULL);
    x = holo_emit(e, "GroupNormalization", HOLO_IN(holo_window_open(e, &w, x), gamma, beta),
                  HOLO_ATTRS(holo_with_int("num_groups", groups), holo_with_float("epsilon", epsilon)));
    x = holo_window_close(e, &w, x);
    give(c, rank == 2 ? holo_emit_squeeze(e, x, &behind, 1) : x);
}

static void unit_norm(HoloKerasCall *c)
{
    HoloValue *x = holo_keras_in(c, 0);
    give(c, unit(c, x, axis_of(c, holo_emit_rank(x))));
}

// A number, or a list of numbers along the last axis.
static HoloValue *numbers(HoloKerasCall *c, const char *key, double fallback)
{
    const json_t *json = json_object_get(c->config, key);
    while (json_is_array(json) && json_is_array(json_array_get(json, 0))) json = json_array_get(json, 0);
    size_t count = json_array_size(json);
    if (!json_is_array(json))
        return holo_emit_number(c->e, HOLO_F32, json_is_number(json) ? json_number_value(json) : fallback);
    float     *data = HOLO_NEW(c->k->import->arena, float, count + 1);
    HoloTensor t    = {.dtype = HOLO_F32, .rank = 1, .dim = {(int64_t)count}, .data = data};
    if (!data) return holo_emit_fail(c->e, HOLO_NO_MEMORY, "there is no memory");
    for (size_t i = 0; i < count; i++) data[i] = (float)json_number_value(json_array_get(json, i));
    return holo_emit_constant(c->e, NULL, &t);
}

static void rescaling(HoloKerasCall *c)
{
    HoloValue *x = holo_emit_cast(c->e, holo_keras_in(c, 0), HOLO_F32);
    x            = holo_emit(c->e, "Mul", HOLO_IN(x, numbers(c, "scale", 1)), NULL);
    give(c, holo_emit(c->e, "Add", HOLO_IN(x, numbers(c, "offset", 0)), NULL));
}

static void normalization(HoloKerasCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_emit_cast(e, holo_keras_in(c, 0), HOLO_F32), *mean, *variance;
    bool       given =
        json_is_number(json_object_get(c->config, "mean")) || json_is_array(json_object_get(c->config, "mean"));
    mean            = given ? numbers(c, "mean", 0) : holo_keras_weight(c, "mean");
    variance        = given ? numbers(c, "variance", 1) : holo_keras_weight(c, "variance");
    HoloValue *root = holo_emit(
        e, "Max", HOLO_IN(holo_emit(e, "Sqrt", HOLO_IN(variance), NULL), holo_emit_number(e, HOLO_F32, 1e-7)), NULL);
    give(c, holo_emit(e, "Div", HOLO_IN(holo_emit(e, "Sub", HOLO_IN(x, mean), NULL), root), NULL));
}

// ---- attention

// x times a kernel [inputs, heads, size], as [batch, heads, time, size].
static HoloValue *project(HoloKerasCall *c, HoloValue *x, const char *kernel, const char *bias)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    HoloValue           *y       = holo_emit(c->e, "Einsum", HOLO_IN(x, holo_keras_weight(c, kernel)),
                                             HOLO_ATTRS(holo_with_text("equation", "btd,dhk->bthk")));
    if (holo_keras_bool(c, "use_bias", true)) y = holo_emit(c->e, "Add", HOLO_IN(y, holo_keras_weight(c, bias)), NULL);
    return holo_emit_transpose(c->e, y, perm, 4);
}

// Scores, [..., queries, keys], of keys that do not count, or that come after the query, become very small. Then they are
// shares of one.
static HoloValue *shares(HoloKerasCall *c, HoloValue *scores, const HoloValue *query, const HoloValue *key)
{
    HoloEmit            *e      = c->e;
    static const int64_t perm[] = {1, 2};
    bool                 causal = json_is_true(json_object_get(c->extra, "use_causal_mask")) ||
                  json_is_true(json_object_get(c->extra, "causal")) || holo_keras_bool(c, "causal", false);
    HoloValue *least = holo_emit_number(e, HOLO_F32, -1e9);
    if (causal && query && key) {
        HoloDim    sizes[2] = {query->type.dim[1], key->type.dim[1]};
        HoloValue *ones =
            holo_emit(e, "Expand", HOLO_IN(holo_emit_number(e, HOLO_F32, 1), holo_emit_sizes(e, sizes, 2)), NULL);
        HoloValue *before = holo_emit(e, "Trilu", HOLO_IN(ones), HOLO_ATTRS(holo_with_int("upper", 0)));
        scores            = holo_emit(e, "Where", HOLO_IN(holo_emit_cast(e, before, HOLO_BOOL), scores, least), NULL);
    }
    if (c->mask && query == key) {
        int        more = holo_emit_rank(scores) - 2;
        HoloValue *mask = holo_emit_unsqueeze(e, c->mask, perm, more);
        scores          = holo_emit(e, "Where", HOLO_IN(mask, scores, least), NULL);
    }
    return holo_emit(e, "Softmax", HOLO_IN(scores), HOLO_ATTRS(holo_with_int("axis", -1)));
}

static void multi_head_attention(HoloKerasCall *c)
{
    static const int64_t perm[4] = {0, 1, 3, 2}, back[4] = {0, 2, 1, 3};
    HoloEmit            *e     = c->e;
    HoloValue           *query = holo_keras_in(c, 0), *value = c->in_count > 1 ? holo_keras_in(c, 1) : query;
    HoloValue           *key  = c->in_count > 2 ? holo_keras_in(c, 2) : value;
    int64_t              size = holo_keras_int(c, "key_dim", 1);
    if (holo_emit_rank(query) != 3) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "attention over other than one dimension is not supported");
        return;
    }
    HoloValue *q = project(c, query, "query/kernel", "query/bias"), *k = project(c, key, "key/kernel", "key/bias");
    HoloValue *v      = project(c, value, "value/kernel", "value/bias");
    q                 = holo_emit(e, "Mul", HOLO_IN(q, holo_emit_number(e, HOLO_F32, 1 / sqrt((double)size))), NULL);
    HoloValue *scores = holo_emit(e, "MatMul", HOLO_IN(q, holo_emit_transpose(e, k, perm, 4)), NULL);
    scores            = shares(c, scores, query, key);
    HoloValue *y      = holo_emit_transpose(e, holo_emit(e, "MatMul", HOLO_IN(scores, v), NULL), back, 4);
    y                 = holo_emit(e, "Einsum", HOLO_IN(y, holo_keras_weight(c, "attention_output/kernel")),
                                  HOLO_ATTRS(holo_with_text("equation", "bthk,hkd->btd")));
    if (holo_keras_bool(c, "use_bias", true))
        y = holo_emit(e, "Add", HOLO_IN(y, holo_keras_weight(c, "attention_output/bias")), NULL);
    give(c, y);
}

static void attention(HoloKerasCall *c)
{
    static const int64_t perm[3] = {0, 2, 1};
    HoloEmit            *e       = c->e;
    HoloValue           *query = holo_keras_in(c, 0), *value = holo_keras_in(c, 1),
              *key    = c->in_count > 2 ? holo_keras_in(c, 2) : value;
    HoloValue *scores = holo_emit(e, "MatMul", HOLO_IN(query, holo_emit_transpose(e, key, perm, 3)), NULL);
    if (holo_keras_bool(c, "use_scale", false))
        scores = holo_emit(e, "Mul", HOLO_IN(scores, holo_keras_weight(c, "scale")), NULL);
    if (strcmp(holo_keras_text(c, "score_mode", "dot"), "dot")) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "scores other than products (score_mode 'dot') are not supported");
        return;
    }
    scores = shares(c, scores, query, key);
    give(c, holo_emit(e, "MatMul", HOLO_IN(scores, value), NULL));
}

// clang-format off
const HoloKerasLayer holo_keras_layers_plain[] = {
    {"Dense", dense, .keeps_mask = true}, {"Activation", activation, .keeps_mask = true}, {"ReLU", relu, .keeps_mask = true}, {"LeakyReLU", leaky_relu, .keeps_mask = true}, {"ELU", elu, .keeps_mask = true}, {"PReLU", prelu, .keeps_mask = true},
    {"ThresholdedReLU", thresholded_relu, .keeps_mask = true}, {"Softmax", softmax, .keeps_mask = true}, {"Flatten", flatten}, {"Reshape", reshape},
    {"Permute", permute}, {"RepeatVector", repeat_vector}, {"Embedding", embedding}, {"Masking", masking},
    {"Add", merge, "Add", .keeps_mask = true}, {"Subtract", merge, "Sub", .keeps_mask = true}, {"Multiply", merge, "Mul", .keeps_mask = true}, {"Average", merge, "Add", 1, .keeps_mask = true},
    {"Maximum", merge, "Max", .keeps_mask = true}, {"Minimum", merge, "Min", .keeps_mask = true}, {"Concatenate", concatenate, .keeps_mask = true}, {"Dot", dot},
    {"BatchNormalization", batch_norm, .keeps_mask = true}, {"BatchNormalizationV1", batch_norm, .keeps_mask = true}, {"BatchNormalizationV2", batch_norm, .keeps_mask = true},
    {"SyncBatchNormalization", batch_norm, .keeps_mask = true}, {"LayerNormalization", layer_norm, .keeps_mask = true}, {"GroupNormalization", group_norm, .keeps_mask = true},
    {"UnitNormalization", unit_norm, .keeps_mask = true}, {"Rescaling", rescaling}, {"Normalization", normalization},
    {"MultiHeadAttention", multi_head_attention, .keeps_mask = true}, {"Attention", attention, .keeps_mask = true},
    {"InputLayer", same, .keeps_mask = true}, {"Dropout", same, .keeps_mask = true}, {"SpatialDropout1D", same, .keeps_mask = true}, {"SpatialDropout2D", same},
    {"SpatialDropout3D", same}, {"GaussianNoise", same, .keeps_mask = true}, {"GaussianDropout", same, .keeps_mask = true}, {"AlphaDropout", same, .keeps_mask = true},
    {"ActivityRegularization", same, .keeps_mask = true}, {"Identity", same, .keeps_mask = true}, {"RandomFlip", same}, {"RandomRotation", same},
    {"RandomZoom", same}, {"RandomTranslation", same}, {"RandomContrast", same}, {"RandomBrightness", same},
    {"RandomCrop", same},
    {0},
};
