// cuda_pick_more.c - kernels for few rows, depthwise convolutions, attention and norms, and how they are launched.
#include "devices/cuda/cuda_pick.h"

#include <string.h>

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int32_t size_of(uint8_t type)
{
    return type == HOLO_CUDA_F32 ? 4 : type <= HOLO_CUDA_BF16 ? 2 : 1;
}

static HoloCudaLaunch *begin(HoloCudaPick *out, HoloCudaKind kind, const char *module, const char *kernel,
                             uint32_t size)
{
    HoloCudaLaunch *l = &out->launch[0];
    l->kind = kind, l->module = module, l->kernel = kernel, l->params_size = size, l->cluster = 1;
    l->grid[0] = l->grid[1] = l->grid[2] = 1;
    out->count                           = 1;
    return l;
}

// ---- few rows

enum { ROWS_WARPS = 8, ROWS_COLUMNS = 2 }; // as in rows.cu

// How many warps share two rows of B: as few as fill the machine, and so many that its blocks end together. Where A is normalised, a
// block begins late, and has more rows of B for it.
static int32_t rows_share(const HoloCudaWant *want, const HoloCudaRows *asked, int32_t size)
{
    int64_t all = 2 * (int64_t)want->sms * ROWS_WARPS, pairs = ceil_div(asked->n, ROWS_COLUMNS), best = 0;
    int32_t found = 1, most = asked->norm ? ROWS_WARPS / 2 : ROWS_WARPS;
    for (int32_t share = 1; share <= most; share *= 2) {
        int64_t pieces = ceil_div((int64_t)asked->k * size, 32 * 16), each = ceil_div(pieces, share);
        int64_t rounds = ceil_div(pairs * share, all);
        int64_t time   = rounds * (each + 2); // adding up takes as long as two pieces
        if (share > 1 && time >= best) continue;
        best  = time;
        found = share;
    }
    return found;
}

// Pieces of a row in shared memory. Two blocks of a multiprocessor must fit, and where there is as much as on sm_90 one of the next
// kernel beside them in the usual case, so that it can ask for its weights early.
static int64_t rows_kept(uint8_t type, int64_t m, int64_t k)
{
    return m * ceil_div(k * size_of(type), 16) * 16;
}

bool holo_cuda_rows_keep(uint8_t type, uint32_t shared, int64_t m, int64_t k)
{
    enum { MOST_SM80 = 14 << 10, MOST_SM90 = 40 << 10, LARGE = 200 << 10 };
    bool is_large = !shared || shared >= LARGE;
    return type <= HOLO_CUDA_BF16 && m <= HOLO_CUDA_ROWS_MAX && k <= MOST_SM90 &&
           rows_kept(type, m, k) <= (is_large ? MOST_SM90 : MOST_SM80);
}

static uint32_t rows_blocks(const HoloCudaWant *want, int32_t n, int32_t columns)
{
    int64_t blocks = ceil_div(n, columns);
    return (uint32_t)(blocks < 2 * want->sms ? blocks : 2 * want->sms);
}

bool holo_cuda_pick_rows(const HoloCudaWant *want, const HoloCudaRows *asked, HoloCudaPick *out)
{
    // by type, then for 1, 4 and 8 rows
    static const char *const kernels[][3] = {{"rows_f32_1", "rows_f32_4", "rows_f32_8"},
                                             {"rows_f16_1", "rows_f16_4", "rows_f16_8"},
                                             {"rows_bf16_1", "rows_bf16_4", "rows_bf16_8"}};
    static const char *const gated[][3]   = {{"gated_f32_1", "gated_f32_4", "gated_f32_8"},
                                             {"gated_f16_1", "gated_f16_4", "gated_f16_8"},
                                             {"gated_bf16_1", "gated_bf16_4", "gated_bf16_8"}};
    memset(out, 0, sizeof *out);
    if (want->type > HOLO_CUDA_BF16 || asked->m > HOLO_CUDA_ROWS_MAX) return false;
    int32_t size = size_of(want->type);
    if (want->numeric == HOLO_CUDA_NUMERIC_EXACT || asked->ldb * (int64_t)size % 16 || asked->ldb < asked->k)
        return false;
    if (asked->m <= 0 || asked->n <= 0) return asked->m >= 0 && asked->n >= 0;
    int             rows  = asked->m == 1 ? 0 : asked->m <= 4 ? 1 : 2;
    HoloCudaLaunch *l     = begin(out, HOLO_CUDA_ROWS, "rows", kernels[want->type][rows], sizeof(HoloCudaRows));
    int32_t         share = rows_share(want, asked, size);
    bool            kept  = holo_cuda_rows_keep(want->type, want->shared, asked->m, asked->k);
    if (asked->norm && !kept) return false;
    l->params.rows         = *asked;
    l->params.rows.kept    = kept;
    l->params.rows.share   = share;
    l->params.rows.whole   = want->align % 16 == 0 && asked->lda * (int64_t)size % 16 == 0;
    l->params.rows.b_early = want->b_constant;
    l->block               = ROWS_WARPS * 32;
    l->grid[0]             = rows_blocks(want, asked->n, ROWS_WARPS / share * ROWS_COLUMNS);
    l->gated               = asked->more_how >= HOLO_CUDA_MORE_MUL_AFTER ? gated[want->type][rows] : NULL;
    l->gated_blocks        = rows_blocks(want, asked->n, ROWS_WARPS / share);
    l->shared              = HOLO_CUDA_ROWS_STAGES * ROWS_COLUMNS * ROWS_WARPS * 32 * 16 +
                (kept ? (uint32_t)rows_kept(want->type, asked->m, asked->k) : 0);
    l->params.rows.part = (HoloCudaPart){0, l->grid[0]};
    out->cost           = 2 + (double)asked->n * asked->k * size / 3.5e6;
    return true;
}

