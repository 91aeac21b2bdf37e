// huggingface.c - folders that HuggingFace's save_pretrained writes: config.json, and weights in one safetensors file,
// or in several with an index, or in checkpoints of PyTorch. The description of the model's family (src/models/) builds
// the graph.
#include "import/huggingface/huggingface.h"
#include "import/wire/checkpoint.h"
#include "import/wire/json.h"
#include "import/wire/safetensors.h"
#include "models/families.h"

#include <stdio.h>
#include <string.h>

#define CONFIG  "config.json"
#define WEIGHTS "model.safetensors"

typedef struct Weight {
    struct Weight *next;
    const char    *name;
    HoloTensor     tensor;
    bool           is_used;
} Weight;

typedef struct Folder {
    HoloImport *import;
    const char *at;    // "", or the folder below the model's own, "unet/"
    const char *entry; // the name of its graph; NULL: those of the family
    HoloAttr   *config;
    int         config_count, config_room;
    HoloNameMap shards;                     // files of weights that were read
    HoloNameMap weights;                    // to Weight
    Weight     *first;                      // of the list of them
    int64_t     elements[HOLO_DTYPE_COUNT]; // by type: elements of all weights
} Folder;

static HoloString string_of(const char *text)
{
    return (HoloString){text, strlen(text)};
}

static HoloStatus map_file(Folder *f, const char *name, HoloMapping **out)
{
    char *path = holo_arena_format(f->import->arena, "%s%s", f->at, name);
    return path ? holo_import_map(f->import, string_of(path), out) : holo_fail_memory(f->import->error);
}

static HoloStatus read_json(Folder *f, const char *name, json_t **out)
{
    HoloMapping *file;
    HOLO_TRY(map_file(f, name, &file));
    return holo_json_read(name, file->data, file->size, out, f->import->error);
}

static bool has_file(const HoloOffer *offer, const char *at, const char *name)
{
    char path[256], byte;
    if (!*at) return holo_offer_has_name(offer, name);
    return snprintf(path, sizeof path, "%s%s", at, name) < (int)sizeof path && holo_offer_peek(offer, path, &byte, 1);
}

// ---- config

static HoloStatus add_config(Folder *f, const char *prefix, const char *key, json_t *json, int depth);

static HoloStatus add_object(Folder *f, const char *prefix, json_t *json, int depth)
{
    enum { DEPTH_MAX = 8 };
    const char *key;
    json_t     *value;
    if (depth > DEPTH_MAX) return holo_fail(f->import->error, HOLO_BAD_MODEL, CONFIG ": objects are nested too deep");
    json_object_foreach(json, key, value) HOLO_TRY(add_config(f, prefix, key, value, depth));
    return HOLO_OK;
}

// The kind of a list, by its items; 0: it is empty, too long, or of several kinds.
static HoloAttrKind list_kind(const json_t *array)
{
    enum { LIST_MAX = 4096 };
    size_t count = json_array_size(array), ints = 0, floats = 0, texts = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        ints += json_is_integer(item) || json_is_boolean(item);
        floats += json_is_real(item);
        texts += json_is_string(item);
    }
    if (!count || count > LIST_MAX) return 0;
    return ints == count            ? HOLO_ATTR_INTS
           : ints + floats == count ? HOLO_ATTR_FLOATS
           : texts == count         ? HOLO_ATTR_STRINGS
                                    : 0;
}

static HoloStatus attr_list(Folder *f, const json_t *array, HoloAttr *out)
{
    size_t      count  = json_array_size(array);
    HoloArena  *arena  = f->import->arena;
    int64_t    *ints   = HOLO_NEW(arena, int64_t, count);
    float      *floats = HOLO_NEW(arena, float, count);
    HoloString *texts  = HOLO_NEW(arena, HoloString, count);
    if (!ints || !floats || !texts) return holo_fail_memory(f->import->error);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        ints[i]            = json_is_integer(item) ? json_integer_value(item) : json_is_true(item);
        floats[i]          = (float)(json_is_real(item) ? json_real_value(item) : (double)ints[i]);
        if (!json_is_string(item)) continue;
        texts[i]      = string_of(json_string_value(item));
        texts[i].data = holo_import_text(f->import, texts[i]);
        if (!texts[i].data) return holo_fail_memory(f->import->error);
    }
    out->kind  = list_kind(array);
    out->count = (int32_t)count;
    if (out->kind == HOLO_ATTR_INTS) out->ints = ints;
    if (out->kind == HOLO_ATTR_FLOATS) out->floats = floats;
    if (out->kind == HOLO_ATTR_STRINGS) out->strings = texts;
    return HOLO_OK;
}

