// stored_test.c - large weights are read as they are stored: no pass copies them, and the answers are those of the
// model as it is written.
#include "support/models.h"

#include "format/dtype.h"
#include "graph/facts.h"
#include "passes/passes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 150, INNER = 240, COLUMNS = 260 }; // no multiples of a panel

typedef struct Case {
    HoloDtype   model, weights;
    const char *text; // w is turned where it is [COLUMNS, INNER]
    bool        turned;
} Case;

static const Case cases[] = {
    {HOLO_F32, HOLO_F32, "t = Transpose@13(w) {perm=[1, 0]}\n    y = MatMul@13(x, t)\n", true},
    {HOLO_F32, HOLO_F16, "c = Cast@13(w) {to=1}\n    t = Transpose@13(c) {perm=[1, 0]}\n    y = MatMul@13(x, t)\n",
     true},
    {HOLO_F32, HOLO_BF16, "t = Transpose@13(w)\n    c = Cast@13(t) {to=1}\n    y = MatMul@13(x, c)\n", true},
    {HOLO_F32, HOLO_F16, "c = Cast@13(w) {to=1}\n    y = Gemm@13(x, c, b) {transB=1}\n", true},
    {HOLO_F32, HOLO_F16, "c = Cast@13(w) {to=1}\n    m = MatMul@13(x, c)\n    y = Relu@14(m)\n", false},
    {HOLO_F16, HOLO_F16, "t = Transpose@13(w) {perm=[1, 0]}\n    y = MatMul@13(x, t)\n", true},
    {HOLO_F16, HOLO_F16, "y = MatMul@13(x, w)\n", false},
};

// Made-up numbers of a type, in the arena.
static void *numbers(HoloArena *arena, const HoloTensor *type, uint64_t seed)
{
    HoloTensor t    = made(type, seed, 1);
    void      *data = holo_arena_take(arena, holo_tensor_bytes(&t) + 1);
    assert_non_null(data);
    memcpy(data, t.data, holo_tensor_bytes(&t));
    free(t.data);
    return data;
}

// The graph of a case; *out_w is its constant.
static HoloGraph *graph_of(const Case *c, HoloArena *arena, HoloValue **out_w)
{
    char       text[600];
    HoloGraph *graph;
    snprintf(text, sizeof text, "graph g(x: %s[n,%d], w: %s[%d,%d]) -> (y) {\n const b: f32[1] = {1}\n    %s}\n",
             holo_dtype_name(c->model), INNER, holo_dtype_name(c->weights), c->turned ? COLUMNS : INNER,
             c->turned ? INNER : COLUMNS, c->text);
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    HoloValue *w = graph->inputs[1], *b = holo_graph_find(graph, "b");
    w->type.data   = numbers(arena, &w->type, 5);
    w->is_constant = true;
    w->is_input    = false;
    graph->input_count--;
    b->type.dim[0] = COLUMNS;
    b->type.data   = numbers(arena, &b->type, 7);
    *out_w         = w;
    return graph;
}

static void test_read_as_stored(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloArena    arena = {0};
        HoloValue   *w, *ignored;
        HoloGraph   *plain = graph_of(&cases[i], &arena, &ignored), *graph = graph_of(&cases[i], &arena, &w);
        HoloModel   *model;
        HoloSession *session;
        HoloTensor   want, got;
        uint32_t     kernels;
        EXPECT_OK(holo_graph_infer(plain, &error));
        EXPECT_OK(holo_passes_run(graph, NULL, &error));
        const HoloNode *product = NULL;
        for (int n = 0; n < graph->node_count; n++)
            if (HOLO_IS(graph->nodes[n], HOLOGRAM_MatMul)) product = graph->nodes[n];
        if (!product || product->in[1]->type.data != w->type.data) fail_msg("case %d: the weights were copied", i);
        EXPECT_OK(model_of(graph, HOLO_FUSED, &model, &kernels, &error));
        HoloTensor x           = plain->inputs[0]->type;
        x.dim[0]               = ROWS;
        x                      = made(&x, 3, 1);
        const HoloTensor *in[] = {&x};
        EXPECT_OK(holo_graph_eval(plain, in, &want, &arena, NULL, &error));
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
        EXPECT_OK(holo_session_run(session, &error));
        EXPECT_OK(holo_session_output(session, 0, &got, &error));
        double top = 0, off = 0, near = cases[i].model == HOLO_F32 ? 1e-5 : 1e-3;
        for (int64_t k = 0; k < holo_tensor_count(&got); k++) {
            top = fmax(top, fabs(holo_get_f(&want, k)));
            off = fmax(off, fabs(holo_get_f(&want, k) - holo_get_f(&got, k)));
        }
        if (!(off <= near * top)) fail_msg("case %d: off by %g of %g", i, off, top);
        free(x.data);
        holo_session_destroy(session);
        holo_model_close(model);
        holo_arena_deinit(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_as_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
