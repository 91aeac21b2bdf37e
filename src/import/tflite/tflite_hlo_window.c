// tflite_hlo_window.c - windows, convolutions and sorting of StableHLO, and REDUCE_WINDOW of TensorFlow Lite.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

// ---- windows

enum { SPAN_MAX = 1 << 30 }; // of sizes, strides and dilations

typedef struct Window {
    int64_t     size[HOLO_MAX_RANK], stride[HOLO_MAX_RANK], dilation[HOLO_MAX_RANK];
    const char *join; // the operator of two elements
} Window;

// x at all places, joined with what lies `span` elements behind it: `other` begins there.
static HoloValue *join_shifted(HoloTfOp *op, const char *join, int axis, HoloValue *x, int64_t cut, HoloValue *other,
                               int64_t span)
{
    if (!x || !other) return NULL;
    x     = holo_emit_slice(op->e, x, axis, 0, -cut, 1);
    other = holo_emit_slice(op->e, other, axis, span, INT64_MAX, 1);
    return holo_tf_two(op, join, x, other);
}

// Windows along one dimension. A window of size 2n is two of size n beside each other, so that a large one takes few steps.
static HoloValue *window_axis(HoloTfOp *op, const Window *w, int axis, HoloValue *x)
{
    int64_t    size = w->size[axis], apart = w->dilation[axis], have = 0, stride = w->stride[axis];
    HoloValue *block = x, *all = NULL;
    if (size < 1 || apart < 1 || stride < 1 || size > SPAN_MAX || apart > SPAN_MAX || stride > SPAN_MAX)
        return holo_tf_fail(op, "its window is wrong");
    if (!holo_dim_is_symbolic(x->type.dim[axis]) && (size - 1) * apart >= x->type.dim[axis])
        return holo_tf_fail(op, "its window is larger than its input");
    for (int64_t n = 1; n <= size; n *= 2) {
        if (size & n) {
            all = all ? join_shifted(op, w->join, axis, all, n * apart, block, have * apart) : block;
            have += n;
        }
        if (2 * n <= size) block = join_shifted(op, w->join, axis, block, n * apart, block, n * apart);
    }
    return stride > 1 && all ? holo_emit_slice(op->e, all, axis, 0, INT64_MAX, stride) : all;
}

// All windows of x, whose first element is input 1.
static void windows(HoloTfOp *op, const Window *w, HoloValue *x, HoloValue *first)
{
    for (int d = 0; x && d < x->type.rank; d++) x = window_axis(op, w, d, x);
    holo_tf_give(op, 0, holo_tf_two(op, w->join, x, first));
}

static HoloValue *scalar(HoloTfOp *op, HoloValue *x)
{
    return x && x->type.rank > 0 ? holo_emit_reshape(op->e, x, NULL, 0) : x;
}

void holo_tf_reduce_window(HoloTfOp *op) // x, first, sizes, strides, dilations
{
    static const char *const joins[] = {NULL, "Add", "Mul", "Min", "Max", "And", "Or"};
    int64_t                  which   = holo_flat_i32(op->options, REDUCE_WINDOW_FUNCTION, 0);
    HoloValue               *x = holo_tf_in(op, 0), *first = scalar(op, holo_tf_in(op, 1));
    int                      n, m, k;
    Window                   w;
    if (!x || !first || !holo_tf_need_ints(op, 2, w.size, HOLO_MAX_RANK, &n) ||
        !holo_tf_need_ints(op, 3, w.stride, HOLO_MAX_RANK, &m) ||
        !holo_tf_need_ints(op, 4, w.dilation, HOLO_MAX_RANK, &k))
        return;
    if (n != x->type.rank || m != n || k != n) return (void)holo_tf_fail(op, "its lists have different lengths");
    if (which < 1 || which >= HOLO_COUNT(joins))
        return (void)holo_tf_fail(op, "its function %lld is not known", (long long)which);
    w.join = joins[which];
    windows(op, &w, x, first);
}

