// onnx_function.c - operator sets, and the functions of a model: each call is replaced by the function's body.
//
// A function sees nothing from outside but its inputs and attributes. Calls may be nested, but not circular, and the
// number of resulting nodes is limited.
#include "import/onnx/onnx.h"

#include <string.h>

struct HoloOnnxFunction {
    HoloOnnxFunctionProto proto;
    HoloOnnxOpsets        opsets;
    HoloAttr             *defaults; // for attributes
    int                   default_count;
    bool                  is_active; // being inlined
};

// ---- operator sets

HoloString holo_onnx_domain(HoloString domain)
{
    return holo_string_equal(domain, holo_onnx_string("ai.onnx")) ? holo_onnx_string("") : domain;
}

HoloStatus holo_onnx_opsets(HoloOnnx *im, HoloPbMany list, HoloOnnxOpsets *out)
{
    enum { VERSION_MAX = 1 << 20, SETS_MAX = 1000 };
    HoloString message;
    if (list.count > SETS_MAX)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "the model imports %lld operator sets; at most %d are supported",
                         (long long)list.count, SETS_MAX);
    out->count = 0;
    out->entry = HOLO_NEW(im->arena, HoloOnnxOpset, list.count);
    if (!out->entry) return holo_fail_memory(im->error);
    while (holo_pb_next_bytes(&list, &message)) {
        HoloOnnxOpsetProto opset = {0};
        HOLO_TRY(holo_pb_read(&im->source, "OperatorSetIdProto", message, holo_onnx_opset_fields, &opset));
        if (opset.version < 0 || opset.version > VERSION_MAX)
            return holo_fail(im->error, HOLO_BAD_MODEL, "operator set '%.*s' has version %lld",
                             HOLO_IMPORT_ARG(opset.domain), (long long)opset.version);
        out->entry[out->count++] = (HoloOnnxOpset){holo_onnx_domain(opset.domain), (int)opset.version};
    }
    return HOLO_OK;
}

static int find_version(const HoloOnnxOpsets *opsets, HoloString domain)
{
    for (int i = 0; opsets && i < opsets->count; i++)
        if (holo_string_equal(opsets->entry[i].domain, domain)) return opsets->entry[i].version;
    return 0;
}

HoloStatus holo_onnx_version(HoloOnnx *im, const HoloOnnxScope *scope, HoloString domain, const char *node, int *out)
{
    *out = find_version(scope->opsets, domain);
    if (!*out) *out = find_version(&im->opsets, domain);
    if (*out) return HOLO_OK;
    enum { IR_WITH_OPSETS = 3 };
    *out = 1; // for other domains, and for models older than the versions
    if (domain.size || (im->ir_version && im->ir_version < IR_WITH_OPSETS)) return HOLO_OK;
    return holo_fail(im->error, HOLO_BAD_MODEL,
                     "node '%s': the model does not say which version of ONNX's operators it uses", node);
}

// ---- the model's functions

// The key of a function: domain, name and overload, each ended by a zero. Returns its size, and writes it if it fits
// into `room` bytes.
static size_t function_key(HoloString domain, HoloString name, HoloString overload, char *key, size_t room)
{
    HoloString part[] = {holo_onnx_domain(domain), name, overload};
    size_t     size = 0, total = part[0].size + name.size + overload.size + HOLO_COUNT(part);
    for (int i = 0; i < HOLO_COUNT(part) && total <= room; i++) {
        if (part[i].size) memcpy(key + size, part[i].data, part[i].size);
        size += part[i].size;
        key[size++] = 0;
    }
    return total;
}

static HoloStatus add_function(HoloOnnx *im, HoloString message)
{
    HoloOnnxFunction *f = HOLO_NEW(im->arena, HoloOnnxFunction, 1);
    if (!f) return holo_fail_memory(im->error);
    HoloOnnxFunctionProto *proto = &f->proto;
    HOLO_TRY(holo_pb_read(&im->source, "FunctionProto", message, holo_onnx_function_fields, proto));
    HOLO_TRY(holo_onnx_opsets(im, proto->opset_import, &f->opsets));
    HOLO_TRY(holo_onnx_attrs(im, NULL, proto->attribute_default, "a function's defaults", &f->defaults,
                             &f->default_count, NULL));
    size_t size = function_key(proto->domain, proto->name, proto->overload, NULL, 0);
    char  *key  = holo_arena_take(im->arena, size);
    if (!key) return holo_fail_memory(im->error);
    function_key(proto->domain, proto->name, proto->overload, key, size);
    if (holo_name_map_find(&im->functions, (HoloString){key, size}))
        return holo_fail(im->error, HOLO_BAD_MODEL, "function '%.*s' is defined twice", HOLO_IMPORT_ARG(proto->name));
    if (size > im->key_max) im->key_max = size;
    return holo_name_map_set(&im->functions, im->arena, (HoloString){key, size}, f) ? HOLO_OK
                                                                                    : holo_fail_memory(im->error);
}

HoloStatus holo_onnx_functions(HoloOnnx *im, HoloPbMany functions)
{
    HoloString message;
    while (holo_pb_next_bytes(&functions, &message)) HOLO_TRY(add_function(im, message));
    im->key = holo_arena_take(im->arena, im->key_max);
    return im->key ? HOLO_OK : holo_fail_memory(im->error);
}

