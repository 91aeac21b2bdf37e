// gemm_codes_f32.c - the matrix product of weights that are few different numbers: codes of 4 bits, and a book of 16 numbers,
// which a register or some hold.
//
// The first rows are multiplied with numbers that are looked up as codes are read; where there are more than a tile has, they
// keep these numbers, in the first cache, for the others. Sums are those of gemm_f32.c, and so are their bits.

enum { CODES_ROW = LANES / 2 }; // bytes

typedef struct CodesTile {
    Tile         t; // b: codes, b_panel: their bytes
    const float *book;
} CodesTile;

INL void codes_tile(const CodesTile *c, int rows, int panels)
{
    const Tile    *t = &c->t;
    f32v           sum[GEMM_ROWS][GEMM_WIDE_PANELS], book = v_load(c->book);
    const float   *a[GEMM_ROWS / 4 + 1]; // rows by fours: few pointers do
    const uint8_t *b        = (const uint8_t *)t->b;
    int64_t        row_step = t->a_row, panel = t->b_panel;
    EACH_SUM(i, j) sum[i][j]                          = v_set1(0);
    UNROLL for (int i = 0; i < rows; i += 4) a[i / 4] = t->a + i * row_step;
    for (int64_t p = 0; p < t->k; p++, b += CODES_ROW) {
        f32v column[GEMM_WIDE_PANELS];
        UNROLL for (int j = 0; j < panels; j++) column[j] = v_load_codes(b + j * panel, book);
        if (rows > GEMM_WIDE_ROWS)
            UNROLL for (int j = 0; j < panels; j++) v_store(t->wide + (j * t->k + p) * LANES, column[j]);
        UNROLL for (int i = 0; i < rows; i++)
        {
            f32v row                                          = v_set1(a[i / 4][p + i % 4 * row_step]);
            UNROLL for (int j = 0; j < panels; j++) sum[i][j] = v_mad(row, column[j], sum[i][j]);
            if (i % 2) HOLD;
        }
    }
    f32v sums[GEMM_ROWS][GEMM_WIDE_PANELS];
    EACH_SUM(i, j) sums[i][j] = sum[i][j];
    tile_finish_any(t, sums, rows, panels);
}

#define X(rows, panels)                                     \
    static void codes_##rows##x##panels(const CodesTile *c) \
    {                                                       \
        codes_tile(c, rows, panels);                        \
    }
GEMM_TILES(X)
#undef X

static void (*const codes_tiles[GEMM_ROWS + 1][GEMM_WIDE_PANELS + 1])(const CodesTile *) = {
#define X(rows, panels) [rows][panels] = codes_##rows##x##panels,
    GEMM_TILES(X)
#undef X
};

// The codes of panel j / 16, from `first` of k on.
static const uint8_t *codes_at(const HoloGemm *g, int64_t j, int64_t first)
{
    return (const uint8_t *)g->b + (j / LANES * g->b_panel + first * LANES) / 2;
}

// The first rows of a block of A against the panels at j.
static void codes_first(const HoloGemm *g, const Rows *a, int64_t row, int rows, int64_t j, int panels, int64_t first,
                        int64_t k)
{
    CodesTile c = {.t = tile_at(g, a, row, j, panels, first, k), .book = g->b_book};
    c.t.b       = (const char *)codes_at(g, j, first);
    c.t.b_panel = g->b_panel / 2;
    codes_tiles[rows][panels](&c);
}

// The rows that follow, against the same panels as the first have kept them.
static void codes_others(const HoloGemm *g, const Rows *a, int64_t row, int64_t rows, int64_t j, int panels,
                         int64_t first, int64_t k)
{
    HoloGemm   part   = *g;
    HoloFinish finish = g->finish ? *g->finish : (HoloFinish){0};
    if (finish.more) finish.more += j;
    part.b       = g->scratch + BLOCK_ROWS * BLOCK_STRIDE;
    part.b_type  = 0;
    part.b_panel = k * LANES;
    part.k       = k;
    part.n       = g->n - j < panels * LANES ? g->n - j : panels * LANES;
    part.c       = g->c + j;
    part.d       = g->d ? g->d + j * g->d_column : NULL;
    part.finish  = g->finish ? &finish : NULL;
    part.resume  = g->resume || first > 0;
    part.pause   = g->pause || first + k < g->k;
    gemm_rows(&part, a, row, rows, 0, k);
}

// One block of A against all panels: C rows from `row` on, k from `first` on.
static void codes_rows(const HoloGemm *g, const Rows *a, int64_t row, int64_t rows, int64_t first, int64_t k)
{
    int64_t steps = (rows + GEMM_ROWS - 1) / GEMM_ROWS, tall = (rows + steps - 1) / steps; // even heights
    Rows    rest      = {a->data + tall * a->row, a->row};
    int     panel_max = tall <= GEMM_WIDE_ROWS ? GEMM_WIDE_PANELS : GEMM_PANELS, panels;
    for (int64_t j = 0; j < g->n; j += panels * LANES) {
        int64_t left = g->n - j;
        panels       = left > (panel_max - 1) * LANES ? panel_max : left > LANES && panel_max > 2 ? 2 : 1;
        if (!codes_tiles[tall][panels]) panels = 1;
        codes_first(g, a, row, (int)tall, j, panels, first, k);
        if (rows > tall) codes_others(g, &rest, row + tall, rows - tall, j, panels, first, k);
    }
}

static void gemm_codes_f32(const HoloGemm *g)
{
    int64_t first = 0;
    do { // once even where k is 0
        int64_t k = g->k - first < BLOCK_K ? g->k - first : BLOCK_K;
        for (int64_t row = 0; row < g->m; row += BLOCK_ROWS) {
            int64_t rows = g->m - row < BLOCK_ROWS ? g->m - row : BLOCK_ROWS;
            Rows    a    = block_of(g, row, rows, first, k);
            codes_rows(g, &a, row, rows, first, k);
        }
        first += BLOCK_K;
    } while (first < g->k);
}
