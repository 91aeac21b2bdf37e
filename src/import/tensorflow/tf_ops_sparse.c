// tf_ops_sparse.c - TensorFlow's operators on sparse tensors, which are lists of places and of values.
#include "import/tensorflow/tf_ops.h"

// How far apart elements of each dimension lie in a dense tensor: products of all sizes behind it.
static HoloValue *strides_of(HoloFlowCall *c, HoloValue *shape)
{
    return holo_emit(c->e, "CumProd@26", HOLO_IN(shape, holo_emit_int(c->e, 0)),
                     HOLO_ATTRS(holo_with_int("exclusive", 1), holo_with_int("reverse", 1)));
}

static HoloValue *product_of(HoloFlowCall *c, HoloValue *x)
{
    return holo_emit(c->e, "ReduceProd", HOLO_IN(x), HOLO_ATTRS(holo_with_int("keepdims", 0)));
}

// The place of each row of `index` in a dense tensor, [count, 1].
static HoloValue *flat_places(HoloFlowCall *c, HoloValue *index, HoloValue *shape)
{
    int64_t last = -1;
    return holo_emit(c->e, "ReduceSum",
                     HOLO_IN(holo_flow_two(c, "Mul", index, strides_of(c, shape)), holo_emit_ints(c->e, &last, 1)),
                     HOLO_ATTRS(holo_with_int("keepdims", 1)));
}

static void sparse_reshape(HoloFlowCall *c)
{
    HoloEmit  *e     = c->e;
    HoloDtype  type  = holo_emit_dtype(holo_flow_in(c, 0));
    HoloValue *index = holo_emit_cast(e, holo_flow_in(c, 0), HOLO_I64),
              *shape = holo_flow_vector(c, holo_flow_in(c, 1));
    HoloValue *to = holo_flow_vector(c, holo_flow_in(c, 2)), *zero = holo_emit_int(e, 0);
    // A size of -1 is what is left: all elements, divided by the product of the others.
    HoloValue *rest =
        holo_emit(e, "Div", HOLO_IN(product_of(c, shape), product_of(c, holo_emit(e, "Abs", HOLO_IN(to), NULL))), NULL);
    HoloValue *is_open = holo_emit(e, "Less", HOLO_IN(to, zero), NULL);
    to                 = holo_emit(e, "Where", HOLO_IN(is_open, rest, to), NULL);
    HoloValue *place   = holo_flow_two(c, "Div", flat_places(c, index, shape), strides_of(c, to));
    holo_flow_out(c, 0, holo_emit_cast(e, holo_emit(e, "Mod", HOLO_IN(place, to), NULL), type));
    holo_flow_out(c, 1, holo_emit_cast(e, to, type));
}

// 0, 1, 2 ... up to the length of a vector.
static HoloValue *count_up(HoloFlowCall *c, HoloValue *vector)
{
    HoloEmit  *e    = c->e;
    int64_t    zero = 0;
    HoloValue *n    = holo_emit_squeeze(e, holo_emit_slice(e, holo_emit_shape(e, vector), 0, 0, 1, 1), &zero, 1);
    return holo_emit(e, "Range", HOLO_IN(holo_emit_int(e, 0), n, holo_emit_int(e, 1)), NULL);
}

// The order that sorts rows and keeps elements of one row as they are.
static HoloValue *row_order(HoloFlowCall *c, HoloValue *rows)
{
    HoloEmit  *e   = c->e;
    HoloValue *n   = holo_emit_shape(e, rows), *out[2];
    HoloValue *key = holo_emit(e, "Add", HOLO_IN(holo_emit(e, "Mul", HOLO_IN(rows, n), NULL), count_up(c, rows)), NULL);
    holo_emit_many(e, "TopK", HOLO_IN(key, n), HOLO_ATTRS(holo_with_int("axis", 0), holo_with_int("largest", 0)), out,
                   2);
    return out[1];
}

