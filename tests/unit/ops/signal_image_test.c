// signal_image_test.c - Fourier transforms of every kind of length against plain sums, and images that are read here.
#include "support/op_run.h"

#include <math.h>

static HoloTensor transform(const HoloTensor *x, int64_t inverse, int64_t onesided, const HoloTensor *length)
{
    TestOp op = {.domain     = "",
                 .name       = "DFT",
                 .version    = 20,
                 .in         = {x, length},
                 .in_count   = 2,
                 .out_count  = 1,
                 .attr       = {TEST_INT("inverse", inverse), TEST_INT("onesided", onesided)},
                 .attr_count = 2};
    assert_int_equal(test_run(&op), HOLO_OK);
    return op.out[0];
}

static void dft_is_the_sum(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 3, 4, 6, 8, 30, 31, 61, 64, 67, 97, 128, 134, 210, 257, 360};
    for (int i = 0; i < HOLO_COUNT(lengths); i++) {
        int64_t    n    = lengths[i];
        HoloTensor x    = test_noise(HOLO_F64, 3, TEST_DIM(1, n, 2), 5),
                   want = test_tensor(HOLO_F64, 3, TEST_DIM(1, n, 2));
        for (int64_t k = 0; k < n; k++) {
            double re = 0, im = 0;
            for (int64_t j = 0; j < n; j++) {
                double c = cos(2 * M_PI * (double)(j * k % n) / (double)n),
                       s = -sin(2 * M_PI * (double)(j * k % n) / (double)n);
                double a = holo_get_f(&x, 2 * j), b = holo_get_f(&x, 2 * j + 1);
                re += a * c - b * s;
                im += a * s + b * c;
            }
            holo_put_f(&want, 2 * k, re);
            holo_put_f(&want, 2 * k + 1, im);
        }
        HoloTensor y = transform(&x, 0, 0, NULL), back = transform(&y, 1, 0, NULL);
        test_assert_close(&y, 0, &want, 0, 2 * n, 1e-10);
        test_assert_close(&back, 0, &x, 0, 2 * n, 1e-12);
    }
}

static void dft_onesided_goes_back(void **state)
{
    (void)state;
    for (int64_t n = 2; n < 20; n++) {
        HoloTensor x = test_noise(HOLO_F64, 4, TEST_DIM(2, n, 3, 1), 7), length = test_number(HOLO_I64, n),
                   axis = test_number(HOLO_I64, 1);
        TestOp op       = {.domain     = "",
                           .name       = "DFT",
                           .version    = 20,
                           .in         = {&x, &length, &axis},
                           .in_count   = 3,
                           .out_count  = 1,
                           .attr       = {TEST_INT("onesided", 1), TEST_INT("inverse", 0)},
                           .attr_count = 2};
        assert_int_equal(test_run(&op), HOLO_OK);
        HoloTensor y = op.out[0];
        assert_int_equal(y.dim[1], n / 2 + 1);
        op.in[0]     = &y;
        op.attr[1].i = 1;
        assert_int_equal(test_run(&op), HOLO_OK);
        assert_int_equal(op.out[0].dim[3], 1);
        test_assert_close(&op.out[0], 0, &x, 0, 2 * n * 3, 1e-12);
    }
}

// ---- images

static HoloTensor decode(const void *bytes, int64_t size)
{
    HoloTensor x  = {.dtype = HOLO_U8, .rank = 1, .dim = {size}, .data = (void *)bytes};
    TestOp     op = {.domain = "", .name = "ImageDecoder", .version = 20, .in = {&x}, .in_count = 1, .out_count = 1};
    assert_int_equal(test_run(&op), HOLO_OK);
    return op.out[0];
}

static void assert_pixels(const HoloTensor *y, int64_t height, int64_t width, const char *want)
{
    assert_int_equal(y->dim[0], height);
    assert_int_equal(y->dim[1], width);
    assert_memory_equal(y->data, want, (size_t)(height * width * 3));
}

static void portable_formats(void **state)
{
    (void)state;
    static const char text[] = "P3 # red, then green\n2 1\n15\n15 0 0  0 15 0 ", bits[] = "P1 3 1\n010",
                      bytes[] = "P6 1 1 255\nABC";
    HoloTensor y              = decode(text, sizeof text - 1);
    assert_pixels(&y, 1, 2, "\xFF\0\0\0\xFF\0");
    y = decode(bits, sizeof bits - 1);
    assert_pixels(&y, 1, 3, "\xFF\xFF\xFF\0\0\0\xFF\xFF\xFF");
    y = decode(bytes, sizeof bytes - 1);
    assert_pixels(&y, 1, 1, "ABC");
    for (size_t size = 0; size + 1 < sizeof bytes; size++) // broken files give empty images
        if (size < sizeof bytes - 1) assert_int_equal(decode(bytes, (int64_t)size).dim[0], 0);
}

static void bitmaps(void **state)
{
    (void)state;
    // 2 x 2 pixels of 24 bits, the lower row first, and 4 x 1 of 8 bits in a run of two colors
    static const char plain[] =
        "BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\2\0\0\0\1\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0cbafed\0\0ihglkj\0";
    static const char runs[] =
        "BM\0\0\0\0\0\0\0\0\x3E\0\0\0\x28\0\0\0\4\0\0\0\1\0\0\0\1\0\x08\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0"
        "\0\0\0\0\0\0cba\0fed\0\3\0\1\1\0\1";
    HoloTensor y = decode(plain, sizeof plain - 1);
    assert_pixels(&y, 2, 2, "ghijklabcdef");
    y = decode(runs, sizeof runs - 1);
    assert_pixels(&y, 1, 4, "abcabcabcdef");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dft_is_the_sum),
        cmocka_unit_test(dft_onesided_goes_back),
        cmocka_unit_test(portable_formats),
        cmocka_unit_test(bitmaps),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    holo_arena_deinit(&test_arena);
    return failed;
}
