// defaults.c - inputs that the caller leaves out and that have a default: one number, which fills them.
#include "runtime/session/defaults.h"

#include "ops/tensor.h"
#include "runtime/frame/frame.h"

// The size of an input that was set, where the archive has the same entry for it; -1: there is none.
static int64_t size_find(const HoloSession *session, int64_t entry)
{
    const HoloArchive *a     = &session->model->archive;
    const HoloFrame   *frame = session->frames[0];
    for (int i = 0; i < holo_model_input_count(session->model); i++) {
        const HoloValueRecord *v = holo_frame_record(frame, holo_frame_input_value(frame, (uint32_t)i));
        const HoloTensor      *t = &session->inputs[i];
        if (!session->input_is_set[i] || t->rank != v->rank) continue;
        for (int d = 0; d < v->rank; d++)
            if (a->SIZES_at[v->size_first + (uint32_t)d] == entry) return t->dim[d];
    }
    return -1;
}

// Its type, with the sizes that the other inputs have.
static HoloStatus type_find(const HoloSession *session, int index, HoloTensor *out, HoloError *error)
{
    const HoloArchive     *a     = &session->model->archive;
    const HoloPort        *port  = &session->model->inputs[index];
    const HoloFrame       *frame = session->frames[0];
    const HoloValueRecord *v     = holo_frame_record(frame, holo_frame_input_value(frame, (uint32_t)index));
    *out                         = port->type;
    for (int d = 0; d < out->rank; d++) {
        if (out->dim[d] < 0) out->dim[d] = size_find(session, a->SIZES_at[v->size_first + (uint32_t)d]);
        if (out->dim[d] < 0)
            return holo_fail(error, HOLO_BAD_INPUT,
                             "input %s is not set, and no other input says how large it is: its size %d is %s",
                             port->name, d, port->symbol[d] ? port->symbol[d] : "?");
    }
    return holo_tensor_count(out) >= 0 ? HOLO_OK
                                       : holo_fail(error, HOLO_BAD_INPUT, "input %s is too large", port->name);
}

HoloStatus holo_default_set(HoloSession *session, int index, HoloError *error)
{
    const HoloFrame *frame = session->frames[0];
    uint64_t         fill  = holo_frame_record(frame, holo_frame_input_value(frame, (uint32_t)index))->at;
    HoloDefault     *own   = &session->defaults[index];
    HoloTensor       t;
    HOLO_TRY(type_find(session, index, &t, error));
    size_t size = holo_tensor_bytes(&t);
    if (size > own->size || !own->data) {
        void *data = holo_realloc(own->data, size + 1);
        if (!data) return holo_fail_memory(error);
        *own   = (HoloDefault){data, size};
        t.data = data;
        for (int64_t i = 0; i < holo_tensor_count(&t); i++) {
            if (holo_dtype_class((HoloDtype)t.dtype) == HOLO_CLASS_FLOAT)
                holo_put_f(&t, i, (double)(fill - 1));
            else
                holo_put_i(&t, i, (int64_t)(fill - 1));
        }
    }
    t.data                 = own->data;
    session->inputs[index] = t;
    return HOLO_OK;
}

void holo_defaults_deinit(HoloSession *session)
{
    for (int i = 0; session->defaults && i < holo_model_input_count(session->model); i++)
        holo_free(session->defaults[i].data);
}
