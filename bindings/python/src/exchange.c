// exchange.c - DLPack, both ways: tensors of PyTorch, JAX, CuPy and others on the CPU; in sessions also in, from a GPU.
//
// The layouts are those of dlpack.h, whose first fields HoloDlTensor has. A capsule is called "dltensor", or "dltensor_versioned"
// where it says its version; whoever takes it calls it used, and its deleter when done.
#include "pyholo.h"

#include <stdlib.h>

typedef struct Managed {
    HoloDlTensor tensor;
    void        *manager;
    void (*deleter)(struct Managed *);
} Managed;

typedef struct Versioned {
    uint32_t major, minor;
    void    *manager;
    void (*deleter)(struct Versioned *);
    uint64_t     flags; // 1: it may only be read
    HoloDlTensor tensor;
} Versioned;

enum { CPU = 1, CUDA = 2, CUDA_HOST = 3, ROCM_HOST = 11, READ_ONLY = 1 };

// ---- out

typedef struct Given { // what a capsule points to, with what it needs
    union {
        Managed   plain;
        Versioned versioned;
    } managed;
    HoloTensor view; // has the shape
    PyObject  *owner;
} Given;

static void given_free(Given *given)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(given->owner);
    PyGILState_Release(gil);
    free(given);
}

static void delete_plain(Managed *managed)
{
    given_free(managed->manager);
}

static void delete_versioned(Versioned *managed)
{
    given_free(managed->manager);
}

static void capsule_end(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        Managed *m = PyCapsule_GetPointer(capsule, "dltensor");
        m->deleter(m);
    } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        Versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        m->deleter(m);
    }
}

static PyObject *capsule_make(PyObject *owner, bool is_versioned)
{
    const Tensor *t     = (Tensor *)owner;
    Given        *given = calloc(1, sizeof *given);
    if (!given) return PyErr_NoMemory();
    given->view        = t->view;
    HoloDlTensor *view = is_versioned ? &given->managed.versioned.tensor : &given->managed.plain.tensor;
    if (!holo_tensor_to_dlpack(&given->view, view)) {
        free(given);
        PyErr_Format(PyExc_BufferError, "DLPack has no type %s", py_dtype(t->view.dtype)->name);
        return NULL;
    }
    if (is_versioned) {
        given->managed.versioned.major   = 1;
        given->managed.versioned.manager = given;
        given->managed.versioned.deleter = delete_versioned;
        given->managed.versioned.flags   = t->is_readonly ? READ_ONLY : 0;
    } else {
        given->managed.plain.manager = given;
        given->managed.plain.deleter = delete_plain;
    }
    given->owner = owner;
    Py_INCREF(owner);
    PyObject *capsule = PyCapsule_New(&given->managed, is_versioned ? "dltensor_versioned" : "dltensor", capsule_end);
    if (!capsule) given_free(given);
    return capsule;
}

PyObject *py_tensor_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject    *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    long         type = CPU, major = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    if (device != Py_None && !PyArg_ParseTuple(device, "l|O", &type, &stream)) return NULL;
    if (version != Py_None && !PyArg_ParseTuple(version, "l|O", &major, &stream)) return NULL;
    if (type != CPU) return PyErr_SetString(PyExc_BufferError, "the tensor is on the CPU, and stays there"), NULL;
    if (copy == Py_True)
        return PyErr_SetString(PyExc_BufferError, "a Tensor gives its memory, not a copy: copy what you get"), NULL;
    if (((Tensor *)self)->is_readonly && major < 1)
        return PyErr_SetString(PyExc_BufferError, "the tensor may only be read, which DLPack before 1.0 cannot say"),
               NULL;
    return capsule_make(self, major >= 1);
}

PyObject *py_tensor_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("(ii)", CPU, 0);
}

// ---- in

static void managed_release(void *state)
{
    Managed *m = state;
    if (m->deleter) m->deleter(m);
}

static void versioned_release(void *state)
{
    Versioned *m = state;
    if (m->deleter) m->deleter(m);
}

