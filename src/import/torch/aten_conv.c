// aten_conv.c - convolutions and pools.
#include "import/torch/aten.h"

#include <string.h>

enum { ROOM = HOLO_MAX_RANK * 2 };

// Numbers for each of `count` dimensions, from a list, from one number, or from nothing.
static void per_dim(HoloTorch *t, const HoloTv *v, int count, int64_t fallback, int64_t *out)
{
    int64_t given[ROOM];
    int     have = holo_torch_ints(t, v, given);
    for (int i = 0; i < count; i++)
        out[i] = have == 0 ? fallback : have == 1 ? given[0] : i < have ? given[i] : fallback;
}

// ---- convolutions

typedef struct Conv {
    HoloValue *x, *w, *b;
    int        dims; // spatial ones
    int64_t    stride[ROOM], pads[ROOM * 2], dilation[ROOM], more[ROOM], groups;
} Conv;

// Padding may be "same" or "valid".
static void find_pads(HoloTorch *t, Conv *c, const HoloTv *v)
{
    int64_t each[ROOM] = {0}, size;
    bool    is_same    = v->kind == HOLO_TORCH_TEXT && holo_torch_text_is(t, v, "", "same");
    if (v->kind != HOLO_TORCH_TEXT) per_dim(t, v, c->dims, 0, each);
    for (int i = 0; i < c->dims; i++) {
        c->pads[i] = c->pads[c->dims + i] = each[i];
        if (!is_same || !holo_torch_size_known(c->w, 2 + i, &size)) continue;
        int64_t total        = c->dilation[i] * (size - 1);
        c->pads[i]           = total / 2;
        c->pads[c->dims + i] = total - total / 2;
    }
}

static HoloValue *convolve(HoloTorch *t, Conv *c, bool is_transposed)
{
    int  n         = c->dims;
    bool is_single = holo_emit_rank(c->x) == n + 1; // without a batch
    HOLO_TORCH_CHECK(t, !is_single || !t->is_guess,
                     "a convolution without a batch, if the assumed dimensions are right");
    if (is_single) c->x = holo_torch_unsqueeze(t, c->x, 0);
    HoloValue *y;
    if (is_transposed)
        y = holo_emit(t->e, "ConvTranspose", HOLO_IN(c->x, c->w, c->b),
                      HOLO_ATTRS(holo_with_ints("strides", c->stride, n), holo_with_ints("pads", c->pads, 2 * n),
                                 holo_with_ints("dilations", c->dilation, n),
                                 holo_with_ints("output_padding", c->more, n), holo_with_int("group", c->groups)));
    else
        y = holo_emit(t->e, "Conv", HOLO_IN(c->x, c->w, c->b),
                      HOLO_ATTRS(holo_with_ints("strides", c->stride, n), holo_with_ints("pads", c->pads, 2 * n),
                                 holo_with_ints("dilations", c->dilation, n), holo_with_int("group", c->groups)));
    return is_single ? holo_torch_squeeze(t, y, 0) : y;
}

// The arguments by their places: x, w, b, stride, padding, dilation, then output padding and groups.
static HoloValue *convolution_of(HoloTorch *t, const HoloTv *a, const HoloTv *dilation, const HoloTv *more,
                                 const HoloTv *groups, bool is_transposed)
{
    Conv c = {.x = V(0), .w = V(1), .b = V(2), .groups = holo_torch_int(t, groups, 1)};
    c.dims = holo_torch_rank(t, c.w) - 2;
    HOLO_TORCH_CHECK(t, c.dims >= 1 && c.dims <= 3, "a convolution with weights of %d dimensions", c.dims + 2);
    per_dim(t, &a[3], c.dims, 1, c.stride);
    per_dim(t, dilation, c.dims, 1, c.dilation);
    per_dim(t, more, c.dims, 0, c.more);
    find_pads(t, &c, &a[4]);
    return t->e->status ? NULL : convolve(t, &c, is_transposed);
}

