// onnx_model.c - ModelProto to HoloModelSource: the entry of the ONNX import.
#include "import/onnx.h"

#include "base/files.h"
#include "base/hash.h"

#include <string.h>

// ---- what else a file may be

static bool is_text(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < 256; i++)
        if ((bytes[i] < ' ' && !memchr("\t\r\n\f", bytes[i], 4)) || bytes[i] == 127) return false;
    return bytes[0] < 128;
}

static bool contains(const uint8_t *bytes, size_t size, const char *text)
{
    return memmem(bytes, size < 4096 ? size : 4096, text, strlen(text)) != NULL;
}

static bool is_safetensors(const uint8_t *bytes, size_t size)
{
    uint64_t header = 0;
    if (size > 9) memcpy(&header, bytes, sizeof header);
    return size > 9 && bytes[8] == '{' && header > 1 && header <= size - 8;
}

// In words, what the bytes look like when they are not an ONNX model; NULL: they may be one.
static const char *looks_like(const uint8_t *bytes, size_t size)
{
    static const struct {
        size_t      offset;
        const char *magic, *words;
    } forms[] = {
        {0, "version https://git-lfs", "a Git LFS pointer: the model itself was not downloaded (git lfs pull)"},
        {0, "<!DOCTYPE", "a web page (HTML): the download went wrong"},
        {0, "<!doctype", "a web page (HTML): the download went wrong"},
        {0, "<html", "a web page (HTML): the download went wrong"},
        {0, "\x1f\x8b", "gzip-compressed data: unpack it first"},
        {0, "\3757zXZ", "xz-compressed data: unpack it first"},
        {0, "\x28\xb5\x2f\xfd", "zstd-compressed data: unpack it first"},
        {257, "ustar", "a tar archive: unpack it first"},
        {0, "GGUF", "a GGUF model (llama.cpp)"},
        {4, "TFL3", "a TensorFlow Lite model"},
        {4, "ORTM", "a model in ONNX Runtime's own format (.ort)"},
        {0, "\x89HDF", "an HDF5 file (Keras)"},
        {0, "\x93NUMPY", "a NumPy array (.npy)"},
        {0, "\x80\x02", "a Python pickle (PyTorch)"},
        {0, "\x80\x03", "a Python pickle"},
        {0, "\x80\x04", "a Python pickle"},
        {0, "\177ELF", "a program (ELF)"},
        {0, "\x89PNG", "a picture (PNG)"},
        {0, "\xff\xd8\xff", "a picture (JPEG)"},
        {0, "GIF8", "a picture (GIF)"},
        {0, "%PDF", "a document (PDF)"},
        {0, "\x89HOLO", "an archive that is compiled already (.holo)"},
    };
    if (size == 0) return "an empty file";
    if (size > 4 && !memcmp(bytes, "PK\3\4", 4))
        return contains(bytes, size, "data.pkl") ? "a PyTorch checkpoint (.pt): export it to ONNX"
                                                 : "a zip archive: unpack it first";
    for (int i = 0; i < HOLO_COUNT(forms); i++) {
        size_t length = strlen(forms[i].magic);
        if (size >= forms[i].offset + length && !memcmp(bytes + forms[i].offset, forms[i].magic, length))
            return forms[i].words;
    }
    if (is_safetensors(bytes, size)) return "a safetensors file: weights without a graph";
    return is_text(bytes, size) ? "a text file" : NULL;
}

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
    const char        *other = looks_like((const uint8_t *)bytes.data, bytes.size);
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
    const char *slash = strrchr(path, '/');
    if (!slash) return holo_arena_text(arena, ".", 1);
    return holo_arena_text(arena, path, slash == path ? 1 : (size_t)(slash - path));
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
