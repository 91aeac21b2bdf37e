// finish.h - tails that the products apply themselves, before a sum is first stored.
#ifndef HOLO_DEVICES_CPU_FINISH_H
#define HOLO_DEVICES_CPU_FINISH_H

#include "devices/cpu/tail.h"
#include "kernels/kernels.h"

// Is all that the tail does to add a tensor of the output's shape, and then to take x * sigmoid(slope * x) or to
// keep the result between bounds? Then *out does the same, once `more` is set: to the data of input *out_more of the tail,
// for the whole output, or to NULL where that is 0.
bool holo_finish_of(const HoloTail *tail, HoloFinish *out, int *out_more);

#endif
