// places.c - decides how each value is stored, and which values share bytes.
//
// A view shares the bytes of its input, and so does a piece cut out of one. A value that is joined to others is
// computed directly inside the joined value, if the node that computes it is free to choose. Finally, an output may
// take the memory of an input that nobody reads later. All of this is decided for the whole graph before steps are
// made.
#include "plan/places.h"

#include <string.h>

// How the bytes of values are used. Values that share bytes have one entry.
typedef struct Uses {
    int  *last;    // by id: the last node that reads the bytes; -1: none
    bool *is_kept; // by id: an output of the graph has these bytes
    int  *home;    // by id of any value: the id of its entry
} Uses;

// ---- what is known

bool holo_places_know(HoloPlaces *p, HoloDim d)
{
    if (!holo_dim_is_symbolic(d)) return true;
    if (d == HOLO_DIM_UNKNOWN) return false;
    int count = holo_dims_count(p->graph->dims);
    if (count > p->known_room) {
        bool *known = HOLO_NEW(p->arena, bool, 2 * count);
        if (!known) return false; // it is not known before the run
        memcpy(known, p->known, (size_t)p->known_count * sizeof *known);
        p->known      = known;
        p->known_room = 2 * count;
    }
    for (; p->known_count < count; p->known_count++) { // operands come before the expressions that use them
        const HoloDimNode *node  = holo_dims_node(p->graph->dims, p->known_count);
        bool               a     = !holo_dim_is_symbolic(node->a) || p->known[holo_dim_entry(node->a)];
        bool               b     = !holo_dim_is_symbolic(node->b) || p->known[holo_dim_entry(node->b)];
        p->known[p->known_count] = node->op != HOLO_DIM_SYMBOL && a && b;
    }
    return p->known[holo_dim_entry(d)];
}

static bool type_is_known(HoloPlaces *p, const HoloTensor *t)
{
    if (t->rank < 0 || !t->dtype || t->kind != HOLO_TENSOR) return false;
    for (int d = 0; d < t->rank; d++)
        if (!holo_places_know(p, t->dim[d])) return false;
    return true;
}

static HoloPlace *place_of(const HoloPlaces *p, const HoloValue *v)
{
    return &p->place[v->id];
}

// The value that owns the bytes: views and parts have none of their own.
static const HoloValue *root_of(const HoloPlaces *p, const HoloValue *v)
{
    const HoloValue *root = v, *next;
    while ((next = p->up[root->id] ? p->up[root->id] : place_of(p, root)->base)) root = next;
    for (; v != root; v = next) { // the way is short next time
        next         = p->up[v->id] ? p->up[v->id] : place_of(p, v)->base;
        p->up[v->id] = root;
    }
    return root;
}

// ---- views and pieces

// Makes the call to ask HoloOp.place with, in memory of the arena. False: the node must not be asked.
static bool place_call(const HoloPlaces *p, const HoloNode *node, HoloError *ignored, HoloCall *out)
{
    if (node->in_count > HOLO_PLACE_MAX || node->out_count > HOLO_PLACE_MAX) return false;
    const HoloTensor **in       = HOLO_NEW(p->arena, const HoloTensor *, node->in_count + 1);
    HoloTensor       **outs     = HOLO_NEW(p->arena, HoloTensor *, node->out_count + 1);
    const HoloDim    **contents = HOLO_NEW(p->arena, const HoloDim *, node->in_count + 1);
    if (!in || !outs || !contents) return false;
    for (int k = 0; k < node->in_count; k++) {
        in[k]       = node->in[k] ? &node->in[k]->type : NULL;
        contents[k] = node->in[k] ? node->in[k]->contents : NULL;
    }
    for (int k = 0; k < node->out_count; k++) outs[k] = node->out[k] ? &node->out[k]->type : NULL;
    *out = (HoloCall){.op         = node->op,
                      .node       = node->name,
                      .version    = node->version,
                      .in_count   = node->in_count,
                      .out_count  = node->out_count,
                      .in         = in,
                      .out        = outs,
                      .attr       = node->attr,
                      .attr_count = node->attr_count,
                      .contents   = contents,
                      .dims       = p->graph->dims,
                      .error      = ignored};
    return true;
}

