// aten_quant.c - numbers by a scale and a zero point, as PyTorch's exporter writes them; and random numbers.
#include "import/torch/aten.h"

// The clamped whole numbers of x / scale + zero.
static HoloValue *quantize(HoloTorch *t, HoloValue *x, HoloValue *scale, HoloValue *zero, const HoloTv *a)
{
    HoloValue *q = OP2("Add", OP1("Round", OP2("Div", x, scale)), zero);
    q = OP2("Min", OP2("Max", q, NUM(x, holo_torch_float(t, &a[0], -128))), NUM(x, holo_torch_float(t, &a[1], 127)));
    return holo_emit_cast(t->e, q, holo_torch_dtype(t, &a[2], HOLO_I8));
}

ONE(quantize_tensor)
{
    HoloValue *x = V(0);
    return quantize(t, x, holo_torch_scalar(t, &a[1], DTYPE(x)), holo_torch_scalar(t, &a[2], DTYPE(x)), a + 3);
}

ONE(dequantize_tensor)
{
    HoloDtype  dtype = holo_torch_dtype(t, &a[6], HOLO_F32);
    HoloValue *x = holo_torch_scalar(t, &a[0], dtype), *zero = holo_torch_scalar(t, &a[2], dtype);
    return OP2("Mul", OP2("Sub", x, zero), holo_torch_scalar(t, &a[1], dtype));
}

// A row of numbers along an axis, as x needs it to broadcast.
static HoloValue *along(HoloTorch *t, HoloValue *row, HoloValue *x, const HoloTv *axis)
{
    int64_t axes[HOLO_MAX_RANK];
    int     rank = holo_torch_rank(t, x), count = rank - 1 - holo_torch_axis(t, axis, 0, rank);
    for (int i = 0; i < count; i++) axes[i] = i + 1;
    return row ? holo_emit_unsqueeze(t->e, holo_emit_cast(t->e, row, HOLO_F32), axes, count)
               : holo_emit_number(t->e, HOLO_F32, 0);
}

ONE(quantize_channel)
{
    HoloValue *x = V(0);
    return quantize(t, x, along(t, V(1), x, &a[3]), along(t, V(2), x, &a[3]), a + 4);
}

ONE(dequantize_channel)
{
    HoloValue *x = V(0), *real = holo_emit_cast(t->e, x, HOLO_F32);
    return OP2("Mul", OP2("Sub", real, along(t, V(2), x, &a[3])), along(t, V(1), x, &a[3]));
}

// ---- random numbers: other ones than PyTorch's

static HoloValue *random_of(HoloTorch *t, HoloValue *shape, HoloDtype dtype, const char *op)
{
    HoloValue *like = holo_torch_expand(t, holo_emit_number(t->e, dtype, 0), shape);
    return holo_emit(t->e, op, HOLO_IN(like), HOLO_ATTRS(holo_with_int("dtype", dtype)));
}

ONE(rand_sizes)
{
    return random_of(t, holo_torch_sizes(t, &a[0]), holo_torch_dtype(t, &a[1], HOLO_F32), "RandomUniformLike");
}

ONE(randn_sizes)
{
    return random_of(t, holo_torch_sizes(t, &a[0]), holo_torch_dtype(t, &a[1], HOLO_F32), "RandomNormalLike");
}

ONE(rand_like)
{
    HoloValue *x = V(0);
    return random_of(t, holo_emit_shape(t->e, x), holo_torch_dtype(t, &a[1], DTYPE(x)), "RandomUniformLike");
}

ONE(randn_like)
{
    HoloValue *x = V(0);
    return random_of(t, holo_emit_shape(t->e, x), holo_torch_dtype(t, &a[1], DTYPE(x)), "RandomNormalLike");
}

const HoloTorchOp holo_torch_quants[] = {
    ROW("quantized_decomposed.quantize_per_tensor", "input|self scale zero_point quant_min quant_max dtype",
        quantize_tensor),
    ROW("quantized_decomposed.dequantize_per_tensor", "input|self scale zero_point quant_min quant_max dtype out_dtype",
        dequantize_tensor),
    ROW("quantized_decomposed.quantize_per_channel", "input scales zero_points axis quant_min quant_max dtype",
        quantize_channel),
    ROW("quantized_decomposed.dequantize_per_channel",
        "input scales zero_points axis quant_min quant_max dtype out_dtype", dequantize_channel),
    ROW("rand", "size dtype", rand_sizes),
    ROW("randn", "size dtype", randn_sizes),
    ROW("rand_like", "self dtype", rand_like),
    ROW("randn_like", "self dtype", randn_like),
    {0},
};
