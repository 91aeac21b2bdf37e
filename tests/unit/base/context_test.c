// context_test.c - memory from the caller, messages to it, and limits: all that is made in a context, and nothing else.
#include "support/heap.h"
#include "support/models.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- an allocator that takes nothing from the heap, and knows what it gave

enum { ROOM = 64 << 20, LINES = 64 };

typedef struct Store {
    char      *memory;
    size_t     used;
    atomic_int pieces; // that are there
    long       fails_in;
    int        wrong; // sizes and alignments that do not fit what was given
} Store;

typedef struct Tag { // in front of each piece
    size_t size, align;
} Tag;

static void *store_resize(void *state, void *old, size_t old_size, size_t size, size_t align)
{
    Store *s   = state;
    Tag   *tag = old ? (Tag *)old - 1 : NULL;
    if (!align || (align & (align - 1)) || (tag && (tag->size != old_size || tag->align != align))) s->wrong++;
    if (!size) {
        if (old) atomic_fetch_sub(&s->pieces, 1), memset(old, 0xA5, old_size);
        return NULL;
    }
    if (s->fails_in && !--s->fails_in) return NULL;
    size_t at = holo_align(s->used + sizeof(Tag), align < 16 ? 16 : align);
    if (at + size > ROOM) return NULL;
    s->used      = at + size;
    char *memory = s->memory + at;
    memset(memory, 0x5A, size); // nobody may count on zeros
    ((Tag *)(void *)memory)[-1] = (Tag){size, align};
    if (old) memcpy(memory, old, old_size < size ? old_size : size);
    if (!old) atomic_fetch_add(&s->pieces, 1);
    return memory;
}

static Store *store(void)
{
    static Store s;
    if (!s.memory) s.memory = aligned_alloc(1 << 16, ROOM);
    assert_non_null(s.memory);
    s.used = 0, s.wrong = 0, s.fails_in = 0;
    atomic_store(&s.pieces, 0);
    return &s;
}

static HoloContext *context_on(Store *s)
{
    HoloContext *context = NULL;
    HoloAlloc    alloc   = {store_resize, s};
    EXPECT_OK(holo_context_create(&alloc, &context, &error));
    return context;
}

// ---- what is done in a context

static HoloStatus run_once(const HoloModel *model, HoloTensor *x, HoloError *error)
{
    HoloSession  *session = NULL;
    HoloRunInput  in      = {.index = 0, .tensor = *x};
    HoloRunOutput out     = {.index = 0};
    HoloStatus    status  = holo_session_create(model, NULL, &session, error);
    if (!status) status = holo_session_set_memo(session, 1 << 16, error);
    if (!status) status = holo_session_set_input(session, 0, x, error);
    if (!status) holo_session_profile(session, true);
    if (!status) status = holo_session_run(session, error);
    if (!status) status = holo_model_run(model, &in, 1, &out, 1, NULL, error);
    holo_run_outputs_free(&out, 1);
    holo_session_destroy(session);
    return status;
}

static HoloStatus execute(HoloContext *context, HoloError *error)
{
    HoloExecutor *executor = NULL;
    HoloBuffer   *x = NULL, *sum = NULL, *large = NULL;
    HoloPortable *program = NULL;
    HoloStatus    status  = holo_executor_create_in(context, "auto", NULL, &executor, error);
    if (!status) status = holo_buffer_create(executor, HOLO_F32, 100, &x, error);
    if (!status) status = holo_buffer_create(executor, HOLO_F32, 1, &sum, error);
    if (!status) status = holo_buffer_create(executor, HOLO_F32, 1 << 20, &large, error);
    if (!status) status = holo_executor_fill(executor, 2, x, 100, error);
    if (!status) status = holo_executor_map(executor, HOLO_OPERATION_SQRT, x, x, 100, error);
    if (!status) status = holo_executor_gemm(executor, x, x, large, 10, 10, 10, error);
    if (!status) status = holo_executor_reduce(executor, HOLO_REDUCTION_SUM, x, sum, 100, error);
    if (!status) status = holo_portable_find(executor, NULL, "activation_relu_f32", &program, error);
    holo_portable_destroy(program);
    holo_buffer_destroy(large);
    holo_buffer_destroy(sum);
    holo_buffer_destroy(x);
    holo_executor_destroy(executor);
    return status;
}

