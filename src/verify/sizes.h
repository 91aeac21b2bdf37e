// sizes.h - numbers for the symbolic sizes of a model that its operators accept.
#ifndef HOLO_VERIFY_SIZES_H
#define HOLO_VERIFY_SIZES_H

#include "graph/graph.h"

// By symbol of graph->dims. Arena memory; NULL: none left. If no numbers please every node, those that please the most.
// Afterwards the graph has the types of the last trial and must not be used for anything else.
int64_t *holo_sizes_find(HoloGraph *graph, HoloArena *arena, HoloError *error);

#endif
