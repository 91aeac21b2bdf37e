// tune_test.c - ways to run a node: each gives the answer of the rule's; and what measuring them finds and reports.
#include "support/models.h"

#include "api/source.h"
#include "passes/passes.h"
#include "runtime/model.h"
#include "tune/tune.h"

#include "lower/cpu/cpu_target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static HoloSource *source_of(const char *path)
{
    HoloSource *source;
    EXPECT_OK(holo_source_import(&(HoloImportRequest){.path = path}, &source, &error));
    EXPECT_OK(holo_graph_infer(source->model.graph, &error));
    EXPECT_OK(holo_passes_run(source->model.graph, NULL, &error));
    return source;
}

static float *answer_of(const HoloGraph *graph, const HoloLowered *lowered, size_t *out_size, uint32_t *out_kernels)
{
    HoloModel *model;
    EXPECT_OK(model_of_lowered(graph, lowered, HOLO_FUSED, &model, out_kernels, &error));
    uint8_t *bytes = answer(model, NULL, 3, 2, out_size);
    holo_model_close(model);
    return (float *)(void *)bytes;
}

// Every node alone in each of its ways: the answer is that of the rule, and an archive of fewer kernels where it is
// eval.
static int ways_agree(const char *path)
{
    HoloSource *source = source_of(path);
    HoloGraph  *graph  = source->model.graph;
    size_t      size, other_size;
    uint32_t    kernels, other_kernels;
    HoloLowered lowered;
    EXPECT_OK(holo_lower_graph(graph, NULL, &lowered, &error));
    float *want  = answer_of(graph, &lowered, &size, &kernels);
    int    tried = 0;
    for (int i = 0; i < graph->node_count; i++) {
        HoloLoweredNode *of = holo_lowered_find(&lowered, graph->nodes[i]);
        HoloLowering     ways[HOLO_LOWER_WAYS];
        int              count = holo_cpu_ways(graph->nodes[i], ways);
        assert_memory_equal(of->lowering.params, ways[0].params, sizeof ways[0].params);
        for (int way = 1; way < count; way++, tried++) {
            of->lowering = ways[way];
            float *got   = answer_of(graph, &lowered, &other_size, &other_kernels);
            assert_int_equal(other_size, size);
            assert_int_equal(other_kernels, kernels - (ways[way].kernel == HOLO_KERNEL_EVAL));
            for (size_t k = 0; k < size / sizeof *want; k++)
                if (!(fabsf(got[k] - want[k]) <= 1e-4f))
                    fail_msg("way %d of node %d: %g, not %g", way, i, got[k], want[k]);
            free(got);
        }
        of->lowering = ways[0];
    }
    holo_lowered_deinit(&lowered);
    free(want);
    holo_source_close(source);
    return tried;
}

static void test_every_way_gives_the_same(void **state)
{
    (void)state;
    assert_true(ways_agree(model_conv()) >= 6); // two of each convolution, and plain weights and eval
    assert_true(ways_agree(model_mlp()) >= 2);
    assert_true(ways_agree(model_tiny()) >= 1);
}

// Nodes of subgraphs are lowered before the one that holds them, each once; a node of another graph is not there.
static void test_lowered(void **state)
{
    (void)state;
    HoloSource      *source = source_of(model_loop(3)), *other = source_of(model_mlp());
    const HoloGraph *graph = source->model.graph, *body = NULL;
    HoloLowered      lowered;
    EXPECT_OK(holo_lower_graph(graph, NULL, &lowered, &error));
    const HoloNode *loop = NULL;
    for (int i = 0; i < graph->node_count; i++)
        for (int a = 0; a < graph->nodes[i]->attr_count; a++)
            if (graph->nodes[i]->attr[a].kind == HOLO_ATTR_GRAPH)
                loop = graph->nodes[i], body = graph->nodes[i]->attr[a].graph;
    assert_non_null(body);
    assert_int_equal(lowered.count, graph->node_count + body->node_count);
    for (int i = 0; i < body->node_count; i++) {
        const HoloLoweredNode *of = holo_lowered_find(&lowered, body->nodes[i]);
        assert_ptr_equal(of->node, body->nodes[i]);
        assert_int_equal(of->lowering.kernel, holo_cpu_choose(body->nodes[i]).kernel);
        assert_true(of < holo_lowered_find(&lowered, loop));
    }
    assert_null(holo_lowered_find(&lowered, other->model.graph->nodes[0]));
    holo_lowered_deinit(&lowered);
    holo_source_close(source);
    holo_source_close(other);
}

static HoloTuning tuned(HoloGraph *graph, HoloArena *arena, HoloLowered *lowered)
{
    HoloTuneOptions options = {.kernels = holo_kernels(0)};
    HoloTuning      tuning;
    EXPECT_OK(holo_lower_graph(graph, NULL, lowered, &error));
    EXPECT_OK(holo_tune(graph, lowered, &options, arena, &tuning, &error));
    return tuning;
}

