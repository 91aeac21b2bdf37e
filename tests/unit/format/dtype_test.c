// dtype_test.c - the bits of small floats, the table of types, and DLPack views.
#include "base/base.h"
#include "format/dtype.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const HoloDtype small[] = {HOLO_F8E4M3FN, HOLO_F8E4M3FNUZ, HOLO_F8E5M2, HOLO_F8E5M2FNUZ,
                                  HOLO_F4E2M1,   HOLO_F8E8M0,     HOLO_F6E2M3, HOLO_F6E3M2};

static void test_every_code_reads_back(void **state)
{
    (void)state;
    for (int bits = 0; bits < 65536; bits++) {
        float half = holo_f16_to_f32((uint16_t)bits), brain = holo_bf16_to_f32((uint16_t)bits);
        if (!isnan(half)) assert_int_equal(holo_f64_to_f16(half), bits);
        if (!isnan(half)) assert_int_equal(holo_f32_to_f16(half), bits);
        if (isnan(half)) assert_true(isnan(holo_f16_to_f32(holo_f64_to_f16(half))));
        if (!isnan(brain)) assert_int_equal(holo_f64_to_bf16(brain), bits);
        if (isnan(brain)) assert_true(isnan(holo_bf16_to_f32(holo_f64_to_bf16(brain))));
    }
    for (int d = 0; d < HOLO_COUNT(small); d++) {
        for (int bits = 0; bits < 1 << holo_dtype_bits(small[d]); bits++) {
            float x = holo_f8_to_f32(small[d], (uint8_t)bits);
            if (!isnan(x)) assert_int_equal(holo_f64_to_f8(small[d], x, false), bits);
        }
    }
}

// Between any two neighbors of a type: their middle goes to the even code, a little off it to the nearer one.
static void check_between(HoloDtype dtype, uint8_t low)
{
    double a = holo_f8_to_f32(dtype, low), b = holo_f8_to_f32(dtype, (uint8_t)(low + 1)), middle = (a + b) / 2;
    if (isnan(a) || isnan(b) || isinf(b)) return;
    assert_true(a < b);
    assert_int_equal(holo_f64_to_f8(dtype, nextafter(middle, a), true), low);
    assert_int_equal(holo_f64_to_f8(dtype, nextafter(middle, b), true), low + 1);
    assert_int_equal(holo_f64_to_f8(dtype, middle, true), dtype == HOLO_F8E8M0 ? low + 1 : low + (low & 1));
}

static void test_rounding(void **state)
{
    (void)state;
    for (int d = 0; d < HOLO_COUNT(small); d++) {
        int positive = small[d] == HOLO_F8E8M0 ? 254 : (1 << (holo_dtype_bits(small[d]) - 1)) - 1;
        for (int low = 0; low < positive; low++) check_between(small[d], (uint8_t)low);
    }
    for (int low = 0; low < 0x7BFF; low++) {
        double a = holo_f16_to_f32((uint16_t)low), b = holo_f16_to_f32((uint16_t)(low + 1)), middle = (a + b) / 2;
        assert_int_equal(holo_f64_to_f16(middle), low + (low & 1));
        assert_int_equal(holo_f64_to_f16(-middle), (low + (low & 1)) | 0x8000);
        assert_int_equal(holo_f64_to_f16(nextafter(middle, a)), low);
        assert_int_equal(holo_f64_to_f16(nextafter(middle, b)), low + 1);
    }
    assert_int_equal(holo_f64_to_f16(65519.999), 0x7BFF);
    assert_int_equal(holo_f64_to_f16(65520), 0x7C00);
    assert_int_equal(holo_f64_to_f16(1e-300), 0);
    assert_int_equal(holo_f64_to_f16(5e-324), 0);
}

