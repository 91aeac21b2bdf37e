// places_test.c - which values share bytes: pieces that are cut out of a value, what is made where it is joined, what
// is written over what nobody reads any more. Each graph is planned as it is, run, and compared with plain evaluation.
#include "support/models.h"

#include "graph/graph.h"
#include "runtime/frame/frame.h"

#include <stdlib.h>
#include <string.h>

enum { INPUTS_MAX = 4, OUTPUTS_MAX = 6, NAMES_MAX = 8 };

typedef struct Case {
    const char *text;
    uint32_t    steps;
    struct {
        const char *name;
        HoloStorage storage;
        const char *base; // of ALIAS and PART
    } place[NAMES_MAX];
} Case;

#define ARENA          HOLO_STORE_ARENA, NULL
#define PART_OF(base)  HOLO_STORE_PART, base
#define ALIAS_OF(base) HOLO_STORE_ALIAS, base

static const Case cases[] = {
    // The parts of a split, and a part of a part.
    {"graph g(x: f32[4,6]) -> (p, q) {\n"
     "    const three: i64[1] = {1}\n const four: i64[1] = {2}\n"
     "    r = Relu@14(x)\n"
     "    a, b = Split@18(r) {num_outputs=2}\n"
     "    c = Slice@13(b, three, four)\n"
     "    p = Neg@13(a)\n q = Neg@13(c)\n"
     "}\n",
     3,
     {{"r", ARENA}, {"a", PART_OF("r")}, {"b", PART_OF("r")}, {"c", PART_OF("b")}}},
    // Not in one piece.
    {"graph g(x: f32[4,6]) -> (p, q) {\n"
     "    a, b = Split@18(x) {axis=1, num_outputs=2}\n"
     "    p = Neg@13(a)\n q = Neg@13(b)\n"
     "}\n",
     3,
     {{"a", ARENA}, {"b", ARENA}}},
    // Pieces of an input and through dimensions of 1; one index; a part that is an output.
    {"graph g(x: f32[1,5,4]) -> (p, q, s) {\n"
     "    const i: i64[] = {-2}\n const from: i64[2] = {1, 2}\n const to: i64[2] = {2, 4}\n const axes: i64[2] = {1, 2}\n"
     "    a = Gather@13(x, i) {axis=1}\n"
     "    b = Slice@13(x, from, to, axes)\n"
     "    p = Neg@13(a)\n q = Neg@13(b)\n s = Identity@14(b)\n"
     "}\n",
     2,
     {{"a", PART_OF("x")}, {"b", PART_OF("x")}, {"s", ALIAS_OF("b")}}},
    // Steps, rows of several axes, and backwards: copied.
    {"graph g(x: f32[3,4]) -> (p, q, s) {\n"
     "    const a0: i64[1] = {0}\n const a1: i64[1] = {1}\n const one: i64[1] = {1}\n const two: i64[1] = {2}\n"
     "    const far: i64[1] = {9}\n const last: i64[1] = {-1}\n const all: i64[1] = {-9}\n const back: i64[1] = {-1}\n"
     "    p = Slice@13(x, a0, far, a0, two)\n"
     "    q = Slice@13(x, one, two, a1)\n"
     "    s = Slice@13(x, last, all, a0, back)\n"
     "}\n",
     3,
     {{"p", ARENA}, {"q", ARENA}, {"s", ARENA}}},
    // What is joined is made there; an input is copied; a view of what is made is made there, too.
    {"graph g(x: f32[2,6]) -> (y) {\n"
     "    const shape: i64[2] = {2, 6}\n"
     "    a = Relu@14(x)\n"
     "    b = Transpose@13(x) {perm=[1,0]}\n"
     "    v = Reshape@14(b, shape)\n"
     "    j = Concat@13(a, x, v) {axis=0}\n"
     "    y = Neg@13(j)\n"
     "}\n",
     4,
     {{"a", PART_OF("j")}, {"b", PART_OF("j")}, {"v", ALIAS_OF("b")}, {"j", ARENA}}},
    // Beside what has its size only while running nothing is made in place, also where the whole is known.
    {"graph g(x: f32[1,3]) -> (y) {\n"
     "    e = Exp@13(x)\n n = NonZero@13(e)\n"
     "    a = Cast@13(x) {to=7}\n"
     "    j = Concat@13(a, n) {axis=0}\n"
     "    y = Neg@13(j)\n"
     "}\n",
     5,
     {{"a", ARENA}, {"n", HOLO_STORE_HEAP, NULL}, {"j", ARENA}}},
    // Joined twice: made in the first, copied to the second. The same value twice in one: copied.
    {"graph g(x: f32[2,3]) -> (y, z, w) {\n"
     "    a = Relu@14(x)\n b = Neg@13(x)\n c = Abs@13(x)\n"
     "    y = Concat@13(a, b) {axis=0}\n"
     "    z = Concat@13(b, a, x) {axis=0}\n"
     "    w = Concat@13(c, c) {axis=0}\n"
     "}\n",
     6,
     {{"a", PART_OF("y")}, {"b", PART_OF("y")}, {"z", ARENA}, {"c", ARENA}}},
    // Joined, and that joined again. An output of the graph stays where it is.
    {"graph g(x: f32[2,3]) -> (y, c) {\n"
     "    a = Relu@14(x)\n b = Neg@13(x)\n c = Abs@13(x)\n"
     "    j = Concat@13(a, b) {axis=0}\n"
     "    y = Concat@13(c, j) {axis=0}\n"
     "}\n",
     5,
     {{"a", PART_OF("j")}, {"b", PART_OF("j")}, {"j", PART_OF("y")}, {"c", ARENA}}},
    // A whole and a piece of it joined.
    {"graph g(x: f32[4,3]) -> (y) {\n"
     "    a = Relu@14(x)\n"
     "    b, c = Split@18(a) {num_outputs=2}\n"
     "    y = Concat@13(a, c) {axis=0}\n"
     "}\n",
     2,
     {{"a", ARENA}, {"c", PART_OF("a")}}},
    // What is joined is read later, and is not written over before; nor is what it is joined to.
    {"graph g(x: f32[2,3]) -> (y, z, w) {\n"
     "    a = Relu@14(x)\n b = Neg@13(x)\n"
     "    j = Concat@13(a, b) {axis=0}\n"
     "    k = Abs@13(j)\n y = Exp@13(k)\n"
     "    c = Neg@13(a)\n z = Exp@13(c)\n"
     "    d = Neg@13(b)\n w = Exp@13(d)\n"
     "}\n",
     9,
     {{"a", PART_OF("j")}, {"k", ARENA}, {"c", ARENA}, {"d", ALIAS_OF("b")}}},
    // In place over a part whose whole is read no more; not while the other part is.
    {"graph g(x: f32[4,3]) -> (y, z) {\n"
     "    r = Relu@14(x)\n"
     "    a, b = Split@18(r) {num_outputs=2}\n"
     "    c = Neg@13(a)\n y = Exp@13(c)\n"
     "    d = Neg@13(b)\n z = Exp@13(d)\n"
     "}\n",
     5,
     {{"c", ARENA}, {"d", ALIAS_OF("b")}}},
    // Open sizes: what begins at an expression of them.
    {"graph g(x: f32[n,3], z: f32[m,3]) -> (y, p, q) {\n"
     "    const two: i64[1] = {2}\n const far: i64[1] = {99}\n const last: i64[1] = {-2}\n const zero: i64[1] = {0}\n"
     "    a = Relu@14(x)\n b = Neg@13(z)\n c = Abs@13(x)\n"
     "    y = Concat@13(a, b, c) {axis=0}\n"
     "    s = Slice@13(a, two, far, zero)\n p = Neg@13(s)\n"
     "    t = Slice@13(z, last, far, zero)\n q = Neg@13(t)\n"
     "}\n",
     6,
     {{"a", PART_OF("y")}, {"b", PART_OF("y")}, {"c", PART_OF("y")}, {"s", PART_OF("a")}, {"t", PART_OF("z")}}},
    {"graph g(x: f32[k,4,n]) -> (y) {\n"
     "    a, b = Split@18(x) {axis=1, num_outputs=2}\n"
     "    y = Add@14(a, b)\n"
     "}\n",
     2,
     {{"a", ARENA}}},
};

