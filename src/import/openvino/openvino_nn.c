// openvino_nn.c - layers of networks: convolutions, pools, products, normalizations, attention.
#include "import/openvino/openvino.h"

#include <math.h>
#include <string.h>

static HoloValue *as_i64(HoloIrCall *c, HoloValue *x)
{
    return x ? holo_emit_cast(c->e, x, HOLO_I64) : NULL;
}

// ---- windows

typedef struct Window {
    int         dims;
    int64_t     stride[2 * HOLO_MAX_RANK], dilation[2 * HOLO_MAX_RANK], pads[4 * HOLO_MAX_RANK];
    const char *auto_pad; // of ONNX
} Window;

static bool read_window(HoloIrCall *c, int dims, Window *w)
{
    static const char *const words[][2]             = {{"explicit", "NOTSET"},
                                                       {"notset", "NOTSET"},
                                                       {"valid", "VALID"},
                                                       {"same_upper", "SAME_UPPER"},
                                                       {"same_lower", "SAME_LOWER"}};
    int64_t                  end[2 * HOLO_MAX_RANK] = {0};
    *w                                              = (Window){.dims = dims};
    for (int i = 0; i < HOLO_COUNT(words); i++)
        if (holo_ir_is(c, "auto_pad", "explicit", words[i][0])) w->auto_pad = words[i][1];
    for (int i = 0; i < dims; i++) w->stride[i] = w->dilation[i] = 1;
    holo_ir_ints(c, "strides", w->stride);
    holo_ir_ints(c, "dilations", w->dilation);
    if (dims < 1 || dims > 3 || !w->auto_pad)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a window of %d dimensions, or padding '%.40s'", dims,
                              holo_ir_text(c, "auto_pad", ""));
    if (strcmp(w->auto_pad, "NOTSET")) return !c->e->status;
    holo_ir_ints(c, "pads_begin", w->pads);
    holo_ir_ints(c, "pads_end", end);
    for (int i = 0; i < dims; i++) w->pads[dims + i] = end[i];
    return !c->e->status;
}

static bool is_explicit(const Window *w)
{
    return !strcmp(w->auto_pad, "NOTSET");
}

// Filters of groups [groups, outputs, inputs, ...], as ONNX has them: the two first dimensions are one.
static HoloValue *join_groups(HoloIrCall *c, HoloValue *w, int64_t *out_groups)
{
    int64_t    a, b;
    HoloValue *part[2];
    if (!holo_ir_size(w, 0, &a) || !holo_ir_size(w, 1, &b))
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "filters of an open size");
    if (a > HOLO_IR_NUMBER_MAX || b > HOLO_IR_NUMBER_MAX)
        return holo_emit_fail(c->e, HOLO_BAD_MODEL, "too many filters");
    int64_t joined = a * b;
    *out_groups    = a;
    part[0]        = holo_emit_ints(c->e, &joined, 1);
    part[1]        = holo_emit(c->e, "Shape", HOLO_IN(w), HOLO_ATTRS(holo_with_int("start", 2)));
    return OP2("Reshape", w, holo_emit(c->e, "Concat", (HoloEmitIn){2, part}, HOLO_ATTRS(holo_with_int("axis", 0))));
}

ONE(convolution)
{
    HoloValue *x = IN(0), *w = IN(1);
    int64_t    groups = 1;
    Window     win;
    if (!strncmp(c->layer->type, "Group", 5)) w = join_groups(c, w, &groups);
    if (c->e->status || !read_window(c, holo_ir_rank(c, x) - 2, &win)) return NULL;
    int n = win.dims;
    return holo_emit(c->e, "Conv", HOLO_IN(x, w),
                     HOLO_ATTRS(holo_with_int("group", groups), holo_with_ints("strides", win.stride, n),
                                holo_with_ints("dilations", win.dilation, n), holo_with_text("auto_pad", win.auto_pad),
                                is_explicit(&win) ? holo_with_ints("pads", win.pads, 2 * n) : (HoloAttr){0}));
}

