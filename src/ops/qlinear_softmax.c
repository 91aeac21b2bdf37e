// qlinear_softmax.c - com.microsoft's QLinearSoftmax: a quantized tensor read as numbers, its softmax, quantized again.
// Each tensor has one scale and one zero point.
#include "ops/rows.h"
#include "ops/softmax.h"
#include "ops/spread.h"

#include <math.h>

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO };

static HoloStatus find_rows(const HoloCall *call, int *from, int *to)
{
    int64_t version = holo_attr_int(call, "opset", 13);
    return holo_softmax_rows(call, version, holo_attr_int(call, "axis", -1), from, to);
}

static HoloStatus infer(HoloCall *call)
{
    int from, to;
    for (int i = X; i <= Y_ZERO; i++) {
        const HoloTensor *t = holo_in(call, i);
        if (!t && (i == X || i == X_SCALE || i == Y_SCALE))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        for (int d = 0; i != X && t && d < t->rank; d++)
            if (t->dim[d] != 1 && !holo_dim_is_symbolic(t->dim[d]))
                return holo_call_fail(call, HOLO_BAD_MODEL, "scale or zero point (input %d) is not a single number", i);
    }
    HOLO_TRY(find_rows(call, &from, &to));
    return holo_out_type(call, 0, (HoloDtype)call->in[X]->dtype, call->in[X]->rank, call->in[X]->dim);
}

static double number(const HoloCall *call, int input)
{
    const HoloTensor *t = holo_in(call, input);
    return t ? holo_get_f(t, 0) : 0;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in = call->in[X];
    int               from, to;
    void             *memory;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(find_rows(call, &from, &to));
    // ONNX Runtime cuts the number of steps to a whole one: in 255ths, 1 is 254 steps.
    double   scale = number(call, X_SCALE), steps = floor(1 / number(call, Y_SCALE)), zero = number(call, Y_ZERO);
    HoloRows rows = holo_rows(in, from, to);
    HOLO_TRY(holo_call_temp(call, (size_t)rows.size, sizeof(double), &memory));
    double *x = memory;
    for (int64_t row = 0; row < holo_row_count(rows); row++) {
        int64_t start = holo_row_start(rows, row);
        holo_read_f(in, start, rows.inner, rows.size, x);
        for (int64_t k = 0; k < rows.size; k++) x[k] *= scale; // a softmax does not see the zero point
        holo_softmax(x, rows.size);
        for (int64_t k = 0; k < rows.size; k++) x[k] = rint(x[k] * steps) + zero;
        holo_write_f(call->out[0], start, rows.inner, rows.size, x);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_qlinear_softmax[] = {
    {.name    = "QLinearSoftmax",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1, // which inputs must be there is seen to in infer
     .in_max  = 5,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(U8) | HOLO_BIT(I8),
     .infer   = infer,
     .eval    = eval},
    {0},
};
