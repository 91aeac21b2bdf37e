// rows_f32.c - rows as a whole: sums and extremes of them, and normalisation by mean and variance.
//
// Sums go in 16 lanes, each with what its additions have rounded away beside it: a mean that is
// small beside the elements, as of a plane of a convolution, is right to the last bits. To add up
// 16 lanes takes as long as a row of a hundred elements, so 16 rows do it at once, their lanes turned into columns.
// To normalise, rows are added with less care: what the mean then lacks is found with the variance.

enum { ROW_BLOCK = 16 }; // vectors that are added plainly when normalising

// A sum that knows exactly what it lacks.
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

// What is asked for of one row.
typedef struct RowAsk {
    bool    sums, squares;
    float   shift; // is taken off each element first
    int64_t block; // vectors that are added plainly; 1: none
} RowAsk;

// The sums of a row and of its squares: all blocks but this one, and this one.
typedef struct RowSums {
    CareSum all[2];
    f32v    part[2];
} RowSums;

INL void row_term(const RowAsk *ask, f32v v, RowSums *s)
{
    if (ask->block == 1) s->all[0] = care_add(s->all[0], v);
    if (ask->block > 1 && ask->sums) s->part[0] = v_add(s->part[0], v);
    if (ask->squares) s->part[1] = v_mad(v, v, s->part[1]);
}

