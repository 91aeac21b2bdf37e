// kernel_pool_f32.c - MaxPool and AveragePool of f32 in 1 to 3 spatial dimensions. Tasks are rows of the output.
#include "devices/cpu/conv_shape.h"
#include "format/params.h"

enum { TASK_WORK = 1 << 16 }; // elements looked at that are worth a task

typedef struct Pool {
    const HoloHost *host;
    HoloConvShape   shape;
    HoloPooling     pool;
    const float    *x;
    float          *out;
    int64_t         lines, plane_in, plane_out; // of one plane
    int64_t         rows, tile, tasks;          // of all planes, and of a task
} Pool;

// If there is nothing to compute, there are no tasks.
static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Pool                 *p = job;
    const HoloTensor     *x = holo_in(call, 0), *out = holo_out(call, 0);
    const HoloPoolParams *params = call->params;
    bool                  ceil   = holo_attr_int(call, "ceil_mode", 0) != 0;
    p->host                      = call->host;
    *out_scratch                 = HOLO_POOL_SCRATCH * sizeof(float);
    if (!holo_cpu_kernel_has_params(call, sizeof *params) ||
        params->flags & ~(HOLO_POOL_MAX | HOLO_POOL_COUNT_PADS | HOLO_POOL_LAST) ||
        (params->flags & HOLO_POOL_COUNT_PADS && ceil))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of pool_f32");
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", 3, 5));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", x->rank, x->rank));
    bool last    = params->flags & HOLO_POOL_LAST;
    int  channel = last ? x->rank - 1 : 1;
    if (out->dim[0] != x->dim[0] || out->dim[channel] != x->dim[channel])
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the output has other planes than the input");
    if (holo_out(call, 1)) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "pool_f32 does not give indices");
    if (!holo_tensor_count(out)) return HOLO_OK;
    HOLO_TRY(holo_conv_shape(call, NULL, last, ceil, &p->shape));
    const HoloConvShape *s    = &p->shape;
    double               taps = (double)s->kernel[0] * (double)s->kernel[1] * (double)s->kernel[2];
    if (taps > HOLO_POOL_TAPS)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "a window has more than %d places", HOLO_POOL_TAPS);
    p->lines     = s->out[0] * s->out[1];
    p->plane_in  = s->in[0] * s->in[1] * s->in[2];
    p->plane_out = p->lines * s->out[2];
    p->rows      = x->dim[0] * (last ? 1 : x->dim[1]) * p->lines;
    p->pool      = (HoloPooling){
             .shape    = s,
             .channels = last ? x->dim[channel] : 1,
             .is_max   = params->flags & HOLO_POOL_MAX,
             .divisor  = params->flags & HOLO_POOL_COUNT_PADS ? (int64_t)taps : 0,
    };
    p->tile  = 1 + (int64_t)(TASK_WORK / (taps * (double)s->out[2] * (double)p->pool.channels));
    p->tasks = holo_ceil_div(p->rows, p->tile);
    return HOLO_OK;
}

static void work(void *arg, int64_t i, int worker)
{
    const Pool *p   = arg;
    int64_t     row = i * p->tile, end = holo_least(row + p->tile, p->rows);
    while (row < end) {
        int64_t     plane = row / p->lines, first = row % p->lines, last = holo_least(p->lines, first + end - row);
        HoloPooling pool = p->pool;
        pool.image       = p->x + plane * p->plane_in * pool.channels;
        pool.out         = p->out + plane * p->plane_out * pool.channels;
        pool.scratch     = holo_cpu_kernel_scratch(p->host, worker);
        p->host->kernels->pool_f32(&pool, first, last);
        row += last - first;
    }
}

static HoloStatus run(HoloCall *call, void *job)
{
    Pool *p = job;
    p->x    = call->in[0]->data;
    p->out  = call->out[0]->data;
    if (p->tasks) call->host->parallel(call->host, p->tasks, work, p);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_pool_f32 = {
    .id       = HOLO_KERNEL_pool_f32,
    .name     = "pool_f32",
    .job_size = sizeof(Pool),
    .prepare  = prepare,
    .run      = run,
};
