// made_up.h - makes up inputs for a model if nobody gave any.
//
// The first inputs are what the graph's nodes ask for (input_ranges.h), or else normally distributed floats and whole
// numbers of 1. If a node rejects them, those that reach it are changed step by step: small and tiny numbers, zeros,
// ones, positions, larger numbers of either sign.
#ifndef HOLO_VERIFY_MADE_UP_H
#define HOLO_VERIFY_MADE_UP_H

#include "verify/input_ranges.h"

typedef struct HoloMadeUp {
    const HoloGraph      *graph;
    const HoloInputRange *ranges;  // by input
    bool                 *reaches; // by input: a node that rejected something depends on it
    int                   attempt;
    uint64_t              seed;   // other seeds give other numbers
    int64_t               filled; // how many numbers were made up so far
} HoloMadeUp;

HOLO_MUST HoloStatus holo_made_up_init(HoloMadeUp *made, const HoloGraph *graph, const HoloInputRange *ranges,
                                       HoloArena *arena, HoloError *error);
// Fills input i, which has memory and whose sizes are numbers.
void holo_made_up_fill(HoloMadeUp *made, int i, HoloTensor *t);
// Changes the inputs after `node` rejected them. False: there is nothing more to try.
HOLO_MUST bool holo_made_up_next(HoloMadeUp *made, const HoloNode *node);
// "made-up inputs (ids: zeros)".
void holo_made_up_text(const HoloMadeUp *made, char *text, size_t size);

#endif
