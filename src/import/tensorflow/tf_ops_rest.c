// tf_ops_rest.c - TensorFlow's operators that are others with a small change, cells of recurrent networks, transforms in
// two dimensions, sparse tensors as dense ones.
#include "import/tensorflow/tf_ops.h"

static HoloValue *two(HoloFlowCall *c, const char *op, HoloValue *a, HoloValue *b)
{
    return holo_emit(c->e, op, HOLO_IN(a, b), NULL);
}

static HoloValue *one(HoloFlowCall *c, const char *op, HoloValue *a)
{
    return holo_emit(c->e, op, HOLO_IN(a), NULL);
}

static void same(HoloFlowCall *c)
{
    if (c->in_count) holo_flow_out_value(c, 0, c->in[0]);
}

static void reciprocal(HoloFlowCall *c)
{
    holo_flow_out(c, 0, one(c, "Reciprocal", holo_flow_in(c, 0)));
}

// Towards 0: ONNX divides whole numbers so.
static void truncate_div(HoloFlowCall *c)
{
    HoloValue *q        = holo_flow_binary(c, "Div", holo_flow_in(c, 0), holo_flow_in(c, 1));
    bool       is_whole = holo_dtype_class(holo_emit_dtype(q)) != HOLO_CLASS_FLOAT;
    if (c->e->status) return;
    holo_flow_out(c, 0, is_whole ? q : two(c, "Mul", one(c, "Sign", q), one(c, "Floor", one(c, "Abs", q))));
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
    x                = holo_emit_cast(c->e, two(c, "GreaterOrEqual", x, marks), HOLO_I32);
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
    HoloValue *better = holo_emit_cast(c->e, two(c, "Greater", scores, own), HOLO_I64);
    better            = holo_emit(c->e, "ReduceSum", HOLO_IN(better, holo_emit_ints(c->e, &last, 1)),
                                  HOLO_ATTRS(holo_with_int("keepdims", 0)));
    holo_flow_out(c, 0, two(c, "Less", better, k));
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
    holo_flow_out(c, 0, two(c, "Gather", x, holo_emit_ints(c->e, place, count)));
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
    holo_flow_out(c, 0, two(c, "Gather", list, x)); // an axis below 0 counts from the end in both
}

// ---- fused by grappler

