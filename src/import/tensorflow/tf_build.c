// tf_build.c - makes a model's graph from the nodes of a TensorFlow graph: its inputs, outputs, and what they need.
#include "import/tensorflow/tf.h"

#include <stdio.h>

// ---- what is not supported, all at once

typedef struct Search {
    HoloFlow   *tf;
    HoloValue  *missing;   // what the first node gives that is not supported; NULL: there is none
    HoloNameMap functions; // that were looked at
} Search;

// The node becomes one of a domain of its own: inspect and the compiler list all such nodes.
static HoloStatus add_missing(Search *s, const HoloFlowNode *node)
{
    HoloEmit *e = &s->tf->emit;
    char      op[160];
    snprintf(op, sizeof op, "tensorflow::%.*s", (int)(node->op.size < 120 ? node->op.size : 120), node->op.data);
    e->node          = holo_flow_text(s->tf, node->name);
    HoloValue *value = holo_emit(e, op, (HoloEmitIn){0, NULL}, NULL);
    e->node          = NULL;
    if (!s->missing) s->missing = value;
    return e->status;
}

static HoloStatus search_nodes(Search *s, const HoloFlowNodes *nodes, const HoloString *outputs, int count, int depth);

static HoloStatus search_function(Search *s, HoloString name, int depth)
{
    HoloStatus        status;
    HoloFlowFunction *function = holo_flow_function(s->tf, name, &status);
    if (!function || holo_name_map_find(&s->functions, name)) return status;
    if (depth > HOLO_FLOW_DEPTH_MAX) return holo_fail(s->tf->error, HOLO_BAD_MODEL, "functions are nested too deeply");
    if (!holo_name_map_set(&s->functions, s->tf->arena, name, function)) return holo_fail_memory(s->tf->error);
    return search_nodes(s, &function->nodes, function->ret, function->ret_count, depth + 1);
}

static HoloStatus search_call(Search *s, HoloString message, int depth)
{
    HoloFlowCallProto call = {0};
    HOLO_TRY(holo_pb_read(&s->tf->source, "NameAttrList", message, holo_flow_call_fields, &call));
    return search_function(s, call.name, depth);
}

// The functions that a node calls.
static HoloStatus search_calls(Search *s, const HoloFlowNode *node, int depth)
{
    HoloPbMany list = node->attr;
    HoloString message;
    HOLO_TRY(search_function(s, node->op, depth));
    while (holo_pb_next_bytes(&list, &message)) {
        HoloFlowEntryProto entry = {0};
        HoloFlowAttrProto  attr  = {0};
        HoloFlowListProto  many  = {0};
        HOLO_TRY(holo_pb_read(&s->tf->source, "AttrEntry", message, holo_flow_attr_entry_fields, &entry));
        HOLO_TRY(holo_pb_read(&s->tf->source, "AttrValue", entry.value, holo_flow_attr_fields, &attr));
        if (holo_pb_has(attr.has, HOLO_FLOW_ATTR_FUNC)) HOLO_TRY(search_call(s, attr.func, depth));
        if (!holo_pb_has(attr.has, HOLO_FLOW_ATTR_LIST)) continue;
        HOLO_TRY(holo_pb_read(&s->tf->source, "ListValue", attr.list, holo_flow_list_fields, &many));
        while (holo_pb_next_bytes(&many.func, &message)) HOLO_TRY(search_call(s, message, depth));
    }
    return HOLO_OK;
}

// All nodes that the outputs need, each once.
static HoloStatus search_nodes(Search *s, const HoloFlowNodes *nodes, const HoloString *outputs, int count, int depth)
{
    uint8_t             *seen = HOLO_NEW(s->tf->arena, uint8_t, nodes->count + 1);
    const HoloFlowNode **list = HOLO_NEW(s->tf->arena, const HoloFlowNode *, nodes->count + 1);
    int                  used = 0;
    if (!seen || !list) return holo_fail_memory(s->tf->error);
    for (int i = -1; i < used; i++) {
        const HoloString *in    = i < 0 ? outputs : list[i]->in;
        int               edges = i < 0 ? count : list[i]->in_count;
        for (int k = 0; k < edges; k++) {
            const HoloFlowNode *node = holo_name_map_find(&nodes->names, holo_flow_ref(in[k]).node);
            if (!node || seen[node->index]) continue;
            seen[node->index] = 1;
            list[used++]      = node;
        }
    }
    for (int i = 0; i < used; i++) {
        bool is_function = holo_name_map_find(&s->tf->functions, list[i]->op) != NULL;
        if (!list[i]->row && !is_function) HOLO_TRY(add_missing(s, list[i]));
        HOLO_TRY(search_calls(s, list[i], depth));
    }
    return HOLO_OK;
}

