// integers_build.c - for the pass `integers`: the operators on integers that replace those on real numbers.
//
// Biases are integers in steps of the product of both scales; real biases are rounded to these.
#include "passes/narrow/integers.h"

#include "format/params.h"

#include <math.h>
#include <string.h>

enum { BIAS_MAX = 1 << 30 };

// The second operand of a product. It has one scale, or one for each index of a dimension.
typedef struct Weights {
    HoloValue *q, *scale, *zero; // zero NULL: 0
    HoloDtype  dtype;
} Weights;

// Constants, and what is quantized from constants.
static bool is_constant(const HoloValue *value)
{
    const HoloNode *node = value->producer;
    if (value->is_constant) return value->type.data != NULL;
    if (!node || !holo_node_has(node, HOLO_OP_QUANTIZES)) return false;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && !node->in[i]->is_constant) return false;
    return true;
}

// `axis` is the dimension of the scales, if there are several.
static bool weights_read(const HoloValue *value, int axis, Weights *out)
{
    const HoloNode *node = value ? value->producer : NULL;
    if (!node || !holo_node_has(node, HOLO_OP_DEQUANTIZES) || holo_node_int(node, "block_size", 0) ||
        value->type.dtype != HOLO_F32 || !node->in[0])
        return false;
    *out       = (Weights){.q = node->in[0], .scale = node->in[1], .zero = node->in_count > 2 ? node->in[2] : NULL};
    out->dtype = (HoloDtype)out->q->type.dtype;
    if ((out->dtype != HOLO_I8 && out->dtype != HOLO_U8) || !out->scale->is_constant || !out->scale->type.data ||
        out->scale->type.dtype != HOLO_F32 || (out->zero && !out->zero->is_constant))
        return false;
    int64_t count = holo_tensor_count(&out->scale->type), given = holo_node_int(node, "axis", 1);
    if (out->zero && holo_tensor_count(&out->zero->type) != count) return false;
    if (given < 0) given += out->q->type.rank;
    return count == 1 || (out->scale->type.rank == 1 && given == axis && count == out->q->type.dim[axis]);
}

static double scale_at(const Weights *w, int64_t i)
{
    return holo_get_f(&w->scale->type, holo_tensor_count(&w->scale->type) == 1 ? 0 : i);
}

// The real numbers of a bias, in `out`. The bias is a constant or is dequantized; integers count in steps of x and w.
static bool bias_read(const HoloValue *value, const HoloScaled *x, const Weights *w, int64_t count, double *out)
{
    const HoloNode   *node   = value->producer;
    bool              scaled = !value->is_constant && node && holo_node_has(node, HOLO_OP_DEQUANTIZES);
    const HoloValue  *from   = scaled ? node->in[0] : value;
    const HoloTensor *scale  = scaled ? &node->in[1]->type : NULL;
    if (!from || !from->is_constant || !from->type.data || holo_tensor_count(&from->type) != count ||
        from->type.dim[from->type.rank - 1] != count || from->type.dtype != (scaled ? HOLO_I32 : HOLO_F32))
        return false;
    if (scaled && (!node->in[1]->is_constant || scale->dtype != HOLO_F32 ||
                   (holo_tensor_count(scale) != 1 && holo_tensor_count(scale) != count)))
        return false;
    for (int64_t i = 0; i < count; i++) {
        float step = (float)x->scale * (float)scale_at(w, i), number = (float)holo_get_f(&from->type, i);
        float given = scaled ? (float)holo_get_f(scale, holo_tensor_count(scale) == 1 ? 0 : i) : 1;
        bool  same  = scaled && fabsf(given - step) <= 1e-3f * step;
        out[i]      = same ? holo_get_f(&from->type, i) : (double)rintf(number * given / step);
        if (!(fabs(out[i]) <= BIAS_MAX)) return false;
    }
    return true;
}

// The bias as integers; *out NULL: there is none. False: it cannot be integers.
static bool bias_make(HoloIntegers *s, const HoloNode *node, const HoloScaled *x, const Weights *w, int64_t count,
                      HoloValue **out)
{
    const HoloValue *value = node->in_count > 2 ? node->in[2] : NULL;
    *out                   = NULL;
    if (!value) return true;
    int32_t *data    = HOLO_NEW(s->rewrite.graph->arena, int32_t, count);
    double  *numbers = HOLO_NEW(s->rewrite.scratch, double, count);
    if (!data || !numbers) return s->failed = true, false;
    if (value->type.rank < 1 || !bias_read(value, x, w, count, numbers)) return false;
    for (int64_t i = 0; i < count; i++) data[i] = (int32_t)numbers[i];
    HoloTensor t = {.dtype = HOLO_I32, .rank = 1, .dim = {count}, .data = data};
    *out         = holo_graph_constant(s->rewrite.graph, value->name, &t);
    s->failed    = s->failed || !*out;
    return !s->failed;
}

// A zero point that is left out is 0.
static HoloValue *zero_of(HoloIntegers *s, const Weights *w)
{
    HoloScaled none = {.dtype = w->dtype};
    return w->zero ? w->zero : holo_integers_zero(s, &none);
}

