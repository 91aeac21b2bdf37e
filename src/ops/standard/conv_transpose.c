// conv_transpose.c - ConvTranspose. Each output gathers what meets it; the taps that fall between inputs are zeros.
#include "ops/spread.h"
#include "ops/standard/conv.h"

#include <math.h>

static HoloStatus infer(HoloCall *call)
{
    HoloDtype dtype = (HoloDtype)call->in[0]->dtype;
    for (int i = 1; i < 3; i++) HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << dtype));
    return holo_conv_infer(call, 0, 1, 2, true, dtype);
}

static HoloStatus eval(HoloCall *call)
{
    HoloConv v;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(holo_conv_init(call, 0, 1, 2, true, &v));
    holo_contract(call, &v.contract);
    return HOLO_OK;
}

static double at(const HoloCall *call, int64_t index)
{
    HoloConv v;
    return holo_conv_init(call, 0, 1, 2, true, &v) ? NAN : holo_contract_at(&v.contract, index);
}

const HoloOp holo_ops_conv_transpose[] = {
    {.name    = "ConvTranspose",
     .domain  = "",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval,
     .at      = at},
    {0},
};