static void pad_conv(HoloFlowCall *c)
{
    HoloString mode = holo_flow_string(c, "mode", "REFLECT");
    HoloValue *x    = holo_flow_in(c, 0);
    int64_t    pads[16], onnx[16];
    int        count = holo_flow_known(c, 1, pads, 16);
    if (c->e->status) return;
    for (int i = 0; i < count / 2; i++) {
        onnx[i]             = pads[2 * i];
        onnx[count / 2 + i] = pads[2 * i + 1];
    }
    if (!holo_flow_is(mode, "REFLECT")) // SYMMETRIC repeats the edge, which ONNX cannot say
        for (int i = 0; i < count; i++)
            if (pads[i]) return holo_flow_fail(c, HOLO_UNSUPPORTED, "symmetric padding");
    x               = holo_emit(c->e, "Pad", HOLO_IN(x, holo_emit_ints(c->e, onnx, count)),
                                HOLO_ATTRS(holo_with_text("mode", "reflect")));
    HoloValue *in[] = {x, holo_flow_in(c, 2)};
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

// x, state, output before, weights [x and output, 4 * width], three peepholes, bias: gates are i, c, f, o.
static void lstm_cell(HoloFlowCall *c)
{
    HoloValue *in[8], *gate[4], *peep[3] = {NULL};
    for (int i = 0; i < 8; i++) in[i] = holo_flow_in(c, i);
    if (c->e->status) return;
    double  clip = holo_flow_float(c, "cell_clip", -1);
    HoloDim n    = in[1]->type.rank == 2 ? in[1]->type.dim[1] : HOLO_DIM_UNKNOWN;
    if (holo_dim_is_symbolic(n)) return holo_flow_fail(c, HOLO_UNSUPPORTED, "the width of the cell must be known");
    HoloValue *both = holo_emit(c->e, "Concat", HOLO_IN(in[0], in[2]), HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloValue *all = two(c, "Add", two(c, "MatMul", both, in[3]), in[7]), *was = in[1];
    for (int i = 0; i < 4; i++) gate[i] = quarter(c, all, n, i);
    for (int i = 0; i < 3 && holo_flow_bool(c, "use_peephole", false); i++) peep[i] = in[4 + i];
    if (peep[0]) gate[0] = two(c, "Add", gate[0], two(c, "Mul", was, peep[0]));
    if (peep[1]) gate[2] = two(c, "Add", gate[2], two(c, "Mul", was, peep[1]));
    HoloValue *i = one(c, "Sigmoid", gate[0]), *fresh = one(c, "Tanh", gate[1]),
              *f   = one(c, "Sigmoid",
                         two(c, "Add", gate[2], holo_emit_number(c->e, HOLO_F32, holo_flow_float(c, "forget_bias", 1))));
    HoloValue *now = two(c, "Add", two(c, "Mul", f, was), two(c, "Mul", i, fresh));
    if (clip > 0)
        now = holo_emit(c->e, "Clip",
                        HOLO_IN(now, holo_emit_number(c->e, HOLO_F32, -clip), holo_emit_number(c->e, HOLO_F32, clip)),
                        NULL);
    if (peep[2]) gate[3] = two(c, "Add", gate[3], two(c, "Mul", now, peep[2]));
    HoloValue *o = one(c, "Sigmoid", gate[3]), *shown = one(c, "Tanh", now);
    HoloValue *out[] = {i, now, f, o, fresh, shown, two(c, "Mul", o, shown)};
    for (int k = 0; k < 7; k++) holo_flow_out(c, k, out[k]);
}

// x, state, weights of the gates r and u, weights of the new state, both biases.
static void gru_cell(HoloFlowCall *c)
{
    HoloValue *in[6];
    for (int i = 0; i < 6; i++) in[i] = holo_flow_in(c, i);
    if (c->e->status) return;
    HoloDim n = in[1]->type.rank == 2 ? in[1]->type.dim[1] : HOLO_DIM_UNKNOWN;
    if (holo_dim_is_symbolic(n)) return holo_flow_fail(c, HOLO_UNSUPPORTED, "the width of the cell must be known");
    HoloValue *both  = holo_emit(c->e, "Concat", HOLO_IN(in[0], in[1]), HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloValue *gates = one(c, "Sigmoid", two(c, "Add", two(c, "MatMul", both, in[2]), in[4]));
    HoloValue *r = quarter(c, gates, n, 0), *u = quarter(c, gates, n, 1);
    both = holo_emit(c->e, "Concat", HOLO_IN(in[0], two(c, "Mul", r, in[1])), HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloValue *fresh = one(c, "Tanh", two(c, "Add", two(c, "MatMul", both, in[3]), in[5]));
    HoloValue *rest  = two(c, "Sub", holo_emit_number(c->e, HOLO_F32, 1), u);
    HoloValue *out[] = {r, u, fresh, two(c, "Add", two(c, "Mul", u, in[1]), two(c, "Mul", rest, fresh))};
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
    holo_flow_out(c, 0, two(c, "MatMul", a, b));
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
    if (!c->e->status) holo_flow_out(c, 0, two(c, "Add", a, b));
}

// clang-format off
const HoloFlowOp holo_flow_ops_rest[] = {
    {"GuaranteeConst", same}, {"DeepCopy", same}, {"Inv", reciprocal}, {"TruncateDiv", truncate_div},
    {"Bucketize", bucketize}, {"SpaceToBatch", blocks, "SpaceToBatchND"}, {"BatchToSpace", blocks, "BatchToSpaceND"},
    {"InTopK", in_top_k}, {"InTopKV2", in_top_k}, {"NthElement", nth},
    {"DataFormatVecPermute", permuted}, {"DataFormatDimMap", axis_moved},
    {"FusedPadConv2D", pad_conv}, {"_FusedBatchMatMulV2", fused_products},
    {"LSTMBlockCell", lstm_cell, .outs = "i cs f o ci co h"}, {"GRUBlockCell", gru_cell, .outs = "r u c h"},
    {"SparseTensorDenseMatMul", sparse_product}, {"SparseReduceSum", sparse_sum}, {"SparseTensorDenseAdd", sparse_plus_dense},
    {0},
};
