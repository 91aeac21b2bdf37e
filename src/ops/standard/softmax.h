// softmax.h - softmax of a row of numbers, in place; and which axes of a tensor make a row.
#ifndef HOLO_OPS_STANDARD_SOFTMAX_H
#define HOLO_OPS_STANDARD_SOFTMAX_H

#include "ops/op.h"

// There is at least one number.
void holo_softmax(double *x, int64_t count);
void holo_log_softmax(double *x, int64_t count);

// The rows of input 0 run along the axes *from <= axis < *to: before opset 13 along all from `axis` on, since then
// along `axis` alone. `version` is the opset of the Softmax that is meant.
HOLO_MUST HoloStatus holo_softmax_rows(const HoloCall *call, int64_t version, int64_t axis, int *from, int *to);

#endif
