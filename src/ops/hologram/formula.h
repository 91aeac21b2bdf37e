// formula.h - pointwise operators of f32 as programs (format/params.h): one table for all code that makes a kernel call
// from a node or several.
#ifndef HOLO_OPS_HOLOGRAM_FORMULA_H
#define HOLO_OPS_HOLOGRAM_FORMULA_H

#include "format/params.h"
#include "ops/op.h"

// The program of a call, whose inputs have types and, if they are constants, data. False: it has none.
bool holo_formula(const HoloCall *call, HoloProgram *out);
bool holo_formula_has(const char *domain, const char *name); // for some calls of the operator?

#endif
