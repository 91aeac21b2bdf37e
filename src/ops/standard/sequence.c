// sequence.c - makes, splits and joins sequences. Sequences share their elements; an element that comes from a tensor
// or becomes one is copied.
#include "ops/value.h"

static const HoloTensor *items_of(const HoloTensor *sequence)
{
    return sequence->data;
}

// The position that input `input` gives among `size`, counted from the end if negative.
static HoloStatus find_position(const HoloCall *call, int input, int64_t size, int64_t fallback, int64_t *out)
{
    const HoloTensor *t = holo_in(call, input);
    if (t && holo_tensor_count(t) != 1) return holo_call_fail(call, HOLO_BAD_INPUT, "the position is not one number");
    return holo_index(call, t ? holo_get_i(t, 0) : fallback, size, out);
}

static HoloStatus expect_position(const HoloCall *call, int input)
{
    HOLO_TRY(holo_expect_kind(call, input, HOLO_TENSOR));
    return holo_expect_types(call, input, HOLO_TYPES_INDEX);
}

// Output 0 is a sequence of tensors, with what is known about their ranks.
static void set_sequence(HoloCall *call, HoloDtype dtype, int64_t items)
{
    holo_out_list_type(call, 0, HOLO_SEQUENCE, HOLO_TENSOR, dtype);
    if (call->out[0]) call->out[0]->dim[1] = items;
}

// Output 0 is a tensor of that rank, -1: not known. Its sizes are not known.
static HoloStatus set_tensor(HoloCall *call, HoloDtype dtype, int rank)
{
    int64_t dim[HOLO_MAX_RANK];
    if (rank < 0 || rank > HOLO_MAX_RANK) return holo_out_unknown(call, 0, dtype);
    for (int i = 0; i < rank; i++) dim[i] = HOLO_DIM_UNKNOWN;
    return holo_out_type(call, 0, dtype, rank, dim);
}

// ---- SequenceConstruct, SequenceEmpty

static HoloStatus infer_construct(HoloCall *call)
{
    int64_t items = HOLO_ITEMS_NONE;
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        HOLO_TRY(holo_expect_kind(call, i, HOLO_TENSOR));
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << call->in[0]->dtype));
        items = holo_items_both(items, holo_items_of(call->in[i]));
    }
    set_sequence(call, (HoloDtype)call->in[0]->dtype, items);
    return HOLO_OK;
}

static HoloStatus eval_construct(HoloCall *call)
{
    HoloTensor *items;
    HOLO_TRY(holo_out_list(call, 0, HOLO_SEQUENCE, HOLO_TENSOR, (HoloDtype)call->in[0]->dtype, call->in_count, &items));
    for (int i = 0; i < call->in_count; i++) HOLO_TRY(holo_value_copy(call, call->in[i], &items[i]));
    return HOLO_OK;
}

static HoloStatus infer_empty(HoloCall *call)
{
    HoloDtype dtype;
    HOLO_TRY(holo_attr_dtype(call, "dtype", HOLO_F32, HOLO_TYPES_ALL, &dtype));
    set_sequence(call, dtype, HOLO_ITEMS_NONE);
    return HOLO_OK;
}

static HoloStatus eval_empty(HoloCall *call)
{
    HoloTensor *items;
    return holo_out_list(call, 0, HOLO_SEQUENCE, HOLO_TENSOR, (HoloDtype)holo_attr_int(call, "dtype", HOLO_F32), 0,
                         &items);
}

// ---- SequenceInsert, SequenceErase

static HoloStatus infer_insert(HoloCall *call)
{
    const HoloTensor *sequence = call->in[0];
    HOLO_TRY(holo_expect_kind(call, 0, HOLO_SEQUENCE));
    HOLO_TRY(holo_expect_kind(call, 1, HOLO_TENSOR));
    HOLO_TRY(holo_expect_types(call, 1, UINT64_C(1) << sequence->dtype));
    HOLO_TRY(expect_position(call, 2));
    holo_out_list_type(call, 0, HOLO_SEQUENCE, (HoloKind)sequence->inner, (HoloDtype)sequence->dtype);
    if (call->out[0]) call->out[0]->dim[1] = holo_items_both(sequence->dim[1], holo_items_of(call->in[1]));
    return HOLO_OK;
}

