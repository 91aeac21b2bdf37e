// conv_runs.c - convolutions of few channels or few filters, channels last, without groups. Tasks are rows of pixels,
// and the images are read in place (kernels/f32/runs_nhwc_f32.c).
#include "devices/cpu/conv_nhwc.h"

enum {
    DIRECT_CHANNELS = 16,      // with fewer, gathering for a product would take longer than the product
    DIRECT_FILTERS  = 64,      // most filters
    FEW_FILTERS     = 8,       // most filters
    FEW_FLOATS      = 1 << 16, // of filters, as few_nhwc_f32 takes them
    FEW_ENDING      = 6,       // multiplications that the sum over a vector's lanes costs
    TAIL_PIXELS     = 64,      // fewest pixels before the tail sees them, if there are as many
};

static int64_t line_floats(const HoloConvNhwc *c)
{
    return holo_ceil_div(c->shape.kernel[2] * c->channels, HOLO_PANEL) * HOLO_PANEL;
}

// Is what a row of the filter sees of a pixel one run?
static bool has_runs(const HoloConvNhwc *c)
{
    return c->groups == 1 && !c->by_tiles && (c->shape.dilation[2] == 1 || c->shape.kernel[2] == 1);
}

bool holo_conv_few_fits(const HoloConvNhwc *c)
{
    if (!has_runs(c) || c->filters > FEW_FILTERS || c->k > FEW_FLOATS) return false;
    int64_t floats = c->shape.kernel[0] * c->shape.kernel[1] * line_floats(c);
    return c->filters * floats <= FEW_FLOATS && c->filters * (floats / HOLO_PANEL + FEW_ENDING) < c->k;
}

bool holo_conv_runs_fits(const HoloConvNhwc *c)
{
    return holo_conv_few_fits(c) || (has_runs(c) && !c->narrow && c->k <= HOLO_GEMM_K &&
                                     c->channels < DIRECT_CHANNELS && c->filters <= DIRECT_FILTERS);
}

size_t holo_conv_runs_prepare(HoloConvNhwc *c)
{
    HoloConvRuns *r     = &c->runs;
    double        tasks = (double)c->pixels * (double)c->filters * (double)c->k / HOLO_CONV_WORK;
    if (tasks > 2 * HOLO_CONV_TASKS) tasks = 2 * HOLO_CONV_TASKS;
    r->is_few      = holo_conv_few_fits(c);
    r->rows        = c->pixels / c->shape.out[2];
    r->tile        = holo_ceil_div(r->rows, tasks < 1 ? 1 : (int64_t)tasks);
    r->line        = line_floats(c);
    int64_t floats = r->is_few ? c->filters * c->shape.kernel[0] * c->shape.kernel[1] * r->line : 0;
    return (size_t)floats + holo_tail_scratch(c->tail.program);
}

// Unpacks filters from a panel [place][channel][16], one after the other, each row of places padded to a multiple of
// 16.
static void filters_unpack(const HoloConvNhwc *c, float *out)
{
    int64_t run = c->shape.kernel[2] * c->channels, lines = c->shape.kernel[0] * c->shape.kernel[1];
    for (int64_t o = 0; o < c->filters; o++)
        for (int64_t l = 0; l < lines; l++, out += c->runs.line) {
            for (int64_t k = 0; k < c->runs.line; k++)
                out[k] = k < run ? holo_conv_weight(c, (l * run + k) * HOLO_PANEL + o) : 0;
        }
}

static void work(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc *c       = arg;
    const HoloConvRuns *r       = &c->runs;
    float              *scratch = holo_cpu_kernel_scratch(c->host, worker), *filters = NULL;
    int64_t             row = i * r->tile, end = holo_least(row + r->tile, r->rows), width = c->shape.out[2];
    if (r->is_few) {
        filters = scratch + holo_tail_scratch(c->tail.program);
        filters_unpack(c, filters);
    }
    HoloRunsNhwc runs = {
        .shape    = &c->shape,
        .channels = c->channels,
        .filters  = c->filters,
        .image    = c->x,
        .filter   = r->is_few ? filters : c->w,
        .bias     = c->bias,
        .out      = c->out,
    };
    for (int64_t rows; row < end; row += rows) {
        rows = holo_least(holo_ceil_div(TAIL_PIXELS, width), end - row);
        if (r->is_few)
            c->host->kernels->few_nhwc_f32(&runs, row, row + rows);
        else
            c->host->kernels->direct_nhwc_f32(&runs, row, row + rows);
        holo_tail_run(&c->tail, c->host, row * width, rows * width, 0, c->filters, scratch);
    }
}

void holo_conv_runs_run(HoloConvNhwc *c)
{
    c->host->parallel(c->host, holo_ceil_div(c->runs.rows, c->runs.tile), work, c);
}
