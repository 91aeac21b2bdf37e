// ratio.c - SigmoidRatio, SwishRatio, QuickGeluRatio and TanhRatio of domain "hologram": the operators without "Ratio", by
// quotients of polynomials. The pass `peer` puts them where a quantization comes behind.
#include "base/math/math_ratio.h"
#include "ops/pointwise.h"

HOLO_KERNEL_1(sigmoid, double, double, holo_sigmoid_ratio((float)x))
HOLO_KERNEL_1(swish, double, double, (float)x *holo_sigmoid_ratio((float)p[0] * (float)x))
HOLO_KERNEL_1(tanh_of, double, double, holo_tanh_ratio((float)x))

#define RATIO(NAME, FN, ...)                                                                                  \
    {                                                                                                         \
        .name = NAME, .domain = "hologram", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_BIT(F32), .flags = HOLO_OP_POINTWISE, .infer = holo_pointwise_infer,                    \
        .eval = holo_pointwise_eval, .row = &(const HoloPointwiseRow)                                         \
        {                                                                                                     \
            .f64 = FN, .attr = { __VA_ARGS__ }                                                                \
        }                                                                                                     \
    }

const HoloOp holo_ops_ratio[] = {
    RATIO("SigmoidRatio", sigmoid, {NULL, 0}),
    RATIO("SwishRatio", swish, {"alpha", 1}),
    RATIO("QuickGeluRatio", swish, {"alpha", 1.702f}),
    RATIO("TanhRatio", tanh_of, {NULL, 0}),
    {0},
};
