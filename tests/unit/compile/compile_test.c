// compile_test.c - a compile as its caller sees it: the report, the choices, what is written and what is not.
#include "unit/compile/compile_case.h"

// ---- the report

static void test_report(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("report.onnx"), *out = temp_path("report.holo");
    HoloReport *r;
    struct stat model, archive;
    onnx_input(&m.graph, "x", HOLO_F32, "8,16");
    onnx_output(&m.graph, "y", HOLO_F32, "8,16");
    onnx_weights(&m.graph, "a", "16,16", 1, 1);
    onnx_weights(&m.graph, "b", "16", 2, 1);
    onnx_weights(&m.graph, "c", "16", 3, 1);
    onnx_node(&m.graph, "Add", "b,c", "bc", ""); // known before the first input
    onnx_node(&m.graph, "MatMul", "x,a", "p", "");
    onnx_node(&m.graph, "Identity", "p", "q", ""); // does nothing
    onnx_node(&m.graph, "Exp", "p", "unused", ""); // for nobody
    onnx_node(&m.graph, "Add", "q,bc", "y", "");
    onnx_save(&m, path);
    EXPECT_OK(holo_compile_file(NULL, path, out, &r, &error));
    assert_int_equal(stat(path, &model), 0);
    assert_int_equal(stat(out, &archive), 0);
    assert_int_equal(r->nodes_before, 5);
    assert_int_equal(r->nodes_after, 1); // the sum is the product's bias
    assert_true(r->folded >= 1);
    assert_int_equal(r->steps, 1);
    assert_true(r->kernel_steps >= 1);
    assert_int_equal(r->constants, 2);
    assert_int_equal(r->model_bytes, model.st_size);
    assert_int_equal(r->archive_bytes, archive.st_size);
    assert_true(r->arena_bytes > 0 && r->arena_bytes <= r->naive_bytes);
    assert_true(r->verified);
    assert_true(r->checked >= 8 * 16);
    assert_true(r->worst_relative < 1e-5);
    assert_int_equal(r->pass_count, holo_pass_count());
    for (int i = 0; i < r->pass_count; i++) assert_string_equal(r->passes[i].name, holo_pass_name(i, NULL));
    holo_report_destroy(r);
    holo_report_destroy(NULL);
}

// ---- choices

