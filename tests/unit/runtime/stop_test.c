// stop_test.c - a run ends soon after somebody asks for it, in the middle of a long step, too.
#include "support/models.h"
#include "support/onnx_writer.h"
#include "support/op_run.h"

#include "isa/isa.h"
#include "runtime/frame/frame.h"
#include "runtime/session/lent.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// One step of some 10^11 products; of doubles, which eval computes, or of floats, which a kernel does.
static HoloModel *model_long(HoloDtype dtype)
{
    OnnxModel     m    = {0};
    const char   *path = temp_path("long.onnx"), *side = dtype == HOLO_F64 ? "1,1,1200,1200" : "4096,4096";
    HoloCompiler *compiler;
    HoloModel    *model;
    onnx_input(&m.graph, "x", dtype, side);
    onnx_input(&m.graph, "w", dtype, dtype == HOLO_F64 ? "1,1,600,600" : side);
    onnx_output(&m.graph, "y", dtype, NULL);
    onnx_node(&m.graph, dtype == HOLO_F64 ? "Conv" : "MatMul", "x,w", "y", "");
    onnx_save(&m, path);
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_verify(compiler, false);
    EXPECT_OK(holo_compile_model(compiler, path, &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

static void *cancel_soon(void *session)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    holo_session_cancel(session);
    return NULL;
}

enum { UNTOUCHED = 0x5A };

static bool has_untouched(const uint8_t *bytes, size_t size)
{
    size_t row = 0;
    for (size_t i = 0; i < size && row < 64; i++) row = bytes[i] == UNTOUCHED ? row + 1 : 0;
    return row == 64;
}

// The step is left in the middle: a part of the caller's memory was never written. The next run goes through all of it,
// if there is no time limit.
static void expect_stopped(HoloModel *model, HoloPool *pool, bool by_time)
{
    HoloSession *session;
    HoloTensor   in[2], view;
    size_t       size = holo_tensor_bytes(&holo_model_output(model, 0)->type);
    uint8_t     *y    = aligned_alloc(64, holo_align(size, 64));
    pthread_t    thread;
    EXPECT_OK(holo_session_create(model, pool, &session, &error));
    for (int i = 0; i < 2; i++) {
        in[i] = made(&holo_model_input(model, i)->type, (uint64_t)i, 1);
        EXPECT_OK(holo_session_set_input(session, i, &in[i], &error));
    }
    memset(y, UNTOUCHED, size);
    EXPECT_OK(holo_session_set_output(session, 0, y, size, &error));
    if (by_time)
        EXPECT_OK(holo_session_set_time_limit(session, 0.02, &error));
    else
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, session), 0);
    if (by_time)
        EXPECT_FAIL(holo_session_run(session, &error), HOLO_TIMEOUT, "longer than 0.02 seconds");
    else
        EXPECT_FAIL(holo_session_run(session, &error), HOLO_CANCELLED, "cancelled");
    if (!by_time) pthread_join(thread, NULL);
    assert_true(has_untouched(y, size));
    EXPECT_FAIL(holo_session_output(session, 0, &view, &error), HOLO_BAD_ARGUMENT, "not run");
    holo_session_destroy(session);
    for (int i = 0; i < 2; i++) free(in[i].data);
    free(y);
}

static void expect_both(HoloDtype dtype)
{
    HoloModel *model = model_long(dtype);
    HoloPool  *pool;
    EXPECT_OK(holo_pool_create(2, &pool));
    expect_stopped(model, NULL, false);
    expect_stopped(model, pool, false);
    expect_stopped(model, NULL, true);
    holo_pool_destroy(pool);
    holo_model_close(model);
}

static void test_in_eval(void **state)
{
    (void)state;
    expect_both(HOLO_F64);
}

// The same by the one call that needs no session; and what is no time.
static void test_by_a_run_of_the_model(void **state)
{
    (void)state;
    HoloModel     *model   = model_long(HOLO_F32);
    HoloRunOptions options = {.size = sizeof options, .time_limit = 0.02};
    HoloRunOutput  out     = {.name = "y"};
    HoloRunInput   in[2]   = {{.name = "x"}, {.name = "w"}};
    HoloSession   *session;
    for (int i = 0; i < 2; i++) in[i].tensor = made(&holo_model_input(model, i)->type, (uint64_t)i, 1);
    EXPECT_FAIL(holo_model_run(model, in, 2, &out, 1, &options, &error), HOLO_TIMEOUT, "longer than");
    assert_null(out.owned);
    options.time_limit = NAN;
    EXPECT_FAIL(holo_model_run(model, in, 2, &out, 1, &options, &error), HOLO_BAD_ARGUMENT, "time limit");
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_FAIL(holo_session_set_time_limit(session, -1, &error), HOLO_BAD_ARGUMENT, "time limit");
    holo_session_destroy(session);
    holo_model_close(model);
    for (int i = 0; i < 2; i++) free(in[i].tensor.data);
}

