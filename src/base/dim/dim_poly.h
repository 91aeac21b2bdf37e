// dim_poly.h - polynomials with integer coefficients over atoms, which are just numbers here.
#ifndef HOLO_BASE_DIM_DIM_POLY_H
#define HOLO_BASE_DIM_DIM_POLY_H

#include "base/base.h"

enum {
    HOLO_TERM_MAX   = 64, // terms of a polynomial
    HOLO_DEGREE_MAX = 12, // degree of a term
};

typedef struct HoloTerm {
    int64_t coefficient;
    int     degree;
    int     atom[HOLO_DEGREE_MAX]; // entries, ascending
} HoloTerm;

typedef struct HoloPoly { // sorted by descending degree, then by atoms; no coefficient is 0
    int      count;
    HoloTerm term[HOLO_TERM_MAX];
} HoloPoly;

static inline int64_t holo_floor_div(int64_t a, int64_t b) // b must not be 0, nor -1 if a is INT64_MIN
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// Adds a term at its place. False: overflow, or too many terms.
bool holo_poly_add(HoloPoly *p, const HoloTerm *t);
bool holo_term_mul(const HoloTerm *x, const HoloTerm *y, HoloTerm *out); // false: overflow, or the degree is too high
// p = divisor * quotient + rest, by long division of leading terms. Terms that the divisor's first term does not divide
// go to the rest. False: a limit is exceeded.
bool holo_poly_divide(const HoloPoly *p, const HoloPoly *divisor, HoloPoly *quotient, HoloPoly *rest);
// Splits each coefficient into k * quotient + rest with 0 <= rest < k.
bool holo_poly_split(const HoloPoly *p, int64_t k, HoloPoly *quotient, HoloPoly *rest);
// Divides the rest and k by the common divisor of k and all coefficients but the constant one. The constant is rounded
// down, which the floor of the quotient would do anyway. Returns the new k.
int64_t holo_poly_reduce(HoloPoly *rest, int64_t k);
// Removes the factors that all terms of both have in common.
void holo_poly_cancel(HoloPoly *a, HoloPoly *b);

#endif
