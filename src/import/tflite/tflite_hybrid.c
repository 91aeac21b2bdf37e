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

// Weights without a zero point: i8, whatever the file has. Old files have their bytes as u8, with the meaning of i8.
static HoloValue *signed_weights(HoloTfOp *op, HoloValue *w, const HoloTfTensor *t)
{
    if (t->dtype == HOLO_I8) return w;
    if (t->dtype == HOLO_U8 && w && w->is_constant) { // the same bytes
        HoloTensor same = w->type;
        same.dtype      = HOLO_I8;
        return holo_emit_constant(op->e, t->name, &same);
    }
    if (t->dtype == HOLO_U8 && w)
        return holo_emit(op->e, "BitCast@26", HOLO_IN(w), HOLO_ATTRS(holo_with_int("to", HOLO_I8)));
    if (t->dtype == HOLO_I4 || t->dtype == HOLO_I2) return holo_emit_cast(op->e, w, HOLO_I8);
    return holo_tf_fail(op, "weights of this type need an input that is quantized");
}

// To the nearest whole number; halves go away from 0, as C's round has it.
static HoloValue *round_away(HoloTfOp *op, HoloValue *x)
{
    HoloValue *size = holo_tf_one(op, "Abs", x), *whole = holo_tf_one(op, "Floor", size);
    HoloValue *is_up = holo_tf_two(op, "GreaterOrEqual", holo_tf_two(op, "Sub", size, whole), holo_tf_f32(op, 0.5));
    if (!is_up) return NULL;
    whole = holo_tf_two(op, "Add", whole, holo_emit_cast(op->e, is_up, HOLO_F32));
    return holo_tf_two(op, "Mul", holo_tf_one(op, "Sign", x), whole);
}

// A convolution of one image, or of several with one scale. `bias` may be NULL.
static HoloValue *conv_scaled(HoloTfOp *op, HoloValue *image, HoloValue *w, const HoloTfTensor *t, HoloValue *bias,
                              const HoloAttr *attrs)
{
    HoloValue *parts[3] = {NULL};
    if (t->scaled.count > 1)
        holo_emit_many(op->e, "DynamicQuantizeLinear", HOLO_IN(image), NULL, parts, 3);
    else { // one scale of weights: no zero point
        HoloValue *range = holo_emit(op->e, "ReduceMax", HOLO_IN(holo_tf_one(op, "Abs", image)),
                                     HOLO_ATTRS(holo_with_int("keepdims", 0)));
        range            = holo_tf_two(op, "Max", range, holo_tf_f32(op, 1e-30));
        parts[1]         = holo_tf_two(op, "Div", range, holo_tf_f32(op, 127));
        HoloValue *q =
            round_away(op, holo_tf_two(op, "Mul", image, holo_tf_two(op, "Div", holo_tf_f32(op, 127), range)));
        parts[0] = q ? holo_emit_cast(op->e, q, HOLO_I8) : NULL;
    }
    HoloValue *in[] = {parts[0], w, parts[1], weight_scales(op, t), parts[2], NULL, bias};
    if (op->e->status) return NULL;
    return holo_emit(op->e, "hologram::ConvIntegerToFloat", (HoloEmitIn){bias ? 7 : parts[2] ? 5 : 4, in}, attrs);
}

// Each image of a batch has its own scale.
HoloValue *holo_tf_hybrid_conv(HoloTfOp *op, HoloValue *image, HoloValue *w, const HoloTfTensor *t, int bias_at,
                               const HoloAttr *attrs)
{
    enum { BATCH_MAX = 64 };
    HoloValue *part[BATCH_MAX], *bias = holo_tf_bias(op, bias_at, NULL, t);
    if (!image || !(w = signed_weights(op, w, t))) return NULL;
    HoloDim batch = image->type.dim[0];
    if (holo_dim_is_symbolic(batch) || batch < 2 || batch > BATCH_MAX) return conv_scaled(op, image, w, t, bias, attrs);
    for (int i = 0; i < (int)batch; i++)
        if (!(part[i] = conv_scaled(op, holo_emit_slice(op->e, image, 0, i, i + 1, 1), w, t, bias, attrs))) return NULL;
    return holo_emit(op->e, "Concat", (HoloEmitIn){(int)batch, part}, HOLO_ATTRS(holo_with_int("axis", 0)));
}

