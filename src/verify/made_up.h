// made_up.h - inputs for a model that nobody gave any for.
//
// The first are as the graph's nodes say (input_ranges.h), else normal floats and whole numbers of 1. Where a node rejects them,
// those that reach it are changed in steps: small and tiny numbers, zeros, ones, positions, larger ones of either sign.
#ifndef HOLO_VERIFY_MADE_UP_H
#define HOLO_VERIFY_MADE_UP_H

#include "verify/input_ranges.h"

typedef struct HoloMadeUp {
    const HoloGraph      *graph;
    const HoloInputRange *ranges;  // by input
    bool                 *reaches; // by input: a node that rejected some depends on it
    int                   attempt;
    uint64_t              seed; // others give other numbers
} HoloMadeUp;

HOLO_MUST HoloStatus holo_made_up_init(HoloMadeUp *made, const HoloGraph *graph, const HoloInputRange *ranges,
                                       HoloArena *arena, HoloError *error);
// Fills input i, whose type has numbers for sizes and which has memory.
void holo_made_up_fill(const HoloMadeUp *made, int i, HoloTensor *t);
// After `node` has rejected the inputs: other ones. False: there are no more.
HOLO_MUST bool holo_made_up_next(HoloMadeUp *made, const HoloNode *node);
// "made-up inputs (ids: zeros)".
void holo_made_up_text(const HoloMadeUp *made, char *text, size_t size);

#endif
