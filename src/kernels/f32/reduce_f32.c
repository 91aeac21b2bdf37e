// reduce_f32.c - reduces each row or each column to one number: sums (also of squares and of absolute values), products
// and extremes.
//
// Sums and products are in double and rounded once. A row has 32 partial sums, used in turn, so that no addition waits
// for another; shorter rows are transposed, and 16 are reduced at once. A column is reduced from the top down, several
// rows of many columns at a time: so memory is read in long runs, which are fast.

#include <string.h>

enum { ROW_CHAINS = 2 };     // vectors of sums of a row
enum { ROW_SHORT = 32 };     // up to this length, rows are transposed
enum { COLUMN_ROWS = 8 };    // rows that are added to sums in registers
enum { COLUMN_BLOCK = 512 }; // columns whose sums stay in the first cache
enum { EXTREME_CHAINS = 4 };

typedef struct Sums { // of 16 lanes
    f64w r[REGISTERS];
} Sums;

INL Sums sums_start(uint32_t op)
{
    Sums s;
    EACH(i) for (int h = 0; h < 2; h++) s.r[i].half[h] = (f64n){0} + (op == HOLO_REDUCE_PROD ? 1.0 : 0.0);
    return s;
}

// A mean is a sum and a norm is a sum of squares, except for the last step.
INL uint32_t sums_kind(uint32_t op)
{
    return op == HOLO_REDUCE_MEAN ? HOLO_REDUCE_SUM : op == HOLO_REDUCE_L2 ? HOLO_REDUCE_SQUARES : op;
}

// Adds one more term to register i; op is a kind.
INL void sums_take(uint32_t op, Sums *s, int i, f64w w)
{
    UNROLL for (int h = 0; h < 2; h++)
    {
        f64n x = w.half[h], *sum = &s->r[i].half[h];
        if (op == HOLO_REDUCE_PROD)
            *sum *= x;
        else if (op == HOLO_REDUCE_SQUARES)
            *sum = d_mac(x, x, *sum);
        else if (op == HOLO_REDUCE_L1)
            *sum = d_add(*sum, (f64n)((u64n)x & ~(UINT64_C(1) << 63)));
        else
            *sum = d_add(*sum, x);
    }
}

INL void sums_take_at(uint32_t op, Sums *s, const float *x)
{
    EACH(i) sums_take(op, s, i, n_widen_at(x + i * NATIVE_LANES));
}

INL void sums_take_lanes(uint32_t op, Sums *s, const float *x, int lanes)
{
    f32v v = v_load_part(x, 0, lanes);
    if (op == HOLO_REDUCE_PROD) v = v_only(v, 0, lanes, 1);
    EACH(i) sums_take(op, s, i, n_widen(v.r[i]));
}

static NOINLINE f32v sums_finish(uint32_t op, Sums s, double count)
{
    f32v v;
    if (op == HOLO_REDUCE_L2) {
        double l[LANES];
        memcpy(l, &s, sizeof l);
        for (int i = 0; i < LANES; i++) l[i] = __builtin_sqrt(l[i]);
        memcpy(&s, l, sizeof l);
    }
    EACH(i)
    {
        for (int h = 0; h < 2 && op == HOLO_REDUCE_MEAN; h++) s.r[i].half[h] /= count;
        v.r[i] = n_narrow(s.r[i]);
    }
    return v;
}

// ---- rows

static NOINLINE float row_total(uint32_t op, Sums s, double count)
{
    double l[LANES];
    memcpy(l, &s, sizeof l);
    UNROLL for (int step = LANES / 2; step > 0; step /= 2) for (int i = 0; i < step; i++) l[i] =
        op == HOLO_REDUCE_PROD ? l[i] * l[i + step] : l[i] + l[i + step];
    if (op == HOLO_REDUCE_MEAN) l[0] /= count;
    return (float)(op == HOLO_REDUCE_L2 ? __builtin_sqrt(l[0]) : l[0]);
}

