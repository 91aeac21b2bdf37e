// onnx_text.c - ONNX models in the text and JSON forms of protobuf (`.textproto`, `.onnxjson`), and in ONNX's own syntax
// (`.onnxtxt`): they are turned into the binary form, and read as such.
#include "import/onnx/onnx.h"
#include "import/onnx/onnx_syntax.h"
#include "import/wire/json.h"
#include "import/wire/protobuf_text.h"

#include <string.h>

// Constants of AttributeProto.AttributeType and TensorProto.DataLocation; element types are numbers.
static bool constant_of(HoloString name, int64_t *out)
{
    static const struct {
        const char *name;
        int         number;
    } constants[] = {{"UNDEFINED", 0},   {"FLOAT", 1},          {"INT", 2},     {"STRING", 3},   {"TENSOR", 4},
                     {"GRAPH", 5},       {"FLOATS", 6},         {"INTS", 7},    {"STRINGS", 8},  {"TENSORS", 9},
                     {"GRAPHS", 10},     {"SPARSE_TENSOR", 11}, {"DEFAULT", 0}, {"EXTERNAL", 1}, {"SPARSE_TENSORS", 12},
                     {"TYPE_PROTO", 13}, {"TYPE_PROTOS", 14}};
    for (int i = 0; i < HOLO_COUNT(constants); i++)
        if (strlen(constants[i].name) == name.size && !memcmp(constants[i].name, name.data, name.size)) {
            *out = constants[i].number;
            return true;
        }
    return false;
}

static HoloStatus open_message(HoloImport *import, HoloString message)
{
    HoloMapping whole = {.data = (void *)(uintptr_t)message.data, .size = message.size};
    return holo_onnx_read(import, &whole, "", NULL, &import->out->graph);
}

static HoloStatus open_text(HoloImport *import)
{
    HoloString message, text = {import->from->file.data, import->from->file.size};
    HOLO_TRY(holo_pb_from_text(import->arena, text, holo_onnx_model_fields, constant_of, &message, import->error));
    return open_message(import, message);
}

static HoloStatus open_json(HoloImport *import)
{
    HoloString message;
    json_t    *json;
    HOLO_TRY(holo_json_read("the model", import->from->file.data, import->from->file.size, &json, import->error));
    HoloStatus status =
        holo_pb_from_json(import->arena, json, holo_onnx_model_fields, constant_of, &message, import->error);
    json_decref(json);
    return status ? status : open_message(import, message);
}

static HoloStatus open_syntax(HoloImport *import)
{
    HoloString message, text = {import->from->file.data, import->from->file.size};
    HOLO_TRY(holo_onnx_from_syntax(import, text, &message));
    return open_message(import, message);
}

// "<ir_version: 8, ...>", and then a graph with its inputs.
static HoloSniff sniff_syntax(const HoloOffer *offer)
{
    const char *bytes = offer->file.data;
    size_t      at    = 0;
    if (offer->is_folder || offer->file.size < 16) return HOLO_SNIFF_NONE;
    while (at < offer->file.size && at < 256 && memchr(" \t\r\n", bytes[at], 4)) at++;
    bool is_begun = at < offer->file.size && bytes[at] == '<';
    return is_begun && holo_offer_mentions(offer, "opset_import") && holo_offer_mentions(offer, "=>") ? HOLO_SNIFF_SURE
                                                                                                      : HOLO_SNIFF_NONE;
}

// A text that begins with a word, and has the words that every model has.
static HoloSniff sniff_text(const HoloOffer *offer)
{
    const char *bytes = offer->file.data;
    if (offer->is_folder || offer->file.size < 16) return HOLO_SNIFF_NONE;
    bool is_word = (bytes[0] >= 'a' && bytes[0] <= 'z') || bytes[0] == '#';
    return is_word && holo_offer_mentions(offer, "graph {") &&
                   (holo_offer_mentions(offer, "opset_import {") || holo_offer_mentions(offer, "ir_version:"))
               ? HOLO_SNIFF_SURE
               : HOLO_SNIFF_NONE;
}

static HoloSniff sniff_json(const HoloOffer *offer)
{
    const char *bytes = offer->file.data;
    if (offer->is_folder || offer->file.size < 16 || bytes[0] != '{') return HOLO_SNIFF_NONE;
    bool is_model = holo_offer_mentions(offer, "\"opsetImport\"") || holo_offer_mentions(offer, "\"irVersion\"") ||
                    holo_offer_mentions(offer, "\"opset_import\"");
    return is_model && holo_offer_mentions(offer, "\"graph\"") ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_onnx_text[] = {
    {.name = "ONNX text", .words = "an ONNX model as text", .is_model = true, .sniff = sniff_text, .open = open_text},
    {.name     = "ONNX syntax",
     .words    = "an ONNX model in ONNX's own syntax",
     .is_model = true,
     .sniff    = sniff_syntax,
     .open     = open_syntax},
    {.name = "ONNX JSON", .words = "an ONNX model as JSON", .is_model = true, .sniff = sniff_json, .open = open_json},
    {0},
};
