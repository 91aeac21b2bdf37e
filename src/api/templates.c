// templates.c - holo_template_compile: the chat template of a file or a HuggingFace folder, compiled and opened.
#include "hologram_text.h"

#include "base/files.h"
#include "import/wire/json.h"

#include <string.h>

static const char *const token_names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                          "pad_token", "cls_token", "mask_token"};

// The file of a folder as an object; NULL where there is none.
static HoloStatus read_object(HoloArena *arena, const char *folder, const char *name, json_t **out, HoloError *error)
{
    HoloMapping file = {0};
    char       *path = holo_arena_format(arena, "%s/%s", folder, name);
    *out             = NULL;
    if (!path) return holo_fail_memory(error);
    if (!holo_path_exists(path)) return HOLO_OK;
    HOLO_TRY(holo_file_map(path, &file, error));
    HoloStatus status = holo_json_read(path, file.data, file.size, out, error);
    holo_file_unmap(&file);
    return status;
}

// The special tokens of a configuration, as the text of a JSON object in the arena.
static HoloStatus token_variables(HoloArena *arena, const json_t *config, HoloString *out, HoloError *error)
{
    json_t *tokens = json_object();
    *out           = (HoloString){0};
    for (int i = 0; tokens && i < HOLO_COUNT(token_names); i++) {
        json_t *token = json_object_get(config, token_names[i]);
        if (json_is_object(token)) token = json_object_get(token, "content");
        if (json_is_string(token)) json_object_set(tokens, token_names[i], token);
    }
    size_t size = tokens ? json_dumpb(tokens, NULL, 0, JSON_COMPACT) : 0;
    char  *text = size ? holo_arena_take(arena, size) : NULL;
    if (text) *out = (HoloString){text, json_dumpb(tokens, text, size, JSON_COMPACT)};
    json_decref(tokens);
    return text ? HOLO_OK : holo_fail_memory(error);
}

// The text of a template in a configuration: a string, or one of a list of {name, template}. NULL: there is none.
static const json_t *template_in(const json_t *config, const char *name)
{
    const json_t *found = json_object_get(config, "chat_template");
    if (json_is_string(found) && !name) return found;
    if (json_is_object(found)) found = json_object_get(found, name ? name : "default");
    if (json_is_string(found) && !name) return found;
    for (size_t i = 0; json_is_array(found) && i < json_array_size(found); i++) {
        const json_t *entry = json_array_get(found, i);
        const char   *own   = json_string_value(json_object_get(entry, "name"));
        const json_t *text  = json_object_get(entry, "template");
        if (own && !strcmp(own, name ? name : "default") && json_is_string(text)) return text;
    }
    return NULL;
}

// A template that is a file of a folder: chat_template.jinja, or NAME.jinja of additional_chat_templates. *out_found: it is there.
static HoloStatus map_text(HoloArena *arena, const char *folder, const char *name, HoloMapping *out, bool *out_found,
                           HoloError *error)
{
    char *path = name ? holo_arena_format(arena, "%s/additional_chat_templates/%s.jinja", folder, name)
                      : holo_arena_format(arena, "%s/chat_template.jinja", folder);
    if (!path) return holo_fail_memory(error);
    *out_found = (!name || !strpbrk(name, "/\\")) && holo_path_exists(path);
    return *out_found ? holo_file_map(path, out, error) : HOLO_OK;
}

static HoloStatus compile_folder(HoloArena *arena, const char *folder, const char *name, HoloTemplate **out,
                                 HoloError *error)
{
    static const char *const files[]   = {"chat_template.json", "tokenizer_config.json"};
    json_t                  *config[2] = {NULL, NULL};
    const json_t            *text      = NULL;
    HoloMapping              file      = {0};
    HoloString               variables = {0};
    bool                     has_file  = false;
    HoloStatus               status    = map_text(arena, folder, name, &file, &has_file, error);
    for (int i = 0; !status && i < 2; i++) {
        status = read_object(arena, folder, files[i], &config[i], error);
        if (!status && !text) text = template_in(config[i], name);
    }
    if (!status) status = token_variables(arena, config[1], &variables, error);
    HoloString source = {file.data, file.size};
    if (!has_file && text) source = (HoloString){json_string_value(text), json_string_length(text)};
    if (!status && !has_file && !text)
        status =
            holo_fail(error, HOLO_NO_FILE,
                      "%s: the folder has no chat template%s%s: neither chat_template.jinja nor tokenizer_config.json "
                      "has one",
                      folder, name ? " named " : "", name ? name : "");
    if (!status)
        status = holo_template_compile_text(source.data, source.size, variables.data, variables.size, out, error);
    holo_file_unmap(&file);
    for (int i = 0; i < 2; i++) json_decref(config[i]);
    return status;
}

HoloStatus holo_template_compile(const char *path, const char *name, HoloTemplate **out_template, HoloError *error)
{
    HoloArena   arena = {0};
    HoloMapping file  = {0};
    HoloStatus  status;
    *out_template = NULL;
    if (holo_path_is_folder(path)) {
        status = compile_folder(&arena, path, name, out_template, error);
    } else if (name) {
        status =
            holo_fail(error, HOLO_BAD_ARGUMENT, "%s: a file has one template: only a folder has some with names", path);
    } else {
        status = holo_file_map(path, &file, error);
        if (!status) status = holo_template_compile_text(file.data, file.size, NULL, 0, out_template, error);
        holo_file_unmap(&file);
    }
    holo_arena_deinit(&arena);
    return status;
}
