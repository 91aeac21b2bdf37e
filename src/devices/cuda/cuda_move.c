// cuda_move.c - steps that only move elements: each is one copy, or several, with strides; and lookups of rows.
#include "devices/cuda/cuda_move.h"
#include "ops/op_id.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

void holo_cuda_strides(const HoloTensor *t, int64_t *out)
{
    int64_t at = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        out[d] = at;
        at *= t->dim[d];
    }
}

// Joins neighbouring dimensions that are one piece in both places, and leaves out those of one element.
static void copy_join(HoloCudaCopy *c)
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

// A constant of f32 may be moved to where f32 lies narrower.
static bool is_narrowed(const HoloCudaMaking *m, int i)
{
    return m->call->in[i]->dtype == HOLO_F32 && holo_cuda_type(m, i) != m->params.store;
}

size_t holo_cuda_out_element(const HoloCudaMaking *m)
{
    unsigned dtype = m->call->out[0]->dtype;
    return dtype == HOLO_F32 && m->params.store != HOLO_CUDA_F32 ? 2 : holo_dtype_size((HoloDtype)dtype);
}

// Can two neighbours move together, for all of them?
static bool is_even(const HoloCudaCopy *c)
{
    int last = c->rank - 1;
    if (!c->rank || c->size[last] % 2 || c->from_stride[last] != 1 || c->to_stride[last] != 1) return false;
    if (c->from_start % 2 || c->to_start % 2) return false;
    for (int d = 0; d < last; d++)
        if (c->from_stride[d] % 2 || c->to_stride[d] % 2) return false;
    return true;
}

// Makes units of up to 16 bytes of elements that lie side by side in both places; operands lie on 64 bytes. Returns the
// bytes of a unit.
static size_t copy_widen(HoloCudaCopy *c, size_t element)
{
    enum { WIDEST = 16 };
    for (; element < WIDEST && is_even(c); element *= 2) {
        c->size[c->rank - 1] /= 2;
        c->from_start /= 2;
        c->to_start /= 2;
        for (int d = 0; d + 1 < c->rank; d++) {
            c->from_stride[d] /= 2;
            c->to_stride[d] /= 2;
        }
    }
    return element;
}

HoloStatus holo_cuda_copy(HoloCudaMaking *m, HoloCudaCopy *c)
{
    char          name[16] = "move_number";
    HoloCudaMove  p        = {.count = 1, .from_type = HOLO_CUDA_F32, .to_type = m->params.store};
    HoloCudaStep *step;
    size_t        size = holo_cuda_out_element(m), from = holo_cuda_element(m, c->from);
    copy_join(c);
    if (!is_narrowed(m, c->from)) size = from = copy_widen(c, size);
    if (c->rank > HOLO_CUDA_RANK)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: a move in %d dimensions", c->rank);
    p.rank = c->rank;
    for (int d = 0; d < c->rank; d++) {
        p.size[d]        = c->size[d];
        p.from_stride[d] = c->from_stride[d];
        p.to_stride[d]   = c->to_stride[d];
        p.count *= c->size[d];
    }
    if (!is_narrowed(m, c->from)) snprintf(name, sizeof name, "move_%zu", size);
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "basic", name, &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaMove, from), c->from, (uint64_t)c->from_start * from);
    holo_cuda_place(step, offsetof(HoloCudaMove, to), c->to, (uint64_t)c->to_start * size);
    return HOLO_OK;
}

// ---- operators

static HoloStatus transpose(HoloCudaMaking *m)
{
    const HoloTensor *x = m->call->in[0];
    int64_t           perm[HOLO_MAX_RANK], from[HOLO_MAX_RANK];
    HoloCudaCopy      c     = {.from = 0, .to = holo_cuda_out(m, 0), .rank = x->rank};
    int               count = holo_attr_ints(m->call, "perm", perm, HOLO_MAX_RANK);
    holo_cuda_strides(x, from);
    holo_cuda_strides(m->call->out[0], c.to_stride);
    for (int d = 0; d < x->rank; d++) {
        int64_t axis = count == x->rank ? perm[d] : x->rank - 1 - d;
        if (axis < 0 || axis >= x->rank) return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its perm is broken");
        c.size[d]        = x->dim[axis];
        c.from_stride[d] = from[axis];
    }
    return holo_cuda_copy(m, &c);
}

