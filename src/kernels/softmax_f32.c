// softmax_f32.c - e^x / sum(e^x) over rows, shifted by the largest so that nothing overflows. Sixteen rows go at once, for
// to find the largest of 16 lanes, and their sum, takes as long as all the rest of a short row. They go from the last to
// the first: where a row ends within a vector, a CPU takes its store for one to the next row, and lets a load of that wait.

// Up to 16 columns.
static void softmax_strip(int64_t rows, int lanes, const float *x, int64_t row, float *out)
{
    f32v top = v_load_lanes(x, lanes), sum = v_set1(0);
    for (int64_t r = 1; r < rows; r++) top = v_max(v_load_lanes(x + r * row, lanes), top);
    for (int64_t r = 0; r < rows; r++) {
        f32v e = v_exp_down(v_sub(v_load_lanes(x + r * row, lanes), top));
        v_store_lanes(out + r * row, e, lanes);
        sum = v_add(sum, e);
    }
    f32v scale = v_div(v_set1(1), sum);
    for (int64_t r = 0; r < rows; r++)
        v_store_lanes(out + r * row, v_mul(v_load_lanes(out + r * row, lanes), scale), lanes);
}

// The logarithm of that.
static void log_softmax_strip(int64_t rows, int lanes, const float *x, int64_t row, float *out)
{
    f32v top = v_load_lanes(x, lanes), sum = v_set1(0);
    for (int64_t r = 1; r < rows; r++) top = v_max(v_load_lanes(x + r * row, lanes), top);
    for (int64_t r = 0; r < rows; r++) sum = v_add(sum, v_exp_down(v_sub(v_load_lanes(x + r * row, lanes), top)));
    EACH(i) sum.r[i] = n_log(sum.r[i]);
    for (int64_t r = 0; r < rows; r++)
        v_store_lanes(out + r * row, v_sub(v_sub(v_load_lanes(x + r * row, lanes), top), sum), lanes);
}

static void softmax_columns_f32(int64_t rows, int64_t columns, const float *x, int64_t row, bool is_log, float *out)
{
    for (int64_t j = 0; rows > 0 && j < columns; j += LANES)
        (is_log ? log_softmax_strip : softmax_strip)(rows, lanes_left(j, columns), x + j, row, out + j);
}

// Up to 16 rows.
typedef struct SoftRows {
    int          rows;
    int64_t      n;
    const float *x;
    float       *out; // NULL: the sums alone are asked for
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

// Rows of up to 16: turned, each lane has one.
INL void softmax_turned(int rows, int n, const float *x, float *out)
{
    float block[LANES * LANES] = {0}, columns[LANES * LANES];
    for (int r = 0; r < rows; r++) v_store(block + r * LANES, v_load_part(x + r * n, 0, n));
    v_transpose(block, LANES, columns);
    softmax_strip(n, LANES, columns, LANES, columns);
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
