// session_views_test.c - what a session shows: views for DLPack, the profile, and its values to one who watches.
#include "unit/runtime/session_case.h"

// ---- views

static void test_dlpack(void **state)
{
    (void)state;
    for (int dtype = 1; dtype < HOLO_DTYPE_COUNT; dtype++) {
        char         memory[256];
        HoloTensor   t = {.dtype = (uint8_t)dtype, .rank = 2, .dim = {2, 3}, .data = memory}, back;
        HoloDlTensor dl;
        if (!holo_tensor_to_dlpack(&t, &dl)) {
            assert_true(dtype == HOLO_STRING || dtype > HOLO_BF16);
            continue;
        }
        assert_int_equal(dl.device_type, 1);
        assert_int_equal(dl.ndim, 2);
        assert_int_equal(dl.lanes, 1);
        assert_int_equal(dl.shape[1], 3);
        assert_int_equal(dl.bits / 8, holo_dtype_size((HoloDtype)dtype));
        assert_true(holo_tensor_from_dlpack(&dl, &back));
        assert_int_equal(back.dtype, dtype);
        assert_int_equal(back.rank, 2);
        assert_int_equal(back.dim[0], 2);
        assert_ptr_equal(back.data, memory);
    }
}

static void test_dlpack_of_others(void **state)
{
    (void)state;
    float        memory[12];
    int64_t      shape[] = {2, 3}, dense[] = {3, 1}, wide[] = {6, 1};
    HoloDlTensor dl = {.data = memory, .device_type = 1, .ndim = 2, .code = 2, .bits = 32, .lanes = 1, .shape = shape},
                 bad;
    HoloTensor t;
    dl.strides     = dense;
    dl.byte_offset = 8;
    assert_true(holo_tensor_from_dlpack(&dl, &t));
    assert_int_equal(t.dtype, HOLO_F32);
    assert_ptr_equal(t.data, memory + 2);
    bad = dl, bad.strides = wide;
    assert_false(holo_tensor_from_dlpack(&bad, &t));
    bad = dl, bad.device_type = 2;
    assert_false(holo_tensor_from_dlpack(&bad, &t));
    bad = dl, bad.lanes = 4;
    assert_false(holo_tensor_from_dlpack(&bad, &t));
    bad = dl, bad.bits = 24;
    assert_false(holo_tensor_from_dlpack(&bad, &t));
    bad = dl, bad.ndim = HOLO_MAX_RANK + 1;
    assert_false(holo_tensor_from_dlpack(&bad, &t));
    bad = dl, bad.ndim = -1;
    assert_false(holo_tensor_from_dlpack(&bad, &t));
    bad = dl, bad.shape = (int64_t[]){2, -3};
    assert_false(holo_tensor_from_dlpack(&bad, &t));
    bad = dl, bad.strides = NULL, bad.ndim = 0;
    assert_true(holo_tensor_from_dlpack(&bad, &t));
    assert_int_equal(t.rank, 0);
}

// An output goes out as DLPack, comes back, and is the input of another session without a copy.
static void test_dlpack_from_session_to_session(void **state)
{
    (void)state;
    Run          a = begin(model_tiny()), b = begin(model_tiny());
    HoloTensor   x = made(in_type(&a, 0), 1, 1), back;
    HoloDlTensor dl;
    EXPECT_OK(holo_session_set_input(a.session, 0, &x, &error));
    EXPECT_OK(holo_session_run(a.session, &error));
    HoloTensor y = output_of(&a, 0);
    assert_true(holo_tensor_to_dlpack(&y, &dl));
    assert_true(holo_tensor_from_dlpack(&dl, &back));
    HoloTensor want = plus_constant(&y);
    EXPECT_OK(holo_session_set_input(b.session, 0, &back, &error));
    EXPECT_OK(holo_session_run(b.session, &error));
    HoloTensor z = output_of(&b, 0);
    expect_relu(&z, &want);
    end(&a);
    end(&b);
    free(x.data);
    free(want.data);
}

