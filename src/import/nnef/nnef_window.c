// nnef_window.c - NNEF's operations with windows: convolutions, pools, sampling. See nnef.h.
//
// Windows of convolutions have the dimensions behind the channels; those of pools have all. Without padding there is as much
// as gives ceil(size / stride) results, the odd element at the end. `border` says what lies there: zeros ('constant'),
// nothing ('ignore'), or what Pad calls edge and reflect.
#include "import/nnef/nnef.h"

#include <string.h>

#define IN(key, place) holo_nnef_in(n, key, place)

typedef struct Window {
    int     rank; // dimensions of the window
    int64_t size[HOLO_MAX_RANK], stride[HOLO_MAX_RANK], dilation[HOLO_MAX_RANK], pad[2 * HOLO_MAX_RANK];
} Window;

static void *fail(HoloNnef *n, const char *words)
{
    return holo_emit_fail(n->e, HOLO_UNSUPPORTED, "line %d: %s: %s", n->call->line, n->call->op, words);
}

// `first`: the first dimension of the tensor that the window has; `place`: of the argument padding.
static bool read(HoloNnef *n, const HoloValue *x, int first, int place, Window *w)
{
    int64_t pairs[2 * HOLO_MAX_RANK];
    int     given     = holo_nnef_ints(n, "padding", place, pairs, 2 * HOLO_MAX_RANK);
    int     strides   = holo_nnef_ints(n, "stride", place + 1, w->stride, HOLO_MAX_RANK);
    int     dilations = holo_nnef_ints(n, "dilation", place + 2, w->dilation, HOLO_MAX_RANK);
    if (n->e->status) return false;
    for (int i = strides; i < w->rank; i++) w->stride[i] = 1;
    for (int i = dilations; i < w->rank; i++) w->dilation[i] = 1;
    if (given && given != 2 * w->rank) return fail(n, "its padding has another number of dimensions"), false;
    for (int i = 0; i < w->rank; i++) {
        if (w->stride[i] < 1 || w->dilation[i] < 1 || w->size[i] < 1) return fail(n, "its window is wrong"), false;
        w->pad[i] = given ? pairs[2 * i] : 0, w->pad[w->rank + i] = given ? pairs[2 * i + 1] : 0;
        HoloDim in = x->type.dim[first + i];
        if (given || (w->size[i] == 1 && w->stride[i] == 1)) continue;
        if (holo_dim_is_symbolic(in)) return fail(n, "a size that is open needs padding that is given"), false;
        int64_t count       = (in + w->stride[i] - 1) / w->stride[i];
        int64_t more        = (count - 1) * w->stride[i] + (w->size[i] - 1) * w->dilation[i] + 1 - in;
        w->pad[i]           = more > 0 ? more / 2 : 0;
        w->pad[w->rank + i] = more > 0 ? more - more / 2 : 0;
    }
    return true;
}

static bool has_pads(const Window *w)
{
    int64_t all = 0;
    for (int i = 0; i < 2 * w->rank; i++) all |= w->pad[i];
    return all != 0;
}

// Puts what a border is around the tensor, and takes the pads out of the window. 'constant' and 'ignore' stay.
static HoloValue *bordered(HoloNnef *n, HoloValue *x, int first, Window *w, int place)
{
    const char *border = holo_nnef_text(n, "border", place, "constant");
    const char *mode   = !strcmp(border, "replicate") ? "edge" : !strcmp(border, "reflect") ? "reflect" : NULL;
    int64_t     pads[2 * HOLO_MAX_RANK] = {0};
    int         rank                    = holo_nnef_rank(n, x);
    if (!strcmp(border, "constant") || !strcmp(border, "ignore") || !has_pads(w) || n->e->status) return x;
    if (!mode) return fail(n, "this kind of border");
    for (int i = 0; i < w->rank; i++) {
        pads[first + i]        = w->pad[i];
        pads[rank + first + i] = w->pad[w->rank + i];
        w->pad[i] = w->pad[w->rank + i] = 0;
    }
    return holo_emit(n->e, "Pad", HOLO_IN(x, holo_emit_ints(n->e, pads, 2 * rank)),
                     HOLO_ATTRS(holo_with_text("mode", mode)));
}

