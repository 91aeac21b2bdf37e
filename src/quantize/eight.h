// eight.h - which values of a graph are stored in 8 bits, when some of its layers are quantized with constant scales.
#ifndef HOLO_QUANTIZE_EIGHT_H
#define HOLO_QUANTIZE_EIGHT_H

#include "quantize/layers.h"

typedef struct HoloEight {
    bool *is;     // by value id: it is there in 8 bits
    bool *forced; // by value id: whoever reads it reads that
    int  *like;   // by value id: the value whose steps it has; itself, or what it is moved from
    bool *whole;  // by node: it reads and gives 8 bits, though it is no layer
} HoloEight;

// `graph` is that of the layers, or a copy. Memory of `arena`. With more layers narrow, more values are in 8 bits.
HOLO_MUST HoloStatus holo_eight_find(const HoloGraph *graph, const HoloLayers *layers, HoloArena *arena, HoloEight *out,
                                     HoloError *error);

#endif
