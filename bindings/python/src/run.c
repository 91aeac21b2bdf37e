// run.c - a run: arrays in, the GIL released, arrays out.
//
// Outputs whose shape is known before the run are computed in the memory of the array that is given back. That is so where the
// model fixes the shape, or takes each size from an input. Others are copied once by the library.
#include "pyholo.h"

enum { FEW = 4 }; // inputs, and outputs, that need no memory from the heap

typedef struct Out {
    const PyPort *port;
    PyObject     *array; // to be given back; NULL: the library gives its own memory
    HoloTensor    view;
    Held          held;
    bool          is_given; // the array is the caller's
} Out;

typedef struct Run {
    Model         *model;
    Session       *session; // NULL: of the model
    PyObject      *subject; // one of the two, which is in use
    void          *pointer; // of the library: NULL: it is closed
    HoloRunInput  *in;
    Held          *in_held;
    int            in_count, out_count;
    HoloRunOutput *out;
    Out           *outs;
    double         timeout;
    Cancel        *cancel; // NULL: none
    HoloRunInput   few_in[FEW];
    Held           few_held[FEW];
    HoloRunOutput  few_out[FEW];
    Out            few_outs[FEW];
    HoloError      error;
} Run;

static int run_init(Run *run, Model *model, Session *session)
{
    bool few_in = model->in_count <= FEW, few_out = model->out_count <= FEW;
    run->subject = session ? (PyObject *)session : (PyObject *)model;
    run->pointer = py_handle_use(run->subject, session ? &py_kind_session : &py_kind_model);
    run->model   = model;
    run->session = session;
    if (!run->pointer) return -1; // it is closed; what is not lets its ports go only after the run
    Py_INCREF(model);
    run->in_count = run->out_count = 0;
    run->timeout                   = 0;
    run->cancel                    = NULL;
    run->in                        = few_in ? run->few_in : PyMem_Calloc((size_t)model->in_count, sizeof *run->in);
    run->in_held = few_in ? run->few_held : PyMem_Calloc((size_t)model->in_count, sizeof *run->in_held);
    run->out     = few_out ? run->few_out : PyMem_Calloc((size_t)model->out_count, sizeof *run->out);
    run->outs    = few_out ? run->few_outs : PyMem_Calloc((size_t)model->out_count, sizeof *run->outs);
    py_error_init(&run->error);
    if (run->in && run->in_held && run->out && run->outs) return 0;
    PyErr_NoMemory();
    return -1;
}

static void run_end(Run *run)
{
    if (!run->pointer) return;
    for (int i = 0; i < run->in_count; i++) py_held_release(&run->in_held[i]);
    for (int i = 0; i < run->out_count; i++) {
        py_held_release(&run->outs[i].held);
        Py_XDECREF(run->outs[i].array);
    }
    if (run->in != run->few_in) {
        PyMem_Free(run->in);
        PyMem_Free(run->in_held);
    }
    if (run->out != run->few_out) {
        PyMem_Free(run->out);
        PyMem_Free(run->outs);
    }
    py_handle_done(run->subject);
    Py_DECREF(run->model);
}

// ---- inputs

static int input_add(Run *run, int index, PyObject *value)
{
    const PyPort *port = &run->model->in[index];
    for (int i = 0; i < run->in_count; i++)
        if (run->in[i].index == index) return py_fail(HOLO_BAD_ARGUMENT, "%s is given twice", port->what);
    if (value == Py_None && port->port->optional && !run->session) return 0; // left out
    int           at = run->in_count++;
    HoloRunInput *in = &run->in[at];
    run->in_held[at] = (Held){.may_be_there = run->session != NULL};
    in->name         = NULL;
    in->index        = index;
    return py_take(value, port->port, port->what, &in->tensor, &run->in_held[at]);
}

static int names_fail(const char *kind, PyObject *name, const PyPort *ports, int count)
{
    PyObject *list = PyList_New(0), *comma = PyUnicode_FromString(", ");
    for (int i = 0; list && i < count; i++) PyList_Append(list, ports[i].name);
    PyObject *all = list && comma ? PyUnicode_Join(comma, list) : NULL;
    if (all) py_fail(HOLO_BAD_ARGUMENT, "the model has no %s %R; it has %U", kind, name, all);
    Py_XDECREF(list);
    Py_XDECREF(comma);
    Py_XDECREF(all);
    return -1;
}

static int port_find(const char *kind, PyObject *name, const PyPort *ports, int count)
{
    for (int i = 0; i < count; i++)
        if (ports[i].name == name) return i;
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "names of %ss are str, not %R", kind, name);
        return -1;
    }
    for (int i = 0; i < count; i++)
        if (!PyUnicode_Compare(ports[i].name, name)) return i;
    return names_fail(kind, name, ports, count);
}