// data filters (sizes of the output)
ONE(deconvolution)
{
    HoloValue *x = IN(0), *w = IN(1);
    int64_t    groups = 1, more[2 * HOLO_MAX_RANK] = {0}, want[2 * HOLO_MAX_RANK], size, kernel;
    Window     win;
    if (!strncmp(c->layer->type, "Group", 5)) w = join_groups(c, w, &groups);
    if (c->e->status || !read_window(c, holo_ir_rank(c, x) - 2, &win)) return NULL;
    int n = win.dims;
    holo_ir_ints(c, "output_padding", more);
    bool has_sizes = MAY(2) && holo_ir_known(c, 2, want) == n;
    for (int i = 0; has_sizes && is_explicit(&win) && i < n; i++) { // what is missing is added at the end
        if (!holo_ir_size(x, 2 + i, &size) || !holo_ir_size(w, 2 + i, &kernel))
            return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "%s with sizes of the output, of an open size",
                                  c->layer->type);
        more[i] =
            want[i] - ((size - 1) * win.stride[i] + (kernel - 1) * win.dilation[i] + 1 - win.pads[i] - win.pads[n + i]);
    }
    if (c->e->status) return NULL;
    return holo_emit(c->e, "ConvTranspose", HOLO_IN(x, w),
                     HOLO_ATTRS(holo_with_int("group", groups), holo_with_ints("strides", win.stride, n),
                                holo_with_ints("dilations", win.dilation, n), holo_with_text("auto_pad", win.auto_pad),
                                holo_with_ints("output_padding", more, n),
                                is_explicit(&win) ? holo_with_ints("pads", win.pads, 2 * n)
                                : has_sizes       ? holo_with_ints("output_shape", want, n)
                                                  : (HoloAttr){0}));
}

// data offsets filters (mask)
ONE(deformable)
{
    Window win;
    if (!read_window(c, 2, &win)) return NULL;
    return holo_emit(c->e, "DeformConv", HOLO_IN(IN(0), IN(2), IN(1), NULL, MAY(3)),
                     HOLO_ATTRS(holo_with_int("group", holo_ir_int(c, "group", 1)),
                                holo_with_ints("strides", win.stride, 2),
                                holo_with_int("offset_group", holo_ir_int(c, "deformable_group", 1)),
                                holo_with_ints("dilations", win.dilation, 2), holo_with_ints("pads", win.pads, 4)));
}

static HoloAttr ceil_mode(HoloIrCall *c)
{
    return holo_with_int("ceil_mode", holo_ir_is(c, "rounding_type", "floor", "ceil") ||
                                          holo_ir_is(c, "rounding_type", "floor", "ceil_torch"));
}

MANY(max_pool)
{
    HoloValue *x = IN(0), *y[2] = {NULL};
    int64_t    kernel[2 * HOLO_MAX_RANK] = {0};
    Window     win;
    int        n = holo_ir_ints(c, "kernel", kernel), wanted = c->layer->out_count > 1 ? 2 : 1;
    if (!read_window(c, n, &win)) return;
    holo_emit_many(c->e, "MaxPool", HOLO_IN(x),
                   HOLO_ATTRS(holo_with_ints("kernel_shape", kernel, n), holo_with_ints("strides", win.stride, n),
                              holo_with_ints("dilations", win.dilation, n), ceil_mode(c),
                              holo_with_text("auto_pad", win.auto_pad),
                              is_explicit(&win) ? holo_with_ints("pads", win.pads, 2 * n) : (HoloAttr){0}),
                   y, wanted);
    c->layer->out[0] = y[0];
    if (wanted < 2) return;
    int64_t axis = holo_ir_int(c, "axis", 0), area = 1, size;
    for (int i = (int)(axis < 0 ? axis + n + 2 : axis); i < n + 2 && axis;
         i++) // places are counted from this dimension on
        area = holo_ir_size(x, i, &size) && holo_mul(area, size, &area) ? area : 0;
    if (axis && !area) return (void)holo_emit_fail(c->e, HOLO_UNSUPPORTED, "places of a MaxPool of an open size");
    if (axis) y[1] = OP2("Mod", y[1], holo_emit_int(c->e, area));
    c->layer->out[1] = holo_emit_cast(c->e, y[1], holo_ir_type_attr(c, "index_element_type", HOLO_I64));
}

ONE(avg_pool)
{
    int64_t kernel[2 * HOLO_MAX_RANK] = {0};
    Window  win;
    int     n = holo_ir_ints(c, "kernel", kernel);
    if (!read_window(c, n, &win)) return NULL;
    bool leaves = holo_ir_bool(c, "exclude-pad", holo_ir_bool(c, "exclude_pad", true));
    return holo_emit(c->e, "AveragePool", HOLO_IN(IN(0)),
                     HOLO_ATTRS(holo_with_ints("kernel_shape", kernel, n), holo_with_ints("strides", win.stride, n),
                                ceil_mode(c), holo_with_int("count_include_pad", !leaves),
                                holo_with_text("auto_pad", win.auto_pad),
                                is_explicit(&win) ? holo_with_ints("pads", win.pads, 2 * n) : (HoloAttr){0}));
}

