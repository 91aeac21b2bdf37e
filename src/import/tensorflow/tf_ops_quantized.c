// tf_ops_quantized.c - TensorFlow's operators on tensors of steps between two numbers, min and max.
//
// Such a tensor is kept as the real numbers that its steps stand for: arithmetic on it is real arithmetic, and what makes
// it of real numbers rounds them to the steps. Sums of products are of 32 bits in TensorFlow, and exact; they are here
// as exact as f32 is. A constant, or an input, has its steps as whole numbers, and becomes real where it is used.
#include "base/bytes.h"
#include "import/tensorflow/tf_ops.h"

#include <math.h>

static HoloValue *num(HoloFlowCall *c, double x)
{
    return holo_emit_number(c->e, HOLO_F32, x);
}

// Bits and the least number of a type of steps.
static double levels_of(HoloDtype dtype)
{
    int bits = dtype == HOLO_NONE ? 8 : holo_dtype_bits(dtype);
    return ldexp(1, bits > 32 ? 32 : bits);
}

static double least_of(HoloDtype dtype)
{
    return holo_dtype_class(dtype) == HOLO_CLASS_INT ? -levels_of(dtype) / 2 : 0;
}

// To the nearest; halves go away from 0.
static HoloValue *rounded(HoloFlowCall *c, HoloValue *x)
{
    return holo_flow_two(c, "Mul", holo_flow_one(c, "Sign", x),
                         holo_flow_one(c, "Floor", holo_flow_two(c, "Add", holo_flow_one(c, "Abs", x), num(c, 0.5))));
}

// Ranges are single numbers, in tensors with or without a dimension.
static HoloValue *bound(HoloFlowCall *c, int i)
{
    HoloValue *x = holo_emit_cast(c->e, holo_flow_in(c, i), HOLO_F32);
    int64_t    count;
    HoloTensor t = x ? x->type : (HoloTensor){0};
    if (x && t.rank == 1 && (count = t.dim[0]) == 1) return holo_emit_reshape(c->e, x, NULL, 0);
    if (x && t.rank > 0) holo_flow_fail(c, HOLO_UNSUPPORTED, "a range for each channel");
    return x;
}

// Input i, whose range is in inputs low and high, as real numbers.
static HoloValue *real_of(HoloFlowCall *c, int i, int low, int high)
{
    if (i < c->in_count && c->in[i].kind == HOLO_FLOW_QUANTIZED) return c->in[i].value;
    HoloValue *q = holo_flow_in(c, i), *from = bound(c, low), *to = bound(c, high);
    HoloDtype  dtype = holo_emit_dtype(q);
    if (c->e->status) return NULL;
    HoloValue *step = holo_flow_two(c, "Div", holo_flow_two(c, "Sub", to, from), num(c, levels_of(dtype) - 1));
    HoloValue *zero = holo_flow_one(c, "Round", holo_flow_two(c, "Div", from, step)); // 0 is one of the steps
    q               = holo_flow_two(c, "Sub", holo_emit_cast(c->e, q, HOLO_F32), num(c, least_of(dtype)));
    return holo_flow_two(c, "Mul", holo_flow_two(c, "Add", q, zero), step);
}

static void give(HoloFlowCall *c, HoloValue *real, HoloValue *low, HoloValue *high)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){real ? HOLO_FLOW_QUANTIZED : HOLO_FLOW_NOTHING, real, NULL});
    holo_flow_out(c, 1, low);
    holo_flow_out(c, 2, high);
}

// Rounds real numbers to the steps of a range, of which one is 0.
static HoloValue *to_steps(HoloFlowCall *c, HoloValue *x, HoloValue *low, HoloValue *high, HoloDtype dtype)
{
    HoloValue *scale = holo_flow_two(c, "Div", num(c, levels_of(dtype) - 1), holo_flow_two(c, "Sub", high, low));
    HoloValue *least = rounded(c, holo_flow_two(c, "Mul", low, scale)),
              *most  = holo_flow_two(c, "Add", least, num(c, levels_of(dtype) - 1));
    HoloValue *q     = rounded(c, holo_flow_two(c, "Mul", x, scale));
    return holo_flow_two(c, "Div", holo_flow_two(c, "Min", holo_flow_two(c, "Max", q, least), most), scale);
}

