// js_plain.c - numbers, strings and arrays, between JavaScript and C.
#include "addon.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

bool js_args(napi_env env, napi_callback_info info, size_t count, napi_value *args)
{
    return napi_get_cb_info(env, info, &count, args, NULL, NULL) == napi_ok;
}

bool js_is_nothing(napi_env env, napi_value value)
{
    napi_valuetype type = napi_undefined;
    return napi_typeof(env, value, &type) || type == napi_undefined || type == napi_null;
}

bool js_number_get(napi_env env, napi_value value, const char *name, double low, double high, double *out)
{
    if (napi_get_value_double(env, value, out)) {
        int64_t big;
        bool    is_whole = false;
        if (napi_get_value_bigint_int64(env, value, &big, &is_whole) || !is_whole)
            return js_throw_argument(env, "%s must be a number", name);
        *out = (double)big;
    }
    if (*out >= low && *out <= high) return true;
    return js_throw_argument(env, "%s must be from %.17g to %.17g, not %.17g", name, low, high, *out);
}

bool js_bool_get(napi_env env, napi_value value, const char *name, bool *out)
{
    if (napi_get_value_bool(env, value, out)) return js_throw_argument(env, "%s must be true or false", name);
    return true;
}

bool js_text_get(napi_env env, napi_value value, const char *name, bool may_be_nothing, char **out)
{
    size_t size = 0;
    *out        = NULL;
    if (may_be_nothing && js_is_nothing(env, value)) return true;
    if (napi_get_value_string_utf8(env, value, NULL, 0, &size))
        return js_throw_argument(env, "%s must be a string", name);
    char *text = malloc(size + 1);
    if (!text) return js_throw(env, HOLO_NO_MEMORY, "");
    napi_get_value_string_utf8(env, value, text, size + 1, &size);
    if (strlen(text) != size) {
        free(text);
        return js_throw_argument(env, "%s must not have a character \\0", name);
    }
    *out = text;
    return true;
}

bool js_bytes_get(napi_env env, napi_value value, const char *name, void **out_data, size_t *out_size)
{
    static const uint8_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8}; // of napi_int8_array and those that follow
    napi_typedarray_type type    = 0;
    size_t               length  = 0;
    if (napi_get_typedarray_info(env, value, &type, &length, out_data, NULL, NULL) || type > napi_biguint64_array)
        return js_throw_argument(env, "%s must be a typed array", name);
    *out_size = length * sizes[type];
    return true;
}

bool js_bytes_keep(napi_env env, JsPiece **kept, void **bytes, size_t size)
{
    char *copy = size < SIZE_MAX - ALIGN ? js_piece(kept, size + ALIGN) : NULL;
    if (!copy) return js_throw(env, HOLO_NO_MEMORY, "");
    copy += (ALIGN - (uintptr_t)copy % ALIGN) % ALIGN;
    if (size) memcpy(copy, *bytes, size);
    *bytes = copy;
    return true;
}

napi_value js_number(napi_env env, double value)
{
    napi_value out = NULL;
    napi_create_double(env, value, &out);
    return out;
}

napi_value js_bool(napi_env env, bool value)
{
    napi_value out = NULL;
    napi_get_boolean(env, value, &out);
    return out;
}

napi_value js_null(napi_env env)
{
    napi_value out = NULL;
    napi_get_null(env, &out);
    return out;
}

napi_value js_text(napi_env env, const char *text)
{
    napi_value out = NULL;
    if (!text) return js_null(env);
    napi_create_string_utf8(env, text, strlen(text), &out);
    return out;
}

void js_set(napi_env env, napi_value object, const char *name, napi_value value)
{
    if (value) napi_set_named_property(env, object, name, value);
}
