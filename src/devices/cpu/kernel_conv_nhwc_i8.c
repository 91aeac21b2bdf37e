// kernel_conv_nhwc_i8.c - QLinearConv with channels last in 1 to 3 spatial dimensions, with packed filters: exact sums
// of products, scaled and quantized; and ConvIntegerToFloat, whose sums are scaled to real numbers.
//
// Pixels, with all that their filters see, are the rows of gemm_i8, and filters are its panels. Unsigned pixels with
// filters whose zero points are 0 use gemm_raw_i8 if the CPU has it, which reads rows in place: filters of more than
// one place read lines of the image, which are copied only for the zeros around it. Filters of one channel have a
// kernel of their own, depthwise_i8: a task has some rows of 16 channels. What is added to sums, and what they are
// multiplied by, is computed once for each run, in memory of the first worker that all workers read.
#include "devices/cpu/conv_shape.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <string.h>

enum {
    TILE_PIXELS  = 104,
    LINE_PIXELS  = 128, // of a tile that reads lines
    PART_LEAST   = 6,   // fewest pixels of a row of an output that keep gemm_raw_i8 busy
    RUN_LEAST    = 48,  // fewest bytes of a line that a pixel sees
    PIXELS_LEAST = 12,
    TILE_BYTES   = 1 << 18, // of patches: fewer pixels if filters are long
    SOME_FILTERS = 192,
    FEW_FILTERS  = 64, // filters of a tile if there are few tiles of pixels
    TILES_LEAST  = 8,
    TILES_MANY   = 32,      // if there are more, a tile has all filters
    SET_BYTES    = 1024,    // rows this far apart, or a multiple of it, share few sets of a cache
    BAND_BYTES   = 1 << 15, // a task computes at least so many bytes of the output
    LINE_BYTES   = 1 << 16, // of lines that some pixels see: fewer pixels at a time if lines are long
};

static const int64_t SCRATCH_MAX = INT64_C(1) << 40;

enum { TERMS = 4 };

// Numbers for filters, by group, in whole panels. In the memory of the first worker.
typedef struct Terms {
    int32_t *zero, *column;
    float   *ratio, *bias; // bias: of real numbers
} Terms;

typedef struct Operands { // which input is what
    HoloOpId id;
    int8_t   x_scale, x_zero, w, w_scale, w_zero, bias;
} Operands;

static const Operands operands[] = {{HOLO_ID_MICROSOFT_QLinearConv, 1, 2, 3, 4, 5, 8},
                                    {HOLO_ID_HOLOGRAM_ConvIntegerToFloat, 2, 4, 1, 3, 5, 6}};

typedef struct Cut { // see Conv
    int64_t pixel_tiles, tile_filters, filter_tiles;
} Cut;

typedef struct Conv {
    const HoloHost   *host;
    const Operands   *in;
    HoloConvShape     shape;
    const HoloTensor *x, *w, *x_zero, *w_zero, *w_scale, *bias; // zeros NULL: 0; bias NULL: none
    HoloTensor       *out;
    float             x_scale, y_scale;                                     // when running
    int               y_zero, zero;                                         // zero: the byte that is outside of x
    bool              one_zero, one_scale;                                  // of w
    int64_t           batch, groups, channels, filters, places, k, pixels;  // channels and filters of a group
    int64_t           tile_pixels, pixel_tiles, tile_filters, filter_tiles; // the last three: of one of the cuts
    Cut               cuts[2];                                              // by patches, and by lines of the image
    int64_t           lines, line, run;   // lines that a pixel sees, bytes of one, and pixels that are copied together
    int64_t           inside, inside_end; // the pixels of a row that see nothing outside of the image on both sides
    int64_t           band_rows, bands, blocks; // of filters of one channel; blocks: of 16 channels
    int64_t part, parts, part_rows, row_tiles;  // of tiles that read lines: pixels of a row, parts of one, rows
    int64_t part_line, part_lines;              // bytes of a line of the image, and lines, that such a tile sees
    bool    depthwise, direct;
    bool    is_empty;  // nothing comes out
    bool    real;      // the outputs are real numbers; a worker's memory holds the sums of a tile first
    bool    has_parts; // tiles can read lines
    bool    raw;       // when running: gemm_raw_i8 it is
    int64_t patch_row; // when running: bytes from one patch to the next
    size_t  own;       // bytes of a worker's memory before its sums
    size_t  sums;      // and of these, before the terms
    Terms   terms;     // when running
} Conv;

