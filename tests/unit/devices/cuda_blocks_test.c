// cuda_blocks_test.c - weights of few bits on a GPU, whose kernels run on the CPU by tests/cuda/on_cpu, against the operators' `eval`:
// every type of block, MatMulNBits, few rows and many, in each class of numbers.
#include "cuda/fake_model.h"

#include "format/blocks.h"
#include "format/small_float.h"
#include "graph/facts.h"
#include "passes/passes.h"
#include "support/watched.h"

#include <math.h>

static uint32_t seed;

static uint32_t random_next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

// ---- weights

// Where blocks have their numbers of f16; -1: none.
static const struct {
    const char *type;
    int         at[2];
} halves[] = {{"q4_0", {0, -1}},    {"q4_1", {0, 2}},    {"q5_0", {0, -1}},    {"q5_1", {0, 2}},    {"q8_0", {0, -1}},
              {"q2_k", {80, 82}},   {"q3_k", {108, -1}}, {"q4_k", {0, 2}},     {"q5_k", {0, 2}},    {"q6_k", {208, -1}},
              {"iq1_s", {0, -1}},   {"iq1_m", {54, -1}}, {"iq2_xxs", {0, -1}}, {"iq2_xs", {0, -1}}, {"iq2_s", {0, -1}},
              {"iq3_xxs", {0, -1}}, {"iq3_s", {0, -1}},  {"iq4_nl", {0, -1}},  {"iq4_xs", {0, -1}}, {"tq1_0", {52, -1}},
              {"tq2_0", {64, -1}},  {"mxfp4", {-1, -1}}};

// Any bytes are a block. Tame ones have scales between 1/64 and 1/4.
static void block_fill(const HoloBlockType *type, bool is_tame, uint8_t *out)
{
    for (int i = 0; i < type->bytes; i++) out[i] = (uint8_t)random_next();
    if (!is_tame) return;
    if (type->scale == HOLO_BLOCK_POWER) out[0] = (uint8_t)(120 + random_next() % 4);
    for (int i = 0; i < HOLO_COUNT(halves); i++)
        for (int k = 0; k < 2 && !strcmp(halves[i].type, type->name); k++)
            if (halves[i].at[k] >= 0) out[halves[i].at[k] + 1] = (uint8_t)(0x24 + random_next() % 12);
}

// ---- a case: inputs and nodes as text, and the constants among the inputs

enum { CONSTANTS = 5 };

typedef struct Case {
    HoloText inputs, body;
    char     name[CONSTANTS][4];
    void    *data[CONSTANTS];
    int      count;
} Case;

static void case_free(Case *c)
{
    holo_text_deinit(&c->inputs);
    holo_text_deinit(&c->body);
    for (int i = 0; i < c->count; i++) free(c->data[i]);
}

// Constants are too large for the text: they are inputs there.
static void *constant_add(Case *c, const char *name, const char *type, int64_t rows, int64_t columns, size_t size)
{
    holo_text_add(&c->inputs, ", %s: %s[%lld,%lld]", name, type, (long long)rows, (long long)columns);
    snprintf(c->name[c->count], sizeof c->name[0], "%s", name);
    return c->data[c->count++] = malloc((size_t)(rows * columns) * size + 1);
}

static void blocks_add(Case *c, const char *name, const HoloBlockType *type, int64_t n, int64_t k, bool is_tame)
{
    int64_t  row   = holo_block_row_bytes(type, k);
    uint8_t *bytes = constant_add(c, name, "u8", n, row, 1);
    for (int64_t i = 0; i < n * row; i += type->bytes) block_fill(type, is_tame, bytes + i);
}

