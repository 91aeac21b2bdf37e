// napi.h - the part of Node-API that the addon uses, version 8, which Node 18 and all later ones have.
//
// Node-API is a stable binary interface, so these declarations hold for every Node, wherever it came from, and building needs no
// header of Node's. A test compiles this file behind Node's own header, where that is installed: then each declaration and each
// number is compared with the original.
#ifndef HOLO_NODE_NAPI_H
#define HOLO_NODE_NAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JS_CONSTANTS(X)                     \
    X(napi_ok, 0)                           \
    X(napi_pending_exception, 10)           \
    X(napi_no_external_buffers_allowed, 22) \
    X(napi_undefined, 0)                    \
    X(napi_null, 1)                         \
    X(napi_number, 3)                       \
    X(napi_string, 4)                       \
    X(napi_bigint, 9)                       \
    X(napi_biguint64_array, 10)             \
    X(napi_enumerable, 2)                   \
    X(napi_tsfn_release, 0)                 \
    X(napi_tsfn_blocking, 1)

#ifdef SRC_NODE_API_H_ // Node's own header was here before: compare
#define X(name, value) _Static_assert(name == value, #name);
JS_CONSTANTS(X)
#undef X
#else
#define X(name, value) name = value,
enum { JS_CONSTANTS(X) };
#undef X
typedef unsigned napi_status, napi_valuetype, napi_typedarray_type, napi_property_attributes;
typedef unsigned napi_threadsafe_function_release_mode, napi_threadsafe_function_call_mode;

typedef struct napi_env__                 *napi_env;
typedef struct napi_value__               *napi_value;
typedef struct napi_ref__                 *napi_ref;
typedef struct napi_handle_scope__        *napi_handle_scope;
typedef struct napi_callback_info__       *napi_callback_info;
typedef struct napi_async_work__          *napi_async_work;
typedef struct napi_threadsafe_function__ *napi_threadsafe_function;

typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);
typedef void (*napi_finalize)(napi_env env, void *data, void *hint);
typedef void (*napi_async_execute_callback)(napi_env env, void *data);
typedef void (*napi_async_complete_callback)(napi_env env, napi_status status, void *data);
typedef void (*napi_threadsafe_function_call_js)(napi_env env, napi_value callback, void *context, void *data);

typedef struct {
    const char              *utf8name;
    napi_value               name;
    napi_callback            method, getter, setter;
    napi_value               value;
    napi_property_attributes attributes;
    void                    *data;
} napi_property_descriptor;
#endif

#define JS_EXTERN __attribute__((visibility("default")))

// ---- values

JS_EXTERN napi_status napi_get_undefined(napi_env env, napi_value *out);
JS_EXTERN napi_status napi_get_null(napi_env env, napi_value *out);
JS_EXTERN napi_status napi_get_boolean(napi_env env, bool value, napi_value *out);
JS_EXTERN napi_status napi_create_object(napi_env env, napi_value *out);
JS_EXTERN napi_status napi_create_array_with_length(napi_env env, size_t length, napi_value *out);
JS_EXTERN napi_status napi_create_double(napi_env env, double value, napi_value *out);
JS_EXTERN napi_status napi_create_string_utf8(napi_env env, const char *text, size_t length, napi_value *out);
JS_EXTERN napi_status napi_typeof(napi_env env, napi_value value, napi_valuetype *out);
JS_EXTERN napi_status napi_get_value_double(napi_env env, napi_value value, double *out);
JS_EXTERN napi_status napi_get_value_bool(napi_env env, napi_value value, bool *out);
JS_EXTERN napi_status napi_get_value_bigint_int64(napi_env env, napi_value value, int64_t *out, bool *lossless);
JS_EXTERN napi_status napi_get_value_bigint_uint64(napi_env env, napi_value value, uint64_t *out, bool *lossless);
JS_EXTERN napi_status napi_create_bigint_uint64(napi_env env, uint64_t value, napi_value *out);
JS_EXTERN napi_status napi_get_value_string_utf8(napi_env env, napi_value value, char *buffer, size_t size,
                                                 size_t *out);
