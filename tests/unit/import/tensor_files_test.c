// tensor_files_test.c - tensors from what has no shape of its own: text of numbers, and pictures.
#include "support/models.h"

#include <math.h>
#include <string.h>

static double number_at(const HoloTensors *tensors, int64_t index)
{
    double x;
    holo_tensor_numbers(holo_tensors_get(tensors, 0, NULL), index, 1, &x);
    return x;
}

// ---- text

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        HoloTensor  want;
        int64_t     dim[3];
    } good[] = {
        {"1 2 3 4 5 6", {.dtype = HOLO_F32, .rank = 2, .dim = {-1, 3}}, {2, 3}},
        {"a,b\n1,2\n3,4\n", {.dtype = HOLO_I64, .rank = 2, .dim = {-1, -1}}, {2, 2}},
        {"[[1], [2], [3]]", {.dtype = HOLO_U8, .rank = 1, .dim = {3}}, {3}},
        {"5", {.dtype = HOLO_F16, .rank = 0}, {0}},
        {"1;2;3;4", {.dtype = HOLO_F32, .rank = 3, .dim = {-1, 2, -1}}, {1, 2, 2}},
        {"1e3 2", {.dtype = HOLO_I32, .rank = 1, .dim = {-1}}, {2}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        HoloTensors *tensors;
        EXPECT_OK(holo_tensors_parse(good[i].text, &good[i].want, &tensors, &error));
        const HoloTensor *t = holo_tensors_get(tensors, 0, NULL);
        assert_int_equal(t->dtype, good[i].want.dtype);
        assert_int_equal(t->rank, good[i].want.rank);
        for (int d = 0; d < t->rank; d++) assert_int_equal(t->dim[d], good[i].dim[d]);
        holo_tensors_destroy(tensors);
    }
    HoloTensors *tensors; // nothing is wanted: as it stands
    EXPECT_OK(holo_tensors_parse("1 2\n3 4\n", NULL, &tensors, &error));
    assert_int_equal(holo_tensors_get(tensors, 0, NULL)->rank, 2);
    assert_true(number_at(tensors, 3) == 4);
    holo_tensors_destroy(tensors);
}

static void test_text_that_does_not_fit(void **state)
{
    (void)state;
    HoloTensors *tensors;
    HoloTensor   bytes = {.dtype = HOLO_U8, .rank = 1, .dim = {-1}}, three = {.dtype = HOLO_F32, .rank = 1, .dim = {3}};
    HoloTensor   huge  = {.dtype = HOLO_F32, .rank = 2, .dim = {INT64_MAX, INT64_MAX}};
    HoloTensor   words = {.dtype = HOLO_STRING, .rank = 1, .dim = {-1}};
    EXPECT_FAIL(holo_tensors_parse("1 2", &three, &tensors, &error), HOLO_BAD_INPUT, "2 numbers");
    EXPECT_FAIL(holo_tensors_parse("1 x 3", &three, &tensors, &error), HOLO_BAD_INPUT, "'x' in line 1");
    EXPECT_FAIL(holo_tensors_parse("256", &bytes, &tensors, &error), HOLO_BAD_INPUT, "not a number of type u8");
    EXPECT_FAIL(holo_tensors_parse("-1", &bytes, &tensors, &error), HOLO_BAD_INPUT, "not a number of type u8");
    EXPECT_FAIL(holo_tensors_parse("1.5", &bytes, &tensors, &error), HOLO_BAD_INPUT, "not a number of type u8");
    EXPECT_FAIL(holo_tensors_parse("nan", &bytes, &tensors, &error), HOLO_BAD_INPUT, "not a number of type u8");
    EXPECT_FAIL(holo_tensors_parse("", &bytes, &tensors, &error), HOLO_BAD_INPUT, "no numbers");
    EXPECT_FAIL(holo_tensors_parse("1", &huge, &tensors, &error), HOLO_BAD_INPUT, "does not make");
    EXPECT_FAIL(holo_tensors_parse("1", &words, &tensors, &error), HOLO_BAD_INPUT, "can only be a tensor of numbers");
}

// ---- pictures

static const char *picture(void) // red, green; blue, white
{
    static const char bytes[] = "P6\n2 2\n255\n\xff\0\0\0\xff\0\0\0\xff\xff\xff\xff";
    const char       *path    = temp_path("four.ppm");
    file_write(path, bytes, sizeof bytes - 1);
    return path;
}

