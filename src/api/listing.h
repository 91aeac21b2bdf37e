// listing.h - builds a listing from a graph or from a plan.
#ifndef HOLO_API_LISTING_H
#define HOLO_API_LISTING_H

#include "base/base.h"
#include "graph/graph.h"
#include "hologram_compiler.h"

typedef struct HoloLister {
    HoloListing       listing; // first, so that a pointer to a listing is a pointer to its lister
    HoloArena         arena;
    HoloListingNode  *nodes;
    HoloListingValue *values;
    int               node_room, value_room;
    HoloError        *error;
} HoloLister;

// Adds a value or node, zeroed, with offset, producer and parent -1. NULL: no memory. Earlier pointers become invalid.
HoloListingValue *holo_lister_value(HoloLister *lister);
HoloListingNode  *holo_lister_node(HoloLister *lister);

HOLO_MUST HoloStatus holo_listing_of_graph(HoloLister *lister, const HoloGraph *graph);
HOLO_MUST HoloStatus holo_listing_of_model(HoloLister *lister, const HoloModel *model);

#endif
