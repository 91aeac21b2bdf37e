// gemm_blocks_i8.c - the product of 8-bit rows with weights in blocks, packed in panels as format/blocks.h says.
//
// The numbers of a unit are eight registers of quads, whatever bits their codes have. With few rows a unit is read,
// multiplied and forgotten: that waits for memory. With more rows, the units of 256 elements are written out as bytes,
// and their scales as f32, and all rows are multiplied with these. A sum of products of a group is a whole number below
// 2^24, so only scaled sums are rounded, and both ways give the same bits.
//
// A row of A has for each unit its step, a word for each half, and the numbers. Codes are unsigned: their zero times
// the sum of A is where a sum of products starts, and the word has that. If the type has offsets, zero is 0, and the
// word is the sum of A in f32.

enum {
    UNIT_HEAD     = 16,
    UNIT_QUADS    = 8,
    CHUNK_UNITS   = HOLO_BLOCK_CHUNK, // units that are written out at once: the scales of a block belong together
    CHUNK_BYTES   = CHUNK_UNITS * UNIT_QUADS * LANES * 4,
    BLOCKS_WIDE   = NATIVE == 16 ? 2 : 4, // panels that one row reads at once
    BLOCKS_AHEAD  = 1920,                 // bytes of a panel that are fetched before they are needed
    BLOCKS_FEW    = 4,                    // rows that read units themselves
    BLOCKS_SOME   = 2 * BLOCKS_FEW,       // rows that do so at once or, with few registers, a few at a time
    BLOCKS_ROWS   = NATIVE == 64   ? 6
                    : NATIVE == 32 ? 4
                                   : 2, // of a tile
    BLOCKS_PANELS = NATIVE == 64 ? 2 : 1,
    BLOCKS_FETCH  = 32, // rows up to which the next units of a panel are fetched while these are multiplied
};

// How a level multiplies: pairs of 16 bits, quads by one instruction, or quads by several.
typedef enum BlocksDots {
    DOTS_PAIRS,
    DOTS_QUADS,
    DOTS_BYTES,
    DOTS_OWN = BYTES ? DOTS_BYTES : DOTS_PAIRS, // what every CPU of the level can do
} BlocksDots;

// ---- rows of A

// Are numbers of 8 bits signed, as the level multiplies them?
INL bool blocks_signed(BlocksDots dots)
{
    return dots == DOTS_BYTES || (dots == DOTS_QUADS && QUADS_FLIP != 0);
}

// What codes of 0 stand for, with the other sign.
INL int blocks_zero(const HoloBlockType *type, BlocksDots dots)
{
    if (type->bits == 8 || type->book) return blocks_signed(dots) ? 0 : 128;
    return -type->low;
}

INL void blocks_row_make(const HoloBlockType *type, int64_t k, const float *a, void *out, BlocksDots dots)
{
    uint8_t *to   = out;
    int      zero = blocks_zero(type, dots);
    for (int64_t first = 0; first < k; first += HOLO_BLOCK_UNIT, a += HOLO_BLOCK_UNIT) {
        float top = bits_largest(HOLO_BLOCK_UNIT, a), by = top > 0 ? 127 / top : 0, step = top / 127;
        if (!(by > 0 && by < __builtin_inff())) by = 0;
        uint8_t *number = to + UNIT_HEAD;
        int32_t  word[4];
        for (int h = 0; h < 2; h++, number += (dots == DOTS_PAIRS ? 2 : 1) * LANES) {
            f32v x = v_load(a + h * LANES);
            i32v n;
            i32n sum       = {0};
            EACH(r) n.r[r] = bits_numbers(x.r[r] * by);
            EACH(r) sum += n.r[r];
            bits_numbers_store(&n, number, dots != DOTS_PAIRS);
            word[1 + h] = n_sum(sum);
        }
        if (type->group == HOLO_BLOCK_UNIT) word[1] += word[2];
        for (int h = 0; h < 2; h++) {
            float all = step * (float)word[1 + h];
            if (type->has_offset)
                __builtin_memcpy(&word[1 + h], &all, sizeof all);
            else
                word[1 + h] *= -zero;
        }
        step *= type->unit;
        __builtin_memcpy(word, &step, sizeof step);
        word[3] = 0;
        __builtin_memcpy(to, word, sizeof word);
        to = number;
    }
}

