// cuda_merge_test.c - what steps of few rows do along on a GPU, whose kernels run on the CPU by tests/cuda/on_cpu: norms in products,
// gates, rotary embeddings and caches in attention. Results are those of `eval` or of the CPU; launches are counted.
#include "cuda/fake_model.h"

#include "devices/cuda/cuda_waiting.h"
#include "format/small_float.h"
#include "support/watched.h"

#include <math.h>

static uint32_t seed;

static float random_next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / (1 << 23) - 1;
}

static const struct Class {
    const char    *name;
    double         within; // of the largest number
    HoloSmallFloat stored;
    bool           is_small;
} classes[] = {
    {"fused", 3e-6, {0}, false}, {"tf32", 3e-3, {0}, false}, {"f16", 4e-3, {0}, true}, {"bf16", 3e-2, {0}, true}};

static float stored(float x, const char *numeric)
{
    bool           is_f16 = !strcmp(numeric, "f16");
    HoloSmallFloat format = is_f16 ? HOLO_FORMAT_F16 : HOLO_FORMAT_BF16;
    if (!is_f16 && strcmp(numeric, "bf16") != 0) return x;
    return (float)holo_small_decode(format, holo_small_encode(format, (double)x, false));
}

static void fill(HoloTensor *t, double scale, const char *numeric)
{
    for (int64_t i = 0; i < holo_tensor_count(t); i++)
        ((float *)t->data)[i] = stored((float)scale * random_next(), numeric);
}

static void expect_close(const HoloTensor *got, const HoloTensor *want, double within, const char *text)
{
    const float *x = got->data, *y = want->data;
    double       most = 0;
    assert_int_equal(holo_tensor_count(got), holo_tensor_count(want));
    for (int64_t i = 0; i < holo_tensor_count(want); i++) most = fmax(most, fabs((double)y[i]));
    for (int64_t i = 0; i < holo_tensor_count(want); i++)
        if (!(fabs((double)x[i] - (double)y[i]) <= within * most)) {
            FAIL_WITH("element %lld is %.9g, not %.9g, of up to %g:\n%s", (long long)i, (double)x[i], (double)y[i],
                      most, text);
            return;
        }
}

// ---- norms and gates

enum { N = 24, INPUTS = 12 };

// Inputs whose name begins with w are constants: too large for the text.
static HoloGraph *graph_of(const char *text, const char *numeric, HoloArena *arena)
{
    HoloGraph *graph;
    int        kept = 0;
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    for (int i = 0; i < graph->input_count; i++) {
        HoloValue *v = graph->inputs[i];
        if (v->name[0] != 'w') {
            graph->inputs[kept++] = v;
            continue;
        }
        v->is_input    = false;
        v->is_constant = true;
        v->type.data   = holo_arena_take(arena, holo_tensor_bytes(&v->type) + 1);
        fill(&v->type, v->type.rank == 1 ? 1 : 1 / sqrt((double)v->type.dim[0]), v->type.rank == 1 ? "" : numeric);
    }
    graph->input_count = kept;
    EXPECT_OK(holo_graph_infer(graph, &error));
    return graph;
}

// Runs a graph step by step, recorded, and with threads in the opposite order; the same bits each time. `launches`: of a recording
// at most, but for those that bring inputs and outputs.
static void graph_run(const char *text, const struct Class *class, int launches)
{
    HoloArena         arena = {0};
    HoloGraph        *graph = graph_of(text, class->name, &arena);
    HoloTensor        in[INPUTS], want[2], got;
    const HoloTensor *inputs[INPUTS];
    HoloSession      *session;
    int               count = graph->input_count, outputs = graph->output_count;
    for (int i = 0; i < count; i++) {
        in[i]      = graph->inputs[i]->type;
        in[i].data = holo_arena_take(&arena, holo_tensor_bytes(&in[i]) + 1);
        inputs[i]  = &in[i];
        fill(&in[i], 1, class->name);
    }
    EXPECT_OK(holo_graph_eval(graph, inputs, want, &arena, NULL, &error));
    HoloModel *model = fake_model_of(graph, class->name, "ptx");
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < count; i++) EXPECT_OK(holo_session_set_input(session, i, &in[i], &error));
    void *first = NULL;
    for (int run = 0; run < 3; run++) {
        int before         = fake->kernels;
        fake->is_backwards = run == 2;
        EXPECT_OK(holo_session_run(session, &error));
        for (int i = 0; i < outputs; i++) {
            EXPECT_OK(holo_session_output(session, i, &got, &error));
            expect_close(&got, &want[i], class->within, text);
        }
        size_t size = holo_tensor_bytes(&got);
        if (!run) first = holo_arena_take(&arena, size + 1);
        if (!run) memcpy(first, got.data, size);
        assert_memory_equal(first, got.data, size);
        int transfers = class->is_small ? count + outputs : 0;
        if (run) assert_true(fake->kernels - before - transfers <= launches);
    }
    assert_int_equal(fake->computed, fake->kernels);
    fake->is_backwards = false;
    holo_session_destroy(session);
    holo_model_close(model);
    holo_arena_deinit(&arena);
}

