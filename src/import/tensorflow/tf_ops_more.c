// tf_ops_more.c - TensorFlow's operators that are written in several others: losses, histograms, decoders, updates.
#include "import/import_sound.h"
#include "import/tensorflow/tf_ops.h"

static HoloValue *sum_last(HoloFlowCall *c, HoloValue *x, bool keep)
{
    int64_t last = -1;
    return holo_emit(c->e, "ReduceSum", HOLO_IN(x, holo_emit_ints(c->e, &last, 1)),
                     HOLO_ATTRS(holo_with_int("keepdims", keep)));
}

static HoloValue *count_up(HoloFlowCall *c, HoloValue *count) // i64, without dimensions
{
    return holo_emit(c->e, "Range", HOLO_IN(holo_emit_int(c->e, 0), count, holo_emit_int(c->e, 1)), NULL);
}

static HoloValue *size_of(HoloFlowCall *c, HoloValue *x, int64_t axis) // i64, without dimensions
{
    return holo_flow_two(c, "Gather", holo_emit_shape(c->e, x), holo_emit_int(c->e, axis));
}

// ---- arithmetic

static void x_log1p_y(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *y = holo_flow_in(c, 1);
    if (c->e->status) return;
    HoloValue *in[] = {x, holo_flow_two(c, "Add", y, holo_emit_number(c->e, holo_emit_dtype(y), 1))};
    holo_flow_out(c, 0, holo_flow_as(c, "Xlogy", in, 2));
}

// The logarithm of a running sum of exponentials. Each sum is taken by itself, behind its own maximum.
static void running_log_sum(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0);
    int64_t    axis, last = -1, order[HOLO_MAX_RANK], before = -2;
    int        rank = holo_flow_rank(c, x);
    bool       down = holo_flow_bool(c, "reverse", false), others = holo_flow_bool(c, "exclusive", false);
    if (e->status || holo_flow_known(c, 1, &axis, 1) != 1) return;
    axis = holo_flow_axis(c, axis, rank);
    if (e->status) return;
    for (int i = 0; i < rank; i++) order[i] = i;
    order[axis]      = rank - 1;
    order[rank - 1]  = axis;
    x                = holo_emit_transpose(e, x, order, rank);
    HoloValue *place = count_up(c, size_of(c, x, -1)), *own = holo_emit_unsqueeze(e, place, &last, 1);
    HoloValue *a = down ? own : place, *b = down ? place : own;
    HoloValue *counts = holo_flow_two(c, others ? "Less" : "LessOrEqual", a, b);
    HoloValue *least  = holo_emit_number(e, holo_emit_dtype(x), -3.4028234663852886e38);
    x                 = holo_emit(e, "Where", HOLO_IN(counts, holo_emit_unsqueeze(e, x, &before, 1), least), NULL);
    HoloValue *most   = holo_emit(e, "ReduceMax", HOLO_IN(x, holo_emit_ints(e, &last, 1)), NULL);
    HoloValue *part   = holo_flow_one(c, "Exp", holo_flow_two(c, "Sub", x, most));
    part              = holo_emit(e, "Where", HOLO_IN(counts, part, holo_emit_number(e, holo_emit_dtype(x), 0)), NULL);
    x                 = holo_flow_two(c, "Add", holo_flow_one(c, "Log", sum_last(c, part, true)), most);
    x                 = holo_flow_two(c, "Max", holo_emit_squeeze(e, x, &last, 1), least);
    holo_flow_out(c, 0, holo_emit_transpose(e, x, order, rank));
}