// The graph of a case, in the arena.
static HoloGraph *case_graph(const Case *c, HoloArena *arena)
{
    HoloText   text = {0};
    HoloGraph *graph;
    holo_text_add(&text, "graph g(%s) -> (y) {\n%s}\n", c->inputs.data, c->body.data);
    EXPECT_OK(holo_graph_parse(arena, text.data, &graph, &error));
    int kept = 0;
    for (int i = 0; i < graph->input_count; i++) {
        HoloValue *v = graph->inputs[i];
        for (int k = 0; k < c->count; k++) {
            if (strcmp(c->name[k], v->name)) continue;
            v->is_input    = false;
            v->is_constant = true;
            v->type.data   = c->data[k];
        }
        if (!v->is_constant) graph->inputs[kept++] = v;
    }
    graph->input_count = kept;
    EXPECT_OK(holo_graph_infer(graph, &error));
    holo_text_deinit(&text);
    return graph;
}

// A length of rows with a part of a chunk at their end, where that can be.
static int64_t length_of(const HoloBlockType *type)
{
    return type->count == 32 ? 32 * 11 : 512;
}

// ---- running

static float small_of(float x, const char *numeric)
{
    if (!strcmp(numeric, "f16"))
        return (float)holo_small_decode(HOLO_FORMAT_F16, holo_small_encode(HOLO_FORMAT_F16, (double)x, false));
    if (!strcmp(numeric, "bf16"))
        return (float)holo_small_decode(HOLO_FORMAT_BF16, holo_small_encode(HOLO_FORMAT_BF16, (double)x, false));
    return x;
}

static void inputs_fill(HoloTensor *t, int64_t limit, const char *numeric)
{
    for (int64_t i = 0; i < holo_tensor_count(t); i++)
        if (t->dtype == HOLO_F32)
            ((float *)t->data)[i] = small_of((float)random_next() / (1 << 23) - 1, numeric);
        else
            holo_put_i(t, i, (int64_t)(random_next() % (uint32_t)(2 * limit)) - limit);
}

// `within`: of the largest number; 0: the same bits, but any NaN.
static void expect_close(const HoloTensor *got, const HoloTensor *want, double within, const char *numeric,
                         const Case *c)
{
    const float *x = got->data, *y = want->data;
    double       most = 0;
    for (int64_t i = 0; i < holo_tensor_count(want); i++) most = fmax(most, fabs((double)y[i]));
    assert_int_equal(holo_tensor_count(got), holo_tensor_count(want));
    for (int64_t i = 0; i < holo_tensor_count(want); i++) {
        bool same = !memcmp(&x[i], &y[i], sizeof *x) || (isnan(x[i]) && isnan(y[i]));
        if (!same && !(fabs((double)x[i] - (double)y[i]) <= within * most)) {
            FAIL_WITH("class %s: element %lld is %.9g, not %.9g, of up to %g:\n%s", numeric, (long long)i, (double)x[i],
                      (double)y[i], most, c->body.data);
            return;
        }
    }
}

enum { INPUTS = 4, RUNS = 3 };

// Runs it step by step, recorded, and with threads in the opposite order. All its kernels are computed, and it gives what eval does.
static void case_run(const Case *c, const char *numeric, int64_t limit, double within)
{
    HoloArena         arena = {0};
    HoloGraph        *graph = case_graph(c, &arena);
    HoloTensor        in[INPUTS], want[1], got;
    const HoloTensor *inputs[INPUTS];
    HoloSession      *session;
    int               count = graph->input_count;
    for (int i = 0; i < count; i++) {
        in[i]      = graph->inputs[i]->type;
        in[i].data = holo_arena_take(&arena, holo_tensor_bytes(&in[i]) + 1);
        inputs[i]  = &in[i];
        inputs_fill(&in[i], limit, numeric);
    }
    EXPECT_OK(holo_graph_eval(graph, inputs, want, &arena, NULL, &error));
    HoloModel *model = fake_model_of(graph, numeric, "ptx");
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < count; i++) EXPECT_OK(holo_session_set_input(session, i, &in[i], &error));
    for (int run = 0; run < RUNS; run++) {
        int graphs = fake->graph_launches, before = fake->computed;
        fake->is_backwards = run == RUNS - 1;
        EXPECT_OK(holo_session_run(session, &error));
        expect_counted(fake->graph_launches - graphs == (run ? 1 : 0));
        expect_counted(fake->computed > before);
        EXPECT_OK(holo_session_output(session, 0, &got, &error));
        expect_close(&got, &want[0], within, numeric, c);
    }
    assert_int_equal(fake->computed, fake->kernels);
    fake->is_backwards = false;
    holo_session_destroy(session);
    holo_model_close(model);
    holo_arena_deinit(&arena);
}

