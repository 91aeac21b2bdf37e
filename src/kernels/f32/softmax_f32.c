// softmax_f32.c - e^x / sum(e^x) over rows, shifted by the largest element so that nothing overflows.
//
// Sixteen rows are computed at once, because to find the largest of 16 lanes, and their sum, takes as long as the rest
// of a short row. Rows are computed from the last to the first: where a row ends within a vector, the CPU takes its
// store for one to the next row, and delays a load of that row.

// Sums are kept in 16 lanes of a row, or as 16 sums of columns; v_sums adds them up.

// Up to 16 columns. From one element of a column to the next there are `row` floats.
typedef struct SoftStrip {
    int64_t      rows, row;
    int          lanes;
    const float *x;
    float       *out;
} SoftStrip;

INL f32v strip_top(const SoftStrip *s)
{
    f32v top = v_load_lanes(s->x, s->lanes);
    for (int64_t r = 1; r < s->rows; r++) top = v_max(v_load_lanes(s->x + r * s->row, s->lanes), top);
    return top;
}

// The sum of e^(x - top). `store`: the terms are written to out. If there are no more than 16 rows, their sums are in
// `sums`.
INL f32v strip_sum(const SoftStrip *s, f32v top, bool store, float *sums)
{
    int few = s->rows < LANES ? (int)s->rows : LANES;
    for (int64_t r = 0; r < s->rows; r++) {
        float *sum = sums + r % LANES * LANES;
        f32v   e   = v_exp_down(v_sub(v_load_lanes(s->x + r * s->row, s->lanes), top));
        if (store) v_store_lanes(s->out + r * s->row, e, s->lanes);
        v_store(sum, r < LANES ? e : v_add(v_load(sum), e));
    }
    return v_across_columns(false, sums, few);
}

INL void strip_scale(const SoftStrip *s, f32v sum, const float *from, int64_t row)
{
    f32v scale = v_div(v_set1(1), sum);
    for (int64_t r = 0; r < s->rows; r++)
        v_store_lanes(s->out + r * s->row, v_mul(v_load_lanes(from + r * row, s->lanes), scale), s->lanes);
}

INL void softmax_strip(SoftStrip s)
{
    float sums[LANES * LANES];
    if (s.rows <= LANES)
        strip_scale(&s, strip_sum(&s, strip_top(&s), false, sums), sums, LANES);
    else
        strip_scale(&s, strip_sum(&s, strip_top(&s), true, sums), s.out, s.row);
}

// The logarithm of this sum.
INL void log_softmax_strip(SoftStrip s)
{
    float sums[LANES * LANES];
    f32v  top = strip_top(&s), sum = strip_sum(&s, top, false, sums);
    EACH(i) sum.r[i] = n_log(sum.r[i]);
    for (int64_t r = 0; r < s.rows; r++)
        v_store_lanes(s.out + r * s.row, v_sub(v_sub(v_load_lanes(s.x + r * s.row, s.lanes), top), sum), s.lanes);
}

static void softmax_columns_f32(int64_t rows, int64_t columns, const float *x, int64_t row, bool is_log, float *out)
{
    for (int64_t j = 0; rows > 0 && j < columns; j += LANES) {
        SoftStrip s = {rows, row, lanes_left(j, columns), x + j, out + j};
        if (is_log)
            log_softmax_strip(s);
        else
            softmax_strip(s);
    }
}

// Up to 16 rows.
typedef struct SoftRows {
    int          rows;
    int64_t      n;
    const float *x;
    float       *out; // NULL: only the sums are wanted
    float        tops[LANES], sums[LANES];
} SoftRows;

INL void soft_rows(SoftRows *s)
{
    float lanes_of[LANES * LANES] = {0};
    for (int r = s->rows - 1; r >= 0; r--) {
        f32v top = v_set1(-__builtin_inff());
        for (int64_t i = 0; i < s->n; i += LANES) {
            int  lanes = lanes_left(i, s->n);
            f32v v     = v_load_lanes(s->x + r * s->n + i, lanes);
            if (lanes < LANES) v = v_only(v, 0, lanes, -__builtin_inff());
            top = v_max(v, top);
        }
        v_store(lanes_of + r * LANES, top);
    }
    v_store(s->tops, v_tops(lanes_of));
    for (int r = s->rows - 1; r >= 0; r--) {
        f32v sum = v_set1(0);
        for (int64_t i = 0; i < s->n; i += LANES) {
            int  lanes = lanes_left(i, s->n);
            f32v e     = v_exp_down(v_sub(v_load_lanes(s->x + r * s->n + i, lanes), v_set1(s->tops[r])));
            if (s->out) v_store_lanes(s->out + r * s->n + i, e, lanes);
            if (lanes < LANES) e = v_only(e, 0, lanes, 0);
            sum = v_add(sum, e);
        }
        v_store(lanes_of + r * LANES, sum);
    }
    v_store(s->sums, v_sums(lanes_of));
}

INL void softmax_rows(int rows, int64_t n, const float *x, float *out)
{
    SoftRows s = {.rows = rows, .n = n, .x = x, .out = out};
    soft_rows(&s);
    for (int r = rows - 1; r >= 0; r--)
        for (int64_t i = 0; i < n; i += LANES) {
            float *to    = out + r * n + i;
            int    lanes = lanes_left(i, n);
            v_store_lanes(to, v_mul(v_load_lanes(to, lanes), v_set1(1.0f / s.sums[r])), lanes);
        }
}

// Rows of up to 16 elements are transposed, so that each lane has one row.
INL void softmax_turned(int rows, int n, const float *x, float *out)
{
    float block[LANES * LANES] = {0}, columns[LANES * LANES];
    for (int r = 0; r < rows; r++) v_store(block + r * LANES, v_load_part(x + r * n, 0, n));
    v_transpose(block, LANES, columns);
    softmax_strip((SoftStrip){n, LANES, LANES, columns, columns});
    v_transpose(columns, LANES, block);
    for (int r = 0; r < rows; r++) v_store_part(out + r * n, v_load(block + r * LANES), n);
}

static void softmax_f32(int64_t rows, int64_t columns, const float *x, float *out)
{
    int64_t most = rows_at_once(columns), count;
    for (int64_t r = 0; columns > 0 && r < rows; r += count, x += count * columns, out += count * columns) {
        count = rows - r < most ? rows - r : most;
        if (columns <= LANES)
            softmax_turned((int)count, (int)columns, x, out);
        else
            softmax_rows((int)count, columns, x, out);
    }
}

static void softmax_sums_f32(int64_t rows, int64_t columns, const float *x, float *out_tops, float *out_sums)
{
    for (int64_t r = 0; columns > 0 && r < rows; r += LANES) {
        SoftRows s = {.rows = lanes_left(r, rows), .n = columns, .x = x + r * columns};
        soft_rows(&s);
        v_store_lanes(out_tops + r, v_load(s.tops), s.rows);
        v_store_lanes(out_sums + r, v_load(s.sums), s.rows);
    }
}

static void shift_f32(int64_t n, const float *x, float a, float b, float *out)
{
    for (int64_t i = 0; i < n; i += LANES) {
        int lanes = lanes_left(i, n);
        v_store_lanes(out + i, v_sub(v_sub(v_load_lanes(x + i, lanes), v_set1(a)), v_set1(b)), lanes);
    }
}
