// kernel_resize_f32.c - linear and cubic Resize and Upsample of f32. A task is some rows of the output along the first
// axis that changes. The input rows that it needs are first resized along their other axes, the last axis first, and
// are then mixed. The tables of elements and weights are the operator's, in float. Two neighboring linear axes are
// resized at once.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"
#include "ops/standard/resize.h"

#include <limits.h>

enum { TASK_WORK = 1 << 15, TASK_ROWS = 8, LANES = 16 }; // of a task: elements of the output, or at least so many rows

typedef struct Axis {
    int64_t  in, out, taps; // taps 0: it stays as it is
    int64_t  inner;         // elements of the output behind it
    bool     is_line;       // it is the last of more than one element: tables are [taps][line], else [out][taps]
    int64_t  line;
    int32_t *index;
    float   *weight;
} Axis;

typedef struct Resize {
    const HoloHost *host;
    const float    *x;
    float          *y;
    int             rank, first; // first: axis that changes
    bool            blends;      // that and the next change, linearly, and no others
    Axis            axis[HOLO_MAX_RANK];
    int64_t         rest_in;      // elements of the input behind the first axis
    int64_t         chunks, rows; // of a plane, of a chunk
    int64_t         tasks;
    int32_t        *index;     // for each worker: those of one row, from the first row of a task on; when running
    float          *work;      // two buffers for each worker; when running
    int64_t         work_size; // of one
    bool            is_read;   // scales and sizes are known before the run, so tables are made
    bool            is_plain;  // left to eval: a copy, or too much memory between two axes
} Resize;

// ---- tables

static HoloStatus take_axis(const HoloCall *call, const HoloResizeAxis *from, Axis *to)
{
    int64_t count;
    if (!from->index) return HOLO_OK;
    to->taps = from->taps;
    to->line = to->is_line ? holo_ceil_div(to->out, LANES) * LANES : to->out;
    if (from->in > INT32_MAX || !holo_mul(to->line, to->taps, &count))
        return holo_call_fail(call, HOLO_UNSUPPORTED, "an axis is too long");
    HOLO_TRY(holo_call_hold(call, (size_t)count, sizeof *to->index, (void **)&to->index));
    HOLO_TRY(holo_call_hold(call, (size_t)count, sizeof *to->weight, (void **)&to->weight));
    for (int64_t o = 0; o < to->line; o++)
        for (int64_t t = 0; t < to->taps; t++) {
            int64_t last = to->out - 1, source = (o < last ? o : last) * to->taps + t;
            int64_t at     = to->is_line ? t * to->line + o : o * to->taps + t;
            to->index[at]  = (int32_t)from->index[source];
            to->weight[at] = (float)from->weight[source];
        }
    return HOLO_OK;
}

// The rows of the input that outputs `first` up to `end` of the first axis need.
static void find_rows(const Resize *r, int64_t first, int64_t end, int64_t *out_low, int64_t *out_count)
{
    const Axis *a   = &r->axis[r->first];
    int64_t     low = INT64_MAX, high = 0;
    for (int64_t o = first; o < end; o++)
        for (int64_t t = 0; t < a->taps; t++) {
            int64_t i = a->index[a->is_line ? t * a->line + o : o * a->taps + t];
            low       = i < low ? i : low;
            high      = i > high ? i : high;
        }
    *out_low   = low;
    *out_count = high - low + 1;
}

// The memory that the rows of a task take between two axes. False: it is out of proportion to the tensors.
static bool work_fits(const HoloCall *call, Resize *r)
{
    int64_t rows = 0, low, count, size = r->rest_in, largest = 0, out = r->axis[r->first].out;
    for (int64_t o = 0; o < out; o += r->rows) {
        find_rows(r, o, holo_least(o + r->rows, out), &low, &count);
        rows = count > rows ? count : rows;
    }
    for (int d = r->rank - 1; d > r->first; d--) {
        if (!r->axis[d].taps) continue;
        size = size / r->axis[d].in;
        if (!holo_mul(size, r->axis[d].out, &size)) return false;
        largest = size > largest ? size : largest;
    }
    int64_t most = 1 << 20;
    return holo_mul(largest, rows, &r->work_size) &&
           (r->work_size <= most || r->work_size / 4 <= holo_tensor_count(call->in[0]) ||
            r->work_size / 4 <= holo_tensor_count(call->out[0]));
}

