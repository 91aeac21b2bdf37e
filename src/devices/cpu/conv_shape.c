// conv_shape.c - the geometry of a convolution or pooling, checked so that offsets into the image and their sums fit.
#include "devices/cpu/conv_shape.h"

#include "ops/window.h"

enum { NUMBER_MAX = 1 << 30 }; // largest number in the geometry

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

HoloStatus holo_conv_groups(const HoloCall *call, const HoloTensor *w, bool channels_last, int64_t *out_groups)
{
    const HoloTensor *x = call->in[0], *out = call->out[0];
    int               at     = channels_last ? x->rank - 1 : 1;
    int64_t           groups = holo_attr_int(call, "group", 1), channels = x->dim[at], filters = w->dim[0];
    if (groups < 1 || channels % groups || filters % groups || w->dim[1] != channels / groups)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE,
                              "%lld channels and %lld filters cannot be divided into %lld groups", (long long)channels,
                              (long long)filters, (long long)groups);
    if (out->dim[0] != x->dim[0] || out->dim[at] != filters)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are not those of a convolution");
    *out_groups = groups;
    return HOLO_OK;
}

HoloStatus holo_conv_expect(const HoloCall *call, bool channels_last, int64_t *out_groups)
{
    const HoloTensor *x = holo_in(call, 0), *w = holo_in(call, 1), *b = holo_in(call, 2), *out = holo_out(call, 0);
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "X", 3, 5));
    HOLO_TRY(holo_cpu_kernel_expect(call, w, "W", x->rank, x->rank));
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", x->rank, x->rank));
    if (b) HOLO_TRY(holo_cpu_kernel_expect(call, b, "B", 1, 1));
    if (b && b->dim[0] != w->dim[0])
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are not those of a convolution");
    return holo_conv_groups(call, w, channels_last, out_groups);
}

bool holo_conv_has_scales(const HoloCall *call, int64_t filters)
{
    enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };
    const HoloTensor *bias = holo_in(call, BIAS);
    return holo_cpu_kernel_is_line(holo_in(call, X_SCALE), HOLO_F32, HOLO_ONE) &&
           holo_cpu_kernel_is_line(holo_in(call, X_ZERO), call->in[X]->dtype, HOLO_ONE) &&
           holo_cpu_kernel_is_line(holo_in(call, W_SCALE), HOLO_F32, filters) &&
           holo_cpu_kernel_is_line(holo_in(call, W_ZERO), call->in[W]->dtype, filters) &&
           holo_cpu_kernel_is_line(holo_in(call, Y_SCALE), HOLO_F32, HOLO_ONE) &&
           holo_cpu_kernel_is_line(holo_in(call, Y_ZERO), call->out[0]->dtype, HOLO_ONE) &&
           (!bias || (holo_cpu_kernel_is_line(bias, HOLO_I32, filters) && holo_tensor_count(bias) == filters));
}
