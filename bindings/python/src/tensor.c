// tensor.c - hologram.Tensor: a value with memory, for all that reads arrays.
//
// It offers its memory by the buffer protocol, to NumPy, by DLPack and by Arrow, without a copy. Strings and values that are no
// tensors are no Tensors: they are lists, arrays of objects and dicts.
#include "pyholo.h"

#include <stdlib.h>

PyTypeObject *py_tensor_type;

static char nothing[64]; // where tensors without elements are

PyObject *py_shape_tuple(int rank, const int64_t *dim)
{
    PyObject *tuple = PyTuple_New(rank < 0 ? 0 : rank);
    for (int i = 0; tuple && i < rank; i++) {
        PyObject *size = PyLong_FromLongLong(dim[i]);
        if (!size || PyTuple_SetItem(tuple, i, size)) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

PyObject *py_tensor_create(const HoloTensor *view, PyObject *base, void (*release)(void *), void *state)
{
    Tensor *self = PyObject_New(Tensor, py_tensor_type);
    if (!self) return NULL;
    self->view        = *view;
    self->is_readonly = false;
    self->base        = base;
    self->release     = release;
    self->state       = state;
    if (!self->view.data) self->view.data = nothing;
    Py_XINCREF(base);
    Py_ssize_t stride = (Py_ssize_t)holo_dtype_size((HoloDtype)view->dtype);
    for (int i = view->rank - 1; i >= 0; i--) {
        self->shape[i]   = (Py_ssize_t)view->dim[i];
        self->strides[i] = stride;
        stride *= view->dim[i] > 0 ? (Py_ssize_t)view->dim[i] : 1;
    }
    return (PyObject *)self;
}

PyObject *py_tensor_empty(HoloDtype dtype, int rank, const int64_t *dim)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = (int8_t)rank};
    for (int i = 0; i < rank; i++) t.dim[i] = dim[i];
    size_t bytes  = holo_tensor_bytes(&t);
    void  *memory = NULL;
    if (holo_tensor_count(&t) < 0 || posix_memalign(&memory, 64, bytes ? bytes : 1)) return PyErr_NoMemory();
    t.data           = memory;
    PyObject *tensor = py_tensor_create(&t, NULL, free, memory);
    if (!tensor) free(memory);
    return tensor;
}

static void dealloc(PyObject *object)
{
    Tensor       *self = (Tensor *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->release) self->release(self->state);
    Py_XDECREF(self->base);
    PyObject_Free(object);
    Py_DECREF(type);
}

// ---- making one

static void held_free(void *state)
{
    py_held_release(state);
    PyMem_Free(state);
}

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"array", NULL};
    PyObject    *array;
    HoloTensor   t;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Tensor", names, &array)) return NULL;
    Held *held = PyMem_Calloc(1, sizeof *held);
    if (!held) return PyErr_NoMemory();
    PyObject *self = NULL;
    if (!py_take(array, NULL, "the array", &t, held)) self = py_tensor_create(&t, NULL, held_free, held);
    if (!self)
        held_free(held);
    else
        ((Tensor *)self)->is_readonly = held->buffer.obj && held->buffer.readonly;
    return self;
}

// ---- what it says of itself

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(py_dtype(((Tensor *)self)->view.dtype)->name);
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return py_shape_tuple(((Tensor *)self)->view.rank, ((Tensor *)self)->view.dim);
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((Tensor *)self)->view.rank);
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(holo_tensor_count(&((Tensor *)self)->view));
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(holo_tensor_bytes(&((Tensor *)self)->view));
}

static PyObject *get_interface(PyObject *self, void *unused)
{
    const Tensor  *t   = (Tensor *)self;
    const PyDtype *row = py_dtype(t->view.dtype);
    char           text[16];
    (void)unused;
    if (!row->format) {
        PyErr_Format(PyExc_AttributeError, "NumPy itself has no type %s: use view(%R)", row->name, row->same);
        return NULL;
    }
    char sort = row->name[0] == 'f'   ? 'f'
                : row->name[0] == 'i' ? 'i'
                : row->name[0] == 'u' ? 'u'
                : row->name[0] == 'c' ? 'c'
                                      : 'b';
    PyOS_snprintf(text, sizeof text, "<%c%d", sort, (int)holo_dtype_size((HoloDtype)t->view.dtype));
    PyObject *shape = get_shape(self, NULL);
    if (!shape) return NULL;
    return Py_BuildValue("{s:i,s:N,s:s,s:(NO)}", "version", 3, "shape", shape, "typestr", text, "data",
                         PyLong_FromVoidPtr(t->view.data), t->is_readonly ? Py_True : Py_False);
}

