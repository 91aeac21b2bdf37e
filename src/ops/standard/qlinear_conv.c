// qlinear_conv.c - convolutions of quantized tensors: ConvInteger and QLinearConv; that of com.microsoft with channels
// last, too; and ConvIntegerToFloat of hologram, whose sums are made real, as those of MatMulIntegerToFloat are.
#include "ops/channels_last.h"
#include "ops/spread.h"
#include "ops/standard/conv.h"

#include <math.h>

#define TYPES_8 (HOLO_BIT(I8) | HOLO_BIT(U8))

// ---- ConvInteger: x, w, x_zero, w_zero

static HoloStatus infer_integer(HoloCall *call)
{
    HOLO_TRY(holo_expect_types(call, 1, TYPES_8));
    return holo_conv_infer(call, 0, 1, -1, false, HOLO_I32);
}

// A zero point or scale: one entry, or one for each output channel where `channels` is not 0.
static HoloStatus check_entries(const HoloCall *call, int input, int64_t channels)
{
    const HoloTensor *t     = holo_in(call, input);
    int64_t           count = t ? holo_tensor_count(t) : 1;
    if (count != 1 && (!channels || count != channels))
        return holo_call_fail(call, HOLO_BAD_INPUT, "input %d has %lld entries, expected 1%s", input, (long long)count,
                              channels ? " or one for each output channel" : "");
    return HOLO_OK;
}

static HoloStatus prepare_integer(const HoloCall *call, HoloConv *v)
{
    HOLO_TRY(holo_conv_init(call, 0, 1, -1, false, v));
    HOLO_TRY(check_entries(call, 2, 0));
    HOLO_TRY(check_entries(call, 3, v->w->dim[0]));
    v->x_zero = holo_in(call, 2) ? holo_get_f(holo_in(call, 2), 0) : 0;
    v->w_zero = holo_in(call, 3);
    return HOLO_OK;
}

static HoloStatus eval_integer(HoloCall *call)
{
    HoloConv v;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(prepare_integer(call, &v));
    holo_contract(call, &v.contract);
    return HOLO_OK;
}

static double at_integer(const HoloCall *call, int64_t index)
{
    HoloConv v;
    return prepare_integer(call, &v) ? NAN : holo_contract_at(&v.contract, index);
}

// ---- QLinearConv: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias

static HoloStatus infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_types(call, 3, TYPES_8));
    HOLO_TRY(holo_expect_types(call, 7, TYPES_8));
    HOLO_TRY(holo_expect_types(call, 8, HOLO_BIT(I32)));
    return holo_conv_infer(call, 0, 3, 8, false, (HoloDtype)call->in[7]->dtype);
}

typedef struct QConv {
    HoloConv          conv;
    const HoloTensor *w_scale, *bias;
    double            x_scale, y_scale, y_zero;
} QConv;

static void finish(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    (void)col;
    const QConv *q       = c->arg;
    int64_t      channel = batch % q->conv.group * q->conv.out + row;
    double       scale   = q->x_scale * holo_get_f(q->w_scale, holo_tensor_count(q->w_scale) == 1 ? 0 : channel);
    double       bias    = q->bias ? holo_get_f(q->bias, channel) : 0;
    for (int64_t j = 0; j < count; j++) sums[j].f = holo_requantize(sums[j].f + bias, scale, q->y_scale) + q->y_zero;
}

static HoloStatus prepare(const HoloCall *call, QConv *q)
{
    static const bool by_channel[] = {[4] = true, [5] = true, [7] = false};
    HOLO_TRY(holo_conv_init(call, 0, 3, -1, false, &q->conv));
    for (int i = 1; i < 8; i++)
        if (i != 3) HOLO_TRY(check_entries(call, i, by_channel[i] ? q->conv.w->dim[0] : 0));
    q->conv.x_zero          = holo_get_f(call->in[2], 0);
    q->conv.w_zero          = call->in[5];
    q->conv.contract.finish = finish;
    q->w_scale              = call->in[4];
    q->bias                 = holo_in(call, 8);
    q->x_scale              = holo_get_f(call->in[1], 0);
    q->y_scale              = holo_get_f(call->in[6], 0);
    q->y_zero               = holo_get_f(call->in[7], 0);
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    QConv q;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(prepare(call, &q));
    holo_contract(call, &q.conv.contract);
    return HOLO_OK;
}

static double at(const HoloCall *call, int64_t index)
{
    QConv q;
    return prepare(call, &q) ? NAN : holo_contract_at(&q.conv.contract, index);
}

// ---- QLinearConv of com.microsoft: x may have its channels last

static HoloStatus infer_last(HoloCall *call)
{
    return holo_attr_int(call, "channels_last", 0) ? holo_channels_last_infer(call, 1, infer) : infer(call);
}

static HoloStatus eval_last(HoloCall *call)
{
    return holo_attr_int(call, "channels_last", 0) ? holo_channels_last_eval(call, 1, infer, eval) : eval(call);
}

// ---- ConvIntegerToFloat: x, w, x_scale, w_scale, x_zero, w_zero, bias; zero points that are not given are 0, and the
// bias is f32