// A list of options for each dimension. Left out, all are 1.
static bool each_dimension(HoloTfOp *op, int field, int rank, int64_t *out)
{
    int n = holo_tf_hlo_longs(op, field, out, HOLO_MAX_RANK);
    if (n < 0) return false;
    for (int d = 0; n == 0 && d < rank; d++) out[d] = 1;
    if (n && n != rank) return holo_tf_fail(op, "its lists have different lengths"), false;
    return true;
}

// Pads of each dimension, before and behind, in the order of Pad. Less than 0: cut off.
static bool padding_read(HoloTfOp *op, int field, int rank, int64_t *out)
{
    int64_t pairs[2 * HOLO_MAX_RANK];
    int     n = holo_tf_hlo_longs(op, field, pairs, 2 * HOLO_MAX_RANK);
    if (n < 0) return false;
    if (n && n != 2 * rank) return holo_tf_fail(op, "its lists have different lengths"), false;
    for (int d = 0; d < rank; d++) {
        out[d]        = n ? pairs[2 * d] : 0;
        out[rank + d] = n ? pairs[2 * d + 1] : 0;
    }
    return true;
}

static HoloValue *padded(HoloTfOp *op, HoloValue *x, const int64_t *pads, HoloValue *by)
{
    int  rank  = x ? x->type.rank : 0;
    bool moves = false;
    for (int d = 0; d < 2 * rank; d++) moves = moves || pads[d];
    if (!x || !moves || !by) return x;
    return holo_emit(op->e, "Pad", HOLO_IN(x, holo_emit_ints(op->e, pads, 2 * rank), by), NULL);
}

void holo_tf_hlo_reduce_window(HoloTfOp *op)
{
    HoloValue *x = holo_tf_in(op, 0), *first = scalar(op, holo_tf_in(op, 1));
    int64_t    base[HOLO_MAX_RANK], pads[2 * HOLO_MAX_RANK];
    Window     w;
    int        rank = x ? x->type.rank : 0;
    if (!x || !first) return;
    if (op->in.count != 2) return (void)holo_tf_fail(op, "several inputs at once are not supported");
    if (!each_dimension(op, HLO_WINDOW_SIZES, rank, w.size) ||
        !each_dimension(op, HLO_WINDOW_STRIDES, rank, w.stride) || !each_dimension(op, HLO_WINDOW_BASE, rank, base) ||
        !padding_read(op, HLO_WINDOW_PADDING, rank, pads) ||
        !each_dimension(op, HLO_WINDOW_DILATIONS, rank, w.dilation))
        return;
    if (!(w.join = holo_tf_hlo_join(op, holo_flat_i32(op->options, HLO_WINDOW_BODY, -1)))) return;
    for (int d = 0; d < rank; d++) x = holo_tf_spread(op, x, d, base[d], first);
    windows(op, &w, padded(op, x, pads, first), first);
}

// ---- convolutions

// Where a tensor has its two special dimensions, and then those of the image, in the order of ONNX.
static bool order_read(HoloTfOp *op, int first, int second, int spatial, int rank, int64_t *out)
{
    bool used[HOLO_MAX_RANK] = {false};
    out[0]                   = holo_flat_i64(op->options, first, 0);
    out[1]                   = holo_flat_i64(op->options, second, 0);
    bool ok                  = holo_tf_hlo_longs(op, spatial, out + 2, HOLO_MAX_RANK - 2) == rank - 2;
    for (int d = 0; ok && d < rank; d++) {
        ok = out[d] >= 0 && out[d] < rank && !used[out[d]];
        if (ok) used[out[d]] = true;
    }
    if (!ok) holo_tf_fail(op, "its dimensions are wrong");
    return ok;
}