HoloOnnxFunction *holo_onnx_function_find(const HoloOnnx *im, const HoloOnnxNodeProto *node)
{
    size_t size = function_key(node->domain, node->op_type, node->overload, im->key, im->key_max);
    return size <= im->key_max ? holo_name_map_find(&im->functions, (HoloString){im->key, size}) : NULL;
}

// ---- a call

// The call's attributes, and defaults for those it does not give.
static HoloStatus join_attrs(HoloOnnx *im, const HoloOnnxFunction *f, const HoloOnnxCall *call, HoloOnnxScope *scope)
{
    HoloAttr *attr  = HOLO_NEW(im->arena, HoloAttr, call->attr_count + f->default_count);
    int       count = 0;
    if (!attr) return holo_fail_memory(im->error);
    for (int i = 0; i < call->attr_count; i++) attr[count++] = call->attr[i];
    for (int i = 0; i < f->default_count; i++)
        if (!holo_onnx_attr_find(call->attr, call->attr_count, f->defaults[i].name)) attr[count++] = f->defaults[i];
    scope->call_attr       = attr;
    scope->call_attr_count = count;
    return HOLO_OK;
}

static HoloStatus bind_ports(HoloOnnx *im, const HoloOnnxFunction *f, const HoloOnnxCall *call, HoloOnnxScope *scope)
{
    HoloPbMany inputs = f->proto.input, outputs = f->proto.output;
    HoloString name;
    if (call->in_count > inputs.count || call->out_count > outputs.count)
        return holo_fail(im->error, HOLO_BAD_MODEL,
                         "node '%s' has %d inputs and %d outputs, but the function '%.*s' has %lld and %lld",
                         call->node, call->in_count, call->out_count, HOLO_IMPORT_ARG(f->proto.name),
                         (long long)inputs.count, (long long)outputs.count);
    for (int i = 0; holo_pb_next_bytes(&inputs, &name); i++)
        HOLO_TRY(holo_onnx_bind(im, scope, name, i < call->in_count ? call->in[i] : NULL, true));
    for (int i = 0; i < call->out_count && holo_pb_next_bytes(&outputs, &name); i++)
        if (call->out[i] && !holo_onnx_binding(scope, name))
            HOLO_TRY(holo_onnx_bind(im, scope, name, call->out[i], false));
    return HOLO_OK;
}

// An output that is an input, or the same as another output, needs a node to be a value of its own.
static HoloStatus copy_value(HoloOnnx *im, const HoloOnnxScope *scope, HoloValue *from, HoloValue *to, const char *name)
{
    int version;
    HOLO_TRY(holo_onnx_version(im, scope, holo_onnx_string(""), name, &version));
    HoloNode *node = holo_graph_node(scope->graph, name, "", "Identity", version, 1, 1, 0);
    if (!node) return holo_fail_memory(im->error);
    node->in[0] = from;
    holo_node_set_out(node, 0, to);
    return HOLO_OK;
}

static HoloStatus finish_outputs(HoloOnnx *im, const HoloOnnxFunction *f, const HoloOnnxCall *call,
                                 HoloOnnxScope *scope)
{
    HoloPbMany outputs = f->proto.output;
    HoloString name;
    for (int i = 0; i < call->out_count && holo_pb_next_bytes(&outputs, &name); i++) {
        const HoloOnnxBinding *binding = holo_onnx_binding(scope, name);
        if (!call->out[i] || (binding && binding->is_defined && binding->value == call->out[i])) continue;
        if (!binding || !binding->is_defined || !binding->value)
            return holo_fail(im->error, HOLO_BAD_MODEL,
                             "node '%s': the function '%.*s' does not define its output '%.*s'", call->node,
                             HOLO_IMPORT_ARG(f->proto.name), HOLO_IMPORT_ARG(name));
        HOLO_TRY(copy_value(im, scope, binding->value, call->out[i], call->node));
    }
    return HOLO_OK;
}

HoloStatus holo_onnx_inline(HoloOnnx *im, HoloOnnxScope *caller, HoloOnnxFunction *f, const HoloOnnxCall *call)
{
    HoloOnnxScope scope = {.graph = caller->graph, .opsets = &f->opsets, .is_function = true};
    scope.captures_end  = &scope.captures;
    scope.depth         = caller->depth + 1;
    scope.prefix        = holo_arena_format(im->arena, "%.200s/", call->node);
    if (!scope.prefix) return holo_fail_memory(im->error);
    if (f->is_active || scope.depth > HOLO_ONNX_DEPTH_MAX)
        return holo_fail(im->error, HOLO_BAD_MODEL, "node '%s': the function '%.*s' %s", call->node,
                         HOLO_IMPORT_ARG(f->proto.name), f->is_active ? "calls itself" : "is nested too deeply");
    HOLO_TRY(join_attrs(im, f, call, &scope));
    HOLO_TRY(bind_ports(im, f, call, &scope));
    f->is_active = true;
    HOLO_TRY(holo_onnx_nodes(im, &scope, f->proto.node));
    f->is_active = false;
    return finish_outputs(im, f, call, &scope);
}
