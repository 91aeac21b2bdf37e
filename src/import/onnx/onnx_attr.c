// onnx_attr.c - turns AttributeProto into HoloAttr and resolves references to a function call's attributes; and the
// tensor of a Constant node.
#include "import/onnx/onnx.h"

#include <string.h>

// HoloAttrKind of a HoloOnnxAttrType.
static const uint8_t kinds[] = {
    [HOLO_ONNX_FLOAT]          = HOLO_ATTR_FLOAT,
    [HOLO_ONNX_INT]            = HOLO_ATTR_INT,
    [HOLO_ONNX_STRING]         = HOLO_ATTR_STRING,
    [HOLO_ONNX_TENSOR]         = HOLO_ATTR_TENSOR,
    [HOLO_ONNX_GRAPH]          = HOLO_ATTR_GRAPH,
    [HOLO_ONNX_FLOATS]         = HOLO_ATTR_FLOATS,
    [HOLO_ONNX_INTS]           = HOLO_ATTR_INTS,
    [HOLO_ONNX_STRINGS]        = HOLO_ATTR_STRINGS,
    [HOLO_ONNX_TENSORS]        = HOLO_ATTR_TENSORS,
    [HOLO_ONNX_GRAPHS]         = HOLO_ATTR_GRAPHS,
    [HOLO_ONNX_SPARSE_TENSOR]  = HOLO_ATTR_TENSOR,
    [HOLO_ONNX_SPARSE_TENSORS] = HOLO_ATTR_TENSORS,
    [HOLO_ONNX_TYPE_PROTO]     = HOLO_ATTR_TYPE,
};

enum { ATTRS_MAX = 1024 }; // of a node: they are searched one by one

typedef struct Reader {
    HoloOnnx         *im;
    HoloOnnxScope    *scope;
    HoloOnnxAttrProto proto;
    HoloAttr         *attr;   // being filled in
    HoloOnnxBody    **bodies; // subgraphs of the node
} Reader;

// ---- one attribute

typedef HoloStatus (*ReadTensor)(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name);

static HoloStatus read_type(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name)
{
    (void)out_name;
    return holo_onnx_type(im, message, NULL, out);
}

static HoloStatus take(Reader *r, int64_t count, size_t size, void **out)
{
    if (count > INT32_MAX)
        return holo_fail(r->im->error, HOLO_UNSUPPORTED, "attribute '%s' has %lld entries", r->attr->name,
                         (long long)count);
    r->attr->count = (int32_t)count;
    return holo_import_take(r->im->import, r->proto.name, count, size, out);
}

static HoloStatus read_tensor(Reader *r, HoloString message, ReadTensor read)
{
    void *tensor;
    HOLO_TRY(take(r, 1, sizeof(HoloTensor), &tensor));
    r->attr->tensor = tensor;
    return read(r->im, message, tensor, NULL);
}

static HoloStatus read_tensors(Reader *r, HoloPbMany list, ReadTensor read)
{
    HoloString message;
    void      *tensors;
    HOLO_TRY(take(r, list.count, sizeof(HoloTensor), &tensors));
    r->attr->tensor = tensors;
    for (HoloTensor *to = tensors; holo_pb_next_bytes(&list, &message); to++) HOLO_TRY(read(r->im, message, to, NULL));
    return HOLO_OK;
}

static HoloStatus read_graph(Reader *r, HoloString message, void **out)
{
    HoloOnnxBody *body = HOLO_NEW(r->im->arena, HoloOnnxBody, 1);
    if (!body) return holo_fail_memory(r->im->error);
    if (!r->scope || !r->bodies)
        return holo_fail(r->im->error, HOLO_UNSUPPORTED,
                         "attribute '%s' passes a graph to a function, which is not supported", r->attr->name);
    HOLO_TRY(holo_onnx_graph(r->im, message, r->scope, body));
    body->next = *r->bodies;
    *r->bodies = body;
    *out       = body->graph;
    return HOLO_OK;
}

static HoloStatus read_graphs(Reader *r)
{
    HoloString message;
    void      *graphs;
    HoloPbMany list = r->proto.graphs;
    HOLO_TRY(take(r, list.count, sizeof(void *), &graphs));
    r->attr->graphs = graphs;
    for (int i = 0; holo_pb_next_bytes(&list, &message); i++) HOLO_TRY(read_graph(r, message, &r->attr->graphs[i]));
    return HOLO_OK;
}

