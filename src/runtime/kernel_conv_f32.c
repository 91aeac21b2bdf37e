// kernel_conv_f32.c - Conv of f32 in 1 to 3 spatial dimensions.
//
// out[o][p] = sum over k of W[o][k] * patch[k][p]: each task packs the patches of a tile of output
// pixels into panels, a block of k at a time, and multiplies them by rows of filters as the file has
// them. Where a group has one channel its filters are applied directly.
#include "format/params.h"
#include "kernels/kernels.h"
#include "runtime/conv_shape.h"

enum {
    TILE_PIXELS     = 256, // a block of patches of this width stays in the second cache
    TILE_PIXELS_MIN = 64,
    TILE_FILTERS    = 96,      // packing is repeated for each tile of filters: not fewer
    TILE_TASKS      = 8,       // as many tasks are made, where they are not too small
    TASK_WORK       = 1 << 18, // multiplications that are worth a task
};

typedef struct Conv {
    const HoloHost *host;
    HoloConvShape   shape;
    const float    *x, *w, *bias; // bias NULL: none
    float          *out;
    int64_t         batch, groups;
    int64_t         channels, filters;                                    // of a group
    int64_t         k, pixels;                                            // of a filter; of a plane of the output
    bool            direct;                                               // depthwise
    int64_t         tile_pixels, tile_filters, pixel_tiles, filter_tiles; // else
    int64_t         rows, tile_rows; // depthwise: of all planes of the output, and of a task
} Conv;

// ---- shapes

// A filter of one place, everywhere: the planes are rows.
static void flatten(HoloConvShape *s)
{
    for (int d = 0; d < 3; d++)
        if (s->kernel[d] != 1 || s->stride[d] != 1 || s->pad[d] != 0 || s->in[d] != s->out[d]) return;
    s->in[2]  = s->in[0] * s->in[1] * s->in[2];
    s->out[2] = s->in[2];
    s->in[0] = s->in[1] = s->out[0] = s->out[1] = 1;
}

static HoloStatus operands_check(const HoloCall *call, int64_t groups)
{
    const HoloTensor *x = holo_in(call, 0), *w = holo_in(call, 1), *b = holo_in(call, 2), *out = holo_out(call, 0);
    HOLO_TRY(holo_kernel_expect(call, x, "X", 3, 5));
    HOLO_TRY(holo_kernel_expect(call, w, "W", x->rank, x->rank));
    HOLO_TRY(holo_kernel_expect(call, out, "the output", x->rank, x->rank));
    if (b) HOLO_TRY(holo_kernel_expect(call, b, "B", 1, 1));
    if (groups < 1 || x->dim[1] % groups || w->dim[0] % groups || w->dim[1] != x->dim[1] / groups)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%lld channels and %lld filters do not fall into %lld groups",
                              (long long)x->dim[1], (long long)w->dim[0], (long long)groups);
    if (out->dim[0] != x->dim[0] || out->dim[1] != w->dim[0] || (b && b->dim[0] != w->dim[0]))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are not those of a convolution");
    return HOLO_OK;
}

// ---- cuts: they follow from the shape alone

static void cut(Conv *c)
{
    int64_t planes = c->batch * c->groups;
    c->tile_pixels = TILE_PIXELS;
    while (c->tile_pixels > TILE_PIXELS_MIN && planes * holo_ceil_div(c->pixels, c->tile_pixels) < TILE_TASKS)
        c->tile_pixels /= 2;
    c->pixel_tiles  = holo_ceil_div(c->pixels, c->tile_pixels);
    c->filter_tiles = 1;
    int64_t tiles   = planes * c->pixel_tiles;
    double  worth   = (double)c->filters * (double)c->k * (double)holo_least(c->tile_pixels, c->pixels) / TASK_WORK;
    if (tiles < TILE_TASKS) {
        int64_t want = holo_least(holo_ceil_div(TILE_TASKS, tiles), c->filters / TILE_FILTERS);
        if (worth < (double)want) want = (int64_t)worth;
        if (want > 1) c->filter_tiles = want;
    }
    c->tile_filters = holo_ceil_div(c->filters, c->filter_tiles);
    c->filter_tiles = holo_ceil_div(c->filters, c->tile_filters);
}

static void cut_direct(Conv *c)
{
    c->rows      = c->batch * c->groups * c->filters * c->shape.out[0] * c->shape.out[1];
    double work  = (double)c->shape.out[2] * (double)c->k;
    c->tile_rows = work < TASK_WORK ? (int64_t)(TASK_WORK / work) : 1;
}

