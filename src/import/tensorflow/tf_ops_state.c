// tf_ops_state.c - variables of TensorFlow. A model that is used does not change them: they are constants.
#include "import/tensorflow/tf_ops.h"

// ---- variables

static void handle(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){HOLO_FLOW_VARIABLE, NULL, (void *)c->node});
}

// The value of input 0, a variable: holo_flow_in reads it.
static void read_variable(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_flow_in(c, 0));
}

HoloValue *holo_flow_read_variable(HoloFlowCall *c, const HoloFlowNode *node)
{
    HoloTensor t;
    bool       found  = false;
    char      *name   = holo_flow_text(c->tf, node->name);
    HoloStatus status = c->tf->variable ? c->tf->variable(c->tf, node, &t, &found) : HOLO_OK;
    if (!status && !found)
        holo_flow_fail(c, HOLO_BAD_MODEL,
                       "variable '%.*s' has no value: the folder of its checkpoint is needed, or a frozen graph",
                       HOLO_IMPORT_ARG(node->name));
    if (status && !c->e->status) c->e->status = status;
    return found && !status ? holo_emit_constant(c->e, name, &t) : NULL;
}

static void yes(HoloFlowCall *c)
{
    holo_flow_out(c, 0, holo_emit_number(c->e, HOLO_BOOL, 1));
}

static void nothing(HoloFlowCall *c)
{
    holo_flow_out_value(c, 0, (HoloFlowValue){0});
}

// clang-format off
const HoloFlowOp holo_flow_ops_state[] = {
    {"VarHandleOp", handle}, {"VariableV2", handle}, {"Variable", handle}, {"ReadVariableOp", read_variable},
    {"VarIsInitializedOp", yes}, {"IsVariableInitialized", yes},
    {"Assign", nothing, .flags = HOLO_FLOW_STATE}, {"AssignVariableOp", nothing, .flags = HOLO_FLOW_STATE},
    {"SaveV2", nothing, .flags = HOLO_FLOW_STATE}, {"RestoreV2", nothing, .flags = HOLO_FLOW_STATE},
    {"MergeV2Checkpoints", nothing, .flags = HOLO_FLOW_STATE},
    {0},
};
