// conv_shape.h - the geometry of a convolution or pooling as kernels take it.
#ifndef HOLO_DEVICES_CPU_CONV_SHAPE_H
#define HOLO_DEVICES_CPU_CONV_SHAPE_H

#include "devices/cpu/kernel.h"
#include "kernels/kernels.h"

// From the attributes of a call, whose input 0 and output 0 are tensors of a batch, channels and 1 to 3
// spatial dimensions, none of the output 0; the channels lie before these or last. `kernel` is that of the weights; NULL: the attribute tells.
// Refuses an output of other sizes than follow.
HOLO_MUST HoloStatus holo_conv_shape(const HoloCall *call, const int64_t *kernel, bool channels_last, bool ceil,
                                     HoloConvShape *out);

// The attribute `group`. Refuses channels, filters and images of input 0, weights and output 0, which have one rank, that do
// not fit to each other.
HOLO_MUST HoloStatus holo_conv_groups(const HoloCall *call, const HoloTensor *w, bool channels_last,
                                      int64_t *out_groups);
// The same of f32, with a bias: inputs 0 to 2, of 1 to 3 spatial dimensions.
HOLO_MUST HoloStatus holo_conv_expect(const HoloCall *call, bool channels_last, int64_t *out_groups);
// Are the scales, zero points and biases of a QLinearConv single numbers, or one for each filter where these may differ?
bool holo_conv_has_scales(const HoloCall *call, int64_t filters);

#endif
