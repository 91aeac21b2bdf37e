// attention_pass.c - finds attention that is written as products and a softmax, and moves Attention closer to the
// projections.
#include "passes/fuse/attention_pass.h"

HoloStatus holo_pass_attention(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    const int *uses  = holo_graph_uses(graph, scratch);
    int        count = graph->node_count, values = graph->value_count;
    if (!uses) return holo_fail_memory(error);
    for (int i = 0; i < count && holo_rewrite_more(&rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        if (!node->op || !node->out_count || !node->out[0]) continue;
        holo_rewrite_inputs(&rewrite, node);
        if (!holo_attention_heads(&rewrite, node) || !holo_attention_fuse(&rewrite, uses, values, node) ||
            !holo_attention_batch(&rewrite, uses, values, node) || !holo_attention_parts(&rewrite, uses, values, node))
            return holo_fail_memory(error);
    }
    return holo_rewrite_end(&rewrite, error);
}
