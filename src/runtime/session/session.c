// session.c - the public functions for running: set inputs, run, get outputs.
#include "runtime/frame/frame.h"

#include "base/guard.h"
#include "base/text.h"
#include "base/threads.h"
#include "runtime/pool.h"
#include "runtime/session/given.h"
#include "runtime/session/reuse.h"
#include "runtime/session/states.h"
#include "runtime/session/there.h"
#include "runtime/sharing.h"

#include <stdio.h>
#include <string.h>

// The CPU's scratch has a piece for each worker.
static HoloStatus devices_open(HoloSession *session, HoloError *error)
{
    const HoloModel *model = session->model;
    session->devices       = HOLO_NEW(&session->arena, HoloOpenDevice, model->device_count);
    if (!session->devices) return holo_fail_memory(error);
    for (uint32_t i = 0; i < model->device_count; i++, session->device_count++) {
        HoloOpenDevice *on = &session->devices[i];
        *on = (HoloOpenDevice){.device = model->devices[i], .pieces = i ? 1 : holo_pool_threads(session->pool)};
        HoloDeviceSetup setup;
        if (!on->device->open) continue;
        HOLO_TRY(holo_sharing_setup(model, i, &setup, error));
        HOLO_TRY(on->device->open(&setup, &on->self, error));
    }
    return HOLO_OK;
}

static void devices_close(HoloSession *session)
{
    for (uint32_t i = 0; i < session->device_count; i++) {
        HoloOpenDevice *on = &session->devices[i];
        on->device->give(on->self, on->scratch, on->scratch_size);
        if (on->device->close) on->device->close(on->self);
    }
}

static HoloStatus arrays_create(HoloSession *session, HoloError *error)
{
    const HoloModel *model = session->model;
    session->frames        = HOLO_NEW(&session->arena, HoloFrame *, model->archive.PLANS_count);
    session->inputs        = HOLO_NEW(&session->arena, HoloTensor, holo_model_given_count(model) + 1);
    session->own_inputs    = HOLO_NEW(&session->arena, void *, holo_model_given_count(model) + 1);
    session->defaults      = HOLO_NEW(&session->arena, HoloDefault, holo_model_given_count(model) + 1);
    session->there         = HOLO_NEW(&session->arena, HoloThere, holo_model_given_count(model) + 1);
    session->input_is_set  = HOLO_NEW(&session->arena, bool, holo_model_given_count(model) + 1);
    session->sizes         = HOLO_NEW(&session->arena, int64_t, model->archive.SYMBOLS_count + 1);
    session->outputs =
        holo_arena_take_array(&session->arena, (size_t)holo_model_output_count(model) + 1, sizeof *session->outputs);
    session->users.set_input  = HOLO_NEW(&session->arena, const void *, holo_model_input_count(model) + 1);
    session->users.set_output = HOLO_NEW(&session->arena, const void *, holo_model_output_count(model) + 1);
    HOLO_TRY(devices_open(session, error));
    if (!session->frames || !session->inputs || !session->input_is_set || !session->own_inputs || !session->defaults ||
        !session->sizes || !session->there || !session->outputs || !session->users.set_input ||
        !session->users.set_output)
        return holo_fail_memory(error);
    HOLO_TRY(holo_frame_create(session, model->plan, NULL, &session->frames[model->plan], error));
    session->frame = session->frames[model->plan];
    return HOLO_OK;
}

// The types of the inputs, as far as the model fixes them. True: it fixes all of them.
static bool inputs_are_fixed(const HoloSession *session, const HoloTensor **types)
{
    for (int i = 0; i < holo_model_given_count(session->model); i++) {
        const HoloTensor *t = &session->model->inputs[i].type;
        if (t->rank < 0 || !t->dtype || t->kind != HOLO_TENSOR) return false;
        for (int d = 0; d < t->rank; d++)
            if (t->dim[d] < 0) return false;
        types[i] = t;
    }
    return true;
}

