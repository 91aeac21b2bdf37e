// compile_tasks.c - what a model of a HuggingFace folder is for: the labels of its classes, how the vectors of its
// tokens become one vector of a text, and how it wants pictures and sounds.
//
// Labels become the asset "labels": one in a line, by id. The rest is metadata: "text.pooling", "image.mean" ....
#include "api/compiling.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 1 << 20, MODULES_MAX = 64 };

json_t *holo_compile_json(const char *folder, const char *file)
{
    HoloError   ignored = {0};
    HoloMapping map     = {0};
    char        path[4096];
    int         size = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (size < 0 || size >= (int)sizeof path || !holo_path_exists(path)) return NULL;
    if (holo_file_map(path, &map, &ignored)) return NULL;
    json_t *json = json_loadb(map.size ? (const char *)map.data : "", map.size, JSON_REJECT_DUPLICATES, NULL);
    holo_file_unmap(&map);
    return json;
}

HoloStatus holo_compile_meta_number(HoloCompile *c, const char *key, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", number);
    return holo_plan_meta(&c->plan, key, text, c->error);
}

// ---- labels

// The label of each id, of which there are `count`; NULL where there is none.
static void labels_sort(json_t *all, const char **label, size_t count)
{
    const char *key;
    json_t     *value;
    json_object_foreach(all, key, value)
    {
        char         *end;
        unsigned long id = strtoul(key, &end, 10);
        if (end != key && !*end && id < count && json_is_string(value)) label[id] = json_string_value(value);
    }
}

// One line each: a label with a new line in it gets a space there.
static HoloStatus labels_write(HoloCompile *c, const char **label, size_t count)
{
    HoloPlanBuffer lines  = {0};
    HoloStatus     status = HOLO_OK;
    char           name[32];
    for (size_t i = 0; i < count && !status; i++) {
        snprintf(name, sizeof name, "LABEL_%zu", i);
        const char *text = label[i] ? label[i] : name;
        status           = holo_buffer_add(&lines, text, strlen(text), c->error);
        for (size_t k = lines.size - (status ? 0 : strlen(text)); k < lines.size; k++)
            if (lines.data[k] == '\n') lines.data[k] = ' ';
        if (!status) status = holo_buffer_add(&lines, "\n", 1, c->error);
    }
    if (!status) status = holo_plan_asset(&c->plan, "labels", lines.data, lines.size, c->error);
    holo_free(lines.data);
    return status;
}

static HoloStatus labels_add(HoloCompile *c, const json_t *config)
{
    json_t     *all   = json_object_get(config, "id2label");
    size_t      count = json_object_size(all);
    const char *kind  = json_string_value(json_object_get(config, "problem_type"));
    if (kind) HOLO_TRY(holo_plan_meta(&c->plan, "labels.problem", kind, c->error));
    if (!count || count > LABELS_MAX) return HOLO_OK;
    HoloArena    arena = {0};
    const char **label = HOLO_NEW(&arena, const char *, count);
    if (label) labels_sort(all, label, count);
    HoloStatus status = label ? labels_write(c, label, count) : holo_fail_memory(c->error);
    holo_arena_deinit(&arena);
    return status;
}

// ---- vectors of texts

// Modes of pooling, in the order in which several of them are put behind each other. A file has a switch for each, or
// the name of the one.
static const struct {
    const char *key, *name, *mode;
} modes[] = {
    {"pooling_mode_cls_token", "cls", "cls"},
    {"pooling_mode_max_tokens", "max", "max"},
    {"pooling_mode_mean_tokens", "mean", "mean"},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", "mean_sqrt"},
    {"pooling_mode_weightedmean_tokens", "weightedmean", "weighted"},
    {"pooling_mode_lasttoken", "lasttoken", "last"},
};

