// composed_weights.c - operators of com.microsoft that multiply by narrow weights in forms of their own, and those of
// int8 in the orders of a GPU's matrices: each row has its definition in graph text.
//
// Orders: a matrix lies row by row (1), column by column (0), or in strips of 32 columns (2), whatever the shape of the
// tensor says. Other orders of cuBLAS belong to one generation of GPUs each.
#include "ops/microsoft/composed.h"

// ---- several products of 4 bits with one input, which may be normalized first

#define NORMALIZE                                                                                           \
    "    when skip { n, _, _, sum = com.microsoft::SkipSimplifiedLayerNormalization@1(x, skip, norm)\n"     \
    "        {epsilon=@epsilon} }\n"                                                                        \
    "    unless skip {\n"                                                                                   \
    "        sum = Identity@13(x)\n"                                                                        \
    "        when norm { n = com.microsoft::SimplifiedLayerNormalization@1(x, norm) {epsilon=@epsilon} }\n" \
    "        unless norm { n = Identity@13(x) }\n"                                                          \
    "    }\n"
#define PRODUCT(y, weight, columns)                                                                              \
    "    " y " = com.microsoft::MatMulNBits@1(n, " weight "_b, " weight "_scale, _, _, " weight "_bias) {K=@K, " \
    "N=@" columns ", accuracy_level=@accuracy_level, bits=@bits, block_size=@block_size}\n"

static const char nbits_mlp[] =
    "graph MatMulNBitsMlp<bits=4, epsilon=1e-5>(x, skip, norm, gate_b, gate_scale, gate_bias, up_b, up_scale, up_bias)\n"
    "    -> (y, sum) {\n" NORMALIZE PRODUCT("gate", "gate", "N")
        PRODUCT("up", "up", "N") "    when @activation=\"silu\" { s = Sigmoid@13(gate) a = Mul@14(gate, s) }\n"
                                 "    unless @activation=\"silu\" { refuse \"activation must be silu\" }\n"
                                 "    y = Mul@14(a, up)\n"
                                 "}";

static const char nbits_qkv[] =
    "graph MatMulNBitsQkv<bits=4, epsilon=1e-5>(x, skip, norm, q_b, q_scale, q_bias, k_b, k_scale, k_bias, v_b, v_scale,\n"
    "    v_bias) -> (q, k, v, sum) {\n" NORMALIZE PRODUCT("q", "q", "Nq") PRODUCT("k", "k", "Nkv")
        PRODUCT("v", "v", "Nkv") "}";

// ---- weights of 8 and of 4 bits that are floats, with scales of blocks of a row

#define PRODUCT_OF_ROWS                       \
    "    like = CastLike@15(wide, x)\n"       \
    "    w = Transpose@13(like)\n"            \
    "    p = MatMul@13(a, w)\n"               \
    "    when bias { y = Add@14(p, bias) }\n" \
    "    unless bias { y = Identity@13(p) }\n"

static const char fp8_weight[] =
    "graph MatMulBlockQuantizedFp8Weight<block_size=128>(x, b, scale, x_scale, bias) -> (y) {\n"
    "    const f8: f8e4m3fn[] = {0}\n"
    "    const one: i64[0] = {}\n"
    "    wide = DequantizeLinear@21(b, scale) {axis=1, block_size=@block_size}\n"
    "    when x_scale {\n"
    "        by = Reshape@13(x_scale, one)\n"
    "        exact = Cast@13(x) {to=1}\n"
    "        steps = QuantizeLinear@21(exact, by, f8)\n"
    "        rounded = DequantizeLinear@21(steps, by)\n"
    "        a = CastLike@15(rounded, x)\n"
    "    }\n"
    "    unless x_scale { a = Identity@13(x) }\n" PRODUCT_OF_ROWS "}";

