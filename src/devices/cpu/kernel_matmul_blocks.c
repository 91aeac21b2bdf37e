// kernel_matmul_blocks.c - MatMulBlocks: rows of f32 times weights in blocks.
//
// Weights are packed in the archive, a panel for 16 columns. If they are not, each task packs its panels. If the
// operator rounds its rows, this is done first, for all tasks, and products are products of integers. Otherwise a task
// makes weights f32, 256 rows of k at a time, and multiplies with the f32 product.
#include "devices/cpu/tail.h"
#include "format/params.h"
#include "kernels/kernels.h"
#include "ops/hologram/blocks_op.h"

enum {
    TILE_COLUMNS = 256,     // a block of B in f32 of this width stays in the second cache
    TILE_TASKS   = 8,       // number of tasks, if they are not too small
    TASK_WORK    = 1 << 18, // multiplications that are worth a task
    TASK_ROWS    = 8,       // rows that one task rounds
};

typedef struct Product {
    const HoloHost *host;
    HoloBlocks      sizes;
    const float    *x, *bias; // when running
    const uint8_t  *w;
    float          *out;
    int64_t         m, n;
    bool            packed;
    char           *rounded;   // rows that are multiplied as integers; when running
    int64_t         row_bytes; // of one of them
    int64_t         panel_bytes;
    int64_t         tasks;
    int64_t         tile_rows, tile_columns, row_tiles, column_tiles;
    size_t          panels_at; // where in the scratch panels are packed, in bytes
    HoloTail        tail;
} Product;

static HoloStatus operands_check(const HoloCall *call, const HoloBlocks *v)
{
    const HoloTensor *x = holo_in(call, HOLO_BLOCKS_X), *w = holo_in(call, HOLO_BLOCKS_W), *out = holo_out(call, 0);
    const HoloTensor *bias = holo_in(call, HOLO_BLOCKS_BIAS);
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "x", 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", x->rank, x->rank));
    if (bias) HOLO_TRY(holo_cpu_kernel_expect(call, bias, "the bias", 1, 1));
    bool ok = w && w->kind == HOLO_TENSOR && w->dtype == HOLO_U8 && w->rank == 2 && holo_tensor_count(w) >= 0;
    for (int d = 0; d < x->rank - 1; d++) ok = ok && out->dim[d] == x->dim[d];
    if (!ok || x->dim[x->rank - 1] != v->count || w->dim[1] != v->bytes || out->dim[x->rank - 1] != w->dim[0] ||
        (bias && bias->dim[0] != w->dim[0]))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of matmul_blocks");
    return HOLO_OK;
}

static void cut(Product *p)
{
    double work     = (double)p->m * (double)p->n * (double)p->sizes.count;
    p->row_tiles    = holo_ceil_div(p->m, HOLO_BLOCKS_ROWS);
    p->tile_rows    = holo_least(holo_ceil_div(holo_ceil_div(p->m, p->row_tiles), 12) * 12, HOLO_BLOCKS_ROWS);
    p->row_tiles    = holo_ceil_div(p->m, p->tile_rows);
    p->column_tiles = holo_ceil_div(p->n, TILE_COLUMNS);
    if (p->row_tiles * p->column_tiles < TILE_TASKS) {
        int64_t worth = work / TASK_WORK < TILE_TASKS ? (int64_t)(work / TASK_WORK) : TILE_TASKS;
        if (worth > p->column_tiles) p->column_tiles = worth;
    }
    p->tile_columns = holo_ceil_div(holo_ceil_div(p->n, p->column_tiles), 2 * HOLO_PANEL) * 2 * HOLO_PANEL;
    p->column_tiles = holo_ceil_div(p->n, p->tile_columns);
    p->tasks        = p->row_tiles * p->column_tiles;
}

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const Product *p = job;
    int64_t        size;
    (void)call;
    if (input != HOLO_BLOCKS_W || !p->packed) return -1;
    return __builtin_mul_overflow(p->panel_bytes, holo_ceil_div(p->n, HOLO_PANEL), &size) ? -1 : size;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Product                      *p      = job;
    const HoloMatmulBlocksParams *params = call->params;
    const uint32_t                known  = HOLO_MATMUL_BLOCKS_PACKED;
    *p                                   = (Product){.host = call->host};
    if (holo_cpu_kernel_has_params(call, sizeof *params) && params->flags & HOLO_MATMUL_BLOCKS_APART)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE,
                              "the weights are packed as older versions did it; compile the model again");
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags & ~known)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of matmul_blocks");
    HOLO_TRY(holo_blocks_sizes(call, &p->sizes));
    HOLO_TRY(operands_check(call, &p->sizes));
    p->packed      = params->flags & HOLO_MATMUL_BLOCKS_PACKED;
    p->n           = call->in[HOLO_BLOCKS_W]->dim[0];
    p->panel_bytes = holo_block_panel_bytes(p->sizes.type, p->sizes.count);
    if (p->panel_bytes < 0 || (p->packed && packed_size(call, p, HOLO_BLOCKS_W) < 0))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "packed weights are too large");
    HOLO_TRY(holo_tail_init(call, &params->tail, true, 3, &p->tail));
    if (!holo_tensor_count(call->out[0])) return HOLO_OK;
    p->m         = holo_product(call->in[HOLO_BLOCKS_X]->rank - 1, call->in[HOLO_BLOCKS_X]->dim);
    p->row_bytes = HOLO_BLOCKS_ROW(p->sizes.count);
    cut(p);
    size_t floats = HOLO_BLOCKS_SCRATCH, tail = holo_tail_scratch(&params->tail);
    if (!p->sizes.rounds) floats = HOLO_GEMM_SCRATCH + HOLO_GEMM_K * (size_t)p->tile_columns;
    if (tail > floats) floats = tail;
    p->panels_at = (floats * sizeof(float) + 63) / 64 * 64;
    *out_scratch = p->panels_at;
    if (!p->packed &&
        __builtin_add_overflow(*out_scratch, (size_t)(p->panel_bytes * (p->tile_columns / HOLO_PANEL)), out_scratch))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "weights are too large");
    return HOLO_OK;
}

