// sizes.h - numbers for the symbolic sizes of a model that its operators accept.
#ifndef HOLO_VERIFY_SIZES_H
#define HOLO_VERIFY_SIZES_H

#include "graph/graph.h"

// By symbol of graph->dims. Memory from the arena; NULL: none left. The graph's types are inferred anew in
// the search and are what they were afterwards. Where no numbers please every node, those that please most.
int64_t *holo_sizes_find(HoloGraph *graph, HoloArena *arena, HoloError *error);

#endif
