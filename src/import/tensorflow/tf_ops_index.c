// tf_ops_index.c - gathering, scattering, choosing and sorting in TensorFlow.
#include "import/tensorflow/tf_ops.h"

// ---- gather

// Moves `count` dimensions that begin at `from`, so that they begin at `to`.
static HoloValue *moved(HoloFlowCall *c, HoloValue *x, int rank, int64_t from, int64_t to, int count)
{
    int64_t order[HOLO_MAX_RANK], rest = 0;
    for (int i = 0; i < rank; i++) {
        if (i >= to && i < to + count) {
            order[i] = from + (i - to);
            continue;
        }
        if (rest == from) rest += count;
        order[i] = rest++;
    }
    return holo_emit_transpose(c->e, x, order, rank);
}

static void gather(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *index = holo_flow_in(c, 1);
    int64_t    axis = 0, batch = holo_flow_int(c, "batch_dims", 0), last = -1;
    int        rank = holo_flow_rank(c, x);
    if (c->in_count > 2 && holo_flow_known(c, 2, &axis, 1) != 1) return;
    axis = holo_flow_axis(c, axis, rank);
    if (holo_emit_dtype(index) != HOLO_I32) index = holo_emit_cast(e, index, HOLO_I64);
    if (batch < 0) batch += holo_flow_rank(c, index);
    if (!batch || e->status) {
        holo_flow_out(c, 0, holo_emit(e, "Gather", HOLO_IN(x, index), HOLO_ATTRS(holo_with_int("axis", axis))));
        return;
    }
    int index_rank = holo_flow_rank(c, index);
    if (axis < batch || index_rank < batch || rank + index_rank - batch - 1 > HOLO_MAX_RANK)
        return holo_flow_fail(c, HOLO_BAD_MODEL, "axis %lld lies in the %lld batch dimensions, or there are too many",
                              (long long)axis, (long long)batch);
    x     = moved(c, x, rank, axis, batch, 1);
    index = holo_emit_unsqueeze(e, holo_emit_cast(e, index, HOLO_I64), &last, 1);
    x     = holo_emit(e, "GatherND", HOLO_IN(x, index), HOLO_ATTRS(holo_with_int("batch_dims", batch)));
    holo_flow_out(c, 0, moved(c, x, rank + index_rank - (int)batch - 1, batch, axis, index_rank - (int)batch));
}

static void gather_nd(HoloFlowCall *c)
{
    HoloValue *index = holo_emit_cast(c->e, holo_flow_in(c, 1), HOLO_I64);
    holo_flow_out(c, 0,
                  holo_emit(c->e, "GatherND", HOLO_IN(holo_flow_in(c, 0), index),
                            HOLO_ATTRS(holo_with_int("batch_dims", holo_flow_int(c, "batch_dims", 0)))));
}

// ---- scatter

static HoloValue *scatter(HoloFlowCall *c, HoloValue *x, HoloValue *index, HoloValue *updates, const char *how)
{
    index = holo_emit_cast(c->e, index, HOLO_I64);
    return holo_emit(c->e, "ScatterND", HOLO_IN(x, index, holo_emit_cast(c->e, updates, holo_emit_dtype(x))),
                     HOLO_ATTRS(holo_with_text("reduction", how)));
}

static void scatter_nd(HoloFlowCall *c)
{
    HoloValue *updates = holo_flow_in(c, 1), *shape = holo_flow_vector(c, holo_flow_in(c, 2));
    HoloValue *zeros = holo_flow_filled(c, shape, holo_flow_zero(c, holo_emit_dtype(updates)));
    holo_flow_out(
        c, 0, scatter(c, zeros, holo_flow_in(c, 0), updates, holo_emit_dtype(updates) == HOLO_STRING ? "none" : "add"));
}

// onnx: how elements that are there already count. number: 1 subtracts.
static void tensor_scatter(HoloFlowCall *c)
{
    HoloValue *updates = holo_flow_in(c, 2);
    if (c->op->number) updates = holo_emit(c->e, "Neg", HOLO_IN(updates), NULL);
    holo_flow_out(c, 0, scatter(c, holo_flow_in(c, 0), holo_flow_in(c, 1), updates, c->op->onnx));
}

