// tflite_move.c - operators that repeat, reverse, pad, gather or scatter elements.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

// ---- padding

// What pads: 0, which of integers with a scale is their zero point.
static HoloValue *pad_value(HoloTfOp *op, const HoloValue *x)
{
    const HoloTfTensor *t   = holo_tf_tensor_in(op, 0);
    bool                own = holo_tf_is_scaled(t) && holo_emit_dtype(x) == t->dtype;
    if (holo_tf_has(op, 2))
        return holo_emit_cast(op->e, own ? holo_tf_in(op, 2) : holo_tf_real(op, 2), holo_emit_dtype(x));
    return holo_tf_like(op, x, own ? t->scaled.first_zero : 0);
}

// Pads of an image are emitted with channels first: there they meet the convolution behind them.
void holo_tf_pad(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0), *pads;
    int64_t    list[2 * HOLO_MAX_RANK], sorted[2 * HOLO_MAX_RANK];
    int        count, rank = x ? holo_tf_rank(op, x) : -1;
    bool       is_image = false;
    if (rank < 0) return;
    if (holo_tf_ints(op, 1, list, 2 * HOLO_MAX_RANK, &count)) {
        if (count != 2 * rank)
            return (void)holo_tf_fail(op, "it pads %d dimensions, and there are %d", count / 2, rank);
        is_image = rank == 4 && !list[0] && !list[1] && !list[6] && !list[7];
        for (int d = 0; d < rank; d++) {
            int from         = !is_image ? d : d == 0 ? 0 : d == 1 ? rank - 1 : d - 1;
            sorted[d]        = list[2 * from];
            sorted[rank + d] = list[2 * from + 1];
        }
        pads = holo_emit_ints(op->e, sorted, 2 * rank);
    } else {
        pads = holo_tf_transpose(op, holo_tf_i64(op, 1), (int64_t[]){1, 0}, 2);
        pads = pads ? holo_emit_reshape(op->e, pads, (HoloDim[]){2 * rank}, 1) : NULL;
    }
    if (is_image) x = holo_tf_first(op, x);
    HoloValue *y = x && pads ? holo_emit(op->e, "Pad", HOLO_IN(x, pads, pad_value(op, x)), NULL) : NULL;
    holo_tf_give_moved(op, 0, is_image ? holo_tf_last(op, y) : y);
}

// Repeats the border with itself: what is before and behind each dimension is a part of it, reversed.
static HoloValue *pad_symmetric(HoloTfOp *op, HoloValue *x, const int64_t *list, int rank)
{
    for (int d = 0; d < rank && x; d++) {
        HoloValue *part[3];
        int        count  = 0;
        int64_t    before = list[2 * d], behind = list[2 * d + 1];
        if (before) part[count++] = holo_emit_slice(op->e, x, d, before - 1, INT64_MIN + 1, -1);
        part[count++] = x;
        if (behind) part[count++] = holo_emit_slice(op->e, x, d, -1, -1 - behind, -1);
        if (count > 1)
            x = op->e->status
                    ? NULL
                    : holo_emit(op->e, "Concat", (HoloEmitIn){count, part}, HOLO_ATTRS(holo_with_int("axis", d)));
    }
    return x;
}

void holo_tf_mirror_pad(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0);
    int64_t    list[2 * HOLO_MAX_RANK], sorted[2 * HOLO_MAX_RANK];
    int        count, rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 0 || !holo_tf_need_ints(op, 1, list, 2 * HOLO_MAX_RANK, &count)) return;
    if (count != 2 * rank) return (void)holo_tf_fail(op, "it pads other dimensions than there are");
    for (int d = 0; d < rank; d++) {
        sorted[d]        = list[2 * d];
        sorted[rank + d] = list[2 * d + 1];
    }
    if (holo_flat_i8(op->options, MIRROR_MODE, 0))
        x = pad_symmetric(op, x, list, rank);
    else
        x = holo_emit(op->e, "Pad", HOLO_IN(x, holo_emit_ints(op->e, sorted, 2 * rank)),
                      HOLO_ATTRS(holo_with_text("mode", "reflect")));
    holo_tf_give_moved(op, 0, x);
}

// ---- repeating and reversing

