// spread.h - before an eval computes: is there anything to do, and which threads do it.
#ifndef HOLO_OPS_SPREAD_H
#define HOLO_OPS_SPREAD_H

#include "ops/op.h"

// Is there nothing to compute for output 0? Sizes of an empty tensor may have products that do not fit, so eval
// asks this before it multiplies them.
static inline bool holo_out_is_empty(const HoloCall *call)
{
    return !holo_out(call, 0) || holo_tensor_count(call->out[0]) == 0;
}

enum { HOLO_SPREAD_COST = 1 << 16 }; // elementary steps below which waking threads does not pay

// Calls work(arg, i, worker) for 0 <= i < count, on the threads of the host where that pays. Parts are cut from the
// shape alone, so the number of threads never changes a result. A run that is to end leaves the rest out. `cost`: about how many steps all parts take.
static inline void holo_spread(const HoloCall *call, int64_t count, double cost,
                               void (*work)(void *arg, int64_t i, int worker), void *arg)
{
    const HoloHost *host = call->host;
    if (host && host->parallel && host->workers > 1 && count > 1 && cost > HOLO_SPREAD_COST) {
        host->parallel(host, count, work, arg);
        return;
    }
    for (int64_t i = 0; i < count && !holo_call_is_over(call); i++) work(arg, i, 0);
}

#endif
