// compile.c - Compiler: choices, and compiles with them. The choices themselves are made by capi.holo_compiler_set_...
//
// What the library calls back (progress, judge, dump) runs with the GIL. When it raises, the compile is stopped, and what was raised
// is raised by it.
#include "pyholo.h"

static PyTypeObject *compiler_type;

typedef struct Compiler {
    Handle    handle;
    PyObject *progress, *judge, *dump; // NULL: none
    PyObject *raised[3];               // by one of these
} Compiler;

static PyObject *create(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    HoloCompiler *compiler;
    (void)args, (void)kwargs;
    HoloStatus status = holo_compiler_create(&compiler);
    return status ? py_raise(status, NULL) : py_handle_create(type, &py_kind_compiler, compiler);
}

static void dealloc(PyObject *object)
{
    Compiler *self = (Compiler *)object;
    Py_CLEAR(self->progress);
    Py_CLEAR(self->judge);
    Py_CLEAR(self->dump);
    for (int i = 0; i < 3; i++) Py_CLEAR(self->raised[i]);
    destructor base = (destructor)PyType_GetSlot(py_handle_type, Py_tp_dealloc);
    base(object);
}

// ---- what the library calls

// Keeps what was raised, and stops the compile.
static void raised(Compiler *self)
{
    if (self->raised[0])
        PyErr_Clear();
    else
        PyErr_Fetch(&self->raised[0], &self->raised[1], &self->raised[2]);
    holo_compiler_cancel(self->handle.pointer);
}

static void on_progress(void *context, const char *stage, double fraction)
{
    Compiler        *self = context;
    PyGILState_STATE gil  = PyGILState_Ensure();
    if (!self->raised[0] && self->progress) {
        PyObject *result = PyObject_CallFunction(self->progress, "sd", stage, fraction);
        if (!result) raised(self);
        Py_XDECREF(result);
    }
    PyGILState_Release(gil);
}

static void on_dump(void *context, const char *pass, const char *text)
{
    Compiler        *self = context;
    PyGILState_STATE gil  = PyGILState_Ensure();
    if (!self->raised[0] && self->dump) {
        PyObject *result = PyObject_CallFunction(self->dump, "ss", pass, text);
        if (!result) raised(self);
        Py_XDECREF(result);
    }
    PyGILState_Release(gil);
}

// A list of samples, each a dict of outputs.
static PyObject *samples_list(const HoloOutputs *outputs)
{
    PyObject *list = PyList_New(outputs->sample_count);
    for (int i = 0; list && i < outputs->sample_count; i++) {
        PyObject *dict = PyDict_New();
        for (int k = 0; dict && k < outputs->output_count; k++) {
            const HoloTensor *t     = &outputs->tensors[i * outputs->output_count + k];
            PyObject         *value = t->data ? py_value_copy(t) : (Py_INCREF(Py_None), Py_None);
            if (!value || PyDict_SetItemString(dict, outputs->names[k], value)) Py_CLEAR(dict);
            Py_XDECREF(value);
        }
        if (!dict || PyList_SetItem(list, i, dict)) Py_CLEAR(list);
    }
    return list;
}

static HoloStatus on_judge(void *context, const HoloOutputs *outputs, double *out_score, HoloError *error)
{
    Compiler        *self   = context;
    PyGILState_STATE gil    = PyGILState_Ensure();
    PyObject        *list   = samples_list(outputs);
    PyObject        *result = list ? PyObject_CallFunctionObjArgs(self->judge, list, NULL) : NULL;
    (void)error;
    *out_score = result ? PyFloat_AsDouble(result) : 0;
    bool bad   = PyErr_Occurred();
    if (bad) raised(self);
    Py_XDECREF(list);
    Py_XDECREF(result);
    PyGILState_Release(gil);
    return bad ? HOLO_CANCELLED : HOLO_OK;
}

static void replace(PyObject **slot, PyObject *value)
{
    PyObject *old = *slot;
    *slot         = value == Py_None ? NULL : value;
    Py_XINCREF(*slot);
    Py_XDECREF(old);
}

