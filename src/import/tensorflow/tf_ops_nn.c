// tf_ops_nn.c - convolutions, pooling and normalization of TensorFlow.
#include "import/import_window.h"
#include "import/tensorflow/tf_ops.h"

#include <math.h>

// ---- activations and what fused nodes do

static const struct {
    const char *name, *onnx;
} activations[] = {
    {"Relu", "Relu"}, {"Elu", "Elu"},           {"Sigmoid", "Sigmoid"}, {"Tanh", "Tanh"},
    {"Selu", "Selu"}, {"Softplus", "Softplus"}, {"GeluExact", "Gelu"},
};

HoloValue *holo_flow_activation(HoloFlowCall *c, HoloString name, HoloValue *x)
{
    HoloDtype t = holo_emit_dtype(x);
    for (int i = 0; i < HOLO_COUNT(activations); i++)
        if (holo_flow_is(name, activations[i].name)) return holo_emit(c->e, activations[i].onnx, HOLO_IN(x), NULL);
    if (holo_flow_is(name, "Relu6"))
        return holo_emit(c->e, "Clip", HOLO_IN(x, holo_emit_number(c->e, t, 0), holo_emit_number(c->e, t, 6)), NULL);
    if (holo_flow_is(name, "LeakyRelu"))
        return holo_emit(c->e, "LeakyRelu", HOLO_IN(x),
                         HOLO_ATTRS(holo_with_float("alpha", holo_flow_float(c, "leakyrelu_alpha", 0.2))));
    if (holo_flow_is(name, "GeluApproximate"))
        return holo_emit(c->e, "Gelu", HOLO_IN(x), HOLO_ATTRS(holo_with_text("approximate", "tanh")));
    return NULL;
}

HoloValue *holo_flow_fused(HoloFlowCall *c, HoloValue *y, int first, bool has_bias)
{
    HoloString ops[16];
    int        count = holo_flow_strings(c, "fused_ops", ops, HOLO_COUNT(ops));
    for (int i = 0; i < count && !c->e->status; i++) {
        if (holo_flow_is(ops[i], "BiasAdd")) {
            if (!has_bias) y = holo_emit(c->e, "Add", HOLO_IN(y, holo_flow_in(c, first)), NULL);
            first++;
        } else if (holo_flow_is(ops[i], "Prelu")) {
            y = holo_emit(c->e, "PRelu", HOLO_IN(y, holo_flow_in(c, first)), NULL);
            first++;
        } else {
            HoloValue *done = holo_flow_activation(c, ops[i], y);
            if (!done && !c->e->status)
                holo_flow_fail(c, HOLO_UNSUPPORTED, "the fused operation '%.*s' is not supported",
                               HOLO_IMPORT_ARG(ops[i]));
            y = done;
        }
    }
    return y;
}

// ---- windows

// Reads strides, dilations and padding. `attr_size` names the attribute of a pool's size; NULL: the filter has it.
static HoloImportWindow read_window(HoloFlowCall *c, int rank, const char *attr_size)
{
    HoloImportWindow w = holo_window(rank);
    HoloString format = holo_flow_string(c, "data_format", "NHWC"), padding = holo_flow_string(c, "padding", "VALID");
    int64_t    strides[5] = {1, 1, 1, 1, 1}, dilations[5] = {1, 1, 1, 1, 1}, sizes[5] = {1, 1, 1, 1, 1}, pads[10];
    w.is_first = format.size > 1 && format.data[1] == 'C';
    int at     = w.is_first ? 2 : 1;
    holo_flow_ints(c, "strides", strides, 5);
    holo_flow_ints(c, "dilations", dilations, 5);
    if (attr_size) holo_flow_ints(c, attr_size, sizes, 5);
    for (int i = 0; i < rank; i++) {
        w.stride[i]   = strides[at + i];
        w.dilation[i] = dilations[at + i];
        w.size[i]     = sizes[at + i];
    }
    if (rank == 1) { // TensorFlow.js alone has it
        w.stride[0]   = holo_flow_int(c, "stride", w.stride[0]);
        w.dilation[0] = holo_flow_int(c, "dilation", w.dilation[0]);
    }
    if (attr_size && (sizes[0] != 1 || sizes[w.is_first ? 1 : rank + 1] != 1))
        holo_flow_fail(c, HOLO_UNSUPPORTED, "pooling over the batch or the channels is not supported");
    if (holo_flow_is(padding, "SAME")) w.padding = HOLO_PADDING_SAME;
    if (holo_flow_is(padding, "EXPLICIT")) {
        w.padding = HOLO_PADDING_EXPLICIT;
        if (holo_flow_ints(c, "explicit_paddings", pads, 10) != 2 * (rank + 2)) {
            holo_flow_fail(c, HOLO_BAD_MODEL, "explicit_paddings should have %d numbers", 2 * (rank + 2));
            return w;
        }
        for (int i = 0; i < rank; i++) {
            w.pad[i]        = pads[2 * (at + i)];
            w.pad[i + rank] = pads[2 * (at + i) + 1];
        }
    }
    return w;
}

