// kernel_norm_f32.c - LayerNormalization and similar operators, and normalization of groups of channels, for f32.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

enum { TASK_WORK = 1 << 14 }; // elements that are worth a task

typedef struct Norm {
    const HoloHost *host;
    HoloNorm        norm;
    int64_t         channels;    // of a group; layers: 1 group, as many channels as a row has elements
    int64_t         count, tile; // rows, rows of a task
    int64_t         tasks;
} Norm;

// A row is the last axes, with a scale for each element; or a group of channels, with a scale for each channel.
static void rows_init(const HoloTensor *x, const HoloNormParams *params, Norm *n)
{
    int axis = params->axes ? x->rank - (int)params->axes : 2;
    if (params->axes) {
        n->norm.groups = 1;
        n->channels    = holo_product(x->rank - axis, x->dim + axis);
        n->norm.run    = 1;
        n->count       = holo_product(axis, x->dim);
    } else {
        n->norm.groups = params->groups ? params->groups : x->dim[1];
        n->channels    = n->norm.groups ? x->dim[1] / n->norm.groups : 0;
        n->norm.run    = holo_product(x->rank - axis, x->dim + axis);
        n->count       = x->dim[0] * n->norm.groups;
    }
    n->norm.n = n->channels * n->norm.run;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Norm                 *n = job;
    const HoloTensor     *x = holo_in(call, 0), *scale = holo_in(call, 1), *bias = holo_in(call, 2);
    const HoloTensor     *out    = holo_out(call, 0);
    const HoloNormParams *params = call->params;
    n->host                      = call->host;
    (void)out_scratch;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->zero ||
        params->flags & ~(uint32_t)HOLO_NORM_CENTRED)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of norm_f32");
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", params->axes ? 1 : 2, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, scale, "the scale", 0, HOLO_MAX_RANK));
    if (bias) HOLO_TRY(holo_cpu_kernel_expect(call, bias, "the bias", 0, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", x->rank, x->rank));
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] != out->dim[d]) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the output has another shape");
    if (params->axes > (uint32_t)x->rank || (params->groups && (params->axes || x->dim[1] % params->groups)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the input cannot be split into rows");
    if (holo_out(call, 1) || holo_out(call, 2))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "norm_f32 has one output");
    if (!holo_tensor_count(x)) return HOLO_OK;
    rows_init(x, params, n);
    int64_t scales = n->norm.groups * n->channels;
    if (holo_tensor_count(scale) != scales || (bias && holo_tensor_count(bias) != scales))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "scale or bias does not have the %lld elements of the input",
                              (long long)scales);
    n->tile          = holo_ceil_div(TASK_WORK, n->norm.n);
    n->tasks         = holo_ceil_div(n->count, n->tile);
    n->norm.epsilon  = params->epsilon;
    n->norm.centered = params->flags & HOLO_NORM_CENTRED;
    return HOLO_OK;
}

static void work(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Norm *n    = arg;
    int64_t     from = i * n->tile, to = holo_least(from + n->tile, n->count);
    n->host->kernels->norm_f32(&n->norm, from, to);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Norm *n       = job;
    n->norm.x     = call->in[0]->data;
    n->norm.scale = call->in[1]->data;
    n->norm.bias  = holo_in(call, 2) ? call->in[2]->data : NULL;
    n->norm.out   = call->out[0]->data;
    if (n->tasks) call->host->parallel(call->host, n->tasks, work, n);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_norm_f32 = {
    .id       = HOLO_KERNEL_norm_f32,
    .name     = "norm_f32",
    .job_size = sizeof(Norm),
    .prepare  = prepare,
    .run      = run,
};
