// js_text.c - tokenizers and chat templates. Texts come as UTF-8 in typed arrays, and go as strings.
#include "addon.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

static napi_value string_of(napi_env env, HoloString text)
{
    napi_value out = NULL;
    napi_create_string_utf8(env, text.data, text.size, &out);
    return out;
}

static napi_value buffer_of(napi_env env, const void *data, size_t size)
{
    napi_value buffer = NULL;
    void      *copy;
    if (napi_create_arraybuffer(env, size, &copy, &buffer)) return js_throw(env, HOLO_NO_MEMORY, "");
    if (size) memcpy(copy, data, size);
    return buffer;
}

// text_asset(model, name): the bytes, or null.
static napi_value asset(napi_env env, napi_callback_info info)
{
    napi_value args[2], result = NULL;
    JsHolder  *model;
    HoloString bytes;
    char      *name = NULL;
    if (js_args(env, info, 2, args) && js_holder_get(env, args[0], JS_HoloModel, false, &model) &&
        js_text_get(env, args[1], "name", false, &name))
        result = holo_model_asset(model->object, name, &bytes) ? buffer_of(env, bytes.data, bytes.size) : js_null(env);
    free(name);
    return result;
}

// tokenizer_encode(tokenizer, bytes, flags): ids, as the bytes of an Uint32Array.
static napi_value encode(napi_env env, napi_callback_info info)
{
    napi_value args[3];
    JsHolder  *tokenizer;
    void      *text;
    size_t     size, count;
    double     flags;
    uint32_t  *ids;
    HoloError  error = {0};
    if (!js_args(env, info, 3, args) || !js_holder_get(env, args[0], JS_HoloTokenizer, false, &tokenizer) ||
        !js_bytes_get(env, args[1], "text", &text, &size) ||
        !js_number_get(env, args[2], "flags", 0, UINT32_MAX, &flags))
        return NULL;
    HoloStatus status =
        holo_tokenizer_encode(tokenizer->object, size ? text : "", size, (uint32_t)flags, &ids, &count, &error);
    if (status) return js_throw(env, status, error.text);
    napi_value buffer = buffer_of(env, ids, count * sizeof *ids);
    holo_ids_free(ids);
    return buffer;
}

// tokenizer_decode(tokenizer, ids, flags): a string; ids are an Uint32Array.
static napi_value decode(napi_env env, napi_callback_info info)
{
    napi_value args[3];
    JsHolder  *tokenizer;
    void      *ids;
    size_t     size;
    double     flags;
    char      *text;
    HoloError  error = {0};
    if (!js_args(env, info, 3, args) || !js_holder_get(env, args[0], JS_HoloTokenizer, false, &tokenizer) ||
        !js_ids_get(env, args[1], &ids, &size) || !js_number_get(env, args[2], "flags", 0, UINT32_MAX, &flags))
        return NULL;
    HoloStatus status = holo_tokenizer_decode(tokenizer->object, ids, size, (uint32_t)flags, &text, &size, &error);
    if (status) return js_throw(env, status, error.text);
    napi_value result = string_of(env, (HoloString){text, size});
    holo_text_free(text);
    return result;
}

// tokenizer_token(tokenizer, id): its text in the vocabulary, or null.
static napi_value token(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    JsHolder  *tokenizer;
    double     id;
    if (!js_args(env, info, 2, args) || !js_holder_get(env, args[0], JS_HoloTokenizer, false, &tokenizer) ||
        !js_number_get(env, args[1], "id", 0, UINT32_MAX, &id))
        return NULL;
    HoloString text = holo_tokenizer_token(tokenizer->object, (uint32_t)id);
    return text.data ? string_of(env, text) : js_null(env);
}

// template_render(template, json): a string; the JSON comes as bytes.
static napi_value render(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    JsHolder  *chat;
    void      *json;
    size_t     size;
    char      *text;
    HoloError  error = {0};
    if (!js_args(env, info, 2, args) || !js_holder_get(env, args[0], JS_HoloTemplate, false, &chat) ||
        !js_bytes_get(env, args[1], "context", &json, &size))
        return NULL;
    HoloStatus status = holo_template_render(chat->object, size ? json : "", size, &text, &size, &error);
    if (status) return js_throw(env, status, error.text);
    napi_value result = string_of(env, (HoloString){text, size});
    holo_text_free(text);
    return result;
}

const JsFunction js_functions_text[] = {
    {"text_asset", asset},      {"tokenizer_encode", encode}, {"tokenizer_decode", decode},
    {"tokenizer_token", token}, {"template_render", render},  {NULL, NULL},
};
