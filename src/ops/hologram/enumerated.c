// enumerated.c - Enumerated of domain "hologram", for what depends on inputs with few possible values: a table with an
// entry for each combination of all their elements.
//
// Inputs are x1 ... xk, then the possible values of an element of each, d1 ... dk, and the table. A domain has one
// dimension and the type of its input, sorted by bits as unsigned numbers. If it is left out, all bit patterns of a
// type of at most 16 bits are possible. The first element of x1 changes slowest. An element that is not in its domain
// is an error.
#include "ops/op.h"

#include <string.h>

enum { COMBINATIONS_MAX = 1 << 24 };

static int inputs_of(const HoloCall *call)
{
    return (call->in_count - 1) / 2;
}

// The number of combinations; -1: not known yet.
static HoloStatus combinations(const HoloCall *call, int64_t *out)
{
    *out = 1;
    for (int i = 0; i < inputs_of(call); i++) {
        const HoloTensor *x = call->in[i], *domain = call->in[inputs_of(call) + i];
        if (!x) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        if (domain && (domain->dtype != x->dtype || domain->rank != 1 || holo_dtype_size(x->dtype) > 8))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the domain of input %d is not a list of its type", i);
        int64_t each = domain ? domain->dim[0] : holo_dtype_patterns((HoloDtype)x->dtype), count = holo_tensor_count(x);
        if (count < 0 || each < 0) *out = -1;
        if (!each) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d can have too many values, or none", i);
        for (int64_t k = 0; k < count && *out >= 0 && each > 1; k++)
            if (!holo_mul(*out, each, out) || *out > COMBINATIONS_MAX)
                return holo_call_fail(call, HOLO_BAD_MODEL, "its inputs have too many combinations");
    }
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *table = holo_in(call, call->in_count - 1);
    int64_t           count;
    if (call->in_count < 3 || !(call->in_count & 1) || !table)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the table is missing");
    HOLO_TRY(combinations(call, &count));
    if (table->rank < 1 || table->dtype == HOLO_STRING || (count >= 0 && holo_dims_differ(table->dim[0], count)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the table must have an entry for each combination");
    return holo_out_type(call, 0, (HoloDtype)table->dtype, table->rank - 1, table->dim + 1);
}

// The index of an element in a domain; -1: it is not there.
static int64_t place_in(const HoloTensor *domain, uint64_t bits)
{
    int64_t low = 0, high = domain->dim[0]; // the place is in [low, high)
    if (high && bits >= holo_get_bits(domain, 0) && bits - holo_get_bits(domain, 0) < (uint64_t)high) { // without gaps?
        int64_t at = (int64_t)(bits - holo_get_bits(domain, 0));
        if (holo_get_bits(domain, at) == bits) return at;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (holo_get_bits(domain, middle) <= bits)
            low = middle;
        else
            high = middle;
    }
    return high > low && holo_get_bits(domain, low) == bits ? low : -1;
}

static int64_t place_of(const HoloTensor *x, const HoloTensor *domain, int64_t i)
{
    uint64_t bits = holo_get_bits(x, i);
    if (domain) return place_in(domain, bits);
    return holo_dtype_class((HoloDtype)x->dtype) == HOLO_CLASS_BOOL
               ? bits != 0
               : (int64_t)(bits & (uint64_t)(holo_dtype_patterns((HoloDtype)x->dtype) - 1));
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *table = call->in[call->in_count - 1];
    HoloTensor       *out   = call->out[0];
    int64_t           at    = 0, count;
    HOLO_TRY(combinations(call, &count));
    for (int i = 0; i < inputs_of(call); i++) {
        const HoloTensor *x = call->in[i], *domain = call->in[inputs_of(call) + i];
        int64_t           each = domain ? domain->dim[0] : holo_dtype_patterns((HoloDtype)x->dtype),
                elements       = holo_tensor_count(x);
        for (int64_t k = 0; k < elements; k++) {
            int64_t place = place_of(x, domain, k);
            if (place < 0)
                return holo_call_fail(call, HOLO_BAD_INPUT,
                                      "element %lld of input %d, %.9g, is not in the domain that was declared for it",
                                      (long long)k, i, holo_get_f(x, k));
            at = at * each + place;
        }
    }
    if (at >= table->dim[0]) return holo_call_fail(call, HOLO_BAD_INPUT, "the table has too few entries");
    size_t size = holo_tensor_bytes(out);
    memcpy(out->data, (const char *)table->data + (size_t)at * size, size);
    return HOLO_OK;
}

const HoloOp holo_ops_enumerated[] = {
    {.name    = "Enumerated",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = -1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL & ~HOLO_TYPES_COMPLEX & ~HOLO_BIT(STRING),
     .infer   = infer,
     .eval    = eval},
    {0},
};