// The whole call in numbers; refuses what is not a convolution. Where there is nothing to compute the
// batch is 0 and the rest is not filled in.
static HoloStatus conv_init(const HoloCall *call, Conv *c)
{
    int64_t               groups = holo_attr_int(call, "group", 1);
    const HoloConvParams *params = call->params;
    *c                           = (Conv){.host = call->host, .groups = groups};
    if (!holo_kernel_has_params(call, sizeof *params) || params->flags)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of conv_f32");
    HOLO_TRY(operands_check(call, groups));
    const HoloTensor *x = call->in[0], *w = call->in[1], *b = holo_in(call, 2), *out = call->out[0];
    if (!holo_tensor_count(out)) return HOLO_OK;
    HOLO_TRY(holo_conv_shape(call, w->dim + 2, false, &c->shape));
    flatten(&c->shape);
    c->x        = x->data;
    c->w        = w->data;
    c->bias     = b ? b->data : NULL;
    c->out      = out->data;
    c->batch    = x->dim[0];
    c->channels = w->dim[1];
    c->filters  = w->dim[0] / groups;
    c->k        = holo_product(w->rank - 1, w->dim + 1);
    c->pixels   = c->shape.out[0] * c->shape.out[1] * c->shape.out[2];
    c->direct   = c->channels == 1 && groups > 1;
    c->direct ? cut_direct(c) : cut(c);
    return HOLO_OK;
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Conv c;
    HOLO_TRY(conv_init(call, &c));
    bool none    = !c.batch || c.direct;
    *out_scratch = none ? 0 : (HOLO_GEMM_SCRATCH + (size_t)c.tile_pixels * HOLO_GEMM_K) * sizeof(float);
    return HOLO_OK;
}

// ---- work

static void work(void *arg, int64_t i, int worker)
{
    const Conv *c       = arg;
    int64_t     filter  = i % c->filter_tiles * c->tile_filters;
    int64_t     pixel   = i / c->filter_tiles % c->pixel_tiles * c->tile_pixels;
    int64_t     group   = i / c->filter_tiles / c->pixel_tiles; // of all images
    int64_t     o       = group % c->groups * c->filters + filter;
    int64_t     plane   = c->shape.in[0] * c->shape.in[1] * c->shape.in[2];
    float      *scratch = holo_kernel_scratch(c->host, worker), *panels = scratch + HOLO_GEMM_SCRATCH;
    HoloPatch   patch = {
          .shape = &c->shape,
          .image = c->x + group * c->channels * plane,
          .first = pixel,
          .end   = holo_least(pixel + c->tile_pixels, c->pixels),
    };
    HoloGemm g = {
        .m        = holo_least(c->tile_filters, c->filters - filter),
        .n        = patch.end - patch.first,
        .a_row    = c->k,
        .a_column = 1,
        .b        = panels,
        .b_step   = HOLO_PANEL,
        .c        = c->out + (group * c->filters + filter) * c->pixels + pixel,
        .c_row    = c->pixels,
        .d        = c->bias ? c->bias + o : NULL,
        .d_row    = 1,
        .alpha    = 1,
        .beta     = 1,
        .scratch  = scratch,
    };
    int64_t k = 0;
    do { // once even where k is 0: the bias alone
        patch.k_first = k;
        patch.k_end   = holo_least(k + HOLO_GEMM_K, c->k);
        g.k           = patch.k_end - k;
        g.a           = c->w + o * c->k + k;
        g.b_panel     = g.k * HOLO_PANEL;
        g.resume      = k > 0;
        g.pause       = patch.k_end < c->k;
        c->host->kernels->patch_f32(&patch, panels);
        c->host->kernels->gemm_f32(&g);
        k += HOLO_GEMM_K;
    } while (k < c->k);
}

static void work_direct(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Conv *c     = arg;
    int64_t     lines = c->shape.out[0] * c->shape.out[1], plane = c->shape.in[0] * c->shape.in[1] * c->shape.in[2];
    int64_t     row = i * c->tile_rows, end = holo_least(row + c->tile_rows, c->rows);
    while (row < end) {
        int64_t       image = row / lines, first = row % lines, last = holo_least(lines, first + end - row);
        int64_t       o = image % (c->groups * c->filters);
        HoloDepthwise d = {
            .shape  = &c->shape,
            .image  = c->x + image / c->filters * plane,
            .filter = c->w + o * c->k,
            .bias   = c->bias ? c->bias[o] : 0,
            .out    = c->out + image * c->pixels,
        };
        c->host->kernels->depthwise_f32(&d, first, last);
        row += last - first;
    }
}

static HoloStatus run(HoloCall *call)
{
    Conv c;
    HOLO_TRY(conv_init(call, &c));
    if (!c.batch) return HOLO_OK;
    if (c.direct)
        call->host->parallel(call->host, holo_ceil_div(c.rows, c.tile_rows), work_direct, &c);
    else
        call->host->parallel(call->host, c.batch * c.groups * c.pixel_tiles * c.filter_tiles, work, &c);
    return HOLO_OK;
}

const HoloKernel holo_kernel_conv_f32 = {
    .id    = HOLO_KERNEL_conv_f32,
    .name  = "conv_f32",
    .check = check,
    .run   = run,
};
