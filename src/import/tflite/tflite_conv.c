// tflite_conv.c - convolutions, pools and products.
//
// Filters are constants [out, height, width, in], or [1, height, width, out] of depthwise ones; they are transposed here.
// Where only the weights are integers, what is multiplied with them is quantized while running, as TensorFlow Lite does:
// tflite_hybrid.c.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

// ---- windows

// A filter or a pool that moves over an image with channels first.
typedef struct Window {
    int     spatial; // dimensions
    int64_t size[3], stride[3], dilation[3];
    int64_t padding; // PADDING_SAME or PADDING_VALID
} Window;

enum { ATTRS = 8 };

// What is added before and behind each dimension. False: that is not known yet.
static bool pads_find(const Window *w, const HoloValue *x, int64_t *pads)
{
    memset(pads, 0, 2 * (size_t)w->spatial * sizeof *pads);
    for (int d = 0; w->padding == PADDING_SAME && d < w->spatial; d++) {
        HoloDim in = x->type.dim[2 + d];
        if (holo_dim_is_symbolic(in)) return false;
        int64_t reach = (w->size[d] - 1) * w->dilation[d] + 1, out = (in + w->stride[d] - 1) / w->stride[d];
        int64_t more = (out - 1) * w->stride[d] + reach - in;
        if (more < 0) more = 0;
        pads[d]              = more / 2;
        pads[w->spatial + d] = more - more / 2;
    }
    return true;
}

static bool window_ok(HoloTfOp *op, const Window *w, const HoloValue *x)
{
    if (!x || x->type.rank != w->spatial + 2) {
        holo_tf_fail(op, "it needs an image of %d dimensions", w->spatial + 2);
        return false;
    }
    for (int d = 0; d < w->spatial; d++)
        if (w->stride[d] < 1 || w->dilation[d] < 1 || w->size[d] < 1 || w->size[d] > INT32_MAX ||
            w->dilation[d] > INT16_MAX) {
            holo_tf_fail(op, "size, stride or dilation %d is wrong", d);
            return false;
        }
    return true;
}

// The attributes of a convolution or a pool; `pads` has room for 6 numbers.
static int window_attrs(const Window *w, const HoloValue *x, int64_t *pads, HoloAttr *out)
{
    int count    = 0;
    out[count++] = holo_with_ints("kernel_shape", w->size, w->spatial);
    out[count++] = holo_with_ints("strides", w->stride, w->spatial);
    if (pads_find(w, x, pads))
        out[count++] = holo_with_ints("pads", pads, 2 * w->spatial);
    else
        out[count++] = holo_with_text("auto_pad", "SAME_UPPER");
    return count;
}

// Gives an image with channels first its activation and puts channels last.
static void image_give(HoloTfOp *op, HoloValue *y, int64_t activation)
{
    if (holo_tf_is_scaled(holo_tf_tensor_out(op, 0)))
        holo_tf_give_active(op, 0, holo_tf_last(op, y), activation);
    else
        holo_tf_give(op, 0, holo_tf_last(op, holo_tf_activate(op, y, activation)));
}

// ---- biases

// A bias of integers counts in steps of the product of both scales.
HoloValue *holo_tf_bias(HoloTfOp *op, int i, const HoloTfTensor *x, const HoloTfTensor *w)
{
    const HoloTfTensor *t    = holo_tf_tensor_in(op, i);
    HoloValue          *bias = holo_tf_in(op, i);
    if (!bias || holo_dtype_class(t->dtype) == HOLO_CLASS_FLOAT)
        return bias ? holo_emit_cast(op->e, bias, HOLO_F32) : NULL;
    int        count = w->scaled.count;
    HoloTensor scale = {.dtype = HOLO_F32, .rank = count > 1, .dim = {count}};
    float     *data  = HOLO_NEW(op->im->import->arena, float, count + 1);
    if (!holo_tf_is_scaled(x) || !count || !data) return holo_tf_fail(op, "its bias is of integers that have no scale");
    for (int k = 0; k < count; k++)
        data[k] = (float)(x->scaled.first * (double)holo_flat_list_f32(w->scaled.scale, (size_t)k));
    scale.data       = data;
    HoloValue *steps = holo_emit_constant(op->e, t->name, &scale);
    if (t->dtype != HOLO_I32) return holo_tf_two(op, "Mul", holo_emit_cast(op->e, bias, HOLO_F32), steps);
    return holo_emit(op->e, "DequantizeLinear", HOLO_IN(bias, steps),
                     count > 1 ? HOLO_ATTRS(holo_with_int("axis", 0)) : NULL);
}

