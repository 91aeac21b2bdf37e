// fused_activation.c - the table of activations. They are computed in double; nothing is looked up.
#include "ops/standard/fused_activation.h"
#include "ops/functions.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define ACTIVATIONS(ROW)                                                                         \
    ROW("Relu", relu, holo_relu(x), 0, 0, false, false)                                          \
    ROW("Tanh", hyperbolic, holo_tanh(x), 0, 0, false, false)                                    \
    ROW("Sigmoid", sigmoid, holo_sigmoid(x), 0, 0, false, false)                                 \
    ROW("Affine", affine, alpha *x + beta, 1, 0, true, true)                                     \
    ROW("LeakyRelu", leaky_relu, holo_leaky_relu(x, alpha), 0.01, 0, true, false)                \
    ROW("ThresholdedRelu", thresholded_relu, holo_thresholded_relu(x, alpha), 1, 0, true, false) \
    ROW("ScaledTanh", scaled_tanh, alpha *holo_tanh(beta *x), 1, 1, true, true)                  \
    ROW("HardSigmoid", hard_sigmoid, holo_unit(alpha *x + beta), 0.2, 0.5, true, true)           \
    ROW("Elu", elu, holo_elu(x, alpha), 1, 0, true, false)                                       \
    ROW("Softsign", softsign, holo_softsign(x), 0, 0, false, false)                              \
    ROW("Softplus", softplus, holo_softplus(x), 0, 0, false, false)                              \
    ROW("Clip", clip, fmin(beta, fmax(alpha, x)), -INFINITY, INFINITY, true, true)               \
    ROW("HardSwish", hard_swish, x *holo_unit(alpha *x + beta), 1.0 / 6, 0.5, true, true)

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

HoloStatus holo_activations_read(const HoloCall *call, int64_t directions, int each, const char *const *defaults,
                                 HoloActivationUse *out)
{
    const HoloAttr *names = holo_attr_find(call, "activations"), *alpha = holo_attr_find(call, "activation_alpha"),
                   *beta = holo_attr_find(call, "activation_beta");
    int count = (int)directions * each, alphas = 0, betas = 0;
    if (names && names->kind == HOLO_ATTR_STRINGS && names->count != 0 && names->count != count)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%d activations, expected %d", names->count, count);
    bool given = names && names->kind == HOLO_ATTR_STRINGS && names->count == count;
    for (int i = 0; i < count; i++) {
        const char        *usual = defaults[i % each];
        HoloString         name  = given ? names->strings[i] : (HoloString){usual, strlen(usual)};
        HoloActivationUse *a     = &out[i];
        a->row                   = holo_activation_find(name);
        if (!a->row)
            return holo_call_fail(call, HOLO_BAD_MODEL, "activation '%.*s' is not known",
                                  (int)(name.size < 40 ? name.size : 40), name.data);
        a->alpha = a->row->alpha; // the lists have entries only for the functions that take them
        a->beta  = a->row->beta;
        if (a->row->has_alpha && alpha && alpha->kind == HOLO_ATTR_FLOATS && alphas < alpha->count)
            a->alpha = alpha->floats[alphas++];
        if (a->row->has_beta && beta && beta->kind == HOLO_ATTR_FLOATS && betas < beta->count)
            a->beta = beta->floats[betas++];
    }
    return HOLO_OK;
}
