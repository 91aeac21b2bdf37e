// tf_ops.h - what the emitters of TensorFlow's operators share.
#ifndef HOLO_IMPORT_TENSORFLOW_TF_OPS_H
#define HOLO_IMPORT_TENSORFLOW_TF_OPS_H

#include "import/tensorflow/tf.h"

// The rows leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

HoloValue *holo_tf_binary(HoloTfCall *c, const char *op, HoloValue *a, HoloValue *b); // casts them to one type
// What a fused node does with its result: bias, normalization, activation, by the attribute fused_ops. Inputs from
// `first` on are its operands. A bias that the node has taken already is passed over.
HoloValue *holo_tf_fused(HoloTfCall *c, HoloValue *y, int first, bool has_bias);
// An activation by its name; NULL: there is none of that name.
HoloValue *holo_tf_activation(HoloTfCall *c, HoloString name, HoloValue *x);
// The value of a variable, as a constant.
HoloValue *holo_tf_read_variable(HoloTfCall *c, const HoloTfNode *node);
// A scalar 0 of a type, "" for strings.
HoloValue *holo_tf_zero(HoloTfCall *c, HoloDtype dtype);
// A tensor of that shape, an i64 vector, filled with a scalar.
HoloValue *holo_tf_filled(HoloTfCall *c, HoloValue *shape, HoloValue *scalar);
// Sums of `updates` by `index`; see tf_ops_index.c.
HoloValue *holo_tf_sums(HoloTfCall *c, HoloValue *index, HoloValue *updates, HoloValue *count);
// Vectors of i64, one behind the other.
HoloValue *holo_tf_join(HoloTfCall *c, HoloValue *a, HoloValue *b);

extern const HoloTfOp holo_tf_ops_math[], holo_tf_ops_nn[], holo_tf_ops_array[], holo_tf_ops_shape[],
    holo_tf_ops_index[], holo_tf_ops_image[], holo_tf_ops_control[], holo_tf_ops_lists[], holo_tf_ops_sparse[],
    holo_tf_ops_text[], holo_tf_ops_state[];

#endif