// A model with fixed sizes is bound at once, so that its runs only run.
static HoloStatus bind_early(HoloSession *session, HoloError *error)
{
    const HoloTensor **types =
        HOLO_NEW(&session->arena, const HoloTensor *, holo_model_given_count(session->model) + 1);
    if (!types) return holo_fail_memory(error);
    bool in_parts;
    return inputs_are_fixed(session, types) ? holo_images_bind(session, types, &in_parts, error) : HOLO_OK;
}

static HoloStatus parts_create(HoloSession *session, HoloError *error)
{
    if (!session->account) return holo_fail_memory(error);
    HOLO_TRY(arrays_create(session, error));
    HOLO_TRY(bind_early(session, error));
    const HoloModel *model = session->model;
    if (!model->archive.MEMO_ENTRIES_count) return HOLO_OK;
    session->memo = holo_memo_create(model);
    return session->memo ? HOLO_OK : holo_fail_memory(error);
}

const char *holo_session_device(const HoloSession *session)
{
    return session->device;
}

HoloStatus holo_session_create(const HoloModel *model, HoloPool *pool, HoloSession **out_session, HoloError *error)
{
    HOLO_IN(model->account);
    *out_session = NULL;
    HOLO_TRY(holo_sharing_choose(model, &model, error));
    HoloSession *session = holo_realloc(NULL, sizeof *session);
    if (!session) return holo_fail_memory(error);
    memset(session, 0, sizeof *session);
    session->model = model;
    session->pool  = pool;
    holo_sharing_name(model, model->device_count > 1, session->device, sizeof session->device);
    atomic_init(&session->stop.why, 0);
    session->account = holo_account_open();
    HoloScope scope  = {.account = session->account, .what = "a session"};
    holo_scope_enter(&scope);
    HoloStatus status = parts_create(session, error);
    holo_scope_leave(&scope);
    if (status)
        holo_session_destroy(session);
    else
        *out_session = session;
    if (!status && holo_is_told(HOLO_LOG_INFO))
        holo_tell(HOLO_LOG_INFO, "made a session of %s on %d thread%s, for %s",
                  holo_size_text(holo_account_held(session->account)).text, holo_pool_threads(pool),
                  holo_pool_threads(pool) == 1 ? "" : "s", session->device);
    return holo_tell_failure(status, "a session", error);
}

void holo_session_destroy(HoloSession *session)
{
    if (!session) return;
    for (size_t i = 0; session->frames && i < session->model->archive.PLANS_count; i++)
        holo_frame_destroy(session->frames[i]);
    holo_states_deinit(session);
    devices_close(session);
    holo_memo_destroy(session->memo);
    holo_images_deinit(&session->images);
    holo_defaults_deinit(session);
    holo_profile_deinit(&session->profile);
    holo_arena_deinit(&session->arena);
    holo_account_close(session->account);
    holo_free(session);
}

HoloStatus holo_session_set_memory_limit(HoloSession *session, uint64_t bytes, HoloError *error)
{
    uint64_t held = holo_account_held(session->account);
    if (bytes && held > bytes)
        return holo_fail(error, HOLO_NO_MEMORY, "the session already holds %s, and its limit is %s",
                         holo_size_text(held).text, holo_size_text(bytes).text);
    holo_account_limit(session->account, bytes);
    return HOLO_OK;
}

// Shows as much of each piece as a kernel asked for. Only the host's memory is watched.
static void scratch_show(const HoloSession *session, const HoloOpenDevice *on, size_t scratch)
{
    for (int i = 0; i < on->pieces && scratch && on == session->devices; i++)
        holo_guard_show(on->scratch + (size_t)i * on->scratch_stride, scratch);
}