// A byte has two numbers of e2m1, the lower half first; scales of blocks are bytes of e4m3.
static const char fp4_weight[] =
    "graph MatMulBlockQuantizedFp4Weight<block_size=16>(a, b, scale, whole, x_scale, bias) -> (y) {\n"
    "    const value: f32[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6}\n"
    "    const half: u8[] = {15}\n"
    "    const bits: u8[] = {4}\n"
    "    const last: i64[1] = {-1}\n"
    "    const rows: i64[2] = {0, -1}\n"
    "    const zero: i64[] = {0}\n"
    "    const one: i64[] = {1}\n"
    "    const none: i64[0] = {}\n"
    "    x = Identity@13(a)\n"
    "    low = BitwiseAnd@18(b, half)\n"
    "    high = BitShift@11(b, bits) {direction=\"RIGHT\"}\n"
    "    left = Unsqueeze@13(low, last)\n"
    "    right = Unsqueeze@13(high, last)\n"
    "    pairs = Concat@13(left, right) {axis=2}\n"
    "    codes = Reshape@13(pairs, rows)\n"
    "    at = Cast@13(codes) {to=6}\n"
    "    number = Gather@13(value, at)\n"
    "    f8 = BitCast@26(scale) {to=17}\n"
    "    of_block = Cast@19(f8) {to=1}\n"
    "    sizes = Shape@13(codes)\n"
    "    depth = Gather@13(sizes, one)\n"
    "    columns = Range@11(zero, depth, one)\n"
    "    block = Constant@13() {value_int=@block_size}\n"
    "    blocks = Div@14(columns, block)\n"
    "    each = Gather@13(of_block, blocks) {axis=1}\n"
    "    all = Reshape@13(whole, none)\n"
    "    by = Mul@14(each, all)\n"
    "    wide = Mul@14(number, by)\n" PRODUCT_OF_ROWS "}";

// Whatever the types are, it is computed in f32. What is written as 8 bits is multiplied by its scale.
static const char gemm_float8[] =
    "graph GemmFloat8<beta=0.0, dtype=1, activation=\"NONE\">(a, b, c, a_scale, b_scale, y_scale) -> (y) {\n"
    "    const one: i64[0] = {}\n"
    "    wide_a = Cast@19(a) {to=1}\n"
    "    wide_b = Cast@19(b) {to=1}\n"
    "    when c { wide_c = Cast@19(c) {to=1} }\n"
    "    unless c { wide_c = Constant@13() {value_float=0.0} }\n"
    "    when a_scale { a_by = Reshape@13(a_scale, one) p = Mul@14(wide_a, a_by) }\n"
    "    unless a_scale { p = Identity@13(wide_a) }\n"
    "    when b_scale { b_by = Reshape@13(b_scale, one) q = Mul@14(wide_b, b_by) }\n"
    "    unless b_scale { q = Identity@13(wide_b) }\n"
    "    z = Gemm@13(p, q, wide_c) {alpha=@alpha, beta=@beta, transA=@transA, transB=@transB}\n"
    "    when @activation=\"NONE\" { r = Identity@13(z) }\n"
    "    when @activation=\"RELU\" { r = Relu@14(z) }\n"
    "    when @activation=\"GELU\" { r = Gelu@20(z) {approximate=\"tanh\"} }\n"
    "    unless @activation=\"NONE\" { unless @activation=\"RELU\" { unless @activation=\"GELU\" {\n"
    "        refuse \"activation must be NONE, RELU or GELU\" } } }\n"
    "    when y_scale { y_by = Reshape@13(y_scale, one) s = Mul@14(r, y_by) }\n"
    "    unless y_scale { s = Identity@13(r) }\n"
    "    y = Cast@19(s) {to=@dtype}\n"
    "}";

static const char matmul_activation[] =
    "graph FusedMatMulActivation(a, b) -> (y) {\n"
    "    unless @activation=\"Softmax\" { refuse \"activation must be Softmax\" }\n"
    "    z = com.microsoft::FusedMatMul@1(a, b) {alpha=@alpha, transA=@transA, transB=@transB,\n"
    "        transBatchA=@transBatchA, transBatchB=@transBatchB}\n"
    "    y = Softmax@13(z) {axis=@activation_axis}\n"
    "}";

