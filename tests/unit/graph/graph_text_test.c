// graph_text_test.c - graphs to text and back: the example of docs/graph-text.md, every kind of constant and attribute,
// bad text, and bodies of operators.
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Reads the text, prints the graph, and compares.
static void expect_same(const char *text)
{
    HoloArena  arena   = {0};
    HoloError  error   = {0};
    HoloText   printed = {0};
    HoloGraph *graph;
    if (holo_graph_parse(&arena, text, &graph, &error)) fail_msg("%s", error.text);
    if (holo_graph_verify(graph, &error)) fail_msg("%s", error.text);
    holo_graph_print(graph, &printed);
    assert_string_equal(printed.data, text);
    holo_text_deinit(&printed);
    holo_arena_deinit(&arena);
}

static void expect_bad(const char *text, const char *message)
{
    HoloArena  arena = {0};
    HoloError  error = {0};
    HoloGraph *graph;
    assert_int_equal(holo_graph_parse(&arena, text, &graph, &error), HOLO_BAD_MODEL);
    if (!strstr(error.text, message)) fail_msg("\"%s\" is not in \"%s\"", message, error.text);
    holo_arena_deinit(&arena);
}

static void test_example_of_the_documentation(void **state)
{
    (void)state;
    static char page[1 << 16];
    FILE       *file = fopen("docs/graph-text.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    char *start = strstr(page, "```graph\n"), *end = start ? strstr(start + 9, "```") : NULL;
    assert_non_null(end);
    *end = '\0';
    expect_same(start + 9);
}

static void test_every_type(void **state)
{
    (void)state;
    expect_same(
        "graph types(a: seq f32[n], b: optional seq i64[1], c: map string[2], d: f32, e: ?, f: optional f16[1]) -> (a) {\n"
        "    const c64: c64[2] = {(1.0,-2.5), (nan,inf)}\n"
        "    const u64: u64[1] = {18446744073709551615}\n"
        "    const i64: i64[2] = {-9223372036854775808, 9223372036854775807}\n"
        "    const i4: i4[3] = {-8, 0, 7}\n"
        "    const bool: bool[2] = {0, 1}\n"
        "    const bf16: bf16[2] = {1.5, -0.0078125}\n"
        "    const f8: f8e4m3fn[2] = {1.5, nan}\n"
        "    const f64: f64[2] = {0.1, 1e+300}\n"
        "    const f32: f32[3] = {0.1, 16777216.0, 3.40282e+38}\n"
        "    const none: f32[0,3] = {}\n"
        "    const scalar: string[] = {\"\\x01\\\\\"}\n"
        "}\n");
}

static void test_every_attribute(void **state)
{
    (void)state;
    expect_same(
        "graph attributes() -> (\"a b\") {\n"
        "    \"a b\" = my.domain::Thing@3() {f=1.0, fs=[0.5,nan], g=graph in() -> () {\n"
        "    }, gs=[graph p() -> () {\n"
        "    },graph q() -> () {\n"
        "    }], i=-1, is=[1,2,3], none=ints[], s=\"x\", ss=[\"a\",\"b\"], t=f32[2]{1.0, 2.0}, ts=[i64[1]{1},i64[1]{2}], "
        "ty=type seq f32[n]}\n"
        "    _, \"graph\" = Other@1 \"a node\" (_, \"a b\") : _, f32[?]\n"
        "}\n");
}

static void test_bad_text(void **state)
{
    (void)state;
    expect_bad("", "expected graph");
    expect_bad("graph g() -> (y) {}", "output y is not defined");
    expect_bad("graph g() -> () { y = Relu@14(x) }", "uses x, which is not defined");
    expect_bad("graph g(x: f32[2]) -> () { x = Relu@14(x) }", "defined twice");
    expect_bad("graph g() -> () { const c: f32[2] = {1.0} }", "line 1: expected ,");
    expect_bad("graph g() -> () { const c: f32[99999] = {1.0} }", "known, small size");
    expect_bad("graph g() -> () {\n const c: f33[2] = {1.0} }", "line 2: expected a type");
    expect_bad("graph g() -> () { const c: f32[1] = hash(00) }", "expected {");
    expect_bad("graph g() -> () { = Relu@14() {a=[1,\"b\"]} }", "a list of one kind");
    expect_bad("graph g() -> () { = Relu@14() {a=@b} }", "only the body of an operator");
    expect_bad("graph g() -> () {} more", "the end of the text");
    expect_bad("graph g(x: f32[n+]) -> () {}", "expected a size");
    expect_bad("graph g() -> () { = Relu@14() {a=\"\\q\"} }", "one of");
}

static void test_body_of_an_operator(void **state)
{
    (void)state;
    const HoloOp op = {
        .name    = "Scaled",
        .domain  = "",
        .since   = 1,
        .in_min  = 1,
        .in_max  = 2,
        .out_min = 1,
        .out_max = 1,
        .body = "graph Scaled<alpha=2.0>(X, M) -> (Y) { e = Elu@6(X) {alpha=@alpha, beta=@beta}\n Y = Clip@13(e, M) }"};
    HoloArena  arena = {0};
    HoloError  error = {0};
    HoloText   text  = {0};
    HoloGraph *body;
    HoloAttr   attr[] = {{.name = "alpha", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = 0.5}};
    HoloValue  value = {.name = "value"}, *inputs[] = {&value, &value};
    HoloNode   node = {.op         = &op,
                       .name       = "n",
                       .type       = "Scaled",
                       .domain     = "",
                       .version    = 1,
                       .in         = inputs,
                       .in_count   = 2,
                       .attr       = attr,
                       .attr_count = 1};
    if (holo_node_body(&arena, NULL, &node, &body, &error)) fail_msg("%s", error.text);
    holo_graph_print(body, &text);
    assert_non_null(strstr(text.data, "Elu@6(X) {alpha=0.5}\n"));
    node.attr_count = 0;
    holo_text_deinit(&text);
    if (holo_node_body(&arena, NULL, &node, &body, &error)) fail_msg("%s", error.text);
    holo_graph_print(body, &text);
    assert_non_null(strstr(text.data, "Elu@6(X) {alpha=2.0}\n"));

    // Evaluated by its body, with the second input left out.
    float             x[2]  = {1, -1};
    const HoloTensor  given = {.dtype = HOLO_F32, .rank = 1, .dim = {2}, .data = x};
    const HoloTensor *in[2] = {&given, NULL};
    HoloTensor        y = {0}, *out[1] = {&y};
    node.in_count  = 2;
    node.out_count = 1;
    if (holo_node_eval(&node, in, out, &arena, &error)) fail_msg("%s", error.text);
    assert_int_equal(y.dim[0], 2);
    assert_true(((float *)y.data)[0] == 1 && ((float *)y.data)[1] < -1.2f);
    holo_text_deinit(&text);
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example_of_the_documentation),
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_every_attribute),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_body_of_an_operator),
    };
    return cmocka_run_group_tests_name("graph text", tests, NULL, NULL);
}
