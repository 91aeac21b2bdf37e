// gemm_i8.c - products of 8-bit integers: exact sums modulo 2^32, the same on every level.
//
// A is signed and B unsigned: an operand of the other sign is shifted by 128, together with its zero point. A sum of
// products then differs from the wanted one by a term of the row and a term of the column; a tile starts from these
// terms. B lies in quads: a lane holds four k of a column. Where the CPU cannot multiply quads, the even and the odd
// bytes of a lane are widened to 16 bits and multiplied as pairs, and A is widened when it is laid out. Two products of
// 9 and 8 bits fit 32 bits, and no saturating instruction is used. Where both sides of the CPU's quads are signed
// (QUADS_FLIP), B is shifted as it is loaded; the number that this takes off the sums lies behind each row of A.

typedef uint32_t u32n __attribute__((vector_size(NATIVE)));
enum { PAIR_ROWS = REGISTERS == 1 ? 8 : REGISTERS == 2 ? 4 : 2 }; // of a tile of pairs

// The start of the sums of a row and a panel. `c`: the sums so far, where a sum is continued.
INL i32v tile_start(const HoloGemmI8 *g, int64_t row, int64_t panel, const int32_t *c, int32_t more)
{
    i32v     sum = i_load(g->column + panel * LANES);
    uint32_t of  = (uint32_t)g->row[row];
    if (!g->zero) EACH(r) sum.r[r] = (i32n)((u32n)sum.r[r] + (of * (uint32_t)g->one_zero + (uint32_t)more));
    if (g->zero) {
        i32v zero        = i_load(g->zero + panel * LANES);
        EACH(r) sum.r[r] = (i32n)((u32n)sum.r[r] + (u32n)zero.r[r] * of + (uint32_t)more);
    }
    if (c) {
        i32v before      = i_load(c);
        EACH(r) sum.r[r] = (i32n)((u32n)sum.r[r] + (u32n)before.r[r]);
    }
    return sum;
}

// The same for a tile. Rows of c are `gap` numbers apart; `more` lies behind the rows of A.
static NOINLINE void tile_starts(const HoloGemmI8 *g, int64_t row, int64_t panel, int rows, int panels,
                                 const int32_t *c, int64_t gap, const uint8_t *more,
                                 i32v sum[QUAD_ROWS][QUAD_WIDE_PANELS])
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < panels; j++)
            sum[i][j] = tile_start(g, row + i, panel + j, c ? c + i * gap + j * LANES : NULL,
                                   more ? quad_read(more + i * g->a_row) : 0);
}

// Whether no sum times one of these ratios leaves 30 bits, and no ratio is a NaN.
INL bool ratios_are_small(const float *ratio, int panels)
{
    bool small = true;
    for (int j = 0; j < panels; j++) {
        f32v r        = v_load(ratio + j * LANES);
        EACH(i) small = small && !n_any(~(r.r[i] * r.r[i] < 0.25f));
    }
    return small;
}

INL void tile_store_rows(const HoloGemmI8 *g, int64_t row, int64_t panel, int rows,
                         i32v sum[QUAD_ROWS][QUAD_WIDE_PANELS])
{
    uint8_t *out = g->bytes + row * g->bytes_row + panel * LANES, flip = g->is_signed ? 0x80 : 0;
    f32v     by[2] = {v_load(g->ratio + panel * LANES), v_load(g->ratio + (panel + 1) * LANES)};
    UNROLL for (int i = 0; i < rows; i += 2, out += 2 * g->bytes_row)
    {
        f32n y[4];
        int  next = i + 1 < rows ? i + 1 : i;
        UNROLL for (int j = 0; j < 2; j++)
        {
            y[j]     = __builtin_convertvector(sum[i][j].r[0], f32n) * by[j].r[0];
            y[2 + j] = __builtin_convertvector(sum[next][j].r[0], f32n) * by[j].r[0];
        }
        n_store_rows(out, next > i ? out + g->bytes_row : NULL, y, g->y_zero + flip, flip);
    }
}

