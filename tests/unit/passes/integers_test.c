// integers_test.c - a quantized model end to end: what its plan gives is, bit by bit, what the integers give when they
// are evaluated plainly; and in class exact what the model gives as it is written.
#include "support/models.h"

#include "passes/passes.h"
#include "runtime/frame/frame.h"

#include <stdlib.h>
#include <string.h>

#define NINE(a) #a ", -3, 5, 7, 0, -100, 127, 2, 1"

static const char text[] =
    "graph g(x: f32[n,3,9,8]) -> (y) {\n"
    "    const s: f32[] = {0.01}\n"
    "    const z: u8[] = {3}\n"
    "    const none: u8[] = {0}\n"
    "    const w: i8[4,3,3,3] = {" NINE(1) ", " NINE(2) ", " NINE(-3) ", " NINE(4) ", " NINE(-128) ", " NINE(6) ", " NINE(7) ", " NINE(8) ", " NINE(
        9) ", " NINE(10) ", " NINE(-11) ", " NINE(12) "}\n"
                                                      "    const ws: f32[4] = {0.02, 0.01, 0.03, 0.02}\n"
                                                      "    const b: f32[4] = {1, -0.5, 0.25, 0}\n"
                                                      "    const d: i8[4,1,3,3] = {" NINE(1) ", " NINE(20) ", " NINE(-30) ", " NINE(
                                                          40) "}\n"
                                                              "    const ms: f32[] = {0.05}\n"
                                                              "    q = QuantizeLinear@13(x, s, z)\n"
                                                              "    f = DequantizeLinear@13(q, s, z)\n"
                                                              "    dw = DequantizeLinear@13(w, ws) {axis=0}\n"
                                                              "    c = Conv@11(f, dw, b) {pads=[1,1,1,1]}\n"
                                                              "    r = Relu@14(c)\n"
                                                              "    rq = QuantizeLinear@13(r, ms, none)\n"
                                                              "    rf = DequantizeLinear@13(rq, ms, none)\n"
                                                              "    dd = DequantizeLinear@13(d, s)\n"
                                                              "    e = Conv@11(rf, dd) {group=4, pads=[1,1,1,1]}\n"
                                                              "    eq = QuantizeLinear@13(e, ms, z)\n"
                                                              "    ef = DequantizeLinear@13(eq, ms, z)\n"
                                                              "    a = Add@14(ef, rf)\n"
                                                              "    aq = QuantizeLinear@13(a, ms, z)\n"
                                                              "    af = DequantizeLinear@13(aq, ms, z)\n"
                                                              "    m = MaxPool@12(af) {kernel_shape=[2,2], strides=[2,2]}\n"
                                                              "    mq = QuantizeLinear@13(m, ms, z)\n"
                                                              "    y = DequantizeLinear@13(mq, ms, z)\n"
                                                              "}\n";

// Runs the model's plan beside plain evaluation, of the model or, in class fused, of its integers.
static void run(bool is_exact)
{
    HoloArena       arena   = {0};
    HoloPassOptions options = {.is_exact = is_exact};
    HoloGraph      *graph, *plain;
    HoloModel      *model;
    HoloSession    *session;
    HoloTensor      want, got;
    uint32_t        kernels;
    int             changes = 0;
    EXPECT_OK(holo_graph_parse(&arena, text, &plain, &error));
    EXPECT_OK(holo_graph_infer(plain, &error));
    if (!is_exact) EXPECT_OK(holo_pass_run(plain, "integers", &changes, &error));
    assert_int_equal(changes > 0, !is_exact);
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, &options, &error));
    EXPECT_OK(model_of(graph, is_exact ? HOLO_EXACT : HOLO_FUSED, &model, &kernels, &error));
    HoloTensor        x    = made(&plain->inputs[0]->type, 3, 2);
    const HoloTensor *in[] = {&x};
    EXPECT_OK(holo_graph_eval(plain, in, &want, &arena, NULL, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &got, &error));
    double most = 0;
    for (int64_t i = 0; i < holo_tensor_count(&want); i++) {
        double a = holo_get_f(&got, i), b = holo_get_f(&want, i);
        assert_true(is_exact ? a - b < 0.051 && b - a < 0.051 : a == b); // exact: sums of f32 may round a step away
        most = b > most ? b : most;
    }
    assert_true(most > 0.5);
    assert_true(kernels >= 5);
    free(x.data);
    holo_session_destroy(session);
    holo_model_close(model);
    holo_arena_deinit(&arena);
}

