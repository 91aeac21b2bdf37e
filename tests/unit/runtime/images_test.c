// images_test.c - batches whose images are computed each by itself: which graphs are such, and runs of some images
// after the other.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "passes/passes.h"
#include "plan/plan.h"
#include "runtime/frame/frame.h"
#include "support/watched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS_MAX = 3, OUTPUTS_MAX = 3 };

static HoloGraph *parsed(HoloArena *arena, const char *text)
{
    HoloGraph *graph;
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    return graph;
}

// ---- which graphs

// A graph of one input x, and what is written between its constants and its output y.
#define GRAPH(type, body) "graph g(x: " type ") -> (y) {\n" body "}\n"
#define IMAGE             "f32[n,4,5,6]"
#define LIST2             "    const l: i64[2] = {2, 3}\n"

static const char *const separate[] = {
    GRAPH(IMAGE, "    y = Relu@14(x)\n"),
    GRAPH(IMAGE, "    const c: f32[1,1,1,6] = {1, 2, 3, 4, 5, 6}\n    m = Mul@14(x, c)\n    y = Add@14(m, x)\n"),
    GRAPH(IMAGE, "    const w: f32[2,4,1,1] = {1, 2, 3, 4, 5, 6, 7, 8}\n    y = Conv@13(x, w)\n"),
    GRAPH(IMAGE, "    y = MaxPool@12(x) {kernel_shape=[2,2]}\n"),
    GRAPH(IMAGE, "    y = Transpose@13(x) {perm=[0,2,3,1]}\n"),
    GRAPH(IMAGE, "    a = Transpose@13(x) {perm=[1,2,0,3]}\n    b = Softmax@13(a) {axis=0}\n"
                 "    c = Slice@9(b) {axes=[1], starts=[1], ends=[3]}\n    y = Transpose@13(c) {perm=[2,0,1,3]}\n"),
    GRAPH(IMAGE, "    y = Softmax@11(x) {axis=2}\n"),
    GRAPH(IMAGE, "    y = Flatten@13(x)\n"),
    GRAPH(IMAGE, "    shape s: i64[2] = {20*n, 6}\n    shape t: i64[3] = {n, 20, 3}\n"
                 "    const w: f32[6,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}\n"
                 "    a = Reshape@13(x, s)\n    b = MatMul@13(a, w)\n    y = Reshape@13(b, t)\n"),
    GRAPH(IMAGE, "    a = Flatten@13(x)\n    b = Flatten@13(x) {axis=3}\n    c = Relu@14(a)\n    y = Identity@13(c)\n"),
    GRAPH(IMAGE, "    t = Transpose@13(x) {perm=[0,1,3,2]}\n    y = MatMul@13(x, t)\n"),
    GRAPH(IMAGE, "    const w: f32[2,5] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0}\n    y = MatMul@13(w, x)\n"),
    GRAPH(IMAGE, "    y = ReduceMean@13(x) {axes=[1,3], keepdims=0}\n"),
    GRAPH(
        IMAGE,
        "    a = Transpose@13(x) {perm=[1,0,2,3]}\n    b = ReduceMax@13(a) {axes=[0], keepdims=0}\n    y = Neg@13(b)\n"),
    GRAPH(IMAGE, "    y = ArgMax@13(x) {axis=1, keepdims=0}\n"),
    GRAPH(IMAGE, "    y = Concat@13(x, x) {axis=1}\n"),
    GRAPH(IMAGE, "    a, b = Split@18(x) {axis=1, num_outputs=2}\n    y = Sub@14(a, b)\n"),
    GRAPH(IMAGE, LIST2 "    y = Gather@13(x, l) {axis=2}\n"),
    GRAPH(IMAGE, "    const p: i64[8] = {0, 1, 0, 0, 0, 2, 0, 1}\n    y = Pad@13(x, p)\n"),
    GRAPH(IMAGE, "    const s: f32[4] = {1, 1, 2, 2}\n    y = Resize@13(x, _, s) {mode=\"linear\"}\n"),
    GRAPH(
        IMAGE,
        "    const z: f32[1] = {2}\n    shape s: i64[4] = {n, 4, 5, 6}\n    e = Expand@13(z, s)\n    y = Add@14(x, e)\n"),
    GRAPH(IMAGE, "    const s: f32[6] = {1, 2, 3, 4, 5, 6}\n    y = LayerNormalization@17(x, s)\n"),
    GRAPH("i64[n,3]", "    const t: f32[2,2] = {1, 2, 3, 4}\n    y = Gather@13(t, x)\n"),
    GRAPH(IMAGE, "    y = Attention@23(x, x, x)\n"),
};

