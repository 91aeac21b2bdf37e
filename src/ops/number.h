// number.h - one whole number that an input gives.
#ifndef HOLO_OPS_NUMBER_H
#define HOLO_OPS_NUMBER_H

#include "ops/move.h"

// The number of input `input`, an expression, or HOLO_DIM_UNKNOWN while its value is unknown. Fails if it is not one
// whole number.
HOLO_MUST static inline HoloStatus holo_number_input(const HoloCall *call, int input, HoloDim *out)
{
    if (!holo_in(call, input))
        return holo_call_fail(call, HOLO_BAD_MODEL, "input %d, one whole number, is missing", input);
    HOLO_TRY(holo_expect_types(call, input, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_expect_one(call, input));
    if (!holo_scalar(call, input, out)) *out = HOLO_DIM_UNKNOWN;
    return HOLO_OK;
}

#endif
