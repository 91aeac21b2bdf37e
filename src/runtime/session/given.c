// given.c - see given.h.
#include "runtime/session/given.h"

#include "ops/op_id.h"
#include "runtime/frame/frame.h"

#include <string.h>

static bool meets(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size && b_size && a < b + b_size && b < a + a_size;
}

bool holo_given_holds_inputs(const HoloSession *session, const HoloTensor *const *inputs, const char *data, size_t size)
{
    for (uint32_t i = 0; i < session->frame->plan->input_count; i++)
        if (meets(inputs[i]->data, holo_tensor_bytes(inputs[i]), data, size)) return true;
    return false;
}

bool holo_given_holds_outputs(const HoloSession *session, uint32_t i, size_t size)
{
    const HoloFrame *frame = session->frame;
    for (uint32_t k = 0; k < frame->plan->output_count; k++) {
        uint32_t          v     = holo_frame_output_value(frame, k);
        const HoloTensor *other = session->images.is_used ? &session->images.out[k] : &frame->types[v];
        if (k == i || !session->outputs[k].data || session->outputs[k].is_there) continue;
        if (holo_frame_record(frame, v)->storage == HOLO_STORE_HEAP) continue; // it is copied when all is computed
        if (meets(session->outputs[k].data, holo_tensor_bytes(other), session->outputs[i].data, size)) return true;
    }
    return false;
}

// Does output `value` continue `input`? Its eval then writes only what is new where both begin at one address.
static bool is_continued(const HoloFrame *frame, uint32_t value, uint32_t input)
{
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        const HoloCall *call   = &frame->calls[i];
        bool            writes = false, reads = false;
        for (int k = 0; k < call->out_count; k++) writes = writes || call->out[k] == &frame->values[value];
        for (int k = 0; k < call->in_count; k++) reads = reads || call->in[k] == &frame->values[input];
        if (writes) return reads && holo_op_is(call->op, HOLO_ID_MICROSOFT_GroupQueryAttention);
    }
    return false;
}

bool holo_given_is_apart(const HoloSession *session, const HoloTensor *const *inputs, uint32_t i)
{
    const HoloFrame *frame = session->frame;
    uint32_t         v     = holo_frame_output_value(frame, i);
    const char      *data  = session->outputs[i].data;
    size_t           size  = holo_tensor_bytes(&frame->types[v]);
    for (uint32_t k = 0; k < frame->plan->input_count; k++) {
        uint32_t input = holo_frame_input_value(frame, k);
        if (frame->is_there[input] || !meets(inputs[k]->data, holo_tensor_bytes(inputs[k]), data, size)) continue;
        if (inputs[k]->data != data || !is_continued(frame, v, input)) return false;
    }
    return !holo_given_holds_outputs(session, i, size);
}

// Is another output about to be copied over the bytes of result i?
static bool is_in_the_way(const HoloSession *session, uint32_t i, const HoloTensor *t)
{
    const HoloFrame *frame = session->frame;
    for (uint32_t k = 0; k < frame->plan->output_count; k++) {
        const HoloTensor *other = &frame->values[holo_frame_output_value(frame, k)];
        if (k == i || !session->outputs[k].data || session->outputs[k].is_there || other->kind != HOLO_TENSOR ||
            other->data == session->outputs[k].data)
            continue;
        if (meets(session->outputs[k].data, holo_tensor_bytes(other), t->data, holo_tensor_bytes(t))) return true;
    }
    return false;
}

HoloStatus holo_given_save(HoloSession *session, HoloError *error)
{
    HoloFrame *frame = session->frame;
    for (uint32_t i = 0; i < frame->plan->output_count; i++) {
        uint32_t    v    = holo_frame_output_value(frame, i);
        HoloTensor *t    = &frame->values[v];
        uint32_t    root = frame->roots[v];
        if (!session->outputs[i].data || t->kind != HOLO_TENSOR || t->dtype == HOLO_STRING ||
            holo_frame_record(frame, root)->storage != HOLO_STORE_INPUT || frame->is_there[root] ||
            !is_in_the_way(session, i, t))
            continue;
        void *copy = holo_arena_take_raw(&frame->temp, holo_tensor_bytes(t));
        if (!copy) return holo_fail_memory(error);
        memcpy(copy, t->data, holo_tensor_bytes(t));
        t->data = copy;
    }
    return HOLO_OK;
}
