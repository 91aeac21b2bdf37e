// cuda_kernel.c - the rows of kinds of steps, and what they share.
#include "devices/cuda/cuda_kernel.h"

#include <string.h>

static const char *const programs_modules[] = {"programs", NULL};
#define PRODUCTS                                                                                       \
    "product_f32", "product_tf32", "product_f16", "product_bf16", "tiled_tf32_sm90", "tiled_f16_sm90", \
        "tiled_bf16_sm90", "turn", "basic", "programs"
static const char *const product_modules[]   = {PRODUCTS, "rows", NULL};
static const char *const block_modules[]     = {PRODUCTS,      "blocks_small", "blocks_four",  "blocks_book",
                                                "blocks_more", "blocks_grid",  "blocks_nbits", NULL};
static const char *const conv_modules[]      = {PRODUCTS, "rows", "depthwise", NULL};
static const char *const winograd_modules[]  = {"winograd", "product_f32", "programs", NULL};
static const char *const basic_modules[]     = {"basic", NULL};
static const char *const pool_modules[]      = {"basic", "quantize", NULL};
static const char *const byte_modules[]      = {"product_s8", "bytes", NULL};
static const char *const float8_modules[]    = {"product_f8", "bytes", NULL};
static const char *const quantize_modules[]  = {"quantize", NULL};
static const char *const rows_modules[]      = {"norm", "basic", NULL};
static const char *const attention_modules[] = {"attention_16", "attention_32", "decode", NULL};
static const char *const norm_modules[]      = {"basic", "programs", NULL};
static const char *const cache_modules[]     = {"cache", NULL};
static const char *const top_modules[]       = {"top", NULL};
static const char *const scatter_modules[]   = {"scatter", "basic", NULL};
static const char *const tuples_modules[]    = {"scatter", NULL};
static const char *const recurrent_modules[] = {"recurrent", "basic", NULL};

static const HoloCudaKernel kernels[HOLO_CUDA_STEP_LIMIT] = {
    [HOLO_CUDA_STEP_PROGRAM]   = {"program", holo_cuda_program, programs_modules},
    [HOLO_CUDA_STEP_PRODUCT]   = {"product", holo_cuda_product, product_modules},
    [HOLO_CUDA_STEP_CONV]      = {"conv", holo_cuda_conv, conv_modules},
    [HOLO_CUDA_STEP_MOVE]      = {"move", holo_cuda_move, basic_modules},
    [HOLO_CUDA_STEP_GATHER]    = {"gather", holo_cuda_gather, basic_modules},
    [HOLO_CUDA_STEP_REDUCE]    = {"reduce", holo_cuda_reduce, basic_modules},
    [HOLO_CUDA_STEP_ROWS]      = {"rows", holo_cuda_rows, rows_modules},
    [HOLO_CUDA_STEP_POOL]      = {"pool", holo_cuda_pool, pool_modules},
    [HOLO_CUDA_STEP_ATTENTION] = {"attention", holo_cuda_attention, attention_modules},
    [HOLO_CUDA_STEP_NORM]      = {"norm", holo_cuda_group_norm, norm_modules},
    [HOLO_CUDA_STEP_TRANSFER]  = {"transfer", holo_cuda_transfer, basic_modules},
    [HOLO_CUDA_STEP_EXTREME]   = {"extreme", holo_cuda_extreme, basic_modules},
    [HOLO_CUDA_STEP_SCAN]      = {"scan", holo_cuda_scan, basic_modules},
    [HOLO_CUDA_STEP_ELEMENTS]  = {"elements", holo_cuda_pick_elements, basic_modules},
    [HOLO_CUDA_STEP_RESIZE]    = {"resize", holo_cuda_resize, basic_modules},
    [HOLO_CUDA_STEP_ROTARY]    = {"rotary", holo_cuda_rotary, cache_modules},
    [HOLO_CUDA_STEP_WRITE]     = {"cache_write", holo_cuda_cache_write, cache_modules},
    [HOLO_CUDA_STEP_CACHED]    = {"cached_attention", holo_cuda_cached_attention, attention_modules},
    [HOLO_CUDA_STEP_TOP]       = {"top", holo_cuda_top, top_modules},
    [HOLO_CUDA_STEP_SCATTER]   = {"scatter", holo_cuda_scatter, scatter_modules},
    [HOLO_CUDA_STEP_TUPLES]    = {"gather_tuples", holo_cuda_gather_tuples, tuples_modules},
    [HOLO_CUDA_STEP_ONE_HOT]   = {"one_hot", holo_cuda_one_hot, tuples_modules},
    [HOLO_CUDA_STEP_RECURRENT] = {"recurrent", holo_cuda_recurrent, recurrent_modules},
    [HOLO_CUDA_STEP_BLOCKS]    = {"blocks", holo_cuda_few_bits, block_modules},
    [HOLO_CUDA_STEP_BYTES]     = {"bytes", holo_cuda_bytes, byte_modules},
    [HOLO_CUDA_STEP_QUANTIZE]  = {"quantize", holo_cuda_quantize, quantize_modules},
    [HOLO_CUDA_STEP_PAIR]      = {"pair", holo_cuda_pair, quantize_modules},
    [HOLO_CUDA_STEP_LOOKUP]    = {"lookup", holo_cuda_lookup, quantize_modules},

    [HOLO_CUDA_STEP_ROWS_LATER]   = {"rows; few by products", holo_cuda_rows_later, rows_modules},
    [HOLO_CUDA_STEP_ROWS_ALONG]   = {"product; few with rows", holo_cuda_product, product_modules},
    [HOLO_CUDA_STEP_ROTARY_LATER] = {"rotary; one by attention", holo_cuda_rotary_later, cache_modules},
    [HOLO_CUDA_STEP_WRITE_LATER]  = {"cache_write; one by attention", holo_cuda_cache_write_later, cache_modules},
    [HOLO_CUDA_STEP_CACHED_ALONG] = {"attention; one with rotary and cache_write", holo_cuda_cached_attention,
                                     attention_modules},
    [HOLO_CUDA_STEP_FLOAT8]       = {"product of floats of 8 bits", holo_cuda_float8, float8_modules},
    [HOLO_CUDA_STEP_WINOGRAD]     = {"conv by tiles of 2x2 pixels", holo_cuda_winograd, winograd_modules},
};