static HoloStatus read_floats(Reader *r)
{
    void *floats;
    HOLO_TRY(take(r, r->proto.floats.count, sizeof(float), &floats));
    r->attr->floats = floats;
    for (float *to = floats; holo_pb_next_fixed(&r->proto.floats, sizeof *to, to);) to++;
    return HOLO_OK;
}

static HoloStatus read_ints(Reader *r)
{
    void *ints;
    HOLO_TRY(take(r, r->proto.ints.count, sizeof(int64_t), &ints));
    r->attr->ints = ints;
    for (int64_t *to = ints; holo_pb_next_int(&r->proto.ints, to);) to++;
    return HOLO_OK;
}

static HoloStatus read_strings(Reader *r)
{
    void *strings;
    HOLO_TRY(take(r, r->proto.strings.count, sizeof(HoloString), &strings));
    r->attr->strings = strings;
    for (HoloString *to = strings; holo_pb_next_bytes(&r->proto.strings, to);) to++;
    return HOLO_OK;
}

static HoloStatus read_value(Reader *r)
{
    const HoloOnnxAttrProto *a = &r->proto;
    r->attr->count             = 1;
    switch ((HoloOnnxAttrType)a->type) {
    case HOLO_ONNX_FLOAT: r->attr->f = (double)a->f; return HOLO_OK;
    case HOLO_ONNX_INT: r->attr->i = a->i; return HOLO_OK;
    case HOLO_ONNX_STRING: r->attr->s = a->s.size ? a->s : holo_onnx_string(""); return HOLO_OK;
    case HOLO_ONNX_TENSOR: return read_tensor(r, a->tensor, holo_onnx_tensor);
    case HOLO_ONNX_SPARSE_TENSOR: return read_tensor(r, a->sparse_tensor, holo_onnx_sparse);
    case HOLO_ONNX_TYPE_PROTO: return read_tensor(r, a->type_proto, read_type);
    case HOLO_ONNX_TENSORS: return read_tensors(r, a->tensors, holo_onnx_tensor);
    case HOLO_ONNX_SPARSE_TENSORS: return read_tensors(r, a->sparse_tensors, holo_onnx_sparse);
    case HOLO_ONNX_GRAPH: return read_graph(r, a->graph, &r->attr->graph);
    case HOLO_ONNX_GRAPHS: return read_graphs(r);
    case HOLO_ONNX_FLOATS: return read_floats(r);
    case HOLO_ONNX_INTS: return read_ints(r);
    case HOLO_ONNX_STRINGS: return read_strings(r);
    case HOLO_ONNX_TYPE_PROTOS: break;
    }
    return HOLO_UNSUPPORTED; // it has no kind, and was refused before
}

// ---- references

const HoloAttr *holo_onnx_attr_find(const HoloAttr *attr, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(attr[i].name, name) == 0) return &attr[i];
    return NULL;
}

static HoloStatus read_reference(Reader *r, bool *out_given)
{
    char *name = holo_import_text(r->im->import, r->proto.ref_name);
    if (!name) return holo_fail_memory(r->im->error);
    if (!r->scope || !r->scope->is_function)
        return holo_fail(r->im->error, HOLO_BAD_MODEL,
                         "attribute '%s' refers to '%s' of a function, but is not inside a function", r->attr->name,
                         name);
    const HoloAttr *given = holo_onnx_attr_find(r->scope->call_attr, r->scope->call_attr_count, name);
    *out_given            = given != NULL;
    if (!given) return HOLO_OK;
    if (given->kind != r->attr->kind)
        return holo_fail(r->im->error, HOLO_BAD_MODEL, "attribute '%s' refers to '%s', which has a different type",
                         r->attr->name, name);
    const char *own = r->attr->name;
    *r->attr        = *given;
    r->attr->name   = own;
    return HOLO_OK;
}

