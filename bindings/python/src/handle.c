// handle.c - objects of the library: each is destroyed once, and after all that depends on it.
//
// Python frees objects in any order, and closes them while other threads use them. So a handle counts who is inside; closing it
// then only marks it, and who leaves last destroys it. What a handle depends on it keeps, and counts as a user of it.
#include "pyholo.h"

PyTypeObject *py_handle_type;

static void leave(Handle *handle);

static void parents_leave(Handle *handle)
{
    PyObject *keeps = handle->keeps;
    handle->keeps   = NULL;
    for (Py_ssize_t i = 0; keeps && i < PyList_Size(keeps); i++) {
        PyObject *each = PyList_GetItem(keeps, i);
        if (PyObject_TypeCheck(each, py_handle_type)) leave((Handle *)each);
    }
    Py_XDECREF(keeps);
}

static void destroy(Handle *handle)
{
    void *pointer   = handle->pointer;
    handle->pointer = NULL;
    if (pointer) handle->kind->destroy(pointer);
    parents_leave(handle);
}

void py_handle_close(Handle *handle)
{
    handle->is_closed = true;
    if (!handle->uses) destroy(handle);
}

static void leave(Handle *handle)
{
    if (!--handle->uses && handle->is_closed) destroy(handle);
}

void py_handle_done(PyObject *object)
{
    Handle *handle = (Handle *)object;
    handle->calls--;
    leave(handle);
}

int py_handle_alone(PyObject *object)
{
    const Handle *handle = (Handle *)object;
    if (handle->calls == 1) return 0;
    return py_fail(HOLO_BUSY, "another thread is using this %s", handle->kind->name);
}

void *py_handle_use(PyObject *object, const HandleKind *kind)
{
    Handle *handle = (Handle *)object;
    if (!PyObject_TypeCheck(object, py_handle_type) || handle->kind != kind) {
        PyErr_Format(PyExc_TypeError, "expected a %s, not %R", kind->name, object);
        return NULL;
    }
    if (handle->is_closed) {
        py_fail(HOLO_BAD_ARGUMENT, "the %s is closed",
                !strcmp(kind->name, "HoloModel")     ? "model"
                : !strcmp(kind->name, "HoloSession") ? "session"
                                                     : kind->name);
        return NULL;
    }
    handle->calls++;
    handle->uses++;
    return handle->pointer;
}

void *py_handle_use_alone(PyObject *object, const HandleKind *kind)
{
    void *pointer = py_handle_use(object, kind);
    if (!pointer || !py_handle_alone(object)) return pointer;
    py_handle_done(object);
    return NULL;
}

int py_handle_keep(PyObject *object, PyObject *kept)
{
    Handle *handle = (Handle *)object;
    if (!handle->keeps) handle->keeps = PyList_New(0);
    if (!handle->keeps || PyList_Append(handle->keeps, kept)) return -1;
    if (PyObject_TypeCheck(kept, py_handle_type)) ((Handle *)kept)->uses++;
    return 0;
}

PyObject *py_handle_create(PyTypeObject *type, const HandleKind *kind, void *pointer)
{
    allocfunc alloc  = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Handle   *handle = (Handle *)alloc(type, 0);
    if (!handle) return kind->destroy(pointer), NULL;
    handle->pointer = pointer;
    handle->kind    = kind;
    return (PyObject *)handle;
}

static void dealloc(PyObject *object)
{
    Handle       *handle = (Handle *)object;
    PyTypeObject *type   = Py_TYPE(object);
    handle->is_closed    = true;
    if (handle->kind) destroy(handle);
    freefunc free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_it(object);
    Py_DECREF(type);
}

static PyObject *close_method(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (((Handle *)self)->kind) py_handle_close((Handle *)self);
    Py_RETURN_NONE;
}

static PyObject *enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    Py_INCREF(self);
    return self;
}

static PyObject *leave_block(PyObject *self, PyObject *args)
{
    (void)args;
    return close_method(self, NULL);
}

static PyObject *get_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((Handle *)self)->is_closed);
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    PyErr_Format(PyExc_TypeError, "%R is not made by calling it: see hologram.open and hologram.compile",
                 (PyObject *)type);
    return NULL;
}

static PyMethodDef methods[] = {
    {"close", close_method, METH_NOARGS, "Frees it. Calls that are inside end first; further ones fail."},
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", leave_block, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"closed", get_closed, NULL, "whether close() was called", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "An object of the C library."},
    {Py_tp_new, refuse_new},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

static PyType_Spec spec = {"hologram._hologram.Handle", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           slots};

int py_handle_init(PyObject *module)
{
    py_handle_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!py_handle_type) return -1;
    Py_INCREF(py_handle_type);
    return PyModule_AddObject(module, "Handle", (PyObject *)py_handle_type);
}

PyTypeObject *py_handle_subtype(PyObject *module, PyType_Spec *of)
{
    PyObject *bases = PyTuple_Pack(1, (PyObject *)py_handle_type),
             *type  = bases ? PyType_FromSpecWithBases(of, bases) : NULL;
    Py_XDECREF(bases);
    if (!type) return NULL;
    Py_INCREF(type);
    if (!PyModule_AddObject(module, strrchr(of->name, '.') + 1, type)) return (PyTypeObject *)type;
    Py_DECREF(type);
    return NULL;
}
