// loop_test.c - loops keep what they carry and no more: memory does not grow with the turns, and what a turn hands to
// the next is still there when it is read. Every model is run as a plan and by the reference.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "api/tensors.h"
#include "graph/graph.h"
#include "support/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A model with a Loop of as many rounds as its first input says, which goes on to the end.
typedef struct Looped {
    OnnxModel model;
    OnnxGraph body;
} Looped;

static Looped begin(void)
{
    Looped l = {0};
    onnx_input(&l.model.graph, "rounds", HOLO_I64, "");
    onnx_input(&l.body, "i", HOLO_I64, "");
    onnx_input(&l.body, "go", HOLO_BOOL, "");
    onnx_output(&l.body, "go_on", HOLO_BOOL, "");
    onnx_node(&l.body, "Identity", "go", "go_on", "");
    return l;
}

// `carried` are the first values of the state, `outputs` those of the Loop.
static const char *end(Looped *l, const char *carried, const char *outputs)
{
    char        inputs[64];
    const char *path = temp_path("looped.onnx");
    snprintf(inputs, sizeof inputs, "rounds,%s%s", *carried ? "," : "", carried);
    onnx_node_with(&l->model.graph, "Loop", inputs, outputs, "", "body", &l->body);
    onnx_save(&l->model, path);
    return path;
}

// What came out, one after another; memory for free().
typedef struct Answers {
    HoloTensor tensor[4];
    size_t     held; // bytes that were held at the end
} Answers;

static HoloTensor copied(const HoloTensor *from)
{
    HoloTensor t = *from;
    t.data       = malloc(holo_tensor_bytes(from) + 1);
    if (!t.data) abort();
    if (from->data) memcpy(t.data, from->data, holo_tensor_bytes(from)); // nothing, where there are no elements
    return t;
}

static Answers run_plan(const char *path, const HoloTensor *inputs)
{
    Answers      a     = {0};
    HoloModel   *model = compiled(path, HOLO_FUSED);
    HoloSession *session;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < holo_model_input_count(model); i++)
        EXPECT_OK(holo_session_set_input(session, i, &inputs[i], &error));
    EXPECT_OK(holo_session_run(session, &error));
    for (int i = 0; i < holo_model_output_count(model); i++) {
        HoloTensor view;
        EXPECT_OK(holo_session_output(session, i, &view, &error));
        a.tensor[i] = copied(&view);
    }
    a.held = holo_session_memory(session);
    holo_session_destroy(session);
    holo_model_close(model);
    return a;
}

static Answers run_reference(const char *path, const HoloTensor *inputs)
{
    Answers           a = {0};
    HoloSource       *source;
    HoloTensors      *outputs;
    const HoloTensor *list[4] = {&inputs[0], &inputs[1], &inputs[2], &inputs[3]};
    EXPECT_OK(holo_source_open(path, &source, &error));
    EXPECT_OK(holo_reference_run(source, list, holo_source_input_count(source), &outputs, &error));
    for (int i = 0; i < holo_tensors_count(outputs); i++) a.tensor[i] = copied(holo_tensors_get(outputs, i, NULL));
    a.held = outputs->arena.total;
    holo_tensors_destroy(outputs);
    holo_source_close(source);
    return a;
}

// Runs the model both ways with so many rounds and hands each answer to `check`.
static void expect(const char *path, int64_t rounds, const HoloTensor *x, size_t held_max,
                   void (*check)(const HoloTensor *out, int64_t rounds))
{
    Answers (*const ways[])(const char *, const HoloTensor *) = {run_plan, run_reference};
    HoloTensor inputs[4]                                      = {{.dtype = HOLO_I64, .data = &rounds}};
    if (x) inputs[1] = *x;
    for (int way = 0; way < 2; way++) {
        Answers a = ways[way](path, inputs);
        check(a.tensor, rounds);
        if (a.held > held_max) fail_msg("%zu bytes are held at the end, more than %zu", a.held, held_max);
        for (int i = 0; i < 4; i++) free(a.tensor[i].data);
    }
}

// ---- what is carried

static void check_sum(const HoloTensor *out, int64_t rounds)
{
    for (int64_t i = 0; i < holo_tensor_count(&out[0]); i++)
        assert_float_equal(((float *)out[0].data)[i], (float)(rounds + i % 7), 0);
}

static const char *model_sum(const char *shape)
{
    Looped l = begin();
    onnx_input(&l.model.graph, "x", HOLO_F32, shape);
    onnx_output(&l.model.graph, "y", HOLO_F32, shape);
    onnx_input(&l.body, "a", HOLO_F32, shape);
    onnx_output(&l.body, "b", HOLO_F32, shape);
    onnx_constant(&l.body, "one", HOLO_F32, "", &(float){1}, sizeof(float));
    onnx_node(&l.body, "Add", "a,one", "b", "");
    return end(&l, "x", "y");
}

