// onnx_write_states.c - states of a graph as ONNX can say them: an input, and an output that is given to it in the next run.
#include "import/onnx/onnx_write.h"

#include <string.h>

static void become_identity(HoloNode *node, int from)
{
    node->in[0]    = node->in[from];
    node->in_count = 1;
    node->type     = "Identity";
    node->domain   = "";
    node->version  = 21;
    node->op       = holo_op_find("", "Identity", 21);
    node->op_id    = HOLO_ID_Identity;
}

HoloStatus holo_onnx_open_states(HoloGraph *graph, HoloError *error)
{
    for (int i = 0; i < graph->node_count; i++) {
        HoloNode  *node  = graph->nodes[i];
        HoloValue *state = node->in_count ? node->in[0] : NULL;
        if (!state || !state->is_state) continue;
        if (HOLO_IS(node, HOLOGRAM_StateRead)) {
            become_identity(node, 0);
        } else if (!strcmp(node->domain, "hologram") && !strcmp(node->type, "StateWrite") && node->out[0]) {
            char *name = holo_arena_format(graph->arena, "%s_next", state->name);
            if (!name || !holo_graph_output(graph, node->out[0])) return holo_fail_memory(error);
            node->out[0]->name = name;
            become_identity(node, 1);
        }
    }
    for (int i = 0; i < graph->input_count; i++) {
        HoloValue *input = graph->inputs[i];
        bool       used  = false; // by an operator that ONNX does not have: the writer tells
        for (int k = 0; input->is_state && k < graph->node_count; k++)
            used |=
                graph->nodes[k]->op && graph->nodes[k]->op->flags & HOLO_OP_UPDATES && graph->nodes[k]->in[0] == input;
        if (!input->is_state || used) continue;
        input->is_state = false;
        input->fill     = 0;
    }
    return HOLO_OK;
}