// ---- the profile

static void test_profile(void **state)
{
    (void)state;
    Run           r    = begin(model_mlp());
    HoloTensor    x    = made(in_type(&r, 0), 1, 1);
    const char   *path = temp_path("profile.json");
    HoloModelInfo info;
    holo_model_info(r.model, &info);
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    holo_session_profile(r.session, true);
    EXPECT_OK(holo_session_run(r.session, &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    holo_session_profile(r.session, false);
    EXPECT_OK(holo_session_run(r.session, &error));
    EXPECT_OK(holo_session_profile_write(r.session, path, &error));
    json_error_t problem;
    json_t      *root = json_load_file(path, 0, &problem);
    if (!root) fail_msg("line %d: %s", problem.line, problem.text);
    json_t *events = json_object_get(root, "traceEvents");
    size_t  steps  = 2 * (size_t)info.steps;
    assert_int_equal(json_array_size(events), steps + 1);
    double last = -1;
    for (size_t i = 0; i < steps; i++) {
        json_t *e = json_array_get(events, i);
        assert_string_equal(json_string_value(json_object_get(e, "ph")), "X");
        assert_non_null(json_string_value(json_object_get(e, "name")));
        assert_non_null(json_string_value(json_object_get(json_object_get(e, "args"), "kernel")));
        assert_true(json_number_value(json_object_get(e, "ts")) >= last);
        assert_true(json_number_value(json_object_get(e, "dur")) >= 0);
        last = json_number_value(json_object_get(e, "ts"));
    }
    json_t *track = json_array_get(events, steps); // of the one thread
    assert_string_equal(json_string_value(json_object_get(track, "ph")), "M");
    assert_string_equal(json_string_value(json_object_get(track, "name")), "thread_name");
    json_decref(root);
    EXPECT_FAIL(holo_session_profile_write(r.session, temp_path("no/such.json"), &error), HOLO_NO_FILE, "no/such.json");
    end(&r);
    free(x.data);
}

// Names of nodes and operators come from the model: none of them may break the JSON.
static void test_profile_of_hostile_names(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("names.onnx"), *out = temp_path("names.json");
    char        name[2000], line[2100];
    memset(name, '"', sizeof name - 1);
    name[sizeof name - 1] = 0;
    snprintf(line, sizeof line, "a\"\\\n\t\x01\x7f<%s", "\xc3\xa4");
    onnx_input(&m.graph, "x", HOLO_F32, "2");
    onnx_output(&m.graph, "y", HOLO_F32, "2");
    onnx_node(&m.graph, "Relu", "x", line, "");
    Pb node = {0};
    pb_text(&node, 1, line);
    pb_text(&node, 2, "y");
    pb_text(&node, 3, name); // the node's own name
    pb_text(&node, 4, "Sin");
    pb_message(&m.graph.message, 1, &node);
    onnx_save(&m, path);
    Run        r = begin(path);
    HoloTensor x = made(in_type(&r, 0), 1, 1);
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    holo_session_profile(r.session, true);
    EXPECT_OK(holo_session_run(r.session, &error));
    EXPECT_OK(holo_session_profile_write(r.session, out, &error));
    json_error_t problem;
    json_t      *root = json_load_file(out, 0, &problem);
    if (!root) fail_msg("line %d: %s", problem.line, problem.text);
    json_decref(root);
    end(&r);
    free(x.data);
}

// ---- watching

typedef struct Watched {
    char   names[256];
    double last;
} Watched;

static void note(void *context, const char *step, const char *value, const HoloTensor *view)
{
    Watched *w = context;
    assert_non_null(step);
    size_t used = strlen(w->names);
    snprintf(w->names + used, sizeof w->names - used, "%s;", value);
    holo_tensor_numbers(view, holo_tensor_count(view) - 1, 1, &w->last);
}

// Values of the plan and of the plain run, by the names of the model; not those inside a loop.
static void test_watch(void **state)
{
    (void)state;
    Run        r = begin(model_tiny());
    HoloTensor x = made(in_type(&r, 0), 1, 1);
    Watched    w = {0}, plain = {0};
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    holo_session_watch(r.session, note, &w);
    EXPECT_OK(holo_session_run(r.session, &error));
    HoloTensor y = output_of(&r, 0);
    double     last;
    holo_tensor_numbers(&y, holo_tensor_count(&y) - 1, 1, &last);
    assert_string_equal(w.names, "y;"); // the Add is in the same step
    assert_true(w.last == last);
    holo_session_watch(r.session, NULL, NULL);
    EXPECT_OK(holo_session_run(r.session, &error));
    assert_string_equal(w.names, "y;");

    HoloSource       *source;
    HoloTensors      *outputs;
    const HoloTensor *list[] = {&x};
    EXPECT_OK(holo_source_open(model_tiny(), &source, &error));
    EXPECT_OK(holo_reference_watch(source, list, 1, note, &plain, &outputs, &error));
    assert_true(plain.last == last);
    assert_non_null(strstr(plain.names, ";y;"));
    holo_tensors_destroy(outputs);
    holo_source_close(source);
    end(&r);
    free(x.data);

    Run        loop = begin(model_loop(3));
    HoloTensor in   = made(in_type(&loop, 0), 1, 1);
    Watched    of   = {0};
    EXPECT_OK(holo_session_set_input(loop.session, 0, &in, &error));
    holo_session_watch(loop.session, note, &of);
    EXPECT_OK(holo_session_run(loop.session, &error));
    assert_null(strstr(strstr(of.names, "y;") + 1, "y;"));
    end(&loop);
    free(in.data);
}

static void rows_note(void *context, const char *step, const char *value, const HoloTensor *view)
{
    (void)step;
    (void)value;
    int64_t *rows = context;
    if (view->rank && view->dim[0] > *rows) *rows = view->dim[0];
}

// A batch that else runs some images after the other is seen whole, and runs as before then.
static void test_watch_of_a_large_batch(void **state)
{
    (void)state;
    enum { IMAGES = 1 << 19 };
    OnnxModel   m    = {0};
    const char *path = temp_path("rows.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "N,16");
    onnx_output(&m.graph, "y", HOLO_F32, "N,16");
    onnx_weights(&m.graph, "w", "16,16", 1, 0.5f);
    onnx_node(&m.graph, "MatMul", "x,w", "a", "");
    onnx_node(&m.graph, "Softmax", "a", "b", "");
    onnx_node(&m.graph, "MatMul", "b,w", "y", "");
    onnx_save(&m, path);
    Run        r    = begin(path);
    HoloTensor x    = made(in_type(&r, 0), 1, IMAGES);
    int64_t    rows = 0;
    uint64_t   hashes[3];
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    for (int i = 0; i < 3; i++) {
        holo_session_watch(r.session, i == 1 ? rows_note : NULL, &rows);
        EXPECT_OK(holo_session_run(r.session, &error));
        HoloTensor y = output_of(&r, 0);
        assert_int_equal(y.dim[0], IMAGES);
        assert_int_equal(r.session->images.is_used, i != 1); // else this proves nothing
        hashes[i] = 0;
        for (size_t b = 0; b < holo_tensor_bytes(&y); b += 4) {
            uint32_t bits;
            memcpy(&bits, (char *)y.data + b, sizeof bits);
            hashes[i] = hashes[i] * 31 + bits;
        }
    }
    assert_int_equal(rows, IMAGES);
    assert_true(hashes[0] == hashes[1] && hashes[1] == hashes[2]);
    end(&r);
    free(x.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dlpack),
        cmocka_unit_test(test_dlpack_of_others),
        cmocka_unit_test(test_dlpack_from_session_to_session),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_watch_of_a_large_batch),
        cmocka_unit_test(test_profile_of_hostile_names),
    };
    return cmocka_run_group_tests_name("session_views", tests, NULL, NULL);
}