typedef struct Memory { // of a worker; lines, patches and rows follow, or what depthwise_i8 takes, and then the terms
    int64_t held;       // the tile of pixels, counted over all groups, that is laid out here; -1: none
    int32_t row[TILE_PIXELS + 24];
} Memory;

// ---- shapes

static HoloStatus refuse(const HoloCall *call)
{
    return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of conv_nhwc_i8");
}

static HoloStatus sizes_check(const HoloCall *call, Conv *c)
{
    const HoloTensor *x = c->x, *w = c->w, *out = c->out;
    HOLO_TRY(holo_conv_groups(call, w, true, &c->groups));
    c->batch    = x->dim[0];
    c->channels = w->dim[1];
    c->filters  = w->dim[0] / c->groups;
    c->pixels   = holo_product(out->rank - 2, out->dim + 1);
    c->places   = holo_product(w->rank - 2, w->dim + 2);
    if (c->places < 1 || c->places > HOLO_CONV_I8_LAST || !holo_mul(c->places, c->channels, &c->k) ||
        c->k > HOLO_CONV_I8_LAST_K)
        return refuse(call);
    c->depthwise = holo_conv_i8_is_depthwise(w->rank, c->groups, c->filters, c->channels);
    return c->real && c->depthwise ? refuse(call) : HOLO_OK;
}

static int64_t padded(int64_t columns)
{
    return holo_ceil_div(columns, HOLO_PANEL) * HOLO_PANEL;
}

static void filters_cut(Conv *c)
{
    int64_t tiles   = c->pixel_tiles * c->groups;
    c->tile_filters = tiles < TILES_LEAST ? FEW_FILTERS : tiles < TILES_MANY || c->real ? SOME_FILTERS : c->filters;
    c->filter_tiles = holo_ceil_div(c->filters, c->tile_filters);
}

// Cuts tiles of whole rows of an output, or of parts of a row, so that the distance to the next pixel is constant.
// Strides are at most as long as filters, and sizes small enough to be multiplied.
static void parts_cut(Conv *c)
{
    const HoloConvShape *s     = &c->shape;
    int64_t              width = s->out[2], height = s->out[1], run = s->kernel[2] * c->channels;
    c->has_parts = !c->depthwise && !c->direct && s->kernel[0] == 1 && s->out[0] == 1 && s->in[0] == 1 && !s->pad[0] &&
                   s->kernel[1] > 1 && s->dilation[1] == 1 && s->dilation[2] == 1 && s->stride[1] <= s->kernel[1] &&
                   s->stride[2] <= s->kernel[2] && run % 4 == 0 && run >= RUN_LEAST && width >= PART_LEAST;
    if (!c->has_parts) return;
    c->parts      = holo_ceil_div(width, LINE_PIXELS);
    c->part       = holo_ceil_div(width, c->parts);
    c->part_rows  = holo_least(LINE_PIXELS / c->part, height);
    c->row_tiles  = holo_ceil_div(height, c->part_rows);
    c->part_rows  = holo_ceil_div(height, c->row_tiles); // tiles of equal size
    c->row_tiles  = holo_ceil_div(height, c->part_rows);
    c->part_line  = ((c->part - 1) * s->stride[2] + s->kernel[2]) * c->channels;
    c->part_lines = (c->part_rows - 1) * s->stride[1] + s->kernel[1];
    c->has_parts  = c->part_line * c->part_lines <= TILE_BYTES;
}

