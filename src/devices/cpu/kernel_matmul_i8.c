// kernel_matmul_i8.c - exact products of 8-bit integers: rows times one matrix, or stacks of matrices that broadcast.
// MatMulInteger gives the sums; QLinearMatMul, MatMulIntegerToFloat and QGemm scale them, and quantize them if needed.
//
// A task lays out its rows of A, a block of k at a time; B is packed, or the task packs it. Unsigned rows times packed
// columns whose zero points are 0 are multiplied in place by gemm_raw_i8, if the CPU has it.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <string.h>

enum { TILE_ROWS = 96, TILE_COLUMNS = 256, NARROW_COLUMNS = 64, TILE_K = 1024, NONE = INT8_MAX };
enum { SET_BYTES = 2048 }; // rows this far apart, or a multiple of it, share few sets of a cache
enum { FEW_ROWS = 4 };     // so many rows can share them without harm

typedef struct Operands { // which input is what
    HoloOpId id;
    int8_t   a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias, c;
} Operands;

static const Operands operands[] = {
    {HOLO_ID_MatMulInteger, 0, NONE, 2, 1, NONE, 3, NONE, NONE, NONE, NONE},
    {HOLO_ID_QLinearMatMul, 0, 1, 2, 3, 4, 5, 6, 7, NONE, NONE},
    {HOLO_ID_MICROSOFT_MatMulIntegerToFloat, 0, 2, 4, 1, 3, 5, NONE, NONE, 6, NONE},
    {HOLO_ID_MICROSOFT_QGemm, 0, 1, 2, 3, 4, 5, 7, 8, NONE, 6},
};

typedef struct Product {
    const HoloHost   *host;
    const Operands   *in;
    const HoloTensor *a, *b, *a_zero, *b_zero; // zeros NULL: 0
    const HoloTensor *b_scale, *c, *bias;      // NULL: none
    HoloTensor       *out;
    double            alpha;
    double            a_scale, y_scale, y_zero; // when running
    int64_t           m, n, k, b_row, b_column;
    int64_t           row_tiles, tile_rows, column_tiles, tile_columns;
    int64_t           matrices; // of the output, if B has several; else A is one matrix
    int               batch_rank;
    int64_t           batch[HOLO_MAX_RANK], a_step[HOLO_MAX_RANK], b_step[HOLO_MAX_RANK]; // dimensions before these
    bool              packed, scaled;
    bool              by_column, many_scales; // zero points and scales of B are one for each column
    bool              one_c;
    int64_t           tasks;
    bool              fits; // no sum exceeds 32 bits; eval does those that may, if sums are scaled
    bool              raw;  // when running: gemm_raw_i8 it is
} Product;

typedef struct Memory { // of a worker
    int64_t held;       // the rows of A, counted over all matrices, that are laid out here; -1: none
    int32_t sums[TILE_ROWS * TILE_COLUMNS];
    int32_t row[TILE_ROWS], zero[TILE_COLUMNS], column[TILE_COLUMNS];
    double  scale[TILE_COLUMNS];
    float   ratio[TILE_COLUMNS], bias[TILE_COLUMNS];
    char    a[TILE_ROWS * HOLO_I8_ROW(TILE_K)];
    uint8_t b[TILE_COLUMNS / HOLO_PANEL * HOLO_I8_PANEL(TILE_K)];
} Memory;

// ---- shapes

// Is it missing, or a vector?
static bool is_line(const HoloTensor *t, int dtype, int64_t n)
{
    return !t || holo_cpu_kernel_is_line(t, dtype, n);
}

static HoloStatus scales_check(const HoloCall *call, const Product *p)
{
    const Operands   *in      = p->in;
    const HoloTensor *y_scale = holo_in(call, in->y_scale), *y_zero = holo_in(call, in->y_zero);
    bool              ok = holo_in(call, in->a_scale) && p->b_scale && (p->fits || !p->packed);
    ok = ok && is_line(holo_in(call, in->a_scale), HOLO_F32, HOLO_ONE) && is_line(p->b_scale, HOLO_F32, p->n);
    ok = ok && is_line(y_scale, HOLO_F32, HOLO_ONE) && is_line(p->c, HOLO_I32, p->n);
    ok = ok && (!p->bias || (p->bias->rank == 1 && is_line(p->bias, HOLO_F32, p->n)));
    ok = ok && (!p->bias || holo_tensor_count(p->bias) == p->n);
    if (y_zero) ok = ok && holo_cpu_kernel_is_8(y_zero, 0, 1) && is_line(y_zero, p->out->dtype, HOLO_ONE) && y_scale;
    if (p->out->dtype != HOLO_F32) ok = ok && holo_cpu_kernel_is_8(p->out, 0, HOLO_MAX_RANK) && y_zero;
    if (p->out->dtype == HOLO_F32) ok = ok && !y_scale && !y_zero;
    if (!ok) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "scales, zero points or biases are not those of matmul_i8");
    return HOLO_OK;
}

