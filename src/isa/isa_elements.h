// isa_elements.h - programs with a lane for each element of an output, and where that element is in inputs that broadcast.
#ifndef HOLO_ISA_ELEMENTS_H
#define HOLO_ISA_ELEMENTS_H

#include "format/dtype.h"
#include "isa/isa.h"

typedef struct HoloIsaElements {
    HoloIsaBuilder    b;
    const HoloTensor *out;  // the type of the output. Sizes may be expressions
    int               y;    // its parameter
    int               lane; // the register with the number of the lane
} HoloIsaElements;

// Behind the declarations, and with `b`, `out` and `y` set: what follows is done by lanes that have an element.
void holo_isa_elements_begin(HoloIsaElements *e);
// The register with the element of array parameter `param`, of type `in`, which broadcasts to the output. Where a rank is not
// known, or `in` is NULL, it has the output's shape. Sizes that are not known are scalars: x1_0 is the first size of x1.
int holo_isa_elements_load(HoloIsaElements *e, int param, const HoloTensor *in);
// Stores register `value`, the output's element.
void holo_isa_elements_end(HoloIsaElements *e, int value);

// The register of what was just written or, where an earlier instruction has it already, that one's: only where all that a
// lane does before its store follows from operands alone.
int holo_isa_once(HoloIsaBuilder *b, int result);

#endif
