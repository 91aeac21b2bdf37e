// kernel_softmax_f32.c - Softmax and LogSoftmax of f32 over the last axes, with rows as tasks, or over an axis before
// them, with strips of columns as tasks.
#include "base/math/math.h"
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <string.h>

enum { TASK_WORK = 1 << 14, STRIP = 16 }; // elements that are worth a task; columns that go together

typedef struct Rows {
    const HoloHost *host;
    const float    *x;
    float          *out;
    int64_t         count, size, tile; // rows, elements of a row, rows of a task
    int64_t         columns, tiles; // if rows are not the last axes: elements behind each, and tasks of `tile` of them
    int64_t         tasks;
    bool            is_log;
} Rows;

static HoloStatus params_read(const HoloCall *call, int rank, HoloSoftmaxParams *out)
{
    size_t size = call->params_size < sizeof *out ? call->params_size : sizeof *out;
    *out        = (HoloSoftmaxParams){0};
    if (!holo_cpu_kernel_has_params(call, 2 * sizeof(uint32_t)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of softmax_f32");
    memcpy(out, call->params, size);
    bool fits = out->axes <= (uint32_t)rank && out->kept <= out->axes && out->flags <= HOLO_SOFTMAX_LOG;
    if (!fits) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of softmax_f32");
    return HOLO_OK;
}

static HoloStatus rows_init(const HoloCall *call, Rows *r)
{
    const HoloTensor *x = holo_in(call, 0), *out = holo_out(call, 0);
    HoloSoftmaxParams params;
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", 0, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", x->rank, x->rank));
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] != out->dim[d]) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the output has another shape");
    HOLO_TRY(params_read(call, x->rank, &params));
    *r = (Rows){.host = call->host, .columns = 1, .tiles = 1};
    if (!holo_tensor_count(x)) return HOLO_OK;
    int axis = x->rank - (int)params.axes, end = x->rank - (int)params.kept;
    r->is_log  = params.flags & HOLO_SOFTMAX_LOG;
    r->count   = holo_product(axis, x->dim);
    r->size    = holo_product(end - axis, x->dim + axis);
    r->columns = holo_product(x->rank - end, x->dim + end);
    r->tile    = holo_ceil_div(TASK_WORK, r->size);
    if (r->columns == 1) return HOLO_OK;
    r->tile  = holo_least(holo_ceil_div(r->tile, STRIP) * STRIP, r->columns);
    r->tiles = holo_ceil_div(r->columns, r->tile);
    return HOLO_OK;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Rows *r = job;
    (void)out_scratch;
    HOLO_TRY(rows_init(call, r));
    r->tasks = r->columns > 1 ? r->count * r->tiles : r->count ? holo_ceil_div(r->count, r->tile) : 0;
    return HOLO_OK;
}

static void log_rows(const Rows *r, int64_t from, int64_t count)
{
    enum { BLOCK = 64 };
    float tops[BLOCK], sums[BLOCK];
    for (int64_t end = from + count; from < end; from += BLOCK) {
        int64_t rows = holo_least(BLOCK, end - from), at = from * r->size;
        r->host->kernels->softmax_sums_f32(rows, r->size, r->x + at, tops, sums);
        for (int64_t i = 0; i < rows; i++, at += r->size)
            r->host->kernels->shift_f32(r->size, r->x + at, tops[i], (float)holo_log((double)sums[i]), r->out + at);
    }
}

static void work(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Rows *r = arg;
    if (r->columns > 1) {
        int64_t first = i % r->tiles * r->tile, at = i / r->tiles * r->size * r->columns + first;
        int64_t count = holo_least(r->tile, r->columns - first);
        r->host->kernels->softmax_columns_f32(r->size, count, r->x + at, r->columns, r->is_log, r->out + at);
        return;
    }
    int64_t from = i * r->tile, count = holo_least(r->tile, r->count - from);
    if (r->is_log)
        log_rows(r, from, count);
    else
        r->host->kernels->softmax_f32(count, r->size, r->x + from * r->size, r->out + from * r->size);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Rows *r = job;
    r->x    = call->in[0]->data;
    r->out  = call->out[0]->data;
    if (r->tasks) call->host->parallel(call->host, r->tasks, work, r);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_softmax_f32 = {
    .id       = HOLO_KERNEL_softmax_f32,
    .name     = "softmax_f32",
    .job_size = sizeof(Rows),
    .prepare  = prepare,
    .run      = run,
};