static HoloStatus infer_erase(HoloCall *call)
{
    const HoloTensor *sequence = call->in[0];
    HOLO_TRY(holo_expect_kind(call, 0, HOLO_SEQUENCE));
    HOLO_TRY(expect_position(call, 1));
    holo_out_list_type(call, 0, HOLO_SEQUENCE, (HoloKind)sequence->inner, (HoloDtype)sequence->dtype);
    if (call->out[0]) call->out[0]->dim[1] = sequence->dim[1];
    return HOLO_OK;
}

// The sequence without `skip` of its items from position `at` on, and with `add` (or NULL: nothing) in their place.
static HoloStatus splice(HoloCall *call, int64_t at, int64_t skip, const HoloTensor *add)
{
    const HoloTensor *sequence = call->in[0], *from = items_of(sequence);
    int64_t           added = add ? 1 : 0, size = sequence->dim[0];
    HoloTensor       *items;
    HOLO_TRY(holo_out_list(call, 0, HOLO_SEQUENCE, (HoloKind)sequence->inner, (HoloDtype)sequence->dtype,
                           size - skip + added, &items));
    for (int64_t i = 0; i < at; i++) items[i] = from[i];
    if (add) HOLO_TRY(holo_value_copy(call, add, &items[at]));
    for (int64_t i = at + skip; i < size; i++) items[i - skip + added] = from[i];
    return HOLO_OK;
}

static HoloStatus eval_insert(HoloCall *call)
{
    int64_t           size = call->in[0]->dim[0], at = size;
    const HoloTensor *position = holo_in(call, 2);
    // The place behind the last item is valid too, but negative positions count from the last item.
    bool is_end = !position || (holo_tensor_count(position) == 1 && holo_get_i(position, 0) == size);
    if (!is_end) {
        HOLO_TRY(find_position(call, 2, size, 0, &at));
        return splice(call, at, 0, call->in[1]);
    }
    HoloTensor *item;
    HOLO_TRY(holo_out_list_longer(call, 0, &item));
    return holo_value_copy(call, call->in[1], item);
}

static HoloStatus eval_erase(HoloCall *call)
{
    int64_t at;
    HOLO_TRY(find_position(call, 1, call->in[0]->dim[0], -1, &at));
    return splice(call, at, 1, NULL);
}

// ---- SequenceAt, SequenceLength

static HoloStatus infer_at(HoloCall *call)
{
    HOLO_TRY(holo_expect_kind(call, 0, HOLO_SEQUENCE));
    HOLO_TRY(expect_position(call, 1));
    const HoloTensor *x = call->in[0];
    if (x->inner == HOLO_TENSOR) return set_tensor(call, (HoloDtype)x->dtype, holo_items_rank(x));
    holo_out_list_type(call, 0, (HoloKind)x->inner, HOLO_TENSOR, (HoloDtype)x->dtype);
    if (call->out[0] && x->inner == HOLO_MAP) call->out[0]->dim[0] = 2; // keys and values
    return HOLO_OK;
}

static HoloStatus eval_at(HoloCall *call)
{
    int64_t at;
    HOLO_TRY(find_position(call, 1, call->in[0]->dim[0], 0, &at));
    return holo_out_value(call, 0, &items_of(call->in[0])[at]);
}

static HoloStatus infer_length(HoloCall *call)
{
    HOLO_TRY(holo_expect_kind(call, 0, HOLO_SEQUENCE));
    return holo_out_type(call, 0, HOLO_I64, 0, NULL);
}

static HoloStatus eval_length(HoloCall *call)
{
    holo_put_i(call->out[0], 0, call->in[0]->dim[0]);
    return HOLO_OK;
}

// ---- SplitToSequence

// Parts whose sizes the input gives: one size for all, or one for each. Without the input, single slices.
typedef struct Cut {
    int               axis;
    bool              keep;        // the axis, where slices are single
    int64_t           parts, size; // size: of every part but the last; 0: as `sizes` says
    const HoloTensor *sizes;
} Cut;

