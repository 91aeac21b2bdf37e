// kernel_conv_i8.c - ConvInteger and QLinearConv in 1 to 3 spatial dimensions: exact sums of products; QLinearConv
// scales and quantizes them.
//
// It works as for matrices: filters are the rows, and patches of the image, which the task packs, are the panels.
#include "devices/cpu/conv_shape.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <string.h>

enum {
    TILE_PIXELS  = 256,
    TILE_BYTES   = 1 << 18, // of patches: fewer pixels if filters are long
    TILE_FILTERS = 24,      // laid out at a time
    TILE_TASKS   = 8,       // number of tasks, if they are not too small
    PART_FILTERS = 96,      // packing is repeated for each part of the filters, so parts are not smaller
};

typedef struct Conv {
    const HoloHost   *host;
    HoloConvShape     shape;
    const HoloTensor *x, *w, *x_zero, *w_zero; // zeros NULL: 0
    const HoloTensor *w_scale, *bias;          // NULL: none
    HoloTensor       *out;
    bool              scaled;
    double            x_scale, y_scale, y_zero; // when running
    int64_t           batch, groups, channels, filters, k, pixels;
    int64_t           tile_pixels, pixel_tiles, part_filters, filter_parts;
    int64_t           image, tasks; // bytes of a group of an image
    bool              one_scale;    // of w
} Conv;

typedef struct Memory { // of a worker; rows and panels follow, for the longest filters
    int32_t sums[TILE_FILTERS * TILE_PIXELS];
    int32_t row[TILE_FILTERS], zero[TILE_PIXELS], column[TILE_PIXELS];
} Memory;

static HoloStatus refuse(const HoloCall *call)
{
    return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of conv_i8");
}

static HoloStatus sizes_check(const HoloCall *call, Conv *c)
{
    const HoloTensor *x = c->x, *w = c->w, *out = c->out;
    int64_t           filter = holo_product(w->rank - 2, w->dim + 2);
    HOLO_TRY(holo_conv_groups(call, w, false, &c->groups));
    c->batch    = x->dim[0];
    c->channels = w->dim[1];
    c->filters  = w->dim[0] / c->groups;
    c->pixels   = holo_product(out->rank - 2, out->dim + 2);
    if (filter < 0 || filter > HOLO_CONV_I8_PLACES || !holo_mul(filter, c->channels, &c->k) || c->k > HOLO_CONV_I8_K)
        return refuse(call);
    return HOLO_OK;
}

static void cut(Conv *c)
{
    int64_t most    = TILE_BYTES / (c->k + 1) / HOLO_PANEL * HOLO_PANEL;
    c->tile_pixels  = most < HOLO_PANEL ? HOLO_PANEL : holo_least(most, TILE_PIXELS);
    c->pixel_tiles  = holo_ceil_div(c->pixels, c->tile_pixels);
    c->part_filters = c->filters;
    if (c->batch * c->groups * c->pixel_tiles < TILE_TASKS && c->filters > PART_FILTERS) c->part_filters = PART_FILTERS;
    c->filter_parts = c->part_filters ? holo_ceil_div(c->filters, c->part_filters) : 0;
    c->image        = holo_product(c->x->rank - 2, c->x->dim + 2) * c->channels;
    c->tasks        = c->batch * c->groups * c->filter_parts * c->pixel_tiles;
    c->one_scale    = c->scaled && holo_tensor_count(c->w_scale) == 1;
}

static HoloStatus conv_init(const HoloCall *call, Conv *c)
{
    const HoloConvI8Params *params = call->params;
    *c                             = (Conv){.host = call->host, .x = holo_in(call, 0), .out = holo_out(call, 0)};
    c->scaled                      = holo_op_is(call->op, HOLO_ID_QLinearConv);
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags ||
        (!c->scaled && !holo_op_is(call->op, HOLO_ID_ConvInteger)))
        return refuse(call);
    c->w      = holo_in(call, c->scaled ? 3 : 1);
    c->x_zero = holo_in(call, 2);
    c->w_zero = holo_in(call, c->scaled ? 5 : 3);
    if (!holo_cpu_kernel_is_8(c->x, 3, 5) || !holo_cpu_kernel_is_8(c->w, c->x->rank, c->x->rank) || !c->out ||
        c->out->kind != HOLO_TENSOR || c->out->rank != c->x->rank || holo_tensor_count(c->out) < 0 ||
        (!c->scaled && c->out->dtype != HOLO_I32))
        return refuse(call);
    HOLO_TRY(sizes_check(call, c));
    int64_t all = c->filters * c->groups;
    if (c->scaled) {
        c->w_scale = holo_in(call, 4);
        c->bias    = holo_in(call, 8);
        if (!holo_cpu_kernel_is_8(c->out, c->x->rank, c->x->rank) || !holo_conv_has_scales(call, all))
            return refuse(call);
    } else if ((c->x_zero && !holo_cpu_kernel_is_line(c->x_zero, c->x->dtype, HOLO_ONE)) ||
               (c->w_zero && !holo_cpu_kernel_is_line(c->w_zero, c->w->dtype, all))) {
        return refuse(call);
    }
    if (!holo_tensor_count(c->out)) return HOLO_OK;
    HOLO_TRY(holo_conv_shape(call, c->w->dim + 2, false, false, &c->shape));
    cut(c);
    return HOLO_OK;
}

