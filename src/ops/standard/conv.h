// conv.h - convolutions of every kind as one sum of products: weights [out][in][taps] times the elements that
// each tap meets.
#ifndef HOLO_OPS_STANDARD_CONV_H
#define HOLO_OPS_STANDARD_CONV_H

#include "ops/contract.h"
#include "ops/standard/fused_activation.h"
#include "ops/window.h"

// A convolution ready to run. The struct that an operator keeps for its own readers or `finish` starts with
// this one and is contract.arg. The stack of the contract is batch * group.
typedef struct HoloConv {
    HoloContract          contract;
    HoloWindow            window;
    const HoloTensor     *x, *w;
    const HoloTensor     *bias, *sum;     // added to the result: one a channel, one an element. NULL: none
    int64_t               group, in, out; // channels a group
    int64_t               taps, ins;      // window.kernel, and positions of an input plane
    double                x_zero;         // subtracted from x; what is outside is 0 after that
    const HoloTensor     *w_zero;         // from w: one for all or one an output channel. NULL: nothing
    const HoloActivation *activation;     // NULL: none
    double                alpha, beta;
} HoloConv;

// Types and shapes. Sets output 0 to `dtype`; x, w and bias are the inputs of those numbers (bias -1: none).
HOLO_MUST HoloStatus holo_conv_infer(HoloCall *call, int x, int w, int bias, bool transposed, HoloDtype dtype);
// When evaluating: the convolution of these inputs, to be written to output 0.
HOLO_MUST HoloStatus holo_conv_init(const HoloCall *call, int x, int w, int bias, bool transposed, HoloConv *out);

#endif