INL float row_sum(uint32_t kind, uint32_t op, const float *x, int64_t n)
{
    Sums    s[ROW_CHAINS] = {sums_start(kind), sums_start(kind)};
    int64_t k             = 0;
    for (; k + ROW_CHAINS * LANES <= n; k += ROW_CHAINS * LANES)
        UNROLL for (int c = 0; c < ROW_CHAINS; c++) sums_take_at(kind, s + c, x + k + c * LANES);
    for (int c = 0; k < n; k += LANES, c++) sums_take_lanes(kind, s + c, x + k, lanes_left(k, n));
    EACH(i) for (int h = 0; h < 2; h++)
    {
        if (kind == HOLO_REDUCE_PROD)
            s->r[i].half[h] *= s[1].r[i].half[h];
        else
            s->r[i].half[h] += s[1].r[i].half[h];
    }
    return row_total(op, s[0], (double)n);
}

// out[c * LANES + r] = x[r * n + c] for `rows` rows, at most 16; n is at most ROW_SHORT.
static NOINLINE void rows_turned(const float *x, int64_t n, int rows, float *out)
{
    for (int64_t c = 0; c < n; c += LANES) v_transpose_part(x + c, n, rows, lanes_left(c, n), out + c * LANES, LANES);
}

INL void rows_sum(uint32_t kind, uint32_t op, int64_t rows, int64_t n, const float *x, float *out)
{
    float columns[ROW_SHORT * LANES] = {0};
    for (int64_t r = 0; r < rows; r++) {
        if (n > ROW_SHORT) {
            out[r] = row_sum(kind, op, x + r * n, n);
            continue;
        }
        int  high = lanes_left(r, rows);
        Sums s    = sums_start(kind);
        rows_turned(x + r * n, n, high, columns);
        for (int64_t c = 0; c < n; c++) sums_take_at(kind, &s, columns + c * LANES);
        v_store_lanes(out + r, sums_finish(op, s, (double)n), high);
        r += high - 1;
    }
}

INL f32v extreme_of(bool is_max, f32v a, f32v b)
{
    EACH(i) a.r[i] = is_max ? n_top_of(a.r[i], b.r[i]) : n_least_of(a.r[i], b.r[i]);
    return a;
}

INL f32v extreme_start(bool is_max)
{
    return v_set1(is_max ? -__builtin_inff() : __builtin_inff());
}

// The extreme of the lanes of a row.
INL f32v row_extremes(bool is_max, const float *x, int64_t n)
{
    f32v    top[EXTREME_CHAINS];
    int64_t k                                              = 0;
    UNROLL for (int c = 0; c < EXTREME_CHAINS; c++) top[c] = extreme_start(is_max);
    for (; k + EXTREME_CHAINS * LANES <= n; k += EXTREME_CHAINS * LANES)
        UNROLL for (int c = 0; c < EXTREME_CHAINS; c++) top[c] = extreme_of(is_max, top[c], v_load(x + k + c * LANES));
    for (; k < n; k += LANES) {
        int  lanes = lanes_left(k, n);
        f32v v     = v_load_part(x + k, 0, lanes);
        top[0]     = extreme_of(is_max, top[0], v_only(v, 0, lanes, is_max ? -__builtin_inff() : __builtin_inff()));
    }
    UNROLL for (int c = 1; c < EXTREME_CHAINS; c++) top[0] = extreme_of(is_max, top[0], top[c]);
    return top[0];
}

INL void rows_extreme(bool is_max, int64_t rows, int64_t n, const float *x, float *out)
{
    float lanes[LANES * LANES], columns[ROW_SHORT * LANES] = {0};
    for (int64_t r = 0; r < rows; r += LANES) {
        int     high  = lanes_left(r, rows);
        int64_t count = n > ROW_SHORT ? LANES : n;
        f32v    top   = extreme_start(is_max);
        if (n > ROW_SHORT) {
            for (int i = 0; i < high; i++) v_store(lanes + i * LANES, row_extremes(is_max, x + (r + i) * n, n));
            v_transpose_part(lanes, LANES, high, LANES, columns, LANES);
        } else {
            rows_turned(x + r * n, n, high, columns);
        }
        for (int64_t c = 0; c < count; c++) top = extreme_of(is_max, top, v_load(columns + c * LANES));
        v_store_lanes(out + r, top, high);
    }
}