// ---- numbers

INL i32n blocks_bits(i32n x, int by, int mask) // moves bits up or, if `by` is negative, down
{
    return (by < 0 ? (i32n)((u32n)x >> -by) : (i32n)((u32n)x << by)) & (mask * 0x01010101);
}

INL i32v blocks_load(const uint8_t *b)
{
    return i_load((const int32_t *)(const void *)b);
}

// The quads of a unit: unsigned numbers or, where the level's quads are signed, signed ones.
INL void blocks_unit(const uint8_t *b, int bits, const int8_t *book, BlocksDots dots, i32v w[UNIT_QUADS])
{
    const int low = bits == 8 ? 8 : bits >= 4 ? 4 : 2, high = bits - low; // bits of the planes
    const int flip = blocks_signed(dots) ? 0 : (int)0x80808080;
    i32v      first[4], second[2];
    UNROLL for (int i = 0; i < 4; i++) if (i < low && low < 8) first[i] = blocks_load(b + i * 64);
    UNROLL for (int i = 0; i < 2; i++) if (i < high) second[i]          = blocks_load(b + (low + i) * 64);
    UNROLL for (int q = 0; q < UNIT_QUADS; q++)
    {
        if (low == 8) w[q] = blocks_load(b + q * 64);
        EACH(r)
        {
            if (low == 4) w[q].r[r] = blocks_bits(first[q % 4].r[r], -(q / 4 * 4), 15);
            if (low == 2) w[q].r[r] = blocks_bits(first[q % 2].r[r], -(q / 2 * 2), 3);
            if (high == 2) w[q].r[r] |= blocks_bits(second[q % 2].r[r], 4 - q / 2 * 2, 48);
            if (high == 1) w[q].r[r] |= blocks_bits(second[0].r[r], low - q, 1 << low);
            if (book) w[q].r[r] = n_look_up(book, w[q].r[r]) ^ flip;
            if (low == 8) w[q].r[r] ^= flip ^ (int)0x80808080;
        }
    }
}

// The sum plus the products of a quad of numbers with quad q of a unit of a row. is_wide: numbers have 8 bits.
INL i32v blocks_dot(i32v sum, i32v w, const uint8_t *a, int q, bool is_wide, BlocksDots dots)
{
    a += UNIT_HEAD;
    if (dots != DOTS_PAIRS) {
        i32n x = quad_read(a + 4 * q) + (i32n){0};
        EACH(r)
        sum.r[r] = dots == DOTS_QUADS ? n_quads(sum.r[r], w.r[r], x) : n_bytes(sum.r[r], w.r[r], x, is_wide);
        return sum;
    }
    i32n even = quad_read(a + 8 * q) + (i32n){0}, odd = quad_read(a + 8 * q + 4) + (i32n){0};
    EACH(r) sum.r[r] = n_pairs(sum.r[r], even, w.r[r] & 0x00FF00FF);
    EACH(r) sum.r[r] = n_pairs(sum.r[r], odd, (i32n)((u32n)w.r[r] >> 8) & 0x00FF00FF);
    return sum;
}

// How many quads' products of a number of so many bits and one of A, which is at most 127, two and two, fit into 16 bits
// when they are added. 0: they are added in 32 bits at once.
INL int blocks_run(int bits, bool is_wide, BlocksDots dots)
{
    if (dots != DOTS_BYTES || is_wide || !BYTES_HALVES) return 0;
    return bits <= 4 ? 8 : bits == 5 ? 4 : 2;
}

// As blocks_dot, where quad q is number `at` of a group of `count`, and `run` sums fit into 16 bits: these are in `half`.
INL i32v blocks_dot_run(i32v sum, i32v *half, i32v w, const uint8_t *a, int q, int at, int count, int run)
{
    i32n x = quad_read(a + UNIT_HEAD + 4 * q) + (i32n){0};
    EACH(r)
    {
        i32n part  = n_halves(w.r[r], x);
        half->r[r] = at % run ? n_halves_add(half->r[r], part) : part;
    }
    if ((at + 1) % run && at + 1 < count) return sum;
    EACH(r) sum.r[r] = n_halves_sum(sum.r[r], half->r[r]);
    return sum;
}

// ---- scales