// ---- convolutions

// A number, [1, channels], or none. NULL: there is none, or it is 0.
static HoloValue *bias_of(HoloNnef *n, HoloDim channels, int place)
{
    const HoloNnefArg *arg = holo_nnef_arg(n, "bias", place);
    if (!arg || (arg->kind == HOLO_NNEF_NUMBER && arg->number == 0)) return NULL;
    HoloValue *b = holo_nnef_in(n, "bias", place);
    if (arg->kind == HOLO_NNEF_NUMBER)
        return holo_emit(n->e, "Expand", HOLO_IN(b, holo_emit_sizes(n->e, &channels, 1)), NULL);
    return holo_emit_reshape(n->e, b, (HoloDim[]){-1}, 1);
}

static HoloValue *convolved(HoloNnef *n, HoloValue *x, HoloValue *filter, HoloValue *bias, int64_t groups, Window *w)
{
    return holo_emit(n->e, "Conv", (HoloEmitIn){bias ? 3 : 2, (HoloValue *[]){x, filter, bias}},
                     HOLO_ATTRS(holo_with_ints("strides", w->stride, w->rank),
                                holo_with_ints("pads", w->pad, 2 * w->rank),
                                holo_with_ints("dilations", w->dilation, w->rank), holo_with_int("group", groups)));
}

// Groups of 0: each channel by itself.
static bool groups_of(HoloNnef *n, const HoloValue *x, int place, int64_t *out)
{
    *out = holo_nnef_int(n, "groups", place, 1);
    if (*out == 0 && !holo_dim_is_symbolic(x->type.dim[1])) *out = x->type.dim[1];
    if (*out < 1) return fail(n, "the number of groups is not known"), false;
    return true;
}

static bool sizes_of_filter(HoloNnef *n, const HoloValue *x, const HoloValue *filter, Window *w)
{
    int rank = holo_nnef_rank(n, x);
    if (n->e->status) return false;
    w->rank = rank - 2;
    if (rank < 3 || filter->type.rank != rank) return fail(n, "a filter of another number of dimensions"), false;
    for (int i = 0; i < w->rank; i++) w->size[i] = filter->type.dim[2 + i];
    return true;
}

ONE(conv)
{
    HoloValue *x = IN("input", 0), *filter = IN("filter", 1), *bias;
    Window     w = {0};
    int64_t    groups;
    if (n->e->status || !sizes_of_filter(n, x, filter, &w) || !read(n, x, 2, 4, &w) || !groups_of(n, x, 7, &groups))
        return NULL;
    bias = bias_of(n, filter->type.dim[0], 2);
    x    = bordered(n, x, 2, &w, 3);
    return n->e->status ? NULL : convolved(n, x, filter, bias, groups, &w);
}

ONE(separable_conv)
{
    HoloValue *x = IN("input", 0), *plane = IN("plane_filter", 1), *point = IN("point_filter", 2), *bias;
    Window     w = {0}, one = {0};
    int64_t    groups;
    if (n->e->status || !sizes_of_filter(n, x, plane, &w) || !read(n, x, 2, 5, &w) || !groups_of(n, x, 8, &groups))
        return NULL;
    if (holo_dim_is_symbolic(x->type.dim[1])) return fail(n, "the number of channels is not known");
    bias     = bias_of(n, point->type.dim[0], 3);
    one.rank = w.rank;
    for (int i = 0; i < w.rank; i++) one.stride[i] = one.dilation[i] = one.size[i] = 1;
    HoloDim channels = x->type.dim[1];
    x                = bordered(n, x, 2, &w, 4);
    x                = n->e->status ? NULL : convolved(n, x, plane, NULL, channels, &w);
    return x ? convolved(n, x, point, bias, groups, &one) : NULL;
}