// Stores a finished tile as bytes; some columns of the last panel may be missing. There is one copy of this code for
// all tile shapes, because there are many.
static NOINLINE void tile_store_u8(const HoloGemmI8 *g, int64_t row, int64_t panel, int rows, int panels, int columns,
                                   i32v sum[QUAD_ROWS][QUAD_WIDE_PANELS])
{
    for (int j = 0; j < panels; j++) {
        Steps    steps = steps_of(g->ratio + (panel + j) * LANES, g->y_zero, g->is_signed);
        uint8_t *out   = g->bytes + row * g->bytes_row + (panel + j) * LANES;
        int      lanes = columns - j * LANES;
        if (steps.sure && lanes >= LANES)
            for (int i = 0; i < rows; i++) requantize_store(sum[i][j], steps, true, out + i * g->bytes_row, LANES);
        else
            for (int i = 0; i < rows; i++) requantize_store(sum[i][j], steps, false, out + i * g->bytes_row, lanes);
    }
}

// Copies the existing columns of a tile's sums to and from a whole tile.
static NOINLINE void part_load(const HoloGemmI8 *g, const int32_t *c, int rows, int width, int columns, int32_t *part)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j++) part[i * width + j] = j < columns ? c[i * g->c_row + j] : 0;
}

static NOINLINE void part_store(const HoloGemmI8 *g, int32_t *c, int rows, int width, int columns, const int32_t *part)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) c[i * g->c_row + j] = part[i * width + j];
}

enum { AHEAD_MOST = 1 << 18 }; // bytes that are fetched ahead at most, so that the second cache keeps them

// How the sums of a tile are computed.
enum { TILE_PAIRS, TILE_QUADS, TILE_RAW, TILE_LINES };

// Adds the products of all quads to sums. While these panels are read, the panels `ahead` bytes behind them, which come
// next, are fetched. `ahead` is 0 when no more panels come.
INL void tile_sum(const HoloGemmI8 *g, const uint8_t *a, const uint8_t *b, int rows, int panels, int how, int64_t ahead,
                  i32v sum[QUAD_ROWS][QUAD_WIDE_PANELS])
{
    const bool     quads = how != TILE_PAIRS, raw = how >= TILE_RAW, in_lines = how == TILE_LINES;
    const uint32_t flip     = raw ? 0x80808080u : QUADS_FLIP;
    const int      step     = quads ? 4 : 8;
    int64_t        row_step = g->a_row, panel_step = g->b_panel, run = in_lines ? g->quads / g->lines : g->quads;
    const uint8_t *three[QUAD_ROWS / 3 + 1]; // rows by threes: one pointer is enough for three rows
    UNROLL for (int i = 0; i < rows; i += 3)
    {
        three[i / 3] = a + i * row_step;
        FORGET(three[i / 3]);
    }
    for (int64_t line = in_lines ? g->lines : 1; line > 0; line--) {
        for (int64_t q = run; q > 0; q--, b += 4 * LANES) {
            i32v even[QUAD_WIDE_PANELS], odd[QUAD_WIDE_PANELS];
            UNROLL for (int j = 0; j < panels; j++)
            {
                even[j] = i_load((const int32_t *)(const void *)(b + j * panel_step));
                if (quads) __builtin_prefetch(b + j * panel_step + ahead, 0, 2);
                if (quads && flip) EACH(r) even[j].r[r] = (i32n)((u32n)even[j].r[r] ^ flip);
                if (quads) continue;
                EACH(r) odd[j].r[r]  = (i32n)((u32n)even[j].r[r] >> 8) & 0x00FF00FF;
                EACH(r) even[j].r[r] = even[j].r[r] & 0x00FF00FF;
            }
            UNROLL for (int i = 0; i < rows; i++)
            {
                const uint8_t *from   = three[i / 3] + i % 3 * row_step;
                i32n           first  = quad_read(from) + (i32n){0};
                i32n           second = quads ? first : quad_read(from + 4) + (i32n){0};
                UNROLL for (int j = 0; j < panels; j++) EACH(r) sum[i][j].r[r] =
                    raw     ? n_quads(sum[i][j].r[r], first, even[j].r[r])
                    : quads ? n_quads(sum[i][j].r[r], even[j].r[r], first)
                            : n_pairs(n_pairs(sum[i][j].r[r], first, even[j].r[r]), second, odd[j].r[r]);
                if (i % 2) HOLD;
            }
            UNROLL for (int i = 0; i < rows; i += 3) three[i / 3] += step;
        }
        if (in_lines) UNROLL for (int i = 0; i < rows; i += 3) three[i / 3] += g->line - run * step;
    }
}

