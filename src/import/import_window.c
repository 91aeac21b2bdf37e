// import_window.c - convolutions and pooling with channels last. See import_window.h.
#include "import/import_window.h"

HoloImportWindow holo_window(int rank)
{
    HoloImportWindow w = {.rank = rank, .groups = 1};
    for (int i = 0; i < HOLO_WINDOW_MAX; i++) w.size[i] = w.stride[i] = w.dilation[i] = 1;
    return w;
}

HoloValue *holo_window_open(HoloEmit *e, const HoloImportWindow *w, HoloValue *x)
{
    int64_t perm[2 + HOLO_WINDOW_MAX] = {0, w->rank + 1};
    for (int i = 0; i < w->rank; i++) perm[i + 2] = i + 1;
    return w->is_first ? x : holo_emit_transpose(e, x, perm, w->rank + 2);
}

HoloValue *holo_window_close(HoloEmit *e, const HoloImportWindow *w, HoloValue *y)
{
    int64_t perm[2 + HOLO_WINDOW_MAX] = {0};
    for (int i = 0; i < w->rank; i++) perm[i + 1] = i + 2;
    perm[w->rank + 1] = 1;
    return w->is_first ? y : holo_emit_transpose(e, y, perm, w->rank + 2);
}

// Padding as numbers, if the sizes are numbers; false: they are not. x has channels behind the batch.
static bool same_pads(const HoloImportWindow *w, const HoloValue *x, int64_t *pads)
{
    for (int i = 0; i < w->rank; i++) {
        int64_t in = x->type.dim[i + 2], window;
        if (holo_dim_is_symbolic(in) || w->stride[i] < 1) return false;
        if (!holo_mul(w->size[i] - 1, w->dilation[i], &window)) return false;
        int64_t out = holo_ceil_div(in, w->stride[i]), total = (out - 1) * w->stride[i] + window + 1 - in;
        if (total < 0) total = 0;
        pads[i]           = total / 2;
        pads[i + w->rank] = total - total / 2;
    }
    return true;
}

enum { ATTRS_MAX = 8 };

// Attributes of a window. Returns how many.
static int window_attrs(const HoloImportWindow *w, const HoloValue *x, int64_t *pads, HoloAttr *out)
{
    int count    = 0;
    out[count++] = holo_with_ints("kernel_shape", w->size, w->rank);
    out[count++] = holo_with_ints("strides", w->stride, w->rank);
    for (int i = 0; i < 2 * w->rank; i++) pads[i] = w->padding == HOLO_PADDING_EXPLICIT ? w->pad[i] : 0;
    if (w->padding == HOLO_PADDING_SAME && !same_pads(w, x, pads))
        out[count++] = holo_with_text("auto_pad", "SAME_UPPER");
    else
        out[count++] = holo_with_ints("pads", pads, 2 * w->rank);
    return count;
}

// Does x have the rank, and do the window's numbers make sense?
static bool is_right(HoloEmit *e, const HoloImportWindow *w, const HoloValue *x)
{
    if (e->status || !x) return false;
    if (x->type.rank != w->rank + 2)
        return holo_emit_fail(e, HOLO_BAD_MODEL, "the input should have %d dimensions, and has %d", w->rank + 2,
                              x->type.rank);
    for (int i = 0; i < w->rank; i++)
        if (w->stride[i] < 1 || w->dilation[i] < 1 || w->size[i] < 1 || w->size[i] > INT32_MAX ||
            w->stride[i] > INT32_MAX || w->dilation[i] > INT32_MAX)
            return holo_emit_fail(e, HOLO_BAD_MODEL, "sizes, strides and dilations must be positive numbers");
    return true;
}

static bool read_filter(HoloEmit *e, HoloImportWindow *w, const HoloValue *filter)
{
    if (e->status || !filter) return false;
    if (filter->type.rank != w->rank + 2)
        return holo_emit_fail(e, HOLO_BAD_MODEL, "the filter should have %d dimensions, and has %d", w->rank + 2,
                              filter->type.rank);
    for (int i = 0; i < w->rank; i++) w->size[i] = filter->type.dim[i];
    for (int i = 0; i < w->rank + 2; i++)
        if (holo_dim_is_symbolic(filter->type.dim[i]))
            return holo_emit_fail(e, HOLO_UNSUPPORTED, "the sizes of the filter must be known");
    return true;
}

// From window, a, b to b, a, window.
static HoloValue *filter_first(HoloEmit *e, const HoloImportWindow *w, HoloValue *filter)
{
    int64_t perm[2 + HOLO_WINDOW_MAX] = {w->rank + 1, w->rank};
    for (int i = 0; i < w->rank; i++) perm[i + 2] = i;
    return holo_emit_transpose(e, filter, perm, w->rank + 2);
}

// The filter has outputs, inputs of a group, window.
static HoloValue *conv(HoloEmit *e, const HoloImportWindow *w, HoloValue *x, HoloValue *filter, HoloValue *bias)
{
    int64_t  pads[2 * HOLO_WINDOW_MAX];
    HoloAttr attrs[ATTRS_MAX] = {0};
    x                         = holo_window_open(e, w, x);
    if (e->status) return NULL;
    int count      = window_attrs(w, x, pads, attrs);
    attrs[count++] = holo_with_ints("dilations", w->dilation, w->rank);
    attrs[count++] = holo_with_int("group", w->groups);
    HoloValue *y =
        bias ? holo_emit(e, "Conv", HOLO_IN(x, filter, bias), attrs) : holo_emit(e, "Conv", HOLO_IN(x, filter), attrs);
    return holo_window_close(e, w, y);
}

