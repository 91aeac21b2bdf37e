// pool.h - work on several threads.
#ifndef HOLO_RUNTIME_POOL_H
#define HOLO_RUNTIME_POOL_H

#include "base/base.h"
#include "isa/isa.h"

// Calls work(arg, i, worker) once for each 0 <= i < count and returns when all are done; the caller's
// thread takes part as worker 0. `pool` may be NULL; a pool that another thread is using right now
// leaves the work to the caller's thread, which changes no result.
void holo_pool_run(HoloPool *pool, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg);

// The same for portable programs.
HoloIsaTeam holo_pool_team(HoloPool *pool);

#endif