static const char gated[]     = "    h = %s\n"
                                "    a = hologram::MatMul@1(h, wa, wi)\n"
                                "    b = hologram::MatMul@1(h, wb, wj, a) {program=\"sigmoid x1; mul x1 r0; mul x0 r1\"}\n"
                                "    c = MatMul@13(h, wc)\n"
                                "    y = hologram::MatMul@1(b, wd, wk, x) {program=\"add x0 x1\"}\n"
                                "}\n";
static const char norms[][80] = {"RMSNormalization@23(x, wg) {epsilon=0.001}",
                                 "LayerNormalization@17(x, wg, ws) {epsilon=0.001}"};

static void gated_run(int rows, int k, int norm, const struct Class *class)
{
    HoloText text = {0};
    holo_text_add(&text,
                  "graph g(x: f32[%d,%d], wg: f32[%d], ws: f32[%d], wa: f32[%d,%d], wb: f32[%d,%d], wc: f32[%d,7],\n"
                  "        wd: f32[%d,%d], wi: f32[%d], wj: f32[%d], wk: f32[%d]) -> (c, y) {\n",
                  rows, k, k, k, k, N, k, N, k, N, k, N, N, k);
    holo_text_add(&text, gated, norms[norm]);
    graph_run(text.data, class,
              rows <= 8 ? 3 : 5); // few rows: both halves of the gate, the third product, the last one
    holo_text_deinit(&text);
}

static void norms_along(void **state)
{
    static const int lengths[] = {1, 15, 16, 17, 2048, 2049};
    int              step      = watched_step("the rows of products with a norm", 4);
    (void)state;
    seed = 1;
    for (int k = 0; k < HOLO_COUNT(lengths); k++) {
        int apart = lengths[k] > 1000 ? 2 * step + 4 : step; // long ones take seconds
        for (int rows = 1 + k % apart; rows <= 9; rows += apart)
            for (int c = 0; c < HOLO_COUNT(classes); c++) {
                // a product that reads much of A has it where it lies: then the norm is a launch of its own
                bool fits  = (int64_t)rows * lengths[k] * (classes[c].is_small ? 2 : 4) <= 40 << 10;
                bool tiled = rows > 8 && !strcmp(classes[c].name, "f16"); // by kernels that no CPU runs
                if (fits && !tiled) gated_run(rows, lengths[k], (k + rows + c) % 2, &classes[c]);
            }
    }
}

// What another step reads, too, is not left out; and long rows.
static void norms_alone(void **state)
{
    static const char read_twice[] = "graph g(x: f32[2,64], wg: f32[64], wa: f32[64,40]) -> (y, z) {\n"
                                     "    h = RMSNormalization@23(x, wg)\n"
                                     "    y = MatMul@13(h, wa)\n"
                                     "    z = Softmax@13(h)\n"
                                     "}\n";
    static const char long_rows[]  = "graph g(x: f32[8,6000], wg: f32[6000], wa: f32[6000,9]) -> (y) {\n"
                                     "    h = RMSNormalization@23(x, wg)\n"
                                     "    y = MatMul@13(h, wa)\n"
                                     "}\n";
    (void)state;
    seed = 2;
    for (int c = 0; c < HOLO_COUNT(classes); c++) {
        graph_run(read_twice, &classes[c], 3);
        graph_run(long_rows, &classes[c], 2);
    }
}

// ---- attention

typedef struct Heads {
    int heads, kv_heads, size, half; // half 0: nothing is turned
    int interleaved, batch;
} Heads;