// data sizes: windows that divide the input as evenly as they can
ONE(adaptive_avg)
{
    HoloValue *x = IN(0);
    int64_t    want[2 * HOLO_MAX_RANK], size;
    int        rank = holo_ir_rank(c, x), n = holo_ir_known(c, 1, want);
    for (int d = 0; d < n && !c->e->status; d++) {
        int        axis = rank - n + d;
        HoloValue *part[256];
        if (!holo_ir_size(x, axis, &size) || want[d] < 1 || want[d] > HOLO_COUNT(part))
            return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "AdaptiveAvgPool of an open size, or to more than 256");
        for (int64_t i = 0; i < want[d]; i++) {
            int64_t at = axis;
            part[i] = holo_emit_slice(c->e, x, axis, i * size / want[d], ((i + 1) * size + want[d] - 1) / want[d], 1);
            part[i] = holo_emit(c->e, "ReduceMean", HOLO_IN(part[i], holo_emit_ints(c->e, &at, 1)), NULL);
        }
        x = holo_emit(c->e, "Concat", (HoloEmitIn){(int)want[d], part}, HOLO_ATTRS(holo_with_int("axis", axis)));
    }
    return x;
}

// ---- products

static HoloValue *turned(HoloIrCall *c, HoloValue *x, const char *flag)
{
    int     rank = holo_ir_rank(c, x);
    int64_t perm[HOLO_MAX_RANK];
    if (!holo_ir_bool(c, flag, false) || rank < 2) return x;
    for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return holo_emit_transpose(c->e, x, perm, rank);
}

ONE(mat_mul)
{
    return OP2("MatMul", turned(c, IN(0), "transpose_a"), turned(c, IN(1), "transpose_b"));
}

ONE(einsum)
{
    HoloValue *in[HOLO_IR_PORTS];
    for (int i = 0; i < c->layer->in_count; i++) in[i] = IN(i);
    return holo_emit(c->e, "Einsum", (HoloEmitIn){c->layer->in_count, in},
                     HOLO_ATTRS(holo_with_text("equation", holo_ir_text(c, "equation", ""))));
}

// query key value (mask) (scale)
ONE(attention)
{
    HoloValue *q = IN(0), *k = IN(1), *v = IN(2), *mask = MAY(3), *scale = MAY(4);
    int        rank = holo_ir_rank(c, k);
    int64_t    perm[HOLO_MAX_RANK], size;
    for (int i = 0; i < rank; i++) perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (!scale) {
        if (!holo_ir_size(q, rank - 1, &size))
            return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "attention with heads of an open size");
        scale = NUM(q, 1 / sqrt((double)size));
    }
    HoloValue *scores = OP2("MatMul", OP2("Mul", q, scale), holo_emit_transpose(c->e, k, perm, rank));
    if (holo_ir_bool(c, "causal", false)) {
        HoloValue *ones = OP2("Expand", holo_emit_number(c->e, HOLO_F32, 1),
                              holo_emit(c->e, "Shape", HOLO_IN(scores), HOLO_ATTRS(holo_with_int("start", rank - 2))));
        mask = holo_emit_cast(c->e, holo_emit(c->e, "Trilu", HOLO_IN(ones), HOLO_ATTRS(holo_with_int("upper", 0))),
                              HOLO_BOOL);
    }
    if (mask && holo_emit_dtype(mask) == HOLO_BOOL)
        scores = holo_emit(c->e, "Where", HOLO_IN(mask, scores, NUM(scores, -INFINITY)), NULL);
    else if (mask && holo_emit_rank(mask) != 0)
        scores = OP2("Add", scores, mask);
    return OP2("MatMul", holo_emit(c->e, "Softmax", HOLO_IN(scores), HOLO_ATTRS(holo_with_int("axis", -1))), v);
}

// ---- normalizations

// Version 1 has the data between the parameters.
ONE(batch_norm)
{
    bool       is_old = c->layer->opset < 5;
    HoloValue *x = IN(is_old ? 2 : 0), *w = IN(is_old ? 0 : 1), *b = IN(is_old ? 1 : 2);
    return holo_emit(
        c->e, "BatchNormalization", HOLO_IN(x, w, b, IN(3), IN(4)),
        HOLO_ATTRS(holo_with_float("epsilon", holo_ir_float(c, "epsilon", holo_ir_float(c, "eps", 1e-5)))));
}

static HoloValue *mean_of(HoloIrCall *c, HoloValue *x, HoloValue *axes)
{
    return OP2("ReduceMean", x, axes);
}

