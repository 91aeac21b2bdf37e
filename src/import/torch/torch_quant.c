// torch_quant.c - quantized tensors: whole numbers with a scale and a zero point. What only moves elements, or averages
// them, is emitted for the whole numbers; other operators see the real numbers (holo_torch_value).
#include "import/torch/aten.h"

#include <string.h>

enum { WHOLE, SCALE, ZERO, AXIS }; // the items of a QUANTIZED value

HoloTv holo_tv_quantized(HoloTorch *t, HoloValue *whole, HoloValue *scale, HoloValue *zero, int axis)
{
    HoloTv item[4] = {holo_tv_tensor(t, whole), holo_tv_tensor(t, scale), holo_tv_tensor(t, zero), {0}};
    if (axis >= 0) item[AXIS] = holo_tv_int(axis);
    HoloTv out = holo_tv_list(t, HOLO_TORCH_LIST, 4, item);
    out.kind   = HOLO_TORCH_QUANTIZED;
    return out;
}

HoloTorchQuantized holo_torch_quantized(HoloTorch *t, const HoloTv *v)
{
    HoloTorchQuantized q = {0};
    if (v->kind != HOLO_TORCH_QUANTIZED) {
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "%s where a quantized tensor is expected", holo_tv_kind(v));
        return q;
    }
    q.whole = holo_torch_value(t, &v->list->item[WHOLE]);
    q.scale = holo_torch_value(t, &v->list->item[SCALE]);
    q.zero  = holo_torch_value(t, &v->list->item[ZERO]);
    q.axis  = v->list->item[AXIS].kind == HOLO_TORCH_INT ? (int)v->list->item[AXIS].i : -1;
    return q;
}

// A zero point in the type of the whole numbers.
static HoloValue *zero_of(HoloTorch *t, const HoloTorchQuantized *q)
{
    return holo_emit_cast(t->e, q->zero, DTYPE(q->whole));
}

HoloValue *holo_torch_dequantized(HoloTorch *t, const HoloTv *v)
{
    HoloTorchQuantized q = holo_torch_quantized(t, v);
    if (t->e->status) return NULL;
    return holo_emit(t->e, "DequantizeLinear", HOLO_IN(q.whole, q.scale, zero_of(t, &q)),
                     q.axis >= 0 ? HOLO_ATTRS(holo_with_int("axis", q.axis)) : NULL);
}

HoloTv holo_torch_quantize(HoloTorch *t, HoloValue *x, HoloValue *scale, HoloValue *zero, int axis, HoloDtype dtype)
{
    HoloValue *y = holo_emit(t->e, "QuantizeLinear", HOLO_IN(x, scale, holo_emit_cast(t->e, zero, dtype)),
                             axis >= 0 ? HOLO_ATTRS(holo_with_int("axis", axis)) : NULL);
    return holo_tv_quantized(t, y, scale, zero, axis);
}

// ---- operators that take quantized tensors as they are

typedef struct OnQuantized {
    const char *names; // between spaces
    int         how;
} OnQuantized;

enum { MOVE = 1, ASK, AVERAGE, SAME_PARAMS, SIGMOID, TANH, RELU };

static const OnQuantized on_quantized[] = {
    {" view reshape _unsafe_view flatten ravel unflatten transpose swapaxes t permute movedim unsqueeze squeeze expand "
     "expand_as slice narrow select split split_with_sizes chunk unbind contiguous clone detach alias flip roll repeat "
     "tile index_select index gather max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d "
     "pixel_shuffle pixel_unshuffle channel_shuffle upsample_nearest1d upsample_nearest2d upsample_nearest3d "
     "reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d native_channel_shuffle dropout "
     "feature_dropout max amax min amin ",
     MOVE},
    {" size sym_size dim numel len stride is_contiguous ", ASK},
    {" avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d mean "
     "upsample_bilinear2d _adaptive_avg_pool2d ",
     AVERAGE},
    {" hardtanh relu6 clamp clamp_min clamp_max leaky_relu constant_pad_nd pad threshold elu hardswish ", SAME_PARAMS},
    {" sigmoid hardsigmoid ", SIGMOID},
    {" tanh ", TANH},
    {" relu ", RELU},
};

