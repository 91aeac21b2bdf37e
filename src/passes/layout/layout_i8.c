// layout_i8.c - the rules of the pass `layout` for operators on quantized tensors, and between these and real ones.
//
// QLinearConv with constant filters becomes that of com.microsoft with channels last. ConvIntegerToFloat has channels
// last, too. The others follow their inputs.
#include "format/params.h"
#include "passes/layout/layout.h"

#include <string.h>

enum { INPUTS = 9 };

// The attributes of a node, and channels_last. NULL: no memory.
static HoloAttr *attrs_last(HoloLayout *l, const HoloNode *node, int *out_count)
{
    HoloAttr *attr = HOLO_NEW(l->scratch, HoloAttr, node->attr_count + 1);
    *out_count     = 0;
    for (int i = 0; attr && i < node->attr_count; i++)
        if (strcmp(node->attr[i].name, "channels_last")) attr[(*out_count)++] = node->attr[i];
    if (attr) attr[(*out_count)++] = (HoloAttr){.name = "channels_last", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    return attr;
}

// Applies that operator to the first input of `node`, with channels_last.
static bool to_last(HoloLayout *l, HoloNode *node, HoloOpId id)
{
    HoloValue *in[INPUTS];
    int        count;
    HoloAttr  *attr = attrs_last(l, node, &count);
    memcpy(in, node->in, (size_t)node->in_count * sizeof *in);
    in[0] = holo_layout_last(l, node->in[0]);
    holo_node_become(node, id, 1);
    return attr && in[0] && holo_layout_replace(l, node, in, node->in_count, attr, count);
}

static bool has_channels_last(const HoloNode *node)
{
    const HoloAttr *attr = holo_node_attr(node, "channels_last");
    return attr && attr->kind == HOLO_ATTR_INT && attr->i;
}

static bool filters_fit(const HoloNode *node, const HoloValue *w)
{
    return w && w->is_constant && w->type.data && node->in_count <= INPUTS && node->in[0]->type.rank >= 3 &&
           node->in[0]->type.rank <= 5 && holo_tensor_count(&w->type) > 0 &&
           holo_tensor_count(&w->type) / w->type.dim[0] <= HOLO_CONV_I8_LAST_K;
}

static bool conv(HoloLayout *l, HoloNode *node)
{
    return !filters_fit(node, node->in_count > 7 ? node->in[3] : NULL) ||
           to_last(l, node, HOLO_ID_MICROSOFT_QLinearConv);
}

static bool conv_real(HoloLayout *l, HoloNode *node)
{
    bool fits = !has_channels_last(node) && filters_fit(node, node->in_count > 3 ? node->in[1] : NULL);
    return !fits || to_last(l, node, node->op_id);
}

static bool pool(HoloLayout *l, HoloNode *node)
{
    if (!holo_layout_is_last(l, node->in[0]) || node->in_count > INPUTS || has_channels_last(node)) return true;
    return to_last(l, node, node->op_id);
}

// Works on each element of the first input, whatever the other inputs are.
static bool element(HoloLayout *l, HoloNode *node)
{
    HoloValue *in[INPUTS];
    if (!holo_layout_is_last(l, node->in[0]) || node->in_count > INPUTS) return true;
    memcpy(in, node->in, (size_t)node->in_count * sizeof *in);
    in[0] = holo_layout_last(l, node->in[0]);
    return in[0] && holo_layout_replace(l, node, in, node->in_count, node->attr, node->attr_count);
}

// The same with one scale and zero point.
static bool unary(HoloLayout *l, HoloNode *node)
{
    for (int i = 1; i < node->in_count; i++)
        if (node->in[i] && holo_tensor_count(&node->in[i]->type) != 1) return true;
    return element(l, node);
}

// Values that leave the graph are transposed as bytes, which are fewer.
static bool dequantize(HoloLayout *l, HoloNode *node)
{
    for (int i = 0; i < l->graph->output_count; i++)
        if (l->graph->outputs[i] == node->out[0]) return true;
    return unary(l, node);
}

// With two operands: inputs 0 and 3.
static bool binary(HoloLayout *l, HoloNode *node)
{
    HoloValue *in[INPUTS];
    int        rank = node->out[0]->type.rank;
    if (node->in_count < 4 || node->in_count > INPUTS || !node->in[3] ||
        (!holo_layout_is_last(l, node->in[0]) && !holo_layout_is_last(l, node->in[3])))
        return true;
    memcpy(in, node->in, (size_t)node->in_count * sizeof *in);
    for (int i = 0; i <= 3; i += 3) {
        const HoloValue *x = node->in[i];
        if (x->type.kind != HOLO_TENSOR || (x->type.rank != rank && !(x->is_constant && x->type.data))) return true;
    }
    for (int i = 0; i <= 3; i += 3)
        if (!(in[i] = holo_layout_operand(l, node->in[i], rank))) return false;
    return holo_layout_replace(l, node, in, node->in_count, node->attr, node->attr_count);
}

// Each part has three inputs, behind the first two. Done if more parts have channels last than would have to be
// transposed.
static bool concat(HoloLayout *l, HoloNode *node)
{
    const HoloAttr *axis = holo_node_attr(node, "axis");
    int             rank = node->out[0]->type.rank, balance = 0;
    HoloAttr        attr = {.name = "axis", .kind = HOLO_ATTR_INT, .count = 1};
    if (!axis || axis->kind != HOLO_ATTR_INT || axis->i < -rank || axis->i >= rank) return true;
    int64_t at = axis->i < 0 ? axis->i + rank : axis->i;
    attr.i     = at == 0 ? 0 : at == 1 ? rank - 1 : at - 1;
    for (int i = 2; i < node->in_count; i += 3) {
        if (!node->in[i] || node->in[i]->type.rank != rank) return true;
        balance += holo_layout_is_last(l, node->in[i]) ? 1 : node->in[i]->is_constant ? 0 : -1;
    }
    if (balance <= 0) return true;
    HoloValue **in = HOLO_NEW(l->scratch, HoloValue *, node->in_count);
    if (!in) return false;
    memcpy(in, node->in, (size_t)node->in_count * sizeof *in);
    for (int i = 2; i < node->in_count; i += 3)
        if (!(in[i] = holo_layout_last(l, node->in[i]))) return false;
    return holo_layout_replace(l, node, in, node->in_count, &attr, 1);
}

const HoloLayoutRule holo_layout_i8[] = {
    {HOLO_ID_QLinearConv, conv},
    {HOLO_ID_HOLOGRAM_ConvIntegerToFloat, conv_real},
    {HOLO_ID_MICROSOFT_QLinearAveragePool, pool},
    {HOLO_ID_MICROSOFT_QLinearGlobalAveragePool, pool},
    {HOLO_ID_MICROSOFT_QLinearSigmoid, unary},
    {HOLO_ID_MICROSOFT_QLinearLeakyRelu, unary},
    {HOLO_ID_QuantizeLinear, unary},
    {HOLO_ID_DequantizeLinear, dequantize},
    {HOLO_ID_HOLOGRAM_Lookup, element},
    {HOLO_ID_MICROSOFT_QLinearAdd, binary},
    {HOLO_ID_MICROSOFT_QLinearMul, binary},
    {HOLO_ID_MICROSOFT_QLinearConcat, concat},
    {0},
};