static void cut(Conv *c)
{
    const HoloConvShape *s = &c->shape;
    c->direct              = c->places == 1;
    for (int d = 0; d < 3; d++) c->direct = c->direct && s->stride[d] == 1 && !s->pad[d] && s->in[d] == s->out[d];
    int64_t most   = TILE_BYTES / (c->k + 1);
    c->tile_pixels = most < PIXELS_LEAST ? PIXELS_LEAST : holo_least(most, TILE_PIXELS);
    c->pixel_tiles = holo_ceil_div(c->batch * c->pixels, c->tile_pixels);
    c->tile_pixels = holo_ceil_div(c->batch * c->pixels, c->pixel_tiles); // tiles of equal size
    filters_cut(c);
    parts_cut(c);
    c->lines      = s->kernel[0] * s->kernel[1];
    int64_t pixel = c->lines * c->channels * s->stride[2];
    c->run        = LINE_BYTES / pixel < 1 ? 1 : holo_least(LINE_BYTES / pixel, c->tile_pixels);
    c->line = ((c->run - 1) * s->stride[2] + (s->kernel[2] - 1) * s->dilation[2] + 1) * c->channels + HOLO_PIXELS_MORE;
    int64_t last  = s->in[2] - 1 - (s->kernel[2] - 1) * s->dilation[2] + s->pad[2]; // where the last of these begins
    c->inside     = holo_least(holo_ceil_div(s->pad[2], s->stride[2]), s->out[2]);
    c->inside_end = last < 0 ? 0 : holo_least(last / s->stride[2] + 1, s->out[2]);
    if (!c->depthwise) return;
    int64_t row  = s->out[2] * HOLO_PANEL;
    c->band_rows = holo_least(s->out[1], 1 + BAND_BYTES / row);
    c->bands     = holo_ceil_div(s->out[1], c->band_rows);
    c->blocks    = holo_ceil_div(c->groups, HOLO_PANEL);
}

// Is each scale, zero point and bias of a ConvIntegerToFloat one number or, where allowed, one number for each filter?
static bool has_real_scales(const HoloCall *call, const Conv *c)
{
    int64_t filters = c->filters * c->groups;
    return holo_cpu_kernel_is_line(holo_in(call, c->in->x_scale), HOLO_F32, HOLO_ONE) &&
           holo_cpu_kernel_is_line(c->w_scale, HOLO_F32, filters) &&
           (!c->x_zero || holo_cpu_kernel_is_line(c->x_zero, c->x->dtype, HOLO_ONE)) &&
           (!c->w_zero || holo_cpu_kernel_is_line(c->w_zero, c->w->dtype, filters)) &&
           (!c->bias || (holo_cpu_kernel_is_line(c->bias, HOLO_F32, filters) && holo_tensor_count(c->bias) == filters));
}

static HoloStatus conv_init(const HoloCall *call, Conv *c)
{
    const HoloConvI8Params *params = call->params;
    *c = (Conv){.host = call->host, .in = operands, .x = holo_in(call, 0), .out = holo_out(call, 0)};
    while (c->in < operands + HOLO_COUNT(operands) && !holo_op_is(call->op, c->in->id)) c->in++;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags ||
        c->in == operands + HOLO_COUNT(operands) || !holo_attr_int(call, "channels_last", 0))
        return refuse(call);
    c->real    = c->in != operands;
    c->x_zero  = holo_in(call, c->in->x_zero);
    c->w       = holo_in(call, c->in->w);
    c->w_scale = holo_in(call, c->in->w_scale);
    c->w_zero  = holo_in(call, c->in->w_zero);
    c->bias    = holo_in(call, c->in->bias);
    if (!holo_cpu_kernel_is_8(c->x, 3, 5) || !holo_cpu_kernel_is_8(c->w, c->x->rank, c->x->rank) ||
        (!c->real && !holo_cpu_kernel_is_8(c->out, c->x->rank, c->x->rank)))
        return refuse(call);
    if (c->real) HOLO_TRY(holo_cpu_kernel_expect(call, c->out, "the output", c->x->rank, c->x->rank));
    HOLO_TRY(sizes_check(call, c));
    if (c->real ? !has_real_scales(call, c) : !holo_conv_has_scales(call, c->filters * c->groups)) return refuse(call);
    c->one_zero  = !c->w_zero || holo_tensor_count(c->w_zero) == 1;
    c->one_scale = holo_tensor_count(c->w_scale) == 1;
    if (!holo_tensor_count(c->out)) return HOLO_OK;
    HOLO_TRY(holo_conv_shape(call, c->w->dim + 2, true, false, &c->shape));
    cut(c);
    return HOLO_OK;
}

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const Conv *c = job;
    (void)call;
    return input == c->in->w ? holo_conv_i8_size(c->depthwise, c->groups, c->filters, c->places, c->k) : -1;
}

