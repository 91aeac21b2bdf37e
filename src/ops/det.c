// det.c - Det: determinants of the square matrices in the last two dimensions, by elimination with pivots.
#include "ops/spread.h"

#include <math.h>

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    HoloDim rows = x->dim[x->rank - 2], cols = x->dim[x->rank - 1];
    if (rows != cols && !holo_dim_is_symbolic(rows) && !holo_dim_is_symbolic(cols))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the matrices are %lld by %lld, not square", (long long)rows,
                              (long long)cols);
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank - 2, x->dim);
}

// The row at or below `k` with the largest entry in column k comes to k; true when rows changed places.
static bool bring_pivot(double *m, int64_t n, int64_t k)
{
    int64_t best = k;
    for (int64_t r = k + 1; r < n; r++)
        if (fabs(m[r * n + k]) > fabs(m[best * n + k])) best = r;
    for (int64_t c = 0; best != k && c < n; c++) {
        double x        = m[k * n + c];
        m[k * n + c]    = m[best * n + c];
        m[best * n + c] = x;
    }
    return best != k;
}

static double determinant(double *m, int64_t n)
{
    double det = 1;
    for (int64_t k = 0; k < n; k++) {
        if (bring_pivot(m, n, k)) det = -det;
        double pivot = m[k * n + k];
        det *= pivot;
        if (pivot == 0) return 0;
        for (int64_t r = k + 1; r < n; r++) {
            double factor = m[r * n + k] / pivot;
            for (int64_t c = k + 1; c < n; c++) m[r * n + c] -= factor * m[k * n + c];
        }
    }
    return det;
}

static HoloStatus eval(HoloCall *call)
{
    if (holo_out_is_empty(call)) return HOLO_OK;
    const HoloTensor *x = call->in[0];
    HoloTensor       *y = call->out[0];
    int64_t           n = x->dim[x->rank - 1], stack = holo_tensor_count(y);
    int64_t           size = holo_product(2, x->dim + x->rank - 2);
    void             *work;
    HOLO_TRY(holo_call_temp(call, (size_t)size, sizeof(double), &work));
    for (int64_t i = 0; i < stack; i++) {
        holo_read_f(x, i * size, 1, size, work);
        holo_put_f(y, i, determinant(work, n));
    }
    return HOLO_OK;
}

const HoloOp holo_ops_det[] = {
    {.name    = "Det",
     .domain  = "",
     .since   = 11,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