static void sparse_to_dense(HoloFlowCall *c)
{
    HoloEmit  *e      = c->e;
    HoloValue *index  = holo_emit_cast(e, holo_flow_in(c, 0), HOLO_I64),
              *shape  = holo_flow_vector(c, holo_flow_in(c, 1));
    HoloValue *values = holo_flow_in(c, 2), *fallback = holo_flow_in(c, 3);
    int64_t    axes[2] = {0, 1}, last = -1;
    int        rank = holo_flow_rank(c, index);
    if (rank == 0) index = holo_emit_unsqueeze(e, index, axes, 2);
    if (rank == 1) index = holo_emit_unsqueeze(e, index, &last, 1);
    if (holo_emit_rank(values) == 0 && !e->status) {
        HoloValue *count = holo_emit_sizes(e, &index->type.dim[0], 1);
        values           = holo_flow_filled(c, count, values);
    }
    holo_flow_same_type(c, &values, &fallback);
    holo_flow_out(c, 0, scatter(c, holo_flow_filled(c, shape, fallback), index, values, "none"));
}

// ---- choosing

static void where(HoloFlowCall *c)
{
    static const int64_t swap[2] = {1, 0};
    HoloValue           *x       = holo_flow_in(c, 0);
    if (holo_emit_dtype(x) == HOLO_STRING) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "strings are not true or false");
        return;
    }
    x = holo_emit(c->e, "NonZero", HOLO_IN(x), NULL);
    holo_flow_out(c, 0, holo_emit_transpose(c->e, x, swap, 2));
}

// number: 1 if a condition of one dimension is about rows.
static void select_(HoloFlowCall *c)
{
    HoloValue *condition = holo_emit_cast(c->e, holo_flow_in(c, 0), HOLO_BOOL), *a = holo_flow_in(c, 1),
              *b = holo_flow_in(c, 2);
    int rank     = holo_emit_rank(a);
    holo_flow_same_type(c, &a, &b);
    if (c->op->number && holo_emit_rank(condition) == 1 && rank > 1) {
        int64_t axes[HOLO_MAX_RANK];
        for (int i = 1; i < rank; i++) axes[i - 1] = i;
        condition = holo_emit_unsqueeze(c->e, condition, axes, rank - 1);
    }
    holo_flow_out(c, 0, holo_emit(c->e, "Where", HOLO_IN(condition, a, b), NULL));
}

static void top_k(HoloFlowCall *c)
{
    HoloValue *x      = holo_flow_in(c, 0), *k, *out[2];
    int64_t    number = holo_flow_int(c, "k", 1);
    k                 = c->in_count > 1 ? holo_flow_vector(c, holo_flow_in(c, 1)) : holo_emit_ints(c->e, &number, 1);
    holo_emit_many(c->e, "TopK", HOLO_IN(x, k), HOLO_ATTRS(holo_with_int("axis", -1)), out, 2);
    HoloDtype t = holo_flow_type(c, "index_type");
    holo_flow_out(c, 0, out[0]);
    holo_flow_out(c, 1, holo_emit_cast(c->e, out[1], t ? t : HOLO_I32));
}

// In the order of first occurrence: values, for each element which one it is, how often each occurs.
static void unique(HoloFlowCall *c)
{
    HoloValue *out[4], *x = holo_flow_in(c, 0);
    HoloDtype  t = holo_flow_type(c, "out_idx");
    int64_t    axis[1];
    int        count = c->in_count > 1 ? holo_flow_known(c, 1, axis, 1) : 0;
    if (count == 1)
        holo_emit_many(c->e, "Unique", HOLO_IN(x),
                       HOLO_ATTRS(holo_with_int("sorted", 0), holo_with_int("axis", axis[0])), out, 4);
    else
        holo_emit_many(c->e, "Unique", HOLO_IN(x), HOLO_ATTRS(holo_with_int("sorted", 0)), out, 4);
    holo_flow_out(c, 0, out[0]);
    holo_flow_out(c, 1, holo_emit_cast(c->e, out[2], t ? t : HOLO_I32));
    holo_flow_out(c, 2, holo_emit_cast(c->e, out[3], t ? t : HOLO_I32));
}