// ---- runs of a model that somebody cancels

typedef struct Asked { // a run in another thread
    const HoloModel *model;
    HoloRunInput     in[2];
    atomic_int       cancel;
    HoloStatus       status;
    HoloError        error;
} Asked;

static void *run_asked(void *context)
{
    Asked         *asked   = context;
    HoloRunOutput  out     = {.name = "y"};
    HoloRunOptions options = {.size = sizeof options, .cancel = (const volatile int *)&asked->cancel};
    asked->status          = holo_model_run(asked->model, asked->in, 2, &out, 1, &options, &asked->error);
    return NULL;
}

// The first is in the middle of its run, the second waits for the only session: either ends soon, whoever is asked
// first.
static void test_runs_cancelled(void **state)
{
    (void)state;
    HoloModel   *model = model_long(HOLO_F32);
    HoloRunInput in[2] = {{.name = "x"}, {.name = "w"}};
    for (int i = 0; i < 2; i++) in[i].tensor = made(&holo_model_input(model, i)->type, (uint64_t)i, 1);
    EXPECT_OK(holo_model_set_runs(model, NULL, 1, &error));
    for (int first = 0; first < 2; first++) {
        static Asked asked[2];
        pthread_t    thread[2];
        for (int i = 0; i < 2; i++) {
            asked[i] = (Asked){.model = model, .in = {in[0], in[1]}, .status = HOLO_INTERNAL};
            assert_int_equal(pthread_create(&thread[i], NULL, run_asked, &asked[i]), 0);
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        }
        for (int k = 0; k < 2; k++) {
            int i = (first + k) % 2;
            atomic_store(&asked[i].cancel, 1);
            pthread_join(thread[i], NULL);
            assert_int_equal(asked[i].status, HOLO_CANCELLED);
            assert_non_null(strstr(asked[i].error.text, "the run was cancelled"));
        }
    }
    for (int i = 0; i < 2; i++) free(in[i].tensor.data);
    holo_model_close(model);
}

// Options say how long they are: what an older header did not have is not read.
static void test_options_size(void **state)
{
    (void)state;
    static const volatile int asked   = 1;
    HoloModel                *model   = compiled(model_tiny(), HOLO_FUSED);
    HoloRunOptions            options = {.size = sizeof options, .cancel = &asked};
    HoloRunOutput             out     = {.name = "y"};
    HoloRunInput              in      = {.name = "x", .tensor = made(&holo_model_input(model, 0)->type, 1, 1)};
    EXPECT_FAIL(holo_model_run(model, &in, 1, &out, 1, &options, &error), HOLO_CANCELLED, "cancelled");
    options.size = offsetof(HoloRunOptions, cancel);
    EXPECT_OK(holo_model_run(model, &in, 1, &out, 1, &options, &error));
    holo_run_outputs_free(&out, 1);
    options.size = sizeof options + 8; // of a newer one
    EXPECT_FAIL(holo_model_run(model, &in, 1, &out, 1, &options, &error), HOLO_CANCELLED, "cancelled");
    options.size = 0;
    EXPECT_FAIL(holo_model_run(model, &in, 1, &out, 1, &options, &error), HOLO_BAD_ARGUMENT, "size of HoloRunOptions");
    EXPECT_OK(holo_model_run(model, &in, 1, &out, 1, NULL, &error)); // the session has forgotten who asked
    holo_run_outputs_free(&out, 1);
    free(in.tensor.data);
    holo_model_close(model);
}