void holo_tf_tile(HoloTfOp *op)
{
    holo_tf_give_moved(op, 0, holo_tf_two(op, "Tile", holo_tf_moved(op, 0), holo_tf_i64(op, 1)));
}

void holo_tf_broadcast_to(HoloTfOp *op)
{
    holo_tf_give_moved(op, 0, holo_tf_two(op, "Expand", holo_tf_moved(op, 0), holo_tf_i64(op, 1)));
}

// The shape that two shapes broadcast to.
void holo_tf_broadcast_args(HoloTfOp *op)
{
    HoloValue *a = holo_tf_i64(op, 0), *b = holo_tf_i64(op, 1), *one = holo_emit_ints(op->e, (int64_t[]){1}, 1);
    if (!a || !b) return;
    if (a->type.rank != 1 || b->type.rank != 1 || holo_dim_is_symbolic(a->type.dim[0]) ||
        holo_dim_is_symbolic(b->type.dim[0]))
        return (void)holo_tf_fail(op, "the lengths of its shapes are not known");
    int64_t more = b->type.dim[0] - a->type.dim[0];
    if (more > HOLO_MAX_RANK || more < -HOLO_MAX_RANK) return (void)holo_tf_fail(op, "its shapes are too long");
    for (; more > 0; more--) a = holo_emit(op->e, "Concat", HOLO_IN(one, a), HOLO_ATTRS(holo_with_int("axis", 0)));
    for (; more < 0; more++) b = holo_emit(op->e, "Concat", HOLO_IN(one, b), HOLO_ATTRS(holo_with_int("axis", 0)));
    HoloValue *is_one = holo_tf_two(op, "Equal", a, one);
    holo_tf_give(op, 0, is_one ? holo_emit(op->e, "Where", HOLO_IN(is_one, b, a), NULL) : NULL);
}

void holo_tf_fill(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 1), *shape = holo_tf_i64(op, 0);
    if (x && x->type.rank > 0) x = holo_emit_reshape(op->e, x, NULL, 0);
    holo_tf_give(op, 0, holo_tf_two(op, "Expand", x, shape));
}

static HoloValue *scalar(HoloTfOp *op, HoloValue *x)
{
    return x && x->type.rank != 0 ? holo_emit_reshape(op->e, x, NULL, 0) : x;
}

void holo_tf_range(HoloTfOp *op)
{
    HoloValue *x[3];
    for (int i = 0; i < 3; i++)
        if (!(x[i] = scalar(op, holo_tf_in(op, i)))) return;
    holo_tf_give(op, 0, holo_emit(op->e, "Range", (HoloEmitIn){3, x}, NULL));
}

void holo_tf_reverse(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0);
    int64_t    axes[HOLO_MAX_RANK];
    int        count, rank = x ? holo_tf_rank(op, x) : -1;
    if (rank < 0 || !holo_tf_need_ints(op, 1, axes, HOLO_MAX_RANK, &count)) return;
    for (int i = 0; i < count; i++) {
        int64_t axis = holo_tf_axis(op, axes[i], rank);
        if (axis < 0) return;
        x = holo_emit_slice(op->e, x, axis, -1, INT64_MIN + 1, -1);
    }
    holo_tf_give_moved(op, 0, x);
}

// ONNX has it for the first two dimensions: others are brought there.
void holo_tf_reverse_sequence(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0), *lengths = holo_tf_i64(op, 1);
    int        rank = x ? holo_tf_rank(op, x) : -1, place = 2;
    int64_t    perm[HOLO_MAX_RANK], back[HOLO_MAX_RANK];
    if (rank < 2 || !lengths) return;
    int64_t time  = holo_tf_axis(op, holo_flat_i32(op->options, REVERSE_SEQUENCE_DIM, 0), rank),
            batch = holo_tf_axis(op, holo_flat_i32(op->options, REVERSE_BATCH_DIM, 0), rank);
    if (time < 0 || batch < 0 || time == batch) return (void)holo_tf_fail(op, "its dimensions are wrong");
    perm[0] = batch;
    perm[1] = time;
    for (int d = 0; d < rank; d++)
        if (d != batch && d != time) perm[place++] = d;
    for (int d = 0; d < rank; d++) back[perm[d]] = d;
    x = holo_tf_transpose(op, x, perm, rank);
    x = x ? holo_emit(op->e, "ReverseSequence", HOLO_IN(x, lengths),
                      HOLO_ATTRS(holo_with_int("batch_axis", 0), holo_with_int("time_axis", 1)))
          : NULL;
    holo_tf_give_moved(op, 0, holo_tf_transpose(op, x, back, rank));
}