ONE(conv)
{
    HoloTv none = {0};
    return convolution_of(t, a, &a[5], &none, &a[6], false);
}

ONE(conv_transpose)
{
    return convolution_of(t, a, &a[7], &a[5], &a[6], true);
}

ONE(convolution)
{
    return convolution_of(t, a, &a[5], &a[7], &a[8], holo_torch_bool(t, &a[6], false));
}

// ---- pools

// With a batch: pools take [batch, channels, ...]. *out_is_single: it had none.
static HoloValue *with_batch(HoloTorch *t, HoloValue *x, int dims, bool *out_is_single)
{
    *out_is_single = holo_emit_rank(x) == dims + 1;
    return *out_is_single ? holo_torch_unsqueeze(t, x, 0) : x;
}

static void max_pool_of(HoloTorch *t, const HoloTv *a, int dims, HoloValue **y, int count)
{
    int64_t    kernel[ROOM], stride[ROOM], pads[ROOM * 2], dilation[ROOM], some[ROOM];
    bool       is_single, has_stride = holo_torch_ints(t, &a[2], some) > 0;
    HoloValue *x = with_batch(t, V(0), dims, &is_single);
    per_dim(t, &a[1], dims, 1, kernel);
    per_dim(t, has_stride ? &a[2] : &a[1], dims, 1, stride);
    per_dim(t, &a[3], dims, 0, pads);
    per_dim(t, &a[4], dims, 1, dilation);
    for (int i = 0; i < dims; i++) pads[dims + i] = pads[i];
    holo_emit_many(t->e, "MaxPool", HOLO_IN(x),
                   HOLO_ATTRS(holo_with_ints("kernel_shape", kernel, dims), holo_with_ints("strides", stride, dims),
                              holo_with_ints("pads", pads, 2 * dims), holo_with_ints("dilations", dilation, dims),
                              holo_with_int("ceil_mode", holo_torch_bool(t, &a[5], false))),
                   y, count);
    if (count > 1) { // PyTorch counts in the picture, ONNX in the whole tensor
        HoloValue *size = holo_emit_int(t->e, 1);
        for (int i = 0; i < dims; i++) size = OP2("Mul", size, holo_torch_scalar_of(t, holo_torch_dim(t, x, 2 + i)));
        y[1] = OP2("Mod", y[1], size);
    }
    for (int i = 0; i < count && is_single; i++) y[i] = holo_torch_squeeze(t, y[i], 0);
}

#define MAX_POOL(f, g, dims)              \
    ONE(f)                                \
    {                                     \
        HoloValue *y = NULL;              \
        max_pool_of(t, a, dims, &y, 1);   \
        return y;                         \
    }                                     \
    ANY(g)                                \
    {                                     \
        HoloValue *y[2] = {NULL};         \
        max_pool_of(t, a, dims, y, 2);    \
        *out = holo_torch_tuple(t, 2, y); \
    }
MAX_POOL(max_pool1d, max_pool1d_indices, 1)
MAX_POOL(max_pool2d, max_pool2d_indices, 2)
MAX_POOL(max_pool3d, max_pool3d_indices, 3)

static HoloValue *avg_pool_of(HoloTorch *t, const HoloTv *a, int dims)
{
    int64_t    kernel[ROOM], stride[ROOM], pads[ROOM * 2], some[ROOM], area = 1;
    bool       is_single, has_stride = holo_torch_ints(t, &a[2], some) > 0, has_divisor = !holo_tv_is_none(&a[6]);
    HoloValue *x = with_batch(t, V(0), dims, &is_single);
    per_dim(t, &a[1], dims, 1, kernel);
    per_dim(t, has_stride ? &a[2] : &a[1], dims, 1, stride);
    per_dim(t, &a[3], dims, 0, pads);
    for (int i = 0; i < dims; i++) {
        pads[dims + i] = pads[i];
        area *= kernel[i];
    }
    HoloValue *y = holo_emit(
        t->e, "AveragePool", HOLO_IN(x),
        HOLO_ATTRS(holo_with_ints("kernel_shape", kernel, dims), holo_with_ints("strides", stride, dims),
                   holo_with_ints("pads", pads, 2 * dims), holo_with_int("ceil_mode", holo_torch_bool(t, &a[4], false)),
                   holo_with_int("count_include_pad", has_divisor || holo_torch_bool(t, &a[5], true))));
    if (has_divisor) y = OP2("Mul", y, NUM(y, (double)area / holo_torch_float(t, &a[6], 1)));
    return is_single ? holo_torch_squeeze(t, y, 0) : y;
}