// For a call that changes it: not while it compiles. With py_handle_done.
static HoloCompiler *compiler_change(PyObject *self)
{
    HoloCompiler *compiler = py_handle_use(self, &py_kind_compiler);
    if (!compiler || !py_handle_alone(self)) return compiler;
    py_handle_done(self);
    return NULL;
}

static PyObject *set_progress(PyObject *self, PyObject *callable)
{
    HoloCompiler *compiler = compiler_change(self);
    if (!compiler) return NULL;
    replace(&((Compiler *)self)->progress, callable);
    holo_compiler_set_progress(compiler, callable == Py_None ? NULL : on_progress, self);
    py_handle_done(self);
    Py_RETURN_NONE;
}

static PyObject *set_judge(PyObject *self, PyObject *args)
{
    PyObject *callable;
    double    max_drop;
    if (!PyArg_ParseTuple(args, "Od:set_judge", &callable, &max_drop)) return NULL;
    HoloCompiler *compiler = compiler_change(self);
    if (!compiler) return NULL;
    replace(&((Compiler *)self)->judge, callable);
    holo_compiler_set_judge(compiler, callable == Py_None ? NULL : on_judge, self, max_drop);
    py_handle_done(self);
    Py_RETURN_NONE;
}

static PyObject *set_dump(PyObject *self, PyObject *args)
{
    PyObject   *callable;
    const char *pass;
    HoloError   error = {0};
    if (!PyArg_ParseTuple(args, "sO:set_dump", &pass, &callable)) return NULL;
    HoloCompiler *compiler = compiler_change(self);
    if (!compiler) return NULL;
    replace(&((Compiler *)self)->dump, callable);
    HoloStatus status = holo_compiler_set_dump(compiler, pass, on_dump, self, &error);
    py_handle_done(self);
    if (status) return py_raise(status, &error);
    Py_RETURN_NONE;
}

static PyObject *add_sample(PyObject *self, PyObject *dict)
{
    PyObject  *name, *value;
    Py_ssize_t at     = 0;
    int        count  = 0;
    HoloError  error  = {0};
    HoloStatus status = HOLO_OK;
    if (!PyDict_Check(dict)) return PyErr_SetString(PyExc_TypeError, "a sample is a dict of arrays"), NULL;
    HoloCompiler *compiler = compiler_change(self);
    HoloRunInput *inputs   = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof *inputs);
    Held         *held     = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof *held);
    if (compiler && (!inputs || !held)) PyErr_NoMemory();
    while (!PyErr_Occurred() && PyDict_Next(dict, &at, &name, &value)) {
        inputs[count].name  = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
        inputs[count].index = PyLong_Check(name) ? (int)PyLong_AsLong(name) : 0;
        if (!PyErr_Occurred())
            py_take(value, NULL, inputs[count].name ? inputs[count].name : "the sample", &inputs[count].tensor,
                    &held[count]);
        count++;
    }
    if (!PyErr_Occurred()) status = holo_compiler_add_sample(compiler, inputs, count, &error);
    for (int i = 0; i < count; i++) py_held_release(&held[i]);
    PyMem_Free(inputs);
    PyMem_Free(held);
    if (compiler) py_handle_done(self);
    if (status) return py_raise(status, &error);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

// ---- compiling

typedef struct Job { // one of three: into a file, of a file, of bytes
    const char *path, *out_path;
    Py_buffer   bytes;
    HoloModel  *model;
    HoloReport *report;
    HoloError   error;
} Job;

static HoloStatus job_do(Job *job, const HoloCompiler *compiler)
{
    if (job->out_path) return holo_compile_file(compiler, job->path, job->out_path, &job->report, &job->error);
    if (job->path) return holo_compile_model(compiler, job->path, &job->model, &job->report, &job->error);
    return holo_compile_memory(compiler, job->bytes.buf, (size_t)job->bytes.len, &job->model, &job->report,
                               &job->error);
}

static void stop(void *compiler)
{
    holo_compiler_cancel(compiler);
}

PyObject *py_made_report(const HoloReport *report);

