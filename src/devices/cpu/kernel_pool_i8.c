// kernel_pool_i8.c - NhwcMaxPool, QLinearAveragePool and QLinearGlobalAveragePool of 8-bit integers with channels last,
// in 1 to 3 spatial dimensions. Tasks are rows of the output; for the last operator they are channels.
#include "devices/cpu/conv_shape.h"
#include "format/params.h"
#include "kernels/kernels.h"

enum { TASK_WORK = 1 << 17, GLOBAL_CHANNELS = 256 }; // elements looked at that are worth a task; channels of one

typedef struct Pool {
    const HoloHost   *host;
    HoloConvShape     shape;
    const HoloTensor *x;
    HoloTensor       *out;
    int64_t           channels, taps, rows, tile, tasks; // rows of the output, over all images
    bool              is_max, is_global, is_signed, count_pads;
    float             x_scale, y_scale; // of a mean, when running
    int               x_zero, y_zero;
} Pool;

// The whole image is one window.
static HoloStatus global_init(const HoloCall *call, Pool *p)
{
    p->taps = holo_product(p->x->rank - 2, p->x->dim + 1);
    if (holo_product(p->out->rank - 2, p->out->dim + 1) != 1 || p->taps < 1 || p->taps > HOLO_POOL_TAPS_I8)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are not those of pool_i8");
    p->rows = p->x->dim[0];
    p->tile = holo_ceil_div(p->channels, GLOBAL_CHANNELS); // tasks of an image
    return HOLO_OK;
}

static HoloStatus pool_init(const HoloCall *call, Pool *p)
{
    const HoloTensor *x = holo_in(call, 0), *y = holo_out(call, 0);
    *p           = (Pool){.host = call->host, .x = x, .out = holo_out(call, 0)};
    p->is_max    = holo_op_is(call->op, HOLO_ID_MICROSOFT_NhwcMaxPool);
    p->is_global = holo_op_is(call->op, HOLO_ID_MICROSOFT_QLinearGlobalAveragePool);
    bool params =
        holo_cpu_kernel_has_params(call, sizeof(HoloPoolI8Params)) && !((const HoloPoolI8Params *)call->params)->flags;
    bool named = p->is_max || ((p->is_global || holo_op_is(call->op, HOLO_ID_MICROSOFT_QLinearAveragePool)) &&
                               holo_attr_int(call, "channels_last", 0));
    bool types = x && y && x->kind == HOLO_TENSOR && y->kind == HOLO_TENSOR && x->dtype == y->dtype &&
                 (x->dtype == HOLO_I8 || x->dtype == HOLO_U8) && x->rank >= 3 && x->rank <= 5 && y->rank == x->rank &&
                 holo_tensor_count(x) >= 0 && holo_tensor_count(y) >= 0;
    if (!params || !named || !types || holo_out(call, 1) || y->dim[0] != x->dim[0] ||
        y->dim[y->rank - 1] != x->dim[x->rank - 1] || holo_attr_int(call, "ceil_mode", 0))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of pool_i8");
    if (!p->is_max && (!holo_cpu_kernel_is_line(holo_in(call, 1), HOLO_F32, HOLO_ONE) ||
                       !holo_cpu_kernel_is_line(holo_in(call, 3), HOLO_F32, HOLO_ONE) ||
                       (holo_in(call, 2) && !holo_cpu_kernel_is_line(call->in[2], x->dtype, HOLO_ONE)) ||
                       (holo_in(call, 4) && !holo_cpu_kernel_is_line(call->in[4], x->dtype, HOLO_ONE))))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "scales or zero points are not those of pool_i8");
    if (!holo_tensor_count(y)) return HOLO_OK;
    p->channels  = x->dim[x->rank - 1];
    p->is_signed = x->dtype == HOLO_I8;
    if (p->is_global) return global_init(call, p);
    HOLO_TRY(holo_conv_shape(call, NULL, true, false, &p->shape));
    const HoloConvShape *s    = &p->shape;
    double               taps = (double)s->kernel[0] * (double)s->kernel[1] * (double)s->kernel[2];
    if (taps > HOLO_POOL_TAPS_I8)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "a window has more than %d places", HOLO_POOL_TAPS_I8);
    p->taps       = (int64_t)taps;
    p->count_pads = holo_attr_int(call, "count_include_pad", 0) != 0;
    p->rows       = x->dim[0] * s->out[0] * s->out[1];
    p->tile       = 1 + (int64_t)(TASK_WORK / (taps * (double)s->out[2] * (double)p->channels));
    return HOLO_OK;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Pool *p = job;
    HOLO_TRY(pool_init(call, p));
    *out_scratch = (size_t)p->taps * sizeof(const uint8_t *);
    if (p->rows) p->tasks = p->is_global ? p->rows * p->tile : holo_ceil_div(p->rows, p->tile);
    return HOLO_OK;
}

