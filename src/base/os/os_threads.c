// os_threads.c - threads, locks and conditions. See threads.h.
#include "base/files.h"
#include "base/threads.h"

#if !defined __wasm__ // os_wasm_threads.c
#if defined  _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK            Lock;
typedef CONDITION_VARIABLE Condition;
typedef HANDLE             Thread;
#else
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
typedef pthread_mutex_t Lock;
typedef pthread_cond_t  Condition;
typedef pthread_t       Thread;
#endif

typedef struct Handle {
    Thread thread;
    void (*work)(void *);
    void *arg;
} Handle;

_Static_assert(sizeof(Lock) <= sizeof(HoloMutex), "a lock fits");
_Static_assert(sizeof(Condition) <= sizeof(HoloCondition), "a condition fits");
_Static_assert(sizeof(Handle) <= sizeof(HoloThread), "a thread fits");

static Lock *lock_of(HoloMutex *mutex)
{
    return (Lock *)(void *)mutex->own;
}

static Condition *condition_of(HoloCondition *condition)
{
    return (Condition *)(void *)condition->own;
}

static Handle *handle_of(HoloThread *thread)
{
    return (Handle *)(void *)thread->own;
}

static bool thread_begin(Handle *handle);

bool holo_thread_start(HoloThread *thread, void (*work)(void *), void *arg)
{
    Handle *handle = handle_of(thread);
    handle->work   = work;
    handle->arg    = arg;
    return thread_begin(handle);
}

const void *holo_thread_mark(void)
{
    static _Thread_local char mark;
    return &mark;
}

#if defined _WIN32

unsigned holo_forks(void)
{
    return 0;
}

void holo_mutex_init(HoloMutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
}

void holo_mutex_deinit(HoloMutex *mutex)
{
    (void)mutex;
}

void holo_mutex_lock(HoloMutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

bool holo_mutex_try(HoloMutex *mutex)
{
    return TryAcquireSRWLockExclusive(lock_of(mutex));
}

void holo_mutex_unlock(HoloMutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

void holo_condition_init(HoloCondition *condition)
{
    InitializeConditionVariable(condition_of(condition));
}

void holo_condition_deinit(HoloCondition *condition)
{
    (void)condition;
}

void holo_condition_wait(HoloCondition *condition, HoloMutex *mutex)
{
    SleepConditionVariableSRW(condition_of(condition), lock_of(mutex), INFINITE, 0);
}

void holo_condition_wait_until(HoloCondition *condition, HoloMutex *mutex, double time)
{
    double left = time - holo_time_now();
    if (left <= 0) return;
    DWORD wait = left < 1e6 ? (DWORD)(left * 1e3) + 1 : 1000000000;
    SleepConditionVariableSRW(condition_of(condition), lock_of(mutex), wait, 0);
}

void holo_condition_signal(HoloCondition *condition)
{
    WakeConditionVariable(condition_of(condition));
}

void holo_condition_broadcast(HoloCondition *condition)
{
    WakeAllConditionVariable(condition_of(condition));
}

static DWORD WINAPI thread_main(void *arg)
{
    const Handle *handle = arg;
    handle->work(handle->arg);
    return 0;
}

static bool thread_begin(Handle *handle)
{
    handle->thread = CreateThread(NULL, 8 << 20, thread_main, handle, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    return handle->thread;
}

void holo_thread_join(HoloThread *thread)
{
    WaitForSingleObject(handle_of(thread)->thread, INFINITE);
    CloseHandle(handle_of(thread)->thread);
}

HoloStatus holo_thread_bind(HoloThread *thread, int core)
{
    GROUP_AFFINITY where = {0};
    for (int group = 0; core >= 0 && group < GetActiveProcessorGroupCount(); group++) {
        int count = (int)GetActiveProcessorCount((WORD)group);
        if (core >= count) {
            core -= count;
            continue;
        }
        where.Group = (WORD)group;
        where.Mask  = (KAFFINITY)1 << core;
        return SetThreadGroupAffinity(handle_of(thread)->thread, &where, NULL) ? HOLO_OK : HOLO_BAD_ARGUMENT;
    }
    return HOLO_BAD_ARGUMENT;
}

#else

static atomic_uint forks;

static void forks_add(void)
{
    atomic_fetch_add(&forks, 1);
}

static void forks_watch(void)
{
    pthread_atfork(NULL, NULL, forks_add);
}

unsigned holo_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, forks_watch);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

void holo_mutex_init(HoloMutex *mutex)
{
    pthread_mutex_init(lock_of(mutex), NULL);
}

void holo_mutex_deinit(HoloMutex *mutex)
{
    pthread_mutex_destroy(lock_of(mutex));
}

void holo_mutex_lock(HoloMutex *mutex)
{
    pthread_mutex_lock(lock_of(mutex));
}

bool holo_mutex_try(HoloMutex *mutex)
{
    return pthread_mutex_trylock(lock_of(mutex)) == 0;
}

void holo_mutex_unlock(HoloMutex *mutex)
{
    pthread_mutex_unlock(lock_of(mutex));
}

void holo_condition_init(HoloCondition *condition)
{
    pthread_cond_init(condition_of(condition), NULL);
}

void holo_condition_deinit(HoloCondition *condition)
{
    pthread_cond_destroy(condition_of(condition));
}

void holo_condition_wait(HoloCondition *condition, HoloMutex *mutex)
{
    pthread_cond_wait(condition_of(condition), lock_of(mutex));
}

// Conditions use the time of day, which every system supports. If somebody sets that back meanwhile, the wait is
// longer.
void holo_condition_wait_until(HoloCondition *condition, HoloMutex *mutex, double time)
{
    struct timespec at;
    double          left = time - holo_time_now(), whole;
    if (left <= 0) return;
    if (left > 1e6) left = 1e6;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += (long)(modf(left, &whole) * 1e9);
    at.tv_sec += (time_t)whole + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    pthread_cond_timedwait(condition_of(condition), lock_of(mutex), &at);
}

void holo_condition_signal(HoloCondition *condition)
{
    pthread_cond_signal(condition_of(condition));
}

void holo_condition_broadcast(HoloCondition *condition)
{
    pthread_cond_broadcast(condition_of(condition));
}

static void *thread_main(void *arg)
{
    const Handle *handle = arg;
    handle->work(handle->arg);
    return NULL;
}

static bool thread_begin(Handle *handle)
{
    return pthread_create(&handle->thread, NULL, thread_main, handle) == 0;
}

void holo_thread_join(HoloThread *thread)
{
    pthread_join(handle_of(thread)->thread, NULL);
}

HoloStatus holo_thread_bind(HoloThread *thread, int core)
{
#if defined __linux__
    cpu_set_t set;
    if (core < 0 || core >= CPU_SETSIZE) return HOLO_BAD_ARGUMENT;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return pthread_setaffinity_np(handle_of(thread)->thread, sizeof set, &set) ? HOLO_BAD_ARGUMENT : HOLO_OK;
#else
    (void)thread, (void)core;
    return HOLO_UNSUPPORTED;
#endif
}

#endif
#endif