// ---- convolutions

typedef struct Conv {
    Window        window;
    HoloTfTensor *x, *w;
    int           x_at, w_at, bias_at;
    int64_t       perm[5]; // of the filters
    int           axis;    // of their scales, behind it
    int64_t       activation;
} Conv;

static void conv_emit(HoloTfOp *op, Conv *c)
{
    HoloValue *image = holo_tf_first(op, holo_tf_in(op, c->x_at));
    HoloValue *w     = holo_tf_transpose(op, holo_tf_in(op, c->w_at), c->perm, c->window.spatial + 2);
    if (!image || !w) return;
    for (int d = 0; d < c->window.spatial; d++) {
        if (holo_dim_is_symbolic(w->type.dim[2 + d]))
            return (void)holo_tf_fail(op, "the sizes of its filters are not known");
        c->window.size[d] = w->type.dim[2 + d];
    }
    HoloDim  in = image->type.rank > 1 ? image->type.dim[1] : 0, each = w->type.dim[1];
    int64_t  pads[6];
    HoloAttr attrs[ATTRS] = {{0}};
    if (!window_ok(op, &c->window, image)) return;
    if (holo_dim_is_symbolic(in) || each < 1 || in % each)
        return (void)holo_tf_fail(op, "its filters do not fit its channels");
    int count      = window_attrs(&c->window, image, pads, attrs);
    attrs[count++] = holo_with_ints("dilations", c->window.dilation, c->window.spatial);
    attrs[count++] = holo_with_int("group", in / each);
    if (holo_tf_is_scaled(c->w) && !holo_tf_is_scaled(c->x)) {
        HoloValue *y = holo_tf_hybrid_conv(op, image, w, c->w, c->bias_at, attrs);
        image_give(op, y, c->activation);
        return;
    }
    if (holo_tf_is_scaled(c->x)) image = holo_tf_dequantize(op, c->x, image, 1);
    if (holo_tf_is_scaled(c->w)) w = holo_tf_dequantize(op, c->w, w, c->axis);
    HoloValue *bias = holo_tf_bias(op, c->bias_at, c->x, c->w);
    image           = holo_emit(op->e, "Conv", (HoloEmitIn){bias ? 3 : 2, (HoloValue *[]){image, w, bias}}, attrs);
    image_give(op, image, c->activation);
}

void holo_tf_conv(HoloTfOp *op)
{
    HoloFlatTable o = op->options;
    Conv          c = {.window = {2, .stride = {holo_flat_i32(o, CONV_STRIDE_H, 1), holo_flat_i32(o, CONV_STRIDE_W, 1)},
                                  .dilation = {holo_flat_i32(o, CONV_DILATION_H, 1), holo_flat_i32(o, CONV_DILATION_W, 1)},
                                  .padding = holo_flat_i8(o, CONV_PADDING, 0)},
                       .x      = holo_tf_tensor_in(op, 0),
                       .w      = holo_tf_tensor_in(op, 1),
                       .w_at   = 1,
                       .bias_at    = 2,
                       .perm       = {0, 3, 1, 2},
                       .activation = holo_flat_i8(o, CONV_ACTIVATION, 0)};
    conv_emit(op, &c);
}

void holo_tf_depthwise(HoloTfOp *op)
{
    HoloFlatTable o = op->options;
    Conv c = {.window     = {2, .stride = {holo_flat_i32(o, DEPTH_STRIDE_H, 1), holo_flat_i32(o, DEPTH_STRIDE_W, 1)},
                             .dilation = {holo_flat_i32(o, DEPTH_DILATION_H, 1), holo_flat_i32(o, DEPTH_DILATION_W, 1)},
                             .padding  = holo_flat_i8(o, DEPTH_PADDING, 0)},
              .x          = holo_tf_tensor_in(op, 0),
              .w          = holo_tf_tensor_in(op, 1),
              .w_at       = 1,
              .bias_at    = 2,
              .perm       = {3, 0, 1, 2},
              .activation = holo_flat_i8(o, DEPTH_ACTIVATION, 0)};
    conv_emit(op, &c);
}

