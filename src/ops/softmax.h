// softmax.h - softmax of a row of numbers, in place.
#ifndef HOLO_OPS_SOFTMAX_H
#define HOLO_OPS_SOFTMAX_H

#include <stdint.h>

// Of at least one number.
void holo_softmax(double *x, int64_t count);
void holo_log_softmax(double *x, int64_t count);

#endif
