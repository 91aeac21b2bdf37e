// vec_math.h - functions of sixteen floats: exponentials, logarithms, powers, angles.
//
// Errors are within 3 ulp. NaN stays NaN, and special values are those of C99, except that some functions give 0 where
// the result would not be a normal number. Parts that need more precision than float has are computed in double with +
// - * / alone: these have the same bits in both classes.
#ifndef HOLO_KERNELS_VEC_VEC_MATH_H
#define HOLO_KERNELS_VEC_VEC_MATH_H

#include "base/math/math.h"
#include "kernels/vec/vec.h"

// ---- exponentials

// e^r for |r| <= ln(2) / 2 is 1 plus a polynomial in r, whose highest coefficient comes first. ln 2 is high + low;
// `high` times a whole number below 256 is exact.
typedef struct ExpParts {
    float poly[6], high, low;
} ExpParts;

// These numbers and their order determine the bits of class fused: see tests/unit/kernels/fused_bits_test.c.
static const ExpParts EXP = {{0x1.694000p-10f, 0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.555450p-3f, 0x1.fffff6p-2f, 1},
                             6.93145752e-1f,
                             1.42860677e-6f};
static const ExpParts EXP_IN_ERF = {{1.38319808e-3f, 8.37550033e-3f, 4.16689515e-2f, 1.66664466e-1f, 4.99999851e-1f, 1},
                                    6.93145752e-1f,
                                    1.42860677e-6f};
// The polynomial with the least maximal relative error: 2e-9.
static const ExpParts EXP_IN_SIGMOID = {
    {1.38368090e-3f, 8.37482122e-3f, 4.16682265e-2f, 1.66664201e-1f, 4.99999921e-1f, 1.00000004f},
    0.693359375f,
    -2.12194440e-4f};

// 1.5 * 2^23: a number that is added to it is rounded to a whole number, which is in the last bits of the sum.
#define WHOLE ((f32n){0} + 12582912.0f)

// WHOLE and y / ln 2.
INL f32n n_exp_whole(f32n y)
{
    return n_mad(y, (f32n){0} + 1.44269504f, WHOLE);
}

// Functions of `count` vectors compute these side by side. The chains are so long that a CPU does not look far enough
// ahead to find the next one by itself.
enum { ABREAST = 4 };
#define EACH_ABREAST(i) UNROLL for (int i = 0; i < count; i++)

// y becomes e^y * 2^-n for a whole n near y / ln 2: between 0.7 and 1.42.
INL void n_exp_near_each(int count, f32n *y, const f32n *n, const ExpParts *by)
{
    const f32n zero = {0};
    f32n       e[ABREAST];
    EACH_ABREAST(i) y[i]                                    = n_mad(n[i], zero - by->high, y[i]);
    EACH_ABREAST(i) y[i]                                    = n_mad(n[i], zero - by->low, y[i]);
    EACH_ABREAST(i) e[i]                                    = n_mad(y[i], zero + by->poly[0], zero + by->poly[1]);
    UNROLL for (int k = 2; k < 6; k++) EACH_ABREAST(i) e[i] = n_mad(e[i], y[i], zero + by->poly[k]);
    EACH_ABREAST(i) y[i]                                    = n_mad(e[i], y[i], zero + 1.0f);
}

INL f32n n_exp_near(f32n y, f32n n, const ExpParts *by)
{
    n_exp_near_each(1, &y, &n, by);
    return y;
}

// e^y if that is a normal number.
INL f32n n_exp_normal(f32n y, const ExpParts *by)
{
    f32n t = n_exp_whole(y);
    return (f32n)((u32n)n_exp_near(y, t - WHOLE, by) + ((u32n)t << 23));
}

// e^x for x <= 0 or NaN; 0 where the result would not be a normal number.
INL f32n n_exp_down(f32n x)
{
    return n_select(x >= -87.33654f, n_exp_normal(x, &EXP), n_max((f32n){0}, x));
}