static void test_shapes(void **state)
{
    (void)state;
    HoloCompiler *good = compiler_make(), *bad = compiler_make();
    HoloModel    *model;
    HoloModelInfo info;
    EXPECT_OK(holo_compiler_set_shape(good, "x", 2, (int64_t[]){5, -1}, &error)); // N is the z's too
    EXPECT_OK(holo_compile_model(good, model_dynamic(), &model, NULL, &error));
    holo_model_info(model, &info);
    assert_true(info.is_static);
    assert_int_equal(holo_model_input(model, 1)->type.dim[0], 5);
    assert_int_equal(holo_model_output(model, 1)->type.dim[0], 10);
    holo_model_close(model);

    EXPECT_FAIL(holo_compiler_set_shape(bad, "x", 2, (int64_t[]){-2, 1}, &error), HOLO_BAD_ARGUMENT, "cannot be -2");
    EXPECT_FAIL(holo_compiler_set_shape(bad, "x", 17, (int64_t[17]){0}, &error), HOLO_BAD_ARGUMENT, "16");
    static const struct {
        const char *name;
        int         rank;
        int64_t     dim[3];
        const char *words;
    } wrong[] = {
        {"w", 2, {1, 6}, "the inputs are: x, z"},
        {"x", 3, {1, 6, 1}, "input x has 2 dimensions, but a shape of 3 is given"},
        {"x", 2, {1, 7}, "fixed at 6 in the model, but 7 is given"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        HoloCompiler *compiler = compiler_make();
        EXPECT_OK(holo_compiler_set_shape(compiler, wrong[i].name, wrong[i].rank, wrong[i].dim, &error));
        EXPECT_FAIL(holo_compile_model(compiler, model_dynamic(), &model, NULL, &error), HOLO_BAD_ARGUMENT,
                    wrong[i].words);
        assert_null(model);
        holo_compiler_destroy(compiler);
    }
    holo_compiler_destroy(good);
    holo_compiler_destroy(bad);
}

static HoloModel *compiled_with(HoloCompiler *compiler)
{
    HoloModel *model;
    EXPECT_OK(holo_compile_model(compiler, model_dynamic(), &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

// An input given a value is no input any more; the answer is the same.
static void test_constants(void **state)
{
    (void)state;
    HoloModel    *model = compiled(model_dynamic(), HOLO_FUSED);
    HoloTensor    x = made(&holo_model_input(model, 0)->type, 9, 4), z = made(&holo_model_input(model, 1)->type, 10, 4);
    size_t        want_size, size;
    uint8_t      *want = answer(model, NULL, 9, 4, &want_size), *bytes;
    HoloModelInfo info;
    holo_model_close(model);
    for (int both = 0; both < 2; both++) {
        HoloCompiler *compiler = compiler_make();
        EXPECT_OK(holo_compiler_set_constant(compiler, "x", &x, &error));
        if (both) EXPECT_OK(holo_compiler_set_constant(compiler, "z", &z, &error));
        model = compiled_with(compiler);
        assert_int_equal(holo_model_input_count(model), both ? 0 : 1);
        if (!both) assert_int_equal(holo_model_input(model, 0)->type.dim[0], 4); // N is the z's too
        holo_model_info(model, &info);
        assert_true(both ? info.steps == 0 : info.is_static);
        bytes = answer(model, NULL, 10, 4, &size);
        assert_int_equal(size, want_size);
        for (size_t i = 0; i < size / 4; i++)
            assert_float_equal(((float *)(void *)bytes)[i], ((float *)(void *)want)[i], 1e-5);
        free(bytes);
        holo_model_close(model);
    }
    free(want);
    free(x.data);
    free(z.data);
}

static void test_constants_that_cannot_be(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make();
    HoloModel    *model;
    int64_t       number   = 1;
    HoloTensor    whole    = {.dtype = HOLO_I64, .rank = 2, .dim = {1, 1}, .data = &number};
    HoloTensor    list     = {.dtype = HOLO_F32, .kind = HOLO_SEQUENCE, .rank = 1, .data = &number};
    HoloTensor    without  = {.dtype = HOLO_F32, .rank = 1, .dim = {3}};
    HoloTensor    negative = {.dtype = HOLO_F32, .rank = 1, .dim = {-3}, .data = &number};
    EXPECT_FAIL(holo_compiler_set_constant(compiler, "x", &list, &error), HOLO_BAD_ARGUMENT, "only a tensor");
    EXPECT_FAIL(holo_compiler_set_constant(compiler, "x", &without, &error), HOLO_BAD_ARGUMENT, "with its data");
    EXPECT_FAIL(holo_compiler_set_constant(compiler, "x", &negative, &error), HOLO_BAD_ARGUMENT, "input x");
    EXPECT_OK(holo_compiler_set_constant(compiler, "x", &whole, &error));
    EXPECT_FAIL(holo_compile_model(compiler, model_dynamic(), &model, NULL, &error), HOLO_BAD_ARGUMENT,
                "a tensor of f32, but the given constant is a tensor of i64");
    holo_compiler_destroy(compiler);
    compiler = compiler_make();
    EXPECT_OK(holo_compiler_set_constant(compiler, "w", &whole, &error));
    EXPECT_FAIL(holo_compile_model(compiler, model_dynamic(), &model, NULL, &error), HOLO_BAD_ARGUMENT,
                "no input w to give a value; the inputs are: x, z");
    holo_compiler_destroy(compiler);
}

// Sizes that the model fixes are open, too, but for those that were set.
static void test_symbolic_sizes(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make();
    holo_compiler_set_symbolic(compiler, true);
    EXPECT_OK(holo_compiler_set_shape(compiler, "z", 2, (int64_t[]){3, -1}, &error));
    HoloModel        *model = compiled_with(compiler);
    const HoloTensor *x = &holo_model_input(model, 0)->type, *z = &holo_model_input(model, 1)->type;
    assert_int_equal(x->rank, 2);
    assert_int_equal(x->dim[0], -1);
    assert_int_equal(x->dim[1], -1);
    assert_int_equal(z->dim[0], 3);
    assert_int_equal(z->dim[1], -1);
    holo_model_close(model);
}

static void test_sizes_without_a_name(void **state) // all of them called None: each may be another
{
    (void)state;
    OnnxModel    m = {0};
    HoloSession *session;
    float        x[6] = {1, 2, 3, 4, 5, 6}, scale[3] = {1, 10, 100};
    HoloTensor   in[2] = {{.dtype = HOLO_F32, .rank = 2, .dim = {2, 3}, .data = x},
                          {.dtype = HOLO_F32, .rank = 1, .dim = {3}, .data = scale}},
               out;
    const char *path = temp_path("nameless.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "None,None");
    onnx_input(&m.graph, "scale", HOLO_F32, "None");
    onnx_output(&m.graph, "y", HOLO_F32, "None,None");
    onnx_node(&m.graph, "Mul", "x,scale", "y", "");
    onnx_save(&m, path);
    HoloModel *model = compiled(path, HOLO_FUSED);
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < 2; i++) EXPECT_OK(holo_session_set_input(session, i, &in[i], &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &out, &error));
    for (int i = 0; i < 6; i++) assert_float_equal(((float *)out.data)[i], x[i] * scale[i % 3], 0);
    holo_session_destroy(session);
    holo_model_close(model);
}

static void test_passes_left_out(void **state)
{
    (void)state;
    size_t     want_size, size;
    HoloModel *model = compiled(model_conv(), HOLO_FUSED);
    uint8_t   *want  = answer(model, NULL, 3, 1, &want_size);
    holo_model_close(model);
    for (int i = 0; i <= holo_pass_count(); i++) { // each one alone, then all of them
        HoloCompiler *compiler = compiler_make();
        for (int k = 0; k < holo_pass_count(); k++)
            if (k == i || i == holo_pass_count())
                EXPECT_OK(holo_compiler_disable_pass(compiler, holo_pass_name(k, NULL), &error));
        EXPECT_OK(holo_compile_model(compiler, model_conv(), &model, NULL, &error));
        uint8_t *bytes = answer(model, NULL, 3, 1, &size);
        assert_int_equal(size, want_size);
        for (size_t k = 0; k < size / 4; k++) {
            double difference = (double)((float *)(void *)bytes)[k] - (double)((float *)(void *)want)[k];
            assert_true(difference < 1e-5 && difference > -1e-5);
        }
        free(bytes);
        holo_model_close(model);
        holo_compiler_destroy(compiler);
    }
    HoloCompiler *compiler = compiler_make();
    EXPECT_FAIL(holo_compiler_disable_pass(compiler, "no such", &error), HOLO_BAD_ARGUMENT, holo_pass_name(0, NULL));
    assert_null(holo_pass_name(-1, NULL));
    assert_null(holo_pass_name(holo_pass_count(), NULL));
    holo_compiler_destroy(compiler);
    free(want);
}

typedef struct Dumps {
    int  count;
    char text[8192];
} Dumps;

static void dump(void *context, const char *pass, const char *text)
{
    Dumps *d = context;
    d->count++;
    assert_string_equal(pass, "import");
    snprintf(d->text, sizeof d->text, "%s", text);
}

static void test_dump(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make();
    HoloModel    *model;
    Dumps         dumps = {0};
    EXPECT_OK(holo_compiler_set_dump(compiler, "import", dump, &dumps, &error));
    EXPECT_OK(holo_compile_model(compiler, model_tiny(), &model, NULL, &error));
    assert_int_equal(dumps.count, 1);
    assert_non_null(strstr(dumps.text, "graph test(x: f32[2,3]) -> (y)"));
    assert_non_null(strstr(dumps.text, "y = Relu@17"));
    assert_non_null(strstr(dumps.text, " (s) : f32[2,3]"));
    EXPECT_FAIL(holo_compiler_set_dump(compiler, "no such", dump, &dumps, &error), HOLO_BAD_ARGUMENT,
                "import, quantize, plan, lower, all");
    holo_model_close(model);
    holo_compiler_destroy(compiler);
}

static void progress(void *context, const char *stage, double fraction)
{
    double *last = context;
    assert_true(*stage != 0);
    assert_true(fraction >= 0 && fraction <= 1);
    *last = fraction;
}

static void test_progress(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make();
    HoloModel    *model;
    double        last = 0;
    holo_compiler_set_progress(compiler, progress, &last);
    EXPECT_OK(holo_compile_model(compiler, model_conv(), &model, NULL, &error));
    assert_true(last == 1);
    holo_model_close(model);
    holo_compiler_destroy(compiler);
}

// ---- the proof

// A tolerance that no rounding can keep: nothing is written, and the message says where and by how much.
static void test_a_plan_that_differs_is_not_written(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make();
    const char   *out      = temp_path("differs.holo");
    int           files    = folder_count(temp_folder());
    holo_compiler_set_tolerance(compiler, 0, 0);
    const char *path = model_conv();
    files            = folder_count(temp_folder());
    EXPECT_FAIL(holo_compile_file(compiler, path, out, NULL, &error), HOLO_VERIFY, "y");
    assert_int_equal(folder_count(temp_folder()), files);
    holo_compiler_set_tolerance(compiler, -1, -1); // back to the default
    EXPECT_OK(holo_compile_file(compiler, path, out, NULL, &error));
    holo_compiler_destroy(compiler);
}

// One operator rounds once where the model rounds twice: no mistake, in a type of eight bits.
static void test_roundings_left_out(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("roundings.onnx");
    HoloReport *report;
    HoloModel  *model;
    onnx_input(&m.graph, "x", HOLO_BF16, "64,64");
    onnx_output(&m.graph, "y", HOLO_BF16, "64,64");
    onnx_node(&m.graph, "Sigmoid", "x", "s", "");
    onnx_node(&m.graph, "Mul", "x,s", "y", "");
    onnx_save(&m, path);
    EXPECT_OK(holo_compile_model(NULL, path, &model, &report, &error));
    assert_int_equal(report->nodes_after, 3); // Swish, between Casts
    assert_true(report->verified && report->worst_relative > 1e-3);
    holo_report_destroy(report);
    holo_model_close(model);
}

// How many elements are above their neighbors is a matter of roundings: the answer has another size then.
static void test_roundings_move_sizes(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("sizes.onnx");
    HoloReport *report;
    HoloModel  *model;
    onnx_input(&m.graph, "x", HOLO_BF16, "64,64");
    onnx_output(&m.graph, "z", HOLO_I64, "2,n");
    onnx_node(&m.graph, "Sigmoid", "x", "s", "");
    onnx_node(&m.graph, "Mul", "x,s", "y", "");
    onnx_node(&m.graph, "Transpose", "y", "t", "");
    onnx_node(&m.graph, "Greater", "y,t", "g", "");
    onnx_node(&m.graph, "NonZero", "g", "z", "");
    onnx_save(&m, path);
    EXPECT_OK(holo_compile_model(NULL, path, &model, &report, &error));
    assert_true(report->verified);
    holo_report_destroy(report);
    holo_model_close(model);
}

static void test_not_verified(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make();
    HoloReport   *report;
    HoloModel    *model;
    holo_compiler_set_verify(compiler, false);
    EXPECT_OK(holo_compile_model(compiler, model_tiny(), &model, &report, &error));
    assert_false(report->verified);
    assert_string_equal(holo_model_meta_find(model, "verify.status"), "not asked for");
    holo_report_destroy(report);
    holo_model_close(model);
    holo_compiler_destroy(compiler);
}

// ---- files

static void test_an_old_archive_is_replaced_whole(void **state)
{
    (void)state;
    const char *out = temp_path("replaced.holo");
    size_t      size, after_size;
    EXPECT_OK(holo_compile_file(NULL, model_tiny(), out, NULL, &error));
    HoloModel *model;
    EXPECT_OK(holo_model_open(out, &model, &error)); // still open while the new one is written
#ifdef _WIN32
    EXPECT_FAIL(holo_compile_file(NULL, model_mlp(), out, NULL, &error), HOLO_NO_FILE, "cannot rename");
#else
    EXPECT_OK(holo_compile_file(NULL, model_mlp(), out, NULL, &error));
#endif
    EXPECT_OK(holo_model_verify(model, &error));
    holo_model_close(model);
    uint8_t *before = file_read(out, &size);
    file_write(temp_path("broken.onnx"), "\x08\x08", 2);
    EXPECT_FAIL(holo_compile_file(NULL, temp_path("broken.onnx"), out, NULL, &error), HOLO_BAD_MODEL, "no graph");
    uint8_t *after = file_read(out, &after_size); // a compile that fails leaves the old one
    expect_same_bytes(after, after_size, before, size);
    free(before);
    free(after);
}

static void test_nothing_stays_of_a_model_in_memory(void **state)
{
    (void)state;
    const char *folder = temp_path("memory"), *path = model_tiny();
    assert_int_equal(mkdir(folder, 0777), 0);
    setenv("TMPDIR", folder, 1);
    HoloModel *model = compiled(path, HOLO_FUSED);
    assert_int_equal(folder_count(folder), 0); // while it is open, too
    holo_model_close(model);
    EXPECT_FAIL(holo_compile_model(NULL, temp_path("none.onnx"), &model, NULL, &error), HOLO_NO_FILE, "none.onnx");
    assert_int_equal(folder_count(folder), 0);
    unsetenv("TMPDIR");
}

static void test_kinds_of_files(void **state)
{
    (void)state;
    HoloFileKind kind;
    EXPECT_OK(holo_file_kind(model_tiny(), &kind, &error));
    assert_int_equal(kind, HOLO_FILE_MODEL);
    EXPECT_OK(holo_file_kind(archived(model_tiny(), HOLO_FUSED, 1), &kind, &error));
    assert_int_equal(kind, HOLO_FILE_ARCHIVE);
    file_write(temp_path("page.html"), "<html>", 6);
    EXPECT_OK(holo_file_kind(temp_path("page.html"), &kind, &error));
    assert_int_equal(kind, HOLO_FILE_OTHER);
    EXPECT_FAIL(holo_file_kind(temp_path("none"), &kind, &error), HOLO_NO_FILE, "none");
}

// ---- looking at it

static void test_listings(void **state)
{
    (void)state;
    HoloListing *imported, *planned;
    EXPECT_OK(holo_listing_open(NULL, model_conv(), HOLO_STAGE_IMPORTED, &imported, &error));
    EXPECT_OK(holo_listing_open(NULL, model_conv(), HOLO_STAGE_PLANNED, &planned, &error));
    assert_int_equal(imported->node_count, 7);
    assert_string_equal(imported->nodes[0].op, "Conv");
    assert_non_null(strstr(imported->nodes[0].detail, "kernel_shape=[3"));
    assert_int_equal(imported->input_count, 1);
    assert_string_equal(imported->values[imported->inputs[0]].name, "x");
    bool has_conv = false;
    for (int i = 0; i < planned->node_count; i++)
        has_conv = has_conv || !strcmp(planned->nodes[i].runs, "conv_nhwc_f32");
    assert_true(has_conv);
    for (int i = 0; i < planned->node_count; i++)
        for (int k = 0; k < planned->nodes[i].out_count; k++) {
            int v = planned->nodes[i].out[k];
            if (v >= 0) assert_int_equal(planned->values[v].producer, i);
        }
    holo_listing_close(imported);
    holo_listing_close(planned);
}

static void test_operators_listed(void **state)
{
    (void)state;
    HoloOpInfo info, last = {.domain = "", .name = ""};
    assert_true(holo_op_count() > 100);
    for (int i = 0; i < holo_op_count(); i++) {
        assert_true(holo_op_info(i, &info));
        int order = strcmp(last.domain, info.domain);
        if (!order) order = strcmp(last.name, info.name);
        if (order > 0 || (!order && last.since >= info.since))
            fail_msg("%s::%s %d comes after %s::%s %d", info.domain, info.name, info.since, last.domain, last.name,
                     last.since);
        last = info;
    }
    assert_false(holo_op_info(holo_op_count(), &info));
    assert_false(holo_op_info(-1, &info));
}

// A value and a view of it are the same bytes: what is written over the view must not be read as the value.
static void test_views_are_not_written_over(void **state)
{
    (void)state;
    const int64_t turned[] = {3, 2}, back[] = {2, 3};
    OnnxModel     m    = {0};
    OnnxGraph    *g    = &m.graph;
    const char   *path = temp_path("views.onnx");
    onnx_input(g, "x", HOLO_F32, "2,3");
    onnx_output(g, "y", HOLO_F32, "2,3");
    onnx_ints(g, "turned", "2", turned);
    onnx_ints(g, "back", "2", back);
    onnx_node(g, "Relu", "x", "a", "");
    onnx_node(g, "Reshape", "a,turned", "v", "");
    onnx_node(g, "Exp", "v", "w", "");
    onnx_node(g, "Reshape", "w,back", "u", "");
    onnx_node(g, "Sub", "a,u", "y", "");
    onnx_save(&m, path);
    HoloModel *model;
    EXPECT_OK(holo_compile_model(NULL, path, &model, NULL, &error)); // verified: it would not be written
    holo_model_close(model);
}

// The one size that lets the weights in makes a value that is too large to compute for a proof.
static void test_large_made_up_sizes(void **state)
{
    (void)state;
    OnnxModel m = {0};
    onnx_input(&m.graph, "x", HOLO_F32, "N,N");
    onnx_output(&m.graph, "y", HOLO_F32, NULL);
    onnx_weights(&m.graph, "w", "3000,32", 1, 1);
    onnx_ints(&m.graph, "first", "1", (int64_t[]){0});
    onnx_ints(&m.graph, "second", "1", (int64_t[]){1});
    onnx_node(&m.graph, "MatMul", "x,w", "a", "");
    onnx_node(&m.graph, "Unsqueeze", "a,first", "b", "");
    onnx_node(&m.graph, "Unsqueeze", "a,second", "c", "");
    onnx_node(&m.graph, "Sub", "b,c", "y", "");
    onnx_save(&m, temp_path("large.onnx"));
    HoloModel  *model;
    HoloReport *report;
    EXPECT_OK(holo_compile_model(NULL, temp_path("large.onnx"), &model, &report, &error));
    assert_false(report->verified);
    assert_non_null(strstr(report->verify_why_not, "288000000 elements, more than the limit"));
    holo_report_destroy(report);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_constants_that_cannot_be),
        cmocka_unit_test(test_symbolic_sizes),
        cmocka_unit_test(test_sizes_without_a_name),
        cmocka_unit_test(test_passes_left_out),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_a_plan_that_differs_is_not_written),
        cmocka_unit_test(test_roundings_left_out),
        cmocka_unit_test(test_roundings_move_sizes),
        cmocka_unit_test(test_not_verified),
        cmocka_unit_test(test_an_old_archive_is_replaced_whole),
        cmocka_unit_test(test_nothing_stays_of_a_model_in_memory),
        cmocka_unit_test(test_kinds_of_files),
        cmocka_unit_test(test_listings),
        cmocka_unit_test(test_operators_listed),
        cmocka_unit_test(test_views_are_not_written_over),
        cmocka_unit_test(test_large_made_up_sizes),
    };
    return cmocka_run_group_tests_name("compile", tests, NULL, NULL);
}
