// kernel_map_f32.c - pointwise programs over f32 tensors that broadcast together: a task is a range of
// output elements.
#include "devices/cpu/tail.h"
#include "format/params.h"

enum { TASK_WORK = 1 << 15 }; // elements that are worth a task

typedef struct Map {
    const HoloHost *host;
    HoloTail        tail;
    int64_t         tasks;
} Map;

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Map                 *m      = job;
    const HoloMapParams *params = call->params;
    m->host                     = call->host;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->zero || !params->program.count)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of map_f32");
    HOLO_TRY(holo_tail_init(call, &params->program, false, 0, &m->tail));
    m->tasks     = holo_ceil_div(m->tail.count, TASK_WORK);
    *out_scratch = holo_tail_scratch(m->tail.program) * sizeof(float);
    return HOLO_OK;
}

static void work(void *arg, int64_t task, int worker)
{
    const Map *m = arg;
    holo_tail_range(&m->tail, m->host, task * TASK_WORK, holo_least((task + 1) * TASK_WORK, m->tail.count),
                    holo_cpu_kernel_scratch(m->host, worker));
}

static HoloStatus run(HoloCall *call, void *job)
{
    Map *m = job;
    holo_tail_begin(&m->tail);
    if (m->tasks) call->host->parallel(call->host, m->tasks, work, m);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_map_f32 = {
    .id       = HOLO_KERNEL_map_f32,
    .name     = "map_f32",
    .job_size = sizeof(Map),
    .prepare  = prepare,
    .run      = run,
};
