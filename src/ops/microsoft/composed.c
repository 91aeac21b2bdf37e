// composed.c - operators of com.microsoft that are standard ones in another form or several in one: each row has its
// definition in graph text.
//
// ONNX Runtime's tools write them into files. Such a node disappears when the graph is compiled, so what is fast for
// its parts is fast for it.
#include "ops/microsoft/composed.h"

// ---- other names and forms of standard operators

static const char trilu[] = "graph Trilu(x, k) -> (y) { y = Trilu@14(x, k) {upper=@upper} }";

static const char unique[] = "graph Unique(x) -> (y, places, counts) {\n"
                             "    y, _, places, counts = Unique@11(x) {sorted=0}\n"
                             "}";

static const char gather_nd[] = "graph GatherND(x, at) -> (y) {\n"
                                "    index = Cast@13(at) {to=7}\n"
                                "    y = GatherND@12(x, index)\n"
                                "}";

static const char expand_dims[] = "graph ExpandDims(x, axis) -> (y) {\n"
                                  "    const one: i64[1] = {1}\n"
                                  "    wide = Cast@13(axis) {to=7}\n"
                                  "    axes = Reshape@13(wide, one)\n"
                                  "    y = Unsqueeze@13(x, axes)\n"
                                  "}";

// Pads may also be [1, 2 * rank].
static const char pad[] = "graph Pad(x, pads, value) -> (y) {\n"
                          "    const all: i64[1] = {-1}\n"
                          "    flat = Reshape@13(pads, all)\n"
                          "    y = Pad@13(x, flat, value) {mode=@mode}\n"
                          "}";

static const char torch_embedding[] = "graph TorchEmbedding(w, at, padding, scaled) -> (y) { y = Gather@13(w, at) }";

static const char sample[] = "graph SampleOp(x) -> (y) { y = Identity@13(x) }";

// The crop comes first: the sizes of the result depend only on the pads.
static const char conv_transpose_with_dynamic_pads[] =
    "graph ConvTransposeWithDynamicPads(x, w, pads, bias) -> (y) {\n"
    "    const first: i64[1] = {2}\n"
    "    const last: i64[1] = {9223372036854775807}\n"
    "    const two: i64[] = {2}\n"
    "    const one: i64[] = {1}\n"
    "    full = ConvTranspose@11(x, w, bias) {auto_pad=@auto_pad, dilations=@dilations, group=@group,\n"
    "        kernel_shape=@kernel_shape, output_padding=@output_padding, strides=@strides}\n"
    "    all = Shape@13(full)\n"
    "    sizes = Slice@13(all, first, last)\n"
    "    from, behind = Split@18(pads) {axis=0, num_outputs=2}\n"
    "    to = Sub@14(sizes, behind)\n"
    "    dims = Size@13(all)\n"
    "    axes = Range@11(two, dims, one)\n"
    "    y = Slice@13(full, from, to, axes)\n"
    "}";

// The filter has its channels last as well.
static const char nhwc_conv[] = "graph NhwcConv(x, w, bias) -> (y) {\n"
                                "    image = Transpose@13(x) {perm=[0,3,1,2]}\n"
                                "    filter = Transpose@13(w) {perm=[0,3,1,2]}\n"
                                "    z = Conv@11(image, filter, bias) {auto_pad=@auto_pad, dilations=@dilations,\n"
                                "        group=@group, kernel_shape=@kernel_shape, pads=@pads, strides=@strides}\n"
                                "    y = Transpose@13(z) {perm=[0,2,3,1]}\n"
                                "}";

// ---- tokens without padding, of several sequences one behind the other

