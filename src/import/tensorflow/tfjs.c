// tfjs.c - model.json of TensorFlow.js and its weights. The weights of a group are in files that follow each other; they
// may be stored in fewer bits than they have when they are used.
#include "import/tensorflow/tfjs.h"
#include "base/bytes.h"
#include "import/wire/json.h"
#include "ops/tensor.h"

#include <math.h>
#include <string.h>

static HoloStatus bad(const HoloTfjs *js, const char *what)
{
    return holo_fail(js->import->error, HOLO_BAD_MODEL, "model.json: %s", what);
}

static HoloString text_of(const json_t *json)
{
    return (HoloString){json_string_value(json), json_is_string(json) ? json_string_length(json) : 0};
}

// ---- the list of weights

static HoloDtype dtype_of(HoloString name)
{
    static const struct {
        const char *name;
        HoloDtype   dtype;
    } types[] = {{"float32", HOLO_F32}, {"int32", HOLO_I32}, {"uint8", HOLO_U8},      {"uint16", HOLO_U16},
                 {"float16", HOLO_F16}, {"bool", HOLO_BOOL}, {"string", HOLO_STRING}, {"complex64", HOLO_C64},
                 {"int8", HOLO_I8},     {"int64", HOLO_I64}};
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (strlen(types[i].name) == name.size && !memcmp(types[i].name, name.data, name.size)) return types[i].dtype;
    return HOLO_NONE;
}

static HoloStatus read_weight(HoloTfjs *js, const json_t *json, HoloTfjsWeight *out)
{
    const json_t *shape = json_object_get(json, "shape"), *how = json_object_get(json, "quantization");
    out->name  = text_of(json_object_get(json, "name"));
    out->dtype = dtype_of(text_of(json_object_get(json, "dtype")));
    if (!out->name.size || !out->dtype || !json_is_array(shape) || json_array_size(shape) > HOLO_MAX_RANK)
        return bad(js, "a weight has no name, no type or no shape");
    out->tensor = (HoloTensor){.dtype = (uint8_t)out->dtype, .rank = (int8_t)json_array_size(shape)};
    for (int i = 0; i < out->tensor.rank; i++)
        out->tensor.dim[i] = json_integer_value(json_array_get(shape, (size_t)i));
    if (how) {
        out->tensor.dtype = (uint8_t)dtype_of(text_of(json_object_get(how, "dtype")));
        out->scale        = json_number_value(json_object_get(how, "scale"));
        out->min          = json_number_value(json_object_get(how, "min"));
        if (out->tensor.dtype != HOLO_U8 && out->tensor.dtype != HOLO_U16 && out->tensor.dtype != HOLO_F16)
            return holo_fail(js->import->error, HOLO_UNSUPPORTED, "weight '%.*s' is quantized in an unknown way",
                             HOLO_IMPORT_ARG(out->name));
    }
    int64_t count = holo_tensor_count(&out->tensor);
    if (count < 0) return bad(js, "a weight is too large");
    out->size = out->tensor.dtype == HOLO_STRING ? 0 : holo_import_stored((HoloDtype)out->tensor.dtype, count);
    return HOLO_OK;
}

static HoloStatus read_group(HoloTfjs *js, int index, const json_t *json, size_t *made)
{
    const json_t  *paths = json_object_get(json, "paths"), *weights = json_object_get(json, "weights");
    HoloTfjsGroup *group = &js->group[index];
    group->path          = HOLO_NEW(js->import->arena, HoloString, json_array_size(paths) + 1);
    if (!group->path) return holo_fail_memory(js->import->error);
    for (size_t i = 0; i < json_array_size(paths); i++) {
        HoloString path = text_of(json_array_get(paths, i));
        if (!path.size) return bad(js, "a file of weights has no name");
        group->path[group->path_count++] = path;
    }
    for (size_t i = 0; i < json_array_size(weights); i++) {
        HoloTfjsWeight *weight = &js->weight[(*made)++];
        HOLO_TRY(read_weight(js, json_array_get(weights, i), weight));
        weight->group  = (uint64_t)index;
        weight->offset = UINT64_MAX; // strings have no size of their own: found when the bytes are there
        if (!holo_name_map_set(&js->names, js->import->arena, weight->name, weight))
            return holo_fail_memory(js->import->error);
    }
    return HOLO_OK;
}

