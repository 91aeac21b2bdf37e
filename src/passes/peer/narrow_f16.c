// narrow_f16.c - which nodes of f16 read and give numbers that are rounded to f16, as they do in ONNX Runtime.
//
// It has kernels of f16 for what moves elements and for a few others; around all else it puts Casts to f32 and back, and
// takes away those that meet. A node with a kernel of f16 whose neighbors are all without is run in f32, too. So numbers
// are rounded where two that move them stand in a row, and where their sizes are asked for, and nowhere else. Following that
// rule here costs next to nothing, and a model of f16 gives what it gives there.
#include "passes/peer/narrow_f16.h"

#include "passes/rewrite.h"

#include <string.h>

// Operators with kernels of f16 there, from the version on. Those that have none are the rule. What does not compute gives
// numbers of f16 where it is given such.
static const struct {
    const char *type, *domain;
    int         version;
    bool        computes;
} narrow[] = {
    {"Attention", "", 1, true},
    {"Cast", "", 1, false},
    {"CastLike", "", 1, false},
    {"Clip", "", 12, false},
    {"Compress", "", 1, false},
    {"Concat", "", 1, false},
    {"DequantizeLinear", "", 1, true},
    {"Expand", "", 1, false},
    {"Flatten", "", 1, false},
    {"Gather", "", 1, false},
    {"GatherElements", "", 1, false},
    {"GatherND", "", 1, false},
    {"Identity", "", 1, false},
    {"IsInf", "", 1, false},
    {"IsNaN", "", 1, false},
    {"LayerNormalization", "", 1, true},
    {"Max", "", 12, false},
    {"Min", "", 12, false},
    {"Mod", "", 1, false},
    {"QuantizeLinear", "", 1, false},
    {"RMSNormalization", "", 1, true},
    {"Reshape", "", 1, false},
    {"ReverseSequence", "", 1, false},
    {"RotaryEmbedding", "", 1, true},
    {"Round", "", 1, false},
    {"ScatterElements", "", 1, false},
    {"ScatterND", "", 1, false},
    {"Shape", "", 1, false},
    {"Sign", "", 1, false},
    {"SimplifiedLayerNormalization", "", 1, true},
    {"Slice", "", 1, false},
    {"Split", "", 1, false},
    {"Squeeze", "", 1, false},
    {"Transpose", "", 1, false},
    {"Unsqueeze", "", 1, false},
    {"GroupQueryAttention", "com.microsoft", 1, true},
    {"MatMulNBits", "com.microsoft", 1, true},
    {"RotaryEmbedding", "com.microsoft", 1, true},
    {"SkipLayerNormalization", "com.microsoft", 1, true},
    {"SkipSimplifiedLayerNormalization", "com.microsoft", 1, true},
};

static bool is_f16(const HoloValue *value)
{
    return value && value->type.kind == HOLO_TENSOR && value->type.dtype == HOLO_F16;
}

// Does the node have no effect because of the number that is its second input, or its first?
static bool is_neutral(const HoloNode *node, const char *type, double neutral, int i)
{
    double number;
    return holo_node_is(node, type) && node->in_count == 2 && node->in[i] && holo_value_number(node->in[i], &number) &&
           number == neutral && node->in[1 - i] && holo_type_equal(&node->in[1 - i]->type, &node->out[0]->type);
}

// Is what the node gives as large as its input, as numbers in the model say?
static bool is_as_large(const HoloNode *node)
{
    for (int i = 1; i < node->in_count; i++)
        if (node->in[i] && !node->in[i]->is_constant && !holo_contents_are_numbers(node->in[i])) return false;
    return node->in_count > 1 && holo_type_equal(&node->in[0]->type, &node->out[0]->type);
}