static size_t rows_bytes(const Conv *c)
{
    return TILE_FILTERS * HOLO_I8_ROW((size_t)c->k);
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Conv *c = job;
    HOLO_TRY(conv_init(call, c));
    *out_scratch = sizeof(Memory) + rows_bytes(c) + (size_t)(c->tile_pixels / HOLO_PANEL) * HOLO_I8_PANEL((size_t)c->k);
    return HOLO_OK;
}

// The number of filters from `first` on with the same zero point, at most `most`.
static int64_t same_zero(const Conv *c, int64_t first, int64_t most)
{
    int64_t count = 1;
    while (count < most && holo_cpu_kernel_zero(c->w_zero, first + count) == holo_cpu_kernel_zero(c->w_zero, first))
        count++;
    return count;
}

static void finish(const Conv *c, int64_t filter, int64_t count, int64_t pixels, const int32_t *sums, uint8_t *out)
{
    for (int64_t i = 0; i < count; i++) {
        const float *w_scale = c->w_scale->data;
        double       scale   = c->x_scale * (double)w_scale[c->one_scale ? 0 : filter + i];
        c->host->kernels->finish_i8(&(HoloFinishI8){
            .n            = pixels,
            .sums         = sums + i * TILE_PIXELS,
            .c            = c->bias ? (const int32_t *)c->bias->data + filter + i : NULL,
            .c_is_one     = true,
            .scale        = &scale,
            .scale_is_one = true,
            .y_scale      = c->y_scale,
            .y_zero       = c->y_zero,
            .to           = c->out->dtype == HOLO_U8 ? HOLO_FINISH_U8 : HOLO_FINISH_I8,
            .out          = out + i * c->pixels,
        });
    }
}

static void work(void *arg, int64_t i, int worker)
{
    const Conv            *c       = arg;
    const HoloKernelTable *kernels = c->host->kernels;
    Memory                *m       = (Memory *)(void *)holo_cpu_kernel_scratch(c->host, worker);
    char                  *rows    = (char *)(m + 1);
    uint8_t               *panels  = (uint8_t *)rows + rows_bytes(c);
    int64_t                pixel = i % c->pixel_tiles * c->tile_pixels, part = i / c->pixel_tiles % c->filter_parts;
    int64_t                plane = i / c->pixel_tiles / c->filter_parts, group = plane % c->groups;
    int64_t                pixels = holo_least(c->tile_pixels, c->pixels - pixel), panel = HOLO_I8_PANEL(c->k);
    kernels->patch_i8(
        &(HoloPatchI8){
            .shape     = &c->shape,
            .image     = (const uint8_t *)c->x->data + plane * c->image,
            .channels  = c->channels,
            .is_signed = c->x->dtype == HOLO_I8,
            .zero      = (uint8_t)holo_cpu_kernel_zero(c->x_zero, 0),
            .first     = pixel,
            .end       = pixel + pixels,
        },
        panels);
    int32_t x_zero = holo_cpu_kernel_zero(c->x_zero, 0) + (c->x->dtype == HOLO_I8 ? 128 : 0);
    for (int64_t j = 0; j < pixels; j++) m->zero[j] = -x_zero;
    int64_t end = holo_least((part + 1) * c->part_filters, c->filters), count;
    for (int64_t f = part * c->part_filters; f < end; f += count) {
        int64_t filter = group * c->filters + f; // of all groups
        count          = same_zero(c, filter, holo_least(TILE_FILTERS, end - f));
        kernels->rows_i8(count, c->k, (const uint8_t *)c->w->data + filter * c->k, c->k, c->w->dtype == HOLO_I8, rows,
                         m->row);
        uint32_t w_zero = (uint32_t)(holo_cpu_kernel_zero(c->w_zero, filter) - (c->w->dtype == HOLO_U8 ? 128 : 0));
        for (int64_t j = 0; j < pixels; j++) {
            int32_t sum;
            memcpy(&sum, panels + (j / HOLO_PANEL + 1) * panel - 64 + j % HOLO_PANEL * 4, sizeof sum);
            m->column[j] = (int32_t)(w_zero * ((uint32_t)c->k * (uint32_t)x_zero - (uint32_t)sum));
        }
        int64_t at = ((plane / c->groups * c->groups + group) * c->filters + f) * c->pixels + pixel;
        kernels->gemm_i8(&(HoloGemmI8){
            .m       = count,
            .n       = pixels,
            .quads   = holo_ceil_div(c->k, 4),
            .a       = rows,
            .a_row   = HOLO_I8_ROW(c->k),
            .b       = panels,
            .b_panel = panel,
            .row     = m->row,
            .zero    = m->zero,
            .column  = m->column,
            .c       = c->scaled ? m->sums : (int32_t *)c->out->data + at,
            .c_row   = c->scaled ? TILE_PIXELS : c->pixels,
        });
        if (c->scaled) finish(c, filter, count, pixels, m->sums, (uint8_t *)c->out->data + at);
    }
}

static HoloStatus run(HoloCall *call, void *job)
{
    Conv *c = job;
    if (!c->tasks) return HOLO_OK;
    if (c->scaled) {
        c->x_scale = holo_get_f(call->in[1], 0);
        c->y_scale = holo_get_f(call->in[6], 0);
        c->y_zero  = holo_get_f(call->in[7], 0);
    }
    call->host->parallel(call->host, c->tasks, work, c);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_conv_i8 = {
    .id       = HOLO_KERNEL_conv_i8,
    .name     = "conv_i8",
    .job_size = sizeof(Conv),
    .prepare  = prepare,
    .run      = run,
};
