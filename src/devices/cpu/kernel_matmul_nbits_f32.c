// kernel_matmul_nbits_f32.c - MatMulNBits of f32: weights of 2 to 8 bits, scaled block by block.
//
// Packed weights stay narrow: a few rows are multiplied with them as they are read; for more rows, a block of k is
// converted to f32 and multiplied by the f32 product. Weights that are not packed are always converted.
//
// The operator of domain hologram rounds A to 8 bits. With packed weights this is done first, for all tasks, and
// products are products of integers; otherwise each task rounds what it reads.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"
#include "ops/microsoft/nbits.h"

enum {
    TILE_COLUMNS = 256,     // a block of B of this width stays in the second cache
    TILE_TASKS   = 8,       // number of tasks, if they are not too small
    TASK_WORK    = 1 << 18, // multiplications that are worth a task
};

typedef struct Product {
    const HoloHost   *host;
    HoloNBits         sizes;
    const float      *a, *bias;           // when running
    const HoloTensor *b, *scales, *zeros; // packed or plain
    float            *out;
    int64_t           m;
    bool              packed, rounds;
    char             *rounded;     // rows of A that are multiplied as integers; when running
    int64_t           row_bytes;   // of one of them
    int64_t           depth;       // k as weights are packed
    int64_t           panel_bytes; // of packed weights
    int64_t           tasks;
    int64_t           tile_rows, tile_columns, row_tiles, column_tiles;
} Product;

static HoloStatus operands_check(const HoloCall *call, const HoloNBits *v)
{
    const HoloTensor *a = holo_in(call, HOLO_NBITS_A), *b = holo_in(call, HOLO_NBITS_B), *out = holo_out(call, 0);
    const HoloTensor *zeros = holo_in(call, HOLO_NBITS_ZEROS), *bias = holo_in(call, HOLO_NBITS_BIAS);
    HOLO_TRY(holo_cpu_kernel_expect(call, a, "A", 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, holo_in(call, HOLO_NBITS_SCALES), "the scales", 0, HOLO_MAX_RANK));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", a->rank, a->rank));
    if (bias) HOLO_TRY(holo_cpu_kernel_expect(call, bias, "the bias", 0, HOLO_MAX_RANK));
    if (zeros && zeros->dtype != HOLO_U8)
        HOLO_TRY(holo_cpu_kernel_expect(call, zeros, "the zero points", 0, HOLO_MAX_RANK));
    bool ok = b && b->kind == HOLO_TENSOR && b->dtype == HOLO_U8 && holo_tensor_count(b) >= 0;
    ok      = ok && (!zeros || (zeros->kind == HOLO_TENSOR && holo_tensor_count(zeros) >= 0));
    for (int d = 0; d < a->rank - 1; d++) ok = ok && out->dim[d] == a->dim[d];
    if (!ok || a->dim[a->rank - 1] != v->depth || out->dim[a->rank - 1] != v->cols || holo_in(call, HOLO_NBITS_GROUPS))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of matmul_nbits_f32");
    return holo_nbits_entries(call, v);
}

static void cut(Product *p)
{
    double work     = (double)p->m * (double)p->sizes.cols * (double)p->sizes.depth;
    p->row_tiles    = holo_ceil_div(p->m, HOLO_GEMM_ROWS);
    p->tile_rows    = p->row_tiles ? holo_ceil_div(p->m, p->row_tiles) : 0;
    p->column_tiles = holo_ceil_div(p->sizes.cols, TILE_COLUMNS);
    if (p->row_tiles * p->column_tiles < TILE_TASKS) {
        int64_t worth = work / TASK_WORK < TILE_TASKS ? (int64_t)(work / TASK_WORK) : TILE_TASKS;
        if (worth > p->column_tiles) p->column_tiles = worth;
    }
    p->tile_columns = holo_ceil_div(holo_ceil_div(p->sizes.cols, p->column_tiles), 4 * HOLO_PANEL) * 4 * HOLO_PANEL;
    p->column_tiles = holo_ceil_div(p->sizes.cols, p->tile_columns);
}

