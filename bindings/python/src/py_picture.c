// py_picture.c - pictures of texts, step by step: Model.imagine. Steps are runs without the GIL.
#include "pyholo.h"

static PyObject *defaults(PyObject *module, PyObject *model)
{
    HoloImagineOptions options;
    (void)module;
    HoloModel *of = py_handle_use(model, &py_kind_model);
    if (!of) return NULL;
    bool can = holo_imagine_can(of);
    if (can) holo_imagine_defaults(of, &options);
    PyObject *dict = can ? py_fields_dict(bind_imagine_options, &options) : Py_BuildValue("");
    PyObject *name = can && dict ? PyUnicode_FromString(options.scheduler) : NULL;
    if (can && (!name || PyDict_SetItemString(dict, "scheduler", name))) Py_CLEAR(dict);
    Py_XDECREF(name);
    py_handle_done(model);
    return dict;
}

static PyObject *create(PyObject *class, PyObject *args)
{
    PyObject          *model, *pool, *dict, *self = NULL;
    const char        *prompt, *negative, *scheduler;
    HoloImagineOptions options;
    HoloPicture       *picture;
    HoloStatus         status = HOLO_OK;
    HoloError          error  = {0};
    PyCall             call   = {0};
    if (!PyArg_ParseTuple(args, "O!OszzO!:imagine", py_model_type, &model, &pool, &prompt, &negative, &scheduler,
                          &PyDict_Type, &dict))
        return NULL;
    HoloModel *of = py_handle_use(model, &py_kind_model);
    if (!of) return NULL;
    if (pool == Py_None) pool = ((Model *)model)->pool; // as its runs
    HoloPool *on = pool ? py_handle_use(pool, &py_kind_pool) : NULL;
    if (pool && !on) return py_handle_done(model), NULL;
    holo_imagine_defaults(of, &options);
    bool is_read   = !py_fields_take(dict, bind_imagine_options, &options);
    options.prompt = prompt;
    options.pool   = on;
    if (negative) options.negative = negative;
    if (scheduler) options.scheduler = scheduler;
    if (is_read) {
        py_call_begin(&call);
        status = holo_picture_create(of, &options, &picture, &error);
        py_call_end(&call);
        self = status ? py_raise(status, &error) : py_handle_create((PyTypeObject *)class, &py_kind_picture, picture);
    }
    if (self && (py_handle_keep(self, model) || (on && py_handle_keep(self, pool)))) Py_CLEAR(self);
    py_handle_done(model);
    if (on) py_handle_done(pool);
    return self;
}

static PyObject *step(PyObject *self, PyObject *unused)
{
    bool         is_done = false;
    HoloError    error   = {0};
    PyCall       call    = {0};
    HoloPicture *picture = py_handle_use_alone(self, &py_kind_picture);
    (void)unused;
    if (!picture) return NULL;
    py_call_begin(&call);
    HoloStatus status = holo_picture_step(picture, &is_done, &error);
    py_call_end(&call);
    py_handle_done(self);
    return status ? py_raise(status, &error) : PyBool_FromLong(is_done);
}

static PyObject *see(PyObject *self, PyObject *unused)
{
    HoloTensor   image   = {0};
    HoloError    error   = {0};
    PyCall       call    = {0};
    HoloPicture *picture = py_handle_use_alone(self, &py_kind_picture);
    (void)unused;
    if (!picture) return NULL;
    py_call_begin(&call);
    HoloStatus status = holo_picture_see(picture, &image, &error);
    py_call_end(&call);
    py_handle_done(self);
    PyObject *answer = status ? py_raise(status, &error) : py_value_copy(&image);
    holo_image_free(&image);
    return answer;
}

static PyMethodDef methods[] = {
    {"_create", create, METH_VARARGS | METH_CLASS, NULL},
    {"step", step, METH_NOARGS, "Takes one step; whether it was the last one."},
    {"see", see, METH_NOARGS, "The picture so far."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A picture that is made."},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {"hologram._hologram.PictureWork", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, slots};

static PyMethodDef function = {"imagine_defaults", defaults, METH_O,
                               "imagine_defaults(model): a dict; None: it makes no pictures."};

int py_picture_init(PyObject *module)
{
    if (py_function_add(module, &function)) return -1;
    return py_handle_subtype(module, &spec) ? 0 : -1;
}
