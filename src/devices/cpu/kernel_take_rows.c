// kernel_take_rows.c - TakeRows: rows of a table, which is packed as the weights of a product, or plain.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "format/small_float.h"
#include "kernels/kernels.h"
#include "ops/hologram/rows_op.h"
#include "ops/move.h"

enum { TASK_WORK = 1 << 14 }; // elements that are worth a task

typedef struct Job {
    const HoloCall *call;
    HoloTakenRows   rows;
    uint32_t        flags;
    int64_t         panel_bytes; // of 16 rows, if the table is packed
    int64_t         count, tile, tasks;
    int64_t        *row; // when running: the number of each row, checked
} Job;

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const Job *j = job;
    int64_t    size, panels = holo_ceil_div(call->in[HOLO_ROWS_TABLE]->dim[0], HOLO_PANEL);
    if (input != HOLO_ROWS_TABLE || !(j->flags & HOLO_TAKE_ROWS_PACKED)) return -1;
    return __builtin_mul_overflow(j->panel_bytes, panels, &size) ? -1 : size;
}

// Codes with a book are for products alone.
static bool flags_are_valid(uint32_t flags)
{
    const uint32_t known = HOLO_TAKE_ROWS_PACKED | HOLO_WEIGHTS_F16 | HOLO_WEIGHTS_BF16;
    return !(flags & ~known) && holo_weights_are_valid(flags, HOLO_TAKE_ROWS_PACKED);
}

static HoloStatus operands_check(const HoloCall *call, const Job *j)
{
    const HoloTensor *at = holo_in(call, HOLO_ROWS_AT), *y = holo_out(call, 0);
    bool              ok =
        at && at->kind == HOLO_TENSOR && (at->dtype == HOLO_I64 || at->dtype == HOLO_I32) && holo_tensor_count(at) >= 0;
    HOLO_TRY(holo_cpu_kernel_expect(call, y, "the output", 1, HOLO_MAX_RANK));
    ok = ok && y->rank == at->rank + 1 && y->dim[at->rank] == j->rows.count;
    for (int d = 0; ok && d < at->rank; d++) ok = y->dim[d] == at->dim[d];
    return ok ? HOLO_OK : holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of take_rows");
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Job                      *j      = job;
    const HoloTakeRowsParams *params = call->params;
    const HoloTensor         *table  = holo_in(call, HOLO_ROWS_TABLE);
    (void)out_scratch;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || !flags_are_valid(params->flags))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of take_rows");
    bool ok =
        table && table->kind == HOLO_TENSOR && table->rank == 2 && holo_tensor_count(table) >= 0 &&
        (table->dtype == HOLO_F32 || table->dtype == HOLO_F16 || table->dtype == HOLO_BF16 || table->dtype == HOLO_U8);
    if (!ok) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the table of take_rows has another type");
    HOLO_TRY(holo_rows_sizes(call, table, &j->rows));
    HOLO_TRY(operands_check(call, j));
    j->flags = params->flags;
    if (j->rows.type)
        j->panel_bytes = holo_block_panel_bytes(j->rows.type, j->rows.count);
    else
        j->panel_bytes = holo_weights_size(holo_panels_size(1, j->rows.count, HOLO_PANEL), j->flags);
    bool packed = j->flags & HOLO_TAKE_ROWS_PACKED;
    if (packed && (j->panel_bytes < 0 || packed_size(call, j, HOLO_ROWS_TABLE) < 0))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "packed weights are too large");
    if (j->rows.type && j->flags & HOLO_WEIGHTS_NARROW)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of take_rows");
    j->count = holo_tensor_count(call->in[HOLO_ROWS_AT]);
    j->tile  = holo_ceil_div(TASK_WORK, j->rows.count > 0 ? j->rows.count : 1);
    j->tasks = j->rows.count ? holo_ceil_div(j->count, j->tile) : 0;
    return HOLO_OK;
}

// Row `row` of panels of plain numbers: every 16th of its panel.
static void panel_row(const Job *j, const char *panel, int64_t row, float *out)
{
    const uint16_t *few = (const uint16_t *)(const void *)panel + row % HOLO_PANEL;
    const float    *one = (const float *)(const void *)panel + row % HOLO_PANEL;
    for (int64_t i = 0; i < j->rows.count; i++) {
        if (j->flags & HOLO_WEIGHTS_F16)
            out[i] = holo_f16_decode(few[i * HOLO_PANEL]);
        else if (j->flags & HOLO_WEIGHTS_BF16)
            out[i] = holo_bf16_to_f32(few[i * HOLO_PANEL]);
        else
            out[i] = one[i * HOLO_PANEL];
    }
}

static void work(void *arg, int64_t i, int worker)
{
    const Job        *j     = arg;
    const HoloTensor *table = j->call->in[HOLO_ROWS_TABLE];
    float            *out   = (float *)holo_out(j->call, 0)->data + i * j->tile * j->rows.count;
    (void)worker;
    for (int64_t n = i * j->tile, end = holo_least(n + j->tile, j->count); n < end; n++, out += j->rows.count) {
        int64_t     row   = j->row[n];
        const char *panel = (const char *)table->data + row / HOLO_PANEL * j->panel_bytes;
        if (!(j->flags & HOLO_TAKE_ROWS_PACKED))
            holo_rows_read(&j->rows, table, row, out);
        else if (j->rows.type)
            holo_block_panel_row(j->rows.type, j->rows.count, (const uint8_t *)panel, (int)(row % HOLO_PANEL), out);
        else
            panel_row(j, panel, row, out);
    }
}

static HoloStatus run(HoloCall *call, void *job)
{
    Job *j = job;
    if (!j->tasks) return HOLO_OK;
    j->call = call;
    HOLO_TRY(holo_call_temp(call, (size_t)j->count, sizeof *j->row, (void **)&j->row));
    for (int64_t i = 0; i < j->count; i++)
        HOLO_TRY(
            holo_index(call, holo_get_i(call->in[HOLO_ROWS_AT], i), call->in[HOLO_ROWS_TABLE]->dim[0], &j->row[i]));
    call->host->parallel(call->host, j->tasks, work, j);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_take_rows = {
    .id          = HOLO_KERNEL_take_rows,
    .name        = "take_rows",
    .job_size    = sizeof(Job),
    .prepare     = prepare,
    .run         = run,
    .packed_size = packed_size,
};
