// spread.h - gives the independent parts of a large eval to the threads of the host.
//
// A part is cut from the shape alone, so the number of threads never changes a result.
#ifndef HOLO_OPS_SPREAD_H
#define HOLO_OPS_SPREAD_H

#include "ops/op.h"

enum { HOLO_SPREAD_COST = 1 << 16 }; // elementary steps below which waking threads does not pay

// Calls work(arg, i, worker) for 0 <= i < count. `cost` is about how many steps all parts take together.
static inline void holo_spread(const HoloCall *call, int64_t count, double cost,
                               void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    const HoloHost *host = call->host;
    if (host && host->parallel && host->workers > 1 && count > 1 && cost > HOLO_SPREAD_COST) {
        host->parallel(host, count, work, arg);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        work(arg, i, 0);
}

#endif
