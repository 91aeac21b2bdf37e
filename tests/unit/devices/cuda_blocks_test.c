// cuda_blocks_test.c - weights of few bits on a GPU, whose kernels run on the CPU by tests/cuda/on_cpu, against the operators' `eval`:
// every type of block, MatMulNBits, few rows and many, in each class of numbers.
#include "cuda/fake_model.h"

#include "format/blocks.h"
#include "format/small_float.h"

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

static void bytes_add(HoloText *out, const uint8_t *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++) holo_text_add(out, "%s%d", i ? ", " : "", bytes[i]);
}

// "const w: u8[n,bytes] = {...}"
static void blocks_add(HoloText *out, const char *name, const HoloBlockType *type, int64_t n, int64_t k, bool is_tame)
{
    int64_t  row   = holo_block_row_bytes(type, k);
    uint8_t *bytes = malloc((size_t)(n * row + 1));
    for (int64_t i = 0; i < n * row; i += type->bytes) block_fill(type, is_tame, bytes + i);
    holo_text_add(out, "    const %s: u8[%lld,%lld] = {", name, (long long)n, (long long)row);
    bytes_add(out, bytes, n * row);
    holo_text_add(out, "}\n");
    free(bytes);
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
                         const char *text)
{
    const float *x = got->data, *y = want->data;
    double       most = 0;
    for (int64_t i = 0; i < holo_tensor_count(want); i++) most = fmax(most, fabs((double)y[i]));
    assert_int_equal(holo_tensor_count(got), holo_tensor_count(want));
    for (int64_t i = 0; i < holo_tensor_count(want); i++) {
        bool same = !memcmp(&x[i], &y[i], sizeof *x) || (isnan(x[i]) && isnan(y[i]));
        if (!same && !(fabs((double)x[i] - (double)y[i]) <= within * most))
            fail_msg("class %s: element %lld is %.9g, not %.9g, of up to %g:\n%.400s", numeric, (long long)i,
                     (double)x[i], (double)y[i], most, text);
    }
}

enum { INPUTS = 4, RUNS = 3 };

// Runs it step by step, recorded, and with threads in the opposite order. All its kernels are computed, and it gives what eval does.
static void graph_run(const char *text, const char *numeric, int64_t limit, double within)
{
    HoloArena         arena = {0};
    HoloGraph        *graph;
    HoloTensor        in[INPUTS], want[1], got;
    const HoloTensor *inputs[INPUTS];
    HoloSession      *session;
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    for (int i = 0; i < graph->input_count; i++) {
        in[i]      = graph->inputs[i]->type;
        in[i].data = holo_arena_take(&arena, holo_tensor_bytes(&in[i]) + 1);
        inputs[i]  = &in[i];
        inputs_fill(&in[i], limit, numeric);
    }
    EXPECT_OK(holo_graph_eval(graph, inputs, want, &arena, NULL, &error));
    HoloModel *model = fake_model(text, numeric, "ptx");
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < graph->input_count; i++) EXPECT_OK(holo_session_set_input(session, i, &in[i], &error));
    for (int run = 0; run < RUNS; run++) {
        int graphs = fake->graph_launches, before = fake->computed;
        fake->is_backwards = run == RUNS - 1;
        EXPECT_OK(holo_session_run(session, &error));
        assert_int_equal(fake->graph_launches - graphs, run ? 1 : 0);
        assert_true(fake->computed > before);
        EXPECT_OK(holo_session_output(session, 0, &got, &error));
        expect_close(&got, &want[0], within, numeric, text);
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
        HoloText             rows = {0}, all = {0};
        holo_text_add(&rows, "graph g(at: i64[2,3]) -> (y) {\n");
        blocks_add(&rows, "w", type, 33, k, false);
        holo_text_add(&rows, "    y = hologram::TakeRows@1(at, w) {type=\"%s\", count=%lld}\n}\n", type->name, k);
        graph_run(rows.data, "fused", 33, 0);
        holo_text_add(&all, "graph g(x: f32[1,%lld]) -> (y) {\n", k);
        blocks_add(&all, "w", type, 19, k, false);
        holo_text_add(&all, "    d = hologram::DecodeBlocks@1(w) {type=\"%s\", count=%lld}\n", type->name, k);
        holo_text_add(&all, "    y = Concat@13(d, x) {axis=0}\n}\n");
        graph_run(all.data, "fused", 1, 0);
        holo_text_deinit(&rows);
        holo_text_deinit(&all);
    }
}

