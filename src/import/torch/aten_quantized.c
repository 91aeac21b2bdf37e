// aten_quantized.c - quantized modules of scripts: the operators of the space `quantized`, and what makes quantized
// tensors. Sums are whole numbers, and become real once: as PyTorch's libraries for x86 compute them.
#include "import/torch/aten.h"
#include "ops/tensor.h"

// The element types of quantized tensors, c10's numbers.
static HoloDtype whole_type(HoloTorch *t, const HoloTv *v)
{
    static const HoloDtype types[] = {HOLO_I8, HOLO_U8, HOLO_I32};
    int64_t                number  = holo_torch_int(t, v, 13);
    if (number >= 12 && number <= 14) return types[number - 12];
    holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a quantized tensor of the element type %lld", (long long)number);
    return HOLO_U8;
}

static HoloValue *scale_arg(HoloTorch *t, const HoloTv *v)
{
    return holo_torch_scalar_of(t, holo_torch_scalar(t, v, HOLO_F32));
}

static HoloValue *zero_arg(HoloTorch *t, const HoloTv *v)
{
    return holo_torch_scalar_of(t, holo_torch_scalar(t, v, HOLO_I32));
}

// ---- making and reading them

ANY(quantize_tensor)
{
    *out = holo_torch_quantize(t, V(0), scale_arg(t, &a[1]), zero_arg(t, &a[2]), -1, whole_type(t, &a[3]));
}

ANY(quantize_channel)
{
    HoloValue *x = V(0), *scale = holo_emit_cast(t->e, V(1), HOLO_F32), *zero = holo_emit_cast(t->e, V(2), HOLO_I32);
    *out = holo_torch_quantize(t, x, scale, zero, holo_torch_axis(t, &a[3], 0, holo_torch_rank(t, x)),
                               whole_type(t, &a[4]));
}

ANY(dequantize)
{
    *out = a[0];
    if (a[0].kind == HOLO_TORCH_QUANTIZED) *out = holo_tv_tensor(t, holo_torch_dequantized(t, &a[0]));
    for (int i = 0; holo_tv_is_list(&a[0]) && i < a[0].list->count && !t->e->status; i++) {
        if (!i) *out = holo_tv_list(t, a[0].kind, 0, NULL);
        holo_tv_append(t, out->list, holo_tv_tensor(t, holo_torch_value(t, &a[0].list->item[i])));
    }
}

ANY(int_repr)
{
    HoloTorchQuantized q = holo_torch_quantized(t, &a[0]);
    *out                 = holo_tv_tensor(t, q.whole);
}

ANY(q_scale)
{
    HoloTorchQuantized q = holo_torch_quantized(t, &a[0]);
    *out                 = holo_tv_number(t, holo_emit_cast(t->e, q.scale, HOLO_F64));
}

ANY(q_zero_point)
{
    HoloTorchQuantized q = holo_torch_quantized(t, &a[0]);
    *out                 = holo_tv_number(t, holo_emit_cast(t->e, q.zero, HOLO_I64));
}

// ---- weights: a tuple of the weight, the bias, and for a convolution its strides, pads, dilations and groups

enum { WEIGHT, BIAS, STRIDE, PADDING, DILATION, GROUPS, PACKED_COUNT };

ANY(prepack)
{
    *out = holo_tv_list(t, HOLO_TORCH_TUPLE, PACKED_COUNT, a);
}

ANY(unpack)
{
    if (!holo_tv_is_list(&a[0]) || a[0].list->count < 2)
        return (void)holo_emit_fail(t->e, HOLO_BAD_MODEL, "weights that are %s", holo_tv_kind(&a[0]));
    *out = holo_tv_list(t, HOLO_TORCH_TUPLE, 2, a[0].list->item);
}

static const HoloTv *packed_item(HoloTorch *t, const HoloTv *packed, int which)
{
    static const HoloTv none = {0};
    if (holo_tv_is_list(packed) && packed->list->count > which) return &packed->list->item[which];
    if (which < STRIDE) holo_emit_fail(t->e, HOLO_BAD_MODEL, "weights that are %s", holo_tv_kind(packed));
    return &none;
}

// ---- products

typedef struct Sum {
    HoloValue         *sum; // i32
    HoloValue         *x_scale;
    HoloTorchQuantized w;
    const HoloTv      *bias;
    int                after; // dimensions behind that of the outputs
} Sum;