void holo_tf_conv3(HoloTfOp *op) // filters are [depth, height, width, in, out]
{
    HoloFlatTable o = op->options;
    Conv          c = {.window     = {3,
                                      .stride = {holo_flat_i32(o, CONV3_STRIDE_D, 1), holo_flat_i32(o, CONV3_STRIDE_H, 1),
                                                 holo_flat_i32(o, CONV3_STRIDE_W, 1)},
                                      .dilation = {holo_flat_i32(o, CONV3_DILATION_D, 1), holo_flat_i32(o, CONV3_DILATION_H, 1),
                                                   holo_flat_i32(o, CONV3_DILATION_W, 1)},
                                      .padding = holo_flat_i8(o, CONV3_PADDING, 0)},
                       .x          = holo_tf_tensor_in(op, 0),
                       .w          = holo_tf_tensor_in(op, 1),
                       .w_at       = 1,
                       .bias_at    = 2,
                       .perm       = {4, 3, 0, 1, 2},
                       .activation = holo_flat_i8(o, CONV3_ACTIVATION, 0)};
    conv_emit(op, &c);
}

// ---- transposed convolutions

// `sizes` are those of the output, of which 1 .. spatial are spatial; NULL: not known.
static void deconv_emit(HoloTfOp *op, Conv *c, const int64_t *sizes)
{
    HoloValue *image = holo_tf_first(op, holo_tf_in(op, c->x_at)),
              *w     = holo_tf_transpose(op, holo_tf_in(op, c->w_at), c->perm, c->window.spatial + 2);
    int64_t pads[6] = {0}, extra[3] = {0};
    int     n = c->window.spatial;
    if (!image || !w) return;
    for (int d = 0; d < n; d++) c->window.size[d] = w->type.dim[2 + d];
    if (!window_ok(op, &c->window, image)) return;
    bool known = sizes != NULL;
    for (int d = 0; d < n; d++) known = known && !holo_dim_is_symbolic(image->type.dim[2 + d]);
    for (int d = 0; d < n && known; d++) {
        int64_t whole =
            (image->type.dim[2 + d] - 1) * c->window.stride[d] + (c->window.size[d] - 1) * c->window.dilation[d] + 1;
        int64_t cut = whole - sizes[1 + d];
        extra[d]    = cut < 0 ? -cut : 0;
        pads[d]     = cut > 0 && c->window.padding == PADDING_SAME ? cut / 2 : 0;
        pads[n + d] = cut > 0 ? cut - pads[d] : 0;
    }
    if (!known && c->window.padding == PADDING_SAME && !sizes)
        return (void)holo_tf_fail(op, "the sizes of its output are not known");
    HoloAttr attrs[ATTRS] = {holo_with_ints("strides", c->window.stride, n),
                             holo_with_ints("dilations", c->window.dilation, n)};
    int      count        = 2;
    if (!known && c->window.padding == PADDING_SAME) attrs[count++] = holo_with_text("auto_pad", "SAME_UPPER");
    if (known) attrs[count++] = holo_with_ints("pads", pads, 2 * n);
    bool beyond = false;
    for (int d = 0; d < n; d++) beyond |= extra[d] >= c->window.stride[d] && extra[d] >= c->window.dilation[d];
    if (beyond) return (void)holo_tf_fail(op, "its output is larger than what its filters reach");
    if (known) attrs[count++] = holo_with_ints("output_padding", extra, n);
    if (holo_tf_is_scaled(c->x)) image = holo_tf_dequantize(op, c->x, image, 1);
    if (holo_tf_is_scaled(c->w)) w = holo_tf_dequantize(op, c->w, w, c->axis);
    HoloValue *bias = holo_tf_bias(op, c->bias_at, c->x, c->w);
    image = holo_emit(op->e, "ConvTranspose", (HoloEmitIn){bias ? 3 : 2, (HoloValue *[]){image, w, bias}}, attrs);
    image_give(op, image, c->activation);
}

