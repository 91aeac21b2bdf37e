// eight.c - decides which values are stored in 8 bits: what convolutions of integers read and give, what products of
// integers read, and what lies between them. So chains of such layers have no f32 inside.
//
// A Relu or Clip behind such a node is part of it: the value behind it is stored, and storing cuts off as much.
#include "quantize/eight.h"

#include "passes/rewrite.h"

#include <math.h>

typedef struct Finding {
    const HoloGraph  *graph;
    HoloEight        *eight;
    int              *uses;   // by value id
    HoloNode        **reader; // by value id: the last node that reads it
    bool             *useful; // by value id: a layer reads it, or a node between layers that can compute in 8 bits
    const HoloLayer **layer;  // by node; NULL: not a product of integers with constant scales
    bool             *takes;  // by node: a product of integers that takes 8 bits if they are there anyway
} Finding;

// ---- nodes between layers

// They only give numbers of their first input.
static bool is_move(const HoloNode *node)
{
    if (!node || !node->op || !node->in_count || !node->in[0]) return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    return HOLO_IS(node, MaxPool) || (holo_node_moves(node, HOLO_U8) && !HOLO_IS(node, Gather));
}

static bool is_one_of(const HoloNode *node, const HoloOpId *ids, int count)
{
    if (!node->op || node->out_count != 1 || !node->out[0]) return false;
    for (int i = 0; i < count; i++)
        if (ids[i] == node->op_id) return true;
    return false;
}

// Nodes that work on integers, with operators of their own or as a table.
static bool is_between(const HoloNode *node)
{
    static const HoloOpId pairs[]   = {HOLO_ID_Add, HOLO_ID_Mul, HOLO_ID_Concat};
    static const HoloOpId singles[] = {HOLO_ID_AveragePool, HOLO_ID_GlobalAveragePool,
                                       HOLO_ID_Sigmoid,     HOLO_ID_LeakyRelu,
                                       HOLO_ID_HardSwish,   HOLO_ID_HardSigmoid,
                                       HOLO_ID_Swish,       HOLO_ID_Gelu,
                                       HOLO_ID_Tanh,        HOLO_ID_Elu,
                                       HOLO_ID_Relu,        HOLO_ID_Clip,
                                       HOLO_ID_Mish,        HOLO_ID_Softplus};
    if (is_one_of(node, singles, HOLO_COUNT(singles))) return true;
    if (!is_one_of(node, pairs, HOLO_COUNT(pairs))) return false;
    for (int i = 0; i < node->in_count; i++)
        if (!node->in[i] || !node->in[i]->producer) return false;
    return true;
}

// The number of operands that must be in 8 bits.
static int operands(const HoloNode *node)
{
    return HOLO_IS(node, Add) || HOLO_IS(node, Mul) || HOLO_IS(node, Concat) ? node->in_count : 1;
}

// ---- values

static bool is_stored(const HoloValue *value)
{
    return holo_value_is_of(value, HOLO_F32, 0, HOLO_MAX_RANK);
}

static bool bound_is(const HoloNode *clip, int input, const char *name, bool (*is)(double))
{
    const HoloAttr *attr = holo_node_attr(clip, name);
    double          x;
    if (input < clip->in_count && clip->in[input]) return holo_value_number(clip->in[input], &x) && is(x);
    return !attr || (attr->kind == HOLO_ATTR_FLOAT && is((double)attr->f));
}

static bool is_low(double x)
{
    return x <= 0;
}

static bool is_high(double x)
{
    return x > 0;
}

// What a node gives behind the Relu or Clip that is part of it.
static const HoloValue *tail_of(const Finding *f, const HoloNode *node)
{
    const HoloValue *out  = node->out[0];
    const HoloNode  *next = f->uses[out->id] == 1 ? f->reader[out->id] : NULL;
    if (!next || next->in[0] != out || next->out_count != 1 || !next->out[0]) return out;
    bool cuts = HOLO_IS(next, Relu) ||
                (HOLO_IS(next, Clip) && bound_is(next, 1, "min", is_low) && bound_is(next, 2, "max", is_high));
    return cuts ? next->out[0] : out;
}

// The value in 8 bits that this one is, or is moved from; NULL: there is none.
static const HoloValue *root_of(const Finding *f, const HoloValue *value)
{
    while (!f->eight->is[value->id]) {
        if (!is_move(value->producer)) return NULL;
        value = value->producer->in[0];
    }
    return value;
}

static void store(const Finding *f, const HoloValue *value, bool forced)
{
    f->eight->is[value->id]     = true;
    f->eight->forced[value->id] = f->eight->forced[value->id] || forced;
}