static void product_text(HoloText *out, const HoloBlockType *type, int rows, int64_t n)
{
    long long k = (long long)length_of(type);
    holo_text_add(out, "graph g(x: f32[%d,%lld]) -> (y) {\n", rows, k);
    blocks_add(out, "w", type, n, k, true);
    holo_text_add(out, "    y = hologram::MatMulBlocks@1(x, w) {type=\"%s\", count=%lld}\n}\n", type->name, k);
}

static void products(void **state)
{
    static const int rows[] = {1, 3, 8, 21};
    (void)state;
    fake->capability = 80; // where products are those of product.cuh
    seed             = 2;
    for (int i = 0; holo_block_type_at(i); i++)
        for (int r = 0; r < HOLO_COUNT(rows); r++) {
            HoloText text = {0};
            product_text(&text, holo_block_type_at(i), rows[r], r % 2 ? 17 : 150);
            for (int c = 0; c < HOLO_COUNT(classes); c++)
                if (c == 0 || i % 3 == c - 1) graph_run(text.data, classes[c].name, 1, classes[c].within);
            holo_text_deinit(&text);
        }
}

// Weights of few columns at a time become numbers: here two parts of 256 and 44.
static void slices(void **state)
{
    const HoloBlockType *type = holo_block_type_find("tq1_0");
    HoloText             text = {0};
    (void)state;
    fake->capability = 80;
    seed             = 3;
    holo_text_add(&text, "graph g(x: f32[9,16640], r: f32[9,300]) -> (y) {\n    const b: f32[300] = {");
    for (int i = 0; i < 300; i++) holo_text_add(&text, "%s%d", i ? ", " : "", i);
    holo_text_add(&text, "}\n");
    blocks_add(&text, "w", type, 300, 16640, true);
    holo_text_add(&text, "    y = hologram::MatMulBlocks@1(x, w, b, r) {type=\"tq1_0\", count=16640, "
                         "program=\"add x0 x1\"}\n}\n");
    graph_run(text.data, "fused", 1, 1e-5);
    holo_text_deinit(&text);
}

// ---- ends

static void ends(void **state)
{
    static const char *const programs[] = {"add x0 x1", "mul x0 x1", "at_least x0 n0; add r0 x1",
                                           "sigmoid x1; mul x1 r0; mul x0 r1"};
    (void)state;
    fake->capability = 80;
    seed             = 4;
    for (int i = 0; i < HOLO_COUNT(programs); i++)
        for (int rows = 1; rows < 30; rows += 14) {
            HoloText text = {0};
            holo_text_add(&text, "graph g(x: f32[%d,256], r: f32[%d,18]) -> (y) {\n", rows, rows);
            holo_text_add(&text,
                          "    const b: f32[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, -18}\n");
            blocks_add(&text, "w", holo_block_type_find("q6_k"), 18, 256, true);
            holo_text_add(&text,
                          "    y = hologram::MatMulBlocks@1(x, w, b, r) {type=\"q6_k\", count=256, program=\"%s\", "
                          "numbers=[0.0]}\n}\n",
                          programs[i]);
            graph_run(text.data, "fused", 1, 1e-5);
            graph_run(text.data, "bf16", 1, 3e-2);
            holo_text_deinit(&text);
        }
}

// ---- MatMulNBits

typedef struct NBitsCase {
    int bits, block, k, n, rows;
    int zeros; // 0: none, 1: packed, 2: f32
} NBitsCase;