static HoloStatus find_cut(const HoloCall *call, Cut *cut)
{
    const HoloTensor *x = call->in[0], *sizes = holo_in(call, 1);
    HOLO_TRY(holo_attr_axis(call, "axis", 0, x->rank, &cut->axis));
    cut->sizes = sizes;
    cut->keep  = sizes || holo_attr_int(call, "keepdims", 1) != 0;
    cut->size  = 1;
    if (sizes && sizes->rank == 1) {
        cut->parts = sizes->dim[0];
        cut->size  = 0;
        return HOLO_OK;
    }
    if (sizes) cut->size = holo_get_i(sizes, 0);
    if (cut->size < 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "parts of size %lld are asked for", (long long)cut->size);
    int64_t all = x->dim[cut->axis];
    cut->parts  = all / cut->size + (all % cut->size > 0);
    return HOLO_OK;
}

static HoloStatus infer_cut(HoloCall *call)
{
    int axis;
    HOLO_TRY(holo_expect_kind(call, 0, HOLO_TENSOR));
    HOLO_TRY(holo_attr_axis(call, "axis", 0, call->in[0]->rank, &axis));
    HOLO_TRY(expect_position(call, 1));
    HOLO_TRY(holo_expect_rank(call, 1, 0, 1));
    bool is_cut_off = !holo_in(call, 1) && holo_attr_int(call, "keepdims", 1) == 0; // the axis, in the parts
    set_sequence(call, (HoloDtype)call->in[0]->dtype, HOLO_ITEMS_RANK + call->in[0]->rank - is_cut_off);
    return HOLO_OK;
}

// A copy of `count` slices of the axis, from slice `start` on.
static HoloStatus copy_part(const HoloCall *call, const Cut *cut, int64_t start, int64_t count, HoloTensor *out)
{
    const HoloTensor *x     = call->in[0];
    size_t            size  = holo_dtype_size((HoloDtype)x->dtype);
    int64_t           rows  = holo_product(cut->axis, x->dim);
    int64_t           inner = holo_product(x->rank - cut->axis - 1, x->dim + cut->axis + 1), chunk = count * inner;
    *out = (HoloTensor){.dtype = x->dtype};
    for (int i = 0; i < x->rank; i++)
        if (i != cut->axis || cut->keep) out->dim[out->rank++] = i == cut->axis ? count : x->dim[i];
    HOLO_TRY(holo_keep(call, (size_t)(rows * chunk), size, &out->data));
    if (rows * chunk == 0) return HOLO_OK;
    holo_move(2, (int64_t[]){rows, chunk}, size, out->data, (int64_t[]){chunk, 1},
              (const char *)x->data + (size_t)(start * inner) * size, (int64_t[]){x->dim[cut->axis] * inner, 1});
    return HOLO_OK;
}

static HoloStatus eval_cut(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    Cut               cut;
    HoloTensor       *items;
    HOLO_TRY(find_cut(call, &cut));
    HOLO_TRY(holo_out_list(call, 0, HOLO_SEQUENCE, HOLO_TENSOR, (HoloDtype)x->dtype, cut.parts, &items));
    int64_t left = x->dim[cut.axis];
    for (int64_t i = 0; i < cut.parts; i++) {
        int64_t size = cut.size ? (cut.size < left ? cut.size : left) : holo_get_i(cut.sizes, i);
        if (size < 0 || size > left)
            return holo_call_fail(call, HOLO_BAD_INPUT, "part %lld has a size of %lld where %lld are left",
                                  (long long)i, (long long)size, (long long)left);
        HOLO_TRY(copy_part(call, &cut, x->dim[cut.axis] - left, size, &items[i]));
        left -= size;
    }
    if (left > 0) return holo_call_fail(call, HOLO_BAD_INPUT, "the parts leave %lld of the axis over", (long long)left);
    return HOLO_OK;
}

// ---- ConcatFromSequence

