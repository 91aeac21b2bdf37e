// bytes_i8.c - quantized tensors, element by element: sums, products, and the largest and the mean of windows. Each
// gives the bits of the operator's own eval.
//
// Bounds are whole numbers, so it does not matter whether a number is first rounded or first held within them.

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

// ---- the same of whole registers of bytes, where no result is a NaN or leaves 31 bits

INL void wide_load(const uint8_t *x, bool is_signed, f32n out[4])
{
    UNROLL for (int i = 0; i < 4 / REGISTERS; i++)
    {
        f32v v                         = bytes_load(x + i * LANES, is_signed);
        EACH(r) out[i * REGISTERS + r] = v.r[r];
    }
}

INL int64_t pair_wide(const HoloPairI8 *p, bool is_signed, bool multiply)
{
    f32n    none = {0}, a_term = none + p->a_term, b_term = none + p->b_term, ratio = none + p->ratio;
    f32n    shift = none + p->shift;
    int64_t at    = 0;
    for (; at + WIDE <= p->n; at += WIDE) {
        f32n a[4], b[4], y[4];
        wide_load(p->a + at, is_signed, a);
        wide_load(p->b + at, is_signed, b);
        UNROLL for (int i = 0; i < 4; i++) y[i] = multiply ? (a[i] - a_term) * (b[i] - b_term) * ratio + shift
                                                           : n_fma(a[i], a_term, n_fma(b[i], b_term, shift));
        n_store_rounded(p->out + at, y, 0, is_signed);
    }
    return at;
}

INL bool is_below(float x, float bound) // false for a NaN
{
    return x < bound && x > -bound;
}

// Returns how many numbers were computed.
INL int64_t pairs_wide(const HoloPairI8 *p)
{
    const float most = 1 << 20, ratio = 1 << 12; // 2^20 * 2^8 * 2 + 2^20, 2^16 * 2^12 + 2^20: below 2^31
    if (!STORE_ROUNDED || p->a_is_one || p->b_is_one || !is_below(p->shift, most)) return 0;
    if (!is_below(p->a_term, p->multiply ? 256 : most) || !is_below(p->b_term, p->multiply ? 256 : most)) return 0;
    if (p->multiply && !is_below(p->ratio, ratio)) return 0;
    if (p->is_signed) return p->multiply ? pair_wide(p, true, true) : pair_wide(p, true, false);
    return p->multiply ? pair_wide(p, false, true) : pair_wide(p, false, false);
}

void SHARED(pair_i8)(const HoloPairI8 *p)
{
    for (int64_t at = pairs_wide(p); at < p->n; at += LANES) {
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

// ---- pools

// Sixteen bytes, or the first `lanes` of them.
INL u8q line_part(const uint8_t *p, int lanes)
{
    u8q line = {0};
    if (lanes == LANES) return (u8q) * (const u8qu *)p;
    for (int l = 0; l < lanes; l++) line[l] = p[l];
    return line;
}

INL void max_block(const HoloPoolI8 *p, int64_t at, int lanes)
{
    u8q flip = (u8q){0} + (uint8_t)(p->is_signed ? 0x80 : 0), top = {0}; // flipped, signed bytes compare as unsigned
    for (int64_t t = 0; t < p->taps; t++) {
        u8q x = line_part(p->from[t] + at, lanes) ^ flip, more = (u8q)(x > top);
        top = (x & more) | (top & ~more);
    }
    top ^= flip;
    if (lanes == LANES) *(u8qu *)(p->out + at) = (u8qu)top;
    for (int l = 0; lanes < LANES && l < lanes; l++) p->out[at + l] = top[l];
}

INL void mean_block(const HoloPoolI8 *p, int64_t at, int lanes)
{
    float   low = p->is_signed ? -128 : 0, zero = (float)p->zero, scale = p->scale, y_zero = (float)p->y_zero;
    f32v    sum = v_set1(0);
    uint8_t made[LANES];
    for (int64_t t = 0; t < p->taps; t++) {
        f32v x           = operand_load(p->from[t], at, lanes, false, p->is_signed);
        EACH(r) sum.r[r] = sum.r[r] + (x.r[r] - zero) * scale;
    }
    f32v y = p->is_whole ? v_mul(sum, v_set1(p->ratio)) : v_div(v_div(sum, v_set1(p->count)), v_set1(p->y_scale));
    if (p->is_whole)
        quantum_store(made, y, p->y_zero, low);
    else {
        EACH(r) y.r[r] += y_zero;
        bytes_store(made, cut_to(y, low, low + 255), 0, y);
    }
    for (int l = 0; l < lanes; l++) p->out[at + l] = made[l];
}

// The last of several blocks is shifted back so that it ends at the end.
void SHARED(pool_i8)(const HoloPoolI8 *p)
{
    for (int64_t i = 0; i < p->n; i += LANES) {
        int64_t at    = i + LANES > p->n && p->n > LANES ? p->n - LANES : i;
        int     lanes = lanes_left(at, p->n);
        if (lanes < LANES)
            p->is_max ? max_block(p, at, lanes) : mean_block(p, at, lanes);
        else
            p->is_max ? max_block(p, at, LANES) : mean_block(p, at, LANES);
    }
}