static HoloTensor counted(int64_t size)
{
    HoloTensor t = {.dtype = HOLO_F32, .rank = 1, .dim = {size}, .data = malloc((size_t)size * sizeof(float))};
    if (!t.data) abort();
    for (int64_t i = 0; i < size; i++) ((float *)t.data)[i] = (float)(i % 7);
    return t;
}

static void test_many_rounds(void **state)
{
    (void)state;
    HoloTensor x = counted(8);
    expect(model_sum("8"), 1000000 / watched_step("the million rounds", 10), &x, 2 << 20, check_sum);
    free(x.data);
}

static void test_large_state(void **state)
{
    (void)state;
    HoloTensor x = counted(1 << 18);
    expect(model_sum("262144"), 1000 / watched_step("the thousand rounds", 5), &x, 12 << 20, check_sum);
    free(x.data);
}

static void check_grown(const HoloTensor *out, int64_t rounds)
{
    assert_int_equal(out[0].dim[0], rounds + 2);
    for (int64_t i = 0; i < rounds; i++) assert_int_equal(((int64_t *)out[0].data)[2 + i], i);
}

// A state that grows leaves none of its former sizes behind.
static void test_growing_state(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_ints(&l.model.graph, "first", "2", (int64_t[]){-2, -1});
    onnx_output(&l.model.graph, "y", HOLO_I64, "n");
    onnx_input(&l.body, "a", HOLO_I64, "m");
    onnx_output(&l.body, "b", HOLO_I64, "k");
    onnx_ints(&l.body, "flat", "1", (int64_t[]){-1});
    onnx_node(&l.body, "Reshape", "i,flat", "j", "");
    onnx_node(&l.body, "Concat", "a,j", "b", "axis=0");
    expect(end(&l, "first", "y"), 20000, NULL, 4 << 20, check_grown);
}

static void check_swapped(const HoloTensor *out, int64_t rounds)
{
    for (int i = 0; i < 2; i++) assert_int_equal(*(int64_t *)out[i].data, (rounds % 2 ? 1 - i : i) ? 22 : 11);
    assert_int_equal(*(int64_t *)out[2].data, 11);
}

// What a turn gives may be what it was given.
static void test_swapped_state(void **state)
{
    (void)state;
    for (int64_t rounds = 0; rounds < 6; rounds++) {
        Looped l = begin();
        onnx_ints(&l.model.graph, "p", "1", &(int64_t){11});
        onnx_ints(&l.model.graph, "q", "1", &(int64_t){22});
        onnx_ints(&l.model.graph, "r", "1", &(int64_t){11});
        for (int i = 0; i < 3; i++) {
            onnx_output(&l.model.graph, (const char *[]){"u", "v", "w"}[i], HOLO_I64, "1");
            onnx_input(&l.body, (const char *[]){"a", "b", "c"}[i], HOLO_I64, "1");
        }
        onnx_output(&l.body, "b", HOLO_I64, "1");
        onnx_output(&l.body, "a", HOLO_I64, "1");
        onnx_output(&l.body, "c", HOLO_I64, "1");
        expect(end(&l, "p,q,r", "u,v,w"), rounds, NULL, 2 << 20, check_swapped);
    }
}

static void check_lists(const HoloTensor *out, int64_t rounds)
{
    assert_int_equal(*(int64_t *)out[0].data, 5 + rounds * (rounds - 1) / 2);
    assert_int_equal(out[1].rank, 2); // lists of one, collected
    assert_int_equal(out[1].dim[0], rounds);
    assert_int_equal(out[1].dim[1], 1);
    for (int64_t i = 0; i < rounds; i++) assert_int_equal(((int64_t *)out[1].data)[i], i);
}

// A body that declares the number of its turn and the condition as lists of one gets them so.
static void test_lists(void **state)
{
    (void)state;
    for (int64_t rounds = 0; rounds < 4; rounds++) {
        Looped l = {0};
        onnx_input(&l.model.graph, "rounds", HOLO_I64, "");
        onnx_ints(&l.model.graph, "five", "1", &(int64_t){5});
        onnx_output(&l.model.graph, "sum", HOLO_I64, "1");
        onnx_output(&l.model.graph, "all", HOLO_I64, "n,1");
        onnx_input(&l.body, "i", HOLO_I64, "1");
        onnx_input(&l.body, "go", HOLO_BOOL, "1");
        onnx_input(&l.body, "a", HOLO_I64, "1");
        onnx_output(&l.body, "go", HOLO_BOOL, "1");
        onnx_output(&l.body, "b", HOLO_I64, "1");
        onnx_output(&l.body, "c", HOLO_I64, "1");
        onnx_ints(&l.body, "first", "1", &(int64_t){0});
        onnx_node(&l.body, "Squeeze", "i,first", "scalar", "");
        onnx_node(&l.body, "Add", "a,scalar", "b", "");
        onnx_node(&l.body, "Identity", "i", "c", "");
        expect(end(&l, "five", "sum,all"), rounds, NULL, 2 << 20, check_lists);
    }
}

