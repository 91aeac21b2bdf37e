// onnx_write_fit.c - what ONNX has, and ONNX Runtime does not compute as ONNX says. Operators on types that it has no code
// for compute in a wider type, between two Casts; whole numbers that leave the narrow type wrap in both.
#include "graph/facts.h"
#include "import/onnx/onnx_write.h"

#include <string.h>

#define NARROW (HOLO_BIT(I8) | HOLO_BIT(U8) | HOLO_BIT(I16) | HOLO_BIT(U16))
#define WIDE   (HOLO_BIT(U32) | HOLO_BIT(U64))

// Types of the operands from `first` on. Those of `narrow` become i32, those of `wide` i64.
static const struct {
    const char *type;
    int         first;
    uint64_t    narrow, wide;
    bool        is_bool; // the result is of bools, whatever the operands are
} gaps[] = {
    {"Where", 1, HOLO_BIT(BOOL) | HOLO_BIT(I8) | HOLO_BIT(I16) | HOLO_BIT(U16), WIDE, false},
    {"Clip", 0, HOLO_BIT(I16) | HOLO_BIT(U16), 0, false},
    {"Unique", 0, 0, NARROW | HOLO_BIT(I32) | HOLO_BIT(U32), false},
    {"Add", 0, NARROW, WIDE, false},
    {"Sub", 0, NARROW, WIDE, false},
    {"Mul", 0, NARROW, WIDE, false},
    {"Div", 0, NARROW, HOLO_BIT(U32), false},
    {"Max", 0, NARROW, 0, false},
    {"Min", 0, NARROW, 0, false},
    {"Pow", 0, NARROW, HOLO_BIT(U32), false},
    {"Equal", 0, HOLO_BIT(I8) | HOLO_BIT(I16) | HOLO_BIT(U16), WIDE, true},
    {"Less", 0, NARROW, HOLO_BIT(U32), true},
    {"Greater", 0, NARROW, HOLO_BIT(U32), true},
    {"LessOrEqual", 0, NARROW, HOLO_BIT(U32), true},
    {"GreaterOrEqual", 0, NARROW, HOLO_BIT(U32), true},
};

static HoloValue *cast(HoloGraph *graph, HoloValue *x, HoloDtype to)
{
    HoloNode  *node = holo_graph_node(graph, NULL, "", "Cast", 13, 1, 1, 1);
    HoloValue *y    = holo_graph_value(graph, NULL);
    if (!node || !y) return NULL;
    node->attr[0] = (HoloAttr){.name = "to", .kind = HOLO_ATTR_INT, .i = to};
    node->in[0]   = x;
    y->type       = x->type;
    y->type.dtype = (uint8_t)to;
    y->type.data  = NULL;
    holo_node_set_out(node, 0, y);
    return y;
}

// The node computes in `to`, and its result becomes what it was.
static HoloStatus widen(HoloGraph *graph, HoloNode *node, int first, HoloDtype to, bool is_bool, HoloError *error)
{
    HoloValue *was = node->out[0];
    for (int i = first; i < node->in_count; i++)
        if (node->in[i] && !(node->in[i] = cast(graph, node->in[i], to))) return holo_fail_memory(error);
    if (is_bool || !was) return HOLO_OK;
    HoloDtype  dtype = (HoloDtype)was->type.dtype;
    HoloValue *wide  = holo_graph_value(graph, NULL), *back;
    if (!wide) return holo_fail_memory(error);
    wide->type       = was->type;
    wide->type.dtype = (uint8_t)to;
    holo_node_set_out(node, 0, wide);
    if (!(back = cast(graph, wide, dtype))) return holo_fail_memory(error);
    holo_node_set_out(back->producer, 0, was);
    return HOLO_OK;
}

// Sums times a scale of each row times one of each column: ONNX Runtime 1.30 makes one node of these, which knows no
// scales of rows, if the scales are multiplied first. So the sums are multiplied twice.
static HoloStatus split_scales(HoloGraph *graph, HoloNode *node, HoloError *error)
{
    for (int i = 0; i < 2 && HOLO_IS(node, Mul) && !*node->domain; i++) {
        HoloNode *cast_of = node->in[i] ? node->in[i]->producer : NULL;
        HoloNode *scales  = node->in[1 - i] ? node->in[1 - i]->producer : NULL;
        if (!cast_of || !scales || !HOLO_IS(cast_of, Cast) || !HOLO_IS(scales, Mul)) continue;
        HoloNode *sums = cast_of->in[0] ? cast_of->in[0]->producer : NULL;
        if (!sums || !HOLO_IS(sums, MatMulInteger)) continue;
        HoloNode  *first = holo_graph_node(graph, NULL, "", "Mul", 14, 2, 1, 0);
        HoloValue *by    = holo_graph_value(graph, NULL);
        if (!first || !by) return holo_fail_memory(error);
        by->type     = node->out[0]->type;
        first->in[0] = node->in[i];
        first->in[1] = scales->in[0];
        holo_node_set_out(first, 0, by);
        node->in[0] = by;
        node->in[1] = scales->in[1];
        return HOLO_OK;
    }
    return HOLO_OK;
}

HoloStatus holo_onnx_fit(HoloGraph *graph, HoloError *error)
{
    int count = graph->node_count;
    for (int i = 0; i < count; i++) {
        HoloNode *node = graph->nodes[i];
        HOLO_TRY(split_scales(graph, node, error));
        for (int k = 0; k < HOLO_COUNT(gaps); k++) {
            if (*node->domain || node->in_count <= gaps[k].first || strcmp(node->type, gaps[k].type)) continue;
            const HoloValue *x = node->in[gaps[k].first];
            if (!x || x->type.dtype >= 64) continue;
            uint64_t is = UINT64_C(1) << x->type.dtype;
            if (is & gaps[k].narrow)
                HOLO_TRY(widen(graph, node, gaps[k].first, HOLO_I32, gaps[k].is_bool, error));
            else if (is & gaps[k].wide)
                HOLO_TRY(widen(graph, node, gaps[k].first, HOLO_I64, gaps[k].is_bool, error));
        }
    }
    return graph->node_count > count ? holo_graph_sort(graph, error) : HOLO_OK;
}
