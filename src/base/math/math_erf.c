// math_erf.c - the error function: a polynomial for each interval of 1/8 from 0 to 6; above that it is 1.
#include "base/math/math.h"
#include "base/math/math_core.h"

#include <math.h>

double holo_erf(double x)
{
    double a = fabs(x);
    if (!(a < 6)) return x != x ? NAN : copysign(1, x);
    int                eighth = (int)(8 * a + 0.5);
    const HoloErfCell *c      = &holo_erf_table[eighth];
    double             r = a - 0.125 * eighth, s = r * r, fourth = s * s;
    double             r1 = (r + 0x1.8p21) - 0x1.8p21, r2 = r - r1; // r1 is short: a multiple of 2^-31
    double             low  = (c->c2 + r * c->c3) + s * (c->c4 + r * c->c5);
    double             high = (c->c6 + r * c->c7) + s * (c->c8 + r * c->c9) + fourth * c->c10;
    HoloPair           sum  = add_small(c->value, c->slope * r1);
    double             rest = c->slope * r2 + (c->slope_lo * r + s * (low + fourth * high));
    return copysign(sum.hi + (sum.lo + (c->value_lo + rest)), x);
}