INL f32v blocks_powers(const uint8_t *p) // of two, by exponents: see holo_block_read_mxfp4
{
    f32v v;
    EACH(r)
    {
        i32n e = n_load_u8_lanes(p + r * NATIVE_LANES, NATIVE_LANES), tiny = e < 2;
        v.r[r] = (f32n)((tiny & ((e + 1) << 21)) | (~tiny & ((e - 1) << 23)));
    }
    return v;
}

// Scales of 6 bits, less 32: see HOLO_BLOCK_SIXES.
INL void blocks_sixes(const uint8_t *bytes, f32v by, float *out)
{
    EACH(r)
    {
        i32n low[8], high[4];
        UNROLL for (int i = 0; i < 8; i++) low[i] = n_load_u8_lanes(bytes + i * LANES + r * NATIVE_LANES, NATIVE_LANES);
        UNROLL for (int i = 0; i < 4; i++) high[i] =
            n_load_u8_lanes(bytes + (8 + i) * LANES + r * NATIVE_LANES, NATIVE_LANES);
        UNROLL for (int g = 0; g < HOLO_BLOCK_GROUPS; g++)
        {
            i32n six = (low[g % 8] >> g / 8 * 4 & 15) | ((high[g % 4] >> g / 4 * 2 & 3) << 4);
            f32n y   = __builtin_convertvector(six - 32, f32n) * by.r[r];
            __builtin_memcpy(out + g * LANES + r * NATIVE_LANES, &y, sizeof y);
        }
    }
}

// Scales of 4 bits and offsets of as many, with the other sign.
INL void blocks_pairs(const uint8_t *bytes, int groups, f32v by, f32v less, float *out, float *out_offsets)
{
    for (int g = 0; g < groups; g++) {
        f32v y, z;
        EACH(r)
        {
            i32n x = n_load_u8_lanes(bytes + g * LANES + r * NATIVE_LANES, NATIVE_LANES);
            y.r[r] = __builtin_convertvector(x & 15, f32n) * by.r[r];
            z.r[r] = __builtin_convertvector(-(x >> 4), f32n) * less.r[r];
        }
        v_store(out + g * LANES, y);
        v_store(out_offsets + g * LANES, z);
    }
}

// The scales, and the offsets if there are any, of the first units of a chunk: a vector for each group.
static NOINLINE void blocks_scales(const HoloBlockType *type, const uint8_t *scales, int64_t units, float *out,
                                   float *out_offsets)
{
    int groups = type->scale == HOLO_BLOCK_PLAIN ? 0 : HOLO_BLOCK_MOST / type->group,
        bytes  = holo_block_scale_bytes(type);
    if (type->slice) {
        slices_scales(type, scales, out);
        return;
    }
    if (type->scale == HOLO_BLOCK_POWER) {
        for (int64_t u = 0; u < units; u++) v_store(out + u * LANES, blocks_powers(scales + u * bytes));
        return;
    }
    f32v by = v_set1(0), less = by;
    for (int64_t u = 0; u < (groups ? 1 : units); u++)
        for (int i = 0; i <= type->has_offset; i++) {
            less = v_load_f16((const uint16_t *)(const void *)(scales + u * bytes + i * 32));
            if (!i) by = less;
            if (!groups) v_store((i ? out_offsets : out) + u * LANES, less);
        }
    if (!groups) return;
    const uint8_t *small = scales + (type->has_offset ? 64 : 32);
    const int8_t  *of    = (const int8_t *)small;
    if (type->scale == HOLO_BLOCK_SIXES) blocks_sixes(small, by, out);
    if (type->scale == HOLO_BLOCK_PAIRS) blocks_pairs(small, groups, by, less, out, out_offsets);
    for (int g = 0; type->scale == HOLO_BLOCK_WHOLE && g < groups; g++) v_store(out + g * LANES, by);
    if (type->scale != HOLO_BLOCK_SUPER) return;
    for (int g = 0; g < groups; g++, of += LANES) v_store(out + g * LANES, v_mul(by, v_load_i8(of)));
    for (int g = 0; type->has_offset && g < groups; g++, of += LANES)
        v_store(out_offsets + g * LANES, v_mul(less, v_load_i8(of)));
}

