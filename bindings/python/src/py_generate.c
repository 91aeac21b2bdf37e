// py_generate.c - language models: what they compute behind a text, and texts that they continue step by step.
//
// Each step is one run of the model without the GIL. The tokens that come of it are kept in plain memory, and become objects
// when the GIL is back.
#include "pyholo.h"

static void stop(void *language)
{
    holo_language_cancel(language);
}

// ---- language models

static PyObject *language_open(PyObject *module, PyObject *args)
{
    PyObject           *model, *pool;
    HoloLanguageOptions options = {.size = sizeof options};
    HoloLanguage       *language;
    HoloError           error = {0};
    PyCall              call  = {0};
    long long           context;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OiL:language", py_model_type, &model, &pool, &options.texts, &context)) return NULL;
    options.context = context;
    HoloModel *of   = py_handle_use(model, &py_kind_model);
    if (!of) return NULL;
    if (pool == Py_None) pool = ((Model *)model)->pool; // as its runs
    HoloPool *on = pool ? py_handle_use(pool, &py_kind_pool) : NULL;
    if (pool && !on) return py_handle_done(model), NULL;
    py_interrupt_watch();
    py_call_begin(&call);
    HoloStatus status = holo_language_open(of, on, &options, &language, &error);
    py_call_end(&call);
    PyObject *self = status ? py_raise(status, &error) : py_handle_create(py_handle_type, &py_kind_language, language);
    if (self && (py_handle_keep(self, model) || (on && py_handle_keep(self, pool)))) Py_CLEAR(self);
    py_handle_done(model);
    if (on) py_handle_done(pool);
    return self;
}

static PyObject *language_read(PyObject *module, PyObject *args)
{
    PyObject    *object, *list, *answer = NULL;
    int          text, again = 1;
    uint32_t    *ids;
    size_t       count;
    const float *logits;
    HoloError    error  = {0};
    HoloStatus   status = HOLO_OK;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOi:read", &object, &list, &text) || py_ids_take(list, &ids, &count)) return NULL;
    HoloLanguage *language = py_handle_use_alone(object, &py_kind_language);
    PyCall        call     = {.stop = stop, .object = language};
    while (language && again > 0) {
        py_call_begin(&call);
        status = holo_language_read(language, text, ids, count, &logits, &error);
        py_call_end(&call);
        again = py_call_again(&call, status);
    }
    PyMem_Free(ids);
    if (!language) return NULL;
    if (!again && status) py_raise(status, &error);
    if (!again && !status) {
        HoloTensor view = {
            .dtype = HOLO_F32, .rank = 1, .dim = {holo_language_vocabulary(language)}, .data = (void *)logits};
        answer = py_value_copy(&view);
    }
    py_handle_done(object);
    return answer;
}

static PyObject *language_cancel(PyObject *module, PyObject *object)
{
    (void)module;
    HoloLanguage *language = py_handle_use(object, &py_kind_language);
    if (!language) return NULL;
    holo_language_cancel(language);
    py_handle_done(object);
    Py_RETURN_NONE;
}

static PyObject *language_ends(PyObject *module, PyObject *object)
{
    size_t count = 0;
    (void)module;
    HoloLanguage *language = py_handle_use(object, &py_kind_language);
    if (!language) return NULL;
    const uint32_t *ends = holo_language_ends(language, &count);
    PyObject       *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *id = PyLong_FromUnsignedLong(ends[i]);
        if (!id || PyList_SetItem(list, (Py_ssize_t)i, id)) Py_CLEAR(list);
    }
    py_handle_done(object);
    return list;
}

// ---- generations

typedef struct Generation {
    Handle             handle;
    PyObject          *language;
    bool               is_done;
    HoloGenerateResult result;
} Generation;

static PyTypeObject *generation_type;