static HoloValue *most(HoloTfOp *op, const char *reduce, HoloValue *rows)
{
    return holo_emit(op->e, reduce, HOLO_IN(rows, holo_emit_ints(op->e, (int64_t[]){-1}, 1)), NULL);
}

// The scale of each row from its least and its largest number, and the whole number that stands for 0: from the end of
// the range that gives the smaller error. Computed in f64, as TensorFlow Lite does.
static HoloValue *shifted_scale(HoloTfOp *op, HoloValue *rows, HoloValue **out_shift)
{
    HoloValue *high = holo_tf_two(op, "Max", most(op, "ReduceMax", rows), holo_tf_f32(op, 0)),
              *low  = holo_tf_two(op, "Min", most(op, "ReduceMin", rows), holo_tf_f32(op, 0));
    if (!high || !low) return NULL;
    high = holo_emit_cast(op->e, high, HOLO_F64);
    low  = holo_emit_cast(op->e, low, HOLO_F64);
    HoloValue *range =
        holo_tf_two(op, "Max", holo_tf_two(op, "Sub", high, low), holo_emit_number(op->e, HOLO_F64, 1e-30));
    HoloValue *scale    = holo_tf_two(op, "Div", range, holo_emit_number(op->e, HOLO_F64, 255));
    HoloValue *from_low = holo_tf_two(op, "Div", low, scale), *from_high = holo_tf_two(op, "Div", high, scale);
    // |-128| + |low / scale| < |127| + |high / scale|
    HoloValue *is_low =
        holo_tf_two(op, "Less", holo_tf_two(op, "Sub", holo_emit_number(op->e, HOLO_F64, 1), from_low), from_high);
    HoloValue *shift =
        holo_emit(op->e, "Where",
                  HOLO_IN(is_low, holo_tf_two(op, "Sub", holo_emit_number(op->e, HOLO_F64, -128), from_low),
                          holo_tf_two(op, "Sub", holo_emit_number(op->e, HOLO_F64, 127), from_high)),
                  NULL);
    if (!shift) return NULL;
    shift      = round_away(op, holo_emit_cast(op->e, shift, HOLO_F32));
    *out_shift = holo_emit(op->e, "Clip", HOLO_IN(shift, holo_tf_f32(op, -128), holo_tf_f32(op, 127)), NULL);
    return holo_emit_cast(op->e, scale, HOLO_F32);
}

// Each row has a scale of its own, and a zero point if `is_shifted`.
HoloValue *holo_tf_hybrid_rows(HoloTfOp *op, HoloValue *rows, HoloValue *w, const HoloTfTensor *t, bool is_shifted)
{
    if (!rows || !(w = signed_weights(op, w, t))) return NULL;
    HoloValue *turned = holo_tf_transpose(op, w, (int64_t[]){1, 0}, 2), *shift = NULL, *scale, *inverse;
    if (is_shifted) {
        scale   = shifted_scale(op, rows, &shift);
        inverse = holo_tf_two(op, "Div", holo_tf_f32(op, 1), scale);
    } else {
        HoloValue *range =
            holo_tf_two(op, "Max", most(op, "ReduceMax", holo_tf_one(op, "Abs", rows)), holo_tf_f32(op, 1e-30));
        scale   = holo_tf_two(op, "Div", range, holo_tf_f32(op, 127));
        inverse = holo_tf_two(op, "Div", holo_tf_f32(op, 127), range);
    }
    HoloValue *q = holo_tf_two(op, "Mul", rows, inverse);
    q            = round_away(op, shift ? holo_tf_two(op, "Add", q, shift) : q);
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
