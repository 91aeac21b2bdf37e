// model.c - Model: an archive that is open, its inputs and outputs, and its runs.
#include "pyholo.h"

#include <limits.h>

#include <stdio.h>

PyTypeObject *py_model_type;

static PyObject *shared_pool; // of all models that do not ask for threads of their own

// ---- ports

static bool is_plain(const HoloTensor *type)
{
    return type->kind == HOLO_TENSOR && type->dtype && type->dtype != HOLO_STRING && type->rank >= 0;
}

static bool is_fixed(const HoloTensor *type)
{
    bool fixed = is_plain(type);
    for (int d = 0; d < type->rank && fixed; d++) fixed = type->dim[d] >= 0;
    return fixed && holo_tensor_count(type) >= 0;
}

static int port_init(PyPort *out, const HoloPort *port, const char *kind)
{
    char name[56];
    out->port = port;
    out->name = PyUnicode_DecodeUTF8(port->name, (Py_ssize_t)strlen(port->name), "surrogateescape");
    if (!out->name) return -1;
    PyUnicode_InternInPlace(&out->name);
    holo_text_safe(port->name, name, sizeof name);
    snprintf(out->what, sizeof out->what, "%s %s", kind, name);
    if (!is_fixed(&port->type)) return 0;
    out->shape = py_shape_tuple(port->type.rank, port->type.dim);
    return out->shape ? 0 : -1;
}

// Finds the input with the size that is called like size d of the output.
static bool size_find(const Model *model, PyPort *out, int d)
{
    const char *symbol = out->port->symbol[d];
    out->from_input[d] = -1;
    if (out->port->type.dim[d] >= 0) return true;
    for (int i = 0; symbol && i < model->in_count && i < 127; i++) {
        const HoloPort *in = model->in[i].port;
        for (int k = 0; k < in->type.rank && in->type.kind == HOLO_TENSOR && !in->any_shape; k++)
            if (in->symbol[k] && !strcmp(in->symbol[k], symbol)) {
                out->from_input[d] = (int8_t)i;
                out->from_dim[d]   = (int8_t)k;
                return true;
            }
    }
    return false;
}

static int ports_init(Model *self, const HoloModel *model)
{
    self->in_count  = holo_model_input_count(model);
    self->out_count = holo_model_output_count(model);
    self->in        = PyMem_Calloc((size_t)self->in_count + 1, sizeof *self->in);
    self->out       = PyMem_Calloc((size_t)self->out_count + 1, sizeof *self->out);
    if (!self->in || !self->out) return PyErr_NoMemory(), -1;
    for (int i = 0; i < self->in_count; i++)
        if (port_init(&self->in[i], holo_model_input(model, i), "input")) return -1;
    for (int i = 0; i < self->out_count; i++) {
        PyPort *out = &self->out[i];
        if (port_init(out, holo_model_output(model, i), "output")) return -1;
        out->is_known = is_plain(&out->port->type);
        for (int d = 0; d < out->port->type.rank && out->is_known; d++) out->is_known = size_find(self, out, d);
    }
    return 0;
}

static void ports_free(PyPort *ports, int count)
{
    for (int i = 0; ports && i < count; i++) {
        Py_XDECREF(ports[i].name);
        Py_XDECREF(ports[i].shape);
    }
    PyMem_Free(ports);
}

// ---- making

