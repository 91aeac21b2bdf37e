// dead.c - removes nodes and values that no output of the graph needs.
#include "passes/rewrite.h"

HoloStatus holo_pass_dead(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    int dropped = holo_graph_drop_dead(graph, scratch);
    if (dropped < 0) return holo_fail_memory(error);
    changes->count += dropped;
    return HOLO_OK;
}
