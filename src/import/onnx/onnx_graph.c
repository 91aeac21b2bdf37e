// onnx_graph.c - turns GraphProto into HoloGraph.
//
// It walks over the nodes twice: the first walk makes a value for every result, the second connects them, so the order
// in the file does not matter. A subgraph that uses a value from outside gets an input for it; at the node, all
// subgraphs then get the same list of these.
#include "import/onnx/onnx.h"

// ---- names

HoloStatus holo_onnx_bind(HoloOnnx *im, HoloOnnxScope *scope, HoloString name, HoloValue *value, bool is_defined)
{
    HoloOnnxBinding *binding = HOLO_NEW(im->arena, HoloOnnxBinding, 1);
    if (!binding || !holo_name_map_set(&scope->names, im->arena, name, binding)) return holo_fail_memory(im->error);
    *binding = (HoloOnnxBinding){value, is_defined};
    return HOLO_OK;
}

// The value that gets the name `name` here. A name may be given only once.
static HoloStatus define(HoloOnnx *im, HoloOnnxScope *scope, HoloString name, HoloValue **out)
{
    HoloOnnxBinding *binding = holo_onnx_binding(scope, name);
    if (binding && binding->is_defined)
        return holo_fail(im->error, HOLO_BAD_MODEL, "value '%.*s' is defined twice in %s", HOLO_IMPORT_ARG(name),
                         scope->is_function ? "a function" : "the graph");
    if (binding) {
        binding->is_defined = true;
        *out                = binding->value;
        return HOLO_OK;
    }
    char *full =
        holo_arena_format(im->arena, "%s%.*s", scope->prefix, (int)(name.size < 4096 ? name.size : 4096), name.data);
    *out = full ? holo_graph_value(scope->graph, full) : NULL;
    return *out ? holo_onnx_bind(im, scope, name, *out, true) : holo_fail_memory(im->error);
}

// The value of `name` in the scope. A value from outside becomes a captured input.
static HoloStatus resolve(HoloOnnx *im, HoloOnnxScope *scope, HoloString name, const char *user, HoloValue **out)
{
    const HoloOnnxBinding *binding = holo_onnx_binding(scope, name);
    if (binding && binding->is_defined) {
        *out = binding->value;
        return HOLO_OK;
    }
    if (!scope->parent)
        return holo_fail(im->error, HOLO_BAD_MODEL, "%s uses value '%.*s', which nothing defines", user,
                         HOLO_IMPORT_ARG(name));
    HoloValue *outer;
    HOLO_TRY(resolve(im, scope->parent, name, user, &outer));
    *out = NULL;
    if (outer) {
        HoloOnnxCapture *capture = HOLO_NEW(im->arena, HoloOnnxCapture, 1);
        *out                     = holo_graph_input(scope->graph, outer->name, &outer->type);
        if (!capture || !*out) return holo_fail_memory(im->error);
        *capture             = (HoloOnnxCapture){.name = name, .outer = outer, .inner = *out};
        *scope->captures_end = capture;
        scope->captures_end  = &capture->next;
    }
    return holo_onnx_bind(im, scope, name, *out, true);
}

// ---- nodes

static HoloStatus read_node(HoloOnnx *im, HoloOnnxScope *scope, HoloString message, int index, HoloOnnxNodeProto *node,
                            const char **out_name)
{
    *node = (HoloOnnxNodeProto){0};
    HOLO_TRY(holo_pb_read(&im->source, "NodeProto", message, holo_onnx_node_fields, node));
    node->domain = holo_onnx_domain(node->domain);
    if (!node->op_type.size)
        return holo_fail(im->error, HOLO_BAD_MODEL, "node %d '%.*s' does not say which operator it is", index,
                         HOLO_IMPORT_ARG(node->name));
    if (node->input.count > INT32_MAX / 2 || node->output.count > INT32_MAX / 2)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "node %d has too many inputs or outputs", index);
    if (node->name.size)
        *out_name = holo_arena_format(im->arena, "%s%.*s", scope->prefix, HOLO_IMPORT_ARG(node->name));
    else
        *out_name = holo_arena_format(im->arena, "%s%.*s_%d", scope->prefix, HOLO_IMPORT_ARG(node->op_type), index);
    return *out_name ? HOLO_OK : holo_fail_memory(im->error);
}