// Rows without an element get one, in their first column.
static void fill_empty_rows(HoloFlowCall *c)
{
    HoloEmit  *e     = c->e;
    HoloDtype  type  = holo_emit_dtype(holo_flow_in(c, 0));
    HoloValue *index = holo_emit_cast(e, holo_flow_in(c, 0), HOLO_I64), *values = holo_flow_in(c, 1);
    HoloValue *shape    = holo_flow_vector(c, holo_flow_in(c, 2)),
              *fallback = holo_emit_cast(e, holo_flow_in(c, 3), holo_emit_dtype(values));
    int64_t zero = 0, column = 1;
    int     rank = holo_flow_rank(c, index);
    if (e->status || rank != 2 || holo_dim_is_symbolic(index->type.dim[1])) {
        if (!e->status) holo_flow_fail(c, HOLO_UNSUPPORTED, "the places should be a table of a known width");
        return;
    }
    HoloValue *rows    = holo_emit_squeeze(e, holo_emit_slice(e, index, 1, 0, 1, 1), &column, 1);
    HoloValue *ones    = holo_flow_filled(c, holo_emit_shape(e, rows), holo_emit_int(e, 1));
    HoloValue *uses    = holo_flow_sums(c, rows, ones, holo_emit_slice(e, shape, 0, 0, 1, 1));
    HoloValue *empty   = holo_emit(e, "Equal", HOLO_IN(uses, holo_emit_int(e, 0)), NULL);
    HoloValue *more    = holo_emit_squeeze(e, holo_emit(e, "NonZero", HOLO_IN(empty), NULL), &zero, 1);
    int64_t    pads[4] = {0, 0, 0, index->type.dim[1] - 1};
    HoloValue *added =
        holo_emit(e, "Pad", HOLO_IN(holo_emit_unsqueeze(e, more, &column, 1), holo_emit_ints(e, pads, 4)), NULL);
    HoloValue *order = row_order(c, holo_flow_join(c, rows, more));
    HoloValue *all   = holo_flow_join(c, values, holo_flow_filled(c, holo_emit_shape(e, more), fallback));
    holo_flow_out(
        c, 0, holo_emit_cast(e, holo_emit(e, "Gather", HOLO_IN(holo_flow_join(c, index, added), order), NULL), type));
    holo_flow_out(c, 1, holo_emit(e, "Gather", HOLO_IN(all, order), NULL));
    holo_flow_out(c, 2, empty);
    HoloValue *back = holo_emit(e, "ScatterElements", HOLO_IN(order, order, count_up(c, order)), NULL);
    back            = holo_emit(e, "Slice",
                                HOLO_IN(back, holo_emit_ints(e, &zero, 1), holo_emit_shape(e, rows), holo_emit_ints(e, &zero, 1)),
                                NULL);
    holo_flow_out(c, 3, holo_emit_cast(e, back, type));
}

// ---- sparse tensors to sparse tensors: places, values, shape

typedef struct Sparse {
    HoloValue *index, *values, *shape; // places are i64, [count, rank]
} Sparse;

static Sparse sparse_in(HoloFlowCall *c, int index, int values, int shape)
{
    return (Sparse){holo_emit_cast(c->e, holo_flow_in(c, index), HOLO_I64), holo_flow_in(c, values),
                    holo_flow_vector(c, holo_flow_in(c, shape))};
}

static void give_sparse(HoloFlowCall *c, Sparse s)
{
    holo_flow_out(c, 0, s.index);
    holo_flow_out(c, 1, s.values);
    if (s.shape) holo_flow_out(c, 2, s.shape);
}

// In the order of a dense tensor.
static Sparse in_order(HoloFlowCall *c, Sparse s)
{
    int64_t    all   = -1;
    HoloValue *flat  = holo_emit_reshape(c->e, flat_places(c, s.index, s.shape), &all, 1);
    HoloValue *order = row_order(c, flat);
    return (Sparse){holo_flow_two(c, "Gather", s.index, order), holo_flow_two(c, "Gather", s.values, order), s.shape};
}

static void sparse_reorder(HoloFlowCall *c)
{
    Sparse s = in_order(c, sparse_in(c, 0, 1, 2));
    s.shape  = NULL;
    give_sparse(c, s);
}

static void sparse_concat(HoloFlowCall *c)
{
    int        count = c->in_count / 3;
    int64_t    axis  = holo_flow_int(c, "concat_dim", 0);
    HoloValue *on    = NULL; // 1 at the axis, [rank]
    Sparse     all   = {0};
    for (int i = 0; i < count && !c->e->status; i++) {
        Sparse s = sparse_in(c, i, count + i, 2 * count + i);
        if (c->e->status) return;
        if (!i) {
            HoloDim rank                = s.index->type.rank == 2 ? s.index->type.dim[1] : HOLO_DIM_UNKNOWN;
            int64_t ones[HOLO_MAX_RANK] = {0};
            if (holo_dim_is_symbolic(rank) || rank < 1 || rank > HOLO_MAX_RANK)
                return holo_flow_fail(c, HOLO_UNSUPPORTED, "the places should be a table of a known width");
            ones[holo_flow_axis(c, axis, (int)rank)] = 1;
            on                                       = holo_emit_ints(c->e, ones, (int)rank);
            all                                      = s;
            continue;
        }
        HoloValue *before = holo_flow_two(c, "Mul", all.shape, on);
        all.index         = holo_flow_join(c, all.index, holo_flow_two(c, "Add", s.index, before));
        all.values        = holo_flow_join(c, all.values, s.values);
        all.shape         = holo_flow_two(c, "Add", all.shape, holo_flow_two(c, "Mul", s.shape, on));
    }
    if (all.index) give_sparse(c, in_order(c, all));
}