static HoloStatus product_init(const HoloCall *call, Product *p)
{
    const HoloMatmulNbitsParams *params = call->params;
    *p                                  = (Product){.host = call->host};
    if (!holo_cpu_kernel_has_params(call, sizeof *params) ||
        params->flags & ~(uint32_t)(HOLO_MATMUL_NBITS_PACKED | HOLO_MATMUL_NBITS_INT8) ||
        holo_nbits_is_rounded(call) != !!(params->flags & HOLO_MATMUL_NBITS_INT8))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of matmul_nbits_f32");
    HOLO_TRY(holo_nbits_sizes(call, &p->sizes));
    const HoloNBits *v = &p->sizes;
    if (params->bits != (uint32_t)v->bits || params->block != (uint32_t)v->block || params->k != (uint64_t)v->depth ||
        params->n != (uint64_t)v->cols)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of the operator");
    HOLO_TRY(operands_check(call, v));
    p->packed = params->flags & HOLO_MATMUL_NBITS_PACKED;
    p->rounds = params->flags & HOLO_MATMUL_NBITS_INT8;
    p->b      = call->in[HOLO_NBITS_B];
    p->scales = call->in[HOLO_NBITS_SCALES];
    p->zeros  = holo_in(call, HOLO_NBITS_ZEROS);
    p->m      = holo_product(call->in[HOLO_NBITS_A]->rank - 1, call->in[HOLO_NBITS_A]->dim);
    cut(p);
    p->depth       = p->rounds ? holo_ceil_div(v->depth, 8) * 8 : v->depth;
    p->panel_bytes = holo_panels_bits_size(v->bits, p->depth, HOLO_PANEL);
    p->row_bytes   = HOLO_BITS_ROW(v->blocks, v->block);
    p->tasks       = p->row_tiles * p->column_tiles;
    return HOLO_OK;
}

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const Product   *p = job;
    const HoloNBits *v = &p->sizes;
    if (!p->packed) return -1;
    if (input == HOLO_NBITS_B) return holo_panels_bits_size(v->bits, p->depth, v->cols);
    bool is_line = input == HOLO_NBITS_SCALES || (input == HOLO_NBITS_ZEROS && holo_in(call, input));
    return is_line ? holo_panels_size(1, v->blocks, v->cols) : -1;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Product *p = job;
    HOLO_TRY(product_init(call, p));
    size_t floats = HOLO_GEMM_SCRATCH + HOLO_GEMM_K * (size_t)p->tile_columns;
    if (p->rounds) floats = p->packed ? 0 : floats + HOLO_GEMM_K * (size_t)p->tile_rows;
    *out_scratch = p->m ? floats * sizeof(float) : 0;
    return HOLO_OK;
}

// ---- work

// Rows first <= k < first + count of plain weights, from `column` on, as a panel.
static void panel_make(const Product *p, int64_t column, int64_t first, int64_t count, float *out)
{
    const HoloNBits *v      = &p->sizes;
    const float     *scales = p->scales->data;
    for (int j = 0; j < HOLO_PANEL; j++) {
        int64_t        at = column + j, block = -1;
        const uint8_t *bytes = (const uint8_t *)p->b->data + at * v->column;
        float          zero = 0, scale = 0;
        for (int64_t k = first; k < first + count; k++) {
            float *to = &out[(k - first) * HOLO_PANEL + j];
            *to       = 0;
            if (at >= v->cols) continue;
            if (k / v->block != block) {
                block = k / v->block;
                zero  = (float)holo_nbits_zero(v, p->zeros, at, block);
                scale = scales[at * v->blocks + block];
            }
            *to = ((float)holo_nbits_at(bytes, k, v->bits) - zero) * scale;
        }
    }
}

static HoloGemmBits bits_of(const Product *p, int64_t column)
{
    const HoloNBits *v  = &p->sizes;
    int64_t          at = column * v->blocks;
    HoloGemmBits     g  = {
             .m     = p->m,
             .n     = holo_least(p->tile_columns, v->cols - column),
             .k     = v->depth,
             .a     = p->a,
             .a_row = v->depth,
             .bits  = v->bits <= 4 ? 4 : 8,
             .block = v->block,
             .bias  = p->bias ? p->bias + column : NULL,
             .c     = p->out + column,
             .c_row = v->cols,
    };
    if (!p->packed) return g;
    g.b       = (const char *)p->b->data + column / HOLO_PANEL * p->panel_bytes;
    g.scales  = (const float *)p->scales->data + at;
    g.offsets = p->zeros ? (const float *)p->zeros->data + at : NULL;
    return g;
}

