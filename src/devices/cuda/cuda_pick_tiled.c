// cuda_pick_tiled.c - which kernel of tiled.cuh computes a product or a convolution, and the maps of its operands.
#include "devices/cuda/cuda_pick.h"

#include <string.h>

enum { LINE = 128, SKEW = 8, STRIP_BYTES = 16 * 40 * 4 };

// Microseconds, fitted to what bench/cuda measured on an H200: what a multiprocessor takes for a line of k of a tile, for the end of
// a tile, and for the first one; `deep` has one tile a block, or a part of its k, which costs `part`.
typedef struct Tile {
    const char *module, *kernel;
    uint8_t     type, deep;
    int32_t     m, n, stages;
    double      line, end, first, part;
} Tile;

// clang-format off
static const Tile tiles[] = {
#define TILES_OF(name, type)                                                                                               \
    {"tiled_" name "_sm90", "wide_" name "_128x256",      type, 0, 128, 256, 4, 0.620, 6.0, -1.8, 0},                     \
    {"tiled_" name "_sm90", "wide_" name "_128x160",      type, 0, 128, 160, 5, 0.400, 3.8, -0.7, 0},                     \
    {"tiled_" name "_sm90", "wide_" name "_ping_128x128", type, 0, 128, 128, 6, 0.305, 2.3,  0.6, 0},                     \
    {"tiled_" name "_sm90", "wide_" name "_ping_128x96",  type, 0, 128,  96, 7, 0.268, 1.7,  0.3, 0},                     \
    {"tiled_" name "_sm90", "wide_" name "_ping_128x64",  type, 0, 128,  64, 8, 0.216, 1.2,  0.3, 0},                     \
    {"tiled_" name "_sm90", "deep_" name "_64x64",        type, 1,  64,  64, 12, 0.230, 1.5, -1.3, 3.0},                  \
    {"tiled_" name "_sm90", "deep_" name "_64x128",       type, 1,  64, 128, 8, 0.240, 3.0, -2.3, 3.7},                   \
    {"tiled_" name "_sm90", "deep_" name "_128x64",       type, 1, 128,  64, 8, 0.250, 3.8, -3.3, 3.4},
    TILES_OF("f16", HOLO_CUDA_F16) TILES_OF("bf16", HOLO_CUDA_BF16) TILES_OF("tf32", HOLO_CUDA_F32)
};
// clang-format on