static void nbits_text(const NBitsCase *c, HoloText *out)
{
    int blocks = (c->k + c->block - 1) / c->block, bytes = c->block * c->bits / 8, packed = (blocks * c->bits + 7) / 8;
    uint8_t byte;
    holo_text_add(out, "graph g(x: f32[%d,%d]) -> (y) {\n    const w: u8[%d,%d,%d] = {", c->rows, c->k, c->n, blocks,
                  bytes);
    for (int i = 0; i < c->n * blocks * bytes; i++)
        byte = (uint8_t)random_next(), holo_text_add(out, "%s%d", i ? ", " : "", byte);
    holo_text_add(out, "}\n    const s: f32[%d,%d] = {", c->n, blocks);
    for (int i = 0; i < c->n * blocks; i++)
        holo_text_add(out, "%s%g", i ? ", " : "", (double)(random_next() % 64 + 1) / 256);
    holo_text_add(out, "}\n");
    int count = c->zeros == 1 ? c->n * packed : c->n * blocks;
    if (c->zeros) holo_text_add(out, "    const z: %s[%d,%d] = {", c->zeros == 1 ? "u8" : "f32", c->n, count / c->n);
    for (int i = 0; c->zeros && i < count; i++)
        byte = (uint8_t)random_next(), holo_text_add(out, c->zeros == 1 ? "%s%d" : "%s%d.5", i ? ", " : "", byte);
    holo_text_add(out, "%s    y = com.microsoft::MatMulNBits@1(x, w, s%s) {K=%d, N=%d, bits=%d, block_size=%d}\n}\n",
                  c->zeros ? "}\n" : "", c->zeros ? ", z" : "", c->k, c->n, c->bits, c->block);
}

static void nbits(void **state)
{
    static const NBitsCase cases[] = {
        {4, 32, 64, 16, 1, 0},   {4, 32, 300, 17, 1, 1}, {4, 16, 40, 33, 1, 1},   {4, 128, 300, 5, 5, 2},
        {4, 32, 96, 150, 20, 1}, {8, 32, 64, 16, 1, 0},  {8, 64, 200, 17, 3, 1},  {8, 16, 41, 18, 1, 2},
        {8, 32, 99, 19, 8, 0},   {4, 16, 43, 40, 12, 2}, {8, 256, 300, 7, 11, 1},
    };
    (void)state;
    fake->capability = 80;
    seed             = 5;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloText text = {0};
        nbits_text(&cases[i], &text);
        for (int c = 0; c < HOLO_COUNT(classes); c++) graph_run(text.data, classes[c].name, 1, classes[c].within * 2);
        holo_text_deinit(&text);
    }
}

// ---- launches

// Products of one row that do not need each other are one launch.
static void together(void **state)
{
    HoloText text = {0};
    (void)state;
    seed = 6;
    holo_text_add(&text, "graph g(x: f32[1,256]) -> (y) {\n");
    for (int i = 0; i < 3; i++) {
        char name[4] = {'w', (char)('0' + i), 0};
        blocks_add(&text, name, holo_block_type_find("q4_k"), 40 + 8 * i, 256, true);
        holo_text_add(&text, "    p%d = hologram::MatMulBlocks@1(x, w%d) {type=\"q4_k\", count=256}\n", i, i);
    }
    holo_text_add(&text, "    y = Concat@13(p0, p1, p2) {axis=1}\n}\n");
    graph_run(text.data, "fused", 1, 1e-5);
    // three and three of the parts; then, twice, one and three
    assert_int_equal(fake->kernels, 6 + 2 * 4);
    holo_text_deinit(&text);
}

static void refused(void **state)
{
    HoloText     text    = {0};
    int64_t      index[] = {0, 5};
    HoloTensor   in      = {.dtype = HOLO_I64, .rank = 1, .dim = {2}, .data = index};
    HoloSession *session;
    (void)state;
    holo_text_add(&text, "graph g(at: i64[2]) -> (y) {\n");
    blocks_add(&text, "w", holo_block_type_find("q8_0"), 5, 32, true);
    holo_text_add(&text, "    y = hologram::TakeRows@1(at, w) {type=\"q8_0\", count=32}\n}\n");
    HoloModel *model = fake_model(text.data, "fused", "ptx");
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &in, &error));
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_BAD_INPUT, "an index that a lookup got is out of range");
    holo_session_destroy(session);
    holo_model_close(model);
    holo_text_deinit(&text);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(decoded), TEST(products), TEST(slices), TEST(ends),
                                       TEST(nbits),   TEST(together), TEST(refused)};
    return cmocka_run_group_tests(tests, fake_load, NULL);
}