// The image with elements put between its own, and pads. Some may cut off, so this is not left to Conv.
static HoloValue *conv_image(HoloTfOp *op, HoloValue *x, const int64_t *apart, const int64_t *pads, int images)
{
    int64_t    all[2 * HOLO_MAX_RANK] = {0};
    HoloValue *zero                   = holo_tf_like(op, x, 0);
    for (int d = 0; d < images; d++) {
        all[2 + d]              = pads[d];
        all[images + 2 + 2 + d] = pads[images + d];
        x                       = holo_tf_spread(op, x, 2 + d, apart[d], zero);
    }
    return padded(op, x, all, zero);
}

static HoloValue *conv_kernel(HoloTfOp *op, HoloValue *w, int images)
{
    HoloFlatList reversal = holo_flat_list(op->options, HLO_CONV_REVERSAL, 1);
    for (int d = 0; w && d < images && (size_t)d < reversal.count; d++)
        if (holo_flat_list_bytes(reversal)[d]) w = holo_emit_slice(op->e, w, 2 + d, -1, INT64_MIN + 1, -1);
    return w;
}

void holo_tf_hlo_convolution(HoloTfOp *op)
{
    HoloValue *x = holo_tf_real(op, 0), *w = holo_tf_real(op, 1);
    int64_t    order[3][HOLO_MAX_RANK], strides[HOLO_MAX_RANK], apart[HOLO_MAX_RANK], dilations[HOLO_MAX_RANK],
        pads[2 * HOLO_MAX_RANK], back[HOLO_MAX_RANK], groups = holo_flat_i64(op->options, HLO_CONV_GROUPS, 1);
    int rank = x ? x->type.rank : -1, images = rank - 2;
    if (!x || !w) return;
    if (rank < 3 || w->type.rank != rank) return (void)holo_tf_fail(op, "its ranks are wrong");
    if (holo_flat_i64(op->options, HLO_CONV_BATCH_GROUPS, 1) != 1)
        return (void)holo_tf_fail(op, "groups of the batch are not supported: they appear in training alone");
    if (!order_read(op, HLO_CONV_IN_BATCH, HLO_CONV_IN_FEATURE, HLO_CONV_IN_SPATIAL, rank, order[0]) ||
        !order_read(op, HLO_CONV_KERNEL_OUT, HLO_CONV_KERNEL_IN, HLO_CONV_KERNEL_SPATIAL, rank, order[1]) ||
        !order_read(op, HLO_CONV_OUT_BATCH, HLO_CONV_OUT_FEATURE, HLO_CONV_OUT_SPATIAL, rank, order[2]) ||
        !each_dimension(op, HLO_CONV_STRIDES, images, strides) || !padding_read(op, HLO_CONV_PADDING, images, pads) ||
        !each_dimension(op, HLO_CONV_LHS_DILATION, images, apart) ||
        !each_dimension(op, HLO_CONV_RHS_DILATION, images, dilations))
        return;
    for (int d = 0; d < rank; d++) back[order[2][d]] = d;
    x = holo_tf_transpose(op, x, order[0], rank);
    w = holo_tf_transpose(op, w, order[1], rank);
    x = x ? conv_image(op, x, apart, pads, images) : NULL;
    w = conv_kernel(op, w, images);
    if (!x || !w) return;
    HoloValue *y =
        holo_emit(op->e, "Conv", HOLO_IN(x, w),
                  HOLO_ATTRS(holo_with_ints("strides", strides, images), holo_with_ints("dilations", dilations, images),
                             holo_with_int("group", groups)));
    holo_tf_give_real(op, 0, y ? holo_tf_transpose(op, y, back, rank) : NULL);
}

// ---- sorting

