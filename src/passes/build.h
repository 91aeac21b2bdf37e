// build.h - nodes that passes add, one value each. All return NULL only when memory is out.
//
// A new value has the dtype and kind of the one that it is made of, and the sizes that are given.
#ifndef HOLO_BUILD_H
#define HOLO_BUILD_H

#include "passes/rewrite.h"

// A node of that operator; inputs and attributes are to be filled in. Its output has the type `type`.
HoloNode *holo_build_node(HoloRewrite *rewrite, const char *name, HoloOpId id, int version, int in_count,
                          int attr_count, const HoloTensor *out_type);
// An attribute that is a list of numbers, which are copied; false: no memory.
bool holo_build_list(HoloGraph *graph, const char *name, int64_t count, const int64_t *ints, HoloAttr *out);
// i64[count], and a number without dimensions.
HoloValue *holo_build_ints(HoloRewrite *rewrite, int count, const int64_t *ints);
HoloValue *holo_build_number(HoloRewrite *rewrite, HoloDtype dtype, double x);
// The sizes of a Transpose, and the node.
HoloValue *holo_build_transpose(HoloRewrite *rewrite, HoloValue *x, const int64_t *perm);
// `shape` is what Reshape takes: 0 and -1 as it has them; `dim` the sizes that come out.
HoloValue *holo_build_reshape(HoloRewrite *rewrite, HoloValue *x, int rank, const int64_t *shape, const HoloDim *dim);
// What Reshape must be given for these sizes; false: they cannot be given as numbers.
bool holo_build_shape(int rank, const HoloDim *dim, int64_t *out_shape);

#endif
