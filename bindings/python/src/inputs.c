// inputs.c - values that are given to the library: any array, without a copy where it is dense and aligned.
//
// Asked in this order: a Tensor; the buffer protocol (NumPy, array, bytes, memoryview); types of ml_dtypes; DLPack; Arrow;
// __array__; and numbers and lists, which become the type that is wanted.
#include "pyholo.h"

void py_held_release(Held *held)
{
    for (int i = 0; i < held->child_count; i++) py_held_release(&held->children[i]);
    PyMem_Free(held->children);
    if (held->release) held->release(held->state);
    PyMem_Free(held->memory);
    if (held->buffer.obj) PyBuffer_Release(&held->buffer);
    Py_XDECREF(held->object);
    *held = (Held){0};
}

// ---- dense and aligned

static void strided_copy(char **to, const char *from, const HoloTensor *t, const Py_ssize_t *strides, int axis,
                         size_t size)
{
    if (axis == t->rank) {
        memcpy(*to, from, size);
        *to += size;
        return;
    }
    if (axis == t->rank - 1 && strides[axis] == (Py_ssize_t)size) {
        memcpy(*to, from, size * (size_t)t->dim[axis]);
        *to += size * (size_t)t->dim[axis];
        return;
    }
    for (int64_t i = 0; i < t->dim[axis]; i++) strided_copy(to, from + i * strides[axis], t, strides, axis + 1, size);
}

static bool is_dense(const HoloTensor *t, const Py_ssize_t *strides, size_t size)
{
    Py_ssize_t expected = (Py_ssize_t)size;
    for (int i = t->rank - 1; strides && i >= 0; i--) {
        if (t->dim[i] == 0) return true;
        if (t->dim[i] != 1 && strides[i] != expected) return false;
        expected *= (Py_ssize_t)t->dim[i];
    }
    return true;
}

// Values narrower than a byte have their sign in all of it; others leave the upper bits as they come.
static void narrow_fill(HoloTensor *t)
{
    int bits = py_dtype(t->dtype)->narrow, used = bits < 0 ? -bits : bits;
    for (int64_t i = 0, count = bits ? holo_tensor_count(t) : 0; i < count; i++) {
        uint8_t *byte = (uint8_t *)t->data + i, low = (uint8_t)(*byte & ((1 << used) - 1));
        *byte = bits < 0 && (low >> (used - 1)) ? (uint8_t)(low | (0xff << used)) : low;
    }
}

int py_make_dense(HoloTensor *t, const Py_ssize_t *strides, Held *held)
{
    size_t size = holo_dtype_size((HoloDtype)t->dtype), align = size > 8 || t->dtype == HOLO_C64 ? size / 2 : size;
    if (!align) return PyErr_SetString(PyExc_TypeError, "there is no such element type"), -1;
    bool must_fill = py_dtype(t->dtype)->narrow;
    if (!must_fill && (uintptr_t)t->data % align == 0 && is_dense(t, strides, size)) return 0;
    if (holo_tensor_count(t) < 0) return py_fail(HOLO_BAD_INPUT, "the array is too large");
    char *memory = PyMem_Malloc(holo_tensor_bytes(t) + 1), *to = memory;
    if (!memory) return PyErr_NoMemory(), -1;
    if (is_dense(t, strides, size))
        memcpy(memory, t->data, holo_tensor_bytes(t));
    else if (holo_tensor_count(t))
        strided_copy(&to, t->data, t, strides, 0, size);
    t->data      = memory;
    held->memory = memory;
    narrow_fill(t);
    return 0;
}

// ---- tensors

static int take_tensor(PyObject *object, HoloTensor *out, Held *held)
{
    if (!PyObject_TypeCheck(object, py_tensor_type)) return 1;
    *out         = ((Tensor *)object)->view;
    held->object = object;
    Py_INCREF(object);
    return 0;
}

static int take_buffer(PyObject *object, const char *what, HoloTensor *out, Held *held)
{
    Py_buffer *b = &held->buffer;
    if (PyObject_GetBuffer(object, b, PyBUF_FORMAT | PyBUF_STRIDES)) {
        b->obj = NULL;
        PyErr_Clear();
        return 1;
    }
    HoloDtype dtype = py_dtype_of_format(b->format, b->itemsize);
    if (b->ndim > HOLO_MAX_RANK)
        return py_fail(HOLO_BAD_INPUT, "%s has %d dimensions: at most %d are possible", what, b->ndim, HOLO_MAX_RANK);
    if (!dtype && b->format && (*b->format == '>' || *b->format == '!'))
        return py_fail(HOLO_BAD_INPUT,
                       "%s has the bytes of its numbers in another order: use x.astype(x.dtype.newbyteorder('='))",
                       what);
    if (!dtype)
        return py_fail(HOLO_BAD_INPUT, "%s has elements of format '%s', which is no type of a tensor", what,
                       b->format ? b->format : "");
    out->dtype = (uint8_t)dtype;
    out->kind = out->inner = HOLO_TENSOR;
    out->rank              = (int8_t)b->ndim;
    out->data              = b->buf;
    for (int i = 0; i < b->ndim; i++) out->dim[i] = b->shape ? b->shape[i] : b->len / b->itemsize;
    return py_make_dense(out, b->strides, held);
}