// The pads are those of the convolution from the result back to the input: without any they give input * stride results.
ONE(deconv)
{
    HoloValue *x = IN("input", 0), *filter = IN("filter", 1), *bias;
    Window     w = {0};
    int64_t    groups, pairs[2 * HOLO_MAX_RANK], to[HOLO_MAX_RANK], more[HOLO_MAX_RANK] = {0};
    if (n->e->status || !sizes_of_filter(n, x, filter, &w) || !groups_of(n, x, 8, &groups)) return NULL;
    int given     = holo_nnef_ints(n, "padding", 4, pairs, 2 * HOLO_MAX_RANK),
        strides   = holo_nnef_ints(n, "stride", 5, w.stride, HOLO_MAX_RANK),
        dilations = holo_nnef_ints(n, "dilation", 6, w.dilation, HOLO_MAX_RANK),
        sizes     = holo_nnef_ints(n, "output_shape", 7, to, HOLO_MAX_RANK);
    if (n->e->status) return NULL;
    for (int i = 0; i < w.rank; i++) {
        if (i >= strides) w.stride[i] = 1;
        if (i >= dilations) w.dilation[i] = 1;
        HoloDim in   = x->type.dim[2 + i];
        int64_t full = (w.size[i] - 1) * w.dilation[i] + 1, all;
        if (holo_dim_is_symbolic(in) && (sizes || !given)) return fail(n, "a size that is open");
        int64_t wanted = sizes == w.rank + 2 ? to[2 + i] : in * w.stride[i];
        if (given == 2 * w.rank) {
            w.pad[i] = pairs[2 * i], w.pad[w.rank + i] = pairs[2 * i + 1];
            all = sizes == w.rank + 2 ? (in - 1) * w.stride[i] + full - w.pad[i] - w.pad[w.rank + i] : wanted;
        } else {
            int64_t cut = (in - 1) * w.stride[i] + full - wanted;
            if (cut < 0) more[i] = -cut, cut = 0;
            w.pad[i] = cut / 2, w.pad[w.rank + i] = cut - cut / 2;
            all = wanted;
        }
        if (wanted > all) more[i] = wanted - all;
    }
    bias = bias_of(n, filter->type.dim[1] * groups, 2);
    return holo_emit(n->e, "ConvTranspose", (HoloEmitIn){bias ? 3 : 2, (HoloValue *[]){x, filter, bias}},
                     HOLO_ATTRS(holo_with_ints("strides", w.stride, w.rank), holo_with_ints("pads", w.pad, 2 * w.rank),
                                holo_with_ints("dilations", w.dilation, w.rank),
                                holo_with_ints("output_padding", more, w.rank), holo_with_int("group", groups)));
}

// ---- pools: windows of all dimensions

// Pools have windows behind the channels alone; a window along the channels is read where ONNX can say it.
static bool read_pool(HoloNnef *n, HoloValue *x, int place, Window *w)
{
    int count = holo_nnef_ints(n, "size", place, w->size, HOLO_MAX_RANK), rank = holo_nnef_rank(n, x);
    if (n->e->status) return false;
    w->rank = rank;
    if (count != rank || rank < 3) return fail(n, "its window has another number of dimensions"), false;
    if (!read(n, x, 0, place + 2, w)) return false;
    for (int i = 0; i < 2; i++)
        if (w->size[i] != 1 || w->stride[i] != 1 || w->pad[i] || w->pad[rank + i])
            return fail(n, "a window along the batch or the channels"), false;
    for (int i = 0; i < rank - 2; i++) {
        w->size[i] = w->size[i + 2], w->stride[i] = w->stride[i + 2], w->dilation[i] = w->dilation[i + 2];
        w->pad[i] = w->pad[i + 2];
    }
    for (int i = 0; i < rank - 2; i++) w->pad[rank - 2 + i] = w->pad[rank + 2 + i];
    w->rank = rank - 2;
    return true;
}

