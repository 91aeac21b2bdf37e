// table_pairs_test.c - tables of two 8-bit elements against what they stand for: every pointwise operator of two inputs
// over all pairs of patterns of every 8-bit type, and chains. The plan with tables, the plan without, and `eval` must
// give the same bits; which chains are worth a table; threads.
#include "support/models.h"

#include "format/dtype.h"
#include "passes/passes.h"
#include "runtime/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const HoloDtype types[] = {HOLO_BOOL,   HOLO_U8,         HOLO_I8, HOLO_F8E4M3FN, HOLO_F8E4M3FNUZ,
                                  HOLO_F8E5M2, HOLO_F8E5M2FNUZ, HOLO_U4, HOLO_I4,       HOLO_F8E8M0};

// Operand `which` of all pairs of patterns.
static uint8_t *operand(HoloDtype dtype, int which, int64_t *out_count)
{
    int64_t    all   = holo_dtype_patterns(dtype);
    uint8_t   *bytes = malloc((size_t)(all * all) + 1);
    HoloTensor t     = {.dtype = dtype, .rank = 1, .dim = {all * all}, .data = bytes};
    for (int64_t i = 0; i < all * all; i++) holo_put_pattern(&t, i, which ? i % all : i / all);
    *out_count = all * all;
    return bytes;
}