static HoloStatus read_manifest(HoloTfjs *js)
{
    const json_t *groups = json_object_get(js->json, "weightsManifest");
    size_t        total = 0, made = 0, count = json_array_size(groups);
    for (size_t i = 0; i < count; i++) total += json_array_size(json_object_get(json_array_get(groups, i), "weights"));
    js->group  = HOLO_NEW(js->import->arena, HoloTfjsGroup, count + 1);
    js->weight = HOLO_NEW(js->import->arena, HoloTfjsWeight, total + 1);
    if (!js->group || !js->weight) return holo_fail_memory(js->import->error);
    js->group_count  = (int)count;
    js->weight_count = (int)total;
    for (size_t i = 0; i < count; i++) HOLO_TRY(read_group(js, (int)i, json_array_get(groups, i), &made));
    return HOLO_OK;
}

// ---- their bytes

// Strings: each has its length in 4 bytes, then its bytes. Returns how many bytes they take; UINT64_MAX: too many.
static uint64_t strings_size(HoloString bytes, uint64_t at, int64_t count, HoloString *out)
{
    uint64_t begin = at;
    for (int64_t i = 0; i < count; i++) {
        uint32_t size;
        if (at > bytes.size || bytes.size - at < 4) return UINT64_MAX;
        memcpy(&size, bytes.data + at, 4);
        at += 4;
        if (size > bytes.size - at) return UINT64_MAX;
        if (out) out[i] = (HoloString){bytes.data + at, size};
        at += size;
    }
    return at - begin;
}

// Where each weight of the group begins.
static HoloStatus place_weights(HoloTfjs *js, uint64_t index)
{
    HoloString bytes = js->group[index].bytes;
    uint64_t   at    = 0;
    for (int i = 0; i < js->weight_count; i++) {
        HoloTfjsWeight *w = &js->weight[i];
        if (w->group != index) continue;
        w->offset = at;
        if (w->tensor.dtype == HOLO_STRING) w->size = strings_size(bytes, at, holo_tensor_count(&w->tensor), NULL);
        if (at > bytes.size || w->size > bytes.size - at)
            return holo_fail(js->import->error, HOLO_BAD_MODEL, "weight '%.*s' is not in the files of weights",
                             HOLO_IMPORT_ARG(w->name));
        at += w->size;
    }
    return HOLO_OK;
}

// The files of a group, as one row of bytes.
static HoloStatus map_group(HoloTfjs *js, uint64_t index)
{
    HoloTfjsGroup *group = &js->group[index];
    HoloMapping   *file;
    size_t         size = 0, at = 0;
    if (group->bytes.data) return HOLO_OK;
    for (int i = 0; i < group->path_count; i++) {
        HOLO_TRY(holo_import_map(js->import, group->path[i], &file));
        size += file->size;
        group->bytes = (HoloString){file->data, file->size};
    }
    if (group->path_count != 1) {
        void *memory;
        HOLO_TRY(holo_import_take(js->import, (HoloString){"weights", 7}, (int64_t)size + 1, 1, &memory));
        for (int i = 0; i < group->path_count; i++) {
            HOLO_TRY(holo_import_map(js->import, group->path[i], &file));
            if (file->size) memcpy((char *)memory + at, file->data, file->size);
            at += file->size;
        }
        group->bytes = (HoloString){memory, size};
    }
    if (!group->bytes.data) group->bytes.data = "";
    return place_weights(js, index);
}

static HoloStatus decode(HoloTfjs *js, const HoloTfjsWeight *w, int64_t count, HoloTensor *out)
{
    HoloTensor from = *out;
    out->dtype      = (uint8_t)w->dtype;
    HOLO_TRY(holo_import_take(js->import, w->name, count, holo_dtype_size(w->dtype), &out->data));
    for (int64_t i = 0; i < count; i++) {
        double x = holo_get_f(&from, i);
        if (from.dtype != HOLO_F16) x = x * w->scale + w->min;
        if (holo_dtype_class(w->dtype) == HOLO_CLASS_FLOAT)
            holo_put_f(out, i, x);
        else
            holo_put_i(out, i, (int64_t)round(x));
    }
    return HOLO_OK;
}

HoloStatus holo_tfjs_weight(HoloTfjs *js, HoloTfjsWeight *w, HoloTensor *out)
{
    HOLO_TRY(map_group(js, w->group));
    HoloString  bytes = js->group[w->group].bytes;
    const char *at    = bytes.data + w->offset;
    int64_t     count = holo_tensor_count(&w->tensor);
    *out              = w->tensor;
    if (!count || out->data) {
        out->dtype = (uint8_t)w->dtype;
        return HOLO_OK;
    }
    if (out->dtype == HOLO_STRING) {
        HOLO_TRY(holo_import_take(js->import, w->name, count, sizeof(HoloString), &out->data));
        strings_size(bytes, w->offset, count, out->data);
    } else {
        HOLO_TRY(holo_import_bytes(js->import, w->name, at, count, out));
        if (out->dtype != w->dtype) HOLO_TRY(decode(js, w, count, out));
    }
    w->tensor.data = out->data;
    return HOLO_OK;
}