// How many threads its runs have: NULL or None: those of the process; a number: as many of its own.
static int pool_set(Model *self, HoloModel *model, PyObject *threads)
{
    HoloError  error     = {0};
    PyObject  *handle    = NULL;
    HoloPool  *pool      = NULL;
    bool       is_shared = !threads || threads == Py_None;
    long       count     = is_shared ? 0 : PyLong_AsLong(threads);
    HoloStatus status;
    if (PyErr_Occurred()) return -1;
    if (count > INT_MAX || count < 0) count = -1; // what is refused below
    if (count == 1) return 0;                     // the caller's thread alone
    if (is_shared && shared_pool) {
        handle = shared_pool;
        Py_INCREF(handle);
    } else {
        status = holo_pool_create_in(NULL, (int)count, NULL, 0, &pool, &error);
        if (status) return py_raise(status, &error), -1;
        handle = py_handle_create(py_handle_type, &py_kind_pool, pool);
        if (!handle) return -1;
        if (is_shared) {
            shared_pool = handle;
            Py_INCREF(handle);
        }
    }
    self->pool = handle;
    if (py_handle_keep((PyObject *)self, handle)) return -1;
    status = holo_model_set_runs(model, ((Handle *)handle)->pointer, 0, &error);
    return status ? (py_raise(status, &error), -1) : 0;
}

PyObject *py_model_create(PyTypeObject *type, HoloModel *model, PyObject *threads, PyObject *bytes)
{
    PyObject *object = py_handle_create(type, &py_kind_model, model);
    if (!object) return NULL;
    Model *self = (Model *)object;
    Py_XINCREF(bytes);
    self->bytes = bytes;
    HoloModelInfo info;
    holo_model_info(model, &info);
    self->is_long = !info.is_static || info.plans > 1 || info.constant_bytes + info.arena_bytes > 1 << 16;
    py_interrupt_watch();
    if (!ports_init(self, model) && !pool_set(self, model, threads)) return object;
    Py_DECREF(object);
    return NULL;
}

static void dealloc(PyObject *object)
{
    Model     *self = (Model *)object;
    PyObject  *pool = self->pool, *bytes = self->bytes;
    PyPort    *in = self->in, *out = self->out;
    int        in_count = self->in_count, out_count = self->out_count;
    destructor base = (destructor)PyType_GetSlot(py_handle_type, Py_tp_dealloc);
    base(object);
    ports_free(in, in_count);
    ports_free(out, out_count);
    Py_XDECREF(pool);
    Py_XDECREF(bytes);
}

static PyObject *open_path(PyObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "threads", "flags", NULL};
    PyObject    *path, *threads = Py_None;
    unsigned     flags = 0;
    HoloModel   *model;
    HoloError    error = {0};
    PyCall       call  = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|OI:open", names, PyUnicode_FSConverter, &path, &threads, &flags))
        return NULL;
    py_call_begin(&call);
    HoloStatus status = holo_model_open_with(PyBytes_AsString(path), flags, &model, &error);
    py_call_end(&call);
    Py_DECREF(path);
    return status ? py_raise(status, &error) : py_model_create((PyTypeObject *)class, model, threads, NULL);
}

// Bytes are used where they are, if they are aligned to 64 and nobody can change them; else a copy is.
static PyObject *open_bytes(PyObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"data", "threads", NULL};
    PyObject    *data, *threads = Py_None, *tensor = NULL;
    Py_buffer    buffer;
    HoloModel   *model;
    HoloError    error = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:open_memory", names, &data, &threads)) return NULL;
    if (PyObject_GetBuffer(data, &buffer, PyBUF_C_CONTIGUOUS)) return NULL;
    const void *bytes = buffer.buf;
    size_t      size  = (size_t)buffer.len;
    if (!PyBytes_Check(data) || (uintptr_t)bytes % 64) {
        tensor = py_tensor_empty(HOLO_U8, 1, (int64_t[]){buffer.len});
        if (tensor) bytes = memcpy(((Tensor *)tensor)->view.data, bytes, size);
    }
    PyBuffer_Release(&buffer);
    if (!tensor && bytes == buffer.buf && (!PyBytes_Check(data) || (uintptr_t)bytes % 64)) return NULL;
    HoloStatus status = holo_model_open_memory(bytes, size, &model, &error);
    PyObject  *result = status ? py_raise(status, &error)
                               : py_model_create((PyTypeObject *)class, model, threads, tensor ? tensor : data);
    Py_XDECREF(tensor);
    return result;
}

// ---- what it says of itself

