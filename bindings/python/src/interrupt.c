// interrupt.c - Ctrl-C stops what the library does for the main thread.
//
// While the library works, no Python code runs: Python's handler of the signal only notes it. So ours comes before Python's: it
// stops the call in progress, if that is one of the main thread, and then has Python's do what it does. The call ends, the
// handler written in Python runs, and what that raises is raised.
#include "pyholo.h"

#include <pthread.h>
#include <signal.h>

static struct sigaction python_action;
static pthread_t        main_thread;
static PyCall *volatile current; // of the main thread

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (!pthread_equal(pthread_self(), main_thread)) { // which alone may look at its call
        pthread_kill(main_thread, number);
        return;
    }
    PyCall *call = current;
    if (call) {
        call->was_interrupted = true;
        if (call->flag) *(volatile int *)call->flag = 1;
        if (call->stop) call->stop(call->object);
    }
    if (python_action.sa_flags & SA_SIGINFO)
        python_action.sa_sigaction(number, info, context);
    else
        python_action.sa_handler(number);
}

void py_interrupt_watch(void)
{
    struct sigaction now;
    if (!pthread_equal(pthread_self(), main_thread) || sigaction(SIGINT, NULL, &now)) return;
    bool is_plain = !(now.sa_flags & SA_SIGINFO);
    if (!is_plain && now.sa_sigaction == on_signal) return;
    if (is_plain && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
        return; // nobody waits for KeyboardInterrupt
    python_action = now;
    now.sa_flags |= SA_SIGINFO;
    now.sa_sigaction = on_signal;
    sigaction(SIGINT, &now, NULL);
}

void py_call_begin(PyCall *call)
{
    call->was_interrupted = false;
    call->is_main         = pthread_equal(pthread_self(), main_thread);
    if (call->is_main) {
        call->outer = current;
        current     = call;
    }
    call->thread = PyEval_SaveThread();
}

void py_call_end(PyCall *call)
{
    PyEval_RestoreThread(call->thread);
    if (call->is_main) current = call->outer;
}

int py_call_again(PyCall *call, HoloStatus status)
{
    if (!call->was_interrupted) return 0;
    if (call->flag) *call->flag = 0;
    if (PyErr_CheckSignals()) return -1;
    return status == HOLO_CANCELLED;
}

// ---- Cancel

PyTypeObject *py_cancel_type;

static PyObject *cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    __atomic_store_n(&((Cancel *)self)->flag, 1, __ATOMIC_SEQ_CST);
    Py_RETURN_NONE;
}

static PyObject *get_cancelled(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((Cancel *)self)->flag);
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type    = Py_TYPE(self);
    freefunc      free_it = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_it(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"cancel", cancel, METH_NOARGS, "Stops the runs that have it, from any thread: they raise CancelledError."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"cancelled", get_cancelled, NULL, "whether cancel() was called", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Cancel()\n\nGive one to Model.run to stop the run from another thread."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {0, NULL},
};

static PyType_Spec spec = {"hologram.Cancel", sizeof(Cancel), 0, Py_TPFLAGS_DEFAULT, slots};

// A process that was forked goes on with the thread that did it.
static void forked(void)
{
    main_thread = pthread_self();
    current     = NULL;
}

// The thread that Python runs signals' handlers on; another one may be the first to import this.
static int main_find(void)
{
    PyObject *threading = PyImport_ImportModule("threading"), *main = NULL, *ident = NULL;
    if (threading) main = PyObject_CallMethod(threading, "main_thread", NULL);
    if (main) ident = PyObject_GetAttrString(main, "ident");
    main_thread = ident && ident != Py_None ? (pthread_t)PyLong_AsUnsignedLong(ident) : pthread_self();
    Py_XDECREF(threading);
    Py_XDECREF(main);
    Py_XDECREF(ident);
    return PyErr_Occurred() ? -1 : 0;
}

int py_interrupt_init(PyObject *module)
{
    if (main_find()) return -1;
    pthread_atfork(NULL, NULL, forked);
    py_cancel_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!py_cancel_type) return -1;
    Py_INCREF(py_cancel_type);
    return PyModule_AddObject(module, "Cancel", (PyObject *)py_cancel_type);
}
