// cuda_test.c - the target cuda where there is no GPU: programs as PTX, who runs what, how weights are packed, code in
// archives.
#include "support/models.h"

#include "archive/archive.h"
#include "devices/cuda/cuda_kernel.h"
#include "devices/cuda/cuda_pick.h"
#include "lower/cuda/cuda_target.h"
#include "lower/cuda/ptx_code.h"
#include "plan/plan.h"
#include "runtime/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const HoloTarget holo_target_cuda;

static const HoloTargets cuda = {.list = {&holo_target_cpu, &holo_target_cuda}, .count = 2};

// ---- PTX

static HoloIsaProgram program_of(HoloArena *arena, const char *text)
{
    HoloIsaProgram program;
    EXPECT_OK(holo_isa_parse(arena, text, strlen(text), &program, &error));
    return program;
}

static char *ptx_of(HoloArena *arena, const char *text, HoloPtxStore store, uint64_t narrow)
{
    HoloIsaProgram program = program_of(arena, text);
    HoloText       out     = {0};
    assert_null(holo_ptx_lacks(&program));
    holo_ptx_begin(&out, HOLO_PTX_SM_80);
    EXPECT_OK(holo_ptx_kernel(&out, "k", &program, HOLO_PTX_SM_80, store, narrow, &error));
    char *kept = holo_arena_text(arena, out.data, strlen(out.data));
    holo_text_deinit(&out);
    return kept;
}

#define HAS(text, part) \
    if (!strstr(text, part)) fail_msg("there is no '%s' in:\n%s", part, text)
#define HAS_NOT(text, part) \
    if (strstr(text, part)) fail_msg("there is '%s' in:\n%s", part, text)

static const char scale_add[] = "program scale_add\n"
                                "in x: f32[]\n"
                                "inout y: f32[]\n"
                                "value factor: f32\n"
                                "    special.i64 r0, global_id\n"
                                "    length.i64 r1, y\n"
                                "    set.lt.i64 p2, r0, r1\n"
                                "    if p2\n"
                                "        param.f32 r3, factor\n"
                                "        ld.f32 r4, x[r0]\n"
                                "        ld.f32 r5, y[r0]\n"
                                "        mad.f32 r6, r4, r3, r5\n"
                                "        st.f32 y[r0], r6\n"
                                "    end\n";

static void test_ptx(void **state)
{
    (void)state;
    HoloArena   arena = {0};
    const char *text  = ptx_of(&arena, scale_add, HOLO_PTX_F32, 0);
    HAS(text, ".target sm_80\n");
    HAS(text, ".visible .entry k(.param .align 8 .b8 args[48])");
    HAS(text, "ld.param.u64 %w0, [args+24];"); // the length of y
    HAS(text, "setp.lt.s64 %p2, %l0, %l1;\n    @!%p2 bra E0;");
    HAS(text, "ld.param.f32 %f3, [args+32];");
    HAS(text, "mad.lo.s64 %w0, %l0, 4, %w1;\n    ld.global.f32 %f4, [%w0];");
    HAS(text, "mul.rn.f32 %g0, %f4, %f3;\n    add.rn.f32 %f6, %g0, %f5;"); // rounded twice
    HAS(text, "st.global.f32 [%w0], %f6;\nE0:\n    ret;");
    assert_string_equal(text, ptx_of(&arena, scale_add, HOLO_PTX_F32, 0));
    // y lies as f16, x does not
    text = ptx_of(&arena, scale_add, HOLO_PTX_F16, 2);
    HAS(text, "mad.lo.s64 %w0, %l0, 4, %w1;\n    ld.global.f32 %f4, [%w0];");
    HAS(text, "mad.lo.s64 %w0, %l0, 2, %w1;\n    ld.global.b16 %h0, [%w0];\n    cvt.f32.f16 %f5, %h0;");
    HAS(text, "cvt.rn.f16.f32 %h0, %f6;\n    st.global.b16 [%w0], %h0;");
    holo_arena_deinit(&arena);
}