// null, and a list of other things, count as missing.
static HoloStatus add_config(Folder *f, const char *prefix, const char *key, json_t *json, int depth)
{
    HoloImport *import = f->import;
    HoloAttr    attr   = {.name = holo_arena_format(import->arena, "%s%s", prefix, key), .count = 1};
    if (!attr.name) return holo_fail_memory(import->error);
    if (json_is_object(json)) {
        char *inner = holo_arena_format(import->arena, "%s.", attr.name);
        return inner ? add_object(f, inner, json, depth + 1) : holo_fail_memory(import->error);
    }
    if (json_is_integer(json) || json_is_boolean(json)) {
        attr.kind = HOLO_ATTR_INT;
        attr.i    = json_is_integer(json) ? json_integer_value(json) : json_is_true(json);
    } else if (json_is_real(json)) {
        attr.kind = HOLO_ATTR_FLOAT;
        attr.f    = json_real_value(json);
    } else if (json_is_string(json)) {
        attr.kind   = HOLO_ATTR_STRING;
        attr.s      = string_of(json_string_value(json));
        attr.s.data = holo_import_text(import, attr.s);
        if (!attr.s.data) return holo_fail_memory(import->error);
    } else if (json_is_array(json) && list_kind(json)) {
        HOLO_TRY(attr_list(f, json, &attr));
    } else {
        return HOLO_OK;
    }
    if (!HOLO_GROW(import->arena, f->config, f->config_count, f->config_room)) return holo_fail_memory(import->error);
    f->config[f->config_count++] = attr;
    return HOLO_OK;
}

// ---- weights

// A weight without data.
static HoloStatus add_weight(Folder *f, const char *name, const HoloTensor *tensor, Weight **out)
{
    Weight    *weight = HOLO_NEW(f->import->arena, Weight, 1);
    HoloString text   = string_of(name);
    if (!weight) return holo_fail_memory(f->import->error);
    if (holo_name_map_find(&f->weights, text))
        return holo_fail(f->import->error, HOLO_BAD_MODEL, "the weight '%.200s' is in two files", name);
    if (!holo_name_map_set(&f->weights, f->import->arena, text, weight)) return holo_fail_memory(f->import->error);
    *weight  = (Weight){.next = f->first, .name = name, .tensor = *tensor};
    f->first = weight;
    *out     = weight;
    return HOLO_OK;
}

static HoloStatus add_safetensors(Folder *f, const char *name, const HoloMapping *file, bool is_alone)
{
    (void)is_alone;
    HoloSafeTensors all;
    Weight         *weight;
    HOLO_TRY(holo_safetensors_read(f->import->arena, name, file->data, file->size, &all, f->import->error));
    for (int i = 0; i < all.count; i++) {
        const HoloSafeTensor *t = &all.entry[i];
        HOLO_TRY(add_weight(f, t->name, &t->tensor, &weight));
        if (t->count)
            HOLO_TRY(holo_import_bytes(f->import, string_of(t->name), t->tensor.data, t->count, &weight->tensor));
        f->elements[t->tensor.dtype] += t->count; // at most as many as the files have bits
    }
    for (int i = 0; i < all.meta_count; i++) HOLO_TRY(holo_import_own(f->import, all.meta[2 * i], all.meta[2 * i + 1]));
    return HOLO_OK;
}

// Names are as the index has them, if there is one.
static HoloStatus add_checkpoint(Folder *f, const char *name, const HoloMapping *file, bool is_alone)
{
    HoloCheckpoint        checkpoint;
    HoloCheckpointTensors all;
    Weight               *weight;
    HOLO_TRY(holo_checkpoint_open(f->import->arena, name, file->data, file->size, &checkpoint, f->import->error));
    HOLO_TRY(holo_checkpoint_tensors(&checkpoint, &all));
    if (is_alone) holo_checkpoint_strip(&all);
    for (int i = 0; i < all.count; i++) {
        const HoloCheckpointTensor *t    = &all.entry[i];
        HoloString                  text = string_of(t->name);
        HOLO_TRY(add_weight(f, t->name, &t->tensor, &weight));
        if (!t->count) continue;
        if (t->is_dense) {
            HOLO_TRY(holo_import_bytes(f->import, text, t->tensor.data, t->count, &weight->tensor));
        } else {
            void *copy;
            HOLO_TRY(holo_import_take(f->import, text, t->count, holo_dtype_size(t->tensor.dtype), &copy));
            holo_checkpoint_copy(t, copy);
            HOLO_TRY(holo_import_bytes(f->import, text, copy, t->count, &weight->tensor));
        }
        f->elements[t->tensor.dtype] += t->count; // as many as are in memory
    }
    return HOLO_OK;
}

