// softmax_f32.c - e^x / sum(e^x) over rows, shifted by the largest so that nothing overflows.

static void softmax_row(int64_t n, const float *x, float *out)
{
    float top = x[0];
    if (n >= LANES) {
        f32v v = v_load(x);
        for (int64_t i = LANES; i + LANES <= n; i += LANES) v = v_max(v, v_load(x + i));
        top = v_top(v);
    }
    for (int64_t i = n / LANES * LANES; i < n; i++) top = x[i] > top ? x[i] : top;

    f32v sum = v_set1(0);
    for (int64_t i = 0; i < n; i += LANES) {
        int  lanes = lanes_left(i, n);
        f32v e     = v_exp_down(v_sub(v_load_strided(x + i, 1, 0, lanes), v_set1(top)));
        if (lanes == LANES) {
            v_store(out + i, e);
        } else {
            v_store_part(out + i, e, lanes);
            e = v_load_part(out + i, 0, lanes);
        }
        sum = v_add(sum, e);
    }
    f32v scale = v_set1(1.0f / v_sum(sum));
    for (int64_t i = 0; i < n; i += LANES) {
        int  lanes = lanes_left(i, n);
        f32v y     = v_mul(v_load_strided(out + i, 1, 0, lanes), scale);
        if (lanes == LANES)
            v_store(out + i, y);
        else
            v_store_part(out + i, y, lanes);
    }
}

static void softmax_f32(int64_t rows, int64_t columns, const float *x, float *out)
{
    for (int64_t r = 0; columns > 0 && r < rows; r++) softmax_row(columns, x + r * columns, out + r * columns);
}

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

static void softmax_sums_f32(int64_t rows, int64_t columns, const float *x, float *out_tops, float *out_sums)
{
    for (int64_t r = 0; columns > 0 && r < rows; r++, x += columns) {
        f32v top = v_set1(-__builtin_inff()), sum = v_set1(0);
        for (int64_t i = 0; i < columns; i += LANES) {
            int lanes = lanes_left(i, columns);
            top       = v_max(v_only(v_load_lanes(x + i, lanes), 0, lanes, -__builtin_inff()), top);
        }
        out_tops[r] = v_top(top);
        for (int64_t i = 0; i < columns; i += LANES) {
            int  lanes = lanes_left(i, columns);
            f32v e     = v_exp_down(v_sub(v_load_lanes(x + i, lanes), v_set1(out_tops[r])));
            sum        = v_add(sum, v_only(e, 0, lanes, 0));
        }
        out_sums[r] = v_sum(sum);
    }
}

static void shift_f32(int64_t n, const float *x, float a, float b, float *out)
{
    for (int64_t i = 0; i < n; i += LANES) {
        int lanes = lanes_left(i, n);
        v_store_lanes(out + i, v_sub(v_sub(v_load_lanes(x + i, lanes), v_set1(a)), v_set1(b)), lanes);
    }
}
