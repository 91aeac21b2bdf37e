// isa_pointwise.h - pointwise programs of plans (HoloProgram of format/params.h) as portable programs.
#ifndef HOLO_ISA_POINTWISE_H
#define HOLO_ISA_POINTWISE_H

#include "format/params.h"
#include "isa/isa.h"

typedef struct HoloIsaPointwise {
    const HoloProgram *program;     // must be valid: see holo_program_is_valid
    uint32_t           inputs;      // a bit for each input that it reads
    bool               over_output; // x0 is the old contents of the output
    // Types alone. Sizes may be expressions, and an input that is read broadcasts to the output. If a rank is unknown,
    // or `in` is NULL, the input has the output's shape.
    const HoloTensor *out, *in[HOLO_MAP_INPUTS];
} HoloIsaPointwise;

// The portable program that does the same, with a lane for each element of the output `y`; more lanes may run. Inputs
// are x0, x1 .... Unknown sizes are scalars: y_0 is the first size of y, x1_0 that of x1. docs/isa.md says how far
// results may differ.
HOLO_MUST HoloStatus holo_isa_pointwise(HoloArena *arena, const char *name, const HoloIsaPointwise *pointwise,
                                        HoloIsaProgram *out_program, HoloError *error);

// Adds only its steps, on elements of inputs in these registers, HOLO_MAP_INPUTS of them. Returns the register of the
// result. Only valid if everything that a lane does before depends on operands alone.
int holo_isa_pointwise_steps(HoloIsaBuilder *b, const HoloProgram *program, const int *inputs);

#endif