static const char *const mixed[] = {
    GRAPH("f32[3,4]", "    y = Relu@14(x)\n"), // there is no batch
    GRAPH("f32[n,n]", "    y = Relu@14(x)\n"),
    GRAPH("f32[2*n,4]", "    y = Relu@14(x)\n"),
    GRAPH(IMAGE, "    y = Softmax@13(x) {axis=0}\n"),
    GRAPH(IMAGE, "    y = Softmax@11(x) {axis=0}\n"),
    GRAPH(IMAGE, "    y = Transpose@13(x) {perm=[1,0,2,3]}\n"), // an output that begins with another
    GRAPH(IMAGE, "    m = ReduceMean@13(x) {axes=[0]}\n    y = Sub@14(x, m)\n"),
    GRAPH(IMAGE, "    m = ReduceMean@13(x)\n    y = Sub@14(x, m)\n"),
    GRAPH(IMAGE, "    y = Concat@13(x, x) {axis=0}\n"),
    GRAPH(IMAGE, "    y = Slice@9(x) {axes=[0], starts=[0], ends=[2]}\n"),
    GRAPH(IMAGE, "    const l: i64[] = {0}\n    y = CumSum@14(x, l)\n"),
    GRAPH(IMAGE, LIST2 "    y = Gather@13(x, l) {axis=0}\n"),
    GRAPH(IMAGE, "    q, s, z = DynamicQuantizeLinear@11(x)\n    y = DequantizeLinear@13(q, s, z)\n"),
    GRAPH(IMAGE, "    a, y = MaxPool@12(x) {kernel_shape=[2,2]}\n"), // places are counted over all images
    GRAPH(IMAGE, "    const p: i64[8] = {1, 0, 0, 0, -1, 0, 0, 0}\n    y = Pad@13(x, p)\n"),
    GRAPH(IMAGE,
          "    const s: f32[4] = {1, 2, 3, 4}\n    y = BatchNormalization@15(x, s, s, s, s) {training_mode=1}\n"),
    GRAPH(IMAGE, "    y = RandomNormalLike@1(x)\n"),
    GRAPH(IMAGE, "    const r: f32[8] = {0.5, 0, 0, 0, 1, 1, 1, 1}\n    shape s: i64[4] = {n, 4, 5, 6}\n"
                 "    y = Resize@13(x, r, _, s) {coordinate_transformation_mode=\"tf_crop_and_resize\"}\n"),
    GRAPH(IMAGE,
          "    s = Shape@15(x)\n    f = Cast@13(s) {to=1}\n    m = ReduceSum@11(f) {axes=[0]}\n    y = Mul@14(x, m)\n"),
    GRAPH(IMAGE, "    shape s: i64[4] = {4, n, 5, 6}\n    shape t: i64[4] = {n, 4, 5, 6}\n    a = Reshape@13(x, s)\n"
                 "    b = Softmax@13(a) {axis=0}\n    y = Reshape@13(b, t)\n"),
    GRAPH("f32[n,4]", "    t = Transpose@13(x) {perm=[1,0]}\n    y = MatMul@13(x, t)\n"),
    GRAPH("f32[n,4]", "    t = Transpose@13(x) {perm=[1,0]}\n    m = MatMul@13(t, x)\n    y = MatMul@13(x, m)\n"),
};

