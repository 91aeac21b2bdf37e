// withdrawn.c - operators that were in ONNX's first experimental version and were withdrawn: Affine,
// ParametricSoftplus, ScaledTanh, Scale, ImageScaler, Crop and DynamicSlice. Models converted from Core ML and Caffe2
// in those days still have them.
#include "base/math/math.h"
#include "ops/pointwise.h"
#include "ops/spread.h"

HOLO_KERNEL_1(affine_f64, double, double, p[0] * x + p[1])
HOLO_KERNEL_1(parametric_softplus_f64, double, double, p[0] * holo_softplus(p[1] * x))
HOLO_KERNEL_1(scaled_tanh_f64, double, double, p[0] * holo_tanh(p[1] * x))
HOLO_KERNEL_1(scale_f64, double, double, p[0] * x)

// ---- ImageScaler: each channel times one number, plus one of its own

static HoloStatus scaler_infer(HoloCall *call)
{
    const HoloAttr *bias = holo_attr_find(call, "bias");
    HOLO_TRY(holo_expect_rank(call, 0, 4, 4));
    HoloDim channels = call->in[0]->dim[1];
    if (!bias || bias->kind != HOLO_ATTR_FLOATS)
        return holo_call_fail(call, HOLO_BAD_MODEL, "attribute bias, a list of numbers, must be given");
    if (holo_dims_differ(bias->count, channels))
        return holo_call_fail(call, HOLO_BAD_MODEL, "bias has %d numbers for %lld channels", bias->count,
                              (long long)channels);
    return holo_infer_same(call);
}

static HoloStatus scaler_eval(HoloCall *call)
{
    const HoloTensor *x     = call->in[0];
    const HoloAttr   *bias  = holo_attr_find(call, "bias");
    double            scale = holo_attr_float(call, "scale", 1), tile[HOLO_TILE];
    int64_t           size  = x->dim[2] * x->dim[3];
    if (holo_out_is_empty(call)) return HOLO_OK;
    for (int64_t plane = 0; plane < x->dim[0] * x->dim[1]; plane++)
        for (int64_t k = 0; k < size; k += HOLO_TILE) {
            int64_t count = size - k < HOLO_TILE ? size - k : HOLO_TILE;
            holo_read_f(x, plane * size + k, 1, count, tile);
            for (int64_t j = 0; j < count; j++) tile[j] = scale * tile[j] + bias->floats[plane % x->dim[1]];
            holo_write_f(call->out[0], plane * size + k, 1, count, tile);
        }
    return HOLO_OK;
}

// ---- Crop: a border less, given as left, top, right, bottom; or a corner and the height and width from there

static HoloStatus crop_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int64_t           border[4], scale[2];
    HOLO_TRY(holo_expect_rank(call, 0, 4, 4));
    if (holo_attr_ints(call, "border", border, 4) != 4)
        return holo_call_fail(call, HOLO_BAD_MODEL, "attribute border must be a list of four");
    bool    sized  = holo_attr_find(call, "scale") != NULL;
    HoloDim dim[4] = {x->dim[0], x->dim[1], x->dim[2], x->dim[3]};
    if (sized && holo_attr_ints(call, "scale", scale, 2) != 2)
        return holo_call_fail(call, HOLO_BAD_MODEL, "attribute scale must be a list of two");
    for (int d = 0; d < 2; d++) { // height, width
        int64_t before = border[1 - d], after = border[3 - d], size = sized ? scale[d] : 0;
        bool    known = !holo_dim_is_symbolic(x->dim[2 + d]);
        int64_t room  = known ? x->dim[2 + d] : INT64_MAX;
        if (before < 0 || before > room || (sized ? size : after) < 0 || (sized ? size : after) > room - before)
            return holo_call_fail(call, HOLO_BAD_MODEL, "what is cropped is not inside the image");
        dim[2 + d] = sized ? size : holo_dim_sub(call->dims, x->dim[2 + d], before + after);
    }
    return holo_out_type(call, 0, (HoloDtype)x->dtype, 4, dim);
}

static HoloStatus crop_eval(HoloCall *call)
{
    const HoloTensor *x         = call->in[0];
    HoloTensor       *y         = call->out[0];
    int64_t           border[4] = {0}, from[4], to[4];
    if (holo_out_is_empty(call)) return HOLO_OK;
    holo_attr_ints(call, "border", border, 4);
    holo_strides(4, x->dim, from);
    holo_strides(4, y->dim, to);
    size_t size = holo_dtype_size((HoloDtype)x->dtype);
    holo_move(4, y->dim, size, y->data, to, (const char *)x->data + (size_t)(border[1] * from[2] + border[0]) * size,
              from);
    return HOLO_OK;
}

static const char dynamic_slice[] = "graph DynamicSlice(x, from, to, axes) -> (y) { y = Slice@10(x, from, to, axes) }";

// clang-format off
#define ROW(label, ...)                                                                                      \
    {.name = label, .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1,          \
     .types = HOLO_TYPES_FLOAT, .flags = HOLO_OP_POINTWISE, .infer = holo_pointwise_infer,                   \
     .eval = holo_pointwise_eval, .row = &(const HoloPointwiseRow){__VA_ARGS__}}
#define IMAGE(label, shape, values, kind)                                                                    \
    {.name = label, .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1,          \
     .types = HOLO_TYPES_FLOAT, .flags = kind, .infer = shape, .eval = values}

const HoloOp holo_ops_withdrawn[] = {
    ROW("Affine", .f64 = affine_f64, .attr = {{"alpha", 1}, {"beta", 0}}),
    ROW("ParametricSoftplus", .f64 = parametric_softplus_f64, .attr = {{"alpha", 1}, {"beta", 1}}),
    ROW("ScaledTanh", .f64 = scaled_tanh_f64, .attr = {{"alpha", 1}, {"beta", 1}}),
    ROW("Scale", .f64 = scale_f64, .attr = {{"scale", 1}}),
    IMAGE("ImageScaler", scaler_infer, scaler_eval, 0),
    IMAGE("Crop", crop_infer, crop_eval, HOLO_OP_MOVES),
    {.name = "DynamicSlice", .domain = "", .since = 1, .in_min = 3, .in_max = 4, .out_min = 1, .out_max = 1,
     .types = HOLO_TYPES_ALL, .body = dynamic_slice},
    {0},
};
// clang-format on