static bool is_constant_node(const HoloOnnx *im, const HoloOnnxNodeProto *node)
{
    return !node->domain.size && holo_string_equal(node->op_type, holo_onnx_string("Constant")) &&
           node->output.count == 1 && !holo_onnx_function_find(im, node);
}

// Inlining multiplies nodes, so their number is limited.
static HoloStatus count_inlined(HoloOnnx *im, const HoloOnnxNodeProto *node)
{
    im->inlined += 1 + node->input.count + node->output.count + node->attribute.count;
    if (im->inlined <= im->inlined_max) return HOLO_OK;
    return holo_fail(im->error, HOLO_UNSUPPORTED, "the functions of the model expand to too many nodes");
}

// The first walk: results become values, Constant nodes become constants.
static HoloStatus declare_node(HoloOnnx *im, HoloOnnxScope *scope, HoloString message, int index)
{
    HoloOnnxNodeProto node;
    const char       *name_text;
    HoloString        name;
    HOLO_TRY(read_node(im, scope, message, index, &node, &name_text));
    if (scope->is_function) HOLO_TRY(count_inlined(im, &node));
    bool is_constant = is_constant_node(im, &node);
    while (holo_pb_next_bytes(&node.output, &name)) {
        HoloValue *value;
        if (!name.size) continue;
        HOLO_TRY(define(im, scope, name, &value));
        if (!is_constant) continue;
        HoloAttr *attr;
        int       count;
        HOLO_TRY(holo_onnx_attrs(im, scope, node.attribute, name_text, &attr, &count, NULL));
        HOLO_TRY(holo_onnx_constant(im, name_text, attr, count, &value->type));
        value->is_constant = true;
    }
    return HOLO_OK;
}

static HoloStatus resolve_all(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany names, const char *node, HoloValue ***out)
{
    HoloString name;
    *out       = HOLO_NEW(im->arena, HoloValue *, names.count);
    char *user = holo_arena_format(im->arena, "node '%s'", node);
    if (!*out || !user) return holo_fail_memory(im->error);
    for (int i = 0; holo_pb_next_bytes(&names, &name); i++)
        if (name.size) HOLO_TRY(resolve(im, scope, name, user, &(*out)[i]));
    return HOLO_OK;
}

// What the bodies of a node capture, without duplicates.
static HoloStatus join_captures(HoloOnnx *im, const HoloOnnxBody *bodies, HoloOnnxCapture ***out, int *out_count)
{
    HoloNameMap seen = {0};
    int         room = 0;
    for (const HoloOnnxBody *body = bodies; body; body = body->next)
        for (HoloOnnxCapture *c = body->captures; c; c = c->next) room++;
    *out_count = 0;
    *out       = HOLO_NEW(im->arena, HoloOnnxCapture *, room);
    if (!*out) return holo_fail_memory(im->error);
    for (const HoloOnnxBody *body = bodies; body; body = body->next)
        for (HoloOnnxCapture *c = body->captures; c; c = c->next) {
            if (holo_name_map_find(&seen, c->name)) continue;
            if (!holo_name_map_set(&seen, im->arena, c->name, c)) return holo_fail_memory(im->error);
            (*out)[(*out_count)++] = c;
        }
    return HOLO_OK;
}

// Makes the captured inputs of a body those of the list, in its order.
static HoloStatus close_body(HoloOnnx *im, const HoloOnnxBody *body, HoloOnnxCapture *const *captures, int count)
{
    HoloNameMap own = {0};
    HoloValue **in  = HOLO_NEW(im->arena, HoloValue *, count);
    if (!in) return holo_fail_memory(im->error);
    for (HoloOnnxCapture *c = body->captures; c; c = c->next)
        if (!holo_name_map_set(&own, im->arena, c->name, c->inner)) return holo_fail_memory(im->error);
    for (int i = 0; i < count; i++) {
        const HoloValue *outer = captures[i]->outer;
        in[i]                  = holo_name_map_find(&own, captures[i]->name);
        if (!in[i]) in[i] = holo_graph_input(body->graph, outer->name, &outer->type);
        if (!in[i]) return holo_fail_memory(im->error);
    }
    for (int i = 0; i < count; i++) body->graph->inputs[body->own_inputs + i] = in[i];
    return HOLO_OK;
}

