// there.c - see there.h; and the public functions for memory of a device.
//
// A tensor there is used where it is as long as only transfers read or write it: then a copy within the device, or a kernel
// that converts its elements, takes the place of the transfer. The host never touches it.
#include "runtime/session/there.h"

#include "base/threads.h"

// The device of a session's model. Fails if it has the CPU alone.
static HoloStatus device_of(const HoloSession *session, HoloOpenDevice **out, HoloError *error)
{
    *out = session->device_count > 1 ? &session->devices[1] : NULL;
    return *out ? HOLO_OK
                : holo_fail(error, HOLO_BAD_ARGUMENT,
                            "the model was compiled for the CPU alone: it has no memory of another device; compile it "
                            "with --target cuda");
}

// ---- what a run does with it

// Do steps other than transfers read the value, or is it an output?
static bool host_reads(const HoloFrame *frame, uint32_t value)
{
    const HoloArchive *a = &frame->session->model->archive;
    for (uint32_t i = 0; i < frame->plan->output_count; i++)
        if (frame->roots[holo_frame_output_value(frame, i)] == value) return true;
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        const HoloStepRecord *s = &a->STEPS_at[frame->plan->step_first + i];
        for (uint32_t k = 0; k < s->in_count; k++) {
            uint32_t v = a->OPERANDS_at[s->operand_first + k];
            if (v != HOLO_NO_VALUE && frame->roots[v] == value && !frame->steps[i].is_transfer) return true;
        }
    }
    return false;
}

static HoloStatus input_fetch(HoloSession *session, int i, const HoloTensor **list, HoloError *error)
{
    HoloThere      *t = &session->there[i];
    HoloOpenDevice *on;
    size_t          bytes = holo_tensor_bytes(list[i]);
    HOLO_TRY(device_of(session, &on, error));
    if (bytes > t->room) {
        void *memory = holo_arena_take(&session->arena, bytes);
        if (!memory) return holo_fail_memory(error);
        t->here.data = memory;
        t->room      = bytes;
    }
    void *data   = t->here.data;
    t->here      = *list[i];
    t->here.data = data;
    HOLO_TRY(on->device->transfer(on->self, HOLO_TRANSFER_OUT, data, list[i]->data, bytes, error));
    HOLO_TRY(on->device->wait(on->self, error));
    list[i] = &t->here;
    return HOLO_OK;
}

HoloStatus holo_there_inputs(HoloSession *session, const HoloTensor **list, HoloError *error)
{
    HoloFrame *frame = session->frame;
    for (uint32_t i = 0; i < frame->plan->input_count; i++) {
        uint32_t v         = holo_frame_input_value(frame, i);
        frame->is_there[v] = session->there[i].is_input;
        if (!frame->is_there[v] || !host_reads(frame, v)) continue;
        frame->is_there[v] = false;
        HOLO_TRY(input_fetch(session, (int)i, list, error));
    }
    return HOLO_OK;
}

bool holo_there_output(const HoloFrame *frame, uint32_t i)
{
    uint32_t           v     = holo_frame_output_value(frame, i);
    const HoloArchive *a     = &frame->session->model->archive;
    bool               comes = false;
    if (frame->roots[v] != v || frame->writers[v] != 1) return false;
    for (uint32_t k = 0; k < frame->plan->step_count; k++) {
        const HoloStepRecord *s    = &a->STEPS_at[frame->plan->step_first + k];
        const uint32_t       *of   = a->OPERANDS_at + s->operand_first;
        const HoloStep       *step = &frame->steps[k];
        for (uint32_t n = 0; n < s->in_count; n++)
            if (of[n] != HOLO_NO_VALUE && frame->roots[of[n]] == v) return false;
        comes = comes || (step->is_transfer && step->way == HOLO_TRANSFER_OUT && of[s->in_count] == v);
    }
    return comes;
}

