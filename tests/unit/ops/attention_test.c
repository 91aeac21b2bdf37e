// attention_test.c - com.microsoft's attention operators against ONNX's own, and steps with a cache against one run.
#include "support/op_run.h"

enum { B = 2, S = 5, N = 4, KV = 2, H = 16 };

// ONNX's Attention of [B][S][heads * H] tensors.
static HoloTensor plain(const HoloTensor *q, const HoloTensor *k, const HoloTensor *v, int heads, int kv_heads,
                        bool causal)
{
    TestOp op = {
        .domain    = "",
        .name      = "Attention",
        .version   = 24,
        .in        = {q, k, v},
        .in_count  = 3,
        .out_count = 1,
        .attr = {TEST_INT("q_num_heads", heads), TEST_INT("kv_num_heads", kv_heads), TEST_INT("is_causal", causal)},
        .attr_count = 3};
    assert_int_equal(test_run(&op), HOLO_OK);
    return op.out[0];
}

static void multihead_is_attention(void **state)
{
    (void)state;
    HoloTensor q = test_noise(HOLO_F32, 3, TEST_DIM(B, S, N * H), 1),
               k = test_noise(HOLO_F32, 3, TEST_DIM(B, S, N * H), 2);
    HoloTensor v = test_noise(HOLO_F32, 3, TEST_DIM(B, S, N * H), 3), want = plain(&q, &k, &v, N, N, true);
    TestOp     op = {.domain     = "com.microsoft",
                     .name       = "MultiHeadAttention",
                     .version    = 1,
                     .in         = {&q, &k, &v},
                     .in_count   = 3,
                     .out_count  = 1,
                     .attr       = {TEST_INT("num_heads", N), TEST_INT("unidirectional", 1)},
                     .attr_count = 2};
    assert_int_equal(test_run(&op), HOLO_OK);
    test_assert_close(&op.out[0], 0, &want, 0, B * S * N * H, 1e-6);

    HoloTensor        packed  = test_tensor(HOLO_F32, 5, TEST_DIM(B, S, N, 3, H));
    const HoloTensor *part[3] = {&q, &k, &v};
    for (int64_t i = 0; i < B * S * N * 3 * H; i++)
        holo_put_f(&packed, i, holo_get_f(part[i / H % 3], i / (3 * H) * H + i % H));
    op.in[0]    = &packed;
    op.in_count = 1;
    assert_int_equal(test_run(&op), HOLO_OK);
    test_assert_close(&op.out[0], 0, &want, 0, B * S * N * H, 1e-6);
}

static void multihead_adds_biases_and_pads(void **state)
{
    (void)state;
    HoloTensor q       = test_noise(HOLO_F32, 3, TEST_DIM(B, S, N * H), 1),
               k       = test_noise(HOLO_F32, 3, TEST_DIM(B, S, N * H), 2);
    HoloTensor v       = test_noise(HOLO_F32, 3, TEST_DIM(B, S, N * H), 3),
               bias    = test_noise(HOLO_F32, 1, TEST_DIM(3 * N * H), 4);
    HoloTensor lengths = test_tensor(HOLO_I32, 1, TEST_DIM(B));
    holo_put_i(&lengths, 0, S);
    holo_put_i(&lengths, 1, 3);
    TestOp op = {.domain     = "com.microsoft",
                 .name       = "MultiHeadAttention",
                 .version    = 1,
                 .in         = {&q, &k, &v, &bias, &lengths},
                 .in_count   = 5,
                 .out_count  = 1,
                 .attr       = {TEST_INT("num_heads", N)},
                 .attr_count = 1};
    assert_int_equal(test_run(&op), HOLO_OK);

    HoloTensor *all[3] = {&q, &k, &v}, sum[3], mask = test_tensor(HOLO_BOOL, 4, TEST_DIM(B, 1, 1, S));
    for (int p = 0; p < 3; p++) {
        sum[p] = test_tensor(HOLO_F32, 3, TEST_DIM(B, S, N * H));
        for (int64_t i = 0; i < B * S * N * H; i++)
            holo_put_f(&sum[p], i, holo_get_f(all[p], i) + holo_get_f(&bias, p * N * H + i % (N * H)));
    }
    for (int64_t i = 0; i < B * S; i++) holo_put_i(&mask, i, i % S < holo_get_i(&lengths, i / S));
    TestOp want = {.domain     = "",
                   .name       = "Attention",
                   .version    = 24,
                   .in         = {&sum[0], &sum[1], &sum[2], &mask},
                   .in_count   = 4,
                   .out_count  = 1,
                   .attr       = {TEST_INT("q_num_heads", N), TEST_INT("kv_num_heads", N)},
                   .attr_count = 2};
    assert_int_equal(test_run(&want), HOLO_OK);
    test_assert_close(&op.out[0], 0, &want.out[0], 0, B * S * N * H, 1e-6);
}

