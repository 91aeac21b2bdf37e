// strings.c - tensors of strings: lists, str, arrays of objects or of text on our side.
#include "pyholo.h"

// The shape that lists in lists have, by their first elements.
static int shape_of(PyObject *object, HoloTensor *out, const char *what)
{
    PyObject *at = object;
    out->rank    = 0;
    while (PyList_Check(at) || PyTuple_Check(at)) {
        if (out->rank == HOLO_MAX_RANK) return py_fail(HOLO_BAD_INPUT, "%s has more than 16 dimensions", what);
        Py_ssize_t size       = PySequence_Size(at);
        out->dim[out->rank++] = size;
        if (!size) return 0;
        PyObject *next = PySequence_GetItem(at, 0);
        if (!next) return -1;
        Py_DECREF(next); // the list has it still
        at = next;
    }
    return 0;
}

static int text_add(PyObject *text, HoloString *out, const char *what)
{
    Py_ssize_t size;
    if (PyBytes_Check(text)) {
        char *data;
        if (PyBytes_AsStringAndSize(text, &data, &size)) return -1;
        *out = (HoloString){data, (size_t)size};
        return 0;
    }
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "%s has elements that are no strings: %R", what, text), -1;
    const char *data = PyUnicode_AsUTF8AndSize(text, &size);
    *out             = (HoloString){data, (size_t)size};
    return data ? 0 : -1;
}

static int texts_add(PyObject *object, const HoloTensor *t, int axis, HoloString **at, const char *what)
{
    if (axis == t->rank) return text_add(object, (*at)++, what);
    if (!PyList_Check(object) && !PyTuple_Check(object))
        return py_fail(HOLO_BAD_INPUT, "%s has lists of different depths", what);
    if (PySequence_Size(object) != t->dim[axis])
        return py_fail(HOLO_BAD_INPUT, "%s has lists of different lengths", what);
    for (int64_t i = 0; i < t->dim[axis]; i++) {
        PyObject *each = PySequence_GetItem(object, i);
        if (!each) return -1;
        Py_DECREF(each); // the list has it still
        if (texts_add(each, t, axis + 1, at, what)) return -1;
    }
    return 0;
}

int py_take_strings(PyObject *object, const char *what, HoloTensor *out, Held *held)
{
    HoloTensor t = {.dtype = HOLO_STRING};
    bool is_own  = PyList_Check(object) || PyTuple_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object);
    if (!is_own && !PyObject_HasAttrString(object, "tolist"))
        return PyErr_Format(PyExc_TypeError,
                            "%s is a tensor of strings: give a str, a list of str, or an array of them", what),
               -1;
    PyObject *shape = is_own ? NULL : PyObject_GetAttrString(object, "shape");
    PyErr_Clear();
    held->object = is_own ? object : PyObject_CallMethod(object, "tolist", NULL);
    if (is_own) Py_INCREF(object);
    int status = held->object ? shape_of(held->object, &t, what) : -1;
    for (Py_ssize_t i = 0; !status && shape && PyTuple_Check(shape) && i < PyTuple_Size(shape) && i < HOLO_MAX_RANK;
         i++) { // one without elements
        t.rank   = (int8_t)PyTuple_Size(shape);
        t.dim[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    }
    Py_XDECREF(shape);
    if (status) return -1;
    HoloString *strings = held->memory = PyMem_Calloc((size_t)holo_tensor_count(&t) + 1, sizeof *strings);
    if (!strings) return PyErr_NoMemory(), -1;
    t.data = strings;
    *out   = t;
    return holo_tensor_count(&t) ? texts_add(held->object, &t, 0, &strings, what) : 0;
}

PyObject *py_strings_from(const HoloTensor *t)
{
    const HoloString *strings = t->data;
    int64_t           count   = holo_tensor_count(t);
    PyObject         *list = PyList_New((Py_ssize_t)count), *shape = list ? py_shape_tuple(t->rank, t->dim) : NULL;
    for (int64_t i = 0; shape && i < count; i++) {
        PyObject *text = PyUnicode_DecodeUTF8(strings[i].data, (Py_ssize_t)strings[i].size, "surrogateescape");
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text)) Py_CLEAR(shape);
    }
    PyObject *module = shape ? PyImport_ImportModule("hologram._lists") : NULL;
    PyObject *made   = module ? PyObject_CallMethod(module, "strings", "OO", list, shape) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(shape);
    Py_XDECREF(module);
    return made;
}
