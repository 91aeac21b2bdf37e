// gemm_bits_i8.c - the product of 8-bit rows with weights of 4 or 8 bits, both scaled block by block.
//
// The products of a block are summed as integers, by quads or by pairs as in gemm_i8.c. Before it is scaled, the sum of
// a block is a whole number below 2^24, so only scaled sums are rounded.

#include "kernels/vec/bits_tiles.h"

// A row begins with the step and the sum of the numbers of each block.
enum { BITS_HEAD = 8 };

// A register of the numbers of a block, and their sum.
INL i32n bits_numbers(f32n y)
{
    const float all = 12582912.0f; // the sum has no room for a fraction
    return ((i32n)(y + all) - (i32n)((f32n){0} + all)) & (y == y);
}

INL void bits_numbers_store(const i32v *n, uint8_t *out, bool quads)
{
    uint8_t  byte[LANES];
    uint8_t *to = quads ? out : byte;
    EACH(r) n_store_u8(to + r * NATIVE_LANES, n->r[r] & 255);
    if (quads) return;
    static const int place[] = {0, 2, 1, 3}; // even ones, then odd ones
    for (int l = 0; l < LANES; l++) {
        int16_t wide = (int8_t)byte[l];
        __builtin_memcpy(out + 2 * (l / 4 * 4 + place[l % 4]), &wide, sizeof wide);
    }
}

// The largest magnitude. A NaN counts as larger than everything.
INL float bits_largest(int64_t count, const float *a)
{
    i32v    top = {{{0}}};
    int32_t lane[LANES], most = 0;
    float   largest;
    for (int64_t p = 0; p < count; p += LANES) {
        f32v x = v_load_lanes(a + p, lanes_left(p, count));
        EACH(r)
        {
            i32n bits = (i32n)x.r[r] & 0x7FFFFFFF, more = bits > top.r[r];
            top.r[r] = (bits & more) | (top.r[r] & ~more);
        }
    }
    i_store(lane, top);
    for (int l = 0; l < LANES; l++) most = lane[l] > most ? lane[l] : most;
    __builtin_memcpy(&largest, &most, sizeof largest);
    return largest;
}

INL void bits_row_make(int64_t k, int64_t block, const float *a, void *out, bool quads)
{
    int64_t  blocks = (k + block - 1) / block;
    float   *head   = out;
    uint8_t *to     = (uint8_t *)out + blocks * BITS_HEAD;
    for (int64_t first = 0; first < k; first += block, head += 2) {
        int64_t count = k - first < block ? k - first : block;
        float   top = bits_largest(count, a + first), by = top > 0 ? 127 / top : 0;
        if (!(by > 0 && by < __builtin_inff())) by = 0;
        i32n sum = {0};
        for (int64_t p = 0; p < block; p += LANES, to += (quads ? 1 : 2) * LANES) {
            f32v x = p < count ? v_load_lanes(a + first + p, lanes_left(p, count)) : v_set1(0);
            i32v n;
            EACH(r) n.r[r] = bits_numbers(x.r[r] * by);
            EACH(r) sum += n.r[r];
            bits_numbers_store(&n, to, quads);
        }
        head[0] = top / 127;
        head[1] = (float)n_sum(sum);
    }
}

// ---- tiles

typedef struct BitsRows {
    const HoloGemmBitsI8 *g;
    int64_t               row, column;
    int                   rows; // rows that exist
} BitsRows;

typedef void (*BitsRowsTile)(const BitsRows *);

// The numbers of eight k of a panel, as two quads of bytes or four pairs of 16 bits.
INL void bits_i8_parts(const uint8_t *b, int bits, bool quads, i32v part[4])
{
    const int flip = quads && bits == 8 ? (int)QUADS_FLIP : 0;
    i32v      low = i_load((const int32_t *)(const void *)b), high = low;
    if (bits == 8) high = i_load((const int32_t *)(const void *)(b + 4 * LANES));
    EACH(r)
    {
        i32n x       = bits == 4 ? low.r[r] & 0x0F0F0F0F : low.r[r] ^ flip;
        i32n y       = bits == 4 ? (i32n)((u32n)high.r[r] >> 4) & 0x0F0F0F0F : high.r[r] ^ flip;
        part[0].r[r] = quads ? x : x & 0x00FF00FF;
        part[1].r[r] = quads ? y : (i32n)((u32n)x >> 8) & 0x00FF00FF;
        part[2].r[r] = y & 0x00FF00FF;
        part[3].r[r] = (i32n)((u32n)y >> 8) & 0x00FF00FF;
    }
}