static HoloStatus add_node(HoloOnnx *im, HoloOnnxScope *scope, const HoloOnnxNodeProto *proto, const HoloOnnxCall *call,
                           HoloOnnxBody *bodies)
{
    HoloOnnxCapture **captures      = NULL;
    int               capture_count = 0, version;
    if (bodies) HOLO_TRY(join_captures(im, bodies, &captures, &capture_count));
    for (const HoloOnnxBody *body = bodies; body; body = body->next)
        HOLO_TRY(close_body(im, body, captures, capture_count));
    HOLO_TRY(holo_onnx_version(im, scope, proto->domain, call->node, &version));
    char *domain = holo_import_text(im->import, proto->domain), *type = holo_import_text(im->import, proto->op_type);
    HoloNode *node = !domain || !type
                         ? NULL
                         : holo_graph_node(scope->graph, call->node, domain, type, version,
                                           call->in_count + capture_count, call->out_count, call->attr_count);
    if (!node) return holo_fail_memory(im->error);
    if (!*domain) HOLO_TRY(holo_onnx_attr_kinds(im, call->node, call->attr, call->attr_count));
    for (const HoloOnnxBody *body = bodies; body && !*domain && !strcmp(type, "Loop"); body = body->next)
        HOLO_TRY(holo_onnx_loop_body(im, body->graph, body->own_inputs));
    for (int i = 0; i < call->in_count; i++) node->in[i] = call->in[i];
    for (int i = 0; i < capture_count; i++) node->in[call->in_count + i] = captures[i]->outer;
    const HoloOp *op = holo_op_find(domain, type, version);
    for (int i = 0; i < call->out_count; i++) {
        // An output that the operator always gives exists even if the model has no name for it.
        HoloValue *out = call->out[i];
        if (!out && op && i < op->out_min && !(out = holo_graph_value(scope->graph, NULL)))
            return holo_fail_memory(im->error);
        holo_node_set_out(node, i, out);
    }
    for (int i = 0; i < call->attr_count; i++) node->attr[i] = call->attr[i];
    node->capture_count = capture_count;
    return HOLO_OK;
}

// The second walk: connects a node, or replaces it by its function.
static HoloStatus connect_node(HoloOnnx *im, HoloOnnxScope *scope, HoloString message, int index)
{
    HoloOnnxNodeProto node;
    HoloOnnxCall      call   = {0};
    HoloOnnxBody     *bodies = NULL;
    HOLO_TRY(read_node(im, scope, message, index, &node, &call.node));
    if (is_constant_node(im, &node)) return HOLO_OK;
    HoloOnnxFunction *function = holo_onnx_function_find(im, &node);
    call.in_count              = (int)node.input.count;
    call.out_count             = (int)node.output.count;
    HOLO_TRY(resolve_all(im, scope, node.input, call.node, &call.in));
    HOLO_TRY(resolve_all(im, scope, node.output, call.node, &call.out));
    HOLO_TRY(
        holo_onnx_attrs(im, scope, node.attribute, call.node, &call.attr, &call.attr_count, function ? NULL : &bodies));
    return function ? holo_onnx_inline(im, scope, function, &call) : add_node(im, scope, &node, &call, bodies);
}

HoloStatus holo_onnx_nodes(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany nodes)
{
    HoloPbMany again = nodes;
    HoloString message;
    for (int i = 0; holo_pb_next_bytes(&nodes, &message); i++) HOLO_TRY(declare_node(im, scope, message, i));
    for (int i = 0; holo_pb_next_bytes(&again, &message); i++) HOLO_TRY(connect_node(im, scope, message, i));
    return HOLO_OK;
}

// ---- a graph

typedef HoloStatus (*ReadTensor)(HoloOnnx *im, HoloString message, HoloTensor *out, HoloString *out_name);

static HoloStatus add_initializers(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany list, ReadTensor read)
{
    HoloString message, name;
    while (holo_pb_next_bytes(&list, &message)) {
        HoloTensor tensor;
        HoloValue *value;
        HOLO_TRY(read(im, message, &tensor, &name));
        if (!name.size) return holo_fail(im->error, HOLO_BAD_MODEL, "an initializer has no name");
        const HoloOnnxBinding *binding = holo_onnx_binding(scope, name);
        if (binding && binding->value->is_input) continue; // a body's input is always given
        if (binding && binding->value->is_constant)
            value = binding->value; // given twice: the last one counts
        else
            HOLO_TRY(define(im, scope, name, &value));
        value->type        = tensor;
        value->is_constant = true;
    }
    return HOLO_OK;
}