// ---- work

// The panels of a tile from `column` on.
static const uint8_t *panels_of(const Product *p, int64_t column, float *scratch)
{
    if (p->packed) return p->w + column / HOLO_PANEL * p->panel_bytes;
    uint8_t *panels = (uint8_t *)scratch + p->panels_at;
    for (int64_t j = column; j < p->n && j < column + p->tile_columns; j += HOLO_PANEL)
        holo_block_panel_pack(p->sizes.type, p->sizes.count, (int)holo_least(p->n - j, HOLO_PANEL),
                              p->w + j * p->sizes.bytes, p->sizes.bytes,
                              panels + (j - column) / HOLO_PANEL * p->panel_bytes);
    return panels;
}

static void multiply_rounded(const Product *p, int64_t row, int64_t column, const uint8_t *panels, float *scratch)
{
    p->host->kernels->gemm_blocks_i8(&(HoloGemmBlocks){
        .type    = p->sizes.type,
        .m       = holo_least(p->m - row, p->tile_rows),
        .n       = holo_least(p->n - column, p->tile_columns),
        .k       = p->sizes.count,
        .a       = p->rounded + row * p->row_bytes,
        .a_row   = p->row_bytes,
        .b       = panels,
        .bias    = p->bias ? p->bias + column : NULL,
        .c       = p->out + row * p->n + column,
        .c_row   = p->n,
        .scratch = scratch,
    });
}

static void multiply(const Product *p, int64_t row, int64_t column, const uint8_t *panels, float *scratch)
{
    const HoloKernelTable *kernels = p->host->kernels;
    float                 *wide    = scratch + HOLO_GEMM_SCRATCH;
    int64_t                depth   = p->sizes.count;
    HoloGemm               g       = {
                            .m        = holo_least(p->m - row, p->tile_rows),
                            .n        = holo_least(p->n - column, p->tile_columns),
                            .a        = p->x + row * depth,
                            .a_row    = depth,
                            .a_column = 1,
                            .b        = wide,
                            .b_step   = HOLO_PANEL,
                            .c        = p->out + row * p->n + column,
                            .c_row    = p->n,
                            .d        = p->bias ? p->bias + column : NULL,
                            .d_column = 1,
                            .alpha    = 1,
                            .beta     = 1,
                            .scratch  = scratch,
    };
    for (int64_t at = 0; at < depth; at += HOLO_GEMM_K, g.a += HOLO_GEMM_K) {
        g.k       = holo_least(depth - at, HOLO_GEMM_K);
        g.b_panel = g.k * HOLO_PANEL;
        g.resume  = at > 0;
        g.pause   = at + g.k < depth;
        for (int64_t j = 0; j < g.n; j += HOLO_PANEL)
            kernels->unpack_blocks_f32(p->sizes.type, depth, panels + j / HOLO_PANEL * p->panel_bytes, at, g.k,
                                       wide + j * g.k);
        kernels->gemm_f32(&g);
    }
}

static void round_rows(void *arg, int64_t i, int worker)
{
    const Product *p = arg;
    (void)worker;
    for (int64_t row = i * TASK_ROWS; row < p->m && row < (i + 1) * TASK_ROWS; row++)
        p->host->kernels->rows_blocks_i8(p->sizes.type, p->sizes.count, p->x + row * p->sizes.count,
                                         p->rounded + row * p->row_bytes);
}

static void work(void *arg, int64_t i, int worker)
{
    const Product *p      = arg;
    int64_t        column = i % p->column_tiles * p->tile_columns, row = i / p->column_tiles * p->tile_rows;
    float         *scratch = holo_cpu_kernel_scratch(p->host, worker);
    const uint8_t *panels  = panels_of(p, column, scratch);
    (p->sizes.rounds ? multiply_rounded : multiply)(p, row, column, panels, scratch);
    holo_tail_run(&p->tail, p->host, row, holo_least(p->m - row, p->tile_rows), column,
                  holo_least(p->n - column, p->tile_columns), scratch);
}

static HoloStatus run(HoloCall *call, void *job)
{
    Product *p = job;
    if (!p->tasks) return HOLO_OK;
    p->x    = call->in[HOLO_BLOCKS_X]->data;
    p->w    = call->in[HOLO_BLOCKS_W]->data;
    p->bias = holo_in(call, HOLO_BLOCKS_BIAS) ? call->in[HOLO_BLOCKS_BIAS]->data : NULL;
    p->out  = call->out[0]->data;
    holo_tail_begin(&p->tail);
    if (p->sizes.rounds) {
        HOLO_TRY(holo_call_temp(call, (size_t)p->m, (size_t)p->row_bytes, (void **)&p->rounded));
        call->host->parallel(call->host, holo_ceil_div(p->m, TASK_ROWS), round_rows, p);
    }
    call->host->parallel(call->host, p->tasks, work, p);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_matmul_blocks = {
    .id          = HOLO_KERNEL_matmul_blocks,
    .name        = "matmul_blocks",
    .job_size    = sizeof(Product),
    .prepare     = prepare,
    .run         = run,
    .packed_size = packed_size,
};
