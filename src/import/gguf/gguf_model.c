// gguf_model.c - models in GGUF files: an architecture, its sizes and its weights, in one file or in several. The
// description of the model's family (src/models/) builds the graph.
#include "import/gguf/gguf_model.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { SPLITS_MAX = 99999, SHOWN_ITEMS = 8, NAME_ROOM = 300 };

// ---- weights

static HoloStatus add_weight(HoloGgufModel *model, const char *file, const HoloGgufTensor *tensor)
{
    HoloGgufWeight *weight = HOLO_NEW(model->import->arena, HoloGgufWeight, 1);
    if (!weight) return holo_fail_memory(model->import->error);
    if (holo_name_map_find(&model->weights, tensor->name))
        return holo_fail(model->import->error, HOLO_BAD_MODEL, "the tensor '%.*s' is in two files",
                         HOLO_IMPORT_ARG(tensor->name));
    HOLO_TRY(holo_gguf_weight_init(model->import, file, tensor, weight));
    if (!holo_name_map_set(&model->weights, model->import->arena, tensor->name, weight))
        return holo_fail_memory(model->import->error);
    if (model->last)
        model->last->next = weight;
    else
        model->first = weight;
    model->last = weight;
    return HOLO_OK;
}

static HoloStatus add_weights(HoloGgufModel *model, const char *file, const HoloGguf *gguf)
{
    for (int i = 0; i < gguf->tensor_count; i++) HOLO_TRY(add_weight(model, file, &gguf->tensor[i]));
    return HOLO_OK;
}

// ---- several files

// Is this the name of one of several files, NAME-00001-of-00003.gguf? *out_size: of NAME.
static bool is_split_name(const char *name, size_t *out_size)
{
    enum { END = sizeof "-00001-of-00003.gguf" - 1 };
    size_t size = strlen(name);
    int    part, parts, read = 0;
    if (size <= END) return false;
    bool fits = sscanf(name + size - END, "-%5d-of-%5d.gguf%n", &part, &parts, &read) == 2 && read == END;
    *out_size = size - END;
    return fits;
}

// The files that are not there, all of them.
static HoloStatus missing(HoloGgufModel *model, const char *names, int count)
{
    return holo_fail(model->import->error, HOLO_NO_FILE,
                     "the model is in several files, of which %d %s not beside it:%s%s", count,
                     count == 1 ? "is" : "are", names, count > 4 ? ", ..." : "");
}

static HoloStatus add_split(HoloGgufModel *model, const char *name, int64_t part, int64_t parts)
{
    HoloMapping *file;
    int64_t      no = -1, count = 0;
    HoloGguf    *gguf = HOLO_NEW(model->import->arena, HoloGguf, 1);
    if (!gguf) return holo_fail_memory(model->import->error);
    HOLO_TRY(holo_import_map(model->import, (HoloString){name, strlen(name)}, &file));
    HOLO_TRY(holo_gguf_read(model->import->arena, name, file->data, file->size, gguf, model->import->error));
    if (!holo_gguf_find_int(gguf, "split.no", &no) || !holo_gguf_find_int(gguf, "split.count", &count) || no != part ||
        count != parts)
        return holo_fail(model->import->error, HOLO_BAD_MODEL, "%s: the file is not part %lld of %lld of the model",
                         name, (long long)part + 1, (long long)parts);
    return add_weights(model, name, gguf);
}

static HoloStatus add_splits(HoloGgufModel *model, const char *name, size_t size, int64_t parts)
{
    HoloImport *import     = model->import;
    HoloError  *error      = import->error;
    char        names[600] = "";
    int         count      = 0;
    for (int64_t part = 1; part < parts; part++) {
        HoloError    unused = {0};
        HoloMapping *file;
        char        *other =
            holo_arena_format(import->arena, "%.*s-%05d-of-%05d.gguf", (int)size, name, (int)part + 1, (int)parts);
        if (!other) return holo_fail_memory(error);
        import->error     = &unused;
        HoloStatus status = holo_import_map(import, (HoloString){other, strlen(other)}, &file);
        import->error     = error;
        if (status == HOLO_NO_MEMORY) return holo_fail_memory(error);
        if (status && count++ < 4)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s %.120s", count > 1 ? "," : "", other);
        if (!status && !count) HOLO_TRY(add_split(model, other, part, parts));
    }
    return count ? missing(model, names, count) : HOLO_OK;
}

