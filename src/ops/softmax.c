// softmax.c - Softmax, LogSoftmax and Hardmax.
//
// Before opset 13 the tensor is taken as a matrix, and a row is all the axes from `axis` on; since
// then a row runs along `axis` alone.
#include "ops/softmax.h"
#include "base/math.h"
#include "ops/rows.h"

typedef void Transform(double *x, int64_t count); // of a row with at least one element

static double largest(const double *x, int64_t count)
{
    double top = x[0];
    for (int64_t k = 1; k < count; k++)
        if (x[k] > top || x[k] != x[k]) top = x[k];
    return top;
}

void holo_softmax(double *x, int64_t count)
{
    double top = largest(x, count), sum = 0;
    for (int64_t k = 0; k < count; k++) sum += x[k] = holo_exp(x[k] - top);
    for (int64_t k = 0; k < count; k++) x[k] /= sum;
}

void holo_log_softmax(double *x, int64_t count)
{
    double top = largest(x, count), sum = 0;
    for (int64_t k = 0; k < count; k++) sum += holo_exp(x[k] - top);
    double shift = holo_log(sum);
    for (int64_t k = 0; k < count; k++) x[k] = x[k] - top - shift;
}

static void hardmax(double *x, int64_t count)
{
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (x[best] == x[best] && (x[k] > x[best] || x[k] != x[k])) best = k;
    for (int64_t k = 0; k < count; k++) x[k] = k == best;
}

HoloStatus holo_softmax_rows(const HoloCall *call, int64_t version, int64_t axis, int *from, int *to)
{
    const HoloTensor *in     = call->in[0];
    bool              matrix = version < 13;
    *from = *to = 0;
    if (matrix && axis == in->rank) // all of the shape is outside: rows of one element
        *from = in->rank;
    else if (in->rank > 0)
        HOLO_TRY(holo_axis(call, axis, in->rank, from));
    *to = matrix || in->rank == 0 ? in->rank : *from + 1;
    return HOLO_OK;
}

static HoloStatus find_rows(const HoloCall *call, int *from, int *to)
{
    int64_t axis = holo_attr_int(call, "axis", call->version < 13 ? 1 : -1);
    return holo_softmax_rows(call, call->version, axis, from, to);
}

static HoloStatus infer(HoloCall *call)
{
    int from, to;
    HOLO_TRY(find_rows(call, &from, &to));
    return holo_infer_same(call);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in        = call->in[0];
    HoloTensor       *out       = holo_out(call, 0);
    Transform *const *transform = call->op->row;
    int               from, to;
    void             *memory;
    if (!out) return HOLO_OK;
    HOLO_TRY(find_rows(call, &from, &to));
    HoloRows rows = holo_rows(in, from, to);
    HOLO_TRY(holo_call_temp(call, (size_t)rows.size, sizeof(double), &memory));
    double *x = memory;
    for (int64_t row = 0; row < holo_row_count(rows) && rows.size > 0; row++) {
        int64_t start = holo_row_start(rows, row);
        holo_read_f(in, start, rows.inner, rows.size, x);
        (*transform)(x, rows.size);
        holo_write_f(out, start, rows.inner, rows.size, x);
    }
    return HOLO_OK;
}

static Transform *const soft     = holo_softmax;
static Transform *const log_soft = holo_log_softmax;
static Transform *const hard     = hardmax;

#define ROW(text, how)                                                                                \
    {                                                                                                 \
        .name = text, .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_FLOAT, .infer = infer, .eval = eval, .row = &how                          \
    }

const HoloOp holo_ops_softmax[] = {
    ROW("Softmax", soft),
    ROW("LogSoftmax", log_soft),
    ROW("Hardmax", hard),
    {0},
};
