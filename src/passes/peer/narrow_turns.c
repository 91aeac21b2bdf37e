// narrow_turns.c - where ONNX Runtime has Transposes of f16 stand, if not where the model has them.
//
// It moves a Transpose behind a node where that leaves fewer of them, or where another one follows farther down, with which it
// may cancel. Of all that, this follows what changes roundings in models at hand: the angles of rotary embeddings. These are
// transposed and joined with themselves, so one Transpose is left behind the Concat, and goes on behind Sin or Cos and an
// Unsqueeze if keys are transposed for their product: angles are then not rounded, and their functions are.
#include "passes/peer/narrow_f16.h"

#include "passes/rewrite.h"

#include <string.h>

// Operators that it moves Transposes through: of their first input, or of all.
static const char *const firsts[] = {
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "Erf",
    "Exp",
    "Floor",
    "Gather",
    "Gelu",
    "HardSwish",
    "HardSigmoid",
    "Identity",
    "LeakyRelu",
    "Log",
    "Neg",
    "Not",
    "Pad",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceSum",
    "ReduceProd",
    "Relu",
    "ReduceSumSquare",
    "Round",
    "Selu",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "Split",
    "Sqrt",
    "Squeeze",
    "Tan",
    "Tanh",
    "Tile",
    "Unsqueeze",
};
static const char *const alls[] = {"Add", "Concat", "Div", "Max", "Min", "Mod", "Mul", "Pow", "Sub", "Sum", "Where"};

static bool is_among(const HoloNode *node, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (holo_node_is(node, names[i])) return true;
    return false;
}

// How many of its first inputs could come through a Transpose that would then stand behind the node.
static int passed(const HoloNode *node)
{
    if (is_among(node, alls, HOLO_COUNT(alls))) return node->in_count;
    return is_among(node, firsts, HOLO_COUNT(firsts)) && node->in_count > 0;
}

// By value id: is there a Transpose farther down, behind nothing but such nodes?
static void leads_find(const HoloGraph *graph, bool *leads)
{
    for (int i = graph->node_count - 1; i >= 0; i--) {
        const HoloNode *node  = graph->nodes[i];
        bool            any   = holo_node_is(node, "Transpose");
        int             count = any ? 1 : passed(node);
        for (int k = 0; k < node->out_count && !any; k++) any = node->out[k] && leads[node->out[k]->id];
        for (int k = 0; k < count && any; k++)
            if (node->in[k]) leads[node->in[k]->id] = true;
    }
}

static bool same_turn(const HoloNode *a, const HoloNode *b)
{
    const HoloAttr *p = holo_node_attr(a, "perm"), *q = holo_node_attr(b, "perm");
    if (!p || !q || p->kind != HOLO_ATTR_INTS || q->kind != HOLO_ATTR_INTS) return false;
    return p->count == q->count && !memcmp(p->ints, q->ints, (size_t)p->count * sizeof *p->ints);
}

// A Concat of more than one input, all of which are transposed in the same way and read by nothing else.
static bool is_joined(const HoloNode *node, const int *uses)
{
    const HoloNode *first = NULL;
    if (!holo_node_is(node, "Concat") || node->in_count < 2) return false;
    for (int i = 0; i < node->in_count; i++) {
        const HoloNode *turn = node->in[i] ? node->in[i]->producer : NULL;
        int             own  = 0;
        if (!turn || !holo_node_is(turn, "Transpose") || (first && !same_turn(turn, first))) return false;
        for (int k = 0; k < node->in_count; k++) own += node->in[k] == node->in[i];
        if (uses[node->in[i]->id] != own) return false;
        first = first ? first : turn;
    }
    return true;
}

// Does a Transpose before the node go on behind it? It has one operand, but for numbers, and another Transpose follows.
static bool goes_on(const HoloNode *node, const bool *leads)
{
    double number;
    if (!passed(node) || node->out_count != 1 || !leads[node->out[0]->id]) return false;
    for (int i = 1; i < node->in_count && !holo_node_is(node, "Unsqueeze"); i++)
        if (!node->in[i] || !holo_value_number(node->in[i], &number)) return false;
    return true;
}

bool holo_narrow_turns(const HoloGraph *graph, HoloArena *scratch, HoloTurns *out)
{
    bool *leads = HOLO_NEW(scratch, bool, graph->value_count + 1);
    bool *is_late =
        HOLO_NEW(scratch, bool, graph->value_count + 1); // by value id: a Transpose has come to stand behind it
    bool *stays = HOLO_NEW(scratch, bool, graph->value_count + 1); // by value id: and some node reads what that gives
    int  *uses  = holo_graph_uses(graph, scratch);
    *out = (HoloTurns){HOLO_NEW(scratch, bool, graph->node_count + 1), HOLO_NEW(scratch, bool, graph->value_count + 1)};
    if (!leads || !is_late || !stays || !uses || !out->is_gone || !out->is_read) return false;
    leads_find(graph, leads);
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        bool            late = is_joined(node, uses);
        for (int k = 0; k < node->in_count && late; k++) out->is_gone[node->in[k]->producer->id] = true;
        for (int k = 0; k < node->in_count && !late; k++) {
            if (!node->in[k] || !is_late[node->in[k]->id]) continue;
            late = k == 0 && goes_on(node, leads);
            if (!late) stays[node->in[k]->id] = true;
        }
        if (late) is_late[node->out[0]->id] = true;
    }
    // Behind what moves numbers itself it makes two in a row.
    for (int i = 0; i < graph->value_count; i++) {
        const HoloNode *node = graph->values[i]->producer;
        out->is_read[i]      = stays[i] && node && (holo_node_is(node, "Concat") || holo_node_is(node, "Unsqueeze"));
    }
    return true;
}