// An array of a type of ml_dtypes: seen as the type of NumPy of the same size.
static int take_ml_dtype(PyObject *object, const char *what, HoloTensor *out, Held *held)
{
    PyObject *dtype = PyObject_HasAttrString(object, "view") ? PyObject_GetAttrString(object, "dtype") : NULL;
    PyObject *name  = dtype && PyObject_HasAttrString(dtype, "name") ? PyObject_GetAttrString(dtype, "name") : NULL;
    HoloDtype own   = name && PyUnicode_Check(name) ? py_dtype_named(PyUnicode_AsUTF8AndSize(name, NULL)) : HOLO_NONE;
    Py_XDECREF(dtype);
    Py_XDECREF(name);
    PyErr_Clear();
    if (!own || !py_dtype((int)own)->same) return 1;
    PyObject *view = PyObject_CallMethod(object, "view", "s", py_dtype((int)own)->same);
    if (!view) return -1;
    int status   = take_buffer(view, what, out, held);
    held->object = view;
    if (status) return status;
    out->dtype = (uint8_t)own;
    return py_dtype((int)own)->narrow ? py_make_dense(out, NULL, held) : 0;
}

static int take_array_method(PyObject *object, const char *what, HoloTensor *out, Held *held)
{
    if (!PyObject_HasAttrString(object, "__array__") || PyType_Check(object)) return 1;
    PyObject *array = PyObject_CallMethod(object, "__array__", NULL);
    if (!array) return -1;
    int status = take_buffer(array, what, out, held);
    if (status == 1) status = take_ml_dtype(array, what, out, held);
    if (held->object)
        Py_DECREF(array);
    else
        held->object = array;
    if (status == 1) PyErr_Format(PyExc_TypeError, "%s: __array__ gives no array of numbers", what);
    return status ? -1 : 0;
}

// Numbers, and lists of them: hologram._lists makes an array of the type that is wanted.
static int take_list(PyObject *object, HoloDtype want, const char *what, HoloTensor *out, Held *held)
{
    PyObject *module = PyImport_ImportModule("hologram._lists");
    PyObject *made   = module ? PyObject_CallMethod(module, "array", "Oss", object,
                                                    py_dtype(want ? (int)want : (int)HOLO_F32)->name, what)
                              : NULL;
    Py_XDECREF(module);
    if (!made) return -1;
    if (take_tensor(made, out, held) == 0) return Py_DECREF(made), 0;
    int status = take_buffer(made, what, out, held);
    if (status == 1) status = take_ml_dtype(made, what, out, held);
    if (!held->object) held->object = made, made = NULL;
    Py_XDECREF(made);
    return status ? -1 : 0;
}

static bool is_list(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object) || PyFloat_Check(object) || PyLong_Check(object) ||
           PyComplex_Check(object);
}

static int take_any(PyObject *object, HoloDtype want, const char *what, HoloTensor *out, Held *held)
{
    int status = take_tensor(object, out, held);
    if (status == 1) status = take_buffer(object, what, out, held);
    if (status <= 0) return status;
    if (is_list(object)) return take_list(object, want, what, out, held);
    status = take_ml_dtype(object, what, out, held);
    if (status == 1) status = py_take_dlpack(object, what, out, held);
    if (status == 1) status = py_take_arrow(object, what, out, held);
    if (status == 1) status = take_array_method(object, what, out, held);
    if (status == 1) {
        PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
        PyErr_Format(
            PyExc_TypeError,
            "%s is a %S, and no array: give one of NumPy, or anything with the buffer protocol, DLPack or Arrow", what,
            type ? type : Py_None);
        Py_XDECREF(type);
    }
    return status ? -1 : 0;
}

static int take_array(PyObject *object, HoloDtype want, const char *what, HoloTensor *out, Held *held)
{
    if (want == HOLO_STRING) return py_take_strings(object, what, out, held);
    int status = take_any(object, want, what, out, held);
    if (status || !want || out->dtype == want) return status;
    return py_fail(HOLO_BAD_INPUT, "%s should have elements of type %s, but has %s: convert it, as by x.astype('%s')",
                   what, py_dtype((int)want)->name, py_dtype(out->dtype)->name, py_dtype((int)want)->name);
}