// The files that may have the weights. Of several, the first counts.
static const struct Form {
    const char *file;
    bool        is_index;
    HoloStatus (*add)(Folder *f, const char *name, const HoloMapping *file, bool is_alone);
} forms[] = {
    {WEIGHTS, false, add_safetensors},
    {"model.safetensors.index.json", true, add_safetensors},
    {"pytorch_model.bin", false, add_checkpoint},
    {"pytorch_model.bin.index.json", true, add_checkpoint},
    {"diffusion_pytorch_model.safetensors", false, add_safetensors},
    {"diffusion_pytorch_model.safetensors.index.json", true, add_safetensors},
    {"diffusion_pytorch_model.bin", false, add_checkpoint},
};

static HoloStatus add_file(Folder *f, const struct Form *form, const char *name)
{
    HoloMapping *file;
    HOLO_TRY(map_file(f, name, &file));
    return form->add(f, name, file, !form->is_index);
}

static HoloStatus add_shards(Folder *f, const struct Form *form, json_t *map)
{
    HoloError  *error = f->import->error;
    const char *name, *file;
    json_t     *value;
    if (!json_is_object(map)) return holo_fail(error, HOLO_BAD_MODEL, "%s: it has no weight_map", form->file);
    json_object_foreach(map, name, value)
    {
        file = json_string_value(value);
        if (!file) return holo_fail(error, HOLO_BAD_MODEL, "%s: the file of '%.200s' is not a text", form->file, name);
        if (holo_name_map_find(&f->shards, string_of(file))) continue;
        if (!holo_name_map_set(&f->shards, f->import->arena, string_of(file), f)) return holo_fail_memory(error);
        HOLO_TRY(add_file(f, form, file));
    }
    json_object_foreach(map, name, value)
    {
        if (!holo_name_map_find(&f->weights, string_of(name)))
            return holo_fail(error, HOLO_BAD_MODEL, "%s: the weight '%.200s' is not in its file, %.200s", form->file,
                             name, json_string_value(value));
    }
    return HOLO_OK;
}

static HoloStatus read_weights(Folder *f)
{
    const struct Form *form = forms;
    const struct Form *end  = forms + HOLO_COUNT(forms);
    while (form < end && !has_file(f->import->from, f->at, form->file)) form++;
    if (form == end)
        return holo_fail(f->import->error, HOLO_BAD_MODEL, "there is no file of weights, such as %s%s", f->at, WEIGHTS);
    if (!form->is_index) return add_file(f, form, form->file);
    json_t *index;
    HOLO_TRY(read_json(f, form->file, &index));
    HoloStatus status = add_shards(f, form, json_object_get(index, "weight_map"));
    json_decref(index);
    return status;
}

// The type that the model computes in: of the possible ones, that of most weights.
static HoloDtype main_dtype(const Folder *f)
{
    static const HoloDtype types[] = {HOLO_F32, HOLO_F16, HOLO_BF16, HOLO_F64};
    HoloDtype              best    = types[0];
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (f->elements[types[i]] > f->elements[best]) best = types[i];
    bool is_narrow = best == HOLO_F16 || best == HOLO_BF16;
    return is_narrow && f->import->is_wide ? HOLO_F32 : best;
}

// How names of weights end, today and in old checkpoints.
static const struct {
    const char *now, *before;
} endings[] = {{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}};

static Weight *find_old(Folder *f, const char *name)
{
    char   old[1024];
    size_t size = strlen(name);
    for (int i = 0; i < HOLO_COUNT(endings); i++) {
        size_t end = strlen(endings[i].now);
        if (size < end || size >= sizeof old || strcmp(name + size - end, endings[i].now)) continue;
        snprintf(old, sizeof old, "%.*s%s", (int)(size - end), name, endings[i].before);
        return holo_name_map_find(&f->weights, string_of(old));
    }
    return NULL;
}

