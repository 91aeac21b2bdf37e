// session_use.c - makes sure that one thread at a time uses a session, and answers what any thread may ask.
#include "runtime/frame/frame.h"

#include "base/threads.h"

// The flag belongs to the session, even if a caller has it as const.
static HoloUsers *users_of(const HoloSession *session)
{
    return (HoloUsers *)(uintptr_t)&session->users;
}

HoloStatus holo_session_take(const HoloSession *session, HoloError *error)
{
    HoloUsers *users = users_of(session);
    if (!atomic_exchange_explicit(&users->is_taken, true, memory_order_acquire)) return HOLO_OK;
    atomic_store(&users->have_met, true);
    HOLO_IN(session->account);
    HoloStatus status = holo_fail(
        error, HOLO_BUSY, "another thread is using this session: give each thread its own, or call holo_model_run");
    return holo_tell_failure(status, "a session", error);
}

HoloStatus holo_session_give(const HoloSession *session, HoloStatus status, const HoloError *error)
{
    if (status) {
        const HoloScope *scope = holo_scope_current();
        const char      *what  = scope && scope->what ? scope->what : "a session";
        HOLO_IN(session->account);
        (void)holo_tell_failure(status, what, error);
    }
    HoloSeen *seen = (HoloSeen *)(uintptr_t)&session->seen;
    atomic_store_explicit(&seen->hits, session->memo ? session->memo->hits : 0, memory_order_relaxed);
    atomic_store_explicit(&seen->misses, session->memo ? session->memo->misses : 0, memory_order_relaxed);
    atomic_store_explicit(&users_of(session)->is_taken, false, memory_order_release);
    return status;
}

HoloStatus holo_session_owns_sets(const HoloSession *session, HoloError *error)
{
    const HoloModel *model = session->model;
    const HoloUsers *users = &session->users;
    const void      *me    = holo_thread_mark();
    if (!atomic_load_explicit(&users->have_met, memory_order_relaxed)) return HOLO_OK;
    for (int i = 0; i < holo_model_input_count(model); i++)
        if (session->input_is_set[i] && users->set_input[i] != me)
            return holo_fail(error, HOLO_BUSY, "input %s was set by another thread that uses this session",
                             model->inputs[i].name);
    for (int i = 0; i < holo_model_output_count(model); i++)
        if (session->outputs[i].data && users->set_output[i] != me)
            return holo_fail(error, HOLO_BUSY, "memory for output %s was set by another thread that uses this session",
                             model->outputs[i].name);
    return HOLO_OK;
}

HoloStatus holo_session_owns_run(const HoloSession *session, HoloError *error)
{
    const HoloUsers *users = &session->users;
    if (!atomic_load_explicit(&users->have_met, memory_order_relaxed) || users->ran == holo_thread_mark())
        return HOLO_OK;
    return holo_fail(error, HOLO_BUSY, "the last run was by another thread that uses this session");
}

// ---- what any thread may ask at any time

void holo_session_memo_counts(const HoloSession *session, uint64_t *out_hits, uint64_t *out_misses)
{
    if (out_hits) *out_hits = atomic_load_explicit(&session->seen.hits, memory_order_relaxed);
    if (out_misses) *out_misses = atomic_load_explicit(&session->seen.misses, memory_order_relaxed);
}

uint32_t holo_session_kept_steps(const HoloSession *session)
{
    return atomic_load_explicit(&session->seen.kept_steps, memory_order_relaxed);
}

void holo_session_profile(HoloSession *session, bool on)
{
    atomic_store_explicit(&session->seen.is_profiled, on, memory_order_relaxed);
}