// ---- gathering

// Indices of each element of the first `batch` dimensions: the axis is brought behind these.
static HoloValue *gather_batch(HoloTfOp *op, HoloValue *x, HoloValue *indices, int64_t axis, int64_t batch)
{
    int     rank = x->type.rank, inner = indices->type.rank - (int)batch, n = 0;
    int64_t perm[HOLO_MAX_RANK], back[HOLO_MAX_RANK], last                  = -1;
    if (rank + inner > HOLO_MAX_RANK || inner < 0) return holo_tf_fail(op, "it has too many dimensions");
    for (int d = 0; d < batch; d++) perm[n++] = d;
    perm[n++] = axis;
    for (int d = (int)batch; d < rank; d++)
        if (d != axis) perm[n++] = d;
    x       = holo_tf_transpose(op, x, perm, rank);
    indices = holo_emit_unsqueeze(op->e, indices, &last, 1);
    if (!x || !indices) return NULL;
    HoloValue *y = holo_emit(op->e, "GatherND", HOLO_IN(x, indices), HOLO_ATTRS(holo_with_int("batch_dims", batch)));
    // batch, indices, what was before the axis, what was behind it
    int before = (int)(axis - batch);
    n          = 0;
    for (int d = 0; d < batch; d++) back[n++] = d;
    for (int d = 0; d < before; d++) back[n++] = batch + inner + d;
    for (int d = 0; d < inner; d++) back[n++] = batch + d;
    for (int d = (int)axis + 1; d < rank; d++) back[n++] = inner + d - 1;
    return holo_tf_transpose(op, y, back, n);
}

void holo_tf_gather(HoloTfOp *op)
{
    HoloValue *x = holo_tf_moved(op, 0), *indices = holo_tf_in(op, 1);
    int        rank = x ? holo_tf_rank(op, x) : -1, inner = indices ? holo_tf_rank(op, indices) : -1;
    int64_t    batch = holo_flat_i32(op->options, GATHER_BATCH, 0), axis = holo_flat_i32(op->options, GATHER_AXIS, 0);
    if (rank < 0 || inner < 0 || (axis = holo_tf_axis(op, axis, rank)) < 0) return;
    if (batch < 0) batch += inner;
    if (batch < 0 || batch > axis || batch > inner) return (void)holo_tf_fail(op, "batch_dims is wrong");
    if (holo_emit_dtype(indices) != HOLO_I32 && holo_emit_dtype(indices) != HOLO_I64)
        indices = holo_emit_cast(op->e, indices, HOLO_I32);
    if (batch)
        x = gather_batch(op, x, holo_emit_cast(op->e, indices, HOLO_I64), axis, batch);
    else
        x = holo_emit(op->e, "Gather", HOLO_IN(x, indices), HOLO_ATTRS(holo_with_int("axis", axis)));
    holo_tf_give_moved(op, 0, x);
}

void holo_tf_gather_nd(HoloTfOp *op)
{
    holo_tf_give_moved(op, 0, holo_tf_two(op, "GatherND", holo_tf_moved(op, 0), holo_tf_i64(op, 1)));
}

void holo_tf_embedding_lookup(HoloTfOp *op)
{
    HoloValue *ids = holo_tf_in(op, 0), *table = holo_tf_real(op, 1);
    holo_tf_give_real(op, 0, holo_tf_two(op, "Gather", table, ids));
}

// ---- scattering

// A tensor of that shape, filled with a number.
HoloValue *holo_tf_filled(HoloTfOp *op, HoloValue *shape, HoloDtype dtype, double number)
{
    HoloTensor one = {.dtype = (uint8_t)dtype, .rank = 1, .dim = {1}};
    if (!shape || op->e->status || !(one.data = holo_arena_take(op->im->import->arena, 16))) return NULL;
    memset(one.data, 0, 16);
    if (holo_dtype_class(dtype) == HOLO_CLASS_FLOAT)
        holo_put_f(&one, 0, number);
    else if (dtype != HOLO_STRING)
        holo_put_i(&one, 0, (int64_t)number);
    return holo_emit(op->e, "ConstantOfShape", HOLO_IN(shape), HOLO_ATTRS(holo_with_tensor("value", &one)));
}

