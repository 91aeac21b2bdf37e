// saved_model.c - TensorFlow's SavedModel: a folder with saved_model.pb and the variables of a checkpoint.
#include "import/tensorflow/bundle.h"
#include "import/wire/protobuf_text.h"

// ---- the graph that is made to be used

static HoloStatus has_tag(HoloTf *tf, HoloString message, const char *tag, bool *out)
{
    HoloTfMetaInfoProto info = {0};
    HoloString          text;
    HOLO_TRY(holo_pb_read(&tf->source, "MetaInfoDef", message, holo_tf_meta_info_fields, &info));
    *out = false;
    while (holo_pb_next_bytes(&info.tags, &text)) *out |= holo_tf_is(text, tag);
    if (!*out || !info.tensorflow_version.size) return HOLO_OK;
    char *version = holo_tf_text(tf, info.tensorflow_version);
    return version ? holo_import_fact(tf->import, "tensorflow_version", version) : holo_fail_memory(tf->error);
}

static HoloStatus choose_graph(HoloTf *tf, HoloString message, HoloTfMetaGraphProto *out)
{
    HoloTfSavedProto saved = {0};
    HoloString       bytes;
    bool             is_served = false, any = false;
    HOLO_TRY(holo_pb_read(&tf->source, "SavedModel", message, holo_tf_saved_fields, &saved));
    while (!is_served && holo_pb_next_bytes(&saved.meta_graphs, &bytes)) {
        HoloTfMetaGraphProto meta = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "MetaGraphDef", bytes, holo_tf_meta_graph_fields, &meta));
        HOLO_TRY(has_tag(tf, meta.meta_info_def, "serve", &is_served));
        if (!any || is_served) *out = meta;
        any = true;
    }
    return any ? HOLO_OK : holo_fail(tf->error, HOLO_BAD_MODEL, "the SavedModel has no graph");
}

// ---- its signature

static HoloStatus choose_signature(HoloTf *tf, HoloPbMany list, HoloTfSignatureProto *out, bool *found)
{
    HoloString message;
    bool       is_default = false;
    *found                = false;
    while (!is_default && holo_pb_next_bytes(&list, &message)) {
        HoloTfEntryProto     entry     = {0};
        HoloTfSignatureProto signature = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "SignatureEntry", message, holo_tf_attr_entry_fields, &entry));
        HOLO_TRY(holo_pb_read(&tf->source, "SignatureDef", entry.value, holo_tf_signature_fields, &signature));
        is_default = holo_tf_is(entry.key, "serving_default");
        if ((*found && !is_default) || !signature.outputs.count || holo_tf_is(entry.key, "__saved_model_init_op"))
            continue;
        *out       = signature;
        *found     = true;
        char *name = is_default ? NULL : holo_tf_text(tf, entry.key);
        if (name) HOLO_TRY(holo_import_fact(tf->import, "signature", name));
    }
    return HOLO_OK;
}

static HoloStatus add_ports(HoloTf *tf, HoloPbMany list, HoloTfPort **out, int *count, int *room)
{
    HoloString message;
    while (holo_pb_next_bytes(&list, &message)) {
        HoloTfEntryProto      entry = {0};
        HoloTfTensorInfoProto info  = {0};
        HOLO_TRY(holo_pb_read(&tf->source, "InfoEntry", message, holo_tf_attr_entry_fields, &entry));
        HOLO_TRY(holo_pb_read(&tf->source, "TensorInfo", entry.value, holo_tf_tensor_info_fields, &info));
        HoloTfPort port = {.name = holo_tf_text(tf, entry.key), .ref = info.name, .type = {.rank = -1}};
        port.type.dtype = (uint8_t)holo_tf_dtype(info.dtype);
        HOLO_TRY(holo_tf_read_shape(tf, info.tensor_shape, &port.type));
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

static HoloStatus open_variables(HoloTf *tf, HoloTfBundle *bundle)
{
    for (int i = 0; i < tf->import->from->names.count; i++)
        if (!strcmp(tf->import->from->names.name[i], "variables")) {
            HoloError   *error = tf->error;
            HoloMapping *file;
            tf->import->error = NULL; // a model without variables has no index
            HoloStatus none   = holo_import_map(tf->import, (HoloString){"variables/variables.index", 25}, &file);
            tf->import->error = error;
            if (none) return HOLO_OK;
            HOLO_TRY(holo_tf_bundle_open(tf, "variables/variables", bundle));
            return holo_tf_bundle_use(tf, bundle);
        }
    return HOLO_OK;
}

static HoloStatus open_message(HoloImport *import, HoloString message)
{
    HoloTf               tf;
    HoloTfBundle         bundle;
    HoloTfMetaGraphProto meta      = {0};
    HoloTfSignatureProto signature = {0};
    HoloTfPorts          ports     = {0};
    bool                 found;
    holo_tf_init(&tf, import, message.data);
    HOLO_TRY(choose_graph(&tf, message, &meta));
    HOLO_TRY(holo_tf_graph(&tf, meta.graph_def));
    if (import->from->is_folder) HOLO_TRY(open_variables(&tf, &bundle));
    HOLO_TRY(choose_signature(&tf, meta.signature_def, &signature, &found));
    if (found) {
        HOLO_TRY(add_ports(&tf, signature.inputs, &ports.in, &ports.in_count, &ports.in_room));
        HOLO_TRY(add_ports(&tf, signature.outputs, &ports.out, &ports.out_count, &ports.out_room));
    } else {
        HOLO_TRY(holo_tf_guess_ports(&tf, &ports));
    }
    return holo_tf_build(&tf, &ports);
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
    HOLO_TRY(holo_pb_from_text(import->arena, (HoloString){file->data, file->size}, holo_tf_saved_fields,
                               holo_tf_constant, &message, import->error));
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