// Rounds columns `at` to at + count of a tile's rows, whole blocks, as f32.
static void round_rows(const Product *p, int64_t row, int64_t rows, int64_t at, int64_t count, float *out)
{
    int8_t number[HOLO_NBITS_ROUNDED_MOST];
    float  step;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0, size; k < count; k += size, out += size) {
            size = holo_least(p->sizes.block, count - k);
            holo_nbits_round(size, p->a + (row + i) * p->sizes.depth + at + k, number, &step);
            for (int64_t j = 0; j < size; j++) out[j] = (float)number[j] * step;
        }
}

// A tile of many rows: B is converted a block of k at a time.
static void multiply(const Product *p, const HoloGemmBits *bits, int64_t row, int64_t column, float *scratch)
{
    const HoloKernelTable *kernels = p->host->kernels;
    float                 *panels  = scratch + HOLO_GEMM_SCRATCH;
    int64_t                depth   = p->sizes.depth;
    HoloGemm               g       = {
                            .m        = holo_least(p->m - row, p->tile_rows),
                            .n        = bits->n,
                            .a        = p->a + row * depth,
                            .a_row    = depth,
                            .a_column = 1,
                            .b        = panels,
                            .b_step   = HOLO_PANEL,
                            .c        = bits->c + row * bits->c_row,
                            .c_row    = bits->c_row,
                            .d        = bits->bias,
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
        if (p->rounds) {
            float *rows = panels + HOLO_GEMM_K * p->tile_columns;
            round_rows(p, row, g.m, at, g.k, rows);
            g.a     = rows;
            g.a_row = g.k;
        }
        for (int64_t j = 0; j < g.n; j += HOLO_PANEL) {
            if (p->packed)
                kernels->unpack_bits_f32(bits, j / HOLO_PANEL, at, g.k, panels + j * g.k);
            else
                panel_make(p, column + j, at, g.k, panels + j * g.k);
        }
        kernels->gemm_f32(&g);
    }
}

static void round_row(void *arg, int64_t i, int worker)
{
    const Product *p = arg;
    (void)worker;
    p->host->kernels->rows_bits_i8(p->sizes.depth, p->sizes.block, p->a + i * p->sizes.depth,
                                   p->rounded + i * p->row_bytes);
}

// A tile by products of integers.
static void multiply_rounded(const Product *p, const HoloGemmBits *bits, int64_t row)
{
    p->host->kernels->gemm_bits_i8(&(HoloGemmBitsI8){
        .m       = holo_least(p->m - row, p->tile_rows),
        .n       = bits->n,
        .k       = bits->k,
        .a       = p->rounded + row * p->row_bytes,
        .a_row   = p->row_bytes,
        .bits    = bits->bits,
        .b       = bits->b,
        .block   = bits->block,
        .scales  = bits->scales,
        .offsets = bits->offsets,
        .offset  = (float)-(1 << (p->sizes.bits - 1)),
        .bias    = bits->bias,
        .c       = bits->c + row * bits->c_row,
        .c_row   = bits->c_row,
    });
}

static void work(void *arg, int64_t i, int worker)
{
    const Product *p      = arg;
    int64_t        column = i % p->column_tiles * p->tile_columns, row = i / p->column_tiles * p->tile_rows;
    HoloGemmBits   bits = bits_of(p, column);
    if (p->packed && p->rounds)
        multiply_rounded(p, &bits, row);
    else if (p->packed && p->m <= HOLO_BITS_ROWS)
        p->host->kernels->gemm_bits_f32(&bits);
    else
        multiply(p, &bits, row, column, holo_cpu_kernel_scratch(p->host, worker));
}

static HoloStatus run(HoloCall *call, void *job)
{
    Product *p = job;
    if (!p->m) return HOLO_OK;
    p->a    = call->in[HOLO_NBITS_A]->data;
    p->bias = holo_in(call, HOLO_NBITS_BIAS) ? call->in[HOLO_NBITS_BIAS]->data : NULL;
    p->out  = call->out[0]->data;
    if (p->packed && p->rounds) {
        HOLO_TRY(holo_call_temp(call, (size_t)p->m, (size_t)p->row_bytes, (void **)&p->rounded));
        call->host->parallel(call->host, p->m, round_row, p);
    }
    call->host->parallel(call->host, p->tasks, work, p);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_matmul_nbits_f32 = {
    .id          = HOLO_KERNEL_matmul_nbits_f32,
    .name        = "matmul_nbits_f32",
    .job_size    = sizeof(Product),
    .prepare     = prepare,
    .run         = run,
    .packed_size = packed_size,
};