// `order` holds the positions of the tokens, followed by those of the padding.
static const char remove_padding[] = "graph RemovePadding(x, counts) -> (y, order, ends, longest) {\n"
                                     "    const zero: i64[] = {0}\n"
                                     "    const one: i64[] = {1}\n"
                                     "    const first: i64[1] = {0}\n"
                                     "    const last: i64[1] = {-1}\n"
                                     "    const none: i32[1] = {0}\n"
                                     "    dims = Shape@15(x) {start=0, end=2}\n"
                                     "    width = Shape@15(x) {start=2}\n"
                                     "    length = Gather@13(dims, one)\n"
                                     "    columns = Range@11(zero, length, one)\n"
                                     "    wide = Cast@13(counts) {to=7}\n"
                                     "    until = Unsqueeze@13(wide, last)\n"
                                     "    each = Less@13(columns, until)\n"
                                     "    is_token = Reshape@13(each, last)\n"
                                     "    is_padding = Not@1(is_token)\n"
                                     "    tokens = NonZero@13(is_token)\n"
                                     "    padding = NonZero@13(is_padding)\n"
                                     "    places = Concat@13(tokens, padding) {axis=1}\n"
                                     "    table = Reshape@14(places, dims) {allowzero=1}\n"
                                     "    order = Cast@13(table) {to=6}\n"
                                     "    all = Shape@15(is_token)\n"
                                     "    sizes = Concat@13(all, width) {axis=0}\n"
                                     "    rows = Reshape@14(x, sizes) {allowzero=1}\n"
                                     "    at = Squeeze@13(tokens, first)\n"
                                     "    y = Gather@13(rows, at)\n"
                                     "    sums = CumSum@14(counts, zero)\n"
                                     "    ends = Concat@13(none, sums) {axis=0}\n"
                                     "    longest = ReduceMax@13(counts) {axes=[0]}\n"
                                     "}";

static const char restore_padding[] = "graph RestorePadding(x, order) -> (y) {\n"
                                      "    const zero: f32[] = {0}\n"
                                      "    const first: i64[1] = {0}\n"
                                      "    const last: i64[1] = {-1}\n"
                                      "    dims = Shape@15(order)\n"
                                      "    count = Shape@15(x) {start=0, end=1}\n"
                                      "    width = Shape@15(x) {start=1}\n"
                                      "    places = Reshape@13(order, last)\n"
                                      "    tokens = Slice@13(places, first, count)\n"
                                      "    wide = Cast@13(tokens) {to=7}\n"
                                      "    at = Unsqueeze@13(wide, last)\n"
                                      "    all = Shape@15(places)\n"
                                      "    rows = Concat@13(all, width) {axis=0}\n"
                                      "    none = CastLike@15(zero, x)\n"
                                      "    empty = Expand@13(none, rows)\n"
                                      "    z = ScatterND@13(empty, at, x)\n"
                                      "    sizes = Concat@13(dims, width) {axis=0}\n"
                                      "    y = Reshape@14(z, sizes) {allowzero=1}\n"
                                      "}";

static const char packed_attention[] =
    "graph PackedAttention(x, w, bias, order, ends, more) -> (y) {\n"
    "    const first: i64[1] = {0}\n"
    "    const second: i64[1] = {1}\n"
    "    const last: i64[1] = {-1}\n"
    "    const end: i64[1] = {9223372036854775807}\n"
    "    full = com.microsoft::RestorePadding@1(x, order)\n"
    "    from = Slice@13(ends, first, last)\n"
    "    to = Slice@13(ends, second, end)\n"
    "    lengths = Sub@14(to, from)\n"
    "    z = com.microsoft::Attention@1(full, w, bias, lengths, _, more) {num_heads=@num_heads,\n"
    "        qkv_hidden_sizes=@qkv_hidden_sizes, scale=@scale}\n"
    "    width = Shape@15(z) {start=2}\n"
    "    places = Reshape@13(order, last)\n"
    "    all = Shape@15(places)\n"
    "    sizes = Concat@13(all, width) {axis=0}\n"
    "    rows = Reshape@14(z, sizes) {allowzero=1}\n"
    "    count = Shape@15(x) {start=0, end=1}\n"
    "    tokens = Slice@13(places, first, count)\n"
    "    y = Gather@13(rows, tokens)\n"
    "}";

