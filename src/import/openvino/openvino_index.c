// openvino_index.c - layers that find elements: by indices, by order, by conditions; and reductions.
#include "import/openvino/openvino.h"

#include <string.h>

static HoloValue *as_i64(HoloIrCall *c, HoloValue *x)
{
    return x ? holo_emit_cast(c->e, x, HOLO_I64) : NULL;
}

// The axis of an input that must be known.
static int axis_in(HoloIrCall *c, int input, int rank)
{
    int64_t axis[2 * HOLO_MAX_RANK];
    return holo_ir_known(c, input, axis) ? holo_ir_axis(c, axis[0], rank) : 0;
}

ONE(gather)
{
    HoloValue *x = IN(0), *index = as_i64(c, IN(1));
    int        rank = holo_ir_rank(c, x), own = holo_ir_rank(c, index), axis = axis_in(c, 2, rank);
    int64_t    batch = holo_ir_int(c, "batch_dims", 0), last = own;
    if (batch < 0) batch += own;
    if (!batch) return holo_emit(c->e, "Gather", HOLO_IN(x, index), HOLO_ATTRS(holo_with_int("axis", axis)));
    if (batch != axis)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a Gather along axis %d with %lld dimensions of a batch", axis,
                              (long long)batch);
    HoloValue *zero = holo_emit_int(c->e, 0); // GatherND takes no index below 0
    HoloValue *size =
        holo_emit(c->e, "Shape", HOLO_IN(x), HOLO_ATTRS(holo_with_int("start", axis), holo_with_int("end", axis + 1)));
    index = holo_emit(c->e, "Where", HOLO_IN(OP2("Less", index, zero), OP2("Add", index, size), index), NULL);
    return holo_emit(c->e, "GatherND", HOLO_IN(x, holo_emit_unsqueeze(c->e, index, &last, 1)),
                     HOLO_ATTRS(holo_with_int("batch_dims", batch)));
}

ONE(gather_elements)
{
    HoloValue *x = IN(0);
    return holo_emit(c->e, "GatherElements", HOLO_IN(x, as_i64(c, IN(1))),
                     HOLO_ATTRS(holo_with_int("axis", holo_ir_axis(c, holo_ir_int(c, "axis", 0), holo_ir_rank(c, x)))));
}

// Version 5 joins the dimensions of the batch into one; version 8 does not.
ONE(gather_nd)
{
    int64_t batch = holo_ir_int(c, "batch_dims", 0);
    if (batch > 1 && c->layer->opset < 8)
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a GatherND of opset %d with a batch of %lld dimensions",
                              c->layer->opset, (long long)batch);
    return holo_emit(c->e, "GatherND", HOLO_IN(IN(0), as_i64(c, IN(1))),
                     HOLO_ATTRS(holo_with_int("batch_dims", batch)));
}

// data indices updates axis: slices along the axis are replaced
ONE(scatter_update)
{
    HoloValue *x = IN(0), *index = as_i64(c, IN(1)), *fresh = holo_emit_cast(c->e, IN(2), holo_emit_dtype(x));
    int        rank = holo_ir_rank(c, x), own = holo_ir_rank(c, index), axis = axis_in(c, 3, rank);
    int64_t    front[HOLO_MAX_RANK], back[HOLO_MAX_RANK], moved[2 * HOLO_MAX_RANK], last = own;
    if (c->e->status || rank + own > HOLO_MAX_RANK) return NULL;
    front[0] = axis;
    for (int i = 1; i < rank; i++) front[i] = i <= axis ? i - 1 : i;
    for (int i = 0; i < rank; i++) back[front[i]] = i;
    for (int i = 0; i < own; i++) moved[i] = axis + i; // the dimensions of the indices come first
    for (int i = 0; i < axis; i++) moved[own + i] = i;
    for (int i = axis; i < rank - 1; i++) moved[own + i] = own + i;
    fresh        = holo_emit_transpose(c->e, fresh, moved, own + rank - 1);
    HoloValue *y = holo_emit(
        c->e, "ScatterND",
        HOLO_IN(holo_emit_transpose(c->e, x, front, rank), holo_emit_unsqueeze(c->e, index, &last, 1), fresh), NULL);
    return holo_emit_transpose(c->e, y, back, rank);
}

static const char *reduction_of(HoloIrCall *c)
{
    static const char *const words[][2] = {
        {"none", "none"}, {"sum", "add"}, {"prod", "mul"}, {"min", "min"}, {"max", "max"}};
    const char *name = holo_ir_text(c, "reduction", "none");
    for (int i = 0; i < HOLO_COUNT(words); i++)
        if (!strcmp(words[i][0], name) && (!i || holo_ir_bool(c, "use_init_val", true))) return words[i][1];
    return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a scatter by '%.40s'%s", name,
                          holo_ir_bool(c, "use_init_val", true) ? "" : " without what was there before");
}

