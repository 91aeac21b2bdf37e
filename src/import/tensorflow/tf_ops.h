// tf_ops.h - what the emitters of TensorFlow's operators share.
#ifndef HOLO_IMPORT_TENSORFLOW_TF_OPS_H
#define HOLO_IMPORT_TENSORFLOW_TF_OPS_H

#include "import/tensorflow/tf.h"

// The rows leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

HoloValue *holo_flow_binary(HoloFlowCall *c, const char *op, HoloValue *a, HoloValue *b); // casts them to one type
// A node of one output, without attributes.
HoloValue *holo_flow_one(HoloFlowCall *c, const char *op, HoloValue *a);
HoloValue *holo_flow_two(HoloFlowCall *c, const char *op, HoloValue *a, HoloValue *b);
// What a fused node does with its result: bias, normalization, activation, by the attribute fused_ops. Inputs from
// `first` on are its operands. A bias that the node has taken already is passed over.
HoloValue *holo_flow_fused(HoloFlowCall *c, HoloValue *y, int first, bool has_bias);
// An activation by its name; NULL: there is none of that name.
HoloValue *holo_flow_activation(HoloFlowCall *c, HoloString name, HoloValue *x);
// The value of a variable, as a constant.
HoloValue *holo_flow_read_variable(HoloFlowCall *c, const HoloFlowNode *node);
// A scalar 0 of a type, "" for strings.
HoloValue *holo_flow_zero(HoloFlowCall *c, HoloDtype dtype);
// A tensor of that shape, an i64 vector, filled with a scalar.
HoloValue *holo_flow_filled(HoloFlowCall *c, HoloValue *shape, HoloValue *scalar);
// Joins `updates` by `index`, which has their first dimensions, as ScatterND does ("add", "max" ...); `count`, an i64 vector
// of one, is how many results there are, `none` what they begin with. Places below 0, or too large, count nowhere.
HoloValue *holo_flow_by_index(HoloFlowCall *c, HoloValue *index, HoloValue *updates, HoloValue *count, HoloValue *none,
                              const char *how);
HoloValue *holo_flow_sums(HoloFlowCall *c, HoloValue *index, HoloValue *updates, HoloValue *count);
// Vectors of i64, one behind the other.
HoloValue *holo_flow_join(HoloFlowCall *c, HoloValue *a, HoloValue *b);

// An image, resized in lines, as ResizeBilinear does.
HoloValue *holo_flow_resized(HoloFlowCall *c, HoloValue *x, HoloValue *sizes, bool is_aligned);

// The node as if it were of another operator and had other inputs, tensors. Returns its first output.
HoloValue *holo_flow_as(HoloFlowCall *c, const char *op, HoloValue *const *in, int count);

extern const HoloFlowOp holo_flow_ops_math[], holo_flow_ops_nn[], holo_flow_ops_array[], holo_flow_ops_shape[],
    holo_flow_ops_index[], holo_flow_ops_image[], holo_flow_ops_control[], holo_flow_ops_lists[],
    holo_flow_ops_sparse[], holo_flow_ops_text[], holo_flow_ops_state[], holo_flow_ops_patches[], holo_flow_ops_rows[],
    holo_flow_ops_quantized[], holo_flow_ops_table[], holo_flow_ops_colors[], holo_flow_ops_matrix[],
    holo_flow_ops_rest[], holo_flow_ops_more[], holo_flow_ops_complex[];

#endif
