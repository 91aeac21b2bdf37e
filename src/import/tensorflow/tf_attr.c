// tf_attr.c - attributes and tensors of TensorFlow's nodes.
#include "import/tensorflow/tf_ops.h"
#include "ops/tensor.h"

#include <stdarg.h>
#include <stdio.h>

HoloDtype holo_flow_dtype(int64_t type)
{
    static const HoloDtype types[] = {
        HOLO_NONE, HOLO_F32, HOLO_F64,  HOLO_I32, HOLO_U8,   HOLO_I16,  HOLO_I8,   HOLO_STRING,
        HOLO_C64,  HOLO_I64, HOLO_BOOL, HOLO_I8,  HOLO_U8,   HOLO_I32,  HOLO_BF16, HOLO_I16,
        HOLO_U16,  HOLO_U16, HOLO_C128, HOLO_F16, HOLO_NONE, HOLO_NONE, HOLO_U32,  HOLO_U64,
    };
    if (type > 100) type -= 100; // a reference
    return type >= 0 && type < HOLO_COUNT(types) ? types[type] : HOLO_NONE;
}

// ---- attributes

static HoloStatus find_attr(HoloFlow *tf, HoloPbMany list, HoloString name, HoloFlowAttrProto *out, bool *found)
{
    HoloString message;
    *found = false;
    while (holo_pb_next_bytes(&list, &message)) {
        HoloFlowEntryProto entry = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "AttrEntry", message, holo_flow_attr_entry_fields, &entry));
        if (entry.key.size != name.size || memcmp(entry.key.data, name.data, name.size)) continue;
        *out   = (HoloFlowAttrProto){0};
        *found = true;
        return holo_pb_read(&tf->source, "AttrValue", entry.value, holo_flow_attr_fields, out);
    }
    return HOLO_OK;
}

bool holo_flow_attr(HoloFlowCall *c, const char *name, HoloFlowAttrProto *out)
{
    bool                 found  = false;
    HoloString           key    = {name, strlen(name)};
    HoloStatus           status = find_attr(c->tf, c->node->attr, key, out, &found);
    const HoloFlowScope *scope  = c->scope;
    while (!status && found && holo_pb_has(out->has, HOLO_FLOW_ATTR_PLACEHOLDER) && scope) {
        key    = out->placeholder;
        status = find_attr(c->tf, scope->call_attr, key, out, &found);
        scope  = scope->caller;
    }
    if (status && !c->e->status) c->e->status = status;
    return found && !status;
}

int64_t holo_flow_int(HoloFlowCall *c, const char *name, int64_t fallback)
{
    HoloFlowAttrProto attr;
    return holo_flow_attr(c, name, &attr) ? attr.i : fallback;
}

bool holo_flow_bool(HoloFlowCall *c, const char *name, bool fallback)
{
    HoloFlowAttrProto attr;
    return holo_flow_attr(c, name, &attr) ? attr.b != 0 : fallback;
}

double holo_flow_float(HoloFlowCall *c, const char *name, double fallback)
{
    HoloFlowAttrProto attr;
    return holo_flow_attr(c, name, &attr) ? (double)attr.f : fallback;
}

HoloString holo_flow_string(HoloFlowCall *c, const char *name, const char *fallback)
{
    HoloFlowAttrProto attr;
    HoloString        none = {fallback, fallback ? strlen(fallback) : 0};
    return holo_flow_attr(c, name, &attr) ? (attr.s.data ? attr.s : (HoloString){"", 0}) : none;
}

HoloDtype holo_flow_type(HoloFlowCall *c, const char *name)
{
    HoloFlowAttrProto attr;
    return holo_flow_attr(c, name, &attr) ? holo_flow_dtype(attr.type) : HOLO_NONE;
}

static bool find_list(HoloFlowCall *c, const char *name, HoloFlowListProto *out)
{
    HoloFlowAttrProto attr;
    *out = (HoloFlowListProto){0};
    if (!holo_flow_attr(c, name, &attr) || !holo_pb_has(attr.has, HOLO_FLOW_ATTR_LIST)) return false;
    HoloStatus status = holo_pb_read(&c->tf->source, "ListValue", attr.list, holo_flow_list_fields, out);
    if (status && !c->e->status) c->e->status = status;
    return !status;
}

