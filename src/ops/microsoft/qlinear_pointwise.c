// qlinear_pointwise.c - com.microsoft's pointwise operators on quantized tensors: read as numbers, computed, quantized
// again. Each tensor has one scale and one zero point.
#include "base/math/math.h"
#include "ops/pointwise.h"

#include <math.h>

typedef struct Row {
    HoloTileFn *fn;
    int         operands; // each is three inputs: tensor, scale, zero point; then come two for the output
    const char *attr;     // becomes the last parameter
    double      fallback;
} Row;

enum { SCALE = 0, ZERO = 1, SECOND = 2, RESULT = 4, ATTR = 6 }; // places in p

// Each step is in float, as in ONNX Runtime: halves are common where scales are multiples of one another, and only so
// do they go the same way. Sums and products are rounded after the zero point is added, the others before.
static inline double quantized(float value, const double *p)
{
    return nearbyintf(value / (float)p[RESULT + SCALE]) + (float)p[RESULT + ZERO];
}
static inline double sum(float x, float y, const double *p)
{
    float x_ratio = (float)p[SCALE] / (float)p[RESULT + SCALE];
    float y_ratio = (float)p[SECOND + SCALE] / (float)p[RESULT + SCALE];
    float shift   = (float)p[RESULT + ZERO] - fmaf(x_ratio, (float)p[ZERO], y_ratio * (float)p[SECOND + ZERO]);
    return nearbyintf(fmaf(x, x_ratio, fmaf(y, y_ratio, shift)));
}
static inline double product(float x, float y, const double *p)
{
    float ratio = (float)p[SCALE] * (float)p[SECOND + SCALE] / (float)p[RESULT + SCALE];
    return nearbyintf((x - (float)p[ZERO]) * (y - (float)p[SECOND + ZERO]) * ratio + (float)p[RESULT + ZERO]);
}
static inline float leaky(float x, float slope)
{
    return x < 0 ? slope * x : x;
}

// clang-format off
#define VALUE (((float)x - (float)p[ZERO]) * (float)p[SCALE])
HOLO_KERNEL_2(add, double, double, sum((float)x, (float)y, p))
HOLO_KERNEL_2(multiply, double, double, product((float)x, (float)y, p))
HOLO_KERNEL_1(sigmoid, double, double, quantized((float)holo_sigmoid(VALUE), p))
HOLO_KERNEL_1(leaky_relu, double, double, quantized(leaky(VALUE, (float)p[ATTR]), p))
// clang-format on

static HoloStatus infer(HoloCall *call)
{
    const Row        *row     = call->op->row;
    const HoloTensor *in[2]   = {call->in[0], row->operands == 2 ? holo_in(call, 3) : NULL};
    HoloCall          tensors = *call;
    int               rank;
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_expect_tensors(call));
    if (call->in_count <= 3 * row->operands)
        return holo_call_fail(call, HOLO_BAD_MODEL, "input %d, the scale of the output, is missing", 3 * row->operands);
    for (int i = 0; i < call->in_count; i++) {
        bool is_tensor = i < 3 * row->operands && i % 3 == 0;
        bool is_scale  = i < 3 * row->operands ? i % 3 == 1 : i == 3 * row->operands;
        if (!call->in[i] && (is_tensor || is_scale))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        HOLO_TRY(is_tensor ? holo_expect_types(call, i, HOLO_BIT(U8) | HOLO_BIT(I8)) : holo_expect_one(call, i));
    }
    tensors.in = in;
    HOLO_TRY(holo_broadcast(&tensors, 0, row->operands, &rank, dim));
    return holo_out_type(call, 0, (HoloDtype)call->in[0]->dtype, rank, dim);
}

static HoloStatus eval(HoloCall *call)
{
    const Row  *row = call->op->row;
    HoloTensor *out = holo_out(call, 0);
    if (!out) return HOLO_OK;
    HoloPointwise work = {.fn = row->fn, .in_count = row->operands, .out = *out, .lane_out = HOLO_LANE_F64};
    for (int k = 0; k < row->operands; k++) {
        work.in[k]   = *call->in[3 * k];
        work.lane[k] = HOLO_LANE_F64;
    }
    for (int k = 0; k <= row->operands; k++) {
        bool              is_result = k == row->operands;
        double           *p         = work.p + (is_result ? RESULT : SECOND * k);
        const HoloTensor *scale = holo_in(call, 3 * k + !is_result), *zero = holo_in(call, 3 * k + 1 + !is_result);
        p[SCALE] = holo_get_f(scale, 0);
        p[ZERO]  = zero ? holo_get_f(zero, 0) : 0;
    }
    if (row->attr) work.p[ATTR] = holo_attr_float(call, row->attr, row->fallback);
    holo_pointwise(call, &work);
    return HOLO_OK;
}

// clang-format off
// Zero points may be left out: which inputs must be there is seen to in infer.
#define ROW(id, most, each, ...)                                                                                \
    {.name = id, .domain = "com.microsoft", .since = 1, .in_min = 1, .in_max = most, .out_min = 1, .out_max = 1, \
     .types = HOLO_BIT(U8) | HOLO_BIT(I8), .flags = HOLO_OP_SCALED, .cost = each, .infer = infer, .eval = eval,  \
     .row = &(const Row){__VA_ARGS__}}

const HoloOp holo_ops_qlinear_pointwise[] = {
    ROW("QLinearAdd", 8, 0, .fn = add, .operands = 2),
    ROW("QLinearMul", 8, 0, .fn = multiply, .operands = 2),
    ROW("QLinearSigmoid", 5, HOLO_COST_HEAVY, .fn = sigmoid, .operands = 1),
    ROW("QLinearLeakyRelu", 5, 4, .fn = leaky_relu, .operands = 1, .attr = "alpha", .fallback = 0.01f),
    {0},
};
// clang-format on