// Can the outputs of a node share the bytes of its first input? That needs known sizes, numbers, and an input that
// exists before the run.
static bool may_share(HoloPlaces *p, const HoloNode *node)
{
    const HoloValue *in = node->in_count ? node->in[0] : NULL;
    if (!in || !type_is_known(p, &in->type) || place_of(p, in)->storage == HOLO_STORE_HEAP) return false;
    for (int i = 0; i < node->out_count; i++) {
        const HoloValue *out = node->out[i];
        if (out &&
            (!type_is_known(p, &out->type) || out->type.dtype == HOLO_STRING || out->type.dtype != in->type.dtype))
            return false;
    }
    return true;
}

// Makes the output of a view share the bytes of its first input. False: it is a value of its own.
static bool view_find(HoloPlaces *p, const HoloNode *node)
{
    if (!(node->op->flags & HOLO_OP_VIEW) || !node->out_count || !node->out[0] || !may_share(p, node)) return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    *place_of(p, node->out[0]) = (HoloPlace){.storage = HOLO_STORE_ALIAS, .base = node->in[0]};
    return true;
}

// Is the value in the host's memory? Other memories hold values whole: devices want them aligned.
static bool is_here(const HoloPlaces *p, const HoloValue *v)
{
    return p->lowered->targets.count < 2 || !holo_lowered_space(p->lowered, v);
}

// All outputs are pieces of the first input, or none is.
static bool pieces_find(HoloPlaces *p, const HoloNode *node)
{
    HoloError ignored = {0};
    HoloCall  call;
    if (node->in_count && node->in[0] && !is_here(p, node->in[0])) return false;
    if (!node->op->place || node->op->flags & HOLO_OP_JOINS || !may_share(p, node)) return false;
    if (!place_call(p, node, &ignored, &call)) return false;
    for (int i = 0; i < node->out_count; i++) {
        if (!node->out[i]) continue;
        HoloDim offset = node->op->place(&call, i);
        if (!holo_places_know(p, offset)) return false;
        *place_of(p, node->out[i]) = (HoloPlace){.storage = HOLO_STORE_PART, .base = node->in[0], .offset = offset};
    }
    return true;
}

// Has the node change a state in place. False: it changes none.
static bool update_find(HoloPlaces *p, const HoloNode *node)
{
    if (!(node->op->flags & HOLO_OP_UPDATES) || !node->in[0]->is_state || !node->out[0]) return false;
    *place_of(p, node->out[0]) = (HoloPlace){.storage = HOLO_STORE_ALIAS, .base = node->in[0]};
    return true;
}

// A state is changed by one node. Nobody else reads what it was before, but for a StateRead whose copy that node takes,
// so that it comes later.
static HoloStatus states_check(const HoloGraph *graph, HoloArena *arena, HoloError *error)
{
    int *uses = holo_graph_uses(graph, arena);
    if (!uses) return holo_fail_memory(error);
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        if (!(node->op->flags & HOLO_OP_UPDATES)) continue;
        for (int k = 1; k < node->in_count; k++) {
            const HoloNode *from = node->in[k] ? node->in[k]->producer : NULL;
            if (from && HOLO_IS(from, HOLOGRAM_StateRead) && from->in[0] == node->in[0]) uses[from->in[0]->id]--;
        }
    }
    for (int i = 0; i < graph->input_count; i++) {
        const HoloValue *input = graph->inputs[i];
        if (input->is_state && uses[input->id] > 1)
            return holo_fail(error, HOLO_BAD_MODEL,
                             "state %s is read %d times: only the node that changes it may do so", input->name,
                             uses[input->id]);
    }
    return HOLO_OK;
}