INL f32v blocks_add_offset(f32v total, const uint8_t *a, int half, const float *offset)
{
    float all;
    __builtin_memcpy(&all, a + 4 + 4 * half, sizeof all);
    return v_mul_add(v_set1(all), v_load(offset), total);
}

// Scales the sum of a group and adds it: the word is that of its half.
INL f32v blocks_add(f32v total, i32v sum, const uint8_t *a, int half, bool has_offset, const float *scale,
                    const float *offset)
{
    float step;
    f32v  y;
    __builtin_memcpy(&step, a, sizeof step);
    EACH(r) y.r[r] = __builtin_convertvector(sum.r[r], f32n);
    total          = v_mul_add(y, v_mul(v_set1(step), v_load(scale)), total);
    return has_offset ? blocks_add_offset(total, a, half, offset) : total;
}

// Where a sum starts. The last word of a row's head is 0.
INL i32v blocks_start_at(const uint8_t *word)
{
    i32v sum;
    EACH(r) sum.r[r] = quad_read(word) + (i32n){0};
    return sum;
}

INL i32v blocks_start(const uint8_t *a, int half, bool has_offset)
{
    return blocks_start_at(a + (has_offset ? 12 : 4 + 4 * half));
}

static NOINLINE void blocks_store(const HoloGemmBlocks *g, int64_t row, int64_t column, f32v y)
{
    int lanes = lanes_left(column, g->n);
    if (g->bias) y = v_add(y, v_load_lanes(g->bias + column, lanes));
    v_store_lanes(g->c + row * g->c_row + column, y, lanes);
}

// ---- few rows

INL int64_t blocks_panel(const HoloGemmBlocks *g) // bytes
{
    int64_t chunks = (g->k + HOLO_BLOCK_MOST - 1) / HOLO_BLOCK_MOST;
    return chunks * holo_block_chunk_scales(g->type) + g->k / HOLO_BLOCK_UNIT * holo_block_unit_bytes(g->type);
}

typedef void BlocksFew(const HoloGemmBlocks *g, const uint8_t *panel, int64_t column);

// Several panels are read at once: memory gives more than along one line.
INL void blocks_few(const HoloGemmBlocks *g, const uint8_t *panel, int64_t column, int rows, int panels, int bits,
                    bool coded, int group, BlocksDots dots)
{
    const int      unit = UNIT_HEAD + (dots == DOTS_PAIRS ? 2 : 1) * HOLO_BLOCK_UNIT, halves = HOLO_BLOCK_UNIT / group;
    const int64_t  units = g->k / HOLO_BLOCK_UNIT, bytes = blocks_panel(g);
    const int64_t  early      = BLOCKS_AHEAD / (64 * bits) < CHUNK_UNITS ? BLOCKS_AHEAD / (64 * bits) : CHUNK_UNITS;
    const bool     has_offset = g->type->has_offset;
    const int64_t  lead       = holo_block_chunk_scales(g->type);
    const int      run = blocks_run(bits, bits == 8 || coded, dots), quads = UNIT_QUADS / halves;
    const uint8_t *a[BLOCKS_SOME];
    _Alignas(64) float scale[BLOCKS_WIDE][HOLO_BLOCK_GROUPS * LANES], offset[BLOCKS_WIDE][HOLO_BLOCK_GROUPS * LANES];
    f32v               total[BLOCKS_SOME][BLOCKS_WIDE];
    UNROLL for (int i = 0; i < rows; i++)
    {
        a[i] = (const uint8_t *)g->a + (i < g->m ? i : g->m - 1) * g->a_row;
        UNROLL for (int j = 0; j < panels; j++) total[i][j] = v_set1(0);
    }
    for (int64_t first = 0; first < units; first += CHUNK_UNITS) {
        int64_t count = units - first < CHUNK_UNITS ? units - first : CHUNK_UNITS, at = 0;
        // What is fetched follows the next chunk's scales or, at the end of these panels, lies in the next ones.
        int64_t skip = early * 64 * bits, turn = first + count < units ? lead : lead + (panels - 1) * bytes;
        for (int j = 0; j < panels; j++) {
            const uint8_t *next = panel + j * bytes + count * 64 * bits + turn;
            for (int64_t i = 0; i < lead; i += 64) __builtin_prefetch(next + i, 0, 2);
            blocks_scales(g->type, panel + j * bytes, count, scale[j], offset[j]);
        }
        panel += lead;
        for (int64_t u = 0; u < count; u++, panel += 64 * bits, at += halves * LANES) {
            const uint8_t *ahead = panel + skip + (u + early < count ? 0 : turn);
            UNROLL for (int j = 0; j < panels; j++)
            {
                UNROLL for (int i = 0; i < bits; i++) __builtin_prefetch(ahead + j * bytes + i * 64, 0, 2);
                i32v w[UNIT_QUADS];
                blocks_unit(panel + j * bytes, bits, coded ? g->type->book : NULL, dots, w);
                // Sums of rows grow side by side: none waits for its own last product.
                UNROLL for (int h = 0; h < halves; h++)
                {
                    const float *by = scale[j] + at + h * LANES, *more = offset[j] + at + h * LANES;
                    i32v         sum[BLOCKS_SOME], half[BLOCKS_SOME];
                    UNROLL for (int i = 0; i < rows; i++) sum[i] =
                        blocks_start_at(a[i] + (has_offset ? 12 : 4 + 4 * h));
                    UNROLL for (int q = h * quads; q < (h + 1) * quads; q++) UNROLL for (int i = 0; i < rows; i++)
                        sum[i] = run ? blocks_dot_run(sum[i], &half[i], w[q], a[i], q, q - h * quads, quads, run)
                                     : blocks_dot(sum[i], w[q], a[i], q, bits == 8 || coded, dots);
                    UNROLL for (int i = 0; i < rows; i++) total[i][j] =
                        blocks_add(total[i][j], sum[i], a[i], h, false, by, more);
                    UNROLL for (int i = 0; has_offset && i < rows; i++) total[i][j] =
                        blocks_add_offset(total[i][j], a[i], h, more);
                }
            }
            UNROLL for (int i = 0; i < rows; i++) a[i] += unit;
        }
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) if (i < g->m)
        blocks_store(g, i, column + j * LANES, total[i][j]);
}

