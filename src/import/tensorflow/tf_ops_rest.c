// tf_ops_rest.c - TensorFlow's operators that are others with a small change, cells of recurrent networks, transforms in
// two dimensions, sparse tensors as dense ones.
#include "import/tensorflow/tf_ops.h"

static void same(HoloFlowCall *c)
{
    if (c->in_count) holo_flow_out_value(c, 0, c->in[0]);
}

// Towards 0: ONNX divides whole numbers so.
static void truncate_div(HoloFlowCall *c)
{
    HoloValue *q        = holo_flow_binary(c, "Div", holo_flow_in(c, 0), holo_flow_in(c, 1));
    bool       is_whole = holo_dtype_class(holo_emit_dtype(q)) != HOLO_CLASS_FLOAT;
    if (c->e->status) return;
    holo_flow_out(c, 0,
                  is_whole ? q
                           : holo_flow_two(c, "Mul", holo_flow_one(c, "Sign", q),
                                           holo_flow_one(c, "Floor", holo_flow_one(c, "Abs", q))));
}

// Which interval each number is in: how many boundaries it has reached.
static void bucketize(HoloFlowCall *c)
{
    enum { COUNT_MAX = 4096 };
    HoloFlowAttrProto attr;
    HoloFlowListProto list = {0};
    HoloValue        *x    = holo_flow_in(c, 0);
    HoloTensor        t    = {.dtype = HOLO_F32, .rank = 1};
    float            *data = HOLO_NEW(c->tf->arena, float, COUNT_MAX);
    int64_t           last = -1;
    if (c->e->status || !data || !holo_flow_attr(c, "boundaries", &attr)) return;
    HoloStatus status = holo_pb_read(&c->tf->source, "ListValue", attr.list, holo_flow_list_fields, &list);
    if (status) return (void)(c->e->status = status);
    while (t.dim[0] < COUNT_MAX && holo_pb_next_fixed(&list.f, sizeof *data, &data[t.dim[0]])) t.dim[0]++;
    t.data           = data;
    HoloValue *marks = holo_emit_constant(c->e, NULL, &t);
    x                = holo_emit_unsqueeze(c->e, holo_emit_cast(c->e, x, HOLO_F32), &last, 1);
    x                = holo_emit_cast(c->e, holo_flow_two(c, "GreaterOrEqual", x, marks), HOLO_I32);
    holo_flow_out(c, 0,
                  holo_emit(c->e, "ReduceSum", HOLO_IN(x, holo_emit_ints(c->e, &last, 1)),
                            HOLO_ATTRS(holo_with_int("keepdims", 0))));
}

// Blocks of one size along both sides of images, as version 1 has them.
static void blocks(HoloFlowCall *c)
{
    int64_t    size[2] = {holo_flow_int(c, "block_size", 2), holo_flow_int(c, "block_size", 2)};
    HoloValue *in[]    = {holo_flow_in(c, 0), holo_emit_ints(c->e, size, 2), holo_flow_in(c, 1)};
    holo_flow_out(c, 0, holo_flow_as(c, c->op->onnx, in, 3));
}

