// tf_ops_rows.c - operators on rows of different lengths (ragged tensors), on parts that are put together or taken apart, and
// detections of several classes.
#include "import/tensorflow/tf_ops.h"

static HoloValue *vector_64(HoloFlowCall *c, int i)
{
    return holo_flow_vector(c, holo_flow_in(c, i));
}

static HoloValue *counting(HoloFlowCall *c, HoloValue *count) // count is [1]
{
    HoloEmit *e    = c->e;
    int64_t   zero = 0;
    return holo_emit(e, "Range",
                     HOLO_IN(holo_emit_int(e, 0), holo_emit_squeeze(e, count, &zero, 1), holo_emit_int(e, 1)), NULL);
}

// ---- ragged tensors: values of all rows, and where rows begin ("splits"), of i64

// Where rows of these lengths begin; one number more than there are rows.
static HoloValue *splits_of(HoloFlowCall *c, HoloValue *lengths)
{
    HoloEmit  *e    = c->e;
    int64_t    zero = 0;
    HoloValue *ends = holo_emit(e, "CumSum", HOLO_IN(lengths, holo_emit_int(e, 0)), NULL);
    return holo_flow_join(c, holo_emit_ints(e, &zero, 1), ends);
}

static HoloValue *ends_of(HoloFlowCall *c, HoloValue *splits)
{
    return holo_emit_slice(c->e, splits, 0, 1, INT64_MAX, 1);
}

static HoloValue *begins_of(HoloFlowCall *c, HoloValue *splits)
{
    return holo_emit_slice(c->e, splits, 0, 0, -1, 1);
}

static HoloValue *total_of(HoloFlowCall *c, HoloValue *splits) // [1]
{
    return holo_emit_slice(c->e, splits, 0, -1, INT64_MAX, 1);
}

// The row of each value: how many rows end at or before it.
static HoloValue *rows_of(HoloFlowCall *c, HoloValue *places, HoloValue *splits)
{
    HoloEmit  *e     = c->e;
    int64_t    last  = -1;
    HoloValue *after = holo_flow_two(c, "GreaterOrEqual", holo_emit_unsqueeze(e, places, &last, 1), ends_of(c, splits));
    return holo_emit(e, "ReduceSum", HOLO_IN(holo_emit_cast(e, after, HOLO_I64), holo_emit_ints(e, &last, 1)),
                     HOLO_ATTRS(holo_with_int("keepdims", 0)));
}

static HoloDtype splits_type(HoloFlowCall *c)
{
    HoloDtype type = holo_flow_type(c, "Tsplits");
    return type ? type : HOLO_I64;
}

// Rows that count from a start to a limit.
static void ragged_range(HoloFlowCall *c)
{
    HoloEmit  *e    = c->e;
    HoloValue *from = holo_flow_in(c, 0), *to = holo_flow_in(c, 1), *by = holo_flow_in(c, 2);
    int64_t    axis = 0;
    HoloValue *shape =
        holo_emit_shape(e, holo_emit(e, "Add", HOLO_IN(holo_emit(e, "Add", HOLO_IN(from, to), NULL), by), NULL));
    if (e->status) return;
    if (holo_flow_rank(c, from) == 0) from = holo_emit_unsqueeze(e, from, &axis, 1);
    from              = holo_flow_two(c, "Expand", from, shape);
    by                = holo_flow_two(c, "Expand", by, shape);
    HoloValue *far    = holo_flow_two(c, "Sub", to, from), *steps;
    far               = holo_flow_two(c, "Div", holo_emit_cast(e, far, HOLO_F64), holo_emit_cast(e, by, HOLO_F64));
    steps             = holo_emit_cast(e, holo_emit(e, "Ceil", HOLO_IN(far), NULL), HOLO_I64);
    HoloValue *splits = splits_of(c, holo_flow_two(c, "Max", steps, holo_emit_int(e, 0)));
    HoloValue *places = counting(c, total_of(c, splits)), *rows = rows_of(c, places, splits);
    HoloValue *inside = holo_flow_two(c, "Sub", places, holo_flow_two(c, "Gather", splits, rows));
    HoloValue *value =
        holo_flow_two(c, "Mul", holo_emit_cast(e, inside, holo_emit_dtype(from)), holo_flow_two(c, "Gather", by, rows));
    holo_flow_out(c, 0, holo_emit_cast(e, splits, splits_type(c)));
    holo_flow_out(c, 1, holo_flow_two(c, "Add", value, holo_flow_two(c, "Gather", from, rows)));
}

