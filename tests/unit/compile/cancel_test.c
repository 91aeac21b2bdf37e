// cancel_test.c - a compile ends soon after somebody cancels it, whatever it is at, and leaves nothing behind.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/files.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

// What takes minutes must end within this time, on a slow machine under a sanitizer, too.
static const double soon = 20;

// 10^11 products of doubles, which eval computes: of two inputs, or of constants, which are folded. Behind it are
// weights that can be quantized.
static const char *model_long(bool is_constant)
{
    static double image[1200 * 1200], filter[600 * 600];
    OnnxModel     m    = {0};
    const char   *path = temp_path(is_constant ? "fold.onnx" : "long.onnx");
    if (is_constant) {
        onnx_constant(&m.graph, "x", HOLO_F64, "1,1,1200,1200", image, sizeof image);
        onnx_constant(&m.graph, "w", HOLO_F64, "1,1,600,600", filter, sizeof filter);
        onnx_input(&m.graph, "z", HOLO_F64, "1");
        onnx_node(&m.graph, "Add", "c,z", "s", "");
    } else {
        onnx_input(&m.graph, "x", HOLO_F64, "1,1,1200,1200");
        onnx_input(&m.graph, "w", HOLO_F64, "1,1,600,600");
        onnx_node(&m.graph, "Identity", "c", "s", "");
    }
    onnx_weights(&m.graph, "v", "601,64", 3, 1);
    onnx_node(&m.graph, "Conv", "x,w", "c", "");
    onnx_node(&m.graph, "Cast", "s", "f", "to=1");
    onnx_node(&m.graph, "MatMul", "f,v", "y", "");
    onnx_output(&m.graph, "y", HOLO_F32, NULL);
    onnx_save(&m, path);
    return path;
}

// A compile in this thread, which another one cancels some time after it told of a stage.
typedef struct Cancelling {
    HoloCompiler *compiler;
    const char   *stage; // that is told before the long work begins
    atomic_bool   is_told;
} Cancelling;

static void stage_told(void *context, const char *stage, double fraction)
{
    Cancelling *c = context;
    (void)fraction;
    if (!strcmp(stage, c->stage)) atomic_store(&c->is_told, true);
}

static void *cancel_soon(void *context)
{
    Cancelling *c = context;
    do nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    while (!atomic_load(&c->is_told));
    holo_compiler_cancel(c->compiler);
    return NULL;
}

static HoloCompiler *compiler_make(int threads)
{
    HoloCompiler *compiler;
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_threads(compiler, threads);
    return compiler;
}

static void expect_cancelled(HoloCompiler *compiler, const char *path, const char *stage)
{
    Cancelling c = {.compiler = compiler, .stage = stage};
    HoloModel *model;
    HoloError  error = {0};
    pthread_t  thread;
    double     start = holo_time_now();
    holo_compiler_set_progress(compiler, stage_told, &c);
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &c), 0);
    HoloStatus status = holo_compile_model(compiler, path, &model, NULL, &error);
    atomic_store(&c.is_told, true); // whatever became of it, the thread ends
    pthread_join(thread, NULL);
    expect_message(stage, status, HOLO_CANCELLED, error.text, "the compile was cancelled while");
    assert_null(model);
    assert_true(holo_time_now() - start < soon);
    holo_compiler_destroy(compiler);
}

static void test_fold(void **state)
{
    (void)state;
    for (int threads = 1; threads < 3; threads++)
        expect_cancelled(compiler_make(threads), model_long(true), "integers"); // the pass before
}

static void test_verification(void **state)
{
    (void)state;
    for (int threads = 1; threads < 3; threads++)
        expect_cancelled(compiler_make(threads), model_long(false), "chains"); // the last pass
}

static void test_quantizing(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make(2);
    holo_compiler_set_quantize(compiler, HOLO_QUANTIZE_INT8);
    expect_cancelled(compiler, model_long(false), "reading the model");
}

