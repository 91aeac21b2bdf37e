// bind_memory.c - computes offsets in the arena for the current sizes, and proves that no step can destroy its own
// inputs.
#include "base/guard.h"
#include "base/pack.h"
#include "format/params.h"
#include "runtime/frame/frame.h"
#include "runtime/session/reuse.h"

#include <stdlib.h>

// ---- transfers

// The constant, or NULL, that a transfer brings to another space as this value.
static const HoloConstantRecord *constant_of(const HoloFrame *frame, uint32_t value)
{
    return frame->origins[value] == HOLO_NO_VALUE ? NULL : holo_frame_constant(frame, frame->origins[value]);
}

size_t holo_frame_bytes(const HoloFrame *frame, uint32_t value)
{
    const HoloConstantRecord *k     = constant_of(frame, value);
    size_t                    bytes = holo_tensor_bytes(&frame->types[value]);
    return k && k->packed && k->size > bytes ? (size_t)k->size : bytes;
}

HoloStatus holo_frame_bind_transfer(HoloFrame *frame, uint32_t i)
{
    HoloStep                 *step = &frame->steps[i];
    const HoloCall           *call = &frame->calls[i];
    uint32_t                  to   = (uint32_t)(call->out[0] - frame->values);
    const HoloConstantRecord *k    = step->way == HOLO_TRANSFER_IN ? constant_of(frame, to) : NULL;
    step->bytes                    = k && k->packed ? (size_t)k->size : holo_tensor_bytes(call->in[0]);
    if (k && k->packed && (frame->roots[to] != to || frame->starts[frame->origins[to]]))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "it brings a part of packed weights to another memory");
    step->is_constant  = k != NULL;
    frame->is_held[to] = false;
    bool is_own        = frame->roots[to] == to && frame->writers[to] == 1; // nobody else writes there
    if (!k || !step->on->device->constant) return HOLO_OK;
    if (!is_own || frame->starts[frame->origins[to]])
        return k->packed ? holo_call_fail(call, HOLO_BAD_ARCHIVE, "packed weights have no place of their own there")
                         : HOLO_OK;
    const HoloArchive *a = &frame->session->model->archive;
    HOLO_TRY(step->on->device->constant(step->on->self, (uint32_t)(k - a->CONSTANTS_at), call,
                                        a->WEIGHTS_at + k->offset, step->bytes, &frame->types[to].data));
    frame->values[to].data = frame->types[to].data;
    frame->is_held[to] = step->is_held = true;
    return HOLO_OK;
}

// ---- offsets

// The file has the offsets of the host's arena. Other spaces are laid out when sizes are bound, since devices may hold
// constants elsewhere.
static HoloStatus layout_static(const HoloFrame *frame, uint64_t *size, uint64_t *offsets, HoloError *error)
{
    *size = frame->plan->arena_bytes;
    for (uint32_t i = 0; i < frame->plan->value_count; i++) {
        const HoloValueRecord *v = holo_frame_record(frame, i);
        if (v->storage != HOLO_STORE_ARENA || v->space) continue;
        uint64_t bytes = holo_tensor_bytes(&frame->types[i]);
        if (v->at % 64 || v->at > *size || bytes > *size - v->at)
            return holo_fail(error, HOLO_BAD_ARCHIVE, "value %u lies outside the planned memory", i);
        offsets[i] = v->at;
    }
    return HOLO_OK;
}

static HoloStatus layout_dynamic(HoloFrame *frame, uint32_t first, uint64_t *sizes, uint64_t *offsets, HoloError *error)
{
    uint32_t   count  = frame->plan->value_count;
    HoloBlock *blocks = HOLO_NEW(&frame->temp, HoloBlock, count + 1);
    if (first >= frame->session->device_count) return HOLO_OK;
    if (!blocks) return holo_fail_memory(error);
    for (uint32_t space = first; space < frame->session->device_count; space++) {
        for (uint32_t i = 0; i < count; i++) {
            const HoloValueRecord *v = holo_frame_record(frame, i);
            blocks[i]                = (HoloBlock){0};
            if (v->storage == HOLO_STORE_ARENA && v->space == space && !holo_reuse_memory(frame, i) &&
                !frame->is_held[i])
                blocks[i] = (HoloBlock){holo_frame_bytes(frame, i), v->step_from, v->step_to, 0};
        }
        if (!holo_pack(blocks, (int)count, &sizes[space]))
            return holo_fail(error, HOLO_NO_MEMORY, "these sizes need too much memory");
        for (uint32_t i = 0; i < count; i++)
            if (holo_frame_record(frame, i)->space == space) offsets[i] = blocks[i].offset;
    }
    return HOLO_OK;
}

