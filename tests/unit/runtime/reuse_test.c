// reuse_test.c - steps that are left out because nothing they depend on has changed: the same bytes as ever, recomputed
// when sizes or inputs change, and never left out where they must not be.
#include "support/models.h"

#include "graph/graph.h"
#include "passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static HoloModel *model_from(const char *text)
{
    HoloArena  arena = {0};
    HoloGraph *graph;
    HoloModel *model;
    uint32_t   kernels;
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, NULL, &error));
    EXPECT_OK(model_of(graph, HOLO_FUSED, &model, &kernels, &error));
    holo_arena_deinit(&arena);
    return model;
}

// Runs the session on these inputs and compares all outputs with those of a session that has just been made.
static void expect_right(const HoloModel *model, HoloSession *session, const HoloTensor *inputs, const char *what)
{
    HoloSession *fresh;
    EXPECT_OK(holo_session_create(model, NULL, &fresh, &error));
    HoloSession *both[] = {session, fresh};
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < holo_model_input_count(model); i++)
            EXPECT_OK(holo_session_set_input(both[s], i, &inputs[i], &error));
        EXPECT_OK(holo_session_run(both[s], &error));
    }
    assert_int_equal(holo_session_kept_steps(fresh), 0);
    for (int i = 0; i < holo_model_output_count(model); i++) {
        HoloTensor have, want;
        EXPECT_OK(holo_session_output(session, i, &have, &error));
        EXPECT_OK(holo_session_output(fresh, i, &want, &error));
        size_t bytes = holo_tensor_bytes(&want);
        if (holo_tensor_bytes(&have) != bytes || memcmp(have.data, want.data, bytes))
            fail_msg("%s: output %d has other bytes", what, i);
    }
    holo_session_destroy(fresh);
}

static void fill(float *x, int count, int seed)
{
    for (int i = 0; i < count; i++) x[i] = (float)((i * 37 + seed * 101) % 97) / 97 - 0.5f;
}

// A mask and positions of dynamic sizes, a table of them, and a value of a size that only the run finds.
static const char sizes_text[] = "graph g(x: f32[B,N,4]) -> (y, z) {\n"
                                 "    const zero: i64[] = {0}\n"
                                 "    const one: i64[] = {1}\n"
                                 "    const half: f32[] = {0.5}\n"
                                 "    const last: i64[1] = {-1}\n"
                                 "    const col: i64[2] = {-1, 1}\n"
                                 "    s = Shape@13(x)\n"
                                 "    n = Gather@13(s, one)\n"
                                 "    r = Range@11(zero, n, one)\n"
                                 "    f = Cast@13(r) {to=1}\n"
                                 "    h = Mul@14(f, half)\n"
                                 "    c = Cos@7(h)\n"
                                 "    p = Reshape@13(c, col)\n"
                                 "    a = Add@14(x, p)\n"
                                 "    y = Neg@13(a)\n"
                                 "    w = NonZero@13(c)\n"
                                 "    v = Cast@13(w) {to=1}\n"
                                 "    u = ReduceSum@13(v)\n"
                                 "    z = Mul@14(u, x)\n"
                                 "}\n";

static void test_sizes(void **state)
{
    (void)state;
    HoloModel   *model = model_from(sizes_text);
    HoloSession *session;
    float        x[2 * 9 * 4];
    HoloTensor   input = {.dtype = HOLO_F32, .rank = 3, .dim = {2, 5, 4}, .data = x};
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int round = 0; round < 8; round++) {
        bool same = round % 3 != 0; // as the run before; another length
        if (!same) input.dim[1] = 5 + round / 3 * 2;
        fill(x, 2 * 9 * 4, round);
        expect_right(model, session, &input, "sizes");
        if (same)
            assert_true(holo_session_kept_steps(session) >= 4);
        else
            assert_int_equal(holo_session_kept_steps(session), 0);
    }
    // A run that fails is no run to go on from.
    HoloTensor bad    = input;
    bad.dim[2]        = 3;
    HoloError ignored = {0};
    assert_true(holo_session_set_input(session, 0, &bad, &ignored) || holo_session_run(session, &ignored));
    expect_right(model, session, &input, "after a failure");
    holo_session_cancel(session);
    ignored = (HoloError){0};
    assert_int_equal(holo_session_run(session, &ignored), HOLO_CANCELLED);
    expect_right(model, session, &input, "after a cancelled run");
    assert_int_equal(holo_session_kept_steps(session), 0);
    expect_right(model, session, &input, "again");
    assert_true(holo_session_kept_steps(session) >= 4);
    holo_session_destroy(session);
    holo_model_close(model);
}

