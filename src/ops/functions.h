// functions.h - activation functions that more than one operator has.
#ifndef HOLO_OPS_FUNCTIONS_H
#define HOLO_OPS_FUNCTIONS_H

#include "base/math/math.h"

static inline double holo_silu(double x)
{
    return x * holo_sigmoid(x);
}

static inline double holo_gelu_tanh(double x)
{
    const double factor = 0.7978845608028654; // sqrt(2 / pi)
    return 0.5 * x * (1 + holo_tanh(factor * (x + 0.044715 * x * x * x)));
}

#endif