// ---- int8 in the orders of a GPU's matrices

#define ROWS(attr) "    unless @" attr "=1 { refuse \"" attr " must be 1, rows\" }\n"
// The last two sizes of z, `before` them all others; `strips` of 32 columns.
#define SIZES                                     \
    "    const zero: i8[] = {0}\n"                \
    "    const width: i64[1] = {32}\n"            \
    "    const all: i64[1] = {-1}\n"              \
    "    sizes = Shape@15(x)\n"                   \
    "    rows = Shape@15(x) {start=-2, end=-1}\n" \
    "    columns = Shape@15(x) {start=-1}\n"      \
    "    strips = Div@14(columns, width)\n"

static const char quantize_with_order[] = "graph QuantizeWithOrder(x, scale) -> (y) {\n" ROWS(
    "order_input") "    when @order_output=3 { refuse \"order_output must be 0, 1 or 2: columns, rows, or strips of 32 columns\" }\n"
                   "    when @order_output=4 { refuse \"order_output must be 0, 1 or 2: columns, rows, or strips of 32 columns\" }\n" SIZES
                   "    wide = Cast@13(x) {to=1}\n"
                   "    z = QuantizeLinear@13(wide, scale, zero)\n"
                   "    when @order_output=1 { t = Identity@13(z) }\n"
                   "    when @order_output=0 {\n"
                   "        plane = Concat@13(all, rows, columns) {axis=0}\n"
                   "        planes = Reshape@13(z, plane)\n"
                   "        t = Transpose@13(planes) {perm=[0,2,1]}\n"
                   "    }\n"
                   "    when @order_output=2 {\n"
                   "        plane = Concat@13(all, rows, strips, width) {axis=0}\n"
                   "        planes = Reshape@13(z, plane)\n"
                   "        t = Transpose@13(planes) {perm=[0,2,1,3]}\n"
                   "    }\n"
                   "    y = Reshape@13(t, sizes)\n"
                   "}";

static const char dequantize_with_order[] = "graph DequantizeWithOrder<to=1>(x, scale) -> (y) {\n" ROWS(
    "order_output") "    when @order_input=3 { refuse \"order_input must be 0, 1 or 2: columns, rows, or strips of 32 columns\" }\n"
                    "    when @order_input=4 { refuse \"order_input must be 0, 1 or 2: columns, rows, or strips of 32 columns\" }\n" SIZES
                    "    when @order_input=1 { t = Identity@13(x) }\n"
                    "    when @order_input=0 {\n"
                    "        plane = Concat@13(all, columns, rows) {axis=0}\n"
                    "        planes = Reshape@13(x, plane)\n"
                    "        t = Transpose@13(planes) {perm=[0,2,1]}\n"
                    "    }\n"
                    "    when @order_input=2 {\n"
                    "        plane = Concat@13(all, strips, rows, width) {axis=0}\n"
                    "        planes = Reshape@13(x, plane)\n"
                    "        t = Transpose@13(planes) {perm=[0,2,1,3]}\n"
                    "    }\n"
                    "    z = Reshape@13(t, sizes)\n"
                    "    wide = DequantizeLinear@13(z, scale, zero)\n"
                    "    y = Cast@13(wide) {to=@to}\n"
                    "}";

