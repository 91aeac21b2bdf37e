// last_f32.c - work along rows of channels, which are the last dimension: moments of columns and their use. Sums go in double,
// one for each channel.

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