enum { X, W, X_SCALE, W_SCALE, X_ZERO, W_ZERO, BIAS };

static HoloStatus infer_real(HoloCall *call)
{
    HOLO_TRY(holo_expect_types(call, W, TYPES_8));
    HOLO_TRY(holo_expect_types(call, X_SCALE, HOLO_BIT(F32)));
    HOLO_TRY(holo_expect_types(call, W_SCALE, HOLO_BIT(F32)));
    HOLO_TRY(holo_expect_types(call, X_ZERO, UINT64_C(1) << call->in[X]->dtype));
    HOLO_TRY(holo_expect_types(call, W_ZERO, UINT64_C(1) << call->in[W]->dtype));
    HOLO_TRY(holo_expect_types(call, BIAS, HOLO_BIT(F32)));
    return holo_conv_infer(call, X, W, BIAS, false, HOLO_F32);
}

// In float, each operation rounded.
static void finish_real(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums)
{
    (void)col;
    const QConv *q       = c->arg;
    int64_t      channel = batch % q->conv.group * q->conv.out + row;
    float        w_scale = (float)holo_get_f(q->w_scale, holo_tensor_count(q->w_scale) == 1 ? 0 : channel);
    float        scale = (float)q->x_scale * w_scale, bias = q->bias ? (float)holo_get_f(q->bias, channel) : 0;
    for (int64_t j = 0; j < count; j++) {
        float y   = (float)sums[j].f * scale;
        sums[j].f = (double)(y + bias);
    }
}

static HoloStatus eval_real(HoloCall *call)
{
    QConv q;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_conv_init(call, X, W, -1, false, &q.conv));
    for (int i = X_SCALE; i <= W_ZERO; i++)
        HOLO_TRY(check_entries(call, i, i == W_SCALE || i == W_ZERO ? q.conv.w->dim[0] : 0));
    q.conv.x_zero          = holo_in(call, X_ZERO) ? holo_get_f(holo_in(call, X_ZERO), 0) : 0;
    q.conv.w_zero          = holo_in(call, W_ZERO);
    q.conv.contract.finish = finish_real;
    q.w_scale              = call->in[W_SCALE];
    q.bias                 = holo_in(call, BIAS);
    q.x_scale              = holo_get_f(call->in[X_SCALE], 0);
    holo_contract(call, &q.conv.contract);
    return HOLO_OK;
}

static HoloStatus infer_real_last(HoloCall *call)
{
    return holo_attr_int(call, "channels_last", 0) ? holo_channels_last_infer(call, 1, infer_real) : infer_real(call);
}

static HoloStatus eval_real_last(HoloCall *call)
{
    return holo_attr_int(call, "channels_last", 0) ? holo_channels_last_eval(call, 1, infer_real, eval_real)
                                                   : eval_real(call);
}

// What it means in operators of ONNX, for models that are written as ONNX.
static const char conv_real[] =
    "graph ConvIntegerToFloat(x, w, x_scale, w_scale, x_zero, w_zero, bias) -> (y) {\n"
    "    const rest: i64[1] = {-1}\n"
    "    const one: i64[] = {1}\n"
    "    when @channels_last=1 { refuse \"channels are last\" }\n"
    "    sums = ConvInteger@10(x, w, x_zero, w_zero) {auto_pad=@auto_pad, dilations=@dilations, group=@group,\n"
    "        kernel_shape=@kernel_shape, pads=@pads, strides=@strides}\n"
    "    real = Cast@13(sums) {to=1}\n"
    "    inner = Shape@15(w) {start=2}\n"
    "    none = Sub@14(inner, inner)\n"
    "    ones = Add@14(none, one)\n"
    "    channels = Concat@13(rest, ones) {axis=0}\n"
    "    by = Mul@14(x_scale, w_scale)\n"
    "    scale = Reshape@13(by, channels)\n"
    "    product = Mul@14(real, scale)\n"
    "    when bias { more = Reshape@13(bias, channels) y = Add@14(product, more) }\n"
    "    unless bias { y = Identity@13(product) }\n"
    "}";

const HoloOp holo_ops_qlinear_conv[] = {
    {.name    = "ConvInteger",
     .domain  = "",
     .since   = 10,
     .in_min  = 2,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES_8,
     .flags   = HOLO_OP_SCALED,
     .infer   = infer_integer,
     .eval    = eval_integer,
     .at      = at_integer},
    {.name    = "QLinearConv",
     .domain  = "",
     .since   = 10,
     .in_min  = 8,
     .in_max  = 9,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES_8,
     .flags   = HOLO_OP_SCALED,
     .infer   = infer,
     .eval    = eval,
     .at      = at},
    {.name    = "QLinearConv",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 8,
     .in_max  = 9,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES_8,
     .flags   = HOLO_OP_SCALED,
     .infer   = infer_last,
     .eval    = eval_last},
    {.name    = "ConvIntegerToFloat",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 4,
     .in_max  = 7,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES_8,
     .flags   = HOLO_OP_SCALED,
     .infer   = infer_real_last,
     .eval    = eval_real_last,
     .body    = conv_real},
    {0},
};