// number: the labels are numbers of classes. Outputs: the loss of each row, and its gradient.
static void cross_entropy(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *labels = holo_flow_in(c, 1);
    int64_t    last = -1;
    if (e->status) return;
    if (c->op->number) {
        HoloValue *zero = holo_emit_number(e, holo_emit_dtype(x), 0), *one = holo_emit_number(e, holo_emit_dtype(x), 1);
        HoloValue *is = holo_flow_two(c, "Equal", count_up(c, size_of(c, x, -1)),
                                      holo_emit_unsqueeze(e, holo_emit_cast(e, labels, HOLO_I64), &last, 1));
        labels        = holo_emit(e, "Where", HOLO_IN(is, one, zero), NULL);
    }
    HoloValue *logs = holo_emit(e, "LogSoftmax", HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", -1)));
    holo_flow_out(c, 0, holo_flow_one(c, "Neg", sum_last(c, holo_flow_two(c, "Mul", labels, logs), false)));
    holo_flow_out(c, 1, holo_flow_two(c, "Sub", holo_flow_one(c, "Exp", logs), labels));
}

// How many numbers lie in each of several equal parts of a range; those outside count in the first or the last part.
static void histogram(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *range = holo_flow_in(c, 1), *bins = holo_flow_vector(c, holo_flow_in(c, 2));
    int64_t    all = -1;
    if (e->status) return;
    HoloDtype  t = holo_emit_dtype(x), out = holo_flow_type(c, "dtype");
    HoloValue *low = holo_emit_slice(e, range, 0, 0, 1, 1), *high = holo_emit_slice(e, range, 0, 1, 2, 1);
    HoloValue *part = holo_flow_two(c, "Div", holo_flow_two(c, "Sub", holo_emit_reshape(e, x, &all, 1), low),
                                    holo_flow_two(c, "Sub", high, low));
    part            = holo_flow_one(c, "Floor", holo_flow_two(c, "Mul", part, holo_emit_cast(e, bins, t)));
    part            = holo_emit_cast(e, part, HOLO_I64);
    part            = holo_flow_two(c, "Min", part, holo_flow_two(c, "Sub", bins, holo_emit_int(e, 1)));
    part            = holo_flow_two(c, "Max", part, holo_emit_int(e, 0));
    HoloValue *ones = holo_flow_filled(c, holo_emit_shape(e, part), holo_emit_int(e, 1));
    holo_flow_out(c, 0, holo_emit_cast(e, holo_flow_sums(c, part, ones, bins), out ? out : HOLO_I32));
}

// ---- places

// Places in a flat tensor to places of each dimension, [rank, ...].
static void unravel(HoloFlowCall *c)
{
    HoloEmit  *e  = c->e;
    HoloValue *at = holo_flow_in(c, 0), *part[HOLO_MAX_RANK];
    int64_t    sizes[HOLO_MAX_RANK], zero = 0, stride = 1;
    int        rank = holo_flow_known(c, 1, sizes, HOLO_MAX_RANK);
    if (e->status || rank < 1) return;
    HoloDtype t = holo_emit_dtype(at);
    for (int i = rank - 1; i >= 0; i--) {
        part[i] = holo_flow_two(c, "Div", at, holo_emit_number(e, t, (double)stride));
        part[i] = holo_flow_two(c, "Mod", part[i], holo_emit_number(e, t, (double)(sizes[i] > 0 ? sizes[i] : 1)));
        part[i] = holo_emit_unsqueeze(e, part[i], &zero, 1);
        if (!holo_mul(stride, sizes[i] > 0 ? sizes[i] : 1, &stride))
            return holo_flow_fail(c, HOLO_BAD_MODEL, "the sizes are too large");
    }
    holo_flow_out(c, 0, holo_emit(e, "Concat", (HoloEmitIn){rank, part}, HOLO_ATTRS(holo_with_int("axis", 0))));
}

// Rows of a tensor are replaced, or something is added to them. onnx: the operator that does so by places.
static void change_rows(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *rows = holo_flow_vector(c, holo_flow_in(c, 1)), *by = holo_flow_in(c, 2);
    int64_t    last = -1, zero = 0;
    if (c->e->status) return;
    if (holo_emit_rank(c->in[1].value) == 0) by = holo_emit_unsqueeze(c->e, by, &zero, 1);
    HoloValue *in[] = {x, holo_emit_unsqueeze(c->e, rows, &last, 1), by};
    holo_flow_out(c, 0, holo_flow_as(c, c->op->onnx, in, 3));
}

// A slice of a tensor is replaced: the places of its elements are sliced in the same way.
static void change_slice(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *by = holo_flow_in(c, 4), *in[4];
    int64_t    all = -1, pair[] = {-1, 1};
    if (e->status) return;
    HoloValue *shape = holo_emit_shape(e, x);
    HoloValue *count = holo_emit(e, "ReduceProd", HOLO_IN(shape), HOLO_ATTRS(holo_with_int("keepdims", 0)));
    in[0]            = holo_flow_two(c, "Reshape", count_up(c, count), shape);
    for (int i = 1; i < 4; i++) in[i] = holo_flow_in(c, i);
    HoloValue *places = holo_flow_as(c, "StridedSlice", in, 4);
    if (e->status) return;
    by = holo_flow_two(c, "Expand", by, holo_emit_shape(e, places));
    x  = holo_emit(e, "ScatterND",
                   HOLO_IN(holo_emit_reshape(e, x, &all, 1), holo_emit_reshape(e, places, pair, 2),
                           holo_emit_reshape(e, by, &all, 1)),
                   NULL);
    holo_flow_out(c, 0, holo_flow_two(c, "Reshape", x, shape));
}

static void empty(HoloFlowCall *c)
{
    HoloDtype t = holo_flow_type(c, "dtype");
    holo_flow_out(c, 0,
                  holo_flow_filled(c, holo_flow_vector(c, holo_flow_in(c, 0)), holo_flow_zero(c, t ? t : HOLO_F32)));
}

// All inputs, one behind the other.
static void rows_together(HoloFlowCall *c)
{
    HoloValue *y = holo_flow_in(c, 0);
    for (int i = 1; i < c->in_count; i++) y = holo_flow_join(c, y, holo_flow_in(c, i));
    holo_flow_out(c, 0, y);
}

static void approximate_top(HoloFlowCall *c)
{
    HoloValue *out[2];
    int64_t    k = holo_flow_int(c, "k", 1), axis = holo_flow_int(c, "reduction_dimension", -1);
    holo_emit_many(
        c->e, "TopK", HOLO_IN(holo_flow_in(c, 0), holo_emit_ints(c->e, &k, 1)),
        HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("largest", holo_flow_bool(c, "is_max_k", true))), out, 2);
    holo_flow_out(c, 0, out[0]);
    holo_flow_out(c, 1, holo_emit_cast(c->e, out[1], HOLO_I32));
}

