// js_compile.c - compiling on a thread of Node's pool; what the compiler calls back, JavaScript hears on its own thread.
#include "addon.h"
#include "made.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct CompileJob {
    JsTask                   task;
    JsHolder                *compiler;        // with progress, texts of passes and judgements of this compile alone
    char                    *path, *out_path; // path NULL: the model is bytes
    void                    *bytes;
    size_t                   size;
    JsPiece                 *pieces;
    napi_threadsafe_function hear, judge; // NULL: nobody asked
    HoloModel               *model;
    HoloReport              *report;
} CompileJob;

static void compile_run(JsTask *task)
{
    CompileJob         *job      = (CompileJob *)task;
    const HoloCompiler *compiler = job->compiler->object;
    if (!job->path)
        task->status = holo_compile_memory(compiler, job->bytes, job->size, &job->model, &job->report, &task->error);
    else if (job->out_path)
        task->status = holo_compile_file(compiler, job->path, job->out_path, &job->report, &task->error);
    else
        task->status = holo_compile_model(compiler, job->path, &job->model, &job->report, &task->error);
}

static napi_value compile_result(napi_env env, JsTask *task)
{
    CompileJob *job    = (CompileJob *)task;
    napi_value  result = NULL;
    double      handle = 0;
    napi_create_object(env, &result);
    if (job->model) {
        handle     = js_handle_create(env, JS_HoloModel, job->model, NULL, 0);
        job->model = NULL;
        if (!handle) return js_throw(env, HOLO_NO_MEMORY, "");
    }
    js_set(env, result, "model", js_number(env, handle));
    js_set(env, result, "report", HoloReport_out(env, job->report));
    return result;
}

static void compile_destroy(napi_env env, JsTask *task)
{
    CompileJob *job = (CompileJob *)task;
    if (job->compiler) {
        holo_compiler_set_progress(job->compiler->object, NULL, NULL);
        holo_compiler_set_judge(job->compiler->object, NULL, NULL, 0);
    }
    if (job->hear) napi_release_threadsafe_function(job->hear, napi_tsfn_release);
    if (job->judge) napi_release_threadsafe_function(job->judge, napi_tsfn_release);
    js_holder_unref(job->compiler);
    holo_model_close(job->model);
    holo_report_destroy(job->report);
    js_pieces_free(&job->pieces);
    free(job->path);
    free(job->out_path);
    js_task_deinit(env, task);
    free(job);
}

// ---- calls of JavaScript, on its thread: the compiler waits, so that what a listener throws ends the compile

typedef struct Call {
    bool            is_done;
    pthread_mutex_t lock;
    pthread_cond_t  done;
} Call;

#define CALL_INIT                                                           \
    {                                                                       \
        .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER \
    }

// What the function is given begins with the call. False: JavaScript ends.
static bool call_wait(napi_threadsafe_function function, Call *call)
{
    if (napi_call_threadsafe_function(function, call, napi_tsfn_blocking)) return false;
    pthread_mutex_lock(&call->lock);
    while (!call->is_done) pthread_cond_wait(&call->done, &call->lock);
    pthread_mutex_unlock(&call->lock);
    return true;
}

static void call_end(Call *call)
{
    pthread_mutex_lock(&call->lock);
    call->is_done = true;
    pthread_cond_signal(&call->done);
    pthread_mutex_unlock(&call->lock);
}

// ---- what JavaScript hears

typedef struct Heard {
    Call        call;
    const char *what, *text;
    double      fraction;
} Heard;

static void hear_on_thread(napi_env env, napi_value callback, void *context, void *data)
{
    Heard     *heard = data;
    napi_value args[3], self, ignored;
    (void)context;
    if (env && callback && !napi_get_undefined(env, &self)) {
        args[0] = js_text(env, heard->what);
        args[1] = js_number(env, heard->fraction);
        args[2] = js_text(env, heard->text);
        napi_call_function(env, self, callback, 3, args, &ignored);
    }
    call_end(&heard->call);
}

