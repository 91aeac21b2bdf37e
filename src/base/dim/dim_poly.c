// dim_poly.c - polynomials with integer coefficients, on which dim.c builds its normal form. If a limit is exceeded or
// a number overflows, the operation fails; nothing is rounded.
#include "base/dim/dim_poly.h"

#include <string.h>

static int term_compare(const HoloTerm *x, const HoloTerm *y)
{
    if (x->degree != y->degree) return y->degree - x->degree;
    for (int i = 0; i < x->degree; i++)
        if (x->atom[i] != y->atom[i]) return x->atom[i] < y->atom[i] ? -1 : 1;
    return 0;
}

bool holo_poly_add(HoloPoly *p, const HoloTerm *t)
{
    int i = 0, order = 1;
    while (i < p->count && (order = term_compare(&p->term[i], t)) < 0) i++;
    if (i < p->count && order == 0) {
        int64_t sum;
        if (!holo_add(p->term[i].coefficient, t->coefficient, &sum)) return false;
        p->term[i].coefficient = sum;
        if (sum == 0) memmove(&p->term[i], &p->term[i + 1], (size_t)(--p->count - i) * sizeof *t);
        return true;
    }
    if (t->coefficient == 0) return true;
    if (p->count == HOLO_TERM_MAX) return false;
    memmove(&p->term[i + 1], &p->term[i], (size_t)(p->count++ - i) * sizeof *t);
    p->term[i] = *t;
    return true;
}

bool holo_term_mul(const HoloTerm *x, const HoloTerm *y, HoloTerm *out)
{
    if (x->degree + y->degree > HOLO_DEGREE_MAX) return false;
    if (!holo_mul(x->coefficient, y->coefficient, &out->coefficient)) return false;
    out->degree = x->degree + y->degree;
    for (int i = 0, j = 0; i + j < out->degree;) {
        bool first       = j == y->degree || (i < x->degree && x->atom[i] <= y->atom[j]);
        out->atom[i + j] = first ? x->atom[i] : y->atom[j];
        if (first)
            i++;
        else
            j++;
    }
    return true;
}

// If y is a factor of x, gives the quotient.
static bool term_divides(const HoloTerm *x, const HoloTerm *y, HoloTerm *out)
{
    if (y->coefficient == -1 && x->coefficient == INT64_MIN) return false;
    if (x->coefficient % y->coefficient != 0) return false;
    *out  = (HoloTerm){.coefficient = x->coefficient / y->coefficient};
    int j = 0;
    for (int i = 0; i < x->degree; i++) {
        if (j < y->degree && x->atom[i] == y->atom[j])
            j++;
        else
            out->atom[out->degree++] = x->atom[i];
    }
    return j == y->degree;
}

bool holo_poly_divide(const HoloPoly *p, const HoloPoly *divisor, HoloPoly *quotient, HoloPoly *rest)
{
    HoloPoly left   = *p;
    quotient->count = rest->count = 0;
    for (int steps = 0; left.count; steps++) {
        HoloTerm lead = left.term[0], factor;
        if (steps > 4 * HOLO_TERM_MAX) return false;
        if (!term_divides(&lead, &divisor->term[0], &factor)) {
            memmove(&left.term[0], &left.term[1], (size_t)--left.count * sizeof lead);
            if (!holo_poly_add(rest, &lead)) return false;
            continue;
        }
        if (!holo_poly_add(quotient, &factor)) return false;
        for (int i = 0; i < divisor->count; i++) {
            HoloTerm t;
            if (!holo_term_mul(&factor, &divisor->term[i], &t) || t.coefficient == INT64_MIN) return false;
            t.coefficient = -t.coefficient;
            if (!holo_poly_add(&left, &t)) return false;
        }
    }
    return true;
}

bool holo_poly_split(const HoloPoly *p, int64_t k, HoloPoly *quotient, HoloPoly *rest)
{
    quotient->count = rest->count = 0;
    for (int i = 0; i < p->count; i++) {
        HoloTerm whole = p->term[i], part = p->term[i];
        whole.coefficient = holo_floor_div(p->term[i].coefficient, k);
        part.coefficient  = p->term[i].coefficient - whole.coefficient * k;
        if (!holo_poly_add(quotient, &whole) || !holo_poly_add(rest, &part)) return false;
    }
    return true;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a         = b;
        b         = r;
    }
    return a;
}

int64_t holo_poly_reduce(HoloPoly *rest, int64_t k)
{
    int64_t common = k;
    for (int i = 0; i < rest->count; i++)
        if (rest->term[i].degree) common = gcd(common, rest->term[i].coefficient);
    if (common == 1) return k;
    HoloPoly reduced = {0};
    for (int i = 0; i < rest->count; i++) {
        HoloTerm t    = rest->term[i];
        t.coefficient = holo_floor_div(t.coefficient, common);
        bool fits     = holo_poly_add(&reduced, &t);
        (void)fits; // no more terms than before
    }
    *rest = reduced;
    return k / common;
}

void holo_poly_cancel(HoloPoly *a, HoloPoly *b)
{
    HoloTerm common    = b->term[0];
    common.coefficient = common.coefficient == INT64_MIN ? 1 : common.coefficient;
    for (int i = 0; i < a->count + b->count; i++) {
        const HoloTerm *t    = i < a->count ? &a->term[i] : &b->term[i - a->count];
        int64_t         g    = t->coefficient == INT64_MIN ? 1 : gcd(common.coefficient, t->coefficient);
        int             kept = 0, k = 0;
        common.coefficient = g < 0 ? -g : g;
        for (int j = 0; j < common.degree; j++) {
            while (k < t->degree && t->atom[k] < common.atom[j]) k++;
            if (k < t->degree && t->atom[k] == common.atom[j]) common.atom[kept++] = t->atom[k++];
        }
        common.degree = kept;
    }
    for (int i = 0; i < a->count + b->count; i++) {
        HoloTerm *t = i < a->count ? &a->term[i] : &b->term[i - a->count], quotient;
        if (term_divides(t, &common, &quotient)) *t = quotient;
    }
}
