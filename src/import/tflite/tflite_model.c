// tflite_model.c - TensorFlow Lite's row in the table of importers, and what models say of themselves.
//
// A model is a file, or an entry of a zip file: MediaPipe's tasks are such. What the author says of it is in a buffer of its
// own, and files with labels are in a zip file behind the model.
#include "import/tflite/tflite.h"
#include "import/wire/zip.h"

#include <stdio.h>
#include <string.h>

enum { WORK_LEAST = 1 << 16 };

// ---- what the model says of itself

static HoloStatus fact_text(HoloTf *im, const char *key, HoloString value)
{
    char *text = holo_import_text(im->import, value);
    return text ? holo_import_fact(im->import, key, text) : holo_fail_memory(im->import->error);
}

static HoloStatus own_text(HoloTf *im, const char *key, HoloString value)
{
    char *text = holo_import_text(im->import, value);
    return text ? holo_import_own(im->import, key, text) : holo_fail_memory(im->import->error);
}

// A signature: its name, and its names of inputs and outputs.
static HoloStatus signature_fact(HoloTf *im, HoloFlatTable table)
{
    char       text[1024];
    int        at     = 0;
    HoloString key    = holo_flat_text(table, SIGNATURE_KEY);
    int        room   = (int)sizeof text - 1;
    const int  list[] = {SIGNATURE_INPUTS, SIGNATURE_OUTPUTS};
    for (int k = 0; k < 2; k++) {
        HoloFlatList names = holo_flat_list(table, list[k], 4);
        at += snprintf(text + at, (size_t)(room - at), "%s", k ? " -> " : "");
        for (size_t i = 0; i < names.count && at < room - 300; i++)
            at += snprintf(text + at, (size_t)(room - at), "%s%.*s", i ? ", " : "",
                           HOLO_IMPORT_ARG(holo_flat_text(holo_flat_list_table(names, i), MAP_NAME)));
    }
    char *name = holo_arena_format(im->import->arena, "signature.%.*s", HOLO_IMPORT_ARG(key));
    return name ? fact_text(im, name, (HoloString){text, (size_t)at}) : holo_fail_memory(im->import->error);
}

// ---- TensorFlow Lite's metadata (identifier M001)

enum { META_NAME, META_DESCRIPTION, META_VERSION, META_SUBGRAPHS, META_AUTHOR, META_LICENSE }; // ModelMetadata
enum { GRAPH_INPUTS = 2, GRAPH_OUTPUTS };                                                      // SubGraphMetadata
enum { TENSOR_META_NAME, TENSOR_META_DESCRIPTION, TENSOR_META_UNITS = 4, TENSOR_META_UNITS_ENTRIES = 4 };
enum { NORMALIZATION = 1 }; // of ProcessUnitOptions
enum { FILE_NAME };

// The mean and the standard deviation with which inputs are normalized.
static HoloStatus normalization_read(HoloTf *im, HoloFlatTable tensor, const char *name)
{
    HoloFlatList units = holo_flat_list(tensor, 4, 4);
    for (size_t i = 0; i < units.count; i++) {
        HoloFlatTable unit = holo_flat_list_table(units, i), options = holo_flat_table(unit, 1);
        char          text[256];
        int           at = 0;
        if (holo_flat_u8(unit, 0, 0) != NORMALIZATION) continue;
        for (int k = 0; k < 2; k++) {
            HoloFlatList list = holo_flat_list(options, k, 4);
            at += snprintf(text + at, sizeof text - (size_t)at, "%s", k ? ", std " : "mean ");
            for (size_t n = 0; n < list.count && n < 4; n++)
                at += snprintf(text + at, sizeof text - (size_t)at, "%s%g", n ? " " : "",
                               (double)holo_flat_list_f32(list, n));
        }
        char *key = holo_arena_format(im->import->arena, "%.100s.normalization", name);
        if (!key) return holo_fail_memory(im->import->error);
        HOLO_TRY(own_text(im, key, (HoloString){text, (size_t)at}));
    }
    return HOLO_OK;
}

