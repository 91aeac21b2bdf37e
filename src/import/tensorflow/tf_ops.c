// tf_ops.c - the list of the tables of TensorFlow's operators.
#include "import/tensorflow/tf_ops.h"

const HoloFlowOp *const holo_flow_tables[] = {
    holo_flow_ops_math,    holo_flow_ops_nn,
    holo_flow_ops_array,   holo_flow_ops_shape,
    holo_flow_ops_index,   holo_flow_ops_image,
    holo_flow_ops_control, holo_flow_ops_lists,
    holo_flow_ops_state,   holo_flow_ops_sparse,
    holo_flow_ops_text,    holo_flow_ops_patches,
    holo_flow_ops_rows,    NULL,
};