// In builds that watch memory, which is only the host's, no two values share memory or touch each other.
static void layout_watched(const HoloFrame *frame, uint64_t *size, uint64_t *offsets)
{
    uint64_t at = 0;
    if (!holo_guard_gap()) return;
    for (uint32_t i = 0; i < frame->plan->value_count; i++) {
        const HoloValueRecord *v = holo_frame_record(frame, i);
        if (v->storage != HOLO_STORE_ARENA || v->space || holo_reuse_memory(frame, i)) continue;
        offsets[i] = at;
        at += holo_align(holo_tensor_bytes(&frame->types[i]) + holo_guard_gap(), 64);
        if (at > UINT64_MAX / 4) at = UINT64_MAX / 4; // more than there can be
    }
    *size = at;
}

// ---- overlaps

// The arena bytes of a value, through views and parts. False: it has none there.
static bool bytes_of(const HoloFrame *frame, const HoloTensor *value, const char **out_from, const char **out_to)
{
    if (!value) return false;
    uint32_t    number = (uint32_t)(value - frame->values);
    uint32_t    root   = frame->roots[number];
    size_t      bytes  = holo_tensor_bytes(&frame->types[number]);
    const char *data   = frame->types[root].data;
    if (holo_frame_record(frame, root)->storage != HOLO_STORE_ARENA || frame->is_held[root] || !data || !bytes)
        return false;
    *out_from = data + frame->starts[number];
    *out_to   = *out_from + bytes;
    return true;
}

// Does input k already lie in output 0 exactly where the operator, which joins its inputs, would copy it?
static bool is_joined(const HoloStep *step, const HoloCall *call, int k, const char *whole, const char *from)
{
    if (!(call->op->flags & HOLO_OP_JOINS) || step->is_open || k >= call->in_count || call->out_count != 1 ||
        call->in_count > HOLO_PLACE_MAX)
        return false;
    HoloError ignored = {0};
    HoloCall  quiet   = *call;
    quiet.error       = &ignored;
    HoloDim at        = call->op->place(&quiet, k);
    return !holo_dim_is_symbolic(at) && from == whole + (size_t)at * holo_dtype_size((HoloDtype)call->out[0]->dtype);
}

typedef struct Span { // the bytes of an output
    const char *from, *to;
    int         number;
} Span;