// Chosen rows: splits, values, numbers of rows.
static void ragged_gather(HoloFlowCall *c)
{
    HoloEmit  *e      = c->e;
    HoloValue *splits = vector_64(c, 0), *values = holo_flow_in(c, 1), *chosen = vector_64(c, 2);
    if (holo_flow_int(c, "PARAMS_RAGGED_RANK", 1) != 1 || holo_flow_rank(c, holo_flow_in(c, 2)) > 1) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "rows inside of rows are not supported");
        return;
    }
    HoloValue *lengths = holo_flow_two(c, "Sub", ends_of(c, splits), begins_of(c, splits));
    HoloValue *next    = splits_of(c, holo_flow_two(c, "Gather", lengths, chosen));
    HoloValue *places = counting(c, total_of(c, next)), *rows = rows_of(c, places, next);
    HoloValue *inside = holo_flow_two(c, "Sub", places, holo_flow_two(c, "Gather", next, rows));
    HoloValue *begin  = holo_flow_two(c, "Gather", splits, holo_flow_two(c, "Gather", chosen, rows));
    holo_flow_out(c, 0, holo_emit_cast(e, next, splits_type(c)));
    holo_flow_out(c, 1, holo_flow_two(c, "Gather", values, holo_flow_two(c, "Add", begin, inside)));
}

// A dense tensor: shape, values, what fills rows up, and where rows begin, or the row of each value.
static void ragged_to_dense(HoloFlowCall *c)
{
    HoloEmit  *e      = c->e;
    HoloValue *values = holo_flow_in(c, 1), *filler = holo_flow_in(c, 2), *rows, *count, *splits;
    HoloString kinds[3];
    int        kind_count = holo_flow_strings(c, "row_partition_types", kinds, 3);
    int64_t    minus = -1, wide[2], zero = 0, axes[1] = {1};
    if (e->status) return;
    if (kind_count == 1 && holo_flow_is(kinds[0], "ROW_SPLITS")) {
        splits = vector_64(c, 3);
        rows   = rows_of(c, counting(c, total_of(c, splits)), splits);
        count  = holo_flow_two(c, "Sub", holo_emit_shape(e, splits), holo_emit_ints(e, axes, 1));
    } else if (kind_count == 2 && holo_flow_is(kinds[0], "FIRST_DIM_SIZE") && holo_flow_is(kinds[1], "VALUE_ROWIDS")) {
        count           = vector_64(c, 3);
        rows            = vector_64(c, 4);
        HoloValue *ones = holo_flow_filled(c, holo_emit_shape(e, rows), holo_emit_int(e, 1));
        splits          = splits_of(c, holo_flow_sums(c, rows, ones, count));
    } else {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "rows inside of rows are not supported");
        return;
    }
    HoloValue *lengths = holo_flow_two(c, "Sub", ends_of(c, splits), begins_of(c, splits));
    HoloValue *width   = holo_emit(e, "ReduceMax", HOLO_IN(lengths, holo_emit_ints(e, &zero, 1)), NULL);
    HoloTensor known   = holo_emit_known(e, holo_flow_in(c, 0));
    if (known.data && known.rank == 1 && known.dim[0] == 2 && holo_flow_known(c, 0, wide, 2) == 2 && wide[1] >= 0)
        width = holo_emit_ints(e, &wide[1], 1);
    HoloValue *inside  = holo_flow_two(c, "Sub", counting(c, holo_emit_slice(e, holo_emit_shape(e, rows), 0, 0, 1, 1)),
                                       holo_flow_two(c, "Gather", splits, rows));
    HoloValue *keep    = holo_flow_two(c, "Less", inside, width); // what is beyond the shape is cut off
    HoloValue *pair[2] = {holo_emit_unsqueeze(e, rows, &minus, 1), holo_emit_unsqueeze(e, inside, &minus, 1)};
    HoloValue *at      = holo_emit(e, "Concat", (HoloEmitIn){2, pair}, HOLO_ATTRS(holo_with_int("axis", 1)));
    at                 = holo_emit(e, "Compress", HOLO_IN(at, keep), HOLO_ATTRS(holo_with_int("axis", 0)));
    values             = holo_emit(e, "Compress", HOLO_IN(values, keep), HOLO_ATTRS(holo_with_int("axis", 0)));
    HoloValue *shape   = holo_flow_join(c, count, width);
    if (holo_flow_rank(c, values) > 1)
        shape = holo_flow_join(c, shape, holo_emit_slice(e, holo_emit_shape(e, values), 0, 1, INT64_MAX, 1));
    holo_flow_out(c, 0,
                  holo_emit(e, "ScatterND", HOLO_IN(holo_flow_two(c, "Expand", filler, shape), at, values), NULL));
}

