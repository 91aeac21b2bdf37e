// det.c - Det and Inverse of the square matrices in the last two dimensions, by elimination with pivots.
#include "ops/spread.h"

#include <math.h>
#include <string.h>

static HoloStatus check_square(const HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    HoloDim rows = x->dim[x->rank - 2], cols = x->dim[x->rank - 1];
    if (holo_dims_differ(rows, cols))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the matrices are %lld by %lld, not square", (long long)rows,
                              (long long)cols);
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HOLO_TRY(check_square(call));
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank - 2, x->dim);
}

// Swaps the row at or below `k` with the largest entry in column k into row k; true when rows were swapped. There are n
// rows, `width` apart.
static bool bring_pivot(double *m, int64_t n, int64_t width, int64_t k)
{
    int64_t best = k;
    for (int64_t r = k + 1; r < n; r++)
        if (fabs(m[r * width + k]) > fabs(m[best * width + k])) best = r;
    for (int64_t c = 0; best != k && c < width; c++) {
        double x            = m[k * width + c];
        m[k * width + c]    = m[best * width + c];
        m[best * width + c] = x;
    }
    return best != k;
}

static double determinant(const HoloCall *call, double *m, int64_t n)
{
    double det = 1;
    for (int64_t k = 0; k < n && !holo_call_is_over(call); k++) {
        if (bring_pivot(m, n, n, k)) det = -det;
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
        HOLO_TRY(holo_call_continue(call));
        holo_read_f(x, i * size, 1, size, work);
        holo_put_f(y, i, determinant(call, work, n));
    }
    return HOLO_OK;
}

// ---- Inverse

static HoloStatus infer_inverse(HoloCall *call)
{
    HOLO_TRY(check_square(call));
    return holo_infer_same(call);
}

// m is [n][2 * n]: the matrix and the identity beside it. At the end the inverse is in the second half. A matrix that
// has no inverse gives infinities and NaN.
static void invert(const HoloCall *call, double *m, int64_t n)
{
    int64_t width = 2 * n;
    for (int64_t k = 0; k < n && !holo_call_is_over(call); k++) {
        bring_pivot(m, n, width, k);
        double pivot = m[k * width + k];
        for (int64_t c = k; c < width; c++) m[k * width + c] /= pivot;
        for (int64_t r = 0; r < n; r++) {
            double factor = m[r * width + k];
            for (int64_t c = k; r != k && c < width; c++) m[r * width + c] -= factor * m[k * width + c];
        }
    }
}

static HoloStatus eval_inverse(HoloCall *call)
{
    if (holo_out_is_empty(call)) return HOLO_OK;
    const HoloTensor *x = call->in[0];
    int64_t           n = x->dim[x->rank - 1], rows = holo_tensor_count(x) / n;
    size_t            wide = (size_t)n * 2 * sizeof(double);
    void             *memory;
    HOLO_TRY(holo_call_temp(call, (size_t)n, wide, &memory));
    for (int64_t row = 0; row < rows; row += n) {
        HOLO_TRY(holo_call_continue(call));
        double *m = memory;
        memset(m, 0, (size_t)n * wide);
        for (int64_t r = 0; r < n; r++) {
            holo_read_f(x, (row + r) * n, 1, n, m + r * 2 * n);
            m[r * 2 * n + n + r] = 1;
        }
        invert(call, m, n);
        for (int64_t r = 0; r < n; r++) holo_write_f(call->out[0], (row + r) * n, 1, n, m + r * 2 * n + n);
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
    {.name    = "Inverse",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer_inverse,
     .eval    = eval_inverse},
    {0},
};
