// finish.h - tails that products apply themselves, before they store a sum.
#ifndef HOLO_DEVICES_CPU_FINISH_H
#define HOLO_DEVICES_CPU_FINISH_H

#include "devices/cpu/tail.h"
#include "kernels/kernels.h"

// Does the tail only add a tensor of the output's shape, and then compute x * sigmoid(slope * x) or limit the result?
// Then *out does the same, once `more` is set: to the data of input *out_more of the tail, for the whole output, or to
// NULL if that is 0.
bool holo_finish_of(const HoloTail *tail, HoloFinish *out, int *out_more);

#endif
