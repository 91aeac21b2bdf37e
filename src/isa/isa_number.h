// isa_number.h - numbers of the 12 types, and predicates, as 64 bits: the value in the lowest bits, 0 above. For constants,
// for the plain interpreter and for what is the same in all lanes.
#ifndef HOLO_ISA_NUMBER_H
#define HOLO_ISA_NUMBER_H

#include "base/bits.h"
#include "isa/isa.h"

// An integer of any type as one of 64 bits: sign-extended where it is signed.
int64_t holo_isa_to_i64(HoloDtype type, uint64_t bits);
// Only the bits that the type has.
uint64_t holo_isa_narrow(HoloDtype type, uint64_t bits);
// What CVT does. Integers wrap; floats are cut towards zero and kept within the range of an integer type, NaN is 0; what
// goes to a float is rounded once, to nearest, ties to even; of a number a predicate is whether it is not 0.
uint64_t holo_isa_convert_bits(HoloDtype type, HoloDtype from, uint64_t bits);

#endif