JS_EXTERN napi_status napi_set_named_property(napi_env env, napi_value object, const char *name, napi_value value);
JS_EXTERN napi_status napi_get_named_property(napi_env env, napi_value object, const char *name, napi_value *out);
JS_EXTERN napi_status napi_set_element(napi_env env, napi_value object, uint32_t index, napi_value value);
JS_EXTERN napi_status napi_get_element(napi_env env, napi_value object, uint32_t index, napi_value *out);
JS_EXTERN napi_status napi_is_array(napi_env env, napi_value value, bool *out);
JS_EXTERN napi_status napi_get_array_length(napi_env env, napi_value value, uint32_t *out);
JS_EXTERN napi_status napi_define_properties(napi_env env, napi_value object, size_t count,
                                             const napi_property_descriptor *properties);

// ---- memory that JavaScript sees

JS_EXTERN napi_status napi_create_arraybuffer(napi_env env, size_t size, void **data, napi_value *out);
JS_EXTERN napi_status napi_create_external_arraybuffer(napi_env env, void *data, size_t size, napi_finalize finalize,
                                                       void *hint, napi_value *out);
JS_EXTERN napi_status napi_get_typedarray_info(napi_env env, napi_value array, napi_typedarray_type *type,
                                               size_t *length, void **data, napi_value *buffer, size_t *offset);

// ---- calls and errors

JS_EXTERN napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t *count, napi_value *args,
                                       napi_value *self, void **data);
JS_EXTERN napi_status napi_call_function(napi_env env, napi_value self, napi_value function, size_t count,
                                         const napi_value *args, napi_value *out);
JS_EXTERN napi_status napi_new_instance(napi_env env, napi_value constructor, size_t count, const napi_value *args,
                                        napi_value *out);
JS_EXTERN napi_status napi_throw(napi_env env, napi_value error);
JS_EXTERN napi_status napi_throw_error(napi_env env, const char *code, const char *text);
JS_EXTERN napi_status napi_is_exception_pending(napi_env env, bool *out);
JS_EXTERN napi_status napi_get_and_clear_last_exception(napi_env env, napi_value *out);
JS_EXTERN napi_status napi_get_reference_value(napi_env env, napi_ref ref, napi_value *out);
JS_EXTERN napi_status napi_create_reference(napi_env env, napi_value value, uint32_t count, napi_ref *out);
JS_EXTERN napi_status napi_delete_reference(napi_env env, napi_ref ref);
JS_EXTERN napi_status napi_open_handle_scope(napi_env env, napi_handle_scope *out);
JS_EXTERN napi_status napi_close_handle_scope(napi_env env, napi_handle_scope scope);
JS_EXTERN napi_status napi_set_instance_data(napi_env env, void *data, napi_finalize finalize, void *hint);
JS_EXTERN napi_status napi_get_instance_data(napi_env env, void **out);

// ---- other threads

JS_EXTERN napi_status napi_create_async_work(napi_env env, napi_value resource, napi_value name,
                                             napi_async_execute_callback execute, napi_async_complete_callback complete,
                                             void *data, napi_async_work *out);
JS_EXTERN napi_status napi_queue_async_work(napi_env env, napi_async_work work);
JS_EXTERN napi_status napi_delete_async_work(napi_env env, napi_async_work work);
JS_EXTERN napi_status napi_create_threadsafe_function(napi_env env, napi_value function, napi_value resource,
                                                      napi_value name, size_t queue, size_t threads,
                                                      void *finalize_data, napi_finalize finalize, void *context,
                                                      napi_threadsafe_function_call_js call,
                                                      napi_threadsafe_function        *out);
JS_EXTERN napi_status napi_call_threadsafe_function(napi_threadsafe_function function, void *data,
                                                    napi_threadsafe_function_call_mode mode);
JS_EXTERN napi_status napi_release_threadsafe_function(napi_threadsafe_function              function,
                                                       napi_threadsafe_function_release_mode mode);
#endif
