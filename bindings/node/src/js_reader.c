// js_reader.c - vectors and labels: a model is run on one text or picture at a time, on another thread.
#include "addon.h"
#include "js_made.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

// reader_create(model, pool, max length, pooling or undefined, normalize: -1, 0 or 1): a handle.
static napi_value reader_create(napi_env env, napi_callback_info info)
{
    napi_value        args[5];
    JsHolder         *model, *pool;
    double            length, wish;
    char             *pooling = NULL;
    HoloReader       *reader;
    HoloReaderOptions options = {.size = sizeof options};
    HoloError         error   = {0};
    if (!js_args(env, info, 5, args) || !js_number_get(env, args[2], "maxLength", 0, 0x1p53, &length) ||
        !js_number_get(env, args[4], "normalize", -1, 1, &wish) ||
        !js_text_get(env, args[3], "pooling", true, &pooling))
        return NULL;
    if (!js_holder_get(env, args[0], JS_HoloModel, false, &model) ||
        !js_holder_get(env, args[1], JS_HoloPool, true, &pool))
        return free(pooling), NULL;
    options.max_length = (int64_t)length;
    options.pooling    = pooling;
    options.normalize  = (int)wish;
    HoloStatus status  = holo_reader_create(model->object, pool ? pool->object : NULL, &options, &reader, &error);
    free(pooling);
    if (status) return js_throw(env, status, error.text);
    return js_object(env, JS_HoloReader, reader, (JsHolder *[]){model, pool}, 2, NULL);
}

typedef enum ReaderAsk { ASK_VECTOR, ASK_LABELS, ASK_PICTURE } ReaderAsk;

typedef struct ReaderJob {
    JsTextTask    work; // of the reader
    ReaderAsk     ask;
    char         *text; // or the path of a picture
    HoloEmbedding embedding;
    HoloLabels    labels;
} ReaderJob;

static void job_run(JsTask *task)
{
    ReaderJob  *job    = (ReaderJob *)task;
    HoloReader *reader = job->work.language->object;
    size_t      size   = strlen(job->text);
    do {
        if (job->ask == ASK_VECTOR)
            task->status = holo_embed(reader, job->text, size, &job->embedding, &task->error);
        else if (job->ask == ASK_LABELS)
            task->status = holo_classify(reader, job->text, size, &job->labels, &task->error);
        else
            task->status = holo_classify_picture(reader, job->text, &job->labels, &task->error);
    } while (js_text_is_again(&job->work));
}

static napi_value string_of(napi_env env, HoloString s)
{
    napi_value to = NULL;
    napi_create_string_utf8(env, s.data ? s.data : "", s.size, &to);
    return to;
}

// The numbers as an ArrayBuffer; or [{label, id, score, token}].
static napi_value job_result(napi_env env, JsTask *task)
{
    const ReaderJob *job = (ReaderJob *)task;
    napi_value       to = NULL, item = NULL;
    void            *copy;
    if (job->ask == ASK_VECTOR) {
        size_t size = job->embedding.size * sizeof(float);
        if (napi_create_arraybuffer(env, size, &copy, &to)) return js_throw(env, HOLO_NO_MEMORY, "");
        memcpy(copy, job->embedding.vector, size);
        return to;
    }
    napi_create_array_with_length(env, 0, &to);
    for (size_t i = 0; i < job->labels.count; i++) {
        const HoloLabel *label = &job->labels.label[i];
        napi_create_object(env, &item);
        js_set(env, item, "label", string_of(env, label->name));
        js_set(env, item, "id", js_number(env, (double)label->id));
        js_set(env, item, "score", js_number(env, label->score));
        if (job->labels.is_of_tokens) js_set(env, item, "token", string_of(env, label->token));
        napi_set_element(env, to, (uint32_t)i, item);
    }
    return to;
}

static void job_destroy(napi_env env, JsTask *task)
{
    ReaderJob *job = (ReaderJob *)task;
    js_text_deinit(env, &job->work);
    free(job->text);
    free(job);
}

static napi_value start(napi_env env, napi_callback_info info, ReaderAsk ask)
{
    napi_value args[3];
    JsHolder  *reader;
    if (!js_args(env, info, 3, args)) return NULL;
    ReaderJob *job = calloc(1, sizeof *job);
    if (!job) return js_throw(env, HOLO_NO_MEMORY, "");
    js_task_init(&job->work.task, job_run, job_result, job_destroy);
    job->ask = ask;
    if (js_text_get(env, args[1], ask == ASK_PICTURE ? "path" : "text", false, &job->text) &&
        js_holder_get(env, args[0], JS_HoloReader, false, &reader))
        return js_text_start(env, &job->work, reader, args[2]);
    job_destroy(env, &job->work.task);
    return NULL;
}

// reader_embed(reader, text, callback): callback(error or null, the numbers).
static napi_value reader_embed(napi_env env, napi_callback_info info)
{
    return start(env, info, ASK_VECTOR);
}

// reader_classify(reader, text, callback): callback(error or null, labels).
static napi_value reader_classify(napi_env env, napi_callback_info info)
{
    return start(env, info, ASK_LABELS);
}

// reader_classify_picture(reader, path, callback): callback(error or null, labels).
static napi_value reader_classify_picture(napi_env env, napi_callback_info info)
{
    return start(env, info, ASK_PICTURE);
}

const JsFunction js_functions_reader[] = {
    {"reader_create", reader_create},
    {"reader_embed", reader_embed},
    {"reader_classify", reader_classify},
    {"reader_classify_picture", reader_classify_picture},
    {NULL, NULL},
};