static HoloStatus read_attr(Reader *r, HoloString message, const char *node, bool *out_given)
{
    r->proto = (HoloOnnxAttrProto){0};
    HOLO_TRY(holo_pb_read(&r->im->source, "AttributeProto", message, holo_onnx_attr_fields, &r->proto));
    r->attr->name = holo_import_text(r->im->import, r->proto.name);
    if (!r->attr->name) return holo_fail_memory(r->im->error);
    int64_t type  = r->proto.type;
    r->attr->kind = type > 0 && type < HOLO_COUNT(kinds) ? kinds[type] : 0;
    if (!r->attr->kind)
        return holo_fail(r->im->error, HOLO_UNSUPPORTED,
                         "node '%s': attribute '%s' has type %lld, which is not supported", node, r->attr->name,
                         (long long)type);
    if (r->proto.ref_name.size) return read_reference(r, out_given);
    *out_given = true;
    return read_value(r);
}

HoloStatus holo_onnx_attrs(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany attributes, const char *node, HoloAttr **out,
                           int *out_count, HoloOnnxBody **bodies)
{
    void *attrs;
    *out_count = 0;
    *out       = NULL;
    if (!attributes.count) return HOLO_OK;
    if (attributes.count > ATTRS_MAX)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "node '%s' has %lld attributes; at most %d are supported", node,
                         (long long)attributes.count, ATTRS_MAX);
    HOLO_TRY(holo_import_take(im->import, holo_onnx_string(node), attributes.count, sizeof(HoloAttr), &attrs));
    *out = attrs;
    HoloString message;
    while (holo_pb_next_bytes(&attributes, &message)) {
        bool   given  = false;
        Reader reader = {.im = im, .scope = scope, .attr = &(*out)[*out_count], .bodies = bodies};
        im->unnamed   = holo_onnx_string(node);
        HOLO_TRY(read_attr(&reader, message, node, &given));
        im->unnamed = (HoloString){0};
        if (holo_onnx_attr_find(*out, *out_count, reader.attr->name))
            return holo_fail(im->error, HOLO_BAD_MODEL, "node '%s': attribute '%s' is given twice", node,
                             reader.attr->name);
        *out_count += given;
    }
    return HOLO_OK;
}

// ---- Constant

HoloStatus holo_onnx_constant(HoloOnnx *im, const char *node, const HoloAttr *attr, int count, HoloTensor *out)
{
    static const struct {
        const char *name;
        int         kind, dtype, rank;
    } forms[] = {
        {"value", HOLO_ATTR_TENSOR, HOLO_NONE, 0},          {"sparse_value", HOLO_ATTR_TENSOR, HOLO_NONE, 0},
        {"value_float", HOLO_ATTR_FLOAT, HOLO_F32, 0},      {"value_floats", HOLO_ATTR_FLOATS, HOLO_F32, 1},
        {"value_int", HOLO_ATTR_INT, HOLO_I64, 0},          {"value_ints", HOLO_ATTR_INTS, HOLO_I64, 1},
        {"value_string", HOLO_ATTR_STRING, HOLO_STRING, 0}, {"value_strings", HOLO_ATTR_STRINGS, HOLO_STRING, 1},
    };
    for (int f = 0; f < HOLO_COUNT(forms); f++) {
        const HoloAttr *a = holo_onnx_attr_find(attr, count, forms[f].name);
        if (!a || a->kind != forms[f].kind) continue;
        if (a->kind == HOLO_ATTR_TENSOR) {
            *out = *a->tensor;
            return HOLO_OK;
        }
        *out = (HoloTensor){.dtype = (uint8_t)forms[f].dtype, .rank = (int8_t)forms[f].rank, .dim = {a->count}};
        if (forms[f].rank) {
            out->data = (void *)a->ints; // or floats, or strings: members of the same union
            return HOLO_OK;
        }
        HOLO_TRY(holo_import_take(im->import, holo_onnx_string(node), 1, sizeof(HoloString), &out->data));
        if (a->kind == HOLO_ATTR_FLOAT)
            *(float *)out->data = (float)a->f;
        else if (a->kind == HOLO_ATTR_INT)
            *(int64_t *)out->data = a->i;
        else
            *(HoloString *)out->data = a->s;
        return HOLO_OK;
    }
    return holo_fail(im->error, HOLO_BAD_MODEL, "node '%s' (Constant) has no value", node);
}