static HoloStatus add_inputs(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany list)
{
    HoloString message;
    while (holo_pb_next_bytes(&list, &message)) {
        HoloOnnxValueInfoProto info = {0};
        HoloTensor             type;
        HOLO_TRY(holo_pb_read(&im->source, "ValueInfoProto", message, holo_onnx_value_info_fields, &info));
        HOLO_TRY(holo_onnx_type(im, info.type, scope->parent ? NULL : im->dims, &type));
        const HoloOnnxBinding *binding = holo_onnx_binding(scope, info.name);
        if (binding && binding->value->is_constant) continue; // an input with a default: the default counts
        if (!info.name.size) return holo_fail(im->error, HOLO_BAD_MODEL, "an input of the graph has no name");
        if (binding)
            return holo_fail(im->error, HOLO_BAD_MODEL, "input '%.*s' occurs twice", HOLO_IMPORT_ARG(info.name));
        if (!scope->parent && type.dtype == HOLO_NONE)
            return holo_fail(im->error, HOLO_UNSUPPORTED, "input '%.*s' has no type, or an unsupported one",
                             HOLO_IMPORT_ARG(info.name));
        char      *name  = holo_import_text(im->import, info.name);
        HoloValue *value = name ? holo_graph_input(scope->graph, name, &type) : NULL;
        if (!value) return holo_fail_memory(im->error);
        HOLO_TRY(holo_onnx_bind(im, scope, info.name, value, true));
    }
    return HOLO_OK;
}

static HoloStatus add_outputs(HoloOnnx *im, HoloOnnxScope *scope, HoloPbMany list)
{
    HoloString message;
    while (holo_pb_next_bytes(&list, &message)) {
        HoloOnnxValueInfoProto info = {0};
        HoloValue             *value;
        HOLO_TRY(holo_pb_read(&im->source, "ValueInfoProto", message, holo_onnx_value_info_fields, &info));
        HOLO_TRY(resolve(im, scope, info.name, "an output of the graph", &value));
        if (!value)
            return holo_fail(im->error, HOLO_BAD_MODEL, "output '%.*s' is an optional input that was left out",
                             HOLO_IMPORT_ARG(info.name));
        if (value->producer && value->type.dtype == HOLO_NONE)
            HOLO_TRY(holo_onnx_type(im, info.type, NULL, &value->type)); // a hint, until types are inferred
        if (!holo_graph_output(scope->graph, value)) return holo_fail_memory(im->error);
    }
    return HOLO_OK;
}

static HoloStatus fill_graph(HoloOnnx *im, HoloOnnxScope *scope, const HoloOnnxGraphProto *proto, HoloOnnxBody *out)
{
    if (scope->parent) HOLO_TRY(add_inputs(im, scope, proto->input));
    HOLO_TRY(add_initializers(im, scope, proto->initializer, holo_onnx_tensor));
    HOLO_TRY(add_initializers(im, scope, proto->sparse_initializer, holo_onnx_sparse));
    if (!scope->parent) HOLO_TRY(add_inputs(im, scope, proto->input));
    out->own_inputs = scope->graph->input_count;
    HOLO_TRY(holo_onnx_nodes(im, scope, proto->node));
    HOLO_TRY(add_outputs(im, scope, proto->output));
    out->captures = scope->captures;
    return holo_graph_sort(scope->graph, im->error);
}

HoloStatus holo_onnx_graph(HoloOnnx *im, HoloString message, HoloOnnxScope *parent, HoloOnnxBody *out)
{
    HoloOnnxGraphProto proto = {0};
    HOLO_TRY(holo_pb_read(&im->source, "GraphProto", message, holo_onnx_graph_fields, &proto));
    HoloOnnxScope scope = {.parent = parent, .prefix = ""};
    scope.captures_end  = &scope.captures;
    if (parent) {
        scope.opsets          = parent->opsets;
        scope.call_attr       = parent->call_attr;
        scope.call_attr_count = parent->call_attr_count;
        scope.is_function     = parent->is_function;
        scope.depth           = parent->depth + 1;
    }
    if (scope.depth > HOLO_ONNX_DEPTH_MAX)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "subgraphs are nested more than %d deep", HOLO_ONNX_DEPTH_MAX);
    char *name  = holo_import_text(im->import, proto.name);
    scope.graph = name ? holo_graph_create(im->arena, im->dims, name) : NULL;
    if (!scope.graph) return holo_fail_memory(im->error);
    out->graph = scope.graph;
    return fill_graph(im, &scope, &proto, out);
}
