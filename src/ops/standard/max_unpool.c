// max_unpool.c - MaxUnpool: puts each element back where MaxPool's indices say it came from; the rest is 0.
#include "kernels/tiles/tiles.h"
#include "ops/move.h"
#include "ops/window.h"

#include <string.h>

enum { X, INDICES, SHAPE };

// The shape that was pooled, from the attributes: the indices refer to it.
static HoloStatus pooled_shape(const HoloCall *call, HoloDim *out)
{
    const HoloTensor *x = call->in[X];
    HoloWindow        window;
    HOLO_TRY(holo_expect_rank(call, X, 3, HOLO_MAX_RANK));
    HOLO_TRY(holo_window_init_transposed(call, x->rank - 2, x->dim + 2, NULL, &window));
    out[0] = x->dim[0];
    out[1] = x->dim[1];
    for (int d = 0; d < window.rank; d++) out[2 + d] = window.out[d];
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[X], *indices = call->in[INDICES];
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_expect_types(call, INDICES, HOLO_BIT(I64)));
    HOLO_TRY(pooled_shape(call, dim));
    HOLO_TRY(holo_expect_rank(call, INDICES, x->rank, x->rank));
    for (int d = 0; d < x->rank; d++)
        if (holo_dims_differ(indices->dim[d], x->dim[d]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the indices differ from the input in dimension %d", d);
    if (holo_in(call, SHAPE)) {
        int count = holo_in_ints(call, SHAPE, dim, HOLO_MAX_RANK);
        for (int d = 0; count < 0 && d < x->rank; d++) dim[d] = HOLO_DIM_UNKNOWN;
        if (count >= 0 && count != x->rank)
            return holo_call_fail(call, HOLO_BAD_MODEL, "output_shape has %d entries, expected %d", count, x->rank);
        for (int d = 0; d < 2; d++)
            if (!holo_dim_agree(dim[d], x->dim[d], &dim[d]))
                return holo_call_fail(call, HOLO_BAD_INPUT, "output_shape is %lld in dimension %d, the input %lld",
                                      (long long)dim[d], d, (long long)x->dim[d]);
    }
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x = call->in[X];
    HoloTensor       *y = call->out[0];
    int64_t           dim[HOLO_MAX_RANK], stride[HOLO_MAX_RANK], index[HOLO_TILE], count = holo_tensor_count(x);
    size_t            size   = holo_dtype_size((HoloDtype)x->dtype);
    int               log    = size == 8 ? 3 : size == 4 ? 2 : 1;
    HoloTensor        pooled = *x;
    if (holo_tensor_count(y) == 0) return HOLO_OK;
    HOLO_TRY(pooled_shape(call, dim));
    for (int d = 0; d < x->rank; d++) {
        pooled.dim[d] = dim[d];
        if (dim[d] > y->dim[d])
            return holo_call_fail(call, HOLO_BAD_INPUT, "output_shape is %lld in dimension %d, expected %lld or more",
                                  (long long)y->dim[d], d, (long long)dim[d]);
    }
    int64_t limit = holo_tensor_count(&pooled);
    bool    same  = !memcmp(dim, y->dim, (size_t)x->rank * sizeof *dim); // then indices are those of the output
    holo_strides(y->rank, y->dim, stride);
    if (holo_tensor_bytes(y)) memset(y->data, 0, holo_tensor_bytes(y));
    for (int64_t i = 0; i < count; i += HOLO_TILE) {
        HOLO_TRY(holo_call_continue(call));
        int64_t n = count - i < HOLO_TILE ? count - i : HOLO_TILE;
        holo_read_i(call->in[INDICES], i, 1, n, index);
        int64_t wrong = holo_tiles()->outside[3](n, index, limit);
        if (wrong < n)
            return holo_call_fail(call, HOLO_BAD_INPUT, "index %lld is outside the %lld elements",
                                  (long long)index[wrong], (long long)limit);
        for (int64_t k = 0; k < n && !same; k++) {
            int64_t to = 0;
            for (int d = x->rank - 1; d >= 0; index[k] /= dim[d--]) to += index[k] % dim[d] * stride[d];
            index[k] = to;
        }
        holo_tiles()->scatter[log][1](n, y->data, index, (const char *)x->data + (size_t)i * size, false, NULL);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_max_unpool[] = {
    {.name    = "MaxUnpool",
     .domain  = "",
     .since   = 9,
     .in_min  = 2,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
