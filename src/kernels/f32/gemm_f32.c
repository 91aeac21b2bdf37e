// gemm_f32.c - the f32 matrix product: C = alpha * A B + beta * D with B in panels.
//
// A is read where it lies if its rows are near each other and fall on different cache lines. Otherwise it is copied, a
// block of rows and of k at a time. A tile of C stays in registers over a block of k. Tile shapes change speed, never
// results: an element is the sum of its blocks, and each block is one chain of v_mad from 0. (One chain over all of k
// would lose about three more bits in a sum over a thousand.)
//
// For a convolution with channels last, the copy takes the rows from the image: patches cost no more than a matrix
// does.

enum { BLOCK_ROWS = HOLO_GEMM_ROWS, BLOCK_K = HOLO_GEMM_K, BLOCK_STRIDE = BLOCK_K + 16, NEAR = 1024, ALIKE = 512 };
enum {
    SHORT_K = 64
}; // up to here the end of a tile is a large part of its time, and tiles of one panel overlap
    // better

typedef struct Tile {
    const float      *a;
    int64_t           a_row;
    const char       *b, *next;    // the panels that come after these, or b
    const float      *book;        // of codes
    float            *wide;        // narrow panels are kept here, widened, for the rows that follow
    int64_t           lines, line; // runs of A, and floats from one to the next
    int64_t           k;           // of a run
    int64_t           b_panel, b_step;
    float            *c;
    int64_t           c_row;
    const float      *d;
    int64_t           d_row, d_column;
    float             alpha, beta;
    const HoloFinish *finish;
    const float      *more; // of finish, as c is
    bool              resume, pause;
    int               last; // columns of the last panel
} Tile;

// `count` vectors of rows without gaps inside, from *at on: those of a row are `whole` floats, which end at *end.
INL void swish_some(int count, float slope, float *x, int64_t row, int64_t whole, int64_t *at, int64_t *end)
{
    f32n   v[ABREAST];
    float *p[ABREAST];
    EACH_ABREAST(i)
    {
        p[i] = x + *at;
        v[i] = *(const f32u *)p[i];
        *at += NATIVE_LANES;
        if (*at == *end) {
            *end += row;
            *at = *end - whole;
        }
    }
    n_swish_each(count, v, slope);
    EACH_ABREAST(i) * (f32u *)p[i] = v[i];
}

// x * sigmoid(slope * x) of rows that have just been stored. Rows without gaps are treated as one row: where a row ends
// within a vector, the CPU takes the store of one row for the load of the next, and each waits for the one before.
INL void swish_each(float slope, int64_t rows, int64_t columns, float *x, int64_t row)
{
    if (columns == row) columns *= rows, rows = 1;
    int64_t whole = columns / LANES * LANES, vectors = rows * (whole / NATIVE_LANES), at = 0, end = whole;
    int     left = (int)(columns - whole);
    for (; vectors >= ABREAST; vectors -= ABREAST) swish_some(ABREAST, slope, x, row, whole, &at, &end);
    for (; vectors > 0; vectors--) swish_some(1, slope, x, row, whole, &at, &end);
    x += whole;
    for (int64_t i = 0; i < rows && left; i++, x += row) v_store_lanes(x, v_swish(v_load_lanes(x, left), slope), left);
}

static void swish_rows(float slope, int64_t rows, int64_t columns, float *x, int64_t row)
{
    if (slope == 1) // then a multiplication is a change of sign
        swish_each(1, rows, columns, x, row);
    else
        swish_each(slope, rows, columns, x, row);
}

#define EACH_SUM(i, j) UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < panels; j++)

INL bool d_is_one_row(const Tile *t) // as it is
{
    return t->d_column && !t->d_row && t->beta == 1;
}

