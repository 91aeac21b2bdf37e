// pool.c - a pool of threads that look for work for some microseconds and then sleep.
//
// Work is open while the caller takes parts of it: a worker that wakes meanwhile joins. When no part is left, the
// caller closes the work and waits only for those who joined, so a thread that wakes too late costs nothing.
//
// Each worker begins with a share of neighboring parts and then helps the others. Parts are usually numbered along the
// values that they compute, so a worker finds in its own cache what it computed in the work before.
//
// A forked process has the pool without its threads: the caller does the work alone.
#include "runtime/pool.h"

#include "base/files.h"
#include "base/memory.h"
#include "base/stop.h"
#include "base/threads.h"

#include <stdatomic.h>
#include <string.h>

enum { THREADS_MAX = 256, SPINS = 2000, CLOSED = 1 << 16 };

typedef struct Start { // what a worker gets when it begins
    HoloPool *pool;
    int       worker;
} Start;

typedef struct Share {
    atomic_llong next; // the first part that nobody has taken
    int64_t      end;
    char         apart[112]; // keeps shares of different workers on different cache lines
} Share;

struct HoloPool {
    int           threads;
    unsigned      forks; // when it was made: see holo_forks
    Start         start[THREADS_MAX];
    HoloThread    thread[THREADS_MAX]; // [0] is unused: the caller
    HoloMutex     use;                 // held by the caller whose work is in progress
    HoloMutex     lock;
    HoloCondition wake, done;
    atomic_uint   round;    // grows by one for each work
    atomic_int    joined;   // workers that joined, and CLOSED if nobody may join any more
    atomic_int    sleepers; // workers that must be woken
    atomic_bool   quit;
    void (*work)(void *, int64_t, int);
    void            *arg;
    const HoloScope *scope;   // of the caller
    HoloStop        *stop;    // of the caller's compile: when it is due, the remaining parts are skipped
    int              shares;  // at most as many as parts
    Share            share[]; // one for each thread
};

static void work_take(HoloPool *pool, int worker)
{
    for (int k = 0; k < pool->shares; k++) {
        Share *share = &pool->share[(worker + k) % pool->shares];
        while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end) {
            int64_t i = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
            if (i < share->end && !holo_stop_is_due(pool->stop)) pool->work(pool->arg, i, worker);
        }
    }
}

static void work_share(HoloPool *pool, int64_t count)
{
    pool->shares = count < pool->threads ? (int)count : pool->threads;
    int64_t each = count / pool->shares, more = count % pool->shares, at = 0;
    for (int i = 0; i < pool->shares; i++) {
        atomic_store_explicit(&pool->share[i].next, at, memory_order_relaxed);
        at += each + (i < more);
        pool->share[i].end = at;
    }
}

// Waits until the round changes from `seen`. Returns the new one.
static unsigned round_wait(HoloPool *pool, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        unsigned now = atomic_load_explicit(&pool->round, memory_order_acquire);
        if (now != seen) return now;
        holo_cpu_pause();
    }
    holo_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1); // before looking at the round; the caller does it in the opposite order
    while (atomic_load(&pool->round) == seen) holo_condition_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    holo_mutex_unlock(&pool->lock);
    return atomic_load_explicit(&pool->round, memory_order_acquire);
}

static bool work_join(HoloPool *pool)
{
    int joined = atomic_load(&pool->joined);
    while (!(joined & CLOSED))
        if (atomic_compare_exchange_weak(&pool->joined, &joined, joined + 1)) return true;
    return false;
}

static void worker_main(void *arg)
{
    const Start *start = arg;
    HoloPool    *pool  = start->pool;
    unsigned     seen  = 0;
    for (;;) {
        seen = round_wait(pool, seen);
        if (atomic_load(&pool->quit)) return;
        if (!work_join(pool)) continue;
        holo_scope_replace(pool->scope);
        work_take(pool, start->worker);
        holo_scope_replace(NULL);
        if (atomic_fetch_sub(&pool->joined, 1) == CLOSED + 1) {
            holo_mutex_lock(&pool->lock);
            holo_condition_signal(&pool->done);
            holo_mutex_unlock(&pool->lock);
        }
    }
}

// Wakes `count` workers, or all if there are fewer.
static void round_start(HoloPool *pool, int64_t count)
{
    atomic_fetch_add(&pool->round, 1);
    if (!atomic_load(&pool->sleepers)) return;
    holo_mutex_lock(&pool->lock);
    if (count >= pool->threads - 1) holo_condition_broadcast(&pool->wake);
    for (int64_t i = 0; i < count && count < pool->threads - 1; i++) holo_condition_signal(&pool->wake);
    holo_mutex_unlock(&pool->lock);
}

