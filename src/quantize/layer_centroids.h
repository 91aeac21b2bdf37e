// layer_centroids.h - what products read, taken for the nearest of a few centroids: these, and tables of what they give.
#ifndef HOLO_QUANTIZE_LAYER_CENTROIDS_H
#define HOLO_QUANTIZE_LAYER_CENTROIDS_H

#include "quantize/layers.h"

// Finds the centroids of every layer that can have them on `samples`, and makes the tables; layers whose tables are beyond what
// these may take stay as they are. Memory of `arena`.
HOLO_MUST HoloStatus holo_centroids_find(const HoloGraph *graph, HoloLayers *layers, const HoloQuantizeOptions *options,
                                         const HoloSamples *samples, HoloArena *arena, HoloError *error);

#endif