// Every form of numbers: bits, whether there is a book, and the size of a group.
#define BLOCK_FORMS(X, name, rows, panels) \
    X(name, rows, panels, 2, 0, 16)        \
    X(name, rows, panels, 2, 0, 32)        \
    X(name, rows, panels, 3, 0, 16)        \
    X(name, rows, panels, 4, 0, 32)        \
    X(name, rows, panels, 4, 1, 32)        \
    X(name, rows, panels, 5, 0, 32)        \
    X(name, rows, panels, 6, 0, 16) X(name, rows, panels, 8, 0, 32)
enum { FEW_ONE, FEW_WIDE, FEW_ROWS, FEW_SOME, FEW_SHAPES };

// ---- many rows

// Writes the quads of some units out, as blocks_unit gives them. Of slices that is always a whole chunk.
INL void blocks_write(const uint8_t *b, int64_t units, int bits, const int8_t *book, BlocksDots dots, uint8_t *out)
{
    for (int64_t u = 0; u < units; u++, b += 64 * bits) {
        i32v w[UNIT_QUADS];
        blocks_unit(b, bits, book, dots, w);
        UNROLL for (int q = 0; q < UNIT_QUADS; q++, out += 64) i_store((int32_t *)(void *)out, w[q]);
    }
}

static NOINLINE void blocks_write_any(const HoloBlockType *type, const uint8_t *b, int64_t units, BlocksDots dots,
                                      uint8_t *out)
{
    if (type->slice) {
        slices_write(type, b, blocks_signed(dots) ? 0 : (int)0x80808080, out);
        return;
    }
    switch (type->bits) {
    case 2: blocks_write(b, units, 2, NULL, dots, out); break;
    case 3: blocks_write(b, units, 3, NULL, dots, out); break;
    case 4:
        if (type->book)
            blocks_write(b, units, 4, type->book, dots, out);
        else
            blocks_write(b, units, 4, NULL, dots, out);
        break;
    case 5: blocks_write(b, units, 5, NULL, dots, out); break;
    case 6: blocks_write(b, units, 6, NULL, dots, out); break;
    default: blocks_write(b, units, 8, NULL, dots, out); break;
    }
}

