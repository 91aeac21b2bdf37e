// cuda_float8_test.c - products of floats of 8 bits for the target cuda: which ones become MatMulFloat8, which stay products of the class,
// and how their weights are packed.
#include "support/models.h"

#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"
#include "passes/passes.h"
#include "plan/plan.h"

#include <string.h>

extern const HoloTarget holo_target_cuda;

static const HoloTargets cpu = {.list = {&holo_target_cpu}, .count = 1};

// A graph of a product with a bias: `read` makes d of q, of type f8e4m3fn, and wd of w, which is [3,2].
static void text_make(HoloText *out, const char *read, const char *product)
{
    holo_text_add(out,
                  "graph g(q: f8e4m3fn[n,3], f: f8e4m3fnuz[n,3], o: f32[], l: f32[n], v: f32[2]) -> (y) {\n"
                  "    const s: f32[] = {0.5}\n    const ws: f32[2] = {2, 4}\n    const bs: f32[3] = {1, 2, 3}\n"
                  "    const one: f8e4m3fn[] = {1}\n    const b: f32[2] = {10, 20}\n"
                  "    const w: f8e4m3fn[3,2] = {1, 2, 3, 4, 5, 6}\n    const wt: f8e5m2[2,3] = {1, 2, 3, 4, 5, 6}\n"
                  "    %s\n    %s\n}\n",
                  read, product);
}

// The graph after all passes but `fold`, which computes small weights.
static HoloGraph *passed(HoloArena *arena, const char *text, const char *numeric)
{
    static const char *const disabled[] = {"fold"};
    HoloTargets targets = {.list = {&holo_target_cpu, numeric ? holo_target_cuda.of_class(numeric) : NULL}, .count = 2};
    HoloPassOptions options = {.disabled       = disabled,
                               .disabled_count = 1,
                               .targets        = numeric ? &targets : &cpu,
                               .is_exact       = numeric && !strcmp(numeric, "exact")};
    HoloGraph      *graph;
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(holo_passes_run(graph, &options, &error));
    return graph;
}

static const HoloNode *node_of(const HoloGraph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        if (HOLO_IS(graph->nodes[i], HOLOGRAM_MatMulFloat8)) return graph->nodes[i];
    return NULL;
}

typedef struct Case {
    const char *read, *product;
    int         inputs; // of MatMulFloat8; 0: there is none
    bool        turned;
} Case;

#define D  "d = DequantizeLinear@21(q, s)\n    "
#define WD "wd = DequantizeLinear@21(w, ws)\n    "
#define TD "wd = DequantizeLinear@21(wt, ws) {axis=0}\n    "

static const Case cases[] = {
    {D WD, "y = MatMul@13(d, wd)", 4, false},
    {D "wd = DequantizeLinear@21(w, s)", "y = MatMul@13(d, wd)", 4, false},
    {"d = Cast@19(q) {to=1}\n    wd = Cast@19(w) {to=1}", "y = MatMul@13(d, wd)", 4, false},
    {"d = DequantizeLinear@21(q, o)\n    " WD, "y = MatMul@13(d, wd)", 4, false},
    {"d = DequantizeLinear@21(q, l) {axis=0}\n    " WD, "y = MatMul@13(d, wd)", 4, false},
    {D TD, "t = Transpose@13(wd)\n    y = MatMul@13(d, t)", 4, true},
    {D TD, "y = Gemm@13(d, wd, b) {transB=1}", 5, true},
    {D WD, "m = MatMul@13(d, wd)\n    y = Add@14(m, b)", 5, false},
    {D WD, "m = MatMul@13(d, wd)\n    y = Add@14(b, m)", 5, false},
    {D WD, "m = MatMul@13(d, wd)\n    y = Add@14(m, v)", 4, false}, // no constant
    {D "const wf: f32[3,2] = {1, 2, 3, 4, 5, 6}\n    wq = QuantizeLinear@21(wf, s) {output_dtype=17}\n    "
       "wd = DequantizeLinear@21(wq, s)",
     "y = MatMul@13(d, wd)", 4, false},
    // those that stay
    {D WD, "y = Gemm@13(d, wd, v)", 0, false},
    {"d = DequantizeLinear@21(q, s, one)\n    " WD, "y = MatMul@13(d, wd)", 0, false},
    {D "wd = DequantizeLinear@21(w, s, one)", "y = MatMul@13(d, wd)", 0, false},
    {"d = DequantizeLinear@21(f, s)\n    " WD, "y = MatMul@13(d, wd)", 0, false},
    {"d = DequantizeLinear@21(q, bs) {axis=1}\n    " WD, "y = MatMul@13(d, wd)", 0, false}, // scales along k
    {D "wd = DequantizeLinear@21(w, bs) {axis=0}", "y = MatMul@13(d, wd)", 0, false},
    {D WD, "y = Gemm@13(d, wd) {alpha=2.0}", 0, false},
    {D, "const wd: f32[3,2] = {1, 2, 3, 4, 5, 6}\n    y = MatMul@13(d, wd)", 0, false},
};

