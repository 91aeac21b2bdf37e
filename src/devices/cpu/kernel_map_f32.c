// kernel_map_f32.c - pointwise programs over f32 tensors that broadcast together: a task is a range of
// output elements.
#include "devices/cpu/tail.h"
#include "format/params.h"

enum { TASK_WORK = 1 << 15 }; // elements that are worth a task

typedef struct Map {
    const HoloHost *host;
    HoloTail        tail;
} Map;

static HoloStatus map_init(const HoloCall *call, Map *m)
{
    const HoloMapParams *params = call->params;
    m->host                     = call->host;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->zero || !params->program.count)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of map_f32");
    return holo_tail_init(call, &params->program, false, 0, &m->tail);
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Map m;
    HOLO_TRY(map_init(call, &m));
    *out_scratch = holo_tail_scratch(m.tail.program) * sizeof(float);
    return HOLO_OK;
}

static void work(void *arg, int64_t task, int worker)
{
    const Map *m = arg;
    holo_tail_range(&m->tail, m->host, task * TASK_WORK, holo_least((task + 1) * TASK_WORK, m->tail.count),
                    holo_cpu_kernel_scratch(m->host, worker));
}

static HoloStatus run(HoloCall *call)
{
    Map m;
    HOLO_TRY(map_init(call, &m));
    if (m.tail.count) call->host->parallel(call->host, holo_ceil_div(m.tail.count, TASK_WORK), work, &m);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_map_f32 = {
    .id    = HOLO_KERNEL_map_f32,
    .name  = "map_f32",
    .check = check,
    .run   = run,
};
