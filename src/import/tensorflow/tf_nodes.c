// tf_nodes.c - nodes and functions of TensorFlow graphs, as they are in the file.
#include "import/tensorflow/tf.h"

#include <stdlib.h>

void holo_flow_init(HoloFlow *tf, HoloImport *import, const void *start)
{
    *tf          = (HoloFlow){.import = import, .arena = import->arena, .error = import->error};
    tf->source   = (HoloPbSource){start, import->error};
    tf->work_max = (1 << 16) + (int64_t)(import->out ? import->out->bytes / 8 : 0);
}

bool holo_flow_is(HoloString a, const char *b)
{
    size_t size = strlen(b);
    return a.size == size && !memcmp(a.data, b, size);
}

char *holo_flow_text(HoloFlow *tf, HoloString text)
{
    return holo_import_text(tf->import, text);
}

// ---- the tables of operators

HoloStatus holo_flow_list_rows(HoloFlow *tf)
{
    for (int t = 0; holo_flow_tables[t]; t++)
        for (const HoloFlowOp *row = holo_flow_tables[t]; row->name; row++)
            if (!holo_name_map_set(&tf->rows, tf->arena, (HoloString){row->name, strlen(row->name)}, (void *)row))
                return holo_fail_memory(tf->error);
    return HOLO_OK;
}

const HoloFlowOp *holo_flow_find(HoloFlow *tf, HoloString name)
{
    return holo_name_map_find(&tf->rows, name);
}

// ---- references

HoloFlowRef holo_flow_ref(HoloString text)
{
    HoloFlowRef ref   = {text, {"", 0}, 0};
    const char *colon = text.size ? memchr(text.data, ':', text.size) : NULL;
    if (!colon) return ref;
    const char *rest = colon + 1, *end = text.data + text.size;
    ref.node.size    = (size_t)(colon - text.data);
    const char *next = memchr(rest, ':', (size_t)(end - rest));
    if (next) {
        ref.out = (HoloString){rest, (size_t)(next - rest)};
        rest    = next + 1;
    }
    for (; rest < end && *rest >= '0' && *rest <= '9' && ref.index < 1000000; rest++)
        ref.index = ref.index * 10 + (*rest - '0');
    if (rest == colon + 1 && !next) ref.out = (HoloString){rest, (size_t)(end - rest)}; // "node:name"
    return ref;
}

// ---- nodes

static HoloStatus read_inputs(HoloFlow *tf, HoloPbMany list, HoloFlowNode *node)
{
    HoloString text;
    node->in      = HOLO_NEW(tf->arena, HoloString, list.count + 1);
    node->control = HOLO_NEW(tf->arena, HoloString, list.count + 1);
    if (!node->in || !node->control) return holo_fail_memory(tf->error);
    while (holo_pb_next_bytes(&list, &text))
        if (text.size && text.data[0] == '^')
            node->control[node->control_count++] = (HoloString){text.data + 1, text.size - 1};
        else
            node->in[node->in_count++] = text;
    return HOLO_OK;
}

HoloStatus holo_flow_read_nodes(HoloFlow *tf, HoloPbMany list, HoloFlowNodes *out)
{
    HoloString message;
    if (list.count > INT32_MAX / 2) return holo_fail(tf->error, HOLO_BAD_MODEL, "the graph has too many nodes");
    out->node = HOLO_NEW(tf->arena, HoloFlowNode, list.count + 1);
    if (!out->node) return holo_fail_memory(tf->error);
    while (holo_pb_next_bytes(&list, &message)) {
        HoloFlowNodeProto proto = {0};
        HoloFlowNode     *node  = &out->node[out->count];
        HOLO_TRY(holo_pb_read(&tf->source, "NodeDef", message, holo_flow_node_fields, &proto));
        if (!proto.name.size || !proto.op.size)
            return holo_fail(tf->error, HOLO_BAD_MODEL, "a node has no name or no operator");
        if (holo_name_map_find(&out->names, proto.name))
            return holo_fail(tf->error, HOLO_BAD_MODEL, "two nodes are called '%.*s'", HOLO_IMPORT_ARG(proto.name));
        *node     = (HoloFlowNode){.name = proto.name, .op = proto.op, .attr = proto.attr, .index = out->count};
        node->row = holo_flow_find(tf, proto.op);
        HOLO_TRY(read_inputs(tf, proto.input, node));
        if (!holo_name_map_set(&out->names, tf->arena, node->name, node)) return holo_fail_memory(tf->error);
        out->count++;
    }
    return holo_flow_find_frames(tf, out);
}

// ---- functions

