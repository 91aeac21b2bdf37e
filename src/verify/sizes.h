// sizes.h - numbers for the symbolic sizes of a model that its operators accept.
#ifndef HOLO_VERIFY_SIZES_H
#define HOLO_VERIFY_SIZES_H

#include "graph/graph.h"

// By symbol of graph->dims. Memory from the arena; NULL: none left. Where no numbers please every node, those
// that please most. The graph's types are those of the last trial afterwards: it is good for nothing else.
int64_t *holo_sizes_find(HoloGraph *graph, HoloArena *arena, HoloError *error);

#endif
