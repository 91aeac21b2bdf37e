// errors.c - exceptions: one class for each status of the library, all of them hologram.Error.
#include "pyholo.h"

#include <stdarg.h>
#include <stdio.h>

enum { STATUS_COUNT = 14 };

static PyObject *base, *classes[STATUS_COUNT];

static const struct {
    HoloStatus  status;
    const char *name;     // of the class
    PyObject  **built_in; // what it is besides; NULL: nothing
    const char *doc;
} rows[] = {
    {HOLO_BAD_ARGUMENT, "ArgumentError", &PyExc_ValueError, "An argument is wrong."},
    {HOLO_BAD_MODEL, "ModelError", &PyExc_ValueError, "The model file is not valid."},
    {HOLO_BAD_ARCHIVE, "ArchiveError", &PyExc_ValueError, "The .holo file is not valid."},
    {HOLO_BAD_INPUT, "InputError", &PyExc_ValueError, "An input does not fit the model."},
    {HOLO_UNSUPPORTED, "UnsupportedError", &PyExc_NotImplementedError, "Valid, but not supported here."},
    {HOLO_NO_MEMORY, "NoMemoryError", &PyExc_MemoryError, "There is no memory left, or a limit is reached."},
    {HOLO_NO_FILE, "FileError", &PyExc_OSError, "A file cannot be read or written."},
    {HOLO_CANCELLED, "CancelledError", NULL, "The run or the compile was cancelled."},
    {HOLO_VERIFY, "VerifyError", NULL, "The compiled plan differs from the model beyond tolerance."},
    {HOLO_INTERNAL, "InternalError", &PyExc_RuntimeError, "A mistake in Hologram itself: please report it."},
    {HOLO_REFUSED, "RefusedError", NULL, "Valid, but Hologram does not do it, by choice."},
    {HOLO_BUSY, "BusyError", &PyExc_RuntimeError, "Another thread is using the session."},
    {HOLO_TIMEOUT, "TimeoutError", &PyExc_TimeoutError, "The run took longer than it may."},
};

static int class_add(PyObject *module, HoloStatus status, const char *name, PyObject *built_in, const char *doc)
{
    char full[64];
    snprintf(full, sizeof full, "hologram.%s", name);
    PyObject *bases = built_in ? PyTuple_Pack(2, base, built_in) : PyTuple_Pack(1, base);
    PyObject *dict  = Py_BuildValue("{s:i}", "status", (int)status);
    PyObject *made  = bases && dict ? PyErr_NewExceptionWithDoc(full, doc, bases, dict) : NULL;
    Py_XDECREF(bases);
    Py_XDECREF(dict);
    if (!made) return -1;
    classes[status] = made;
    Py_INCREF(made);
    if (!PyModule_AddObject(module, name, made)) return 0;
    Py_DECREF(made);
    return -1;
}

int py_errors_init(PyObject *module)
{
    base = PyErr_NewExceptionWithDoc("hologram.Error", "All errors of Hologram; `status` is the number of the kind.",
                                     PyExc_Exception, NULL);
    if (!base) return -1;
    Py_INCREF(base);
    if (PyModule_AddObject(module, "Error", base)) return -1;
    for (int i = 0; i < PY_COUNT(rows); i++) {
        PyObject *built_in = rows[i].built_in ? *rows[i].built_in : NULL;
        if (class_add(module, rows[i].status, rows[i].name, built_in, rows[i].doc)) return -1;
    }
    return 0;
}

static PyObject *class_of(HoloStatus status)
{
    return (int)status > 0 && (int)status < STATUS_COUNT && classes[status] ? classes[status] : base;
}

PyObject *py_raise(HoloStatus status, const HoloError *error)
{
    const char *text  = error && error->text[0] ? error->text : holo_status_text(status);
    PyObject   *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
    if (words) PyErr_SetObject(class_of(status), words);
    Py_XDECREF(words);
    return NULL;
}

int py_fail(HoloStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyErr_FormatV(class_of(status), format, args);
    va_end(args);
    return -1;
}