static void test_special_values(void **state)
{
    (void)state;
    // type, largest number, then the codes of: inf and -inf saturated, inf and -inf not, NaN, -0
    static const struct {
        HoloDtype dtype;
        double    largest;
        uint8_t   code[6];
    } rows[] = {
        {HOLO_F8E4M3FN, 448, {0x7E, 0xFE, 0x7F, 0xFF, 0x7F, 0x80}},
        {HOLO_F8E4M3FNUZ, 240, {0x7F, 0xFF, 0x80, 0x80, 0x80, 0}},
        {HOLO_F8E5M2, 57344, {0x7B, 0xFB, 0x7C, 0xFC, 0x7E, 0x80}},
        {HOLO_F8E5M2FNUZ, 57344, {0x7F, 0xFF, 0x80, 0x80, 0x80, 0}},
        {HOLO_F6E2M3, 7.5, {0x1F, 0x3F, 0x1F, 0x3F, 0, 0x20}},
        {HOLO_F6E3M2, 28, {0x1F, 0x3F, 0x1F, 0x3F, 0, 0x20}},
        {HOLO_F4E2M1, 6, {7, 15, 7, 15, 0, 8}},
        {HOLO_F8E8M0, 0x1p127, {254, 255, 255, 255, 255, 0}},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloDtype dtype = rows[i].dtype;
        assert_true(holo_f8_to_f32(dtype, holo_f64_to_f8(dtype, 1e300, true)) == rows[i].largest);
        const double x[6] = {INFINITY, -INFINITY, INFINITY, -INFINITY, (double)NAN, -0.0};
        for (int k = 0; k < 6; k++) assert_int_equal(holo_f64_to_f8(dtype, x[k], k < 2 || k == 5), rows[i].code[k]);
    }
}

static void test_table(void **state)
{
    (void)state;
    for (int d = 1; d < HOLO_DTYPE_COUNT; d++) {
        assert_int_equal(holo_dtype_find(holo_dtype_name((HoloDtype)d)), d);
        assert_true(holo_dtype_size((HoloDtype)d) * 8 >= (size_t)holo_dtype_bits((HoloDtype)d));
        assert_int_not_equal(holo_dtype_class((HoloDtype)d), HOLO_CLASS_NONE);
    }
    assert_int_equal(holo_dtype_find("float"), HOLO_NONE);
    assert_string_equal(holo_dtype_name((HoloDtype)99), "?");
    assert_int_equal(holo_dtype_size((HoloDtype)-1), 0);
}

static void test_counts(void **state)
{
    (void)state;
    HoloTensor t = {.dtype = HOLO_F32, .rank = 3, .dim = {2, 3, 4}};
    assert_int_equal(holo_tensor_count(&t), 24);
    assert_int_equal(holo_tensor_bytes(&t), 96);
    t.dim[0] = t.dim[1] = INT64_MAX;
    assert_int_equal(holo_tensor_count(&t), -1);
    t.dim[2] = 0; // what is too large is so beside a 0, too
    assert_int_equal(holo_tensor_count(&t), -1);
    t.dim[0] = 1;
    assert_int_equal(holo_tensor_count(&t), -1); // sequences of so many would not fit
    t.dim[1] = 1 << 20;
    assert_int_equal(holo_tensor_count(&t), 0);
    t.dim[2] = -1;
    assert_int_equal(holo_tensor_count(&t), -1);
    t.rank = 0;
    assert_int_equal(holo_tensor_count(&t), 1);
    t.rank = -1;
    assert_int_equal(holo_tensor_count(&t), -1);
}

static void test_dlpack(void **state)
{
    (void)state;
    float        data[6];
    HoloTensor   t = {.dtype = HOLO_F32, .rank = 2, .dim = {2, 3}, .data = data}, back;
    HoloDlTensor dl;
    assert_true(holo_tensor_to_dlpack(&t, &dl));
    assert_true(holo_tensor_from_dlpack(&dl, &back));
    assert_memory_equal(&t, &back, sizeof t);
    int64_t dense[2] = {3, 1}, turned[2] = {1, 2};
    dl.strides = dense;
    assert_true(holo_tensor_from_dlpack(&dl, &back));
    dl.strides = turned;
    assert_false(holo_tensor_from_dlpack(&dl, &back));
    dl.strides     = NULL;
    dl.device_type = 2;
    assert_false(holo_tensor_from_dlpack(&dl, &back));
    t.dtype = HOLO_I4;
    assert_false(holo_tensor_to_dlpack(&t, &dl));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_reads_back),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_dlpack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