// A row of numbers, one for each output, before `after` dimensions.
static HoloValue *by_output(HoloTorch *t, HoloValue *row, int after)
{
    int64_t axes[HOLO_MAX_RANK];
    for (int i = 0; i < after; i++) axes[i] = i + 1;
    return holo_emit_rank(row) == 1 ? holo_emit_unsqueeze(t->e, row, axes, after) : row;
}

// (sum + bias / s) * (s / to), where s is the scale of the sum; `to` NULL: 1.
static HoloValue *real_sum(HoloTorch *t, const Sum *s, HoloValue *to)
{
    HoloValue *scale = OP2("Mul", s->x_scale, by_output(t, s->w.scale, s->after));
    HoloValue *y     = holo_emit_cast(t->e, s->sum, HOLO_F32);
    if (!holo_tv_is_none(s->bias)) {
        HoloValue *bias = by_output(t, holo_torch_value(t, s->bias), s->after);
        if (!to) return OP2("Add", OP2("Mul", y, scale), bias);
        y = OP2("Add", y, OP2("Div", bias, scale));
    }
    return OP2("Mul", y, to ? OP2("Div", scale, to) : scale);
}

// The real numbers of a sum, quantized by a scale and a zero point of the call.
static HoloTv give(HoloTorch *t, const Sum *s, const HoloTv *scale, const HoloTv *zero, HoloDtype dtype, bool is_relu)
{
    HoloValue *to = scale_arg(t, scale), *at = zero_arg(t, zero), *one = holo_emit_number(t->e, HOLO_F32, 1);
    HoloValue *y =
        holo_emit(t->e, "QuantizeLinear", HOLO_IN(real_sum(t, s, to), one, holo_emit_cast(t->e, at, dtype)), NULL);
    if (is_relu) y = OP2("Max", y, holo_emit_cast(t->e, at, dtype));
    return holo_tv_quantized(t, y, to, at, -1);
}

static Sum product(HoloTorch *t, HoloValue *x, HoloValue *x_scale, HoloValue *x_zero, const HoloTv *packed)
{
    Sum s = {.x_scale = x_scale, .bias = packed_item(t, packed, BIAS)};
    s.w   = holo_torch_quantized(t, packed_item(t, packed, WEIGHT));
    if (t->e->status) return s;
    HoloValue *w = holo_torch_swap(t, s.w.whole, 0, 1), *w_zero = holo_emit_cast(t->e, s.w.zero, DTYPE(s.w.whole));
    s.sum = holo_emit(t->e, "MatMulInteger", HOLO_IN(x, w, holo_emit_cast(t->e, x_zero, DTYPE(x)), w_zero), NULL);
    return s;
}

static void linear_by(HoloTorch *t, const HoloTv *a, bool is_relu, HoloTv *out)
{
    HoloTorchQuantized x = holo_torch_quantized(t, &a[0]);
    if (t->e->status) return;
    Sum s = product(t, x.whole, x.scale, x.zero, &a[1]);
    if (!t->e->status) *out = give(t, &s, &a[2], &a[3], DTYPE(x.whole), is_relu);
}

ANY(linear)
{
    linear_by(t, a, false, out);
}

ANY(linear_relu)
{
    linear_by(t, a, true, out);
}

// The range of all elements, and 0, in 256 steps, or 128.
static HoloValue *linear_dynamic_of(HoloTorch *t, const HoloTv *a)
{
    HoloValue *x = V(0), *flat = holo_torch_flat(t, x), *zero = holo_emit_number(t->e, HOLO_F32, 0);
    HoloValue *most  = holo_emit_number(t->e, HOLO_F32, holo_torch_bool(t, &a[2], false) ? 127 : 255);
    HoloValue *low   = OP2("Min", holo_torch_reduce(t, "ReduceMin", flat, (int64_t[]){0}, 1, false), zero);
    HoloValue *high  = OP2("Max", holo_torch_reduce(t, "ReduceMax", flat, (int64_t[]){0}, 1, false), zero);
    HoloValue *scale = OP2("Div", OP2("Sub", high, low), most);
    scale            = holo_torch_where(t, OP2("Equal", scale, zero), holo_emit_number(t->e, HOLO_F32, 0.1), scale);
    HoloValue *at    = OP1("Round", OP2("Min", OP2("Div", OP2("Sub", zero, low), scale), most));
    HoloValue *q     = OP2("Add", OP1("Round", OP2("Mul", x, OP1("Reciprocal", scale))), at);
    q                = holo_emit_cast(t->e, OP2("Min", OP2("Max", q, zero), most), HOLO_U8);
    Sum s            = product(t, q, scale, at, &a[1]);
    return t->e->status ? NULL : real_sum(t, &s, NULL);
}

