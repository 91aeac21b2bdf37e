// fused_activation.h - activation functions that operators name by an attribute: recurrent layers, FusedConv,
// FusedGemm.
#ifndef HOLO_OPS_FUSED_ACTIVATION_H
#define HOLO_OPS_FUSED_ACTIVATION_H

#include "ops/op.h"

typedef struct HoloActivation {
    const char *name; // compared without regard to case
    double (*f)(double x, double alpha, double beta);
    double alpha, beta; // the defaults
    bool   has_alpha, has_beta;
} HoloActivation;

const HoloActivation *holo_activation_find(HoloString name); // NULL: no such

#endif
