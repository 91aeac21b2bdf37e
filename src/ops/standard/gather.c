// gather.c - elements picked by index: Gather, GatherElements, GatherND.
#include "kernels/tiles/tiles.h"
#include "ops/move.h"

// ---- Gather

static HoloStatus infer_gather(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *at = call->in[1];
    int               axis, rank           = 0;
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_attr_axis(call, "axis", 0, x->rank, &axis));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_expect_rank(call, 1, 0, HOLO_MAX_RANK + 1 - x->rank));
    for (int i = 0; i < axis; i++) dim[rank++] = x->dim[i];
    for (int i = 0; i < at->rank; i++) dim[rank++] = at->dim[i];
    for (int i = axis + 1; i < x->rank; i++) dim[rank++] = x->dim[i];
    return holo_out_type(call, 0, x->dtype, rank, dim);
}

// Copies entries of `bytes` bytes from the given offsets to consecutive places.
static void collect(char *dst, const char *src, const int64_t *offset, int64_t count, size_t bytes)
{
    bool is_one = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
    for (int64_t i = 0; i < count; i++, dst += bytes) {
        if (is_one)
            holo_move_one(dst, src + offset[i], bytes);
        else
            memcpy(dst, src + offset[i], bytes);
    }
}

static HoloStatus eval_gather(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *at = call->in[1], *y = call->out[0];
    if (holo_tensor_count(y) == 0) return HOLO_OK;
    int axis;
    HOLO_TRY(holo_attr_axis(call, "axis", 0, x->rank, &axis));
    int64_t rows = holo_product(axis, x->dim), many = holo_product(at->rank, at->dim), offset[HOLO_TILE];
    size_t  bytes    = (size_t)holo_product(x->rank - axis - 1, x->dim + axis + 1) * holo_dtype_size(x->dtype);
    size_t  from_row = (size_t)x->dim[axis] * bytes, to_row = (size_t)many * bytes;
    for (int64_t start = 0; start < many; start += HOLO_TILE) {
        HOLO_TRY(holo_call_continue(call));
        int64_t count = many - start < HOLO_TILE ? many - start : HOLO_TILE;
        holo_read_i(at, start, 1, count, offset);
        for (int64_t i = 0; i < count; i++) {
            HOLO_TRY(holo_index(call, offset[i], x->dim[axis], &offset[i]));
            offset[i] *= (int64_t)bytes;
        }
        char *dst = (char *)y->data + (size_t)start * bytes;
        for (int64_t row = 0; row < rows && !holo_call_is_over(call); row++)
            collect(dst + (size_t)row * to_row, (const char *)x->data + (size_t)row * from_row, offset, count, bytes);
    }
    return HOLO_OK;
}

// One index that is known and inside, whatever the sizes are.
static HoloDim place_gather(const HoloCall *call, int i)
{
    (void)i;
    const HoloTensor *x = call->in[0];
    int               axis;
    HoloDim           index;
    if (holo_attr_axis(call, "axis", 0, x->rank, &axis) || !holo_axis_is_outer(x, axis)) return HOLO_DIM_UNKNOWN;
    if (holo_in_ints(call, 1, &index, 1) != 1 || holo_dim_is_symbolic(index) || holo_dim_is_symbolic(x->dim[axis]) ||
        holo_index(call, index, x->dim[axis], &index))
        return HOLO_DIM_UNKNOWN;
    return holo_dim_mul(call->dims, index, holo_dim_product(call->dims, x->dim, axis + 1, x->rank));
}

// ---- GatherElements

static HoloStatus infer_gather_elements(HoloCall *call)
{
    int axis;
    HOLO_TRY(holo_attr_axis(call, "axis", 0, call->in[0]->rank, &axis));
    HOLO_TRY(holo_elements_check(call, 0, 1, axis));
    return holo_out_shape_like(call, 0, call->in[0]->dtype, call->in[1]);
}

// dst[i] = src[offset[i]]
static void pick(char *dst, const char *src, const int64_t *offset, int64_t count, size_t size)
{
    int log = size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
    if (size <= 8)
        holo_tiles()->gather[log][1](count, src, offset, dst);
    else
        for (int64_t i = 0; i < count; i++) memcpy(dst + (size_t)i * size, src + (size_t)offset[i] * size, size);
}

