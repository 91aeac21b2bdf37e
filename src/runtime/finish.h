// finish.h - tails that the products apply themselves, before a sum is first stored.
#ifndef HOLO_RUNTIME_FINISH_H
#define HOLO_RUNTIME_FINISH_H

#include "kernels/kernels.h"
#include "runtime/tail.h"

// Is all that the tail does to add a tensor of the output's shape, and then to take x * sigmoid(slope * x) or to
// keep the result between bounds? Then *out does the same; `more` is for the whole output.
bool holo_finish_of(const HoloTail *tail, HoloFinish *out);

#endif
