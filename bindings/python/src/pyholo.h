// pyholo.h - what the sources of the Python extension share.
//
// The extension is one file for CPython 3.9 and all later ones: it uses only the stable ABI. Everything here runs with the GIL
// held, unless it says otherwise. Functions that return PyObject * give a new reference, or NULL with an exception set; those
// that return int give 0, or -1 with an exception set.
#ifndef HOLO_PYHOLO_H
#define HOLO_PYHOLO_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "fields.h"
#include "hologram.h"
#include "hologram_compiler.h"
#include "hologram_text.h"
#include "told.h"

#include <stdatomic.h>
#include <string.h>

// ---- buffers: in the stable ABI since 3.11, and the same before

typedef struct Py_buffer {
    void       *buf;
    PyObject   *obj;
    Py_ssize_t  len, itemsize;
    int         readonly, ndim;
    char       *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void       *internal;
} Py_buffer;

PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size); // in it since 3.10

#define PyBUF_WRITABLE     0x0001
#define PyBUF_FORMAT       0x0004
#define PyBUF_ND           0x0008
#define PyBUF_STRIDES      (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)
#define Py_bf_getbuffer    1

#define PY_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// ---- errors (errors.c)

int py_errors_init(PyObject *module);
// Raises the class of the status with the library's message; returns NULL.
PyObject *py_raise(HoloStatus status, const HoloError *error);
// An exception of a status's class, with a message of our own; returns -1.
int py_fail(HoloStatus status, const char *format, ...);

// A HoloError whose 4 KiB are not cleared: only what is read before it is written.
static inline void py_error_init(HoloError *error)
{
    error->status  = HOLO_OK;
    error->text[0] = 0;
}

// ---- element types (dtypes.c)

typedef struct PyDtype {
    const char *name;   // NumPy's and ml_dtypes': "float32", "bfloat16"
    const char *format; // of the buffer protocol; NULL: it has none
    const char *arrow;  // of the Arrow C data interface; NULL: none of the same layout
    const char *same;   // the type of the same size that NumPy has itself; NULL: NumPy has this one
    int8_t      narrow; // bits, where it has fewer than a byte; negative: signed. 0: all of its bytes are used
} PyDtype;

int            py_dtypes_init(PyObject *module);
const PyDtype *py_dtype(int dtype);              // of any number
HoloDtype      py_dtype_named(const char *name); // HOLO_NONE: no such. Also the C library's names: "f32"
// By the format and item size of a buffer; HOLO_NONE: none of ours.
HoloDtype py_dtype_of_format(const char *format, Py_ssize_t size);
// A type as people write it: a name, a NumPy type or dtype. HOLO_NONE: an exception is set.
HoloDtype py_dtype_from(PyObject *object);

// ---- values with memory (tensor.c, exchange.c, arrow.c)

typedef struct Tensor {
    PyObject_HEAD HoloTensor view;
    bool                     is_readonly;
    PyObject                *base; // keeps the memory; NULL: `release` does
    void (*release)(void *state);
    void      *state;
    Py_ssize_t shape[HOLO_MAX_RANK], strides[HOLO_MAX_RANK];
} Tensor;

extern PyTypeObject *py_tensor_type;
int                  py_tensor_init(PyObject *module);
// Takes over `release` and `state`, and a reference of its own to `base`; on failure they are the caller's still.
PyObject *py_tensor_create(const HoloTensor *view, PyObject *base, void (*release)(void *), void *state);
PyObject *py_tensor_empty(HoloDtype dtype, int rank, const int64_t *dim); // 64-byte aligned

