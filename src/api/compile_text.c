// compile_text.c - what goes with a language model: its tokenizer, its chat template, and how it wants to be sampled.
//
// All of it is taken from the folder or the file that the model was read from, and becomes assets and metadata of the
// archive ("text.eos", "text.context" ...), so that one file can be talked to. A model without any of it is no failure.
#include "api/compiling.h"
#include "hologram_text.h"
#include "import/wire/json.h"

#include <stdio.h>
#include <string.h>

// ---- JSON files beside the model

// The object in a file of the folder; NULL: there is no such file, or nothing that can be used in it.
static json_t *json_of(const char *folder, const char *file)
{
    HoloError   ignored = {0};
    HoloMapping map     = {0};
    json_t     *json    = NULL;
    char        path[4096];
    int         size = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (size < 0 || size >= (int)sizeof path || !holo_path_exists(path)) return NULL;
    if (holo_file_map(path, &map, &ignored)) return NULL;
    if (holo_json_read(file, map.data, map.size, &json, &ignored)) json = NULL;
    holo_file_unmap(&map);
    return json;
}

typedef struct Configs { // of a folder; NULL: there is none
    json_t *model, *text, *generation, *tokenizer;
} Configs;

static void configs_open(const char *folder, Configs *out)
{
    *out      = (Configs){.model      = json_of(folder, "config.json"),
                          .generation = json_of(folder, "generation_config.json"),
                          .tokenizer  = json_of(folder, "tokenizer_config.json")};
    out->text = out->model ? json_object_get(out->model, "text_config") : NULL; // of models that also see or hear
}

static void configs_close(const Configs *c)
{
    json_decref(c->model);
    json_decref(c->generation);
    json_decref(c->tokenizer);
}

static const json_t *find(const Configs *c, const char *key)
{
    const json_t *const places[] = {c->generation, c->model, c->text};
    for (int i = 0; i < HOLO_COUNT(places); i++) {
        const json_t *value = places[i] ? json_object_get(places[i], key) : NULL;
        if (value && !json_is_null(value)) return value;
    }
    return NULL;
}

// ---- metadata

// Keys of HuggingFace's configs, and what they are called here. Of several for one thing the first that is there counts.
static const struct {
    const char *key, *meta;
} keys[] = {
    {"eos_token_id", "text.eos"},
    {"bos_token_id", "text.bos"},
    {"pad_token_id", "text.pad"},
    {"decoder_start_token_id", "text.start"},
    {"max_position_embeddings", "text.context"},
    {"n_positions", "text.context"},
    {"max_seq_len", "text.context"},
    {"seq_length", "text.context"},
    {"n_ctx", "text.context"},
    {"do_sample", "text.do_sample"},
    {"temperature", "text.temperature"},
    {"top_k", "text.top_k"},
    {"top_p", "text.top_p"},
    {"min_p", "text.min_p"},
    {"typical_p", "text.typical_p"},
    {"repetition_penalty", "text.repetition_penalty"},
};

static bool number_text(const json_t *value, char *text, size_t room)
{
    if (json_is_boolean(value))
        snprintf(text, room, "%d", json_is_true(value));
    else if (json_is_integer(value))
        snprintf(text, room, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, room, "%.9g", json_real_value(value));
    else
        return false;
    return true;
}

// A number, or several with commas between them. False: it is neither.
static bool value_text(const json_t *value, char *text, size_t room)
{
    size_t at = 0;
    if (!json_is_array(value)) return number_text(value, text, room);
    for (size_t i = 0; i < json_array_size(value) && at + 32 < room; i++) {
        at += (size_t)snprintf(text + at, room - at, i ? "," : "");
        if (!number_text(json_array_get(value, i), text + at, room - at)) return false;
        at += strlen(text + at);
    }
    return at > 0;
}

static HoloStatus meta_add(HoloCompile *c, const Configs *configs)
{
    const char *done = "";
    for (int i = 0; i < HOLO_COUNT(keys); i++) {
        const json_t *value = find(configs, keys[i].key);
        char          text[512];
        if (!value || !strcmp(done, keys[i].meta) || !value_text(value, text, sizeof text)) continue;
        HOLO_TRY(holo_plan_meta(&c->plan, keys[i].meta, text, c->error));
        done = keys[i].meta;
    }
    return HOLO_OK;
}

// ---- assets

// In tokenizer_config.json it is a text, or a list of named ones, of which "default" is meant.
static const json_t *template_in(const json_t *config)
{
    const json_t *value = config ? json_object_get(config, "chat_template") : NULL, *item;
    size_t        i;
    if (!json_is_array(value)) return value;
    json_array_foreach(value, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && !strcmp(name, "default")) return json_object_get(item, "template");
    }
    return NULL;
}

static HoloStatus template_add(HoloCompile *c, const Configs *configs)
{
    const json_t *value = template_in(configs->tokenizer);
    HoloMapping   file  = {0};
    char          path[4096];
    int           size = snprintf(path, sizeof path, "%s/chat_template.jinja", c->path);
    if (size > 0 && size < (int)sizeof path && holo_path_exists(path)) {
        HOLO_TRY(holo_file_map(path, &file, c->error));
        HoloStatus status = holo_plan_asset(&c->plan, "chat_template", file.data, file.size, c->error);
        holo_file_unmap(&file);
        return status;
    }
    if (!json_is_string(value)) return HOLO_OK;
    return holo_plan_asset(&c->plan, "chat_template", json_string_value(value), json_string_length(value), c->error);
}

// The special tokens by their text, which templates ask for.
static HoloStatus specials_add(HoloCompile *c, const Configs *configs)
{
    static const char *const names[] = {"bos_token", "eos_token", "pad_token", "unk_token"};
    for (int i = 0; i < HOLO_COUNT(names) && configs->tokenizer; i++) {
        const json_t *value = json_object_get(configs->tokenizer, names[i]);
        const char   *text  = json_string_value(json_is_object(value) ? json_object_get(value, "content") : value);
        char          key[32];
        snprintf(key, sizeof key, "text.%s", names[i]);
        if (text) HOLO_TRY(holo_plan_meta(&c->plan, key, text, c->error));
    }
    return HOLO_OK;
}

// A tokenizer that cannot be read is told, and the model is written without it: it can still be run.
static HoloStatus tokenizer_add(HoloCompile *c)
{
    HoloTokenizer *tokenizer;
    HoloError      why    = {0};
    HoloStatus     status = holo_tokenizer_compile(c->path, &tokenizer, &why);
    size_t         size;
    if (status == HOLO_NO_FILE) return HOLO_OK;
    if (status == HOLO_NO_MEMORY || status == HOLO_CANCELLED) return holo_fail(c->error, status, "%s", why.text);
    if (status) {
        holo_tell(HOLO_LOG_WARNING, "%s: the archive has no tokenizer: %s", c->path, why.text);
        return holo_plan_meta(&c->plan, "text.tokenizer", why.text, c->error);
    }
    const void *block = holo_tokenizer_block(tokenizer, &size);
    status            = holo_plan_asset(&c->plan, "tokenizer", block, size, c->error);
    holo_tokenizer_close(tokenizer);
    return status;
}

HoloStatus holo_compile_text(HoloCompile *c)
{
    if (c->bytes.data || !holo_path_is_folder(c->path)) return HOLO_OK;
    Configs configs;
    configs_open(c->path, &configs);
    HoloStatus status = meta_add(c, &configs);
    if (!status) status = specials_add(c, &configs);
    if (!status) status = template_add(c, &configs);
    configs_close(&configs);
    return status ? status : tokenizer_add(c);
}