static HoloStatus take_work(const HoloCall *call, Resize *r)
{
    size_t workers = call->host->workers > 1 ? (size_t)call->host->workers : 1;
    HOLO_TRY(holo_call_temp(call, (size_t)r->axis[r->first].taps, workers * sizeof *r->index, (void **)&r->index));
    return holo_call_temp(call, (size_t)r->work_size, 2 * workers * sizeof(float), (void **)&r->work);
}

// ---- values

static void resize_axis(const Resize *r, const Axis *a, int64_t outer, const float *from, float *to)
{
    const HoloPick pick = {a->out, a->in, a->taps, a->line, a->index, a->weight};
    for (int64_t i = 0; i < outer; i++, from += a->in * a->inner, to += a->out * a->inner) {
        if (a->is_line) r->host->kernels->pick_f32(&pick, from, to);
        for (int64_t o = 0; !a->is_line && o < a->out; o++)
            r->host->kernels->mix_f32(a->inner, a->taps, from, a->inner, a->index + o * a->taps,
                                      a->weight + o * a->taps, to + o * a->inner);
    }
}

// Rows of the output from `first` up to `end`: lines, or pixels with more behind them.
static void blend(const Resize *r, int64_t plane, int64_t first, int64_t end)
{
    const Axis    *a = &r->axis[r->first], *last = a + 1;
    const HoloPick pick = {last->out, last->in, 2, last->line, last->index, last->weight};
    for (int64_t o = first; o < end; o++) {
        const int32_t *index  = a->index + 2 * o;
        const float   *weight = a->weight + 2 * o, *rows = r->x + plane * a->in * r->rest_in;
        float         *out = r->y + (plane * a->out + o) * a->inner;
        HoloBlend      b   = {.across = last->is_line ? &pick : NULL,
                              .n      = last->inner,
                              .x      = {rows + index[0] * r->rest_in, rows + index[1] * r->rest_in},
                              .v0     = weight[0],
                              .v1     = weight[1],
                              .out    = out};
        for (int64_t p = 0; p < (last->is_line ? 1 : last->out); p++, b.out += last->inner) {
            b.first  = last->index[2 * p] * last->inner;
            b.second = last->index[2 * p + 1] * last->inner;
            b.w0     = last->weight[2 * p];
            b.w1     = last->weight[2 * p + 1];
            r->host->kernels->blend_f32(&b);
        }
    }
}

static void work(void *arg, int64_t task, int worker)
{
    const Resize *r = arg;
    const Axis   *a = &r->axis[r->first];
    int64_t plane = task / r->chunks, first = task % r->chunks * r->rows, end = holo_least(first + r->rows, a->out);
    int64_t low, count;
    if (a->is_line) { // nothing else changes
        resize_axis(r, a, 1, r->x + plane * a->in, r->y + plane * a->out);
        return;
    }
    if (r->blends) {
        blend(r, plane, first, end);
        return;
    }
    find_rows(r, first, end, &low, &count);
    const float *from = r->x + (plane * a->in + low) * r->rest_in;
    float       *to = r->work + 2 * worker * r->work_size, *next = to + r->work_size;
    for (int d = r->rank - 1; d > r->first; d--) {
        if (!r->axis[d].taps) continue;
        int64_t outer = count;
        for (int k = r->first + 1; k < d; k++) outer *= r->axis[k].in;
        resize_axis(r, &r->axis[d], outer, from, to);
        from = to;
        to   = next;
        next = (float *)from;
    }
    int32_t *index = r->index + worker * a->taps;
    for (int64_t o = first; o < end; o++) {
        for (int64_t t = 0; t < a->taps; t++) index[t] = a->index[o * a->taps + t] - (int32_t)low;
        r->host->kernels->mix_f32(a->inner, a->taps, from, a->inner, index, a->weight + o * a->taps,
                                  r->y + (plane * a->out + o) * a->inner);
    }
}