// ---- from real numbers and back

static void quantize(HoloFlowCall *c)
{
    HoloValue *x = holo_emit_cast(c->e, holo_flow_in(c, 0), HOLO_F32), *low = bound(c, 1), *high = bound(c, 2);
    HoloDtype  dtype = holo_flow_type(c, "T");
    HoloString mode  = holo_flow_string(c, "mode", "MIN_COMBINED");
    if (c->e->status) return;
    low               = holo_flow_two(c, "Min", low, num(c, 0));
    HoloValue *spread = holo_flow_two(c, "Max", holo_flow_one(c, "Abs", low), holo_flow_one(c, "Abs", high));
    high              = holo_flow_two(
                     c, "Max", high,
                     holo_flow_two(c, "Add", low, holo_flow_two(c, "Div", holo_flow_two(c, "Max", spread, num(c, 1)), num(c, 100))));
    if (holo_flow_is(mode, "SCALED")) { // the same on both sides of 0
        double     most  = least_of(dtype) < 0 ? levels_of(dtype) / 2 - 1 : levels_of(dtype) - 1;
        HoloValue *end   = holo_flow_two(c, "Max", holo_flow_one(c, "Abs", low), holo_flow_one(c, "Abs", high)),
                  *scale = holo_flow_two(c, "Div", num(c, most), end);
        double     from  = least_of(dtype) < 0 ? -most - (holo_flow_bool(c, "narrow_range", false) ? 0 : 1) : 0;
        HoloValue *q     = holo_flow_two(
                c, "Min",
                holo_flow_two(c, "Max", holo_flow_one(c, "Round", holo_flow_two(c, "Mul", x, scale)), num(c, from)),
                num(c, most));
        give(c, holo_flow_two(c, "Div", q, scale), least_of(dtype) < 0 ? holo_flow_one(c, "Neg", end) : num(c, 0), end);
    } else if (holo_flow_is(mode, "MIN_FIRST")) {
        give(c, to_steps(c, x, low, high, dtype), low, high);
    } else {
        HoloValue *scale = holo_flow_two(c, "Div", num(c, levels_of(dtype) - 1), holo_flow_two(c, "Sub", high, low));
        x                = holo_flow_two(c, "Sub", holo_flow_two(c, "Min", holo_flow_two(c, "Max", x, low), high), low);
        x = holo_flow_one(c, "Floor", holo_flow_two(c, "Add", holo_flow_two(c, "Mul", x, scale), num(c, 0.5)));
        give(c, holo_flow_two(c, "Add", holo_flow_two(c, "Div", x, scale), low), low, high);
    }
}

static void dequantize(HoloFlowCall *c)
{
    HoloString mode = holo_flow_string(c, "mode", "MIN_COMBINED");
    if (c->in_count && c->in[0].kind == HOLO_FLOW_QUANTIZED) return holo_flow_out(c, 0, c->in[0].value);
    if (holo_flow_is(mode, "MIN_FIRST")) return holo_flow_out(c, 0, real_of(c, 0, 1, 2));
    HoloValue *q = holo_flow_in(c, 0), *low = bound(c, 1), *high = bound(c, 2);
    HoloDtype  dtype = holo_emit_dtype(q);
    if (c->e->status) return;
    HoloValue *x = holo_emit_cast(c->e, q, HOLO_F32);
    if (holo_flow_is(mode, "SCALED")) {
        double     most = least_of(dtype) < 0 ? levels_of(dtype) / 2 - 1 : levels_of(dtype) - 1;
        HoloValue *end  = holo_flow_two(c, "Max", holo_flow_one(c, "Abs", low), holo_flow_one(c, "Abs", high));
        return holo_flow_out(c, 0, holo_flow_two(c, "Mul", x, holo_flow_two(c, "Div", end, num(c, most))));
    }
    x = holo_flow_two(c, "Sub", x, num(c, least_of(dtype)));
    x = holo_flow_two(c, "Mul", x,
                      holo_flow_two(c, "Div", holo_flow_two(c, "Sub", high, low), num(c, levels_of(dtype) - 1)));
    holo_flow_out(c, 0, holo_flow_two(c, "Add", x, low));
}

