// search.h - which layers stay wide so that the target is met.
#ifndef HOLO_QUANTIZE_SEARCH_H
#define HOLO_QUANTIZE_SEARCH_H

#include "quantize/narrow.h"
#include "quantize/runs.h"

typedef struct HoloLayerSearch {
    const HoloNarrowLayers    *narrow;
    HoloLayers                *layers; // whose is_wide is set
    const HoloBaseline        *baseline;
    const HoloQuantizeOptions *options;
    HoloDistance               found;  // of what was chosen
    double                     target; // of the score
    int                        trials;
    double                     start; // when it began
    HoloError                 *error;
} HoloLayerSearch;

// All layers are tried together; where that misses the target each is tried alone, for as long as there is time, and
// those that lose most get their spare weights, or, where that is not enough, stay wide: as few as are needed.
HOLO_MUST HoloStatus holo_search(HoloLayerSearch *search);

#endif
