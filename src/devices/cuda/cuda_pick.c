// cuda_pick.c - which tile computes a product or a convolution, and into how many parts k is cut.
//
// A table has the tiles; a cost says how long each would take; the cheapest that fits is taken.
#include "devices/cuda/cuda_pick.h"

#include <math.h>
#include <string.h>

enum { LINE = 128, SKEW = 8, SPLITS_MAX = 32 };
static const size_t PARTIAL_MAX = (size_t)64 << 20;

// One kernel of product.cuh. Microseconds, fitted to what bench/cuda measured on an H200: a line of k on a multiprocessor that
// has one block, and that is full of them; and all that a block does before and after its lines.
typedef struct Tile {
    const char *module, *kernel;
    uint8_t     type, numeric;
    uint8_t     b_type; // of floats of 8 bits
    uint8_t     whole;  // a multiply and add in the order of k: k is never cut
    int32_t     m, n, threads, stages, blocks;
    double      one, full, end;
} Tile;

// clang-format off
static const Tile tiles[] = {
    {"product_f16",  "product_f16_128x256",   HOLO_CUDA_F16,  0, 0, 0, 128, 256, 256, 4, 1, 0.90, 0.90, 9.2},
    {"product_f16",  "product_f16_128x128",   HOLO_CUDA_F16,  0, 0, 0, 128, 128, 256, 3, 2, 0.73, 1.26, 6.6},
    {"product_f16",  "product_f16_128x64",    HOLO_CUDA_F16,  0, 0, 0, 128,  64, 256, 4, 2, 0.36, 0.66, 4.8},
    {"product_f16",  "product_f16_64x64",     HOLO_CUDA_F16,  0, 0, 0,  64,  64, 128, 6, 2, 0.36, 0.59, 2.4},
    {"product_bf16", "product_bf16_128x256",  HOLO_CUDA_BF16, 0, 0, 0, 128, 256, 256, 4, 1, 0.90, 0.90, 9.2},
    {"product_bf16", "product_bf16_128x128",  HOLO_CUDA_BF16, 0, 0, 0, 128, 128, 256, 3, 2, 0.73, 1.26, 6.6},
    {"product_bf16", "product_bf16_128x64",   HOLO_CUDA_BF16, 0, 0, 0, 128,  64, 256, 4, 2, 0.36, 0.66, 4.8},
    {"product_bf16", "product_bf16_64x64",    HOLO_CUDA_BF16, 0, 0, 0,  64,  64, 128, 6, 2, 0.36, 0.59, 2.4},
    {"product_tf32", "product_tf32_128x256",  HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32, 0, 0, 128, 256, 256, 4, 1, 0.87, 0.87, 9.2},
    {"product_tf32", "product_tf32_128x128",  HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32, 0, 0, 128, 128, 256, 3, 2, 0.72, 1.22, 6.8},
    {"product_tf32", "product_tf32_128x64",   HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32, 0, 0, 128,  64, 256, 4, 2, 0.35, 0.63, 5.2},
    {"product_tf32", "product_tf32_64x64",    HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_TF32, 0, 0,  64,  64, 128, 6, 2, 0.34, 0.55, 2.6},
    {"product_s8",   "product_s8_128x128",    HOLO_CUDA_S8,   0, 0, 0, 128, 128, 256, 3, 2, 0.73, 1.26, 6.6},
    {"product_s8",   "product_s8_64x64",      HOLO_CUDA_S8,   0, 0, 0,  64,  64, 128, 6, 2, 0.36, 0.59, 2.4},
    {"product_s8",   "product_u8_128x128",    HOLO_CUDA_U8,   0, 0, 0, 128, 128, 256, 3, 2, 0.73, 1.26, 6.6},
    {"product_s8",   "product_u8_64x64",      HOLO_CUDA_U8,   0, 0, 0,  64,  64, 128, 6, 2, 0.36, 0.59, 2.4},
    {"product_f32",  "product_parts_128x64",  HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED, 0, 0, 128,  64, 256, 4, 1, 1.28, 1.28, 4.9},
    {"product_f32",  "product_parts_64x64",   HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED, 0, 0,  64,  64, 128, 6, 2, 0.76, 1.24, 2.5},
    {"product_f32",  "product_fused_64x64",   HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_FUSED, 0, 0,  64,  64, 128, 6, 2, 1.33, 2.41, 2.1},
    {"product_f32",  "product_exact_64x64",   HOLO_CUDA_F32, HOLO_CUDA_NUMERIC_EXACT, 0, 1,  64,  64, 128, 6, 2, 2.0,  3.6,  2.1},
    {"product_f8",   "product_e4m3_e4m3_128x64",     HOLO_CUDA_E4M3, 0, HOLO_CUDA_E4M3, 0, 128,  64, 256, 4, 2, 0.36, 0.66, 4.8},
    {"product_f8",   "product_e4m3_e4m3_64x64",      HOLO_CUDA_E4M3, 0, HOLO_CUDA_E4M3, 0,  64,  64, 128, 6, 2, 0.36, 0.59, 2.4},
    {"product_f8",   "product_e4m3_e5m2_128x64",     HOLO_CUDA_E4M3, 0, HOLO_CUDA_E5M2, 0, 128,  64, 256, 4, 2, 0.36, 0.66, 4.8},
    {"product_f8",   "product_e4m3_e5m2_64x64",      HOLO_CUDA_E4M3, 0, HOLO_CUDA_E5M2, 0,  64,  64, 128, 6, 2, 0.36, 0.59, 2.4},
    {"product_f8",   "product_e5m2_e4m3_128x64",     HOLO_CUDA_E5M2, 0, HOLO_CUDA_E4M3, 0, 128,  64, 256, 4, 2, 0.36, 0.66, 4.8},
    {"product_f8",   "product_e5m2_e4m3_64x64",      HOLO_CUDA_E5M2, 0, HOLO_CUDA_E4M3, 0,  64,  64, 128, 6, 2, 0.36, 0.59, 2.4},
    {"product_f8",   "product_e5m2_e5m2_128x64",     HOLO_CUDA_E5M2, 0, HOLO_CUDA_E5M2, 0, 128,  64, 256, 4, 2, 0.36, 0.66, 4.8},
    {"product_f8",   "product_e5m2_e5m2_64x64",      HOLO_CUDA_E5M2, 0, HOLO_CUDA_E5M2, 0,  64,  64, 128, 6, 2, 0.36, 0.59, 2.4},
};
// clang-format on
enum { TILES = sizeof tiles / sizeof *tiles };