PyObject *py_tensor_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *py_tensor_dlpack_device(PyObject *self, PyObject *unused);
PyObject *py_tensor_arrow(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *py_shape_tuple(int rank, const int64_t *dim);

// ---- values that are given (inputs.c)

// What keeps a value's memory while the library reads it.
typedef struct Held {
    Py_buffer buffer; // obj NULL: none
    PyObject *object;
    void     *memory; // PyMem
    void (*release)(void *state);
    void        *state;
    struct Held *children; // PyMem
    int          child_count;
    bool         may_be_there, is_there; // in the memory of a GPU: whether it may be, and whether it is
} Held;

void py_held_release(Held *held);
// A value for `port` (its kind and type), or, with port NULL, any tensor. `what` names it in messages: "input x". Without a
// copy where it is dense and aligned; else with one.
int py_take(PyObject *object, const HoloPort *port, const char *what, HoloTensor *out, Held *held);
// The memory of an array that the library is to write: of that type, dense, aligned, writable.
int py_take_writable(PyObject *object, HoloDtype dtype, const char *what, HoloTensor *out, Held *held);
// Steps of py_take. 1: it is not of that sort.
int py_take_dlpack(PyObject *object, const char *what, HoloTensor *out, Held *held);
int py_take_arrow(PyObject *object, const char *what, HoloTensor *out, Held *held);
// Makes the value dense and aligned, by a copy where it is not; strides are in bytes, NULL: dense.
int py_make_dense(HoloTensor *t, const Py_ssize_t *strides, Held *held);
int py_take_strings(PyObject *object, const char *what, HoloTensor *out, Held *held); // strings.c

// ---- values that are given back (outputs.c)

bool py_has_numpy(void);
// An array of NumPy over the tensor, or the tensor itself where there is no NumPy or no such type; steals `tensor`.
PyObject *py_array_over(PyObject *tensor);
// An array for the library to write to, and its memory, which `held` keeps.
PyObject *py_array_empty(HoloDtype dtype, PyObject *shape, const HoloTensor *type, HoloTensor *out, Held *held);
// What `py_array_empty` made, in its own type: steals `array`.
PyObject *py_array_finish(PyObject *array, HoloDtype dtype);
// Any value: tensors, strings, sequences, optionals, maps. Takes over what output->owned holds.
PyObject *py_value_from(HoloRunOutput *output);
PyObject *py_value_copy(const HoloTensor *view); // of memory that somebody else has
PyObject *py_strings_from(const HoloTensor *t);  // strings.c

// ---- objects of the library (handle.c)

typedef struct HandleKind {
    const char *name; // "HoloModel"
    void (*destroy)(void *pointer);
} HandleKind;

typedef struct Handle {
    PyObject_HEAD void *pointer; // NULL: destroyed
    const HandleKind   *kind;
    PyObject           *keeps; // a list of what must outlive it; NULL: nothing
    int                 calls; // that are inside
    int                 uses;  // these, and objects that depend on it
    bool                is_closed;
} Handle;

extern PyTypeObject    *py_handle_type;
extern const HandleKind py_kind_model, py_kind_session, py_kind_pool, py_kind_compiler, py_kind_kernels;
extern const HandleKind py_kind_tokenizer, py_kind_template, py_kind_grammar, py_kind_language, py_kind_answer,
    py_kind_picture, py_kind_reader;
int           py_handle_init(PyObject *module);
PyTypeObject *py_handle_subtype(PyObject *module, PyType_Spec *spec);
// A handle of `pointer`, which is destroyed where this fails.
PyObject *py_handle_create(PyTypeObject *type, const HandleKind *kind, void *pointer);
int       py_handle_keep(PyObject *handle, PyObject *object); // what must live as long
// The pointer, for a call; NULL: it is no such object, or closed, and an exception is set. Each goes with a py_handle_done.
void *py_handle_use(PyObject *object, const HandleKind *kind);
void  py_handle_done(PyObject *object);
// Between the two, before something is changed: fails, with an exception, where another thread's call is inside.
int   py_handle_alone(PyObject *object);
void *py_handle_use_alone(PyObject *object, const HandleKind *kind); // both
void  py_handle_close(Handle *handle);                               // now, or when nobody uses it any more

// ---- models, sessions and runs (model.c, session.c, run.c)

typedef struct PyPort { // what a run needs to know of an input or an output
    const HoloPort *port;
    PyObject       *name;  // str
    PyObject       *shape; // tuple; NULL: it is not fixed, or no tensor of numbers
    // Where each size of an output that is no number comes from: the dimension of an input. -1: it is fixed.
    int8_t from_input[HOLO_MAX_RANK], from_dim[HOLO_MAX_RANK];
    bool   is_known; // the shape follows from the inputs' in this way
    char   what[72]; // "input x", for messages
} PyPort;

typedef struct Model {
    Handle    handle;
    int       in_count, out_count;
    PyPort   *in, *out;
    bool      is_long; // a run may take long enough for somebody to press Ctrl-C
    PyObject *pool;    // a Handle; NULL: none
    PyObject *bytes;   // of an archive in memory; NULL: it is a file
} Model;

typedef struct Session {
    Handle    handle;
    Model    *model;
    bool      is_running; // from the first look at the inputs until the outputs are copied
    PyObject *watch;      // NULL: none
} Session;

extern PyTypeObject *py_model_type, *py_session_type;
int                  py_model_init(PyObject *module);
int                  py_session_init(PyObject *module);
// A model of the type `type` around one that was opened or compiled, which is closed where this fails.
PyObject *py_model_create(PyTypeObject *type, HoloModel *model, PyObject *pool, PyObject *bytes);
// model(x, y=z): an array, or a tuple of them. `session` NULL: a run of the model.
PyObject *py_run_call(Model *model, Session *session, PyObject *args, PyObject *kwargs);
// model.run({...}, outputs, out=, timeout=, cancel=): a dict.
PyObject         *py_run_method(Model *model, Session *session, PyObject *args, PyObject *kwargs);
extern const char py_run_doc[];

// ---- stopping (interrupt.c)

int py_interrupt_init(PyObject *module);
// Has Ctrl-C reach what the main thread runs in the library from now on. Cheap enough for all but runs.
void py_interrupt_watch(void);

// hologram.Cancel: a flag that stops a run.
typedef struct Cancel {
    PyObject_HEAD int flag;
} Cancel;
extern PyTypeObject *py_cancel_type;

// A call of the library without the GIL, which Ctrl-C stops. Zero-initialize; of one of the main thread the signal's handler
// sets *flag, where there is one, and calls `stop`.
typedef struct PyCall {
    int *flag;
    void (*stop)(void *object);
    void          *object;
    bool           was_interrupted;
    bool           is_main;
    struct PyCall *outer;
    PyThreadState *thread;
} PyCall;
void py_call_begin(PyCall *call); // releases the GIL
void py_call_end(PyCall *call);
// After a call that ended with `status`. 1: do it again: a signal stopped it whose handler in Python wants nothing. -1: an exception is
// set, such as KeyboardInterrupt. 0: there is nothing to do.
int py_call_again(PyCall *call, HoloStatus status);

// ---- text (py_text.c, py_generate.c, py_batch.c)

int py_text_init(PyObject *module);
int py_generate_init(PyObject *module);
int py_batch_init(PyObject *module);
int py_speech_init(PyObject *module);
int py_reader_init(PyObject *module);
int py_picture_init(PyObject *module);
// Ids of any iterable, in memory of PyMem.
int       py_ids_take(PyObject *object, uint32_t **out, size_t *out_count);
PyObject *py_text_from(HoloString text);                 // what is no UTF-8 is replaced
int       py_unsigned_take(PyObject *object, void *out); // an unsigned long long, for PyArg_Parse: 1 if it is one

// ---- options and results, by the tables of fields.h (py_options.c)

int       py_fields_take(PyObject *dict, const BindField *fields, void *out); // what the dict has not stays
PyObject *py_fields_dict(const BindField *fields, const void *from);
// The strings stay where the list has them; the array is of PyMem.
HoloString *py_stops_take(PyObject *list);
PyObject   *py_told_tokens(const BindTold *told); // [(text, id, text of it, logprob)]
PyObject   *py_told_ends(const BindTold *told);   // [(text, status, message, result)]

// ---- the rest

int py_compile_init(PyObject *module);
int py_kernels_init(PyObject *module);
int py_made_init(PyObject *module);     // made by make_bindings.py
int py_programs_init(PyObject *module); // cli.c
int py_function_add(PyObject *module, PyMethodDef *method);

#endif
