// gemm_f32.c - the f32 matrix product: C = alpha * A B + beta * D with B in panels.
//
// A is copied, a block of rows and of k at a time, into rows of a fixed distance: a tile then reads
// all its rows through one pointer, and no distance of the caller's makes them fall on the same cache
// lines. A tile of C stays in registers over a block of k. Tile shapes change speed, never results:
// an element is the sum of its blocks, each one chain of v_mad from 0. (One chain over all of k would
// lose about three bits more of a sum over a thousand.)

enum { BLOCK_ROWS = HOLO_GEMM_ROWS, BLOCK_K = HOLO_GEMM_K, BLOCK_STRIDE = BLOCK_K + 16 };

typedef struct Tile {
    const float *a, *b;
    int64_t      k, b_panel, b_step;
    float       *c;
    int64_t      c_row;
    const float *d;
    int64_t      d_row, d_column;
    float        alpha, beta;
    bool         resume, pause;
} Tile;

INL f32v tile_finish(const Tile *t, f32v sum, int row, int panel)
{
    sum = v_mul(sum, v_set1(t->alpha));
    if (!t->d) return sum;
    const float *d = t->d + row * t->d_row;
    return v_mad(v_set1(t->beta), t->d_column ? v_load(d + panel * LANES) : v_set1(*d), sum);
}

INL void tile(const Tile *t, int rows, int panels)
{
    f32v sum[GEMM_ROWS][GEMM_WIDE_PANELS];
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) sum[i][j] = v_set1(0);
    const float *a = t->a, *b = t->b;
    for (int64_t p = 0; p < t->k; p++, a++, b += t->b_step) {
        f32v column[GEMM_WIDE_PANELS];
        UNROLL for (int j = 0; j < panels; j++) column[j] = v_load(b + j * t->b_panel);
        UNROLL for (int i = 0; i < rows; i++)
        {
            f32v row                                          = v_set1(a[i * BLOCK_STRIDE]);
            UNROLL for (int j = 0; j < panels; j++) sum[i][j] = v_mad(row, column[j], sum[i][j]);
        }
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++)
    {
        float *c   = t->c + i * t->c_row + j * LANES;
        f32v   all = t->resume ? v_add(v_load(c), sum[i][j]) : sum[i][j];
        v_store(c, t->pause ? all : tile_finish(t, all, i, j));
    }
}

#define X(rows, panels)                               \
    static void tile_##rows##x##panels(const Tile *t) \
    {                                                 \
        tile(t, rows, panels);                        \
    }
GEMM_TILES(X)
#undef X

static void (*const tiles[GEMM_ROWS + 1][GEMM_WIDE_PANELS + 1])(const Tile *) = {
#define X(rows, panels) [rows][panels] = tile_##rows##x##panels,
    GEMM_TILES(X)
#undef X
};

// A tile whose last panel is not full: it works on copies, of which only what C has is kept.
static void tile_at_edge(const Tile *t, int rows, int panels, int columns)
{
    float c[GEMM_ROWS * GEMM_WIDE_PANELS * LANES], d[GEMM_ROWS * GEMM_WIDE_PANELS * LANES];
    int   width = panels * LANES;
    Tile  inner = *t;
    inner.c     = c;
    inner.c_row = width;
    for (int i = 0; t->resume && i < rows; i++)
        for (int j = 0; j < width; j++) c[i * width + j] = j < columns ? t->c[i * t->c_row + j] : 0;
    if (t->d && t->d_column) {
        inner.d     = d;
        inner.d_row = width;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < width; j++) d[i * width + j] = j < columns ? t->d[i * t->d_row + j] : 0;
    }
    tiles[rows][panels](&inner);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) t->c[i * t->c_row + j] = c[i * width + j];
}

