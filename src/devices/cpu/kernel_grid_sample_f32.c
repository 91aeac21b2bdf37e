// kernel_grid_sample_f32.c - linear GridSample of f32 images. A task is some places of one image: their positions and
// the weights of pixels are computed once and serve all channels. eval does everything else.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <limits.h>

enum { PLACES = 512, TAPS = 4 }; // places of a task; a multiple of a vector

typedef struct Sampling {
    const HoloHost *host;
    HoloGrid        grid;   // without the tables, which belong to the worker
    const float    *x, *at; // when running
    float          *out;
    int64_t         channels, places, tasks, all; // places and tasks of an image; all tasks
    bool            is_empty;                     // there is nothing to read
} Sampling;

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Sampling         *s = job;
    const HoloTensor *x = holo_in(call, 0), *at = holo_in(call, 1), *out = holo_out(call, 0);
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", 4, 4));
    HOLO_TRY(holo_cpu_kernel_expect(call, at, "the grid", 4, 4));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", 4, 4));
    bool is_linear = holo_attr_is(call, "mode", "linear", "linear") || holo_attr_is(call, "mode", "linear", "bilinear");
    if (!holo_cpu_kernel_has_params(call, sizeof(HoloGridSampleParams)) ||
        !(holo_op_is(call->op, HOLO_ID_GridSample) || holo_op_is(call->op, HOLO_ID_MICROSOFT_GridSample)) || !is_linear)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of grid_sample_f32");
    if (at->dim[0] != x->dim[0] || at->dim[3] != 2 || out->dim[0] != x->dim[0] || out->dim[1] != x->dim[1] ||
        out->dim[2] != at->dim[1] || out->dim[3] != at->dim[2])
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the grid or the output has another shape");
    if (x->dim[2] > INT32_MAX / 2 || x->dim[3] > INT32_MAX / 2 || x->dim[2] * x->dim[3] > INT32_MAX)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "the image is too large for grid_sample_f32");
    *out_scratch    = PLACES * TAPS * (sizeof(int32_t) + sizeof(float));
    s->host         = call->host;
    s->grid.height  = x->dim[2];
    s->grid.width   = x->dim[3];
    s->grid.align   = holo_attr_int(call, "align_corners", 0) != 0;
    s->grid.padding = holo_attr_is(call, "padding_mode", "zeros", "border")       ? HOLO_GRID_BORDER
                      : holo_attr_is(call, "padding_mode", "zeros", "reflection") ? HOLO_GRID_REFLECTION
                                                                                  : HOLO_GRID_ZEROS;
    s->channels     = x->dim[1];
    s->places       = out->dim[2] * out->dim[3];
    s->tasks        = holo_ceil_div(s->places, PLACES);
    s->all          = holo_tensor_count(out) ? x->dim[0] * s->tasks : 0;
    s->is_empty     = !holo_tensor_count(x);
    return HOLO_OK;
}

static void work(void *arg, int64_t i, int worker)
{
    const Sampling *s     = arg;
    int64_t         image = i / s->tasks, first = i % s->tasks * PLACES, n = holo_least(PLACES, s->places - first);
    HoloGrid        grid  = s->grid;
    int64_t         plane = grid.height * grid.width;
    grid.line             = PLACES;
    grid.weight           = holo_cpu_kernel_scratch(s->host, worker);
    grid.index            = (int32_t *)(void *)(grid.weight + PLACES * TAPS);
    s->host->kernels->grid_taps_f32(&grid, s->at + (image * s->places + first) * 2, n);
    for (int64_t c = image * s->channels; c < (image + 1) * s->channels; c++)
        s->host->kernels->grid_sums_f32(&grid, s->x + c * plane, n, s->out + c * s->places + first);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Sampling *s = job;
    if (!s->all) return HOLO_OK;
    if (s->is_empty) return holo_op_eval(call);
    s->x   = call->in[0]->data;
    s->at  = call->in[1]->data;
    s->out = call->out[0]->data;
    call->host->parallel(call->host, s->all, work, s);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_grid_sample_f32 = {
    .id       = HOLO_KERNEL_grid_sample_f32,
    .name     = "grid_sample_f32",
    .job_size = sizeof(Sampling),
    .prepare  = prepare,
    .run      = run,
};
