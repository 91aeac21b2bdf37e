// runtime_test.c - what a run promises: no allocation, the same bits for any number of threads and, in class exact, on
// any CPU level; many sessions on one model at once; a run that can be stopped.
#include "support/heap.h"
#include "support/models.h"

#include "kernels/kernels.h"
#include "runtime/model.h"
#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- no allocation

typedef struct Meeting {
    atomic_int here;
    int        all;
} Meeting;

// Waits for the others: who is here has done with starting.
static void meet(void *arg, int64_t i, int worker)
{
    Meeting *meeting = arg;
    (void)i, (void)worker;
    atomic_fetch_add(&meeting->here, 1);
    while (atomic_load(&meeting->here) < meeting->all) sched_yield();
}

// From the first run on. Takes the model over.
static void expect_quiet(HoloModel *model, int threads, bool own_output)
{
    HoloPool     *pool;
    HoloSession  *session;
    HoloModelInfo info;
    holo_model_info(model, &info);
    assert_true(info.is_static);
    EXPECT_OK(holo_pool_create(threads, &pool));
    holo_pool_run(pool, threads, meet, &(Meeting){.all = threads});
    EXPECT_OK(holo_session_create(model, pool, &session, &error));
    HoloTensor x = made(&holo_model_input(model, 0)->type, 1, 1), y = made(&holo_model_output(model, 0)->type, 1, 1);
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    if (own_output) EXPECT_OK(holo_session_set_output(session, 0, y.data, holo_tensor_bytes(&y), &error));
    for (int run = 0; run < 3; run++) {
        heap_watch();
        HoloStatus status = holo_session_run(session, NULL);
        long       calls  = atomic_load(&heap_calls);
        assert_int_equal(status, HOLO_OK);
        if (calls) fail_msg("run %d asked for memory or freed it %ld times", run, calls);
    }
    holo_session_destroy(session);
    holo_pool_destroy(pool);
    holo_model_close(model);
    free(x.data);
    free(y.data);
}