static void storage_find(HoloPlaces *p, const HoloNode *node)
{
    bool updates = update_find(p, node); // output 0
    if (!updates && (view_find(p, node) || pieces_find(p, node))) return;
    for (int i = updates; i < node->out_count; i++) {
        const HoloValue *v = node->out[i];
        if (!v) continue;
        bool planned = type_is_known(p, &v->type) && v->type.dtype != HOLO_STRING &&
                       !(node->op->flags & (HOLO_OP_CONTROL | HOLO_OP_DYNAMIC));
        *place_of(p, v) = (HoloPlace){.storage = planned ? HOLO_STORE_ARENA : HOLO_STORE_HEAP};
    }
}

static bool inputs_are_known(HoloPlaces *p, const HoloNode *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && !type_is_known(p, &node->in[i]->type)) return false;
    return true;
}

// ---- values that are computed where they will be joined

// The value of a step that has exactly the bytes of `v`; NULL: none.
static const HoloValue *made_as(const HoloPlaces *p, const HoloValue *v)
{
    while (v && place_of(p, v)->storage == HOLO_STORE_ALIAS) v = place_of(p, v)->base;
    return v && place_of(p, v)->storage == HOLO_STORE_ARENA ? v : NULL;
}

// `times` and `is_output` are by id. All `times` are 0 before and after.
static void joined_find(HoloPlaces *p, const HoloNode *node, int *times, const bool *is_output)
{
    const HoloValue *whole   = node->out_count ? node->out[0] : NULL;
    HoloError        ignored = {0};
    HoloCall         call;
    if (!(node->op->flags & HOLO_OP_JOINS) || !whole || place_of(p, whole)->storage != HOLO_STORE_ARENA) return;
    if (!is_here(p, whole)) return;
    if (!inputs_are_known(p, node)) return; // the run finds where inputs are, and copies them
    if (!place_call(p, node, &ignored, &call)) return;
    for (int i = 0; i < node->in_count; i++) times[root_of(p, node->in[i])->id]++;
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *v = made_as(p, node->in[i]);
        if (!v || times[v->id] != 1 || is_output[v->id]) continue;
        HoloDim offset = node->op->place(&call, i);
        if (!holo_places_know(p, offset)) continue;
        times[v->id]    = 0; // it has another root now
        *place_of(p, v) = (HoloPlace){.storage = HOLO_STORE_PART, .base = whole, .offset = offset};
    }
    for (int i = 0; i < node->in_count; i++) times[root_of(p, node->in[i])->id] = 0;
}

// ---- outputs that take the memory of inputs that nobody reads later

static void uses_find(const HoloPlaces *p, Uses *uses)
{
    const HoloGraph *graph = p->graph;
    for (int i = 0; i < graph->value_count; i++) {
        uses->last[i] = -1;
        uses->home[i] = root_of(p, graph->values[i])->id;
    }
    for (int i = 0; i < graph->output_count; i++) uses->is_kept[uses->home[graph->outputs[i]->id]] = true;
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i]->in_count; k++)
            if (graph->nodes[i]->in[k]) uses->last[uses->home[graph->nodes[i]->in[k]->id]] = i;
}

// Does a transfer bring a constant? Devices keep it for all runs.
static bool is_brought(const HoloValue *v)
{
    return v->producer && HOLO_IS(v->producer, HOLOGRAM_Transfer) && v->producer->in[0]->is_constant;
}

// Is the node the last one that reads these bytes, were they made by a step, and does it read them only as `v`?
static bool is_dying(const HoloPlaces *p, const Uses *uses, int node_index, const HoloValue *v)
{
    const HoloNode  *node = p->graph->nodes[node_index];
    const HoloValue *root = root_of(p, v);
    int              home = uses->home[v->id];
    if (place_of(p, root)->storage != HOLO_STORE_ARENA || uses->last[home] != node_index || uses->is_kept[home] ||
        is_brought(root))
        return false;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && node->in[i] != v && root_of(p, node->in[i]) == root) return false;
    return true;
}

