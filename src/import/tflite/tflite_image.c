// tflite_image.c - operators on images: other sizes, blocks of pixels as channels or as images.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

// ---- other sizes

static HoloValue *resize(HoloTfOp *op, HoloValue *x, const char *mode, const char *places, const char *nearest)
{
    int64_t size[2];
    int     count;
    x = holo_tf_first(op, x);
    if (!x || x->type.rank != 4) return x ? holo_tf_fail(op, "it needs an image") : NULL;
    HoloValue *sizes;
    if (holo_tf_ints(op, 1, size, 2, &count) && count == 2) {
        sizes = holo_emit_sizes(op->e, (HoloDim[]){x->type.dim[0], x->type.dim[1], size[0], size[1]}, 4);
    } else {
        HoloValue *given = holo_tf_i64(op, 1), *rest = holo_emit_sizes(op->e, x->type.dim, 2);
        sizes = given && rest ? holo_emit(op->e, "Concat", HOLO_IN(rest, given), HOLO_ATTRS(holo_with_int("axis", 0)))
                              : NULL;
    }
    if (!sizes) return NULL;
    x = holo_emit(op->e, "Resize", HOLO_IN(x, NULL, NULL, sizes),
                  HOLO_ATTRS(holo_with_text("mode", mode), holo_with_text("coordinate_transformation_mode", places),
                             holo_with_text("nearest_mode", nearest)));
    return holo_tf_last(op, x);
}

void holo_tf_resize_bilinear(HoloTfOp *op)
{
    const char *places = holo_flat_u8(op->options, BILINEAR_ALIGN, 0)  ? "align_corners"
                         : holo_flat_u8(op->options, BILINEAR_HALF, 0) ? "half_pixel"
                                                                       : "asymmetric";
    holo_tf_give_real(op, 0, resize(op, holo_tf_real(op, 0), "linear", places, "floor"));
}

// The place (y + 1/2) * scale, rounded down, is (y + 1/2) * scale - 1/2, rounded, with halves up.
void holo_tf_resize_nearest(HoloTfOp *op)
{
    bool align         = holo_flat_u8(op->options, NEAREST_ALIGN, 0) != 0,
         half          = holo_flat_u8(op->options, NEAREST_HALF, 0) != 0;
    const char *places = align ? "align_corners" : half ? "half_pixel" : "asymmetric";
    holo_tf_give_moved(
        op, 0, resize(op, holo_tf_moved(op, 0), "nearest", places, align || half ? "round_prefer_ceil" : "floor"));
}

// ---- blocks

void holo_tf_depth_space(HoloTfOp *op) // the argument is the operator of ONNX
{
    int64_t    size = holo_flat_i32(op->options, BLOCK_SIZE, 0);
    HoloValue *x    = holo_tf_first(op, holo_tf_moved(op, 0));
    if (!x) return;
    if (size < 1 || size > INT16_MAX) return (void)holo_tf_fail(op, "blocks of size %lld", (long long)size);
    x = holo_emit(op->e, op->row->arg, HOLO_IN(x), HOLO_ATTRS(holo_with_int("blocksize", size)));
    holo_tf_give_moved(op, 0, holo_tf_last(op, x));
}

typedef struct Blocks {
    int     count, rank; // of blocks; of the image
    int64_t size[HOLO_MAX_RANK], edge[2 * HOLO_MAX_RANK];
} Blocks;

static bool blocks_read(HoloTfOp *op, const HoloValue *x, Blocks *out)
{
    int edges;
    out->rank = x ? holo_tf_rank(op, x) : -1;
    if (out->rank < 1 || !holo_tf_need_ints(op, 1, out->size, HOLO_MAX_RANK, &out->count) ||
        !holo_tf_need_ints(op, 2, out->edge, 2 * HOLO_MAX_RANK, &edges))
        return false;
    if (edges != 2 * out->count || out->count >= out->rank || out->rank + out->count > HOLO_MAX_RANK)
        return holo_tf_fail(op, "its blocks do not fit its input"), false;
    for (int i = 0; i < out->count; i++)
        if (out->size[i] < 1 || out->edge[2 * i] < 0 || out->edge[2 * i + 1] < 0)
            return holo_tf_fail(op, "its blocks are wrong"), false;
    return true;
}