static PyGetSetDef getters[] = {
    {"dtype", get_dtype, NULL, "the element type by NumPy's name: 'float32', 'bfloat16' ...", NULL},
    {"shape", get_shape, NULL, "the sizes, a tuple", NULL},
    {"ndim", get_ndim, NULL, "how many dimensions there are", NULL},
    {"size", get_size, NULL, "how many elements there are", NULL},
    {"nbytes", get_nbytes, NULL, "how many bytes they take", NULL},
    {"__array_interface__", get_interface, NULL, "the memory, as NumPy reads it", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *repr(PyObject *self)
{
    PyObject *shape = get_shape(self, NULL);
    PyObject *text  = shape ? PyUnicode_FromFormat("hologram.Tensor(dtype='%s', shape=%R)",
                                                   py_dtype(((Tensor *)self)->view.dtype)->name, shape)
                            : NULL;
    Py_XDECREF(shape);
    return text;
}

// ---- its memory

static int get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    Tensor        *self = (Tensor *)object;
    const PyDtype *row  = py_dtype(self->view.dtype);
    memset(view, 0, sizeof *view);
    if (!row->format && (flags & PyBUF_FORMAT))
        return PyErr_Format(PyExc_BufferError, "buffers have no type %s: use view('%s')", row->name, row->same), -1;
    if (self->is_readonly && (flags & PyBUF_WRITABLE))
        return PyErr_SetString(PyExc_BufferError, "the tensor may only be read"), -1;
    view->buf      = self->view.data;
    view->len      = (Py_ssize_t)holo_tensor_bytes(&self->view);
    view->itemsize = (Py_ssize_t)holo_dtype_size((HoloDtype)self->view.dtype);
    view->readonly = self->is_readonly;
    view->ndim     = self->view.rank;
    view->format   = flags & PyBUF_FORMAT ? (char *)(uintptr_t)row->format : NULL;
    view->shape    = flags & PyBUF_ND ? self->shape : NULL;
    view->strides  = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
    Py_INCREF(object);
    view->obj = object;
    return 0;
}

static PyObject *as_numpy(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject    *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy)) return NULL;
    if (!py_has_numpy())
        return PyErr_SetString(PyExc_ImportError, "NumPy is not installed: use memoryview(tensor) or tolist()"), NULL;
    Py_INCREF(self);
    PyObject *array = py_array_over(self);
    if (array && PyObject_TypeCheck(array, py_tensor_type)) {
        PyErr_Format(PyExc_TypeError, "NumPy has no type %s: install ml_dtypes, or use view('%s')",
                     py_dtype(((Tensor *)self)->view.dtype)->name, py_dtype(((Tensor *)self)->view.dtype)->same);
        Py_DECREF(array);
        return NULL;
    }
    PyObject *result = array;
    if (array && dtype != Py_None) {
        result = PyObject_CallMethod(array, "astype", "OsO", dtype, "K", copy == Py_True ? Py_True : Py_False);
        if (result) Py_DECREF(array);
    } else if (array && copy == Py_True) {
        result = PyObject_CallMethod(array, "copy", NULL);
        Py_DECREF(array);
    }
    return result;
}

static PyObject *view_as(PyObject *self, PyObject *name)
{
    Tensor    *t     = (Tensor *)self;
    HoloDtype  dtype = py_dtype_from(name);
    HoloTensor view  = t->view;
    if (!dtype) return NULL;
    if (dtype == HOLO_STRING || holo_dtype_size(dtype) != holo_dtype_size((HoloDtype)view.dtype)) {
        py_fail(HOLO_BAD_ARGUMENT, "a view has elements of the same size: %s has %d bytes, %s has %d",
                py_dtype((int)dtype)->name, (int)holo_dtype_size(dtype), py_dtype(view.dtype)->name,
                (int)holo_dtype_size((HoloDtype)view.dtype));
        return NULL;
    }
    view.dtype       = (uint8_t)dtype;
    PyObject *result = py_tensor_create(&view, self, NULL, NULL);
    if (result) ((Tensor *)result)->is_readonly = t->is_readonly;
    return result;
}

// Elements that memoryview cannot read, as a flat list.
static PyObject *plain_list(const HoloTensor *t)
{
    int64_t   count   = holo_tensor_count(t);
    double   *numbers = PyMem_Calloc((size_t)count + 1, sizeof *numbers);
    PyObject *list    = numbers ? PyList_New((Py_ssize_t)count) : PyErr_NoMemory();
    bool      is_pair = t->dtype == HOLO_C64 || t->dtype == HOLO_C128;
    if (list && !is_pair) holo_tensor_numbers(t, 0, count, numbers);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        const float  *f    = (const float *)t->data + 2 * i;
        const double *d    = (const double *)t->data + 2 * i;
        PyObject     *each = t->dtype == HOLO_C64         ? PyComplex_FromDoubles(f[0], f[1])
                             : is_pair                    ? PyComplex_FromDoubles(d[0], d[1])
                             : py_dtype(t->dtype)->narrow ? PyLong_FromDouble(numbers[i])
                                                          : PyFloat_FromDouble(numbers[i]);
        if (!each || PyList_SetItem(list, i, each)) Py_CLEAR(list);
    }
    PyMem_Free(numbers);
    return list;
}

