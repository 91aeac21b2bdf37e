// quantize_i8.c - to 8-bit integers and back: each element by the formula of the operators' own eval, bit by bit.
//
// Plain loops over pieces that stay in registers or the first cache; the compiler makes vectors of them.

enum { PIECE = 64 };

// The nearest whole number, ties to even, of |x| < 2^22: the sum has no room for a fraction.
INL float whole_f32(float x)
{
    const float all = 12582912.0f;
    return (x + all) - all;
}

static void finish_i8(const HoloFinishI8 *f)
{
    double  x[PIECE];
    int64_t c_step = f->c_is_one ? 0 : 1, scale_step = f->scale_is_one ? 0 : 1;
    for (int64_t at = 0; at < f->n; at += PIECE) {
        int            count = f->n - at < PIECE ? (int)(f->n - at) : PIECE;
        const int32_t *sums  = f->sums + at;
        for (int i = 0; i < count; i++) x[i] = sums[i];
        for (int i = 0; f->c && i < count; i++) x[i] += f->c[(at + i) * c_step];
        if (f->to == HOLO_FINISH_F32) {
            for (int i = 0; i < count; i++) x[i] *= f->scale[(at + i) * scale_step];
            for (int i = 0; f->bias && i < count; i++) x[i] += (double)f->bias[at + i];
            for (int i = 0; i < count; i++) ((float *)f->out)[at + i] = (float)x[i];
            continue;
        }
        float low = f->to == HOLO_FINISH_I8 ? -128 : 0, high = low + 255, shift = (float)f->y_zero;
        for (int i = 0; i < count; i++) {
            float y    = (float)x[i] * ((float)f->scale[(at + i) * scale_step] / (float)f->y_scale);
            float near = y > -1024 ? y : y <= -1024 ? -1024 : 0; // 0 for a NaN
            near       = whole_f32(near < 1024 ? near : 1024) + shift;
            near       = near > low ? near : low;
            x[i]       = y != y ? 0 : near < high ? near : high;
        }
        for (int i = 0; i < count; i++) ((uint8_t *)f->out)[at + i] = (uint8_t)(int32_t)x[i];
    }
}

static void quantize_f32(int64_t n, const float *x, float scale, int zero, bool is_signed, uint8_t *out)
{
    float low = is_signed ? -128 : 0, high = low + 255, shift = (float)zero;
    for (int64_t i = 0; i < n; i++) {
        float y = x[i] / scale, near = y > -1024 ? y : -1024;
        near   = whole_f32(near < 1024 ? near : 1024) + shift;
        near   = near > low ? near : low;
        near   = near < high ? near : high;
        near   = y == y ? near : 0;
        out[i] = (uint8_t)(int32_t)near;
    }
}

static void dequantize_i8(int64_t n, const uint8_t *x, bool is_signed, int zero, float scale, float *out)
{
    if (is_signed)
        for (int64_t i = 0; i < n; i++) out[i] = (float)((int8_t)x[i] - zero) * scale;
    else
        for (int64_t i = 0; i < n; i++) out[i] = (float)(x[i] - zero) * scale;
}

static void range_f32(int64_t n, const float *x, float *low, float *high)
{
    f32v    least = v_set1(*low), most = v_set1(*high);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        f32v v             = v_load(x + i);
        EACH(r) least.r[r] = n_min(v.r[r], least.r[r]);
        most               = v_max(v, most);
    }
    float lows[LANES], highs[LANES];
    v_store(lows, least);
    v_store(highs, most);
    for (int l = 0; l < LANES; l++) {
        *low  = lows[l] < *low ? lows[l] : *low;
        *high = highs[l] > *high ? highs[l] : *high;
    }
    for (; i < n; i++) {
        *low  = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
    }
}

static void float_i32(int64_t n, const int32_t *x, float *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (float)x[i];
}
