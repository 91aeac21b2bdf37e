// conv_lines.c - convolutions with several places in a row, channels last, by tiles of four pixels of a row: this takes
// half of the multiplications (see kernels/f32/winograd_line_f32.c). Weights are transformed first, once for each run.
//
// A task does some tiles of one image, over all its rows. For one group of places after the other, it transforms what
// the tiles see so that rows of the image are neighbors. The places of a column of the filter are then one run, and a
// product takes all of them at once. Pixels that are a dilation apart are tiles of their own. Tasks depend on the shape
// alone.
#include "devices/cpu/conv_nhwc.h"

enum {
    TILE        = HOLO_WINOGRAD_TILE,
    GROUP       = HOLO_LINE_GROUP,
    PLACES      = HOLO_LINE_PLACES,
    TASK_FLOATS = 1 << 17, // of tiles, and of sums, so that they stay in the second cache
    W_FLOATS    = 5 << 20, // most transformed weights for which this is worth it
    ROWS_LEAST  = 24,      // fewest rows of a product
    SPACING     = 16,      // floats between places, and between rows that are
    ALIKE       = 512,     // this far apart, so that cache lines differ
};

static double product(double a, double b, double c, double d)
{
    return a * b * c * d;
}

// Is it faster than leaving out the padding? An estimate: numbers are multiplications, or the time of as many.
static bool pays(const HoloConvNhwc *c, const HoloConvLines *l)
{
    enum { TRANSFORM = 4, LOAD = 4, GATHER = 2, START = 1 << 14, FEW_ROWS = 8 };
    const HoloConvShape *s     = &c->shape;
    double               tiles = (double)c->batch * (double)s->dilation[2] * (double)l->tiles;
    double               work  = product((double)c->channels, (double)c->filters, (double)s->kernel[1], 1);
    double               six   = PLACES * (double)l->groups;
    double               plain =
        (double)c->pixels * (double)s->kernel[2] * (work + GATHER * (double)s->kernel[1] * (double)c->channels);
    HoloConvRegions regions;
    if (holo_conv_regions(s, c->batch, &regions)) plain *= regions.share;
    double fast = START + six * (tiles * (double)s->out[1] * work + LOAD * work) +
                  TRANSFORM * tiles *
                      (six * (double)l->seen * (double)c->channels + PLACES * (double)s->out[1] * (double)c->filters);
    // Tiles that are not neighbors are products of their own; with few rows these are slower.
    return fast * (l->seen != s->out[1] && s->out[1] < FEW_ROWS ? 1.3 : 1.1) < plain;
}