// The weights pick parts of the input, so that the product is known.
static void merged_is_attention(void **state)
{
    (void)state;
    enum { D = N * H };
    HoloTensor x = test_noise(HOLO_F32, 3, TEST_DIM(B, S, D), 1), w = test_tensor(HOLO_F32, 2, TEST_DIM(D, 3 * D));
    HoloTensor zero = test_tensor(HOLO_F32, 1, TEST_DIM(3 * D));
    for (int64_t i = 0; i < D; i++)
        for (int64_t p = 0; p < 3; p++) holo_put_f(&w, i * 3 * D + p * D + (i + p) % D, 1);
    TestOp op = {.domain     = "com.microsoft",
                 .name       = "Attention",
                 .version    = 1,
                 .in         = {&x, &w, &zero},
                 .in_count   = 3,
                 .out_count  = 2,
                 .attr       = {TEST_INT("num_heads", N), TEST_INT("unidirectional", 1)},
                 .attr_count = 2};
    assert_int_equal(test_run(&op), HOLO_OK);
    HoloTensor turned[3];
    for (int64_t p = 0; p < 3; p++) {
        turned[p] = test_tensor(HOLO_F32, 3, TEST_DIM(B, S, D));
        for (int64_t i = 0; i < B * S * D; i++) holo_put_f(&turned[p], i / D * D + (i % D + p) % D, holo_get_f(&x, i));
    }
    HoloTensor want = plain(&turned[0], &turned[1], &turned[2], N, N, true);
    test_assert_close(&op.out[0], 0, &want, 0, B * S * D, 1e-6);

    HoloTensor past = op.out[1], tail = test_noise(HOLO_F32, 3, TEST_DIM(B, 1, D), 5),
               both = test_tensor(HOLO_F32, 3, TEST_DIM(B, S + 1, D));
    for (int64_t i = 0; i < B * (S + 1) * D; i++) {
        int64_t b = i / D / (S + 1), s = i / D % (S + 1);
        holo_put_f(&both, i, s < S ? holo_get_f(&x, (b * S + s) * D + i % D) : holo_get_f(&tail, b * D + i % D));
    }
    TestOp step = op, whole = op;
    step.in[0]    = &tail;
    step.in[4]    = &past;
    step.in_count = 5;
    whole.in[0]   = &both;
    assert_int_equal(test_run(&step), HOLO_OK);
    assert_int_equal(test_run(&whole), HOLO_OK);
    for (int64_t b = 0; b < B; b++)
        test_assert_close(&step.out[0], b * D, &whole.out[0], (b * (S + 1) + S) * D, D, 1e-6);
}

