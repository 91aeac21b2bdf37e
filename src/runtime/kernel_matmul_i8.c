// kernel_matmul_i8.c - MatMulInteger: rows of 8-bit integers times one matrix of them, exactly.
//
// Both sides are widened to 16 bits less their zero points, a block of k at a time, by the task that
// multiplies them.
#include "format/params.h"
#include "kernels/kernels.h"
#include "runtime/kernel.h"

enum { TILE_ROWS = 96, TILE_COLUMNS = 128, TILE_K = 512 };

typedef struct Product {
    const HoloHost   *host;
    const HoloTensor *a, *b, *a_zero, *b_zero; // zeros NULL: 0
    int32_t          *out;
    int64_t           m, n, k, row_tiles, column_tiles;
} Product;

static bool is_8(const HoloTensor *t, int rank_min, int rank_max)
{
    return t && t->kind == HOLO_TENSOR && (t->dtype == HOLO_I8 || t->dtype == HOLO_U8) && t->rank >= rank_min &&
           t->rank <= rank_max && holo_tensor_count(t) >= 0;
}

static HoloStatus product_init(const HoloCall *call, Product *p)
{
    const HoloTensor *out = holo_out(call, 0);
    *p                    = (Product){.host   = call->host,
                                      .a      = holo_in(call, 0),
                                      .b      = holo_in(call, 1),
                                      .a_zero = holo_in(call, 2),
                                      .b_zero = holo_in(call, 3)};
    if (!holo_kernel_has_params(call, sizeof(HoloMatmulI8Params)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of matmul_i8");
    if (!is_8(p->a, 2, HOLO_MAX_RANK) || !is_8(p->b, 2, 2) || !out || out->kind != HOLO_TENSOR ||
        out->dtype != HOLO_I32 || out->rank != p->a->rank || holo_tensor_count(out) < 0)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of matmul_i8");
    int rank  = p->a->rank;
    p->m      = holo_product(rank - 1, p->a->dim);
    p->k      = p->b->dim[0];
    p->n      = p->b->dim[1];
    bool same = p->a->dim[rank - 1] == p->k && out->dim[rank - 1] == p->n;
    for (int d = 0; d < rank - 1; d++) same = same && out->dim[d] == p->a->dim[d];
    if (!same) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are not those of a product");
    if (p->a_zero && (!is_8(p->a_zero, 0, 1) || p->a_zero->dtype != p->a->dtype || holo_tensor_count(p->a_zero) != 1))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the zero point of A is not one number of its type");
    if (p->b_zero && (!is_8(p->b_zero, 0, 1) || p->b_zero->dtype != p->b->dtype ||
                      (holo_tensor_count(p->b_zero) != 1 && holo_tensor_count(p->b_zero) != p->n)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE,
                              "the zero point of B is neither one number nor one for each column");
    p->out          = out->data;
    p->row_tiles    = holo_ceil_div(p->m, TILE_ROWS);
    p->column_tiles = holo_ceil_div(p->n, TILE_COLUMNS);
    return HOLO_OK;
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Product p;
    HOLO_TRY(product_init(call, &p));
    *out_scratch = ((TILE_ROWS + TILE_COLUMNS) * TILE_K + TILE_COLUMNS) * sizeof(int16_t);
    return HOLO_OK;
}

static void work(void *arg, int64_t i, int worker)
{
    const Product     *p       = arg;
    const HoloKernels *kernels = p->host->kernels;
    int64_t            column = i % p->column_tiles * TILE_COLUMNS, row = i / p->column_tiles * TILE_ROWS;
    int16_t           *a = (int16_t *)(void *)holo_kernel_scratch(p->host, worker), *b = a + TILE_ROWS * TILE_K;
    int16_t           *zero = b + TILE_COLUMNS * TILE_K;
    int64_t rows = holo_least(TILE_ROWS, p->m - row), columns = holo_least(TILE_COLUMNS, p->n - column), k = 0;
    int64_t step   = p->b_zero && holo_tensor_count(p->b_zero) == p->n && p->n > 1 ? 1 : 0;
    int     a_zero = p->a_zero ? (int)holo_get_i(p->a_zero, 0) : 0;
    for (int64_t j = 0; j < columns; j++) zero[j] = p->b_zero ? (int16_t)holo_get_i(p->b_zero, (column + j) * step) : 0;
    do { // once even where k is 0
        int64_t part = holo_least(TILE_K, p->k - k);
        kernels->rows_i16(rows, part, (const uint8_t *)p->a->data + row * p->k + k, p->k, p->a->dtype == HOLO_I8,
                          a_zero, a);
        kernels->pack_i16(part, columns, (const uint8_t *)p->b->data + k * p->n + column, p->n, p->b->dtype == HOLO_I8,
                          zero, b);
        kernels->gemm_i16(&(HoloGemmI16){
            .m      = rows,
            .n      = columns,
            .pairs  = holo_ceil_div(part, 2),
            .a      = a,
            .a_row  = part + part % 2,
            .b      = b,
            .c      = p->out + row * p->n + column,
            .c_row  = p->n,
            .resume = k > 0,
        });
        k += TILE_K;
    } while (k < p->k);
}

static HoloStatus run(HoloCall *call)
{
    Product p;
    HOLO_TRY(product_init(call, &p));
    if (p.m && p.n) call->host->parallel(call->host, p.row_tiles * p.column_tiles, work, &p);
    return HOLO_OK;
}

const HoloKernel holo_kernel_matmul_i8 = {
    .id    = HOLO_KERNEL_matmul_i8,
    .name  = "matmul_i8",
    .check = check,
    .run   = run,
};
