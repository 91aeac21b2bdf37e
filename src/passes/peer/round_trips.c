// round_trips.c - a Cast of f32 to f16 and one straight back become one node, RoundF16, which stores no f16.
#include "passes/rewrite.h"

static bool is_cast(const HoloNode *node, HoloDtype from, HoloDtype to)
{
    return node && holo_node_is(node, "Cast") && node->in_count == 1 && node->in[0] && node->out[0] &&
           node->in[0]->type.kind == HOLO_TENSOR && node->in[0]->type.dtype == from && node->out[0]->type.dtype == to;
}

HoloStatus holo_pass_round_trips(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    for (int i = 0; i < graph->node_count && holo_rewrite_more(&rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        if (!is_cast(node, HOLO_F16, HOLO_F32) || !is_cast(node->in[0]->producer, HOLO_F32, HOLO_F16)) continue;
        node->in[0]      = node->in[0]->producer->in[0];
        node->attr_count = 0;
        holo_node_become(node, HOLO_ID_HOLOGRAM_RoundF16, 1);
        rewrite.changes++;
    }
    return holo_rewrite_end(&rewrite, error);
}
