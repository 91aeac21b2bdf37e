// js_options.c - numbers of structs from and to objects, by tables, and what steps of language models tell.
#include "addon.h"
#include "js_made.h"

#include <stdlib.h>
#include <string.h>

static bool field_read(napi_env env, const BindField *field, napi_value value, void *out)
{
    double   number = 0;
    uint64_t whole  = 0;
    bool     is_yes = false;
    if (bind_is_real(field)) {
        if (!js_number_get(env, value, field->name, -1e30, 1e30, &number)) return false;
        bind_real_set(field, out, number);
        return true;
    }
    if (field->kind == BIND_BOOL) {
        if (!js_bool_get(env, value, field->name, &is_yes)) return false;
        whole = is_yes;
    } else if (!js_whole_get(env, value, field->name, false, &whole))
        return false;
    if (bind_whole_set(field, out, whole)) return true;
    return js_throw_argument(env, "%s is too large", field->name);
}

bool js_fields_read(napi_env env, napi_value object, const BindField *fields, void *out)
{
    for (; fields->name; fields++) {
        napi_value value = NULL;
        if (!js_field(env, object, fields->name, &value)) return false;
        if (value && !field_read(env, fields, value, out)) return false;
    }
    return true;
}

napi_value js_fields_object(napi_env env, const BindField *fields, const void *from)
{
    napi_value to = NULL;
    napi_create_object(env, &to);
    for (; fields->name; fields++) {
        double number = bind_number(fields, from);
        js_set(env, to, fields->name,
               fields->kind == BIND_CHOICE ? js_text(env, fields->choices[(int)number]) : js_number(env, number));
    }
    return to;
}

bool js_stops_read(napi_env env, napi_value list, JsPiece **pieces, HoloGenerateOptions *out)
{
    uint32_t    count = 0;
    napi_value  item;
    HoloString *stops;
    if (!js_list_length(env, list, "stop", &count)) return false;
    if (count > 64) return js_throw_argument(env, "there may be 64 stop strings, not %u", count);
    stops = js_piece(pieces, (count + 1) * sizeof *stops);
    if (!stops) return js_throw(env, HOLO_NO_MEMORY, "");
    for (uint32_t i = 0; i < count; i++) {
        char *text = NULL;
        if (napi_get_element(env, list, i, &item) || !js_text_get(env, item, "stop", false, &text)) return false;
        size_t size = strlen(text);
        char  *copy = js_piece(pieces, size + 1);
        if (copy) memcpy(copy, text, size);
        free(text);
        if (!copy) return js_throw(env, HOLO_NO_MEMORY, "");
        stops[i] = (HoloString){copy, size};
    }
    out->stops      = stops;
    out->stop_count = count;
    return true;
}

static napi_value text_of(napi_env env, const BindTold *told, size_t begin, size_t size)
{
    napi_value text = NULL;
    napi_create_string_utf8(env, size ? told->bytes + begin : "", size, &text);
    return text;
}

napi_value js_told_tokens(napi_env env, const BindTold *told)
{
    napi_value list = NULL;
    napi_create_array_with_length(env, told->token_count, &list);
    for (size_t i = 0; i < told->token_count; i++) {
        const BindToken *one     = &told->token[i];
        bool             is_rest = one->token == UINT32_MAX; // what was held back
        napi_value       token   = NULL;
        napi_create_object(env, &token);
        js_set(env, token, "id", is_rest ? js_null(env) : js_number(env, one->token));
        js_set(env, token, "text", text_of(env, told, one->begin, one->size));
        js_set(env, token, "logprob", is_rest ? js_null(env) : js_number(env, (double)one->logprob));
        if (one->text) js_set(env, token, "of", js_number(env, (double)one->text));
        napi_set_element(env, list, (uint32_t)i, token);
    }
    return list;
}

napi_value js_told_ends(napi_env env, const BindTold *told)
{
    napi_value list = NULL;
    napi_create_array_with_length(env, told->end_count, &list);
    for (size_t i = 0; i < told->end_count; i++) {
        const BindEnd *one = &told->end[i];
        napi_value     end = NULL;
        napi_create_object(env, &end);
        js_set(env, end, "of", js_number(env, (double)one->text));
        js_set(env, end, "status", js_number(env, one->status));
        js_set(env, end, "message", text_of(env, told, one->begin, one->size));
        js_set(env, end, "counts", js_fields_object(env, bind_generate_result, &one->result));
        napi_set_element(env, list, (uint32_t)i, end);
    }
    return list;
}
