// model_run.c - runs that any number of threads may ask a model for at once.
//
// A model keeps the sessions that it has made for such runs. Those that nobody uses stand in slots, from which a caller takes
// one by an exchange: no lock is held, neither then nor during the run. A caller that finds none makes one; and where there
// are as many as there may be, it waits until one comes back.
#include "runtime/frame/frame.h"

#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SESSIONS_MAX = 256, ALIGN = 64 };

struct HoloRunner {
    HoloPool              *pool;  // of its sessions
    atomic_int             limit; // of their number; 0: not decided yet
    atomic_int             made;
    atomic_int             waiting; // callers
    HoloMutex              lock;    // of those who wait
    HoloCondition          given;
    _Atomic(HoloSession *) idle[SESSIONS_MAX]; // the first `limit` are in use
};

HoloRunner *holo_runner_create(void)
{
    HoloRunner *runner = holo_realloc(NULL, sizeof *runner);
    if (!runner) return NULL;
    memset(runner, 0, sizeof *runner);
    holo_mutex_init(&runner->lock);
    holo_condition_init(&runner->given);
    return runner;
}

void holo_runner_destroy(HoloRunner *runner)
{
    if (!runner) return;
    for (int i = 0; i < SESSIONS_MAX; i++) holo_session_destroy(atomic_load(&runner->idle[i]));
    holo_condition_deinit(&runner->given);
    holo_mutex_deinit(&runner->lock);
    holo_free(runner);
}

HoloStatus holo_model_set_runs(HoloModel *model, HoloPool *pool, int sessions, HoloError *error)
{
    HoloRunner *runner = model->runner;
    if (sessions < 0 || sessions > SESSIONS_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a model runs in 1 to %d sessions at once, not in %d", SESSIONS_MAX,
                         sessions);
    if (atomic_load(&runner->limit))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the model has run already: say before how it is to run");
    runner->pool = pool;
    if (sessions) atomic_store(&runner->limit, sessions);
    return HOLO_OK;
}

// ---- sessions

// One that nobody uses; NULL: there is none. Each thread begins to look at a place of its own, where it finds what it used last.
static HoloSession *idle_take(HoloRunner *runner, int limit)
{
    size_t from = (uintptr_t)holo_thread_mark() / 64 % (size_t)limit;
    for (int i = 0; i < limit; i++) {
        _Atomic(HoloSession *) *slot = &runner->idle[(from + (size_t)i) % (size_t)limit];
        if (!atomic_load_explicit(slot, memory_order_relaxed)) continue;
        HoloSession *session = atomic_exchange(slot, NULL);
        if (session) return session;
    }
    return NULL;
}

static void waiting_wake(HoloRunner *runner)
{
    if (!atomic_load(&runner->waiting)) return;
    holo_mutex_lock(&runner->lock);
    holo_condition_signal(&runner->given);
    holo_mutex_unlock(&runner->lock);
}

static void session_give(HoloRunner *runner, HoloSession *session)
{
    size_t limit = (size_t)atomic_load(&runner->limit), from = (uintptr_t)holo_thread_mark() / 64;
    holo_session_clear(session);
    for (size_t i = 0;; i++) { // there is a slot for each session
        HoloSession *none = NULL;
        if (atomic_compare_exchange_strong(&runner->idle[(from + i) % limit], &none, session)) break;
    }
    waiting_wake(runner);
}

// May one more be made?
static bool made_add(HoloRunner *runner, int limit)
{
    int made = atomic_load(&runner->made);
    while (made < limit)
        if (atomic_compare_exchange_weak(&runner->made, &made, made + 1)) return true;
    return false;
}

static HoloStatus session_make(const HoloModel *model, HoloSession **out, HoloError *error)
{
    HoloRunner *runner = model->runner;
    HoloStatus  status = holo_session_create(model, runner->pool, out, error);
    if (!status) return HOLO_OK;
    atomic_fetch_sub(&runner->made, 1);
    waiting_wake(runner);
    return status;
}

