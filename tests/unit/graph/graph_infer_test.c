// graph_infer_test.c - inference on graphs in text form: sizes as expressions, contents, control flow; and the
// operators that do not exist, order and cycles.
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static HoloArena arena;

static int teardown(void **state)
{
    (void)state;
    holo_arena_deinit(&arena);
    arena = (HoloArena){0};
    return 0;
}

static HoloGraph *inferred(const char *text)
{
    HoloError  error = {0};
    HoloGraph *graph;
    if (holo_graph_parse(&arena, text, &graph, &error)) fail_msg("%s", error.text);
    if (holo_graph_infer(graph, &error)) fail_msg("%s", error.text);
    if (holo_graph_verify(graph, &error)) fail_msg("%s", error.text);
    return graph;
}

// The value has that many dimensions, written so: "n,2*n+1,3"; contents are written the same way.
static void expect_dims(const HoloGraph *graph, const HoloDim *dim, int count, const char *want)
{
    char   text[500] = "";
    size_t size      = 0;
    for (int i = 0; i < count; i++) {
        if (i) text[size++] = ',';
        size += (size_t)holo_dim_print(graph->dims, dim[i], text + size, sizeof text - size);
    }
    assert_string_equal(text, want);
}

static void expect_shape(const HoloGraph *graph, const char *name, HoloDtype dtype, const char *want)
{
    const HoloValue *value = holo_graph_find(graph, name);
    assert_non_null(value);
    assert_int_equal(value->type.dtype, dtype);
    expect_dims(graph, value->type.dim, value->type.rank, want);
}

static void expect_contents(const HoloGraph *graph, const char *name, const char *want)
{
    const HoloValue *value = holo_graph_find(graph, name);
    assert_non_null(value);
    assert_non_null(value->contents);
    expect_dims(graph, value->contents, (int)holo_tensor_count(&value->type), want);
}

// What exporters write to split attention heads.
static void test_shape_arithmetic(void **state)
{
    (void)state;
    const HoloGraph *g = inferred("graph g(x: f32[batch,seq,768]) -> (z) {\n"
                                  "    const i0: i64[] = {0}\n"
                                  "    const i1: i64[] = {1}\n"
                                  "    const ax: i64[1] = {0}\n"
                                  "    const heads: i64[1] = {12}\n"
                                  "    const rest: i64[1] = {-1}\n"
                                  "    s = Shape@15(x)\n"
                                  "    b = Gather@13(s, i0)\n"
                                  "    n = Gather@13(s, i1)\n"
                                  "    b1 = Unsqueeze@13(b, ax)\n"
                                  "    n1 = Unsqueeze@13(n, ax)\n"
                                  "    shape1 = Concat@13(b1, n1, heads, rest) {axis=0}\n"
                                  "    y = Reshape@14(x, shape1)\n"
                                  "    t = Transpose@13(y) {perm=[0,2,1,3]}\n"
                                  "    bn = Mul@14(b1, n1)\n"
                                  "    shape2 = Concat@13(bn, rest) {axis=0}\n"
                                  "    z = Reshape@14(t, shape2)\n"
                                  "}\n");
    expect_contents(g, "s", "batch,seq,768");
    expect_contents(g, "bn", "batch*seq");
    expect_shape(g, "y", HOLO_F32, "batch,seq,12,64");
    expect_shape(g, "t", HOLO_F32, "batch,12,seq,64");
    expect_shape(g, "z", HOLO_F32, "batch*seq,768");
}

