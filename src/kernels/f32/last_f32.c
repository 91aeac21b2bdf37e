// last_f32.c - work along rows of channels, where channels are the last dimension: computes moments of columns and
// applies them. Sums are in double, one for each channel.

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
        f32v a = v_load_lanes(factor + c, lanes), b = v_load_lanes(addend + c, lanes);
        for (int64_t r = 0; r < rows; r++) {
            f32v v = v_load_lanes(x + r * columns + c, lanes);
            v_store_lanes(out + r * columns + c, v_mad(v, a, b), lanes);
        }
    }
}