static void hear(CompileJob *job, const char *what, double fraction, const char *text)
{
    Heard heard = {.call = CALL_INIT, .what = what, .text = text, .fraction = fraction};
    (void)call_wait(job->hear, &heard.call);
}

static void hear_progress(void *context, const char *stage, double fraction)
{
    hear(context, stage, fraction, NULL);
}

static void hear_dump(void *context, const char *pass, const char *text)
{
    hear(context, pass, 0, text);
}

// ---- what JavaScript judges

typedef struct Judgement {
    Call               call;
    const HoloOutputs *outputs;
    double             score;
    bool               has_failed;
} Judgement;

// judge(samples, outputs of each, arrays) with the tensors in the block.
static bool judge_call(napi_env env, napi_value callback, Judgement *judgement)
{
    const HoloOutputs *outputs = judgement->outputs;
    JsWriter           writer  = {.env = env, .state = js_env(env), .at = 1};
    napi_value         args[3], self, result;
    writer.state->block[0] = 0;
    for (int i = 0; i < outputs->sample_count * outputs->output_count; i++)
        if (!js_tensor_write(&writer, &outputs->tensors[i], NULL, false)) return false;
    args[0] = js_number(env, outputs->sample_count);
    args[1] = js_number(env, outputs->output_count);
    args[2] = js_writer_end(&writer);
    napi_get_undefined(env, &self);
    return !napi_call_function(env, self, callback, 3, args, &result) &&
           !napi_get_value_double(env, result, &judgement->score);
}

static void judge_on_thread(napi_env env, napi_value callback, void *context, void *data)
{
    Judgement *judgement = data;
    (void)context;
    judgement->has_failed = !env || !callback || !judge_call(env, callback, judgement);
    call_end(&judgement->call);
}

static HoloStatus judge(void *context, const HoloOutputs *outputs, double *out_score, HoloError *error)
{
    CompileJob *job       = context;
    Judgement   judgement = {.call = CALL_INIT, .outputs = outputs};
    if (!call_wait(job->judge, &judgement.call)) return HOLO_CANCELLED;
    *out_score = judgement.score;
    if (!judgement.has_failed) return HOLO_OK;
    if (error && !error->status) {
        error->status = HOLO_BAD_ARGUMENT;
        strcpy(error->text, "judge must return a number, and not a promise");
    }
    return HOLO_BAD_ARGUMENT;
}

// ---- the functions

static bool listener_make(napi_env env, napi_value callback, napi_threadsafe_function_call_js call,
                          napi_threadsafe_function *out)
{
    return !napi_create_threadsafe_function(env, callback, NULL, js_text(env, "hologram"), 0, 1, NULL, NULL, NULL, call,
                                            out) ||
           js_throw_argument(env, "what is to be called back must be a function");
}

// Of {hear, hasProgress, dumped, judge, maxDrop}: hear(stage, fraction, null) is told of progress, hear(pass, 0, text) of graphs
// after the pass `dumped`.
static bool hear_set(napi_env env, napi_value hear_it, napi_value has_progress, napi_value dumped, CompileJob *job)
{
    HoloCompiler *compiler = job->compiler->object;
    HoloError     error    = {0};
    char         *pass     = NULL;
    bool          is_told  = false;
    if (js_is_nothing(env, hear_it)) return true;
    if (!listener_make(env, hear_it, hear_on_thread, &job->hear) ||
        !js_bool_get(env, has_progress, "hasProgress", &is_told) || !js_text_get(env, dumped, "the pass", true, &pass))
        return false;
    if (is_told) holo_compiler_set_progress(compiler, hear_progress, job);
    HoloStatus status = pass ? holo_compiler_set_dump(compiler, pass, hear_dump, job, &error) : HOLO_OK;
    free(pass);
    return !status || js_throw(env, status, error.text);
}

