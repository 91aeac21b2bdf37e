// user_shape.h - a user's shape rule followed through on sizes that may be expressions.
#ifndef HOLO_OPS_HOLOGRAM_USER_SHAPE_H
#define HOLO_OPS_HOLOGRAM_USER_SHAPE_H

#include "base/dim/dim.h"
#include "isa/isa.h"
#include "ops/tensor.h"

// An entry of an array that is no size.
enum { HOLO_SHAPE_NONE = -1, HOLO_SHAPE_PERHAPS = -2 }; // not written; written in some cases only

typedef struct HoloShapeArg {    // of a parameter of the rule
    HoloDim  dim[HOLO_MAX_RANK]; // of an array of i64: its entries; of a scalar that is open: dim[0]
    int      count;              // of an array: entries
    uint64_t bits;               // of a scalar, as a CONST holds it
    bool     is_open;            // a scalar of i64 that is known only as an expression
} HoloShapeArg;

// Runs a checked rule, one lane, and leaves in args what it wrote: numbers, expressions, or HOLO_DIM_UNKNOWN. False
// where it cannot be followed: it branches out of loops on what is not known, uses more than arithmetic, takes too
// long, or fails. `dims` may be NULL. *out_fits is false where memory ran out.
bool holo_shape_follow(const HoloIsaProgram *rule, HoloDims *dims, HoloShapeArg *args, bool *out_fits);

#endif
