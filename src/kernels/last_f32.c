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

static void column_sums(int64_t rows, int64_t row, const float *x, int lanes, float *out, double divisor)
{
    double sum[LANES] = {0};
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < lanes; i++) sum[i] += (double)x[r * row + i];
    for (int i = 0; i < lanes; i++) out[i] = (float)(sum[i] / divisor);
}

static void reduce_columns_f32(uint32_t op, int64_t rows, int64_t columns, const float *x, int64_t row, float *out)
{
    for (int64_t c = 0; c < columns; c += LANES) {
        int lanes = lanes_left(c, columns);
        if (op == HOLO_REDUCE_MAX || op == HOLO_REDUCE_MIN) {
            f32v sign = v_set1(op == HOLO_REDUCE_MAX ? 1.0f : -1.0f), top = v_set1(-__builtin_inff());
            for (int64_t r = 0; r < rows; r++) top = v_top_of(top, v_mul(sign, last_load(x + r * row + c, lanes)));
            last_store(out + c, v_mul(sign, top), lanes);
        } else if (lanes == LANES) {
            column_sums(rows, row, x + c, LANES, out + c, op == HOLO_REDUCE_MEAN ? (double)rows : 1);
        } else {
            column_sums(rows, row, x + c, lanes, out + c, op == HOLO_REDUCE_MEAN ? (double)rows : 1);
        }
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
