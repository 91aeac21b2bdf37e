// build.h - adds nodes of one output each, for passes. All functions return NULL only if there is no memory.
//
// A new value has the dtype and kind of the value that it is made from, and the given sizes.
#ifndef HOLO_BUILD_H
#define HOLO_BUILD_H

#include "passes/rewrite.h"

// A node of that operator: fill in inputs and attributes. Its output has the type `type`.
HoloNode *holo_build_node(HoloRewrite *rewrite, const char *name, HoloOpId id, int version, int in_count,
                          int attr_count, const HoloTensor *out_type);
// Makes an attribute that is a list of numbers, which are copied. False: no memory.
bool holo_build_list(HoloGraph *graph, const char *name, int64_t count, const int64_t *ints, HoloAttr *out);
// Add a constant: a list of `count` numbers of i64, or one number without dimensions.
HoloValue *holo_build_ints(HoloRewrite *rewrite, int count, const int64_t *ints);
HoloValue *holo_build_number(HoloRewrite *rewrite, HoloDtype dtype, double x);
// Adds a Transpose; the sizes follow from `perm`.
HoloValue *holo_build_transpose(HoloRewrite *rewrite, HoloValue *x, const int64_t *perm);
// `shape` is what Reshape takes, with its 0 and -1; `dim` are the resulting sizes.
HoloValue *holo_build_reshape(HoloRewrite *rewrite, HoloValue *x, int rank, const int64_t *shape, const HoloDim *dim);
// The `shape` that gives these sizes. False: they cannot be written as numbers.
bool holo_build_shape(int rank, const HoloDim *dim, int64_t *out_shape);

#endif
