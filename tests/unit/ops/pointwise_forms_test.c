// pointwise_forms_test.c - pointwise operators on text, on blocks that are quantized, and those of com.microsoft.
#include "unit/ops/pointwise_case.h"

// ---- text

static void check_text(HoloDtype dtype, double x, const char *text)
{
    HoloTensor        number = scalar(dtype, x), string, back;
    const HoloTensor *in[1] = {&number}, *again[1] = {&string};
    HoloAttr          to = {.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = HOLO_STRING};
    assert_int_equal(run("", "Cast", 21, 1, in, &string, 1, &to), HOLO_OK);
    HoloString *s = string.data;
    assert_true(holo_string_equal(*s, (HoloString){text, strlen(text)}));
    to.i = dtype;
    assert_int_equal(run("", "Cast", 21, 1, again, &back, 1, &to), HOLO_OK);
    double got = holo_get_f(&back, 0), want = holo_get_f(&number, 0);
    assert_true(got == want || (isnan(got) && isnan(want)));
}

static void test_text(void **state)
{
    (void)state;
    check_text(HOLO_F32, 0.1, "0.1");
    check_text(HOLO_F32, 16777217, "16777216");
    check_text(HOLO_F64, 0.1 + 0.2, "0.30000000000000004");
    check_text(HOLO_F16, 0.1, "0.1");
    check_text(HOLO_F32, NAN, "NaN");
    check_text(HOLO_F32, -INFINITY, "-INF");
    check_text(HOLO_I64, -5, "-5");
    check_text(HOLO_U64, 0x1p63, "9223372036854775808");
    check_text(HOLO_BOOL, 1, "1");

    static const struct {
        const char *text;
        HoloDtype   dtype;
        bool        is_number;
        double      want;
    } rows[] = {
        {"1e-5", HOLO_F64, true, 1e-5}, {"+inf", HOLO_F32, true, INFINITY}, {" 3.75 ", HOLO_I32, true, 3},
        {"", HOLO_F32, false, 0},       {"Hello", HOLO_F32, false, 0},      {"1 2", HOLO_I32, false, 0},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloString        s     = {rows[i].text, strlen(rows[i].text)};
        HoloTensor        t     = {.dtype = HOLO_STRING, .data = &s}, out;
        const HoloTensor *in[1] = {&t};
        HoloAttr          to    = {.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = rows[i].dtype};
        assert_int_equal(run("", "Cast", 21, 1, in, &out, 1, &to), rows[i].is_number ? HOLO_OK : HOLO_BAD_INPUT);
        if (rows[i].is_number) assert_true(holo_get_f(&out, 0) == rows[i].want);
    }
}

// ---- quantization in blocks, the last of them short

static void test_blocks(void **state)
{
    (void)state;
    const int64_t shape[3] = {2, 5, 3}, scales[3] = {2, 3, 3};
    HoloTensor    x = make(HOLO_F32, 3, shape), s = make(HOLO_F32, 3, scales), z = make(HOLO_I8, 3, scales), q, back;
    const HoloTensor *in[3] = {&x, &s, &z}, *again[3] = {&q, &s, &z};
    const HoloAttr    attr[2] = {{.name = "axis", .kind = HOLO_ATTR_INT, .count = 1, .i = 1},
                                 {.name = "block_size", .kind = HOLO_ATTR_INT, .count = 1, .i = 2}};
    for (int i = 0; i < 18; i++) holo_put_f(&s, i, 0.5 * (i + 1));
    for (int i = 0; i < 18; i++) holo_put_f(&z, i, i - 9);
    for (int i = 0; i < 30; i++) holo_put_f(&x, i, i - 15);
    assert_int_equal(run("", "QuantizeLinear", 21, 3, in, &q, 2, attr), HOLO_OK);
    assert_int_equal(run("", "DequantizeLinear", 21, 3, again, &back, 2, attr), HOLO_OK);
    for (int i = 0; i < 30; i++) {
        int    k     = i / 15 * 9 + i / 3 % 5 / 2 * 3 + i % 3; // of the scale
        double scale = 0.5 * (k + 1), code = nearbyint((i - 15) / scale) + k - 9;
        assert_true(holo_get_f(&q, i) == code);
        assert_true(holo_get_f(&back, i) == (code - (k - 9)) * scale);
    }
    const HoloAttr wrong[2] = {attr[0], {.name = "block_size", .kind = HOLO_ATTR_INT, .count = 1, .i = 5}};
    assert_int_equal(run("", "QuantizeLinear", 21, 3, in, &q, 2, wrong), HOLO_BAD_MODEL);
}

// ---- com.microsoft's own

static void test_contributed(void **state)
{
    (void)state;
    HoloTensor a = scalar(HOLO_U8, 130), b = scalar(HOLO_U8, 5), third = scalar(HOLO_F32, 0.25),
               half = scalar(HOLO_F32, 0.5);
    HoloTensor zero = scalar(HOLO_U8, 128), fine = scalar(HOLO_F32, 1.0 / 256), x = scalar(HOLO_F32, 1),
               y = scalar(HOLO_F32, 2);
    HoloTensor out;
    // (130 - 128) * 0.25 + 5 * 0.5 = 3; with a scale of 0.25 and a zero point of 128
    const HoloTensor *add[8] = {&a, &third, &zero, &b, &half, NULL, &third, &zero};
    assert_int_equal(run("com.microsoft", "QLinearAdd", 1, 8, add, &out, 0, NULL), HOLO_OK);
    assert_int_equal(holo_get_i(&out, 0), 128 + 12);
    assert_int_equal(run("com.microsoft", "QLinearMul", 1, 8, add, &out, 0, NULL), HOLO_OK);
    assert_int_equal(holo_get_i(&out, 0), 128 + 5);
    assert_int_equal(run("com.microsoft", "QLinearMul", 1, 6, add, &out, 0, NULL), HOLO_BAD_MODEL);
    const HoloTensor *sigmoid[4] = {&zero, &half, &zero, &fine};
    assert_int_equal(run("com.microsoft", "QLinearSigmoid", 1, 4, sigmoid, &out, 0, NULL), HOLO_OK);
    assert_int_equal(holo_get_i(&out, 0), 128);
    const HoloTensor *leaky[5] = {&b, &half, &zero, &half, &zero}; // -61.5, of which 0.01 is about one step
    assert_int_equal(run("com.microsoft", "QLinearLeakyRelu", 1, 5, leaky, &out, 0, NULL), HOLO_OK);
    assert_int_equal(holo_get_i(&out, 0), 127);

    const HoloTensor *gelu[2] = {&x, NULL}, *biased[2] = {&x, &y};
    assert_int_equal(run("com.microsoft", "FastGelu", 1, 2, gelu, &out, 0, NULL), HOLO_OK);
    assert_true(fabs(holo_get_f(&out, 0) - 0.841192) < 1e-5);
    assert_int_equal(run("com.microsoft", "FastGelu", 1, 2, biased, &out, 0, NULL), HOLO_OK);
    assert_true(fabs(holo_get_f(&out, 0) - 2.996363) < 1e-5);
    assert_int_equal(run("com.microsoft", "BiasGelu", 1, 2, biased, &out, 0, NULL), HOLO_OK);
    assert_true(fabs(holo_get_f(&out, 0) - 2.995950) < 1e-5);
    assert_int_equal(run("com.microsoft", "QuickGelu", 1, 1, gelu, &out, 0, NULL), HOLO_OK);
    assert_true(fabs(holo_get_f(&out, 0) - 0.845795) < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_contributed),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