static int how_of(const char *name)
{
    size_t size = strlen(name);
    for (int i = 0; i < HOLO_COUNT(on_quantized); i++)
        for (const char *at = on_quantized[i].names; (at = strstr(at, name)); at++)
            if (at[-1] == ' ' && at[size] == ' ') return on_quantized[i].how;
    return 0;
}

// Puts the scale and the zero point of q around every tensor of a result.
static HoloTv wrap(HoloTorch *t, const HoloTorchQuantized *q, HoloTv made)
{
    if (t->e->status) return (HoloTv){0};
    if (made.kind == HOLO_TORCH_TENSOR) {
        HoloValue *y = holo_torch_value(t, &made);
        return DTYPE(y) == DTYPE(q->whole) ? holo_tv_quantized(t, y, q->scale, q->zero, q->axis) : made;
    }
    for (int i = 0; holo_tv_is_list(&made) && i < made.list->count; i++)
        made.list->item[i] = wrap(t, q, made.list->item[i]);
    return made;
}

// The mean of whole numbers, rounded: their scale does not matter.
static HoloTv averaged(HoloTorch *t, const HoloTorchOp *op, HoloTv *args, const HoloTorchQuantized *q)
{
    HoloValue *zero = holo_emit_cast(t->e, q->zero, HOLO_F32), *one = holo_emit_number(t->e, HOLO_F32, 1);
    HoloTv     made = {0};
    args[0]         = holo_tv_tensor(t, OP2("Sub", holo_emit_cast(t->e, q->whole, HOLO_F32), zero));
    holo_torch_row(t, op, args, &made);
    HoloValue *y = holo_emit(t->e, "QuantizeLinear", HOLO_IN(holo_torch_value(t, &made), one, zero_of(t, q)), NULL);
    return holo_tv_quantized(t, y, q->scale, q->zero, -1);
}

static HoloTv requantized(HoloTorch *t, const HoloTorchOp *op, HoloTv *args, HoloValue *scale, HoloValue *zero,
                          HoloDtype dtype)
{
    HoloTv made = {0};
    args[0]     = holo_tv_tensor(t, holo_torch_dequantized(t, &args[0]));
    holo_torch_row(t, op, args, &made);
    return holo_torch_quantize(t, holo_torch_value(t, &made), scale, zero, -1, dtype);
}

bool holo_torch_on_quantized(HoloTorch *t, const HoloTorchOp *op, HoloTv *args, HoloTv *out)
{
    int how = args[0].kind == HOLO_TORCH_QUANTIZED ? how_of(op->name) : 0;
    if (!how) return false;
    HoloTorchQuantized q = holo_torch_quantized(t, &args[0]);
    if (t->e->status || q.axis >= 0) return false;
    HoloDtype  dtype = DTYPE(q.whole);
    bool       is_u8 = dtype == HOLO_U8;
    HoloValue *fixed = holo_emit_number(t->e, HOLO_F32, how == TANH ? 2.0 / 256 : 1.0 / 256),
              *zero  = holo_emit_number(t->e, HOLO_I32, (how == TANH ? 128 : 0) - (is_u8 ? 0 : 128));
    if (how == MOVE || how == ASK) {
        args[0] = holo_tv_tensor(t, q.whole);
        holo_torch_row(t, op, args, out);
        if (how == MOVE) *out = wrap(t, &q, *out);
    } else if (how == AVERAGE) {
        *out = averaged(t, op, args, &q);
    } else if (how == RELU) {
        *out = holo_tv_quantized(t, OP2("Max", q.whole, zero_of(t, &q)), q.scale, q.zero, -1);
    } else {
        bool is_same = how == SAME_PARAMS;
        *out         = requantized(t, op, args, is_same ? q.scale : fixed, is_same ? q.zero : zero, dtype);
    }
    return true;
}
