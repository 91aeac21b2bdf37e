// js_speech.c - speech to text: sounds are read on this thread, and heard on another.
#include "addon.h"
#include "js_made.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

// The samples of a sound as an ArrayBuffer of f32; they are freed.
static napi_value samples_give(napi_env env, float *samples, size_t count)
{
    napi_value buffer = NULL;
    void      *copy;
    if (napi_create_arraybuffer(env, count * sizeof *samples, &copy, &buffer)) {
        holo_samples_free(samples);
        return js_throw(env, HOLO_NO_MEMORY, "");
    }
    if (count) memcpy(copy, samples, count * sizeof *samples);
    holo_samples_free(samples);
    return buffer;
}

// sound_read(path, rate): the samples of a WAV file.
static napi_value sound_read(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    double     rate;
    char      *path;
    float     *samples;
    size_t     count;
    HoloError  error = {0};
    if (!js_args(env, info, 2, args) || !js_number_get(env, args[1], "rate", 0, INT32_MAX, &rate) ||
        !js_text_get(env, args[0], "path", false, &path))
        return NULL;
    HoloStatus status = holo_sound_read(path, (int)rate, &samples, &count, &error);
    free(path);
    return status ? js_throw(env, status, error.text) : samples_give(env, samples, count);
}

// sound_read_memory(bytes, rate): the same of bytes.
static napi_value sound_read_memory(napi_env env, napi_callback_info info)
{
    napi_value args[2];
    double     rate;
    void      *bytes;
    size_t     size, count;
    float     *samples;
    HoloError  error = {0};
    if (!js_args(env, info, 2, args) || !js_number_get(env, args[1], "rate", 0, INT32_MAX, &rate) ||
        !js_bytes_get(env, args[0], "sound", &bytes, &size))
        return NULL;
    HoloStatus status = holo_sound_read_memory(bytes, size, (int)rate, &samples, &count, &error);
    return status ? js_throw(env, status, error.text) : samples_give(env, samples, count);
}

// ---- what is said

typedef struct SpokenPiece {
    double begin, end;
    char  *text;
} SpokenPiece;

typedef struct SpeechJob {
    JsTextTask           work;
    char                *language;
    bool                 translate, timestamps, is_out_of_memory;
    float               *samples;
    size_t               sample_count;
    SpokenPiece         *piece;
    size_t               count, room;
    HoloTranscribeResult result;
} SpeechJob;

static bool collect(void *state, const HoloSpoken *spoken)
{
    SpeechJob *job  = state;
    char      *text = malloc(spoken->text.size + 1);
    if (job->count == job->room) {
        SpokenPiece *more = realloc(job->piece, (job->room * 2 + 16) * sizeof *more);
        if (more) job->piece = more, job->room = job->room * 2 + 16;
    }
    job->is_out_of_memory = !text || job->count == job->room;
    if (job->is_out_of_memory) return free(text), false;
    if (spoken->text.size) memcpy(text, spoken->text.data, spoken->text.size);
    text[spoken->text.size]  = 0;
    job->piece[job->count++] = (SpokenPiece){spoken->begin, spoken->end, text};
    return true;
}

static void pieces_free(SpeechJob *job)
{
    for (size_t i = 0; i < job->count; i++) free(job->piece[i].text);
    job->count = 0;
}

static void job_run(JsTask *task)
{
    SpeechJob            *job     = (SpeechJob *)task;
    HoloTranscribeOptions options = {
        .size = sizeof options, .language = job->language, .translate = job->translate, .timestamps = job->timestamps};
    do {
        pieces_free(job);
        task->status = holo_transcribe(job->work.language->object, job->samples, job->sample_count, &options, collect,
                                       job, &job->result, &task->error);
    } while (js_text_is_again(&job->work));
    if (!task->status && job->is_out_of_memory) task->status = HOLO_NO_MEMORY;
}

// {language, seconds, pieces: [{begin, end, text}]}
static napi_value job_result(napi_env env, JsTask *task)
{
    const SpeechJob *job = (SpeechJob *)task;
    napi_value       to = NULL, list = NULL, item = NULL;
    napi_create_object(env, &to);
    napi_create_array_with_length(env, 0, &list);
    for (size_t i = 0; i < job->count; i++) {
        napi_create_object(env, &item);
        js_set(env, item, "begin", js_number(env, job->piece[i].begin));
        js_set(env, item, "end", js_number(env, job->piece[i].end));
        js_set(env, item, "text", js_text(env, job->piece[i].text));
        napi_set_element(env, list, (uint32_t)i, item);
    }
    js_set(env, to, "language", js_text(env, job->result.language));
    js_set(env, to, "seconds", js_number(env, job->result.sound_seconds));
    js_set(env, to, "pieces", list);
    return to;
}

static void job_destroy(napi_env env, JsTask *task)
{
    SpeechJob *job = (SpeechJob *)task;
    js_text_deinit(env, &job->work);
    pieces_free(job);
    free(job->piece);
    free(job->samples);
    free(job->language);
    free(job);
}

// A yes or no of the options; what is not given is no.
static bool choice_read(napi_env env, napi_value object, const char *name, bool *to)
{
    napi_value value = NULL;
    return js_field(env, object, name, &value) && (!value || js_bool_get(env, value, name, to));
}

static bool job_read(napi_env env, napi_value samples, napi_value options, SpeechJob *job)
{
    napi_value value = NULL;
    void      *data;
    size_t     size;
    // Reading options may run JavaScript, which may take the samples away: they come last.
    if (!js_field(env, options, "language", &value) ||
        (value && !js_text_get(env, value, "language", true, &job->language)) ||
        !choice_read(env, options, "translate", &job->translate) ||
        !choice_read(env, options, "timestamps", &job->timestamps) ||
        !js_bytes_get(env, samples, "samples", &data, &size))
        return false;
    if (size % sizeof(float)) return js_throw_argument(env, "samples must be a Float32Array");
    job->samples = malloc(size + 1);
    if (!job->samples) return js_throw(env, HOLO_NO_MEMORY, "");
    if (size) memcpy(job->samples, data, size);
    job->sample_count = size / sizeof(float);
    return true;
}

// transcribe(language, samples, {language, translate, timestamps}, callback): callback(error or null, what is said).
static napi_value transcribe(napi_env env, napi_callback_info info)
{
    napi_value args[4];
    JsHolder  *language;
    if (!js_args(env, info, 4, args)) return NULL;
    SpeechJob *job = calloc(1, sizeof *job);
    if (!job) return js_throw(env, HOLO_NO_MEMORY, "");
    js_task_init(&job->work.task, job_run, job_result, job_destroy);
    if (job_read(env, args[1], args[2], job) && js_holder_get(env, args[0], JS_HoloLanguage, false, &language))
        return js_text_start(env, &job->work, language, args[3]);
    job_destroy(env, &job->work.task);
    return NULL;
}

const JsFunction js_functions_speech[] = {
    {"sound_read", sound_read},
    {"sound_read_memory", sound_read_memory},
    {"transcribe", transcribe},
    {NULL, NULL},
};
