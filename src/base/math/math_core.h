// math_core.h - for the math_*.c files alone: doubles in two parts, and the tables of math_tables.c.
//
// A number in two parts is hi + lo, where lo is small compared with hi. Results are computed in two parts and added
// last, so only this addition rounds. A "short" double has so few bits that its product with another short one is
// exact.
#ifndef HOLO_BASE_MATH_MATH_CORE_H
#define HOLO_BASE_MATH_MATH_CORE_H

#include "base/bits.h"

#include <float.h>
#include <stdbool.h>

_Static_assert(FLT_EVAL_METHOD == 0, "a double expression must be computed in double");

typedef struct HoloPair {
    double hi, lo;
} HoloPair;

// The upper 26 bits of x, a short double.
static inline double upper(double x)
{
    return holo_f64_of_bits(holo_bits_of_f64(x) & UINT64_C(0xFFFFFFFFF8000000));
}

// a + b exactly, if |a| >= |b| or a = 0.
static inline HoloPair add_small(double a, double b)
{
    double sum = a + b;
    return (HoloPair){sum, (a - sum) + b};
}

// a + b exactly.
static inline HoloPair add(double a, double b)
{
    double sum = a + b, rest = sum - a;
    return (HoloPair){sum, (a - (sum - rest)) + (b - rest)};
}

// a * b with a relative error of about 2^-105, if nothing overflows or underflows.
static inline HoloPair multiply(double a, double b)
{
    double product = a * b, a1 = upper(a), a2 = a - a1, b1 = upper(b), b2 = b - b1;
    return (HoloPair){product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

// a / b with a relative error of about 2^-75.
static inline HoloPair divide(HoloPair a, HoloPair b)
{
    double inverse = 1 / b.hi, quotient = upper(a.hi * inverse), b1 = upper(b.hi), b2 = b.hi - b1;
    double rest = ((a.hi - quotient * b1) - quotient * b2) + (a.lo - quotient * b.lo);
    return (HoloPair){quotient, rest * inverse};
}

// 2^n for -1023 < n < 1024.
static inline double power_of_two(int n)
{
    return holo_f64_of_bits((uint64_t)(n + 1023) << 52);
}

// x * 2^n for |n| <= 2044, rounded once, or twice if it is subnormal.
static inline double scale(double x, int n)
{
    return n > -1022 && n < 1024 ? x * power_of_two(n) : x * power_of_two(n / 2) * power_of_two(n - n / 2);
}

// ---- functions that the families share

HoloPair holo_pair_sqrt(HoloPair a); // relative error of about 2^-100, for a >= 0
double   holo_pair_exp(HoloPair x);  // |x| <= 746

// ---- tables, described where they are

typedef struct HoloTanhCell {
    double middle, hi, lo, slope;
} HoloTanhCell;

typedef struct HoloLogCell {
    double middle, inverse, hi, lo;
} HoloLogCell;

typedef struct HoloAtanCell {
    double a, b, hi, lo;
} HoloAtanCell;

typedef struct HoloErfCell {
    double value, value_lo, slope, slope_lo, c2, c3, c4, c5, c6, c7, c8, c9, c10;
} HoloErfCell;

// clang-format off
#pragma GCC visibility push(hidden) // access without the table of symbols
extern const double       holo_exp_step[3], holo_exp_poly[4];
extern const HoloPair     holo_exp_table[128];
extern const double       holo_tanh_poly[5];
extern const HoloTanhCell holo_tanh_table[135];
extern const double       holo_log_ln2[2], holo_log10_e[2], holo_log_poly[5], holo_log_long_poly[7];
extern const HoloLogCell  holo_log_table[128];
extern const double       holo_trig_step[4], holo_trig_turn[2], holo_half_pi[2], holo_sin_poly[3], holo_cos_poly[3];
extern const uint32_t     holo_trig_bits[40];
extern const HoloPair     holo_trig_table[128];
extern const double       holo_atan_poly[5], holo_asin_poly[14];
extern const HoloAtanCell holo_atan_table[82];
extern const HoloErfCell  holo_erf_table[49];
#pragma GCC visibility pop
// clang-format on

#endif