static uint32_t value_find(const HoloFrame *frame, const char *name)
{
    for (uint32_t i = 0; i < frame->plan->value_count; i++)
        if (!strcmp(holo_model_text(frame->session->model, holo_frame_record(frame, i)->name), name)) return i;
    fail_msg("there is no value %s", name);
    return 0;
}

static void expect_places(const Case *c, const HoloFrame *frame)
{
    assert_int_equal(frame->plan->step_count, c->steps);
    for (int i = 0; i < NAMES_MAX && c->place[i].name; i++) {
        const HoloValueRecord *v = holo_frame_record(frame, value_find(frame, c->place[i].name));
        if (v->storage != c->place[i].storage) fail_msg("%s is stored as %u", c->place[i].name, v->storage);
        if (c->place[i].base) assert_int_equal(v->at, value_find(frame, c->place[i].base));
    }
}

// Runs with memory of the session and of the caller; what only moves or is rounded in one way comes out the same.
static void expect_results(HoloGraph *graph, HoloSession *session, int64_t rows, HoloArena *arena)
{
    HoloTensor        inputs[INPUTS_MAX], want[OUTPUTS_MAX], got;
    const HoloTensor *list[INPUTS_MAX];
    for (int i = 0; i < graph->input_count; i++) {
        inputs[i] = made(&graph->inputs[i]->type, 7 + (uint64_t)(rows + i), rows);
        list[i]   = &inputs[i];
        EXPECT_OK(holo_session_set_input(session, i, &inputs[i], &error));
    }
    EXPECT_OK(holo_graph_eval(graph, list, want, arena, NULL, &error));
    for (int run = 0; run < 2; run++) {
        EXPECT_OK(holo_session_run(session, &error));
        for (int i = 0; i < graph->output_count; i++) {
            EXPECT_OK(holo_session_output(session, i, &got, &error));
            size_t bytes = holo_tensor_bytes(&want[i]);
            assert_int_equal(holo_tensor_bytes(&got), bytes);
            for (int64_t k = 0; k < holo_tensor_count(&got); k++)
                assert_float_equal(holo_get_f(&got, k), holo_get_f(&want[i], k), 1e-6);
            EXPECT_OK(holo_session_set_output(session, i, holo_arena_take(arena, bytes + 1), bytes, &error));
        }
    }
    for (int i = 0; i < graph->output_count; i++) EXPECT_OK(holo_session_set_output(session, i, NULL, 0, &error));
    for (int i = 0; i < graph->input_count; i++) free(inputs[i].data);
}

static void expect_case(const Case *c)
{
    HoloArena    arena = {0};
    HoloGraph   *graph;
    HoloModel   *model;
    HoloSession *session;
    uint32_t     kernels;
    EXPECT_OK(holo_graph_parse(&arena, c->text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(model_of(graph, HOLO_FUSED, &model, &kernels, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    expect_places(c, session->frames[0]);
    for (int64_t rows = 0; rows < 5; rows++) expect_results(graph, session, rows, &arena);
    holo_session_destroy(session);
    holo_model_close(model);
    holo_arena_deinit(&arena);
}

static void test_places(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) expect_case(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