// What exporters write to resize by a factor: through floats and back.
static void test_float_arithmetic(void **state)
{
    (void)state;
    const HoloGraph *g = inferred("graph g(x: f32[1,3,h,w]) -> (size) {\n"
                                  "    const half: f32[] = {0.5}\n"
                                  "    const three: f32[] = {3.0}\n"
                                  "    const i2: i64[1] = {2}\n"
                                  "    const i4: i64[1] = {4}\n"
                                  "    s = Shape@15(x)\n"
                                  "    hw = Slice@13(s, i2, i4)\n"
                                  "    f = Cast@13(hw) {to=1}\n"
                                  "    m = Mul@14(f, half)\n"
                                  "    floor = Floor@13(m)\n"
                                  "    size = Cast@13(floor) {to=7}\n"
                                  "    d = Div@14(f, three)\n"
                                  "    up = Ceil@13(d)\n"
                                  "    cut = Cast@13(d) {to=6}\n"
                                  "    doubled = Add@14(m, m)\n"
                                  "}\n");
    expect_contents(g, "size", "h//2,w//2");
    expect_contents(g, "up", "(h+2)//3,(w+2)//3");
    expect_contents(g, "cut", "h//3,w//3");
    expect_contents(g, "doubled", "h,w");
    assert_null(holo_graph_find(g, "m")->contents);
}

// Comparisons that the bounds of sizes decide, and Where by them.
static void test_decidable(void **state)
{
    (void)state;
    const HoloGraph *g = inferred("graph g(x: f32[n,5], k: i64[1]) -> (w) {\n"
                                  "    const minus: i64[2] = {-1, -1}\n"
                                  "    const ones: i64[2] = {1, 1}\n"
                                  "    s = Shape@15(x)\n"
                                  "    e = Equal@13(s, minus)\n"
                                  "    w = Where@16(e, ones, s)\n"
                                  "    u = Equal@13(s, ones)\n"
                                  "    size = Size@13(x)\n"
                                  "    p = ReduceProd@13(s) {keepdims=0}\n"
                                  "    partly = Concat@13(k, s, k) {axis=0}\n"
                                  "    dynamic = Reshape@14(x, partly)\n"
                                  "}\n");
    expect_contents(g, "e", "0,0");
    expect_contents(g, "w", "n,5");
    expect_contents(g, "u", "?,0");
    expect_contents(g, "size", "5*n");
    expect_contents(g, "p", "5*n");
    expect_contents(g, "partly", "?,n,5,?");
    const HoloValue *dynamic = holo_graph_find(g, "dynamic");
    assert_int_equal(dynamic->type.rank, 4);
    assert_true(holo_dim_is_fresh(g->dims, dynamic->type.dim[0]));
    expect_dims(g, dynamic->type.dim + 1, 2, "n,5");
}

static void test_data_symbols(void **state)
{
    (void)state;
    HoloGraph *g     = inferred("graph g(x: f32[n]) -> (z) {\n"
                                    "    i = NonZero@13(x)\n"
                                    "    t = Transpose@13(i)\n"
                                    "    z = Concat@13(t, t) {axis=0}\n"
                                    "}\n");
    HoloError  error = {0};
    HoloDim    found = holo_graph_find(g, "i")->type.dim[1];
    assert_true(holo_dim_is_fresh(g->dims, found));
    assert_int_equal(holo_graph_find(g, "z")->type.dim[0], holo_dim_mul(g->dims, 2, found));
    bool *known = holo_graph_input_entries(g, &arena);
    assert_false(known[holo_dim_entry(found)]);
    assert_true(known[holo_dim_entry(holo_dims_symbol(g->dims, "n"))]);
    assert_int_equal(holo_graph_infer(g, &error), HOLO_OK); // again: the same symbol
    assert_int_equal(holo_graph_find(g, "i")->type.dim[1], found);
}