// The same of queries, keys and values that are there already, apart or in one, for each head one behind the other.
static const char packed_multi_head_attention[] =
    "graph PackedMultiHeadAttention(query, key, value, bias, order, ends, more) -> (y) {\n"
    "    const first: i64[1] = {0}\n"
    "    const second: i64[1] = {1}\n"
    "    const last: i64[1] = {-1}\n"
    "    const end: i64[1] = {9223372036854775807}\n"
    "    from = Slice@13(ends, first, last)\n"
    "    to = Slice@13(ends, second, end)\n"
    "    lengths = Sub@14(to, from)\n"
    "    q = com.microsoft::RestorePadding@1(query, order)\n"
    "    when key {\n"
    "        k = com.microsoft::RestorePadding@1(key, order)\n"
    "        v = com.microsoft::RestorePadding@1(value, order)\n"
    "        z = com.microsoft::MultiHeadAttention@1(q, k, v, bias, lengths, more) {num_heads=@num_heads,\n"
    "            scale=@scale, mask_filter_value=@mask_filter_value}\n"
    "    }\n"
    "    unless key {\n"
    "        z = com.microsoft::MultiHeadAttention@1(q, _, _, bias, lengths, more) {num_heads=@num_heads,\n"
    "            scale=@scale, mask_filter_value=@mask_filter_value}\n"
    "    }\n"
    "    width = Shape@15(z) {start=2}\n"
    "    places = Reshape@13(order, last)\n"
    "    all = Shape@15(places)\n"
    "    sizes = Concat@13(all, width) {axis=0}\n"
    "    rows = Reshape@14(z, sizes) {allowzero=1}\n"
    "    count = Shape@15(query) {start=0, end=1}\n"
    "    tokens = Slice@13(places, first, count)\n"
    "    y = Gather@13(rows, tokens)\n"
    "}";

// ---- Longformer: each token sees its neighbors and the global ones, which see all, by projections of their own

#define PROJECT(p, weight, bias)                    \
    "    " p "_sum = MatMul@13(x, " weight ")\n"    \
    "    " p "_all = Add@14(" p "_sum, " bias ")\n" \
    "    " p "q, " p "k, " p "v = Split@18(" p "_all) {axis=2, num_outputs=3}\n"

// Tokens that the mask hides see nothing: their rows are 0.
static const char longformer_attention[] =
    "graph LongformerAttention(x, w, b, mask, gw, gb, global) -> (y) {\n"
    "    const zero: i64[] = {0}\n"
    "    const one: i64[] = {1}\n"
    "    const columns: i64[1] = {1}\n"
    "    const last: i64[1] = {2}\n"
    "    const middle: i64[2] = {1, 2}\n"
    "    const never: f32[] = {-inf}\n"
    "    const nothing: f32[] = {0}\n"
    "    length = Shape@15(x) {start=1, end=2}\n"
    "    end = Squeeze@13(length)\n"
    "    key = Range@11(zero, end, one)\n"
    "    query = Unsqueeze@13(key, columns)\n"
    "    steps = Sub@14(key, query)\n"
    "    distance = Abs@13(steps)\n"
    "    window = Constant@13() {value_int=@window}\n"
    "    is_near = LessOrEqual@16(distance, window)\n"
    "    is_global = Cast@13(global) {to=9}\n"
    "    each_global = Unsqueeze@13(is_global, middle)\n"
    "    is_seen = Or@7(is_near, each_global)\n"
    "    hidden = Unsqueeze@13(mask, middle)\n"
    "    no = CastLike@15(never, x)\n"
    "    weight = Where@16(is_seen, hidden, no)\n" PROJECT("", "w", "b")
        PROJECT("g", "gw",
                "gb") "    local = Attention@23(q, k, v, weight) {q_num_heads=@num_heads, kv_num_heads=@num_heads}\n"
                      "    whole = Attention@23(gq, gk, gv, hidden) {q_num_heads=@num_heads, kv_num_heads=@num_heads}\n"
                      "    row_global = Unsqueeze@13(is_global, last)\n"
                      "    both = Where@16(row_global, whole, local)\n"
                      "    none = CastLike@15(nothing, x)\n"
                      "    row_mask = Unsqueeze@13(mask, last)\n"
                      "    is_there = Equal@13(row_mask, none)\n"
                      "    y = Where@16(is_there, both, none)\n"
                      "}";

