// tf_ops.c - the list of the tables of TensorFlow's operators.
#include "import/tensorflow/tf_ops.h"

const HoloTfOp *const holo_tf_tables[] = {
    holo_tf_ops_math,  holo_tf_ops_nn,      holo_tf_ops_array, holo_tf_ops_shape, holo_tf_ops_index,
    holo_tf_ops_image, holo_tf_ops_control, holo_tf_ops_lists, holo_tf_ops_state, NULL,
};