// ---- depthwise

bool holo_cuda_pick_depthwise(const HoloCudaWant *want, const HoloCudaDepthwise *asked, HoloCudaPick *out)
{
    // by type: 3x3, 3x3 with stride 2, any
    static const char *const kernels[][3] = {{"depthwise_f32_3x3", "depthwise_f32_3x3_2", "depthwise_f32"},
                                             {"depthwise_f16_3x3", "depthwise_f16_3x3_2", "depthwise_f16"},
                                             {"depthwise_bf16_3x3", "depthwise_bf16_3x3_2", "depthwise_bf16"}};
    enum { ACROSS = 4, BLOCK = 128, SMALL = 32 };
    memset(out, 0, sizeof *out);
    if (want->type > HOLO_CUDA_BF16 || want->numeric == HOLO_CUDA_NUMERIC_EXACT) return false;
    int32_t each = 16 / size_of(want->type);
    if (want->align % 16 || asked->channels % each) return false;
    if (asked->batch <= 0 || asked->out_h <= 0 || asked->out_w <= 0 || asked->channels <= 0) return true;
    bool square = asked->kernel_h == 3 && asked->kernel_w == 3 && asked->dilation_h == 1 && asked->dilation_w == 1 &&
                  asked->stride_h == asked->stride_w && asked->stride_w <= 2;
    int64_t threads = (int64_t)asked->batch * asked->out_h * ceil_div(asked->out_w, ACROSS) * (asked->channels / each);
    if (threads > INT32_MAX - BLOCK) return false;
    const char     *kernel = kernels[want->type][square ? asked->stride_w - 1 : 2];
    HoloCudaLaunch *l      = begin(out, HOLO_CUDA_DEPTHWISE, "depthwise", kernel, sizeof(HoloCudaDepthwise));
    l->params.depthwise    = *asked;
    l->block               = threads < (int64_t)want->sms * BLOCK / 2 ? SMALL : BLOCK; // all multiprocessors have work
    l->grid[0]             = (uint32_t)ceil_div(threads, l->block);
    out->cost              = 2 + (double)threads * ACROSS * 32 / 3e6;
    return true;
}

// ---- attention

typedef struct Heads {
    const char *module, *kernel;
    uint8_t     type, numeric;
    int32_t     size, keys; // of a head at most; of a tile
} Heads;

// clang-format off
static const Heads heads[] = {
    {"attention_16", "attention_f16_64",    HOLO_CUDA_F16,  HOLO_CUDA_NUMERIC_FUSED,  64, 64},
    {"attention_16", "attention_f16_128",   HOLO_CUDA_F16,  HOLO_CUDA_NUMERIC_FUSED, 128, 64},
    {"attention_16", "attention_f16_256",   HOLO_CUDA_F16,  HOLO_CUDA_NUMERIC_FUSED, 256, 32},
    {"attention_16", "attention_bf16_64",   HOLO_CUDA_BF16, HOLO_CUDA_NUMERIC_FUSED,  64, 64},
    {"attention_16", "attention_bf16_128",  HOLO_CUDA_BF16, HOLO_CUDA_NUMERIC_FUSED, 128, 64},
    {"attention_16", "attention_bf16_256",  HOLO_CUDA_BF16, HOLO_CUDA_NUMERIC_FUSED, 256, 32},
    {"attention_32", "attention_tf32_64",   HOLO_CUDA_F32,  HOLO_CUDA_NUMERIC_TF32,   64, 32},
    {"attention_32", "attention_tf32_128",  HOLO_CUDA_F32,  HOLO_CUDA_NUMERIC_TF32,  128, 32},
    {"attention_32", "attention_parts_64",  HOLO_CUDA_F32,  HOLO_CUDA_NUMERIC_FUSED,  64, 32},
    {"attention_32", "attention_parts_128", HOLO_CUDA_F32,  HOLO_CUDA_NUMERIC_FUSED, 128, 32},
    {"attention_32", "attention_parts_256", HOLO_CUDA_F32,  HOLO_CUDA_NUMERIC_FUSED, 256, 16},
};
// clang-format on

