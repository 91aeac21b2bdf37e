// session_test.c - one session: inputs and outputs in the caller's memory and in its own, what does not fit, sizes bound
// in turn, views for DLPack, the profile.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/base.h"
#include "runtime/frame/frame.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A session of a model, for end().
typedef struct Run {
    HoloModel   *model;
    HoloSession *session;
} Run;

static Run begin(const char *path)
{
    Run r = {.model = compiled(path, HOLO_FUSED)};
    EXPECT_OK(holo_session_create(r.model, NULL, &r.session, &error));
    return r;
}

static void end(Run *r)
{
    holo_session_destroy(r->session);
    holo_model_close(r->model);
}

static const HoloTensor *in_type(const Run *r, int i)
{
    return &holo_model_input(r->model, i)->type;
}

static HoloTensor output_of(const Run *r, int i)
{
    HoloTensor view;
    EXPECT_OK(holo_session_output(r->session, i, &view, &error));
    return view;
}

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
    // Two inputs that should agree in N.
    bad        = x;
    bad.dim[0] = 1;
    EXPECT_OK(holo_session_set_input(r.session, 0, &x, &error));
    EXPECT_OK(holo_session_set_input(r.session, 1, &bad, &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_INPUT,
                "input z is f32[1,6]: the size of dimension 0 should be 2");
    // And after all that it still runs.
    EXPECT_OK(holo_session_set_input(r.session, 1, &x, &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    end(&r);
    free(x.data);
}

// ---- whose memory

static void expect_relu(const HoloTensor *y, const HoloTensor *plus_c)
{
    for (int i = 0; i < 6; i++) {
        float x = ((const float *)plus_c->data)[i];
        assert_true(((const float *)y->data)[i] == (x > 0 ? x : 0));
    }
}

// What the tiny model computes before its Relu.
static HoloTensor plus_constant(const HoloTensor *x)
{
    HoloRandom random = {1};
    float      c[3];
    HoloTensor t = made(x, 1, 1);
    for (int i = 0; i < 3; i++) c[i] = (float)(2 * holo_random_unit(&random) - 1);
    for (int i = 0; i < 6; i++) ((float *)t.data)[i] = ((const float *)x->data)[i] + c[i % 3];
    return t;
}

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
                "cannot take inputs of these sizes: value f is f32[4,3], made of f32[3,6]");
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
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_packed_constants),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_inputs_are_read_where_they_lie),
        cmocka_unit_test(test_input_in_the_sessions_memory),
        cmocka_unit_test(test_output_in_the_callers_memory),
        cmocka_unit_test(test_outputs_that_no_step_writes),
        cmocka_unit_test(test_sizes_in_turn),
        cmocka_unit_test(test_sizes_that_need_too_much_memory),
        cmocka_unit_test(test_sizes_that_the_model_cannot_take),
        cmocka_unit_test(test_sizes_that_depend_on_values),
        cmocka_unit_test(test_prepared_once),
        cmocka_unit_test(test_dlpack),
        cmocka_unit_test(test_dlpack_of_others),
        cmocka_unit_test(test_dlpack_from_session_to_session),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_watch_of_a_large_batch),
        cmocka_unit_test(test_profile_of_hostile_names),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
