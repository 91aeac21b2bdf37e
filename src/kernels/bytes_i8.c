// bytes_i8.c - quantised tensors, element by element: sums, products, largest and mean, each by the formula of the
// operators' own eval, bit by bit.
//
// Plain loops over LANES; the compiler makes vectors of them.

// Within the type; 0 for a NaN. Between whole bounds it does not matter whether it is rounded or cut first.
INL uint8_t byte_near(float y, float low)
{
    float near = y > low ? y : low;
    near       = near < low + 255 ? near : low + 255;
    near       = y == y ? whole_f32(near) : 0;
    return (uint8_t)(int32_t)near;
}

// LANES bytes as floats; `is_one`: one for all. Those past `count` are 0.
INL void bytes_load(const uint8_t *x, bool is_one, bool is_signed, int count, float out[LANES])
{
    uint8_t byte[LANES] = {0};
    for (int l = 0; l < count; l++) byte[l] = x[is_one ? 0 : l];
    if (is_signed)
        for (int l = 0; l < LANES; l++) out[l] = (int8_t)byte[l];
    else
        for (int l = 0; l < LANES; l++) out[l] = byte[l];
}

INL void pair_lanes(const HoloPairI8 *p, int64_t at, int count)
{
    float   low = p->is_signed ? -128 : 0, a[LANES], b[LANES];
    uint8_t made[LANES];
    bytes_load(p->a + (p->a_is_one ? 0 : at), p->a_is_one, p->is_signed, count, a);
    bytes_load(p->b + (p->b_is_one ? 0 : at), p->b_is_one, p->is_signed, count, b);
    if (p->multiply)
        for (int l = 0; l < LANES; l++)
            made[l] = byte_near((a[l] - p->a_term) * (b[l] - p->b_term) * p->ratio + p->shift, low);
    else
        for (int l = 0; l < LANES; l++)
            made[l] = byte_near(__builtin_fmaf(a[l], p->a_term, __builtin_fmaf(b[l], p->b_term, p->shift)), low);
    for (int l = 0; l < count; l++) p->out[at + l] = made[l];
}

static void pair_i8(const HoloPairI8 *p)
{
    int64_t at = 0;
    for (; at + LANES <= p->n; at += LANES) pair_lanes(p, at, LANES);
    if (at < p->n) pair_lanes(p, at, (int)(p->n - at));
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
    for (int64_t i = 0; i < n; i++) out[i] = byte_near(sums[i] / count / scale + shift, low);
}
