// eight.h - which values of a graph are stored in 8 bits if some of its layers are quantized with constant scales.
#ifndef HOLO_QUANTIZE_EIGHT_H
#define HOLO_QUANTIZE_EIGHT_H

#include "quantize/layers.h"

typedef struct HoloEight {
    bool *is;     // by value id: it exists in 8 bits
    bool *forced; // by value id: all its readers read the 8 bits
    int  *like;   // by value id: the value whose steps it has: itself, or what it is moved from
    bool *whole;  // by node: it reads and gives 8 bits, although it is not a layer
} HoloEight;

// `graph` is that of the layers, or a copy. The result is in `arena`. The more layers are narrow, the more values are
// in 8 bits.
HOLO_MUST HoloStatus holo_eight_find(const HoloGraph *graph, const HoloLayers *layers, HoloArena *arena, HoloEight *out,
                                     HoloError *error);

#endif
