// cuda_move.c - steps that only move elements: each is one copy, or several, with strides; and lookups of rows.
#include "devices/cuda/cuda_kernel.h"
#include "ops/op_id.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// A copy of a box of elements.
typedef struct Copy {
    int     from, to; // operands
    int     rank;
    int64_t size[HOLO_MAX_RANK], from_stride[HOLO_MAX_RANK], to_stride[HOLO_MAX_RANK];
    int64_t from_start, to_start; // elements
} Copy;

static void strides(const HoloTensor *t, int64_t *out)
{
    int64_t at = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        out[d] = at;
        at *= t->dim[d];
    }
}

// Joins neighbouring dimensions that are one piece in both places, and leaves out those of one element.
static void copy_join(Copy *c)
{
    int rank = 0;
    for (int d = 0; d < c->rank; d++) {
        if (c->size[d] == 1) continue;
        bool joins = rank && c->from_stride[rank - 1] == c->size[d] * c->from_stride[d] &&
                     c->to_stride[rank - 1] == c->size[d] * c->to_stride[d];
        int64_t size = c->size[d]; // it may be overwritten
        if (!joins) rank++;
        c->size[rank - 1]        = joins ? c->size[rank - 1] * size : size;
        c->from_stride[rank - 1] = c->from_stride[d];
        c->to_stride[rank - 1]   = c->to_stride[d];
    }
    c->rank = rank;
}

static HoloStatus copy_add(HoloCudaMaking *m, Copy *c, size_t element)
{
    char          name[16];
    HoloCudaMove  p = {.count = 1};
    HoloCudaStep *step;
    copy_join(c);
    if (c->rank > HOLO_CUDA_RANK)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: a move in %d dimensions", c->rank);
    p.rank = c->rank;
    for (int d = 0; d < c->rank; d++) {
        p.size[d]        = c->size[d];
        p.from_stride[d] = c->from_stride[d];
        p.to_stride[d]   = c->to_stride[d];
        p.count *= c->size[d];
    }
    snprintf(name, sizeof name, "move_%zu", element);
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "basic", name, &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaMove, from), c->from, (uint64_t)c->from_start * element);
    holo_cuda_place(step, offsetof(HoloCudaMove, to), c->to, (uint64_t)c->to_start * element);
    return HOLO_OK;
}

// Elements of an input go to an output of the same type: a constant that is stored wider cannot.
static HoloStatus element_of(const HoloCudaMaking *m, int i, size_t *out)
{
    *out = holo_cuda_element(m, i);
    if (m->call->in[i]->dtype == HOLO_F32 && holo_cuda_type(m, i) != m->params.store)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: a constant of f32 is moved in a class of fewer bits");
    return *out == 1 || *out == 2 || *out == 4 || *out == 8
               ? HOLO_OK
               : holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: elements of %zu bytes", *out);
}

// ---- operators

static HoloStatus transpose(HoloCudaMaking *m, size_t element)
{
    const HoloTensor *x = m->call->in[0];
    int64_t           perm[HOLO_MAX_RANK], from[HOLO_MAX_RANK];
    Copy              c     = {.from = 0, .to = holo_cuda_out(m, 0), .rank = x->rank};
    int               count = holo_attr_ints(m->call, "perm", perm, HOLO_MAX_RANK);
    strides(x, from);
    strides(m->call->out[0], c.to_stride);
    for (int d = 0; d < x->rank; d++) {
        int64_t axis = count == x->rank ? perm[d] : x->rank - 1 - d;
        if (axis < 0 || axis >= x->rank) return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its perm is broken");
        c.size[d]        = x->dim[axis];
        c.from_stride[d] = from[axis];
    }
    return copy_add(m, &c, element);
}

static HoloStatus concat(HoloCudaMaking *m, size_t element)
{
    const HoloTensor *out = m->call->out[0];
    int               axis;
    int64_t           to[HOLO_MAX_RANK], at = 0;
    HOLO_TRY(holo_attr_axis(m->call, "axis", 1, out->rank, &axis));
    strides(out, to);
    for (int i = 0; i < m->call->in_count; i++) {
        const HoloTensor *x = m->call->in[i];
        Copy              c = {.from = i, .to = holo_cuda_out(m, 0), .rank = out->rank, .to_start = at * to[axis]};
        size_t            own;
        HOLO_TRY(element_of(m, i, &own));
        if (own != element || x->rank != out->rank || at + x->dim[axis] > out->dim[axis])
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
        strides(x, c.from_stride);
        memcpy(c.to_stride, to, sizeof to);
        memcpy(c.size, x->dim, sizeof c.size);
        at += x->dim[axis];
        HOLO_TRY(copy_add(m, &c, element));
    }
    return HOLO_OK;
}

static HoloStatus split(HoloCudaMaking *m, size_t element)
{
    const HoloTensor *x = m->call->in[0];
    int               axis;
    int64_t           from[HOLO_MAX_RANK], at = 0;
    HOLO_TRY(holo_attr_axis(m->call, "axis", 0, x->rank, &axis));
    strides(x, from);
    for (int i = 0; i < m->call->out_count; i++) {
        const HoloTensor *y = m->call->out[i];
        if (!y || y->rank != x->rank || at + y->dim[axis] > x->dim[axis])
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
        Copy c = {.from = 0, .to = holo_cuda_out(m, i), .rank = x->rank, .from_start = at * from[axis]};
        strides(y, c.to_stride);
        memcpy(c.from_stride, from, sizeof from);
        memcpy(c.size, y->dim, sizeof c.size);
        at += y->dim[axis];
        HOLO_TRY(copy_add(m, &c, element));
    }
    return HOLO_OK;
}

