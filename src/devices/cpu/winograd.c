// winograd.c - 3x3 convolutions with channels last by tiles of 4x4 or 2x2 pixels. The tiles are transformed, multiplied
// with the weights in 36 or 16 products, and transformed back (see kernels/f32/winograd_f32.c).
//
// With many tiles of few channels, each task does all of that for some tiles. Otherwise tiles are transformed first, a
// chunk at a time, and tasks are products of blocks of tiles and filters, so that weights are read once for many tiles.
// Chunks, blocks and tasks depend on the shape alone. Weights that would be large in the file are transformed here
// first, once for each run.
#include "devices/cpu/conv_nhwc.h"
#include "format/params.h"

enum {
    BLOCK_TILES  = 24,      // of a task that does everything
    BLOCK_FLOATS = 1 << 17, // of its tiles: they stay in the second cache
    CHUNK_FLOATS = 1 << 20, // tiles that are transformed first
    SUM_FLOATS   = 1 << 17, // of the products of a task
    SLAB         = 64,      // filters of a task; half of that if there are few tasks
    SPACING      = 16,      // floats between places, and between tiles that are
    ALIKE        = 512,     // this far apart, so that cache lines differ
};

bool holo_winograd_fits(const HoloConvNhwc *c)
{
    const HoloConvShape *s = &c->shape;
    if (c->groups != 1 || s->kernel[0] != 1 || s->kernel[1] != 3 || s->kernel[2] != 3) return false;
    for (int d = 0; d < 3; d++)
        if (s->stride[d] != 1 || s->dilation[d] != 1) return false;
    return s->in[0] == 1 && s->out[0] == 1 && s->pad[0] == 0;
}

static HoloConvWinograd winograd_of(const HoloConvNhwc *c)
{
    const HoloConvShape *s = &c->shape;
    HoloConvWinograd     w = {
            .places  = holo_winograd_places(c->tile),
            .columns = holo_ceil_div(s->out[2], c->tile),
            .row     = holo_ceil_div(c->channels, HOLO_PANEL) * HOLO_PANEL,
            .slab    = holo_least(SLAB, holo_ceil_div(c->filters, HOLO_PANEL) * HOLO_PANEL),
    };
    if (w.row % ALIKE == 0) w.row += SPACING;
    w.tiles       = c->batch * holo_ceil_div(s->out[1], c->tile) * w.columns;
    w.alone       = w.tiles >= HOLO_CONV_TASKS * BLOCK_TILES && BLOCK_TILES * w.places * w.row <= BLOCK_FLOATS;
    int64_t chunk = CHUNK_FLOATS / w.places / w.row;
    w.chunk       = w.alone ? w.tiles : holo_least(w.tiles, chunk > BLOCK_TILES ? chunk : BLOCK_TILES);
    w.block       = w.alone ? BLOCK_TILES : holo_least(w.chunk, SUM_FLOATS / w.places / w.slab);
    w.block       = holo_ceil_div(w.chunk, holo_ceil_div(w.chunk, w.block)); // of equal sizes
    w.slabs       = holo_ceil_div(c->filters, w.slab);
    w.blocks      = holo_ceil_div(w.chunk, w.block);
    if (!w.alone && w.blocks * w.slabs < HOLO_CONV_TASKS && w.slab > SLAB / 2) {
        w.slab  = SLAB / 2;
        w.slabs = holo_ceil_div(c->filters, w.slab);
    }
    if (!w.alone && w.blocks * w.slabs < HOLO_CONV_TASKS && w.block >= 2 * HOLO_PANEL) {
        w.block  = holo_ceil_div(w.block, 2);
        w.blocks = holo_ceil_div(w.chunk, w.block);
    }
    w.place     = (w.alone ? w.block : w.chunk) * w.row + SPACING;
    w.sum_place = w.block * w.slab + SPACING;
    return w;
}

size_t holo_winograd_prepare(HoloConvNhwc *c)
{
    HoloConvWinograd w = winograd_of(c);
    size_t size = c->transforms ? (size_t)holo_panels_size(w.places, c->channels, c->filters) / sizeof(float) : 0;
    c->winograd = w;
    return (size_t)(HOLO_GEMM_SCRATCH + w.places * (w.place + w.sum_place)) + size;
}

// A worker's memory: that of the matrix product, sums, tiles.
static float *sums_at(const HoloConvNhwc *c, int worker)
{
    return holo_cpu_kernel_scratch(c->host, worker) + HOLO_GEMM_SCRATCH;
}

static float *tiles_at(const HoloConvNhwc *c, int worker)
{
    return sums_at(c, worker) + c->winograd.places * c->winograd.sum_place;
}

static void transform(const HoloConvNhwc *c, float *tiles, int64_t first, int64_t end)
{
    const HoloConvWinograd *w    = &c->winograd;
    HoloWinograd            tile = {
                   .shape    = &c->shape,
                   .tile     = c->tile,
                   .tiles    = tiles,
                   .place    = w->place,
                   .row      = w->row,
                   .pixel    = c->channels,
                   .channels = c->channels,
    };
    c->host->kernels->winograd_in_f32(&tile, c->x, first, end);
}