static void quantized_is_merged(void **state)
{
    (void)state;
    enum { D = 8 };
    HoloTensor x = test_tensor(HOLO_U8, 3, TEST_DIM(1, S, D)), w = test_tensor(HOLO_I8, 2, TEST_DIM(D, 3 * D));
    HoloTensor bias = test_noise(HOLO_F32, 1, TEST_DIM(3 * D), 9), real_x = test_tensor(HOLO_F32, 3, TEST_DIM(1, S, D));
    HoloTensor real_w = test_tensor(HOLO_F32, 2, TEST_DIM(D, 3 * D)), x_scale = test_tensor(HOLO_F32, 0, NULL);
    HoloTensor w_scale = test_tensor(HOLO_F32, 0, NULL), x_zero = test_number(HOLO_U8, 7),
               w_zero = test_number(HOLO_I8, -3);
    holo_put_f(&x_scale, 0, 0.03);
    holo_put_f(&w_scale, 0, 0.02);
    for (int64_t i = 0; i < S * D; i++) {
        holo_put_i(&x, i, i * 37 % 251);
        holo_put_f(&real_x, i, 0.03f * (double)(i * 37 % 251 - 7));
    }
    for (int64_t i = 0; i < D * 3 * D; i++) {
        holo_put_i(&w, i, i * 53 % 255 - 127);
        holo_put_f(&real_w, i, 0.02f * (double)(i * 53 % 255 - 127 + 3));
    }
    TestOp op   = {.domain     = "com.microsoft",
                   .name       = "QAttention",
                   .version    = 1,
                   .in         = {&x, &w, &bias, &x_scale, &w_scale, NULL, &x_zero, &w_zero},
                   .in_count   = 8,
                   .out_count  = 1,
                   .attr       = {TEST_INT("num_heads", 2)},
                   .attr_count = 1};
    TestOp want = {.domain     = "com.microsoft",
                   .name       = "Attention",
                   .version    = 1,
                   .in         = {&real_x, &real_w, &bias},
                   .in_count   = 3,
                   .out_count  = 1,
                   .attr       = {TEST_INT("num_heads", 2)},
                   .attr_count = 1};
    assert_int_equal(test_run(&op), HOLO_OK);
    assert_int_equal(test_run(&want), HOLO_OK);
    test_assert_close(&op.out[0], 0, &want.out[0], 0, S * D, 1e-2);
}

// ---- GroupQueryAttention

typedef struct Grouped {
    HoloTensor q, k, v, lengths, total, cos, sin;
} Grouped;

static void grouped_inputs(Grouped *g, int64_t positions, int64_t total)
{
    g->q               = test_tensor(HOLO_F32, 3, TEST_DIM(1, positions, N * H));
    g->k               = test_tensor(HOLO_F32, 3, TEST_DIM(1, positions, KV * H));
    g->v               = test_tensor(HOLO_F32, 3, TEST_DIM(1, positions, KV * H));
    HoloTensor  all[3] = {test_noise(HOLO_F32, 3, TEST_DIM(1, S, N * H), 11),
                          test_noise(HOLO_F32, 3, TEST_DIM(1, S, KV * H), 12),
                          test_noise(HOLO_F32, 3, TEST_DIM(1, S, KV * H), 13)};
    HoloTensor *to[3]  = {&g->q, &g->k, &g->v};
    for (int i = 0; i < 3; i++) {
        int64_t row = all[i].dim[2];
        memcpy(to[i]->data, (char *)all[i].data + (size_t)((total - positions) * row) * 4,
               (size_t)(positions * row) * 4);
    }
    g->lengths = test_tensor(HOLO_I32, 1, TEST_DIM(1));
    holo_put_i(&g->lengths, 0, total - 1);
    g->total = test_number(HOLO_I32, total);
    g->cos   = test_noise(HOLO_F32, 2, TEST_DIM(8, H / 2), 21);
    g->sin   = test_noise(HOLO_F32, 2, TEST_DIM(8, H / 2), 22);
}

static TestOp grouped(const Grouped *g, const HoloTensor *past_key, const HoloTensor *past_value, bool turns)
{
    TestOp op = {.domain   = "com.microsoft",
                 .name     = "GroupQueryAttention",
                 .version  = 1,
                 .in       = {&g->q, &g->k, &g->v, past_key, past_value, &g->lengths, &g->total, turns ? &g->cos : NULL,
                        turns ? &g->sin : NULL},
                 .in_count = 9,
                 .out_count  = 3,
                 .attr       = {TEST_INT("num_heads", N), TEST_INT("kv_num_heads", KV), TEST_INT("do_rotary", turns)},
                 .attr_count = 3};
    return op;
}

