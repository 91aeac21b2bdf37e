// tflite_reduce.c - operators that make one element of many: sums, means, softmax, norms, places of the largest.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

// ---- reductions

// The axes, each once, whatever the file has.
static HoloValue *axes_read(HoloTfOp *op, int rank)
{
    HoloValue *axes = holo_tf_i64(op, 1);
    int64_t    list[HOLO_TF_ROOM], once[HOLO_MAX_RANK];
    int        count, kept = 0;
    if (rank < 0 || !axes || !holo_tf_ints(op, 1, list, HOLO_TF_ROOM, &count)) return axes;
    for (int i = 0; i < count; i++) {
        bool is_new = true;
        if ((list[i] = holo_tf_axis(op, list[i], rank)) < 0) return NULL;
        for (int k = 0; k < kept; k++) is_new = is_new && once[k] != list[i];
        if (is_new) once[kept++] = list[i];
    }
    return kept < count ? holo_emit_ints(op->e, once, kept) : axes;
}

static HoloValue *reduce(HoloTfOp *op, const char *name, HoloValue *x)
{
    HoloValue *axes = axes_read(op, x ? x->type.rank : -1);
    bool       keep = holo_flat_u8(op->options, REDUCE_KEEP, 0) != 0;
    if (axes && axes->type.rank == 0) axes = holo_emit_reshape(op->e, axes, (HoloDim[]){1}, 1);
    if (!x || !axes) return NULL;
    return holo_emit(op->e, name, HOLO_IN(x, axes),
                     HOLO_ATTRS(holo_with_int("keepdims", keep), holo_with_int("noop_with_empty_axes", 1)));
}

void holo_tf_reduce(HoloTfOp *op)
{
    holo_tf_give_real(op, 0, reduce(op, op->row->arg, holo_tf_real(op, 0)));
}

// The largest or the smallest of integers with one scale is one of them.
void holo_tf_reduce_extreme(HoloTfOp *op)
{
    bool                same = holo_tf_same_scale(holo_tf_tensor_in(op, 0), holo_tf_tensor_out(op, 0));
    const HoloTfTensor *t    = holo_tf_tensor_in(op, 0);
    same                     = same && t && t->type != TYPE_I16;
    HoloValue *y             = reduce(op, op->row->arg, same ? holo_tf_in(op, 0) : holo_tf_real(op, 0));
    if (same)
        holo_tf_give(op, 0, y);
    else
        holo_tf_give_real(op, 0, y);
}

void holo_tf_reduce_truth(HoloTfOp *op) // any: the largest; all: the smallest
{
    HoloValue *x = holo_tf_in(op, 0);
    HoloValue *y = x ? reduce(op, op->row->arg, holo_emit_cast(op->e, x, HOLO_I32)) : NULL;
    holo_tf_give(op, 0, y ? holo_emit_cast(op->e, y, HOLO_BOOL) : NULL);
}

// The mean over all pixels of an image is a pool: there are kernels for it, also of integers.
void holo_tf_mean(HoloTfOp *op)
{
    HoloValue          *x = holo_tf_in(op, 0);
    const HoloTfTensor *t = holo_tf_tensor_in(op, 0);
    int64_t             axes[HOLO_MAX_RANK];
    int                 count, rank = x ? holo_tf_rank(op, x) : -1;
    bool                keep = holo_flat_u8(op->options, REDUCE_KEEP, 0) != 0,
         is_image            = rank == 4 && holo_tf_ints(op, 1, axes, HOLO_MAX_RANK, &count) && count == 2;
    if (is_image) {
        for (int i = 0; i < 2; i++) axes[i] += axes[i] < 0 ? rank : 0;
        is_image = (axes[0] == 1 && axes[1] == 2) || (axes[0] == 2 && axes[1] == 1);
    }
    is_image = is_image && (holo_tf_is_scaled(t) || holo_emit_dtype(x) == HOLO_F32);
    if (!is_image) return holo_tf_reduce(op);
    x = holo_tf_first(op, x);
    if (x && holo_tf_is_scaled(t)) x = holo_tf_dequantize(op, t, x, 1);
    HoloValue *y = holo_tf_one(op, "GlobalAveragePool", x);
    if (!y) return;
    y = keep ? holo_tf_last(op, y) : holo_emit_reshape(op->e, y, (HoloDim[]){y->type.dim[0], y->type.dim[1]}, 2);
    holo_tf_give_real(op, 0, y);
}