// ---- what is collected

static void check_collected(const HoloTensor *out, int64_t rounds)
{
    assert_int_equal(out[0].rank, 2);
    assert_int_equal(out[0].dim[0], rounds);
    assert_int_equal(out[0].dim[1], 1);
    for (int64_t i = 0; i < rounds; i++) assert_int_equal(((int64_t *)out[0].data)[i], 2 * i);
}

static void test_collected_steps(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_output(&l.model.graph, "y", HOLO_I64, "n,1");
    onnx_output(&l.body, "c", HOLO_I64, "1");
    onnx_ints(&l.body, "two", "1", &(int64_t){2});
    onnx_node(&l.body, "Mul", "i,two", "c", "");
    expect(end(&l, "", "y"), 100000, NULL, 8 << 20, check_collected);
}

static void check_none(const HoloTensor *out, int64_t rounds)
{
    (void)rounds;
    assert_int_equal(out[0].rank, 3);
    assert_int_equal(out[0].dim[0], 0);
    assert_int_equal(out[0].dim[1], 1);
    assert_int_equal(out[0].dim[2], 2);
}

// No turn is made, and only the numbers of a constant say how large what a turn gives would have been.
static void test_no_rounds(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_output(&l.model.graph, "y", HOLO_I64, "n,m,k");
    onnx_output(&l.body, "where", HOLO_I64, "m,k");
    onnx_ints(&l.model.graph, "none", "", &(int64_t){0});
    onnx_ints(&l.body, "some", "4", (int64_t[]){0, 5, 0, 7});
    onnx_node(&l.body, "Abs", "some", "same", "");
    onnx_node(&l.body, "NonZero", "same", "where", "");
    onnx_node_with(&l.model.graph, "Loop", "none,", "y", "", "body", &l.body);
    const char *path = temp_path("no_rounds.onnx");
    onnx_save(&l.model, path);
    HoloTensor rounds = {.dtype = HOLO_I64, .data = &(int64_t){0}};
    Answers    a      = run_plan(path, &rounds);
    check_none(a.tensor, 0);
    free(a.tensor[0].data);
}

// ---- lists, and loops in loops

static void check_joined(const HoloTensor *out, int64_t rounds)
{
    assert_int_equal(out[0].dim[0], rounds);
    for (int64_t i = 0; i < rounds; i++) assert_int_equal(((int64_t *)out[0].data)[i], i);
}

// The elements of a list that is carried are those of all turns before.
static void test_carried_list(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_output(&l.model.graph, "y", HOLO_I64, "n");
    onnx_node(&l.model.graph, "SequenceEmpty", "", "list", "dtype=7");
    onnx_output(&l.body, "longer", HOLO_I64, NULL);
    onnx_input(&l.body, "shorter", HOLO_I64, NULL);
    onnx_ints(&l.body, "flat", "1", (int64_t[]){-1});
    onnx_node(&l.body, "Reshape", "i,flat", "j", "");
    onnx_node(&l.body, "SequenceInsert", "shorter,j", "longer", "");
    onnx_node_with(&l.model.graph, "Loop", "rounds,,list", "all", "", "body", &l.body);
    onnx_node(&l.model.graph, "ConcatFromSequence", "all", "y", "axis=0");
    const char *path = temp_path("list.onnx");
    onnx_save(&l.model, path);
    expect(path, 300, NULL, 8 << 20, check_joined);
    expect(path, 20000, NULL, 64 << 20, check_joined); // with a copy of the list in each turn: minutes
}

static void check_forked(const HoloTensor *out, int64_t rounds)
{
    assert_int_equal(out[0].dim[0], rounds);
    assert_int_equal(out[1].dim[0], rounds);
    for (int64_t i = 0; i < rounds; i++) {
        assert_int_equal(((int64_t *)out[0].data)[i], i);
        assert_int_equal(((int64_t *)out[1].data)[i], i < rounds - 1 ? i : -1);
    }
}

