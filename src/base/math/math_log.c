// math_log.c - the logarithm, powers, and functions made of them.
//
// x = 2^k z with z near 1, in one of 128 cells with center c. So log x = k ln 2 + log c + log(1 + r), where r = (z - c)
// / c is small: two numbers of a table and a polynomial.
#include "base/math/math.h"
#include "base/math/math_core.h"

#include <math.h>

typedef struct Place {
    const HoloLogCell *cell;
    int                k;
    double             z;
} Place;

// The place of a normal x > 0.
static inline Place find_place(double x)
{
    uint64_t bits  = holo_bits_of_f64(x);
    uint64_t above = bits - holo_bits_of_f64(0.6875); // its upper 12 bits are k, the next 7 the cell
    double   z     = holo_f64_of_bits(bits - (above & UINT64_C(0xFFF) << 52));
    return (Place){&holo_log_table[above >> 45 & 127], (int)((int64_t)above >> 52), z};
}

static inline bool is_normal(double x)
{
    return holo_bits_of_f64(x) - holo_bits_of_f64(DBL_MIN) <= holo_bits_of_f64(DBL_MAX) - holo_bits_of_f64(DBL_MIN);
}

// The logarithm at a distance of r from the center of the cell of p, plus lo.
static inline double log_at(Place p, double r, double lo)
{
    const double *c    = holo_log_poly;
    double        s    = r * r;
    double        tail = s * (r * ((c[0] + r * c[1]) + s * ((c[2] + r * c[3]) + s * c[4])) - 0.5);
    HoloPair      sum  = add_small(p.k * holo_log_ln2[0] + p.cell->hi, r);
    return sum.hi + (sum.lo + ((p.k * holo_log_ln2[1] + lo) + tail));
}

static inline double log_of(Place p)
{
    return log_at(p, (p.z - p.cell->middle) * p.cell->inverse, p.cell->lo);
}

// log(1 + u) for 2^-60 < |u| < 2^60.
static inline double log1p_pair(HoloPair u)
{
    HoloPair x = add(1, u.hi);
    Place    p = find_place(x.hi);
    HoloPair z = add(p.z - p.cell->middle, (x.lo + u.lo) * power_of_two(-p.k));
    return log_at(p, z.hi * p.cell->inverse, z.lo * p.cell->inverse + p.cell->lo);
}

// log x for a normal x > 0, with `more` added to k, and a relative error of about 2^-66.
static inline HoloPair log_pair(double x, int more)
{
    Place              p    = find_place(x);
    const HoloLogCell *cell = p.cell;
    const double      *c    = holo_log_long_poly;
    double             k = p.k + more, z = p.z - cell->middle, r = z * cell->inverse, s = r * r;
    double             r1 = (r + 0x1.8p19) - 0x1.8p19, r2 = r - r1; // r1 is short
    double             r_lo = ((z - r1 * cell->middle) - r2 * cell->middle) * cell->inverse;
    double             tail = (c[0] + r * c[1]) + s * ((c[2] + r * c[3]) + s * ((c[4] + r * c[5]) + s * c[6]));
    HoloPair           a    = add_small(k * holo_log_ln2[0] + cell->hi, r);
    HoloPair           b    = add_small(a.hi, -0.5 * r1 * r1);
    double             lo   = (k * holo_log_ln2[1] + cell->lo) + (r_lo - r_lo * r) - 0.5 * r2 * (r + r1);
    return add_small(b.hi, (a.lo + b.lo) + (lo + s * r * tail));
}

static inline HoloPair log_positive(double x)
{
    return x < DBL_MIN ? log_pair(x * 0x1p54, -54) : log_pair(x, 0);
}

// log x for an x that is not a positive normal number.
static double log_special(double x)
{
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x > DBL_MAX) return INFINITY;
    Place p = find_place(x * 0x1p54);
    p.k -= 54;
    return log_of(p);
}

double holo_log(double x)
{
    return is_normal(x) ? log_of(find_place(x)) : log_special(x);
}

double holo_log1p(double x)
{
    if (!(x > -1 && x < 0x1p60)) return x > 0 ? holo_log(x) : log_special(x + 1);
    if (fabs(x) < 0x1p-54) return x;
    HoloPair sum = add(1, x);
    Place    p   = find_place(sum.hi);
    return log_at(p, ((p.z - p.cell->middle) + sum.lo * power_of_two(-p.k)) * p.cell->inverse, p.cell->lo);
}

double holo_log10(double x)
{
    if (!(x > 0 && x <= DBL_MAX)) return log_special(x);
    HoloPair y = log_positive(x), product = multiply(y.hi, holo_log10_e[0]);
    return product.hi + (product.lo + (y.lo * holo_log10_e[0] + y.hi * holo_log10_e[1]));
}

double holo_softplus(double x)
{
    return (x > 0 ? x : 0) + holo_log1p(holo_exp(-fabs(x)));
}

// ---- powers

// x^y for finite x > 0 and y.
static inline double pow_positive(double x, double y)
{
    HoloPair log   = log_positive(x);
    double   about = y * log.hi;
    if (!(fabs(about) <= 746)) return about > 0 ? INFINITY : 0;
    double log1 = upper(log.hi), log2 = (log.hi - log1) + log.lo, y1 = upper(y), y2 = y - y1;
    return holo_pair_exp((HoloPair){y1 * log1, y2 * log1 + y * log2});
}

// x^y for all other arguments.
static double pow_special(double x, double y)
{
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return NAN;
    bool is_integer = floor(y) == y, is_odd = is_integer && floor(0.5 * y) != 0.5 * y; // infinity is even
    if (x < 0 && x >= -DBL_MAX && y >= -DBL_MAX && y <= DBL_MAX) {
        double size = pow_positive(-x, y);
        return !is_integer ? NAN : is_odd ? -size : size;
    }
    if (fabs(x) == 1) return 1;
    double size = (fabs(x) > 1) == (y > 0) ? INFINITY : 0; // x or y is infinite, or x is 0
    return is_odd ? copysign(size, x) : size;
}

double holo_pow(double x, double y)
{
    if (y == 2) return x == x ? x * x : NAN; // most powers are squares
    return x > 0 && x <= DBL_MAX && fabs(y) <= DBL_MAX ? pow_positive(x, y) : pow_special(x, y);
}

// ---- inverse hyperbolic functions

// log(2 x) for x >= 1.
static double log_double(double x)
{
    if (!(x <= DBL_MAX)) return log_special(x);
    Place p = find_place(x);
    p.k++;
    return log_of(p);
}

double holo_asinh(double x)
{
    double a = fabs(x);
    if (a < 0x1p-27) return x;
    if (!(a < 0x1p28)) return x < 0 ? -log_double(a) : log_double(a);
    double square = a * a;
    return copysign(log1p_pair(add(a, square / (1 + sqrt(square + 1)))), x); // log(a + sqrt(a^2 + 1))
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
