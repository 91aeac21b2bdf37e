// conv_dense.c - convolutions with channels last as matrix products: a row is a pixel with everything that its filter
// sees.
//
// If much of what the filter sees lies in the padding, as with large dilations, pixels that see the same places form a
// region. Each region is a product of its own, with these places alone (conv_regions.h). A task is some lines of a
// region and some filters. Without regions there is one, whose lines are single pixels of all images.
#include "devices/cpu/conv_nhwc.h"

enum {
    TILE_COLUMNS = 512,
    COLUMNS_MIN  = 128, // rows are gathered again for each tile of columns, so tiles are not narrower
    MATRIX_MIN   = 48,  // if rows are not gathered
    NARROW_WIDTH = 7,   // fewest pixels of a line if several lines go at once and weights are narrow
};

// Is each row of the product a row of the images? With one place it always is.
static bool is_matrix(const HoloConvShape *s)
{
    for (int d = 0; d < 3; d++)
        if (s->kernel[d] != 1 || s->stride[d] != 1 || s->pad[d] != 0 || s->in[d] != s->out[d]) return false;
    return true;
}

// ---- cuts: they depend on the shape alone

// How long two workers, and four, take for tiles of so many panels.
static int64_t time_of(int64_t panels, int64_t width, int64_t tiles)
{
    int64_t tasks = holo_ceil_div(panels, width) * tiles;
    return (2 * holo_ceil_div(tasks, 2) + holo_ceil_div(tasks, 4)) * width;
}

// The number of panels of filters in a tile if there are `tiles` tiles of rows.
static int64_t tile_panels(const HoloConvNhwc *c, int64_t tiles)
{
    int64_t panels = holo_ceil_div(c->filters, HOLO_PANEL), least = is_matrix(&c->shape) ? MATRIX_MIN : COLUMNS_MIN;
    int64_t count = holo_ceil_div(c->filters, TILE_COLUMNS), best = holo_ceil_div(holo_ceil_div(panels, 2), count) * 2;
    double  work = (double)c->pixels * (double)c->filters * (double)c->k / HOLO_CONV_WORK / (double)tiles;
    int64_t most = holo_least(holo_ceil_div(HOLO_CONV_TASKS, tiles), c->filters / least);
    if (tiles * count >= HOLO_CONV_TASKS) return best;
    for (; count <= most && (double)count <= work; count++) {
        int64_t width = holo_ceil_div(panels, count);
        if (time_of(panels, width, tiles) < time_of(panels, best, tiles)) best = width;
    }
    return best;
}

static HoloConvRegion region_of(const HoloConvNhwc *c, int64_t i)
{
    HoloConvRegion r = {.is_one = holo_conv_region_count(&c->dense.regions) == 1};
    r.shape          = holo_conv_region(&c->shape, &c->dense.regions, i, r.span);
    r.is_matrix      = is_matrix(&r.shape);
    r.planes         = r.is_one ? 1 : c->batch * r.shape.out[0];
    r.lines          = r.is_one ? c->pixels : r.shape.out[1];
    r.width          = r.is_one ? 1 : r.shape.out[2];
    int64_t lines    = r.width < HOLO_GEMM_ROWS ? HOLO_GEMM_ROWS / r.width : 1;
    if (c->narrow && !r.is_one && r.width < NARROW_WIDTH) lines = 1;
    r.tiles      = holo_ceil_div(r.lines, lines);
    r.tile_lines = holo_ceil_div(r.lines, r.tiles); // tiles of equal size
    r.tiles      = holo_ceil_div(r.lines, r.tile_lines);
    return r;
}

size_t holo_conv_dense_prepare(HoloConvNhwc *c)
{
    HoloConvDense *d = &c->dense;
    holo_conv_regions(&c->shape, c->batch, &d->regions);
    d->first = region_of(c, 0);
    for (int64_t i = 0, n = holo_conv_region_count(&d->regions); i < n; i++) {
        HoloConvRegion r = region_of(c, i);
        d->row_tiles += r.planes * r.tiles;
    }
    d->tile_columns = tile_panels(c, d->row_tiles * c->groups) * HOLO_PANEL;
    d->column_tiles = holo_ceil_div(c->filters, d->tile_columns);
    return HOLO_GEMM_SCRATCH;
}

// ---- work

// Some pixels of a region, which are `rows` of a product.
typedef struct Rows {
    int64_t first, rows;      // of the region
    int64_t pixel, line, run; // in the output: the first pixel, the distance between lines, and how many are neighbors
} Rows;