static void test_ptx_types(void **state)
{
    (void)state;
    HoloArena   arena = {0};
    const char *text  = ptx_of(&arena,
                               "program types\n"
                                "in a: u8[]\n"
                                "out y: i64[]\n"
                                "out z: bool[]\n"
                                "    special.i32 r0, global_id\n"
                                "    ld.u8 r1, a[r0]\n"
                                "    const.u8 r2, 200\n"
                                "    add.u8 r3, r1, r2\n"
                                "    cvt.f32.u8 r4, r3\n"
                                "    exp.f32 r5, r4\n"
                                "    cvt.i64.f32 r6, r5\n"
                                "    const.i64 r7, 3\n"
                                "    floordiv.i64 r8, r6, r7\n"
                                "    st.i64 y[r0], r8\n"
                                "    set.ne.f32 p9, r5, r4\n"
                                "    st.bool z[r0], p9\n",
                               HOLO_PTX_F32, 0);
    HAS(text, "add.u32 %r3, %r1, %r2;\n    cvt.u8.u32 %r3, %r3;"); // wraps
    HAS(text, "call (r), holo_math_exp, (a);");
    HAS(text, "setp.nan.f32 %q0, %f5, %f5;\n    selp.b64 %l6, 0, %l6, %q0;"); // NaN becomes 0
    HAS(text, "@%q0 sub.s64 %w0, %w0, 1;");                                   // rounds down
    HAS(text, "setp.neu.f32 %p9, %f5, %f4;");                                 // true for NaN
    HAS(text, "selp.u32 %t0, 1, 0, %p9;\n    st.global.u8 [%w0], %t0;");
    HoloIsaProgram shared = program_of(&arena, "program together\n"
                                               "out y: f32[]\n"
                                               "    const.f32 r0, 1\n"
                                               "    reduce.add.f32 r1, r0\n"
                                               "    special.i32 r2, lane_id\n"
                                               "    st.f32 y[r2], r1\n");
    assert_string_equal(holo_ptx_lacks(&shared), "reduce");
    assert_int_equal(holo_ptx_calls(&shared), 0);
    holo_arena_deinit(&arena);
}

static bool is_plain(const HoloIsaOpInfo *info) // registers of one type alone
{
    if (!info || info->how != HOLO_ISA_HOW_NONE || info->kind[0] != HOLO_ISA_KIND_T || info->kind[1] != HOLO_ISA_KIND_T)
        return false;
    for (int k = 2; k < HOLO_ISA_OPERANDS; k++)
        if (info->kind[k] != HOLO_ISA_KIND_T && info->kind[k] != HOLO_ISA_KIND_N) return false;
    return true;
}

// A program that loads an element, does everything that can be done with its type, and stores each result.
static HoloIsaProgram everything(HoloArena *arena, HoloDtype type, int *count)
{
    HoloIsaBuilder b;
    HoloIsaProgram program;
    holo_isa_begin(&b, arena, "everything");
    int in = holo_isa_param(&b, "x", type, HOLO_ISA_IN), out = holo_isa_param(&b, "y", type, HOLO_ISA_OUT);
    int truth = holo_isa_param(&b, "z", HOLO_BOOL, HOLO_ISA_OUT);
    int at = holo_isa_special(&b, HOLO_I64, HOLO_ISA_SPECIAL_GLOBAL_ID), x = holo_isa_load(&b, HOLO_ISA_LD, in, at);
    for (unsigned op = 1; op < HOLO_ISA_OP_END; op++) {
        const HoloIsaOpInfo *info = holo_isa_op(op);
        HoloIsaInst          inst = {.op = (uint16_t)op, .type = (uint8_t)type};
        if (!is_plain(info) || !(info->types >> type & 1) || !holo_ptx_write(&inst)) continue;
        holo_isa_store(&b, HOLO_ISA_ST, out, at,
                       holo_isa_value(&b, (HoloIsaOp)op, type, x, info->kind[2] ? x : 0, info->kind[3] ? x : 0));
        (*count)++;
    }
    for (int to = 1; to < HOLO_DTYPE_COUNT; to++) {
        if (!holo_isa_is_type((unsigned)to)) continue;
        int there = holo_isa_convert(&b, (HoloDtype)to, type, x);
        holo_isa_store(&b, HOLO_ISA_ST, out, at, holo_isa_convert(&b, type, (HoloDtype)to, there));
    }
    for (int cond = 0; cond < HOLO_ISA_CONDS && type != HOLO_BOOL; cond++) {
        int p = holo_isa_compare(&b, (HoloIsaCond)cond, type, x, x);
        holo_isa_store(&b, HOLO_ISA_ST, truth, at, p);
        holo_isa_store(&b, HOLO_ISA_ST, out, at, holo_isa_value(&b, HOLO_ISA_SEL, type, p, x, x));
    }
    EXPECT_OK(holo_isa_finish(&b, &program, &error));
    return program;
}