// ---- along the last dimension

void holo_tf_softmax(HoloTfOp *op)
{
    HoloValue *x    = holo_tf_real(op, 0);
    double     beta = (double)holo_flat_f32(op->options, SOFTMAX_BETA, strcmp(op->row->arg, "Softmax") ? 1 : 0);
    if (beta != 1) x = holo_tf_two(op, "Mul", x, holo_tf_like(op, x, beta));
    holo_tf_give_real(op, 0,
                      x ? holo_emit(op->e, op->row->arg, HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", -1))) : NULL);
}

void holo_tf_l2_normalize(HoloTfOp *op)
{
    HoloValue *x = holo_tf_real(op, 0);
    HoloValue *n = x ? holo_emit(op->e, "ReduceL2", HOLO_IN(x, holo_emit_ints(op->e, (int64_t[]){-1}, 1)), NULL) : NULL;
    holo_tf_give_active(op, 0, holo_tf_two(op, "Div", x, holo_tf_two(op, "Max", n, holo_tf_f32(op, 1e-6))),
                        holo_flat_i8(op->options, 0, 0));
}

// ONNX divides alpha by the number of channels that it sums up.
void holo_tf_lrn(HoloTfOp *op)
{
    int64_t radius = holo_flat_i32(op->options, LRN_RADIUS, 0);
    double  alpha  = (double)holo_flat_f32(op->options, LRN_ALPHA, 0),
           beta    = (double)holo_flat_f32(op->options, LRN_BETA, 0);
    if (radius < 0 || radius > INT16_MAX) return (void)holo_tf_fail(op, "its radius is wrong");
    HoloValue *x = holo_tf_first(op, holo_tf_real(op, 0));
    if (!x) return;
    int64_t size = 2 * radius + 1;
    x            = holo_emit(op->e, "LRN", HOLO_IN(x),
                             HOLO_ATTRS(holo_with_int("size", size), holo_with_float("alpha", alpha * (double)size),
                                        holo_with_float("beta", beta),
                                        holo_with_float("bias", (double)holo_flat_f32(op->options, LRN_BIAS, 0))));
    holo_tf_give_real(op, 0, holo_tf_last(op, x));
}

// ---- places

void holo_tf_arg(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    int64_t    axis;
    int        count, rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 0 || !holo_tf_need_ints(op, 1, &axis, 1, &count) || (axis = holo_tf_axis(op, axis, rank)) < 0) return;
    if (holo_emit_dtype(x) == HOLO_BOOL) x = holo_emit_cast(op->e, x, HOLO_U8);
    holo_tf_give(op, 0,
                 x ? holo_emit(op->e, op->row->arg, HOLO_IN(x),
                               HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("keepdims", 0)))
                   : NULL);
}

void holo_tf_top_k(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0), *k = holo_tf_i64(op, 1), *out[2];
    k = k ? holo_emit_reshape(op->e, k, (HoloDim[]){1}, 1) : NULL;
    if (!x || !k) return;
    holo_emit_many(op->e, "TopK", HOLO_IN(x, k), HOLO_ATTRS(holo_with_int("axis", -1)), out, 2);
    holo_tf_give(op, 0, out[0]);
    holo_tf_give(op, 1, out[1]);
}

void holo_tf_where(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    x            = holo_tf_one(op, "NonZero", x);
    holo_tf_give(op, 0, x ? holo_emit_transpose(op->e, x, (int64_t[]){1, 0}, 2) : NULL);
}

void holo_tf_unique(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0), *out[4];
    if (!x) return;
    holo_emit_many(op->e, "Unique", HOLO_IN(x), HOLO_ATTRS(holo_with_int("sorted", 0)), out, 4);
    holo_tf_give(op, 0, out[0]);
    holo_tf_give(op, 1, out[2]);
}