static HoloStatus session_get(const HoloModel *model, double deadline, HoloSession **out, HoloError *error)
{
    HoloRunner *runner = model->runner;
    int         limit = atomic_load(&runner->limit), none = 0;
    bool        is_late = false;
    if (!limit) {
        limit = holo_cpu_count() < SESSIONS_MAX ? holo_cpu_count() : SESSIONS_MAX;
        if (!atomic_compare_exchange_strong(&runner->limit, &none, limit)) limit = none;
    }
    *out = idle_take(runner, limit);
    if (*out) return HOLO_OK;
    if (made_add(runner, limit)) return session_make(model, out, error);
    holo_mutex_lock(&runner->lock);
    atomic_fetch_add(&runner->waiting, 1); // before the look at the slots: who gives one back looks the other way round
    bool may_make = false;
    while (!(*out = idle_take(runner, limit)) && !(may_make = made_add(runner, limit)) && !is_late) {
        if (deadline > 0)
            holo_condition_wait_until(&runner->given, &runner->lock, deadline);
        else
            holo_condition_wait(&runner->given, &runner->lock);
        is_late = deadline > 0 && holo_time_now() >= deadline;
    }
    atomic_fetch_sub(&runner->waiting, 1);
    holo_mutex_unlock(&runner->lock);
    if (may_make) return session_make(model, out, error);
    return *out ? HOLO_OK : holo_fail(error, HOLO_TIMEOUT, "no session of the model came free in time");
}

// ---- inputs and outputs

// Which port is meant; -1: none, with a message.
static int port_of(const HoloPort *ports, int count, const char *kind, const char *name, int index, HoloError *error)
{
    char names[512] = "";
    int  at         = 0;
    for (int i = 0; name && i < count; i++) {
        if (!strcmp(ports[i].name, name)) return i;
        if ((size_t)at < sizeof names)
            at += snprintf(names + at, sizeof names - (size_t)at, "%s%s", i ? ", " : "", ports[i].name);
    }
    if (!name && index >= 0 && index < count) return index;
    HoloStatus status =
        name ? holo_fail(error, HOLO_BAD_ARGUMENT, "the model has no %s %s; it has %s", kind, name, names)
             : holo_fail(error, HOLO_BAD_ARGUMENT, "there is no %s %d: the model has %d", kind, index, count);
    return status ? -1 : 0;
}

static HoloStatus fail_twice(const char *kind, const HoloPort *port, HoloError *error)
{
    return holo_fail(error, HOLO_BAD_ARGUMENT, "%s %s is given twice", kind, port->name);
}

typedef struct Owned { // memory of an output that the caller frees
    HoloArena arena;   // of what is no tensor of numbers
    char      bytes[];
} Owned;

typedef struct Keeper { // a host that copies values to such memory
    HoloHost host;
    Owned   *owned;
} Keeper;

static void *keep(const HoloHost *host, size_t size)
{
    return holo_arena_take(&((const Keeper *)host)->owned->arena, size);
}

static HoloStatus output_own(HoloRunOutput *output, const HoloTensor *view, HoloError *error)
{
    bool   is_plain = view->kind == HOLO_TENSOR && view->dtype != HOLO_STRING;
    size_t bytes    = is_plain ? holo_tensor_bytes(view) : 0, room;
    if (!holo_size_add(bytes, sizeof(Owned) + ALIGN, &room)) return holo_fail_memory(error);
    Owned *owned = holo_realloc(NULL, room);
    if (!owned) return holo_fail_memory(error);
    owned->arena   = (HoloArena){0};
    output->owned  = owned;
    output->tensor = *view;
    if (!is_plain) {
        Keeper keeper = {.host = {.keep = keep}, .owned = owned};
        return holo_value_clone(&keeper.host, view, &output->tensor, error);
    }
    output->tensor.data = owned->bytes + (holo_align((uintptr_t)owned->bytes, ALIGN) - (uintptr_t)owned->bytes);
    if (bytes) memcpy(output->tensor.data, view->data, bytes);
    return HOLO_OK;
}