// NVIDIA's assembler, where it is, takes every instruction in each of its types.
static void assembled(HoloPtxFor machine, const char *kind)
{
    HoloArena   arena = {0};
    HoloText    out   = {0};
    const char *place = system("command -v ptxas > /dev/null") ? "/usr/local/cuda/bin/ptxas" : "ptxas";
    char        command[700], name[32];
    int         count = 0;
    holo_ptx_begin(&out, machine);
    for (int i = 0; holo_ptx_functions[i]; i++) {
        bool two = !strcmp(holo_ptx_functions[i], "pow") || !strcmp(holo_ptx_functions[i], "fmod");
        holo_text_add(&out, ".extern .func (.param .b32 r) holo_math_%s (.param .b32 a%s);\n", holo_ptx_functions[i],
                      two ? ", .param .b32 b" : "");
    }
    for (int type = 1; type < HOLO_DTYPE_COUNT; type++) {
        if (!holo_isa_is_type((unsigned)type)) continue;
        HoloIsaProgram program = everything(&arena, (HoloDtype)type, &count);
        for (int store = 0; store < 3; store++) {
            snprintf(name, sizeof name, "k%d_%d", type, store);
            EXPECT_OK(holo_ptx_kernel(&out, name, &program, machine, (HoloPtxStore)store, 3, &error));
        }
    }
    assert_true(count > 200);
    file_write(temp_path("all.ptx"), out.data, strlen(out.data));
    snprintf(command, sizeof command, "%s --version > /dev/null 2>&1", place);
    if (system(command)) {
        printf("there is no ptxas here: PTX was not assembled\n");
    } else {
        snprintf(command, sizeof command, "%s -arch=%s -c -o %s %s", place, kind, temp_path("all.cubin"),
                 temp_path("all.ptx"));
        assert_int_equal(system(command), 0);
    }
    holo_text_deinit(&out);
    holo_arena_deinit(&arena);
}

static void test_assembled(void **state)
{
    (void)state;
    assembled(HOLO_PTX_SM_80, "sm_80");
    assembled(HOLO_PTX_SM_90, "sm_90");
}

// ---- who runs what

static HoloGraph *parsed(HoloArena *arena, const char *text)
{
    HoloGraph *graph;
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    return graph;
}

static const char layer[] =
    "graph g(x: f32[5,3], m: f32[5,2]) -> (y, h) {\n"
    "    const w: f32[3,2] = {1, 2, 3, 4, 5, 6}\n"
    "    const b: f32[2] = {7, 8}\n"
    "    a = hologram::MatMul@1(x, w, b, m) {program=\"add x0 x1; at_least r0 n0\", numbers=[0.0]}\n"
    "    s = Softmax@13(a)\n"
    "    h = Hardmax@13(s)\n"
    "    y = hologram::Pointwise@1(s, m) {program=\"tanh x0; mul r0 x1\"}\n"
    "}\n";