// The output of the plan, for free(); *out_pairs: how many tables of pairs there are.
static uint8_t *run(const char *text, const HoloPassOptions *options, HoloPool *pool, const HoloTensor x[2],
                    int *out_pairs, size_t *out_size)
{
    HoloArena    arena = {0};
    HoloGraph   *graph;
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   y;
    uint32_t     kernels;
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, options, &error));
    *out_pairs = 0;
    for (int i = 0; i < graph->node_count; i++) *out_pairs += !strcmp(graph->nodes[i]->type, "LookupPair");
    EXPECT_OK(model_of(graph, options->is_exact ? HOLO_EXACT : HOLO_FUSED, &model, &kernels, &error));
    EXPECT_OK(holo_session_create(model, pool, &session, &error));
    for (int i = 0; i < 2; i++) EXPECT_OK(holo_session_set_input(session, i, &x[i], &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    *out_size      = holo_tensor_bytes(&y);
    uint8_t *bytes = malloc(*out_size + 1);
    memcpy(bytes, y.data, *out_size);
    holo_session_destroy(session);
    holo_model_close(model);
    holo_arena_deinit(&arena);
    return bytes;
}

// What eval gives; NULL: there is no such graph, or it fails for some pair.
static uint8_t *evaluated(const char *text, const HoloTensor x[2], size_t *out_size)
{
    HoloArena         arena = {0};
    HoloError         why   = {0};
    HoloGraph        *graph;
    HoloTensor        y;
    const HoloTensor *in[2] = {&x[0], &x[1]};
    uint8_t          *bytes = NULL;
    if (!holo_graph_parse(&arena, text, &graph, &why) && !holo_graph_infer(graph, &why) &&
        !holo_graph_check_ops(graph, &why) && graph->outputs[0]->type.rank == 1 &&
        !holo_graph_eval(graph, in, &y, &arena, NULL, &why)) {
        *out_size = holo_tensor_bytes(&y);
        bytes     = malloc(*out_size + 1);
        memcpy(bytes, y.data, *out_size);
    }
    holo_arena_deinit(&arena);
    return bytes;
}

// The same bits in all ways; true: there is such a graph. A table must be there where `all` are made.
static bool compare(const char *text, const HoloTensor x[2], int *out_pairs)
{
    size_t   want_size, size;
    uint8_t *want = evaluated(text, x, &want_size);
    if (!want) return false;
    for (int plain = 0; plain < 2; plain++) {
        int             pairs;
        HoloPassOptions options = {.is_exact = true, .all_tables = true, .no_tables = plain};
        uint8_t        *got     = run(text, &options, NULL, x, &pairs, &size);
        if (size != want_size || memcmp(got, want, size)) fail_msg("%s, without tables %d: other bits", text, plain);
        if (plain && pairs) fail_msg("%s: a table that was not wanted", text);
        *out_pairs += pairs;
        free(got);
    }
    free(want);
    return true;
}

static void test_operators(void **state)
{
    (void)state;
    int graphs = 0, pairs = 0;
    for (int d = 0; d < HOLO_COUNT(types); d++) {
        int64_t     count;
        const char *type = holo_dtype_name(types[d]);
        HoloTensor  x[2];
        for (int i = 0; i < 2; i++) {
            x[i]        = (HoloTensor){.dtype = types[d], .rank = 1};
            x[i].data   = operand(types[d], i, &count);
            x[i].dim[0] = count;
        }
        for (int f = 0; holo_op_families[f]; f++)
            for (const HoloOp *op = holo_op_families[f]; op->name; op++) {
                if (*op->domain || op->until || !op->eval || op->in_min > 2 || (op->in_max < 2 && op->in_max >= 0))
                    continue;
                if (op->flags & HOLO_OP_RANDOM || !(op->flags & HOLO_OP_POINTWISE) || !strcmp(op->name, "Clip"))
                    continue;
                const char *attrs = !strcmp(op->name, "BitShift") ? " {direction=\"RIGHT\"}" : "";
                for (int way = 0; way < 2; way++) { // as it is, and through f32 with more behind it
                    char text[1024];
                    if (way == 0)
                        snprintf(
                            text, sizeof text,
                            "graph g(a: %s[%lld], b: %s[%lld]) -> (y) {\n    r = %s@25(a, b)%s\n    y = Cast@25(r) {to=2}\n}\n",
                            type, (long long)count, type, (long long)count, op->name, attrs);
                    else
                        snprintf(
                            text, sizeof text,
                            "graph g(a: %s[%lld], b: %s[%lld]) -> (y) {\n    c = Cast@25(a) {to=1}\n    d = Cast@25(b) {to=1}\n"
                            "    e = %s@25(d, c)%s\n    f = Cast@25(e) {to=1}\n    h = Sigmoid@13(f)\n    k = Mul@14(h, c)\n"
                            "    y = Cast@25(k) {to=3}\n}\n",
                            type, (long long)count, type, (long long)count, op->name, attrs);
                    graphs += compare(text, x, &pairs);
                }
            }
        for (int i = 0; i < 2; i++) free(x[i].data);
    }
    assert_true(graphs > 150);
    assert_true(pairs > graphs * 9 / 10); // a Cast of what is a byte already is none
}

// What pays is a table by itself, what does not is none; both classes and any number of threads give the same bits.
static void test_choice(void **state)
{
    (void)state;
    enum { COUNT = 70001 };
    static const struct {
        const char *type, *body;
        int         pairs;
    } rows[] = {
        {"u8", "y = Mod@13(a, b)", 1},
        {"u8", "y = Add@14(a, b)", 0},
        {"f8e4m3fn", "c = Cast@19(a) {to=1}\nd = Cast@19(b) {to=1}\ne = Add@14(c, d)\ny = Cast@19(e) {to=17}", 1},
        {"u8",
         "c = DequantizeLinear@13(a, s, z)\nd = DequantizeLinear@13(b, s, z)\ne = Mul@14(c, d)\nf = Mish@18(e)\ny = QuantizeLinear@13(f, s, z)",
         1},
        {"u8",
         "c = DequantizeLinear@13(a, s, z)\nd = DequantizeLinear@13(b, s, z)\ne = Max@13(c, d)\ny = QuantizeLinear@13(e, s, z)",
         0},
        // a table of one and a kernel of two are faster than a table of two
        {"u8", "c = DequantizeLinear@13(a, s, z)\nd = Sigmoid@13(c)\ne = QuantizeLinear@13(d, s, z)\ny = Max@13(e, b)",
         0},
    };
    uint8_t  *bytes = malloc(2 * COUNT);
    HoloPool *pool;
    assert_int_equal(holo_pool_create(3, &pool), HOLO_OK);
    for (int i = 0; i < 2 * COUNT; i++) bytes[i] = (uint8_t)(i * 31 + i / 7 + 1) | 1;
    for (int r = 0; r < HOLO_COUNT(rows); r++)
        for (int exact = 0; exact < 2; exact++) {
            char       text[1024];
            HoloTensor x[2];
            for (int i = 0; i < 2; i++)
                x[i] = (HoloTensor){
                    .dtype = r == 2 ? HOLO_F8E4M3FN : HOLO_U8, .rank = 1, .dim = {COUNT}, .data = bytes + i * COUNT};
            snprintf(text, sizeof text,
                     "graph g(a: %s[%d], b: %s[%d]) -> (y) {\nconst s: f32[] = {0.1}\nconst z: u8[] = {100}\n%s\n}\n",
                     rows[r].type, COUNT, rows[r].type, COUNT, rows[r].body);
            int             pairs, none;
            size_t          size, other_size;
            HoloPassOptions options = {.is_exact = exact};
            uint8_t        *one     = run(text, &options, NULL, x, &pairs, &size),
                    *three          = run(text, &options, pool, x, &none, &other_size);
            if (pairs != rows[r].pairs) fail_msg("%s: %d tables", text, pairs);
            expect_same_bytes(one, size, three, other_size);
            free(three);
            options.no_tables = true;
            three             = run(text, &options, NULL, x, &none, &other_size);
            expect_same_bytes(one, size, three, other_size);
            free(one);
            free(three);
        }
    holo_pool_destroy(pool);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
