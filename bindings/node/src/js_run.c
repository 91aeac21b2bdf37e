// js_run.c - runs of models and of sessions: at once, on the caller's thread, or on a thread of Node's pool.
#include "addon.h"
#include "made.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { INLINE = 8, PORTS_MAX = 1 << 16 };

typedef struct Job {
    JsTask         task;
    JsHolder      *holder; // a model or a session
    JsPiece       *pieces;
    HoloRunInput  *inputs;
    HoloRunOutput *outputs;
    int            input_count, output_count;
    HoloRunOptions options;
    atomic_bool    is_over, is_cancelled; // of a session
    HoloRunInput   inline_inputs[INLINE]; // from here on not zeroed
    HoloRunOutput  inline_outputs[INLINE];
} Job;

static void       job_run(JsTask *task);
static napi_value job_result(napi_env env, JsTask *task);
static void       job_destroy(napi_env env, JsTask *task);

static void job_init(Job *job)
{
    memset((char *)job + sizeof job->task, 0, offsetof(Job, inline_inputs) - sizeof job->task);
    js_task_init(&job->task, job_run, job_result, job_destroy);
}

static void job_deinit(napi_env env, Job *job)
{
    if (job->holder && job->holder->kind == JS_HoloModel && atomic_load(&job->is_over) && !job->task.status)
        holo_run_outputs_free(job->outputs, job->output_count);
    js_pieces_free(&job->pieces);
    js_holder_unref(job->holder);
    js_task_deinit(env, &job->task);
}

// ---- what a run reads

static bool count_read(JsReader *reader, int *out)
{
    double count;
    if (!js_read_number(reader, &count)) return false;
    if (!(count >= 0 && count <= PORTS_MAX)) return js_throw_argument(reader->env, "too many inputs or outputs");
    *out = (int)count;
    return true;
}

static bool input_read(JsReader *reader, HoloRunInput *input)
{
    double index;
    if (!js_read_number(reader, &index)) return false;
    input->name  = NULL;
    input->index = (int)index;
    return js_tensor_read(reader, &input->tensor);
}

static bool output_read(JsReader *reader, HoloRunOutput *output)
{
    double index, has_memory;
    if (!js_read_number(reader, &index) || !js_read_number(reader, &has_memory)) return false;
    *output = (HoloRunOutput){.index = (int)index};
    return has_memory == 0 || js_memory_read(reader, &output->data, &output->size);
}

// A run is, in the block: its time limit in seconds, whether it can be cancelled (then the first array is the flag), how many
// inputs and outputs it has, for each input its index and value, for each output its index and whether it has an array.
static bool job_read(JsReader *reader, Job *job)
{
    double can_cancel;
    job->options.size = sizeof job->options;
    if (!js_read_number(reader, &job->options.time_limit) || !js_read_number(reader, &can_cancel)) return false;
    if (can_cancel != 0) {
        void  *flag;
        size_t size;
        if (!js_memory_read(reader, &flag, &size)) return false;
        if (size < sizeof(int)) return js_throw_argument(reader->env, "the flag must be an Int32Array");
        job->options.cancel = flag;
    }
    if (!count_read(reader, &job->input_count) || !count_read(reader, &job->output_count)) return false;
    job->inputs  = job->inline_inputs;
    job->outputs = job->inline_outputs;
    if (job->input_count > INLINE) job->inputs = js_piece(&job->pieces, (size_t)job->input_count * sizeof *job->inputs);
    if (job->output_count > INLINE)
        job->outputs = js_piece(&job->pieces, (size_t)job->output_count * sizeof *job->outputs);
    if (!job->inputs || !job->outputs) return js_throw(reader->env, HOLO_NO_MEMORY, "");
    for (int i = 0; i < job->input_count; i++)
        if (!input_read(reader, &job->inputs[i])) return false;
    for (int i = 0; i < job->output_count; i++)
        if (!output_read(reader, &job->outputs[i])) return false;
    return true;
}

// The model or the session of a handle, that the run needs until its end.
static bool job_take(napi_env env, napi_value handle, Job *job)
{
    double    number = 0;
    JsHolder *holder = NULL;
    if (!napi_get_value_double(env, handle, &number)) holder = js_handle_find(env, number);
    if (!holder || (holder->kind != JS_HoloModel && holder->kind != JS_HoloSession))
        return js_throw_argument(env, "the model or session is closed");
    if (holder->job)
        return js_throw(env, HOLO_BUSY, "the session is in the middle of a run: wait for that one's promise");
    js_holder_ref(holder);
    job->holder = holder;
    return true;
}

// ---- a run of a session, on any thread

static const HoloModel *model_of(const JsHolder *session)
{
    return session->needs[0]->object;
}

// Inputs that are not given keep nothing of an earlier run.
static HoloStatus session_set_inputs(Job *job)
{
    HoloSession     *session = job->holder->object;
    const HoloModel *model   = model_of(job->holder);
    for (int i = 0; i < job->input_count; i++)
        if (holo_session_set_input(session, job->inputs[i].index, &job->inputs[i].tensor, &job->task.error))
            return job->task.error.status;
    for (int i = 0; job->input_count < holo_model_input_count(model) && i < holo_model_input_count(model); i++) {
        const HoloPort *port     = holo_model_input(model, i);
        bool            is_given = false;
        for (int k = 0; k < job->input_count; k++) is_given |= job->inputs[k].index == i;
        if (is_given || !port->optional) continue;
        HoloTensor none = port->type;
        none.rank       = 1;
        none.dim[0]     = 0;
        none.data       = NULL;
        if (holo_session_set_input(session, i, &none, &job->task.error)) return job->task.error.status;
    }
    return HOLO_OK;
}

