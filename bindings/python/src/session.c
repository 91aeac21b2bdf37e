// session.c - Session: one place where a model runs, with memory, threads and a memo of its own.
#include "pyholo.h"

PyTypeObject *py_session_type;

static PyObject *create(PyObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"model", "pool", NULL};
    PyObject    *model, *pool = Py_None;
    HoloSession *session;
    HoloError    error = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|O:session", names, py_model_type, &model, &pool)) return NULL;
    HoloModel *of = py_handle_use(model, &py_kind_model);
    HoloPool  *on = of && pool != Py_None ? py_handle_use(pool, &py_kind_pool) : NULL;
    if (of && !on && pool != Py_None) return py_handle_done(model), NULL;
    if (!of) return NULL;
    PyCall call = {0};
    py_interrupt_watch();
    py_call_begin(&call);
    HoloStatus status = holo_session_create(of, on, &session, &error);
    py_call_end(&call);
    PyObject *self =
        status ? py_raise(status, &error) : py_handle_create((PyTypeObject *)class, &py_kind_session, session);
    if (self && (py_handle_keep(self, model) || (on && py_handle_keep(self, pool)))) Py_CLEAR(self);
    if (self) ((Session *)self)->model = (Model *)model;
    py_handle_done(model);
    if (on) py_handle_done(pool);
    return self;
}

// What it keeps is given up when it is closed; the model is needed for its ports until then.
static Model *model_of(PyObject *self)
{
    if (!((Handle *)self)->is_closed) return ((Session *)self)->model;
    py_fail(HOLO_BAD_ARGUMENT, "the session is closed");
    return NULL;
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    Model *model = model_of(self);
    return model ? py_run_call(model, (Session *)self, args, kwargs) : NULL;
}

static PyObject *run(PyObject *self, PyObject *args, PyObject *kwargs)
{
    Model *model = model_of(self);
    return model ? py_run_method(model, (Session *)self, args, kwargs) : NULL;
}

static PyObject *cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    HoloSession *session = py_handle_use(self, &py_kind_session);
    if (!session) return NULL;
    holo_session_cancel(session);
    py_handle_done(self);
    Py_RETURN_NONE;
}

// ---- what steps give

static void on_value(void *context, const char *step, const char *value, const HoloTensor *view)
{
    Session         *self  = context;
    PyGILState_STATE gil   = PyGILState_Ensure();
    PyObject        *array = view->data || view->kind == HOLO_TENSOR ? py_value_copy(view) : NULL, *result = NULL;
    if (array && self->watch) result = PyObject_CallFunction(self->watch, "ssO", step, value, array);
    if (!result) PyErr_WriteUnraisable(self->watch);
    Py_XDECREF(array);
    Py_XDECREF(result);
    PyGILState_Release(gil);
}

static PyObject *watch(PyObject *self, PyObject *callable)
{
    HoloSession *session = py_handle_use(self, &py_kind_session);
    PyObject    *old     = ((Session *)self)->watch;
    if (!session) return NULL;
    ((Session *)self)->watch = callable == Py_None ? NULL : callable;
    Py_XINCREF(((Session *)self)->watch);
    Py_XDECREF(old);
    holo_session_watch(session, callable == Py_None ? NULL : on_value, self);
    py_handle_done(self);
    Py_RETURN_NONE;
}

static void dealloc(PyObject *object)
{
    Py_CLEAR(((Session *)object)->watch);
    destructor base = (destructor)PyType_GetSlot(py_handle_type, Py_tp_dealloc);
    base(object);
}

static PyObject *get_model(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *model = (PyObject *)model_of(self);
    Py_XINCREF(model);
    return model;
}

static PyMethodDef methods[] = {
    {"_create", (PyCFunction)(void (*)(void))create, METH_VARARGS | METH_KEYWORDS | METH_CLASS, NULL},
    {"run", (PyCFunction)(void (*)(void))run, METH_VARARGS | METH_KEYWORDS, py_run_doc},
    {"cancel", cancel, METH_NOARGS, "Stops a run in progress, from any thread: it raises CancelledError."},
    {"watch", watch, METH_O,
     "watch(callable): called in each run with the names of a step and of a value, and the value. None: no longer."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"model", get_model, NULL, "the model that it runs", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "One place where a model runs."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_call, call},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

static PyType_Spec spec = {"hologram._hologram.Session", sizeof(Session), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                           slots};

int py_session_init(PyObject *module)
{
    py_session_type = py_handle_subtype(module, &spec);
    return py_session_type ? 0 : -1;
}