// ---- recognition: the best class of each step, without blanks and repetitions

// Which steps of [batch, steps] are kept.
static HoloValue *kept_steps(HoloFlowCall *c, HoloValue *best, HoloValue *inside, HoloValue *blank)
{
    HoloEmit  *e    = c->e;
    HoloValue *keep = holo_flow_two(c, "And", inside, holo_flow_one(c, "Not", holo_flow_two(c, "Equal", best, blank)));
    int64_t    pads[] = {0, 1, 0, -1};
    if (!holo_flow_bool(c, "merge_repeated", false)) return keep;
    HoloValue *was =
        holo_emit(e, "Pad", HOLO_IN(best, holo_emit_ints(e, pads, 4), holo_emit_int(e, -1)), NULL); // the step before
    return holo_flow_two(c, "And", keep, holo_flow_one(c, "Not", holo_flow_two(c, "Equal", best, was)));
}

static void ctc_greedy(HoloFlowCall *c)
{
    HoloEmit  *e      = c->e;
    int64_t    swap[] = {1, 0, 2}, last = -1, second = 1, pair[] = {1, 0}, blank = holo_flow_int(c, "blank_index", -1);
    HoloValue *x       = holo_emit_transpose(e, holo_flow_in(c, 0), swap, 3); // [batch, steps, classes]
    HoloValue *lengths = holo_emit_unsqueeze(e, holo_emit_cast(e, holo_flow_in(c, 1), HOLO_I64), &last, 1);
    if (holo_flow_rank(c, x) != 3) return;
    HoloValue *best =
        holo_emit(e, "ArgMax", HOLO_IN(x), HOLO_ATTRS(holo_with_int("axis", -1), holo_with_int("keepdims", 0)));
    HoloValue *none =
        blank < 0 ? holo_flow_two(c, "Add", size_of(c, x, 2), holo_emit_int(e, blank)) : holo_emit_int(e, blank);
    HoloValue *inside = holo_flow_two(c, "Less", count_up(c, size_of(c, x, 1)), lengths);
    HoloValue *keep = kept_steps(c, best, inside, none), *number = holo_emit_cast(e, keep, HOLO_I64);
    HoloValue *place  = holo_flow_two(c, "CumSum", number, holo_emit_int(e, 1)); // 1 is the first that is kept
    HoloValue *at     = holo_emit_transpose(e, holo_flow_one(c, "NonZero", keep), pair, 2);
    HoloValue *column = holo_flow_two(c, "Sub", holo_flow_two(c, "GatherND", place, at), holo_emit_int(e, 1));
    holo_flow_out(c, 0,
                  holo_emit(e, "Concat",
                            HOLO_IN(holo_emit_slice(e, at, 1, 0, 1, 1), holo_emit_unsqueeze(e, column, &second, 1)),
                            HOLO_ATTRS(holo_with_int("axis", 1))));
    holo_flow_out(c, 1, holo_flow_two(c, "GatherND", best, at));
    HoloValue *most =
        holo_emit(e, "ReduceMax", HOLO_IN(sum_last(c, number, false)), HOLO_ATTRS(holo_with_int("keepdims", 0)));
    holo_flow_out(c, 2, holo_flow_join(c, holo_flow_vector(c, size_of(c, x, 0)), holo_flow_vector(c, most)));
    HoloValue *score =
        holo_emit(e, "ReduceMax", HOLO_IN(x, holo_emit_ints(e, &last, 1)), HOLO_ATTRS(holo_with_int("keepdims", 0)));
    score = holo_emit(e, "Where", HOLO_IN(inside, score, holo_emit_number(e, holo_emit_dtype(x), 0)), NULL);
    holo_flow_out(c, 3, holo_flow_one(c, "Neg", sum_last(c, score, true)));
}