static HoloStatus everything(HoloContext *context, const char *archive, HoloTensor *x, HoloError *error)
{
    HoloModel *model  = NULL;
    HoloStatus status = holo_model_open_in(context, archive, HOLO_OPEN_HUGE, &model, error);
    if (!status) status = run_once(model, x, error);
    holo_model_close(model);
    return status ? status : execute(context, error);
}

// The heap of the system is not asked for a byte, and the caller's memory gets back all that it gave.
static void test_all_memory_is_the_caller_s(void **state)
{
    (void)state;
    Store       *s       = store();
    const char  *archive = archived(model_conv(), HOLO_FUSED, 1);
    HoloContext *context = context_on(s);
    HoloError    error   = {0};
    HoloModel   *model;
    EXPECT_OK(holo_model_open(archive, &model, &error));
    HoloTensor x = made(&holo_model_input(model, 0)->type, 1, 1);
    holo_model_close(model);
    heap_watch();
    HoloStatus status = everything(context, archive, &x, &error);
    long       calls  = atomic_load(&heap_calls);
    if (status) fail_msg("%s", error.text);
    if (heap_is_counted) assert_true(calls <= 1); // maps of the file alone
    assert_true(s->used > 1 << 20);
    assert_int_equal(s->wrong, 0);
    uint64_t held = holo_context_memory(context);
    assert_true(held > 0 && held < 1024); // the context itself
    holo_context_destroy(context);
    assert_int_equal(atomic_load(&s->pieces), 0);
    free(x.data);
}

// Every call for memory fails in turn: a status each time, nothing lost, and no other memory is taken instead.
static void test_the_caller_has_none(void **state)
{
    (void)state;
    Store      *s       = store();
    const char *archive = archived(model_mlp(), HOLO_FUSED, 1);
    HoloModel  *model;
    EXPECT_OK(holo_model_open(archive, &model, &error));
    HoloTensor x = made(&holo_model_input(model, 0)->type, 1, 1);
    holo_model_close(model);
    HoloStatus status = HOLO_NO_MEMORY;
    for (long n = 1; status; n++) {
        s                    = store();
        HoloContext *context = context_on(s);
        HoloError    error   = {0};
        s->fails_in          = n;
        status               = everything(context, archive, &x, &error);
        s->fails_in          = 0;
        if (status) assert_int_equal(status, HOLO_NO_MEMORY);
        holo_context_destroy(context);
        assert_int_equal(atomic_load(&s->pieces), 0);
        assert_int_equal(s->wrong, 0);
        assert_true(n < 10000);
    }
    HoloContext *none  = NULL;
    HoloAlloc    alloc = {store_resize, s};
    s->fails_in        = 1;
    assert_int_equal(holo_context_create(&alloc, &none, NULL), HOLO_NO_MEMORY);
    s->fails_in = 2;
    assert_int_equal(holo_context_create(&alloc, &none, NULL), HOLO_NO_MEMORY);
    assert_null(none);
    free(x.data);
}

static void test_compiling(void **state)
{
    (void)state;
    Store        *s       = store();
    HoloContext  *context = context_on(s);
    HoloCompiler *compiler;
    HoloReport   *report;
    HoloModel    *model;
    EXPECT_OK(holo_compiler_create_in(context, &compiler));
    holo_compiler_set_threads(compiler, 1);
    uint64_t before = holo_memory_held();
    EXPECT_OK(holo_compile_model(compiler, model_tiny(), &model, &report, &error));
    assert_true(report->verified && s->used > 1 << 17);
    assert_true(holo_context_memory(context) >= holo_memory_held() - before); // all that is held is the context's
    HoloTensor x = made(&holo_model_input(model, 0)->type, 1, 1);
    EXPECT_OK(run_once(model, &x, &error));
    holo_model_close(model);
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
    holo_context_destroy(context);
    assert_int_equal(atomic_load(&s->pieces), 0);
    free(x.data);
}