// ---- Fourier transforms of real signals, of one, two or three dimensions

#define SIGNAL(n, text) "    when @signal_ndim=" n " {" text "}\n"
#define SIGNAL_RANKS                                                                                 \
    "    unless @signal_ndim=1 { unless @signal_ndim=2 { unless @signal_ndim=3 {\n"                  \
    "        refuse \"signal_ndim must be 1, 2 or 3\" } } }\n"                                       \
    "    when @normalized=1 { refuse \"normalized must be 0: divide by the root of the length\" }\n" \
    "    const parts: i64[1] = {-1}\n"                                                               \
    "    const last: i64[] = {-2}\n"                                                                 \
    "    const second: i64[] = {-3}\n"                                                               \
    "    const third: i64[] = {-4}\n"

// clang-format off
static const char rfft[] =
    "graph Rfft<signal_ndim=1, onesided=1>(x) -> (y) {\n" SIGNAL_RANKS
    "    real = Unsqueeze@13(x, parts)\n"
    "    a = DFT@20(real, _, last) {onesided=@onesided}\n"
    SIGNAL("1", "y = Identity@13(a)")
    SIGNAL("2", "y = DFT@20(a, _, second)")
    SIGNAL("3", "b = DFT@20(a, _, second) y = DFT@20(b, _, third)")
    "}";

static const char irfft[] =
    "graph Irfft<signal_ndim=1, onesided=1>(x) -> (y) {\n" SIGNAL_RANKS
    SIGNAL("1", "a = Identity@13(x)")
    SIGNAL("2", "a = DFT@20(x, _, second) {inverse=1}")
    SIGNAL("3", "b = DFT@20(x, _, third) {inverse=1} a = DFT@20(b, _, second) {inverse=1}")
    "    real = DFT@20(a, _, last) {inverse=1, onesided=@onesided}\n"
    "    y = Squeeze@13(real, parts)\n"
    "}";
// clang-format on

// ---- whole numbers

static const char matmul_integer_16[] = "graph MatMulInteger16(a, b) -> (y) {\n"
                                        "    wide = Cast@13(a) {to=6}\n"
                                        "    wider = Cast@13(b) {to=6}\n"
                                        "    y = MatMul@13(wide, wider)\n"
                                        "}";

// A product of two bytes is a whole number that f32 holds exactly.
static const char mul_integer[] = "graph MulInteger(a, a_zero, b, b_zero) -> (y) {\n"
                                  "    const one: f32[] = {1}\n"
                                  "    x = DequantizeLinear@13(a, one, a_zero)\n"
                                  "    z = DequantizeLinear@13(b, one, b_zero)\n"
                                  "    p = Mul@14(x, z)\n"
                                  "    y = Cast@13(p) {to=6}\n"
                                  "}";

// ---- quantized: read as numbers, computed, quantized again

static const char qlinear_where[] = "graph QLinearWhere(c, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)\n"
                                    "    -> (y) {\n"
                                    "    x = DequantizeLinear@13(a, a_scale, a_zero)\n"
                                    "    z = DequantizeLinear@13(b, b_scale, b_zero)\n"
                                    "    r = Where@16(c, x, z)\n"
                                    "    y = QuantizeLinear@13(r, y_scale, y_zero)\n"
                                    "}";

// The type of the result is that of its zero point, which must be there.
static const char qlinear_reduce_mean[] = "graph QLinearReduceMean(a, a_scale, a_zero, y_scale, y_zero) -> (y) {\n"
                                          "    zero = Identity@13(y_zero)\n"
                                          "    x = DequantizeLinear@13(a, a_scale, a_zero)\n"
                                          "    r = ReduceMean@13(x) {axes=@axes, keepdims=@keepdims}\n"
                                          "    y = QuantizeLinear@13(r, y_scale, zero)\n"
                                          "}";

