// round_f16.c - RoundF16 of domain "hologram": numbers of f32 as they come back from f16.
#include "format/dtype.h"
#include "format/small_float.h"
#include "ops/contract.h"

static HoloStatus eval(HoloCall *call)
{
    const float *x     = call->in[0]->data;
    float       *y     = call->out[0]->data;
    int64_t      count = holo_tensor_count(call->in[0]);
    for (int64_t i = 0; i < count; i++) y[i] = holo_f16_decode(holo_f64_to_f16((double)x[i]));
    return HOLO_OK;
}

const HoloOp holo_ops_round_f16[] = {
    {.name    = "RoundF16",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_POINTWISE,
     .infer   = holo_infer_same,
     .eval    = eval},
    {0},
};
