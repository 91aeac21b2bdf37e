// gemm_bits_f32.c - the product of a few rows with weights of 4 or 8 bits, which are converted to f32 in registers. It
// also unpacks such weights into panels of f32, for the matrix product of many rows.
//
// The products of a block of weights that share one scale are summed first, then the sum is scaled: the weights'
// integers are exact in f32. An offset is the same for all weights of a block, so it is multiplied by the sum of A over
// the block.
//
// Weights lie in the order in which they are read: a lane holds eight 4-bit weights of one column, the first in its
// lowest bits.

enum { BITS_WIDE = NATIVE == 64 ? 4 : 2, BITS_PANELS = NATIVE == 64 ? 2 : 1, WORD = 8 };

// The next number of each lane, of 4 bits.
INL f32v v_nibble(f32v *words)
{
    f32v v;
    EACH(r)
    {
        v.r[r]      = n_nibble((i32n)words->r[r]);
        words->r[r] = (f32n)((u32n)words->r[r] >> 4);
    }
    return v;
}

INL int64_t bits_panel(int64_t k, int bits) // bytes
{
    return bits == 4 ? (k + WORD - 1) / WORD * LANES * 4 : k * LANES;
}

// Row p of a panel: of 8 bits.
INL f32v bits_row(const uint8_t *panel, int64_t p)
{
    return v_load_i8((const int8_t *)panel + p * LANES);
}

// Eight weights of each column, for 4 bits: row p is the first of them.
INL f32v bits_words(const uint8_t *panel, int64_t p)
{
    return v_load((const float *)(const void *)(panel + p / WORD * LANES * 4));
}

typedef struct BitsTile {
    const HoloGemmBits *g;
    int64_t             column;
    int                 rows; // that are there
} BitsTile;

// Where the sums of a tile go.
typedef struct BitsOut {
    const float *bias;
    float       *c; // at the first row
    int64_t      c_row, n, column;
    int          rows, panels;
} BitsOut;

static NOINLINE void bits_store(const BitsOut *o, f32v total[6][BITS_WIDE])
{
    for (int i = 0; i < o->rows; i++)
        for (int j = 0; j < o->panels; j++) {
            int64_t column = o->column + j * LANES;
            int     lanes  = lanes_left(column, o->n);
            f32v    y      = total[i][j];
            if (o->bias) y = v_add(y, v_load_lanes(o->bias + column, lanes));
            v_store_lanes(o->c + i * o->c_row + column, y, lanes);
        }
}

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
    BITS_FORMS(X, 2, one, 1)          \
    BITS_FORMS(X, 2, wide, BITS_WIDE) BITS_FORMS(X, 6, one, 1) BITS_FORMS(X, 6, wide, BITS_PANELS)

#define X(rows, name, panels, bits, shifted)                                 \
    static void bits_##rows##_##name##_##bits##_##shifted(const BitsTile *t) \
    {                                                                        \
        bits_tile(t, rows, panels, bits, shifted);                           \
    }
BITS_TILES(X)
#undef X

enum { one, wide };

static void (*const bits_tiles[7][2][9][2])(const BitsTile *) = {
#define X(rows, name, panels, bits, shifted) [rows][name][bits][shifted] = bits_##rows##_##name##_##bits##_##shifted,
    BITS_TILES(X)
#undef X
};

static void gemm_bits_f32(const HoloGemmBits *g)
{
    int rows = g->m <= 2 ? (int)g->m : HOLO_BITS_ROWS, panels = rows <= 2 ? BITS_WIDE : BITS_PANELS;
    for (int64_t j = 0, next; j < g->n; j = next) {
        bool is_wide = g->n - j > (panels - 1) * LANES;
        next         = j + (is_wide ? panels : 1) * LANES;
        bits_tiles[rows][is_wide][g->bits][g->offsets != NULL](&(BitsTile){.g = g, .column = j, .rows = (int)g->m});
    }
}

static void unpack_bits_f32(const HoloGemmBits *g, int64_t panel, int64_t first, int64_t count, float *out)
{
    int64_t        blocks = (g->k + g->block - 1) / g->block;
    const uint8_t *b      = (const uint8_t *)g->b + panel * bits_panel(g->k, g->bits);
    for (int64_t p = first, next; p < first + count; p = next) {
        int64_t at = (panel * blocks + p / g->block) * LANES, end = (p / g->block + 1) * g->block;
        f32v    scale = v_load(g->scales + at), shift = g->offsets ? v_load(g->offsets + at) : v_set1(0);
        next       = end < first + count ? end : first + count;
        f32v words = v_set1(0);
        for (; p < next; out += LANES, p++) {
            if (g->bits == 4 && p % WORD == 0) words = bits_words(b, p);
            f32v w = g->bits == 4 ? v_nibble(&words) : bits_row(b, p);
            v_store(out, v_mul(v_add(w, shift), scale));
        }
    }
}
