// states.c - states: tensors that a session keeps from run to run, in the memory of the device whose steps change them.
#include "runtime/session/states.h"

#include "ops/tensor.h"
#include "runtime/frame/frame.h"
#include "runtime/session/defaults.h"

#include <string.h>

// The device in whose memory a state is; NULL: it is the host's.
static const HoloOpenDevice *home_of(const HoloSession *session, const HoloDefault *own)
{
    return own->space ? &session->devices[own->space] : NULL;
}

static size_t element_of(const HoloOpenDevice *home, uint8_t dtype)
{
    return home && home->device->element ? home->device->element(home->self, (HoloDtype)dtype)
                                         : holo_dtype_size((HoloDtype)dtype);
}

static HoloStatus bytes_copy(const HoloOpenDevice *home, char *to, const char *from, size_t size, HoloError *error)
{
    if (home) return home->device->transfer(home->self, HOLO_TRANSFER_WITHIN, to, from, size, error);
    memcpy(to, from, size);
    return HOLO_OK;
}

// ---- memory

// Zeros there: a few from here, then what is there already, again and again.
static HoloStatus zeros_fill(const HoloOpenDevice *home, char *at, size_t size, HoloError *error)
{
    static const char zeros[4096];
    size_t            done = size < sizeof zeros ? size : sizeof zeros;
    HOLO_TRY(home->device->transfer(home->self, HOLO_TRANSFER_IN, at, zeros, done, error));
    for (size_t part; done < size; done += part) {
        part = size - done < done ? size - done : done;
        HOLO_TRY(bytes_copy(home, at + done, at, part, error));
    }
    return HOLO_OK;
}

static void memory_give(const HoloSession *session, const HoloDefault *own)
{
    const HoloOpenDevice *home = home_of(session, own);
    if (home)
        home->device->give(home->self, own->data, own->size + 1);
    else
        holo_memory_free(own->data, own->size + 1);
}

static HoloStatus memory_take(const HoloSession *session, HoloDefault *own, HoloError *error)
{
    const HoloOpenDevice *home = home_of(session, own);
    uint32_t              how  = session->model->memory_how;
    own->data = home ? home->device->take(home->self, own->size + 1, how) : holo_memory_take(own->size + 1, how);
    if (!own->data && home)
        return holo_fail(error, HOLO_NO_MEMORY, "device %s has no memory for a state of %zu bytes", home->device->name,
                         own->size);
    if (!own->data) return holo_fail_memory(error);
    HoloStatus status = home ? zeros_fill(home, own->data, own->size + 1, error) : HOLO_OK;
    if (status) memory_give(session, own);
    return status;
}

// Copies what two tensors have in common. Each size may have become larger or smaller.
static HoloStatus part_copy(const HoloOpenDevice *home, const HoloTensor *from, const HoloTensor *to, HoloError *error)
{
    size_t  row   = element_of(home, to->dtype);
    int     inner = to->rank;
    int64_t rows = 1, common[HOLO_MAX_RANK], step = 1, was_step = 1;
    while (inner > 0 && from->dim[inner - 1] == to->dim[inner - 1]) row *= (size_t)to->dim[--inner];
    if (inner > 0) { // what lies together along the first size that differs goes at once
        inner--;
        step     = to->dim[inner];
        was_step = from->dim[inner];
    }
    size_t together = row * (size_t)holo_least(step, was_step);
    for (int d = 0; d < inner; d++) {
        common[d] = holo_least(from->dim[d], to->dim[d]);
        rows *= common[d];
    }
    for (int64_t i = 0; i < rows && together; i++) {
        int64_t left = i, at = 0, was = 0, each = step, was_each = was_step;
        for (int d = inner - 1; d >= 0; d--) {
            at += left % common[d] * each;
            was += left % common[d] * was_each;
            left /= common[d];
            each *= to->dim[d];
            was_each *= from->dim[d];
        }
        HOLO_TRY(bytes_copy(home, (char *)to->data + (size_t)at * row, (const char *)from->data + (size_t)was * row,
                            together, error));
    }
    return HOLO_OK;
}

HoloStatus holo_state_set(HoloSession *session, int index, HoloError *error)
{
    HoloDefault     *own   = &session->defaults[index];
    const HoloFrame *frame = session->frame;
    HoloTensor       t;
    HOLO_TRY(holo_default_type(session, index, &t, error));
    bool same = own->data && own->type.rank == t.rank;
    for (int d = 0; d < t.rank; d++) same = same && own->type.dim[d] == t.dim[d];
    if (!same) {
        HoloDefault next = {.type = t};
        next.space       = holo_frame_record(frame, holo_frame_input_value(frame, (uint32_t)index))->space;
        next.size        = (size_t)holo_tensor_count(&t) * element_of(home_of(session, &next), t.dtype);
        HOLO_TRY(memory_take(session, &next, error));
        next.type.data    = next.data;
        HoloStatus status = own->data ? part_copy(home_of(session, own), &own->type, &next.type, error) : HOLO_OK;
        memory_give(session, status ? &next : own);
        HOLO_TRY(status);
        *own = next;
    }
    session->inputs[index] = own->type;
    return HOLO_OK;
}

