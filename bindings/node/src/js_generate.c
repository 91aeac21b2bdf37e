// js_generate.c - language models, and texts that they continue: each step is one run of the model on another thread.
#include "addon.h"
#include "js_made.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

bool js_ids_get(napi_env env, napi_value value, void **out_ids, size_t *out_count)
{
    if (!js_bytes_get(env, value, "ids", out_ids, out_count)) return false;
    if (*out_count % sizeof(uint32_t) || (uintptr_t)*out_ids % _Alignof(uint32_t))
        return js_throw_argument(env, "ids must be an Uint32Array");
    *out_count /= sizeof(uint32_t);
    return true;
}

// language_open(model, pool, texts, context): a handle.
static napi_value language_open(napi_env env, napi_callback_info info)
{
    napi_value          args[4];
    JsHolder           *model, *pool;
    double              texts, context;
    HoloLanguage       *language;
    HoloLanguageOptions options = {.size = sizeof options};
    HoloError           error   = {0};
    if (!js_args(env, info, 4, args) || !js_holder_get(env, args[0], JS_HoloModel, false, &model) ||
        !js_holder_get(env, args[1], JS_HoloPool, true, &pool) ||
        !js_number_get(env, args[2], "texts", 0, INT32_MAX, &texts) ||
        !js_number_get(env, args[3], "context", 0, 0x1p53, &context))
        return NULL;
    options.texts     = (int)texts;
    options.context   = (int64_t)context;
    HoloStatus status = holo_language_open(model->object, pool ? pool->object : NULL, &options, &language, &error);
    if (status) return js_throw(env, status, error.text);
    return js_object(env, JS_HoloLanguage, language, (JsHolder *[]){model, pool}, 2, NULL);
}

// ---- generations

// generation_create(language, ids, options, stops, grammar): a handle.
static napi_value generation_create(napi_env env, napi_callback_info info)
{
    napi_value          args[5], result = NULL;
    JsHolder           *language, *grammar;
    void               *ids;
    size_t              count;
    JsPiece            *pieces = NULL;
    HoloAnswer         *generation;
    HoloGenerateOptions options;
    HoloError           error = {0};
    if (!js_args(env, info, 5, args) || !js_holder_get(env, args[0], JS_HoloLanguage, false, &language) ||
        !js_holder_get(env, args[4], JS_HoloGrammar, true, &grammar))
        return NULL;
    // Reading options may run JavaScript, which may close what was given, take the ids away, or begin a step.
    js_holder_ref(language);
    js_holder_ref(grammar);
    holo_generate_defaults(language->object, &options);
    if (js_fields_read(env, args[2], bind_generate_options, &options) &&
        js_stops_read(env, args[3], &pieces, &options) && js_ids_get(env, args[1], &ids, &count)) {
        options.grammar   = grammar ? grammar->object : NULL;
        HoloStatus status = HOLO_BUSY;
        if (!language->job) status = holo_answer_create(language->object, ids, count, &options, &generation, &error);
        result = status ? js_throw(env, status, error.text)
                        : js_object(env, JS_HoloAnswer, generation, (JsHolder *[]){grammar, language}, 2, NULL);
    }
    js_holder_unref(grammar);
    js_holder_unref(language);
    js_pieces_free(&pieces);
    return result;
}

typedef struct TextJob { // one step, or one read
    JsTextTask         work;
    JsHolder          *generation; // NULL: a read
    bool               is_done;
    HoloGenerateResult result;
    BindTold           told;
    size_t             count;
    uint32_t          *ids;
    int                number; // of the text
    const float       *logits;
} TextJob;

static void job_run(JsTask *task)
{
    TextJob *job = (TextJob *)task;
    do {
        task->status = job->generation ? holo_answer_step(job->generation->object, bind_told_add, &job->told,
                                                          &job->is_done, &job->result, &task->error)
                                       : holo_language_read(job->work.language->object, job->number, job->ids,
                                                            job->count, &job->logits, &task->error);
    } while (js_text_is_again(&job->work));
    if (!task->status && job->told.is_out_of_memory) task->status = HOLO_NO_MEMORY;
}

// {done, counts, tokens: [{id, text, logprob}]}
static napi_value step_result(napi_env env, JsTask *task)
{
    const TextJob *job    = (TextJob *)task;
    napi_value     result = NULL;
    napi_create_object(env, &result);
    js_set(env, result, "tokens", js_told_tokens(env, &job->told));
    js_set(env, result, "done", js_bool(env, job->is_done));
    js_set(env, result, "counts", js_fields_object(env, bind_generate_result, &job->result));
    return result;
}

// The logits, as the bytes of a Float32Array.
static napi_value read_result(napi_env env, JsTask *task)
{
    const TextJob *job    = (TextJob *)task;
    napi_value     buffer = NULL;
    size_t         size   = holo_language_vocabulary(job->work.language->object) * sizeof(float);
    void          *copy;
    if (napi_create_arraybuffer(env, size, &copy, &buffer)) return js_throw(env, HOLO_NO_MEMORY, "");
    memcpy(copy, job->logits, size);
    return buffer;
}

bool js_text_is_again(const JsTextTask *work)
{
    return work->task.status == HOLO_CANCELLED && !atomic_load(&work->is_cancelled);
}