HoloStatus holo_session_reserve(HoloSession *session, HoloOpenDevice *on, size_t scratch, HoloError *error)
{
    size_t stride, size;
    if (scratch > SIZE_MAX / 2) return holo_fail_memory(error);
    stride = holo_align(scratch, 4096);
    if (stride <= on->scratch_stride) {
        scratch_show(session, on, scratch);
        return HOLO_OK;
    }
    if (!holo_size_mul(stride, (size_t)on->pieces, &size)) return holo_fail_memory(error);
    char *memory = on->device->take(on->self, size, session->model->memory_how);
    if (!memory) return holo_fail_memory(error);
    on->device->give(on->self, on->scratch, on->scratch_size);
    on->scratch        = memory;
    on->scratch_size   = size;
    on->scratch_stride = stride;
    if (on == session->devices) holo_guard_hide(memory, size);
    scratch_show(session, on, scratch);
    return HOLO_OK;
}

// ---- inputs and outputs

HoloTypeText holo_type_text(const HoloTensor *t, const char *const *symbol)
{
    HoloTypeText have;
    size_t       room = sizeof have.text;
    int          at   = snprintf(have.text, room, "%s[", holo_dtype_name((HoloDtype)t->dtype));
    for (int d = 0; d < t->rank; d++) {
        char  *to   = have.text + at, name[HOLO_SYMBOL_SHOWN];
        size_t left = room - (size_t)at;
        if (symbol && symbol[d]) holo_text_short(symbol[d], name, sizeof name);
        if (symbol && symbol[d])
            at += snprintf(to, left, "%s%s", d ? "," : "", name);
        else if (t->dim[d] == HOLO_DIM_UNKNOWN)
            at += snprintf(to, left, d ? ",?" : "?");
        else
            at += snprintf(to, left, "%s%lld", d ? "," : "", (long long)t->dim[d]);
    }
    snprintf(have.text + at, room - (size_t)at, t->rank < 0 ? "...]" : "]");
    return have;
}

static bool port_takes(const HoloTensor *port, const HoloTensor *t)
{
    if (port->dtype && (port->dtype != t->dtype || !holo_kind_fits(port->kind, port->inner, t))) return false;
    if (port->rank < 0 || t->kind != HOLO_TENSOR || port->kind != HOLO_TENSOR) return true;
    if (port->rank != t->rank) return false;
    for (int d = 0; d < t->rank; d++)
        if (port->dim[d] >= 0 && port->dim[d] != t->dim[d]) return false;
    return true;
}

static int64_t count_of(const HoloTensor *t)
{
    return t->kind == HOLO_MAP ? 1 : holo_tensor_count(t);
}

HoloStatus holo_port_fits(const HoloPort *port, const HoloTensor *tensor, HoloError *error)
{
    if (count_of(tensor) < 0)
        return holo_fail(error, HOLO_BAD_INPUT, "input %s has a negative or too large size", port->name);
    bool is_free = port->any_shape && port->type.dtype == tensor->dtype;
    if (is_free || port_takes(&port->type, tensor)) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_INPUT, "input %s should be %s, but is %s", port->name,
                     holo_type_text(&port->type, port->symbol).text, holo_type_text(tensor, NULL).text);
}

static HoloStatus input_set(HoloSession *session, int index, const HoloTensor *tensor, HoloError *error)
{
    const HoloPort *port = holo_model_input(session->model, index);
    if (!port)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no input %d: the model has %d", index,
                         holo_model_input_count(session->model));
    if (!tensor) return holo_fail(error, HOLO_BAD_ARGUMENT, "no tensor is given for input %s", port->name);
    HOLO_TRY(holo_port_fits(port, tensor, error));
    int64_t count = count_of(tensor);
    if (count && !tensor->data) return holo_fail(error, HOLO_BAD_INPUT, "input %s has no data", port->name);
    if (tensor->kind == HOLO_TENSOR && !holo_dtype_size((HoloDtype)tensor->dtype))
        return holo_fail(error, HOLO_BAD_INPUT, "input %s has an unknown element type: %d", port->name, tensor->dtype);
    size_t align = holo_dtype_size((HoloDtype)tensor->dtype);
    if (tensor->dtype == HOLO_C64 || align > 8) align /= 2; // complex numbers and strings have two parts
    if (align && (uintptr_t)tensor->data % align)
        return holo_fail(error, HOLO_BAD_INPUT, "the data of input %s is not aligned to its elements of %zu bytes",
                         port->name, holo_dtype_size((HoloDtype)tensor->dtype));
    session->inputs[index]          = *tensor;
    session->there[index].is_input  = false;
    session->input_is_set[index]    = true;
    session->users.set_input[index] = holo_thread_mark();
    return HOLO_OK;
}

