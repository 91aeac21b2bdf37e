// pool.h - work on several threads.
#ifndef HOLO_RUNTIME_POOL_H
#define HOLO_RUNTIME_POOL_H

#include "base/base.h"
#include "isa/isa.h"

// Calls work(arg, i, worker) once for each 0 <= i < count and returns when all are done. The calling thread is worker
// 0. `pool` may be NULL. If another thread is using the pool, the calling thread does all the work, with the same
// results.
void holo_pool_run(HoloPool *pool, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg);

// The same for portable programs.
HoloIsaTeam holo_pool_team(HoloPool *pool);

#endif
