// rows_f32.c - normalization of rows by mean and variance.
//
// Sums have 16 lanes. Blocks of sums also keep the rounding errors of their additions; the error of the mean that
// remains is found with the variance. Adding up 16 lanes takes as long as a row of a hundred elements, so 16 rows are
// added up at once, with their lanes transposed.

#include <string.h>

enum { ROW_BLOCK = 16 };       // vectors that are added without keeping the rounding error
enum { LAYER_MOST = 1 << 14 }; // elements of a row up to which sums in this order are accurate enough

// A sum that also keeps its exact rounding error.
typedef struct CareSum {
    f32v sum, lost;
} CareSum;

INL CareSum care_add(CareSum s, f32v term)
{
    f32v next = v_add(s.sum, term), added = v_sub(next, s.sum);
    s.lost = v_add(s.lost, v_add(v_sub(s.sum, v_sub(next, added)), v_sub(term, added)));
    s.sum  = next;
    return s;
}

// Of 16 rows, sums of 16 lanes.
typedef struct RowLanes {
    float sum[LANES * LANES], lost[LANES * LANES];
} RowLanes;

// What is computed for one row.
typedef struct RowAsk {
    bool  sums, squares;
    float shift; // is subtracted from each element first
} RowAsk;

// The sums of a row and of its squares: of all earlier blocks, and of this block.
typedef struct RowSums {
    CareSum all[2];
    f32v    part[2];
} RowSums;

INL void row_term(const RowAsk *ask, f32v v, RowSums *s)
{
    if (ask->sums) s->part[0] = v_add(s->part[0], v);
    if (ask->squares) s->part[1] = v_mad(v, v, s->part[1]);
}

// Row r: stores the sums of its lanes in to[0] and the sums of their squares in to[1].
static NOINLINE void row_lanes(RowAsk ask, const float *x, int64_t n, int r, RowLanes *to)
{
    f32v    none = v_set1(0);
    RowSums s    = {.all = {{none, none}, {none, none}}};
    for (int64_t i = 0; i < n;) {
        int64_t end = n - i < ROW_BLOCK * LANES ? n : i + ROW_BLOCK * LANES;
        s.part[0] = s.part[1] = none;
        for (; i + LANES <= end; i += LANES) row_term(&ask, v_sub(v_load(x + i), v_set1(ask.shift)), &s);
        if (i < end) {
            int  lanes = lanes_left(i, end);
            f32v v     = v_sub(v_load_part(x + i, 0, lanes), v_set1(ask.shift));
            row_term(&ask, v_only(v, 0, lanes, 0), &s);
            i = end;
        }
        for (int k = 0; k < 2; k++) s.all[k] = care_add(s.all[k], s.part[k]);
    }
    for (int k = 0; k < 2; k++)
        if (k ? ask.squares : ask.sums) {
            v_store(to[k].sum + r * LANES, s.all[k].sum);
            v_store(to[k].lost + r * LANES, s.all[k].lost);
        }
}

INL void lanes_none(RowLanes *lanes, int rows) // behind `rows` there are none
{
    for (int i = rows * LANES; i < LANES * LANES; i++) lanes->sum[i] = lanes->lost[i] = 0;
}

// A number of each of 16 rows.
typedef struct RowTotals {
    f64w r[REGISTERS];
} RowTotals;

INL f32v totals_narrow(RowTotals t)
{
    f32v v;
    EACH(i) v.r[i] = n_narrow(t.r[i]);
    return v;
}

// out = ((x - near) * factor + addend) * scale + bias over elements that share, or each have, a scale and a bias.
typedef struct NormRun {
    const float *x, *scale, *bias;
    int64_t      n;
    float        near, factor, addend;
    float       *out;
} NormRun;

// These three numbers for 16 rows. `near` is the mean up to rounding; the addend corrects that rounding.
typedef struct NormFactors {
    float near[LANES], factor[LANES], addend[LANES];
} NormFactors;

INL void norm_run(const NormRun *r, bool shared)
{
    for (int64_t i = 0; i < r->n; i += LANES) {
        int  lanes = lanes_left(i, r->n);
        f32v scale = shared ? v_set1(*r->scale) : v_load_lanes(r->scale + i, lanes), bias = v_set1(0);
        if (r->bias) bias = shared ? v_set1(*r->bias) : v_load_lanes(r->bias + i, lanes);
        f32v x = v_sub(v_load_lanes(r->x + i, lanes), v_set1(r->near));
        x      = v_mad(x, v_set1(r->factor), v_set1(r->addend));
        v_store_lanes(r->out + i, v_mad(x, scale, bias), lanes);
    }
}

INL void norm_row(const HoloNorm *m, int64_t row, const NormFactors *f, int i)
{
    int64_t channels = m->n / m->run, at = row % m->groups * channels;
    NormRun r = {.x = m->x + row * m->n, .scale = m->scale + at, .out = m->out + row * m->n};
    r.bias    = m->bias ? m->bias + at : NULL;
    r.n       = m->run == 1 ? m->n : m->run;
    r.near    = f->near[i];
    r.factor  = f->factor[i];
    r.addend  = f->addend[i];
    if (m->run == 1) {
        norm_run(&r, false);
        return;
    }
    for (int64_t c = 0; c < channels; c++, r.x += r.n, r.out += r.n, r.scale++, r.bias += m->bias != NULL)
        norm_run(&r, true);
}