static const struct {
    const char *name;
    double      within;
} classes[] = {{"fused", 2e-6}, {"f16", 2e-3}, {"bf16", 1.6e-2}, {"tf32", 2e-3}};

// ---- every type

// The same bits as format/block_types.c, with any scale: rows of a table, and all of one.
static void decoded(void **state)
{
    (void)state;
    seed = 1;
    for (int i = 0; holo_block_type_at(i); i++) {
        const HoloBlockType *type = holo_block_type_at(i);
        long long            k    = (long long)length_of(type);
        Case                 rows = {0}, all = {0};
        holo_text_add(&rows.inputs, "at: i64[2,3]");
        blocks_add(&rows, "w", type, 33, k, false);
        holo_text_add(&rows.body, "    y = hologram::TakeRows@1(at, w) {type=\"%s\", count=%lld}\n", type->name, k);
        case_run(&rows, "fused", 33, 0);
        holo_text_add(&all.inputs, "x: f32[1,%lld]", k);
        blocks_add(&all, "w", type, 19, k, false);
        holo_text_add(&all.body, "    d = hologram::DecodeBlocks@1(w) {type=\"%s\", count=%lld}\n", type->name, k);
        holo_text_add(&all.body, "    y = Concat@13(d, x) {axis=0}\n");
        case_run(&all, "fused", 1, 0);
        case_free(&rows);
        case_free(&all);
    }
}

static void products(void **state)
{
    static const int rows[] = {1, 3, 8, 21};
    int              step   = watched_step("the rows of products", 4);
    (void)state;
    seed = 2;
    for (int i = 0; holo_block_type_at(i); i++)
        for (int r = i % step; r < HOLO_COUNT(rows); r += step) {
            const HoloBlockType *type = holo_block_type_at(i);
            long long            k    = (long long)length_of(type);
            Case                 c    = {0};
            holo_text_add(&c.inputs, "x: f32[%d,%lld]", rows[r], k);
            blocks_add(&c, "w", type, r % 2 ? 17 : 150, k, true);
            holo_text_add(&c.body, "    y = hologram::MatMulBlocks@1(x, w) {type=\"%s\", count=%lld}\n", type->name, k);
            for (int n = 0; n < HOLO_COUNT(classes); n++)
                if (n == 0 || i % 3 == n - 1) case_run(&c, classes[n].name, 1, classes[n].within);
            case_free(&c);
        }
}

// Weights of few columns at a time become numbers: here two parts, of 256 and of 44.
static void slices(void **state)
{
    Case c = {0};
    (void)state;
    seed = 3;
    holo_text_add(&c.inputs, "x: f32[9,16640], r: f32[9,300]");
    blocks_add(&c, "w", holo_block_type_find("tq1_0"), 300, 16640, true);
    holo_text_add(&c.body, "    const b: f32[300] = {");
    for (int i = 0; i < 300; i++) holo_text_add(&c.body, "%s%d", i ? ", " : "", i);
    holo_text_add(&c.body, "}\n    y = hologram::MatMulBlocks@1(x, w, b, r) {type=\"tq1_0\", count=16640, "
                           "program=\"add x0 x1\"}\n");
    case_run(&c, "fused", 1, 1e-5);
    case_free(&c);
}

// ---- ends

