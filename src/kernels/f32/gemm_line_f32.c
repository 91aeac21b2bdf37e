// gemm_line_f32.c - gemm_f32 of one row, which waits for memory.
//
// Panels are read from their beginnings to their ends, several at a time, and a little ahead. If each block of k were
// multiplied with all panels before the next, as for more rows, memory would be read in short runs, and that takes half
// as long again. Sums are those of gemm_f32.c, in the same order.

enum {
    LINE_AHEAD = 1024, // bytes of a panel that are fetched before they are needed
    LINE_STEPS = 4,    // rows of B that are read in one go
};

// Sums of some rows of B, from `b` on, of each panel.
INL void line_part(int64_t count, const float *a, const char *b, int64_t skip, int64_t panel, int panels, uint32_t type,
                   f32v sum[GEMM_WIDE_PANELS])
{
    const int64_t step = b_bytes(type, LANES), bytes = LINE_STEPS * step;
    int64_t       p = 0;
    for (; p + LINE_STEPS <= count; p += LINE_STEPS, b += bytes) {
        UNROLL for (int j = 0; j < panels; j++) UNROLL for (int64_t at = 0; at < bytes; at += 64)
            __builtin_prefetch(b + j * panel + at + skip, 0, 2);
        UNROLL for (int q = 0; q < LINE_STEPS; q++)
        {
            f32v row                                       = v_set1(a[p + q]);
            UNROLL for (int j = 0; j < panels; j++) sum[j] = v_mad(row, b_load(b + j * panel + q * step, type), sum[j]);
        }
    }
    for (; p < count; p++, b += step) {
        f32v row                                       = v_set1(a[p]);
        UNROLL for (int j = 0; j < panels; j++) sum[j] = v_mad(row, b_load(b + j * panel, type), sum[j]);
    }
}

// The row times some panels from column j on.
INL void line(const HoloGemm *g, int64_t j, int panels, uint32_t type)
{
    const int64_t step = b_bytes(type, LANES), panel = b_bytes(type, g->b_panel), part = LINE_AHEAD / step;
    const char   *b = (const char *)g->b + j / LANES * panel;
    f32v          total[GEMM_ROWS][GEMM_WIDE_PANELS]; // one row of them
    for (int64_t first = 0; first < g->k; first += BLOCK_K) {
        int64_t end = g->k - first < BLOCK_K ? g->k : first + BLOCK_K;
        f32v    sum[GEMM_WIDE_PANELS];
        UNROLL for (int i = 0; i < panels; i++) sum[i] = v_set1(0);
        for (int64_t p = first, stop; p < end; p = stop) {
            stop = end - p < part ? end : p + part;
            // At the end of these panels, the next ones are fetched.
            int64_t skip = (stop - p) * step + (stop < g->k ? 0 : (panels - 1) * panel);
            line_part(stop - p, g->a + p, b + p * step, skip, panel, panels, type, sum);
        }
        UNROLL for (int i = 0; i < panels; i++) total[0][i] = first ? v_add(total[0][i], sum[i]) : sum[i];
    }
    Rows a = {g->a, 0};
    Tile t = tile_at(g, &a, 0, j, panels, 0, g->k);
    tile_finish_any(&t, total, 1, panels);
}

#define LINE_TYPES(X)        \
    X(f32, 0)                \
    X(f16, HOLO_WEIGHTS_F16) \
    X(bf16, HOLO_WEIGHTS_BF16)

#define X(name, type)                                                                    \
    static NOINLINE void line_##name(const HoloGemm *g)                                  \
    {                                                                                    \
        int64_t j = 0;                                                                   \
        for (; g->n - j > (GEMM_WIDE_PANELS - 1) * LANES; j += GEMM_WIDE_PANELS * LANES) \
            line(g, j, GEMM_WIDE_PANELS, type);                                          \
        for (; j < g->n; j += LANES) line(g, j, 1, type);                                \
    }
LINE_TYPES(X)
#undef X

// False: it is not for this product. What a cache holds is read faster block by block. Short rows have but one block of k.
static bool gemm_line(const HoloGemm *g)
{
    if (!g->is_far || g->k <= BLOCK_K || g->b_step != LANES || g->a_column != 1 || g->patch || g->lines > 1 ||
        g->resume)
        return false;
#define X(name, type)          \
    if (g->b_type == (type)) { \
        line_##name(g);        \
        return true;           \
    }
    LINE_TYPES(X)
#undef X
    return false;
}
