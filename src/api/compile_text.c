// compile_text.c - what goes with a language model: its tokenizer, its chat template, and how it wants to be sampled.
//
// All of it is taken from the folder or the file that the model was read from, and becomes assets and metadata of the
// archive ("text.eos", "text.context" ...), so that one file can be talked to. A model without any of it is no failure.
#include "api/compiling.h"
#include "hologram_text.h"
#include "import/wire/gguf.h"
#include "import/wire/json.h"

#include <stdio.h>
#include <stdlib.h>
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
    json_t *model, *text, *generation;
} Configs;

static void configs_open(const char *folder, Configs *out)
{
    *out = (Configs){.model = json_of(folder, "config.json"), .generation = json_of(folder, "generation_config.json")};
    out->text = out->model ? json_object_get(out->model, "text_config") : NULL; // of models that also see or hear
}

static void configs_close(const Configs *c)
{
    json_decref(c->model);
    json_decref(c->generation);
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
    {"forced_bos_token_id", "text.first"},
    {"begin_suppress_tokens", "text.begin_banned"},
    {"is_multilingual", "speech.multilingual"},
    {"no_repeat_ngram_size", "text.no_repeat_ngram"},
    {"length_penalty", "text.length_penalty"},
    {"early_stopping", "text.early_stopping"},
    {"max_target_positions", "text.context"},
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

// Tokens that are never chosen: suppress_tokens, and those of bad_words_ids that are words by themselves.
static HoloStatus banned_add(HoloCompile *c, const Configs *configs)
{
    const json_t  *tokens = find(configs, "suppress_tokens"), *words = find(configs, "bad_words_ids");
    size_t         count = json_array_size(tokens), all = count + json_array_size(words);
    HoloPlanBuffer list   = {0};
    HoloStatus     status = HOLO_OK;
    for (size_t i = 0; i < all && !status; i++) {
        const json_t *word = i < count ? json_array_get(tokens, i) : json_array_get(words, i - count);
        char          text[64];
        if (json_array_size(word) == 1) word = json_array_get(word, 0);
        if (!json_is_integer(word) || json_integer_value(word) < 0) continue; // -1: none, in some configs
        int size = snprintf(text, sizeof text, "%s%lld", list.size ? "," : "", (long long)json_integer_value(word));
        status   = holo_buffer_add(&list, text, (size_t)size, c->error);
    }
    if (!status && list.size) status = holo_buffer_add(&list, "", 1, c->error);
    if (!status && list.size) status = holo_plan_meta(&c->plan, "text.banned", (const char *)list.data, c->error);
    holo_free(list.data);
    return status;
}

// How positions are scaled for long texts; NULL: not at all.
static const char *scaling_of(const Configs *configs, const json_t **out)
{
    *out = find(configs, "rope_scaling");
    if (!*out) *out = find(configs, "rope_parameters");
    const char *type = json_string_value(json_object_get(*out, "rope_type"));
    return type ? type : json_string_value(json_object_get(*out, "type"));
}

// Where positions turn otherwise from some length on (LongRoPE), longer prompts are read as a whole. A text that becomes longer
// is read again by Phi 3; others go on with what they kept.
static HoloStatus restart_add(HoloCompile *c, const Configs *configs)
{
    const json_t *scaling, *length;
    const char   *type = scaling_of(configs, &scaling), *family = json_string_value(find(configs, "model_type"));
    char          text[64];
    if (!type || (strcmp(type, "longrope") != 0 && strcmp(type, "su") != 0)) return HOLO_OK;
    length = json_object_get(scaling, "original_max_position_embeddings");
    if (!length) length = find(configs, "original_max_position_embeddings");
    if (!length || !number_text(length, text, sizeof text)) return HOLO_OK;
    bool begins_again = family && !strcmp(family, "phi3");
    return holo_plan_meta(&c->plan, begins_again ? "text.restart" : "text.whole", text, c->error);
}

// With positions that are scaled by the length of the text, a text may become longer than those that were trained: by the
// factor that the config has.
static HoloStatus context_add(HoloCompile *c, const Configs *configs, const char *text)
{
    const json_t *scaling;
    const char   *type   = scaling_of(configs, &scaling);
    double        factor = json_number_value(json_object_get(scaling, "factor")), length = strtod(text, NULL);
    char          longer[64];
    if (!type || strcmp(type, "dynamic") != 0 || !(factor > 1) || !(length * factor < 1e9))
        return holo_plan_meta(&c->plan, "text.context", text, c->error);
    snprintf(longer, sizeof longer, "%.0f", length * factor);
    HOLO_TRY(holo_plan_meta(&c->plan, "text.whole", text, c->error));
    return holo_plan_meta(&c->plan, "text.context", longer, c->error);
}

static HoloStatus meta_add(HoloCompile *c, const Configs *configs)
{
    const char *done = "";
    for (int i = 0; i < HOLO_COUNT(keys); i++) {
        const json_t *value = find(configs, keys[i].key);
        char          text[512];
        if (!value || !strcmp(done, keys[i].meta) || !value_text(value, text, sizeof text)) continue;
        bool is_context = !strcmp(keys[i].meta, "text.context");
        HOLO_TRY(is_context ? context_add(c, configs, text) : holo_plan_meta(&c->plan, keys[i].meta, text, c->error));
        done = keys[i].meta;
    }
    HOLO_TRY(banned_add(c, configs));
    return restart_add(c, configs);
}

// ---- assets

static bool is_fatal(HoloStatus status)
{
    return status == HOLO_NO_MEMORY || status == HOLO_CANCELLED;
}

// What cannot be read is told, and the model is written without it: it can still be run.
static HoloStatus left_out(HoloCompile *c, const char *what, HoloStatus status, const HoloError *why)
{
    char key[32];
    if (status == HOLO_NO_FILE) return HOLO_OK;
    if (is_fatal(status)) return holo_fail(c->error, status, "%s", why->text);
    holo_tell(HOLO_LOG_WARNING, "%s: the archive has no %s: %s", c->path, what, why->text);
    snprintf(key, sizeof key, "text.%s", what);
    return holo_plan_meta(&c->plan, key, why->text, c->error);
}

static HoloStatus template_add(HoloCompile *c, HoloTemplate *chat, HoloStatus status, const HoloError *why)
{
    size_t size;
    if (status) return left_out(c, "template", status, why);
    const void *block = holo_template_block(chat, &size);
    status            = holo_plan_asset(&c->plan, "template", block, size, c->error);
    holo_template_close(chat);
    return status;
}

static HoloStatus tokenizer_add(HoloCompile *c)
{
    HoloTokenizer *tokenizer;
    HoloError      why    = {0};
    HoloStatus     status = holo_tokenizer_compile(c->path, &tokenizer, &why);
    size_t         size;
    if (status) return left_out(c, "tokenizer", status, &why);
    const void *block = holo_tokenizer_block(tokenizer, &size);
    status            = holo_plan_asset(&c->plan, "tokenizer", block, size, c->error);
    holo_tokenizer_close(tokenizer);
    return status;
}

// ---- a HuggingFace folder

static HoloStatus folder_add(HoloCompile *c)
{
    Configs       configs;
    HoloTemplate *chat = NULL;
    HoloError     why  = {0};
    configs_open(c->path, &configs);
    HoloStatus status = meta_add(c, &configs);
    configs_close(&configs);
    if (status) return status;
    HOLO_TRY(holo_compile_tasks(c));
    HoloStatus compiled = holo_template_compile(c->path, NULL, &chat, &why);
    HOLO_TRY(template_add(c, chat, compiled, &why));
    return tokenizer_add(c);
}

// ---- a GGUF file

static HoloStatus gguf_number(HoloCompile *c, const HoloGguf *file, const char *key, const char *meta)
{
    int64_t number;
    char    text[32];
    if (!holo_gguf_find_int(file, key, &number)) return HOLO_OK;
    snprintf(text, sizeof text, "%lld", (long long)number);
    return holo_plan_meta(&c->plan, meta, text, c->error);
}

// The text of a special token, for the variables of a template; NULL: there is none.
static json_t *gguf_token(const HoloGguf *file, const char *key)
{
    const HoloGgufValue *all = holo_gguf_find(file, "tokenizer.ggml.tokens");
    int64_t              id;
    HoloGgufValue        item, rest;
    HoloString           text;
    if (!all || all->kind != HOLO_GGUF_ARRAY || !holo_gguf_find_int(file, key, &id)) return NULL;
    if (id < 0 || (uint64_t)id >= all->count) return NULL;
    rest = *all;
    for (int64_t i = 0; i <= id; i++)
        if (!holo_gguf_next(&rest, &item)) return NULL;
    return holo_gguf_text(&item, &text) ? json_stringn(text.data, text.size) : NULL;
}

static HoloStatus gguf_template(HoloCompile *c, const HoloGguf *file)
{
    HoloString    text;
    HoloTemplate *chat = NULL;
    HoloError     why  = {0};
    if (!holo_gguf_find_text(file, "tokenizer.chat_template", &text)) return HOLO_OK;
    json_t *variables = json_object();
    json_object_set_new(variables, "bos_token", gguf_token(file, "tokenizer.ggml.bos_token_id"));
    json_object_set_new(variables, "eos_token", gguf_token(file, "tokenizer.ggml.eos_token_id"));
    char *json = json_dumps(variables, JSON_COMPACT);
    json_decref(variables);
    if (!json) return holo_fail_memory(c->error);
    HoloStatus status = holo_template_compile_text(text.data, text.size, json, strlen(json), &chat, &why);
    free(json);
    return template_add(c, chat, status, &why);
}

// Ends of a turn end the text, too.
static HoloStatus gguf_ends(HoloCompile *c, const HoloGguf *file)
{
    static const char *const keys[]    = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                          "tokenizer.ggml.eom_token_id"};
    char                     text[128] = "";
    int64_t                  id;
    for (int i = 0; i < HOLO_COUNT(keys); i++)
        if (holo_gguf_find_int(file, keys[i], &id))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", *text ? "," : "", (long long)id);
    return *text ? holo_plan_meta(&c->plan, "text.eos", text, c->error) : HOLO_OK;
}

