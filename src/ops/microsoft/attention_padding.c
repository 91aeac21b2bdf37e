// attention_padding.c - the five forms of ONNX Runtime's masks. See attention_padding.h.
//
//     [batch]                   keys from this number on are padding; [3 * batch + 2] begins with the same
//     [2 * batch]               and so are, by the second half, keys before this number
//     [batch, keys]             keys that are 0
//     [batch, queries, keys]    keys that are 0, for each query
//     [batch, 1, most, most]    the same, for every position that can be
#include "ops/microsoft/attention_padding.h"

#include "ops/move.h"

// Whether this is [1, 1] or [batch, 1], which masks nothing.
static bool is_dummy(const HoloTensor *mask, HoloDim keys)
{
    return mask->rank == 2 && mask->dim[1] == 1 && keys != 1;
}

HoloStatus holo_padding_check(const HoloCall *call, int input, HoloDim batch, HoloDim queries, HoloDim keys)
{
    const HoloTensor *mask = holo_in(call, input);
    HoloDim           same;
    if (!mask) return HOLO_OK;
    HOLO_TRY(holo_expect_types(call, input, HOLO_TYPES_INDEX | HOLO_BIT(BOOL)));
    HOLO_TRY(holo_expect_rank(call, input, 1, 4));
    if (mask->rank == 1) {
        HoloDim have = mask->dim[0];
        if (holo_dim_is_symbolic(have) || holo_dim_is_symbolic(batch) || have == batch || have == 2 * batch ||
            have == 3 * batch + 2)
            return HOLO_OK;
        return holo_call_fail(call, HOLO_BAD_MODEL, "a mask of %lld entries does not fit a batch of %lld",
                              (long long)have, (long long)batch);
    }
    if (is_dummy(mask, keys)) return HOLO_OK;
    HOLO_TRY(holo_agree(call, "batch of the mask and the input", mask->dim[0], batch, &same));
    if (mask->rank == 4) return holo_agree(call, "the last sizes of the mask", mask->dim[2], mask->dim[3], &same);
    if (mask->rank == 3) HOLO_TRY(holo_agree(call, "rows of the mask and the queries", mask->dim[1], queries, &same));
    return holo_agree(call, "columns of the mask and the keys", mask->dim[mask->rank - 1], keys, &same);
}

// Whether a query sees a key.
static bool counts(const HoloTensor *mask, const HoloAttention *a, int64_t past, int64_t b, int64_t query, int64_t key)
{
    if (mask->rank == 1) {
        bool is_late = mask->dim[0] == 2 * a->batch && key < holo_get_i(mask, a->batch + b);
        return key < holo_get_i(mask, b) && !is_late;
    }
    if (mask->rank == 2) return holo_get_i(mask, b * a->keys + key) > 0;
    if (mask->rank == 3) return holo_get_i(mask, (b * a->queries + query) * a->keys + key) > 0;
    return holo_get_i(mask, (b * mask->dim[2] + past + query) * mask->dim[3] + key) > 0;
}

HoloStatus holo_padding_bias(const HoloCall *call, int input, const HoloAttention *a, int64_t past, HoloBias *out)
{
    const HoloTensor *mask = holo_in(call, input);
    *out                   = (HoloBias){0};
    if (!mask || is_dummy(mask, a->keys)) return HOLO_OK;
    if (mask->rank == 4 && (mask->dim[1] != 1 || mask->dim[3] < a->keys || mask->dim[2] - past < a->queries))
        return holo_call_fail(call, HOLO_BAD_INPUT, "the mask is smaller than %lld keys", (long long)a->keys);
    const int64_t scores[4] = {a->batch, a->q_heads, a->queries, a->keys};
    const int64_t dim[4]    = {a->batch, 1, mask->rank < 3 ? 1 : a->queries, a->keys};
    double        filter    = holo_attr_float(call, "mask_filter_value", -10000);
    HoloTensor   *bias;
    HOLO_TRY(holo_temp_tensor(call, HOLO_F64, 4, dim, &bias));
    double *x = bias->data;
    for (int64_t b = 0; b < a->batch; b++)
        for (int64_t q = 0; q < dim[2]; q++)
            for (int64_t k = 0; k < a->keys; k++) *x++ = counts(mask, a, past, b, q, k) ? 0 : filter;
    holo_bias_init(bias, scores, false, out);
    return HOLO_OK;
}
