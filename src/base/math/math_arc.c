// math_arc.c - the inverse trigonometric functions, and the square root in two parts.
#include "base/math/math.h"
#include "base/math/math_core.h"

#include <math.h>

HoloPair holo_pair_sqrt(HoloPair a)
{
    double root = sqrt(a.hi);
    if (root == 0) return (HoloPair){0, 0};
    HoloPair square = multiply(root, root);
    return (HoloPair){root, ((a.hi - square.hi) - square.lo + a.lo) / (2 * root)};
}

// ---- arctangent: atan x = atan(b / a) + atan((a x - b) / (a + b x)), where b / a is the center of the cell of x

// For x >= 0, in two parts.
static inline HoloPair atan_pair(double x)
{
    int64_t             lowest = (int64_t)(holo_bits_of_f64(0x1p-5) >> 49); // a cell is the exponent and 3 more bits
    int64_t             i      = (int64_t)(holo_bits_of_f64(x) >> 49) - lowest + 1;
    const HoloAtanCell *cell   = &holo_atan_table[i < 0 ? 0 : i > 81 ? 81 : i];
    const double       *c      = holo_atan_poly;
    double              y      = x < 0x1p60 ? x : 0x1p60;
    double              r = (cell->a * y - cell->b) / (cell->a + cell->b * y), s = r * r;
    double              tail = r * s * ((c[0] + s * c[1]) + s * s * ((c[2] + s * c[3]) + s * s * c[4]));
    HoloPair            sum  = add_small(cell->hi, r);
    return (HoloPair){sum.hi, sum.lo + (cell->lo + tail)};
}

double holo_atan(double x)
{
    if (x != x) return NAN;
    HoloPair y = atan_pair(fabs(x));
    return copysign(y.hi + y.lo, x);
}

// ---- arcsine and arccosine: a polynomial below 1 / 2; above that the half angle, whose sine is sqrt((1 - x) / 2)

// asin r - r, where square = r^2 <= 1 / 4.
static inline double asin_tail(double r, double square)
{
    const double *c      = holo_asin_poly;
    double        fourth = square * square, even = c[12], odd = c[13];
    for (int i = 10; i >= 0; i -= 2) {
        even = even * fourth + c[i];
        odd  = odd * fourth + c[i + 1];
    }
    return r * (square * (even + square * odd));
}

// acos x for 1 / 2 <= x <= 1, in two parts.
static inline HoloPair acos_pair(double x)
{
    double   square = 0.5 * (1 - x);
    HoloPair half   = holo_pair_sqrt((HoloPair){square, 0});
    return (HoloPair){2 * half.hi, 2 * (half.lo + asin_tail(half.hi, square))};
}

// k pi / 2 - y
static inline double from_quarters(double k, HoloPair y)
{
    HoloPair sum = add_small(k * holo_half_pi[0], -y.hi);
    return sum.hi + (sum.lo + (k * holo_half_pi[1] - y.lo));
}

double holo_asin(double x)
{
    double a = fabs(x);
    if (a <= 0.5) return x + asin_tail(x, x * x);
    return a <= 1 ? copysign(from_quarters(1, acos_pair(a)), x) : NAN;
}

double holo_acos(double x)
{
    double a = fabs(x);
    if (a <= 0.5) return from_quarters(1, (HoloPair){x, asin_tail(x, x * x)});
    if (!(a <= 1)) return NAN;
    HoloPair y = acos_pair(a);
    return x > 0 ? y.hi + y.lo : from_quarters(2, y);
}
