// cut_test.c - a graph cut between the CPU and another target: who runs what, where transfers stand, and what the
// archive says.
#include "support/models.h"

#include "archive/archive.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include "plan/plan.h"
#include "tune/tune.h"

#include <stdio.h>
#include <string.h>

extern const HoloTarget holo_target_mirror;

static bool runs_neg(const HoloNode *node)
{
    return !strcmp(node->type, "Neg");
}

static const HoloTarget  neg    = {.name = "neg", .can_run = runs_neg};
static const HoloTargets mirror = {.list = {&holo_target_cpu, &holo_target_mirror}, .count = 2};

static HoloGraph *parsed(HoloArena *arena, const char *text)
{
    HoloGraph *graph;
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    return graph;
}

// The nodes in order, each with the number of its target, and of a Transfer what it moves, without the suffix of a
// copy.
static void expect_cut_by(const HoloTargets *targets, const char *text, const char *expected)
{
    HoloArena  arena = {0};
    HoloGraph *graph = parsed(&arena, text);
    HoloText   got   = {0};
    HoloCut    cut;
    EXPECT_OK(holo_lower_cut(graph, targets, &cut, &error));
    EXPECT_OK(holo_graph_verify(graph, &error));
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        assert_int_equal(node->id, i);
        holo_text_add(&got, "%s%s %d", i ? ", " : "", node->type, cut.target[i]);
        const char *name = node->in_count ? node->in[0]->name : "";
        if (HOLO_IS(node, HOLOGRAM_Transfer)) holo_text_add(&got, " %.*s", (int)strcspn(name, "_"), name);
    }
    assert_string_equal(got.data, expected);
    holo_text_deinit(&got);
    holo_arena_deinit(&arena);
}

static void expect_cut(const char *text, const char *expected)
{
    expect_cut_by(&mirror, text, expected);
}

// Values cross before the first node that needs them elsewhere, and come back once.
static void test_crossing(void **state)
{
    (void)state;
    expect_cut("graph g(x: f32[2,3]) -> (y) {\n"
               "    a = Relu@14(x)\n"
               "    b = Neg@13(a)\n"
               "    c = Hardmax@13(b)\n"
               "    d = Hardmax@13(b)\n"
               "    e = Mul@14(c, d)\n"
               "    y = Add@14(e, a)\n"
               "}\n",
               "Transfer 1 x, Relu 1, Neg 1, Transfer 1 b, Hardmax 0, Hardmax 0, Transfer 1 c, Transfer 1 d, Mul 1, "
               "Add 1, Transfer 1 y");
}

// Constants and inputs cross once, whoever reads them; where the CPU reads them, too, it has them already.
static void test_once(void **state)
{
    (void)state;
    expect_cut("graph g(x: f32[2]) -> (y) {\n"
               "    const k: f32[2] = {1.0, 2.0}\n"
               "    a = Add@14(x, k)\n"
               "    b = Mul@14(x, k)\n"
               "    c = Hardmax@13(k)\n"
               "    d = Sub@14(a, b)\n"
               "    y = Add@14(d, c)\n"
               "}\n",
               "Hardmax 0, Transfer 1 x, Transfer 1 c, Transfer 1 k, Add 1, Mul 1, Sub 1, Add 1, Transfer 1 y");
}

// What the host can do without another target comes first, and inputs cross at once: the steps of the target are not
// interrupted.
static void test_leading(void **state)
{
    (void)state;
    expect_cut(
        "graph g(x: f32[2,3], z: f32[2,3]) -> (y) {\n"
        "    a = Relu@14(x)\n"
        "    b = Hardmax@13(z)\n"
        "    c = Hardmax@13(b)\n"
        "    d = Mul@14(a, c)\n"
        "    e = Hardmax@13(d)\n"
        "    f = Add@14(d, z)\n"
        "    y = Add@14(e, f)\n"
        "}\n",
        "Hardmax 0, Hardmax 0, Transfer 1 x, Transfer 1 c, Transfer 1 z, Relu 1, Mul 1, Transfer 1 d, Hardmax 0, "
        "Add 1, Transfer 1 e, Add 1, Transfer 1 y");
}

