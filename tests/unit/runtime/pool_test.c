// pool_test.c - the pool of threads: every piece of work once, from one caller or several, and sleep when there is
// none.
#include "support/models.h"

#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 1000 };

typedef struct Tally {
    HoloPool  *pool;
    int        threads;
    atomic_int done[COUNT];
    atomic_int wrong; // worker numbers out of range, or used twice at once
    atomic_int busy[64];
} Tally;

static void count(void *arg, int64_t i, int worker)
{
    Tally *t = arg;
    if (worker < 0 || worker >= t->threads || atomic_fetch_add(&t->busy[worker], 1)) atomic_fetch_add(&t->wrong, 1);
    atomic_fetch_add(&t->done[i], 1);
    atomic_fetch_sub(&t->busy[worker], 1);
}

static void expect_once(Tally *t, int64_t work)
{
    holo_pool_run(t->pool, work, count, t);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_int_equal(atomic_load(&t->done[i]), i < work);
        atomic_store(&t->done[i], 0);
    }
    assert_int_equal(atomic_load(&t->wrong), 0);
}

static void test_every_piece_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads++) {
        Tally t = {.threads = threads};
        assert_int_equal(holo_pool_create(threads, &t.pool), HOLO_OK);
        assert_int_equal(holo_pool_threads(t.pool), threads);
        for (int64_t work = 0; work <= COUNT; work += work < 10 ? 1 : 99) expect_once(&t, work);
        for (int i = 0; i < 300; i++) expect_once(&t, 3); // rounds close upon each other
        holo_pool_destroy(t.pool);
    }
    Tally alone = {.threads = 1};
    expect_once(&alone, COUNT); // no pool at all
    assert_int_equal(holo_pool_threads(NULL), 1);
    holo_pool_destroy(NULL);
}

// ---- several callers share one pool; a caller who finds it in use does his work himself

static void *caller(void *pool)
{
    Tally *t  = calloc(1, sizeof *t);
    bool   ok = t != NULL;
    for (int round = 0; ok && round < 100; round++) {
        t->pool    = pool;
        t->threads = holo_pool_threads(pool);
        holo_pool_run(pool, 50, count, t);
        for (int i = 0; i < 50; i++) ok = ok && atomic_exchange(&t->done[i], 0) == 1;
        ok = ok && !atomic_load(&t->wrong);
    }
    free(t);
    return (void *)(uintptr_t)ok;
}

static void test_many_callers(void **state)
{
    (void)state;
    enum { CALLERS = 6 };
    HoloPool *pool;
    pthread_t callers[CALLERS];
    assert_int_equal(holo_pool_create(3, &pool), HOLO_OK);
    for (int i = 0; i < CALLERS; i++) assert_int_equal(pthread_create(&callers[i], NULL, caller, pool), 0);
    for (int i = 0; i < CALLERS; i++) {
        void *ok;
        pthread_join(callers[i], &ok);
        assert_non_null(ok);
    }
    holo_pool_destroy(pool);
}

// Work that itself has work for the pool.
static void nest(void *arg, int64_t i, int worker)
{
    (void)i, (void)worker;
    Tally *outer = arg, *inner = calloc(1, sizeof *inner);
    inner->pool    = outer->pool;
    inner->threads = outer->threads;
    holo_pool_run(inner->pool, 20, count, inner);
    for (int k = 0; k < 20; k++)
        if (atomic_load(&inner->done[k]) != 1) atomic_fetch_add(&outer->wrong, 1);
    free(inner);
}

static void test_work_within_work(void **state)
{
    (void)state;
    Tally t = {.threads = 4};
    assert_int_equal(holo_pool_create(4, &t.pool), HOLO_OK);
    for (int i = 0; i < 50; i++) holo_pool_run(t.pool, 8, nest, &t);
    assert_int_equal(atomic_load(&t.wrong), 0);
    holo_pool_destroy(t.pool);
}

// ---- idle workers take no time

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_idle_workers_sleep(void **state)
{
    (void)state;
    Tally t = {.threads = 4};
    assert_int_equal(holo_pool_create(4, &t.pool), HOLO_OK);
    expect_once(&t, 100);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    assert_true(seconds(CLOCK_PROCESS_CPUTIME_ID) - start < 0.05);
    expect_once(&t, 100); // and they wake up again
    holo_pool_destroy(t.pool);
}

static void test_numbers_of_threads(void **state)
{
    (void)state;
    HoloPool *pool;
    assert_int_equal(holo_pool_create(-1, &pool), HOLO_BAD_ARGUMENT);
    assert_null(pool);
    assert_int_equal(holo_pool_create(1 << 20, &pool), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_pool_create(0, &pool), HOLO_OK); // one a core
    assert_true(holo_pool_threads(pool) >= 1);
    holo_pool_destroy(pool);
    for (int i = 0; i < 50; i++) { // made and gone before the workers are up
        assert_int_equal(holo_pool_create(4, &pool), HOLO_OK);
        holo_pool_destroy(pool);
    }
}

typedef struct Cores { // which each worker was on
    atomic_int of[8];
} Cores;

static void core_note(void *arg, int64_t i, int worker)
{
    (void)i;
    Cores *cores = arg;
    atomic_store(&cores->of[worker], sched_getcpu());
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void test_cores(void **state)
{
    (void)state;
    HoloPool *pool = NULL;
    cpu_set_t set;
    int       core = 0;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(core, &set)) core++;
    Cores cores;
    for (int i = 0; i < HOLO_COUNT(cores.of); i++) atomic_init(&cores.of[i], -1);
    EXPECT_OK(holo_pool_create_on(3, &core, 1, &pool, &error));
    assert_int_equal(holo_pool_threads(pool), 3);
    holo_pool_run(pool, 100, core_note, &cores);
    for (int i = 1; i < 3; i++)
        if (atomic_load(&cores.of[i]) >= 0) assert_int_equal(atomic_load(&cores.of[i]), core);
    assert_true(atomic_load(&cores.of[1]) >= 0 || atomic_load(&cores.of[2]) >= 0);
    holo_pool_destroy(pool);
    EXPECT_FAIL(holo_pool_create_on(2, (int[]){1000, 1001}, 2, &pool, &error), HOLO_BAD_ARGUMENT,
                "cannot use core 1001");
    assert_null(pool);
    EXPECT_FAIL(holo_pool_create_on(2, NULL, 0, &pool, &error), HOLO_BAD_ARGUMENT, "no cores are given");
    EXPECT_FAIL(holo_pool_create_on(-1, &core, 1, &pool, &error), HOLO_BAD_ARGUMENT, "from 1 to 256");
}

// A process that was forked has the pool, but none of its workers.
static void test_forked(void **state)
{
    (void)state;
    Tally t = {.threads = 4};
    int   how;
    assert_int_equal(holo_pool_create(4, &t.pool), HOLO_OK);
    expect_once(&t, COUNT);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        alarm(60);
        holo_pool_run(t.pool, COUNT, count, &t);
        int wrong = atomic_load(&t.wrong);
        for (int i = 0; i < COUNT; i++) wrong += atomic_load(&t.done[i]) != 1;
        holo_pool_destroy(t.pool);
        _exit(wrong != 0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    expect_once(&t, COUNT);
    holo_pool_destroy(t.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_piece_once),
        cmocka_unit_test(test_many_callers),
        cmocka_unit_test(test_work_within_work),
        cmocka_unit_test(test_idle_workers_sleep),
        cmocka_unit_test(test_numbers_of_threads),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_forked),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
