// openvino_attr.c - attributes and inputs of layers.
#include "import/openvino/openvino.h"

#include <stdlib.h>
#include <string.h>

HoloValue *holo_ir_may(HoloIrCall *c, int i)
{
    const HoloIrLayer *l = c->layer;
    if (c->e->status || i >= l->in_count || !l->from[i]) return NULL;
    return l->from[i]->out[l->from_port[i]];
}

HoloValue *holo_ir_in(HoloIrCall *c, int i)
{
    HoloValue *value = holo_ir_may(c, i);
    if (!value && !c->e->status)
        holo_emit_fail(c->e, HOLO_BAD_MODEL, "the %s layer has no input %d", c->layer->type, i);
    return value;
}

const char *holo_ir_text(const HoloIrCall *c, const char *name, const char *fallback)
{
    const char *text = holo_xml_attr(c->layer->data, name);
    return text ? text : fallback;
}

bool holo_ir_is(const HoloIrCall *c, const char *name, const char *fallback, const char *word)
{
    return !strcasecmp(holo_ir_text(c, name, fallback), word);
}

static void not_a_number(HoloIrCall *c, const char *name, const char *text)
{
    holo_emit_fail(c->e, HOLO_BAD_MODEL, "its attribute %s is not what it should be: '%.100s'", name, text);
}

int64_t holo_ir_int(HoloIrCall *c, const char *name, int64_t fallback)
{
    const char *text = holo_ir_text(c, name, NULL);
    char       *end;
    if (!text) return fallback;
    int64_t value = strtoll(text, &end, 10);
    if (end == text) not_a_number(c, name, text);
    return value;
}

double holo_ir_float(HoloIrCall *c, const char *name, double fallback)
{
    const char *text = holo_ir_text(c, name, NULL);
    char       *end;
    if (!text) return fallback;
    double value = strtod(text, &end);
    if (end == text) not_a_number(c, name, text);
    return value;
}

bool holo_ir_bool(HoloIrCall *c, const char *name, bool fallback)
{
    const char *text = holo_ir_text(c, name, NULL);
    return text ? !strcasecmp(text, "true") || !strcmp(text, "1") : fallback;
}

int holo_ir_ints(HoloIrCall *c, const char *name, int64_t *out)
{
    const char *text  = holo_ir_text(c, name, NULL);
    int         count = 0;
    while (text && *text) {
        char   *end;
        int64_t value = strtoll(text, &end, 10);
        if (end == text || count == 2 * HOLO_MAX_RANK || value > HOLO_IR_NUMBER_MAX || value < -HOLO_IR_NUMBER_MAX) {
            if (strspn(text, " ") != strlen(text)) not_a_number(c, name, text);
            break;
        }
        out[count++] = value;
        text         = end + strspn(end, " ,");
    }
    return count;
}

int holo_ir_known(HoloIrCall *c, int input, int64_t *out)
{
    HoloValue *x = holo_ir_in(c, input);
    int        count;
    if (!x) return 0;
    if (holo_emit_known_ints(c->e, x, out, 2 * HOLO_MAX_RANK, &count)) {
        for (int i = 0; i < count; i++)
            if (out[i] > HOLO_IR_NUMBER_MAX || out[i] < -HOLO_IR_NUMBER_MAX) {
                holo_emit_fail(c->e, HOLO_BAD_MODEL, "input %d of the %s layer is too large: %lld", input,
                               c->layer->type, (long long)out[i]);
                return 0;
            }
        return count;
    }
    holo_emit_fail(c->e, HOLO_UNSUPPORTED, "input %d of the %s layer must be known when the model is compiled", input,
                   c->layer->type);
    return 0;
}

HoloDtype holo_ir_dtype(const char *name)
{
    static const struct {
        const char *name;
        HoloDtype   dtype;
    } types[] = {{"f32", HOLO_F32},         {"f16", HOLO_F16},      {"bf16", HOLO_BF16}, {"f64", HOLO_F64},
                 {"i64", HOLO_I64},         {"i32", HOLO_I32},      {"i16", HOLO_I16},   {"i8", HOLO_I8},
                 {"u64", HOLO_U64},         {"u32", HOLO_U32},      {"u16", HOLO_U16},   {"u8", HOLO_U8},
                 {"i4", HOLO_I4},           {"u4", HOLO_U4},        {"fp32", HOLO_F32},  {"fp16", HOLO_F16},
                 {"fp64", HOLO_F64},        {"boolean", HOLO_BOOL}, {"bool", HOLO_BOOL}, {"string", HOLO_STRING},
                 {"f8e4m3", HOLO_F8E4M3FN}, {"f8e5m2", HOLO_F8E5M2}};
    for (int i = 0; name && i < HOLO_COUNT(types); i++)
        if (!strcasecmp(types[i].name, name)) return types[i].dtype;
    return HOLO_NONE;
}

HoloDtype holo_ir_type_attr(HoloIrCall *c, const char *name, HoloDtype fallback)
{
    const char *text = holo_ir_text(c, name, NULL);
    HoloDtype   type = text ? holo_ir_dtype(text) : fallback;
    if (!type) holo_emit_fail(c->e, HOLO_UNSUPPORTED, "the element type '%.40s' is not supported", text);
    return type;
}

int holo_ir_rank(HoloIrCall *c, const HoloValue *x)
{
    int rank = holo_emit_rank(x);
    if (rank >= 0) return rank;
    holo_emit_fail(c->e, HOLO_UNSUPPORTED, "how many dimensions an input of the %s layer has is not known",
                   c->layer->type);
    return 0;
}

bool holo_ir_size(const HoloValue *x, int axis, int64_t *out)
{
    if (!x || axis < 0 || axis >= x->type.rank || holo_dim_is_symbolic(x->type.dim[axis])) return false;
    *out = x->type.dim[axis];
    return *out <= HOLO_IR_SIZE_MAX;
}

int holo_ir_axis(HoloIrCall *c, int64_t axis, int rank)
{
    if (axis < 0) axis += rank;
    if (axis >= 0 && axis < rank) return (int)axis;
    holo_emit_fail(c->e, HOLO_BAD_MODEL, "axis %lld of %d dimensions", (long long)axis, rank);
    return 0;
}