// Emits the nodes that the outputs need and that are not supported. True: there are such nodes, and nothing follows from
// the outputs but their names.
static bool emit_missing(HoloFlow *tf, const HoloFlowPorts *ports)
{
    Search      s       = {.tf = tf};
    HoloString *outputs = HOLO_NEW(tf->arena, HoloString, ports->out_count + 1);
    if (!outputs) {
        tf->emit.status = holo_fail_memory(tf->error);
        return true;
    }
    for (int i = 0; i < ports->out_count; i++) outputs[i] = ports->out[i].ref;
    HoloStatus status = search_nodes(&s, tf->main.nodes, outputs, ports->out_count, 0);
    if (status && !tf->emit.status) tf->emit.status = status;
    for (int i = 0; s.missing && i < ports->out_count; i++) holo_emit_output(&tf->emit, s.missing, ports->out[i].name);
    return s.missing || tf->emit.status;
}

// ---- inputs and outputs of a graph without a signature

HoloStatus holo_flow_guess_ports(HoloFlow *tf, HoloFlowPorts *out)
{
    const HoloFlowNodes *nodes = tf->main.nodes;
    uint8_t             *used  = HOLO_NEW(tf->arena, uint8_t, nodes->count + 1);
    if (!used) return holo_fail_memory(tf->error);
    for (int i = 0; i < nodes->count; i++)
        for (int k = 0; k < nodes->node[i].in_count; k++) {
            const HoloFlowNode *node = holo_name_map_find(&nodes->names, holo_flow_ref(nodes->node[i].in[k]).node);
            if (node) used[node->index] = 1;
        }
    for (int i = 0; i < nodes->count; i++) {
        const HoloFlowNode *node     = &nodes->node[i];
        HoloFlowPort        port     = {.name = holo_flow_text(tf, node->name), .ref = node->name};
        bool                is_input = holo_flow_is(node->op, "Placeholder") || holo_flow_is(node->op, "PlaceholderV2");
        bool                is_output = !used[i] && !is_input && !holo_flow_is(node->op, "Const") &&
                         !(node->row && node->row->flags & HOLO_FLOW_STATE);
        if (!port.name) return holo_fail_memory(tf->error);
        if (is_input) {
            if (!HOLO_GROW(tf->arena, out->in, out->in_count, out->in_room)) return holo_fail_memory(tf->error);
            out->in[out->in_count++] = port;
        }
        if (is_output) {
            if (!HOLO_GROW(tf->arena, out->out, out->out_count, out->out_room)) return holo_fail_memory(tf->error);
            out->out[out->out_count++] = port;
        }
    }
    if (!out->out_count) return holo_fail(tf->error, HOLO_BAD_MODEL, "the graph has no outputs");
    return HOLO_OK;
}

// ---- building

// Sizes that are open become symbols: the first one of each input "batch", if it leads the shape. That of a list, and of
// a picture by itself ([height, width, 3]), belongs to the input alone.
static void name_sizes(HoloFlow *tf, const char *name, HoloTensor *type)
{
    bool is_picture = type->rank == 3 && type->dim[1] == HOLO_DIM_UNKNOWN && type->dim[2] >= 1 && type->dim[2] <= 4;
    for (int i = 0; i < type->rank; i++)
        if (type->dim[i] == HOLO_DIM_UNKNOWN) {
            bool        is_own = i > 0 || type->rank == 1 || is_picture;
            const char *symbol = is_own ? holo_arena_format(tf->arena, "%s_dim_%d", name, i) : "batch";
            type->dim[i]       = holo_dims_symbol(tf->emit.graph->dims, symbol ? symbol : "batch");
        }
}