static bool is_separate(const HoloGraph *graph)
{
    HoloArena scratch = {0};
    bool      is      = holo_plan_is_separate(graph, &scratch);
    holo_arena_deinit(&scratch);
    return is;
}

// Each image alone gives what it gives among others.
static void expect_apart(HoloGraph *graph, HoloArena *arena)
{
    enum { IMAGES = 3 };
    HoloTensor        x = made(&graph->inputs[0]->type, 5, IMAGES), one = x, all, each;
    const HoloTensor *list[] = {&x}, *alone[] = {&one};
    if (x.dtype == HOLO_I64)
        for (int64_t i = 0; i < holo_tensor_count(&x); i++) ((int64_t *)x.data)[i] = i % 2;
    EXPECT_OK(holo_graph_eval(graph, list, &all, arena, NULL, &error));
    assert_int_equal(all.dim[0], IMAGES);
    one.dim[0] = 1;
    for (int i = 0; i < IMAGES; i++) {
        one.data = (char *)x.data + (size_t)i * holo_tensor_bytes(&one);
        EXPECT_OK(holo_graph_eval(graph, alone, &each, arena, NULL, &error));
        size_t bytes = holo_tensor_bytes(&each);
        assert_memory_equal((char *)all.data + (size_t)i * bytes, each.data, bytes);
    }
    free(x.data);
}

static void images_apart(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(separate); i++) {
        HoloArena  arena = {0};
        HoloGraph *graph = parsed(&arena, separate[i]);
        if (!is_separate(graph)) fail_msg("it mixes images, they say:\n%s", separate[i]);
        expect_apart(graph, &arena);
        holo_arena_deinit(&arena);
    }
}

static void images_mixed(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(mixed); i++) {
        HoloArena  arena = {0};
        HoloGraph *graph = parsed(&arena, mixed[i]);
        if (is_separate(graph)) fail_msg("it keeps images apart, they say:\n%s", mixed[i]);
        holo_arena_deinit(&arena);
    }
}

// ---- runs

static const char large[] =
    "graph g(x: f32[n,2,128,96], c: f32[n,1,1,1], k: f32[]) -> (y, z) {\n"
    "    const w: f32[8,2,1,1] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}\n"
    "    const v: f32[3,8,1,1] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 0, 3, 1, 1, 2}\n"
    "    a = Conv@13(x, w)\n    b = MaxPool@12(a) {kernel_shape=[3,3], pads=[1,1,1,1]}\n"
    "    d = Mul@14(b, c)\n    e = Add@14(d, k)\n    f = Tanh@13(e)\n    y = Conv@13(f, v)\n"
    "    z = ReduceMean@13(f) {axes=[2,3], keepdims=0}\n}\n";

typedef struct Run {
    HoloArena    arena;
    HoloGraph   *graph;
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   in[INPUTS_MAX];
} Run;

static void run_begin(Run *r, const char *text)
{
    uint32_t kernels;
    *r       = (Run){0};
    r->graph = parsed(&r->arena, text);
    EXPECT_OK(holo_passes_run(r->graph, NULL, &error));
    EXPECT_OK(model_of(r->graph, HOLO_FUSED, &r->model, &kernels, &error));
    EXPECT_OK(holo_session_create(r->model, NULL, &r->session, &error));
}

static void inputs_set(Run *r, int64_t images)
{
    for (int i = 0; i < holo_model_input_count(r->model); i++) {
        free(r->in[i].data);
        r->in[i] = made(&holo_model_input(r->model, i)->type, 3 + (uint64_t)i, images);
        EXPECT_OK(holo_session_set_input(r->session, i, &r->in[i], &error));
    }
}

static void run_end(Run *r)
{
    holo_session_destroy(r->session);
    holo_model_close(r->model);
    holo_arena_deinit(&r->arena);
    for (int i = 0; i < INPUTS_MAX; i++) free(r->in[i].data);
}