// The distance between matrices of t along each dimension before the output's last two. False: t does not broadcast to
// it.
static bool steps_find(const HoloTensor *t, const HoloTensor *out, int64_t *step)
{
    int64_t size = t->dim[t->rank - 1] * t->dim[t->rank - 2];
    int     more = out->rank - t->rank;
    if (more < 0) return false;
    for (int d = out->rank - 3; d >= 0; d--) {
        int64_t dim = d >= more ? t->dim[d - more] : 1;
        if (dim != 1 && dim != out->dim[d]) return false;
        step[d] = dim == 1 ? 0 : size;
        size *= dim;
    }
    return true;
}

static bool has_sizes(const HoloCall *call, Product *p)
{
    const HoloTensor *a = p->a, *b = p->b, *out = p->out;
    bool              transposed = holo_attr_int(call, "transB", 0) != 0, many = b->rank > 2;
    p->k        = b->dim[b->rank - 2 + transposed];
    p->n        = b->dim[b->rank - 2 + !transposed];
    p->m        = many ? a->dim[a->rank - 2] : holo_product(a->rank - 1, a->dim);
    p->b_row    = transposed ? 1 : p->n;
    p->b_column = transposed ? p->k : 1;
    p->matrices = 1;
    if (a->dim[a->rank - 1] != p->k || out->dim[out->rank - 1] != p->n || holo_attr_int(call, "transA", 0))
        return false;
    if (many) {
        p->batch_rank = out->rank - 2;
        p->matrices   = holo_product(p->batch_rank, out->dim);
        for (int d = 0; d < p->batch_rank; d++) p->batch[d] = out->dim[d];
        return !p->packed && !transposed && out->dim[out->rank - 2] == p->m && steps_find(a, out, p->a_step) &&
               steps_find(b, out, p->b_step);
    }
    bool same = out->rank == a->rank;
    for (int d = 0; same && d < a->rank - 1; d++) same = out->dim[d] == a->dim[d];
    return same;
}