// Is the score of each row's class among the k best? Classes that tie with the last count.
static void in_top_k(HoloFlowCall *c)
{
    HoloValue *scores = holo_flow_in(c, 0), *classes = holo_emit_cast(c->e, holo_flow_in(c, 1), HOLO_I64), *own, *k;
    int64_t    last = -1;
    if (c->e->status) return;
    k                 = c->in_count > 2 ? holo_emit_cast(c->e, holo_flow_in(c, 2), HOLO_I64)
                                        : holo_emit_int(c->e, holo_flow_int(c, "k", 1));
    own               = holo_emit(c->e, "GatherElements", HOLO_IN(scores, holo_emit_unsqueeze(c->e, classes, &last, 1)),
                                  HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloValue *better = holo_emit_cast(c->e, holo_flow_two(c, "Greater", scores, own), HOLO_I64);
    better            = holo_emit(c->e, "ReduceSum", HOLO_IN(better, holo_emit_ints(c->e, &last, 1)),
                                  HOLO_ATTRS(holo_with_int("keepdims", 0)));
    holo_flow_out(c, 0, holo_flow_two(c, "Less", better, k));
}

// The n-th smallest of each row, or the n-th largest.
static void nth(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *out[2];
    int64_t    n[2], zero = 0;
    if (c->e->status || holo_flow_known(c, 1, n, 2) != 1) return;
    HoloValue *count = holo_emit_unsqueeze(c->e, holo_emit_int(c->e, n[0] + 1), &zero, 1);
    holo_emit_many(c->e, "TopK", HOLO_IN(x, count),
                   HOLO_ATTRS(holo_with_int("axis", -1), holo_with_int("largest", holo_flow_bool(c, "reverse", false))),
                   out, 2);
    if (c->e->status) return;
    holo_flow_out(
        c, 0,
        holo_emit(c->e, "Gather", HOLO_IN(out[0], holo_emit_int(c->e, n[0])), HOLO_ATTRS(holo_with_int("axis", -1))));
}

// ---- layouts, which one of grappler's passes moves: sizes, pads or axes from one order of letters to another

static int64_t place_of(HoloString order, char letter)
{
    const char *at = order.size ? memchr(order.data, letter, order.size) : NULL;
    return at ? at - order.data : -1;
}

static void permuted(HoloFlowCall *c)
{
    HoloString from = holo_flow_string(c, "src_format", "NHWC"), to = holo_flow_string(c, "dst_format", "NCHW");
    int64_t    place[16];
    int        count = 0;
    HoloValue *x     = holo_flow_in(c, 0);
    if (c->e->status) return;
    bool is_short = x->type.rank > 0 && x->type.dim[0] == (HoloDim)from.size - 2; // without N and C
    for (size_t i = 0; i < to.size && i < 16; i++) {
        int64_t at = place_of(from, to.data[i]);
        if (at < 0) return holo_flow_fail(c, HOLO_BAD_MODEL, "the formats differ");
        if (!is_short)
            place[count++] = at;
        else if (!memchr("NC", to.data[i], 2)) {
            int64_t before = 0;
            for (int64_t k = 0; k < at; k++) before += !memchr("NC", from.data[k], 2);
            place[count++] = before;
        }
    }
    holo_flow_out(c, 0, holo_flow_two(c, "Gather", x, holo_emit_ints(c->e, place, count)));
}

static void axis_moved(HoloFlowCall *c)
{
    HoloString from = holo_flow_string(c, "src_format", "NHWC"), to = holo_flow_string(c, "dst_format", "NCHW");
    int64_t    table[16];
    HoloValue *x = holo_flow_in(c, 0);
    if (c->e->status || from.size > 16) return;
    for (size_t i = 0; i < from.size; i++)
        if ((table[i] = place_of(to, from.data[i])) < 0) return holo_flow_fail(c, HOLO_BAD_MODEL, "the formats differ");
    HoloValue *list = holo_emit_cast(c->e, holo_emit_ints(c->e, table, (int)from.size), holo_emit_dtype(x));
    holo_flow_out(c, 0, holo_flow_two(c, "Gather", list, x)); // an axis below 0 counts from the end in both
}

// ---- fused by grappler

// number: 1 if the image is resized before.
static void pad_conv(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    if (c->op->number)
        x = holo_flow_resized(c, x, holo_flow_in(c, 1), holo_flow_bool(c, "resize_align_corners", false));
    HoloValue *wide[] = {x, holo_flow_in(c, 1 + c->op->number)};
    HoloValue *in[]   = {holo_flow_as(c, "MirrorPad", wide, 2), holo_flow_in(c, 2 + c->op->number)};
    holo_flow_out(c, 0, holo_flow_as(c, "Conv2D", in, 2));
}

static void fused_products(HoloFlowCall *c)
{
    HoloValue *in[] = {holo_flow_in(c, 0), holo_flow_in(c, 1)};
    HoloString ops[4];
    HoloValue *y     = holo_flow_as(c, "BatchMatMulV2", in, 2);
    int        count = holo_flow_strings(c, "fused_ops", ops, 4);
    for (int i = 0; i < count && !c->e->status; i++) {
        bool is_mul = holo_flow_is(ops[i], "Mul") || holo_flow_is(ops[i], "BinaryMul");
        if (!is_mul && !holo_flow_is(ops[i], "Add") && !holo_flow_is(ops[i], "BinaryAdd"))
            return holo_flow_fail(c, HOLO_UNSUPPORTED, "fused with '%.*s'", HOLO_IMPORT_ARG(ops[i]));
        y = holo_flow_binary(c, is_mul ? "Mul" : "Add", y, holo_flow_in(c, 2 + i));
    }
    holo_flow_out(c, 0, y);
}

// ---- cells

static HoloValue *quarter(HoloFlowCall *c, HoloValue *x, HoloDim width, int64_t i)
{
    return holo_emit_slice(c->e, x, -1, i * width, (i + 1) * width, 1);
}

typedef struct Cell {
    HoloValue *x, *state, *before, *weights, *peep[3], *bias; // weights [x and output, 4 * width]
    double     forget, clip;
    HoloDim    width;
    bool       has_forget_second; // gates are i, f, c, o, not i, c, f, o
} Cell;

// One step: i, state, f, o, what is new, what is shown, output.
static void lstm_step(HoloFlowCall *c, const Cell *l, HoloValue **out)
{
    HoloValue *gate[4],
        *both      = holo_emit(c->e, "Concat", HOLO_IN(l->x, l->before), HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloValue *all = holo_flow_two(c, "Add", holo_flow_two(c, "MatMul", both, l->weights), l->bias), *was = l->state;
    for (int i = 0; i < 4; i++)
        gate[i] = quarter(c, all, l->width, l->has_forget_second && (i == 1 || i == 2) ? 3 - i : i);
    if (l->peep[0]) gate[0] = holo_flow_two(c, "Add", gate[0], holo_flow_two(c, "Mul", was, l->peep[0]));
    if (l->peep[1]) gate[2] = holo_flow_two(c, "Add", gate[2], holo_flow_two(c, "Mul", was, l->peep[1]));
    HoloValue *i = holo_flow_one(c, "Sigmoid", gate[0]), *fresh = holo_flow_one(c, "Tanh", gate[1]);
    HoloValue *f =
        holo_flow_one(c, "Sigmoid", holo_flow_two(c, "Add", gate[2], holo_emit_number(c->e, HOLO_F32, l->forget)));
    HoloValue *now = holo_flow_two(c, "Add", holo_flow_two(c, "Mul", f, was), holo_flow_two(c, "Mul", i, fresh));
    if (l->clip > 0)
        now = holo_emit(
            c->e, "Clip",
            HOLO_IN(now, holo_emit_number(c->e, HOLO_F32, -l->clip), holo_emit_number(c->e, HOLO_F32, l->clip)), NULL);
    if (l->peep[2]) gate[3] = holo_flow_two(c, "Add", gate[3], holo_flow_two(c, "Mul", now, l->peep[2]));
    HoloValue *o = holo_flow_one(c, "Sigmoid", gate[3]), *shown = holo_flow_one(c, "Tanh", now);
    HoloValue *all_out[] = {i, now, f, o, fresh, shown, holo_flow_two(c, "Mul", o, shown)};
    memcpy(out, all_out, sizeof all_out);
}

// Inputs from `first` on: x, state, output before, weights, three peepholes, bias.
static bool read_cell(HoloFlowCall *c, int first, Cell *l)
{
    HoloValue *in[8];
    for (int i = 0; i < 8; i++) in[i] = holo_flow_in(c, first + i);
    if (c->e->status) return false;
    *l = (Cell){in[0], in[1], in[2], in[3], {NULL}, in[7], .width = HOLO_DIM_UNKNOWN};
    for (int i = 0; i < 3 && holo_flow_bool(c, "use_peephole", false); i++) l->peep[i] = in[4 + i];
    if (in[1]->type.rank == 2) l->width = in[1]->type.dim[1];
    if (holo_dim_is_symbolic(l->width)) holo_flow_fail(c, HOLO_UNSUPPORTED, "the width of the cell must be known");
    return !c->e->status;
}

static void lstm_cell(HoloFlowCall *c)
{
    Cell       l;
    HoloValue *out[7];
    if (!read_cell(c, 0, &l)) return;
    l.clip   = holo_flow_float(c, "cell_clip", 3);
    l.forget = holo_flow_float(c, "forget_bias", 1);
    lstm_step(c, &l, out);
    for (int k = 0; k < 7; k++) holo_flow_out(c, k, out[k]);
}

// All steps of [steps, batch, width]; steps from the number in input 0 on give zeros. number: 1 is the second version.
static void lstm_block(HoloFlowCall *c)
{
    HoloEmit   body;
    Cell       l;
    HoloValue *out[7], *all[9], *x;
    int64_t    axes[] = {1, 2};
    if (!read_cell(c, 1, &l)) return;
    x                   = l.x;
    l.clip              = holo_flow_float(c, "cell_clip", c->op->number ? 0 : 3);
    l.forget            = c->op->number ? 0 : holo_flow_float(c, "forget_bias", 1);
    l.has_forget_second = c->op->number;
    holo_emit_begin_body(&body, c->e, "step");
    HoloFlowCall inner = *c;
    HoloTensor   step  = x->type;
    step.rank--;
    memmove(step.dim, step.dim + 1, (size_t)step.rank * sizeof *step.dim);
    step.data        = NULL;
    HoloTensor state = l.state->type;
    state.data       = NULL;
    inner.e          = &body;
    HoloEmitIn in    = HOLO_IN(l.state, l.before, x);
    l.state          = holo_emit_input(&body, NULL, &state);
    l.before         = holo_emit_input(&body, NULL, &state);
    l.x              = holo_emit_input(&body, NULL, &step);
    lstm_step(&inner, &l, out);
    holo_emit_output(&body, out[1], NULL);
    holo_emit_output(&body, out[6], NULL);
    for (int k = 0; k < 7; k++) holo_emit_output(&body, out[k], NULL);
    HoloEmitBody bodies[] = {{"body", &body}, {0}};
    holo_emit_control(c->e, "Scan", in, HOLO_ATTRS(holo_with_int("num_scan_inputs", 1)), bodies, all, 9);
    holo_emit_end(&body);
    HoloValue *steps  = holo_flow_two(c, "Gather", holo_emit_shape(c->e, x), holo_emit_int(c->e, 0));
    HoloValue *place  = holo_emit(c->e, "Range", HOLO_IN(holo_emit_int(c->e, 0), steps, holo_emit_int(c->e, 1)), NULL);
    HoloValue *counts = holo_flow_two(c, "Less", place, holo_emit_cast(c->e, holo_flow_in(c, 0), HOLO_I64));
    counts            = holo_emit_unsqueeze(c->e, counts, axes, 2);
    for (int k = 0; k < 7; k++)
        holo_flow_out(c, k,
                      holo_emit(c->e, "Where", HOLO_IN(counts, all[2 + k], holo_emit_number(c->e, HOLO_F32, 0)), NULL));
}

// x, state, weights of the gates r and u, weights of the new state, both biases.
static void gru_cell(HoloFlowCall *c)
{
    HoloValue *in[6];
    for (int i = 0; i < 6; i++) in[i] = holo_flow_in(c, i);
    if (c->e->status) return;
    HoloDim n = in[1]->type.rank == 2 ? in[1]->type.dim[1] : HOLO_DIM_UNKNOWN;
    if (holo_dim_is_symbolic(n)) return holo_flow_fail(c, HOLO_UNSUPPORTED, "the width of the cell must be known");
    HoloValue *both = holo_emit(c->e, "Concat", HOLO_IN(in[0], in[1]), HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloValue *gates =
        holo_flow_one(c, "Sigmoid", holo_flow_two(c, "Add", holo_flow_two(c, "MatMul", both, in[2]), in[4]));
    HoloValue *r = quarter(c, gates, n, 0), *u = quarter(c, gates, n, 1);
    both = holo_emit(c->e, "Concat", HOLO_IN(in[0], holo_flow_two(c, "Mul", r, in[1])),
                     HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloValue *fresh =
        holo_flow_one(c, "Tanh", holo_flow_two(c, "Add", holo_flow_two(c, "MatMul", both, in[3]), in[5]));
    HoloValue *rest  = holo_flow_two(c, "Sub", holo_emit_number(c->e, HOLO_F32, 1), u);
    HoloValue *out[] = {
        r, u, fresh, holo_flow_two(c, "Add", holo_flow_two(c, "Mul", u, in[1]), holo_flow_two(c, "Mul", rest, fresh))};
    for (int k = 0; k < 4; k++) holo_flow_out(c, k, out[k]);
}

// ---- sparse tensors: places, values, shape

static HoloValue *dense_of(HoloFlowCall *c, int first)
{
    HoloValue *values = holo_flow_in(c, first + 1);
    if (c->e->status) return NULL;
    HoloValue *in[] = {holo_flow_in(c, first), holo_flow_in(c, first + 2), values,
                       holo_flow_zero(c, holo_emit_dtype(values))};
    return holo_flow_as(c, "SparseToDense", in, 4);
}

static void sparse_product(HoloFlowCall *c)
{
    HoloValue *a = dense_of(c, 0), *b = holo_flow_in(c, 3);
    int64_t    perm[] = {1, 0};
    if (c->e->status) return;
    if (holo_flow_bool(c, "adjoint_a", false)) a = holo_emit_transpose(c->e, a, perm, 2);
    if (holo_flow_bool(c, "adjoint_b", false)) b = holo_emit_transpose(c->e, b, perm, 2);
    holo_flow_out(c, 0, holo_flow_two(c, "MatMul", a, b));
}

static void sparse_sum(HoloFlowCall *c)
{
    HoloValue *a = dense_of(c, 0), *axes = holo_flow_vector(c, holo_flow_in(c, 3));
    if (c->e->status) return;
    int64_t keep = holo_flow_bool(c, "keep_dims", false);
    holo_flow_out(c, 0, holo_emit(c->e, "ReduceSum", HOLO_IN(a, axes), HOLO_ATTRS(holo_with_int("keepdims", keep))));
}

static void sparse_plus_dense(HoloFlowCall *c)
{
    HoloValue *a = dense_of(c, 0), *b = holo_flow_in(c, 3);
    if (!c->e->status) holo_flow_out(c, 0, holo_flow_two(c, "Add", a, b));
}

// clang-format off
const HoloFlowOp holo_flow_ops_rest[] = {
    {"GuaranteeConst", same}, {"DeepCopy", same}, {"XlaSharding", same}, {"RefIdentity", same}, {"TruncateDiv", truncate_div},
    {"Bucketize", bucketize}, {"SpaceToBatch", blocks, "SpaceToBatchND"}, {"BatchToSpace", blocks, "BatchToSpaceND"},
    {"InTopK", in_top_k}, {"InTopKV2", in_top_k}, {"NthElement", nth},
    {"DataFormatVecPermute", permuted}, {"DataFormatDimMap", axis_moved},
    {"FusedPadConv2D", pad_conv}, {"FusedResizeAndPadConv2D", pad_conv, NULL, 1}, {"_FusedBatchMatMulV2", fused_products},
    {"LSTMBlockCell", lstm_cell, .outs = "i cs f o ci co h"}, {"BlockLSTM", lstm_block, NULL, 0, .outs = "i cs f o ci co h"},
    {"BlockLSTMV2", lstm_block, NULL, 1, .outs = "i cs f o ci co h"}, {"GRUBlockCell", gru_cell, .outs = "r u c h"},
    {"SparseTensorDenseMatMul", sparse_product}, {"SparseReduceSum", sparse_sum}, {"SparseTensorDenseAdd", sparse_plus_dense},
    {0},
};