// e^x for any x. The power of two is applied in two halves, so that neither leaves the normal numbers.
INL f32n n_exp(f32n x)
{
    const f32n zero  = {0};
    f32n       y     = n_max(n_min(x, zero + 89), zero - 104); // a NaN becomes 89 here
    f32n       whole = n_exp_whole(y) - WHOLE;
    i32n       n = __builtin_convertvector(whole, i32n), half = n >> 1;
    f32n       e = n_exp_near(y, whole, &EXP);
    e            = e * (f32n)((half + 127) << 23) * (f32n)((n - half + 127) << 23);
    return n_select(x == x, e, x);
}

// x becomes 1 + e^x; from 2^126 on it may be infinite. n_scale handles results that are too large, so x must only be
// small enough for r.
INL void n_falling_sum_each(int count, f32n *x)
{
    const f32n zero = {0};
    f32n       n[ABREAST];
    if (SCALES) {
        EACH_ABREAST(i) x[i] = n_max(zero - 128.0f, n_min(zero + 128.0f, x[i])); // a NaN stays
        EACH_ABREAST(i) n[i] = n_exp_whole(x[i]) - WHOLE;
        n_exp_near_each(count, x, n, &EXP);
        EACH_ABREAST(i) x[i] = 1.0f + n_scale(x[i], n[i]);
        return;
    }
    EACH_ABREAST(i)
    {
        f32n e = n_exp_normal(n_max(zero - 87.0f, x[i]), &EXP_IN_SIGMOID);
        x[i] =
            n_select(x[i] <= 87.33654f, 1.0f + e, n_max(zero + __builtin_inff(), x[i])); // a NaN is not in, and stays
    }
}

INL f32n n_falling_sum(f32n x)
{
    n_falling_sum_each(1, &x);
    return x;
}

// 1 / (1 + e^x)
INL f32n n_falling(f32n x)
{
    return 1.0f / n_falling_sum(x);
}

INL f32n n_sigmoid(f32n x)
{
    return n_falling(-x);
}

// x / (1 + e^(-slope * x))
INL void n_swish_each(int count, f32n *x, float slope)
{
    f32n sum[ABREAST];
    EACH_ABREAST(i) sum[i] = x[i] * -slope;
    n_falling_sum_each(count, sum);
    EACH_ABREAST(i) x[i] = n_quotient(x[i], sum[i]);
}

INL f32n n_swish(f32n x, float slope)
{
    n_swish_each(1, &x, slope);
    return x;
}

INL f32v v_swish(f32v x, float slope)
{
    EACH(i) x.r[i] = n_swish(x.r[i], slope);
    return x;
}

// E / (E + 2) with E = e^(2|x|) - 1 = 2^n (e^r - 1) + (2^n - 1), which is exact enough near 0 too. From 10 on the
// result is 1.
INL f32n n_tanh(f32n x)
{
    const f32n zero = {0}, whole = zero + 12582912.0f; // 1.5 * 2^23, as in exponentials
    f32n       y = n_min(zero + 20.0f, n_abs(x + x)), t = n_mad(y, zero + 1.44269504f, whole), n = t - whole;
    f32n       r = n_mad(n, zero - 0.693147182f, y); // what ln 2 lacks here matters only where the result is near 1
    f32n       p = n_mad(r, zero + 1.98458827e-4f, zero + 1.39407201e-3f);
    p            = n_mad(p, r, zero + 8.33338958e-3f);
    p            = n_mad(p, r, zero + 4.16663598e-2f);
    p            = n_mad(p, r, zero + 1.66666664e-1f);
    p            = n_mad(p, r, zero + 0.5f);
    f32n power   = (f32n)(((u32n)t << 23) + 0x3f800000);
    f32n e       = n_mad(power, n_mad(p * r, r, r), power - 1.0f);
    return n_with_sign_of(e / (e + 2.0f), x);
}