// The embedding of segments must be there.
static const char qembed_layer_normalization[] =
    "graph QEmbedLayerNormalization(ids, segments, word_q, position_q, segment_q, gamma_q, beta_q, mask, word_s,\n"
    "    position_s, segment_s, gamma_s, beta_s, word_z, position_z, segment_z, gamma_z, beta_z) -> (y, index) {\n"
    "    word = DequantizeLinear@13(word_q, word_s, word_z)\n"
    "    position = DequantizeLinear@13(position_q, position_s, position_z)\n"
    "    segment = DequantizeLinear@13(segment_q, segment_s, segment_z)\n"
    "    gamma = DequantizeLinear@13(gamma_q, gamma_s, gamma_z)\n"
    "    beta = DequantizeLinear@13(beta_q, beta_s, beta_z)\n"
    "    y, index = com.microsoft::EmbedLayerNormalization@1(ids, segments, word, position, segment, gamma, beta, mask)\n"
    "        {epsilon=@epsilon}\n"
    "}";

// ---- several in one

static const char bias_add[] = "graph BiasAdd(x, bias, skip) -> (y) {\n"
                               "    s = Add@14(x, bias)\n"
                               "    y = Add@14(s, skip)\n"
                               "}";

#define DROPOUT                                                   \
    "    d, kept = Dropout@13(s, ratio, training) {seed=@seed}\n" \
    "    when skip { y = Add@14(d, skip) }\n"                     \
    "    unless skip { y = Identity@13(d) }\n"
// What is kept, a bit each, in words of 32; bits behind the last are 1.
#define BITS                                                                                                      \
    "    const each: i64[2] = {-1, 32}\n"                                                                         \
    "    const all: i64[1] = {-1}\n"                                                                              \
    "    const last: i64[1] = {-1}\n"                                                                             \
    "    const none: i64[1] = {0}\n"                                                                              \
    "    const width: i64[] = {32}\n"                                                                             \
    "    const one: u32[] = {1}\n"                                                                                \
    "    const places: u32[32] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, " \
    "22, 23, 24, 25, 26, 27, 28, 29, 30, 31}\n"                                                                   \
    "    wide = Cast@13(kept) {to=12}\n"                                                                          \
    "    flat = Reshape@13(wide, all)\n"                                                                          \
    "    count = Size@13(flat)\n"                                                                                 \
    "    less = Neg@13(count)\n"                                                                                  \
    "    rest = Mod@13(less, width)\n"                                                                            \
    "    more = Reshape@13(rest, all)\n"                                                                          \
    "    pads = Concat@13(none, more) {axis=0}\n"                                                                 \
    "    filled = Pad@13(flat, pads, one)\n"                                                                      \
    "    rows = Reshape@13(filled, each)\n"                                                                       \
    "    placed = BitShift@11(rows, places) {direction=\"LEFT\"}\n"                                               \
    "    bits = ReduceSum@13(placed, last) {keepdims=0}\n"

static const char bias_dropout[]         = "graph BiasDropout(x, bias, skip, ratio, training) -> (y, kept) {\n"
                                           "    s = Add@14(x, bias)\n" DROPOUT "}";
static const char bitmask_bias_dropout[] = "graph BitmaskBiasDropout(x, bias, skip, ratio, training) -> (y, bits) {\n"
                                           "    s = Add@14(x, bias)\n" DROPOUT BITS "}";
static const char bitmask_dropout[]      = "graph BitmaskDropout(x, ratio, training) -> (y, bits) {\n"
                                           "    y, kept = Dropout@13(x, ratio, training) {seed=@seed}\n" BITS "}";

// The angles are of f32, sines and cosines of the type of the rest; what is turned comes already swapped.
static const char gemma_rotary_embedding[] = "graph GemmaRotaryEmbedding(angle, q, q_turned, k, k_turned) -> (a, b) {\n"
                                             "    const heads: i64[1] = {1}\n"
                                             "    each = Unsqueeze@13(angle, heads)\n"
                                             "    wide_sin = Sin@7(each)\n"
                                             "    wide_cos = Cos@7(each)\n"
                                             "    sin = CastLike@15(wide_sin, q)\n"
                                             "    cos = CastLike@15(wide_cos, q)\n"
                                             "    qc = Mul@14(q, cos)\n"
                                             "    qs = Mul@14(q_turned, sin)\n"
                                             "    kc = Mul@14(k, cos)\n"
                                             "    ks = Mul@14(k_turned, sin)\n"
                                             "    a = Add@14(qc, qs)\n"
                                             "    b = Add@14(kc, ks)\n"
                                             "}";

