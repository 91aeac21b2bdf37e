// saved_model.c - TensorFlow's SavedModel: a folder with saved_model.pb and the variables of a checkpoint.
#include "import/tensorflow/bundle.h"
#include "import/wire/protobuf_text.h"

// ---- the graph that is made to be used

static HoloStatus has_tag(HoloFlow *tf, HoloString message, const char *tag, bool *out)
{
    HoloFlowMetaInfoProto info = {0};
    HoloString            text;
    HOLO_TRY(holo_pb_read(&tf->source, "MetaInfoDef", message, holo_flow_meta_info_fields, &info));
    *out = false;
    while (holo_pb_next_bytes(&info.tags, &text)) *out |= holo_flow_is(text, tag);
    if (!*out || !info.tensorflow_version.size) return HOLO_OK;
    char *version = holo_flow_text(tf, info.tensorflow_version);
    return version ? holo_import_fact(tf->import, "tensorflow_version", version) : holo_fail_memory(tf->error);
}

static HoloStatus choose_graph(HoloFlow *tf, HoloString message, HoloFlowMetaGraphProto *out)
{
    HoloFlowSavedProto saved = {0};
    HoloString         bytes;
    bool               is_served = false, any = false;
    HOLO_TRY(holo_pb_read(&tf->source, "SavedModel", message, holo_flow_saved_fields, &saved));
    while (!is_served && holo_pb_next_bytes(&saved.meta_graphs, &bytes)) {
        HoloFlowMetaGraphProto meta = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "MetaGraphDef", bytes, holo_flow_meta_graph_fields, &meta));
        HOLO_TRY(has_tag(tf, meta.meta_info_def, "serve", &is_served));
        if (!any || is_served) *out = meta;
        any = true;
    }
    return any ? HOLO_OK : holo_fail(tf->error, HOLO_BAD_MODEL, "the SavedModel has no graph");
}

// ---- its signature

static HoloStatus choose_signature(HoloFlow *tf, HoloPbMany list, HoloFlowSignatureProto *out, bool *found)
{
    HoloString message;
    bool       is_default = false;
    *found                = false;
    while (!is_default && holo_pb_next_bytes(&list, &message)) {
        HoloFlowEntryProto     entry     = {0};
        HoloFlowSignatureProto signature = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "SignatureEntry", message, holo_flow_attr_entry_fields, &entry));
        HOLO_TRY(holo_pb_read(&tf->source, "SignatureDef", entry.value, holo_flow_signature_fields, &signature));
        is_default = holo_flow_is(entry.key, "serving_default");
        if ((*found && !is_default) || !signature.outputs.count || holo_flow_is(entry.key, "__saved_model_init_op"))
            continue;
        *out       = signature;
        *found     = true;
        char *name = is_default ? NULL : holo_flow_text(tf, entry.key);
        if (name) HOLO_TRY(holo_import_fact(tf->import, "signature", name));
    }
    return HOLO_OK;
}

static HoloStatus add_ports(HoloFlow *tf, HoloPbMany list, HoloFlowPort **out, int *count, int *room)
{
    HoloString message;
    while (holo_pb_next_bytes(&list, &message)) {
        HoloFlowEntryProto      entry = {0};
        HoloFlowTensorInfoProto info  = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "InfoEntry", message, holo_flow_attr_entry_fields, &entry));
        HOLO_TRY(holo_pb_read(&tf->source, "TensorInfo", entry.value, holo_flow_tensor_info_fields, &info));
        HoloFlowPort port = {.name = holo_flow_text(tf, entry.key), .ref = info.name, .type = {.rank = -1}};
        port.type.dtype   = (uint8_t)holo_flow_dtype(info.dtype);
        HOLO_TRY(holo_flow_read_shape(tf, info.tensor_shape, &port.type));
        if (!info.name.size)
            return holo_fail(tf->error, HOLO_UNSUPPORTED, "'%s' of the signature is not a plain tensor", port.name);
        if (!port.name || !HOLO_GROW(tf->arena, *out, *count, *room)) return holo_fail_memory(tf->error);
        int at = (*count)++; // in the order of their names: the file has them in any order
        while (at > 0 && strcmp((*out)[at - 1].name, port.name) > 0) {
            (*out)[at] = (*out)[at - 1];
            at--;
        }
        (*out)[at] = port;
    }
    return HOLO_OK;
}

