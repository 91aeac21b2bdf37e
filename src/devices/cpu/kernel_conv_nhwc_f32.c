// kernel_conv_nhwc_f32.c - Conv of domain hologram: f32, channels last, 1 to 3 spatial dimensions, with a pointwise
// tail.
//
// out[pixel][o] = sum over k of patch[pixel][k] * W[k][o]. The matrix product takes its rows from the image (see
// kernels/f32/gemm_f32.c) and W as panels of the archive. Other ways: filters for one channel or few are applied
// directly; few channels go by bands of rows (conv_band.c); 3x3 filters may be transformed (winograd.c); filters with
// long rows are transformed here (conv_lines.c); few filters, short rows of few channels, and other small groups have
// ways of their own (conv_runs.c, conv_spread.c). Weights must be packed.
#include "devices/cpu/conv_nhwc.h"
#include "devices/cpu/conv_shape.h"
#include "devices/cpu/finish.h"
#include "format/params.h"

enum {
    DIRECT_CHANNELS = 128,     // most channels of a task that applies filters directly
    DIRECT_WORK     = 1 << 16, // multiplications that are worth one
    NUMBER_MAX      = 1 << 30,
};

// ---- shapes

static bool is_depthwise(const HoloConvNhwc *c)
{
    return holo_conv_is_depthwise(c->groups, c->filters, c->channels);
}

// Are the filters applied directly, each to few channels?
static bool is_direct(const HoloConvNhwc *c)
{
    return c->by_groups || is_depthwise(c);
}

