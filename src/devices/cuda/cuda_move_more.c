// cuda_move_more.c - more operators that only move elements: Pad, Tile, DepthToSpace and SpaceToDepth.
#include "devices/cuda/cuda_move.h"
#include "format/small_float.h"
#include "ops/op_id.h"

#include <stddef.h>
#include <string.h>

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its sizes do not fit");
}

// ---- Pad

// The bits that fill the border, as the output is stored.
static HoloStatus border(const HoloCudaMaking *m, uint64_t *out)
{
    enum { VALUE = 2 };
    const HoloTensor *value = holo_in(m->call, VALUE), *y = m->call->out[0];
    *out = 0;
    if (!value) return HOLO_OK;
    if (!value->data || value->dtype != y->dtype || holo_tensor_count(value) != 1) return bad(m);
    memcpy(out, value->data, holo_dtype_size((HoloDtype)value->dtype));
    if (y->dtype != HOLO_F32 || m->params.store == HOLO_CUDA_F32) return HOLO_OK;
    float x;
    memcpy(&x, value->data, sizeof x);
    *out = holo_small_encode(m->params.store == HOLO_CUDA_F16 ? HOLO_FORMAT_F16 : HOLO_FORMAT_BF16, (double)x, false);
    return HOLO_OK;
}

static HoloStatus fill_add(HoloCudaMaking *m)
{
    HoloCudaFill  p = {.count = holo_tensor_count(m->call->out[0]), .element = (int32_t)holo_cuda_out_element(m)};
    HoloCudaStep *step;
    HOLO_TRY(border(m, &p.value));
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "basic", "fill", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaFill, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}

// What is added before each dimension; the compiler made sure that it is known.
static HoloStatus pads_read(const HoloCudaMaking *m, int64_t *before)
{
    enum { PADS = 1, AXES = 3 };
    HoloDim pads[2 * HOLO_MAX_RANK], axes[HOLO_MAX_RANK];
    int     rank = m->call->in[0]->rank, count = holo_in_ints(m->call, PADS, pads, 2 * HOLO_MAX_RANK),
        axis_count = holo_in(m->call, AXES) ? holo_in_ints(m->call, AXES, axes, HOLO_MAX_RANK) : rank;
    if (count < 0 || count != 2 * axis_count) return bad(m);
    memset(before, 0, HOLO_MAX_RANK * sizeof *before);
    for (int i = 0; i < axis_count; i++) {
        int64_t axis = holo_in(m->call, AXES) ? axes[i] : i;
        if (axis < 0) axis += rank;
        if (axis < 0 || axis >= rank) return bad(m);
        before[axis] = pads[i];
    }
    return HOLO_OK;
}

HoloStatus holo_cuda_pad(HoloCudaMaking *m)
{
    const HoloTensor *x = m->call->in[0], *y = m->call->out[0];
    HoloCudaCopy      c = {.from = 0, .to = holo_cuda_out(m, 0), .rank = x->rank};
    int64_t           before[HOLO_MAX_RANK];
    if (x->rank != y->rank) return bad(m);
    HOLO_TRY(pads_read(m, before));
    HOLO_TRY(fill_add(m));
    holo_cuda_strides(x, c.from_stride);
    holo_cuda_strides(y, c.to_stride);
    for (int d = 0; d < x->rank; d++) {
        int64_t skip = before[d] < 0 ? -before[d] : 0, start = before[d] > 0 ? before[d] : 0;
        int64_t there = x->dim[d] - skip, room = y->dim[d] - start;
        c.size[d] = there < room ? there : room;
        if (c.size[d] <= 0) return HOLO_OK; // nothing of the input is left
        c.from_start += skip * c.from_stride[d];
        c.to_start += start * c.to_stride[d];
    }
    return holo_cuda_copy(m, &c);
}

// ---- Tile

// Each dimension is two: which tile, where no source moves, and the place in it.
HoloStatus holo_cuda_tile(HoloCudaMaking *m)
{
    const HoloTensor *x = m->call->in[0], *y = m->call->out[0];
    HoloCudaCopy      c = {.from = 0, .to = holo_cuda_out(m, 0)};
    int64_t           from[HOLO_MAX_RANK], to[HOLO_MAX_RANK];
    if (x->rank != y->rank || 2 * x->rank > HOLO_MAX_RANK) return bad(m);
    holo_cuda_strides(x, from);
    holo_cuda_strides(y, to);
    for (int d = 0; d < x->rank; d++) {
        if (x->dim[d] ? y->dim[d] % x->dim[d] : y->dim[d]) return bad(m);
        c.size[c.rank]            = x->dim[d] ? y->dim[d] / x->dim[d] : 0;
        c.to_stride[c.rank]       = x->dim[d] * to[d];
        c.size[c.rank + 1]        = x->dim[d];
        c.from_stride[c.rank + 1] = from[d];
        c.to_stride[c.rank + 1]   = to[d];
        c.rank += 2;
    }
    return holo_cuda_copy(m, &c);
}

// ---- blocks of a picture and its depth

// Six dimensions of `deep` [n][c * b * b][h][w] and of `wide` [n][c][h * b][w * b]: n, c, row in the block, column in the
// block, h, w.
static HoloStatus blocks(HoloCudaMaking *m, bool to_space)
{
    const HoloTensor *deep = to_space ? m->call->in[0] : m->call->out[0],
                     *wide = to_space ? m->call->out[0] : m->call->in[0];
    int64_t    b           = holo_attr_int(m->call, "blocksize", 0), depth[6], space[6];
    HoloString mode        = holo_attr_string(m->call, "mode", "DCR");
    bool by_depth  = mode.size == 3 && !memcmp(mode.data, "DCR", 3); // the block's place is slower than the channel
    HoloCudaCopy c = {.from = 0, .to = holo_cuda_out(m, 0), .rank = 6};
    if (deep->rank != 4 || wide->rank != 4 || b < 1 || deep->dim[1] % b || deep->dim[1] / b % b) return bad(m);
    int64_t       channels = deep->dim[1] / b / b, h = deep->dim[2], w = deep->dim[3], picture = h * w;
    const int64_t size[6] = {deep->dim[0], channels, b, b, h, w};
    depth[0]              = channels * b * b * picture;
    depth[1]              = by_depth ? picture : b * b * picture;
    depth[2]              = by_depth ? b * channels * picture : b * picture;
    depth[3]              = by_depth ? channels * picture : picture;
    depth[4]              = w;
    depth[5]              = 1;
    space[0]              = channels * b * b * picture;
    space[1]              = b * b * picture;
    space[2]              = w * b;
    space[3]              = 1;
    space[4]              = b * w * b;
    space[5]              = b;
    if (wide->dim[1] != channels || wide->dim[2] != h * b || wide->dim[3] != w * b || wide->dim[0] != deep->dim[0])
        return bad(m);
    memcpy(c.size, size, sizeof size);
    memcpy(c.from_stride, to_space ? depth : space, sizeof depth);
    memcpy(c.to_stride, to_space ? space : depth, sizeof depth);
    return holo_cuda_copy(m, &c);
}

HoloStatus holo_cuda_to_space(HoloCudaMaking *m)
{
    return blocks(m, true);
}

HoloStatus holo_cuda_to_depth(HoloCudaMaking *m)
{
    return blocks(m, false);
}