static PyObject *create(PyObject *class, PyObject *args)
{
    PyObject           *object, *list, *dict, *stops, *grammar, *self = NULL;
    uint32_t           *ids;
    size_t              count;
    HoloAnswer         *generation;
    HoloGenerateOptions options;
    HoloError           error = {0};
    PyCall              call  = {0};
    if (!PyArg_ParseTuple(args, "OOO!O!O:generate", &object, &list, &PyDict_Type, &dict, &PyList_Type, &stops,
                          &grammar) ||
        py_ids_take(list, &ids, &count))
        return NULL;
    HoloLanguage *language = py_handle_use_alone(object, &py_kind_language);
    if (!language) return PyMem_Free(ids), NULL;
    holo_generate_defaults(language, &options);
    HoloString *strings = py_fields_take(dict, bind_generate_options, &options) ? NULL : py_stops_take(stops);
    options.stops       = strings;
    options.stop_count  = (size_t)PyList_Size(stops);
    options.grammar     = strings && grammar != Py_None ? py_handle_use(grammar, &py_kind_grammar) : NULL;
    if (strings && !PyErr_Occurred()) {
        py_call_begin(&call);
        HoloStatus status = holo_answer_create(language, ids, count, &options, &generation, &error);
        py_call_end(&call);
        self = status ? py_raise(status, &error) : py_handle_create((PyTypeObject *)class, &py_kind_answer, generation);
    }
    // A list lets go of its last element first: the grammar, which has to do with the language model.
    if (self && (py_handle_keep(self, object) || (options.grammar && py_handle_keep(self, grammar)))) Py_CLEAR(self);
    if (self) ((Generation *)self)->language = object;
    if (options.grammar) py_handle_done(grammar);
    py_handle_done(object);
    PyMem_Free(strings);
    PyMem_Free(ids);
    return self;
}

static PyObject *step(PyObject *object, PyObject *unused)
{
    (void)unused;
    Generation *self = (Generation *)object;
    HoloAnswer *g    = py_handle_use(object, &py_kind_answer);
    if (!g) return NULL;
    HoloLanguage *language = py_handle_use_alone(self->language, &py_kind_language);
    HoloError     error    = {0};
    HoloStatus    status   = HOLO_OK;
    BindTold      told     = {0};
    PyCall        call     = {.stop = stop, .object = language};
    PyObject     *answer   = NULL;
    int           again    = language ? 1 : -1;
    while (again > 0) {
        py_call_begin(&call);
        status = holo_answer_step(g, bind_told_add, &told, &self->is_done, &self->result, &error);
        py_call_end(&call);
        again = py_call_again(&call, status);
    }
    if (!again && status)
        py_raise(status, &error);
    else if (!again && told.is_out_of_memory)
        PyErr_NoMemory();
    else if (!again)
        answer = py_told_tokens(&told);
    bind_told_deinit(&told);
    if (language) py_handle_done(self->language);
    py_handle_done(object);
    return answer;
}

static PyObject *get_done(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((Generation *)self)->is_done);
}

static PyObject *get_result(PyObject *self, void *unused)
{
    (void)unused;
    return py_fields_dict(bind_generate_result, &((Generation *)self)->result);
}

static PyMethodDef methods[] = {
    {"_create", create, METH_VARARGS | METH_CLASS, NULL},
    {"step", step, METH_NOARGS, "One run of the model: a list of (0, id, text, logprob)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"done", get_done, NULL, "whether the text has ended", NULL},
    {"result", get_result, NULL, "counts and times, a dict", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A text that a language model continues."},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

static PyType_Spec spec = {"hologram._hologram.Generation", sizeof(Generation), 0, Py_TPFLAGS_DEFAULT, slots};

static PyMethodDef functions[] = {
    {"language_open", language_open, METH_VARARGS, "language_open(model, pool, texts, context): a HoloLanguage."},
    {"language_read", language_read, METH_VARARGS, "language_read(language, ids, text): the logits behind them."},
    {"language_cancel", language_cancel, METH_O, "Stops a read in progress, from any thread."},
    {"language_ends", language_ends, METH_O, "The ids that end a text."},
};

int py_generate_init(PyObject *module)
{
    for (int i = 0; i < PY_COUNT(functions); i++)
        if (py_function_add(module, &functions[i])) return -1;
    generation_type = py_handle_subtype(module, &spec);
    return generation_type ? 0 : -1;
}
