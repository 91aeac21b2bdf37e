// states_test.c - states: kept from run to run, changed in place, grown, and never seen by callers as inputs.
#include "support/models.h"

#include "graph/graph.h"
#include "passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A cache of vectors of two numbers, and the attention of new tokens to all of their text.
static const char text[] = "graph g(x: f32[B,S,2], rows: i64[B] = index, lengths: i64[B] = 0,\n"
                           "        keys: f32[slots,context,2] = state[B,S,2]) -> (y) {\n"
                           "    all = hologram::CacheWrite@1(keys, x, rows, lengths)\n"
                           "    y = hologram::CachedAttention@1(x, all, all, rows, lengths) {num_heads=1, scale=1.0}\n"
                           "}";

static HoloModel *model_from(const char *graph_text)
{
    HoloArena  arena = {0};
    HoloGraph *graph;
    HoloModel *model;
    uint32_t   kernels;
    EXPECT_OK(holo_graph_parse(&arena, graph_text, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, NULL, &error));
    EXPECT_OK(model_of(graph, HOLO_FUSED, &model, &kernels, &error));
    holo_arena_deinit(&arena);
    return model;
}

static HoloTensor tensor_of(HoloDtype dtype, int rank, const int64_t *dim, const void *data)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = (int8_t)rank, .data = (void *)(uintptr_t)data};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return t;
}

// Runs `count` tokens of one text in a slot behind `length` others. The outputs go to `out`.
static void run(HoloSession *session, const float *x, int64_t count, int64_t row, int64_t length, float *out)
{
    HoloTensor tokens  = tensor_of(HOLO_F32, 3, (int64_t[]){1, count, 2}, x), y;
    HoloTensor rows    = tensor_of(HOLO_I64, 1, (int64_t[]){1}, &row),
               lengths = tensor_of(HOLO_I64, 1, (int64_t[]){1}, &length);
    EXPECT_OK(holo_session_set_input(session, 0, &tokens, &error));
    EXPECT_OK(holo_session_set_input(session, 1, &rows, &error));
    EXPECT_OK(holo_session_set_input(session, 2, &lengths, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    memcpy(out, y.data, (size_t)count * 2 * sizeof *out);
}

static const float tokens[] = {0.5f, -1, 2, 0.25f, -0.75f, 1.5f, 1, 1, 0.1f, -0.3f};
enum { TOKENS = 5 };

static void expect_near(const float *have, const float *want, int count)
{
    for (int i = 0; i < count; i++)
        if (!(have[i] - want[i] < 1e-6f && want[i] - have[i] < 1e-6f))
            fail_msg("element %d is %g, not %g", i, (double)have[i], (double)want[i]);
}

static void test_ports(void **state)
{
    (void)state;
    HoloModel *model = model_from(text);
    assert_int_equal(holo_model_input_count(model), 3);
    assert_int_equal(holo_model_input_find(model, "keys"), -1);
    assert_int_equal(holo_model_state_count(model), 1);
    assert_string_equal(holo_model_state(model, 0)->name, "keys");
    assert_null(holo_model_state(model, 1));
    assert_null(holo_model_state(model, -1));
    holo_model_close(model);
}

// A text token by token gives what it gives as a whole, whatever another slot holds, and while the caches grow.
static void test_goes_on(void **state)
{
    (void)state;
    HoloModel   *model = model_from(text);
    HoloSession *session;
    float        whole[2 * TOKENS], one[2 * TOKENS], other[2 * TOKENS];
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    run(session, tokens, TOKENS, 0, 0, whole);
    holo_session_destroy(session);
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_size(session, "slots", 3, &error));
    EXPECT_OK(holo_session_set_size(session, "context", 2, &error));
    for (int i = 0; i < TOKENS; i++) {
        EXPECT_OK(holo_session_set_size(session, "context", i + 1, &error));
        run(session, tokens + 2 * i, 1, 1, i, one + 2 * i);
        run(session, tokens, 1, 2, 0, other); // another text
    }
    expect_near(one, whole, 2 * TOKENS);
    HoloTensor view;
    EXPECT_OK(holo_session_state(session, 0, &view, &error));
    assert_int_equal(view.dim[0], 3);
    assert_int_equal(view.dim[1], TOKENS);
    assert_memory_equal((char *)view.data + TOKENS * 2 * sizeof(float), tokens, sizeof tokens);
    // What is written to a view is what the next run sees.
    memcpy(view.data, (char *)view.data + TOKENS * 2 * sizeof(float), sizeof tokens);
    run(session, tokens + 8, 1, 0, 4, other);
    expect_near(other, whole + 8, 2);
    holo_session_destroy(session);
    holo_model_close(model);
}

static void expect_failure(HoloSession *session, int64_t row, int64_t length, const char *words)
{
    HoloError  error   = {0};
    HoloTensor x       = tensor_of(HOLO_F32, 3, (int64_t[]){1, 1, 2}, tokens);
    HoloTensor rows    = tensor_of(HOLO_I64, 1, (int64_t[]){1}, &row),
               lengths = tensor_of(HOLO_I64, 1, (int64_t[]){1}, &length);
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_set_input(session, 1, &rows, &error));
    EXPECT_OK(holo_session_set_input(session, 2, &lengths, &error));
    error = (HoloError){0};
    assert_int_equal(holo_session_run(session, &error), HOLO_BAD_INPUT);
    assert_non_null(strstr(error.text, words));
}