HoloValue *holo_window_conv(HoloEmit *e, const HoloImportWindow *window, HoloValue *x, HoloValue *filter,
                            HoloValue *bias)
{
    HoloImportWindow w = *window;
    if (!read_filter(e, &w, filter) || !is_right(e, &w, x)) return NULL;
    int64_t inputs = filter->type.dim[w.rank], channels = x->type.dim[w.is_first ? 1 : w.rank + 1];
    if (!holo_dim_is_symbolic(channels) && inputs > 0) w.groups = channels / inputs;
    return conv(e, &w, x, filter_first(e, &w, filter), bias);
}

HoloValue *holo_window_depthwise(HoloEmit *e, const HoloImportWindow *window, HoloValue *x, HoloValue *filter,
                                 HoloValue *bias)
{
    HoloImportWindow w = *window;
    if (!read_filter(e, &w, filter) || !is_right(e, &w, x)) return NULL;
    int64_t channels = filter->type.dim[w.rank], outputs, sizes[2 + HOLO_WINDOW_MAX];
    if (!holo_mul(channels, filter->type.dim[w.rank + 1], &outputs))
        return holo_emit_fail(e, HOLO_BAD_MODEL, "the filter is too large");
    for (int i = 0; i < w.rank; i++) sizes[i] = w.size[i];
    sizes[w.rank]     = 1;
    sizes[w.rank + 1] = outputs;
    w.groups          = channels;
    return conv(e, &w, x, filter_first(e, &w, holo_emit_reshape(e, filter, sizes, w.rank + 2)), bias);
}

// Padding of a transposed convolution: what a convolution that goes from the output to the input would have.
static bool deconv_pads(HoloEmit *e, const HoloImportWindow *w, const HoloValue *x, const HoloDim *sizes, int64_t *pads,
                        int64_t *more)
{
    HoloDims *dims = e->graph->dims;
    for (int i = 0; i < w->rank; i++) {
        int64_t window = (w->size[i] - 1) * w->dilation[i] + 1;
        HoloDim in     = x->type.dim[i + 2];
        HoloDim total  = w->padding == HOLO_PADDING_SAME ? window - w->stride[i] : 0;
        if (sizes)
            total = holo_dim_sub(
                dims, holo_dim_add(dims, holo_dim_mul(dims, holo_dim_sub(dims, in, 1), w->stride[i]), window),
                sizes[i]);
        if (w->padding == HOLO_PADDING_EXPLICIT) total = w->pad[i] + w->pad[i + w->rank];
        if (holo_dim_is_symbolic(total))
            return holo_emit_fail(e, HOLO_UNSUPPORTED,
                                  "the size of the output must be known, or follow from that of the input");
        more[i]           = total < 0 ? -total : 0;
        total             = total < 0 ? 0 : total;
        pads[i]           = w->padding == HOLO_PADDING_EXPLICIT ? w->pad[i] : total / 2;
        pads[i + w->rank] = total - pads[i];
    }
    return true;
}

HoloValue *holo_window_deconv(HoloEmit *e, const HoloImportWindow *window, HoloValue *x, HoloValue *filter,
                              HoloValue *bias, const HoloDim *sizes)
{
    HoloImportWindow w = *window;
    int64_t          pads[2 * HOLO_WINDOW_MAX], more[HOLO_WINDOW_MAX];
    if (!read_filter(e, &w, filter) || !is_right(e, &w, x)) return NULL;
    x = holo_window_open(e, &w, x);
    if (e->status || !deconv_pads(e, &w, x, sizes, pads, more)) return NULL;
    filter = filter_first(e, &w, filter);
    const HoloAttr *attrs =
        HOLO_ATTRS(holo_with_ints("kernel_shape", w.size, w.rank), holo_with_ints("strides", w.stride, w.rank),
                   holo_with_ints("dilations", w.dilation, w.rank), holo_with_ints("pads", pads, 2 * w.rank),
                   holo_with_ints("output_padding", more, w.rank), holo_with_int("group", w.groups));
    HoloValue *y = bias ? holo_emit(e, "ConvTranspose", HOLO_IN(x, filter, bias), attrs)
                        : holo_emit(e, "ConvTranspose", HOLO_IN(x, filter), attrs);
    return holo_window_close(e, &w, y);
}

HoloValue *holo_window_pool(HoloEmit *e, const HoloImportWindow *w, const char *op, HoloValue *x)
{
    int64_t  pads[2 * HOLO_WINDOW_MAX];
    HoloAttr attrs[ATTRS_MAX] = {0};
    if (!is_right(e, w, x)) return NULL;
    x = holo_window_open(e, w, x);
    if (e->status) return NULL;
    window_attrs(w, x, pads, attrs);
    return holo_window_close(e, w, holo_emit(e, op, HOLO_IN(x), attrs));
}