static HoloValue *least(HoloFlowCall *c, const char *op, HoloValue *x)
{
    return holo_emit(c->e, op, HOLO_IN(x), HOLO_ATTRS(holo_with_int("keepdims", 0)));
}

// The range that numbers need; it has 0 in it.
static void needed_range(HoloFlowCall *c)
{
    HoloValue *x = real_of(c, 0, 1, 2);
    if (c->e->status) return;
    holo_flow_out(c, 0, holo_flow_two(c, "Min", least(c, "ReduceMin", x), num(c, 0)));
    holo_flow_out(c, 1, least(c, "ReduceMax", x));
}

static void requantize(HoloFlowCall *c)
{
    HoloValue *x = real_of(c, 0, 1, 2), *low = bound(c, 3), *high = bound(c, 4);
    HoloDtype  dtype = holo_flow_type(c, "out_type");
    if (!c->e->status) give(c, to_steps(c, x, low, high, dtype ? dtype : HOLO_U8), low, high);
}

static void shrink(HoloFlowCall *c)
{
    HoloValue *x     = real_of(c, 0, 1, 2);
    HoloDtype  dtype = holo_flow_type(c, "out_type");
    if (c->e->status) return;
    HoloValue *low = holo_flow_two(c, "Min", least(c, "ReduceMin", x), num(c, 0)), *high = least(c, "ReduceMax", x);
    give(c, to_steps(c, x, low, high, dtype ? dtype : HOLO_U8), low, high);
}

// ---- arithmetic: that of the operator of real numbers, which the row names

static HoloValue *step_of(HoloFlowCall *c, int low, int high)
{
    return holo_flow_two(c, "Div", holo_flow_two(c, "Sub", bound(c, high), bound(c, low)), num(c, 255));
}

// Products: inputs 0 and 1, `number` more that are real already, and then both ranges. A range behind these is that of
// the result.
static void product(HoloFlowCall *c)
{
    int        at   = 2 + c->op->number;
    HoloValue *in[] = {real_of(c, 0, at, at + 1), real_of(c, 1, at + 2, at + 3)},
              *y    = holo_flow_as(c, c->op->onnx, in, 2);
    if (!y) return;
    if (c->op->number) { // a bias
        if (c->in[2].kind == HOLO_FLOW_TENSOR && holo_emit_dtype(c->in[2].value) == HOLO_F32)
            y = holo_flow_two(c, "Add", y, c->in[2].value);
        else
            return holo_flow_fail(c, HOLO_UNSUPPORTED, "a bias that is not real");
    }
    if (holo_bytes_find(c->node->op.data, c->node->op.size, "Relu", 4)) y = holo_flow_one(c, "Relu", y);
    if (c->in_count >= at + 6) {
        HoloValue *low = bound(c, at + 4), *high = bound(c, at + 5);
        HoloDtype  dtype = holo_flow_type(c, "out_type");
        give(c, to_steps(c, y, low, high, dtype ? dtype : HOLO_U8), low, high);
        return;
    }
    HoloValue *unit = holo_flow_two(c, "Mul", step_of(c, at, at + 1), step_of(c, at + 2, at + 3));
    give(c, y, holo_flow_two(c, "Mul", unit, num(c, -2147483648.0)),
         holo_flow_two(c, "Mul", unit, num(c, 2147483647.0)));
}