// Bisecting compiles many times: it ends as a whole.
static void test_bisecting(void **state)
{
    (void)state;
    HoloCompiler  *compiler = compiler_make(1);
    Cancelling     c        = {.compiler = compiler, .is_told = true};
    HoloBisection *bisection;
    HoloError      error = {0};
    pthread_t      thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &c), 0);
    HoloStatus status = holo_bisect(compiler, model_long(false), NULL, 0, &bisection, &error);
    pthread_join(thread, NULL);
    expect_message("holo_bisect", status, HOLO_CANCELLED, error.text, "");
    assert_null(bisection);
    holo_compiler_destroy(compiler);
}

// ---- from a signal handler

static HoloCompiler *interrupted;

static void on_signal(int number)
{
    (void)number;
    holo_compiler_cancel(interrupted);
}

static void *raise_soon(void *context)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    assert_int_equal(raise(SIGTERM), 0);
    return context;
}

static void test_signal(void **state)
{
    (void)state;
    HoloModel *model;
    pthread_t  thread;
    interrupted = compiler_make(1);
    signal(SIGTERM, on_signal);
    assert_int_equal(pthread_create(&thread, NULL, raise_soon, NULL), 0);
    EXPECT_FAIL(holo_compile_model(interrupted, model_long(false), &model, NULL, &error), HOLO_CANCELLED, "cancelled");
    pthread_join(thread, NULL);
    signal(SIGTERM, SIG_DFL);
    holo_compiler_destroy(interrupted);
}

// ---- at every stage that tells of itself

typedef struct AtStage {
    HoloCompiler *compiler;
    const char   *stage;
    int           seen;
} AtStage;

static void cancel_at(void *context, const char *stage, double fraction)
{
    AtStage *at = context;
    (void)fraction;
    if (strcmp(stage, at->stage)) return;
    at->seen++;
    holo_compiler_cancel(at->compiler);
}

static void test_stages(void **state)
{
    (void)state;
    static const char *const stages[] = {"reading the model", "quantizing", "infer", "fold", "tuning", "verifying"};
    const char              *path     = model_conv();
    int                      before   = folder_count(temp_folder());
    for (int i = 0; i < HOLO_COUNT(stages); i++) {
        AtStage at = {compiler_make(1), stages[i], 0};
        holo_compiler_set_quantize(at.compiler, !strcmp(stages[i], "quantizing") ? HOLO_QUANTIZE_INT8 : 0);
        holo_compiler_set_tune(at.compiler, true);
        holo_compiler_set_progress(at.compiler, cancel_at, &at);
        EXPECT_FAIL(holo_compile_file(at.compiler, path, temp_path("conv.holo"), NULL, &error), HOLO_CANCELLED,
                    "the compile was cancelled while");
        if (at.seen < 1) fail_msg("%s: nobody told of it", stages[i]);
        assert_int_equal(folder_count(temp_folder()), before);
        holo_compiler_destroy(at.compiler);
    }
}

// What was cancelled before it began goes on, and so does the next compile.
static void test_later(void **state)
{
    (void)state;
    HoloCompiler *compiler = compiler_make(1);
    AtStage       at       = {compiler, "fold", 0};
    HoloModel    *model;
    holo_compiler_cancel(compiler);
    EXPECT_OK(holo_compile_model(compiler, model_tiny(), &model, NULL, &error));
    holo_model_close(model);
    holo_compiler_set_progress(compiler, cancel_at, &at);
    EXPECT_FAIL(holo_compile_model(compiler, model_tiny(), &model, NULL, &error), HOLO_CANCELLED, "optimizing");
    holo_compiler_set_progress(compiler, NULL, NULL);
    EXPECT_OK(holo_compile_model(compiler, model_tiny(), &model, NULL, &error));
    holo_model_close(model);
    holo_compiler_destroy(compiler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold),   cmocka_unit_test(test_verification), cmocka_unit_test(test_quantizing),
        cmocka_unit_test(test_signal), cmocka_unit_test(test_bisecting),    cmocka_unit_test(test_stages),
        cmocka_unit_test(test_later),
    };
    return cmocka_run_group_tests_name("cancel", tests, NULL, NULL);
}