static void test_a_limit(void **state)
{
    (void)state;
    HoloContext  *context;
    HoloExecutor *executor;
    HoloBuffer   *buffer;
    EXPECT_OK(holo_context_create(NULL, &context, &error));
    EXPECT_OK(holo_executor_create_in(context, "cpu", NULL, &executor, &error));
    holo_context_set_memory_limit(context, holo_context_memory(context) + (4 << 20));
    EXPECT_FAIL(holo_buffer_create(executor, HOLO_F32, 2 << 20, &buffer, &error), HOLO_NO_MEMORY, "8.0 MiB");
    holo_context_set_memory_limit(context, 0);
    EXPECT_OK(holo_buffer_create(executor, HOLO_F32, 2 << 20, &buffer, &error));
    assert_true(holo_context_memory(context) > 8 << 20);
    holo_buffer_destroy(buffer);
    holo_executor_destroy(executor);
    holo_context_destroy(context);
}

// ---- messages

typedef struct Log {
    int  count;
    char line[LINES][200];
} Log;

static void hear(void *state, HoloLogLevel level, const char *text)
{
    Log *log = state;
    if (log->count < LINES) snprintf(log->line[log->count++], sizeof log->line[0], "%d %s", level, text);
}

static bool heard(const Log *log, const char *begin, const char *words)
{
    for (int i = 0; i < log->count; i++)
        if (!strncmp(log->line[i], begin, strlen(begin)) && strstr(log->line[i], words)) return true;
    return false;
}

static void test_a_log(void **state)
{
    (void)state;
    HoloContext  *context, *other;
    HoloCompiler *compiler;
    HoloModel    *model;
    HoloSession  *session;
    static Log    log, quiet;
    EXPECT_OK(holo_context_create(NULL, &context, &error));
    EXPECT_OK(holo_context_create(NULL, &other, &error));
    holo_context_set_log(context, HOLO_LOG_DEBUG, hear, &log);
    holo_context_set_log(other, HOLO_LOG_ERROR, hear, &quiet);
    EXPECT_OK(holo_compiler_create_in(context, &compiler));
    EXPECT_OK(holo_compile_model(compiler, model_tiny(), &model, NULL, &error));
    assert_true(heard(&log, "1 compiled ", "tiny.onnx: 2 nodes"));
    assert_true(heard(&log, "1 opened ", "steps"));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    assert_true(heard(&log, "1 made a session", "on 1 thread,"));
    assert_int_equal(holo_session_run(session, NULL), HOLO_BAD_INPUT);
    assert_true(heard(&log, "3 a run: ", "an input does not fit the model")); // without a HoloError there is the status
    HoloTensor x = made(&holo_model_input(model, 0)->type, 1, 1), view;
    EXPECT_FAIL(holo_session_set_input(session, 7, &x, &error), HOLO_BAD_ARGUMENT, "there is no input 7");
    assert_true(heard(&log, "3 a session: ", "there is no input 7"));
    EXPECT_FAIL(holo_session_output(session, 0, &view, &error), HOLO_BAD_ARGUMENT, "has not run");
    assert_true(heard(&log, "3 a session: ", "has not run"));
    HoloRunInput  nobody = {.name = "nobody", .tensor = x};
    HoloRunOutput result = {.index = 0};
    EXPECT_FAIL(holo_model_run(model, &nobody, 1, &result, 1, NULL, &error), HOLO_BAD_ARGUMENT, "no input nobody");
    assert_true(heard(&log, "3 a run: ", "no input nobody"));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_run(session, &error));
    assert_true(heard(&log, "0 a run is done", "bytes"));
    holo_session_destroy(session);
    holo_model_close(model);
    int count = log.count;
    EXPECT_FAIL(holo_model_open_in(other, "no/such.holo", 0, &model, &error), HOLO_NO_FILE, "no/such.holo");
    assert_true(heard(&quiet, "3 no/such.holo: ", "cannot open"));
    model = compiled(model_tiny(), HOLO_FUSED); // without a context
    EXPECT_OK(run_once(model, &x, &error));
    holo_model_close(model);
    EXPECT_OK(holo_model_open_in(other, archived(model_tiny(), HOLO_FUSED, 1), 0, &model, &error));
    holo_model_close(model);
    assert_int_equal(log.count, count);
    assert_int_equal(quiet.count, 1); // not even an opened model is that bad
    holo_compiler_destroy(compiler);
    holo_context_destroy(other);
    holo_context_destroy(context);
    holo_context_destroy(NULL);
    free(x.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_memory_is_the_caller_s),
        cmocka_unit_test(test_the_caller_has_none),
        cmocka_unit_test(test_compiling),
        cmocka_unit_test(test_a_limit),
        cmocka_unit_test(test_a_log),
    };
    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