typedef struct BlocksTile {        // some units of up to BLOCKS_PANELS panels, written out
    const uint8_t *w;              // CHUNK_BYTES from one panel to the next
    const float   *scale, *offset; // HOLO_BLOCK_GROUPS vectors from one panel to the next
    const uint8_t *a;              // the rows at the first unit
    int64_t        a_row, units;
    int            rows; // that are there
    bool           has_offset;
    float         *total; // [row][panel][16]
    const uint8_t *ahead; // what is fetched meanwhile: so many lines of 64 bytes for each unit
    int            lines;
} BlocksTile;

typedef void BlocksMany(const BlocksTile *t);

INL void blocks_tile(const BlocksTile *t, int rows, int panels, int group, bool has_offset, bool is_wide, int run,
                     BlocksDots dots)
{
    const int      quads = UNIT_QUADS * group / HOLO_BLOCK_UNIT;
    const int      unit = UNIT_HEAD + (dots == DOTS_PAIRS ? 2 : 1) * HOLO_BLOCK_UNIT, halves = HOLO_BLOCK_UNIT / group;
    const uint8_t *a[BLOCKS_ROWS], *w                                                        = t->w;
    const float   *scale = t->scale, *offset = t->offset;
    f32v           total[BLOCKS_ROWS][BLOCKS_PANELS];
    UNROLL for (int i = 0; i < rows; i++)
    {
        int at                                              = i < t->rows ? i : t->rows - 1;
        a[i]                                                = t->a + at * t->a_row;
        UNROLL for (int j = 0; j < panels; j++) total[i][j] = v_load(t->total + (at * panels + j) * LANES);
    }
    for (int64_t u = 0; u < t->units; u++) {
        for (int i = 0; i < t->lines; i++) __builtin_prefetch(t->ahead + (u * t->lines + i) * 64, 0, 2);
        UNROLL for (int h = 0; h < halves; h++, scale += LANES, offset += LANES)
        {
            i32v sum[BLOCKS_ROWS][BLOCKS_PANELS], half[BLOCKS_ROWS][BLOCKS_PANELS];
            UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) sum[i][j] =
                blocks_start(a[i], h, has_offset);
            UNROLL for (int q = 0; q < quads; q++, w += 64)
            {
                i32v part[BLOCKS_PANELS];
                UNROLL for (int j = 0; j < panels; j++) part[j] = blocks_load(w + j * CHUNK_BYTES);
                UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) sum[i][j] =
                    run ? blocks_dot_run(sum[i][j], &half[i][j], part[j], a[i], h * quads + q, q, quads, run)
                        : blocks_dot(sum[i][j], part[j], a[i], h * quads + q, is_wide, dots);
            }
            UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) total[i][j] =
                blocks_add(total[i][j], sum[i][j], a[i], h, has_offset, scale + j * HOLO_BLOCK_GROUPS * LANES,
                           offset + j * HOLO_BLOCK_GROUPS * LANES);
        }
        UNROLL for (int i = 0; i < rows; i++) a[i] += unit;
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) if (i < t->rows)
        v_store(t->total + (i * panels + j) * LANES, total[i][j]);
}

// Kinds of tiles: numbers of few bits; such with offsets; numbers of 8 bits. Where sums are in 16 bits for a while, those of 5
// and 6 bits have kinds of their own.
enum { TILE_PLAIN, TILE_OFFSET, TILE_WIDE, TILE_MORE, TILE_MORE_OFFSET, TILE_KINDS };

INL int blocks_kind(const HoloBlockType *type)
{
    bool is_more = BYTES_HALVES && type->bits > 4;
    if (type->has_offset) return is_more ? TILE_MORE_OFFSET : TILE_OFFSET;
    return type->book || type->bits == 8 ? TILE_WIDE : is_more ? TILE_MORE : TILE_PLAIN;
}

// One row is for slices: with planes it reads units itself.
#define BLOCK_KINDS(X, name, rows, panels, group) \
    X(name, rows, panels, group, 0)               \
    X(name, rows, panels, group, 1)               \
    X(name, rows, panels, group, 2) BYTES_WIDE(X(name, rows, panels, group, 3) X(name, rows, panels, group, 4))