HoloStatus holo_session_set_input(HoloSession *session, int index, const HoloTensor *tensor, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, input_set(session, index, tensor, error), error);
}

static HoloStatus output_set(HoloSession *session, int index, void *data, size_t size, HoloError *error)
{
    const HoloPort *port = holo_model_output(session->model, index);
    if (!port)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no output %d: the model has %d", index,
                         holo_model_output_count(session->model));
    if (data && (port->type.kind != HOLO_TENSOR || port->type.dtype == HOLO_STRING))
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "output %s is not a tensor of numbers: it stays in the session's memory", port->name);
    session->outputs[index].data     = data;
    session->outputs[index].size     = size;
    session->outputs[index].is_there = false;
    session->users.set_output[index] = holo_thread_mark();
    return HOLO_OK;
}

HoloStatus holo_session_set_output(HoloSession *session, int index, void *data, size_t size, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, output_set(session, index, data, size, error), error);
}

void holo_session_clear(HoloSession *session)
{
    for (int i = 0; i < holo_model_input_count(session->model); i++) session->there[i].is_input = false;
    memset(session->input_is_set, 0, (size_t)holo_model_input_count(session->model) * sizeof *session->input_is_set);
    memset(session->outputs, 0, (size_t)holo_model_output_count(session->model) * sizeof *session->outputs);
    session->time_limit = 0;
    session->cancel     = NULL;
}

static HoloStatus input_own(HoloSession *session, int index, HoloTensor *out_view, HoloError *error)
{
    const HoloPort *port = holo_model_input(session->model, index);
    if (!port) return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no input %d", index);
    HoloTensor t     = port->type;
    bool       fixed = t.rank >= 0 && t.kind == HOLO_TENSOR && t.dtype != HOLO_STRING;
    for (int d = 0; d < t.rank; d++) fixed = fixed && t.dim[d] >= 0;
    if (!fixed)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the size of input %s is not fixed: use holo_session_set_input",
                         port->name);
    void    **own   = &session->own_inputs[index];
    HoloScope scope = {.account = session->account, .what = "input", .name = port->name};
    holo_scope_enter(&scope);
    if (!*own) *own = holo_arena_take(&session->arena, holo_tensor_bytes(&t) + 1);
    HoloStatus status = *own ? HOLO_OK : holo_fail_memory(error);
    holo_scope_leave(&scope);
    if (status) return status;
    t.data    = *own;
    *out_view = t;
    return input_set(session, index, &t, error);
}

HoloStatus holo_session_input(HoloSession *session, int index, HoloTensor *out_view, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, input_own(session, index, out_view, error), error);
}

// ---- running

// Lets a step write an output directly to the caller's memory.
static HoloStatus outputs_point(HoloSession *session, HoloFrame *frame, const HoloTensor *const *inputs,
                                HoloError *error)
{
    for (uint32_t i = 0; i < frame->plan->output_count; i++) {
        uint32_t    v       = holo_frame_output_value(frame, i);
        HoloTensor *t       = &frame->values[v];
        bool        planned = holo_frame_record(frame, v)->storage == HOLO_STORE_ARENA;
        if (planned) t->data = frame->types[v].data;
        frame->is_there[v] = false;
        frame->is_left[v]  = session->outputs[i].is_left && holo_there_output(frame, i);
        if (!session->outputs[i].data || !planned) continue;
        if (session->outputs[i].size < holo_tensor_bytes(t))
            return holo_fail(error, HOLO_BAD_ARGUMENT, "output %s needs %zu bytes; the memory given has %zu",
                             session->model->outputs[i].name, holo_tensor_bytes(t), session->outputs[i].size);
        if (session->outputs[i].is_there && !holo_there_output(frame, i)) continue;
        frame->is_there[v] = session->outputs[i].is_there;
        bool apart         = (uintptr_t)session->outputs[i].data % 16 == 0 && holo_given_is_apart(session, inputs, i);
        if (frame->is_there[v] || apart) t->data = session->outputs[i].data;
    }
    return HOLO_OK;
}

