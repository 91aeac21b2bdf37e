// value.c - sequences and optionals made and shared. See value.h.
#include "ops/value.h"

HoloStatus holo_expect_kind(const HoloCall *call, int input, HoloKind kind)
{
    static const char *const names[] = {"a tensor", "a sequence", "an optional", "a map"};
    const HoloTensor        *t       = holo_in(call, input);
    if (!t || t->kind == kind) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is %s, not %s", input, names[t->kind & 3], names[kind]);
}

void holo_out_list_type(HoloCall *call, int i, HoloKind kind, HoloKind inner, HoloDtype dtype)
{
    HoloTensor *y = holo_out(call, i);
    if (!y) return;
    *y = (HoloTensor){
        .dtype = (uint8_t)dtype, .kind = (uint8_t)kind, .inner = (uint8_t)inner, .rank = 1, .dim = {HOLO_DIM_UNKNOWN}};
}

HoloStatus holo_keep(const HoloCall *call, size_t count, size_t size, void **out)
{
    size_t bytes;
    *out = holo_size_mul(count, size, &bytes) ? call->host->keep(call->host, bytes ? bytes : 1) : NULL;
    if (*out) return HOLO_OK;
    return holo_call_fail(call, HOLO_NO_MEMORY, "no memory for %zu elements of %zu bytes", count, size);
}

HoloStatus holo_value_copy(const HoloCall *call, const HoloTensor *from, HoloTensor *out)
{
    *out = *from;
    if (from->kind != HOLO_TENSOR) return HOLO_OK;
    size_t bytes = holo_tensor_bytes(from);
    HOLO_TRY(holo_keep(call, bytes, 1, &out->data));
    if (bytes > 0) memcpy(out->data, from->data, bytes);
    return HOLO_OK;
}

HoloStatus holo_out_value(HoloCall *call, int i, const HoloTensor *value)
{
    HoloTensor *y = holo_out(call, i);
    return y ? holo_value_copy(call, value, y) : HOLO_OK;
}

HoloStatus holo_out_list(HoloCall *call, int i, HoloKind kind, HoloKind inner, HoloDtype dtype, int64_t count,
                         HoloTensor **out_items)
{
    void *items;
    HOLO_TRY(holo_keep(call, (size_t)count, sizeof **out_items, &items));
    holo_out_list_type(call, i, kind, inner, dtype);
    HoloTensor *y = holo_out(call, i);
    if (y) {
        y->dim[0] = count;
        y->data   = items;
    }
    *out_items = items;
    return HOLO_OK;
}

static bool is_alike(const HoloTensor *a, const HoloTensor *b)
{
    bool same = a->kind == HOLO_TENSOR && b->kind == HOLO_TENSOR && a->dtype == b->dtype && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i];
    return same;
}

HoloStatus holo_value_stack(const HoloCall *call, const HoloTensor *items, int64_t step, int64_t count, int64_t room,
                            int64_t axis, bool reverse, HoloTensor *out)
{
    const HoloTensor *first = &items[0];
    int               at;
    if (first->kind != HOLO_TENSOR || first->rank >= HOLO_MAX_RANK)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "outputs of steps must be tensors of less than %d dimensions",
                              HOLO_MAX_RANK);
    HOLO_TRY(holo_axis(call, axis, first->rank + 1, &at));
    *out = (HoloTensor){.dtype = first->dtype, .rank = (int8_t)(first->rank + 1)};
    for (int i = 0; i < out->rank; i++) out->dim[i] = i < at ? first->dim[i] : i == at ? room : first->dim[i - 1];
    int64_t elements = holo_tensor_count(out);
    if (elements < 0) return holo_call_fail(call, HOLO_NO_MEMORY, "the joined outputs are too large");
    size_t size = holo_dtype_size((HoloDtype)out->dtype);
    HOLO_TRY(holo_keep(call, (size_t)elements, size, &out->data));
    int64_t rows = holo_product(at, first->dim), inner = holo_product(first->rank - at, first->dim + at);
    for (int64_t k = 0; k < count; k++) {
        const HoloTensor *item = &items[k * step];
        if (!is_alike(first, item))
            return holo_call_fail(call, HOLO_BAD_INPUT, "outputs of steps 0 and %lld differ in type or shape",
                                  (long long)k);
        if (elements == 0) continue;
        char *dst = (char *)out->data + (size_t)((reverse ? count - 1 - k : k) * inner) * size;
        holo_move(2, (int64_t[]){rows, inner}, size, dst, (int64_t[]){room * inner, 1}, item->data,
                  (int64_t[]){inner, 1});
    }
    return HOLO_OK;
}
