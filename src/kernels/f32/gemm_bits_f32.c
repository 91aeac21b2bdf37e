// gemm_bits_f32.c - the product of a few rows with weights of 4 or 8 bits, which are converted to f32 in registers.
//
// The products of a block of weights that share one scale are summed first, then the sum is scaled: the weights'
// integers are exact in f32. An offset is the same for all weights of a block, so it is multiplied by the sum of A over
// the block.

#include "kernels/vec/bits_tiles.h"

typedef struct BitsTile {
    const HoloGemmBits *g;
    int64_t             column;
    int                 rows; // that are there
} BitsTile;

INL void bits_tile(const BitsTile *t, int rows, int panels, int bits, bool has_offsets)
{
    const HoloGemmBits *g      = t->g;
    int64_t             blocks = (g->k + g->block - 1) / g->block, bytes = bits_panel(g->k, bits);
    const uint8_t      *b      = (const uint8_t *)g->b + t->column / LANES * bytes;
    const float        *scale  = g->scales + t->column * blocks;
    const float        *offset = has_offsets ? g->offsets + t->column * blocks : scale; // not read where there are none
    const float        *a[6];
    f32v                total[6][BITS_WIDE];
    UNROLL for (int i = 0; i < rows; i++) a[i] = g->a + (i < t->rows ? i : t->rows - 1) * g->a_row;
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) total[i][j] = v_set1(0);
    for (int64_t first = 0; first < g->k; first += g->block, scale += LANES, offset += LANES) {
        int64_t end = first + g->block < g->k ? first + g->block : g->k, p = first;
        f32v    sum[6][BITS_WIDE], words[BITS_WIDE], all[6]; // all: the sum of A
        UNROLL for (int i = 0; i < rows; i++)
        {
            all[i]                                            = v_set1(0);
            UNROLL for (int j = 0; j < panels; j++) sum[i][j] = v_set1(0);
        }
        while (p < end) {
            int64_t next                                     = p + WORD < end ? p + WORD : end;
            UNROLL for (int j = 0; j < panels; j++) words[j] = bits == 4 ? bits_words(b + j * bytes, p) : v_set1(0);
            for (; p < next; p++) {
                f32v x[6];
                UNROLL for (int i = 0; i < rows; i++)
                {
                    x[i] = v_set1(a[i][p]);
                    if (has_offsets) all[i] = v_add(all[i], x[i]);
                }
                UNROLL for (int j = 0; j < panels; j++)
                {
                    f32v w = bits == 4 ? v_nibble(&words[j]) : bits_row(b + j * bytes, p);
                    UNROLL for (int i = 0; i < rows; i++) sum[i][j] = v_mad(x[i], w, sum[i][j]);
                }
            }
        }
        if (has_offsets) UNROLL for (int j = 0; j < panels; j++)
            {
                f32v shift                                      = v_load(offset + j * LANES * blocks);
                UNROLL for (int i = 0; i < rows; i++) sum[i][j] = v_mad(all[i], shift, sum[i][j]);
            }
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) total[i][j] =
            v_mad(sum[i][j], v_load(scale + j * LANES * blocks), total[i][j]);
    }
    f32v kept[6][BITS_WIDE]; // totals stay in registers
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) kept[i][j] = total[i][j];
    bits_store(&(BitsOut){g->bias, g->c, g->c_row, g->n, t->column, t->rows, panels}, kept);
}

// Every tile: rows, how many panels and what that is called, bits, and whether there are offsets.
#define BITS_FORMS(X, rows, name, panels) \
    X(rows, name, panels, 4, 0) X(rows, name, panels, 4, 1) X(rows, name, panels, 8, 0) X(rows, name, panels, 8, 1)
#define BITS_TILES(X)                 \
    BITS_FORMS(X, 1, one, 1)          \
    BITS_FORMS(X, 1, wide, BITS_WIDE) \
    BITS_FORMS(X, 6, one, 1) BITS_FORMS(X, 6, wide, BITS_PANELS)

#define X(rows, name, panels, bits, shifted)                                 \
    static void bits_##rows##_##name##_##bits##_##shifted(const BitsTile *t) \
    {                                                                        \
        bits_tile(t, rows, panels, bits, shifted);                           \
    }
BITS_TILES(X)
#undef X

static void (*const bits_tiles[7][2][9][2])(const BitsTile *) = {
#define X(rows, name, panels, bits, shifted) [rows][name][bits][shifted] = bits_##rows##_##name##_##bits##_##shifted,
    BITS_TILES(X)
#undef X
};

// Of two rows, the second one finds the panels in a cache.
static void gemm_bits_f32(const HoloGemmBits *g)
{
    int          rows = g->m <= 2 ? 1 : HOLO_BITS_ROWS, panels = rows == 1 ? BITS_WIDE : BITS_PANELS;
    HoloGemmBits one = *g;
    for (int64_t j = 0, next; j < g->n; j = next) {
        bool is_wide = g->n - j > (panels - 1) * LANES;
        next         = j + (is_wide ? panels : 1) * LANES;
        for (int64_t row = 0; row < g->m; row += rows) {
            one.a = g->a + row * g->a_row;
            one.c = g->c + row * g->c_row;
            bits_tiles[rows][is_wide][g->bits][g->offsets != NULL](
                &(BitsTile){.g = &one, .column = j, .rows = rows == 1 ? 1 : (int)g->m});
        }
    }
}