// Two lists that are made of one by an element each do not see that of the other.
static void test_forked_list(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_output(&l.model.graph, "y", HOLO_I64, "n");
    onnx_output(&l.model.graph, "z", HOLO_I64, "n");
    onnx_node(&l.model.graph, "SequenceEmpty", "", "list", "dtype=7");
    onnx_output(&l.body, "longer", HOLO_I64, NULL);
    onnx_output(&l.body, "other", HOLO_I64, NULL);
    onnx_input(&l.body, "shorter", HOLO_I64, NULL);
    onnx_input(&l.body, "unused", HOLO_I64, NULL);
    onnx_ints(&l.body, "flat", "1", (int64_t[]){-1});
    onnx_node(&l.body, "Reshape", "i,flat", "j", "");
    onnx_node(&l.body, "SequenceInsert", "shorter,j", "longer", "");
    onnx_node(&l.body, "SequenceInsert", "shorter,flat", "other", "");
    onnx_node_with(&l.model.graph, "Loop", "rounds,,list,list", "all,others", "", "body", &l.body);
    onnx_node(&l.model.graph, "ConcatFromSequence", "all", "y", "axis=0");
    onnx_node(&l.model.graph, "ConcatFromSequence", "others", "z", "axis=0");
    const char *path = temp_path("forked.onnx");
    onnx_save(&l.model, path);
    expect(path, 300, NULL, 8 << 20, check_forked);
}

static void check_queue(const HoloTensor *out, int64_t rounds)
{
    assert_int_equal(out[0].dim[0], 3000);
    for (int64_t i = 0; i < 3000; i += 1000) assert_int_equal(((int64_t *)out[0].data)[i], rounds - 3 + i / 1000);
}

// A list that gets an element and loses one in each turn takes no more memory in the end than in the beginning.
static void test_queue(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_output(&l.model.graph, "y", HOLO_I64, "n");
    onnx_ints(&l.model.graph, "nothing", "1", (int64_t[]){0});
    onnx_node(&l.model.graph, "SequenceConstruct", "nothing,nothing,nothing", "list", "");
    onnx_output(&l.body, "next", HOLO_I64, NULL);
    onnx_input(&l.body, "before", HOLO_I64, NULL);
    onnx_ints(&l.body, "first", "", &(int64_t){0});
    onnx_ints(&l.body, "many", "1", (int64_t[]){1000});
    onnx_node(&l.body, "Expand", "i,many", "block", "");
    onnx_node(&l.body, "SequenceInsert", "before,block", "longer", "");
    onnx_node(&l.body, "SequenceErase", "longer,first", "next", "");
    onnx_node_with(&l.model.graph, "Loop", "rounds,,list", "all", "", "body", &l.body);
    onnx_node(&l.model.graph, "ConcatFromSequence", "all", "y", "axis=0");
    const char *path = temp_path("queue.onnx");
    onnx_save(&l.model, path);
    expect(path, 5000, NULL, 8 << 20, check_queue); // all blocks together are 40 million bytes
}

static void check_nested(const HoloTensor *out, int64_t rounds)
{
    assert_int_equal(*(int64_t *)out[0].data, rounds * 3 * 10);
    assert_int_equal(out[1].dim[0], rounds);
    for (int64_t i = 0; i < rounds; i++) assert_int_equal(((int64_t *)out[1].data)[i], (i + 1) * 3 * 10);
}

// The inner loop adds ten three times over; the outer one carries its result and collects it.
static void test_nested_loops(void **state)
{
    (void)state;
    OnnxGraph inner = {{0}};
    onnx_input(&inner, "k", HOLO_I64, "");
    onnx_input(&inner, "inner_go", HOLO_BOOL, "");
    onnx_input(&inner, "s", HOLO_I64, "");
    onnx_output(&inner, "inner_go", HOLO_BOOL, "");
    onnx_output(&inner, "t", HOLO_I64, "");
    onnx_node(&inner, "Add", "s,ten", "t", "");
    Looped l = begin();
    onnx_ints(&l.model.graph, "zero", "", &(int64_t){0});
    onnx_ints(&l.model.graph, "ten", "", &(int64_t){10});
    onnx_output(&l.model.graph, "y", HOLO_I64, "");
    onnx_output(&l.model.graph, "all", HOLO_I64, "n");
    onnx_input(&l.body, "a", HOLO_I64, "");
    onnx_output(&l.body, "b", HOLO_I64, "");
    onnx_output(&l.body, "b", HOLO_I64, "");
    onnx_ints(&l.body, "three", "", &(int64_t){3});
    onnx_node_with(&l.body, "Loop", "three,,a", "b", "", "body", &inner);
    expect(end(&l, "zero", "y,all"), 1000, NULL, 2 << 20, check_nested);
}