static PyObject *sizes_of(const HoloPort *port)
{
    if (port->type.rank < 0 || port->type.kind != HOLO_TENSOR) Py_RETURN_NONE;
    PyObject *shape = PyTuple_New(port->type.rank);
    for (int d = 0; shape && d < port->type.rank; d++) {
        PyObject *size = port->type.dim[d] >= 0 ? PyLong_FromLongLong(port->type.dim[d])
                         : port->symbol[d] ? PyUnicode_DecodeUTF8(port->symbol[d], (Py_ssize_t)strlen(port->symbol[d]),
                                                                  "backslashreplace")
                                           : (Py_INCREF(Py_None), Py_None);
        if (!size || PyTuple_SetItem(shape, d, size)) Py_CLEAR(shape);
    }
    return shape;
}

// (name, dtype, shape, kind, inner, optional) of each.
static PyObject *ports_list(PyObject *self, const PyPort *ports, int count)
{
    static const char *const kinds[] = {"tensor", "sequence", "optional", "map"};
    if (!py_handle_use(self, &py_kind_model)) return NULL;
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        const HoloTensor *t     = &ports[i].port->type;
        PyObject         *shape = sizes_of(ports[i].port), *row = NULL;
        if (shape)
            row = Py_BuildValue("(OsNssO)", ports[i].name, py_dtype(t->dtype)->name, shape, kinds[t->kind & 3],
                                kinds[t->inner & 3], ports[i].port->optional ? Py_True : Py_False);
        if (!row || PyList_SetItem(list, i, row)) Py_CLEAR(list);
    }
    py_handle_done(self);
    return list;
}

static PyObject *get_inputs(PyObject *self, void *unused)
{
    (void)unused;
    return ports_list(self, ((Model *)self)->in, ((Model *)self)->in_count);
}

static PyObject *get_outputs(PyObject *self, void *unused)
{
    (void)unused;
    return ports_list(self, ((Model *)self)->out, ((Model *)self)->out_count);
}

static PyGetSetDef getters[] = {
    {"_inputs", get_inputs, NULL, NULL, NULL},
    {"_outputs", get_outputs, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return py_run_call((Model *)self, NULL, args, kwargs);
}

static PyObject *run(PyObject *self, PyObject *args, PyObject *kwargs)
{
    return py_run_method((Model *)self, NULL, args, kwargs);
}

// Another entry of the model: a model that keeps this one open.
static PyObject *entry(PyObject *object, PyObject *args)
{
    const char *name;
    if (!PyArg_ParseTuple(args, "s:entry", &name)) return NULL;
    HoloModel *model = py_handle_use(object, &py_kind_model);
    if (!model) return NULL;
    const HoloModel *found  = holo_model_entry(model, name);
    PyObject        *answer = NULL;
    if (found == model) {
        Py_INCREF(object);
        answer = object;
    } else if (found) {
        answer = py_model_create(Py_TYPE(object), (HoloModel *)(uintptr_t)found, NULL, NULL);
        if (answer && py_handle_keep(answer, object)) Py_CLEAR(answer);
    } else
        py_fail(HOLO_BAD_ARGUMENT, "the model has no entry '%.100s'", name);
    py_handle_done(object);
    return answer;
}

static PyMethodDef methods[] = {
    {"_entry", entry, METH_VARARGS, NULL},
    {"run", (PyCFunction)(void (*)(void))run, METH_VARARGS | METH_KEYWORDS, py_run_doc},
    {"_open", (PyCFunction)(void (*)(void))open_path, METH_VARARGS | METH_KEYWORDS | METH_CLASS, NULL},
    {"_open_memory", (PyCFunction)(void (*)(void))open_bytes, METH_VARARGS | METH_KEYWORDS | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A model that is open."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_call, call},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

static PyType_Spec spec = {"hologram._hologram.Model", sizeof(Model), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           slots};

int py_model_init(PyObject *module)
{
    py_model_type = py_handle_subtype(module, &spec);
    return py_model_type ? 0 : -1;
}