// How the vectors of tokens become one of the text.
static HoloStatus gguf_pooling(HoloCompile *c, const HoloGguf *file, const char *key)
{
    static const char *const modes[] = {NULL, "mean", "cls", "last"};
    int64_t                  mode;
    if (!holo_gguf_find_int(file, key, &mode) || mode < 1 || mode >= HOLO_COUNT(modes)) return HOLO_OK;
    HOLO_TRY(holo_plan_meta(&c->plan, "text.pooling", modes[mode], c->error));
    return holo_plan_meta(&c->plan, "text.normalize", "1", c->error);
}

static HoloStatus gguf_meta(HoloCompile *c, const HoloGguf *file)
{
    HoloString architecture;
    char       key[128];
    HOLO_TRY(gguf_ends(c, file));
    HOLO_TRY(gguf_number(c, file, "tokenizer.ggml.bos_token_id", "text.bos"));
    HOLO_TRY(gguf_number(c, file, "tokenizer.ggml.padding_token_id", "text.pad"));
    if (!holo_gguf_find_text(file, "general.architecture", &architecture)) return HOLO_OK;
    int size = architecture.size < 64 ? (int)architecture.size : 64;
    snprintf(key, sizeof key, "%.*s.pooling_type", size, architecture.data);
    HOLO_TRY(gguf_pooling(c, file, key));
    snprintf(key, sizeof key, "%.*s.context_length", size, architecture.data);
    HOLO_TRY(gguf_number(c, file, key, "text.context"));
    snprintf(key, sizeof key, "%.*s.rope.scaling.original_context_length", size, architecture.data);
    return holo_gguf_tensor(file, "rope_factors_long.weight") ? gguf_number(c, file, key, "text.restart") : HOLO_OK;
}

static HoloStatus gguf_add(HoloCompile *c)
{
    HoloMapping map   = {0};
    HoloArena   arena = {0};
    HoloGguf    file;
    HOLO_TRY(holo_file_map(c->path, &map, c->error));
    HoloStatus status = holo_gguf_read(&arena, c->path, map.data, map.size, &file, c->error);
    if (!status) status = gguf_meta(c, &file);
    if (!status) status = gguf_template(c, &file);
    holo_arena_deinit(&arena);
    holo_file_unmap(&map);
    return status ? status : tokenizer_add(c);
}

HoloStatus holo_compile_text(HoloCompile *c)
{
    if (c->bytes.data) return HOLO_OK;
    if (holo_path_is_folder(c->path)) return folder_add(c);
    return !strcmp(c->source->model.format, "GGUF") ? gguf_add(c) : HOLO_OK;
}