void holo_tf_transpose_conv(HoloTfOp *op)
{
    HoloFlatTable o = op->options;
    int64_t       sizes[HOLO_MAX_RANK];
    int           count;
    Conv c     = {.window     = {2, .stride = {holo_flat_i32(o, DECONV_STRIDE_H, 1), holo_flat_i32(o, DECONV_STRIDE_W, 1)},
                                 .dilation = {1, 1}, .padding = holo_flat_i8(o, DECONV_PADDING, 0)},
                  .x          = holo_tf_tensor_in(op, 2),
                  .w          = holo_tf_tensor_in(op, 1),
                  .x_at       = 2,
                  .w_at       = 1,
                  .bias_at    = 3,
                  .perm       = {3, 0, 1, 2},
                  .axis       = 1,
                  .activation = holo_flat_i8(o, DECONV_ACTIVATION, 0)};
    bool known = holo_tf_ints(op, 0, sizes, HOLO_MAX_RANK, &count) && count == 4;
    static const int64_t none[4] = {0};
    deconv_emit(op, &c, known ? sizes : holo_tf_in(op, 0) ? none : NULL);
}

void holo_tf_conv3_transpose(HoloTfOp *op)
{
    HoloFlatTable o = op->options;
    int64_t       sizes[HOLO_MAX_RANK];
    int           count;
    Conv          c     = {.window     = {3,
                                          .stride = {holo_flat_i32(o, CONV3_STRIDE_D, 1), holo_flat_i32(o, CONV3_STRIDE_H, 1),
                                                     holo_flat_i32(o, CONV3_STRIDE_W, 1)},
                                          .dilation = {holo_flat_i32(o, CONV3_DILATION_D, 1), holo_flat_i32(o, CONV3_DILATION_H, 1),
                                                       holo_flat_i32(o, CONV3_DILATION_W, 1)},
                                          .padding = holo_flat_i8(o, CONV3_PADDING, 0)},
                           .x          = holo_tf_tensor_in(op, 2),
                           .w          = holo_tf_tensor_in(op, 1),
                           .x_at       = 2,
                           .w_at       = 1,
                           .bias_at    = 3,
                           .perm       = {4, 3, 0, 1, 2},
                           .axis       = 1,
                           .activation = holo_flat_i8(o, CONV3_ACTIVATION, 0)};
    bool          known = holo_tf_ints(op, 0, sizes, HOLO_MAX_RANK, &count) && count == 5;
    deconv_emit(op, &c, known ? sizes : NULL);
}

// MediaPipe's: a transposed convolution with a bias. Its options are the three numbers padding, stride_width,
// stride_height, as C has them; padding is 1 for SAME and 2 for VALID.
void holo_tf_mediapipe_deconv(HoloTfOp *op)
{
    int32_t    params[3] = {0};
    int64_t    sizes[4]  = {0}, cut;
    HoloValue *x = holo_tf_in(op, 0), *w = holo_tf_in(op, 1);
    if (op->custom.count < sizeof params) return (void)holo_tf_fail(op, "its options are cut off");
    memcpy(params, holo_flat_list_bytes(op->custom), sizeof params);
    Conv c = {.window  = {2, .stride = {params[2], params[1]}, .dilation = {1, 1},
                          .padding = params[0] == 1 ? PADDING_SAME : PADDING_VALID},
              .x       = holo_tf_tensor_in(op, 0),
              .w       = holo_tf_tensor_in(op, 1),
              .w_at    = 1,
              .bias_at = 2,
              .perm    = {3, 0, 1, 2},
              .axis    = 1};
    if (!x || !w) return;
    if (x->type.rank != 4 || w->type.rank != 4 || params[1] < 1 || params[2] < 1)
        return (void)holo_tf_fail(op, "its options or sizes are wrong");
    for (int d = 0; d < 2; d++) {
        if (holo_dim_is_symbolic(x->type.dim[1 + d]))
            return (void)holo_tf_fail(op, "the sizes of its input are not known");
        cut = params[0] == 1 ? w->type.dim[1 + d] - (x->type.dim[1 + d] - 1) % params[2 - d] - 1 : 0;
        if (cut < 0) cut = 0;
        sizes[1 + d] = params[2 - d] * (x->type.dim[1 + d] - 1) + w->type.dim[1 + d] - cut;
    }
    deconv_emit(op, &c, sizes);
}

