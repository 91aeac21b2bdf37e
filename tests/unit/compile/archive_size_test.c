// archive_size_test.c - how large an archive is: what --size trades for speed.
#include "unit/compile/compile_case.h"

// ---- how large an archive is

// Three convolutions whose filters are four times as large stored transformed: over images of 64, 32 and 16 pixels a
// side.
static void sized_save(const char *path)
{
    OnnxModel m = {0};
    onnx_input(&m.graph, "x", HOLO_F32, "1,64,64,64");
    onnx_output(&m.graph, "y", HOLO_F32, "1,64,16,16");
    for (int i = 0; i < 3; i++) {
        char weights[16], from[16], to[16], pooled[16];
        snprintf(weights, sizeof weights, "w%d", i);
        snprintf(from, sizeof from, i ? "p%d" : "x", i);
        snprintf(to, sizeof to, i == 2 ? "y" : "c%d", i);
        snprintf(pooled, sizeof pooled, "p%d", i + 1);
        char inputs[40];
        snprintf(inputs, sizeof inputs, "%s,%s", from, weights);
        onnx_weights(&m.graph, weights, "64,64,3,3", (uint64_t)i + 1, 0.1f);
        onnx_node(&m.graph, "Conv", inputs, to, "pads=[1,1,1,1]");
        if (i < 2) onnx_node(&m.graph, "MaxPool", to, pooled, "kernel_shape=[2,2] strides=[2,2]");
    }
    onnx_save(&m, path);
}

static void test_size(void **state)
{
    (void)state;
    const char   *path = temp_path("sized.onnx"), *out = temp_path("sized.holo");
    HoloCompiler *compiler = compiler_make();
    HoloReport   *small, *balanced, *fast;
    sized_save(path);
    EXPECT_OK(holo_compile_file(compiler, path, out, &balanced, &error)); // as it is unless set
    holo_compiler_set_size(compiler, HOLO_SIZE_SMALL);
    EXPECT_OK(holo_compile_file(compiler, path, out, &small, &error));
    holo_compiler_set_size(compiler, HOLO_SIZE_FAST);
    EXPECT_OK(holo_compile_file(compiler, path, out, &fast, &error));
    // Each of the layers is a third of the model, and three times that more where it is transformed.
    assert_true(fast->archive_bytes > 3 * fast->model_bytes);
    assert_int_equal(fast->transformed, 3);
    assert_int_equal(fast->not_transformed, 0);
    assert_true(2 * balanced->archive_bytes <= 3 * balanced->model_bytes);
    assert_int_equal(balanced->transformed + balanced->not_transformed, 3);
    assert_true(balanced->not_transformed > 0 && balanced->not_transformed_bytes > 0 && balanced->size_work > 0);
    assert_true(small->archive_bytes < small->model_bytes + (32 << 10));
    assert_int_equal(small->transformed, 0);
    assert_true(small->size_work >= balanced->size_work);
    assert_true(small->verified && balanced->verified && fast->verified);
    holo_report_destroy(small);
    holo_report_destroy(balanced);
    holo_report_destroy(fast);
    holo_compiler_destroy(compiler);
}

// Where there is room for one of two, one is stored, and the notes say what became of each.
static void test_size_of_some(void **state)
{
    (void)state;
    const char *path = temp_path("ranked.onnx"), *out = temp_path("ranked.holo");
    OnnxModel   m = {0};
    HoloReport *r;
    HoloModel  *model;
    HoloNote    note;
    onnx_input(&m.graph, "x", HOLO_F32, "1,32,64,64");
    onnx_output(&m.graph, "y", HOLO_F32, "1,32,16,16");
    onnx_output(&m.graph, "z", HOLO_F32, "1,2048");
    onnx_weights(&m.graph, "small", "32,32,3,3", 1, 0.1f);
    onnx_weights(&m.graph, "large", "32,32,3,3", 2, 0.1f);
    onnx_weights(&m.graph, "dense", "32,2048", 3, 0.1f);
    onnx_node(&m.graph, "AveragePool", "x", "p", "kernel_shape=[4,4] strides=[4,4]");
    onnx_node(&m.graph, "Conv", "p,small", "y", "pads=[1,1,1,1]");
    onnx_node(&m.graph, "Conv", "x,large", "c", "pads=[1,1,1,1]");
    onnx_node(&m.graph, "GlobalAveragePool", "c", "g", "");
    onnx_node(&m.graph, "Flatten", "g", "f", "");
    onnx_node(&m.graph, "MatMul", "f,dense", "z", "");
    onnx_save(&m, path);
    EXPECT_OK(holo_compile_file(NULL, path, out, &r, &error));
    assert_int_equal(r->transformed, 1);
    assert_int_equal(r->not_transformed, 1);
    assert_true(2 * r->archive_bytes <= 3 * r->model_bytes);
    EXPECT_OK(holo_model_open(out, &model, &error));
    int stored = 0, given_up = 0;
    for (int i = 0; holo_model_note(model, i, &note); i++) {
        if (strcmp(note.pass, "size")) continue;
        stored += note.verdict == HOLO_VERDICT_MADE;
        given_up += note.verdict == HOLO_VERDICT_OVER_BUDGET;
    }
    assert_int_equal(stored, 1);
    assert_int_equal(given_up, 1);
    holo_model_close(model);
    holo_report_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_size_of_some),
    };
    return cmocka_run_group_tests_name("archive_size", tests, NULL, NULL);
}