ONE(scatter_elements)
{
    HoloValue  *x   = IN(0);
    int         at  = axis_in(c, 3, holo_ir_rank(c, x));
    const char *how = reduction_of(c);
    if (!how) return NULL;
    return holo_emit(c->e, "ScatterElements",
                     HOLO_IN(x, as_i64(c, IN(1)), holo_emit_cast(c->e, IN(2), holo_emit_dtype(x))),
                     HOLO_ATTRS(holo_with_int("axis", at), holo_with_text("reduction", how)));
}

ONE(scatter_nd)
{
    HoloValue  *x   = IN(0);
    const char *how = reduction_of(c);
    if (!how) return NULL;
    return holo_emit(c->e, "ScatterND", HOLO_IN(x, as_i64(c, IN(1)), holo_emit_cast(c->e, IN(2), holo_emit_dtype(x))),
                     HOLO_ATTRS(holo_with_text("reduction", how)));
}

ONE(one_hot)
{
    int64_t    zero = 0;
    HoloValue *off = IN(3), *on = holo_emit_cast(c->e, IN(2), holo_emit_dtype(off)), *both[2];
    both[0]        = holo_emit_unsqueeze(c->e, off, &zero, holo_ir_rank(c, off) == 0);
    both[1]        = holo_emit_unsqueeze(c->e, on, &zero, holo_ir_rank(c, on) == 0);
    HoloValue *two = holo_emit(c->e, "Concat", (HoloEmitIn){2, both}, HOLO_ATTRS(holo_with_int("axis", 0)));
    return holo_emit(c->e, "OneHot", HOLO_IN(as_i64(c, IN(0)), as_i64(c, IN(1)), two),
                     HOLO_ATTRS(holo_with_int("axis", holo_ir_int(c, "axis", -1))));
}

ONE(non_zero)
{
    return holo_emit_cast(c->e, OP1("NonZero", IN(0)), holo_ir_type_attr(c, "output_type", HOLO_I64));
}

// data k: the largest or smallest along an axis, in the order of the values or of their indices
MANY(top_k)
{
    HoloValue *x = IN(0), *y[2] = {NULL}, *sorted[2];
    int64_t    one     = 1;
    int        axis    = holo_ir_axis(c, holo_ir_int(c, "axis", -1), holo_ir_rank(c, x));
    bool       is_most = holo_ir_is(c, "mode", "max", "max");
    HoloValue *k       = holo_emit_reshape(c->e, as_i64(c, IN(1)), &one, 1);
    holo_emit_many(c->e, "TopK", HOLO_IN(x, k),
                   HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("largest", is_most)), y, 2);
    if (holo_ir_is(c, "sort", "value", "index")) {
        holo_emit_many(c->e, "TopK", HOLO_IN(y[1], k),
                       HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("largest", 0)), sorted, 2);
        y[0] = holo_emit(c->e, "GatherElements", HOLO_IN(y[0], sorted[1]), HOLO_ATTRS(holo_with_int("axis", axis)));
        y[1] = sorted[0];
    }
    c->layer->out[0] = y[0];
    c->layer->out[1] = holo_emit_cast(c->e, y[1], holo_ir_type_attr(c, "index_element_type", HOLO_I32));
}

ONE(cum_sum)
{
    return holo_emit(c->e, "CumSum", HOLO_IN(IN(0), holo_emit_reshape(c->e, as_i64(c, IN(1)), NULL, 0)),
                     HOLO_ATTRS(holo_with_int("exclusive", holo_ir_bool(c, "exclusive", false)),
                                holo_with_int("reverse", holo_ir_bool(c, "reverse", false))));
}

// How many buckets end before each element.
ONE(bucketize)
{
    HoloValue *x = IN(0), *end = holo_emit_cast(c->e, IN(1), holo_emit_dtype(x));
    int64_t    axes[1] = {holo_ir_rank(c, x)};
    HoloValue *past    = OP2(holo_ir_bool(c, "with_right_bound", true) ? "Greater" : "GreaterOrEqual",
                          holo_emit_unsqueeze(c->e, x, axes, 1), end);
    past = holo_emit_cast(c->e, past, holo_ir_type_attr(c, "output_type", HOLO_I64));
    return holo_emit(c->e, "ReduceSum", HOLO_IN(past, holo_emit_ints(c->e, axes, 1)),
                     HOLO_ATTRS(holo_with_int("keepdims", 0)));
}