// Anchors of detectors: a size as a real number, and a Range of real numbers to it. Numbers that may have been rounded say nothing.
static void test_range_of_real_numbers(void **state)
{
    (void)state;
    HoloGraph *graph = inferred("graph g(x: f32[n,m]) -> (r, h, s, e) {\n"
                                "    const zero: f32[] = {0}\n"
                                "    const one: f32[] = {1}\n"
                                "    const half: f32[] = {0.5}\n"
                                "    const zero16: f16[] = {0}\n"
                                "    const one16: f16[] = {1}\n"
                                "    const at: i64[] = {1}\n"
                                "    const two: i64[] = {2}\n"
                                "    sizes = Shape@13(x)\n"
                                "    m = Gather@13(sizes, at)\n"
                                "    k = Div@13(m, two)\n"
                                "    f = Cast@13(k) {to=1}\n"
                                "    r = Range@11(zero, f, one)\n"
                                "    h = Range@11(zero, f, half)\n"
                                "    c = Cast@13(k) {to=10}\n"
                                "    s = Range@11(zero16, c, one16)\n"
                                "    e = Range@11(half, f, one)\n"
                                "}\n");
    HoloDim    half  = holo_dim_div(graph->dims, holo_graph_find(graph, "x")->type.dim[1], 2);
    assert_int_equal(holo_graph_find(graph, "r")->type.dim[0], half);
    assert_true(holo_dim_is_symbolic(half));
    static const char *const open[] = {"h", "s", "e"};
    for (int i = 0; i < HOLO_COUNT(open); i++) {
        HoloDim d = holo_graph_find(graph, open[i])->type.dim[0];
        assert_true(holo_dim_is_symbolic(d) && d != half);
    }
}

// Behind a value whose rank only the run finds out, types come back where an operator gives them by itself.
static void test_unknown_rank(void **state)
{
    (void)state;
    HoloGraph *graph = inferred("graph g(x: f32[n,m]) -> (s, w, q, t) {\n"
                                "    const flat: i64[1] = {-1}\n"
                                "    const pair: i64[2] = {2, -1}\n"
                                "    const one: i64[] = {1}\n"
                                "    s = Squeeze@13(x)\n"
                                "    c = Cast@13(s) {to=7}\n"
                                "    r = Range@11(one, c, one)\n"
                                "    z = NonZero@13(s)\n"
                                "    w = Transpose@13(z) {perm=[1,0]}\n"
                                "    f = Reshape@13(c, flat)\n"
                                "    q = Concat@13(f, r) {axis=0}\n"
                                "    t = Reshape@13(s, pair)\n"
                                "}\n");
    assert_int_equal(holo_graph_find(graph, "s")->type.rank, -1);
    assert_int_equal(holo_graph_find(graph, "c")->type.rank, -1);
    assert_int_equal(holo_graph_find(graph, "c")->type.dtype, HOLO_I64);
    assert_int_equal(holo_graph_find(graph, "w")->type.rank, 2);
    assert_int_equal(holo_graph_find(graph, "q")->type.rank, 1);
    assert_int_equal(holo_graph_find(graph, "q")->type.dtype, HOLO_I64);
    assert_int_equal(holo_graph_find(graph, "t")->type.dtype, HOLO_F32);
    assert_int_equal(holo_graph_find(graph, "t")->type.dim[0], 2);
    assert_true(holo_dim_is_symbolic(holo_graph_find(graph, "t")->type.dim[1]));
}

static void test_if(void **state)
{
    (void)state;
    const char *text = "graph g(c: bool[], x: f32[n,4]) -> (y) {\n"
                       "    %s\n"
                       "    y = If@16(%s | x) {then_branch=graph t(x: f32[n,4]) -> (a) {\n"
                       "        a = Concat@13(x, x) {axis=0}\n"
                       "    }, else_branch=graph e(x: f32[n,4]) -> (b) {\n"
                       "        b = Relu@14(x)\n"
                       "    }}\n"
                       "}\n";
    char        full[1000];
    snprintf(full, sizeof full, text, "", "c");
    const HoloGraph  *g = inferred(full);
    const HoloTensor *y = &g->outputs[0]->type;
    assert_true(y->rank == 2 && holo_dim_is_fresh(g->dims, y->dim[0]) && y->dim[1] == 4);
    snprintf(full, sizeof full, text, "const k: bool[] = {1}", "k");
    g = inferred(full);
    expect_shape(g, "y", HOLO_F32, "2*n,4");
}