static int inputs_by_name(Run *run, PyObject *dict)
{
    PyObject  *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &name, &value)) {
        int index = port_find("input", name, run->model->in, run->model->in_count);
        if (index < 0 || input_add(run, index, value)) return -1;
    }
    return 0;
}

static int inputs_by_place(Run *run, PyObject *args)
{
    Py_ssize_t count = PyTuple_Size(args);
    if (count > run->model->in_count)
        return PyErr_Format(PyExc_TypeError, "the model has %d inputs, but %zd are given", run->model->in_count, count),
               -1;
    for (Py_ssize_t i = 0; i < count; i++)
        if (input_add(run, (int)i, PyTuple_GetItem(args, i))) return -1;
    return 0;
}

// A session remembers its inputs: each run gives all of them.
static int inputs_complete(Run *run)
{
    for (int i = 0; i < run->model->in_count; i++) {
        const PyPort *port     = &run->model->in[i];
        bool          is_given = false;
        for (int k = 0; k < run->in_count && !is_given; k++) is_given = run->in[k].index == i;
        if (is_given || (port->port->optional && !run->session)) continue;
        if (!port->port->optional) return py_fail(HOLO_BAD_INPUT, "%s is missing", port->what);
        if (input_add(run, i, Py_None)) return -1;
    }
    return 0;
}

// ---- outputs

// The shape of an output, by the sizes of the inputs; false: it does not follow from them.
static bool shape_known(const Run *run, const PyPort *port, HoloTensor *out)
{
    *out = port->port->type;
    for (int d = 0; d < out->rank && port->is_known; d++) {
        if (port->from_input[d] < 0) continue;
        const HoloTensor *from = NULL;
        for (int i = 0; i < run->in_count; i++)
            if (run->in[i].index == port->from_input[d]) from = &run->in[i].tensor;
        if (!from || from->kind != HOLO_TENSOR || from->rank <= port->from_dim[d]) return false;
        out->dim[d] = from->dim[port->from_dim[d]];
    }
    return port->is_known;
}

static int output_add(Run *run, int index, PyObject *given)
{
    const PyPort  *port  = &run->model->out[index];
    HoloRunOutput *out   = &run->out[run->out_count];
    Out           *o     = &run->outs[run->out_count];
    HoloDtype      dtype = (HoloDtype)port->port->type.dtype;
    *o                   = (Out){.port = port};
    *out                 = (HoloRunOutput){.index = index};
    for (int i = 0; i < run->out_count; i++)
        if (run->outs[i].port == port) return py_fail(HOLO_BAD_ARGUMENT, "%s is asked for twice", port->what);
    run->out_count++;
    if (given) {
        o->held.may_be_there = run->session != NULL;
        if (py_take_writable(given, dtype, port->what, &o->view, &o->held)) return -1;
        Py_INCREF(given);
        o->array    = given;
        o->is_given = true;
    } else if (port->shape) {
        o->array = py_array_empty(dtype, port->shape, &port->port->type, &o->view, &o->held);
    } else {
        HoloTensor type;
        if (!shape_known(run, port, &type)) return 0;
        PyObject *shape = py_shape_tuple(type.rank, type.dim);
        o->array        = shape ? py_array_empty(dtype, shape, &type, &o->view, &o->held) : NULL;
        Py_XDECREF(shape);
    }
    out->data = o->view.data;
    out->size = holo_tensor_bytes(&o->view);
    return o->array ? 0 : -1;
}

static int outputs_add(Run *run, PyObject *names, PyObject *given)
{
    int count, status = 0;
    if (given && !PyDict_Check(given))
        return PyErr_SetString(PyExc_TypeError, "`out` is a dict: names of outputs, and arrays to write to"), -1;
    if (!names && !given) {
        for (int i = 0; i < run->model->out_count && !status; i++) status = output_add(run, i, NULL);
        return status;
    }
    PyObject *list = names ? PySequence_List(names) : NULL;
    if (names && PyUnicode_Check(names))
        return Py_XDECREF(list), PyErr_SetString(PyExc_TypeError, "`outputs` is a list of names"), -1;
    if (names && !list) return -1;
    count = list ? (int)PyList_Size(list) : run->model->out_count;
    if (count > run->model->out_count)
        status =
            py_fail(HOLO_BAD_ARGUMENT, "the model has %d outputs, but %d are asked for", run->model->out_count, count);
    for (int i = 0; i < count && !status; i++) {
        PyObject *name  = list ? PyList_GetItem(list, i) : run->model->out[i].name;
        int       index = list ? port_find("output", name, run->model->out, run->model->out_count) : i;
        PyObject *array = given && index >= 0 ? PyDict_GetItemWithError(given, run->model->out[index].name) : NULL;
        status          = index < 0 || PyErr_Occurred() ? -1 : output_add(run, index, array);
    }
    Py_XDECREF(list);
    PyObject  *name, *value;
    Py_ssize_t at = 0;
    while (!status && given && PyDict_Next(given, &at, &name, &value))
        if (port_find("output", name, run->model->out, run->model->out_count) < 0) status = -1;
    return status;
}