INL void i8_tile(const HoloGemmI8 *g, int64_t row, int64_t panel, int rows, int panels, int how)
{
    const bool     quads = how != TILE_PAIRS, raw = how >= TILE_RAW;
    const uint8_t *a = (const uint8_t *)g->a, *b = g->b + panel * g->b_panel;
    int32_t       *c       = g->c ? g->c + row * g->c_row + panel * LANES : NULL;
    int            width   = panels * LANES;
    int            columns = g->n - panel * LANES < width ? (int)(g->n - panel * LANES) : width;
    int32_t        part[QUAD_ROWS * QUAD_PANELS * LANES];
    int32_t       *at  = columns < width ? part : c;
    int64_t        gap = columns < width ? width : g->c_row, next = panels * g->b_panel;
    i32v           sum[QUAD_ROWS][QUAD_WIDE_PANELS];
    a += how == TILE_LINES ? row / g->part * g->a_part + row % g->part * g->a_row : row * g->a_row;
    if (columns < width && g->resume) part_load(g, c, rows, width, columns, part);
    if (!raw) {
        i32v start[QUAD_ROWS][QUAD_WIDE_PANELS];
        tile_starts(g, row, panel, rows, panels, g->resume ? at : NULL, gap,
                    quads && QUADS_FLIP ? a + 4 * g->quads : NULL, start);
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) sum[i][j] = start[i][j];
    } else {
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) sum[i][j] =
            i_load(g->column + (panel + j) * LANES);
    }
    if (next > AHEAD_MOST) next = AHEAD_MOST;
    tile_sum(g, a, b, rows, panels, how, row ? 0 : next, sum);
    if (g->ratio && STORE_ROWS && panels == 2 && columns == width && ratios_are_small(g->ratio + panel * LANES, 2)) {
        tile_store_rows(g, row, panel, rows, sum);
        return;
    }
    if (g->ratio) {
        i32v sums[QUAD_ROWS][QUAD_WIDE_PANELS];
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++) sums[i][j] = sum[i][j];
        tile_store_u8(g, row, panel, rows, panels, columns, sums);
        return;
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++)
        i_store(at + i * gap + j * LANES, sum[i][j]);
    if (columns < width) part_store(g, c, rows, width, columns, part);
}

void SHARED(gemm_i8)(const HoloGemmI8 *g)
{
    for (int64_t panel = 0; panel * LANES < g->n; panel++) {
        int64_t row = 0;
        for (; row + PAIR_ROWS <= g->m; row += PAIR_ROWS) i8_tile(g, row, panel, PAIR_ROWS, 1, TILE_PAIRS);
        for (; row < g->m; row++) i8_tile(g, row, panel, 1, 1, TILE_PAIRS);
    }
}

bool SHARED(gemm_raw_i8)(const HoloGemmI8 *g) // without quads there is none
{
    (void)g;
    return false;
}

// ---- layouts

INL int32_t bytes_sum(int64_t k, const uint8_t *a, uint8_t flip) // of k signed bytes
{
    int32_t sum = 0;
    for (int64_t p = 0; p < k; p++) sum += (int8_t)(a[p] ^ flip);
    return sum;
}