// An If that is decided, and wrong, inside a branch: the branch fails if it is taken, so the If around it gives what the
// other branch does. The part that is never taken is inferred, too, since all of it is planned.
static void test_wrong_if_in_a_branch(void **state)
{
    (void)state;
    HoloError  error = {0};
    HoloGraph *g;
    if (holo_graph_parse(
            &arena,
            "graph g(c: bool[], x: f32[n,4]) -> (y) {\n"
            "    const no: bool[] = {0}\n"
            "    const flat: i64[2] = {-1, 4}\n"
            "    y = If@16(c | x, no, flat) {then_branch=graph t(x: f32[n,4], no: bool[], flat: i64[2]) -> (a) {\n"
            "        a = Relu@14(x)\n"
            "    }, else_branch=graph e(x: f32[n,4], no: bool[], flat: i64[2]) -> (b) {\n"
            "        m = If@16(no | x) {then_branch=graph p(x: f32[n,4]) -> (q) {\n"
            "            q = Relu@14(x)\n"
            "        }, else_branch=graph r(x: f32[n,4]) -> (s) {\n"
            "            s = Transpose@13(x) {perm=[1,0,2]}\n"
            "        }}\n"
            "        z = Neg@13(m)\n"
            "        b = Reshape@13(z, flat)\n"
            "    }}\n"
            "}\n",
            &g, &error))
        fail_msg("%s", error.text);
    const HoloGraph *branch = g->nodes[0]->attr[1].graph, *never = branch->nodes[0]->attr[0].graph;
    never->nodes[0]->op = NULL; // as importers leave it
    if (holo_graph_infer(g, &error)) fail_msg("%s", error.text);
    assert_non_null(never->nodes[0]->op);
    expect_shape(g, "y", HOLO_F32, "n,4");
}

static void test_loop(void **state)
{
    (void)state;
    const HoloGraph *g =
        inferred("graph g(x: f32[n,4], grow: f32[1]) -> (same, grown, stack) {\n"
                 "    const trips: i64[] = {7}\n"
                 "    same, grown, stack = Loop@16(trips, _, x, grow | x) {body=graph b(i: i64[], c: bool[], x: "
                 "f32[n,4], grow: f32[1], out: f32[n,4]) -> (c, next, more, turn) {\n"
                 "        next = Add@14(x, out)\n"
                 "        more = Concat@13(grow, grow) {axis=0}\n"
                 "        turn = Relu@14(next)\n"
                 "    }}\n"
                 "}\n");
    expect_shape(g, "same", HOLO_F32, "n,4");
    expect_shape(g, "stack", HOLO_F32, "7,n,4");
    const HoloTensor *grown = &holo_graph_find(g, "grown")->type;
    assert_true(grown->rank == 1 && holo_dim_is_fresh(g->dims, grown->dim[0]));
}

// Graphs that an operator does not have, or has twice: nobody would infer them.
static void test_other_graphs(void **state)
{
    (void)state;
    static const char *const others[] = {"K", "then_branch", "body"};
    for (int i = 0; i < HOLO_COUNT(others); i++) {
        char       text[500];
        HoloError  error = {0};
        HoloGraph *graph;
        snprintf(text, sizeof text,
                 "graph g(x: f32[4]) -> (y) {\n"
                 "    const trips: i64[] = {7}\n"
                 "    y = Loop@16(trips, _, x) {body=graph b(i: i64[], c: bool[], x: f32[4]) -> (c, next) {\n"
                 "        next = Relu@14(x)\n"
                 "    }, %s=graph k(z: f32[4]) -> (r) {\n"
                 "        r = Relu@14(z)\n"
                 "    }}\n"
                 "}\n",
                 others[i]);
        if (holo_graph_parse(&arena, text, &graph, &error)) fail_msg("%s", error.text);
        assert_int_equal(holo_graph_infer(graph, &error), HOLO_BAD_MODEL);
        assert_non_null(strstr(error.text, "has no use for a graph"));
    }
    HoloError  error = {0};
    HoloGraph *graph;
    if (holo_graph_parse(&arena,
                         "graph g(x: f32[4]) -> (y) {\n"
                         "    y = Relu@14(x) {body=graph k(z: f32[4]) -> (r) {\n"
                         "        r = Relu@14(z)\n"
                         "    }}\n"
                         "}\n",
                         &graph, &error))
        fail_msg("%s", error.text);
    assert_int_equal(holo_graph_infer(graph, &error), HOLO_BAD_MODEL);
    assert_non_null(strstr(error.text, "(Relu): has no use for a graph 'body'"));
}

