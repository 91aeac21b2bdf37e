// keras_layers_window.c - Keras layers with windows: convolutions, pooling, padding, cropping, resizing.
#include "import/keras/keras.h"

// The rows leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static void give(HoloKerasCall *c, HoloValue *value)
{
    c->out[0]    = value;
    c->out_count = 1;
}

static HoloImportWindow read_window(HoloKerasCall *c, int rank)
{
    HoloImportWindow w       = holo_window(rank);
    const char      *padding = holo_keras_text(c, "padding", "valid");
    w.is_first               = holo_keras_is_first(c);
    holo_keras_ints(c, "kernel_size", w.size, rank, 1);
    holo_keras_ints(c, "strides", w.stride, rank, 1);
    holo_keras_ints(c, "dilation_rate", w.dilation, rank, 1);
    if (!strcmp(padding, "same")) w.padding = HOLO_PADDING_SAME;
    if (!strcmp(padding, "causal")) {
        w.padding = HOLO_PADDING_EXPLICIT;
        w.pad[0]  = (w.size[0] - 1) * w.dilation[0];
    }
    return w;
}

static HoloValue *bias_of(HoloKerasCall *c)
{
    return holo_keras_bool(c, "use_bias", true) ? holo_keras_weight(c, "bias") : NULL;
}

static void finish(HoloKerasCall *c, HoloValue *y)
{
    give(c, holo_keras_activation(c, json_object_get(c->config, "activation"), y));
}

static void conv(HoloKerasCall *c)
{
    HoloImportWindow w      = read_window(c, c->layer->number);
    HoloValue       *filter = holo_keras_weight(c, "kernel"), *bias = bias_of(c);
    finish(c, holo_window_conv(c->e, &w, holo_keras_in(c, 0), filter, bias));
}

// Keras 3 calls the weight "kernel".
static void depthwise(HoloKerasCall *c)
{
    HoloImportWindow w      = read_window(c, c->layer->number);
    HoloValue       *filter = holo_keras_weight(c, "depthwise_kernel"), *bias = bias_of(c);
    for (int i = 0; i < w.rank && c->k->is_js; i++) w.dilation[i] = 1; // TensorFlow.js leaves it out
    finish(c, holo_window_depthwise(c->e, &w, holo_keras_in(c, 0), filter, bias));
}

static void separable(HoloKerasCall *c)
{
    HoloImportWindow w = read_window(c, c->layer->number), point = holo_window(c->layer->number);
    HoloValue       *deep = holo_keras_weight(c, "depthwise_kernel"), *mix = holo_keras_weight(c, "pointwise_kernel"),
              *bias = bias_of(c);
    point.is_first  = w.is_first;
    HoloValue *y    = holo_window_depthwise(c->e, &w, holo_keras_in(c, 0), deep, NULL);
    finish(c, holo_window_conv(c->e, &point, y, mix, bias));
}

static void conv_transpose(HoloKerasCall *c)
{
    HoloImportWindow w      = read_window(c, c->layer->number);
    const json_t    *more   = json_object_get(c->config, "output_padding");
    HoloValue       *filter = holo_keras_weight(c, "kernel"), *bias = bias_of(c), *x = holo_keras_in(c, 0);
    HoloDim          sizes[HOLO_WINDOW_MAX];
    int64_t          extra[HOLO_WINDOW_MAX];
    HoloDims        *dims = c->e->status ? NULL : c->e->graph->dims;
    if (c->e->status || holo_emit_rank(x) != w.rank + 2) return;
    holo_keras_ints(c, "output_padding", extra, w.rank, 0);
    for (int i = 0; i < w.rank; i++) { // as Keras computes the size of the output
        HoloDim in     = x->type.dim[i + (w.is_first ? 2 : 1)];
        int64_t window = (w.size[i] - 1) * w.dilation[i] + 1;
        bool    same   = w.padding == HOLO_PADDING_SAME;
        if (!more || json_is_null(more)) {
            int64_t beyond = window > w.stride[i] && !same ? window - w.stride[i] : 0;
            sizes[i]       = holo_dim_add(dims, holo_dim_mul(dims, in, w.stride[i]), beyond);
        } else {
            int64_t pad = same ? window / 2 : 0;
            sizes[i]    = holo_dim_add(dims, holo_dim_mul(dims, holo_dim_sub(dims, in, 1), w.stride[i]),
                                       window - 2 * pad + extra[i]);
        }
    }
    finish(c, holo_window_deconv(c->e, &w, x, filter, bias, sizes));
}

static void pool(HoloKerasCall *c)
{
    HoloImportWindow w       = read_window(c, c->layer->number);
    const json_t    *strides = json_object_get(c->config, "strides");
    holo_keras_ints(c, "pool_size", w.size, w.rank, 2);
    if (!strides || json_is_null(strides)) memcpy(w.stride, w.size, sizeof w.stride);
    give(c, holo_window_pool(c->e, &w, c->layer->onnx, holo_keras_in(c, 0)));
}