// ---- sequences and maps

static int children_take(Held *held, Py_ssize_t count, HoloTensor **out_items)
{
    held->children = PyMem_Calloc((size_t)count + 1, sizeof *held->children);
    held->memory = *out_items = PyMem_Calloc((size_t)count + 1, sizeof **out_items);
    if (!held->children || !held->memory) return PyErr_NoMemory(), -1;
    return 0;
}

static int take_map(PyObject *object, HoloDtype want, const char *what, HoloTensor *out, Held *held)
{
    HoloTensor *items;
    if (!PyDict_Check(object)) return PyErr_Format(PyExc_TypeError, "%s is a map: give a dict", what), -1;
    PyObject *keys = PyDict_Keys(object), *values = PyDict_Values(object);
    int       status = keys && values ? children_take(held, 2, &items) : -1;
    if (!status) {
        held->child_count = 2;
        bool is_text      = PyList_Size(keys) && PyUnicode_Check(PyList_GetItem(keys, 0));
        status            = take_array(keys, is_text ? HOLO_STRING : HOLO_I64, what, &items[0], &held->children[0]);
        if (!status) status = take_array(values, want, what, &items[1], &held->children[1]);
    }
    if (!status)
        *out = (HoloTensor){
            .dtype = items[1].dtype, .kind = HOLO_MAP, .rank = 1, .dim = {PyList_Size(keys)}, .data = items};
    Py_XDECREF(keys);
    Py_XDECREF(values);
    return status;
}

static int take_sequence(PyObject *object, int inner, HoloDtype want, const char *what, HoloTensor *out, Held *held)
{
    HoloTensor *items;
    if (!PySequence_Check(object) || PyUnicode_Check(object))
        return PyErr_Format(PyExc_TypeError, "%s is a sequence: give a list of arrays", what), -1;
    Py_ssize_t count = PySequence_Size(object);
    if (count < 0 || children_take(held, count, &items)) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *each = PySequence_GetItem(object, i);
        if (!each) return -1;
        int status = inner == HOLO_MAP ? take_map(each, want, what, &items[i], &held->children[i])
                                       : take_array(each, want, what, &items[i], &held->children[i]);
        held->child_count++;
        Py_DECREF(each);
        if (status) return -1;
    }
    HoloDtype dtype = want || !count ? want : (HoloDtype)items[0].dtype;
    *out            = (HoloTensor){.dtype = (uint8_t)dtype,
                                   .kind  = HOLO_SEQUENCE,
                                   .inner = (uint8_t)inner,
                                   .rank  = 1,
                                   .dim   = {count},
                                   .data  = items};
    return 0;
}

int py_take(PyObject *object, const HoloPort *port, const char *what, HoloTensor *out, Held *held)
{
    int       kind = port ? port->type.kind : HOLO_TENSOR;
    HoloDtype want = port ? (HoloDtype)port->type.dtype : HOLO_NONE;
    if (kind == HOLO_TENSOR) return take_array(object, want, what, out, held);
    if (kind == HOLO_OPTIONAL && object == Py_None) {
        *out = (HoloTensor){.dtype = (uint8_t)want, .kind = HOLO_OPTIONAL, .inner = port->type.inner, .rank = 1};
        return 0;
    }
    if (kind == HOLO_OPTIONAL && port->type.inner == HOLO_TENSOR) return take_array(object, want, what, out, held);
    if (kind == HOLO_MAP) return take_map(object, want, what, out, held);
    return take_sequence(object, kind == HOLO_OPTIONAL ? HOLO_TENSOR : port->type.inner, want, what, out, held);
}

// ---- memory to write

int py_take_writable(PyObject *object, HoloDtype dtype, const char *what, HoloTensor *out, Held *held)
{
    const char *name = py_dtype((int)dtype)->name;
    if (PyObject_TypeCheck(object, py_tensor_type) && ((Tensor *)object)->is_readonly)
        return py_fail(HOLO_BAD_ARGUMENT, "%s may only be read: the output needs memory to write to", what);
    if (take_any(object, dtype, what, out, held)) return -1;
    if (held->buffer.obj && held->buffer.readonly)
        return py_fail(HOLO_BAD_ARGUMENT, "%s may only be read: the output needs memory to write to", what);
    if (held->memory || is_list(object))
        return py_fail(HOLO_BAD_ARGUMENT,
                       "%s is not dense, or not aligned to its elements: give an array made by numpy.empty", what);
    if (out->dtype != dtype)
        return py_fail(HOLO_BAD_ARGUMENT, "%s should have elements of type %s, but has %s", what, name,
                       py_dtype(out->dtype)->name);
    return 0;
}