ONE(avg_pool1d)
{
    return avg_pool_of(t, a, 1);
}

ONE(avg_pool2d)
{
    return avg_pool_of(t, a, 2);
}

ONE(avg_pool3d)
{
    return avg_pool_of(t, a, 3);
}

// ---- pools that adapt their windows: window i of `count` is from floor(i*size/count) to ceil((i+1)*size/count)

static void windows(HoloTorch *t, HoloValue *size, int64_t count, HoloValue **out_from, HoloValue **out_to)
{
    HoloValue *i = holo_torch_range(t, holo_emit_int(t->e, count)), *n = holo_emit_int(t->e, count);
    *out_from      = OP2("Div", OP2("Mul", i, size), n);
    HoloValue *end = OP2("Mul", OP2("Add", i, holo_emit_int(t->e, 1)), size);
    *out_to        = OP2("Div", OP2("Add", end, holo_emit_int(t->e, count - 1)), n);
}

// The means of windows along an axis: a product with a matrix that has 1/n where an element is in a window.
static HoloValue *mean_along(HoloTorch *t, HoloValue *x, int axis, int64_t count)
{
    HoloValue *size = holo_torch_dim(t, x, axis), *from, *to;
    int        rank = holo_torch_rank(t, x);
    if (count == 1) return holo_torch_mean(t, x, (int64_t[]){axis}, 1, true);
    windows(t, size, count, &from, &to);
    HoloValue *place = holo_torch_unsqueeze(t, holo_torch_range(t, size), 1);
    HoloValue *is_in = OP2("And", OP2("GreaterOrEqual", place, from), OP2("Less", place, to));
    HoloValue *share =
        OP2("Div", holo_emit_cast(t->e, is_in, DTYPE(x)), holo_emit_cast(t->e, OP2("Sub", to, from), DTYPE(x)));
    return holo_torch_swap(t, OP2("MatMul", holo_torch_swap(t, x, axis, rank - 1), share), axis, rank - 1);
}

// Do windows of the same size fit? Then it is a plain pool.
static bool plain_windows(HoloValue *x, int dims, const int64_t *count, int64_t *kernel)
{
    int rank = holo_emit_rank(x);
    for (int i = 0; i < dims; i++) {
        int64_t size;
        if (!holo_torch_size_known(x, rank - dims + i, &size) || count[i] < 1 || size % count[i]) return false;
        kernel[i] = size / count[i];
    }
    return true;
}

// What is asked for; None keeps a size.
static bool wanted(HoloTorch *t, HoloValue *x, const HoloTv *v, int dims, int64_t *out)
{
    int rank = holo_torch_rank(t, x);
    for (int i = 0; i < dims; i++) {
        const HoloTv *one = holo_tv_is_list(v) ? (i < v->list->count ? &v->list->item[i] : &v->list->item[0]) : v;
        if (holo_tv_is_none(one) && !holo_torch_size_known(x, rank - dims + i, &out[i])) {
            holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a pool that keeps a size that only a run knows");
            return false;
        }
        if (!holo_tv_is_none(one)) out[i] = holo_torch_int(t, one, 1);
    }
    return !t->e->status;
}

