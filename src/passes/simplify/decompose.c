// decompose.c - replaces operators that are defined by others by their bodies (docs/graph-text.md).
//
// Operators with an `eval` of their own stay: lowering chooses what is faster as a whole.
#include "passes/rewrite.h"

HoloStatus holo_pass_decompose(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    // The nodes of bodies are added at the end, so the walk reaches them, too.
    for (int i = 0; i < graph->node_count && holo_rewrite_more(&rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        if (!node->op || !node->op->body || node->op->eval) continue;
        holo_rewrite_inputs(&rewrite, node);
        HOLO_TRY(holo_rewrite_body(&rewrite, node, node, error));
    }
    return holo_rewrite_end(&rewrite, error);
}
