// addon.c - the addon itself: its environment, handles and errors.
#include "addon.h"
#include "made.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROOM = 4096, SLOT_BITS = 24, SLOTS_MAX = 1 << SLOT_BITS };

JsEnv *js_env(napi_env env)
{
    void *data = NULL;
    napi_get_instance_data(env, &data);
    return data;
}

// ---- holders

void js_holder_ref(JsHolder *holder)
{
    if (holder) holder->refs++;
}

void js_holder_unref(JsHolder *holder)
{
    if (!holder || --holder->refs > 0) return;
    js_kind_destroy(holder->kind, holder->object);
    for (int i = 0; i < JS_NEEDS_MAX; i++) js_holder_unref(holder->needs[i]);
    js_pieces_free(&holder->pieces);
    free(holder);
}

bool js_holder_need(JsHolder *holder, JsHolder *other)
{
    if (!other) return true;
    for (int i = 0; i < JS_NEEDS_MAX; i++) {
        if (holder->needs[i] == other) return true;
        if (holder->needs[i]) continue;
        js_holder_ref(other);
        holder->needs[i] = other;
        return true;
    }
    return false;
}

// ---- handles

// A free slot; 0: no memory.
static uint32_t slot_take(JsEnv *state)
{
    uint32_t slot = state->free_slot;
    if (!slot) {
        uint32_t count = state->slot_count ? state->slot_count * 2 : 64;
        JsSlot  *slots = count <= SLOTS_MAX ? realloc(state->slots, count * sizeof *slots) : NULL;
        if (!slots) return 0;
        for (uint32_t i = state->slot_count; i < count; i++)
            slots[i] = (JsSlot){.next_free = i + 1 < count ? i + 1 : 0};
        slot              = state->slot_count ? state->slot_count : 1; // 0 is no handle
        state->slots      = slots;
        state->slot_count = count;
    }
    state->free_slot = state->slots[slot].next_free;
    return slot;
}

double js_handle_create(napi_env env, int kind, void *object, JsHolder *const *needs, int need_count)
{
    JsEnv    *state  = js_env(env);
    JsHolder *holder = calloc(1, sizeof *holder);
    uint32_t  slot   = holder ? slot_take(state) : 0;
    if (!slot) {
        free(holder);
        js_kind_destroy(kind, object);
        return 0;
    }
    *holder = (JsHolder){.kind = kind, .refs = 1, .object = object};
    for (int i = 0; i < need_count; i++) js_holder_need(holder, needs[i]);
    JsSlot *s = &state->slots[slot];
    s->holder = holder;
    s->uses++;
    return (double)slot + (double)s->uses * SLOTS_MAX;
}

static JsSlot *slot_find(JsEnv *state, double handle)
{
    if (!(handle > 0 && handle < 0x1p53)) return NULL;
    uint64_t bits = (uint64_t)handle, slot = bits % SLOTS_MAX;
    if ((double)bits != handle || slot >= state->slot_count) return NULL;
    JsSlot *s = &state->slots[slot];
    return s->holder && s->uses == bits / SLOTS_MAX ? s : NULL;
}

JsHolder *js_handle_find(napi_env env, double handle)
{
    JsSlot *slot = slot_find(js_env(env), handle);
    return slot ? slot->holder : NULL;
}

bool js_handle_close(napi_env env, double handle)
{
    JsEnv  *state = js_env(env);
    JsSlot *slot  = slot_find(state, handle);
    if (!slot) return false;
    JsHolder *holder = slot->holder;
    slot->holder     = NULL;
    slot->next_free  = state->free_slot;
    state->free_slot = (uint32_t)(slot - state->slots);
    js_holder_unref(holder);
    return true;
}

bool js_holder_get(napi_env env, napi_value value, int kind, bool may_be_nothing, JsHolder **out)
{
    double handle = 0;
    *out          = NULL;
    if (may_be_nothing && js_is_nothing(env, value)) return true;
    if (napi_get_value_double(env, value, &handle)) handle = -1;
    if (may_be_nothing && handle == 0) return true;
    JsHolder *holder = js_handle_find(env, handle);
    if (holder && holder->kind == kind) {
        *out = holder;
        return true;
    }
    if (holder) return js_throw_argument(env, "this is a %s, not a %s", js_kind_name(holder->kind), js_kind_name(kind));
    return js_throw_argument(env, "the %s is closed", js_kind_name(kind));
}

bool js_holder_is_idle(napi_env env, const JsHolder *holder)
{
    if (!holder->job) return true;
    return js_throw(env, HOLO_BUSY, "it is running on another thread: wait for its promise");
}

// ---- errors

