// keras_h5.c - Keras files: .h5 (HDF5 with the configuration as an attribute) and .keras (a zip of the configuration and
// of an HDF5 file of weights).
#include "import/keras/keras.h"
#include "import/wire/hdf5.h"
#include "import/wire/json.h"
#include "import/wire/zip.h"
#include "ops/tensor.h"

typedef struct KerasFile {
    HoloHdf5             h5;
    HoloKerasPool        pool;
    const HoloHdf5Node **node; // of each name of the pool
    int                  node_room;
} KerasFile;

// ---- weights of .h5: by name

static HoloStatus add_name(HoloKeras *k, KerasFile *file, const char *group, HoloString path, const HoloHdf5Node *node)
{
    HoloKerasPool *pool = &file->pool;
    char          *name = holo_arena_format(k->import->arena, "%s/%.*s", group, (int)path.size, path.data);
    if (!name || !HOLO_GROW(k->import->arena, pool->name, pool->count, pool->room) ||
        !HOLO_GROW(k->import->arena, file->node, pool->count, file->node_room))
        return holo_fail_memory(k->import->error);
    file->node[pool->count]   = node;
    pool->name[pool->count++] = (HoloString){name, strlen(name)};
    return HOLO_OK;
}

// The weights of a layer are listed in its attribute weight_names, or weight_names0, 1, ... if there are many.
static HoloStatus list_layer(HoloKeras *k, KerasFile *file, const HoloHdf5Node *group)
{
    char *name = holo_import_text(k->import, group->name);
    if (!name) return holo_fail_memory(k->import->error);
    for (int i = 0; i < group->attr_count; i++) {
        const HoloHdf5Attr *attr = &group->attr[i];
        if (attr->name.size < 12 || memcmp(attr->name.data, "weight_names", 12)) continue;
        HoloString *names = HOLO_NEW(k->import->arena, HoloString, attr->count + 1);
        if (!names) return holo_fail_memory(k->import->error);
        HOLO_TRY(holo_hdf5_strings(&file->h5, attr, names));
        for (int64_t n = 0; n < attr->count; n++) {
            const HoloHdf5Node *node = holo_hdf5_find(group, names[n]);
            if (node) HOLO_TRY(add_name(k, file, name, names[n], node));
        }
    }
    return HOLO_OK;
}

static HoloStatus find_by_name(HoloKeras *k, const HoloKerasPlace *place, const char *name, int index, HoloTensor *out,
                               bool *found)
{
    KerasFile *file = k->format;
    int        at   = holo_keras_find(&file->pool, place, name);
    (void)index;
    if (at < 0 && place->outer)
        at = holo_keras_find(&file->pool, place->outer, name); // a layer around it has its weights
    *found = at >= 0;
    return *found ? holo_hdf5_tensor(&file->h5, file->node[at], out) : HOLO_OK;
}

// ---- weights of .keras: by their places in groups

static const HoloHdf5Node *child(const HoloHdf5Node *node, const char *name)
{
    return node ? holo_hdf5_find(node, (HoloString){name, strlen(name)}) : NULL;
}

// The group of a layer: layers/dense_1, or of a layer in a layer: .../forward_layer.
static const HoloHdf5Node *group_of(const KerasFile *file, const HoloKerasPlace *place)
{
    if (!place->outer) return &file->h5.root;
    const HoloHdf5Node *outer = group_of(file, place->outer), *list = child(outer, "layers");
    if (!list) list = child(outer, "_layer_checkpoint_dependencies");
    const HoloHdf5Node *found = child(list, place->group);
    if (!found) found = child(list, place->name);
    return found ? found : child(outer, place->group);
}

// "query/kernel" is the first weight of the part "query", after Keras 3's names of parts.
static const HoloHdf5Node *part_of(const HoloHdf5Node *group, const char **name, int *index)
{
    static const char *const parts[][2] = {{"query/", "query_dense"},
                                           {"key/", "key_dense"},
                                           {"value/", "value_dense"},
                                           {"attention_output/", "output_dense"}};
    for (int i = 0; i < HOLO_COUNT(parts); i++)
        if (!strncmp(*name, parts[i][0], strlen(parts[i][0]))) {
            *name += strlen(parts[i][0]);
            *index       = strcmp(*name, "bias") ? 0 : 1;
            char old[32] = "_";
            strncat(old, parts[i][1], sizeof old - 2);
            const HoloHdf5Node *found = child(group, parts[i][1]);
            return found ? found : child(group, old);
        }
    const HoloHdf5Node *cell = child(group, "cell");
    return cell ? cell : group;
}