static void round_finish(HoloPool *pool)
{
    if (atomic_fetch_or(&pool->joined, CLOSED) == 0) return;
    for (int i = 0; i < SPINS && atomic_load(&pool->joined) != CLOSED; i++) holo_cpu_pause();
    if (atomic_load(&pool->joined) == CLOSED) return;
    holo_mutex_lock(&pool->lock);
    while (atomic_load(&pool->joined) != CLOSED) holo_condition_wait(&pool->done, &pool->lock);
    holo_mutex_unlock(&pool->lock);
}

void holo_pool_run(HoloPool *pool, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    HoloStop *stop = holo_scope_stop();
    if (!pool || pool->threads == 1 || count < 2 || pool->forks != holo_forks() || !holo_mutex_try(&pool->use)) {
        for (int64_t i = 0; i < count && !holo_stop_is_due(stop); i++) work(arg, i, 0);
        return;
    }
    pool->work  = work;
    pool->arg   = arg;
    pool->scope = holo_scope_current();
    pool->stop  = stop;
    work_share(pool, count);
    atomic_store(&pool->joined, 0);
    round_start(pool, count - 1);
    work_take(pool, 0);
    round_finish(pool);
    holo_mutex_unlock(&pool->use);
}

static bool worker_start(HoloPool *pool, int worker)
{
    pool->start[worker] = (Start){pool, worker};
    return holo_thread_start(&pool->thread[worker], worker_main, &pool->start[worker]);
}

static HoloPool *pool_make(int threads)
{
    size_t    size = sizeof(HoloPool) + (size_t)threads * sizeof(Share);
    HoloPool *pool = holo_realloc(NULL, size);
    if (!pool) return NULL;
    memset(pool, 0, size);
    atomic_store(&pool->joined, CLOSED);
    pool->forks = holo_forks();
    holo_mutex_init(&pool->use);
    holo_mutex_init(&pool->lock);
    holo_condition_init(&pool->wake);
    holo_condition_init(&pool->done);
    for (pool->threads = 1; pool->threads < threads; pool->threads++)
        if (!worker_start(pool, pool->threads)) break;
    if (pool->threads == threads) return pool;
    holo_pool_destroy(pool);
    return NULL;
}

static HoloStatus workers_bind(HoloPool *pool, const int *cores, int count, HoloError *error)
{
    for (int i = 1; i < pool->threads; i++) {
        int        core   = cores[i % count];
        HoloStatus status = holo_thread_bind(&pool->thread[i], core);
        if (status == HOLO_UNSUPPORTED) return holo_fail(error, status, "this system cannot bind threads to cores");
        if (status) return holo_fail(error, status, "this process cannot use core %d", core);
    }
    return HOLO_OK;
}

HoloStatus holo_pool_create_in(HoloContext *context, int threads, const int *cores, int core_count, HoloPool **out_pool,
                               HoloError *error)
{
    HOLO_IN(holo_context_account(context));
    *out_pool = NULL;
    if (!threads) threads = cores ? core_count : (int)holo_least(holo_cpu_count(), THREADS_MAX);
    if (cores && core_count < 1) return holo_fail(error, HOLO_BAD_ARGUMENT, "no cores are given to run threads on");
    if (threads < 1 || threads > THREADS_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the number of threads must be from 1 to %d, or 0 for one per core",
                         THREADS_MAX);
    HoloPool *pool = pool_make(threads);
    if (!pool) return holo_fail(error, HOLO_NO_MEMORY, "out of memory for %d threads", threads);
    HoloStatus status = cores ? workers_bind(pool, cores, core_count, error) : HOLO_OK;
    if (status)
        holo_pool_destroy(pool);
    else
        *out_pool = pool;
    return status;
}

HoloStatus holo_pool_create_on(int threads, const int *cores, int core_count, HoloPool **out_pool, HoloError *error)
{
    static const int none[1];
    return holo_pool_create_in(NULL, threads, cores ? cores : none, core_count, out_pool, error);
}

HoloStatus holo_pool_create(int threads, HoloPool **out_pool)
{
    return holo_pool_create_in(NULL, threads, NULL, 0, out_pool, NULL);
}

void holo_pool_destroy(HoloPool *pool)
{
    if (!pool) return;
    if (pool->forks != holo_forks()) { // there is nobody to wait for
        holo_free(pool);
        return;
    }
    atomic_store(&pool->quit, true);
    round_start(pool, pool->threads);
    for (int i = 1; i < pool->threads; i++) holo_thread_join(&pool->thread[i]);
    holo_condition_deinit(&pool->done);
    holo_condition_deinit(&pool->wake);
    holo_mutex_deinit(&pool->lock);
    holo_mutex_deinit(&pool->use);
    holo_free(pool);
}

static void team_run(void *team, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    holo_pool_run(team, count, work, arg);
}

HoloIsaTeam holo_pool_team(HoloPool *pool)
{
    return (HoloIsaTeam){team_run, pool, pool ? holo_pool_threads(pool) : 1};
}

int holo_pool_threads(const HoloPool *pool)
{
    return pool ? pool->threads : 1;
}