static HoloValue *conv(HoloIntegers *s, HoloNode *node, const HoloScaled *y)
{
    HoloScaled x;
    Weights    w;
    HoloValue *bias;
    if (!y || node->in_count < 2 || !holo_integers_read(node->in[0], &x) || !weights_read(node->in[1], 0, &w) ||
        !is_constant(w.q) || (x.dtype == HOLO_I8 && w.dtype != HOLO_I8))
        return NULL;
    const HoloTensor *filters = &w.q->type;
    if (filters->rank != x.q->type.rank || filters->rank < 3 || filters->rank > 5 || holo_tensor_count(filters) <= 0)
        return NULL;
    if (!bias_make(s, node, &x, &w, filters->dim[0], &bias) || !holo_weights_fit(w.q, 0, w.zero, bias)) return NULL;
    HoloNode *made = holo_integers_node(s, node, HOLO_ID_QLinearConv, 10, bias ? 9 : 8, node->attr, node->attr_count,
                                        y->dtype, &node->out[0]->type);
    if (!made) return NULL;
    HoloValue *in[] = {x.q,
                       holo_integers_scale(s, &x),
                       holo_integers_zero(s, &x),
                       w.q,
                       w.scale,
                       zero_of(s, &w),
                       holo_integers_scale(s, y),
                       holo_integers_zero(s, y),
                       bias};
    memcpy(made->in, in, (size_t)made->in_count * sizeof *in);
    return s->failed ? NULL : made->out[0];
}

// One matrix, or many with one scale whose products are quantized again. k of the latter may be open: these are
// products of activations.
static bool are_matrices(const HoloScaled *a, const Weights *b, bool is_quantized)
{
    int     rank = b->q->type.rank;
    HoloDim k    = rank < 2 ? 0 : b->q->type.dim[rank - 2];
    if (rank < 2 || a->q->type.rank < 2) return false;
    if (holo_tensor_count(&b->q->type) >= 0 ? !holo_weights_fit(b->q, rank - 1, b->zero, NULL)
                                            : !holo_dim_is_symbolic(k) && k > holo_sum_i8_longest(255))
        return false;
    return rank == 2 ? !holo_dim_is_symbolic(k) : is_quantized && holo_tensor_count(&b->scale->type) == 1;
}

static HoloValue *matmul(HoloIntegers *s, HoloNode *node, const HoloScaled *y)
{
    HoloScaled a;
    Weights    b;
    if (!holo_integers_read(node->in[0], &a) || !weights_read(node->in[1], 1, &b) || !are_matrices(&a, &b, y))
        return NULL;
    HoloNode *made = holo_integers_node(s, node, y ? HOLO_ID_QLinearMatMul : HOLO_ID_MICROSOFT_MatMulIntegerToFloat,
                                        y ? 10 : 1, y ? 8 : 6, NULL, 0, y ? y->dtype : HOLO_F32, &node->out[0]->type);
    if (!made) return NULL;
    HoloValue *a_scale = holo_integers_scale(s, &a), *a_zero = holo_integers_zero(s, &a), *b_zero = zero_of(s, &b);
    if (y) {
        HoloValue *in[] = {
            a.q, a_scale, a_zero, b.q, b.scale, b_zero, holo_integers_scale(s, y), holo_integers_zero(s, y)};
        memcpy(made->in, in, sizeof in);
    } else {
        HoloValue *in[] = {a.q, b.q, a_scale, b.scale, a_zero, b_zero};
        memcpy(made->in, in, sizeof in);
    }
    return s->failed ? NULL : made->out[0];
}

static HoloValue *gemm(HoloIntegers *s, HoloNode *node, const HoloScaled *y)
{
    bool       transposed = holo_node_int(node, "transB", 0) != 0;
    HoloScaled a;
    Weights    b;
    HoloValue *bias;
    if (holo_node_int(node, "transA", 0) || holo_node_float(node, "alpha", 1) != 1 ||
        holo_node_float(node, "beta", 1) != 1 || !holo_integers_read(node->in[0], &a) ||
        !weights_read(node->in[1], transposed ? 0 : 1, &b) || !is_constant(b.q) || b.q->type.rank != 2)
        return NULL;
    if (!bias_make(s, node, &a, &b, b.q->type.dim[!transposed], &bias) ||
        !holo_weights_fit(b.q, transposed ? 0 : 1, b.zero, bias))
        return NULL;
    HoloAttr  attr = {.name = "transB", .kind = HOLO_ATTR_INT, .count = 1, .i = transposed};
    HoloNode *made = holo_integers_node(s, node, HOLO_ID_MICROSOFT_QGemm, 1,
                                        y      ? 9
                                        : bias ? 7
                                               : 6,
                                        &attr, 1, y ? y->dtype : HOLO_F32, &node->out[0]->type);
    if (!made) return NULL;
    HoloValue *in[] = {
        a.q,  holo_integers_scale(s, &a),           holo_integers_zero(s, &a),          b.q, b.scale, zero_of(s, &b),
        bias, y ? holo_integers_scale(s, y) : NULL, y ? holo_integers_zero(s, y) : NULL};
    memcpy(made->in, in, (size_t)made->in_count * sizeof *in);
    return s->failed ? NULL : made->out[0];
}