int holo_flow_ints(HoloFlowCall *c, const char *name, int64_t *out, int room)
{
    HoloFlowListProto list;
    int               count = 0;
    if (!find_list(c, name, &list)) return -1;
    if (list.i.count > room) {
        holo_flow_fail(c, HOLO_BAD_MODEL, "attribute '%s' has %lld numbers, and %d are the most", name,
                       (long long)list.i.count, room);
        return -1;
    }
    while (holo_pb_next_int(&list.i, &out[count])) count++;
    return count;
}

int holo_flow_strings(HoloFlowCall *c, const char *name, HoloString *out, int room)
{
    HoloFlowListProto list;
    int               count = 0;
    if (!find_list(c, name, &list)) return -1;
    while (count < room && holo_pb_next_bytes(&list.s, &out[count])) count++;
    return count;
}

bool holo_flow_shape(HoloFlowCall *c, const char *name, HoloTensor *out)
{
    HoloFlowAttrProto attr;
    *out = (HoloTensor){.rank = -1};
    if (!holo_flow_attr(c, name, &attr) || !holo_pb_has(attr.has, HOLO_FLOW_ATTR_SHAPE)) return false;
    HoloStatus status = holo_flow_read_shape(c->tf, attr.shape, out);
    if (status && !c->e->status) c->e->status = status;
    return !status;
}

bool holo_flow_func(HoloFlowCall *c, const char *name, HoloFlowCallProto *out)
{
    HoloFlowAttrProto attr;
    *out = (HoloFlowCallProto){0};
    if (!holo_flow_attr(c, name, &attr) || !holo_pb_has(attr.has, HOLO_FLOW_ATTR_FUNC)) return false;
    HoloStatus status = holo_pb_read(&c->tf->source, "NameAttrList", attr.func, holo_flow_call_fields, out);
    if (status && !c->e->status) c->e->status = status;
    return !status;
}

int holo_flow_funcs(HoloFlowCall *c, const char *name, HoloFlowCallProto *out, int room)
{
    HoloFlowListProto list;
    HoloString        message;
    int               count = 0;
    if (!find_list(c, name, &list)) return -1;
    while (count < room && holo_pb_next_bytes(&list.func, &message)) {
        out[count]        = (HoloFlowCallProto){0};
        HoloStatus status = holo_pb_read(&c->tf->source, "NameAttrList", message, holo_flow_call_fields, &out[count++]);
        if (status && !c->e->status) c->e->status = status;
        if (status) return -1;
    }
    return list.func.count > count ? room + 1 : count;
}

// ---- tensors

HoloStatus holo_flow_read_shape(HoloFlow *tf, HoloString message, HoloTensor *out)
{
    HoloFlowShapeProto shape = {0};
    HoloString         bytes;
    HOLO_TRY(holo_pb_read(&tf->source, "TensorShapeProto", message, holo_flow_shape_fields, &shape));
    out->rank = -1;
    if (shape.unknown_rank) return HOLO_OK;
    if (shape.dim.count > HOLO_MAX_RANK)
        return holo_fail(tf->error, HOLO_UNSUPPORTED, "a shape has %lld dimensions, and %d are the most",
                         (long long)shape.dim.count, HOLO_MAX_RANK);
    out->rank = 0;
    while (holo_pb_next_bytes(&shape.dim, &bytes)) {
        HoloFlowDimProto dim = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "Dim", bytes, holo_flow_dim_fields, &dim));
        out->dim[out->rank++] = dim.size < 0 ? HOLO_DIM_UNKNOWN : dim.size;
    }
    return HOLO_OK;
}

typedef struct Numbers { // the field of a tensor that has its elements
    HoloPbMany list;
    int        width; // of a fixed-size field; 0: varints
    int        each;  // of them to an element
} Numbers;

