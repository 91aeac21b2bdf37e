// quantize_i8.c - converts to 8-bit integers and back. Each element has the bits of the operator's own eval.
//
// Part of the code uses vectors; the rest is plain loops, which the compiler vectorizes, over pieces that stay in the
// first cache.

enum { PIECE = 64 };

// The nearest whole number, ties to even, of |x| < 2^22: the sum has no room for a fraction.
INL float whole_f32(float x)
{
    const float all = 12582912.0f;
    return (x + all) - all;
}

void SHARED(finish_i8)(const HoloFinishI8 *f)
{
    double  x[PIECE];
    int64_t c_step = f->c_is_one ? 0 : 1, scale_step = f->scale_is_one ? 0 : 1;
    for (int64_t at = 0; at < f->n; at += PIECE) {
        int            count = f->n - at < PIECE ? (int)(f->n - at) : PIECE;
        const int32_t *sums  = f->sums + at;
        for (int i = 0; i < count; i++) x[i] = sums[i];
        for (int i = 0; f->c && i < count; i++) x[i] += f->c[(at + i) * c_step];
        if (f->to == HOLO_FINISH_F32) {
            float *y = (float *)f->out + at;
            for (int i = 0; i < count; i++) y[i] = (float)x[i] * (float)f->scale[(at + i) * scale_step];
            for (int i = 0; f->bias && i < count; i++) y[i] += f->bias[at + i];
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

// ---- LANES bytes and their numbers

INL f32v bytes_load(const uint8_t *p, bool is_signed)
{
    return is_signed ? v_load_i8((const int8_t *)p) : v_load_u8(p);
}

// Rounds numbers within [-383, 383], adds zero and stores them; 0 where y is a NaN. The sum with a large number has no
// bits for a fraction; its low bits are the rounded number.
INL void bytes_store(uint8_t *p, f32v near, int zero, f32v y)
{
    EACH(r)
    n_store_u8(p + r * NATIVE_LANES, ((i32n)(near.r[r] + 12582912.0f) + zero) & (y.r[r] == y.r[r]));
}

INL f32v cut_to(f32v y, float low, float high) // low for a NaN
{
    EACH(r) y.r[r] = n_min(n_max(y.r[r], (f32n){0} + low), (f32n){0} + high);
    return y;
}

// rint(y) + zero, held within the range. Bounds are whole numbers, so it does not matter whether a number is first
// rounded or first held within them.
INL void quantum_store(uint8_t *p, f32v y, int zero, float low)
{
    float least = low - (float)zero;
    bytes_store(p, cut_to(y, least, least + 255), zero, y);
}

// ---- sums of products

// How 16 sums become bytes. `sure`: no ratio is infinite or a NaN.
typedef struct Steps {
    f32v ratio;
    f32n low, high; // less the zero point
    i32n zero;
    bool sure;
} Steps;

INL Steps steps_of(const float *ratio, int zero, bool is_signed)
{
    f32n  none     = {0};
    float least    = (float)((is_signed ? -128 : 0) - zero);
    Steps s        = {.ratio = v_load(ratio), .low = none + least, .high = none + (least + 255), .sure = true};
    s.zero         = (i32n){0} + zero;
    EACH(r) s.sure = s.sure && !n_any(s.ratio.r[r] - s.ratio.r[r] != 0);
    return s;
}

// Only the first `lanes` of the sums.
INL void requantize_store(i32v sum, Steps s, bool sure, uint8_t *out, int lanes)
{
    EACH(r)
    {
        f32n y    = __builtin_convertvector(sum.r[r], f32n) * s.ratio.r[r];
        i32n made = (i32n)(n_min(n_max(y, s.low), s.high) + 12582912.0f) + s.zero;
        if (!sure) made &= y == y;
        n_store_u8_lanes(out + r * NATIVE_LANES, made, lanes - r * NATIVE_LANES);
    }
}

INL void requantize_panel(const HoloRequantize *q, int64_t column, Steps s, bool sure, int lanes)
{
    const int32_t *sums = q->sums + column;
    uint8_t       *out  = q->out + column;
    int64_t        rows = q->rows, sums_row = q->sums_row, out_row = q->out_row;
    for (int64_t i = 0; i < rows; i++, sums += sums_row, out += out_row)
        requantize_store(i_load(sums), s, sure, out, lanes);
}

enum { WIDE = 4 * NATIVE_LANES };

INL void requantize_wide(const HoloRequantize *q, int64_t column, bool is_signed)
{
    const int32_t *sums = q->sums + column;
    uint8_t       *out  = q->out + column;
    int64_t        rows = q->rows, sums_row = q->sums_row, out_row = q->out_row;
    int            zero = q->zero;
    f32n           ratio[4], y[4];
    UNROLL for (int i = 0; i < 4; i++) ratio[i] = *(const f32u *)(q->ratio + column + i * NATIVE_LANES);
    for (int64_t row = 0; row < rows; row++, sums += sums_row, out += out_row) {
        UNROLL for (int i = 0; i < 4; i++)
        {
            i32n sum = (i32n) * (const i32u *)(sums + i * NATIVE_LANES);
            y[i]     = __builtin_convertvector(sum, f32n) * ratio[i];
        }
        n_store_rounded(out, y, zero, is_signed);
    }
}

INL bool wide_is_sure(const float *ratio)
{
    bool sure = true;
    UNROLL for (int i = 0; i < 4; i++)
    {
        f32n r = *(const f32u *)(ratio + i * NATIVE_LANES);
        sure   = sure && !n_any(r - r != 0);
    }
    return sure;
}

void SHARED(requantize_i32)(const HoloRequantize *q)
{
    int64_t j = 0;
    for (; STORE_ROUNDED && j + WIDE <= q->n && wide_is_sure(q->ratio + j); j += WIDE)
        if (q->is_signed)
            requantize_wide(q, j, true);
        else
            requantize_wide(q, j, false);
    for (; j < q->n; j += LANES) {
        Steps s     = steps_of(q->ratio + j, q->zero, q->is_signed);
        int   lanes = lanes_left(j, q->n);
        if (!s.sure)
            requantize_panel(q, j, s, false, lanes);
        else if (lanes == LANES)
            requantize_panel(q, j, s, true, LANES);
        else
            requantize_panel(q, j, s, true, lanes);
    }
}

INL void scale_panel(const HoloScaleI32 *s, int64_t column, bool biased, int lanes)
{
    const int32_t *sums  = s->sums + column;
    float         *out   = s->out + column, made[LANES];
    f32v           scale = v_load(s->scale + column), bias = biased ? v_load(s->bias + column) : v_set1(0);
    for (int64_t i = 0; i < s->rows; i++, sums += s->sums_row, out += s->out_row) {
        i32v sum = i_load(sums);
        f32v y;
        EACH(r)
        {
            y.r[r] = __builtin_convertvector(sum.r[r], f32n) * scale.r[r];
            if (biased) y.r[r] += bias.r[r];
        }
        v_store(lanes < LANES ? made : out, y);
        for (int l = 0; lanes < LANES && l < lanes; l++) out[l] = made[l];
    }
}

void SHARED(scale_i32)(const HoloScaleI32 *s)
{
    for (int64_t j = 0; j < s->n; j += LANES) {
        int lanes = lanes_left(j, s->n);
        if (lanes < LANES)
            scale_panel(s, j, s->bias != NULL, lanes);
        else if (s->bias)
            scale_panel(s, j, true, LANES);
        else
            scale_panel(s, j, false, LANES);
    }
}

// ---- QuantizeLinear and its inverse

void SHARED(quantize_f32)(int64_t n, const float *x, float scale, int zero, bool is_signed, uint8_t *out)
{
    float   low = is_signed ? -128 : 0, rest[LANES] = {0};
    f32v    by = v_set1(scale);
    int64_t i  = 0;
    uint8_t made[LANES];
    for (; i + LANES <= n; i += LANES) quantum_store(out + i, v_div(v_load(x + i), by), zero, low);
    for (int l = 0; l < n - i; l++) rest[l] = x[i + l];
    if (i == n) return;
    quantum_store(made, v_div(v_load(rest), by), zero, low);
    for (int l = 0; l < n - i; l++) out[i + l] = made[l];
}

void SHARED(dequantize_i8)(int64_t n, const uint8_t *x, bool is_signed, int zero, float scale, float *out)
{
    f32v    by = v_set1(scale), shift = v_set1((float)zero);
    int64_t i = 0;
    if (is_signed)
        for (; i + LANES <= n; i += LANES) v_store(out + i, v_mul(v_sub(bytes_load(x + i, true), shift), by));
    else
        for (; i + LANES <= n; i += LANES) v_store(out + i, v_mul(v_sub(bytes_load(x + i, false), shift), by));
    for (; i < n; i++) out[i] = (float)((is_signed ? (int8_t)x[i] : x[i]) - zero) * scale;
}

void SHARED(range_f32)(int64_t n, const float *x, float *low, float *high)
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

void SHARED(float_i32)(int64_t n, const int32_t *x, float *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (float)x[i];
}