static int32_t size_of(uint8_t type)
{
    return type == HOLO_CUDA_F32 ? 4 : 2;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

const char *holo_cuda_tiled_module(uint8_t type, uint8_t numeric)
{
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        if (tiles[i].type == type && (type != HOLO_CUDA_F32 || numeric == HOLO_CUDA_NUMERIC_TF32))
            return tiles[i].module;
    return NULL;
}

// ---- what can be done

static bool is_small(int64_t x, int64_t least, int64_t most)
{
    return x >= least && x <= most;
}

// The copy engine's limits for patches: corners in 8 bits, steps of up to 8.
static bool image_fits(const HoloCudaProduct *p)
{
    int64_t right = p->pad_w + (int64_t)(p->kernel_w - 1) * p->dilation_w,
            below = p->pad_h + (int64_t)(p->kernel_h - 1) * p->dilation_h;
    return is_small(p->stride_h, 1, 8) && is_small(p->stride_w, 1, 8) && is_small(p->pad_h, 0, 120) &&
           is_small(p->pad_w, 0, 120) && right <= 120 && below <= 120 && p->channels >= LINE / 8;
}

static bool fits(const HoloCudaWant *want, const HoloCudaProduct *p, const Tile *t)
{
    bool act = p->act <= HOLO_CUDA_ACT_CLIP || p->act == HOLO_CUDA_ACT_GELU_ERF || p->act == HOLO_CUDA_ACT_GELU_TANH ||
               p->act == HOLO_CUDA_ACT_SILU;
    if (want->type > HOLO_CUDA_BF16 || t->type != want->type || want->batch != 1 || !p->a_whole || p->k < 1)
        return false;
    if (want->type == HOLO_CUDA_F32 && want->numeric != HOLO_CUDA_NUMERIC_TF32) return false;
    if (p->height && !image_fits(p)) return false;
    if (p->more_how > HOLO_CUDA_MORE_MUL_AFTER) return false;
    return act && p->c_type == want->type && (!p->more_how || p->more_type == want->type);
}

// ---- maps

static int64_t taps_of(const HoloCudaProduct *p)
{
    return p->height ? (int64_t)p->kernel_h * p->kernel_w : 1;
}

static HoloCudaMap matrix_map(uint8_t type, int64_t rows, int64_t columns, int64_t row, int64_t taps, int64_t tap,
                              int32_t box)
{
    int32_t size = size_of(type);
    return (HoloCudaMap){.type   = type,
                         .rank   = 3,
                         .size   = {(uint64_t)columns, (uint64_t)taps, (uint64_t)rows},
                         .stride = {(uint64_t)(tap * size), (uint64_t)(row * size)},
                         .box    = {(uint32_t)(LINE / size), 1, (uint32_t)box},
                         .step   = {1, 1, 1, 1}};
}

static HoloCudaMap image_map(const HoloCudaProduct *p, uint8_t type, int32_t pixels)
{
    uint64_t size = (uint64_t)size_of(type), pixel = (uint64_t)p->lda * size, line = pixel * (uint64_t)p->width;
    int32_t  last_x = (p->out_w - 1) * p->stride_w - p->pad_w, last_y = (p->out_h - 1) * p->stride_h - p->pad_h;
    return (HoloCudaMap){
        .type     = type,
        .is_image = 1,
        .rank     = 4,
        .size     = {(uint64_t)p->channels, (uint64_t)p->width, (uint64_t)p->height,
                     (uint64_t)(p->m / (p->out_h * p->out_w))},
        .stride   = {pixel, line, line * (uint64_t)p->height},
        .box      = {(uint32_t)(LINE / (int32_t)size), (uint32_t)pixels, 1},
        .step     = {1, (uint32_t)p->stride_w, (uint32_t)p->stride_h, 1},
        .lower    = {-p->pad_w, -p->pad_h},
        .upper    = {last_x - p->width + 1, last_y - p->height + 1}}; // the last patch's corner, from the last pixel
}

static void maps_set(const HoloCudaProduct *p, const Tile *t, HoloCudaLaunch *l)
{
    int64_t channels = p->height ? p->channels : p->k;
    l->map[0] = p->height ? image_map(p, t->type, t->m) : matrix_map(t->type, p->m, p->k, p->lda, 1, p->lda, t->m);
    l->map[1] = matrix_map(t->type, p->n, channels, p->ldb, taps_of(p), taps_of(p) > 1 ? channels : p->ldb, t->n);
}

// ---- what it costs

static int64_t lines_of(const HoloCudaProduct *p, const Tile *t)
{
    return taps_of(p) * ceil_div(p->height ? p->channels : p->k, LINE / size_of(t->type));
}

static double cost_of(const HoloCudaWant *want, const HoloCudaProduct *p, const Tile *t, int64_t parts, int64_t lines)
{
    int64_t tiles  = ceil_div(p->m, t->m) * ceil_div(p->n, t->n);
    double  memory = ((double)p->n * p->k + (double)p->m * p->n) * size_of(t->type) / 4e6;
    double  cost   = t->first + (double)ceil_div(tiles * parts, want->sms) * ((double)lines * t->line + t->end);
    if (parts > 1) cost += t->part;
    return cost > memory + 2 ? cost : memory + 2;
}

// ---- the pick

static uint32_t shared_of(const Tile *t, int64_t lines)
{
    int64_t stages = t->deep && lines < t->stages ? lines : t->stages, bytes = stages * (t->m + t->n) * LINE;
    int64_t sums = (int64_t)t->m * (t->n + SKEW) * 4, own = STRIP_BYTES + t->n * 4;
    if (!t->deep) return (uint32_t)(bytes + 256 + 8 * own + 1024);
    return (uint32_t)((bytes > sums ? bytes : sums) + t->m / 16 * own + 1024);
}

// `parts` of k: blocks of a cluster.
static void consider(const HoloCudaWant *want, const HoloCudaProduct *p, const Tile *t, int32_t parts,
                     HoloCudaPick *best)
{
    int64_t lines = lines_of(p, t), part = ceil_div(lines, parts);
    int64_t tiles = ceil_div(p->m, t->m) * ceil_div(p->n, t->n);
    if (tiles > INT32_MAX / 8 || lines > INT32_MAX / 2) return;
    if (ceil_div(lines, part) != parts) return;
    double cost = cost_of(want, p, t, parts, part);
    if (best->count && best->cost <= cost) return;
    HoloCudaLaunch *l = &best->launch[0];
    *l                = (HoloCudaLaunch){.kind = HOLO_CUDA_TILED, .module = t->module, .kernel = t->kernel};
    l->grid[0]        = (uint32_t)(t->deep || tiles < want->sms ? tiles : want->sms);
    l->grid[1] = (uint32_t)parts, l->grid[2] = 1;
    l->block           = t->deep ? (uint32_t)t->m * 2 + 32 : 384;
    l->shared          = shared_of(t, part);
    l->cluster         = (uint32_t)parts;
    l->params_size     = sizeof(HoloCudaTiled);
    HoloCudaProduct *q = &l->params.tiled.p;
    *q                 = *p;
    q->cluster         = (uint8_t)parts;
    q->splits          = parts;
    q->k_split         = (int32_t)part;
    q->c_whole         = p->c_whole && p->n % 4 == 0;
    maps_set(p, t, l);
    best->count = 1, best->cost = cost, best->workspace = 0;
}

void holo_cuda_pick_tiled(const HoloCudaWant *want, const HoloCudaProduct *p, const char *kernel, int32_t splits,
                          HoloCudaPick *best)
{
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        const Tile *t = &tiles[i];
        if (!fits(want, p, t) || (kernel && strcmp(kernel, t->kernel) != 0)) continue;
        for (int32_t parts = 1; parts <= (t->deep ? 8 : 1); parts *= 2)
            if (!splits || parts == splits) consider(want, p, t, parts, best);
    }
}