// The elements of x that are not in y, and their places.
static void list_diff(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *y = holo_flow_in(c, 1);
    int64_t    last = -1, zero = 0;
    HoloDtype  t = holo_flow_type(c, "out_idx");
    holo_flow_same_type(c, &x, &y);
    HoloValue *same =
        holo_emit(e, "Equal", HOLO_IN(holo_emit_unsqueeze(e, x, &last, 1), holo_emit_unsqueeze(e, y, &zero, 1)), NULL);
    same = holo_emit(e, "ReduceSum", HOLO_IN(holo_emit_cast(e, same, HOLO_I32), holo_emit_ints(e, &last, 1)),
                     HOLO_ATTRS(holo_with_int("keepdims", 0)));
    HoloValue *is_new = holo_emit(e, "Equal", HOLO_IN(same, holo_emit_number(e, HOLO_I32, 0)), NULL);
    HoloValue *place  = holo_emit_squeeze(e, holo_emit(e, "NonZero", HOLO_IN(is_new), NULL), &zero, 1);
    holo_flow_out(c, 0, holo_emit(e, "Gather", HOLO_IN(x, place), NULL));
    holo_flow_out(c, 1, holo_emit_cast(e, place, t ? t : HOLO_I32));
}

static void invert_permutation(HoloFlowCall *c)
{
    HoloEmit  *e     = c->e;
    HoloValue *x     = holo_emit_cast(e, holo_flow_in(c, 0), HOLO_I64), *n;
    int64_t    zero  = 0;
    n                = holo_emit_squeeze(e, holo_emit_shape(e, x), &zero, 1);
    HoloValue *range = holo_emit(e, "Range", HOLO_IN(holo_emit_int(e, 0), n, holo_emit_int(e, 1)), NULL);
    x                = holo_emit(e, "ScatterElements", HOLO_IN(x, x, range), NULL);
    holo_flow_out(c, 0, holo_emit_cast(e, x, holo_emit_dtype(holo_flow_in(c, 0))));
}

// number: 1 counts elements that are equal, too.
static void bound(HoloFlowCall *c)
{
    HoloEmit  *e      = c->e;
    HoloValue *sorted = holo_flow_in(c, 0), *x = holo_flow_in(c, 1);
    int64_t    last = -1, second = 1;
    HoloDtype  t = holo_flow_type(c, "out_type");
    holo_flow_same_type(c, &sorted, &x);
    HoloValue *below = holo_emit(
        e, c->op->onnx, HOLO_IN(holo_emit_unsqueeze(e, sorted, &second, 1), holo_emit_unsqueeze(e, x, &last, 1)), NULL);
    below = holo_emit(e, "ReduceSum", HOLO_IN(holo_emit_cast(e, below, HOLO_I32), holo_emit_ints(e, &last, 1)),
                      HOLO_ATTRS(holo_with_int("keepdims", 0)));
    holo_flow_out(c, 0, holo_emit_cast(e, below, t ? t : HOLO_I32));
}

// ---- counting and segments

HoloValue *holo_flow_by_index(HoloFlowCall *c, HoloValue *index, HoloValue *updates, HoloValue *count, HoloValue *none,
                              const char *how)
{
    HoloEmit  *e    = c->e;
    int64_t    last = -1, zero = 0, one = 1;
    HoloValue *scalar = holo_emit_squeeze(e, count, &zero, 1), *shape;
    int        lead   = holo_flow_rank(c, index);
    index             = holo_emit_cast(e, index, HOLO_I64);
    if (lead > 1) { // the first dimensions of both are one list
        shape   = holo_emit_slice(e, holo_emit_shape(e, updates), 0, lead, INT64_MAX, 1);
        updates = holo_flow_two(c, "Reshape", updates, holo_flow_join(c, holo_emit_ints(e, &last, 1), shape));
        index   = holo_emit_reshape(e, index, &last, 1);
    }
    HoloValue *bad = holo_emit(e, "Or",
                               HOLO_IN(holo_emit(e, "Less", HOLO_IN(index, holo_emit_int(e, 0)), NULL),
                                       holo_emit(e, "GreaterOrEqual", HOLO_IN(index, scalar), NULL)),
                               NULL);
    index          = holo_emit(e, "Where", HOLO_IN(bad, scalar, index), NULL);
    shape          = holo_emit(e, "Add", HOLO_IN(count, holo_emit_ints(e, &one, 1)), NULL);
    if (holo_flow_rank(c, updates) > 1)
        shape = holo_flow_join(c, shape, holo_emit_slice(e, holo_emit_shape(e, updates), 0, 1, INT64_MAX, 1));
    HoloValue *all =
        scatter(c, holo_flow_filled(c, shape, none), holo_emit_unsqueeze(e, index, &last, 1), updates, how);
    return holo_emit(e, "Slice", HOLO_IN(all, holo_emit_ints(e, &zero, 1), count, holo_emit_ints(e, &zero, 1)), NULL);
}