// With room behind it, because copies may write too much.
static size_t patch_bytes(const Conv *c)
{
    return holo_align((size_t)(c->tile_pixels * c->k) + HOLO_PIXELS_MORE, 64);
}

// Filters of all groups, each group in whole panels.
static int64_t term_count(const Conv *c)
{
    return c->depthwise ? padded(c->groups) : c->groups * padded(c->filters);
}

// How much memory a worker needs. False: too much.
static bool memory_find(Conv *c)
{
    int64_t lines = 0, columns = 0;
    if (holo_tensor_count(c->out)) columns = c->depthwise ? holo_depthwise_i8_scratch(&c->shape) : 0;
    if (holo_conv_i8_size(c->depthwise, c->groups, c->filters, c->places, c->k) < 0 || columns < 0 ||
        columns > SCRATCH_MAX || !holo_mul(c->lines, c->line, &lines) || lines > SCRATCH_MAX ||
        term_count(c) > SCRATCH_MAX)
        return false;
    size_t more = c->depthwise ? (size_t)columns
                               : holo_align((size_t)lines, 64) + patch_bytes(c) +
                                     (size_t)c->tile_pixels * HOLO_I8_ROW((size_t)c->k);
    size_t part = c->has_parts ? (size_t)(c->part_line * c->part_lines) : 0;
    if (part > more) more = part;
    c->own  = holo_align(sizeof(Memory) + more, 64);
    c->sums = c->real ? sizeof(int32_t) * LINE_PIXELS * SOME_FILTERS : 0;
    return true;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Conv *c = job;
    HOLO_TRY(conv_init(call, c));
    if (!memory_find(c)) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are too large");
    *out_scratch = c->own + c->sums + (size_t)term_count(c) * TERMS * sizeof(int32_t);
    c->is_empty  = !holo_tensor_count(c->out);
    c->cuts[0]   = (Cut){c->pixel_tiles, c->tile_filters, c->filter_tiles};
    if (c->is_empty || !c->has_parts) return HOLO_OK;
    c->pixel_tiles = c->batch * c->row_tiles * c->parts;
    filters_cut(c);
    c->cuts[1] = (Cut){c->pixel_tiles, c->tile_filters, c->filter_tiles};
    return HOLO_OK;
}

static int32_t zero_of(const Conv *c, int64_t filter)
{
    if (!c->w_zero) return 0;
    const uint8_t *zero = (const uint8_t *)c->w_zero->data + (c->one_zero ? 0 : filter);
    return c->w->dtype == HOLO_I8 ? (int8_t)*zero : *zero;
}

static float ratio_of(const Conv *c, int64_t filter)
{
    const float *w_scale = c->w_scale->data;
    if (c->real) return c->x_scale * w_scale[c->one_scale ? 0 : filter];
    double scale = (double)c->x_scale * (double)w_scale[c->one_scale ? 0 : filter];
    return (float)scale / c->y_scale;
}

static int32_t bias_of(const Conv *c, int64_t filter)
{
    return c->bias && !c->real ? ((const int32_t *)c->bias->data)[filter] : 0;
}

// ---- products

// Copies one line of `columns` pixels from column `at` on. What is outside the image is the zero point.
static void line_copy(const Conv *c, const uint8_t *image, int64_t at, int64_t columns, uint8_t *out)
{
    int64_t channels = c->channels, all = channels * c->groups;
    int64_t first = at < 0 ? holo_least(-at, columns) : 0, end = holo_least(c->shape.in[2] - at, columns);
    end = end < first ? first : end;
    memset(out, c->zero, (size_t)(first * channels));
    if (c->groups == 1) memcpy(out + first * channels, image + (at + first) * all, (size_t)((end - first) * channels));
    for (int64_t i = first; c->groups > 1 && i < end; i++)
        memcpy(out + i * channels, image + (at + i) * all, (size_t)channels);
    memset(out + end * channels, c->zero, (size_t)((columns - end) * channels));
}