static void test_cut(void **state)
{
    (void)state;
    HoloArena  arena = {0};
    HoloGraph *graph = parsed(&arena, layer);
    HoloText   got   = {0};
    HoloCut    cut;
    EXPECT_OK(holo_lower_cut(graph, &cuda, &cut, &error));
    for (int i = 0; i < graph->node_count; i++)
        if (!HOLO_IS(graph->nodes[i], HOLOGRAM_Transfer))
            holo_text_add(&got, "%s %d, ", graph->nodes[i]->type, cut.target[i]);
    assert_string_equal(got.data, "MatMul 1, Softmax 1, Hardmax 0, Pointwise 1, ");
    holo_text_deinit(&got);
    holo_arena_deinit(&arena);
}

// A language model: a state is where the node that changes it runs, if all that read it run there, too. Angles keep their
// digits on the host where the GPU stores few.
static void expect_cut(const char *numeric, const char *slopes, const char *want)
{
    HoloArena   arena = {0};
    HoloText    text = {0}, got = {0};
    HoloTargets targets = {.list = {&holo_target_cpu, holo_target_cuda.of_class(numeric)}, .count = 2};
    HoloCut     cut;
    HoloLowered lowered;
    holo_text_add(&text,
                  "graph g(x: f32[B,S,4], rows: i64[B] = index, lengths: i64[B] = 0,\n"
                  "        keys: f32[slots,context,4] = state[B,S,4]) -> (y) {\n"
                  "    const f: f32[2] = {1, 0.5}\n"
                  "    const alibi: f32[1] = {0.5}\n"
                  "    const axes: i64[2] = {1, 2}\n"
                  "    p = Cast@13(lengths) {to=1}\n"
                  "    q = Unsqueeze@13(p, axes)\n"
                  "    a = Mul@14(q, f)\n"
                  "    c = Cos@7(a)\n"
                  "    s = Sin@7(a)\n"
                  "    t = RotaryEmbedding@23(x, c, s) {num_heads=1}\n"
                  "    all = hologram::CacheWrite@1(keys, t, rows, lengths)\n"
                  "    y = hologram::CachedAttention@1(t, all, all, rows, lengths%s) {num_heads=1, scale=1.0}\n"
                  "}\n",
                  slopes);
    HoloGraph *graph = parsed(&arena, text.data);
    EXPECT_OK(holo_lower_cut(graph, &targets, &cut, &error));
    for (int i = 0; i < graph->node_count; i++)
        if (!HOLO_IS(graph->nodes[i], HOLOGRAM_Transfer))
            holo_text_add(&got, "%s %d, ", graph->nodes[i]->type, cut.target[i]);
    assert_string_equal(got.data, want);
    EXPECT_OK(holo_lower_graph(graph, &cut, &lowered, &error));
    assert_int_equal(holo_lowered_space(&lowered, holo_graph_find(graph, "keys")), !*slopes);
    holo_lowered_deinit(&lowered);
    holo_text_deinit(&text);
    holo_text_deinit(&got);
    holo_arena_deinit(&arena);
}

static void test_states(void **state)
{
    (void)state;
    expect_cut("fused", "",
               "Cast 1, Unsqueeze 1, Mul 1, Cos 1, Sin 1, RotaryEmbedding 1, CacheWrite 1, CachedAttention 1, ");
    expect_cut("bf16", "",
               "Cast 0, Unsqueeze 0, Mul 0, Cos 0, Sin 0, RotaryEmbedding 1, CacheWrite 1, CachedAttention 1, ");
    // attention with slopes has no kernel: the cache stays on the host with it
    expect_cut("fused", ", _, alibi",
               "Cast 1, Unsqueeze 1, Mul 1, Cos 1, Sin 1, RotaryEmbedding 1, CacheWrite 0, CachedAttention 0, ");
}

static const HoloLoweredNode *lowered_as(const HoloLowered *lowered, const char *type)
{
    for (int i = 0; i < lowered->count; i++)
        if (!strcmp(lowered->nodes[i].node->type, type)) return &lowered->nodes[i];
    fail_msg("there is no node %s", type);
    return NULL;
}