HoloValue *holo_tf_scatter(HoloTfOp *op, HoloValue *base, HoloValue *indices, HoloValue *updates, const char *reduction)
{
    return base && indices && updates ? holo_emit(op->e, "ScatterND", HOLO_IN(base, indices, updates),
                                                  HOLO_ATTRS(holo_with_text("reduction", reduction)))
                                      : NULL;
}

void holo_tf_scatter_nd(HoloTfOp *op) // indices, updates, shape; what comes twice is added
{
    HoloValue *indices = holo_tf_i64(op, 0), *updates = holo_tf_in(op, 1), *shape = holo_tf_i64(op, 2);
    if (!updates) return;
    bool adds = holo_emit_dtype(updates) != HOLO_BOOL;
    holo_tf_give(op, 0,
                 holo_tf_scatter(op, holo_tf_filled(op, shape, holo_emit_dtype(updates), 0), indices, updates,
                                 adds ? "add" : "none"));
}

void holo_tf_sparse_to_dense(HoloTfOp *op) // indices, shape, values, what is elsewhere
{
    HoloValue *indices = holo_tf_i64(op, 0), *shape = holo_tf_i64(op, 1), *values = holo_tf_in(op, 2),
              *rest = scalar(op, holo_tf_in(op, 3));
    int rank        = indices ? holo_tf_rank(op, indices) : -1;
    if (rank < 0 || !values || !rest) return;
    if (rank == 0) indices = holo_emit_reshape(op->e, indices, (HoloDim[]){1, 1}, 2);
    if (rank == 1) indices = holo_emit_unsqueeze(op->e, indices, (int64_t[]){1}, 1);
    if (values->type.rank == 0 && indices)
        values = holo_tf_two(op, "Expand", values, holo_emit_sizes(op->e, indices->type.dim, 1));
    holo_tf_give(op, 0, holo_tf_scatter(op, holo_tf_two(op, "Expand", rest, shape), indices, values, "none"));
}

// Writes a part over another tensor, at a place that may be found out while running. Where it would reach beyond the end
// it begins earlier.
void holo_tf_update(HoloTfOp *op, HoloValue *x, HoloValue *part, HoloValue *start)
{
    HoloValue *grid = NULL;
    int        rank = x ? holo_tf_rank(op, x) : -1, outer = 0;
    int64_t    last = -1;
    if (rank < 1 || !part || !start || part->type.rank != rank) return;
    for (int d = 0; d < rank; d++) {
        if (holo_dim_is_symbolic(x->type.dim[d]) || holo_dim_is_symbolic(part->type.dim[d]))
            return (void)holo_tf_fail(op, "the sizes of its inputs are not known");
        if (x->type.dim[d] != part->type.dim[d]) outer = d + 1;
    }
    if (!outer) return holo_tf_give_moved(op, 0, part);
    for (int d = 0; d < outer; d++) {
        HoloDim all[HOLO_MAX_RANK + 1], own[HOLO_MAX_RANK];
        int64_t numbers[1] = {d};
        for (int k = 0; k < outer; k++) all[k] = part->type.dim[k], own[k] = k == d ? part->type.dim[k] : 1;
        HoloValue *from  = holo_tf_two(op, "Gather", start, holo_emit_ints(op->e, numbers, 1));
        from             = holo_tf_two(op, "Min", from, holo_emit_int(op->e, x->type.dim[d] - part->type.dim[d]));
        from             = holo_tf_two(op, "Max", from, holo_emit_int(op->e, 0));
        HoloValue *steps = holo_emit(
            op->e, "Range",
            HOLO_IN(holo_emit_int(op->e, 0), holo_emit_int(op->e, part->type.dim[d]), holo_emit_int(op->e, 1)), NULL);
        steps = holo_tf_two(op, "Add", steps, from);
        steps = steps ? holo_emit_reshape(op->e, steps, own, outer) : NULL;
        steps = holo_tf_two(op, "Expand", steps, holo_emit_sizes(op->e, all, outer));
        steps = steps ? holo_emit_unsqueeze(op->e, steps, &last, 1) : NULL;
        grid  = !grid   ? steps
                : steps ? holo_emit(op->e, "Concat", HOLO_IN(grid, steps), HOLO_ATTRS(holo_with_int("axis", -1)))
                        : NULL;
        if (!grid) return;
    }
    holo_tf_give_moved(op, 0, holo_tf_scatter(op, x, grid, part, "none"));
}