// If B has several matrices, there is one zero point and one scale.
static HoloStatus sizes_check(const HoloCall *call, Product *p)
{
    if (!has_sizes(call, p)) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are not those of a product");
    int64_t columns = p->b->rank > 2 ? HOLO_ONE : p->n;
    if (!is_line(p->a_zero, p->a->dtype, HOLO_ONE) || !is_line(p->b_zero, p->b->dtype, columns) ||
        (p->b->rank > 2 && !is_line(p->b_scale, HOLO_F32, HOLO_ONE)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "a zero point is neither one number nor one for each column");
    return HOLO_OK;
}

static HoloStatus product_init(const HoloCall *call, Product *p)
{
    const HoloMatmulI8Params *params = call->params;
    *p                               = (Product){.host = call->host, .out = holo_out(call, 0), .in = operands};
    while (p->in < operands + HOLO_COUNT(operands) && !holo_op_is(call->op, p->in->id)) p->in++;
    if (p->in == operands + HOLO_COUNT(operands) || !holo_cpu_kernel_has_params(call, sizeof *params) ||
        params->flags & ~(uint32_t)(HOLO_MATMUL_I8_PACKED_B | HOLO_MATMUL_I8_FITS))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of matmul_i8");
    p->a       = holo_in(call, p->in->a);
    p->b       = holo_in(call, p->in->b);
    p->a_zero  = holo_in(call, p->in->a_zero);
    p->b_zero  = holo_in(call, p->in->b_zero);
    p->b_scale = holo_in(call, p->in->b_scale);
    p->bias    = holo_in(call, p->in->bias);
    p->c       = holo_in(call, p->in->c);
    p->packed  = params->flags & HOLO_MATMUL_I8_PACKED_B;
    p->scaled  = p->in->a_scale != NONE;
    if (!holo_cpu_kernel_is_8(p->a, 2, HOLO_MAX_RANK) || !holo_cpu_kernel_is_8(p->b, 2, HOLO_MAX_RANK) || !p->out ||
        p->out->kind != HOLO_TENSOR || p->out->rank < 2 || holo_tensor_count(p->out) < 0 ||
        (!p->scaled && p->out->dtype != HOLO_I32))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of matmul_i8");
    HOLO_TRY(sizes_check(call, p));
    int64_t most = holo_byte_most(p->b->dtype == HOLO_I8, p->b_zero);
    p->fits      = params->flags & HOLO_MATMUL_I8_FITS || p->k <= holo_sum_i8_longest(most);
    if (p->scaled) HOLO_TRY(scales_check(call, p));
    p->by_column   = p->b_zero && holo_tensor_count(p->b_zero) > 1;
    p->many_scales = p->b_scale && holo_tensor_count(p->b_scale) > 1;
    p->alpha       = holo_attr_float(call, "alpha", 1);
    p->one_c       = p->c && holo_tensor_count(p->c) == 1;
    return HOLO_OK;
}

static int64_t packed_size(const HoloCall *call, const void *job, int input)
{
    const Product *p = job;
    (void)call;
    return p->packed && input == p->in->b ? holo_panels_i8_size(p->k, p->n) : -1;
}

// Sums are exact, so cutting changes no bit.
static void cut(Product *p)
{
    p->row_tiles    = holo_ceil_div(p->m, TILE_ROWS);
    p->tile_rows    = holo_ceil_div(p->m, p->row_tiles); // tiles of equal size
    p->tile_columns = p->row_tiles < 8 && p->host->workers > 1 ? NARROW_COLUMNS : TILE_COLUMNS;
    if (p->m <= FEW_ROWS && p->n >= 2 * TILE_COLUMNS * p->host->workers) p->tile_columns = TILE_COLUMNS;
    p->column_tiles = holo_ceil_div(p->n, p->tile_columns);
    p->tasks        = p->matrices * p->row_tiles * p->column_tiles;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Product *p = job;
    HOLO_TRY(product_init(call, p));
    if (p->packed && packed_size(call, p, p->in->b) < 0)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "B is too large");
    *out_scratch = sizeof(Memory);
    if (p->m && p->n && p->matrices) cut(p);
    return HOLO_OK;
}

// ---- a task

static int64_t padded(int64_t columns)
{
    return holo_ceil_div(columns, HOLO_PANEL) * HOLO_PANEL;
}

// Zero points of columns of B, which have its type.
static void zeros_read(const Product *p, int64_t first, int count, int shift, int32_t *out)
{
    const uint8_t *zero = (const uint8_t *)p->b_zero->data + first;
    uint8_t        flip = p->b->dtype == HOLO_I8 ? 0x80 : 0; // of a signed byte: its number and 128
    for (int l = 0; l < count; l++) out[l] = (zero[l] ^ flip) - flip + shift;
}

// What gemm_i8 adds for the zero points. The layouts shift bytes, so A's zero point is smaller, and B's larger, by that
// shift. `panels` are in memory; their sums are over `k` numbers.
static void terms_make(const Product *p, int64_t first, int64_t columns, int64_t k, const uint8_t *panels,
                       int64_t panel_bytes, Memory *m)
{
    uint32_t a_zero = (uint32_t)(holo_cpu_kernel_zero(p->a_zero, 0) - (p->a->dtype == HOLO_U8 && !p->raw ? 128 : 0));
    int      shift  = p->b->dtype == HOLO_I8 ? 128 : 0;
    int32_t  b_zero = holo_cpu_kernel_zero(p->b_zero, 0) + shift;
    for (int64_t j = 0; j < columns; j += HOLO_PANEL) {
        int32_t sums[HOLO_PANEL], zero[HOLO_PANEL];
        memcpy(sums, panels + (j / HOLO_PANEL + 1) * panel_bytes - sizeof sums, sizeof sums);
        for (int l = 0; l < HOLO_PANEL; l++) zero[l] = b_zero;
        if (p->by_column) zeros_read(p, first + j, (int)holo_least(HOLO_PANEL, columns - j), shift, zero);
        for (int l = 0; l < HOLO_PANEL; l++) {
            m->zero[j + l]   = -zero[l];
            m->column[j + l] = (int32_t)(a_zero * ((uint32_t)k * (uint32_t)zero[l] - (uint32_t)sums[l]));
        }
    }
}