static HoloStatus read_splits(HoloGgufModel *model)
{
    const char *path  = model->import->from->path;
    const char *name  = path ? holo_path_name(path) : "";
    int64_t     count = 1, no = 0;
    size_t      size      = 0;
    bool        has_count = holo_gguf_find_int(&model->file, "split.count", &count);
    if (!has_count || count < 2) return HOLO_OK;
    if (!holo_gguf_find_int(&model->file, "split.no", &no) || no < 0 || no >= count || count > SPLITS_MAX)
        return holo_fail(model->import->error, HOLO_BAD_MODEL, "the metadata split.no and split.count do not fit");
    if (!is_split_name(name, &size) || size > NAME_ROOM)
        return holo_fail(model->import->error, HOLO_BAD_MODEL,
                         "the model is in %lld files, but this one is not called NAME-%05lld-of-%05lld.gguf, by which "
                         "the others are found",
                         (long long)count, (long long)no + 1, (long long)count);
    if (no)
        return holo_fail(model->import->error, HOLO_BAD_ARGUMENT,
                         "this is file %lld of %lld of a model: give the first, %.*s-00001-of-%05lld.gguf",
                         (long long)no + 1, (long long)count, (int)size, name, (long long)count);
    return add_splits(model, name, size, count);
}

// ---- metadata

static void number_text(const HoloGgufValue *value, char *out, size_t room)
{
    int64_t whole;
    double  real;
    bool    is_true;
    if (holo_gguf_bool(value, &is_true))
        snprintf(out, room, "%s", is_true ? "true" : "false");
    else if (holo_gguf_int(value, &whole))
        snprintf(out, room, "%lld", (long long)whole);
    else if (holo_gguf_real(value, &real))
        snprintf(out, room, value->kind == HOLO_GGUF_F64 ? "%.17g" : "%.9g", real);
    else
        snprintf(out, room, "18446744073709551615 or less"); // an unsigned number that is too large
}

// The items of a short list of numbers; of others how many there are.
static void list_text(const HoloGgufValue *value, char *out, size_t room)
{
    HoloGgufValue walk = *value, item;
    char          text[40];
    bool          is_plain = value->item != HOLO_GGUF_TEXT && value->item != HOLO_GGUF_ARRAY;
    const char   *what = value->item == HOLO_GGUF_TEXT ? "texts" : value->item == HOLO_GGUF_ARRAY ? "lists" : "numbers";
    if (!is_plain || value->count > SHOWN_ITEMS) {
        snprintf(out, room, "%llu %s", (unsigned long long)value->count, what);
        return;
    }
    snprintf(out, room, "[");
    for (int i = 0; holo_gguf_next(&walk, &item); i++) {
        number_text(&item, text, sizeof text);
        snprintf(out + strlen(out), room - strlen(out), "%s%s", i ? ", " : "", text);
    }
    snprintf(out + strlen(out), room - strlen(out), "]");
}

static HoloStatus describe_entry(HoloImport *import, const HoloGgufEntry *entry)
{
    char       text[512], *key = holo_import_text(import, entry->key), *value = text;
    HoloString string;
    if (holo_gguf_text(&entry->value, &string))
        value = holo_import_text(import, string);
    else if (entry->value.kind == HOLO_GGUF_ARRAY)
        list_text(&entry->value, text, sizeof text);
    else
        number_text(&entry->value, text, sizeof text);
    if (!key || !value) return holo_fail_memory(import->error);
    return holo_import_own(import, key, value);
}

// Names tensors that the family does not use.
static HoloStatus describe_unused(const HoloGgufModel *model)
{
    char text[400] = "";
    int  count     = 0;
    for (const HoloGgufWeight *w = model->first; w; w = w->next) {
        if (w->is_used) continue;
        if (count++ < 4)
            snprintf(text + strlen(text), sizeof text - strlen(text), ", %.*s",
                     (int)holo_least((int64_t)w->tensor->name.size, 80), w->tensor->name.data);
    }
    char *all = holo_arena_format(model->import->arena, "%d%s%s", count, text, count > 4 ? ", ..." : "");
    if (!all) return holo_fail_memory(model->import->error);
    return count ? holo_import_fact(model->import, "unused_weights", all) : HOLO_OK;
}

