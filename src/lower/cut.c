// cut.c - decides which target runs each node, and inserts a Transfer wherever a value goes from one memory to another.
#include "lower/cut.h"
#include "graph/facts.h"
#include "lower/lower.h"

typedef struct Cut {
    HoloGraph  *graph;
    HoloTargets targets;
    HoloArena   scratch;
    const bool *is_known; // by entry of dims: it is a number once inputs are bound
    int        *target;   // by id of a node of the original graph
    int        *space;    // by id of a value of the original graph: the number of the target in whose memory it is
    HoloValue **crossed;  // by id of a value and number of a space: the value in that space; NULL: there is none yet
    HoloNode  **nodes;    // nodes of the graph and transfers, in order
    int        *numbers;  // their targets
    int         count, room;
    HoloError  *error;
} Cut;

// ---- who runs what

// Is it a tensor of numbers whose sizes are known when a run begins? Results of control flow stay where they are.
static bool can_leave(const Cut *c, const HoloValue *v)
{
    const HoloTensor *t = &v->type;
    if (t->kind != HOLO_TENSOR || t->rank < 0 || !t->dtype || t->dtype == HOLO_STRING) return false;
    for (int d = 0; d < t->rank; d++)
        if (holo_dim_is_symbolic(t->dim[d]) &&
            (t->dim[d] == HOLO_DIM_UNKNOWN || !c->is_known[holo_dim_entry(t->dim[d])]))
            return false;
    return !v->producer || (v->producer->op && !(v->producer->op->flags & (HOLO_OP_CONTROL | HOLO_OP_DYNAMIC)));
}

static bool all_can_leave(const Cut *c, const HoloNode *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && !can_leave(c, node->in[i])) return false;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && !can_leave(c, node->out[i])) return false;
    return true;
}

// A view of its first input has no step and reads no other input.
static bool is_view(const HoloNode *node)
{
    if (!(node->op->flags & HOLO_OP_VIEW) || !node->in_count || !node->in[0] || !node->out_count || !node->out[0])
        return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    return node->in[0]->type.dtype == node->out[0]->type.dtype;
}

static int target_of(const Cut *c, const HoloNode *node)
{
    if (!node->op || node->op->flags & (HOLO_OP_CONTROL | HOLO_OP_DYNAMIC) || !all_can_leave(c, node)) return 0;
    return is_view(node) ? c->space[node->in[0]->id] : holo_targets_number(&c->targets, node);
}

static void node_give(Cut *c, int i, int target)
{
    const HoloNode *node = c->graph->nodes[i];
    c->target[i]         = target;
    for (int k = 0; k < node->out_count; k++)
        if (node->out[k]) c->space[node->out[k]->id] = target;
}

static void nodes_give(Cut *c)
{
    for (int i = 0; i < c->graph->node_count; i++) node_give(c, i, target_of(c, c->graph->nodes[i]));
}

// Views follow what they view.
static void views_follow(Cut *c)
{
    for (int i = 0; i < c->graph->node_count; i++) {
        const HoloNode *node = c->graph->nodes[i];
        if (c->target[i] && is_view(node)) node_give(c, i, c->space[node->in[0]->id]);
    }
}

// ---- numbers that need all their digits

// Is the node cheap, and does all that leads to it need no more than cheap nodes and the host?
static bool is_light(const Cut *c, const HoloNode *node, const bool *lights)
{
    if (c->target[node->id] && !(node->op->flags & (HOLO_OP_POINTWISE | HOLO_OP_VIEW))) return false;
    for (int k = 0; k < node->in_count; k++) {
        const HoloNode *from = node->in[k] ? node->in[k]->producer : NULL;
        if (from && !lights[from->id]) return false;
    }
    return true;
}

// A target that stores few digits of a number would spoil angles, which grow with the position: the host computes them, if
// what leads to them is cheap.
static HoloStatus digits_keep(Cut *c)
{
    int   count  = c->graph->node_count;
    bool *lights = HOLO_NEW(&c->scratch, bool, 2 * (size_t)count + 1), *is_kept = lights + count;
    if (!lights) return holo_fail_memory(c->error);
    for (int i = 0; i < count; i++) {
        const HoloNode   *node   = c->graph->nodes[i];
        const HoloTarget *target = c->targets.list[c->target[i]];
        lights[i]                = is_light(c, node, lights);
        is_kept[i]               = lights[i] && target->needs_digits && target->needs_digits(node);
    }
    for (int i = count - 1; i >= 0; i--) {
        const HoloNode *node = c->graph->nodes[i];
        if (!is_kept[i]) continue;
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k] && node->in[k]->producer) is_kept[node->in[k]->producer->id] = true;
        node_give(c, i, 0);
    }
    views_follow(c);
    return HOLO_OK;
}

