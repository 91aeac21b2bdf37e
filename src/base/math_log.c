// math_log.c - the logarithm, powers, and the functions made of them.
//
// x = 2^k z with z about 1, in one of 128 cells. A cell knows a number c of 11 bits near 1 / z, so that r = z c - 1 is
// small and nearly exact, and log x = k ln 2 - log c + log(1 + r): two numbers of a table and a polynomial.
#include "base/math.h"
#include "base/math_core.h"

#include <math.h>

typedef struct Place {
    const HoloLogCell *cell;
    int                k;
    double             z1, z2; // z in two parts, z1 being short
} Place;

// The place of a normal x > 0.
static inline Place find_place(double x)
{
    uint64_t bits  = double_bits(x);
    uint64_t above = bits - double_bits(0.6875); // its upper 12 bits are k, the next 7 the cell
    uint64_t z     = bits - (above & UINT64_C(0xFFF) << 52);
    double   z1    = double_from_bits(z & UINT64_C(0xFFFFFFFF00000000));
    return (Place){&holo_log_table[above >> 45 & 127], (int)((int64_t)above >> 52), z1, double_from_bits(z) - z1};
}

// (log(1 + r) - r + r^2 / 2) / r^3
static inline double tail(double r)
{
    const double *c = holo_log_poly;
    double        s = r * r;
    return (c[0] + r * c[1]) + s * ((c[2] + r * c[3]) + s * ((c[4] + r * c[5]) + s * c[6]));
}

// z c - 1
static inline double distance(Place p)
{
    return (p.z1 * p.cell->inverse - 1) + p.z2 * p.cell->inverse;
}

// The logarithm of what lies at a distance of r + r_lo in the cell of p.
static inline double log_at(Place p, double r, double r_lo)
{
    HoloPair sum = add_small(p.k * holo_log_ln2[0] + p.cell->hi, r);
    double   lo  = p.k * holo_log_ln2[1] + p.cell->lo;
    return sum.hi + (sum.lo + (lo + (r_lo + r * r * (r * tail(r) - 0.5))));
}

// log(1 + u) for 2^-60 < |u| < 2^60.
static inline double log1p_pair(HoloPair u)
{
    HoloPair x = add(1, u.hi);
    Place    p = find_place(x.hi);
    HoloPair r = add(distance(p), (x.lo + u.lo) * (p.cell->inverse * power_of_two(-p.k)));
    return log_at(p, r.hi, r.lo);
}

// log x for a normal x > 0, but for about 2^-66 of it.
static inline HoloPair log_pair(double x)
{
    Place              p  = find_place(x);
    const HoloLogCell *c  = p.cell;
    HoloPair           r  = add(p.z1 * c->inverse - 1, p.z2 * c->inverse);
    double             r1 = (r.hi + 0x1.8p19) - 0x1.8p19, r2 = r.hi - r1; // r1 is short
    HoloPair           a  = add_small(p.k * holo_log_ln2[0] + c->hi, r.hi);
    HoloPair           b  = add_small(a.hi, -0.5 * r1 * r1);
    double             lo = (p.k * holo_log_ln2[1] + c->lo) + (r.lo - r.lo * r.hi) - 0.5 * r2 * (r.hi + r1);
    return add_small(b.hi, a.lo + b.lo + (lo + r.hi * r.hi * r.hi * tail(r.hi)));
}

// log x for an x that is not a normal positive number.
static double log_special(double x)
{
    if (!(x > 0 && x < DBL_MIN)) return x == 0 ? -INFINITY : x > 0 ? INFINITY : NAN;
    Place p = find_place(x * 0x1p54);
    p.k -= 54;
    return log_at(p, distance(p), 0);
}

static inline bool is_normal(double x)
{
    return x >= DBL_MIN && x <= DBL_MAX;
}

double holo_log(double x)
{
    if (!is_normal(x)) return log_special(x);
    Place p = find_place(x);
    return log_at(p, distance(p), 0);
}

double holo_log1p(double x)
{
    if (!(x > -1 && x < 0x1p60)) return x > 0 ? holo_log(x) : log_special(x + 1);
    if (fabs(x) < 0x1p-54) return x;
    HoloPair sum = add(1, x);
    Place    p   = find_place(sum.hi);
    return log_at(p, distance(p) + sum.lo * (p.cell->inverse * power_of_two(-p.k)), 0);
}

double holo_log10(double x)
{
    if (!is_normal(x)) return x > 0 && x < DBL_MIN ? holo_log10(x * 0x1p200) - 200 * 0.3 : log_special(x);
    HoloPair y = log_pair(x), product = multiply(y.hi, holo_log10_e[0]);
    return product.hi + (product.lo + (y.lo * holo_log10_e[0] + y.hi * holo_log10_e[1]));
}

double holo_softplus(double x)
{
    return fmax(x, 0) + holo_log1p(holo_exp(-fabs(x)));
}

// ---- inverse hyperbolic functions

// log(2 x) for x >= 1.
static double log_double(double x)
{
    if (!(x <= DBL_MAX)) return log_special(x);
    Place p = find_place(x);
    p.k++;
    return log_at(p, distance(p), 0);
}

double holo_asinh(double x)
{
    double a = fabs(x);
    if (a < 0x1p-27) return x;
    if (!(a < 0x1p28)) return copysign(log_double(a), x);
    HoloPair square = multiply(a, a), sum = add(square.hi, 1);
    HoloPair root = holo_pair_sqrt(add(sum.hi, sum.lo + square.lo));
    HoloPair less = add(a, root.hi - 1); // a + root - 1
    less.lo += root.lo;
    return copysign(log1p_pair(less), x);
}

double holo_acosh(double x)
{
    if (!(x > 1)) return x == 1 ? 0 : NAN;
    if (!(x < 0x1p28)) return log_double(x);
    double   less   = x - 1; // exactly
    HoloPair more   = add(x, 1);
    HoloPair square = multiply(less, more.hi);
    square.lo += less * more.lo;
    HoloPair root = holo_pair_sqrt(square), sum = add(less, root.hi);
    sum.lo += root.lo;
    return log1p_pair(sum);
}

double holo_atanh(double x)
{
    double a = fabs(x);
    if (a < 0x1p-28) return x;
    if (!(a < 1)) return a == 1 ? copysign(INFINITY, x) : NAN;
    return copysign(0.5 * log1p_pair(divide((HoloPair){2 * a, 0}, add(1, -a))), x); // log((1 + a) / (1 - a)) / 2
}