#define BLOCK_TILES(X)                                        \
    BLOCK_KINDS(X, MANY_ONE, BLOCKS_ROWS, 1, 16)              \
    BLOCK_KINDS(X, MANY_ONE, BLOCKS_ROWS, 1, 32)              \
    BLOCK_KINDS(X, MANY_WIDE, BLOCKS_ROWS, BLOCKS_PANELS, 16) \
    BLOCK_KINDS(X, MANY_WIDE, BLOCKS_ROWS, BLOCKS_PANELS, 32) \
    X(MANY_LINE, 1, 1, 16, 2)                                 \
    X(MANY_LINE, 1, 1, 32, 0)                                 \
    X(MANY_LINE, 1, 1, 32, 2) BYTES_WIDE(BLOCK_KINDS(X, MANY_PAIR, 2, 1, 16) BLOCK_KINDS(X, MANY_PAIR, 2, 1, 32))
enum { MANY_ONE, MANY_WIDE, MANY_LINE, MANY_PAIR, MANY_SHAPES };

// The functions of a level.
typedef struct BlocksWay {
    BlocksFew *const (*few)[9][2][2];
    BlocksMany *const (*many)[2][TILE_KINDS]; // by MANY_*
    void (*write)(const HoloBlockType *type, const uint8_t *b, int64_t units, uint8_t *out);
    int unit; // bytes of a unit of a row
} BlocksWay;

// All rows with one or some panels from `column` on.
static void blocks_many(const HoloGemmBlocks *g, const BlocksWay *way, int64_t column, int panels, int64_t panel_bytes)
{
    int64_t  units = g->k / HOLO_BLOCK_UNIT, lead = holo_block_chunk_scales(g->type);
    int64_t  chunk = holo_block_chunk_bytes(g->type);
    float   *total = g->scratch, *scale = total + HOLO_BLOCKS_ROWS * BLOCKS_PANELS * LANES;
    float   *offset = scale + BLOCKS_PANELS * HOLO_BLOCK_GROUPS * LANES;
    uint8_t *w      = (uint8_t *)(offset + BLOCKS_PANELS * HOLO_BLOCK_GROUPS * LANES);
    int      group = g->type->group / 32, kind = blocks_kind(g->type), step;
    for (int64_t i = 0; i < g->m * panels; i++) v_store(total + i * LANES, v_set1(0));
    for (int64_t first = 0; first < units; first += CHUNK_UNITS) {
        int64_t count = units - first < CHUNK_UNITS ? units - first : CHUNK_UNITS;
        for (int j = 0; j < panels; j++) {
            const uint8_t *b = g->b + (column / LANES + j) * panel_bytes + first / CHUNK_UNITS * chunk;
            way->write(g->type, b + lead, count, w + j * CHUNK_BYTES);
            blocks_scales(g->type, b, count, scale + j * HOLO_BLOCK_GROUPS * LANES,
                          offset + j * HOLO_BLOCK_GROUPS * LANES);
        }
        BlocksTile t = {.w = w, .scale = scale, .offset = offset, .a_row = g->a_row, .units = count};
        // The first rows fetch the next chunk, if that takes longer than all rows do.
        t.ahead = g->b + column / LANES * panel_bytes + (first / CHUNK_UNITS + 1) * chunk;
        t.lines = g->m <= BLOCKS_FETCH && panels == 1 ? (int)((chunk + 64 * count - 1) / (64 * count)) : 0;
        for (int64_t row = 0; row < g->m; row += step, t.lines = 0) {
            int64_t left  = g->m - row;
            int     shape = panels > 1                                       ? MANY_WIDE
                            : left == 1 && way->many[MANY_LINE][group][kind] ? MANY_LINE
                            : left <= 2 && way->many[MANY_PAIR][group][kind] ? MANY_PAIR
                                                                             : MANY_ONE;
            step          = shape == MANY_LINE ? 1 : shape == MANY_PAIR ? 2 : BLOCKS_ROWS;
            t.a           = (const uint8_t *)g->a + row * g->a_row + first * way->unit;
            t.rows        = left < step ? (int)left : step;
            t.total       = total + row * panels * LANES;
            way->many[shape][group][kind](&t);
        }
    }
    for (int64_t i = 0; i < g->m; i++)
        for (int j = 0; j < panels; j++)
            blocks_store(g, i, column + j * LANES, v_load(total + (i * panels + j) * LANES));
}

