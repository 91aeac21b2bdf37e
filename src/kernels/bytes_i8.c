// bytes_i8.c - quantised tensors, element by element: sums, products, largest and mean, each by the formula of the
// operators' own eval, bit by bit.
//
// Between whole bounds it does not matter whether a number is rounded or cut first.

INL void pair_lanes(const HoloPairI8 *p, f32v a, f32v b, uint8_t *out)
{
    float low = p->is_signed ? -128 : 0;
    f32v  y;
    EACH(r)
    {
        f32n a_term = (f32n){0} + p->a_term, b_term = (f32n){0} + p->b_term, shift = (f32n){0} + p->shift;
        y.r[r] = p->multiply ? (a.r[r] - a_term) * (b.r[r] - b_term) * p->ratio + shift
                             : n_fma(a.r[r], a_term, n_fma(b.r[r], b_term, shift));
    }
    bytes_store(out, cut_to(y, low, low + 255), 0, y);
}

INL f32v operand_load(const uint8_t *x, int64_t at, int count, bool is_one, bool is_signed)
{
    uint8_t byte[LANES] = {0};
    if (is_one) return v_set1(is_signed ? (float)(int8_t)*x : (float)*x);
    if (count == LANES) return bytes_load(x + at, is_signed);
    for (int l = 0; l < count; l++) byte[l] = x[at + l];
    return bytes_load(byte, is_signed);
}

static void pair_i8(const HoloPairI8 *p)
{
    for (int64_t at = 0; at < p->n; at += LANES) {
        int     count = lanes_left(at, p->n);
        f32v    a     = operand_load(p->a, at, count, p->a_is_one, p->is_signed);
        f32v    b     = operand_load(p->b, at, count, p->b_is_one, p->is_signed);
        uint8_t made[LANES];
        if (count == LANES) {
            pair_lanes(p, a, b, p->out + at);
            continue;
        }
        pair_lanes(p, a, b, made);
        for (int l = 0; l < count; l++) p->out[at + l] = made[l];
    }
}

static void max_i8(int64_t n, const uint8_t *x, bool is_signed, uint8_t *into)
{
    if (is_signed)
        for (int64_t i = 0; i < n; i++) into[i] = (uint8_t)((int8_t)x[i] > (int8_t)into[i] ? x[i] : into[i]);
    else
        for (int64_t i = 0; i < n; i++) into[i] = x[i] > into[i] ? x[i] : into[i];
}

static void sum_i8(int64_t n, const uint8_t *x, bool is_signed, int zero, float scale, float *into)
{
    float shift = (float)zero;
    if (is_signed)
        for (int64_t i = 0; i < n; i++) into[i] = into[i] + ((float)(int8_t)x[i] - shift) * scale;
    else
        for (int64_t i = 0; i < n; i++) into[i] = into[i] + ((float)x[i] - shift) * scale;
}

static void mean_i8(int64_t n, const float *sums, float count, float scale, int zero, bool is_signed, uint8_t *out)
{
    float low = is_signed ? -128 : 0, shift = (float)zero;
    for (int64_t i = 0; i < n; i += LANES) {
        int     lanes      = lanes_left(i, n);
        float   sum[LANES] = {0};
        uint8_t made[LANES];
        for (int l = 0; l < lanes; l++) sum[l] = sums[i + l];
        f32v y = v_div(v_div(v_load(sum), v_set1(count)), v_set1(scale));
        EACH(r) y.r[r] += shift;
        bytes_store(made, cut_to(y, low, low + 255), 0, y);
        for (int l = 0; l < lanes; l++) out[i + l] = made[l];
    }
}