// One function for each kind, in which the kind is a constant.
#define EACH_KIND(X)       \
    X(HOLO_REDUCE_SUM)     \
    X(HOLO_REDUCE_SQUARES) \
    X(HOLO_REDUCE_L1)      \
    X(HOLO_REDUCE_PROD)

void SHARED(reduce_f32)(uint32_t op, int64_t rows, int64_t n, const float *x, float *out)
{
    switch (sums_kind(op)) {
#define X(name) \
    case name: rows_sum(name, op, rows, n, x, out); break;
        EACH_KIND(X)
#undef X
    case HOLO_REDUCE_MAX: rows_extreme(true, rows, n, x, out); break;
    case HOLO_REDUCE_MIN: rows_extreme(false, rows, n, x, out); break;
    default: break;
    }
}

// ---- columns

typedef struct Columns {
    int64_t      rows, columns, row; // row: floats from one to the next
    const float *x;
    float       *out;
} Columns;

// Adds `count` rows from r on to the sums of 16 columns or fewer.
INL Sums columns_take(uint32_t kind, const float *x, int64_t row, int64_t count, int lanes, Sums s)
{
    if (lanes < LANES) {
        for (int64_t r = 0; r < count; r++) sums_take_lanes(kind, &s, x + r * row, lanes);
        return s;
    }
    if (count == COLUMN_ROWS)
        UNROLL for (int r = 0; r < COLUMN_ROWS; r++) sums_take_at(kind, &s, x + r * row);
    else
        for (int64_t r = 0; r < count; r++) sums_take_at(kind, &s, x + r * row);
    return s;
}

INL void columns_sum(uint32_t kind, uint32_t op, const Columns *m)
{
    Sums kept[COLUMN_BLOCK / LANES];
    for (int64_t from = 0; from < m->columns; from += COLUMN_BLOCK) {
        int64_t end = m->columns - from < COLUMN_BLOCK ? m->columns : from + COLUMN_BLOCK;
        for (int i = 0; i < COLUMN_BLOCK / LANES; i++) kept[i] = sums_start(kind);
        for (int64_t r = 0; r < m->rows; r += COLUMN_ROWS) {
            int64_t count = m->rows - r < COLUMN_ROWS ? m->rows - r : COLUMN_ROWS;
            for (int64_t c = from; c < end; c += LANES) {
                int   lanes = lanes_left(c, end);
                Sums *sums  = kept + (c - from) / LANES;
                *sums       = columns_take(kind, m->x + r * m->row + c, m->row, count, lanes, *sums);
                if (r + count == m->rows) v_store_lanes(m->out + c, sums_finish(op, *sums, (double)m->rows), lanes);
            }
        }
    }
}

INL void columns_extreme(bool is_max, const Columns *m)
{
    for (int64_t from = 0; from < m->columns; from += COLUMN_BLOCK) {
        int64_t end = m->columns - from < COLUMN_BLOCK ? m->columns : from + COLUMN_BLOCK;
        for (int64_t r = 0; r < m->rows; r += COLUMN_ROWS) {
            int64_t count = m->rows - r < COLUMN_ROWS ? m->rows - r : COLUMN_ROWS;
            for (int64_t c = from; c < end; c += LANES) {
                int          lanes = lanes_left(c, end);
                const float *x     = m->x + r * m->row + c;
                f32v         top   = r == 0 ? extreme_start(is_max) : v_load_lanes(m->out + c, lanes);
                for (int64_t k = 0; k < count; k++) top = extreme_of(is_max, top, v_load_lanes(x + k * m->row, lanes));
                v_store_lanes(m->out + c, top, lanes);
            }
        }
    }
}

void SHARED(reduce_columns_f32)(uint32_t op, int64_t rows, int64_t columns, const float *x, int64_t row, float *out)
{
    Columns m = {.rows = rows, .columns = columns, .row = row, .x = x, .out = out};
    switch (sums_kind(op)) {
#define X(name) \
    case name: columns_sum(name, op, &m); break;
        EACH_KIND(X)
#undef X
    case HOLO_REDUCE_MAX: columns_extreme(true, &m); break;
    case HOLO_REDUCE_MIN: columns_extreme(false, &m); break;
    default: break;
    }
}

#undef EACH_KIND