static void check_first(const HoloTensor *out, int64_t rounds)
{
    assert_int_equal(*(int64_t *)out[0].data, rounds);
}

// A body that gives more than the node has names for: the rest is not collected.
static void test_unwanted_results(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_output(&l.model.graph, "y", HOLO_I64, "");
    onnx_ints(&l.model.graph, "zero", "", &(int64_t){0});
    onnx_input(&l.body, "a", HOLO_I64, "");
    onnx_output(&l.body, "b", HOLO_I64, "");
    onnx_output(&l.body, "c", HOLO_I64, "");
    onnx_ints(&l.body, "one", "", &(int64_t){1});
    onnx_node(&l.body, "Add", "a,one", "b", "");
    onnx_node(&l.body, "Neg", "b", "c", "");
    expect(end(&l, "zero", "y"), 50, NULL, 1 << 20, check_first);
}

// One that nothing ends, for whatever inputs are made up: the archive is written, and says that it was not verified.
static void test_endless(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_input(&l.model.graph, "x", HOLO_F32, "2");
    onnx_output(&l.model.graph, "y", HOLO_F32, "2");
    onnx_input(&l.body, "a", HOLO_F32, "2");
    onnx_output(&l.body, "a", HOLO_F32, "2");
    onnx_node_with(&l.model.graph, "Loop", ",,x", "y", "", "body", &l.body);
    onnx_save(&l.model, temp_path("endless.onnx"));
    HoloModel  *model;
    HoloReport *report;
    EXPECT_OK(holo_compile_model(NULL, temp_path("endless.onnx"), &model, &report, &error));
    assert_false(report->verified);
    assert_non_null(strstr(report->verify_why_not, "runs more often than is allowed"));
    holo_report_destroy(report);
    holo_model_close(model);
}

// What may be computed is a number of turns; turns with large tensors count more.
static void test_turns_counted(void **state)
{
    (void)state;
    static const struct {
        int64_t elements, turns;
        bool    fits;
    } rows[]         = {{1, 5, true}, {1, 4, false}, {40960, 55, true}, {40960, 54, false}};
    HoloArena  arena = {0};
    HoloGraph *graph;
    EXPECT_OK(
        holo_graph_parse(&arena,
                         "graph g(x: f32[N]) -> (y) {\n"
                         "    const trips: i64[] = {5}\n"
                         "    y = Loop@16(trips, _, x) {body=graph b(i: i64[], c: bool[], x: f32[N]) -> (c, z) {\n"
                         "        z = Neg@13(x)\n"
                         "    }}\n"
                         "}\n",
                         &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        int64_t           turns   = rows[i].turns;
        HoloEvalOptions   options = {.turns = &turns};
        HoloTensor        x = {.dtype = HOLO_F32, .rank = 1, .dim = {rows[i].elements}}, y = {0};
        const HoloTensor *in  = &x;
        HoloError         why = {0};
        x.data                = calloc((size_t)rows[i].elements, sizeof(float));
        HoloStatus status     = holo_graph_eval(graph, &in, &y, &arena, &options, &why);
        assert_int_equal(status, rows[i].fits ? HOLO_OK : HOLO_NO_MEMORY);
        free(x.data);
    }
    holo_arena_deinit(&arena);
}

// What no turn collects has the shape that is known of the body: of a constant, the plan knows more than the model
// says.
static void test_nothing_collected(void **state)
{
    (void)state;
    Looped l = begin();
    onnx_output(&l.model.graph, "y", HOLO_I64, NULL);
    onnx_ints(&l.model.graph, "none", "", &(int64_t){0});
    onnx_output(&l.body, "c", HOLO_I64, NULL);
    onnx_ints(&l.model.graph, "all", "3", (int64_t[]){1, 1, 2});
    onnx_node(&l.body, "Unique", "all", "c", "");
    onnx_node_with(&l.model.graph, "Loop", "none,", "y", "", "body", &l.body);
    onnx_save(&l.model, temp_path("nothing.onnx"));
    HoloModel *model;
    EXPECT_OK(holo_compile_model(NULL, temp_path("nothing.onnx"), &model, NULL, &error));
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_rounds),
        cmocka_unit_test(test_large_state),
        cmocka_unit_test(test_growing_state),
        cmocka_unit_test(test_swapped_state),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_collected_steps),
        cmocka_unit_test(test_carried_list),
        cmocka_unit_test(test_forked_list),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_nested_loops),
        cmocka_unit_test(test_no_rounds),
        cmocka_unit_test(test_unwanted_results),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_turns_counted),
        cmocka_unit_test(test_nothing_collected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