// The bytes of b lie column by column.
static const char qordered_matmul[] =
    "graph QOrderedMatMul(a, a_scale, b, b_scale, y_scale, bias, c, c_scale) -> (y) {\n" ROWS("order_A")
        ROWS("order_Y") "    unless @order_B=0 { refuse \"order_B must be 0, columns\" }\n"
                        "    const zero: i8[] = {0}\n"
                        "    const all: i64[1] = {-1}\n"
                        "    rows = Shape@15(b) {start=-2, end=-1}\n"
                        "    columns = Shape@15(b) {start=-1}\n"
                        "    turned = Concat@13(all, columns, rows) {axis=0}\n"
                        "    planes = Reshape@13(b, turned)\n"
                        "    stacked = Transpose@13(planes) {perm=[0,2,1]}\n"
                        "    same = Shape@15(b)\n"
                        "    weight = Reshape@13(stacked, same)\n"
                        "    x = DequantizeLinear@13(a, a_scale)\n"
                        "    whole = Cast@13(weight) {to=1}\n"
                        "    w = Mul@14(whole, b_scale)\n"
                        "    p = MatMul@13(x, w)\n"
                        "    when bias { q = Add@14(p, bias) }\n"
                        "    unless bias { q = Identity@13(p) }\n"
                        "    when c { more = DequantizeLinear@13(c, c_scale) r = Add@14(q, more) }\n"
                        "    unless c { r = Identity@13(q) }\n"
                        "    y = QuantizeLinear@13(r, y_scale, zero)\n"
                        "}";

static const char qordered_gelu[] = "graph QOrderedGelu(x, x_scale, y_scale) -> (y) {\n"
                                    "    const zero: i8[] = {0}\n"
                                    "    wide = DequantizeLinear@13(x, x_scale)\n"
                                    "    z = Gelu@20(wide)\n"
                                    "    y = QuantizeLinear@13(z, y_scale, zero)\n"
                                    "}";

static const char qordered_layer_norm[] =
    "graph QOrderedLayerNormalization<order_X=1, order_Y=1>(x, x_scale, gamma, beta, y_scale) -> (y) {\n" ROWS(
        "order_X")
        ROWS("order_Y") "    const zero: i8[] = {0}\n"
                        "    wide = DequantizeLinear@13(x, x_scale)\n"
                        "    by = Cast@13(gamma) {to=1}\n"
                        "    when beta {\n"
                        "        add = Cast@13(beta) {to=1}\n"
                        "        z = LayerNormalization@17(wide, by, add) {axis=@axis, epsilon=@epsilon}\n"
                        "    }\n"
                        "    unless beta { z = LayerNormalization@17(wide, by) {axis=@axis, epsilon=@epsilon} }\n"
                        "    y = QuantizeLinear@13(z, y_scale, zero)\n"
                        "}";

// clang-format off
#define NARROW (HOLO_BIT(F16) | HOLO_BIT(BF16))

const HoloOp holo_ops_composed_weights[] = {
    HOLO_COMPOSED("MatMulNBitsMlp", 8, 9, 2, NARROW | HOLO_BIT(F32), nbits_mlp),
    HOLO_COMPOSED("MatMulNBitsQkv", 11, 12, 4, NARROW | HOLO_BIT(F32), nbits_qkv),
    HOLO_COMPOSED("MatMulBlockQuantizedFp8Weight", 3, 5, 1, NARROW | HOLO_BIT(F32), fp8_weight),
    HOLO_COMPOSED("MatMulBlockQuantizedFp4Weight", 4, 6, 1, NARROW | HOLO_BIT(F32), fp4_weight),
    HOLO_COMPOSED("GemmFloat8", 2, 6, 1, NARROW | HOLO_BIT(F32) | HOLO_BIT(F8E4M3FN) | HOLO_BIT(F8E5M2), gemm_float8),
    HOLO_COMPOSED("FusedMatMulActivation", 2, 2, 1, HOLO_TYPES_FLOAT, matmul_activation),
    HOLO_COMPOSED("QuantizeWithOrder", 2, 2, 1, HOLO_BIT(F16) | HOLO_BIT(F32), quantize_with_order),
    HOLO_COMPOSED("DequantizeWithOrder", 2, 2, 1, HOLO_BIT(I8), dequantize_with_order),
    HOLO_COMPOSED("QOrderedMatMul", 5, 8, 1, HOLO_BIT(I8), qordered_matmul),
    HOLO_COMPOSED("QOrderedGelu", 3, 3, 1, HOLO_BIT(I8), qordered_gelu),
    HOLO_COMPOSED("QOrderedLayerNormalization", 5, 5, 1, HOLO_BIT(I8), qordered_layer_norm),
    {0},
};
// clang-format on
