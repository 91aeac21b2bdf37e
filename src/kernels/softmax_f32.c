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
