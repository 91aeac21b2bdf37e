// made.h - what made.c, which make_bindings.py writes, is made of.
#ifndef HOLO_PY_MADE_H
#define HOLO_PY_MADE_H

#include "pyholo.h"

// Not every function here is needed by every API.
#pragma GCC diagnostic ignored "-Wunused-function"

static inline PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

static inline PyObject *text_from(const char *text)
{
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape") : none();
}

// Puts a value into a dict and lets go of it; nonzero: it is NULL, or there is no memory.
static inline int put(PyObject *dict, const char *name, PyObject *value)
{
    int status = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return status;
}

// A type without data as a dict, a value as an array.
PyObject               *py_made_tensor(const HoloTensor *t);
static inline PyObject *tensor_from(const HoloTensor *t)
{
    return py_made_tensor(t);
}

static inline PyObject *list_from(const void *items, long count, size_t size, PyObject *(*each)(const void *))
{
    PyObject *list = PyList_New(items ? count : 0);
    for (long i = 0; list && items && i < count; i++) {
        PyObject *value = each((const char *)items + (size_t)i * size);
        if (!value || PyList_SetItem(list, i, value)) Py_CLEAR(list);
    }
    return list;
}

#define EACH(type, make)                               \
    static inline PyObject *each_##type(const void *p) \
    {                                                  \
        return make(*(const type *)p);                 \
    }
EACH(int, PyLong_FromLong)
EACH(int16_t, PyLong_FromLong)
EACH(int64_t, PyLong_FromLongLong)
EACH(uint8_t, PyLong_FromLong)
EACH(uint32_t, PyLong_FromUnsignedLong)
EACH(uint64_t, PyLong_FromUnsignedLongLong)
EACH(double, PyFloat_FromDouble)
#undef EACH

static inline PyObject *each_text(const void *p)
{
    return text_from(*(const char *const *)p);
}

static inline PyObject *each_tensor(const void *p)
{
    return tensor_from(p);
}

typedef struct Tensors {      // a list of arrays, in
    const HoloTensor **views; // NULL: left out
    PyObject         **kept;
    int                count;
} Tensors;

int       get_number(PyObject *dict, const char *name, double *out);
int       get_item(PyObject *dict, const char *name, int index, double *out);
int       get_text(PyObject *dict, const char *name, const char **out);
PyObject *tensor_of(PyObject *object, HoloTensor *out); // a Tensor that keeps it
int       tensors_take(PyObject *list, Tensors *out);
void      tensors_release(Tensors *tensors);
int       bytes_take(PyObject *object, Py_buffer *out);
int       numbers_take(PyObject *list, size_t size, bool is_real, void **out, int *out_count);
PyObject *made_module(PyObject *module, PyMethodDef *methods); // borrowed

#endif