static void attention_text(const Heads *h, HoloText *text)
{
    int q = h->heads * h->size, k = h->kv_heads * h->size, half = h->half ? h->half : 1;
    holo_text_add(text,
                  "graph g(q: f32[B,S,%d], k: f32[B,S,%d], v: f32[B,S,%d], c: f32[B,S,%d], s: f32[B,S,%d],\n"
                  "        rows: i64[B] = index, lengths: i64[B] = 0, keys: f32[slots,context,%d] = state[B,S,%d],\n"
                  "        values: f32[slots,context,%d] = state[B,S,%d]) -> (y) {\n",
                  q, k, k, half, half, k, k, k, k);
    if (h->half)
        holo_text_add(text,
                      "    u = RotaryEmbedding@23(q, c, s) {num_heads=%d, interleaved=%d, rotary_embedding_dim=%d}\n"
                      "    t = RotaryEmbedding@23(k, c, s) {num_heads=%d, interleaved=%d, rotary_embedding_dim=%d}\n",
                      h->heads, h->interleaved, 2 * h->half, h->kv_heads, h->interleaved, 2 * h->half);
    holo_text_add(text,
                  "    a = hologram::CacheWrite@1(keys, %s, rows, lengths)\n"
                  "    b = hologram::CacheWrite@1(values, v, rows, lengths)\n"
                  "    y = hologram::CachedAttention@1(%s, a, b, rows, lengths) "
                  "{num_heads=%d, kv_num_heads=%d, scale=0.3}\n}\n",
                  h->half ? "t" : "k", h->half ? "u" : "q", h->heads, h->kv_heads);
}

enum { CONTEXT = 150, QUERIES = 5 }; // inputs of f32

static HoloSession *session_of(HoloModel *model, int batch)
{
    HoloSession *session;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_size(session, "slots", batch, &error));
    EXPECT_OK(holo_session_set_size(session, "context", CONTEXT, &error));
    return session;
}

// `tokens` more of each text, on both.
static void tokens_run(HoloSession *const sessions[2], const Heads *h, int tokens, int64_t length,
                       const struct Class *class, const char *text)
{
    const int  wide[QUERIES] = {h->heads * h->size, h->kv_heads * h->size, h->kv_heads * h->size, h->half ? h->half : 1,
                               h->half ? h->half : 1};
    int64_t    lengths[8];
    HoloTensor in[QUERIES], out[2];
    for (int b = 0; b < h->batch; b++) lengths[b] = length;
    for (int i = 0; i < QUERIES; i++) {
        in[i]      = (HoloTensor){.dtype = HOLO_F32, .rank = 3, .dim = {h->batch, tokens, wide[i]}};
        in[i].data = malloc(holo_tensor_bytes(&in[i]));
        fill(&in[i], 1, class->name);
    }
    HoloTensor at = {.dtype = HOLO_I64, .rank = 1, .dim = {h->batch}, .data = lengths};
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < QUERIES; i++) EXPECT_OK(holo_session_set_input(sessions[s], i, &in[i], &error));
        EXPECT_OK(holo_session_set_input(sessions[s], QUERIES + 1, &at, &error));
        EXPECT_OK(holo_session_run(sessions[s], &error));
        EXPECT_OK(holo_session_output(sessions[s], 0, &out[s], &error));
    }
    expect_close(&out[0], &out[1], class->within, text);
    for (int i = 0; i < QUERIES; i++) free(in[i].data);
}

// What is in the caches so far.
static void caches_compare(HoloSession *const sessions[2], const Heads *h, int64_t length, const struct Class *class)
{
    int64_t row = h->kv_heads * h->size, size = h->batch * CONTEXT * row;
    float  *got = malloc((size_t)size * sizeof *got), *want = malloc((size_t)size * sizeof *want);
    for (int state = 0; state < 2; state++) {
        EXPECT_OK(holo_session_state_read(sessions[0], state, 0, got, (size_t)size * sizeof *got, &error));
        EXPECT_OK(holo_session_state_read(sessions[1], state, 0, want, (size_t)size * sizeof *want, &error));
        for (int b = 0; b < h->batch; b++) {
            HoloTensor x = {.dtype = HOLO_F32, .rank = 1, .dim = {length * row}, .data = got + b * CONTEXT * row},
                       y = x;
            y.data       = want + b * CONTEXT * row;
            expect_close(&x, &y, class->within, "a cache");
        }
    }
    free(got);
    free(want);
}

