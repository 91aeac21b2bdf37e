// pick.c - elements selected by position or by other elements: Compress, NonZero, ReverseSequence, Trilu.
#include "ops/move.h"

// ---- Compress

// The axis; -1: the input is taken as flat.
static HoloStatus find_axis(const HoloCall *call, int *out)
{
    *out = -1;
    if (!holo_attr_find(call, "axis")) return HOLO_OK;
    return holo_attr_axis(call, "axis", 0, call->in[0]->rank, out);
}

// How many of `size` elements a condition selects. The condition may be shorter than the input; entries behind the
// input's end are ignored. A size that is not known yet is taken to be the condition's length.
static HoloDim chosen_of(const HoloTensor *condition, HoloDim size)
{
    const uint8_t *is_chosen = condition->data;
    HoloDim        count = 0, end = condition->dim[0];
    if (!is_chosen || holo_dim_is_symbolic(end)) return HOLO_DIM_UNKNOWN;
    if (!holo_dim_is_symbolic(size) && size < end) end = size;
    for (int64_t i = 0; i < end; i++) count += is_chosen[i] != 0;
    return count;
}

static HoloStatus infer_compress(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    int               axis;
    HoloDim           dim[HOLO_MAX_RANK], size = 1;
    HOLO_TRY(find_axis(call, &axis));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(BOOL)));
    HOLO_TRY(holo_expect_rank(call, 1, 1, 1));
    memcpy(dim, x->dim, sizeof dim);
    for (int d = 0; d < x->rank; d++)
        if (axis < 0 || axis == d) size = holo_dim_mul(call->dims, size, x->dim[d]);
    dim[axis < 0 ? 0 : axis] = chosen_of(call->in[1], size);
    return holo_out_type(call, 0, x->dtype, axis < 0 ? 1 : x->rank, dim);
}

static HoloStatus eval_compress(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *condition = call->in[1];
    HoloTensor       *y         = call->out[0];
    const uint8_t    *is_chosen = condition->data;
    int               axis;
    HOLO_TRY(find_axis(call, &axis));
    int64_t rows = axis < 0 ? 1 : holo_product(axis, x->dim), size = axis < 0 ? holo_tensor_count(x) : x->dim[axis];
    int64_t inner               = axis < 0 ? 1 : holo_product(x->rank - axis - 1, x->dim + axis + 1),
            count               = chosen_of(condition, size);
    y->dim[axis < 0 ? 0 : axis] = count;
    HOLO_TRY(holo_out_alloc(call, 0));
    size_t bytes = (size_t)inner * holo_dtype_size(x->dtype);
    if (bytes == 0 || count == 0) return HOLO_OK;
    char *dst = y->data;
    for (int64_t row = 0; row < rows; row++) {
        const char *src = (const char *)x->data + (size_t)(row * size) * bytes;
        for (int64_t i = 0; i < size && i < condition->dim[0]; i++) {
            if (!is_chosen[i]) continue;
            memcpy(dst, src + (size_t)i * bytes, bytes);
            dst += bytes;
        }
    }
    return HOLO_OK;
}

// ---- NonZero

static HoloStatus infer_nonzero(HoloCall *call)
{
    return holo_out_type(call, 0, HOLO_I64, 2, (HoloDim[]){call->in[0]->rank, HOLO_DIM_UNKNOWN});
}

// Which of the elements from `start` on are not zero, not false, not empty.
static void find_set(const HoloTensor *x, int64_t start, int64_t count, bool *out)
{
    HoloClass class = holo_dtype_class((HoloDtype)x->dtype);
    double  real[HOLO_TILE], imaginary[HOLO_TILE] = {0};
    int64_t whole[HOLO_TILE];
    if (class == HOLO_CLASS_STRING) {
        const HoloString *s = (const HoloString *)x->data + start;
        for (int64_t i = 0; i < count; i++) out[i] = s[i].size > 0;
    } else if (class == HOLO_CLASS_FLOAT || class == HOLO_CLASS_COMPLEX) {
        HoloTensor parts = {.dtype = x->dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64, .data = x->data};
        holo_read_f(x, start, 1, count, real);
        if (class == HOLO_CLASS_COMPLEX) holo_read_f(&parts, 2 * start + 1, 2, count, imaginary);
        for (int64_t i = 0; i < count; i++) out[i] = real[i] != 0 || imaginary[i] != 0;
    } else {
        holo_read_i(x, start, 1, count, whole);
        for (int64_t i = 0; i < count; i++) out[i] = whole[i] != 0;
    }
}

// Counts the elements that are set and, where `y` is given, writes the index of each as a column.
static int64_t visit_set(const HoloTensor *x, int64_t *y, int64_t columns)
{
    int64_t all = holo_tensor_count(x), found = 0, index[HOLO_MAX_RANK] = {0};
    bool    is_set[HOLO_TILE];
    for (int64_t start = 0; start < all; start += HOLO_TILE) {
        int64_t count = all - start < HOLO_TILE ? all - start : HOLO_TILE;
        find_set(x, start, count, is_set);
        for (int64_t i = 0; i < count; i++) {
            for (int d = 0; y && is_set[i] && d < x->rank; d++) y[d * columns + found] = index[d];
            found += is_set[i];
            for (int d = x->rank - 1; d >= 0 && ++index[d] == x->dim[d]; d--) index[d] = 0;
        }
    }
    return found;
}

