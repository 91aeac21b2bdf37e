// functions.h - activation functions in double that several operators share. Results are checked against these: the
// kernels have formulas of their own, in format/map_ops.def, so that a mistake in either shows.
#ifndef HOLO_OPS_FUNCTIONS_H
#define HOLO_OPS_FUNCTIONS_H

#include "base/math/math.h"

#include <math.h>

// x, cut off below 0 and above 1. NaN stays NaN.
static inline double holo_unit(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static inline double holo_relu(double x)
{
    return x < 0 ? 0 : x;
}

static inline double holo_leaky_relu(double x, double alpha)
{
    return x < 0 ? alpha * x : x;
}

static inline double holo_thresholded_relu(double x, double alpha)
{
    return x > alpha ? x : 0;
}

static inline double holo_elu(double x, double alpha)
{
    return x < 0 ? alpha * holo_expm1(x) : x;
}

static inline double holo_softsign(double x)
{
    return x / (1 + fabs(x));
}

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
