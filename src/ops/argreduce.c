// argreduce.c - ArgMax and ArgMin: where along an axis the largest or smallest element is.
//
// A NaN is taken for the extreme one, as NumPy does.
#include "ops/op.h"
#include "ops/order.h"
#include "ops/rows.h"

static HoloStatus find_axis(const HoloCall *call, int *axis)
{
    return holo_axis(call, holo_attr_int(call, "axis", 0), call->in[0]->rank, axis);
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *in   = call->in[0];
    bool              keep = holo_attr_int(call, "keepdims", 1) != 0;
    HoloDim           dim[HOLO_MAX_RANK];
    int               axis = 0, rank = 0;
    if (in->rank > 0 || holo_attr_find(call, "axis")) HOLO_TRY(find_axis(call, &axis));
    for (int i = 0; i < in->rank; i++)
        if (i != axis || keep) dim[rank++] = i == axis ? 1 : in->dim[i];
    return holo_out_type(call, 0, HOLO_I64, rank, dim);
}

// Where the best key is: the first one, or the last.
typedef struct Best {
    uint64_t key;
    int64_t  index;
} Best;

static void search(Best *best, const uint64_t *key, int64_t from, int64_t count, bool last)
{
    for (int64_t k = 0; k < count; k++)
        if (key[k] > best->key || (last && key[k] == best->key)) *best = (Best){key[k], from + k};
}

// Makes the smallest number the largest key; a NaN stays above all.
static void turn(uint64_t *key, int64_t count, bool is_float)
{
    for (int64_t k = 0; k < count; k++)
        if (!is_float || key[k] != HOLO_KEY_NAN) key[k] = ~key[k];
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in       = call->in[0];
    HoloTensor       *out      = holo_out(call, 0);
    bool              smallest = call->op->row != NULL;
    bool              last     = holo_attr_int(call, "select_last_index", 0) != 0;
    bool              is_float = holo_dtype_class((HoloDtype)in->dtype) == HOLO_CLASS_FLOAT;
    int               axis     = 0;
    if (!out) return HOLO_OK;
    if (in->rank > 0) HOLO_TRY(find_axis(call, &axis));
    HoloRows rows = in->rank > 0 ? holo_rows(in, axis, axis + 1) : (HoloRows){1, 1, 1};
    if (rows.size == 0 && holo_row_count(rows) > 0)
        return holo_call_fail(call, HOLO_BAD_INPUT, "axis %d has no elements to choose from", axis);
    for (int64_t row = 0; row < holo_row_count(rows); row++) {
        int64_t  start = holo_row_start(rows, row);
        uint64_t key[HOLO_TILE];
        Best     best = {0, 0};
        for (int64_t k = 0; k < rows.size; k += HOLO_TILE) {
            int64_t n = rows.size - k < HOLO_TILE ? rows.size - k : HOLO_TILE;
            holo_read_keys(in, start + k * rows.inner, rows.inner, n, key);
            if (smallest) turn(key, n, is_float);
            search(&best, key, k, n, last);
        }
        holo_put_i(out, row, best.index);
    }
    return HOLO_OK;
}

static const bool smallest = true;

#define ARG(text, how)                                                                                \
    {                                                                                                 \
        .name = text, .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_NUMBER, .infer = infer, .eval = eval, .row = how                          \
    }

const HoloOp holo_ops_argreduce[] = {
    ARG("ArgMax", NULL),
    ARG("ArgMin", &smallest),
    {0},
};
