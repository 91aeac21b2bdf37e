// stop.h - ends a run or a compile early, because somebody asks or its time is over.
//
// A HoloStop belongs to one run at a time. Long work checks it between two pieces. Once it is due, it stays so until it
// is reset. So the next loop does not use what a loop left incomplete: the run gives no answer.
#ifndef HOLO_BASE_STOP_H
#define HOLO_BASE_STOP_H

#include "base/base.h"

#include <stdatomic.h>

enum { HOLO_STOP_ASKED = 1, HOLO_STOP_LATE = 2 }; // why

typedef struct HoloStop {
    atomic_int          why;      // 0: go on
    double              deadline; // in the time of holo_time_now; 0: none. Set before the run
    const volatile int *flag;     // somebody changes it from any thread to end the run; NULL: none. Set before the run
    int                 flag_was; // its value while nobody asks
} HoloStop;

int  holo_flag_read(const volatile int *flag);
void holo_flag_raise(volatile int *flag); // changes it; may be called from a signal handler

bool holo_stop_is_asked(HoloStop *stop); // the slow part of the function below

// Is it time to end? `stop` may be NULL: never.
static inline bool holo_stop_is_due(HoloStop *stop)
{
    if (!stop) return false;
    if (atomic_load_explicit(&stop->why, memory_order_relaxed)) return true;
    return (stop->deadline > 0 || stop->flag) && holo_stop_is_asked(stop);
}

#endif