// ---- the run itself, without the GIL

static HoloStatus run_model(Run *run, HoloModel *model, int *flag)
{
    HoloRunOptions options = {.size = sizeof options, .time_limit = run->timeout, .cancel = flag};
    return holo_model_run(model, run->in, run->in_count, run->out, run->out_count, &options, &run->error);
}

// Arrays on a GPU come and go in the order of CUDA's default stream, as DLPack has it.
static HoloStatus stream_use(const Run *run, HoloSession *session, bool begins, HoloError *error)
{
    static char *const default_stream = (char *)1; // CU_STREAM_LEGACY
    bool               any            = false;
    for (int i = 0; i < run->in_count; i++) any = any || run->in_held[i].is_there;
    for (int i = 0; i < run->out_count; i++) any = any || run->outs[i].held.is_there;
    return any ? holo_session_set_stream(session, begins ? default_stream : NULL, !begins, error) : HOLO_OK;
}

static HoloStatus input_set(HoloSession *session, const HoloRunInput *in, const Held *held, HoloError *error)
{
    return held->is_there ? holo_session_set_device_input(session, in->index, &in->tensor, error)
                          : holo_session_set_input(session, in->index, &in->tensor, error);
}

static HoloStatus run_session(Run *run, HoloSession *session)
{
    HoloError *error  = &run->error;
    HoloStatus status = stream_use(run, session, true, error);
    if (!status && run->timeout > 0) status = holo_session_set_time_limit(session, run->timeout, error);
    for (int i = 0; !status && i < run->in_count; i++)
        status = input_set(session, &run->in[i], &run->in_held[i], error);
    for (int i = 0; !status && i < run->model->out_count; i++) {
        const HoloRunOutput *out      = NULL;
        bool                 is_there = false;
        for (int k = 0; k < run->out_count; k++)
            if (run->out[k].index == i) out = &run->out[k], is_there = run->outs[k].held.is_there;
        if (run->model->out[i].port->type.kind != HOLO_TENSOR || run->model->out[i].port->type.dtype == HOLO_STRING)
            continue;
        status = is_there ? holo_session_set_device_output(session, i, out->data, out->size, error)
                          : holo_session_set_output(session, i, out ? out->data : NULL, out ? out->size : 0, error);
    }
    if (!status) status = holo_session_run(session, error);
    HoloError  ignored = {0};
    HoloStatus ended   = stream_use(run, session, false, status ? &ignored : error);
    if (!status) status = ended;
    for (int i = 0; !status && i < run->out_count; i++)
        status = holo_session_output(session, run->out[i].index, &run->out[i].tensor, error);
    if (run->timeout > 0 && holo_session_set_time_limit(session, 0, NULL) && !status) status = HOLO_BUSY;
    return status;
}

static void session_stop(void *session)
{
    holo_session_cancel(session);
}

static int run_do(Run *run)
{
    int    own  = 0, again;
    PyCall call = {.flag = run->cancel ? &run->cancel->flag : &own};
    if (run->session) call = (PyCall){.stop = session_stop, .object = run->pointer};
    HoloStatus status;
    if (run->model->is_long) py_interrupt_watch(); // somebody may have set another handler since
    do {
        py_error_init(&run->error);
        py_call_begin(&call);
        status = run->session ? run_session(run, run->pointer) : run_model(run, run->pointer, call.flag);
        py_call_end(&call);
        again = py_call_again(&call, status);
    } while (again > 0);
    if (again < 0) return !status && !run->session ? (holo_run_outputs_free(run->out, run->out_count), -1) : -1;
    if (status) py_raise(status, &run->error);
    return status ? -1 : 0;
}

// ---- what comes back

static bool has_shape(const HoloTensor *a, const HoloTensor *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i];
    return same;
}

