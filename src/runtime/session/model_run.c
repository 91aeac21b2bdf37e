// model_run.c - runs of a model that any number of threads may ask for at once.
//
// A model keeps the sessions that it made for such runs. Unused ones are in slots; a caller takes one by an atomic
// exchange, so no lock is held, neither then nor during the run. A caller that finds none makes one. If there are as
// many as allowed, it waits until one comes back.
#include "runtime/session/lent.h"

#include "runtime/frame/frame.h"

#include "base/files.h"
#include "base/threads.h"
#include "runtime/sharing.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SESSIONS_MAX = 256, ALIGN = 64 };

struct HoloRunner {
    HoloPool              *pool;  // for its sessions
    atomic_int             limit; // of their number; 0: not decided yet
    atomic_int             made;
    atomic_int             waiting; // callers that wait
    atomic_uint            forks;   // when it was made, or put in order: see holo_forks
    HoloMutex              lock;    // for those who wait
    HoloCondition          given;
    _Atomic(HoloSession *) idle[SESSIONS_MAX]; // the first `limit` slots are in use
};

HoloRunner *holo_runner_create(void)
{
    HoloRunner *runner = holo_realloc(NULL, sizeof *runner);
    if (!runner) return NULL;
    memset(runner, 0, sizeof *runner);
    atomic_init(&runner->forks, holo_forks());
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
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a model can run in 1 to %d sessions at once, not in %d",
                         SESSIONS_MAX, sessions);
    if (atomic_load(&runner->limit))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the model has already run: set this before the first run");
    if (model->twin) HOLO_TRY(holo_model_set_runs(model->twin, pool, sessions, error));
    runner->pool = pool;
    if (sessions) atomic_store(&runner->limit, sessions);
    return HOLO_OK;
}

// ---- sessions

// An unused session; NULL: there is none. Each thread begins with a slot of its own, where it finds the session it used
// last.
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

// Waits until a session comes back, the time is over, or somebody cancels the run. Cancelling wakes nobody, so it
// checks now and then.
static void session_await(HoloRunner *runner, HoloStop *stop)
{
    const double look  = 0.01;
    double       until = stop->deadline;
    if (stop->flag) {
        double next = holo_time_now() + look;
        until       = until > 0 ? fmin(until, next) : next;
    }
    if (until > 0)
        holo_condition_wait_until(&runner->given, &runner->lock, until);
    else
        holo_condition_wait(&runner->given, &runner->lock);
}

// In a process that was forked, the sessions that other threads had then never come back, nor does a lock that they
// held.
static void runner_forked(HoloRunner *runner)
{
    enum { AT_IT = UINT_MAX };
    unsigned now = holo_forks(), seen = atomic_load(&runner->forks);
    while (seen != now) {
        if (seen == AT_IT || !atomic_compare_exchange_weak(&runner->forks, &seen, AT_IT)) {
            holo_cpu_pause();
            seen = atomic_load(&runner->forks);
            continue;
        }
        int idle = 0;
        for (int i = 0; i < SESSIONS_MAX; i++) idle += atomic_load(&runner->idle[i]) != NULL;
        holo_mutex_init(&runner->lock);
        holo_condition_init(&runner->given);
        atomic_store(&runner->waiting, 0);
        atomic_store(&runner->made, idle);
        atomic_store(&runner->forks, now);
        return;
    }
}

static HoloStatus session_get(const HoloModel *model, HoloStop *stop, HoloSession **out, HoloError *error)
{
    HoloRunner *runner = model->runner;
    int         limit = atomic_load(&runner->limit), none = 0;
    if (atomic_load_explicit(&runner->forks, memory_order_relaxed) != holo_forks()) runner_forked(runner);
    if (!limit) {
        limit = holo_cpu_count() < SESSIONS_MAX ? holo_cpu_count() : SESSIONS_MAX;
        if (!atomic_compare_exchange_strong(&runner->limit, &none, limit)) limit = none;
    }
    *out = idle_take(runner, limit);
    if (*out) return HOLO_OK;
    if (made_add(runner, limit)) return session_make(model, out, error);
    holo_mutex_lock(&runner->lock);
    atomic_fetch_add(&runner->waiting, 1); // before looking at the slots; who gives one back does the opposite
    bool may_make = false;
    while (!(*out = idle_take(runner, limit)) && !(may_make = made_add(runner, limit)) && !holo_stop_is_due(stop))
        session_await(runner, stop);
    atomic_fetch_sub(&runner->waiting, 1);
    holo_mutex_unlock(&runner->lock);
    if (may_make) return session_make(model, out, error);
    if (*out) return HOLO_OK;
    return atomic_load(&stop->why) == HOLO_STOP_LATE
               ? holo_fail(error, HOLO_TIMEOUT, "no session of the model became free in time")
               : holo_fail(error, HOLO_CANCELLED, "the run was cancelled while it waited for a session");
}