static void ends(void **state)
{
    static const char *const programs[] = {"add x0 x1", "mul x0 x1", "at_least x0 n0; add r0 x1",
                                           "sigmoid x1; mul x1 r0; mul x0 r1"};
    (void)state;
    seed = 4;
    for (int i = 0; i < HOLO_COUNT(programs); i++)
        for (int rows = 1; rows < 30; rows += 14) {
            Case c = {0};
            holo_text_add(&c.inputs, "x: f32[%d,256], r: f32[%d,18]", rows, rows);
            blocks_add(&c, "w", holo_block_type_find("q6_k"), 18, 256, true);
            holo_text_add(&c.body,
                          "    const b: f32[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, -18}\n");
            holo_text_add(
                &c.body,
                "    y = hologram::MatMulBlocks@1(x, w, b, r) {type=\"q6_k\", count=256, program=\"%s\", numbers=[0.0]}\n",
                programs[i]);
            case_run(&c, "fused", 1, 1e-5);
            case_run(&c, "bf16", 1, 3e-2);
            case_free(&c);
        }
}

// ---- MatMulNBits

typedef struct NBitsCase {
    int bits, block, k, n, rows;
    int zeros; // 0: none, 1: packed, 2: f32
} NBitsCase;

static void nbits_make(const NBitsCase *v, Case *c)
{
    int      blocks = (v->k + v->block - 1) / v->block, column = blocks * v->block * v->bits / 8;
    int      packed = (blocks * v->bits + 7) / 8;
    uint8_t *w, *z;
    float   *s, *f;
    holo_text_add(&c->inputs, "x: f32[%d,%d]", v->rows, v->k);
    w = constant_add(c, "w", "u8", v->n, column, 1);
    for (int i = 0; i < v->n * column; i++) w[i] = (uint8_t)random_next();
    s = constant_add(c, "s", "f32", v->n, blocks, sizeof *s);
    for (int i = 0; i < v->n * blocks; i++) s[i] = (float)(random_next() % 64 + 1) / 256;
    if (v->zeros == 1) {
        z = constant_add(c, "z", "u8", v->n, packed, 1);
        for (int i = 0; i < v->n * packed; i++) z[i] = (uint8_t)random_next();
    }
    if (v->zeros == 2) {
        f = constant_add(c, "z", "f32", v->n, blocks, sizeof *f);
        for (int i = 0; i < v->n * blocks; i++) f[i] = (float)(random_next() % 32) / 2;
    }
    holo_text_add(&c->body, "    y = com.microsoft::MatMulNBits@1(x, w, s%s) {K=%d, N=%d, bits=%d, block_size=%d}\n",
                  v->zeros ? ", z" : "", v->k, v->n, v->bits, v->block);
}

static void nbits(void **state)
{
    static const NBitsCase cases[] = {
        {4, 32, 64, 16, 1, 0},   {4, 32, 300, 17, 1, 1}, {4, 16, 40, 33, 1, 1},   {4, 128, 300, 5, 5, 2},
        {4, 32, 96, 150, 20, 1}, {8, 32, 64, 16, 1, 0},  {8, 64, 200, 17, 3, 1},  {8, 16, 41, 18, 1, 2},
        {8, 32, 99, 19, 8, 0},   {4, 16, 43, 40, 12, 2}, {8, 256, 300, 7, 11, 1},
    };
    (void)state;
    seed = 5;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        Case c = {0};
        nbits_make(&cases[i], &c);
        for (int n = 0; n < HOLO_COUNT(classes); n++) case_run(&c, classes[n].name, 1, classes[n].within * 2);
        case_free(&c);
    }
}

// ---- launches

