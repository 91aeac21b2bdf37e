// js_made.c - see js_made.h.
#include "js_made.h"

#include <string.h>

napi_value js_big(napi_env env, bool is_big, uint64_t whole, double number)
{
    napi_value out = NULL;
    if (!is_big) return js_number(env, number);
    napi_create_bigint_uint64(env, whole, &out);
    return out;
}

bool js_whole_get(napi_env env, napi_value value, const char *name, bool is_signed, uint64_t *out)
{
    double  number;
    int64_t whole;
    bool    is_whole = false;
    if (!napi_get_value_double(env, value, &number)) {
        double low = is_signed ? -0x1p53 : 0;
        if (!(number >= low && number <= 0x1p53) || number != (double)(int64_t)number)
            return js_throw_argument(env, "%s must be a whole number from %.17g to %.17g, or a BigInt", name, low,
                                     0x1p53);
        *out = (uint64_t)(int64_t)number;
        return true;
    }
    if (is_signed) {
        napi_get_value_bigint_int64(env, value, &whole, &is_whole);
        *out = (uint64_t)whole;
    } else {
        napi_get_value_bigint_uint64(env, value, out, &is_whole);
    }
    return is_whole || js_throw_argument(env, "%s must be a whole number of 64 bits", name);
}

bool js_field(napi_env env, napi_value object, const char *name, napi_value *out)
{
    *out = NULL;
    if (js_is_nothing(env, object)) return true;
    if (napi_get_named_property(env, object, name, out)) return js_throw_argument(env, "%s cannot be read", name);
    if (js_is_nothing(env, *out)) *out = NULL;
    return true;
}

bool js_list_length(napi_env env, napi_value value, const char *name, uint32_t *out)
{
    *out = 0;
    if (js_is_nothing(env, value)) return true;
    if (napi_get_array_length(env, value, out)) return js_throw_argument(env, "%s must be an array of numbers", name);
    return true;
}

// ---- tensors

napi_value js_type(napi_env env, const HoloTensor *tensor)
{
    napi_value out = NULL, shape = NULL;
    napi_create_object(env, &out);
    js_set(env, out, "dtype", js_number(env, tensor->dtype));
    js_set(env, out, "kind", js_number(env, tensor->kind));
    js_set(env, out, "inner", js_number(env, tensor->inner));
    if (tensor->rank >= 0) {
        napi_create_array_with_length(env, (size_t)tensor->rank, &shape);
        for (int i = 0; i < tensor->rank; i++)
            napi_set_element(env, shape, (uint32_t)i, js_number(env, (double)tensor->dim[i]));
    }
    js_set(env, out, "shape", shape ? shape : js_null(env));
    return out;
}

static napi_value strings_view(napi_env env, const HoloTensor *tensor)
{
    const HoloString *strings = tensor->data;
    int64_t           count   = holo_tensor_count(tensor);
    napi_value        out     = NULL;
    napi_create_array_with_length(env, (size_t)count, &out);
    for (int64_t i = 0; i < count; i++) {
        napi_value text;
        if (!napi_create_string_utf8(env, strings[i].size ? strings[i].data : "", strings[i].size, &text))
            napi_set_element(env, out, (uint32_t)i, text);
    }
    return out;
}

napi_value js_view(napi_env env, const HoloTensor *tensor)
{
    napi_value out = js_type(env, tensor), data = NULL;
    void      *bytes;
    if (tensor->kind != HOLO_TENSOR || !tensor->data) {
        data = js_null(env);
    } else if (tensor->dtype == HOLO_STRING) {
        data = strings_view(env, tensor);
    } else if (!napi_create_arraybuffer(env, holo_tensor_bytes(tensor), &bytes, &data)) {
        memcpy(bytes, tensor->data, holo_tensor_bytes(tensor));
    }
    js_set(env, out, "data", data);
    return out;
}

static bool shape_get(napi_env env, napi_value from, HoloTensor *out)
{
    uint32_t rank = 0;
    if (!from || napi_get_array_length(env, from, &rank) || rank > HOLO_MAX_RANK)
        return js_throw_argument(env, "shape must be an array of at most %d numbers", HOLO_MAX_RANK);
    out->rank = (int8_t)rank;
    for (uint32_t i = 0; i < rank; i++) {
        napi_value item;
        double     size;
        if (napi_get_element(env, from, i, &item) || !js_number_get(env, item, "a size of shape", -1, 0x1p53, &size))
            return false;
        out->dim[i] = (int64_t)size;
    }
    return true;
}

bool js_view_get(napi_env env, napi_value value, const char *name, bool may_be_nothing, JsPiece **kept, HoloTensor *out,
                 bool *is_given)
{
    napi_value dtype, shape, data;
    double     number;
    size_t     size;
    if (js_is_nothing(env, value)) return may_be_nothing || js_throw_argument(env, "%s must be a tensor", name);
    *is_given = true;
    if (!js_field(env, value, "dtype", &dtype) || !js_field(env, value, "shape", &shape) ||
        !js_field(env, value, "data", &data))
        return false;
    if (!dtype) return js_throw_argument(env, "%s must have a dtype", name);
    if (!js_number_get(env, dtype, "dtype", 1, HOLO_DTYPE_COUNT - 1, &number) || !shape_get(env, shape, out))
        return false;
    out->dtype = (uint8_t)number;
    if (!data) return true;
    if (out->dtype == HOLO_STRING) return js_throw_argument(env, "%s: strings cannot be given here", name);
    if (!js_bytes_get(env, data, name, &out->data, &size)) return false;
    if (holo_tensor_count(out) < 0 || size != holo_tensor_bytes(out))
        return js_throw_argument(env, "%s: the data does not have as many bytes as its type and shape need", name);
    return !kept || js_bytes_keep(env, kept, &out->data, size);
}

// ---- handles

napi_value js_object(napi_env env, int kind, void *object, JsHolder *const *needs, int need_count, JsPiece **kept)
{
    if (!object) return js_null(env);
    double handle = js_handle_create(env, kind, object, needs, need_count);
    if (!handle) return js_throw(env, HOLO_NO_MEMORY, "");
    if (kept) {
        js_handle_find(env, handle)->pieces = *kept;
        *kept                               = NULL;
    }
    return js_number(env, handle);
}

napi_value js_close(napi_env env, napi_callback_info info, int kind)
{
    napi_value arg;
    JsHolder  *holder;
    double     handle;
    if (!js_args(env, info, 1, &arg) || !js_holder_get(env, arg, kind, true, &holder)) return NULL;
    if (holder && !napi_get_value_double(env, arg, &handle)) js_handle_close(env, handle);
    return NULL;
}