static HoloValue *adaptive_avg(HoloTorch *t, const HoloTv *a, int dims)
{
    HoloValue *x = V(0);
    int64_t    count[3], kernel[3], axes[3];
    bool       is_single, is_global = true;
    if (!wanted(t, x, &a[1], dims, count)) return NULL;
    int rank = holo_emit_rank(x);
    for (int i = 0; i < dims; i++) {
        is_global &= count[i] == 1;
        axes[i] = rank - dims + i;
    }
    if (is_global) return holo_torch_mean(t, x, axes, dims, true);
    if (plain_windows(x, dims, count, kernel)) {
        x            = with_batch(t, x, dims, &is_single);
        HoloValue *y = holo_emit(
            t->e, "AveragePool", HOLO_IN(x),
            HOLO_ATTRS(holo_with_ints("kernel_shape", kernel, dims), holo_with_ints("strides", kernel, dims)));
        return is_single ? holo_torch_squeeze(t, y, 0) : y;
    }
    for (int i = 0; i < dims; i++) x = mean_along(t, x, (int)axes[i], count[i]);
    return x;
}

ONE(adaptive_avg_pool1d)
{
    return adaptive_avg(t, a, 1);
}

ONE(adaptive_avg_pool2d)
{
    return adaptive_avg(t, a, 2);
}

ONE(adaptive_avg_pool3d)
{
    return adaptive_avg(t, a, 3);
}

// The largest of windows along an axis: each window's elements are gathered, the last one again where it is shorter.
static HoloValue *max_along(HoloTorch *t, HoloValue *x, int axis, int64_t count)
{
    int64_t    size, most;
    HoloValue *from, *to;
    HOLO_TORCH_CHECK(t, holo_torch_size_known(x, axis, &size) && count > 0,
                     "an adaptive pool of a size that only a run knows");
    most = (size + count - 1) / count + 1;
    windows(t, holo_emit_int(t->e, size), count, &from, &to);
    HoloValue *place = OP2("Add", holo_torch_unsqueeze(t, from, 1), holo_torch_range(t, holo_emit_int(t->e, most)));
    place            = OP2("Min", place, holo_torch_unsqueeze(t, OP2("Sub", to, holo_emit_int(t->e, 1)), 1));
    return holo_torch_reduce(t, "ReduceMax", holo_torch_gather(t, x, place, axis), (int64_t[]){axis + 1}, 1, false);
}

static void adaptive_max(HoloTorch *t, const HoloTv *a, int dims, HoloTv *out)
{
    HoloValue *x = V(0), *y[2] = {NULL};
    int64_t    count[3], kernel[3];
    HoloTv     both[2] = {{0}};
    if (!wanted(t, x, &a[1], dims, count)) return;
    if (plain_windows(x, dims, count, kernel)) {
        HoloTv sizes = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
        for (int i = 0; i < dims && !t->e->status; i++) holo_tv_append(t, sizes.list, holo_tv_int(kernel[i]));
        HoloTv args[6] = {a[0], sizes};
        max_pool_of(t, args, dims, y, 2);
        *out = holo_torch_tuple(t, 2, y);
        return;
    }
    for (int i = 0; i < dims; i++) x = max_along(t, x, holo_emit_rank(x) - dims + i, count[i]);
    both[0] = holo_tv_tensor(t, x);
    if (dims == 2) {
        HoloTv args[3] = {a[0], holo_tv_int(count[0]), holo_tv_int(count[1])};
        both[1]        = holo_torch_apply(t, "_adaptive_max_places", 3, args);
    } else if (dims == 1) { // as one row
        HoloTv args[3] = {holo_tv_tensor(t, holo_torch_unsqueeze(t, V(0), holo_emit_rank(x) - 1)), holo_tv_int(1),
                          holo_tv_int(count[0])};
        HoloTv at      = holo_torch_apply(t, "_adaptive_max_places", 3, args);
        both[1]        = holo_tv_tensor(t, holo_torch_squeeze(t, holo_torch_value(t, &at), holo_emit_rank(x) - 1));
    } // of three dimensions the places are not computed: who asks for them gets None
    *out = holo_tv_list(t, HOLO_TORCH_TUPLE, 2, both);
}

ANY(adaptive_max_pool1d)
{
    adaptive_max(t, a, 1, out);
}

