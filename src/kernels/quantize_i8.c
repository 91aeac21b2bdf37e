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

// Within the type; 0 for a NaN.
INL uint8_t quantum(float y, float shift, float low)
{
    float near = y > -1024 ? y : -1024;
    near       = whole_f32(near < 1024 ? near : 1024) + shift;
    near       = near > low ? near : low;
    near       = near < low + 255 ? near : low + 255;
    near       = y == y ? near : 0;
    return (uint8_t)(int32_t)near;
}

// `count` of them, LANES at most. The compiler makes one vector of each loop over LANES.
INL void requantise_lanes(const int32_t *sums, const float *ratio, int count, float shift, float low, uint8_t *out)
{
    int32_t sum[LANES] = {0};
    float   by[LANES]  = {0};
    uint8_t made[LANES];
    for (int l = 0; l < count; l++) sum[l] = sums[l], by[l] = ratio[l];
    for (int l = 0; l < LANES; l++) made[l] = quantum((float)sum[l] * by[l], shift, low);
    for (int l = 0; l < count; l++) out[l] = made[l];
}

static void requantise_i32(int64_t n, const int32_t *sums, const float *ratio, int zero, bool is_signed, uint8_t *out)
{
    float   low = is_signed ? -128 : 0, shift = (float)zero;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) requantise_lanes(sums + i, ratio + i, LANES, shift, low, out + i);
    if (i < n) requantise_lanes(sums + i, ratio + i, (int)(n - i), shift, low, out + i);
}

// A whole number below 2^24, whatever was there.
INL int32_t whole_i32(float x)
{
    const float most = 16777216;
    x                = x > -most ? x : -most;
    return (int32_t)(x < most ? x : most);
}

static void requantise_f32(int64_t n, const float *sums, const int32_t *more, const float *ratio, int zero,
                           bool is_signed, uint8_t *out)
{
    float low = is_signed ? -128 : 0, shift = (float)zero;
    for (int64_t i = 0; i < n; i += LANES) {
        int     count = lanes_left(i, n);
        int32_t whole[LANES];
        float   sum[LANES] = {0};
        int32_t add[LANES] = {0};
        for (int l = 0; l < count; l++) sum[l] = sums[i + l], add[l] = more[i + l];
        for (int l = 0; l < LANES; l++) whole[l] = (int32_t)((uint32_t)whole_i32(sum[l]) + (uint32_t)add[l]);
        requantise_lanes(whole, ratio + i, count, shift, low, out + i);
    }
}

static void quantize_f32(int64_t n, const float *x, float scale, int zero, bool is_signed, uint8_t *out)
{
    float low = is_signed ? -128 : 0, shift = (float)zero;
    for (int64_t i = 0; i < n; i++) out[i] = quantum(x[i] / scale, shift, low);
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