static int32_t size_of(uint8_t type)
{
    return type == HOLO_CUDA_F32 ? 4 : type <= HOLO_CUDA_BF16 ? 2 : 1;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static size_t up(size_t bytes)
{
    return (bytes + 255) & ~(size_t)255;
}

// As many stages as there are lines of k, if these are few: more blocks fit.
static uint32_t shared_of(const Tile *t, int64_t lines)
{
    int32_t count = lines < t->stages ? (int32_t)lines : t->stages;
    int32_t bytes = count * (t->m + t->n) * LINE, sums = t->m * (t->n + SKEW) * 4;
    return (uint32_t)((bytes > sums ? bytes : sums) + 1024); // the tiles begin on 1024 bytes
}

// ---- what a tile would cost

// Blocks come in rounds: all but the last fill the machine. `lines` is of one block.
static double cost_of(const HoloCudaWant *want, const HoloCudaProduct *p, const Tile *t, int64_t splits, int64_t lines)
{
    int64_t blocks = ceil_div(p->m, t->m) * ceil_div(p->n, t->n) * splits * want->batch,
            slots  = (int64_t)want->sms * t->blocks;
    int64_t rounds = ceil_div(blocks, slots), last = blocks - (rounds - 1) * slots;
    bool    alone = last <= want->sms && t->blocks > 1;
    double  cost  = 2 + (double)(rounds - 1) * ((double)lines * t->full + t->end);
    cost += (double)lines * (last <= want->sms ? t->one : t->full) + t->end * (alone ? 0.6 : 1);
    if (splits > 1) cost += want->cluster ? 0.8 : 4 + 0.4 * (double)splits;
    double memory = ((double)p->n * p->k * want->batch + (double)p->m * p->n) * size_of(want->type) / 4e6;
    return cost > memory + 2 ? cost : memory + 2;
}

// ---- the product

static void turn_b(const HoloCudaWant *want, HoloCudaProduct *p, HoloCudaPick *out);
static void turn_a(const HoloCudaWant *want, HoloCudaProduct *p, HoloCudaPick *out);

static bool multiple(int64_t elements, int32_t size, int32_t of)
{
    return elements * size % of == 0;
}

// Can this be computed at all: do offsets fit into 32 bits, does B lie on 16 bytes?
static bool fits(const HoloCudaWant *want, const HoloCudaProduct *p)
{
    int32_t size = size_of(want->type);
    if (want->type >= HOLO_CUDA_S8 && (want->a_first || want->b_plain || p->more_how)) return false;
    if (p->inner < 1 || p->act >= HOLO_CUDA_ACTS) return false;
    if (!multiple(p->ldb, size, 16) || !multiple(p->b_batch[0], size, 16) || !multiple(p->b_batch[1], size, 16))
        return false;
    if (p->ldb < p->k || want->batch > 65535) return false;
    int64_t rows = p->m;
    if (p->height) {
        if (p->out_h < 1 || p->out_w < 1 || p->m % (p->out_h * p->out_w)) return false;
        rows = ((int64_t)p->m / (p->out_h * p->out_w) + 1) *
               ((int64_t)p->height + p->pad_h + (int64_t)p->kernel_h * p->dilation_h) *
               ((int64_t)p->width + p->pad_w + (int64_t)p->kernel_w * p->dilation_w);
        if ((int64_t)p->kernel_h * p->kernel_w * p->channels != p->k) return false;
    }
    return rows * p->lda < INT32_MAX && (int64_t)p->n * p->ldb < INT32_MAX && (int64_t)p->k < INT32_MAX / 2;
}

static void align(const HoloCudaWant *want, HoloCudaProduct *p)
{
    int32_t size = size_of(want->type);
    bool    a    = want->align % 16 == 0 && multiple(p->lda, size, 16) && multiple(p->a_batch[0], size, 16) &&
             multiple(p->a_batch[1], size, 16) && (!p->height || multiple(p->channels, size, 16));
    bool c = want->align % 16 == 0 && p->ldc % 4 == 0 && p->c_batch[0] % 4 == 0 && p->c_batch[1] % 4 == 0 &&
             p->bias_batch[0] % 4 == 0 && p->bias_batch[1] % 4 == 0;
    if (p->more_how)
        c = c && p->more_type <= HOLO_CUDA_BF16 && p->ldmore % 4 == 0 && p->more_batch[0] % 4 == 0 &&
            p->more_batch[1] % 4 == 0;
    p->a_whole = a, p->c_whole = c;
}

// No function and relu are limits: one way through the end of the product for the three.
static void limits(HoloCudaProduct *p)
{
    if (p->act == HOLO_CUDA_ACT_NONE) p->low = -INFINITY;
    if (p->act == HOLO_CUDA_ACT_RELU) p->low = 0;
    if (p->act <= HOLO_CUDA_ACT_RELU) p->high = INFINITY;
}

static HoloCudaKind kind_of(uint8_t type)
{
    return type < HOLO_CUDA_S8 ? HOLO_CUDA_PRODUCT : type <= HOLO_CUDA_U8 ? HOLO_CUDA_BYTES : HOLO_CUDA_FLOAT8;
}

// Tries the tile with k in `splits` parts, and keeps it if it is cheaper than what there is.
static void consider(const HoloCudaWant *want, const HoloCudaProduct *p, const Tile *t, int64_t splits,
                     HoloCudaPick *best)
{
    int32_t line  = LINE / size_of(want->type);
    int64_t lines = ceil_div(p->k ? p->k : 1, line), part = ceil_div(lines, splits);
    if (ceil_div(lines, part) != splits) return;
    int64_t tile_count = ceil_div(p->m, t->m) * ceil_div(p->n, t->n);
    bool    cluster    = splits > 1 && want->cluster;
    if (cluster && splits != 2 && splits != 4 && splits != 8) return;
    size_t partial =
        splits > 1 && !cluster ? (size_t)(tile_count * want->batch * splits) * (size_t)(t->m * t->n) * 4 : 0;
    if (tile_count > INT32_MAX / 2 || partial > PARTIAL_MAX) return;
    if (partial && tile_count * want->batch > HOLO_CUDA_COUNTERS) return;
    if (want->shared && shared_of(t, part) > want->shared) return;
    double cost = cost_of(want, p, t, splits, part);
    if (best->count && best->cost <= cost) return;
    HoloCudaLaunch *l = &best->launch[0];
    *l                = (HoloCudaLaunch){.kind = kind_of(t->type), .module = t->module, .kernel = t->kernel};
    l->grid[0] = (uint32_t)tile_count, l->grid[1] = (uint32_t)splits, l->grid[2] = (uint32_t)want->batch;
    l->block = (uint32_t)t->threads, l->shared = shared_of(t, part);
    l->cluster                = cluster ? (uint32_t)splits : 1;
    l->params_size            = l->kind == HOLO_CUDA_BYTES    ? sizeof(HoloCudaBytes)
                                : l->kind == HOLO_CUDA_FLOAT8 ? sizeof(HoloCudaFloat8)
                                                              : sizeof(HoloCudaProduct);
    l->params.product         = *p; // all parameters begin with it
    l->params.product.splits  = (int32_t)splits;
    l->params.product.cluster = cluster;
    l->params.product.k_split = (int32_t)(part * line);
    best->count = 1, best->cost = cost, best->workspace = up(partial);
}

// All tiles that can do it, or the one of that name.
static bool pick_tile(const HoloCudaWant *want, const HoloCudaProduct *p, const char *only, int64_t only_splits,
                      HoloCudaPick *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < TILES; i++) {
        const Tile *t = &tiles[i];
        if (t->type != want->type || t->b_type != want->b_type) continue;
        if (t->type == HOLO_CUDA_F32 && t->numeric != want->numeric) continue;
        if (only && strcmp(only, t->kernel) != 0) continue;
        for (int64_t splits = 1; splits <= (t->whole ? 1 : SPLITS_MAX); splits++)
            if (!only_splits || splits == only_splits) consider(want, p, t, splits, out);
    }
    if (want->tiled) holo_cuda_pick_tiled(want, p, only, (int32_t)only_splits, out);
    return out->count > 0;
}