static void test_pass(void **state)
{
    static const char *const classes[] = {"fused", "tf32", "f16", "bf16"};
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloArena arena = {0};
        HoloText  text  = {0};
        text_make(&text, cases[i].read, cases[i].product);
        for (int k = 0; k < HOLO_COUNT(classes); k++) {
            const HoloNode *node = node_of(passed(&arena, text.data, classes[k]));
            if ((node ? node->in_count : 0) != cases[i].inputs) fail_msg("%s has another product", text.data);
            if (node) assert_int_equal(holo_node_int(node, "transB", 0), cases[i].turned);
        }
        assert_null(node_of(passed(&arena, text.data, "exact")));
        assert_null(node_of(passed(&arena, text.data, NULL)));
        holo_text_deinit(&text);
        holo_arena_deinit(&arena);
    }
}

// Rows of k bytes, as they are, with zeros up to 16 and 16 bytes more; whichever way the weights are turned.
static void test_packing(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        HoloArena arena = {0};
        HoloText  text  = {0};
        uint8_t   out[64];
        text_make(&text, turned ? D TD : D WD, turned ? "y = Gemm@13(d, wd) {transB=1}" : "y = MatMul@13(d, wd)");
        HoloGraph        *graph    = passed(&arena, text.data, "fused");
        const HoloNode   *node     = node_of(graph);
        const HoloTensor *w        = &node->in[1]->type;
        HoloLowering      lowering = holo_target_cuda.choose(node);
        assert_int_equal(lowering.kernel, HOLO_CUDA_STEP_FLOAT8);
        assert_int_equal(lowering.pack_input, 1);
        HoloPacking packing = holo_target_cuda.packing(&lowering, w);
        assert_int_equal(packing.bytes, 64);
        assert_int_equal(holo_target_cuda.pack(&lowering, w, 0, out), 64);
        for (int n = 0; n < 2; n++)
            for (int k = 0; k < 16; k++)
                assert_int_equal(out[n * 32 + k],
                                 k < 3 ? ((const uint8_t *)w->data)[turned ? n * 3 + k : k * 2 + n] : 0);
        holo_text_deinit(&text);
        holo_arena_deinit(&arena);
    }
}

// The whole of such a model runs on the GPU, and the plan has its packed weights.
static void test_plan(void **state)
{
    HoloArena   arena   = {0};
    HoloText    text    = {0};
    HoloTargets targets = {.list = {&holo_target_cpu, &holo_target_cuda}, .count = 2};
    HoloCut     cut;
    HoloLowered lowered;
    HoloPlan    plan;
    int         packed = 0, products = 0;
    (void)state;
    text_make(&text, D WD, "m = MatMul@13(d, wd)\n    r = Add@14(m, b)\n    y = Relu@14(r)");
    HoloGraph *graph = passed(&arena, text.data, "fused");
    EXPECT_OK(holo_lower_cut(graph, &targets, &cut, &error));
    for (int i = 0; i < graph->node_count; i++)
        if (!HOLO_IS(graph->nodes[i], HOLOGRAM_Transfer)) assert_int_equal(cut.target[i], 1);
    EXPECT_OK(holo_lower_graph(graph, &cut, &lowered, &error));
    for (int i = 0; i < lowered.count; i++)
        products += lowered.nodes[i].lowering.kernel == HOLO_CUDA_STEP_FLOAT8 &&
                    !HOLO_IS(lowered.nodes[i].node, HOLOGRAM_Transfer);
    assert_int_equal(products, 1);
    EXPECT_OK(holo_plan_create(graph, &lowered, &plan, &error));
    for (uint32_t i = 0; i < plan.constant_count; i++) packed += plan.constants[i].kernel == HOLO_CUDA_STEP_FLOAT8;
    assert_int_equal(packed, 1);
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_text_deinit(&text);
    holo_arena_deinit(&arena);
}

// Sources of code for products of 8 bits are there for each kind of GPU: see the Makefile and cuda_code.sh.
static void test_modules(void **state)
{
    const HoloCudaKernel *kernel = holo_cuda_kernel(HOLO_CUDA_STEP_FLOAT8);
    (void)state;
    assert_non_null(kernel);
    assert_string_equal(kernel->modules[0], "product_f8");
    for (const HoloCudaBuilt *b = holo_cuda_built; b->module; b++)
        if (!strncmp(b->kind, "ptx_", 4) || !strcmp(b->kind, "sm_89")) assert_string_equal(b->module, "product_f8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pass), cmocka_unit_test(test_packing),
                                       cmocka_unit_test(test_plan), cmocka_unit_test(test_modules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