// What follows from a alone, from b alone, and from both; an output that is of a alone; something written in place.
static const char two_text[] = "graph g(a: f32[4,64], b: f32[4,64]) -> (y, e, k) {\n"
                               "    q = MatMul@13(a, w)\n"
                               "    r = Relu@14(q)\n"
                               "    s = MatMul@13(r, w)\n"
                               "    e = Softmax@13(s)\n"
                               "    c = MatMul@13(b, w)\n"
                               "    d = LayerNormalization@17(c, g)\n"
                               "    m = MatMul@13(d, w)\n"
                               "    t = Add@14(s, m)\n"
                               "    y = Softmax@13(t)\n"
                               "    k = Concat@13(s, m) {axis=0}\n"
                               "}\n";

static HoloModel *model_two(void)
{
    HoloText text = {0};
    holo_text_add(&text, "%.*s    const w: f32[64,64] = {", (int)(strchr(two_text, '\n') + 1 - two_text), two_text);
    for (int i = 0; i < 64 * 64; i++) holo_text_add(&text, "%s%.3f", i ? ", " : "", ((i * 29) % 61 - 30) / 100.0);
    holo_text_add(&text, "}\n    const g: f32[64] = {");
    for (int i = 0; i < 64; i++) holo_text_add(&text, "%s1.0", i ? ", " : "");
    holo_text_add(&text, "}\n%s", strchr(two_text, '\n') + 1);
    HoloModel *model = model_from(text.data);
    holo_text_deinit(&text);
    return model;
}

static void test_inputs(void **state)
{
    (void)state;
    HoloModel   *model = model_two();
    HoloSession *session;
    static float a[256], b[256];
    HoloTensor   inputs[2];
    uint64_t     hits, misses;
    for (int i = 0; i < 2; i++)
        inputs[i] = (HoloTensor){.dtype = HOLO_F32, .rank = 2, .dim = {4, 64}, .data = i ? b : a};
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    fill(a, 256, 1);
    for (int round = 0; round < 3; round++) { // without a memo nothing is compared
        fill(b, 256, round);
        expect_right(model, session, inputs, "without a memo");
        assert_int_equal(holo_session_kept_steps(session), 0);
    }
    EXPECT_OK(holo_session_set_memo(session, 1 << 20, &error));
    expect_right(model, session, inputs, "the first");
    assert_int_equal(holo_session_kept_steps(session), 0);
    for (int round = 10; round < 14; round++) {
        fill(round % 2 ? b : a, 256, round); // where it was
        expect_right(model, session, inputs, "one changed");
        assert_true(holo_session_kept_steps(session) >= 1);
    }
    fill(a, 256, 20);
    fill(b, 256, 21);
    expect_right(model, session, inputs, "both changed");
    assert_int_equal(holo_session_kept_steps(session), 0);
    expect_right(model, session, inputs, "none changed"); // known as a whole
    holo_session_memo_counts(session, &hits, &misses);
    assert_int_equal(hits, 1);
    fill(b, 256, 22);
    static float y[256];
    EXPECT_OK(holo_session_set_output(session, 0, y, sizeof y, &error));
    expect_right(model, session, inputs, "into memory of the caller");
    assert_true(holo_session_memory(session) > 0);
    // Too little room for what would be kept: all is computed.
    EXPECT_OK(holo_session_set_memo(session, 4096, &error));
    for (int round = 30; round < 33; round++) {
        fill(b, 256, round);
        expect_right(model, session, inputs, "no room");
        assert_int_equal(holo_session_kept_steps(session), 0);
    }
    EXPECT_OK(holo_session_set_memo(session, 0, &error));
    fill(b, 256, 40);
    expect_right(model, session, inputs, "no longer");
    assert_int_equal(holo_session_kept_steps(session), 0);
    holo_session_destroy(session);
    holo_model_close(model);
}

// Random numbers follow from nothing: neither they nor what follows from them is kept, as what they are made of is.
static void test_random(void **state)
{
    (void)state;
    HoloModel   *model = model_from("graph g(x: f32[N]) -> (y) {\n"
                                      "    s = Shape@13(x)\n"
                                      "    c = ConstantOfShape@9(s)\n"
                                      "    r = RandomUniformLike@1(c)\n"
                                      "    n = Neg@13(r)\n"
                                      "    y = Add@14(x, n)\n"
                                      "}\n");
    HoloSession *session;
    float        x[64] = {0};
    HoloTensor   input = {.dtype = HOLO_F32, .rank = 1, .dim = {64}, .data = x};
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int round = 0; round < 3; round++) {
        EXPECT_OK(holo_session_set_input(session, 0, &input, &error));
        EXPECT_OK(holo_session_run(session, &error));
        assert_int_equal(holo_session_kept_steps(session), round ? 1 : 0); // ConstantOfShape
    }
    holo_session_destroy(session);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