// Few rows: the kernel that reads B once. Sums are in another order than k's, so never in class exact.
static bool few_rows(const HoloCudaWant *want, const HoloCudaProduct *p, HoloCudaPick *out)
{
    HoloCudaRows r = {
        .m = p->m, .n = p->n, .k = p->k, .lda = p->lda, .ldb = p->ldb, .ldc = p->ldc, .ldmore = p->ldmore};
    if (p->height || want->batch != 1 || p->m > HOLO_CUDA_ROWS_MAX || want->type > HOLO_CUDA_BF16) return false;
    r.alpha = p->alpha, r.low = p->low, r.high = p->high;
    r.c_type = p->c_type, r.more_type = p->more_type, r.act = p->act, r.more_how = p->more_how;
    return p->c_type <= HOLO_CUDA_BF16 && holo_cuda_pick_rows(want, &r, out);
}

// The turn goes before the launch that was picked, its result before the partial sums.
static void put_turn(const HoloCudaLaunch *turn, int which, size_t bytes, HoloCudaPick *out)
{
    out->launch[1]    = out->launch[0];
    out->launch[0]    = *turn;
    out->count        = 2;
    out->turned       = which;
    out->turned_bytes = bytes;
    out->partial_at   = up(bytes);
    out->workspace += up(bytes);
}

