// fused_activation.h - activation functions that operators name by an attribute: recurrent layers, FusedConv,
// FusedGemm.
#ifndef HOLO_OPS_STANDARD_FUSED_ACTIVATION_H
#define HOLO_OPS_STANDARD_FUSED_ACTIVATION_H

#include "ops/op.h"

typedef struct HoloActivation {
    const char *name; // compared without regard to case
    double (*f)(double x, double alpha, double beta);
    double alpha, beta; // the defaults
    bool   has_alpha, has_beta;
} HoloActivation;

const HoloActivation *holo_activation_find(HoloString name); // NULL: no such

typedef struct HoloActivationUse {
    const HoloActivation *row;
    double                alpha, beta;
} HoloActivationUse;

// The activations of a recurrent layer, by the attributes activations, activation_alpha and activation_beta: `each` in
// each direction, which are `defaults` where none are named.
HOLO_MUST HoloStatus holo_activations_read(const HoloCall *call, int64_t directions, int each,
                                           const char *const *defaults, HoloActivationUse *out);

static inline double holo_activate(const HoloActivationUse *a, double x)
{
    return a->row->f(x, a->alpha, a->beta);
}

#endif