// Concat copies inputs to parts of its output; Split copies parts of its input to outputs. The parts lie one after another
// along an axis of `whole`.
static HoloStatus parts(HoloCudaMaking *m, bool joins)
{
    const HoloTensor *whole = joins ? m->call->out[0] : m->call->in[0];
    int               axis, count = joins ? m->call->in_count : m->call->out_count;
    int64_t           along[HOLO_MAX_RANK], own[HOLO_MAX_RANK], at = 0;
    HOLO_TRY(holo_attr_axis(m->call, "axis", joins ? 1 : 0, whole->rank, &axis));
    holo_cuda_strides(whole, along);
    for (int i = 0; i < count; i++) {
        const HoloTensor *part = joins ? m->call->in[i] : m->call->out[i];
        if (!part || part->dtype != whole->dtype || part->rank != whole->rank ||
            part->dim[axis] > whole->dim[axis] - at)
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
        for (int d = 0; d < whole->rank; d++)
            if (d != axis && part->dim[d] != whole->dim[d])
                return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
        HoloCudaCopy c = {.from = joins ? i : 0, .to = holo_cuda_out(m, joins ? 0 : i), .rank = whole->rank};
        holo_cuda_strides(part, own);
        memcpy(c.size, part->dim, sizeof c.size);
        memcpy(c.from_stride, joins ? own : along, sizeof own);
        memcpy(c.to_stride, joins ? along : own, sizeof own);
        *(joins ? &c.to_start : &c.from_start) = at * along[axis];
        at += part->dim[axis];
        HOLO_TRY(holo_cuda_copy(m, &c));
    }
    return HOLO_OK;
}

static HoloStatus concat(HoloCudaMaking *m)
{
    return parts(m, true);
}

static HoloStatus split(HoloCudaMaking *m)
{
    return parts(m, false);
}

// Sizes of 1 stay where they are while the output runs.
static HoloStatus expand(HoloCudaMaking *m)
{
    const HoloTensor *x = m->call->in[0], *out = m->call->out[0];
    HoloCudaCopy      c = {.from = 0, .to = holo_cuda_out(m, 0), .rank = out->rank};
    int64_t           from[HOLO_MAX_RANK];
    int               skip = out->rank - x->rank;
    if (skip < 0) return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    holo_cuda_strides(x, from);
    holo_cuda_strides(out, c.to_stride);
    for (int d = 0; d < out->rank; d++) {
        c.size[d]        = out->dim[d];
        bool stays       = d < skip || x->dim[d - skip] == 1;
        c.from_stride[d] = stays ? 0 : from[d - skip];
        if (!stays && x->dim[d - skip] != out->dim[d])
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    }
    return holo_cuda_copy(m, &c);
}

// Starts, axes and steps are known before the run. The sizes of the output follow from them, as infer has checked.
static HoloStatus slice(HoloCudaMaking *m)
{
    enum { STARTS = 1, AXES = 3, STEPS = 4 };
    const HoloTensor *x = m->call->in[0], *out = m->call->out[0];
    HoloCudaCopy      c = {.from = 0, .to = holo_cuda_out(m, 0), .rank = x->rank};
    HoloDim           start[HOLO_MAX_RANK], axes[HOLO_MAX_RANK], step[HOLO_MAX_RANK];
    int               count    = holo_in_ints(m->call, STARTS, start, HOLO_MAX_RANK);
    bool              has_axes = holo_in(m->call, AXES), has_steps = holo_in(m->call, STEPS);
    if (count < 0 || (has_axes && holo_in_ints(m->call, AXES, axes, HOLO_MAX_RANK) != count) ||
        (has_steps && holo_in_ints(m->call, STEPS, step, HOLO_MAX_RANK) != count) || out->rank != x->rank)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: what it takes is not known before the run");
    holo_cuda_strides(x, c.from_stride);
    holo_cuda_strides(out, c.to_stride);
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
    return holo_cuda_copy(m, &c);
}