void holo_states_deinit(HoloSession *session)
{
    int first = holo_model_input_count(session->model);
    for (int i = first; session->defaults && i < holo_model_given_count(session->model); i++)
        memory_give(session, &session->defaults[i]);
}

// ---- the public functions

static HoloStatus state_find(HoloSession *session, int index, HoloDefault **out, HoloError *error)
{
    if (!holo_model_state(session->model, index))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no state %d: the model has %d", index,
                         session->model->state_count);
    int        at    = holo_model_input_count(session->model) + index;
    HoloError  why   = {0};
    HoloStatus found = holo_state_set(session, at, &why); // as large as the next run will have it
    *out             = &session->defaults[at];
    if (found && (!(*out)->data || found == HOLO_NO_MEMORY))
        return holo_fail(error, found == HOLO_NO_MEMORY ? found : HOLO_BAD_ARGUMENT,
                         "state %s has no size before the inputs are set: %s",
                         holo_model_state(session->model, index)->name, why.text);
    return HOLO_OK;
}

static HoloStatus view_find(HoloSession *session, int index, HoloTensor *out, HoloError *error)
{
    HoloDefault *own;
    HOLO_TRY(state_find(session, index, &own, error));
    const HoloOpenDevice *home = home_of(session, own);
    if (home)
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "state %s is in the memory of device %s: holo_session_state_read and _write copy it",
                         holo_model_state(session->model, index)->name, home->device->name);
    *out = own->type;
    return HOLO_OK;
}

static HoloStatus type_find(HoloSession *session, int index, HoloTensor *out, HoloError *error)
{
    HoloDefault *own;
    HOLO_TRY(state_find(session, index, &own, error));
    *out      = own->type;
    out->data = NULL;
    return HOLO_OK;
}

HoloStatus holo_session_state_type(HoloSession *session, int index, HoloTensor *out_type, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, type_find(session, index, out_type, error), error);
}

HoloStatus holo_session_state(HoloSession *session, int index, HoloTensor *out_view, HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, view_find(session, index, out_view, error), error);
}

// `size` bytes of a state from byte `offset` on, as elements of a tensor of one dimension.
static HoloStatus part_find(HoloSession *session, int index, size_t offset, size_t size,
                            const HoloOpenDevice **out_home, HoloTensor *out, HoloError *error)
{
    HoloDefault *own;
    HOLO_TRY(state_find(session, index, &own, error));
    size_t each = holo_dtype_size((HoloDtype)own->type.dtype), all = holo_tensor_bytes(&own->type);
    if (offset % each || size % each)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "state %d has elements of %zu bytes: parts must be whole elements",
                         index, each);
    if (offset > all || size > all - offset)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "state %d has %zu bytes, and bytes %zu to %zu are asked for", index,
                         all, offset, offset + size);
    *out_home = home_of(session, own);
    *out      = (HoloTensor){.dtype = own->type.dtype, .rank = 1, .dim = {(int64_t)(size / each)}};
    out->data = (char *)own->data + offset / each * element_of(*out_home, own->type.dtype);
    return HOLO_OK;
}

static HoloStatus part_cross(HoloSession *session, int index, size_t offset, HoloTransferWay way, void *bytes,
                             size_t size, HoloError *error)
{
    const HoloOpenDevice *home;
    HoloTensor            part;
    HOLO_TRY(part_find(session, index, offset, size, &home, &part, error));
    bool is_in = way == HOLO_TRANSFER_IN;
    if (!size) return HOLO_OK;
    if (!home) return bytes_copy(NULL, is_in ? part.data : bytes, is_in ? bytes : part.data, size, error);
    if (home->device->show) return home->device->show(home->self, way, &part, bytes, error);
    HOLO_TRY(
        home->device->transfer(home->self, way, is_in ? part.data : bytes, is_in ? bytes : part.data, size, error));
    return home->device->wait(home->self, error);
}

HoloStatus holo_session_state_read(HoloSession *session, int index, size_t offset, void *to, size_t size,
                                   HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, part_cross(session, index, offset, HOLO_TRANSFER_OUT, to, size, error), error);
}

HoloStatus holo_session_state_write(HoloSession *session, int index, size_t offset, const void *from, size_t size,
                                    HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    void *bytes = (void *)(uintptr_t)from; // it is only read
    return holo_session_give(session, part_cross(session, index, offset, HOLO_TRANSFER_IN, bytes, size, error), error);
}

static HoloStatus part_move(HoloSession *session, int index, size_t to, size_t from, size_t size, HoloError *error)
{
    const HoloOpenDevice *home;
    HoloTensor            a, b;
    HOLO_TRY(part_find(session, index, from, size, &home, &a, error));
    HOLO_TRY(part_find(session, index, to, size, &home, &b, error));
    if (to < from ? size > from - to : size > to - from)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "two parts of state %d that are to be copied overlap", index);
    return size ? bytes_copy(home, b.data, a.data, (size_t)a.dim[0] * element_of(home, a.dtype), error) : HOLO_OK;
}

HoloStatus holo_session_state_copy(HoloSession *session, int index, size_t to, size_t from, size_t size,
                                   HoloError *error)
{
    HOLO_TRY(holo_session_take(session, error));
    return holo_session_give(session, part_move(session, index, to, from, size, error), error);
}
