// tfjs_graph.c - graph models of TensorFlow.js: a GraphDef in JSON, whose constants are weights by the same names.
#include "import/tensorflow/tf.h"
#include "import/tensorflow/tfjs.h"
#include "import/wire/protobuf_text.h"
#include "ops/tensor.h"

// TensorFlow.js has no 64-bit numbers: a constant that should have them is stored in 32 bits.
static HoloStatus widen(HoloFlow *tf, HoloString key, HoloDtype dtype, HoloTensor *out)
{
    HoloTensor from  = *out;
    int64_t    count = holo_tensor_count(out);
    if (from.dtype != HOLO_I32 || dtype != HOLO_I64) return HOLO_OK;
    out->dtype = HOLO_I64;
    if (!count) return HOLO_OK;
    HOLO_TRY(holo_import_take(tf->import, key, count, 8, &out->data));
    for (int64_t i = 0; i < count; i++) holo_put_i(out, i, holo_get_i(&from, i));
    return HOLO_OK;
}

static HoloStatus find_weight(HoloFlow *tf, HoloString key, HoloDtype dtype, HoloTensor *out, bool *found)
{
    HoloTfjs       *js     = tf->format;
    HoloTfjsWeight *weight = holo_name_map_find(&js->names, key);
    *found                 = weight != NULL;
    if (!weight) return HOLO_OK;
    HOLO_TRY(holo_tfjs_weight(js, weight, out));
    return widen(tf, key, dtype, out);
}

// A name without ":0".
static HoloString node_name(HoloString ref)
{
    HoloFlowRef cut = holo_flow_ref(ref);
    return cut.index ? ref : cut.node;
}

static HoloStatus add_port(HoloFlow *tf, HoloFlowPort **list, int *count, int *room, HoloString ref, const json_t *info)
{
    HoloFlowPort port = {.ref = node_name(ref), .type = {.rank = -1}};
    HoloString   message;
    if (!holo_name_map_find(&tf->main.nodes->names, holo_flow_ref(ref).node))
        return HOLO_OK; // tfjs passes it over, too
    HoloFlowTensorInfoProto proto = {0};
    HOLO_TRY(holo_pb_from_json(tf->arena, info, holo_flow_tensor_info_fields, holo_flow_constant, &message, tf->error));
    HOLO_TRY(holo_pb_read(&tf->source, "TensorInfo", message, holo_flow_tensor_info_fields, &proto));
    port.type.dtype = (uint8_t)holo_flow_dtype(proto.dtype);
    if (proto.tensor_shape.data) HOLO_TRY(holo_flow_read_shape(tf, proto.tensor_shape, &port.type));
    port.name = holo_flow_text(tf, port.ref);
    if (!port.name || !HOLO_GROW(tf->arena, *list, *count, *room)) return holo_fail_memory(tf->error);
    (*list)[(*count)++] = port;
    return HOLO_OK;
}

static HoloStatus read_signature(HoloFlow *tf, const json_t *signature, HoloFlowPorts *ports)
{
    const char *key;
    json_t     *info;
    for (int side = 0; side < 2; side++)
        json_object_foreach(json_object_get(signature, side ? "outputs" : "inputs"), key, info)
        {
            const json_t *name = json_object_get(info, "name");
            HoloString    ref  = {json_is_string(name) ? json_string_value(name) : key, 0};
            ref.size           = strlen(ref.data);
            if (!json_is_object(info)) continue;
            if (side)
                HOLO_TRY(add_port(tf, &ports->out, &ports->out_count, &ports->out_room, ref, info));
            else
                HOLO_TRY(add_port(tf, &ports->in, &ports->in_count, &ports->in_room, ref, info));
        }
    return HOLO_OK;
}

// Builds a GraphDef, whose constants are weights. `signature` may be NULL.
static HoloStatus graph_build(HoloTfjs *js, HoloString message, const json_t *signature)
{
    HoloFlow      tf;
    HoloFlowPorts ports = {0}, guess = {0};
    holo_flow_init(&tf, js->import, message.data);
    tf.work_max += (int64_t)js->import->out->bytes / 8;
    tf.weight = find_weight;
    tf.format = js;
    tf.is_js  = true;
    HOLO_TRY(holo_flow_graph(&tf, message));
    if (signature) HOLO_TRY(read_signature(&tf, signature, &ports));
    HOLO_TRY(holo_flow_guess_ports(&tf, &guess));
    if (!ports.in_count) ports.in = guess.in, ports.in_count = guess.in_count;
    if (!ports.out_count) ports.out = guess.out, ports.out_count = guess.out_count;
    return holo_flow_build(&tf, &ports);
}

HoloStatus holo_tfjs_old_graph(HoloTfjs *js, HoloString message)
{
    return graph_build(js, message, NULL);
}

HoloStatus holo_tfjs_graph(HoloTfjs *js)
{
    HoloString    message;
    const json_t *signature = json_object_get(js->json, "signature");
    if (!signature) signature = json_object_get(json_object_get(js->json, "userDefinedMetadata"), "signature");
    HOLO_TRY(holo_pb_from_json(js->import->arena, json_object_get(js->json, "modelTopology"), holo_flow_graph_fields,
                               holo_flow_constant, &message, js->import->error));
    return graph_build(js, message, signature);
}
