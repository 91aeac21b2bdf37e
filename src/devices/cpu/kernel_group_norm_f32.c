// kernel_group_norm_f32.c - GroupNormalization of domain hologram: channels last, with a tail.
//
// First sums of each channel over blocks of rows, then one factor and one addend for each channel, then the rows again,
// each block with its tail. Blocks are cut by shape, and their sums are added in order.
#include "devices/cpu/tail.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <math.h>

enum {
    BLOCK_WORK = 1 << 15, // elements of a block of rows
    BLOCKS_MAX = 64,
};

typedef struct Group {
    const HoloHost *host;
    HoloTail        tail;
    const float    *x, *scale, *bias; // when running
    float          *out;
    double          epsilon;
    int64_t         batch, rows, channels, groups;
    int64_t         block, blocks; // rows of a block; blocks of an image
    size_t          shared;        // floats of the memory of worker 0 that all share
    double         *sums;          // [batch][blocks][sum, square][channels]
    float          *factors;       // [batch][factor, addend][channels]
} Group;

static HoloStatus group_init(const HoloCall *call, Group *g)
{
    const HoloGroupNormParams *params = call->params;
    const HoloTensor          *x = holo_in(call, 0), *out = holo_out(call, 0);
    g->host = call->host;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of group_norm_f32");
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", 3, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", x->rank, x->rank));
    g->channels = x->dim[x->rank - 1];
    for (int i = 1; i <= 2; i++) {
        HOLO_TRY(holo_cpu_kernel_expect(call, holo_in(call, i), "scale or bias", 1, 1));
        if (call->in[i]->dim[0] != g->channels)
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "scale or bias does not have one element for each channel");
    }
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] != out->dim[d]) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the output has another shape");
    g->groups = params->groups;
    if (g->groups < 1 || g->channels % g->groups)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the channels cannot be divided into %lld groups",
                              (long long)g->groups);
    HOLO_TRY(holo_tail_init(call, &params->tail, true, 3, &g->tail));
    if (!holo_tensor_count(x)) return HOLO_OK;
    g->epsilon = (double)params->epsilon;
    g->batch   = x->dim[0];
    g->rows    = holo_product(x->rank - 2, x->dim + 1);
    g->block   = holo_ceil_div(BLOCK_WORK, g->channels);
    if (holo_ceil_div(g->rows, g->block) > BLOCKS_MAX) g->block = holo_ceil_div(g->rows, BLOCKS_MAX);
    g->blocks = holo_ceil_div(g->rows, g->block);
    return HOLO_OK;
}

// Everything shared is in the memory of worker 0: the sums and the factors. Each worker's own memory is behind these.
static size_t shared_floats(const Group *g)
{
    return (size_t)(g->batch * g->channels * (4 * g->blocks + 2));
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Group  *g = job;
    int64_t size;
    HOLO_TRY(group_init(call, g));
    if (!holo_mul(g->batch * g->channels, (4 * g->blocks + 2) * (int64_t)sizeof(float), &size))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the input is too large");
    g->shared    = shared_floats(g);
    *out_scratch = (g->shared + holo_tail_scratch(g->tail.program)) * sizeof(float);
    return HOLO_OK;
}

static void work_sums(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Group *g     = arg;
    int64_t      first = i % g->blocks * g->block, rows = holo_least(g->block, g->rows - first);
    double      *sums = g->sums + i * 2 * g->channels;
    g->host->kernels->moments_f32(rows, g->channels, g->x + (i / g->blocks * g->rows + first) * g->channels, sums,
                                  sums + g->channels);
}

// For one group of an image: what its elements are multiplied by, and what is added.
static void factors_make(const Group *g, int64_t image, int64_t group)
{
    int64_t size = g->channels / g->groups, first = group * size;
    double  sum = 0, square = 0, count = (double)g->rows * (double)size;
    for (int64_t b = 0; b < g->blocks; b++) {
        const double *sums = g->sums + (image * g->blocks + b) * 2 * g->channels;
        for (int64_t c = first; c < first + size; c++) sum += sums[c], square += sums[g->channels + c];
    }
    double mean = sum / count, variance = square / count - mean * mean;
    double factor = 1 / sqrt((variance > 0 || isnan(variance) ? variance : 0) + g->epsilon);
    float *out    = g->factors + image * 2 * g->channels;
    for (int64_t c = first; c < first + size; c++) {
        out[c]               = (float)(factor * (double)g->scale[c]);
        out[g->channels + c] = (float)((double)g->bias[c] - mean * factor * (double)g->scale[c]);
    }
}

static void work_rows(void *arg, int64_t i, int worker)
{
    const Group *g     = arg;
    int64_t      image = i / g->blocks, first = i % g->blocks * g->block, rows = holo_least(g->block, g->rows - first);
    int64_t      row     = image * g->rows + first;
    const float *factors = g->factors + image * 2 * g->channels;
    g->host->kernels->affine_f32(rows, g->channels, g->x + row * g->channels, factors, factors + g->channels,
                                 g->out + row * g->channels);
    holo_tail_run(&g->tail, g->host, row, rows, 0, g->channels, holo_cpu_kernel_scratch(g->host, worker) + g->shared);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Group *g = job;
    if (!g->batch) return HOLO_OK;
    g->x       = call->in[0]->data;
    g->scale   = call->in[1]->data;
    g->bias    = call->in[2]->data;
    g->out     = call->out[0]->data;
    g->sums    = (double *)(void *)holo_cpu_kernel_scratch(call->host, 0);
    g->factors = (float *)(g->sums + g->batch * g->blocks * 2 * g->channels);
    holo_tail_begin(&g->tail);
    call->host->parallel(call->host, g->batch * g->blocks, work_sums, g);
    for (int64_t i = 0; i < g->batch; i++)
        for (int64_t group = 0; group < g->groups; group++) factors_make(g, i, group);
    call->host->parallel(call->host, g->batch * g->blocks, work_rows, g);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_group_norm_f32 = {
    .id       = HOLO_KERNEL_group_norm_f32,
    .name     = "group_norm_f32",
    .job_size = sizeof(Group),
    .prepare  = prepare,
    .run      = run,
};