// Finishes sums that have left the registers, [rows][GEMM_WIDE_PANELS], in every way that is asked for. There is one
// copy of this code for all tile shapes, because there are many.
static NOINLINE void tile_finish_any(const Tile *t, f32v sums[GEMM_ROWS][GEMM_WIDE_PANELS], int rows, int panels)
{
    const HoloFinish *finish  = t->pause ? NULL : t->finish;
    const float      *d       = t->pause ? NULL : t->d;
    const float      *more    = finish && finish->more ? t->more : NULL;
    bool              one_row = d && d_is_one_row(t);
    f32v              low     = v_set1(finish && finish->has_low ? finish->low : -__builtin_inff());
    f32v              high    = v_set1(finish && finish->has_high ? finish->high : __builtin_inff());
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < panels; j++) {
            int     lanes = j + 1 < panels ? LANES : t->last;
            int64_t at    = i * t->c_row + j * LANES;
            f32v    sum   = sums[i][j];
            if (t->resume) sum = v_add(v_load_lanes(t->c + at, lanes), sum);
            if (!t->pause && t->alpha != 1) sum = v_mul(sum, v_set1(t->alpha));
            if (d && !one_row && t->d_column)
                sum = v_mad(v_set1(t->beta), v_load_lanes(d + i * t->d_row + j * LANES, lanes), sum);
            else if (d && !one_row)
                sum = v_mad(v_set1(t->beta), v_set1(d[i * t->d_row]), sum);
            if (one_row) sum = v_add(v_load_lanes(d + j * LANES, lanes), sum);
            if (more) sum = v_add(sum, v_load_lanes(more + at, lanes));
            v_store_lanes(t->c + at, v_at_most(v_at_least(sum, low), high), lanes);
        }
    if (finish && finish->has_slope) swish_rows(finish->slope, rows, (panels - 1) * LANES + t->last, t->c, t->c_row);
}

// Finishes sums in registers in the usual way: adds and bounds, which change nothing where there are none. `last` is
// the number of columns in the last panel.
INL void tile_finish_here(const Tile *t, f32v sum[GEMM_ROWS][GEMM_WIDE_PANELS], int rows, int panels, int last)
{
#define PART(p, j) v_load_lanes((p) + (j)*LANES, (j) + 1 < panels ? LANES : last)
    const HoloFinish *finish = t->pause ? NULL : t->finish;
    f32v              low    = v_set1(finish && finish->has_low ? finish->low : -__builtin_inff());
    f32v              high   = v_set1(finish && finish->has_high ? finish->high : __builtin_inff());
    if (t->resume) EACH_SUM(i, j) sum[i][j] = v_add(PART(t->c + i * t->c_row, j), sum[i][j]);
    if (!t->pause && t->d) EACH_SUM(i, j) sum[i][j] = v_add(PART(t->d, j), sum[i][j]);
    if (finish && finish->more) EACH_SUM(i, j) sum[i][j] = v_add(sum[i][j], PART(t->more + i * t->c_row, j));
    EACH_SUM(i, j)
    v_store_lanes(t->c + i * t->c_row + j * LANES, v_at_most(v_at_least(sum[i][j], low), high),
                  j + 1 < panels ? LANES : last);
    if (finish && finish->has_slope) swish_rows(finish->slope, rows, (panels - 1) * LANES + last, t->c, t->c_row);
#undef PART
}

// A panel with missing columns stays in registers where the CPU loads and stores part of a vector with one instruction.
INL void tile_finish(const Tile *t, f32v sum[GEMM_ROWS][GEMM_WIDE_PANELS], int rows, int panels)
{
    bool plain = t->pause || (t->alpha == 1 && (!t->d || d_is_one_row(t)));
    if (plain && t->last == LANES) {
        tile_finish_here(t, sum, rows, panels, LANES);
    } else if (plain && REGISTERS == 1) {
        tile_finish_here(t, sum, rows, panels, t->last);
    } else {
        f32v sums[GEMM_ROWS][GEMM_WIDE_PANELS];
        EACH_SUM(i, j) sums[i][j] = sum[i][j];
        tile_finish_any(t, sums, rows, panels);
    }
}

// Sixteen numbers of B that are not codes.
INL f32v b_load(const char *b, uint32_t type)
{
    const void *p = b;
    return type == HOLO_WEIGHTS_F16 ? v_load_f16(p) : type == HOLO_WEIGHTS_BF16 ? v_load_bf16(p) : v_load(p);
}

INL int64_t b_bytes(uint32_t type, int64_t numbers)
{
    return type == HOLO_WEIGHTS_CODES ? numbers / 2 : numbers * (int64_t)(type ? sizeof(uint16_t) : sizeof(float));
}

