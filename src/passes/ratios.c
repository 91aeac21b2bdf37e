// ratios.c - in graphs that quantise, Sigmoid, Swish and Tanh of f32 are computed as in ONNX Runtime, by quotients of
// polynomials (base/math_ratio.h): one bit of theirs can become a whole step of what is quantised behind them. Elsewhere the
// exact ones stay.
#include "passes/rewrite.h"

#include <string.h>

static const char *const quantisers[] = {"DynamicQuantizeLinear", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul",
                                         "QuantizeLinear"};

static const struct {
    const char *type, *domain, *ratio;
} functions[] = {
    {"Sigmoid", "", "SigmoidRatio"},
    {"Tanh", "", "TanhRatio"},
    {"Swish", "", "SwishRatio"},
    {"QuickGelu", "com.microsoft", "QuickGeluRatio"},
};

static bool quantises(const HoloGraph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < HOLO_COUNT(quantisers); k++)
            if (!strcmp(graph->nodes[i]->type, quantisers[k])) return true;
    return false;
}

static const char *ratio_of(const HoloNode *node)
{
    if (node->out_count != 1 || node->out[0]->type.kind != HOLO_TENSOR || node->out[0]->type.dtype != HOLO_F32)
        return NULL;
    for (int i = 0; i < HOLO_COUNT(functions); i++)
        if (!strcmp(node->type, functions[i].type) && !strcmp(node->domain, functions[i].domain))
            return functions[i].ratio;
    return NULL;
}

HoloStatus holo_pass_ratios(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    if (!quantises(graph)) return HOLO_OK;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    for (int i = 0; i < graph->node_count && holo_rewrite_more(&rewrite); i++) {
        HoloNode   *node  = graph->nodes[i];
        const char *ratio = ratio_of(node);
        if (!ratio) continue;
        node->type    = ratio;
        node->domain  = "hologram";
        node->version = 1;
        node->op      = holo_op_find(node->domain, node->type, node->version);
        rewrite.changes++;
    }
    return holo_rewrite_end(&rewrite, error);
}