// ---- the folder

static HoloStatus open_variables(HoloFlow *tf, HoloFlowBundle *bundle)
{
    for (int i = 0; i < tf->import->from->names.count; i++)
        if (!strcmp(tf->import->from->names.name[i], "variables")) {
            HoloError   *error = tf->error;
            HoloMapping *file;
            tf->import->error = NULL; // a model without variables has no index
            HoloStatus none   = holo_import_map(tf->import, (HoloString){"variables/variables.index", 25}, &file);
            tf->import->error = error;
            if (none) return HOLO_OK;
            HOLO_TRY(holo_flow_bundle_open(tf, "variables/variables", bundle));
            return holo_flow_bundle_use(tf, bundle);
        }
    return HOLO_OK;
}

static HoloStatus open_message(HoloImport *import, HoloString message)
{
    HoloFlow               tf;
    HoloFlowBundle         bundle;
    HoloFlowMetaGraphProto meta      = {0};
    HoloFlowSignatureProto signature = {0};
    HoloFlowPorts          ports     = {0};
    bool                   found;
    holo_flow_init(&tf, import, message.data);
    HOLO_TRY(choose_graph(&tf, message, &meta));
    HOLO_TRY(holo_flow_graph(&tf, meta.graph_def));
    if (import->from->is_folder) HOLO_TRY(open_variables(&tf, &bundle));
    HOLO_TRY(choose_signature(&tf, meta.signature_def, &signature, &found));
    if (found) {
        HOLO_TRY(add_ports(&tf, signature.inputs, &ports.in, &ports.in_count, &ports.in_room));
        HOLO_TRY(add_ports(&tf, signature.outputs, &ports.out, &ports.out_count, &ports.out_room));
    } else {
        HOLO_TRY(holo_flow_guess_ports(&tf, &ports));
    }
    return holo_flow_build(&tf, &ports);
}

static HoloStatus open_model(HoloImport *import)
{
    HoloMapping *file;
    if (!import->from->is_folder)
        return open_message(import, (HoloString){import->from->file.data, import->from->file.size});
    HOLO_TRY(holo_import_map(import, (HoloString){"saved_model.pb", 14}, &file));
    return open_message(import, (HoloString){file->data, file->size});
}

static HoloStatus open_text(HoloImport *import)
{
    HoloMapping *file;
    HoloString   message;
    HOLO_TRY(holo_import_map(import, (HoloString){"saved_model.pbtxt", 17}, &file));
    HOLO_TRY(holo_pb_from_text(import->arena, (HoloString){file->data, file->size}, holo_flow_saved_fields,
                               holo_flow_constant, &message, import->error));
    return open_message(import, message);
}

// Its version, which is 1, then a graph; all that are made to be used have the tag "serve".
static HoloSniff sniff(const HoloOffer *c)
{
    if (c->is_folder) return holo_offer_has_name(c, "saved_model.pb") ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
    bool begins = holo_offer_has_bytes(c, 0, "\x08\x01\x12");
    return begins && holo_offer_mentions(c, "\x22\x05serve") ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

static HoloSniff sniff_text(const HoloOffer *c)
{
    return c->is_folder && holo_offer_has_name(c, "saved_model.pbtxt") ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_saved_model[] = {
    {.name = "SavedModel", .words = "a TensorFlow SavedModel", .is_model = true, .sniff = sniff, .open = open_model},
    {.name     = "SavedModel text",
     .words    = "a TensorFlow SavedModel in text form",
     .is_model = true,
     .sniff    = sniff_text,
     .open     = open_text},
    {0},
};