static Numbers numbers_of(const HoloFlowTensorProto *t, HoloDtype dtype)
{
    switch (dtype) {
    case HOLO_F32: return (Numbers){t->float_val, 4, 1};
    case HOLO_F64: return (Numbers){t->double_val, 8, 1};
    case HOLO_C64: return (Numbers){t->scomplex_val, 4, 2};
    case HOLO_C128: return (Numbers){t->dcomplex_val, 8, 2};
    case HOLO_I64: return (Numbers){t->int64_val, 0, 1};
    case HOLO_BOOL: return (Numbers){t->bool_val, 0, 1};
    case HOLO_F16:
    case HOLO_BF16: return (Numbers){t->half_val, 0, 1};
    case HOLO_U32: return (Numbers){t->uint32_val, 0, 1};
    case HOLO_U64: return (Numbers){t->uint64_val, 0, 1};
    default: return (Numbers){t->int_val, 0, 1};
    }
}

// Elements one by one. If there are fewer than the shape says, the last one fills the rest; none: zeros.
static void fill(const Numbers *from, HoloTensor *out, int64_t count)
{
    HoloPbMany list = from->list;
    size_t     size = holo_dtype_size((HoloDtype)out->dtype);
    char      *at   = out->data;
    int64_t    number, made = 0;
    for (; made < count; made++, at += size) {
        bool more = true;
        if (from->width) {
            for (int k = 0; k < from->each && more; k++)
                more = holo_pb_next_fixed(&list, (size_t)from->width, at + k * from->width);
        } else if ((more = holo_pb_next_int(&list, &number))) {
            if (out->dtype == HOLO_BOOL) number = number != 0;
            memcpy(at, &number, size);
        }
        if (!more) break;
    }
    for (; made && made < count; made++, at += size) memcpy(at, at - size, size);
}

static HoloStatus take_strings(HoloFlow *tf, HoloString name, const HoloFlowTensorProto *t, int64_t count,
                               HoloTensor *out)
{
    HoloPbMany  list = t->string_val;
    HoloString *text, last = {"", 0};
    HOLO_TRY(holo_import_take(tf->import, name, count, sizeof *text, &out->data));
    text = out->data;
    for (int64_t i = 0; i < count; i++) {
        HoloString next;
        if (holo_pb_next_bytes(&list, &next)) last = next;
        text[i] = last;
    }
    return HOLO_OK;
}

HoloStatus holo_flow_tensor(HoloFlow *tf, HoloString name, HoloString message, HoloTensor *out)
{
    HoloFlowTensorProto t = {0};
    HOLO_TRY(holo_pb_read(&tf->source, "TensorProto", message, holo_flow_tensor_fields, &t));
    *out = (HoloTensor){.dtype = (uint8_t)holo_flow_dtype(t.dtype)};
    HOLO_TRY(holo_flow_read_shape(tf, t.tensor_shape, out));
    int64_t count = out->rank < 0 ? -1 : holo_tensor_count(out);
    if (!out->dtype)
        return holo_fail(tf->error, HOLO_UNSUPPORTED, "tensor '%.*s' has type %lld, which does not exist here",
                         HOLO_IMPORT_ARG(name), (long long)t.dtype);
    if (count < 0)
        return holo_fail(tf->error, HOLO_BAD_MODEL, "tensor '%.*s' has no size, or too large a one",
                         HOLO_IMPORT_ARG(name));
    if (!count) return HOLO_OK;
    if (out->dtype == HOLO_STRING) return take_strings(tf, name, &t, count, out);
    uint64_t bytes = holo_import_stored((HoloDtype)out->dtype, count);
    if (t.tensor_content.size) {
        if (t.tensor_content.size != bytes)
            return holo_fail(tf->error, HOLO_BAD_MODEL, "tensor '%.*s' has %lld bytes, and its shape needs %lld",
                             HOLO_IMPORT_ARG(name), (long long)t.tensor_content.size, (long long)bytes);
        return holo_import_bytes(tf->import, name, t.tensor_content.data, count, out);
    }
    Numbers numbers = numbers_of(&t, (HoloDtype)out->dtype);
    HOLO_TRY(holo_import_take(tf->import, name, count, holo_dtype_size((HoloDtype)out->dtype), &out->data));
    fill(&numbers, out, count);
    return HOLO_OK;
}

