// transpose.c - dimensions in another order: Transpose, and the block moves that are transposes too.
#include "ops/move.h"

// Writes `src`, of sizes dim, with its dimensions in the order of `perm`.
static void permute(const HoloCall *call, int rank, const int64_t *dim, const int *perm, size_t size, void *dst,
                    const void *src)
{
    int64_t stride[HOLO_MAX_RANK], to_dim[HOLO_MAX_RANK], to_stride[HOLO_MAX_RANK], from_stride[HOLO_MAX_RANK];
    holo_strides(rank, dim, stride);
    for (int i = 0; i < rank; i++) {
        to_dim[i]      = dim[perm[i]];
        from_stride[i] = stride[perm[i]];
    }
    holo_strides(rank, to_dim, to_stride);
    holo_move_wide(call, rank, to_dim, size, dst, to_stride, src, from_stride);
}

static HoloStatus find_perm(const HoloCall *call, int *perm)
{
    int     rank = call->in[0]->rank;
    int64_t given[HOLO_MAX_RANK];
    bool    used[HOLO_MAX_RANK] = {false};
    int     count               = holo_attr_ints(call, "perm", given, HOLO_MAX_RANK);
    if (count >= 0 && count != rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "perm has %d entries for an input of rank %d", count, rank);
    for (int i = 0; i < rank; i++) {
        if (count >= 0 && (given[i] < 0 || given[i] >= rank))
            return holo_call_fail(call, HOLO_BAD_MODEL, "perm names dimension %lld of %d", (long long)given[i], rank);
        perm[i] = count < 0 ? rank - 1 - i : (int)given[i];
        if (used[perm[i]]) return holo_call_fail(call, HOLO_BAD_MODEL, "perm names dimension %d twice", perm[i]);
        used[perm[i]] = true;
    }
    return HOLO_OK;
}

static HoloStatus infer_transpose(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int               perm[HOLO_MAX_RANK];
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(find_perm(call, perm));
    for (int i = 0; i < x->rank; i++) dim[i] = x->dim[perm[i]];
    return holo_out_type(call, 0, x->dtype, x->rank, dim);
}

static HoloStatus eval_transpose(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int               perm[HOLO_MAX_RANK];
    HOLO_TRY(find_perm(call, perm));
    permute(call, x->rank, x->dim, perm, holo_dtype_size(x->dtype), call->out[0]->data, x->data);
    return HOLO_OK;
}

// ---- DepthToSpace, SpaceToDepth

static HoloStatus find_block(const HoloCall *call, int64_t *out)
{
    *out = holo_attr_int(call, "blocksize", 0);
    if (*out < 1 || *out > INT32_MAX)
        return holo_call_fail(call, HOLO_BAD_MODEL, "blocksize is %lld, and must be positive", (long long)*out);
    HOLO_TRY(holo_attr_choice(call, "mode", "DCR", (const char *const[]){"DCR", "CRD", NULL}, NULL));
    return holo_expect_rank(call, 0, 4, 4);
}

static HoloStatus expect_multiple(const HoloCall *call, HoloDim size, int64_t of)
{
    if (holo_dim_is_symbolic(size) || size % of == 0) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_INPUT, "a size of %lld is not a multiple of %lld", (long long)size,
                          (long long)of);
}

static HoloStatus infer_to_space(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int64_t           b;
    HOLO_TRY(find_block(call, &b));
    HOLO_TRY(expect_multiple(call, x->dim[1], b * b));
    HoloDim dim[4] = {x->dim[0], holo_dim_div(call->dims, x->dim[1], b * b), holo_dim_mul(call->dims, x->dim[2], b),
                      holo_dim_mul(call->dims, x->dim[3], b)};
    return holo_out_type(call, 0, x->dtype, 4, dim);
}

static HoloStatus infer_to_depth(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int64_t           b;
    HOLO_TRY(find_block(call, &b));
    HOLO_TRY(expect_multiple(call, x->dim[2], b));
    HOLO_TRY(expect_multiple(call, x->dim[3], b));
    HoloDim dim[4] = {x->dim[0], holo_dim_mul(call->dims, x->dim[1], b * b), holo_dim_div(call->dims, x->dim[2], b),
                      holo_dim_div(call->dims, x->dim[3], b)};
    return holo_out_type(call, 0, x->dtype, 4, dim);
}

// Blocks lie in depth before the channel (DCR) or after it (CRD).
static HoloStatus eval_to_space(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    int64_t           b;
    HOLO_TRY(find_block(call, &b));
    bool       crd    = holo_attr_is(call, "mode", "DCR", "CRD");
    int64_t    dim[6] = {x->dim[0], crd ? y->dim[1] : b, b, crd ? b : y->dim[1], x->dim[2], x->dim[3]};
    const int *perm   = crd ? (const int[]){0, 1, 4, 2, 5, 3} : (const int[]){0, 3, 4, 1, 5, 2};
    permute(call, 6, dim, perm, holo_dtype_size(x->dtype), y->data, x->data);
    return HOLO_OK;
}

static HoloStatus eval_to_depth(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    int64_t           b;
    HOLO_TRY(find_block(call, &b));
    bool       crd    = holo_attr_is(call, "mode", "DCR", "CRD");
    int64_t    dim[6] = {x->dim[0], x->dim[1], y->dim[2], b, y->dim[3], b};
    const int *perm   = crd ? (const int[]){0, 1, 3, 5, 2, 4} : (const int[]){0, 3, 5, 1, 2, 4};
    permute(call, 6, dim, perm, holo_dtype_size(x->dtype), y->data, x->data);
    return HOLO_OK;
}

#define MOVE(NAME, ID)                                                                                \
    {                                                                                                 \
        .name = NAME, .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_ALL, .flags = HOLO_OP_MOVES, .infer = infer_##ID, .eval = eval_##ID       \
    }

const HoloOp holo_ops_transpose[] = {
    MOVE("Transpose", transpose),
    MOVE("DepthToSpace", to_space),
    MOVE("SpaceToDepth", to_depth),
    {0},
};
