// threads.h - threads, locks and conditions, and the cores that threads run on.
#ifndef HOLO_BASE_THREADS_H
#define HOLO_BASE_THREADS_H

#include "base/base.h"

// The bytes hold the system's own kind of lock; os_threads.c checks that it fits.
typedef struct HoloMutex {
    _Alignas(16) char own[64];
} HoloMutex;
typedef struct HoloCondition {
    _Alignas(16) char own[64];
} HoloCondition;
typedef struct HoloThread { // must not move until it is joined
    _Alignas(16) char own[32];
} HoloThread;

void holo_mutex_init(HoloMutex *mutex);
void holo_mutex_deinit(HoloMutex *mutex);
void holo_mutex_lock(HoloMutex *mutex);
bool holo_mutex_try(HoloMutex *mutex); // false: somebody holds it
void holo_mutex_unlock(HoloMutex *mutex);

void holo_condition_init(HoloCondition *condition);
void holo_condition_deinit(HoloCondition *condition);
// Releases the lock and waits for a signal; may also wake without one.
void holo_condition_wait(HoloCondition *condition, HoloMutex *mutex);
// The same, but at most until holo_time_now() is `time`.
void holo_condition_wait_until(HoloCondition *condition, HoloMutex *mutex, double time);
void holo_condition_signal(HoloCondition *condition); // wakes one of those who wait
void holo_condition_broadcast(HoloCondition *condition);

bool holo_thread_start(HoloThread *thread, void (*work)(void *), void *arg); // false: the system has no more threads
void holo_thread_join(HoloThread *thread);
// Makes the thread run only on this core from now on. HOLO_BAD_ARGUMENT: there is no such core, or this process may not
// use it. HOLO_UNSUPPORTED: the system does not let programs choose.
HOLO_MUST HoloStatus holo_thread_bind(HoloThread *thread, int core);
// A pointer that differs from that of any other living thread.
const void *holo_thread_mark(void);
// How often this process, or one that it comes from, was forked since this was first asked. A process that was forked
// has no thread but one: locks that others held then stay held.
unsigned holo_forks(void);

#endif