static HoloStatus session_set_outputs(Job *job)
{
    HoloSession *session = job->holder->object;
    int          count   = holo_model_output_count(model_of(job->holder));
    for (int i = 0; i < count; i++)
        if (holo_session_set_output(session, i, NULL, 0, &job->task.error)) return job->task.error.status;
    for (int i = 0; i < job->output_count; i++) {
        const HoloRunOutput *out = &job->outputs[i];
        if (out->data && holo_session_set_output(session, out->index, out->data, out->size, &job->task.error))
            return job->task.error.status;
    }
    return HOLO_OK;
}

static HoloStatus session_run(Job *job)
{
    HoloSession *session = job->holder->object;
    HoloStatus   status  = holo_session_set_time_limit(session, job->options.time_limit, &job->task.error);
    if (!status) status = session_set_inputs(job);
    if (!status) status = session_set_outputs(job);
    if (!status) status = holo_session_run(session, &job->task.error);
    if (status == HOLO_CANCELLED && job->holder->was_cancelled_late && !atomic_load(&job->is_cancelled)) {
        job->task.error = (HoloError){0}; // it was the run before that was meant, and that was over
        status          = holo_session_run(session, &job->task.error);
    }
    for (int i = 0; !status && i < job->output_count; i++) // views, which hold until the next run
        status = holo_session_output(session, job->outputs[i].index, &job->outputs[i].tensor, &job->task.error);
    return status;
}

static void job_run(JsTask *task)
{
    Job *job = (Job *)task;
    if (job->holder->kind == JS_HoloSession)
        task->status = session_run(job);
    else
        task->status = holo_model_run(job->holder->object, job->inputs, job->input_count, job->outputs,
                                      job->output_count, &job->options, &task->error);
    atomic_store(&job->is_over, true);
}

// ---- what it gives

// The outputs in the block, and the arrays of those that had none.
static napi_value job_result(napi_env env, JsTask *task)
{
    Job     *job           = (Job *)task;
    JsWriter writer        = {.env = env, .state = js_env(env), .at = 1};
    writer.state->block[0] = 0;
    for (int i = 0; i < job->output_count; i++) {
        HoloRunOutput *out = &job->outputs[i];
        if (!js_tensor_write(&writer, &out->tensor, out, out->data != NULL)) return NULL;
    }
    return js_writer_end(&writer);
}

// run(handle, arrays): the arrays of outputs; the rest is in the block.
static napi_value run(napi_env env, napi_callback_info info)
{
    Job        job;
    JsReader   reader;
    napi_value args[2], result = NULL;
    job_init(&job);
    if (js_args(env, info, 2, args) && job_take(env, args[0], &job) &&
        js_reader_open(env, args[1], &job.pieces, &reader) && job_read(&reader, &job)) {
        job_run(&job.task);
        result = job.task.status ? js_throw(env, job.task.status, job.task.error.text) : job_result(env, &job.task);
    }
    job_deinit(env, &job);
    return result;
}

// ---- on another thread

static void job_destroy(napi_env env, JsTask *task)
{
    Job *job = (Job *)task;
    if (job->holder && job->holder->job == job) {
        job->holder->job                = NULL;
        job->holder->was_cancelled_late = atomic_load(&job->is_cancelled) && task->status != HOLO_CANCELLED;
    }
    job_deinit(env, job);
    free(job);
}

// start(handle, arrays, callback): the same on another thread, and then callback(error or null, arrays).
static napi_value start(napi_env env, napi_callback_info info)
{
    JsReader   reader;
    napi_value args[3];
    Job       *job = malloc(sizeof *job);
    if (!job) return js_throw(env, HOLO_NO_MEMORY, "");
    job_init(job);
    if (js_args(env, info, 3, args) && job_take(env, args[0], job) &&
        js_reader_open(env, args[1], &job->pieces, &reader)) {
        reader.is_copied = true;
        if (job_read(&reader, job) && js_task_queue(env, &job->task, args[1], args[2])) {
            if (job->holder->kind == JS_HoloSession) job->holder->job = job;
            return NULL;
        }
    }
    job_destroy(env, &job->task);
    return NULL;
}

// cancel(handle): the run of a session that is in progress stops. Runs of models have a flag instead.
static napi_value cancel(napi_env env, napi_callback_info info)
{
    napi_value arg;
    double     handle = 0;
    if (!js_args(env, info, 1, &arg) || napi_get_value_double(env, arg, &handle)) return NULL;
    JsHolder *holder = js_handle_find(env, handle);
    if (!holder || holder->kind != JS_HoloSession) return NULL;
    Job *job = holder->job;
    if (!job || atomic_load(&job->is_over)) return NULL;
    atomic_store(&job->is_cancelled, true);
    holo_session_cancel(holder->object);
    return NULL;
}

const JsFunction js_functions_run[] = {
    {"run", run},
    {"start", start},
    {"cancel", cancel},
    {NULL, NULL},
};