static void test_scan(void **state)
{
    (void)state;
    const HoloGraph *g = inferred(
        "graph g(s: f32[4], x: f32[n,4]) -> (last, all) {\n"
        "    last, all = Scan@16(s, x) {num_scan_inputs=1, body=graph b(s: f32[4], x: f32[4]) -> (sum, sum) {\n"
        "        sum = Add@14(s, x)\n"
        "    }}\n"
        "}\n");
    expect_shape(g, "last", HOLO_F32, "4");
    expect_shape(g, "all", HOLO_F32, "n,4");
}

static void test_flex_attention(void **state)
{
    (void)state;
    const HoloGraph *g =
        inferred("graph g(q: f16[n,4,l,8], k: f16[n,2,s,8], v: f16[n,2,s,6], x: f16[1]) -> (y, z) {\n"
                 "    y = ai.onnx.preview::FlexAttention@1(q, k, v | x) {score_mod=graph m(s, x) -> (r) {\n"
                 "        r = Relu@14(s)\n"
                 "    }}\n"
                 "    z = Relu@14(y)\n"
                 "}\n");
    expect_shape(g, "z", HOLO_F16, "n,4,l,6");
    const HoloGraph *body = holo_graph_find(g, "y")->producer->attr[0].graph;
    expect_shape(body, "r", HOLO_F32, "n,4,l,s");

    HoloError  error = {0};
    HoloGraph *wrong;
    const char text[] = "graph g(q: f32[n,4,l,6], k: f32[n,2,s,8], v: f32[n,2,s,6]) -> (y) {\n"
                        "    y = ai.onnx.preview::FlexAttention@1(q, k, v)\n"
                        "}\n";
    assert_int_equal(holo_graph_parse(&arena, text, &wrong, &error), HOLO_OK);
    assert_int_equal(holo_graph_infer(wrong, &error), HOLO_BAD_MODEL);
    assert_non_null(strstr(error.text, "vectors of Q and K: 6 and 8 differ"));
}

// An operator defined by others, with an input left out that its body hands on.
static void test_left_out(void **state)
{
    (void)state;
    const HoloGraph *g = inferred("graph g(a: i8[n,3], b: i8[3]) -> (y) {\n"
                                  "    y = com.microsoft::MulInteger@1(a, _, b)\n"
                                  "}");
    expect_shape(g, "y", HOLO_I32, "n,3");
}

static void test_missing_operators(void **state)
{
    (void)state;
    HoloGraph *g     = inferred("graph g(x: f32[2]) -> (d) {\n"
                                    "    a = Nonsense@3(x)\n"
                                    "    b = my.own::Thing@1(a)\n"
                                    "    c = my.own::Thing@1(b) : f32[2]\n"
                                    "    d = com.microsoft.nchwc::Conv@1(c)\n"
                                    "    e = com.microsoft::EPContext@1(d)\n"
                                    "    f = ai.onnx.contrib::BertTokenizer@1(e)\n"
                                    "}\n");
    HoloError  error = {0};
    assert_int_equal(holo_graph_check_ops(g, &error), HOLO_UNSUPPORTED);
    assert_non_null(strstr(error.text, "5 operators of this model do not exist here"));
    assert_non_null(strstr(error.text, "Nonsense version 3: 1 node (a)"));
    assert_non_null(strstr(error.text, "my.own::Thing version 1: 2 nodes (b, c)"));
    assert_int_equal(holo_graph_find(g, "a")->type.rank, -1);
    assert_int_equal(holo_graph_find(g, "c")->type.rank, 1); // as declared, the size apart
    assert_true(holo_dim_is_fresh(g->dims, holo_graph_find(g, "c")->type.dim[0]));
    assert_non_null(strstr(error.text, "(d); ONNX Runtime arranged it for one kind of CPU"));
    assert_non_null(strstr(error.text, "(e); it holds a program that was compiled for one device"));
    assert_non_null(strstr(error.text, "(f); it is of ONNX Runtime's extensions"));
}

