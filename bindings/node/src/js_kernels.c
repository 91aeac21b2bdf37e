// js_kernels.c - kernels of the kernel language, run on typed arrays.
#include "addon.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 256 };

typedef struct KernelJob {
    JsTask            task;
    JsHolder         *kernels, *pool;
    int               index, count;
    HoloKernelLaunch  launch;
    HoloTensor       *args;
    const HoloTensor *pointers[ARGS_MAX];
    JsPiece          *pieces;
} KernelJob;

static void kernel_run(JsTask *task)
{
    KernelJob *job = (KernelJob *)task;
    task->status =
        holo_kernels_run(job->kernels->object, job->index, job->pointers, job->count, &job->launch, &task->error);
}

static napi_value kernel_result(napi_env env, JsTask *task)
{
    napi_value none = NULL;
    (void)task;
    napi_get_undefined(env, &none);
    return none;
}

static void kernel_destroy(napi_env env, JsTask *task)
{
    KernelJob *job = (KernelJob *)task;
    if (job->kernels && job->kernels->job == job) job->kernels->job = NULL;
    js_holder_unref(job->kernels);
    js_holder_unref(job->pool);
    js_pieces_free(&job->pieces);
    js_task_deinit(env, task);
    free(job);
}

// In the block: the kernel, lanes, three sizes of a block, turns, how many arguments there are, and these.
static bool kernel_read(JsReader *reader, KernelJob *job)
{
    double numbers[7];
    for (int i = 0; i < 7; i++) {
        if (!js_read_number(reader, &numbers[i])) return false;
        if (!(numbers[i] >= 0 && numbers[i] <= (i == 1 || i == 5 ? 0x1p53 : INT32_MAX)))
            return js_throw_argument(reader->env, "%.17g is no number of lanes, turns or arguments", numbers[i]);
    }
    job->index        = (int)numbers[0];
    job->launch.lanes = (int64_t)numbers[1];
    for (int i = 0; i < 3; i++) job->launch.block[i] = (int)numbers[2 + i];
    job->launch.turns = (int64_t)numbers[5];
    job->count        = (int)numbers[6];
    if (job->count > ARGS_MAX) return js_throw_argument(reader->env, "a kernel has at most %d arguments", ARGS_MAX);
    job->args = js_piece(reader->pieces, (size_t)(job->count ? job->count : 1) * sizeof *job->args);
    if (!job->args) return js_throw(reader->env, HOLO_NO_MEMORY, "");
    for (int i = 0; i < job->count; i++) {
        if (!js_tensor_read(reader, &job->args[i])) return false;
        job->pointers[i] = &job->args[i];
    }
    return true;
}

static bool kernel_take(napi_env env, napi_value handle, napi_value pool, KernelJob *job)
{
    JsHolder *kernels, *threads;
    if (!js_holder_get(env, handle, JS_HoloKernels, false, &kernels) ||
        !js_holder_get(env, pool, JS_HoloPool, true, &threads))
        return false;
    if (kernels->job) return js_throw(env, HOLO_BUSY, "a kernel of this file is running: wait for its promise");
    js_holder_ref(kernels);
    js_holder_ref(threads);
    job->kernels     = kernels;
    job->pool        = threads;
    job->launch.pool = threads ? threads->object : NULL;
    return true;
}

// kernels_run(handle, arrays, pool, callback): at once where there is no callback.
static napi_value kernels_run(napi_env env, napi_callback_info info)
{
    napi_value args[4];
    JsReader   reader;
    KernelJob *job = calloc(1, sizeof *job);
    if (!job) return js_throw(env, HOLO_NO_MEMORY, "");
    js_task_init(&job->task, kernel_run, kernel_result, kernel_destroy);
    if (js_args(env, info, 4, args) && kernel_take(env, args[0], args[2], job) &&
        js_reader_open(env, args[1], &job->pieces, &reader) && kernel_read(&reader, job)) {
        if (!js_is_nothing(env, args[3])) {
            if (js_task_queue(env, &job->task, args[1], args[3])) {
                job->kernels->job = job;
                return NULL;
            }
        } else {
            kernel_run(&job->task);
            if (job->task.status) js_throw(env, job->task.status, job->task.error.text);
        }
    }
    kernel_destroy(env, &job->task);
    return NULL;
}

const JsFunction js_functions_kernels[] = {
    {"kernels_run", kernels_run},
    {NULL, NULL},
};
