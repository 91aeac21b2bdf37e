// isa_number.h - numbers of the 12 types, and predicates, as 64 bits: the value is in the lowest bits, with 0 above.
// For constants, for the plain interpreter, and for values that are the same in all lanes.
#ifndef HOLO_ISA_NUMBER_H
#define HOLO_ISA_NUMBER_H

#include "base/bits.h"
#include "isa/isa.h"

// An integer of any type with 64 bits: sign-extended if it is signed.
int64_t holo_isa_to_i64(HoloDtype type, uint64_t bits);
// Only the bits that the type has.
uint64_t holo_isa_narrow(HoloDtype type, uint64_t bits);
// What CVT does. Integers wrap. Floats are rounded towards zero and limited to the range of an integer type; NaN
// becomes 0. A conversion to a float is rounded once, to nearest, ties to even. A number becomes the predicate "is not
// 0".
uint64_t holo_isa_convert_bits(HoloDtype type, HoloDtype from, uint64_t bits);

#endif
