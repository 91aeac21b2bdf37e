// recognize_patterns.c - what exporters write, and the operators that replace it. See recognize.h and match.h.
//
// A pattern has only the core; patterns of their own then add scale and bias, one after the other. Operators that
// differ in special cases have no row: LpNormalization gives zeros for a row of zeros, where a quotient gives NaN; and
// for a tiny row it differs from a quotient by at least 1e-12.
#include "passes/fuse/recognize.h"

// clang-format off
const char *const holo_recognize_others[] = {
    "graph square(x) -> (y) { const two: f64[] = {2.0}  y = Pow@7(x, two) }",
    "graph square(x) -> (y) { y = Mul@7(x, x) }",

    "graph cube(x) -> (y) { const three: f64[] = {3.0}  y = Pow@7(x, three) }",
    "graph cube(x) -> (y) { s = any::square@1(x)  y = Mul@7(x, s) }",

    "graph half(x) -> (y) { const half: f64[] = {0.5}  y = Mul@7(x, half) }",
    "graph half(x) -> (y) { const two: f64[] = {2.0}  y = Div@7(x, two) }",

    "graph sixth(x) -> (y) { const sixth: f64[] = {0.16666666666666666}  y = Mul@7(x, sixth) }",
    "graph sixth(x) -> (y) { const six: f64[] = {6.0}  y = Div@7(x, six) }",

    // a * b / 2
    "graph half_product(a, b) -> (y) { p = Mul@7(a, b)  y = any::half@1(p) }",
    "graph half_product(a, b) -> (y) { h = any::half@1(a)  y = Mul@7(h, b) }",
    "graph half_product(a, b) -> (y) { h = any::half@1(b)  y = Mul@7(a, h) }",

    // a * b * c
    "graph product(a, b, c) -> (y) { p = Mul@7(a, b)  y = Mul@7(p, c) }",
    "graph product(a, b, c) -> (y) { p = Mul@7(a, c)  y = Mul@7(p, b) }",
    "graph product(a, b, c) -> (y) { p = Mul@7(b, c)  y = Mul@7(p, a) }",

    // x / sqrt(v)
    "graph over_root(x, v) -> (y) { r = any::inverse_root@1(v)  y = Mul@7(x, r) }",
    "graph over_root(x, v) -> (y) { r = any::root@1(v)  y = Div@7(x, r) }",
    "graph root(v) -> (y) { y = Sqrt@1(v) }",
    "graph root(v) -> (y) { const half: f64[] = {0.5}  y = Pow@7(v, half) }",
    "graph inverse_root(v) -> (y) { r = any::root@1(v)  y = any::inverse@1(r) }",
    "graph inverse_root(v) -> (y) { const minus_half: f64[] = {-0.5}  y = Pow@7(v, minus_half) }",
    "graph inverse(v) -> (y) { y = Reciprocal@1(v) }",
    "graph inverse(v) -> (y) { const one: f64[] = {1.0}  y = Div@7(one, v) }",
    "graph inverse(v) -> (y) { const minus_one: f64[] = {-1.0}  y = Pow@7(v, minus_one) }",

    "graph over_root2(x) -> (y) { const root: f64[] = {1.4142135623730951}  y = Div@7(x, root) }",
    "graph over_root2(x) -> (y) { const half: f64[] = {0.7071067811865476}  y = Mul@7(x, half) }",

    // sqrt(2 / pi) * (x + 0.044715 * x^3)
    "graph gelu_inner(x) -> (y) {\n"
    "    const k: f64[] = {0.7978845608028654}\n"
    "    c = any::gelu_cube@1(x)\n"
    "    s = Add@7(x, c)\n"
    "    y = Mul@7(s, k)\n"
    "}",
    "graph gelu_inner(x) -> (y) {\n"
    "    const k: f64[] = {0.7978845608028654}\n"
    "    const one: f64[] = {1.0}\n"
    "    q = any::gelu_square@1(x)\n"
    "    s = Add@7(q, one)\n"
    "    y = any::product@1(x, k, s)\n"
    "}",
    "graph gelu_inner(x) -> (y) {\n"
    "    const k: f64[] = {0.7978845608028654}\n"
    "    const c: f64[] = {0.035677408136300125}\n"
    "    q = any::square@1(x)\n"
    "    p = Mul@7(q, c)\n"
    "    s = Add@7(p, k)\n"
    "    y = Mul@7(x, s)\n"
    "}",
    "graph gelu_cube(x) -> (y) { const c: f64[] = {0.044715}  p = any::cube@1(x)  y = Mul@7(p, c) }",
    "graph gelu_cube(x) -> (y) { q = any::gelu_square@1(x)  y = Mul@7(q, x) }",
    "graph gelu_cube(x) -> (y) { const c: f64[] = {0.044715}  p = Mul@7(x, c)  q = any::square@1(x)  y = Mul@7(p, q) }",
    "graph gelu_square(x) -> (y) { const c: f64[] = {0.044715}  p = any::square@1(x)  y = Mul@7(p, c) }",
    "graph gelu_square(x) -> (y) { const c: f64[] = {0.044715}  p = Mul@7(x, c)  y = Mul@7(p, x) }",

    // If the logarithm overflows, its tanh is 1, as for softplus.
    "graph tanh_softplus(x) -> (y) { s = Softplus@1(x)  y = Tanh@1(s) }",
    "graph tanh_softplus(x) -> (y) {\n"
    "    const one: f64[] = {1.0}\n"
    "    e = Exp@1(x)\n"
    "    s = Add@7(e, one)\n"
    "    l = Log@1(s)\n"
    "    y = Tanh@1(l)\n"
    "}",

    // 1 + exp(-x)
    "graph one_and_exp(x) -> (y) { const one: f64[] = {1.0}  n = Neg@1(x)  e = Exp@1(n)  y = Add@7(e, one) }",

    "graph not_negative(x) -> (y) { y = Relu@1(x) }",
    "graph not_negative(x) -> (y) { const zero: f64[] = {0.0}  y = Max@8(x, zero) }",
    "graph clip_6(x) -> (y) { const zero: f64[] = {0.0}  const six: f64[] = {6.0}  y = Clip@11(x, zero, six) }",
    "graph clip_6(x) -> (y) { y = Clip@6(x) {max=6.0, min=0.0} }",
    "graph clip_6(x) -> (y) { const six: f64[] = {6.0}  r = any::not_negative@1(x)  y = Min@8(r, six) }",
    "graph clip_6(x) -> (y) { const six: f64[] = {6.0}  r = Min@8(x, six)  y = any::not_negative@1(r) }",
    "graph clip_1(x) -> (y) { const zero: f64[] = {0.0}  const one: f64[] = {1.0}  y = Clip@11(x, zero, one) }",
    "graph clip_1(x) -> (y) { y = Clip@6(x) {max=1.0, min=0.0} }",
    "graph clip_1(x) -> (y) { const one: f64[] = {1.0}  r = any::not_negative@1(x)  y = Min@8(r, one) }",
    "graph clip_1(x) -> (y) { const one: f64[] = {1.0}  r = Min@8(x, one)  y = any::not_negative@1(r) }",

    // min(max(x + 3, 0), 6)
    "graph hard_6(x) -> (y) { const three: f64[] = {3.0}  a = Add@7(x, three)  y = any::clip_6@1(a) }",

    "graph minus(x) -> (y) { y = Neg@1(x) }",
    "graph minus(x) -> (y) { const minus_one: f64[] = {-1.0}  y = Mul@7(x, minus_one) }",
    "graph part(x, start, end, axis, step) -> (y) { y = Slice@10(x, start, end, axis) }",
    "graph part(x, start, end, axis, step) -> (y) { y = Slice@10(x, start, end, axis, step) }",
    NULL,
};