// Output i of the last run: computed, or from the memo.
static const HoloTensor *result_of(const HoloSession *session, uint32_t i)
{
    const HoloFrame *frame = session->frame;
    if (session->memo && session->memo->is_hit) return &session->memo->answer[i];
    if (session->images.is_used) return &session->images.out[i];
    return &frame->values[holo_frame_output_value(frame, i)];
}

static HoloStatus outputs_copy(const HoloSession *session, HoloError *error)
{
    for (uint32_t i = 0; i < session->frame->plan->output_count; i++) {
        const HoloTensor *t = result_of(session, i);
        if (!session->outputs[i].data || t->data == session->outputs[i].data) continue;
        size_t bytes = holo_tensor_bytes(t);
        if (t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING || session->outputs[i].size < bytes)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "output %s needs %zu bytes; the memory given has %zu",
                             session->model->outputs[i].name, bytes, session->outputs[i].size);
        if (session->outputs[i].is_there)
            HOLO_TRY(holo_there_copy(session, session->outputs[i].data, t->data, bytes, error));
        else if (bytes)
            memmove(session->outputs[i].data, t->data, bytes); // it may be an input that lies there
    }
    return HOLO_OK;
}

static HoloStatus inputs_complete(HoloSession *session, HoloError *error)
{
    for (int i = 0; i < holo_model_given_count(session->model); i++) {
        const HoloPort *port = &session->model->inputs[i];
        if (session->input_is_set[i]) continue;
        if (!port->optional) return holo_fail(error, HOLO_BAD_INPUT, "input %s is not set", port->name);
        if (port->type.kind == HOLO_OPTIONAL) // a missing value is a value of its type
            session->inputs[i] =
                (HoloTensor){.dtype = port->type.dtype, .kind = HOLO_OPTIONAL, .inner = port->type.inner, .rank = 1};
        else if (i >= holo_model_input_count(session->model))
            HOLO_TRY(holo_state_set(session, i, error));
        else
            HOLO_TRY(holo_default_set(session, i, error));
    }
    return HOLO_OK;
}

static HoloStatus compute(HoloSession *session, HoloError *error)
{
    HoloFrame        *frame = session->frame;
    const HoloTensor *inputs[64], **list = inputs;
    int               count = holo_model_given_count(session->model);
    if (count > HOLO_COUNT(inputs)) {
        if (!session->input_list) session->input_list = HOLO_NEW(&session->arena, const HoloTensor *, count);
        list = session->input_list;
        if (!list) return holo_fail_memory(error);
    }
    for (int i = 0; i < count; i++) list[i] = &session->inputs[i];
    HOLO_TRY(holo_images_bind(session, list, &session->images.is_used, error));
    HOLO_TRY(holo_there_inputs(session, list, error));
    if (!session->images.is_used) HOLO_TRY(outputs_point(session, frame, list, error));
    return session->images.is_used ? holo_images_run(session, list, error) : holo_frame_run(frame, list, error);
}

// Answers from the memo. False: the plan must run.
static bool remember(HoloSession *session)
{
    double start = session->profile.is_on ? holo_time_now() : 0;
    bool   found = holo_memo_find(session->memo, session->inputs);
    if (session->profile.is_on)
        holo_profile_add(&session->profile, (HoloProfileEvent){.name   = "memo",
                                                               .op     = "memo",
                                                               .kernel = found ? "hit" : "miss",
                                                               .start  = start,
                                                               .end    = holo_time_now()});
    return found;
}

static void learn(HoloSession *session, bool has_answer)
{
    HoloMemo *memo = session->memo;
    for (int i = 0; has_answer && i < memo->out_count; i++) memo->answer[i] = *result_of(session, (uint32_t)i);
    holo_memo_learn(memo, has_answer);
}