static HoloConvLines lines_of(const HoloConvNhwc *c)
{
    const HoloConvShape *s = &c->shape;
    HoloConvLines        l = {
               .groups  = holo_ceil_div(s->kernel[2], GROUP),
               .tiles   = holo_ceil_div(holo_ceil_div(s->out[2], s->dilation[2]), TILE),
               .seen    = (s->out[1] - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1,
               .row     = c->channels,
               .runs    = s->dilation[1] == 1 ? 1 : s->kernel[1],
               .filters = holo_ceil_div(c->filters, HOLO_PANEL) * HOLO_PANEL,
    };
    if (s->kernel[1] == 1 && l.row % ALIKE == 0) l.row += SPACING;
    return l;
}

// The tiles of a task: as many as stay in the cache, but few enough for many tasks.
static void cut(const HoloConvNhwc *c, HoloConvLines *l)
{
    const HoloConvShape *s    = &c->shape;
    int64_t              tile = PLACES * l->seen * l->row, sums = PLACES * s->out[1] * l->filters;
    int64_t              most  = holo_least(TASK_FLOATS / tile, TASK_FLOATS / sums);
    int64_t              rows  = c->batch * s->dilation[2]; // of tiles
    int64_t              even  = holo_ceil_div(l->tiles, holo_ceil_div(HOLO_CONV_TASKS, rows));
    int64_t              least = holo_ceil_div(ROWS_LEAST, s->out[1]);
    if (most > even && most > least) most = even > least ? even : least;
    l->blocks    = holo_ceil_div(l->tiles, most);
    l->block     = holo_ceil_div(l->tiles, l->blocks);
    l->place     = l->block * l->seen * l->row + SPACING;
    l->sum_place = l->block * s->out[1] * l->filters + SPACING;
}

bool holo_lines_fits(const HoloConvNhwc *c)
{
    const HoloConvShape *s = &c->shape;
    if (c->groups != 1 || c->by_tiles || holo_winograd_fits(c) || s->kernel[0] != 1 || s->in[0] != 1 ||
        s->out[0] != 1 || s->pad[0] || s->pad[1] < 0 || s->pad[2] < 0 || s->kernel[2] < GROUP || s->stride[2] != 1 ||
        s->dilation[2] > s->out[2] || c->channels < HOLO_PANEL || c->filters < HOLO_PANEL)
        return false;
    HoloConvLines l = lines_of(c);
    return product(PLACES, (double)l.seen, (double)l.row, 1) <= TASK_FLOATS &&
           product(PLACES, (double)s->out[1], (double)l.filters, 1) <= TASK_FLOATS &&
           product((double)(PLACES * l.groups), (double)s->kernel[1], (double)c->channels, (double)l.filters) <=
               W_FLOATS &&
           pays(c, &l);
}

static int64_t weights_place(const HoloConvNhwc *c) // floats of one of the six
{
    return c->shape.kernel[1] * c->channels * c->lines.filters;
}

size_t holo_lines_prepare(HoloConvNhwc *c)
{
    HoloConvLines *l = &c->lines;
    *l               = lines_of(c);
    cut(c, l);
    return (size_t)(HOLO_GEMM_SCRATCH + PLACES * (l->place + l->sum_place + l->groups * weights_place(c)));
}

// A worker's memory: that of the matrix product, sums, tiles. The weights are behind those of the first worker.
static float *sums_at(const HoloConvNhwc *c, int worker)
{
    return holo_cpu_kernel_scratch(c->host, worker) + HOLO_GEMM_SCRATCH;
}

static float *tiles_at(const HoloConvNhwc *c, int worker)
{
    return sums_at(c, worker) + PLACES * c->lines.sum_place;
}

static float *weights_at(const HoloConvNhwc *c)
{
    return tiles_at(c, 0) + PLACES * c->lines.place;
}

static void work_weights(void *arg, int64_t i, int worker)
{
    (void)worker;
    const HoloConvNhwc  *c     = arg;
    const HoloConvShape *s     = &c->shape;
    int64_t              panel = s->kernel[1] * c->channels * HOLO_PANEL;
    c->host->kernels->line_weights_f32(s->kernel[1], s->kernel[2], c->channels,
                                       holo_weights_at(c->w, i * s->kernel[2] * panel, c->narrow), c->narrow,
                                       weights_at(c) + i * panel, weights_place(c));
}

// The products of one group of places with the tiles. Tiles that are neighbors are one product.
static void multiply(const HoloConvNhwc *c, int64_t group, int64_t count, int worker)
{
    const HoloConvLines *l   = &c->lines;
    const HoloConvShape *s   = &c->shape;
    bool                 one = l->seen == s->out[1];
    int64_t              k = s->kernel[1] * c->channels, run = k / l->runs;
    HoloGemm             g = {
                    .m        = one ? count * s->out[1] : s->out[1],
                    .n        = l->filters,
                    .k        = run,
                    .a_row    = s->stride[1] * l->row,
                    .a_column = 1,
                    .b_panel  = k * HOLO_PANEL,
                    .b_step   = HOLO_PANEL,
                    .c_row    = l->filters,
                    .alpha    = 1,
                    .scratch  = holo_cpu_kernel_scratch(c->host, worker),
    };
    for (int64_t p = 0; p < PLACES; p++)
        for (int64_t t = 0; t < (one ? 1 : count); t++)
            for (int64_t y = 0; y < l->runs; y++) {
                g.a      = tiles_at(c, worker) + p * l->place + (t * l->seen + y * s->dilation[1]) * l->row;
                g.b      = weights_at(c) + (group * PLACES + p) * weights_place(c) + y * run * HOLO_PANEL;
                g.c      = sums_at(c, worker) + p * l->sum_place + t * s->out[1] * l->filters;
                g.resume = group || y;
                c->host->kernels->gemm_f32(&g);
            }
}

static void work_tiles(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc  *c     = arg;
    const HoloConvLines *l     = &c->lines;
    const HoloConvShape *s     = &c->shape;
    int64_t              image = i / l->blocks / s->dilation[2], phase = i / l->blocks % s->dilation[2];
    int64_t              first = i % l->blocks * l->block, count = holo_least(l->block, l->tiles - first);
    int64_t              x  = phase + first * TILE * s->dilation[2];
    HoloLineTiles        in = {
               .shape    = s,
               .tiles    = tiles_at(c, worker),
               .place    = l->place,
               .tile     = l->seen * l->row,
               .row      = l->row,
               .rows     = l->seen,
               .pixel    = c->channels,
               .channels = c->channels,
    };
    HoloLineTiles out = {
        .shape    = s,
        .tiles    = sums_at(c, worker),
        .place    = l->sum_place,
        .tile     = s->out[1] * l->filters,
        .row      = l->filters,
        .rows     = s->out[1],
        .pixel    = c->filters,
        .channels = c->filters,
    };
    HoloFinish finish;
    for (int64_t group = 0; group < l->groups; group++) {
        c->host->kernels->line_in_f32(&in, c->x + image * s->in[1] * s->in[2] * c->channels,
                                      x + group * GROUP * s->dilation[2] - s->pad[2], count);
        multiply(c, group, count, worker);
    }
    c->host->kernels->line_out_f32(&out, c->bias, holo_conv_finish(c, 0, &finish), x, count, c->out,
                                   image * s->out[1] * s->out[2] * c->filters);
}

// The tail over one row of the output.
static void work_tail(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc *c     = arg;
    int64_t             width = c->shape.out[2];
    holo_tail_run(&c->tail, c->host, i * width, width, 0, c->filters, holo_cpu_kernel_scratch(c->host, worker));
}

void holo_lines_run(HoloConvNhwc *c)
{
    const HoloHost *host = c->host;
    host->parallel(host, c->lines.filters / HOLO_PANEL, work_weights, c);
    host->parallel(host, c->batch * c->shape.dilation[2] * c->lines.blocks, work_tiles, c);
    if (!c->has_finish) host->parallel(host, c->pixels / c->shape.out[2], work_tail, c);
}