static void test_picture(void **state)
{
    (void)state;
    HoloTensors    *tensors;
    HoloPictureForm form = {.high = 1, .mean = {0.5, 0, 0}, .std = {0.5, 1, 1}};
    HoloTensor      type = {.dtype = HOLO_F32, .rank = 4, .dim = {-1, 3, -1, -1}};
    int64_t         size[2];
    assert_true(holo_is_picture(picture()));
    assert_false(holo_is_picture(temp_path("no-such")));
    EXPECT_OK(holo_tensors_read_picture(picture(), &type, &form, size, &tensors, &error));
    static const double want[12] = {1, -1, -1, 1, 0, 1, 0, 1, 0, 0, 1, 1};
    for (int i = 0; i < 12; i++) assert_true(fabs(number_at(tensors, i) - want[i]) < 1e-6);
    assert_int_equal(size[0], 2);
    assert_int_equal(holo_tensors_get(tensors, 0, NULL)->dim[0], 1);
    holo_tensors_destroy(tensors);

    form = (HoloPictureForm){.is_channels_last = true, .is_bgr = true, .high = 255, .std = {1, 1, 1}};
    type = (HoloTensor){.dtype = HOLO_U8, .rank = 3, .dim = {4, -1, 3}}; // its proportions stay
    EXPECT_OK(holo_tensors_read_picture(picture(), &type, &form, NULL, &tensors, &error));
    const HoloTensor *t = holo_tensors_get(tensors, 0, NULL);
    assert_int_equal(t->dim[0], 4);
    assert_int_equal(t->dim[1], 4);
    assert_true(number_at(tensors, 0) == 0 && number_at(tensors, 2) == 255); // red, as BGR
    holo_tensors_destroy(tensors);
}

// Red, green, blue and white become 4x4, of which the middle is cut out: one pixel of each, or black around all of them.
static void test_picture_cut(void **state)
{
    (void)state;
    HoloTensors    *tensors;
    HoloPictureForm form = {.is_channels_last = true, .high = 255, .std = {1, 1, 1}, .first = {4, 4}};
    HoloTensor      type = {.dtype = HOLO_U8, .rank = 3, .dim = {2, 2, 3}};
    form.resample        = HOLO_RESAMPLE_NEAREST;
    EXPECT_OK(holo_tensors_read_picture(picture(), &type, &form, NULL, &tensors, &error));
    static const double want[12] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    for (int i = 0; i < 12; i++) assert_true(number_at(tensors, i) == want[i]);
    holo_tensors_destroy(tensors);

    type.dim[0] = 5, type.dim[1] = -1; // a black row above, and the width stays
    form.resample = HOLO_RESAMPLE_BICUBIC, form.first[1] = 0;
    EXPECT_OK(holo_tensors_read_picture(picture(), &type, &form, NULL, &tensors, &error));
    assert_int_equal(holo_tensors_get(tensors, 0, NULL)->dim[1], 4);
    for (int i = 0; i < 12; i++) assert_true(number_at(tensors, i) == 0);
    assert_true(number_at(tensors, 12) > 240);
    holo_tensors_destroy(tensors);

    form.first[0] = 1 << 20;
    EXPECT_FAIL(holo_tensors_read_picture(picture(), &type, &form, NULL, &tensors, &error), HOLO_BAD_ARGUMENT,
                "cannot be resized");
    form.first[0] = 4, form.resample = 9;
    EXPECT_FAIL(holo_tensors_read_picture(picture(), &type, &form, NULL, &tensors, &error), HOLO_BAD_ARGUMENT,
                "no such way");
}

static void test_picture_that_does_not_fit(void **state)
{
    (void)state;
    HoloTensors    *tensors;
    HoloPictureForm form = {.high = 1, .std = {1, 1, 1}};
    HoloTensor      four = {.dtype = HOLO_F32, .rank = 4, .dim = {1, 4, 2, 2}};
    HoloTensor      many = {.dtype = HOLO_F32, .rank = 4, .dim = {2, 3, 2, 2}};
    HoloTensor line = {.dtype = HOLO_F32, .rank = 1, .dim = {-1}}, good = {.dtype = HOLO_F32, .rank = 2, .dim = {2, 2}};
    const char *cut = temp_path("cut.ppm");
    file_write(cut, "P6\n2 2\n255\n\xff", 12);
    EXPECT_FAIL(holo_tensors_read_picture(picture(), &four, &form, NULL, &tensors, &error), HOLO_BAD_INPUT, "channels");
    EXPECT_FAIL(holo_tensors_read_picture(picture(), &many, &form, NULL, &tensors, &error), HOLO_BAD_INPUT,
                "2 pictures");
    EXPECT_FAIL(holo_tensors_read_picture(picture(), &line, &form, NULL, &tensors, &error), HOLO_BAD_INPUT,
                "cannot hold a picture");
    EXPECT_FAIL(holo_tensors_read_picture(cut, &good, &form, NULL, &tensors, &error), HOLO_BAD_INPUT, "damaged");
    EXPECT_FAIL(holo_tensors_read_picture(temp_path("none"), &good, &form, NULL, &tensors, &error), HOLO_NO_FILE,
                "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_that_does_not_fit),
        cmocka_unit_test(test_picture),
        cmocka_unit_test(test_picture_cut),
        cmocka_unit_test(test_picture_that_does_not_fit),
    };
    return cmocka_run_group_tests_name("tensor_files", tests, NULL, NULL);
}