static HoloStatus tensor_facts(HoloTf *im, HoloFlatList list, const char *what)
{
    for (size_t i = 0; i < list.count && i < 64; i++) {
        HoloFlatTable tensor = holo_flat_list_table(list, i);
        char         *key    = holo_arena_format(im->import->arena, "%s.%zu", what, i), *full;
        HoloString    name = holo_flat_text(tensor, 0), words = holo_flat_text(tensor, 1);
        HoloFlatList  files = holo_flat_list(tensor, 6, 4);
        if (!key) return holo_fail_memory(im->import->error);
        HOLO_TRY(own_text(im, key, name));
        if (!(full = holo_arena_format(im->import->arena, "%s.description", key)))
            return holo_fail_memory(im->import->error);
        HOLO_TRY(own_text(im, full, words));
        if (files.count) {
            if (!(full = holo_arena_format(im->import->arena, "%s.file", key)))
                return holo_fail_memory(im->import->error);
            HOLO_TRY(own_text(im, full, holo_flat_text(holo_flat_list_table(files, 0), FILE_NAME)));
        }
        HOLO_TRY(normalization_read(im, tensor, key));
    }
    return im->flat.status;
}

static HoloStatus metadata_read(HoloTf *im, const void *bytes, size_t size)
{
    static const struct {
        int         field;
        const char *key;
    } texts[]          = {{META_NAME, "name"},
                          {META_DESCRIPTION, "description"},
                          {META_VERSION, "version"},
                          {META_AUTHOR, "author"},
                          {META_LICENSE, "license"}};
    HoloError  ignored = {0};
    HoloFlat   flat, whole = im->flat;
    HoloStatus status = HOLO_OK;
    holo_flat_init(&flat, bytes, size, &ignored);
    HoloFlatTable meta  = holo_flat_root(&flat, "M001"),
                  graph = holo_flat_list_table(holo_flat_list(meta, META_SUBGRAPHS, 4), 0);
    for (int i = 0; i < HOLO_COUNT(texts) && !status; i++)
        status = own_text(im, texts[i].key, holo_flat_text(meta, texts[i].field));
    if (!status) status = tensor_facts(im, holo_flat_list(graph, GRAPH_INPUTS, 4), "input");
    if (!status) status = tensor_facts(im, holo_flat_list(graph, GRAPH_OUTPUTS, 4), "output");
    im->flat = whole;
    return status; // metadata that are damaged are no reason not to read the model
}

// Files that lie in a zip file behind the model: labels and vocabularies. The first lines of each are told.
static HoloStatus files_read(HoloTf *im)
{
    HoloError     ignored = {0};
    HoloZipEntry *entry;
    int           count;
    if (holo_zip_open(im->import->arena, im->flat.bytes, im->flat.size, &entry, &count, &ignored)) return HOLO_OK;
    for (int i = 0; i < count && i < 16; i++) {
        char   text[400];
        size_t size = holo_zip_peek(&entry[i], text, sizeof text - 1);
        size_t used = strlen(entry[i].name);
        if (!size || (used > 7 && !strcmp(entry[i].name + used - 7, ".tflite"))) continue;
        for (size_t k = 0; k < size; k++)
            if (text[k] == '\n' || text[k] == '\r') text[k] = ',';
        char *key = holo_arena_format(im->import->arena, "file.%.100s", entry[i].name);
        if (!key) return holo_fail_memory(im->import->error);
        HOLO_TRY(own_text(im, key, (HoloString){text, size}));
    }
    return HOLO_OK;
}

static HoloStatus describe(HoloTf *im)
{
    char         number[24];
    HoloFlatList signatures = holo_flat_list(im->model, MODEL_SIGNATURES, 4),
                 metadata   = holo_flat_list(im->model, MODEL_METADATA, 4);
    snprintf(number, sizeof number, "%lld", (long long)holo_flat_u32(im->model, MODEL_VERSION, 0));
    HOLO_TRY(holo_import_fact(im->import, "version", number));
    HOLO_TRY(fact_text(im, "description", holo_flat_text(im->model, MODEL_DESCRIPTION)));
    for (size_t i = 0; i < signatures.count && i < 32; i++)
        HOLO_TRY(signature_fact(im, holo_flat_list_table(signatures, i)));
    for (size_t i = 0; i < metadata.count && i < 32; i++) {
        HoloFlatTable entry = holo_flat_list_table(metadata, i);
        HoloString    name  = holo_flat_text(entry, METADATA_NAME);
        const void   *bytes;
        size_t        size;
        if (holo_tf_buffer(im, holo_flat_u32(entry, METADATA_BUFFER, 0), &bytes, &size) || im->flat.status)
            return im->flat.status;
        if (holo_string_equal(name, (HoloString){"TFLITE_METADATA", 15})) HOLO_TRY(metadata_read(im, bytes, size));
        if (holo_string_equal(name, (HoloString){"min_runtime_version", 19}))
            HOLO_TRY(fact_text(im, "min_runtime_version", (HoloString){bytes, strnlen(bytes ? bytes : "", size)}));
    }
    return files_read(im);
}