// The numbers of the whole call. Refuses what is not a convolution. If there is nothing to compute, batch is 0 and the
// rest is not filled in.
static HoloStatus conv_init(const HoloCall *call, HoloConvNhwc *c)
{
    const uint32_t tiles = HOLO_CONV_NHWC_WINOGRAD | HOLO_CONV_NHWC_TRANSFORM;
    const uint32_t known =
        HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_GROUPS | HOLO_CONV_NHWC_SMALL | tiles | HOLO_WEIGHTS_NARROW;
    const HoloConvNhwcParams *params = call->params;
    c->host                          = call->host;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags & ~known ||
        !(params->flags & HOLO_CONV_NHWC_PACKED) || (params->flags & tiles) == tiles ||
        (params->flags & HOLO_CONV_NHWC_SMALL && !(params->flags & HOLO_CONV_NHWC_WINOGRAD)) ||
        !holo_weights_are_valid(params->flags, HOLO_CONV_NHWC_PACKED))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of conv_nhwc_f32");
    HOLO_TRY(holo_conv_expect(call, true, &c->groups));
    HOLO_TRY(holo_tail_init(call, &params->tail, true, 3, &c->tail));
    const HoloTensor *x = call->in[0], *w = call->in[1], *out = call->out[0];
    if (x->dim[x->rank - 1] > NUMBER_MAX || w->dim[0] > NUMBER_MAX)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "there are more than %d channels", NUMBER_MAX);
    c->channels  = w->dim[1];
    c->filters   = w->dim[0] / c->groups;
    c->by_groups = params->flags & HOLO_CONV_NHWC_GROUPS;
    c->narrow    = params->flags & HOLO_WEIGHTS_NARROW;
    if (c->by_groups && (params->flags & tiles || !holo_conv_has_groups(c->groups, c->filters, c->channels)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the convolution is not one of groups of few channels");
    if (c->narrow &&
        (params->flags & (c->narrow & HOLO_WEIGHTS_CODES ? tiles : HOLO_CONV_NHWC_WINOGRAD) || is_direct(c)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "weights of this kind are not stored narrow");
    if (!holo_tensor_count(out)) return HOLO_OK;
    HOLO_TRY(holo_conv_shape(call, w->dim + 2, true, false, &c->shape));
    c->by_tiles   = params->flags & tiles;
    c->transforms = params->flags & HOLO_CONV_NHWC_TRANSFORM;
    c->tile       = holo_winograd_tile(params->flags);
    if (c->by_tiles && !holo_winograd_fits(c))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the convolution is not one for transformed weights");
    c->has_finish = holo_finish_of(&c->tail, &c->finish, &c->more);
    c->batch      = x->dim[0];
    c->k          = holo_product(w->rank - 1, w->dim + 1);
    c->pixels     = c->batch * c->shape.out[0] * c->shape.out[1] * c->shape.out[2];
    return HOLO_OK;
}

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const HoloConvNhwcParams *params = call->params;
    const HoloConvNhwc       *c      = job;
    const HoloTensor         *w      = holo_in(call, 1);
    if (input != 1) return -1;
    return holo_conv_nhwc_packed(params->flags, c->groups, c->filters, c->channels,
                                 holo_product(w->rank - 2, w->dim + 2));
}

// ---- depthwise, and groups of few channels

// So few channels that the rows which a filter sees of some pixels stay in the first cache; as many rows as that
// allows.
static size_t direct_prepare(HoloConvNhwc *c)
{
    HoloConvDirect t;
    int64_t        rows = c->batch * c->shape.out[0] * c->shape.out[1], channels = c->groups * c->channels;
    double         work = (double)c->pixels * (double)channels * (double)c->k;
    t.column_tiles      = holo_ceil_div(channels, DIRECT_CHANNELS);
    t.tile_columns      = holo_ceil_div(holo_ceil_div(channels, t.column_tiles), HOLO_PANEL) * HOLO_PANEL;
    t.column_tiles      = holo_ceil_div(channels, t.tile_columns);
    int64_t want        = holo_least(rows, holo_ceil_div(2 * HOLO_CONV_TASKS, t.column_tiles));
    if (work / DIRECT_WORK < (double)(want * t.column_tiles)) want = (int64_t)(work / DIRECT_WORK) / t.column_tiles;
    t.tile_rows = holo_ceil_div(rows, want > 1 ? want : 1);
    t.row_tiles = holo_ceil_div(rows, t.tile_rows);
    c->direct   = t;
    return 0;
}

static void work_direct(void *arg, int64_t i, int worker)
{
    const HoloConvNhwc   *c      = arg;
    const HoloConvDirect *cut    = &c->direct;
    int64_t               column = i % cut->column_tiles * cut->tile_columns, width = c->shape.out[2];
    int64_t               row = i / cut->column_tiles * cut->tile_rows, rows = c->pixels / width;
    int64_t               channels = c->groups * c->channels;
    int64_t               columns  = holo_least(cut->tile_columns, channels - column);
    HoloFinish            finish;
    HoloDepthwiseNhwc     d = {
            .shape    = &c->shape,
            .channels = channels,
            .image    = c->x,
            .filter   = c->w,
            .bias     = c->bias,
            .finish   = holo_conv_finish(c, 0, &finish),
            .out      = c->out,
    };
    rows = holo_least(cut->tile_rows, rows - row);
    if (c->by_groups)
        c->host->kernels->grouped_nhwc_f32(&d, c->channels, row, row + rows, column, column + columns);
    else
        c->host->kernels->depthwise_nhwc_f32(&d, row, row + rows, column, column + columns);
    if (!c->has_finish)
        holo_tail_run(&c->tail, c->host, row * width, rows * width, column, columns,
                      holo_cpu_kernel_scratch(c->host, worker));
}

static void direct_run(HoloConvNhwc *c)
{
    c->host->parallel(c->host, c->direct.column_tiles * c->direct.row_tiles, work_direct, c);
}

// ---- ways to compute, in the order in which they are tried

static bool is_by_tiles(const HoloConvNhwc *c)
{
    return c->by_tiles;
}

static bool is_any(const HoloConvNhwc *c)
{
    (void)c;
    return true;
}

static const HoloConvWay ways[] = {
    {is_by_tiles, holo_winograd_prepare, holo_winograd_run},
    {is_direct, direct_prepare, direct_run},
    {holo_lines_fits, holo_lines_prepare, holo_lines_run},
    {holo_conv_few_fits, holo_conv_runs_prepare, holo_conv_runs_run},
    {holo_band_fits, holo_band_prepare, holo_band_run},
    {holo_conv_runs_fits, holo_conv_runs_prepare, holo_conv_runs_run},
    {holo_conv_spread_fits, holo_conv_spread_prepare, holo_conv_spread_run},
    {is_any, holo_conv_dense_prepare, holo_conv_dense_run},
};

static const HoloConvWay *way_of(const HoloConvNhwc *c)
{
    const HoloConvWay *way = ways;
    while (!way->fits(c)) way++;
    return way;
}

// ----

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    HoloConvNhwc             *c      = job;
    const HoloConvNhwcParams *params = call->params;
    HOLO_TRY(conv_init(call, c));
    if (packed_size(call, c, 1) < 0) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "W is too large to be packed");
    if (!c->batch) return HOLO_OK;
    if (c->transforms && holo_panels_size(holo_winograd_places(c->tile), c->channels, c->filters) < 0)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "W is too large to be transformed");
    c->way        = way_of(c);
    size_t floats = c->way->prepare(c);
    size_t tail   = holo_tail_scratch(&params->tail);
    *out_scratch  = (floats > tail ? floats : tail) * sizeof(float);
    return HOLO_OK;
}

static HoloStatus run(HoloCall *call, void *job)
{
    HoloConvNhwc *c = job;
    if (!c->way) return HOLO_OK;
    holo_tail_begin(&c->tail);
    c->finish.more = c->more ? c->tail.in[c->more] : NULL;
    c->x           = call->in[0]->data;
    c->w           = call->in[1]->data;
    c->bias        = holo_in(call, 2) ? call->in[2]->data : NULL;
    c->out         = call->out[0]->data;
    c->way->run(c);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_conv_nhwc_f32 = {
    .id          = HOLO_KERNEL_conv_nhwc_f32,
    .name        = "conv_nhwc_f32",
    .job_size    = sizeof(HoloConvNhwc),
    .prepare     = prepare,
    .run         = run,
    .packed_size = packed_size,
};