// What lies between a start and a size.
static void sparse_slice(HoloFlowCall *c)
{
    Sparse     s     = sparse_in(c, 0, 1, 2);
    HoloValue *start = holo_flow_vector(c, holo_flow_in(c, 3)), *size = holo_flow_vector(c, holo_flow_in(c, 4));
    if (c->e->status) return;
    int64_t    last = -1;
    HoloValue *end  = holo_flow_two(c, "Min", holo_flow_two(c, "Add", start, size), s.shape);
    HoloValue *in   = holo_flow_two(c, "And", holo_flow_two(c, "GreaterOrEqual", s.index, start),
                                    holo_flow_two(c, "Less", s.index, end));
    in = holo_emit(c->e, "ReduceMin", HOLO_IN(holo_emit_cast(c->e, in, HOLO_I32), holo_emit_ints(c->e, &last, 1)),
                   HOLO_ATTRS(holo_with_int("keepdims", 0)));
    in = holo_emit_cast(c->e, in, HOLO_BOOL);
    HoloValue *index = holo_emit(c->e, "Compress", HOLO_IN(s.index, in), HOLO_ATTRS(holo_with_int("axis", 0)));
    s.values         = holo_emit(c->e, "Compress", HOLO_IN(s.values, in), HOLO_ATTRS(holo_with_int("axis", 0)));
    s.index          = holo_flow_two(c, "Sub", index, start);
    s.shape          = holo_flow_two(c, "Max", holo_flow_two(c, "Sub", end, start), holo_emit_int(c->e, 0));
    give_sparse(c, s);
}

// Values, and those of a dense tensor at the same places. onnx: what is done with both.
static void sparse_with_dense(HoloFlowCall *c)
{
    Sparse     s     = sparse_in(c, 0, 1, 2);
    HoloValue *dense = holo_flow_two(c, "Expand", holo_flow_in(c, 3), s.shape);
    holo_flow_out(c, 0, holo_flow_two(c, c->op->onnx, s.values, holo_flow_two(c, "GatherND", dense, s.index)));
}

// Along the last dimension, of what is there.
static void sparse_softmax(HoloFlowCall *c)
{
    Sparse s = sparse_in(c, 0, 1, 2);
    if (c->e->status) return;
    HoloValue *least = holo_emit_number(c->e, holo_emit_dtype(s.values), -3.4e38);
    HoloValue *dense =
        holo_emit(c->e, "ScatterND", HOLO_IN(holo_flow_filled(c, s.shape, least), s.index, s.values), NULL);
    dense = holo_emit(c->e, "Softmax", HOLO_IN(dense), HOLO_ATTRS(holo_with_int("axis", -1)));
    holo_flow_out(c, 0, holo_flow_two(c, "GatherND", dense, s.index));
}

#define SPARSE_OUTS "output_indices output_values output_shape"

// clang-format off
const HoloFlowOp holo_flow_ops_sparse[] = {
    {"SparseReshape", sparse_reshape, .outs = "output_indices output_shape"},
    {"SparseFillEmptyRows", fill_empty_rows,
     .outs = "output_indices output_values empty_row_indicator reverse_index_map"},
    {"SparseReorder", sparse_reorder, .outs = "output_indices output_values"},
    {"SparseConcat", sparse_concat, .outs = SPARSE_OUTS}, {"SparseSlice", sparse_slice, .outs = SPARSE_OUTS},
    {"SparseDenseCwiseMul", sparse_with_dense, "Mul"}, {"SparseDenseCwiseDiv", sparse_with_dense, "Div"},
    {"SparseDenseCwiseAdd", sparse_with_dense, "Add"}, {"SparseSoftmax", sparse_softmax},
    {0},
};