static const char bias_split_gelu[] = "graph BiasSplitGelu(x, bias) -> (y) {\n"
                                      "    s = Add@14(x, bias)\n"
                                      "    left, right = Split@18(s) {axis=-1, num_outputs=2}\n"
                                      "    g = Gelu@20(right)\n"
                                      "    y = Mul@14(left, g)\n"
                                      "}";

static const char bias_softmax[] = "graph BiasSoftmax(x, bias) -> (y) {\n"
                                   "    s = Add@14(x, bias)\n"
                                   "    y = Softmax@11(s) {axis=@axis}\n"
                                   "}";

static const char gemm_fast_gelu[] = "graph GemmFastGelu(x, w, bias) -> (y) {\n"
                                     "    p = MatMul@13(x, w)\n"
                                     "    y = com.microsoft::FastGelu@1(p, bias)\n"
                                     "}";

static const char gated_add[] = "graph GatedAdd(x, y, gate) -> (z) {\n"
                                "    p = Mul@14(y, gate)\n"
                                "    z = Add@14(x, p)\n"
                                "}";

// Computed in f32, whatever the type.
static const char gated_rms_norm[] = "graph GatedRMSNorm(x, scale, gate) -> (y) {\n"
                                     "    const all: i64[1] = {-1}\n"
                                     "    width = Shape@13(scale)\n"
                                     "    dims = Shape@13(x)\n"
                                     "    rows = Concat@13(all, width) {axis=0}\n"
                                     "    wide = Cast@13(x) {to=1}\n"
                                     "    by = Cast@13(scale) {to=1}\n"
                                     "    z = Cast@13(gate) {to=1}\n"
                                     "    each = Reshape@13(wide, rows)\n"
                                     "    n = RMSNormalization@23(each, by) {epsilon=@epsilon}\n"
                                     "    back = Reshape@14(n, dims) {allowzero=1}\n"
                                     "    s = Sigmoid@13(z)\n"
                                     "    silu = Mul@14(z, s)\n"
                                     "    r = Mul@14(back, silu)\n"
                                     "    y = CastLike@15(r, x)\n"
                                     "}";

// Complex numbers are pairs in the last dimension.
#define COMPLEX(name, re, im)                             \
    "graph " name "(a, b) -> (y) {\n"                     \
    "    ar, ai = Split@18(a) {axis=-1, num_outputs=2}\n" \
    "    br, bi = Split@18(b) {axis=-1, num_outputs=2}\n" \
    "    rr = Mul@14(ar, br)\n"                           \
    "    ii = Mul@14(ai, bi)\n"                           \
    "    ri = Mul@14(ar, bi)\n"                           \
    "    ir = Mul@14(ai, br)\n"                           \
    "    re = " re "@14(rr, ii)\n"                        \
    "    im = " im "@14(ir, ri)\n"                        \
    "    y = Concat@13(re, im) {axis=-1}\n"               \
    "}"
static const char complex_mul[]      = COMPLEX("ComplexMul", "Sub", "Add");
static const char complex_mul_conj[] = COMPLEX("ComplexMulConj", "Add", "Sub");

// clang-format off
#define TYPES_8 (HOLO_BIT(U8) | HOLO_BIT(I8))

