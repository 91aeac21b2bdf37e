// isa_elements.h - programs with a lane for each element of an output, and the index of that element in inputs that
// broadcast.
#ifndef HOLO_ISA_ELEMENTS_H
#define HOLO_ISA_ELEMENTS_H

#include "format/dtype.h"
#include "isa/isa.h"

typedef struct HoloIsaElements {
    HoloIsaBuilder    b;
    const HoloTensor *out;  // the type of the output; sizes may be expressions
    int               y;    // its parameter
    int               lane; // the register with the number of the lane
} HoloIsaElements;

// Call it after the declarations, with `b`, `out` and `y` set. What follows is only for lanes that have an element.
void holo_isa_elements_begin(HoloIsaElements *e);
// The register with the element of array parameter `param`, of type `in`, which broadcasts to the output. If a rank is
// unknown, or `in` is NULL, it has the output's shape. Unknown sizes are scalars: x1_0 is the first size of x1.
int holo_isa_elements_load(HoloIsaElements *e, int param, const HoloTensor *in);
// Stores register `value` as the output's element.
void holo_isa_elements_end(HoloIsaElements *e, int value);

// The register of the instruction just written; if an earlier instruction computes the same, that one's register. Only
// valid if everything that a lane does before its store depends on operands alone.
int holo_isa_once(HoloIsaBuilder *b, int result);

#endif