static void attention_run(const Heads *h, const struct Class *class)
{
    HoloArena  arena = {0};
    HoloText   text  = {0};
    HoloGraph *graph;
    HoloModel *models[2];
    uint32_t   kernels;
    attention_text(h, &text);
    EXPECT_OK(holo_graph_parse(&arena, text.data, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(model_of(graph, HOLO_FUSED, &models[1], &kernels, &error));
    models[0]                = fake_model(text.data, class->name, "ptx");
    HoloSession *sessions[2] = {session_of(models[0], h->batch), session_of(models[1], h->batch)};
    tokens_run(sessions, h, 4, 0, class, text.data); // by the same kernels for few queries, after launches of their own
    tokens_run(sessions, h, 3, 4, class, text.data);
    for (int64_t i = 7; i < CONTEXT; i += i < 15 || i > 140 ? 1 : 29) { // keys between are zeros
        int before         = fake->kernels;
        fake->is_backwards = i % 2;
        tokens_run(sessions, h, 1, i, class, text.data);
        // it turns pieces of 8 numbers: what does not fit that is a launch of its own
        int launches = h->half && (h->size % 8 || h->half % 8 || h->interleaved) ? 2 : 1;
        int kernels  = fake->kernels - before;
        if (!class->is_small) expect_counted(kernels >= 1 && kernels <= launches + 2 * (i == 7));
    }
    caches_compare(sessions, h, 15, class);
    assert_int_equal(fake->computed, fake->kernels);
    fake->is_backwards = false;
    for (int i = 0; i < 2; i++) {
        holo_session_destroy(sessions[i]);
        holo_model_close(models[i]);
    }
    holo_text_deinit(&text);
    holo_arena_deinit(&arena);
}

static void attention_along(void **state)
{
    static const Heads cases[] = {{4, 2, 64, 32, 0, 1},  {8, 1, 16, 8, 0, 2}, {3, 3, 20, 10, 0, 1},
                                  {6, 2, 128, 64, 0, 1}, {4, 2, 32, 8, 0, 2}, {4, 2, 64, 16, 1, 1},
                                  {5, 5, 12, 3, 1, 3},   {2, 1, 40, 0, 0, 2}};
    int                step    = watched_step("the classes of attention", 3);
    (void)state;
    seed = 3;
    for (int i = 0; i < HOLO_COUNT(cases); i++)
        for (int c = i % step; c < HOLO_COUNT(classes); c += step) attention_run(&cases[i], &classes[c]);
}

// ---- which steps a graph gets

// How many nodes run by that kind of step, by its name in listings.
static int kinds_count(const HoloLowered *lowered, const char *name)
{
    int count = 0;
    for (int i = 0; i < lowered->count; i++) {
        const HoloCudaKernel *row         = holo_cuda_kernel(lowered->nodes[i].lowering.kernel);
        bool                  is_transfer = HOLO_IS(lowered->nodes[i].node, HOLOGRAM_Transfer);
        count += lowered->nodes[i].target && row && !is_transfer && !strcmp(row->name, name);
    }
    return count;
}

static void kinds_expect(const char *text, const char *numeric, const char *const *names, const int *counts, int count)
{
    HoloTargets targets = {.list = {&holo_target_cpu, holo_target_cuda.of_class(numeric)}, .count = 2};
    HoloArena   arena   = {0};
    HoloGraph  *graph   = graph_of(text, numeric, &arena);
    HoloCut     cut;
    HoloLowered lowered;
    EXPECT_OK(holo_lower_cut(graph, &targets, &cut, &error));
    EXPECT_OK(holo_graph_verify(graph, &error));
    EXPECT_OK(holo_lower_graph(graph, &cut, &lowered, &error));
    for (int i = 0; i < count; i++)
        if (kinds_count(&lowered, names[i]) != counts[i])
            fail_msg("class %s: %d steps are '%s', not %d:\n%s", numeric, kinds_count(&lowered, names[i]), names[i],
                     counts[i], text);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
}

static void kinds(void **state)
{
    static const char *const names[] = {"rows; few by products", "product; few with rows", "rows", "product"};
    static const char        two[]   = "graph g(x: f32[S,64], wg: f32[64], wa: f32[64,40], wb: f32[64,8]) -> (y, z) {\n"
                                       "    h = RMSNormalization@23(x, wg)\n"
                                       "    y = MatMul@13(h, wa)\n"
                                       "    z = MatMul@13(h, wb)\n"
                                       "}\n";
    static const char        open[]  = "graph g(x: f32[S,64], wg: f32[64], wa: f32[64,40]) -> (y, h) {\n"
                                       "    h = RMSNormalization@23(x, wg)\n"
                                       "    y = MatMul@13(h, wa)\n"
                                       "}\n";
    static const char        axis[]  = "graph g(x: f32[S,4,16], wg: f32[4,16], wa: f32[16,40]) -> (y) {\n"
                                       "    h = RMSNormalization@23(x, wg) {axis=1}\n"
                                       "    y = MatMul@13(h, wa)\n"
                                       "}\n";
    static const char        given[] = "graph g(x: f32[S,64], g: f32[64], wa: f32[64,40]) -> (y) {\n"
                                       "    h = RMSNormalization@23(x, g)\n"
                                       "    y = MatMul@13(h, wa)\n"
                                       "}\n";
    static const int         merged[] = {1, 2, 0, 0}, one[] = {0, 0, 1, 1}, plain[] = {0, 0, 1, 2};
    (void)state;
    kinds_expect(two, "bf16", names, merged, 4);
    kinds_expect(two, "exact", names, plain, 4);
    kinds_expect(open, "bf16", names, one, 4);  // the result of the norm is an output
    kinds_expect(axis, "fused", names, one, 4); // its rows are not those of the product
    kinds_expect(given, "bf16", names, one, 4); // its gain is not known
}

static void attention_kinds(void **state)
{
    static const char *const names[] = {"rotary; one by attention", "cache_write; one by attention",
                                        "attention; one with rotary and cache_write", "rotary", "cached_attention"};
    static const int         all[] = {2, 2, 1, 0, 0}, caches[] = {0, 2, 1, 2, 0}, none[] = {0, 2, 1, 0, 0};
    static const struct {
        Heads      heads;
        const int *counts;
    } cases[] = {{{4, 2, 64, 32, 0, 1}, all},
                 {{4, 2, 64, 32, 1, 1}, caches},
                 {{3, 3, 20, 8, 0, 1}, caches},
                 {{2, 1, 40, 0, 0, 1}, none}};
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloText text = {0};
        attention_text(&cases[i].heads, &text);
        kinds_expect(text.data, "bf16", names, cases[i].counts, 5);
        holo_text_deinit(&text);
    }
}

// A product and its gate are one launch, unless the result lies where the gate reads.
static void gates_apart(void **state)
{
    static float a[8], bias[4], gate_to[4], to[4];
    HoloTensor   a_of = {.dtype = HOLO_F32, .rank = 1, .dim = {8}, .data = a}, bias_of = a_of, gate_out = a_of,
               out    = a_of;
    HoloCuHandle rows = a, gated = bias;
    (void)state;
    for (int is_apart = 0; is_apart < 2; is_apart++) {
        HoloCudaWaiting   w     = {0};
        HoloCudaStep      step  = {.function = rows, .gated = gated, .gated_blocks = 1, .many = sizeof(HoloCudaRows)};
        HoloCudaRows      p     = {.a = a, .c = gate_to, .bias = bias, .m = 1, .n = 4, .k = 8, .share = 1};
        const HoloTensor *in[2] = {&a_of, &bias_of}, *more[2] = {&a_of, &gate_out};
        HoloTensor       *first[1] = {&gate_out}, *second[1] = {&out};
        HoloCall          gate = {.in = in, .out = first, .in_count = 2, .out_count = 1};
        HoloCall          call = {.in = more, .out = second, .in_count = 2, .out_count = 1};
        bias_of.dim[0] = gate_out.dim[0] = out.dim[0] = 4;
        bias_of.data = bias, gate_out.data = gate_to, out.data = is_apart ? bias : to;
        w.step = step, w.count = 1;
        memcpy(w.step.args, &p, sizeof p);
        assert_true(holo_cuda_waiting_note(&w, HOLO_CUDA_F32, &gate));
        p.more = gate_to, p.bias = NULL, p.c = out.data, p.more_how = HOLO_CUDA_MORE_MUL_AFTER;
        memcpy(step.args, &p, sizeof p);
        assert_int_equal(holo_cuda_waiting_join(&w, HOLO_CUDA_F32, &call, &step), !is_apart);
        assert_true(w.step.function == (is_apart ? rows : gated));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(kinds, fake_reset),           cmocka_unit_test_setup(attention_kinds, fake_reset),
        cmocka_unit_test_setup(norms_along, fake_reset),     cmocka_unit_test_setup(norms_alone, fake_reset),
        cmocka_unit_test_setup(attention_along, fake_reset), cmocka_unit_test_setup(gates_apart, fake_reset),
    };
    return cmocka_run_group_tests_name("cuda_merge", tests, fake_load, fake_unload);
}
