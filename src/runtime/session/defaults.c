// defaults.c - inputs that the caller leaves out and that have a default: one number, which fills them, or the number of
// each element; and the sizes of these and of states.
#include "runtime/session/defaults.h"

#include "ops/tensor.h"
#include "runtime/frame/frame.h"

#include <string.h>

static const HoloValueRecord *record_of(const HoloSession *session, int index)
{
    const HoloFrame *frame = session->frame;
    return holo_frame_record(frame, holo_frame_input_value(frame, (uint32_t)index));
}

// The size of an input that was set, where the archive has the same entry for it; -1: there is none.
static int64_t size_find(const HoloSession *session, int64_t entry)
{
    const HoloArchive *a     = &session->model->archive;
    const HoloFrame   *frame = session->frame;
    for (int i = 0; i < holo_model_input_count(session->model); i++) {
        const HoloValueRecord *v = holo_frame_record(frame, holo_frame_input_value(frame, (uint32_t)i));
        const HoloTensor      *t = &session->inputs[i];
        if (!session->input_is_set[i] || t->rank != v->rank) continue;
        for (int d = 0; d < v->rank; d++)
            if (a->SIZES_at[v->size_first + (uint32_t)d] == entry) return t->dim[d];
    }
    return -1;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// What size d is where no input tells: what the session was asked for, what the archive has as its least, and what it was
// before. -1: nobody says.
static int64_t size_least(const HoloSession *session, int index, int d)
{
    const HoloArchive     *a     = &session->model->archive;
    const HoloValueRecord *v     = record_of(session, index);
    const HoloTensor      *was   = &session->defaults[index].type;
    int64_t                entry = a->SIZES_at[v->size_first + (uint32_t)d], size = -1;
    if (!(v->at & HOLO_INPUT_LEAST)) return -1;
    int64_t least = a->SIZES_at[v->size_first + (uint32_t)(v->rank + d)];
    size          = holo_dim_is_symbolic(least) ? size_find(session, least) : least;
    if (size < 0) return -1;
    bool                 is_known = holo_dim_is_symbolic(entry) && (uint32_t)entry < a->DIMS_count;
    const HoloDimRecord *dim      = is_known ? &a->DIMS_at[(uint32_t)entry] : NULL;
    if (dim && dim->op == HOLO_DIM_SYMBOL && (uint64_t)dim->a < a->SYMBOLS_count)
        size = most(size, session->sizes[dim->a]);
    return was->rank == v->rank ? most(size, was->dim[d]) : size;
}

// Its type, with the sizes that the other inputs have.
HoloStatus holo_default_type(const HoloSession *session, int index, HoloTensor *out, HoloError *error)
{
    const HoloArchive     *a    = &session->model->archive;
    const HoloPort        *port = &session->model->inputs[index];
    const HoloValueRecord *v    = record_of(session, index);
    *out                        = port->type;
    for (int d = 0; d < out->rank; d++) {
        if (out->dim[d] < 0) out->dim[d] = size_find(session, a->SIZES_at[v->size_first + (uint32_t)d]);
        if (out->dim[d] < 0) out->dim[d] = size_least(session, index, d);
        if (out->dim[d] < 0)
            return holo_fail(error, HOLO_BAD_INPUT,
                             "input %s is not set, and no other input says how large it is: its size %d is %s",
                             port->name, d, port->symbol[d] ? port->symbol[d] : "?");
    }
    return holo_tensor_count(out) >= 0 ? HOLO_OK
                                       : holo_fail(error, HOLO_BAD_INPUT, "input %s is too large", port->name);
}

static void fill(const HoloValueRecord *v, HoloTensor *t)
{
    int64_t number = (int64_t)(v->at & HOLO_INPUT_FILL) - 1;
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        int64_t x = v->at & HOLO_INPUT_INDEX ? i : number;
        if (holo_dtype_class((HoloDtype)t->dtype) == HOLO_CLASS_FLOAT)
            holo_put_f(t, i, (double)x);
        else
            holo_put_i(t, i, x);
    }
}

HoloStatus holo_default_set(HoloSession *session, int index, HoloError *error)
{
    HoloDefault *own = &session->defaults[index];
    HoloTensor   t;
    HOLO_TRY(holo_default_type(session, index, &t, error));
    size_t size = holo_tensor_bytes(&t);
    if (size > own->size || !own->data) {
        void *data = holo_realloc(own->data, size + 1);
        if (!data) return holo_fail_memory(error);
        own->data = data;
        own->size = size;
        t.data    = data;
        fill(record_of(session, index), &t);
    }
    t.data                 = own->data;
    session->inputs[index] = t;
    return HOLO_OK;
}

static HoloStatus size_set(HoloSession *session, const char *symbol, int64_t size, HoloError *error)
{
    const HoloArchive *a     = &session->model->archive;
    bool               found = false;
    if (size < 0) return holo_fail(error, HOLO_BAD_ARGUMENT, "size %s cannot be %lld", symbol, (long long)size);
    for (size_t i = 0; i < a->SYMBOLS_count; i++) { // other entries may have symbols of that name
        if (strcmp(holo_model_text(session->model, a->SYMBOLS_at[i]), symbol) != 0) continue;
        session->sizes[i] = size;
        found             = true;
    }
    return found ? HOLO_OK : holo_fail(error, HOLO_BAD_ARGUMENT, "the model has no size called %s", symbol);
}

HoloStatus holo_session_set_size(HoloSession *session, const char *symbol, int64_t size, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, size_set(session, symbol, size, error), error);
}

void holo_defaults_deinit(HoloSession *session)
{
    for (int i = 0; session->defaults && i < holo_model_input_count(session->model); i++)
        holo_free(session->defaults[i].data);
}