// Near 0 a polynomial in x^2; beyond, 1 - e^-q(|x|), which is 1 from 3.925 on. A NaN is not beyond.
INL f32n n_erf(f32n x)
{
    const f32n zero = {0};
    f32n       a = n_min(zero + 3.925f, n_abs(x)), s = a * a;
    f32n       p = n_mad(s, zero - 5.99104969e-4f, zero + 4.99339588e-3f);
    p            = n_mad(p, s, zero - 2.67667342e-2f);
    p            = n_mad(p, s, zero + 1.12818025e-1f);
    p            = n_mad(p, s, zero - 3.76124859e-1f);
    p            = n_mad(p, s, zero + 1.28379151e-1f);
    f32n q       = n_mad(a, zero + 1.72948930e-5f, zero - 3.83208680e-4f);
    q            = n_mad(q, a, zero + 3.88393435e-3f);
    q            = n_mad(q, a, zero - 2.42545605e-2f);
    q            = n_mad(q, a, zero + 1.06777847e-1f);
    q            = n_mad(q, a, zero + 6.34846687e-1f);
    q            = n_mad(q, a, zero + 1.28717512e-1f);
    f32n far     = 1.0f - n_exp_normal(-n_mad(q, a, a), &EXP_IN_ERF);
    return n_with_sign_of(n_select(a > 0.921875f, far, n_mad(p, a, a)), x);
}

INL f32v v_exp_down(f32v x)
{
    EACH(i) x.r[i] = n_exp_down(x.r[i]);
    return x;
}

// ---- whole numbers

INL f32n n_ceil(f32n x)
{
    return -n_floor(-x);
}

INL f32n n_sign(f32n x)
{
    const f32n zero = {0};
    return n_select(x > 0, zero + 1.0f, n_select(x < 0, zero - 1.0f, x));
}

// ---- logarithms

// For normal numbers above 0: x = 2^k (1 + t) with sqrt(1/2) <= 1 + t < sqrt(2).
INL f32n n_log_normal(f32n x, f32n k)
{
    const f32n zero = {0};
    u32n       bits = (u32n)x + (0x3f800000 - 0x3f3504f3);
    f32n       t = (f32n)((bits & 0x7fffff) + 0x3f3504f3) - 1.0f, s = t * t;
    k += (f32n)((bits >> 23) | 0x4b000000) - 0x1.0000fep23f; // the exponent as a number, less 2^23 + 127
    f32n p = n_mad(t, zero - 7.63449371e-2f, zero + 1.27615750e-1f);
    p      = n_mad(p, t, zero - 1.31601825e-1f);
    p      = n_mad(p, t, zero + 1.42017588e-1f);
    p      = n_mad(p, t, zero - 1.66233569e-1f);
    p      = n_mad(p, t, zero + 2.00012267e-1f);
    p      = n_mad(p, t, zero - 2.50008196e-1f);
    p      = n_mad(p, t, zero + 3.33333313e-1f);
    p      = n_mad(p * s, t, k * -2.12194440e-4f); // ln 2 in two parts, as in n_exp_near
    return n_mad(k, zero + 0.693359375f, t + n_mad(s, zero - 0.5f, p));
}

INL f32n n_log(f32n x)
{
    const f32n zero = {0}, top = zero + __builtin_inff();
    i32n       small = x < 0x1p-126f;
    f32n       y     = n_log_normal(n_select(small, x * 0x1p23f, x), n_select(small, zero - 23.0f, zero));
    f32n       other = n_select(x == 0, -top, n_select(x < 0, zero + __builtin_nanf(""), x));
    return n_select((x > 0) & (x < top), y, other);
}

// log(1 + e^x). What 1 + e loses of e is so small that the first term of the series corrects it.
INL f32n n_softplus(f32n x)
{
    f32n e = n_exp(-n_abs(x)), sum = 1.0f + e;
    f32n log = n_log_normal(sum, (f32n){0}) + (e - (sum - 1.0f)) / sum;
    return n_max((f32n){0}, x) + log;
}

// ---- powers