// Sums of registers from <= r < to. `half`: the last panel has at most half of its columns.
INL void tile_sums(const Tile *t, int rows, int panels, uint32_t type, bool half, int from, int to,
                   f32v sum[GEMM_ROWS][GEMM_WIDE_PANELS])
{
    f32v         book = v_set1(0);
    const float *a[GEMM_ROWS / 4 + 1]; // rows by fours, so that few pointers are needed
    const char  *b = t->b, *next = t->next;
    int64_t      row_step = t->a_row, step = b_bytes(type, t->b_step), panel = b_bytes(type, t->b_panel), k = t->k;
    if (type == HOLO_WEIGHTS_CODES) book = v_load(t->book);
    UNROLL for (int i = 0; i < rows; i += 4) a[i / 4] = t->a + i * row_step;
    for (int64_t lines = t->lines;;) { // runs of the rows of A
        for (int64_t p = 0; p < k; p++, b += step, next += step) {
            f32v column[GEMM_WIDE_PANELS];
            // Wide tiles have few rows. They wait for memory anyway, and more reads would only slow them down.
            UNROLL for (int j = 0; j < panels && panels <= GEMM_PANELS; j++) __builtin_prefetch(next + j * panel, 0, 2);
            UNROLL for (int j = 0; j < panels; j++) column[j] = type == HOLO_WEIGHTS_CODES
                                                                    ? v_load_codes((const void *)(b + j * panel), book)
                                                                    : b_load(b + j * panel, type);
            if (type && rows > GEMM_WIDE_ROWS && !from)
                UNROLL for (int j = 0; j < panels; j++) v_store(t->wide + (j * k + p) * LANES, column[j]);
            UNROLL for (int i = 0; i < rows; i++)
            {
                f32v row = v_set1(a[i / 4][p + i % 4 * row_step]);
                UNROLL for (int j = 0; j < panels - half; j++) sum[i][j] =
                    v_mad_part(row, column[j], sum[i][j], from, to);
                if (half) sum[i][panels - 1] = v_mad_half(row, column[panels - 1], sum[i][panels - 1]);
                if (i % 2) HOLD;
            }
        }
        if (--lines <= 0) break;
        UNROLL for (int i = 0; i < rows; i += 4) a[i / 4] += t->line;
    }
}

INL void tile(const Tile *t, int rows, int panels, uint32_t type, bool half)
{
    f32v sum[GEMM_ROWS][GEMM_WIDE_PANELS];
    EACH_SUM(i, j) sum[i][j] = v_set1(0);
    if (rows > GEMM_WHOLE) {
        tile_sums(t, rows, panels, type, half, 0, REGISTERS / 2, sum);
        tile_sums(t, rows, panels, type, half, REGISTERS / 2, REGISTERS, sum);
    } else {
        tile_sums(t, rows, panels, type, half, 0, REGISTERS, sum);
    }
    if (type) {
        f32v sums[GEMM_ROWS][GEMM_WIDE_PANELS];
        EACH_SUM(i, j) sums[i][j] = sum[i][j];
        tile_finish_any(t, sums, rows, panels);
    } else {
        tile_finish(t, sum, rows, panels);
    }
}

#define X(rows, panels)                               \
    static void tile_##rows##x##panels(const Tile *t) \
    {                                                 \
        tile(t, rows, panels, 0, false);              \
    }
GEMM_TILES(X)
#undef X

#define X(rows, panels)                                       \
    static void tile_##rows##x##panels##_f16(const Tile *t)   \
    {                                                         \
        tile(t, rows, panels, HOLO_WEIGHTS_F16, false);       \
    }                                                         \
    static void tile_##rows##x##panels##_bf16(const Tile *t)  \
    {                                                         \
        tile(t, rows, panels, HOLO_WEIGHTS_BF16, false);      \
    }                                                         \
    static void tile_##rows##x##panels##_codes(const Tile *t) \
    {                                                         \
        tile(t, rows, panels, HOLO_WEIGHTS_CODES, false);     \
    }
GEMM_TILES(X)
#undef X

#define X(rows, panels)                                      \
    static void tile_##rows##x##panels##_half(const Tile *t) \
    {                                                        \
        tile(t, rows, panels, 0, true);                      \
    }