const HoloOp holo_ops_composed[] = {
    HOLO_COMPOSED("Trilu", 1, 2, 1, HOLO_TYPES_NUMBER | HOLO_BIT(BOOL), trilu),
    HOLO_COMPOSED("Unique", 1, 1, 3, HOLO_TYPES_ALL, unique),
    HOLO_COMPOSED("GatherND", 2, 2, 1, HOLO_TYPES_ALL, gather_nd),
    HOLO_COMPOSED("ExpandDims", 2, 2, 1, HOLO_TYPES_ALL, expand_dims),
    HOLO_COMPOSED("Pad", 2, 3, 1, HOLO_TYPES_FLOAT, pad),
    HOLO_COMPOSED("TorchEmbedding", 2, 4, 1, HOLO_TYPES_NUMBER, torch_embedding),
    HOLO_COMPOSED("SampleOp", 1, 1, 1, HOLO_TYPES_ALL, sample),
    HOLO_COMPOSED("ConvTransposeWithDynamicPads", 3, 4, 1, HOLO_TYPES_FLOAT, conv_transpose_with_dynamic_pads),
    HOLO_COMPOSED("NhwcConv", 2, 3, 1, HOLO_TYPES_FLOAT, nhwc_conv),
    HOLO_COMPOSED("RemovePadding", 2, 2, 4, HOLO_TYPES_FLOAT, remove_padding),
    HOLO_COMPOSED("RestorePadding", 2, 2, 1, HOLO_TYPES_FLOAT, restore_padding),
    HOLO_COMPOSED("PackedAttention", 5, 6, 1, HOLO_TYPES_FLOAT, packed_attention),
    HOLO_COMPOSED("PackedMultiHeadAttention", 6, 7, 1, HOLO_TYPES_FLOAT, packed_multi_head_attention),
    HOLO_COMPOSED("LongformerAttention", 7, 7, 1, HOLO_TYPES_FLOAT, longformer_attention),
    HOLO_COMPOSED("Rfft", 1, 1, 1, HOLO_TYPES_FLOAT, rfft),
    HOLO_COMPOSED("Irfft", 1, 1, 1, HOLO_TYPES_FLOAT, irfft),
    HOLO_COMPOSED("MatMulInteger16", 2, 2, 1, HOLO_BIT(I16), matmul_integer_16),
    HOLO_COMPOSED("MulInteger", 1, 4, 1, TYPES_8, mul_integer),
    HOLO_COMPOSED("QLinearWhere", 9, 9, 1, HOLO_BIT(BOOL), qlinear_where),
    HOLO_COMPOSED("QLinearReduceMean", 5, 5, 1, TYPES_8, qlinear_reduce_mean),
    HOLO_COMPOSED("QEmbedLayerNormalization", 18, 18, 2, HOLO_BIT(I32), qembed_layer_normalization),
    HOLO_COMPOSED("BiasAdd", 3, 3, 1, HOLO_TYPES_FLOAT, bias_add),
    HOLO_COMPOSED("BiasDropout", 2, 5, 2, HOLO_TYPES_FLOAT, bias_dropout),
    HOLO_COMPOSED("BitmaskBiasDropout", 2, 5, 2, HOLO_TYPES_FLOAT, bitmask_bias_dropout),
    HOLO_COMPOSED("BitmaskDropout", 1, 3, 2, HOLO_TYPES_FLOAT, bitmask_dropout),
    HOLO_COMPOSED("GemmaRotaryEmbedding", 5, 5, 2, HOLO_BIT(F32), gemma_rotary_embedding),
    HOLO_COMPOSED("BiasSplitGelu", 2, 2, 1, HOLO_TYPES_FLOAT, bias_split_gelu),
    HOLO_COMPOSED("BiasSoftmax", 2, 2, 1, HOLO_TYPES_FLOAT, bias_softmax),
    HOLO_COMPOSED("GemmFastGelu", 2, 3, 1, HOLO_TYPES_FLOAT, gemm_fast_gelu),
    HOLO_COMPOSED("GatedAdd", 3, 3, 1, HOLO_TYPES_FLOAT, gated_add),
    HOLO_COMPOSED("GatedRMSNorm", 3, 3, 1, HOLO_BIT(F32) | HOLO_BIT(F16) | HOLO_BIT(BF16), gated_rms_norm),
    HOLO_COMPOSED("ComplexMul", 2, 2, 1, HOLO_TYPES_FLOAT, complex_mul),
    HOLO_COMPOSED("ComplexMulConj", 2, 2, 1, HOLO_TYPES_FLOAT, complex_mul_conj),
    {0},
};
// clang-format on
