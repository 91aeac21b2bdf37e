// session_test.c - one session: inputs and outputs in the caller's memory and in its own, what does not fit, sizes
// bound in turn, views for DLPack, the profile.
#include "unit/runtime/session_case.h"

// ---- names and types

static void test_ports(void **state)
{
    (void)state;
    Run r = begin(model_dynamic());
    assert_int_equal(holo_model_input_count(r.model), 2);
    assert_int_equal(holo_model_output_count(r.model), 2);
    assert_int_equal(holo_model_input_find(r.model, "z"), 1);
    assert_int_equal(holo_model_output_find(r.model, "both"), 1);
    assert_int_equal(holo_model_input_find(r.model, "y"), -1);
    assert_null(holo_model_input(r.model, 2));
    assert_null(holo_model_input(r.model, -1));
    assert_null(holo_model_output(r.model, 2));
    const HoloPort *x = holo_model_input(r.model, 0), *both = holo_model_output(r.model, 1);
    assert_string_equal(x->name, "x");
    assert_int_equal(x->type.dtype, HOLO_F32);
    assert_int_equal(x->type.rank, 2);
    assert_int_equal(x->type.dim[0], -1);
    assert_int_equal(x->type.dim[1], 6);
    assert_string_equal(x->symbol[0], "N");
    assert_null(x->symbol[1]);
    assert_non_null(both->symbol[0]);
    if (strcmp(both->symbol[0], "2*N") && strcmp(both->symbol[0], "N+N") && strcmp(both->symbol[0], "N*2"))
        fail_msg("2 N is written %s", both->symbol[0]);
    end(&r);
}

// Sizes are text that programs compute with: names that could be read otherwise are quoted, but alone they are names.
static void test_sizes_as_text(void **state)
{
    (void)state;
    OnnxModel m = {0};
    onnx_opset(&m, "", 20);
    onnx_input(&m.graph, "x", HOLO_F32, "1,past + 1,w");
    onnx_output(&m.graph, "y", HOLO_F32, "1,p,q");
    onnx_node(&m.graph, "MaxPool", "x", "half", "kernel_shape=[1] strides=[2]");
    onnx_node(&m.graph, "Concat", "half,half,half", "y", "axis=2");
    onnx_save(&m, temp_path("sizes.onnx"));
    Run r = begin(temp_path("sizes.onnx"));
    assert_string_equal(holo_model_input(r.model, 0)->symbol[1], "past + 1");
    assert_string_equal(holo_model_output(r.model, 0)->symbol[1], "past + 1");
    assert_string_equal(holo_model_output(r.model, 0)->symbol[2], "3*((w+1)//2)");
    end(&r);
}

// Elements of less than a byte lie one behind the other, from the lowest bit on.
static void test_packed_constants(void **state)
{
    (void)state;
    static const struct {
        int     dtype;
        uint8_t bytes[4];
        int     size;
        float   y[5];
    } cases[] = {{HOLO_F6E3M2, {0x00, 0x03, 0xFD, 0x01}, 4, {0, 1, 2, -28, 0.0625F}},
                 {HOLO_F4E2M1, {0x20, 0xF4, 0x01}, 3, {0, 1, 2, -6, 0.5F}},
                 {HOLO_I4, {0x87, 0x10, 0x0F}, 3, {7, -8, 0, 1, -1}},
                 {HOLO_I2, {0x1B, 0x02}, 2, {-1, -2, 1, 0, -2}}};
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        OnnxModel m = {0};
        onnx_opset(&m, "", 28);
        onnx_input(&m.graph, "x", HOLO_F32, "5");
        onnx_output(&m.graph, "y", HOLO_F32, "5");
        onnx_constant(&m.graph, "w", cases[i].dtype, "5", cases[i].bytes, (size_t)cases[i].size);
        onnx_node(&m.graph, "Cast", "w", "c", "to=1");
        onnx_node(&m.graph, "Add", "x,c", "y", "");
        onnx_save(&m, temp_path("packed.onnx"));
        Run        r       = begin(temp_path("packed.onnx"));
        float      zero[5] = {0};
        HoloTensor x       = {.dtype = HOLO_F32, .rank = 1, .dim = {5}, .data = zero};
        EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
        EXPECT_OK(holo_session_run(r.session, &error));
        for (int k = 0; k < 5; k++) assert_true(((float *)output_of(&r, 0).data)[k] == cases[i].y[k]);
        end(&r);
    }
}