#define MEAN "graph ReduceMean(x) -> (y) { y = ReduceMean@13(x) {axes=@axes, keepdims=1} }"
#define GELU(how)                                                   \
    "graph Gelu(x) -> (y) { y = Gelu@20(x) {approximate=\"" how "\"} }"
#define LAYER                                                       \
    "graph LayerNormalization(x, scale, bias) -> (y) {\n"           \
    "    y = LayerNormalization@17(x, scale, bias) {axis=@axis, epsilon=@epsilon, stash_type=@stash_type}\n" \
    "}"
#define LAYER_PLAIN                                                 \
    "graph LayerNormalization(x, scale) -> (y) {\n"                 \
    "    y = LayerNormalization@17(x, scale) {axis=@axis, epsilon=@epsilon, stash_type=@stash_type}\n" \
    "}"
#define RMS                                                         \
    "graph RMSNormalization(x, scale) -> (y) {\n"                   \
    "    y = RMSNormalization@23(x, scale) {axis=@axis, epsilon=@epsilon, stash_type=@stash_type}\n" \
    "}"
#define GROUP(bias)                                                 \
    "graph GroupNormalization(x, scale, " bias ") -> (y) {\n"       \
    "    y = GroupNormalization@21(x, scale, " bias ") {epsilon=@epsilon, num_groups=@num_groups}\n" \
    "}"
