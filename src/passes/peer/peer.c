// peer.c - what a model quantizes later is computed as ONNX Runtime does.
//
// One bit of a number is a whole step of a quantization behind it, and so is a rounding to f16. Kernels have an order of sums
// that is as good as any and ONNX Runtime's where that costs nothing; this pass finds the nodes whose results reach such a step
// and for which it costs something. Marked by attribute `peer`, for time: LayerNormalization of f16, or of a sum that nothing else
// reads, which ONNX Runtime joins with the Add and takes element by element, InstanceNormalization, and sums. Replaced, for they are
// less exact there (base/math/math_ratio.h): Sigmoid, Swish and Tanh.
#include "passes/peer/peer.h"

#include "passes/build.h"

#include <string.h>

static bool is_f32(const HoloValue *value)
{
    return value && value->type.kind == HOLO_TENSOR && value->type.dtype == HOLO_F32;
}

static const char *const quantizers[] = {"DynamicQuantizeLinear", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul",
                                         "QuantizeLinear"};

bool holo_peer_is_step(const HoloNode *node)
{
    if (node->in_count < 1 || !is_f32(node->in[0]) || !node->out_count || !node->out[0]) return false;
    HoloDtype to = node->out[0]->type.dtype;
    if (holo_node_is(node, "Cast")) return to == HOLO_F16 || to == HOLO_BF16;
    for (int i = 0; i < HOLO_COUNT(quantizers); i++)
        if (!strcmp(node->type, quantizers[i])) return true;
    return false;
}

static bool has_fixed_sizes(const HoloTensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (holo_dim_is_symbolic(t->dim[d])) return false;
    return true;
}

// Is the value made of the other by what keeps rows, such as products and activations? Then the tools that quantize write
// the same names for sizes that they do not know.
static bool is_made_of(const HoloValue *value, const HoloValue *of)
{
    for (int steps = 0; steps < 32 && value->producer; steps++) {
        const HoloNode *node = value->producer;
        if (!node->op || node->op->flags & HOLO_OP_MOVES || strstr(node->type, "Attention")) return false;
        if (!node->in_count || !node->in[0]) return false;
        value = node->in[0];
        if (value == of) return true;
    }
    return false;
}

// LayerNormalization of f16, or written as one operator with the sum before it, as `peer` of 0 says, or that ONNX Runtime makes
// one: over the last of three dimensions, of a sum of two values of this shape, which it must know, or know to be the same.
static bool is_skip_norm(const HoloNode *node, const int *uses)
{
    if (!holo_node_is(node, "LayerNormalization") || !is_f32(node->in[0])) return false;
    const HoloTensor *x    = &node->in[0]->type;
    const HoloNode   *add  = node->in[0]->producer;
    const HoloAttr   *axis = holo_node_attr(node, "axis"), *peer = holo_node_attr(node, "peer");
    if (peer) return peer->i == 0;
    if (x->rank != 3 || (axis && axis->i != -1 && axis->i != 2)) return false;
    if (!add || !holo_node_is(add, "Add") || uses[node->in[0]->id] != 1) return false;
    return holo_type_equal(&add->in[0]->type, &add->in[1]->type) &&
           (has_fixed_sizes(x) || is_made_of(add->in[0], add->in[1]) || is_made_of(add->in[1], add->in[0]));
}

static bool is_wanted(const HoloNode *node, const int *uses)
{
    static const char *const sums[] = {"InstanceNormalization", "ReduceL2", "ReduceMean", "ReduceSum"};
    for (int i = 0; i < HOLO_COUNT(sums); i++)
        if (holo_node_is(node, sums[i])) return is_f32(node->in[0]) && !holo_node_attr(node, "peer");
    if (holo_node_is(node, "Attention") || holo_node_is(node, "Softmax"))
        return holo_node_attr(node, "peer") && !holo_node_int(node, "peer", 1);
    return is_skip_norm(node, uses);
}

// The function, of domain "hologram", that stands for the node's; NULL: there is none.
static const char *ratio_of(const HoloNode *node)
{
    static const struct {
        const char *type, *domain, *ratio;
    } functions[] = {
        {"Sigmoid", "", "SigmoidRatio"},
        {"Tanh", "", "TanhRatio"},
        {"Swish", "", "SwishRatio"},
        {"QuickGelu", "com.microsoft", "QuickGeluRatio"},
    };
    if (node->out_count != 1 || !is_f32(node->out[0])) return NULL;
    for (int i = 0; i < HOLO_COUNT(functions); i++)
        if (!strcmp(node->type, functions[i].type) && !strcmp(node->domain, functions[i].domain))
            return functions[i].ratio;
    return NULL;
}

static void replace(HoloNode *node, const char *ratio)
{
    holo_node_become(node, holo_op_id("hologram", ratio), 1);
}

HoloStatus holo_pass_peer(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    bool *reaches = HOLO_NEW(scratch, bool, graph->value_count + 1); // by value id: a step is behind it
    int  *uses    = holo_graph_uses(graph, scratch);
    if (!reaches || !uses) return holo_fail_memory(error);
    for (int i = graph->node_count - 1; i >= 0 && changes->count < changes->limit; i--) {
        HoloNode *node = graph->nodes[i];
        bool      any  = holo_peer_is_step(node);
        for (int k = 0; k < node->out_count && !any; k++) any = node->out[k] && reaches[node->out[k]->id];
        if (!any) continue;
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k]) reaches[node->in[k]->id] = true;
        const char *ratio = ratio_of(node);
        if (!ratio && !is_wanted(node, uses)) continue;
        if (ratio)
            replace(node, ratio);
        else if (!holo_build_attr(graph, node, "peer", 1))
            return holo_fail_memory(error);
        changes->count++;
    }
    return HOLO_OK;
}
