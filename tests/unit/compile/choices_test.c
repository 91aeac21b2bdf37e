// choices_test.c - choices of a compile that nothing would use, that cannot be, or that would destroy the model.
#include "base/base.h"
#include "unit/compile/compile_case.h"

#include <math.h>

static HoloStatus judge_all(void *context, const HoloOutputs *outputs, double *out_score, HoloError *failed)
{
    (void)context, (void)outputs, (void)failed;
    *out_score = 1;
    return HOLO_OK;
}

static void choose_calibration(HoloCompiler *c)
{
    EXPECT_OK(holo_compiler_set_calibration(c, "samples.npz", &error));
}

static void choose_accuracy(HoloCompiler *c)
{
    EXPECT_OK(holo_compiler_set_accuracy(c, 0.5, &error));
}

static void choose_judge(HoloCompiler *c)
{
    holo_compiler_set_judge(c, judge_all, NULL, 0.1);
}

static void choose_faster(HoloCompiler *c)
{
    holo_compiler_set_only_if_faster(c, true);
}

static void choose_activations(HoloCompiler *c)
{
    holo_compiler_set_quantize(c, HOLO_QUANTIZE_F16);
    holo_compiler_set_activations(c, HOLO_ACTIVATIONS_STATIC, HOLO_RANGES_MSE);
}

static void choose_ranges(HoloCompiler *c)
{
    holo_compiler_set_activations(c, HOLO_ACTIVATIONS_DEFAULT, HOLO_RANGES_ENTROPY);
}

static void choose_percentile(HoloCompiler *c)
{
    EXPECT_OK(holo_compiler_set_percentile(c, 99, &error));
}

static void choose_centroids(HoloCompiler *c)
{
    EXPECT_OK(holo_compiler_set_centroids(c, 16, &error));
}

static void choose_strict(HoloCompiler *c)
{
    holo_compiler_set_strict(c, true);
    holo_compiler_set_verify(c, false);
}

static void choose_inputs(HoloCompiler *c)
{
    EXPECT_OK(holo_compiler_add_verify_inputs(c, "samples.npz", &error));
    holo_compiler_set_verify(c, false);
}

static void choose_tolerance(HoloCompiler *c)
{
    holo_compiler_set_tolerance(c, NAN, -1);
}

static void choose_threads(HoloCompiler *c)
{
    holo_compiler_set_threads(c, -1);
}

static const struct {
    void (*choose)(HoloCompiler *c);
    const char *words;
} wrong[] = {
    {choose_calibration, "samples to calibrate with are given, but nothing is quantized"},
    {choose_accuracy, "an accuracy is given, but nothing is quantized"},
    {choose_judge, "a judge of accuracy is given, but nothing is quantized"},
    {choose_faster, "only_if_faster is set, but nothing is quantized"},
    {choose_activations, "only int8 quantizes them"},
    {choose_ranges, "only int8 needs ranges"},
    {choose_percentile, "ranges are not found by percentile"},
    {choose_centroids, "nothing is quantized to centroids"},
    {choose_strict, "strict needs verification"},
    {choose_inputs, "verification is turned off"},
    {choose_tolerance, "a tolerance is NaN"},
    {choose_threads, "the number of threads must be from 1 to 256"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(wrong); i++) {
        HoloCompiler *compiler = compiler_make();
        HoloModel    *model;
        wrong[i].choose(compiler);
        EXPECT_FAIL(holo_compile_model(compiler, "demo/digits.onnx", &model, NULL, &error), HOLO_BAD_ARGUMENT,
                    wrong[i].words);
        assert_null(model);
        holo_compiler_destroy(compiler);
    }
}

// An archive never takes the place of its own model, by whatever name.
static void test_model_stays(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("own.onnx"), *link = temp_path("own_link.onnx");
    struct stat before, after;
    onnx_input(&m.graph, "x", HOLO_F32, "4");
    onnx_output(&m.graph, "y", HOLO_F32, "4");
    onnx_node(&m.graph, "Exp", "x", "y", "");
    onnx_save(&m, path);
    bool is_linked = symlink(path, link) == 0;
    assert_int_equal(stat(path, &before), 0);
    EXPECT_FAIL(holo_compile_file(NULL, path, path, NULL, &error), HOLO_BAD_ARGUMENT, "would replace the model");
    if (is_linked)
        EXPECT_FAIL(holo_compile_file(NULL, link, path, NULL, &error), HOLO_BAD_ARGUMENT, "would replace the model");
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_size == after.st_size && before.st_ino == after.st_ino);
    unlink(link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong), cmocka_unit_test(test_model_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