ONE(linear_dynamic)
{
    return linear_dynamic_of(t, a);
}

ONE(linear_relu_dynamic)
{
    return OP1("Relu", linear_dynamic_of(t, a));
}

// Weights of 16 bits; the arithmetic has 32.
ONE(linear_dynamic_fp16)
{
    HoloValue *w = holo_torch_value(t, packed_item(t, &a[1], WEIGHT));
    w            = holo_emit_cast(t->e, holo_emit_cast(t->e, w, HOLO_F16), HOLO_F32);
    return holo_torch_linear(t, V(0), w, holo_torch_value(t, packed_item(t, &a[1], BIAS)));
}

// ---- convolutions

// Zero points that do nothing are left out: ONNX Runtime takes one for all channels alone.
static bool all_zero(HoloTorch *t, const HoloValue *zero)
{
    HoloTensor known = holo_emit_known(t->e, zero);
    for (int64_t i = 0; known.data && i < holo_tensor_count(&known); i++)
        if (holo_get_f(&known, i) != 0) return false;
    return known.data != NULL;
}

static void conv_by(HoloTorch *t, const HoloTv *a, bool is_relu, HoloTv *out)
{
    HoloTorchQuantized x                            = holo_torch_quantized(t, &a[0]);
    const HoloTv      *packed                       = &a[1];
    int64_t            number[4][2 * HOLO_MAX_RANK] = {{0}};
    Sum                s                            = {.x_scale = x.scale, .bias = packed_item(t, packed, BIAS)};
    s.w                                             = holo_torch_quantized(t, packed_item(t, packed, WEIGHT));
    if (t->e->status) return;
    int dims = holo_torch_rank(t, s.w.whole) - 2;
    for (int i = 0; i < 3; i++) {
        int count = holo_torch_ints(t, packed_item(t, packed, STRIDE + i), number[i]);
        if (count != dims && !t->e->status) {
            holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a quantized convolution of %d dimensions with %d strides or pads",
                           dims, count);
            return;
        }
    }
    for (int i = 0; i < dims; i++) number[3][i] = number[3][i + dims] = number[1][i];
    s.after           = dims;
    HoloValue *w_zero = all_zero(t, s.w.zero) ? NULL : holo_emit_cast(t->e, s.w.zero, DTYPE(s.w.whole));
    s.sum             = holo_emit(
                    t->e, "ConvInteger", HOLO_IN(x.whole, s.w.whole, holo_emit_cast(t->e, x.zero, DTYPE(x.whole)), w_zero),
                    HOLO_ATTRS(holo_with_ints("strides", number[0], dims), holo_with_ints("pads", number[3], 2 * dims),
                               holo_with_ints("dilations", number[2], dims),
                               holo_with_int("group", holo_torch_int(t, packed_item(t, packed, GROUPS), 1))));
    if (!t->e->status) *out = give(t, &s, &a[2], &a[3], DTYPE(x.whole), is_relu);
}

ANY(conv)
{
    conv_by(t, a, false, out);
}

ANY(conv_relu)
{
    conv_by(t, a, true, out);
}

// ---- operators on real numbers, whose result is quantized by a scale and a zero point of the call

typedef struct Wrapped {
    const char *quantized, *plain;
    int         given;   // arguments of the plain operator
    int         scale;   // the place of the scale; the zero point is behind it
    bool        is_relu; // a Relu behind it
} Wrapped;

static void wrapped(HoloTorch *t, const HoloTv *a, const Wrapped *w, HoloTv *out)
{
    HoloTv    args[8] = {{0}};
    HoloDtype dtype   = HOLO_U8;
    for (int i = 0; i < w->given; i++) {
        args[i] = a[i];
        if (a[i].kind == HOLO_TORCH_QUANTIZED) {
            HoloTorchQuantized q = holo_torch_quantized(t, &a[i]);
            if (q.whole) dtype = DTYPE(q.whole);
            args[i] = holo_tv_tensor(t, holo_torch_dequantized(t, &a[i]));
        } else if (holo_tv_is_list(&a[i]) && a[i].list->count && a[i].list->item[0].kind == HOLO_TORCH_QUANTIZED) {
            dequantize(t, &a[i], &args[i]);
        }
    }
    HoloTv made = holo_torch_apply(t, w->plain, w->given, args);
    if (w->is_relu) made = holo_torch_apply(t, "relu", 1, &made);
    if (t->e->status) return;
    *out = holo_torch_quantize(t, holo_torch_value(t, &made), scale_arg(t, &a[w->scale]), zero_arg(t, &a[w->scale + 1]),
                               -1, dtype);
}