static PyObject *to_list(PyObject *self, PyObject *unused)
{
    static const HoloDtype readable[] = {HOLO_F32, HOLO_F64, HOLO_BOOL, HOLO_U8,  HOLO_I8, HOLO_U16,
                                         HOLO_I16, HOLO_I32, HOLO_I64,  HOLO_U32, HOLO_U64};
    const HoloTensor      *t          = &((Tensor *)self)->view;
    (void)unused;
    for (int i = 0; i < PY_COUNT(readable); i++) {
        if (t->dtype != readable[i]) continue;
        PyObject *view = PyMemoryView_FromObject(self), *list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;
        Py_XDECREF(view);
        return list;
    }
    PyObject *list = plain_list(t), *shape = list ? get_shape(self, NULL) : NULL;
    PyObject *module = shape ? PyImport_ImportModule("hologram._lists") : NULL;
    PyObject *nested = module ? PyObject_CallMethod(module, "nest", "OO", list, shape) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(shape);
    Py_XDECREF(module);
    return nested;
}

static Py_ssize_t length(PyObject *self)
{
    const Tensor *t = (Tensor *)self;
    if (t->view.rank) return t->shape[0];
    PyErr_SetString(PyExc_TypeError, "a tensor without dimensions has no length");
    return -1;
}

// An element, for an index or a tuple of them; and for fewer of these what is there, as lists.
static PyObject *item(PyObject *self, PyObject *index)
{
    PyObject *found = to_list(self, NULL);
    for (Py_ssize_t i = 0; found && PyTuple_Check(index) && i < PyTuple_Size(index); i++) {
        PyObject *next = PyObject_GetItem(found, PyTuple_GetItem(index, i));
        Py_DECREF(found);
        found = next;
    }
    if (!found || PyTuple_Check(index)) return found;
    PyObject *next = PyObject_GetItem(found, index);
    Py_DECREF(found);
    return next;
}

static PyMethodDef methods[] = {
    {"__array__", (PyCFunction)(void (*)(void))as_numpy, METH_VARARGS | METH_KEYWORDS,
     "The same memory as an array of NumPy."},
    {"numpy", (PyCFunction)(void (*)(void))as_numpy, METH_VARARGS | METH_KEYWORDS,
     "The same memory as an array of NumPy."},
    {"tolist", to_list, METH_NOARGS, "The elements, as lists in lists."},
    {"view", view_as, METH_O, "The same memory as elements of another type, of the same size."},
    {"__dlpack__", (PyCFunction)(void (*)(void))py_tensor_dlpack, METH_VARARGS | METH_KEYWORDS,
     "The memory, as DLPack gives it to others."},
    {"__dlpack_device__", py_tensor_dlpack_device, METH_NOARGS, "(1, 0): the CPU."},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))py_tensor_arrow, METH_VARARGS | METH_KEYWORDS,
     "The memory, as Arrow gives it to others."},
    {NULL, NULL, 0, NULL},
};

static PyObject *empty(PyObject *module, PyObject *args)
{
    PyObject *name, *sizes;
    int64_t   dim[HOLO_MAX_RANK];
    (void)module;
    if (!PyArg_ParseTuple(args, "OO:tensor_empty", &name, &sizes)) return NULL;
    HoloDtype  dtype = py_dtype_from(name);
    Py_ssize_t rank  = dtype ? PySequence_Size(sizes) : -1;
    if (rank < 0) return NULL;
    if (rank > HOLO_MAX_RANK)
        return py_fail(HOLO_BAD_ARGUMENT, "a tensor has at most %d dimensions", HOLO_MAX_RANK), NULL;
    for (Py_ssize_t i = 0; i < rank; i++) {
        PyObject *size = PySequence_GetItem(sizes, i);
        dim[i]         = size ? PyLong_AsLongLong(size) : 0;
        Py_XDECREF(size);
        if (PyErr_Occurred()) return NULL;
    }
    if (dtype == HOLO_STRING) return PyErr_SetString(PyExc_TypeError, "a Tensor has numbers"), NULL;
    return py_tensor_empty(dtype, (int)rank, dim);
}

static PyMethodDef empty_method = {"tensor_empty", empty, METH_VARARGS,
                                   "tensor_empty(dtype, shape): a Tensor whose elements are not set."};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Tensor(array)\n\nA value with memory: of any array, without a copy where that is dense and aligned.\n\n"
     ">>> import hologram, array\n>>> t = hologram.Tensor(array.array('f', [1, 2, 3]))\n>>> t.dtype, t.shape, t.tolist()\n"
     "('float32', (3,), [1.0, 2.0, 3.0])\n>>> t[1]\n2.0\n"},
    {Py_tp_new, create},
    {Py_tp_dealloc, dealloc},
    {Py_tp_repr, repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_bf_getbuffer, get_buffer},
    {Py_mp_length, length},
    {Py_mp_subscript, item},
    {0, NULL},
};

static PyType_Spec spec = {"hologram.Tensor", sizeof(Tensor), 0, Py_TPFLAGS_DEFAULT, slots};

int py_tensor_init(PyObject *module)
{
    py_tensor_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!py_tensor_type) return -1;
    Py_INCREF(py_tensor_type);
    if (py_function_add(module, &empty_method)) return -1;
    return PyModule_AddObject(module, "Tensor", (PyObject *)py_tensor_type);
}
