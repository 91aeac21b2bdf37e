// spread.h - before eval computes: is there anything to do, and which threads do it?
#ifndef HOLO_OPS_SPREAD_H
#define HOLO_OPS_SPREAD_H

#include "ops/op.h"

// Is there nothing to compute for output 0? The product of the sizes of an empty tensor may overflow, so eval asks this
// before it multiplies them.
static inline bool holo_out_is_empty(const HoloCall *call)
{
    return !holo_out(call, 0) || holo_tensor_count(call->out[0]) == 0;
}

enum { HOLO_SPREAD_COST = 1 << 16 }; // with fewer elementary steps, waking threads is not worth it

// Calls work(arg, i, worker) for 0 <= i < count, on the threads of the host if that is worth it. Parts depend on the
// shape alone, so the number of threads never changes a result. If the run is to end, the rest is skipped. `cost` is
// about how many steps all parts take.
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
