// window.h - a window that slides over the spatial dimensions of a tensor: the geometry that all convolutions and
// poolings share, computed once from the attributes of a call.
#ifndef HOLO_OPS_WINDOW_H
#define HOLO_OPS_WINDOW_H

#include "ops/op.h"

enum { HOLO_MAX_SPATIAL = HOLO_MAX_RANK - 2 };

// In each dimension, output o and tap t of the filter meet at input i:
//     i = o * stride - pad_begin + t * dilation             plainly
//     i = (o + pad_begin - t * dilation) / stride           transposed, and only if that is whole
// While inferring, sizes and paddings may be symbolic; strides and dilations never are.
typedef struct HoloWindow {
    int     rank; // spatial dimensions
    bool    transposed;
    HoloDim in[HOLO_MAX_SPATIAL], out[HOLO_MAX_SPATIAL], kernel[HOLO_MAX_SPATIAL];
    HoloDim pad_begin[HOLO_MAX_SPATIAL], pad_end[HOLO_MAX_SPATIAL];
    int64_t stride[HOLO_MAX_SPATIAL], dilation[HOLO_MAX_SPATIAL];
} HoloWindow;

// From the attributes kernel_shape, strides, dilations, pads and auto_pad. `kernel` is the size of the weights; NULL:
// only the attribute has it. `ceil`: a last window that is partly outside counts.
HOLO_MUST HoloStatus holo_window_init(const HoloCall *call, int rank, const HoloDim *in, const HoloDim *kernel,
                                      bool ceil, HoloWindow *out);
// The same for ConvTranspose and MaxUnpool, with output_padding and output_shape.
HOLO_MUST HoloStatus holo_window_init_transposed(const HoloCall *call, int rank, const HoloDim *in,
                                                 const HoloDim *kernel, HoloWindow *out);

// When evaluating: every size is a number.

int64_t holo_window_taps(const HoloWindow *w); // of the kernel, all dimensions together
int64_t holo_window_ins(const HoloWindow *w);  // positions of one plane of the input
int64_t holo_window_outs(const HoloWindow *w); // and of the output

// The input position (flat) where output `o` and tap `t` (also flat) meet; -1: outside.
int64_t holo_window_meet(const HoloWindow *w, int64_t o, int64_t t);

// Elements under tap `t` for the outputs start .. start + count - 1 of one plane, count <= HOLO_TILE: those of x at
// plane + position * step, or `outside`.
void holo_window_read(const HoloWindow *w, const HoloTensor *x, int64_t plane, int64_t step, int64_t t, int64_t start,
                      int64_t count, double outside, double *out);

#endif