void holo_tf_dynamic_update(HoloTfOp *op)
{
    holo_tf_update(op, holo_tf_moved(op, 0), holo_tf_in(op, 1), holo_tf_i64(op, 2));
}

// ---- segments: rows with one number are summed up, or multiplied, or the largest or smallest is taken

static HoloValue *segments(HoloTfOp *op, HoloValue *count, const char *reduction, double first)
{
    HoloValue *x = holo_tf_in(op, 0), *ids = holo_tf_i64(op, 1);
    int        rank = x ? holo_tf_rank(op, x) : -1, outer = ids ? holo_tf_rank(op, ids) : -1;
    int64_t    last = -1;
    if (rank < 0 || outer < 0 || rank < outer || !count) return NULL;
    HoloValue *zero = holo_emit_int(op->e, 0), *one = holo_emit_ints(op->e, (int64_t[]){1}, 1);
    HoloValue *many = holo_tf_two(op, "Add", count, one); // numbers less than 0 go into a row of their own
    ids             = holo_emit(op->e, "Where", HOLO_IN(holo_tf_two(op, "Less", ids, zero), count, ids), NULL);
    HoloValue *rest = holo_emit_sizes(op->e, x->type.dim + outer, rank - outer);
    HoloValue *shape =
        many && rest ? holo_emit(op->e, "Concat", HOLO_IN(many, rest), HOLO_ATTRS(holo_with_int("axis", 0))) : NULL;
    HoloValue *base = holo_tf_filled(op, shape, holo_emit_dtype(x), first);
    ids             = ids ? holo_emit_unsqueeze(op->e, ids, &last, 1) : NULL;
    HoloValue *y    = holo_tf_scatter(op, base, ids, x, reduction);
    return y ? holo_emit(op->e, "Slice",
                         HOLO_IN(y, holo_emit_ints(op->e, (int64_t[]){0}, 1), count,
                                 holo_emit_ints(op->e, (int64_t[]){0}, 1)),
                         NULL)
             : NULL;
}

void holo_tf_segment_sum(HoloTfOp *op) // numbers grow: the last is the largest
{
    HoloValue *ids = holo_tf_i64(op, 1);
    HoloValue *most =
        ids ? holo_emit(op->e, "ReduceMax", HOLO_IN(ids, holo_emit_ints(op->e, (int64_t[]){0}, 1)), NULL) : NULL;
    holo_tf_give(op, 0, segments(op, holo_tf_two(op, "Add", most, holo_emit_int(op->e, 1)), "add", 0));
}

// The argument is what ScatterND calls it.
void holo_tf_unsorted_segment(HoloTfOp *op)
{
    static const struct {
        const char *name;
        double      f, i;
    } first[]    = {{"add", 0, 0},
                    {"mul", 1, 1},
                    {"max", -3.4028234663852886e38, -2147483648.0},
                    {"min", 3.4028234663852886e38, 2147483647.0}};
    HoloValue *x = holo_tf_in(op, 0), *count = holo_tf_i64(op, 2);
    count = count ? holo_emit_reshape(op->e, count, (HoloDim[]){1}, 1) : NULL;
    for (int k = 0; x && k < HOLO_COUNT(first); k++)
        if (!strcmp(first[k].name, op->row->arg))
            holo_tf_give(op, 0,
                         segments(op, count, op->row->arg,
                                  holo_dtype_class(holo_emit_dtype(x)) == HOLO_CLASS_FLOAT ? first[k].f : first[k].i));
}