static bool listeners_set(napi_env env, napi_value from, CompileJob *job)
{
    static const char *const names[] = {"hear", "hasProgress", "dumped", "judge", "maxDrop"};
    napi_value               values[5];
    double                   max_drop = 0;
    for (int i = 0; i < 5; i++)
        if (napi_get_named_property(env, from, names[i], &values[i]))
            return js_throw_argument(env, "the listeners cannot be read");
    if (!hear_set(env, values[0], values[1], values[2], job)) return false;
    if (js_is_nothing(env, values[3])) return true;
    if (!js_number_get(env, values[4], "maxDrop", 0, 0x1p1023, &max_drop) ||
        !listener_make(env, values[3], judge_on_thread, &job->judge))
        return false;
    holo_compiler_set_judge(job->compiler->object, judge, job, max_drop);
    return true;
}

// A path, or bytes, which are copied: JavaScript goes on meanwhile.
static bool source_get(napi_env env, napi_value source, CompileJob *job)
{
    napi_valuetype type = napi_undefined;
    napi_typeof(env, source, &type);
    if (type == napi_string) return js_text_get(env, source, "the path", false, &job->path);
    if (job->out_path) return js_throw_argument(env, "a model whose archive is written is a path, not bytes");
    return js_bytes_get(env, source, "the model", &job->bytes, &job->size) &&
           js_bytes_keep(env, &job->pieces, &job->bytes, job->size);
}

// compile(compiler, path or bytes, path of the archive or null, listeners, callback): callback(error, {model, report}).
static napi_value compile(napi_env env, napi_callback_info info)
{
    napi_value  args[5];
    JsHolder   *compiler;
    CompileJob *job = calloc(1, sizeof *job);
    if (!job) return js_throw(env, HOLO_NO_MEMORY, "");
    js_task_init(&job->task, compile_run, compile_result, compile_destroy);
    if (js_args(env, info, 5, args) && js_holder_get(env, args[0], JS_HoloCompiler, false, &compiler)) {
        js_holder_ref(compiler);
        job->compiler = compiler;
        if (js_text_get(env, args[2], "the path of the archive", true, &job->out_path) &&
            source_get(env, args[1], job) && listeners_set(env, args[3], job) &&
            js_task_queue(env, &job->task, NULL, args[4]))
            return NULL;
    }
    compile_destroy(env, &job->task);
    return NULL;
}

static bool sample_read(napi_env env, napi_value names, napi_value arrays, JsPiece **pieces, HoloRunInput **out,
                        uint32_t *count)
{
    JsReader reader;
    if (napi_get_array_length(env, names, count)) return js_throw_argument(env, "names must be an array");
    if (!js_reader_open(env, arrays, pieces, &reader)) return false;
    *out = js_piece(pieces, (*count + 1) * sizeof **out);
    if (!*out) return js_throw(env, HOLO_NO_MEMORY, "");
    for (uint32_t i = 0; i < *count; i++) {
        napi_value name;
        char      *text, *kept;
        if (napi_get_element(env, names, i, &name) || !js_text_get(env, name, "a name", false, &text)) return false;
        kept = js_piece(pieces, strlen(text) + 1);
        if (kept) strcpy(kept, text);
        free(text);
        if (!kept) return js_throw(env, HOLO_NO_MEMORY, "");
        (*out)[i].name = kept;
        if (!js_tensor_read(&reader, &(*out)[i].tensor)) return false;
    }
    return true;
}

// add_sample(compiler, names, arrays), with the tensors in the block.
static napi_value add_sample(napi_env env, napi_callback_info info)
{
    napi_value    args[3];
    JsHolder     *compiler;
    JsPiece      *pieces = NULL;
    HoloRunInput *inputs = NULL;
    uint32_t      count  = 0;
    HoloError     error  = {0};
    if (js_args(env, info, 3, args) && js_holder_get(env, args[0], JS_HoloCompiler, false, &compiler) &&
        sample_read(env, args[1], args[2], &pieces, &inputs, &count) &&
        holo_compiler_add_sample(compiler->object, inputs, (int)count, &error))
        js_throw(env, error.status, error.text);
    js_pieces_free(&pieces);
    return NULL;
}

const JsFunction js_functions_compile[] = {
    {"compile", compile},
    {"add_sample", add_sample},
    {NULL, NULL},
};
