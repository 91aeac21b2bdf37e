// materialize_test.c - work on rows of a constant table, done on the table where it can be, and what follows from
// inputs that can be few things: both with the bits of the plan without tables.
#include "support/models.h"

#include "graph/graph.h"
#include "materialize/materialize.h"
#include "passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Constants t f32[20,8], u f32[20,2,8], w f32[8,24], v f32[24,8], b f32[24], s f32[8], one f32[1,1,8].
static void constants_add(HoloText *text)
{
    static const struct {
        const char *type;
        int         count;
    } constants[] = {{"t: f32[20,8]", 160}, {"u: f32[20,2,8]", 320}, {"w: f32[8,24]", 192}, {"v: f32[24,8]", 192},
                     {"b: f32[24]", 24},    {"s: f32[8]", 8},        {"one: f32[1,1,8]", 8}};
    for (int c = 0; c < HOLO_COUNT(constants); c++) {
        holo_text_add(text, "const %s = {", constants[c].type);
        for (int i = 0; i < constants[c].count; i++)
            holo_text_add(text, "%s%d.%03d", i ? ", " : "", (i * 7 + c) % 5 - 2, (i * 131 + c * 17) % 1000);
        holo_text_add(text, "}\n");
    }
}

static HoloGraph *graph_of(HoloArena *arena, const char *index, const char *outputs, const char *body)
{
    HoloText   text = {0};
    HoloGraph *graph;
    holo_text_add(&text, "graph g(i: %s) -> (%s) {\n", index, outputs);
    constants_add(&text);
    holo_text_add(&text, "%s\n}\n", body);
    EXPECT_OK(holo_graph_parse(arena, text.data, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, NULL, &error));
    holo_text_deinit(&text);
    return graph;
}

// The bytes of the outputs, for free().
static uint8_t *run(const HoloGraph *graph, size_t *out_size)
{
    HoloModel   *model;
    HoloSession *session;
    uint32_t     kernels;
    int64_t      index[6] = {3, -1, 19, 0, 3, -20};
    HoloTensor   i        = graph->inputs[0]->type;
    i.data                = index;
    for (int d = 0; d < i.rank; d++)
        if (i.dim[d] < 0) i.dim[d] = 6; // a dynamic size
    EXPECT_OK(model_of(graph, HOLO_FUSED, &model, &kernels, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &i, &error));
    EXPECT_OK(holo_session_run(session, &error));
    uint8_t *bytes = NULL;
    *out_size      = 0;
    for (int k = 0; k < graph->output_count; k++) {
        HoloTensor y;
        EXPECT_OK(holo_session_output(session, k, &y, &error));
        bytes = realloc(bytes, *out_size + holo_tensor_bytes(&y));
        memcpy(bytes + *out_size, y.data, holo_tensor_bytes(&y));
        *out_size += holo_tensor_bytes(&y);
    }
    holo_session_destroy(session);
    holo_model_close(model);
    return bytes;
}

typedef struct Case {
    const char *index, *outputs, *body;
    uint64_t    room;
    uint32_t    tables; // that must be made
    int         nodes;  // that must be left
} Case;