static void test_refused(void **state)
{
    (void)state;
    HoloModel   *model = model_from(text);
    HoloSession *session;
    HoloTensor   view;
    HoloError    error = {0};
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    assert_int_equal(holo_session_state(session, 0, &view, &error), HOLO_BAD_ARGUMENT);
    error = (HoloError){0};
    assert_int_equal(holo_session_set_size(session, "nothing", 3, &error), HOLO_BAD_ARGUMENT);
    EXPECT_OK(holo_session_set_size(session, "slots", 2, &error));
    EXPECT_OK(holo_session_set_size(session, "context", 4, &error));
    expect_failure(session, 2, 0, "slot 2");
    expect_failure(session, -1, 0, "slot -1");
    expect_failure(session, 0, 4, "room for 4 tokens");
    expect_failure(session, 0, -1, "room for 4 tokens");
    expect_failure(session, 0, INT64_MAX, "room for 4 tokens");
    error = (HoloError){0};
    assert_int_equal(holo_session_set_memo(session, 1 << 20, &error), HOLO_UNSUPPORTED);
    holo_session_destroy(session);
    holo_model_close(model);
}

// A state that two nodes read cannot be changed in place.
static void test_read_twice(void **state)
{
    (void)state;
    HoloArena  arena = {0};
    HoloGraph *graph;
    HoloModel *model;
    uint32_t   kernels;
    HoloError  error = {0};
    EXPECT_OK(holo_graph_parse(&arena,
                               "graph g(x: f32[1,S,2], rows: i64[1] = index, lengths: i64[1] = 0,\n"
                               "        keys: f32[1,context,2] = state[1,S,2]) -> (y, z) {\n"
                               "    y = hologram::CacheWrite@1(keys, x, rows, lengths)\n"
                               "    z = Neg@13(keys)\n"
                               "}",
                               &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    assert_int_equal(model_of(graph, HOLO_FUSED, &model, &kernels, &error), HOLO_BAD_MODEL);
    assert_non_null(strstr(error.text, "state keys is read 2 times"));
    holo_arena_deinit(&arena);
}

// Narrow caches: the kernel reads them as the operator's eval does, with many queries and with one, in several blocks of
// keys, and they take the bytes that they should.
static void narrow_case(const char *type, int64_t row, int64_t tokens_count)
{
    enum { HEADS = 4, GROUPS = 2, SIZE = 20, ROOM = 600 };
    HoloArena    arena = {0};
    HoloGraph   *graph;
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   want, got, view;
    uint32_t     kernels;
    char         source[800];
    snprintf(
        source, sizeof source,
        "graph g(q: f32[B,S,%d], x: f32[B,S,%d], rows: i64[B] = index, lengths: i64[B] = 0,\n"
        "        keys: %s[slots,context,%d] = state[B,%d,%d]) -> (y) {\n"
        "    all = hologram::CacheWrite@1(keys, x, rows, lengths) {num_heads=%d}\n"
        "    y = hologram::CachedAttention@1(q, all, all, rows, lengths) {num_heads=%d, kv_num_heads=%d, scale=0.3}\n"
        "}",
        HEADS * SIZE, GROUPS * SIZE, type, (int)row, ROOM, (int)row, GROUPS, HEADS, GROUPS);
    EXPECT_OK(holo_graph_parse(&arena, source, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(model_of(graph, HOLO_FUSED, &model, &kernels, &error));
    assert_int_equal(kernels, 1);
    HoloTensor q = {.dtype = HOLO_F32, .rank = 3, .dim = {1, tokens_count, HEADS * SIZE}}, x = q;
    x.dim[2]               = GROUPS * SIZE;
    q                      = made(&q, 3, 1);
    x                      = made(&x, 5, 1);
    const HoloTensor *in[] = {&q, &x, NULL, NULL, NULL};
    EXPECT_OK(holo_graph_eval(graph, in, &want, &arena, NULL, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    // All but the last token together, and then the last one.
    for (int64_t at = 0, count = tokens_count - 1; at < tokens_count; at += count, count = 1) {
        HoloTensor some_q =
            tensor_of(HOLO_F32, 3, (int64_t[]){1, count, HEADS * SIZE}, (float *)q.data + at * HEADS * SIZE);
        HoloTensor some_x =
            tensor_of(HOLO_F32, 3, (int64_t[]){1, count, GROUPS * SIZE}, (float *)x.data + at * GROUPS * SIZE);
        HoloTensor length = tensor_of(HOLO_I64, 1, (int64_t[]){1}, &at);
        EXPECT_OK(holo_session_set_input(session, 0, &some_q, &error));
        EXPECT_OK(holo_session_set_input(session, 1, &some_x, &error));
        EXPECT_OK(holo_session_set_input(session, 3, &length, &error));
        EXPECT_OK(holo_session_run(session, &error));
        EXPECT_OK(holo_session_output(session, 0, &got, &error));
        const float *y = got.data, *all = (const float *)want.data + at * HEADS * SIZE;
        for (int64_t i = 0; i < count * HEADS * SIZE; i++)
            if (!(y[i] - all[i] < 1e-5f && all[i] - y[i] < 1e-5f))
                fail_msg("%s: element %d is %g, not %g", type, (int)i, (double)y[i], (double)all[i]);
    }
    EXPECT_OK(holo_session_state(session, 0, &view, &error));
    assert_int_equal(holo_tensor_bytes(&view), ROOM * row * (int64_t)holo_dtype_size((HoloDtype)view.dtype));
    free(q.data);
    free(x.data);
    holo_session_destroy(session);
    holo_model_close(model);
    holo_arena_deinit(&arena);
}

static void test_narrow(void **state)
{
    (void)state;
    const int64_t counts[] = {2, 17, 300, 530};
    for (int i = 0; i < HOLO_COUNT(counts); i++) {
        narrow_case("f32", 40, counts[i]);
        narrow_case("f16", 40, counts[i]);
        narrow_case("i8", 48, counts[i]);
    }
}

// The text form keeps what an input is where it is left out.
static void test_text(void **state)
{
    (void)state;
    HoloArena  arena = {0};
    HoloGraph *graph, *again;
    HoloText   first = {0}, second = {0};
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    holo_graph_print(graph, &first);
    EXPECT_OK(holo_graph_parse(&arena, first.data, &again, &error));
    holo_graph_print(again, &second);
    assert_string_equal(first.data, second.data);
    assert_non_null(strstr(first.data, "= state[B,S,2]"));
    assert_non_null(strstr(first.data, "= index"));
    holo_text_deinit(&first);
    holo_text_deinit(&second);
    holo_arena_deinit(&arena);
}

// A state whose size is that of an input becomes smaller and larger again: what both have in common stays.
static void test_other_sizes(void **state)
{
    (void)state;
    HoloModel *model =
        model_from("graph g(x: f32[n,2], keys: f32[n,2] = state) -> (y) { y = hologram::StateRead@1(keys) }");
    HoloSession         *session;
    HoloTensor           view;
    static float         x[2 * 9000];
    static const int64_t sizes[] = {9000, 2, 5000, 1};
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < 4; i++) {
        HoloTensor t = tensor_of(HOLO_F32, 2, (int64_t[]){sizes[i], 2}, x);
        EXPECT_OK(holo_session_set_input(session, 0, &t, &error));
        EXPECT_OK(holo_session_run(session, &error));
        EXPECT_OK(holo_session_state(session, 0, &view, &error));
        assert_int_equal(view.dim[0], sizes[i]);
        if (i) assert_true(((float *)view.data)[1] == 7);
        ((float *)view.data)[1] = 7;
    }
    holo_session_destroy(session);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ports),      cmocka_unit_test(test_goes_on),
                                       cmocka_unit_test(test_refused),    cmocka_unit_test(test_read_twice),
                                       cmocka_unit_test(test_text),       cmocka_unit_test(test_narrow),
                                       cmocka_unit_test(test_other_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
