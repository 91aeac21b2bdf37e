// py_text.c - tokenizers and chat templates: text in, ids or text out.
#include "pyholo.h"

int py_ids_take(PyObject *object, uint32_t **out, size_t *out_count)
{
    PyObject  *list  = PySequence_List(object); // any iterable
    Py_ssize_t count = list ? PyList_Size(list) : 0;
    *out             = list ? PyMem_Calloc((size_t)count + 1, sizeof **out) : NULL;
    *out_count       = (size_t)count;
    if (list && !*out) PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject     *number = PyNumber_Index(PyList_GetItem(list, i));
        unsigned long id     = number ? PyLong_AsUnsignedLong(number) : 0;
        if (number && (PyErr_Occurred() || id > UINT32_MAX)) {
            PyErr_Clear();
            PyErr_Format(PyExc_ValueError, "an id is a number from 0 to 4294967295, not %R", number);
        }
        Py_XDECREF(number);
        (*out)[i] = (uint32_t)id;
    }
    Py_XDECREF(list);
    if (!PyErr_Occurred()) return 0;
    PyMem_Free(*out);
    *out = NULL;
    return -1;
}

PyObject *py_text_from(HoloString text)
{
    return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.size, "replace");
}

static PyObject *asset(PyObject *module, PyObject *args)
{
    PyObject   *model, *answer = Py_None;
    const char *name;
    HoloString  bytes;
    (void)module;
    if (!PyArg_ParseTuple(args, "Os:asset", &model, &name)) return NULL;
    HoloModel *of = py_handle_use(model, &py_kind_model);
    if (!of) return NULL;
    if (holo_model_asset(of, name, &bytes))
        answer = PyBytes_FromStringAndSize(bytes.data, (Py_ssize_t)bytes.size);
    else
        Py_INCREF(answer);
    py_handle_done(model);
    return answer;
}

static PyObject *encode(PyObject *module, PyObject *args)
{
    PyObject   *tokenizer, *list = NULL;
    const char *text;
    Py_ssize_t  size;
    unsigned    flags;
    uint32_t   *ids;
    size_t      count;
    HoloError   error = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "Os#I:encode", &tokenizer, &text, &size, &flags)) return NULL;
    HoloTokenizer *of = py_handle_use(tokenizer, &py_kind_tokenizer);
    if (!of) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    HoloStatus     status = holo_tokenizer_encode(of, text, (size_t)size, flags, &ids, &count, &error);
    PyEval_RestoreThread(thread);
    py_handle_done(tokenizer);
    if (status) return py_raise(status, &error);
    list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *id = PyLong_FromUnsignedLong(ids[i]);
        if (!id || PyList_SetItem(list, (Py_ssize_t)i, id)) Py_CLEAR(list);
    }
    holo_ids_free(ids);
    return list;
}

static PyObject *decode(PyObject *module, PyObject *args)
{
    PyObject *tokenizer, *list;
    unsigned  flags;
    uint32_t *ids;
    size_t    count, size;
    char     *text;
    HoloError error = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OOI:decode", &tokenizer, &list, &flags) || py_ids_take(list, &ids, &count))
        return NULL;
    HoloTokenizer *of     = py_handle_use(tokenizer, &py_kind_tokenizer);
    HoloStatus     status = of ? holo_tokenizer_decode(of, ids, count, flags, &text, &size, &error) : HOLO_OK;
    PyMem_Free(ids);
    if (!of) return NULL;
    py_handle_done(tokenizer);
    if (status) return py_raise(status, &error);
    PyObject *answer = py_text_from((HoloString){text, size});
    holo_text_free(text);
    return answer;
}

static PyObject *token(PyObject *module, PyObject *args)
{
    PyObject          *tokenizer;
    unsigned long long id;
    (void)module;
    if (!PyArg_ParseTuple(args, "OK:token", &tokenizer, &id)) return NULL;
    HoloTokenizer *of = py_handle_use(tokenizer, &py_kind_tokenizer);
    if (!of) return NULL;
    HoloString text = {0};
    if (id <= UINT32_MAX) text = holo_tokenizer_token(of, (uint32_t)id);
    PyObject *answer = text.data ? py_text_from(text) : (Py_INCREF(Py_None), Py_None);
    py_handle_done(tokenizer);
    return answer;
}

static PyObject *render(PyObject *module, PyObject *args)
{
    PyObject   *chat;
    const char *json;
    char       *text;
    Py_ssize_t  json_size;
    size_t      size;
    HoloError   error = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "Os#:render", &chat, &json, &json_size)) return NULL;
    HoloTemplate *of = py_handle_use(chat, &py_kind_template);
    if (!of) return NULL;
    HoloStatus status = holo_template_render(of, json, (size_t)json_size, &text, &size, &error);
    py_handle_done(chat);
    if (status) return py_raise(status, &error);
    PyObject *answer = py_text_from((HoloString){text, size});
    holo_text_free(text);
    return answer;
}

static PyMethodDef functions[] = {
    {"asset", asset, METH_VARARGS, "asset(model, name): bytes that the archive has by that name; None: it has none."},
    {"encode", encode, METH_VARARGS, "encode(tokenizer, text, flags): ids."},
    {"decode", decode, METH_VARARGS, "decode(tokenizer, ids, flags): a text."},
    {"token", token, METH_VARARGS, "token(tokenizer, id): its text in the vocabulary, or None."},
    {"render", render, METH_VARARGS, "render(template, json): a text."},
};

int py_text_init(PyObject *module)
{
    for (int i = 0; i < PY_COUNT(functions); i++)
        if (py_function_add(module, &functions[i])) return -1;
    return 0;
}