// Products of one row that do not need each other are one launch.
static void together(void **state)
{
    Case c = {0};
    (void)state;
    seed = 6;
    holo_text_add(&c.inputs, "x: f32[1,256]");
    for (int i = 0; i < 3; i++) {
        char name[4] = {'w', (char)('0' + i), 0};
        blocks_add(&c, name, holo_block_type_find("q4_k"), 40 + 8 * i, 256, true);
        holo_text_add(&c.body, "    p%d = hologram::MatMulBlocks@1(x, w%d) {type=\"q4_k\", count=256}\n", i, i);
    }
    holo_text_add(&c.body, "    y = Concat@13(p0, p1, p2) {axis=1}\n");
    case_run(&c, "fused", 1, 1e-5);
    expect_counted(fake->kernels == 6 + 2 * 4); // three products and three moves; then, twice, one and three
    case_free(&c);
}

// ---- a language model

static void language_make(Case *c)
{
    const HoloBlockType *four = holo_block_type_find("q4_0"), *eight = holo_block_type_find("q8_0");
    holo_text_add(&c->inputs, "ids: i64[1,S], rows: i64[1] = index, lengths: i64[1] = 0, keys: f32[slots,context,32] = "
                              "state[1,S,32], values: f32[slots,context,32] = state[1,S,32]");
    blocks_add(c, "e", four, 40, 128, true);
    blocks_add(c, "wq", four, 32, 128, true);
    blocks_add(c, "wk", four, 32, 128, true);
    blocks_add(c, "wv", four, 32, 128, true);
    blocks_add(c, "wo", eight, 128, 32, true);
    holo_text_add(&c->body,
                  "    x = hologram::TakeRows@1(ids, e) {type=\"q4_0\", count=128}\n"
                  "    q = hologram::MatMulBlocks@1(x, wq) {type=\"q4_0\", count=128}\n"
                  "    k = hologram::MatMulBlocks@1(x, wk) {type=\"q4_0\", count=128}\n"
                  "    v = hologram::MatMulBlocks@1(x, wv) {type=\"q4_0\", count=128}\n"
                  "    all = hologram::CacheWrite@1(keys, k, rows, lengths)\n"
                  "    old = hologram::CacheWrite@1(values, v, rows, lengths)\n"
                  "    a = hologram::CachedAttention@1(q, all, old, rows, lengths) {num_heads=2, scale=0.01}\n"
                  "    o = hologram::MatMulBlocks@1(a, wo, _, x) {type=\"q8_0\", count=32, program=\"add x0 x1\"}\n"
                  "    y = hologram::MatMulBlocks@1(o, e) {type=\"q4_0\", count=128}\n");
}

static HoloModel *cpu_model_of(const HoloGraph *graph)
{
    HoloLowered     lowered;
    HoloPlan        plan;
    HoloFileWriter *file;
    HoloModel      *model;
    uint64_t        size;
    EXPECT_OK(holo_lower_graph(graph, NULL, &lowered, &error));
    EXPECT_OK(holo_plan_create(graph, &lowered, &plan, &error));
    EXPECT_OK(holo_file_writer_open(temp_path("cpu.holo"), &file, &error));
    EXPECT_OK(holo_archive_write(&plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_close(file, true, &error));
    EXPECT_OK(holo_model_open(temp_path("cpu.holo"), &model, &error));
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    return model;
}

static void token_run(HoloSession *session, int64_t token, int64_t length, HoloTensor *out)
{
    HoloTensor id = {.dtype = HOLO_I64, .rank = 2, .dim = {1, 1}, .data = &token};
    HoloTensor at = {.dtype = HOLO_I64, .rank = 1, .dim = {1}, .data = &length};
    EXPECT_OK(holo_session_set_input(session, 0, &id, &error));
    EXPECT_OK(holo_session_set_input(session, 2, &at, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, out, &error));
}

// Token by token, the same scores as on the CPU: a run is one launch of a graph of five kernels and takes no memory.
static void language(void **state)
{
    enum { GPU, CPU, TOKENS = 6 };
    Case         c     = {0};
    HoloArena    arena = {0};
    HoloModel   *model[2];
    HoloSession *session[2];
    HoloTensor   got, want;
    (void)state;
    seed = 7;
    language_make(&c);
    model[CPU] = cpu_model_of(case_graph(&c, &arena));
    model[GPU] = fake_model_of(case_graph(&c, &arena), "fused", "ptx");
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(holo_session_create(model[i], NULL, &session[i], &error));
        EXPECT_OK(holo_session_set_size(session[i], "slots", 1, &error));
        EXPECT_OK(holo_session_set_size(session[i], "context", 16, &error));
    }
    for (int i = 0; i < TOKENS; i++) {
        HoloFakeDriver before = *fake;
        token_run(session[GPU], 7 * i % 40, i, &got);
        token_run(session[CPU], 7 * i % 40, i, &want);
        expect_close(&got, &want, 1e-5, "fused", &c);
        if (!i) continue;
        expect_counted(fake->graph_launches - before.graph_launches == 1);
        if (i > 1) assert_int_equal(fake->takes, before.takes);
        expect_counted(fake->kernels - before.kernels == 5); // rows; q, k and v; attention with caches; two products
    }
    assert_int_equal(fake->computed, fake->kernels);
    for (int i = 0; i < 2; i++) {
        holo_session_destroy(session[i]);
        holo_model_close(model[i]);
    }
    holo_arena_deinit(&arena);
    case_free(&c);
}

