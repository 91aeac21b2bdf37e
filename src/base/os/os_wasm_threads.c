// os_wasm_threads.c - threads, locks and conditions in WebAssembly. See threads.h.
//
// A program in WebAssembly cannot start threads. Its host starts workers, which share the memory, and each gives itself
// to this file (holo_wasm_thread_serve). A thread that starts takes one of those that wait.
//
// The instructions that wait and wake are those of the threads proposal. Where the memory is not shared there is no
// other thread, and nobody ever waits.
#if defined __wasm__
#include "base/files.h"
#include "base/threads.h"
#include "base/wasm.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { SERVANTS_MAX = 256, SPINS = 100 };

typedef struct Servant {
    atomic_int state; // see below
    void (*work)(void *);
    void *arg;
} Servant;
enum { ABSENT, IDLE, TAKEN, WORKING };

static Servant            servants[SERVANTS_MAX];
static atomic_int         servant_count;
static _Thread_local bool is_restless;

// ---- waiting and waking

#if defined __wasm_atomics__

static void sleep_while(atomic_int *at, int value, double seconds) // seconds < 0: as long as it takes
{
    int64_t nanoseconds = seconds < 0 ? -1 : (int64_t)(seconds * 1e9);
    if (!is_restless)
        __builtin_wasm_memory_atomic_wait32((int *)(void *)at, value, nanoseconds);
    else
        for (int i = 0; i < SPINS && atomic_load(at) == value; i++) holo_cpu_pause();
}

static void wake(atomic_int *at, unsigned count)
{
    __builtin_wasm_memory_atomic_notify((int *)(void *)at, count);
}

#else // there is no other thread

static void sleep_while(const atomic_int *at, int value, double seconds)
{
    (void)at, (void)value, (void)seconds;
}

static void wake(const atomic_int *at, unsigned count)
{
    (void)at, (void)count;
}

#endif

void holo_wasm_thread_restless(void)
{
    is_restless = true;
}

// There is no instruction for it. The loop takes about as long as that of other machines.
void holo_cpu_pause(void)
{
    for (volatile int i = 0; i < 16; i++) continue;
}

// ---- locks: 0 free, 1 held, 2 held and somebody waits

_Static_assert(sizeof(atomic_int) <= sizeof(HoloMutex), "a lock fits");

static atomic_int *lock_of(HoloMutex *mutex)
{
    return (atomic_int *)(void *)mutex->own;
}

static void lock_take(atomic_int *lock)
{
    int was = 0;
    if (atomic_compare_exchange_strong(lock, &was, 1)) return;
    while (atomic_exchange(lock, 2)) sleep_while(lock, 2, -1);
}

static void lock_release(atomic_int *lock)
{
    if (atomic_exchange(lock, 0) == 2) wake(lock, 1);
}

void holo_mutex_init(HoloMutex *mutex)
{
    atomic_init(lock_of(mutex), 0);
}

void holo_mutex_deinit(HoloMutex *mutex)
{
    (void)mutex;
}

void holo_mutex_lock(HoloMutex *mutex)
{
    lock_take(lock_of(mutex));
}

bool holo_mutex_try(HoloMutex *mutex)
{
    int was = 0;
    return atomic_compare_exchange_strong(lock_of(mutex), &was, 1);
}

void holo_mutex_unlock(HoloMutex *mutex)
{
    lock_release(lock_of(mutex));
}

// ---- conditions: a number that each signal changes

static atomic_int *number_of(HoloCondition *condition)
{
    return (atomic_int *)(void *)condition->own;
}

void holo_condition_init(HoloCondition *condition)
{
    atomic_init(number_of(condition), 0);
}

void holo_condition_deinit(HoloCondition *condition)
{
    (void)condition;
}

static void condition_sleep(HoloCondition *condition, HoloMutex *mutex, double seconds)
{
    int seen = atomic_load(number_of(condition));
    holo_mutex_unlock(mutex);
    sleep_while(number_of(condition), seen, seconds);
    holo_mutex_lock(mutex);
}

void holo_condition_wait(HoloCondition *condition, HoloMutex *mutex)
{
    condition_sleep(condition, mutex, -1);
}

void holo_condition_wait_until(HoloCondition *condition, HoloMutex *mutex, double time)
{
    double left = time - holo_time_now();
    if (left > 0) condition_sleep(condition, mutex, left < 1e6 ? left : 1e6);
}

void holo_condition_signal(HoloCondition *condition)
{
    atomic_fetch_add(number_of(condition), 1);
    wake(number_of(condition), 1);
}

void holo_condition_broadcast(HoloCondition *condition)
{
    atomic_fetch_add(number_of(condition), 1);
    wake(number_of(condition), ~0u);
}

// ---- threads

void holo_wasm_thread_serve(void)
{
    int at = atomic_fetch_add(&servant_count, 1);
    if (at >= SERVANTS_MAX) return;
    Servant *servant = &servants[at];
    for (;;) {
        atomic_store(&servant->state, IDLE);
        wake(&servant->state, ~0u); // whoever joins
        while (atomic_load(&servant->state) != WORKING) sleep_while(&servant->state, IDLE, -1);
        servant->work(servant->arg);
    }
}

int holo_wasm_thread_count(void)
{
    int count = 0;
    for (int i = 0; i < SERVANTS_MAX; i++) count += atomic_load(&servants[i].state) != ABSENT;
    return count;
}

bool holo_thread_start(HoloThread *thread, void (*work)(void *), void *arg)
{
    Servant **handle = (Servant **)(void *)thread->own;
    for (int i = 0; i < SERVANTS_MAX; i++) {
        int idle = IDLE;
        if (!atomic_compare_exchange_strong(&servants[i].state, &idle, TAKEN)) continue;
        servants[i].work = work;
        servants[i].arg  = arg;
        atomic_store(&servants[i].state, WORKING);
        wake(&servants[i].state, 1);
        *handle = &servants[i];
        return true;
    }
    return false;
}

void holo_thread_join(HoloThread *thread)
{
    Servant *servant = *(Servant **)(void *)thread->own;
    while (atomic_load(&servant->state) == WORKING) sleep_while(&servant->state, WORKING, -1);
}

HoloStatus holo_thread_bind(HoloThread *thread, int core)
{
    (void)thread, (void)core;
    return HOLO_UNSUPPORTED;
}

const void *holo_thread_mark(void)
{
    return &is_restless;
}

unsigned holo_forks(void)
{
    return 0;
}

// ---- the heap: that of libc knows no threads

void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void  __real_free(void *old);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void  __wrap_free(void *old);

static atomic_int heap;

void *__wrap_realloc(void *old, size_t size)
{
    lock_take(&heap);
    void *memory = __real_realloc(old, size);
    lock_release(&heap);
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return __wrap_realloc(NULL, size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t all;
    void  *memory = holo_size_mul(count, size, &all) ? __wrap_realloc(NULL, all) : NULL;
    if (memory) __builtin_memset(memory, 0, all);
    return memory;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    lock_take(&heap);
    void *memory = __real_aligned_alloc(align, size);
    lock_release(&heap);
    return memory;
}

void __wrap_free(void *old)
{
    lock_take(&heap);
    __real_free(old);
    lock_release(&heap);
}
#endif