// Scales to 8 bits; nothing is added.
static void requantize(const Product *p, int64_t row, int64_t rows, int64_t column, int64_t columns, Memory *m)
{
    for (int64_t j = 0; j < padded(columns); j++)
        m->ratio[j] = j < columns ? (float)m->scale[p->many_scales ? j : 0] / (float)p->y_scale : 0;
    p->host->kernels->requantize_i32(&(HoloRequantize){
        .rows      = rows,
        .n         = columns,
        .sums      = m->sums,
        .sums_row  = TILE_COLUMNS,
        .ratio     = m->ratio,
        .zero      = (int)p->y_zero,
        .is_signed = p->out->dtype == HOLO_I8,
        .out       = (uint8_t *)p->out->data + row * p->n + column,
        .out_row   = p->n,
    });
}

// Scales to f32; nothing is added before.
static void scale(const Product *p, int64_t row, int64_t rows, int64_t column, int64_t columns, Memory *m)
{
    const float *bias = p->bias ? (const float *)p->bias->data + column : NULL;
    for (int64_t j = 0; j < padded(columns); j++) {
        m->ratio[j] = j < columns ? (float)m->scale[p->many_scales ? j : 0] : 0;
        m->bias[j]  = bias && j < columns ? bias[j] : 0;
    }
    p->host->kernels->scale_i32(&(HoloScaleI32){
        .rows     = rows,
        .n        = columns,
        .sums     = m->sums,
        .sums_row = TILE_COLUMNS,
        .scale    = m->ratio,
        .bias     = bias ? m->bias : NULL,
        .out      = (float *)p->out->data + row * p->n + column,
        .out_row  = p->n,
    });
}

// `row` is counted over all matrices.
static void finish(const Product *p, int64_t row, int64_t rows, int64_t column, int64_t columns, Memory *m)
{
    for (int64_t j = 0; j < (p->many_scales ? columns : 1); j++)
        m->scale[j] = (double)((float)p->a_scale * ((const float *)p->b_scale->data)[p->many_scales ? column + j : 0]);
    if (!p->c) {
        (p->out->dtype == HOLO_F32 ? scale : requantize)(p, row, rows, column, columns, m);
        return;
    }
    HoloFinishI8 f = {
        .n            = columns,
        .c            = (const int32_t *)p->c->data + (p->one_c ? 0 : column),
        .c_is_one     = p->one_c,
        .scale        = m->scale,
        .scale_is_one = !p->many_scales,
        .bias         = p->bias ? (const float *)p->bias->data + column : NULL,
        .y_scale      = p->y_scale,
        .y_zero       = p->y_zero,
        .to           = p->out->dtype == HOLO_F32  ? HOLO_FINISH_F32
                        : p->out->dtype == HOLO_U8 ? HOLO_FINISH_U8
                                                   : HOLO_FINISH_I8,
    };
    int64_t size = p->out->dtype == HOLO_F32 ? 4 : 1;
    for (int64_t i = 0; i < rows; i++) {
        f.sums = m->sums + i * TILE_COLUMNS;
        f.out  = (char *)p->out->data + ((row + i) * p->n + column) * size;
        p->host->kernels->finish_i8(&f);
    }
}

// Finds the matrices of A and of B for one matrix of the output.
static void matrices_find(const Product *p, int64_t matrix, const uint8_t **a, const uint8_t **b)
{
    for (int d = p->batch_rank - 1; d >= 0; matrix /= p->batch[d--]) {
        *a += matrix % p->batch[d] * p->a_step[d];
        *b += matrix % p->batch[d] * p->b_step[d];
    }
}

