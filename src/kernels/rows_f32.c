// rows_f32.c - rows as a whole: sums and extremes of them, and normalisation by mean and variance.
//
// Sums go in 16 lanes, each with what its additions have rounded away beside it: a mean that is
// small beside the elements, as of a plane of a convolution, is right to the last bits.

typedef enum RowSum { ROW_PLAIN, ROW_SQUARES } RowSum;

// The next elements of a row, x - shift or its square; 0 in the lanes beyond its end.
INL f32v row_terms(const float *x, int lanes, RowSum kind, float shift)
{
    f32v v = lanes == LANES ? v_load(x) : v_load_part(x, 0, lanes);
    v      = v_sub(v, v_set1(shift));
    if (lanes < LANES) v = v_only(v, 0, lanes, 0);
    return kind == ROW_SQUARES ? v_mul(v, v) : v;
}

INL double row_sum_plain(const float *x, int64_t n, RowSum kind, float shift)
{
    f32v sum = v_set1(0);
    for (int64_t i = 0; i < n; i += LANES) sum = v_add(sum, row_terms(x + i, lanes_left(i, n), kind, shift));
    return (double)v_sum(sum);
}

INL double row_sum(const float *x, int64_t n, RowSum kind, float shift)
{
    f32v sum = v_set1(0), lost = v_set1(0);
    for (int64_t i = 0; i < n; i += LANES) {
        f32v term = row_terms(x + i, lanes_left(i, n), kind, shift), next = v_add(sum, term), added = v_sub(next, sum);
        lost = v_add(lost, v_add(v_sub(sum, v_sub(next, added)), v_sub(term, added))); // exactly what `next` lacks
        sum  = next;
    }
    float  sums[LANES], losses[LANES];
    double total = 0;
    v_store(sums, sum);
    v_store(losses, lost);
    for (int i = 0; i < LANES; i++) total += (double)sums[i] + (double)losses[i];
    // What is lost of an infinity is not a number: the sum of such a row needs no care.
    return total == total ? total : row_sum_plain(x, n, kind, shift);
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
            out[r] = (float)(row_sum(x, n, ROW_PLAIN, 0) / (op == HOLO_REDUCE_MEAN ? (double)n : 1.0));
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
    float mean     = m->centred ? (float)(row_sum(m->x, m->n, ROW_PLAIN, 0) / (double)m->n) : 0;
    float variance = (float)(row_sum(m->x, m->n, ROW_SQUARES, mean) / (double)m->n);
    float factor   = 1.0f / n_sqrt((f32n){0} + (variance + m->epsilon))[0];
    if (m->run == 1) {
        norm_apply(m, 0, m->n, false, mean, factor);
        return;
    }
    for (int64_t from = 0; from < m->n; from += m->run) norm_apply(m, from, from + m->run, true, mean, factor);
}