// One or four rows (queries times heads that share K and V) of up to 64 or 128 numbers, by type.
static const char *const decodes[][2][2] = {
    {{"queries_f32_64_1", "queries_f32_64_4"}, {"queries_f32_128_1", "queries_f32_128_4"}},
    {{"queries_f16_64_1", "queries_f16_64_4"}, {"queries_f16_128_1", "queries_f16_128_4"}},
    {{"queries_bf16_64_1", "queries_bf16_64_4"}, {"queries_bf16_128_1", "queries_bf16_128_4"}},
};

static bool strides_whole(const HoloCudaAttention *p, int32_t size)
{
    const int64_t *all[] = {p->q_stride, p->k_stride, p->v_stride, p->out_stride};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            if (all[i][j] * size % 16) return false;
    return true;
}

static void pick_decode(const HoloCudaWant *want, HoloCudaAttention *p, int32_t wide, HoloCudaPick *out)
{
    enum { LEAST = 64, LONG = 4096, CLUSTER_MOST = 8 }; // keys of a block; of a cluster
    int32_t rows = p->heads / p->kv_heads * p->queries, each = rows == 1 ? 1 : 4, size = wide > 64 ? 128 : 64;
    int64_t blocks = p->kv_heads * ceil_div(rows, each), items = blocks * p->batch;
    int64_t splits = ceil_div(2 * want->sms, items), most = ceil_div(p->keys, LEAST);
    if (splits > most) splits = most;
    p->cluster = want->cluster && splits > 1 && p->keys <= LONG;
    if (p->cluster) splits = splits >= CLUSTER_MOST ? CLUSTER_MOST : splits >= 4 ? 4 : 2;
    if (splits < 1 || (!p->cluster && items > HOLO_CUDA_COUNTERS)) splits = 1;
    p->keys_split = p->cluster ? LEAST / 4 : LEAST;
    p->splits     = (int32_t)splits;
    HoloCudaLaunch *l =
        begin(out, HOLO_CUDA_ATTENTION, "decode", decodes[want->type][wide > 64][each > 1], sizeof(HoloCudaAttention));
    l->params.attention = *p;
    l->block            = 256;
    l->cluster          = p->cluster ? (uint32_t)splits : 1;
    l->grid[0] = (uint32_t)blocks, l->grid[1] = (uint32_t)splits, l->grid[2] = (uint32_t)p->batch;
    if (splits > 1 && !p->cluster)
        out->workspace = ((size_t)(items * splits * each * (size + 2)) * 4 + 255) & ~(size_t)255;
    out->cost = 4 + (double)p->batch * p->kv_heads * p->keys * (p->size + p->v_size) * size_of(want->type) / 3e6;
}

