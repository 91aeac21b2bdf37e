// verify_test.c - the proof: inputs that are made up so that a model takes them, or given; what cannot be verified, and
// why.
#include "support/models.h"
#include "support/onnx_writer.h"
#include "support/watched.h"

#include "base/base.h"
#include "ops/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static HoloCompiler *compiler_make(void)
{
    HoloCompiler *compiler;
    assert_int_equal(holo_compiler_create(&compiler), HOLO_OK);
    holo_compiler_set_threads(compiler, 1);
    return compiler;
}

// Compiles; the report must say that it is verified, and on inputs in whose text `words` occurs.
static void expect_verified(OnnxModel *m, const char *words)
{
    const char   *path     = temp_path("model.onnx");
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report   = NULL;
    onnx_save(m, path);
    holo_compiler_set_strict(compiler, true);
    EXPECT_OK(holo_compile_file(compiler, path, temp_path("model.holo"), &report, &error));
    assert_true(report->verified && report->checked > 0);
    if (!strstr(report->verify_inputs, words)) fail_msg("'%s' is not '%s'", report->verify_inputs, words);
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
}

// ---- what the graph says

// Tables of one row, of few and of many: all 1 is wrong for the first, and shows little of the last.
static void test_indices(void **state)
{
    (void)state;
    OnnxModel m = {0};
    onnx_input(&m.graph, "ids", HOLO_I64, "b,s");
    onnx_input(&m.graph, "kinds", HOLO_I64, "b,s");
    onnx_output(&m.graph, "y", HOLO_F32, "b,s,4");
    onnx_weights(&m.graph, "table", "100,4", 1, 1);
    onnx_weights(&m.graph, "one", "1,4", 2, 1);
    onnx_node(&m.graph, "Gather", "table,ids", "a", "");
    onnx_node(&m.graph, "Cast", "kinds", "narrow", "to=6");
    onnx_node(&m.graph, "Gather", "one,narrow", "b", "");
    onnx_node(&m.graph, "Add", "a,b", "y", "");
    expect_verified(&m, "made-up inputs");
}

// An index that is computed of real numbers: the constants that it is scaled by say how large they may be.
static void test_indices_of_numbers(void **state)
{
    (void)state;
    OnnxModel   m       = {0};
    const float sixteen = 16;
    onnx_input(&m.graph, "at", HOLO_F32, "5");
    onnx_output(&m.graph, "y", HOLO_F32, "5,4");
    onnx_weights(&m.graph, "table", "16,4", 1, 1);
    onnx_constant(&m.graph, "scale", HOLO_F32, "", &sixteen, sizeof sixteen);
    onnx_node(&m.graph, "Mul", "at,scale", "wide", "");
    onnx_node(&m.graph, "Floor", "wide", "whole", "");
    onnx_node(&m.graph, "Cast", "whole", "index", "to=7");
    onnx_node(&m.graph, "Gather", "table,index", "y", "");
    expect_verified(&m, "made-up inputs");
}

// A number that the model asks for by its value: with any other the index is outside of the table.
static void test_known_number(void **state)
{
    (void)state;
    OnnxModel     m    = {0};
    const int64_t rate = 16000, five = 5, three = 3;
    onnx_input(&m.graph, "sr", HOLO_I64, "");
    onnx_input(&m.graph, "x", HOLO_F32, "4");
    onnx_output(&m.graph, "y", HOLO_F32, "4");
    onnx_weights(&m.graph, "table", "4,4", 1, 1);
    onnx_ints(&m.graph, "rate", "", &rate);
    onnx_ints(&m.graph, "five", "", &five);
    onnx_ints(&m.graph, "three", "", &three);
    onnx_node(&m.graph, "Equal", "sr,rate", "is_so", "");
    onnx_node(&m.graph, "Cast", "is_so", "one", "to=7");
    onnx_node(&m.graph, "Mul", "one,three", "less", "");
    onnx_node(&m.graph, "Sub", "five,less", "index", "");
    onnx_node(&m.graph, "Gather", "table,index", "row", "");
    onnx_node(&m.graph, "Add", "row,x", "y", "");
    expect_verified(&m, "made-up inputs");
}