// The lines that `count` pixels of one row of an output, counted over all images, see of a group's channels: in place
// or, if something is outside, in `memory`.
static void lines_find(const Conv *c, int64_t group, int64_t pixel, int64_t count, uint8_t *memory, const uint8_t **out)
{
    const HoloConvShape *s   = &c->shape;
    int64_t              all = c->channels * c->groups, x = pixel % s->out[2], row = pixel / s->out[2];
    int64_t              y = row % s->out[1], z = row / s->out[1] % s->out[0], image = row / s->out[1] / s->out[0];
    int64_t              size = s->in[0] * s->in[1] * s->in[2] * all, at = x * s->stride[2] - s->pad[2];
    int64_t              columns = (count - 1) * s->stride[2] + (s->kernel[2] - 1) * s->dilation[2] + 1;
    const uint8_t       *from    = (const uint8_t *)c->x->data + image * size,
                  *end           = (const uint8_t *)c->x->data + c->batch * size;
    for (int64_t i = 0; i < c->lines; i++, memory += c->line) {
        int64_t iz = z * s->stride[0] - s->pad[0] + i / s->kernel[1] * s->dilation[0];
        int64_t iy = y * s->stride[1] - s->pad[1] + i % s->kernel[1] * s->dilation[1];
        out[i]     = memory;
        if (iz < 0 || iz >= s->in[0] || iy < 0 || iy >= s->in[1]) {
            memset(memory, c->zero, (size_t)(columns * c->channels));
            continue;
        }
        const uint8_t *line   = from + (iz * s->in[1] + iy) * s->in[2] * all + group * c->channels;
        bool           inside = c->groups == 1 && at >= 0 && at + columns <= s->in[2];
        if (inside && end - line - at * all >= columns * all + HOLO_PIXELS_MORE)
            out[i] = line + at * all;
        else
            line_copy(c, line, at, columns, memory);
    }
}

// The number of neighboring pixels of one row of an output from `pixel` on, at most `most`, that all see only the
// inside of the image, or that all do not. So lines need not be copied twice.
static int64_t run_find(const Conv *c, int64_t pixel, int64_t most)
{
    int64_t x = pixel % c->shape.out[2], end = c->shape.out[2];
    if (c->groups == 1) end = x < c->inside ? c->inside : x < c->inside_end ? c->inside_end : end;
    return holo_least(holo_least(c->run, most), end - x);
}

// Copies what the pixels of a tile see, place by place.
static void pixels_copy(const Conv *c, int64_t group, int64_t pixel, int64_t count, uint8_t *memory, uint8_t *out)
{
    const HoloConvShape *s      = &c->shape;
    bool                 joined = s->dilation[2] == 1;
    const uint8_t       *lines[HOLO_CONV_I8_LAST];
    HoloPixels           rows = {
                  .lines   = c->lines,
                  .pieces  = joined ? 1 : s->kernel[2],
                  .size    = (joined ? s->kernel[2] : 1) * c->channels,
                  .line    = lines,
                  .pixel   = s->stride[2] * c->channels,
                  .piece   = s->dilation[2] * c->channels,
                  .out_row = c->patch_row,
    };
    for (int64_t p = 0; p < count; p += rows.count) {
        rows.count = run_find(c, pixel + p, count - p);
        rows.out   = out + p * c->patch_row;
        lines_find(c, group, pixel + p, rows.count, memory, lines);
        c->host->kernels->pixels_u8(&rows);
    }
}

// What gemm_i8 adds for zero points and biases, and what sums are multiplied by. Panels are padded with zeros.
static void group_terms(const Conv *c, int64_t group, const Terms *t)
{
    uint32_t x_zero = (uint32_t)(holo_cpu_kernel_zero(c->x_zero, 0) - (c->x->dtype == HOLO_U8 && !c->raw ? 128 : 0));
    int64_t  panel = HOLO_I8_PANEL(c->k), columns = padded(c->filters), filters = c->filters;
    int64_t  first = group * filters, at = group * columns;
    const uint8_t *w    = (const uint8_t *)c->w->data + group * (columns / HOLO_PANEL) * panel;
    int32_t       *zero = t->zero + at, *column = t->column + at, shift = c->w->dtype == HOLO_I8 ? 128 : 0;
    float         *ratio = t->ratio + at;
    memset(zero, 0, (size_t)columns * sizeof *zero);
    memset(ratio, 0, (size_t)columns * sizeof *ratio);
    for (int64_t j = 0; j < filters; j++) zero[j] = -(zero_of(c, first + j) + shift);
    for (int64_t j = 0; j < columns; j += HOLO_PANEL) memcpy(column + j, w += panel - 64, 64), w += 64;
    for (int64_t j = 0; j < columns; j++)
        column[j] = (int32_t)(0 - x_zero * ((uint32_t)c->k * (uint32_t)zero[j] + (uint32_t)column[j]));
    for (int64_t j = 0; j < filters; j++) column[j] = (int32_t)((uint32_t)column[j] + (uint32_t)bias_of(c, first + j));
    for (int64_t j = 0; j < filters; j++) ratio[j] = ratio_of(c, first + j);
    if (c->real) memset(t->bias + at, 0, (size_t)columns * sizeof *t->bias);
    if (c->real && c->bias)
        memcpy(t->bias + at, (const float *)c->bias->data + first, (size_t)filters * sizeof *t->bias);
}

