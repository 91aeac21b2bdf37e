// conv_shape.h - the geometry of a convolution or pooling as kernels take it.
#ifndef HOLO_RUNTIME_CONV_SHAPE_H
#define HOLO_RUNTIME_CONV_SHAPE_H

#include "kernels/kernels.h"
#include "runtime/kernel.h"

// From the attributes of a call, whose input 0 and output 0 are tensors of a batch, channels and 1 to 3
// spatial dimensions, none of the output 0; the channels lie before these or last. `kernel` is that of the weights; NULL: the attribute tells.
// Refuses an output of other sizes than follow.
HOLO_MUST HoloStatus holo_conv_shape(const HoloCall *call, const int64_t *kernel, bool channels_last, bool ceil,
                                     HoloConvShape *out);

#endif