static const Case cases[] = {
    {"i64[3,2]", "y", "g = Gather@13(t, i)\ny = MatMul@13(g, w)", 1 << 20, 1, 1},
    {"i64[]", "y", "g = Gather@13(t, i)\ny = MatMul@13(g, w)", 1 << 20, 1, 1},
    {"i64[N]", "y", "g = Gather@13(t, i)\nm = MatMul@13(g, w)\na = Add@14(m, b)\ny = Relu@14(a)", 1 << 20, 1, 1},
    {"i64[6]", "y", "g = Gather@13(t, i)\nl = LayerNormalization@17(g, s, s)\nm = MatMul@13(l, w)\ny = MatMul@13(m, v)",
     1 << 20, 3, 1},
    {"i64[3,2]", "y", "g = Gather@13(t, i)\ny = LayerNormalization@17(g, s) {axis=2}", 1 << 20, 1, 1},
    {"i64[6]", "y", "g = Gather@13(t, i)\nm = Mul@14(g, s)\ny = Tanh@13(m)", 1 << 20, 1, 1},
    {"i64[3,2]", "y", "g = Gather@13(t, i)\ny = Mul@14(g, one)", 1 << 20, 1, 1},
    {"i64[6]", "y", "g = Gather@13(u, i)\ny = LayerNormalization@17(g, s)", 1 << 20, 1, 1},
    {"i64[3,2]", "y", "g = Gather@13(t, i)\nc = Constant@13() {value_float=2.0}\ny = Pow@15(g, c)", 1 << 20, 1, 1},
    // not: of more dimensions, too large, rows that are used twice, columns, normalization over more than a row
    {"i64[6]", "y", "g = Gather@13(t, i)\ny = Mul@14(g, one)", 1 << 20, 0, 2},
    {"i64[6]", "y", "g = Gather@13(t, i)\ny = MatMul@13(g, w)", 1000, 0, 2},
    {"i64[6]", "y, g", "g = Gather@13(t, i)\ny = MatMul@13(g, w)", 1 << 20, 0, 2},
    {"i64[6]", "y", "j = Abs@13(i)\nk = Min@13(j, j)\ng = Gather@13(w, k) {axis=1}\ny = MatMul@13(t, g)", 1 << 20, 0,
     4},
    {"i64[3,2]", "y", "g = Gather@13(t, i)\ny = LayerNormalization@17(g, s) {axis=-1}\n", 0, 0, 2},
};

static void test_rows(void **state)
{
    (void)state;
    for (int k = 0; k < HOLO_COUNT(cases); k++) {
        const Case     *c     = &cases[k];
        HoloArena       arena = {0};
        HoloError       why   = {0};
        HoloMaterialize m     = {.room = c->room, .error = &why};
        HoloGraph      *graph = graph_of(&arena, c->index, c->outputs, c->body);
        size_t          plain_size, size;
        uint8_t        *plain = run(graph, &plain_size);
        if (holo_materialize_rows(graph, &m)) fail_msg("case %d: %s", k, why.text);
        if (m.tables != c->tables) fail_msg("case %d: %u tables", k, m.tables);
        EXPECT_OK(holo_graph_verify(graph, &error));
        if (c->nodes != graph->node_count) fail_msg("case %d: %d nodes are left", k, graph->node_count);
        uint8_t *looked = run(graph, &size);
        expect_same_bytes(plain, plain_size, looked, size);
        free(plain);
        free(looked);
        holo_arena_deinit(&arena);
    }
}

// Inputs that can be few things. `domain` is of input 0; NULL: none is declared.
typedef struct Few {
    const char    *inputs, *outputs, *body;
    const int64_t *domain;
    uint64_t       room;
    uint32_t       tables;
    int            nodes;
} Few;

static const int64_t few_numbers[] = {0, 1, 2, 5, 7};

static const Few fews[] = {
    // the whole model; two inputs; a part of it, whose values others use; outputs of several sizes
    {"x: i64[2]", "y", "c = Cast@13(x) {to=1}\nm = Add@14(c, s2)\ny = Tanh@13(m)", few_numbers, 1 << 20, 1, 1},
    {"x: i64[1], z: bool[2]", "y", "c = Cast@13(x) {to=1}\nd = Cast@13(z) {to=1}\ny = Add@14(c, d)", few_numbers,
     1 << 20, 1, 1},
    {"x: i64[1], f: f32[2]", "y", "c = Cast@13(x) {to=1}\ne = Exp@13(c)\ny = Add@14(e, f)", few_numbers, 1 << 20, 1, 2},
    {"x: i64[2]", "y, k", "c = Cast@13(x) {to=1}\ny = Exp@13(c)\nk = ReduceSum@13(x)", few_numbers, 1 << 20, 2, 2},
    // not: too large; nothing computed; too little for a table that nobody asked for; a value without an answer
    {"x: i64[2]", "y", "c = Cast@13(x) {to=1}\nm = Add@14(c, s2)\ny = Tanh@13(m)", few_numbers, 100, 0, 2},
    {"x: i64[2]", "y", "y = Reshape@13(x, shape)", few_numbers, 1 << 20, 0, 1},
    {"x: u8[1]", "y", "c = Cast@13(x) {to=1}\ny = Exp@13(c)", NULL, 1 << 20, 0, 2},
    {"x: i64[1]", "y", "g = Gather@13(s2, x)\ny = Exp@13(g)", few_numbers, 1 << 20, 0, 2},
};