bool holo_cuda_pick_product_as(const HoloCudaWant *want, const HoloCudaProduct *asked, const char *kernel,
                               int32_t splits, HoloCudaPick *out)
{
    HoloCudaProduct p    = *asked;
    HoloCudaPick    turn = {0};
    memset(out, 0, sizeof *out);
    if (p.m <= 0 || p.n <= 0 || want->batch <= 0) return p.m >= 0 && p.n >= 0 && want->batch >= 0;
    if (want->a_first && want->b_plain) return false;
    if (want->a_first) turn_a(want, &p, &turn);
    if (want->b_plain) turn_b(want, &p, &turn);
    if ((want->a_first || want->b_plain) && !turn.count && p.k) return false;
    if (!fits(want, &p)) return false;
    align(want, &p);
    limits(&p);
    if (!kernel && !splits && !turn.count && few_rows(want, &p, out)) return true;
    p.b_early = want->b_constant && !want->b_plain;
    if (!pick_tile(want, &p, kernel, splits, out)) return false;
    if (turn.count) put_turn(&turn.launch[0], turn.turned, turn.turned_bytes, out);
    return true;
}

bool holo_cuda_pick_product(const HoloCudaWant *want, const HoloCudaProduct *asked, HoloCudaPick *out)
{
    return holo_cuda_pick_product_as(want, asked, NULL, 0, out);
}