// Positions up to a sum of sizes pick from an input whose size is named so: any other number is too small.
static void test_sizes_named_as_sums(void **state)
{
    (void)state;
    OnnxModel     m    = {0};
    const int64_t zero = 0, one = 1;
    onnx_input(&m.graph, "old", HOLO_F32, "past");
    onnx_input(&m.graph, "new", HOLO_F32, "fresh");
    onnx_input(&m.graph, "mask", HOLO_I64, "past + fresh");
    onnx_output(&m.graph, "y", HOLO_I64, "n");
    onnx_ints(&m.graph, "zero", "", &zero);
    onnx_ints(&m.graph, "one", "", &one);
    onnx_node(&m.graph, "Concat", "old,new", "all", "axis=0");
    onnx_node(&m.graph, "Size", "all", "count", "");
    onnx_node(&m.graph, "Range", "zero,count,one", "places", "");
    onnx_node(&m.graph, "Gather", "mask,places", "y", "");
    expect_verified(&m, "made-up inputs");
}

// What nobody can see through is found by trying: only the inputs that reach the node are changed.
static void test_indices_by_trying(void **state)
{
    (void)state;
    OnnxModel   m     = {0};
    const float three = 3;
    onnx_input(&m.graph, "at", HOLO_F32, "5");
    onnx_input(&m.graph, "x", HOLO_F32, "5,4");
    onnx_output(&m.graph, "y", HOLO_F32, "5,4");
    onnx_weights(&m.graph, "table", "4,4", 1, 1);
    onnx_constant(&m.graph, "scale", HOLO_F32, "", &three, sizeof three);
    onnx_node(&m.graph, "Mul", "at,at", "square", "");
    onnx_node(&m.graph, "Exp", "square", "e", "");
    onnx_node(&m.graph, "Mul", "e,scale", "wide", "");
    onnx_node(&m.graph, "Cast", "wide", "index", "to=7");
    onnx_node(&m.graph, "Gather", "table,index", "rows", "");
    onnx_node(&m.graph, "Add", "rows,x", "y", "");
    expect_verified(&m, "(at: ");
}

// A hundredth part of what a sigmoid gives: only far below zero that is a row of ten.
static void test_indices_far_off(void **state)
{
    (void)state;
    OnnxModel   m       = {0};
    const float hundred = 100;
    onnx_input(&m.graph, "x", HOLO_F32, "5");
    onnx_output(&m.graph, "y", HOLO_F32, "5,4");
    onnx_weights(&m.graph, "table", "10,4", 1, 1);
    onnx_constant(&m.graph, "scale", HOLO_F32, "", &hundred, sizeof hundred);
    onnx_node(&m.graph, "Sigmoid", "x", "part", "");
    onnx_node(&m.graph, "Mul", "part,scale", "wide", "");
    onnx_node(&m.graph, "Cast", "wide", "index", "to=7");
    onnx_node(&m.graph, "Gather", "table,index", "y", "");
    expect_verified(&m, "(x: about -8)");
}

// Lengths of sequences, shapes to bring something into, and sizes that a loop counts to.
static void test_lengths_and_shapes(void **state)
{
    (void)state;
    OnnxModel m = {0};
    onnx_input(&m.graph, "x", HOLO_F32, "7,3,4");
    onnx_input(&m.graph, "lengths", HOLO_I32, "3");
    onnx_input(&m.graph, "shape", HOLO_I64, "2");
    onnx_output(&m.graph, "y", HOLO_F32, "a,b");
    onnx_weights(&m.graph, "w", "1,20,4", 1, 0.5F);
    onnx_weights(&m.graph, "r", "1,20,5", 2, 0.5F);
    onnx_node(&m.graph, "LSTM", "x,w,r,,lengths", "all", "hidden_size=5");
    onnx_node(&m.graph, "Reshape", "all,shape", "y", "");
    expect_verified(&m, "made-up inputs");
}

// ---- what cannot be verified

