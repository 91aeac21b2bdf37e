// agreed.c - Agreed, of domain hologram: gives its second input, if that agrees with the first.
//
// Verification inserts it where a pass computes with integers what the model writes with real numbers: both are
// evaluated on the same values, and the pass's result is used. No plan has it.
#include "ops/op.h"

#include <math.h>
#include <string.h>

enum { WRITTEN, MADE };

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *written = call->in[WRITTEN], *made = call->in[MADE];
    bool              same = written && made && written->dtype == made->dtype && written->rank == made->rank;
    for (int d = 0; same && d < made->rank; d++) same = !holo_dims_differ(written->dim[d], made->dim[d]);
    if (!same) return holo_call_fail(call, HOLO_BAD_MODEL, "the inputs have different types");
    return holo_out_type(call, 0, (HoloDtype)made->dtype, made->rank, made->dim);
}

// Whole numbers may differ by one, because a rounding may go either way; real ones by a hundredth of the largest.
static double bound_of(const HoloTensor *t)
{
    double top = 0;
    if (holo_dtype_class((HoloDtype)t->dtype) != HOLO_CLASS_FLOAT) return 1;
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        double x = fabs(holo_get_f(t, i));
        if (x > top && isfinite(x)) top = x;
    }
    return top / 100;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *written = call->in[WRITTEN], *made = call->in[MADE];
    int64_t           count = holo_tensor_count(made);
    if (count != holo_tensor_count(written))
        return holo_call_fail(call, HOLO_VERIFY, "%lld elements, but %lld as the model has it", (long long)count,
                              (long long)holo_tensor_count(written));
    double bound = bound_of(written);
    for (int64_t i = 0; i < count; i++) {
        double x = holo_get_f(written, i), y = holo_get_f(made, i);
        if (!(fabs(x - y) <= bound) && x != y && !(isnan(x) && isnan(y)))
            return holo_call_fail(call, HOLO_VERIFY, "element %lld is %g, but %g as the model has it", (long long)i, y,
                                  x);
    }
    if (count) memcpy(call->out[0]->data, made->data, holo_tensor_bytes(made));
    return HOLO_OK;
}

const HoloOp holo_ops_agreed[] = {
    {.name    = "Agreed",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(U8) | HOLO_BIT(I8) | HOLO_BIT(F32),
     .infer   = infer,
     .eval    = eval},
    {0},
};
