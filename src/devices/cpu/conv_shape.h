// conv_shape.h - the geometry of a convolution or pooling as kernels take it.
#ifndef HOLO_DEVICES_CPU_CONV_SHAPE_H
#define HOLO_DEVICES_CPU_CONV_SHAPE_H

#include "devices/cpu/kernel.h"
#include "kernels/kernels.h"

// Reads the geometry from the attributes of a call. Its input 0 and output 0 have a batch, channels and 1 to 3 spatial
// dimensions; the channels come before these or last. No size of the output is 0. `kernel` is the size of the filters;
// NULL: the attribute has it. Refuses an output of other sizes.
HOLO_MUST HoloStatus holo_conv_shape(const HoloCall *call, const int64_t *kernel, bool channels_last, bool ceil,
                                     HoloConvShape *out);

// Gives the attribute `group`. Refuses channels, filters and images of input 0, weights and output 0, which have one
// rank, that do not fit together.
HOLO_MUST HoloStatus holo_conv_groups(const HoloCall *call, const HoloTensor *w, bool channels_last,
                                      int64_t *out_groups);
// The same for f32 with a bias: inputs 0 to 2, with 1 to 3 spatial dimensions.
HOLO_MUST HoloStatus holo_conv_expect(const HoloCall *call, bool channels_last, int64_t *out_groups);
// Is each scale, zero point and bias of a QLinearConv one number or, where allowed, one number for each filter?
bool holo_conv_has_scales(const HoloCall *call, int64_t filters);

#endif
