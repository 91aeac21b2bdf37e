// usual.h - what several targets ask about nodes: are their attributes those that kernels are made for?
#ifndef HOLO_LOWER_USUAL_H
#define HOLO_LOWER_USUAL_H

#include "ops/op.h"

// LSTM, GRU and RNN, which have 4, 3 and 1 gates: the activations are the default ones, named or not.
bool holo_has_usual_activations(const HoloCall *call, int gates);

#endif
