// conv_spread.c - convolutions whose groups have few filters, channels last, in at most two dimensions.
//
// A product for each group would fill only a few lanes of a vector. Instead each filter gets what it sees of each of
// its channels as a plane of its own, [channel][row][column][filter]. Then 16 filters of any groups are neighbors, and
// the convolution has one filter for each channel, with the channels as depth (depthwise_nhwc_f32). A task is some rows
// of the output and some filters, so that the planes stay in the cache.
#include "devices/cpu/conv_nhwc.h"

#include <string.h>

enum {
    FLOATS      = 1 << 16, // of a task's memory, if possible
    FLOATS_MOST = 1 << 18,
    WIDTH       = 4 * HOLO_PANEL, // filters of a task
    SPREADING   = 2,              // cost of spreading one channel, in places
};

static int64_t rows_seen(const HoloConvShape *s, int64_t rows)
{
    return holo_least(s->in[1], (rows - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1);
}

// Memory for so many rows; in double, because sizes can be large.
static double floats_of(const HoloConvNhwc *c, int64_t width, int64_t rows)
{
    const HoloConvShape *s = &c->shape;
    return (double)width * ((double)c->k + (double)c->channels * (double)rows_seen(s, rows) * (double)s->in[2] +
                            (double)rows * (double)s->out[2]);
}

static HoloConvSpread cut(const HoloConvNhwc *c)
{
    const HoloConvShape *s   = &c->shape;
    int64_t              all = holo_ceil_div(c->groups * c->filters, HOLO_PANEL) * HOLO_PANEL;
    HoloConvSpread       t   = {.width = holo_least(all, WIDTH), .rows = 1};
    while (t.width > HOLO_PANEL && floats_of(c, t.width, 4) > FLOATS) t.width -= HOLO_PANEL;
    while (t.rows < s->out[1] && floats_of(c, t.width, t.rows + 1) <= FLOATS) t.rows++;
    t.width_tiles = holo_ceil_div(all, t.width);
    t.row_tiles   = holo_ceil_div(s->out[1], t.rows);
    t.rows        = holo_ceil_div(s->out[1], t.row_tiles);
    t.planes      = t.width * c->channels * rows_seen(s, t.rows) * s->in[2];
    t.filters     = t.width * c->k;
    t.sums        = t.width * t.rows * s->out[2];
    return t;
}

bool holo_conv_spread_fits(const HoloConvNhwc *c)
{
    const HoloConvShape *s      = &c->shape;
    int64_t              places = s->kernel[1] * s->kernel[2];
    if (c->groups < 2 || s->kernel[0] != 1 || s->in[0] != 1 || s->out[0] != 1 || s->pad[0]) return false;
    if (c->filters >= HOLO_PANEL || c->k < 1 || places > FLOATS || c->channels > FLOATS) return false;
    return (places + SPREADING) * c->filters < places * HOLO_PANEL && floats_of(c, HOLO_PANEL, 1) <= FLOATS_MOST;
}

size_t holo_conv_spread_prepare(HoloConvNhwc *c)
{
    HoloConvSpread *t = &c->spread;
    *t                = cut(c);
    return (size_t)(t->planes + t->filters + t->sums) + holo_tail_scratch(c->tail.program);
}

// Lays filters `first` and on, which are packed by groups as [place][channel][16], out as panels [channel][place][16].
static void filters_spread(const HoloConvNhwc *c, int64_t first, int64_t width, float *out)
{
    int64_t places = c->k / c->channels;
    for (int64_t i = 0; i < width; i++) {
        int64_t group = (first + i) / c->filters, lane = (first + i) % c->filters;
        float  *to = out + i / HOLO_PANEL * c->k * HOLO_PANEL + i % HOLO_PANEL;
        for (int64_t k = 0; k < c->k; k++) {
            int64_t row        = group * c->k + k % places * c->channels + k / places;
            to[k * HOLO_PANEL] = holo_conv_weight(c, row * HOLO_PANEL + lane);
        }
    }
}

static void work(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc   *c     = arg;
    const HoloConvSpread *t     = &c->spread;
    const HoloConvShape  *s     = &c->shape;
    int64_t               first = i % t->width_tiles * t->width, y = i / t->width_tiles % t->row_tiles * t->rows;
    int64_t               image = i / t->width_tiles / t->row_tiles, all = c->groups * c->filters;
    int64_t               width = holo_least(t->width, all - first), rows = holo_least(t->rows, s->out[1] - y);
    int64_t               top = y * s->stride[1] - s->pad[1],
            bottom            = top + (rows - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1;
    int64_t from = top < 0 ? 0 : top, to = holo_least(bottom, s->in[1]), seen = to > from ? to - from : 0;
    float  *tail = holo_cpu_kernel_scratch(c->host, worker), *planes = tail + holo_tail_scratch(c->tail.program);
    float  *filters = planes + t->planes, *sums = filters + t->filters;
    int64_t pixel = c->groups * c->channels, channel = first / c->filters * c->channels;
    filters_spread(c, first, width, filters);
    HoloSpread spread = {
        .channels = c->channels,
        .filters  = c->filters,
        .first    = first,
        .width    = width,
        .pixels   = seen * s->in[2],
        .pixel    = pixel,
        .plane    = seen * s->in[2] * width,
    };
    if (seen)
        c->host->kernels->spread_f32(&spread, c->x + (image * s->in[1] + from) * s->in[2] * pixel + channel, planes);
    HoloConvShape shape = *s;
    shape.in[0] = shape.kernel[0] = c->channels;
    shape.in[1]                   = seen;
    shape.out[1]                  = rows;
    shape.pad[1]                  = from - top;
    shape.stride[0] = shape.dilation[0] = 1;
    HoloDepthwiseNhwc d                 = {
                        .shape    = &shape,
                        .channels = width,
                        .image    = planes,
                        .filter   = filters,
                        .bias     = c->bias ? c->bias + first : NULL,
                        .out      = sums,
    };
    c->host->kernels->depthwise_nhwc_f32(&d, 0, rows, 0, width);
    int64_t row = (image * s->out[1] + y) * s->out[2], count = rows * s->out[2];
    for (int64_t p = 0; p < count; p++)
        memcpy(c->out + (row + p) * all + first, sums + p * width, (size_t)width * sizeof(float));
    holo_tail_run(&c->tail, c->host, row, count, first, width, tail);
}

void holo_conv_spread_run(HoloConvNhwc *c)
{
    c->host->parallel(c->host, c->batch * c->spread.row_tiles * c->spread.width_tiles, work, c);
}