HoloStatus holo_flow_read_library(HoloFlow *tf, HoloString message)
{
    HoloFlowLibraryProto library = {0};
    HoloString           bytes;
    HOLO_TRY(holo_pb_read(&tf->source, "FunctionDefLibrary", message, holo_flow_library_fields, &library));
    while (holo_pb_next_bytes(&library.function, &bytes)) {
        HoloFlowFunctionProto proto     = {0};
        HoloFlowOpProto       signature = {0};
        HoloFlowFunction     *function  = HOLO_NEW(tf->arena, HoloFlowFunction, 1);
        if (!function) return holo_fail_memory(tf->error);
        HOLO_TRY(holo_pb_read(&tf->source, "FunctionDef", bytes, holo_flow_function_fields, &proto));
        HOLO_TRY(holo_pb_read(&tf->source, "OpDef", proto.signature, holo_flow_op_fields, &signature));
        *function = (HoloFlowFunction){.name = signature.name, .message = bytes};
        if (!signature.name.size) return holo_fail(tf->error, HOLO_BAD_MODEL, "a function has no name");
        if (!holo_name_map_set(&tf->functions, tf->arena, function->name, function)) return holo_fail_memory(tf->error);
    }
    return HOLO_OK;
}

static HoloStatus read_args(HoloFlow *tf, HoloPbMany list, HoloString **out, int *out_count)
{
    HoloString message;
    *out = HOLO_NEW(tf->arena, HoloString, list.count + 1);
    if (!*out) return holo_fail_memory(tf->error);
    while (holo_pb_next_bytes(&list, &message)) {
        HoloFlowArgProto arg = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "ArgDef", message, holo_flow_arg_fields, &arg));
        (*out)[(*out_count)++] = arg.name;
    }
    return HOLO_OK;
}

// What the outputs refer to, in the order of the signature.
static HoloStatus read_returns(HoloFlow *tf, HoloPbMany list, HoloFlowFunction *f)
{
    HoloString  message;
    HoloString *ret = HOLO_NEW(tf->arena, HoloString, f->ret_count + 1);
    if (!ret) return holo_fail_memory(tf->error);
    while (holo_pb_next_bytes(&list, &message)) {
        HoloFlowEntryProto entry = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "RetEntry", message, holo_flow_attr_entry_fields, &entry));
        for (int i = 0; i < f->ret_count; i++)
            if (f->ret[i].size == entry.key.size && !memcmp(f->ret[i].data, entry.key.data, entry.key.size))
                ret[i] = entry.value;
    }
    for (int i = 0; i < f->ret_count; i++)
        if (!ret[i].size)
            return holo_fail(tf->error, HOLO_BAD_MODEL, "function '%.*s' does not say what its output '%.*s' is",
                             HOLO_IMPORT_ARG(f->name), HOLO_IMPORT_ARG(f->ret[i]));
    f->ret = ret;
    return HOLO_OK;
}

static HoloStatus read_function(HoloFlow *tf, HoloFlowFunction *f)
{
    HoloFlowFunctionProto proto     = {0};
    HoloFlowOpProto       signature = {0};
    HOLO_TRY(holo_pb_read(&tf->source, "FunctionDef", f->message, holo_flow_function_fields, &proto));
    HOLO_TRY(holo_pb_read(&tf->source, "OpDef", proto.signature, holo_flow_op_fields, &signature));
    HOLO_TRY(read_args(tf, signature.input_arg, &f->arg, &f->arg_count));
    HOLO_TRY(read_args(tf, signature.output_arg, &f->ret, &f->ret_count));
    HOLO_TRY(read_returns(tf, proto.ret, f));
    f->is_read = true;
    return holo_flow_read_nodes(tf, proto.node_def, &f->nodes);
}

HoloFlowFunction *holo_flow_function(HoloFlow *tf, HoloString name, HoloStatus *status)
{
    HoloFlowFunction *function = holo_name_map_find(&tf->functions, name);
    *status                    = HOLO_OK;
    if (!function || function->is_read) return function;
    *status = read_function(tf, function);
    return *status ? NULL : function;
}

HoloStatus holo_flow_graph(HoloFlow *tf, HoloString message)
{
    HoloFlowGraphProto    graph    = {0};
    HoloFlowVersionsProto versions = {0};
    HoloFlowNodes        *nodes    = HOLO_NEW(tf->arena, HoloFlowNodes, 1);
    char                  text[32];
    if (!nodes) return holo_fail_memory(tf->error);
    HOLO_TRY(holo_flow_list_rows(tf));
    HOLO_TRY(holo_pb_read(&tf->source, "GraphDef", message, holo_flow_graph_fields, &graph));
    HOLO_TRY(holo_pb_read(&tf->source, "VersionDef", graph.versions, holo_flow_versions_fields, &versions));
    HOLO_TRY(holo_flow_read_library(tf, graph.library));
    HOLO_TRY(holo_flow_read_nodes(tf, graph.node, nodes));
    snprintf(text, sizeof text, "%lld", (long long)versions.producer);
    if (versions.producer) HOLO_TRY(holo_import_fact(tf->import, "graph_version", text));
    return holo_flow_scope_init(tf, &tf->main, nodes, &tf->emit);
}