void js_text_deinit(napi_env env, JsTextTask *work)
{
    if (work->language && work->language->job == work) work->language->job = NULL;
    js_holder_unref(work->language);
    js_task_deinit(env, &work->task);
}

napi_value js_text_start(napi_env env, JsTextTask *work, JsHolder *language, napi_value callback)
{
    js_holder_ref(language);
    work->language = language;
    if (language->job)
        js_throw(env, HOLO_BUSY, "the language model is running: wait for its promise");
    else if (js_task_queue(env, &work->task, NULL, callback)) {
        language->job = work;
        return NULL;
    }
    work->task.destroy(env, &work->task);
    return NULL;
}

static void job_destroy(napi_env env, JsTask *task)
{
    TextJob *job = (TextJob *)task;
    js_holder_unref(job->generation);
    js_text_deinit(env, &job->work);
    bind_told_deinit(&job->told);
    free(job->ids);
    free(job);
}

// generation_step(generation, callback): callback(error or null, {done, counts, tokens}).
static napi_value generation_step(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    JsHolder  *generation;
    if (!js_args(env, info, 2, args) || !js_holder_get(env, args[0], JS_HoloAnswer, false, &generation)) return NULL;
    JsHolder *language = NULL;
    for (int i = 0; i < JS_NEEDS_MAX && !language; i++)
        if (generation->needs[i] && generation->needs[i]->kind == JS_HoloLanguage) language = generation->needs[i];
    TextJob *job = language ? calloc(1, sizeof *job) : NULL;
    if (!job) return js_throw(env, HOLO_NO_MEMORY, "");
    js_task_init(&job->work.task, job_run, step_result, job_destroy);
    js_holder_ref(generation);
    job->generation = generation;
    return js_text_start(env, &job->work, language, args[1]);
}

// language_read(language, ids, text, callback): callback(error or null, logits).
static napi_value language_read(napi_env env, napi_callback_info info)
{
    napi_value args[4];
    JsHolder  *language;
    void      *ids;
    size_t     count;
    double     text;
    if (!js_args(env, info, 4, args) || !js_holder_get(env, args[0], JS_HoloLanguage, false, &language) ||
        !js_ids_get(env, args[1], &ids, &count) || !js_number_get(env, args[2], "text", 0, INT32_MAX, &text))
        return NULL;
    TextJob *job = calloc(1, sizeof *job);
    if (job) job->ids = malloc((count + 1) * sizeof *job->ids);
    if (!job || !job->ids) return free(job), js_throw(env, HOLO_NO_MEMORY, "");
    js_task_init(&job->work.task, job_run, read_result, job_destroy);
    if (count) memcpy(job->ids, ids, count * sizeof *job->ids);
    job->count  = count;
    job->number = (int)text;
    return js_text_start(env, &job->work, language, args[3]);
}

// language_cancel(language, batch or reader): what it does now stops.
static napi_value language_cancel(napi_env env, napi_callback_info info)
{
    napi_value arg;
    double     handle = 0;
    if (!js_args(env, info, 1, &arg) || napi_get_value_double(env, arg, &handle)) return NULL;
    JsHolder *holder = js_handle_find(env, handle);
    bool is_batch = holder && holder->kind == JS_HoloTextBatch, is_reader = holder && holder->kind == JS_HoloReader;
    if (!holder || (!is_batch && !is_reader && holder->kind != JS_HoloLanguage) || !holder->job) return NULL;
    atomic_store(&((JsTextTask *)holder->job)->is_cancelled, true);
    if (is_reader) return holo_reader_cancel(holder->object), NULL;
    holo_language_cancel(is_batch ? holo_text_batch_language(((BindBatch *)holder->object)->batch) : holder->object);
    return NULL;
}

// language_ends(language): the ids that end a text.
static napi_value language_ends(napi_env env, napi_callback_info info)
{
    napi_value arg, list = NULL;
    JsHolder  *language;
    size_t     count = 0;
    if (!js_args(env, info, 1, &arg) || !js_holder_get(env, arg, JS_HoloLanguage, false, &language)) return NULL;
    const uint32_t *ends = holo_language_ends(language->object, &count);
    napi_create_array_with_length(env, count, &list);
    for (size_t i = 0; i < count; i++) napi_set_element(env, list, (uint32_t)i, js_number(env, ends[i]));
    return list;
}

// model_entry(model, name): a handle of a part of the model, or null. Closing it does nothing to the model.
static napi_value model_entry(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    JsHolder  *model;
    char      *name = NULL;
    if (!js_args(env, info, 2, args) || !js_text_get(env, args[1], "name", false, &name)) return NULL;
    const HoloModel *found = NULL;
    bool             is_ok = js_holder_get(env, args[0], JS_HoloModel, false, &model);
    if (is_ok) found = holo_model_entry(model->object, name);
    free(name);
    if (!is_ok) return NULL;
    return js_object(env, JS_HoloModel, (void *)(uintptr_t)found, &model, 1, NULL);
}

const JsFunction js_functions_generate[] = {
    {"language_open", language_open},     {"language_read", language_read},
    {"language_cancel", language_cancel}, {"generation_create", generation_create},
    {"generation_step", generation_step}, {"language_ends", language_ends},
    {"model_entry", model_entry},         {NULL, NULL},
};