// ---- parts

// Rows of several tensors at the places that lists give them.
// A row and a column for each value: splits, values.
static void ragged_to_sparse(HoloFlowCall *c)
{
    HoloEmit *e    = c->e;
    int64_t   last = -1, zero = 0, one = 1;
    if (c->in_count != 2) return holo_flow_fail(c, HOLO_UNSUPPORTED, "rows inside of rows are not supported");
    HoloValue *splits = vector_64(c, 0), *places = counting(c, total_of(c, splits)), *rows = rows_of(c, places, splits);
    HoloValue *column = holo_flow_two(c, "Sub", places, holo_flow_two(c, "Gather", splits, rows));
    HoloValue *both[] = {holo_emit_unsqueeze(e, rows, &last, 1), holo_emit_unsqueeze(e, column, &last, 1)};
    holo_flow_out(c, 0, holo_emit(e, "Concat", (HoloEmitIn){2, both}, HOLO_ATTRS(holo_with_int("axis", 1))));
    holo_flow_out(c, 1, holo_flow_in(c, 1));
    HoloValue *lengths = holo_flow_two(c, "Sub", ends_of(c, splits), begins_of(c, splits));
    HoloValue *width   = holo_emit(e, "ReduceMax", HOLO_IN(lengths, holo_emit_ints(e, &zero, 1)), NULL);
    HoloValue *count   = holo_flow_two(c, "Sub", holo_emit_shape(e, splits), holo_emit_ints(e, &one, 1));
    holo_flow_out(c, 2, holo_flow_join(c, count, width));
}

// How often each number is in each row, [rows, size]: splits, numbers, size, weights.
static void ragged_bincount(HoloFlowCall *c)
{
    HoloEmit  *e      = c->e;
    HoloValue *splits = vector_64(c, 0), *x = vector_64(c, 1), *size = vector_64(c, 2), *weights = holo_flow_in(c, 3);
    int64_t    last = -1, one = 1;
    if (e->status) return;
    HoloDtype  t    = holo_emit_dtype(weights);
    HoloValue *rows = rows_of(c, counting(c, total_of(c, splits)), splits), *keep = holo_flow_two(c, "Less", x, size);
    bool       is_set    = holo_flow_bool(c, "binary_output", false);
    bool       is_counts = weights->type.rank == 1 && weights->type.dim[0] == 0; // no weights: each counts once
    if (is_set || is_counts) weights = holo_flow_filled(c, holo_emit_shape(e, x), holo_emit_number(e, t, 1));
    HoloValue *both[] = {holo_emit_unsqueeze(e, rows, &last, 1), holo_emit_unsqueeze(e, x, &last, 1)};
    HoloValue *at     = holo_emit(e, "Concat", (HoloEmitIn){2, both}, HOLO_ATTRS(holo_with_int("axis", 1)));
    at                = holo_emit(e, "Compress", HOLO_IN(at, keep), HOLO_ATTRS(holo_with_int("axis", 0)));
    weights           = holo_emit(e, "Compress", HOLO_IN(weights, keep), HOLO_ATTRS(holo_with_int("axis", 0)));
    HoloValue *count  = holo_flow_two(c, "Sub", holo_emit_shape(e, splits), holo_emit_ints(e, &one, 1));
    HoloValue *zeros  = holo_flow_filled(c, holo_flow_join(c, count, size), holo_emit_number(e, t, 0));
    holo_flow_out(c, 0,
                  holo_emit(e, "ScatterND", HOLO_IN(zeros, at, weights),
                            HOLO_ATTRS(holo_with_text("reduction", is_set ? "max" : "add"))));
}