static HoloStatus pooling_add(HoloCompile *c, const char *path)
{
    char        file[512], text[128] = "";
    int         size   = snprintf(file, sizeof file, "%s/config.json", path);
    json_t     *config = size > 0 && size < (int)sizeof file ? holo_compile_json(c->path, file) : NULL;
    const char *name   = json_string_value(json_object_get(config, "pooling_mode"));
    for (int i = 0; i < HOLO_COUNT(modes); i++)
        if (name ? !strcmp(name, modes[i].name) : json_is_true(json_object_get(config, modes[i].key)))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "," : "", modes[i].mode);
    json_decref(config);
    return *text ? holo_plan_meta(&c->plan, "text.pooling", text, c->error) : HOLO_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && !strcmp(text + size - tail, end);
}

// A module of the sentence-transformers library. One that is neither of these would change the vectors, so it is noted.
static HoloStatus module_add(HoloCompile *c, const json_t *module)
{
    const char *type = json_string_value(json_object_get(module, "type"));
    const char *path = json_string_value(json_object_get(module, "path"));
    if (!type || ends_with(type, ".Transformer") || ends_with(type, ".Dropout")) return HOLO_OK;
    if (ends_with(type, ".Normalize")) return holo_plan_meta(&c->plan, "text.normalize", "1", c->error);
    bool is_plain = path && *path && *path != '/' && !strstr(path, "..");
    if (ends_with(type, ".Pooling") && is_plain) return pooling_add(c, path);
    return holo_plan_meta(&c->plan, "text.module_left_out", type, c->error);
}

// The most tokens of a text, as the folder says; 0: it does not say.
static double max_length(const HoloCompile *c)
{
    static const struct {
        const char *file, *key;
    } places[]   = {{"sentence_bert_config.json", "max_seq_length"}, {"tokenizer_config.json", "model_max_length"}};
    double found = 0;
    for (int i = 0; i < HOLO_COUNT(places) && !found; i++) {
        json_t *json   = holo_compile_json(c->path, places[i].file);
        double  number = json_number_value(json_object_get(json, places[i].key));
        if (number >= 1 && number < 1e9) found = number; // more is how a folder says that there is no limit
        json_decref(json);
    }
    return found;
}

static HoloStatus vectors_add(HoloCompile *c)
{
    json_t    *modules = holo_compile_json(c->path, "modules.json");
    HoloStatus status  = HOLO_OK;
    double     length  = max_length(c);
    for (size_t i = 0; i < json_array_size(modules) && i < MODULES_MAX && !status; i++)
        status = module_add(c, json_array_get(modules, i));
    json_decref(modules);
    return status || !length ? status : holo_compile_meta_number(c, "text.max_length", length);
}

// ---- pictures

// A height and a width. A width of 0: the height is that of the shorter side, whichever it is.
typedef struct Sides {
    double height, width;
} Sides;

// {"height": 224, "width": 224}, {"shortest_edge": 256}, or 224. False: none of these.
static bool sides_read(const json_t *size, bool is_square, Sides *out)
{
    double edge   = json_number_value(json_is_object(size) ? json_object_get(size, "shortest_edge") : size);
    double height = json_number_value(json_object_get(size, "height"));
    double width  = json_number_value(json_object_get(size, "width"));
    if (height >= 1 && width >= 1)
        *out = (Sides){height, width};
    else if (edge >= 1)
        *out = (Sides){edge, is_square ? edge : 0};
    else
        return false;
    return true;
}

static HoloStatus sides_add(HoloCompile *c, const char *key, Sides sides)
{
    char text[64];
    snprintf(text, sizeof text, "%.0f,%.0f", sides.height, sides.width);
    return holo_plan_meta(&c->plan, key, text, c->error);
}

