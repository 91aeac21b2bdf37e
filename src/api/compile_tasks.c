// compile_tasks.c - what a model of a HuggingFace folder is for: the labels of its classes, how the vectors of its tokens
// become one vector of a text, and how it wants pictures.
//
// Labels become the asset "labels": one in a line, by id. The rest is metadata, "text.pooling" and others.
#include "api/compiling.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 1 << 20, MODULES_MAX = 64 };

// Any JSON in a file of the folder; NULL: there is none that can be used.
static json_t *file_read(const char *folder, const char *file)
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

static HoloStatus meta_number(HoloCompile *c, const char *key, double number)
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

// Modes of pooling, in the order in which several of them are put behind each other.
static const struct {
    const char *key, *mode;
} modes[] = {
    {"pooling_mode_cls_token", "cls"},
    {"pooling_mode_max_tokens", "max"},
    {"pooling_mode_mean_tokens", "mean"},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt"},
    {"pooling_mode_weightedmean_tokens", "weighted"},
    {"pooling_mode_lasttoken", "last"},
};

static HoloStatus pooling_add(HoloCompile *c, const char *path)
{
    char    file[512], text[128] = "";
    int     size   = snprintf(file, sizeof file, "%s/config.json", path);
    json_t *config = size > 0 && size < (int)sizeof file ? file_read(c->path, file) : NULL;
    for (int i = 0; i < HOLO_COUNT(modes); i++)
        if (json_is_true(json_object_get(config, modes[i].key)))
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
    if (!type || ends_with(type, ".Transformer")) return HOLO_OK;
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
        json_t *json   = file_read(c->path, places[i].file);
        double  number = json_number_value(json_object_get(json, places[i].key));
        if (number >= 1 && number < 1e9) found = number; // more is how a folder says that there is no limit
        json_decref(json);
    }
    return found;
}

static HoloStatus vectors_add(HoloCompile *c)
{
    json_t    *modules = file_read(c->path, "modules.json");
    HoloStatus status  = HOLO_OK;
    double     length  = max_length(c);
    for (size_t i = 0; i < json_array_size(modules) && i < MODULES_MAX && !status; i++)
        status = module_add(c, json_array_get(modules, i));
    json_decref(modules);
    return status || !length ? status : meta_number(c, "text.max_length", length);
}

HoloStatus holo_compile_tasks(HoloCompile *c)
{
    json_t    *config = file_read(c->path, "config.json");
    HoloStatus status = labels_add(c, config);
    json_decref(config);
    return status ? status : vectors_add(c);
}
