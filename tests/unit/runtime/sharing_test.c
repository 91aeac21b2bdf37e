// sharing_test.c - one session and several threads: a status, never a wrong answer; and one model run by all of them.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/threads.h"
#include "runtime/frame/frame.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, KINDS = 4, ROUNDS = 300, OUT = 10 };

typedef struct Shared { // what all threads of a test see
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   input[KINDS];
    float        want[KINDS][OUT];
    atomic_int   wrong, failed, busy, right;
} Shared;

typedef struct Member {
    Shared    *all;
    int        number;
    HoloThread thread;
} Member;

static Shared *begin(void)
{
    Shared *s = calloc(1, sizeof *s);
    s->model  = compiled(model_conv(), HOLO_FUSED);
    EXPECT_OK(holo_session_create(s->model, NULL, &s->session, &error));
    for (int i = 0; i < KINDS; i++) {
        HoloTensor y;
        s->input[i] = made(&holo_model_input(s->model, 0)->type, (uint64_t)i + 1, 1);
        EXPECT_OK(holo_session_set_input(s->session, 0, &s->input[i], &error));
        EXPECT_OK(holo_session_run(s->session, &error));
        EXPECT_OK(holo_session_output(s->session, 0, &y, &error));
        memcpy(s->want[i], y.data, sizeof s->want[i]);
    }
    assert_memory_not_equal(s->want[0], s->want[1], sizeof s->want[0]);
    return s;
}

static void end(Shared *s)
{
    for (int i = 0; i < KINDS; i++) free(s->input[i].data);
    holo_session_destroy(s->session);
    holo_model_close(s->model);
    free(s);
}

static void all_run(Shared *s, int threads, void (*work)(void *))
{
    Member members[THREADS];
    for (int i = 0; i < threads; i++) {
        members[i].all    = s;
        members[i].number = i;
        assert_true(holo_thread_start(&members[i].thread, work, &members[i]));
    }
    for (int i = 0; i < threads; i++) holo_thread_join(&members[i].thread);
}

static void judge(Shared *s, int kind, HoloStatus status, const void *have)
{
    if (status == HOLO_BUSY)
        atomic_fetch_add(&s->busy, 1);
    else if (status)
        atomic_fetch_add(&s->failed, 1);
    else
        atomic_fetch_add(memcmp(have, s->want[kind], sizeof s->want[kind]) ? &s->wrong : &s->right, 1);
}

// ---- one session

static HoloStatus session_step(Shared *s, const HoloTensor *x, HoloTensor *y)
{
    HoloStatus status = holo_session_set_input(s->session, 0, x, NULL);
    if (!status) status = holo_session_run(s->session, NULL);
    if (!status) status = holo_session_output(s->session, 0, y, NULL);
    return status;
}

static void session_work(void *arg)
{
    const Member *m = arg;
    for (int i = 0; i < 20 * ROUNDS; i++) {
        HoloTensor y;
        int        kind   = (m->number + i) % KINDS;
        HoloStatus status = session_step(m->all, &m->all->input[kind], &y);
        float      have[OUT];
        if (!status) memcpy(have, y.data, sizeof have);
        judge(m->all, kind, status, have);
    }
}

// Answers of another thread's inputs are what silence would give. Once two calls have met, each thread gets its own or
// a status.
static void test_a_session_of_two_threads(void **state)
{
    (void)state;
    Shared    *s = begin();
    HoloTensor y;
    assert_int_equal(holo_session_take(s->session, NULL), HOLO_OK); // a call of another thread meets this one
    EXPECT_FAIL(holo_session_run(s->session, &error), HOLO_BUSY, "another thread");
    assert_int_equal(holo_session_give(s->session, HOLO_OK, NULL), HOLO_OK);
    all_run(s, 2, session_work);
    assert_int_equal(atomic_load(&s->wrong), 0);
    assert_int_equal(atomic_load(&s->failed), 0);
    assert_true(atomic_load(&s->right) > 0);
    EXPECT_OK(session_step(s, &s->input[1], &y)); // and it can be used by one as before
    assert_memory_equal(y.data, s->want[1], sizeof s->want[1]);
    end(s);
}