static HoloStatus describe(const HoloGgufModel *model)
{
    char version[16];
    snprintf(version, sizeof version, "%u", model->file.version);
    HOLO_TRY(holo_import_fact(model->import, "version", version));
    HOLO_TRY(holo_import_fact(model->import, "model_type", model->architecture->family));
    HOLO_TRY(holo_import_fact(model->import, "architecture", model->architecture->graph));
    HOLO_TRY(describe_unused(model));
    for (int i = 0; i < model->file.entry_count; i++) HOLO_TRY(describe_entry(model->import, &model->file.entry[i]));
    return HOLO_OK;
}

// ---- the model

static HoloStatus unknown(const HoloGgufModel *model)
{
    const char *name = model->architecture_name, *near = "";
    int         best = HOLO_TEXT_NAME_MAX * 2;
    for (const HoloGgufArchitecture *row = holo_gguf_architectures; row->name; row++) {
        int far = holo_text_distance(name, strlen(name), row->name, strlen(row->name));
        if (far >= best) continue;
        best = far;
        near = row->name;
    }
    return holo_fail(
        model->import->error, HOLO_UNSUPPORTED,
        "there is no description of the architecture '%.100s'; the nearest that is known is %s. Export the "
        "model that the file was made from to ONNX",
        name, near);
}

static HoloStatus find_architecture(HoloGgufModel *model)
{
    HoloString text = {0}, type = {0};
    if (!holo_gguf_find_text(&model->file, "general.architecture", &text))
        return holo_fail(model->import->error, HOLO_BAD_MODEL,
                         "the metadata 'general.architecture' is missing: the file does not say what the model is");
    if (holo_gguf_find_text(&model->file, "general.type", &type) && type.size &&
        (type.size != 5 || memcmp(type.data, "model", 5)))
        return holo_fail(model->import->error, HOLO_UNSUPPORTED,
                         "the file is a part of a model ('%.*s', by its general.type), not a whole one",
                         HOLO_IMPORT_ARG(type));
    model->architecture_name = holo_import_text(model->import, text);
    if (!model->architecture_name) return holo_fail_memory(model->import->error);
    for (const HoloGgufArchitecture *row = holo_gguf_architectures; row->name; row++) {
        if (strcmp(row->name, model->architecture_name) || (row->fits && !row->fits(model))) continue;
        model->architecture = row;
        return HOLO_OK;
    }
    return unknown(model);
}

static HoloStatus open_file(HoloImport *import)
{
    const HoloMapping *file  = &import->from->file;
    HoloGgufModel     *model = HOLO_NEW(import->arena, HoloGgufModel, 1);
    const char        *name  = import->from->path ? holo_path_name(import->from->path) : "the model";
    if (!model) return holo_fail_memory(import->error);
    model->import = import;
    HOLO_TRY(holo_gguf_read(import->arena, name, file->data, file->size, &model->file, import->error));
    HOLO_TRY(add_weights(model, name, &model->file));
    HOLO_TRY(read_splits(model)); // only the first of several files has metadata
    HOLO_TRY(find_architecture(model));
    HOLO_TRY(holo_gguf_config(model));
    HoloFamilyRequest request = {
        .family       = model->architecture->family,
        .architecture = model->architecture->graph,
        .config       = model->config,
        .config_count = model->config_count,
        .dtype        = HOLO_F32,
        .weight       = holo_gguf_weight,
        .context      = model,
    };
    HoloFamilyModel built;
    HOLO_TRY(holo_family_build(import->arena, &request, &built, import->error));
    for (int i = 0; i < built.count; i++)
        HOLO_TRY(holo_import_entry(import, built.entry[i].name, built.entry[i].graph));
    return describe(model);
}

const HoloImporter holo_importers_gguf_model[] = {
    {.name = "GGUF", .words = "a GGUF model", .is_model = true, .magic = HOLO_GGUF_MAGIC, .open = open_file},
    {0},
};