// The places of the window, along one dimension, that are inside the image for an output at `at`.
static void inside(const HoloConvShape *s, int d, int64_t at, int64_t *first, int64_t *end)
{
    int64_t start = at * s->stride[d] - s->pad[d], step = s->dilation[d];
    *first = start >= 0 ? 0 : step == 1 ? -start : holo_ceil_div(-start, step);
    *end   = start >= s->in[d] ? 0 : step == 1 ? s->in[d] - start : (s->in[d] - 1 - start) / step + 1;
    if (*end > s->kernel[d]) *end = s->kernel[d];
    if (*first > *end) *first = *end;
}

// One row of the output; `from` has room for a window.
static void row_pool(const Pool *p, int64_t row, const uint8_t **from)
{
    const HoloConvShape *s     = &p->shape;
    int64_t              at[]  = {row / s->out[1] % s->out[0], row % s->out[1]}, first[3], end[3];
    int64_t              image = row / s->out[1] / s->out[0], line = s->in[2] * p->channels;
    const uint8_t       *x    = (const uint8_t *)p->x->data + image * s->in[0] * s->in[1] * line;
    HoloPoolI8           pool = {.n         = p->channels,
                                 .from      = from,
                                 .is_max    = p->is_max,
                                 .is_signed = p->is_signed,
                                 .zero      = p->x_zero,
                                 .y_zero    = p->y_zero,
                                 .scale     = p->x_scale,
                                 .y_scale   = p->y_scale,
                                 .out       = (uint8_t *)p->out->data + row * s->out[2] * p->channels};
    for (int d = 0; d < 2; d++) inside(s, d, at[d], &first[d], &end[d]);
    for (int64_t column = 0; column < s->out[2]; column++, pool.out += p->channels) {
        int64_t start = column * s->stride[2] - s->pad[2];
        inside(s, 2, column, &first[2], &end[2]);
        pool.taps = 0;
        for (int64_t kz = first[0]; kz < end[0]; kz++)
            for (int64_t ky = first[1]; ky < end[1]; ky++) {
                int64_t iz = at[0] * s->stride[0] - s->pad[0] + kz * s->dilation[0];
                int64_t iy = at[1] * s->stride[1] - s->pad[1] + ky * s->dilation[1];
                for (int64_t kx = first[2]; kx < end[2]; kx++)
                    from[pool.taps++] = x + (iz * s->in[1] + iy) * line + (start + kx * s->dilation[2]) * p->channels;
            }
        pool.count = (float)(p->count_pads ? p->taps : pool.taps);
        p->host->kernels->pool_i8(&pool);
    }
}

static void work(void *arg, int64_t i, int worker)
{
    const Pool *p = arg;
    for (int64_t row = i * p->tile; row < (i + 1) * p->tile && row < p->rows; row++)
        row_pool(p, row, (const uint8_t **)(void *)holo_cpu_kernel_scratch(p->host, worker));
}

// The mean over a whole image, for some channels.
static void work_global(void *arg, int64_t i, int worker)
{
    const Pool     *p     = arg;
    const uint8_t **from  = (const uint8_t **)(void *)holo_cpu_kernel_scratch(p->host, worker);
    int64_t         image = i / p->tile, channel = i % p->tile * GLOBAL_CHANNELS;
    const uint8_t  *x = (const uint8_t *)p->x->data + image * p->taps * p->channels + channel;
    for (int64_t t = 0; t < p->taps; t++) from[t] = x + t * p->channels;
    p->host->kernels->pool_i8(&(HoloPoolI8){
        .n         = holo_least(GLOBAL_CHANNELS, p->channels - channel),
        .taps      = p->taps,
        .from      = from,
        .is_whole  = true,
        .is_signed = p->is_signed,
        .zero      = p->x_zero,
        .y_zero    = p->y_zero,
        .scale     = 1,
        .ratio     = p->x_scale / (p->y_scale * (float)p->taps),
        .out       = (uint8_t *)p->out->data + image * p->channels + channel,
    });
}

static HoloStatus run(HoloCall *call, void *job)
{
    Pool *p = job;
    if (!p->tasks) return HOLO_OK;
    if (!p->is_max) {
        p->x_scale = (float)holo_get_f(call->in[1], 0);
        p->y_scale = (float)holo_get_f(call->in[3], 0);
        p->x_zero  = holo_in(call, 2) ? (int)holo_get_i(call->in[2], 0) : 0;
        p->y_zero  = holo_in(call, 4) ? (int)holo_get_i(call->in[4], 0) : 0;
    }
    call->host->parallel(call->host, p->tasks, p->is_global ? work_global : work, p);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_pool_i8 = {
    .id       = HOLO_KERNEL_pool_i8,
    .name     = "pool_i8",
    .job_size = sizeof(Pool),
    .prepare  = prepare,
    .run      = run,
};
