// arrow.c - the Arrow C data interface, both ways, for arrays of numbers: one dimension, no nulls.
#include "pyholo.h"

#include <stdlib.h>

struct Schema {
    const char     *format, *name, *metadata;
    int64_t         flags, n_children;
    struct Schema **children, *dictionary;
    void (*release)(struct Schema *);
    void *private_data;
};

struct Array {
    int64_t        length, null_count, offset, n_buffers, n_children;
    const void   **buffers;
    struct Array **children, *dictionary;
    void (*release)(struct Array *);
    void *private_data;
};

// ---- out

typedef struct Given {
    const void *buffers[2];
    PyObject   *owner;
} Given;

static void schema_release(struct Schema *schema)
{
    schema->release = NULL;
}

static void array_release(struct Array *array)
{
    Given           *given = array->private_data;
    PyGILState_STATE gil   = PyGILState_Ensure();
    Py_DECREF(given->owner);
    PyGILState_Release(gil);
    free(given);
    array->release = NULL;
}

static void schema_end(PyObject *capsule)
{
    struct Schema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema && schema->release) schema->release(schema);
    free(schema);
}

static void array_end(PyObject *capsule)
{
    struct Array *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array && array->release) array->release(array);
    free(array);
}

static PyObject *array_capsule(PyObject *self)
{
    const Tensor *t       = (Tensor *)self;
    struct Array *array   = calloc(1, sizeof *array);
    Given        *given   = calloc(1, sizeof *given);
    PyObject     *capsule = array && given ? PyCapsule_New(array, "arrow_array", array_end) : PyErr_NoMemory();
    if (!capsule) {
        free(array);
        free(given);
        return NULL;
    }
    given->buffers[1] = t->view.data;
    given->owner      = self;
    Py_INCREF(self);
    *array = (struct Array){.length       = holo_tensor_count(&t->view),
                            .n_buffers    = 2,
                            .buffers      = given->buffers,
                            .release      = array_release,
                            .private_data = given};
    return capsule;
}

PyObject *py_tensor_arrow(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char   *names[] = {"requested_schema", NULL};
    PyObject      *wanted  = Py_None;
    const Tensor  *t       = (Tensor *)self;
    const PyDtype *row     = py_dtype(t->view.dtype);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &wanted)) return NULL;
    if (t->view.rank != 1 || !row->arrow)
        return PyErr_Format(PyExc_TypeError,
                            "Arrow takes one dimension of a type that it has; this is %s in %d dimensions", row->name,
                            t->view.rank);
    struct Schema *schema  = calloc(1, sizeof *schema);
    PyObject      *capsule = schema ? PyCapsule_New(schema, "arrow_schema", schema_end) : PyErr_NoMemory();
    if (!capsule) return free(schema), NULL;
    *schema         = (struct Schema){.format = row->arrow, .name = "", .release = schema_release};
    PyObject *array = array_capsule(self);
    if (!array) return Py_DECREF(capsule), NULL;
    return Py_BuildValue("(NN)", capsule, array);
}

// ---- in

static HoloDtype dtype_of(const char *format)
{
    for (int i = 1; format && i < HOLO_DTYPE_COUNT; i++)
        if (py_dtype(i)->arrow && !strcmp(py_dtype(i)->arrow, format)) return (HoloDtype)i;
    return HOLO_NONE;
}

static int array_read(const struct Schema *schema, const struct Array *array, const char *what, HoloTensor *out)
{
    HoloDtype dtype = dtype_of(schema->format);
    if (!dtype || schema->dictionary || array->n_buffers != 2)
        return py_fail(HOLO_BAD_INPUT, "%s is an array of Arrow of type '%s': only plain numbers are taken", what,
                       schema->format ? schema->format : "");
    if (array->null_count > 0 || (array->null_count < 0 && array->buffers[0]))
        return py_fail(HOLO_BAD_INPUT, "%s is an array of Arrow with nulls: fill them first", what);
    *out        = (HoloTensor){.dtype = (uint8_t)dtype, .rank = 1, .dim = {array->length}};
    size_t size = holo_dtype_size(dtype);
    if (array->length) out->data = (char *)(uintptr_t)array->buffers[1] + (size_t)array->offset * size;
    return 0;
}

int py_take_arrow(PyObject *object, const char *what, HoloTensor *out, Held *held)
{
    if (!PyObject_HasAttrString(object, "__arrow_c_array__")) return 1;
    PyObject *pair = PyObject_CallMethod(object, "__arrow_c_array__", NULL);
    if (!pair) return -1;
    held->object          = pair; // its capsules release what they hold
    bool           is_two = PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
    struct Schema *schema = is_two ? PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema") : NULL;
    struct Array  *array  = schema ? PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array") : NULL;
    if (!array) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: __arrow_c_array__ gives no pair of capsules", what);
        return -1;
    }
    if (array_read(schema, array, what, out)) return -1;
    return py_make_dense(out, NULL, held);
}