const HoloCudaKernel *holo_cuda_kernel(uint32_t number)
{
    return number < HOLO_CUDA_STEP_LIMIT && kernels[number].name ? &kernels[number] : NULL;
}

HoloStatus holo_cuda_add(HoloCudaMaking *m, const char *module, const char *kernel, const HoloCudaShape *shape,
                         const void *args, size_t size, HoloCudaStep **out)
{
    HoloCudaStep *step = NULL;
    *out               = NULL;
    if (!shape->grid[0] || !shape->grid[1] || !shape->grid[2]) return HOLO_OK;
    if (shape->grid[0] > INT32_MAX || shape->grid[1] > 65535 || shape->grid[2] > 65535 || size > HOLO_CUDA_ARGS)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: these sizes are too large for kernel %s", kernel);
    HOLO_TRY(holo_call_hold(m->call, 1, sizeof *step, (void **)&step));
    for (int i = 0; i < 3; i++) step->grid[i] = (uint32_t)shape->grid[i];
    step->block   = shape->block;
    step->shared  = shape->shared;
    step->cluster = shape->cluster;
    memcpy(step->args, args, size);
    HOLO_TRY(
        holo_cuda_function(m->shared, module, kernel, shape->shared, &step->function, &step->is_early, m->call->error));
    if (m->job->last)
        m->job->last->next = step;
    else
        m->job->first = step;
    m->job->last = step;
    *out         = step;
    return HOLO_OK;
}

void holo_cuda_place(HoloCudaStep *step, size_t at, int operand, uint64_t offset)
{
    if (step) step->place[step->place_count++] = (HoloCudaPlace){(uint16_t)at, (int16_t)operand, offset};
}

void holo_cuda_join(HoloCudaStep *step, size_t size)
{
    if (!step) return;
    HoloCudaPart part = {0, step->grid[0]};
    memcpy(step->args, &part, sizeof part);
    step->many = (uint32_t)size;
}

void holo_cuda_place_map(HoloCudaStep *step, const HoloCudaMap *map, size_t at, int operand, uint64_t offset)
{
    if (step)
        step->map[step->map_count++] =
            (HoloCudaMapPlace){.map = *map, .place = {(uint16_t)at, (int16_t)operand, offset}};
}

size_t holo_cuda_element(const HoloCudaMaking *m, int i)
{
    unsigned dtype = m->call->in[i]->dtype;
    return dtype == HOLO_F32 && holo_cuda_type(m, i) != HOLO_CUDA_F32 ? 2 : holo_dtype_size((HoloDtype)dtype);
}

HoloCudaShape holo_cuda_threads(int64_t count)
{
    return (HoloCudaShape){.grid = {(uint64_t)(count + 255) / 256, 1, 1}, .block = 256};
}

HoloCudaShape holo_cuda_blocks(int64_t count)
{
    return (HoloCudaShape){.grid = {(uint64_t)count, 1, 1}, .block = 256};
}

void holo_cuda_image_strides(const int64_t size[3], int64_t channels, bool is_last, int64_t out[5])
{
    int64_t at = is_last ? channels : 1, all = size[0] * size[1] * size[2];
    out[0] = all * channels;
    out[1] = is_last ? 1 : all;
    for (int d = 2; d >= 0; d--) {
        out[2 + d] = at;
        at *= size[d];
    }
}

int64_t holo_cuda_padded_channels(int64_t channels, int64_t groups, int64_t taps, uint8_t type)
{
    int64_t whole = type == HOLO_CUDA_F32 ? 4 : 8;
    return groups == 1 && taps > 1 && channels < whole ? whole : channels;
}

int64_t holo_cuda_packed_row(int64_t k, uint8_t type)
{
    int64_t each = type == HOLO_CUDA_F32 ? 4 : type == HOLO_CUDA_F16 || type == HOLO_CUDA_BF16 ? 8 : 16;
    return (k + each - 1) / each * each;
}

int64_t holo_cuda_packed_size(int64_t n, int64_t k, uint8_t type)
{
    int64_t size, element = type == HOLO_CUDA_F32 ? 4 : type == HOLO_CUDA_F16 || type == HOLO_CUDA_BF16 ? 2 : 1;
    if (k > INT32_MAX || !holo_mul(n, holo_cuda_packed_row(k, type), &size) || !holo_mul(size, element, &size))
        return -1;
    return size;
}
