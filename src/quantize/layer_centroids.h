// layer_centroids.h - replaces what products read by the nearest of a few centroids: the centroids, and tables of their
// products.
#ifndef HOLO_QUANTIZE_LAYER_CENTROIDS_H
#define HOLO_QUANTIZE_LAYER_CENTROIDS_H

#include "quantize/layers.h"

// Finds the centroids of every layer that can have them on `samples`, and makes the tables. If the tables of a layer
// exceed the limit, the layer stays as it is. The result is in `arena`.
HOLO_MUST HoloStatus holo_centroids_find(const HoloGraph *graph, HoloLayers *layers, const HoloQuantizeOptions *options,
                                         const HoloSamples *samples, HoloArena *arena, HoloError *error);

#endif
