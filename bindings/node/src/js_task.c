// js_task.c - work on a thread of Node's pool, and what becomes of it on JavaScript's own.
#include "addon.h"

#include <string.h>

void js_task_init(JsTask *task, void (*run)(JsTask *), napi_value (*result)(napi_env, JsTask *),
                  void (*destroy)(napi_env, JsTask *))
{
    memset(task, 0, offsetof(JsTask, error) + offsetof(HoloError, text) + 1);
    task->run     = run;
    task->result  = result;
    task->destroy = destroy;
}

void js_task_deinit(napi_env env, JsTask *task)
{
    if (task->callback) napi_delete_reference(env, task->callback);
    if (task->kept) napi_delete_reference(env, task->kept);
    if (task->work) napi_delete_async_work(env, task->work);
}

static void execute(napi_env env, void *data)
{
    JsTask *task = data;
    (void)env;
    task->run(task);
}

// A result that JavaScript has no memory for is an error, as one of the task itself.
static void complete(napi_env env, napi_status status, void *data)
{
    JsTask    *task    = data;
    napi_value args[2] = {NULL, NULL}, callback = NULL, self, ignored;
    if (status != napi_ok) { // the environment ends, and the task never ran
        task->destroy(env, task);
        return;
    }
    napi_get_reference_value(env, task->callback, &callback);
    napi_get_undefined(env, &self);
    if (!task->status) args[1] = task->result(env, task);
    if (args[1])
        args[0] = js_null(env);
    else if (task->status)
        args[0] = js_error_make(env, task->status, task->error.text);
    else
        napi_get_and_clear_last_exception(env, &args[0]);
    if (!args[1]) args[1] = self;
    task->destroy(env, task);
    if (args[0] && callback) napi_call_function(env, self, callback, 2, args, &ignored);
}

bool js_task_queue(napi_env env, JsTask *task, napi_value kept, napi_value callback)
{
    napi_value name = js_text(env, "hologram");
    if (napi_create_reference(env, callback, 1, &task->callback) ||
        (kept && napi_create_reference(env, kept, 1, &task->kept)) ||
        napi_create_async_work(env, NULL, name, execute, complete, task, &task->work) ||
        napi_queue_async_work(env, task->work))
        return js_throw(env, HOLO_NO_MEMORY, "Node could not begin work on another thread");
    return true;
}