void SHARED(rows_i8)(int64_t m, int64_t k, const uint8_t *a, int64_t row, bool is_signed, void *out, int32_t *out_sums)
{
    uint8_t flip = is_signed ? 0 : 0x80;
    for (int64_t i = 0; i < m; i++, a += row) {
        int16_t *to   = (int16_t *)(void *)((char *)out + i * HOLO_I8_ROW(k));
        int64_t  full = k / 4 * 4;
        for (int64_t p = 0; p < full; p += 4) { // even ones, then odd ones
            to[p]     = (int8_t)(a[p] ^ flip);
            to[p + 1] = (int8_t)(a[p + 2] ^ flip);
            to[p + 2] = (int8_t)(a[p + 1] ^ flip);
            to[p + 3] = (int8_t)(a[p + 3] ^ flip);
        }
        static const int place[] = {0, 2, 1, 3};
        for (int p = 0; full < k && p < 4; p++)
            to[full + place[p]] = (int16_t)(full + p < k ? (int8_t)(a[full + p] ^ flip) : 0);
        out_sums[i] = bytes_sum(k, a, flip);
    }
}

// A quad of a panel from its four lines of 16 bytes.
typedef uint8_t  u8q __attribute__((vector_size(16)));
typedef uint8_t  u8qu __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t u16q __attribute__((vector_size(16)));

INL void quad_store(const u8q line[4], uint8_t *out)
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        u16q pair[2];
        UNROLL for (int i = 0; i < 2; i++)
        {
            u8q a = line[2 * i], b = line[2 * i + 1];
            u8q low  = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            u8q high = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            pair[i]  = (u16q)(half ? high : low);
        }
        u8q first                       = (u8q)__builtin_shufflevector(pair[0], pair[1], 0, 8, 1, 9, 2, 10, 3, 11);
        u8q second                      = (u8q)__builtin_shufflevector(pair[0], pair[1], 4, 12, 5, 13, 6, 14, 7, 15);
        *(u8qu *)(out + 32 * half)      = (u8qu)first;
        *(u8qu *)(out + 32 * half + 16) = (u8qu)second;
    }
}

// Stores the sums of a panel's columns behind it; returns where the next panel starts.
INL uint8_t *sums_store(const uint8_t *panel, uint8_t *end)
{
    const i32n ones = (i32n){0} + 0x00010001;
    i32v       sum  = {{{0}}};
    for (; panel < end; panel += 4 * LANES) {
        i32v quad = i_load((const int32_t *)(const void *)panel);
        EACH(r)
        {
            sum.r[r] = n_pairs(sum.r[r], quad.r[r] & 0x00FF00FF, ones);
            sum.r[r] = n_pairs(sum.r[r], (i32n)((u32n)quad.r[r] >> 8) & 0x00FF00FF, ones);
        }
    }
    i_store((int32_t *)(void *)end, sum);
    return end + 4 * LANES;
}

// `lanes` bytes that are `column` apart, and 0 behind them.
INL u8q line_load(const uint8_t *p, int64_t column, int lanes)
{
    if (column == 1 && lanes == LANES) return (u8q) * (const u8qu *)p;
    u8q line = {0};
    for (int l = 0; l < lanes; l++) line[l] = p[l * column];
    return line;
}

void SHARED(pack_i8)(int64_t k, int64_t n, const uint8_t *b, int64_t row, int64_t column, bool is_signed, uint8_t *out)
{
    uint8_t flip = is_signed ? 0x80 : 0;
    for (int64_t j = 0; j < n; j += LANES) {
        int            lanes = lanes_left(j, n);
        u8q            mask  = {0};
        const uint8_t *panel = out;
        for (int l = 0; l < lanes; l++) mask[l] = flip;
        for (int64_t p = 0; p < k; p += 4, out += 4 * LANES) {
            u8q line[4] = {{0}};
            UNROLL for (int q = 0; q < 4; q++) if (p + q < k) line[q] =
                line_load(b + (p + q) * row + j * column, column, lanes) ^ mask;
            quad_store(line, out);
        }
        out = sums_store(panel, out);
    }
}