static const char *model_never(void)
{
    OnnxModel     m    = {0};
    const int64_t ten  = 10;
    const char   *path = temp_path("never.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "1,4");
    onnx_output(&m.graph, "y", HOLO_F32, "1,1,8");
    onnx_weights(&m.graph, "table", "4,8", 1, 1);
    onnx_ints(&m.graph, "ten", "", &ten);
    onnx_node(&m.graph, "ArgMax", "x", "best", "axis=1");
    onnx_node(&m.graph, "Add", "best,ten", "index", "");
    onnx_node(&m.graph, "Gather", "table,index", "y", "");
    onnx_save(&m, path);
    return path;
}

static void test_strict(void **state)
{
    (void)state;
    const char   *path = model_never(), *out = temp_path("never.holo");
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report   = NULL;
    EXPECT_OK(holo_compile_file(compiler, path, out, &report, &error));
    assert_false(report->verified);
    assert_non_null(strstr(report->verify_why_not, "(Gather): index"));
    holo_report_destroy(report);
    HoloModel *model;
    EXPECT_OK(holo_model_open(out, &model, &error));
    assert_string_equal(holo_model_meta_find(model, "verify.status"), "not possible");
    assert_non_null(strstr(holo_model_meta_find(model, "verify.why_not"), "(Gather): index"));
    holo_model_close(model);
    assert_int_equal(remove(out), 0);
    int files = folder_count(temp_folder());
    holo_compiler_set_strict(compiler, true);
    EXPECT_FAIL(holo_compile_file(compiler, path, out, NULL, &error), HOLO_REFUSED, "(Gather): index");
    assert_int_equal(folder_count(temp_folder()), files);
    holo_compiler_destroy(compiler);
}

// Noise is the same in the plan and in the model, so what is made of it is compared.
static void test_noise(void **state)
{
    (void)state;
    OnnxModel m = {0};
    onnx_input(&m.graph, "x", HOLO_F32, "n,4");
    onnx_output(&m.graph, "y", HOLO_F32, "n,4");
    onnx_output(&m.graph, "z", HOLO_F32, "n,4");
    onnx_node(&m.graph, "RandomNormalLike", "x", "noise", "");
    onnx_node(&m.graph, "RandomUniformLike", "x", "more", "");
    onnx_node(&m.graph, "Add", "x,noise", "y", "");
    onnx_node(&m.graph, "Mul", "y,more", "z", "");
    expect_verified(&m, "made-up inputs");
}

// Outputs that are drawn by computed probabilities are told; where all are, nothing was verified.
static void test_random(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make();
    for (int others = 0; others < 2; others++) {
        OnnxModel   m      = {0};
        const char *path   = temp_path("random.onnx");
        HoloReport *report = NULL;
        onnx_input(&m.graph, "x", HOLO_F32, "4");
        onnx_output(&m.graph, "noise", HOLO_F32, "4");
        onnx_node(&m.graph, "Sigmoid", "x", "p", "");
        onnx_node(&m.graph, "Bernoulli", "p", "noise", "");
        if (others) onnx_output(&m.graph, "y", HOLO_F32, "4");
        if (others) onnx_node(&m.graph, "Exp", "x", "y", "");
        onnx_save(&m, path);
        EXPECT_OK(holo_compile_file(compiler, path, temp_path("random.holo"), &report, &error));
        assert_int_equal(report->verified, others);
        assert_string_equal(report->verify_left_out, "noise");
        holo_report_destroy(report);
    }
    holo_compiler_destroy(compiler);
}

// What would take too much memory is left out before it begins, and the reason is told.
static void test_limit(void **state)
{
    (void)state;
    OnnxModel     m        = {0};
    const char   *path     = temp_path("large.onnx");
    const int64_t shape[2] = {16384, 16384};
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report   = NULL;
    onnx_input(&m.graph, "x", HOLO_F32, "1,1");
    onnx_output(&m.graph, "y", HOLO_F32, "16384,16384");
    onnx_ints(&m.graph, "shape", "2", shape);
    onnx_node(&m.graph, "Expand", "x,shape", "y", "");
    onnx_save(&m, path);
    holo_compiler_set_memory_limit(compiler, 64 << 20);
    EXPECT_OK(holo_compile_file(compiler, path, temp_path("large.holo"), &report, &error));
    assert_true(!report->verified && report->verify_over_limit);
    assert_non_null(strstr(report->verify_why_not, "1.0 GiB"));
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
}

// Large outputs are not held twice: the plan's, and some pieces of the reference's.
static void test_large_outputs(void **state)
{
    (void)state;
    static const char *const ops[]    = {"Neg", "Abs", "Relu"};
    OnnxModel                m        = {0};
    const char              *path     = temp_path("outputs.onnx");
    HoloCompiler            *compiler = compiler_make();
    HoloReport              *report   = NULL;
    onnx_input(&m.graph, "x", HOLO_F32, "12,1024,1024");
    for (int i = 0; i < HOLO_COUNT(ops); i++) {
        onnx_output(&m.graph, ops[i], HOLO_F32, "12,1024,1024");
        onnx_node(&m.graph, ops[i], "x", ops[i], "");
    }
    onnx_save(&m, path);
    holo_compiler_set_memory_limit(compiler, 300 << 20); // x, three outputs of 48 MiB, and 16 MiB of each
    holo_compiler_set_strict(compiler, true);
    EXPECT_OK(holo_compile_file(compiler, path, temp_path("outputs.holo"), &report, &error));
    assert_int_equal(report->verify_outputs, 3);
    assert_int_equal(report->checked, 3 << 22);
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
}

// Numbers that have scales, one for all or one for each index of an axis, are judged in pieces, too.
static void test_large_scaled(void **state)
{
    (void)state;
    static const char *const scales[] = {"one", "first", "second"}, *const axis[] = {"", "axis=0", "axis=-2"};
    OnnxModel     m        = {0};
    const char   *path     = temp_path("scaled.onnx");
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report   = NULL;
    onnx_input(&m.graph, "x", HOLO_U8, "12,1024,1024");
    onnx_weights(&m.graph, "one", "1", 1, 1);
    onnx_weights(&m.graph, "first", "12", 2, 1);
    onnx_weights(&m.graph, "second", "1024", 3, 1);
    for (int i = 0; i < HOLO_COUNT(scales); i++) {
        char inputs[32], real[32], output[32];
        snprintf(inputs, sizeof inputs, "x,%s", scales[i]);
        snprintf(real, sizeof real, "real%d", i);
        snprintf(output, sizeof output, "y%d", i);
        onnx_output(&m.graph, output, HOLO_F32, "1,1,1");
        onnx_node(&m.graph, "DequantizeLinear", inputs, real, axis[i]);
        onnx_node(&m.graph, "ReduceMax", real, output, "");
    }
    onnx_save(&m, path);
    // x takes 12 MiB, and what is computed of it three times 48 MiB.
    holo_compiler_set_memory_limit(compiler, (is_watched() ? 192 : 80) << 20);
    holo_compiler_set_strict(compiler, true);
    EXPECT_OK(holo_compile_file(compiler, path, temp_path("scaled.holo"), &report, &error));
    assert_int_equal(report->verify_outputs, 3);
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
}

// Of a large convolution of integers some elements are computed exactly. Half of them leave the type and are cut off.
static void test_large_integers(void **state)
{
    (void)state;
    static const uint8_t zero        = 128;
    OnnxModel            m           = {0};
    static uint8_t       w[64 * 576] = {0};
    static const float   scale[2]    = {0.02F, 1};
    for (int i = 0; i < HOLO_COUNT(w); i++) w[i] = (uint8_t)(i * 37 % 256);
    onnx_input(&m.graph, "x", HOLO_U8, "1,64,24,24");
    onnx_output(&m.graph, "y", HOLO_U8, "1,64,24,24");
    onnx_output(&m.graph, "sums", HOLO_I32, "1,64,24,24");
    onnx_constant(&m.graph, "w", HOLO_U8, "64,64,3,3", w, sizeof w);
    onnx_constant(&m.graph, "zero", HOLO_U8, "1", &zero, 1);
    onnx_constant(&m.graph, "by", HOLO_F32, "1", &scale[0], sizeof(float));
    onnx_constant(&m.graph, "to", HOLO_F32, "1", &scale[1], sizeof(float));
    onnx_node(&m.graph, "QLinearConv", "x,by,zero,w,by,zero,to,zero", "y", "pads=[1,1,1,1]");
    onnx_node(&m.graph, "ConvInteger", "x,w,zero,zero", "sums", "pads=[1,1,1,1]");
    expect_verified(&m, "made-up inputs");
}

// A view of a value that nobody else reads is that value.
static void test_views(void **state)
{
    (void)state;
    OnnxModel     m        = {0};
    const char   *path     = temp_path("views.onnx");
    const int64_t shape[3] = {1024, 12, 1024}, axis = 0;
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report   = NULL;
    onnx_input(&m.graph, "x", HOLO_F32, "12,1024,1024");
    onnx_output(&m.graph, "y", HOLO_F32, "1,12,1024");
    onnx_ints(&m.graph, "shape", "3", shape);
    onnx_ints(&m.graph, "axis", "1", &axis);
    onnx_node(&m.graph, "Neg", "x", "neg", "");
    onnx_node(&m.graph, "Reshape", "neg,shape", "other", "");
    onnx_node(&m.graph, "ReduceMax", "other,axis", "y", "");
    onnx_save(&m, path);
    holo_compiler_set_memory_limit(compiler, 130 << 20); // x and its negative take 48 MiB each
    holo_compiler_set_strict(compiler, true);
    EXPECT_OK(holo_compile_file(compiler, path, temp_path("views.holo"), &report, &error));
    assert_true(report->verified);
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
}

// ---- inputs that are given

static void npy_write(const char *path, int dtype, int rank, const int64_t *dim, const void *data)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = (int8_t)rank, .data = (void *)(uintptr_t)data};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    EXPECT_OK(holo_tensor_write_npy(path, &t, &error));
}

