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

static void sparse_reshape(HoloFlowCall *c)
{
    HoloEmit  *e     = c->e;
    HoloDtype  type  = holo_emit_dtype(holo_flow_in(c, 0));
    HoloValue *index = holo_emit_cast(e, holo_flow_in(c, 0), HOLO_I64),
              *shape = holo_flow_vector(c, holo_flow_in(c, 1));
    HoloValue *to = holo_flow_vector(c, holo_flow_in(c, 2)), *zero = holo_emit_int(e, 0);
    int64_t    last = -1;
    // A size of -1 is what is left: all elements, divided by the product of the others.
    HoloValue *rest =
        holo_emit(e, "Div", HOLO_IN(product_of(c, shape), product_of(c, holo_emit(e, "Abs", HOLO_IN(to), NULL))), NULL);
    HoloValue *is_open = holo_emit(e, "Less", HOLO_IN(to, zero), NULL);
    to                 = holo_emit(e, "Where", HOLO_IN(is_open, rest, to), NULL);
    HoloValue *flat    = holo_emit(e, "Mul", HOLO_IN(index, strides_of(c, shape)), NULL);
    flat =
        holo_emit(e, "ReduceSum", HOLO_IN(flat, holo_emit_ints(e, &last, 1)), HOLO_ATTRS(holo_with_int("keepdims", 1)));
    HoloValue *place = holo_emit(e, "Div", HOLO_IN(flat, strides_of(c, to)), NULL);
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

// clang-format off
const HoloFlowOp holo_flow_ops_sparse[] = {
    {"SparseReshape", sparse_reshape, .outs = "output_indices output_shape"},
    {"SparseFillEmptyRows", fill_empty_rows,
     .outs = "output_indices output_values empty_row_indicator reverse_index_map"},
    {0},
};
