// softmax.c - Softmax, LogSoftmax and Hardmax.
//
// Before opset 13 the tensor is taken as a matrix, and a row is all the axes from `axis` on; since
// then a row runs along `axis` alone.
#include "ops/standard/softmax.h"
#include "base/math/math.h"
#include "ops/rows.h"
#include "ops/spread.h"

#include <math.h>
#include <string.h>

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
        HOLO_TRY(holo_call_continue(call));
        int64_t start = holo_row_start(rows, row);
        holo_read_f(in, start, rows.inner, rows.size, x);
        (*transform)(x, rows.size);
        holo_write_f(out, start, rows.inner, rows.size, x);
    }
    return HOLO_OK;
}

// ---- Hardmax: 1 at the first of the largest, or at the first NaN, and 0 elsewhere

typedef struct Hardmax {
    const HoloTensor *in;
    HoloTensor       *out;
    HoloRows          rows;
} Hardmax;

static bool has_nan(const double *x, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (x[k] != x[k]) return true;
    return false;
}

// The largest, NaN if there is one. In lanes, that need not wait for each other; 0 times a number is 0 but for
// infinities and NaN, so only where those are is NaN looked for.
static double peak(const double *x, int64_t count)
{
    enum { LANES = 8 };
    double  top[LANES], nothing[LANES] = {0};
    int64_t k = 0;
    for (int l = 0; l < LANES; l++) top[l] = -INFINITY;
    for (; k + LANES <= count; k += LANES)
        for (int l = 0; l < LANES; l++) {
            top[l] = x[k + l] > top[l] ? x[k + l] : top[l];
            nothing[l] += 0 * x[k + l];
        }
    for (; k < count; k++) {
        top[0] = x[k] > top[0] ? x[k] : top[0];
        nothing[0] += 0 * x[k];
    }
    for (int l = 1; l < LANES; l++) {
        top[0] = top[l] > top[0] ? top[l] : top[0];
        nothing[0] += nothing[l];
    }
    return nothing[0] != 0 && has_nan(x, count) ? NAN : top[0];
}

static void run_hard(void *arg, int64_t row, int worker)
{
    (void)worker;
    const Hardmax *v     = arg;
    int64_t        start = holo_row_start(v->rows, row), best = 0;
    double         x[HOLO_TILE], top                          = -INFINITY;
    for (int64_t k = 0, n; k < v->rows.size && top == top; k += n) {
        n = v->rows.size - k < HOLO_TILE ? v->rows.size - k : HOLO_TILE;
        holo_read_f(v->in, start + k * v->rows.inner, v->rows.inner, n, x);
        double here = peak(x, n);
        if (here <= top) continue;
        for (best = 0; here == here ? x[best] != here : x[best] == x[best];) best++;
        best += k;
        top = here;
    }
    holo_put_f(v->out, start + best * v->rows.inner, 1);
}

static HoloStatus eval_hard(HoloCall *call)
{
    Hardmax v = {.in = call->in[0], .out = holo_out(call, 0)};
    int     from, to;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(find_rows(call, &from, &to));
    v.rows = holo_rows(v.in, from, to);
    memset(v.out->data, 0, holo_tensor_bytes(v.out));
    holo_spread(call, holo_row_count(v.rows), (double)holo_tensor_count(v.in), run_hard, &v);
    return HOLO_OK;
}

static Transform *const soft     = holo_softmax;
static Transform *const log_soft = holo_log_softmax;

#define ROW(text, ...)                                                                                \
    {                                                                                                 \
        .name = text, .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_FLOAT, .infer = infer, __VA_ARGS__                                        \
    }

const HoloOp holo_ops_softmax[] = {
    ROW("Softmax", .eval = eval, .row = &soft),
    ROW("LogSoftmax", .eval = eval, .row = &log_soft),
    ROW("Hardmax", .eval = eval_hard),
    {0},
};
