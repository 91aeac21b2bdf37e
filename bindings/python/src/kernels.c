// kernels.c - runs of kernels on arrays of the caller, which they write to.
#include "pyholo.h"

typedef struct Args {
    HoloTensor        *views;
    const HoloTensor **list;
    Held              *held;
    int                count;
} Args;

static int arg_take(PyObject *value, const HoloKernelParam *param, HoloTensor *out, Held *held)
{
    char     what[80];
    HoloPort port = {.type = {.dtype = (uint8_t)param->type, .rank = -1}};
    PyOS_snprintf(what, sizeof what, "argument %s", param->name);
    if (param->is_array && param->is_written) return py_take_writable(value, param->type, what, out, held);
    if (py_take(value, &port, what, out, held)) return -1;
    if (!param->is_array && holo_tensor_count(out) != 1)
        return py_fail(HOLO_BAD_ARGUMENT, "%s is one number, not an array", what);
    return 0;
}

static int args_take(PyObject *list, const HoloKernelInfo *info, Args *args)
{
    if (PyTuple_Size(list) != info->param_count)
        return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, but %zd are given", info->name, info->param_count,
                            PyTuple_Size(list)),
               -1;
    size_t count = (size_t)info->param_count + 1;
    args->views  = PyMem_Calloc(count, sizeof *args->views);
    args->list   = PyMem_Calloc(count, sizeof *args->list);
    args->held   = PyMem_Calloc(count, sizeof *args->held);
    if (!args->views || !args->list || !args->held) return PyErr_NoMemory(), -1;
    for (int i = 0; i < info->param_count; i++) {
        args->list[i] = &args->views[i];
        args->count++;
        if (arg_take(PyTuple_GetItem(list, i), &info->params[i], &args->views[i], &args->held[i])) return -1;
    }
    return 0;
}

static void args_release(Args *args)
{
    for (int i = 0; i < args->count; i++) py_held_release(&args->held[i]);
    PyMem_Free(args->views);
    PyMem_Free(args->list);
    PyMem_Free(args->held);
}

static PyObject *kernels_run(PyObject *module, PyObject *arguments)
{
    PyObject        *handle, *list, *pool;
    int              index;
    long long        lanes;
    HoloKernelInfo   info;
    HoloKernelLaunch launch = {0};
    HoloError        error;
    Args             args   = {0};
    HoloStatus       status = HOLO_OK;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OiO!LO:kernels_run", &handle, &index, &PyTuple_Type, &list, &lanes, &pool))
        return NULL;
    HoloKernels *kernels = py_handle_use(handle, &py_kind_kernels);
    if (!kernels) return NULL;
    if (pool != Py_None) launch.pool = py_handle_use(pool, &py_kind_pool);
    launch.lanes = lanes;
    if (!py_handle_alone(handle) && !holo_kernels_info(kernels, index, &info))
        py_fail(HOLO_BAD_ARGUMENT, "there is no kernel %d", index);
    if (!PyErr_Occurred() && !args_take(list, &info, &args)) {
        PyCall call = {0};
        py_error_init(&error);
        py_call_begin(&call);
        status = holo_kernels_run(kernels, index, args.list, args.count, &launch, &error);
        py_call_end(&call);
        if (!py_call_again(&call, HOLO_OK) && status) py_raise(status, &error);
    }
    args_release(&args);
    if (launch.pool) py_handle_done(pool);
    py_handle_done(handle);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef method = {"kernels_run", kernels_run, METH_VARARGS,
                             "kernels_run(kernels, index, args, lanes, pool)"};

int py_kernels_init(PyObject *module)
{
    return py_function_add(module, &method);
}