#define WRAP(f, ...)                                  \
    ANY(f)                                            \
    {                                                 \
        static const Wrapped row = {#f, __VA_ARGS__}; \
        wrapped(t, a, &row, out);                     \
    }
WRAP(q_add, "add", 2, 2, false)
WRAP(q_add_relu, "add", 2, 2, true)
WRAP(q_mul, "mul", 2, 2, false)
WRAP(q_mul_relu, "mul", 2, 2, true)
WRAP(q_cat, "cat", 2, 2, false)
WRAP(q_cat_relu, "cat", 2, 2, true)
WRAP(q_matmul, "matmul", 2, 2, false)
WRAP(q_hardswish, "hardswish", 1, 1, false)
WRAP(q_sigmoid, "sigmoid", 1, 1, false)
WRAP(q_elu, "elu", 1, 1, false)
WRAP(q_softmax, "softmax", 2, 2, false)
WRAP(q_layer_norm, "layer_norm", 5, 5, false)
WRAP(q_group_norm, "group_norm", 5, 5, false)

// x negative_slope inplace scale zero_point
ANY(q_leaky_relu)
{
    static const Wrapped row     = {"", "leaky_relu", 2, 2, false};
    HoloTv               args[4] = {a[0], a[1], a[3], a[4]};
    wrapped(t, args, &row, out);
}

// x weight bias mean var eps scale zero_point
static void batch_norm_by(HoloTorch *t, const HoloTv *a, bool is_relu, HoloTv *out)
{
    HoloTv args[9] = {a[0], a[1], a[2], a[3], a[4], holo_tv_bool(false), holo_tv_float(0), a[5], holo_tv_bool(true)};
    HoloTorchQuantized x = holo_torch_quantized(t, &a[0]);
    if (t->e->status) return;
    args[0]     = holo_tv_tensor(t, holo_torch_dequantized(t, &a[0]));
    HoloTv made = holo_torch_apply(t, "batch_norm", 9, args);
    if (is_relu) made = holo_torch_apply(t, "relu", 1, &made);
    *out =
        holo_torch_quantize(t, holo_torch_value(t, &made), scale_arg(t, &a[6]), zero_arg(t, &a[7]), -1, DTYPE(x.whole));
}

ANY(batch_norm)
{
    batch_norm_by(t, a, false, out);
}

ANY(batch_norm_relu)
{
    batch_norm_by(t, a, true, out);
}

// ---- what the optimizer for mobile devices makes: weights, strides ..., and bounds of the result

static HoloTv bounded(HoloTorch *t, HoloTv y, const HoloTv *packed, int at)
{
    HoloTv args[3] = {y, *packed_item(t, packed, at), *packed_item(t, packed, at + 1)};
    if (holo_tv_is_none(&args[1]) && holo_tv_is_none(&args[2])) return y;
    return holo_torch_apply(t, "clamp", 3, args);
}

static void run_packed(HoloTorch *t, const HoloTv *a, const char *name, int count, HoloTv *out)
{
    HoloTv args[10] = {a[0]};
    for (int i = 0; i < count; i++) args[1 + i] = *packed_item(t, &a[1], i);
    *out = bounded(t, holo_torch_apply(t, name, 1 + count, args), &a[1], count);
}

ANY(packed_conv)
{
    run_packed(t, a, "conv2d", 6, out);
}

ANY(packed_linear)
{
    run_packed(t, a, "linear", 2, out);
}

// weight bias stride padding output_padding dilation groups: the last two are the other way around here
ANY(packed_deconv)
{
    static const int order[] = {0, 1, 2, 3, 4, 6, 5};
    HoloTv           args[8] = {a[0]};
    for (int i = 0; i < 7; i++) args[1 + i] = *packed_item(t, &a[1], order[i]);
    *out = bounded(t, holo_torch_apply(t, "conv_transpose2d", 8, args), &a[1], 7);
}

// ---- LSTMs and GRUs with weights of 8 bits, whose operands are quantized in each step

static void layers_of(HoloTorch *t, const HoloTv *a, const char *layer, HoloTv *out)
{
    HoloTv args[7] = {a[0], a[1], a[2], a[4], a[7], a[8], {0}};
    if (!holo_tv_is_list(&a[2]))
        return (void)holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a packed sequence through a quantized layer");
    *out = holo_torch_apply(t, layer, 6, args);
}

ANY(quantized_lstm)
{
    layers_of(t, a, "_quantized_lstm", out);
}

ANY(quantized_gru)
{
    layers_of(t, a, "_quantized_gru", out);
}

#define CONV    "qx|x packed_weight output_scale|scale output_zero_point|zero_point"
#define TO      " scale|output_scale zero_point|output_zero_point"
#define PREPACK "weight bias stride padding dilation groups"
#define LAYERS  "input hx params has_biases num_layers dropout train bidirectional batch_first dtype use_dynamic"
const HoloTorchOp holo_torch_quantizeds[] = {
    MANY("quantize_per_tensor", "self scale zero_point dtype", quantize_tensor),
    MANY("quantize_per_channel", "self scales zero_points axis dtype", quantize_channel),
    MANY("dequantize", "self|tensors", dequantize),
    MANY("int_repr", "self", int_repr),
    MANY("q_scale", "self", q_scale),
    MANY("q_zero_point", "self", q_zero_point),
    MANY("quantized.linear_prepack", "W|weight B|bias", prepack),
    MANY("quantized.linear_prepack_fp16", "W|weight B|bias", prepack),
    MANY("quantized.conv1d_prepack", PREPACK, prepack),
    MANY("quantized.conv2d_prepack", PREPACK, prepack),
    MANY("quantized.conv3d_prepack", PREPACK, prepack),
    MANY("quantized.linear_unpack", "packed", unpack),
    MANY("quantized.conv2d_unpack", "packed", unpack),
    MANY("quantized.linear", "X packed_weight Y_scale_i Y_zero_point_i", linear),
    MANY("quantized.linear_relu", "X packed_weight Y_scale_i Y_zero_point_i", linear_relu),
    ROW("quantized.linear_dynamic", "X packed reduce_range", linear_dynamic),
    ROW("quantized.linear_relu_dynamic", "X packed reduce_range", linear_relu_dynamic),
    ROW("quantized.linear_dynamic_fp16", "X packed", linear_dynamic_fp16),
    MANY("quantized.conv1d", CONV, conv),
    MANY("quantized.conv1d_relu", CONV, conv_relu),
    MANY("quantized.conv2d", CONV, conv),
    MANY("quantized.conv2d_relu", CONV, conv_relu),
    MANY("quantized.conv3d", CONV, conv),
    MANY("quantized.conv3d_relu", CONV, conv_relu),
    MANY("quantized.add", "qa qb" TO, q_add),
    MANY("quantized.add_relu", "qa qb" TO, q_add_relu),
    MANY("quantized.mul", "qa qb" TO, q_mul),
    MANY("quantized.mul_relu", "qa qb" TO, q_mul_relu),
    MANY("quantized.matmul", "qa qb" TO, q_matmul),
    MANY("quantized.cat", "qx dim" TO, q_cat),
    MANY("quantized.cat_relu", "qx dim" TO, q_cat_relu),
    MANY("quantized.hardswish", "input" TO, q_hardswish),
    MANY("quantized.sigmoid", "x" TO, q_sigmoid),
    MANY("quantized.elu", "self" TO, q_elu),
    MANY("quantized.softmax", "qx dim" TO, q_softmax),
    MANY("quantized.leaky_relu", "qx negative_slope inplace" TO, q_leaky_relu),
    MANY("quantized.layer_norm", "input normalized_shape weight bias eps" TO, q_layer_norm),
    MANY("quantized.group_norm", "input num_groups weight bias eps" TO, q_group_norm),
    MANY("quantized.batch_norm1d", "qx weight bias mean var eps" TO, batch_norm),
    MANY("quantized.batch_norm2d", "qx weight bias mean var eps" TO, batch_norm),
    MANY("quantized.batch_norm3d", "qx weight bias mean var eps" TO, batch_norm),
    MANY("quantized.batch_norm1d_relu", "qx weight bias mean var eps" TO, batch_norm_relu),
    MANY("quantized.batch_norm2d_relu", "qx weight bias mean var eps" TO, batch_norm_relu),
    MANY("prepacked.conv2d_clamp_run", "X W_prepack", packed_conv),
    MANY("prepacked.linear_clamp_run", "X W_prepack", packed_linear),
    MANY("prepacked.conv2d_transpose_clamp_run", "X W_prepack", packed_deconv),
    MANY("quantized_lstm", LAYERS, quantized_lstm),
    MANY("quantized_gru", LAYERS, quantized_gru),
    {0},
};