// ---- pools

static Window pool_window(const HoloTfOp *op)
{
    HoloFlatTable o = op->options;
    return (Window){2, .size = {holo_flat_i32(o, POOL_HEIGHT, 0), holo_flat_i32(o, POOL_WIDTH, 0)},
                    .stride   = {holo_flat_i32(o, POOL_STRIDE_H, 0), holo_flat_i32(o, POOL_STRIDE_W, 0)},
                    .dilation = {1, 1}, .padding = holo_flat_i8(o, POOL_PADDING, 0)};
}

static HoloValue *pool_emit(HoloTfOp *op, const char *name, HoloValue *image)
{
    Window   w = pool_window(op);
    int64_t  pads[6];
    HoloAttr attrs[ATTRS] = {{0}};
    if (!image || !window_ok(op, &w, image)) return NULL;
    window_attrs(&w, image, pads, attrs);
    return holo_emit(op->e, name, HOLO_IN(image), attrs);
}

void holo_tf_average_pool(HoloTfOp *op)
{
    const HoloTfTensor *t     = holo_tf_tensor_in(op, 0);
    HoloValue          *image = holo_tf_first(op, holo_tf_in(op, 0));
    if (image && holo_tf_is_scaled(t)) image = holo_tf_dequantize(op, t, image, 1);
    image_give(op, pool_emit(op, "AveragePool", image), holo_flat_i8(op->options, POOL_ACTIVATION, 0));
}

void holo_tf_l2_pool(HoloTfOp *op)
{
    HoloValue *image = holo_tf_first(op, holo_tf_real(op, 0));
    image            = holo_tf_one(op, "Sqrt", pool_emit(op, "AveragePool", holo_tf_two(op, "Mul", image, image)));
    image_give(op, image, holo_flat_i8(op->options, POOL_ACTIVATION, 0));
}

// The largest integer is that of the largest number, if both have one scale.
void holo_tf_max_pool(HoloTfOp *op)
{
    const HoloTfTensor *x = holo_tf_tensor_in(op, 0), *y = holo_tf_tensor_out(op, 0);
    int64_t             activation = holo_flat_i8(op->options, POOL_ACTIVATION, 0);
    bool                narrow     = holo_tf_is_scaled(x) && (x->type == TYPE_I8 || x->type == TYPE_U8);
    HoloValue          *image      = holo_tf_first(op, narrow ? holo_tf_in(op, 0) : holo_tf_real(op, 0));
    image                          = pool_emit(op, "MaxPool", image);
    if (narrow && holo_tf_same_scale(x, y) && !activation)
        holo_tf_give(op, 0, holo_tf_last(op, image));
    else
        image_give(op, narrow && image ? holo_tf_dequantize(op, x, image, 1) : image, activation);
}

// ---- products

// The rows of a matrix: all dimensions but the last become one.
static HoloValue *rows_of(HoloTfOp *op, HoloValue *x, int64_t columns)
{
    if (!x || (x->type.rank == 2 && x->type.dim[1] == columns)) return x;
    return holo_emit_reshape(op->e, x, (HoloDim[]){-1, columns}, 2);
}

// Puts the dimensions of x, but for the last, before the columns.
static HoloValue *unflatten(HoloTfOp *op, HoloValue *y, const HoloValue *x, HoloDim columns)
{
    HoloDim sizes[HOLO_MAX_RANK];
    int     rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 1 || rank == 2 || !y) return y;
    for (int d = 0; d < rank - 1; d++) sizes[d] = x->type.dim[d];
    sizes[rank - 1] = columns;
    return holo_emit_reshape(op->e, y, sizes, rank);
}