GEMM_HALVES(X)
#undef X

typedef void (*TileFn)(const Tile *);
typedef const TileFn Tiles[GEMM_ROWS + 1][GEMM_WIDE_PANELS + 1];

static Tiles tiles = {
#define X(rows, panels) [rows][panels] = tile_##rows##x##panels,
    GEMM_TILES(X)
#undef X
};
static Tiles tiles_half = {[0] = {NULL},
#define X(rows, panels) [rows][panels] = tile_##rows##x##panels##_half,
                           GEMM_HALVES(X)
#undef X
};
static Tiles tiles_f16 = {
#define X(rows, panels) [rows][panels] = tile_##rows##x##panels##_f16,
    GEMM_TILES(X)
#undef X
};
static Tiles tiles_bf16 = {
#define X(rows, panels) [rows][panels] = tile_##rows##x##panels##_bf16,
    GEMM_TILES(X)
#undef X
};
static Tiles tiles_codes = {
#define X(rows, panels) [rows][panels] = tile_##rows##x##panels##_codes,
    GEMM_TILES(X)
#undef X
};

// Copies rows of A, whatever its strides, to rows that are BLOCK_STRIDE apart. Columns are copied in groups, so that a
// transposed A is read a cache line at a time.
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

// ---- rows of a convolution

INL void zero_row(int64_t count, float *to)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) v_store(to + i, v_set1(0));
    if (i < count) v_store_part(to + i, v_set1(0), (int)(count - i));
}

INL int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

// Floats from <= i < to of a line, which is all places of the kernel in one row of the image; place 0 is at x. Where
// neighboring places are neighboring pixels, the part inside the image is one run.
INL void line_copy(const HoloPatchRows *p, const float *row, int64_t x, int64_t from, int64_t to, float *out)
{
    const HoloConvShape *s = p->shape;
    if (s->dilation[2] == 1 && p->channels == p->pixel) {
        if (x >= 0 && x + s->kernel[2] <= s->in[2]) {
            copy_row(row + (x * p->pixel + from), to - from, out);
            return;
        }
        int64_t first = clamp(-x * p->pixel, from, to), end = clamp((s->in[2] - x) * p->pixel, first, to);
        zero_row(first - from, out);
        copy_row(row + (x * p->pixel + first), end - first, out + (first - from));
        zero_row(to - end, out + (end - from));
        return;
    }
    for (int64_t place = from / p->channels; from < to; place++) {
        int64_t at = x + place * s->dilation[2], c = from - place * p->channels;
        int64_t count = (to - from < p->channels - c ? to - from : p->channels - c);
        if (at >= 0 && at < s->in[2])
            copy_row(row + (at * p->pixel + c), count, out);
        else
            zero_row(count, out);
        out += count;
        from += count;
    }
}

// Where a block of k begins within a patch.
typedef struct PatchStart {
    int64_t kz, ky, from; // the line, and a float of it
    int64_t line;         // floats of a line
} PatchStart;

// k floats, from `start` on, of what the output pixel at z, y, x of an image sees.
INL void patch_row(const HoloPatchRows *p, const float *image, const int64_t *at, PatchStart start, int64_t k,
                   float *out)
{
    const HoloConvShape *s = p->shape;
    int64_t              z = at[0] * s->stride[0] - s->pad[0] + start.kz * s->dilation[0];
    int64_t              y = at[1] * s->stride[1] - s->pad[1], x = at[2] * s->stride[2] - s->pad[2];
    while (k > 0) {
        int64_t to = start.from + k < start.line ? start.from + k : start.line, in_y = y + start.ky * s->dilation[1];
        if (z >= 0 && z < s->in[0] && in_y >= 0 && in_y < s->in[1])
            line_copy(p, image + (z * s->in[1] + in_y) * s->in[2] * p->pixel, x, start.from, to, out);
        else
            zero_row(to - start.from, out);
        out += to - start.from;
        k -= to - start.from;
        start.from = 0;
        if (++start.ky == s->kernel[1]) {
            start.ky = 0;
            z += s->dilation[0];
        }
    }
}