// [batch, space / block ..., rest] of each place in a block.
void holo_tf_space_to_batch(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0);
    Blocks     b;
    int64_t    pads[2 * HOLO_MAX_RANK] = {0}, perm[HOLO_MAX_RANK];
    HoloDim    cut[HOLO_MAX_RANK], joined[HOLO_MAX_RANK];
    if (!blocks_read(op, x, &b)) return;
    const HoloTfTensor *t = holo_tf_tensor_in(op, 0);
    for (int i = 0; i < b.count; i++) {
        pads[1 + i]          = b.edge[2 * i];
        pads[b.rank + 1 + i] = b.edge[2 * i + 1];
    }
    bool own = holo_tf_is_scaled(t) && holo_emit_dtype(x) == t->dtype;
    x        = holo_emit(
               op->e, "Pad",
               HOLO_IN(x, holo_emit_ints(op->e, pads, 2 * b.rank), holo_tf_like(op, x, own ? t->scaled.first_zero : 0)), NULL);
    if (!x) return;
    HoloDims *dims = op->e->graph->dims;
    int       n    = 0;
    cut[n++]       = x->type.dim[0];
    joined[0]      = x->type.dim[0];
    for (int i = 0; i < b.count; i++) {
        cut[n++]              = holo_dim_div(dims, x->type.dim[1 + i], b.size[i]);
        cut[n++]              = b.size[i];
        joined[0]             = holo_dim_mul(dims, joined[0], b.size[i]);
        joined[1 + i]         = cut[n - 2];
        perm[i]               = 2 + 2 * i;
        perm[b.count + 1 + i] = 1 + 2 * i;
    }
    perm[b.count] = 0;
    for (int d = b.count + 1; d < b.rank; d++) {
        joined[d] = cut[n] = x->type.dim[d];
        perm[n]            = n;
        n++;
    }
    x = holo_tf_transpose(op, holo_emit_reshape(op->e, x, cut, n), perm, n);
    holo_tf_give_moved(op, 0, x ? holo_emit_reshape(op->e, x, joined, b.rank) : NULL);
}

void holo_tf_batch_to_space(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0);
    Blocks     b;
    int64_t    perm[HOLO_MAX_RANK], blocks = 1;
    HoloDim    cut[HOLO_MAX_RANK], joined[HOLO_MAX_RANK];
    if (!blocks_read(op, x, &b)) return;
    HoloDims *dims = op->e->graph->dims;
    int       n    = 0;
    for (int i = 0; i < b.count; i++) {
        cut[n++] = b.size[i];
        blocks *= b.size[i];
    }
    cut[n++]  = holo_dim_div(dims, x->type.dim[0], blocks);
    joined[0] = cut[n - 1];
    perm[0]   = b.count;
    for (int d = 1; d < b.rank; d++) {
        cut[n++]  = x->type.dim[d];
        joined[d] = d <= b.count ? holo_dim_mul(dims, x->type.dim[d], b.size[d - 1]) : x->type.dim[d];
        if (d <= b.count)
            perm[2 * d - 1] = b.count + d, perm[2 * d] = d - 1;
        else
            perm[b.count + d] = b.count + d;
    }
    x = holo_tf_transpose(op, holo_emit_reshape(op->e, x, cut, n), perm, n);
    x = x ? holo_emit_reshape(op->e, x, joined, b.rank) : NULL;
    for (int i = 0; i < b.count && x; i++)
        if (b.edge[2 * i] || b.edge[2 * i + 1])
            x = holo_emit_slice(op->e, x, 1 + i, b.edge[2 * i], b.edge[2 * i + 1] ? -b.edge[2 * i + 1] : INT64_MAX, 1);
    holo_tf_give_moved(op, 0, x);
}

// Puts so many elements less 1 between two, along one dimension.
HoloValue *holo_tf_spread(HoloTfOp *op, HoloValue *x, int axis, int64_t times, HoloValue *between)
{
    int64_t pads[2 * HOLO_MAX_RANK] = {0}, next = axis + 1;
    HoloDim sizes[HOLO_MAX_RANK];
    int     rank = x ? x->type.rank : -1;
    if (times == 1 || rank < 1) return x;
    if (times < 1 || rank + 1 > HOLO_MAX_RANK) return holo_tf_fail(op, "it spreads by %lld", (long long)times);
    HoloDims *dims = op->e->graph->dims;
    for (int d = 0; d < rank; d++) sizes[d] = x->type.dim[d];
    sizes[axis]               = holo_dim_mul(dims, sizes[axis], times);
    pads[rank + 1 + axis + 1] = times - 1;
    x                         = holo_emit_unsqueeze(op->e, x, &next, 1);
    x = x && between ? holo_emit(op->e, "Pad", HOLO_IN(x, holo_emit_ints(op->e, pads, 2 * (rank + 1)), between), NULL)
                     : NULL;
    x = x ? holo_emit_reshape(op->e, x, sizes, rank) : NULL;
    return x ? holo_emit_slice(op->e, x, axis, 0, 1 - times, 1) : NULL;
}

void holo_tf_dilate(HoloTfOp *op) // x, how far elements of each dimension are apart, what is between
{
    HoloValue *x = holo_tf_in(op, 0), *between = holo_tf_in(op, 2);
    int64_t    times[HOLO_MAX_RANK];
    int        count, rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 0 || !between || !holo_tf_need_ints(op, 1, times, HOLO_MAX_RANK, &count)) return;
    if (count != rank) return (void)holo_tf_fail(op, "it names other dimensions than there are");
    if (between->type.rank > 0) between = holo_emit_reshape(op->e, between, NULL, 0);
    for (int d = 0; d < rank && x; d++) x = holo_tf_spread(op, x, d, times[d], between);
    holo_tf_give(op, 0, x);
}
