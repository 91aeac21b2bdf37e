// py_reader.c - vectors and labels: Model.embed and Model.classify.
#include "pyholo.h"

static void stop(void *reader)
{
    holo_reader_cancel(reader);
}

static PyObject *reader_create(PyObject *module, PyObject *args)
{
    PyObject         *model, *pool;
    HoloReaderOptions options = {.size = sizeof options};
    HoloReader       *reader;
    HoloError         error = {0};
    long long         length;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OLzi:reader", py_model_type, &model, &pool, &length, &options.pooling,
                          &options.normalize))
        return NULL;
    options.max_length = length;
    HoloModel *of      = py_handle_use(model, &py_kind_model);
    if (!of) return NULL;
    if (pool == Py_None) pool = ((Model *)model)->pool; // as its runs
    HoloPool *on = pool ? py_handle_use(pool, &py_kind_pool) : NULL;
    if (pool && !on) return py_handle_done(model), NULL;
    py_interrupt_watch();
    HoloStatus status = holo_reader_create(of, on, &options, &reader, &error);
    PyObject  *self   = status ? py_raise(status, &error) : py_handle_create(py_handle_type, &py_kind_reader, reader);
    if (self && (py_handle_keep(self, model) || (on && py_handle_keep(self, pool)))) Py_CLEAR(self);
    py_handle_done(model);
    if (on) py_handle_done(pool);
    return self;
}

// What a call asks a reader for.
typedef struct ReaderAsk {
    const char   *text;
    Py_ssize_t    size;
    bool          is_path;
    HoloEmbedding embedding;
    HoloLabels    labels;
} ReaderAsk;

static HoloStatus embed_it(HoloReader *r, ReaderAsk *ask, HoloError *error)
{
    return holo_embed(r, ask->text, (size_t)ask->size, &ask->embedding, error);
}

static HoloStatus classify_it(HoloReader *r, ReaderAsk *ask, HoloError *error)
{
    return ask->is_path ? holo_classify_picture(r, ask->text, &ask->labels, error)
                        : holo_classify(r, ask->text, (size_t)ask->size, &ask->labels, error);
}

static PyObject *embedding_from(const ReaderAsk *ask)
{
    HoloTensor view = {
        .dtype = HOLO_F32, .rank = 1, .dim = {(int64_t)ask->embedding.size}, .data = (void *)ask->embedding.vector};
    return py_value_copy(&view);
}

static PyObject *labels_from(const ReaderAsk *ask)
{
    PyObject *list = PyList_New((Py_ssize_t)ask->labels.count);
    for (size_t i = 0; list && i < ask->labels.count; i++) {
        const HoloLabel *l    = &ask->labels.label[i];
        PyObject        *item = Py_BuildValue("NLd", py_text_from(l->name), (long long)l->id, l->score);
        if (item && ask->labels.is_of_tokens) {
            PyObject *whole = Py_BuildValue("NN", item, py_text_from(l->token));
            item            = whole;
        }
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item)) Py_CLEAR(list);
    }
    return list;
}

// Runs the model without the GIL; Ctrl-C stops it.
static PyObject *asked(PyObject *object, ReaderAsk *ask, HoloStatus (*run)(HoloReader *, ReaderAsk *, HoloError *),
                       PyObject *(*give)(const ReaderAsk *))
{
    PyObject   *answer = NULL;
    HoloError   error  = {0};
    HoloStatus  status = HOLO_OK;
    int         again  = 1;
    HoloReader *reader = py_handle_use_alone(object, &py_kind_reader);
    PyCall      call   = {.stop = stop, .object = reader};
    while (reader && again > 0) {
        py_call_begin(&call);
        status = run(reader, ask, &error);
        py_call_end(&call);
        again = py_call_again(&call, status);
    }
    if (!reader) return NULL;
    if (!again && status) py_raise(status, &error);
    if (!again && !status) answer = give(ask);
    py_handle_done(object);
    return answer;
}

static PyObject *reader_embed(PyObject *module, PyObject *args)
{
    PyObject *object;
    ReaderAsk ask = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "Os#:embed", &object, &ask.text, &ask.size)) return NULL;
    return asked(object, &ask, embed_it, embedding_from);
}

static PyObject *reader_classify(PyObject *module, PyObject *args)
{
    PyObject *object;
    ReaderAsk ask = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "Os#:classify", &object, &ask.text, &ask.size)) return NULL;
    return asked(object, &ask, classify_it, labels_from);
}

static PyObject *reader_classify_picture(PyObject *module, PyObject *args)
{
    PyObject *object, *path;
    ReaderAsk ask = {.is_path = true};
    (void)module;
    if (!PyArg_ParseTuple(args, "OO&:classify", &object, PyUnicode_FSConverter, &path)) return NULL;
    ask.text         = PyBytes_AsString(path);
    PyObject *answer = asked(object, &ask, classify_it, labels_from);
    Py_DECREF(path);
    return answer;
}

static PyMethodDef functions[] = {
    {"reader_create", reader_create, METH_VARARGS,
     "reader_create(model, pool, max_length, pooling, normalize): a HoloReader."},
    {"reader_embed", reader_embed, METH_VARARGS, "reader_embed(reader, text): its vector."},
    {"reader_classify", reader_classify, METH_VARARGS,
     "reader_classify(reader, text): (name, id, score) for each label."},
    {"reader_classify_picture", reader_classify_picture, METH_VARARGS,
     "reader_classify_picture(reader, path): the same for a picture."},
};

int py_reader_init(PyObject *module)
{
    for (int i = 0; i < PY_COUNT(functions); i++)
        if (py_function_add(module, &functions[i])) return -1;
    return 0;
}
