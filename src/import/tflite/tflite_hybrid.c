// tflite_hybrid.c - products of real numbers and weights of 8 bits ("dynamic range"): what is multiplied is quantized
// while running, the sums are of integers, and then both scales are applied.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

// The scales of weights: one, or one for each column or channel.
static HoloValue *weight_scales(HoloTfOp *op, const HoloTfTensor *w)
{
    int        count = w->scaled.count;
    HoloTensor t     = {.dtype = HOLO_F32, .rank = count > 1, .dim = {count}};
    float     *data  = HOLO_NEW(op->im->import->arena, float, count + 1);
    if (!count || !data) return holo_tf_fail(op, "its weights have no scale");
    for (int i = 0; i < count; i++) data[i] = holo_flat_list_f32(w->scaled.scale, (size_t)i);
    t.data = data;
    return holo_emit_constant(op->e, w->name, &t);
}

// Weights without a zero point: i8, whatever the file has.
static HoloValue *signed_weights(HoloTfOp *op, HoloValue *w, const HoloTfTensor *t)
{
    if (t->dtype == HOLO_I8) return w;
    if (t->dtype == HOLO_I4 || t->dtype == HOLO_I2) return holo_emit_cast(op->e, w, HOLO_I8);
    return holo_tf_fail(op, "weights of this type need an input that is quantized");
}

HoloValue *holo_tf_hybrid_conv(HoloTfOp *op, HoloValue *image, HoloValue *w, const HoloTfTensor *t, int bias_at,
                               const HoloAttr *attrs)
{
    HoloValue *parts[3], *bias = holo_tf_bias(op, bias_at, NULL, t);
    if (!(w = signed_weights(op, w, t))) return NULL;
    holo_emit_many(op->e, "DynamicQuantizeLinear", HOLO_IN(image), NULL, parts, 3);
    HoloValue *in[] = {parts[0], w, parts[1], weight_scales(op, t), parts[2], NULL, bias};
    return op->e->status ? NULL
                         : holo_emit(op->e, "hologram::ConvIntegerToFloat", (HoloEmitIn){bias ? 7 : 5, in}, attrs);
}

// Each row has a scale of its own, and a zero point if `is_shifted`.
HoloValue *holo_tf_hybrid_rows(HoloTfOp *op, HoloValue *rows, HoloValue *w, const HoloTfTensor *t, bool is_shifted)
{
    if (!rows || !(w = signed_weights(op, w, t))) return NULL;
    HoloValue *last   = holo_emit_ints(op->e, (int64_t[]){-1}, 1),
              *turned = holo_tf_transpose(op, w, (int64_t[]){1, 0}, 2);
    HoloValue *high =
        holo_emit(op->e, "ReduceMax", HOLO_IN(is_shifted ? rows : holo_tf_one(op, "Abs", rows), last), NULL);
    HoloValue *tiny = holo_tf_f32(op, 1e-30), *shift = NULL, *scale;
    if (is_shifted) {
        HoloValue *low = holo_emit(op->e, "ReduceMin", HOLO_IN(rows, last), NULL);
        high           = holo_tf_two(op, "Max", high, holo_tf_f32(op, 0));
        low            = holo_tf_two(op, "Min", low, holo_tf_f32(op, 0));
        scale          = holo_tf_two(op, "Div", holo_tf_two(op, "Max", holo_tf_two(op, "Sub", high, low), tiny),
                                     holo_tf_f32(op, 255));
        shift =
            holo_tf_one(op, "Round", holo_tf_two(op, "Sub", holo_tf_f32(op, -128), holo_tf_two(op, "Div", low, scale)));
    } else {
        scale = holo_tf_two(op, "Div", holo_tf_two(op, "Max", high, tiny), holo_tf_f32(op, 127));
    }
    HoloValue *q = holo_tf_two(op, "Div", rows, scale);
    q            = holo_tf_one(op, "Round", shift ? holo_tf_two(op, "Add", q, shift) : q);
    if (!q) return NULL;
    q = holo_emit(op->e, "Clip", HOLO_IN(q, holo_tf_f32(op, is_shifted ? -128 : -127), holo_tf_f32(op, 127)), NULL);
    HoloValue *sums = holo_tf_two(op, "MatMulInteger", holo_emit_cast(op->e, q, HOLO_I8), turned);
    HoloValue *y    = sums ? holo_emit_cast(op->e, sums, HOLO_F32) : NULL;
    if (shift) { // the sums of the weights, times the zero point of each row
        HoloValue *columns =
            holo_emit(op->e, "ReduceSum",
                      HOLO_IN(holo_emit_cast(op->e, turned, HOLO_F32), holo_emit_ints(op->e, (int64_t[]){0}, 1)), NULL);
        y = holo_tf_two(op, "Sub", y, holo_tf_two(op, "Mul", shift, columns));
    }
    return holo_tf_two(op, "Mul", y, holo_tf_two(op, "Mul", scale, weight_scales(op, t)));
}