HoloValue *holo_narrow_same(const HoloNode *node)
{
    if (!node->out_count || !node->out[0] || !node->in_count || !node->in[0]) return NULL;
    if (holo_node_is(node, "Expand") && is_as_large(node)) return node->in[0];
    if (holo_node_is(node, "Slice") && is_as_large(node) && holo_slice_takes_all(node)) return node->in[0];
    if (holo_node_is(node, "Dropout") && holo_dropout_is_off(node)) return node->in[0];
    if (holo_node_is(node, "Identity")) return node->in[0];
    if (holo_node_is(node, "Cast") && node->in[0]->type.dtype == node->out[0]->type.dtype) return node->in[0];
    if (is_neutral(node, "Mul", 1, 1) || is_neutral(node, "Div", 1, 1) || is_neutral(node, "Add", 0, 1) ||
        is_neutral(node, "Sub", 0, 1))
        return node->in[0];
    return is_neutral(node, "Mul", 1, 0) || is_neutral(node, "Add", 0, 0) ? node->in[1] : NULL;
}

// What a value is, but for the order of its elements.
static HoloValue *source_of(HoloValue *value, const HoloTurns *turns)
{
    for (HoloValue *same = value; same;) {
        value = same;
        same  = value->producer ? holo_narrow_same(value->producer) : NULL;
        if (!same && value->producer && turns->is_gone[value->producer->id]) same = value->producer->in[0];
    }
    return value;
}

static int row_of(const HoloNode *node) // -1: it has no kernel of f16 there
{
    for (int i = 0; i < HOLO_COUNT(narrow); i++)
        if (!strcmp(node->type, narrow[i].type) && !strcmp(node->domain, narrow[i].domain))
            return node->version < narrow[i].version ? -1 : i;
    return -1;
}

bool holo_narrow_keeps(const HoloNode *node)
{
    const HoloAttr *how = holo_node_attr(node, "reduction");
    int             row = row_of(node);
    return (row < 0 ? node->op->flags & HOLO_OP_MOVES : !narrow[row].computes) &&
           (!how || (how->kind == HOLO_ATTR_STRING && how->s.size == 4 && !memcmp(how->s.data, "none", 4)));
}

// Does the node compute in f32, for want of a kernel of f16?
static bool is_wide(const HoloNode *node)
{
    bool reads = false;
    for (int i = 0; i < node->in_count; i++) reads = reads || is_f16(node->in[i]);
    if (!reads || !node->op || node->op->flags & (HOLO_OP_CONTROL | HOLO_OP_KINDS)) return false;
    return row_of(node) < 0;
}

// Are all that the node takes from others, and all that take from it, nodes of f32? Of several operands of one kind only
// the first is looked at there.
static bool is_between(const HoloNode *node, const HoloTurns *turns, const bool *is_read, const bool *wide,
                       const bool *is_stored)
{
    bool gives = false, follows = false;
    if (!node->op) return false;
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *from = source_of(node->in[i], turns);
        if (!from || !from->producer) continue;
        follows = true;
        if ((i == 0 || node->op->in_max > 0) && is_f16(from) && (!wide[from->producer->id] || is_stored[from->id]))
            return false;
    }
    for (int i = 0; i < node->out_count && (i == 0 || node->op->out_max > 0); i++) {
        if (!is_f16(node->out[i])) continue;
        gives = true;
        if (is_read[node->out[i]->id]) return false;
    }
    return gives && follows;
}

// ---- products with a bias

// Who reads a value.
typedef struct Readers {
    int             count, adds, products, shapes;
    const HoloNode *add; // the last
} Readers;

static bool is_fixed(const HoloTensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] < 0) return false;
    return t->rank >= 0;
}

// The product of more than two dimensions, all known, to which the node adds a bias; NULL: it does something else.
static const HoloNode *product_of(const HoloNode *node, const Readers *readers)
{
    for (int i = 0; i < 2 && holo_node_is(node, "Add") && node->in_count == 2; i++) {
        const HoloNode *product = node->in[i] ? node->in[i]->producer : NULL;
        if (!product || !holo_node_is(product, "MatMul") || readers[node->in[i]->id].count != 1 || !node->in[1 - i])
            continue;
        if (product->in_count != 2 || !product->in[0] || !product->in[1]) continue;
        const HoloTensor *a = &product->in[0]->type, *b = &product->in[1]->type, *c = &node->in[1 - i]->type;
        if (a->rank != 2 && b->rank == 2 && c->rank == 1 && c->dim[0] == b->dim[1] && is_fixed(a) && is_fixed(b))
            return product;
    }
    return NULL;
}