// Will the kernel of the node surely run it, and in place? If sizes are found only during the run, eval may run it
// instead.
static bool is_in_place(HoloPlaces *p, const HoloNode *node)
{
    const HoloLoweredNode *of     = holo_lowered_find(p->lowered, node);
    const HoloTarget      *target = holo_lowered_target(p->lowered, of);
    return inputs_are_known(p, node) && target->is_in_place && target->is_in_place(of->lowering.kernel);
}

static bool same_type(const HoloTensor *a, const HoloTensor *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++) same = a->dim[d] == b->dim[d];
    return same;
}

// Lets the node write its output over an input, element by element, if it can.
static void overwritten_find(HoloPlaces *p, const Uses *uses, int node_index)
{
    const HoloNode  *node = p->graph->nodes[node_index];
    const HoloValue *out  = node->out_count == 1 ? node->out[0] : NULL;
    if (!out || place_of(p, out)->storage != HOLO_STORE_ARENA || uses->is_kept[uses->home[out->id]]) return;
    if (!(node->op->flags & HOLO_OP_POINTWISE) && !is_in_place(p, node)) return;
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *v = node->in[i];
        if (!v || !type_is_known(p, &v->type) || !same_type(&v->type, &out->type)) continue;
        if (!is_dying(p, uses, node_index, v)) continue;
        *place_of(p, out) = (HoloPlace){.storage = HOLO_STORE_ALIAS, .base = v};
        return;
    }
}

// ---- the whole graph

static HoloStatus known_init(HoloPlaces *p, const HoloPlaces *outer, HoloError *error)
{
    p->known       = holo_graph_input_entries(p->graph, p->arena);
    p->known_count = p->known_room = holo_dims_count(p->graph->dims);
    if (!p->known) return holo_fail_memory(error);
    for (int i = 0; outer && i < outer->known_count; i++) p->known[i] = p->known[i] || outer->known[i];
    return HOLO_OK;
}

static HoloStatus nodes_check(const HoloGraph *graph, HoloError *error)
{
    for (int i = 0; i < graph->node_count; i++)
        if (!graph->nodes[i]->op)
            return holo_fail(error, HOLO_INTERNAL, "node %s has no operator", graph->nodes[i]->name);
    return HOLO_OK;
}

HoloStatus holo_places_find(const HoloGraph *graph, const HoloLowered *lowered, const HoloPlaces *outer,
                            HoloArena *arena, HoloPlaces *out, HoloError *error)
{
    int count       = graph->value_count + 1;
    *out            = (HoloPlaces){.graph   = graph,
                                   .lowered = lowered,
                                   .place   = HOLO_NEW(arena, HoloPlace, count),
                                   .up      = HOLO_NEW(arena, const HoloValue *, count),
                                   .arena   = arena};
    Uses  uses      = {.last    = HOLO_NEW(arena, int, count),
                       .is_kept = HOLO_NEW(arena, bool, count),
                       .home    = HOLO_NEW(arena, int, count)};
    int  *times     = HOLO_NEW(arena, int, count);
    bool *is_output = HOLO_NEW(arena, bool, count);
    if (!out->place || !out->up || !uses.last || !uses.is_kept || !uses.home || !times || !is_output)
        return holo_fail_memory(error);
    HOLO_TRY(nodes_check(graph, error));
    HOLO_TRY(states_check(graph, arena, error));
    HOLO_TRY(known_init(out, outer, error));
    for (int i = 0; i < graph->value_count; i++) {
        const HoloValue *v        = graph->values[i];
        place_of(out, v)->storage = v->is_input      ? HOLO_STORE_INPUT
                                    : v->is_constant ? HOLO_STORE_CONSTANT
                                                     : HOLO_STORE_EXPRESSION;
    }
    for (int i = 0; i < graph->output_count; i++) is_output[graph->outputs[i]->id] = true;
    for (int i = 0; i < graph->node_count; i++) storage_find(out, graph->nodes[i]);
    for (int i = 0; i < graph->node_count; i++) joined_find(out, graph->nodes[i], times, is_output);
    uses_find(out, &uses);
    for (int i = 0; i < graph->node_count; i++) overwritten_find(out, &uses, i);
    return HOLO_OK;
}