static void terms_make(Conv *c)
{
    int64_t count   = term_count(c);
    c->terms.zero   = (int32_t *)(void *)((char *)holo_cpu_kernel_scratch(c->host, 0) + c->own + c->sums);
    c->terms.column = c->terms.zero + count;
    c->terms.ratio  = (float *)(void *)(c->terms.column + count);
    c->terms.bias   = c->terms.ratio + count;
    for (int64_t group = 0; group < c->groups && !c->depthwise; group++) group_terms(c, group, &c->terms);
    for (int64_t j = 0; j < count && c->depthwise; j++) {
        bool is            = j < c->groups;
        c->terms.zero[j]   = is ? zero_of(c, j) : 0;
        c->terms.column[j] = is ? bias_of(c, j) : 0;
        c->terms.ratio[j]  = is ? ratio_of(c, j) : 0;
    }
}

// Finds out from the values whether pixels can be multiplied in place.
static void raw_find(Conv *c)
{
    c->raw = !c->depthwise && c->x->dtype == HOLO_U8 && c->w->dtype == HOLO_I8;
    for (int64_t i = 0, n = c->w_zero ? holo_tensor_count(c->w_zero) : 0; i < n && c->raw; i++) c->raw = !zero_of(c, i);
    c->raw       = c->raw && c->host->kernels->gemm_raw_i8(&(HoloGemmI8){0});
    c->patch_row = c->raw ? holo_ceil_div(c->k, 4) * 4 + 64 : c->k;
}

typedef struct Tile { // pixels, counted over all images, and some filters of a group
    int64_t group, filters, pixel, pixels;
} Tile;

static int64_t first_filter(const Conv *c, const Tile *tile)
{
    return tile->filters * c->tile_filters;
}

// The product of pixels, which must still be found, and filters.
static HoloGemmI8 product_of(const Conv *c, const Tile *tile, int worker)
{
    int64_t    panel = HOLO_I8_PANEL(c->k), first = first_filter(c, tile), filters = c->filters * c->groups;
    int64_t    term = tile->group * padded(c->filters) + first;
    HoloGemmI8 gemm = {
        .m        = tile->pixels,
        .n        = holo_least(c->tile_filters, c->filters - first),
        .quads    = holo_ceil_div(c->k, 4),
        .b        = (const uint8_t *)c->w->data + term / HOLO_PANEL * panel,
        .b_panel  = panel,
        .zero     = c->one_zero ? NULL : c->terms.zero + term,
        .one_zero = c->terms.zero[term],
        .column   = c->terms.column + term,
    };
    if (c->real) {
        gemm.n     = padded(gemm.n);
        gemm.c     = (int32_t *)(void *)((char *)holo_cpu_kernel_scratch(c->host, worker) + c->own);
        gemm.c_row = gemm.n;
        return gemm;
    }
    gemm.ratio     = c->terms.ratio + term;
    gemm.bytes     = (uint8_t *)c->out->data + tile->pixel * filters + tile->group * c->filters + first;
    gemm.bytes_row = filters;
    gemm.y_zero    = c->y_zero;
    gemm.is_signed = c->out->dtype == HOLO_I8;
    return gemm;
}