#define GROUP_PLAIN                                                 \
    "graph GroupNormalization(x, ones, zeros) -> (y) {\n"           \
    "    y = GroupNormalization@21(x, ones, zeros) {epsilon=@epsilon, num_groups=@num_groups}\n" \
    "}"
#define INTEGERS(scales)                                            \
    "graph MatMulIntegerToFloat(a, b, a_zero, b_zero, a_scale, b_scale) -> (y) {\n" \
    "    m = MatMulInteger@10(a, b, a_zero, b_zero)\n"             \
    "    c = Cast@6(m) {to=1}\n"                                   \
    "    s = Mul@7(" scales ")\n"                                  \
    "    y = Mul@7(c, s)\n"                                        \
    "}"
#define TO_FLOAT(bias)                                              \
    "graph MatMulIntegerToFloat(a, b, a_scale, b_scale, a_zero, b_zero" bias ") -> (y) {\n" \
    "    y = com.microsoft::MatMulIntegerToFloat@1(a, b, a_scale, b_scale, a_zero, b_zero" bias ")\n" \
    "}"
#define DYNAMIC(inputs, zero, bias)                                 \
    "graph DynamicQuantizeMatMul(a, b, b_scale" inputs ") -> (y) {\n" \
    "    y = com.microsoft::DynamicQuantizeMatMul@1(a, b, b_scale" inputs ")\n" \
    "}",                                                            \
    "graph MatMulIntegerToFloat(a, b, b_scale" inputs ") -> (y) {\n" \
    "    q, scale, z = DynamicQuantizeLinear@11(a)\n"              \
    "    y = com.microsoft::MatMulIntegerToFloat@1(q, b, scale, b_scale, z" zero bias ")\n" \
    "}"
#define HARD_SIXTH                                                  \
    "graph HardSigmoid(x) -> (y) { y = HardSigmoid@6(x) {alpha=0.16666666666666666, beta=0.5} }"
#define ROTARY                                                      \
    "graph RotaryEmbedding(x, cos, sin, start1, end1, axis1, step1, start2, end2, axis2, step2) -> (y) {\n" \
    "    low = any::part@1(x, start1, end1, axis1, step1)\n"        \
    "    high = any::part@1(x, start2, end2, axis2, step2)\n"       \
    "    minus = any::minus@1(high)\n"                              \
    "    turned = Concat@4(minus, low)\n"                           \
    "    a = Mul@7(x, cos)\n"                                       \
    "    b = Mul@7(turned, sin)\n"                                  \
    "    y = Add@7(a, b)\n"                                         \
    "}"
#define HARD_SWISH "graph HardSwish(x) -> (y) { y = HardSwish@14(x) }"