napi_value js_error_make(napi_env env, HoloStatus status, const char *text)
{
    napi_value make, args[2], error = NULL;
    if (!text[0]) text = holo_status_text(status);
    if (napi_get_reference_value(env, js_env(env)->error, &make)) return NULL;
    args[0] = js_text(env, text);
    args[1] = js_number(env, status);
    napi_new_instance(env, make, 2, args, &error);
    return error;
}

napi_value js_throw(napi_env env, HoloStatus status, const char *text)
{
    bool       is_pending = false;
    napi_value error;
    if (napi_is_exception_pending(env, &is_pending) || is_pending) return NULL;
    error = js_error_make(env, status, text);
    if (error) napi_throw(env, error);
    return NULL;
}

napi_value js_throw_argument(napi_env env, const char *format, ...)
{
    char    text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return js_throw(env, HOLO_BAD_ARGUMENT, text);
}

// ---- the module

bool js_block_grow(napi_env env, size_t room)
{
    JsEnv     *state  = js_env(env);
    size_t     wanted = state->block_room ? state->block_room : BLOCK_ROOM;
    napi_value buffer;
    napi_ref   ref;
    void      *data;
    while (wanted < room) wanted *= 2;
    if (wanted == state->block_room) return true;
    if (napi_create_arraybuffer(env, wanted * sizeof(double), &data, &buffer) ||
        napi_create_reference(env, buffer, 1, &ref))
        return js_throw(env, HOLO_NO_MEMORY, "");
    if (state->block) {
        memcpy(data, state->block, state->block_room * sizeof(double));
        state->block[0] = -1;
        napi_delete_reference(env, state->block_ref);
    }
    state->block      = data;
    state->block_room = wanted;
    state->block_ref  = ref;
    return true;
}

// block(room): the memory of the block, with at least that room.
static napi_value block(napi_env env, napi_callback_info info)
{
    napi_value arg, buffer = NULL;
    double     room;
    if (!js_args(env, info, 1, &arg) || !js_number_get(env, arg, "the room", 0, 0x1p32, &room)) return NULL;
    if (js_block_grow(env, (size_t)room)) napi_get_reference_value(env, js_env(env)->block_ref, &buffer);
    return buffer;
}

// begin(HologramError): the class of errors.
static napi_value begin(napi_env env, napi_callback_info info)
{
    JsEnv     *state = js_env(env);
    napi_value arg;
    if (!js_args(env, info, 1, &arg)) return NULL;
    if (state->error) napi_delete_reference(env, state->error);
    napi_create_reference(env, arg, 1, &state->error);
    return NULL;
}

// close(handle): true where it was open.
static napi_value close_handle(napi_env env, napi_callback_info info)
{
    napi_value arg;
    double     handle;
    if (!js_args(env, info, 1, &arg) || !js_number_get(env, arg, "a handle", 0, 0x1p53, &handle)) return NULL;
    return js_bool(env, js_handle_close(env, handle));
}

static const JsFunction functions[] = {
    {"begin", begin},
    {"block", block},
    {"close", close_handle},
    {NULL, NULL},
};

// The environment ends: nothing of JavaScript can be called any more.
static void state_destroy(napi_env env, void *data, void *hint)
{
    JsEnv *state = data;
    (void)hint;
    for (uint32_t i = 0; i < state->slot_count; i++) js_holder_unref(state->slots[i].holder);
    if (state->error) napi_delete_reference(env, state->error);
    if (state->block_ref) napi_delete_reference(env, state->block_ref);
    free(state->slots);
    free(state);
}

static void functions_add(napi_env env, napi_value exports, const JsFunction *list)
{
    for (; list->name; list++) {
        napi_property_descriptor row = {
            .utf8name = list->name, .method = list->function, .attributes = napi_enumerable};
        napi_define_properties(env, exports, 1, &row);
    }
}

JS_EXTERN napi_value napi_register_module_v1(napi_env env, napi_value exports);
JS_EXTERN int32_t    node_api_module_get_api_version_v1(void);

int32_t node_api_module_get_api_version_v1(void)
{
    return 8;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
    JsEnv *state = calloc(1, sizeof *state);
    if (!state || napi_set_instance_data(env, state, state_destroy, NULL)) {
        free(state);
        napi_throw_error(env, NULL, "hologram: out of memory");
        return NULL;
    }
    functions_add(env, exports, functions);
    functions_add(env, exports, js_functions_run);
    functions_add(env, exports, js_functions_compile);
    functions_add(env, exports, js_functions_kernels);
    functions_add(env, exports, js_functions_text);
    functions_add(env, exports, js_functions_generate);
    functions_add(env, exports, js_functions_batch);
    functions_add(env, exports, js_functions_picture);
    functions_add(env, exports, js_functions_speech);
    functions_add(env, exports, js_functions_reader);
    functions_add(env, exports, js_functions_made);
    return exports;
}