static void stitch(HoloFlowCall *c)
{
    HoloEmit  *e     = c->e;
    int        count = c->in_count / 2;
    int64_t    minus = -1, one = 1, zero = 0;
    HoloValue *at = NULL, *rows = NULL, *tail = NULL;
    for (int i = 0; i < count && !e->status; i++) {
        HoloValue *index = holo_flow_in(c, i), *data = holo_flow_in(c, count + i);
        int        lead = holo_flow_rank(c, index);
        if (e->status) return;
        tail           = holo_emit_slice(e, holo_emit_shape(e, data), 0, lead, INT64_MAX, 1);
        HoloValue *all = holo_flow_join(c, holo_emit_ints(e, &minus, 1), tail);
        data           = holo_flow_two(c, "Reshape", data, all);
        index          = holo_emit_reshape(e, holo_emit_cast(e, index, HOLO_I64), (HoloDim[]){-1}, 1);
        at             = at ? holo_flow_join(c, at, index) : index;
        rows = rows ? holo_emit(e, "Concat", HOLO_IN(rows, data), HOLO_ATTRS(holo_with_int("axis", 0))) : data;
    }
    if (!at || e->status) return;
    HoloValue *size  = holo_emit(e, "ReduceMax", HOLO_IN(at, holo_emit_ints(e, &zero, 1)), NULL);
    HoloValue *shape = holo_flow_join(c, holo_flow_two(c, "Add", size, holo_emit_ints(e, &one, 1)), tail);
    HoloValue *base  = holo_flow_filled(c, shape, holo_flow_zero(c, holo_emit_dtype(rows)));
    holo_flow_out(c, 0, holo_emit(e, "ScatterND", HOLO_IN(base, holo_emit_unsqueeze(e, at, &minus, 1), rows), NULL));
}

static void partition(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *which = holo_emit_cast(c->e, holo_flow_in(c, 1), HOLO_I64);
    int64_t    count = holo_flow_int(c, "num_partitions", 1);
    if (holo_flow_rank(c, which) != 1 || count < 1 || count > 4096) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "the numbers of the parts must be a list");
        return;
    }
    for (int i = 0; i < (int)count && !c->e->status; i++)
        holo_flow_out(c, i,
                      holo_emit(c->e, "Compress", HOLO_IN(x, holo_flow_two(c, "Equal", which, holo_emit_int(c->e, i))),
                                HOLO_ATTRS(holo_with_int("axis", 0))));
}

// The largest, smallest or product of rows with one number. onnx: how ScatterND joins them.
static void segment_join(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *ids = holo_emit_cast(e, holo_flow_in(c, 1), HOLO_I64), *count, *none;
    int64_t    one = 1, zero = 0;
    if (e->status) return;
    HoloDtype type = holo_emit_dtype(x);
    bool      most = holo_flow_is((HoloString){c->op->onnx, 3}, "max"),
         product   = holo_flow_is((HoloString){c->op->onnx, 3}, "mul");
    bool is_float  = holo_dtype_class(type) == HOLO_CLASS_FLOAT;
    if (c->op->number)
        count = vector_64(c, 2);
    else
        count = holo_flow_two(c, "Add", holo_emit(e, "ReduceMax", HOLO_IN(ids, holo_emit_ints(e, &zero, 1)), NULL),
                              holo_emit_ints(e, &one, 1));
    double edge = is_float ? 3.4028234663852886e38 : 2147483647;
    none        = holo_emit_number(e, type, product ? 1 : most ? -edge - !is_float : edge);
    holo_flow_out(c, 0, holo_flow_by_index(c, ids, x, count, none, c->op->onnx));
}

static void bitcast(HoloFlowCall *c)
{
    HoloDtype type = holo_flow_type(c, "type");
    holo_flow_out(c, 0,
                  holo_emit(c->e, "BitCast@26", HOLO_IN(holo_flow_in(c, 0)), HOLO_ATTRS(holo_with_int("to", type))));
}

// ---- detections of several classes: boxes [1, n, 1, 4], scores [1, n, classes]

// The first rows, with zeros behind what is there.
static HoloValue *filled_up(HoloFlowCall *c, HoloValue *x, int64_t count)
{
    HoloEmit *e                    = c->e;
    int       rank                 = holo_flow_rank(c, x);
    HoloDim   sizes[HOLO_MAX_RANK] = {count};
    if (rank < 1 || e->status) return NULL;
    for (int d = 1; d < rank; d++) sizes[d] = x->type.dim[d];
    HoloValue *more = holo_flow_filled(c, holo_emit_sizes(e, sizes, rank), holo_flow_zero(c, holo_emit_dtype(x)));
    x               = holo_emit(e, "Concat", HOLO_IN(x, more), HOLO_ATTRS(holo_with_int("axis", 0)));
    x               = holo_emit_reshape(e, holo_emit_slice(e, x, 0, 0, count, 1), sizes, rank);
    return holo_emit_unsqueeze(e, x, (int64_t[]){0}, 1);
}