// The sums of a tile as real numbers.
static void sums_scale(const Conv *c, const Tile *tile, const HoloGemmI8 *gemm)
{
    int64_t first = first_filter(c, tile), filters = c->filters * c->groups;
    int64_t term = tile->group * padded(c->filters) + first;
    c->host->kernels->scale_i32(&(HoloScaleI32){
        .rows     = tile->pixels,
        .n        = holo_least(c->tile_filters, c->filters - first),
        .sums     = gemm->c,
        .sums_row = gemm->c_row,
        .scale    = c->terms.ratio + term,
        .bias     = c->bias ? c->terms.bias + term : NULL,
        .out      = (float *)c->out->data + tile->pixel * filters + tile->group * c->filters + first,
        .out_row  = filters,
    });
}

static void work(void *arg, int64_t i, int worker)
{
    const Conv            *c       = arg;
    const HoloKernelTable *kernels = c->host->kernels;
    Memory                *m       = (Memory *)(void *)holo_cpu_kernel_scratch(c->host, worker);
    uint8_t               *memory = (uint8_t *)(m + 1), *patch = memory + holo_align((size_t)(c->lines * c->line), 64);
    char                  *rows  = (char *)patch + patch_bytes(c);
    int64_t                pixel = i / c->filter_tiles % c->pixel_tiles * c->tile_pixels;
    int64_t                group = i / c->filter_tiles / c->pixel_tiles, all = c->channels * c->groups;
    int64_t                pixels   = holo_least(c->tile_pixels, c->batch * c->pixels - pixel);
    const uint8_t         *from     = (const uint8_t *)c->x->data + pixel * all + group * c->channels;
    bool                   in_place = c->direct && (!c->raw || (c->k % 4 == 0 && all % SET_BYTES));
    bool                   is_here  = m->held == i / c->filter_tiles;
    if (!in_place && !is_here) pixels_copy(c, group, pixel, pixels, memory, patch);
    m->held         = i / c->filter_tiles;
    Tile       tile = {group, i % c->filter_tiles, pixel, pixels};
    HoloGemmI8 gemm = product_of(c, &tile, worker);
    gemm.row        = m->row;
    gemm.a          = in_place ? from : patch;
    gemm.a_row      = in_place ? all : c->patch_row;
    bool done       = c->raw && kernels->gemm_raw_i8(&gemm);
    if (done && c->real) sums_scale(c, &tile, &gemm);
    if (done) return;
    if (!is_here) kernels->rows_i8(pixels, c->k, gemm.a, gemm.a_row, c->x->dtype == HOLO_I8, rows, m->row);
    gemm.a     = rows;
    gemm.a_row = HOLO_I8_ROW(c->k);
    kernels->gemm_i8(&gemm);
    if (c->real) sums_scale(c, &tile, &gemm);
}

// ---- products of pixels in lines

typedef struct Window { // what a tile sees of an image: lines from y on and columns from x on, which may be outside
    const uint8_t *image;
    int64_t        x, y, columns, lines;
} Window;

static bool is_inside(const Conv *c, const Window *w)
{
    return c->groups == 1 && w->x >= 0 && w->y >= 0 && w->x + w->columns <= c->shape.in[2] &&
           w->y + w->lines <= c->shape.in[1];
}

static void window_copy(const Conv *c, const Window *w, uint8_t *out)
{
    int64_t all = c->channels * c->groups;
    for (int64_t y = w->y; y < w->y + w->lines; y++, out += c->part_line)
        if (y < 0 || y >= c->shape.in[1])
            memset(out, c->zero, (size_t)(w->columns * c->channels));
        else
            line_copy(c, w->image + y * c->shape.in[2] * all, w->x, w->columns, out);
}