// The tail becomes the end of the product; the weights cross as their transfer packs them.
static void test_product(void **state)
{
    (void)state;
    HoloArena   arena = {0};
    HoloGraph  *graph = parsed(&arena, layer);
    HoloCut     cut;
    HoloLowered lowered;
    EXPECT_OK(holo_lower_cut(graph, &cuda, &cut, &error));
    EXPECT_OK(holo_lower_graph(graph, &cut, &lowered, &error));
    const HoloLoweredNode *product = lowered_as(&lowered, "MatMul");
    HoloCudaStepParams     p       = holo_cuda_params(&product->lowering);
    assert_int_equal(product->lowering.kernel, HOLO_CUDA_STEP_PRODUCT);
    assert_int_equal(p.act, HOLO_CUDA_ACT_RELU);
    assert_int_equal(p.more_how, HOLO_CUDA_MORE_ADD_BEFORE);
    assert_int_equal(p.flags, HOLO_CUDA_FLAG_PACKED);
    assert_int_equal(product->lowering.pack_input, -1);
    const HoloLoweredNode *transfer = holo_lowered_find(&lowered, product->node->in[1]->producer);
    const HoloTensor      *w        = &transfer->node->in[0]->type;
    float                  packed[8];
    assert_int_equal(transfer->lowering.pack_input, 0);
    assert_int_equal(holo_target_cuda.packing(&transfer->lowering, w).bytes, sizeof packed);
    assert_int_equal(holo_target_cuda.pack(&transfer->lowering, w, 0, packed), sizeof packed);
    const float expected[] = {1, 3, 5, 0, 2, 4, 6, 0}; // a row for each column, of whole 16 bytes
    assert_memory_equal(packed, expected, sizeof expected);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

// Filters: taps before channels; where each channel has its own, channels last.
static void test_filters(void **state)
{
    (void)state;
    float              w[8]   = {1, 2, 3, 4, 5, 6, 7, 8}, out[16];
    HoloCudaStepParams params = {.size = sizeof params, .layout = 1};
    HoloLowering       conv   = {.kernel = HOLO_CUDA_STEP_CONV};
    HoloTensor         dense  = {.dtype = HOLO_F32, .rank = 4, .dim = {2, 2, 1, 2}, .data = w};
    HoloTensor         own    = {.dtype = HOLO_F32, .rank = 4, .dim = {4, 1, 1, 2}, .data = w};
    holo_cuda_set_params(&conv, &params);
    assert_int_equal(holo_target_cuda.pack(&conv, &dense, 0, out), sizeof out);
    const float taps_first[] = {1, 3, 0, 0, 2, 4, 0, 0, 5, 7, 0, 0, 6, 8, 0, 0}; // few channels: padded with zeros
    assert_memory_equal(out, taps_first, sizeof out);
    params.layout = 4;
    holo_cuda_set_params(&conv, &params);
    const float channels_last[] = {1, 3, 5, 7, 2, 4, 6, 8};
    assert_int_equal(holo_target_cuda.pack(&conv, &own, 0, out), sizeof channels_last);
    assert_memory_equal(out, channels_last, sizeof channels_last);
    // weights of class tf32 are rounded, not cut
    HoloTensor one = {.dtype = HOLO_F32, .rank = 2, .dim = {2, 1}, .data = (float[]){0x1.003p0F, 0x1.001p0F}};
    conv.kernel    = HOLO_CUDA_STEP_PRODUCT;
    params.layout  = 0;
    params.numeric = HOLO_CUDA_NUMERIC_TF32;
    holo_cuda_set_params(&conv, &params);
    assert_int_equal(holo_target_cuda.pack(&conv, &one, 0, out), 16);
    assert_true(out[0] == 0x1.004p0F && out[1] == 1.0F);
}

static HoloCudaStepParams end_of(const char *program, bool *out_fits)
{
    HoloArena arena = {0};
    char      text[400];
    snprintf(text, sizeof text,
             "graph g(x: f32[5,3], m: f32[5,2]) -> (y) {\n"
             "    const w: f32[3,2] = {1, 2, 3, 4, 5, 6}\n"
             "    const b: f32[2] = {7, 8}\n"
             "    y = hologram::MatMul@1(x, w, b, m) {program=\"%s\", numbers=[%s]}\n"
             "}\n",
             program, strstr(program, "n1; s") ? "0.0,1.0" : "0.0,6.0");
    HoloGraph   *graph = parsed(&arena, text);
    HoloLowering out   = holo_target_cuda.choose(graph->nodes[0]);
    assert_int_equal(out.kernel, HOLO_CUDA_STEP_PRODUCT);
    HoloCudaStepParams p = holo_cuda_params(&out);
    *out_fits            = !(p.flags & HOLO_CUDA_FLAG_TAIL);
    holo_arena_deinit(&arena);
    return p;
}

static void test_ends(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        int         act, more;
    } ends[] = {
        {"add x1 x0", HOLO_CUDA_ACT_NONE, HOLO_CUDA_MORE_ADD_BEFORE},
        {"at_least x0 n0; at_most r0 n1", HOLO_CUDA_ACT_CLIP, HOLO_CUDA_MORE_NONE},
        {"gelu x0", HOLO_CUDA_ACT_GELU_ERF, HOLO_CUDA_MORE_NONE},
        {"gelu_tanh x0; mul r0 x1", HOLO_CUDA_ACT_GELU_TANH, HOLO_CUDA_MORE_MUL_AFTER},
        {"sigmoid x0; mul x0 r0", HOLO_CUDA_ACT_SILU, HOLO_CUDA_MORE_NONE},
        {"sigmoid x0; add r0 x1", HOLO_CUDA_ACT_SIGMOID, HOLO_CUDA_MORE_ADD_AFTER},
        {"mul x0 n1; sigmoid r0; mul x0 r1", HOLO_CUDA_ACT_SILU, HOLO_CUDA_MORE_NONE},
        {"mul x1 n1; sigmoid r0; mul x1 r1; mul r2 x0", HOLO_CUDA_ACT_NONE, HOLO_CUDA_MORE_MUL_SILU},
        {"gelu_tanh x1; mul x0 r0", HOLO_CUDA_ACT_NONE, HOLO_CUDA_MORE_MUL_GELU_TANH},
    };
    bool fits;
    for (int i = 0; i < HOLO_COUNT(ends); i++) {
        HoloCudaStepParams p = end_of(ends[i].program, &fits);
        if (!fits || p.act != ends[i].act || p.more_how != ends[i].more)
            fail_msg("%s: %d, %d", ends[i].program, p.act, p.more_how);
    }
    end_of("exp x0", &fits);
    assert_false(fits);
    end_of("sub x0 x1", &fits);
    assert_false(fits);
}