HoloValue *holo_flow_sums(HoloFlowCall *c, HoloValue *index, HoloValue *updates, HoloValue *count)
{
    return holo_flow_by_index(c, index, updates, count, holo_flow_zero(c, holo_emit_dtype(updates)), "add");
}

// Rows that are equally long are ragged ones, too.
static HoloValue *bincount_rows(HoloFlowCall *c, HoloValue *x, HoloValue *weights)
{
    HoloEmit  *e    = c->e;
    int64_t    last = -1, zero = 0;
    HoloValue *shape = holo_emit_shape(e, x), *one = holo_emit_int(e, 1),
              *rows = holo_emit_squeeze(e, holo_emit_slice(e, shape, 0, 0, 1, 1), &zero, 1);
    HoloValue *count =
        holo_emit(e, "Range", HOLO_IN(holo_emit_int(e, 0), holo_flow_two(c, "Add", rows, one), one), NULL);
    HoloValue *splits = holo_flow_two(c, "Mul", count, holo_emit_slice(e, shape, 0, 1, 2, 1));
    HoloValue *in[]   = {splits, holo_emit_reshape(e, x, &last, 1), holo_flow_in(c, 1),
                         holo_emit_reshape(e, weights, &last, 1)};
    return holo_flow_as(c, "RaggedBincount", in, 4);
}

// DenseBincount of a vector, or of rows: each row then counts in places of its own.
static void bincount(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *count = holo_flow_vector(c, holo_flow_in(c, 1)), *weights = holo_flow_in(c, 2);
    int64_t    flat   = -1;
    bool       binary = holo_flow_bool(c, "binary_output", false);
    HoloDtype  t      = holo_flow_type(c, "T");
    if (holo_flow_rank(c, x) > 1 && !strcmp(c->op->name, "DenseBincount"))
        return holo_flow_out(c, 0, bincount_rows(c, x, weights));
    x                  = holo_emit_reshape(e, x, &flat, 1);
    bool has_weights   = holo_emit_rank(weights) >= 0 && !(holo_emit_rank(weights) == 1 && weights->type.dim[0] == 0);
    t                  = has_weights ? holo_emit_dtype(weights) : t ? t : HOLO_F32;
    HoloValue *updates = has_weights && !binary ? holo_emit_reshape(e, weights, &flat, 1)
                                                : holo_flow_filled(c, holo_emit_shape(e, x), holo_emit_number(e, t, 1));
    x                  = holo_flow_sums(c, x, updates, count);
    if (binary) x = holo_emit(e, "Min", HOLO_IN(x, holo_emit_number(e, t, 1)), NULL);
    holo_flow_out(c, 0, x);
}

// One more than the largest index: how many segments there are. An i64 vector of one.
static HoloValue *segment_count(HoloFlowCall *c, HoloValue *ids)
{
    HoloEmit  *e   = c->e;
    int64_t    one = 1, least = -1;
    HoloValue *all = holo_flow_join(c, holo_emit_ints(e, &least, 1), holo_emit_cast(e, ids, HOLO_I64));
    all            = holo_emit(e, "ReduceMax", HOLO_IN(all), HOLO_ATTRS(holo_with_int("keepdims", 1)));
    return holo_emit(e, "Add", HOLO_IN(all, holo_emit_ints(e, &one, 1)), NULL);
}

