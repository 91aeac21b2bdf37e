// cuda_few_bits_test.c - weights of few bits for the target cuda: which nodes run there, how weights are packed and shared, which code they
// need.
#include "support/models.h"

#include "devices/cuda/cuda_blocks.h"
#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"
#include "passes/passes.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

extern const HoloTarget holo_target_cuda;

static const HoloTargets cuda = {.list = {&holo_target_cpu, &holo_target_cuda}, .count = 2};
static const HoloTargets cpu  = {.list = {&holo_target_cpu}, .count = 1};

static void numbers_add(HoloText *out, const char *name, const char *type, int count, int by)
{
    holo_text_add(out, "    const %s: %s = {", name, type);
    for (int i = 0; i < count; i++) holo_text_add(out, "%s%d", i ? ", " : "", i * by % 100);
    holo_text_add(out, "}\n");
}

// The graph after all passes but `fold`, which computes small weights.
static HoloGraph *passed(HoloArena *arena, const char *text, const HoloTargets *targets)
{
    static const char *const disabled[] = {"fold"};
    HoloPassOptions          options    = {.disabled = disabled, .disabled_count = 1, .targets = targets};
    HoloGraph               *graph;
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(holo_passes_run(graph, &options, &error));
    return graph;
}

static const HoloNode *node_as(const HoloGraph *graph, const char *type)
{
    for (int i = 0; i < graph->node_count; i++)
        if (!strcmp(graph->nodes[i]->type, type)) return graph->nodes[i];
    fail_msg("there is no node %s", type);
    return NULL;
}

// A table that is looked up and multiplied with, as in language models.
static void tied_text(HoloText *out)
{
    holo_text_add(out, "graph g(ids: i64[4]) -> (y) {\n");
    numbers_add(out, "w", "u8[20,36]", 20 * 36, 7);
    holo_text_add(out, "    d = hologram::DecodeBlocks@1(w) {type=\"q4_0\", count=64}\n"
                       "    x = Gather@13(d, ids)\n"
                       "    t = Transpose@13(d) {perm=[1, 0]}\n"
                       "    y = MatMul@13(x, t)\n}\n");
}

// Everything runs on the GPU. Numbers that are multiplied are not rounded, and the table is stored once.
static void test_tied(void **state)
{
    HoloArena   arena = {0};
    HoloText    text = {0}, got = {0};
    HoloCut     cut;
    HoloLowered lowered;
    HoloPlan    plan;
    int         packed = 0;
    (void)state;
    tied_text(&text);
    HoloGraph *graph = passed(&arena, text.data, &cuda);
    assert_int_equal(holo_node_int(node_as(graph, "MatMulBlocks"), "rounds", 0), 0);
    EXPECT_OK(holo_lower_cut(graph, &cuda, &cut, &error));
    for (int i = 0; i < graph->node_count; i++)
        if (!HOLO_IS(graph->nodes[i], HOLOGRAM_Transfer))
            holo_text_add(&got, "%s %d, ", graph->nodes[i]->type, cut.target[i]);
    assert_string_equal(got.data, "TakeRows 1, MatMulBlocks 1, ");
    EXPECT_OK(holo_lower_graph(graph, &cut, &lowered, &error));
    EXPECT_OK(holo_plan_create(graph, &lowered, &plan, &error));
    for (uint32_t i = 0; i < plan.constant_count; i++) packed += plan.constants[i].kernel == HOLO_CUDA_STEP_BLOCKS;
    assert_int_equal(packed, 1);
    assert_int_equal(plan.deduplicated, 1);
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    // the CPU rounds them
    graph = passed(&arena, text.data, &cpu);
    assert_int_equal(holo_node_int(node_as(graph, "MatMulBlocks"), "rounds", 0), 1);
    holo_text_deinit(&text);
    holo_text_deinit(&got);
    holo_arena_deinit(&arena);
}

static void nbits_text(HoloText *out, int bits, const char *more)
{
    char type[40];
    snprintf(type, sizeof type, "u8[3,2,%d]", 32 * bits / 8);
    holo_text_add(out, "graph g(x: f32[2,40]) -> (y) {\n");
    numbers_add(out, "w", type, 3 * 2 * 32 * bits / 8, 11);
    numbers_add(out, "s", "f32[3,2]", 6, 1);
    holo_text_add(
        out,
        "    y = com.microsoft::MatMulNBits@1(x, w, s) {K=40, N=3, bits=%d, block_size=32, accuracy_level=4%s}\n}\n",
        bits, more);
}