// The mean over the steps that count.
static HoloValue *masked_mean(HoloKerasCall *c, int64_t keep)
{
    HoloEmit  *e    = c->e;
    int64_t    last = -1, time = 1;
    HoloValue *m = holo_emit_unsqueeze(e, holo_emit_cast(e, c->mask, HOLO_F32), &last, 1);
    HoloValue *y = holo_emit(e, "Mul", HOLO_IN(holo_keras_in(c, 0), m), NULL), *sum[2] = {y, m};
    for (int i = 0; i < 2; i++)
        sum[i] = holo_emit(e, "ReduceSum", HOLO_IN(sum[i], holo_emit_ints(e, &time, 1)),
                           HOLO_ATTRS(holo_with_int("keepdims", keep)));
    return holo_emit(e, "Div", HOLO_IN(sum[0], sum[1]), NULL);
}

static void global_pool(HoloKerasCall *c)
{
    int64_t axes[HOLO_WINDOW_MAX], keep = holo_keras_bool(c, "keepdims", false);
    int     rank = c->layer->number;
    for (int i = 0; i < rank; i++) axes[i] = i + (holo_keras_is_first(c) ? 2 : 1);
    if (c->mask && rank == 1 && !c->k->is_js && !holo_keras_is_first(c) && !strcmp(c->layer->onnx, "ReduceMean")) {
        give(c, masked_mean(c, keep));
        return;
    }
    give(c, holo_emit(c->e, c->layer->onnx, HOLO_IN(holo_keras_in(c, 0), holo_emit_ints(c->e, axes, rank)),
                      HOLO_ATTRS(holo_with_int("keepdims", keep))));
}

// ---- edges

// A number, a pair for each dimension, or a pair of pairs: at the beginning and at the end of each dimension.
static void read_edges(HoloKerasCall *c, const char *key, int rank, int64_t *out)
{
    const json_t *json = json_object_get(c->config, key);
    for (int i = 0; i < rank; i++) {
        const json_t *item = json_is_array(json) ? json_array_get(json, (size_t)i) : json;
        if (rank == 1 && json_is_array(json) && !json_is_array(item)) item = json;
        for (int k = 0; k < 2; k++) {
            const json_t *number = json_is_array(item) ? json_array_get(item, (size_t)k) : item;
            out[2 * i + k]       = json_integer_value(number);
        }
    }
}

static void zero_padding(HoloKerasCall *c)
{
    int     rank = c->layer->number, at                                 = holo_keras_is_first(c) ? 2 : 1;
    int64_t edges[2 * HOLO_WINDOW_MAX], pads[2 * (HOLO_WINDOW_MAX + 2)] = {0};
    read_edges(c, "padding", rank, edges);
    for (int i = 0; i < rank; i++) {
        pads[at + i]            = edges[2 * i];
        pads[rank + 2 + at + i] = edges[2 * i + 1];
    }
    give(c, holo_emit(c->e, "Pad", HOLO_IN(holo_keras_in(c, 0), holo_emit_ints(c->e, pads, 2 * (rank + 2))), NULL));
}

static void cropping(HoloKerasCall *c)
{
    int        rank = c->layer->number, at = holo_keras_is_first(c) ? 2 : 1;
    int64_t    edges[2 * HOLO_WINDOW_MAX];
    HoloValue *x = holo_keras_in(c, 0);
    read_edges(c, "cropping", rank, edges);
    for (int i = 0; i < rank; i++)
        if (edges[2 * i] || edges[2 * i + 1])
            x = holo_emit_slice(c->e, x, at + i, edges[2 * i], edges[2 * i + 1] ? -edges[2 * i + 1] : INT64_MAX, 1);
    give(c, x);
}

// ---- sizes

static void up_sampling(HoloKerasCall *c)
{
    HoloEmit        *e    = c->e;
    int              rank = c->layer->number;
    HoloImportWindow w    = holo_window(rank);
    int64_t          times[HOLO_WINDOW_MAX];
    float           *scales = HOLO_NEW(c->k->import->arena, float, rank + 2);
    HoloTensor       t      = {.dtype = HOLO_F32, .rank = 1, .dim = {rank + 2}, .data = scales};
    const char      *how    = holo_keras_text(c, "interpolation", "nearest");
    bool             near   = !strcmp(how, "nearest");
    w.is_first              = holo_keras_is_first(c);
    holo_keras_ints(c, "size", times, rank, 2);
    if (!near && strcmp(how, "bilinear")) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "the interpolation '%.60s' is not supported", how);
        return;
    }
    if (!scales) return;
    scales[0] = scales[1] = 1;
    for (int i = 0; i < rank; i++) scales[i + 2] = (float)times[i];
    HoloValue *x = holo_window_open(e, &w, holo_keras_in(c, 0));
    x            = holo_emit(
                   e, "Resize", HOLO_IN(x, NULL, holo_emit_constant(e, NULL, &t)),
                   HOLO_ATTRS(holo_with_text("mode", near ? "nearest" : "linear"),
                              holo_with_text("coordinate_transformation_mode", near || c->k->is_js ? "asymmetric" : "half_pixel"),
                              holo_with_text("nearest_mode", "floor")));
    give(c, holo_window_close(e, &w, x));
}