// Divides sums by how many elements each has; number 2: by the root of it.
static HoloValue *by_count(HoloFlowCall *c, HoloValue *sums, HoloValue *ids, HoloValue *count, int how)
{
    HoloEmit  *e    = c->e;
    HoloDtype  t    = holo_emit_dtype(sums);
    int        rank = holo_emit_rank(sums);
    int64_t    axes[HOLO_MAX_RANK];
    HoloValue *ones = holo_flow_filled(c, holo_emit_shape(e, ids), holo_emit_number(e, t, 1));
    HoloValue *n = holo_emit(e, "Max", HOLO_IN(holo_flow_sums(c, ids, ones, count), holo_emit_number(e, t, 1)), NULL);
    if (how == 2) n = holo_emit(e, "Sqrt", HOLO_IN(n), NULL);
    for (int i = 1; i < rank; i++) axes[i - 1] = i;
    return holo_emit(e, "Div", HOLO_IN(sums, rank > 1 ? holo_emit_unsqueeze(e, n, axes, rank - 1) : n), NULL);
}

// number: 0 sum, 1 mean, 2 divided by the root of the number.
static void segment(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *ids = holo_flow_in(c, 1);
    HoloValue *count = c->op->onnx ? holo_flow_vector(c, holo_flow_in(c, 2)) : segment_count(c, ids);
    HoloValue *sums  = holo_flow_sums(c, ids, x, count);
    holo_flow_out(c, 0, c->op->number ? by_count(c, sums, ids, count, c->op->number) : sums);
}

// The same of rows that a list chooses. onnx: the number of segments is an input.
static void sparse_segment(HoloFlowCall *c)
{
    HoloValue *x     = holo_emit(c->e, "Gather",
                                 HOLO_IN(holo_flow_in(c, 0), holo_emit_cast(c->e, holo_flow_in(c, 1), HOLO_I64)), NULL);
    HoloValue *ids   = holo_flow_in(c, 2);
    HoloValue *count = c->op->onnx ? holo_flow_vector(c, holo_flow_in(c, 3)) : segment_count(c, ids);
    HoloValue *sums  = holo_flow_sums(c, ids, x, count);
    holo_flow_out(c, 0, c->op->number ? by_count(c, sums, ids, count, c->op->number) : sums);
}

// clang-format off
const HoloFlowOp holo_flow_ops_index[] = {
    {"Gather", gather}, {"GatherV2", gather}, {"ResourceGather", gather}, {"GatherNd", gather_nd},
    {"ResourceGatherNd", gather_nd}, {"ScatterNd", scatter_nd},
    {"TensorScatterUpdate", tensor_scatter, "none"}, {"ScatterNdNonAliasingAdd", tensor_scatter, "add"}, {"TensorScatterAdd", tensor_scatter, "add"},
    {"TensorScatterSub", tensor_scatter, "add", 1}, {"TensorScatterMax", tensor_scatter, "max"},
    {"TensorScatterMin", tensor_scatter, "min"}, {"SparseToDense", sparse_to_dense},
    {"Where", where}, {"Select", select_, NULL, 1}, {"SelectV2", select_},
    {"TopK", top_k, .outs = "values indices"}, {"TopKV2", top_k, .outs = "values indices"},
    {"Unique", unique, .outs = "y idx"}, {"UniqueV2", unique, .outs = "y idx"},
    {"UniqueWithCounts", unique, .outs = "y idx count"}, {"UniqueWithCountsV2", unique, .outs = "y idx count"},
    {"ListDiff", list_diff, .outs = "out idx"}, {"InvertPermutation", invert_permutation},
    {"LowerBound", bound, "Less"}, {"UpperBound", bound, "LessOrEqual"},
    {"Bincount", bincount}, {"DenseBincount", bincount},
    {"SegmentSum", segment, NULL, 0}, {"SegmentMean", segment, NULL, 1}, {"UnsortedSegmentSum", segment, "count", 0},
    {"SparseSegmentSum", sparse_segment, NULL, 0}, {"SparseSegmentMean", sparse_segment, NULL, 1},
    {"SparseSegmentSqrtN", sparse_segment, NULL, 2}, {"SparseSegmentSumWithNumSegments", sparse_segment, "count", 0},
    {"SparseSegmentMeanWithNumSegments", sparse_segment, "count", 1},
    {"SparseSegmentSqrtNWithNumSegments", sparse_segment, "count", 2},
    {0},
};