// ---- inputs and outputs

// The index of the port; -1: there is none, and the message says so.
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
    HoloArena arena;   // for values that are not tensors of numbers
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
    bool                lends; // the session, with the outputs in it, to the caller
    HoloError          *error;
} Request;

static HoloStatus inputs_set(const Request *r, HoloSession *session)
{
    const HoloModel *model = r->model;
    for (int i = 0; i < r->input_count; i++) {
        const HoloRunInput *in = &r->inputs[i];
        int at = port_of(model->inputs, holo_model_input_count(model), "input", in->name, in->index, r->error);
        if (at < 0) return holo_tell_failure(HOLO_BAD_ARGUMENT, "a run", r->error);
        if (session->input_is_set[at])
            return holo_tell_failure(fail_twice("input", &model->inputs[at], r->error), "a run", r->error);
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
        if (at < 0) return holo_tell_failure(HOLO_BAD_ARGUMENT, "a run", r->error);
        for (int k = 0; k < i; k++)
            if (r->outputs[k].index == at)
                return holo_tell_failure(fail_twice("output", &model->outputs[at], r->error), "a run", r->error);
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
        if (out->data || r->lends)
            out->tensor = view;
        else
            HOLO_TRY(output_own(out, &view, r->error));
    }
    return HOLO_OK;
}

// Reads the options that the caller's header has: those of an older header are shorter.
static HoloStatus options_take(const HoloRunOptions *options, HoloRunOptions *out, HoloError *error)
{
    enum { FIRST = offsetof(HoloRunOptions, cancel) }; // size in the first header
    *out = (HoloRunOptions){0};
    if (!options) return HOLO_OK;
    if (options->size < FIRST)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the size of HoloRunOptions is given as %zu: it is %zu",
                         options->size, sizeof *options);
    memcpy(out, options, options->size < sizeof *out ? options->size : sizeof *out);
    if (!(out->time_limit >= 0))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a time limit must be 0 or more, not %g", out->time_limit);
    return HOLO_OK;
}

// Runs it in a session, and gives that back, or to the caller who asked for it.
static HoloStatus request_serve(Request *r, const HoloRunOptions *options, HoloSession **out_lent)
{
    HoloSession   *session = NULL;
    HoloRunOptions asked;
    for (int i = 0; i < r->output_count; i++) r->outputs[i].owned = NULL, r->outputs[i].tensor = (HoloTensor){0};
    HOLO_TRY(holo_sharing_choose(r->model, &r->model, r->error));
    HOLO_TRY(holo_tell_failure(options_take(options, &asked, r->error), "a run", r->error));
    HoloStop stop = {.flag = asked.cancel};
    if (asked.time_limit > 0) stop.deadline = holo_time_now() + asked.time_limit;
    HOLO_TRY(session_get(r->model, &stop, &session, r->error));
    if (stop.deadline > 0)
        session->time_limit = fmax(stop.deadline - holo_time_now(), 1e-9); // what is left of the time
    session->cancel   = asked.cancel;
    HoloStatus status = request_run(r, session);
    if (r->lends && !status)
        *out_lent = session;
    else
        session_give(r->model->runner, session);
    if (status) holo_run_outputs_free(r->outputs, r->output_count);
    return status;
}

HoloStatus holo_model_run(const HoloModel *model, const HoloRunInput *inputs, int input_count, HoloRunOutput *outputs,
                          int output_count, const HoloRunOptions *options, HoloError *error)
{
    HOLO_IN(model->account);
    Request r = {model, inputs, outputs, input_count, output_count, false, error};
    return request_serve(&r, options, NULL);
}

HoloStatus holo_model_run_lent(const HoloModel *model, const HoloRunInput *inputs, int input_count,
                               HoloRunOutput *outputs, int output_count, const HoloRunOptions *options,
                               HoloSession **out_lent, HoloError *error)
{
    HOLO_IN(model->account);
    Request r = {model, inputs, outputs, input_count, output_count, true, error};
    return request_serve(&r, options, out_lent);
}

void holo_model_lent_back(const HoloModel *model, HoloSession *lent)
{
    HOLO_IN(model->account);
    session_give(lent->model->runner, lent); // which may be that of the plan for a device
}
