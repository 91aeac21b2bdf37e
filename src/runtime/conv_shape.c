// conv_shape.c - the geometry of a convolution or pooling, checked to be such that offsets into the
// image and sums of them fit.
#include "runtime/conv_shape.h"

#include "ops/window.h"

enum { NUMBER_MAX = 1 << 30 }; // of any number of the geometry

static bool sizes_fit(const HoloConvShape *s)
{
    for (int d = 0; d < 3; d++) {
        const int64_t sizes[] = {s->out[d], s->kernel[d], s->stride[d], s->dilation[d]};
        for (int i = 0; i < HOLO_COUNT(sizes); i++)
            if (sizes[i] < 1 || sizes[i] > NUMBER_MAX) return false;
        if (s->in[d] < 0 || s->in[d] > NUMBER_MAX || s->pad[d] < -NUMBER_MAX || s->pad[d] > NUMBER_MAX) return false;
    }
    return true;
}

HoloStatus holo_conv_shape(const HoloCall *call, const int64_t *kernel, bool channels_last, bool ceil,
                           HoloConvShape *out)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    HoloWindow        window;
    int               rank = x->rank - 2, first = channels_last ? 1 : 2;
    HOLO_TRY(holo_window_init(call, rank, x->dim + first, kernel, ceil, &window));
    *out = (HoloConvShape){{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    for (int d = 0, at = 3 - rank; d < rank; d++, at++) {
        out->in[at]       = x->dim[first + d];
        out->out[at]      = y->dim[first + d];
        out->kernel[at]   = window.kernel[d];
        out->stride[at]   = window.stride[d];
        out->dilation[at] = window.dilation[d];
        out->pad[at]      = window.pad_begin[d];
        if (window.out[d] != y->dim[first + d] || (kernel && window.kernel[d] != kernel[d]))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes do not follow from those of the input");
    }
    if (!sizes_fit(out)) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "a size is 0 or beyond %d", NUMBER_MAX);
    return HOLO_OK;
}
