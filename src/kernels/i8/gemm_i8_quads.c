// gemm_i8_quads.c - products of bytes for CPUs that multiply quads of bytes (AVX-512 VNNI, the dot products of ARM).
// Only levels that have a second table for such CPUs include it; vec.h gives the table's name, QUADS_LEVEL, and its
// tiles, QUAD_TILES.

#define X(rows, panels)                                                                               \
    QUADS_TARGET static void quads_##rows##x##panels(const HoloGemmI8 *g, int64_t row, int64_t panel) \
    {                                                                                                 \
        i8_tile(g, row, panel, rows, panels, TILE_QUADS);                                             \
    }                                                                                                 \
    QUADS_TARGET static void raw_##rows##x##panels(const HoloGemmI8 *g, int64_t row, int64_t panel)   \
    {                                                                                                 \
        i8_tile(g, row, panel, rows, panels, TILE_RAW);                                               \
    }                                                                                                 \
    QUADS_TARGET static void lines_##rows##x##panels(const HoloGemmI8 *g, int64_t row, int64_t panel) \
    {                                                                                                 \
        i8_tile(g, row, panel, rows, panels, TILE_LINES);                                             \
    }
QUAD_TILES(X)
#undef X

typedef void QuadTile(const HoloGemmI8 *, int64_t row, int64_t panel);

static QuadTile *const quad_tiles[QUAD_ROWS + 1][QUAD_WIDE_PANELS + 1] = {
#define X(rows, panels) [rows][panels] = quads_##rows##x##panels,
    QUAD_TILES(X)
#undef X
};

static QuadTile *const raw_tiles[QUAD_ROWS + 1][QUAD_WIDE_PANELS + 1] = {
#define X(rows, panels) [rows][panels] = raw_##rows##x##panels,
    QUAD_TILES(X)
#undef X
};

static QuadTile *const line_tiles[QUAD_ROWS + 1][QUAD_WIDE_PANELS + 1] = {
#define X(rows, panels) [rows][panels] = lines_##rows##x##panels,
    QUAD_TILES(X)
#undef X
};

static void quads_walk(const HoloGemmI8 *g, QuadTile *const tiles[QUAD_ROWS + 1][QUAD_WIDE_PANELS + 1])
{
    if (!g->m) return;
    // Even heights: 13 rows are 7 and 6, not 12 and 1.
    int64_t part  = g->lines > 1 ? g->part : g->m;
    int64_t steps = (part + QUAD_ROWS - 1) / QUAD_ROWS, height = part / steps, taller = part % steps;
    int     panels, wide = g->m <= QUAD_WIDE_ROWS ? QUAD_WIDE_PANELS : QUAD_PANELS;
    for (int64_t panel = 0; panel * LANES < g->n; panel += panels) {
        int64_t left = (g->n + LANES - 1) / LANES - panel;
        panels       = left >= wide ? wide : left > 1 ? QUAD_PANELS : 1;
        for (int64_t s = 0, row = 0; row < g->m; s = s + 1 < steps ? s + 1 : 0) {
            int64_t tall = height + (s < taller);
            tiles[tall][panels](g, row, panel);
            row += tall;
        }
    }
}

void SHARED(gemm_i8_quads)(const HoloGemmI8 *g)
{
    quads_walk(g, quad_tiles);
}

// Where quads are signed on both sides, bytes cannot be taken as they are.
bool SHARED(gemm_raw_i8_quads)(const HoloGemmI8 *g)
{
    if (!QUADS_FLIP) quads_walk(g, g->lines > 1 ? line_tiles : raw_tiles);
    return !QUADS_FLIP;
}

QUADS_TARGET void SHARED(rows_i8_quads)(int64_t m, int64_t k, const uint8_t *a, int64_t row, bool is_signed, void *out,
                                        int32_t *out_sums)
{
    uint8_t    flip = is_signed ? 0 : 0x80;
    const i32n mask = (i32n){0} + (int32_t)(flip * UINT32_C(0x01010101)), ones = (i32n){0} + 0x01010101;
    for (int64_t i = 0; i < m; i++, a += row) {
        uint8_t *to  = (uint8_t *)out + i * HOLO_I8_ROW(k);
        i32n     sum = {0};
        for (int64_t p = 0; p < k; p += NATIVE) {
            i32n x;
            if (p + NATIVE <= k)
                __builtin_memcpy(&x, a + p, sizeof x);
            else
                x = n_load_bytes(a + p, (int)(k - p), flip);
            x ^= mask;
            __builtin_memcpy(to + p, &x, sizeof x); // rows have room for it
            sum = n_quads(sum, ones, x);
        }
        out_sums[i] = n_sum(sum);
        if (!QUADS_FLIP) continue;
        uint32_t more = 128u * (uint32_t)out_sums[i];
        __builtin_memcpy(to + (k + 3) / 4 * 4, &more, sizeof more);
    }
}

// ---- filters of one channel

QUADS_TARGET void SHARED(depthwise_i8_quads)(const HoloDepthwiseI8 *d, int64_t row, int64_t row_end, int64_t channel)
{
    dw_rows(d, row, row_end, channel, true);
}