static HoloStatus infer_join(HoloCall *call)
{
    HOLO_TRY(holo_expect_kind(call, 0, HOLO_SEQUENCE));
    if (!holo_attr_find(call, "axis")) return holo_call_fail(call, HOLO_BAD_MODEL, "axis must be given");
    int rank = holo_items_rank(call->in[0]);
    return set_tensor(call, (HoloDtype)call->in[0]->dtype,
                      rank < 0 ? -1 : rank + (holo_attr_int(call, "new_axis", 0) != 0));
}

// The shape of the items joined along an axis they have.
static HoloStatus find_joined(const HoloCall *call, int axis, HoloTensor *out)
{
    const HoloTensor *sequence = call->in[0], *items = items_of(sequence);
    out->dtype = items[0].dtype;
    out->rank  = items[0].rank;
    memcpy(out->dim, items[0].dim, sizeof out->dim);
    out->dim[axis] = 0;
    for (int64_t i = 0; i < sequence->dim[0]; i++) {
        const HoloTensor *t    = &items[i];
        bool              fits = t->kind == HOLO_TENSOR && t->rank == out->rank && t->dtype == out->dtype;
        for (int d = 0; fits && d < t->rank; d++) fits = d == axis || t->dim[d] == out->dim[d];
        if (!fits || !holo_add(out->dim[axis], t->dim[axis], &out->dim[axis]))
            return holo_call_fail(call, HOLO_BAD_INPUT, "elements 0 and %lld cannot be joined along axis %d",
                                  (long long)i, axis);
    }
    return HOLO_OK;
}

static HoloStatus eval_join(HoloCall *call)
{
    const HoloTensor *sequence = call->in[0], *items = items_of(sequence);
    HoloTensor       *y     = call->out[0];
    int64_t           count = sequence->dim[0], where = holo_attr_int(call, "axis", 0), done = 0;
    int               axis;
    if (count == 0) return holo_call_fail(call, HOLO_BAD_INPUT, "the sequence is empty");
    if (holo_attr_int(call, "new_axis", 0)) return holo_value_stack(call, items, 1, count, count, where, false, y);
    HOLO_TRY(holo_axis(call, where, items[0].rank, &axis));
    HOLO_TRY(find_joined(call, axis, y));
    HOLO_TRY(holo_out_alloc(call, 0));
    size_t  size = holo_dtype_size((HoloDtype)y->dtype);
    int64_t rows = holo_product(axis, y->dim), inner = holo_product(y->rank - axis - 1, y->dim + axis + 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t chunk = items[i].dim[axis] * inner;
        if (rows * chunk == 0) continue;
        holo_move(2, (int64_t[]){rows, chunk}, size, (char *)y->data + (size_t)done * size,
                  (int64_t[]){y->dim[axis] * inner, 1}, items[i].data, (int64_t[]){chunk, 1});
        done += chunk;
    }
    return HOLO_OK;
}

#define SEQUENCE(NAME, IN_MIN, IN_MAX, FLAGS, ID)                                                                \
    {                                                                                                            \
        .name = NAME, .domain = "", .since = 11, .in_min = IN_MIN, .in_max = IN_MAX, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_ALL, .flags = FLAGS, .infer = infer_##ID, .eval = eval_##ID                          \
    }

const HoloOp holo_ops_sequence[] = {
    SEQUENCE("SequenceConstruct", 1, -1, HOLO_OP_KINDS | HOLO_OP_DYNAMIC, construct),
    SEQUENCE("SequenceEmpty", 0, 0, HOLO_OP_KINDS | HOLO_OP_DYNAMIC, empty),
    SEQUENCE("SequenceInsert", 2, 3, HOLO_OP_KINDS | HOLO_OP_DYNAMIC, insert),
    SEQUENCE("SequenceErase", 1, 2, HOLO_OP_KINDS | HOLO_OP_DYNAMIC, erase),
    SEQUENCE("SequenceAt", 2, 2, HOLO_OP_KINDS | HOLO_OP_DYNAMIC, at),
    SEQUENCE("SequenceLength", 1, 1, HOLO_OP_KINDS, length),
    SEQUENCE("SplitToSequence", 1, 2, HOLO_OP_DYNAMIC, cut),
    SEQUENCE("ConcatFromSequence", 1, 1, HOLO_OP_KINDS | HOLO_OP_DYNAMIC, join),
    {0},
};
