// kernel_conv_f32.c - Conv of f32 in 1 to 3 spatial dimensions.
//
// out[o][p] = sum over k of W[o][k] * patch[k][p]. Each task packs the patches of a tile of output pixels into panels,
// a block of k at a time, and multiplies them with rows of filters as the file has them. If there are few pixels, tasks
// are tiles of filters, and the patches are packed first, once for all tasks. If a group has one channel, its filters
// are applied directly, a band of rows at a time.
#include "devices/cpu/conv_shape.h"
#include "format/params.h"
#include "kernels/kernels.h"

enum {
    TILE_PIXELS         = 256, // a block of patches of this width stays in the second cache
    TILE_PIXELS_MIN     = 64,
    TILE_FILTERS        = 96,      // packing is repeated for each tile of filters, so tiles are not smaller
    TILE_FILTERS_SHARED = 24,      // if packing is not repeated
    TILE_TASKS          = 8,       // as many tasks are made, where they are not too small
    TASK_WORK           = 1 << 18, // multiplications that are worth a task
    SHARED_FLOATS       = 1 << 19, // most patches that are packed first: they stay in the second cache
    SHARED_K            = 512,     // of patches that one task packs
    BAND_FLOATS         = 6144,    // a band of the image of about this size stays in the first cache
};

typedef struct Conv {
    const HoloHost *host;
    HoloConvShape   shape;
    const float    *x, *w, *bias; // when running; bias NULL: none
    float          *out;
    int64_t         tasks;
    int64_t         batch, groups;
    int64_t         channels, filters;                                    // of a group
    int64_t         k, pixels;                                            // of a filter; of a plane of the output
    bool            direct;                                               // depthwise
    int64_t         tile_pixels, tile_filters, pixel_tiles, filter_tiles; // dense
    bool            shared;                                               // patches are packed before
    int64_t         panels, k_tiles, patch_tasks;                         // of a plane, if packed before
    int64_t         band_rows, bands, band_count, tile_bands; // otherwise: bands of a plane, of all planes, of a task
    int64_t         lines, columns, phases;                   // of a phase; floats of all phases
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

// ---- cuts: they depend on the shape alone

static void cut(Conv *c)
{
    int64_t planes = c->batch * c->groups;
    c->tile_pixels = TILE_PIXELS;
    c->panels      = holo_ceil_div(c->pixels, HOLO_PANEL);
    c->k_tiles     = holo_ceil_div(c->k, SHARED_K);
    c->shared      = planes * holo_ceil_div(c->pixels, TILE_PIXELS) < TILE_TASKS && c->k > 0 &&
                c->k <= SHARED_FLOATS / HOLO_PANEL / (planes * c->panels);
    while (!c->shared && c->tile_pixels > TILE_PIXELS_MIN &&
           planes * holo_ceil_div(c->pixels, c->tile_pixels) < TILE_TASKS)
        c->tile_pixels /= 2;
    c->pixel_tiles  = holo_ceil_div(c->pixels, c->tile_pixels);
    c->filter_tiles = 1;
    int64_t tiles   = planes * c->pixel_tiles;
    double  worth   = (double)c->filters * (double)c->k * (double)holo_least(c->tile_pixels, c->pixels) / TASK_WORK;
    if (tiles < TILE_TASKS) {
        int64_t most = c->filters / (c->shared ? TILE_FILTERS_SHARED : TILE_FILTERS);
        int64_t want = holo_least(holo_ceil_div(TILE_TASKS, tiles), most);
        if (worth < (double)want) want = (int64_t)worth;
        if (want > 1) c->filter_tiles = want;
    }
    c->tile_filters = holo_ceil_div(c->filters, c->filter_tiles);
    c->filter_tiles = holo_ceil_div(c->filters, c->tile_filters);
    c->shared       = c->shared && c->filter_tiles > 1;
}

// Bands of rows whose input stays in the first cache, or as high as the filter reaches. Fails if phases would be too
// large.
static HoloStatus cut_direct(const HoloCall *call, Conv *c)
{
    for (int d = 0; d < 3; d++)
        if (c->shape.out[d] == 1) c->shape.stride[d] = 1; // it is never used, and would make phases
    const HoloConvShape *s     = &c->shape;
    int64_t              reach = (s->kernel[1] - 1) * s->dilation[1] / s->stride[1], count, size;
    c->columns                 = s->out[2] + (s->kernel[2] - 1) * s->dilation[2] / s->stride[2];
    bool    fits = holo_mul(s->stride[1] * s->stride[2], s->kernel[0], &count) && holo_mul(count, c->columns, &count);
    int64_t rows = fits && count < BAND_FLOATS ? BAND_FLOATS / count - reach : 1;
    c->band_rows = holo_least(s->out[1], rows > reach ? rows : reach > 1 ? reach : 1);
    c->lines     = c->band_rows + reach;
    fits = fits && holo_mul(count, c->lines, &c->phases) && holo_mul(c->phases + c->k, 4 * sizeof(float), &size);
    if (!fits) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the convolution reaches too far");
    c->bands      = holo_ceil_div(s->out[1], c->band_rows);
    c->band_count = c->batch * c->groups * c->filters * s->out[0] * c->bands;
    double work   = (double)c->band_rows * (double)s->out[2] * (double)c->k;
    c->tile_bands = work < TASK_WORK ? (int64_t)(TASK_WORK / work) : 1;
    return HOLO_OK;
}

// The numbers of the whole call. Refuses what is not a convolution. If there is nothing to compute, batch is 0 and the
// rest is not filled in.
static HoloStatus conv_init(const HoloCall *call, Conv *c)
{
    const HoloConvParams *params = call->params;
    *c                           = (Conv){.host = call->host};
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of conv_f32");
    HOLO_TRY(holo_conv_expect(call, false, &c->groups));
    const HoloTensor *x = call->in[0], *w = call->in[1], *out = call->out[0];
    if (!holo_tensor_count(out)) return HOLO_OK;
    HOLO_TRY(holo_conv_shape(call, w->dim + 2, false, false, &c->shape));
    flatten(&c->shape);
    c->batch    = x->dim[0];
    c->channels = w->dim[1];
    c->filters  = w->dim[0] / c->groups;
    c->k        = holo_product(w->rank - 1, w->dim + 1);
    c->pixels   = c->shape.out[0] * c->shape.out[1] * c->shape.out[2];
    c->direct   = c->channels == 1 && c->groups > 1;
    if (c->direct) {
        HOLO_TRY(cut_direct(call, c));
        c->tasks = holo_ceil_div(c->band_count, c->tile_bands);
        return HOLO_OK;
    }
    cut(c);
    c->tasks       = c->batch * c->groups * c->pixel_tiles * c->filter_tiles;
    c->patch_tasks = c->shared ? c->batch * c->groups * c->panels * c->k_tiles : 0;
    return HOLO_OK;
}

// Floats that a worker needs for direct filters: the phases, the sums and, as int64_t, the offsets.
static size_t direct_floats(const Conv *c)
{
    return (size_t)(c->phases + c->lines * c->columns + 2 * c->k + 2 * HOLO_DEPTHWISE_SLACK);
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Conv *c = job;
    HOLO_TRY(conv_init(call, c));
    size_t patches = c->shared ? (size_t)(c->batch * c->groups * c->panels * HOLO_PANEL * c->k)
                               : (size_t)c->tile_pixels * HOLO_GEMM_K;
    size_t floats  = c->direct ? direct_floats(c) : HOLO_GEMM_SCRATCH + patches;
    *out_scratch   = c->batch ? floats * sizeof(float) : 0;
    return HOLO_OK;
}

// ---- work

// The shared panels: [plane][panel][k][16].
static float *panels_at(const Conv *c, int64_t plane, int64_t pixel)
{
    return holo_cpu_kernel_scratch(c->host, 0) + HOLO_GEMM_SCRATCH + (plane * c->panels * HOLO_PANEL + pixel) * c->k;
}

static const float *image_at(const Conv *c, int64_t plane)
{
    return c->x + plane * c->channels * c->shape.in[0] * c->shape.in[1] * c->shape.in[2];
}

static void work_patches(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Conv *c = arg;
    int64_t     k = i % c->k_tiles * SHARED_K, pixel = i / c->k_tiles % c->panels * HOLO_PANEL;
    int64_t     plane = i / c->k_tiles / c->panels;
    HoloPatch   patch = {
          .shape   = &c->shape,
          .image   = image_at(c, plane),
          .first   = pixel,
          .end     = holo_least(pixel + HOLO_PANEL, c->pixels),
          .k_first = k,
          .k_end   = holo_least(k + SHARED_K, c->k),
    };
    c->host->kernels->patch_f32(&patch, panels_at(c, plane, pixel) + k * HOLO_PANEL);
}

// The product, with patches packed here, a block of k at a time.
static void multiply_packing(const Conv *c, HoloPatch *patch, HoloGemm *g, float *panels)
{
    const float *filters = g->a;
    int64_t      k       = 0;
    g->b                 = panels;
    do { // once even if k is 0: only the bias
        patch->k_first = k;
        patch->k_end   = holo_least(k + HOLO_GEMM_K, c->k);
        g->k           = patch->k_end - k;
        g->a           = filters + k;
        g->b_panel     = g->k * HOLO_PANEL;
        g->resume      = k > 0;
        g->pause       = patch->k_end < c->k;
        c->host->kernels->patch_f32(patch, panels);
        c->host->kernels->gemm_f32(g);
        k += HOLO_GEMM_K;
    } while (k < c->k);
}

static void work(void *arg, int64_t i, int worker)
{
    const Conv *c       = arg;
    int64_t     filter  = i % c->filter_tiles * c->tile_filters;
    int64_t     pixel   = i / c->filter_tiles % c->pixel_tiles * c->tile_pixels;
    int64_t     plane   = i / c->filter_tiles / c->pixel_tiles; // a group of an image
    int64_t     o       = plane % c->groups * c->filters + filter;
    float      *scratch = holo_cpu_kernel_scratch(c->host, worker);
    HoloPatch   patch   = {
            .shape = &c->shape,
            .image = image_at(c, plane),
            .first = pixel,
            .end   = holo_least(pixel + c->tile_pixels, c->pixels),
    };
    HoloGemm g = {
        .m        = holo_least(c->tile_filters, c->filters - filter),
        .n        = patch.end - patch.first,
        .k        = c->k,
        .a        = c->w + o * c->k,
        .a_row    = c->k,
        .a_column = 1,
        .b_panel  = c->k * HOLO_PANEL,
        .b_step   = HOLO_PANEL,
        .c        = c->out + (plane * c->filters + filter) * c->pixels + pixel,
        .c_row    = c->pixels,
        .d        = c->bias ? c->bias + o : NULL,
        .d_row    = 1,
        .alpha    = 1,
        .beta     = 1,
        .scratch  = scratch,
    };
    if (!c->shared) {
        multiply_packing(c, &patch, &g, scratch + HOLO_GEMM_SCRATCH);
        return;
    }
    g.b = panels_at(c, plane, pixel);
    c->host->kernels->gemm_f32(&g);
}

// The offset of the first pixel for each place of the filter, in its phase.
static void offsets_init(const Conv *c, int64_t *out)
{
    const HoloConvShape *s = &c->shape;
    for (int64_t t = 0; t < c->k; t++) {
        int64_t x = t % s->kernel[2] * s->dilation[2], y = t / s->kernel[2] % s->kernel[1] * s->dilation[1];
        int64_t z     = t / s->kernel[2] / s->kernel[1];
        int64_t phase = (z * s->stride[1] + y % s->stride[1]) * s->stride[2] + x % s->stride[2];
        out[t]        = (phase * c->lines + y / s->stride[1]) * c->columns + x / s->stride[2];
    }
}

static void work_direct(void *arg, int64_t i, int worker)
{
    const Conv   *c       = arg;
    int64_t       plane   = c->shape.in[0] * c->shape.in[1] * c->shape.in[2];
    int64_t       end     = holo_least((i + 1) * c->tile_bands, c->band_count);
    int64_t      *offsets = (int64_t *)(void *)holo_cpu_kernel_scratch(c->host, worker);
    float        *phases  = (float *)(offsets + c->k);
    HoloDepthwise d       = {
              .shape   = &c->shape,
              .rows    = c->band_rows,
              .lines   = c->lines,
              .columns = c->columns,
              .taps    = c->k,
              .offset  = offsets,
              .phases  = phases,
              .sums    = phases + c->phases + HOLO_DEPTHWISE_SLACK,
    };
    offsets_init(c, offsets);
    for (int64_t band = i * c->tile_bands; band < end; band++) {
        int64_t first = band % c->bands * c->band_rows, z = band / c->bands % c->shape.out[0];
        int64_t image = band / c->bands / c->shape.out[0], o = image % (c->groups * c->filters);
        d.image  = c->x + image / c->filters * plane;
        d.filter = c->w + o * c->k;
        d.bias   = c->bias ? c->bias[o] : 0;
        d.out    = c->out + image * c->pixels;
        c->host->kernels->depthwise_f32(&d, z, first, holo_least(first + c->band_rows, c->shape.out[1]));
    }
}

static HoloStatus run(HoloCall *call, void *job)
{
    Conv           *c    = job;
    const HoloHost *host = call->host;
    if (!c->tasks) return HOLO_OK;
    c->x    = call->in[0]->data;
    c->w    = call->in[1]->data;
    c->bias = holo_in(call, 2) ? call->in[2]->data : NULL;
    c->out  = call->out[0]->data;
    if (c->patch_tasks) host->parallel(host, c->patch_tasks, work_patches, c);
    host->parallel(host, c->tasks, c->direct ? work_direct : work, c);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_conv_f32 = {
    .id       = HOLO_KERNEL_conv_f32,
    .name     = "conv_f32",
    .job_size = sizeof(Conv),
    .prepare  = prepare,
    .run      = run,
};