// Sums of two, with a range that has room for them.
static void sum(HoloFlowCall *c)
{
    HoloValue *in[] = {real_of(c, 0, 2, 3), real_of(c, 1, 4, 5)}, *y = holo_flow_as(c, c->op->onnx, in, 2),
              *most = NULL;
    for (int i = 2; y && i < 6; i++) {
        HoloValue *size = holo_flow_one(c, "Abs", bound(c, i));
        most            = most ? holo_flow_two(c, "Max", most, size) : size;
    }
    most = y ? holo_flow_two(c, "Mul", most, num(c, 16384)) : NULL;
    if (y) give(c, y, holo_flow_one(c, "Neg", most), most);
}

// One operand whose range stays: behind it come `number` others, and then the range.
static void same_range(HoloFlowCall *c)
{
    int        at   = 1 + c->op->number;
    HoloValue *in[] = {real_of(c, 0, at, at + 1), c->op->number ? holo_flow_in(c, 1) : NULL};
    HoloValue *y    = holo_flow_as(c, c->op->onnx, in, at);
    if (y) give(c, y, bound(c, at), bound(c, at + 1));
}

// Values, then their least and largest numbers. The result has the range of all; steps of 8 bits are rounded to it.
static void joined(HoloFlowCall *c)
{
    int64_t    count = holo_flow_int(c, "N", 0);
    bool       is_v1 = !c->op->number;
    HoloValue *in[64], *low = NULL, *high = NULL, *axis;
    if (count < 1 || count > 63 || c->in_count < 3 * count + 1)
        return holo_flow_fail(c, HOLO_UNSUPPORTED, "%lld values", (long long)count);
    int first = is_v1 ? 1 : 0, ranges = (int)count + 1;
    axis = holo_flow_in(c, is_v1 ? 0 : (int)count);
    for (int i = 0; i < count; i++) {
        int        a = ranges + i, b = ranges + (int)count + i;
        HoloValue *from = bound(c, a), *to = bound(c, b);
        in[(is_v1 ? 1 : 0) + i] = real_of(c, first + i, a, b);
        low                     = low ? holo_flow_two(c, "Min", low, from) : from;
        high                    = high ? holo_flow_two(c, "Max", high, to) : to;
    }
    in[is_v1 ? 0 : count] = axis;
    HoloValue *y          = holo_flow_as(c, c->op->onnx, in, (int)count + 1);
    if (!y) return;
    low = holo_flow_two(c, "Min", low, num(c, 0));
    give(c, to_steps(c, y, low, high, HOLO_U8), low, high);
}

// ---- real numbers rounded to steps: what training for such tensors leaves in a graph

static HoloValue *along(HoloFlowCall *c, const char *op, HoloValue *x, int64_t axis)
{
    int     rank = holo_flow_rank(c, x), count = 0;
    int64_t axes[HOLO_MAX_RANK];
    for (int i = 0; i < rank; i++)
        if (axis < 0 || i != axis) axes[count++] = i;
    if (!count) return x;
    return holo_emit(c->e, op, HOLO_IN(x, holo_emit_ints(c->e, axes, count)),
                     HOLO_ATTRS(holo_with_int("keepdims", axis >= 0)));
}