// "image.resize" and "image.crop". A crop_pct means that what is cut out is this part of the resized picture.
static HoloStatus frame_add(HoloCompile *c, const json_t *config)
{
    const json_t *crop = json_object_get(config, "do_center_crop"), *size = json_object_get(config, "size");
    const json_t *crop_size = json_object_get(config, "crop_size");
    double        part      = json_number_value(json_object_get(config, "crop_pct"));
    bool          crops     = crop ? json_is_true(crop) : crop_size != NULL;
    Sides         sides, cut;
    bool          resizes = !json_is_false(json_object_get(config, "do_resize"));
    if (!sides_read(size, !crops && !(part > 0), &sides)) resizes = false;
    if (resizes && part > 0 && part <= 1 && !sides.width) {
        cut   = (Sides){sides.height, sides.height};
        sides = sides.height < 384 ? (Sides){floor(sides.height / part), 0} : cut;
        HOLO_TRY(sides_add(c, "image.crop", cut));
    } else if (crops && sides_read(crop_size, true, &cut)) {
        HOLO_TRY(sides_add(c, "image.crop", cut));
    }
    return resizes ? sides_add(c, "image.resize", sides) : HOLO_OK;
}

// Numbers with commas between them.
static HoloStatus list_add(HoloCompile *c, const char *key, const json_t *list)
{
    char text[128] = "";
    for (size_t i = 0; i < json_array_size(list) && i < 3; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.9g", i ? "," : "",
                 json_number_value(json_array_get(list, i)));
    return *text ? holo_plan_meta(&c->plan, key, text, c->error) : HOLO_OK;
}

static HoloStatus pictures_add(HoloCompile *c, const json_t *config)
{
    static const char *const names[]  = {"nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"};
    const json_t            *resample = json_object_get(config, "resample");
    const json_t            *factor   = json_object_get(config, "rescale_factor");
    json_int_t               method   = json_is_integer(resample) ? json_integer_value(resample) : 2;
    bool                     scales   = !json_is_false(json_object_get(config, "do_rescale"));
    if (!json_is_object(config) || !(json_object_get(config, "size") || json_object_get(config, "image_mean")))
        return HOLO_OK; // there is none, or it is about sounds
    HOLO_TRY(frame_add(c, config));
    if (method >= 0 && method < HOLO_COUNT(names))
        HOLO_TRY(holo_plan_meta(&c->plan, "image.resample", names[method], c->error));
    HOLO_TRY(holo_compile_meta_number(c, "image.scale", !scales ? 1 : factor ? json_number_value(factor) : 1.0 / 255));
    if (json_is_false(json_object_get(config, "do_normalize"))) return HOLO_OK;
    HOLO_TRY(list_add(c, "image.mean", json_object_get(config, "image_mean")));
    return list_add(c, "image.std", json_object_get(config, "image_std"));
}

// ---- sounds

static HoloStatus sounds_add(HoloCompile *c, const json_t *config)
{
    static const struct {
        const char *key, *meta;
    } keys[]         = {{"sampling_rate", "sound.rate"},
                        {"feature_size", "sound.mels"},
                        {"n_fft", "sound.window"},
                        {"hop_length", "sound.hop"},
                        {"chunk_length", "sound.seconds"}};
    const char *type = json_string_value(json_object_get(config, "feature_extractor_type"));
    if (!type || strcmp(type, "WhisperFeatureExtractor") != 0) return HOLO_OK;
    for (int i = 0; i < HOLO_COUNT(keys); i++) {
        double number = json_number_value(json_object_get(config, keys[i].key));
        if (number > 0) HOLO_TRY(holo_compile_meta_number(c, keys[i].meta, number));
    }
    return HOLO_OK;
}

HoloStatus holo_compile_tasks(HoloCompile *c)
{
    json_t *config    = holo_compile_json(c->path, "config.json"),
           *pictures  = holo_compile_json(c->path, "preprocessor_config.json");
    HoloStatus status = labels_add(c, config);
    if (!status) status = pictures_add(c, pictures);
    if (!status) status = sounds_add(c, pictures);
    json_decref(config);
    json_decref(pictures);
    if (!status) status = vectors_add(c);
    return status ? status : holo_compile_pipeline(c);
}