static void test_sort_and_cycle(void **state)
{
    (void)state;
    HoloGraph *g     = inferred("graph g(x: f32[2]) -> (c) {\n"
                                    "    a = Relu@14(x)\n"
                                    "    b = Neg@13(a)\n"
                                    "    c = Add@14(a, b)\n"
                                    "}\n");
    HoloError  error = {0};
    HoloNode  *last  = g->nodes[2];
    g->nodes[2]      = g->nodes[0];
    g->nodes[0]      = last;
    assert_int_equal(holo_graph_verify(g, &error), HOLO_INTERNAL);
    assert_int_equal(holo_graph_sort(g, &error), HOLO_OK);
    assert_true(g->nodes[2] == last);
    error = (HoloError){0};
    assert_int_equal(holo_graph_verify(g, &error), HOLO_OK);
    g->nodes[0]->in[0] = holo_graph_find(g, "c");
    assert_int_equal(holo_graph_sort(g, &error), HOLO_BAD_MODEL);
    assert_non_null(strstr(error.text, "cycle"));
}

// A value that is its contents is filled in from the sizes of the inputs.
static void test_eval_with_contents(void **state)
{
    (void)state;
    HoloGraph       *g       = inferred("graph g(x: f32[n,m]) -> (y, s) {\n"
                                                    "    shape s: i64[1] = {m*n}\n"
                                                    "    y = Reshape@14(x, s)\n"
                                                    "}\n");
    HoloError        error   = {0};
    float            data[6] = {1, 2, 3, 4, 5, 6};
    const HoloTensor x = {.dtype = HOLO_F32, .rank = 2, .dim = {2, 3}, .data = data}, *in[1] = {&x};
    HoloTensor       out[2];
    if (holo_graph_eval(g, in, out, &arena, NULL, &error)) fail_msg("%s", error.text);
    assert_true(out[0].rank == 1 && out[0].dim[0] == 6);
    assert_int_equal(*(int64_t *)out[1].data, 6);
    const HoloEvalOptions options = {.element_limit = 5};
    assert_int_equal(holo_graph_eval(g, in, out, &arena, &options, &error), HOLO_NO_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_shape_arithmetic, teardown),
        cmocka_unit_test_teardown(test_float_arithmetic, teardown),
        cmocka_unit_test_teardown(test_decidable, teardown),
        cmocka_unit_test_teardown(test_data_symbols, teardown),
        cmocka_unit_test_teardown(test_range_of_real_numbers, teardown),
        cmocka_unit_test_teardown(test_unknown_rank, teardown),
        cmocka_unit_test_teardown(test_if, teardown),
        cmocka_unit_test_teardown(test_wrong_if_in_a_branch, teardown),
        cmocka_unit_test_teardown(test_loop, teardown),
        cmocka_unit_test_teardown(test_other_graphs, teardown),
        cmocka_unit_test_teardown(test_scan, teardown),
        cmocka_unit_test_teardown(test_flex_attention, teardown),
        cmocka_unit_test_teardown(test_left_out, teardown),
        cmocka_unit_test_teardown(test_missing_operators, teardown),
        cmocka_unit_test_teardown(test_sort_and_cycle, teardown),
        cmocka_unit_test_teardown(test_eval_with_contents, teardown),
    };
    return cmocka_run_group_tests_name("graph infer", tests, NULL, NULL);
}