static void through_steps(HoloFlowCall *c)
{
    HoloValue *x      = holo_flow_in(c, 0), *low, *high;
    bool    is_signed = holo_flow_bool(c, "signed_input", true), is_narrow = holo_flow_bool(c, "narrow_range", false);
    int64_t bits = holo_flow_int(c, "num_bits", 8), axis = holo_flow_int(c, "axis", -1);
    bool    is_even = !holo_flow_is(holo_flow_string(c, "round_mode", "HALF_TO_EVEN"), "HALF_UP");
    if (c->op->number > 2 && c->in_count > 3) { // the number of bits is an input
        int64_t known[2];
        if (holo_flow_known(c, 3, known, 2) == 1) bits = known[0];
    }
    if (c->e->status) return;
    if (bits < 2 || bits > 24) return holo_flow_fail(c, HOLO_UNSUPPORTED, "%lld bits", (long long)bits);
    if (holo_flow_bool(c, "range_given", c->op->number == 1 ? false : true)) {
        low  = c->in_count > 2 ? holo_flow_in(c, 1) : num(c, holo_flow_float(c, "input_min", 0));
        high = c->in_count > 2 ? holo_flow_in(c, 2) : num(c, holo_flow_float(c, "input_max", 0));
    } else {
        low  = along(c, "ReduceMin", x, axis);
        high = along(c, "ReduceMax", x, axis);
    }
    if (c->e->status) return;
    double     most  = is_signed ? ldexp(1, (int)bits - 1) - 1 : ldexp(1, (int)bits) - 1;
    double     from  = !is_signed ? 0 : is_narrow ? -most : -most - 1;
    HoloValue *scale = holo_flow_two(c, "Div", num(c, most), high), *down = NULL, *zero = num(c, 0);
    if (is_signed) { // the side that needs the larger step counts
        down         = holo_flow_two(c, "Div", num(c, from), low);
        HoloValue *a = holo_emit(c->e, "Where",
                                 HOLO_IN(holo_flow_two(c, "Greater", holo_flow_two(c, "Mul", num(c, from), low), zero),
                                         down, num(c, INFINITY)),
                                 NULL);
        HoloValue *b = holo_emit(c->e, "Where",
                                 HOLO_IN(holo_flow_two(c, "Greater", holo_flow_two(c, "Mul", num(c, most), high), zero),
                                         scale, num(c, INFINITY)),
                                 NULL);
        scale        = holo_flow_two(c, "Min", a, b);
    }
    HoloValue *is_wild =
        holo_flow_two(c, "Or", holo_flow_one(c, "IsInf", scale), holo_flow_one(c, "IsNaN", scale)); // all numbers are 0
    scale        = holo_emit(c->e, "Where", HOLO_IN(is_wild, num(c, 1), scale), NULL);
    HoloValue *q = holo_flow_two(c, "Mul", x, scale);
    q = is_even ? holo_flow_one(c, "Round", q) : holo_flow_one(c, "Floor", holo_flow_two(c, "Add", q, num(c, 0.5)));
    q = holo_flow_two(c, "Min", holo_flow_two(c, "Max", q, num(c, from)), num(c, most));
    holo_flow_out(c, 0, holo_flow_two(c, "Div", q, scale));
}

// A range for each channel, the last dimension.
static void fake_quant_channels(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *low = holo_flow_in(c, 1), *high = holo_flow_in(c, 2);
    int64_t    bits = holo_flow_int(c, "num_bits", 8);
    if (c->e->status) return;
    if (bits < 2 || bits > 16) return holo_flow_fail(c, HOLO_BAD_MODEL, "num_bits is not 2 to 16");
    double     most = ldexp(1, (int)bits) - 1, from = holo_flow_bool(c, "narrow_range", false) ? 1 : 0;
    HoloValue *scale   = holo_flow_two(c, "Div", holo_flow_two(c, "Sub", high, low), num(c, most - from));
    HoloValue *zero    = holo_flow_two(c, "Sub", num(c, from), holo_flow_two(c, "Div", low, scale));
    zero               = rounded(c, holo_flow_two(c, "Min", holo_flow_two(c, "Max", zero, num(c, from)), num(c, most)));
    HoloValue *least_x = holo_flow_two(c, "Mul", holo_flow_two(c, "Sub", num(c, from), zero), scale),
              *most_x  = holo_flow_two(c, "Mul", holo_flow_two(c, "Sub", num(c, most), zero), scale);
    HoloValue *q =
        holo_flow_two(c, "Sub", holo_flow_two(c, "Min", holo_flow_two(c, "Max", x, least_x), most_x), least_x);
    q = holo_flow_one(c, "Floor", holo_flow_two(c, "Add", holo_flow_two(c, "Div", q, scale), num(c, 0.5)));
    holo_flow_out(c, 0, holo_flow_two(c, "Add", holo_flow_two(c, "Mul", q, scale), least_x));
}