HoloStatus holo_there_copy(const HoloSession *session, void *to, const void *from, size_t bytes, HoloError *error)
{
    HoloOpenDevice *on;
    HOLO_TRY(device_of(session, &on, error));
    return on->device->transfer(on->self, HOLO_TRANSFER_IN, to, from, bytes, error);
}

bool holo_there_any(const HoloSession *session)
{
    for (int i = 0; i < holo_model_input_count(session->model); i++)
        if (session->there[i].is_input) return true;
    for (int i = 0; i < holo_model_output_count(session->model); i++)
        if (session->outputs[i].is_there) return true;
    return false;
}

bool holo_there_only(const HoloSession *session)
{
    bool all = session->has_stream;
    for (int i = 0; i < holo_model_output_count(session->model); i++) all = all && session->outputs[i].is_there;
    return all;
}

// ---- the public functions

HoloStatus holo_session_set_device_input(HoloSession *session, int index, const HoloTensor *tensor, HoloError *error)
{
    HoloOpenDevice *on;
    HOLO_TRY(device_of(session, &on, error));
    if (tensor->kind != HOLO_TENSOR || tensor->dtype == HOLO_STRING)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "input %d is not a tensor of numbers: a device cannot hold it",
                         index);
    HOLO_TRY(holo_session_set_input(session, index, tensor, error));
    session->there[index].is_input = true;
    return HOLO_OK;
}

HoloStatus holo_session_set_device_output(HoloSession *session, int index, void *data, size_t size, HoloError *error)
{
    HoloOpenDevice *on;
    HOLO_TRY(device_of(session, &on, error));
    HOLO_TRY(holo_session_set_output(session, index, data, size, error));
    session->outputs[index].is_there = data != NULL;
    return HOLO_OK;
}

HoloStatus holo_session_leave_output(HoloSession *session, int index, bool is_left, HoloError *error)
{
    if (!holo_model_output(session->model, index))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no output %d: the model has %d", index,
                         holo_model_output_count(session->model));
    HOLO_TRY(holo_session_take(session, error));
    session->outputs[index].is_left = is_left;
    return holo_session_give(session, HOLO_OK, NULL);
}

HoloStatus holo_session_set_stream(HoloSession *session, void *stream, bool own, HoloError *error)
{
    HoloOpenDevice *on;
    HOLO_TRY(device_of(session, &on, error));
    if (!on->device->use_stream)
        return holo_fail(error, HOLO_UNSUPPORTED, "device %s has no streams of its callers", on->device->name);
    HOLO_TRY(holo_session_take(session, error));
    HoloStatus status = on->device->use_stream(on->self, stream, own, error);
    if (!status) session->has_stream = !own;
    return holo_session_give(session, status, error);
}

HoloStatus holo_session_device_take(HoloSession *session, size_t size, void **out_memory, HoloError *error)
{
    HoloOpenDevice *on;
    *out_memory = NULL;
    HOLO_TRY(device_of(session, &on, error));
    HOLO_TRY(holo_session_take(session, error));
    *out_memory = on->device->take(on->self, size ? size : 1, 0);
    HoloStatus status =
        *out_memory ? HOLO_OK
                    : holo_fail(error, HOLO_NO_MEMORY, "device %s has no memory for %zu bytes", on->device->name, size);
    return holo_session_give(session, status, error);
}

void holo_session_device_give(HoloSession *session, void *memory, size_t size)
{
    HoloError       ignored = {0};
    HoloOpenDevice *on;
    if (!device_of(session, &on, &ignored) && memory) on->device->give(on->self, memory, size ? size : 1);
}

HoloStatus holo_session_device_copy(HoloSession *session, void *to, const void *from, size_t size, bool to_device,
                                    HoloError *error)
{
    HoloOpenDevice *on;
    HOLO_TRY(device_of(session, &on, error));
    HOLO_TRY(holo_session_take(session, error));
    HoloStatus status =
        on->device->transfer(on->self, to_device ? HOLO_TRANSFER_IN : HOLO_TRANSFER_OUT, to, from, size, error);
    if (!status) status = on->device->wait(on->self, error);
    return holo_session_give(session, status, error);
}