static HoloValue *zeros_around(HoloNnef *n, HoloValue *x, Window *w)
{
    int64_t pads[2 * HOLO_MAX_RANK] = {0};
    int     rank                    = w->rank + 2;
    for (int i = 0; i < w->rank; i++) {
        pads[2 + i]        = w->pad[i];
        pads[rank + 2 + i] = w->pad[w->rank + i];
        w->pad[i] = w->pad[w->rank + i] = 0;
    }
    return holo_emit(n->e, "Pad", HOLO_IN(x, holo_emit_ints(n->e, pads, 2 * rank)), NULL);
}

static HoloValue *pooled(HoloNnef *n, const char *op, HoloValue *x, Window *w, bool is_all)
{
    HoloAttr attrs[] = {
        holo_with_ints("kernel_shape", w->size, w->rank), holo_with_ints("strides", w->stride, w->rank),
        holo_with_ints("pads", w->pad, 2 * w->rank),      holo_with_ints("dilations", w->dilation, w->rank),
        holo_with_int("count_include_pad", is_all),       {0}};
    if (op[0] == 'M') attrs[4] = (HoloAttr){0};
    return holo_emit(n->e, op, HOLO_IN(x), attrs);
}

ONE(max_pool)
{
    HoloValue  *x      = IN("input", 0);
    Window      w      = {0};
    const char *border = holo_nnef_text(n, "border", 2, "constant");
    if (n->e->status || !read_pool(n, x, 1, &w)) return NULL;
    if (!strcmp(border, "constant") && has_pads(&w)) x = zeros_around(n, x, &w); // zeros count
    x = bordered(n, x, 2, &w, 2);
    return n->e->status ? NULL : pooled(n, "MaxPool", x, &w, false);
}

// The mean of a window, or its sum: `box` says which.
static HoloValue *mean_pool(HoloNnef *n, HoloValue *x, bool is_mean)
{
    Window      w      = {0};
    const char *border = holo_nnef_text(n, "border", 2, "constant");
    bool        is_all = strcmp(border, "ignore") != 0;
    double      area   = 1;
    if (n->e->status || !read_pool(n, x, 1, &w)) return NULL;
    for (int i = 0; i < w.rank; i++) area *= (double)w.size[i];
    x = bordered(n, x, 2, &w, 2);
    if (n->e->status) return NULL;
    x = pooled(n, "AveragePool", x, &w, is_all || !is_mean); // a sum has zeros there
    return is_mean ? x : OP2("Mul", x, NUM(area));
}

ONE(avg_pool)
{
    return mean_pool(n, IN("input", 0), true);
}

ONE(box)
{
    return mean_pool(n, IN("input", 0), holo_nnef_bool(n, "normalize", 6, false));
}

ONE(rms_pool)
{
    HoloValue *x = IN("input", 0);
    return OP1("Sqrt", mean_pool(n, OP2("Mul", x, x), true));
}

// Along the channels it is ONNX's; the format divides the sum by the number of elements, as ONNX does.
ONE(lrn)
{
    HoloValue *x = IN("input", 0);
    int64_t    size[HOLO_MAX_RANK];
    int        count = holo_nnef_ints(n, "size", 1, size, HOLO_MAX_RANK);
    double     alpha = holo_nnef_number(n, "alpha", 2, 1), beta = holo_nnef_number(n, "beta", 3, 0.5),
           bias = holo_nnef_number(n, "bias", 4, 1);
    if (n->e->status) return NULL;
    for (int i = 0; i < count; i++)
        if (i != 1 && size[i] != 1) return fail(n, "a window along other dimensions than the channels");
    if (count < 2 || size[1] < 1) return fail(n, "its window is wrong");
    return holo_emit(n->e, "LRN", HOLO_IN(x),
                     HOLO_ATTRS(holo_with_int("size", size[1]), holo_with_float("alpha", alpha),
                                holo_with_float("beta", beta), holo_with_float("bias", bias)));
}

// ---- other sizes