void holo_run_outputs_free(HoloRunOutput *outputs, int count)
{
    for (int i = 0; i < count; i++) {
        Owned *owned = outputs[i].owned;
        if (!owned) continue;
        holo_arena_deinit(&owned->arena);
        holo_free(owned);
        outputs[i].owned  = NULL;
        outputs[i].tensor = (HoloTensor){0};
    }
}

// ---- a run

typedef struct Request {
    const HoloModel    *model;
    const HoloRunInput *inputs;
    HoloRunOutput      *outputs;
    int                 input_count, output_count;
    HoloError          *error;
} Request;

static HoloStatus inputs_set(const Request *r, HoloSession *session)
{
    const HoloModel *model = r->model;
    for (int i = 0; i < r->input_count; i++) {
        const HoloRunInput *in = &r->inputs[i];
        int at = port_of(model->inputs, holo_model_input_count(model), "input", in->name, in->index, r->error);
        if (at < 0) return HOLO_BAD_ARGUMENT;
        if (session->input_is_set[at]) return fail_twice("input", &model->inputs[at], r->error);
        HOLO_TRY(holo_session_set_input(session, at, &in->tensor, r->error));
    }
    return HOLO_OK;
}

static HoloStatus outputs_set(const Request *r, HoloSession *session)
{
    const HoloModel *model = r->model;
    for (int i = 0; i < r->output_count; i++) {
        HoloRunOutput *out = &r->outputs[i];
        int at = port_of(model->outputs, holo_model_output_count(model), "output", out->name, out->index, r->error);
        if (at < 0) return HOLO_BAD_ARGUMENT;
        for (int k = 0; k < i; k++)
            if (r->outputs[k].index == at) return fail_twice("output", &model->outputs[at], r->error);
        out->index = at;
        if (out->data) HOLO_TRY(holo_session_set_output(session, at, out->data, out->size, r->error));
    }
    return HOLO_OK;
}

static HoloStatus request_run(const Request *r, HoloSession *session)
{
    HOLO_TRY(inputs_set(r, session));
    HOLO_TRY(outputs_set(r, session));
    HOLO_TRY(holo_session_run(session, r->error));
    for (int i = 0; i < r->output_count; i++) {
        HoloRunOutput *out = &r->outputs[i];
        HoloTensor     view;
        HOLO_TRY(holo_session_output(session, out->index, &view, r->error));
        if (out->data)
            out->tensor = view;
        else
            HOLO_TRY(output_own(out, &view, r->error));
    }
    return HOLO_OK;
}

HoloStatus holo_model_run(const HoloModel *model, const HoloRunInput *inputs, int input_count, HoloRunOutput *outputs,
                          int output_count, const HoloRunOptions *options, HoloError *error)
{
    HOLO_IN(model->account);
    Request      r       = {model, inputs, outputs, input_count, output_count, error};
    HoloSession *session = NULL;
    double       limit = options ? options->time_limit : 0, deadline = 0;
    for (int i = 0; i < output_count; i++) outputs[i].owned = NULL, outputs[i].tensor = (HoloTensor){0};
    if (!(limit >= 0)) return holo_fail(error, HOLO_BAD_ARGUMENT, "a time limit is 0 or more, not %g", limit);
    if (limit > 0) deadline = holo_time_now() + limit;
    HOLO_TRY(session_get(model, deadline, &session, error));
    if (limit > 0) session->time_limit = fmax(deadline - holo_time_now(), 1e-9); // what is left of it
    HoloStatus status = request_run(&r, session);
    session_give(model->runner, session);
    if (status) holo_run_outputs_free(outputs, output_count);
    return status;
}
