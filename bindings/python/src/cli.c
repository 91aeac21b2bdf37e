// cli.c - the program `hologram` inside of the extension: for `python -m hologram`, and for pictures of models.
#include "pyholo.h"

#include "../../../cli/picture.h"

#undef fprintf
#undef fputs
#undef printf

#include <stdio.h>
#include <stdlib.h>

int holo_cli_main(int argc, char **argv); // main of cli/main.c

static PyObject *cli(PyObject *module, PyObject *list)
{
    Py_ssize_t count = PySequence_Size(list);
    char     **argv  = count < 0 ? NULL : PyMem_Calloc((size_t)count + 1, sizeof *argv);
    PyObject  *words = argv ? PyList_New(0) : NULL;
    (void)module;
    for (Py_ssize_t i = 0; words && i < count; i++) {
        PyObject *word = PySequence_GetItem(list, i), *bytes = word ? PyUnicode_EncodeFSDefault(word) : NULL;
        if (!bytes || PyList_Append(words, bytes)) Py_CLEAR(words);
        if (words) argv[i] = PyBytes_AsString(bytes); // the list keeps it
        Py_XDECREF(word);
        Py_XDECREF(bytes);
    }
    PyObject *result = words ? PyLong_FromLong(holo_cli_main((int)count, argv)) : NULL;
    Py_XDECREF(words);
    PyMem_Free(argv);
    return result;
}

static const struct {
    const char *name;
    void (*write)(FILE *out, Picture *const *pictures, int count);
} formats[] = {{"svg", picture_write_svg}, {"html", picture_write_html}, {"dot", picture_write_dot}};

// The planned graph of a model as a text.
static PyObject *picture(PyObject *module, PyObject *args)
{
    PyObject    *object, *text = NULL;
    const char  *format, *title;
    HoloError    error = {0};
    HoloListing *listing;
    char        *data = NULL;
    size_t       size = 0;
    int          at   = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oss:picture", &object, &format, &title)) return NULL;
    while (at < PY_COUNT(formats) && strcmp(formats[at].name, format)) at++;
    if (at == PY_COUNT(formats))
        return py_fail(HOLO_BAD_ARGUMENT, "a picture is 'svg', 'html' or 'dot', not '%s'", format), NULL;
    HoloModel *model = py_handle_use(object, &py_kind_model);
    if (!model) return NULL;
    HoloStatus status = holo_listing_model(model, &listing, &error);
    py_handle_done(object);
    if (status) return py_raise(status, &error);
    FILE *out = open_memstream(&data, &size);
    if (out) {
        Picture *made = picture_make(listing, title);
        picture_layout(made);
        formats[at].write(out, &made, 1);
        fclose(out);
        cli_free_all();
        text = PyUnicode_DecodeUTF8(data, (Py_ssize_t)size, "replace");
    } else {
        PyErr_NoMemory();
    }
    free(data);
    holo_listing_close(listing);
    return text;
}

static PyMethodDef methods[] = {
    {"cli", cli, METH_O, "cli(words): the program hologram; gives its exit status."},
    {"picture", picture, METH_VARARGS, "picture(model, format, title): its planned graph as svg, html or dot."},
};

int py_programs_init(PyObject *module)
{
    return py_function_add(module, &methods[0]) || py_function_add(module, &methods[1]) ? -1 : 0;
}

// Jansson and zlib are put in from archives that are made for programs: their code cannot reach the standard streams from a shared
// library, and ours never has it do so. The build has them look here instead.
void *holo_py_stream __attribute__((visibility("hidden")));