static void work_part(void *arg, int64_t i, int worker)
{
    const Conv          *c    = arg;
    const HoloConvShape *s    = &c->shape;
    Memory              *m    = (Memory *)(void *)holo_cpu_kernel_scratch(c->host, worker);
    int64_t              tile = i / c->filter_tiles % c->pixel_tiles, group = i / c->filter_tiles / c->pixel_tiles;
    int64_t              x = tile % c->parts * c->part, y = tile / c->parts % c->row_tiles * c->part_rows;
    int64_t              image = tile / c->parts / c->row_tiles, all = c->channels * c->groups;
    int64_t              width = holo_least(c->part, s->out[2] - x), rows = holo_least(c->part_rows, s->out[1] - y);
    Window               window = {
                      .image   = (const uint8_t *)c->x->data + image * s->in[1] * s->in[2] * all + group * c->channels,
                      .x       = x * s->stride[2] - s->pad[2],
                      .y       = y * s->stride[1] - s->pad[1],
                      .columns = (width - 1) * s->stride[2] + s->kernel[2],
                      .lines   = (rows - 1) * s->stride[1] + s->kernel[1],
    };
    bool inside = is_inside(c, &window);
    if (!inside && m->held != i / c->filter_tiles) window_copy(c, &window, (uint8_t *)(m + 1));
    m->held         = i / c->filter_tiles;
    Tile       part = {group, i % c->filter_tiles, image * c->pixels + y * s->out[2] + x, rows * width};
    HoloGemmI8 gemm = product_of(c, &part, worker);
    gemm.a          = inside ? window.image + (window.y * s->in[2] + window.x) * all : (uint8_t *)(m + 1);
    gemm.a_row      = s->stride[2] * c->channels;
    gemm.lines      = s->kernel[1];
    gemm.line       = inside ? s->in[2] * all : c->part_line;
    gemm.part       = width;
    gemm.a_part     = s->stride[1] * gemm.line;
    c->host->kernels->gemm_raw_i8(&gemm);
    if (c->real) sums_scale(c, &part, &gemm);
}

// ---- filters of one channel

static void work_band(void *arg, int64_t i, int worker)
{
    const Conv          *c     = arg;
    const HoloConvShape *s     = &c->shape;
    Memory              *m     = (Memory *)(void *)holo_cpu_kernel_scratch(c->host, worker);
    int64_t              first = i % c->blocks * HOLO_PANEL, row = i / c->blocks % c->bands * c->band_rows;
    int64_t              image = i / c->blocks / c->bands;
    HoloDepthwiseI8      d     = {
                 .shape     = s,
                 .channels  = c->groups,
                 .image     = (const uint8_t *)c->x->data + image * s->in[1] * s->in[2] * c->groups,
                 .is_signed = c->x->dtype == HOLO_I8,
                 .w_signed  = c->w->dtype == HOLO_I8,
                 .y_signed  = c->out->dtype == HOLO_I8,
                 .zero      = (int)holo_cpu_kernel_zero(c->x_zero, 0),
                 .y_zero    = c->y_zero,
                 .filter    = c->w->data,
                 .w_zero    = c->terms.zero + first,
                 .bias      = c->terms.column + first,
                 .ratio     = c->terms.ratio + first,
                 .out       = (uint8_t *)c->out->data + image * c->pixels * c->groups,
                 .scratch   = m + 1,
    };
    c->host->kernels->depthwise_i8(&d, row, holo_least(row + c->band_rows, s->out[1]), first);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Conv *c = job;
    if (c->is_empty) return HOLO_OK;
    c->x_scale = (float)holo_get_f(call->in[c->in->x_scale], 0);
    c->y_scale = c->real ? 1 : (float)holo_get_f(call->in[6], 0);
    c->y_zero  = c->real ? 0 : (int)holo_get_i(call->in[7], 0);
    c->zero    = holo_cpu_kernel_zero(c->x_zero, 0) & 255;
    raw_find(c);
    bool       by_lines = c->raw && c->has_parts;
    const Cut *cut      = &c->cuts[by_lines];
    c->pixel_tiles      = cut->pixel_tiles;
    c->tile_filters     = cut->tile_filters;
    c->filter_tiles     = cut->filter_tiles;
    terms_make(c);
    for (int i = 0; i < c->host->workers; i++) ((Memory *)(void *)holo_cpu_kernel_scratch(c->host, i))->held = -1;
    if (c->depthwise)
        call->host->parallel(call->host, c->batch * c->bands * c->blocks, work_band, c);
    else
        call->host->parallel(call->host, c->groups * c->pixel_tiles * c->filter_tiles, by_lines ? work_part : work, c);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_conv_nhwc_i8 = {
    .id          = HOLO_KERNEL_conv_nhwc_i8,
    .name        = "conv_nhwc_i8",
    .job_size    = sizeof(Conv),
    .prepare     = prepare,
    .run         = run,
    .packed_size = packed_size,
};