static void refused(void **state)
{
    Case         c       = {0};
    int64_t      index[] = {0, 5};
    HoloTensor   in      = {.dtype = HOLO_I64, .rank = 1, .dim = {2}, .data = index};
    HoloArena    arena   = {0};
    HoloSession *session;
    (void)state;
    holo_text_add(&c.inputs, "at: i64[2]");
    blocks_add(&c, "w", holo_block_type_find("q8_0"), 5, 32, true);
    holo_text_add(&c.body, "    y = hologram::TakeRows@1(at, w) {type=\"q8_0\", count=32}\n");
    HoloModel *model = fake_model_of(case_graph(&c, &arena), "fused", "ptx");
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &in, &error));
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_BAD_INPUT, "an index that a lookup got is out of range");
    holo_session_destroy(session);
    holo_model_close(model);
    holo_arena_deinit(&arena);
    case_free(&c);
}

// Products that quantizing made round what they read. Those of a GPU do not; those of the CPU still do.
static void unrounded(void **state)
{
    (void)state;
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        Case            c       = {0};
        HoloArena       arena   = {0};
        HoloTargets     targets = {.list = {&holo_target_cpu, holo_target_cuda.of_class("bf16")}, .count = 1 + on_gpu};
        HoloPassOptions options = {.targets = &targets};
        HoloGraph      *graph;
        const HoloNode *node = NULL;
        holo_text_add(&c.inputs, "x: f32[2,64]");
        blocks_add(&c, "w", holo_block_type_find("q8_0"), 20, 64, true);
        holo_text_add(&c.body, "    y = hologram::MatMulBlocks@1(x, w) {type=\"q8_0\", count=64, rounds=1}\n");
        graph = case_graph(&c, &arena);
        EXPECT_OK(holo_passes_run(graph, &options, &error));
        for (int i = 0; i < graph->node_count; i++)
            if (HOLO_IS(graph->nodes[i], HOLOGRAM_MatMulBlocks)) node = graph->nodes[i];
        assert_non_null(node);
        assert_int_equal(!holo_node_attr(node, "rounds"), on_gpu);
        holo_arena_deinit(&arena);
        case_free(&c);
    }
}

// Products of a GPU before sm_90 are those of product.cuh.
static int older_reset(void **state)
{
    int status       = fake_reset(state);
    fake->capability = 80;
    return status;
}

#define TEST(name) cmocka_unit_test_setup(name, older_reset)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(decoded),  TEST(products), TEST(slices),    TEST(ends),   TEST(nbits),
                                       TEST(together), TEST(language), TEST(unrounded), TEST(refused)};
    return cmocka_run_group_tests(tests, fake_load, fake_unload);
}
