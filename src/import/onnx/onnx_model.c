// onnx_model.c - ONNX's row in the table of importers, and ModelProto: where the import of ONNX begins.
#include "import/onnx/onnx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- what the model says about itself

static HoloStatus read_meta(HoloOnnx *im, HoloPbMany list)
{
    HoloString message;
    while (holo_pb_next_bytes(&list, &message)) {
        HoloOnnxEntryProto entry = {0};
        HOLO_TRY(holo_pb_read(&im->source, "StringStringEntryProto", message, holo_onnx_entry_fields, &entry));
        char *key = holo_import_text(im->import, entry.key), *value = holo_import_text(im->import, entry.value);
        if (!key || !value) return holo_fail_memory(im->error);
        HOLO_TRY(holo_import_own(im->import, key, value));
    }
    return HOLO_OK;
}

static HoloStatus describe(HoloOnnx *im, const HoloOnnxModelProto *model, const char *name)
{
    char *producer =
        holo_arena_format(im->arena, "%.*s%s%.*s", HOLO_IMPORT_ARG(model->producer_name),
                          model->producer_version.size ? " " : "", HOLO_IMPORT_ARG(model->producer_version));
    char *doc = holo_import_text(im->import, model->doc);
    char  number[24], opsets[512] = "";
    if (!producer || !doc) return holo_fail_memory(im->error);
    snprintf(number, sizeof number, "%" PRId64, im->ir_version);
    for (int i = 0, at = 0; i < im->opsets.count && at < 400; i++) {
        HoloString domain = im->opsets.entry[i].domain;
        at += snprintf(opsets + at, sizeof opsets - (size_t)at, "%s%.*s %d", i ? ", " : "",
                       !domain.size       ? 7
                       : domain.size < 60 ? (int)domain.size
                                          : 60,
                       domain.size ? domain.data : "ai.onnx", im->opsets.entry[i].version);
    }
    HOLO_TRY(holo_import_fact(im->import, "producer", producer));
    HOLO_TRY(holo_import_fact(im->import, "name", name));
    HOLO_TRY(holo_import_fact(im->import, "description", doc));
    HOLO_TRY(holo_import_fact(im->import, "ir_version", number));
    HOLO_TRY(holo_import_fact(im->import, "opset", opsets));
    return read_meta(im, model->metadata);
}

// ---- the model

static HoloStatus read_model(HoloOnnx *im, HoloString bytes, HoloGraph **out)
{
    enum { GRAPH = 7, IR_MIN = 1 };
    HoloOnnxModelProto model = {0};
    HoloOnnxBody       body  = {0};
    HoloError          why   = {0};
    HoloPbSource       file  = {(const uint8_t *)bytes.data, &why};
    if (holo_pb_read(&file, "ModelProto", bytes, holo_onnx_model_fields, &model))
        return holo_fail(im->error, HOLO_BAD_MODEL, "this is not an ONNX model, or it is damaged: %.500s", why.text);
    if (!holo_pb_has(model.has, GRAPH))
        return holo_fail(im->error, HOLO_BAD_MODEL, "this is not an ONNX model: it has no graph");
    if (model.ir_version < IR_MIN)
        return holo_fail(im->error, HOLO_UNSUPPORTED,
                         "IR version %lld is not supported; the oldest supported version is %d",
                         (long long)model.ir_version, IR_MIN);
    if (!im->dims) im->dims = holo_dims_create(im->arena);
    im->ir_version = model.ir_version;
    if (!im->dims) return holo_fail_memory(im->error);
    HOLO_TRY(holo_onnx_opsets(im, model.opset_import, &im->opsets));
    HOLO_TRY(holo_onnx_functions(im, model.functions));
    HOLO_TRY(holo_onnx_graph(im, model.graph, NULL, &body));
    *out = body.graph;
    return im->import->out->entry_count ? HOLO_OK : describe(im, &model, body.graph->name);
}

HoloStatus holo_onnx_read(HoloImport *import, const HoloMapping *file, const char *folder, HoloDims *dims,
                          HoloGraph **out)
{
    HoloOnnx im = {.import      = import,
                   .dims        = dims,
                   .arena       = import->arena,
                   .error       = import->error,
                   .folder      = folder,
                   .source      = {file->data, import->error},
                   .inlined_max = holo_onnx_inlined_max(file->size)};
    return read_model(&im, (HoloString){file->data, file->size}, out);
}

static HoloStatus open_model(HoloImport *import)
{
    return holo_onnx_read(import, &import->from->file, "", NULL, &import->out->graph);
}

// ---- the row

// A damaged model still begins with fields of a model, which have these tags.
static bool begins_like_model(const uint8_t *at, const uint8_t *end)
{
    enum { FIELDS = 3, VARINT = 0, BYTES = 2 };
    static const uint8_t tags[] = {0x08, 0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72};
    for (int i = 0; i < FIELDS && at < end; i++) {
        uint64_t length = 0;
        int      kind = *at & 7, shift = 0;
        bool     is_again = i && *at == tags[0]; // a tensor has it once for each size
        if (is_again || !memchr(tags, *at++, sizeof tags)) return false;
        for (; at < end && shift < 63; shift += 7) {
            length |= (uint64_t)(*at & 127) << shift;
            if (!(*at++ & 128)) break;
        }
        if (kind == VARINT) continue;
        if (length > (uint64_t)(end - at)) return true; // cut off
        at += length;
    }
    return true;
}

static HoloSniff sniff(const HoloOffer *offer)
{
    enum { GRAPH = 7 };
    HoloOnnxModelProto model = {0};
    HoloError          why   = {0};
    const uint8_t     *bytes = offer->file.data;
    HoloString         whole = {offer->file.data, offer->file.size};
    if (offer->is_folder || !whole.size || !begins_like_model(bytes, bytes + whole.size)) return HOLO_SNIFF_NONE;
    bool is_whole = !holo_pb_read(&(HoloPbSource){bytes, &why}, "ModelProto", whole, holo_onnx_model_fields, &model);
    if (is_whole && holo_pb_has(model.has, GRAPH)) return HOLO_SNIFF_SURE;
    return holo_offer_is_text(offer) ? HOLO_SNIFF_NONE : HOLO_SNIFF_PERHAPS; // "2,3" begins like a model, too
}

const HoloImporter holo_importers_onnx[] = {
    {.name = "ONNX", .words = "an ONNX model", .is_model = true, .sniff = sniff, .open = open_model},
    {0},
};
