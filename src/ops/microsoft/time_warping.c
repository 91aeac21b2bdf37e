// time_warping.c - DynamicTimeWarping of com.microsoft: the cheapest way through a matrix of costs, from its first
// element to its last, by steps down, right, or both at once.
#include "ops/op.h"

#include <math.h>
#include <string.h>

enum { BOTH, DOWN, RIGHT }; // the step that leads to a place

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HOLO_TRY(holo_expect_rank(call, 0, 2, 3));
    if (x->rank == 3 && holo_dims_differ(x->dim[0], 1))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld matrices, expected one", (long long)x->dim[0]);
    return holo_out_type(call, 0, HOLO_I32, 2, (HoloDim[]){2, HOLO_DIM_UNKNOWN});
}

// Computes one column of `step`, and of the least sums in `sum`, which holds those of the column before. Sums are
// floats. As in ONNX Runtime, a tie for the least sum is a step to the right.
static void warp_column(const float *cost, int64_t rows, int64_t cols, float *sum, uint8_t *step)
{
    float both = sum[0]; // of the row above in the column before
    sum[0]     = INFINITY;
    for (int64_t i = 1; i <= rows; i++) {
        float down = sum[i - 1], right = sum[i];
        int   best  = both < down && both < right ? BOTH : down < both && down < right ? DOWN : RIGHT;
        sum[i]      = (best == BOTH ? both : best == DOWN ? down : right) + cost[(i - 1) * cols];
        step[i - 1] = (uint8_t)best;
        both        = right;
    }
}

static int64_t walk_back(int64_t rows, int64_t cols, const uint8_t *step, HoloTensor *out)
{
    int64_t count = 0, length = out ? out->dim[1] : 0;
    for (int64_t i = rows, j = cols; i > 0 && j > 0; count++) {
        int by = step[(j - 1) * rows + i - 1];
        if (out) {
            holo_put_i(out, length - 1 - count, i - 1);
            holo_put_i(out, 2 * length - 1 - count, j - 1);
        }
        i -= by != RIGHT;
        j -= by != DOWN;
    }
    return count;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x    = call->in[0];
    int64_t           rows = x->dim[x->rank - 2], cols = x->dim[x->rank - 1];
    float            *sum;
    uint8_t          *step; // by columns
    if (!call->out[0]) return HOLO_OK;
    HOLO_TRY(holo_call_temp(call, (size_t)rows + 1, sizeof *sum, (void **)&sum));
    HOLO_TRY(holo_call_temp(call, (size_t)holo_tensor_count(x) + 1, sizeof *step, (void **)&step));
    for (int64_t i = 1; i <= rows; i++) sum[i] = INFINITY;
    for (int64_t j = 0; rows && j < cols; j++) {
        HOLO_TRY(holo_call_continue(call));
        warp_column((const float *)x->data + j, rows, cols, sum, step + j * rows);
    }
    HoloDim dim[2] = {2, walk_back(rows, cols, step, NULL)};
    HOLO_TRY(holo_out_type(call, 0, HOLO_I32, 2, dim));
    HOLO_TRY(holo_out_alloc(call, 0));
    (void)walk_back(rows, cols, step, call->out[0]);
    return HOLO_OK;
}

const HoloOp holo_ops_time_warping[] = {
    {.name    = "DynamicTimeWarping",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_DYNAMIC,
     .infer   = infer,
     .eval    = eval},
    {0},
};