void holo_tf_cumsum(HoloTfOp *op)
{
    HoloValue *x = holo_tf_real(op, 0), *axis = holo_tf_in(op, 1);
    if (axis && axis->type.rank > 0) axis = holo_emit_reshape(op->e, axis, NULL, 0);
    if (!x || !axis) return;
    int64_t exclusive = holo_flat_u8(op->options, CUMSUM_EXCLUSIVE, 0),
            reverse   = holo_flat_u8(op->options, CUMSUM_REVERSE, 0);
    holo_tf_give_real(
        op, 0,
        holo_emit(op->e, "CumSum", HOLO_IN(x, axis),
                  HOLO_ATTRS(holo_with_int("exclusive", exclusive != 0), holo_with_int("reverse", reverse != 0))));
}

// Indices outside of the depth give no hot element; ONNX would count those below 0 from the end.
void holo_tf_one_hot(HoloTfOp *op) // indices, depth, on, off
{
    HoloValue *x = holo_tf_i64(op, 0), *depth = holo_tf_i64(op, 1), *on = holo_tf_in(op, 2), *off = holo_tf_in(op, 3);
    if (!x || !depth || !on || !off) return;
    depth           = holo_emit_reshape(op->e, depth, NULL, 0);
    HoloValue *both = holo_emit(
        op->e, "Concat",
        HOLO_IN(holo_emit_reshape(op->e, off, (HoloDim[]){1}, 1), holo_emit_reshape(op->e, on, (HoloDim[]){1}, 1)),
        HOLO_ATTRS(holo_with_int("axis", 0)));
    HoloValue *below = holo_tf_two(op, "Less", x, holo_emit_int(op->e, 0));
    x                = below ? holo_emit(op->e, "Where", HOLO_IN(below, depth, x), NULL) : NULL;
    holo_tf_give(op, 0,
                 x && both ? holo_emit(op->e, "OneHot", HOLO_IN(x, depth, both),
                                       HOLO_ATTRS(holo_with_int("axis", holo_flat_i32(op->options, ONE_HOT_AXIS, 0))))
                           : NULL);
}

void holo_tf_bucketize(HoloTfOp *op)
{
    HoloValue   *x     = holo_tf_in(op, 0);
    HoloFlatList list  = holo_flat_list(op->options, BUCKET_BOUNDARIES, 4);
    HoloTensor   bound = {.dtype = HOLO_F32, .rank = 1, .dim = {(int64_t)list.count}};
    float       *data  = HOLO_NEW(op->im->import->arena, float, list.count + 1);
    int64_t      last  = -1;
    if (!x || !data) return;
    for (size_t i = 0; i < list.count; i++) data[i] = holo_flat_list_f32(list, i);
    bound.data = data;
    HoloValue *above =
        holo_tf_two(op, "GreaterOrEqual", holo_emit_unsqueeze(op->e, holo_emit_cast(op->e, x, HOLO_F32), &last, 1),
                    holo_emit_constant(op->e, NULL, &bound));
    above = above ? holo_emit_cast(op->e, above, HOLO_I32) : NULL;
    holo_tf_give(op, 0,
                 above ? holo_emit(op->e, "ReduceSum", HOLO_IN(above, holo_emit_ints(op->e, &last, 1)),
                                   HOLO_ATTRS(holo_with_int("keepdims", 0)))
                       : NULL);
}

// ---- diagonals

// A matrix of truths: whether row and column are the same.
static HoloValue *diagonal(HoloTfOp *op, HoloDim rows, HoloDim columns)
{
    HoloValue *zero = holo_emit_int(op->e, 0), *one = holo_emit_int(op->e, 1);
    HoloValue *r = holo_emit_reshape(op->e, holo_emit_sizes(op->e, &rows, 1), NULL, 0),
              *c = holo_emit_reshape(op->e, holo_emit_sizes(op->e, &columns, 1), NULL, 0);
    if (!r || !c) return NULL;
    r = holo_emit(op->e, "Range", HOLO_IN(zero, r, one), NULL);
    c = holo_emit(op->e, "Range", HOLO_IN(zero, c, one), NULL);
    return r && c ? holo_tf_two(op, "Equal", holo_emit_unsqueeze(op->e, r, (int64_t[]){1}, 1), c) : NULL;
}

