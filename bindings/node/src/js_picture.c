// js_picture.c - pictures of texts: each step is on another thread.
#include "addon.h"
#include "js_made.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

// imagine_defaults(model): {scheduler, schedulers, steps, guidance, width, height}, or null.
static napi_value defaults(napi_env env, napi_callback_info info)
{
    napi_value         arg, to = NULL, list = NULL;
    JsHolder          *model;
    HoloImagineOptions o;
    const char        *name;
    if (!js_args(env, info, 1, &arg) || !js_holder_get(env, arg, JS_HoloModel, false, &model)) return NULL;
    if (!holo_imagine_can(model->object)) return js_null(env);
    holo_imagine_defaults(model->object, &o);
    napi_create_object(env, &to);
    napi_create_array_with_length(env, 0, &list);
    for (int i = 0; (name = holo_imagine_scheduler(i)); i++)
        napi_set_element(env, list, (uint32_t)i, js_text(env, name));
    js_set(env, to, "scheduler", js_text(env, o.scheduler));
    js_set(env, to, "schedulers", list);
    js_set(env, to, "steps", js_number(env, o.steps));
    js_set(env, to, "guidance", js_number(env, (double)o.guidance));
    js_set(env, to, "width", js_number(env, o.width));
    js_set(env, to, "height", js_number(env, o.height));
    return to;
}

// A text of the options, in memory to free; NULL: it is not given.
static bool text_read(napi_env env, napi_value object, const char *name, char **out)
{
    napi_value value = NULL;
    *out             = NULL;
    return js_field(env, object, name, &value) && (!value || js_text_get(env, value, name, true, out));
}

// picture_create(model, pool, {prompt, negative, scheduler, steps, guidance, seed, width, height}): a handle.
static napi_value create(napi_env env, napi_callback_info info)
{
    napi_value         args[3];
    JsHolder          *model, *pool;
    HoloImagineOptions o;
    HoloPicture       *picture = NULL;
    HoloError          error   = {0};
    char              *prompt = NULL, *negative = NULL, *scheduler = NULL;
    if (!js_args(env, info, 3, args) || !js_holder_get(env, args[0], JS_HoloModel, false, &model)) return NULL;
    holo_imagine_defaults(model->object, &o);
    // Reading options may run JavaScript, which may close the model: it is looked at again.
    if (js_fields_read(env, args[2], bind_imagine_options, &o) && text_read(env, args[2], "prompt", &prompt) &&
        text_read(env, args[2], "negative", &negative) && text_read(env, args[2], "scheduler", &scheduler) &&
        js_holder_get(env, args[0], JS_HoloModel, false, &model) &&
        js_holder_get(env, args[1], JS_HoloPool, true, &pool)) {
        o.prompt = prompt;
        if (negative) o.negative = negative;
        if (scheduler) o.scheduler = scheduler;
        o.pool            = pool ? pool->object : NULL;
        HoloStatus status = holo_picture_create(model->object, &o, &picture, &error);
        if (status) js_throw(env, status, error.text);
    }
    free(prompt);
    free(negative);
    free(scheduler);
    return picture ? js_object(env, JS_HoloPicture, picture, (JsHolder *[]){model, pool}, 2, NULL) : NULL;
}

// ---- steps

typedef struct PictureJob {
    JsTask     task;
    JsHolder  *picture;
    bool       is_look; // at the picture, instead of a step
    bool       is_done;
    HoloTensor image;
} PictureJob;

static void job_run(JsTask *task)
{
    PictureJob *job     = (PictureJob *)task;
    void       *picture = job->picture->object;
    task->status        = job->is_look ? holo_picture_see(picture, &job->image, &task->error)
                                       : holo_picture_step(picture, &job->is_done, &task->error);
}

// Whether it is done, or {width, height, data}.
static napi_value job_result(napi_env env, JsTask *task)
{
    const PictureJob *job = (PictureJob *)task;
    napi_value        to = NULL, buffer = NULL;
    void             *copy;
    if (!job->is_look) return js_bool(env, job->is_done);
    size_t size = (size_t)(job->image.dim[0] * job->image.dim[1] * 3);
    if (napi_create_arraybuffer(env, size, &copy, &buffer)) return js_throw(env, HOLO_NO_MEMORY, "");
    memcpy(copy, job->image.data, size);
    napi_create_object(env, &to);
    js_set(env, to, "height", js_number(env, (double)job->image.dim[0]));
    js_set(env, to, "width", js_number(env, (double)job->image.dim[1]));
    js_set(env, to, "data", buffer);
    return to;
}

static void job_destroy(napi_env env, JsTask *task)
{
    PictureJob *job = (PictureJob *)task;
    if (job->picture->job == job) job->picture->job = NULL;
    js_holder_unref(job->picture);
    holo_image_free(&job->image);
    js_task_deinit(env, task);
    free(job);
}

static napi_value start(napi_env env, napi_callback_info info, bool is_look)
{
    napi_value args[2];
    JsHolder  *picture;
    if (!js_args(env, info, 2, args) || !js_holder_get(env, args[0], JS_HoloPicture, false, &picture)) return NULL;
    if (picture->job) return js_throw(env, HOLO_BUSY, "the picture is in work: wait for its promise");
    PictureJob *job = calloc(1, sizeof *job);
    if (!job) return js_throw(env, HOLO_NO_MEMORY, "");
    js_task_init(&job->task, job_run, job_result, job_destroy);
    js_holder_ref(picture);
    job->picture = picture;
    job->is_look = is_look;
    picture->job = job;
    if (!js_task_queue(env, &job->task, NULL, args[1])) job_destroy(env, &job->task);
    return NULL;
}

// picture_step(picture, callback): callback(error or null, whether it is done).
static napi_value step(napi_env env, napi_callback_info info)
{
    return start(env, info, false);
}

// picture_see(picture, callback): callback(error or null, {width, height, data}).
static napi_value look(napi_env env, napi_callback_info info)
{
    return start(env, info, true);
}

const JsFunction js_functions_picture[] = {
    {"imagine_defaults", defaults},
    {"picture_create", create},
    {"picture_step", step},
    {"picture_see", look},
    {NULL, NULL},
};
