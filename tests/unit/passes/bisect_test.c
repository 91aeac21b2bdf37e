// bisect_test.c - passes stopped after any number of changes, and the search for the change that makes a plan wrong.
#include "api/compiler.h"
#include "passes/passes.h"
#include "passes/rewrite.h"
#include "support/models.h"
#include "support/onnx_writer.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// x -> y: six pairs of Mul by a constant and Tanh; the product of pair i is called "p<i>".
static const char *model_chain(void)
{
    static const char *path;
    OnnxModel          m = {0};
    if (path) return path;
    path = temp_path("chain.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "4,8");
    onnx_output(&m.graph, "y", HOLO_F32, "4,8");
    for (int i = 0; i < 6; i++) {
        char c[16], p[16], t[16], in[40], from[16];
        snprintf(c, sizeof c, "c%d", i);
        snprintf(p, sizeof p, "p%d", i);
        snprintf(from, sizeof from, i ? "t%d" : "x", i - 1);
        snprintf(t, sizeof t, i < 5 ? "t%d" : "y", i);
        snprintf(in, sizeof in, "%s,%s", from, c);
        onnx_weights(&m.graph, c, "4,8", (uint64_t)i + 1, 1);
        onnx_node(&m.graph, "Mul", in, p, "");
        onnx_node(&m.graph, "Tanh", p, t, "");
    }
    onnx_save(&m, path);
    return path;
}

// ---- passes that are wrong

// Makes the Mul whose output is called `which` one of operator `id`.
static HoloStatus mul_becomes(HoloGraph *graph, HoloChanges *changes, HoloOpId id, const char *which)
{
    for (int i = 0; i < graph->node_count && changes->count < changes->limit; i++) {
        HoloNode *node = graph->nodes[i];
        if (!HOLO_IS(node, Mul) || strcmp(node->out[0]->name, which)) continue;
        holo_node_become(node, id, node->version);
        changes->count++;
    }
    return HOLO_OK;
}

// Right at all products but one, where it is wrong: commuted, and made a sum.
static HoloStatus pass_wrong_once(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    (void)scratch, (void)error;
    for (int i = 0; i < graph->node_count && changes->count < changes->limit; i++) {
        HoloNode *node = graph->nodes[i];
        if (!HOLO_IS(node, Mul) || node->in[0]->is_constant) continue;
        HoloValue *kept = node->in[0];
        node->in[0]     = node->in[1];
        node->in[1]     = kept;
        if (!strcmp(node->out[0]->name, "p3")) holo_node_become(node, HOLO_ID_Add, node->version);
        changes->count++;
    }
    return HOLO_OK;
}

static HoloStatus pass_wrong_too(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    (void)scratch, (void)error;
    return mul_becomes(graph, changes, HOLO_ID_Sub, "p1");
}

static HoloStatus pass_divides(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    (void)scratch, (void)error;
    return mul_becomes(graph, changes, HOLO_ID_Div, "p0");
}

static HoloStatus pass_fails(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    (void)graph, (void)scratch, (void)changes;
    return holo_fail(error, HOLO_INTERNAL, "this pass never works");
}

enum { TABLE_MAX = 40 };

// The passes of the product, and `more` in the place of `dead`.
static void table_make(HoloPass *table, const HoloPass *more, int count)
{
    int n = 0;
    for (const HoloPass *pass = holo_passes; pass->name; pass++) {
        for (int i = 0; i < count && !strcmp(pass->name, "dead"); i++) table[n++] = more[i];
        assert_true(n < TABLE_MAX - 1);
        table[n++] = *pass;
    }
    table[n] = (HoloPass){0};
}

static const HoloPass wrong_once = {.name = "wrong-once", .run = pass_wrong_once, .doc = ""};
static const HoloPass wrong_too  = {.name = "wrong-too", .run = pass_wrong_too, .doc = ""};
static const HoloPass divides    = {.name = "divides", .run = pass_divides, .doc = ""};
static const HoloPass failing    = {.name = "failing", .run = pass_fails, .doc = ""};

static HoloBisection *bisected(const HoloPass *more, int count, const char *path)
{
    HoloCompiler   compiler;
    HoloPass       table[TABLE_MAX];
    HoloBisection *b;
    holo_compiler_defaults(&compiler);
    table_make(table, more, count);
    compiler.passes = table;
    EXPECT_OK(holo_bisect(&compiler, path, NULL, 0, &b, &error));
    return b;
}

// ---- tests

static void test_good_models(void **state)
{
    (void)state;
    const char *const paths[] = {model_chain(), model_conv(), model_mlp(), model_dynamic(), model_loop(3)};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        HoloBisection *b;
        EXPECT_OK(holo_bisect(NULL, paths[i], NULL, 0, &b, &error));
        assert_null(b->why_not);
        assert_int_equal(b->culprit_count, 0);
        assert_int_equal(b->trials, 1);
        assert_true(b->checked > 0 && b->worst_relative < 1e-4);
        holo_bisection_destroy(b);
    }
    holo_bisection_destroy(NULL);
}