static Rows rows_of(const HoloConvNhwc *c, const HoloConvRegion *r, int64_t tile)
{
    const int64_t *out = c->shape.out;
    int64_t        y = tile % r->tiles * r->tile_lines, plane = tile / r->tiles, depth = r->shape.out[0];
    int64_t        lines = holo_least(r->tile_lines, r->lines - y);
    if (r->is_one) return (Rows){y, lines, y, 0, lines};
    int64_t z   = plane / depth * out[0] + r->span[0]->first + plane % depth;
    Rows    all = {(plane * r->lines + y) * r->width, lines * r->width, 0, out[2], r->width};
    all.pixel   = (z * out[1] + r->span[1]->first + y) * out[2] + r->span[2]->first;
    if (lines == 1 || r->width == out[2]) all.run = all.rows; // they are neighbors
    return all;
}

// The product of the places that the region sees. Places that are neighbors in W, from number `at` on, go at once. A
// product without places gives the bias.
static void multiply(const HoloConvNhwc *c, const HoloConvRegion *r, int64_t at, HoloPatchRows patch, HoloGemm g)
{
    const int64_t *kernel = c->shape.kernel, *places = r->shape.kernel;
    HoloConvShape  shape = r->shape;
    bool           lines = places[2] < kernel[2], depths = lines || places[1] < kernel[1]; // one by one
    if (lines) shape.kernel[1] = 1;
    if (depths) shape.kernel[0] = 1;
    int64_t by = lines && places[1] ? places[1] : 1, count = depths ? places[0] * by : 1;
    g.k = holo_product(3, shape.kernel) * c->channels;
    if (!g.k) count = 1;
    patch.shape = &shape;
    if (!r->is_matrix) g.patch = &patch;
    for (int64_t i = 0; i < count; i++) {
        int64_t z = i / by, y = i % by;
        int64_t place = ((r->span[0]->place + z) * kernel[1] + r->span[1]->place + y) * kernel[2] + r->span[2]->place;
        shape.pad[0]  = r->shape.pad[0] - z * shape.dilation[0];
        shape.pad[1]  = r->shape.pad[1] - y * shape.dilation[1];
        g.b           = holo_weights_at(c->w, at + place * c->channels * HOLO_PANEL, c->narrow);
        g.resume      = i > 0;
        g.pause       = i + 1 < count;
        c->host->kernels->gemm_f32(&g);
    }
}

static void work(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc  *c      = arg;
    const HoloConvDense *d      = &c->dense;
    int64_t              column = i % d->column_tiles * d->tile_columns, tile = i / d->column_tiles % d->row_tiles;
    int64_t              group = i / d->column_tiles / d->row_tiles, o = group * c->filters + column, region = 0;
    int64_t              pixel = c->groups * c->channels, row = c->groups * c->filters;
    int64_t              panels  = holo_ceil_div(c->filters, HOLO_PANEL) * HOLO_PANEL;
    float               *scratch = holo_cpu_kernel_scratch(c->host, worker);
    HoloConvRegion       r       = d->first;
    for (; tile >= r.planes * r.tiles; r = region_of(c, ++region)) tile -= r.planes * r.tiles;
    Rows          rows = rows_of(c, &r, tile);
    HoloFinish    finish;
    HoloPatchRows patch = {.channels = c->channels, .pixel = pixel, .first = rows.first};
    HoloGemm      g     = {
                 .m        = rows.rows,
                 .n        = holo_least(d->tile_columns, c->filters - column),
                 .a        = c->x + group * c->channels + (r.is_matrix ? rows.first * pixel : 0),
                 .a_row    = pixel,
                 .a_column = 1,
                 .b_type   = c->narrow,
                 .b_book   = c->w,
                 .b_panel  = c->k * HOLO_PANEL,
                 .b_step   = HOLO_PANEL,
                 .c        = c->out + rows.pixel * row + o,
                 .c_row    = row,
                 .part     = rows.run < rows.rows ? rows.run : 0,
                 .c_part   = rows.line * row,
                 .d        = c->bias ? c->bias + o : NULL,
                 .d_column = 1,
                 .alpha    = 1,
                 .beta     = 1,
                 .finish   = holo_conv_finish(c, rows.pixel * row + o, &finish),
                 .scratch  = scratch,
    };
    multiply(c, &r, (group * panels + column) * c->k, patch, g);
    for (int64_t at = 0; at < rows.rows && !c->has_finish; at += rows.run, rows.pixel += rows.line)
        holo_tail_run(&c->tail, c->host, rows.pixel, rows.run, o, g.n, scratch);
}

void holo_conv_dense_run(HoloConvNhwc *c)
{
    c->host->parallel(c->host, c->dense.column_tiles * c->dense.row_tiles * c->groups, work, c);
}
