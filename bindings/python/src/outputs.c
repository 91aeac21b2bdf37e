// outputs.c - values that the library gives: arrays of NumPy where it is installed, else Tensors.
//
// NumPy is used as any program would, without its C API: one extension serves all of its versions, and none.
#include "pyholo.h"

static PyObject *numpy, *ml_dtypes; // None: there is no such module
static PyObject *empty, *asarray;
static PyObject *types[HOLO_DTYPE_COUNT]; // dtypes of NumPy; None: it has no such

static PyObject *import_or_none(const char *name)
{
    PyObject *module = PyImport_ImportModule(name);
    if (module || !PyErr_ExceptionMatches(PyExc_ImportError)) return module;
    PyErr_Clear();
    Py_INCREF(Py_None);
    return Py_None;
}

bool py_has_numpy(void)
{
    if (!numpy) {
        numpy = import_or_none("numpy");
        if (numpy && numpy != Py_None) {
            empty   = PyObject_GetAttrString(numpy, "empty");
            asarray = PyObject_GetAttrString(numpy, "asarray");
        }
        PyErr_Clear();
    }
    return empty && asarray;
}

static PyObject *dtype_of_ml(const char *name)
{
    if (!ml_dtypes) ml_dtypes = import_or_none("ml_dtypes");
    PyObject *class = ml_dtypes && ml_dtypes != Py_None ? PyObject_GetAttrString(ml_dtypes, name) : NULL;
    PyObject *dtype = class ? PyObject_CallMethod(numpy, "dtype", "O", class) : NULL;
    Py_XDECREF(class);
    return dtype;
}

// NumPy's type; borrowed. None: it has none.
static PyObject *numpy_type(int dtype)
{
    if (types[dtype]) return types[dtype];
    const PyDtype *row = py_dtype(dtype);
    types[dtype]       = row->same ? dtype_of_ml(row->name) : PyObject_CallMethod(numpy, "dtype", "s", row->name);
    if (!types[dtype]) {
        PyErr_Clear();
        Py_INCREF(Py_None);
        types[dtype] = Py_None;
    }
    return types[dtype];
}

PyObject *py_array_finish(PyObject *array, HoloDtype dtype)
{
    if (!array || !py_dtype((int)dtype)->same || !py_has_numpy() || PyObject_TypeCheck(array, py_tensor_type))
        return array;
    PyObject *view = PyObject_CallMethod(array, "view", "O", numpy_type((int)dtype));
    Py_DECREF(array);
    return view;
}

PyObject *py_array_over(PyObject *tensor)
{
    int            dtype = ((Tensor *)tensor)->view.dtype;
    const PyDtype *row   = py_dtype(dtype);
    if (!py_has_numpy() || numpy_type(dtype) == Py_None) return tensor;
    PyObject *plain = row->same ? PyObject_CallMethod(tensor, "view", "s", row->same) : tensor;
    if (row->same) Py_DECREF(tensor);
    PyObject *array = plain ? PyObject_CallFunctionObjArgs(asarray, plain, NULL) : NULL;
    Py_XDECREF(plain);
    return py_array_finish(array, (HoloDtype)dtype);
}

// An array of NumPy's own type of the same size, whose memory `held` keeps.
PyObject *py_array_empty(HoloDtype dtype, PyObject *shape, const HoloTensor *type, HoloTensor *out, Held *held)
{
    const PyDtype *row = py_dtype((int)dtype);
    *out               = *type;
    if (!py_has_numpy() || numpy_type((int)dtype) == Py_None) {
        PyObject *tensor = py_tensor_empty(dtype, type->rank, type->dim);
        if (tensor) out->data = ((Tensor *)tensor)->view.data;
        return tensor;
    }
    PyObject *own   = row->same ? numpy_type((int)py_dtype_named(row->same)) : numpy_type((int)dtype);
    PyObject *array = PyObject_CallFunctionObjArgs(empty, shape, own, NULL);
    if (!array) return NULL;
    if (PyObject_GetBuffer(array, &held->buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) {
        held->buffer.obj = NULL;
        Py_DECREF(array);
        return NULL;
    }
    out->data = held->buffer.buf;
    return array;
}

// ---- values of any kind

static void output_free(void *state)
{
    holo_run_outputs_free(state, 1);
    PyMem_Free(state);
}

static PyObject *value_from(const HoloTensor *t, PyObject *owner); // owner NULL: a copy

static PyObject *list_from(const HoloTensor *t, PyObject *owner)
{
    const HoloTensor *items = t->data;
    PyObject         *list  = PyList_New((Py_ssize_t)t->dim[0]);
    for (int64_t i = 0; list && i < t->dim[0]; i++) {
        PyObject *each = value_from(&items[i], owner);
        if (!each || PyList_SetItem(list, (Py_ssize_t)i, each)) Py_CLEAR(list);
    }
    return list;
}

// Keys and values as Python's own objects.
static PyObject *dict_from(const HoloTensor *t, PyObject *owner)
{
    const HoloTensor *parts = t->data;
    PyObject *keys = parts ? value_from(&parts[0], owner) : NULL, *values = keys ? value_from(&parts[1], owner) : NULL;
    PyObject *module = values ? PyImport_ImportModule("hologram._lists") : NULL;
    PyObject *dict   = module ? PyObject_CallMethod(module, "pairs", "OO", keys, values) : NULL;
    Py_XDECREF(keys);
    Py_XDECREF(values);
    Py_XDECREF(module);
    return parts ? dict : PyDict_New();
}

static PyObject *value_from(const HoloTensor *t, PyObject *owner)
{
    if (t->kind == HOLO_SEQUENCE) return list_from(t, owner);
    if (t->kind == HOLO_MAP) return dict_from(t, owner);
    if (t->kind == HOLO_OPTIONAL && !t->dim[0]) Py_RETURN_NONE;
    if (t->kind == HOLO_OPTIONAL) return value_from(t->data, owner);
    if (t->dtype == HOLO_STRING) return py_strings_from(t);
    PyObject *tensor =
        owner ? py_tensor_create(t, owner, NULL, NULL) : py_tensor_empty((HoloDtype)t->dtype, t->rank, t->dim);
    if (tensor && !owner && holo_tensor_bytes(t)) memcpy(((Tensor *)tensor)->view.data, t->data, holo_tensor_bytes(t));
    return tensor ? py_array_over(tensor) : NULL;
}

PyObject *py_value_from(HoloRunOutput *output)
{
    HoloRunOutput *kept = PyMem_Malloc(sizeof *kept);
    HoloTensor     none = {.dtype = HOLO_U8, .rank = 1};
    if (!kept) return PyErr_NoMemory();
    *kept           = *output;
    PyObject *owner = py_tensor_create(&none, NULL, output_free, kept), *value;
    if (!owner) return PyMem_Free(kept), NULL;
    output->owned = NULL;
    value         = value_from(&kept->tensor, owner);
    Py_DECREF(owner);
    return value;
}

PyObject *py_value_copy(const HoloTensor *view)
{
    return value_from(view, NULL);
}
