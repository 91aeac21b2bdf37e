// sixteen.c - numbers that are quantized to 16 bits and dequantized at once are rounded as numbers.
//
// No kernel multiplies 16-bit integers. So a DequantizeLinear after a QuantizeLinear with the same scale becomes a
// quotient, rounded and limited, and a product, in f32 like the operators: the same bits, except that NaN stays NaN. A
// value that was rounded so before, and was only moved since, stays as it is: rounding does not change multiples of a
// scale that 16 bits can count.
#include "passes/build.h"

typedef struct Grid {
    HoloDtype dtype;
    double    scale, zero;
} Grid;

// How a node quantizes to 16 bits, or dequantizes, as HOLO_OP_QUANTIZES or HOLO_OP_DEQUANTIZES asks. False: it does
// not, or has several scales.
static bool read_grid(const HoloNode *node, uint32_t way, Grid *out)
{
    if (!node || !holo_node_has(node, way) || node->in_count < 2 || !node->in[0] || !node->in[1] || !node->out[0])
        return false;
    bool             makes = way == HOLO_OP_QUANTIZES;
    const HoloValue *q = makes ? node->out[0] : node->in[0], *x = makes ? node->in[0] : node->out[0];
    if (q->type.kind != HOLO_TENSOR || (q->type.dtype != HOLO_U16 && q->type.dtype != HOLO_I16)) return false;
    *out = (Grid){.dtype = (HoloDtype)q->type.dtype};
    return x->type.dtype == HOLO_F32 && holo_node_scale(node, &out->scale, &out->zero);
}

static bool same_grid(const Grid *a, const Grid *b)
{
    return a->dtype == b->dtype && a->scale == b->scale && a->zero == b->zero;
}

static bool is_on_grid(const HoloValue *value, const Grid *grid)
{
    enum { DEPTH_MAX = 32 };
    Grid other;
    for (int i = 0; i < DEPTH_MAX && value->producer && holo_node_moves(value->producer, HOLO_F32); i++)
        value = value->producer->in[0];
    return read_grid(value->producer, HOLO_OP_DEQUANTIZES, &other) && same_grid(&other, grid);
}

// A node on `x` and numbers, with the sizes of `x`. NULL: no memory.
static HoloValue *step(HoloRewrite *rewrite, HoloOpId id, int version, HoloValue *x, int count, const double *numbers)
{
    HoloNode *node = holo_build_node(rewrite, x->name, id, version, 1 + count, 0, &x->type);
    if (!node) return NULL;
    node->in[0] = x;
    for (int i = 0; i < count; i++)
        if (!(node->in[1 + i] = holo_build_number(rewrite, HOLO_F32, numbers[i]))) return NULL;
    return node->out[0];
}

static HoloValue *rounded(HoloRewrite *rewrite, HoloValue *x, const Grid *grid)
{
    double     least    = grid->dtype == HOLO_U16 ? 0 : INT16_MIN;
    double     bounds[] = {least - grid->zero, least + UINT16_MAX - grid->zero};
    HoloValue *y        = step(rewrite, HOLO_ID_Div, 14, x, 1, &grid->scale);
    if (y) y = step(rewrite, HOLO_ID_Round, 11, y, 0, NULL);
    if (y) y = step(rewrite, HOLO_ID_Clip, 13, y, 2, bounds);
    return y ? step(rewrite, HOLO_ID_Mul, 14, y, 1, &grid->scale) : NULL;
}

// One walk: over the pairs that change nothing, or over the others.
static HoloStatus walk(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, bool is_first, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        Grid      made, read;
        holo_rewrite_inputs(&rewrite, node);
        if (!read_grid(node, HOLO_OP_DEQUANTIZES, &read)) continue;
        const HoloNode *before = node->in[0]->producer;
        if (!read_grid(before, HOLO_OP_QUANTIZES, &made) || !same_grid(&made, &read)) continue;
        HoloValue *x = before->in[0];
        if (is_first && !is_on_grid(x, &read)) continue;
        HoloValue *y = is_first ? x : rounded(&rewrite, x, &read);
        if (!y) return holo_fail_memory(error);
        holo_rewrite(&rewrite, node->out[0], y); // if this fails, nobody reads the new nodes
    }
    return holo_rewrite_end(&rewrite, error);
}

HoloStatus holo_pass_sixteen(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HOLO_TRY(walk(graph, scratch, changes, true, error));
    return walk(graph, scratch, changes, false, error);
}