#define OUTS .outs = "output output_min output_max"

// clang-format off
const HoloFlowOp holo_flow_ops_quantized[] = {
    {"QuantizeV2", quantize, OUTS}, {"Quantize", quantize, OUTS}, {"Dequantize", dequantize},
    {"RequantizationRange", needed_range, .outs = "output_min output_max"}, {"Requantize", requantize, OUTS},
    {"QuantizeDownAndShrinkRange", shrink, OUTS},
    {"QuantizedConv2D", product, "Conv2D", .outs = "output min_output max_output"},
    {"QuantizedDepthwiseConv2D", product, "DepthwiseConv2dNative", .outs = "output min_output max_output"},
    {"QuantizedMatMul", product, "MatMul", .outs = "out min_out max_out"},
    {"QuantizedConv2DAndRelu", product, "Conv2D", .outs = "output min_output max_output"},
    {"QuantizedConv2DAndRequantize", product, "Conv2D", .outs = "output min_output max_output"},
    {"QuantizedConv2DAndReluAndRequantize", product, "Conv2D", .outs = "output min_output max_output"},
    {"QuantizedConv2DWithBias", product, "Conv2D", 1, .outs = "output min_output max_output"},
    {"QuantizedConv2DWithBiasAndRelu", product, "Conv2D", 1, .outs = "output min_output max_output"},
    {"QuantizedConv2DWithBiasAndRequantize", product, "Conv2D", 1, .outs = "output min_output max_output"},
    {"QuantizedConv2DWithBiasAndReluAndRequantize", product, "Conv2D", 1, .outs = "output min_output max_output"},
    {"QuantizedDepthwiseConv2DWithBias", product, "DepthwiseConv2dNative", 1, .outs = "output min_output max_output"},
    {"QuantizedDepthwiseConv2DWithBiasAndRelu", product, "DepthwiseConv2dNative", 1, .outs = "output min_output max_output"},
    {"QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", product, "DepthwiseConv2dNative", 1, .outs = "output min_output max_output"},
    {"QuantizedMatMulWithBias", product, "MatMul", 1, .outs = "out min_out max_out"},
    {"QuantizedMatMulWithBiasAndRelu", product, "MatMul", 1, .outs = "out min_out max_out"},
    {"QuantizedMatMulWithBiasAndReluAndRequantize", product, "MatMul", 1, .outs = "out min_out max_out"},
    {"QuantizedMul", product, "Mul", .outs = "z min_z max_z"}, {"QuantizedAdd", sum, "Add", .outs = "z min_z max_z"},
    {"QuantizedBiasAdd", sum, "BiasAdd", .outs = "output min_out max_out"},
    {"QuantizedRelu", same_range, "Relu", .outs = "activations min_activations max_activations"},
    {"QuantizedRelu6", same_range, "Relu6", .outs = "activations min_activations max_activations"},
    {"QuantizedMaxPool", same_range, "MaxPool", .outs = "output min_output max_output"},
    {"QuantizedAvgPool", same_range, "AvgPool", .outs = "output min_output max_output"},
    {"QuantizedReshape", same_range, "Reshape", 1, .outs = "output output_min output_max"},
    {"QuantizedConcat", joined, "Concat", .outs = "output output_min output_max"},
    {"QuantizedConcatV2", joined, "ConcatV2", 1, .outs = "output output_min output_max"},
    {"QuantizeAndDequantize", through_steps, NULL, 1}, {"QuantizeAndDequantizeV2", through_steps, NULL, 2},
    {"QuantizeAndDequantizeV3", through_steps, NULL, 3}, {"QuantizeAndDequantizeV4", through_steps, NULL, 2},
    {"FakeQuantWithMinMaxVarsPerChannel", fake_quant_channels},
    {0},
};