// The pixels of tiles first <= t < end, and filters from `filter` on.
static void multiply(const HoloConvNhwc *c, const float *tiles, int64_t first, int64_t end, int64_t filter,
                     int64_t filters, int worker)
{
    const HoloConvWinograd *w      = &c->winograd;
    float                  *sums   = sums_at(c, worker);
    int64_t                 panels = holo_ceil_div(c->filters, HOLO_PANEL) * HOLO_PANEL;
    HoloGemm                g      = {
                            .m        = end - first,
                            .n        = holo_ceil_div(filters, HOLO_PANEL) * HOLO_PANEL,
                            .k        = c->channels,
                            .a_row    = w->row,
                            .a_column = 1,
                            .b_panel  = c->channels * HOLO_PANEL,
                            .b_step   = HOLO_PANEL,
                            .c_row    = w->slab,
                            .alpha    = 1,
                            .scratch  = holo_cpu_kernel_scratch(c->host, worker),
    };
    for (int64_t p = 0; p < w->places; p++) {
        g.a      = tiles + p * w->place;
        g.b      = w->weights + (p * panels + filter) * c->channels;
        g.b_next = w->weights + ((p + 1 < w->places ? p + 1 : p) * panels + filter) * c->channels;
        g.c      = sums + p * w->sum_place;
        c->host->kernels->gemm_f32(&g);
    }
    HoloWinograd tile = {
        .shape    = &c->shape,
        .tile     = c->tile,
        .tiles    = sums,
        .place    = w->sum_place,
        .row      = w->slab,
        .pixel    = c->filters,
        .channels = filters,
    };
    HoloFinish finish;
    c->host->kernels->winograd_out_f32(&tile, c->bias ? c->bias + filter : NULL, holo_conv_finish(c, filter, &finish),
                                       first, end, c->out + filter);
}

// The tail over the pixels of tiles first <= t < end: neighboring tiles of a row are neighboring pixels in each of
// their rows.
static void tail(const HoloConvNhwc *c, int64_t first, int64_t end, int64_t filter, int64_t filters, float *scratch)
{
    const HoloConvWinograd *w    = &c->winograd;
    const HoloConvShape    *s    = &c->shape;
    int64_t                 rows = holo_ceil_div(s->out[1], c->tile);
    if (c->has_finish) return;
    for (int64_t t = first, next; t < end; t = next) {
        int64_t row = t / w->columns, x = (t - row * w->columns) * c->tile;
        next          = holo_least(end, (row + 1) * w->columns);
        int64_t width = holo_least((next - t) * c->tile, s->out[2] - x), y = row % rows * c->tile;
        for (int64_t i = 0; i < c->tile && y + i < s->out[1]; i++) {
            int64_t pixel = (row / rows * s->out[1] + y + i) * s->out[2] + x;
            holo_tail_run(&c->tail, c->host, pixel, width, filter, filters, scratch);
        }
    }
}

static void work_alone(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc     *c     = arg;
    const HoloConvWinograd *w     = &c->winograd;
    int64_t                 first = i * w->block, end = holo_least(first + w->block, w->tiles);
    float                  *tiles = tiles_at(c, worker);
    transform(c, tiles, first, end);
    for (int64_t o = 0; o < c->filters; o += w->slab)
        multiply(c, tiles, first, end, o, holo_least(w->slab, c->filters - o), worker);
    tail(c, first, end, 0, c->filters, holo_cpu_kernel_scratch(c->host, worker));
}

static void work_tile(void *arg, int64_t i, int worker)
{
    (void)worker;
    const HoloConvNhwc     *c = arg;
    const HoloConvWinograd *w = &c->winograd;
    transform(c, tiles_at(c, 0) + i * w->row, w->first + i, w->first + i + 1);
}

static void work_block(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc     *c      = arg;
    const HoloConvWinograd *w      = &c->winograd;
    int64_t                 filter = i / w->blocks * w->slab, filters = holo_least(w->slab, c->filters - filter);
    int64_t                 first = w->first + i % w->blocks * w->block, end = holo_least(first + w->block, w->end);
    if (first >= end) return;
    multiply(c, tiles_at(c, 0) + (first - w->first) * w->row, first, end, filter, filters, worker);
    tail(c, first, end, filter, filters, holo_cpu_kernel_scratch(c->host, worker));
}

// The transformed weights, behind everything else in the memory of the first worker.
static float *weights_at(const HoloConvNhwc *c)
{
    return tiles_at(c, 0) + c->winograd.places * c->winograd.place;
}

static void work_weights(void *arg, int64_t i, int worker)
{
    (void)worker;
    const HoloConvNhwc *c      = arg;
    int64_t             panels = holo_ceil_div(c->filters, HOLO_PANEL), panel = c->channels * HOLO_PANEL;
    c->host->kernels->winograd_weights_f32(c->channels, holo_weights_at(c->w, i * 9 * panel, c->narrow), c->narrow,
                                           weights_at(c) + i * panel, panels * panel);
}

void holo_winograd_run(HoloConvNhwc *c)
{
    HoloConvWinograd *w    = &c->winograd;
    const HoloHost   *host = c->host;
    w->weights             = c->transforms ? weights_at(c) : c->w;
    if (c->transforms) host->parallel(host, holo_ceil_div(c->filters, HOLO_PANEL), work_weights, c);
    if (w->alone) {
        host->parallel(host, w->blocks, work_alone, c);
        return;
    }
    for (w->first = 0; w->first < w->tiles; w->first = w->end) {
        w->end = holo_least(w->first + w->chunk, w->tiles);
        host->parallel(host, w->end - w->first, work_tile, c);
        host->parallel(host, w->blocks * w->slabs, work_block, c);
    }
}