static void test_every_call_is_refused(void **state)
{
    (void)state;
    Shared      *s       = begin();
    HoloSession *session = s->session;
    HoloTensor   t;
    size_t       memory = holo_session_memory(session);
    uint64_t     hits, misses;
    float        room[OUT];
    assert_int_equal(holo_session_take(session, NULL), HOLO_OK);
    EXPECT_FAIL(holo_session_set_input(session, 0, &s->input[0], &error), HOLO_BUSY, "another thread");
    EXPECT_FAIL(holo_session_set_output(session, 0, room, sizeof room, &error), HOLO_BUSY, "another thread");
    EXPECT_FAIL(holo_session_input(session, 0, &t, &error), HOLO_BUSY, "another thread");
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_BUSY, "holo_model_run");
    EXPECT_FAIL(holo_session_output(session, 0, &t, &error), HOLO_BUSY, "another thread");
    EXPECT_FAIL(holo_session_set_memo(session, 1 << 20, &error), HOLO_BUSY, "another thread");
    EXPECT_FAIL(holo_session_save_memo(session, temp_path("memo.holo"), &error), HOLO_BUSY, "another thread");
    EXPECT_FAIL(holo_session_profile_write(session, temp_path("p.json"), &error), HOLO_BUSY, "another thread");
    EXPECT_FAIL(holo_session_set_time_limit(session, 1, &error), HOLO_BUSY, "another thread");
    holo_session_memo_counts(session, &hits, &misses); // these any thread may ask at any time
    assert_int_equal(holo_session_kept_steps(session), 0);
    assert_int_equal(holo_session_memory(session), memory);
    holo_session_profile(session, true);
    assert_int_equal(holo_session_give(session, HOLO_OK, NULL), HOLO_OK);
    EXPECT_OK(holo_session_run(session, &error));
    end(s);
}

static void set_other(void *arg)
{
    Shared *s = ((Member *)arg)->all;
    atomic_store(&s->right, !holo_session_set_input(s->session, 0, &s->input[0], NULL));
}

// Without any meeting, one thread may set what another runs: a session can be handed on.
static void test_a_session_handed_on(void **state)
{
    (void)state;
    Shared    *s = begin();
    HoloTensor y;
    all_run(s, 1, set_other);
    assert_int_equal(atomic_load(&s->right), 1);
    EXPECT_OK(holo_session_run(s->session, &error));
    EXPECT_OK(holo_session_output(s->session, 0, &y, &error));
    assert_memory_equal(y.data, s->want[0], sizeof s->want[0]);
    assert_int_equal(holo_session_take(s->session, NULL), HOLO_OK); // two threads meet: from now on it is not so
    assert_int_equal(holo_session_run(s->session, NULL), HOLO_BUSY);
    assert_int_equal(holo_session_give(s->session, HOLO_OK, NULL), HOLO_OK);
    EXPECT_FAIL(holo_session_run(s->session, &error), HOLO_BUSY, "input x was set by another thread");
    EXPECT_OK(holo_session_set_input(s->session, 0, &s->input[2], &error));
    EXPECT_OK(holo_session_run(s->session, &error));
    end(s);
}

// ---- one model

static void model_work(void *arg)
{
    const Member *m = arg;
    for (int i = 0; i < ROUNDS; i++) {
        int           kind = (m->number + i) % KINDS;
        float         have[OUT];
        HoloRunInput  in  = {.name = i % 2 ? "x" : NULL, .tensor = m->all->input[kind]};
        HoloRunOutput out = {.name = i % 3 ? "y" : NULL};
        if (i % 5) out.data = have, out.size = sizeof have;
        HoloStatus status = holo_model_run(m->all->model, &in, 1, &out, 1, NULL, NULL);
        judge(m->all, kind, status, out.tensor.data);
        holo_run_outputs_free(&out, 1);
    }
}

static void expect_all_right(Shared *s)
{
    all_run(s, THREADS, model_work);
    assert_int_equal(atomic_load(&s->wrong), 0);
    assert_int_equal(atomic_load(&s->failed), 0);
    assert_int_equal(atomic_load(&s->busy), 0);
    assert_int_equal(atomic_load(&s->right), THREADS * ROUNDS);
}

static void test_a_model_of_many_threads(void **state)
{
    (void)state;
    Shared *s = begin();
    expect_all_right(s);
    EXPECT_FAIL(holo_model_set_runs(s->model, NULL, 2, &error), HOLO_BAD_ARGUMENT, "has already run");
    end(s);
}

// One session for eight threads, on a pool besides: they wait for each other.
static void test_fewer_sessions_than_threads(void **state)
{
    (void)state;
    Shared   *s = begin();
    HoloPool *pool;
    EXPECT_OK(holo_pool_create(2, &pool));
    EXPECT_FAIL(holo_model_set_runs(s->model, NULL, 257, &error), HOLO_BAD_ARGUMENT, "1 to 256");
    EXPECT_OK(holo_model_set_runs(s->model, pool, 1, &error));
    expect_all_right(s);
    end(s);
    holo_pool_destroy(pool);
}

