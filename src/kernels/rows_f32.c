// rows_f32.c - rows as a whole: sums and extremes of them, and normalisation by mean and variance.
//
// Sums go in 16 lanes, and these in blocks: the error grows with the number of blocks, not of elements.

enum { SUM_BLOCK = 64 * LANES };

typedef enum RowSum { ROW_PLAIN, ROW_SQUARES } RowSum;

// The sum of x - shift, or of its square, over the row.
INL float row_sum(const float *x, int64_t n, RowSum kind, float shift)
{
    f32v total = v_set1(0);
    for (int64_t from = 0; from < n; from += SUM_BLOCK) {
        int64_t end = n - from < SUM_BLOCK ? n : from + SUM_BLOCK, i = from;
        f32v    sum = v_set1(0);
        for (; i + LANES <= end; i += LANES) {
            f32v v = v_sub(v_load(x + i), v_set1(shift));
            sum    = kind == ROW_SQUARES ? v_mad(v, v, sum) : v_add(sum, v);
        }
        if (i < end) {
            int  lanes = (int)(end - i);
            f32v v     = v_only(v_sub(v_load_part(x + i, 0, lanes), v_set1(shift)), 0, lanes, 0);
            sum        = kind == ROW_SQUARES ? v_mad(v, v, sum) : v_add(sum, v);
        }
        total = v_add(total, sum);
    }
    return v_sum(total);
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
    for (int64_t r = 0; r < rows; r++, x += n) {
        if (op == HOLO_REDUCE_MAX || op == HOLO_REDUCE_MIN)
            out[r] = row_extreme(x, n, op == HOLO_REDUCE_MAX ? 1.0f : -1.0f);
        else
            out[r] = row_sum(x, n, ROW_PLAIN, 0) / (op == HOLO_REDUCE_MEAN ? (float)n : 1.0f);
    }
}

// out = (x - mean) * factor * scale + bias over elements that share, or each have, a scale and a bias.
INL void norm_apply(const HoloNorm *m, int64_t from, int64_t end, bool shared, float mean, float factor)
{
    for (int64_t i = from; i < end; i += LANES) {
        int     lanes = lanes_left(i, end);
        int64_t at    = shared ? from / m->run : i;
        f32v    scale = shared ? v_set1(m->scale[at]) : v_load_strided(m->scale + at, 1, 0, lanes);
        f32v    bias  = v_set1(0);
        if (m->bias) bias = shared ? v_set1(m->bias[at]) : v_load_strided(m->bias + at, 1, 0, lanes);
        f32v x = v_sub(v_load_strided(m->x + i, 1, 0, lanes), v_set1(mean));
        x      = v_mad(v_mul(x, v_set1(factor)), scale, bias);
        if (lanes == LANES)
            v_store(m->out + i, x);
        else
            v_store_part(m->out + i, x, lanes);
    }
}

static void norm_f32(const HoloNorm *m)
{
    float mean     = m->centred ? row_sum(m->x, m->n, ROW_PLAIN, 0) / (float)m->n : 0;
    float variance = row_sum(m->x, m->n, ROW_SQUARES, mean) / (float)m->n;
    float factor   = 1.0f / n_sqrt((f32n){0} + (variance + m->epsilon))[0];
    if (m->run == 1) {
        norm_apply(m, 0, m->n, false, mean, factor);
        return;
    }
    for (int64_t from = 0; from < m->n; from += m->run) norm_apply(m, from, from + m->run, true, mean, factor);
}
