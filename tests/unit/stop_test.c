// stop_test.c - a run ends soon after somebody asks for it, in the middle of a long step, too.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "runtime/frame.h"

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

static void test_in_a_kernel(void **state)
{
    (void)state;
    expect_both(HOLO_F32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_eval),
        cmocka_unit_test(test_in_a_kernel),
        cmocka_unit_test(test_by_a_run_of_the_model),
    };
    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