static int
    image_step; // how far apart the images are whose outputs are compared; if it is not 1, fewer counts are tried

// What a session of its own gives for each image alone.
static void expect_outputs(const Run *r, const HoloTensor *got, int64_t images)
{
    HoloSession *session;
    EXPECT_OK(holo_session_create(r->model, NULL, &session, &error));
    for (int64_t i = 0; i < images; i += image_step) {
        for (int k = 0; k < holo_model_input_count(r->model); k++) {
            HoloTensor one = r->in[k];
            if (one.rank) one.dim[0] = 1, one.data = (char *)one.data + (size_t)i * holo_tensor_bytes(&one);
            EXPECT_OK(holo_session_set_input(session, k, &one, &error));
        }
        EXPECT_OK(holo_session_run(session, &error));
        assert_false(session->images.is_used);
        for (int k = 0; k < 2; k++) {
            HoloTensor want;
            EXPECT_OK(holo_session_output(session, k, &want, &error));
            size_t bytes = holo_tensor_bytes(&want);
            assert_int_equal(got[k].dim[0], images);
            assert_int_equal(holo_tensor_bytes(&got[k]), bytes * (size_t)images);
            assert_memory_equal((char *)got[k].data + (size_t)i * bytes, want.data, bytes);
        }
    }
    holo_session_destroy(session);
}

static void run_and_expect(Run *r, int64_t images, bool parts)
{
    HoloTensor got[2];
    EXPECT_OK(holo_session_run(r->session, &error));
    for (int k = 0; k < 2; k++) EXPECT_OK(holo_session_output(r->session, k, &got[k], &error));
    assert_int_equal(r->session->images.is_used, parts);
    if (parts) assert_true(r->session->images.part < images);
    expect_outputs(r, got, images);
}

// Few images go at once; of many some at a time, also where these do not divide them, and twice in a row.
static void some_at_a_time(void **state)
{
    (void)state;
    const int64_t counts[] = {1, 3, 24, 24, 1, 23, 2, 41};
    Run           r;
    run_begin(&r, large);
    for (int i = 0; i<HOLO_COUNT(counts); i += image_step> 1 ? 3 : 1) {
        inputs_set(&r, counts[i]);
        run_and_expect(&r, counts[i], counts[i] > 20);
        run_and_expect(&r, counts[i], counts[i] > 20);
    }
    inputs_set(&r, 41);
    EXPECT_OK(holo_session_run(r.session, &error));
    assert_true(holo_session_memory(r.session) < 24u << 20); // and not 41 times what one takes
    run_end(&r);
}