// A model that takes 40 alone: nothing that is made up, but the sample. And of the wrong shape it is an error.
static void test_given(void **state)
{
    (void)state;
    OnnxModel     m    = {0};
    const char   *path = temp_path("given.onnx"), *good = temp_path("good.npy"), *bad = temp_path("bad.npy");
    const int64_t less = 39, one = 1, two = 2, forty[2] = {40, 40};
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report   = NULL;
    onnx_input(&m.graph, "at", HOLO_I64, "1");
    onnx_input(&m.graph, "x", HOLO_F32, "1,8");
    onnx_output(&m.graph, "y", HOLO_F32, "1,8");
    onnx_weights(&m.graph, "table", "1,8", 1, 1);
    onnx_ints(&m.graph, "less", "", &less);
    onnx_node(&m.graph, "Mul", "at,at", "square", "");
    onnx_node(&m.graph, "Div", "square,less", "part", "");
    onnx_node(&m.graph, "Sub", "part,less", "rest", "");
    onnx_node(&m.graph, "Sub", "rest,two", "index", "");
    onnx_ints(&m.graph, "two", "", &two);
    onnx_node(&m.graph, "Gather", "table,index", "row", "");
    onnx_node(&m.graph, "Add", "row,x", "y", "");
    onnx_save(&m, path);
    holo_compiler_set_strict(compiler, true);
    EXPECT_FAIL(holo_compile_file(compiler, path, temp_path("given.holo"), NULL, &error), HOLO_REFUSED, "Gather");
    npy_write(good, HOLO_I64, 1, &one, forty);
    npy_write(bad, HOLO_I64, 1, &two, forty);
    const float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const char *x          = temp_path("x.npy");
    npy_write(x, HOLO_F32, 2, (const int64_t[]){1, 8}, numbers);
    char at[4200], also[4200];
    snprintf(at, sizeof at, "at=%s", good);
    snprintf(also, sizeof also, "x=%s", x);
    EXPECT_OK(holo_compiler_add_verify_inputs(compiler, at, &error));
    EXPECT_FAIL(holo_compile_file(compiler, path, temp_path("given.holo"), NULL, &error), HOLO_BAD_INPUT,
                "input x is missing");
    EXPECT_OK(holo_compiler_add_verify_inputs(compiler, also, &error));
    EXPECT_OK(holo_compile_file(compiler, path, temp_path("given.holo"), &report, &error));
    assert_true(report->verified);
    assert_string_equal(report->verify_inputs, "1 sample given");
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
    compiler = compiler_make();
    snprintf(at, sizeof at, "at=%s", bad);
    EXPECT_OK(holo_compiler_add_verify_inputs(compiler, at, &error));
    EXPECT_OK(holo_compiler_add_verify_inputs(compiler, also, &error));
    EXPECT_FAIL(holo_compile_file(compiler, path, temp_path("given.holo"), NULL, &error), HOLO_BAD_INPUT,
                "input at should be i64[1], but is i64[2]");
    holo_compiler_destroy(compiler);
}

