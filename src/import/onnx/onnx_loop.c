// onnx_loop.c - bodies of Loop that take the number of the turn, or the condition, as lists of one element.
//
// The standard has scalars there, but some converters declare lists. Such a body takes the scalar and makes the list
// itself, so that nothing else needs to know.
#include "import/onnx/onnx.h"

static HoloStatus take_scalar(HoloOnnx *im, HoloGraph *body, int i)
{
    static int64_t axes[] = {0};
    HoloValue     *list   = body->inputs[i];
    HoloTensor     type   = {.dtype = list->type.dtype};
    HoloValue     *scalar = holo_graph_input(body, list->name, &type);
    HoloNode      *node   = holo_graph_node(body, list->name, "", "Unsqueeze", 11, 1, 1, 1);
    if (!scalar || !node) return holo_fail_memory(im->error);
    body->inputs[i] = body->inputs[--body->input_count]; // moves the last one there
    list->is_input  = false;
    node->in[0]     = scalar;
    node->attr[0]   = (HoloAttr){.name = "axes", .kind = HOLO_ATTR_INTS, .count = 1, .ints = axes};
    holo_node_set_out(node, 0, list);
    return holo_graph_sort(body, im->error);
}

HoloStatus holo_onnx_loop_body(HoloOnnx *im, HoloGraph *body, int own_inputs)
{
    for (int i = 0; i < 2 && i < own_inputs; i++)
        if (body->inputs[i]->type.kind == HOLO_TENSOR && body->inputs[i]->type.rank == 1)
            HOLO_TRY(take_scalar(im, body, i));
    return HOLO_OK;
}
