// threads.h - threads, locks and conditions, and the cores that threads run on.
#ifndef HOLO_BASE_THREADS_H
#define HOLO_BASE_THREADS_H

#include "base/base.h"

// Each system's own kind of lock lies in the bytes; os_threads.c checks that it fits.
typedef struct HoloMutex {
    _Alignas(16) char own[64];
} HoloMutex;
typedef struct HoloCondition {
    _Alignas(16) char own[64];
} HoloCondition;
typedef struct HoloThread { // stays where it is until it is joined
    _Alignas(16) char own[32];
} HoloThread;

void holo_mutex_init(HoloMutex *mutex);
void holo_mutex_deinit(HoloMutex *mutex);
void holo_mutex_lock(HoloMutex *mutex);
bool holo_mutex_try(HoloMutex *mutex); // false: somebody holds it
void holo_mutex_unlock(HoloMutex *mutex);

void holo_condition_init(HoloCondition *condition);
void holo_condition_deinit(HoloCondition *condition);
// Waits for a signal with the lock given up meanwhile; may wake for no reason.
void holo_condition_wait(HoloCondition *condition, HoloMutex *mutex);
// The same until holo_time_now() is `time` at the latest.
void holo_condition_wait_until(HoloCondition *condition, HoloMutex *mutex, double time);
void holo_condition_signal(HoloCondition *condition); // one of those who wait
void holo_condition_broadcast(HoloCondition *condition);

bool holo_thread_start(HoloThread *thread, void (*work)(void *), void *arg); // false: the system has none left
void holo_thread_join(HoloThread *thread);
// Has the thread run on this core alone from now on. HOLO_BAD_ARGUMENT: there is no such core, or it is not for this process;
// HOLO_UNSUPPORTED: the system decides by itself.
HOLO_MUST HoloStatus holo_thread_bind(HoloThread *thread, int core);
// Something unlike that of any other thread that lives.
const void *holo_thread_mark(void);

#endif