void holo_tf_fully_connected(HoloTfOp *op)
{
    HoloTfTensor *x = holo_tf_tensor_in(op, 0), *w = holo_tf_tensor_in(op, 1);
    HoloValue    *rows = holo_tf_in(op, 0), *weights = holo_tf_in(op, 1), *given = rows;
    if (!rows || !weights) return;
    if (holo_flat_i8(op->options, FULLY_FORMAT, 0))
        return (void)holo_tf_fail(op,
                                  "weights in the order SHUFFLED4x16INT8 are not supported: convert the model again");
    if (weights->type.rank != 2 || holo_dim_is_symbolic(weights->type.dim[1]))
        return (void)holo_tf_fail(op, "its weights are no matrix");
    HoloDim    columns = weights->type.dim[0];
    HoloValue *y;
    rows = rows_of(op, rows, weights->type.dim[1]);
    if (holo_tf_is_scaled(w) && !holo_tf_is_scaled(x)) {
        y = holo_tf_hybrid_rows(op, rows, weights, w, holo_flat_u8(op->options, FULLY_ASYMMETRIC, 0) != 0);
        if (holo_tf_has(op, 2)) y = holo_tf_two(op, "Add", y, holo_tf_bias(op, 2, x, w));
    } else {
        if (holo_tf_is_scaled(x)) rows = holo_tf_dequantize(op, x, rows, 1);
        if (holo_tf_is_scaled(w)) weights = holo_tf_dequantize(op, w, weights, 0);
        HoloValue *bias = holo_tf_bias(op, 2, x, w);
        y = rows && weights ? holo_emit(op->e, "Gemm", (HoloEmitIn){bias ? 3 : 2, (HoloValue *[]){rows, weights, bias}},
                                        HOLO_ATTRS(holo_with_int("transB", 1)))
                            : NULL;
    }
    if (holo_flat_u8(op->options, FULLY_KEEP_DIMS, 0)) y = unflatten(op, y, given, columns);
    holo_tf_give_active(op, 0, y, holo_flat_i8(op->options, FULLY_ACTIVATION, 0));
}

static HoloValue *matrix_transpose(HoloTfOp *op, HoloValue *x)
{
    int64_t perm[HOLO_MAX_RANK];
    int     rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 2) return rank < 0 ? NULL : holo_tf_fail(op, "it needs matrices");
    for (int d = 0; d < rank; d++) perm[d] = d < rank - 2 ? d : d == rank - 2 ? rank - 1 : rank - 2;
    return holo_tf_transpose(op, x, perm, rank);
}

void holo_tf_batch_matmul(HoloTfOp *op)
{
    HoloTfTensor *a = holo_tf_tensor_in(op, 0), *b = holo_tf_tensor_in(op, 1);
    bool       turn_a = holo_flat_u8(op->options, BATCH_ADJ_X, 0), turn_b = holo_flat_u8(op->options, BATCH_ADJ_Y, 0);
    HoloValue *x = holo_tf_in(op, 0), *y = holo_tf_in(op, 1);
    if (!x || !y) return;
    if (turn_a) x = matrix_transpose(op, x);
    bool hybrid = holo_tf_is_scaled(b) && !holo_tf_is_scaled(a) && y->type.rank == 2;
    if (hybrid) {
        if (!turn_b) y = matrix_transpose(op, y);
        holo_tf_give(op, 0, holo_tf_hybrid_rows(op, x, y, b, holo_flat_u8(op->options, BATCH_ASYMMETRIC, 0) != 0));
        return;
    }
    if (turn_b) y = matrix_transpose(op, y);
    if (x && holo_tf_is_scaled(a)) x = holo_tf_dequantize(op, a, x, 0);
    if (y && holo_tf_is_scaled(b)) y = holo_tf_dequantize(op, b, y, 0);
    if (holo_emit_dtype(x) == HOLO_I8 && holo_tf_tensor_out(op, 0)->dtype == HOLO_I32)
        holo_tf_give(op, 0, holo_tf_two(op, "MatMulInteger", x, y));
    else
        holo_tf_give_real(op, 0, holo_tf_two(op, "MatMul", x, y));
}