// The sums of some rows and columns of a matrix, block after block of k; once even if k is 0.
static void blocks_sum(const Product *p, const HoloGemmI8 *product, bool is_here, const uint8_t *a, const uint8_t *b,
                       int64_t column, Memory *m)
{
    const HoloKernelTable *kernels = p->host->kernels;
    HoloGemmI8             gemm    = *product;
    int64_t                k = 0, columns = holo_least(p->tile_columns, p->n - column);
    do {
        int64_t part = holo_least(TILE_K, p->k - k);
        if (!is_here) kernels->rows_i8(gemm.m, part, a + k, p->k, p->a->dtype == HOLO_I8, m->a, m->row);
        if (!p->packed) {
            gemm.b_panel = HOLO_I8_PANEL(part);
            kernels->pack_i8(part, columns, b + k * p->b_row + column * p->b_column, p->b_row, p->b_column,
                             p->b->dtype == HOLO_I8, m->b);
            terms_make(p, column, columns, part, gemm.b, gemm.b_panel, m);
        }
        gemm.quads    = holo_ceil_div(part, 4);
        gemm.a        = m->a;
        gemm.a_row    = HOLO_I8_ROW(part);
        gemm.one_zero = m->zero[0];
        gemm.resume   = k > 0;
        kernels->gemm_i8(&gemm);
        if (p->packed) memset(m->column, 0, sizeof m->column); // they are for all of k
        if (p->packed) gemm.b += TILE_K / 4 * 64;
        k += TILE_K;
    } while (k < p->k);
}

static void work(void *arg, int64_t i, int worker)
{
    const Product *p      = arg;
    Memory        *m      = (Memory *)(void *)holo_cpu_kernel_scratch(p->host, worker);
    int64_t        column = i % p->column_tiles * p->tile_columns;
    int64_t        row = i / p->column_tiles % p->row_tiles * p->tile_rows, matrix = i / p->column_tiles / p->row_tiles;
    int64_t        rows = holo_least(p->tile_rows, p->m - row), columns = holo_least(p->tile_columns, p->n - column);
    int64_t        panel = HOLO_I8_PANEL(p->k);
    const uint8_t *a = (const uint8_t *)p->a->data + row * p->k, *b = p->b->data;
    matrices_find(p, matrix, &a, &b);
    row += matrix * p->m;
    HoloGemmI8 gemm = {
        .m       = rows,
        .n       = p->scaled ? padded(columns) : columns,
        .quads   = p->k / 4,
        .a       = a,
        .a_row   = p->k,
        .b       = p->packed ? b + column / HOLO_PANEL * panel : m->b,
        .b_panel = panel,
        .row     = m->row,
        .zero    = p->by_column ? m->zero : NULL,
        .column  = m->column,
        .c       = p->scaled ? m->sums : (int32_t *)p->out->data + row * p->n + column,
        .c_row   = p->scaled ? TILE_COLUMNS : p->n,
    };
    if (p->packed) terms_make(p, column, columns, p->k, gemm.b, panel, m);
    if (!p->raw || !p->host->kernels->gemm_raw_i8(&gemm)) {
        blocks_sum(p, &gemm, m->held == row, a, b, column, m);
        m->held = p->k <= TILE_K ? row : -1;
    }
    if (p->scaled) finish(p, row, rows, column, columns, m);
}

// Finds out from the values whether rows can be multiplied in place.
static void raw_find(Product *p)
{
    p->raw = p->packed && p->a->dtype == HOLO_U8 && p->b->dtype == HOLO_I8 && p->k && p->k % 4 == 0 &&
             (p->k % SET_BYTES || p->m <= FEW_ROWS);
    const uint8_t *zero = p->b_zero ? p->b_zero->data : NULL;
    uint8_t        bits = 0;
    for (int64_t i = 0, count = p->raw && zero ? holo_tensor_count(p->b_zero) : 0; i < count; i++) bits |= zero[i];
    p->raw = p->raw && !bits && p->host->kernels->gemm_raw_i8(&(HoloGemmI8){0});
}

static HoloStatus run(HoloCall *call, void *job)
{
    Product *p = job;
    if (!p->tasks) return HOLO_OK;
    if (p->scaled && !p->fits) return call->op->eval(call);
    if (p->scaled) {
        const HoloTensor *y_scale = holo_in(call, p->in->y_scale), *y_zero = holo_in(call, p->in->y_zero);
        p->a_scale = p->alpha * holo_get_f(call->in[p->in->a_scale], 0);
        p->y_scale = y_scale ? holo_get_f(y_scale, 0) : 1;
        p->y_zero  = y_zero ? holo_get_f(y_zero, 0) : 0;
    }
    raw_find(p);
    for (int i = 0; i < p->host->workers; i++) ((Memory *)(void *)holo_cpu_kernel_scratch(p->host, i))->held = -1;
    call->host->parallel(call->host, p->tasks, work, p);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_matmul_i8 = {
    .id          = HOLO_KERNEL_matmul_i8,
    .name        = "matmul_i8",
    .job_size    = sizeof(Product),
    .prepare     = prepare,
    .run         = run,
    .packed_size = packed_size,
};