// ---- sounds

static void spectrogram(HoloFlowCall *c)
{
    holo_flow_out(c, 0,
                  holo_sound_spectrogram(c->e, holo_flow_in(c, 0), holo_flow_int(c, "window_size", 0),
                                         holo_flow_int(c, "stride", 0), holo_flow_bool(c, "magnitude_squared", false)));
}

static void mfcc(HoloFlowCall *c)
{
    HoloSoundMel mel = {
        holo_flow_float(c, "lower_frequency_limit", 20), holo_flow_float(c, "upper_frequency_limit", 4000),
        holo_flow_int(c, "filterbank_channel_count", 40), holo_flow_int(c, "dct_coefficient_count", 13)};
    HoloValue *x = holo_flow_in(c, 0);
    holo_flow_out(c, 0, holo_sound_mfcc(c->e, x, holo_flow_in(c, 1), &mel));
}

// ---- random numbers

static void random_whole(HoloFlowCall *c)
{
    HoloEmit  *e     = c->e;
    HoloValue *shape = holo_flow_vector(c, holo_flow_in(c, 0)), *low = holo_flow_in(c, 1), *high = holo_flow_in(c, 2);
    if (e->status) return;
    HoloValue *x = holo_flow_one(c, "RandomUniformLike", holo_flow_filled(c, shape, holo_emit_number(e, HOLO_F64, 0)));
    HoloValue *width = holo_emit_cast(e, holo_flow_two(c, "Sub", high, low), HOLO_F64);
    x                = holo_emit_cast(e, holo_flow_two(c, "Mul", x, width), holo_emit_dtype(low));
    holo_flow_out(c, 0, holo_flow_two(c, "Add", x, low));
}

static void multinomial(HoloFlowCall *c)
{
    int64_t   count;
    HoloDtype t = holo_flow_type(c, "output_dtype");
    if (holo_flow_known(c, 1, &count, 1) != 1) return;
    HoloValue *x = holo_emit(c->e, "Multinomial", HOLO_IN(holo_flow_in(c, 0)),
                             HOLO_ATTRS(holo_with_int("sample_size", count), holo_with_int("dtype", 7)));
    holo_flow_out(c, 0, holo_emit_cast(c->e, x, t ? t : HOLO_I64));
}

// clang-format off
const HoloFlowOp holo_flow_ops_more[] = {
    {"Xlog1py", x_log1p_y}, {"CumulativeLogsumexp", running_log_sum},
    {"SoftmaxCrossEntropyWithLogits", cross_entropy, NULL, 0, .outs = "loss backprop"},
    {"SparseSoftmaxCrossEntropyWithLogits", cross_entropy, NULL, 1, .outs = "loss backprop"},
    {"HistogramFixedWidth", histogram}, {"UnravelIndex", unravel},
    {"InplaceUpdate", change_rows, "TensorScatterUpdate"}, {"InplaceAdd", change_rows, "TensorScatterAdd"},
    {"InplaceSub", change_rows, "TensorScatterSub"}, {"TensorStridedSliceUpdate", change_slice},
    {"Empty", empty}, {"ParallelConcat", rows_together}, {"ApproxTopK", approximate_top, .outs = "values indices"},
    {"CTCGreedyDecoder", ctc_greedy, .outs = "decoded_indices decoded_values decoded_shape log_probability"},
    {"AudioSpectrogram", spectrogram}, {"Mfcc", mfcc}, {"RandomUniformInt", random_whole}, {"Multinomial", multinomial},
    {0},
};