static HoloStatus eval_nonzero(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloTensor       *y = call->out[0];
    y->dim[1]           = visit_set(x, NULL, 0);
    HOLO_TRY(holo_out_alloc(call, 0));
    if (holo_tensor_count(y) > 0) visit_set(x, y->data, y->dim[1]);
    return HOLO_OK;
}

// ---- ReverseSequence

static HoloStatus find_time(const HoloCall *call, int *batch, int *time)
{
    int64_t b = holo_attr_int(call, "batch_axis", 1), t = holo_attr_int(call, "time_axis", 0);
    if (b < 0 || b > 1 || t != 1 - b)
        return holo_call_fail(call, HOLO_BAD_MODEL, "batch_axis and time_axis must be 0 and 1, not %lld and %lld",
                              (long long)b, (long long)t);
    *batch = (int)b;
    *time  = (int)t;
    return HOLO_OK;
}

static HoloStatus infer_reverse(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *lengths = call->in[1];
    int               batch, time;
    HoloDim           agreed;
    HOLO_TRY(find_time(call, &batch, &time));
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_INDEX));
    HOLO_TRY(holo_expect_rank(call, 1, 1, 1));
    if (!holo_dim_agree(x->dim[batch], lengths->dim[0], &agreed))
        return holo_call_fail(call, HOLO_BAD_INPUT, "%lld sequence lengths are given for a batch of %lld",
                              (long long)lengths->dim[0], (long long)x->dim[batch]);
    return holo_infer_same(call);
}

static HoloStatus eval_reverse(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    int               batch, time;
    HOLO_TRY(find_time(call, &batch, &time));
    size_t  bytes      = (size_t)holo_product(x->rank - 2, x->dim + 2) * holo_dtype_size(x->dtype);
    int64_t batch_step = batch == 0 ? x->dim[1] : 1, time_step = batch == 0 ? 1 : x->dim[1], steps = x->dim[time];
    for (int64_t b = 0; b < x->dim[batch]; b++) {
        int64_t length = holo_get_i(call->in[1], b);
        if (length < 0 || length > steps)
            return holo_call_fail(call, HOLO_BAD_INPUT, "a sequence length is %lld, where there are %lld steps",
                                  (long long)length, (long long)steps);
        for (int64_t t = 0; t < steps && bytes > 0; t++) {
            int64_t from = t < length ? length - 1 - t : t;
            memcpy((char *)y->data + (size_t)(b * batch_step + t * time_step) * bytes,
                   (const char *)x->data + (size_t)(b * batch_step + from * time_step) * bytes, bytes);
        }
    }
    return HOLO_OK;
}

// ---- Trilu

static HoloStatus infer_trilu(HoloCall *call)
{
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_INDEX));
    return holo_infer_same(call);
}

// In row r the upper part begins at column r + k, and the lower part ends behind it.
static HoloStatus eval_trilu(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *diagonal = holo_in(call, 1), *y = call->out[0];
    bool              upper = holo_attr_int(call, "upper", 1) != 0;
    int64_t columns = x->dim[x->rank - 1], rows = x->dim[x->rank - 2], planes = holo_product(x->rank - 2, x->dim),
            k   = 0;
    size_t size = holo_dtype_size(x->dtype);
    if (holo_tensor_count(x) == 0) return HOLO_OK;
    if (diagonal && holo_tensor_count(diagonal) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "k is not one number");
    if (diagonal) k = holo_get_i(diagonal, 0);
    k = k > columns ? columns : k < -rows ? -rows : k;
    for (int64_t row = 0; row < planes * rows; row++) {
        int64_t cut      = row % rows + k + (upper ? 0 : 1);
        cut              = cut < 0 ? 0 : cut > columns ? columns : cut;
        const char *src  = (const char *)x->data + (size_t)(row * columns) * size;
        char       *dst  = (char *)y->data + (size_t)(row * columns) * size;
        size_t      left = (size_t)cut * size, right = (size_t)(columns - cut) * size;
        if (upper)
            memset(dst, 0, left), memcpy(dst + left, src + left, right);
        else
            memcpy(dst, src, left), memset(dst + left, 0, right);
    }
    return HOLO_OK;
}

#define PICK(NAME, SINCE, IN_MIN, IN_MAX, FLAGS, ID)                                                                \
    {                                                                                                               \
        .name = NAME, .domain = "", .since = SINCE, .in_min = IN_MIN, .in_max = IN_MAX, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_ALL, .flags = FLAGS, .infer = infer_##ID, .eval = eval_##ID                             \
    }

const HoloOp holo_ops_pick[] = {
    PICK("Compress", 9, 2, 2, HOLO_OP_DYNAMIC, compress),
    PICK("NonZero", 9, 1, 1, HOLO_OP_DYNAMIC, nonzero),
    PICK("ReverseSequence", 10, 2, 2, 0, reverse),
    PICK("Trilu", 14, 1, 2, 0, trilu),
    {0},
};