// ---- turns

bool holo_cuda_pick_turn(const HoloCudaTurn *asked, int32_t batch, HoloCudaPick *out)
{
    memset(out, 0, sizeof *out);
    if (batch < 0 || batch > 65535 || asked->rows < 0 || asked->columns < 0 || asked->to_rows < asked->rows)
        return false;
    if (!batch || !asked->to_rows || !asked->columns) return true;
    HoloCudaLaunch *l = &out->launch[0];
    *l = (HoloCudaLaunch){.kind = HOLO_CUDA_TURN, .module = "turn", .kernel = "turn", .block = 256, .cluster = 1};
    l->grid[0]     = (uint32_t)ceil_div(asked->columns, 32);
    l->grid[1]     = (uint32_t)ceil_div(asked->to_rows, 32);
    l->grid[2]     = (uint32_t)batch;
    l->params_size = sizeof(HoloCudaTurn);
    l->params.turn = *asked;
    out->count     = l->grid[1] <= 65535;
    out->cost      = 2 + (double)batch * asked->to_rows * asked->columns * 8 / 2e6;
    return out->count > 0;
}

// B [k][n] becomes [n][k padded], in the workspace.
static void turn_b(const HoloCudaWant *want, HoloCudaProduct *p, HoloCudaPick *out)
{
    int32_t      each = 16 / size_of(want->type);
    HoloCudaTurn t    = {.inner = p->inner, .rows = p->k, .columns = p->n, .from_row = p->ldb};
    bool         one  = !p->b_batch[0] && !p->b_batch[1]; // one B for the whole batch
    int32_t      ldb  = (int32_t)ceil_div(p->k, each) * each;
    t.from_batch[0] = p->b_batch[0], t.from_batch[1] = p->b_batch[1];
    t.from_type = t.to_type = want->type;
    t.to_rows               = ldb;
    t.to_batch              = (int64_t)p->n * ldb;
    p->ldb                  = ldb;
    p->b_batch[1]           = one ? 0 : t.to_batch;
    p->b_batch[0]           = one ? 0 : t.to_batch * p->inner;
    if (!holo_cuda_pick_turn(&t, one ? 1 : want->batch, out)) return;
    out->turned       = 2;
    out->turned_bytes = (size_t)(one ? 1 : want->batch) * (size_t)t.to_batch * (size_t)size_of(want->type);
}

// An image [channels][height][width] becomes [height][width][channels padded].
static void turn_a(const HoloCudaWant *want, HoloCudaProduct *p, HoloCudaPick *out)
{
    int32_t      each = 16 / size_of(want->type), channels = (int32_t)ceil_div(p->channels, each) * each;
    int32_t      images = p->out_h > 0 && p->out_w > 0 ? p->m / (p->out_h * p->out_w) : 0;
    HoloCudaTurn t      = {.inner = 1, .rows = p->channels, .columns = p->height * p->width, .to_rows = channels};
    t.from_row          = t.columns;
    t.from_batch[0]     = (int64_t)p->channels * t.columns;
    t.from_type = want->a_type, t.to_type = want->type;
    t.to_batch  = (int64_t)t.columns * channels;
    p->channels = p->lda = channels;
    p->k                 = p->kernel_h * p->kernel_w * channels;
    if (want->batch != 1 || !holo_cuda_pick_turn(&t, images, out)) return;
    out->turned       = 1;
    out->turned_bytes = (size_t)images * (size_t)t.to_batch * (size_t)size_of(want->type);
}