// ---- states

// The state that a value is, before or after a node changed it; NULL: it is none.
static const HoloValue *state_of(const HoloValue *v)
{
    const HoloNode *from = v ? v->producer : NULL;
    if (v && v->is_state) return v;
    return from && from->op && from->op->flags & HOLO_OP_UPDATES && from->in[0]->is_state ? from->in[0] : NULL;
}

// A state is in one memory: all nodes that read or change it run there, or else on the host. Returns whether a node moved.
static bool states_join(Cut *c, int *home)
{
    bool moved = false;
    for (int i = 0; i < c->graph->node_count; i++)
        for (int k = 0; k < c->graph->nodes[i]->in_count; k++) {
            const HoloValue *state = state_of(c->graph->nodes[i]->in[k]);
            if (!state) continue;
            if (home[state->id] < 0) home[state->id] = c->target[i];
            if (home[state->id] == c->target[i]) continue;
            home[state->id] = 0;
            moved           = true;
            node_give(c, i, 0);
        }
    for (int i = 0; i < c->graph->input_count; i++) {
        const HoloValue *v = c->graph->inputs[i];
        if (v->is_state && home[v->id] >= 0) c->space[v->id] = home[v->id];
    }
    return moved;
}

static HoloStatus states_settle(Cut *c)
{
    int *home = HOLO_NEW(&c->scratch, int, c->graph->value_count + 1);
    if (!home) return holo_fail_memory(c->error);
    for (int i = 0; i < c->graph->value_count; i++) home[i] = -1;
    while (states_join(c, home)) continue; // a node that moves has others follow it
    views_follow(c);
    return HOLO_OK;
}

// Removes targets that got no node, and renumbers the others.
static void targets_close(Cut *c, HoloTargets *out)
{
    int number[HOLO_TARGETS_USED] = {0};
    *out                          = holo_targets_cpu;
    for (int t = 1; t < c->targets.count; t++)
        for (int i = 0; i < c->graph->node_count && !number[t]; i++)
            if (c->target[i] == t) {
                number[t]               = out->count;
                out->list[out->count++] = c->targets.list[t];
            }
    for (int i = 0; i < c->graph->node_count; i++) c->target[i] = number[c->target[i]];
    for (int i = 0; i < c->graph->value_count; i++) c->space[i] = number[c->space[i]];
    c->targets = *out;
}

// ---- transfers

static bool node_add(Cut *c, HoloNode *node, int target)
{
    if (c->count == c->room) return false;
    c->nodes[c->count]     = node;
    c->numbers[c->count++] = target;
    return true;
}

static HoloValue *transfer(Cut *c, HoloValue *value, int target)
{
    HoloNode  *node = holo_graph_op(c->graph, value->name, HOLO_ID_HOLOGRAM_Transfer, 1, 1, 1, 0);
    HoloValue *copy = holo_graph_value(c->graph, value->name);
    if (!node || !copy) return NULL;
    node->in[0]     = value;
    copy->type      = value->type;
    copy->type.data = NULL;
    copy->contents  = value->contents;
    holo_node_set_out(node, 0, copy);
    return node_add(c, node, target) ? copy : NULL;
}

// The value in that memory. A value goes from one target to another through the host's memory. NULL: no memory left.
static HoloValue *value_in(Cut *c, HoloValue *value, int space)
{
    int         from = c->space[value->id];
    HoloValue **here = &c->crossed[value->id * c->targets.count + space];
    if (from == space) return value;
    if (*here) return *here;
    HoloValue *near = from && space ? value_in(c, value, 0) : value;
    if (near) *here = transfer(c, near, space ? space : from);
    return *here;
}

// The constant input that a node wants packed crosses for it alone: others may read it as it is. -1: none.
static int packed_input(const Cut *c, const HoloNode *node, int target)
{
    const HoloTarget *of    = c->targets.list[target];
    int               input = target && of->packing && of->choose ? of->choose(node).pack_input : -1;
    return input >= 0 && input < node->in_count && node->in[input] && node->in[input]->is_constant ? input : -1;
}

static bool inputs_cross(Cut *c, HoloNode *node, int target)
{
    int count = target && is_view(node) ? 0 : node->in_count, packed = count ? packed_input(c, node, target) : -1;
    for (int i = 0; i < count; i++) {
        HoloValue *v = node->in[i];
        if (v && !(node->in[i] = i == packed ? transfer(c, v, target) : value_in(c, v, target))) return false;
    }
    return true;
}

