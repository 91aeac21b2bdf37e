// stop.c - see stop.h.
#include "base/stop.h"

#include "base/files.h"

bool holo_stop_is_late(HoloStop *stop)
{
    int none = 0;
    if (holo_time_now() < stop->deadline) return false;
    atomic_compare_exchange_strong(&stop->why, &none, HOLO_STOP_LATE);
    return true;
}