static void resizing(HoloKerasCall *c)
{
    static const int64_t axes[2]  = {2, 3};
    HoloEmit            *e        = c->e;
    HoloImportWindow     w        = holo_window(2);
    int64_t              sizes[2] = {holo_keras_int(c, "height", 1), holo_keras_int(c, "width", 1)};
    const char          *how      = holo_keras_text(c, "interpolation", "bilinear");
    bool                 near     = !strcmp(how, "nearest");
    w.is_first                    = holo_keras_is_first(c);
    if ((!near && strcmp(how, "bilinear")) || holo_keras_bool(c, "crop_to_aspect_ratio", false)) {
        holo_emit_fail(e, HOLO_UNSUPPORTED, "this way of resizing is not supported");
        return;
    }
    HoloValue *x =
        holo_window_open(e, &w, near ? holo_keras_in(c, 0) : holo_emit_cast(e, holo_keras_in(c, 0), HOLO_F32));
    x = holo_emit(
        e, "Resize", HOLO_IN(x, NULL, NULL, holo_emit_ints(e, sizes, 2)),
        HOLO_ATTRS(holo_with_text("mode", near ? "nearest" : "linear"),
                   holo_with_text("coordinate_transformation_mode", c->k->is_js ? "align_corners" : "half_pixel"),
                   holo_with_text("nearest_mode", "round_prefer_ceil"), holo_with_ints("axes", axes, 2)));
    give(c, holo_window_close(e, &w, x));
}

static void center_crop(HoloKerasCall *c)
{
    HoloValue *x        = holo_keras_in(c, 0);
    int        at       = holo_keras_is_first(c) ? 2 : 1;
    int64_t    sizes[2] = {holo_keras_int(c, "height", 1), holo_keras_int(c, "width", 1)};
    for (int i = 0; i < 2 && !c->e->status; i++) {
        int64_t whole = holo_emit_rank(x) > at + i ? x->type.dim[at + i] : 0;
        if (holo_dim_is_symbolic(whole) || whole < sizes[i]) {
            holo_emit_fail(c->e, HOLO_UNSUPPORTED, "the image must have a known size, at least that of the crop");
            return;
        }
        int64_t begin = (whole - sizes[i]) / 2;
        x             = holo_emit_slice(c->e, x, at + i, begin, begin + sizes[i], 1);
    }
    give(c, x);
}

// clang-format off
const HoloKerasLayer holo_keras_layers_window[] = {
    {"Conv1D", conv, NULL, 1}, {"Conv2D", conv, NULL, 2}, {"Conv3D", conv, NULL, 3}, {"Convolution2D", conv, NULL, 2},
    {"DepthwiseConv1D", depthwise, NULL, 1}, {"DepthwiseConv2D", depthwise, NULL, 2},
    {"SeparableConv1D", separable, NULL, 1}, {"SeparableConv2D", separable, NULL, 2},
    {"Conv1DTranspose", conv_transpose, NULL, 1}, {"Conv2DTranspose", conv_transpose, NULL, 2},
    {"Conv3DTranspose", conv_transpose, NULL, 3},
    {"MaxPooling1D", pool, "MaxPool", 1}, {"MaxPooling2D", pool, "MaxPool", 2}, {"MaxPooling3D", pool, "MaxPool", 3},
    {"AveragePooling1D", pool, "AveragePool", 1}, {"AveragePooling2D", pool, "AveragePool", 2},
    {"AveragePooling3D", pool, "AveragePool", 3},
    {"GlobalMaxPooling1D", global_pool, "ReduceMax", 1}, {"GlobalMaxPooling2D", global_pool, "ReduceMax", 2},
    {"GlobalMaxPooling3D", global_pool, "ReduceMax", 3}, {"GlobalAveragePooling1D", global_pool, "ReduceMean", 1},
    {"GlobalAveragePooling2D", global_pool, "ReduceMean", 2}, {"GlobalAveragePooling3D", global_pool, "ReduceMean", 3},
    {"ZeroPadding1D", zero_padding, NULL, 1}, {"ZeroPadding2D", zero_padding, NULL, 2},
    {"ZeroPadding3D", zero_padding, NULL, 3}, {"Cropping1D", cropping, NULL, 1}, {"Cropping2D", cropping, NULL, 2},
    {"Cropping3D", cropping, NULL, 3}, {"UpSampling1D", up_sampling, NULL, 1}, {"UpSampling2D", up_sampling, NULL, 2},
    {"UpSampling3D", up_sampling, NULL, 3}, {"Resizing", resizing}, {"CenterCrop", center_crop},
    {0},
};
