// contract.c - a tiled sum of products in wide numbers. It packs nothing in advance, unlike the fast kernels that are
// compared with it. Tiles are multiplied as fast as the CPU can, with the bits of a plain loop.
#include "ops/contract.h"

#include "kernels/tiles/tiles.h"
#include "ops/spread.h"

#include <string.h>

enum {
    ROWS  = HOLO_CONTRACT_ROWS,
    COLS  = HOLO_CONTRACT_COLS,
    DEPTH = HOLO_CONTRACT_DEPTH,
    FEW   = 4, // columns that are read one after the other, if possible
};

// Numbers of one tile. Rows of b begin in different sets of the first cache. Columns are padded with 0 to a multiple of
// HOLO_TILE_COLUMNS.
typedef struct Tile {
    HoloCell a[ROWS][DEPTH];
    HoloCell b[DEPTH][COLS + 8];
    HoloCell sum[ROWS][COLS];
} Tile;

static int padded(int columns)
{
    return (columns + HOLO_TILE_COLUMNS - 1) / HOLO_TILE_COLUMNS * HOLO_TILE_COLUMNS;
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

// For results of 32 bits, only the low bits of the factors matter, and their products are cheaper.
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
    uint32_t         a[ROWS][DEPTH], b[DEPTH][COLS + 16], sum[ROWS][COLS];
    int              all = padded(cols);
    HoloTileProducts p   = {
          .rows = rows, .columns = all, .a = a, .b = b, .sum = sum, .a_row = DEPTH, .b_row = COLS + 16, .sum_row = COLS};
    for (int r = 0; r < rows; r++) memset(sum[r], 0, (size_t)all * sizeof **sum);
    for (int64_t k = 0; k < c->depth; k += DEPTH) {
        p.depth = holo_least(c->depth - k, DEPTH);
        for (int64_t q = 0; q < p.depth; q++) {
            c->b(c, batch, k + q, col, cols, tile->b[0]);
            narrow(tile->b[0], cols, b[q]);
            memset(b[q] + cols, 0, (size_t)(all - cols) * sizeof **b);
        }
        for (int r = 0; r < rows; r++) {
            c->a(c, batch, row + r, k, p.depth, tile->a[0]);
            narrow(tile->a[0], (int)p.depth, a[r]);
        }
        holo_tiles()->products[HOLO_TILE_U32](&p);
    }
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < cols; j++) tile->sum[r][j].u = sum[r][j];
}

// Reads rows k to k + depth of b; the columns up to `all` become 0.
static void read_b(const HoloContract *c, int64_t batch, int64_t k, int64_t depth, int64_t col, int cols, int all,
                   Tile *tile)
{
    bool     down = c->b_down && cols <= FEW;
    HoloCell column[DEPTH];
    for (int64_t q = 0; q < depth; q++) {
        if (!down) c->b(c, batch, k + q, col, cols, tile->b[q]);
        memset(tile->b[q] + cols, 0, (size_t)(all - cols) * sizeof(HoloCell));
    }
    for (int j = 0; j < cols && down; j++) {
        c->b_down(c, batch, k, col + j, depth, column);
        for (int64_t q = 0; q < depth; q++) tile->b[q][j] = column[q];
    }
}

static void sum_wide(const HoloContract *c, int64_t batch, int64_t row, int rows, int64_t col, int cols, Tile *tile)
{
    int              all = padded(cols);
    HoloTileProducts p   = {
          .rows    = rows,
          .columns = all,
          .a       = tile->a,
          .b       = tile->b,
          .sum     = tile->sum,
          .a_row   = DEPTH,
          .b_row   = sizeof *tile->b / sizeof **tile->b,
          .sum_row = COLS,
    };
    for (int r = 0; r < rows; r++) memset(tile->sum[r], 0, (size_t)all * sizeof(HoloCell));
    for (int64_t k = 0; k < c->depth; k += DEPTH) {
        p.depth = holo_least(c->depth - k, DEPTH);
        read_b(c, batch, k, p.depth, col, cols, all, tile);
        for (int r = 0; r < rows; r++) c->a(c, batch, row + r, k, p.depth, tile->a[r]);
        holo_tiles()->products[c->integer ? HOLO_TILE_U64 : HOLO_TILE_F64](&p);
    }
}

static void run_tile(void *arg, int64_t i, int worker)
{
    (void)worker;
    const HoloContract *c         = arg;
    int64_t             col_tiles = (c->cols + COLS - 1) / COLS, row_tiles = (c->rows + ROWS - 1) / ROWS;
    int64_t col = i % col_tiles * COLS, row = i / col_tiles % row_tiles * ROWS, batch = i / col_tiles / row_tiles;
    int     cols = (int)holo_least(c->cols - col, COLS), rows = (int)holo_least(c->rows - row, ROWS);
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
        int depth = (int)holo_least(c->depth - k, DEPTH);
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

// ---- rows of input 0

static void read_row(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    (void)batch;
    holo_read_f(c->x, row * c->depth + k, 1, count, &out->f);
}

HoloStatus holo_contract_infer(HoloCall *call, HoloDim depth, HoloDim cols)
{
    const HoloTensor *x    = call->in[0];
    int               last = x->rank - 1;
    HoloDim           dim[HOLO_MAX_RANK];
    if (holo_dims_differ(x->dim[last], depth))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the input has %lld columns, expected %lld",
                              (long long)x->dim[last], (long long)depth);
    for (int d = 0; d < last; d++) dim[d] = x->dim[d];
    dim[last] = cols;
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

HoloContract holo_contract_rows(const HoloCall *call, int64_t depth, int64_t cols, const void *arg)
{
    return (HoloContract){
        .batch = 1,
        .rows  = holo_tensor_count(call->out[0]) / cols,
        .cols  = cols,
        .depth = depth,
        .a     = read_row,
        .arg   = arg,
        .x     = call->in[0],
        .out   = call->out[0],
    };
}
