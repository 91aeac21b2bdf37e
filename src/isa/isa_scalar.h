// isa_scalar.h - plain instructions on single numbers, for the reference interpreter; and where control flow goes.
#ifndef HOLO_ISA_SCALAR_H
#define HOLO_ISA_SCALAR_H

#include "isa/isa.h"

// The result of an instruction that only reads registers: MOV to NEIGHBOR, but no memory or control. False: an integer
// is divided by zero.
bool holo_isa_scalar(const HoloIsaInst *inst, uint64_t a, uint64_t b, uint64_t c, uint64_t *out);
// The operation of reductions, scans and atomics on two numbers.
uint64_t holo_isa_combine(HoloIsaOper oper, HoloDtype type, uint64_t a, uint64_t b);

// For each instruction of a checked program, where it leads: IF to its ELSE or END, ELSE to its END, LOOP to its END,
// the END of a loop to its LOOP, BREAK, NEXT and similar ones to the END of their loop; others, and the END of an IF,
// to themselves.
void holo_isa_targets(const HoloIsaProgram *program, int32_t *out_targets);

#endif
