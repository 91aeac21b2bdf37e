// cuda_states_case.h - states in the memory of a GPU, and outputs that stay there: a part of cuda_device_test.c.
#ifndef TESTS_CUDA_STATES_CASE_H
#define TESTS_CUDA_STATES_CASE_H

static const char caches[] =
    "graph g(x: f32[B,S,4], rows: i64[B] = index, lengths: i64[B] = 0,\n"
    "        keys: f32[slots,context,4] = state[B,S,4], values: f32[slots,context,4] = state[B,S,4]) -> (y, z) {\n"
    "    k = hologram::CacheWrite@1(keys, x, rows, lengths)\n"
    "    v = hologram::CacheWrite@1(values, x, rows, lengths)\n"
    "    y = hologram::CachedAttention@1(x, k, v, rows, lengths) {num_heads=1, scale=1.0}\n"
    "    z = Softmax@13(y)\n"
    "}\n";

static void token_run(HoloSession *session, int64_t count, int64_t length)
{
    static float   x[64];
    static int64_t at;
    HoloTensor     t = {.dtype = HOLO_F32, .rank = 3, .dim = {1, count, 4}, .data = x};
    HoloTensor     l = {.dtype = HOLO_I64, .rank = 1, .dim = {1}, .data = &at};
    at               = length;
    EXPECT_OK(holo_session_set_input(session, 0, &t, &error));
    EXPECT_OK(holo_session_set_input(session, 2, &l, &error));
    EXPECT_OK(holo_session_run(session, &error));
}

// A state is in the memory of the device. It is read, written and copied there, and keeps its contents when it grows.
static void expect_kept(HoloSession *session)
{
    float      numbers[8] = {1, -2, 0.5f, 4, 0, 0.25f, -8, 3}, got[8] = {0};
    HoloTensor view;
    EXPECT_FAIL(holo_session_state(session, 0, &view, &error), HOLO_UNSUPPORTED, "is in the memory of device cuda");
    EXPECT_OK(holo_session_state_type(session, 0, &view, &error));
    assert_null(view.data);
    assert_int_equal(view.dim[1], 4);
    EXPECT_OK(holo_session_state_write(session, 0, 16, numbers, sizeof numbers, &error)); // tokens 1 and 2
    EXPECT_OK(holo_session_state_copy(session, 0, 64, 16, sizeof numbers, &error));       // to slot 1
    EXPECT_OK(holo_session_set_size(session, "context", 9, &error));
    EXPECT_OK(holo_session_state_read(session, 0, 16, got, sizeof got, &error));
    assert_memory_equal(got, numbers, sizeof got);
    EXPECT_OK(holo_session_state_read(session, 0, 9 * 16, got, sizeof got, &error));
    assert_memory_equal(got, numbers, sizeof got);
    EXPECT_OK(holo_session_state_read(session, 0, 4 * 16, got, sizeof got, &error));
    for (int i = 0; i < 8; i++) assert_true(got[i] == 0); // what is new is zeros
    EXPECT_FAIL(holo_session_state_read(session, 0, 2, got, 4, &error), HOLO_BAD_ARGUMENT, "whole elements");
    EXPECT_FAIL(holo_session_state_read(session, 0, 2 * 9 * 16, got, 4, &error), HOLO_BAD_ARGUMENT, "288 bytes");
    EXPECT_FAIL(holo_session_state_copy(session, 0, 16, 0, 32, &error), HOLO_BAD_ARGUMENT, "overlap");
}

static void states_in(const char *numeric)
{
    HoloModel   *model = fake_model(caches, numeric, "ptx");
    HoloSession *session;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_size(session, "slots", 2, &error));
    EXPECT_OK(holo_session_set_size(session, "context", 4, &error));
    token_run(session, 1, 0);
    expect_kept(session);
    token_run(session, 1, 1); // with the new sizes: step by step, then recorded
    int alone = fake->launches;
    token_run(session, 1, 2);
    assert_int_equal(fake->graph_launches, 1);
    HoloFakeDriver before = *fake;
    for (int i = 3; i < 8; i++) token_run(session, 1, i);
    assert_int_equal(fake->graph_launches - before.graph_launches, 5);
    assert_int_equal(fake->takes, before.takes);
    assert_int_equal(fake->copies_in - before.copies_in, 5 * 3);
    assert_int_equal(fake->copies_out - before.copies_out, 5 * 2);
    bool converts = strcmp(numeric, "fused");
    assert_int_equal((fake->kernels - before.kernels) / 5, 2 + (converts ? 3 : 0)); // attention writes both caches
    assert_true(alone > 0);
    holo_session_destroy(session);
    holo_model_close(model);
    all_is_given_back();
}

static void states(void **state)
{
    static const char *const classes[] = {"fused", "f16", "bf16"};
    for (int i = 0; i < HOLO_COUNT(classes); i++) {
        fake_reset(state);
        states_in(classes[i]);
    }
}

// What nobody wants stays there.
static void left(void **state)
{
    (void)state;
    HoloModel   *model = fake_model(caches, "fused", "ptx");
    HoloSession *session;
    HoloTensor   y;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    token_run(session, 2, 0);
    int copies = fake->copies_out;
    EXPECT_OK(holo_session_leave_output(session, 0, true, &error));
    token_run(session, 2, 0);
    assert_int_equal(fake->copies_out - copies, 1);
    EXPECT_FAIL(holo_session_output(session, 0, &y, &error), HOLO_BAD_ARGUMENT, "left on its device");
    EXPECT_OK(holo_session_output(session, 1, &y, &error));
    EXPECT_OK(holo_session_leave_output(session, 0, false, &error));
    token_run(session, 2, 0);
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    EXPECT_FAIL(holo_session_leave_output(session, 2, true, &error), HOLO_BAD_ARGUMENT, "no output 2");
    holo_session_destroy(session);
    holo_model_close(model);
    all_is_given_back();
}

#endif