// ---- the file

static HoloStatus read_facts(HoloTfjs *js)
{
    static const char *const keys[]  = {"format", "generatedBy", "convertedBy"};
    static const char *const names[] = {"kind", "producer", "converter"};
    for (int i = 0; i < 3; i++) {
        const json_t *value = json_object_get(js->json, keys[i]);
        if (json_is_string(value)) HOLO_TRY(holo_import_fact(js->import, names[i], json_string_value(value)));
    }
    return HOLO_OK;
}

HoloStatus holo_tfjs_open(HoloImport *import, HoloTfjs *out)
{
    static const HoloString name  = {"model.json", 10};
    HoloString              bytes = {import->from->file.data, import->from->file.size};
    *out                          = (HoloTfjs){.import = import};
    if (import->from->is_folder) {
        HoloMapping *file;
        HOLO_TRY(holo_import_map(import, name, &file));
        bytes = (HoloString){file->data, file->size};
    }
    HOLO_TRY(holo_json_read("model.json", bytes.data, bytes.size, &out->json, import->error));
    HOLO_TRY(read_facts(out));
    return read_manifest(out);
}

HoloStatus holo_tfjs_open_manifest(HoloImport *import, HoloTfjs *out)
{
    static const HoloString name = {"weights_manifest.json", 21};
    HoloMapping            *file;
    *out = (HoloTfjs){.import = import};
    HOLO_TRY(holo_import_map(import, name, &file));
    static const char begin[] = "{\"weightsManifest\":"; // the file is the list alone
    size_t            size    = sizeof begin + file->size;
    char             *text    = HOLO_NEW(import->arena, char, size + 1);
    if (!text) return holo_fail_memory(import->error);
    memcpy(text, begin, sizeof begin - 1);
    if (file->size) memcpy(text + sizeof begin - 1, file->data, file->size);
    text[size - 1] = '}';
    HOLO_TRY(holo_json_read("weights_manifest.json", text, size, &out->json, import->error));
    return read_manifest(out);
}

void holo_tfjs_close(HoloTfjs *js)
{
    json_decref(js->json);
}

static HoloStatus open_model(HoloImport *import)
{
    HoloTfjs      js;
    HoloStatus    status   = holo_tfjs_open(import, &js);
    const json_t *topology = status ? NULL : json_object_get(js.json, "modelTopology");
    if (!status) status = json_object_get(topology, "node") ? holo_tfjs_graph(&js) : holo_tfjs_layers(&js);
    holo_tfjs_close(&js);
    return status;
}

// What TensorFlow.js had before model.json: a binary graph without its constants, and a list of them.
static HoloStatus open_old(HoloImport *import)
{
    static const HoloString name  = {"tensorflowjs_model.pb", 21};
    HoloString              graph = {import->from->file.data, import->from->file.size};
    HoloTfjs                js;
    HoloStatus              status = holo_tfjs_open_manifest(import, &js);
    if (!status && import->from->is_folder) {
        HoloMapping *file;
        status = holo_import_map(import, name, &file);
        if (!status) graph = (HoloString){file->data, file->size};
    }
    if (!status) status = holo_tfjs_old_graph(&js, graph);
    holo_tfjs_close(&js);
    return status;
}

static HoloSniff sniff_old(const HoloOffer *c)
{
    static const char name[] = "tensorflowjs_model.pb";
    bool              is     = c->is_folder ? holo_offer_has_name(c, name)
                                            : c->path && !strcmp(holo_path_name(c->path), name) && holo_offer_has_bytes(c, 0, "\n");
    return is ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

static HoloSniff sniff(const HoloOffer *c)
{
    char   start[4096];
    size_t size = c->is_folder ? holo_offer_peek(c, "model.json", start, sizeof start) : 0;
    if (!c->is_folder)
        return holo_offer_has_bytes(c, 0, "{") &&
                       (holo_offer_mentions(c, "\"modelTopology\"") || holo_offer_mentions(c, "\"weightsManifest\""))
                   ? HOLO_SNIFF_SURE
                   : HOLO_SNIFF_NONE;
    return holo_bytes_find(start, size, "\"modelTopology\"", 15) ||
                   holo_bytes_find(start, size, "\"weightsManifest\"", 17)
               ? HOLO_SNIFF_SURE
               : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_tfjs[] = {
    {.name = "TensorFlow.js", .words = "a TensorFlow.js model", .is_model = true, .sniff = sniff, .open = open_model},
    {.name     = "TensorFlow.js before model.json",
     .words    = "an old TensorFlow.js model (tensorflowjs_model.pb)",
     .is_model = true,
     .sniff    = sniff_old,
     .open     = open_old},
    {0},
};