INL void bits_i8_tile(const BitsRows *t, int rows, int panels, int bits, bool quads)
{
    const HoloGemmBitsI8 *g      = t->g;
    int64_t               blocks = (g->k + g->block - 1) / g->block, words = (g->k + WORD - 1) / WORD;
    int64_t               wide = bits * LANES, bytes = words * wide;
    const uint8_t        *b      = g->b + t->column / LANES * bytes, *a[6];
    const float          *scale  = g->scales + t->column * blocks, *head[6];
    const float          *offset = g->offsets ? g->offsets + t->column * blocks : NULL;
    const float           moved  = quads && bits == 8 && QUADS_FLIP != 0 ? 128 : 0;
    const int             parts  = quads ? 2 : 4;
    f32v                  total[6][BITS_WIDE];
    UNROLL for (int i = 0; i < rows; i++)
    {
        const uint8_t *row = (const uint8_t *)g->a + (t->row + (i < t->rows ? i : t->rows - 1)) * g->a_row;
        head[i]            = (const float *)(const void *)row;
        a[i]               = row + blocks * BITS_HEAD;
        UNROLL for (int j = 0; j < panels; j++) total[i][j] = v_set1(0);
    }
    for (int64_t first = 0; first < words; first += g->block / WORD, scale += LANES) {
        int64_t end = first + g->block / WORD < words ? first + g->block / WORD : words;
        i32v    sum[6][BITS_WIDE];
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) EACH(r) sum[i][j].r[r] =
            (i32n){0};
        for (int64_t w = first; w < end; w++, b += wide) {
            i32v part[BITS_WIDE][4];
            UNROLL for (int j = 0; j < panels; j++) bits_i8_parts(b + j * bytes, bits, quads, part[j]);
            UNROLL for (int i = 0; i < rows; i++)
            {
                UNROLL for (int q = 0; q < parts; q++)
                {
                    i32n x = quad_read(a[i] + 4 * q) + (i32n){0};
                    UNROLL for (int j = 0; j < panels; j++) EACH(r) sum[i][j].r[r] =
                        quads ? n_quads(sum[i][j].r[r], part[j][q].r[r], x)
                              : n_pairs(sum[i][j].r[r], x, part[j][q].r[r]);
                }
                a[i] += quads ? WORD : 2 * WORD;
            }
        }
        UNROLL for (int j = 0; j < panels; j++)
        {
            f32v by = v_load(scale + j * LANES * blocks), shift = v_set1(g->offset);
            if (offset) shift = v_load(offset + j * LANES * blocks);
            shift = v_add(shift, v_set1(moved));
            UNROLL for (int i = 0; i < rows; i++)
            {
                f32v y;
                EACH(r) y.r[r] = __builtin_convertvector(sum[i][j].r[r], f32n);
                y              = v_mul_add(v_set1(head[i][1]), shift, y);
                total[i][j]    = v_mul_add(y, v_mul(v_set1(head[i][0]), by), total[i][j]);
            }
        }
        UNROLL for (int i = 0; i < rows; i++) head[i] += 2;
        if (offset) offset += LANES;
    }
    f32v kept[6][BITS_WIDE]; // totals stay in registers
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) kept[i][j] = total[i][j];
    bits_store(&(BitsOut){g->bias, g->c + t->row * g->c_row, g->c_row, g->n, t->column, t->rows, panels}, kept);
}

#define BITS_I8_FORMS(X, rows, name, panels) X(rows, name, panels, 4) X(rows, name, panels, 8)
#define BITS_I8_TILES(X)                 \
    BITS_I8_FORMS(X, 1, one, 1)          \
    BITS_I8_FORMS(X, 1, wide, BITS_WIDE) \
    BITS_I8_FORMS(X, 6, one, 1) BITS_I8_FORMS(X, 6, wide, BITS_PANELS)

// One or a few panels stay in the cache while all rows are multiplied by them.
static void bits_i8_tiles(const HoloGemmBitsI8 *g, const BitsRowsTile tiles[7][2][9])
{
    int rows = g->m <= 2 ? 1 : 6, panels = rows == 1 ? BITS_WIDE : BITS_PANELS;
    for (int64_t j = 0, next; j < g->n; j = next) {
        bool is_wide = g->n - j > (panels - 1) * LANES;
        next         = j + (is_wide ? panels : 1) * LANES;
        for (int64_t row = 0; row < g->m; row += rows) {
            int there = g->m - row < rows ? (int)(g->m - row) : rows;
            tiles[rows][is_wide][g->bits](&(BitsRows){.g = g, .row = row, .column = j, .rows = there});
        }
    }
}

// ---- to f32, for the matrix product of many rows

void SHARED(unpack_bits_f32)(const HoloGemmBits *g, int64_t panel, int64_t first, int64_t count, float *out)
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
