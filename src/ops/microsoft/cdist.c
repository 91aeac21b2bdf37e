// cdist.c - CDist of com.microsoft: the distance of each row of one matrix to each row of another.
#include "ops/spread.h"

#include <math.h>

static HoloStatus find_root(const HoloCall *call, bool *out)
{
    *out = holo_attr_is(call, "metric", "sqeuclidean", "euclidean");
    if (*out || holo_attr_is(call, "metric", "sqeuclidean", "sqeuclidean")) return HOLO_OK;
    return holo_call_fail(call, HOLO_UNSUPPORTED, "the metric is neither euclidean nor sqeuclidean");
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *a = call->in[0], *b = call->in[1];
    bool              root;
    HOLO_TRY(find_root(call, &root));
    HOLO_TRY(holo_expect_rank(call, 0, 2, 2));
    HOLO_TRY(holo_expect_rank(call, 1, 2, 2));
    HOLO_TRY(holo_expect_types(call, 1, UINT64_C(1) << a->dtype));
    if (holo_dims_differ(a->dim[1], b->dim[1]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "rows of %lld and %lld numbers cannot be compared",
                              (long long)a->dim[1], (long long)b->dim[1]);
    HoloDim dim[2] = {a->dim[0], b->dim[0]};
    return holo_out_type(call, 0, (HoloDtype)a->dtype, 2, dim);
}

typedef struct Work {
    const HoloCall *call;
    bool            root;
} Work;

static double square(const HoloTensor *a, int64_t row, const HoloTensor *b, int64_t col)
{
    double  x[HOLO_TILE], y[HOLO_TILE], sum = 0;
    int64_t size = a->dim[1];
    for (int64_t start = 0; start < size; start += HOLO_TILE) {
        int64_t count = size - start < HOLO_TILE ? size - start : HOLO_TILE;
        holo_read_f(a, row * size + start, 1, count, x);
        holo_read_f(b, col * size + start, 1, count, y);
        for (int64_t k = 0; k < count; k++) sum += (x[k] - y[k]) * (x[k] - y[k]);
    }
    return sum;
}

static void run_row(void *arg, int64_t row, int worker)
{
    (void)worker;
    const Work       *w = arg;
    const HoloTensor *a = w->call->in[0], *b = w->call->in[1];
    for (int64_t col = 0; col < b->dim[0]; col++) {
        double sum = square(a, row, b, col);
        holo_put_f(w->call->out[0], row * b->dim[0] + col, w->root ? sqrt(sum) : sum);
    }
}

static HoloStatus eval(HoloCall *call)
{
    Work w = {.call = call};
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(find_root(call, &w.root));
    int64_t rows = call->out[0]->dim[0];
    holo_spread(call, rows, (double)holo_tensor_count(call->out[0]) * (double)call->in[0]->dim[1], run_row, &w);
    return HOLO_OK;
}

const HoloOp holo_ops_cdist[] = {
    {.name    = "CDist",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32) | HOLO_BIT(F64),
     .infer   = infer,
     .eval    = eval},
    {0},
};