static void test_fused(void **state)
{
    (void)state;
    run(false);
}

static void test_exact(void **state)
{
    (void)state;
    run(true);
}

// ---- each thing that the pass makes is judged by what was written

static HoloNode *node_find(const HoloGraph *graph, const char *type)
{
    for (int i = 0; i < graph->node_count; i++)
        if (!strcmp(graph->nodes[i]->type, type)) return graph->nodes[i];
    return NULL;
}

// Evaluates the judged model, with one input of a node that the pass has made put off: as a pass would that is wrong.
static HoloStatus judged(const char *type, int input, HoloValue *(*put_off)(HoloGraph *, HoloValue *))
{
    HoloArena  arena = {0};
    HoloError  error = {0};
    HoloGraph *graph;
    HoloTensor got;
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(holo_pass_integers_judged(graph, &holo_targets_cpu, &error));
    assert_non_null(node_find(graph, "Agreed"));
    HoloNode *node = type ? node_find(graph, type) : NULL;
    assert_int_equal(!type, !node);
    if (node) node->in[input] = put_off(graph, node->in[input]);
    HoloTensor        x      = made(&graph->inputs[0]->type, 3, 2);
    const HoloTensor *in[]   = {&x};
    HoloStatus        status = holo_graph_eval(graph, in, &got, &arena, NULL, &error);
    if (status) assert_non_null(strstr(error.text, "as the model has it"));
    free(x.data);
    holo_arena_deinit(&arena);
    return status;
}

static HoloValue *scaled(HoloGraph *graph, HoloValue *value)
{
    HoloTensor t = value->type;
    float     *x = HOLO_NEW(graph->arena, float, 1);
    assert_true(x && holo_tensor_count(&t) == 1);
    *x     = (float)holo_get_f(&value->type, 0) * 1.1f;
    t.data = x;
    return holo_graph_constant(graph, "off", &t);
}

static HoloValue *shifted(HoloGraph *graph, HoloValue *value)
{
    HoloTensor t = value->type;
    uint8_t   *x = HOLO_NEW(graph->arena, uint8_t, 1);
    assert_true(x && holo_tensor_count(&t) == 1);
    *x     = (uint8_t)(holo_get_f(&value->type, 0) + 2);
    t.data = x;
    return holo_graph_constant(graph, "off", &t);
}

static void test_judged(void **state)
{
    (void)state;
    assert_int_equal(judged(NULL, 0, NULL), HOLO_OK);
    assert_int_equal(judged("QLinearConv", 1, scaled), HOLO_VERIFY);
    assert_int_equal(judged("QLinearConv", 7, shifted), HOLO_VERIFY);
    assert_int_equal(judged("QLinearAdd", 6, scaled), HOLO_VERIFY);
}

// Pairs that other passes bring together stay two: the model that verification evaluates has two.
static void test_late(void **state)
{
    static const char twice[] = "graph g(x: f32[4,3]) -> (y) {\n"
                                "    const s: f32[] = {0.01}\n"
                                "    const z: u8[] = {100}\n"
                                "    const t: f32[] = {0.013}\n"
                                "    const none: u8[] = {0}\n"
                                "    const shape: i64[2] = {4, 3}\n"
                                "    a = QuantizeLinear@13(x, s, z)\n"
                                "    b = DequantizeLinear@13(a, s, z)\n"
                                "    c = Reshape@14(b, shape)\n"
                                "    d = QuantizeLinear@13(c, t, none)\n"
                                "    y = DequantizeLinear@13(d, t, none)\n"
                                "}\n";
    HoloArena         arena   = {0};
    HoloGraph        *graph;
    (void)state;
    EXPECT_OK(holo_graph_parse(&arena, twice, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, NULL, &error));
    assert_null(node_find(graph, "Reshape"));
    const HoloNode *last = graph->outputs[0]->producer;
    assert_string_equal(last->type, "DequantizeLinear");
    assert_true((float)holo_get_f(&last->in[1]->type, 0) == 0.013f);
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fused), cmocka_unit_test(test_exact),
                                       cmocka_unit_test(test_judged), cmocka_unit_test(test_late)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