static bool is_fused_bias(HoloFlowCall *c)
{
    HoloString ops[16];
    return holo_flow_strings(c, "fused_ops", ops, HOLO_COUNT(ops)) > 0 && holo_flow_is(ops[0], "BiasAdd") &&
           c->in_count > 2;
}

// The bias of a fused node, as a vector; NULL: it has none that a convolution could take.
static HoloValue *fused_bias(HoloFlowCall *c)
{
    HoloValue *bias = is_fused_bias(c) ? holo_flow_in(c, 2) : NULL;
    return holo_emit_rank(bias) == 1 ? bias : NULL;
}

// number: dimensions of the window; onnx: "depthwise", or nothing.
static void conv(HoloFlowCall *c)
{
    HoloImportWindow w = read_window(c, c->op->number, NULL);
    HoloValue       *x = holo_flow_in(c, 0), *filter = holo_flow_in(c, 1), *bias = fused_bias(c);
    if (c->e->status) return;
    if (holo_emit_dtype(x) != holo_emit_dtype(filter)) x = holo_emit_cast(c->e, x, holo_emit_dtype(filter));
    HoloValue *y =
        c->op->onnx ? holo_window_depthwise(c->e, &w, x, filter, bias) : holo_window_conv(c->e, &w, x, filter, bias);
    holo_flow_out(c, 0, holo_flow_fused(c, y, 2, bias != NULL));
}

// Each channel by itself: [height, width, channels, outputs of each] to [height, width, 1, channels * outputs].
static HoloValue *depthwise_filter(HoloFlowCall *c, HoloImportWindow *w, HoloValue *filter)
{
    int64_t sizes[] = {0, 0, 1, -1};
    if (holo_flow_rank(c, filter) != 4 || holo_dim_is_symbolic(filter->type.dim[2])) {
        if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "the sizes of the filter should be 4 numbers");
        return NULL;
    }
    w->groups = filter->type.dim[2];
    return holo_emit_reshape(c->e, filter, sizes, 4);
}

// number: dimensions of the window; onnx: "depthwise", or nothing.
static void conv_backprop(HoloFlowCall *c)
{
    HoloImportWindow w     = read_window(c, c->op->number, NULL);
    HoloValue       *shape = holo_flow_in(c, 0), *filter = holo_flow_in(c, 1), *x = holo_flow_in(c, 2);
    HoloDim          sizes[HOLO_WINDOW_MAX];
    int64_t          known[HOLO_MAX_RANK];
    int              count = 0;
    if (c->e->status) return;
    bool is_known = holo_emit_known_ints(c->e, shape, known, HOLO_MAX_RANK, &count);
    if (is_known && count != w.rank && count != w.rank + 2)
        return holo_flow_fail(c, HOLO_BAD_MODEL, "the sizes should be %d numbers", w.rank + 2);
    if (is_known && count == w.rank) // only the window's dimensions, as some exporters have it
        for (int i = 0; i < w.rank; i++) sizes[i] = known[i];
    else
        for (int i = 0; i < w.rank; i++) {
            int at   = i + (w.is_first ? 2 : 1);
            sizes[i] = is_known ? known[at] : shape->contents ? shape->contents[at] : HOLO_DIM_UNKNOWN;
        }
    bool all = true;
    for (int i = 0; i < w.rank; i++)
        all &= sizes[i] != HOLO_DIM_UNKNOWN && (sizes[i] >= 0 || holo_dim_is_symbolic(sizes[i]));
    if (c->op->onnx) filter = depthwise_filter(c, &w, filter);
    holo_flow_out(c, 0, holo_window_deconv(c->e, &w, x, filter, NULL, all ? sizes : NULL));
}