static void test_what_is_not_right(void **state)
{
    (void)state;
    Shared       *s     = begin();
    HoloRunInput  in[2] = {{.name = "x", .tensor = s->input[0]}, {.index = 0, .tensor = s->input[0]}};
    HoloRunOutput out = {.name = "y"}, two[2] = {{.name = "y"}, {.index = 0}};
    float         small[2];
    EXPECT_FAIL(holo_model_run(s->model, in, 2, &out, 1, NULL, &error), HOLO_BAD_ARGUMENT, "input x is given twice");
    EXPECT_FAIL(holo_model_run(s->model, in, 1, two, 2, NULL, &error), HOLO_BAD_ARGUMENT, "output y is given twice");
    EXPECT_FAIL(holo_model_run(s->model, NULL, 0, &out, 1, NULL, &error), HOLO_BAD_INPUT, "input x is not set");
    in[0].name = "z";
    EXPECT_FAIL(holo_model_run(s->model, in, 1, &out, 1, NULL, &error), HOLO_BAD_ARGUMENT, "no input z; it has x");
    in[1].index = 1;
    EXPECT_FAIL(holo_model_run(s->model, in + 1, 1, &out, 1, NULL, &error), HOLO_BAD_ARGUMENT, "no input 1");
    in[0].name = "x";
    out.name   = "q";
    EXPECT_FAIL(holo_model_run(s->model, in, 1, &out, 1, NULL, &error), HOLO_BAD_ARGUMENT, "no output q; it has y");
    out = (HoloRunOutput){.name = "y", .data = small, .size = sizeof small};
    EXPECT_FAIL(holo_model_run(s->model, in, 1, &out, 1, NULL, &error), HOLO_BAD_ARGUMENT, "output y needs 40 bytes");
    in[0].tensor.dim[0] = 2;
    EXPECT_FAIL(holo_model_run(s->model, in, 1, NULL, 0, NULL, &error), HOLO_BAD_INPUT, "input x should be");
    in[0].tensor.dim[0] = 1;
    EXPECT_OK(holo_model_run(s->model, in, 1, NULL, 0, NULL, &error)); // nothing wanted, nothing given
    end(s);
}

// Sequences and strings, with all that they hold, outlive the next run, and the model.
static void test_outputs_that_are_no_numbers(void **state)
{
    (void)state;
    OnnxModel     m      = {0};
    const char   *path   = temp_path("parts.onnx");
    float         data[] = {1, 2, 3, 4};
    HoloRunInput  in     = {.name = "x", .tensor = {.dtype = HOLO_F32, .rank = 1, .dim = {4}, .data = data}};
    HoloRunOutput out[2] = {{.name = "parts"}, {.name = "texts"}}, again[2] = {{.name = "parts"}, {.name = "texts"}};
    onnx_input(&m.graph, "x", HOLO_F32, "4");
    onnx_output(&m.graph, "texts", HOLO_STRING, "4");
    onnx_node(&m.graph, "Cast", "x", "texts", "to=8");
    onnx_node(&m.graph, "SplitToSequence", "x", "list", "");
    onnx_node(&m.graph, "SequenceInsert", "list,x", "parts", "");
    Pb type = {0}, sequence = {0}, element = {0}, tensor = {0}, value = {0};
    pb_int(&tensor, 1, HOLO_F32);
    pb_message(&element, 1, &tensor);
    pb_message(&sequence, 1, &element);
    pb_message(&type, 4, &sequence);
    pb_text(&value, 1, "parts");
    pb_message(&value, 2, &type);
    pb_message(&m.graph.message, 12, &value);
    onnx_save(&m, path);
    HoloModel *model = compiled(path, HOLO_FUSED);
    EXPECT_OK(holo_model_run(model, &in, 1, out, 2, NULL, &error));
    data[0] = 7;
    EXPECT_OK(holo_model_run(model, &in, 1, again, 2, NULL, &error));
    holo_model_close(model);
    const HoloTensor *items = out[0].tensor.data;
    assert_int_equal(out[0].tensor.kind, HOLO_SEQUENCE);
    assert_int_equal(out[0].tensor.dim[0], 5);
    assert_true(((const float *)items[0].data)[0] == 1 && ((const float *)items[4].data)[3] == 4);
    assert_memory_equal(((const HoloString *)out[1].tensor.data)[0].data, "1", 1);
    assert_memory_equal(((const HoloString *)again[1].tensor.data)[0].data, "7", 1);
    holo_run_outputs_free(out, 2);
    holo_run_outputs_free(again, 2);
    holo_run_outputs_free(again, 2); // nothing is left to free
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_session_of_two_threads),    cmocka_unit_test(test_every_call_is_refused),
        cmocka_unit_test(test_a_session_handed_on),         cmocka_unit_test(test_a_model_of_many_threads),
        cmocka_unit_test(test_fewer_sessions_than_threads), cmocka_unit_test(test_what_is_not_right),
        cmocka_unit_test(test_outputs_that_are_no_numbers),
    };
    return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}