const HoloRecognizeRow holo_recognize_table[] = {
    // ---- ReduceMean
    {"graph ReduceMean(x, axes, count: f64[]) -> (y) { s = ReduceSum@1(x, axes)  y = Div@7(s, count) }", MEAN,
     holo_recognize_mean},
    {"graph ReduceMean(x, axes, part: f64[]) -> (y) { s = ReduceSum@1(x, axes)  y = Mul@7(s, part) }", MEAN,
     holo_recognize_mean},

    // ---- LayerNormalization: RMSNormalization of centered values
    {"graph LayerNormalization(x, axes, scale) -> (y) {\n"
     "    m = ReduceMean@1(x, axes)\n"
     "    d = Sub@7(x, m)\n"
     "    y = RMSNormalization@23(d, scale)\n"
     "}",
     LAYER_PLAIN, holo_recognize_centered},
    // x * (scale / root) + (bias - mean * (scale / root)), as TensorFlow writes it.
    {"graph LayerNormalization(x, axes, epsilon: f64[], scale, bias) -> (y) {\n"
     "    m = ReduceMean@1(x, axes)\n"
     "    d = Sub@7(x, m)\n"
     "    s = any::square@1(d)\n"
     "    v = ReduceMean@1(s, axes)\n"
     "    e = Add@7(v, epsilon)\n"
     "    r = any::inverse_root@1(e)\n"
     "    f = Mul@7(r, scale)\n"
     "    xf = Mul@7(x, f)\n"
     "    mf = Mul@7(m, f)\n"
     "    b = Sub@7(bias, mf)\n"
     "    y = Add@7(xf, b)\n"
     "}",
     LAYER, holo_recognize_rows_affine},
    {"graph LayerNormalization(x, scale) -> (y) {\n"
     "    const one: f64[] = {1.0}\n"
     "    n = LayerNormalization@1(x, one)\n"
     "    y = Mul@7(n, scale)\n"
     "}",
     LAYER_PLAIN, holo_recognize_scale},
    {"graph LayerNormalization(x, scale, bias) -> (y) {\n"
     "    n = LayerNormalization@1(x, scale)\n"
     "    y = Add@7(n, bias)\n"
     "}",
     LAYER, holo_recognize_bias},

    // ---- RMSNormalization
    {"graph RMSNormalization(x, axes, epsilon: f64[]) -> (y) {\n"
     "    s = any::square@1(x)\n"
     "    v = ReduceMean@1(s, axes)\n"
     "    e = Add@7(v, epsilon)\n"
     "    y = any::over_root@1(x, e)\n"
     "}",
     "graph RMSNormalization(x, ones) -> (y) {\n"
     "    y = RMSNormalization@23(x, ones) {axis=@axis, epsilon=@epsilon}\n"
     "}",
     holo_recognize_rows},
    {"graph RMSNormalization(x, scale) -> (y) {\n"
     "    const one: f64[] = {1.0}\n"
     "    n = RMSNormalization@23(x, one)\n"
     "    y = Mul@7(n, scale)\n"
     "}",
     RMS, holo_recognize_scale},
    // The same between casts to float and back: everything is computed in double anyway.
    {"graph RMSNormalization(x, scale) -> (y) {\n"
     "    const one: f64[] = {1.0}\n"
     "    wide = Cast@6(x)\n"
     "    n = RMSNormalization@23(wide, one)\n"
     "    narrow = Cast@6(n)\n"
     "    y = Mul@7(narrow, scale)\n"
     "}",
     RMS, holo_recognize_scale_cast},

    // ---- GroupNormalization
    {"graph GroupNormalization(x, to_parts, to_channels) -> (y) {\n"
     "    const one: f64[] = {1.0}\n"
     "    const zero: f64[] = {0.0}\n"
     "    parts = Reshape@5(x, to_parts)\n"
     "    n = InstanceNormalization@6(parts, one, zero)\n"
     "    y = Reshape@5(n, to_channels)\n"
     "}",
     GROUP_PLAIN, holo_recognize_groups},
    {"graph GroupNormalization(x, to_parts, to_channels) -> (y) {\n"
     "    const one: f64[] = {1.0}\n"
     "    parts = Reshape@5(x, to_parts)\n"
     "    n = LayerNormalization@1(parts, one)\n"
     "    y = Reshape@5(n, to_channels)\n"
     "}",
     GROUP_PLAIN, holo_recognize_groups_of_rows},
    {"graph GroupNormalization(x, scale) -> (y) {\n"
     "    const one: f64[] = {1.0}\n"
     "    const zero: f64[] = {0.0}\n"
     "    n = GroupNormalization@21(x, one, zero)\n"
     "    y = Mul@7(n, scale)\n"
     "}",
     GROUP("zero"), holo_recognize_channel_scale},
    {"graph GroupNormalization(x, scale, bias) -> (y) {\n"
     "    const zero: f64[] = {0.0}\n"
     "    n = GroupNormalization@21(x, scale, zero)\n"
     "    y = Add@7(n, bias)\n"
     "}",
     GROUP("bias"), holo_recognize_channel_bias},

    // ---- Gelu
    {"graph Gelu(x) -> (y) {\n"
     "    const one: f64[] = {1.0}\n"
     "    r = any::over_root2@1(x)\n"
     "    e = Erf@9(r)\n"
     "    g = Add@7(e, one)\n"
     "    y = any::half_product@1(x, g)\n"
     "}",
     GELU("none"), NULL},
    {"graph Gelu(x) -> (y) {\n"
     "    const half: f64[] = {0.5}\n"
     "    r = any::over_root2@1(x)\n"
     "    e = Erf@9(r)\n"
     "    h = any::half@1(e)\n"
     "    g = Add@7(h, half)\n"
     "    y = Mul@7(x, g)\n"
     "}",
     GELU("none"), NULL},
    {"graph Gelu(x) -> (y) {\n"
     "    const one: f64[] = {1.0}\n"
     "    i = any::gelu_inner@1(x)\n"
     "    t = Tanh@1(i)\n"
     "    g = Add@7(t, one)\n"
     "    y = any::half_product@1(x, g)\n"
     "}",
     GELU("tanh"), NULL},
    {"graph Gelu(x) -> (y) {\n"
     "    const half: f64[] = {0.5}\n"
     "    i = any::gelu_inner@1(x)\n"
     "    e = Tanh@1(i)\n"
     "    h = any::half@1(e)\n"
     "    g = Add@7(h, half)\n"
     "    y = Mul@7(x, g)\n"
     "}",
     GELU("tanh"), NULL},

    // ---- Swish, Mish, Sigmoid
    {"graph Swish(x) -> (y) { s = Sigmoid@1(x)  y = Mul@7(x, s) }",
     "graph Swish(x) -> (y) { y = Swish@24(x) }", NULL},
    {"graph Swish(x, alpha: f64[]) -> (y) { a = Mul@7(x, alpha)  s = Sigmoid@1(a)  y = Mul@7(x, s) }",
     "graph Swish(x) -> (y) { y = Swish@24(x) {alpha=@alpha} }", NULL},
    {"graph Swish(x) -> (y) { d = any::one_and_exp@1(x)  y = Div@7(x, d) }",
     "graph Swish(x) -> (y) { y = Swish@24(x) }", NULL},
    {"graph Mish(x) -> (y) { t = any::tanh_softplus@1(x)  y = Mul@7(x, t) }",
     "graph Mish(x) -> (y) { y = Mish@18(x) }", NULL},
    {"graph Sigmoid(x) -> (y) { d = any::one_and_exp@1(x)  y = any::inverse@1(d) }",
     "graph Sigmoid(x) -> (y) { y = Sigmoid@13(x) }", NULL},

    // ---- HardSigmoid, HardSwish
    {"graph HardSigmoid(x) -> (y) { h = any::hard_6@1(x)  y = any::sixth@1(h) }", HARD_SIXTH, NULL},
    {"graph HardSigmoid(x, alpha: f64[], beta: f64[]) -> (y) {\n"
     "    a = Mul@7(x, alpha)\n"
     "    b = Add@7(a, beta)\n"
     "    y = any::clip_1@1(b)\n"
     "}",
     "graph HardSigmoid(x) -> (y) { y = HardSigmoid@6(x) {alpha=@alpha, beta=@beta} }", NULL},
    {"graph HardSwish(x) -> (y) { h = HardSigmoid@6(x)  y = Mul@7(x, h) }", HARD_SWISH, holo_recognize_hard_sixth},
    {"graph HardSwish(x) -> (y) { h = any::hard_6@1(x)  p = Mul@7(x, h)  y = any::sixth@1(p) }", HARD_SWISH, NULL},
    {"graph HardSwish(x) -> (y) { h = any::hard_6@1(x)  s = any::sixth@1(x)  y = Mul@7(s, h) }", HARD_SWISH, NULL},

    // ---- Softmax
    {"graph Softmax(x, axes) -> (y) {\n"
     "    m = ReduceMax@1(x, axes)\n"
     "    d = Sub@7(x, m)\n"
     "    e = Exp@1(d)\n"
     "    s = ReduceSum@1(e, axes)\n"
     "    y = Div@7(e, s)\n"
     "}",
     "graph Softmax(x) -> (y) { y = Softmax@13(x) {axis=@axis} }", holo_recognize_axis},
    {"graph LogSoftmax(x, axes) -> (y) {\n"
     "    m = ReduceMax@1(x, axes)\n"
     "    d = Sub@7(x, m)\n"
     "    e = Exp@1(d)\n"
     "    s = ReduceSum@1(e, axes)\n"
     "    l = Log@1(s)\n"
     "    y = Sub@7(d, l)\n"
     "}",
     "graph LogSoftmax(x) -> (y) { y = LogSoftmax@13(x) {axis=@axis} }", holo_recognize_axis},

    // ---- MatMulIntegerToFloat, the product of dynamic quantization
    {INTEGERS("a_scale, b_scale"), TO_FLOAT(""), holo_recognize_integer_scales},
    {INTEGERS("b_scale, a_scale"), TO_FLOAT(""), holo_recognize_integer_scales},
    {"graph MatMulIntegerToFloat(a, b, a_scale, b_scale, a_zero, b_zero, bias) -> (y) {\n"
     "    n = com.microsoft::MatMulIntegerToFloat@1(a, b, a_scale, b_scale, a_zero, b_zero)\n"
     "    y = Add@7(n, bias)\n"
     "}",
     TO_FLOAT(", bias"), holo_recognize_integer_bias},
    {DYNAMIC("", "", ""), NULL},
    {DYNAMIC(", b_zero", ", b_zero", ""), NULL},
    {DYNAMIC(", b_zero, bias", ", b_zero", ", bias"), NULL},

    // ---- RotaryEmbedding
    {ROTARY,
     "graph RotaryEmbedding(x, cos, sin, half) -> (y) {\n"
     "    const zero: i64[1] = {0}\n"
     "    const one: i64[1] = {1}\n"
     "    const last: i64[1] = {-1}\n"
     "    c = Slice@13(cos, zero, half, last)\n"
     "    s = Slice@13(sin, zero, half, last)\n"
     "    cs = Squeeze@13(c, one)\n"
     "    ss = Squeeze@13(s, one)\n"
     "    y = RotaryEmbedding@23(x, cs, ss)\n"
     "}",
     holo_recognize_rotary},
    // ONNX's operator cannot use one table for a whole batch. That of com.microsoft can, given the positions 0, 1, 2, ...
    {ROTARY,
     "graph RotaryEmbedding(x, cos, sin, half, rows) -> (y) {\n"
     "    const zero: i64[1] = {0}\n"
     "    const last: i64[1] = {-1}\n"
     "    c = Slice@13(cos, zero, half, last)\n"
     "    s = Slice@13(sin, zero, half, last)\n"
     "    cs = Reshape@14(c, rows)\n"
     "    ss = Reshape@14(s, rows)\n"
     "    y = com.microsoft::RotaryEmbedding@1(x, zero, cs, ss)\n"
     "}",
     holo_recognize_rotary_shared},
    {NULL, NULL, NULL},
};
// clang-format on