// All rows of a panel, a few at a time.
static void blocks_some(const HoloGemmBlocks *g, BlocksFew *few, int rows, const uint8_t *panel, int64_t column)
{
    for (int64_t row = 0; row < g->m; row += rows) {
        HoloGemmBlocks part = *g;
        part.m              = g->m - row < rows ? g->m - row : rows;
        part.a              = (const uint8_t *)g->a + row * g->a_row;
        part.c              = g->c + row * g->c_row;
        few(&part, panel, column);
    }
}

static void blocks_walk(const HoloGemmBlocks *g, const BlocksWay *way)
{
    const HoloBlockType *type  = g->type;
    int64_t              bytes = blocks_panel(g);
    BlocksFew           *few[FEW_SHAPES];
    for (int i = 0; i < FEW_SHAPES; i++) few[i] = way->few[i][type->bits][type->book != NULL][type->group / 32];
    bool is_few = !type->slice && (g->m == 1 || (g->m <= BLOCKS_SOME && few[FEW_ROWS]));
    for (int64_t j = 0, panels; is_few && j < g->n; j += panels * LANES) {
        panels    = g->m == 1 && few[FEW_WIDE] && g->n - j > (BLOCKS_WIDE - 1) * LANES ? BLOCKS_WIDE : 1;
        int shape = g->m > BLOCKS_FEW && few[FEW_SOME] ? FEW_SOME
                    : g->m > 1                         ? FEW_ROWS
                    : panels > 1                       ? FEW_WIDE
                                                       : FEW_ONE;
        blocks_some(g, few[shape], shape == FEW_SOME ? BLOCKS_SOME : BLOCKS_FEW, g->b + j / LANES * bytes, j);
    }
    if (is_few) return;
    for (int64_t j = 0, panels; j < g->n; j += panels * LANES) {
        panels = g->m > 1 && g->n - j > (BLOCKS_PANELS - 1) * LANES ? BLOCKS_PANELS : 1;
        blocks_many(g, way, j, (int)panels, bytes);
    }
}

// ---- to f32

void SHARED(unpack_blocks_f32)(const HoloBlockType *type, int64_t k, const uint8_t *panel, int64_t first, int64_t count,
                               float *out)
{
    const float          zero = (float)blocks_zero(type, DOTS_PAIRS);
    _Alignas(64) float   scale[HOLO_BLOCK_GROUPS * LANES], offset[HOLO_BLOCK_GROUPS * LANES];
    _Alignas(64) uint8_t quads[CHUNK_BYTES];
    for (int64_t p = first; p < first + count; p += HOLO_BLOCK_UNIT) {
        int64_t        unit = p / HOLO_BLOCK_UNIT, chunk = unit / CHUNK_UNITS * CHUNK_UNITS;
        int64_t        left     = k / HOLO_BLOCK_UNIT - chunk;
        const uint8_t *from     = panel + chunk / CHUNK_UNITS * holo_block_chunk_bytes(type);
        bool           is_start = p == first || unit == chunk;
        const uint8_t *numbers  = quads;
        if (is_start) blocks_scales(type, from, left < CHUNK_UNITS ? left : CHUNK_UNITS, scale, offset);
        from += holo_block_chunk_scales(type);
        if (!type->slice)
            blocks_write_any(type, from + (unit - chunk) * holo_block_unit_bytes(type), 1, DOTS_PAIRS, quads);
        if (type->slice && is_start) blocks_write_any(type, from, CHUNK_UNITS, DOTS_PAIRS, quads);
        if (type->slice) numbers += (unit - chunk) * UNIT_QUADS * LANES * 4;
        for (int i = 0; i < HOLO_BLOCK_UNIT; i++, out += LANES) {
            int64_t g  = ((unit - chunk) * HOLO_BLOCK_UNIT + i) / type->group;
            i32v    w  = blocks_load(numbers + i / 4 * 64);
            f32v    by = v_mul(v_load(scale + g * LANES), v_set1(type->unit)), y;
            EACH(r)
            y.r[r] = __builtin_convertvector((i32n)((u32n)w.r[r] >> i % 4 * 8) & 255, f32n) - zero;
            y      = v_mul(y, by);
            v_store(out, type->has_offset ? v_add(y, v_load(offset + g * LANES)) : y);
        }
    }
}