static void combined_nms(HoloFlowCall *c)
{
    static const int64_t turn[3] = {0, 2, 1};
    HoloEmit            *e       = c->e;
    HoloValue           *boxes = holo_flow_in(c, 0), *scores = holo_flow_in(c, 1), *top[2], *column[2];
    int64_t              total, zero = 0, two = 2, minus = -1;
    if (holo_flow_rank(c, boxes) != 4 || holo_flow_rank(c, scores) != 3 || holo_flow_known(c, 3, &total, 1) != 1 ||
        e->status)
        return;
    if (boxes->type.dim[0] != 1 || boxes->type.dim[2] != 1 || total < 1 || holo_flow_bool(c, "pad_per_class", false)) {
        holo_flow_fail(c, HOLO_UNSUPPORTED,
                       "only one image, with boxes that all classes share, and no pad_per_class, is supported");
        return;
    }
    boxes            = holo_emit_squeeze(e, boxes, &two, 1);
    HoloValue *found = holo_emit(e, "NonMaxSuppression",
                                 HOLO_IN(boxes, holo_emit_transpose(e, scores, turn, 3), vector_64(c, 2),
                                         holo_emit_cast(e, holo_flow_in(c, 4), HOLO_F32),
                                         holo_emit_cast(e, holo_flow_in(c, 5), HOLO_F32)),
                                 NULL);
    for (int i = 0; i < 2; i++) // the class, the box
        column[i] =
            holo_emit(e, "Gather", HOLO_IN(found, holo_emit_int(e, 1 + i)), HOLO_ATTRS(holo_with_int("axis", 1)));
    HoloValue *pair[2] = {holo_emit_unsqueeze(e, column[1], &minus, 1), holo_emit_unsqueeze(e, column[0], &minus, 1)};
    HoloValue *at      = holo_emit(e, "Concat", (HoloEmitIn){2, pair}, HOLO_ATTRS(holo_with_int("axis", 1)));
    HoloValue *score   = holo_flow_two(c, "GatherND", holo_emit_squeeze(e, scores, &zero, 1), at);
    HoloValue *count   = holo_flow_two(c, "Min", holo_emit_shape(e, score), holo_emit_ints(e, &total, 1));
    holo_emit_many(e, "TopK", HOLO_IN(score, count), NULL, top, 2);
    boxes = holo_flow_two(c, "Gather", holo_emit_squeeze(e, boxes, &zero, 1),
                          holo_flow_two(c, "Gather", column[1], top[1]));
    if (holo_flow_bool(c, "clip_boxes", true))
        boxes = holo_emit(e, "Clip", HOLO_IN(boxes, holo_emit_number(e, HOLO_F32, 0), holo_emit_number(e, HOLO_F32, 1)),
                          NULL);
    holo_flow_out(c, 0, filled_up(c, boxes, total));
    holo_flow_out(c, 1, filled_up(c, top[0], total));
    holo_flow_out(c, 2,
                  filled_up(c, holo_emit_cast(e, holo_flow_two(c, "Gather", column[0], top[1]), HOLO_F32), total));
    holo_flow_out(c, 3, holo_emit_cast(e, count, HOLO_I32));
}

// clang-format off
const HoloFlowOp holo_flow_ops_rows[] = {
    {"RaggedRange", ragged_range, .outs = "rt_nested_splits rt_dense_values"},
    {"RaggedGather", ragged_gather, .outs = "output_nested_splits output_dense_values"},
    {"RaggedTensorToTensor", ragged_to_dense}, {"RaggedBincount", ragged_bincount},
    {"RaggedTensorToSparse", ragged_to_sparse, .outs = "sparse_indices sparse_values sparse_dense_shape"},
    {"DynamicStitch", stitch}, {"ParallelDynamicStitch", stitch}, {"DynamicPartition", partition, .outs = "outputs"},
    {"SegmentMax", segment_join, "max"}, {"SegmentMin", segment_join, "min"}, {"SegmentProd", segment_join, "mul"},
    {"UnsortedSegmentMax", segment_join, "max", 1}, {"UnsortedSegmentMin", segment_join, "min", 1},
    {"UnsortedSegmentProd", segment_join, "mul", 1}, {"Bitcast", bitcast},
    {"CombinedNonMaxSuppression", combined_nms, .outs = "nmsed_boxes nmsed_scores nmsed_classes valid_detections"},
    {0},
};
