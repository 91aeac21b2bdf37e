// isa_pointwise.h - pointwise programs of plans (HoloProgram of format/params.h) as portable programs.
#ifndef HOLO_ISA_POINTWISE_H
#define HOLO_ISA_POINTWISE_H

#include "format/params.h"
#include "isa/isa.h"

typedef struct HoloIsaPointwise {
    const HoloProgram *program;     // a valid one: see holo_program_is_valid
    uint32_t           inputs;      // a bit for each input that it reads
    bool               over_output; // x0 is what the output holds before
    // Types alone. Sizes may be expressions; an input that is read broadcasts to the output. Where a rank is not known, or
    // `in` is NULL, the input has the output's shape.
    const HoloTensor *out, *in[HOLO_MAP_INPUTS];
} HoloIsaPointwise;

// The portable program that does the same: a lane for each element of the output `y`, of at least as many lanes; inputs are
// x0, x1 ... Sizes that are not known are scalars, y_0 the first size of y, x1_0 that of x1. In docs/isa.md: how equal the
// results are.
HOLO_MUST HoloStatus holo_isa_pointwise(HoloArena *arena, const char *name, const HoloIsaPointwise *pointwise,
                                        HoloIsaProgram *out_program, HoloError *error);

// Its steps alone, over elements of inputs that are in these registers, HOLO_MAP_INPUTS of them; the register of the result. Only
// where all that a lane does before follows from operands alone.
int holo_isa_pointwise_steps(HoloIsaBuilder *b, const HoloProgram *program, const int *inputs);

#endif
