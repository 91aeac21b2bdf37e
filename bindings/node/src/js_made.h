// js_made.h - what the functions that make.py makes are written with.
#ifndef HOLO_NODE_JS_MADE_H
#define HOLO_NODE_JS_MADE_H

#include "addon.h"

// An array of JavaScript's, of `item` for each i.
#define LIST(count, item)                                           \
    ({                                                              \
        napi_create_array_with_length(env, (size_t)(count), &list); \
        for (uint32_t i = 0; i < (uint32_t)(count); i++) {          \
            napi_set_element(env, list, i, item);                   \
        }                                                           \
        list;                                                       \
    })
// A field of a struct, which may be left out: then it is 0.
#define NUMBER_IN(type, to, name, low, high)                                                                 \
    (js_field(env, from, name, &field) && (!field || js_number_get(env, field, name, low, high, &number)) && \
     (to = field ? (type)number : 0, true))
#define NUMBERS_IN(type, to, count, name, low, high)                                                                 \
    ({                                                                                                               \
        bool is_read = js_field(env, from, name, &field);                                                            \
        for (uint32_t i = 0; is_read && field && i < (count); i++) {                                                 \
            is_read = !napi_get_element(env, field, i, &item) && js_number_get(env, item, name, low, high, &number); \
            if (is_read) (to)[i] = (type)number;                                                                     \
        }                                                                                                            \
        is_read;                                                                                                     \
    })
// An array of numbers, in memory to free.
#define LIST_IN(type, from, name, low, high, to)                                                                    \
    ({                                                                                                              \
        uint32_t length  = 0;                                                                                       \
        bool     is_read = js_list_length(env, from, name, &length);                                                \
        to               = is_read && length ? malloc(length * sizeof *to) : NULL;                                  \
        for (uint32_t i = 0; is_read && to && i < length; i++) {                                                    \
            napi_value item;                                                                                        \
            double     number;                                                                                      \
            is_read = !napi_get_element(env, from, i, &item) && js_number_get(env, item, name, low, high, &number); \
            if (is_read) to[i] = (type)number;                                                                      \
        }                                                                                                           \
        to##_count = length;                                                                                        \
        is_read;                                                                                                    \
    })

// A number, or a BigInt where it is a large one.
napi_value js_big(napi_env env, bool is_big, uint64_t whole, double number);
bool       js_whole_get(napi_env env, napi_value value, const char *name, bool is_signed, uint64_t *out);
// *out NULL: there is none.
bool js_field(napi_env env, napi_value object, const char *name, napi_value *out);
bool js_list_length(napi_env env, napi_value value, const char *name, uint32_t *out); // 0 for undefined and null

napi_value js_type(napi_env env, const HoloTensor *tensor); // {dtype, kind, shape}
napi_value js_view(napi_env env, const HoloTensor *tensor); // with a copy of its data
// {dtype, shape, data}; the data is JavaScript's, or a copy in `kept`. A type alone has no data.
bool js_view_get(napi_env env, napi_value value, const char *name, bool may_be_nothing, JsPiece **kept, HoloTensor *out,
                 bool *is_given);

// A handle of a new object, which needs others, and `kept`, which becomes empty. NULL objects are null.
napi_value js_object(napi_env env, int kind, void *object, JsHolder *const *needs, int need_count, JsPiece **kept);
napi_value js_close(napi_env env, napi_callback_info info, int kind);

#endif
