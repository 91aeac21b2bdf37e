// gemm_bf16.c - gemm_f32 of numeric class bf16, for CPUs that multiply pairs of bf16 (AVX-512 BF16).
//
// Where B is of bf16, A is rounded to bf16, too, and sums are f32. A block of A becomes rows of pairs in scratch. The
// first tile of a block turns the panels into pairs of rows, and all tiles read these. Few rows wait for memory: they,
// and all that has no B of bf16, are multiplied as f32.

enum { BF16_K = 2 * BLOCK_K, BF16_STRIDE = BF16_K + 32, BF16_ROWS = GEMM_WIDE_ROWS }; // _ROWS: the least of a tile

typedef struct PairTile {
    const uint16_t *a, *b; // rows of pairs, BF16_STRIDE apart; panels of pairs, BF16_K rows apart
    int64_t         pairs;
    Tile            end; // where the sums go
} PairTile;

INL f32n n_bf16_pairs(f32n sum, i32n b, const uint16_t *a) // plus both products of a pair
{
    __asm__("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(b), "m"(*(const uint32_t *)(const void *)a));
    return sum;
}

INL void pair_tile(const PairTile *t, int rows, int panels)
{
    f32v            sum[GEMM_ROWS][GEMM_WIDE_PANELS];
    const uint16_t *a = t->a, *b = t->b;
    EACH_SUM(i, j) sum[i][j] = v_set1(0);
    for (int64_t p = 0; p < t->pairs; p++, a += 2, b += 2 * LANES) {
        i32v column[GEMM_PANELS];
        UNROLL for (int j = 0; j < panels; j++) column[j] = i_load((const void *)(b + j * BF16_K * LANES));
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) sum[i][j].r[0] =
            n_bf16_pairs(sum[i][j].r[0], column[j].r[0], a + i * BF16_STRIDE);
    }
    f32v sums[GEMM_ROWS][GEMM_WIDE_PANELS];
    EACH_SUM(i, j) sums[i][j] = sum[i][j];
    tile_finish_any(&t->end, sums, rows, panels);
}

#define PAIR_TILES(X) \
    X(6, 1)           \
    X(7, 1) X(8, 1) X(9, 1) X(10, 1) X(11, 1) X(12, 1) X(6, 2) X(7, 2) X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2)

#define X(rows, panels)                                   \
    static void pair_##rows##x##panels(const PairTile *t) \
    {                                                     \
        pair_tile(t, rows, panels);                       \
    }
PAIR_TILES(X)
#undef X

static void (*const pair_tiles[GEMM_ROWS + 1][GEMM_PANELS + 1])(const PairTile *) = {
#define X(rows, panels) [rows][panels] = pair_##rows##x##panels,
    PAIR_TILES(X)
#undef X
};

INL __m256i n_bf16(f32n x) // to nearest, ties to even; numbers that are not normal become 0
{
    __m256i y;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(y) : "v"(x));
    return y;
}

// A block of A in scratch, with a zero behind an odd number of columns.
static void pairs_of_rows(const HoloGemm *g, int64_t row, int64_t rows, int64_t first, int64_t k, uint16_t *out)
{
    for (int64_t i = 0; i < rows; i++, out += BF16_STRIDE) {
        const float *a = g->a + (row + i) * g->a_row + first;
        for (int64_t p = 0; p < k; p += LANES)
            _mm256_storeu_si256((void *)(out + p), n_bf16(v_load_lanes(a + p, lanes_left(p, k)).r[0]));
    }
}

// Rows of a panel by pairs.
static void pairs_of_panel(int64_t k, const uint16_t *b, uint16_t *out)
{
    static const uint16_t order[2 * LANES] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                              8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    __m512i               pairs            = _mm512_loadu_si512(order);
    for (int64_t p = 0; p < k; p += 2, b += 2 * LANES, out += 2 * LANES) {
        __m512i both = _mm512_maskz_loadu_epi16(k - p > 1 ? ~(__mmask32)0 : 0xFFFF, b);
        _mm512_storeu_si512(out, _mm512_permutexvar_epi16(pairs, both));
    }
}

// One block of A, in scratch, times all panels.
static void pairs_multiply(const HoloGemm *g, int64_t row, int64_t rows, int64_t first, int64_t k)
{
    uint16_t *a = (uint16_t *)(void *)g->scratch, *b = a + BLOCK_ROWS * BF16_STRIDE;
    int64_t   steps = (rows + GEMM_ROWS - 1) / GEMM_ROWS, height = rows / steps, taller = rows % steps;
    for (int64_t j = 0, panels; j < g->n; j += panels * LANES) {
        const uint16_t *from = (const uint16_t *)g->b + j / LANES * g->b_panel + first * LANES;
        panels               = g->n - j > LANES ? 2 : 1;
        for (int64_t i = 0; i < panels; i++) pairs_of_panel(k, from + i * g->b_panel, b + i * BF16_K * LANES);
        Rows     none = {NULL, 0};
        PairTile t    = {.a = a, .b = b, .pairs = (k + 1) / 2, .end = tile_at(g, &none, row, j, (int)panels, first, k)};
        for (int64_t s = 0; s < steps; s++) {
            int tall = (int)(height + (s < taller));
            pair_tiles[tall][panels](&t);
            t.a += tall * BF16_STRIDE;
            t.end.c += tall * g->c_row;
            if (t.end.d) t.end.d += tall * g->d_row;
            if (t.end.more) t.end.more += tall * g->c_row;
        }
    }
}

static void gemm_bf16(const HoloGemm *g)
{
    if (g->b_type != HOLO_WEIGHTS_BF16 || g->m < BF16_ROWS || g->b_step != LANES || g->a_column != 1 || g->patch ||
        g->lines > 1 || g->part || !g->k) {
        gemm_f32(g);
        return;
    }
    // Even blocks of rows: none has too few for a tile.
    int64_t blocks = (g->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (int64_t first = 0; first < g->k; first += BF16_K) {
        int64_t k = g->k - first < BF16_K ? g->k - first : BF16_K;
        for (int64_t i = 0; i < blocks; i++) {
            int64_t row = g->m * i / blocks, rows = g->m * (i + 1) / blocks - row;
            pairs_of_rows(g, row, rows, first, k, (uint16_t *)(void *)g->scratch);
            pairs_multiply(g, row, rows, first, k);
        }
    }
}