// Are there two neighboring linear axes, and no others?
static bool can_blend(const HoloResize *how, int rank)
{
    int changed = 0;
    for (int d = 0; d < rank; d++) changed += how->axis[d].index != NULL;
    return how->how.pairs && changed == 2 && how->axis[how->first + 1].index;
}

// Computes all that follows from sizes and from the values of scales.
static HoloStatus read(const HoloCall *call, Resize *r)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    HoloResize        how;
    HOLO_TRY(holo_resize_read(call, &how));
    r->rank     = x->rank;
    r->first    = how.first;
    r->is_plain = r->first == r->rank; // a copy
    if (r->is_plain) return HOLO_OK;
    r->rest_in = holo_product(r->rank - r->first - 1, x->dim + r->first + 1);
    for (int d = 0; d < r->rank; d++) {
        r->axis[d]         = (Axis){.in = x->dim[d], .out = y->dim[d]};
        r->axis[d].inner   = holo_product(r->rank - d - 1, y->dim + d + 1);
        r->axis[d].is_line = r->axis[d].inner == 1 && (d != r->first || r->rest_in == 1);
        HOLO_TRY(take_axis(call, &how.axis[d], &r->axis[d]));
    }
    const Axis *a = &r->axis[r->first];
    r->rows       = a->is_line ? a->out : holo_ceil_div(TASK_WORK, a->inner);
    r->rows       = holo_least(r->rows > TASK_ROWS ? r->rows : TASK_ROWS, a->out);
    r->chunks     = holo_ceil_div(a->out, r->rows);
    r->blends     = can_blend(&how, r->rank);
    r->is_plain   = !r->blends && !work_fits(call, r);
    r->tasks      = holo_product(r->first, x->dim) * r->chunks;
    return HOLO_OK;
}

// The model may compute scales and sizes itself; then each run reads them.
static bool values_are_there(const HoloCall *call)
{
    for (int i = 1; i < call->in_count; i++)
        if (call->in[i] && !call->in[i]->data && holo_tensor_count(call->in[i])) return false;
    return true;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Resize           *r = job;
    const HoloTensor *x = holo_in(call, 0), *y = holo_out(call, 0);
    (void)out_scratch;
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, y, "the output", x->rank, x->rank));
    bool is_upsample = holo_op_is(call->op, HOLO_ID_Upsample);
    if (!holo_cpu_kernel_has_params(call, sizeof(HoloResizeParams)) ||
        (!is_upsample && !holo_op_is(call->op, HOLO_ID_Resize)) || holo_attr_is(call, "mode", "nearest", "nearest") ||
        holo_attr_is(call, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize"))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of resize_f32");
    r->host    = call->host;
    r->is_read = holo_tensor_count(y) && values_are_there(call);
    return r->is_read ? read(call, r) : HOLO_OK;
}

static HoloStatus run(HoloCall *call, void *job)
{
    Resize *r = job;
    if (!holo_tensor_count(call->out[0])) return HOLO_OK; // its sizes may have come with the values of this run
    if (!r->is_read) HOLO_TRY(read(call, r));
    if (r->is_plain) return call->op->eval(call);
    r->x = call->in[0]->data;
    r->y = call->out[0]->data;
    if (!r->blends) HOLO_TRY(take_work(call, r));
    call->host->parallel(call->host, r->tasks, work, r);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_resize_f32 = {
    .id       = HOLO_KERNEL_resize_f32,
    .name     = "resize_f32",
    .job_size = sizeof(Resize),
    .prepare  = prepare,
    .run      = run,
};