// ---- the walks

static void find_useful(const Finding *f)
{
    for (int i = f->graph->node_count - 1; i >= 0; i--) {
        const HoloNode *node = f->graph->nodes[i];
        if (f->layer[i] || f->takes[i]) f->useful[node->in[0]->id] = true;
        if (node->out_count < 1 || !node->out[0] || !f->useful[node->out[0]->id]) continue;
        bool between = is_between(node);
        if (!between && !is_move(node)) continue;
        for (int k = 0; k < (between ? operands(node) : 1); k++) f->useful[node->in[k]->id] = true;
    }
}

static void find_layers(const Finding *f)
{
    for (int i = 0; i < f->graph->node_count; i++) {
        const HoloNode *node = f->graph->nodes[i];
        if (!f->layer[i]) continue;
        store(f, node->in[0], false);
        if (f->layer[i]->op == HOLO_LAYER_CONV) store(f, tail_of(f, node), true);
    }
}

static void find_between(const Finding *f)
{
    for (int i = 0; i < f->graph->node_count; i++) {
        const HoloNode *node = f->graph->nodes[i];
        if (f->layer[i] || !is_between(node) || !is_stored(node->out[0])) continue;
        bool all = true;
        for (int k = 0; k < operands(node) && all; k++) all = is_stored(node->in[k]) && root_of(f, node->in[k]);
        const HoloValue *out = tail_of(f, node);
        if (!all || !f->useful[out->id]) continue;
        f->eight->whole[i] = true;
        store(f, out, true);
    }
}

static void find_taken(const Finding *f)
{
    for (int i = 0; i < f->graph->node_count; i++) {
        const HoloValue *x = f->takes[i] ? f->graph->nodes[i]->in[0] : NULL;
        if (x && is_stored(x) && root_of(f, x)) store(f, x, false);
    }
}

// A moved value has the steps of the value that it is moved from, so that integers are moved.
static void find_like(const Finding *f)
{
    for (int i = 0; i < f->graph->value_count; i++) f->eight->like[i] = i;
    for (int i = 0; i < f->graph->node_count; i++) {
        const HoloNode *node = f->graph->nodes[i];
        if (!is_move(node) || !node->out[0] || !f->eight->is[node->out[0]->id]) continue;
        const HoloValue *root = root_of(f, node->in[0]);
        if (root) f->eight->like[node->out[0]->id] = f->eight->like[root->id];
    }
}

static bool finding_begin(Finding *f, const HoloLayers *layers, HoloArena *arena)
{
    const HoloGraph *graph = f->graph;
    int              count = graph->value_count + 1;
    *f->eight              = (HoloEight){.is     = HOLO_NEW(arena, bool, count),
                                         .forced = HOLO_NEW(arena, bool, count),
                                         .like   = HOLO_NEW(arena, int, count),
                                         .whole  = HOLO_NEW(arena, bool, graph->node_count + 1)};
    f->uses                = holo_graph_uses(graph, arena);
    f->reader              = HOLO_NEW(arena, HoloNode *, count);
    f->useful              = HOLO_NEW(arena, bool, count);
    f->layer               = HOLO_NEW(arena, const HoloLayer *, graph->node_count + 1);
    f->takes               = HOLO_NEW(arena, bool, graph->node_count + 1);
    if (!f->eight->is || !f->eight->forced || !f->eight->like || !f->eight->whole || !f->uses || !f->reader ||
        !f->useful || !f->layer || !f->takes)
        return false;
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i]->in_count; k++)
            if (graph->nodes[i]->in[k]) f->reader[graph->nodes[i]->in[k]->id] = graph->nodes[i];
    for (int i = 0; i < layers->count; i++) {
        const HoloLayer *layer = &layers->layers[i];
        if (!holo_layer_is_narrow(layer) || !holo_layer_is_integer(layer)) continue;
        bool is_dynamic       = layers->is_mixed && layer->op != HOLO_LAYER_CONV;
        f->takes[layer->node] = is_dynamic;
        if (!is_dynamic) f->layer[layer->node] = layer;
    }
    return true;
}

HoloStatus holo_eight_find(const HoloGraph *graph, const HoloLayers *layers, HoloArena *arena, HoloEight *out,
                           HoloError *error)
{
    Finding f = {.graph = graph, .eight = out};
    if (!finding_begin(&f, layers, arena)) return holo_fail_memory(error);
    find_useful(&f);
    find_layers(&f);
    find_between(&f);
    find_taken(&f);
    find_like(&f);
    return HOLO_OK;
}