// The digits of the demo, one at a time.
static HoloModel *digits(void)
{
    HoloCompiler *compiler;
    HoloModel    *model;
    EXPECT_OK(holo_compiler_create(&compiler));
    EXPECT_OK(holo_compiler_set_shape(compiler, "image", 4, (int64_t[]){1, 1, 8, 8}, &error));
    EXPECT_OK(holo_compile_model(compiler, "demo/digits.onnx", &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

static void test_runs_allocate_nothing(void **state)
{
    (void)state;
    if (!heap_is_counted) skip();
    heap_watch();
    holo_free(holo_realloc(NULL, 1));
    assert_int_equal(atomic_load(&heap_calls), 2); // it does count
    for (int threads = 1; threads <= 3; threads += 2) {
        expect_quiet(compiled(model_conv(), HOLO_FUSED), threads, false);
        expect_quiet(compiled(model_mlp(), HOLO_EXACT), threads, true);
        expect_quiet(digits(), threads, threads == 1);
    }
}

// Sizes that were bound before, too, cost nothing when they come again and again.
static void test_runs_of_bound_sizes_allocate_nothing(void **state)
{
    (void)state;
    if (!heap_is_counted) skip();
    HoloModel   *model = compiled(model_dynamic(), HOLO_FUSED);
    HoloSession *session;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    HoloTensor x = made(&holo_model_input(model, 0)->type, 1, 5);
    for (int run = 0; run < 3; run++) {
        EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
        EXPECT_OK(holo_session_set_input(session, 1, &x, &error));
        heap_watch();
        HoloStatus status = holo_session_run(session, NULL);
        long       calls  = atomic_load(&heap_calls);
        assert_int_equal(status, HOLO_OK);
        if (run && calls) fail_msg("run %d asked for memory or freed it %ld times", run, calls);
    }
    holo_session_destroy(session);
    holo_model_close(model);
    free(x.data);
}

// ---- the same bits

static void expect_same_for_threads(const char *path, HoloNumeric numeric)
{
    HoloModel *model = compiled(path, numeric);
    size_t     size, other_size;
    uint8_t   *bytes = answer(model, NULL, 7, 5, &size);
    for (int threads = 1; threads <= 4; threads++) {
        HoloPool *pool;
        EXPECT_OK(holo_pool_create(threads, &pool));
        assert_int_equal(holo_pool_threads(pool), threads);
        uint8_t *other = answer(model, pool, 7, 5, &other_size);
        expect_same_bytes(other, other_size, bytes, size);
        free(other);
        holo_pool_destroy(pool);
    }
    free(bytes);
    holo_model_close(model);
}

static void test_any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    for (int numeric = HOLO_FUSED; numeric <= HOLO_EXACT; numeric++) {
        expect_same_for_threads(model_conv(), (HoloNumeric)numeric);
        expect_same_for_threads(model_mlp(), (HoloNumeric)numeric);
        expect_same_for_threads(model_dynamic(), (HoloNumeric)numeric);
        expect_same_for_threads("demo/digits.onnx", (HoloNumeric)numeric);
    }
}

// An archive of class exact on every table of kernels that this machine can run.
static void expect_same_for_levels(const char *path)
{
    HoloModel             *model = compiled(path, HOLO_EXACT);
    const HoloKernelTable *kernels;
    size_t                 size, other_size;
    assert_true(model->kernels->exact);
    uint8_t *bytes = answer(model, NULL, 7, 5, &size);
    for (int i = 0; (kernels = holo_kernels_at(i)); i++) {
        if (!kernels->exact) continue;
        model->kernels = kernels;
        uint8_t *other = answer(model, NULL, 7, 5, &other_size);
        expect_same_bytes(other, other_size, bytes, size);
        free(other);
    }
    free(bytes);
    holo_model_close(model);
}

static void test_any_level_gives_the_same_bits_in_class_exact(void **state)
{
    (void)state;
    expect_same_for_levels(model_conv());
    expect_same_for_levels(model_mlp());
    expect_same_for_levels("demo/digits.onnx");
}

// ---- many sessions at once

enum { THREADS = 8, RUNS = 20 };

typedef struct Worker {
    pthread_t        thread;
    const HoloModel *model;
    HoloPool        *pool;
    uint64_t         seed;
    const uint8_t   *want;
    size_t           size;
    HoloError        error;
    bool             is_same;
} Worker;

static HoloStatus work_in(Worker *w, HoloSession *session)
{
    HoloStatus status = HOLO_OK;
    HoloTensor x = made(&holo_model_input(w->model, 0)->type, w->seed, 1), view = {0};
    status     = holo_session_set_input(session, 0, &x, &w->error);
    w->is_same = true;
    for (int i = 0; i < RUNS && !status; i++) {
        status = holo_session_run(session, &w->error);
        if (!status) status = holo_session_output(session, 0, &view, &w->error);
        w->is_same = w->is_same && !status && !memcmp(view.data, w->want, w->size);
    }
    free(x.data);
    return status;
}

static void *work(void *arg)
{
    Worker      *w = arg;
    HoloSession *session;
    if (holo_session_create(w->model, w->pool, &session, &w->error)) return NULL;
    if (work_in(w, session)) w->is_same = false;
    holo_session_destroy(session);
    return NULL;
}

static void expect_sessions_do_not_meet(const char *path, HoloPool *pool)
{
    HoloModel *model            = compiled(path, HOLO_FUSED);
    Worker     workers[THREADS] = {{0}};
    for (int i = 0; i < THREADS; i++) {
        Worker *w = &workers[i];
        *w        = (Worker){.model = model, .pool = pool, .seed = (uint64_t)i + 1};
        w->want   = answer(model, NULL, w->seed, 1, &w->size);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        if (!workers[i].is_same) fail_msg("thread %d: another answer than alone; %s", i, workers[i].error.text);
        free((void *)workers[i].want);
    }
    holo_model_close(model);
}

static void test_many_sessions_of_one_model(void **state)
{
    (void)state;
    HoloPool *pool;
    EXPECT_OK(holo_pool_create(3, &pool));
    expect_sessions_do_not_meet(model_conv(), NULL);
    expect_sessions_do_not_meet(model_conv(), pool); // which all of them share
    expect_sessions_do_not_meet(model_mlp(), pool);
    holo_pool_destroy(pool);
}

// ---- stopping

static void *cancel_soon(void *session)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    holo_session_cancel(session);
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_cancel_from_another_thread(void **state)
{
    (void)state;
    HoloCompiler *compiler;
    HoloModel    *model;
    HoloSession  *session;
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_verify(compiler, false); // it would run all the rounds
    EXPECT_OK(holo_compile_model(compiler, model_loop(INT64_C(1) << 40), &model, NULL, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    HoloTensor x = made(&holo_model_input(model, 0)->type, 1, 1), view;
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));

    pthread_t thread;
    double    start = now();
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, session), 0);
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_CANCELLED, "cancelled");
    pthread_join(thread, NULL);
    assert_true(now() - start < 20);
    EXPECT_FAIL(holo_session_output(session, 0, &view, &error), HOLO_BAD_ARGUMENT, "not run");
    holo_session_destroy(session);
    holo_model_close(model);
    holo_compiler_destroy(compiler);
    free(x.data);
}

// The wish to stop is for one run: the next one goes through and gives the right answer.
static void test_run_after_cancel(void **state)
{
    (void)state;
    HoloModel   *model = compiled(model_loop(10), HOLO_FUSED);
    HoloSession *session;
    size_t       size;
    uint8_t     *want = answer(model, NULL, 1, 1, &size);
    HoloTensor   x    = made(&holo_model_input(model, 0)->type, 1, 1), view;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    holo_session_cancel(session);
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_CANCELLED, "cancelled");
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &view, &error));
    expect_same_bytes(view.data, holo_tensor_bytes(&view), want, size);
    holo_session_destroy(session);
    holo_model_close(model);
    free(want);
    free(x.data);
}

// Also where that run fails for another reason before it comes to any step.
static void test_run_after_failure_and_cancel(void **state)
{
    (void)state;
    HoloModel   *model = compiled(model_mlp(), HOLO_FUSED);
    HoloSession *session;
    HoloTensor   x = made(&holo_model_input(model, 0)->type, 1, 1);
    char         small[1];
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_set_output(session, 0, small, sizeof small, &error));
    holo_session_cancel(session);
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_BAD_ARGUMENT, "the memory given has 1");
    EXPECT_OK(holo_session_set_output(session, 0, NULL, 0, &error));
    EXPECT_OK(holo_session_run(session, &error));
    holo_session_destroy(session);
    holo_model_close(model);
    free(x.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_allocate_nothing),
        cmocka_unit_test(test_runs_of_bound_sizes_allocate_nothing),
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_any_level_gives_the_same_bits_in_class_exact),
        cmocka_unit_test(test_many_sessions_of_one_model),
        cmocka_unit_test(test_cancel_from_another_thread),
        cmocka_unit_test(test_run_after_cancel),
        cmocka_unit_test(test_run_after_failure_and_cancel),
    };
    return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