static void copy_patches(const HoloPatchRows *p, const float *a, int64_t row, int64_t rows, int64_t first, int64_t k,
                         float *block)
{
    const HoloConvShape *s      = p->shape;
    int64_t              pixels = s->out[0] * s->out[1] * s->out[2], floats = s->in[0] * s->in[1] * s->in[2] * p->pixel;
    int64_t              pixel = (p->first + row) % pixels, line = s->kernel[2] * p->channels;
    const float         *image = a + (p->first + row) / pixels * floats;
    int64_t              at[3] = {pixel / s->out[2] / s->out[1], pixel / s->out[2] % s->out[1], pixel % s->out[2]};
    PatchStart           start = {first / line / s->kernel[1], first / line % s->kernel[1], first % line, line};
    for (int64_t i = 0; i < rows; i++) {
        patch_row(p, image, at, start, k, block + i * BLOCK_STRIDE);
        int d = 2;
        while (d >= 0 && ++at[d] == s->out[d]) at[d--] = 0;
        if (d < 0) image += floats;
    }
}

// ---- blocks

// Where B continues behind the panels at j. That part is read ahead while the first rows are multiplied by these
// panels, so that large weights come from memory as fast as they are needed.
static const char *panels_after(const HoloGemm *g, int64_t j, int panels, int64_t first, int64_t k)
{
    const char *b = (const char *)g->b + b_bytes(g->b_type, first * g->b_step);
    if (j + panels * LANES < g->n) return b + b_bytes(g->b_type, (j / LANES + panels) * g->b_panel);
    return first + k < g->k ? b + b_bytes(g->b_type, k * g->b_step) : g->b_next ? g->b_next : b;
}

// A block of A: where it lies, or in scratch.
typedef struct Rows {
    const float *data;
    int64_t      row;
} Rows;

static Rows block_of(const HoloGemm *g, int64_t row, int64_t rows, int64_t first, int64_t k)
{
    const float *a = g->a;
    if (!g->patch) a += row * g->a_row + first * g->a_column;
    if (g->lines > 1 || (!g->patch && g->a_column == 1 && g->a_row <= NEAR && g->a_row % ALIKE))
        return (Rows){a, g->a_row};
    if (!g->patch)
        copy_block(a, g->a_row, g->a_column, rows, k, g->scratch);
    else if (k)
        copy_patches(g->patch, a, row, rows, first, k, g->scratch);
    return (Rows){g->scratch, BLOCK_STRIDE};
}

// The tile of the first rows of a block of A and the panels at column j. Its B is not set yet.
INL Tile tile_at(const HoloGemm *g, const Rows *a, int64_t row, int64_t j, int panels, int64_t first, int64_t k)
{
    int64_t left = g->n - j;
    return (Tile){
        .a        = a->data,
        .a_row    = a->row,
        .book     = g->b_book,
        .wide     = g->scratch + BLOCK_ROWS * BLOCK_STRIDE, // behind a block of A
        .k        = k,
        .c        = g->c + row * g->c_row + j,
        .c_row    = g->c_row,
        .d        = g->d ? g->d + row * g->d_row + j * g->d_column : NULL,
        .d_row    = g->d_row,
        .d_column = g->d_column,
        .alpha    = g->alpha,
        .beta     = g->beta,
        .finish   = g->finish,
        .more     = g->finish && g->finish->more ? g->finish->more + row * g->c_row + j : NULL,
        .resume   = g->resume || first > 0,
        .pause    = g->pause || first + k < g->k,
        .last     = left < panels * LANES ? (int)(left - (panels - 1) * LANES) : LANES,
    };
}

