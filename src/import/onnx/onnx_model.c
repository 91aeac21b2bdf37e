// onnx_model.c - ModelProto to HoloModelSource: the entry of the ONNX import.
#include "import/onnx/onnx.h"

#include "base/files.h"
#include "base/hash.h"

#include <string.h>

// ---- the model

static HoloStatus read_meta(HoloOnnx *im, HoloPbMany list)
{
    HoloModelSource *out = im->out;
    HoloString       message;
    out->meta = holo_arena_take_array(im->arena, (size_t)list.count, sizeof *out->meta);
    if (!out->meta) return holo_fail_memory(im->error);
    while (holo_pb_next_bytes(&list, &message)) {
        HoloOnnxEntryProto entry = {0};
        HOLO_TRY(holo_pb_read(&im->source, "StringStringEntryProto", message, holo_onnx_entry_fields, &entry));
        out->meta[out->meta_count].key   = holo_onnx_text(im, entry.key);
        out->meta[out->meta_count].value = holo_onnx_text(im, entry.value);
        if (!out->meta[out->meta_count].key || !out->meta[out->meta_count].value) return holo_fail_memory(im->error);
        out->meta_count++;
    }
    return HOLO_OK;
}

static HoloStatus describe(HoloOnnx *im, const HoloOnnxModelProto *model)
{
    HoloModelSource *out = im->out;
    out->format          = "ONNX";
    out->ir_version      = model->ir_version;
    out->producer        = holo_arena_format(im->arena, "%.*s%s%.*s", HOLO_ONNX_ARG(model->producer_name),
                                      model->producer_version.size ? " " : "", HOLO_ONNX_ARG(model->producer_version));
    out->description     = holo_onnx_text(im, model->doc);
    if (!out->producer || !out->description) return holo_fail_memory(im->error);
    for (int i = 0; i < im->opsets.count && i < HOLO_COUNT(out->opset); i++) {
        out->opset[i].domain  = holo_onnx_text(im, im->opsets.entry[i].domain);
        out->opset[i].version = im->opsets.entry[i].version;
        if (!out->opset[i].domain) return holo_fail_memory(im->error);
        out->opset_count++;
    }
    return read_meta(im, model->metadata);
}

static HoloStatus read_model(HoloOnnx *im, HoloString bytes)
{
    enum { GRAPH = 7, IR_MIN = 1 };
    HoloOnnxModelProto model = {0};
    HoloOnnxBody       body  = {0};
    const char        *other = holo_import_looks_like(bytes.data, bytes.size);
    if (other) return holo_fail(im->error, HOLO_BAD_MODEL, "this is not an ONNX model; it looks like %s", other);
    HoloError    why  = {0};
    HoloPbSource file = {(const uint8_t *)bytes.data, &why};
    if (holo_pb_read(&file, "ModelProto", bytes, holo_onnx_model_fields, &model))
        return holo_fail(im->error, HOLO_BAD_MODEL, "this is not an ONNX model, or it is damaged: %.500s", why.text);
    if (!holo_pb_has(model.has, GRAPH))
        return holo_fail(im->error, HOLO_BAD_MODEL, "this is not an ONNX model: it has no graph");
    if (model.ir_version < IR_MIN)
        return holo_fail(im->error, HOLO_UNSUPPORTED, "IR version %lld is not supported, versions from %d on are",
                         (long long)model.ir_version, IR_MIN);
    im->dims = holo_dims_create(im->arena);
    if (!im->dims) return holo_fail_memory(im->error);
    HOLO_TRY(holo_onnx_opsets(im, model.opset_import, &im->opsets));
    HOLO_TRY(describe(im, &model));
    HOLO_TRY(holo_onnx_functions(im, model.functions));
    HOLO_TRY(holo_onnx_graph(im, model.graph, NULL, &body));
    im->out->graph      = body.graph;
    im->out->model_name = body.graph->name;
    return HOLO_OK;
}

// ---- entries

HoloStatus holo_import_onnx_memory(HoloArena *arena, const void *bytes, size_t size, const char *folder,
                                   HoloModelSource *out, HoloError *error)
{
    HoloOnnx im = {.arena = arena, .error = error, .source = {bytes, error}, .folder = folder, .out = out};
    *out        = (HoloModelSource){.bytes = size};
    holo_onnx_set_limits(&im, size);
    HoloHash hash     = holo_hash(bytes, size);
    out->hash[0]      = hash.word[0];
    out->hash[1]      = hash.word[1];
    HoloStatus status = read_model(&im, (HoloString){bytes, size});
    if (status) holo_import_close(out);
    return status;
}

// The path up to its last slash; "." where there is none.
static char *folder_of(HoloArena *arena, const char *path)
{
    size_t size = (size_t)(holo_path_name(path) - path);
    if (!size) return holo_arena_text(arena, ".", 1);
    return holo_arena_text(arena, path, size > 1 ? size - 1 : 1);
}

HoloStatus holo_import_onnx(HoloArena *arena, const char *path, HoloModelSource *out, HoloError *error)
{
    *out                = (HoloModelSource){0};
    char        *folder = folder_of(arena, path);
    HoloMapping *file   = HOLO_NEW(arena, HoloMapping, 1);
    if (!folder || !file) return holo_fail_memory(error);
    HOLO_TRY(holo_file_map(path, file, error));
    HoloStatus status = holo_import_onnx_memory(arena, file->data, file->size, folder, out, error);
    if (status) {
        holo_file_unmap(file);
        return status;
    }
    HoloMapping **all = HOLO_NEW(arena, HoloMapping *, out->file_count + 1);
    if (!all) {
        holo_import_close(out);
        holo_file_unmap(file);
        return holo_fail_memory(error);
    }
    all[0] = file;
    for (int i = 0; i < out->file_count; i++) all[i + 1] = out->files[i];
    out->files = all;
    out->file_count++;
    return HOLO_OK;
}

void holo_import_close(HoloModelSource *source)
{
    for (int i = 0; i < source->file_count; i++) holo_file_unmap(source->files[i]);
    *source = (HoloModelSource){0};
}

bool holo_import_is_onnx(const void *bytes, size_t size)
{
    enum { GRAPH = 7 };
    HoloOnnxModelProto model  = {0};
    HoloError          why    = {0};
    HoloPbSource       source = {bytes, &why};
    HoloString         whole  = {bytes, size};
    return !holo_pb_read(&source, "ModelProto", whole, holo_onnx_model_fields, &model) && holo_pb_has(model.has, GRAPH);
}