static int job_run(PyObject *object, Job *job)
{
    Compiler     *self     = (Compiler *)object;
    HoloCompiler *compiler = py_handle_use(object, &py_kind_compiler);
    PyCall        call     = {.stop = stop, .object = compiler};
    HoloStatus    status;
    int           again;
    if (!compiler) return -1;
    py_interrupt_watch();
    do {
        py_error_init(&job->error);
        py_call_begin(&call);
        status = job_do(job, compiler);
        py_call_end(&call);
        again = self->raised[0] ? 0 : py_call_again(&call, status);
    } while (again > 0);
    py_handle_done(object);
    if (self->raised[0]) {
        PyErr_Restore(self->raised[0], self->raised[1], self->raised[2]);
        memset(self->raised, 0, sizeof self->raised);
        again = -1;
    } else if (status) {
        if (!again) py_raise(status, &job->error);
        return -1;
    }
    if (again < 0 && !status && job->model) holo_model_close(job->model);
    if (again < 0 && !status) holo_report_destroy(job->report);
    return again < 0 || status ? -1 : 0;
}

static PyObject *compile_file(PyObject *self, PyObject *args)
{
    PyObject *path, *out;
    if (!PyArg_ParseTuple(args, "O&O&:compile_file", PyUnicode_FSConverter, &path, PyUnicode_FSConverter, &out))
        return NULL;
    Job       job    = {.path = PyBytes_AsString(path), .out_path = PyBytes_AsString(out)};
    PyObject *report = job_run(self, &job) ? NULL : py_made_report(job.report);
    if (job.report && report) holo_report_destroy(job.report);
    Py_DECREF(path);
    Py_DECREF(out);
    return report;
}

static PyObject *opened(Job *job, PyObject *class, PyObject *threads)
{
    PyObject *report = py_made_report(job->report);
    holo_report_destroy(job->report);
    if (!report) return holo_model_close(job->model), NULL;
    PyObject *model = py_model_create((PyTypeObject *)class, job->model, threads, NULL);
    if (model) return Py_BuildValue("(NN)", model, report);
    Py_DECREF(report);
    return NULL;
}

static PyObject *compile_model(PyObject *self, PyObject *args)
{
    PyObject *path, *class, *threads;
    if (!PyArg_ParseTuple(args, "O&OO:compile_model", PyUnicode_FSConverter, &path, &class, &threads)) return NULL;
    Job       job    = {.path = PyBytes_AsString(path)};
    PyObject *result = job_run(self, &job) ? NULL : opened(&job, class, threads);
    Py_DECREF(path);
    return result;
}

static PyObject *compile_memory(PyObject *self, PyObject *args)
{
    PyObject *data, *class, *threads;
    Job       job = {0};
    if (!PyArg_ParseTuple(args, "OOO:compile_memory", &data, &class, &threads)) return NULL;
    if (PyObject_GetBuffer(data, &job.bytes, PyBUF_C_CONTIGUOUS)) return NULL;
    PyObject *result = job_run(self, &job) ? NULL : opened(&job, class, threads);
    PyBuffer_Release(&job.bytes);
    return result;
}

static PyMethodDef methods[] = {
    {"set_progress", set_progress, METH_O, "set_progress(callable): called with a text and how much is done, 0 to 1."},
    {"set_judge", set_judge, METH_VARARGS,
     "set_judge(callable, max_drop): called with the outputs of all samples; gives a score."},
    {"set_dump", set_dump, METH_VARARGS, "set_dump(pass, callable): called with the graph as text after that pass."},
    {"add_sample", add_sample, METH_O, "add_sample(dict): inputs to calibrate with, by name or index."},
    {"compile_file", compile_file, METH_VARARGS, "compile_file(path, out_path): the report."},
    {"compile_model", compile_model, METH_VARARGS, "compile_model(path, class, threads): a model and the report."},
    {"compile_memory", compile_memory, METH_VARARGS, "compile_memory(bytes, class, threads): a model and the report."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Choices of the compiler."},
    {Py_tp_new, create},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {"hologram._hologram.Compiler", sizeof(Compiler), 0, Py_TPFLAGS_DEFAULT, slots};

int py_compile_init(PyObject *module)
{
    compiler_type = py_handle_subtype(module, &spec);
    return compiler_type ? 0 : -1;
}