// Takes over what other threads asked for between runs.
static void wishes_take(HoloSession *session)
{
    HoloProfile *profile = &session->profile;
    profile->is_on       = atomic_load_explicit(&session->seen.is_profiled, memory_order_relaxed);
    if (profile->is_on && !profile->origin) profile->origin = holo_time_now();
    session->stop.deadline  = session->time_limit > 0 ? holo_time_now() + session->time_limit : 0;
    const HoloStop *compile = session->cancel ? NULL : holo_scope_stop(); // a run inside a compile ends with it
    session->stop.flag      = compile ? compile->flag : session->cancel;
    session->stop.flag_was  = compile ? compile->flag_was : 0;
}

static HoloStatus run(HoloSession *session, HoloError *error)
{
    HOLO_TRY(holo_session_owns_sets(session, error));
    HOLO_TRY(inputs_complete(session, error));
    wishes_take(session);
    session->users.ran = holo_thread_mark();
    session->has_run   = false;
    HoloStatus status  = HOLO_OK;
    bool has_memo = session->memo && !holo_there_any(session); // it compares bytes, which the host cannot read there
    if (session->memo) session->memo->is_hit = false;
    if (!has_memo || !remember(session)) {
        status = compute(session, error);
        if (has_memo) learn(session, !status);
    }
    atomic_store(&session->stop.why, 0); // whatever happened to this run, the next one starts fresh
    if (!status && !session->images.is_used && !(session->memo && session->memo->is_hit))
        status = holo_given_save(session, error);
    if (!status) status = outputs_copy(session, error);
    session->has_run = !status;
    bool is_computed = !status && !(session->memo && session->memo->is_hit);
    atomic_store_explicit(&session->seen.kept_steps, is_computed ? holo_reuse_skipped(session->frame) : 0,
                          memory_order_relaxed);
    return status;
}

HoloStatus holo_session_run(HoloSession *session, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    HOLO_IN_FOR(session->account, "a run");
    HoloStatus status = run(session, error);
    if (!status) holo_tell(HOLO_LOG_DEBUG, "a run is done; the session holds %zu bytes", holo_session_memory(session));
    return holo_session_give(session, status, error);
}

HoloStatus holo_session_set_time_limit(HoloSession *session, double seconds, HoloError *error)
{
    if (!(seconds >= 0)) return holo_fail(error, HOLO_BAD_ARGUMENT, "a time limit must be 0 or more, not %g", seconds);
    HOLO_TRY(holo_session_take(session, error));
    session->time_limit = seconds;
    return holo_session_give(session, HOLO_OK, NULL);
}

static HoloStatus output_view(const HoloSession *session, int index, HoloTensor *out_view, HoloError *error)
{
    if (!holo_model_output(session->model, index))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no output %d: the model has %d", index,
                         holo_model_output_count(session->model));
    HOLO_TRY(holo_session_owns_run(session, error));
    if (!session->has_run) return holo_fail(error, HOLO_BAD_ARGUMENT, "the session has not run yet");
    if (session->frame->is_left[holo_frame_output_value(session->frame, (uint32_t)index)])
        return holo_fail(error, HOLO_BAD_ARGUMENT, "output %s was left on its device: see holo_session_leave_output",
                         holo_model_output(session->model, index)->name);
    *out_view = *result_of(session, (uint32_t)index);
    if (session->outputs[index].data) out_view->data = session->outputs[index].data;
    return HOLO_OK;
}

HoloStatus holo_session_output(const HoloSession *session, int index, HoloTensor *out_view, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, output_view(session, index, out_view, error), error);
}

void holo_session_watch(HoloSession *session, HoloWatchFn watch, void *context)
{
    session->watch           = watch;
    session->watch_context   = context;
    session->images.is_known = false; // how many images go at a time
}

void holo_session_cancel(HoloSession *session)
{
    atomic_store(&session->stop.why, HOLO_STOP_ASKED);
}

size_t holo_session_memory(const HoloSession *session)
{
    return (size_t)holo_account_held(session->account);
}
