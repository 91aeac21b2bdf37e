// refused_test.c - what an archive may say wrongly of the operands and parameters of a kernel is refused by check,
// not found out by run.
#include "support/kernel_case.h"

static HoloStatus checked(Case *c)
{
    HoloError         error = {0};
    Host              host  = host_make(holo_kernels_at(0), 1);
    const HoloTensor *in[IN_MAX];
    HoloTensor       *out[1];
    size_t            scratch;
    HoloCall          call = call_init(c, &host, in, out, &error);
    return kernel_check(c->kernel, &call, &scratch);
}

// A call that is right: sizes only, there is no data.
static Case right(const char *domain, const char *op, int version, uint32_t kernel, const void *params, size_t size)
{
    Case c = {.op = op, .domain = domain, .version = version, .kernel = kernel};
    memcpy(&c.params, params, size);
    return c;
}

static HoloTensor sized(HoloDtype dtype, int rank, const int64_t *dim)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = (int8_t)rank};
    for (int d = 0; d < rank; d++) t.dim[d] = dim[d];
    return t;
}

static void operand(Case *c, HoloDtype dtype, int rank, const int64_t *dim)
{
    c->in[c->in_count++] = sized(dtype, rank, dim);
}
#define OPERAND(c, type, ...) \
    operand(c, HOLO_##type, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
#define SCALAR(c, type) operand(c, HOLO_##type, 0, NULL)

static void output(Case *c, HoloDtype dtype, int rank, const int64_t *dim)
{
    c->out = sized(dtype, rank, dim);
    assert_int_equal(checked(c), HOLO_OK);
}
#define OUTPUT(c, type, ...) \
    output(c, HOLO_##type, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

// The call with one thing changed.
#define REFUSED(c, ...)                                 \
    do {                                                \
        Case wrong = (c), *w = &wrong;                  \
        __VA_ARGS__;                                    \
        assert_int_equal(checked(w), HOLO_BAD_ARCHIVE); \
    } while (0)

// The first two numbers of every block: its size, and flags or the like.
static uint32_t *head(Case *c)
{
    return (uint32_t *)(void *)&c->params;
}

static void expect_head(const Case *c)
{
    REFUSED(*c, head(w)[0] = 0);
    REFUSED(*c, head(w)[0] = 7);
    REFUSED(*c, head(w)[1] = UINT32_MAX);
    REFUSED(*c, head(w)[1] = 1u << 31);
}

// Every operand and the output of another type, of another rank, and longer by one in each dimension; of those that
// must be there, left out. `loose`: inputs whose sizes may be others.
static void expect_operands(const Case *c, int needed, uint32_t loose)
{
    for (int i = 0; i < c->in_count; i++) {
        if (!c->in[i].dtype) continue;
        if (i < needed) REFUSED(*c, w->in[i].dtype = 0);
        REFUSED(*c, w->in[i].dtype = HOLO_F64);
        REFUSED(*c, w->in[i].kind = HOLO_SEQUENCE);
        for (int d = 0; d < c->in[i].rank && !(loose >> i & 1); d++) {
            REFUSED(*c, w->in[i].dim[d]++);
            REFUSED(*c, w->in[i].dim[d] = INT64_MAX);
        }
    }
    REFUSED(*c, w->out.dtype = HOLO_F64);
    REFUSED(*c, w->out.rank++, w->out.dim[w->out.rank - 1] = 2);
    for (int d = 0; d < c->out.rank; d++) REFUSED(*c, w->out.dim[d]++);
}

static void expect_tail(const Case *c, size_t at)
{
    enum { R = HOLO_MAP_INPUTS };
    static const HoloProgram wild[] = {
        {.count = HOLO_MAP_STEPS + 1},
        {.count = UINT32_MAX},
        {.zero = 1},
        {.count = 1, .step = {{HOLO_MAP_OPS, 0, 0, 0, 0}}},
        {.count = 1, .step = {{255, 0, 0, 0, 0}}},
        {.count = 1, .step = {{HOLO_MAP_neg, 0, 0, 1, 0}}},
        {.count = 1, .step = {{HOLO_MAP_neg, R, 0, 0, 0}}},                                 // of itself
        {.count = 2, .step = {{HOLO_MAP_neg, 0, 0, 0, 0}, {HOLO_MAP_neg, R + 1, 0, 0, 0}}}, // the same
        {.count = 2, .step = {{HOLO_MAP_neg, 0, 0, 0, 0}, {HOLO_MAP_add, R, 254, 0, 0}}},   // of what there is not
        {.count = 1, .step = {{HOLO_MAP_add, 0, 7, 0, 0}}},                                 // no such input
    };
    for (int i = 0; i < HOLO_COUNT(wild); i++) REFUSED(*c, memcpy(w->params.any + at, &wild[i], sizeof wild[i]));
}

#define TAIL                                                         \
    {                                                                \
        .count = 1, .step = { {.op = HOLO_MAP_add, .a = 0, .b = 1} } \
    }

// ----

static void matmul(void **state)
{
    (void)state;
    HoloMatmulParams p = {.size = sizeof p, .alpha = 1, .beta = 1, .tail = TAIL};
    Case             c = right("hologram", "MatMul", 1, HOLO_KERNEL_matmul_f32, &p, sizeof p);
    OPERAND(&c, F32, 2, 3, 5), OPERAND(&c, F32, 5, 4), OPERAND(&c, F32, 4), OPERAND(&c, F32, 2, 1, 4);
    OUTPUT(&c, F32, 2, 3, 4);
    expect_head(&c);
    expect_tail(&c, offsetof(HoloMatmulParams, tail));
    expect_operands(&c, 2, 0);
    REFUSED(c, w->in[3].dtype = 0);
    REFUSED(c, w->params.matmul.flags = HOLO_MATMUL_TRANS_A);
    REFUSED(c, w->params.matmul.flags = HOLO_MATMUL_TRANS_B);
}

static void conv_nhwc(void **state)
{
    (void)state;
    HoloConvNhwcParams p = {.size = sizeof p, .flags = HOLO_CONV_NHWC_PACKED, .tail = TAIL};
    Case               c = right("hologram", "Conv", 1, HOLO_KERNEL_conv_nhwc_f32, &p, sizeof p);
    OPERAND(&c, F32, 2, 7, 6, 4), OPERAND(&c, F32, 5, 4, 3, 3), OPERAND(&c, F32, 5), OPERAND(&c, F32, 5);
    OUTPUT(&c, F32, 2, 5, 4, 5);
    expect_head(&c);
    expect_tail(&c, offsetof(HoloConvNhwcParams, tail));
    expect_operands(&c, 2, 0);
    REFUSED(c, head(w)[1] = 0); // plain weights
    REFUSED(c, head(w)[1] = HOLO_CONV_NHWC_WINOGRAD);
    REFUSED(c, head(w)[1] = HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_SMALL);
    REFUSED(c, head(w)[1] = HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_SMALL | HOLO_CONV_NHWC_TRANSFORM);
    static const int64_t groups[]     = {0, -1, 2, 3, 5, INT64_MAX, INT64_MIN};
    static const int64_t strides[][2] = {{0, 1}, {-1, 1}, {1, 2}, {1, INT64_MAX}, {INT64_MIN, 1}};
    static const int64_t pads[][4]    = {{1, 0, 0, 0}, {INT64_MAX, 0, INT64_MAX, 0}, {0, -1, 0, 0}};
    for (int i = 0; i < HOLO_COUNT(groups); i++) REFUSED(c, attr_int(w, "group", groups[i]));
    for (int i = 0; i < HOLO_COUNT(strides); i++) {
        assert_true(strides[i][0] != 1 || strides[i][1] != 1);
        Case wrong = c, again = c;
        attr_ints(&wrong, "strides", 2, strides[i]), attr_ints(&again, "dilations", 2, strides[i]);
        assert_int_not_equal(checked(&wrong), HOLO_OK);
        assert_int_not_equal(checked(&again), HOLO_OK);
    }
    for (int i = 0; i < HOLO_COUNT(pads); i++) {
        Case wrong = c;
        attr_ints(&wrong, "pads", 4, pads[i]);
        assert_int_not_equal(checked(&wrong), HOLO_OK);
    }
    // Weights for tiles are for 3x3 places and strides of 1 alone.
    Case tiles      = c;
    head(&tiles)[1] = HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_WINOGRAD;
    assert_int_equal(checked(&tiles), HOLO_OK);
    REFUSED(tiles, attr_ints(w, "strides", 2, (int64_t[]){2, 2}), w->out.dim[1] = 3, w->out.dim[2] = 2);
    REFUSED(tiles, attr_int(w, "group", 2), w->in[1].dim[1] = 2,
            w->in[1].dim[0] = w->in[2].dim[0] = w->in[3].dim[0] = w->out.dim[3] = 6);
    REFUSED(tiles, w->in[1].dim[2] = 2, w->out.dim[1] = 6);
}

static void group_norm(void **state)
{
    (void)state;
    HoloGroupNormParams p = {.size = sizeof p, .groups = 2, .tail = TAIL};
    Case                c = right("hologram", "GroupNormalization", 1, HOLO_KERNEL_group_norm_f32, &p, sizeof p);
    OPERAND(&c, F32, 2, 3, 5, 4), OPERAND(&c, F32, 4), OPERAND(&c, F32, 4), OPERAND(&c, F32, 4);
    OUTPUT(&c, F32, 2, 3, 5, 4);
    expect_head(&c);
    expect_tail(&c, offsetof(HoloGroupNormParams, tail));
    expect_operands(&c, 3, 0);
    REFUSED(c, head(w)[1] = 0);
    REFUSED(c, head(w)[1] = 3);
    REFUSED(c, head(w)[1] = 8);
    REFUSED(c, head(w)[3] = 1);
}

static void attention(void **state)
{
    (void)state;
    HoloAttentionParams p = {.size = sizeof p};
    Case                c = right("", "Attention", 24, HOLO_KERNEL_attention_f32, &p, sizeof p);
    OPERAND(&c, F32, 2, 4, 3, 5), OPERAND(&c, F32, 2, 2, 7, 5), OPERAND(&c, F32, 2, 2, 7, 6), OPERAND(&c, F32, 3, 7);
    OUTPUT(&c, F32, 2, 4, 3, 6);
    REFUSED(c, head(w)[0] = 7);
    for (int i = 0; i < 3; i++) REFUSED(c, w->in[i].dtype = 0);
    for (int i = 0; i < 4; i++) {
        REFUSED(c, w->in[i].dtype = HOLO_F64);
        REFUSED(c, w->in[i].kind = HOLO_SEQUENCE);
        for (int d = 0; d < c.in[i].rank; d++) {
            Case wrong = c;
            wrong.in[i].dim[d] += 3;
            assert_int_not_equal(checked(&wrong), HOLO_OK);
        }
    }
    for (int d = 0; d < 4; d++) REFUSED(c, w->out.dim[d]++);
    Case none         = c; // no heads of keys
    none.in[1].dim[1] = none.in[2].dim[1] = 0;
    assert_int_not_equal(checked(&none), HOLO_OK);
    REFUSED(c, w->in[0].dim[3] = w->in[1].dim[3] = HOLO_ATTENTION_SIZE + 1);
    REFUSED(c, w->in[2].dim[3] = w->out.dim[3] = HOLO_ATTENTION_SIZE + 1);
    OPERAND(&c, F32, 2, 2, 1, 5), OPERAND(&c, F32, 2, 2, 1, 6); // a cache, but nowhere to join it
    REFUSED(c, w->in[3].dim[1] = 8);
}

static void conv_i8(void **state)
{
    (void)state;
    HoloConvI8Params p = {.size = sizeof p};
    Case             c = right("", "ConvInteger", 10, HOLO_KERNEL_conv_i8, &p, sizeof p);
    OPERAND(&c, U8, 2, 4, 7, 6), OPERAND(&c, I8, 5, 4, 3, 3), SCALAR(&c, U8), OPERAND(&c, I8, 5);
    OUTPUT(&c, I32, 2, 5, 5, 4);
    expect_head(&c);
    expect_operands(&c, 2, 0);
    REFUSED(c, w->in[2].dtype = HOLO_I8); // of another type than what it is the zero of
    REFUSED(c, w->in[2].rank = 1, w->in[2].dim[0] = 2);
    REFUSED(c, attr_int(w, "group", 0));
    REFUSED(c, attr_int(w, "group", -4));
    REFUSED(c, attr_int(w, "group", INT64_MIN));
    // Nothing to compute, and filters whose size is no number.
    REFUSED(c, w->in[0].dim[1] = w->in[1].dim[1] = INT64_MAX,
            w->in[0].dim[0] = w->in[1].dim[0] = w->in[3].dim[0] = w->out.dim[0] = w->out.dim[1] = 0);
    REFUSED(c, w->in[1].dim[2] = w->in[1].dim[3] = INT64_C(1) << 31,
            w->in[1].dim[0] = w->in[3].dim[0] = w->out.dim[1] = 0);
    HoloConvI8Params q = p;
    Case             s = right("", "QLinearConv", 10, HOLO_KERNEL_conv_i8, &q, sizeof q);
    OPERAND(&s, U8, 2, 4, 7, 6), SCALAR(&s, F32), SCALAR(&s, U8), OPERAND(&s, I8, 5, 4, 3, 3), OPERAND(&s, F32, 5);
    OPERAND(&s, I8, 5), SCALAR(&s, F32), SCALAR(&s, U8), OPERAND(&s, I32, 5);
    OUTPUT(&s, U8, 2, 5, 5, 4);
    expect_head(&s);
    expect_operands(&s, 2, 0);
    REFUSED(s, w->in[8].dim[0] = 1);
    REFUSED(s, w->out.dtype = HOLO_I8);
    REFUSED(s, w->op = "ConvInteger");
}

static void nhwc_i8(void **state)
{
    (void)state;
    HoloConvI8Params q = {.size = sizeof q};
    Case             s = right("com.microsoft", "QLinearConv", 1, HOLO_KERNEL_conv_nhwc_i8, &q, sizeof q);
    OPERAND(&s, U8, 2, 7, 6, 4), SCALAR(&s, F32), SCALAR(&s, U8), OPERAND(&s, I8, 5, 4, 3, 3), OPERAND(&s, F32, 5);
    OPERAND(&s, I8, 5), SCALAR(&s, F32), SCALAR(&s, U8), OPERAND(&s, I32, 5);
    attr_int(&s, "channels_last", 1);
    OUTPUT(&s, U8, 2, 5, 4, 5);
    expect_head(&s);
    expect_operands(&s, 2, 0);
    REFUSED(s, w->in[8].dim[0] = 1);
    REFUSED(s, w->in[2].dtype = HOLO_I8);
    REFUSED(s, w->out.dtype = HOLO_I8);
    REFUSED(s, w->out.dim[3]++);
    REFUSED(s, attr_int(w, "group", 0));
    REFUSED(s, attr_int(w, "group", INT64_MIN));
    REFUSED(s, w->in[1].rank = 1, w->in[1].dim[0] = 2);
    HoloPoolI8Params p         = {.size = sizeof p};
    Case             m         = right("com.microsoft", "NhwcMaxPool", 1, HOLO_KERNEL_pool_i8, &p, sizeof p);
    int64_t          kernel[2] = {2, 2};
    OPERAND(&m, U8, 2, 7, 6, 4);
    attr_ints(&m, "kernel_shape", 2, kernel);
    OUTPUT(&m, U8, 2, 6, 5, 4);
    expect_head(&m);
    REFUSED(m, w->out.dtype = HOLO_I8);
    REFUSED(m, w->out.dim[3]++);
    REFUSED(m, w->out.dim[1]++);
    REFUSED(m, attr_int(w, "ceil_mode", 1));
    HoloPairI8Params a = {.size = sizeof a};
    Case             c = right("com.microsoft", "QLinearAdd", 1, HOLO_KERNEL_pair_i8, &a, sizeof a);
    OPERAND(&c, U8, 2, 3, 4), SCALAR(&c, F32), SCALAR(&c, U8), OPERAND(&c, U8, 4), SCALAR(&c, F32), SCALAR(&c, U8);
    SCALAR(&c, F32), SCALAR(&c, U8);
    OUTPUT(&c, U8, 2, 3, 4);
    expect_head(&c);
    REFUSED(c, w->in[3].dtype = HOLO_I8);
    REFUSED(c, w->in[3].dim[0] = 3);
    REFUSED(c, w->in[3].rank = 4, w->in[3].dim[3] = 4, w->in[3].dim[0] = 1, w->in[3].dim[1] = 2, w->in[3].dim[2] = 3);
    REFUSED(c, w->in[7].dtype = HOLO_I8);
    REFUSED(c, w->out.dim[0]++);
}

static void quantize_i8(void **state)
{
    (void)state;
    HoloQuantizeI8Params p = {.size = sizeof p};
    Case                 c = right("", "QuantizeLinear", 13, HOLO_KERNEL_quantize_i8, &p, sizeof p);
    OPERAND(&c, F32, 2, 3, 4), OPERAND(&c, F32, 3), OPERAND(&c, U8, 3);
    OUTPUT(&c, U8, 2, 3, 4);
    expect_head(&c);
    expect_operands(&c, 2, 0);
    REFUSED(c, w->out.dtype = HOLO_I8);
    REFUSED(c, attr_int(w, "axis", 2));
    REFUSED(c, attr_int(w, "axis", 3));
    REFUSED(c, attr_int(w, "axis", -4));
    REFUSED(c, attr_int(w, "axis", INT64_MIN));
    REFUSED(c, attr_int(w, "block_size", 2));
    REFUSED(c, w->op = "DequantizeLinear");
    REFUSED(c, w->op = "DynamicQuantizeLinear", w->version = 11, w->out.dtype = HOLO_I8);
}

static void gru(void **state)
{
    (void)state;
    HoloRecurrentParams p = {.size = sizeof p, .flags = HOLO_RECURRENT_PACKED_R | HOLO_RECURRENT_PACKED_W};
    Case                c = right("", "GRU", 14, HOLO_KERNEL_gru_f32, &p, sizeof p);
    OPERAND(&c, F32, 3, 2, 5), OPERAND(&c, F32, 1, 12, 5), OPERAND(&c, F32, 1, 12, 4), OPERAND(&c, F32, 1, 24);
    c.in_count++, OPERAND(&c, F32, 1, 2, 4);
    OUTPUT(&c, F32, 3, 1, 2, 4);
    expect_head(&c);
    expect_operands(&c, 3, 0);
    REFUSED(c, w->in[4] = (HoloTensor){.dtype = HOLO_I32, .rank = 1, .dim = {3}}); // lengths
    REFUSED(c, w->in[4] = (HoloTensor){.dtype = HOLO_F32, .rank = 1, .dim = {2}});
    REFUSED(c, w->in[4] = (HoloTensor){.dtype = HOLO_I32, .rank = 2, .dim = {2, 1}});
    REFUSED(c, attr_int(w, "layout", 1));
    REFUSED(c, w->kernel = HOLO_KERNEL_lstm_f32);
    REFUSED(c, w->kernel = HOLO_KERNEL_rnn_f32);
    REFUSED(c, w->attr[w->attr_count++] =
                   (HoloAttr){.name = "direction", .kind = HOLO_ATTR_STRING, .count = 1, .s = {"bidirectional", 13}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul),      cmocka_unit_test(conv_nhwc), cmocka_unit_test(group_norm),
        cmocka_unit_test(attention),   cmocka_unit_test(conv_i8),   cmocka_unit_test(nhwc_i8),
        cmocka_unit_test(quantize_i8), cmocka_unit_test(gru),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