static bool is_eval(const HoloLowered *lowered, const HoloNode *node)
{
    return holo_lowered_find(lowered, node)->lowering.kernel == HOLO_KERNEL_EVAL;
}

static HoloGraph *parsed(HoloArena *arena, const char *text)
{
    HoloGraph *graph;
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    return graph;
}

static void test_kinds(void **state)
{
    (void)state;
    HoloArena   arena = {0};
    HoloGraph  *graph = parsed(&arena, "graph g(x: f32[4,8], z: f32[2,8]) -> (c, d, e) {\n"
                                        "    a = Softmax@13(x) {axis=-1}\n"
                                        "    c = Softmax@13(a) {axis=-1}\n"
                                        "    d = Softmax@13(z) {axis=-1}\n"
                                        "    e = Softmax@11(z) {axis=1}\n"
                                        "}\n");
    HoloLowered lowered;
    HoloTuning  t = tuned(graph, &arena, &lowered);
    assert_int_equal(t.count, 3);
    assert_int_equal(t.open, 0);
    assert_int_equal(t.reports[0].steps, 2);
    assert_string_equal(t.reports[0].op, "Softmax");
    assert_string_equal(t.reports[0].shapes, "f32[4,8] -> f32[4,8]");
    assert_string_equal(t.reports[0].ways[0].name, "softmax_f32");
    assert_string_equal(t.reports[0].ways[1].name, "eval");
    for (int i = 0; i < t.count; i++) {
        const HoloTuneReport *r = &t.reports[i];
        assert_int_equal(r->way_count, 2);
        assert_true(r->chosen >= 0 && r->chosen < 2);
        assert_true(r->ways[0].seconds > 0 && r->ways[0].seconds < 1);
        assert_true(r->chosen == 0 || r->ways[1].seconds < r->ways[0].seconds);
    }
    assert_int_equal(is_eval(&lowered, graph->nodes[0]), t.reports[0].chosen);
    assert_int_equal(is_eval(&lowered, graph->nodes[1]), t.reports[0].chosen);
    assert_int_equal(is_eval(&lowered, graph->nodes[2]), t.reports[1].chosen);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

// What has no sizes yet is counted and left to the rule.
static void test_open_sizes(void **state)
{
    (void)state;
    HoloArena  arena = {0};
    HoloGraph *graph =
        parsed(&arena, "graph g(x: f32[N,2]) -> (y) {\n"
                       "    const w: f32[2,16] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, "
                       "4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, "
                       "4.0, 5.0, 6.0, 7.0, 8.0}\n"
                       "    y = MatMul@13(x, w)\n"
                       "}\n");
    HoloLowered lowered;
    HoloTuning  t = tuned(graph, &arena, &lowered);
    assert_int_equal(t.count, 0);
    assert_int_equal(t.open, 1);
    assert_int_equal(holo_lowered_find(&lowered, graph->nodes[0])->lowering.kernel, HOLO_KERNEL_matmul_f32);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

static void test_subgraphs(void **state)
{
    (void)state;
    HoloSource *source = source_of(model_loop(3));
    HoloArena   arena  = {0};
    HoloLowered lowered;
    HoloTuning  t = tuned(source->model.graph, &arena, &lowered);
    assert_true(t.count >= 1); // of the body: the graph itself has only the loop
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
    holo_source_close(source);
}

// By the public interface: the report lives on its own, and the answers are those of the rule.
static void test_compile(void **state)
{
    (void)state;
    HoloCompiler *compiler;
    HoloModel    *model, *plain = compiled(model_conv(), HOLO_FUSED);
    HoloReport   *report;
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_tune(compiler, true);
    EXPECT_OK(holo_compile_model(compiler, model_conv(), &model, &report, &error));
    holo_compiler_destroy(compiler);
    assert_true(report->tuned && report->verified);
    assert_true(report->tune_count >= 3);
    assert_true(report->tune_seconds > 0);
    assert_non_null(holo_model_meta_find(model, "tune.measured"));
    assert_null(holo_model_meta_find(plain, "tune.measured"));
    holo_report_destroy(report);
    size_t a_size, b_size;
    float *a = (float *)(void *)answer(model, NULL, 5, 1, &a_size),
          *b = (float *)(void *)answer(plain, NULL, 5, 1, &b_size);
    assert_int_equal(a_size, b_size);
    for (size_t i = 0; i < a_size / sizeof *a; i++) assert_true(fabsf(a[i] - b[i]) <= 1e-4f);
    free(a), free(b);
    holo_model_close(model);
    holo_model_close(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_gives_the_same),
        cmocka_unit_test(test_lowered),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_open_sizes),
        cmocka_unit_test(test_subgraphs),
        cmocka_unit_test(test_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