// A run whose outputs stay in its session: they are the same, no other run gets that session before it is back, and one
// that fails lends none.
static void test_lent(void **state)
{
    (void)state;
    HoloModel     *model   = compiled(model_tiny(), HOLO_FUSED);
    HoloRunOptions brief   = {.size = sizeof brief, .time_limit = 0.01};
    HoloRunOutput  out[2]  = {{.name = "y"}, {.name = "y"}};
    HoloRunInput   in      = {.name = "x", .tensor = made(&holo_model_input(model, 0)->type, 1, 1)};
    HoloSession   *session = NULL, *lent = NULL;
    EXPECT_OK(holo_model_set_runs(model, NULL, 1, &error));
    EXPECT_OK(holo_model_run(model, &in, 1, &out[0], 1, NULL, &error));
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(holo_model_run_lent(model, &in, 1, &out[1], 1, NULL, &lent, &error));
        assert_null(out[1].owned);
        assert_memory_equal(out[0].tensor.data, out[1].tensor.data, holo_tensor_bytes(&out[0].tensor));
        EXPECT_FAIL(holo_model_run_lent(model, &in, 1, &out[1], 1, &brief, &session, &error), HOLO_TIMEOUT,
                    "no session");
        assert_null(session);
        holo_model_lent_back(model, lent);
        EXPECT_FAIL(holo_model_run_lent(model, &in, 1, &(HoloRunOutput){.name = "z"}, 1, NULL, &session, &error),
                    HOLO_BAD_ARGUMENT, "no output z");
        assert_null(session);
    }
    holo_run_outputs_free(out, 1);
    free(in.tensor.data);
    holo_model_close(model);
}

static void test_in_a_kernel(void **state)
{
    (void)state;
    expect_both(HOLO_F32);
}

// ---- operators, of a run that is to end

typedef struct Long {
    const char *name;
    int         version;
    HoloTensor  in[3];
    int         in_count;
    HoloAttr    attr[2];
    int         attr_count;
} Long;

static float    some[1 << 10];
static double   wide[1 << 16];
static int64_t  shape[2] = {256, 512}, pads[4] = {0, 0, 400, 400}, axes[1] = {0}, ends[3] = {0, 1 << 17, 1};
static int64_t  indices[1 << 12];
static uint8_t  flags[1 << 17];
static HoloStop due = {.why = 1};

#define TENSOR(type, memory, ...)                                                                                \
    (HoloTensor)                                                                                                 \
    {                                                                                                            \
        .dtype = HOLO_##type, .rank = sizeof((int64_t[]){__VA_ARGS__}) / 8, .dim = {__VA_ARGS__}, .data = memory \
    }
#define ONE(type, memory)                    \
    (HoloTensor)                             \
    {                                        \
        .dtype = HOLO_##type, .data = memory \
    }

// All leave most of their output as it is: it has 512 KB or more.
static void test_operators_end(void **state)
{
    (void)state;
    const Long list[] = {
        {"ConstantOfShape", 9, {TENSOR(I64, shape, 2)}, 1, {{0}}, 0},
        {"Range", 11, {ONE(I64, &ends[0]), ONE(I64, &ends[1]), ONE(I64, &ends[2])}, 3, {{0}}, 0},
        {"Expand", 13, {TENSOR(F32, some, 1, 512), TENSOR(I64, shape, 2)}, 2, {{0}}, 0},
        {"Pad", 13, {TENSOR(F32, some, 32, 32), TENSOR(I64, pads, 4)}, 2, {{0}}, 0},
        {"Gather", 13, {TENSOR(F32, some, 8, 128), TENSOR(I64, indices, 4096)}, 2, {{0}}, 0},
        {"Add", 14, {TENSOR(F64, wide, 65536, 1), TENSOR(F64, wide, 1, 2)}, 2, {{0}}, 0},
        {"MatMul", 13, {TENSOR(F64, wide, 256, 256), TENSOR(F64, wide, 256, 256)}, 2, {{0}}, 0},
        {"CumSum", 14, {TENSOR(F64, wide, 256, 256), TENSOR(I64, axes, 1)}, 2, {{0}}, 0},
        {"Softmax", 13, {TENSOR(F64, wide, 256, 256)}, 1, {{0}}, 0},
        {"Where", 16, {TENSOR(BOOL, flags, 1 << 17), TENSOR(F64, wide, 1), TENSOR(F64, wide, 1)}, 3, {{0}}, 0},
        {"Transpose", 13, {TENSOR(F64, wide, 256, 256)}, 1, {{0}}, 0},
        {"Cast", 13, {TENSOR(F64, wide, 256, 256)}, 1, {{.name = "to", .kind = HOLO_ATTR_INT, .i = HOLO_I64}}, 1},
    };
    for (int i = 0; i < HOLO_COUNT(list); i++) {
        const Long       *l     = &list[i];
        HoloHost          host  = test_host;
        HoloError         error = {0};
        HoloTensor        out = {0}, *outs[] = {&out};
        const HoloTensor *in[3] = {&l->in[0], &l->in[1], &l->in[2]};
        host.stop               = &due;
        HoloCall call           = {.op         = holo_op_find("", l->name, l->version),
                                   .node       = "test",
                                   .version    = l->version,
                                   .in         = in,
                                   .in_count   = l->in_count,
                                   .out        = outs,
                                   .out_count  = 1,
                                   .attr       = l->attr,
                                   .attr_count = l->attr_count,
                                   .host       = &host,
                                   .error      = &error};
        for (host.workers = 1; host.workers < 3; host.workers++) {
            if (host.workers > 1) host.parallel = NULL;
            if (holo_op_infer(&call) || holo_out_alloc(&call, 0)) fail_msg("%s: %s", l->name, error.text);
            size_t size = holo_tensor_bytes(&out);
            memset(out.data, UNTOUCHED, size);
            (void)!holo_op_eval(&call);
            if (size < 1 << 19 || !has_untouched(out.data, size)) fail_msg("%s goes on", l->name);
        }
    }
    holo_arena_deinit(&test_arena);
}