// Views that got a step: the same elements in another shape.
static HoloStatus copy(HoloCudaMaking *m)
{
    HoloCudaCopy c = {.from        = 0,
                      .to          = holo_cuda_out(m, 0),
                      .rank        = 1,
                      .size        = {holo_tensor_count(m->call->in[0])},
                      .from_stride = {1},
                      .to_stride   = {1}};
    if (c.size[0] != holo_tensor_count(m->call->out[0]))
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    return holo_cuda_copy(m, &c);
}

static const struct {
    HoloOpId id;
    HoloStatus (*add)(HoloCudaMaking *m);
} moves[] = {
    {HOLO_ID_Transpose, transpose},
    {HOLO_ID_Concat, concat},
    {HOLO_ID_Split, split},
    {HOLO_ID_Expand, expand},
    {HOLO_ID_Slice, slice},
    {HOLO_ID_Pad, holo_cuda_pad},
    {HOLO_ID_Tile, holo_cuda_tile},
    {HOLO_ID_DepthToSpace, holo_cuda_to_space},
    {HOLO_ID_SpaceToDepth, holo_cuda_to_depth},
};

HoloStatus holo_cuda_move(HoloCudaMaking *m)
{
    size_t element = m->call->out_count && m->call->out[0] ? holo_cuda_out_element(m) : 0;
    for (int i = 0; i < m->call->out_count; i++)
        if (!m->call->out[i] || m->call->out[i]->dtype != m->call->in[0]->dtype)
            return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "it is no move");
    if (element != 1 && element != 2 && element != 4 && element != 8)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: elements of %zu bytes", element);
    for (int i = 0; i < HOLO_COUNT(moves); i++)
        if (holo_op_is(m->call->op, moves[i].id)) return moves[i].add(m);
    if (m->call->op->flags & HOLO_OP_VIEW) return copy(m);
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "it is no move");
}

HoloStatus holo_cuda_gather(HoloCudaMaking *m)
{
    const HoloTensor *x = m->call->in[0], *index = m->call->in[1];
    HoloCudaGather    p = {
           .outer = 1, .inner = 1, .unit = 16, .indices = holo_tensor_count(index), .to_type = m->params.store};
    HoloCudaStep *step;
    int           axis;
    bool          narrows = is_narrowed(m, 0);
    HOLO_TRY(holo_attr_axis(m->call, "axis", 0, x->rank, &axis));
    if (index->dtype != HOLO_I64 && index->dtype != HOLO_I32)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its indices are not integers");
    for (int d = 0; d < axis; d++) p.outer *= x->dim[d];
    for (int d = axis + 1; d < x->rank; d++) p.inner *= x->dim[d];
    p.size        = x->dim[axis];
    p.index_bytes = index->dtype == HOLO_I64 ? 8 : 4;
    if (p.outer * p.indices * p.inner != holo_tensor_count(m->call->out[0]))
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
    int64_t element = (int64_t)holo_cuda_out_element(m);
    while (p.inner * element % p.unit) p.unit /= 2;
    if (!narrows) p.inner = p.inner * element / p.unit;
    HoloCudaShape shape = holo_cuda_threads(p.outer * p.indices * p.inner);
    HOLO_TRY(holo_cuda_add(m, "basic", narrows ? "gather_number" : "gather", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaGather, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaGather, index), 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaGather, to), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaGather, status), HOLO_CUDA_STATUS, 0);
    return HOLO_OK;
}

// ---- transfers

// The device fills in addresses and types, which depend on the way.
HoloStatus holo_cuda_transfer(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0);
    HoloCudaConvert   p = {.count = x ? holo_tensor_count(x) : 0};
    HoloCudaStep     *step;
    if (!holo_op_is(m->call->op, HOLO_ID_HOLOGRAM_Transfer) || !x || x->dtype != HOLO_F32 ||
        m->params.store == HOLO_CUDA_F32)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its kernel is not for this transfer");
    m->job->is_transfer = true;
    m->scratch          = holo_tensor_bytes(x);
    HoloCudaShape shape = holo_cuda_threads((p.count + 3) / 4);
    return holo_cuda_add(m, "basic", "convert", &shape, &p, sizeof p, &step);
}