static HoloStatus eval_gather_elements(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    size_t            size = holo_dtype_size(x->dtype);
    int               axis;
    HOLO_TRY(holo_attr_axis(call, "axis", 0, x->rank, &axis));
    HoloElements e;
    holo_elements_init(&e, call, x, call->in[1], axis);
    for (;;) {
        HOLO_TRY(holo_elements_next(&e));
        if (e.count == 0) return HOLO_OK;
        pick((char *)y->data + (size_t)e.start * size, x->data, e.offset, e.count, size);
    }
}

// ---- GatherND

// The last dimension of the indices is the length of an index tuple.
static HoloStatus find_tuple(const HoloCall *call, int *batch, int *depth)
{
    const HoloTensor *x = call->in[0], *at = call->in[1];
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_expect_rank(call, 1, 1, HOLO_MAX_RANK));
    int64_t dims = holo_attr_int(call, "batch_dims", 0);
    if (dims < 0 || dims >= at->rank || dims > x->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "batch_dims is %lld for ranks %d and %d", (long long)dims, x->rank,
                              at->rank);
    HoloDim length = at->dim[at->rank - 1];
    *batch         = (int)dims;
    *depth         = -1;
    if (holo_dim_is_symbolic(length)) return HOLO_OK;
    if (length > x->rank - dims)
        return holo_call_fail(call, HOLO_BAD_MODEL, "index tuples of %lld are too long for rank %d", (long long)length,
                              x->rank);
    *depth = (int)length;
    return HOLO_OK;
}

static HoloStatus infer_gather_nd(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *at = call->in[1];
    int               batch, depth, rank = 0;
    HoloDim           dim[2 * HOLO_MAX_RANK];
    HOLO_TRY(find_tuple(call, &batch, &depth));
    if (depth < 0) return holo_out_unknown(call, 0, x->dtype);
    for (int i = 0; i < at->rank - 1; i++) dim[rank++] = at->dim[i];
    for (int i = 0; i < batch; i++)
        if (!holo_dim_agree(dim[i], x->dim[i], &dim[i]))
            return holo_call_fail(call, HOLO_BAD_INPUT, "batch dimension %d is %lld in data and %lld in indices", i,
                                  (long long)x->dim[i], (long long)at->dim[i]);
    for (int i = batch + depth; i < x->rank; i++) dim[rank++] = x->dim[i];
    if (rank > HOLO_MAX_RANK) return holo_call_fail(call, HOLO_UNSUPPORTED, "the output has rank %d", rank);
    return holo_out_type(call, 0, x->dtype, rank, dim);
}

static HoloStatus eval_gather_nd(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *at = call->in[1], *y = call->out[0];
    if (holo_tensor_count(y) == 0) return HOLO_OK;
    int batch, depth;
    HOLO_TRY(find_tuple(call, &batch, &depth));
    int64_t batches = holo_product(batch, x->dim), tuples = holo_product(at->rank - 1 - batch, at->dim + batch);
    int64_t places = holo_product(depth, x->dim + batch), place[HOLO_TUPLES];
    int     below  = x->rank - batch - depth;
    size_t  bytes  = (size_t)holo_product(below, x->dim + batch + depth) * holo_dtype_size(x->dtype);
    char   *dst    = y->data;
    for (int64_t b = 0; b < batches; b++) {
        HOLO_TRY(holo_call_continue(call));
        for (int64_t first = 0; first < tuples; first += HOLO_TUPLES) {
            int64_t count = tuples - first < HOLO_TUPLES ? tuples - first : HOLO_TUPLES;
            HOLO_TRY(holo_index_tuples(call, at, b * tuples + first, count, depth, x->dim + batch, place));
            // A tensor without elements may have no data, but then no index is right.
            const char *src = (const char *)x->data + (size_t)(b * places) * bytes;
            for (int64_t i = 0; i < count; i++, dst += bytes) memcpy(dst, src + (size_t)place[i] * bytes, bytes);
        }
    }
    return HOLO_OK;
}

#define PICK(NAME, SINCE, ID, ...)                                                                           \
    {                                                                                                        \
        .name = NAME, .domain = "", .since = SINCE, .in_min = 2, .in_max = 2, .out_min = 1, .out_max = 1,    \
        .types = HOLO_TYPES_ALL, .flags = HOLO_OP_MOVES, .infer = infer_##ID, .eval = eval_##ID, __VA_ARGS__ \
    }

const HoloOp holo_ops_gather[] = {
    PICK("Gather", 1, gather, .place = place_gather),
    PICK("GatherElements", 11, gather_elements, .place = NULL),
    PICK("GatherND", 11, gather_nd, .place = NULL),
    {0},
};
