// py_speech.c - speech to text: Model.transcribe.
#include "pyholo.h"

#include <stdlib.h>

typedef struct Piece {
    double begin, end;
    char  *text;
    size_t size;
} Piece;

typedef struct Heard { // what was said; made without the GIL
    Piece *piece;
    size_t count, room;
    bool   failed;
} Heard;

static bool each(void *state, const HoloSpoken *spoken)
{
    Heard *h    = state;
    char  *text = malloc(spoken->text.size + 1);
    if (h->count == h->room) {
        size_t room = h->room * 2 + 64;
        Piece *more = realloc(h->piece, room * sizeof *more);
        if (more) h->piece = more, h->room = room;
    }
    h->failed = !text || h->count == h->room;
    if (h->failed) return free(text), false;
    memcpy(text, spoken->text.data, spoken->text.size);
    h->piece[h->count++] = (Piece){spoken->begin, spoken->end, text, spoken->text.size};
    return true;
}

static PyObject *pieces_from(const Heard *h)
{
    PyObject *list = PyList_New((Py_ssize_t)h->count);
    for (size_t i = 0; list && i < h->count; i++) {
        const Piece *p    = &h->piece[i];
        PyObject    *item = Py_BuildValue("ddN", p->begin, p->end, py_text_from((HoloString){p->text, p->size}));
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item)) Py_CLEAR(list);
    }
    return list;
}

static void heard_clear(Heard *h)
{
    for (size_t i = 0; i < h->count; i++) free(h->piece[i].text);
    h->count = 0;
}

static void stop(void *language)
{
    holo_language_cancel(language);
}

// The samples of a sound as an array; they are freed.
static PyObject *samples_give(float *samples, size_t count)
{
    HoloTensor view   = {.dtype = HOLO_F32, .rank = 1, .dim = {(int64_t)count}, .data = samples};
    PyObject  *answer = py_value_copy(&view);
    holo_samples_free(samples);
    return answer;
}

static PyObject *sound_read(PyObject *module, PyObject *args)
{
    PyObject *path;
    int       rate;
    float    *samples;
    size_t    count;
    HoloError error = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O&i:sound_read", PyUnicode_FSConverter, &path, &rate)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    HoloStatus     status = holo_sound_read(PyBytes_AsString(path), rate, &samples, &count, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(path);
    return status ? py_raise(status, &error) : samples_give(samples, count);
}

static PyObject *sound_read_memory(PyObject *module, PyObject *args)
{
    const char *bytes;
    Py_ssize_t  size;
    int         rate;
    float      *samples;
    size_t      count;
    HoloError   error = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "y#i:sound_read_memory", &bytes, &size, &rate)) return NULL;
    HoloStatus status = holo_sound_read_memory(bytes, (size_t)size, rate, &samples, &count, &error);
    return status ? py_raise(status, &error) : samples_give(samples, count);
}

static PyObject *transcribe(PyObject *module, PyObject *args)
{
    PyObject             *object, *array, *answer = NULL;
    HoloTranscribeOptions options = {.size = sizeof options};
    HoloTranscribeResult  result  = {0};
    int                   translate, timestamps, again = 1;
    HoloTensor            samples;
    Held                  held   = {0};
    HoloError             error  = {0};
    HoloStatus            status = HOLO_OK;
    HoloPort              port   = {.name = "samples", .type = {.dtype = HOLO_F32, .rank = 1, .dim = {-1}}};
    Heard                 heard  = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OOzpp:transcribe", &object, &array, &options.language, &translate, &timestamps))
        return NULL;
    options.translate  = translate;
    options.timestamps = timestamps;
    if (py_take(array, &port, "samples", &samples, &held)) return NULL;
    HoloLanguage *language = py_handle_use_alone(object, &py_kind_language);
    PyCall        call     = {.stop = stop, .object = language};
    while (language && again > 0) {
        heard_clear(&heard);
        py_call_begin(&call);
        status = holo_transcribe(language, samples.data, (size_t)holo_tensor_count(&samples), &options, each, &heard,
                                 &result, &error);
        py_call_end(&call);
        again = py_call_again(&call, status);
    }
    py_held_release(&held);
    if (language) py_handle_done(object);
    if (language && !again && heard.failed)
        PyErr_NoMemory();
    else if (language && !again && status)
        py_raise(status, &error);
    if (!PyErr_Occurred()) answer = Py_BuildValue("sdN", result.language, result.sound_seconds, pieces_from(&heard));
    heard_clear(&heard);
    free(heard.piece);
    return answer;
}

static PyMethodDef functions[] = {
    {"sound_read", sound_read, METH_VARARGS, "sound_read(path, rate): the samples of a WAV file at a rate."},
    {"sound_read_memory", sound_read_memory, METH_VARARGS, "sound_read_memory(bytes, rate): the same of bytes."},
    {"transcribe", transcribe, METH_VARARGS,
     "transcribe(language, samples, code, translate, timestamps): what is said."},
};

int py_speech_init(PyObject *module)
{
    for (int i = 0; i < PY_COUNT(functions); i++)
        if (py_function_add(module, &functions[i])) return -1;
    return 0;
}