// An infinity makes NaN of more than the formula would, in a kernel that computes tiles of an image.
static void test_infinity(void **state)
{
    (void)state;
    OnnxModel     m    = {0};
    const char   *path = temp_path("infinity.onnx"), *sample = temp_path("infinity.npy");
    static float  x[8 * 256] = {0};
    char          given[4200];
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report   = NULL;
    onnx_input(&m.graph, "x", HOLO_F32, "1,8,16,16");
    onnx_output(&m.graph, "y", HOLO_F32, "1,8,16,16");
    onnx_weights(&m.graph, "w", "8,8,3,3", 1, 1);
    onnx_node(&m.graph, "Conv", "x,w", "y", "pads=[1,1,1,1]");
    onnx_save(&m, path);
    for (int i = 0; i < HOLO_COUNT(x); i++) x[i] = (float)(i % 17) - 8;
    x[5 * 16 + 5] = HUGE_VALF;
    npy_write(sample, HOLO_F32, 4, (const int64_t[]){1, 8, 16, 16}, x);
    snprintf(given, sizeof given, "x=%s", sample);
    EXPECT_OK(holo_compiler_add_verify_inputs(compiler, given, &error));
    holo_compiler_set_strict(compiler, true);
    EXPECT_OK(holo_compile_file(compiler, path, temp_path("infinity.holo"), &report, &error));
    assert_true(report->verified);
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
}

