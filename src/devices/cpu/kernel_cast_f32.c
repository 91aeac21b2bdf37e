// kernel_cast_f32.c - Cast of 32-bit integers to f32, which makes sums of products of bytes real; and of f16 and bf16
// to f32 and back, for models of narrow types.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

enum { PART = 1 << 15 }; // elements of a task

typedef struct Cast {
    const HoloHost   *host;
    const HoloTensor *x;
    HoloTensor       *y;
    int64_t           count, tasks;
} Cast;

static bool is_pair(HoloDtype x, HoloDtype y)
{
    if (y == HOLO_F32) return x == HOLO_I32 || x == HOLO_F16 || x == HOLO_BF16;
    return x == HOLO_F32 && (y == HOLO_F16 || y == HOLO_BF16);
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Cast                 *c      = job;
    const HoloCastParams *params = call->params;
    const HoloTensor     *x      = holo_in(call, 0);
    HoloTensor           *y      = holo_out(call, 0);
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags || !x || !y || x->kind != HOLO_TENSOR ||
        y->kind != HOLO_TENSOR || !is_pair(x->dtype, y->dtype) || holo_tensor_count(x) < 0 ||
        holo_tensor_count(x) != holo_tensor_count(y))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of cast_f32");
    *c       = (Cast){.host = call->host, .x = x, .y = y, .count = holo_tensor_count(x)};
    c->tasks = holo_ceil_div(c->count, PART);
    (void)out_scratch;
    return HOLO_OK;
}

static void work(void *arg, int64_t i, int worker)
{
    const Cast            *c  = arg;
    const HoloKernelTable *k  = c->host->kernels;
    int64_t                at = i * PART, n = holo_least(PART, c->count - at);
    (void)worker;
    if (c->x->dtype == HOLO_I32)
        k->float_i32(n, (const int32_t *)c->x->data + at, (float *)c->y->data + at);
    else if (c->y->dtype == HOLO_F32)
        (c->x->dtype == HOLO_F16 ? k->widen_f16 : k->widen_bf16)(n, (const uint16_t *)c->x->data + at,
                                                                 (float *)c->y->data + at);
    else
        (c->y->dtype == HOLO_F16 ? k->narrow_f16 : k->narrow_bf16)(n, (const float *)c->x->data + at,
                                                                   (uint16_t *)c->y->data + at);
}

static HoloStatus run(HoloCall *call, void *job)
{
    const Cast *c = job;
    call->host->parallel(call->host, c->tasks, work, job);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_cast_f32 = {
    .id       = HOLO_KERNEL_cast_f32,
    .name     = "cast_f32",
    .job_size = sizeof(Cast),
    .prepare  = prepare,
    .run      = run,
};