// Rows of A, whatever its strides, to rows that are BLOCK_STRIDE apart. Columns go in groups, so
// that a transposed A is read a cache line at a time.
static void copy_block(const float *a, int64_t row, int64_t column, int64_t rows, int64_t k, float *block)
{
    if (column == 1) {
        for (int64_t i = 0; i < rows; i++) copy_row(a + i * row, k, block + i * BLOCK_STRIDE);
        return;
    }
    for (int64_t p = 0; p < k; p += LANES) {
        int64_t end = p + LANES < k ? p + LANES : k;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t q = p; q < end; q++) block[i * BLOCK_STRIDE + q] = a[i * row + q * column];
    }
}

// One block of A, in scratch, against all panels: C rows from `row` on, k from `first` on.
static void gemm_block(const HoloGemm *g, int64_t row, int64_t rows, int64_t first, int64_t k)
{
    bool wide      = rows <= GEMM_WIDE_ROWS;
    int  panel_max = wide ? GEMM_WIDE_PANELS : GEMM_PANELS;
    // Even heights: 13 rows are 7 and 6, not 12 and 1.
    int64_t steps = (rows + GEMM_ROWS - 1) / GEMM_ROWS, height = rows / steps, taller = rows % steps;
    int     panels;
    for (int64_t j = 0; j < g->n; j += panels * LANES) {
        int64_t left = g->n - j;
        panels       = left > (panel_max - 1) * LANES ? panel_max : left > LANES && panel_max > 2 ? 2 : 1;
        if (!tiles[height][panels]) panels = 1;
        int columns = left < panels * LANES ? (int)left : panels * LANES;
        for (int64_t s = 0, i = 0; s < steps; s++) {
            int  tall = (int)(height + (s < taller));
            Tile t    = {
                   .a        = g->scratch + i * BLOCK_STRIDE,
                   .b        = g->b + j / LANES * g->b_panel + first * g->b_step,
                   .k        = k,
                   .b_panel  = g->b_panel,
                   .b_step   = g->b_step,
                   .c        = g->c + (row + i) * g->c_row + j,
                   .c_row    = g->c_row,
                   .d        = g->d ? g->d + (row + i) * g->d_row + j * g->d_column : NULL,
                   .d_row    = g->d_row,
                   .d_column = g->d_column,
                   .alpha    = g->alpha,
                   .beta     = g->beta,
                   .resume   = g->resume || first > 0,
                   .pause    = g->pause || first + k < g->k,
            };
            if (columns < panels * LANES)
                tile_at_edge(&t, tall, panels, columns);
            else
                tiles[tall][panels](&t);
            i += tall;
        }
    }
}

static void gemm_f32(const HoloGemm *g)
{
    int64_t first = 0;
    do { // once even where k is 0
        int64_t k = g->k - first < BLOCK_K ? g->k - first : BLOCK_K;
        for (int64_t row = 0; row < g->m; row += BLOCK_ROWS) {
            int64_t rows = g->m - row < BLOCK_ROWS ? g->m - row : BLOCK_ROWS;
            copy_block(g->a + row * g->a_row + first * g->a_column, g->a_row, g->a_column, rows, k, g->scratch);
            gemm_block(g, row, rows, first, k);
        }
        first += BLOCK_K;
    } while (first < g->k);
}

static void pack_f32(int64_t k, int64_t n, const float *b, int64_t row, int64_t column, float *out)
{
    for (int64_t j = 0; j < n; j += LANES) {
        int columns = n - j < LANES ? (int)(n - j) : LANES;
        if (column == 1) {
            for (int64_t p = 0; p < k; p++, out += LANES) v_store(out, v_load_strided(b + p * row + j, 1, 0, columns));
            continue;
        }
        for (int64_t p = 0; p < k; p += LANES, out += LANES * LANES) {
            int rows = k - p < LANES ? (int)(k - p) : LANES;
            if (row == 1 && rows == LANES && columns == LANES) {
                v_transpose(b + p + j * column, column, out);
                continue;
            }
            for (int r = 0; r < rows; r++)
                v_store(out + r * LANES, v_load_strided(b + (p + r) * row + j * column, column, 0, columns));
        }
        out -= (LANES - k % LANES) % LANES * LANES;
    }
}