// data (axis): the elements, where each was first, which of them each element is, how many there are
MANY(unique)
{
    HoloValue *y[4], *x = IN(0);
    HoloAttr   sorted = holo_with_int("sorted", holo_ir_bool(c, "sorted", true));
    HoloDtype  index  = holo_ir_type_attr(c, "index_element_type", HOLO_I64),
              count   = holo_ir_type_attr(c, "count_element_type", HOLO_I64);
    if (MAY(1))
        holo_emit_many(c->e, "Unique", HOLO_IN(x),
                       HOLO_ATTRS(sorted, holo_with_int("axis", axis_in(c, 1, holo_ir_rank(c, x)))), y, 4);
    else
        holo_emit_many(c->e, "Unique", HOLO_IN(x), HOLO_ATTRS(sorted), y, 4);
    c->layer->out[0] = y[0];
    for (int i = 1; i < 4; i++) c->layer->out[i] = holo_emit_cast(c->e, y[i], i == 3 ? count : index);
}

// ---- reductions

static const struct {
    const char *type, *onnx;
} reductions[] = {{"ReduceSum", "ReduceSum"}, {"ReduceMean", "ReduceMean"},      {"ReduceMax", "ReduceMax"},
                  {"ReduceMin", "ReduceMin"}, {"ReduceProd", "ReduceProd"},      {"ReduceL1", "ReduceL1"},
                  {"ReduceL2", "ReduceL2"},   {"ReduceLogicalAnd", "ReduceMin"}, {"ReduceLogicalOr", "ReduceMax"}};

ONE(reduce)
{
    HoloValue  *x = IN(0), *axes = as_i64(c, IN(1));
    const char *op       = "ReduceSum";
    int64_t     all      = -1;
    bool        is_logic = !strncmp(c->layer->type, "ReduceLogical", 13);
    for (int i = 0; i < HOLO_COUNT(reductions); i++)
        if (!strcmp(reductions[i].type, c->layer->type)) op = reductions[i].onnx;
    if (holo_emit_rank(axes) == 0) axes = holo_emit_reshape(c->e, axes, &all, 1);
    if (is_logic) x = holo_emit_cast(c->e, x, HOLO_U8);
    HoloValue *y = holo_emit(c->e, op, HOLO_IN(x, axes),
                             HOLO_ATTRS(holo_with_int("keepdims", holo_ir_bool(c, "keep_dims", false)),
                                        holo_with_int("noop_with_empty_axes", 1)));
    return is_logic ? holo_emit_cast(c->e, y, HOLO_BOOL) : y;
}

// rows columns diagonal (batch)
ONE(eye)
{
    int64_t    sizes[2 * HOLO_MAX_RANK], shift[2 * HOLO_MAX_RANK] = {0};
    HoloDtype  type = holo_ir_type_attr(c, "output_type", HOLO_F32);
    HoloTensor like = {.dtype = (uint8_t)HOLO_I32};
    (void)like;
    if (!holo_ir_known(c, 0, sizes) || !holo_ir_known(c, 1, sizes + 1) || !holo_ir_known(c, 2, shift)) return NULL;
    HoloValue *zeros = OP2("Expand", holo_emit_number(c->e, type, 0), holo_emit_ints(c->e, sizes, 2));
    HoloValue *y     = holo_emit(c->e, "EyeLike", HOLO_IN(zeros), HOLO_ATTRS(holo_with_int("k", shift[0])));
    if (!MAY(3)) return y;
    HoloValue *both[2] = {as_i64(c, IN(3)), holo_emit_ints(c->e, sizes, 2)};
    return OP2("Expand", y, holo_emit(c->e, "Concat", (HoloEmitIn){2, both}, HOLO_ATTRS(holo_with_int("axis", 0))));
}

const HoloIrOp holo_ir_indexes[] = {
    {"Gather", gather, NULL, NULL},
    {"GatherElements", gather_elements, NULL, NULL},
    {"GatherND", gather_nd, NULL, NULL},
    {"ScatterUpdate", scatter_update, NULL, NULL},
    {"ScatterElementsUpdate", scatter_elements, NULL, NULL},
    {"ScatterNDUpdate", scatter_nd, NULL, NULL},
    {"OneHot", one_hot, NULL, NULL},
    {"NonZero", non_zero, NULL, NULL},
    {"TopK", NULL, top_k, NULL},
    {"CumSum", cum_sum, NULL, NULL},
    {"Bucketize", bucketize, NULL, NULL},
    {"Unique", NULL, unique, NULL},
    {"ReduceSum", reduce, NULL, NULL},
    {"ReduceMean", reduce, NULL, NULL},
    {"ReduceMax", reduce, NULL, NULL},
    {"ReduceMin", reduce, NULL, NULL},
    {"ReduceProd", reduce, NULL, NULL},
    {"ReduceL1", reduce, NULL, NULL},
    {"ReduceL2", reduce, NULL, NULL},
    {"ReduceLogicalAnd", reduce, NULL, NULL},
    {"ReduceLogicalOr", reduce, NULL, NULL},
    {"Eye", eye, NULL, NULL},
    {0},
};