static void grouped_is_attention(void **state)
{
    (void)state;
    Grouped g;
    grouped_inputs(&g, S, S);
    TestOp     op   = grouped(&g, NULL, NULL, false);
    HoloTensor want = plain(&g.q, &g.k, &g.v, N, KV, true);
    assert_int_equal(test_run(&op), HOLO_OK);
    test_assert_close(&op.out[0], 0, &want, 0, S * N * H, 1e-6);
}

// A prompt and a step with its cache, which has room to spare, give the last row of all at once.
static void grouped_steps(void **state)
{
    (void)state;
    Grouped    all, prompt, last;
    HoloTensor key   = test_tensor(HOLO_F32, 4, TEST_DIM(1, KV, 8, H)),
               value = test_tensor(HOLO_F32, 4, TEST_DIM(1, KV, 8, H));
    grouped_inputs(&all, S, S);
    grouped_inputs(&prompt, S - 1, S - 1);
    grouped_inputs(&last, 1, S);
    TestOp whole = grouped(&all, NULL, NULL, true), first = grouped(&prompt, &key, &value, true);
    assert_int_equal(test_run(&whole), HOLO_OK);
    assert_int_equal(test_run(&first), HOLO_OK);
    assert_int_equal(first.out[1].dim[2], 8);
    TestOp step = grouped(&last, &first.out[1], &first.out[2], true);
    assert_int_equal(test_run(&step), HOLO_OK);
    test_assert_close(&step.out[0], 0, &whole.out[0], (S - 1) * N * H, N * H, 1e-6);
}

static void grouped_quantizes(void **state)
{
    (void)state;
    Grouped g;
    grouped_inputs(&g, S, S);
    TestOp real = grouped(&g, NULL, NULL, false);
    assert_int_equal(test_run(&real), HOLO_OK);
    for (int bits = 8; bits >= 4; bits -= 4) {
        TestOp     op    = grouped(&g, NULL, NULL, false);
        HoloTensor scale = test_tensor(HOLO_F32, 1, TEST_DIM(1));
        holo_put_f(&scale, 0, bits == 8 ? 1.0 / 127 : 1.0 / 7);
        op.in[12] = op.in[13] = &scale;
        op.in_count           = 14;
        op.attr[3]            = (HoloAttr)TEST_TEXT("k_quant_type", "PER_TENSOR");
        op.attr[4]            = (HoloAttr)TEST_TEXT("v_quant_type", "PER_TENSOR");
        op.attr[5]            = (HoloAttr)TEST_INT("kv_cache_bit_width", bits);
        op.attr_count         = 6;
        assert_int_equal(test_run(&op), HOLO_OK);
        assert_int_equal(op.out[1].dim[3], bits == 8 ? H : H / 2);
        test_assert_close(&op.out[0], 0, &real.out[0], 0, S * N * H, bits == 8 ? 0.01 : 0.15);
    }
}

static void grouped_refuses(void **state)
{
    (void)state;
    Grouped g;
    grouped_inputs(&g, S, S);
    holo_put_i(&g.lengths, 0, S); // one more than there are
    TestOp op = grouped(&g, NULL, NULL, false);
    assert_int_equal(test_run(&op), HOLO_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multihead_is_attention), cmocka_unit_test(multihead_adds_biases_and_pads),
        cmocka_unit_test(merged_is_attention),    cmocka_unit_test(quantized_is_merged),
        cmocka_unit_test(grouped_is_attention),   cmocka_unit_test(grouped_steps),
        cmocka_unit_test(grouped_quantizes),      cmocka_unit_test(grouped_refuses),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    holo_arena_deinit(&test_arena);
    return failed;
}
