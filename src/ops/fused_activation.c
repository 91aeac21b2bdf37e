// fused_activation.c - the table of activations. They are computed in double; nothing is looked up.
#include "ops/fused_activation.h"
#include "base/math.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define ACTIVATIONS(ROW)                                                                      \
    ROW("Relu", relu, x > 0 || x != x ? x : 0, 0, 0, false, false)                            \
    ROW("Tanh", hyperbolic, holo_tanh(x), 0, 0, false, false)                                 \
    ROW("Sigmoid", sigmoid, holo_sigmoid(x), 0, 0, false, false)                              \
    ROW("Affine", affine, alpha *x + beta, 1, 0, true, true)                                  \
    ROW("LeakyRelu", leaky_relu, x < 0 ? alpha * x : x, 0.01, 0, true, false)                 \
    ROW("ThresholdedRelu", thresholded_relu, x > alpha || x != x ? x : 0, 1, 0, true, false)  \
    ROW("ScaledTanh", scaled_tanh, alpha *holo_tanh(beta *x), 1, 1, true, true)               \
    ROW("HardSigmoid", hard_sigmoid, fmin(1, fmax(0, alpha *x + beta)), 0.2, 0.5, true, true) \
    ROW("Elu", elu, x < 0 ? alpha * holo_expm1(x) : x, 1, 0, true, false)                     \
    ROW("Softsign", softsign, x / (1 + fabs(x)), 0, 0, false, false)                          \
    ROW("Softplus", softplus, holo_softplus(x), 0, 0, false, false)                           \
    ROW("Clip", clip, fmin(beta, fmax(alpha, x)), -INFINITY, INFINITY, true, true)            \
    ROW("HardSwish", hard_swish, x *fmin(1, fmax(0, alpha *x + beta)), 1.0 / 6, 0.5, true, true)

#define ROW(name, id, expression, a, b, has_a, has_b)     \
    static double id(double x, double alpha, double beta) \
    {                                                     \
        (void)alpha, (void)beta;                          \
        return expression;                                \
    }
ACTIVATIONS(ROW)
#undef ROW

static const HoloActivation activations[] = {
#define ROW(name, id, expression, a, b, has_a, has_b) {name, id, a, b, has_a, has_b},
    ACTIVATIONS(ROW)
#undef ROW
};

const HoloActivation *holo_activation_find(HoloString name)
{
    for (int i = 0; i < HOLO_COUNT(activations); i++) {
        const char *known = activations[i].name;
        if (strlen(known) == name.size && !strncasecmp(known, name.data, name.size)) return &activations[i];
    }
    return NULL;
}