static PyObject *output_get(Run *run, int i)
{
    Out           *o   = &run->outs[i];
    HoloRunOutput *out = &run->out[i];
    if (!o->array) return run->session ? py_value_copy(&out->tensor) : py_value_from(out);
    if (!has_shape(&out->tensor, &o->view)) {
        PyObject *is  = py_shape_tuple(out->tensor.rank, out->tensor.dim),
                 *was = py_shape_tuple(o->view.rank, o->view.dim);
        if (is && was)
            py_fail(HOLO_BAD_ARGUMENT, "%s has the shape %R, but the array to write it to has %R", o->port->what, is,
                    was);
        Py_XDECREF(is);
        Py_XDECREF(was);
        return NULL;
    }
    PyObject *array = o->array;
    o->array        = NULL;
    py_held_release(&o->held);
    return o->is_given ? array : py_array_finish(array, (HoloDtype)o->port->port->type.dtype);
}

static PyObject *as_dict(Run *run)
{
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < run->out_count; i++) {
        PyObject *value = output_get(run, i);
        if (!value || PyDict_SetItem(dict, run->outs[i].port->name, value)) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *as_tuple(Run *run)
{
    if (run->out_count == 1) return output_get(run, 0);
    PyObject *tuple = PyTuple_New(run->out_count);
    for (int i = 0; tuple && i < run->out_count; i++) {
        PyObject *value = output_get(run, i);
        if (!value || PyTuple_SetItem(tuple, i, value)) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *run_finish(Run *run, int status, PyObject *(*give)(Run *))
{
    PyObject *result  = NULL;
    Session  *session = run->session;
    if (!status && session && session->is_running)
        status = py_fail(HOLO_BUSY, "another thread is using this session: give each thread one, or run the model");
    if (!status && session) session->is_running = true;
    if (!status) {
        status = run_do(run);
        if (!status) result = give(run);
        if (session) session->is_running = false;
        if (!status && !session && !result) holo_run_outputs_free(run->out, run->out_count);
    }
    run_end(run);
    return result;
}

PyObject *py_run_call(Model *model, Session *session, PyObject *args, PyObject *kwargs)
{
    Run run;
    int status = run_init(&run, model, session);
    if (!status) status = inputs_by_place(&run, args);
    if (!status && kwargs) status = inputs_by_name(&run, kwargs);
    if (!status) status = inputs_complete(&run);
    if (!status) status = outputs_add(&run, NULL, NULL);
    return run_finish(&run, status, as_tuple);
}

const char py_run_doc[] =
    "run(inputs, outputs=None, *, out=None, timeout=None, cancel=None)\n\n"
    "Runs on a dict of arrays and gives a dict of arrays. `outputs`: names of those that are wanted, else all. `out`: a dict of\n"
    "arrays to write outputs to. `timeout`: seconds that it may take. `cancel`: a Cancel, to stop it from another thread.";

static int options_read(Run *run, PyObject *timeout, PyObject *cancel)
{
    if (timeout != Py_None) run->timeout = PyFloat_AsDouble(timeout);
    if (PyErr_Occurred()) return -1;
    if (!(run->timeout >= 0)) return py_fail(HOLO_BAD_ARGUMENT, "a timeout is a number of seconds from 0 on");
    if (cancel == Py_None) return 0;
    if (!PyObject_TypeCheck(cancel, py_cancel_type))
        return PyErr_SetString(PyExc_TypeError, "`cancel` is a hologram.Cancel"), -1;
    if (run->session) return py_fail(HOLO_BAD_ARGUMENT, "a session is stopped by its method cancel()");
    run->cancel = (Cancel *)cancel;
    return 0;
}

PyObject *py_run_method(Model *model, Session *session, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"inputs", "outputs", "out", "timeout", "cancel", NULL};
    PyObject    *inputs, *outputs = Py_None, *out = Py_None, *timeout = Py_None, *cancel = Py_None;
    Run          run;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O$OOO:run", names, &inputs, &outputs, &out, &timeout, &cancel))
        return NULL;
    PyObject *dict = inputs;
    if (PyDict_Check(inputs)) {
        Py_INCREF(dict);
    } else if (!PyObject_HasAttrString(inputs, "keys")) {
        return PyErr_SetString(PyExc_TypeError,
                               "run takes a dict of inputs by name; to give them by place, call the model: model(x)"),
               NULL;
    } else {
        dict = PyDict_New();
        if (dict && PyDict_Update(dict, inputs)) Py_CLEAR(dict);
        if (!dict) return NULL;
    }
    int status = run_init(&run, model, session);
    if (!status) status = options_read(&run, timeout, cancel);
    if (!status) status = inputs_by_name(&run, dict);
    if (!status) status = inputs_complete(&run);
    if (!status) status = outputs_add(&run, outputs == Py_None ? NULL : outputs, out == Py_None ? NULL : out);
    PyObject *result = run_finish(&run, status, as_dict);
    Py_DECREF(dict);
    return result;
}
