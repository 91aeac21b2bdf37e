// graphdef.c - frozen TensorFlow graphs: GraphDef, in binary (.pb) and in text form (.pbtxt).
#include "base/bytes.h"
#include "import/tensorflow/bundle.h"
#include "import/wire/protobuf_text.h"

// The checkpoint beside a graph that is not frozen: the file `checkpoint` names it.
static HoloStatus open_checkpoint(HoloFlow *tf, HoloFlowBundle *bundle)
{
    HoloError   *error = tf->error;
    HoloMapping *file  = NULL;
    bool         needs = false;
    for (int i = 0; i < tf->main.nodes->count; i++)
        needs |= holo_flow_is(tf->main.nodes->node[i].op, "VariableV2") ||
                 holo_flow_is(tf->main.nodes->node[i].op, "VarHandleOp");
    if (!needs || !tf->import->from->path) return HOLO_OK;
    tf->import->error = NULL; // if it is missing, the first variable says so
    HoloStatus none   = holo_import_map(tf->import, (HoloString){"checkpoint", 10}, &file);
    tf->import->error = error;
    const char *key   = none ? NULL : holo_bytes_find(file->data, file->size, "model_checkpoint_path: \"", 24);
    const char *end   = key ? memchr(key + 24, '"', (size_t)((const char *)file->data + file->size - key - 24)) : NULL;
    if (!end) return HOLO_OK;
    char *prefix = holo_flow_text(tf, (HoloString){key + 24, (size_t)(end - key - 24)});
    if (!prefix) return holo_fail_memory(tf->error);
    HOLO_TRY(holo_flow_bundle_open(tf, holo_path_name(prefix), bundle));
    return holo_flow_bundle_use(tf, bundle);
}

static HoloStatus open_graph(HoloImport *import, HoloString message)
{
    HoloFlow       tf;
    HoloFlowBundle bundle;
    HoloFlowPorts  ports = {0};
    holo_flow_init(&tf, import, message.data);
    HOLO_TRY(holo_flow_graph(&tf, message));
    HOLO_TRY(open_checkpoint(&tf, &bundle));
    HOLO_TRY(holo_flow_guess_ports(&tf, &ports));
    return holo_flow_build(&tf, &ports);
}

static HoloStatus open_binary(HoloImport *import)
{
    return open_graph(import, (HoloString){import->from->file.data, import->from->file.size});
}

static HoloStatus open_text(HoloImport *import)
{
    HoloString message;
    HOLO_TRY(holo_pb_from_text(import->arena, (HoloString){import->from->file.data, import->from->file.size},
                               holo_flow_graph_fields, holo_flow_constant, &message, import->error));
    return open_graph(import, message);
}

// A list of messages, the first of which has a name and an operator.
static HoloSniff sniff_binary(const HoloOffer *c)
{
    static const HoloPbSource quiet = {0};
    const uint8_t            *bytes = c->file.data;
    HoloFlowNodeProto         node  = {0};
    if (c->is_folder || c->file.size < 8 || bytes[0] != 0x0a) return HOLO_SNIFF_NONE;
    size_t at = 1, size = 0;
    for (int shift = 0; at < c->file.size && shift < 28; shift += 7) {
        size |= (size_t)(bytes[at] & 0x7f) << shift;
        if (bytes[at++] < 0x80) break;
    }
    if (size < 4 || size > c->file.size - at) return HOLO_SNIFF_NONE;
    if (holo_pb_read(&quiet, "", (HoloString){(const char *)bytes + at, size}, holo_flow_node_fields, &node))
        return HOLO_SNIFF_NONE;
    if (!node.name.size || !node.op.size || node.op.data[0] < 'A' || node.op.data[0] > '_') return HOLO_SNIFF_NONE;
    bool is_known = holo_offer_mentions(c, "Placeholder") || holo_offer_mentions(c, "Const");
    if (c->path && !strcmp(holo_path_name(c->path), "tensorflowjs_model.pb"))
        is_known = false; // TensorFlow.js reads it
    return is_known ? HOLO_SNIFF_SURE : HOLO_SNIFF_PERHAPS;
}

static HoloSniff sniff_text(const HoloOffer *c)
{
    const char *bytes = c->file.data;
    size_t      size = c->file.size < 4096 ? c->file.size : 4096, at = 0;
    if (c->is_folder) return HOLO_SNIFF_NONE;
    while (at < size && (strchr(" \t\r\n", bytes[at]) || bytes[at] == '#') && bytes[at])
        if (bytes[at++] == '#')
            while (at < size && bytes[at] != '\n') at++;
    if (size - at < 6 || (memcmp(bytes + at, "node {", 6) && memcmp(bytes + at, "node{", 5))) return HOLO_SNIFF_NONE;
    return holo_bytes_find(bytes, size, "op:", 3) ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_graphdef[] = {
    {.name = "TensorFlow", .words = "a TensorFlow graph", .is_model = true, .sniff = sniff_binary, .open = open_binary},
    {.name     = "TensorFlow text",
     .words    = "a TensorFlow graph in text form",
     .is_model = true,
     .sniff    = sniff_text,
     .open     = open_text},
    {0},
};