// Sizes of 1 stay where they are while the output runs.
static HoloStatus expand(HoloCudaMaking *m, size_t element)
{
    const HoloTensor *x = m->call->in[0], *out = m->call->out[0];
    Copy              c = {.from = 0, .to = holo_cuda_out(m, 0), .rank = out->rank};
    int64_t           from[HOLO_MAX_RANK];
    int               skip = out->rank - x->rank;
    if (skip < 0) return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    strides(x, from);
    strides(out, c.to_stride);
    for (int d = 0; d < out->rank; d++) {
        c.size[d]        = out->dim[d];
        bool stays       = d < skip || x->dim[d - skip] == 1;
        c.from_stride[d] = stays ? 0 : from[d - skip];
        if (!stays && x->dim[d - skip] != out->dim[d])
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    }
    return copy_add(m, &c, element);
}

// Starts, axes and steps are known before the run. The sizes of the output follow from them, as infer has checked.
static HoloStatus slice(HoloCudaMaking *m, size_t element)
{
    enum { STARTS = 1, AXES = 3, STEPS = 4 };
    const HoloTensor *x = m->call->in[0], *out = m->call->out[0];
    Copy              c = {.from = 0, .to = holo_cuda_out(m, 0), .rank = x->rank};
    HoloDim           start[HOLO_MAX_RANK], axes[HOLO_MAX_RANK], step[HOLO_MAX_RANK];
    int               count    = holo_in_ints(m->call, STARTS, start, HOLO_MAX_RANK);
    bool              has_axes = holo_in(m->call, AXES), has_steps = holo_in(m->call, STEPS);
    if (count < 0 || (has_axes && holo_in_ints(m->call, AXES, axes, HOLO_MAX_RANK) != count) ||
        (has_steps && holo_in_ints(m->call, STEPS, step, HOLO_MAX_RANK) != count) || out->rank != x->rank)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: what it takes is not known before the run");
    strides(x, c.from_stride);
    strides(out, c.to_stride);
    memcpy(c.size, out->dim, sizeof c.size);
    for (int i = 0; i < count; i++) {
        int64_t axis = has_axes ? axes[i] : i, by = has_steps ? step[i] : 1;
        if (axis < 0) axis += x->rank;
        if (axis < 0 || axis >= x->rank || !by) return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its axes are broken");
        int64_t at = start[i] < 0 ? start[i] + x->dim[axis] : start[i], last = x->dim[axis] - (by < 0);
        at = at < 0 ? 0 : at > last ? last : at;
        c.from_start += at * c.from_stride[axis];
        int64_t end = at + (out->dim[axis] - 1) * by;
        if (out->dim[axis] > 0 && (end < 0 || end >= x->dim[axis]))
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
        c.from_stride[axis] *= by;
    }
    return copy_add(m, &c, element);
}

// Views that got a step: the same elements in another shape.
static HoloStatus copy(HoloCudaMaking *m, size_t element)
{
    Copy c = {.from        = 0,
              .to          = holo_cuda_out(m, 0),
              .rank        = 1,
              .size        = {holo_tensor_count(m->call->in[0])},
              .from_stride = {1},
              .to_stride   = {1}};
    if (c.size[0] != holo_tensor_count(m->call->out[0]))
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    return copy_add(m, &c, element);
}

static const struct {
    HoloOpId id;
    HoloStatus (*add)(HoloCudaMaking *m, size_t element);
} moves[] = {
    {HOLO_ID_Transpose, transpose}, {HOLO_ID_Concat, concat}, {HOLO_ID_Split, split},
    {HOLO_ID_Expand, expand},       {HOLO_ID_Slice, slice},
};

HoloStatus holo_cuda_move(HoloCudaMaking *m)
{
    size_t element;
    for (int i = 0; i < m->call->out_count; i++)
        if (!m->call->out[i] || m->call->out[i]->dtype != m->call->in[0]->dtype)
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "it is no move");
    HOLO_TRY(element_of(m, 0, &element));
    for (int i = 0; i < HOLO_COUNT(moves); i++)
        if (holo_op_is(m->call->op, moves[i].id)) return moves[i].add(m, element);
    if (m->call->op->flags & HOLO_OP_VIEW) return copy(m, element);
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "it is no move");
}

HoloStatus holo_cuda_gather(HoloCudaMaking *m)
{
    const HoloTensor *x = m->call->in[0], *index = m->call->in[1];
    HoloCudaGather    p = {.outer = 1, .inner = 1, .unit = 16, .indices = holo_tensor_count(index)};
    HoloCudaStep     *step;
    size_t            element;
    int               axis;
    HOLO_TRY(holo_attr_axis(m->call, "axis", 0, x->rank, &axis));
    HOLO_TRY(element_of(m, 0, &element));
    if (index->dtype != HOLO_I64 && index->dtype != HOLO_I32)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its indices are not integers");
    for (int d = 0; d < axis; d++) p.outer *= x->dim[d];
    for (int d = axis + 1; d < x->rank; d++) p.inner *= x->dim[d];
    p.size        = x->dim[axis];
    p.index_bytes = index->dtype == HOLO_I64 ? 8 : 4;
    if (p.outer * p.indices * p.inner != holo_tensor_count(m->call->out[0]))
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    while ((size_t)p.inner * element % (size_t)p.unit) p.unit /= 2;
    p.inner             = p.inner * (int64_t)element / p.unit;
    HoloCudaShape shape = holo_cuda_threads(p.outer * p.indices * p.inner);
    HOLO_TRY(holo_cuda_add(m, "basic", "gather", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaGather, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaGather, index), 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaGather, to), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaGather, status), HOLO_CUDA_STATUS, 0);
    return HOLO_OK;
}