// Row r: the sums of its lanes to[0], those of their squares to[1].
INL void row_lanes(RowAsk ask, const float *x, int64_t n, int r, RowLanes *to)
{
    f32v    none = v_set1(0);
    RowSums s    = {.all = {{none, none}, {none, none}}};
    for (int64_t i = 0; i < n;) {
        int64_t end = n - i < ask.block * LANES ? n : i + ask.block * LANES;
        s.part[0] = s.part[1] = none;
        for (; i + LANES <= end; i += LANES) row_term(&ask, v_sub(v_load(x + i), v_set1(ask.shift)), &s);
        if (i < end) {
            int  lanes = lanes_left(i, end);
            f32v v     = v_sub(v_load_part(x + i, 0, lanes), v_set1(ask.shift));
            row_term(&ask, v_only(v, 0, lanes, 0), &s);
            i = end;
        }
        for (int k = 0; k < 2 && ask.block > 1; k++) s.all[k] = care_add(s.all[k], s.part[k]);
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

INL RowTotals lanes_total(const float *lanes)
{
    float     columns[LANES * LANES];
    RowTotals total = {0};
    v_transpose(lanes, LANES, columns);
    EACH(i)
    for (int c = 0; c < LANES; c++) {
        f64w sum = n_widen(*(const f32u *)(columns + c * LANES + i * NATIVE_LANES));
        for (int h = 0; h < 2; h++) total.r[i].half[h] += sum.half[h];
    }
    return total;
}

// The mean of up to 16 rows of n: their sums divided by n. `lost`: more than one block was added.
INL RowTotals rows_mean(const RowLanes *lanes, bool lost, double n)
{
    RowTotals total = lanes_total(lanes->sum), rest = {0};
    if (lost) rest = lanes_total(lanes->lost);
    EACH(i)
    for (int h = 0; h < 2; h++) {
        f64n sum = total.r[i].half[h], all = sum + rest.r[i].half[h];
        // What is lost of an infinity is not a number.
        all                = (f64n)(((all == all) & (i64n)all) | ((all != all) & (i64n)sum));
        total.r[i].half[h] = all / n;
    }
    return total;
}

INL f32v totals_narrow(RowTotals t)
{
    f32v v;
    EACH(i) v.r[i] = n_narrow(t.r[i]);
    return v;
}

INL float row_extreme(const float *x, int64_t n, float sign) // the largest of sign * x, times sign; NaN wins
{
    f32v top = v_set1(-__builtin_inff());
    for (int64_t i = 0; i < n; i += LANES) {
        int  lanes = lanes_left(i, n);
        f32v v     = v_mul(v_load_strided(x + i, 1, 0, lanes), v_set1(sign));
        if (lanes < LANES) v = v_only(v, 0, lanes, -__builtin_inff());
        top = v_top_of(top, v);
    }
    float t[LANES];
    v_store(t, top);
    for (int i = 1; i < LANES; i++) t[0] = t[0] != t[0] || t[0] > t[i] ? t[0] : t[i];
    return t[0] * sign;
}

static void reduce_f32(uint32_t op, int64_t rows, int64_t n, const float *x, float *out)
{
    RowLanes sums;
    for (int64_t r = 0; r < rows; r++) {
        int at = (int)(r % LANES), count = at + 1;
        if (op == HOLO_REDUCE_MAX || op == HOLO_REDUCE_MIN) {
            out[r] = row_extreme(x + r * n, n, op == HOLO_REDUCE_MAX ? 1.0f : -1.0f);
            continue;
        }
        row_lanes((RowAsk){.sums = true, .block = 1}, x + r * n, n, at, &sums);
        if (count < LANES && r + 1 < rows) continue;
        lanes_none(&sums, count);
        RowTotals mean = rows_mean(&sums, n > LANES, op == HOLO_REDUCE_MEAN ? (double)n : 1.0);
        v_store_lanes(out + r - at, totals_narrow(mean), count);
    }
}

// out = ((x - near) * factor + addend) * scale + bias over elements that share, or each have, a scale and a bias.
typedef struct NormRun {
    const float *x, *scale, *bias;
    int64_t      n;
    float        near, factor, addend;
    float       *out;
} NormRun;

// These three, of 16 rows. `near` is the mean but for its roundings, of which the addend knows.
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

// The means of up to 16 rows of n. `lost`: more than one block was added.
INL f32v rows_near(const RowLanes *lanes, bool lost, int64_t n)
{
    f32v sum = v_sums(lanes->sum);
    if (lost) {
        f32v all         = v_add(sum, v_sums(lanes->lost));
        EACH(i) sum.r[i] = n_select(all.r[i] == all.r[i], all.r[i], sum.r[i]); // as in rows_mean
    }
    return v_div(sum, v_set1((float)n));
}

INL void norm_factors(const HoloNorm *m, const float *x, int rows, NormFactors *f)
{
    RowLanes sums[2]; // and of squares
    f32v     near = v_set1(0), rest = v_set1(0);
    bool     lost = m->n > ROW_BLOCK * LANES;
    for (int k = 0; k < 2; k++) lanes_none(sums + k, rows);
    for (int r = 0; r < rows; r++)
        if (m->centred)
            row_lanes((RowAsk){.sums = true, .block = ROW_BLOCK}, x + r * m->n, m->n, r, sums);
        else
            row_lanes((RowAsk){.squares = true, .block = ROW_BLOCK}, x + r * m->n, m->n, r, sums);
    if (m->centred) {
        near = rows_near(sums, lost, m->n);
        v_store(f->near, near);
        for (int r = 0; r < rows; r++)
            row_lanes((RowAsk){.sums = true, .squares = true, .shift = f->near[r], .block = ROW_BLOCK}, x + r * m->n,
                      m->n, r, sums);
        rest = rows_near(sums, lost, m->n);
    }
    f32v factor         = v_sub(rows_near(sums + 1, lost, m->n), v_mul(rest, rest)); // the variance
    EACH(i) factor.r[i] = 1.0f / n_sqrt(n_max((f32n){0}, factor.r[i]) + m->epsilon);
    v_store(f->near, near);
    v_store(f->factor, factor);
    v_store(f->addend, v_sub(v_set1(0), v_mul(rest, factor)));
}

// Rows are written from the last to the first, as in softmax_f32.c: out may be x.
static void norm_f32(const HoloNorm *m, int64_t first, int64_t end)
{
    int64_t most = rows_at_once(m->n), rows;
    for (int64_t row = first; row < end; row += rows) {
        NormFactors f;
        rows = end - row < most ? end - row : most;
        norm_factors(m, m->x + row * m->n, (int)rows, &f);
        for (int r = (int)rows - 1; r >= 0; r--) norm_row(m, row + r, &f, r);
    }
}
