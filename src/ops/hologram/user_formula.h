// user_formula.h - kernels of users that are pointwise, as pointwise programs.
#ifndef HOLO_OPS_HOLOGRAM_USER_FORMULA_H
#define HOLO_OPS_HOLOGRAM_USER_FORMULA_H

#include "format/params.h"
#include "ops/op.h"

// The program of a call of hologram::Kernel, whose inputs are of f32; false: it has none. Only where the node may be
// rounded otherwise than its kernel says (attribute fused).
bool holo_user_formula(const HoloCall *call, HoloProgram *out);

#endif