// What a normalization that begins attention there is added to: it has three products, and the sum. NULL: it does not.
static const HoloNode *attention_end(const HoloValue *value, const Readers *readers)
{
    const Readers *r = &readers[value->id];
    if (!value->producer || !holo_node_is(value->producer, "LayerNormalization") || r->adds != 1 || r->products != 3 ||
        r->shapes != r->count - 4)
        return NULL;
    const HoloValue *other = r->add->in[0] == value ? r->add->in[1] : r->add->in[0];
    return other && other->producer && holo_node_is(other->producer, "Add") ? other->producer : NULL;
}

// A product of more than two dimensions and its bias become a Gemm there, between two Reshapes, which have kernels of f16;
// but not around attention.
static bool products_find(const HoloGraph *graph, const HoloTurns *turns, HoloArena *scratch, HoloNarrowF16 *out)
{
    Readers *readers = HOLO_NEW(scratch, Readers, graph->value_count + 1);
    bool    *is_end  = HOLO_NEW(scratch, bool, graph->node_count + 1);
    if (!readers || !is_end) return false;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->in_count; k++) {
            if (!node->in[k]) continue;
            Readers *r = &readers[node->in[k]->id];
            r->count++;
            r->products += holo_node_is(node, "MatMul");
            r->shapes += holo_node_is(node, "Shape");
            if (!holo_node_is(node, "Add") || node->in_count != 2) continue;
            r->adds++;
            r->add = node;
        }
    }
    for (int i = 0; i < graph->output_count; i++) readers[graph->outputs[i]->id].count++;
    for (int i = 0; i < graph->value_count; i++) {
        const HoloNode *end = attention_end(graph->values[i], readers);
        if (end) is_end[end->id] = true;
    }
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i], *product = product_of(node, readers);
        if (!product || is_end[i] || !is_f16(node->out[0]) || attention_end(product->in[0], readers)) continue;
        out->is_read[source_of(product->in[0], turns)->id] = true;
        out->is_stored[node->out[0]->id]                   = true;
    }
    return true;
}

bool holo_narrow_find(HoloGraph *graph, HoloArena *scratch, HoloNarrowF16 *out)
{
    bool     *wide = HOLO_NEW(scratch, bool, graph->node_count + 1), *cast;
    HoloTurns turns;
    *out = (HoloNarrowF16){
        HOLO_NEW(scratch, bool, graph->node_count + 1), HOLO_NEW(scratch, bool, graph->value_count + 1),
        HOLO_NEW(scratch, bool, graph->value_count + 1), HOLO_NEW(scratch, bool, graph->value_count + 1)};
    cast = HOLO_NEW(scratch, bool, graph->value_count + 1);
    if (!wide || !cast || !out->is_narrow || !out->is_read || !out->is_back || !out->is_stored) return false;
    holo_graph_number(graph);
    if (!holo_narrow_turns(graph, scratch, &turns) || !products_find(graph, &turns, scratch, out)) return false;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        wide[i]              = is_wide(node) || turns.is_gone[i];
        for (int k = 0; k < node->in_count && !wide[i] && !holo_narrow_same(node); k++) {
            const HoloValue *from = source_of(node->in[k], &turns);
            if (!from) continue;
            if (!holo_node_is(node, "Cast"))
                out->is_read[from->id] = true;
            else
                cast[from->id] = true;
            if (holo_node_is(node, "Cast") && node->out[0] && node->out[0]->type.dtype != HOLO_BOOL)
                out->is_back[from->id] = true;
        }
    }
    for (int i = 0; i < graph->output_count; i++) out->is_read[source_of(graph->outputs[i], &turns)->id] = true;
    for (int i = 0; i < graph->value_count; i++) {
        out->is_read[i]   = out->is_read[i] || turns.is_read[i];
        cast[i]           = cast[i] || out->is_read[i];
        out->is_stored[i] = out->is_stored[i] && cast[i];
    }
    for (int i = 0; i < graph->node_count; i++) { // one that stands between has become one of f32 for those behind it
        wide[i]           = wide[i] || is_between(graph->nodes[i], &turns, cast, wide, out->is_stored);
        out->is_narrow[i] = !wide[i];
    }
    return true;
}
