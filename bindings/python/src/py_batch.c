// py_batch.c - several texts that one model continues at once: Model.batch.
//
// A step runs without the GIL. What it tells stays in plain memory until it can be given: also where Ctrl-C ends the step in between.
#include "pyholo.h"

static void end(void *batch)
{
    bind_batch_destroy(batch);
}

static void let_go(void *grammar)
{
    Py_DECREF((PyObject *)grammar);
}

static const HandleKind kind = {"batch", end};

static void stop(void *batch)
{
    holo_language_cancel(holo_text_batch_language(((BindBatch *)batch)->batch));
}

static PyObject *create(PyObject *class, PyObject *args)
{
    PyObject            *model, *pool, *dict, *self;
    HoloTextBatchOptions options = {.size = sizeof options};
    BindBatch           *batch;
    HoloError            error = {0};
    PyCall               call  = {0};
    if (!PyArg_ParseTuple(args, "O!OO!:batch", py_model_type, &model, &pool, &PyDict_Type, &dict) ||
        py_fields_take(dict, bind_batch_options, &options))
        return NULL;
    HoloModel *of = py_handle_use(model, &py_kind_model);
    if (!of) return NULL;
    if (pool == Py_None) pool = ((Model *)model)->pool; // as its runs
    HoloPool *on = pool ? py_handle_use(pool, &py_kind_pool) : NULL;
    if (pool && !on) return py_handle_done(model), NULL;
    py_interrupt_watch();
    py_call_begin(&call);
    HoloStatus status = bind_batch_create(of, on, &options, let_go, &batch, &error);
    py_call_end(&call);
    self = status ? py_raise(status, &error) : py_handle_create((PyTypeObject *)class, &kind, batch);
    if (self && (py_handle_keep(self, model) || (on && py_handle_keep(self, pool)))) Py_CLEAR(self);
    py_handle_done(model);
    if (on) py_handle_done(pool);
    return self;
}

// A grammar is kept until its text has ended.
static PyObject *add(PyObject *self, PyObject *args)
{
    PyObject           *list, *dict, *stops, *grammar, *answer = NULL;
    uint32_t           *ids;
    size_t              count;
    uint64_t            id = 0;
    HoloGenerateOptions options;
    HoloError           error = {0};
    if (!PyArg_ParseTuple(args, "OO!O!O:add", &list, &PyDict_Type, &dict, &PyList_Type, &stops, &grammar) ||
        py_ids_take(list, &ids, &count))
        return NULL;
    BindBatch *batch = py_handle_use_alone(self, &kind);
    if (!batch) return PyMem_Free(ids), NULL;
    holo_generate_defaults(holo_text_batch_language(batch->batch), &options);
    HoloString *strings = py_fields_take(dict, bind_generate_options, &options) ? NULL : py_stops_take(stops);
    options.stops       = strings;
    options.stop_count  = (size_t)PyList_Size(stops);
    options.grammar     = strings && grammar != Py_None ? py_handle_use(grammar, &py_kind_grammar) : NULL;
    if (strings && !PyErr_Occurred()) {
        PyObject  *kept   = options.grammar ? grammar : NULL;
        HoloStatus status = bind_batch_add(batch, ids, count, &options, kept, &id, &error);
        if (!status) Py_XINCREF(kept); // let_go
        answer = status ? py_raise(status, &error) : PyLong_FromUnsignedLongLong(id);
    }
    if (options.grammar) py_handle_done(grammar);
    py_handle_done(self);
    PyMem_Free(strings);
    PyMem_Free(ids);
    return answer;
}

static PyObject *step(PyObject *self, PyObject *unused)
{
    HoloError  error  = {0};
    HoloStatus status = HOLO_OK;
    int        left = 0, again = 1;
    PyObject  *tokens = NULL, *ends = NULL;
    BindBatch *batch = py_handle_use_alone(self, &kind);
    PyCall     call  = {.stop = stop, .object = batch};
    (void)unused;
    if (!batch) return NULL;
    while (again > 0) {
        py_call_begin(&call);
        status = holo_text_batch_step(batch->batch, &left, &error);
        py_call_end(&call);
        again = py_call_again(&call, status);
    }
    if (!again && status) py_raise(status, &error);
    if (!again && !status) {
        tokens = py_told_tokens(&batch->told);
        ends   = tokens ? py_told_ends(&batch->told) : NULL;
    }
    bool was_out_of_memory = batch->told.is_out_of_memory;
    if (ends) bind_batch_clear(batch);
    py_handle_done(self);
    if (!ends || was_out_of_memory) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        Py_XDECREF(tokens);
        Py_XDECREF(ends);
        return NULL;
    }
    return Py_BuildValue("(NNi)", tokens, ends, left);
}

static PyObject *leave(PyObject *self, PyObject *number)
{
    unsigned long long id = 0;
    if (!py_unsigned_take(number, &id)) return NULL;
    BindBatch *batch = py_handle_use_alone(self, &kind);
    if (!batch) return NULL;
    bool was_there = holo_text_batch_cancel(batch->batch, id);
    py_handle_done(self);
    return PyBool_FromLong(was_there);
}

static PyObject *get_state(PyObject *self, void *unused)
{
    HoloTextBatchState state;
    BindBatch         *batch = py_handle_use_alone(self, &kind);
    (void)unused;
    if (!batch) return NULL;
    holo_text_batch_state(batch->batch, &state);
    py_handle_done(self);
    return py_fields_dict(bind_batch_state, &state);
}

static PyMethodDef methods[] = {
    {"_create", create, METH_VARARGS | METH_CLASS, NULL},
    {"add", add, METH_VARARGS, "add(ids, options, stops, grammar): the id of a new text."},
    {"step", step, METH_NOARGS,
     "One step of all texts: (id, token, text, logprob) each, what has ended, and how many are left."},
    {"leave", leave, METH_O, "leave(id): ends a text with the next step; False: there is none of that id."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"state", get_state, NULL, "texts and tokens, a dict", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Several texts that one model continues at once."},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

static PyType_Spec spec = {"hologram._hologram.TextBatch", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, slots};

int py_batch_init(PyObject *module)
{
    return py_handle_subtype(module, &spec) ? 0 : -1;
}
