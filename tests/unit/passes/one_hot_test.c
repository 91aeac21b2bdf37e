// one_hot_test.c - one-hot matrices times constant ones: rows of these must have the bits of the product, in both
// classes and every type, for weights that are zeros of either sign and indices that name no row.
#include "support/models.h"

#include "graph/graph.h"
#include "passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 40, WIDE = 37, ROWS = 24 };

// Weights of every sort: a column of -0 alone, one of negative numbers, one of +0.
static void weights_add(HoloText *text, const char *type, bool whole)
{
    static const char *const real[] = {"1.5", "-0.0", "0.0", "-3.25", "0.0009765625", "-7.0", "100.0"};
    static const char *const ints[] = {"1", "2", "0", "3", "4", "7", "100"};
    holo_text_add(text, "const w: %s[%d,%d] = {", type, DEPTH, WIDE);
    for (int i = 0; i < DEPTH; i++)
        for (int k = 0; k < WIDE; k++) {
            int which = k == 0 ? 1 : k == 1 ? 3 : k == 2 ? 2 : (i * 31 + k * 17) % 7;
            holo_text_add(text, "%s%s", i + k ? ", " : "", (whole ? ints : real)[which]);
        }
    holo_text_add(text, "}\n");
}

static HoloGraph *graph_of(HoloArena *arena, const char *type, const char *body, bool exact, bool off)
{
    HoloText   text = {0};
    HoloGraph *graph;
    bool       whole = *type == 'i' || *type == 'u';
    holo_text_add(&text, "graph g(i: i64[%d,1]) -> (y) {\nconst depth: i64[] = {%d}\nconst range: i64[%d] = {", ROWS,
                  DEPTH, DEPTH);
    for (int i = 0; i < DEPTH; i++) holo_text_add(&text, "%s%d", i ? ", " : "", i);
    holo_text_add(&text, "}\nconst values: %s[2] = {0, 1}\nconst c: %s[1,%d] = {", type, type, WIDE);
    for (int k = 0; k < WIDE; k++)
        holo_text_add(&text, "%s%s", k ? ", " : "",
                      whole ? "1" : (const char *[]){"-0.0", "0.1", "0.0", "-9.0"}[k % 4]);
    holo_text_add(&text, "}\n");
    weights_add(&text, type, whole);
    holo_text_add(&text, "%s\n}\n", body);
    EXPECT_OK(holo_graph_parse(arena, text.data, &graph, &error));
    const char     *disabled[] = {"onehot"};
    HoloPassOptions options    = {.is_exact = exact, .disabled = disabled, .disabled_count = off};
    EXPECT_OK(holo_passes_run(graph, &options, &error));
    holo_text_deinit(&text);
    return graph;
}

static uint8_t *run(const HoloGraph *graph, bool exact, size_t *out_size)
{
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   y;
    uint32_t     kernels;
    int64_t      index[ROWS];
    for (int i = 0; i < ROWS; i++) index[i] = i < 8 ? i * 5 : i < 16 ? -i * 3 : i * 1000;
    index[8] = DEPTH - 1, index[9] = -1, index[10] = DEPTH, index[11] = -DEPTH, index[12] = -DEPTH - 1;
    HoloTensor i = {.dtype = HOLO_I64, .rank = 2, .dim = {ROWS, 1}, .data = index};
    EXPECT_OK(model_of(graph, exact ? HOLO_EXACT : HOLO_FUSED, &model, &kernels, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &i, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    *out_size      = holo_tensor_bytes(&y);
    uint8_t *bytes = malloc(*out_size);
    memcpy(bytes, y.data, *out_size);
    holo_session_destroy(session);
    holo_model_close(model);
    return bytes;
}

static void test_the_same_bits(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "h = OneHot@11(i, depth, values)\ny = MatMul@13(h, w)",
        "s = Squeeze@11(i) {axes=[1]}\nh = OneHot@11(s, depth, values)\ny = Gemm@13(h, w, c)",
        "s = Squeeze@11(i) {axes=[1]}\nh = OneHot@11(s, depth, values)\nm = MatMul@13(h, w)\nn = Add@14(m, c)\ny = Neg@13(n)",
        "e = Equal@13(range, i)\nh = Cast@13(e) {to=$}\ny = MatMul@13(h, w)",
    };
    static const struct {
        const char *name;
        int         onnx;
    } types[] = {{"f32", 1}, {"f16", 10}, {"bf16", 16}, {"f64", 11}, {"i32", 6}, {"i64", 7}};
    for (int b = 0; b < HOLO_COUNT(bodies); b++)
        for (int t = 0; t < HOLO_COUNT(types); t++)
            for (int exact = 0; exact < 2; exact++) {
                char        body[256];
                const char *mark = strchr(bodies[b], '$');
                snprintf(body, sizeof body, "%s", bodies[b]);
                if (mark)
                    snprintf(body, sizeof body, "%.*s%d%s", (int)(mark - bodies[b]), bodies[b], types[t].onnx,
                             mark + 1);
                HoloArena  arena = {0};
                size_t     size, plain_size;
                HoloGraph *rows  = graph_of(&arena, types[t].name, body, exact, false);
                HoloGraph *plain = graph_of(&arena, types[t].name, body, exact, true);
                for (int i = 0; i < rows->node_count; i++)
                    if (strstr(rows->nodes[i]->type, "MatMul") || !strcmp(rows->nodes[i]->type, "Gemm"))
                        fail_msg("%s of %s: there is still a product", body, types[t].name);
                uint8_t *got = run(rows, exact, &size), *want = run(plain, exact, &plain_size);
                if (size != plain_size || memcmp(got, want, size))
                    fail_msg("%s of %s, exact %d: other bits", body, types[t].name, exact);
                free(got);
                free(want);
                holo_arena_deinit(&arena);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
