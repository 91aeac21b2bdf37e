// dim_poly.h - polynomials with integer coefficients over atoms, which are plain numbers here.
#ifndef HOLO_BASE_DIM_DIM_POLY_H
#define HOLO_BASE_DIM_DIM_POLY_H

#include "base/base.h"

enum {
    HOLO_TERM_MAX   = 64, // of a polynomial
    HOLO_DEGREE_MAX = 12, // of a term
};

typedef struct HoloTerm {
    int64_t coefficient;
    int     degree;
    int     atom[HOLO_DEGREE_MAX]; // entries, ascending
} HoloTerm;

typedef struct HoloPoly { // terms by descending degree, then by atoms; no zero coefficients
    int      count;
    HoloTerm term[HOLO_TERM_MAX];
} HoloPoly;

static inline int64_t holo_floor_div(int64_t a, int64_t b) // b is not 0, and not -1 where a is INT64_MIN
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// Adds a term to its place. False: overflow or too many terms.
bool holo_poly_add(HoloPoly *p, const HoloTerm *t);
bool holo_term_mul(const HoloTerm *x, const HoloTerm *y, HoloTerm *out); // false: overflow or too high a degree
// p = divisor * quotient + rest, by long division on leading terms. Terms that the divisor's first does
// not divide go to the rest. False: a limit is reached.
bool holo_poly_divide(const HoloPoly *p, const HoloPoly *divisor, HoloPoly *quotient, HoloPoly *rest);
// Splits each coefficient into k * quotient + rest with 0 <= rest < k.
bool holo_poly_split(const HoloPoly *p, int64_t k, HoloPoly *quotient, HoloPoly *rest);
// Divides the rest and k by what all coefficients but the constant one have in common; the constant
// rounds down, which the floor of the quotient would have done anyway. Returns what is left of k.
int64_t holo_poly_reduce(HoloPoly *rest, int64_t k);
// Takes the factors that all terms of both have in common out of both.
void holo_poly_cancel(HoloPoly *a, HoloPoly *b);

#endif