// Rows of a table, each times its weight, summed up over the last dimension of sparse indices.
void holo_tf_embedding_sparse(HoloTfOp *op) // ids, indices, dense shape, weights, table
{
    HoloValue *ids = holo_tf_in(op, 0), *indices = holo_tf_i64(op, 1), *shape = holo_tf_i64(op, 2),
              *weights = holo_tf_in(op, 3), *table = holo_tf_in(op, 4);
    int64_t combiner = holo_flat_i8(op->options, SPARSE_COMBINER, 0);
    int     rank     = table ? holo_tf_rank(op, table) : -1;
    int64_t ones[HOLO_MAX_RANK];
    if (rank < 1 || !ids || !indices || !shape || !weights) return;
    for (int d = 1; d < rank; d++) ones[d - 1] = d;
    HoloValue *outer = holo_emit_slice(op->e, shape, 0, 0, -1, 1), *at = holo_emit_slice(op->e, indices, 1, 0, -1, 1);
    HoloValue *rest = holo_emit_sizes(op->e, table->type.dim + 1, rank - 1),
              *w    = holo_emit_unsqueeze(op->e, weights, ones, rank - 1);
    HoloValue *rows = holo_tf_two(op, "Mul", holo_tf_two(op, "Gather", table, ids), w);
    HoloValue *all =
        outer && rest ? holo_emit(op->e, "Concat", HOLO_IN(outer, rest), HOLO_ATTRS(holo_with_int("axis", 0))) : NULL;
    HoloValue *y = holo_tf_scatter(op, holo_tf_filled(op, all, HOLO_F32, 0), at, rows, "add");
    if (combiner) {
        HoloValue *by  = combiner == 1 ? weights : holo_tf_two(op, "Mul", weights, weights);
        HoloValue *sum = holo_tf_scatter(op, holo_tf_filled(op, outer, HOLO_F32, 0), at, by, "add");
        if (combiner == 2) sum = holo_tf_one(op, "Sqrt", sum);
        int64_t ends[HOLO_MAX_RANK];
        for (int d = 1; d < rank; d++) ends[d - 1] = -d;
        HoloValue *is_0 = holo_tf_two(op, "Equal", sum, holo_tf_f32(op, 0));
        sum             = is_0 ? holo_emit(op->e, "Where", HOLO_IN(is_0, holo_tf_f32(op, 1), sum), NULL) : NULL;
        y               = holo_tf_two(op, "Div", y, sum ? holo_emit_unsqueeze(op->e, sum, ends, rank - 1) : NULL);
    }
    holo_tf_give(op, 0, y);
}

// Which rows have these keys: gives the rows, zeros where there is none, and whether there is one.
void holo_tf_hashtable_lookup(HoloTfOp *op) // what is looked for, keys, rows
{
    HoloValue *x = holo_tf_in(op, 0), *keys = holo_tf_in(op, 1), *rows = holo_tf_in(op, 2);
    int        rank = rows ? holo_tf_rank(op, rows) : -1;
    int64_t    one  = 1, ends[HOLO_MAX_RANK];
    if (rank < 1 || !x || !keys) return;
    if (holo_emit_dtype(rows) == HOLO_STRING) return (void)holo_tf_fail(op, "rows of texts are not supported");
    for (int d = 1; d < rank; d++) ends[d - 1] = d;
    HoloValue *equal =
        holo_emit_cast(op->e, holo_tf_two(op, "Equal", holo_emit_unsqueeze(op->e, x, &one, 1), keys), HOLO_I32);
    HoloValue *at    = equal ? holo_emit(op->e, "ArgMax", HOLO_IN(equal),
                                         HOLO_ATTRS(holo_with_int("axis", 1), holo_with_int("keepdims", 0)))
                             : NULL;
    HoloValue *hit   = equal ? holo_emit(op->e, "ReduceMax", HOLO_IN(equal, holo_emit_ints(op->e, &one, 1)),
                                         HOLO_ATTRS(holo_with_int("keepdims", 0)))
                             : NULL;
    HoloValue *is    = hit ? holo_emit_unsqueeze(op->e, holo_emit_cast(op->e, hit, HOLO_BOOL), ends, rank - 1) : NULL;
    HoloValue *taken = holo_tf_two(op, "Gather", rows, at);
    holo_tf_give(op, 0,
                 is && taken ? holo_emit(op->e, "Where", HOLO_IN(is, taken, holo_tf_like(op, rows, 0)), NULL) : NULL);
    if (hit) holo_tf_give(op, 1, holo_emit_cast(op->e, hit, HOLO_U8));
}