static void pool(HoloFlowCall *c)
{
    HoloImportWindow w = read_window(c, c->op->number, "ksize");
    holo_flow_out(c, 0, holo_window_pool(c->e, &w, c->op->onnx, holo_flow_in(c, 0)));
}

// The window is given by inputs.
static void pool_v2(HoloFlowCall *c)
{
    HoloImportWindow w = read_window(c, 2, NULL);
    int64_t          sizes[8], strides[8];
    if (holo_flow_known(c, 1, sizes, 8) != 4 || holo_flow_known(c, 2, strides, 8) != 4) {
        if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "sizes and strides should be 4 numbers");
        return;
    }
    for (int i = 0; i < 2; i++) {
        w.size[i]   = sizes[i + (w.is_first ? 2 : 1)];
        w.stride[i] = strides[i + (w.is_first ? 2 : 1)];
    }
    holo_flow_out(c, 0, holo_window_pool(c->e, &w, c->op->onnx, holo_flow_in(c, 0)));
}

// The place of the maximum: as ONNX counts, channels before rows, then as TensorFlow does.
static void pool_argmax(HoloFlowCall *c)
{
    HoloEmit        *e = c->e;
    HoloImportWindow w = read_window(c, 2, "ksize");
    HoloValue       *x = holo_window_open(e, &w, holo_flow_in(c, 0)), *out[2] = {0};
    if (e->status) return;
    HoloDim              sizes[2] = {holo_dim_mul(e->graph->dims, x->type.dim[2], x->type.dim[3]), x->type.dim[1]};
    static const int64_t zero     = 0;
    holo_emit_many(e, "MaxPool", HOLO_IN(x),
                   HOLO_ATTRS(holo_with_ints("kernel_shape", w.size, 2), holo_with_ints("strides", w.stride, 2),
                              holo_with_text("auto_pad", w.padding == HOLO_PADDING_SAME ? "SAME_UPPER" : "VALID")),
                   out, 2);
    HoloValue *area = holo_emit_sizes(e, sizes, 1), *channels = holo_emit_sizes(e, sizes + 1, 1);
    area               = holo_emit_squeeze(e, area, &zero, 1);
    channels           = holo_emit_squeeze(e, channels, &zero, 1);
    HoloValue *place   = holo_emit(e, "Mod", HOLO_IN(out[1], area), NULL);
    HoloValue *plane   = holo_emit(e, "Div", HOLO_IN(out[1], area), NULL);
    HoloValue *channel = holo_emit(e, "Mod", HOLO_IN(plane, channels), NULL);
    HoloValue *index = holo_emit(e, "Add", HOLO_IN(holo_emit(e, "Mul", HOLO_IN(place, channels), NULL), channel), NULL);
    if (holo_flow_bool(c, "include_batch_in_index", false)) {
        HoloValue *batch = holo_emit(e, "Div", HOLO_IN(plane, channels), NULL);
        HoloValue *whole = holo_emit(e, "Mul", HOLO_IN(area, channels), NULL);
        index            = holo_emit(e, "Add", HOLO_IN(index, holo_emit(e, "Mul", HOLO_IN(batch, whole), NULL)), NULL);
    }
    HoloDtype type = holo_flow_type(c, "Targmax");
    holo_flow_out(c, 0, holo_window_close(e, &w, out[0]));
    holo_flow_out(c, 1, holo_emit_cast(e, holo_window_close(e, &w, index), type ? type : HOLO_I64));
}

// ---- normalization

