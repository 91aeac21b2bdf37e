// lowered.c - the stage `lower`: chooses for every node of a graph and of its subgraphs, and finds the choice again.
#include "lower/lower.h"

static int nodes_count(const HoloGraph *graph)
{
    int count = graph->node_count;
    for (int i = 0; i < graph->node_count; i++)
        for (int a = 0; a < graph->nodes[i]->attr_count; a++)
            if (graph->nodes[i]->attr[a].kind == HOLO_ATTR_GRAPH) count += nodes_count(graph->nodes[i]->attr[a].graph);
    return count;
}

// The slot of the node, or the slot where it would go.
static int *slot_of(const HoloLowered *lowered, const HoloNode *node)
{
    uint32_t at = (uint32_t)((uint64_t)(uintptr_t)node * UINT64_C(0x9E3779B97F4A7C15) >> 32) & lowered->slot_mask;
    while (lowered->slots[at] && lowered->nodes[lowered->slots[at] - 1].node != node)
        at = (at + 1) & lowered->slot_mask;
    return &lowered->slots[at];
}

static HoloLoweredNode lowered_node(const HoloLowered *lowered, const HoloNode *node, int number)
{
    HoloLoweredNode   of      = {.node = node, .lowering = {.pack_input = -1}, .target = number};
    const HoloTarget *target  = lowered->targets.list[number];
    bool              crosses = HOLO_IS(node, HOLOGRAM_Transfer);
    if (target->choose && !crosses) of.lowering = target->choose(node);
    if (target->transfer && crosses && !node->in[0]->is_constant) of.lowering = target->transfer(node);
    return of;
}

// `target`: by id of a node; NULL: the CPU runs all of them.
static void graph_lower(HoloLowered *lowered, const HoloGraph *graph, const int *target)
{
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int a = 0; a < node->attr_count; a++)
            if (node->attr[a].kind == HOLO_ATTR_GRAPH) graph_lower(lowered, node->attr[a].graph, NULL);
        int *slot                      = slot_of(lowered, node);
        lowered->nodes[lowered->count] = lowered_node(lowered, node, target ? target[i] : 0);
        *slot                          = ++lowered->count;
    }
}

// ---- weights of targets other than the CPU

// The transfer that brings the constant which the node wants packed; NULL: none.
static HoloLoweredNode *transfer_of(const HoloLowered *lowered, const HoloLoweredNode *of)
{
    const HoloNode *from = of->node->in[of->lowering.pack_input]->producer;
    return from && HOLO_IS(from, HOLOGRAM_Transfer) && from->in[0]->is_constant ? holo_lowered_find(lowered, from)
                                                                                : NULL;
}

// The transfer packs what one node reads: the packed form is what crosses. What several nodes read crosses plain.
static bool weights_pack(HoloLowered *lowered, const HoloGraph *graph)
{
    int *uses = holo_graph_uses(graph, &lowered->arena);
    for (int i = 0; i < lowered->count && uses; i++) {
        HoloLoweredNode *of    = &lowered->nodes[i];
        int              input = of->lowering.pack_input;
        if (!of->target || input < 0 || HOLO_IS(of->node, HOLOGRAM_Transfer)) continue;
        HoloLoweredNode *transfer = transfer_of(lowered, of);
        if (!transfer || uses[of->node->in[input]->id] != 1) {
            holo_lowered_target(lowered, of)->unpack(&of->lowering);
            continue;
        }
        transfer->lowering            = of->lowering;
        transfer->lowering.pack_input = 0;
        of->lowering.pack_input       = -1;
    }
    return uses;
}

HoloStatus holo_lower_graph(const HoloGraph *graph, const HoloCut *cut, HoloLowered *out, HoloError *error)
{
    int      count = nodes_count(graph);
    uint32_t slots = 16;
    while (slots < 2 * (uint32_t)count) slots *= 2;
    *out       = (HoloLowered){.targets = cut ? cut->targets : holo_targets_cpu, .slot_mask = slots - 1};
    out->nodes = HOLO_NEW(&out->arena, HoloLoweredNode, count + 1);
    out->slots = HOLO_NEW(&out->arena, int, slots);
    if (!out->nodes || !out->slots) return holo_fail_memory(error);
    graph_lower(out, graph, cut ? cut->target : NULL);
    return !cut || weights_pack(out, graph) ? HOLO_OK : holo_fail_memory(error);
}

void holo_lowered_deinit(HoloLowered *lowered)
{
    holo_arena_deinit(&lowered->arena);
    *lowered = (HoloLowered){0};
}

HoloLoweredNode *holo_lowered_find(const HoloLowered *lowered, const HoloNode *node)
{
    int number = lowered->count ? *slot_of(lowered, node) : 0;
    return number ? &lowered->nodes[number - 1] : NULL;
}

const HoloTarget *holo_lowered_target(const HoloLowered *lowered, const HoloLoweredNode *of)
{
    return lowered->targets.list[of->target];
}

// A state is in the memory of the target whose node changes it.
static int state_space(const HoloLowered *lowered, const HoloValue *state)
{
    for (int i = 0; i < lowered->count; i++) {
        const HoloNode *node = lowered->nodes[i].node;
        if (node->op && node->op->flags & HOLO_OP_UPDATES && node->in[0] == state) return lowered->nodes[i].target;
    }
    return 0;
}

int holo_lowered_space(const HoloLowered *lowered, const HoloValue *value)
{
    if (value->is_state) return state_space(lowered, value);
    const HoloLoweredNode *of = value->producer ? holo_lowered_find(lowered, value->producer) : NULL;
    if (!of || !of->target) return 0;
    bool comes_back =
        HOLO_IS(of->node, HOLOGRAM_Transfer) && holo_lowered_space(lowered, of->node->in[0]) == of->target;
    return comes_back ? 0 : of->target;
}
