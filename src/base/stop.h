// stop.h - how a run is made to end before it is done: somebody asks, or its time is over.
//
// One HoloStop belongs to one run at a time. Whoever works for long looks at it between two pieces of work. Once it is due
// it stays so until it is reset, so that what was left out by one loop is not used by the next: the run gives no answer.
#ifndef HOLO_BASE_STOP_H
#define HOLO_BASE_STOP_H

#include "base/base.h"

#include <stdatomic.h>

enum { HOLO_STOP_ASKED = 1, HOLO_STOP_LATE = 2 }; // why

typedef struct HoloStop {
    atomic_int why;      // 0: go on
    double     deadline; // of holo_time_now; 0: none. Set before the run
} HoloStop;

bool holo_stop_is_late(HoloStop *stop); // the slow half of the function below

// Is it time to end? `stop` may be NULL: never.
static inline bool holo_stop_is_due(HoloStop *stop)
{
    if (!stop) return false;
    return atomic_load_explicit(&stop->why, memory_order_relaxed) || (stop->deadline > 0 && holo_stop_is_late(stop));
}

#endif