static int device_check(PyObject *object, const char *what, Held *held)
{
    PyObject *pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    long      type = -1, id = 0;
    bool      is_pair = pair && PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
    if (is_pair) {
        type = PyLong_AsLong(PyTuple_GetItem(pair, 0));
        id   = PyLong_AsLong(PyTuple_GetItem(pair, 1));
    }
    Py_XDECREF(pair);
    if (PyErr_Occurred()) return -1;
    if (type == CPU || type == CUDA_HOST || type == ROCM_HOST) return 0;
    held->is_there = type == CUDA && held->may_be_there;
    if (held->is_there) return 0;
    if (!is_pair) return PyErr_Format(PyExc_TypeError, "%s: __dlpack_device__ gives no pair of numbers", what), -1;
    return py_fail(
        HOLO_BAD_INPUT,
        "%s is on another device (DLPack type %ld, number %ld): move it to the CPU first, as by .cpu() or .get()", what,
        type, id);
}

// The tensor inside of a capsule, which is then used; `held` frees it.
static const HoloDlTensor *capsule_take(PyObject *capsule, const char *what, Held *held)
{
    Versioned *v =
        PyCapsule_IsValid(capsule, "dltensor_versioned") ? PyCapsule_GetPointer(capsule, "dltensor_versioned") : NULL;
    Managed *m = PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
    if (v && v->major > 1)
        return py_fail(HOLO_BAD_INPUT, "%s: DLPack of version %d is not known", what, (int)v->major), NULL;
    if (!v && !m) return PyErr_Format(PyExc_TypeError, "%s: __dlpack__ gives no capsule of DLPack", what), NULL;
    if (PyCapsule_SetName(capsule, v ? "used_dltensor_versioned" : "used_dltensor")) return NULL;
    held->release = v ? versioned_release : managed_release;
    held->state   = v ? (void *)v : (void *)m;
    return v ? &v->tensor : &m->tensor;
}

// An array that says itself why it cannot be given.
static int refused(const char *what)
{
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(PyExc_TypeError, "%s cannot be given by DLPack: %S", what, value ? value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

static bool is_dense(const HoloDlTensor *dl)
{
    int64_t at = 1;
    for (int i = dl->ndim - 1; i >= 0 && dl->strides; i--) {
        if (dl->shape[i] != 1 && dl->strides[i] != at) return false;
        at *= dl->shape[i];
    }
    return true;
}

int py_take_dlpack(PyObject *object, const char *what, HoloTensor *out, Held *held)
{
    if (!PyObject_HasAttrString(object, "__dlpack__") || !PyObject_HasAttrString(object, "__dlpack_device__")) return 1;
    if (device_check(object, what, held)) return -1;
    PyObject *capsule = PyObject_CallMethod(object, "__dlpack__", NULL);
    if (!capsule) return refused(what);
    const HoloDlTensor *dl = capsule_take(capsule, what, held);
    Py_DECREF(capsule);
    if (!dl) return -1;
    HoloDlTensor dense = *dl;
    dense.strides      = NULL;
    if (held->is_there) dense.device_type = CPU, dense.device_id = 0; // the type and the address are what is taken
    if (dl->ndim < 0 || dl->ndim > HOLO_MAX_RANK || !holo_tensor_from_dlpack(&dense, out))
        return py_fail(HOLO_BAD_INPUT, "%s: DLPack type %d of %d bits, in %d dimensions, is none of ours", what,
                       dl->code, dl->bits, dl->ndim);
    if (held->is_there) return is_dense(dl) ? 0 : py_fail(HOLO_BAD_INPUT, "%s is not dense: give x.contiguous()", what);
    Py_ssize_t strides[HOLO_MAX_RANK], size = (Py_ssize_t)holo_dtype_size((HoloDtype)out->dtype);
    for (int i = 0; dl->strides && i < dl->ndim; i++) strides[i] = (Py_ssize_t)dl->strides[i] * size;
    return py_make_dense(out, dl->strides ? strides : NULL, held);
}
