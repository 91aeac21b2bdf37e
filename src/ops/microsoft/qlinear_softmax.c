// qlinear_softmax.c - com.microsoft's QLinearSoftmax: a quantized tensor read as numbers, its softmax, quantized again.
// Each tensor has one scale and one zero point.
//
// It is what ONNX Runtime computes, which has no other definition: exponentials are entries of a table in float, as
// large as a sum of so many of them allows. So a short row, in small steps, leaves float, and what it then gives is
// that of x86.
#include "base/math/math.h"
#include "ops/rows.h"
#include "ops/spread.h"
#include "ops/standard/softmax.h"

#include <float.h>
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
        if (i != X) HOLO_TRY(holo_expect_one(call, i));
    }
    HOLO_TRY(find_rows(call, &from, &to));
    return holo_out_type(call, 0, (HoloDtype)call->in[X]->dtype, call->in[X]->rank, call->in[X]->dim);
}

static double number(const HoloCall *call, int input)
{
    const HoloTensor *t = holo_in(call, input);
    return t ? holo_get_f(t, 0) : 0;
}

enum { LEVELS = 256 };

// The largest element gets the last entry.
static void table_make(double scale, int64_t size, float *out)
{
    const double spare = 5; // less than what FLT_MAX is of e
    double       top   = (double)(float)holo_log((double)(FLT_MAX / (float)size)) - spare;
    double       shift = (top > 0 ? top : 0) / scale;
    for (int i = 0; i < LEVELS; i++) out[i] = (float)holo_exp((i - (LEVELS - 1) + shift) * scale);
}

// A number that does not fit 32 bits becomes 0 if it is unsigned, otherwise the least number; then the zero point is
// added modulo 2^32.
static double step_of(float y, bool is_signed, double zero)
{
    if (fabsf(y) <= (float)INT32_MAX) return (double)rintf(y) + zero;
    if (!is_signed) return zero;
    return zero < 0 ? INT32_MAX : INT32_MIN;
}

// The step as a byte, as far as it fits. A small number is rounded by a sum that has no room for a fraction.
static uint8_t byte_of(float y, bool is_signed, double zero)
{
    const float all = 12582912.0f, small = 4194304.0f;
    double      step = y > -small && y < small ? (double)((y + all) - all) + zero : step_of(y, is_signed, zero);
    double      low = is_signed ? -128 : 0, high = low + LEVELS - 1;
    return (uint8_t)(int)(step > high ? high : step > low ? step : low);
}

// One row of `size` bytes that are `gap` apart. Flipped, signed bytes are in the order of unsigned ones.
static void row_eval(const uint8_t *x, int64_t size, int64_t gap, const float *table, float steps, double zero,
                     bool is_signed, uint8_t *out)
{
    uint8_t flip = is_signed ? 0x80 : 0, top = 0;
    float   sum = 0;
    for (int64_t k = 0; k < size; k++) top = (x[k * gap] ^ flip) > top ? x[k * gap] ^ flip : top;
    table += LEVELS - 1 - top; // of what is 0
    for (int64_t k = 0; k < size; k++) sum += table[x[k * gap] ^ flip];
    for (int64_t k = 0; k < size; k++) out[k * gap] = byte_of(table[x[k * gap] ^ flip] * steps / sum, is_signed, zero);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in = call->in[X];
    int               from, to;
    float             table[LEVELS];
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(find_rows(call, &from, &to));
    // The number of steps is truncated: in 255ths, 1 becomes 254 steps.
    float    steps = floorf(1 / (float)number(call, Y_SCALE));
    double   zero  = number(call, Y_ZERO);
    HoloRows rows  = holo_rows(in, from, to);
    table_make(number(call, X_SCALE), rows.size, table);
    for (int64_t row = 0; row < holo_row_count(rows); row++) {
        HOLO_TRY(holo_call_continue(call));
        int64_t start = holo_row_start(rows, row);
        row_eval((const uint8_t *)in->data + start, rows.size, rows.inner, table, steps, zero, in->dtype == HOLO_I8,
                 (uint8_t *)call->out[0]->data + start);
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
     .flags   = HOLO_OP_SCALED,
     .infer   = infer,
     .eval    = eval},
    {0},
};
