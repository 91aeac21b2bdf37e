// made_parts.c - the functions that made.c calls.
#include "made.h"

PyObject *py_made_tensor(const HoloTensor *t)
{
    if (t->data && t->kind == HOLO_TENSOR) return py_value_copy(t);
    PyObject *shape = t->rank < 0 ? none() : py_shape_tuple(t->rank, t->dim);
    return shape ? Py_BuildValue("{s:s,s:N}", "dtype", py_dtype(t->dtype)->name, "shape", shape) : NULL;
}

int get_number(PyObject *dict, const char *name, double *out)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    *out            = value ? PyFloat_AsDouble(value) : 0;
    return PyErr_Occurred() ? -1 : 0;
}

int get_item(PyObject *dict, const char *name, int index, double *out)
{
    PyObject *list = PyDict_GetItemString(dict, name), *value = NULL;
    *out = 0;
    if (!list || index >= PySequence_Size(list)) return PyErr_Occurred() ? -1 : 0;
    value = PySequence_GetItem(list, index);
    if (value) *out = PyFloat_AsDouble(value);
    Py_XDECREF(value);
    return PyErr_Occurred() ? -1 : 0;
}

int get_text(PyObject *dict, const char *name, const char **out)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    *out            = value && value != Py_None ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    return PyErr_Occurred() ? -1 : 0;
}

// A type without data: {"dtype": 'float32', "shape": (1, 2)}. A size of None, or a text, is open.
static PyObject *type_of(PyObject *dict, HoloTensor *out)
{
    PyObject *dtype = PyDict_GetItemString(dict, "dtype"), *shape = PyDict_GetItemString(dict, "shape");
    *out            = (HoloTensor){.dtype = (uint8_t)(dtype ? py_dtype_from(dtype) : HOLO_NONE), .rank = -1};
    Py_ssize_t rank = shape && shape != Py_None ? PySequence_Size(shape) : -1;
    for (Py_ssize_t i = 0; i < rank && i < HOLO_MAX_RANK; i++) {
        PyObject *size = PySequence_GetItem(shape, i);
        out->rank      = (int8_t)rank;
        out->dim[i]    = size && PyLong_Check(size) ? PyLong_AsLongLong(size) : -1;
        Py_XDECREF(size);
    }
    if (rank == 0) out->rank = 0;
    return PyErr_Occurred() ? NULL : none();
}

PyObject *tensor_of(PyObject *object, HoloTensor *out)
{
    if (PyDict_Check(object)) return type_of(object, out);
    PyObject *tensor = PyObject_CallFunctionObjArgs((PyObject *)py_tensor_type, object, NULL);
    if (tensor) *out = ((Tensor *)tensor)->view;
    return tensor;
}

int tensors_take(PyObject *list, Tensors *out)
{
    Py_ssize_t  count = PySequence_Size(list);
    HoloTensor *room;
    if (count < 0) return -1;
    out->views = PyMem_Calloc((size_t)count + 1, sizeof *out->views);
    out->kept  = PyMem_Calloc((size_t)count + 1, sizeof *out->kept);
    if (!out->views || !out->kept) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject  *each = PySequence_GetItem(list, i);
        HoloTensor view;
        if (each && each != Py_None) out->kept[i] = tensor_of(each, &view);
        room         = out->kept[i] ? &((Tensor *)out->kept[i])->view : NULL;
        bool is_none = each == Py_None;
        Py_XDECREF(each);
        if (!room && !is_none) return -1;
        out->views[i] = room;
        out->count    = (int)i + 1;
    }
    return 0;
}

void tensors_release(Tensors *tensors)
{
    for (int i = 0; i < tensors->count; i++) Py_XDECREF(tensors->kept[i]);
    PyMem_Free(tensors->kept);
    PyMem_Free(tensors->views);
}

int bytes_take(PyObject *object, Py_buffer *out)
{
    if (PyUnicode_Check(object)) {
        PyObject *bytes  = PyUnicode_AsUTF8String(object);
        int       status = bytes ? PyObject_GetBuffer(bytes, out, PyBUF_C_CONTIGUOUS) : -1;
        Py_XDECREF(bytes); // the buffer has it
        return status;
    }
    return PyObject_GetBuffer(object, out, PyBUF_C_CONTIGUOUS);
}

int py_unsigned_take(PyObject *object, void *out)
{
    PyObject *number = PyNumber_Index(object);
    if (!number) return 0;
    *(unsigned long long *)out = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (!PyErr_Occurred()) return 1;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "expected a number from 0 to 2^64 - 1, not %R", object);
    return 0;
}

static void integer_store(void *to, size_t size, long long value)
{
    if (size == 1) *(int8_t *)to = (int8_t)value;
    if (size == 2) *(int16_t *)to = (int16_t)value;
    if (size == 4) *(int32_t *)to = (int32_t)value;
    if (size == 8) *(int64_t *)to = value;
}

int numbers_take(PyObject *list, size_t size, bool is_real, void **out, int *out_count)
{
    Py_ssize_t count = PySequence_Size(list);
    if (count < 0) return -1;
    *out = PyMem_Calloc((size_t)count + 1, size);
    if (!*out) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *each = PySequence_GetItem(list, i);
        char     *to   = (char *)*out + (size_t)i * size;
        if (each && is_real) *(double *)to = PyFloat_AsDouble(each);
        if (each && !is_real) integer_store(to, size, PyLong_AsLongLong(each));
        Py_XDECREF(each);
        if (PyErr_Occurred()) return -1;
    }
    *out_count = (int)count;
    return 0;
}

PyObject *made_module(PyObject *module, PyMethodDef *methods)
{
    PyObject *capi = PyModule_New("hologram._hologram.capi"), *name = PyUnicode_FromString("hologram._hologram.capi");
    for (PyMethodDef *m = methods; capi && name && m->ml_name; m++) {
        PyObject *function = PyCFunction_NewEx(m, NULL, name);
        if (!function || PyModule_AddObject(capi, m->ml_name, function)) Py_CLEAR(capi);
    }
    Py_XDECREF(name);
    if (capi && PyModule_SetDocString(capi, "Every function of the C library that follows a rule, by its name in C."))
        Py_CLEAR(capi);
    if (capi && PyModule_AddObject(module, "capi", capi)) Py_CLEAR(capi);
    return capi;
}
