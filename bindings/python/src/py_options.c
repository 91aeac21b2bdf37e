// py_options.c - numbers of structs to and from dicts, and what steps of language models tell as lists.
#include "pyholo.h"

static int choice_take(const BindField *field, PyObject *value, uint64_t *out)
{
    for (uint64_t i = 0; PyUnicode_Check(value) && field->choices[i]; i++)
        if (!PyUnicode_CompareWithASCIIString(value, field->choices[i])) return *out = i, 0;
    PyObject *words = PyList_New(0);
    for (int i = 0; words && field->choices[i]; i++) {
        PyObject *word = PyUnicode_FromString(field->choices[i]);
        if (!word || PyList_Append(words, word)) Py_CLEAR(words);
        Py_XDECREF(word);
    }
    if (words) py_fail(HOLO_BAD_ARGUMENT, "%s is %R, but must be one of %R", field->name, value, words);
    Py_XDECREF(words);
    return -1;
}

static int field_take(const BindField *field, PyObject *value, void *out)
{
    unsigned long long whole = 0;
    uint64_t           word  = 0;
    if (bind_is_real(field)) {
        double real = PyFloat_AsDouble(value);
        if (PyErr_Occurred()) return -1;
        bind_real_set(field, out, real);
        return 0;
    }
    if (field->kind == BIND_BOOL) {
        int is_true = PyObject_IsTrue(value);
        if (is_true < 0) return -1;
        word = (uint64_t)is_true;
    } else if (field->kind == BIND_CHOICE) {
        if (choice_take(field, value, &word)) return -1;
    } else {
        if (!py_unsigned_take(value, &whole)) {
            if (!PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
            PyErr_Clear();
            return PyErr_Format(PyExc_ValueError, "%s is %R, but must be a whole number from 0 on", field->name, value),
                   -1;
        }
        word = whole;
    }
    if (bind_whole_set(field, out, word)) return 0;
    return PyErr_Format(PyExc_ValueError, "%s is %R: too large", field->name, value), -1;
}

int py_fields_take(PyObject *dict, const BindField *fields, void *out)
{
    PyObject  *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        const BindField *field = fields;
        while (field->name && PyUnicode_CompareWithASCIIString(key, field->name) != 0) field++;
        if (!field->name) return PyErr_Format(PyExc_TypeError, "there is no option %R", key), -1;
        if (field_take(field, value, out)) return -1;
    }
    return 0;
}

PyObject *py_fields_dict(const BindField *fields, const void *from)
{
    PyObject *dict = PyDict_New();
    for (const BindField *field = fields; dict && field->name; field++) {
        double    number = bind_number(field, from);
        PyObject *value  = bind_is_real(field)          ? PyFloat_FromDouble(number)
                           : field->kind == BIND_CHOICE ? PyUnicode_FromString(field->choices[(int)number])
                                                        : PyLong_FromDouble(number);
        if (!value || PyDict_SetItemString(dict, field->name, value)) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

HoloString *py_stops_take(PyObject *list)
{
    Py_ssize_t  count = PyList_Size(list);
    HoloString *stops = PyMem_Calloc((size_t)count + 1, sizeof *stops);
    if (!stops) PyErr_NoMemory();
    for (Py_ssize_t i = 0; stops && i < count; i++) {
        Py_ssize_t  size;
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), &size);
        if (!text) return PyMem_Free(stops), NULL;
        stops[i] = (HoloString){text, (size_t)size};
    }
    return stops;
}

PyObject *py_told_tokens(const BindTold *told)
{
    PyObject *list = PyList_New((Py_ssize_t)told->token_count);
    for (size_t i = 0; list && i < told->token_count; i++) {
        const BindToken *one  = &told->token[i];
        PyObject        *text = py_text_from((HoloString){one->size ? told->bytes + one->begin : "", one->size});
        PyObject        *row  = NULL;
        if (text && one->token == UINT32_MAX) // what was held back
            row = Py_BuildValue("(KONO)", (unsigned long long)one->text, Py_None, text, Py_None);
        else if (text)
            row = Py_BuildValue("(KkNd)", (unsigned long long)one->text, (unsigned long)one->token, text,
                                (double)one->logprob);
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row)) Py_CLEAR(list);
    }
    return list;
}

PyObject *py_told_ends(const BindTold *told)
{
    PyObject *list = PyList_New((Py_ssize_t)told->end_count);
    for (size_t i = 0; list && i < told->end_count; i++) {
        const BindEnd *one   = &told->end[i];
        PyObject      *words = py_text_from((HoloString){one->size ? told->bytes + one->begin : "", one->size});
        PyObject      *dict  = words ? py_fields_dict(bind_generate_result, &one->result) : NULL;
        PyObject      *row =
            dict ? Py_BuildValue("(KiNN)", (unsigned long long)one->text, (int)one->status, words, dict) : NULL;
        if (!dict) Py_XDECREF(words);
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row)) Py_CLEAR(list);
    }
    return list;
}
