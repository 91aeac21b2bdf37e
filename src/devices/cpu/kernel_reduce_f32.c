// kernel_reduce_f32.c - reductions of f32: over the last axes, with rows as tasks; or over axes before kept ones, with
// columns as tasks.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

enum { TASK_WORK = 1 << 16 }; // elements that are worth a task
// The fewest panels of columns of a task, if there are enough for two tasks: short runs are slow to read from memory.
enum { TASK_PANELS = 4, TASK_PANELS_FAR = 32, FAR = 1 << 18 }; // FAR: elements that no nearby cache holds

typedef struct Rows {
    const HoloHost *host;
    const float    *x;
    float          *out;
    uint32_t        op;
    int64_t         count, size, tile;   // rows, elements of one, rows of a task
    int64_t         columns;             // 0: rows; else those behind the axes, of each of `count` matrices
    int64_t         tile_columns, tiles; // of a task; tasks of a matrix
    int64_t         tasks;
    bool            is_empty; // nothing comes out
} Rows;

static HoloStatus rows_init(const HoloCall *call, Rows *r)
{
    const HoloTensor       *x = holo_in(call, 0), *out = holo_out(call, 0);
    const HoloReduceParams *params = call->params;
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", 0, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", 0, HOLO_MAX_RANK));
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->axes > (uint32_t)x->rank ||
        params->kept > (uint32_t)x->rank - params->axes || params->op >= HOLO_REDUCE_OPS)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of reduce_f32");
    int axis     = x->rank - (int)params->kept - (int)params->axes;
    *r           = (Rows){.host = call->host, .op = params->op};
    r->count     = holo_product(axis, x->dim);
    r->size      = holo_product((int)params->axes, x->dim + axis);
    r->tile      = r->size ? holo_ceil_div(TASK_WORK, r->size) : TASK_WORK;
    int64_t outs = r->count;
    if (params->kept) {
        r->columns      = holo_product((int)params->kept, x->dim + x->rank - params->kept);
        int64_t tiles   = holo_ceil_div(r->tile, HOLO_PANEL);
        int64_t least   = r->columns && r->size > FAR / r->columns ? TASK_PANELS_FAR : TASK_PANELS;
        int64_t panels  = holo_least(least, holo_ceil_div(r->columns, 2 * HOLO_PANEL));
        r->tile_columns = (panels > tiles ? panels : tiles) * HOLO_PANEL;
        outs *= r->columns;
    }
    if (outs != holo_tensor_count(out))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the output does not have as many elements as there are rows");
    return HOLO_OK;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Rows *r = job;
    (void)out_scratch;
    HOLO_TRY(rows_init(call, r));
    r->is_empty = !holo_tensor_count(call->out[0]);
    if (r->is_empty) return HOLO_OK;
    r->tiles = r->columns ? holo_ceil_div(r->columns, r->tile_columns) : 0;
    r->tasks = r->columns ? r->count * r->tiles : holo_ceil_div(r->count, r->tile);
    return HOLO_OK;
}

static void work(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Rows *r    = arg;
    int64_t     from = i * r->tile, count = holo_least(r->tile, r->count - from);
    r->host->kernels->reduce_f32(r->op, count, r->size, r->x + from * r->size, r->out + from);
}

static void work_columns(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Rows *r      = arg;
    int64_t     matrix = i / r->tiles, first = i % r->tiles * r->tile_columns;
    int64_t     count = holo_least(r->tile_columns, r->columns - first);
    r->host->kernels->reduce_columns_f32(r->op, r->size, count, r->x + matrix * r->size * r->columns + first,
                                         r->columns, r->out + matrix * r->columns + first);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Rows *r = job;
    if (r->is_empty) return HOLO_OK;
    if (!r->size) return holo_op_eval(call); // the operator says what the reduction of nothing is
    r->x   = call->in[0]->data;
    r->out = call->out[0]->data;
    call->host->parallel(call->host, r->tasks, r->columns ? work_columns : work, r);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_reduce_f32 = {
    .id       = HOLO_KERNEL_reduce_f32,
    .name     = "reduce_f32",
    .job_size = sizeof(Rows),
    .prepare  = prepare,
    .run      = run,
};