// ---- the model

static HoloStatus graph_read(HoloImport *import, const void *bytes, size_t size, bool is_open, bool *out_pinned)
{
    HoloTf   im = {.import = import, .is_open = is_open, .work = WORK_LEAST + (int64_t)(size / 4)};
    HoloEmit emit;
    holo_flat_init(&im.flat, bytes, size, import->error);
    im.model        = holo_flat_root(&im.flat, "TFL3");
    im.buffers      = holo_flat_list(im.model, MODEL_BUFFERS, 4);
    im.subgraphs    = holo_flat_list(im.model, MODEL_SUBGRAPHS, 4);
    im.codes        = holo_flat_list(im.model, MODEL_CODES, 4);
    int64_t version = holo_flat_u32(im.model, MODEL_VERSION, 0);
    HOLO_TRY(im.flat.status);
    if (version != 3)
        return holo_fail(import->error, HOLO_UNSUPPORTED, "version %lld of the format is not supported: it must be 3",
                         (long long)version);
    char *name = holo_import_text(import, holo_flat_text(holo_flat_list_table(im.subgraphs, 0), SUBGRAPH_NAME));
    if (!name) return holo_fail_memory(import->error);
    holo_emit_begin(&emit, import, *name ? name : "main");
    HoloStatus status = holo_tf_model(&im, &emit);
    if (!status && !is_open) status = describe(&im);
    if (!status && is_open && !im.is_pinned) status = describe(&im);
    holo_emit_end(&emit);
    if (!status) status = im.flat.status;
    *out_pinned        = im.is_pinned;
    import->out->graph = emit.graph;
    return status;
}

// Sizes that the file leaves open are symbols. Where operators need them to be what the file says, they are that.
static HoloStatus model_read(HoloImport *import, const void *bytes, size_t size)
{
    HoloError *error = import->error, own = {0};
    bool       pinned = false;
    import->error     = &own;
    HoloStatus status = graph_read(import, bytes, size, true, &pinned);
    import->error     = error;
    if (!status && !pinned) return HOLO_OK;
    if (status == HOLO_NO_MEMORY || status == HOLO_CANCELLED) return holo_fail(error, status, "%s", own.text);
    import->copied = 0;
    return graph_read(import, bytes, size, false, &pinned);
}

static HoloStatus open_file(HoloImport *import)
{
    return model_read(import, import->from->file.data, import->from->file.size);
}

// ---- models inside of zip files

enum { ENTRIES_MAX = 64 };

static bool is_model(const HoloZipEntry *entry)
{
    char   start[8];
    size_t size = holo_zip_peek(entry, start, sizeof start);
    return size == sizeof start && !memcmp(start + 4, "TFL3", 4);
}

// Tools that align what is inside may put a few bytes before a zip file.
static bool is_zip(const HoloOffer *offer)
{
    enum { BEFORE_MAX = 64 };
    for (size_t at = 0; at < BEFORE_MAX; at++)
        if (holo_offer_has_bytes(offer, at, "PK\3\4")) return true;
    return false;
}

static HoloSniff sniff_task(const HoloOffer *offer)
{
    if (offer->is_folder || !is_zip(offer)) return HOLO_SNIFF_NONE;
    return holo_offer_mentions(offer, "TFL3") || holo_offer_mentions(offer, ".tflite") ? HOLO_SNIFF_SURE
                                                                                       : HOLO_SNIFF_NONE;
}