ONE(pad)
{
    HoloValue  *x = IN("input", 0);
    int64_t     pairs[2 * HOLO_MAX_RANK], pads[2 * HOLO_MAX_RANK];
    int         count = holo_nnef_ints(n, "padding", 1, pairs, 2 * HOLO_MAX_RANK), rank = holo_nnef_rank(n, x);
    const char *border = holo_nnef_text(n, "border", 2, "constant");
    const char *mode   = !strcmp(border, "replicate")  ? "edge"
                         : !strcmp(border, "reflect")  ? "reflect"
                         : !strcmp(border, "constant") ? "constant"
                                                       : NULL;
    double      with   = holo_nnef_number(n, "value", 3, 0);
    if (n->e->status) return NULL;
    if (count != 2 * rank || !mode) return fail(n, "its padding has another number of dimensions, or this border");
    for (int i = 0; i < rank; i++) pads[i] = pairs[2 * i], pads[rank + i] = pairs[2 * i + 1];
    return holo_emit(n->e, "Pad",
                     HOLO_IN(x, holo_emit_ints(n->e, pads, count), holo_emit_number(n->e, holo_emit_dtype(x), with)),
                     HOLO_ATTRS(holo_with_text("mode", mode)));
}

static HoloValue *resized(HoloNnef *n, HoloValue *x, const char *mode, const char *how)
{
    int64_t factor[HOLO_MAX_RANK];
    float  *scale = HOLO_NEW(n->import->arena, float, HOLO_MAX_RANK);
    int     count = holo_nnef_ints(n, "factor", 1, factor, HOLO_MAX_RANK - 2);
    if (n->e->status || !scale) return NULL;
    scale[0] = scale[1] = 1;
    for (int i = 0; i < count; i++) scale[2 + i] = (float)factor[i];
    HoloTensor t = {.dtype = HOLO_F32, .rank = 1, .dim = {count + 2}, .data = scale};
    return holo_emit(n->e, "Resize", HOLO_IN(x, NULL, holo_emit_constant(n->e, NULL, &t)),
                     HOLO_ATTRS(holo_with_text("mode", mode), holo_with_text("coordinate_transformation_mode", how),
                                holo_with_text("nearest_mode", "floor")));
}

ONE(nearest_up)
{
    return resized(n, IN("input", 0), "nearest", "asymmetric");
}

ONE(linear_up)
{
    const char *method = holo_nnef_text(n, "method", 2, "symmetric"),
               *border = holo_nnef_text(n, "border", 3, "replicate");
    const char *how    = !strcmp(method, "symmetric")    ? "half_pixel"
                         : !strcmp(method, "asymmetric") ? "asymmetric"
                                                         : "align_corners";
    if (strcmp(border, "replicate") && strcmp(how, "align_corners")) return fail(n, "this kind of border");
    return resized(n, IN("input", 0), "linear", how);
}

ONE(downsampled)
{
    HoloValue *x = IN("input", 0);
    Window     w = {0};
    w.rank       = holo_nnef_ints(n, "factor", 1, w.stride, HOLO_MAX_RANK - 2);
    if (n->e->status) return NULL;
    for (int i = 0; i < w.rank; i++) {
        w.dilation[i] = 1;
        w.size[i]     = n->call->op[0] == 'a' ? w.stride[i] : 1; // the mean of an area, or its first element
    }
    return pooled(n, "AveragePool", x, &w, true);
}

// clang-format off
const HoloNnefOp holo_nnef_windows[] = {
    {"conv", conv, NULL, NULL}, {"deconv", deconv, NULL, NULL}, {"separable_conv", separable_conv, NULL, NULL},
    {"max_pool", max_pool, NULL, NULL}, {"avg_pool", avg_pool, NULL, NULL}, {"rms_pool", rms_pool, NULL, NULL}, {"box", box, NULL, NULL},
    {"local_response_normalization", lrn, NULL, NULL}, {"pad", pad, NULL, NULL}, {"nearest_upsample", nearest_up, NULL, NULL},
    {"multilinear_upsample", linear_up, NULL, NULL}, {"nearest_downsample", downsampled, NULL, NULL},
    {"area_downsample", downsampled, NULL, NULL},
    {0},
};