ANY(adaptive_max_pool2d)
{
    adaptive_max(t, a, 2, out);
}

ANY(adaptive_max_pool3d)
{
    adaptive_max(t, a, 3, out);
}

// Elements go back to where a pool took them from.
ONE(max_unpool2d)
{
    HoloValue *x = V(0), *index = V(1), *part[3];
    int        rank = holo_torch_rank(t, x);
    int64_t    all = -1, size[ROOM], flat[] = {0, 0, -1};
    HOLO_TORCH_CHECK(t, rank == 4 && holo_torch_ints(t, &a[2], size) == 2, "max_unpool2d of %d dimensions", rank);
    int64_t area = size[0] * size[1];
    part[0] = holo_torch_dim(t, x, 0), part[1] = holo_torch_dim(t, x, 1), part[2] = holo_emit_ints(t->e, &area, 1);
    HoloValue *zeros = holo_torch_expand(t, NUM(x, 0), holo_torch_concat(t, part, 3, 0));
    HoloValue *y =
        holo_emit(t->e, "ScatterElements",
                  HOLO_IN(zeros, holo_emit_reshape(t->e, index, flat, 3), holo_emit_reshape(t->e, x, flat, 3)),
                  HOLO_ATTRS(holo_with_int("axis", 2)));
    int64_t join[] = {0, 0, size[0], size[1]};
    (void)all;
    return holo_emit_reshape(t->e, y, join, 4);
}

#define CONV  "input weight bias stride padding dilation groups"
#define TRANS "input weight bias stride padding output_padding groups dilation"
#define ALL \
    "input weight bias stride padding dilation transposed output_padding groups benchmark deterministic cudnn_enabled allow_tf32"
#define MAXP "self kernel_size stride padding dilation ceil_mode"
#define AVGP "self kernel_size stride padding ceil_mode count_include_pad divisor_override"
const HoloTorchOp holo_torch_convs[] = {
    ROW("conv1d", CONV, conv),
    ROW("conv2d", CONV, conv),
    ROW("conv3d", CONV, conv),
    ROW("_convolution_mode", CONV, conv),
    ROW("conv_transpose1d", TRANS, conv_transpose),
    ROW("conv_transpose2d", TRANS, conv_transpose),
    ROW("conv_transpose3d", TRANS, conv_transpose),
    ROW("convolution", ALL, convolution),
    ROW("_convolution", ALL, convolution),
    ROW("convolution_overrideable", ALL, convolution),
    ROW("max_pool1d", MAXP, max_pool1d),
    ROW("max_pool2d", MAXP, max_pool2d),
    ROW("max_pool3d", MAXP, max_pool3d),
    MANY("max_pool1d_with_indices", MAXP, max_pool1d_indices),
    MANY("max_pool2d_with_indices", MAXP, max_pool2d_indices),
    MANY("max_pool3d_with_indices", MAXP, max_pool3d_indices),
    ROW("avg_pool1d", AVGP, avg_pool1d),
    ROW("avg_pool2d", AVGP, avg_pool2d),
    ROW("avg_pool3d", AVGP, avg_pool3d),
    ROW("adaptive_avg_pool1d", "self output_size", adaptive_avg_pool1d),
    ROW("adaptive_avg_pool2d", "self output_size", adaptive_avg_pool2d),
    ROW("_adaptive_avg_pool2d", "self output_size", adaptive_avg_pool2d),
    ROW("adaptive_avg_pool3d", "self output_size", adaptive_avg_pool3d),
    ROW("_adaptive_avg_pool3d", "self output_size", adaptive_avg_pool3d),
    MANY("adaptive_max_pool1d", "self output_size", adaptive_max_pool1d),
    MANY("adaptive_max_pool2d", "self output_size", adaptive_max_pool2d),
    MANY("adaptive_max_pool3d", "self output_size", adaptive_max_pool3d),
    ROW("max_unpool2d", "self indices output_size", max_unpool2d),
    {0},
};