ONE(mvn)
{
    HoloValue *x = IN(0), *axes = as_i64(c, MAY(1));
    int        rank = holo_ir_rank(c, x);
    int64_t    own[HOLO_MAX_RANK];
    double     eps = holo_ir_float(c, "eps", 1e-9);
    if (!axes) { // version 1: all dimensions behind the channels, or these too
        int first = holo_ir_bool(c, "across_channels", false) ? 1 : 2;
        if (rank <= first)
            return holo_emit_fail(c->e, HOLO_BAD_MODEL, "MVN of %d dimensions has none to average", rank);
        for (int i = first; i < rank; i++) own[i - first] = i;
        axes = holo_emit_ints(c->e, own, rank - first);
    }
    HoloValue *d = OP2("Sub", x, mean_of(c, x, axes));
    if (!holo_ir_bool(c, "normalize_variance", true)) return d;
    HoloValue *var = mean_of(c, OP2("Mul", d, d), axes);
    if (holo_ir_is(c, "eps_mode", "inside_sqrt", "outside_sqrt"))
        return OP2("Div", d, OP2("Add", OP1("Sqrt", var), NUM(x, eps)));
    return OP2("Div", d, OP1("Sqrt", OP2("Add", var, NUM(x, eps))));
}

ONE(normalize_l2)
{
    HoloValue *x = IN(0), *eps = NUM(x, holo_ir_float(c, "eps", 1e-12));
    HoloValue *axes = as_i64(c, IN(1));
    int64_t    all  = -1;
    if (holo_emit_rank(axes) == 0) axes = holo_emit_reshape(c->e, axes, &all, 1);
    HoloValue *sum =
        holo_emit(c->e, "ReduceSumSquare", HOLO_IN(x, axes), HOLO_ATTRS(holo_with_int("noop_with_empty_axes", 1)));
    sum = OP2(holo_ir_is(c, "eps_mode", "add", "max") ? "Max" : "Add", sum, eps);
    return OP2("Div", x, OP1("Sqrt", sum));
}

ONE(lrn)
{
    int64_t axes[2 * HOLO_MAX_RANK] = {1}, size = holo_ir_int(c, "size", 5);
    int     count = holo_ir_known(c, 1, axes);
    if (count != 1 || axes[0] != 1)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "an LRN along other dimensions than the channels");
    return holo_emit(c->e, "LRN", HOLO_IN(IN(0)),
                     HOLO_ATTRS(holo_with_int("size", size), holo_with_float("alpha", holo_ir_float(c, "alpha", 1e-4)),
                                holo_with_float("beta", holo_ir_float(c, "beta", 0.75)),
                                holo_with_float("bias", holo_ir_float(c, "bias", 1))));
}

ONE(group_norm)
{
    return holo_emit(c->e, "GroupNormalization", HOLO_IN(IN(0), IN(1), IN(2)),
                     HOLO_ATTRS(holo_with_int("num_groups", holo_ir_int(c, "num_groups", 1)),
                                holo_with_float("epsilon", holo_ir_float(c, "epsilon", 1e-5))));
}

// data (scale): by the root of the mean square of the last dimension
ONE(rms)
{
    HoloValue *x = IN(0), *scale = MAY(1), *axes = holo_emit_ints(c->e, (int64_t[]){-1}, 1);
    HoloValue *y =
        OP2("Div", x,
            OP1("Sqrt", OP2("Add", mean_of(c, OP2("Mul", x, x), axes), NUM(x, holo_ir_float(c, "epsilon", 1e-6)))));
    return scale ? OP2("Mul", y, scale) : y;
}

const HoloIrOp holo_ir_networks[] = {
    {"Convolution", convolution, NULL, NULL},
    {"GroupConvolution", convolution, NULL, NULL},
    {"ConvolutionBackpropData", deconvolution, NULL, NULL},
    {"GroupConvolutionBackpropData", deconvolution, NULL, NULL},
    {"DeformableConvolution", deformable, NULL, NULL},
    {"MaxPool", NULL, max_pool, NULL},
    {"AvgPool", avg_pool, NULL, NULL},
    {"AdaptiveAvgPool", adaptive_avg, NULL, NULL},
    {"MatMul", mat_mul, NULL, NULL},
    {"Einsum", einsum, NULL, NULL},
    {"ScaledDotProductAttention", attention, NULL, NULL},
    {"BatchNormInference", batch_norm, NULL, NULL},
    {"MVN", mvn, NULL, NULL},
    {"NormalizeL2", normalize_l2, NULL, NULL},
    {"LRN", lrn, NULL, NULL},
    {"GroupNormalization", group_norm, NULL, NULL},
    {"RMS", rms, NULL, NULL},
    {0},
};
