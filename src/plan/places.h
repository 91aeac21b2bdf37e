// places.h - where each value of a graph lies: what is stored for itself, and what shares the bytes of another.
#ifndef HOLO_PLAN_PLACES_H
#define HOLO_PLAN_PLACES_H

#include "format/holo.h"
#include "graph/graph.h"
#include "lower/lower.h"

typedef struct HoloPlace {
    HoloStorage      storage;
    const HoloValue *base;   // of HOLO_STORE_ALIAS and _PART: the value whose bytes it shares; else NULL
    HoloDim          offset; // of HOLO_STORE_PART: its first element in `base`
} HoloPlace;

typedef struct HoloPlaces { // of one graph
    const HoloGraph   *graph;
    const HoloLowered *lowered;
    HoloPlace         *place; // by id of a value
    bool              *known; // by entry of dims: a number once inputs are bound
    int                known_count, known_room;
    HoloArena         *arena; // borrowed: owns the arrays
} HoloPlaces;

// `outer`: of the graph that holds this one, whose sizes are known in it as well; NULL: none.
HOLO_MUST HoloStatus holo_places_find(const HoloGraph *graph, const HoloLowered *lowered, const HoloPlaces *outer,
                                      HoloArena *arena, HoloPlaces *out, HoloError *error);
// Is `d` a number once the inputs are bound? Expressions may be newer than the places.
bool holo_places_know(HoloPlaces *places, HoloDim d);

#endif
