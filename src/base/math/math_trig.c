// math_trig.c - sine, cosine and tangent of any finite angle.
//
// x = j pi / 64 + r with an integer j. A table has the sines of all j, and the addition theorem does the rest: sin x =
// s cos r + c sin r, where c is also from the table, a quarter turn further.
#include "base/math/math.h"
#include "base/math/math_core.h"

#include <math.h>

typedef struct Angle {
    int    j;  // any integer; a full turn has 128 steps
    double r1; // short
    double r2; // r1 + r2 = r
} Angle;

static inline Angle make_angle(int j, double r, double r_lo)
{
    double r1 = upper(r);
    return (Angle){j, r1, (r - r1) + r_lo};
}

// The angle of any x of at least 2^-10, by integers: x / 2 pi, of which only the fractional bits are computed.
__attribute__((noinline)) static Angle reduce_exactly(double x)
{
    enum { WORDS = 6 };
    uint64_t bits = holo_bits_of_f64(x), fraction = (bits & ~UINT64_C(0) >> 12) | UINT64_C(1) << 52;
    int      exponent = (int)(bits >> 52 & 2047) - 1075; // |x| = fraction * 2^exponent
    int      first = (exponent + 64) / 32, shift = (exponent + 64) % 32;
    uint32_t turns[WORDS]; // (fraction * 2^exponent / 2 pi) mod 1, the highest word first
    uint64_t low = fraction & 0xFFFFFFFF, high = fraction >> 32, carry = 0;
    for (int i = WORDS - 1; i >= 0; i--) {
        const uint32_t *at   = &holo_trig_bits[first + i];
        uint64_t        here = (((uint64_t)at[0] << 32 | at[1]) << shift) >> 32;
        uint64_t        next = i + 1 < WORDS ? (((uint64_t)at[1] << 32 | at[2]) << shift) >> 32 : 0;
        uint64_t        sum  = (low * here & 0xFFFFFFFF) + (high * next & 0xFFFFFFFF) + carry;
        carry                = (sum >> 32) + (low * here >> 32) + (high * next >> 32);
        turns[i]             = (uint32_t)sum;
    }
    int      j       = (int)(turns[0] >> 25);
    bool     is_over = turns[0] >> 24 & 1; // more than half a step: take the next j, and r < 0
    uint32_t flip    = is_over ? UINT32_MAX : 0;
    double   unit    = is_over ? -0x1p-32 : 0x1p-32;
    HoloPair part    = {0, is_over ? -0x1p-192 : 0};
    turns[0] &= 0x1FFFFFF;
    flip >>= 7;
    for (int i = 0; i < WORDS; i++, unit *= 0x1p-32, flip = is_over ? UINT32_MAX : 0) {
        HoloPair sum = add(part.hi, (turns[i] ^ flip) * unit);
        part         = (HoloPair){sum.hi, part.lo + sum.lo};
    }
    HoloPair r = multiply(part.hi, holo_trig_turn[0]);
    r.lo += part.hi * holo_trig_turn[1] + part.lo * holo_trig_turn[0];
    return bits >> 63 ? make_angle(-(j + is_over), -r.hi, -r.lo) : make_angle(j + is_over, r.hi, r.lo);
}

static inline Angle reduce(double x)
{
    double   shifted = x * holo_trig_step[0] + 0x1.8p52; // the lowest bits are now those of j
    int32_t  j       = (int32_t)(uint32_t)holo_bits_of_f64(shifted);
    double   count   = shifted - 0x1.8p52;
    HoloPair r       = add(x - count * holo_trig_step[1], -(count * holo_trig_step[2]));
    // If the angle is large, or so close to j that too few bits remain, the parts of pi do not suffice.
    if (!(fabs(x) < 0x1p17) || (fabs(r.hi) < 0x1p-35 && j != 0)) return reduce_exactly(x);
    return make_angle(j, r.hi, r.lo - count * holo_trig_step[3]);
}

// sin(a + quarters pi / 2)
static inline HoloPair sine(Angle a, int quarters)
{
    unsigned        at = (unsigned)a.j + 32u * (unsigned)quarters;
    const HoloPair *s = &holo_trig_table[at & 127], *c = &holo_trig_table[(at + 32) & 127];
    const double   *p = holo_sin_poly, *q = holo_cos_poly;
    double          r = a.r1 + a.r2, square = r * r;
    double          sin_rest = r * square * (p[0] + square * (p[1] + square * p[2])); // sin r - r
    double          cos_less = square * (q[0] + square * (q[1] + square * q[2]));     // cos r - 1
    HoloPair        sum      = add_small(s->hi, c->hi * a.r1);
    double          lo       = c->hi * (a.r2 + sin_rest) + c->lo * (r + sin_rest) + (s->hi + s->lo) * cos_less;
    return (HoloPair){sum.hi, sum.lo + (s->lo + lo)};
}

static inline double sum(HoloPair a)
{
    return a.hi + a.lo;
}

double holo_sin(double x)
{
    if (fabs(x) < 0x1p-27) return x;
    return fabs(x) <= DBL_MAX ? sum(sine(reduce(x), 0)) : NAN;
}

double holo_cos(double x)
{
    return fabs(x) <= DBL_MAX ? sum(sine(reduce(x), 1)) : NAN;
}

double holo_tan(double x)
{
    if (fabs(x) < 0x1p-27) return x;
    if (!(fabs(x) <= DBL_MAX)) return NAN;
    Angle    a = reduce(x);
    HoloPair s = sine(a, 0), c = sine(a, 1);
    return sum(divide(s, add_small(c.hi, c.lo)));
}
