// peer.c - what a model quantises later is summed in the order of ONNX Runtime.
//
// One bit of a sum is a whole step of a quantisation behind it, and so is a rounding to f16. Kernels have an order that is
// as good as any and ONNX Runtime's where that costs nothing; this pass marks the nodes, by attribute `peer`, whose results
// reach such a step and for which ONNX Runtime has an order that costs something: LayerNormalization of a sum that nothing
// else reads, which it joins with the Add and takes element by element, InstanceNormalization, and sums.
#include "passes/rewrite.h"

#include <string.h>

static bool is_f32(const HoloValue *value)
{
    return value && value->type.kind == HOLO_TENSOR && value->type.dtype == HOLO_F32;
}

// Does the node make fewer bits of numbers of f32?
static bool is_step(const HoloNode *node)
{
    if (node->in_count < 1 || !is_f32(node->in[0]) || !node->out_count || !node->out[0]) return false;
    HoloDtype to = node->out[0]->type.dtype;
    if (holo_node_is(node, "Cast")) return to == HOLO_F16 || to == HOLO_BF16;
    return holo_node_is(node, "QuantizeLinear") || holo_node_is(node, "DynamicQuantizeLinear");
}

// LayerNormalization over the last of three dimensions, of a sum of two values of this shape.
static bool is_skip_norm(const HoloNode *node, const int *uses)
{
    if (!holo_node_is(node, "LayerNormalization") || !is_f32(node->in[0]) || node->in[0]->type.rank != 3) return false;
    const HoloNode *add  = node->in[0]->producer;
    const HoloAttr *axis = holo_node_attr(node, "axis");
    if (axis && axis->i != -1 && axis->i != 2) return false;
    return add && holo_node_is(add, "Add") && uses[node->in[0]->id] == 1 &&
           holo_type_equal(&add->in[0]->type, &add->in[1]->type);
}

static bool is_wanted(const HoloNode *node, const int *uses)
{
    static const char *const sums[] = {"InstanceNormalization", "ReduceL2", "ReduceMean", "ReduceSum"};
    if (holo_node_attr(node, "peer")) return false;
    for (int i = 0; i < HOLO_COUNT(sums); i++)
        if (holo_node_is(node, sums[i])) return is_f32(node->in[0]);
    return is_skip_norm(node, uses);
}

static HoloStatus mark(HoloGraph *graph, HoloNode *node, HoloError *error)
{
    HoloAttr *attr = HOLO_NEW(graph->arena, HoloAttr, node->attr_count + 1);
    if (!attr) return holo_fail_memory(error);
    if (node->attr_count) memcpy(attr, node->attr, (size_t)node->attr_count * sizeof *attr);
    attr[node->attr_count++] = (HoloAttr){.name = "peer", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    node->attr               = attr;
    return HOLO_OK;
}

HoloStatus holo_pass_peer(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    bool *reaches = HOLO_NEW(scratch, bool, graph->value_count + 1); // by value id: a step is behind it
    int  *uses    = holo_graph_uses(graph, scratch);
    if (!reaches || !uses) return holo_fail_memory(error);
    for (int i = graph->node_count - 1; i >= 0 && changes->count < changes->limit; i--) {
        HoloNode *node = graph->nodes[i];
        bool      any  = is_step(node);
        for (int k = 0; k < node->out_count && !any; k++) any = node->out[k] && reaches[node->out[k]->id];
        if (!any) continue;
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k]) reaches[node->in[k]->id] = true;
        if (!is_wanted(node, uses)) continue;
        HOLO_TRY(mark(graph, node, error));
        changes->count++;
    }
    return HOLO_OK;
}