// Which of the inputs is compared: its number, and whether the largest come first. -1 and a failure: it is another body.
static int comparison(HoloTfOp *op, bool *largest)
{
    enum { LESS = 58, GREATER = 61, HLO_COMPARE = 191 };
    int64_t       subgraph = holo_flat_i32(op->options, HLO_SORT_COMPARATOR, -1);
    HoloFlatTable table, body = holo_flat_list_table(op->im->subgraphs, subgraph < 0 ? SIZE_MAX : (size_t)subgraph);
    HoloFlatList  inputs = holo_flat_list(body, SUBGRAPH_INPUTS, 4);
    int64_t       code = holo_tf_hlo_body_code(op, subgraph, &table), side[2] = {-1, -1};
    HoloFlatList  in  = holo_flat_list(table, OPERATOR_INPUTS, 4);
    int64_t       way = code == LESS ? 5 : code == GREATER ? 3 : 0;
    if (code == HLO_COMPARE && holo_flat_u8(table, OPERATOR_OPTIONS_2_TYPE, 0) == 8)
        way = holo_flat_u32(holo_flat_table(table, OPERATOR_OPTIONS_2), HLO_COMPARE_DIRECTION, 0);
    for (size_t k = 0; k < 2 && in.count == 2; k++)
        for (size_t i = 0; i < inputs.count; i++)
            if (holo_flat_list_i32(inputs, i) == holo_flat_list_i32(in, k)) side[k] = (int64_t)i;
    bool swapped = side[0] > side[1];
    if (way < 2 || way > 5 || side[0] < 0 || side[0] / 2 != side[1] / 2 || side[0] == side[1] ||
        (size_t)(side[0] / 2) >= op->in.count)
        return holo_tf_fail(op, "its subgraph is not one comparison of two elements"), -1;
    *largest = (way == 2 || way == 3) != swapped;
    return (int)(side[0] / 2);
}

// One input is sorted, and the others move with it.
void holo_tf_hlo_sort(HoloTfOp *op)
{
    bool       largest = false;
    int        key     = comparison(op, &largest);
    HoloValue *x       = key < 0 ? NULL : holo_tf_in(op, key), *out[2];
    if (!x || x->type.rank < 1) return;
    int64_t axis = holo_tf_axis(op, holo_flat_i64(op->options, HLO_SORT_DIMENSION, -1), x->type.rank);
    if (axis < 0) return;
    holo_emit_many(
        op->e, "TopK", HOLO_IN(x, holo_emit_sizes(op->e, &x->type.dim[axis], 1)),
        HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("largest", largest), holo_with_int("sorted", 1)), out, 2);
    for (size_t i = 0; i < op->in.count && i < op->out.count && !op->e->status; i++) {
        HoloValue *other = (int)i == key ? NULL : holo_tf_in(op, (int)i);
        holo_tf_give(op, (int)i,
                     (int)i == key ? out[0]
                     : other       ? holo_emit(op->e, "GatherElements", HOLO_IN(other, out[1]),
                                               HOLO_ATTRS(holo_with_int("axis", axis)))
                                   : NULL);
    }
}

// ---- random numbers

void holo_tf_hlo_random_bits(HoloTfOp *op)
{
    enum { THREEFRY = 2 };
    HoloValue          *state = holo_tf_in(op, 0), *out[2];
    const HoloTfTensor *y     = holo_tf_tensor_out(op, 1);
    int64_t             way   = holo_flat_i8(op->options, HLO_RNG_ALGORITHM, 0);
    if (!state || !y) return;
    if (way < 0 || way > THREEFRY) return (void)holo_tf_fail(op, "its way to count is not known");
    for (int d = 0; d < y->shape.rank; d++)
        if (holo_dim_is_symbolic(y->shape.dim[d])) return (void)holo_tf_fail(op, "the sizes of its output are open");
    holo_emit_many(op->e, "hologram::RandomBits", HOLO_IN(state),
                   HOLO_ATTRS(holo_with_int("threefry", way == THREEFRY), holo_with_int("dtype", y->dtype),
                              holo_with_ints("shape", y->shape.dim, y->shape.rank)),
                   out, 2);
    if (op->e->status) return;
    holo_tf_give(op, 0, out[0]);
    holo_tf_give(op, 1, out[1]);
}