static void batch_norm(HoloFlowCall *c)
{
    HoloValue       *x       = holo_flow_in(c, 0);
    int              rank    = holo_flow_rank(c, x);
    HoloString       format  = holo_flow_string(c, "data_format", "NHWC");
    double           epsilon = holo_flow_float(c, "epsilon", 1e-4);
    HoloImportWindow w       = holo_window(rank - 2);
    HoloValue       *mean = holo_flow_in(c, 3), *variance = holo_flow_in(c, 4);
    if (c->e->status) return;
    if (rank < 3 || rank > 5) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "the input has %d dimensions, not 3 to 5", rank);
        return;
    }
    w.is_first  = format.size > 1 && format.data[1] == 'C';
    x           = holo_window_open(c->e, &w, x);
    bool trains = holo_flow_bool(c, "is_training", true) && holo_emit_rank(mean) == 1 && mean->type.dim[0] == 0;
    if (trains) { // statistics of this very input
        int64_t    axes[4] = {0, 2, 3, 4};
        HoloValue *over    = holo_emit_ints(c->e, axes, rank - 1);
        mean               = holo_emit(c->e, "ReduceMean", HOLO_IN(x, over), HOLO_ATTRS(holo_with_int("keepdims", 1)));
        HoloValue *d       = holo_emit(c->e, "Sub", HOLO_IN(x, mean), NULL);
        variance           = holo_emit(c->e, "ReduceMean", HOLO_IN(holo_emit(c->e, "Mul", HOLO_IN(d, d), NULL), over),
                                       HOLO_ATTRS(holo_with_int("keepdims", 0)));
        mean               = holo_emit(c->e, "ReduceMean", HOLO_IN(x, over), HOLO_ATTRS(holo_with_int("keepdims", 0)));
    }
    HoloValue *y =
        holo_emit(c->e, "BatchNormalization", HOLO_IN(x, holo_flow_in(c, 1), holo_flow_in(c, 2), mean, variance),
                  HOLO_ATTRS(holo_with_float("epsilon", epsilon)));
    y                     = holo_window_close(c->e, &w, y);
    HoloString activation = holo_flow_string(c, "activation_mode", "Identity");
    if (c->in_count > 5 && holo_flow_has(c, 5)) y = holo_emit(c->e, "Add", HOLO_IN(y, holo_flow_in(c, 5)), NULL);
    if (holo_flow_is(activation, "Relu")) y = holo_emit(c->e, "Relu", HOLO_IN(y), NULL);
    holo_flow_out(c, 0, y);
    for (int i = 1; i < 5; i++) holo_flow_out(c, i, i % 2 ? mean : variance);
}

// The old form: t, m, v, beta, gamma.
static void batch_norm_global(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *gamma = holo_flow_in(c, 4), *epsilon, *root;
    epsilon = holo_emit_number(e, HOLO_F32, holo_flow_float(c, "variance_epsilon", 1e-3));
    root    = holo_emit(e, "Sqrt", HOLO_IN(holo_emit(e, "Add", HOLO_IN(holo_flow_in(c, 2), epsilon), NULL)), NULL);
    HoloValue *scale = holo_emit(e, "Reciprocal", HOLO_IN(root), NULL);
    if (holo_flow_bool(c, "scale_after_normalization", false)) scale = holo_emit(e, "Mul", HOLO_IN(scale, gamma), NULL);
    x = holo_emit(e, "Mul", HOLO_IN(holo_emit(e, "Sub", HOLO_IN(x, holo_flow_in(c, 1)), NULL), scale), NULL);
    holo_flow_out(c, 0, holo_emit(e, "Add", HOLO_IN(x, holo_flow_in(c, 3)), NULL));
}

static void bias_add(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *bias = holo_flow_in(c, 1);
    HoloString format = holo_flow_string(c, "data_format", "NHWC");
    int        rank   = holo_flow_rank(c, x);
    if (format.size > 1 && format.data[1] == 'C' && rank > 2) {
        int64_t axes[HOLO_MAX_RANK];
        for (int i = 1; i < rank - 1; i++) axes[i - 1] = i;
        bias = holo_emit_unsqueeze(c->e, bias, axes, rank - 2);
    }
    holo_flow_out(c, 0, holo_flow_binary(c, "Add", x, bias));
}

static void lrn(HoloFlowCall *c)
{
    int64_t          size = 2 * holo_flow_int(c, "depth_radius", 5) + 1;
    double           bias = holo_flow_float(c, "bias", 1), alpha = holo_flow_float(c, "alpha", 1);
    double           beta = holo_flow_float(c, "beta", 0.5);
    HoloImportWindow w    = holo_window(2);
    HoloValue       *x    = holo_window_open(c->e, &w, holo_flow_in(c, 0));
    x                     = holo_emit(c->e, "LRN", HOLO_IN(x),
                                      HOLO_ATTRS(holo_with_int("size", size), holo_with_float("bias", bias),
                                                 holo_with_float("alpha", alpha * (double)size), holo_with_float("beta", beta)));
    holo_flow_out(c, 0, holo_window_close(c->e, &w, x));
}

// ---- numbers as if they were quantized

