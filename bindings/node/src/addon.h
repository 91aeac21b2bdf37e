// addon.h - what the files of the addon share: handles, errors, tensors to and from JavaScript, and runs.
//
// JavaScript holds objects of the library by handles, which are numbers: a slot of a table of the environment, and how often the
// slot was used. A handle that was closed, or was never given, is an error and not a wild pointer. Behind a handle is a holder,
// counted by who needs it: a session needs its model, a run in progress needs its session. So JavaScript may close things
// in any order, at any time.
//
// Each environment (the main thread, a worker thread) loads the addon for itself and has its own table; only the functions that
// run on other threads say so.
#ifndef HOLO_NODE_ADDON_H
#define HOLO_NODE_ADDON_H

#include "fields.h"
#include "hologram.h"
#include "hologram_compiler.h"
#include "hologram_image.h"
#include "hologram_text.h"
#include "napi.h"
#include "told.h"

#include <stdatomic.h>

// ---- memory

// Memory that is freed together: a list of pieces.
typedef struct JsPiece JsPiece;
struct JsPiece {
    JsPiece *next;
    _Alignas(16) char bytes[];
};
void *js_piece(JsPiece **pieces, size_t size); // zeroed; NULL: none
void  js_pieces_free(JsPiece **pieces);

// ---- handles

enum { JS_NEEDS_MAX = 4 };

typedef struct JsHolder JsHolder;
struct JsHolder {
    int       kind; // JsKind, of made.h
    int       refs;
    void     *object;
    JsPiece  *pieces;              // memory that the object reads, freed after it
    void     *job;                 // of a session: its run on another thread; NULL: none
    bool      was_cancelled_late;  // of a session: it was asked to stop when its run was over
    JsHolder *needs[JS_NEEDS_MAX]; // are destroyed after it
};

typedef struct JsSlot {
    JsHolder *holder; // NULL: free
    uint32_t  uses, next_free;
} JsSlot;

typedef struct JsEnv {
    napi_ref error; // the class of errors
    napi_ref block_ref;
    double  *block; // what a call says beside its arrays: see js_tensor_read
    size_t   block_room;
    JsSlot  *slots;
    uint32_t slot_count, free_slot; // slots from 1 on; free_slot 0: none is free
} JsEnv;

JsEnv *js_env(napi_env env);
// Room for so many numbers in the block, which keeps what it holds. In the first place of the old one stands -1 then: JavaScript
// asks for the new one.
bool js_block_grow(napi_env env, size_t room);

// A new handle with one reference; `needs` are referred to. 0: no memory, and the object was destroyed.
double    js_handle_create(napi_env env, int kind, void *object, JsHolder *const *needs, int need_count);
JsHolder *js_handle_find(napi_env env, double handle);  // NULL: closed, or never given
bool      js_handle_close(napi_env env, double handle); // false: there was none
// Of an argument, of that kind. NULL: an exception is pending. Where it may be nothing, *out is NULL for undefined, null and 0.
bool js_holder_get(napi_env env, napi_value value, int kind, bool may_be_nothing, JsHolder **out);
void js_holder_ref(JsHolder *holder);
void js_holder_unref(JsHolder *holder);
bool js_holder_need(JsHolder *holder, JsHolder *other); // false: no room
bool js_holder_is_idle(napi_env        env,
                       const JsHolder *holder); // false: it works on another thread, and an exception is pending

// ---- errors