static void expect_nbits(int bits, const char *more, const HoloTargets *targets, const char *domain, int target)
{
    HoloArena arena = {0};
    HoloText  text  = {0};
    nbits_text(&text, bits, more);
    HoloGraph      *graph = passed(&arena, text.data, targets);
    const HoloNode *node  = node_as(graph, "MatMulNBits");
    assert_string_equal(node->op->domain, domain);
    assert_int_equal(holo_targets_number(targets, node), target);
    holo_text_deinit(&text);
    holo_arena_deinit(&arena);
}

static void test_nbits(void **state)
{
    (void)state;
    expect_nbits(4, "", &cuda, "com.microsoft", 1);
    expect_nbits(8, "", &cuda, "com.microsoft", 1);
    expect_nbits(2, "", &cuda, "hologram", 0);
    expect_nbits(4, "", &cpu, "hologram", 0);
}

// Element k of column c is in quad k % 32 / 4 of its unit: a byte each, or half a byte.
static void test_packing(void **state)
{
    (void)state;
    for (int bits = 4; bits <= 8; bits += 4) {
        HoloArena    arena = {0};
        HoloText     text  = {0};
        HoloLowering lowering;
        uint8_t      out[2 * 64 * 8];
        nbits_text(&text, bits, "");
        HoloGraph        *graph = passed(&arena, text.data, &cuda);
        const HoloNode   *node  = node_as(graph, "MatMulNBits");
        const HoloTensor *w     = &node->in[1]->type;
        lowering                = holo_target_cuda.choose(node);
        assert_int_equal(lowering.pack_input, 1);
        HoloPacking packing = holo_target_cuda.packing(&lowering, w);
        assert_int_equal(packing.bytes, 2 * 64 * bits);
        assert_int_equal(packing.part_count, 1);
        assert_int_equal(holo_target_cuda.pack(&lowering, w, 0, out), packing.bytes);
        for (int c = 0; c < 16; c++)
            for (int k = 0; k < 64; k++) {
                const uint8_t *column = (const uint8_t *)w->data + c * 8 * bits;
                int            q = k % 32 / 4, unit = k / 32 * 64 * bits;
                unsigned       want = c < 3 ? holo_nbits_at(column, k, bits) : 0;
                unsigned       got  = bits == 8 ? out[unit + q * 64 + c * 4 + k % 4]
                                                : out[unit + q % 4 * 64 + c * 4 + k % 4] >> q / 4 * 4 & 15;
                assert_int_equal(got, want);
            }
        holo_text_deinit(&text);
        holo_arena_deinit(&arena);
    }
}

// Every type has code; a panel never ends in the middle of 16 bytes.
static void test_modules(void **state)
{
    (void)state;
    for (int i = 0; holo_block_type_at(i); i++) {
        const HoloBlockType *type = holo_block_type_at(i);
        assert_non_null(holo_cuda_block_module((uint32_t)i));
        assert_int_equal(holo_cuda_block_number(type), i);
        assert_int_equal(holo_block_panel_bytes(type, type->count) % 16, 0);
        assert_int_equal(holo_block_chunk_bytes(type) % 16, 0);
        assert_int_equal(holo_block_chunk_scales(type) % 16, 0);
    }
    assert_string_equal(holo_cuda_block_module(HOLO_CUDA_NBITS_4), "blocks_nbits");
    assert_null(holo_cuda_block_module(999));
}

// Blocks of threads cover all panels, and no share is without work.
static void test_share(void **state)
{
    static const int32_t sizes[] = {1, 15, 16, 17, 300, 2048, 5632, 32000, 128256};
    (void)state;
    for (int n = 0; n < HOLO_COUNT(sizes); n++)
        for (int k = 1; k < HOLO_COUNT(sizes); k++) {
            int32_t  share;
            uint64_t grid;
            holo_cuda_block_share(sizes[n], sizes[k], 132, &share, &grid);
            int32_t panels = (sizes[n] + 15) / 16, each = HOLO_CUDA_BLOCK_WARPS / share;
            assert_true(share == 1 || share == 2 || share == 4 || share == 8);
            assert_true((int64_t)grid * each >= panels && (int64_t)(grid - 1) * each < panels);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tied), cmocka_unit_test(test_nbits),
                                       cmocka_unit_test(test_packing), cmocka_unit_test(test_modules),
                                       cmocka_unit_test(test_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
