// given_test.c - what a program has in memory is compiled as if it were in files: models, and samples to calibrate
// with.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "runtime/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_archive(const HoloModel *model, const char *path)
{
    size_t   size;
    uint8_t *bytes = file_read(path, &size);
    expect_same_bytes(bytes, size, model->mapping.data, model->mapping.size);
    free(bytes);
}

// ---- models

static void test_model(void **state)
{
    (void)state;
    const char *const models[] = {model_conv(), model_mlp(), model_dynamic(), model_loop(5), "demo/digits.onnx"};
    for (int i = 0; i < (int)(sizeof models / sizeof *models); i++) {
        size_t      size;
        uint8_t    *bytes = file_read(models[i], &size), *copy = malloc(size + 1);
        const char *out = temp_path("from-file.holo");
        HoloModel  *model;
        HoloReport *report;
        memcpy(copy + 1, bytes, size); // aligned to nothing
        EXPECT_OK(holo_compile_file(NULL, models[i], out, NULL, &error));
        EXPECT_OK(holo_compile_memory(NULL, copy + 1, size, &model, &report, &error));
        memset(copy, 0xFF, size + 1); // the model has all that it needs
        free(copy);
        assert_true(report->verified);
        expect_archive(model, out);
        holo_report_destroy(report);
        holo_model_close(model);
        free(bytes);
    }
}

static void test_no_model(void **state)
{
    (void)state;
    HoloModel *model;
    OnnxModel  m = {0};
    EXPECT_FAIL(holo_compile_memory(NULL, NULL, 0, &model, NULL, &error), HOLO_BAD_MODEL, "this is not a model");
    EXPECT_FAIL(holo_compile_memory(NULL, "PK\3\4....", 8, &model, NULL, &error), HOLO_BAD_MODEL,
                "this is not a model");
    assert_null(model);
    onnx_input(&m.graph, "x", HOLO_F32, "2");
    onnx_external(&m.graph, "w", HOLO_F32, "2", "weights.bin", NULL, NULL);
    onnx_node(&m.graph, "Add", "x,w", "y", "");
    onnx_output(&m.graph, "y", HOLO_F32, "2");
    Pb bytes = onnx_finish(&m);
    EXPECT_FAIL(holo_compile_memory(NULL, bytes.data, bytes.size, &model, NULL, &error), HOLO_BAD_MODEL,
                "in the file 'weights.bin', but the model has no folder");
    pb_deinit(&bytes);
}

// ---- samples

enum { SAMPLES = 6, ROWS = 4, COLUMNS = 40 };

static float numbers[SAMPLES * ROWS * COLUMNS];

static void numbers_make(void)
{
    for (int i = 0; i < SAMPLES * ROWS * COLUMNS; i++) numbers[i] = sinf((float)i * 0.37f) * 2;
}

static HoloTensor rows_of(int first, int count)
{
    return (HoloTensor){.dtype = HOLO_F32,
                        .rank  = 2,
                        .dim   = {(int64_t)count * ROWS, COLUMNS},
                        .data  = numbers + first * ROWS * COLUMNS};
}

static HoloCompiler *compiler_make(void)
{
    HoloCompiler *compiler;
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_quantize(compiler, HOLO_QUANTIZE_INT8);
    holo_compiler_set_activations(compiler, HOLO_ACTIVATIONS_STATIC, HOLO_RANGES_MINMAX);
    return compiler;
}

// Samples one by one, several in a tensor, and behind those of a file, are the same as all of them in a file.
static void test_samples(void **state)
{
    (void)state;
    HoloTensor    all = rows_of(0, SAMPLES), half = rows_of(0, SAMPLES / 2);
    const char   *path = model_mlp(), *file = temp_path("all.npy"), *first = temp_path("half.npy");
    const char   *want     = temp_path("want.holo");
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report;
    numbers_make();
    EXPECT_OK(holo_tensor_write_npy(file, &all, &error));
    EXPECT_OK(holo_tensor_write_npy(first, &half, &error));
    EXPECT_OK(holo_compiler_set_calibration(compiler, file, &error));
    EXPECT_OK(holo_compile_file(compiler, path, want, NULL, &error));
    holo_compiler_destroy(compiler);
    for (int way = 0; way < 3; way++) {
        HoloModel *model;
        compiler = compiler_make();
        if (way == 2) EXPECT_OK(holo_compiler_set_calibration(compiler, first, &error));
        for (int i = way == 2 ? SAMPLES / 2 : 0; i < SAMPLES; i += way == 1 ? 2 : 1) {
            HoloRunInput in = {
                .name = i % 2 ? "x" : NULL, .index = i % 2 ? 7 : 0, .tensor = rows_of(i, way == 1 ? 2 : 1)};
            EXPECT_OK(holo_compiler_add_sample(compiler, &in, 1, &error));
        }
        memset(numbers, 0, sizeof numbers); // they were copied
        EXPECT_OK(holo_compile_model(compiler, path, &model, &report, &error));
        numbers_make();
        assert_int_equal(report->quantization.samples, SAMPLES);
        assert_false(report->quantization.is_seeded);
        expect_archive(model, want);
        holo_report_destroy(report);
        holo_model_close(model);
        holo_compiler_destroy(compiler);
    }
}

static void expect_refused(const HoloRunInput *inputs, int count, const char *words)
{
    HoloCompiler *compiler = compiler_make();
    HoloModel    *model;
    EXPECT_OK(holo_compiler_add_sample(compiler, inputs, count, &error));
    EXPECT_FAIL(holo_compile_model(compiler, model_mlp(), &model, NULL, &error), HOLO_BAD_INPUT, words);
    holo_compiler_destroy(compiler);
}

static void test_no_samples(void **state)
{
    (void)state;
    HoloRunInput  good = {.name = "x", .tensor = rows_of(0, 1)}, twice[2] = {good, {.tensor = rows_of(0, 1)}};
    HoloRunInput  other = {.name = "no-such", .tensor = rows_of(0, 1)}, wide = good, empty = good, beyond = good;
    HoloCompiler *compiler = compiler_make();
    numbers_make();
    wide.tensor.dim[1] = 8;
    empty.tensor.data  = NULL;
    beyond.name = NULL, beyond.index = 5;
    expect_refused(&other, 1, "sample 1: the model has no input no-such");
    expect_refused(&beyond, 1, "sample 1: there is no input 5");
    expect_refused(twice, 2, "sample 1: input x is given twice");
    expect_refused(NULL, 0, "sample 1: input x is not given");
    expect_refused(&wide, 1, "sample 1: the tensor of input x is f32[4,8]");
    numbers[3] = NAN;
    expect_refused(&good, 1, "sample 1: input x is NaN at [0,3]");
    EXPECT_FAIL(holo_compiler_add_sample(compiler, &empty, 1, &error), HOLO_BAD_ARGUMENT, "input x of a sample");
    holo_compiler_destroy(compiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_no_model),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_no_samples),
    };
    return cmocka_run_group_tests_name("given", tests, NULL, NULL);
}