// Brings the outputs of the graph to the host's memory. They keep their names.
static bool outputs_cross(Cut *c)
{
    for (int i = 0; i < c->graph->output_count; i++) {
        HoloValue *value = c->graph->outputs[i];
        HoloValue *here  = value_in(c, value, 0);
        if (!here) return false;
        c->graph->outputs[i] = here;
        bool is_again        = false;
        for (int k = 0; k < i; k++) is_again = is_again || c->graph->outputs[k] == here;
        if (here != value && !is_again) holo_graph_swap_names(c->graph, value, here);
    }
    return true;
}

// Which nodes of the host need nothing that another target computes.
static void leading_find(const Cut *c, int count, bool *is_leading)
{
    bool *waits = is_leading + count; // by id of a value
    for (int i = 0; i < count; i++) {
        const HoloNode *node = c->graph->nodes[i];
        bool            ok   = !c->target[i];
        for (int k = 0; k < node->in_count && ok; k++) ok = !node->in[k] || !waits[node->in[k]->id];
        is_leading[i] = ok;
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k]) waits[node->out[k]->id] = !ok;
    }
}

// Brings what another target needs of the leading nodes, and of inputs, there. Transfers are new nodes of the graph, behind
// the `count` that it had.
static bool leading_cross(Cut *c, int count, const bool *is_leading)
{
    const bool *waits = is_leading + count;
    for (int i = 0; i < count; i++) {
        const HoloNode *node   = c->graph->nodes[i];
        int             inputs = c->target[i] && !is_view(node) ? node->in_count : 0;
        for (int k = 0; k < inputs; k++) {
            HoloValue *v = node->in[k];
            if (v && !waits[v->id] && !v->is_constant && !value_in(c, v, c->target[i])) return false;
        }
    }
    return true;
}

static bool node_place(Cut *c, int i)
{
    return inputs_cross(c, c->graph->nodes[i], c->target[i]) && node_add(c, c->graph->nodes[i], c->target[i]);
}

// What the host can do first comes first, and what another target needs of it crosses then: the steps of that target follow
// each other, so that it can take them as one.
static HoloStatus transfers_put(Cut *c)
{
    HoloGraph *graph  = c->graph;
    int        before = graph->node_count, values = graph->value_count, spaces = c->targets.count;
    c->room          = 2 * before + values * spaces; // a packed constant crosses for one node
    c->crossed       = HOLO_NEW(&c->scratch, HoloValue *, (size_t)values * (size_t)spaces + 1);
    c->nodes         = HOLO_NEW(graph->arena, HoloNode *, c->room + 1);
    c->numbers       = HOLO_NEW(graph->arena, int, c->room + 1);
    bool *is_leading = HOLO_NEW(&c->scratch, bool, before + values + 1);
    if (!c->crossed || !c->nodes || !c->numbers || !is_leading) return holo_fail_memory(c->error);
    leading_find(c, before, is_leading);
    bool ok = true;
    for (int i = 0; i < before && ok; i++) ok = !is_leading[i] || node_place(c, i);
    ok = ok && leading_cross(c, before, is_leading);
    for (int i = 0; i < before && ok; i++) ok = is_leading[i] || node_place(c, i);
    if (!ok || !outputs_cross(c)) return holo_fail_memory(c->error);
    graph->nodes      = c->nodes;
    graph->node_count = c->count;
    graph->node_room  = c->room + 1;
    holo_graph_number(graph);
    return HOLO_OK;
}

static HoloStatus cut(Cut *c, HoloCut *out)
{
    HoloGraph *graph = c->graph;
    c->is_known      = holo_graph_input_entries(graph, &c->scratch);
    c->target        = HOLO_NEW(&c->scratch, int, graph->node_count + 1);
    c->space         = HOLO_NEW(&c->scratch, int, graph->value_count + 1);
    if (!c->is_known || !c->target || !c->space) return holo_fail_memory(c->error);
    nodes_give(c);
    HOLO_TRY(digits_keep(c));
    HOLO_TRY(states_settle(c));
    targets_close(c, &out->targets);
    HOLO_TRY(transfers_put(c));
    for (int t = 1; t < c->targets.count; t++)
        if (c->targets.list[t]->merge && !c->targets.list[t]->merge(graph, c->numbers, t))
            return holo_fail_memory(c->error);
    out->target = c->numbers;
    return HOLO_OK;
}

HoloStatus holo_lower_cut(HoloGraph *graph, const HoloTargets *targets, HoloCut *out, HoloError *error)
{
    Cut        c      = {.graph = graph, .targets = *targets, .error = error};
    HoloStatus status = cut(&c, out);
    holo_arena_deinit(&c.scratch);
    return status;
}
