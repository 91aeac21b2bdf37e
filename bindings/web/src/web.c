// web.c - memory, threads, models, sessions and runs for JavaScript. See web.h.
#include "web.h"

#include "base/wasm.h"
#include "runtime/session/lent.h"

#include <stdlib.h>
#include <string.h>

HoloError web_last;

HoloError *web_anew(void)
{
    memset(&web_last, 0, sizeof web_last.status + 1);
    return &web_last;
}

HoloStatus web_fail_memory(void)
{
    web_last = (HoloError){.status = HOLO_NO_MEMORY, .text = "out of memory"};
    return HOLO_NO_MEMORY;
}

const HoloError *WEB(web_error)(void)
{
    return &web_last;
}

HoloString web_found;

const HoloString *WEB(web_given)(void)
{
    return &web_found;
}

bool WEB(web_asset)(const HoloModel *model, const char *name)
{
    return holo_model_asset(model, name, &web_found);
}

// ---- memory

void *WEB(web_take)(size_t size) // 64-byte aligned; NULL: no memory
{
    return size > SIZE_MAX - 64 ? NULL : aligned_alloc(64, (size + 64) / 64 * 64);
}

void WEB(web_free)(void *memory)
{
    free(memory);
}

double WEB(web_held)(void) // bytes that the library holds
{
    return (double)holo_memory_held();
}

// ---- threads

// A worker begins here, on a stack and with thread-locals of its own, which it has set up before.
void WEB(web_serve)(void)
{
    holo_wasm_thread_serve();
}

int WEB(web_servants)(void)
{
    return holo_wasm_thread_count();
}

void WEB(web_restless)(void)
{
    holo_wasm_thread_restless();
}

HoloPool *WEB(web_pool)(int threads)
{
    HoloPool *pool;
    return holo_pool_create_in(NULL, threads, NULL, 0, &pool, web_anew()) ? NULL : pool;
}

// ---- models and sessions

// The bytes of an archive, from web_take, which stay until the model is closed.
HoloModel *WEB(web_open)(const void *bytes, size_t size, HoloPool *pool, int sessions)
{
    HoloModel *model;
    if (holo_model_open_memory(bytes, size, &model, web_anew())) return NULL;
    if (!holo_model_set_runs(model, pool, sessions, &web_last)) return model;
    holo_model_close(model);
    return NULL;
}

void WEB(web_close)(HoloModel *model)
{
    holo_model_close(model);
}

HoloStatus WEB(web_verify)(const HoloModel *model)
{
    return holo_model_verify(model, web_anew());
}

HoloSession *WEB(web_session)(const HoloModel *model, HoloPool *pool)
{
    HoloSession *session;
    return holo_session_create(model, pool, &session, web_anew()) ? NULL : session;
}

void WEB(web_session_close)(HoloSession *session)
{
    holo_session_destroy(session);
}

HoloStatus WEB(web_session_memo)(HoloSession *session, double bytes)
{
    return holo_session_set_memo(session, (size_t)bytes, web_anew());
}

HoloStatus WEB(web_session_limit)(HoloSession *session, double bytes)
{
    return holo_session_set_memory_limit(session, (uint64_t)bytes, web_anew());
}

void WEB(web_session_profile)(HoloSession *session, bool on)
{
    holo_session_profile(session, on);
}

// ---- runs

// JavaScript writes and reads tensors, inputs and outputs by these numbers: engine.mjs names them in this order.
const int *WEB(web_layout)(void)
{
    static const int layout[] = {sizeof(void *),
                                 sizeof(HoloTensor),
                                 offsetof(HoloTensor, dim),
                                 offsetof(HoloTensor, data),
                                 sizeof(HoloRunInput),
                                 offsetof(HoloRunInput, index),
                                 offsetof(HoloRunInput, tensor),
                                 sizeof(HoloRunOutput),
                                 offsetof(HoloRunOutput, index),
                                 offsetof(HoloRunOutput, tensor)};
    return layout;
}

// What is not 0 here stops the run that goes on. A page writes it while its worker runs, where the memory is shared.
static volatile int stopped;

volatile int *WEB(web_stop)(void)
{
    return &stopped;
}

// The outputs are views of the session that it gives, until web_run_end: JavaScript copies them, and one copy is enough.
HoloSession *WEB(web_run)(const HoloModel *model, const HoloRunInput *inputs, int input_count, HoloRunOutput *outputs,
                          int output_count, double time_limit)
{
    HoloRunOptions options = {sizeof options, time_limit, &stopped};
    HoloSession   *lent;
    return holo_model_run_lent(model, inputs, input_count, outputs, output_count, &options, &lent, web_anew()) ? NULL
                                                                                                               : lent;
}

void WEB(web_run_end)(const HoloModel *model, HoloSession *lent)
{
    holo_model_lent_back(model, lent);
}

// An optional input that is not given keeps nothing of an earlier run.
static HoloStatus input_forget(HoloSession *session, const HoloModel *model, int index)
{
    HoloTensor none = holo_model_input(model, index)->type;
    none.rank       = 1;
    none.dim[0]     = 0;
    none.data       = NULL;
    return holo_session_set_input(session, index, &none, &web_last);
}

static HoloStatus inputs_set(HoloSession *session, const HoloModel *model, const HoloRunInput *inputs, int count)
{
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < holo_model_input_count(model) && !status; i++) {
        const HoloRunInput *given = NULL;
        for (int k = 0; k < count; k++)
            if (inputs[k].index == i) given = &inputs[k];
        if (given)
            status = holo_session_set_input(session, i, &given->tensor, &web_last);
        else if (holo_model_input(model, i)->optional)
            status = input_forget(session, model, i);
    }
    return status;
}

// The outputs are views that live until the next run.
HoloStatus WEB(web_session_run)(HoloSession *session, const HoloModel *model, const HoloRunInput *inputs,
                                int input_count, HoloRunOutput *outputs, int output_count, double time_limit)
{
    HoloStatus status = holo_session_set_time_limit(session, time_limit, web_anew());
    if (!status) status = inputs_set(session, model, inputs, input_count);
    if (!status) status = holo_session_run(session, &web_last);
    for (int i = 0; i < output_count && !status; i++)
        status = holo_session_output(session, outputs[i].index, &outputs[i].tensor, &web_last);
    return status;
}