// In the caller's memory, aligned or not, of one output and of both; too little of it is an error.
static void callers_memory(void **state)
{
    (void)state;
    enum { IMAGES = 29 };
    Run    r;
    size_t size = (size_t)IMAGES * 3 * 128 * 96 * sizeof(float), small = (size_t)IMAGES * 8 * sizeof(float);
    char  *y = aligned_alloc(64, size + 64), *z = aligned_alloc(64, 4096);
    run_begin(&r, large);
    inputs_set(&r, IMAGES);
    for (size_t shift = 0; shift<16; shift += image_step> 1 ? 12 : 4) {
        EXPECT_OK(holo_session_set_output(r.session, 0, y + shift, size, &error));
        EXPECT_OK(holo_session_set_output(r.session, 1, shift ? z + shift : NULL, small, &error));
        run_and_expect(&r, IMAGES, true);
    }
    EXPECT_OK(holo_session_set_output(r.session, 0, y, size - 1, &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_ARGUMENT, "needs");
    EXPECT_OK(holo_session_set_output(r.session, 0, NULL, 0, &error));
    run_and_expect(&r, IMAGES, true);
    run_end(&r);
    free(y), free(z);
}

// An output in the memory of its input: no part may read what another has written there.
static void in_place(void **state)
{
    (void)state;
    enum { IMAGES = 29 };
    Run        r;
    HoloTensor want;
    run_begin(&r, "graph g(x: f32[n,6,128,96]) -> (y) {\n    a = MaxPool@12(x) {kernel_shape=[3,3], pads=[1,1,1,1]}\n"
                  "    y = AveragePool@11(a) {kernel_shape=[3,3], pads=[1,1,1,1]}\n}\n");
    inputs_set(&r, IMAGES);
    EXPECT_OK(holo_session_run(r.session, &error));
    assert_true(r.session->images.is_used && IMAGES % r.session->images.part != 0);
    EXPECT_OK(holo_session_output(r.session, 0, &want, &error));
    size_t bytes = holo_tensor_bytes(&want);
    void  *first = memcpy(malloc(bytes), want.data, bytes);
    EXPECT_OK(holo_session_set_output(r.session, 0, r.in[0].data, bytes, &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    assert_true(r.session->images.is_used);
    assert_memory_equal(r.in[0].data, first, bytes);
    run_end(&r);
    free(first);
}

// Two outputs whose memory overlaps: no part may change what another has given. The last output stays whole.
static void overlapping(void **state)
{
    (void)state;
    enum { IMAGES = 29, SHIFT = 32 };
    Run        r;
    HoloTensor want;
    run_begin(&r,
              "graph g(x: f32[n,6,128,96]) -> (y, f) {\n    y = MaxPool@12(x) {kernel_shape=[3,3], pads=[1,1,1,1]}\n"
              "    f = Flatten@13(y) {axis=1}\n}\n");
    inputs_set(&r, IMAGES);
    EXPECT_OK(holo_session_run(r.session, &error));
    assert_true(r.session->images.is_used);
    EXPECT_OK(holo_session_output(r.session, 1, &want, &error));
    size_t bytes = holo_tensor_bytes(&want);
    char  *first = memcpy(malloc(bytes), want.data, bytes), *both = aligned_alloc(64, bytes + 64);
    EXPECT_OK(holo_session_set_output(r.session, 0, both, bytes, &error));
    EXPECT_OK(holo_session_set_output(r.session, 1, both + SHIFT, bytes, &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    assert_true(r.session->images.is_used);
    assert_memory_equal(both, first, SHIFT);
    assert_memory_equal(both + SHIFT, first, bytes);
    run_end(&r);
    free(first), free(both);
}

// Where memory is short for all images it does for one; what else is wrong is told by its own name.
static void little_memory(void **state)
{
    (void)state;
    char y[64];
    Run  r;
    run_begin(&r, large);
    EXPECT_OK(holo_session_set_memory_limit(r.session, 16 << 20, &error));
    inputs_set(&r, 41);
    EXPECT_OK(holo_session_set_output(r.session, 0, y, sizeof y, &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_ARGUMENT, "output y needs");
    EXPECT_OK(holo_session_set_output(r.session, 0, NULL, 0, &error));
    run_and_expect(&r, 41, true);
    assert_int_equal(r.session->images.part, 1);
    run_end(&r);
}

// Inputs that do not have as many images are told as ever.
static void other_counts(void **state)
{
    (void)state;
    Run r;
    run_begin(&r, large);
    inputs_set(&r, 30);
    run_and_expect(&r, 30, true);
    r.in[1].dim[0] = 29;
    EXPECT_OK(holo_session_set_input(r.session, 1, &r.in[1], &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_INPUT, "the size of dimension 0 should be 30");
    inputs_set(&r, 30);
    run_and_expect(&r, 30, true);
    inputs_set(&r, 0);
    EXPECT_OK(holo_session_run(r.session, &error));
    run_end(&r);
}

// As many as stay in a cache, in parts that are even; all at once where that stays there.
static void parts(void **state)
{
    (void)state;
    const uint64_t mb = 1 << 20;
    assert_int_equal(holo_images_part(32, 70 * mb), 2);
    assert_int_equal(holo_images_part(32, 31 * mb), 8);
    assert_int_equal(holo_images_part(32, 320 * mb), 1);
    assert_int_equal(holo_images_part(32, 8 * mb), 0);
    assert_int_equal(holo_images_part(1, 70 * mb), 0);
    assert_int_equal(holo_images_part(0, 0), 0);
    assert_int_equal(holo_images_part(-1, 400 * mb), 0);
    for (int64_t n = 2; n < 50; n++) {
        int64_t part = holo_images_part(n, (uint64_t)n * mb);
        assert_true(n <= 8 ? part == 0 : part >= 1 && part <= 8 && (n + part - 1) / part * part - n < part);
    }
}

// A product of one row an image would read its weights again for each part.
static void large_weights(void **state)
{
    (void)state;
    for (int is_large = 0; is_large < 2; is_large++) {
        OnnxModel   m    = {0};
        OnnxGraph  *g    = &m.graph;
        const char *path = temp_path("weights.onnx");
        onnx_input(g, "x", HOLO_F32, "N,4,64,64");
        onnx_output(g, "y", HOLO_F32, NULL);
        onnx_weights(g, "w", is_large ? "16384,256" : "4,3", 1, 0.5f);
        onnx_node(g, "MaxPool", "x", "a", "kernel_shape=[3,3] pads=[1,1,1,1]");
        onnx_node(g, "AveragePool", "a", "b", "kernel_shape=[3,3] pads=[1,1,1,1]");
        if (!is_large) onnx_node(g, "GlobalAveragePool", "b", "c", "");
        onnx_node(g, "Flatten", is_large ? "b" : "c", "d", "");
        onnx_node(g, "MatMul", "d,w", "y", "");
        onnx_save(&m, path);
        HoloModel   *model = compiled(path, HOLO_FUSED);
        HoloSession *session;
        HoloTensor   x = made(&holo_model_input(model, 0)->type, 1, 200);
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        assert_true(session->frames[0]->plan->flags & HOLO_PLAN_SEPARATE);
        EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
        EXPECT_OK(holo_session_run(session, &error));
        assert_int_equal(session->images.is_used, !is_large);
        holo_session_destroy(session);
        holo_model_close(model);
        free(x.data);
    }
}

// ---- a number of images that the compiler was told

static const char *model_pools(void)
{
    OnnxModel   m    = {0};
    OnnxGraph  *g    = &m.graph;
    const char *path = temp_path("pools.onnx");
    onnx_input(g, "x", HOLO_F32, "N,2,96,64");
    onnx_output(g, "y", HOLO_F32, NULL);
    onnx_node(g, "MaxPool", "x", "a", "kernel_shape=[3,3] pads=[1,1,1,1]");
    onnx_node(g, "AveragePool", "a", "b", "kernel_shape=[3,3] pads=[1,1,1,1]");
    onnx_node(g, "MaxPool", "b", "y", "kernel_shape=[2,2] strides=[2,2]");
    onnx_save(&m, path);
    return path;
}

static HoloModel *compiled_for(const char *path, int64_t images)
{
    HoloCompiler *compiler;
    HoloModel    *model;
    EXPECT_OK(holo_compiler_create(&compiler));
    EXPECT_OK(holo_compiler_set_shape(compiler, "x", 4, (int64_t[]){images, -1, -1, -1}, &error));
    EXPECT_OK(holo_compile_model(compiler, path, &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

// A large one runs some images after the other, and takes no other number; a small one has its memory planned.
static void told_numbers(void **state)
{
    (void)state;
    const int64_t counts[] = {3, 120};
    const char   *path     = model_pools();
    for (int i = 0; i < HOLO_COUNT(counts); i++) {
        HoloModel      *model = compiled_for(path, counts[i]);
        HoloSession    *session;
        const HoloPort *x = holo_model_input(model, 0), *y = holo_model_output(model, 0);
        HoloTensor      all = made(&x->type, 1, 0), one = all, got;
        bool            parts = i > 0;
        assert_int_equal(x->type.dim[0], counts[i]);
        assert_int_equal(y->type.dim[0], counts[i]);
        assert_null(x->symbol[0]);
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        assert_int_equal(!(session->frames[0]->plan->flags & HOLO_PLAN_STATIC), parts);
        assert_true(session->frames[0]->is_bound); // before the first run
        size_t bound = holo_session_memory(session);
        EXPECT_OK(holo_session_set_input(session, 0, &all, &error));
        EXPECT_OK(holo_session_run(session, &error));
        assert_int_equal(session->images.is_used, parts);
        EXPECT_OK(holo_session_output(session, 0, &got, &error));
        assert_true(holo_session_memory(session) <= bound + (parts ? holo_tensor_bytes(&got) + (64 << 10) : 0));
        one.dim[0] = 1;
        EXPECT_FAIL(holo_session_set_input(session, 0, &one, &error), HOLO_BAD_INPUT, "input x should be");
        size_t       in = holo_tensor_bytes(&one), out = holo_tensor_bytes(&got) / (size_t)counts[i];
        HoloModel   *alone = compiled_for(path, 1);
        HoloSession *single;
        EXPECT_OK(holo_session_create(alone, NULL, &single, &error));
        for (int64_t k = 0; k < counts[i]; k += 7) {
            HoloTensor want;
            one.data = (char *)all.data + (size_t)k * in;
            EXPECT_OK(holo_session_set_input(single, 0, &one, &error));
            EXPECT_OK(holo_session_run(single, &error));
            EXPECT_OK(holo_session_output(single, 0, &want, &error));
            assert_memory_equal((char *)got.data + (size_t)k * out, want.data, out);
        }
        holo_session_destroy(single), holo_session_destroy(session);
        holo_model_close(alone), holo_model_close(model);
        free(all.data);
    }
}

// Another size that was told to be the same number is not the number of images.
static void told_twice(void **state)
{
    (void)state;
    HoloCompiler *compiler;
    HoloModel    *model;
    OnnxModel     m    = {0};
    OnnxGraph    *g    = &m.graph;
    const char   *path = temp_path("two.onnx");
    onnx_input(g, "x", HOLO_F32, "N,2,96,64");
    onnx_input(g, "b", HOLO_F32, "K,64");
    onnx_output(g, "y", HOLO_F32, NULL);
    onnx_node(g, "MaxPool", "x", "a", "kernel_shape=[3,3] pads=[1,1,1,1]");
    onnx_node(g, "AveragePool", "a", "c", "kernel_shape=[3,3] pads=[1,1,1,1]");
    onnx_node(g, "ReduceMean", "b", "d", "axes=[0,1] keepdims=0");
    onnx_node(g, "Add", "c,d", "y", "");
    onnx_save(&m, path);
    EXPECT_OK(holo_compiler_create(&compiler));
    EXPECT_OK(holo_compiler_set_shape(compiler, "x", 4, (int64_t[]){120, -1, -1, -1}, &error));
    EXPECT_OK(holo_compiler_set_shape(compiler, "b", 2, (int64_t[]){120, -1}, &error));
    EXPECT_OK(holo_compile_model(compiler, path, &model, NULL, &error));
    assert_int_equal(holo_model_input(model, 0)->type.dim[0], 120);
    assert_int_equal(holo_model_input(model, 1)->type.dim[0], 120);
    holo_model_close(model);
    holo_compiler_destroy(compiler);
}

int main(void)
{
    image_step                      = watched_step("the images", 6);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_apart),   cmocka_unit_test(images_mixed),  cmocka_unit_test(some_at_a_time),
        cmocka_unit_test(callers_memory), cmocka_unit_test(other_counts),  cmocka_unit_test(told_numbers),
        cmocka_unit_test(parts),          cmocka_unit_test(large_weights), cmocka_unit_test(in_place),
        cmocka_unit_test(overlapping),    cmocka_unit_test(little_memory), cmocka_unit_test(told_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
