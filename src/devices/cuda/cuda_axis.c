// cuda_axis.c - steps along an axis: ArgMax, ArgMin, CumSum and GatherElements.
#include "devices/cuda/cuda_kernel.h"
#include "ops/op_id.h"

#include <stddef.h>

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
}

// A tensor as [outer][size][inner] around an axis.
static void axis_set(const HoloTensor *t, int axis, int64_t *outer, int64_t *size, int64_t *inner)
{
    *outer = *inner = 1;
    for (int d = 0; d < axis; d++) *outer *= t->dim[d];
    for (int d = axis + 1; d < t->rank; d++) *inner *= t->dim[d];
    *size = t->dim[axis];
}

HoloStatus holo_cuda_extreme(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *y = holo_out(m->call, 0);
    HoloCudaExtreme   p = {.is_least = holo_op_is(m->call->op, HOLO_ID_ArgMin),
                           .is_last  = holo_attr_int(m->call, "select_last_index", 0) != 0};
    HoloCudaStep     *step;
    int               axis;
    if (!x || !y || x->dtype != HOLO_F32 || y->dtype != HOLO_I64 || x->rank < 1) return bad(m);
    HOLO_TRY(holo_attr_axis(m->call, "axis", 0, x->rank, &axis));
    axis_set(x, axis, &p.outer, &p.size, &p.inner);
    p.type = holo_cuda_type(m, 0);
    if (!p.size || p.outer * p.inner != holo_tensor_count(y)) return bad(m);
    HoloCudaShape shape = holo_cuda_blocks(p.outer * p.inner); // a block for each row
    shape.block         = p.size < 128 ? 32 : 256;
    bool is_row         = p.inner == 1 && p.size >= 4096 && p.size % 4 == 0 && p.size <= INT32_MAX / 2;
    if (is_row) shape.block = 1024;
    HOLO_TRY(holo_cuda_add(m, "basic", is_row ? "extreme_row" : "extreme", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaExtreme, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaExtreme, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}

HoloStatus holo_cuda_scan(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *y = holo_out(m->call, 0);
    HoloCudaScan      p = {.is_reverse   = holo_attr_int(m->call, "reverse", 0) != 0,
                           .is_exclusive = holo_attr_int(m->call, "exclusive", 0) != 0};
    HoloCudaStep     *step;
    HoloDim           axis;
    if (!x || !y || x->dtype != HOLO_F32 || holo_tensor_count(x) != holo_tensor_count(y)) return bad(m);
    if (holo_in_ints(m->call, 1, &axis, 1) != 1) return bad(m);
    if (axis < 0) axis += x->rank;
    if (axis < 0 || axis >= x->rank) return bad(m);
    axis_set(x, (int)axis, &p.outer, &p.size, &p.inner);
    p.from_type         = holo_cuda_type(m, 0);
    p.to_type           = m->params.store;
    HoloCudaShape shape = holo_cuda_threads(p.size ? p.outer * p.inner : 0);
    HOLO_TRY(holo_cuda_add(m, "basic", "scan", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaScan, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaScan, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}

// y[a][b][c] = x[a][index[a][b][c]][c]: sizes of the other dimensions may be smaller than those of x.
HoloStatus holo_cuda_pick_elements(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *index = holo_in(m->call, 1), *y = holo_out(m->call, 0);
    HoloCudaElements  p = {0};
    HoloCudaStep     *step;
    int               axis;
    if (!x || !index || !y || x->rank != index->rank || x->rank < 1 || x->rank > HOLO_CUDA_RANK ||
        x->dtype != y->dtype || (index->dtype != HOLO_I64 && index->dtype != HOLO_I32) ||
        holo_tensor_count(index) != holo_tensor_count(y))
        return bad(m);
    HOLO_TRY(holo_attr_axis(m->call, "axis", 0, x->rank, &axis));
    p.rank        = x->rank;
    p.axis        = axis;
    p.count       = holo_tensor_count(y);
    p.index_bytes = index->dtype == HOLO_I64 ? 8 : 4;
    p.element     = (int32_t)holo_dtype_size((HoloDtype)x->dtype);
    p.limit       = x->dim[axis];
    int64_t at    = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        if (d != axis && index->dim[d] > x->dim[d]) return bad(m);
        p.size[d]   = index->dim[d];
        p.stride[d] = at;
        at *= x->dim[d];
    }
    if (x->dtype == HOLO_F32) {
        p.element  = holo_cuda_type(m, 0) == HOLO_CUDA_F32 ? 4 : 2;
        p.converts = holo_cuda_type(m, 0) != m->params.store;
        p.to_type  = m->params.store;
    }
    if (!p.limit && p.count) return bad(m);
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "basic", "elements", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaElements, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaElements, index), 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaElements, to), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaElements, status), HOLO_CUDA_STATUS, 0);
    return HOLO_OK;
}