// A portable program that never ends by itself is left between two turns of its loop.
static void test_in_a_program(void **state)
{
    (void)state;
    static const char text[] = "program forever\nconst.bool p0, 0\nloop\nbreakif p0\nend\n";
    HoloArena         arena  = {0};
    HoloIsaProgram    program;
    HoloIsaCode      *code;
    HoloIsaFrame     *frame;
    HoloIsaLaunch     launch = {{1, 1, 1}, {1, 1, 1}, 0};
    HoloStop          soon   = {.deadline = holo_time_now() + 0.02};
    EXPECT_OK(holo_isa_parse(&arena, text, strlen(text), &program, &error));
    EXPECT_OK(holo_isa_code_create(&program, &code, &error));
    EXPECT_OK(holo_isa_frame_create(code, 1, &frame, &error));
    holo_isa_frame_set_stop(frame, &soon);
    EXPECT_FAIL(holo_isa_run(code, frame, NULL, &launch, NULL, &error), HOLO_BAD_INPUT, "was stopped");
    holo_isa_frame_destroy(frame);
    holo_isa_code_destroy(code);
    holo_arena_deinit(&arena);
}

// A Loop that goes on for as long as it is allowed to, and whose body has no step.
static void test_in_a_loop_of_nothing(void **state)
{
    (void)state;
    OnnxModel     m    = {0};
    OnnxGraph     body = {{0}};
    const char   *path = temp_path("turns.onnx");
    HoloCompiler *compiler;
    HoloModel    *model;
    HoloSession  *session;
    int64_t       turns = INT64_MAX;
    float         x     = 1;
    onnx_input(&body, "i", HOLO_I64, "");
    onnx_input(&body, "go", HOLO_BOOL, "");
    onnx_input(&body, "a", HOLO_F32, "");
    onnx_output(&body, "go", HOLO_BOOL, "");
    onnx_output(&body, "a", HOLO_F32, "");
    onnx_input(&m.graph, "turns", HOLO_I64, "");
    onnx_input(&m.graph, "x", HOLO_F32, "");
    onnx_output(&m.graph, "y", HOLO_F32, "");
    onnx_node_with(&m.graph, "Loop", "turns,,x", "y", "", "body", &body);
    onnx_save(&m, path);
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_verify(compiler, false);
    EXPECT_OK(holo_compile_model(compiler, path, &model, NULL, &error));
    holo_compiler_destroy(compiler);
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &(HoloTensor){.dtype = HOLO_I64, .data = &turns}, &error));
    EXPECT_OK(holo_session_set_input(session, 1, &(HoloTensor){.dtype = HOLO_F32, .data = &x}, &error));
    EXPECT_OK(holo_session_set_time_limit(session, 0.02, &error));
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_TIMEOUT, "longer than 0.02 seconds");
    holo_session_destroy(session);
    holo_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_a_program),
        cmocka_unit_test(test_operators_end),
        cmocka_unit_test(test_in_eval),
        cmocka_unit_test(test_in_a_kernel),
        cmocka_unit_test(test_by_a_run_of_the_model),
        cmocka_unit_test(test_in_a_loop_of_nothing),
        cmocka_unit_test(test_runs_cancelled),
        cmocka_unit_test(test_options_size),
        cmocka_unit_test(test_lent),
    };
    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
