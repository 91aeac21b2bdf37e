// quantize_trained_test.c - a trained model, quantized in every way: how many of its answers stay.
#include "support/models.h"

#include "graph/graph.h"
#include "passes/passes.h"
#include "quantize/narrow.h"
#include "quantize/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- a trained model

enum { IMAGES = 2000, PIXELS = 64, CLASSES = 10 };

// Images that the demo has, each with noise of its own.
static float *digits_make(void)
{
    static const char *const files[] = {"01_is_7", "02_is_0", "03_is_2", "04_is_6", "05_is_8", "06_is_4", "07_is_5",
                                        "08_is_4", "09_is_5", "10_is_6", "11_is_3", "12_is_9", "13_is_3", "14_is_0",
                                        "15_is_1", "16_is_1", "17_is_9", "18_is_8", "19_is_7", "20_is_2"};
    float                   *all     = calloc(IMAGES * PIXELS, sizeof *all);
    HoloRandom               random  = {7};
    for (int i = 0; i < IMAGES; i++) {
        HoloTensors *image;
        char         path[64];
        snprintf(path, sizeof path, "demo/digits/%s.npy", files[i % HOLO_COUNT(files)]);
        EXPECT_OK(holo_tensors_read(path, NULL, &image, &error));
        const float *x = holo_tensors_get(image, 0, NULL)->data;
        for (int p = 0; p < PIXELS; p++) {
            double pixel        = (double)x[p] + holo_random_normal(&random);
            all[i * PIXELS + p] = (float)(pixel < 0 ? 0 : pixel > 16 ? 16 : pixel);
        }
        holo_tensors_destroy(image);
    }
    return all;
}

static void digits_run(HoloCompiler *compiler, float *images_of, int *out_tops, HoloReport **report)
{
    HoloModel   *model;
    HoloSession *session;
    HoloTensor in = {.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 4, .dim = {IMAGES, 1, 8, 8}, .data = images_of}, y;
    EXPECT_OK(holo_compile_model(compiler, "demo/digits.onnx", &model, report, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &in, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    for (int i = 0; i < IMAGES; i++) {
        const float *row = (const float *)y.data + i * CLASSES;
        out_tops[i]      = 0;
        for (int k = 1; k < CLASSES; k++)
            if (row[k] > row[out_tops[i]]) out_tops[i] = k;
    }
    holo_session_destroy(session);
    holo_model_close(model);
}

static const struct {
    HoloQuantizeKind kind;
    HoloActivations  activations;
    int              narrow; // layers
} digits_cases[] = {
    {HOLO_QUANTIZE_INT8, HOLO_ACTIVATIONS_STATIC, 4},  {HOLO_QUANTIZE_INT8, HOLO_ACTIVATIONS_DYNAMIC, 4},
    {HOLO_QUANTIZE_INT4, HOLO_ACTIVATIONS_DEFAULT, 2}, {HOLO_QUANTIZE_F16, HOLO_ACTIVATIONS_DEFAULT, 4},
    {HOLO_QUANTIZE_BF16, HOLO_ACTIVATIONS_DEFAULT, 4},
};

static void test_trained(void **state)
{
    (void)state;
    float        *all  = digits_make();
    int          *want = calloc(IMAGES, sizeof *want), *got = calloc(IMAGES, sizeof *got);
    HoloCompiler *compiler;
    HoloReport   *report;
    HoloTensor    samples = {.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 4, .dim = {200, 1, 8, 8}, .data = all};
    const char   *path    = temp_path("digits.npy");
    EXPECT_OK(holo_tensor_write_npy(path, &samples, &error));
    EXPECT_OK(holo_compiler_create(&compiler));
    digits_run(compiler, all, want, NULL);
    EXPECT_OK(holo_compiler_set_calibration(compiler, path, &error));
    for (int k = 0; k < HOLO_COUNT(digits_cases); k++) {
        int same = 0;
        holo_compiler_set_quantize(compiler, digits_cases[k].kind);
        holo_compiler_set_activations(compiler, digits_cases[k].activations, HOLO_RANGES_MSE);
        digits_run(compiler, all, got, &report);
        for (int i = 0; i < IMAGES; i++) same += want[i] == got[i];
        if (same < 0.99 * IMAGES) fail_msg("case %d: %d of %d agree", k, same, IMAGES);
        if (report->quantization.narrow_count != digits_cases[k].narrow)
            fail_msg("case %d: %d layers are narrow", k, report->quantization.narrow_count);
        assert_true(report->verified);
        holo_report_destroy(report);
    }
    holo_compiler_destroy(compiler);
    free(all);
    free(want);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
