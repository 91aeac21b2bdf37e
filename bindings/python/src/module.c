// module.c - the extension: its types and functions.
#include "pyholo.h"

static PyObject *version(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString(holo_version());
}

static PyMethodDef methods[] = {
    {"version", version, METH_NOARGS, "The version of the library."},
    {NULL, NULL, 0, NULL},
};

int py_function_add(PyObject *module, PyMethodDef *method)
{
    PyObject *function = PyCFunction_New(method, NULL);
    return function ? PyModule_AddObject(module, method->ml_name, function) : -1;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_hologram", "Hologram's C library.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__hologram(void)
{
    static int (*const inits[])(PyObject *) = {
        py_errors_init,  py_dtypes_init,  py_tensor_init,  py_handle_init, py_interrupt_init, py_model_init,
        py_session_init, py_compile_init, py_kernels_init, py_text_init,   py_generate_init,  py_batch_init,
        py_speech_init,  py_reader_init,  py_picture_init, py_made_init,   py_programs_init};
    PyObject *module = PyModule_Create(&definition);
    for (int i = 0; module && i < PY_COUNT(inits); i++)
        if (inits[i](module)) Py_CLEAR(module);
    return module;
}