static HoloValue *steps(HoloFlowCall *c, HoloValue *x, double low, double high, int64_t bits, bool narrow)
{
    HoloEmit *e    = c->e;
    double    most = (double)((INT64_C(1) << bits) - 1), least = narrow ? 1 : 0;
    if (!(low < high)) {
        holo_flow_fail(c, HOLO_BAD_MODEL, "the range is empty");
        return NULL;
    }
    float      scale = (float)((high - low) / (most - least));
    float      zero  = (float)least - (float)low / scale;
    double     point = zero < least ? least : zero > most ? most : round(zero);
    HoloValue *from  = holo_emit_number(e, HOLO_F32, (least - point) * scale);
    HoloValue *to = holo_emit_number(e, HOLO_F32, (most - point) * scale), *step = holo_emit_number(e, HOLO_F32, scale);
    x = holo_emit(e, "Sub", HOLO_IN(holo_emit(e, "Clip", HOLO_IN(x, from, to), NULL), from), NULL);
    x = holo_emit(e, "Add", HOLO_IN(holo_emit(e, "Div", HOLO_IN(x, step), NULL), holo_emit_number(e, HOLO_F32, 0.5)),
                  NULL);
    x = holo_emit(e, "Mul", HOLO_IN(holo_emit(e, "Floor", HOLO_IN(x), NULL), step), NULL);
    return holo_emit(e, "Add", HOLO_IN(x, from), NULL);
}

// number: whether the range comes from inputs.
static void fake_quant(HoloFlowCall *c)
{
    HoloValue *x   = holo_flow_in(c, 0);
    double     low = holo_flow_float(c, "min", -6), high = holo_flow_float(c, "max", 6);
    int64_t    bits   = holo_flow_int(c, "num_bits", 8);
    bool       narrow = holo_flow_bool(c, "narrow_range", false);
    if (c->tf->is_js) {
        holo_flow_out(c, 0, x);
        return;
    }
    if (bits < 2 || bits > 16) {
        holo_flow_fail(c, HOLO_BAD_MODEL, "num_bits is not 2 to 16");
        return;
    }
    if (c->op->number && (!holo_emit_known_number(c->e, holo_flow_in(c, 1), &low) ||
                          !holo_emit_known_number(c->e, holo_flow_in(c, 2), &high))) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "the range must be two known numbers");
        return;
    }
    holo_flow_out(c, 0, steps(c, x, low, high, bits, narrow));
}

#define BATCH_NORM_OUTS "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"

// clang-format off
const HoloFlowOp holo_flow_ops_nn[] = {
    {"Conv2D", conv, NULL, 2}, {"_FusedConv2D", conv, NULL, 2}, {"Conv3D", conv, NULL, 3}, {"Conv1D", conv, NULL, 1},
    {"DepthwiseConv2d", conv, "depthwise", 2}, {"DepthwiseConv2dNative", conv, "depthwise", 2},
    {"FusedDepthwiseConv2dNative", conv, "depthwise", 2}, {"_FusedDepthwiseConv2dNative", conv, "depthwise", 2},
    {"Conv2DBackpropInput", conv_backprop, NULL, 2}, {"Conv3DBackpropInputV2", conv_backprop, NULL, 3},
    {"DepthwiseConv2dNativeBackpropInput", conv_backprop, "depthwise", 2},
    {"MaxPool", pool, "MaxPool", 2}, {"AvgPool", pool, "AveragePool", 2}, {"MaxPool3D", pool, "MaxPool", 3},
    {"AvgPool3D", pool, "AveragePool", 3}, {"MaxPoolV2", pool_v2, "MaxPool", 2},
    {"MaxPoolWithArgmax", pool_argmax, .outs = "output argmax"},
    {"FusedBatchNorm", batch_norm, .outs = BATCH_NORM_OUTS}, {"FusedBatchNormV2", batch_norm, .outs = BATCH_NORM_OUTS},
    {"FusedBatchNormV3", batch_norm, .outs = BATCH_NORM_OUTS},
    {"_FusedBatchNormEx", batch_norm, .outs = BATCH_NORM_OUTS},
    {"BatchNormWithGlobalNormalization", batch_norm_global},
    {"BiasAdd", bias_add}, {"BiasAddV1", bias_add}, {"LRN", lrn},
    {"FakeQuantWithMinMaxArgs", fake_quant, NULL, 0}, {"FakeQuantWithMinMaxVars", fake_quant, NULL, 1},
    {0},
};
