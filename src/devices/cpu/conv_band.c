// conv_band.c - convolutions of few channels with channels last, such as the first one of a network. What a pixel sees
// of a row of the image is a run of floats, so padded rows of the image are a matrix without gathering.
//
// A task copies the rows that some rows of the output see, once, and multiplies one row of the output at a time. Its
// pixels are a few floats apart and consist of as many runs as the filter has rows. Bands depend on the shape alone. A
// dilated filter sees columns that are a dilation apart: these are copied side by side, and the pixels that see them
// are a product of their own.
#include "devices/cpu/conv_nhwc.h"

#include <string.h>

enum {
    BAND_FLOATS  = 1 << 15, // they stay in the second cache
    WIDTH_LEAST  = 12,      // fewest pixels of a row of the output for a product
    PHASE_LEAST  = 6,       // and fewest of those that see the same columns
    FILTERS_MOST = 256,     // their weights stay there, too
    LONG_FILTERS = 96,      // the same if a product does not take the whole filter at once
};

// Rows of the image that `rows` of the output see.
static int64_t seen(const HoloConvShape *s, int64_t rows)
{
    return (rows - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1;
}

// Columns that a row of the output sees.
static int64_t columns(const HoloConvShape *s)
{
    return (s->out[2] - 1) * s->stride[2] + (s->kernel[2] - 1) * s->dilation[2] + 1;
}

static HoloConvBand band_of(const HoloConvNhwc *c)
{
    const HoloConvShape *s = &c->shape;
    HoloConvBand         b = {.phases = s->dilation[2], .width = holo_ceil_div(columns(s), s->dilation[2])};
    b.row                  = b.phases * b.width * c->channels;
    int64_t most = BAND_FLOATS / b.row, even = holo_ceil_div(c->batch * s->out[1], HOLO_CONV_TASKS);
    // Fewer tasks, and a number that suits two and four workers: otherwise rows would be copied several times.
    int64_t tasks = holo_ceil_div(holo_ceil_div(s->out[1], seen(s, 1)), 4) * 4;
    if (b.phases > 1 && even < holo_ceil_div(s->out[1], tasks)) even = holo_ceil_div(s->out[1], tasks);
    b.rows  = most < seen(s, 1) ? 1 : (most - seen(s, 1)) / s->stride[1] + 1;
    b.rows  = holo_least(holo_least(b.rows, even), s->out[1]);
    b.bands = holo_ceil_div(s->out[1], b.rows);
    return b;
}

bool holo_band_fits(const HoloConvNhwc *c)
{
    const HoloConvShape *s = &c->shape;
    if (c->narrow || c->groups != 1 || c->k < 1 || c->filters > (c->k > HOLO_GEMM_K ? LONG_FILTERS : FILTERS_MOST) ||
        s->kernel[2] > HOLO_GEMM_K / c->channels || s->out[2] < WIDTH_LEAST)
        return false;
    if (s->kernel[0] != 1 || s->in[0] != 1 || s->out[0] != 1 || s->pad[0] != 0) return false;
    if (s->dilation[2] != 1 && (s->stride[2] != 1 || s->out[2] / s->dilation[2] < PHASE_LEAST)) return false;
    if (s->kernel[1] * s->kernel[2] == 1 || s->pad[2] < 0) return false;
    if (s->out[2] > BAND_FLOATS || s->stride[2] > BAND_FLOATS || s->stride[1] > BAND_FLOATS ||
        s->dilation[1] > BAND_FLOATS)
        return false;
    int64_t row = holo_ceil_div(columns(s), s->dilation[2]) * s->dilation[2];
    return row <= BAND_FLOATS / c->channels && seen(s, 1) <= BAND_FLOATS / (row * c->channels);
}

// The memory of the tail and of the product is separate from that of the bands.
size_t holo_band_prepare(HoloConvNhwc *c)
{
    size_t tail    = holo_tail_scratch(c->tail.program);
    c->band        = band_of(c);
    c->band.before = tail > HOLO_GEMM_SCRATCH ? tail : HOLO_GEMM_SCRATCH;
    return c->band.before + BAND_FLOATS;
}

// Copies a row of the image: each column goes to its phase.
static void copy_phases(const HoloConvNhwc *c, const float *line, float *out)
{
    const HoloConvBand  *b        = &c->band;
    const HoloConvShape *s        = &c->shape;
    int64_t              channels = c->channels, end = holo_least(s->in[2], columns(s) - s->pad[2]);
    memset(out, 0, (size_t)b->row * sizeof(float));
    for (int64_t x = 0; x < end; x++) {
        int64_t at = (x + s->pad[2]) % b->phases * b->width + (x + s->pad[2]) / b->phases;
        memcpy(out + at * channels, line + x * channels, (size_t)channels * sizeof(float));
    }
}

// Copies `rows` rows of the image from y on. What lies outside is 0.
static void copy(const HoloConvNhwc *c, const float *image, int64_t y, int64_t rows, float *out)
{
    const HoloConvBand  *b    = &c->band;
    const HoloConvShape *s    = &c->shape;
    int64_t              line = s->in[2] * c->channels, left = holo_least(s->pad[2] * c->channels, b->row);
    int64_t              inside = holo_least(line, b->row - left), right = b->row - left - inside;
    for (int64_t i = 0; i < rows; i++, out += b->row) {
        bool is_there = y + i >= 0 && y + i < s->in[1];
        memset(out, 0, (size_t)(is_there ? left : b->row) * sizeof(float));
        if (!is_there) continue;
        if (b->phases > 1) {
            copy_phases(c, image + (y + i) * line, out);
            continue;
        }
        memcpy(out + left, image + (y + i) * line, (size_t)inside * sizeof(float));
        memset(out + left + inside, 0, (size_t)right * sizeof(float));
    }
}

// Rows of the filter that are inside the image.
typedef struct Lines {
    int64_t first, end;
} Lines;

static Lines lines_inside(const HoloConvShape *s, int64_t y)
{
    int64_t at = y * s->stride[1] - s->pad[1], step = s->dilation[1];
    Lines   l = {at < 0 ? holo_ceil_div(-at, step) : 0, at < s->in[1] ? holo_ceil_div(s->in[1] - at, step) : 0};
    l.end     = holo_least(l.end, s->kernel[1]);
    l.first   = holo_least(l.first, l.end);
    return l;
}

// Computes `count` pixels from `pixel` on, which see `band`. A product takes as many rows of the filter at once as it
// can. A product without rows gives the bias.
static void multiply(const HoloConvNhwc *c, const float *band, Lines inside, int64_t pixel, int64_t count,
                     float *scratch)
{
    const HoloConvBand  *b   = &c->band;
    const HoloConvShape *s   = &c->shape;
    int64_t              run = s->kernel[2] * c->channels, most = HOLO_GEMM_K / run, lines, y = inside.first;
    HoloFinish           finish;
    do {
        lines      = holo_least(most, inside.end - y);
        HoloGemm g = {
            .m        = count,
            .n        = c->filters,
            .k        = lines * run,
            .a        = band + y * s->dilation[1] * b->row,
            .a_row    = s->stride[2] * c->channels,
            .a_column = 1,
            .lines    = lines,
            .line     = s->dilation[1] * b->row,
            .b        = c->w + y * run * HOLO_PANEL,
            .b_panel  = c->k * HOLO_PANEL,
            .b_step   = HOLO_PANEL,
            .c        = c->out + pixel * c->filters,
            .c_row    = b->phases * c->filters,
            .d        = c->bias,
            .d_column = 1,
            .alpha    = 1,
            .beta     = 1,
            .finish   = holo_conv_finish(c, pixel * c->filters, &finish),
            .resume   = y > inside.first,
            .pause    = y + lines < inside.end,
            .scratch  = scratch,
        };
        c->host->kernels->gemm_f32(&g);
        y += lines;
    } while (y < inside.end);
}

static void work(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc  *c     = arg;
    const HoloConvBand  *b     = &c->band;
    const HoloConvShape *s     = &c->shape;
    int64_t              image = i / b->bands, y = i % b->bands * b->rows, rows = holo_least(b->rows, s->out[1] - y);
    float               *scratch = holo_cpu_kernel_scratch(c->host, worker), *band = scratch + b->before;
    copy(c, c->x + image * s->in[1] * s->in[2] * c->channels, y * s->stride[1] - s->pad[1], seen(s, rows), band);
    for (int64_t r = 0; r < rows; r++) {
        int64_t pixel  = (image * s->out[1] + y + r) * s->out[2];
        Lines   inside = lines_inside(s, y + r);
        for (int64_t phase = 0; phase < b->phases; phase++)
            multiply(c, band + r * s->stride[1] * b->row + phase * b->width * c->channels, inside, pixel + phase,
                     holo_ceil_div(s->out[2] - phase, b->phases), scratch);
        if (!c->has_finish) holo_tail_run(&c->tail, c->host, pixel, s->out[2], 0, c->filters, scratch);
    }
}

void holo_band_run(HoloConvNhwc *c)
{
    c->host->parallel(c->host, c->batch * c->band.bands, work, c);
}