napi_value js_error_make(napi_env env, HoloStatus status, const char *text);
// Throws; returns NULL, so that a function can end with it.
napi_value js_throw(napi_env env, HoloStatus status, const char *text);
napi_value js_throw_argument(napi_env env, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ---- plain values

bool js_args(napi_env env, napi_callback_info info, size_t count, napi_value *args); // absent ones are undefined
bool js_is_nothing(napi_env env, napi_value value);                                  // undefined or null
bool js_number_get(napi_env env, napi_value value, const char *name, double low, double high, double *out);
bool js_bool_get(napi_env env, napi_value value, const char *name, bool *out);
// A string in memory to free. Where it may be nothing, *out is NULL for undefined and null.
bool js_text_get(napi_env env, napi_value value, const char *name, bool may_be_nothing, char **out);
// The bytes of a typed array, as long as nothing of JavaScript runs.
bool js_bytes_get(napi_env env, napi_value value, const char *name, void **out_data, size_t *out_size);

// Ids, an Uint32Array, in the same way (js_generate.c).
bool js_ids_get(napi_env env, napi_value value, void **out_ids, size_t *out_count);

// They become a copy in `kept`, aligned as archives are.
bool js_bytes_keep(napi_env env, JsPiece **kept, void **bytes, size_t size);

napi_value js_number(napi_env env, double value);
napi_value js_bool(napi_env env, bool value);
napi_value js_text(napi_env env, const char *text); // null for NULL
napi_value js_null(napi_env env);
void       js_set(napi_env env, napi_value object, const char *name, napi_value value);

// ---- values of models (js_values.c)

// What a call reads: numbers of the block, and arrays.
typedef struct JsReader {
    napi_env      env;
    const double *at, *end;
    napi_value    arrays;
    uint32_t      array, array_count;
    JsPiece     **pieces;
    bool          is_copied; // small arrays, for a run on another thread: JavaScript goes on meanwhile
} JsReader;

bool js_reader_open(napi_env env, napi_value arrays, JsPiece **pieces, JsReader *out);
bool js_read_number(JsReader *reader, double *out);
// False: an exception is pending. A value is, in the block, its kind, and then
//   of a tensor: dtype, rank and sizes, with one array for its elements, or two for strings: their bytes and where each ends;
//   of a sequence or an optional: dtype, the kind of its elements, their number, and these;
//   of a map: dtype, and two tensors.
bool js_tensor_read(JsReader *reader, HoloTensor *out);
// An array to be filled.
bool js_memory_read(JsReader *reader, void **out_data, size_t *out_size);

// What a call gives: the same, the other way round, from the second place of the block on; the first is for js_block_grow.
typedef struct JsWriter {
    napi_env   env;
    JsEnv     *state;
    size_t     at;
    napi_value arrays; // NULL until there is one
    uint32_t   array;
} JsWriter;
bool js_write_number(JsWriter *writer, double number);
// `output` owns the memory of a tensor, and passes it on where that is no copy; NULL: the tensor is copied.
bool       js_tensor_write(JsWriter *writer, const HoloTensor *tensor, HoloRunOutput *output, bool has_array);
napi_value js_writer_end(JsWriter *writer); // the arrays

// ---- work on another thread (js_task.c)

// The first field of what the work is about.
typedef struct JsTask JsTask;
struct JsTask {
    void (*run)(JsTask *task);                        // on any thread; sets status and error
    napi_value (*result)(napi_env env, JsTask *task); // after a success; NULL: an exception is pending
    void (*destroy)(napi_env env, JsTask *task);      // frees the task itself, too
    napi_async_work work;
    napi_ref        callback, kept;
    HoloStatus      status;
    HoloError       error; // its text is not zeroed
};
void js_task_init(JsTask *task, void (*run)(JsTask *), napi_value (*result)(napi_env, JsTask *),
                  void (*destroy)(napi_env, JsTask *));
// Runs it, and then calls callback(error or null, result). `kept` stays as long; may be NULL. False: it does not run, an exception is
// pending, and the task is still the caller's.
bool js_task_queue(napi_env env, JsTask *task, napi_value kept, napi_value callback);
void js_task_deinit(napi_env env, JsTask *task);

// ---- options and results, by the tables of fields.h (js_options.c)

bool       js_fields_read(napi_env env, napi_value object, const BindField *fields, void *out); // others stay
napi_value js_fields_object(napi_env env, const BindField *fields, const void *from);
bool       js_stops_read(napi_env env, napi_value list, JsPiece **pieces, HoloGenerateOptions *out);
napi_value js_told_tokens(napi_env env, const BindTold *told); // [{id, text, logprob}], of a batch with {of}
napi_value js_told_ends(napi_env env, const BindTold *told);   // [{of, status, message, counts}]

// ---- work of a language model (js_generate.c)

// The first field of such work. One at a time: it stands in the holder of the language model, or of the batch.
typedef struct JsTextTask {
    JsTask      task;
    JsHolder   *language;
    atomic_bool is_cancelled;
} JsTextTask;
// Runs it, as js_task_queue; what cannot begin is destroyed, and an exception is pending.
napi_value js_text_start(napi_env env, JsTextTask *work, JsHolder *language, napi_value callback);
void       js_text_deinit(napi_env env, JsTextTask *work);
// Does a run that was cancelled have to be tried again? One that was asked to stop too late stops the next one.
bool js_text_is_again(const JsTextTask *work);

// ---- functions for JavaScript

// One row for each function that is written by hand; made.c has the others.
typedef struct JsFunction {
    const char   *name;
    napi_callback function;
} JsFunction;

extern const JsFunction js_functions_run[], js_functions_compile[], js_functions_kernels[], js_functions_text[],
    js_functions_generate[], js_functions_batch[], js_functions_picture[], js_functions_speech[], js_functions_reader[],
    js_functions_made[]; // end with NULL

#endif
