// dtypes.c - element types: what NumPy, the buffer protocol and Arrow call them.
#include "pyholo.h"

static const PyDtype rows[HOLO_DTYPE_COUNT] = {
    [HOLO_NONE]       = {"none", NULL, NULL, NULL, 0},
    [HOLO_F32]        = {"float32", "f", "f", NULL, 0},
    [HOLO_U8]         = {"uint8", "B", "C", NULL, 0},
    [HOLO_I8]         = {"int8", "b", "c", NULL, 0},
    [HOLO_U16]        = {"uint16", "H", "S", NULL, 0},
    [HOLO_I16]        = {"int16", "h", "s", NULL, 0},
    [HOLO_I32]        = {"int32", "i", "i", NULL, 0},
    [HOLO_I64]        = {"int64", sizeof(long) == 8 ? "l" : "q", "l", NULL, 0},
    [HOLO_STRING]     = {"str", NULL, NULL, NULL, 0},
    [HOLO_BOOL]       = {"bool", "?", NULL, NULL, 0}, // Arrow packs them into bits
    [HOLO_F16]        = {"float16", "e", "e", NULL, 0},
    [HOLO_F64]        = {"float64", "d", "g", NULL, 0},
    [HOLO_U32]        = {"uint32", "I", "I", NULL, 0},
    [HOLO_U64]        = {"uint64", sizeof(long) == 8 ? "L" : "Q", "L", NULL, 0},
    [HOLO_C64]        = {"complex64", "Zf", NULL, NULL, 0},
    [HOLO_C128]       = {"complex128", "Zd", NULL, NULL, 0},
    [HOLO_BF16]       = {"bfloat16", NULL, NULL, "uint16", 0},
    [HOLO_F8E4M3FN]   = {"float8_e4m3fn", NULL, NULL, "uint8", 0},
    [HOLO_F8E4M3FNUZ] = {"float8_e4m3fnuz", NULL, NULL, "uint8", 0},
    [HOLO_F8E5M2]     = {"float8_e5m2", NULL, NULL, "uint8", 0},
    [HOLO_F8E5M2FNUZ] = {"float8_e5m2fnuz", NULL, NULL, "uint8", 0},
    [HOLO_U4]         = {"uint4", NULL, NULL, "uint8", 4},
    [HOLO_I4]         = {"int4", NULL, NULL, "int8", -4},
    [HOLO_F4E2M1]     = {"float4_e2m1fn", NULL, NULL, "uint8", 0},
    [HOLO_F8E8M0]     = {"float8_e8m0fnu", NULL, NULL, "uint8", 0},
    [HOLO_U2]         = {"uint2", NULL, NULL, "uint8", 2},
    [HOLO_I2]         = {"int2", NULL, NULL, "int8", -2},
    [HOLO_F6E2M3]     = {"float6_e2m3fn", NULL, NULL, "uint8", 0},
    [HOLO_F6E3M2]     = {"float6_e3m2fn", NULL, NULL, "uint8", 0},
};

const PyDtype *py_dtype(int dtype)
{
    return &rows[dtype > 0 && dtype < HOLO_DTYPE_COUNT ? dtype : 0];
}

static PyObject *dtype_name(PyObject *module, PyObject *number)
{
    long dtype = PyLong_AsLong(number);
    (void)module;
    return PyErr_Occurred() ? NULL : PyUnicode_FromString(py_dtype((int)dtype)->name);
}

int py_dtypes_init(PyObject *module)
{
    static PyMethodDef method = {"dtype_name", dtype_name, METH_O, "dtype_name(number): NumPy's name of a HoloDtype."};
    return py_function_add(module, &method);
}

HoloDtype py_dtype_named(const char *name)
{
    for (int i = 1; i < HOLO_DTYPE_COUNT; i++)
        if (!strcmp(rows[i].name, name) || !strcmp(holo_dtype_name((HoloDtype)i), name)) return (HoloDtype)i;
    return HOLO_NONE;
}

// Letters of one sort of numbers, and what they are by their size.
static const struct {
    const char *letters;
    HoloDtype   by_size[17];
} sorts[] = {
    {"f", {[4] = HOLO_F32}},
    {"d", {[8] = HOLO_F64}},
    {"e", {[2] = HOLO_F16}},
    {"?", {[1] = HOLO_BOOL}},
    {"bhilqn", {[1] = HOLO_I8, [2] = HOLO_I16, [4] = HOLO_I32, [8] = HOLO_I64}},
    {"BHILQNc", {[1] = HOLO_U8, [2] = HOLO_U16, [4] = HOLO_U32, [8] = HOLO_U64}},
    {"F", {[8] = HOLO_C64}},
    {"D", {[16] = HOLO_C128}},
};

HoloDtype py_dtype_of_format(const char *format, Py_ssize_t size)
{
    char letter = 'B';
    if (format && strchr("@=<", *format) && *format) format++;
    if (format && strchr(">!", *format) && *format && size == 1) format++;
    if (format && *format == 'Z')
        letter = format[1] == 'f' ? 'F' : format[1] == 'd' ? 'D' : 0, format += 2;
    else if (format)
        letter = *format++;
    if (!letter || (format && *format) || size < 1 || size > 16) return HOLO_NONE;
    for (int i = 0; i < PY_COUNT(sorts); i++)
        if (strchr(sorts[i].letters, letter)) return sorts[i].by_size[size];
    return HOLO_NONE;
}

// The name of a dtype: `name` of one of NumPy, `__name__` of a class; "float32" of "torch.float32".
static PyObject *name_of(PyObject *object)
{
    if (PyUnicode_Check(object)) {
        Py_INCREF(object);
        return object;
    }
    PyObject *name =
        PyType_Check(object) ? PyObject_GetAttrString(object, "__name__") : PyObject_GetAttrString(object, "name");
    if (name) return name;
    PyErr_Clear();
    return PyObject_Str(object);
}

HoloDtype py_dtype_from(PyObject *object)
{
    static const struct {
        const char *word;
        HoloDtype   dtype;
    } also[]         = {{"bool_", HOLO_BOOL},    {"float", HOLO_F64},      {"int", HOLO_I64},
                        {"object", HOLO_STRING}, {"object_", HOLO_STRING}, {"str_", HOLO_STRING},
                        {"string", HOLO_STRING}, {"half", HOLO_F16},       {"double", HOLO_F64}};
    PyObject   *name = name_of(object);
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL,
               *dot  = text ? strrchr(text, '.') : NULL;
    HoloDtype dtype  = HOLO_NONE;
    if (dot) text = dot + 1;
    if (text) dtype = py_dtype_named(text);
    for (int i = 0; text && !dtype && i < PY_COUNT(also); i++)
        if (!strcmp(also[i].word, text)) dtype = also[i].dtype;
    if (text && !dtype) PyErr_Format(PyExc_TypeError, "%R is no element type: expected one like 'float32'", object);
    if (!text && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%R is no element type", object);
    Py_XDECREF(name);
    return dtype;
}