// ---- code in archives

static HoloPlan planned(HoloGraph *graph, HoloLowered *lowered)
{
    HoloCut  cut;
    HoloPlan plan;
    EXPECT_OK(holo_lower_cut(graph, &cuda, &cut, &error));
    EXPECT_OK(holo_lower_graph(graph, &cut, lowered, &error));
    EXPECT_OK(holo_plan_create(graph, lowered, &plan, &error));
    return plan;
}

static HoloStatus opened(const HoloPlan *plan, HoloArchive *archive, char *why, size_t room)
{
    HoloFileWriter    *file;
    static HoloMapping mapping;
    uint64_t           size;
    HoloError          wrong = {0};
    if (mapping.data) holo_file_unmap(&mapping);
    EXPECT_OK(holo_file_writer_open(temp_path("cuda.holo"), &file, &error));
    EXPECT_OK(holo_archive_write(plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_map(file, &mapping, &error));
    EXPECT_OK(holo_file_writer_close(file, false, &error));
    HoloStatus status = holo_archive_open(mapping.data, mapping.size, archive, &wrong);
    snprintf(why, room, "%.190s", wrong.text);
    return status;
}

static void test_archive(void **state)
{
    (void)state;
    HoloArena            arena = {0};
    HoloGraph           *graph = parsed(&arena, layer);
    HoloLowered          lowered;
    HoloPlan             plan = planned(graph, &lowered);
    HoloArchive          archive;
    char                 why[200];
    static const char    code[] = "not really code";
    const HoloTargetCode module = {"basic", "sm_90", code, sizeof code};
    EXPECT_OK(holo_plan_code(&plan, 1, &module, &error));
    EXPECT_OK(holo_plan_code(&plan, 1, &module, &error));
    assert_int_equal(opened(&plan, &archive, why, sizeof why), HOLO_OK);
    assert_int_equal(archive.CODE_count, 2);
    assert_string_equal(archive.STRINGS_at + archive.CODE_at[1].kind, "sm_90");
    assert_memory_equal(archive.CODE_DATA_at + archive.CODE_at[1].offset, code, sizeof code);
    HoloCodeRecord *record = (void *)plan.section[HOLO_SECTION_CODE].data, good = record[1];
    record[1].target = 2;
    assert_int_equal(opened(&plan, &archive, why, sizeof why), HOLO_BAD_ARCHIVE);
    HAS(why, "code 1 has no target or no name");
    record[1]      = good;
    record[1].size = 1 << 20;
    assert_int_equal(opened(&plan, &archive, why, sizeof why), HOLO_BAD_ARCHIVE);
    HAS(why, "code 1 lies outside its section");
    record[1]        = good;
    record[1].offset = record[0].offset; // two modules share bytes
    assert_int_equal(opened(&plan, &archive, why, sizeof why), HOLO_BAD_ARCHIVE);
    record[1].offset = good.offset + 1;
    assert_int_equal(opened(&plan, &archive, why, sizeof why), HOLO_BAD_ARCHIVE);
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

// The code of a plan, or what to do where this program has none.
static void test_code(void **state)
{
    (void)state;
    HoloArena          arena = {0};
    HoloGraph         *graph = parsed(&arena, layer);
    HoloLowered        lowered;
    HoloPlan           plan    = planned(graph, &lowered);
    const HoloLowered *list[1] = {&lowered};
    HoloTargetUse      use     = {.lowered = list, .count = 1, .kind = "sm_90", .arena = &arena};
    HoloTargetCode     code[HOLO_TARGET_CODES];
    HoloError          why   = {0};
    int                count = 0, programs = 0;
    HoloStatus         status = holo_target_cuda.code(&use, code, &count, &why);
    if (!holo_cuda_built[0].module) {
        assert_int_equal(status, HOLO_UNSUPPORTED);
        HAS(why.text, "make cuda");
    } else {
        assert_int_equal(status, HOLO_OK);
        for (int i = 0; i < count; i++) {
            assert_string_not_equal(code[i].kind, "sm_80");
            if (strcmp(code[i].module, "programs")) continue;
            programs++;
            HAS((const char *)code[i].data, "holo_math_tanh(");
            HAS_NOT((const char *)code[i].data, "holo_math_erf(");
        }
        assert_int_equal(programs, 2); // for sm_80 and for sm_90
    }
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

// ---- a machine without a GPU

static void test_devices(void **state)
{
    (void)state;
    HoloModel *model;
    HoloError  why = {0};
    EXPECT_OK(holo_compile_file(NULL, model_tiny(), temp_path("cuda_cpu.holo"), NULL, &error));
    EXPECT_OK(holo_model_open(temp_path("cuda_cpu.holo"), &model, &error));
    EXPECT_OK(holo_model_set_device(model, "cpu", &error));
    static const struct {
        const char *name, *why;
    } wrong[] = {{"cuda:0", "compile it again with --target cuda"},
                 {"cuda:x", "a device is named as"},
                 {"cpu:1", "has no number"},
                 {":1", "a device is named as"}};
    for (int i = 0; i < HOLO_COUNT(wrong); i++) {
        why = (HoloError){0};
        assert_int_not_equal(holo_model_set_device(model, wrong[i].name, &why), HOLO_OK);
        HAS(why.text, wrong[i].why);
    }
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ptx),     cmocka_unit_test(test_ptx_types), cmocka_unit_test(test_assembled),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_product),   cmocka_unit_test(test_filters),
        cmocka_unit_test(test_ends),    cmocka_unit_test(test_archive),   cmocka_unit_test(test_code),
        cmocka_unit_test(test_devices), cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