static bool find_weight(void *context, const char *name, HoloFamilyWeight *out)
{
    Folder *f      = context;
    Weight *weight = holo_name_map_find(&f->weights, string_of(name));
    if (!weight) weight = find_old(f, name);
    if (!weight) return false;
    weight->is_used = true;
    *out            = (HoloFamilyWeight){.tensor = weight->tensor};
    return true;
}

// ---- the model

// Names the weights that the architecture does not use: of a head that is not wanted, or of something that is not
// described.
static HoloStatus describe_unused(Folder *f)
{
    char text[400] = "";
    int  count     = 0;
    for (const Weight *weight = f->first; weight; weight = weight->next) {
        if (weight->is_used) continue;
        if (count++ < 4) snprintf(text + strlen(text), sizeof text - strlen(text), ", %.80s", weight->name);
    }
    char *all = holo_arena_format(f->import->arena, "%d%s%s", count, text, count > 4 ? ", ..." : "");
    if (!all) return holo_fail_memory(f->import->error);
    return count ? holo_import_fact(f->import, "unused_weights", all) : HOLO_OK;
}

static HoloStatus describe(Folder *f, const json_t *config, const HoloFamilyRequest *request)
{
    static const char *const keys[]  = {"torch_dtype", "dtype", "_name_or_path"};
    const char              *version = json_string_value(json_object_get(config, "transformers_version"));
    char *producer = holo_arena_format(f->import->arena, "transformers %.100s", version ? version : "");
    if (!producer) return holo_fail_memory(f->import->error);
    if (version) HOLO_TRY(holo_import_fact(f->import, "producer", producer));
    if (request->family) HOLO_TRY(holo_import_fact(f->import, "model_type", request->family));
    HOLO_TRY(holo_import_fact(f->import, "architecture", f->import->out->graph->name));
    for (int i = 0; i < HOLO_COUNT(keys); i++) {
        const char *value = json_string_value(json_object_get(config, keys[i]));
        if (value) HOLO_TRY(holo_import_fact(f->import, keys[i], value));
    }
    return describe_unused(f);
}

static HoloStatus build(Folder *f, json_t *config)
{
    const json_t *architectures = json_object_get(config, "architectures");
    const char *class           = json_string_value(json_object_get(config, "_class_name")); // of Diffusers
    HoloFamilyRequest request   = {
          .family       = json_string_value(json_object_get(config, "model_type")),
          .architecture = json_string_value(json_array_get(architectures, 0)),
          .weight       = find_weight,
          .context      = f,
    };
    if (class) request.architecture = class;
    if (!request.family && !request.architecture)
        return holo_fail(f->import->error, HOLO_BAD_MODEL,
                         CONFIG ": neither architectures nor model_type say what the model is");
    HOLO_TRY(add_object(f, "", config, 0));
    HOLO_TRY(read_weights(f));
    request.config       = f->config;
    request.config_count = f->config_count;
    request.dtype        = class || f->entry ? HOLO_F32 : main_dtype(f); // Diffusers computes in f32
    HoloFamilyModel model;
    HOLO_TRY(holo_family_build(f->import->arena, &request, &model, f->import->error));
    for (int i = 0; i < model.count; i++)
        if (!f->entry || !i)
            HOLO_TRY(holo_import_entry(f->import, f->entry ? f->entry : model.entry[i].name, model.entry[i].graph));
    return f->entry ? HOLO_OK : describe(f, config, &request);
}

HoloStatus holo_huggingface_part(HoloImport *import, const char *at, const char *entry)
{
    Folder  folder = {.import = import, .at = at, .entry = entry};
    json_t *config;
    HOLO_TRY(read_json(&folder, CONFIG, &config));
    HoloStatus status = build(&folder, config);
    json_decref(config);
    return status;
}

static HoloStatus open_folder(HoloImport *import)
{
    return holo_huggingface_part(import, "", NULL);
}

static HoloSniff sniff(const HoloOffer *offer)
{
    bool has = false;
    for (int i = 0; i < HOLO_COUNT(forms); i++) has |= holo_offer_has_name(offer, forms[i].file);
    return has && holo_offer_has_name(offer, CONFIG) ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_huggingface[] = {
    {.name     = "HuggingFace",
     .words    = "a HuggingFace folder (" CONFIG " and " WEIGHTS " or pytorch_model.bin)",
     .is_model = true,
     .sniff    = sniff,
     .open     = open_folder},
    {0},
};