HoloValue *holo_integers_product(HoloIntegers *s, HoloNode *node, const HoloScaled *y)
{
    bool is_conv = HOLO_IS(node, Conv), is_matmul = HOLO_IS(node, MatMul);
    if (!(is_conv || is_matmul || HOLO_IS(node, Gemm)) || node->in_count < 2 || !node->in[0] || !node->in[1])
        return NULL;
    return is_conv ? conv(s, node, y) : is_matmul ? matmul(s, node, y) : gemm(s, node, y);
}

// ---- operators with one or two operands, each with its scale and zero point; those of the result come last

enum { OPERANDS = 2 };

static const struct {
    HoloOpId id, made;
    int      operands;
    bool     wants_version; // in the attribute `opset`
} rows[] = {
    {HOLO_ID_Add, HOLO_ID_MICROSOFT_QLinearAdd, 2, false},
    {HOLO_ID_Mul, HOLO_ID_MICROSOFT_QLinearMul, 2, false},
    {HOLO_ID_Sigmoid, HOLO_ID_MICROSOFT_QLinearSigmoid, 1, false},
    {HOLO_ID_LeakyRelu, HOLO_ID_MICROSOFT_QLinearLeakyRelu, 1, false},
    {HOLO_ID_AveragePool, HOLO_ID_MICROSOFT_QLinearAveragePool, 1, false},
    {HOLO_ID_GlobalAveragePool, HOLO_ID_MICROSOFT_QLinearGlobalAveragePool, 1, false},
    {HOLO_ID_Softmax, HOLO_ID_MICROSOFT_QLinearSoftmax, 1, true},
};

// A part in the steps of the result: unchanged, or dequantized and quantized again, which is a table.
static HoloValue *concat_part(HoloIntegers *s, const HoloNode *node, HoloValue *value, const HoloScaled *x,
                              const HoloScaled *y)
{
    if (holo_integers_equal(x, y)) return x->q;
    HoloNode *made = holo_integers_node(s, node, HOLO_ID_QuantizeLinear, 13, 3, NULL, 0, y->dtype, &value->type);
    if (!made) return NULL;
    made->in[0] = value;
    made->in[1] = holo_integers_scale(s, y);
    made->in[2] = holo_integers_zero(s, y);
    return made->out[0];
}

static HoloValue *concat(HoloIntegers *s, HoloNode *node, const HoloScaled *y)
{
    HoloScaled x;
    for (int i = 0; i < node->in_count; i++)
        if (!holo_integers_read(node->in[i], &x) || x.dtype != y->dtype) return NULL;
    HoloNode *made = holo_integers_node(s, node, HOLO_ID_Concat, node->version, node->in_count, node->attr,
                                        node->attr_count, y->dtype, &node->out[0]->type);
    for (int i = 0; made && i < node->in_count && !s->failed; i++) {
        holo_integers_read(node->in[i], &x);
        made->in[i] = concat_part(s, node, node->in[i], &x, y);
    }
    return made && !s->failed ? made->out[0] : NULL;
}

HoloValue *holo_integers_pointwise(HoloIntegers *s, HoloNode *node, const HoloScaled *y)
{
    HoloScaled x[OPERANDS];
    int        k = 0;
    if (HOLO_IS(node, Concat)) return concat(s, node, y);
    while (k < HOLO_COUNT(rows) && node->op_id != rows[k].id) k++;
    if (k == HOLO_COUNT(rows) || node->in_count != rows[k].operands) return NULL;
    for (int i = 0; i < rows[k].operands; i++)
        if (!holo_integers_read(node->in[i], &x[i]) || x[i].dtype != y->dtype) return NULL;
    HoloAttr *attr = HOLO_NEW(s->rewrite.scratch, HoloAttr, node->attr_count + 1);
    if (!attr) return s->failed = true, NULL;
    if (node->attr_count) memcpy(attr, node->attr, (size_t)node->attr_count * sizeof *attr);
    attr[node->attr_count] = (HoloAttr){.name = "opset", .kind = HOLO_ATTR_INT, .count = 1, .i = node->version};
    HoloNode *made         = holo_integers_node(s, node, rows[k].made, 1, 3 * rows[k].operands + 2, attr,
                                                node->attr_count + rows[k].wants_version, y->dtype, &node->out[0]->type);
    if (!made) return NULL;
    // For short rows QLinearSoftmax differs a lot, and with ceil_mode QLinearAveragePool counts what lies outside.
    s->is_own = s->is_own || rows[k].wants_version || holo_node_int(node, "ceil_mode", 0);
    for (int i = 0; i < rows[k].operands; i++) {
        made->in[3 * i]     = x[i].q;
        made->in[3 * i + 1] = holo_integers_scale(s, &x[i]);
        made->in[3 * i + 2] = holo_integers_zero(s, &x[i]);
    }
    made->in[3 * rows[k].operands]     = holo_integers_scale(s, y);
    made->in[3 * rows[k].operands + 1] = holo_integers_zero(s, y);
    return s->failed ? NULL : made->out[0];
}
