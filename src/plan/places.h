// places.h - where each value of a graph is stored: on its own, or in the bytes of another value.
#ifndef HOLO_PLAN_PLACES_H
#define HOLO_PLAN_PLACES_H

#include "format/holo.h"
#include "graph/graph.h"
#include "lower/lower.h"

typedef struct HoloPlace {
    HoloStorage      storage;
    const HoloValue *base;   // for HOLO_STORE_ALIAS and _PART: the value whose bytes it shares; else NULL
    HoloDim          offset; // for HOLO_STORE_PART: its first element in `base`
} HoloPlace;

typedef struct HoloPlaces { // for one graph
    const HoloGraph   *graph;
    const HoloLowered *lowered;
    HoloPlace         *place; // by id of a value
    const HoloValue  **up; // by id of a value: one whose bytes it shares, further away than its base; NULL: not known
    bool              *known; // by entry of dims: it is a number once inputs are bound
    int                known_count, known_room;
    HoloArena         *arena; // borrowed: owns the arrays
} HoloPlaces;

// `outer`: the places of the graph that holds this one, whose sizes are known here as well; NULL: none.
HOLO_MUST HoloStatus holo_places_find(const HoloGraph *graph, const HoloLowered *lowered, const HoloPlaces *outer,
                                      HoloArena *arena, HoloPlaces *out, HoloError *error);
// Is `d` a number once the inputs are bound? It may be an expression that is newer than the places.
bool holo_places_know(HoloPlaces *places, HoloDim d);

#endif
