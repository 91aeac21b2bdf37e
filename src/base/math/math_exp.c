// math_exp.c - the exponential function and functions made of it.
//
// x = k ln 2 / 128 + r with an integer k, so that e^x = 2^(k / 128) e^r: the first factor is from a table and a shift
// of the exponent, the second from a short polynomial, as |r| < 0.0028.
#include "base/math/math.h"
#include "base/math/math_core.h"

#include <math.h>

typedef struct Parts {
    HoloPair power; // 2^(k mod 128 / 128); hi is short
    int      exponent;
    double   r, r_lo;
} Parts;

static inline Parts take_apart(double x)
{
    double          shifted = x * holo_exp_step[0] + 0x1.8p52; // the lowest bits are now those of k
    int32_t         k       = (int32_t)(uint32_t)holo_bits_of_f64(shifted);
    double          count   = shifted - 0x1.8p52;
    double          first = x - count * holo_exp_step[1], second = count * holo_exp_step[2], r = first - second;
    const HoloPair *power = &holo_exp_table[k & 127];
    return (Parts){*power, k >> 7, r, (first - r) - second};
}

// e^r - 1 - r
static inline double tail(double r)
{
    const double *c = holo_exp_poly;
    return r * r * ((c[0] + r * c[1]) + r * r * (c[2] + r * c[3]));
}

// e^(x + lo) * 2^n
static inline double exp_scaled(double x, double lo, int n)
{
    Parts  p = take_apart(x);
    double r = p.r + lo, power = p.power.hi + p.power.lo;
    double value = p.power.hi + (p.power.lo + power * (r + tail(r)));
    return scale(value, p.exponent + n);
}

double holo_pair_exp(HoloPair x)
{
    return exp_scaled(x.hi, x.lo, 0);
}

double holo_exp(double x)
{
    if (!(fabs(x) <= 746)) return x > 0 ? INFINITY : x < 0 ? 0 : NAN;
    return exp_scaled(x, 0, 0);
}

// e^x - 1 for |x| <= 40.
static inline HoloPair expm1_pair(double x)
{
    Parts    p     = take_apart(x);
    double   unit  = power_of_two(p.exponent);
    HoloPair power = {p.power.hi * unit, p.power.lo * unit};
    double   r1 = (p.r + 0x1.8p18) - 0x1.8p18, r2 = (p.r - r1) + p.r_lo; // r1 is short
    HoloPair less = add(power.hi, -1);
    HoloPair sum  = add_small(less.hi, power.hi * r1);
    double   lo   = power.lo + (power.hi * r2 + power.lo * p.r) + (power.hi + power.lo) * tail(p.r);
    return add_small(sum.hi, sum.lo + (less.lo + lo));
}

double holo_expm1(double x)
{
    if (!(fabs(x) <= 40)) return x < 0 ? -1 : holo_exp(x);
    if (fabs(x) < 0x1p-54) return x;
    HoloPair y = expm1_pair(x);
    return y.hi + y.lo;
}

double holo_sigmoid(double x)
{
    double e = holo_exp(-fabs(x));
    return (x < 0 ? e : 1) / (1 + e);
}

// tanh x = tanh(c + r) = t + (1 - t^2) tanh r / (1 + t tanh r), where t = tanh c and c is the center of the cell of x.
double holo_tanh(double x)
{
    double a = fabs(x);
    if (!(a < 20)) return x != x ? NAN : copysign(1, x);
    int64_t             lowest = (int64_t)(holo_bits_of_f64(0x1p-4) >> 48); // a cell is the exponent and 4 more bits
    int64_t             i      = (int64_t)(holo_bits_of_f64(a) >> 48) - lowest + 1;
    const HoloTanhCell *cell   = &holo_tanh_table[i > 0 ? i : 0];
    const double       *c      = holo_tanh_poly;
    double              r = a - cell->middle, s = r * r;
    double              y = r + r * s * ((c[0] + s * c[1]) + s * s * ((c[2] + s * c[3]) + s * s * c[4])); // tanh r
    return copysign(cell->hi + (cell->lo + cell->slope * y / (1 + cell->hi * y)), x);
}

// e^x / 2 for x >= 0.
static inline double half_exp(double x)
{
    return x <= 746 ? exp_scaled(x, 0, -1) : x > 0 ? INFINITY : NAN;
}

double holo_sinh(double x)
{
    if (!(fabs(x) <= 40)) return x < 0 ? -half_exp(-x) : half_exp(x);
    if (fabs(x) < 0x1p-28) return x;
    HoloPair less = expm1_pair(fabs(x)), e = add(less.hi, 1);
    e.lo += less.lo;
    HoloPair q = divide(less, e), sum = add(less.hi, q.hi); // 1 - 1 / e, e - 1 / e
    return copysign(0.5 * (sum.hi + (sum.lo + (less.lo + q.lo))), x);
}

double holo_cosh(double x)
{
    double half = half_exp(fabs(x));
    return half + 0.25 / half;
}
