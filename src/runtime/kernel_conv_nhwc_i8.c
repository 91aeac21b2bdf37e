// kernel_conv_nhwc_i8.c - QLinearConv with channels last in 1 to 3 spatial dimensions, of packed filters: exact sums of
// products, scaled and quantised again.
//
// Pixels, with all that their filters see, are the rows of gemm_i8 and filters its panels. Filters of one channel each
// are computed in f32: whole numbers below 2^24 are exact there. A task of these has some rows of some channels.
#include "format/params.h"
#include "kernels/kernels.h"
#include "runtime/conv_shape.h"

#include <string.h>

enum {
    TILE_PIXELS   = 96,
    PIXELS_LEAST  = 12,
    TILE_BYTES    = 1 << 18, // of patches: fewer pixels where filters are long
    TILE_FILTERS  = 192,
    FEW_FILTERS   = 64, // of a tile where there are few tiles of pixels
    TILES_LEAST   = 8,
    BAND_CHANNELS = 64,
    BAND_FLOATS   = 1 << 16,
    SHORT         = 16, // bytes that are copied at once
    LONG          = 64,
};

typedef struct Conv {
    const HoloHost   *host;
    HoloConvShape     shape;
    const HoloTensor *x, *w, *x_zero, *w_zero, *w_scale, *bias; // bias NULL: none
    HoloTensor       *out;
    float             x_scale, y_scale;                                    // when running
    int               y_zero, zero;                                        // zero: the byte that is outside of x
    bool              one_zero, one_scale;                                 // of w
    int64_t           batch, groups, channels, filters, places, k, pixels; // channels and filters of a group
    int64_t           tile_pixels, pixel_tiles, tile_filters, filter_tiles;
    int64_t           band_rows, bands, band_in, band_channels, channel_blocks; // of filters of one channel
    bool              depthwise, direct;
} Conv;

typedef struct Memory { // of a worker; patches and rows, or bands, follow
    int32_t sums[TILE_PIXELS * TILE_FILTERS];
    int32_t row[TILE_PIXELS], zero[TILE_FILTERS], column[TILE_FILTERS];
    float   ratio[TILE_FILTERS];
} Memory;

// ---- shapes

static bool is_8(const HoloTensor *t, int rank_min, int rank_max)
{
    return t && t->kind == HOLO_TENSOR && (t->dtype == HOLO_I8 || t->dtype == HOLO_U8) && t->rank >= rank_min &&
           t->rank <= rank_max && holo_tensor_count(t) >= 0;
}

// Are there so many numbers of that type: one or, where n is not 0, n?
static bool is_line(const HoloTensor *t, int dtype, int64_t n)
{
    if (!t || t->kind != HOLO_TENSOR || t->dtype != dtype || t->rank < 0 || t->rank > 1) return false;
    return holo_tensor_count(t) == 1 || (n && holo_tensor_count(t) == n);
}

static HoloStatus refuse(const HoloCall *call)
{
    return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of conv_nhwc_i8");
}

static HoloStatus sizes_check(const HoloCall *call, Conv *c)
{
    const HoloTensor *x = c->x, *w = c->w, *out = c->out;
    int64_t           channels = x->dim[x->rank - 1];
    c->groups                  = holo_attr_int(call, "group", 1);
    if (c->groups < 1 || channels % c->groups || w->dim[0] % c->groups || w->dim[1] != channels / c->groups ||
        out->dim[0] != x->dim[0] || out->dim[out->rank - 1] != w->dim[0])
        return refuse(call);
    c->batch    = x->dim[0];
    c->channels = w->dim[1];
    c->filters  = w->dim[0] / c->groups;
    c->pixels   = holo_product(out->rank - 2, out->dim + 1);
    c->places   = holo_product(w->rank - 2, w->dim + 2);
    if (c->places < 1 || c->places > HOLO_CONV_I8_PLACES || !holo_mul(c->places, c->channels, &c->k) ||
        c->k > HOLO_CONV_I8_K)
        return refuse(call);
    c->depthwise = holo_conv_i8_is_depthwise(w->rank, c->groups, c->filters, c->channels);
    return HOLO_OK;
}