static int by_place(const void *a, const void *b)
{
    const Span *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

// The outputs with bytes in the arena, sorted by address; -1: two overlap, and *out_number is one of them.
static int spans_find(const HoloFrame *frame, const HoloCall *call, Span *spans, int *out_number)
{
    int count = 0;
    for (int i = 0; i < call->out_count; i++) {
        Span *s   = &spans[count];
        s->number = i;
        count += bytes_of(frame, call->out[i], &s->from, &s->to);
    }
    if (count > 1) qsort(spans, (size_t)count, sizeof *spans, by_place);
    for (int i = 1; i < count; i++) {
        *out_number = spans[i].number;
        if (spans[i - 1].to > spans[i].from) return -1;
    }
    return count;
}

// The first span that ends behind `from`. The spans do not overlap.
static int span_behind(const Span *spans, int count, const char *from)
{
    int low = 0;
    while (low < count) {
        int middle = low + (count - low) / 2;
        if (spans[middle].to > from)
            count = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Operators check the values that they read (indices, lengths) and then use them, so what they write must not change
// these. Only operators that work element by element, each in its own place, may write over an input. eval may run an
// open step instead of its kernel; then it must be allowed for eval, too.
static HoloStatus step_overlaps_check(HoloFrame *frame, const HoloStepRecord *s, const HoloStep *step,
                                      const HoloCall *call)
{
    const HoloDevice *device    = step->on->device;
    bool              in_kernel = s->target ? device->is_in_place && device->is_in_place(s->kernel)
                                            : holo_kernel_is_in_place(s->kernel) && !step->is_open;
    bool              in_place  = call->op->flags & HOLO_OP_POINTWISE || in_kernel;
    int               number    = 0;
    Span              one, *spans = call->out_count > 1 ? HOLO_NEW(&frame->temp, Span, call->out_count) : &one;
    if (!spans) return holo_fail_memory(call->error);
    int count = spans_find(frame, call, spans, &number);
    for (int k = 0; k < call->in_count && count > 0; k++) {
        const char *from, *to;
        if (!bytes_of(frame, call->in[k], &from, &to)) continue;
        int i = span_behind(spans, count, from);
        if (i == count || spans[i].from >= to) continue;
        bool same = in_place && from == spans[i].from && to == spans[i].to;
        number    = spans[i].number;
        if (!same && !is_joined(step, call, k, spans[i].from, from)) count = -1;
    }
    return count >= 0 ? HOLO_OK : holo_call_fail(call, HOLO_BAD_ARCHIVE, "output %d overlaps another operand", number);
}

static HoloStatus overlaps_check(HoloFrame *frame, HoloError *error)
{
    const HoloStepRecord *steps = frame->session->model->archive.STEPS_at + frame->plan->step_first;
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        frame->calls[i].error = error;
        if (frame->steps[i].is_transfer) continue; // two memories
        HOLO_TRY(step_overlaps_check(frame, &steps[i], &frame->steps[i], &frame->calls[i]));
    }
    return HOLO_OK;
}

// ---- the whole frame

bool holo_frame_take(const HoloFrame *frame, uint32_t space, HoloSpaceMemory *memory, size_t size)
{
    const HoloOpenDevice *on = &frame->session->devices[space];
    if (size <= memory->size) return true;
    on->device->give(on->self, memory->memory, memory->size);
    memory->memory = on->device->take(on->self, size, frame->session->model->memory_how);
    memory->size   = memory->memory ? size : 0;
    return memory->memory;
}

void holo_frame_give(HoloFrame *frame)
{
    for (uint32_t i = 0; i < frame->session->device_count; i++) {
        const HoloOpenDevice *on = &frame->session->devices[i];
        on->device->give(on->self, frame->spaces[i].memory, frame->spaces[i].size);
        frame->spaces[i] = (HoloSpaceMemory){0};
    }
}

static void values_place(HoloFrame *frame, const uint64_t *offsets)
{
    for (uint32_t i = 0; i < frame->plan->value_count; i++) {
        const HoloValueRecord *v = holo_frame_record(frame, i);
        if (v->storage != HOLO_STORE_ARENA || frame->is_held[i]) continue;
        char *own = holo_reuse_memory(frame, i), *arena = frame->spaces[v->space].memory;
        frame->values[i].data = own ? own : arena ? arena + offsets[i] : NULL;
        frame->types[i].data  = frame->values[i].data;
        if (!v->space) holo_guard_show(frame->values[i].data, holo_tensor_bytes(&frame->types[i]));
    }
}

HoloStatus holo_frame_layout(HoloFrame *frame, HoloError *error)
{
    uint64_t  sizes[HOLO_TARGETS_MAX] = {0};
    uint64_t *offsets                 = HOLO_NEW(&frame->temp, uint64_t, frame->plan->value_count + 1);
    if (!offsets) return holo_fail_memory(error);
    HOLO_TRY(holo_reuse_bind(frame, error));
    bool is_static = frame->plan->flags & HOLO_PLAN_STATIC;
    if (is_static) HOLO_TRY(layout_static(frame, &sizes[0], offsets, error));
    HOLO_TRY(layout_dynamic(frame, is_static ? 1 : 0, sizes, offsets, error));
    layout_watched(frame, &sizes[0], offsets);
    for (uint32_t i = 0; i < frame->session->device_count; i++) {
        if (sizes[i] >= SIZE_MAX || !holo_frame_take(frame, i, &frame->spaces[i], (size_t)sizes[i]))
            return holo_fail(error, HOLO_NO_MEMORY, "no memory for the values of a run with these sizes");
        frame->spaces[i].used = (size_t)sizes[i];
    }
    holo_guard_hide(frame->spaces[0].memory, frame->spaces[0].size);
    values_place(frame, offsets);
    return overlaps_check(frame, error);
}