// An output that the CPU reads, too, comes back once; one that is given twice, as well; its name stays.
static void test_outputs(void **state)
{
    (void)state;
    HoloArena  arena = {0};
    HoloGraph *graph = parsed(&arena, "graph g(x: f32[2,3]) -> (y, z) {\n"
                                      "    y = Relu@14(x)\n"
                                      "    z = Hardmax@13(y)\n"
                                      "}\n");
    HoloCut    cut;
    assert_true(holo_graph_output(graph, graph->outputs[0]));
    EXPECT_OK(holo_lower_cut(graph, &mirror, &cut, &error));
    EXPECT_OK(holo_graph_verify(graph, &error));
    assert_int_equal(graph->node_count, 4); // Transfer, Relu, Transfer, Hardmax
    assert_string_equal(graph->outputs[0]->name, "y");
    assert_ptr_equal(graph->outputs[0], graph->outputs[2]);
    assert_true(HOLO_IS(graph->outputs[0]->producer, HOLOGRAM_Transfer));
    assert_string_equal(graph->outputs[1]->name, "z");
    holo_arena_deinit(&arena);
}

// A view is where its input is, on either side, and does not cross for it.
static void test_views(void **state)
{
    (void)state;
    expect_cut("graph g(x: f32[2,3]) -> (y) {\n"
               "    const shape: i64[1] = {6}\n"
               "    a = Reshape@14(x, shape)\n"
               "    b = Relu@14(a)\n"
               "    const square: i64[2] = {3, 2}\n"
               "    c = Reshape@14(b, square)\n"
               "    d = Neg@13(c)\n"
               "    y = Hardmax@13(d)\n"
               "}\n",
               "Reshape 0, Transfer 1 a, Relu 1, Reshape 1, Neg 1, Transfer 1 d, Hardmax 0");
}

// Control flow stays, with all that its bodies do, and gets what it captures from the host's memory.
static void test_control(void **state)
{
    (void)state;
    expect_cut("graph g(x: f32[2], p: bool[]) -> (y) {\n"
               "    a = Relu@14(x)\n"
               "    b = If@16(p | a) {then_branch=graph t(a: f32[2]) -> (u) {\n"
               "        u = Neg@13(a)\n"
               "    }, else_branch=graph e(a: f32[2]) -> (v) {\n"
               "        v = Relu@14(a)\n"
               "    }}\n"
               "    y = Neg@13(b)\n"
               "}\n",
               "Transfer 1 x, Relu 1, Transfer 1 a, If 0, Neg 0");
}

// What has sizes that only a run finds stays; sizes that follow from those of inputs may be open.
static void test_sizes(void **state)
{
    (void)state;
    expect_cut("graph g(x: f32[N,3]) -> (y, z) {\n"
               "    a = Relu@14(x)\n"
               "    y = Concat@13(a, a) {axis=0}\n"
               "    b = NonZero@13(a)\n"
               "    z = Neg@13(b)\n"
               "}\n",
               "Transfer 1 x, Relu 1, Concat 1, Transfer 1 a, NonZero 0, Neg 0, Transfer 1 y");
}

// The first of several targets that can has a node; from one to another is by the host. Who gets nothing is not there.
static void test_several(void **state)
{
    (void)state;
    const HoloTargets both = {.list = {&holo_target_cpu, &neg, &holo_target_mirror}, .count = 3};
    expect_cut_by(&both,
                  "graph g(x: f32[2]) -> (y) {\n"
                  "    a = Relu@14(x)\n"
                  "    b = Neg@13(a)\n"
                  "    y = Hardmax@13(b)\n"
                  "}\n",
                  "Transfer 2 x, Relu 2, Transfer 2 a, Transfer 1 a, Neg 1, Transfer 1 b, Hardmax 0");
    expect_cut_by(&both,
                  "graph g(x: f32[2]) -> (y) {\n"
                  "    y = Relu@14(x)\n"
                  "}\n",
                  "Transfer 1 x, Relu 1, Transfer 1 y");
    expect_cut_by(&both,
                  "graph g(x: f32[2]) -> (y) {\n"
                  "    y = Hardmax@13(x)\n"
                  "}\n",
                  "Hardmax 0");
}

// ---- the plan

static HoloPlan planned(HoloGraph *graph, const HoloTargets *targets, HoloLowered *lowered)
{
    HoloCut  cut;
    HoloPlan plan;
    EXPECT_OK(holo_lower_cut(graph, targets, &cut, &error));
    EXPECT_OK(holo_lower_graph(graph, &cut, lowered, &error));
    EXPECT_OK(holo_plan_create(graph, lowered, &plan, &error));
    return plan;
}