static HoloStatus scales_check(const HoloCall *call, Conv *c)
{
    int64_t           all    = c->filters * c->groups;
    const HoloTensor *y_zero = holo_in(call, 7);
    if (!is_line(c->x_zero, c->x->dtype, 0) || !is_line(c->w_zero, c->w->dtype, all) ||
        !is_line(c->w_scale, HOLO_F32, all) || !is_line(holo_in(call, 1), HOLO_F32, 0) ||
        !is_line(holo_in(call, 6), HOLO_F32, 0) || !is_line(y_zero, c->out->dtype, 0) ||
        (c->bias && (!is_line(c->bias, HOLO_I32, all) || holo_tensor_count(c->bias) != all)))
        return refuse(call);
    return HOLO_OK;
}

static void cut(Conv *c)
{
    const HoloConvShape *s = &c->shape;
    c->direct              = c->places == 1;
    for (int d = 0; d < 3; d++) c->direct = c->direct && s->stride[d] == 1 && !s->pad[d] && s->in[d] == s->out[d];
    int64_t most    = TILE_BYTES / (c->k + 1);
    c->tile_pixels  = most < PIXELS_LEAST ? PIXELS_LEAST : holo_least(most, TILE_PIXELS);
    c->pixel_tiles  = holo_ceil_div(c->batch * c->pixels, c->tile_pixels);
    c->tile_filters = c->pixel_tiles * c->groups < TILES_LEAST ? FEW_FILTERS : TILE_FILTERS;
    c->filter_tiles = holo_ceil_div(c->filters, c->tile_filters);
    if (!c->depthwise) return;
    c->band_channels  = holo_least(c->groups, BAND_CHANNELS);
    c->channel_blocks = holo_ceil_div(c->groups, c->band_channels);
    int64_t line      = (s->in[2] * s->stride[1] + s->out[2]) * c->band_channels; // floats for a row of the output
    c->band_rows      = holo_least(s->out[1], 1 + BAND_FLOATS / (line + 1));
    c->bands          = holo_ceil_div(s->out[1], c->band_rows);
    c->band_in = holo_least(s->in[1], (c->band_rows - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1);
}

static HoloStatus conv_init(const HoloCall *call, Conv *c)
{
    const HoloConvI8Params *params = call->params;
    *c                             = (Conv){.host = call->host, .x = holo_in(call, 0), .out = holo_out(call, 0)};
    if (!holo_kernel_has_params(call, sizeof *params) || params->flags || strcmp(call->op->name, "QLinearConv") ||
        !holo_attr_int(call, "channels_last", 0))
        return refuse(call);
    c->x_zero  = holo_in(call, 2);
    c->w       = holo_in(call, 3);
    c->w_scale = holo_in(call, 4);
    c->w_zero  = holo_in(call, 5);
    c->bias    = holo_in(call, 8);
    if (!is_8(c->x, 3, 5) || !is_8(c->w, c->x->rank, c->x->rank) || !is_8(c->out, c->x->rank, c->x->rank))
        return refuse(call);
    HOLO_TRY(sizes_check(call, c));
    HOLO_TRY(scales_check(call, c));
    c->one_zero  = holo_tensor_count(c->w_zero) == 1;
    c->one_scale = holo_tensor_count(c->w_scale) == 1;
    if (!holo_tensor_count(c->out)) return HOLO_OK;
    HOLO_TRY(holo_conv_shape(call, c->w->dim + 2, true, false, &c->shape));
    cut(c);
    return HOLO_OK;
}

static int64_t packed_size(const HoloCall *call, int input)
{
    Conv c;
    if (input != 3 || conv_init(call, &c)) return -1;
    return holo_conv_i8_size(c.depthwise, c.groups, c.filters, c.places, c.k);
}

static size_t patch_bytes(const Conv *c)
{
    return ((size_t)(c->tile_pixels * c->k) + 63) / 64 * 64;
}

// Floats of a band: what comes in, what comes out, and its filters.
static bool band_floats(const Conv *c, int64_t out[3])
{
    const HoloConvShape *s     = &c->shape;
    int64_t              width = (c->band_channels + HOLO_PANEL - 1) / HOLO_PANEL * HOLO_PANEL;
    out[2]                     = c->places * width;
    return holo_mul(c->band_in, s->in[2], &out[0]) && holo_mul(out[0], c->band_channels, &out[0]) &&
           holo_mul(c->band_rows, s->out[2], &out[1]) && holo_mul(out[1], c->band_channels, &out[1]) &&
           out[0] < INT64_C(1) << 40 && out[1] < INT64_C(1) << 40;
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Conv    c;
    int64_t floats[3] = {0};
    HOLO_TRY(conv_init(call, &c));
    if (holo_conv_i8_size(c.depthwise, c.groups, c.filters, c.places, c.k) < 0 ||
        (c.depthwise && !band_floats(&c, floats)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are too large");
    size_t more  = c.depthwise ? (size_t)(floats[0] + floats[1] + floats[2] + 4 * HOLO_PANEL) * sizeof(float)
                               : patch_bytes(&c) + (size_t)c.tile_pixels * HOLO_I8_ROW((size_t)c.k);
    *out_scratch = sizeof(Memory) + more;
    return HOLO_OK;
}

static int32_t zero_of(const Conv *c, int64_t filter)
{
    const uint8_t *zero = (const uint8_t *)c->w_zero->data + (c->one_zero ? 0 : filter);
    return c->w->dtype == HOLO_I8 ? (int8_t)*zero : *zero;
}

static float ratio_of(const Conv *c, int64_t filter)
{
    const float *w_scale = c->w_scale->data;
    double       scale   = (double)c->x_scale * (double)w_scale[c->one_scale ? 0 : filter];
    return (float)scale / c->y_scale;
}

static int32_t bias_of(const Conv *c, int64_t filter)
{
    return c->bias ? ((const int32_t *)c->bias->data)[filter] : 0;
}

// ---- products

// Short runs are copied with what lies behind them, where there is something, and room for it that is written later.
static inline void run_copy(uint8_t *out, int64_t room, const uint8_t *from, const uint8_t *end, int64_t size)
{
    if (size <= SHORT && room >= SHORT && end - from >= SHORT)
        memcpy(out, from, SHORT);
    else if (size <= LONG && room >= LONG && end - from >= LONG)
        memcpy(out, from, LONG);
    else
        memcpy(out, from, (size_t)size);
}

// What a pixel sees of one row of the kernel: places inside the image are copied, the others are the zero point.
static void places_copy(const Conv *c, const uint8_t *line, const uint8_t *end, int64_t x, uint8_t *out)
{
    const HoloConvShape *s  = &c->shape;
    int64_t              at = x * s->stride[2] - s->pad[2];
    for (int64_t kx = 0; kx < s->kernel[2]; kx++, at += s->dilation[2], out += c->channels) {
        if (at < 0 || at >= s->in[2])
            memset(out, c->zero, (size_t)c->channels);
        else
            run_copy(out, 0, line + at * c->channels * c->groups, end, c->channels);
    }
}

// The same of `count` pixels from x on, k bytes from one to the next; `room` as of run_copy.
static void line_copy(const Conv *c, const uint8_t *line, const uint8_t *end, int64_t x, int64_t count, uint8_t *out,
                      int64_t room)
{
    const HoloConvShape *s   = &c->shape;
    int64_t              all = c->channels * c->groups, size = s->kernel[2] * c->channels;
    bool                 joined = s->kernel[2] == 1 || (s->dilation[2] == 1 && c->groups == 1);
    for (int64_t p = 0; p < count; p++, out += c->k) {
        int64_t at = (x + p) * s->stride[2] - s->pad[2];
        if (joined && at >= 0 && at + s->kernel[2] <= s->in[2])
            run_copy(out, room, line + at * all, end, size);
        else
            places_copy(c, line, end, x + p, out);
    }
}

// What `count` pixels of one row of an output, counted over all images, see of a group's channels.
static void pixels_copy(const Conv *c, int64_t group, int64_t pixel, int64_t count, uint8_t *out)
{
    const HoloConvShape *s   = &c->shape;
    int64_t              all = c->channels * c->groups, x = pixel % s->out[2], row = pixel / s->out[2];
    int64_t              y = row % s->out[1], z = row / s->out[1] % s->out[0], image = row / s->out[1] / s->out[0];
    int64_t              line = s->kernel[2] * c->channels, size = s->in[0] * s->in[1] * s->in[2] * all, room = c->k;
    const uint8_t       *from = (const uint8_t *)c->x->data + image * size + group * c->channels;
    const uint8_t       *end  = (const uint8_t *)c->x->data + c->batch * size;
    for (int64_t kz = 0; kz < s->kernel[0]; kz++)
        for (int64_t ky = 0; ky < s->kernel[1]; ky++, out += line, room -= line) {
            int64_t iz = z * s->stride[0] - s->pad[0] + kz * s->dilation[0];
            int64_t iy = y * s->stride[1] - s->pad[1] + ky * s->dilation[1];
            if (iz >= 0 && iz < s->in[0] && iy >= 0 && iy < s->in[1])
                line_copy(c, from + (iz * s->in[1] + iy) * s->in[2] * all, end, x, count, out, room);
            else
                for (int64_t p = 0; p < count; p++) memset(out + p * c->k, c->zero, (size_t)line);
        }
}

// What gemm_i8 adds for zero points and biases, and by what sums are multiplied.
static void terms_make(const Conv *c, int64_t first, int64_t count, const uint8_t *panels, Memory *m)
{
    uint32_t x_zero = (uint32_t)(holo_get_i(c->x_zero, 0) - (c->x->dtype == HOLO_U8 ? 128 : 0));
    int64_t  panel  = HOLO_I8_PANEL(c->k);
    for (int64_t j = 0; j < (count + HOLO_PANEL - 1) / HOLO_PANEL * HOLO_PANEL; j++) {
        int32_t sum, zero = j < count ? zero_of(c, first + j) + (c->w->dtype == HOLO_I8 ? 128 : 0) : 0;
        memcpy(&sum, panels + (j / HOLO_PANEL + 1) * panel - 64 + j % HOLO_PANEL * 4, sizeof sum);
        m->zero[j]   = -zero;
        m->column[j] = (int32_t)(x_zero * ((uint32_t)c->k * (uint32_t)zero - (uint32_t)sum) +
                                 (uint32_t)(j < count ? bias_of(c, first + j) : 0));
        m->ratio[j]  = j < count ? ratio_of(c, first + j) : 0;
    }
}

static void work(void *arg, int64_t i, int worker)
{
    const Conv        *c       = arg;
    const HoloKernels *kernels = c->host->kernels;
    Memory            *m       = (Memory *)(void *)holo_kernel_scratch(c->host, worker);
    uint8_t           *patch   = (uint8_t *)(m + 1);
    char              *rows    = (char *)patch + patch_bytes(c);
    int64_t            tile = i % c->filter_tiles, pixel = i / c->filter_tiles % c->pixel_tiles * c->tile_pixels;
    int64_t            group = i / c->filter_tiles / c->pixel_tiles, all = c->channels * c->groups;
    int64_t            pixels = holo_least(c->tile_pixels, c->batch * c->pixels - pixel);
    int64_t            first = tile * c->tile_filters, count = holo_least(c->tile_filters, c->filters - first);
    int64_t            panel = HOLO_I8_PANEL(c->k), group_panels = holo_ceil_div(c->filters, HOLO_PANEL);
    const uint8_t     *panels = (const uint8_t *)c->w->data + (group * group_panels + first / HOLO_PANEL) * panel;
    const uint8_t     *from   = (const uint8_t *)c->x->data + pixel * all + group * c->channels;
    for (int64_t p = 0, run; p < pixels && !c->direct; p += run) {
        run = holo_least(pixels - p, c->shape.out[2] - (pixel + p) % c->shape.out[2]);
        pixels_copy(c, group, pixel + p, run, patch + p * c->k);
    }
    kernels->rows_i8(pixels, c->k, c->direct ? from : patch, c->direct ? all : c->k, c->x->dtype == HOLO_I8, rows,
                     m->row);
    terms_make(c, group * c->filters + first, count, panels, m);
    kernels->gemm_i8(&(HoloGemmI8){
        .m       = pixels,
        .n       = count,
        .quads   = holo_ceil_div(c->k, 4),
        .a       = rows,
        .a_row   = HOLO_I8_ROW(c->k),
        .b       = panels,
        .b_panel = panel,
        .row     = m->row,
        .zero    = m->zero,
        .column  = m->column,
        .c       = m->sums,
        .c_row   = TILE_FILTERS,
    });
    int64_t  filters = c->filters * c->groups;
    uint8_t *out     = (uint8_t *)c->out->data + pixel * filters + group * c->filters + first;
    for (int64_t p = 0; p < pixels; p++)
        kernels->requantise_i32(count, m->sums + p * TILE_FILTERS, m->ratio, c->y_zero, c->out->dtype == HOLO_I8,
                                out + p * filters);
}

// ---- filters of one channel

typedef struct Band {
    int64_t       image, row, rows, in_row, in_rows, channel, channels;
    HoloConvShape shape; // of the band alone
} Band;

static void band_find(const Conv *c, int64_t i, Band *b)
{
    const HoloConvShape *s = &c->shape;
    *b                     = (Band){.image   = i / c->bands / c->channel_blocks,
                                    .row     = i / c->channel_blocks % c->bands * c->band_rows,
                                    .channel = i % c->channel_blocks * c->band_channels,
                                    .shape   = *s};
    b->rows                = holo_least(c->band_rows, s->out[1] - b->row);
    b->channels            = holo_least(c->band_channels, c->groups - b->channel);
    int64_t first = b->row * s->stride[1] - s->pad[1], end = first + (b->rows - 1) * s->stride[1] + 1;
    end += (s->kernel[1] - 1) * s->dilation[1];
    b->in_row       = first < 0 ? 0 : holo_least(first, s->in[1]);
    b->in_rows      = holo_least(end, s->in[1]) - b->in_row;
    b->in_rows      = b->in_rows < 0 ? 0 : b->in_rows;
    b->shape.in[1]  = b->in_rows;
    b->shape.out[1] = b->rows;
    b->shape.pad[1] = b->in_row - first;
}

// The band's pixels, less the zero point, as floats.
static void band_read(const Conv *c, const Band *b, float *out)
{
    int64_t        width = c->shape.in[2], all = c->groups, pixels = b->in_rows * width;
    const uint8_t *from =
        (const uint8_t *)c->x->data + ((b->image * c->shape.in[1] + b->in_row) * width) * all + b->channel;
    int64_t runs = b->channels == all ? 1 : pixels, run = b->channels == all ? pixels * all : b->channels;
    for (int64_t p = 0; p < runs; p++)
        c->host->kernels->dequantize_i8(run, from + p * all, c->x->dtype == HOLO_I8, (int)holo_get_i(c->x_zero, 0), 1,
                                        out + p * b->channels);
}

// The band's filters less their zero points; ratios and biases of its channels.
static void band_filters(const Conv *c, const Band *b, float *out, Memory *m)
{
    const float *from  = (const float *)c->w->data + b->channel * c->places;
    int64_t      width = (b->channels + HOLO_PANEL - 1) / HOLO_PANEL * HOLO_PANEL;
    for (int64_t j = 0; j < width; j++) {
        bool    is   = j < b->channels;
        float   zero = is ? (float)zero_of(c, b->channel + j) : 0;
        int64_t at   = j / HOLO_PANEL * c->places * HOLO_PANEL + j % HOLO_PANEL;
        for (int64_t p = 0; p < c->places; p++) out[at + p * HOLO_PANEL] = from[at + p * HOLO_PANEL] - zero;
        m->ratio[j]  = is ? ratio_of(c, b->channel + j) : 0;
        m->column[j] = is ? bias_of(c, b->channel + j) : 0;
    }
}

static void work_band(void *arg, int64_t i, int worker)
{
    const Conv *c = arg;
    Memory     *m = (Memory *)(void *)holo_kernel_scratch(c->host, worker);
    Band        b;
    int64_t     floats[3];
    band_find(c, i, &b);
    band_floats(c, floats);
    float *in = (float *)(void *)(m + 1), *out = in + floats[0] + HOLO_PANEL, *filter = out + floats[1] + HOLO_PANEL;
    band_read(c, &b, in);
    band_filters(c, &b, filter, m);
    c->host->kernels->depthwise_nhwc_f32(
        &(HoloDepthwiseNhwc){.shape = &b.shape, .channels = b.channels, .image = in, .filter = filter, .out = out}, 0,
        b.rows, 0, b.channels);
    uint8_t *to = (uint8_t *)c->out->data + (b.image * c->pixels + b.row * c->shape.out[2]) * c->groups + b.channel;
    for (int64_t p = 0; p < b.rows * c->shape.out[2]; p++)
        c->host->kernels->requantise_f32(b.channels, out + p * b.channels, m->column, m->ratio, c->y_zero,
                                         c->out->dtype == HOLO_I8, to + p * c->groups);
}

static HoloStatus run(HoloCall *call)
{
    Conv c;
    HOLO_TRY(conv_init(call, &c));
    if (!holo_tensor_count(c.out)) return HOLO_OK;
    c.x_scale = (float)holo_get_f(call->in[1], 0);
    c.y_scale = (float)holo_get_f(call->in[6], 0);
    c.y_zero  = (int)holo_get_i(call->in[7], 0);
    c.zero    = (int)holo_get_i(call->in[2], 0) & 255;
    if (c.depthwise)
        call->host->parallel(call->host, c.batch * c.bands * c.channel_blocks, work_band, &c);
    else
        call->host->parallel(call->host, c.groups * c.pixel_tiles * c.filter_tiles, work, &c);
    return HOLO_OK;
}

const HoloKernel holo_kernel_conv_nhwc_i8 = {
    .id          = HOLO_KERNEL_conv_nhwc_i8,
    .name        = "conv_nhwc_i8",
    .check       = check,
    .run         = run,
    .packed_size = packed_size,
};