// ---- calls

void holo_flow_fail(HoloFlowCall *c, HoloStatus status, const char *format, ...)
{
    char    text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    holo_emit_fail(c->e, status, "%s: %s", c->op ? c->op->name : "call", text);
}

bool holo_flow_has(const HoloFlowCall *c, int i)
{
    return i < c->in_count &&
           ((c->in[i].kind == HOLO_FLOW_TENSOR && c->in[i].value) || c->in[i].kind == HOLO_FLOW_VARIABLE);
}

HoloValue *holo_flow_in(HoloFlowCall *c, int i)
{
    if (holo_flow_has(c, i) && c->in[i].kind == HOLO_FLOW_VARIABLE && !c->e->status)
        c->in[i] = (HoloFlowValue){HOLO_FLOW_TENSOR, holo_flow_read_variable(c, c->in[i].object), NULL};
    if (holo_flow_has(c, i)) return c->in[i].value;
    if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "input %d is missing, or no tensor", i);
    return NULL;
}

void holo_flow_out_value(HoloFlowCall *c, int i, HoloFlowValue value)
{
    if (i >= c->out_count) {
        HoloFlowValue *list = HOLO_NEW(c->tf->arena, HoloFlowValue, i + 1);
        if (!list) {
            holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
            return;
        }
        if (c->out_count) memcpy(list, c->out, (size_t)c->out_count * sizeof *list);
        c->out       = list;
        c->out_count = i + 1;
    }
    c->out[i] = value;
}

void holo_flow_out(HoloFlowCall *c, int i, HoloValue *value)
{
    holo_flow_out_value(c, i, (HoloFlowValue){.kind = value ? HOLO_FLOW_TENSOR : HOLO_FLOW_NOTHING, .value = value});
}

int holo_flow_known(HoloFlowCall *c, int i, int64_t *out, int room)
{
    int        count = 0;
    HoloValue *x     = holo_flow_in(c, i);
    if (!x || holo_emit_known_ints(c->e, x, out, room, &count)) return x ? count : -1;
    holo_flow_fail(c, HOLO_UNSUPPORTED,
                   "input %d must be known when the model is compiled, and it is computed by a run", i);
    return -1;
}

int holo_flow_axis(HoloFlowCall *c, int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank) return (int)(axis < 0 ? axis + rank : axis);
    holo_flow_fail(c, HOLO_BAD_MODEL, "axis %lld does not exist: there are %d dimensions", (long long)axis, rank);
    return 0;
}

int holo_flow_rank(HoloFlowCall *c, const HoloValue *x)
{
    int rank = holo_emit_rank(x);
    if (rank < 0 && !c->e->status)
        holo_flow_fail(c, HOLO_UNSUPPORTED, "the number of dimensions of an input is not known");
    return rank;
}

HoloValue *holo_flow_vector(HoloFlowCall *c, HoloValue *x)
{
    int64_t zero = 0;
    x            = holo_emit_cast(c->e, x, HOLO_I64);
    return holo_emit_rank(x) == 0 ? holo_emit_unsqueeze(c->e, x, &zero, 1) : x;
}

void holo_flow_same_type(HoloFlowCall *c, HoloValue **a, HoloValue **b)
{
    HoloDtype one = holo_emit_dtype(*a), other = holo_emit_dtype(*b);
    if (one == other || one == HOLO_NONE || other == HOLO_NONE) return;
    bool to_other = (holo_dtype_class(other) == HOLO_CLASS_FLOAT && holo_dtype_class(one) != HOLO_CLASS_FLOAT) ||
                    (one == HOLO_I32 && other == HOLO_I64) || one == HOLO_BOOL;
    if (to_other)
        *a = holo_emit_cast(c->e, *a, other);
    else
        *b = holo_emit_cast(c->e, *b, one);
}