static void expect_valid(const HoloPlan *plan)
{
    HoloFileWriter *file;
    HoloMapping     mapping;
    HoloArchive     archive;
    uint64_t        size;
    EXPECT_OK(holo_file_writer_open(temp_path("cut.holo"), &file, &error));
    EXPECT_OK(holo_archive_write(plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_map(file, &mapping, &error));
    EXPECT_OK(holo_archive_open(mapping.data, mapping.size, &archive, &error));
    holo_file_unmap(&mapping);
    EXPECT_OK(holo_file_writer_close(file, false, &error));
}

// By name; "x_" is the copy of x.
static const HoloValueRecord *record_of(const HoloPlan *plan, const char *name)
{
    const HoloPlanBuffer  *values = &plan->section[HOLO_SECTION_VALUES];
    const HoloValueRecord *v      = (const void *)values->data;
    const char            *texts  = (const char *)plan->section[HOLO_SECTION_STRINGS].data;
    for (size_t i = 0; i < values->size / sizeof *v; i++)
        if (!strcmp(texts + v[i].name, name) ||
            (name[strlen(name) - 1] == '_' && !strncmp(texts + v[i].name, name, strlen(name))))
            return &v[i];
    fail_msg("there is no value %s", name);
    return NULL;
}

// Each space has offsets of its own, from 0 on; views have the space of what they share.
static void test_plan(void **state)
{
    (void)state;
    HoloArena   arena = {0};
    HoloGraph  *graph = parsed(&arena, "graph g(x: f32[16]) -> (y) {\n"
                                        "    const square: i64[2] = {4, 4}\n"
                                        "    a = Relu@14(x)\n"
                                        "    b = Reshape@14(a, square)\n"
                                        "    c = Hardmax@13(b)\n"
                                        "    y = Softmax@13(c) {axis=0}\n"
                                        "}\n");
    HoloLowered lowered;
    HoloPlan    plan = planned(graph, &mirror, &lowered);
    assert_int_equal(plan.section[HOLO_SECTION_TARGETS].size, 2 * sizeof(HoloTargetRecord));
    assert_int_equal(record_of(&plan, "x")->space, 0);
    assert_int_equal(record_of(&plan, "x_")->space, 1);
    assert_int_equal(record_of(&plan, "x_")->at, 0);
    assert_int_equal(record_of(&plan, "a")->space, 1);
    assert_int_equal(record_of(&plan, "b")->space, 1);
    assert_int_equal(record_of(&plan, "b")->storage, HOLO_STORE_ALIAS);
    assert_int_equal(record_of(&plan, "b_")->space, 0);
    assert_int_equal(record_of(&plan, "y")->space, 0);
    const HoloPlanRecord *first = (const void *)plan.section[HOLO_SECTION_PLANS].data;
    assert_true(first->flags & HOLO_PLAN_STATIC);
    assert_false(first->flags & HOLO_PLAN_SEPARATE);
    assert_int_equal(first->arena_bytes, 128); // two of these in the host's memory at a time: b_ and c, c and y
    expect_valid(&plan);
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

// A plan in which no other target runs anything is that of the CPU.
static void test_nothing(void **state)
{
    (void)state;
    const char *text  = "graph g(x: f32[2,3]) -> (y) {\n"
                        "    y = Hardmax@13(x)\n"
                        "}\n";
    HoloArena   arena = {0};
    HoloLowered lowered;
    HoloPlan    plan = planned(parsed(&arena, text), &mirror, &lowered);
    assert_int_equal(plan.section[HOLO_SECTION_TARGETS].size, 0);
    assert_int_equal(lowered.targets.count, 1);
    expect_valid(&plan);
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

// ---- who asks the target

static bool runs_conv(const HoloNode *node)
{
    return !*node->domain && !strcmp(node->type, "Conv");
}

static int convs_of(HoloArena *arena, const HoloTargets *targets, const char *domain)
{
    HoloGraph      *graph   = parsed(arena, "graph g(x: f32[1,2,8,8]) -> (y) {\n"
                                                   "    const w: f32[2,2,1,1] = {1.0, 2.0, 3.0, 4.0}\n"
                                                   "    y = Conv@11(x, w)\n"
                                                   "}\n");
    HoloPassOptions options = {.targets = targets};
    int             count   = 0;
    EXPECT_OK(holo_passes_run(graph, &options, &error));
    for (int i = 0; i < graph->node_count; i++)
        count += !strcmp(graph->nodes[i]->type, "Conv") && !strcmp(graph->nodes[i]->domain, domain);
    return count;
}

// The CPU wants channels last; a target that does not say so gets its convolutions as they are.
static void test_layout(void **state)
{
    (void)state;
    static const HoloTarget plain   = {.name = "plain", .can_run = runs_conv};
    const HoloTargets       targets = {.list = {&holo_target_cpu, &plain}, .count = 2};
    HoloArena               arena   = {0};
    assert_int_equal(convs_of(&arena, NULL, "hologram"), 1);
    assert_int_equal(convs_of(&arena, &mirror, "hologram"), 1);
    assert_int_equal(convs_of(&arena, &targets, ""), 1);
    holo_arena_deinit(&arena);
}

extern const HoloTarget holo_target_cuda;

static int count_of(const HoloGraph *graph, const char *type)
{
    int count = 0;
    for (int i = 0; i < graph->node_count; i++) count += !strcmp(graph->nodes[i]->type, type);
    return count;
}

// A GPU gets queries, keys and values as products of their own, not as copied parts of one; the CPU does not.
static void test_parts(void **state)
{
    (void)state;
    static const char *const texts[] = {"    const n0: i64[1] = {0}\n"
                                        "    const n4: i64[1] = {4}\n"
                                        "    const n8: i64[1] = {8}\n"
                                        "    const n12: i64[1] = {12}\n"
                                        "    const last: i64[1] = {-1}\n"
                                        "    q = Slice@13(a, n0, n4, last)\n"
                                        "    k = Slice@13(a, n4, n8, last)\n"
                                        "    v = Slice@13(a, n8, n12, last)\n",
                                        "    const sizes: i64[3] = {4, 4, 4}\n"
                                        "    q, k, v = Split@13(a, sizes) {axis=2}\n"};
    const HoloTargets        gpu     = {.list = {&holo_target_cpu, &holo_target_cuda}, .count = 2};
    for (int i = 0; i < 2 * HOLO_COUNT(texts); i++) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "graph g(x: f32[2,3,2]) -> (y) {\n"
            "    const w: f32[2,12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n"
            "    const b: f32[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n"
            "    m = MatMul@13(x, w)\n"
            "    a = Add@14(%s)\n"
            "%s"
            "    y = Attention@23(q, k, v) {q_num_heads=2, kv_num_heads=2}\n"
            "}\n",
            i / 2 ? "b, m" : "m, b", texts[i / 2]);
        HoloArena       arena   = {0};
        HoloGraph      *graph   = parsed(&arena, text);
        HoloPassOptions options = {.targets = i % 2 ? &gpu : NULL};
        EXPECT_OK(holo_passes_run(graph, &options, &error));
        assert_int_equal(count_of(graph, "MatMul"), i % 2 ? 3 : 1);
        assert_int_equal(count_of(graph, "Slice") + count_of(graph, "Split"), i % 2 ? 0 : i / 2 ? 1 : 3);
        holo_arena_deinit(&arena);
    }
}

// Tuning measures what the CPU runs, and nothing else.
static void test_tune(void **state)
{
    (void)state;
    HoloArena       arena   = {0};
    HoloGraph      *graph   = parsed(&arena, "graph g(x: f32[4,8]) -> (y) {\n"
                                                    "    y = Softmax@13(x) {axis=-1}\n"
                                                    "}\n");
    HoloTuneOptions options = {.kernels = holo_kernels(0)};
    HoloLowered     lowered;
    HoloTuning      tuning;
    HoloPlan        plan = planned(graph, &mirror, &lowered);
    EXPECT_OK(holo_tune(graph, &lowered, &options, &arena, &tuning, &error));
    assert_int_equal(tuning.count, 0);
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

// ---- names

static void test_names(void **state)
{
    (void)state;
    HoloCompiler *compiler;
    EXPECT_OK(holo_compiler_create(&compiler));
    assert_string_equal(holo_target_name(0), "cpu");
    assert_null(holo_target_name(-1));
    assert_null(holo_target_name(1000));
    EXPECT_OK(holo_compiler_set_targets(compiler, "cpu", &error));
    EXPECT_FAIL(holo_compiler_set_targets(compiler, "tpu", &error), HOLO_BAD_ARGUMENT,
                "there is no target 'tpu'; there are: cpu");
    EXPECT_FAIL(holo_compiler_set_targets(compiler, "cpu,,cpu", &error), HOLO_BAD_ARGUMENT, "no target ''");
    holo_compiler_destroy(compiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crossing), cmocka_unit_test(test_once),    cmocka_unit_test(test_leading),
        cmocka_unit_test(test_outputs),  cmocka_unit_test(test_views),   cmocka_unit_test(test_control),
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_several), cmocka_unit_test(test_plan),
        cmocka_unit_test(test_nothing),  cmocka_unit_test(test_layout),  cmocka_unit_test(test_parts),
        cmocka_unit_test(test_tune),     cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