// The means of up to 16 rows of n elements. `lost`: more than one block was added, so there are rounding errors to add.
INL f32v rows_near(const RowLanes *lanes, bool lost, int64_t n)
{
    f32v sum = v_sums(lanes->sum);
    if (lost) {
        f32v all         = v_add(sum, v_sums(lanes->lost));
        EACH(i) sum.r[i] = n_select(all.r[i] == all.r[i], all.r[i], sum.r[i]); // an infinity has no rounding error
    }
    return v_div(sum, v_set1((float)n));
}

static void norm_factors(const HoloNorm *m, const float *x, int rows, NormFactors *f)
{
    RowLanes sums[2]; // and of squares
    f32v     near = v_set1(0), rest = v_set1(0);
    bool     lost = m->n > ROW_BLOCK * LANES;
    for (int k = 0; k < 2; k++) lanes_none(sums + k, rows);
    for (int r = 0; r < rows; r++)
        if (m->centered)
            row_lanes((RowAsk){.sums = true}, x + r * m->n, m->n, r, sums);
        else
            row_lanes((RowAsk){.squares = true}, x + r * m->n, m->n, r, sums);
    if (m->centered) {
        near = rows_near(sums, lost, m->n);
        v_store(f->near, near);
        for (int r = 0; r < rows; r++)
            row_lanes((RowAsk){.sums = true, .squares = true, .shift = f->near[r]}, x + r * m->n, m->n, r, sums);
        rest = rows_near(sums, lost, m->n);
    }
    f32v factor         = v_sub(rows_near(sums + 1, lost, m->n), v_mul(rest, rest)); // the variance
    EACH(i) factor.r[i] = 1.0f / n_sqrt(n_max((f32n){0}, factor.r[i]) + m->epsilon);
    v_store(f->near, near);
    v_store(f->factor, factor);
    v_store(f->addend, v_sub(v_set1(0), v_mul(rest, factor)));
}

// ---- layers