bool holo_cuda_pick_attention(const HoloCudaWant *want, const HoloCudaAttention *asked, HoloCudaPick *out)
{
    HoloCudaAttention p    = *asked;
    int32_t           wide = p.size > p.v_size ? p.size : p.v_size, size = size_of(want->type);
    memset(out, 0, sizeof *out);
    if (want->type > HOLO_CUDA_BF16 || want->numeric == HOLO_CUDA_NUMERIC_EXACT || p.mask_type > HOLO_CUDA_MASK_FRESH)
        return false;
    if (p.kv_heads < 1 || p.heads % p.kv_heads || p.heads > 65535 || p.batch > 65535 || wide > 256) return false;
    if (p.batch <= 0 || p.queries <= 0 || p.heads <= 0 || p.v_size <= 0) return true;
    p.whole = want->align % 16 == 0 && strides_whole(&p, size);
    if (p.queries <= 4 && wide <= 128) {
        pick_decode(want, &p, wide, out);
        return true;
    }
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const Heads *h = &heads[i];
        if (h->type != want->type || h->size < wide) continue;
        // where tf32 was asked for and is not there, what is closer is right too
        if (h->type == HOLO_CUDA_F32 && want->numeric == HOLO_CUDA_NUMERIC_FUSED && h->numeric != want->numeric)
            continue;
        uint32_t tile = (uint32_t)(2 * h->keys * h->size * size), shared = (uint32_t)(64 * h->size * size) + 2 * tile;
        p.is_single = want->shared && shared > want->shared;
        if (p.is_single) shared -= tile;
        if (want->shared && shared > want->shared) continue;
        HoloCudaLaunch *l   = begin(out, HOLO_CUDA_ATTENTION, h->module, h->kernel, sizeof(HoloCudaAttention));
        l->params.attention = p;
        l->block            = 128;
        l->shared           = shared;
        l->grid[0]          = (uint32_t)ceil_div(p.queries, 64);
        l->grid[1] = (uint32_t)p.heads, l->grid[2] = (uint32_t)p.batch;
        out->cost = 4 + (double)p.batch * p.heads * p.queries * p.keys * (p.size + p.v_size) * 2 / 1e8;
        return true;
    }
    return false;
}

// ---- norms

// A warp for a row that stays in its registers; blocks are small where rows are few.
static bool pick_plain_norm(const HoloCudaWant *want, const HoloCudaNorm *asked, HoloCudaPick *out)
{
    static const char *const kernels[] = {"norm_plain_f32", "norm_plain_f16", "norm_plain_bf16"};
    bool whole = want->align % 16 == 0 && asked->lda % 4 == 0 && asked->ldc % 4 == 0 && asked->width % 4 == 0;
    if (asked->more || asked->sum || asked->a_type != asked->c_type || asked->what > HOLO_CUDA_ROW_RMS_NORM || !whole ||
        asked->width > 1024)
        return false;
    HoloCudaLaunch *l    = begin(out, HOLO_CUDA_NORM, "norm", kernels[asked->a_type], sizeof(HoloCudaNorm));
    int32_t         each = asked->rows < want->sms * 8 ? 2 : 8;
    l->params.norm       = *asked;
    l->params.norm.whole = 1;
    l->block             = (uint32_t)each * 32;
    l->grid[0]           = (uint32_t)ceil_div(asked->rows, each);
    out->cost            = 2 + (double)asked->rows * asked->width * size_of(asked->a_type) / 1.5e6;
    return true;
}

bool holo_cuda_pick_norm(const HoloCudaWant *want, const HoloCudaNorm *asked, HoloCudaPick *out)
{
    memset(out, 0, sizeof *out);
    if (asked->a_type > HOLO_CUDA_BF16 || asked->c_type > HOLO_CUDA_BF16 || asked->what > HOLO_CUDA_ROW_LOG_SOFTMAX)
        return false;
    if (want->numeric == HOLO_CUDA_NUMERIC_EXACT) return false;
    if (asked->rows <= 0 || asked->width <= 0) return asked->rows >= 0 && asked->width >= 0;
    if ((asked->rows >= 64 || asked->width <= 256) && pick_plain_norm(want, asked, out)) return true;
    // a whole block for a row, if rows are long, or too few for the machine
    bool block = asked->width > 1024 || (asked->width > 256 && asked->rows < want->sms * 8);
    bool whole = want->align % 16 == 0 && asked->lda % 4 == 0 && asked->ldc % 4 == 0;
    bool few   = whole && asked->rows < 64 && asked->width > 256 && asked->width <= 4096 && asked->width % 4 == 0 &&
               asked->what <= HOLO_CUDA_ROW_RMS_NORM && !asked->more && !asked->sum;
    const char     *kernel = few     ? asked->width <= 1024   ? "norm_row_1"
                                       : asked->width <= 2048 ? "norm_row_2"
                                                              : "norm_row_4"
                             : block ? "norm_block"
                                     : "norm_warp";
    HoloCudaLaunch *l      = begin(out, HOLO_CUDA_NORM, "norm", kernel, sizeof(HoloCudaNorm));
    block                  = block || few;
    l->params.norm         = *asked;
    l->params.norm.whole   = whole;
    l->block               = 256;
    l->grid[0]             = (uint32_t)(block ? asked->rows : ceil_div(asked->rows, 8));
    out->cost = 2 + (double)asked->rows * asked->width * (size_of(asked->a_type) + size_of(asked->c_type)) / 3e6;
    return true;
}
