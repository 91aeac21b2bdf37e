// optional.c - values that may be absent: Optional, OptionalHasElement, OptionalGetElement.
#include "ops/value.h"

// What an optional of this call holds: its input, or what the attribute `type` says of none.
static HoloStatus find_element(const HoloCall *call, HoloTensor *out)
{
    const HoloAttr *type = holo_attr_find(call, "type");
    if (holo_in(call, 0))
        *out = *call->in[0];
    else if (type && type->kind == HOLO_ATTR_TYPE)
        *out = *type->tensor;
    else
        return holo_call_fail(call, HOLO_BAD_MODEL, "needs an input or the attribute type");
    if (!out->dtype) return holo_call_fail(call, HOLO_BAD_MODEL, "its attribute type says no type of elements");
    if (out->kind == HOLO_TENSOR || out->kind == HOLO_SEQUENCE) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "an optional holds a tensor or a sequence only");
}

static HoloStatus infer_make(HoloCall *call)
{
    HoloTensor element;
    HOLO_TRY(find_element(call, &element));
    holo_out_list_type(call, 0, HOLO_OPTIONAL, (HoloKind)element.kind, (HoloDtype)element.dtype);
    return HOLO_OK;
}

static HoloStatus eval_make(HoloCall *call)
{
    HoloTensor element, *items;
    HOLO_TRY(find_element(call, &element));
    int64_t count = holo_in(call, 0) ? 1 : 0;
    HOLO_TRY(holo_out_list(call, 0, HOLO_OPTIONAL, (HoloKind)element.kind, (HoloDtype)element.dtype, count, &items));
    return count ? holo_value_copy(call, &element, &items[0]) : HOLO_OK;
}

static HoloStatus infer_has(HoloCall *call)
{
    return holo_out_type(call, 0, HOLO_BOOL, 0, NULL);
}

static HoloStatus eval_has(HoloCall *call)
{
    const HoloTensor *x = holo_in(call, 0);
    holo_put_i(call->out[0], 0, x && (x->kind != HOLO_OPTIONAL || x->dim[0] == 1));
    return HOLO_OK;
}

static HoloStatus infer_get(HoloCall *call)
{
    const HoloTensor *x    = call->in[0];
    HoloKind          kind = (HoloKind)(x->kind == HOLO_OPTIONAL ? x->inner : x->kind);
    if (kind == HOLO_TENSOR) return holo_out_unknown(call, 0, (HoloDtype)x->dtype);
    holo_out_list_type(call, 0, kind, HOLO_TENSOR, (HoloDtype)x->dtype);
    return HOLO_OK;
}

// Since version 18 the input may be the element itself.
static HoloStatus eval_get(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    if (x->kind != HOLO_OPTIONAL) return holo_out_value(call, 0, x);
    if (x->dim[0] != 1) return holo_call_fail(call, HOLO_BAD_INPUT, "the optional is empty");
    return holo_out_value(call, 0, x->data);
}

#define OPTIONAL(NAME, IN_MIN, FLAGS, ID)                                                                   \
    {                                                                                                       \
        .name = NAME, .domain = "", .since = 15, .in_min = IN_MIN, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_ALL, .flags = FLAGS, .infer = infer_##ID, .eval = eval_##ID                     \
    }

const HoloOp holo_ops_optional[] = {
    OPTIONAL("Optional", 0, HOLO_OP_KINDS | HOLO_OP_DYNAMIC, make),
    OPTIONAL("OptionalHasElement", 0, HOLO_OP_KINDS, has),
    OPTIONAL("OptionalGetElement", 1, HOLO_OP_KINDS | HOLO_OP_DYNAMIC, get),
    {0},
};
