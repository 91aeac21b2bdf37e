// contract.c - a tiled sum of products in wide numbers. It packs nothing ahead and knows no CPU: the
// fast kernels do that; this is what they are compared with.
#include "ops/contract.h"

#include "ops/spread.h"

#include <string.h>

enum { ROWS = HOLO_CONTRACT_ROWS, COLS = HOLO_CONTRACT_COLS, DEPTH = HOLO_CONTRACT_DEPTH };

typedef struct Tile {
    HoloCell a[ROWS][DEPTH];
    HoloCell b[DEPTH][COLS];
    HoloCell sum[ROWS][COLS];
} Tile;

// sum[j] += a[p] * b[p][j] for p in order. Four rows of b at a time spare loads and stores of the sums; a
// full tile has a length that the compiler knows.
#define DEFINE_ADD_PRODUCTS(name, type)                                                                           \
    static inline void name##_four(const type *restrict a, const type *restrict b, int count, type *restrict sum) \
    {                                                                                                             \
        for (int j = 0; j < count; j++)                                                                           \
            sum[j] = sum[j] + a[0] * b[j] + a[1] * b[COLS + j] + a[2] * b[2 * COLS + j] + a[3] * b[3 * COLS + j]; \
    }                                                                                                             \
    static void name(const type *restrict a, const type *restrict b, int depth, int count, type *restrict sum)    \
    {                                                                                                             \
        int p = 0;                                                                                                \
        for (; p + 4 <= depth; p += 4)                                                                            \
            if (count == COLS)                                                                                    \
                name##_four(a + p, b + p * COLS, COLS, sum);                                                      \
            else                                                                                                  \
                name##_four(a + p, b + p * COLS, count, sum);                                                     \
        for (; p < depth; p++)                                                                                    \
            for (int j = 0; j < count; j++) sum[j] += a[p] * b[p * COLS + j];                                     \
    }
DEFINE_ADD_PRODUCTS(add_products_f, double)
DEFINE_ADD_PRODUCTS(add_products_u, uint64_t)
DEFINE_ADD_PRODUCTS(add_products_u32, uint32_t)

static int64_t at_most(int64_t n, int64_t limit)
{
    return n < limit ? n : limit;
}

static void write_tile(const HoloContract *c, Tile *tile, int64_t batch, int64_t row, int rows, int64_t col, int cols)
{
    for (int r = 0; r < rows; r++) {
        int64_t index = (batch * c->rows + row + r) * c->cols + col;
        if (c->finish) c->finish(c, batch, row + r, col, cols, tile->sum[r]);
        if (c->out)
            holo_cells_write(c->out, c->integer, index, cols, tile->sum[r]);
        else
            memcpy(c->cells + index, tile->sum[r], (size_t)cols * sizeof(HoloCell));
    }
}

// Of results of 32 bits, no more of the factors counts: their products are cheaper.
static bool is_narrow(const HoloContract *c)
{
    return c->integer && c->out && !c->finish && holo_dtype_size((HoloDtype)c->out->dtype) <= sizeof(uint32_t);
}

static void narrow(const HoloCell *x, int count, uint32_t *restrict out)
{
    for (int j = 0; j < count; j++) out[j] = (uint32_t)x[j].u;
}

static void sum_narrow(const HoloContract *c, int64_t batch, int64_t row, int rows, int64_t col, int cols, Tile *tile)
{
    uint32_t a[DEPTH], b[DEPTH][COLS], sum[ROWS][COLS];
    for (int r = 0; r < rows; r++) memset(sum[r], 0, (size_t)cols * sizeof **sum);
    for (int64_t k = 0; k < c->depth; k += DEPTH) {
        int depth = (int)at_most(c->depth - k, DEPTH);
        for (int p = 0; p < depth; p++) {
            c->b(c, batch, k + p, col, cols, tile->b[0]);
            narrow(tile->b[0], cols, b[p]);
        }
        for (int r = 0; r < rows; r++) {
            c->a(c, batch, row + r, k, depth, tile->a[0]);
            narrow(tile->a[0], depth, a);
            add_products_u32(a, b[0], depth, cols, sum[r]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < cols; j++) tile->sum[r][j].u = sum[r][j];
}

static void sum_wide(const HoloContract *c, int64_t batch, int64_t row, int rows, int64_t col, int cols, Tile *tile)
{
    for (int r = 0; r < rows; r++) memset(tile->sum[r], 0, (size_t)cols * sizeof(HoloCell));
    for (int64_t k = 0; k < c->depth; k += DEPTH) {
        int depth = (int)at_most(c->depth - k, DEPTH);
        for (int p = 0; p < depth; p++) c->b(c, batch, k + p, col, cols, tile->b[p]);
        for (int r = 0; r < rows; r++) {
            c->a(c, batch, row + r, k, depth, tile->a[r]);
            if (c->integer)
                add_products_u(&tile->a[r]->u, &tile->b[0]->u, depth, cols, &tile->sum[r]->u);
            else
                add_products_f(&tile->a[r]->f, &tile->b[0]->f, depth, cols, &tile->sum[r]->f);
        }
    }
}

static void run_tile(void *arg, int64_t i, int worker)
{
    (void)worker;
    const HoloContract *c         = arg;
    int64_t             col_tiles = (c->cols + COLS - 1) / COLS, row_tiles = (c->rows + ROWS - 1) / ROWS;
    int64_t col = i % col_tiles * COLS, row = i / col_tiles % row_tiles * ROWS, batch = i / col_tiles / row_tiles;
    int     cols = (int)at_most(c->cols - col, COLS), rows = (int)at_most(c->rows - row, ROWS);
    Tile    tile;
    (is_narrow(c) ? sum_narrow : sum_wide)(c, batch, row, rows, col, cols, &tile);
    write_tile(c, &tile, batch, row, rows, col, cols);
}

void holo_contract(const HoloCall *call, const HoloContract *c)
{
    if (!c->out && !c->cells) return; // nobody wants it
    int64_t tiles = c->batch * ((c->rows + ROWS - 1) / ROWS) * ((c->cols + COLS - 1) / COLS);
    double  cost  = (double)c->batch * (double)c->rows * (double)c->cols * ((double)c->depth + 1);
    holo_spread(call, tiles, cost, run_tile, (void *)c);
}

double holo_contract_at(const HoloContract *c, int64_t index)
{
    int64_t  col = index % c->cols, row = index / c->cols % c->rows, batch = index / c->cols / c->rows;
    HoloCell sum = {0}, a[DEPTH], b;
    for (int64_t k = 0; k < c->depth; k += DEPTH) {
        int depth = (int)at_most(c->depth - k, DEPTH);
        c->a(c, batch, row, k, depth, a);
        for (int p = 0; p < depth; p++) {
            c->b(c, batch, k + p, col, 1, &b);
            if (c->integer)
                sum.u += a[p].u * b.u;
            else
                sum.f += a[p].f * b.f;
        }
    }
    if (c->finish) c->finish(c, batch, row, col, 1, &sum);
    return c->integer ? (double)sum.i : sum.f;
}
