// math_ratio.c - quotients of polynomials of floats. See math_ratio.h.
#include "base/math/math_ratio.h"

#include <math.h>

static float polynomial(const float *factor, int count, float x)
{
    float sum = factor[0];
    for (int i = 1; i < count; i++) sum = fmaf(sum, x, factor[i]);
    return sum;
}

static float ratio(const HoloRatio *r, float x)
{
    x       = x < -r->limit ? -r->limit : x > r->limit ? r->limit : x; // a NaN stays
    float s = x * x;
    return polynomial(r->up, r->ups, s) * x / polynomial(r->down, r->downs, s);
}

float holo_sigmoid_ratio(float x)
{
    float y = ratio(&HOLO_RATIO_SIGMOID, x) + 0.5f;
    return y < 0 ? 0 : y;
}

float holo_tanh_ratio(float x)
{
    return ratio(&HOLO_RATIO_TANH, x);
}