void holo_tf_matrix_diag(HoloTfOp *op)
{
    HoloValue *x    = holo_tf_moved(op, 0);
    int        rank = x ? holo_tf_rank(op, x) : -1;
    int64_t    axis = -2;
    if (rank < 1) return;
    HoloValue *is   = diagonal(op, x->type.dim[rank - 1], x->type.dim[rank - 1]),
              *wide = holo_emit_unsqueeze(op->e, x, &axis, 1);
    holo_tf_give_moved(op, 0,
                       is && wide ? holo_emit(op->e, "Where", HOLO_IN(is, wide, holo_tf_like(op, x, 0)), NULL) : NULL);
}

void holo_tf_matrix_set_diag(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0), *new = holo_tf_in(op, 1);
    int        rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 2 || !new) return;
    HoloDim rows = x->type.dim[rank - 2], columns = x->type.dim[rank - 1];
    if (holo_dim_is_symbolic(rows) || holo_dim_is_symbolic(columns))
        return (void)holo_tf_fail(op, "the sizes of its matrices are not known");
    int64_t    axis = rows <= columns ? -1 : -2;
    HoloValue *is = diagonal(op, rows, columns), *wide = holo_emit_unsqueeze(op->e, new, &axis, 1);
    holo_tf_give_moved(op, 0, is && wide ? holo_emit(op->e, "Where", HOLO_IN(is, wide, x), NULL) : NULL);
}

// ---- random numbers

void holo_tf_random(HoloTfOp *op)
{
    HoloValue *shape = holo_tf_i64(op, 0), *x = holo_tf_filled(op, shape, HOLO_F32, 0);
    int64_t    seed = holo_flat_i64(op->options, RANDOM_SEED, 0), more = holo_flat_i64(op->options, RANDOM_SEED2, 0);
    HoloAttr   attrs[2] = {{0}};
    if (seed || more) attrs[0] = holo_with_float("seed", (double)(seed ^ more));
    holo_tf_give(op, 0, x ? holo_emit(op->e, op->row->arg, HOLO_IN(x), attrs) : NULL);
}

void holo_tf_multinomial(HoloTfOp *op)
{
    HoloValue          *x = holo_tf_in(op, 0);
    const HoloTfTensor *y = holo_tf_tensor_out(op, 0);
    int64_t             samples;
    int                 count;
    if (!x || !y || !holo_tf_need_ints(op, 1, &samples, 1, &count)) return;
    HoloDtype dtype = y->dtype == HOLO_I64 ? HOLO_I64 : HOLO_I32;
    holo_tf_give(op, 0,
                 holo_emit(op->e, "Multinomial", HOLO_IN(x),
                           HOLO_ATTRS(holo_with_int("sample_size", samples), holo_with_int("dtype", dtype))));
}

// ---- complex numbers: pairs, in a last dimension

// Real numbers of the last two dimensions; the sizes of the transform may be other than theirs.
void holo_tf_rfft2d(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    int64_t    sizes[2], last = -1;
    int        count, rank    = x ? holo_tf_rank(op, x) : -1;
    if (rank < 2 || !holo_tf_need_ints(op, 1, sizes, 2, &count)) return;
    if (count != 2) return (void)holo_tf_fail(op, "it needs two sizes");
    x = holo_emit_unsqueeze(op->e, x, &last, 1);
    x = x ? holo_emit(op->e, "DFT", HOLO_IN(x, holo_emit_int(op->e, sizes[1]), holo_emit_int(op->e, rank - 1)),
                      HOLO_ATTRS(holo_with_int("onesided", 1)))
          : NULL;
    if (x && !(sizes[0] == 1 && x->type.dim[rank - 2] == 1))
        x = holo_emit(op->e, "DFT", HOLO_IN(x, holo_emit_int(op->e, sizes[0]), holo_emit_int(op->e, rank - 2)), NULL);
    holo_tf_give(op, 0, x);
}

// The argument is which of the pair.
void holo_tf_complex_part(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    holo_tf_give(op, 0,
                 x ? holo_emit(op->e, "Gather", HOLO_IN(x, holo_emit_int(op->e, op->row->arg[0] - '0')),
                               HOLO_ATTRS(holo_with_int("axis", -1)))
                   : NULL);
}

void holo_tf_complex_abs(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0);
    holo_tf_give(op, 0,
                 x ? holo_emit(op->e, "ReduceL2", HOLO_IN(x, holo_emit_ints(op->e, (int64_t[]){-1}, 1)),
                               HOLO_ATTRS(holo_with_int("keepdims", 0)))
                   : NULL);
}