// log2 of normal doubles above 0, accurate to 39 bits.
INL f64n d_log2(f64n x)
{
    u64n bits = (u64n)x + (0x3ff0000000000000 - 0x3fe6a09e00000000); // as in n_log_normal
    f64n m    = (f64n)((bits & 0xfffffffffffff) + 0x3fe6a09e00000000);
    f64n k    = (f64n)((bits >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    f64n s = (m - 1) / (m + 1), z = s * s;
    f64n p = z * (1.0 / 13) + 1.0 / 11;
    p      = p * z + 1.0 / 9;
    p      = p * z + 1.0 / 7;
    p      = p * z + 1.0 / 5;
    p      = p * z + 1.0 / 3;
    p      = p * z + 1;
    return p * s * 2.8853900817779268 + k; // 2 / ln 2
}

// 2^x for |x| <= 1000, accurate to 32 bits.
INL f64n d_exp2(f64n x)
{
    f64n t = x + 0x1.8p52, r = (x - (t - 0x1.8p52)) * 0.6931471805599453;
    f64n p = r * (1.0 / 40320) + 1.0 / 5040;
    p      = p * r + 1.0 / 720;
    p      = p * r + 1.0 / 120;
    p      = p * r + 1.0 / 24;
    p      = p * r + 1.0 / 6;
    p      = p * r + 0.5;
    p      = p * r + 1;
    p      = p * r + 1;
    return (f64n)((u64n)p + ((u64n)t << 52));
}

// x^y for x > 0, both finite.
INL f32n n_pow_plain(f32n x, f32n y)
{
    const f32n zero = {0};
    f64w       base = n_widen(x), power = n_widen(y);
    for (int i = 0; i < 2; i++) power.half[i] *= d_log2(base.half[i]);
    f32n size = n_narrow(power);
    for (int i = 0; i < 2; i++) power.half[i] = d_exp2(power.half[i]);
    f32n z = n_select(size > 200, zero + __builtin_inff(), n_narrow(power));
    return n_select(size < -200, zero, z);
}

INL f32n n_pow(f32n x, f32n y)
{
    const f32n zero = {0}, top = zero + __builtin_inff(), half = y * 0.5f, size = n_abs(x);
    i32n       is_end = (size == 0) | (size == top), is_whole = n_round(y) == y;
    i32n       is_odd = is_whole & (n_round(half) != half);
    f32n       z      = n_pow_plain(n_select(is_end, zero + 1.0f, size), n_max(n_min(y, zero + 3e38f), zero - 3e38f));
    z                 = n_select(is_end, n_select((size == 0) == (y < 0), top, zero), z);
    z                 = n_with_sign_of(z, n_select(is_odd, x, zero));
    z                 = n_select((x < 0) & (x > -top) & ~is_whole, zero + __builtin_nanf(""), z);
    z                 = n_select((x == x) & (y == y), z, x + y);
    return n_select((y == 0) | (x == 1.0f), zero + 1.0f, z);
}

// ---- angles

// x minus the nearest multiple of pi / 2, for |x| <= 2^20; the last two bits of `quarter` say which multiple it is. The
// first part of pi / 2 has 33 bits, so that its multiples are exact.
INL f32n n_turn(f32n x, u32n *quarter)
{
    f64w w = n_widen(x), n;
    for (int i = 0; i < 2; i++) {
        n.half[i] = w.half[i] * 0.6366197723675814 + 0x1.8p52 - 0x1.8p52;
        w.half[i] = w.half[i] - n.half[i] * 1.57079632673412561 - n.half[i] * 6.0771005065061922e-11;
    }
    *quarter = (u32n)(n_narrow(n) + 12582912.0f);
    return n_narrow(w);
}

INL f32n n_sin_near(f32n r, f32n s) // of |r| <= pi / 4; s is its square
{
    const f32n zero = {0};
    f32n       p    = n_mad(s, zero - 1.95136236e-4f, zero + 8.33214913e-3f);
    f32n       size = n_abs(r);
    return n_with_sign_of(n_mad(n_mad(p, s, zero - 1.66666538e-1f) * s, size, size), r);
}

INL f32n n_cos_near(f32n s)
{
    const f32n zero = {0};
    f32n       p    = n_mad(s, zero + 2.44312614e-5f, zero - 1.38873002e-3f);
    return n_mad(n_mad(p, s, zero + 4.16666456e-2f), s * s, n_mad(s, zero - 0.5f, zero + 1.0f));
}

// y, but f(x) where |x| is `far` or more.
INL f32n n_or_far(f32n y, f32n x, float far, double (*f)(double))
{
    i32n is_far = n_abs(x) >= far;
    if (!n_any(is_far)) return y;
    for (int l = 0; l < NATIVE_LANES; l++)
        if (is_far[l]) y[l] = (float)f((double)x[l]);
    return y;
}

// |x| minus the nearest multiple of pi / 2, which is in four parts, the first three with few bits; and which multiple
// it is. Sines and cosines have the same bits in both classes: nothing is fused.
INL f32n n_turn_down(f32n x, u32n *quarter)
{
    f32n r = n_abs(x), t = r * 0.636619747f + WHOLE, n = t - WHOLE;
    *quarter = (u32n)t;
    r        = r - n * 1.5703125f;
    r        = r - n * 4.83989716e-4f;
    r        = r + n * 1.62865035e-7f;
    return r + n * 5.56443155e-11f;
}

INL f32n n_sin_down(f32n r, f32n s)
{
    return ((s * -1.95923411e-4f + 8.33268737e-3f) * s - 0.166666620f) * s * r + r;
}

INL f32n n_cos_down(f32n s)
{
    return (((s * 2.43722661e-5f - 1.38865202e-3f) * s + 4.16666195e-2f) * s - 0.5f) * s + 1.0f;
}

INL f32n n_sin(f32n x)
{
    u32n quarter;
    f32n r = n_turn_down(x, &quarter), s = r * r;
    f32n y = n_select((i32n)((quarter & 1) != 0), n_cos_down(s), n_sin_down(r, s));
    y      = (f32n)((u32n)y ^ (((quarter << 30) ^ (u32n)x) & 0x80000000u));
    return n_or_far(y, x, 25966.0f, holo_sin);
}

INL f32n n_cos(f32n x)
{
    u32n quarter;
    f32n r = n_turn_down(x, &quarter), s = r * r;
    f32n y = n_select((i32n)((quarter & 1) != 0), n_sin_down(r, s), n_cos_down(s));
    y      = (f32n)((u32n)y ^ (((quarter + 1) << 30) & 0x80000000u));
    return n_or_far(y, x, 18838.0f, holo_cos);
}

INL f32n n_tan(f32n x)
{
    u32n quarter;
    f32n r = n_turn(x, &quarter), s = r * r, sine = n_sin_near(r, s), cosine = n_cos_near(s);
    i32n is_odd = (i32n)((quarter & 1) != 0);
    return n_or_far(n_select(is_odd, -cosine, sine) / n_select(is_odd, sine, cosine), x, 0x1p20f, holo_tan);
}

INL f32n n_atan(f32n x)
{
    const f32n zero = {0}, size = n_abs(x);
    i32n       is_far = size > 1.0f;
    f32n       t = n_select(is_far, 1.0f / size, size), s = t * t;
    f32n       p = n_mad(s, zero + 2.92069116e-3f, zero - 1.63679235e-2f);
    p            = n_mad(p, s, zero + 4.32118513e-2f);
    p            = n_mad(p, s, zero - 7.55221322e-2f);
    p            = n_mad(p, s, zero + 1.06660038e-1f);
    p            = n_mad(p, s, zero - 1.42110556e-1f);
    p            = n_mad(p, s, zero + 1.99937731e-1f);
    p            = n_mad(p, s, zero - 3.33331525e-1f);
    f32n y       = n_mad(p * s, t, t);
    return n_with_sign_of(n_select(is_far, 1.57079637f - y, y), x);
}

// The arcsine of |x| up to a half, and beyond it of sqrt((1 - |x|) / 2): half the arccosine.
INL f32n n_asin_near(f32n x, i32n *is_far)
{
    const f32n zero = {0}, size = n_abs(x);
    *is_far = size > 0.5f;
    f32n s  = n_select(*is_far, (1.0f - size) * 0.5f, size * size);
    f32n t  = n_select(*is_far, n_sqrt(s), size);
    f32n p  = n_mad(s, zero + 4.21663038e-2f, zero + 2.41795164e-2f);
    p       = n_mad(p, s, zero + 4.54703756e-2f);
    p       = n_mad(p, s, zero + 7.49529749e-2f);
    p       = n_mad(p, s, zero + 1.66667521e-1f);
    return n_mad(p * s, t, t);
}

INL f32n n_asin(f32n x)
{
    i32n is_far;
    f32n y = n_asin_near(x, &is_far);
    return n_with_sign_of(n_select(is_far, 1.57079637f - 2.0f * y, y), x);
}

INL f32n n_acos(f32n x)
{
    i32n is_far;
    f32n y   = n_asin_near(x, &is_far);
    f32n far = n_select(x < 0, 3.14159274f - 2.0f * y, 2.0f * y);
    return n_select(is_far, far, 1.57079637f - n_with_sign_of(y, x));
}

#endif
