// narrow.h - rewrites a graph so that its layers have narrow weights and, in int8, narrow operands.
#ifndef HOLO_QUANTIZE_NARROW_H
#define HOLO_QUANTIZE_NARROW_H

#include "quantize/eight.h"
#include "quantize/ranges.h"

// By value id of the layers' graph: the steps of 8 bits; only static scales need them.
typedef struct HoloNarrowLayers {
    const HoloGraph  *graph;
    const HoloLayers *layers;
    const HoloSteps  *steps;
} HoloNarrowLayers;

// A copy of the graph in which all chosen layers are narrow. The copy is in `arena`; weights are shared.
HOLO_MUST HoloStatus holo_narrow_make(const HoloNarrowLayers *narrow, HoloArena *arena, HoloGraph **out,
                                      HoloError *error);

#endif