static HoloStatus find_by_place(HoloKeras *k, const HoloKerasPlace *place, const char *name, int index, HoloTensor *out,
                                bool *found)
{
    KerasFile          *file  = k->format;
    const HoloHdf5Node *group = group_of(file, place),
                       *vars  = child(group ? part_of(group, &name, &index) : NULL, "vars");
    char number[16];
    snprintf(number, sizeof number, "%d", index);
    const HoloHdf5Node *node = child(vars, number);
    if (!node) node = child(vars, name);
    *found = node != NULL;
    return node ? holo_hdf5_tensor(&file->h5, node, out) : HOLO_OK;
}

// ---- the files

static HoloStatus attr_text(KerasFile *file, const HoloHdf5Node *node, const char *name, HoloString *out)
{
    const HoloHdf5Attr *attr = holo_hdf5_attr(node, name);
    *out                     = (HoloString){"", 0};
    return attr && attr->count == 1 ? holo_hdf5_strings(&file->h5, attr, out) : HOLO_OK;
}

static HoloStatus build(HoloKeras *k, const char *name, HoloString text)
{
    json_t *json;
    HOLO_TRY(holo_json_read(name, text.data, text.size, &json, k->import->error));
    HoloStatus status = holo_keras_build(k, json);
    json_decref(json);
    return status;
}

static HoloStatus open_h5(HoloImport *import)
{
    HoloKeras           k    = {.import = import};
    KerasFile           file = {0};
    HoloString          config, version;
    const HoloHdf5Node *weights;
    HOLO_TRY(holo_hdf5_open(import->arena, import->from->file.data, import->from->file.size, &file.h5, import->error));
    HOLO_TRY(attr_text(&file, &file.h5.root, "model_config", &config));
    HOLO_TRY(attr_text(&file, &file.h5.root, "keras_version", &version));
    if (!config.size)
        return holo_fail(import->error, HOLO_UNSUPPORTED,
                         "this HDF5 file has no Keras model in it (no attribute model_config): perhaps weights alone; "
                         "save the whole model (model.save)");
    char *text = holo_import_text(import, version);
    if (!text) return holo_fail_memory(import->error);
    HOLO_TRY(holo_import_fact(import, "keras_version", text));
    k.is_version_3 = version.size && version.data[0] == '3';
    k.weight       = find_by_name;
    k.format       = &file;
    weights        = child(&file.h5.root, "model_weights");
    for (int i = 0; weights && i < weights->child_count; i++) HOLO_TRY(list_layer(&k, &file, &weights->child[i]));
    return build(&k, "model_config", config);
}

static HoloStatus find_entry(HoloImport *import, const HoloZipEntry *entries, int count, const char *name,
                             HoloString *out)
{
    for (int i = 0; i < count; i++) {
        const void *bytes;
        if (strcmp(entries[i].name, name)) continue;
        if (entries[i].method && entries[i].size > import->copied_max)
            return holo_fail(import->error, HOLO_NO_MEMORY,
                             "entry '%s' asks for far more memory than the size of the file", name);
        HOLO_TRY(holo_zip_read(import->arena, &entries[i], &bytes, import->error));
        *out = (HoloString){bytes, entries[i].size};
        return HOLO_OK;
    }
    return holo_fail(import->error, HOLO_BAD_MODEL, "the .keras file has no entry '%s'", name);
}

static HoloStatus open_zip(HoloImport *import)
{
    HoloKeras     k    = {.import = import, .is_version_3 = true};
    KerasFile     file = {0};
    HoloZipEntry *entries;
    HoloString    config, weights;
    int           count;
    HOLO_TRY(holo_zip_open(import->arena, import->from->file.data, import->from->file.size, &entries, &count,
                           import->error));
    HOLO_TRY(find_entry(import, entries, count, "config.json", &config));
    HOLO_TRY(find_entry(import, entries, count, "model.weights.h5", &weights));
    HOLO_TRY(holo_hdf5_open(import->arena, weights.data, weights.size, &file.h5, import->error));
    k.weight = find_by_place;
    k.format = &file;
    return build(&k, "config.json", config);
}

static HoloSniff sniff_zip(const HoloOffer *c)
{
    return holo_offer_has_bytes(c, 0, "PK\3\4") && holo_offer_mentions(c, "model.weights.h5") ? HOLO_SNIFF_SURE
                                                                                              : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_keras_h5[] = {
    {.name = "Keras HDF5", .words = "a Keras model (.h5)", .is_model = true, .magic = "\x89HDF", .open = open_h5},
    {.name = "Keras", .words = "a Keras model (.keras)", .is_model = true, .sniff = sniff_zip, .open = open_zip},
    {0},
};
