// last_f32.c - work along rows of channels, which are the last dimension: reductions over rows, moments of columns and their use. Sums go in double, one for each channel.

INL f32v last_load(const float *p, int lanes)
{
    return lanes == LANES ? v_load(p) : v_load_part(p, 0, lanes);
}

INL void last_store(float *p, f32v v, int lanes)
{
    if (lanes == LANES)
        v_store(p, v);
    else
        v_store_part(p, v, lanes);
}

// ---- columns

enum { COLUMN_PANELS = NATIVE == 64 ? 4 : 2 }; // panels of columns that are summed side by side

// Whole panels of columns side by side: a sum waits for the one before it, and those of other columns go meanwhile.
INL void panel_sums(int panels, int64_t rows, int64_t row, const float *x, float *out, double divisor)
{
    f64w sum[COLUMN_PANELS * REGISTERS] = {0};
    for (int64_t r = 0; r < rows; r++, x += row) UNROLL for (int i = 0; i < panels * REGISTERS; i++)
        {
            f64w w                                            = n_widen_at(x + i * NATIVE_LANES);
            UNROLL for (int h = 0; h < 2; h++) sum[i].half[h] = d_add(sum[i].half[h], w.half[h]);
        }
    UNROLL for (int i = 0; i < panels * REGISTERS; i++)
    {
        for (int h = 0; h < 2; h++) sum[i].half[h] /= divisor;
        *(f32u *)(out + i * NATIVE_LANES) = n_narrow(sum[i]);
    }
}

static void column_sums(int64_t rows, int64_t row, const float *x, int lanes, float *out, double divisor)
{
    double sum[LANES] = {0};
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < lanes; i++) sum[i] += (double)x[r * row + i];
    for (int i = 0; i < lanes; i++) out[i] = (float)(sum[i] / divisor);
}

static void sum_columns(int64_t rows, int64_t columns, const float *x, int64_t row, float *out, double divisor)
{
    int64_t c = 0;
    for (; c + COLUMN_PANELS * LANES <= columns; c += COLUMN_PANELS * LANES)
        panel_sums(COLUMN_PANELS, rows, row, x + c, out + c, divisor);
    for (; c + LANES <= columns; c += LANES) panel_sums(1, rows, row, x + c, out + c, divisor);
    if (c < columns) column_sums(rows, row, x + c, (int)(columns - c), out + c, divisor);
}

static void reduce_columns_f32(uint32_t op, int64_t rows, int64_t columns, const float *x, int64_t row, float *out)
{
    if (op != HOLO_REDUCE_MAX && op != HOLO_REDUCE_MIN) {
        sum_columns(rows, columns, x, row, out, op == HOLO_REDUCE_MEAN ? (double)rows : 1);
        return;
    }
    for (int64_t c = 0; c < columns; c += LANES) {
        int  lanes = lanes_left(c, columns);
        f32v sign = v_set1(op == HOLO_REDUCE_MAX ? 1.0f : -1.0f), top = v_set1(-__builtin_inff());
        for (int64_t r = 0; r < rows; r++) top = v_top_of(top, v_mul(sign, last_load(x + r * row + c, lanes)));
        last_store(out + c, v_mul(sign, top), lanes);
    }
}

INL void moments(int64_t rows, int64_t columns, const float *x, int lanes, double *out_sums, double *out_squares)
{
    double sum[LANES] = {0}, square[LANES] = {0};
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < lanes; i++) {
            double v = (double)x[r * columns + i];
            sum[i] += v;
            square[i] += v * v;
        }
    for (int i = 0; i < lanes; i++) out_sums[i] = sum[i], out_squares[i] = square[i];
}

static void moments_f32(int64_t rows, int64_t columns, const float *x, double *out_sums, double *out_squares)
{
    int64_t c = 0;
    for (; c + LANES <= columns; c += LANES) moments(rows, columns, x + c, LANES, out_sums + c, out_squares + c);
    if (c < columns) moments(rows, columns, x + c, (int)(columns - c), out_sums + c, out_squares + c);
}

static void affine_f32(int64_t rows, int64_t columns, const float *x, const float *factor, const float *addend,
                       float *out)
{
    for (int64_t c = 0; c < columns; c += LANES) {
        int  lanes = lanes_left(c, columns);
        f32v a = last_load(factor + c, lanes), b = last_load(addend + c, lanes);
        for (int64_t r = 0; r < rows; r++)
            last_store(out + r * columns + c, v_mad(last_load(x + r * columns + c, lanes), a, b), lanes);
    }
}
