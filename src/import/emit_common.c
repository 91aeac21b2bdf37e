// emit_common.c - nodes that every importer needs, and what is known of values while importing.
#include "import/emit.h"

#include "graph/facts.h"

// ---- common nodes

HoloValue *holo_emit_cast(HoloEmit *e, HoloValue *x, HoloDtype dtype)
{
    if (x && x->type.dtype == dtype) return x;
    return holo_emit(e, "Cast", HOLO_IN(x), HOLO_ATTRS(holo_with_int("to", dtype)));
}

HoloValue *holo_emit_reshape(HoloEmit *e, HoloValue *x, const HoloDim *sizes, int rank)
{
    return holo_emit(e, "Reshape", HOLO_IN(x, holo_emit_sizes(e, sizes, rank)), NULL);
}

HoloValue *holo_emit_transpose(HoloEmit *e, HoloValue *x, const int64_t *perm, int rank)
{
    bool moves = false;
    for (int i = 0; i < rank; i++) moves |= perm[i] != i;
    return moves ? holo_emit(e, "Transpose", HOLO_IN(x), HOLO_ATTRS(holo_with_ints("perm", perm, rank))) : x;
}

HoloValue *holo_emit_unsqueeze(HoloEmit *e, HoloValue *x, const int64_t *axes, int count)
{
    return count ? holo_emit(e, "Unsqueeze", HOLO_IN(x, holo_emit_ints(e, axes, count)), NULL) : x;
}

HoloValue *holo_emit_squeeze(HoloEmit *e, HoloValue *x, const int64_t *axes, int count)
{
    return count ? holo_emit(e, "Squeeze", HOLO_IN(x, holo_emit_ints(e, axes, count)), NULL) : x;
}

HoloValue *holo_emit_slice(HoloEmit *e, HoloValue *x, int64_t axis, int64_t start, int64_t end, int64_t step)
{
    return holo_emit(e, "Slice",
                     HOLO_IN(x, holo_emit_ints(e, &start, 1), holo_emit_ints(e, &end, 1), holo_emit_ints(e, &axis, 1),
                             holo_emit_ints(e, &step, 1)),
                     NULL);
}

HoloValue *holo_emit_shape(HoloEmit *e, HoloValue *x)
{
    return holo_emit(e, "Shape", HOLO_IN(x), NULL);
}

// ---- what is known

int holo_emit_rank(const HoloValue *value)
{
    return value ? value->type.rank : -1;
}

HoloDtype holo_emit_dtype(const HoloValue *value)
{
    return value ? (HoloDtype)value->type.dtype : HOLO_NONE;
}

HoloTensor holo_emit_known(HoloEmit *e, const HoloValue *value)
{
    HoloTensor none = {.rank = -1};
    while (e && value && (value->id >= e->graph->value_count || e->graph->values[value->id] != value)) e = e->outer;
    if (!value || !e || e->status) return none;
    return holo_infer_view(&e->infer, value);
}

bool holo_emit_known_ints(HoloEmit *e, const HoloValue *value, int64_t *out, int room, int *out_count)
{
    HoloTensor t = holo_emit_known(e, value);
    if (!t.data || t.rank < 0) return false;
    int64_t count = holo_tensor_count(&t);
    if (count < 0 || count > room || t.kind != HOLO_TENSOR || t.dtype == HOLO_STRING) return false;
    bool is_float = holo_dtype_class((HoloDtype)t.dtype) == HOLO_CLASS_FLOAT;
    for (int64_t i = 0; i < count; i++) {
        double real = is_float ? holo_get_f(&t, i) : 0;
        if (is_float && !(real > -9e15 && real < 9e15 && real == (double)(int64_t)real)) return false;
        out[i] = is_float ? (int64_t)real : holo_get_i(&t, i);
    }
    *out_count = (int)count;
    return true;
}

bool holo_emit_known_number(HoloEmit *e, const HoloValue *value, double *out)
{
    HoloTensor t = holo_emit_known(e, value);
    if (!t.data || t.rank < 0 || t.kind != HOLO_TENSOR || t.dtype == HOLO_STRING || holo_tensor_count(&t) != 1)
        return false;
    *out = holo_dtype_class((HoloDtype)t.dtype) == HOLO_CLASS_FLOAT ? holo_get_f(&t, 0) : (double)holo_get_i(&t, 0);
    return true;
}
