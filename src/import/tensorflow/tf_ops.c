// tf_ops.c - the list of the tables of TensorFlow's operators, and operators that are others with other inputs.
#include "import/tensorflow/tf_ops.h"

const HoloFlowOp *const holo_flow_tables[] = {
    holo_flow_ops_math,    holo_flow_ops_nn,        holo_flow_ops_array,
    holo_flow_ops_shape,   holo_flow_ops_index,     holo_flow_ops_image,
    holo_flow_ops_control, holo_flow_ops_lists,     holo_flow_ops_state,
    holo_flow_ops_sparse,  holo_flow_ops_text,      holo_flow_ops_patches,
    holo_flow_ops_rows,    holo_flow_ops_quantized, holo_flow_ops_colors,
    holo_flow_ops_matrix,  holo_flow_ops_table,     holo_flow_ops_rest,
    holo_flow_ops_more,    holo_flow_ops_complex,   NULL,
};

HoloValue *holo_flow_one(HoloFlowCall *c, const char *op, HoloValue *a)
{
    return holo_emit(c->e, op, HOLO_IN(a), NULL);
}

HoloValue *holo_flow_two(HoloFlowCall *c, const char *op, HoloValue *a, HoloValue *b)
{
    return holo_emit(c->e, op, HOLO_IN(a, b), NULL);
}

HoloValue *holo_flow_as(HoloFlowCall *c, const char *op, HoloValue *const *in, int count)
{
    HoloFlowCall  call = *c;
    HoloFlowValue list[64];
    if (c->e->status) return NULL;
    for (int i = 0; i < count && i < HOLO_COUNT(list); i++) list[i] = (HoloFlowValue){HOLO_FLOW_TENSOR, in[i], NULL};
    call.op        = holo_flow_find(c->tf, (HoloString){op, strlen(op)});
    call.in        = list;
    call.in_count  = count;
    call.out       = NULL;
    call.out_count = 0;
    if (!call.op || count > HOLO_COUNT(list)) return holo_emit_fail(c->e, HOLO_INTERNAL, "it cannot be %s", op);
    call.op->emit(&call);
    return call.out_count && !c->e->status ? call.out[0].value : NULL;
}