// One block of A times all panels: rows of C from `row` on, k from `first` on.
static void gemm_rows(const HoloGemm *g, const Rows *a, int64_t row, int64_t rows, int64_t first, int64_t k)
{
    bool   wide        = rows <= GEMM_WIDE_ROWS;
    bool   is_short    = k <= SHORT_K && !wide && !(g->finish && g->finish->has_slope);
    int    panel_max   = wide ? GEMM_WIDE_PANELS : GEMM_PANELS;
    Tiles *first_tiles = g->b_type == HOLO_WEIGHTS_F16     ? &tiles_f16
                         : g->b_type == HOLO_WEIGHTS_BF16  ? &tiles_bf16
                         : g->b_type == HOLO_WEIGHTS_CODES ? &tiles_codes
                                                           : &tiles;
    // Even heights: 13 rows become 7 and 6, not 12 and 1.
    int64_t part = g->part ? g->part : rows, parts = rows / part;
    int64_t steps = (part + GEMM_ROWS - 1) / GEMM_ROWS, height = part / steps, taller = part % steps;
    int     panels;
    for (int64_t j = 0; j < g->n; j += panels * LANES) {
        int64_t left = g->n - j;
        panels       = left > (panel_max - 1) * LANES ? panel_max : left > LANES && panel_max > 2 ? 2 : 1;
        if (!tiles[height][panels]) panels = 1;
        // Half a panel alone is faster than a whole panel beside another.
        bool halves = first_tiles == &tiles && tiles_half[height][2] && left > LANES && (left - 1) % LANES < LANES / 2;
        if (halves && panels <= 2) panels = (left - 1) / LANES % 2 ? 2 : 1;
        if (is_short && !halves) panels = 1;
        const char *b = (const char *)g->b + b_bytes(g->b_type, j / LANES * g->b_panel + first * g->b_step);
        Tile        t = tile_at(g, a, row, j, panels, first, k);
        t.b           = b;
        t.next        = panels_after(g, j, panels, first, k);
        t.lines       = g->lines;
        t.line        = g->line;
        t.k           = g->lines > 1 ? k / g->lines : k;
        t.b_panel     = g->b_panel;
        t.b_step      = g->b_step;
        Tiles *of     = halves && panels == 2 && left <= 2 * LANES ? &tiles_half : first_tiles;
        for (int64_t s = 0; s < steps * parts; s++) {
            int     tall = (int)(height + (s % steps < taller));
            int64_t down = tall * g->c_row;
            if (g->part && s % steps == steps - 1) down += g->c_part - part * g->c_row;
            (*of)[tall][panels](&t);
            t.next = b;
            t.a += tall * a->row;
            t.c += down;
            if (t.d) t.d += tall * g->d_row;
            if (t.more) t.more += down;
            if (!g->b_type) continue;
            of        = &tiles; // these panels are widened already
            t.b       = (const char *)t.wide;
            t.b_panel = k * LANES;
            t.b_step  = LANES;
        }
    }
}

// The same for a block that the caller has put into scratch, rows BLOCK_STRIDE apart.
static void gemm_block(const HoloGemm *g, int64_t row, int64_t rows, int64_t first, int64_t k)
{
    Rows a = {g->scratch, BLOCK_STRIDE};
    gemm_rows(g, &a, row, rows, first, k);
}

static bool gemm_line(const HoloGemm *g); // gemm_line_f32.c

static void gemm_f32(const HoloGemm *g)
{
    int64_t first = 0;
    if (g->m == 1 && gemm_line(g)) return;
    do { // once even if k is 0
        int64_t k = g->k - first < BLOCK_K ? g->k - first : BLOCK_K;
        for (int64_t row = 0; row < g->m; row += BLOCK_ROWS) {
            int64_t rows = g->m - row < BLOCK_ROWS ? g->m - row : BLOCK_ROWS;
            Rows    a    = block_of(g, row, rows, first, k);
            gemm_rows(g, &a, row, rows, first, k);
        }
        first += BLOCK_K;
    } while (first < g->k);
}

// As v_transpose, for a block that is not full: `rows` of the output, 0 where there is no column.
static void pack_corner(int rows, int columns, const float *p, int64_t stride, float *out)
{
    float block[LANES * LANES], turned[LANES * LANES];
    for (int i = 0; i < LANES; i++)
        v_store(block + i * LANES, i < columns ? v_load_part(p + i * stride, 0, rows) : v_set1(0));
    v_transpose(block, LANES, turned);
    for (int r = 0; r < rows; r++) v_store(out + r * LANES, v_load(turned + r * LANES));
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
            if (row == 1) {
                pack_corner(rows, columns, b + p + j * column, column, out);
                continue;
            }
            for (int r = 0; r < rows; r++)
                v_store(out + r * LANES, v_load_strided(b + (p + r) * row + j * column, column, 0, columns));
        }
        out -= (LANES - k % LANES) % LANES * LANES;
    }
}