static void test_one_wrong_pass(void **state)
{
    (void)state;
    HoloBisection     *b = bisected(&wrong_once, 1, model_chain());
    const HoloCulprit *c = &b->culprits[0];
    assert_int_equal(b->culprit_count, 1);
    assert_int_equal(c->kind, HOLO_CULPRIT_PASS);
    assert_string_equal(c->pass, "wrong-once");
    assert_int_equal(c->pass_change, 4); // p0, p1 and p2 came before, and were right
    assert_true(c->change >= 4 && c->change <= b->change_count);
    assert_true(c->before < 1e-5 && c->after > 1e-2);
    assert_non_null(strstr(c->message, "output y"));
    assert_non_null(strstr(c->removed, "p3 = Mul"));
    assert_non_null(strstr(c->added, "p3 = Add"));
    assert_null(strstr(c->removed, "p2 ="));
    assert_true(b->checked > 0 && b->worst_relative < 1e-5); // of the plan without that pass
    assert_true(b->trials < 16);
    holo_bisection_destroy(b);
}

static void test_two_wrong_passes(void **state)
{
    (void)state;
    const HoloPass both[] = {wrong_once, wrong_too};
    HoloBisection *b      = bisected(both, 2, model_chain());
    assert_int_equal(b->culprit_count, 2);
    assert_string_equal(b->culprits[0].pass, "wrong-once");
    assert_string_equal(b->culprits[1].pass, "wrong-too");
    assert_non_null(strstr(b->culprits[1].added, "p1 = Sub"));
    holo_bisection_destroy(b);
}

static void test_failing_pass(void **state)
{
    (void)state;
    HoloBisection *b = bisected(&failing, 1, model_conv());
    assert_int_equal(b->culprit_count, 1);
    assert_string_equal(b->culprits[0].pass, "failing");
    assert_true(isnan(b->culprits[0].after));
    assert_non_null(strstr(b->culprits[0].message, "never works"));
    holo_bisection_destroy(b);
}

static void test_given_inputs(void **state)
{
    (void)state;
    float             data[32] = {1, 2, 3};
    HoloTensor        x        = {.data = data, .dtype = HOLO_F32, .rank = 2, .dim = {4, 8}};
    const HoloTensor *list[]   = {&x};
    HoloBisection    *b;
    EXPECT_OK(holo_bisect(NULL, model_chain(), list, 1, &b, &error));
    assert_int_equal(b->culprit_count, 0);
    assert_int_equal(b->checked, 32);
    holo_bisection_destroy(b);
    EXPECT_FAIL(holo_bisect(NULL, model_chain(), list, 3, &b, &error), HOLO_BAD_ARGUMENT,
                "has 1 inputs, but 3 are given");
    EXPECT_FAIL(holo_bisect(NULL, "no-such.onnx", NULL, 0, &b, &error), HOLO_NO_FILE, "no-such");
}

// A product that became a quotient is the same for zeros.
static void test_inputs_decide(void **state)
{
    (void)state;
    float             data[32] = {0};
    HoloTensor        x        = {.data = data, .dtype = HOLO_F32, .rank = 2, .dim = {4, 8}};
    const HoloTensor *list[]   = {&x};
    HoloCompiler      compiler;
    HoloPass          table[TABLE_MAX];
    HoloBisection    *b;
    holo_compiler_defaults(&compiler);
    table_make(table, &divides, 1);
    compiler.passes = table;
    EXPECT_OK(holo_bisect(&compiler, model_chain(), list, 1, &b, &error));
    assert_int_equal(b->culprit_count, 0);
    holo_bisection_destroy(b);
    EXPECT_OK(holo_bisect(&compiler, model_chain(), NULL, 0, &b, &error));
    assert_int_equal(b->culprit_count, 1);
    assert_string_equal(b->culprits[0].pass, "divides");
    holo_bisection_destroy(b);
}

// Whatever number of changes passes stop after, the graph is whole and computes the same.
static void limits_hold(const char *path, int least)
{
    HoloCompiler compiler;
    HoloChanges  all = {.limit = INT_MAX};
    HoloReport  *report;
    holo_compiler_defaults(&compiler);
    compiler.changes = &all;
    EXPECT_OK(holo_compile_file(&compiler, path, temp_path("all.holo"), NULL, &error));
    assert_true(all.count >= least);
    assert_true(!all.count == !all.pass);
    for (int limit = 0; limit <= all.count; limit++) {
        HoloChanges some = {.limit = limit};
        compiler.changes = &some;
        EXPECT_OK(holo_compile_file(&compiler, path, temp_path("some.holo"), &report, &error));
        assert_true(report->verified);
        assert_true(some.count >= limit && some.count <= all.count);
        int sum = 0;
        for (int i = 0; i < report->pass_count; i++) sum += report->passes[i].changes;
        assert_int_equal(sum, some.count);
        holo_report_destroy(report);
    }
}

static void test_limits(void **state)
{
    (void)state;
    limits_hold(model_chain(), 1);
    limits_hold(model_conv(), 4);
    limits_hold(model_mlp(), 2);
    limits_hold(model_dynamic(), 1);
    limits_hold(model_loop(3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_models),      cmocka_unit_test(test_one_wrong_pass),
        cmocka_unit_test(test_two_wrong_passes), cmocka_unit_test(test_failing_pass),
        cmocka_unit_test(test_given_inputs),     cmocka_unit_test(test_inputs_decide),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