static void test_what_does_not_fit(void **state)
{
    (void)state;
    Run        r = begin(model_dynamic());
    HoloTensor x = made(in_type(&r, 0), 1, 2), bad = x, view;
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_INPUT, "input x is not set");
    EXPECT_FAIL(holo_session_output(r.session, 0, &view, &error), HOLO_BAD_ARGUMENT, "not run");
    EXPECT_FAIL(holo_session_set_input(r.session, 2, &x, &error), HOLO_BAD_ARGUMENT, "the model has 2");
    EXPECT_FAIL(holo_session_set_input(r.session, -1, &x, &error), HOLO_BAD_ARGUMENT, "the model has 2");
    bad.dtype = HOLO_F64;
    EXPECT_FAIL(holo_session_set_input(r.session, 0, &bad, &error), HOLO_BAD_INPUT,
                "input x should be f32[N,6], but is f64[2,6]");
    bad        = x;
    bad.dim[1] = 5;
    EXPECT_FAIL(holo_session_set_input(r.session, 0, &bad, &error), HOLO_BAD_INPUT,
                "input x should be f32[N,6], but is f32[2,5]");
    bad      = x;
    bad.rank = 3;
    EXPECT_FAIL(holo_session_set_input(r.session, 0, &bad, &error), HOLO_BAD_INPUT, "should be f32[N,6]");
    bad        = x;
    bad.dim[0] = -4;
    EXPECT_FAIL(holo_session_set_input(r.session, 0, &bad, &error), HOLO_BAD_INPUT, "input x");
    bad.dim[0] = INT64_MAX;
    EXPECT_FAIL(holo_session_set_input(r.session, 0, &bad, &error), HOLO_BAD_INPUT, "input x");
    bad      = x;
    bad.kind = HOLO_SEQUENCE;
    EXPECT_FAIL(holo_session_set_input(r.session, 0, &bad, &error), HOLO_BAD_INPUT, "input x should be");
    bad      = x;
    bad.data = NULL;
    EXPECT_FAIL(holo_session_set_input(r.session, 0, &bad, &error), HOLO_BAD_INPUT, "input x has no data");
    EXPECT_FAIL(holo_session_set_input(r.session, 0, NULL, &error), HOLO_BAD_ARGUMENT,
                "no tensor is given for input x");
    // Two inputs that should agree in N.
    bad        = x;
    bad.dim[0] = 1;
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    EXPECT_OK(holo_session_set_input(r.session, 1, &bad, &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_INPUT,
                "input z is f32[1,6]: the size of dimension 0 should be 2, as 'N' is in another input");
    // And after all that it still runs.
    EXPECT_OK(holo_session_set_input(r.session, 1, &x, &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    end(&r);
    free(x.data);
}

// ---- whose memory

static void test_inputs_are_read_where_they_lie(void **state)
{
    (void)state;
    Run        r = begin(model_tiny());
    HoloTensor x = made(in_type(&r, 0), 2, 1);
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    for (int run = 0; run < 3; run++) { // the same memory, other numbers
        for (int i = 0; i < 6; i++) ((float *)x.data)[i] += (float)run;
        HoloTensor want = plus_constant(&x);
        EXPECT_OK(holo_session_run(r.session, &error));
        HoloTensor y = output_of(&r, 0);
        expect_relu(&y, &want);
        free(want.data);
    }
    end(&r);
    free(x.data);
}

static void test_input_in_the_sessions_memory(void **state)
{
    (void)state;
    Run        r = begin(model_tiny()), open = begin(model_dynamic());
    HoloTensor view, again, x = made(in_type(&r, 0), 3, 1), want = plus_constant(&x);
    EXPECT_OK(holo_session_input(r.session, 0, &view, &error));
    assert_int_equal(view.dtype, HOLO_F32);
    assert_int_equal(holo_tensor_bytes(&view), 24);
    memcpy(view.data, x.data, 24);
    EXPECT_OK(holo_session_run(r.session, &error));
    HoloTensor y = output_of(&r, 0);
    expect_relu(&y, &want);
    // Asked for again it is the same memory, and nothing is taken for it.
    size_t before = holo_session_memory(r.session);
    for (int i = 0; i < 100000; i++) EXPECT_OK(holo_session_input(r.session, 0, &again, &error));
    assert_ptr_equal(view.data, again.data);
    assert_int_equal(holo_session_memory(r.session), before);
    EXPECT_FAIL(holo_session_input(open.session, 0, &view, &error), HOLO_BAD_ARGUMENT, "input x is not fixed");
    EXPECT_FAIL(holo_session_input(r.session, 1, &view, &error), HOLO_BAD_ARGUMENT, "no input 1");
    end(&r);
    end(&open);
    free(x.data);
    free(want.data);
}

static void test_output_in_the_callers_memory(void **state)
{
    (void)state;
    Run        r = begin(model_tiny());
    HoloTensor x = made(in_type(&r, 0), 4, 1), want = plus_constant(&x);
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    for (size_t offset = 0; offset <= 4; offset += 4) { // aligned or not
        char      *memory = malloc(64 + 24 + 4);
        HoloTensor y      = {.dtype = HOLO_F32, .rank = 2, .dim = {2, 3}, .data = memory + 32 + offset};
        memset(memory, 0x55, 64 + 24 + 4);
        EXPECT_OK(holo_session_set_output(r.session, 0, y.data, 24, &error));
        EXPECT_OK(holo_session_run(r.session, &error));
        expect_relu(&y, &want);
        assert_ptr_equal(output_of(&r, 0).data, y.data);
        for (size_t i = 0; i < 64 + 24 + 4; i++)
            if (i < 32 + offset || i >= 32 + offset + 24) assert_int_equal(memory[i], 0x55);
        EXPECT_OK(holo_session_set_output(r.session, 0, NULL, 0, &error));
        free(memory);
        EXPECT_OK(holo_session_run(r.session, &error)); // back in the session's memory
        y = output_of(&r, 0);
        expect_relu(&y, &want);
    }
    char small[16];
    EXPECT_OK(holo_session_set_output(r.session, 0, small, sizeof small, &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_ARGUMENT,
                "output y needs 24 bytes; the memory given has 16");
    EXPECT_FAIL(holo_session_set_output(r.session, 1, small, sizeof small, &error), HOLO_BAD_ARGUMENT, "no output 1");
    end(&r);
    free(x.data);
    free(want.data);
}

// A model that gives its input, a constant and one value under two names: all of them end in the caller's memory.
static void test_outputs_that_no_step_writes(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("pass.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "3");
    for (int i = 0; i < 4; i++) onnx_output(&m.graph, (const char *[]){"a", "c", "r", "s"}[i], HOLO_F32, "3");
    onnx_constant(&m.graph, "c", HOLO_F32, "3", (float[]){7, 8, 9}, 12);
    onnx_node(&m.graph, "Identity", "x", "a", "");
    onnx_node(&m.graph, "Relu", "x", "r", "");
    onnx_node(&m.graph, "Relu", "x", "s", "");
    onnx_save(&m, path);
    Run         r          = begin(path);
    float       x[3]       = {-1, 2, 3}, y[4][4] __attribute__((aligned(16)));
    const float want[4][3] = {{-1, 2, 3}, {7, 8, 9}, {0, 2, 3}, {0, 2, 3}};
    EXPECT_OK(holo_session_set_input(r.session, 0, &(HoloTensor){.dtype = HOLO_F32, .rank = 1, .dim = {3}, .data = x},
                                     &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    for (int i = 0; i < 4; i++) assert_memory_equal(output_of(&r, i).data, want[i], sizeof want[i]);
    for (int i = 0; i < 4; i++) EXPECT_OK(holo_session_set_output(r.session, i, y[i], sizeof want[i], &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    for (int i = 0; i < 4; i++) assert_memory_equal(y[i], want[i], sizeof want[i]);
    end(&r);
}

// Outputs in memory that is also an input's, or another output's: what is still read stays as it is, and what is copied
// last counts.
static void test_outputs_over_inputs(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("over.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "8");
    onnx_input(&m.graph, "i", HOLO_I64, "4");
    onnx_output(&m.graph, "taken", HOLO_I64, "4,4");
    onnx_output(&m.graph, "r", HOLO_F32, "8");
    onnx_output(&m.graph, "s", HOLO_F32, "8");
    onnx_output(&m.graph, "same", HOLO_F32, "8");
    onnx_output(&m.graph, "index", HOLO_I64, "4");
    onnx_constant(&m.graph, "table", HOLO_I64, "2,4", (int64_t[]){90, 91, 92, 93, 94, 95, 96, 97}, 64);
    onnx_node(&m.graph, "Gather", "table,i", "taken", "");
    onnx_node(&m.graph, "Relu", "x", "r", "");
    onnx_node(&m.graph, "Sub", "x,r", "s", "");
    onnx_node(&m.graph, "Identity", "x", "same", "");
    onnx_node(&m.graph, "Identity", "i", "index", "");
    onnx_save(&m, path);
    Run           r    = begin(path);
    const float   x[8] = {-1, 2, -3, 4, -5, 6, -7, 8}, s[8] = {-1, 0, -3, 0, -5, 0, -7, 0};
    const int64_t chosen[4] = {1, 0, 0, 1}, first[4] = {94, 95, 96, 97};
    char          memory[512] __attribute__((aligned(64)));
    for (size_t at = 0; at <= 48; at += 8) { // of the outputs; exactly the inputs' place, or a part of it
        memcpy(memory, x, sizeof x);
        memcpy(memory + 256, chosen, sizeof chosen);
        const HoloTensor in[] = {{.dtype = HOLO_F32, .rank = 1, .dim = {8}, .data = memory},
                                 {.dtype = HOLO_I64, .rank = 1, .dim = {4}, .data = memory + 256}};
        for (int i = 0; i < 2; i++) EXPECT_OK(holo_session_set_input(r.session, i, &in[i], &error));
        float y[2][8];
        EXPECT_OK(holo_session_set_output(r.session, 0, memory + 256 + at, 128, &error));
        EXPECT_OK(holo_session_set_output(r.session, 1, memory + at, 32, &error));
        EXPECT_OK(holo_session_set_output(r.session, 2, y[0], 32, &error));
        EXPECT_OK(holo_session_set_output(r.session, 3, y[1], 32, &error));
        EXPECT_OK(holo_session_set_output(r.session, 4, memory + 448, 32, &error));
        EXPECT_OK(holo_session_run(r.session, &error));
        assert_memory_equal(memory + 256 + at, first, sizeof first);
        assert_memory_equal(y[0], s, sizeof s);
        assert_memory_equal(y[1], x, sizeof x);
        assert_memory_equal(memory + 448, chosen, sizeof chosen);
        for (int i = 0; i < 8; i++) assert_true(((float *)(memory + at))[i] == (x[i] > 0 ? x[i] : 0));
        memcpy(memory, x, sizeof x);
        EXPECT_OK(holo_session_set_output(r.session, 1, y[1], 32, &error));            // both in one place
        EXPECT_OK(holo_session_set_output(r.session, 3, memory + at / 2, 32, &error)); // an input moves over itself
        memcpy(memory + 256, chosen, sizeof chosen);
        EXPECT_OK(holo_session_run(r.session, &error));
        assert_memory_equal(y[0], s, sizeof s);
        assert_memory_equal(memory + at / 2, x, sizeof x);
    }
    end(&r);
}

// ---- sizes

static void test_sizes_in_turn(void **state)
{
    (void)state;
    static const int64_t sizes[] = {4, 1, 33, 0, 4, 7, 33, 4};
    Run                  r       = begin(model_dynamic());
    for (int i = 0; i < HOLO_COUNT(sizes); i++) {
        int64_t    n = sizes[i];
        size_t     size;
        HoloTensor x = made(in_type(&r, 0), 1, n), z = made(in_type(&r, 1), 2, n);
        uint8_t   *want = answer(r.model, NULL, 1, n, &size); // of a session that has seen no other size
        EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
        EXPECT_OK(holo_session_set_input(r.session, 1, &z, &error));
        EXPECT_OK(holo_session_run(r.session, &error));
        HoloTensor y = output_of(&r, 0), both = output_of(&r, 1);
        assert_int_equal(y.dim[0], n);
        assert_int_equal(both.dim[0], 2 * n);
        if (n) {
            expect_same_bytes(y.data, holo_tensor_bytes(&y), want, size - holo_tensor_bytes(&both));
            assert_memory_equal(both.data, x.data, holo_tensor_bytes(&x));
            assert_memory_equal((char *)both.data + holo_tensor_bytes(&x), z.data, holo_tensor_bytes(&z));
        }
        free(want);
        free(x.data);
        free(z.data);
    }
    end(&r);
}

static void test_sizes_that_need_too_much_memory(void **state)
{
    (void)state;
    Run        r = begin(model_dynamic());
    HoloTensor x = made(in_type(&r, 0), 1, 2), huge = x;
    huge.dim[0] = INT64_C(1) << 44; // times 24 bytes: a number, but more than addresses reach
    EXPECT_OK(holo_session_set_input(r.session, 0, &huge, &error));
    EXPECT_OK(holo_session_set_input(r.session, 1, &huge, &error));
    HoloError  error  = {0};
    HoloStatus status = holo_session_run(r.session, &error);
    assert_true(status == HOLO_NO_MEMORY || status == HOLO_BAD_ARCHIVE || status == HOLO_BAD_INPUT);
    assert_true(*error.text);
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    EXPECT_OK(holo_session_set_input(r.session, 1, &x, &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    end(&r);
    free(x.data);
}

// A model that was exported for one batch and says that it takes any.
static void test_sizes_that_the_model_cannot_take(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("fixed_within.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "N,6");
    onnx_output(&m.graph, "y", HOLO_F32, NULL);
    onnx_ints(&m.graph, "shape", "2", (int64_t[]){4, 3});
    onnx_node(&m.graph, "Relu", "x", "r", "");
    onnx_node(&m.graph, "Reshape", "r,shape", "f", "");
    onnx_node(&m.graph, "Neg", "f", "y", "");
    onnx_save(&m, path);
    Run        r = begin(path);
    HoloTensor x = made(in_type(&r, 0), 1, 3);
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_INPUT,
                "does not accept inputs of these sizes: value f would be f32[4,3], made from f32[3,6]");
    x.dim[0] = 2;
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    end(&r);
    free(x.data);
}

// What depends on values changes its size from run to run.
static void test_sizes_that_depend_on_values(void **state)
{
    (void)state;
    Run        r = begin(model_data());
    HoloTensor x = made(in_type(&r, 0), 1, 1);
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    for (int mask = 63; mask >= 0; mask -= 3) {
        int64_t positive = 0;
        for (int i = 0; i < 6; i++) {
            ((float *)x.data)[i] = mask >> i & 1 ? (float)(i + 1) : -1;
            positive += mask >> i & 1;
        }
        EXPECT_OK(holo_session_run(r.session, &error));
        HoloTensor places = output_of(&r, 0), dense = output_of(&r, 1);
        assert_int_equal(places.dim[1], positive);
        assert_int_equal(dense.dim[0], positive);
        for (int64_t k = 0; k < positive; k++)
            assert_true(((const float *)dense.data)[k] == (float)(((const int64_t *)places.data)[k] + 1));
    }
    end(&r);
    free(x.data);
}

// What an operator prepares from its attributes serves every run and every size, and is made once.
static void test_prepared_once(void **state)
{
    (void)state;
    static const int64_t sizes[] = {2, 2, 5, 1, 5, 2, 3, 2, 5};
    OnnxModel            m       = {0};
    const char          *path    = temp_path("labels.onnx");
    size_t               memory  = 0;
    onnx_input(&m.graph, "x", HOLO_I64, "N");
    onnx_output(&m.graph, "y", HOLO_I64, "N");
    onnx_node(&m.graph, "ai.onnx.ml::LabelEncoder", "x", "y",
              "keys_int64s=[3,1] values_int64s=[30,10] default_int64=7");
    onnx_opset(&m, "", 17);
    onnx_opset(&m, "ai.onnx.ml", 2);
    onnx_save(&m, path);
    int64_t    data[5] = {1, 3, 2, 3, 1}, want[5] = {10, 30, 7, 30, 10};
    HoloTensor x = {.dtype = HOLO_I64, .rank = 1, .data = data};
    Run        r = begin(path);
    for (int i = 0; i < HOLO_COUNT(sizes); i++) {
        x.dim[0] = sizes[i];
        EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
        EXPECT_OK(holo_session_run(r.session, &error));
        assert_memory_equal(output_of(&r, 0).data, want, (size_t)sizes[i] * sizeof *want);
        if (i == 2) memory = holo_session_memory(r.session);
    }
    assert_int_equal(holo_session_memory(r.session), memory);
    const void *kept = r.session->frames[0]->steps[0].prepared;
    assert_non_null(kept);
    EXPECT_OK(holo_session_run(r.session, &error));
    assert_ptr_equal(r.session->frames[0]->steps[0].prepared, kept);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_sizes_as_text),
        cmocka_unit_test(test_packed_constants),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_inputs_are_read_where_they_lie),
        cmocka_unit_test(test_input_in_the_sessions_memory),
        cmocka_unit_test(test_output_in_the_callers_memory),
        cmocka_unit_test(test_outputs_that_no_step_writes),
        cmocka_unit_test(test_outputs_over_inputs),
        cmocka_unit_test(test_sizes_in_turn),
        cmocka_unit_test(test_sizes_that_need_too_much_memory),
        cmocka_unit_test(test_sizes_that_the_model_cannot_take),
        cmocka_unit_test(test_sizes_that_depend_on_values),
        cmocka_unit_test(test_prepared_once),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