// What stands before ".tflite", as the name of an entry: letters, digits, and _ for all others.
static const char *entry_name(HoloImport *import, const char *file)
{
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file, *end = strstr(base, ".tflite");
    char       *name = holo_arena_text(import->arena, base, end && end > base ? (size_t)(end - base) : strlen(base));
    for (char *c = name; c && *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'))) *c = '_';
    return name;
}

// One of several models: a graph that runs under a name.
static HoloStatus entry_read(HoloImport *import, const char *name, const void *bytes, size_t size)
{
    if (!name) return holo_fail_memory(import->error);
    HOLO_TRY(model_read(import, bytes, size));
    return holo_import_entry(import, name, import->out->graph);
}

static HoloStatus open_task(HoloImport *import)
{
    const HoloMapping *file = &import->from->file;
    HoloZipEntry      *entry;
    int                count, models = 0;
    const void        *bytes;
    HOLO_TRY(holo_zip_open(import->arena, file->data, file->size, &entry, &count, import->error));
    for (int i = 0; i < count; i++) models += is_model(&entry[i]);
    if (!models) return holo_fail(import->error, HOLO_BAD_MODEL, "this zip file has no TensorFlow Lite model in it");
    for (int i = 0; i < count; i++) {
        if (!is_model(&entry[i])) continue;
        HOLO_TRY(holo_zip_read(import->arena, &entry[i], &bytes, import->error));
        HOLO_TRY(holo_import_fact(import, "entry", entry[i].name));
        HOLO_TRY(models > 1 ? entry_read(import, entry_name(import, entry[i].name), bytes, entry[i].size)
                            : model_read(import, bytes, entry[i].size));
    }
    return HOLO_OK;
}

// ---- models inside of other files, such as the data files of MediaPipe's web pages

static HoloSniff sniff_inside(const HoloOffer *offer)
{
    bool is_other = is_zip(offer) || holo_offer_has_bytes(offer, 4, "TFL3");
    return !offer->is_folder && !is_other && holo_offer_mentions(offer, "TFL3") ? HOLO_SNIFF_PERHAPS : HOLO_SNIFF_NONE;
}

// Where the next model begins, from `at` on: its identifier stands behind the offset of its root, which lies in the file.
// `size`: there is none.
static size_t model_find(const uint8_t *bytes, size_t size, size_t at)
{
    for (; size >= 8 && at <= size - 8; at++) {
        uint32_t root;
        memcpy(&root, bytes + at, sizeof root);
        if (!memcmp(bytes + at + 4, "TFL3", 4) && root >= 8 && root < size - at) return at;
    }
    return size;
}

// Several models are named by their order: model_1, model_2 ...
static HoloStatus open_inside(HoloImport *import)
{
    const uint8_t *bytes = import->from->file.data;
    size_t         size = import->from->file.size, models = 0, first = model_find(bytes, size, 0), next;
    for (size_t at = first; at < size; at = model_find(bytes, size, at + 1)) models++;
    if (!models) return holo_fail(import->error, HOLO_BAD_MODEL, "there is no TensorFlow Lite model in this file");
    if (models == 1) return model_read(import, bytes + first, size - first);
    if (models > ENTRIES_MAX)
        return holo_fail(import->error, HOLO_UNSUPPORTED,
                         "this file has %zu TensorFlow Lite models in it; %d can be read", models, ENTRIES_MAX);
    models = 0;
    for (size_t at = first; at < size; at = next) {
        next = model_find(bytes, size, at + 1);
        HOLO_TRY(entry_read(import, holo_arena_format(import->arena, "model_%zu", ++models), bytes + at, next - at));
    }
    return HOLO_OK;
}

const HoloImporter holo_importers_tflite_model[] = {
    {.name     = "TFLite",
     .words    = "a TensorFlow Lite model",
     .is_model = true,
     .magic    = "TFL3",
     .magic_at = 4,
     .open     = open_file},
    {.name     = "TFLite task",
     .words    = "a task of MediaPipe, with a TensorFlow Lite model",
     .is_model = true,
     .sniff    = sniff_task,
     .open     = open_task},
    {.name     = "TFLite data",
     .words    = "a file with a TensorFlow Lite model in it",
     .is_model = true,
     .sniff    = sniff_inside,
     .open     = open_inside},
    {0},
};