static uint8_t *few_run(const HoloGraph *graph, int64_t which, size_t *out_size)
{
    HoloModel   *model;
    HoloSession *session;
    uint32_t     kernels;
    int64_t      x[2] = {few_numbers[which % 5], few_numbers[which / 5 % 5]};
    uint8_t      z[8] = {(uint8_t)(which & 1), (uint8_t)(which >> 1 & 1)};
    HoloTensor   in[2];
    EXPECT_OK(model_of(graph, HOLO_FUSED, &model, &kernels, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < graph->input_count; i++) {
        in[i]      = graph->inputs[i]->type;
        in[i].data = i ? (void *)z : (void *)x;
        EXPECT_OK(holo_session_set_input(session, i, &in[i], &error));
    }
    uint8_t *bytes = malloc(64);
    *out_size      = 0;
    if (holo_session_run(session, NULL)) graph = NULL; // no answer
    for (int k = 0; graph && k < graph->output_count; k++) {
        HoloTensor y;
        EXPECT_OK(holo_session_output(session, k, &y, &error));
        memcpy(bytes + *out_size, y.data, holo_tensor_bytes(&y));
        *out_size += holo_tensor_bytes(&y);
    }
    holo_session_destroy(session);
    holo_model_close(model);
    return bytes;
}

static HoloGraph *few_graph(HoloArena *arena, const Few *c)
{
    HoloText   text = {0};
    HoloGraph *graph;
    holo_text_add(&text,
                  "graph g(%s) -> (%s) {\nconst s2: f32[2] = {0.5, -0.25}\nconst shape: i64[2] = {2, 1}\n%s\n}\n",
                  c->inputs, c->outputs, c->body);
    EXPECT_OK(holo_graph_parse(arena, text.data, &graph, &error));
    EXPECT_OK(holo_passes_run(graph, NULL, &error));
    holo_text_deinit(&text);
    return graph;
}

static void test_few(void **state)
{
    (void)state;
    for (int k = 0; k < HOLO_COUNT(fews); k++) {
        const Few      *c      = &fews[k];
        HoloArena       arena  = {0};
        HoloError       why    = {0};
        HoloDomain      domain = {.name = "x"};
        HoloMaterialize m     = {.room = c->room, .error = &why, .domains = &domain, .domain_count = c->domain != NULL};
        HoloGraph      *plain = few_graph(&arena, c), *graph = few_graph(&arena, c);
        domain.values =
            (HoloTensor){.dtype = HOLO_I64, .kind = HOLO_TENSOR, .rank = 1, .dim = {5}, .data = (void *)few_numbers};
        if (holo_materialize_few(graph, &m)) fail_msg("case %d: %s", k, why.text);
        if (m.tables != c->tables) fail_msg("case %d: %u tables", k, m.tables);
        EXPECT_OK(holo_graph_verify(graph, &error));
        if (c->nodes != graph->node_count) fail_msg("case %d: %d nodes are left", k, graph->node_count);
        for (int64_t which = 0; which < 25; which++) {
            size_t   a_size, b_size;
            uint8_t *a = few_run(plain, which, &a_size), *b = few_run(graph, which, &b_size);
            expect_same_bytes(a, a_size, b, b_size);
            free(a);
            free(b);
        }
        holo_arena_deinit(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
