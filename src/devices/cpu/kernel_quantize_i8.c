// kernel_quantize_i8.c - QuantizeLinear and DequantizeLinear between f32 and 8-bit integers, with one scale for all
// elements or for each index of an axis with long runs behind it; and DynamicQuantizeLinear.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <math.h>

enum { PARTS = 64, PART_LEAST = 1 << 14 }; // of a tensor, and elements that are worth a task

typedef struct Quantize {
    const HoloHost   *host;
    const HoloTensor *x, *scale, *zero; // zero NULL: 0
    HoloTensor       *y;                // NULL: not wanted
    int64_t           count, run, part; // run: neighboring elements with the same scale
    int64_t           parts, scales;
    bool              dynamic, back; // back: from integers to floats
    float             low[PARTS], high[PARTS], one_scale;
    int               one_zero;
} Quantize;

static bool is_8(const HoloTensor *t)
{
    return t && (t->dtype == HOLO_I8 || t->dtype == HOLO_U8);
}

static bool is_tensor(const HoloTensor *t)
{
    return t && t->kind == HOLO_TENSOR && t->rank >= 0 && holo_tensor_count(t) >= 0;
}

static HoloStatus refuse(const HoloCall *call)
{
    return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of quantize_i8");
}

static HoloStatus dynamic_check(const HoloCall *call, const Quantize *q)
{
    const HoloTensor *scale = holo_out(call, 1), *zero = holo_out(call, 2);
    if (q->x->dtype != HOLO_F32 || (q->y && q->y->dtype != HOLO_U8) ||
        (scale && !holo_cpu_kernel_is_line(scale, HOLO_F32, HOLO_ONE)) ||
        (zero && !holo_cpu_kernel_is_line(zero, HOLO_U8, HOLO_ONE)))
        return refuse(call);
    return HOLO_OK;
}

static HoloStatus scales_check(const HoloCall *call, Quantize *q)
{
    const HoloTensor *eight = q->back ? q->x : q->y, *real = q->back ? q->y : q->x;
    int64_t           axis = q->x->rank == 1 ? 0 : holo_attr_int(call, "axis", 1);
    q->scale               = holo_in(call, 1);
    q->zero                = holo_in(call, 2);
    if (!q->y || !is_8(eight) || real->dtype != HOLO_F32 || !is_tensor(q->scale) || q->scale->dtype != HOLO_F32 ||
        holo_attr_int(call, "block_size", 0))
        return refuse(call);
    if (q->zero && (!is_tensor(q->zero) || q->zero->dtype != eight->dtype ||
                    holo_tensor_count(q->zero) != holo_tensor_count(q->scale)))
        return refuse(call);
    q->run = q->count;
    if (holo_tensor_count(q->scale) == 1) return HOLO_OK;
    if (axis < 0) axis += q->x->rank;
    if (axis < 0 || axis >= q->x->rank || q->scale->rank != 1 || q->scale->dim[0] != q->x->dim[axis])
        return refuse(call);
    q->run = holo_product(q->x->rank - (int)axis - 1, q->x->dim + axis + 1);
    return HOLO_OK;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Quantize                   *q      = job;
    const HoloQuantizeI8Params *params = call->params;
    (void)out_scratch;
    *q         = (Quantize){.host = call->host, .x = holo_in(call, 0), .y = holo_out(call, 0)};
    q->dynamic = holo_op_is(call->op, HOLO_ID_DynamicQuantizeLinear);
    q->back    = (call->op->flags & HOLO_OP_DEQUANTIZES) != 0;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags) return refuse(call);
    if (!q->dynamic && !q->back && !(call->op->flags & HOLO_OP_QUANTIZES)) return refuse(call);
    if (!is_tensor(q->x) || (q->y && (!is_tensor(q->y) || holo_tensor_count(q->y) != holo_tensor_count(q->x))))
        return refuse(call);
    q->count = holo_tensor_count(q->x);
    HOLO_TRY(q->dynamic ? dynamic_check(call, q) : scales_check(call, q));
    q->part = holo_ceil_div(q->count, PARTS);
    if (q->part < PART_LEAST) q->part = PART_LEAST;
    q->parts  = holo_ceil_div(q->count, q->part);
    q->scales = q->scale ? holo_tensor_count(q->scale) : 1;
    return HOLO_OK;
}

static void work_range(void *arg, int64_t i, int worker)
{
    Quantize *q = arg;
    (void)worker;
    q->low[i] = q->high[i] = 0; // the range always includes 0
    q->host->kernels->range_f32(holo_least(q->part, q->count - i * q->part), (const float *)q->x->data + i * q->part,
                                &q->low[i], &q->high[i]);
}

static void run_of(const Quantize *q, int64_t first, int64_t count, float scale, int zero)
{
    const HoloKernelTable *kernels = q->host->kernels;
    if (q->back)
        kernels->dequantize_i8(count, (const uint8_t *)q->x->data + first, q->x->dtype == HOLO_I8, zero, scale,
                               (float *)q->y->data + first);
    else
        kernels->quantize_f32(count, (const float *)q->x->data + first, scale, zero, q->y->dtype == HOLO_I8,
                              (uint8_t *)q->y->data + first);
}

static void work(void *arg, int64_t i, int worker)
{
    const Quantize *q     = arg;
    int64_t         first = i * q->part, end = holo_least(first + q->part, q->count);
    (void)worker;
    while (first < end) {
        int64_t count = q->scale ? holo_least(end, (first / q->run + 1) * q->run) - first : end - first;
        int64_t at    = q->scale ? first / q->run % q->scales : 0;
        run_of(q, first, count, q->scale ? ((const float *)q->scale->data)[at] : q->one_scale,
               q->zero ? (int)holo_get_i(q->zero, at) : q->one_zero);
        first += count;
    }
}

// Divides the range of the input, which always includes 0, into 256 steps.
static void range_find(const HoloCall *call, Quantize *q)
{
    float low = 0, high = 0;
    q->host->parallel(q->host, q->parts, work_range, q);
    for (int64_t i = 0; i < q->parts; i++) {
        low  = q->low[i] < low ? q->low[i] : low;
        high = q->high[i] > high ? q->high[i] : high;
    }
    q->one_scale = (high - low) / 255;
    if (q->one_scale == 0) q->one_scale = 1; // all zeros: any scale will do
    float at    = nearbyintf(-low / q->one_scale);
    q->one_zero = at > 255 ? 255 : at > 0 ? (int)at : 0;
    if (holo_out(call, 1)) holo_put_f(call->out[1], 0, (double)q->one_scale);
    if (holo_out(call, 2)) holo_put_f(call->out[2], 0, q->one_zero);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Quantize *q = job;
    if (q->dynamic) range_find(call, q);
    if (q->y) q->host->parallel(q->host, q->parts, work, q);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_quantize_i8 = {
    .id       = HOLO_KERNEL_quantize_i8,
    .name     = "quantize_i8",
    .job_size = sizeof(Quantize),
    .prepare  = prepare,
    .run      = run,
};