INL double eight_sum(const double *l)
{
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

// The sums of `rows` rows, one or two, in double.
INL void layer_sums(int rows, const float *x, int64_t n, double *out)
{
    f64w    s[2][REGISTERS] = {0};
    int64_t i               = 0;
    for (; i + LANES <= n; i += LANES) UNROLL for (int r = 0; r < rows; r++) EACH(k)
        {
            f64w w = n_widen_at(x + r * n + i + k * NATIVE_LANES);
            for (int h = 0; h < 2; h++) s[r][k].half[h] = d_add(s[r][k].half[h], w.half[h]);
        }
    UNROLL for (int r = 0; r < rows; r++)
    {
        double lanes[LANES / 2];
        f32v   rest = v_load_part(x + r * n + i, 0, (int)(n - i));
        EACH(k)
        {
            f64w w = n_widen(rest.r[k]);
            for (int h = 0; h < 2; h++) s[r][k].half[h] += w.half[h];
        }
        // Lanes l and l + 8: a register has two halves.
        UNROLL for (int k = 0; k < REGISTERS; k++)
        {
            int  other = k + REGISTERS;
            f64n sum   = s[r][k / 2].half[k % 2] + s[r][other / 2].half[other % 2];
            memcpy(lanes + k * NATIVE_LANES / 2, &sum, sizeof sum);
        }
        out[r] = eight_sum(lanes);
    }
}

// The sums of squares of x - near for 2 * pairs rows from `first` on, in eight lanes. Elements behind the last whole
// eight are left out. Where there are fewer rows, the last is used again.
INL void layer_squares(int pairs, const float *x, int64_t n, const float *near, int first, int rows, float *lanes)
{
    const float *at[8];
    f32v         sum[4], mean[4];
    UNROLL for (int p = 0; p < 2 * pairs; p++) at[p] = x + (first + p < rows ? first + p : rows - 1) * n;
    UNROLL for (int p = 0; p < pairs; p++)
    {
        float both[LANES];
        for (int l = 0; l < LANES; l++) both[l] = near[first + 2 * p + l / 8];
        mean[p] = v_load(both), sum[p] = v_set1(0);
    }
    for (int64_t i = 0; i + 8 <= n; i += 8) UNROLL for (int p = 0; p < pairs; p++)
        {
            f32v d = v_sub(v_load_halves(at[2 * p] + i, at[2 * p + 1] + i), mean[p]);
            sum[p] = v_mad(d, d, sum[p]);
        }
    UNROLL for (int p = 0; p < pairs; p++) v_store(lanes + (first + 2 * p) * 8, sum[p]);
}

// The sums of squares of x - near of up to 16 rows.
INL f32v layer_square_sums(const float *x, int64_t n, f32v near, int rows)
{
    float nears[LANES], lanes[LANES * 8 + 8] = {0}, columns[LANES * LANES];
    v_store(nears, near);
    for (int r = 0, left; (left = rows - r) > 0; r += left > 4 ? 8 : left > 2 ? 4 : 2)
        if (left > 4)
            layer_squares(4, x, n, nears, r, rows, lanes);
        else if (left > 2)
            layer_squares(2, x, n, nears, r, rows, lanes);
        else
            layer_squares(1, x, n, nears, r, rows, lanes);
    v_transpose(lanes, 8, columns); // only eight of them are wanted
    f32v l[4];
    for (int i = 0; i < 4; i++) l[i] = v_add(v_load(columns + i * LANES), v_load(columns + (i + 4) * LANES));
    f32v sum = v_add(v_add(l[0], l[2]), v_add(l[1], l[3]));
    for (int64_t i = n / 8 * 8; i < n; i++) {
        f32v d = v_sub(v_load_strided(x + i, n, 0, rows), near);
        sum    = i < n / 4 * 4 ? v_add(sum, v_mul(d, d)) : v_mad(d, d, sum);
    }
    return sum;
}

// Corrects the mean where its rounding error is not small compared with the standard deviation.
static void layer_factors(const HoloNorm *m, const float *x, int rows, NormFactors *f)
{
    double    sums[LANES] = {0};
    RowTotals mean, rest;
    for (int r = 0; r < rows && m->centered; r += 2)
        if (r + 1 < rows)
            layer_sums(2, x + r * m->n, m->n, sums + r);
        else
            layer_sums(1, x + r * m->n, m->n, sums + r);
    memcpy(&mean, sums, sizeof mean);
    EACH(i) for (int h = 0; h < 2; h++) mean.r[i].half[h] /= (double)m->n;
    f32v near = totals_narrow(mean), square = v_div(layer_square_sums(x, m->n, near, rows), v_set1((float)m->n));
    EACH(i)
    {
        const f32n zero = {0};
        f64w       w    = n_widen(near.r[i]);
        for (int h = 0; h < 2; h++) rest.r[i].half[h] = mean.r[i].half[h] - w.half[h];
        f32n off = n_narrow(rest.r[i]), factor = 1.0f / n_sqrt(square.r[i] + m->epsilon);
        i32n is_far                             = n_abs(off * factor) > 0x1p-16f;
        f32n better                             = n_max(zero, square.r[i] - off * off) + m->epsilon;
        factor                                  = n_select(is_far, 1.0f / n_sqrt(better), factor);
        *(f32u *)(f->near + i * NATIVE_LANES)   = near.r[i];
        *(f32u *)(f->factor + i * NATIVE_LANES) = factor;
        *(f32u *)(f->addend + i * NATIVE_LANES) = n_select(is_far, -(off * factor), zero);
    }
}

// Rows first and first + 1, or the first alone; each element has a scale of its own.
INL void layer_rows(const HoloNorm *m, int64_t row, const NormFactors *f, int first, int rows)
{
    const float *x   = m->x + (row + first) * m->n;
    float       *out = m->out + (row + first) * m->n;
    f32v         near[2], factor[2], addend[2];
    UNROLL for (int r = 0; r < rows; r++)
    {
        near[r] = v_set1(f->near[first + r]), factor[r] = v_set1(f->factor[first + r]);
        addend[r] = v_set1(f->addend[first + r]);
    }
    for (int64_t i = 0; i < m->n; i += LANES) {
        int  lanes = lanes_left(i, m->n);
        f32v scale = v_load_lanes(m->scale + i, lanes), bias = m->bias ? v_load_lanes(m->bias + i, lanes) : v_set1(0);
        UNROLL for (int r = 0; r < rows; r++)
        {
            f32v y = v_sub(v_load_lanes(x + r * m->n + i, lanes), near[r]);
            v_store_lanes(out + r * m->n + i, v_mad(v_mad(y, factor[r], addend[r]), scale, bias), lanes);
        }
    }
}

static void layers(const HoloNorm *m, int64_t row, int rows)
{
    NormFactors f;
    layer_factors(m, m->x + row * m->n, rows, &f);
    int r = rows - 2;
    for (; r >= 0; r -= 2) layer_rows(m, row, &f, r, 2);
    if (r == -1) layer_rows(m, row, &f, 0, 1);
}

static void groups(const HoloNorm *m, int64_t row, int rows)
{
    NormFactors f;
    norm_factors(m, m->x + row * m->n, rows, &f);
    for (int r = rows - 1; r >= 0; r--) norm_row(m, row + r, &f, r);
}

// Rows are written from the last to the first, as in softmax_f32.c. out may be x.
static void norm_f32(const HoloNorm *m, int64_t first, int64_t end)
{
    bool    is_layer                            = m->run == 1 && m->groups == 1 && m->n <= LAYER_MOST;
    int64_t most                                = rows_at_once(m->n), rows;
    void (*run)(const HoloNorm *, int64_t, int) = is_layer ? layers : groups;
    if (is_layer) most = most >= LANES ? LANES : most >= 8 ? 8 : 4; // whole pairs of rows, which are computed together
    for (int64_t row = first; row < end; row += rows) {
        rows = end - row < most ? end - row : most;
        run(m, row, (int)rows);
    }
}
