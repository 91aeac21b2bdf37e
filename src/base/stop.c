// stop.c - see stop.h.
#include "base/stop.h"

#include "base/files.h"

int holo_flag_read(const volatile int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

void holo_flag_raise(volatile int *flag)
{
    __atomic_fetch_add(flag, 1, __ATOMIC_RELAXED);
}

bool holo_stop_is_asked(HoloStop *stop)
{
    int none = 0, why = 0;
    if (stop->flag && holo_flag_read(stop->flag) != stop->flag_was) why = HOLO_STOP_ASKED;
    if (!why && stop->deadline > 0 && holo_time_now() >= stop->deadline) why = HOLO_STOP_LATE;
    if (why) atomic_compare_exchange_strong(&stop->why, &none, why);
    return why;
}