// ---- kernels that users write

static void test_kernel_leaves_its_memory(void **state)
{
    (void)state;
    OnnxModel     m    = {0};
    const char   *path = temp_path("own.onnx"), *source = temp_path("own.py");
    const char   *text     = "@kernel(operator=\"own::Op\")\n"
                             "def op(x: DeviceArray[f32], y: DeviceArray[f32], n: u32):\n"
                             "    i = get_global_id()\n    if i < n:\n        y[i + 1] = x[i]\n";
    HoloCompiler *compiler = compiler_make();
    onnx_input(&m.graph, "x", HOLO_F32, "8");
    onnx_output(&m.graph, "y", HOLO_F32, "8");
    onnx_node(&m.graph, "own::Op", "x", "y", "");
    onnx_opset(&m, "", 17);
    onnx_opset(&m, "own", 1);
    onnx_save(&m, path);
    file_write(source, text, strlen(text));
    EXPECT_OK(holo_compiler_add_kernel(compiler, source, &error));
    EXPECT_FAIL(holo_compile_file(compiler, path, temp_path("own.holo"), NULL, &error), HOLO_BAD_MODEL,
                "accesses memory outside its arrays");
    holo_compiler_destroy(compiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices),
        cmocka_unit_test(test_indices_of_numbers),
        cmocka_unit_test(test_known_number),
        cmocka_unit_test(test_sizes_named_as_sums),
        cmocka_unit_test(test_indices_by_trying),
        cmocka_unit_test(test_indices_far_off),
        cmocka_unit_test(test_lengths_and_shapes),
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_large_outputs),
        cmocka_unit_test(test_large_scaled),
        cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_infinity),
        cmocka_unit_test(test_kernel_leaves_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