static HoloStatus input_type(HoloFlow *tf, const HoloFlowPort *port, const HoloFlowNode *node, HoloTensor *out)
{
    HoloFlowCall c = {.tf = tf, .e = &tf->emit, .scope = &tf->main, .node = node, .op = node->row};
    HoloTensor   shape;
    *out       = port->type;
    out->dtype = (uint8_t)(out->dtype ? out->dtype : holo_flow_type(&c, "dtype"));
    if (!port->type.dtype || out->rank < 0) {
        holo_flow_shape(&c, "shape", &shape);
        if (shape.rank < 0) holo_flow_shape(&c, "_output_shapes", &shape);
        out->rank = shape.rank;
        memcpy(out->dim, shape.dim, sizeof out->dim);
    }
    holo_flow_shape(&c, "shape", &shape);
    for (int i = 0; tf->is_js && shape.rank == out->rank && i < out->rank; i++) // TensorFlow.js goes by the node
        if (shape.dim[i] == HOLO_DIM_UNKNOWN) out->dim[i] = HOLO_DIM_UNKNOWN;
    HoloClass kind = holo_dtype_class((HoloDtype)out->dtype);
    if (tf->is_js && (kind == HOLO_CLASS_INT || kind == HOLO_CLASS_UINT)) out->dtype = HOLO_I32; // it has no others
    if (tf->is_js && kind == HOLO_CLASS_FLOAT) out->dtype = HOLO_F32;
    if (out->dtype == HOLO_NONE)
        return holo_fail(tf->error, HOLO_UNSUPPORTED, "input '%s' has no type, or one that does not exist here",
                         port->name);
    for (int i = 0; i < tf->import->told_count && out->rank < 0; i++) {
        const HoloToldInput *told = &tf->import->told[i];
        if (strcmp(told->name, port->name)) continue;
        out->rank = told->type.rank;
        memcpy(out->dim, told->type.dim, sizeof out->dim);
    }
    if (out->rank < 0)
        return holo_fail(tf->error, HOLO_UNSUPPORTED,
                         "input '%s' has no shape: the number of its dimensions must be known. Tell it: --input-shape "
                         "%s:1,2,3",
                         port->name, port->name);
    return tf->emit.status;
}

static HoloStatus add_inputs(HoloFlow *tf, const HoloFlowPorts *ports)
{
    for (int i = 0; i < ports->in_count; i++) {
        const HoloFlowPort *port = &ports->in[i];
        const HoloFlowNode *node = holo_name_map_find(&tf->main.nodes->names, holo_flow_ref(port->ref).node);
        HoloTensor          type;
        HoloFlowValue      *out = HOLO_NEW(tf->arena, HoloFlowValue, 1);
        if (!node)
            return holo_fail(tf->error, HOLO_BAD_MODEL, "input '%s' is node '%.*s', which does not exist", port->name,
                             HOLO_IMPORT_ARG(port->ref));
        if (!out) return holo_fail_memory(tf->error);
        HOLO_TRY(input_type(tf, port, node, &type));
        name_sizes(tf, port->name, &type);
        out->kind                       = HOLO_FLOW_TENSOR;
        out->value                      = holo_emit_input(&tf->emit, port->name, &type);
        tf->main.out[node->index]       = out;
        tf->main.out_count[node->index] = 1;
        tf->main.state[node->index]     = 2;
    }
    return tf->emit.status;
}

static HoloStatus add_outputs(HoloFlow *tf, const HoloFlowPorts *ports)
{
    for (int i = 0; i < ports->out_count; i++) {
        HoloFlowValue value = holo_flow_value(&tf->main, ports->out[i].ref);
        tf->emit.node       = ports->out[i].name;
        if (value.kind != HOLO_FLOW_TENSOR && !tf->emit.status)
            holo_emit_fail(&tf->emit, HOLO_UNSUPPORTED, "this output is not a tensor");
        holo_emit_output(&tf->emit, value.value, ports->out[i].name);
        tf->emit.node = NULL;
    }
    return tf->emit.status;
}

HoloStatus holo_flow_build(HoloFlow *tf, const HoloFlowPorts *ports)
{
    holo_emit_begin(&tf->emit, tf->import, "tensorflow");
    HoloStatus status = tf->emit.status;
    if (!status) status = add_inputs(tf, ports);
    if (!status && !emit_missing(tf, ports)) status = add_outputs(tf, ports);
    if (!status) status = tf->emit.status;
    tf->import->out->graph = tf->emit.graph;
    holo_emit_end(&tf->emit);
    return status;
}
