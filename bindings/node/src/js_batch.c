// js_batch.c - several texts that one model continues at once: each step is one run on another thread.
//
// Behind a handle of a batch is a BindBatch. What a step tells stays there until JavaScript has it.
#include "addon.h"
#include "js_made.h"
#include "made.h"

#include <stdlib.h>

static void let_go(void *grammar)
{
    js_holder_unref(grammar);
}

// batch_open(model, pool, options): a handle.
static napi_value open_batch(napi_env env, napi_callback_info info)
{
    napi_value           args[3];
    JsHolder            *model, *pool;
    BindBatch           *batch;
    HoloTextBatchOptions options = {.size = sizeof options};
    HoloError            error   = {0};
    // Reading options may run JavaScript, so that comes first.
    if (!js_args(env, info, 3, args) || !js_fields_read(env, args[2], bind_batch_options, &options) ||
        !js_holder_get(env, args[0], JS_HoloModel, false, &model) ||
        !js_holder_get(env, args[1], JS_HoloPool, true, &pool))
        return NULL;
    HoloStatus status = bind_batch_create(model->object, pool ? pool->object : NULL, &options, let_go, &batch, &error);
    if (status) return js_throw(env, status, error.text);
    return js_object(env, JS_HoloTextBatch, batch, (JsHolder *[]){model, pool}, 2, NULL);
}

// The batch, for a call between steps.
static bool batch_get(napi_env env, napi_value value, JsHolder **out)
{
    if (!js_holder_get(env, value, JS_HoloTextBatch, false, out)) return false;
    return !(*out)->job || js_throw(env, HOLO_BUSY, "the batch is running: wait for its promise");
}

// batch_add(batch, ids, options, stops, grammar): the id of a new text, which keeps the grammar until it has ended.
static napi_value add(napi_env env, napi_callback_info info)
{
    napi_value          args[5], result = NULL;
    JsHolder           *batch, *grammar;
    void               *ids;
    size_t              count;
    uint64_t            id;
    JsPiece            *pieces = NULL;
    HoloGenerateOptions options;
    HoloError           error = {0};
    if (!js_args(env, info, 5, args) || !batch_get(env, args[0], &batch)) return NULL;
    holo_generate_defaults(holo_text_batch_language(((BindBatch *)batch->object)->batch), &options);
    // These may run JavaScript, which may close what was given, take the ids away, or begin a step: it is looked at again.
    if (js_fields_read(env, args[2], bind_generate_options, &options) &&
        js_stops_read(env, args[3], &pieces, &options) && batch_get(env, args[0], &batch) &&
        js_holder_get(env, args[4], JS_HoloGrammar, true, &grammar) && js_ids_get(env, args[1], &ids, &count)) {
        options.grammar   = grammar ? grammar->object : NULL;
        HoloStatus status = bind_batch_add(batch->object, ids, count, &options, grammar, &id, &error);
        if (!status) js_holder_ref(grammar);
        result = status ? js_throw(env, status, error.text) : js_number(env, (double)id);
    }
    js_pieces_free(&pieces);
    return result;
}

// batch_leave(batch, id): ends a text with the next step.
static napi_value leave(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    JsHolder  *batch;
    double     id;
    if (!js_args(env, info, 2, args) || !js_number_get(env, args[1], "the id of a text", 0, 0x1p53, &id) ||
        !batch_get(env, args[0], &batch))
        return NULL;
    return js_bool(env, holo_text_batch_cancel(((BindBatch *)batch->object)->batch, (uint64_t)id));
}

// batch_state(batch): counts.
static napi_value state_of(napi_env env, napi_callback_info info)
{
    napi_value         arg;
    JsHolder          *batch;
    HoloTextBatchState state;
    if (!js_args(env, info, 1, &arg) || !batch_get(env, arg, &batch)) return NULL;
    holo_text_batch_state(((BindBatch *)batch->object)->batch, &state);
    return js_fields_object(env, bind_batch_state, &state);
}

// ---- steps

typedef struct BatchJob {
    JsTextTask work;
    int        left;
} BatchJob;

static void job_run(JsTask *task)
{
    BatchJob  *job   = (BatchJob *)task;
    BindBatch *batch = job->work.language->object;
    do task->status = holo_text_batch_step(batch->batch, &job->left, &task->error);
    while (js_text_is_again(&job->work));
    if (!task->status && batch->told.is_out_of_memory) task->status = HOLO_NO_MEMORY;
}

// {tokens: [{of, id, text, logprob}], ends: [{of, status, message, counts}], left}
static napi_value job_result(napi_env env, JsTask *task)
{
    const BatchJob *job   = (BatchJob *)task;
    BindBatch      *batch = job->work.language->object;
    napi_value      to    = NULL;
    napi_create_object(env, &to);
    js_set(env, to, "tokens", js_told_tokens(env, &batch->told));
    js_set(env, to, "ends", js_told_ends(env, &batch->told));
    js_set(env, to, "left", js_number(env, job->left));
    bind_batch_clear(batch);
    return to;
}

static void job_destroy(napi_env env, JsTask *task)
{
    js_text_deinit(env, (JsTextTask *)task);
    free(task);
}

// batch_step(batch, callback): callback(error or null, what it told).
static napi_value step(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    JsHolder  *batch;
    if (!js_args(env, info, 2, args) || !js_holder_get(env, args[0], JS_HoloTextBatch, false, &batch)) return NULL;
    BatchJob *job = calloc(1, sizeof *job);
    if (!job) return js_throw(env, HOLO_NO_MEMORY, "");
    js_task_init(&job->work.task, job_run, job_result, job_destroy);
    return js_text_start(env, &job->work, batch, args[1]);
}

const JsFunction js_functions_batch[] = {
    {"batch_open", open_batch}, {"batch_add", add},   {"batch_leave", leave},
    {"batch_state", state_of},  {"batch_step", step}, {NULL, NULL},
};
